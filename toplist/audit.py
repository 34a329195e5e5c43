"""Flaws of the data that make an evaluation fail or mislead: `check` finds and counts them.

The flaws that evaluations are known to have (Hidasi and Czapp 2023, "Widespread flaws in offline
evaluation of recommender systems"): test items seen in training, users lost on the way, repeats,
ids written in two ways, padding taken for items. `CHECKS` names each of them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from toplist.checks import check_positive_int, counted
from toplist.evaluation.evaluate import hits_of, ruled
from toplist.evaluation.plan import plan_of
from toplist.inputs import columns as cols
from toplist.inputs.flatten import GroupedIds
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.lists import Lists
from toplist.inputs.objects import to_builtin
from toplist.inputs.options import Joining, Options
from toplist.inputs.tables import lists_of
from toplist.loo.logs import read_log
from toplist.matching.hits import Hits
from toplist.matching.match import CAUSES, match
from toplist.metrics.conventions import CONVENTIONS

__all__ = ["CHECKS", "Audit", "Finding", "check", "conformance"]

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = get_args(Level)
# What evaluating finds, in addition to `CHECKS`.
LOOKED = ("refused", "nothing_common")

# How files and frames write a missing value.
_NOTHING = {"-1", "", "nan", "none", "null", "<na>", "<pad>", "[pad]"}

# Lists of so many users, nearly all of nothing but relevant items, are no coincidence.
FEWEST = 5
NEARLY_ALL = 0.95

# One side of the data: user -> items.
RowsByUser = dict[Any, list[Any]]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


@dataclass(frozen=True)
class Finding:
    """One thing found.

    Attributes
    ----------
    name : str
    level : {"error", "warning", "note"}
        An evaluation will fail or find nothing; it may mislead; no harm, but good to know.
    count : int
    text : str
        One line, with an example.

    Examples
    --------
    >>> check([[5, 7, 5]], [[5]]).findings[0].name
    'listed_twice'
    """

    name: str
    level: Level
    count: int
    text: str


@dataclass(frozen=True)
class Audit:
    """What `check` found; a short report when printed.

    Attributes
    ----------
    sizes : dict
        Users and items of each side.
    findings : tuple of Finding
        Errors first; only what was found.

    Examples
    --------
    >>> audit = check([[1, 2], [3]], [[2], []])
    >>> [(one.level, one.name) for one in audit.findings]
    [('note', 'empty')]
    """

    sizes: dict[str, tuple[int, int]]
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The count of every finding, added up; 0 for what was looked for and not found."""
        found = Counter(dict.fromkeys([*CHECKS, *LOOKED], 0))
        for one in self.findings:
            found[one.name] += one.count
        return dict(found)

    @property
    def ok(self) -> bool:
        """Whether there is neither error nor warning."""
        return all(one.level == "note" for one in self.findings)

    def __str__(self) -> str:
        """Return the sizes and a line per finding."""
        sizes = [f"{name}: {u:,} users, {n:,} items" for name, (u, n) in self.sizes.items()]
        lines = [f"{one.level:8} {one.text}" for one in self.findings]
        return "\n".join(["; ".join(sizes), *(lines or ["nothing found"])])

    __repr__ = __str__


