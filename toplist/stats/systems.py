"""Moments of the differences of several systems over the same users, which merge over parts.

A part of the users sends them in the place of its users; t tests, their corrections and bands then
follow for any two of the systems as if all values had been in one place.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from toplist.checks import Floats
from toplist.stats.estimates import Difference, Sums, cautions, described
from toplist.stats.units import TIE, snap

# Users whose values are in memory at a time.
USERS_AT_A_TIME = 1 << 12
# Numbers of covariances that are sent, of 8 bytes each: those over k, and those of all names.
MOST = 1 << 19


@dataclass(frozen=True)
class PairSums:
    """What is left of the values a and b of two systems, by user, and of d = a - b.

    Attributes
    ----------
    n, wins, losses : int
        All users, those with d > 0, and those with d < 0.
    mean_a, mean_b, mean : float
        Means of a, b and d.
    aa, bb, dd : float
        Sums of squares of deviations from these means.
    ddd : float
        The sum of the cubes of those of d.
    """

    n: int
    wins: int
    losses: int
    mean_a: float
    mean_b: float
    mean: float
    aa: float
    bb: float
    dd: float
    ddd: float

    @classmethod
    def of_column(cls, column: Floats) -> PairSums:
        """Return the sums whose fields are the numbers of a column."""
        n, wins, losses, *others = column.tolist()
        return cls(int(n), int(wins), int(losses), *others)

    @property
    def reversed(self) -> PairSums:
        """The sums of b and a: of -d."""
        means = self.mean_b, self.mean_a, 0.0 - self.mean
        products = self.bb, self.aa, self.dd, 0.0 - self.ddd
        return PairSums(self.n, self.losses, self.wins, *means, *products)

    def difference(self, alternative: str = "two-sided", level: float = 0.95) -> Difference:
        """Return what `estimates.difference` does of the values.

        Examples
        --------
        >>> both = np.array([[0.5, 0.9, 0.1, 0.4]]), np.array([[0.2, 0.1, 0.2, 0.1]])
        >>> found = PairSums.of_column(sums_of(*both)[:, 0]).difference()
        >>> round(found.p, 4), found.wins
        (0.176, 3)
        """
        n, base = self.n, self.mean_b
        one = Sums(n, np.array([self.mean]), np.array([[self.dd]])).estimate
        # of values in [0, 1] the variance is at most mean (1 - mean)
        most = [(m * (1 - m) + TIE) * n for m in (self.mean_a, base)]
        bounded = self.aa <= most[0] and self.bb <= most[1]
        std = float(one.error[0]) * math.sqrt(n)
        whole = float(n) if bounded else 0.0
        differ = self.wins + self.losses
        means, counts = (self.mean_a, base), (self.wins, self.losses, differ)
        skewness = math.sqrt(n) * self.ddd / math.pow(self.dd, 1.5) if self.dd > 0 else math.nan
        more = cautions(differ, n, skewness)
        return described(n, means, one, std, counts, whole, more, alternative, level)


def sums_of(a: Floats, b: Floats) -> Floats:
    """Return the fields of `PairSums` of each row of a and b, (rows, users), a column per row."""
    d = snap(a, b)
    counts = [np.full(len(d), float(d.shape[1])), (d > 0).sum(axis=1), (d < 0).sum(axis=1)]
    means = [values.sum(axis=1) / max(d.shape[1], 1) for values in (a, b, d)]
    a, b, d = (v - mean[:, np.newaxis] for v, mean in zip((a, b, d), means, strict=True))
    both = (a, a), (b, b), (d, d), (d * d, d)
    return np.array([*counts, *means, *((one * other).sum(axis=1) for one, other in both)])


def merged(parts: Floats) -> Floats:
    """Return the sums of all users, (fields, pairs), from those of parts, (parts, fields, pairs).

    (Chan, Golub, LeVeque 1979, for many parts.)
    """
    n = parts[:, :1]
    counts = parts[:, :3].sum(axis=0)
    with np.errstate(invalid="ignore"):  # nobody has no mean
        means = np.where(n > 0, n * parts[:, 3:6], 0.0).sum(axis=0) / counts[:1]
    a, b, d = np.where(n > 0, parts[:, 3:6] - means, 0.0).transpose(1, 0, 2)
    cubes = d * d * d + 3 * d * np.divide(parts[:, 8], n[:, 0], where=n[:, 0] > 0, out=0.0 * d)
    apart = np.stack([a * a, b * b, d * d, cubes], axis=1)
    products = np.where(n > 0, parts[:, 6:] + n * apart, 0.0).sum(axis=0)
    return np.vstack([counts, means, products])


@dataclass(frozen=True)
class MomentLayout:
    """What the moments are of.

    Attributes
    ----------
    systems : tuple of str
        At least two.
    groups : tuple of tuple of str
        The ``name@k``; those of one group are over the same users.
    depths : dict of metric -> K
        Metrics with covariances over k = 1..K.
    """

    systems: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    depths: Mapping[str, int]

    @property
    def names(self) -> list[str]:
        """All ``name@k``."""
        return [name for group in self.groups for name in group]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the two systems of every pair."""
        return list(combinations(range(len(self.systems)), 2))

    def joined(self, group: Sequence[str]) -> bool:
        """Return whether the covariances of all names of a group are kept."""
        n = len(group) * (len(self.systems) - 1)
        return n * (n + 1) // 2 <= MOST

    @property
    def sums(self) -> dict[int | str, tuple[int, int]]:
        """Of how many differences, and over how many columns, there are `Sums`.

        By the place of a group: of the first system and all others, in every name. By a metric:
        of every pair, over k.
        """
        n_others, n_pairs = len(self.systems) - 1, len(self.pairs)
        found: dict[int | str, tuple[int, int]] = {
            place: (1, len(group) * n_others)
            for place, group in enumerate(self.groups)
            if self.joined(group)
        }
        return found | {metric: (n_pairs, k) for metric, k in self.depths.items()}


