"""What a page is about: lists out of any form, what items and users are called, and `Report`."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from toplist import audit
from toplist.beyond.indexing import UserItems
from toplist.checks import cached, check_positive_int, is_missing, printable, whole, worded
from toplist.comparing.comparison import Comparison
from toplist.comparing.contrasts import Contrast, primary_of
from toplist.comparing.tests import Tests, or_why
from toplist.comparing.views import SEED, Movers
from toplist.files.batches import Source, stream_of
from toplist.inputs.facts import Fact, by_item, ids_of
from toplist.inputs.forms import read_sides
from toplist.inputs.ids import two_kinds
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.lists import Flat
from toplist.inputs.options import ColumnNames, Joining, of_source
from toplist.metrics.conventions import CONVENTIONS, Convention
from toplist.metrics.properties import equal_names
from toplist.plots.axes import brief
from toplist.results import describe
from toplist.results.markup import shortened
from toplist.results.result import TopKResult

# Of so many users the lists are looked at, for data checks and overlap: of more, some are drawn.
LOOKED_AT = 20_000
# Systems whose users are shown; users of each side, and at random.
DETAILED, USERS, DRAWN = 7, 3, 3
# Letters of a system in the title of a chart, and of the title of an item or a user.
OF_SYSTEM, OF_TITLE = 30, 120
# Checks of the training data, which is not given here.
OF_TRAINING = {"leaked", "listed_seen", "trained_twice"}
OF_TRAINING |= {"cold_users", "cold_items", "unknown_items"}
STANDARD = CONVENTIONS["standard"]
# What gives the items of each of some users who have any, in their order; of a ground truth those
# that are relevant, where they have grades as a dict of these.
ItemsOf = Callable[[Sequence[Any]], dict[Any, Any]]


def ranked(
    given: Any,
    kept: KeptTruths,
    rules: Convention,
    columns: ColumnNames,
    padding: Any,
    read: Callable[[Source], Any],
) -> Flat:
    """Return the lists of the users of ground truths, in their order; `read` reads a file."""
    given, said = of_source(given, columns, rules)
    if isinstance(given, (str, os.PathLike)):
        how: Any = (said.get(one) for one in ("ranks_format", "columns", "order", "ties"))
        given = read(stream_of(given, "ranks", *how))
    how = {one: said[one] for one in ("columns", "users") if one in said}
    joining = Joining(padding=padding, ties=said["ties"] or "order", **how)
    return read_sides(given, kept, None, joining)[0]


def row_of(lists: Flat, place: int) -> list[Any]:
    """Return a ranked list."""
    return [*lists.row(place)][: int(lists.lengths[place])]


def truth_of(lists: Flat, place: int, padding: Any = None) -> Any:
    """Return the ground truth of one user: a list, of groups their items; or a dict of grades."""
    items = lists.row(place)
    if lists.grades is None or lists.grouped:
        return [one for one in items if padding is None or one != padding]
    start = int(lists.offsets[place])
    pairs = zip(items, lists.grades[start : start + len(items)].tolist(), strict=True)
    return {one: grade for one, grade in pairs if padding is None or one != padding}


def items_of(
    kept: KeptTruths,
    given: Any = None,
    rules: Convention = STANDARD,
    columns: ColumnNames = None,
    padding: Any = None,
    relevant_from: float | None = None,
    users: Any = None,
) -> ItemsOf:
    """Return what gives the items of users: of lists, for which a file is read again, or truths.

    Parameters
    ----------
    kept : KeptTruths
    given : any form that `toplist.top_k_eval` takes of many users; None for the truths themselves
    rules : Convention
    columns, padding, relevant_from : as in `toplist.top_k_eval`
    users : keys, optional
        Of the rows, where they have none of their own.
    """

    def found(some: Sequence[Any]) -> dict[Any, Any]:
        keys: Any = users if users is not None else kept.users
        places = {key: row for row, key in enumerate(range(len(kept)) if keys is None else keys)}
        known = [user for user in some if user in places]
        if given is not None:
            lists = ranked(given, kept, rules, columns, padding, lambda s: s.whole(kept.texts))
            rows = {user: row_of(lists, places[user]) for user in known}
            return {user: row for user, row in rows.items() if row}
        truths = {user: truth_of(kept.flat, places[user], padding) for user in known}
        return {user: _relevant(row, relevant_from) for user, row in truths.items()}

    return found


def _relevant(row: Any, least: float | None) -> Any:
    """Return the items of a row once; of grades those that are relevant, with theirs."""
    if isinstance(row, Mapping):
        return {item: g for item, g in row.items() if (g > 0 if least is None else g >= least)}
    return list(dict.fromkeys(row))


def catalogue_of(given: Any) -> Container[Any] | None:
    """Return what says whether an item is in the catalogue; None without one."""
    ids = None if given is None else ids_of(given)
    return ids if ids is None or isinstance(ids, range) else {*ids}


def history_of(
    given: Any, n_users: int | None = None, columns: ColumnNames = None, padding: Any = None
) -> ItemsOf:
    """Return what gives the items that users had before, each once.

    Parameters
    ----------
    given : items by user, or one set of items for everyone, as in `toplist.top_k_eval`
    n_users : int, optional
        How many there are, where users are known by position.
    columns, padding : as in `toplist.top_k_eval`

    Raises
    ------
    TypeError, ValueError
        For other forms, keys of another kind, and where nobody of several is there.
    """
    own = UserItems.of(given, "history", {"columns": columns, "padding": padding})

    def found(users: Sequence[Any]) -> dict[Any, list[Any]]:
        if n_users is None and own.flat.users and users:
            theirs, ours = own.flat.users[0], users[0]
            if isinstance(theirs, str) != isinstance(ours, str):
                sides = f"{theirs!r} in history", f"{ours!r} in ground_truths"
                raise two_kinds("users", *sides, "convert those of history")
        keys, n = (list(users), len(users)) if n_users is None else (None, n_users)
        rows = own.rows(keys, n, whole=len(users) > 1)
        places = zip(users, (rows if n_users is None else rows[list(users)]).tolist(), strict=True)
        return {user: [*dict.fromkeys(own.flat.row(row))] for user, row in places if row >= 0}

    return found


# What items and users are called


# What gives the title of an item, or None.
TitleOf = Callable[[Any], Any]


def titles_of(given: Any, name: str = "titles", key: str = "item_id") -> TitleOf:
    """Return what gives the title of an item, or of a user, by a dict, a Series or a table."""
    if given is None or callable(given):
        return given or (lambda one: None)
    facts = by_item(given, Fact("title", several=True), name, key)
    return dict(zip(facts.items, facts.values, strict=True)).get


def plain(value: Any) -> str:
    """Return a value as text that holds no control characters and no marks of direction."""
    text = value if isinstance(value, str) else str(value)
    return printable(shortened(text, 10_000))


def _cut(title: Any) -> str:
    return "" if is_missing(title) else shortened(plain(title), OF_TITLE)


# The page


@dataclass(eq=False)
class Report:
    """What the page is about.

    Attributes
    ----------
    comparison : Comparison
        The first of several systems, `base`, is its baseline; its result is `first`. What the
        systems are `called` in the titles of charts.
    lists : dict of system -> function, and truths
        What gives the lists of some users, and their relevant items; without any, no lists.
    options : dict
        Of the evaluation, as far as they are given. Lists that they change before the join are not
        shown, since ranks are of others.
    title_of, user_title_of : function
        The title of an item, or of a user, or None.
    named : bool
        Whether the ids of users are on the page; else they are numbered.
    asked : str, or None
        The primary metric, ``"ndcg@10"``, if one is asked for. The one that it is, is `primary`,
        made of `metric` and `k`.
    by : labels of users, or None
    n_users, depth : int
        How many users are shown, of the worst and of the best each; how much of their lists.
    """

    comparison: Comparison
    lists: Mapping[str, ItemsOf]
    truths: ItemsOf | None
    options: Mapping[str, Any]
    title_of: TitleOf
    user_title_of: TitleOf
    named: bool
    asked: str | None
    by: Any
    n_users: int
    depth: int | None

    def __post_init__(self) -> None:
        """Raise for numbers that cannot be; leave out lists that are changed; find the metric."""
        whole(self.n_users)
        if self.depth is not None:
            check_positive_int(self.depth, "depth")
        known = self.options.get("items_as") is None and self.options.get("unjudged") != "drop"
        if not known or self.options.get("duplicates") == "collapse":
            self.lists = {}
        systems = self.comparison.systems
        self.base, self.others = systems[0], systems[1:]
        self.called = dict(zip(systems, brief(systems, OF_SYSTEM), strict=True))
        self.first = self.comparison.results[self.base]
        try:
            metric, cut = self.first.terms.find(self.asked or primary_of(self.comparison.names()))
        except KeyError as error:
            raise ValueError(f"primary: {error.args[0]}") from None
        if cut is None:
            raise ValueError(f"primary: at which k? such as {metric.name}@{self.first.terms.ks[0]}")
        self.metric, self.k, self.primary = metric.name, int(cut), f"{metric.name}@{cut}"
        self.higher_is_better = metric.higher_is_better
        self._numbers: dict[Any, int] = {}  # of users in place of their ids

    def title(self, item: Any) -> str:
        """Return the title of an item, cut; "" without one."""
        return _cut(self.title_of(item))

    def user_title(self, user: Any) -> str:
        """Return the title of a user, cut; "" without one, and where users are numbered."""
        return _cut(self.user_title_of(user)) if self.named else ""

    def user(self, user: Any) -> str:
        """Return what a user is called: the id, or a number of this page."""
        if self.named:
            return plain(user)
        return f"user {self._numbers.setdefault(user, len(self._numbers) + 1)}"

    @cached
    def catalogue(self) -> Container[Any] | None:
        """What says whether an item could be listed, if that is known."""
        return catalogue_of(getattr(self.options.get("items"), "catalogue", None))

    @cached
    def sorted(self) -> dict[str, TopKResult]:
        """The results, the best in the primary metric first."""
        sign = 1 if self.higher_is_better is False else -1

        def place(pair: tuple[str, TopKResult]) -> tuple[bool, float]:
            mean = pair[1][self.primary]
            return mean != mean, sign * mean

        return dict(sorted(self.comparison.results.items(), key=place))

    def ranked(self, tests: Iterable[Contrast]) -> list[Contrast]:
        """Return tests, those of the best system first."""
        places = {system: i for i, system in enumerate(self.sorted)}
        return sorted(tests, key=lambda one: places[one.system])

    @cached
    def groups(self) -> list[tuple[tuple[str, ...], list[int]]]:
        """The metrics, of those that are equal by definition one, with all their k's."""
        results = [*self.comparison.results.values()]
        ks: dict[str, set[int]] = {}
        for one in results:
            for name, some in one.terms.ks_of.items():
                ks.setdefault(name, set()).update(some)
        return [(group, sorted(ks[group[0]])) for group in equal_names(results, list(ks))]

    @cached
    def tests(self) -> Tests:
        """The tests of the primary metric."""
        return self.comparison.test(self.primary, users="common")

    @cached
    def all_tests(self) -> tuple[Tests | None, str]:
        """The tests of all metrics, or why there are none."""
        return or_why(partial(self.comparison.test, users="common"))

    @cached
    def looked_at(self) -> list[Any]:
        """The users whose lists are looked at."""
        everyone = self.first.users
        if len(everyone) <= LOOKED_AT:
            return list(everyone)
        drawn = np.random.default_rng(SEED).choice(len(everyone), LOOKED_AT, replace=False)
        return [everyone[row] for row in np.sort(drawn).tolist()]

    @cached
    def movers(self) -> dict[str, Movers]:
        """The users that are shown, and all differences, for each of the other systems."""
        detailed = self.others[:DETAILED]
        n = -(-self.n_users * 3 // max(len(detailed), 3))  # of many systems fewer users each
        how: dict[str, Any] = {"n": max(n, 1), "users": "common", "n_drawn": DRAWN}
        find, name, base = self.comparison.movers, self.primary, self.base
        return {one: find(name, one, base, **how) for one in detailed}

    @cached
    def wanted(self) -> list[Any]:
        """The users whose lists are needed: files are read once for all."""
        found = self.movers.values() if self.n_users else ()
        rows = (row for one in found for row in (*one.rows, *one.drawn))
        return list(dict.fromkeys([*self.looked_at, *(row.user_id for row in rows)]))

    @cached
    def rows(self) -> dict[str, dict[Any, list[Any]]]:
        """The lists of these users, by system."""
        return {system: of(self.wanted) for system, of in self.lists.items()}

    @cached
    def relevant(self) -> dict[Any, list[Any]]:
        """The relevant items of these users."""
        return {} if self.truths is None else self.truths(self.wanted)

    @cached
    def history(self) -> dict[Any, list[Any]] | None:
        """What these users had before, if that is known."""
        given = getattr(self.options.get("items"), "history", None)
        n = None if self.first.has_keys else self.first.n_users
        how = self.options.get("columns"), self.options.get("padding")
        return None if given is None else history_of(given, n, *how)(self.wanted)

    @cached
    def sample(self) -> dict[str, dict[Any, list[Any]]]:
        """The lists of the users that are looked at."""
        return {
            system: {user: rows[user] for user in self.looked_at if user in rows}
            for system, rows in self.rows.items()
        }

    @cached
    def whose(self) -> str:
        """Whose lists are looked at, if not those of all."""
        n, unit = self.first.n_users, self.comparison.unit
        return f"{LOOKED_AT:,} of {n:,} {unit}, drawn with seed {SEED}" if n > LOOKED_AT else ""

    @cached
    def accounts(self) -> list[str]:
        """Who was counted: a line for all systems, or one for each where they differ."""
        said = {name: describe.account(one) for name, one in self.comparison.results.items()}
        if len({*said.values()}) == 1:
            return [said[self.base]]
        return [f"{plain(name)}: {line}" for name, line in said.items()]

    @cached
    def checked(self) -> tuple[int, list[tuple[str, str, str]]]:
        """How many data checks there were, and what they found: system, level, words."""
        known = self.relevant
        truths = {user: [*known[user]] for user in self.looked_at if user in known}
        options, found, n = {"listed_twice": "duplicates", "padding": "padding"}, [], 0
        for system, lists in self.sample.items():
            audited = audit.check(lists, truths, k=self.k)
            n = len(audited.counts.keys() - OF_TRAINING)
            for one in audited.findings:
                level, text = one.level, one.text
                if self.options.get(option := options.get(one.name, "")) is not None:
                    level, text = "note", f"{text} ({option}={self.options[option]})"
                ours, colon, ids = text.partition(":")
                text = worded(ours, self.comparison.unit)
                if self.named and self.n_users:  # examples are ids of users
                    text += colon + ids
                found.append((system, level, text))
        return n, sorted(found, key=lambda row: audit.LEVELS.index(row[1]))
