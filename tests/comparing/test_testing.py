"""Which users, metrics, runs and clusters are tested, and in what order nothing changes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from systems import TRUTH, N, compared, results, segment, system

import toplist as tl
from toplist.comparing.contrasts import METHODS
from toplist.stats import CAUTIONS, planning

AS_TESTED = ("p", "low", "high", "difference", "statistic")


@pytest.mark.parametrize(
    ("method", "correction"),
    [*((method, "holm") for method in METHODS), ("t", "maxt"), ("randomization", "maxt")],
)
def test_the_order_of_users_and_systems_changes_no_bit(method, correction):
    options = {"method": method, "correction": correction, "seed": 7}
    one = tl.compare(results(), baseline="a").test(**options)
    shuffled = results(order=np.random.default_rng(1).permutation(60))
    other = tl.compare(dict(reversed(shuffled.items())), baseline="a").test(**options)
    for row in one:
        same = other[row.system, row.name]
        for field in AS_TESTED:
            assert repr(getattr(row, field)) == repr(getattr(same, field))
        assert row.p_adjusted == pytest.approx(same.p_adjusted, abs=0.01)
    alone = tl.compare(results(), baseline="a").test(**options, n_threads=1)
    assert repr([*alone]) == repr([*one])


def test_users_are_matched_by_key_and_those_in_common_are_counted():
    both, some = results(), {f"u{i}": i < 50 for i in range(60)}
    fewer = {name: one.by(some)[True] for name, one in both.items()}
    mixed = tl.compare({"a": both["a"], "b": fewer["b"]}, baseline="a")
    said = "a, b count other users: 10 are in some of them only"
    with pytest.raises(ValueError, match=said):
        mixed.test("mrr@3")
    text = str(mixed)  # is printed nevertheless, and says why
    assert f"NOT TESTED against a: {said}" in text and "DIFFERENT USERS" in text and "mrr@3" in text
    found = mixed.test("mrr@3", users="common")[0]
    expected = tl.compare(fewer).test("mrr@3")["b", "a", "mrr@3"]
    assert found.n == 50 and found.p == pytest.approx(expected.p, rel=1e-12)
    for ask in (mixed.test, mixed.power, mixed.lead):
        without = ", without 10 that not all systems count"
        assert without in str(ask("mrr@3", users="common")), ask
        assert without not in str(getattr(tl.compare(both), ask.__name__)("mrr@3")), ask
    parts = mixed.by({f"u{i}": i < 45 for i in range(60)}).test("mrr@3", users="common")
    assert "over 5 to 45 users, without up to 10 that not all" in str(parts)


USERS = [f"u{i}" for i in range(60)]
THIRDS, FOURTHS = ({user: {i % n, 9} for i, user in enumerate(USERS)} for n in (3, 4))
HIGHER = {user: {item: 1 + (item == 9) for item in items} for user, items in THIRDS.items()}
OTHERS = "other ground truths: .* other relevant items or grades in b .* user 'u"


def by_truth(truth, users=USERS):
    """Return the result of one and the same lists by a truth."""
    lists = {user: [9, 0, 1] if user in THIRDS else [1] for user in users}
    return tl.top_k_eval(lists, {user: truth[user] for user in users}, k=3, metrics="ndcg")


# The other result, the error, and options of the test
OTHER_TRUTHS = [
    (by_truth(FOURTHS), OTHERS, {}),
    (by_truth({**FOURTHS, "new": set()}, [*USERS, "new"]), OTHERS, {}),
    (by_truth(FOURTHS, USERS[:50]), OTHERS, {"users": "common"}),
    (by_truth(HIGHER), OTHERS, {}),
    (
        by_truth({**THIRDS, "u7": {1, 2, 9}}),
        "1 of 60 users have another number of relevant items in b than in a, user 'u7'",
        {},
    ),
]


@pytest.mark.parametrize(("other", "said", "options"), OTHER_TRUTHS)
def test_other_truths_are_refused_at_every_door(other, said, options):
    both = tl.compare({"a": by_truth(THIRDS), "b": other}, baseline="a")
    assert not both.comparable and not any(both.best().values())
    assert options or "DIFFERENT GROUND TRUTHS" in str(both)
    tests = [both.test]
    if said == OTHERS and len(other.users) == len(USERS):
        split = both.by({user: i % 2 for i, user in enumerate(USERS)})
        assert "NOT TESTED" in str(split) and "DIFFERENT GROUND TRUTHS" in str(split[0])
        tests += [split.test, split[0].test, lambda: split[1].band("ndcg")]
    for test in tests:
        with pytest.raises(ValueError, match=said):
            test(**options)


def test_which_truths_are_the_same():
    alike = {user: dict.fromkeys(items, 1) for user, items in THIRDS.items()}
    given_otherwise = by_truth({**alike, "new": set()}, [*USERS, "new"])
    same = tl.compare({"a": by_truth(THIRDS), "b": given_otherwise})
    assert same.comparable and same.test()[0].n == 60
    # other judgements are others where a metric reads them
    lists = {user: [1, 2] for user in range(4)}
    judged = [{u: {1: 1, 2 + (u < n): 0} for u in lists} for n in (0, 2)]
    for metric, refused in (("judged", True), ("recall", False)):
        sides = (tl.top_k_eval(lists, truth, k=2, metrics=metric) for truth in judged)
        assert tl.compare(dict(zip("ab", sides, strict=True))).comparable is not refused


def test_a_weight_of_0_counts_nothing():
    """Of results and of values of one's own, as if the user were not there."""
    weights = {f"u{user}": float(user % 3) for user in range(60)}
    weighted = {user: weight for user, weight in weights.items() if weight}
    both = {name: results(weights=weights)[name] for name in "ab"}
    values = {name: one.per_user("mrr@3", keyed=True) for name, one in both.items()}
    some = {name: {user: one[user] for user in weighted} for name, one in values.items()}
    ask = tl.inference.paired_tests
    expected = ask(some, weights=weighted, baseline="a")[0]
    assert expected.n == 40
    for found in (
        tl.compare(both, baseline="a").test("mrr@3")[0],
        ask(values, weights=weights, baseline="a")[0],
    ):
        for field in ("n", *AS_TESTED):
            assert getattr(found, field) == pytest.approx(getattr(expected, field), rel=1e-12)


