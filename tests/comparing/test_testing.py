"""Which users, metrics and systems are tested, and in what order nothing changes."""

from dataclasses import replace

import numpy as np
import pytest
from systems import compared, results

import toplist as tl
from toplist.comparing.contrasts import METHODS

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


def test_pairs_and_families():
    alone, named = tl.compare(results()), tl.compare(results(), baseline="a")
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]  # the first of each pair is its baseline
    assert [(one.system, one.baseline) for one in alone.test("mrr@3")] == pairs
    assert alone.test("mrr@3")["b", "a", "mrr@3"].p == named.test("mrr@3")["b", "mrr@3"].p
    two = tl.compare({name: results()[name] for name in "ab"})
    assert two.band("mrr").systems == named.band("mrr", "b").systems == ("b", "a")
    better = two.test("mrr@3", alternative="greater")[0]
    assert better.difference == named.test("mrr@3")["b", "mrr@3"].difference
    own = tl.inference.paired_tests({"a": (0.0, 1.0), "b": (2.0, 4.0)})[0]
    assert (own.system, own.difference) == ("b", 2.5)
    found = alone.test(["mrr@3", "ndcg@3"], family="metric")
    assert found.n_family == found[:2].n_family == 3
    assert "after Holm over 3 comparisons of each name" in str(found)


def test_other_truths_are_refused_at_every_door():
    users = [f"u{i}" for i in range(60)]
    one, two = ({user: {i % n, 9} for i, user in enumerate(users)} for n in (3, 4))
    graded = [{u: {item: 1 + n * (item == 9) for item in one[u]} for u in one} for n in (0, 1)]
    parts, lists = {u: i % 2 for i, u in enumerate(users)}, {u: [9, 0, 1] for u in users}

    def seen(truth, some=users):
        chosen = {user: truth[user] for user in some}
        return tl.top_k_eval({u: lists.get(u, [1]) for u in some}, chosen, k=3, metrics="ndcg")

    a, others = seen(one), "other ground truths of the same sizes: .* user 'u"
    for b, said, options in (
        (seen(two), others, {}),
        (seen({**two, "new": set()}, [*users, "new"]), others, {}),
        (seen(two, users[:50]), others, {"users": "common"}),
        (seen(graded[1]), others, {}),
        (
            seen({**one, "u7": {1, 2, 9}}),
            "1 of 60 users have another number of relevant items, user 'u7'",
            {},
        ),
    ):
        both = tl.compare({"a": a, "b": b})
        with pytest.raises(ValueError, match=said):
            both.test(**options)
        assert not both.comparable and not any(both.best().values())
        assert options or "DIFFERENT GROUND TRUTHS" in str(both)
    for b in (seen(two), seen(graded[1])):
        split = tl.compare({"a": a, "b": b}, baseline="a").by(parts)
        assert "NOT TESTED" in str(split) and "DIFFERENT GROUND TRUTHS: " in str(split[0])
        for test in (split.test, split[0].test, lambda s=split: s[1].band("ndcg")):
            with pytest.raises(ValueError, match=others):
                test()
    # the same truths, given otherwise, are no others
    same = tl.compare({"a": a, "b": seen({**graded[0], "new": set()}, [*users, "new"])})
    assert same.comparable and same.test()[0].n == 60
    # other judgements are others where a metric reads them
    lists = {user: [1, 2] for user in range(4)}
    judged = [{u: {1: 1, 2 + (u < n): 0} for u in lists} for n in (0, 2)]
    for metric, refused in (("judged", True), ("recall", False)):
        sides = (tl.top_k_eval(lists, truth, k=2, metrics=metric) for truth in judged)
        assert tl.compare(dict(zip("ab", sides, strict=True))).comparable is not refused


