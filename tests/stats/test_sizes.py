"""How often tests reject a true null and intervals miss, by benchmarks/sizes.py."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import sizes

# What is drawn, how many samples, between which shares its own misses lie, and above which those
# of what stands beside it (None: above its own). Of quantiles of resampled ranks many more miss the
# true ones; of a judge alone, and of one variance for unequal segments, little holds.
LINES = {
    "20 clusters, geometric": (sizes.of_clusters(20, "geometric", 0.3), 1500, 0.035, 0.065, 0.065),
    "20 clusters, pareto": (sizes.of_clusters(20, "pareto", 0.3), 1500, 0.035, 0.065, 0.065),
    "sessions of 20, a mean": (sizes.of_sessions(20), 1500, 0.035, 0.065, 0.065),
    "sessions of 20, a difference": (sizes.of_two_systems(20), 1500, 0.035, 0.065, 0.065),
    "sessions of 200, a mean": (sizes.of_sessions(200), 1500, 0.035, 0.065, 0.065),
    "50, lognormal weights": (sizes.of_weights(50, "lognormal"), 1500, 0.035, 0.065, 0.065),
    "200, pareto weights": (sizes.of_weights(200, "pareto"), 1500, 0.035, 0.065, 0.065),
    "3 runs, paired": (sizes.of_runs("paired", 3, 0.95), 1500, 0.035, 0.065, 0.065),
    "3 runs, one fixed": (
        *(sizes.of_runs("independent", 3, 0.95, fixed=True), 1500, 0.035, 0.065, 0.065),
    ),
    "3 systems, near": (sizes.of_ranks(3, 3, 0.1, True), 400, 0, 0.07, None),
    "8 systems, near": (sizes.of_ranks(8, 15, 0.5, True), 400, 0, 0.07, None),
    "behind the first": (sizes.of_first(8, 5, 0.05, True), 400, 0, 0.07, None),
    "3 segments of 50": (sizes.of_segments((50, 50, 50), "sparse"), 1500, 0.03, 0.07, -1),
    "3 segments to 1,000": (sizes.of_segments((50, 200, 1000), "sparse"), 1500, 0.03, 0.07, 0.2),
    "10 segments of 50": (sizes.of_segments((50,) * 10, "normal"), 1500, 0.03, 0.07, -1),
    "3 segments, weighted": (sizes.of_weighted_segments((50, 200, 1000)), 1500, 0.03, 0.07, -1),
    **{
        f"{n} queries by people, a judge of {good}": (
            *(sizes.of_judge(n, good), 6000, 0.03, 0.07, 0.2),
        )
        for n in (50, 200)
        for good in (0.3, 0.8)
    },
}


@pytest.mark.slow(seconds=10)
@pytest.mark.parametrize("line", LINES)
def test_a_true_null_is_rejected_as_often_as_it_should(line):
    draw, samples, least, most, above = LINES[line]
    own, beside = sizes.sizes(draw, samples)
    assert least <= own <= most and beside > (own if above is None else above)


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