# Metrics that are equal are one hypothesis


def test_metrics_that_are_equal_at_the_first_place_are_one_hypothesis_there():
    rng = np.random.default_rng(0)
    truths = {user: set(rng.permutation(30)[:4].tolist()) for user in range(90)}
    lists = {name: {user: rng.permutation(30)[:5].tolist() for user in truths} for name in "ab"}
    names = ["hit", "precision", "recall", "map", "ndcg", "mrr"]
    both = compared(lists, truths, [1, 5], "a", metrics=names)
    tests, ends = both.test(), [f"{name}@5" for name in names[2:]]
    assert tests.names == ["hit@1", "hit@5", "precision@5", "recall@1", *ends]
    assert tests.n_family == 8 and both.by({u: u % 2 for u in truths}).test().n_family == 16
    said = "tested once: hit@1 = precision@1 = map@1 = ndcg@1 = mrr@1"
    assert said in str(tests) and said not in str(both.test(["hit@1", "mrr@1"]))
    # of f1 the divisor is another; a function may be anything; another policy is another mean
    own = tl.Metric("own", "each", lambda ranks: ranks, "1")
    zero = replace(tl.METRICS["mrr"], name="zero", empty="zero")
    found = compared(lists, truths, [1, 5], metrics=["hit", "cg", "f1", own, zero]).test()
    alone = {one.name for one in found if one.name.endswith("@1")}
    assert alone == {"hit@1", "f1@1", "own@1", "zero@1"}