def test_weights_and_clusters_follow_their_users():
    weights = {f"u{i}": 1.0 + i % 3 for i in range(60)}
    labels = {f"u{i}": i // 4 for i in range(60)}
    found = tl.compare(results(weights=weights), baseline="a").test("mrr@3")["b", "mrr@3"]
    values = {name: results()[name].per_user("mrr@3", keyed=True) for name in "ab"}
    expected = tl.inference.paired_tests(values, baseline="a", weights=weights)[0]
    assert (found.difference, found.p) == pytest.approx(
        (expected.difference, expected.p), rel=1e-12
    )
    by_key = tl.compare(results(), baseline="a").test("mrr@3", clusters=labels)["b", "mrr@3"]
    arrays = {name: np.array(list(one.values())) for name, one in values.items()}
    by_place = tl.inference.paired_tests(arrays, clusters=[*labels.values()])[0]
    assert by_key.df == by_place.df == 14 and by_key.p == pytest.approx(by_place.p, rel=1e-12)
    # by position, a user may be left out
    truth = [{1}, {2}, {0}, set(), *({i % 5} for i in range(20))]
    both = compared({"a": [[1, 2, 3]] * 24, "b": [[2, 0, 3]] * 24}, truth, 2)
    clusters = [i // 4 for i in range(24)]
    as_list, as_dict = (
        both.test("mrr@2", clusters=some)[0] for some in (clusters, dict(enumerate(clusters)))
    )
    assert repr(as_list) == repr(as_dict) and as_list.n == 23


@pytest.mark.parametrize("method", ["t", "randomization", "bootstrap"])
def test_a_weight_of_0_counts_nothing(method):
    weights, rng = {user: float(user % 3) for user in range(30)}, np.random.default_rng(2)
    truths = {user: set(rng.permutation(9)[:2].tolist()) for user in weights}
    lists = {s: {user: rng.permutation(9)[:4].tolist() for user in weights} for s in "ab"}

    def tested(users):
        def of(side):
            return {user: side[user] for user in users}

        some, asked = {s: of(one) for s, one in lists.items()}, {"metrics": ["mrr", "hit"]}
        return compared(some, of(truths), 3, weights=of(weights), **asked).test(method=method)

    one, other = tested(weights), tested([user for user in weights if weights[user]])
    for name in ("mrr@3", "hit@3"):
        for field in ("n", *AS_TESTED[:4]):
            assert getattr(one["b", name], field) == getattr(other["b", name], field)
    assert one["b", "mrr@3"].n == 20


# Metrics that are equal are one hypothesis


def test_metrics_that_are_equal_by_definition_are_one_hypothesis():
    """In leave-one-out, hit is recall, and map is mrr."""
    rng, names = np.random.default_rng(0), ["hit", "recall", "map", "mrr"]
    truths = {f"u{user}": {int(rng.integers(5))} for user in range(60)}
    lists = {name: {user: rng.permutation(5)[:3].tolist() for user in truths} for name in "ab"}
    both = compared(lists, truths, 3, "a", metrics=names)
    tests = both.test()
    assert [one.name for one in tests] == ["hit@3", "map@3"] and tests.n_family == 2
    assert (
        len(tl.compare(both.results).test(["hit@3", "recall@3"])) == 2
    )  # where both are asked for


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
    of_first = {name: both.results["a"].per_user(f"{name}@1").tolist() for name in names}
    assert all(of_first[name] == of_first["hit"] for name in names if name != "recall")
    # of f1 the divisor is another; a function may be anything; another policy is another mean
    own = tl.Metric("own", "each", lambda ranks: ranks, "1")
    zero = replace(tl.METRICS["mrr"], name="zero", empty="zero")
    found = compared(lists, truths, [1, 5], metrics=["hit", "cg", "f1", own, zero]).test()
    alone = {one.name for one in found if one.name.endswith("@1")}
    assert alone == {"hit@1", "f1@1", "own@1", "zero@1"}


def test_marks_of_equal_metrics_are_wherever_they_are_shown():
    """Of one relevant item, hit is recall: it is tested once, and marked in every column."""
    truths = {user: {user % 5, 7} for user in range(80)}
    lists = {name: {u: [u % 5 + off, 9] for u in truths} for name, off in (("a", 20), ("b", 0))}
    split = compared(lists, truths, 1, "a", metrics=["hit", "ndcg"]).by(dict.fromkeys(truths, 1))
    assert str(split.whole).count("1.0000‡") == str(split).count("1.0000‡") == 2
    truth = {user: {user % 5} for user in truths}
    both = compared(lists, truth, 1, "a", metrics=["hit", "recall"])
    assert "1.0000‡" in both.to_text(names="recall") and "1 comparison" in str(both)
    assert both.to_text().count("‡") - 1 == both.to_text(every_metric=True).count("‡") - 2 == 1
    assert both.to_latex(every_metric=True).count(r"\textbf") == 2


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


COUNTS = {item: float(item * item) for item in range(9)}
SYSTEMS = {
    "one": {"a": [5, 1], "b": [3, 4], "c": [8, 2], "d": [6, 0], "z": [7, 2]},
    "two": {"a": [1, 5], "b": [7, 1], "c": [2, 0], "d": [4, 0], "z": [8, 6]},
}
# b has an empty truth, c one without a hit, and z, whose list counts too, has none
GRADED = {"a": {5: 1}, "b": {}, "c": {1: 2, 3: 0}, "d": {6: 1, 2: 0}}
POPULARITY = "average_popularity@2"


@pytest.mark.parametrize("beside", [[], ["mrr"], ["bpref"], ["judged", "recall"]])
@pytest.mark.parametrize("relevant", ["all", "listed"])
def test_metrics_of_the_lists_are_tested_over_all_lists(beside, relevant):
    """Means of a user are 13, 12.5, 34, 18, 26.5 and 13, 25, 2, 8, 50: their difference is -1.2."""
    asked = {"metrics": ["average_popularity", *beside], "counts": COUNTS, "relevant": relevant}
    both = compared(SYSTEMS, GRADED, 2, **asked)
    assert [one[POPULARITY] for one in both.results.values()] == [20.8, 19.6]
    test = both.test(POPULARITY)[0]
    assert test.n == 5 and test.difference == pytest.approx(-1.2, rel=1e-12)
    assert "in other tables" not in str(both.test(POPULARITY))
    assert both.movers(POPULARITY).values.shape == (2, 5)
    assert both.band("average_popularity").n == both.power(POPULARITY).rows[0]["n"] == 5


def test_metrics_of_the_lists_without_a_value_for_some_users():
    lists = {"a": {"u": [1], "v": [2]}, "b": {"u": [9], "v": [2], "w": [3]}}
    asked = {"metrics": ["hit", "average_popularity"], "counts": {1: 5, 2: 4, 3: 3, 9: 1}}
    both = compared(lists, {"u": {1}, "v": {2}, "w": {3}}, 1, "a", **asked)
    assert both.test().names == ["hit@1"]
    with pytest.raises(ValueError, match="a, b count other users: 1 are in some of them only"):
        both.test("average_popularity@1")
    (found,) = both.test("average_popularity@1", users="common")
    assert found.n == 2 and found.difference == (1 - 5) / 2


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="means of metrics of the lists have no weights, tests of their differences would",
)
def test_metrics_of_the_lists_are_tested_where_users_have_weights():
    lists = {name: {user: some[user] for user in GRADED} for name, some in SYSTEMS.items()}
    weights = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0}
    asked = {"metrics": "average_popularity", "counts": COUNTS, "weights": weights}
    both = compared(lists, GRADED, 2, **asked)
    a, b = (one[POPULARITY] for one in both.results.values())
    assert both.test(POPULARITY)[0].difference == pytest.approx(b - a)
