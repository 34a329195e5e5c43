"""Tests in words, tables, LaTeX and pictures."""

import re
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist import inference


@pytest.fixture
def compared(retrieved):
    return tl.compare(retrieved, baseline="popularity")


@pytest.fixture
def tests(compared):
    return compared.test(["map@10", "ndcg@10"])


def test_the_table_of_two_systems(tests):
    text = str(tests)
    assert "ndcg@10      0.0576   0.1314    +0.0738‡  [+0.0597, +0.0878]    +128 %  0.33" in text
    assert "430/430/132  <0.001    <0.001" in text
    assert "992 users; † ‡ better, ▾ worse: p < 0.05, 0.01 after Holm over 2 comparisons" in text


def test_the_table_of_means_marks_only_what_was_tested(retrieved, compared):
    plain, tested = str(tl.compare(retrieved)), str(compared)
    assert "not tested" in plain and "‡" not in plain
    assert "‡" in tested and "not tested" not in tested
    assert "† ‡ better, ▾ worse than popularity: paired t over 992 users" in tested
    worse = str(tl.compare(retrieved, baseline="itemknn"))
    assert "▾" in worse and "‡ " not in worse.replace("† ‡ better", "")


def test_a_worse_system_has_one_sign_in_every_table(retrieved):
    both = tl.compare(retrieved, baseline="itemknn")
    tests = both.test(["ndcg@10"])
    assert tests[0].sign == "▾" and "-0.0738▾" in str(tests) and str(tests).count("‡") == 1
    assert "0.0576▾" in str(both)
    latex = tests.to_latex()
    assert r"$-$0.0738$^{\blacktriangledown}$" in latex and "amssymb" in latex
    values = {name: one.per_user("ndcg@10") for name, one in retrieved.items()}
    own = str(
        tl.inference.paired_tests(values, baseline="itemknn")
    )  # which direction is better is not known
    assert "-0.0738▾" in own and "† ‡ higher, ▾ lower: p < 0.05" in own and "better" not in own


def test_what_has_no_direction_has_no_sign_and_is_never_better():
    rng, truths = np.random.default_rng(0), {user: {user % 3} for user in range(200)}
    both = {
        name: tl.top_k_eval(
            {user: rng.permutation(range(low, low + 20))[:3].tolist() for user in truths},
            truths,
            k=2,
            metrics=["hit", "novelty", "average_popularity"],
            items=tl.Items(counts={item: 1 + 3 * item for item in range(40)}),
        )
        for name, low in (("a", 0), ("b", 15))
    }
    undirected = ["novelty@2", "average_popularity@2"]
    compared = tl.compare(both, baseline="a")
    tests = compared.test(undirected)
    assert all(one.p_adjusted < 0.01 and not one.sign for one in tests)
    assert not any(one.better or one.worse for one in tests)
    for text in (str(tests), tests._repr_html_(), tests.to_markdown(), tests.to_latex()):
        assert "no sign in novelty, average" in text
        assert not re.search("†|‡|▾|better|worse|dagger|triangle", text)
    for text in (str(compared), compared._repr_html_(), compared.to_markdown()):
        assert text.count("▾") == 2 and text.count("‡") == 1  # of hit, and of the line below
    latex = compared.to_latex()
    assert latex.count(r"$^{\blacktriangledown}$") == 2
    band = compared.band("novelty")
    assert not band.better and not band.worse and "lower at k = 1 to 2" in str(band)


def test_a_p_beside_a_sign_is_never_printed_as_its_limit():
    values = {"a": np.array([0.0, 1.0]), "b": np.zeros(2)}
    found = tl.inference.paired_tests(values, correction="none")
    near = replace(found[0], p=0.0499, p_adjusted=0.0499)
    text = str(replace(found, contrasts=(near,)))
    assert "0.0499" in text and "0.050" not in text and "†" in text


def test_the_printed_comparison_touches_no_values_of_users(retrieved, monkeypatch):
    monkeypatch.setattr(tl.TopKResult, "per_user", None)
    assert "@10" in str(tl.compare(retrieved))


