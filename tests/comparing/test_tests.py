"""Tests in words, tables and LaTeX."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from systems import DATA, cells, compared, system

import toplist as tl
from toplist import inference
from toplist.comparing.contrasts import METHODS

paired_tests, RNG = inference.paired_tests, np.random.default_rng
POPULAR, KNN = "popularity", "itemknn"


@cache
def retrieved():
    """Return the results of two systems of the notebooks."""
    asked = {"k": [1, 5, 10, 20], "metrics": ["hit", "recall", "map", "ndcg"], "keep": "users"}
    return {
        name: tl.top_k_eval(DATA / f"{name}.csv.gz", DATA / "truth.csv", **asked)
        for name in (POPULAR, KNN)
    }


def versus(baseline=POPULAR):
    return tl.compare(retrieved(), baseline=baseline)


FEW = {name: np.arange(30.0) % n for name, n in (("a", 7), ("b", 5), ("c", 3))}
FAR = {"a": FEW["a"] + 9, "b": FEW["b"]}
FOUR = {name: RNG(seed).random(20) for seed, name in enumerate("abcd")}
RUNS = {name: [values, values + 0.1] for name, values in FOUR.items()}
ALIKE = {name: RNG(seed).normal(size=300) for seed, name in enumerate("abc")}
NEAR_TWINS = ALIKE | {"b": ALIKE["a"] + RNG(3).normal(0, 0.01, 300)}
WIDER = ALIKE | {"b": 2.2 * ALIKE["b"]}
DRAWN = {"method": "randomization", "n_resamples": 99}
# They all differ by the same number, but for rounding.
ROUNDED = dict(zip("ab", RNG(0).random(40).round(3) + np.array([[0.0], [0.1]]), strict=True))
ONCE, THRICE = ({"a": np.zeros(n), "b": np.ones(n)} for n in (1, 3))
SPARSE, MORE = ({"a": np.zeros(2000), "b": (np.arange(2000) < n) * 1.0} for n in (6, 105))
MORE = MORE | {"b": MORE["b"] + 9 * (np.arange(2000) < 3)}
# 20 of 100 gain much, the others lose less; one of 16 clusters lies far
GAIN = np.where(np.arange(100) < 20, 3 + np.arange(100) / 1000, -0.2 - np.arange(100) / 900)
WORSE_MORE_OFTEN = {"a": np.zeros(100), "b": GAIN}
FAR_CLUSTERS = {"a": np.zeros(400), "b": RNG(2).normal(np.repeat([0.4, *[0] * 15], 25), 0.02)}
# The same mean in another order of sums; a small difference beside large values
CANCELS = {"a": np.array([0.2, 0.1]), "b": np.array([0.25, 0.05])}
LARGE = np.where(np.arange(1000) < 10, 1e15, 0.0)
ONE_IN_MANY = {"a": LARGE, "b": np.where(LARGE > 0, LARGE, 0.01 + RNG(0).random(1000) / 1000)}
LEANS = {"a": np.zeros(9), "b": np.array([9.0, 8, 7, 6, -1, -1, -1, -1, -1])}
CALIBRATION = "calibration(distance=hellinger)@2"


def ndcg(baseline=POPULAR, **how):
    return versus(baseline).test("ndcg@10", **how)


def own():
    """Test values of one's own, of which it is not known which direction is better."""
    values = {name: one.per_user("ndcg@10") for name, one in retrieved().items()}
    return paired_tests(values, baseline=KNN)


def few():
    """Compare two systems over 12 users, of whom 8 have a hit in b alone."""
    truths = {user: {0} for user in range(12)}
    hits = {"a": {user: [user % 3] for user in truths}, "b": {user: [0] for user in truths}}
    results = {name: tl.top_k_eval(lists, truths, 1, metrics="hit") for name, lists in hits.items()}
    return tl.compare(results, baseline="a")


