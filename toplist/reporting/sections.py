"""The sections of the page as data: words and numbers of the results, comparisons and tests."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from toplist import audit, beyond
from toplist.checks import cached, worded
from toplist.comparing.aligning import tested
from toplist.comparing.comparison import Comparison
from toplist.comparing.tests import MARKS, Contrast, Tests
from toplist.comparing.views import SEED, Mover, Movers
from toplist.evaluation import evaluate
from toplist.reporting import drawing
from toplist.reporting.lists import ItemsOf, Words, plain
from toplist.reporting.showing import shown
from toplist.results import describe
from toplist.results.markup import LOOK, Cell, Grid, Page, Table
from toplist.results.means import hits_of
from toplist.results.result import TopKResult

# Of so many users the lists are looked at, for data checks and overlap: of more, some are drawn.
LOOKED_AT = 20_000
# How many rows of a table, users as an example, systems with lists and lines in a chart are shown.
ROWS, EXAMPLES, DETAILED, TOGETHER = 40, 5, 7, 7
USERS, DRAWN, DEPTH = 25, 10, 20
# Checks of the training data, which is not given here.
OF_TRAINING = {"leaked", "listed_seen", "trained_twice"}
OF_TRAINING |= {"cold_users", "cold_items", "unknown_items"}
# What asks for more of the lists themselves.
MORE = "item_coverage", "gini", "average_popularity", "novelty"


@dataclass(frozen=True, eq=False)
class Report:
    """What the page is about.

    Attributes
    ----------
    comparison : Comparison
        The first of several systems is its baseline.
    primary : str
        ``"ndcg@10"``.
    lists : dict of system -> function, truths, and history
        What gives the lists of some users, their relevant items, and those they had before; without
        any, no lists.
    catalogue : container of items, or None
    words : Words
    by : labels of users, or None
    n_users, depth : int
        How many users are shown, of the worst and of the best each; how much of their lists.
    options : dict
        Of the evaluation, as far as they are given.
    """

    comparison: Comparison
    primary: str
    lists: Mapping[str, ItemsOf]
    truths: ItemsOf | None
    history: ItemsOf | None
    catalogue: Container[Any] | None
    words: Words
    by: Any
    n_users: int
    depth: int | None
    options: Mapping[str, Any]

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
    def first(self) -> TopKResult:
        """The result of the first system."""
        return self.comparison.results[self.base]

    @cached
    def named(self) -> bool:
        """Whether ids of users are on the page."""
        return self.words.named and self.n_users > 0

    @cached
    def tests(self) -> Tests:
        """The tests of the primary metric."""
        return self.comparison.test(self.primary, users="common")

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
        how: dict[str, Any] = {
            "baseline": self.base,
            "n": max(n, 1),
            "users": "common",
            "n_drawn": DRAWN,
        }
        return {one: self.comparison.movers(self.primary, one, **how) for one in detailed}

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


def word_of(one: Contrast) -> str:
    """Return what a test found, in a word: "not shown" does not say that there is nothing."""
    if one.higher_is_better is None and one.mark:
        return "higher" if one.difference > 0 else "lower"
    return "better" if one.sign in MARKS else "worse" if one.sign else "not shown"


def who(report: Report) -> list[dict[str, Any]]:
    """Return who was counted, for each system: what is said, how many, and some users."""

    def some(what: str, where: Any) -> tuple[str, int, list[str]]:
        rows = np.flatnonzero(where)
        shown = rows[:EXAMPLES].tolist() if report.n_users else []
        return what, len(rows), [report.words.user(result.users[row]) for row in shown]

    found = []
    for system, result in report.comparison.results.items():
        left_out = "left out" if result.terms.missing == "skip" else "counted as 0"
        hits = hits_of(result, f"the users of {system} are unknown")[0]
        short = (hits.lengths > 0) & (hits.lengths < report.k)
        rows = [
            ("in the truth", result.n_users, []),
            ("evaluated", result.n_evaluated, []),
            some(f"without a list ({left_out})", (hits.n_relevant > 0) & (hits.n_listed == 0)),
            some("without relevant items", hits.n_relevant == 0),
            some(f"with a list shorter than {report.k}", short),
            ("with a list but no ground truth (ignored)", result.n_extra, []),
        ]
        found.append({"system": system, "rows": rows, "account": describe.account(result)})
    return found


def checks(report: Report) -> tuple[int, list[tuple[str, str, int, str]]]:
    """Return how many data checks there were, and what they found: system, level, count, words."""
    known = report.relevant
    truths = {user: [*known[user]] for user in report.looked_at if user in known}
    options, found, n = {"listed_twice": "duplicates", "padding": "padding"}, [], 0
    for system, lists in report.sample.items():
        audited = audit.check(lists, truths, k=report.k)
        n = len(audited.counts.keys() - OF_TRAINING)
        for one in audited.findings:
            level, text = one.level, one.text
            if report.options.get(option := options.get(one.name, "")) is not None:
                level, text = "note", f"{text} ({option}={report.options[option]})"
            ours, colon, ids = text.partition(":")
            text = worded(ours, report.comparison.unit)
            if report.named:  # examples are ids of users
                text += colon + ids
            found.append((system, level, one.count, text))
    return n, sorted(found, key=lambda row: audit.LEVELS.index(row[1]))


def means(report: Report) -> Iterator[dict[str, Any]]:
    """Yield a table of means for each group of metrics, and what they are."""
    results, best = report.comparison.results, report.comparison.best()
    for names, ks in report.comparison._groups(every_metric=False).items():
        first = next(one for one in results.values() if names[0] in one.terms.asked)
        metric = first.terms.asked[names[0]]
        titles = {
            f"{names[0]}@{k}": f"@{k}" if describe.has_k(metric) else "whole list" for k in ks
        }

        def cell(system: str, name: str) -> Cell:
            one = results[system]
            if name not in one.names():
                return Cell("-")
            return describe.cell(one, name)._replace(best=system in best[name])

        rows = [(system, [cell(system, name) for name in titles]) for system in results]
        yield {
            "title": " = ".join(names),
            "table": Table("system", [*titles.values()], rows),
            "lines": describe.explanation(first, metric, "text").split("\n"),
        }


def curves(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the curves over k of each group of metrics, with the numbers at some k's."""
    results = report.comparison.results
    for names, ks in report.comparison._groups(every_metric=False).items():
        known = {s: one for s, one in results.items() if names[0] in one.terms.metrics}
        if not known or next(iter(known.values())).terms.metrics[names[0]].cut == "n":
            continue
        depth = min(one.terms.depth for one in known.values())
        lines = [
            (s, i, one[names[0]][:depth], *(end[:depth] for end in one.interval(names[0])))
            for i, (s, one) in enumerate(known.items())
        ]
        title = " = ".join(names)
        if len(lines) <= TOGETHER:
            charts = [drawing.curves(f"{title} over k, with 95 % bands", depth, lines)]
        else:  # beside the first, each alone
            charts = [
                drawing.curves(f"{title} of {line[0]} over k", depth, [lines[0], line])
                for line in lines[1 : 2 * TOGETHER]
            ]
        shown = sorted({1, depth, *(k for k in ks if k < depth)})
        rows = [(f"{k}", [Cell(LOOK.number(line[2][k - 1])) for line in lines]) for k in shown]
        table, left_out = Table("k", [*known], rows), len(lines) - 2 * TOGETHER
        yield {"title": title, "charts": charts, "table": table, "left_out": left_out}


