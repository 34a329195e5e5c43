"""The same table in text, Markdown, LaTeX and HTML: cells, names, no control characters."""

import dataclasses
import html.parser
import re

import pytest

import toplist as tl
from toplist.cli import main

RANKS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10], [1, 2]]

TRUTHS = [{7, 3, 5}, {4, 2, 8, 7}, set()]


@pytest.fixture
def result():
    odd = dataclasses.replace(tl.METRICS["map"], name="map_|<R>&%", divisor="R")
    return tl.top_k_eval(RANKS, TRUTHS, k=[1, 5], metrics=["recall", "ndcg", odd])


def cells(result):
    """Return the numbers of the terminal's table."""
    return re.findall(r"\d\.\d{4}", "\n".join(repr(result).splitlines()[1:4]))


class Page(html.parser.HTMLParser):
    """Collects tags, styles and words; counts what is left open."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.styles, self.words, self.open = [], [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.styles += [value for name, value in attrs if name == "style"]
        assert {name for name, _ in attrs} <= {"scope", "style"}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


def test_html_says_what_the_terminal_says(result):
    page = Page(result._repr_html_())
    assert page.open == []
    assert re.findall(r"\d\.\d{4}", page.words) == cells(result)
    for line in repr(result).splitlines()[-2:]:
        assert line in page.words
    assert "map_|<R>&%" in page.words
    assert "divided by min(k,R), best gains first" not in page.words
    assert "map_|<R>&%@k = sum over r_j <= k of j / r_j, divided by R" in page.words


def test_html_has_no_script_no_address_and_no_colour_of_its_own(result):
    page = Page(result._repr_html_() + tl.compare({"a": result, "b": result})._repr_html_())
    assert set(page.tags) <= {
        *("div", "table", "thead", "tbody", "tr", "th", "td", "span", "p", "b", "br"),
        *("details", "summary"),
    }
    assert page.styles
    for style in page.styles:
        assert "url(" not in style and "background" not in style
        assert not re.search(r"(^|[;\s])color:", style)
        assert not re.search(r"#[0-9a-f]{3}", style)


def test_markdown(result):
    lines = result.to_markdown().splitlines()
    assert lines[:2] == ["|  | @1 | @5 |", "| --- | ---: | ---: |"]
    assert lines[4].startswith(r"| map_\|&lt;R>&% | ")
    assert re.findall(r"\d\.\d{4}", "\n".join(lines[2:5])) == cells(result)
    assert lines[-1] == repr(result).splitlines()[-1]


def test_latex(result):
    lines = result.to_latex().splitlines()
    assert lines[2] == "% 2 of 3 users evaluated, 1 skipped (no relevant items)"
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert all(line.endswith(r" \\") and line.count(" & ") in (2, 3, 4) for line in body)
    assert body[-1].startswith(r"map\_\textbar{}$<$R$>$\&\% & ")
    assert re.findall(r"\d\.\d{4}", "\n".join(body)) == cells(result)
    assert r"{\scriptsize[0.0000, 0.8211]}" in body[0]


def test_nothing_is_printed_as_an_interval_where_there_is_none():
    alone = tl.top_k_eval([1, 2], {2}, k=2, metrics="mrr")
    assert "±" not in alone._repr_html_() + alone.to_markdown() + alone.to_latex()


def of_other_users(*names):
    """Return a comparison whose notes name systems, the first of them over fewer users."""
    a, b = (tl.top_k_eval([[2], [1]][:n], [{1}, {1}][:n], k=1, metrics="hit") for n in (1, 2))
    return tl.compare(dict(zip(names, (a, b, b), strict=True)))


def test_a_cell_shows_both_ends_where_they_differ():
    result = tl.top_k_eval([[1], [2], [3]], [{1, 7}, {2}, {3}], k=1, metrics=["hit", "recall"])
    _, hit, recall, rules, line, _ = repr(result).splitlines()
    assert hit == "hit     1.0000 [0.4385, 1.0000]"
    assert recall == "recall  0.8333 [0.1162, 1.0000]"
    assert rules == "convention standard: mean over users"
    assert line == (
        "95 % interval, ± half or [low, high]: Wilson for hit; Student's t for recall "
        "(rough: only 3 users)"
    )
    assert "| hit | 1.0000 [0.4385, 1.0000] |" in result.to_markdown()
    assert r"hit & 1.0000 {\scriptsize[0.4385, 1.0000]} \\" in result.to_latex()
    assert ">[0.4385, 1.0000]</span>" in result._repr_html_()


def test_columns_of_both_kinds_are_aligned():
    lists = [[i, -i] for i in range(1, 41)]
    truths = [{i if i % 3 else 99, 77} for i in range(1, 41)]
    result = tl.top_k_eval(lists, truths, k=[1, 2], metrics=["hit", "precision"])
    hit, precision = repr(result).splitlines()[1:3]
    assert [hit.index("0.6750"), hit.rindex("0.6750")] == [
        precision.index("0.6750"), precision.index("0.3375")
    ]  # fmt: skip
    assert "(rough where few users have a value other than 0: 27 for precision@1)" in repr(result)
    latex = result.to_latex()
    assert r"\begin{tabular}{lr@{ }lr@{ }l}" in latex
    assert r" & \multicolumn{2}{r}{@1} & \multicolumn{2}{r}{@2} \\" in latex
    assert r"precision & 0.6750 & {\scriptsize$\pm$\,0.1517}" in latex


def test_latex_keeps_notes_in_comments_and_escapes_names():
    latex = of_other_users("x\n\\input{evil}", "[1cm]y", "*z\u2028\\input{evil}").to_latex()
    for line in latex.split("\n"):
        assert "\\input" not in line or line.startswith("%")
    assert "\u2028" not in latex and "\n{[}1cm]y & " in latex and "\n{*}z " in latex


def test_markdown_and_html_escape_notes():
    both = of_other_users("<script>", "# y", "![z](http://z)")
    markdown = both.to_markdown()
    assert "DIFFERENT USERS" in markdown
    assert "<script>" not in markdown and "](" not in markdown
    assert not any(line.startswith("#") for line in markdown.split("\n"))
    assert "<script>" not in both._repr_html_()


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


def test_wide_tables_become_columns_below_each_other_and_notes_are_wrapped():
    truths = {user: {user % 7, 9} for user in range(40)}
    lists = {user: [user % 5, 9, *range(20, 40)] for user in truths}
    result = tl.top_k_eval(lists, truths, k=[1, 3, 5, 10, 20])
    both = tl.compare({"a": result, "b": result}, baseline="a")
    for one in (result, both, both.test(), both.band("ndcg")):
        whole, narrow = one.to_text(), one.to_text(width=60)
        assert max(map(len, whole.splitlines())) > 80 >= 60 >= max(map(len, narrow.splitlines()))
        words = {word for word in whole.split() if word != "="}
        assert words == {word for word in narrow.split() if word != "="}
    blocks = [block.splitlines() for block in result.to_text(width=60).split("\n\n")[:-1]]
    assert [line for block in blocks for line in block[0].split()] == [
        "@1",
        "@3",
        "@5",
        "@10",
        "@20",
    ]
    assert len(blocks) > 1 and all(block[1].startswith("hit ") for block in blocks)
    assert result.to_text(width=500) == result.to_text()


def test_a_terminal_gets_its_own_width(monkeypatch):
    result = tl.top_k_eval([[1, 2], [2, 3]], [{1}, {9, 3}], k=[1, 2, 3, 4, 5])
    assert repr(result) == result.to_text()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    assert repr(result) == result.to_text(width=50) != result.to_text()
