"""Is B better than A? Tests of results, and of your own values per user, query or session.

From results
------------

``tl.compare(results, baseline="guess")`` tests: † and ‡ mark what is better than the baseline (p
below 0.05 and 0.01 in a paired t test over users, after Holm over all comparisons of the table), ▾
what is worse; ``.test()`` has the differences themselves.

>>> import toplist as tl
>>> rng = np.random.default_rng(0)
>>> truth = {f"user {i}": {int(item) for item in rng.choice(50, 5)} for i in range(400)}
>>> guess = {user: rng.permutation(50)[:10].tolist() for user in truth}
>>> hint = {user: [*truth[user], *(set(guess[user]) - truth[user])][::-1] for user in truth}
>>> systems = {name: tl.top_k_eval(lists, truth, k=10, metrics=["ndcg", "mrr"])
...            for name, lists in {"guess": guess, "hint": hint}.items()}
>>> compared = tl.compare(systems, baseline="guess")
>>> compared.test()["hint", "ndcg@10"].p < 0.01
True
>>> compared.test("ndcg@10").sentence()[:94]
'Differences were tested by two-sided paired t over 400 users, with p after Holm over 1 compari'

You ask, and you call:

- *is it better, by how much, for how many users?* ``compared.test("ndcg@10")``: difference with
  interval, p, effect sizes, wins, ties and losses
- *another test*: ``method=`` "t", "randomization" (sign flips, exact where it can be), "bootstrap"
  (studentised), "wilcoxon", "sign"
- *many metrics, k and systems*: ``correction=`` "holm", "maxt", "bh", "bonferroni";
  ``family="metric"`` corrects each name by itself
- *at which k?* ``compared.band("ndcg")``: an interval for each k, and one for all k together
- *is the difference too small to matter?* ``compared.equivalence("ndcg@10", margin=0.005)``
- *how many users does the next experiment need?* ``compared.power("ndcg@10", difference=0.002)``
- *all pairs at once, with one pooled variance*: ``compared.tukey("ndcg@10")``
- *the best of many checkpoints or settings*: ``compared.lead("ndcg@10")``, how far it leads the
  mean of all, and how far the best of as many equal ones would by chance
- *several seeds or splits*: ``tl.compare({"a": [run, run], "b": [run, run]})``, ``runs="paired"``
  where run i of all systems is of one split: users and runs are two sources of chance (repeated
  splits overlap: their variance is a lower bound)
- *in which segment of the users?* ``compared.by(labels)`` and its ``.test()``: p is corrected for
  all segments together, and a line says whether the segments differ (Welch's F)
- *rows that are sessions or queries of users?* evaluate with ``clusters=``: tests, equivalence and
  power go by these clusters (CR2), in segments too; ``.test(clusters=...)`` takes other ones
- *for the paper*: ``.sentence()``, ``compared.to_latex(caption=...)`` (bold where the best
  differs, daggers), ``.to_pandas()``, ``.plot()`` (a forest)

Users are matched by key, whatever their order; lists without keys are paired by their place (give
dicts, or ``users=``, where the order may differ). Systems over other users, other ground truths or
other rules are refused (``users="common"`` takes the users that all count). The t test is the
default since it keeps its level over thousands of users and many ties; Wilcoxon's and the sign test
do not, and do not test the mean.

From values of your own
-----------------------

`paired_tests` answers the same for values of any kind, with clusters (the sessions of a user) where
rows belong together. Values that were written by user are read by user, whatever their order::

    ndcg = {name: pandas.read_parquet(path).set_index("user_id")["ndcg@10"]
            for name, path in {"als": "als.parquet", "popularity": "popularity.parquet"}.items()}
    tl.inference.paired_tests(ndcg, baseline="popularity", name="ndcg@10")

The rest is what stands beside a p value: `band` over k, `equivalence` within a margin, `tukey` over
all pairs, `ratio` for pooled metrics, `heterogeneity` between segments, `power`, `detectable` and
`n_needed` for the next experiment.

A judge corrected by people
---------------------------

An automatic judge, such as a language model, labels all queries; people label a random sample of
them. ``judge_corrected(judged=result, human=result_of_the_sample, metric="ndcg@10")`` is the mean
that people would give over all queries (prediction-powered inference, PPI++), with its interval:
narrower than that of people alone by as much as the judge goes with them, and right where the judge
is wrong. Of two systems it corrects their difference. `ppi` takes arrays.

Over several data sets (of results, `toplist.across` has all of it): `over_datasets` tests a
difference, `friedman` ranks, with Nemenyi's critical difference; `borda` counts votes,
`replicability` says in how many data sets a finding holds, `rank_intervals` how sure ranks are.

All of it is own code on numpy and numba, the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, doubles, no_attribute
from toplist.comparing import samples
from toplist.comparing.contrasts import TestCorrection, TestMethod, TestPlan
from toplist.comparing.judge import judge_corrected
from toplist.comparing.samples import Rows, by_user, contrasted, order_of, pairs_of
from toplist.comparing.segments import heterogeneity, heterogeneity_of_moments
from toplist.comparing.tests import Tests
from toplist.comparing.views import Band
from toplist.inputs import columns as cols
from toplist.inputs.keyed import counts_rows, is_series, keys_of
from toplist.inputs.lists import first_repeat, is_frame, name_user
from toplist.inputs.objects import to_builtin
from toplist.stats import RunsAre, Sums, TTest
from toplist.stats import ratio as difference_of_ratios
from toplist.stats.datasets import (
    borda,
    friedman,
    mid_ranks,
    over_datasets,
    rank_intervals,
    replicability,
    resampled,
)
from toplist.stats.distributions import f_sf, range_sf, t_ppf, t_sf
from toplist.stats.planning import check_margin, detectable, n_needed, power, ppi
from toplist.stats.simultaneous import Correction, adjust
from toplist.stats.units import Alternative, Units, numbered, snap, weights_of

# The name of a measure that has none, and the column of users in a table.
VALUE, USER = "value", "user_id"

__all__ = [
    "adjust",
    "band",
    "borda",
    "detectable",
    "equivalence",
    "f_sf",
    "friedman",
    "heterogeneity",
    "heterogeneity_of_moments",
    "judge_corrected",
    "mid_ranks",
    "n_needed",
    "over_datasets",
    "paired_tests",
    "power",
    "ppi",
    "range_sf",
    "rank_intervals",
    "ratio",
    "replicability",
    "resampled",
    "t_ppf",
    "t_sf",
    "tukey",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError; for a name of 0.3 it says what to write instead."""
    raise no_attribute("toplist.inference", name)


