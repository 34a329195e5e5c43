"""The library against the oracle: every metric, convention, divisor and policy, on small cases."""

import math
from dataclasses import replace

import pytest
from differential import (
    ANY,
    COUNTS,
    DEPTHS,
    DISCOUNTS,
    NOBODY_LEFT_OUT,
    agree,
    check,
    check_function,
    check_result,
    expectations,
    sparse_populations,
    twins_of,
)
from doors import by_words, curve
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from oracle import judgements as oracle_judgements
from oracle.policies import EMPTY_OF, EXPONENTIAL, GRADED, LISTED, POLICIES, POOLED
from strategies import graded_populations

import toplist as tl

# Compared with twins of their own in metrics/test_golden_judgements.py.
JUDGEMENTS = {"complete", "group_recall", "alpha_ndcg", "err", "nerr", "bpref", "iprec"}


def split_divisors():
    ideal = {name for name, divisor in tl.metrics.definitions.DIVISORS.items() if divisor.ideal}
    return set(tl.metrics.definitions.DIVISORS) - ideal, ideal


def test_every_definition_has_a_twin():
    assert set(tl.METRICS) == set(oracle.METRICS) | JUDGEMENTS
    assert all(hasattr(oracle_judgements, name) for name in JUDGEMENTS)
    assert {name for name, metric in tl.METRICS.items() if metric.graded} == GRADED
    twins = {name: set(metrics) for name, metrics in oracle.CONVENTIONS.items()}
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
    plain, ideal = split_divisors()
    assert plain <= {*oracle.DIVISORS, "hits"}
    assert ideal <= set(oracle.IDEAL_PLACES)
    assert set(tl.metrics.definitions.DISCOUNTS) == set(DISCOUNTS)


# Metrics, divisors, discounts


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
@settings(deadline=None, max_examples=20)
@given(ANY, DEPTHS)
def test_metrics(convention, population, depth):
    check(population, depth, twins_of(convention), convention=convention)


@pytest.mark.parametrize("divisor", tl.metrics.definitions.DIVISORS)
@settings(deadline=None, max_examples=15)
@given(population=ANY, depth=DEPTHS)
def test_divisors(divisor, population, depth):
    names = (
        ["ndcg"]
        if tl.metrics.definitions.DIVISORS[divisor].ideal
        else ["precision", "recall", "map"]
    )
    twins = {}
    for name in names:
        twin = oracle.OVER[name](divisor)
        expected = expectations(population, depth, twin, **NOBODY_LEFT_OUT)
        check_function(name, population, depth, expected, divisor=divisor, **NOBODY_LEFT_OUT)
        metric = replace(tl.METRICS[name], name=f"{name} over {divisor}", divisor=divisor)
        twins[metric] = (twin, {})
    check(population, depth, twins)


def sum_over_hits(counts, discount, divisor):
    """Define a metric by its three choices; an ideal has a hit on each of its places."""
    count, weaken = COUNTS[counts], DISCOUNTS[discount]

    def metric(ranked, relevant, k):
        sizes = k, len(relevant), len(ranked)
        ranks = oracle.hit_ranks(ranked, relevant, k)
        total = math.fsum(count(j) / weaken(rank) for j, rank in enumerate(ranks, start=1))
        if divisor not in oracle.IDEAL_PLACES:
            return oracle.ratio(total, oracle.divisor_of(divisor, ranked, relevant, k))
        return oracle.ratio(total, oracle.ideal_dcg(oracle.IDEAL_PLACES[divisor](*sizes), weaken))

    return metric


CHOICES = st.tuples(
    *(
        st.sampled_from(sorted(names))
        for names in (COUNTS, DISCOUNTS, tl.metrics.definitions.DIVISORS)
    )
)


@settings(deadline=None, max_examples=60)
@given(population=ANY, depth=DEPTHS, rows=st.lists(CHOICES, min_size=1, max_size=3, unique=True))
def test_any_three_choices(population, depth, rows):
    twins = {
        tl.Metric(f"row {i}", *row): (sum_over_hits(*row), {})
        for i, row in enumerate(rows)
        if row[0] == "each" or not tl.metrics.definitions.DIVISORS[row[2]].ideal
    }
    if twins:
        check(population, depth, twins)


@settings(deadline=None, max_examples=20)
@given(population=ANY, depth=DEPTHS, p=st.sampled_from([0.05, 0.5, 0.95]))
def test_persistence_of_rbp(population, depth, p):
    check(population, depth, {f"rbp(p={p})": (oracle.rbp, {"p": p})})


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
    expected = oracle.evaluate(ranks, truths, k, oracle.METRICS[name])
    assert expected.std > 1e-8
    agree(tl.top_k_eval(ranks, truths, k, metrics=name).std(name)[-1], expected.std, name)


# Policies


