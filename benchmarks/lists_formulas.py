"""What the metrics of `lists.py` are given, and the peers' formulas where these are their own."""

import math
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from lists_answers import Population, elliot_tail

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracle import beyond as oracle
from oracle import lists as twins


class World:
    """A population with what the metrics are given of it."""

    def __init__(self, given: Population) -> None:
        self.given = given
        self.lists, self.histories = given.lists, given.histories
        self.items = range(len(given.labels))
        self.labels = dict(enumerate(given.labels))
        self.features = dict(enumerate(given.features))
        self.indicators = dict(enumerate(given.indicators()))
        self.labelled = {item: row for item, row in self.indicators.items() if any(row)}
        self.providers = dict(enumerate(given.providers))

    def subjects(self, whole: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield what is measured at each k: users, or the lists of windows of users."""
        for k in self.given.ks:
            users = {user: user for user in self.lists}
            yield k, self.given.windows(k) if whole else users

    @cached_property
    def seen(self) -> dict[int, int]:
        """How many histories hold each item, of those that some hold."""
        return dict(self.given.counts)

    @cached_property
    def counts(self) -> dict[int, int]:
        """The same of every item."""
        return {item: self.seen.get(item, 0) for item in self.items}

    @cached_property
    def shares(self) -> dict[int, float]:
        """The share of all interactions that are with each item."""
        return {item: n / sum(self.seen.values()) for item, n in self.seen.items()}

    @cached_property
    def n_users(self) -> int:
        """How many users have a history."""
        return sum(map(bool, self.histories.values()))

    @cached_property
    def popular(self) -> set[int]:
        """The baseline as a set."""
        return {*self.given.popular}

    @cached_property
    def tail(self) -> set[int]:
        """What is not of Elliot's short head."""
        return elliot_tail(self.given.counts)

    @cached_property
    def quantiles(self) -> dict[int, float]:
        """The share of the items that are as popular, of equal ones the mean."""
        values = [*self.seen.values()]
        below = {n: sum(one < n for one in values) for n in values}
        return {
            item: (below[n] + (values.count(n) + 1) / 2) / len(values)
            for item, n in self.seen.items()
        }

    @cached_property
    def apart(self) -> list[list[float]]:
        """One minus the cosine of the users of two items."""
        found = [[1.0] * len(self.items) for _ in self.items]
        for row in self.histories.values():
            for i in row:
                for j in row:
                    found[i][j] -= 1 / math.sqrt(self.counts[i] * self.counts[j])
        return found


def rows_of(lists: dict[str, list[int]]) -> list[list[int]]:
    """Return the lists that hold something."""
    return [row for row in lists.values() if row]


# Own formulas of peers, of one user or of some users' lists


def unlike_pairs(world: World, user: str, k: int) -> float:
    """Evaluate diversity where two items without a label have the distance 0, as scipy says."""

    def distance(a: Any, b: Any) -> float:
        return twins.jaccard_distance(a, b) if a or b else 0.0

    return oracle.intra_list_diversity(world.lists[user], k, world.labels, distance)


def pairs_alone(world: World, user: str, k: int) -> float:
    """Evaluate diversity of known pairs: 0 without any pair, NaN without one that is known."""
    listed = world.lists[user][:k]
    known = [item for item in listed if item in world.labelled]
    if len(known) < 2:
        return math.nan if len(listed) > 1 else 0.0
    return oracle.intra_list_diversity(known, k, world.labelled, oracle.hamming_distance)


def rectools_serendipity(world: World, user: str, k: int) -> float:
    """Add up by how much higher than by popularity the hits stand, over the list."""
    n, levels = len(world.items), sorted({*world.seen.values()}, reverse=True)
    total = 0.0
    for rank, item in enumerate(world.lists[user][:k], start=1):
        if item in world.given.truths[user]:
            known = item in world.seen
            expected = (n - levels.index(world.seen[item])) / n if known else 0.0
            total += max((n + 1 - rank) / n - expected, 0.0)
    return total / len(world.lists[user][:k])


def unlike_history(features: str) -> Callable[[World, str, int], float]:
    """Return how unlike their user's history the hits are, a mean over the list."""

    def distance(world: World, a: int, b: int) -> float:
        if features:
            return oracle.cosine_distance(world.features[a], world.features[b])
        return world.apart[a][b]

    def value(world: World, user: str, k: int) -> float:
        history, truth = world.histories[user], world.given.truths[user]
        hits = [item for item in world.lists[user][:k] if item in truth]
        means = [sum(distance(world, item, one) for one in history) / len(history) for item in hits]
        return sum(means) / len(world.lists[user][:k])

    return value


def cold_are_worth_nothing(world: World, user: str, k: int) -> float:
    """Average self-information over all items listed, 0 of those that nobody has seen."""
    total, listed = sum(world.seen.values()), world.lists[user][:k]
    return sum(-math.log2(world.seen[i] / total) for i in listed if i in world.seen) / len(listed)


def cold_are_counted(world: World, lists: dict[str, list[int]], k: int) -> float:
    """Divide all items listed by those of the histories."""
    return len({item for row in lists.values() for item in row}) / len(world.seen)


def over_k(world: World, user: str, k: int) -> float:
    """Take the share of k places that the first k of the baseline hold off 1."""
    return 1 - len({*world.lists[user][:k]} & {*world.given.popular[:k]}) / k


def users_weigh_the_same(world: World, lists: dict[str, list[int]], k: int) -> float:
    """Average over users the mean self-information of their items among all listings."""
    listed = oracle.listings(rows_of(lists), k)
    total = sum(listed.values())
    means = [-sum(math.log2(listed[i] / total) for i in row) / len(row) for row in rows_of(lists)]
    return sum(means) / len(lists)


def raised_entropy(by_rank: bool) -> Callable[[World, str, int], float]:
    """Return the entropy in bits of a list's labels, a millionth added to the sum of each."""

    def value(world: World, user: str, k: int) -> float:
        listed = [
            (1 / twins.discount(rank) if by_rank else 1.0, world.labels[item])
            for item, rank in twins.places(world.lists[user], k).items()
        ]
        sums = [
            1e-6 + sum(weight / len(row) for weight, row in listed if label in row)
            for label in range(len(world.indicators[0]))
        ]
        return twins.entropy({i: one / sum(sums) for i, one in enumerate(sums)}, base=2)

    return value
