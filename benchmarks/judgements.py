"""Groups, incomplete judgements, ERR, levels of recall: peers, an oracle and toplist side by side.

    python benchmarks/judgements.py --envs envs          # every peer; environments are kept
    python benchmarks/judgements.py --smoke              # 20 inputs, what needs no environment
    python benchmarks/judgements.py --envs envs --write  # and write README.md here

An input is one user's list, grades and groups, at four k's, or the whole list where a measure has
no k. The oracle is `tests/oracle_judgements.py`, plain Python written from the formulas. Every
value of a peer must be the oracle's, and toplist's, to 1e-9, and to 5 decimals where a peer rounds
to them. What toplist does not have yet is said, and the oracle alone is compared.

A difference that is stated is counted apart: there the peer must give the value of its own formula,
which stands beside the reason (`judgements_questions.py`). Any other ends the run with exit code 1.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conformance import README, write
from environments import interpreter
from judgements_answers import OF_LISTS, Population, Values, answers
from judgements_questions import PEERS, Question, document, number

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from judgement_sides import by_oracle, by_toplist, lacking

HERE = Path(__file__).resolve().parent
MARKS = "<!-- judgements -->", "<!-- /judgements -->"
SEED = 20_261
KS = [1, 3, 10, 20]  # pyndeval goes no further
WHOLE = 60  # beyond every list


def item(number: int) -> str:
    """Return the id of an integer: a chunk of a document, three chunks each.

    >>> item(10)
    's3_1'
    """
    return f"s{number // 3}_{number % 3}"


def population(n_users: int, seed: int = SEED) -> Population:
    """Draw users: lists of up to 30 ids, some empty; up to 12 grades, now and then 40; groups."""
    source = random.Random(seed)
    lists, grades, groups = {}, {}, {}
    for user in map(str, range(1, n_users + 1)):
        items = [item(number) for number in range(source.randint(3, 60))]
        lists[user] = source.sample(items, source.randint(0, min(30, len(items))))
        n_judged = source.randint(1, min(40 if source.random() < 0.3 else 12, len(items)))
        scale = source.choice([(0, 1), (0, 1, 2, 3, 4), (1, 1, 1, 0), (0, 0, 0, 2)])
        grades[user] = {one: source.choice(scale) for one in source.sample(items, n_judged)}
        near = source.sample(items, min(len(items), source.randint(2, 10)))
        groups[user] = [
            source.sample(near, source.randint(1, min(4, len(near))))
            for _ in range(source.randint(1, 5))
        ]
    return Population(KS, lists, grades, groups)


# The sides


def ask(name: str, folder: Path, drawn: Population) -> tuple[str, list[list[Values]]]:
    """Return a peer's version and its answers, from its environment if it has one."""
    peer = PEERS[name]
    asked = [[question.theirs, question.of] for question in peer.questions]
    if not peer.installs:
        return "", answers(name, drawn, asked)
    command = [interpreter(folder / name, *peer.installs), str(HERE / "judgements_answers.py")]
    sent = json.dumps([drawn, asked])
    done = subprocess.run(
        [*command, name, peer.package], input=sent, capture_output=True, text=True
    )
    if done.returncode:  # else its warnings are of no interest
        raise SystemExit(f"{done.stderr}{name} gave no answers")
    report = json.loads(done.stdout.splitlines()[-1])
    return report["version"], report["answers"]


class Asked(NamedTuple):
    """A question with what both sides here are given for it."""

    question: Question
    lists: dict[str, list[Any]]
    truths: dict[str, Any]
    options: dict[str, Any]
    ks: list[int | None]

    def values(self, side: Any) -> dict[int | None, dict[str, float]]:
        """Return the values of `by_oracle` or `by_toplist` at every k."""
        return side(self.question.ours, self.lists, self.truths, self.ks, **self.options)

    @property
    def lacks(self) -> str:
        """What toplist does not have of it."""
        return lacking(self.question.ours, self.options, self.question.of == "groups")

    def is_stated(self, value: float, user: str, k: int | None) -> bool:
        """Tell whether a difference is stated, and the value that of the peer's own formula."""
        if not self.question.stated:
            return False
        depth = WHOLE if k is None else k
        instead = self.question.stated.instead(self.lists[user], self.truths[user], depth)
        both_nan = math.isnan(value) and math.isnan(instead)
        return both_nan or abs(value - instead) <= self.question.tolerance


def put(question: Question, drawn: Population, cut: bool) -> Asked:
    """Return what is given here: ids as the question says, groups as sets, documents of chunks."""
    turn = number if question.integers else str
    lists = {user: [turn(one) for one in row] for user, row in drawn.lists.items()}
    truths = drawn.truths(question.of)
    if question.of == "groups":
        truths = {u: [{turn(one) for one in g} for g in groups] for u, groups in truths.items()}
    options = dict(question.options)
    if options.get("items_as") is document:
        options["items_as"] = {item(n): document(item(n)) for n in range(WHOLE)}
    whole: list[int | None] = [None] if question.ours.startswith("bpref") else [WHOLE]
    return Asked(question, lists, truths, options, [*drawn.ks] if cut else whole)


# The comparison


class Row(NamedTuple):
    """One question's figures against one side."""

    question: Question
    n_values: int
    largest: float  # of the values that agree
    n_stated: int
    differences: list[str]


