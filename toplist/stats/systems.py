"""Moments of the differences of several systems over the same users, which merge over parts.

A part of the users sends them in the place of its users; t tests, their corrections and bands then
follow for any two of the systems as if all values had been in one place.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from toplist.checks import Floats, cached
from toplist.stats import Difference, Sums, cautions, described
from toplist.stats.units import TIE, snap

# Users whose values are in memory at a time.
USERS_AT_A_TIME = 1 << 12
# Numbers of covariances that are sent, of 8 bytes each: those over k, and those of all names.
MOST = 1 << 19


# What is left of the values a and b of two systems, by user, and of d = a - b: how many users, how
# many with d > 0 and d < 0; the means of a, b and d; the sums of squares of deviations from these,
# and of the cubes of those of d. And how they follow from those of b and a.
FIELDS = "n", "wins", "losses", "a", "b", "d", "aa", "bb", "dd", "ddd"
TURNED, SIGNS = [0, 2, 1, 4, 3, 5, 7, 6, 8, 9], np.array([1, 1, 1, 1, 1, -1, 1, 1, 1, -1])


def sums_of(a: Floats, b: Floats) -> Floats:
    """Return the `FIELDS` of each row of a and b, (rows, users), a column per row."""
    d = snap(a, b)
    counts = [np.full(len(d), float(d.shape[1])), (d > 0).sum(axis=1), (d < 0).sum(axis=1)]
    means = [values.sum(axis=1) / max(d.shape[1], 1) for values in (a, b, d)]
    a, b, d = (v - mean[:, np.newaxis] for v, mean in zip((a, b, d), means, strict=True))
    both = (a, a), (b, b), (d, d), (d * d, d)
    return np.array([*counts, *means, *((one * other).sum(axis=1) for one, other in both)])


def difference_of(pair: Floats, alternative: str = "two-sided", level: float = 0.95) -> Difference:
    """Return what `toplist.stats.difference` does of the values, from the `FIELDS` of a pair.

    Examples
    --------
    >>> both = np.array([[0.5, 0.9, 0.1, 0.4]]), np.array([[0.2, 0.1, 0.2, 0.1]])
    >>> found = difference_of(sums_of(*both)[:, 0])
    >>> round(found.p, 4), found.wins
    (0.176, 3)
    """
    n, wins, losses = pair[:3].astype(int).tolist()
    mean, base, d, aa, bb, dd, ddd = pair[3:].tolist()
    one = Sums(n, np.array([d]), np.array([[dd]])).estimate
    std = float(one.error[0]) * math.sqrt(n)
    # of values in [0, 1] the variance is at most mean (1 - mean)
    bounded = all(squares <= (m * (1 - m) + TIE) * n for m, squares in ((mean, aa), (base, bb)))
    counts, whole = (wins, losses, wins + losses), float(n) if bounded else 0.0
    skewness = math.sqrt(n) * ddd / math.pow(dd, 1.5) if dd > 0 else math.nan
    more = cautions(wins + losses, n, skewness)
    return described(n, (mean, base), one, std, counts, whole, more, alternative, level)


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

    @cached
    def columns(self) -> dict[Key, int]:
        """Over how many columns there are `Sums`.

        By a group: of the first system and all others, in every name. By a metric and the places of
        two systems: of these, over k.
        """
        n_others = len(self.systems) - 1
        found: dict[Key, int] = {g: len(g) * n_others for g in self.groups if self.joined(g)}
        depths = self.depths.items()
        return found | {(metric, *pair): k for metric, k in depths for pair in self.pairs}


# What `MomentLayout.columns` says.
Key = tuple[str, ...] | tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class PairedMoments:
    """Moments of the differences of all pairs of systems; `merged` merges those of parts.

    Attributes
    ----------
    shape : MomentLayout
    pairs : dict of ``name@k`` -> (10, n_pairs) float64
        The `FIELDS` of every pair.
    left_out : dict of ``name@k`` -> int
        Users whom some of the systems count, and others do not.
    sums : dict of key -> Sums
        Those of `MomentLayout.columns`.
    """

    shape: MomentLayout
    pairs: Mapping[str, Floats]
    left_out: Mapping[str, int]
    sums: Mapping[Key, Sums]

    def same_as(self, other: PairedMoments) -> bool:
        """Return whether both are of the same users, in the same shape."""
        if self is other:
            return True
        same = self.shape == other.shape and self.left_out == other.left_out
        return same and all(np.array_equal(self.pairs[n], other.pairs[n]) for n in self.pairs)

    def find(self, system: str, baseline: str, name: str) -> Floats:
        """Return the `FIELDS` of two systems in ``name@k``."""
        i, j = (self.shape.systems.index(one) for one in (system, baseline))
        if i == j:  # no user differs
            other = next(one for one in self.shape.systems if one != system)
            n, _, _, a, _, _, aa, *_ = self.find(system, other, name)
            return np.array([n, 0, 0, a, a, 0, aa, aa, 0, 0])
        found: Floats = self.pairs[name][:, self.shape.pairs.index((min(i, j), max(i, j)))]
        return found if i < j else 0.0 + found[TURNED] * SIGNS

    def curve(self, system: str, baseline: str, metric: str) -> Sums:
        """Return the moments of the difference of two systems over k."""
        i, j = (self.shape.systems.index(one) for one in (system, baseline))
        if i == j:
            first = self.sums[metric, 0, 1]
            return Sums(first.n, 0.0 * first.mean, 0.0 * first.cross)
        found = self.sums[metric, min(i, j), max(i, j)]
        return found if i < j else Sums(found.n, 0.0 - found.mean, found.cross)

    def joint(self, columns: Sequence[tuple[str, str, str]]) -> Sums:
        """Return the moments of some (system, baseline, name) together, names of one group.

        A difference a - b is (first - b) - (first - a); means and variances are those of `find`.
        """
        group = next(one for one in self.shape.groups if columns[0][2] in one)
        others = self.shape.systems[1:]
        signs = np.zeros((len(columns), len(group) * len(others)))
        for row, (system, baseline, name) in enumerate(columns):
            for one, sign in ((system, -1.0), (baseline, 1.0)):
                if one in others:
                    signs[row, group.index(name) * len(others) + others.index(one)] += sign
        found = np.array([self.find(*column) for column in columns])
        cross = signs @ self.sums[group].cross @ signs.T
        np.fill_diagonal(cross, found[:, FIELDS.index("dd")])
        return Sums(int(found[0, 0]), found[:, FIELDS.index("d")], cross)

    def to_bytes(self) -> bytes:
        """Return the moments as bytes: numbers of 8 bytes, compressed.

        Of S systems, N names and metrics with K ranks they are at most 8 (S (S - 1) / 2 (10 N +
        sum of K (K + 3) / 2) + (S N)^2 / 2) bytes, however many users there are.
        """
        parts = [np.array([*self.left_out.values()]), *map(np.ravel, self.pairs.values())]
        for key, m in self.shape.columns.items():
            one = self.sums[key]
            parts += [np.array([one.n]), one.mean, one.cross[np.triu_indices(m)]]
        return zlib.compress(np.concatenate(parts, dtype="<f8").tobytes())

    @classmethod
    def from_bytes(cls, shape: MomentLayout, data: bytes) -> PairedMoments:
        """Return the moments that `to_bytes` wrote, of which the shape is known."""
        rest = np.frombuffer(zlib.decompress(data), "<f8")

        def taken(n: int) -> Floats:
            nonlocal rest
            first, rest = rest[:n], rest[n:]
            return first

        size = len(FIELDS), len(shape.pairs)
        left_out = dict(zip(shape.names, map(int, taken(len(shape.names))), strict=True))
        pairs = {name: taken(math.prod(size)).reshape(size) for name in shape.names}
        sums = {}
        for key, m in shape.columns.items():
            n, mean, cross = int(taken(1)[0]), taken(m), np.zeros((m, m))
            cross[np.triu_indices(m)] = taken(m * (m + 1) // 2)
            sums[key] = Sums(n, mean, cross + np.triu(cross, 1).T)
        return cls(shape, pairs, left_out, sums)

    @classmethod
    def of(
        cls,
        shape: MomentLayout,
        group: tuple[str, ...],
        values: Mapping[str, Floats],
        n_left_out: int = 0,
    ) -> PairedMoments:
        """Return those of users by their values (S, users) in every name of a group.

        And (S, users, K) in those of its metrics that have depths.

        Examples
        --------
        >>> shape = MomentLayout(("a", "b"), (("mrr@1",),), {"mrr": 2})
        >>> curves = np.array([[[0.0, 0.5], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.5]]])
        >>> values = {"mrr@1": curves[:, :, 0], "mrr": curves}
        >>> found = PairedMoments.of(shape, ("mrr@1",), values)
        >>> int(found.find("b", "a", "mrr@1")[2]), found.curve("a", "b", "mrr").mean
        (1, array([0.5, 0.5]))
        """
        pairs, sums, first = dict[str, Floats](), dict[Key, Sums](), list[Floats]()
        for name, table in values.items():
            if table.ndim == 3:
                for i, j in shape.pairs:
                    sums[name, i, j] = Sums.of(snap(table[i], table[j]), n_threads=1)
            else:
                columns = [sums_of(table[[i]], table[[j]]) for i, j in shape.pairs]
                pairs[name] = np.hstack(columns)
                first += [snap(table[0], other) for other in table[1:]]
        if group in shape.columns:
            sums[group] = Sums.of(np.transpose(first), n_threads=1)
        return cls(shape, pairs, dict.fromkeys(group, n_left_out), sums)

    @classmethod
    def merged(cls, parts: Iterable[PairedMoments]) -> PairedMoments:
        """Return the moments of all users of some parts, merged in this order."""
        pairs: dict[str, list[Floats]] = {}
        left_out: Counter[str] = Counter()
        sums = dict[Key, Sums]()
        for part in parts:
            for name, table in part.pairs.items():
                pairs.setdefault(name, []).append(table)
            left_out.update(part.left_out)
            for key, one in part.sums.items():
                sums[key] = sums[key] + one if key in sums else one
        named = {name: merged(np.array(some)) for name, some in pairs.items()}
        return cls(part.shape, named, left_out, sums)


@dataclass(frozen=True, eq=False)
class SystemRef:
    """Which system a result is in the moments that it shares with others."""

    moments: PairedMoments
    system: str
