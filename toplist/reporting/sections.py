"""The sections of the page, as blocks of text, tables and charts that results and tests make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from toplist import audit, beyond
from toplist.checks import counted, worded
from toplist.comparing.contrasts import MARKS, Contrast, or_why
from toplist.comparing.movers import Mover, Movers
from toplist.comparing.tests import Tests
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


class Text(NamedTuple):
    """A paragraph: words, and words with how they look, such as "name" or "better"."""

    words: Sequence[str | tuple[str, str]]
    look: str = "soft"

    @classmethod
    def of(cls, *lines: str, look: str = "soft") -> list[Text]:
        """Return a paragraph for each line that says something."""
        return [cls([line], look) for line in lines if line]


class Tabled(NamedTuple):
    """A table with its caption, which is read aloud alone where it is `hidden`."""

    table: Table
    caption: str
    hidden: bool = True


class Folded(NamedTuple):
    """Blocks that are unfolded; they are not printed."""

    title: str
    inside: Sequence[Block]


class Beside(NamedTuple):
    """Blocks beside each other, where there is room."""

    inside: Sequence[Block]


class Heading(NamedTuple):
    """A heading within a section, with the name of its place."""

    title: str
    place: str


Block = Text | Tabled | Folded | Beside | Heading | drawing.Chart


class Section(NamedTuple):
    """A part of the page: the name of its place, its heading, and what is in it."""

    place: str
    title: str
    blocks: Sequence[Block]


def title(report: Report) -> str:
    """Return what the page is called."""
    systems = [plain(system) for system in report.sorted]
    more = f"{systems[0]} and {len(systems) - 1} more"
    return f"{' and '.join(systems) if len(systems) < 3 else more}: {report.primary}"


def word_of(one: Contrast) -> str:
    """Return what a test found, in a word: "not shown" does not say that there is nothing."""
    if one.higher_is_better is None and one.mark:
        return "higher" if one.difference > 0 else "lower"
    return "better" if one.sign in MARKS else "worse" if one.sign else NOT_SHOWN


# The answer


def answer(report: Report) -> Iterator[Text]:
    """Yield what was found in the primary metric, in a sentence, or a line for each finding."""
    name, base = report.primary, (report.base, "name")
    if not report.others:
        (low, high), mean = report.first.interval(name), report.first[name]
        ends = f" (95 % interval {low:.4f} to {high:.4f})" if low == low else ""
        whom = _whom(report, report.first.n_of(name))
        words: list[Any] = [
            base,
            f": {name} is {mean:.4f}{ends}, {whom}; one system, nothing to compare.",
        ]
    elif len(report.tests) == 1:
        (one,) = report.tests
        found, system, whom = word_of(one), (one.system, "name"), _whom(report, one.n)
        means = f": {name} {one.baseline_mean:.4f} → {one.mean:.4f}{_change(one, ', ')}, {whom}."
        words = [system, " is ", (found, found), " than ", base, means]
        if not one.wins and not one.losses:
            words = [system, " and ", base, f" have the same {name} everywhere: {one.mean:.4f}, "]
            words.append(f"{whom}.")
        elif one.p != one.p:
            words = [system, " and ", base, means, " Too few to test."]
        elif found == NOT_SHOWN:
            interval = f" It may be anything from {one.low:+.4f} to {one.high:+.4f}."
            words = ["A difference of ", system, " from ", base, " is ", (found, "strong")]
            words += [means, interval]
    else:
        best, result = next(iter(report.sorted.items()))
        end = "lowest" if report.higher_is_better is False else "highest"
        n = min(one.n for one in report.tests)
        lead = f" has the {end} {name} of {len(report.sorted)} systems: {result[name]:.4f}"
        words = [(best, "name"), f"{lead}, {_whom(report, n)}."]
    yield Text(words, "verdict")
    for word in FOUND if len(report.others) > 1 else ():
        some = [one for one in report.ranked(report.tests) if word_of(one) == word]
        head, look = f"{word.capitalize()} than ", word
        if word == NOT_SHOWN:
            head, look = "Not shown to differ from ", "strong"
        line: list[Any] = [(head, look), base]
        for i, one in enumerate(some):
            line += [", " if i else ": ", (one.system, "name"), _change(one, " ")]
        if some:
            yield Text([*line, "."], "verdict")


def _change(one: Contrast, before: str) -> str:
    """Return the relative difference of a test, where it is known."""
    return f"{before}{percent(one.relative)}" if one.relative == one.relative else ""


def _whom(report: Report, n: int) -> str:
    return worded(counted(n, "user"), report.comparison.unit)


def odd(report: Report) -> Iterator[Text]:
    """Yield who was counted and by which rules in a line, and what is wrong, if anything is."""
    rules = f"{describe.rules(report.first)}: {describe.averaging(report.first)}"
    n, found = report.checked
    levels = [sum(level == one for _, level, _ in found) for one in audit.LEVELS]
    checks = ", ".join(counted(m, one) for m, one in zip(levels, audit.LEVELS, strict=True) if m)
    said = f"; data checks: {checks or 'nothing found'}" * (n > 0)
    differ = "" if len(report.accounts) == 1 else " (others differ, see below)"
    yield Text([f"{report.accounts[0]}{differ}; {rules}{said}."])
    yield from Text.of(*(one.text for one in report.comparison.differences), look="warn")
    for system, level, text in found:
        if level == "error":
            yield Text(["error: ", (system, "name"), f": {text}"], "warn")


# Sections


def sections(report: Report) -> list[Section]:
    """Return the sections of the page; those with nothing in them are left out."""
    unit = report.comparison.unit.capitalize()
    made: dict[tuple[str, str], Iterable[Block]] = {
        ("systems", f"Systems by {report.primary}"): systems(report),
        ("curves", "Curves over k"): curves(report),
        ("tests", "Is the difference more than chance?"): differences(report),
        ("segments", "Segments"): segments(report),
        ("lists", "Beyond accuracy"): further(report),
        ("users", f"{unit} with the largest differences"): users(report),
        ("who", "Who was counted"): who(report),
    }
    found = [Section(*head, list(blocks)) for head, blocks in made.items()]
    return [one for one in found if one.blocks]


def systems(report: Report) -> Iterator[Block]:
    """Yield pictures of all systems and their differences, a table, and folded all means."""
    name, means = report.primary, []
    for system, one in report.sorted.items():
        low, high = one.interval(name)
        means.append((system, one[name], low, high, report.comparison.systems.index(system), False))
    charts: list[Block] = [drawing.dots(f"{name} with 95 % intervals", means[:ROWS])]
    tests: Tests | None = None
    if report.others:
        tests, _ = report.all_tests
        title = f"Difference in {name} from {report.called[report.base]}"
        charts.append(_forest(report, title, report.ranked(report.tests)))
    yield Beside(charts)
    signs, best = ({} if tests is None else tests.signs), report.comparison.best()
    columns = {}  # of every metric the k of the primary one, or the largest below
    for metrics, ks in report.groups:
        k = max((k for k in ks if k <= report.k), default=ks[0])
        k = report.k if report.metric in metrics else k
        columns[f"{metrics[0]}@{k}"] = " = ".join(f"{metric}@{k}" for metric in metrics)

    look = Look(intervals=True)

    def cell(system: str, at: str) -> Cell:
        sign, is_best = signs.get((system, at), ""), system in best.get(at, ())
        return report.comparison._cell(system, at, sign, is_best, look)

    rows = [(system, [cell(system, at) for at in columns]) for system in report.sorted]
    yield Tabled(Table("system", [*columns.values()], rows), "Means with 95 % intervals")
    yield from Text.of(*describe.intervals(report.comparison._only([*columns]).results))
    said = "Bold: best of its column." * (len(rows) > 1)
    if tests is not None:
        said += f" Marks, of all metrics together: {tests._page().notes[0]}."
    yield from Text.of(said)
    every: list[Block] = []
    pages = {plain(system): result._page() for system, result in report.sorted.items()}
    for system, page in pages.items():
        every += [Heading(system, ""), *_written(page, f"Means of {system}")]
    formulas = dict.fromkeys(one for page in pages.values() for one in page.formulas)
    yield Folded("All means, with formulas", [*every, *Text.of(*formulas)])


def curves(report: Report) -> Iterator[Block]:
    """Yield the curves over k of each group of metrics, of many systems those of the best."""
    charts: list[drawing.Chart] = []
    best = [report.base, *(one for one in report.sorted if one != report.base)][:TOGETHER]
    for names, _ in report.groups:
        places = ((one, report.comparison.results[one]) for one in best)
        known = {one: result for one, result in places if names[0] in result.terms.metrics}
        depth = min((one.terms.depth for one in known.values()), default=1)
        if depth == 1 or next(iter(known.values())).terms.metrics[names[0]].cut == "n":
            continue
        lines, title = [], f"{' = '.join(names)} over k, with 95 % bands"
        for system, one in known.items():
            end, (low, high) = end_of(one, depth), one.interval(names[0])
            curve = one[names[0]][:end], low[:end], high[:end]
            lines.append((system, report.comparison.systems.index(system), *curve))
        charts.append(drawing.curves(title, depth, lines))
    if not charts:
        return
    yield Beside(charts)
    said = "Bands are of each system; for differences see the next section."
    if any(one.ends for one in charts):
        said += " A dot ends a curve where no list is longer."
    if len(report.sorted) > len(best):
        said += (
            f" Of {len(report.sorted)} systems the baseline and the {len(best) - 1} best are drawn."
        )
    yield from Text.of(said)


def _written(page: Page, what: str) -> Iterator[Block]:
    """Yield the tables of a page, as many rows as are shown, and its notes."""
    for table in page.tables:
        yield Tabled(table._replace(rows=table.rows[:ROWS]), table.corner or what)
    yield from Text.of(*page.notes)


def differences(report: Report) -> Iterator[Block]:
    """Yield the tests and bands of the primary metric, and folded the tests of all metrics."""
    if not report.others:
        return
    yield from Text.of(report.tests.sentence(), look="")
    yield from _written(report.tests._page(), f"Tests in {report.primary}")
    if NOT_SHOWN in map(word_of, report.tests):
        said = "Not shown: no difference was found, which does not say that there is none."
        yield from Text.of(said)
    terms, why = report.first.terms, ""
    bands: list[Block] = []
    numbers: list[Block] = []
    over_k = report.metric in terms.metrics and terms.metrics[report.metric].cut != "n"
    for i, system in enumerate(report.others[:TOGETHER] if over_k else (), 1):
        draw = partial(report.comparison.band, report.metric, system, report.base, users="common")
        band, why = or_why(draw)
        if band is None or len(band.difference) == 1:
            continue
        depth, both = len(band.difference), (report.base, system)
        end = max(end_of(report.comparison.results[one], depth) for one in both)
        title = f"{_pair(report, system)} in {report.metric} over k, with a band for all k together"
        low, high = band.low_all[:end], band.high_all[:end]
        line = system, i, band.difference[:end], low, high
        bands.append(drawing.curves(title, depth, [line], zero=True))
        numbers += _written(band._page(), title)
    if bands:
        yield Beside(bands)
        yield Folded("Numbers of the bands", numbers)
    yield from Text.of(f"no band over k: {why}" * bool(why))
    everything, without = report.all_tests
    yield from Text.of(f"other metrics are not tested: {without}" * bool(without))
    if everything is not None and len(everything) > len(report.tests):
        head = f"All {len(everything)} comparisons, corrected together"
        yield Folded(head, [*_written(everything._page(), "Comparisons")])


def _pair(report: Report, system: str) -> str:
    """Return what a difference is called in the title of a chart."""
    return f"{report.called[system]} - {report.called[report.base]}"


def _forest(report: Report, title: str, tests: Sequence[Contrast]) -> drawing.Chart:
    """Return the chart of some tests, of systems or of segments."""
    rows = []
    for one in tests[:ROWS]:
        name = one.system if one.segment is None else f"{one.segment} ({one.n:,})"
        colour, hollow = report.comparison.systems.index(one.system), word_of(one) == NOT_SHOWN
        rows.append((name, one.difference, one.low, one.high, colour, hollow))
    return drawing.dots(f"{title}; hollow: not shown", rows, zero=True)


def segments(report: Report) -> Iterator[Block]:
    """Yield the tests of the primary metric in every segment; nothing without labels."""
    if report.by is None:
        return
    split = report.comparison.by(report.by)
    page = split._page()
    if report.others:
        tests, charts = split.test(report.primary, users="common"), []
        for system in report.others[:TOGETHER]:
            title = f"{_pair(report, system)} in {report.primary} by segment"
            charts.append(_forest(report, title, [one for one in tests if one.system == system]))
        yield Beside(charts)
        page = tests._page()
    yield from _written(page, "Segments")
    if len(split) > ROWS:
        yield from Text.of(f"{ROWS} of {len(split)} segments shown.")


def further(report: Report) -> Iterator[Block]:
    """Yield what is known of the lists of a system: overlap, how many items, how concentrated."""
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
    if not rows:
        return
    headers = [f"overlap with {plain(report.base)}", "items listed", "Gini over these"]
    yield Tabled(Table("system", headers, rows), f"The lists at k = {report.k}", hidden=False)
    if report.whose:
        lacking = "items and Gini are of all lists, so that they are not shown"
        yield from Text.of(f"Looked at: {report.whose}; {lacking}.")


def who(report: Report) -> Iterator[Block]:
    """Yield who was counted, what the data checks found, which files were read, what is absent."""
    yield from Text.of(*report.accounts)
    yield Heading("Data checks", "checks")
    n, found = report.checked
    if not n:
        yield from Text.of("Nothing was checked: saved results hold the ranks of hits alone.")
    elif not found:
        yield from Text.of(f"None of the {n} checks found anything.")
    for system, level, text in found:
        yield Text([(f"{level} ", "strong"), (system, "name"), f": {text}"], "")
    if n:
        looked = f"Looked at: {report.whose}. " if report.whose else ""
        train = "What needs the training data is looked for by toplist check --train."
        yield from Text.of(looked + train)
    if report.files:
        rows = [{"file": file, "n": n, "sha": sha} for file, n, sha in report.files]
        columns = [Column("n", "count", "bytes"), Column("sha", "text", "SHA-256")]
        yield Heading("Files", "files")
        yield Tabled(Table.of("file", "{file}", columns, rows, LOOK), "Files")
    yield Heading("Not on this page", "absent")
    by = "Segments: by={user: label} in Python, --segments FILE:COLUMN on the command line."
    gone = "Overlap, items and Gini of the lists, which are not here."
    asked = {name.rpartition("@")[0] for name in report.comparison.names()}
    lacking = ", ".join(name for name in MORE if name not in asked)
    more = (
        f"{lacking}: as metrics they stand among the means; item_coverage and gini need the "
        "catalogue, average_popularity and novelty the item counts."
    )
    yield from Text.of(by * (report.by is None), gone * (not report.lists), more * bool(lacking))
    yield from Text.of("In print: tables that are folded here.")


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


def users(report: Report) -> Iterator[Any]:
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
