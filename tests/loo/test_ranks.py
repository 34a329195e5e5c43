"""The rank of the held-out item: from lists, from scores, and every metric from it alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import toplist as tl
from toplist import loo
from toplist.loo import ranks

FEW = settings(deadline=None, max_examples=60)
SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.5000001, 2.0, np.inf])


@st.composite
def scored(draw, dtype=np.float64):
    """Draw scores with many ties, held-out columns, and columns to leave out."""
    n_users, n_items = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    scores = draw(hnp.arrays(dtype, (n_users, n_items), elements=SCORES))
    column = st.integers(0, n_items - 1)
    held = draw(st.lists(column, min_size=n_users, max_size=n_users))
    seen = draw(st.lists(st.lists(column, max_size=5), min_size=n_users, max_size=n_users))
    return scores, held, seen


def by_sorting(row, held, seen, ties):
    """Rank one item in plain Python."""
    items = [c for c in range(len(row)) if c not in seen and row[c] > -np.inf]
    if held not in items:
        return 0
    above = sum(row[c] > row[held] for c in items)
    tied = [c for c in items if row[c] == row[held]]
    ranks = {
        "best": above + 1,
        "worst": above + len(tied),
        "average": above + (1 + len(tied)) / 2,
        "order": above + sorted(tied, reverse=True).index(held) + 1,
    }
    return ranks[ties]


@FEW
@given(scored() | scored(np.float32), st.sampled_from(ranks.TIES), st.sampled_from([3, 1 << 22]))
def test_scores_give_the_rank_that_sorting_gives(case, ties, block):
    scores, held, seen = case
    before = scores.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toplist.scores.BLOCK", block)
        found = loo.ranks_of(scores, held, exclude=seen, ties=ties, n_threads=2)
    assert found.dtype == (np.float64 if ties == "average" else np.int64)
    assert found.tolist() == [
        by_sorting(*one, ties) for one in zip(scores.tolist(), held, seen, strict=True)
    ]
    assert np.array_equal(scores, before)


@FEW
@given(scored())
def test_the_same_numbers_from_lists_from_ranks_and_from_scores(case):
    scores, held, seen = case
    k = scores.shape[1]
    lists = tl.scores.top_k(scores, k, exclude=seen)
    ranks = loo.ranks_of(scores, held, exclude=seen)
    assert loo.ranks_of(lists, held).tolist() == ranks.tolist()
    plain = [lists[user].tolist() for user in range(len(lists))]
    assert loo.ranks_of(plain, held).tolist() == ranks.tolist()
    by_lists = tl.top_k_eval(lists, held, k=k)
    by_ranks = tl.top_k_eval(tl.Hits.from_ranks(ranks, k), k=k)
    for name in ("hit", "precision", "recall", "map", "ndcg", "mrr"):
        assert np.array_equal(by_lists.per_user(name), by_ranks.per_user(name))
        assert np.array_equal(by_lists[name], by_ranks[name])
        assert np.array_equal(by_lists.std(name), by_ranks.std(name), equal_nan=True)


def test_keyed_lists_give_ranks_in_the_order_of_the_truth():
    lists = {"ann": ["tea", "jam"], "bob": ["fig"]}
    assert loo.ranks_of(lists, {"bob": "fig", "eve": "tea", "ann": ["jam"]}).tolist() == [1, 0, 2]


def test_a_model_that_scores_all_alike_is_exposed_by_the_worst_rank():
    scores = np.zeros((3, 100))
    found = {ties: loo.ranks_of(scores, [5, 6, 7], ties=ties) for ties in ranks.TIES}
    firsts = {ties: some[0] for ties, some in found.items()}
    assert firsts == {"best": 1, "worst": 100, "average": 50.5, "order": 95}
    with pytest.raises(ValueError, match=r"user 0 has 50\.5: .*not the mean over the orders of"):
        tl.Hits.from_ranks(found["average"], 100)
