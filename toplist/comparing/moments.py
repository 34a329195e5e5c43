"""Moments of the users' differences: made where the users are, tested where they are not.

A result without users cannot be tested. Where several systems are evaluated together, each part of
the users also makes the moments of their differences (`toplist.stats.systems`); they are merged
with the means, and every result knows them, and which of the systems it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toplist.checks import Ints, choice
from toplist.comparing.aligning import TOGETHER, USERS, other_users
from toplist.comparing.contrasts import Contrast
from toplist.comparing.pairwise import Column, Pair, TestSpec, corrected, named, row_of
from toplist.comparing.tests import Tests
from toplist.results.means import PER_USER, Means, hits_of, in_means
from toplist.results.terms import Terms
from toplist.stats.estimates import Difference, Sums
from toplist.stats.simultaneous import MaxT, maxt_t
from toplist.stats.systems import MOST, USERS_AT_A_TIME, Accumulator, MomentLayout, PairedMoments

# What to do where moments of results without users do not do.
VALUES = PER_USER


def shape_of(systems: Sequence[str], terms: Terms) -> MomentLayout:
    """Return what the moments of systems are of: every ``name@k`` asked for, and curves over k."""
    groups: dict[Any, list[str]] = {}
    for name in dict.fromkeys(terms.names):
        metric = name.rpartition("@")[0]
        if metric in terms.metrics and metric not in terms.pooled:
            groups.setdefault(terms.counting[metric], []).append(name)
    metrics = dict.fromkeys(name.rpartition("@")[0] for group in groups.values() for name in group)
    k, n_pairs = terms.depth, len(systems) * (len(systems) - 1) // 2
    fits = n_pairs * len(metrics) * k * (k + 1) // 2 <= MOST
    return MomentLayout(
        tuple(systems),
        tuple(map(tuple, groups.values())),
        dict.fromkeys(metrics, k) if fits else {},
    )


def of_results(results: Mapping[str, Means]) -> PairedMoments:
    """Return the moments of systems over the same ground truths; the results hold their hits.

    Only users whom all systems count are in them; the others are counted as left out.

    Examples
    --------
    >>> import toplist as tl
    >>> truths = [{user % 3} for user in range(9)]
    >>> lists = {"a": [[0, 1, 2]] * 9, "b": [[2, 1, 0]] * 9}
    >>> results = {name: tl.top_k_eval(some, truths, k=2) for name, some in lists.items()}
    >>> both = of_results(results).find("a", "b", "mrr@2")
    >>> both.wins, both.ties, both.losses, both.mean
    (3, 3, 3, 0.0)
    """
    shape = shape_of(list(results), next(iter(results.values())).terms)
    found, places = Accumulator(shape), _in_one_order(results)
    for place, group in enumerate(shape.groups):
        metrics = list(dict.fromkeys(name.rpartition("@")[0] for name in group))
        in_all = [in_means(one, metrics)[places[system]] for system, one in results.items()]
        every, some = np.all(in_all, axis=0), np.any(in_all, axis=0)
        for name in group:
            found.left_out[name] += int(some.sum() - every.sum())
        rows = np.flatnonzero(every)
        for low in range(0, len(rows), USERS_AT_A_TIME):
            users = rows[low : low + USERS_AT_A_TIME]
            parts = []  # for their values; the means stay those of all
            for system, one in results.items():
                own = places[system][users]
                hits, counted = hits_of(one, "its users are not known")
                parts.append(replace(one, hits=hits.subset(own), counted=counted[own]))
            values = {name: np.array([one.per_user(name) for one in parts]) for name in group}
            found.add(place, values)
            for metric in (one for one in metrics if one in shape.depths):
                found.add_curves(metric, np.array([one.per_user(metric) for one in parts]))
    return found.moments


def _in_one_order(results: Mapping[str, Means]) -> dict[str, Ints]:
    """Return the rows of all users of every system, in the order of the first one."""
    first = next(iter(results.values())).users
    rows = {}
    for system, result in results.items():
        row_of_user = {user: row for row, user in enumerate(result.users)}
        rows[system] = np.array([row_of_user[user] for user in first], np.int64)
    return rows


@dataclass(frozen=True)
class SharedMoments:
    """The moments of results without users, for tests of them.

    Attributes
    ----------
    moments : PairedMoments
    system_of : dict of name -> system
        Results may have other names than the systems of the moments.
    users : {"same", "common"}
    """

    moments: PairedMoments
    system_of: Mapping[str, str]
    users: str

    def difference(self, system: str, baseline: str, name: str, asked: TestSpec) -> Difference:
        """Return the difference of two results in ``name@k``."""
        self._check(name)
        found = self.moments.find(self.system_of[system], self.system_of[baseline], name)
        return found.difference(**asked.of_users)

    def curve(self, system: str, baseline: str, metric: str) -> Sums:
        """Return the moments of the difference of two results over k."""
        shape = self.moments.shape
        if metric not in shape.depths:
            raise ValueError(
                f"no band of {metric}: over all k, its moments for {len(shape.systems)} systems "
                f"would be too many to send (at most {MOST:,} numbers for all metrics together): "
                "evaluate fewer systems or metrics at a time, or to a smaller k"
            )
        self._check(next(name for name in shape.names if name.rpartition("@")[0] == metric))
        return self.moments.curve(self.system_of[system], self.system_of[baseline], metric)

    def joint(self, columns: Sequence[Column]) -> Sums:
        """Return the moments of some (system, baseline, name) together."""
        shape = self.moments.shape
        if len(self.moments.joints) < len(shape.groups):
            raise ValueError(
                f"correction='maxt' needs the covariances of all names, which {len(shape.names)} "
                f"names of {len(shape.systems)} systems have too many of: give 'holm'"
            )
        for _, _, name in columns:
            self._check(name)
        named = [(self.system_of[a], self.system_of[b], name) for a, b, name in columns]
        return self.moments.joint(named)

    def _check(self, name: str) -> None:
        """Refuse a name without moments, and users whom some of the systems do not count."""
        shape = self.moments.shape
        if name not in shape.names:
            raise ValueError(
                f"{name} was not asked for where the users were, so its differences are unknown: "
                f"give its k to top_k_eval; known are {', '.join(shape.names)}"
            )
        left_out = self.moments.left_out[name]
        if left_out and self.users == "same":
            raise other_users(self.system_of, left_out, ", ".join(shape.systems))
        if left_out and {*self.system_of.values()} != {*shape.systems}:
            raise ValueError(
                f"the users that are common to {', '.join(shape.systems)} are known, not those of "
                "fewer systems: compare all of them, or evaluate those of interest alone"
            )
        if not self.moments.pairs[name][0].any():
            raise ValueError(f"nobody to test: no user is in all of {', '.join(shape.systems)}")


def known(results: Mapping[str, Means], users: str = "same") -> SharedMoments | None:
    """Return the moments of results without users; None where they hold users, or know none."""
    choice("users", users, USERS)
    found = {name: getattr(one, "paired", None) for name, one in results.items()}
    if not any(found.values()) or all(one.hits is not None for one in results.values()):
        return None
    first, where = next((name, one) for name, one in found.items() if one is not None)
    for name, one in found.items():
        if one is None or not one.moments.same_as(where.moments):
            raise ValueError(
                f"{name} and {first} are not of one evaluation, so the differences of their users "
                f"are unknown: {TOGETHER}"
            )
    return SharedMoments(
        where.moments, {name: one.system for name, one in found.items() if one}, users
    )


def refuse(what: str, instead: str) -> ValueError:
    """Return the error for what does not follow from moments."""
    return ValueError(
        f"{what} needs the values of users, which these results are without: {instead}; or {VALUES}"
    )


def contrasted(
    known: SharedMoments,
    pairs: Sequence[Pair],
    names: Sequence[str],
    asked: TestSpec,
    higher: Callable[[str], bool | None],
) -> Tests:
    """Return the comparisons of all pairs in all names, corrected, as `pairwise.contrasted` does.

    Raises
    ------
    ValueError
        For methods that need the values of users.
    """
    if asked.method != "t":
        raise refuse(f"method={asked.method!r}", "method='t' works")

    def contrast(system: str, baseline: str, name: str) -> Contrast:
        return row_of(known.difference(system, baseline, name, asked), asked)

    def largest(columns: Sequence[Column]) -> MaxT:
        return maxt_t(known.joint(columns).estimate, **(asked.drawn | asked.of_users))

    rows = named(contrast, pairs, names, higher)
    return corrected(rows, asked.plan(rows), largest)