@pytest.mark.parametrize("missing", ["skip", "zero"])
@pytest.mark.parametrize("empty", ["skip", "zero", "one"])
@settings(deadline=None, max_examples=20)
@given(population=sparse_populations(), depth=DEPTHS)
def test_policies(empty, missing, population, depth):
    policies = {"empty": empty, "missing": missing}
    check(population, depth, twins_of("standard"), policies=policies)


@pytest.mark.parametrize("missing", ["skip", "zero"])
@pytest.mark.parametrize("empty", ["skip", "zero", "one"])
def test_a_user_with_neither_truth_nor_list(empty, missing):
    policies = {"empty": empty, "missing": missing}
    check(([[1, 2], []], [{2}, set()]), 2, twins_of("standard"), policies=policies)


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
@settings(deadline=None, max_examples=10)
@given(population=sparse_populations(), depth=DEPTHS)
def test_a_convention_brings_its_policies(convention, population, depth):
    policies = dict(zip(("empty", "missing"), POLICIES[convention], strict=True))
    options = {"convention": convention, "duplicates": "first"}
    twins = oracle.CONVENTIONS[convention]
    if "raise" in policies.values():
        counts = oracle.evaluate(*population, 1, oracle.hit)
        if counts.n_skipped or counts.n_missing:
            with pytest.raises(ValueError, match="such users"):
                by_words(*population, depth, metrics=list(twins), **options)
            return
        policies = {"empty": "skip", "missing": "zero"}
    result = by_words(*population, depth, metrics=list(twins), aggregate="mean", **options)
    for name, twin in twins.items():
        own = policies | {"empty": EMPTY_OF.get((convention, name), policies["empty"])}
        expected = expectations(population, depth, twin, **own)
        check_result(result, name, depth, expected)
    name = next(name for name in twins if name in tl.METRICS)
    own = policies | {"empty": EMPTY_OF.get((convention, name), policies["empty"])}
    expected = expectations(population, depth, twins[name], **own)
    check_function(name, population, depth, expected, convention=convention)


@pytest.mark.parametrize("policy", ["empty", "missing"])
@settings(deadline=None, max_examples=20)
@given(population=sparse_populations())
def test_a_policy_that_raises(policy, population):
    counts = oracle.evaluate(*population, 1, oracle.hit)
    users = {"empty": counts.n_skipped, "missing": counts.n_missing}[policy]
    options = {policy: "raise", "duplicates": "first"}
    calls = [
        lambda: curve("hit", *population, 1, **options),
        lambda: by_words(*population, 1, **options),
    ]
    for call in calls:
        if users:
            with pytest.raises(ValueError, match=rf"^user \d+ has .* \({users} such users\)"):
                call()
        else:
            assert call() is not None


@settings(deadline=None, max_examples=20)
@given(
    ranks=st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 5), unique=True)),
    truths=st.dictionaries(st.sampled_from("abcd"), st.sets(st.integers(0, 5), max_size=3)),
    depth=DEPTHS,
)
def test_users_by_key(ranks, truths, depth):
    if ranks and not set(ranks) & set(truths):
        words = "no user is in both" if truths else "ground_truths has no user"
        with pytest.raises(ValueError, match=words):
            tl.match(ranks, truths)
        return
    check((ranks, truths), depth, twins_of("standard"))
    result = tl.top_k_eval(ranks, truths, depth)
    assert list(result.users) == list(truths)
    assert result.n_extra == len(set(ranks) - set(truths))


# Other averages


def pooled(population, k, earned, divisor):
    """Divide what all users with a relevant item earned by what all are divided by."""
    users = [
        (earned(ranked, relevant, k), divisor(k, len(relevant), len(ranked)))
        for ranked, relevant in zip(*population, strict=True)
        if relevant
    ]
    return oracle.ratio(*map(math.fsum, zip(*users, strict=True)))


def n_found(ranked, relevant, k):
    return len(oracle.found(ranked, relevant, k))


RATIOS = {
    ("standard", "precision"): (n_found, oracle.DIVISORS["k"]),
    ("standard", "recall"): (n_found, oracle.DIVISORS["R"]),
    ("standard", "map"): (oracle.summed_precision, oracle.DIVISORS["min(k,R)"]),
    ("standard", "ndcg"): (oracle.dcg, lambda k, R, n: oracle.ideal_dcg(min(k, R))),
    ("lenskit", "precision"): (n_found, oracle.DIVISORS["min(k,n)"]),
    ("implicit", "precision"): (n_found, oracle.DIVISORS["min(k,R)"]),
}


@pytest.mark.parametrize(("convention", "name"), RATIOS)
@settings(deadline=None, max_examples=20)
@given(population=ANY.filter(lambda population: any(population[1])), depth=DEPTHS)
def test_ratios_of_sums(convention, name, population, depth):
    options = {"convention": convention, "duplicates": "first", "missing": "zero"}
    options |= {} if (convention, name) in POOLED else {"aggregate": "pooled"}
    curve = by_words(*population, depth, metrics=name, **options)[name]
    twin = RATIOS[convention, name]
    agree(curve, [pooled(population, k, *twin) for k in range(1, depth + 1)], name)


