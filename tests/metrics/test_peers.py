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
INPUTS = {"conventions": 40, "judgements": 12, "lists": 4}
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