def check(
    ranks: Any = None,
    ground_truths: Any = None,
    train: Any = None,
    *,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
) -> Audit:
    """Look for what makes an evaluation fail or mislead; all sides are optional.

    Parameters
    ----------
    ranks, ground_truths : optional
        Lists and truths by user or by position, in any form that `toplist.match` takes; tables and
        other logs in the order of their rows.
    train : optional
        What each user is known to have chosen: a log in any form of `toplist.loo.leave_one_out`,
        or user -> items.
    k : int, optional
        Also look for lists shorter than k.
    columns : mapping, optional
        Of tables: their own names of user_id and item_id.

    Returns
    -------
    Audit
        `counts` by name of finding, `findings`, `ok`.

    Examples
    --------
    >>> audit = check({"ann": ["tea", "jam"]}, {"ann": ["tea"], "bob": ["jam"]},
    ...               train=(["ann", "bob"], ["tea", "fig"]))
    >>> audit
    ranks: 1 users, 2 items; ground_truths: 2 users, 2 items; train: 2 users, 2 items
    warning  1 relevant items (of 1 users) are in the user's own training log: 'tea' of 'ann'
    warning  1 listed items (of 1 users) are in the user's own training log: 'tea' of 'ann'
    warning  1 of 2 users of ground_truths have no list: 'bob'
    note     1 items of ground_truths are not in train, 0.5 of its rows: 'jam'
    note     1 items of ranks are not in train, 0.5 of its rows: 'jam'
    >>> audit.counts["leaked"], audit.ok
    (1, False)
    """
    sides = {"ranks": ranks, "ground_truths": ground_truths, "train": train}
    names = tuple(name for name, value in sides.items() if value is not None)
    if not names:
        raise TypeError("check: give ranks, ground_truths, a training log, or several of them")
    read = {name: by_user(sides[name], name, columns) for name in names}
    given = AuditInput(read, k)
    found = [finding for look in CHECKS.values() for finding in look(given)]
    # not where an error was found before, nor for logs, whose rows need not be in order
    logs = is_log(ranks, columns) or is_log(ground_truths, columns)
    errors = any(one.level == "error" for one in found)
    if given.has("ranks", "ground_truths") and not (logs or errors):
        found += _matched(ranks, ground_truths, columns, given)
    found.sort(key=lambda one: LEVELS.index(one.level))
    sizes = {name: (len(side), len(set(_items_of(side)))) for name, side in read.items()}
    return Audit(sizes, tuple(found))


def _matched(ranks: Any, truths: Any, columns: Any, given: AuditInput) -> Iterator[Finding]:
    """Match both sides: find why this fails, or that nothing matches."""
    try:
        hits = match(ranks, truths, duplicates="first", columns=columns)
    except (TypeError, ValueError) as error:
        text = f"an evaluation refuses these: {' '.join(str(error).split())}"
        yield Finding("refused", "error", 1, text)
        return
    common = not set(_items_of(given["ranks"])).isdisjoint(_items_of(given["ground_truths"]))
    if len(hits) > 1 and hits.n_listed.any() and not common:
        text = "no item is both listed and relevant: are the ids of both sides written alike?"
        yield Finding("nothing_common", "error", len(hits), text)


@dataclass(frozen=True)
class AuditInput:
    """The data to check, by the names of the sides that were given."""

    sides: dict[str, RowsByUser]
    k: int | None

    def __getitem__(self, name: str) -> RowsByUser:
        """Return a side; empty if it was not given."""
        return self.sides.get(name, {})

    def has(self, *names: str) -> bool:
        """Return whether all these sides were given."""
        return set(names) <= set(self.sides)


# How many of a flaw there are, and what to say of them; `CHECKS` has its name and level.
Flaws = Iterator[tuple[int, str]]


def _items_of(side: RowsByUser) -> Iterator[Any]:
    """Yield the items of all users."""
    return (item for row in side.values() for item in row)


def _in_rows(side: RowsByUser, flawed: Callable[[Any, list[Any]], list[Any]], text: str) -> Flaws:
    """Find the items of users that are flawed; `text` has their number, the users', and one."""
    found = {user: items for user, row in side.items() if (items := flawed(user, row))}
    if found:
        n = sum(map(len, found.values()))
        user, items = next(iter(found.items()))
        yield n, text.format(n=n, users=len(found), one=f"{items[0]!r} of {user!r}")


def _of_users(users: list[Any], text: str, **more: Any) -> Flaws:
    """Find users, if there are some; `text` has their number, and one of them."""
    if users:
        yield len(users), text.format(n=len(users), one=repr(users[0]), **more)


def _two_kinds(given: AuditInput) -> Flaws:
    """Find ids of several types, among users or among items."""
    for what in ("user", "item"):
        kinds: dict[str, str] = {}
        numbers: Counter[str] = Counter()
        for name, side in given.sides.items():
            for one in side if what == "user" else _items_of(side):
                kind = type(one).__name__
                numbers[kind] += 1
                kinds.setdefault(kind, f"{one!r} ({kind}) in {name}")
        if len(kinds) > 1:
            rarer = sum(numbers.values()) - max(numbers.values())
            text = f"{what} ids of {len(kinds)} types, never equal: {', '.join(kinds.values())}"
            yield rarer, text


