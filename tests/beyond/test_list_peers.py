"""Metrics of the lists by the peers of benchmarks/lists.py.

    python benchmarks/lists.py --envs envs          # makes the environments
    TOPLIST_PEERS=envs pytest -m peers tests/beyond/test_list_peers.py

Elliot, ClayRS and LensKit 2026 need no environment; a peer without one is skipped.
"""

import pytest
from peer_reports import ENVIRONMENTS, check, names_of

import lists  # isort: skip


@pytest.mark.parametrize("name", names_of(lists.PEERS))
def test_a_peer_gives_the_numbers_of_the_oracle_and_of_toplist(name):
    check(lists, name, 60)


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
