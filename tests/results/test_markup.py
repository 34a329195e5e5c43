"""The same table in text, Markdown, LaTeX and HTML: cells, names, no control characters."""

import dataclasses
import re

import pytest
from reporting.pages import Reader

import toplist as tl
from toplist.cli import main

ODD = dataclasses.replace(tl.METRICS["map"], name="map_|<R>&%", divisor="R")
RESULT = tl.top_k_eval(
    [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10], [1, 2]],
    [{7, 3, 5}, {4, 2, 8, 7}, set()],
    k=[1, 5],
    metrics=["recall", "ndcg", ODD],
)
TAGS = {
    *("div", "table", "thead", "tbody", "tr", "th", "td", "span", "p", "b", "br"),
    *("details", "summary"),
}


def numbers(text):
    return re.findall(r"\d\.\d{4}", text)


CELLS = numbers("\n".join(repr(RESULT).splitlines()[1:4]))


def test_html_says_what_the_terminal_says_without_script_address_or_colour_of_its_own():
    page = Reader(RESULT._repr_html_())
    assert numbers(page.shown) == CELLS
    assert all(line in page.shown for line in repr(RESULT).splitlines()[-2:])
    assert "divided by min(k,R), best gains first" not in page.shown
    assert "map_|<R>&%@k = sum over r_j <= k of j / r_j, divided by R" in page.shown
    both = Reader(tl.compare({"a": RESULT, "b": RESULT})._repr_html_())
    elements = page.elements + both.elements
    assert {tag for tag, _ in elements} <= TAGS
    assert {name for _, attributes in elements for name in attributes} == {"scope", "style"}
    for style in (attributes.get("style", "") for _, attributes in elements):
        assert not re.search(r"url\(|background|(^|[;\s])color:|#[0-9a-f]{3}", style)


def test_markdown_and_latex_say_what_the_terminal_says():
    lines = RESULT.to_markdown().splitlines()
    assert lines[:2] == ["|  | @1 | @5 |", "| --- | ---: | ---: |"]
    assert lines[4].startswith(r"| map\_\|&lt;R>&% | ") and numbers("\n".join(lines[2:5])) == CELLS
    assert lines[-1] == repr(RESULT).splitlines()[-1]
    lines = RESULT.to_latex().splitlines()
    assert lines[2] == "% 2 of 3 users evaluated, 1 skipped (no relevant items)"
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert all(line.endswith(r" \\") and line.count(" & ") in (2, 3, 4) for line in body)
    assert body[-1].startswith(r"map\_\textbar{}$<$R$>$\&\% & ")
    assert numbers("\n".join(body)) == CELLS and r"{\scriptsize[0.0000, 0.8211]}" in body[0]
    alone = tl.top_k_eval([1, 2], {2}, k=2, metrics="mrr")  # which has no interval
    assert "±" not in alone._repr_html_() + alone.to_markdown() + alone.to_latex()


def test_latex_names_the_package_of_a_mark_in_its_legend():
    results = {name: tl.top_k_eval([[1, 2]] * 9, [{1}] * 9, k=2) for name in "ab"}
    text = tl.compare(results, baseline="a").to_latex()
    assert ("blacktriangledown" in text) == ("amssymb" in text)


def test_a_cell_shows_both_ends_where_they_differ_and_columns_of_both_kinds_are_aligned():
    result = tl.top_k_eval([[1], [2], [3]], [{1, 7}, {2}, {3}], k=1, metrics=["hit", "recall"])
    assert repr(result).splitlines()[1:-1] == [
        "hit     1.0000 [0.4385, 1.0000]",
        "recall  0.8333 [0.1162, 1.0000]",
        "convention standard: mean over users",
        "95 % interval, ± half or [low, high]: Wilson for hit; Student's t for recall "
        "(rough: only 3 users)",
    ]
    lists, truths = (
        [[i, -i] for i in range(1, 41)],
        [{i if i % 3 else 99, 77} for i in range(1, 41)],
    )
    result = tl.top_k_eval(lists, truths, k=[1, 2], metrics=["hit", "precision"])
    hit, precision = repr(result).splitlines()[1:3]
    assert hit.index("0.6750") == precision.index("0.6750")
    assert hit.rindex("0.6750") == precision.index("0.3375")
    latex = result.to_latex()
    assert r"\begin{tabular}{lr@{ }lr@{ }l}" in latex
    assert r" & \multicolumn{2}{r}{@1} & \multicolumn{2}{r}{@2} \\" in latex
    assert r"precision & 0.6750 & {\scriptsize$\pm$\,0.1517}" in latex