def _two_spellings(given: AuditInput) -> Flaws:
    """Find relevant items that no list holds, but for leading zeros, blanks, case or a .0."""
    if not given.has("ranks", "ground_truths"):
        return
    listed = {item for item in _items_of(given["ranks"]) if isinstance(item, str)}
    relevant = dict.fromkeys(_items_of(given["ground_truths"]))
    absent = [item for item in relevant if isinstance(item, str) and item not in listed]
    for cause, simplify in CAUSES.items() if absent else ():
        written = {simplify(item): item for item in listed}
        found = [item for item in absent if simplify(item) in written]
        if found:
            pair = f"{found[0]!r} / {written[simplify(found[0])]!r}"
            text = f"{counted(len(found), 'relevant item')} that no list holds"
            text += " matches" if len(found) == 1 else " match"
            yield len(found), f"{text} a listed item but for {cause}, e.g. {pair}"
            absent = [item for item in absent if simplify(item) not in written]


def _made_of_truths(given: AuditInput) -> Flaws:
    """Find lists of nothing but relevant items: they were made from the test items."""
    ranks, truths = given["ranks"], given["ground_truths"]
    both = [user for user, row in ranks.items() if row and truths.get(user)]
    perfect = [user for user in both if set(ranks[user]) <= set(truths[user])]
    if len(both) >= FEWEST and len(perfect) >= NEARLY_ALL * len(both):
        text = "{n:,} of {both:,} lists hold nothing but relevant items, so that every metric is "
        text += "near 1: were they made from the test items? {one}"
        yield from _of_users(perfect, text, both=len(both))


def _padding(given: AuditInput) -> Flaws:
    """Find ids that fill the ends of lists, and ids that look like a missing value."""
    fills: Counter[Any] = Counter()
    for row in given["ranks"].values():
        repeated = len(row) > 1 and row[-2] == row[-1]
        if repeated or (row and str(row[-1]).lower() in _NOTHING):
            fills[row[-1]] += 1
    for row in given["ground_truths"].values():
        fills.update({item for item in row if str(item).lower() in _NOTHING})
    if fills:
        item, n = fills.most_common(1)[0]
        text = f"{item!r} fills up {n:,} lists or truths like an item: see the option padding"
        yield sum(fills.values()), text


_REPEATED = {
    "ranks": "items in the lists of {users:,} users: {one}; see the option duplicates",
    "ground_truths": "rows in the ground truths of {users:,} users (counted once): {one}",
    "train": "rows in the training log, of {users:,} users: {one}",
}


def _repeated(given: AuditInput, side: str) -> Flaws:
    """Find rows that repeat an item of their user."""

    def repeats(user: Any, row: list[Any]) -> list[Any]:
        if len(set(row)) == len(row):
            return []
        often = Counter(row).most_common()  # the most repeated is the example
        return [item for item, n in often for _ in range(n - 1)]

    return _in_rows(given[side], repeats, "{n:,} repeated " + _REPEATED[side])


def _in_train(given: AuditInput, side: str, what: str) -> Flaws:
    """Find items of a user that are in the user's own training log."""

    def seen(user: Any, row: list[Any]) -> list[Any]:
        known = set(given["train"].get(user, ()))
        return [item for item in dict.fromkeys(row) if item in known]

    text = (
        f"{{n:,}} {what} items (of {{users:,}} users) are in the user's own training log: {{one}}"
    )
    return _in_rows(given[side], seen, text)


_LOST = {
    ("ground_truths", "ranks"): "users of ground_truths have no list",
    ("ranks", "ground_truths"): "users with a list have no ground truth, and are ignored",
    ("ground_truths", "train"): "users of ground_truths not in train",
}


def _lost(given: AuditInput, side: str, other: str) -> Flaws:
    """Find users of one side who are not on the other."""
    if given.has(side, other):
        lost = [user for user in given[side] if user not in given[other]]
        text = f"{{n:,}} of {len(given[side]):,} {_LOST[side, other]}: {{one}}"
        yield from _of_users(lost, text)


