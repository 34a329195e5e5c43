"""Peers beside an oracle and toplist: what is common to judgements.py and lists.py."""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from conformance import README, write
from environments import interpreter


def ask(
    name: str, peer: Any, folder: Path, script: str, answers: Callable[..., Any], *given: Any
) -> tuple[str, Any]:
    """Return a peer's version and its answers, from a script in its environment if it has one."""
    if not peer.installs:
        return "", answers(name, *given)
    path = str(Path(__file__).resolve().parent / script)
    command = [interpreter(folder / name, *peer.installs), path, name, peer.package]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    if done.returncode:  # else its warnings are of no interest
        raise SystemExit(f"{done.stderr}{name} gave no answers")
    report = json.loads(done.stdout.splitlines()[-1])
    return report["version"], report["answers"]


class Row(NamedTuple):
    """One question's figures against one side."""

    question: Any
    n_values: int
    largest: float  # of the values that agree
    n_stated: int
    differences: list[str]


class Report(NamedTuple):
    """The comparison with one peer: rows of the oracle, and of toplist or what it lacks."""

    name: str
    version: str
    rows: list[tuple[Row, Row | str]]

    @property
    def differences(self) -> list[str]:
        """Everything that differs and is not stated."""
        each = [row for pair in self.rows for row in pair if isinstance(row, Row)]
        return [text for row in each for text in row.differences]


def figures(row: Row) -> str:
    """Say what was compared."""
    if not row.n_values:
        return "not asked, this machine has no perl"
    stated = f", {row.n_stated:,} as stated" if row.n_stated else ""
    wrong = f"{len(row.differences):,} differ"
    return f"{row.n_values:,} values, {wrong}{stated}, else within {row.largest:.1e}"


def head(what: str) -> list[str]:
    """Return the head of a Markdown table."""
    cells = ["peer", f"{what} here", "asked as", "values", "differences", "as stated"]
    cells += ["largest", "toplist"]
    return [f"| {' | '.join(cells)} |", f"| {' | '.join(['---'] * len(cells))} |"]


def line(peer: Any, found: Report, ours: str, asked: str, rows: list[Row], cell: str) -> str:
    """Return a line of the table, of rows of the oracle and what is said of toplist."""
    cells = [
        f"{peer.package} {found.version}".strip(),
        ours,
        asked,
        f"{sum(row.n_values for row in rows):,}",
        f"{sum(len(row.differences) for row in rows):,}",
        f"{sum(row.n_stated for row in rows):,}",
        f"{max(row.largest for row in rows):.1e}",
        cell,
    ]
    return f"| {' | '.join(cells)} |"


def main(
    text: str,
    peers: dict[str, Any],
    marks: tuple[str, str],
    population: Callable[[int], Any],
    report: Callable[..., Report],
    details: Callable[[Report], Iterable[str]],
    table: Callable[[Iterable[Report]], str],
) -> int:
    """Compare the peers asked for, one after the other; `text` says what with."""
    parser = argparse.ArgumentParser(description=text.partition("\n")[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(peers))
    parser.add_argument("--envs", type=Path, help="folder to keep the environments in")
    parser.add_argument("--inputs", type=int, default=2_000, help="users, at four k's each")
    parser.add_argument("--smoke", action="store_true", help="20 inputs, no environment")
    parser.add_argument("--write", action="store_true", help=f"put the table into {README.name}")
    options = parser.parse_args()
    if unknown := set(options.peers) - set(peers):
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(peers)}")
    chosen = options.peers or [*peers]
    if options.smoke:
        chosen = [name for name in chosen if not peers[name].installs]
    drawn = population(20 if options.smoke else options.inputs)

    reports = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.envs or Path(temporary)).resolve()
        for name in chosen:
            reports.append(report(name, folder, drawn))
            print("\n".join(details(reports[-1])), flush=True)
    written = table(reports)
    print(written)
    if options.write:
        write(written, marks)
    return int(any(found.differences for found in reports))