# Of arrays, whose rows have no keys.
BY_POSITION = "paired by position: row i of each array is taken for the same user"


def paired_tests(
    values: Mapping[str, Any],
    *,
    baseline: str | Sequence[str] | None = None,
    name: str = VALUE,
    method: TestMethod = "t",
    correction: TestCorrection = "holm",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
    users: Any = None,
    runs: RunsAre | None = None,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Tests:
    """Test the differences of systems by your own values per user, query or session.

    Parameters
    ----------
    values : dict of system -> values
        Arrays of one value per user, in one order, which are paired by position (a line says so)
        unless `users` names the rows; or values by user, which are matched by key:
        dicts, Series with the users as index, and tables of ``user_id`` and one column of values.
        Series that count their rows are taken in their order only beside arrays, and as columns
        of one table; columns of polars and Arrow are arrays. With `runs`, a list of these for each
        system. Two values are equal that differ by at most 1e-12 of the larger one, as by rounding:
        of values that are so much larger than their differences, subtract one number from all.
    baseline : str or several, optional
        Each other system is compared with it: system - baseline. Default: all pairs, in which the
        first in the order of the dict is the baseline.
    name : str
        Of the measure, for the table.
    method : {"t", "randomization", "bootstrap", "wilcoxon", "sign"}
        The paired t test; sign flips (10,000, exact for few users); the studentised bootstrap
        (9,999); Wilcoxon's signed ranks and the sign test, which do not test the mean.
    correction : {"holm", "maxt", "bh", "bonferroni", "none"}
        Of p for all comparisons together. "maxt" takes their correlation into account.
    alternative : {"two-sided", "greater", "less"}
        Of system - baseline, as a number.
    level : float
        Of the intervals, between 0 and 1; they are two-sided whatever the alternative.
    weights, clusters : one per user, or dict user -> value
        Weights, of which 0 counts nothing, and equal ones are none; labels of rows that belong
        together, such as the sessions of a user. The t test allows for few or unequal ones (CR2,
        with Satterthwaite's degrees of freedom: Bell and McCaffrey 2002), and a line says where
        they are too few.
    users : keys, one per row, optional
        Whose values the rows of arrays are.
    runs : {"independent", "paired"}, optional
        Several runs (seeds, splits) of each system: users are averaged over runs first, and both
        users and runs are sources of error; "paired" where run i of all systems is of one split.
        p and interval are Cochran and Cox's, which hold for few runs too. Repeated splits overlap:
        their variance is a lower bound.
    n_resamples, seed, n_threads
        Of sign flips, bootstrap and MaxT. The result does not depend on the threads.

    Returns
    -------
    Tests

    Raises
    ------
    TypeError, ValueError
        For systems over other users, values that are not finite, and bad options.

    Examples
    --------
    >>> import toplist as tl
    >>> knn = {"ann": 0.2, "bob": 0.1, "cid": 0.2, "dan": 0.1, "eve": 0.3}
    >>> ease = {"eve": 0.6, "dan": 0.4, "cid": 0.1, "bob": 0.9, "ann": 0.5}
    >>> both = {"knn": knn, "ease": ease}
    >>> tests = tl.inference.paired_tests(both, baseline="knn", name="ndcg@10")
    >>> print(tests.sentence())
    Differences were tested by two-sided paired t over 5 users, with p after Holm over 1 \
comparison; intervals are 95 % and hold one by one. ease exceeds knn by 0.3200 in ndcg@10 (0.5000 \
against 0.1800, interval [-0.0766, +0.7166], p = 0.089, not shown to differ, d_z = 1.00; 4 \
users higher, 0 equal, 1 lower). FEW DIFFER: fewer than 30 users differ (ease - knn ndcg@10).
    """
    drawn: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "n_threads": n_threads}
    plan = TestPlan(method, correction, alternative, level, **drawn, runs=runs).checked()
    return _tested(plan, values, baseline, name, weights, clusters, users)


