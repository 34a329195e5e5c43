"""Asks peers, the oracle and toplist the same questions, and prints what differs as a table.

An area is a module and a table beside it, such as `conventions.toml`, of peers and their questions.
The module has the populations that are asked about (`drawn`), and a function for each peer, by its
name: of a population, the peer's words and a k it returns what the peer answers. The environments
of peers import this file and the areas: nothing here needs more than the standard library, and an
area imports a peer, or toplist, where it asks it. The oracles of the tests are plain Python.
"""

import importlib
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
AREAS = "conventions", "judgements", "lists"
# Areas use the oracles of the tests, and all programs here the environments.
sys.path[1:1] = [str(HERE.parent), str(HERE.parents[1] / "tests")]

from environments import called, interpreter, options_of, table_of  # noqa: E402

EXACT = 1e-9

# Of one population at one k, by subject: a user, "" for the mean, or some users' lists together.
Values = dict[str, float]


class Population:
    """What questions are about: lists and truths by user, and more that an area adds.

    `ks` are the cut-offs. `shown(subject, k)` says what a value was computed from, and
    `here(side, question)` returns the values of "by_oracle" or "by_toplist" by cut-off.
    """

    ks: list[int]

    def of(self, kind: str) -> "Population":
        """Return what a question is about; `kind` is its `of`."""
        return self

    def cuts(self, theirs: str) -> list[Any]:
        """Return the cut-offs at which a peer's words are asked."""
        return self.ks

    def by_subject(self, found: Any) -> Values | None:
        """Return what a peer answers as values by subject."""
        return found


class Question(NamedTuple):
    """One measure in the words of both.

    Parameters
    ----------
    theirs, ours : str
    given : mapping
        What both sides here are given beside lists and truths.
    why : str
        Why the two differ, where they do.
    instead : callable, optional
        What the peer gives instead: of a population, this question, a subject and a k. A number,
        None where it must agree, or `...` where anything may be.
    of : str
        What of a population it is about.
    group : str
        Its line of the table.
    tolerance : float
    """

    theirs: str
    ours: str
    given: Mapping[str, Any] = MappingProxyType({})
    why: str = ""
    instead: Callable[..., Any] | None = None
    of: str = ""
    group: str = ""
    tolerance: float = EXACT


class Peer(NamedTuple):
    """A peer.

    Parameters
    ----------
    package : str
        Whose version is told, or where the source is that was read.
    answer : callable
        Of a population, a question's words and a k, in the peer's environment.
    questions : list of Question
    installs : tuple of tuple of str
        Arguments of ``pip install``, once per call. None: it answers here, as it is installed, or
        its steps are followed.
    takes : str
        What populations may hold.
    share : float
        Of the populations: less for a slow peer, more for one that answers at few k's.
    silent : str
        What it is not asked, and why.
    """

    package: str
    answer: Callable[[Any, str, Any], Any]
    questions: list[Question]
    installs: tuple[tuple[str, ...], ...] = ()
    takes: str = ""
    share: float = 1.0
    silent: str = ""


# The tables


def peers_of(area: str) -> dict[str, Peer]:
    """Read the table of an area.

    A peer's function has its name, and is in the area or in another `module`. `asked` are its words
    and ours; what else is no field of a peer is a field of each question. There may be `blocks` of
    these.
    """
    table, peers = table_of(HERE / f"{area}.py"), {}
    group = table.pop("group")
    for name, row in table.items():
        found = {field: row.pop(field) for field in Peer._fields if field in row}
        answer = getattr(importlib.import_module(row.pop("module", area)), name)
        blocks = [row | block for block in row.pop("blocks", [{}])]
        questions = [one for block in blocks for one in questions_of(area, block, group)]
        peers[name] = Peer(answer=answer, questions=questions, **found)
    return peers


