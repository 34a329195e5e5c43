"""PPI++: golden values, and its limits: a judge that is right, one that is of no use."""

import math

import numpy as np
import pytest

from toplist.stats.prediction_powered import ppi

Y = [0.5, 1, 0, 0.3, 0.8]
Y_HAT = [0.6, 0.9, 0.2, 0.3, 1]
U_HAT = [0.4, 0.9, 0.1, 0.7, 0.5, 0.6, 1, 0, 0.3, 0.8]


def test_the_golden_values():
    fixed, tuned = ppi(Y, Y_HAT, U_HAT, lam=1), ppi(Y, Y_HAT, U_HAT)
    assert (fixed.estimate, fixed.low, fixed.high) == pytest.approx(
        (0.45, 0.228863, 0.671137), abs=1e-6
    )
    assert (tuned.estimate, tuned.low, tuned.high) == pytest.approx(
        (0.474359, 0.276097, 0.672620), abs=1e-6
    )
    assert tuned.lam == pytest.approx(0.6520, abs=1e-4)


def test_it_is_the_formula():
    """Sums of plain Python, of another sample and level."""
    rng = np.random.default_rng(0)
    y, y_hat, u = rng.random(7).tolist(), rng.random(7).tolist(), rng.random(20).tolist()
    y_hat = [(a + b) / 2 for a, b in zip(y, y_hat, strict=True)]

    def mean(values):
        return math.fsum(values) / len(values)

    def squares(values):
        return math.fsum((one - mean(values)) ** 2 for one in values)

    both = math.fsum((a - mean(y)) * (b - mean(y_hat)) for a, b in zip(y, y_hat, strict=True)) / 7
    lam = both / ((1 + 7 / 20) * squares(y_hat + u) / 26)
    left = [a - lam * b for a, b in zip(y, y_hat, strict=True)]
    error = math.sqrt(lam**2 * squares(u) / 20 / 20 + squares(left) / 7 / 7)
    found = ppi(y, y_hat, u, level=0.9)
    assert 0 < lam < 1 and found.lam == pytest.approx(lam)
    assert found.estimate == pytest.approx(lam * mean(u) + mean(left))
    assert found.error == pytest.approx(error)
    assert found.high - found.low == pytest.approx(2 * 1.6448536 * error)
    assert (found.human, found.judge) == pytest.approx((mean(y), mean(y_hat + u)))
    assert found.human_error == pytest.approx(math.sqrt(squares(y)) / 7)
    assert found.n_effective == pytest.approx(squares(y) / 7 / error**2)
    assert (found.n, found.n_unlabelled) == (7, 20)


def test_a_judge_of_no_use_leaves_people_alone():
    for judge in ([0.3] * 5, [0.5, 0, 1, 0.7, 0.2]):  # the same for all, and against people
        found = ppi(Y, judge, U_HAT if judge[1] == 0 else [0.3] * 10)
        assert found.lam == 0 and found.estimate == found.human
        assert found.n_effective == pytest.approx(5) and found.error == found.human_error


def test_a_judge_that_is_off_by_as_much_is_as_good_as_people():
    """Of 2,000 queries 100 are judged by people: the judge, 0.2 too high, makes them 1,900 more."""
    truth = np.random.default_rng(1).random(2000)
    found = ppi(truth[:100], truth[:100] + 0.2, truth[100:] + 0.2)
    assert found.lam == pytest.approx(0.95, abs=0.05)
    assert found.n_effective == pytest.approx(2000, rel=0.1)
    assert abs(found.estimate - truth.mean()) < 2 * found.error < 0.02
    assert found.judge == pytest.approx(truth.mean() + 0.2)


def test_values_without_spread_have_no_interval():
    found = ppi([0.1] * 5, [0.1] * 5, U_HAT)
    assert found.estimate == pytest.approx(0.1)
    assert math.isnan(found.low) and math.isnan(found.high) and math.isnan(found.n_effective)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (([0.5], [0.4], U_HAT), {}, "at least two labels of people are needed, and there are 1"),
        ((Y, Y_HAT, []), {}, "nothing is judged by the judge alone"),
        ((Y, Y_HAT[:3], U_HAT), {}, r"values of shape \(5,\) and \(3,\)"),
        ((Y, Y_HAT, [0.1, math.nan]), {}, "the value of user 1 is nan"),
        ((Y, Y_HAT, U_HAT), {"lam": 1.5}, "lam must be a number from 0 to 1, not 1.5"),
        ((Y, Y_HAT, U_HAT), {"lam": "1"}, "lam must be a number from 0 to 1, not '1'"),
        ((Y, Y_HAT, U_HAT), {"level": 95}, "level must be a number between 0 and 1, not 95"),
    ],
)
def test_what_is_refused(given, options, message):
    with pytest.raises(ValueError, match=message):
        ppi(*given, **options)


def test_of_values_in_clusters_the_error_is_that_of_sums_over_clusters():
    """By the definition, in plain loops; a cluster may have values of both kinds."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 12, 90)
    y, judge = rng.random(90), rng.random(90)
    some = rng.random(90) < 0.4
    found = ppi(y[some], judge[some], judge[~some], lam=0.5, clusters=(labels[some], labels[~some]))
    pulls = dict.fromkeys(labels.tolist(), 0.0)
    for chosen, values in ((some, (y - 0.5 * judge)[some]), (~some, 0.5 * judge[~some])):
        mine = labels[chosen]
        for label in np.unique(mine).tolist():
            share = (mine == label).mean()
            left = (values[mine == label] - values.mean()).sum() / len(values)
            pulls[label] += left / math.sqrt(1 - share)
    assert found.error == pytest.approx(math.sqrt(sum(one**2 for one in pulls.values())))
    best = ppi(y[some], judge[some], judge[~some], clusters=(labels[some], labels[~some]))
    assert best.error <= found.error and 0 <= best.lam <= 1