def _cold(given: AuditInput, side: str) -> Flaws:
    """Find items that are not in the training log."""
    known, rows = set(_items_of(given["train"])), list(_items_of(given[side]))
    cold = [item for item in rows if item not in known]
    if cold and given.has("train"):
        share = f"{len(cold) / len(rows):.2g} of its rows"
        text = f"{{n:,}} items of {side} are not in train, {share}: {{one}}"
        yield from _of_users(list(dict.fromkeys(cold)), text)


def _empty(given: AuditInput) -> Flaws:
    """Find users with an empty row."""
    for name in ("ranks", "ground_truths"):
        users = [user for user, row in given[name].items() if not row]
        yield from _of_users(users, f"{{n:,}} users have an empty row in {name}: {{one}}")


def _short(given: AuditInput) -> Flaws:
    """Find lists that are shorter than k."""
    users = [user for user, row in given["ranks"].items() if len(row) < (given.k or 0)]
    text = "{n:,} lists are shorter than k={k}: of {one} (missing places are misses)"
    return _of_users(users, text, k=given.k)


# The names of flaws, how bad they are, what they are, and what finds them on which sides.
_FLAWS: tuple[tuple[str, Level, str, Callable[..., Flaws], tuple[str, ...]], ...] = (
    ("two_kinds", "error", "user or item ids of two types, such as 7 and '7', which are never "
     "equal", _two_kinds, ()),
    ("two_spellings", "warning", "relevant items that no list holds, but for leading zeros, "
     "blanks, case or a .0", _two_spellings, ()),
    ("padding", "error", "ids that fill the ends of lists, or that look like a missing value, and "
     "would be taken for items", _padding, ()),
    ("listed_twice", "error", "items that are in one list more than once", _repeated, ("ranks",)),
    ("all_relevant", "warning", "lists of nothing but relevant items, for nearly all users: they "
     "were made from the test items", _made_of_truths, ()),
    ("leaked", "warning", "relevant items that are in the user's own training log", _in_train,
     ("ground_truths", "relevant")),
    ("listed_seen", "warning", "listed items that are in the user's own training log", _in_train,
     ("ranks", "listed")),
    ("without_list", "warning", "users with relevant items and without a list", _lost,
     ("ground_truths", "ranks")),
    ("without_truth", "note", "users with a list and without relevant items, who are ignored",
     _lost, ("ranks", "ground_truths")),
    ("relevant_twice", "note", "relevant items that are given more than once; they count once",
     _repeated, ("ground_truths",)),
    ("trained_twice", "note", "rows of the training log that repeat an item of their user",
     _repeated, ("train",)),
    ("cold_users", "note", "users with relevant items who are not in the training log", _lost,
     ("ground_truths", "train")),
    ("cold_items", "note", "relevant items that are not in the training log", _cold,
     ("ground_truths",)),
    ("unknown_items", "note", "listed items that are not in the training log", _cold, ("ranks",)),
    ("empty", "note", "users with an empty list, or with an empty ground truth", _empty, ()),
    ("short", "note", "lists that are shorter than k", _short, ()),
)  # fmt: skip


def _found(
    name: str, level: Level, look: Callable[..., Flaws], words: tuple[str, ...], given: AuditInput
) -> Iterator[Finding]:
    """Yield the findings of one name."""
    return (Finding(name, level, count, text) for count, text in look(given, *words))


#: The flaws that `check` looks for: a function for each, by name. In addition it evaluates, and
#: finds two errors: ``refused``, data that an evaluation refuses, and ``nothing_common``, no item
#: that is both listed and relevant.
CHECKS: dict[str, Callable[[AuditInput], Iterator[Finding]]] = {}
for _name, _level, _text, _look, _sides in _FLAWS:
    CHECKS[_name] = partial(_found, _name, _level, _look, _sides)
    CHECKS[_name].__doc__ = f"Find {_text}."