def test_latex_says_what_its_daggers_are(retrieved, compared):
    text = tl.compare(retrieved, baseline="itemknn").to_latex()
    assert r"$^{\blacktriangledown}$" in text and "worse than itemknn" in text
    assert r"\usepackage{amssymb}" in text
    rows = compared.test("ndcg@10").to_latex()
    body = rows[rows.index(r"\begin{tabular}") :]
    assert r"+0.0738$^{\ddagger}$" in body and "$<$0.001" in body and r"+128 \%" in body
    assert body.count("{") == body.count("}") and not re.search("[†‡▾]", body)
    for text in (compared.to_latex(), rows):
        legend = text[text.index(r"\footnotesize") :]
        assert r"$^{\dagger}$ $^{\ddagger}$" in legend and "paired t over 992 users" in legend
    pairs = tl.compare(retrieved).to_latex()
    assert r"\footnotesize tested: paired t over 992 users" in pairs and r"\textbf" in pairs


def test_a_sentence_for_the_paper(compared):
    said = compared.test("ndcg@10").sentence()
    assert said.startswith(
        "Differences were tested by two-sided paired t over 992 users, with p after Holm over 1 "
        "comparison; intervals are 95 %"
    )
    assert "itemknn exceeds popularity by 0.0738 in ndcg@10 (0.1314 against 0.0576" in said


def test_power_is_that_of_planning(compared):
    row = compared.power("ndcg@10", difference=0.01).rows[0]
    assert row["detectable"] == pytest.approx(inference.detectable(row["std"], row["n"]))
    assert row["n_needed"] == inference.n_needed(0.01, row["std"])


def test_power_counts_the_users_who_differ_to_either_side():
    lists = {user: [1, 2] if user % 2 else [2, 1] for user in range(60)}
    truths = {user: {1} for user in lists}
    turned = {user: ids[::-1] for user, ids in lists.items()}
    systems = {"a": tl.top_k_eval(lists, truths, 2), "b": tl.top_k_eval(turned, truths, 2)}
    assert tl.compare(systems).power("mrr@2").rows[0]["detectable"] > 0
    same = tl.compare({"a": systems["a"], "b": systems["a"]})
    assert np.isnan(same.power("mrr@2").rows[0]["detectable"])


def test_advice_where_a_method_is_known_to_err():
    few = {"a": np.arange(30.0) % 7, "b": np.arange(30.0) % 5, "c": np.arange(30.0) % 3}
    assert "does not test the mean" in str(tl.inference.paired_tests(few, method="wilcoxon"))
    flips = str(
        tl.inference.paired_tests(few, method="randomization", correction="maxt", n_resamples=99)
    )
    assert "fewer than 200 users is liberal" in flips
    larger = {"a": few["a"] + 9, "b": few["b"]}
    assert "<=0.01" in str(
        tl.inference.paired_tests(larger, method="randomization", n_resamples=99)
    )
    sparse = {"a": [1.0] + [0.0] * 99, "b": [0.0] * 100}
    assert {"SKEWED", "FEW DIFFER"} == set(tl.inference.paired_tests(sparse)[0].cautions)


def test_frames_and_dicts_have_all_fields(retrieved, compared, tests):
    assert [one["name"] for one in tests.to_dict()] == ["map@10", "ndcg@10"]
    first = tests.to_dict()[0]
    assert (first["method"], first["correction"], first["n_family"]) == ("t", "holm", 2)
    assert (first["alternative"], first["level"]) == ("two-sided", 0.95)
    with pytest.raises(KeyError, match="no comparison has"):
        tests["nobody", "ndcg@10"]
    alone = compared.test("ndcg@10")
    assert alone["itemknn"] is alone[0]
    with pytest.raises(ValueError, match="this is of one name@k, not of map@10, ndcg@10"):
        tl.compare(retrieved).tukey(["map@10", "ndcg@10"])
    pandas = pytest.importorskip("pandas")
    frame = tests.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["wins"].tolist() == [430, 430]


