"""What must hold whatever the numbers are: between orders, parts, depths and threads."""

import copy
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from differential import DEPTHS
from differential import equal as same
from doors import by_words, curve, match_by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import GRADES, ITEMS, graded_populations, populations

import toplist as tl
from toplist import parallel
from toplist.metrics.definitions import DIVISORS

SHUFFLES = st.randoms(use_true_random=False)
# Those whose hits earn what others leave are averaged in floats, and ERR knows the largest grade of
# all truths: see test_golden_judgements.
METRICS = [name for name, metric in tl.METRICS.items() if metric.earning is None]
# What the conventions compute in another way than the standard one does, and a metric of one's own
OTHERS = {
    metric: f"{name} by {convention}"
    for convention, known in tl.CONVENTIONS.items()
    for name, metric in known.metrics.items()
    if name in METRICS and metric != tl.METRICS[name]
}
MORE = [
    *(replace(metric, name=name) for metric, name in OTHERS.items()),
    tl.Metric("own", "each", lambda r: r**0.5, lambda k, R, n: np.minimum(k, n) + R),
]
ALL = [*METRICS, *MORE]
NAMES = [*METRICS, *(metric.name for metric in MORE)]
BOUNDED = [name for name in NAMES if name.split()[0] not in ("cg", "dcg", "own")]


def quick(max_examples=6):
    return settings(max_examples=max_examples)


def same_hits(one, other):
    """Tell whether two `Hits` hold the same, whatever the users are called."""
    arrays = ("offsets", "ranks", "n_truth", "n_listed", "grades", "truth_grades")
    pairs = [(getattr(one, name), getattr(other, name)) for name in arrays]
    return one.k == other.k and all(
        (a is None and b is None) or np.array_equal(a, b) for a, b in pairs
    )


# Many users, and many blocks of them


def as_lists(rows):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return tl.inputs.Lists(offsets, np.array([item for row in rows for item in row], np.int64))


def some(lists, users):
    return as_lists([lists[user] for user in users])


def draw_many(n_users, longest=60):
    """Draw a list of 0 to 59 and a truth of few or many of 120 ids for every user."""
    random = np.random.default_rng(7)
    n_listed = random.integers(0, longest, n_users)
    n_relevant = np.minimum(random.geometric(0.1, n_users) - 1, longest)
    ids = np.argsort(random.random((2, n_users, 2 * longest)), axis=2)
    return [
        as_lists([row[:n] for row, n in zip(side, lengths, strict=True)])
        for side, lengths in zip(ids, (n_listed, n_relevant), strict=True)
    ]


@pytest.fixture(scope="module")
def many():
    return draw_many(2_400)


@pytest.fixture(scope="module")
def many_graded(many):
    ranks, truths = many
    grades = np.random.default_rng(8).integers(1, 4, len(truths.items))
    return ranks, tl.inputs.Lists(truths.offsets, truths.items, grades)


