"""`Heterogeneity`: whether a difference of two systems differs between segments of the users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import prefixed, readable
from toplist.comparing.aligning import few_of
from toplist.comparing.contrasts import Contrast
from toplist.comparing.tests import CORRECTED, Tests, p_is
from toplist.stats.corrections import adjust
from toplist.stats.estimates import FEW, difference, welch

# So many lines are printed below a table; of more tests, one line.
SHOWN = 4
ALONE = (
    "whether segments differ is not tested of several runs, nor of clusters: segments may share "
    "both, and their chances"
)


@readable
class Heterogeneity(NamedTuple):
    """Welch's test of whether a difference is the same in all segments of the users.

    Attributes
    ----------
    f, df1, df2, p : float
        Welch's F, its degrees of freedom and p; NaN where fewer than two segments are left.
    p_adjusted : float
        Corrected for all such tests of a table.
    pooled : float
        The mean of the segments' differences, each by its precision, 1 / error².
    left_out : tuple of labels
        The segments with fewer than two users, or where all have one difference.
    few : tuple of labels
        The segments where fewer than 30 users differ, which make F rough; of `Tests` alone.
    """

    f: float
    df1: float
    df2: float
    p: float
    p_adjusted: float
    pooled: float
    left_out: tuple[Any, ...]
    few: tuple[Any, ...] = ()


def heterogeneity(segments: Mapping[Any, ArrayLike]) -> Heterogeneity:
    """Test whether the mean of the users' differences differs between segments: Welch's F.

    A difference that is found in one segment and not in another does not say that these two
    differ: this test does. It needs no equal variances (Welch 1951; `toplist.stats.estimates.welch`
    has the formula). With 50 users and more in each segment a true null was rejected in 4 to 6 % of
    samples; in 1 to 9 % where fewer than 30 users of a segment differ (benchmarks/sizes.py).

    Parameters
    ----------
    segments : dict of label -> (n,) float
        The differences of the users of each segment; a user is in one segment.

    Returns
    -------
    Heterogeneity
        Segments with fewer than two users, or where all have one difference, are `left_out`.

    Raises
    ------
    TypeError, ValueError
        For what is no dict, and differences that are not finite.

    Examples
    --------
    >>> found = heterogeneity({"new": [0.3, 0.1, 0.4, 0.2], "old": [0.0, 0.1, -0.1], "one": [0.9]})
    >>> round(found.f, 3), round(found.df2, 2), round(found.p, 4), found.left_out
    (8.333, 4.96, 0.0346, ('one',))
    """
    moments = {}
    for label, values in _checked(segments).items():
        try:
            both = difference(values, np.zeros(np.shape(values)))
        except ValueError as error:
            raise prefixed(f"segment {label!r}: ", error) from None
        moments[label] = both.n, both.difference, both.std
    return heterogeneity_of_moments(moments)


def heterogeneity_of_moments(segments: Mapping[Any, tuple[float, float, float]]) -> Heterogeneity:
    """Test the same as `heterogeneity` where the number, mean and spread of the users are known.

    Parameters
    ----------
    segments : dict of label -> (n, mean, std)
        The number of users, the mean of their differences and its standard deviation (ddof = 1).
        Results without users have them: evaluate the truth of every segment by itself, and give
        ``(test.n, test.difference, test.std)`` of each.

    Examples
    --------
    >>> ages = {"new": (966, 0.0073, 0.135), "mid": (1260, 0.0058, 0.103), "old": (1106, 6e-4, 0.1)}
    >>> found = heterogeneity_of_moments(ages)
    >>> round(found.f, 4), found.df1, round(found.df2, 1), round(found.p, 4)
    (1.1196, 2, 2074.8, 0.3266)
    """
    found = {}
    for label, (n, mean, std) in _checked(segments).items():
        if n > 1 and not (std >= 0 and math.isfinite(mean + std)):
            raise ValueError(
                f"segment {label!r} has mean {mean} and std {std}: give finite numbers, std from 0"
            )
        found[label] = mean, std / math.sqrt(n) if n > 1 else math.nan, n - 1
    return _tested(found)


def between(tests: Tests) -> dict[tuple[str, str, str], Heterogeneity]:
    """Return whether the segments of tests differ, by (system, baseline, name).

    Weights are in the errors of the tests and in their degrees of freedom.

    Raises
    ------
    ValueError
        For tests of several runs, and of rows in clusters.
    """
    if _share(tests):
        raise ValueError(ALONE)
    by_pair: dict[tuple[str, str, str], dict[Any, Contrast]] = {}
    for one in tests:
        by_pair.setdefault((one.system, one.baseline, one.name), {})[one.segment] = one
    found = {}
    for pair, some in by_pair.items():
        test = _tested({label: (c.difference, c.error, c.df) for label, c in some.items()})
        few = (label for label, c in some.items() if "FEW DIFFER" in c.cautions)
        if test.p == test.p:
            found[pair] = test._replace(few=tuple(one for one in few if one not in test.left_out))
    correction: Any = tests.plan.correction
    adjusted = adjust([one.p for one in found.values()], correction).tolist()
    both = zip(found.items(), adjusted, strict=True)
    return {pair: one._replace(p_adjusted=p) for (pair, one), p in both}


def lines(tests: Tests) -> list[str]:
    """Return whether the segments of tests differ: a line for each pair and name, of many one."""
    if _share(tests):
        return [ALONE]
    found = between(tests)
    several = len(found) > 1
    corrected = several and tests.plan.correction in CORRECTED
    after = f" after {CORRECTED[tests.plan.correction]} over {len(found)}" if corrected else ""
    words = {pair: f"({_words(one, after)})" for pair, one in found.items()}
    name = {pair: f"{pair[0]} - {pair[1]} {pair[2]}" for pair in found}
    differ = [pair for pair, one in found.items() if one.p_adjusted < 0.05]
    if len(found) <= SHOWN:
        return [
            f"{name[pair] + ': ' if several else ''}the difference "
            f"{'differs' if pair in differ else 'is not shown to differ'} between segments {said}"
            for pair, said in words.items()
        ]
    first = sorted(differ or found, key=lambda pair: found[pair].p_adjusted)[: len(differ) or 1]
    least = few_of([f"{name[pair]} {words[pair]}" for pair in first])
    n = f"{len(differ) or 'none'} of {len(found)} differences"
    return [f"shown to differ between segments: {n}; least p: {least}"]


def _share(tests: Tests) -> bool:
    """Return whether what is known of one segment is known of another, too."""
    return tests.plan.runs is not None or bool(tests.plan.n_clusters)


def _tested(segments: Mapping[Any, tuple[float, float, float]]) -> Heterogeneity:
    """Return the test of segments, (mean, error, df) each; a NaN error is of one user or none."""
    left_out = tuple(label for label, (_, error, _) in segments.items() if not error > 0)
    kept = [one for label, one in segments.items() if label not in left_out]
    f, df1, df2, p, pooled = welch(*np.array(kept).reshape(-1, 3).T)
    return Heterogeneity(f, df1, df2, p, p, pooled, left_out)


def _words(one: Heterogeneity, after: str) -> str:
    """Return F and p, and which segments are left out, or make them rough."""
    words = f"Welch F({one.df1:g}, {one.df2:,.1f}) = {one.f:.2f}, {p_is(one.p_adjusted)}{after}"
    if one.left_out:
        words += f"; without {few_of(one.left_out)}: fewer than two users, or all alike"
    if one.few:
        words += f"; rough, as fewer than {FEW} users differ in {few_of(one.few)}"
    return words


def _checked(segments: Any) -> Mapping[Any, Any]:
    if not isinstance(segments, Mapping):
        raise TypeError(f"give a dict of segment -> differences, not {type(segments).__name__}")
    return segments
