"""Ids chosen to collide are joined exactly, and in time; texts, lists without repeats, sorting."""

import numpy as np
import pytest
from collisions import CHOSEN, PLAIN, colliding_texts, not_quadratic
from hypothesis import given
from hypothesis import strategies as st
from listwise import listwise
from shared_inputs import frame_of
from strategies import int64_ids

import toplist as tl
from toplist import kernels, loo, pointwise
from toplist.inputs.factorize import Numbering
from toplist.inputs.ids import collapsed
from toplist.inputs.lists import flatten
from toplist.kernels import join
from toplist.kernels.grouping import count_tied
from toplist.kernels.hashing import order_of_rows

N = 100_000


def mixed(ids):
    """Return ids in another order."""
    return ids[np.random.default_rng(1).permutation(len(ids))]


KERNEL_CASES = {
    "a truth in one slot": lambda ids: tl.match(ids[:100].copy(), ids).ranks,
    "a list in the slot of the truth": lambda ids: tl.match(ids, mixed(ids)[::11].copy()).ranks,
    "a list for one item": lambda ids: tl.match(ids, ids[len(ids) // 2 :][:1].copy()).ranks,
    "short lists for one item": lambda ids: tl.match(
        ids.reshape(-1, 100), ids.reshape(-1, 100)[:, 50:51].copy()
    ).ranks,
    "nobody's items": lambda ids: tl.match(ids[::2].copy(), ids[1::2].copy()).ranks,
    "many short lists": lambda ids: tl.match(
        ids.reshape(-1, 100), ids.reshape(-1, 100)[:, :30]
    ).ranks,
    "a chain below the budget": lambda ids: tl.match(
        ids[::2].copy(), np.concatenate([ids[:400], -np.arange(1, len(ids) // 2)])
    ).ranks,
    "repeats in a truth": lambda ids: tl.match(ids, np.repeat(mixed(ids), 2)).ranks,
    "users of a log": lambda ids: loo.leave_one_out((ids, ids, np.arange(len(ids)))).report.n_users,
    "users of gauc": lambda ids: (
        pointwise.gauc(ids, np.arange(len(ids)) % 2, np.arange(len(ids))) is None
    ),
    "copies": lambda ids: collapsed(flatten(ids[np.newaxis], None, "ranks"), 1).lengths,
    "a catalogue": lambda ids: listwise.item_coverage(ids.reshape(-1, 100), k=100, catalogue=ids),
    "users of a frame": lambda ids: tl.top_k_eval(
        frame_of("pandas", {"user_id": ids, "item_id": ids, "rank": np.ones_like(ids)}),
        frame_of("pandas", {"user_id": ids[::-1], "item_id": ids}),
        k=1,
    )["hit@1"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", KERNEL_CASES)
def test_ids_chosen_to_collide_are_joined_in_time(case):
    not_quadratic(KERNEL_CASES[case], PLAIN, CHOSEN)


def test_grades_of_colliding_items_stay_with_them():
    rng = np.random.default_rng(2)
    grades = rng.integers(1, 5, N).astype(float)
    found = []
    for ids in (PLAIN, CHOSEN):
        truth = dict(zip(ids.tolist(), grades.tolist(), strict=True))
        found.append(tl.match(mixed(ids)[:5_000], truth))
    assert np.array_equal(found[0].grades, found[1].grades)
    assert np.array_equal(found[1].grades, mixed(grades)[:5_000])


@pytest.mark.parametrize("n", [1, 5, 40, 3_000])
def test_users_with_colliding_ids_among_others_are_joined_exactly(n):
    """Hits, repeats and gains of each user, whichever of the users are joined by sorting."""
    rng = np.random.default_rng(n)
    renamed = dict(zip(PLAIN.tolist(), CHOSEN.tolist(), strict=True))
    for seed in range(6):
        lists, truths = [], []
        for size in rng.integers(0, 2 * n, 6):
            drawn = PLAIN[rng.permutation(3 * n)[:size]]
            lists.append(np.append(drawn, drawn[: seed % 3]))
            truths.append(rng.choice(PLAIN[: 3 * n], size + seed % 2))
        of_user = [rng.random() < 0.6 for _ in lists]
        some = [
            [
                np.array([renamed[one] for one in row.tolist()], np.int64) if chosen else row
                for row, chosen in zip(rows, of_user, strict=True)
            ]
            for rows in (lists, truths)
        ]
        duplicates = "first" if seed % 3 else "raise"
        plain, chosen = (tl.match(*rows, duplicates=duplicates) for rows in ((lists, truths), some))
        for name in ("offsets", "ranks", "n_relevant", "n_listed"):
            assert np.array_equal(getattr(chosen, name), getattr(plain, name))


def test_ids_in_any_order_of_their_own_are_joined_by_the_table():
    def entered(ids):
        table, chain = np.zeros(1 << 20, np.uint32), np.empty(N, np.int32)
        shift, mark, half = map(np.uint64, (64 - 20, 0, 1 << 31))
        return join._enter(ids, 0, N, shift, table, mark, half, chain)

    rows = np.arange(N)
    few_bits = rows // 37 << 22 | rows % 37
    for ids in (rows, rows * 1_000, rows << 40, rows**2, -rows, PLAIN, few_bits):
        assert entered(ids) == N
        numbering = Numbering()
        assert np.array_equal(numbering.number(ids), rows) and numbering._slow is None
    assert entered(CHOSEN) == -1


# Texts are joined by their hashes, and decided by themselves

RANKS = [["a", "b", "c"], ["c", "d"], ["e", "f", "g"], [], ["h"], ["h", "b"]]
TRUTHS = [{"b", "x"}, {"d", "c"}, {"g"}, {"a"}, ["x", "y", "x"], ["b", "h", "b"]]
EXPECTED = [[2], [1, 2], [3], [], [], [1, 2]]


def rows(hits):
    return [hits.ranks[a:b].tolist() for a, b in zip(hits.offsets, hits.offsets[1:], strict=False)]


LETTERS = "abcdefghxy"


@pytest.fixture(scope="module")
def colliding():
    """Return a text for each letter, all of one hash."""
    return dict(zip(LETTERS, colliding_texts(len(LETTERS)), strict=True))


@pytest.mark.parametrize("n_plain", [0, 1, 9])
def test_texts_of_one_hash_are_different_ids(n_plain, colliding):
    """The join is made again with numbers from a dictionary; a collision is seen in any place."""
    names = colliding | {letter: letter for letter in LETTERS[:n_plain]}
    ranks = [[names[one] for one in row] for row in RANKS]
    truths = [type(row)(names[one] for one in row) for row in TRUTHS]
    for duplicates in ("raise", "first"):
        hits = tl.match(ranks, truths, duplicates=duplicates)
        assert rows(hits) == EXPECTED
        assert hits.n_relevant.tolist() == [2, 2, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="user 0 has item .* at ranks 2 and 3") as caught:
        tl.match([[names["a"], names["b"], names["b"]]], [{names["a"]}])
    assert repr(names["b"]) in str(caught.value)
    a, b, c = (names[letter] for letter in "abc")
    hits = tl.match([[a, b, a, c], [b, c]], [{c}, {c}], duplicates="collapse")
    assert hits.n_listed.tolist() == [3, 2] and hits.ranks.tolist() == [3, 2]
    assert tl.match([[a, b, c]], [{c}], items_as={a: 1, b: 2, c: 3}).ranks.tolist() == [3]


# Lists without repeats


def once(row):
    return list(dict.fromkeys(row))


def by_kernel(rows, in_place=False):
    """Return the lists that the kernel makes of lists, and the number of ids of each."""
    lengths = np.array(list(map(len, rows)), np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    items = np.array([item for row in rows for item in row], np.int64)
    out = items if in_place else items.copy()
    n_kept, counted = np.empty((2, len(rows)), np.int64)
    kernels.join.collapse(items, offsets, lengths, np.empty(0, np.int64), counted)
    kernels.join.collapse(items, offsets, lengths, out, n_kept)
    assert counted.tolist() == n_kept.tolist()
    return [out[o : o + n].tolist() for o, n in zip(offsets[:-1], n_kept, strict=True)]


@given(st.lists(st.lists(st.integers(0, 6) | int64_ids(), max_size=20), max_size=6), st.booleans())
def test_later_copies_leave(rows, in_place):
    assert by_kernel(rows, in_place) == list(map(once, rows))


def drawn(n_rows, length, distinct):
    return np.random.default_rng(length).integers(0, distinct, (n_rows, length)).tolist()


def test_later_copies_leave_long_and_many_lists():
    """Of few ids, of many and of those that share slots; more lists than there are stamps."""
    chosen = [*CHOSEN[:2000].tolist(), *CHOSEN[:1000].tolist()]
    for rows in (
        *(
            [*drawn(3, n, distinct), [], [5, 5]]
            for n in (2048, 2049)
            for distinct in (1, 100, 10**9)
        ),
        drawn(66_000, 3, 3),
        [chosen] * 3,
    ):
        for in_place in (False, True):
            assert by_kernel(rows, in_place) == list(map(once, rows))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64, ">i8"])
def test_any_width_any_threads_and_unchanged_input(dtype):
    rows = np.random.default_rng(1).integers(0, 60, (20_000, 30)).astype(dtype)
    rows[::7] += 100 if dtype in ("int32", ">i8") else 0
    given = rows.copy()
    truths = rows[:, 5:6].copy()
    found = [tl.match(rows, truths, 9, duplicates="collapse", n_threads=n) for n in (1, 2)]
    assert found[0].ranks.tolist() == found[1].ranks.tolist()
    assert np.array_equal(rows, given)
    some = range(0, 20_000, 997)
    plain = [once(rows[user].tolist())[:9] for user in some]
    expected = tl.match(plain, truths[::997])
    assert found[0].subset(np.array(some)).ranks.tolist() == expected.ranks.tolist()
    assert found[0].n_listed[::997].tolist() == list(map(len, plain))
    big = (2**62 + rows[:9].astype(np.uint64)).tolist()
    wide = tl.beyond.exposure(np.array(big, np.uint64), duplicates="collapse")
    assert wide.pairs.counts.sum() == sum(len(once(row)) for row in big)


# Sorting


@pytest.mark.parametrize("distinct", [1, 3, 1000, 2**62])
def test_rows_are_sorted_as_by_numpy(distinct):
    rng = np.random.default_rng(distinct % 7)
    offsets = 5 + np.cumsum([0, 0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 0, 700, 16 * 16])
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for keys in (rng.integers(-distinct, distinct, len(row)), np.arange(len(row)) // 2):
        for some in (keys, -keys):
            order, again = order_of_rows(some, offsets)
            assert (order == np.lexsort((some, row))).all()
            same = (np.diff(some[order]) == 0) & (np.diff(row) == 0)
            assert (again == 1 + np.flatnonzero(same)).all()


def test_ties_are_counted_in_any_order():
    lists = [[3.0, 1, 1], [0.0, 2, -0.0, 2, 2], [], [5], [1, 2], [2, 2, 1]]
    scores, offsets = np.concatenate(lists), np.cumsum([0, *map(len, lists)])
    assert count_tied(scores, offsets) == 9
    assert [count_tied(scores, offsets[u : u + 2]) for u in range(6)] == [2, 5, 0, 0, 0, 2]
    assert count_tied(scores.astype(int), offsets) == 9
