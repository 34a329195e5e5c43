"""What is refused by the estimates and tests of two systems, of many, of data sets and margins."""

import math

import pytest
from paired_data import paired

from toplist.stats import Sums, datasets, planning, ratio, runs
from toplist.stats import randomization as draws
from toplist.stats.distributions import probability
from toplist.stats.planning import ppi
from toplist.stats.simultaneous import adjust
from toplist.stats.units import Units

D, LEVEL = [0.1, 0.2, 0.3], "must be a number between 0 and 1, not"
POWER = r"power must be a number between 0\.05 and 1, not"
Y, JUDGE, U = [0.5, 1, 0, 0.3, 0.8] * 2, [0.6, 0.9, 0.2, 0.3, 1] * 2, [0.4, 0.9, 0.1]
ERRORS = [
    (lambda: paired([1, 2], [1]), r"shape \(2,\) and \(1,\): one per user in both"),
    (lambda: paired([1, math.nan], [1, 2]), "value of user 1 is nan: it must be finite"),
    (lambda: paired([1, 2], [1, 1], level=1), f"level {LEVEL} 1"),
    (
        lambda: paired([1, 2], [1, 1], alternative="better"),
        "alternative='better': choose from 'two-sided', 'greater', 'less'",
    ),
    (lambda: paired([1, 2], [1, 1], weights=[1, 0]), "weight of user 1 is 0.0: it must be pos"),
    (lambda: paired([1, 2], [1, 1], weights=[1]), r"weights has shape \(1,\): one per user"),
    (lambda: Units.of(3, None, ["a", "b", None]), "clusters: user 2 has none, None"),
    (lambda: Units.of(3, None, ["a", "b", math.nan]), "clusters: user 2 has none, nan"),
    (lambda: ratio([1, 2], [0, 0], [1, 2], [1, 1]), "the divisors add up to 0"),
    (
        lambda: runs([[1, 2]], [[1, 2], [3, 4]], "paired"),
        "runs='paired' needs as many runs of both systems, not 1 and 2",
    ),
    (lambda: draws.bootstrap([1], n_resamples=99, level=0.999), "too few for level=0.999"),
    (lambda: Sums.of([[1, 2], [math.inf, 1]]), "a difference of user 1 is not finite"),
    (lambda: draws.randomization([1, 2, 3] * 99, n_threads=0), "n_threads must be a whole"),
    *((lambda p=p: probability(p, "level"), f"level {LEVEL} {p}") for p in (0, -1, 95, math.nan)),
    (lambda: adjust([0.1], "x"), "'x': choose from 'holm', 'bh', 'bonferroni', 'none'"),
    *(
        (lambda p=p: adjust([0.1, p, math.nan], "none"), f"p values lie between 0 and 1, not {p}")
        for p in (-0.1, 1.5, math.inf)
    ),
    (lambda: datasets.replicability([0.3, 1.2]), "between 0 and 1"),
    (lambda: datasets.replicability(D, "stouffer"), "choose from 'bonferroni', 'fisher'"),
    (lambda: datasets.over_datasets(D), "of='these' needs errors= and df="),
    (lambda: datasets.over_datasets(D, D[:2], D), "3 differences, 2 errors and 3 df"),
    (lambda: datasets.over_datasets(D, [-0.1, 1, 1], D), "a standard error is not below 0"),
    (lambda: datasets.over_datasets(D, D, [0, 1, 1]), "degrees of freedom are above 0"),
    (lambda: datasets.over_datasets(D, of="all"), "choose from 'these', 'sample'"),
    *(
        (lambda few=few: datasets.friedman(few), "a row per data set and a column per system")
        for few in ([[1.0, 2.0]], [[1.0], [2.0]], [1.0, 2.0])
    ),
    *(
        (lambda ask=ask, of=of: ask(*of), words)
        for ask, of, words in (
            (planning.power, (1.0, 1.0, 9, 1), f"level {LEVEL} 1"),
            (planning.n_needed, (1.0, 1.0, 1), POWER),
            (planning.power, (1.0, -1.0, 9), r"std must be 0 or more, not -1\.0"),
        )
    ),
    *(
        (lambda of=of: planning.n_needed(*of), "is too small: no number of users finds it")
        for of in ((0.0, 1.0), (1e-300, 1.0), (0.0, 0.0))
    ),
    *(
        (
            lambda m=m: planning.not_worse([0.1, 0.2], [0.1, 0.1], m),
            f"margin must be a number above 0, not {m!r}",
        )
        for m in (0, -0.1, math.nan, math.inf, True, "0.1", None)
    ),
    (lambda: planning.not_worse([], [], 0.1), "no user to test"),
    (lambda: ppi(Y[:9], JUDGE[:9], U), "people judged 9 values: at least 10 are needed"),
    (lambda: ppi(Y, JUDGE, U, clusters=("abcdefghii", "xyz")), "people judged values of 9 clus"),
    (lambda: ppi(Y, JUDGE, []), "nothing is judged by the judge alone"),
    (lambda: ppi(Y, JUDGE[:3], U), r"values of shape \(10,\) and \(3,\)"),
    (lambda: ppi(Y, JUDGE, [0.1, math.nan]), "the value of user 1 is nan"),
    (lambda: ppi(Y, JUDGE, U, lam=1.5), "lam must be a number from 0 to 1, not 1.5"),
    (lambda: ppi(Y, JUDGE, U, level=95), f"level {LEVEL} 95"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_labels_that_cannot_be_compared():
    with pytest.raises(TypeError, match="a label cannot be compared: unhashable type: 'list'"):
        Units.of(2, None, [["a"], ["b"]])
