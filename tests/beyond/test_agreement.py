"""Overlap and rank-biased overlap of two sets of lists: formulas, figures, matching, errors."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import beyond as oracle

from toplist import beyond

NAN = float("nan")
IDS = st.lists(st.integers(-3, 6), unique=True, max_size=7)
PAIRS = st.lists(st.tuples(IDS, IDS), max_size=6)
DEPTHS = st.one_of(st.none(), st.integers(1, 9))


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def sides(pairs):
    return [a for a, _ in pairs], [b for _, b in pairs]


def curves(function, pairs, k, *rest):
    depth = k or max((len(one) for pair in pairs for one in pair), default=0)
    rows = [[function(a, b, d, *rest) for d in range(1, depth + 1)] for a, b in pairs]
    return np.reshape(np.array(rows, float), (len(pairs), depth))


# Against plain Python


@settings(max_examples=15)
@given(PAIRS, DEPTHS)
def test_overlap_is_the_formula(pairs, k):
    a, b = sides(pairs)
    np.testing.assert_array_equal(
        beyond.overlap(a, b, k).per_user, curves(oracle.overlap, pairs, k)
    )
    found = beyond.overlap(a, b, k, divisor="union").per_user
    np.testing.assert_array_equal(found, curves(oracle.jaccard, pairs, k))


@settings(max_examples=15)
@given(PAIRS, DEPTHS, st.sampled_from([0.05, 0.5, 0.8, 0.9, 0.98]))
def test_rbo_is_the_paper(pairs, k, p):
    a, b = sides(pairs)
    ext = beyond.rbo(a, b, p, k).per_user
    same(ext, curves(oracle.rbo_ext, pairs, k, p))
    swapped = beyond.rbo(b, a, p, k).per_user
    assert swapped.tobytes() == ext.tobytes()


@settings(max_examples=15)
@given(IDS.filter(len), st.floats(0.01, 0.99))
def test_equal_lists_score_exactly_1_and_disjoint_ones_0(ranked, p):
    assert (beyond.rbo(ranked, ranked, p, 9).per_user == 1).all()
    assert (beyond.rbo(ranked, [100 + item for item in ranked], p, 9).per_user == 0).all()
    assert (beyond.overlap(ranked, ranked, divisor="union").per_user == 1).all()
    longer = [*ranked, 50, 51]  # of two that agree down to the end of the shorter, too
    assert (beyond.rbo(ranked, longer, p).per_user == 1).all()


# Figures from outside


@pytest.mark.parametrize(
    ("a", "b", "p", "expected"),
    [
        ("abcdefg", "bacdxye", 0.9, 0.7153547142857144),
        ("abcdefg", "cax", 0.8, 0.5066666666666667),
        ("ab", "ba", 0.9, 0.9),
    ],
)
def test_figures_of_the_package_rbo(a, b, p, expected):
    """`RankingSimilarity(a, b).rbo_ext(p)` of rbo 0.1.3 (changyaochen/rbo).

    3,000 random pairs differed from it by 7e-16 at most. It has two empty lists equal; here they
    have no value.
    """
    assert beyond.rbo(list(a), list(b), p).per_user[-1] == pytest.approx(expected, abs=1e-14)


def test_the_weight_of_the_first_ranks():
    """Webber et al. 2010: with p=0.9 the first ten ranks have 86 % of the weight."""
    found = beyond.rbo([list(range(10))], [list(range(10))], p=0.9)
    assert repr(found).endswith("the first 10 ranks carry 86 % of the weight")


# Who is compared with whom


A = {"ann": [1, 2, 3], "bob": [4, 5], "eve": [6]}
B = {"zoe": [6], "bob": [5, 4], "ann": [3, 9]}
EXPECTED = [[0, 0, 1 / 3], [0, 1, 2 / 3]]


def test_users_are_matched_by_key_and_the_others_counted():
    found = beyond.overlap(A, B)
    assert found.users == ["ann", "bob"] and (found.only_a, found.only_b) == (1, 1)
    assert found.n_users == found.n_evaluated == 2
    same(found.per_user, EXPECTED)
    same(found.mean, [0, 0.5, 0.5])
    assert repr(found) == "overlap of 2 users (1 only in a, 1 only in b): mean 0.5000 at k=3"
    assert "(2 only in a, 1 only in b)" in repr(beyond.overlap({**A, "fay": [7]}, B))
    reordered = beyond.overlap(dict(reversed(A.items())), B)
    assert reordered.users == ["bob", "ann"]
    same(reordered.per_user, EXPECTED[::-1])


def test_empty_lists_and_nobody():
    found = beyond.overlap([[], [], [1]], [[], [2], [1]], 2)
    np.testing.assert_array_equal(found.per_user, [[NAN, NAN], [0, 0], [1, 0.5]])
    same(found.mean, [0.5, 0.25])
    assert repr(found) == "overlap of 3 users (1 without lists): mean 0.2500 at k=2"
    rbo = beyond.rbo([[], []], [[], [2]], 0.5, 1).per_user
    np.testing.assert_array_equal(rbo, [[NAN], [0]])
    nobody = beyond.overlap([], [], 2)
    assert nobody.per_user.shape == (0, 2) and np.isnan(nobody.mean).all()
    assert repr(beyond.overlap({}, {})) == "overlap of 0 users: no list holds an item"
    assert beyond.rbo([[]], [[]]).per_user.shape == (1, 0)


def test_mean_and_std_are_those_of_the_values():
    rng = np.random.default_rng(1)
    a, b = (np.argsort(rng.random((300, 40)))[:, :12] for _ in range(2))
    found = beyond.rbo(a, b)
    mean, std = found.per_user.mean(axis=0), found.per_user.std(axis=0, ddof=1)
    ends = mean + np.array([[-1], [1]]) * 1.6448536269514722 * std / np.sqrt(300)
    for one, expected in ((found.mean, mean), (found.std, std), (found.interval(0.9), ends)):
        same(one, np.clip(expected, 0, 1))
    assert np.isnan(beyond.overlap([[1]], [[1]]).std).all()


# Relations


def test_threads_and_blocks_leave_no_trace(monkeypatch):
    parallel = sys.modules["toplist.parallel"]
    rng = np.random.default_rng(2)
    a, b = (np.argsort(rng.random((400, 60)))[:, :20] for _ in range(2))
    whole = [beyond.overlap(a, b, n_threads=1), beyond.rbo(a, b, n_threads=1)]
    monkeypatch.setattr(parallel, "BLOCK", 256)
    monkeypatch.setattr(parallel.bounds, "__defaults__", (256,))
    again = [beyond.overlap(a, b, n_threads=4), beyond.rbo(a, b, n_threads=4)]
    for one, other in zip(whole, again, strict=True):
        assert one.per_user.tobytes() == other.per_user.tobytes()
        assert one.mean.tobytes() == other.mean.tobytes()
    for u in (0, 399):
        assert beyond.rbo(a[u], b[u]).per_user.tobytes() == again[1].per_user[u].tobytes()


def test_padding_is_in_no_list():
    text = [["c", "a", ""], ["b", "", ""]], [["c", "", ""], ["b", "x", ""]]
    numbers = np.array([[3, 1, -1], [2, -1, -1]]), [[3, -1, -1], [2, 5, -1]]
    for both, padding in ((text, ""), (numbers, -1)):
        found = beyond.overlap(*both, divisor="union", padding=padding)
        assert found.per_user.tolist() == [[1, 0.5], [1, 0.5]]


def test_first_places_of_repeats_and_series():
    found = beyond.overlap([[1, 1, 2]], [[2, 1, 2]], divisor="union", duplicates="first")
    assert found.per_user.tolist() == [[0, 0.5, 1]]
    pandas = pytest.importorskip("pandas")
    a, b = {"x": [1, 2], "y": [3]}, {"y": [4], "x": [2, 1]}
    assert beyond.overlap(pandas.Series(a), b).per_user.tolist() == [[0, 1], [0, 0]]
    a, b = pandas.Series([[1, 2], [3]]), [[2, 1], [4]]
    for other in (pandas.Series(b), b):
        by_position = beyond.overlap(a, other)
        assert by_position.users is None
        assert by_position.per_user.tolist() == [[0, 1], [0, 0]]


def test_parts_add_up():
    parts = [beyond.rbo({user: A[user]}, B, k=3) for user in ("ann", "bob")]
    whole = sum(parts)
    assert whole.users == ["ann", "bob"]
    assert [part.only_b for part in parts] == [2, 2] and whole.only_b == 4
    others = [beyond.overlap({user: A[user], "eve": [6]}, B, 3) for user in ("ann", "bob")]
    assert [part.only_a for part in others] == [1, 1] and sum(others).only_a == 2
    same(whole.per_user, beyond.rbo(A, B, k=3).per_user, 0)
    again = pickle.loads(pickle.dumps(whole))
    assert again.per_user.tobytes() == whole.per_user.tobytes() and repr(again) == repr(whole)
