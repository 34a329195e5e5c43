"""Groups, incomplete judgements, ERR, levels of recall: peers, an oracle and toplist side by side.

    python benchmarks/judgements.py --envs envs          # every peer; environments are kept
    python benchmarks/judgements.py --smoke              # 20 inputs, what needs no environment
    python benchmarks/judgements.py --envs envs --write  # and write README.md here

An input is one user's list, grades and groups, at four k's, or the whole list where a measure has
no k. The oracle is `tests/oracle/judgements.py`, plain Python written from the formulas. Every
value of a peer must be the oracle's, and toplist's, to 1e-9, and to 5 decimals where a peer rounds
to them. What toplist does not have yet is said, and the oracle alone is compared.

A difference that is stated is counted apart: there the peer must give the value of its own formula,
which stands beside the reason (`judgements_questions.py`). Any other ends the run with exit code 1.
"""

import math
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from beside import Report, Row, ask, figures, head, line, main
from judgements_answers import OF_LISTS, Population, Values, answers
from judgements_questions import PEERS, Question, document, number

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from judgement_sides import by_oracle, by_toplist

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


def report(name: str, folder: Path, drawn: Population) -> Report:
    """Compare a peer with the oracle, and with toplist where it has the measure."""
    peer = PEERS[name]
    theirs = [[question.theirs, question.of] for question in peer.questions]
    version, answered = ask(name, peer, folder, "judgements_answers.py", answers, drawn, theirs)
    rows: list[tuple[Row, Row]] = []
    for question, values in zip(peer.questions, answered, strict=True):
        asked = put(question, drawn, "{k}" in question.theirs or name in OF_LISTS)
        rows.append((compare(asked, values, by_oracle), compare(asked, values, by_toplist)))
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
        yield f"    toplist: {figures(beside)}"
        if q.stated and row.n_stated:
            yield f"    stated: {q.stated.reason}"
        for wrong in (row.differences, beside.differences):
            if wrong:
                yield f"    {min(wrong, key=len)}"


def table(reports: Iterable[Report]) -> str:
    """Return the figures as a Markdown table, a line per peer and measure, reasons below."""
    lines = head("measure")
    notes: dict[str, None] = {}
    for found in reports:
        peer = PEERS[found.name]
        grouped: dict[str, list[tuple[Row, Row]]] = {}
        for pair in found.rows:
            grouped.setdefault(pair[0].question.ours.partition("(")[0], []).append(pair)
        for name, pairs in grouped.items():
            rows = [row for row, _ in pairs]
            n_wrong = sum(len(beside.differences) for _, beside in pairs)
            asked = " ".join(f"`{row.question.theirs}`" for row in rows[:3])
            more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
            lines.append(line(peer, found, name, asked + more, rows, f"{n_wrong:,}"))
        for row, _ in found.rows:
            stated = row.question.stated
            if stated and row.n_stated:
                measure = row.question.ours.partition("(")[0]
                notes[f"- {found.name}, {measure}: {stated.reason}."] = None
        notes |= {f"- {found.name}, not asked: {peer.silent}.": None} if peer.silent else {}
    return "\n".join([*lines, "", *notes])


if __name__ == "__main__":
    sys.exit(main(__doc__, PEERS, MARKS, population, report, details, table))