# Over whom a metric is tested


def test_each_metric_is_tested_over_its_own_users():
    lists = {"u1": ["x"], "u2": ["z"], "u3": ["y"], "u4": ["q"], "u5": ["r"]}
    systems = {"a": lists, "b": {**lists, "u1": ["z"], "u2": ["x"], "u5": ["s"]}}
    truth = {"u1": {"x"}, "u2": {"x"}, "u3": set(), "u4": set(), "u5": {"r"}}
    together, alone = (
        compared(systems, truth, 1, "a", metrics=names, convention="ragas")
        for names in (["precision", "recall"], ["precision"])
    )
    found = together.test()
    assert [one.n for one in found] == [5, 3]
    assert found["b", "precision@1"].mean == together.results["b"]["precision@1"] == 0.2
    assert found["b", "precision@1"].p == alone.test()[0].p
    assert "Holm over 2 comparisons" in str(found) and "over 3 to 5 users" in str(found)
    assert together.power("precision@1").rows[0]["n"] == together.band("precision").n == 5
    with pytest.raises(ValueError, match="these metrics count others"):
        together.test(correction="maxt")
    empty = compared({s: {"u": [1]} for s in "ab"}, {"u": set()}, 1, "a", metrics="hit")
    assert "NOT TESTED against a: nobody to test: no user of a is in the means" in str(empty)


@pytest.mark.parametrize("unjudged", ["miss", "drop"])
def test_a_band_of_users_in_another_order_has_their_values(unjudged):
    rng, grades = np.random.default_rng(0), (0, 1, 2, 0)
    truths = {
        f"u{i}": dict(zip(rng.permutation(9)[:4].tolist(), grades, strict=True)) for i in range(40)
    }
    # matched in the order of the words of their keys
    lists = {name: {user: rng.permutation(9)[:5].tolist() for user in truths} for name in "ab"}
    metrics = ["err(max=2)", "bpref", "ndcg"]
    both = compared(lists, truths, 5, metrics=metrics, unjudged=unjudged)
    a, b = both.results.values()
    for name in both.names():
        last = both.band(name.partition("@")[0]).difference[-1]
        assert last == pytest.approx(b[name] - a[name])


def test_metrics_of_the_lists_without_a_value_for_some_users():
    lists = {"a": {"u": [1], "v": [2]}, "b": {"u": [9], "v": [2], "w": [3]}}
    asked = {"metrics": ["hit", "average_popularity"], "counts": {1: 5, 2: 4, 3: 3, 9: 1}}
    both = compared(lists, {"u": {1}, "v": {2}, "w": {3}}, 1, "a", **asked)
    assert both.test().names == ["hit@1"]
    with pytest.raises(ValueError, match="a, b count other users: 1 are in some of them only"):
        both.test("average_popularity@1")
    tests = both.test("average_popularity@1", users="common")
    assert tests[0].n == 2 and tests[0].difference == (1 - 5) / 2
    words = "tested over 2 users who have a value in every system; in other tables, over 2 or 3"
    assert words in str(tests) and words not in str(both.test())
    assert "not tested: average_popularity@1: a, b count other users" in str(both.test())


# Several runs of a system: users and runs are two sources of variance


