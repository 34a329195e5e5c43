"""Comparisons in LaTeX that says what was tested."""

import shutil
import subprocess

import pytest
from systems import TRUTH, cells, segment, system

import toplist as tl


def test_bold_is_what_differs_after_the_correction(pair):
    same = {"a": pair["a"], "twin": pair["a"], "c": pair["c"], "d": system(0.52, 4)}
    text = tl.compare(same).to_latex()
    assert all(cell.startswith(r"\textbf") for cell in cells(text, "c") + cells(text, "d"))
    assert not any("textbf" in cell for cell in cells(text, "a"))
    near = tl.compare({"a": pair["a"], "b": system(0.21, 9)}).to_latex()
    assert "textbf" not in near and "no difference was found: paired t over 120 users" in near


def test_a_baseline_has_marks_and_the_best_is_bold_if_it_differs(pair):
    text = tl.compare(pair, baseline="a").to_latex(digits=1)
    assert cells(text, "c")[0].startswith(r"\textbf{") and r"$^{\ddagger}$" in cells(text, "c")[0]
    assert cells(text, "a")[0] == f"{pair['a']['ndcg@5']:.1f}"
    turned = tl.compare(pair, baseline="c").to_latex()
    assert cells(turned, "c")[0].startswith(r"\textbf{") and "blacktriangledown" in turned


def test_intervals_digits_caption_and_label(pair):
    text = tl.compare(pair).to_latex(intervals=True, digits=3, caption="A & B", label="tab:x-1")
    assert r"\begin{table}" in text and r"\caption{A \& B}" in text and r"\label{tab:x-1}" in text
    plain, captioned = tl.compare(pair).to_latex(), tl.compare(pair).to_latex(caption="A")
    assert r"\begin{table}" not in plain and r"\begin{table}" in captioned
    mean, (low, high) = pair["a"]["ndcg@5"], pair["a"].interval("ndcg@5")
    shown = rf"{mean:.3f} {{\scriptsize$\pm$\,{high - mean:.3f}}}"
    assert cells(text, "a")[0] == shown and high - mean == pytest.approx(mean - low)
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
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_bold_and_marks_with_several_baselines(pair):
    twins = tl.compare({"a": pair["a"], "b": system(0.21, 9), "c": pair["c"]}, baseline=["a", "b"])
    text = twins.to_latex()
    assert r"\textbf" in cells(text, "c")[0] and r"\textbf" not in cells(text, "b")[0]
    assert "better, $" in text and "worse than each of a, b" in text
    near = {"a": pair["a"], "b": pair["c"], "c": system(0.5, 30)}
    mixed = tl.compare(near, baseline=["a", "b"])
    assert mixed.test()["c", "a", "ndcg@10"].mark == "‡"
    assert mixed.test()["c", "b", "ndcg@10"].mark == ""
    assert mixed.best()["ndcg@5"] == ["c"] and r"\textbf" not in cells(mixed.to_latex(), "c")[0]
    assert mixed.test().signs["c", "ndcg@10"] == "" and "‡" not in str(mixed).split("\n")[3]