def calibrated():
    """Compare two systems in a metric of which less is better: b is, for 58 of 60 users."""
    truths, labels = {user: {0} for user in range(60)}, {item: "xy"[item % 2] for item in range(10)}
    history = {user: [2, 3] if user % 3 else [2, 4] for user in truths}
    lists = {user: [2, 4] if user % 3 else [2, 3] for user in truths}
    items = tl.Items(labels=labels, history=history)
    both = {"a": lists, "b": history | {0: [2, 3], 5: [2, 4]}}
    how = {"k": 2, "metrics": CALIBRATION, "items": items}
    results = {name: tl.top_k_eval(some, truths, **how) for name, some in both.items()}
    return tl.compare(results, baseline="a")


def over_k(*means):
    """Return the band of 40 users: a mean by each k, or in a list what they all differ by."""
    noise = np.where(np.arange(40) % 2, 0.1, -0.1)
    columns = [noise + one if isinstance(one, int) else np.repeat(one, 40) for one in means]
    return inference.band(np.transpose(columns), np.zeros((40, len(means))))


def two_alike():
    """Return two systems of which one has a hit at 1, and one at 2, for both of two users."""
    lists = {"a": [["x", "y"]] * 2, "b": [["y", "x"]] * 2}
    return {
        name: tl.top_k_eval(some, ["x"] * 2, 2, metrics="mrr@2") for name, some in lists.items()
    }


def equal(margin):
    return versus().equivalence("ndcg@10", margin=margin)


