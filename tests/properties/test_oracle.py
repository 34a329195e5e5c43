"""The oracle against figures from outside the project; against the library: all other tests."""

import doctest

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
