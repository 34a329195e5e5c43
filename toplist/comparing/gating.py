"""`gate`: is a new result not worse than its base? Verdicts by metric, floor and segment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from toplist.checks import Floats, counted, worded
from toplist.comparing import testing
from toplist.comparing.aligning import SameUsers
from toplist.comparing.comparison import compare
from toplist.comparing.pairwise import TestSpec
from toplist.comparing.side_by_side import SideBySide
from toplist.comparing.verdicts import FloorVerdict, Gate, GateRow
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.results.result import TopKResult
from toplist.results.segments import label_text, rows_by_label
from toplist.stats.corrections import adjust
from toplist.stats.distributions import normal_ppf
from toplist.stats.estimates import FEW, Units, difference
from toplist.stats.noninferiority import n_to_decide, not_worse
from toplist.stats.planning import check_margin

# The values of the users, of the new and of the base.
Pair = tuple[Floats, Floats]


def gate(
    new: TopKResult,
    base: TopKResult,
    margins: Mapping[str, float],
    *,
    floors: Mapping[str, float] | None = None,
    by: Any = None,
    level: float = 0.95,
    users: SameUsers = "same",
    clusters: Any = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Gate:
    """Say whether a new result is not worse than its base, by more than margins that do not matter.

    Each metric is tested user by user (`toplist.stats.noninferiority.not_worse`). With new - base
    and its 95 % interval, by a paired t test: *worse* where the interval lies below -margin, *not
    worse* where it lies above, else *undecided*, with the number of users that would decide. Where
    fewer than 30 users differ, or losses are skewed, p allows for users who lose all and were not
    drawn, so that nothing follows of few users who all have the same values, unless new and base
    are the same lists; of worse, sign flips must agree. So either false verdict has a chance of
    2.5 % where the true difference is just -margin. Where lower is better, all is turned round.

    The gate is *worse* if any metric, floor or segment is, else *undecided* if any metric or floor
    is, else *not worse*. Every metric has to pass, so *not worse* needs no correction for several;
    each more metric or floor is one more chance of a false *worse*.

    Parameters
    ----------
    new, base : TopKResult
        With their users; by the same rules, over the same users and ground truths. Each is an
        error where it is not so, never a verdict.
    margins : dict of ``name@k`` -> float
        ``{"ndcg@10": 0.005}``: the loss that does not matter, above 0.
    floors : dict of ``name@k`` -> float, optional
        The least mean of `new`, by its interval: *below* (which fails) where all of it is below
        the floor, *above* where none of it is, else *undecided*. Of all users of `new`.
    by : labels, optional
        As in `TopKResult.by`: every metric is tested in every segment too, where only harm counts.
        A segment is *worse* if its one-sided p is below (1 - level) / 2 after Holm over all
        segments and metrics; undecided segments are counted, and fail nothing.
    level : float
        Of the two-sided intervals.
    users : {"same", "common"}
        "common" takes the users that both count.
    clusters : labels, optional
        As in `toplist.inference.paired_tests`; then floors go by them too, over the users of both.
    seed, n_threads
        Of sign flips.

    Returns
    -------
    Gate
        ``found.verdict``, ``found.passed``, ``found.rows``; sentences when printed.

    Raises
    ------
    TypeError, ValueError
        For what cannot be compared, results without users, and names that one of them lacks.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = {user: {user % 7} for user in range(2000)}
    >>> lists = {user: [(user * user + i) % 7 for i in range(5)] for user in truth}
    >>> base = tl.top_k_eval(lists, truth, k=5, metrics=["ndcg", "recall"])
    >>> lists |= {user: [8, 9, *lists[user][:3]] for user in range(0, 2000, 100)}
    >>> new = tl.top_k_eval(lists, truth, k=5, metrics=["ndcg", "recall"])
    >>> found = tl.gate(new, base, {"ndcg@5": 0.01}, floors={"recall@5": 0.5})
    >>> print(found)
    ndcg@5 -0.0022 [-0.0035, -0.0009]: not worse than -0.01 (p <0.001, one-sided, by t \
and a bound of losses not drawn, as only 14 differ)
    recall@5 0.7145 [0.6947, 0.7343]: above the floor 0.5
    gate: not worse
    new - base, paired t over 2,000 users; intervals are 95 %, each side is tested at p < 0.025
    where fewer than 30 users differ, or losses are skewed, p allows for users who lose all and \
