"""`Report`: what a page is about, and what is known of it once for all sections."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from toplist import audit
from toplist.checks import cached, check_positive_int, whole, worded
from toplist.comparing.comparison import Comparison
from toplist.comparing.contrasts import Contrast, primary_of
from toplist.comparing.tests import Tests, or_why
from toplist.comparing.views import SEED, Movers
from toplist.metrics.properties import equal_names
from toplist.plots.axes import brief
from toplist.reporting.lists import ItemsOf, Words, catalogue_of, history_of, plain
from toplist.results import describe
from toplist.results.means import has_keys
from toplist.results.result import TopKResult

# Of so many users the lists are looked at, for data checks and overlap: of more, some are drawn.
LOOKED_AT = 20_000
# Systems whose users are shown; users of each side, and at random; letters of a system in a title.
DETAILED, USERS, DRAWN, OF_TITLE = 7, 3, 3, 30
# Checks of the training data, which is not given here.
OF_TRAINING = {"leaked", "listed_seen", "trained_twice"}
OF_TRAINING |= {"cold_users", "cold_items", "unknown_items"}


@dataclass(frozen=True, eq=False)
class Report:
    """What the page is about.

    Attributes
    ----------
    comparison : Comparison
        The first of several systems is its baseline.
    lists : dict of system -> function, and truths
        What gives the lists of some users, and their relevant items; without any, no lists.
    words : Words
    asked : str, or None
        The primary metric, ``"ndcg@10"``, if one is asked for.
    by : labels of users, or None
    n_users, depth : int
        How many users are shown, of the worst and of the best each; how much of their lists.
    options : dict
        Of the evaluation, as far as they are given. Lists that they change before the join are not
        shown, since ranks are of others.
    """

    comparison: Comparison
    lists: Mapping[str, ItemsOf]
    truths: ItemsOf | None
    words: Words
    asked: str | None
    by: Any
    n_users: int
    depth: int | None
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Raise for numbers that cannot be; leave out lists that are changed."""
        whole(self.n_users)
        if self.depth is not None:
            check_positive_int(self.depth, "depth")
        known = self.options.get("items_as") is None and self.options.get("unjudged") != "drop"
        if not known or self.options.get("duplicates") == "collapse":
            object.__setattr__(self, "lists", {})

    @cached
    def primary(self) -> str:
        """What the page is about: ``"ndcg@10"``."""
        try:
            metric, cut = self.first.terms.find(self.asked or primary_of(self.comparison.names()))
        except KeyError as error:
            raise ValueError(f"primary: {error.args[0]}") from None
        if cut is None:
            raise ValueError(f"primary: at which k? such as {metric.name}@{self.first.terms.ks[0]}")
        return f"{metric.name}@{cut}"

    @cached
    def history(self) -> ItemsOf | None:
        """What gives the items that users had before, if that is known."""
        given = getattr(self.options.get("items"), "history", None)
        n = None if has_keys(self.first) else self.first.n_users
        how = self.options.get("columns"), self.options.get("padding")
        return None if given is None else history_of(given, n, *how)

    @cached
    def catalogue(self) -> Container[Any] | None:
        """What says whether an item could be listed, if that is known."""
        return catalogue_of(getattr(self.options.get("items"), "catalogue", None))

    @cached
    def metric(self) -> str:
        """The primary metric without its k."""
        return self.primary.rpartition("@")[0]

    @cached
    def k(self) -> int:
        """The k of the primary metric."""
        return int(self.primary.rpartition("@")[2])

    @cached
    def base(self) -> str:
        """The first system, with which the others are compared."""
        return self.comparison.systems[0]

    @cached
    def others(self) -> list[str]:
        """The other systems."""
        return self.comparison.systems[1:]

    @cached
    def called(self) -> dict[str, str]:
        """What the systems are called in the titles of charts."""
        systems = self.comparison.systems
        return dict(zip(systems, brief(systems, OF_TITLE), strict=True))

    @cached
    def first(self) -> TopKResult:
        """The result of the first system."""
        return self.comparison.results[self.base]

    @cached
    def higher_is_better(self) -> bool | None:
        """Which direction of the primary metric is better."""
        return self.first.terms.find(self.primary)[0].higher_is_better

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
    def had(self) -> dict[Any, list[Any]]:
        """What the users had before."""
        return {} if self.history is None else self.history(self.wanted)

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
                if self.words.named and self.n_users:  # examples are ids of users
                    text += colon + ids
                found.append((system, level, text))
        return n, sorted(found, key=lambda row: audit.LEVELS.index(row[1]))
