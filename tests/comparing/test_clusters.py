"""Systems compared over rows in clusters: tested by these without being asked."""

import math

import numpy as np
import pytest
from cluster_case import DF, ERROR, LABELS, TENTHS
from doors import by_words

import toplist as tl
from toplist.stats import planning

KEYS = [f"row {i}" for i in range(12)]


def tenths(numbers, clusters=LABELS, order=range(12), **options):
    """Return a result with these precision@10, in tenths."""
    lists = {KEYS[i]: [*range(numbers[i]), *range(100, 110 - numbers[i])] for i in order}
    truths = {KEYS[i]: set(range(10)) for i in order}
    clusters = None if clusters is None else dict(zip(KEYS, clusters, strict=True))
    return by_words(lists, truths, 10, metrics="precision", clusters=clusters, **options)


def case(**options):
    """Return two results whose differences are those of the specification's case."""
    return {
        "b": tenths([3] * 12, order=range(11, -1, -1), **options),
        "a": tenths(TENTHS, **options),
    }


def many(n=400, n_clusters=60, seed=0, k=(1, 5), **options):
    """Return two systems over rows of unequal clusters."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.choice(n_clusters, n, p=rng.dirichlet(np.ones(n_clusters))))
    truths = [{int(rng.integers(8))} for _ in range(n)]
    found = {}
    for name in "ab":
        ranks = [rng.permutation(8)[:5].tolist() for _ in range(n)]
        options = {"k": k, "metrics": ["ndcg", "mrr"], "clusters": labels, **options}
        found[name] = by_words(ranks, truths, **options)
    return found, labels


def test_the_case_of_the_specification():
    test = tl.compare(case(), baseline="b").test()["a", "precision@10"]
    found = test.difference, test.error, test.df, test.p, test.low, test.high
    expected = 0.2, ERROR, DF, 0.0689325, -0.0305696, 0.4305696
    assert found == pytest.approx(expected, abs=1e-7)


def test_results_are_tested_as_if_their_clusters_were_given():
    found, labels = many()
    plain, _ = many(clusters=None)
    both, bare = tl.compare(found, baseline="a"), tl.compare(plain, baseline="a")
    for how in (
        *({"method": method} for method in ("t", "randomization", "bootstrap")),
        *({"method": method, "correction": "maxt"} for method in ("t", "randomization")),
    ):
        assert repr([*both.test(**how)]) == repr([*bare.test(**how, clusters=labels)])
        assert repr([*both.test(**how)]) != repr([*bare.test(**how)])
    one = both.equivalence(margin=0.1)
    assert repr([*one]) == repr([*bare.equivalence(margin=0.1, clusters=labels)])
    # those that are given win
    for given, wanted in ((range(400), 400), (None, len({*labels.tolist()}))):
        assert both.test("mrr@5", clusters=given).plan.n_clusters == wanted
    # and runs have those of their rows
    runs = {name: [one, many()[0][name]] for name, one in found.items()}
    tests = tl.compare(runs, baseline="a").test("mrr@5")
    assert tests.plan.n_clusters == wanted
    expected = both.test("mrr@5")["b", "mrr@5"]
    assert tests["b", "mrr@5"].error_users == pytest.approx(expected.error)


def test_what_is_printed():
    for unit, rows in (({}, "rows"), ({"unit": "sessions"}, "sessions")):
        found, labels = many(**unit)
        tests = tl.compare(found, baseline="a").test("mrr@5")
        over = f"over 400 {rows} in {len({*labels.tolist()})} clusters"
        assert f"b - a, paired t {over}" in str(tests) and "user" not in str(tests)
        assert over in tests.sentence() and f" {rows} higher" in tests.sentence()


def test_clusters_must_be_the_same():
    other, b = [*LABELS[:3], "z", *LABELS[4:]], [3] * 12
    mixed, one = ({"b": tenths(b, some), "a": tenths(TENTHS)} for some in (other, None))
    words = "b and a have other clusters of the same rows: of row 'row 3', 'z' and 'a'"
    with pytest.raises(ValueError, match=words):
        tl.compare(mixed).test()
    assert words in str(tl.compare(mixed, baseline="b"))
    with pytest.raises(ValueError, match="a has clusters and b has none: evaluate both with clus"):
        tl.compare(one).test()
    given = dict(zip(KEYS, LABELS, strict=True))
    own = tl.compare(case()).test()[0]
    assert repr(tl.compare(mixed).test(clusters=given)[0]) == repr(own)


def test_segments_keep_the_clusters_that_they_split():
    found, labels = many()
    parts = np.arange(400) % 2
    both = tl.compare(found, baseline="a")
    tests = both.by(parts).test("mrr@5")
    for part in (0, 1):
        rows = parts == part
        values = {name: one.per_user("mrr@5")[rows] for name, one in found.items()}
        expected = tl.inference.paired_tests(values, baseline="a", clusters=labels[rows])
        for field in ("error", "df", "p"):
            one = getattr(tests[str(part), "b", "mrr@5"], field)
            assert one == pytest.approx(getattr(expected["b", "value"], field))
    assert "over 200 rows in " in str(tests) and "mrr@5  rows" in str(tests)
    assert "over 30 to 370 rows in up to " in str(both.by(np.arange(400) < 30).test("mrr@5"))


def test_power_is_that_of_the_error_by_clusters():
    found, labels = many()
    both = tl.compare(found, baseline="a")
    power, test = both.power("mrr@5", difference=0.05), both.test("mrr@5")["b", "mrr@5"]
    [row] = power.rows
    assert row["n"] == 400 and row["n_clusters"] == len({*labels.tolist()})
    assert row["effective"] == pytest.approx((test.std / test.error) ** 2)
    units = test.df + 1
    spread = test.error * math.sqrt(units)
    assert row["detectable"] == pytest.approx(planning.detectable(spread, units))
    needed = planning.n_needed(0.05, spread)
    assert row["n_needed"] == pytest.approx(needed * 400 / units)
    text = str(power)
    assert "rows  clusters  effective" in text and "rows for 0.05" in text
    assert "effective: rows without clusters whose mean would be as certain" in text
    alone = tl.compare(many(clusters=range(400))[0]).power("mrr@5").rows[0]
    plain = tl.compare(many(clusters=None)[0]).power("mrr@5").rows[0]
    assert alone["effective"] == pytest.approx(400)
    assert alone["detectable"] == pytest.approx(plain["detectable"])
    few = tl.compare(case()).power().rows[0]
    assert math.isnan(few["detectable"])  # five clusters differ