were not drawn
    convention standard: mean over users
    2,000 of 2,000 users evaluated
    >>> found.passed
    True
    """
    _check(new, base, margins, floors)
    asked = TestSpec(level=level, seed=seed, n_threads=n_threads, users=users, clusters=clusters)
    compared = compare({"new": new, "base": base}, baseline="base")
    try:
        whole, parts = _of_metrics(compared, asked, margins, by)
        whole += [_of_floor(compared, asked, *one) for one in (floors or {}).items()]
    except KeyError as error:  # a name that one of them lacks
        raise ValueError(error.args[0]) from None
    minor = "DIFFERENT METRICS OR K"
    warnings = (line for line in compared.differences if not line.startswith(minor))
    rows = *whole, *_corrected(parts, level)
    return Gate(rows, level, tuple(_notes(compared, asked, rows)), tuple(warnings))


def _check(new: Any, base: Any, margins: Any, floors: Any) -> None:
    """Raise for what is no result with users, and for margins and floors that are none."""
    for name, one in (("new", new), ("base", base)):
        if not isinstance(one, TopKResult):
            raise TypeError(f"{name} is {type(one).__name__}: give what top_k_eval returned")
        if one.hits is None:
            raise ValueError(
                f"{name} is without users, whom a gate compares one by one: give the result before "
                "without_users(), of files and streams that of keep='users'"
            )
    for what, given in (("margins", margins), ("floors", {} if floors is None else floors)):
        if not isinstance(given, Mapping):
            raise TypeError(f"{what} is {given!r}: give a dict, {{'ndcg@10': 0.005}}")
    if not margins and not floors:
        raise ValueError("nothing to test: give margins, {'ndcg@10': 0.005}, or floors")
    for name, margin in margins.items():
        check_margin(margin, f"the margin of {name}")
    for name, floor in (floors or {}).items():
        number = isinstance(floor, Real) and not isinstance(floor, bool)
        if not number or not math.isfinite(floor):
            raise ValueError(f"the floor of {name} must be a number, not {floor!r}")


def _of_metrics(
    compared: SideBySide, asked: TestSpec, margins: Mapping[str, float], by: Any
) -> tuple[list[GateRow], list[GateRow]]:
    """Return the verdict of every metric over all users, and in every segment."""
    segments = {} if by is None else rows_by_label(compared.results["new"], by)[0]
    names = testing._names(compared, [*margins]) if margins else []
    whole, parts = list[GateRow](), list[GateRow]()
    same = compared.results["new"].hits is compared.results["base"].hits
    for name, margin in zip(names, margins.values(), strict=True):
        at, metric = compared._directed(name)
        mean = compared.results["base"][at]
        if metric.higher_is_better and margin >= mean >= 0:
            raise ValueError(
                f"the margin of {at}, {margin:g}, is not below the mean of base, {mean:.4g}: no "
                "loss would be worse; give the loss that does not matter, in the metric's units"
            )
        source = _matched(compared, asked, at)
        units = testing._units(source.found, asked.clusters)
        both = source.values("new", at), source.values("base", at)
        test = partial(_of_metric, at, metric, float(margin), asked, same)
        whole.append(test(both, units))
        for label, members in segments.items():
            some = np.isin(source.found.rows["new"], members)
            if some.any():
                row = test((both[0][some], both[1][some]), units.at(some))
                parts.append(replace(row, segment=label_text(label, segments)))
    return whole, parts


def _matched(compared: SideBySide, asked: TestSpec, name: str) -> testing._Matched:
    """Return the users whom the mean of a name counts in both, and their values."""
    source = testing._source(compared, [name], asked)
    assert isinstance(source, testing._Matched)  # both have users
    return source


def _of_metric(
    name: str,
    metric: Metric | ListMetric,
    margin: float,
    asked: TestSpec,
    same: bool,
    both: Pair,
    units: Units,
) -> GateRow:
    """Return the verdict of one metric over some users."""
    higher = bool(metric.higher_is_better)  # those without a direction are refused before
    better, worse = both if higher else both[::-1]
    how: dict[str, Any] = {"level": asked.level, "seed": asked.seed, "n_threads": asked.n_threads}
    found = not_worse(better, worse, margin, units, **how)
    if same and found.verdict == "undecided":  # the lists are the same
        found = found._replace(verdict="not worse", n_needed=math.nan)
    test, kept = found.test, ("verdict", "differ", "p_not_worse", "p_worse", "bound", "n_needed")
    given: dict[str, Any] = {one: getattr(found, one) for one in kept}
    means = [test.mean, test.baseline_mean, test.difference, test.low, test.high]
    if not higher:  # 0 - 0 is 0, and -0.0 would be printed with its sign
        ends = (0.0 - one for one in (test.difference, test.high, test.low))
        means = [test.baseline_mean, test.mean, *ends]
    given |= zip(("mean", "base_mean", "difference", "low", "high"), means, strict=True)
    return GateRow(name=name, n=test.n, margin=margin, higher_is_better=higher, **given)


def _corrected(parts: Sequence[GateRow], level: float) -> Iterator[GateRow]:
    """Yield the verdicts of segments: worse are those that are it after Holm over all of them."""
    for row, p in zip(parts, adjust([one.p_worse for one in parts]).tolist(), strict=True):
        alone = "undecided" if row.verdict == "worse" else row.verdict
        verdict = "worse" if p < (1 - level) / 2 else alone
        yield replace(row, verdict=verdict, p_adjusted=p)


def _of_floor(compared: SideBySide, asked: TestSpec, given: str, floor: float) -> GateRow:
    """Return the verdict of a mean against its floor, by its interval."""
    new, level = compared.results["new"], asked.level
    metric, k = testing._metric(compared, "new", given)
    if k is None:
        raise ValueError(f"{given!r} is a whole curve: a floor is of name@k")
    if metric.higher_is_better is False:
        raise ValueError(f"{given!r}: lower is better, and a floor is a least mean")
    name = f"{metric.name}@{k}"
    if new.is_within_one(metric.name) and not 0 < floor <= 1:
        raise ValueError(f"the floor of {name}, {floor:g}, is not from 0 to 1, as its mean is")
    mean, n, (low, high) = new[name], new.n_of(name), new.interval(name, level)
    if asked.clusters is not None:
        source = _matched(compared, asked, name)
        values, units = source.values("new", name), testing._units(source.found, asked.clusters)
        test = difference(values, np.zeros(len(values)), units, level=level)
        mean, n, low, high = test.mean, test.n, test.low, test.high
    if low != low:
        raise ValueError(f"{name} has no interval over these users, which a floor is held against")
    verdict: FloorVerdict = "below" if high < floor else "above" if low >= floor else "undecided"
    needed = math.nan
    if verdict == "undecided":
        error = (high - low) / 2 / normal_ppf(0.5 + level / 2)
        needed = n_to_decide(mean - floor, error * math.sqrt(n), level)
    means = mean, math.nan, math.nan, low, high
    return GateRow(name, verdict, *means, n, floor=float(floor), n_needed=needed)


def _notes(compared: SideBySide, asked: TestSpec, rows: Sequence[GateRow]) -> Iterator[str]:
    """Yield how it was tested, by which rules, and over whom."""
    sizes = sorted({one.n for one in rows if one.segment is None and one.margin is not None})
    if sizes:
        new = compared.results["new"]
        *most, last = sizes
        users = worded(counted(last, "user"), new.terms.unit)
        over = " or ".join([*(f"{n:,}" for n in most), users])
        weighted = ", weighted" * (new.weights is not None)
        clustered = ", by clusters" * (asked.clusters is not None or new.clusters is not None)
        yield (
            f"new - base, paired t over {over}{weighted}{clustered}; intervals are "
            f"{100 * asked.level:.4g} %, each side is tested at p < {(1 - asked.level) / 2:.3g}"
        )
    if any(one.bound for one in rows):
        yield (
            f"where fewer than {FEW} users differ, or losses are skewed, p allows for users who "
            "lose all and were not drawn"
        )
    if compared.results["new"].hits is compared.results["base"].hits:
        yield "new and base are the same lists"
    yield from compared.rules()