def questions_of(area: str, block: dict[str, Any], group: str) -> Iterator[Question]:
    """Yield the questions of a block; `group` is their line in the table, of the words of ours.

    A question is ours alone, or its fields. Its `instead` is the name of a function of the area, or
    what the oracle is given to say the same.
    """
    rows = {
        theirs: {"ours": one} if isinstance(one, str) else one
        for theirs, one in block.pop("asked").items()
    }
    given, every = block.pop("given", {}), " ".join(row["ours"] for row in rows.values())
    for theirs, row in rows.items():
        metric = row["ours"].partition("(")[0]
        line = group.format(ours=row["ours"], metric=metric, every=every, **given)
        fields = {"theirs": theirs, "group": line, **block, **row}
        fields["given"] = given | row.get("given", {})
        instead = row.get("instead")
        if isinstance(instead, str):
            fields["instead"] = getattr(importlib.import_module(area), instead)
        elif instead:
            fields["instead"] = given_otherwise(instead)
        yield Question(**fields)


def given_otherwise(options: dict[str, Any]) -> Callable[..., float | None]:
    """Return that the value is what the oracle says under other options."""

    def instead(case: Any, question: Question, subject: str, k: Any) -> float | None:
        asked = question._replace(given={**question.given, **options})
        return case.here("by_oracle", asked)[k].get(subject)

    return instead


# What is found


class Row(NamedTuple):
    """What was found of one question by one side: the oracle, or toplist."""

    n_values: int
    n_stated: int
    largest: float  # of the values that agree
    differences: list[str]


class Answered(NamedTuple):
    """A question, what was found beside the oracle, and beside toplist."""

    question: Question
    oracle: Row
    toplist: Row


class Report(NamedTuple):
    """What was found of a peer."""

    area: str
    peer: Peer
    version: str
    rows: list[Answered]

    @property
    def sides(self) -> list[Row]:
        """What was found of all questions by both sides."""
        return [side for row in self.rows for side in (row.oracle, row.toplist)]

    @property
    def differences(self) -> list[str]:
        """Everything that differs and is not stated, from either side."""
        return [text for side in self.sides for text in side.differences]

    def __str__(self) -> str:
        """Say how many differ, with the smallest example of each question and side."""
        head = f"{self.area}: {self.version}: {len(self.differences)} differences"
        smallest = [min(side.differences, key=len) for side in self.sides if side.differences]
        return "\n  ".join([head, *smallest])


# Both sides


def answers(peer: Peer, populations: list[Any]) -> list[list[list[Values | None]]]:
    """Return a peer's values: by question, population and cut-off."""

    def asked(case: Population, theirs: str) -> list[Values | None]:
        return [case.by_subject(peer.answer(case, theirs, k)) for k in case.cuts(theirs)]

    return [[asked(one.of(by.of), by.theirs) for one in populations] for by in peer.questions]


def inside(area: str, name: str, n_inputs: int) -> tuple[str, list[list[list[Values | None]]]]:
    """Draw the same populations in the environment of a peer; return its version and answers."""
    module = importlib.import_module(area)
    peer = module.PEERS[name]
    return version(peer.package), answers(peer, module.drawn(peer, n_inputs))


def same(a: float, b: float, tolerance: float) -> bool:
    """Tell whether two values are the same, NaN included."""
    return abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b))


def compare(question: Question, asked: Iterable[tuple[Any, Any, Any]]) -> Row:
    """Compare a peer's values at each k with those of a side, for each population."""
    n_values, n_stated, largest, wrong = 0, 0, 0.0, []
    for case, theirs, ours in asked:
        for k, values in zip(ours, theirs, strict=True):
            for subject, value in (values or {}).items():
                mine = ours[k].get(subject, math.nan)
                if math.isnan(value) and math.isnan(mine):
                    continue
                n_values += 1
                if abs(value - mine) <= question.tolerance:
                    largest = max(largest, abs(value - mine))
                    continue
                instead = question.instead and question.instead(case, question, subject, k)
                if instead is ... or (
                    instead is not None and same(value, instead, question.tolerance)
                ):
                    n_stated += 1
                    continue
                wrong.append(
                    f"{question.ours} at {k} of {subject or 'all'}: peer's {question.theirs} "
                    f"{value!r}, here {mine!r}; {case.shown(subject, k)}"
                )
    return Row(n_values, n_stated, largest, wrong)


