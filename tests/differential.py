"""The library compared with the oracle: functions, results and `Hits`, of drawn populations."""

import numpy as np
from doors import by_words, curve, match_by_words
from hypothesis import strategies as st
from oracle import hits as oracle
from strategies import int64_ids, populations, populations_with_duplicates

import toplist as tl

DEPTHS = st.integers(1, 15)
NOBODY_LEFT_OUT = {"empty": "zero", "missing": "zero"}
ANY = populations(min_users=0) | populations_with_duplicates() | populations(items=int64_ids())


@st.composite
def sparse_populations(draw):
    """Draw populations in which many users have no list or no truth, but none has neither."""
    ranks, truths = draw(populations(min_users=0, max_list=2, max_truth=2) | ANY)
    pairs = zip(ranks, truths, strict=True)
    return [ranked if ranked or relevant else [0] for ranked, relevant in pairs], truths


DISCOUNTS = {
    "1": lambda rank: 1,
    "r": lambda rank: rank,
    "log2(r+1)": oracle.log2_discount,
    "log2(max(r,2))": oracle.clipped_log2_discount,
}
COUNTS = {"each": lambda j: 1, "nth": lambda j: j, "first": lambda j: 1 if j == 1 else 0}


def expectations(population, depth, twin, **options):
    return [oracle.evaluate(*population, k, twin, **options) for k in range(1, depth + 1)]


def columns(evaluations):
    """Lay out the values per user as the library does: a row per user, a column per k."""
    return np.array([evaluation.per_user for evaluation in evaluations]).T


def agree(actual, expected, what):
    """Compare numbers to 1e-12; nan equals nan."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, what
    same = (np.abs(actual - expected) <= 1e-12) | (np.isnan(actual) & np.isnan(expected))
    assert same.all(), f"{what}: {actual.tolist()}, by the oracle {expected.tolist()}"


def equal(one, other):
    """Tell whether two arrays hold the same bits; nan equals nan."""
    return np.array_equal(one, other, equal_nan=True)


def check_function(name, population, depth, expected, join=(), **options):
    """Compare ``tl.<name>()`` at every k, from ids and from `Hits`."""
    join = {"duplicates": "first", **dict(join)}
    found = curve(name, *population, depth, **join, **options)
    agree(found, columns(expected), name)
    hits = match_by_words(*population, deep_enough(population, depth), **join)
    gains = {"gains": join["gains"]} if "gains" in join else {}
    assert equal(curve(name, hits, k=depth, **gains, **options), found), f"{name} of Hits"


def deep_enough(population, depth):
    """Return a depth that no list is cut at, so that hits in the whole list are known."""
    lists = population[0].values() if isinstance(population[0], dict) else population[0]
    return max([depth, *map(len, lists)])


def check_result(result, name, depth, expected):
    """Compare the means, spreads, values and counts of a result at every k."""
    agree(result[name], [one.mean for one in expected], f"mean of {name}")
    agree(result.std(name), [one.std for one in expected], f"std of {name}")
    agree(result.per_user(name), columns(expected), f"{name} per user")
    agree(result.per_user(f"{name}@{depth}"), expected[-1].per_user, f"{name} per user at k")
    n = result.n_of(name)
    counts = (result.n_users, n, result.n_users - n, result.n_missing)
    assert counts == expected[-1][3:]


def check(population, depth, twins, join=(), policies=NOBODY_LEFT_OUT, **options):
    """Compare metrics, given as ``{name or Metric: [twin and its options]}``, in all ways."""
    join, ks = {"duplicates": "first", **dict(join)}, list(range(1, depth + 1))
    asked = options | {"metrics": list(twins), "aggregate": "mean"}
    result = by_words(*population, ks, **asked, **policies, **join)
    hits = match_by_words(*population, deep_enough(population, depth), **join)
    gains = {"gains": join["gains"]} if "gains" in join else {}
    from_hits = by_words(hits, k=ks, **gains, **asked, **policies)
    for metric, (twin, twin_options) in twins.items():
        expected = expectations(population, depth, twin, **twin_options, **policies)
        name = metric.name if isinstance(metric, tl.Metric) else metric
        check_result(result, name, depth, expected)
        for values in (tl.TopKResult.__getitem__, tl.TopKResult.std, tl.TopKResult.per_user):
            assert equal(values(from_hits, name), values(result, name)), f"{name} of Hits"
        if name in tl.METRICS:  # the others have no function
            check_function(name, population, depth, expected, join, **options, **policies)


def twins_of(convention, **options):
    return {name: (twin, options) for name, twin in oracle.CONVENTIONS[convention].items()}