# What is shown, and words in it, "..." between them
SAID = [
    (
        lambda: versus().test(["map@10", "ndcg@10"]).to_text(),
        "ndcg@10      0.0576   0.1314    +0.0738‡  [+0.0597, +0.0878]    +128 %  0.33..."
        "430/430/132  <0.001    <0.001..."
        "992 users; † ‡ better, ▾ worse: p < 0.05, 0.01 after Holm over 2 comparisons",
    ),
    (
        lambda: ndcg().sentence(),
        "Differences were tested by two-sided paired t over 992 users, with p after Holm over 1 "
        "comparison; intervals are 95 %..."
        "itemknn exceeds popularity by 0.0738 in ndcg@10 (0.1314 against 0.0576",
    ),
    (
        lambda: str(versus()),
        "- popularity, paired t over 992 users; † ‡ better, ▾ worse: p < 0.05, 0.01",
    ),
    (lambda: str(versus(None)), "not tested"),
    (lambda: str(versus(KNN)), "0.0576▾"),
    (lambda: str(ndcg(KNN)), "-0.0738▾"),
    (lambda: str(own()), "-0.0738▾...† ‡ higher, ▾ lower: p < 0.05"),
    (
        lambda: ndcg(KNN).to_latex(),
        r"$-$0.0738$^{\blacktriangledown}$...\usepackage{amssymb}",
    ),
    (lambda: versus(KNN).to_latex(), r"0.0576$^{\blacktriangledown}$...worse: p $<$ 0.05, 0.01"),
    (
        lambda: ndcg().to_latex(),
        r"+0.0738$^{\ddagger}$...$<$0.001...+128 \%...$^{\dagger}$ $^{\ddagger}$...over 992 users",
    ),
    (lambda: versus(None).to_latex(), r"over 992 users; differs: p $<$ 0.05 after...\textbf"),
    (lambda: str(paired_tests(FEW, method="wilcoxon")), "does not test the mean"),
    (lambda: str(ndcg(method="sign")), "the intervals are those of the t test"),
    (lambda: str(paired_tests(FEW, **DRAWN, correction="maxt")), "than 200 users is liberal"),
    (lambda: str(paired_tests(FAR, **DRAWN)), "<=0.01"),
    (lambda: str(paired_tests(FOUR, correction="maxt")), "MaxT by t with fewer than 50 users is"),
    (lambda: paired_tests(FOUR).sentence(), "of 6 differences."),
    (lambda: paired_tests(RUNS, runs="paired").sentence(), "and 2 paired runs of each system"),
    (lambda: str(inference.tukey(ALIKE)), "hold for all pairs together, if these vary alike"),
    (
        lambda: str(inference.tukey(NEAR_TWINS)),
        "the pairs do not vary alike (standard deviations of 0.0",
    ),
    (lambda: str(inference.tukey(WIDER)), "the pairs do not vary alike"),
    (lambda: str(versus().tukey("ndcg@10")), "after Tukey over 1 comparison...for all pairs toge"),
    (
        lambda: str(inference.tukey(SPARSE)),
        "SKEWED: few rows lie far...FEW DIFFER: fewer than 30 rows differ (a - b value)",
    ),
    (
        lambda: str(inference.band(np.eye(40)[:, :3] + 1, np.eye(40)[::-1, :3])),
        "higher at k = 1 to 3...40 rows",
    ),
    (lambda: str(inference.tukey(FAR)), "over 30 rows; † ‡ higher...paired by position"),
    (lambda: paired_tests(SPARSE).sentence(), "FEW DIFFER: fewer than 30 rows differ (b - a val"),
    (
        lambda: paired_tests(SPARSE, baseline="a").to_latex().split(r"\end{tabular}")[1],
        "1 comparison; SKEWED: few rows lie far...FEW DIFFER: fewer than 30 rows differ",
    ),
    (
        lambda: few().to_latex().split(r"\end{tabular}")[1],
        "after Holm over 1 comparison; SKEWED: ...; FEW DIFFER: fewer than 30 users differ (b - a",
    ),
    (lambda: str(paired_tests(MORE)), 'SKEWED...where 100 rows or more differ, method="boot'),
    (lambda: str(paired_tests(THRICE)), "where all differ by the same number, p is that of sign"),
    (
        lambda: str(paired_tests(THRICE, method="bootstrap")),
        "bootstrap over 3...that of sign flips",
    ),
    (lambda: str(inference.tukey(THRICE)), "0.250...p is that of sign flips"),
    *(
        (lambda m=m: str(paired_tests(ROUNDED, method=m)), "by the same number there is no inter")
        for m in ("randomization", "wilcoxon", "sign")
    ),
    (
        lambda: str(over_k([0.5], 1, [0.5])),
        "higher at k = 2, at all...critical value 2.02...no interval at k = 1, 3: all 40 rows diff",
    ),
    (lambda: str(over_k([0.5], 0)), "neither higher nor lower at any other k...at k = 1: all 40"),
    (lambda: str(over_k([0.5], [0.1])), "no interval at k = 1 to 2: all 40 rows differ by the sa"),
    (
        lambda: tl.compare(two_alike()).lead().to_text(),
        "+0.2500          -      -  0.500...differ alike for all users, p is that of sign flips",
    ),
    (
        lambda: str(paired_tests(WORSE_MORE_OFTEN, method="sign", alternative="less")),
        "20/0/80  <0.001...differs: p < 0.05...OTHER SIDE: the test and",
    ),
    (lambda: str(paired_tests(WORSE_MORE_OFTEN, method="wilcoxon")), "20/0/80...OTHER SIDE"),
    (lambda: str(calibrated().test()[0]), "58    ties...higher_is_better        False"),
    (lambda: str(paired_tests({1: FEW["a"], 2: FEW["b"]}, baseline=1)), "2 - 1, paired t over 30"),
    (lambda: str(paired_tests(dict(enumerate(FEW.values())), baseline=[0])), "against 0, paired t"),
    (lambda: paired_tests(CANCELS).sentence(), "b equals a in value...d_z = 0.00"),
    (lambda: paired_tests(ONE_IN_MANY).sentence(), "b exceeds a by 0.0104...p <0.001"),
    (
        lambda: str(calibrated().test()),
        "-0.5232‡...58/2/0...† ‡ better, ▾ worse...at p < 0.05 after Holm",
    ),
    (lambda: calibrated().test().sentence(), "is below a by...; 0 users higher, 2 equal, 58 lower"),
    (lambda: str(calibrated().tukey(CALIBRATION)), "+0.5232▾...0/2/58...† ‡ better, ▾ worse"),
    (
        lambda: str(calibrated().equivalence(margin=0.1)),
        "not shown to be equivalent...not worse p <0.001, not better p 1.000",
    ),
    (
        lambda: str(inference.equivalence(FEW, margin=0.1)),
        "not lower p...not higher p",
    ),
    (lambda: str(ndcg(level=0.8)), "detectable with 80 % power at p < 0.05 after Holm...: 0.0200"),
    (lambda: str(versus().test(correction="bh")), "p < 0.05 after Bonferroni over"),
    (lambda: str(inference.equivalence(ONCE, margin=0.1)), "over 1 row: too few to test"),
    (
        lambda: str(equal(0.1)),
        "two one-sided t tests over 992 users...equivalent within ±0.1...90 % interval",
    ),
    (lambda: str(equal(0.01)), "not shown to be equivalent"),
    (
        lambda: equal(0.1).sentence(),
        "Equivalence within ±0.1 was tested by two one-sided t tests over 992..."
        "intervals are 90 %...are equivalent in ndcg@10",
    ),
]
# And words that are not in it: the table of means marks only what was tested
UNSAID = [
    (lambda: str(versus()), "not tested"),
    (lambda: str(versus(None)), "‡"),
    (lambda: str(own()), "better"),
    (lambda: ndcg().to_latex().split("tabular")[1], "†...‡...▾"),
    (lambda: str(versus().tukey("ndcg@10")), "vary alike...relative...d_z...nan"),  # of one pair
    (lambda: str(equal(0.1)), "†...‡"),
    (lambda: str(inference.equivalence(ONCE, margin=0.1)), "0 comparisons"),
    (lambda: str(paired_tests(SPARSE)), "bootstrap...sign flips"),
    (lambda: str(paired_tests(ROUNDED)), "SKEWED"),
    (lambda: str(paired_tests(THRICE, method="bootstrap")), "9,999"),
    (lambda: str(paired_tests(WORSE_MORE_OFTEN, method="sign")), "‡...▾...better"),
    (lambda: str(paired_tests(LEANS, method="sign")), "OTHER SIDE"),
    (lambda: str(over_k([0.5], [0.1])), "neither...sup-t"),
    (lambda: str(paired_tests(FAR_CLUSTERS, clusters=np.repeat(range(16), 25))), "is less rough"),
]


