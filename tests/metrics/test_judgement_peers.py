"""Groups, judgements, ERR and levels of recall by the peers of benchmarks/judgements.py.

    python benchmarks/judgements.py --envs envs          # makes the environments
    TOPLIST_PEERS=envs pytest -m peers tests/metrics/test_judgement_peers.py

AutoRAG and LongMemEval need no environment; a peer without one is skipped.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import judgements

ENVIRONMENTS = Path(os.environ.get("TOPLIST_PEERS", "")).resolve()
HERE = [name for name, peer in judgements.PEERS.items() if not peer.installs]
ELSEWHERE = [name for name, peer in judgements.PEERS.items() if peer.installs]


@pytest.mark.parametrize(
    "name", [*HERE, *(pytest.param(name, marks=pytest.mark.peers) for name in ELSEWHERE)]
)
def test_a_peer_gives_the_numbers_of_the_oracle_and_of_toplist(name):
    if name in ELSEWHERE and not (ENVIRONMENTS / name / "ready").exists():
        pytest.skip(f"no environment of {name}")
    report = judgements.report(name, ENVIRONMENTS, judgements.population(100))
    assert all(row.n_values for row, _ in report.rows)
    assert report.differences == [], "\n".join(judgements.details(report))


def test_a_wrong_name_is_found_out(monkeypatch):
    questions = judgements.PEERS["longmemeval"].questions
    wrong = [one._replace(ours="hit", stated=None) for one in questions[:2]]
    peer = judgements.PEERS["longmemeval"]._replace(questions=wrong)
    monkeypatch.setitem(judgements.PEERS, "longmemeval", peer)
    report = judgements.report("longmemeval", ENVIRONMENTS, judgements.population(100))
    (right, _), (found, beside) = report.rows
    assert not right.differences and found.differences
    assert found.differences == beside.differences
    assert "hit at 1: peer's recall_all" in "\n".join(judgements.details(report))
