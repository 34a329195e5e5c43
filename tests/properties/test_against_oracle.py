"""The library against the oracle: every convention and policy, and every choice of a metric."""

import itertools
import math
import random
from dataclasses import replace

import matrix
import oracle
import pytest
from differential import ANY, COUNTS, DEPTHS, DISCOUNTS, agree, check, equal
from doors import Case, call, curve, lists_of, seen, truths_of
from hypothesis import given, settings
from oracle import hits, intervals, judgements
from oracle.policies import EMPTY_OF, EXPONENTIAL, GRADED, LISTED, POLICIES, POOLED
from shared_inputs import said
from world import draw

import toplist as tl
from toplist.metrics.definitions import DISCOUNTS as THEIR_DISCOUNTS
from toplist.metrics.definitions import DIVISORS

# Compared with twins of their own in metrics/test_golden_judgements.py.
JUDGEMENTS = {"complete", "group_recall", "alpha_ndcg", "err", "nerr", "bpref", "iprec"}


def test_every_definition_has_a_twin():
    assert set(tl.METRICS) == set(hits.METRICS) | JUDGEMENTS
    assert all(hasattr(judgements, name) for name in JUDGEMENTS)
    assert {name for name, metric in tl.METRICS.items() if metric.graded} == GRADED
    twins = {name: set(metrics) for name, metrics in hits.CONVENTIONS.items()}
    names = {one.name: {*one.metrics} for one in tl.CONVENTIONS.values()}
    assert all(names[one] - JUDGEMENTS == twins[one] - JUDGEMENTS for one in names | twins)
    assert {
        (convention, name) for convention, known in tl.CONVENTIONS.items() for name in known.pooled
    } == POOLED
    assert set(tl.CONVENTIONS) == set(POLICIES)
    known = tl.CONVENTIONS.values()
    assert {one.name for one in known if one.relevant == "listed"} == LISTED
    assert {one.name for one in known if one.gains == "exponential"} == EXPONENTIAL
    assert {(one.name, name): it for one in known for name, it in one.empty_of.items()} == EMPTY_OF
    assert {one for one in DIVISORS if not DIVISORS[one].ideal} <= {*hits.DIVISORS, "hits"}
    assert {one for one in DIVISORS if DIVISORS[one].ideal} <= set(hits.IDEAL_PLACES)
    assert set(THEIR_DISCOUNTS) == set(DISCOUNTS)


# Conventions and policies


CHOICES = {  # None: the convention's own
    "k": [3, [1, 2, 5, 15]],
    "empty": [None, "skip", "zero", "one"],
    "missing": [None, "skip", "zero"],
    "relevant": [None, "listed"],
    "relevant_from": [None, None, 0, 0.5, 1, 2.5, 5],
    "gains": [None, "linear", "exponential"],
    "aggregate": [None, None, "mean"],
    "weights": [None, None, True],
    "unjudged": [None, None, "drop"],
    "duplicates": [None, "first"],
}


def chosen(convention, seed):
    """Return a world, options and a door for a convention."""
    rng = random.Random(f"{convention} {seed}")
    options = {"convention": convention}
    options |= {name: rng.choice(values) for name, values in CHOICES.items()}
    if POLICIES[convention] == ("raise", "raise"):
        options |= {"empty": options["empty"] or "skip", "missing": options["missing"] or "zero"}
    if convention == "implicit" and options["empty"] == "one":  # a ratio of sums has no such score
        options["empty"] = "zero"
    options = {name: value for name, value in options.items() if value is not None}
    graded = rng.random() < 0.7 or "relevant_from" in options or "gains" in options
    small = rng.random() < 0.3
    if not graded or small or options.get("relevant_from") == 0:  # nobody may be judged irrelevant
        options.pop("unjudged", None)
    names = matrix.metrics_of(options, "hits", graded)
    if convention == "standard" and "aggregate" not in options:
        names += ["rbp(p=0.05)", "rbp(p=0.95)"]
    if convention == "rectools" and graded:  # no grade fills its ideal past the last item
        names = [name for name in names if "ndcg" not in name]
    # a threshold that no grade of a small world reaches is refused
    options["metrics"] = [name for name in names if not (small and "rel=" in name)]
    size = {"users": 2, "longest": 2} if small else {"users": 7, "longest": rng.choice([7, 12])}
    how = {"graded": graded, "text": rng.random() < 0.5, "odd": rng.random() < 0.8, **size}
    return draw(seed, **how), options, rng.choice(["dicts", "rows", "hits", "saved"])


