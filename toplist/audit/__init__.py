"""Flaws of the data that make an evaluation fail or mislead: `check` finds and counts them.

The flaws that evaluations are known to have (Hidasi and Czapp 2023, "Widespread flaws in offline
evaluation of recommender systems"): test items seen in training, users lost on the way, repeats,
ids written in two ways, padding taken for items. `CHECKS` names each of them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal, get_args

import numpy as np

from toplist.checks import check_positive_int, counted
from toplist.evaluation import hits_of
from toplist.evaluation.plan import plan_of
from toplist.inputs import columns as cols
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.keyed import KeptTruths, keys_of
from toplist.inputs.lists import Lists, flatten, in_containers
from toplist.inputs.options import SIDES, Options, Ranks
from toplist.inputs.tables import lists_of
from toplist.inputs.texts import IdTexts
from toplist.loo.logs import read_log
from toplist.matching import CAUSES, match
from toplist.matching.hits import Hits
from toplist.metrics.conventions import CONVENTIONS

__all__ = ["CHECKS", "Audit", "Finding", "check", "conformance"]

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = get_args(Level)

#: The flaws that `check` looks for, by name: how bad each is, and what its line says.
CHECKS: dict[str, tuple[Level, str]] = {
    "two_kinds": ("error", "{what} ids are of another type than the others, and never equal"),
    "two_spellings": ("warning", "unlisted relevant items match a listed one but for {cause}"),
    "padding": ("error", "lists or truths are filled up by an id, see the option padding"),
    "listed_twice": ("error", "listed items repeat one of their list, see the option duplicates"),
    "all_relevant": (
        "warning",
        "lists hold nothing but relevant items, so that metrics are near 1, as if made from the "
        "test items",
    ),
    "leaked": ("warning", "relevant items are in the user's own training log"),
    "listed_seen": ("warning", "listed items are in the user's own training log"),
    "without_list": ("warning", "users of ground_truths have no list"),
    "without_truth": ("note", "users with a list have no ground truth, and are ignored"),
    "relevant_twice": ("note", "relevant items repeat one of their user (counted once)"),
    "trained_twice": ("note", "rows of the training log repeat an item of their user"),
    "cold_users": ("note", "users of ground_truths are not in train"),
    "cold_items": ("note", "items of ground_truths ({share:.2g} of its rows) are not in train"),
    "unknown_items": ("note", "items of ranks ({share:.2g} of its rows) are not in train"),
    "empty": ("note", "users have an empty row in {side}"),
    "short": ("note", "lists are shorter than k={k} (missing places are misses), of"),
    "refused": ("error", "an evaluation refuses these"),
    "nothing_common": (
        "error",
        "users have no item that is both listed and relevant, as if ids were not written alike",
    ),
}

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
        found = Counter(dict.fromkeys(CHECKS, 0))
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
        Lists and truths by user or by position, in any form that `toplist.match` takes, truths also
        as the path of a file; lists in tables and other logs in the order of their rows.
    train : optional
        What each user is known to have chosen: a log in any form of `toplist.loo.leave_one_out`,
        or user -> items.
    k : int, optional
        Also look for lists shorter than k; at least 1.
    columns : mapping, optional
        Of tables: their own names of user_id and item_id, and of relevance in ground truths.

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
    warning  1 of 2 users of ground_truths have no list: 'bob'
    warning  1 of 2 relevant items are in the user's own training log, of 1 user: 'tea' of 'ann'
    warning  1 of 2 listed items are in the user's own training log, of 1 user: 'tea' of 'ann'
    note     1 of 2 items of ground_truths (0.5 of its rows) are not in train: 'jam'
    note     1 of 2 items of ranks (0.5 of its rows) are not in train: 'jam'
    >>> audit.counts["leaked"], audit.ok
    (1, False)
    """
    if k is not None:
        check_positive_int(k, "k")
    of_ranks = ranks if isinstance(ranks, Ranks) else Ranks(ranks)
    lists, of_lists = of_ranks.ranks, of_ranks.columns or columns
    refused: Exception | None = None
    try:
        ground_truths = _with_grades(ground_truths, columns)
    except (TypeError, ValueError) as error:  # then what its rows are is looked at all the same
        refused = error
    sides = {"ranks": (lists, of_lists), "ground_truths": (ground_truths, columns)}
    sides["train"] = train, columns
    given = {name: side for name, side in sides.items() if side[0] is not None}
    if not given:
        raise TypeError("check: give ranks, ground_truths, a training log, or several of them")
    read = {name: by_user(side, name, own, of_ranks.users) for name, (side, own) in given.items()}
    found = [*_flaws_of_ids(read), *_flaws_of_rows(read, k), *_flaws_beside_train(read)]
    errors = any(one.level == "error" for one in found)
    if refused is not None or (read.keys() >= {*SIDES} and not errors):
        try:
            if refused is not None:
                raise refused
            # not logs, whose rows need not be in order
            if not (is_log(lists, of_lists) or is_log(ground_truths, columns)):
                match(ranks, ground_truths, duplicates="first", columns=columns)
        except (TypeError, ValueError) as error:
            level, text = CHECKS["refused"]
            found.append(Finding("refused", level, 1, f"{text}: {' '.join(str(error).split())}"))
        else:
            found += _nothing_common(*map(read.__getitem__, SIDES))
    found.sort(key=lambda one: LEVELS.index(one.level))
    sizes = {name: (len(side), len(set(_items_of(side)))) for name, side in read.items()}
    return Audit(sizes, tuple(found))


