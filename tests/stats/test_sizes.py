"""How often tests reject a true null, by the samples of benchmarks/sizes.py."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import sizes

LINES = {
    "20 clusters, geometric": sizes.of_clusters(20, "geometric", 0.3),
    "20 clusters, pareto": sizes.of_clusters(20, "pareto", 0.3),
    "sessions of 20 users, a mean": sizes.of_sessions(20),
    "sessions of 20 users, a difference": sizes.of_two_systems(20),
    "sessions of 200 users, a mean": sizes.of_sessions(200),
    "50 users, lognormal weights": sizes.of_weights(50, "lognormal"),
    "200 users, pareto weights": sizes.of_weights(200, "pareto"),
    "3 runs, paired": sizes.of_runs("paired", 3, 0.95),
    "3 runs, one fixed": sizes.of_runs("independent", 3, 0.95, fixed=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_true_null_is_rejected_as_often_as_it_should(line):
    own, beside = sizes.sizes(LINES[line], 1500)
    assert 0.035 <= own <= 0.065 < beside
