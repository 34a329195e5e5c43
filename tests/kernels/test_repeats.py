"""Lists without repeats: exact for any ids, of any length, in place or not, on any threads."""

import numpy as np
import pytest
from collisions import CHOSEN, PLAIN, colliding_texts, not_quadratic
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import int64_ids

import toplist as tl
from toplist import kernels
from toplist.inputs.ids import collapsed
from toplist.inputs.lists import flatten


def once(row):
    return list(dict.fromkeys(row))


def by_kernel(rows, in_place=False):
    """Return the lists that the kernel makes of lists, and the number of ids of each."""
    lengths = np.array(list(map(len, rows)), np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    items = np.array([item for row in rows for item in row], np.int64)
    out = items if in_place else np.full(len(items), -7)
    n_kept, counted = np.empty((2, len(rows)), np.int64)
    kernels.join.collapse(items, offsets, lengths, np.empty(0, np.int64), counted)
    kernels.join.collapse(items, offsets, lengths, out, n_kept, in_place)
    assert counted.tolist() == n_kept.tolist()
    return [out[o : o + n].tolist() for o, n in zip(offsets[:-1], n_kept, strict=True)]


@given(st.lists(st.lists(st.integers(0, 6) | int64_ids(), max_size=20), max_size=6), st.booleans())
@settings(deadline=None)
def test_later_copies_leave(rows, in_place):
    assert by_kernel(rows, in_place) == list(map(once, rows))


@pytest.mark.parametrize("n", [2047, 2048, 2049, 9000])
@pytest.mark.parametrize("distinct", [1, 100, 10**9])
@pytest.mark.parametrize("in_place", [False, True])
def test_long_lists(n, distinct, in_place):
    rows = np.random.default_rng(n).integers(0, distinct, (3, n)).tolist()
    rows = [*rows, [], [5, 5], *rows[:1]]
    assert by_kernel(rows, in_place) == list(map(once, rows))


def test_more_lists_than_stamps():
    rows = np.random.default_rng(0).integers(0, 3, (70_000, 3))
    assert by_kernel(rows) == list(map(once, rows.tolist()))


@pytest.mark.parametrize("n", [500, 2000, 20_000])
def test_ids_that_share_slots(n):
    def lengths(ids):
        rows = np.concatenate([ids[:n], ids[: n // 2]])[np.newaxis]
        found = collapsed(flatten(np.repeat(rows, 3, axis=0), None, "ranks"), 1)
        assert found.row(1) == ids[:n].tolist()
        return found.lengths

    assert lengths(PLAIN).tolist() == lengths(CHOSEN).tolist() == [n] * 3


def test_the_time_of_ids_that_share_slots():
    def lengths(ids):
        return collapsed(flatten(ids[np.newaxis], None, "ranks"), 1).lengths

    not_quadratic(lengths, PLAIN, CHOSEN)


def test_texts_of_one_hash_are_two_items():
    a, b, c = colliding_texts(3)
    lists, truths = [[a, b, a, c], [b, c]], [{c}, {c}]
    hits = tl.match(lists, truths, duplicates="collapse")
    assert hits.n_listed.tolist() == [3, 2] and hits.ranks.tolist() == [3, 2]
    found = tl.match([[a, b, c]], [{c}], items_as={a: "x", b: "y", c: "z"})
    assert found.ranks.tolist() == [3]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64, ">i8"])
def test_any_width_any_threads_and_unchanged_input(dtype):
    rows = np.random.default_rng(1).integers(0, 60, (60_000, 30)).astype(dtype)
    rows[::7] += 100 if dtype in ("int32", ">i8") else 0
    given = rows.copy()
    truths = rows[:, 5:6].copy()
    found = [tl.match(rows, truths, 9, duplicates="collapse", n_threads=n) for n in (1, 2)]
    assert found[0].ranks.tolist() == found[1].ranks.tolist()
    assert np.array_equal(rows, given)
    some = range(0, 60_000, 997)
    plain = [once(rows[user].tolist())[:9] for user in some]
    expected = tl.match(plain, truths[::997])
    assert found[0].subset(np.array(some)).ranks.tolist() == expected.ranks.tolist()
    assert found[0].n_listed[::997].tolist() == list(map(len, plain))
    big = (2**62 + rows[:9].astype(np.uint64)).tolist()
    wide = tl.beyond.exposure(np.array(big, np.uint64), duplicates="collapse")
    assert wide.pairs.counts.sum() == sum(len(once(row)) for row in big)
