"""Metrics of the lists by the peers of benchmarks/lists.py.

    python benchmarks/lists.py --envs envs          # makes the environments
    TOPLIST_PEERS=envs pytest -m peers tests/beyond/test_list_peers.py

Elliot, ClayRS and LensKit 2026 need no environment; a peer without one is skipped.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import lists

ENVIRONMENTS = Path(os.environ.get("TOPLIST_PEERS", "")).resolve()
HERE = [name for name, peer in lists.PEERS.items() if not peer.installs]
ELSEWHERE = [name for name, peer in lists.PEERS.items() if peer.installs]


@pytest.mark.parametrize(
    "name", [*HERE, *(pytest.param(name, marks=pytest.mark.peers) for name in ELSEWHERE)]
)
def test_a_peer_gives_the_numbers_of_the_oracle_and_of_toplist(name):
    if name in ELSEWHERE and not (ENVIRONMENTS / name / "ready").exists():
        pytest.skip(f"no environment of {name}")
    report = lists.report(name, ENVIRONMENTS, lists.population(60))
    assert all(row.n_values for row, _ in report.rows)
    assert report.differences == [], "\n".join(lists.details(report))


@pytest.mark.parametrize("theirs", ["ARP", "Gini"])  # of users, and of all lists together
def test_a_wrong_formula_is_found_out(monkeypatch, theirs):
    elliot = lists.PEERS["elliot"]
    right = next(question for question in elliot.questions if question.theirs == theirs)

    def raised(world, subject, k):
        return right.oracle(world, subject, k) + 1e-8

    wrong = right._replace(oracle=raised)
    monkeypatch.setitem(lists.PEERS, "elliot", elliot._replace(questions=(wrong,)))
    report = lists.report("elliot", ENVIRONMENTS, lists.population(20))
    ((found, beside),) = report.rows
    assert len(found.differences) == found.n_values > 0
    assert not beside.differences and found.n_values == beside.n_values
    assert f"peer's {theirs}" in "\n".join(lists.details(report))