def by_user(value: Any, name: str, columns: Mapping[str, str] | None = None) -> RowsByUser:
    """Return user -> items, repeats and all, in order.

    Parameters
    ----------
    value : a log, or any form of ranked lists or ground truths that `toplist.match` takes
        A log is a table, a dict of columns, a tuple of columns, or a path. The users of lists by
        position are the positions.
    """
    if is_log(value, columns):
        return read_log(value, columns).by_user()
    value = side_to_builtin(to_builtin(value, name), name)
    if cols.is_frame(value):
        lists = lists_of(value, name, columns)
        return dict(zip(lists.users.decoded(lists.users.codes), lists.flat.rows, strict=True))
    if isinstance(value, Mapping):
        return {user: _items(row) for user, row in value.items()}
    rows: Any = value.tolist() if isinstance(value, np.ndarray) and value.ndim in (1, 2) else value
    if isinstance(rows, (list, tuple, Lists)):
        return {user: _items(rows[user]) for user in range(len(rows))}
    raise TypeError(
        f"{name} is a {type(value).__name__}: give a dict user -> ids, a list of lists, an array, "
        "Lists, a table, or the path of a log"
    )


def is_log(value: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether a side is a log: a table, a dict or tuple of columns, or a path."""
    if isinstance(value, (str, os.PathLike)) or cols.is_frame(value):
        return True
    if isinstance(value, tuple):
        return len(value) in (2, 3) and all(np.ndim(column) == 1 for column in value)
    names = dict(columns or {})
    wanted = {names.get("user_id", "user_id"), names.get("item_id", "item_id")}
    return isinstance(value, Mapping) and wanted <= set(value)


def _items(row: Any) -> list[Any]:
    """Return the ids of a container, of a dict those of positive grade; a bare id as a list.

    Of groups, each id once.
    """
    if isinstance(row, GroupedIds):
        return [*dict.fromkeys(row)]
    if isinstance(row, Mapping):
        return [item for item, grade in row.items() if grade > 0]
    if isinstance(row, np.ndarray):
        return list(np.atleast_1d(row).tolist())
    return list(row) if isinstance(row, (list, tuple, range, Set)) else [row]


def conformance(ranks: Any, ground_truths: Any, k: int) -> dict[str, dict[str, float]]:
    """Evaluate the same lists under every convention.

    Where a convention refuses users without relevant items, they are left out, and users without a
    list score 0.

    Parameters
    ----------
    ranks, ground_truths
        As in `top_k_eval`; later copies of an item earn nothing.
    k : int

    Returns
    -------
    dict
        ``{convention: {metric: mean}}``, each with the metrics that it has at a k.

    Examples
    --------
    >>> table = conformance([[1, 2, 3, 4, 5]], [{1, 3, 9}], k=5)
    >>> {name: round(row["map"], 4) for name, row in table.items() if "map" in row}
    {'standard': 0.5556, 'neurec': 0.1389, 'neurec-cpp': 0.5556, 'recbole': 0.5556,
     'trec_eval': 0.5556, 'ranx': 0.5556, 'rectools': 0.5556, 'lenskit': 0.5556,
     'recommenders': 0.5556, 'implicit': 0.5556, 'irspack': 0.5556, 'spark': 0.5556,
     'llamaindex': 0.5556, 'haystack': 0.5556, 'haystack-2025': 0.8333,
     'sentence-transformers': 0.5556, 'mteb': 0.5556, 'replay': 0.5556, 'evidently': 0.8333,
     'tf-ranking': 0.8333, 'lightgbm': 0.8333, 'torchmetrics': 0.8333, 'xgboost': 0.8333,
     'catboost': 0.8333, 'pytorch-metric-learning': 0.5556, 'opensearch': 0.5556,
     'quepid': 0.5556, 'transformers4rec': 0.5556, 'bwhite': 0.8333}
    """
    depth = check_positive_int(k, "k")
    found: dict[str, dict[str, float]] = {}
    hits: dict[Any, Hits] = {}
    for name, rules in CONVENTIONS.items():
        rules = rules.replace(
            empty="skip" if rules.empty == "raise" else None,
            missing="zero" if rules.missing == "raise" else None,
        )
        metrics = [word for word, metric in rules.metrics.items() if metric.cut != "n"]  # have a k
        plan = plan_of(Options(metrics=metrics, convention=rules), depth)
        ways = rules.relevant, rules.gains
        if ways not in hits:
            joining = ruled(ranks, Joining("first"), plan.rules)
            hits[ways], _ = hits_of(ranks, ground_truths, depth, joining)
        found[name] = dict(zip(metrics, plan.result(hits[ways]), strict=True))
    return found
