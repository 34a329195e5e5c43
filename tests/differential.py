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


def check(population, depth, twins):
    """Compare metrics, given as ``{Metric: twin}``, in results, of `Hits` and as functions."""
    options = {"metrics": list(twins), "duplicates": "first"} | NOBODY_LEFT_OUT
    ks = list(range(1, depth + 1))
    result = by_words(*population, ks, **options)
    deepest = max([depth, *map(len, population[0])])  # at which no list is cut
    hits = match_by_words(*population, deepest, duplicates="first")
    from_hits = by_words(hits, k=ks, metrics=list(twins), **NOBODY_LEFT_OUT)
    for metric, twin in twins.items():
        name, expected = metric.name, expectations(population, depth, twin, **NOBODY_LEFT_OUT)
        agree(result[name], [one.mean for one in expected], f"mean of {name}")
        agree(result.std(name), [one.std for one in expected], f"std of {name}")
        agree(result.per_user(name), columns(expected), f"{name} per user")
        n = result.n_of(name)
        counts = (result.n_users, n, result.n_users - n, result.n_missing)
        assert counts == expected[-1][3:]
        for values in (tl.TopKResult.__getitem__, tl.TopKResult.std, tl.TopKResult.per_user):
            assert equal(values(from_hits, name), values(result, name)), f"{name} of Hits"
        for sides, how in ((population, {"duplicates": "first"}), ((hits,), {})):
            found = curve(metric, *sides, k=depth, **how, **NOBODY_LEFT_OUT)
            assert equal(found, result.per_user(name)), f"{name} as a function"