def of_other_users(*names):
    """Return a comparison whose notes name systems, the first of them over fewer users."""
    a, b = (tl.top_k_eval([[2], [1]][:n], [{1}, {1}][:n], k=1, metrics="hit") for n in (1, 2))
    return tl.compare(dict(zip(names, (a, b, b), strict=True)))


def test_names_and_notes_are_escaped():
    latex = of_other_users("x\n\\input{evil}", "[1cm]y", "*z\u2028\\input{evil}").to_latex()
    assert all("\\input" not in line or line.startswith("%") for line in latex.split("\n"))
    assert "\u2028" not in latex and "\n{[}1cm]y & " in latex and "\n{*}z " in latex
    both = of_other_users("<script>", "# y", "![z](http://z)")
    markdown = both.to_markdown()
    assert "DIFFERENT USERS" in markdown and "<script>" not in markdown and "](" not in markdown
    assert not any(line.startswith("#") for line in markdown.split("\n"))
    assert "<script>" not in both._repr_html_()


IN_MARKDOWN = {
    "_base_": r"\_base\_",
    "__init__": r"\_\_init\_\_",
    "item_knn_v2": "item_knn_v2",  # no emphasis within a word
    "(_x_)": r"(\_x\_)",
    "~~x~~": r"\~\~x\~\~",
    "US$5 v $x$": r"US\$5 v \$x\$",
    "a&amp;b &#36; R&D; A & B": r"a\&amp;b \&#36; R\&D; A & B",
    r"*a* \_ `b`": r"\*a\* \\\_ \`b\`",
    "<i>": "&lt;i>",
}


@pytest.mark.parametrize("name", IN_MARKDOWN)
def test_markdown_shows_a_name_as_it_is(name):
    lines = tl.compare({name: RESULT, "other": RESULT}).to_markdown().splitlines()
    assert any(line.startswith(f"| {IN_MARKDOWN[name]} | ") for line in lines)


def test_control_characters_reach_no_terminal(tmp_path, capsys):
    evil = tmp_path / "e\x1b[31mvil.csv"
    for path in (evil, tmp_path / "o.csv", tmp_path / "t.csv"):
        path.write_text("user_id,item_id,rank\nu,a,1\n")
    files = [str(evil), str(tmp_path / "o.csv"), str(tmp_path / "t.csv")]
    assert main(["eval", *files, "-k", "1", "-m", "hit"]) == 0
    assert main(["eval", str(evil), str(tmp_path / "no\x1b.csv"), "-k", "1"]) == 1
    evil.write_text("user_id,item_id\nu,a\n")
    assert main(["eval", *files, "-k", "1"]) == 1
    assert main(["check", files[1], files[2]]) == 0
    with pytest.raises(SystemExit):
        main(["eval", *files, "--\x1b[31m"])
    found = capsys.readouterr()
    assert "\x1b" not in found.out + found.err
    assert r"e\x1b[31mvil" in found.out and r"e\x1b[31mvil" in found.err


def test_wide_tables_become_columns_below_each_other_and_a_terminal_gets_its_width(monkeypatch):
    truths = {user: {user % 7, 9} for user in range(40)}
    lists = {user: [user % 5, 9, *range(20, 40)] for user in truths}
    result = tl.top_k_eval(lists, truths, k=[1, 3, 5, 10, 20])
    both = tl.compare({"a": result, "b": result}, baseline="a")
    for one in (result, both, both.test(), both.band("ndcg")):
        whole, narrow = one.to_text(), one.to_text(width=60)
        assert max(map(len, whole.splitlines())) > 60 >= max(map(len, narrow.splitlines()))
        assert {*whole.split()} - {"="} == {*narrow.split()} - {"="}
    blocks = [block.splitlines() for block in result.to_text(width=60).split("\n\n")[:-1]]
    heads = [line for block in blocks for line in block[0].split()]
    assert heads == ["@1", "@3", "@5", "@10", "@20"]
    assert len(blocks) > 1 and all(block[1].startswith("hit ") for block in blocks)
    assert repr(result) == result.to_text() == result.to_text(width=500)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    assert repr(result) == result.to_text(width=60) != result.to_text()
