"""The best of many systems on the same users: its lead, and that of the best of equal ones."""

import itertools
import math

import numpy as np
import pytest

from toplist.stats.randomization import best_of_many
from toplist.stats.units import Units


def equal(rng, n_systems, n):
    """Return values of equal systems: skewed, and of users who are easy or hard for all of them."""
    easy = rng.beta(1, 3, n)
    return (rng.random((n_systems, n)) < easy) * rng.random((n_systems, n))


def test_of_equal_systems_chance_gives_the_lead():
    """The expected largest mean over the mean of all: 400 samples, within three of its errors."""
    found = []
    for sample in range(400):
        values = equal(np.random.default_rng(sample), 20, 300)
        found.append(best_of_many(values, n_resamples=200, seed=sample))
    leads = np.array([one.lead for one in found])
    error = leads.std(ddof=1) / 20
    assert abs(leads.mean() - np.mean([one.by_chance for one in found])) < 3 * error
    assert error < 0.02 * leads.mean()  # so that 6 % more or less would be seen
    assert 0.02 < np.mean([one.p < 0.05 for one in found]) < 0.08


def test_normal_means_lead_by_what_tables_say():
    """1.5388 standard errors of 10 (Tippett 1925); sharing 3/4 of the variance halves it."""
    rng = np.random.default_rng(1)
    own, common = rng.normal(size=(10, 20_000)), rng.normal(size=20_000)
    alone = best_of_many(own, n_resamples=4000).by_chance * math.sqrt(20_000)
    assert alone == pytest.approx(1.5388, rel=0.03)
    both = own / 2 + common * math.sqrt(3) / 2
    assert best_of_many(both, n_resamples=4000).by_chance * math.sqrt(20_000) == pytest.approx(
        alone / 2, rel=1e-9
    )


def test_a_system_that_is_better_stands_out():
    values = equal(np.random.default_rng(2), 20, 300)
    before = best_of_many(values)
    values[7] += 0.06
    after = best_of_many(values)
    assert after.place == 7 and after.p < 0.005 < 0.05 < before.p
    assert after.by_chance == pytest.approx(before.by_chance, rel=1e-9)  # systems are centred
    assert after.lead > 1.5 * after.by_chance and after.share == after.by_chance / after.lead


def test_it_is_the_definition():
    """All signs of 8 users, gone through; and what stays the same."""
    x = np.random.default_rng(3).random((4, 8))
    apart = x - x.mean(axis=0)
    lead = apart.mean(axis=1).max()
    centred = apart - apart.mean(axis=1, keepdims=True)
    every = np.array([*itertools.product([-1, 1], repeat=8)]) @ centred.T / 8 * math.sqrt(8 / 7)
    found = best_of_many(x, n_resamples=50_000)
    assert found.lead == pytest.approx(lead) and found.mean == pytest.approx(x.mean(axis=1).max())
    assert found.by_chance == pytest.approx(every.max(axis=1).mean(), rel=0.01)
    assert found.p == pytest.approx((every.max(axis=1) >= lead).mean(), abs=0.01)
    assert [best_of_many(x, n_threads=n) for n in (1, 2, 16)] == [best_of_many(x)] * 3
    assert best_of_many(x, seed=1) != best_of_many(x)
    low = best_of_many(-x, higher_is_better=False)
    assert low == best_of_many(x)._replace(mean=low.mean, mean_of_all=low.mean_of_all)
    assert low.mean == -best_of_many(x).mean
    weighted = best_of_many(x, Units(8, np.full(8, 3.0)))
    assert weighted == pytest.approx(best_of_many(x), rel=1e-9)


def test_nobody_one_user_and_equal_values():
    same = best_of_many(np.full((12, 30), 0.1))
    assert (same.lead, same.by_chance, same.p) == (0.0, 0.0, 1.0) and math.isnan(same.share)
    alone = best_of_many([[0.1], [0.3]])
    assert alone.place == 1 and alone.lead == pytest.approx(0.1) and math.isnan(alone.by_chance)
    assert math.isnan(best_of_many(np.empty((3, 0))).lead)
