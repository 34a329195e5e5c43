"""What holds under every convention, or for every metric, whatever the numbers are."""

import numpy as np
import pytest

import toplist as tl
from toplist.metrics.conventions import CONVENTION_CHOICES, convention_of

KS = [1, 3, 7]
LISTS = {
    "ann": ["x", "y", "z", "w"],
    "bob": ["y", "x"],
    "cid": ["z", "q"],
    "dee": [],
    "eve": ["w", "v", "u", "x", "y"],
    "gus": ["x"],
    "ida": ["q", "x", "y"],
}
# eve, gus and hal have no relevant item, hal and fay no list, dee an empty one
ONES = {
    "ann": {"y": 1, "w": 1, "m": 1},
    "bob": {"x": 1},
    "cid": {"m": 1},
    "dee": {"x": 1},
    "eve": {},
    "fay": {"x": 1},
    "gus": {},
    "hal": {},
    "ida": {"y": 1},
}
# the same with judged items that are not relevant, which bpref needs
JUDGED = {user: {**dict.fromkeys("qz", 0), **grades} for user, grades in ONES.items()}
POLICIES = [
    {},
    {"empty": "skip"},
    {"empty": "zero"},
    {"empty": "one"},
    {"missing": "skip"},
    {"missing": "zero"},
    {"relevant": "all"},
    {"relevant": "listed"},
    {"aggregate": "pooled"},
]


def said(result, name):
    """Return all that a result says of a metric: its numbers, of whom, and the averages' rules."""
    numbers = (result[name], result.std(name), *result.interval(name), result.per_user(name))
    rules = [result.formula(name).splitlines()[-2]]
    counts = result.n_of(name), result.n_evaluated, result.n_skipped, result.n_missing
    return [np.asarray(one, float).tobytes() for one in numbers], counts, rules


def asked(metric, name, truths, **options):
    """Return what an evaluation says of a metric, or the error without the metric's name."""
    k = None if metric.cut == "n" else KS
    try:
        result = tl.top_k_eval(LISTS, truths, k, metrics=name, **options)
    except ValueError as error:
        return str(error).replace(name, metric.name)
    numbers, counts, rules = said(result, name)
    return (
        numbers,
        counts,
        [one.replace("items of grade 1 or more", "relevant items") for one in rules],
    )


@pytest.mark.parametrize("convention", CONVENTION_CHOICES)
def test_relevant_from_grade_1_is_the_metric_itself_where_all_grades_are_1(convention):
    rules = convention_of(convention)
    of_errors = {"raise": {"empty": "skip", "missing": "zero"}}
    usual = of_errors.get(rules.empty, {})  # an error is the policy: then that of others
    for name, metric in rules.metrics.items():
        truths = JUDGED if name in ("bpref", "judged") else ONES
        for policy in POLICIES:
            options = {"convention": convention, **usual, **policy}
            plain = asked(metric, name, truths, **options)
            other = asked(metric, f"{name}(rel=1)", truths, **options)
            assert other == plain, (name, policy)


def test_a_lower_grade_of_a_metric_than_of_all_makes_several_items_relevant():
    """Of the grades 2, 1, 1 the lists find 2 and 1: one of one, and two or one of three."""
    lists, truths = [["a", "b"], ["a", "x"]] * 6, [{"a": 2, "b": 1, "c": 1}] * 12
    names = ["recall", "recall(rel=1)", "hit(rel=1)"]
    result = tl.top_k_eval(lists, truths, 2, metrics=names, relevant_from=2)
    assert [*result] == pytest.approx([1, 1 / 2, 1])
    low, high = result.interval("recall(rel=1)@2")
    half = 1.959963984540054 * np.std([2 / 3, 1 / 3] * 6, ddof=1) / 12**0.5
    assert (low, high) == pytest.approx((1 / 2 - half, 1 / 2 + half))
    assert " = " not in str(result)
