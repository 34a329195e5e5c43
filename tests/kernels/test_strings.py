"""Strings are joined by their hashes, and decided by themselves."""

import pytest
from collisions import colliding_texts

import toplist as tl

RANKS = [["a", "b", "c"], ["c", "d"], ["e", "f", "g"], [], ["h"], ["h", "b"]]
TRUTHS = [{"b", "x"}, {"d", "c"}, {"g"}, {"a"}, ["x", "y", "x"], ["b", "h", "b"]]
EXPECTED = [[2], [1, 2], [3], [], [], [1, 2]]


def rows(hits):
    return [hits.ranks[a:b].tolist() for a, b in zip(hits.offsets, hits.offsets[1:], strict=False)]


@pytest.mark.parametrize("n_plain", [0, 1, 9])
def test_texts_of_one_hash_are_different_ids(n_plain):
    """The join is made again with numbers from a dictionary; a collision is seen in any place."""
    letters = "abcdefghxy"
    names = dict(zip(letters, colliding_texts(len(letters)), strict=True))
    names |= {letter: letter for letter in letters[:n_plain]}
    ranks = [[names[one] for one in row] for row in RANKS]
    truths = [type(row)(names[one] for one in row) for row in TRUTHS]
    for duplicates in ("raise", "first"):
        hits = tl.match(ranks, truths, duplicates=duplicates)
        assert rows(hits) == EXPECTED
        assert hits.n_relevant.tolist() == [2, 2, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="user 0 has item .* at ranks 2 and 3") as caught:
        tl.match([[names["a"], names["b"], names["b"]]], [{names["a"]}])
    assert repr(names["b"]) in str(caught.value)


@pytest.mark.parametrize("odd", ["", "\0", "a\0b", "\ud800", "\U0001f600", "x" * 1000])
def test_odd_strings(odd):
    hits = tl.match([["b", odd, "a"], [odd]], [{odd}, {"a", "b"}])
    assert rows(hits) == [[2], []]


def test_many_users_in_chunks():
    ranks = [[f"i{(7 * u + j) % 900}" for j in range(5)] for u in range(1500)]
    truths = [{f"i{u % 900}"} for u in range(1500)]
    numbers = [[[int(i[1:]) for i in row] for row in side] for side in (ranks, truths)]
    assert tl.match(ranks, truths).ranks.tolist() == tl.match(*numbers).ranks.tolist()
