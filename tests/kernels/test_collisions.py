"""Ids chosen to collide: joined exactly, and in time."""

import numpy as np
import pytest
from collisions import CHOSEN, PLAIN, not_quadratic
from listwise import listwise

import toplist as tl
from toplist import loo, pointwise
from toplist.inputs.factorize import Numbering
from toplist.kernels import join

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
    "a catalogue": lambda ids: listwise.item_coverage(ids.reshape(-1, 100), k=100, catalogue=ids),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", KERNEL_CASES)
def test_ids_chosen_to_collide_are_joined_in_time(case):
    not_quadratic(KERNEL_CASES[case], PLAIN, CHOSEN)


def test_a_repeat_among_colliding_ids_is_found_and_named():
    ids = np.append(CHOSEN, CHOSEN[7])
    with pytest.raises(ValueError, match=f"item {CHOSEN[7]} at ranks 8 and {N + 1}"):
        tl.match(ids, CHOSEN[:3].copy())
    first = tl.match(ids, CHOSEN[[7, 5]], duplicates="first")
    assert first.ranks.tolist() == [6, 8]


def test_grades_of_colliding_items_stay_with_them():
    rng = np.random.default_rng(2)
    grades = rng.integers(1, 5, N).astype(float)
    found = []
    for ids in (PLAIN, CHOSEN):
        truth = dict(zip(ids.tolist(), grades.tolist(), strict=True))
        found.append(tl.match(mixed(ids)[:5_000], truth))
    assert np.array_equal(found[0].grades, found[1].grades)
    assert np.array_equal(found[1].grades, mixed(grades)[:5_000])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_users_of_a_frame(library):
    frames = pytest.importorskip(library)

    def evaluate(ids):
        lists = frames.DataFrame({"user_id": ids, "item_id": ids, "rank": np.ones(len(ids), int)})
        truth = frames.DataFrame({"user_id": ids[::-1], "item_id": ids})
        return tl.top_k_eval(lists, truth, k=1)["hit@1"]

    not_quadratic(evaluate, PLAIN, CHOSEN)


@pytest.mark.parametrize("n", [1, 5, 40, 3_000])
def test_users_with_colliding_ids_among_others_are_joined_exactly(n):
    """Hits, repeats and gains of each user, whichever of the users are joined by sorting."""
    rng = np.random.default_rng(n)
    renamed = dict(zip(PLAIN.tolist(), CHOSEN.tolist(), strict=True))
    for seed in range(12):
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
