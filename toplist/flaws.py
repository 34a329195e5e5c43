"""The flaws that data are looked through for: one function each, and `CHECKS`, all by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toplist.sides import Sides

# what stands for "nothing" in files and frames
_NOTHING = {"-1", "", "nan", "none", "null", "<na>", "<pad>", "[pad]"}


@dataclass(frozen=True)
class Finding:
    """One thing found.

    Attributes
    ----------
    name : str
    level : {"error", "warning", "note"}
        An evaluation will fail or find nothing; it may mislead; it is good to know.
    count : int
    text : str
        One line, with an example.
    """

    name: str
    level: str
    count: int
    text: str


@dataclass(frozen=True)
class Given:
    """What is to be looked at; sides that were not given are empty, and not in `names`."""

    ranks: Sides
    truths: Sides
    train: Sides
    names: tuple[str, ...]
    k: int | None

    def has(self, *names: str) -> bool:
        """Whether all these sides were given."""
        return set(names) <= set(self.names)


Found = Iterator[Finding]


def _sides(given: Given) -> Iterator[tuple[str, Sides]]:
    pairs = (("ranks", given.ranks), ("ground_truths", given.truths), ("train", given.train))
    yield from ((name, side) for name, side in pairs if given.has(name))


def _two_kinds(given: Given) -> Found:
    """Find ids of several types, among users or among items."""
    for what in ("user", "item"):
        kinds: dict[str, str] = {}
        numbers: Counter[str] = Counter()
        for name, side in _sides(given):
            ids = side if what == "user" else (item for row in side.values() for item in row)
            for one in ids:
                kind = type(one).__name__
                numbers[kind] += 1
                kinds.setdefault(kind, f"{one!r} ({kind}) in {name}")
        if len(kinds) > 1:
            yield Finding(
                "two_kinds",
                "error",
                sum(numbers.values()) - max(numbers.values()),
                f"{what} ids of {len(kinds)} types, never equal: {', '.join(kinds.values())}",
            )


def _repeats(side: Sides) -> tuple[int, int, str]:
    """Return how many rows repeat an item of their user, of how many users, and an example."""
    n, users, example = 0, 0, ""
    for user, row in side.items():
        more = len(row) - len(set(row))
        if more:
            n, users = n + more, users + 1
            example = example or f"{Counter(row).most_common(1)[0][0]!r} of {user!r}"
    return n, users, example


def _listed_twice(given: Given) -> Found:
    n, users, example = _repeats(given.ranks)
    if n:
        text = f"{n:,} repeated items in the lists of {users:,} users: {example}"
        yield Finding("listed_twice", "error", n, f"{text}; see duplicates='first'")


def _relevant_twice(given: Given) -> Found:
    n, users, example = _repeats(given.truths)
    if n:
        text = f"{n:,} repeated rows in the ground truths of {users:,} users (counted once)"
        yield Finding("relevant_twice", "note", n, f"{text}: {example}")


def _trained_twice(given: Given) -> Found:
    n, users, example = _repeats(given.train)
    if n:
        text = f"{n:,} repeated rows in the training log, of {users:,} users: {example}"
        yield Finding("trained_twice", "note", n, text)


def _padding(given: Given) -> Found:
    """Find what fills the ends of lists, and ids that read like nothing."""
    fills: Counter[Any] = Counter()
    for row in given.ranks.values():
        repeated = len(row) > 1 and row[-2] == row[-1]
        if repeated or (row and str(row[-1]).lower() in _NOTHING):
            fills[row[-1]] += 1
    for row in given.truths.values():
        fills.update({item for item in row if str(item).lower() in _NOTHING})
    if fills:
        item, n = fills.most_common(1)[0]
        text = f"{item!r} fills up {n:,} lists or truths like an item: padding={item!r}?"
        yield Finding("padding", "error", sum(fills.values()), text)


def _in_train(given: Given, side: Sides, what: str, name: str) -> Found:
    """Find items of a user that are in the user's own training log."""
    n, users, example = 0, 0, ""
    for user, row in side.items():
        seen = set(given.train.get(user, ()))
        both = [item for item in dict.fromkeys(row) if item in seen]
        if both:
            n, users = n + len(both), users + 1
            example = example or f"{both[0]!r} of {user!r}"
    if n:
        text = f"{n:,} {what} items (of {users:,} users) are in the user's own training log"
        yield Finding(name, "warning", n, f"{text}: {example}")


def _leaked(given: Given) -> Found:
    yield from _in_train(given, given.truths, "relevant", "leaked")


def _listed_seen(given: Given) -> Found:
    yield from _in_train(given, given.ranks, "listed", "listed_seen")


def _lost(side: Sides, others: Sides, name: str, level: str, text: str) -> Found:
    lost = [user for user in side if user not in others]
    if lost:
        told = f"{len(lost):,} of {len(side):,} {text}: {lost[0]!r}"
        yield Finding(name, level, len(lost), told)


def _without_list(given: Given) -> Found:
    if given.has("ranks", "ground_truths"):
        yield from _lost(
            *(given.truths, given.ranks, "without_list", "warning"),
            "users of ground_truths have no list",
        )


def _without_truth(given: Given) -> Found:
    if given.has("ranks", "ground_truths"):
        yield from _lost(
            *(given.ranks, given.truths, "without_truth", "note"),
            "users with a list have no ground truth, and are ignored",
        )


def _cold_users(given: Given) -> Found:
    if given.has("ground_truths", "train"):
        yield from _lost(
            given.truths, given.train, "cold_users", "note", "users of ground_truths not in train"
        )


def _cold(given: Given, side: Sides, side_name: str, name: str) -> Found:
    known = {item for row in given.train.values() for item in row}
    rows = [item for row in side.values() for item in row]
    cold = [item for item in rows if item not in known]
    if cold and given.has("train"):
        distinct = len(set(cold))
        share = f"{len(cold) / len(rows):.2g} of its rows"
        text = f"{distinct:,} items of {side_name} are not in train, {share}: {cold[0]!r}"
        yield Finding(name, "note", distinct, text)


def _cold_items(given: Given) -> Found:
    yield from _cold(given, given.truths, "ground_truths", "cold_items")


def _unknown_items(given: Given) -> Found:
    yield from _cold(given, given.ranks, "ranks", "unknown_items")


def _empty(given: Given) -> Found:
    for name, side in (("ranks", given.ranks), ("ground_truths", given.truths)):
        users = [user for user, row in side.items() if not row]
        if users:
            text = f"{len(users):,} users have an empty row in {name}: {users[0]!r}"
            yield Finding("empty", "note", len(users), text)


def _short(given: Given) -> Found:
    if given.k is not None:
        users = [user for user, row in given.ranks.items() if len(row) < given.k]
        if users:
            text = f"{len(users):,} lists are shorter than k={given.k}: of {users[0]!r}"
            yield Finding("short", "note", len(users), f"{text} (missing places are misses)")


CHECKS: dict[str, Callable[[Given], Found]] = {
    "two_kinds": _two_kinds,
    "padding": _padding,
    "listed_twice": _listed_twice,
    "leaked": _leaked,
    "listed_seen": _listed_seen,
    "without_list": _without_list,
    "without_truth": _without_truth,
    "relevant_twice": _relevant_twice,
    "trained_twice": _trained_twice,
    "cold_users": _cold_users,
    "cold_items": _cold_items,
    "unknown_items": _unknown_items,
    "empty": _empty,
    "short": _short,
}
