"""Each convention against the installed peer, in the environments that TOPLIST_PEERS names.

    python benchmarks/conformance.py --envs envs --cases 1    # makes the environments
    TOPLIST_PEERS=envs pytest tests/metrics/test_peers.py

A peer without an environment there is skipped.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import conformance

ENVIRONMENTS = os.environ.get("TOPLIST_PEERS")
N_CASES = 100

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not ENVIRONMENTS, reason="TOPLIST_PEERS names no folder of environments"),
]


@pytest.mark.parametrize("name", conformance.PEERS)
def test_a_convention_gives_its_peers_numbers(name):
    folder = Path(ENVIRONMENTS).resolve()
    if not (folder / name / "ready").exists():
        pytest.skip(f"no environment of {name}")
    report = conformance.compare(name, folder, N_CASES)
    assert report.n_values > 0
    assert not report.differences, "\n".join(conformance.details(report))


def test_another_convention_is_found_out(monkeypatch):
    name = "pytrec_eval"
    folder = Path(ENVIRONMENTS).resolve()
    if not (folder / name / "ready").exists():
        pytest.skip(f"no environment of {name}")
    wrong = conformance.PEERS[name]._replace(convention="standard")
    monkeypatch.setitem(conformance.PEERS, name, wrong)
    report = conformance.compare(name, folder, N_CASES)
    assert "map" in {found.metric for found in report.differences}
