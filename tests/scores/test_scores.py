"""Score matrices: ranked lists of the best items, and DCG averaged over ties."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist import loo
from toplist import scores as tls

T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float

values = st.sampled_from([-math.inf, -2.0, -0.0, 0.0, 0.5, 1.0, 1e30, math.inf])


@st.composite
def matrices(draw, elements=values, max_items=9):
    """Draw a small users x items array with many ties."""
    n_items = draw(st.integers(1, max_items))
    rows = st.lists(elements, min_size=n_items, max_size=n_items)
    return np.array(draw(st.lists(rows, min_size=1, max_size=4)))


def best_columns(row, k, banned=()):
    """Sort as the docstring says: score falling, of equal scores the higher column first."""
    open_ = [c for c in range(len(row)) if c not in banned and row[c] != -math.inf]
    return sorted(open_, key=lambda c: (row[c], c), reverse=True)[:k]


# top_k


@settings(max_examples=20)
@given(matrices(), st.integers(1, 12), st.data())
def test_top_k_is_a_stable_sort(scores, k, data):
    columns = st.sets(st.integers(0, scores.shape[1] - 1))
    exclude = [data.draw(columns) for _ in scores]
    lists = tls.top_k(scores, k, exclude)
    expected = [best_columns(row, k, banned) for row, banned in zip(scores, exclude, strict=True)]
    assert [lists[user].tolist() for user in range(len(scores))] == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.uint64, bool])
def test_top_k_of_every_width(dtype):
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 2 if dtype is bool else 100, (7, 500)).astype(dtype)
    lists = tls.top_k(scores, 40)
    assert [lists[u].tolist() for u in range(7)] == [best_columns(row, 40) for row in scores]


@pytest.mark.parametrize("k", [1, 63, 64, 65, 300])
def test_top_k_over_many_strides_in_blocks_of_any_threads(k, monkeypatch):
    row = np.random.default_rng(1).random(1000)
    rows = np.array([row, np.sort(row), -np.sort(-row), row * 0])
    before = rows.copy()
    rows.flags.writeable = False
    monkeypatch.setattr(tls, "BLOCK", 1500)
    for scores in (rows, np.asfortranarray(rows)):  # need not be contiguous
        for n_threads in (1, 2):
            lists = tls.top_k(scores, k, n_threads=n_threads)
            assert [lists[u].tolist() for u in range(4)] == [best_columns(one, k) for one in rows]
    assert np.array_equal(rows, before)


def test_integer_scores_are_compared_as_integers():
    for dtype, low in ((np.int64, T), (np.uint64, 2**63 + 5), (np.int64, -(2**63))):
        scores = np.array([[low, low + 100, low + 1]], dtype)
        assert tls.top_k(scores, 3)[0].tolist() == [1, 2, 0]
        assert tls.dcg(scores, relevance=[[0, 1, 0]]).tolist() == [[1, 1, 1]]
        assert tls.ndcg(scores, relevance=[[0, 0, 1]], k=1).tolist() == [[0]]
        assert loo.ranks_of(scores, [2], ties="order").tolist() == [2]
        assert loo.sampled_ranks(scores, [0], n=2).ranks.tolist() == [3]
    assert tls.top_k([[2**53 + 1, 2**53]], 2)[0].tolist() == [0, 1]


def test_exclude_in_every_form():
    rng = np.random.default_rng(0)
    scores, mask = rng.random((5, 30)), rng.random((5, 30)) < 0.5
    rows = [np.flatnonzero(row) for row in mask]
    forms = [mask, rows, [set(row.tolist()) for row in rows], tl.inputs.Lists.from_matrix(mask)]
    lists = [tls.top_k(scores, 10, exclude=form).items.tolist() for form in forms]
    assert lists[0] == [c for u in range(5) for c in best_columns(scores[u], 10, set(rows[u]))]
    assert lists[1:] == lists[:1] * 3


# DCG with ties


def mean_over_orders(row, gains, k):
    """Average the DCG over all orders that the scores allow."""
    groups = [
        [c for c in range(len(row)) if row[c] == score] for score in sorted(set(row), reverse=True)
    ]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    totals = [
        math.fsum(
            gains[c] / math.log2(rank + 1)
            for rank, c in enumerate(itertools.chain(*order), start=1)
            if rank <= k
        )
        for order in orders
    ]
    return math.fsum(totals) / len(totals)


@settings(max_examples=20)
@given(matrices(max_items=6), st.data())
def test_ties_are_averaged_over_all_orders(scores, data):
    grades = st.lists(st.integers(0, 4), min_size=scores.shape[1], max_size=scores.shape[1])
    relevance = np.array([data.draw(grades) for _ in scores])
    for gains, worth in (("linear", relevance), ("exponential", 2.0**relevance - 1)):
        dcg = tls.dcg(scores, relevance=relevance, gains=gains)
        ndcg = tls.ndcg(scores, relevance=relevance, gains=gains)
        for user, k in itertools.product(range(len(scores)), range(1, scores.shape[1] + 1)):
            expected = mean_over_orders(scores[user].tolist(), worth[user].tolist(), k)
            best = sorted(worth[user].tolist(), reverse=True)
            ideal = math.fsum(gain / math.log2(i + 2) for i, gain in enumerate(best[:k]))
            assert dcg[user, k - 1] == pytest.approx(expected, rel=1e-12)
            wanted = expected / ideal if ideal else 0.0
            assert ndcg[user, k - 1] == pytest.approx(wanted, rel=1e-12)


@settings(max_examples=10)
@given(matrices(elements=st.integers(0, 3)), st.data())
def test_ties_in_order_are_the_ranked_list(scores, data):
    grades = st.lists(st.integers(0, 3), min_size=scores.shape[1], max_size=scores.shape[1])
    relevance = np.array([data.draw(grades) for _ in scores])
    lists, truth = tls.top_k(scores, scores.shape[1]), tl.inputs.Lists.from_matrix(relevance)
    expected = tl.curves(
        "ndcg", lists, truth, convention=tl.CONVENTIONS["standard"].replace(empty="zero")
    )
    assert tls.ndcg(scores, relevance=relevance, ties="order") == pytest.approx(expected, abs=1e-12)


def test_sklearn_agrees():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    for n_items in (2, 5, 40):
        scores = rng.integers(0, 6, (20, n_items)).astype(float)
        relevance = rng.integers(0, 4, (20, n_items)).astype(float)
        for k in {1, n_items // 2, n_items}:
            for ours, theirs in ((tls.ndcg, metrics.ndcg_score), (tls.dcg, metrics.dcg_score)):
                found = ours(scores, relevance=relevance, k=k)[:, -1].mean()
                assert found == pytest.approx(theirs(relevance, scores, k=k), abs=1e-12)


def test_ends_of_lists_and_curves(monkeypatch):
    lists = tls.top_k([[1.0, 2.0], [3.0, -math.inf]], 5, exclude=[{0, 1}, set()])
    assert lists.offsets.tolist() == [0, 0, 1] and lists.items.tolist() == [0]
    assert tls.ndcg([3.0, 2.0, 1.0, 0.0], relevance=[9, 5, 0, 0]).tolist() == [1.0] * 4
    assert tls.ndcg([3.0, 2.0], relevance=[0, 0]).tolist() == [0.0, 0.0]
    curve = tls.ndcg([[3, 2, 1]], relevance=[[0, 1, 0]], k=5)  # past the last item it stays
    assert curve[0, 2:].tolist() == [curve[0, 2]] * 3
    scores = np.random.default_rng(0).integers(0, 9, (50, 100)).astype(np.float32)
    whole = tls.ndcg(scores, relevance=scores > 4, n_threads=1)
    monkeypatch.setattr(tls, "BLOCK", 200)
    assert np.array_equal(tls.ndcg(scores, relevance=scores > 4, n_threads=2), whole)


def top_2(scores, **options):
    return tls.top_k(scores, **{"k": 2} | options)


MASKED = np.ma.array([[1.0, 2.0]], mask=[[0, 1]])
ERRORS = [
    (top_2, [1.0, 2.0], {}, r"scores must be a 2-D array of numbers .* not 1-D of float64"),
    (top_2, [["a"]], {}, "scores must be a 2-D array of numbers"),
    (top_2, [[1.0, 2.0], [0.0, math.nan]], {}, "user 1, item 1 is NaN"),
    (top_2, [[1.0]], {"k": 0}, "k must be at least 1, not 0"),
    (top_2, [[2**63, -1, 2**63 + 1]], {}, "scores: 9223372036854775808 is beyond 2.53, where floa"),
    (top_2, [[2**80, 2**80 + 1, 0.5]], {}, "is beyond 2.53, .*: give an array of int64"),
    (top_2, [[2**53, 2**53 + 1, -0.5]], {}, "scores: 9007199254740993 is beyond 2.53"),
    (top_2, [[1.0]], {"ties": "average"}, "ties='average': choose from 'order'"),
    (top_2, [[1.0]], {"ties": "first"}, "ties='first': choose from 'order'"),
    (top_2, [[1.0]], {"exclude": [{0}, {0}]}, "exclude has 2 rows for 1 users"),
    *(
        (top_2, [[1.0, 2.0]], {"exclude": [{one}]}, rf"item {one} is no column of 0\.\.1")
        for one in (2, -1)
    ),
    (top_2, [[1.0]], {"exclude": np.array([[0.5]])}, "array of bool of shape"),
    (tls.dcg, [[1, 2]], {"relevance": [[1, 2, 3]]}, r"shape \(1, 2\), relevance \(1, 3\)"),
    (tls.dcg, [[1, 2]], {"relevance": [[1, -2]]}, "user 0, item 1 has grade -2"),
    (tls.dcg, [[1, 2]], {"relevance": [[1, math.nan]]}, "user 0, item 1 has grade nan"),
    (tls.dcg, [[1, math.nan]], {"relevance": [[1, 2]]}, "user 0, item 1 is NaN"),
    (tls.dcg, [[1]], {"relevance": [[1]], "ties": "mean"}, "ties='mean': choose from 'average', '"),
    (tls.dcg, [[1]], {"relevance": [[1]], "gains": "log"}, "gains='log'"),
    (tls.dcg, [[1]], {"relevance": [[1]], "gains": {1: 3}}, "gains={1: 3}"),
    (tls.ndcg, [[1, 2]], {"relevance": [[2000, 0]], "gains": "exponential"}, "item 0 has grade 20"),
    (tls.ndcg, [1, 2], {"relevance": [[1, 2]]}, r"shape \(2,\), relevance \(1, 2\)"),
]
WRONG_TYPES = [
    *(
        (top_2, [[1.0, 2.0]], {"exclude": [[one]]}, f"user 0 has {one!r}: columns are whole num")
        for one in (1.7, "1", True)
    ),
    (top_2, [[1.0, 2.0]], {"exclude": {0: [1]}}, "exclude is a dict: give one container of colum"),
    (top_2, [[1.0, 2.0]], {"exclude": [0]}, "user 0 has 0 instead of a container of columns"),
    (top_2, [[1.0, 2.0]], {"exclude": [None]}, "user 0 has None instead of a container of columns"),
    # sklearn's functions take the two arrays in the other order
    (lambda one: tls.dcg(one, [[1, 0]]), [[3, 1]], {}, "takes 1 positional argument"),
    (lambda one: tls.ndcg(one, [[1, 0]]), [[3, 1]], {}, "takes 1 positional argument"),
    (tls.dcg, [[3, 1]], {}, "'relevance'"),
    # the mask of an array was dropped
    (top_2, MASKED, {}, "scores is a masked array: fill it"),
    (top_2, [MASKED[0]], {}, "scores is a masked array"),
    (top_2, [[1.0, 2.0]], {"exclude": MASKED > 1}, "exclude is a masked array"),
    (top_2, [[1.0, 2.0]], {"exclude": iter([MASKED[0]])}, "exclude: user 0's row is a masked arr"),
    (tls.ndcg, [[1.0, 2.0]], {"relevance": MASKED}, "relevance is a masked array"),
]


@pytest.mark.parametrize(
    ("kind", "call", "scores", "options", "words"),
    [(ValueError, *one) for one in ERRORS] + [(TypeError, *one) for one in WRONG_TYPES],
)
def test_what_is_refused(kind, call, scores, options, words):
    with pytest.raises(kind, match=words):
        call(scores, **options)
