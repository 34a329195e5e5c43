"""Moments of the differences of several systems over the same users, which merge over parts.

A part of the users sends them in the place of its users; t tests, their corrections and bands then
follow for any two of the systems as if all values had been in one place.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np

from toplist.checks import Floats
from toplist.stats.pairs import FIELDS, Pairs, merged_columns, moments_of, snap
from toplist.stats.simultaneous import Joint

# Users whose values are in memory at a time.
USERS_AT_A_TIME = 1 << 12
# Numbers of covariances that are sent, of 8 bytes each: those over k, and those of all names.
MOST = 1 << 19


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


@dataclass(frozen=True, eq=False)
class PairedMoments:
    """Moments of the differences of all pairs of systems; `merged` merges those of parts.

    Attributes
    ----------
    shape : MomentLayout
    pairs : dict of ``name@k`` -> (12, n_pairs) float64
        Of every pair, the fields of `Pairs`.
    left_out : dict of ``name@k`` -> int
        Users whom some of the systems count, and others do not.
    joints : dict of place of a group -> Joint
        Of the differences of the first system to each other one, in every name.
    curves : dict of metric -> list of Joint
        Of every pair, over k.
    """

    shape: MomentLayout
    pairs: Mapping[str, Floats]
    left_out: Mapping[str, int]
    joints: Mapping[int, Joint]
    curves: Mapping[str, Sequence[Joint]]

    def same_as(self, other: PairedMoments) -> bool:
        """Return whether both are of the same users, in the same shape."""
        if self is other:
            return True
        same = self.shape == other.shape and self.left_out == other.left_out
        return same and all(np.array_equal(self.pairs[n], other.pairs[n]) for n in self.pairs)

    def find(self, system: str, baseline: str, name: str) -> Pairs:
        """Return the moments of the values of two systems in ``name@k``."""
        i, j = (self.shape.systems.index(one) for one in (system, baseline))
        if i == j:
            other = next(one for one in self.shape.systems if one != system)
            return self.find(system, other, name).own
        column = self.shape.pairs.index((min(i, j), max(i, j)))
        found = Pairs.of_column(self.pairs[name][:, column])
        return found if i < j else found.reversed

    def curve(self, system: str, baseline: str, metric: str) -> Joint:
        """Return the moments of the difference of two systems over k."""
        i, j = (self.shape.systems.index(one) for one in (system, baseline))
        if i == j:
            first = self.curves[metric][0]
            return Joint(first.n, 0.0 * first.mean, 0.0 * first.cross)
        found = self.curves[metric][self.shape.pairs.index((min(i, j), max(i, j)))]
        return found if i < j else Joint(found.n, 0.0 - found.mean, found.cross)

    def joint(self, columns: Sequence[tuple[str, str, str]]) -> Joint:
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
        cross = signs @ self.joints[place].cross @ signs.T
        np.fill_diagonal(cross, [one.dd for one in found])
        return Joint(found[0].n, np.array([one.mean for one in found]), cross)

    def to_bytes(self) -> bytes:
        """Return the moments as bytes: compressed arrays of numpy, without pickle.

        Of S systems, N names and metrics with K ranks they are at most 8 (S (S - 1) / 2 (12 N +
        sum of K (K + 3) / 2) + (S N)^2 / 2) bytes, however many users there are.
        """
        arrays: dict[str, Any] = {
            "pairs": np.array(list(self.pairs.values())),
            "left_out": np.array(list(self.left_out.values()), np.int64),
        }
        arrays |= {f"joint {place}": _packed([one]) for place, one in self.joints.items()}
        arrays |= {f"curve {metric}": _packed(some) for metric, some in self.curves.items()}
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, shape: MomentLayout, data: bytes) -> PairedMoments:
        """Return the moments that `to_bytes` wrote, of which the shape is known."""
        with np.load(io.BytesIO(data)) as given:
            arrays = dict(given)
        places = [i for i, group in enumerate(shape.groups) if shape.joined(group)]
        return cls(
            shape,
            dict(zip(shape.names, arrays["pairs"], strict=True)),
            dict(zip(shape.names, arrays["left_out"].tolist(), strict=True)),
            {place: _unpacked(arrays[f"joint {place}"])[0] for place in places},
            {metric: _unpacked(arrays[f"curve {metric}"]) for metric in shape.depths},
        )

    @classmethod
    def merged(cls, parts: Iterable[PairedMoments]) -> PairedMoments:
        """Return the moments of all users of some parts, merged in this order."""
        several = list(parts)
        first = several[0]
        pairs = {
            name: _merged(np.array([part.pairs[name] for part in several]))
            for name in first.shape.names
        }
        return cls(
            first.shape,
            pairs,
            {name: sum(part.left_out[name] for part in several) for name in first.shape.names},
            {i: reduce(add, (part.joints[i] for part in several)) for i in first.joints},
            {
                metric: [reduce(add, of_pair) for of_pair in zip(*curves, strict=True)]
                for metric in first.curves
                for curves in [[part.curves[metric] for part in several]]
            },
        )


@dataclass(frozen=True, eq=False)
class SystemRef:
    """Which system a result is in the moments that it shares with others."""

    moments: PairedMoments
    system: str


class Accumulator:
    """Moments that are gathered, some users after the other.

    Examples
    --------
    >>> found = Accumulator(MomentLayout(("a", "b"), (("mrr@1",),), {"mrr": 2}))
    >>> found.add(0, {"mrr@1": np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])})
    >>> found.moments.find("b", "a", "mrr@1").losses
    2
    >>> curves = np.array([[[0.0, 0.5], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.5]]])
    >>> found.add_curves("mrr", curves)
    >>> found.moments.curve("a", "b", "mrr").mean
    array([0.5, 0.5])
    """

    def __init__(self, shape: MomentLayout) -> None:
        """Begin with nobody."""
        self.shape = shape
        nobody = np.zeros((FIELDS, len(shape.pairs)))
        self.pairs = {name: [nobody] for name in shape.names}
        self.left_out = dict.fromkeys(shape.names, 0)
        self.joints = {
            place: _nobody(len(group) * (len(shape.systems) - 1))
            for place, group in enumerate(shape.groups)
            if shape.joined(group)
        }
        self.curves = {
            metric: [_nobody(k)] * len(shape.pairs) for metric, k in shape.depths.items()
        }

    def add(self, place: int, values: Mapping[str, Floats]) -> None:
        """Add users by their values (S, users) in every name of a group."""
        columns = []
        for name in self.shape.groups[place]:
            table = values[name]
            rows = [
                moments_of(np.broadcast_to(one, table[i + 1 :].shape), table[i + 1 :])
                for i, one in enumerate(table[:-1])
            ]
            self.pairs[name].append(np.hstack(rows))
            columns += [snap(table[0], other) for other in table[1:]]
        if place in self.joints:
            self.joints[place] += Joint.of(np.array(columns).T, n_threads=1)

    def add_curves(self, metric: str, curves: Floats) -> None:
        """Add users by their values (S, users, K) in a metric over k."""
        for place, (i, j) in enumerate(self.shape.pairs):
            difference = snap(curves[i].ravel(), curves[j].ravel()).reshape(curves[i].shape)
            self.curves[metric][place] += Joint.of(difference, n_threads=1)

    @property
    def moments(self) -> PairedMoments:
        """The moments of all users so far."""
        pairs = {name: _merged(np.array(some)) for name, some in self.pairs.items()}
        return PairedMoments(self.shape, pairs, self.left_out, self.joints, self.curves)


def _merged(blocks: Floats) -> Floats:
    """Return blocks of users (blocks, 12, pairs) merged, (12, pairs)."""
    found = [merged_columns(blocks[:, :, place].T) for place in range(blocks.shape[2])]
    return np.array([astuple(one) for one in found], np.float64).T


def _nobody(n_columns: int) -> Joint:
    return Joint(0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))


def _packed(joints: Sequence[Joint]) -> Floats:
    """Return a row per Joint: n, the means, the upper triangle of the products."""
    upper = np.triu_indices(len(joints[0].mean))
    return np.array([np.concatenate([[one.n], one.mean, one.cross[upper]]) for one in joints])


def _unpacked(rows: Floats) -> list[Joint]:
    """Return what `_packed` packed: of K columns, a row has 1 + K (K + 3) / 2 numbers."""
    k = (math.isqrt(8 * rows.shape[1] + 1) - 3) // 2
    found = []
    for row in rows:
        cross = np.zeros((k, k))
        cross[np.triu_indices(k)] = row[1 + k :]
        found.append(Joint(int(row[0]), row[1 : 1 + k], cross + np.triu(cross, 1).T))
    return found