def report(area: str, name: str, folder: Path | None, n_inputs: int) -> Report:
    """Compare a peer with the oracle and with toplist; or, without a folder, these two alone."""
    module = importlib.import_module(area)
    peer = module.PEERS[name]
    populations, told, answered = module.drawn(peer, n_inputs), peer.package, []
    if folder and peer.installs:
        python = interpreter(folder / name, *peer.installs)
        number, answered = called(python, __file__, "inside", area, name, n_inputs)
        told += f" {number}"
    elif peer.installs:
        told = f"the oracle in place of {told}"
    else:
        answered = answers(peer, populations)
        told += "" if told.endswith("(read)") else f" {version(told)}"
    rows = []
    for question, theirs in zip_longest(peer.questions, answered):
        cases = [one.of(question.of) for one in populations]
        oracle, toplist = (
            [case.here(side, question) for case in cases] for side in ("by_oracle", "by_toplist")
        )
        theirs = theirs or [[*values.values()] for values in oracle]
        found = (
            compare(question, zip(cases, theirs, ours, strict=True)) for ours in (oracle, toplist)
        )
        rows.append(Answered(question, *found))
    return Report(area, peer, told, rows)


# What is printed


def table(reports: Iterable[Report]) -> str:
    """Return the figures as a Markdown table, with the reasons below it."""
    names = "peer", "here", "asked as", "values", "differences", "as stated", "largest", "toplist"
    lines = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    notes: dict[str, None] = {}
    for found in reports:
        groups: dict[str, list[Answered]] = {}
        for row in found.rows:
            groups.setdefault(row.question.group, []).append(row)
        for here, rows in groups.items():
            words = [f"`{row.question.theirs}`" for row in rows]
            more = [f"and {len(words) - 10} more"] if len(words) > 10 else []
            figures = [
                f"{sum(row.oracle.n_values for row in rows):,}",
                f"{sum(len(row.oracle.differences) for row in rows):,}",
                f"{sum(row.oracle.n_stated for row in rows):,}",
                f"{max(row.oracle.largest for row in rows):.1e}",
                f"{sum(len(row.toplist.differences) for row in rows):,}",
            ]
            cells = [found.version, here, " ".join(words[:10] + more), *figures]
            lines.append(f"| {' | '.join(cells)} |")
        package = found.peer.package
        for question, row, _ in found.rows:
            if row.n_stated:
                notes[f"- {package}, `{question.theirs}`: {question.why}."] = None
            if question.tolerance != EXACT:
                notes[f"- {package}: values agree to {question.tolerance:.0e}."] = None
        if found.peer.silent:
            notes[f"- {package}, not asked: {found.peer.silent}."] = None
    return "\n".join([*lines, "", *notes])


def write(area: str, text: str) -> None:
    """Put a table between its marks in benchmarks/README.md."""
    marks = f"<!-- {area} -->", f"<!-- /{area} -->"
    page = README.read_text(encoding="utf-8")
    if any(page.count(mark) != 1 for mark in marks):
        raise SystemExit(f"{README} needs each of {' and '.join(marks)} once")
    before, rest = page.split(marks[0])
    after = rest.split(marks[1])[1]
    README.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{after}", encoding="utf-8")


def main(text: str) -> int:
    """Compare the peers asked for, one after the other; `text` says what this is."""
    peers = {area: importlib.import_module(area).PEERS for area in AREAS}
    options = options_of(
        text,
        [*AREAS, *(name for some in peers.values() for name in some)],
        envs={"type": Path, "help": "folder to keep the environments in"},
        inputs={"type": int, "default": 2_000, "help": "lists, or populations at one k"},
        smoke={"action": "store_true", "help": "20 inputs, no environment"},
        write={"action": "store_true", "help": f"put the tables into {README.name}"},
    )
    n_inputs, n_wrong = 20 if options.smoke else options.inputs, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = None if options.smoke else (options.envs or Path(temporary)).resolve()
        for area, some in peers.items():
            reports = []
            for name in some:
                if {area, name} & {*options.names}:
                    reports.append(report(area, name, folder, n_inputs))
                    print(reports[-1], flush=True)
                    n_wrong += len(reports[-1].differences)
            if reports:
                print(f"\n{table(reports)}\n")
            if reports and options.write:
                write(area, table(reports))
    return int(n_wrong > 0)
