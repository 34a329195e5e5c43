"""The rows of benchmarks/conformance: conventions, judgements, metrics of lists.

    python benchmarks/conformance --envs envs --inputs 4    # makes the environments
    TOPLIST_PEERS=envs pytest -m peers tests/metrics/test_peers.py

Peers whose source is read need no environment, nor does scipy; a peer without one is skipped.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "conformance"))

import conventions
import engine
import judgements
import lists

ENVIRONMENTS = Path(os.environ.get("TOPLIST_PEERS", "")).resolve()
INPUTS = {"conventions": 60, "judgements": 24, "lists": 8}
PEERS = [
    pytest.param(area, name, marks=pytest.mark.peers if peer.installs else ())
    for area in (conventions, judgements, lists)
    for name, peer in area.PEERS.items()
]


def reported(area, name):
    if name == "scipy":
        pytest.importorskip("scipy")
    return engine.report(area.__name__, name, ENVIRONMENTS, INPUTS[area.__name__])


@pytest.mark.parametrize(("area", "name"), PEERS)
def test_a_peer_gives_the_numbers_of_the_oracle_and_of_toplist(area, name):
    if area.PEERS[name].installs and not (ENVIRONMENTS / name / "ready").exists():
        pytest.skip(f"no environment of {name}")
    report = reported(area, name)
    for row in report.rows:
        assert row.oracle.n_values == row.toplist.n_values > 0, row.question
    assert not report.differences, str(report)


def asked_otherwise(monkeypatch, area, name, theirs, **changes):
    """Ask one question, of which something is changed, and return the report."""
    peer = area.PEERS[name]
    question = next(one for one in peer.questions if one.theirs == theirs)
    wrong = peer._replace(questions=[question._replace(**changes)])
    monkeypatch.setitem(area.PEERS, name, wrong)
    return reported(area, name)


CALIBRATION = "entropy(p, .99 q + .01 p)"
OTHERWISE = [
    (conventions, "opensearch", "ndcg", {"given": {"convention": "quepid"}}),
    (lists, "scipy", CALIBRATION, {"ours": "calibration(distance=kl,weights=rank)"}),
    (lists, "scipy", "pdist of rows, cosine", {"instead": None}),  # of all lists together
]


@pytest.mark.parametrize(("area", "name", "theirs", "changes"), OTHERWISE)
def test_other_words_are_found_out(monkeypatch, area, name, theirs, changes):
    report = asked_otherwise(monkeypatch, area, name, theirs, **changes)
    (row,) = report.rows
    assert row.oracle.differences and row.toplist.differences
    assert f"peer's {theirs}" in str(report)


def test_a_wrong_oracle_is_found_out(monkeypatch):
    right = lists.Population.here

    def wrong(population, side, question):
        more = 1e-8 if side == "by_oracle" else 0
        found = right(population, side, question).items()
        return {k: {u: x + more for u, x in row.items()} for k, row in found}

    monkeypatch.setattr(lists.Population, "here", wrong)
    (row,) = asked_otherwise(monkeypatch, lists, "scipy", CALIBRATION).rows
    assert len(row.oracle.differences) == row.oracle.n_values > 0
    assert not row.toplist.differences
