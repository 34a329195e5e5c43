"""Which users, metrics and systems are tested, and what cannot be."""

import re
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from systems import DATA, results

import toplist as tl
from toplist.comparing.contrasts import METHODS


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
        for field in ("p", "low", "high", "difference", "statistic"):
            assert repr(getattr(row, field)) == repr(getattr(same, field))
        assert row.p_adjusted == pytest.approx(same.p_adjusted, abs=0.01)
    alone = tl.compare(results(), baseline="a").test(**options, n_threads=1)
    assert repr([*alone]) == repr([*one])


def test_users_are_matched_by_key_and_those_in_common_are_counted():
    both = results()
    fewer = {name: one.by({f"u{i}": i < 50 for i in range(60)})[True] for name, one in both.items()}
    mixed = {"a": both["a"], "b": fewer["b"]}
    with pytest.raises(ValueError, match="a, b count other users: 10 are in some of them only"):
        tl.compare(mixed).test("mrr@3")
    found = tl.compare(mixed).test("mrr@3", users="common")[0]
    expected = tl.compare(fewer).test("mrr@3")["b", "a", "mrr@3"]
    assert found.n == 50 and found.p == pytest.approx(expected.p, rel=1e-12)


def test_other_numbers_of_users_by_position_cannot_be_matched():
    a, b = (tl.top_k_eval([[1]] * n, [{1}] * n, k=1, metrics="mrr") for n in (3, 4))
    with pytest.raises(ValueError, match="a has 3 users and b 4, by position: without keys"):
        tl.compare({"a": a, "b": b}).test()


def test_a_family_of_a_metric_counts_its_own_comparisons():
    found = tl.compare(results()).test(["mrr@3", "ndcg@3"], family="metric")
    assert found.n_family == 3 and "after Holm over 3 comparisons of each name" in str(found)
    assert found[:2].n_family == 3


def test_without_a_baseline_the_first_of_each_pair_is_it():
    alone, named = tl.compare(results()), tl.compare(results(), baseline="a")
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]
    assert [(one.system, one.baseline) for one in alone.test("mrr@3")] == pairs
    assert alone.test("mrr@3")["b", "a", "mrr@3"].p == named.test("mrr@3")["b", "mrr@3"].p
    assert two().band("mrr").systems == named.band("mrr", "b").systems == ("b", "a")
    better, worse = two().test("mrr@3", alternative="greater"), few((0.0, 1.0), (2.0, 4.0))
    assert better[0].difference == named.test("mrr@3")["b", "mrr@3"].difference
    assert (worse[0].system, worse[0].difference) == ("b", 2.5)


def test_other_truths_are_noticed_even_where_they_are_as_many():
    truths = {user: {user % 3} for user in range(20)}
    lists = {user: [0, 1, 2] for user in range(20)}
    a = tl.top_k_eval(lists, truths, k=2, metrics="mrr")
    for other, said in (
        ({**truths, 7: {2}}, "other ground truths of the same sizes"),
        ({**truths, 7: {2, 1}}, "1 of 20 users have another number of relevant items, user 7"),
    ):
        b = tl.top_k_eval(lists, other, k=2, metrics="mrr")
        both = tl.compare({"a": a, "b": b})
        with pytest.raises(ValueError, match=said):
            both.test()
        assert not both.comparable and not any(both.best().values())
        assert "DIFFERENT GROUND TRUTHS" in str(both)


def test_other_truths_are_refused_at_every_door():
    users = [f"u{i}" for i in range(60)]
    one, two = ({user: {i % n, 9} for i, user in enumerate(users)} for n in (3, 4))
    graded = [{u: {item: 1 + n * (item == 9) for item in one[u]} for u in one} for n in (0, 1)]
    parts, lists = {u: i % 2 for i, u in enumerate(users)}, {u: [9, 0, 1] for u in users}

    def seen(truth, some=users):
        chosen = {user: truth[user] for user in some}
        return tl.top_k_eval({u: lists.get(u, [1]) for u in some}, chosen, k=3, metrics="ndcg")

    a = seen(one)
    for b, options in (
        (seen(two), {}),
        (seen({**two, "new": set()}, [*users, "new"]), {}),
        (seen(two, users[:50]), {"users": "common"}),
        (seen(graded[1]), {}),
    ):
        both = tl.compare({"a": a, "b": b})
        with pytest.raises(ValueError, match="other ground truths of the same sizes: .* user 'u"):
            both.test(**options)
    for b in (seen(two), seen(graded[1])):
        split = tl.compare({"a": a, "b": b}, baseline="a").by(parts)
        assert "NOT TESTED" in str(split) and "DIFFERENT GROUND TRUTHS: " in str(split[0])
        for test in (split.test, split[0].test, lambda s=split: s[1].band("ndcg")):
            with pytest.raises(ValueError, match="other ground truths of the same sizes"):
                test()
    # the same truths, given otherwise, are no others
    same = tl.compare({"a": a, "b": seen({**graded[0], "new": set()}, [*users, "new"])})
    assert same.comparable and same.test()[0].n == 60