def _tested(plan: TestPlan, values: Any, baseline: Any, name: str, *of_rows: Any) -> Tests:
    """Return the tests of values; `of_rows` are the weights, clusters and users of their rows."""
    weights, clusters, users = of_rows
    given = read(values, weights, clusters, plan.runs is not None, users)
    pairs = pairs_of(list(given.found), baseline)
    asked = baseline if isinstance(baseline, (list, tuple)) else [baseline]
    baselines = () if baseline is None else tuple(map(samples.name_of, asked))
    return _of_values(given, contrasted(given, pairs, [name], replace(plan, baselines=baselines)))


def _of_values(given: OwnValues, tests: Tests) -> Tests:
    """Return tests that say what is not known of values of one's own: which direction is better."""
    notes = tests.plan.notes if given.of_users else (BY_POSITION, *tests.plan.notes)
    return tests.with_plan(of_metrics=False, notes=notes)


def equivalence(
    values: Mapping[str, Any],
    *,
    margin: float,
    baseline: str | Sequence[str] | None = None,
    name: str = VALUE,
    correction: Correction = "holm",
    level: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
    users: Any = None,
    runs: RunsAre | None = None,
) -> Tests:
    """Test whether differences are within a margin that does not matter: two one-sided t tests.

    Parameters
    ----------
    values, baseline, name, weights, clusters, users, runs
        As in `paired_tests`.
    margin : float
        Above 0, in units of the values.
    correction : {"holm", "bh", "bonferroni", "none"}
        Of p for all comparisons together; the intervals hold one by one.
    level : float
        Of each one-sided test; the interval is that of 2 level - 1.

    Where no user differs, p is NaN, with a caution, unless the margin is above
    1 - (1 - level)^(1/n), as n users of metrics in [0, 1] leave so much open.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, noise = rng.random(400), rng.normal(0, 0.01, 400)
    >>> test = equivalence({"a": a, "b": a + noise}, margin=0.005)[0]
    >>> test.p < 0.001, test.p_not_worse < 0.001, -0.005 < test.low < test.high < 0.005
    (True, True, True)
    """
    check_margin(margin)
    plan = TestPlan("t", correction, level=level, runs=runs, margin=margin).checked()
    return _tested(plan, values, baseline, name, weights, clusters, users)


