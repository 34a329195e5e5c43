"""What must hold for every test of two systems: relations, edges, threads, seeds, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from paired_data import SIDES, all_p, data_sets, estimated, of_units, paired

from toplist.stats import randomization as draws
from toplist.stats.estimates import Sums, ratio, runs
from toplist.stats.simultaneous import band, maxt_flips, maxt_t
from toplist.stats.units import snap


@given(data_sets())
@settings(deadline=None, max_examples=150)
def test_relations(data):
    a, b = data
    one, other = paired(a, b), paired(b, a)
    # swapped
    assert other.test.difference == -one.test.difference
    assert other.test.statistic == -one.test.statistic
    ends = pytest.approx((-one.test.high, -one.test.low), rel=0, abs=0, nan_ok=True)
    assert (other.test.low, other.test.high) == ends
    assert other.wins == one.losses and other.d_z == -one.d_z
    assert all_p(a, b) == all_p(b, a)
    assert all_p(a, b, "greater") == all_p(b, a, "less")
    # another scale
    scaled = paired(7 * a + 0.3, 7 * b + 0.3)
    for name in ("statistic", "p"):
        mine = getattr(one.test, name)
        assert getattr(scaled.test, name) == pytest.approx(mine, rel=1e-9, abs=1e-12)
    assert scaled.d_z == pytest.approx(one.d_z, rel=1e-9, abs=1e-12)
    assert all_p(7 * a + 0.3, 7 * b + 0.3) == pytest.approx(all_p(a, b), rel=1e-9, abs=1e-12)
    # intervals and p agree
    boot = draws.bootstrap(snap(a, b), n_resamples=999)
    for test, limit in ((one.test, 0.05), (boot, 0.05 + 1e-12)):
        known = not math.isnan(test.low)  # none where all differ by the same
        assert not known or (test.low > 0 or test.high < 0) == (test.p < limit)
    if not snap(a, b).any():
        assert {*all_p(a, b).values()} == {1.0}


def test_gains_and_losses_that_cancel_show_nothing_at_any_scale():
    """Their sum is 0 but for rounding, and so is that of resamples of users who do not differ."""
    a = np.array([0.2, 1.0, 0.4, 1.0, 0.2, 0.2, 0.8, 0.4])
    b = np.array([0.2, 0.0, 1.0, 1.0, 0.2, 0.2, 0.8, 0.8])
    assert all_p(a, b) == all_p(7 * a + 0.3, 7 * b + 0.3)
    assert all_p(a, b)["bootstrap"] == 1


def test_nobody():
    nothing = paired([], [])
    assert nothing.test.n == 0 and nothing.cautions == ()
    numbers = [*nothing.test[1:6], *nothing.test[7:], *nothing[14:20]]
    assert all(math.isnan(number) for number in numbers)
    for test in (draws.randomization, draws.wilcoxon, draws.sign, draws.bootstrap):
        assert math.isnan(test([]).p)
    assert np.isnan(maxt_flips([[], []]).p).all()
    assert np.isnan(maxt_t(estimated(np.empty((0, 2)))).step_down).all()
    assert np.isnan(band(estimated(np.empty((0, 3)))).low_all).all()
    assert math.isnan(ratio([], [], [], []).p)
    empty = runs(np.empty((2, 0)), np.empty((2, 0)))
    assert math.isnan(empty.anew.p) and math.isnan(empty.trained.test.p)


def test_one_user():
    one = paired([0.5], [0.2])
    assert one.test.difference == 0.3 and one.wins == 1
    assert all(math.isnan(number) for number in (one.test.p, one.test.low, one.d_z))
    assert draws.randomization([0.3]).p == 1 and math.isnan(draws.bootstrap([0.3]).p)
    assert np.isnan(band(estimated([[0.1, 0.2]])).low).all()
    assert maxt_flips([[0.3], [0.1]]).p.tolist() == [1, 1]


def test_no_differences():
    none = paired([0.1, 0.5, 0.9], [0.1, 0.5, 0.9])
    assert none.test[3:] == (0, 0, 0, 2, 0, 1, 0, 0) and none.cautions == ()
    assert (none.wins, none.ties, none.losses) == (0, 3, 0)
    assert not any(none[14:20])
    for side in SIDES.values():
        assert {*all_p(np.arange(5.0), np.arange(5.0), side).values()} == {1.0}
    boot = draws.bootstrap(np.zeros(5))
    assert (boot.low, boot.high) == (0, 0)
    family = maxt_t(estimated(np.zeros((5, 2))))
    assert family.p.tolist() == family.step_down.tolist() == [1, 1]


def test_differences_that_are_all_the_same():
    a = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    same = paired(a, a - 0.3)
    assert same.test.p == 2**-5 and same.test.statistic == math.inf == same.d_z
    assert math.isnan(same.test.low) and math.isnan(same.test.high)
    assert paired(a, a - 0.3, alternative="greater").test.p == 2**-6
    assert paired(a, a - 0.3, alternative="less").test.p == 1
    assert draws.randomization(snap(a, a - 0.3)).p == 2**-5
    boot = draws.bootstrap(snap(a, a - 0.3))
    assert boot.p == 2**-5 and math.isnan(boot.low) and math.isnan(boot.high)
    both = maxt_t(estimated(np.column_stack([snap(a, a - 0.3), [1, -1, 2, 3, 0, 1]])))
    assert (both.p[0], both.step_down[0]) == (2**-5, 2**-4)
    assert both.step_down[1] == both.p[1]


def all_results(n_threads, seed=7, turn=1):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 9, (3, 9001)) / 8
    clusters, options = rng.integers(0, 999, 9001), {"seed": seed, "n_threads": n_threads}
    columns = [snap(a, b), snap(a, c), snap(b, c), snap(a, 0.4 * b + 0.6 * c)]
    joint = estimated(np.transpose(columns[::turn]), n_threads=n_threads)
    families = [
        maxt_flips(columns[::turn], **options, n_resamples=2000),
        maxt_t(joint, **options, n_resamples=5000),
    ]
    curves = np.cumsum(columns, axis=0).T
    along = band(estimated(curves, n_threads=n_threads), **options)
    return [
        paired(a, b),
        paired(a, b, weights=c + 1),
        draws.randomization(columns[0], **options),
        of_units(draws.randomization, columns[0], clusters=clusters, **options),
        draws.bootstrap(columns[0], **options, n_resamples=999),
        of_units(draws.bootstrap, columns[0], clusters=clusters, **options, n_resamples=999),
        [[part[::turn].tolist() for part in family[1:4]] for family in families],
        [family.critical for family in families],
        [part.tolist() for part in (along.difference, along.std, along.error, along.low)],
        [along.high.tolist(), along.low_all.tolist(), along.high_all.tolist(), along.critical],
    ]


def test_any_number_of_threads_gives_the_same_bits():
    expected = repr(all_results(1))
    assert repr(all_results(2)) == expected
    assert repr(all_results(16)) == expected


def test_the_order_of_systems_changes_no_bit():
    assert repr(all_results(2, turn=-1)) == repr(all_results(2))


@pytest.mark.parametrize("seed", [1, 2, 2**64 - 1])
def test_other_seeds_give_nearly_the_same(seed):
    rng = np.random.default_rng(1)
    d = rng.normal(0.1, 1, 400)
    columns = [d, d + rng.normal(size=400), rng.normal(0.1, 1, 400)]
    for test in (draws.randomization, draws.bootstrap):
        one, other = test(d).p, test(d, seed=seed).p
        assert other != one
        assert abs(one - other) < 4 * math.sqrt(2 * 2 * one / 10_000)
    for family in (
        lambda **o: maxt_flips(columns, **o),
        lambda **o: maxt_t(estimated(np.transpose(columns)), **o),
    ):
        one, other = family().step_down, family(seed=seed).step_down
        assert (np.abs(one - other) < 4 * np.sqrt(2 * one / 10_000)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired([1, 2], [1]), r"shape \(2,\) and \(1,\): one per user in both"),
        (lambda: paired([1, math.nan], [1, 2]), "value of user 1 is nan: it must be finite"),
        (lambda: paired([1, 2], [1, 1], level=1), "level must be a number between 0 and 1, not 1"),
        (lambda: paired([1, 2], [1, 1], level="x"), "between 0 and 1, not 'x'"),
        (
            lambda: paired([1, 2], [1, 1], alternative="better"),
            "alternative='better': choose from 'two-sided', 'greater', 'less'",
        ),
        (lambda: paired([1, 2], [1, 1], weights=[1, 0]), "weight of user 1 is 0.0: it must be pos"),
        (lambda: paired([1, 2], [1, 1], weights=[1]), r"weights has shape \(1,\): one per user"),
        (lambda: paired([1, 2], [1, 1], clusters=[1]), r"clusters has shape \(1,\): one label per"),
        (lambda: ratio([1, 2], [0, 0], [1, 2], [1, 1]), "the divisors add up to 0"),
        (lambda: runs([1, 2], [1, 2]), "a row of users' values per run"),
        (lambda: runs([[1, 2]], [[1, 2]], "both"), "runs='both': choose from 'independent'"),
        (
            lambda: runs([[1, 2]], [[1, 2], [3, 4]], "paired"),
            "runs='paired' needs as many runs of both systems, not 1 and 2",
        ),
        (lambda: draws.randomization([1], n_resamples=98), "n_resamples must be at least 99"),
        (lambda: draws.randomization([1], n_resamples=1e4), "n_resamples must be a whole number"),
        (lambda: draws.randomization([1], seed=-1), "seed must be a whole number from 0 to"),
        (lambda: draws.bootstrap([1], n_resamples=99, level=0.999), "too few for level=0.999"),
        (lambda: maxt_flips([[1, 2], [1]]), "columns of 1 and 2 users: all need the same users"),
        (lambda: Sums.of([1, 2]), r"shape \(2,\): users by columns"),
        (lambda: Sums.of([[1, 2], [math.inf, 1]]), "a difference of user 1 is not finite"),
        (lambda: draws.sign([1, 2], alternative="up"), "alternative='up': choose from"),
        (lambda: draws.randomization([1, 2, 3] * 99, n_threads=0), "n_threads must be a whole"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