def differences(report: Report) -> dict[str, Any]:
    """Return the forest and the bands of the primary metric, and the tests of all metrics."""
    metric, terms = report.primary.rpartition("@")[0], report.first.terms
    bands, why = [], ""
    over_k = metric in terms.metrics and terms.metrics[metric].cut != "n"
    for i, system in enumerate(report.others[:TOGETHER] if over_k else (), 1):
        draw = partial(report.comparison.band, metric, system, report.base, users="common")
        band, why = tested(draw)
        if band is not None:
            title = f"{system} - {report.base} in {metric} over k, with a band for all k together"
            line = system, i, band.difference, band.low_all, band.high_all
            chart = drawing.curves(title, len(band.difference), [line], zero=True)
            bands.append((chart, band._page()))
    everything, without = tested(partial(report.comparison.test, users="common"))
    return {
        "forest": _forest(f"Differences in {report.primary} from {report.base}", report.tests),
        "notes": report.tests._page().notes,
        "bands": bands,
        "why": [f"no band over k: {why}"] * bool(why)
        + [f"other metrics are not tested: {without}"] * bool(without),
        "all": _first_rows(everything._page()) if everything else None,
        "n": len(everything or ()),
    }


def _forest(title: str, tests: Iterable[Contrast]) -> drawing.Chart:
    """Return the chart of some tests, of systems or of segments."""
    rows = []
    for one in tests:
        name = one.system if one.segment is None else f"{one.segment} ({one.n:,})"
        rows.append((name, one.difference, one.low, one.high))
    return drawing.forest(title, rows)


