"""The oracle against figures from outside the project, and against its own second spellings."""

import doctest
import math

import cases
import pytest
from oracle import hits as oracle
from systems import RANKS, TRUTHS

CASES, LEFT_OUT = cases.read()


def metric_of(case):
    if case.divisor is None:
        return oracle.CONVENTIONS[case.convention][case.metric]
    return oracle.OVER[case.metric](case.divisor)


def actual(case):
    """Compute a case in the shape of its `expected`."""
    options = dict(case.parameters)
    if case.gain == "exponential":
        options["exponential"] = True

    def at(k):
        return oracle.evaluate(case.ranks, case.truths, k, metric_of(case), **options)

    if case.aggregation == "per_user":
        return at(case.k).per_user
    if case.aggregation == "cumulative":
        columns = [at(k).per_user for k in range(1, case.k + 1)]
        return [list(row) for row in zip(*columns, strict=True)]
    return [at(k).mean for k in case.k] if isinstance(case.k, list) else at(case.k).mean


def test_examples_in_the_docstrings():
    assert doctest.testmod(oracle).failed == 0


@pytest.mark.skipif(not CASES, reason="no cases beside the repository")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_figures_of_other_projects(case):
    case.check(actual(case))


@pytest.mark.skipif(not CASES, reason="no cases beside the repository")
def test_cases_cover_every_metric_and_are_left_out_for_a_reason():
    # those of judged are of trec_eval's own output: test_judged; those of groups in test_groups
    others = {"judged", "group_recall", "alpha_ndcg"}
    assert {case.metric for case in CASES} == set(oracle.METRICS) - others
    assert all(LEFT_OUT.values())


@pytest.mark.parametrize(
    ("wrong", "right"), [(0.5001, 0.5), ([0.5, 1.0], [0.5, None]), ([[1, 0]], [[1, 1]])]
)
def test_a_case_notices_a_wrong_figure(wrong, right):
    options = {"metric": "hit", "ranks": [], "truths": [], "k": 2, "aggregation": "mean"}
    case = cases.Case(id="made up", expected=right, tolerance=1e-6, **options)
    defect = cases.Case(id="made up", expected=wrong, tolerance=1e-6, do_not_copy=True, **options)
    case.check(right)
    defect.check(right)
    with pytest.raises(AssertionError, match="made up"):
        case.check(wrong)
    with pytest.raises(AssertionError, match="made up"):
        defect.check(wrong)


# The six figures that the NeuRec-style functions print for their own example


@pytest.mark.parametrize(
    ("k", "printed"),
    [
        (1, [1.0, 1.0, 0.2917, 1.0, 1.0, 1.0]),
        (3, [1.0, 0.6667, 0.5833, 0.3056, 0.7346, 1.0]),
        (5, [1.0, 0.5, 0.75, 0.1679, 0.7662, 1.0]),
    ],
)
def test_neurec_prints_what_the_original_printed(k, printed):
    names = ["hit", "precision", "recall", "map", "ndcg", "mrr"]
    means = [
        oracle.evaluate(RANKS, TRUTHS, k, oracle.CONVENTIONS["neurec"][name]).mean for name in names
    ]
    assert [round(mean, 4) for mean in means] == printed


# One list, many answers: what the peers print for the same input

FIRST = ([1, 2, 3, 4, 5], {1, 3, 9}, 5)
SHORT = ([1, 2], {2, 5}, 5)
DEEP = ([1, 2, 3], set(range(1, 11)), 3)
REPEATED = ([1, 1, 2], {1, 7}, 3)
LEFT_ONE_OUT = ([5, 1, 6, 7], {1}, 4)


@pytest.mark.parametrize(
    ("metric", "arguments", "printed"),
    [
        (oracle.map_, FIRST, 0.5556),
        (oracle.neurec_map, FIRST, 0.1389),
        (oracle.map_over("k"), FIRST, 0.3333),
        (oracle.map_over("R"), DEEP, 0.3),
        (oracle.neurec_map, DEEP, 0.5),
        (oracle.map_, DEEP, 1.0),
        (oracle.map_, REPEATED, 0.5),
        (oracle.map_, LEFT_ONE_OUT, 0.5),
        (oracle.map_over("k"), LEFT_ONE_OUT, 0.125),
        (oracle.neurec_map, LEFT_ONE_OUT, 0.125),
        (oracle.ndcg, FIRST, 0.7039),
        (oracle.ndcg_over("ideal(k)"), FIRST, 0.5087),
        (oracle.ndcg_over("ideal(min(k,n,R))", oracle.clipped_log2_discount), FIRST, 0.6199),
        (oracle.ndcg, SHORT, 0.3869),
        (oracle.ndcg_over("ideal(k)"), SHORT, 0.2140),
        (oracle.ndcg_over("ideal(min(k,n,R))", oracle.clipped_log2_discount), SHORT, 0.5),
        (oracle.ndcg, LEFT_ONE_OUT, 0.6309),
        (oracle.ndcg_over("ideal(k)"), LEFT_ONE_OUT, 0.2463),
        (oracle.ndcg_over("ideal(min(k,n,R))", oracle.clipped_log2_discount), LEFT_ONE_OUT, 1.0),
        (oracle.precision, SHORT, 0.2),
        (oracle.neurec_precision, SHORT, 0.5),
        (oracle.precision, REPEATED, 0.3333),
        (oracle.recall, DEEP, 0.3),
        (oracle.precision_over("min(k,R)"), DEEP, 1.0),
        (oracle.recall, REPEATED, 0.5),
    ],
)
def test_one_input_many_answers(metric, arguments, printed):
    assert round(metric(*arguments), 4) == printed


