"""What the page is about: systems, their lists and users, and what is looked up once for all."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from toplist import audit
from toplist.checks import cached, check_positive_int, whole, worded
from toplist.comparing.comparison import Comparison
from toplist.comparing.contrasts import Contrast, or_why, primary_of
from toplist.comparing.movers import SEED, Movers
from toplist.comparing.tests import Tests
from toplist.plots.axes import brief
from toplist.reporting.showing import catalogue_of, history_of, plain, titles_of
from toplist.results import describe
from toplist.results.result import TopKResult
from toplist.results.tables import Page, shortened

# Of so many users the lists are looked at, for data checks and overlap: of more, some are drawn.
LOOKED_AT = 20_000
# Systems whose users are shown; users of each side, and at random.
DETAILED, USERS, DRAWN = 7, 3, 3
# Letters of a system in the title of a chart, and of the title of an item or a user.
OF_SYSTEM, OF_TITLE = 30, 120
# Checks of the training data, which is not given here.
OF_TRAINING = {"leaked", "listed_seen", "trained_twice"}
OF_TRAINING |= {"cold_users", "cold_items", "unknown_items"}
# What gives the items of each of some users who have any, in their order; of a ground truth those
# that are relevant, where they have grades as a dict of these.
ItemsOf = Callable[[Sequence[Any]], dict[Any, Any]]


@dataclass(eq=False)
class Report:
    """What the page is about.

    Attributes
    ----------
    comparison : Comparison
        The first of several systems, `base`, is its baseline; its result is `first`. What the
        systems are `called` in the titles of charts.
    lists : dict of system -> function, and truths
        What gives the lists of some users, as far as they are known, and their relevant items.
    options : dict
        Of the evaluation, as far as they are given. Lists that they change before the join are not
        shown, since ranks are of others.
    titles, user_titles : as in `report`, or functions
    named : bool
        Whether the ids of users are on the page; else they are numbered.
    asked : str, or None
        The primary metric, ``"ndcg@10"``, if one is asked for. The one that it is, is `primary`,
        made of `metric` and `k`.
    by : labels of users, or None
    n_users, depth : int
        How many users are shown, of the worst and of the best each; how much of their lists.
    command, stamp : str
        How to repeat this, and a text for the foot.
    files : sequence
        What was read, with its bytes and SHA-256.
    """

    comparison: Comparison
    lists: Mapping[str, ItemsOf]
    truths: ItemsOf
    options: Mapping[str, Any]
    titles: Any
    user_titles: Any
    named: bool
    asked: str | None
    by: Any
    n_users: int
    depth: int | None
    command: str
    stamp: str | None = None
    files: Sequence[tuple[str, int, str]] = ()

    def __post_init__(self) -> None:
        """Raise for numbers that cannot be; leave out lists that are changed; find the metric."""
        whole(self.n_users)
        if self.depth is not None:
            check_positive_int(self.depth, "depth")
        known = self.options.get("items_as") is None and self.options.get("unjudged") != "drop"
        if not known or self.options.get("duplicates") == "collapse":
            self.lists = {}
        self._title = titles_of(self.titles)
        self._user_title = titles_of(self.user_titles, "user_titles", "user_id")
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
        return shortened(plain(self._title(item)), OF_TITLE)

    def user_title(self, user: Any) -> str:
        """Return the title of a user, cut; "" without one, and where users are numbered."""
        return shortened(plain(self._user_title(user)), OF_TITLE) if self.named else ""

    def user(self, user: Any) -> str:
        """Return what a user is called: the id, or a number of this page."""
        if self.named:
            return plain(user)
        return f"user {self._numbers.setdefault(user, len(self._numbers) + 1)}"

    @cached
    def catalogue(self) -> Container[Any] | None:
        """What says whether an item could be listed, if that is known."""
        return catalogue_of(self.options.get("items"))

    @cached
    def sorted(self) -> dict[str, TopKResult]:
        """The results, the best in the primary metric first."""
        sign, results = 1 if self.higher_is_better is False else -1, self.comparison.results
        means = {system: sign * one[self.primary] for system, one in results.items()}
        order = sorted(means, key=lambda one: (means[one] != means[one], means[one]))
        return {system: results[system] for system in order}

    def ranked(self, tests: Iterable[Contrast]) -> list[Contrast]:
        """Return tests, those of the best system first."""
        places = {system: i for i, system in enumerate(self.sorted)}
        return sorted(tests, key=lambda one: places[one.system])

    @cached
    def groups(self) -> list[tuple[tuple[str, ...], list[int]]]:
        """The metrics, of those that are equal by definition one, with all their k's."""
        return [*self.comparison._groups(every_metric=False).items()]

    @cached
    def columns(self) -> dict[str, str]:
        """What each metric of the first table is called: at the primary k, or the largest below."""
        columns = {}
        for metrics, ks in self.groups:
            k = max((k for k in ks if k <= self.k), default=ks[0])
            k = self.k if self.metric in metrics else k
            columns[f"{metrics[0]}@{k}"] = " = ".join(f"{metric}@{k}" for metric in metrics)
        return columns

    @cached
    def pages(self) -> dict[str, Page]:
        """All that each result prints, the best first."""
        return {system: result._page() for system, result in self.sorted.items()}

    @cached
    def tests(self) -> Tests:
        """The tests of the primary metric."""
        return self.comparison.test(self.primary, users="common")

    @cached
    def all_tests(self) -> tuple[Tests | None, str]:
        """The tests of all metrics, or why there are none."""
        if not self.others:
            return None, ""
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
        return self.truths(self.wanted)

    @cached
    def history(self) -> dict[Any, list[Any]] | None:
        """What these users had before, if that is known."""
        n = None if self.first.has_keys else self.first.n_users
        items, columns, padding = map(self.options.get, ("items", "columns", "padding"))
        return history_of(items, self.wanted, n, columns, padding)

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
