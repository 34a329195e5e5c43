"""The means of several systems for LaTeX: bold, marks and letters follow from the tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.properties import is_within_one
from toplist.results import summary, wording
from toplist.results.markup import Cell, Look, Page, Table
from toplist.results.side_by_side import SideBySide
from toplist.results.tests import Tests

# What stands at a (system, name): a mark against the baseline.
Marks = Mapping[tuple[str, str], str]


def page(
    comparison: SideBySide,
    every_metric: bool,
    look: Look,
    tests: Tests | None,
    why: str,
    against: Marks,
) -> Page:
    """Return the table of means, with what the tests say of them, or why there are none.

    `against` are the marks of what was tested against baselines.
    """
    marks = against if comparison.baselines else _letters_of(comparison, tests)
    names = [name for _, some in comparison._columns(every_metric) for name in some.values()]
    bold = {} if tests is None else {name: best(comparison, tests, name) for name in names}
    letters = tests is not None and not comparison.baselines
    shown = [
        _table(comparison, corner, columns, look, bold, marks, letters)
        for corner, columns in comparison._columns(every_metric)
    ]
    said = [why] if tests is None else [wording.sentence(tests)]
    notes = *said, *comparison._accounts(), *comparison.differences
    legend = "; ".join(_legend(comparison, tests, any(marks.values()), look))
    return Page(tuple(shown), notes, legend=legend, best=_bold(comparison, tests))


def best(comparison: SideBySide, tests: Tests, name: str) -> list[str]:
    """Return the best systems of a name, if what they were compared with differs from them.

    Without a baseline those that do not differ from the best share it; none is the best if nothing
    differs from it. With baselines, it must differ from each of them.
    """
    top = comparison._best(name)
    if not top:
        return []
    beaten, compared, tested = set(), set(), comparison._tested_as(name)
    for one in tests:
        if one.name == tested and top[0] in (one.system, one.baseline):
            other = one.baseline if one.system == top[0] else one.system
            compared.add(other)
            if one.mark:
                beaten.add(other)
    if not comparison.baselines:
        return [*top, *sorted(compared - beaten - set(top))] if beaten else []
    others = set(comparison.baselines if top[0] not in comparison.baselines else comparison.systems)
    return top if others - set(top) and others - set(top) <= beaten else []


def _letters_of(comparison: SideBySide, tests: Tests | None) -> dict[tuple[str, str], str]:
    """Return the letters of the systems that each (system, name) exceeds."""
    letters = dict(zip(comparison.systems, _letters(), strict=False))
    beaten: dict[tuple[str, str], list[str]] = {}
    for one in tests or ():
        if one.mark:
            pair = (one.system, one.baseline) if one.better else (one.baseline, one.system)
            beaten.setdefault((pair[0], one.name), []).append(letters[pair[1]])
    return {
        place: "".join(sorted(some, key=lambda s: (len(s), s))) for place, some in beaten.items()
    }


def _letters() -> Iterator[str]:
    """Yield a, b, ..., z, aa, ab, ..."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    yield from alphabet
    for first in alphabet:
        yield from (first + second for second in alphabet)


def _table(
    comparison: SideBySide,
    corner: str,
    columns: Mapping[str, str],
    look: Look,
    bold: Mapping[str, list[str]],
    marks: Marks,
    letters: bool,
) -> Table:
    rows = []
    for system, letter in zip(comparison.systems, _letters(), strict=False):
        cells = []
        for name in columns.values():
            of = comparison._tested_as(name) if letters else name
            mark = marks.get((system, of), "")
            cell = _cell(comparison, system, name, look)._replace(
                best=system in bold.get(name, []), above=mark if letters else ""
            )
            cells.append(cell if letters else cell._replace(mean=cell.mean + mark))
        label = f"({letter}) {system}" if letters else system
        rows.append((label, tuple(cells)))
    return Table(corner, tuple(columns), tuple(rows))


def _cell(comparison: SideBySide, system: str, name: str, look: Look) -> Cell:
    """Return a mean as it looks; intervals are of one result, not of several runs."""
    if not comparison._has(system, name):
        return Cell("-")
    if look.percent and not _within_one(comparison, name.rpartition("@")[0]):
        look = Look.of(None, False, look.intervals)
    if look.intervals and not comparison.runs:
        return summary.cell(comparison.results[system], name, look)
    return Cell(look.number(comparison._mean(system, name)))


def _bold(comparison: SideBySide, tests: Tests | None) -> str:
    """Return what bold says."""
    if tests is None:
        return ""
    if comparison.baselines:
        return f"best of its column, and different from {wording.each_of(comparison.baselines)}"
    return "best of its column, with those that do not differ from it"


def _legend(comparison: SideBySide, tests: Tests | None, marked: bool, look: Look) -> Iterator[str]:
    """Yield what the marks say, and how numbers are written."""
    if tests is not None and (comparison.baselines or not marked):
        yield wording.legend(tests)
    elif tests is not None:
        yield f"letters name the systems that a system exceeds: {wording.tested(tests)}"
    if look.percent:
        other = [name for name in _metrics(comparison) if not _within_one(comparison, name)]
        yield "means in percent" + (f", except {', '.join(other)}" if other else "")
    if comparison.runs:
        yield comparison._of_runs() + (", without intervals" if look.intervals else "")
    elif look.intervals:
        yield "with 95 % intervals"


def _metrics(comparison: SideBySide) -> list[str]:
    return list(dict.fromkeys(name.rpartition("@")[0] for name in comparison.names()))


def _within_one(comparison: SideBySide, name: str) -> bool:
    """Return whether a metric is from 0 to 1 by definition, so that it can be in percent."""
    results = [one for one in comparison.results.values() if name in one.terms.asked]
    metric = results[0].terms.asked[name]
    if isinstance(metric, ListMetric):
        return metric.within_one
    return is_within_one(metric, results[0].population)
