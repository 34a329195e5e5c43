"""Strings are joined by their hashes, and decided by themselves."""

import re
from itertools import product
from string import ascii_letters

import numpy as np
import pytest

import toplist as tl
from toplist.kernels import hashing
from toplist.kernels import strings as kernels


def texts_of_one_hash():
    """Make two texts whose last 8 letters undo the difference that the first 8 have made."""
    one = b"item AAA"
    for letters in product(ascii_letters, repeat=3):
        other = b"item " + "".join(letters).encode()
        difference = (mixed(one) ^ mixed(other)).to_bytes(8, "little")
        if other != one and max(difference) < 128 and ord("Z") not in difference:
            ends = b"Z" * 8, bytes(ord("Z") ^ bits for bits in difference)
            return (one + ends[0]).decode(), (other + ends[1]).decode()
    raise LookupError("no two texts of one hash")


def hashes(*texts):
    from toplist.kernels import strings

    ended = np.frombuffer("".join(text + "\0" for text in texts).encode(), np.uint8)
    found = np.empty(len(texts), np.int64)
    strings.hash_strings(ended, np.flatnonzero(ended == 0), found)
    return found.tolist()


def mixed(head):
    """Return what the hash of a text of 16 letters has become after its first 8."""
    number = (
        (16 * int(hashing.GOLDEN) ^ int.from_bytes(head, "little")) * int(hashing.GOLDEN) % 2**64
    )
    return number ^ number >> 32


def test_texts_of_one_hash_are_different_ids():
    a, b = texts_of_one_hash()
    assert a != b and len({*hashes(a, b)}) == 1 and len({*hashes("item A", "item B")}) == 2
    for options in ({}, {"duplicates": "first"}):
        hits = tl.match([[a], [a, b], [b, a], ["c"]], [{b}, {b}, {a, b}, {a}], **options)
        assert hits.offsets.tolist() == [0, 0, 1, 3, 3]
        assert hits.ranks.tolist() == [2, 1, 2]
        assert hits.n_relevant.tolist() == [1, 1, 2, 1]
    with pytest.raises(ValueError, match=f"user 0 has item '{re.escape(a)}' at ranks 1 and 3:"):
        tl.match([a, b, a], {b})


RANKS = [["a", "b", "c"], ["c", "d"], ["e", "\u00e9", "ee"], []]


TRUTHS = [{"b", "x"}, {"d", "c"}, {"ee"}, {"a"}]


def rows(hits):
    return [hits.ranks[a:b].tolist() for a, b in zip(hits.offsets, hits.offsets[1:], strict=False)]


EXPECTED = [[2], [1, 2], [3], []]


@pytest.mark.parametrize("distinct_hashes", [1, 2, 3])
def test_colliding_hashes_change_nothing(monkeypatch, distinct_hashes):
    """All strings of a few hashes: the join is made again with numbers from a dictionary."""

    def few(text, ends, hashes):
        begins = [0, *(end + 1 for end in ends[:-1])]
        hashes[:] = [
            text[begin:end].sum() % distinct_hashes for begin, end in zip(begins, ends, strict=True)
        ]

    monkeypatch.setattr(kernels, "hash_strings", few)
    for duplicates in ("raise", "first"):
        hits = tl.match(RANKS, TRUTHS, duplicates=duplicates)
        assert rows(hits) == EXPECTED
        assert hits.n_relevant.tolist() == [2, 2, 1, 1]
    with pytest.raises(ValueError, match="user 0 has item 'b' at ranks 2 and 3"):
        tl.match([["a", "b", "b"]], [{"a"}])


def test_a_collision_is_seen_in_every_place(monkeypatch):
    """A hit of another string, and two relevant strings of one hash."""
    same = {"b": "q", "x": "y"}

    def pairs(text, ends, hashes):
        begins = [0, *(end + 1 for end in ends[:-1])]
        words = [bytes(text[begin:end]).decode() for begin, end in zip(begins, ends, strict=True)]
        hashes[:] = [sum(map(ord, same.get(word, word))) for word in words]

    monkeypatch.setattr(kernels, "hash_strings", pairs)
    assert rows(tl.match([["q", "b"]], [{"b"}])) == [[2]]
    assert tl.match([["a"]], [{"x", "y"}]).n_relevant.tolist() == [2]
    assert rows(tl.match([["q", "b"]], [["b", "q", "b"]])) == [[1, 2]]


@pytest.mark.parametrize("odd", ["", "\0", "a\0b", "\ud800", "\U0001f600", "x" * 1000])
def test_odd_strings(odd):
    hits = tl.match([["b", odd, "a"], [odd]], [{odd}, {"a", "b"}])
    assert rows(hits) == [[2], []]


def test_many_users_in_chunks():
    ranks = [[f"i{(7 * u + j) % 900}" for j in range(5)] for u in range(1500)]
    truths = [{f"i{u % 900}"} for u in range(1500)]
    numbers = tl.match(
        [[int(i[1:]) for i in row] for row in ranks], [[int(i[1:]) for i in row] for row in truths]
    )
    assert tl.match(ranks, truths).ranks.tolist() == numbers.ranks.tolist()