SEEDS = [range(2), pytest.param(range(2, 18), marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("convention", tl.CONVENTIONS)
def test_a_convention_under_any_policy(convention, seeds):
    for world, options, door in (chosen(convention, seed) for seed in seeds):
        wrong = [row for row in matrix.differences(world, options, door) if not open_end(*row)]
        assert not wrong, (options, door, wrong[:3])
        if "weights" not in options:
            check_functions(Case(seen(world, options, "dicts"), options))


def open_end(what, name, *_):
    """Tell whether an interval may be above 1, as far as that hangs on all truths together."""
    return what == "interval" and name.partition("@")[0] in intervals.OPEN


def check_functions(case):
    """Check that functions give the values of the result."""
    sides, words = (lists_of(case), truths_of(case)), case.words()
    metrics, k = words.pop("metrics"), words.pop("k")
    words.pop("aggregate", None)
    result, ks = case.evaluate(*sides), k if isinstance(k, list) else [k]
    for name in metrics:
        if name != "bpref":
            found = curve(name, *sides, max(ks), **words)
            for at in ks:
                assert equal(found[:, at - 1], result.per_user(f"{name}@{at}")), (name, words)


@pytest.mark.parametrize("policy", [{"empty": "raise"}, {"missing": "raise"}, "llamaindex"])
@pytest.mark.parametrize("odd", [True, False])
def test_a_policy_that_raises(policy, odd):
    world, options = draw(1, odd=odd), {"k": 2, "metrics": ["hit"]}
    counts = oracle.evaluate(world, options).counts
    users = counts["n_missing" if "missing" in policy else "n_skipped"]
    options |= {"convention": policy} if policy == "llamaindex" else policy
    case = Case(world, options)
    words = {name: value for name, value in case.words().items() if name != "metrics"}
    for evaluate in (
        lambda: call(world, options, "dicts"),
        lambda: curve("hit", lists_of(case), truths_of(case), **words),
    ):
        if odd:
            with pytest.raises(ValueError, match=rf"^user .* has .* \({users} such users\)"):
                evaluate()
        else:
            assert evaluate() is not None


def test_weights_that_are_all_alike_are_none():
    world, options = draw(2), {"k": [2, 5], "metrics": list(matrix.HITS)}
    alike = replace(world, weights=dict.fromkeys(world.weights, 2.5))
    found = call(alike, options | {"weights": True}, "dicts")
    assert not matrix.apart(call(world, options, "dicts"), found)


@pytest.mark.parametrize("population", [([], []), ([[1]], [[]]), ([[1], [2]], [[], []])])
def test_a_ratio_of_sums_over_nobody_is_nan(population):
    pooled = tl.CONVENTIONS["standard"].replace(aggregate="pooled")
    for name in ("recall", "ndcg"):
        (value,) = tl.top_k_eval(*population, 1, metrics=name, convention=pooled)
        assert math.isnan(value)


# Counts, discounts, divisors


def sum_over_hits(counts, discount, divisor):
    """Define a metric by its three choices; an ideal has a hit on each of its places."""
    count, weaken = COUNTS[counts], DISCOUNTS[discount]

    def metric(ranked, relevant, k):
        sizes = k, len(relevant), len(ranked)
        ranks = hits.hit_ranks(ranked, relevant, k)
        total = math.fsum(count(j) / weaken(rank) for j, rank in enumerate(ranks, start=1))
        if divisor not in hits.IDEAL_PLACES:
            return hits.ratio(total, hits.divisor_of(divisor, ranked, relevant, k))
        return hits.ratio(total, hits.ideal_dcg(hits.IDEAL_PLACES[divisor](*sizes), weaken))

    return metric


@pytest.mark.parametrize("divisor", DIVISORS)
@settings(max_examples=2)
@given(population=ANY, depth=DEPTHS)
def test_any_three_choices(divisor, population, depth):
    counts = ["each"] if DIVISORS[divisor].ideal else COUNTS
    rows = [(*both, divisor) for both in itertools.product(counts, DISCOUNTS)]
    twins = {tl.Metric(f"row {i}", *row): sum_over_hits(*row) for i, row in enumerate(rows)}
    check(population, depth, twins)


@pytest.mark.parametrize(
    ("name", "k", "truths"),
    [
        ("ndcg", 2000, [{0, 1500}, {0, 1501}]),
        ("map", 2000, [{0, 1500}, {0, 1501}]),
        ("rbp", 100, [{0, 59}, {0, 60}]),
        ("cg", 2000, [set(range(1999)), set(range(2000)), set(range(2000))]),
    ],
)
def test_a_small_spread_is_not_lost(name, k, truths):
    ranks = [list(range(2000))] * len(truths)
    expected = hits.evaluate(ranks, truths, k, hits.METRICS[name])
    assert expected.std > 1e-8
    agree(tl.top_k_eval(ranks, truths, k, metrics=name).std(name)[-1], expected.std, name)


# Conventions that say how grades become gains


def test_a_convention_has_gains_of_its_own():
    """2^grade - 1 where it is elliot; hits that are joined keep the gains of their convention."""
    ranks, truths = [[1, 2]], [{1: 1, 2: 2}]
    result = tl.top_k_eval(ranks, truths, 2, metrics="ndcg", convention="elliot")
    assert "convention elliot, gain 2^grade - 1: mean" in str(result)
    table = tl.audit.conformance(ranks, truths, 2)
    assert table["elliot"]["ndcg"] == result["ndcg@2"] != table["sklearn"]["ndcg"]
    joined = tl.match(ranks, truths)
    for name, gains in (("elliot", None), ("standard", "exponential")):
        words = f"'{name}' has exponential gains, this Hits linear ones"
        said(words, curve, "ndcg", joined, k=2, convention=name, gains=gains)