@pytest.mark.parametrize("population", [([], []), ([[1]], [[]]), ([[1], [2]], [[], []])])
def test_a_ratio_of_sums_over_nobody_is_nan(population):
    for name in ("recall", "ndcg"):
        (value,) = tl.top_k_eval(
            *population,
            1,
            metrics=name,
            convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
        )
        assert math.isnan(value)


def weighted_mean(weights, values):
    """Average the values of the users who have one."""
    pairs = [(w, x) for w, x in zip(weights, values, strict=True) if w and not math.isnan(x)]
    total = sum(w for w, _ in pairs)
    return math.fsum(w * x for w, x in pairs) / total if total else math.nan


@settings(deadline=None, max_examples=25)
@given(population=ANY | graded_populations(), depth=DEPTHS, data=st.data())
def test_weights(population, depth, data):
    n_users = len(population[1])
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n_users, max_size=n_users))
    options = {"metrics": list(oracle.METRICS), "empty": "zero", "duplicates": "first"}
    result = by_words(*population, depth, weights=weights, **options)
    alike = by_words(*population, depth, weights=[2.5] * n_users, **options)
    for name, twin in oracle.METRICS.items():
        expected = expectations(population, depth, twin, empty="zero")
        weighted = [weighted_mean(weights, one.per_user) for one in expected]
        agree(result[name], weighted, f"weighted mean of {name}")
        check_result(alike, name, depth, expected)


# Grades


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
@settings(deadline=None, max_examples=15)
@given(
    population=graded_populations() | graded_populations(unique=False),
    depth=DEPTHS,
    relevant_from=st.none() | st.sampled_from([0, 0.5, 1, 2.5, 5]),
    gains=st.sampled_from(["linear", "exponential"]),
)
def test_grades(convention, population, depth, relevant_from, gains):
    worth = {"exponential": True} if gains == "exponential" else {}
    twins = {
        name: (twin, {"relevant_from": relevant_from, **(worth if name in GRADED else {})})
        for name, twin in oracle.CONVENTIONS[convention].items()
        if (convention, name) != ("rectools", "ndcg")  # no grade fills its ideal past the last item
    }
    join = {"relevant_from": relevant_from, "gains": gains}
    check(population, depth, twins, join, convention=convention)


@settings(deadline=None, max_examples=25)
@given(population=graded_populations(), depth=DEPTHS, policies=st.sampled_from(["skip", "zero"]))
def test_grades_and_policies(population, depth, policies):
    policies = {"empty": policies, "missing": "zero"}
    check(population, depth, twins_of("standard"), policies=policies)


@settings(deadline=None, max_examples=25)
@given(population=graded_populations(), depth=DEPTHS, plain=st.sets(st.integers(0, 5)))
def test_a_set_among_dicts_has_grades_of_one(population, depth, plain):
    ranks, graded = population
    truths = [set(truth) if user in plain else truth for user, truth in enumerate(graded)]
    check((ranks, truths), depth, twins_of("standard"))


# Conventions that say how grades become gains


def test_a_convention_has_gains_of_its_own():
    ranks, truths = [1, 2], {1: 1, 2: 2}
    linear, exponential = (
        tl.curves("ndcg", ranks, truths, convention=tl.CONVENTIONS["standard"].replace(gains=one))
        for one in ("linear", "exponential")
    )
    assert linear.tolist() != exponential.tolist()
    assert tl.ndcg(ranks, truths, convention="elliot").tolist() == exponential.tolist()
    own = tl.curves(
        "ndcg", ranks, truths, convention=tl.CONVENTIONS["elliot"].replace(gains="linear")
    )
    assert own.tolist() == linear.tolist()
    result = tl.top_k_eval([ranks], [truths], 2, metrics="ndcg", convention="elliot")
    assert result["ndcg@2"] == exponential[1]
    assert "convention elliot, gain 2^grade - 1: mean" in str(result)
    hits = tl.match([ranks], [truths])
    with pytest.raises(ValueError, match="'elliot' has exponential gains, this Hits linear ones"):
        tl.top_k_eval(hits, k=2, metrics="ndcg", convention="elliot")
    assert tl.curves(
        "ndcg", hits, convention=tl.CONVENTIONS["elliot"].replace(gains="linear")
    ).tolist() == [linear.tolist()]
    with pytest.raises(ValueError, match="'standard' has exponential gains, this Hits linear ones"):
        tl.curves("ndcg", hits, convention=tl.CONVENTIONS["standard"].replace(gains="exponential"))
    table = tl.audit.conformance([ranks], [truths], 2)
    assert table["elliot"]["ndcg"] == exponential[1] != table["sklearn"]["ndcg"]
