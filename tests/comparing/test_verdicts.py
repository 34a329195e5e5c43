"""How a gate is said: sentences, tables, dicts."""

import json
import math
from dataclasses import replace

import pytest

import toplist as tl
from toplist.comparing.gating import GateRow

TRUTH = {f"u{i}": {i % 7} for i in range(600)}


def result(n):
    """Return a result in which n users miss what they hit otherwise."""
    lists = {u: [i * i % 7, 8, (i * i + 1) % 7] for i, u in enumerate(TRUTH)}
    missed = {user: [8, 9] for user in [*TRUTH][:n]}
    return tl.top_k_eval(lists | missed, TRUTH, metrics=["ndcg@5", "recall@5"])


BASE, WORSE = result(0), result(200)


def test_it_is_said_as_a_person_would_say_it():
    row = GateRow("ndcg@10", "not worse", 0.3, 0.3021, -0.0021, -0.0049, 0.0007, 900, 400, 0.005)
    row = replace(row, p_not_worse=0.021, p_worse=0.979)
    sentence = "ndcg@10 -0.0021 [-0.0049, +0.0007]: not worse than -0.005 (p = 0.021, one-sided)"
    assert str(row) == sentence
    worse = replace(row, verdict="worse", p_worse=0.0249, p_not_worse=0.9751)
    assert str(worse).endswith("worse than -0.005 (p = 0.0249, one-sided)")
    near = replace(row, verdict="undecided", low=-0.005004, n_needed=math.inf)
    assert "[-0.005004, +0.000700]: undecided at -0.005 (" in str(near)
    assert str(near).endswith("; no number of users would decide at this difference")
    part = replace(worse, segment="UK", p_adjusted=0.004)
    assert str(part).startswith("ndcg@10 of UK -0.0021") and "p = 0.004 after Holm" in str(part)


def test_tables():
    by = {user: i < 200 for i, user in enumerate(TRUTH)}
    found = tl.gate(WORSE, BASE, {"ndcg@5": 0.2}, floors={"recall@5": 0.99}, by=by)
    text = found.to_markdown()
    head = "| metric | base | new | difference | 95 % interval | verdict |"
    assert text.startswith(f"**Gate: worse**\n\n{head}\n")
    assert "| **below the floor 0.99** |" in text and "| ndcg@5 | users | base | new |" in text
    assert "**bold**: fails the gate" in text and "| not worse than -0.2 |" in text
    assert "<table" in found.to_html() and r"\begin{tabular}" in found.to_latex()
    assert repr(found) == found.to_text()
    assert max(map(len, found.to_text(width=70).splitlines())) <= 70
    assert found.to_text().splitlines()[0] == str(found.rows[0])


def test_to_dict_and_to_pandas():
    found = tl.gate(WORSE, BASE, {"ndcg@5": 0.01}, floors={"recall@5": 0.1})
    whole = found.to_dict()
    assert (whole["verdict"], whole["passed"], whole["level"]) == ("worse", False, 0.95)
    assert [row["name"] for row in whole["rows"]] == ["ndcg@5", "recall@5"]
    assert whole["rows"][0]["p"] == found.rows[0].p_worse and json.dumps(whole)
    pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert frame["verdict"].tolist() == ["worse", "above"]