def test_pictures(compared, tests):
    pytest.importorskip("matplotlib")
    facets = tests.plot().figure.axes
    assert [ax.get_xlabel() for ax in facets] == ["map", "ndcg"]
    assert [[label.get_text() for label in ax.get_yticklabels()] for ax in facets] == [["@10"]] * 2
    assert compared.equivalence("ndcg@10", margin=0.05).plot().patches  # the margin
    band = compared.band("ndcg").plot()
    assert "992 users" in band.get_title(loc="left") and len(band.collections) == 2


def test_tukey_says_where_the_pairs_do_not_vary_alike():
    rng = np.random.default_rng(0)
    alike = {name: rng.normal(size=300) for name in "abc"}
    twins = alike | {"b": alike["a"] + rng.normal(0, 0.01, 300)}
    text = str(tl.inference.tukey(alike))
    assert "hold for all pairs together, if these vary alike" in text and "twins" not in text
    tukey = tl.inference.tukey(twins)
    assert "the pairs do not vary alike (standard deviations of 0.0" in str(tukey)
    assert "together, if these vary alike." in tukey.sentence()
    same = tl.inference.tukey({**alike, "b": alike["a"]})
    assert "standard deviations of 0 to 1." in str(same)


def test_what_is_gone_says_what_to_write_instead(compared):
    for owner in (tl.inference, compared):
        with pytest.raises(AttributeError, match=r"anova is gone since 0.4: .*tukey\(\) all"):
            owner.anova  # noqa: B018
        with pytest.raises(AttributeError, match="has no attribute 'anovas'"):
            owner.anovas  # noqa: B018


def test_tukey_says_that_its_intervals_hold_together(compared):
    tukey = compared.tukey("ndcg@10")
    assert "after Tukey over 1 comparison" in str(tukey)
    assert "relative" not in str(tukey) and "d_z" not in str(tukey)
    assert "p and intervals hold for all pairs together" in str(tukey)
    assert "hold for all pairs together" in tukey.sentence() and "nan" not in tukey.sentence()


def test_equivalence_is_said_as_such(compared):
    close = compared.equivalence("ndcg@10", margin=0.1)
    assert "two one-sided t tests over 992 users" in str(close)
    assert "equivalent within ±0.1" in str(close) and "90 % interval" in str(close)
    assert "not shown to be equivalent" in str(compared.equivalence("ndcg@10", margin=0.01))
    said = close.sentence()
    assert said.startswith("Equivalence within ±0.1 was tested by two one-sided t tests over 992")
    assert "intervals are 90 %" in said and "are equivalent in ndcg@10" in said
    assert "†" not in str(close) and "‡" not in str(close)
    how = [close.to_dict()[0][key] for key in ("method", "alternative", "margin", "level")]
    assert how == ["equivalence", "within", 0.1, pytest.approx(0.9)]
    assert compared.test("ndcg@10").to_dict()[0]["margin"] is None


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        *(
            ({"margin": one}, ValueError, "margin must be a number above 0")
            for one in (float("nan"), float("inf"), "1%", 0, -1, True, "a")
        ),
        ({"margin": None}, TypeError, "margin is None"),
        ({"margin": 0.1, "level": 0.4}, ValueError, "level must be above 0.5"),
        ({"margin": 0.1, "correction": "maxt"}, ValueError, "'maxt' is of tests of a difference"),
    ],
)
def test_equivalence_that_cannot_be_tested(pair, options, error, said):
    with pytest.raises(error, match=said):
        tl.compare(pair).equivalence("ndcg@10", **options)


