"""Comparisons of several runs, in every segment, and in LaTeX that says what was tested."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import toplist as tl

N = 120
TRUTH = {f"user {i}": set(np.random.default_rng(i).integers(0, 60, 5).tolist()) for i in range(N)}


def system(share, seed, truth=TRUTH, users=None, metrics="ndcg"):
    """Return the result of lists that begin with about a share of the relevant items."""
    draw = np.random.default_rng(seed)
    lists = {}
    for user, relevant in truth.items():
        found = [item for item in sorted(relevant) if draw.random() < share]
        lists[user] = list(dict.fromkeys([*found, *draw.integers(0, 60, 12).tolist()]))[:10]
    if users is not None:
        lists = {user: lists[user] for user in users}
        truth = {user: truth[user] for user in users}
    return tl.top_k_eval(lists, truth, k=[5, 10], metrics=metrics)


@pytest.fixture(scope="module")
def runs():
    return {name: [system(q, s) for s in (1, 2, 3)] for name, q in (("a", 0.2), ("b", 0.35))}


# Runs: users and runs are two sources of variance.


def test_means_of_runs_are_the_means_of_their_means(runs):
    both = tl.compare(runs)
    expected = np.mean([run["ndcg@10"] for run in runs["a"]])
    assert both.to_dict()["a"]["ndcg@10"] == pytest.approx(expected, rel=1e-15)
    assert both.systems == ["a", "b"] and next(iter(both.results)) == "a, run 1"
    assert "means over 3 independent runs of each system" in str(both)
    pytest.importorskip("pandas")
    frame = both.to_pandas()
    assert frame["run"].tolist() == [1, 1, 2, 2, 3, 3] * 2


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_runs_are_tested_as_arrays_of_their_values(runs, kind):
    found = tl.compare(runs, baseline="a", runs=kind).test("ndcg@10")
    users = list(TRUTH)
    values = {
        name: [dict(zip(run.users, run.per_user("ndcg@10"), strict=True)) for run in some]
        for name, some in runs.items()
    }
    assert set(values["a"][0]) == set(users)
    expected = tl.paired_tests(values, baseline="a", name="ndcg@10", runs=kind)
    for field in ("difference", "error", "df", "p", "low", "high", "error_users", "p_users", "n"):
        assert getattr(found[0], field) == getattr(expected[0], field)
    assert found[0].n == N  # never runs x users
    assert found[0].error > found[0].error_users
    assert "for models trained anew" in str(found)


def test_runs_in_another_order_of_users_are_the_same(runs):
    users = list(TRUTH)[::-1]
    turned = {
        "a": [system(0.2, s, users=users) for s in (1, 2, 3)],
        "b": runs["b"],
    }
    one, other = (tl.compare(some, baseline="a").test("ndcg@10")[0] for some in (runs, turned))
    assert (one.p, one.low, one.high) == (other.p, other.low, other.high)


def test_paired_runs_may_be_of_several_splits():
    other = {user: {item + 1 for item in relevant} for user, relevant in TRUTH.items()}
    splits = {
        name: [system(q, 1), system(q, 2, truth=other)] for name, q in (("a", 0.2), ("b", 0.35))
    }
    paired = tl.compare(splits, baseline="a", runs="paired")
    assert paired.differences == [] and paired.test("ndcg@10")[0].n == N
    with pytest.raises(ValueError, match="other ground truths of the same sizes"):
        tl.compare(splits, baseline="a").test("ndcg@10")


def test_what_runs_cannot_be(runs):
    one = runs["a"][0]
    with pytest.raises(ValueError, match="as many runs of every system; there are a 3, b 1"):
        tl.compare({"a": runs["a"], "b": one}, runs="paired")
    with pytest.raises(TypeError, match="'a' is list"):
        tl.compare({"a": [one, 0.5]})
    with pytest.raises(ValueError, match="'a' has no runs"):
        tl.compare({"a": []})
    with pytest.raises(ValueError, match="'a, run 1': rename a system"):
        tl.compare({"a": [one, one], "a, run 1": one})
    both = tl.compare(runs)
    for call in (lambda: both.band("ndcg"), both.power, lambda: both.anova("ndcg@10")):
        with pytest.raises(ValueError, match=r"several runs: test\(\) and equivalence\(\)"):
            call()
    mixed = tl.compare({"a": one, "b": runs["b"]}, baseline="a").test("ndcg@10")
    assert "ONE RUN" in str(mixed) and mixed[0].p != mixed[0].p


# Segments: p is corrected for all of them together.


SHARES = {"a": (0.2, 1), "b": (0.25, 2), "c": (0.5, 3)}


@pytest.fixture(scope="module")
def pair():
    return {name: system(*of) for name, of in SHARES.items()}


def segment(user):
    return "new" if int(user.split()[1]) % 3 == 0 else "old"


def test_each_segment_is_tested_as_its_users_alone(pair):
    found = tl.compare(pair, baseline="a").by({user: segment(user) for user in TRUTH})
    tests = found.test("ndcg@10")
    assert list(found) == ["new", "old"] and tests.n_family == 4
    raw = []
    for label in found:
        users = [user for user in TRUTH if segment(user) == label]
        results = {name: system(*of, users=users) for name, of in SHARES.items()}
        alone = tl.compare(results, baseline="a").test("ndcg@10", correction="none")
        for one in alone:
            mine = tests[label, one.system, "ndcg@10"]
            assert (mine.p, mine.low, mine.n) == (one.p, one.low, len(users))
            raw.append(one.p)
    corrected = tl.inference.adjust(raw, "holm")
    assert [one.p_adjusted for one in tests] == corrected.tolist()
    assert "after Holm over 4 comparisons in 2 segments" in str(tests)
    assert "after Holm over 8 comparisons in 2 segments" in str(found)  # ndcg@5 as well
    assert [one.segment for one in tests] == ["new", "new", "old", "old"]


def test_labels_in_an_order_are_in_that_of_the_first_system(pair):
    users = list(TRUTH)[::-1]
    turned = {"a": pair["a"], "b": system(0.25, 2, users=users)}
    labels = [segment(user) for user in pair["a"].users]
    by_place = tl.compare(turned).by(labels)
    by_key = tl.compare(turned).by({user: segment(user) for user in TRUTH})
    assert by_place.to_dict() == by_key.to_dict()


def test_users_without_a_label_are_a_segment(pair):
    found = tl.compare(pair).by({user: "new" for user in TRUTH if segment(user) == "new"})
    assert list(found) == ["new", None] and "(no label)" in str(found)
    assert "best of its line; not tested" in str(found)
    pytest.importorskip("pandas")
    assert found.to_pandas()["segment"].isna().sum() == len(found[None].to_pandas())


def test_what_segments_refuse(pair):
    found = tl.compare(pair).by({user: segment(user) for user in TRUTH})
    with pytest.raises(ValueError, match="'maxt' is over comparisons of the same users"):
        found.test(correction="maxt")
    with pytest.raises(KeyError, match="'older': the segments are 'new', 'old'"):
        found["older"]
    few = {"a": pair["a"], "b": system(0.3, 1, users=[u for u in TRUTH if segment(u) == "new"])}
    with pytest.raises(ValueError, match="segment 'old' has no user of b"):
        tl.compare(few).by({user: segment(user) for user in TRUTH})


# LaTeX


def cells(text, system):
    line = next(line for line in text.splitlines() if line.startswith(f"{system} &"))
    return line.removesuffix(r" \\").split(" & ")[1:]


def test_bold_is_what_differs_after_the_correction(pair):
    same = {"a": pair["a"], "twin": pair["a"], "c": pair["c"], "d": system(0.52, 4)}
    text = tl.compare(same).to_latex()
    assert all(cell.startswith(r"\textbf") for cell in cells(text, "(c) c") + cells(text, "(d) d"))
    assert not any("textbf" in cell for cell in cells(text, "(a) a"))
    assert all(cell.endswith("$^{ab}$") for cell in cells(text, "(c) c"))
    near = tl.compare({"a": pair["a"], "b": system(0.21, 9)}).to_latex()
    assert "textbf" not in near and "no difference was found: paired t over 120 users" in near


def test_letters_go_on_after_z():
    low = system(0.1, 0)
    many = {f"s{i}": low for i in range(29)} | {"top": system(0.9, 1)}
    mark = re.search(r"\^\{(\w+)\}", cells(tl.compare(many).to_latex(), "(ad) top")[0])
    assert mark[1] == "abcdefghijklmnopqrstuvwxyz" + "aaabac"


def test_a_baseline_has_marks_and_the_best_is_bold_if_it_differs(pair):
    text = tl.compare(pair, baseline="a").to_latex(percent=True, digits=1)
    assert cells(text, "c")[0].startswith(r"\textbf{") and r"$^{\ddagger}$" in cells(text, "c")[0]
    assert cells(text, "a")[0] == f"{100 * pair['a']['ndcg@5']:.1f}"
    assert "means in percent" in text
    turned = tl.compare(pair, baseline="c").to_latex()
    assert cells(turned, "c")[0].startswith(r"\textbf{") and "blacktriangledown" in turned


def test_intervals_digits_caption_and_label(pair):
    text = tl.compare(pair).to_latex(intervals=True, digits=3, caption="A & B", label="tab:x-1")
    assert r"\begin{table}" in text and r"\caption{A \& B}" in text and r"\label{tab:x-1}" in text
    mean, (low, high) = pair["a"]["ndcg@5"], pair["a"].interval("ndcg@5")
    shown = rf"{mean:.3f} {{\scriptsize$\pm$\,{high - mean:.3f}}}"
    assert cells(text, "(a) a")[0] == shown and high - mean == pytest.approx(mean - low)
    rows = tl.compare(pair, baseline="a").test("ndcg@5").to_latex(intervals=False, digits=2)
    assert "interval" not in rows[rows.index("tabular") : rows.index("bottomrule")]
    with pytest.raises(ValueError, match="digits must be a whole number from 0 to 15, not -1"):
        tl.compare(pair).to_latex(digits=-1)
    with pytest.raises(ValueError, match="label 'a b'"):
        tl.compare(pair).to_latex(label="a b")


def test_equal_metrics_have_their_marks_where_each_has_a_column():
    truth = {user: {min(items)} for user, items in TRUTH.items()}
    names = ["map", "mrr"]
    both = {"a": system(0.1, 1, truth, metrics=names), "b": system(0.8, 2, truth, metrics=names)}
    compared = tl.compare(both, baseline="a")
    assert compared.to_text().count("‡") - 1 == compared.to_text(every_metric=True).count("‡") - 3
    text = compared.to_latex(every_metric=True)
    assert [r"\textbf" in cell for cell in cells(text, "b")] == [True] * 4


def test_stars_in_names_are_no_markup(pair):
    text = tl.compare({"*a*": pair["a"], "`b`": pair["c"]}).to_markdown()
    assert r"| \*a\* |" in text and r"| \`b\` |" in text and "| **0." in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_it_compiles(pair, tmp_path):
    odd = {"a_1 & 5 %": pair["a"], r"[b] #~^{\x}": pair["b"], "c": pair["c"]}
    compared = tl.compare(odd, baseline="c")
    parts = [
        *(tl.compare(odd).to_latex(), compared.to_latex(caption="50 %", label="t", intervals=True)),
        *(compared.test().to_latex(), compared.band("ndcg", "a_1 & 5 %").to_latex()),
        compared.by({user: segment(user) for user in TRUTH}).to_latex(),
    ]
    page = "\n\n".join(parts)
    head = r"\documentclass{article}\usepackage{booktabs}\usepackage{amssymb}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{page}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


# What a first reader stumbled over


def test_bold_and_marks_with_several_baselines(pair):
    twins = tl.compare({"a": pair["a"], "b": system(0.21, 9), "c": pair["c"]}, baseline=["a", "b"])
    text = twins.to_latex()
    assert r"\textbf" in cells(text, "c")[0] and r"\textbf" not in cells(text, "b")[0]
    assert "better, $" in text and "worse than each of a, b" in text
    near = {"a": pair["a"], "b": pair["c"], "c": system(0.5, 30)}
    mixed = tl.compare(near, baseline=["a", "b"])
    assert mixed.test()["c", "a", "ndcg@10"].mark == "‡"
    assert mixed.test()["c", "b", "ndcg@10"].mark == ""
    assert mixed.test().signs["c", "ndcg@10"] == "" and "‡" not in str(mixed).split("\n")[3]


def test_clusters_are_counted_with_runs_too(runs):
    clusters = {user: number // 3 for number, user in enumerate(TRUTH)}
    found = tl.compare(runs, baseline="a").test("ndcg@10", clusters=clusters)
    assert "over 120 users in 40 clusters" in str(found)
    assert "and 3 independent runs of each system" in found.sentence()


def test_other_truths_of_the_same_sizes_have_no_best():
    other = {user: {item + 100 for item in items} for user, items in TRUTH.items()}
    both = tl.compare({"a": system(0.2, 1), "b": system(0.5, 2, other)})
    assert not both.comparable and set(both.best()["ndcg@10"]) == set()
    assert "DIFFERENT GROUND TRUTHS: as many relevant items, but others" in str(both)


def test_equivalence_says_what_it_is(pair):
    both = tl.compare(pair, baseline="a")
    row = both.equivalence("ndcg@10", margin=0.3).to_dict()[0]
    how = [row[key] for key in ("method", "alternative", "margin", "level")]
    assert how == ["equivalence", "within", 0.3, pytest.approx(0.9)]
    assert both.test("ndcg@10").to_dict()[0]["margin"] is None
    for wrong in (True, 0, "a"):
        with pytest.raises(ValueError, match="margin must be a number above 0"):
            both.equivalence("ndcg@10", margin=wrong)
    with pytest.raises(TypeError, match="margin is None"):
        both.equivalence("ndcg@10", margin=None)
    with pytest.raises(ValueError, match="level must be above 0.5"):
        both.equivalence("ndcg@10", margin=0.1, level=0.4)


def test_nothing_is_corrected_for_twice(pair):
    with pytest.raises(ValueError, match="'ndcg@5' is there twice"):
        tl.compare(pair).test(["ndcg@5", "ndcg@5"])
    with pytest.raises(ValueError, match="baseline 'a' is given twice"):
        tl.compare(pair, baseline=["a", "a"])
    for names, error in (([], ValueError), (5, TypeError)):
        with pytest.raises(error, match="names is"):
            tl.compare(pair).test(names)
    with pytest.raises(TypeError, match="baseline is 0: give the name"):
        tl.compare(pair, baseline=0)


def test_labels_that_look_alike_are_told_apart(pair):
    labels = {user: (1, "1", "all")[number % 3] for number, user in enumerate(TRUTH)}
    found = tl.compare(pair, baseline="a").by(labels)
    segments = {one.segment for one in found.test("ndcg@10")}
    assert segments == {"1", "'1'", "'all'"} and "in 3 segments" in str(found)
    assert "'all'" in str(found) and "\nall " in str(found)


def test_the_forest_names_segments(pair):
    pytest.importorskip("matplotlib")
    found = tl.compare(pair, baseline="a").by({user: segment(user) for user in TRUTH})
    drawn = found.test("ndcg@10").plot()
    words = [label.get_text() for label in drawn.get_yticklabels()]
    assert len(set(words)) == 4 and any("(new)" in word for word in words)


def test_only_shares_are_in_percent():
    both = {
        name: tl.top_k_eval([[1, 7], [3, 4]], [{1, 2}, {3, 5}], 2, metrics=["hit", "dcg"])
        for name in ("a", "b")
    }
    text = tl.compare(both).to_latex(percent=True)
    assert cells(text, "(a) a") == ["100.00", "1.0000"]
    assert "means in percent, except dcg" in text


def test_the_sentence_says_whose_interval_it_is(pair):
    both = tl.compare(pair, baseline="a")
    one_sided = both.test("ndcg@10", alternative="greater").sentence()
    assert "two-sided intervals are 95 %" in one_sided
    signs = both.test("ndcg@10", method="sign")
    assert "by the t test" in signs.sentence() and "does not test the mean" in signs.sentence()
    assert "the intervals are those of the t test" in str(signs)


def test_metrics_without_a_value_for_some_users():
    truth = {"u": {1}, "v": {2}, "w": {3}}
    lists = {"a": {"u": [1], "v": [2]}, "b": {"u": [9], "v": [2], "w": [3]}}
    results = {
        name: tl.top_k_eval(
            *(some, truth, 1),
            metrics=["hit", "average_popularity"],
            item_counts={1: 5, 2: 4, 3: 3, 9: 1},
        )
        for name, some in lists.items()
    }
    both = tl.compare(results, baseline="a")
    assert both.test().names == ["hit@1"]
    with pytest.raises(ValueError, match=r"a has no average_popularity@1 for 1 of 3 users, 'w'"):
        both.test("average_popularity@1")


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