def test_means_of_runs_are_the_means_of_their_means(runs):
    both = tl.compare(runs)
    expected = np.mean([run["ndcg@10"] for run in runs["a"]])
    assert both.to_dict()["a"]["ndcg@10"] == pytest.approx(expected, rel=1e-15)
    assert both.systems == ["a", "b"] and next(iter(both.results)) == "a, run 1"
    assert "means over 3 independent runs of each system" in str(both)
    by = both.by({user: segment(user) for user in TRUTH})
    assert "whether segments differ is not tested of several runs" in str(by.test("ndcg@10"))
    pytest.importorskip("pandas")
    frame = both.to_pandas()
    assert frame["run"].tolist() == [1, 1, 2, 2, 3, 3] * 2 and [*frame.index] == [*range(12)]


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_runs_are_tested_as_arrays_of_their_values_in_any_order(runs, kind):
    found = tl.compare(runs, baseline="a", runs=kind).test("ndcg@10")
    turned = runs | {"a": [system(0.2, s, users=[*TRUTH][::-1]) for s in (1, 2, 3)]}
    other = tl.compare(turned, baseline="a", runs=kind).test("ndcg@10")
    values = {name: [run.per_user("ndcg@10", keyed=True) for run in runs[name]] for name in runs}
    expected = tl.inference.paired_tests(values, baseline="a", name="ndcg@10", runs=kind)
    for field in ("difference", "error", "df", "p", "low", "high", "error_users", "p_users", "n"):
        assert len({getattr(one[0], field) for one in (found, other, expected)}) == 1
    assert found[0].n == N  # never runs x users
    assert found[0].error >= found[0].error_users and "for models trained anew" in str(found)
    few = "of 2 or 3 runs, p for models trained anew is cautious"
    assert few in str(found)
    many = {name: [*some, some[0]] for name, some in runs.items()}
    assert few not in str(tl.compare(many, baseline="a", runs=kind).test("ndcg@10"))
    assert "repeated splits, these overlap: their variance is a lower bound" in str(found)
    # one run says nothing of other seeds
    mixed = tl.compare(runs | {"a": runs["a"][0]}, baseline="a").test("ndcg@10")
    assert "ONE RUN" in str(mixed) and mixed[0].p != mixed[0].p


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_equivalence_of_few_runs_agrees_with_the_interval_of_their_difference(kind):
    rng = np.random.default_rng(0)
    values = {name: list(rng.normal(np.array([[0.1], [-0.1]]), 1, (2, 300))) for name in "ab"}
    ends = tl.inference.paired_tests(values, baseline="b", runs=kind, level=0.9)[0]
    reach = max(-ends.low, ends.high)
    for margin, within in ((0.99 * reach, False), (1.01 * reach, True)):
        found = tl.inference.equivalence(values, baseline="b", runs=kind, margin=margin)[0]
        assert (found.p < 0.05) == within
        assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


# Rows in clusters: tested by these without being asked


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
    assert both.test("mrr@5", clusters=range(400)).plan.n_clusters == 0  # those that are given win
    # and runs have those of their rows
    runs = {name: [one, many()[0][name]] for name, one in found.items()}
    tests = tl.compare(runs, baseline="a").test("mrr@5")
    assert tests.plan.n_clusters == len({*labels.tolist()})
    expected = both.test("mrr@5")["b", "mrr@5"]
    assert tests["b", "mrr@5"].error_users == pytest.approx(expected.error)


OF_ONE = {f"u{user}": f"cluster {user}" for user in range(60)}
ASKED = {
    **{
        method: lambda both, method=method, **of: both.test(method=method, **of)
        for method in METHODS
    },
    "maxt": lambda both, **of: both.test(correction="maxt", **of),
    "equivalence": lambda both, **of: both.equivalence(margin=0.1, **of),
    "segments": lambda both, **of: both.by({u: u[-1] < "5" for u in OF_ONE}).test("mrr@3", **of),
    "gate": lambda both, **of: tl.gate(
        *both.results.values(), {"mrr@3": 0.1}, floors={"hit@3": 0.5, "mrr@3": 0.3}, **of
    ),
}
OF_RESULTS = ASKED | {
    "power": lambda both: both.power(difference=0.1),
    "lead": lambda both: both.lead(),
    "band": lambda both: both.band("mrr").to_dict(),
    "tukey": lambda both: both.tukey("mrr@3"),
    "segments differ": lambda both: both.by({u: u[-1] < "5" for u in OF_ONE}).heterogeneity(),
}