@contextmanager
def in_blocks(n):
    """Cut users into about `n` blocks wherever blocks are made; make sure that they are."""
    real, made = parallel.bounds, []

    def bounds(work, size=None):
        made.append(real(work, max(1, int(work[-1] - work[0]) // n)))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "bounds", bounds)
        yield
    assert made and max(map(len, made)) > n // 2


# Users


@pytest.mark.parametrize("divisor", [name for name, d in DIVISORS.items() if d.ideal])
def test_the_grades_of_one_user_change_no_other(divisor):
    metric = replace(tl.METRICS["ndcg"], divisor=divisor)
    both = tl.curves(metric, [[0, 1], [0]], [{0: 1}, {0: 2}], 3)
    assert same(both[:1], tl.curves(metric, [[0, 1]], [{0: 1}], 3))


# Forms


@st.composite
def rectangles(draw):
    """Draw (ranks, truths) of users with lists of one length and truths of another."""
    n_users, n_listed, n_relevant = (draw(st.integers(1, most)) for most in (5, 10, 4))
    return [
        [draw(st.lists(ITEMS, min_size=n, max_size=n, unique=True)) for _ in range(n_users)]
        for n in (n_listed, n_relevant)
    ]


INPUTS = {
    "lists": ([[1, 2, 3, 3], [4]], [[2, 2], [3]], {}),
    "sets": ([[1, 2, 3, 3], [4]], [{2}, {3}], {}),
    "texts": ([["1", "2", "3", "3"], ["4"]], [{"2"}, {"3"}], {}),
    "grades": ([[1, 2, 3, 3], [4]], [{2: 2, 3: 0}, {3: 1}], {"gains": "exponential"}),
    "keys": ({"a": [1, 2, 3, 3], "c": [1]}, {"b": {1}, "a": {2}}, {}),
    "matrix": (np.array([[1, 2, 3, 3], [4, 5, -1, -1]]), np.array([2, 3]), {"padding": -1}),
    "int32": (np.array([[1, 2, 3, 3]], np.int32), np.array([[2, -1]], np.int32), {"padding": -1}),
    "Lists": (as_lists([[1, 2, 3, 3], []]), tl.inputs.Lists([0, 2, 2], [2, 3], [1.0, 3.0]), {}),
}


@pytest.mark.parametrize("form", INPUTS)
def test_inputs_stay_as_they_were(form):
    ranks, truths, options = INPUTS[form]
    for part in (ranks, truths):
        arrays = [part.items, part.offsets] if isinstance(part, tl.inputs.Lists) else [part]
        for array in arrays:
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    before = copy.deepcopy((ranks, truths))
    options = {"duplicates": "first", **options}
    curve("ndcg", ranks, truths, 2, **options)
    by_words(ranks, truths, [1, 3], **options)
    hits = match_by_words(ranks, truths, **options)
    kept = copy.deepcopy(hits)
    tl.ndcg(hits)[:] = 7
    tl.top_k_eval(hits, k=2)["map"][:] = 7
    assert same_hits(hits, kept)
    for now, then in zip((ranks, truths), before, strict=True):
        if isinstance(now, tl.inputs.Lists):
            assert same(now.items, then.items) and same(now.offsets, then.offsets)
        else:
            assert repr(now) == repr(then)


# Depth


@quick()
@given(populations() | graded_populations(), st.tuples(DEPTHS, DEPTHS).map(sorted))
def test_a_column_is_the_metric_at_k(population, depths):
    k, deepest = depths
    result = tl.top_k_eval(*population, sorted({k, deepest}), metrics=ALL)
    alone = tl.top_k_eval(*population, k, metrics=ALL)
    for name in NAMES:
        column = result.per_user(name)[:, k - 1]
        assert same(column, alone.per_user(name)[:, -1]), name
        assert alone[name][-1] == pytest.approx(result[name][k - 1], rel=1e-14, nan_ok=True), name


def test_the_length_a_divisor_sees_at_k_is_that_of_the_first_k():
    share = tl.Metric("share", "each", "1", lambda k, R, n: n)
    result = tl.top_k_eval([[1, 2, 3]], [{1}], [1, 3], metrics=share)
    assert result["share"].tolist() == [1, 1 / 2, 1 / 3]
    assert result.per_user("share").tolist() == [[1, 1 / 2, 1 / 3]]
    assert result.per_user("share@1").tolist() == [1]


JUNK = [0, 0, 0, -1, "a", b"a", 1.5, True, None, (1,)]


@quick()
@given(populations(), DEPTHS, st.lists(st.sampled_from(JUNK), max_size=6))
def test_nothing_below_k_matters(population, k, junk):
    ranks, truths = population
    cut = [ranked[:k] for ranked in ranks]
    continued = [ranked[:k] + (junk if len(ranked) >= k else []) for ranked in ranks]
    expected = tl.match(cut, truths, k)
    assert same_hits(tl.match(ranks, truths, k), expected)
    assert same_hits(tl.match(continued, truths, k), expected)
    for name in METRICS:
        assert same(curve(name, continued, truths, k), curve(name, cut, truths, k)), name


@quick()
@given(rectangles())
def test_nothing_below_k_matters_in_a_matrix(population):
    ranks, truths = population
    k = len(ranks[0])
    continued = np.hstack([ranks, np.array(ranks)[:, ::-1]])  # every item once more
    expected = tl.match(ranks, truths)
    assert same_hits(tl.match(continued, truths, k), expected)
    with pytest.raises(ValueError, match=rf"at ranks {k} and {k + 1}:"):
        tl.match(continued, truths, k + 1)
    lists = tl.inputs.Lists(np.arange(len(ranks) + 1) * 2 * k, continued.ravel())
    assert same_hits(tl.match(lists, truths, k), expected)


# Bounds


@quick(10)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=8), st.integers(0, 9), SHUFFLES)
def test_a_perfect_list_scores_exactly_one(sizes, more, random):
    truths = [random.sample(range(1000), size) for size in sizes]
    ranks = [truth + [-1 - i for i in range(more)] for truth in truths]
    depth = max(sizes) + 3
    result = tl.top_k_eval(ranks, truths, depth)
    for name in ("hit", "map", "ndcg", "mrr"):
        assert np.all(result.per_user(name) == 1) and np.all(result[name] == 1), name
        assert len(sizes) == 1 or np.all(result.std(name) == 0), name
    for user, size in enumerate(sizes):
        assert np.all(result.per_user("precision")[user, :size] == 1)
        assert np.all(result.per_user("recall")[user, size - 1 :] == 1)
    assert np.all(result["precision"][: min(sizes)] == 1)
    assert np.all(result["recall"][max(sizes) - 1 :] == 1)


@pytest.mark.parametrize("gains", ["linear", "exponential"])
@quick()
@given(st.lists(st.lists(GRADES, min_size=1, max_size=40), min_size=1, max_size=5))
def test_the_best_order_of_grades_scores_exactly_one(gains, population):
    truths = [{item: float(grade) + 0.5 for item, grade in enumerate(user)} for user in population]
    ranks = [sorted(truth, key=truth.get, reverse=True) for truth in truths]
    result = by_words(ranks, truths, 45, metrics="ndcg", gains=gains)
    assert np.all(result.per_user("ndcg") == 1) and np.all(result["ndcg"] == 1)


def test_a_perfect_population_has_a_mean_of_exactly_one(many):
    lists = some(many[0], np.flatnonzero(np.diff(many[0].offsets)))
    with in_blocks(20):
        result = tl.top_k_eval(lists, lists, 60)
    for name in ("hit", "map", "ndcg", "mrr"):
        assert np.all(result[name] == 1), name
        assert np.all(result.std(name) == 0), name
    assert result["precision@1"] == result["recall@60"] == 1


@quick()
@given(populations() | graded_populations(), DEPTHS)
def test_values_lie_between_zero_and_one(population, depth):
    result = by_words(*population, depth, metrics=ALL, empty="zero")
    for name in BOUNDED:
        for values in (result.per_user(name), result[name]):
            nobody = np.isnan(values) & (name == "judged")  # whom nobody judged
            assert np.all(((values >= 0) & (values <= 1)) | nobody), name


# Threads, blocks, parts


def assert_same_results(result, other, names=NAMES):
    assert same_hits(result.hits, other.hits)
    for name in names:
        assert same(result[name], other[name]), name
        assert same(result.std(name), other.std(name)), name


def test_any_number_of_threads(many, many_graded):
    with in_blocks(20):
        for population in (many, many_graded):
            options = {"k": [1, 10, 70], "metrics": ALL}
            one = by_words(*population, n_threads=1, **options)
            assert_same_results(by_words(*population, n_threads=7, **options), one)
            for name in ("hit", "map", "ndcg"):
                alone = curve(name, one.hits, None, n_threads=1)
                assert same(curve(name, one.hits, None, n_threads=7), alone), name
                assert same(one.per_user(name), alone), name


def test_the_first_repeat_is_named_whatever_thread_finds_one(many):
    ranks = many[0]
    long = np.flatnonzero(np.diff(ranks.offsets) > 4)[[600, 1800, 1801]]
    items = ranks.items.copy()
    items[ranks.offsets[long] + 3] = items[ranks.offsets[long]]
    expected = rf"^user {long[0]} has item {items[ranks.offsets[long[0]]]} at ranks 1 and 4:"
    for n_threads in (1, 2, 7):
        with in_blocks(20), pytest.raises(ValueError, match=expected):
            tl.match(tl.inputs.Lists(ranks.offsets, items), many[1], n_threads=n_threads)


def test_any_blocks(many):
    whole = tl.top_k_eval(*many, 60, metrics=ALL)
    with in_blocks(100):
        parts = tl.top_k_eval(*many, 60, metrics=ALL)
    assert same_hits(parts.hits, whole.hits)
    for name in NAMES:
        if not whole.terms.metrics[name].dividing.by_hits:  # these are summed by block
            assert same(parts[name], whole[name]), name
        assert parts[name] == pytest.approx(whole[name], rel=0, abs=1e-12), name
        assert parts.std(name) == pytest.approx(whole.std(name), rel=0, abs=1e-12), name


def assert_merged(merged, whole, order, same_bits=True):
    """Compare a result, of users in another order, with the one of the whole."""
    counts = ("n_users", "n_evaluated", "n_skipped", "n_missing")
    assert [getattr(merged, n) for n in counts] == [getattr(whole, n) for n in counts]
    for name, metric in whole.terms.metrics.items():
        if same_bits and not metric.dividing.by_hits:
            assert same(merged[name], whole[name]), name
        assert merged[name] == pytest.approx(whole[name], rel=0, abs=1e-12, nan_ok=True), name
        std = whole.std(name)
        assert merged.std(name) == pytest.approx(std, rel=0, abs=1e-12, nan_ok=True), name
        assert same(merged.per_user(name), whole.per_user(name)[order]), name


def test_any_sharding_and_any_order(many):
    ranks, truths = many
    random = np.random.default_rng(9)
    options = {"k": [5, 60], "metrics": ALL, "empty": "zero"}
    whole = by_words(*many, **options)
    for n_shards in (2, 11):
        order = random.permutation(len(ranks))
        ends = np.sort(random.integers(0, len(order), n_shards - 2))
        shards = np.split(order, [0, *ends])  # the first is empty
        parts = [by_words(some(ranks, s), some(truths, s), **options) for s in shards]
        assert_merged(reduce(add, parts), whole, order)
    inside_out = reduce(lambda a, b: b + a, parts)
    order = np.concatenate(shards[::-1])
    assert_merged(inside_out, whole, order)


@pytest.mark.parametrize("metric", ["rbp(p=0.5)", tl.METRICS["map"], MORE[0]])
def test_parts_of_metrics_named_alike_merge(metric):
    parts = [tl.top_k_eval([[1, 2]], [{item}], 2, metrics=[metric]) for item in (1, 2)]
    whole = tl.top_k_eval([[1, 2]] * 2, [{1}, {2}], 2, metrics=[metric])
    assert_merged(parts[0] + parts[1], whole, range(2))