@pytest.mark.parametrize(("show", "words"), SAID, ids=[row[1][:40] for row in SAID])
def test_what_is_said(show, words):
    text = show()
    assert [one for one in words.split("...") if one not in text] == []
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(("show", "words"), UNSAID, ids=[row[1] for row in UNSAID])
def test_what_is_not_said(show, words):
    text = show()
    assert [one for one in words.split("...") if one in text] == []


@pytest.mark.parametrize("method", METHODS)
def test_an_interval_has_two_ends_whatever_the_alternative(method):
    values = {name: RNG(seed).random(40) for seed, name in enumerate("ab")}
    both, *sided = (
        paired_tests(values, method=method, alternative=side, n_resamples=999)
        for side in ("two-sided", "greater", "less")
    )
    ends = both[0].low, both[0].high
    for tests in sided:
        assert (tests[0].low, tests[0].high) == ends and np.isfinite(ends).all()
        assert f"[{ends[0]:+.4f}, {ends[1]:+.4f}]" in str(tests)
        assert "% interval (two-sided)" in str(tests)
        assert "two-sided intervals" in tests.sentence()


def test_what_has_no_direction_has_no_sign_and_is_never_better():
    rng, truths = np.random.default_rng(0), {user: {user % 3} for user in range(200)}
    lists = {
        name: {user: rng.permutation(range(low, low + 20))[:3].tolist() for user in truths}
        for name, low in (("a", 0), ("b", 15))
    }
    counts = {item: 1 + 3 * item for item in range(40)}
    metrics = ["hit", "novelty", "average_popularity"]
    both = compared(lists, truths, 2, "a", metrics=metrics, counts=counts)
    tests = both.test(["novelty@2", "average_popularity@2"])
    assert all(one.p_adjusted < 0.01 and not one.sign for one in tests)
    assert not any(one.better or one.worse for one in tests)
    for text in (str(tests), tests._repr_html_(), tests.to_markdown(), tests.to_latex()):
        assert "no sign in novelty, average" in text
        assert not re.search("†|‡|▾|better|worse|dagger|triangle", text)
    for text in (str(both), both._repr_html_(), both.to_markdown()):
        assert text.count("▾") == 2 and text.count("‡") == 1  # of hit, and of the line below
    assert both.to_latex().count(r"$^{\blacktriangledown}$") == 2
    band = both.band("novelty")
    assert not band.better and not band.worse and "lower at k = 1 to 2" in str(band)