@pytest.mark.parametrize("what", OF_RESULTS)
def test_clusters_of_one_row_each_and_equal_weights_are_none(what):
    """Whether they are given or those of the results; also to tests of ranks and of signs."""
    metrics = ("mrr", "ndcg", "hit")
    plain, *alike = (
        tl.compare({name: found[name] for name in "ab"}, baseline="a")
        for found in (
            results(metrics=metrics),
            results(metrics=metrics, clusters=OF_ONE, unit="users"),
            results(metrics=metrics, weights=dict.fromkeys(OF_ONE, 2.0)),
        )
    )
    expected = OF_RESULTS[what](plain)
    if what == "gate":  # whose floors are by the weights of a result
        alike = alike[:1]
    for found in map(OF_RESULTS[what], alike):
        rows, of_plain = (
            repr(getattr(one, "rows", None) or (one if isinstance(one, dict) else [*one]))
            for one in (found, expected)
        )
        assert rows == of_plain
        assert str(found).splitlines()[:-2] == str(expected).splitlines()[:-2]  # below are rules
    if what in ASKED:
        assert repr(ASKED[what](plain, clusters=OF_ONE)) == repr(expected)


def test_clusters_must_be_the_same():
    labels = {f"u{user}": f"c{user // 4}" for user in range(60)}
    a, b = (results(clusters=labels)[name] for name in "ab")
    other = results(clusters=labels | {"u3": "z"}, order=range(59, -1, -1))["b"]
    mixed = {"b": other, "a": a}
    words = "b and a have other clusters of the same rows: of row 'u3', 'z' and 'c0'"
    with pytest.raises(ValueError, match=words):
        tl.compare(mixed).test()
    assert words in str(tl.compare(mixed, baseline="b"))
    with pytest.raises(ValueError, match="a has clusters and b has none: evaluate both with clus"):
        tl.compare({"b": results()["b"], "a": a}).test()
    own = tl.compare({"b": b, "a": a}).test()[0]
    assert repr(tl.compare(mixed).test(clusters=labels)[0]) == repr(own)


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
    assert row["n_needed"] == pytest.approx(planning.n_needed(0.05, spread) * 400 / units)
    assert "rows  clusters  effective" in str(power) and "rows for 0.05" in str(power)
    five, _ = many(n_clusters=5)
    hits, misses = (by_words([[one]] * 60, ["z"] * 60, 1, metrics="hit") for one in "zy")
    for some, known in (
        (five, [False, True]),
        ({"a": hits, "b": hits}, [False, False]),
        ({"a": hits, "b": misses}, [False, False]),  # all alike
    ):
        row = tl.compare(some).power(difference=0.05).rows[0]
        assert (~np.isnan([row["detectable"], row["n_needed"]])).tolist() == known
    n_clusters = len({*labels.tolist()})
    assert f"on the same 400 rows in {n_clusters} clusters, chosen" in str(both.lead("mrr@5"))


def few_winners(n):
    """Return two systems of which the second finds the item of n users more."""
    truth = {user: {0} for user in range(100)}
    lists = {"a": {user: [9] for user in truth}, "b": {user: [9 * (user >= n)] for user in truth}}
    return compared(lists, truth, 1, "a", metrics="hit")


ONE_LARGE = {f"u{i}": 100.0 if i == 0 else 1.0 for i in range(60)}
ROUGH = {
    "UNEQUAL": lambda: tl.compare(results(weights=ONE_LARGE), baseline="a"),
    "SKEWED": lambda: few_winners(6),
    "FEW DIFFER": lambda: few_winners(6),
}


@pytest.mark.parametrize("ask", ["test", "power", "lead"])
@pytest.mark.parametrize("caution", ROUGH)
def test_whatever_is_asked_has_the_cautions_of_the_differences(caution, ask):
    assert f"{caution}: {CAUTIONS[caution]}" in str(getattr(ROUGH[caution](), ask)())