def _found(
    name: str, found: Sequence[Any], total: int, example: str = "", **words: Any
) -> Iterator[Finding]:
    """Yield what is said of users or ids, if some are found, with the first of them."""
    if found:
        level, text = CHECKS[name]
        text = f"{len(found):,} of {total:,} {text.format(**words)}"
        yield Finding(name, level, len(found), f"{text}: {example or repr(found[0])}")


def _found_in(name: str, places: Sequence[tuple[Any, Any]], total: int) -> Iterator[Finding]:
    """Yield what is said of places, pairs (item, user), if some are found."""
    for item, user in places[:1]:
        level, text = CHECKS[name]
        users = counted(len({user for _, user in places}), "user")
        text = f"{len(places):,} of {total:,} {text}, of {users}: {item!r} of {user!r}"
        yield Finding(name, level, len(places), text)


def _items_of(side: RowsByUser) -> list[Any]:
    """Return the items of all users."""
    return [item for row in side.values() for item in row]


def _flaws_of_ids(sides: Mapping[str, RowsByUser]) -> Iterator[Finding]:
    """Find ids of several types, in two spellings, and those that fill up rows."""
    for what in ("user", "item"):
        ids = [
            (name, one)
            for name, side in sides.items()
            for one in (side if what == "user" else _items_of(side))
        ]
        kinds = Counter(type(one) for _, one in ids)
        usual = max(kinds, key=kinds.__getitem__, default=None)
        odd = [one for _, one in ids if type(one) is not usual]
        first = {type(one): f"{one!r} ({type(one).__name__}) in {name}" for name, one in ids[::-1]}
        shown = ", ".join(first[kind] for kind in kinds)
        yield from _found("two_kinds", odd, len(ids), shown, what=what)
    ranks, truths = (sides.get(side, {}) for side in SIDES)
    listed = {item for item in _items_of(ranks) if isinstance(item, str)}
    relevant = dict.fromkeys(_items_of(truths))
    absent = [item for item in relevant if isinstance(item, str) and item not in listed]
    n_absent = len(absent)
    for cause, simplify in CAUSES.items() if listed and absent else ():
        written = {simplify(item): item for item in listed}
        found = [item for item in absent if simplify(item) in written]
        if found:
            pair = f"{found[0]!r} / {written[simplify(found[0])]!r}"
            yield from _found("two_spellings", found, n_absent, pair, cause=cause)
            absent = [item for item in absent if simplify(item) not in written]
    fills = [item for row in truths.values() for item in {*row} if str(item).lower() in _NOTHING]
    for row in ranks.values():
        repeated = len(row) > 1 and row[-2] == row[-1]
        if repeated or (row and str(row[-1]).lower() in _NOTHING):
            fills.append(row[-1])
    for item, _ in Counter(fills).most_common(1):
        yield from _found("padding", fills, len(ranks) + len(truths), repr(item))


def _flaws_of_rows(sides: Mapping[str, RowsByUser], k: int | None) -> Iterator[Finding]:
    """Find rows with repeats, empty, short, or of relevant items alone, and users without one."""
    ranks, truths, train = (sides.get(side, {}) for side in (*SIDES, "train"))
    of_sides = ("listed_twice", ranks), ("relevant_twice", truths), ("trained_twice", train)
    for name, rows in of_sides:
        again = [
            (item, user)
            for user, row in rows.items()
            if len(set(row)) < len(row)
            for item, n in Counter(row).most_common()  # the most repeated is the example
            for _ in range(n - 1)
        ]
        yield from _found_in(name, again, len(_items_of(rows)))
    both = [user for user, row in ranks.items() if row and truths.get(user)]
    perfect = [user for user in both if set(ranks[user]) <= set(truths[user])]
    if len(both) >= FEWEST and len(perfect) >= NEARLY_ALL * len(both):
        yield from _found("all_relevant", perfect, len(both))
    lost_of = (
        ("without_list", "ground_truths", "ranks"),
        ("without_truth", "ranks", "ground_truths"),
        ("cold_users", "ground_truths", "train"),
    )
    for name, side, other in lost_of:
        if sides.keys() >= {side, other}:
            lost = [user for user in sides[side] if user not in sides[other]]
            yield from _found(name, lost, len(sides[side]))
    for side, rows in zip(SIDES, (ranks, truths), strict=True):
        empty = [user for user, row in rows.items() if not row]
        yield from _found("empty", empty, len(rows), side=side)
    short = [user for user, row in ranks.items() if len(row) < (k or 0)]
    yield from _found("short", short, len(ranks), k=k)


