"""What the sections of the page show: tables and charts that results, comparisons and tests make.

The words beside them are in page.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from toplist import audit, beyond
from toplist.checks import counted, worded
from toplist.comparing.contrasts import MARKS, Contrast, or_why
from toplist.comparing.movers import Mover, Movers
from toplist.evaluation import evaluate
from toplist.plots.axes import end_of
from toplist.reporting import drawing
from toplist.reporting.about import Report
from toplist.reporting.showing import plain, shown
from toplist.results import describe
from toplist.results.tables import LOOK, Cell, Column, Look, Page, Table, percent

# How many rows of a table and lines in a chart are shown, and how much of a list.
ROWS, TOGETHER, DEPTH = 40, 7, 20
# What asks for more of the lists themselves.
MORE = "item_coverage", "gini", "average_popularity", "novelty"
# What is said where no difference was found.
NOT_SHOWN = "not shown"
# What a test may find, in the order of the answer.
FOUND = "better", "higher", NOT_SHOWN, "lower", "worse"


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
            of = evaluate.curves("gini(over=recommended)", lists, k=report.k, duplicates="first")
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