def test_other_judgements_are_other_truths_where_a_metric_reads_them():
    lists = {user: [1, 2] for user in range(4)}
    for metric, refused in (("judged", True), ("recall", False)):
        a, b = (
            tl.top_k_eval(lists, {u: {1: 1, 2 + (u < n): 0} for u in lists}, k=2, metrics=metric)
            for n in (0, 2)
        )
        assert tl.compare({"a": a, "b": b}).comparable is not refused


def few(a=(1.0, 2.0), b=(0.0, 3.0), **options):
    return tl.inference.paired_tests({"a": a, "b": b}, **options)


def two(**options):
    return tl.compare({name: one for name, one in results().items() if name != "c"}, **options)


def by_position(**options):
    return by_words([[1], [2]], [{1}, {9}], k=1, metrics="mrr", **options)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: two(baseline="z"), "baseline 'z' is none of the systems: a, b"),
        (lambda: tl.compare({"a": by_position()}).test(), "two systems are needed, and there is a"),
        (lambda: two().test(method="x"), "method='x': choose from 't', 'randomization'"),
        (lambda: two().test(correction="x"), "correction='x': choose from 'holm', 'maxt'"),
        (lambda: two().test(level=1), "level must be a number between 0 and 1"),
        (lambda: two().equivalence(margin=0), "margin must be a number above 0, not 0"),
        (lambda: few(method="bootstrap", n_resamples=9), "n_resamples"),
        (
            lambda: tl.compare({"a": results()["a"], "b": by_position()}).test("mrr@1"),
            "the users of a have keys, those of b are known by position",
        ),
        (
            lambda: tl.compare({"a": by_position(), "b": by_position(convention="neurec")}).test(),
            "cannot be tested: DIFFERENT CONVENTIONS",
        ),
        (lambda: two().test("mrr"), "'mrr' is a whole curve: give name@k"),
        (lambda: few(correction="maxt", method="sign"), "correction='maxt' is for the methods"),
        (lambda: two().band("mrr@1"), "give a metric without @, not 'mrr@1'"),
        (lambda: tl.compare(results()).band("mrr"), "band: several systems: name one as system="),
        (lambda: few([1.0, np.nan]), "the value of user 1 of a is nan"),
        (
            lambda: few({"x": 1.0}, {"y": 1.0}),
            "b has other users than a: 1 are missing and 1 are new, 'x' first",
        ),
        (lambda: few([1.0]), "a has 1 values and b 2"),
        (lambda: two().test(["mrr@1", "mrr@1"]), "'mrr@1' is there twice"),
        (lambda: two(baseline=["a", "a"]), "baseline 'a' is given twice"),
        (lambda: two().test([]), "names is"),
    ],
)
def test_what_cannot_be_tested_is_one_line(ask, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_names_and_baselines_are_texts():
    with pytest.raises(TypeError, match="names is"):
        two().test(5)
    with pytest.raises(TypeError, match="baseline is 0: give the name"):
        two(baseline=0)


def test_results_without_hits_and_metrics_of_all_lists_are_refused(tmp_path):
    streamed = tl.top_k_eval(DATA / "itemknn.csv.gz", DATA / "truth.csv", k=5, metrics="mrr")
    with pytest.raises(
        ValueError,
        match="the users of a are unknown; of files and streams, keep='users' keeps them.* "
        r"of Spark, evaluate all systems in one .*\(\.\.\., system=\.\.\.\) with paired=True;",
    ):
        tl.compare({"a": streamed, "b": streamed}).test()
    lists = [[1, 2], [2, 3], [1, 3]]
    some = tl.top_k_eval(
        lists, [{1}, {2}, {3}], k=2, metrics=["mrr", "item_coverage"], items=tl.Items(catalogue=4)
    )
    both = tl.compare({"a": some, "b": some})
    assert {one.name for one in both.test()} == {"mrr@2"}
    with pytest.raises(ValueError, match="item_coverage@2 has no test: one number of all lists"):
        both.test("item_coverage@2")


@pytest.mark.parametrize("what", ["test", "band", "power", "equivalence", "tukey"])
def test_pooled_metrics_are_refused_everywhere(what):
    """A band over users answers another question: it is no difference of ratios of sums."""
    truths, options = [{1, 2, 3}, {2}, {9}], {"metrics": "recall", "aggregate": "pooled"}
    lists = {"a": [[1, 2], [3, 2], [1, 9]], "b": [[1, 4], [2, 3], [9, 8]]}
    both = tl.compare({name: by_words(some, truths, 2, **options) for name, some in lists.items()})
    margin = {"margin": 0.1} if what == "equivalence" else {}
    with pytest.raises(
        ValueError, match="pooled, a ratio of sums over users: toplist.inference.ratio"
    ):
        getattr(both, what)("recall" if what == "band" else "recall@2", **margin)


def test_weights_and_clusters_follow_their_users():
    weights = {f"u{i}": 1.0 + i % 3 for i in range(60)}
    found = tl.compare(results(weights=weights), baseline="a").test("mrr@3")["b", "mrr@3"]
    values = {
        name: one.per_user("mrr@3", keyed=True) for name, one in results().items() if name != "c"
    }
    expected = tl.inference.paired_tests(values, baseline="a", weights=weights)[0]
    assert (found.difference, found.p) == pytest.approx(
        (expected.difference, expected.p), rel=1e-12
    )
    labels = {f"u{i}": i // 4 for i in range(60)}
    compared = tl.compare(results(), baseline="a")
    by_key = compared.test("mrr@3", clusters=labels)["b", "mrr@3"]
    arrays = {name: np.array(list(one.values())) for name, one in values.items()}
    by_place = tl.inference.paired_tests(
        arrays, baseline="a", clusters=[i // 4 for i in range(60)]
    )[0]
    assert by_key.df == by_place.df == 14 and by_key.p == pytest.approx(by_place.p, rel=1e-12)
    with pytest.raises(TypeError, match="give clusters as a dict or Series"):
        compared.test("mrr@3", clusters=[0] * 60)


def test_clusters_by_position_keep_their_rows_where_a_user_is_left_out():
    truth = [{1}, {2}, {0}, set(), *({i % 5} for i in range(20))]
    a, b = (tl.top_k_eval([lists] * 24, truth, k=2) for lists in ([1, 2, 3], [2, 0, 3]))
    compared, labels = tl.compare({"a": a, "b": b}), [i // 4 for i in range(24)]
    as_list, as_dict = (
        compared.test("mrr@2", clusters=some)[0] for some in (labels, dict(enumerate(labels)))
    )
    assert repr(as_list) == repr(as_dict) and as_list.n == 23


@pytest.mark.parametrize("what", ["tukey", "band"])
def test_what_takes_no_weights_refuses_them(what):
    compared = tl.compare(results(weights={f"u{i}": 1.0 + i for i in range(60)}), baseline="a")
    asked = ("mrr", "b", "a") if what == "band" else ("mrr@2",)
    with pytest.raises(ValueError, match="the users have weights"):
        getattr(compared, what)(*asked)


def test_a_comparison_that_cannot_be_tested_is_printed_and_says_why():
    both = results()
    fewer = both["b"].by({f"u{i}": i < 50 for i in range(60)})[True]
    text = str(tl.compare({"a": both["a"], "b": fewer}, baseline="a"))
    assert "NOT TESTED against a: a, b count other users: 10 are in some of them only" in text
    assert "DIFFERENT USERS" in text and "mrr@3" in text


def test_metrics_that_are_equal_by_definition_are_one_hypothesis():
    """In leave-one-out, hit is recall, and map is mrr."""
    rng = np.random.default_rng(0)
    truths = {f"u{user}": {int(rng.integers(5))} for user in range(60)}
    both = {}
    for name in "ab":
        lists = {user: rng.permutation(5)[:3].tolist() for user in truths}
        both[name] = tl.top_k_eval(lists, truths, k=3, metrics=["hit", "recall", "map", "mrr"])
    tests = tl.compare(both, baseline="a").test()
    assert [one.name for one in tests] == ["hit@3", "map@3"] and tests.n_family == 2
    assert len(tl.compare(both).test(["hit@3", "recall@3"])) == 2  # where both are asked for


def test_metrics_that_are_equal_at_the_first_place_are_one_hypothesis_there():
    rng = np.random.default_rng(0)
    truths = {user: set(rng.permutation(30)[:4].tolist()) for user in range(90)}
    lists = [{user: rng.permutation(30)[:5].tolist() for user in truths} for _ in "ab"]
    names = ["hit", "precision", "recall", "map", "ndcg", "mrr"]

    def both(names, **options):
        results = (by_words(some, truths, k=[1, 5], metrics=names, **options) for some in lists)
        return tl.compare(dict(zip("ab", results, strict=True)), baseline="a")

    compared = both(names)
    tests = compared.test()
    assert tests.names == [
        "hit@1",
        "hit@5",
        "precision@5",
        "recall@1",
        *(f"{name}@5" for name in names[2:]),
    ]
    assert tests.n_family == 8
    said = "tested once: hit@1 = precision@1 = map@1 = ndcg@1 = mrr@1"
    assert said in str(tests) and said not in str(compared.test(["hit@1", "mrr@1"]))
    of_first = {name: compared.results["a"].per_user(f"{name}@1").tolist() for name in names}
    assert all(of_first[name] == of_first["hit"] for name in names if name != "recall")
    split = compared.by({user: user % 2 for user in truths})
    assert split.test().n_family == 16
    # of f1 the divisor is another; a function may be anything; another policy is another mean
    own = tl.Metric("own", "each", lambda ranks: ranks, "1")
    zero = replace(tl.METRICS["mrr"], name="zero", empty="zero")
    found = both(["hit", "cg", "f1", own, zero]).test()
    assert {one.name for one in found if one.name.endswith("@1")} == {
        *("hit@1", "f1@1", "own@1", "zero@1")
    }


def test_marks_of_equal_metrics_are_in_every_column_and_segment():
    truths = {user: {user % 5, 7} for user in range(80)}
    good, poor = (
        tl.top_k_eval({user: [user % 5 + off, 9] for user in truths}, truths, k=1, metrics=some)
        for off, some in ((0, ["hit", "ndcg"]), (20, ["hit", "ndcg"]))
    )
    split = tl.compare({"poor": poor, "good": good}, baseline="poor").by(dict.fromkeys(truths, 1))
    assert str(split.whole).count("1.0000‡") == str(split).count("1.0000‡") == 2


def test_metrics_without_a_value_for_some_users():
    truth = {"u": {1}, "v": {2}, "w": {3}}
    lists = {"a": {"u": [1], "v": [2]}, "b": {"u": [9], "v": [2], "w": [3]}}
    results = {
        name: tl.top_k_eval(
            *(some, truth, 1),
            metrics=["hit", "average_popularity"],
            items=tl.Items(counts={1: 5, 2: 4, 3: 3, 9: 1}),
        )
        for name, some in lists.items()
    }
    both = tl.compare(results, baseline="a")
    assert both.test().names == ["hit@1"]
    with pytest.raises(ValueError, match="a, b count other users: 1 are in some of them only"):
        both.test("average_popularity@1")
    (found,) = both.test("average_popularity@1", users="common")
    assert found.n == 2 and found.difference == (1 - 5) / 2


def test_nobody_is_in_the_means():
    empty = tl.top_k_eval({"u": [1]}, {"u": set()}, 1, metrics="hit")
    both = tl.compare({"a": empty, "b": empty}, baseline="a")
    assert "NOT TESTED against a: nobody to test: no user of a is in the means" in str(both)


def test_each_metric_is_tested_over_its_own_users():
    lists = {"u1": ["x"], "u2": ["z"], "u3": ["y"], "u4": ["q"], "u5": ["r"]}
    other = {**lists, "u1": ["z"], "u2": ["x"], "u5": ["s"]}
    truth = {"u1": {"x"}, "u2": {"x"}, "u3": set(), "u4": set(), "u5": {"r"}}

    def both(names, **options):
        results = {
            name: tl.top_k_eval(some, truth, 1, metrics=names, convention="ragas")
            for name, some in (("a", lists), ("b", other))
        }
        return tl.compare(results, baseline="a")

    together, alone = both(["precision", "recall"]), both(["precision"])
    found = together.test()
    assert [one.n for one in found] == [5, 3]
    assert found["b", "precision@1"].mean == together.results["b"]["precision@1"] == 0.2
    assert found["b", "precision@1"].p == alone.test()[0].p
    assert "Holm over 2 comparisons" in str(found) and "over 3 to 5 users" in str(found)
    assert together.power("precision@1").rows[0]["n"] == 5
    assert together.band("precision").n == 5
    with pytest.raises(ValueError, match="these metrics count others"):
        together.test(correction="maxt")


@pytest.mark.parametrize("unjudged", ["miss", "drop"])
def test_a_band_of_users_in_another_order_has_their_values(unjudged):
    rng = np.random.default_rng(0)
    truths = {
        f"u{i}": dict(zip(rng.permutation(9)[:4].tolist(), (0, 1, 2, 0), strict=True))
        for i in range(40)
    }
    metrics, found = ["err(max=2)", "bpref", "ndcg"], {}
    for name in "ab":  # matched in the order of the words of their keys
        lists = {user: rng.permutation(9)[:5].tolist() for user in truths}
        found[name] = tl.top_k_eval(lists, truths, 5, metrics=metrics, unjudged=unjudged)
    both = tl.compare(found)
    for name in both.names():
        difference = found["b"][name] - found["a"][name]
        assert both.band(name.partition("@")[0]).difference[-1] == pytest.approx(difference)


# Metrics of the lists are tested over the users of their means

COUNTS = {item: float(item * item) for item in range(9)}
LISTED = {"a": [5, 1], "b": [3, 4], "c": [8, 2], "d": [6, 0], "z": [7, 2]}
OTHER = {"a": [1, 5], "b": [7, 1], "c": [2, 0], "d": [4, 0], "z": [8, 6]}
# b has an empty truth, c one without a hit, and z, whose list counts too, has none
GRADED = {"a": {5: 1}, "b": {}, "c": {1: 2, 3: 0}, "d": {6: 1, 2: 0}}


@pytest.mark.parametrize("beside", [[], ["judged"], ["mrr"], ["bpref"], ["judged", "recall"]])
@pytest.mark.parametrize("relevant", ["all", "listed"])
def test_tests_of_metrics_of_the_lists_are_over_all_lists(beside, relevant):
    """Means of a user are 13, 12.5, 34, 18, 26.5 and 13, 25, 2, 8, 50: their difference is -1.2."""
    name, asked = "average_popularity@2", ["average_popularity", *beside]
    compared = tl.compare(
        {
            system: tl.top_k_eval(
                lists,
                GRADED,
                2,
                metrics=asked,
                convention=tl.CONVENTIONS["standard"].replace(relevant=relevant),
                items=tl.Items(counts=COUNTS),
            )
            for system, lists in (("one", LISTED), ("two", OTHER))
        }
    )
    means = [one[name] for one in compared.results.values()]
    assert means == [20.8, 19.6]
    test = compared.test(name)[0]
    assert test.n == 5 and test.difference == pytest.approx(-1.2, rel=1e-12)
    assert "in other tables" not in str(compared.test(name))
    assert compared.movers(name).values.shape == (2, 5)
    assert compared.band("average_popularity").n == compared.power(name).rows[0]["n"] == 5


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="means of metrics of the lists have no weights, tests of their differences would",
)
def test_metrics_of_the_lists_are_tested_where_users_have_weights():
    weights = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0}
    compared = tl.compare(
        {
            system: tl.top_k_eval(
                {user: lists[user] for user in GRADED},
                GRADED,
                2,
                metrics="average_popularity",
                weights=weights,
                items=tl.Items(counts=COUNTS),
            )
            for system, lists in (("one", LISTED), ("two", OTHER))
        }
    )
    a, b = (one["average_popularity@2"] for one in compared.results.values())
    assert compared.test("average_popularity@2")[0].difference == pytest.approx(b - a)


# A weight of 0

WEIGHTS = {user: float(user % 3) for user in range(30)}
SOME = [user for user, weight in WEIGHTS.items() if weight]


@pytest.mark.parametrize("method", ["t", "randomization", "bootstrap"])
def test_a_weight_of_0_counts_nothing(method):
    rng = np.random.default_rng(2)
    truths = {user: set(rng.permutation(9)[:2].tolist()) for user in WEIGHTS}
    lists = [{user: rng.permutation(9)[:4].tolist() for user in WEIGHTS} for _ in range(2)]

    def compared(users):
        def of(side):
            return {user: side[user] for user in users}

        asked = {"k": 3, "metrics": ["mrr", "hit"], "weights": of(WEIGHTS)}
        both = zip("ab", lists, strict=True)
        return tl.compare({s: by_words(of(some), of(truths), **asked) for s, some in both})

    one, other = (compared(users).test(method=method) for users in (WEIGHTS, SOME))
    for name in ("mrr@3", "hit@3"):
        for field in ("n", "difference", "p", "low", "high"):
            assert getattr(one["b", name], field) == getattr(other["b", name], field)
    assert one["b", "mrr@3"].n == len(SOME) == 20
