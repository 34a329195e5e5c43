"""How often tests reject a true null and intervals miss, by benchmarks/sizes.py."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import sizes

LINES = {
    "20 clusters, geometric": sizes.of_clusters(20, "geometric", 0.3),
    "20 clusters, pareto": sizes.of_clusters(20, "pareto", 0.3),
    "50 users, lognormal weights": sizes.of_weights(50, "lognormal"),
    "200 users, pareto weights": sizes.of_weights(200, "pareto"),
    "3 runs, paired": sizes.of_runs("paired", 3, 0.95),
    "3 runs, one fixed": sizes.of_runs("independent", 3, 0.95, fixed=True),
}


RANKS = {
    "3 systems, near": sizes.of_ranks(3, 3, 0.1, True),
    "8 systems, near": sizes.of_ranks(8, 15, 0.5, True),
    "behind the first": sizes.of_first(8, 5, 0.05, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("line", RANKS)
def test_ranks_over_data_sets_are_covered(line):
    """Of quantiles of resampled ranks, which stand beside it, many more miss the true ones."""
    own, beside = sizes.sizes(RANKS[line], 400)
    assert own <= 0.07 and own < beside


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_true_null_is_rejected_as_often_as_it_should(line):
    own, beside = sizes.sizes(LINES[line], 1500)
    assert 0.035 <= own <= 0.065 < beside


OTHERS = {
    "3 segments of 50": sizes.of_segments((50, 50, 50), "sparse"),
    "3 segments of 50 to 1,000": sizes.of_segments((50, 200, 1000), "sparse"),
    "10 segments of 50": sizes.of_segments((50,) * 10, "normal"),
    "3 segments, weighted": sizes.of_weighted_segments((50, 200, 1000)),
    "50 queries by people, poor judge": sizes.of_judge(50, 0.3),
    "50 queries by people, good judge": sizes.of_judge(50, 0.8),
    "200 queries by people, poor judge": sizes.of_judge(200, 0.3),
    "200 queries by people, good judge": sizes.of_judge(200, 0.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("line", OTHERS)
def test_segments_and_corrected_judges_keep_their_level(line):
    """Of a judge alone, and of one variance for segments of unequal sizes, little holds."""
    own, beside = sizes.sizes(OTHERS[line], 6000 if "judge" in line else 1500)
    assert 0.03 <= own <= 0.07
    if "judge" in line or "to" in line:
        assert beside > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("side", ["worse", "not worse"])
@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("system", ["ease", "itemknn-shrunk"])
def test_a_gate_is_seldom_wrong_where_the_loss_is_the_margin(system, n, side):
    draw = sizes.of_gate(system, "ndcg@10", "shifted", n, side)
    assert sizes.sizes(draw, 1000)[0] <= 0.045  # .04, and one standard deviation of 1,000 samples


@pytest.mark.slow
def test_few_winners_alone_seldom_pass_a_gate():
    """Where 5 % of 50 users differ, flips of d + margin of all of them passed 25 % of samples."""
    d, chances = sizes.at_margin(
        sizes.retail("itemknn-shrunk", "hit@10") - sizes.retail("itemknn", "hit@10"), "thinned"
    )
    rng, passed = np.random.default_rng(0), []
    for _ in range(1000):
        some = rng.choice(d, 50, p=chances)
        if some.any():
            passed.append(sizes.not_worse(some, np.zeros(50), sizes.MARGIN).verdict == "not worse")
    assert len(passed) > 900 and np.mean(passed) <= 0.02


@pytest.mark.parametrize("kind", ["shifted", "thinned"])
def test_differences_at_the_margin(kind):
    d = np.array([0.0, 0.2, -0.1, 0.0, 0.3, 0.0])
    values, chances = sizes.at_margin(d.copy(), kind)
    assert (values * chances).sum() == pytest.approx(-sizes.MARGIN)
    assert ((values == 0) == (d == 0)).all() and chances.sum() == pytest.approx(1)