def band(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
    names: tuple[str, str] = ("system", "baseline"),
    name: str = VALUE,
) -> Band:
    """Return the difference of two systems at every k: intervals for each k, and for all together.

    Parameters
    ----------
    values, baseline : (n_users, K) float
        The curve of each user; the same users in the same order, but where the values have users,
        as those of `tl.ndcg` of keyed lists. Tables, which may have another order, are refused.
    level : float
    n_resamples, seed, n_threads
        Of the draws that the simultaneous interval takes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = band(rng.random((50, 10)) + 0.5, rng.random((50, 10)))
    >>> found.better
    [(1, 10)]
    """
    if is_frame(values) or is_frame(baseline):
        raise TypeError(
            "a table of curves may have its users in another order: give both as arrays in one, "
            f"in pandas table.set_index({USER!r}).sort_index().to_numpy()"
        )
    plan = TestPlan(level=level, n_resamples=n_resamples, seed=seed, n_threads=n_threads).checked()
    given = read({"the system": values, "the baseline": baseline}, ndim=2)
    plan = replace(plan, of_users=given.of_users, of_metrics=False)
    d = snap(*given.found.values())
    differ = dict(enumerate(np.count_nonzero(d, axis=0).tolist(), 1))
    return Band.of(Sums.of(d, n_threads), plan, name=name, systems=names, differ=differ)


