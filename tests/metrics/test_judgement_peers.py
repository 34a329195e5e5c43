"""Groups, judgements, ERR and levels of recall by the peers of benchmarks/judgements.py.

    python benchmarks/judgements.py --envs envs          # makes the environments
    TOPLIST_PEERS=envs pytest -m peers tests/metrics/test_judgement_peers.py

AutoRAG and LongMemEval need no environment; a peer without one is skipped.
"""

import pytest
from peer_reports import ENVIRONMENTS, check, names_of

import judgements  # isort: skip


@pytest.mark.parametrize("name", names_of(judgements.PEERS))
def test_a_peer_gives_the_numbers_of_the_oracle_and_of_toplist(name):
    check(judgements, name, 100)


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
