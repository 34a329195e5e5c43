"""Asks peers, the oracle and toplist the same questions, and prints what differs as a table.

An area is a module of peers and their questions. The environments of peers import this file and the
areas: nothing here needs more than the standard library, and an area imports a peer, or toplist,
where it asks it. The oracles of the tests are plain Python.
"""

import argparse
import importlib
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
AREAS = "conventions", "judgements", "lists"
# Areas use the oracles of the tests, and all programs here the environments.
sys.path[1:1] = [str(HERE.parent), str(HERE.parents[1] / "tests")]

EXACT = 1e-9
SINGLE = 1e-5  # sums in 32 bits
ROUNDED = 5e-6 + EXACT  # to 5 decimals

# Of one population at one k, by subject: a user, "" for the mean, or some users' lists together.
Values = dict[str, float] | None


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
        What the peer gives instead: of a population, a subject and a k. A number, None where it
        must agree, or `...` where anything may be.
    of : str
        The kind of truths that all are given.
    uncut : bool
        Whether it has no k.
    group : str
        Its line of the table.
    tolerance : float
    """

    theirs: str
    ours: str
    given: Any = MappingProxyType({})
    why: str = ""
    instead: Callable[..., Any] | None = None
    of: str = ""
    uncut: bool = False
    group: str = ""
    tolerance: float = EXACT


class Peer(NamedTuple):
    """A peer.

    Parameters
    ----------
    package : str
        Whose version is told, or where the source is that was read.
    installs : tuple of tuple of str
        Arguments of ``pip install``, once per call. None: it answers here, as it is installed, or
        its steps are followed.
    questions : list of Question
    asked : callable
        Of a population, in the peer's environment: what answers a question at a k.
    takes : str
        What populations may hold.
    share : float
        Of the populations: less for a slow peer, more for one that answers at few k's.
    silent : str
        What it is not asked, and why.
    """

    package: str
    installs: tuple[tuple[str, ...], ...]
    questions: list[Question]
    asked: Callable[[Any], Callable[[Question, Any], Values]]
    takes: str = ""
    share: float = 1.0
    silent: str = ""


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


# The sides


def answers(peer: Peer, populations: list[Any]) -> list[Any]:
    """Return a peer's values: by population, question and k."""
    found = []
    for population in populations:
        at, ks = peer.asked(population), population.ks
        cuts = [[None] if one.uncut else ks for one in peer.questions]
        pairs = zip(peer.questions, cuts, strict=True)
        found.append([[at(one, k) for k in some] for one, some in pairs])
    return found


def inside(area: str, name: str, n_inputs: int) -> None:
    """Draw the same populations in the environment of a peer, and print its answers."""
    module = importlib.import_module(area)
    peer = module.PEERS[name]
    found = answers(peer, module.drawn(peer, n_inputs))
    # A peer's numbers may be numpy's, which are no JSON.
    print("\n" + json.dumps([version(peer.package), found], default=float))


def same(a: float, b: float, tolerance: float) -> bool:
    """Tell whether two values are the same, NaN included."""
    return abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b))


def compare(question: Question, pairs: Iterable[tuple[Any, list[Any], dict]]) -> Row:
    """Compare a peer's values at each k with those of a side, for each population."""
    n_values, n_stated, largest, wrong = 0, 0, 0.0, []
    for population, theirs, ours in pairs:
        for k, values in zip(ours, theirs, strict=True):
            for subject, value in (values or {}).items():
                mine = ours[k].get(subject, math.nan)
                if math.isnan(value) and math.isnan(mine):
                    continue
                n_values += 1
                if abs(value - mine) <= question.tolerance:
                    largest = max(largest, abs(value - mine))
                    continue
                instead = question.instead and question.instead(population, subject, k)
                if instead is ... or (
                    instead is not None and same(value, instead, question.tolerance)
                ):
                    n_stated += 1
                    continue
                wrong.append(
                    f"{question.ours} at {k} of {subject or 'all'}: peer's {question.theirs} "
                    f"{value!r}, here {mine!r}; {population.shown(subject, k)}"
                )
    return Row(n_values, n_stated, largest, wrong)


def report(area: str, name: str, folder: Path | None, n_inputs: int) -> Report:
    """Compare a peer with the oracle and with toplist; or, without a folder, these two alone.

    Each of an area's `by_oracle` and `by_toplist` returns, of a population and a question, the
    values at every k by subject.
    """
    from environments import interpreter, said

    module = importlib.import_module(area)
    peer = module.PEERS[name]
    populations, called, answered = module.drawn(peer, n_inputs), peer.package, None
    if folder and peer.installs:
        python = interpreter(folder / name, *peer.installs)
        number, answered = said(python, HERE, "--inside", area, name, n_inputs)
        called += f" {number}"
    elif peer.installs:
        called = f"the oracle in place of {called}"
    else:
        answered = answers(peer, populations)
        called += "" if called.endswith("(read)") else f" {version(called)}"
    rows = []
    for place, question in enumerate(peer.questions):
        oracle, toplist = (
            [side(population, question) for population in populations]
            for side in (module.by_oracle, module.by_toplist)
        )
        theirs = [[*values.values()] for values in oracle]
        if answered:
            theirs = [of_questions[place] for of_questions in answered]
        found = (
            compare(question, zip(populations, theirs, ours, strict=True))
            for ours in (oracle, toplist)
        )
        rows.append(Answered(question, *found))
    return Report(area, peer, called, rows)


# What is printed


def table(reports: Iterable[Report]) -> str:
    """Return the figures as a Markdown table, with the reasons below it."""
    names = "peer", "here", "asked as", "values", "differences", "as stated", "largest", "toplist"
    lines = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    notes: dict[str, None] = {}
    for found in reports:
        groups: dict[str, list[Answered]] = {}
        for row in found.rows:
            groups.setdefault(row.question.group or row.question.ours, []).append(row)
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
    if sys.argv[1:2] == ["--inside"]:
        area, name, n_inputs = sys.argv[2:]
        inside(area, name, int(n_inputs))
        return 0
    peers = {area: importlib.import_module(area).PEERS for area in AREAS}
    known = dict.fromkeys([*AREAS, *(name for some in peers.values() for name in some)])
    parser = argparse.ArgumentParser(description=text.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--envs", type=Path, help="folder to keep the environments in")
    parser.add_argument("--inputs", type=int, default=2_000)
    parser.add_argument("--smoke", action="store_true", help="20 inputs, no environment")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {README.name}")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(known)}")
    n_inputs, n_wrong = 20 if options.smoke else options.inputs, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = None if options.smoke else (options.envs or Path(temporary)).resolve()
        for area, some in peers.items():
            reports = []
            for name in some:
                if not options.names or {area, name} & {*options.names}:
                    reports.append(report(area, name, folder, n_inputs))
                    print(reports[-1], flush=True)
                    n_wrong += len(reports[-1].differences)
            if reports:
                print(f"\n{table(reports)}\n")
            if reports and options.write:
                write(area, table(reports))
    return int(n_wrong > 0)