def segments(report: Report) -> dict[str, Any] | None:
    """Return the tests of the primary metric in every segment; None without labels."""
    if report.by is None:
        return None
    split, forests = report.comparison.by(report.by), []
    if not report.others:
        return {"page": _first_rows(split._page()), "n": len(split), "forests": []}
    tests = split.test(report.primary, users="common")
    for system in report.others[:TOGETHER]:
        title = f"{system} - {report.base} in {report.primary} by segment"
        some = [one for one in tests if one.system == system]
        forests.append(_forest(title, some[:ROWS]))
    return {"page": _first_rows(tests._page()), "n": len(split), "forests": forests}


def _first_rows(page: Page) -> Page:
    """Return a page whose tables have few rows."""
    return page._replace(tables=[t._replace(rows=t.rows[:ROWS]) for t in page.tables])


def files(of: Iterable[tuple[str, int, str]]) -> Table:
    """Return the files that were read: their names, bytes, and the beginning of their SHA-256."""
    return Grid.of(["file", "bytes", "SHA-256"], of, bytes="count", **{"SHA-256": "text"}).table()


def further(report: Report) -> Table:
    """Return what is known of the lists of a system: overlap, how many items, how concentrated."""
    rows = []
    cut = {
        system: {user: items[: report.k] for user, items in lists.items() if items}
        for system, lists in report.sample.items()
    }
    for system, lists in cut.items():
        overlap = n_items = gini = "-"
        if system != report.base and lists and cut.get(report.base):
            found = beyond.overlap(cut[report.base], lists, report.k, duplicates="first")
            low, high = (float(end[-1]) for end in found.interval())
            overlap = f"{found.mean[-1]:.4f} [{low:.4f}, {high:.4f}]"
        if lists and not report.whose:  # of all lists together
            n_items = f"{len({item for row in lists.values() for item in row}):,}"
            of = evaluate.curves("gini(over=recommended)", lists, k=report.k, duplicates="first")
            gini = f"{of[-1]:.4f}"
        rows.append((system, [Cell(overlap), Cell(n_items), Cell(gini)]))
    first = f"overlap with {plain(report.base)}"
    return Table("system", [first, "items listed", "Gini over these"], rows)


def lacking(report: Report) -> list[str]:
    """Return the metrics of the lists themselves that nobody asked for."""
    asked = {name.rpartition("@")[0] for name in report.comparison.names()}
    return [name for name in MORE if name not in asked]


def extremes(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the users of each system with the largest differences from the first, with lists.

    Users are numbered over all systems.
    """
    numbers, depth = count(1), report.depth or min(report.k, DEPTH)
    for system, found in report.movers.items():
        pair = report.base, system
        known = {*pair} <= report.rows.keys()

        def user(row: Mover, pair: tuple[str, str] = pair, known: bool = known) -> Any:
            """Return the number of a user, what differs, and both lists where they are known."""
            if not known:
                return next(numbers), row, None
            lists = {one: report.rows[one].get(row.user_id, []) for one in pair}
            of = row.user_id
            past = None if report.history is None else report.had.get(of, [])
            beside = depth, past, report.catalogue
            relevant, title = report.relevant.get(of, []), report.words.title
            return next(numbers), row, shown(of, report.k, lists, {}, relevant, title, *beside)

        d, (low, _, high) = found.differences, found.counts
        sign = -1 if found.higher_is_better is False else 1
        worse = [row for row in found.rows if sign * row.difference < 0]
        better = sorted(found.rows[len(worse) :], key=lambda row: -abs(row.difference))
        groups = {low: worse, high: better, "at random": found.drawn}
        equal = f", without {int((d == 0).sum()):,} equal {found.unit}"
        title = f"{found.unit.capitalize()} by difference in {found.name}: {system} - {report.base}"
        title += equal if (d == 0).any() else ""
        yield {
            "system": system,
            "groups": {word: [*map(user, rows)] for word, rows in groups.items()},
            "chart": drawing.histogram(title, d[d != 0]) if d.any() else None,
            "counts": found.counts,
            "n": len(d),
            "lists": known,
            "depth": depth,
        }


def title(report: Report) -> str:
    """Return what the page is called."""
    systems = [plain(system) for system in report.comparison.systems]
    more = f"{systems[0]} and {len(systems) - 1} more"
    return f"{' and '.join(systems) if len(systems) < 3 else more}: {report.primary}"


def verdict(report: Report) -> str:
    """Return what was found, in a sentence or two."""
    if report.others:
        return report.tests.sentence()
    return (
        f"One system: {report.primary} is {report.first[report.primary]:.4f}; nothing to compare."
    )
