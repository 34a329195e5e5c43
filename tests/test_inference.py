"""Is B better than A? What people see of the tests: results compared, tables, files, refusals."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import toplist as tl
from toplist import inference
from toplist.cli import main
from toplist.comparing import moments
from toplist.comparing.pairwise import METHODS

STATS = Path(__file__).parent.parent.parent / "shared" / "stats"
DATA = Path(__file__).parent.parent / "notebooks" / "data"


def cases():
    if not (STATS / "cases.json").exists():
        return []
    return json.loads((STATS / "cases.json").read_text())["cases"]


@pytest.fixture(scope="module")
def checker():
    """Return the functions that run a case, and the public names they run it with."""
    sys.path.insert(0, str(STATS))
    try:
        yield importlib.import_module("check_cases"), importlib.import_module("adapter")
    finally:
        sys.path.remove(str(STATS))


@pytest.mark.parametrize(
    "case", [one for one in cases() if one["method"] != "end_to_end"], ids=lambda case: case["id"]
)
def test_the_cases_of_the_specification(case, checker):
    check, public = checker
    data = json.loads((STATS / "cases.json").read_text())["datasets"]
    got, bad = check.run(case, data, public), []
    if "rejected_at_05" in case["expected"]:
        for key, expected in case["expected"]["rejected_at_05"].items():
            assert int((np.asarray(got[key]) <= 0.05).sum()) == expected
        return
    check.compare(case, got, case["expected"], [], bad)
    assert not bad


@pytest.fixture(scope="module")
def retrieved():
    """Return the results of two systems of the notebooks."""
    return {
        name: tl.top_k_eval(
            DATA / f"{name}.csv.gz",
            DATA / "truth.csv",
            k=[1, 5, 10, 20],
            metrics=["hit", "recall", "map", "ndcg"],
            in_memory=True,
        )
        for name in ("popularity", "itemknn")
    }


@pytest.mark.parametrize(
    "case", [one for one in cases() if one["method"] == "end_to_end"], ids=lambda case: case["id"]
)
def test_the_cases_end_to_end(case, retrieved):
    compared = tl.compare(retrieved, baseline=case["inputs"]["b"])
    name, expected = case["inputs"]["name"], case["expected"]
    found = compared.test(name, correction="none")[case["inputs"]["a"], name]
    renamed = {"mean_a": "mean", "mean_b": "baseline_mean", "t": "statistic"}
    for key, value in expected.items():
        if key in ("p_greater", "p_less"):
            one = compared.test(name, correction="none", alternative=key[2:])[0]
            assert one.p == pytest.approx(value, rel=1e-9)
        else:
            assert getattr(found, renamed.get(key, key)) == pytest.approx(value, rel=1e-9)


def test_ties_of_leave_one_out_are_a_binomial(retrieved):
    """hit@1: 123 users win and 42 lose; exact, and no user is counted who does not differ."""
    found = tl.compare(retrieved, baseline="popularity").test("hit@1", method="randomization")[0]
    assert (found.wins, found.losses, found.exact) == (123, 42, True)
    assert found.p == pytest.approx(2.0392718e-10, rel=1e-7)


# Results


def results(n=60, seed=0, k=(1, 2, 3), metrics=("mrr", "ndcg"), order=None, **options):
    """Return two results over users with keys, in the order of their numbers or another."""
    rng = np.random.default_rng(seed)
    truths = {f"u{user}": {int(rng.integers(5))} for user in range(n)}
    lists = [{user: rng.permutation(5).tolist() for user in truths} for _ in range(3)]
    users = list(truths) if order is None else [f"u{user}" for user in order]
    given = {user: truths[user] for user in users}
    return {
        name: tl.top_k_eval(
            {user: some[user] for user in users}, given, k=k, metrics=metrics, **options
        )
        for name, some in zip("abc", lists, strict=True)
    }


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
    expected = tl.compare(fewer).test("mrr@3")["a", "b", "mrr@3"]
    assert found.n == 50 and found.p == pytest.approx(expected.p, rel=1e-12)


def test_other_truths_are_noticed_even_where_they_are_as_many():
    truths = {user: {user % 3} for user in range(20)}
    lists = {user: [0, 1, 2] for user in range(20)}
    a = tl.top_k_eval(lists, truths, k=2, metrics="mrr")
    for other, said in (
        ({**truths, 7: {2}}, "other ground truths of the same sizes"),
        ({**truths, 7: {2, 1}}, "1 of 20 users have another number of relevant items, user 7"),
    ):
        b = tl.top_k_eval(lists, other, k=2, metrics="mrr")
        with pytest.raises(ValueError, match=said):
            tl.compare({"a": a, "b": b}).test()


def refused(name):
    a, b, _ = results().values()
    positions = [tl.top_k_eval([[1], [2]], [{1}, {9}], k=1, metrics="mrr") for _ in range(2)]
    lists, truths, few = {"x": [1, 2]}, {"x": {1}}, {"a": [1.0, 2.0], "b": [0.0, 3.0]}
    kinds = [
        tl.top_k_eval(lists, truths, k=1, metrics="ndcg", convention=c)
        for c in ("standard", "neurec")
    ]
    ways = {
        "an unknown baseline": lambda: tl.compare({"a": a, "b": b}, baseline="z"),
        "one system": lambda: tl.compare({"a": a}).test(),
        "an unknown method": lambda: tl.compare({"a": a, "b": b}).test(method="x"),
        "an unknown correction": lambda: tl.compare({"a": a, "b": b}).test(correction="x"),
        "level 1": lambda: tl.compare({"a": a, "b": b}).test(level=1),
        "a margin of 0": lambda: tl.compare({"a": a, "b": b}).equivalence(margin=0),
        "few resamples": lambda: tl.paired_tests(few, method="bootstrap", n_resamples=9),
        "keys and positions": lambda: tl.compare({"a": a, "b": positions[0]}).test("mrr@1"),
        "another convention": lambda: tl.compare({"a": kinds[0], "b": kinds[1]}).test(),
        "a curve": lambda: tl.compare({"a": a, "b": b}).test("mrr"),
        "maxt of ranks": lambda: tl.paired_tests(few, correction="maxt", method="sign"),
        "a band at k": lambda: tl.compare({"a": a, "b": b}).band("mrr@1"),
        "a band of three": lambda: tl.compare(results()).band("mrr"),
        "NaN": lambda: tl.paired_tests({"a": [1.0, np.nan], "b": [1.0, 2.0]}),
        "other users": lambda: tl.paired_tests({"a": {"x": 1.0}, "b": {"y": 1.0}}),
        "another length": lambda: tl.paired_tests({"a": [1.0], "b": [1.0, 2.0]}),
    }  # fmt: skip
    return ways[name]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("an unknown baseline", "baseline 'z' is none of the systems: a, b"),
        ("one system", "two systems are needed, and there is a"),
        ("an unknown method", "method='x': choose from 't', 'randomization'"),
        ("an unknown correction", "correction='x': choose from 'holm', 'maxt'"),
        ("level 1", "level must be a number between 0 and 1"),
        ("a margin of 0", "margin must be a number above 0, not 0"),
        ("few resamples", "n_resamples"),
        ("keys and positions", "the users of a have keys, those of b are known by position"),
        ("another convention", "cannot be tested: DIFFERENT CONVENTIONS"),
        ("a curve", "'mrr' is a whole curve: give name@k"),
        ("maxt of ranks", "correction='maxt' is for the methods"),
        ("a band at k", "give a metric without @, not 'mrr@1'"),
        ("a band of three", "band: several systems: name one as system="),
        ("NaN", "the value of user 1 of a is nan"),
        ("other users", "b has other users than a: 1 are missing and 1 are new, 'x' first"),
        ("another length", "a has 1 values and b 2"),
    ],
)
def test_what_cannot_be_tested_is_one_line(name, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        refused(name)()
    assert "\n" not in str(caught.value)


def test_results_without_hits_and_metrics_of_all_lists_are_refused(tmp_path):
    streamed = tl.top_k_eval(DATA / "itemknn.csv.gz", DATA / "truth.csv", k=5, metrics="mrr")
    with pytest.raises(
        ValueError,
        match="the users of a are unknown; of files, keep='hits' or in_memory=True keeps them.* "
        r"of Spark, evaluate all systems in one .*\(\.\.\., system=\.\.\.\) with paired=True;",
    ):
        tl.compare({"a": streamed, "b": streamed}).test()
    lists = [[1, 2], [2, 3], [1, 3]]
    some = tl.top_k_eval(lists, [{1}, {2}, {3}], k=2, metrics=["mrr", "item_coverage"], catalogue=4)
    both = tl.compare({"a": some, "b": some})
    assert {one.name for one in both.test()} == {"mrr@2"}
    with pytest.raises(ValueError, match="item_coverage@2 is one number of all lists"):
        both.test("item_coverage@2")


@pytest.mark.parametrize(
    "ask",
    [
        lambda both: both.test("recall@2"),
        lambda both: both.band("recall"),
        lambda both: both.power("recall@2"),
        lambda both: both.equivalence("recall@2", margin=0.1),
        lambda both: both.anova("recall@2"),
        lambda both: both.tukey("recall@2"),
    ],
)
def test_pooled_metrics_are_refused_everywhere(ask):
    """A band over users answers another question: it is no difference of ratios of sums."""
    truths, options = [{1, 2, 3}, {2}, {9}], {"metrics": "recall", "aggregate": "pooled"}
    lists = {"a": [[1, 2], [3, 2], [1, 9]], "b": [[1, 4], [2, 3], [9, 8]]}
    both = tl.compare(
        {name: tl.top_k_eval(some, truths, 2, **options) for name, some in lists.items()}
    )
    with pytest.raises(ValueError, match="is pooled, a ratio of sums: toplist.inference.ratio"):
        ask(both)


def test_weights_and_clusters_follow_their_users():
    weights = {f"u{i}": 1.0 + i % 3 for i in range(60)}
    found = tl.compare(results(weights=weights), baseline="a").test("mrr@3")["b", "mrr@3"]
    values = {name: one.per_user("mrr@3") for name, one in results().items() if name != "c"}
    expected = tl.paired_tests(values, baseline="a", weights=list(weights.values()))[0]
    assert (found.difference, found.p) == pytest.approx(
        (expected.difference, expected.p), rel=1e-12
    )
    labels = {f"u{i}": i // 4 for i in range(60)}
    compared = tl.compare(results(), baseline="a")
    by_key = compared.test("mrr@3", clusters=labels)["b", "mrr@3"]
    by_place = tl.paired_tests(values, baseline="a", clusters=[i // 4 for i in range(60)])[0]
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


def test_dicts_and_series_are_matched_by_key():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 30))
    keys = [f"u{i}" for i in range(30)]
    by_key = dict(zip(keys, a, strict=True)), dict(zip(keys[::-1], b[::-1], strict=True))
    one = tl.paired_tests({"a": by_key[0], "b": by_key[1]})[0]
    other = tl.paired_tests({"a": a, "b": b})[0]
    assert (one.difference, one.p) == pytest.approx((other.difference, other.p), rel=1e-12)
    pandas = pytest.importorskip("pandas")
    series = {name: pandas.Series(values) for name, values in zip("ab", by_key, strict=True)}
    assert repr(tl.paired_tests(series)[0]) == repr(one)


@pytest.fixture
def written():
    """Two tables as a cluster writes them, the rows in other orders, and the values by user."""
    rng = np.random.default_rng(1)
    users = [f"u{i}" for i in range(40)]
    tables, by_user = {}, {}
    for name in ("als", "popularity"):
        order = rng.permutation(users).tolist()
        tables[name] = {"user_id": order, "ndcg@10": rng.random(40)}
        by_user[name] = dict(zip(order, tables[name]["ndcg@10"].tolist(), strict=True))
    return tables, by_user


ASKED = [
    tl.paired_tests,
    lambda some: inference.equivalence(some, margin=0.1),
    inference.tukey,
    inference.anova,
    lambda some: inference.family({"ndcg": tuple(some.values())}),
    lambda some: inference.ratio(*((one, one) for one in some.values())),
]


@pytest.mark.parametrize("ask", ASKED)
def test_tables_and_series_by_user_are_matched_by_user(ask, written):
    tables, by_user = written
    expected = repr(ask(by_user))
    for library, made in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        make = getattr(pytest.importorskip(library), made)
        frames = {name: make(table) for name, table in tables.items()}
        assert repr(ask(frames)) == expected
        assert repr(ask({**frames, "als": by_user["als"]})) == expected  # beside a dict
        if library == "pandas":
            series = {name: one.set_index("user_id")["ndcg@10"] for name, one in frames.items()}
            assert repr(ask(series)) == expected


@pytest.mark.parametrize("ask", ASKED)
def test_series_that_count_their_rows_are_not_paired_by_accident(ask, written):
    pandas = pytest.importorskip("pandas")
    tables, by_user = written
    series = {name: pandas.DataFrame(table)["ndcg@10"] for name, table in tables.items()}
    with pytest.raises(
        TypeError, match="a Series that counts its rows, as those of .* do"
    ) as error:
        ask(series)
    assert "table.set_index('user_id')[COLUMN]" in str(error.value)
    with pytest.raises(TypeError, match="counts its rows, but the users have keys, like 'u"):
        ask({**series, "als": by_user["als"]})
    arrays = {name: one.to_numpy() for name, one in series.items()}
    for same in (pandas.DataFrame(arrays), {**arrays, "als": series["als"]}):
        assert repr(ask(dict(same.items()))) == repr(ask(arrays))


def test_other_tables_are_refused_with_the_line_to_write(written):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pandas.DataFrame(written[0]["als"])
    wide = table.assign(**{"mrr@10": 0.0})
    both = re.escape("['user_id', 'ndcg@10']")
    for given, line in (
        (wide, rf"table\[{both}\]"),
        (polars.from_pandas(wide), rf"select\({both}\)"),
    ):
        with pytest.raises(
            TypeError, match=f"als are a table of 'user_id', 'ndcg@10', 'mrr.*{line}"
        ):
            tl.paired_tests({"als": given, "popularity": given})
    by_index = table.set_index("user_id")
    with pytest.raises(TypeError, match=r"if its index has the users, table\['ndcg@10'\]"):
        tl.paired_tests({"als": by_index, "popularity": table})
    assert tl.paired_tests({"als": by_index["ndcg@10"], "popularity": table})[0].difference == 0
    with pytest.raises(ValueError, match="the table of als has user .* twice"):
        tl.paired_tests({"als": pandas.concat([table, table]), "popularity": table})
    with pytest.raises(TypeError, match=r"values\['als'\] is a LazyFrame: .*\.collect\(\)"):
        tl.paired_tests({"als": polars.LazyFrame(written[0]["als"]), "popularity": table})
    with pytest.raises(TypeError, match=r"another order: .*set_index\('user_id'\)\.sort_index"):
        inference.band(table, table)
    with pytest.raises(ValueError, match="no pairs: give name -> \\(system, baseline\\)"):
        inference.family({})


def test_the_words_that_lead_to_values_show_them_by_user():
    assert "set_index('user_id')['ndcg@10']" in moments.VALUES


def test_a_band_is_that_of_the_values_and_of_one_k_the_t_interval():
    compared = tl.compare({name: one for name, one in results().items() if name != "c"})
    found = compared.band("ndcg")
    a, b = (one.per_user("ndcg") for one in list(results().values())[:2])
    same = inference.band(a, b, name="ndcg", names=("a", "b"))
    assert np.allclose(found.difference, same.difference) and np.allclose(found.low, same.low)
    test = compared.test("ndcg@2")[0]
    assert (found.low[1], found.high[1]) == pytest.approx((test.low, test.high), rel=1e-9)
    assert np.all(found.low_all <= found.low) and np.all(found.high <= found.high_all)
    assert repr(found).startswith("a - b ndcg") and "95 % at all k" in repr(found)
    alone = inference.band(a[:, :1], b[:, :1])
    assert alone.critical * alone.error[0] == pytest.approx(alone.high[0] - alone.difference[0])


def test_runs_are_two_sources_of_variance():
    rng = np.random.default_rng(0)
    users = rng.random(50)
    runs = {
        name: [users + shift + rng.normal(0, 0.02) + rng.normal(0, 0.1, 50) for _ in range(5)]
        for name, shift in (("a", 0.0), ("b", 0.05))
    }
    found = tl.paired_tests(runs, baseline="a", runs="independent")
    one = found[0]
    assert one.n == 50 and one.error > one.error_users and one.p > one.p_users
    assert "for models trained anew" in str(found) and "for these trained models" in str(found)
    single = tl.paired_tests({k: v[:1] for k, v in runs.items()}, baseline="a", runs="independent")
    assert "ONE RUN" in single[0].cautions and "says nothing of other seeds" in str(single)


# Display


def test_the_table_of_two_systems(retrieved):
    text = str(tl.compare(retrieved, baseline="popularity").test(["map@10", "ndcg@10"]))
    assert "ndcg@10      0.0576   0.1314    +0.0738‡  [+0.0597, +0.0878]    +128 %  0.33" in text
    assert "430/430/132  <0.001    <0.001" in text
    assert "paired t over 992 users; † ‡ p < 0.05, 0.01 after Holm over 2 comparisons" in text


def test_the_table_of_means_marks_only_what_was_tested(retrieved):
    plain, tested = tl.compare(retrieved), tl.compare(retrieved, baseline="popularity")
    assert "not tested" in str(plain) and "‡" not in str(plain)
    assert "‡" in str(tested) and "not tested" not in str(tested)
    assert "† ‡ better, ▾ worse than popularity: paired t over 992 users" in str(tested)
    worse = str(tl.compare(retrieved, baseline="itemknn"))
    assert "▾" in worse and "‡ " not in worse.replace("† ‡ better", "")


def test_the_printed_comparison_touches_no_values_of_users(retrieved, monkeypatch):
    monkeypatch.setattr(tl.TopKResult, "per_user", None)
    assert "@10" in str(tl.compare(retrieved))


def test_latex_says_what_its_daggers_are(retrieved):
    text = tl.compare(retrieved, baseline="itemknn").to_latex()
    assert r"$^{\blacktriangledown}$" in text and "worse than itemknn" in text
    assert r"\usepackage{amssymb}" in text
    rows = tl.compare(retrieved, baseline="popularity").test("ndcg@10").to_latex()
    body = rows[rows.index(r"\begin{tabular}") :]
    assert r"+0.0738$^{\ddagger}$" in body and "$<$0.001" in body and r"+128 \%" in body
    assert body.count("{") == body.count("}") and not re.search("[†‡▾]", body)
    assert "paired t over 992 users" in rows[: rows.index(r"\begin{tabular}")]


def test_a_sentence_for_the_paper(retrieved):
    said = tl.compare(retrieved, baseline="popularity").test("ndcg@10").sentence()
    assert said.startswith(
        "Differences were tested by two-sided paired t over 992 users, with p after Holm over 1 "
        "comparison; intervals are 95 %"
    )
    assert "itemknn exceeds popularity by 0.0738 in ndcg@10 (0.1314 against 0.0576" in said


def test_equivalence_and_power_in_words(retrieved):
    compared = tl.compare(retrieved, baseline="popularity")
    close = compared.equivalence("ndcg@10", margin=0.1)
    assert "two one-sided t tests over 992 users" in str(close)
    assert "equivalent within ±0.1" in str(close) and "90 % interval" in str(close)
    assert "not shown to be equivalent" in str(compared.equivalence("ndcg@10", margin=0.01))
    row = compared.power("ndcg@10", difference=0.01).rows[0]
    assert row["detectable"] == pytest.approx(inference.detectable(row["std"], row["n"]))
    assert row["n_needed"] == inference.n_needed(0.01, row["std"])


def test_advice_where_a_method_is_known_to_err():
    few = {"a": np.arange(30.0) % 7, "b": np.arange(30.0) % 5, "c": np.arange(30.0) % 3}
    assert "does not test the mean" in str(tl.paired_tests(few, method="wilcoxon"))
    flips = str(tl.paired_tests(few, method="randomization", correction="maxt", n_resamples=99))
    assert "fewer than 200 users is liberal" in flips
    larger = {"a": few["a"] + 9, "b": few["b"]}
    assert "<=0.01" in str(tl.paired_tests(larger, method="randomization", n_resamples=99))
    sparse = {"a": [1.0] + [0.0] * 99, "b": [0.0] * 100}
    assert {"SKEWED", "FEW DIFFER"} == set(tl.paired_tests(sparse)[0].cautions)


def test_frames_and_dicts_have_all_fields(retrieved):
    tests = tl.compare(retrieved, baseline="popularity").test(["map@10", "ndcg@10"])
    assert [one["name"] for one in tests.to_dict()] == ["map@10", "ndcg@10"]
    with pytest.raises(KeyError, match="no comparison has"):
        tests["nobody", "ndcg@10"]
    pandas = pytest.importorskip("pandas")
    frame = tests.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["wins"].tolist() == [430, 430]


def test_pictures(retrieved, tmp_path):
    pytest.importorskip("matplotlib")
    compared = tl.compare(retrieved, baseline="popularity")
    ax = compared.test(["map@10", "ndcg@10"]).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["map@10", "ndcg@10"]
    assert compared.equivalence("ndcg@10", margin=0.05).plot().patches  # the margin
    matrix = compared.test("ndcg@10").plot("matrix")
    assert {text.get_text() for text in matrix.texts} == {"+0.0738", "-0.0738"}
    band = compared.band("ndcg").plot()
    assert "992 users" in band.get_title(loc="left") and len(band.collections) == 2
    with pytest.raises(ValueError, match="a matrix is of one name"):
        compared.test(["map@10", "ndcg@10"]).plot("matrix")


def test_anova_and_tukey(retrieved):
    compared = tl.compare(retrieved)
    assert compared.anova("ndcg@10").p_systems < 1e-20  # of two systems: the paired t test
    t = compared.test("ndcg@10")[0]
    assert compared.anova("ndcg@10").f_systems == pytest.approx(t.statistic**2)
    assert compared.tukey("ndcg@10")[0].p_adjusted == pytest.approx(t.p, abs=1e-6)


# The command line


def run(capsys, *arguments):
    status = main(["compare", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


FILES = DATA / "itemknn.csv.gz", DATA / "popularity.csv.gz", DATA / "truth.csv"


def test_compare_of_the_command_line(capsys, tmp_path):
    names = ["-m", "ndcg@10", "map@20", "mrr@20", "precision@5"]
    status, out, _ = run(capsys, *FILES, *names, "--baseline", "popularity", "--correction", "none",
                         "--format", "json")  # fmt: skip
    rows = json.loads(out)
    assert status == 0 and [row["name"] for row in rows] == names[1:]
    first = rows[0]
    assert (first["wins"], first["ties"], first["losses"]) == (430, 430, 132)
    assert first["difference"] == pytest.approx(0.07376126380606653, rel=1e-9)
    assert first["statistic"] == pytest.approx(10.319330838967076, rel=1e-9)
    assert first["error_users"] is None
    _, table, _ = run(capsys, *FILES, "-m", "ndcg", "-k", "5", "10", "--band", "--power")
    assert "at all of them together" in table and "detectable" in table
    assert "992 of 992 users evaluated" in table
    _, margin, _ = run(capsys, *FILES, "-m", "ndcg@10", "--margin", "0.1")
    assert "equivalent within ±0.1" in margin
    _, text, _ = run(capsys, *FILES, "-m", "ndcg@10", "--format", "csv")
    assert text.splitlines()[0].startswith("name,system,baseline,n,mean")
    for form, sign in (("markdown", "| ndcg@10 |"), ("latex", r"\begin{tabular}")):
        assert sign in run(capsys, *FILES, "-m", "ndcg@10", "--format", form)[1]
    pytest.importorskip("matplotlib")
    picture = tmp_path / "forest.png"
    assert run(capsys, *FILES, "-m", "ndcg@10", "--plot", picture)[0] == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--baseline", "nobody"], "baseline 'nobody' is none of the systems"),
        (["--margin", "-1"], "margin must be a number above 0, not -1.0"),
        (["--margin", "0.1", "--test", "sign"], "--margin asks for two one-sided t tests"),
        (["--level", "1"], "level must be a number between 0 and 1"),
        (["--correction", "maxt", "--test", "sign"], "'maxt' is for the methods"),
        (["--band", "--format", "json"], "--band and --power are tables of their own"),
    ],
)
def test_wrong_usage_of_compare(capsys, arguments, said):
    with pytest.raises(SystemExit) as caught:
        main(["compare", *map(str, FILES), "-m", "ndcg@10", *arguments])
    assert caught.value.code == 2 and said in capsys.readouterr().err


def test_one_file_of_lists_cannot_be_compared(capsys):
    with pytest.raises(SystemExit):
        main(["compare", *map(str, FILES[1:]), "-m", "ndcg@10"])
    assert "two systems are needed" in capsys.readouterr().err


def test_no_other_library_is_loaded():
    code = (
        "import sys, toplist as tl\n"
        "from toplist.comparing.pairwise import METHODS\n"
        "for method in METHODS:\n"
        "    tl.paired_tests({'a': [1.0, 2, 4], 'b': [0.0, 1, 1]}, method=method)\n"
        "assert not {'scipy.stats', 'statsmodels', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


# Streams that keep the hits


@pytest.mark.parametrize("relevant_from", [None, 2.0])
@pytest.mark.parametrize("text", [True, False])
def test_a_stream_that_keeps_its_hits_is_the_result_in_memory(
    tmp_path, monkeypatch, relevant_from, text
):
    monkeypatch.setattr("toplist.files.lines.SIZE", 300)  # many parts
    rng = np.random.default_rng(0)
    users = [f"u{i}" if text else i for i in range(80)]
    rows = ["user_id,item_id,rank"]
    rows += [
        f"{user},{item},{rank}"
        for user in users[:70]
        for rank, item in enumerate(rng.permutation(30)[: rng.integers(1, 8)].tolist(), 1)
    ]
    truth = ["user_id,item_id,relevance"]
    truth += [
        f"{user},{item},{rng.integers(1, 4)}"
        for user in users[5:]
        for item in rng.permutation(30)[:6].tolist()
    ]
    for name, lines in (("recs.csv", rows), ("truth.csv", truth)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = tmp_path / "recs.csv", tmp_path / "truth.csv"
    for k in (5, None):
        options = {"k": k, "metrics": ["ndcg", "recall", "map"], "relevant_from": relevant_from}
        options |= {"convention": "trec_eval"} if relevant_from else {}
        kept = tl.top_k_eval(*files, keep="hits", **options)
        whole = tl.top_k_eval(*files, in_memory=True, **options)
        streamed = tl.top_k_eval(*files, **options)
        assert kept.to_dict() == pytest.approx(whole.to_dict(), rel=1e-12)
        assert kept.n_extra == whole.n_extra == streamed.n_extra == 5
        assert sorted(kept.users) == sorted(whole.users)
        for name in kept.names():
            expected = dict(zip(whole.users, whole.per_user(name), strict=True))
            found = dict(zip(kept.users, kept.per_user(name), strict=True))
            assert found.keys() == expected.keys()
            assert all(np.array_equal(found[u], expected[u], equal_nan=True) for u in found)
        test = tl.compare({"a": kept, "b": whole}).test(kept.names()[:1])[0]
        assert (test.n, test.difference, test.p) == (kept.n_evaluated, 0.0, 1.0)
        assert kept.fingerprints == streamed.fingerprints
    with pytest.raises(ValueError, match="keep='all': choose from 'hits'"):
        tl.top_k_eval(*files, keep="all")


# What a first reader stumbled over


def test_a_user_twice_in_a_series_is_refused():
    pandas = pytest.importorskip("pandas")
    twice = {name: pandas.Series([1.0, 2.0, 3.0], [1, 1, 2]) for name in "ab"}
    with pytest.raises(ValueError, match="the Series of a has user 1 twice"):
        tl.paired_tests(twice)


@pytest.mark.parametrize("what", ["tukey", "anova", "power", "band"])
def test_what_takes_no_weights_refuses_them(what):
    compared = tl.compare(results(weights={f"u{i}": 1.0 + i for i in range(60)}), baseline="a")
    calls = {
        "band": lambda: compared.band("mrr", "b", "a"),
        "power": lambda: compared.power("mrr@2"),
    }
    with pytest.raises(ValueError, match="the users have weights"):
        calls.get(what, lambda: getattr(compared, what)("mrr@2"))()


def test_a_comparison_that_cannot_be_tested_is_printed_and_says_why():
    both = results()
    fewer = both["b"].by({f"u{i}": i < 50 for i in range(60)})[True]
    text = str(tl.compare({"a": both["a"], "b": fewer}, baseline="a"))
    assert "NOT TESTED against a: a, b count other users: 10 are in some of them only" in text
    assert "DIFFERENT USERS" in text and "mrr@3" in text


def test_tukey_says_that_its_intervals_hold_together(retrieved):
    tukey = tl.compare(retrieved).tukey("ndcg@10")
    assert "after Tukey over 1 comparison" in str(tukey)
    assert "p and intervals hold for all pairs together" in str(tukey)
    assert "hold for all pairs together" in tukey.sentence() and "nan" not in tukey.sentence()


def test_equivalence_is_said_as_such(retrieved):
    close = tl.compare(retrieved, baseline="popularity").equivalence("ndcg@10", margin=0.1)
    said = close.sentence()
    assert said.startswith("Equivalence within ±0.1 was tested by two one-sided t tests over 992")
    assert "intervals are 90 %" in said and "are equivalent in ndcg@10" in said
    assert "†" not in str(close) and "‡" not in str(close)
    for margin in (float("nan"), "1%", 0, -1):
        with pytest.raises(ValueError, match="margin must be a number above 0"):
            tl.compare(retrieved).equivalence("ndcg@10", margin=margin)
    with pytest.raises(ValueError, match="correction='maxt' is of tests of a difference"):
        tl.compare(retrieved).equivalence("ndcg@10", margin=0.1, correction="maxt")


def test_words_of_few_users_of_one_side_and_of_many_comparisons():
    rng = np.random.default_rng(0)
    systems = {name: rng.random(20) for name in "abcd"}
    assert "MaxT by t with fewer than 50 users is liberal" in str(
        tl.paired_tests(systems, correction="maxt")
    )
    assert "95 % interval (two-sided)" in str(tl.paired_tests(systems, alternative="less"))
    assert tl.paired_tests(systems).sentence().endswith("of 6 differences.")
    alone = {name: values[:1] for name, values in systems.items()}
    assert tl.paired_tests(alone, baseline="a").n_family == 0
    assert "and 2 independent runs of each system" in tl.paired_tests(
        {name: [values, values + 0.1] for name, values in systems.items()}, runs="independent"
    ).sentence()  # fmt: skip


def test_a_comparison_is_found_by_its_system_alone(retrieved):
    tests = tl.compare(retrieved, baseline="popularity").test("ndcg@10")
    assert tests["itemknn"] is tests[0]
    with pytest.raises(ValueError, match="this is of one name@k, not of map@10, ndcg@10"):
        tl.compare(retrieved).anova(["map@10", "ndcg@10"])


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


def test_what_is_written_says_how_it_was_tested(retrieved, capsys):
    tests = tl.compare(retrieved, baseline="popularity").test(["map@10", "ndcg@10"])
    [first, _] = tests.to_dict()
    assert (first["method"], first["correction"], first["n_family"]) == ("t", "holm", 2)
    assert (first["alternative"], first["level"]) == ("two-sided", 0.95)
    _, out, _ = run(capsys, *FILES, "-m", "ndcg@10", "--format", "csv", "--test", "sign")
    header, row = out.splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["method"] == "sign"


def test_the_legend_of_daggers_is_printed_in_latex(retrieved):
    compared = tl.compare(retrieved, baseline="popularity")
    for text in (compared.to_latex(), compared.test("ndcg@10").to_latex()):
        legend = text[text.index(r"\footnotesize") :]
        assert r"$^{\dagger}$ $^{\ddagger}$" in legend and "paired t over 992 users" in legend
    assert "letters name the systems that a system exceeds" in tl.compare(retrieved).to_latex()


@pytest.mark.parametrize(("option", "value"), [("--resamples", "98"), ("--seed", "-1")])
def test_wrong_numbers_of_draws_are_wrong_usage(capsys, option, value):
    with pytest.raises(SystemExit) as caught:
        main(["compare", *map(str, FILES), "-m", "ndcg@10", option, value])
    assert caught.value.code == 2 and option[2:6] in capsys.readouterr().err


@pytest.mark.parametrize("options", [{"seed": -1}, {"seed": 2**64}, {"n_resamples": 98}])
def test_seeds_and_resamples_are_checked_alike_everywhere(options):
    systems = {"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 4.0]}
    with pytest.raises(ValueError, match="seed must be|n_resamples must be"):
        tl.paired_tests(systems, **options)  # of the t test too, which draws nothing
    with pytest.raises(ValueError, match="seed must be|n_resamples must be"):
        inference.tukey(systems, method="randomization", **options)