# Divisors and ideals by hand, in the order of their tables


@pytest.mark.parametrize(
    ("k", "R", "n", "divisors", "places"),
    [
        (5, 3, 2, [1, 5, 3, 3, 2, 2, 2, 9, 1 + 2, 4], [5, 3, 2, 2, 3]),
        (2, 3, 4, [1, 2, 3, 2, 2, 3, 2, 9, 1 + 2, 2.5], [2, 2, 2, 2, 3]),
        (5, 2, 4, [1, 5, 2, 2, 4, 2, 2, 4, 1 + 2 + 2 + 2, 3.5], [5, 2, 4, 2, 2]),
    ],
)
def test_divisors_and_ideals(k, R, n, divisors, places):
    assert [divisor(k, R, n) for divisor in oracle.DIVISORS.values()] == divisors
    assert [ideal(k, R, n) for ideal in oracle.IDEAL_PLACES.values()] == places


# Grades


def test_grades_matter_to_the_graded_metrics_only():
    ranked, graded, k = [1, 2, 3], {1: 1, 3: 2, 4: 3, 2: 0}, 3
    plain = oracle.relevant_items(graded)
    assert plain == {1, 3, 4}
    for name in ("hit", "precision", "recall", "map", "mrr", "f1", "rbp"):
        metric = oracle.METRICS[name]
        assert metric(ranked, graded, k) == metric(ranked, plain, k)
    assert oracle.cg(ranked, graded, k) == 3.0
    assert oracle.cg(ranked, graded, k, exponential=True) == 1 + 3
    assert oracle.dcg(ranked, graded, k) == 1 + 2 / 2
    best = 3 + 2 / math.log2(3) + 1 / 2
    assert oracle.ndcg(ranked, graded, k) == pytest.approx(2 / best)
    best = 7 + 3 / math.log2(3) + 1 / 2
    assert oracle.ndcg(ranked, graded, k, exponential=True) == pytest.approx((1 + 3 / 2) / best)


def test_relevant_from_decides_for_all_metrics_alike():
    ranked, graded, k = [1, 2, 3], {1: 1, 3: 2, 4: 3}, 3
    high = {3: 2, 4: 3}
    for name, metric in oracle.METRICS.items():
        kept = graded if name == "judged" else high  # judged items are judged at any threshold
        assert metric(ranked, graded, k, relevant_from=2) == metric(ranked, kept, k)
    assert math.isnan(oracle.evaluate([ranked], [graded], k, oracle.hit, relevant_from=4).mean)


# Populations


def test_policies():
    ranks, truths = [[1, 2], [], [3], []], [{1}, {2}, set(), set()]

    def at_two(**policies):
        result = oracle.evaluate(ranks, truths, 2, oracle.precision, **policies)
        return result._replace(
            per_user=[None if math.isnan(value) else value for value in result.per_user]
        )

    half = math.sqrt(0.125)
    assert at_two() == ([0.5, 0.0, None, None], 0.25, half, 4, 2, 2, 1)
    assert at_two(missing="skip")[0] == [0.5, None, None, None]
    assert at_two(missing="skip")[3:] == (4, 1, 3, 1)
    assert at_two(empty="zero") == ([0.5, 0.0, 0.0, 0.0], 0.125, 0.25, 4, 4, 0, 1)
    with pytest.raises(ValueError, match="'drop'"):
        at_two(empty="drop")


def test_nobody_has_no_mean_and_one_has_no_spread():
    nobody = oracle.evaluate([], [], 1, oracle.hit)
    assert nobody.per_user == [] and math.isnan(nobody.mean) and math.isnan(nobody.std)
    one = oracle.evaluate([[1]], [{1}], 1, oracle.hit)
    assert one.mean == 1.0 and math.isnan(one.std)


def test_rows_by_user_follow_the_truth():
    ranks = {"zoe": [1], "extra": [2], "ann": [2]}
    truths = {"bob": {1}, "ann": {1}, "zoe": {1}}
    assert oracle.evaluate(ranks, truths, 1, oracle.hit).per_user == [0.0, 0.0, 1.0]


# Two spellings of one metric
