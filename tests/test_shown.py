"""How results are shown: equal rows as one, and the same table in four markups."""

import dataclasses
import html.parser
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl

RANKS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10], [1, 2]]
TRUTHS = [{7, 3, 5}, {4, 2, 8, 7}, set()]
ONE_OUT = tl.Hits.from_ranks([1, 3, 0, 2, 5], 5)


def labels(result):
    """Return the labels of the rows as printed."""
    rows = repr(result).splitlines()[1 : -len(result._page().notes)]
    return [row.split("  ")[0] for row in rows]


# Equal rows


def test_leave_one_out_has_fewer_rows():
    result = tl.top_k_eval(ONE_OUT, k=[1, 3, 5])
    assert labels(result) == ["hit = recall", "precision", "map = mrr", "ndcg"]
    assert "<th" in result._repr_html_() and "hit = recall" in result._repr_html_()
    assert len(list(result)) == len(result.terms.metrics) == 6
    assert [name for name in result.to_dict() if name.endswith("@3")] == [
        *("hit@3", "precision@3", "recall@3", "map@3", "ndcg@3", "mrr@3")
    ]


def test_rows_that_are_nearly_equal_stay_apart():
    """A discount of one's own is never the same by definition, whatever its values."""
    standard = tl.METRICS["mrr"]
    near = tl.Metric("near", "first", lambda r: np.where(r == 3, r * (1 + 1e-15), r), "1")
    twin = dataclasses.replace(standard, name="twin")
    result = tl.top_k_eval(ONE_OUT, k=[1, 3], metrics=[standard, near, twin])
    assert labels(result) == ["mrr = twin", "near"]
    first = tl.top_k_eval(ONE_OUT, k=[1, 2], metrics=[standard, near])
    assert labels(first) == ["mrr", "near"]


def test_only_rows_of_the_same_k_are_one():
    result = tl.top_k_eval(ONE_OUT, metrics=["hit@3", "recall@3", "mrr@3", "map@5", "cg@3", "cg@5"])
    assert labels(result) == ["hit = recall", "mrr", "map", "cg"]


def test_one_user_with_one_item_is_leave_one_out():
    assert labels(tl.top_k_eval([1], {1}, k=1)) == [
        *("hit = recall", "precision", "map = mrr", "ndcg")
    ]
    assert len(labels(tl.top_k_eval([1], {1, 2}, k=1))) == 6
    assert len(labels(tl.top_k_eval([], [], k=1))) == 6


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.integers(1, 3))
def test_leave_one_out_identities_to_the_last_bit(ranks, parts):
    """The spread too, of a whole and of merged parts."""
    pieces = np.array_split(np.array(ranks), parts)
    hits = [
        tl.Hits.from_ranks(
            piece,
            30,
        )
        for piece in pieces
        if len(piece)
    ]
    merged = sum(tl.top_k_eval(part, k=30) for part in hits)
    whole = tl.top_k_eval(tl.Hits.from_ranks(ranks, 30), k=30)
    for result in (whole, merged):
        for one, other in (("hit", "recall"), ("map", "mrr")):
            assert result.std(one).tobytes() == result.std(other).tobytes()
            assert result[one].tobytes() == result[other].tobytes()
    for name in ("recall", "map", "ndcg"):
        expected = whole.per_user(name).std(axis=0, ddof=1)
        np.testing.assert_allclose(whole.std(name), expected, rtol=1e-12, atol=1e-15)


# Markups


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
        assert {name for name, _ in attrs} <= {"style"}
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
    assert all(line.endswith(r" \\") and line.count(" & ") == 2 for line in body)
    assert body[-1].startswith(r"map\_\textbar{}$<$R$>$\&\% & ")
    assert re.findall(r"\d\.\d{4}", "\n".join(body)) == cells(result)
    assert r"{\scriptsize$\pm$\,0.0817}" in body[0]


def test_nothing_is_printed_as_an_interval_where_there_is_none():
    alone = tl.top_k_eval([1, 2], {2}, k=2, metrics="mrr")
    assert "±" not in alone._repr_html_() + alone.to_markdown() + alone.to_latex()
