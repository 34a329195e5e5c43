"""What the page is about, a `Report`, and what its sections show: tables, charts, users.

All of it is made by results, comparisons and tests; the words around it are in page.html.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from toplist import audit, beyond, evaluation
from toplist.checks import cached, check_positive_int, counted, whole, worded
from toplist.comparing.comparison import Comparison
from toplist.comparing.contrasts import MARKS, Contrast, or_why, primary_of
from toplist.comparing.tests import Tests
from toplist.comparing.views import SEED, Mover, Movers
from toplist.plots.axes import brief, end_of
from toplist.reporting import drawing
from toplist.reporting.showing import catalogue_of, history_of, plain, shown, titles_of
from toplist.results import describe
from toplist.results.result import TopKResult
from toplist.results.tables import LOOK, Cell, Column, Look, Page, Table, percent, shortened
from toplist.stats.units import snap

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
# How many rows of a table and lines in a chart are shown, and how much of a list.
ROWS, TOGETHER, DEPTH = 40, 7, 20
# What asks for more of the lists themselves.
MORE = "item_coverage", "gini", "average_popularity", "novelty"
# What is said where no difference was found.
NOT_SHOWN = "not shown"
# What a test may find, in the order of the answer.
FOUND = "better", "higher", NOT_SHOWN, "lower", "worse"


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

    @cached
    def leading(self) -> list[str]:
        """The systems with the best mean in the primary metric: several where they are equal."""
        best = next(iter(self.sorted.values()))[self.primary]
        return [one for one, result in self.sorted.items() if not snap(result[self.primary], best)]

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


# What its sentences say


def word_of(one: Contrast) -> str:
    """Return what a test found, in a word: "not shown" does not say that there is nothing."""
    if one.higher_is_better is None and one.mark:
        return "higher" if one.difference > 0 else "lower"
    return "better" if one.sign in MARKS else "worse" if one.sign else NOT_SHOWN


def by_word(report: Report) -> dict[str, list[Contrast]]:
    """Return the tests of the primary metric by what they found."""
    tests = report.ranked(report.tests)
    words = {word: [one for one in tests if word_of(one) == word] for word in FOUND}
    return {word: some for word, some in words.items() if some}


def change(one: Contrast, before: str) -> str:
    """Return the relative difference of a test, where it is known."""
    return f"{before}{percent(one.relative)}" if one.relative == one.relative else ""


def whom(report: Report, n: int) -> str:
    """Return a number of users in words."""
    return worded(counted(n, "user"), report.comparison.unit)


def flaws(report: Report) -> str:
    """Return how many errors, warnings and notes the data checks found."""
    levels = [level for _, level, _ in report.checked[1]]
    numbers = ((levels.count(level), level) for level in audit.LEVELS)
    return ", ".join(counted(n, level) for n, level in numbers if n)


# Charts and tables


def means(report: Report) -> drawing.Chart:
    """Return the chart of the means of all systems in the primary metric."""
    name, places = report.primary, report.comparison.systems
    rows = [
        (system, one[name], *one.interval(name), places.index(system), False)
        for system, one in report.sorted.items()
    ]
    return drawing.dots(f"{name} with 95 % intervals", rows[:ROWS])


def table(report: Report) -> Table:
    """Return the means of all systems at one k, with intervals and marks."""
    tests, best = report.all_tests[0], report.comparison.best()
    signs, look = {} if tests is None else tests.signs, Look(intervals=True)

    def cell(system: str, at: str) -> Cell:
        sign, is_best = signs.get((system, at), ""), system in best.get(at, ())
        return report.comparison._cell(system, at, sign, is_best, look)

    rows = [(system, [cell(system, at) for at in report.columns]) for system in report.sorted]
    return Table("system", [*report.columns.values()], rows)


def intervals(report: Report) -> list[str]:
    """Return which intervals those of the table are."""
    return describe.intervals(report.comparison._only([*report.columns]).results)


def curves(report: Report) -> list[drawing.Chart]:
    """Return the curves over k of each group of metrics, of many systems those of the best."""
    charts = []
    best = [report.base, *(one for one in report.sorted if one != report.base)][:TOGETHER]
    for names, _ in report.groups:
        places = ((one, report.comparison.results[one]) for one in best)
        known = {one: result for one, result in places if names[0] in result.terms.metrics}
        depth = min((one.terms.depth for one in known.values()), default=1)
        if depth == 1 or next(iter(known.values())).terms.metrics[names[0]].cut == "n":
            continue
        lines = []
        for system, one in known.items():
            end, (low, high) = end_of(one, depth), one.interval(names[0])
            curve = one[names[0]][:end], low[:end], high[:end]
            lines.append((system, report.comparison.systems.index(system), *curve))
        heading = f"{' = '.join(names)} over k, with 95 % bands"
        charts.append(drawing.curves(heading, depth, lines))
    return charts


def bands(report: Report) -> tuple[list[tuple[drawing.Chart, Page]], str]:
    """Return the differences in the primary metric over k, drawn and in numbers; or why not."""
    known, found, why = report.first.terms.metrics.get(report.metric), [], ""
    over_k = known is not None and known.cut != "n"
    for i, system in enumerate(report.others[:TOGETHER] if over_k else (), 1):
        draw = partial(report.comparison.band, report.metric, system, report.base, users="common")
        band, why = or_why(draw)
        if band is None or len(band.difference) == 1:
            continue
        both = (report.comparison.results[one] for one in (report.base, system))
        depth = len(band.difference)
        end = max(end_of(one, depth) for one in both)
        over = f"{_pair(report, system)} in {report.metric} over k"
        line = system, i, band.difference[:end], band.low_all[:end], band.high_all[:end]
        heading = f"{over}, with a band for all k together"
        found.append((drawing.curves(heading, depth, [line], zero=True), band._page()))
    return found, why


def _pair(report: Report, system: str) -> str:
    """Return what a difference is called in the title of a chart."""
    return f"{report.called[system]} - {report.called[report.base]}"


def differences(report: Report) -> drawing.Chart:
    """Return the chart of the tests of all systems."""
    heading = f"Difference in {report.primary} from {report.called[report.base]}"
    return _forest(report, heading, report.ranked(report.tests))


def _forest(report: Report, heading: str, tests: Sequence[Contrast]) -> drawing.Chart:
    """Return the chart of some tests, of systems or of segments."""
    rows = []
    for one in tests[:ROWS]:
        name = one.system if one.segment is None else f"{one.segment} ({one.n:,})"
        colour, hollow = report.comparison.systems.index(one.system), word_of(one) == NOT_SHOWN
        rows.append((name, one.difference, one.low, one.high, colour, hollow))
    return drawing.dots(f"{heading}; hollow: not shown", rows, zero=True)


def segments(report: Report) -> tuple[list[drawing.Chart], Page, int]:
    """Return the tests in every segment as charts and a table, and how many segments there are."""
    split, charts = report.comparison.by(report.by), []
    if not report.others:
        return [], split._page(), len(split)
    tests = split.test(report.primary, users="common")
    for system in report.others[:TOGETHER]:
        heading = f"{_pair(report, system)} in {report.primary} by segment"
        charts.append(_forest(report, heading, [one for one in tests if one.system == system]))
    return charts, tests._page(), len(split)


def further(report: Report) -> Table:
    """Return what is known of the lists of a system: overlap, how many items, how concentrated."""
    cut = {
        system: {user: items[: report.k] for user, items in lists.items() if items}
        for system, lists in report.sample.items()
    }
    rows = []
    for system, lists in cut.items():
        overlap, n_items, gini = Cell("-"), "-", "-"
        if system != report.base and lists and cut.get(report.base):
            found = beyond.overlap(cut[report.base], lists, report.k, duplicates="first")
            low, high = (float(end[-1]) for end in found.interval())
            overlap = Cell(LOOK.number(found.mean[-1]), LOOK.ends(low, high))
        if lists and not report.whose:  # of all lists together
            n_items = f"{len({item for row in lists.values() for item in row}):,}"
            of = evaluation.curves("gini(over=recommended)", lists, k=report.k, duplicates="first")
            gini = f"{of[-1]:.4f}"
        rows.append((system, [overlap, Cell(n_items), Cell(gini)]))
    headers = [f"overlap with {plain(report.base)}", "items listed", "Gini over these"]
    return Table("system", headers, rows)


def files(report: Report) -> Table:
    """Return the files that were read."""
    rows = [{"file": file, "n": n, "sha": sha} for file, n, sha in report.files]
    columns = [Column("n", "count", "bytes"), Column("sha", "text", "SHA-256")]
    return Table.of("file", "{file}", columns, rows, LOOK)


def lacking(report: Report) -> list[str]:
    """Return the metrics of the lists that were not asked for."""
    asked = {name.rpartition("@")[0] for name in report.comparison.names()}
    return [name for name in MORE if name not in asked]


# Users


class Pair(NamedTuple):
    """A system beside the first one: all differences, users by kind, and a chart; known lists.

    Of a user there are a number, the values, and both lists as `toplist.show` has them, or None.
    """

    system: str
    movers: Movers
    groups: Mapping[str, Sequence[tuple[int, Mover, Any]]]
    chart: drawing.Chart | None
    lists: bool
    depth: int


def users(report: Report) -> Iterator[Pair]:
    """Yield the users of each system with the largest differences from the first, with lists.

    Users are numbered over all systems.
    """
    numbers, depth = count(1), report.depth or min(report.k, DEPTH)
    for system, found in (report.movers if report.others else {}).items():
        pair = report.base, system
        known = {*pair} <= report.rows.keys()
        d, (low, _, high) = found.differences, found.counts
        sign = -1 if found.higher_is_better is False else 1
        worse = [row for row in found.rows if sign * row.difference < 0]
        better = sorted(found.rows[len(worse) :], key=lambda row: -abs(row.difference))

        def lists(user: Any, systems: tuple[str, str] = pair) -> Any:
            both = {one: report.rows[one].get(user, []) for one in systems}
            past = None if report.history is None else report.history.get(user, [])
            relevant, beside = report.relevant.get(user, []), (depth, past, report.catalogue)
            return shown(user, report.k, both, {}, relevant, report.title, *beside)

        groups = {
            word: [(next(numbers), row, lists(row.user_id) if known else None) for row in rows]
            for word, rows in ((low, worse), (high, better), ("at random", found.drawn))
        }
        title = f"{found.unit.capitalize()} by difference in {found.name}: {_pair(report, system)}"
        equal = f", without {int((d == 0).sum()):,} equal {found.unit}" * bool((d == 0).any())
        chart = drawing.histogram(title + equal, d[d != 0]) if d.any() else None
        yield Pair(system, found, groups, chart, known, depth)