def ratio(
    system: tuple[Any, Any],
    baseline: tuple[Any, Any],
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> TTest:
    """Test the difference of two ratios of sums, such as pooled precision (the delta method).

    Parameters
    ----------
    system, baseline : (numerators, divisors)
        Of every user; each as in `paired_tests`.

    Examples
    --------
    >>> round(ratio(([2, 0, 1], [4, 1, 1]), ([1, 0, 1], [4, 1, 1])).difference, 4)
    0.1667
    """
    sides = "the system", "the baseline"
    parts = [(side, part) for side in sides for part in ("numerators", "divisors")]
    given = read(dict(zip(parts, (*system, *baseline), strict=True))).found
    x_a, y_a, x_b, y_b = given.values()
    return difference_of_ratios(x_a, y_a, x_b, y_b, alternative=alternative, level=level)


def tukey(values: Mapping[str, Any], *, name: str = VALUE, level: float = 0.95) -> Tests:
    """Compare all pairs of systems by Tukey's test: one pooled variance, users as blocks.

    Differences are the first less the second, as in published tables of this test. Near twins or
    unequal variances among the systems distort the pooled variance: a true null was rejected in 8
    to 30 % of samples. A line says where the pairs do not vary alike; ``correction="maxt"`` of
    `paired_tests` needs no pooled variance.

    Parameters
    ----------
    values : dict of system -> values
        As in `paired_tests`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> systems = {"a": rng.random(50), "b": rng.random(50), "c": rng.random(50) + 0.3}
    >>> [f"{one.system} - {one.baseline}: {one.p_adjusted:.3f}" for one in tukey(systems)]
    ['a - b: 0.739', 'a - c: 0.000', 'b - c: 0.000']
    """
    given = read(values)
    tests = samples.tukey(given, list(given.found), name, TestPlan(level=level).checked())
    return _of_values(given, tests)


# How values are read. A Series that counts its rows has no users: it is taken by position where
# something says that these are alike, beside arrays, and of the columns of one table.


@dataclass(frozen=True, eq=False)
class OwnValues(Rows):
    """Values as they were given, by system: (n,) each, or (n_runs, n)."""

    found: Mapping[str, Floats]
    units: Units
    of_users: bool
    n_runs: tuple[int, ...] = ()

    def values(self, system: str, name: str) -> Floats:
        """Return those of a system, whatever they are called."""
        return self.found[system]


def read(
    values: Any,
    weights: Any = None,
    clusters: Any = None,
    runs: bool = False,
    users: Any = None,
    ndim: int = 1,
) -> OwnValues:
    """Read values by system: arrays of equal length, or dicts user -> value with the same users.

    `users` are the keys of the rows of arrays. Users of weight 0 are left out. Values of two
    dimensions are curves.

    Raises
    ------
    TypeError, ValueError
        For what is no dict of systems, other users in one than in another, NaN.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"give a dict of system -> values, not {type(values).__name__}")
    if not values:
        raise ValueError("the dict of systems is empty: give system -> values")
    names = [*map(samples.name_of, values)]
    if (twice := first_repeat(names)) is not None:
        raise ValueError(f"two systems are called {names[twice[0]]!r}: rename one")
    values = dict(zip(names, values.values(), strict=True))
    flat: Mapping[Any, Any] = values
    if runs:
        flat = {(name, i): one for name, some in values.items() for i, one in enumerate(some)}
    found, users = _aligned(flat, users, ndim)
    n = len(next(iter(found.values())))
    if runs:
        found = {
            name: np.stack([found[name, i] for i in range(len(some))])
            for name, some in values.items()
        }
    w, places = by_user(weights, users, n, "weights"), None
    if clusters is not None:
        places = numbered(by_user(clusters, users, n, "clusters"), users)
    if w is not None:
        w = weights_of(w, n, users, zeros=True)
        some = np.asarray(w > 0)  # a weight of 0 counts nothing
        found = {name: one[..., some] for name, one in found.items()}
        n, w, places = int(some.sum()), w[some], None if places is None else places[some]
    n_runs = tuple(map(len, found.values())) if runs else ()
    return OwnValues(found, Units.of(n, w, places), users is not None, n_runs)


def _aligned(
    values: Mapping[Any, Any], keys: Any = None, ndim: int = 1
) -> tuple[dict[Any, Floats], list[Any] | None]:
    """Return the values of all systems in one order of users, and the users if they have keys.

    `keys` are those of the rows of arrays.
    """
    read: dict[Any, Any] = {system: _opened(system, one) for system, one in values.items()}
    if keys is None:
        _check_not_counted(read)
    for system, one in read.items() if keys is not None else ():
        if not isinstance(one, Mapping):
            rows = np.asarray(one).tolist()
            read[system] = dict(zip(keys_of(keys, len(rows)), rows, strict=True))
    keyed, first = {isinstance(one, Mapping) for one in read.values()}, next(iter(read))
    users: list[Any] | None = None
    if len(keyed) > 1:
        raise TypeError(
            "some systems have values by user and some by position: give all alike, by user or, if "
            "their order is the same, as arrays"
        )
    if keyed == {True}:
        given = list(read[first])
        users = [given[place] for place in order_of(given).tolist()]
        for system, one in read.items():
            missing, known = [user for user in users if user not in one], set(users)
            more = [user for user in one if user not in known]
            if missing or more:
                raise ValueError(
                    f"{_named(system)} has other users than {_named(first)}: {len(missing):,} are "
                    f"missing and {len(more):,} are new, {[*missing, *more][0]!r} first"
                )
            read[system] = [one[user] for user in users]
    found = {system: _floats(system, one, users, ndim) for system, one in read.items()}
    for system, array in found.items():
        if array.shape != found[first].shape:
            n, m = (" x ".join(f"{n:,}" for n in one.shape) for one in (found[first], array))
            raise ValueError(
                f"{_named(first)} has {n} values and {_named(system)} {m}: give one per user, in "
                "one order, or dicts user -> value"
            )
    return found, users


def _opened(system: Any, values: Any) -> Any:
    """Return a table, and a Series with keys of its own, as a dict; all else as it is."""
    place = system if isinstance(system, tuple) else (system,)
    name = "values" + "".join(f"[{part!r}]" for part in place)
    values = to_builtin(values, name)
    if hasattr(values, "collect"):  # lazy
        raise TypeError(f"{name} is a {type(values).__name__}: give {name}.collect()")
    if is_frame(values):
        users, found = _of_table(system, values)
    elif not is_series(values) or counts_rows(values.index):
        return values
    else:
        users, found = values.index.tolist(), values.tolist()
    if twice := first_repeat(users):
        raise ValueError(
            f"the {'table' if is_frame(values) else 'Series'} of {_named(system)} has user "
            f"{users[twice[0]]!r} twice: one value per user, or give the values alone, "
            ".to_numpy(), and the users as clusters"
        )
    return dict(zip(users, found, strict=True))


def _of_table(system: Any, table: Any) -> tuple[list[Any], list[Any]]:
    """Return the users of a table, and its one column of values."""
    frame = cols.readable(table)
    names = cols.names_of(frame)
    found, pandas = [name for name in names if name != USER], hasattr(table, "iloc")
    if len(names) == 2 and len(found) == 1:
        return cols.read(frame, USER).objects(), cols.read(frame, found[0]).objects()
    way = f"{USER} and one column of values"
    if USER in names and found:
        both = f"[{USER!r}, {found[0]!r}]"
        way += f", such as table[{both}]" if pandas else f", such as table.select({both})"
    elif pandas and found:
        way += f"; or, if its index has the users, table[{found[0]!r}]"
    raise TypeError(
        f"the values of {_named(system)} are a table of {', '.join(map(repr, names))}: give {way}"
    )


def _check_not_counted(read: Mapping[Any, Any]) -> None:
    """Raise TypeError for Series that count their rows, where nothing says whose rows these are."""
    counted = {system: one for system, one in read.items() if is_series(one)}
    keyed = next((one for one in read.values() if isinstance(one, Mapping) and one), None)
    if not counted or (keyed is None and len(counted) < len(read)):
        return
    first, *others = counted
    whose = f"the values of {_named(first)} are a Series that counts its rows, "
    by_user = f"make each Series of a table by user, table.set_index({USER!r})[COLUMN]"
    if keyed is not None:
        raise TypeError(f"{whose}but the users have keys, like {next(iter(keyed))!r}: {by_user}")
    for other in others:
        if not counted[first].index.is_(counted[other].index):  # not columns of one table
            raise TypeError(
                f"{whose}as those of {_named(other)} do, and nothing says that both tables have "
                f"one order of users: {by_user}; or give .to_numpy() of each, if they have"
            )


def _named(system: Any) -> str:
    if not isinstance(system, tuple):
        return str(system)
    name, part = system
    return f"{part} of {name}" if isinstance(part, str) else f"run {part + 1} of {name}"


def _floats(system: Any, values: Any, users: list[Any] | None, ndim: int) -> Floats:
    """Return values as a float64 array; TypeError or ValueError where they are none."""
    try:
        array = doubles(values)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the values of {_named(system)} are no numbers: {error}") from None
    if array.ndim != ndim:
        needed = "one per user is" if ndim == 1 else "users x k are"
        raise ValueError(
            f"the values of {_named(system)} have shape {array.shape}: {needed} needed"
        )
    largest = np.abs(array).max(initial=0.0)
    if np.isfinite(largest) and not (largest == 0 or 1e-150 < largest < 1e150):
        raise ValueError(
            f"the values of {_named(system)} are up to {largest:g}, whose square is no double: "
            "multiply those of all systems by one number"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        user, value = name_user(users, int(bad[0][0])), array[tuple(bad[0])]
        raise ValueError(f"the value of {user} of {_named(system)} is {value}")
    return array