def _nothing_common(ranks: RowsByUser, truths: RowsByUser) -> Iterator[Finding]:
    """Find that several users, of whom some have a list, have no item that is both."""
    items, relevant = _items_of(ranks), _items_of(truths)
    listed = any(ranks.get(user) for user in truths)
    if len(truths) > 1 and listed and {*items}.isdisjoint(relevant):
        pair = " / ".join(repr(one[0]) for one in (items, relevant) if one)
        yield from _found("nothing_common", range(len(truths)), len(truths), pair)


def _flaws_beside_train(sides: Mapping[str, RowsByUser]) -> Iterator[Finding]:
    """Find items that the user's training log holds, and those that no training log holds."""
    if "train" not in sides:
        return
    train = sides["train"]
    known = {*_items_of(train)}
    of_sides = ("ground_truths", "leaked", "cold_items"), ("ranks", "listed_seen", "unknown_items")
    for side, seen, cold in of_sides:
        rows = sides.get(side, {})
        own = {user: {*train.get(user, ())} for user in rows}
        found = [
            (item, user)
            for user, row in rows.items()
            for item in dict.fromkeys(row)
            if item in own[user]
        ]
        items = _items_of(rows)
        yield from _found_in(seen, found, len(items))
        new = [item for item in items if item not in known]
        share = len(new) / max(1, len(items))
        yield from _found(cold, [*dict.fromkeys(new)], len({*items}), share=share)


def _with_grades(truths: Any, columns: Mapping[str, str] | None) -> Any:
    """Return ground truths of a file or a table as an evaluation reads them; others as they are."""
    texts = IdTexts()
    if isinstance(truths, (str, os.PathLike)):
        from toplist.files.batches import source_of  # twice the import of toplist

        options = Options(columns=columns)
        return KeptTruths(source_of(truths, SIDES[1], options).whole(texts), texts)
    if cols.is_frame(truths):
        return KeptTruths(lists_of(truths, SIDES[1], columns, known=texts), texts)
    return truths


def by_user(
    value: Any, name: str, columns: Mapping[str, str] | None = None, users: Any = None
) -> RowsByUser:
    """Return user -> items, repeats and all, in order.

    Parameters
    ----------
    value : a log, or any form of ranked lists or ground truths that `toplist.match` takes
        A log is a table, a dict of columns, a tuple of columns, or a path.
    users : optional
        The keys of the rows of lists by position, which are the positions without it.
    """
    if is_log(value, columns):
        own = {name: one for name, one in (columns or {}).items() if name != "relevance"}
        return read_log(value, own).by_user()
    value = side_to_builtin(value, name)
    keyed, is_array = isinstance(value, Mapping), isinstance(value, (Lists, np.ndarray))
    if isinstance(value, KeptTruths):
        lists = value.flat if value.users is None else value.lists
    elif cols.is_frame(value):
        lists = lists_of(value, name, columns)
    elif keyed or is_array or isinstance(value, (list, tuple)):
        rows = value if is_array else in_containers(value.values() if keyed else value)
        lists = flatten(rows, None, SIDES[1], users=list(value) if keyed else None)
    else:
        forms = "a dict user -> ids, a list of lists, an array, Lists, a table, the path of a log"
        raise TypeError(f"{name} is a {type(value).__name__}: give {forms}")
    found = [lists.row(user) for user in range(len(lists.lengths))]
    if lists.grouped:  # an item may be in several groups
        found = [list(dict.fromkeys(row)) for row in found]
    elif lists.grades is not None:
        relevant = iter((lists.grades > 0).tolist())
        found = [list(compress(row, relevant)) for row in found]
    if lists.users is not None:
        users = lists.keys
    elif users is not None:
        users = keys_of(users, len(found))
    return dict(enumerate(found) if users is None else zip(users, found, strict=True))


def is_log(value: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether a side is a log: a table of items, a dict or tuple of columns, or a path."""
    if isinstance(value, (str, os.PathLike)):
        return True
    if isinstance(value, tuple):
        return len(value) in (2, 3) and all(np.ndim(column) == 1 for column in value)
    names = dict(columns or {})
    user, item = (names.get(name, name) for name in ("user_id", "item_id"))
    if cols.is_frame(value):
        frame = cols.readable(value)
        if item not in cols.names_of(frame):
            return True
        return cols.read(frame, item, "log").lists() is None
    return isinstance(value, Mapping) and {user, item} <= set(value)


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
            joining = replace(plan.options, duplicates="first").joining
            hits[ways], _ = hits_of(ranks, ground_truths, depth, joining, rules)
        found[name] = dict(zip(metrics, plan.result(hits[ways]), strict=True))
    return found
