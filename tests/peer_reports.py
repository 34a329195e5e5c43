"""Tests of the benchmarks that compare peers, an oracle and toplist."""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

ENVIRONMENTS = Path(os.environ.get("TOPLIST_PEERS", "")).resolve()


def names_of(peers):
    """Return the names of peers; those that need an environment are marked."""
    return [
        pytest.param(name, marks=pytest.mark.peers) if peer.installs else name
        for name, peer in peers.items()
    ]


def check(module, name, n_users):
    """Check that a peer gives the numbers of the oracle and of toplist; skip without it."""
    if module.PEERS[name].installs and not (ENVIRONMENTS / name / "ready").exists():
        pytest.skip(f"no environment of {name}")
    report = module.report(name, ENVIRONMENTS, module.population(n_users))
    assert all(row.n_values for row, _ in report.rows)
    assert report.differences == [], "\n".join(module.details(report))