def test_tables_and_tests_print_one_mean_alike_and_p_on_its_side():
    """0.10475 is 0.10474999999999998 from counts, and 0.10475000000000001 from values."""
    rng = RNG(2)
    truth = {u: set(rng.permutation(60)[:9].tolist()) for u in range(200)}
    lists = {s: {u: rng.permutation(60)[:20].tolist() for u in truth} for s in "ab"}
    both = compared(lists, truth, [5, 10, 20], metrics=["precision", "recall"])
    table = both.to_text()
    for test in both.test():
        shown = str(both.test(test.name)).split()
        for mean in (test.mean, test.baseline_mean):
            text = f"{float(f'{mean:.12g}'):.4f}"
            assert text in table and text in shown
    found = paired_tests({"a": np.array([0.0, 1.0]), "b": np.zeros(2)}, correction="none")
    near = replace(found[0], p=0.0499, p_adjusted=0.0499)
    text = str(replace(found, contrasts=(near,)))
    assert "0.0499" in text and "0.050" not in text and "†" in text


def test_bold_is_what_differs_after_the_correction(pair):
    def bold(text, *names):
        return [all(one.startswith(r"\textbf{") for one in cells(text, name)) for name in names]

    same = {"a": pair["a"], "twin": pair["a"], "c": pair["c"], "d": system(0.52, 4)}
    text = tl.compare(same).to_latex()
    assert bold(text, "c", "d") == [True, True] and "textbf" not in str(cells(text, "a"))
    twin = system(0.21, 9)
    near = tl.compare({"a": pair["a"], "b": twin}).to_latex()
    assert "textbf" not in near and "paired t over 120 users; no p below 0.05" in near
    # with a baseline
    text = tl.compare(pair, baseline="a").to_latex(digits=1)
    assert bold(text, "c") == [True] and r"$^{\ddagger}$" in cells(text, "c")[0]
    assert cells(text, "a")[0] == f"{pair['a']['ndcg@5']:.1f}"
    turned = tl.compare(pair, baseline="c").to_latex()
    assert bold(turned, "c") == [True] and "blacktriangledown" in turned
    # with several
    text = tl.compare({"a": pair["a"], "b": twin, "c": pair["c"]}, baseline=["a", "b"]).to_latex()
    assert r"\textbf" in cells(text, "c")[0] and r"\textbf" not in cells(text, "b")[0]
    assert "better, $" in text and "against each of a, b, paired t" in text
    near = {"a": pair["a"], "b": pair["c"], "c": system(0.5, 30)}
    mixed = tl.compare(near, baseline=["a", "b"])
    assert [mixed.test()["c", base, "ndcg@10"].mark for base in "ab"] == ["‡", ""]
    rows = str(mixed.test("ndcg@10")).splitlines()[1:3]
    assert len({re.search("[+-]0", row).start() for row in rows}) == 1
    assert mixed.best()["ndcg@5"] == ["c"] and r"\textbf" not in cells(mixed.to_latex(), "c")[0]
    weak = replace(mixed.test()["c", "b", "ndcg@10"], difference=0.1, p_adjusted=0.04)
    strong = replace(weak, baseline="a", p_adjusted=0.004)
    assert replace(mixed.test(), contrasts=(strong, weak)).signs == {("c", "ndcg@10"): "†"}
    assert mixed.test().signs["c", "ndcg@10"] == "" and "‡" not in str(mixed).split("\n")[3]


def test_intervals_digits_caption_and_names(pair):
    both = tl.compare(pair)
    text = both.to_latex(intervals=True, digits=3, caption="A & B", label="tab:x-1")
    assert r"\begin{table}" in text and r"\caption{A \& B}" in text and r"\label{tab:x-1}" in text
    assert r"\begin{table}" not in both.to_latex()
    assert "interval, ± half or [low, high]: Student's t" in text and "interval, " not in str(both)
    mean, (_, high) = pair["a"]["ndcg@5"], pair["a"].interval("ndcg@5")
    assert cells(text, "a")[0] == rf"{mean:.3f} {{\scriptsize$\pm$\,{high - mean:.3f}}}"
    text = tl.compare({"*a*": pair["a"], "`b`": pair["c"]}).to_markdown()  # stars are no markup
    assert r"| \*a\* |" in text and r"| \`b\` |" in text and "| **0." in text