def compare(asked: Asked, theirs: list[Values], side: Any) -> Row:
    """Compare a peer's answers to one question with one side."""
    question = asked.question
    ours = asked.values(side)
    n_values, n_stated, largest, wrong = 0, 0, 0.0, []
    for k, values in zip(asked.ks, theirs, strict=True):
        for user, value in (values or {}).items():
            n_values += 1
            size = abs(value - ours[k][user])
            if size <= question.tolerance:
                largest = max(largest, size)
            elif asked.is_stated(value, user, k):
                n_stated += 1
            else:
                wrong.append(
                    f"{question.ours} at {k}: peer's {question.theirs} {value!r}, here "
                    f"{ours[k][user]!r}\n      list   {asked.lists[user][:k]}\n"
                    f"      truth  {asked.truths[user]}"
                )
    return Row(question, n_values, largest, n_stated, wrong)


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


def report(name: str, folder: Path, drawn: Population) -> Report:
    """Compare a peer with the oracle, and with toplist where it has the measure."""
    version, answered = ask(name, folder, drawn)
    rows: list[tuple[Row, Row | str]] = []
    for question, theirs in zip(PEERS[name].questions, answered, strict=True):
        asked = put(question, drawn, "{k}" in question.theirs or name in OF_LISTS)
        beside = asked.lacks or compare(asked, theirs, by_toplist)
        rows.append((compare(asked, theirs, by_oracle), beside))
    return Report(name, version, rows)


# What is printed


def details(found: Report) -> Iterator[str]:
    """Yield a line per question, reasons, and the smallest example of what differs."""
    n_wrong = len(found.differences)
    yield f"{PEERS[found.name].package} {found.version}".strip() + f": {n_wrong} differences"
    for row, beside in found.rows:
        q = row.question
        given = "".join(f", {key}={getattr(v, '__name__', v)}" for key, v in q.options.items())
        given += ", ids as integers" if q.integers else ""
        yield f"  {q.theirs} = {q.ours}{given}: {figures(row)}"
        yield f"    toplist: {beside if isinstance(beside, str) else figures(beside)}"
        if q.stated and row.n_stated:
            yield f"    stated: {q.stated.reason}"
        for wrong in (row.differences, [] if isinstance(beside, str) else beside.differences):
            if wrong:
                yield f"    {min(wrong, key=len)}"


def figures(row: Row) -> str:
    """Say what was compared."""
    if not row.n_values:
        return "not asked, this machine has no perl"
    stated = f", {row.n_stated:,} as stated" if row.n_stated else ""
    wrong = f"{len(row.differences):,} differ"
    return f"{row.n_values:,} values, {wrong}{stated}, else within {row.largest:.1e}"


def table(reports: Iterable[Report]) -> str:
    """Return the figures as a Markdown table, a line per peer and measure, reasons below."""
    lines = [
        "| peer | measure here | asked as | values | differences | as stated | largest | toplist |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    notes: dict[str, None] = {}
    for found in reports:
        peer = PEERS[found.name]
        grouped: dict[str, list[tuple[Row, Row | str]]] = {}
        for pair in found.rows:
            grouped.setdefault(pair[0].question.ours.partition("(")[0], []).append(pair)
        for name, pairs in grouped.items():
            rows = [row for row, _ in pairs]
            asked = " ".join(f"`{row.question.theirs}`" for row in rows[:3])
            more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
            cells = [
                f"{peer.package} {found.version}".strip(),
                name,
                asked + more,
                f"{sum(row.n_values for row in rows):,}",
                f"{sum(len(row.differences) for row in rows):,}",
                f"{sum(row.n_stated for row in rows):,}",
                f"{max(row.largest for row in rows):.1e}",
                beside_cell([beside for _, beside in pairs]),
            ]
            lines.append(f"| {' | '.join(cells)} |")
        for row, _ in found.rows:
            stated = row.question.stated
            if stated and row.n_stated:
                measure = row.question.ours.partition("(")[0]
                notes[f"- {found.name}, {measure}: {stated.reason}."] = None
        notes |= {f"- {found.name}, not asked: {peer.silent}.": None} if peer.silent else {}
    return "\n".join([*lines, "", *notes])


def beside_cell(sides: list[Row | str]) -> str:
    """Say how many values of toplist differ, or how many questions it cannot be asked yet."""
    rows = [side for side in sides if isinstance(side, Row)]
    wrong = f"{sum(len(row.differences) for row in rows):,}" if rows else ""
    absent = f"{len(sides) - len(rows)} not yet" if len(rows) < len(sides) else ""
    return ", ".join(filter(None, (wrong, absent)))


def main() -> int:
    """Compare the peers asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--envs", type=Path, help="folder to keep the environments in")
    parser.add_argument("--inputs", type=int, default=2_000, help="users, at four k's each")
    parser.add_argument("--smoke", action="store_true", help="20 inputs, no environment")
    parser.add_argument("--write", action="store_true", help=f"put the table into {README.name}")
    options = parser.parse_args()
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(PEERS)}")
    chosen = options.peers or [*PEERS]
    if options.smoke:
        chosen = [name for name in chosen if not PEERS[name].installs]
    drawn = population(20 if options.smoke else options.inputs)

    reports = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.envs or Path(temporary)).resolve()
        for name in chosen:
            reports.append(report(name, folder, drawn))
            print("\n".join(details(reports[-1])), flush=True)
    text = table(reports)
    print(text)
    if options.write:
        write(text, MARKS)
    return int(any(found.differences for found in reports))


if __name__ == "__main__":
    sys.exit(main())