def test_words_of_few_users_of_one_side_and_of_many_comparisons():
    rng = np.random.default_rng(0)
    systems = {name: rng.random(20) for name in "abcd"}
    assert "MaxT by t with fewer than 50 users is liberal" in str(
        tl.inference.paired_tests(systems, correction="maxt")
    )
    assert "95 % interval (two-sided)" in str(
        tl.inference.paired_tests(systems, alternative="less")
    )
    assert tl.inference.paired_tests(systems).sentence().endswith("of 6 differences.")
    alone = {name: values[:1] for name, values in systems.items()}
    assert tl.inference.paired_tests(alone, baseline="a").n_family == 0
    runs = {name: [values, values + 0.1] for name, values in systems.items()}
    said = tl.inference.paired_tests(runs, runs="independent").sentence()
    assert "and 2 independent runs of each system" in said


def test_the_sentence_says_whose_interval_it_is(pair):
    both = tl.compare(pair, baseline="a")
    one_sided = both.test("ndcg@10", alternative="greater").sentence()
    assert "two-sided intervals are 95 %" in one_sided
    signs = both.test("ndcg@10", method="sign")
    assert "by the t test" in signs.sentence() and "does not test the mean" in signs.sentence()
    assert "the intervals are those of the t test" in str(signs)


def test_tables_and_tests_print_one_mean_alike():
    """0.10475 is 0.10474999999999998 from counts, and 0.10475000000000001 from values."""
    rng = np.random.default_rng(2)
    truth = {u: set(rng.permutation(60)[:9].tolist()) for u in range(200)}
    lists = [{u: rng.permutation(60)[:20].tolist() for u in truth} for _ in "ab"]
    options = {"k": [5, 10, 20], "metrics": ["precision", "recall"]}
    results = {s: by_words(some, truth, **options) for s, some in zip("ab", lists, strict=True)}
    table = tl.compare(results).to_text()
    for test in tl.compare(results).test():
        shown = str(tl.compare(results).test(test.name)).split()
        for mean in (test.mean, test.baseline_mean):
            text = f"{float(f'{mean:.12g}'):.4f}"
            assert text in table and text in shown


def many_systems(k):
    rng = np.random.default_rng(0)
    truth = {user: set(rng.permutation(60)[:5].tolist()) for user in range(120)}
    lists = {
        name: {user: rng.permutation(60)[:20].tolist() for user in truth} for name in "abcdefgh"
    }
    names = ["hit", "recall", "precision", "map", "ndcg", "mrr", "f1", "dcg"]
    names += ["rbp(p=0.5)", "rbp(p=0.8)"]
    return {name: by_words(one, truth, k, metrics=names) for name, one in lists.items()}


def test_of_many_comparisons_the_first_name_is_printed_and_the_rest_is_counted():
    compared = tl.compare(many_systems([5, 10, 20]))
    tests = compared.test()
    text = tests.to_text(width=80)
    lines = text.splitlines()
    assert len(tests) == 840 and len(lines) <= 60 and max(map(len, lines)) <= 80
    assert " ".join(lines[0].split()) == "ndcg@10 difference 95 % interval relative p (Holm)"
    labels = [line.split("  ")[0] for line in lines[1:29]]
    assert labels == [f"{one.system} - {one.baseline}" for one in tests if one.name == "ndcg@10"]
    assert "29 more names: p is below 0.05 in 0 of 812 differences" in text
    assert ".to_text(names='hit@5')" in text
    assert text.count("SKEWED") <= 1 and "after Holm over 840 comparisons" in text
    shown = tests.to_text(names="map@5")
    assert shown.startswith("map@5") and "after Holm over 840 comparisons" in shown
    assert len(tests.to_markdown().splitlines()) > 840
    with pytest.raises(KeyError, match="'map@7' is not tested here: there are hit@5"):
        tests.to_text(names="map@7")
    alone = compared.test(["map@5", "mrr@5"]).to_text()
    assert alone.startswith("map@5") and "1 more name: " in alone


def test_many_means_at_one_k_stand_in_lines():
    compared = tl.compare(many_systems(10))
    lines = str(compared).splitlines()
    assert lines[0].split() == [*"abcdefgh"] and lines[1].startswith("hit@10  ")
    assert len(lines) == 14 and lines[11].startswith("* best of its line; not tested")
    assert r"\textbf" not in compared.to_latex() and "| map@10 | " in compared.to_markdown()
