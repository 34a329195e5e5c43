"""The rank of the held-out item: from lists, from scores, and every metric from it alone.

And from counts of ranks: the bits of the users themselves.
"""

from decimal import Decimal

import numpy as np
import pytest
from doors import by_words
from file_helpers import sent
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from split_logs import FEW

import toplist as tl
from toplist import loo
from toplist.loo import from_rank_counts, ranks

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
def test_the_same_ranks_from_lists_and_from_scores(case):
    scores, held, seen = case
    k = scores.shape[1]
    lists = tl.scores.top_k(scores, k, exclude=seen)
    ranks = loo.ranks_of(scores, held, exclude=seen)
    assert loo.ranks_of(lists, held).tolist() == ranks.tolist()
    plain = [lists[user].tolist() for user in range(len(lists))]
    assert loo.ranks_of(plain, held).tolist() == ranks.tolist()


def test_keyed_lists_give_ranks_in_the_order_of_the_truth():
    lists = {"ann": ["tea", "jam"], "bob": ["fig"]}
    assert loo.ranks_of(lists, {"bob": "fig", "eve": "tea", "ann": ["jam"]}).tolist() == [1, 0, 2]


def test_the_mean_of_ranks_of_tied_items_is_no_rank():
    average = loo.ranks_of(np.zeros((1, 100)), [5], ties="average")
    with pytest.raises(ValueError, match=r"user 0 has 50\.5: .*not the mean over the orders of"):
        tl.Hits.from_ranks(average, 100)


# Counts of ranks

NAMES = ["hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "f1", "rbp", "r_precision"]


def counted(ranks):
    return {rank: ranks.count(rank) for rank in set(ranks)}


@FEW
@given(st.lists(st.integers(0, 14), min_size=1, max_size=40), st.integers(1, 16))
def test_counts_say_what_the_users_say(ranks, k):
    users = tl.Hits.from_ranks(np.array(ranks), np.full(len(ranks), 16))
    expected = tl.top_k_eval(users, k=[1, k] if k > 1 else 1, metrics=NAMES)
    found = from_rank_counts(counted(ranks), [1, k] if k > 1 else 1, metrics=NAMES)
    for name in [*expected.names(), *NAMES]:
        for pick in (lambda r, n: r[n], lambda r, n: r.std(n), lambda r, n: r.interval(n)):
            np.testing.assert_array_equal(pick(found, name), pick(expected, name))
    assert found.n_evaluated == found.n_users == len(ranks)


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
@pytest.mark.parametrize("ranks", [[1, 3, 0, 0], [0, 0]])
def test_counts_follow_the_policies_of_every_convention(convention, ranks):
    """Where truths are known for listed items only, who has no hit has an empty truth."""
    rules = tl.CONVENTIONS[convention]
    metrics = [
        name
        for name, one in rules.metrics.items()
        if not (one.dividing.by_hits or one.earning or name in rules.pooled)
    ]
    asked = {"k": [1, 2], "metrics": metrics, "convention": convention}
    expected = by_words(tl.Hits.from_ranks(ranks, 6), **asked)
    found = from_rank_counts(counted(ranks), n_listed=6, **asked)
    assert str(found) == str(expected) and found.to_dict() == pytest.approx(
        expected.to_dict(), abs=0, nan_ok=True
    )
    for name in metrics:
        np.testing.assert_array_equal(found.interval(name), expected.interval(name))
        assert found.n_of(name) == expected.n_of(name)


def test_lengths_and_none_and_merging():
    short = from_rank_counts({2: 3, None: 1}, 10, metrics="precision", convention="lenskit",
                             n_listed=5)  # fmt: skip
    assert short["precision@10"] == pytest.approx(3 / 5 / 4)
    parts = [from_rank_counts({1: 2, 0: 1}, 5), from_rank_counts({4: 3}, 5)]
    whole = from_rank_counts({1: 2, 0: 1, 4: 3}, 5)
    assert tl.merge(parts, disjoint=True)["ndcg@5"] == whole["ndcg@5"]
    again = sent(whole)
    assert again["mrr@5"] == whole["mrr@5"] and "6 of 6 users evaluated" in str(again)


ROWS = [(1, 20), (2, 7), (14, 3), (None, 73)]
RANKS, USERS = zip(*ROWS, strict=True)
TABLE = {"rank": list(RANKS), "n": list(USERS)}


def module(name):
    return pytest.importorskip(name)


def relation(number="SUM(n)"):
    duckdb, _ = module("duckdb"), module("pyarrow")
    rows = "VALUES (1, 20), (2, 7), (14, 3), (NULL, 73)"
    return duckdb.connect().sql(f"SELECT rank, {number} FROM ({rows}) t(rank, n) GROUP BY rank")


def frame(kind):
    return module("pandas").DataFrame(TABLE).astype(kind)


FORMS = {
    "dict": lambda: dict(ROWS),
    "pairs": lambda: ROWS,
    "sums": lambda: [(rank, Decimal(n)) for rank, n in ROWS],
    "of numpy": lambda: (np.array([1, 2, 14, 0]), np.array(USERS)),
    "nan": lambda: (np.array([1, 2, 14, np.nan]), np.array(USERS)),
    "masked": lambda: {"rank": np.ma.array([1, 2, 14, 0], mask=[0, 0, 0, 1]), "n": np.array(USERS)},
    "pandas": lambda: module("pandas").DataFrame(TABLE),
    "pandas, Int64": lambda: frame("Int64"),
    "pandas, value_counts": lambda: (
        module("pandas").Series(np.repeat([1, 2, 14, np.nan], USERS)).value_counts(dropna=False)
    ),
    "polars": lambda: module("polars").DataFrame(TABLE),
    "pyarrow": lambda: module("pyarrow").table(TABLE),
    "duckdb, relation": relation,
    "duckdb, fetchall": lambda: relation().fetchall(),
    "duckdb, fetchnumpy": lambda: relation("SUM(n)::BIGINT").fetchnumpy(),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(name):
    counts = FORMS[name]()
    assert from_rank_counts(counts, 10) == from_rank_counts({1: 20, 2: 7, 14: 3, 0: 73}, 10)


@pytest.mark.parametrize("nobody", [{}, [], ([], []), {0: 0}, {3: 0}, {"rank": [], "n": []}])
def test_nobody_gives_nan_as_every_evaluation_does(nobody):
    found = from_rank_counts(nobody, 5)
    expected = tl.top_k_eval([], [], 5)
    assert str(found) == str(expected) and found.n_users == found.n_evaluated == 0
    for name in expected.names():
        assert np.isnan([found[name], found.std(name), *found.interval(name)]).all()
    assert sent(found) == found