@dataclass(frozen=True, eq=False)
class PairedMoments:
    """Moments of the differences of all pairs of systems; `merged` merges those of parts.

    Attributes
    ----------
    shape : MomentLayout
    pairs : dict of ``name@k`` -> (10, n_pairs) float64
        Of every pair, the fields of `PairSums`.
    left_out : dict of ``name@k`` -> int
        Users whom some of the systems count, and others do not.
    sums : dict of place of a group, or metric -> list of Sums
        Those of `MomentLayout.sums`.
    """

    shape: MomentLayout
    pairs: Mapping[str, Floats]
    left_out: Mapping[str, int]
    sums: Mapping[int | str, Sequence[Sums]]

    def same_as(self, other: PairedMoments) -> bool:
        """Return whether both are of the same users, in the same shape."""
        if self is other:
            return True
        same = self.shape == other.shape and self.left_out == other.left_out
        return same and all(np.array_equal(self.pairs[n], other.pairs[n]) for n in self.pairs)

    def find(self, system: str, baseline: str, name: str) -> PairSums:
        """Return the moments of the values of two systems in ``name@k``."""
        i, j = (self.shape.systems.index(one) for one in (system, baseline))
        if i == j:  # no user differs
            other = next(one for one in self.shape.systems if one != system)
            a = self.find(system, other, name)
            return PairSums(*(a.n, 0, 0, a.mean_a, a.mean_a, 0.0), *(a.aa, a.aa, 0.0, 0.0))
        column = self.shape.pairs.index((min(i, j), max(i, j)))
        found = PairSums.of_column(self.pairs[name][:, column])
        return found if i < j else found.reversed

    def curve(self, system: str, baseline: str, metric: str) -> Sums:
        """Return the moments of the difference of two systems over k."""
        i, j = (self.shape.systems.index(one) for one in (system, baseline))
        if i == j:
            first = self.sums[metric][0]
            return Sums(first.n, 0.0 * first.mean, 0.0 * first.cross)
        found = self.sums[metric][self.shape.pairs.index((min(i, j), max(i, j)))]
        return found if i < j else Sums(found.n, 0.0 - found.mean, found.cross)

    def joint(self, columns: Sequence[tuple[str, str, str]]) -> Sums:
        """Return the moments of some (system, baseline, name) together, names of one group.

        A difference a - b is (first - b) - (first - a); means and variances are those of `find`.
        """
        place = next(i for i, one in enumerate(self.shape.groups) if columns[0][2] in one)
        group, others = self.shape.groups[place], self.shape.systems[1:]
        signs = np.zeros((len(columns), len(group) * len(others)))
        for row, (system, baseline, name) in enumerate(columns):
            for one, sign in ((system, -1.0), (baseline, 1.0)):
                if one in others:
                    signs[row, group.index(name) * len(others) + others.index(one)] += sign
        found = [self.find(*column) for column in columns]
        cross = signs @ self.sums[place][0].cross @ signs.T
        np.fill_diagonal(cross, [one.dd for one in found])
        return Sums(found[0].n, np.array([one.mean for one in found]), cross)

    def to_bytes(self) -> bytes:
        """Return the moments as bytes: compressed arrays of numpy, without pickle.

        Of S systems, N names and metrics with K ranks they are at most 8 (S (S - 1) / 2 (10 N +
        sum of K (K + 3) / 2) + (S N)^2 / 2) bytes, however many users there are.
        """
        arrays: dict[str, Any] = {
            "pairs": [*self.pairs.values()],
            "left_out": [*self.left_out.values()],
        }
        for key, some in self.sums.items():
            upper = np.triu_indices(self.shape.sums[key][1])
            arrays[f"sums of {key}"] = [[one.n, *one.mean, *one.cross[upper]] for one in some]
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, shape: MomentLayout, data: bytes) -> PairedMoments:
        """Return the moments that `to_bytes` wrote, of which the shape is known."""
        with np.load(io.BytesIO(data)) as given:
            arrays = dict(given)
        sums: dict[int | str, list[Sums]] = {}
        for key, (_, k) in shape.sums.items():
            sums[key] = []
            for row in arrays[f"sums of {key}"]:
                cross = np.zeros((k, k))
                cross[np.triu_indices(k)] = row[1 + k :]
                cross += np.triu(cross, 1).T
                sums[key].append(Sums(int(row[0]), row[1 : 1 + k], cross))
        pairs = dict(zip(shape.names, arrays["pairs"], strict=True))
        left_out = dict(zip(shape.names, arrays["left_out"].tolist(), strict=True))
        return cls(shape, pairs, left_out, sums)

    @classmethod
    def of(cls, shape: MomentLayout, place: int, values: Mapping[str, Floats]) -> PairedMoments:
        """Return those of users by their values (S, users) in every name of a group.

        And (S, users, K) in those of its metrics that have depths.

        Examples
        --------
        >>> shape = MomentLayout(("a", "b"), (("mrr@1",),), {"mrr": 2})
        >>> curves = np.array([[[0.0, 0.5], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.5]]])
        >>> found = PairedMoments.of(shape, 0, {"mrr@1": curves[:, :, 0], "mrr": curves})
        >>> found.find("b", "a", "mrr@1").losses, found.curve("a", "b", "mrr").mean
        (1, array([0.5, 0.5]))
        """
        pairs, sums, first = dict[str, Floats](), dict[int | str, Sequence[Sums]](), list[Floats]()
        for name, table in values.items():
            if table.ndim == 3:
                both = (snap(table[i], table[j]) for i, j in shape.pairs)
                sums[name] = [Sums.of(one, n_threads=1) for one in both]
            else:
                columns = [sums_of(table[[i]], table[[j]]) for i, j in shape.pairs]
                pairs[name] = np.hstack(columns)
                first += [snap(table[0], other) for other in table[1:]]
        if place in shape.sums:
            sums[place] = [Sums.of(np.transpose(first), n_threads=1)]
        return cls(shape, pairs, {}, sums)

    @classmethod
    def merged(cls, parts: Iterable[PairedMoments]) -> PairedMoments:
        """Return the moments of all users of some parts, merged in this order."""
        pairs: dict[str, list[Floats]] = {}
        left_out: Counter[str] = Counter()
        sums: dict[int | str, Sequence[Sums]] = {}
        for part in parts:
            for name, table in part.pairs.items():
                pairs.setdefault(name, []).append(table)
            left_out.update(part.left_out)
            for key, some in part.sums.items():
                both = zip(sums.get(key, some), some, strict=True)
                sums[key] = [one + other for one, other in both] if key in sums else some
        named = {name: merged(np.array(some)) for name, some in pairs.items()}
        return cls(part.shape, named, left_out, sums)


@dataclass(frozen=True, eq=False)
class SystemRef:
    """Which system a result is in the moments that it shares with others."""

    moments: PairedMoments
    system: str