LONG = [f"a-retriever-with-a-long-name-{letter}" for letter in "abcdefgh"]


@pytest.fixture(scope="module")
def many():
    """Return eight systems with long names, and their tests."""
    rng = np.random.default_rng(0)
    truth = {user: set(rng.permutation(60)[:5].tolist()) for user in range(120)}
    lists = {s: {user: rng.permutation(60)[:20].tolist() for user in truth} for s in LONG}
    names = ["hit", "recall", "precision", "map", "ndcg", "mrr", "f1", "dcg"]
    both = compared(lists, truth, [5, 10], metrics=[*names, "rbp(p=0.5)"])
    return both, both.test()


def test_a_mark_in_a_table_of_means_has_its_cautions():
    truth = {user: {0} for user in range(60)}
    lists = {"a": {user: [9] for user in truth}, "b": {user: [int(user > 5)] for user in truth}}
    both = compared(lists, truth, 1, metrics="hit", baseline="a")
    for text in (str(both), both.to_markdown(), both.to_latex(), both.to_html()):
        assert "FEW DIFFER" in text and "SKEWED" in text
    assert "SKEWED" not in str(compared(lists, truth, 1, metrics="hit"))  # without marks
    at_one = compared(lists, truth, 1, metrics=["hit", "mrr"], baseline="a")  # tested once
    for names, shown in ((None, "hit@1"), ("mrr", "mrr@1"), (["mrr", "hit"], "mrr@1")):
        assert f"fewer than 30 users differ (b - a {shown})" in at_one.to_text(names=names)
    split = both.by({user: "few" if user < 20 else "none" for user in truth})
    for text in (str(split), split.to_markdown(), split.to_latex(), split.to_html()):
        assert text.count("FEW DIFFER: fewer than 30 users differ (b - a hit@1 (few))") == 1


def test_in_a_narrow_terminal_letters_stand_for_long_names(many):
    pages = [one.to_text(width=80).splitlines() for one in many]
    for lines, shown in zip(pages, many, strict=True):
        assert len(lines) <= 60 and max(map(len, lines)) <= 80
        assert "h = a-retriever-with-a-long-name-h" in " ".join(" ".join(lines).split())
        assert LONG[0] in shown.to_text() and " = " not in shown.to_text()
    means, tests = pages
    assert means[0].split() == [*"abcdefgh"] and len(means) < 45
    assert [row.split()[0] for row in means[1:4]] == ["hit@5", "hit@10", "recall@5"]
    shown = float(means[2].split()[3].strip("*"))
    assert many[0].results[LONG[2]]["hit@10"] == pytest.approx(shown, abs=5e-5)
    assert tests[1].startswith("b - a ") and tests[28].startswith("h - g ")


def test_of_many_comparisons_the_first_name_is_printed_and_the_rest_is_counted(many):
    tests = many[1]
    text = tests.to_text(width=80)
    assert len(tests) == 504 and text.count("SKEWED") <= 1
    head = "ndcg@10 difference 95 % interval relative p (Holm)"
    assert text.split("\n")[0].split() == head.split()
    assert "17 more names: p is below 0.05 in 0 of 476 differences" in text
    assert ".to_text(names='hit@5')" in text and "after Holm over 504 comparisons" in text
    shown = tests.to_text(names="map@5")
    assert shown.startswith("map@5") and "after Holm over 504 comparisons" in shown
    assert len(tests.to_markdown().splitlines()) > 504
    alone = many[0].test(["map@5", "mrr@5"]).to_text()
    assert alone.startswith("map@5") and "1 more name: " in alone
    halves = many[0].by({user: user % 2 for user in range(120)}).test("map@5")
    assert len(halves) == 56 and halves.to_text().count("\nmap@5 ") == 27  # of one name all
