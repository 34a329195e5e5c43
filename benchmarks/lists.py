"""Metrics of the lists themselves: peers, an oracle and toplist side by side.

    python benchmarks/lists.py --envs envs          # every peer; environments are kept
    python benchmarks/lists.py --smoke              # 20 inputs, what needs no environment
    python benchmarks/lists.py --envs envs --write  # and write README.md here

An input is one user's list, history and truth, at four k's; of a metric of all lists together five
users' lists, at one k. The oracle is `tests/oracle/lists.py` and `tests/oracle/beyond.py`, plain
Python written from the formulas. Every value of a peer must be the oracle's, and toplist's, to
1e-9, or what 32 bits hold where a peer counts in them. What toplist does not have is said.

A difference that is stated is counted apart: there the peer must give the value of its own formula
(`lists_formulas.py`), which stands beside the reason (`lists_questions.py`). Any other ends the run
with exit code 1.
"""

import math
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from beside import Report, Row, ask, figures, head, line, main
from lists_answers import Population, Values, answers
from lists_formulas import World
from lists_questions import PEERS, Question

MARKS = "<!-- lists -->", "<!-- /lists -->"
SEED = 20_262
KS = [1, 3, 10, 20]
ITEMS, COLD = 150, 20  # as many of the items are in no history
LABELS, FEATURES, PROVIDERS = 8, 5, 3


def population(n_users: int, seed: int = SEED) -> Population:
    """Draw users: lists of up to 30 ids, some empty, of nothing in the history, which may be empty.

    An item has up to four labels; a user's items are popular ones, and a few of the list relevant.
    """
    source = random.Random(seed)
    items = range(ITEMS)
    popularity = [1 / (item + 5) for item in items[:-COLD]]
    lists, truths, histories = {}, {}, {}
    for user in map(str, range(1, n_users + 1)):
        n_seen = 0 if source.random() < 0.05 else source.randint(1, 20)
        histories[user] = [*dict.fromkeys(source.choices(items[:-COLD], popularity, k=n_seen))]
        others = [item for item in items if item not in histories[user]]
        lists[user] = source.sample(others, source.randint(0, 30))
        likely = lists[user] if source.random() < 0.9 else []
        truths[user] = source.sample([*{*likely, *source.sample(others, 10)}], 8)
    labels = [sorted(source.sample(range(LABELS), source.randint(0, 4))) for _ in items]
    features = [[source.gauss(0, 1) for _ in range(FEATURES)] for _ in items]
    providers = [source.randrange(PROVIDERS) for _ in items]
    distances = [[0.0] * ITEMS for _ in items]
    for i in items:
        for j in items[:i]:
            distances[i][j] = distances[j][i] = source.random()
    return Population(KS, lists, truths, histories, labels, features, providers, distances)


# The comparison


def by_oracle(question: Question, world: World) -> Iterator[Values]:
    """Yield the oracle's values at each k."""
    for k, subjects in world.subjects(question.whole):
        yield {name: question.oracle(world, one, k) for name, one in subjects.items()}


def by_toplist(question: Question, world: World) -> Iterator[Values]:
    """Yield toplist's values at each k: of users from one call, of windows from one each."""
    assert callable(question.toplist)
    if question.whole:
        for k, windows in world.subjects(whole=True):
            found = {name: question.toplist(world, some, k) for name, some in windows.items()}
            yield {name: float(values[-1]) for name, values in found.items()}
        return
    curves = question.toplist(world, world.given.lists, max(world.given.ks))
    users = list(world.given.truths if len(curves) == len(world.given.truths) else world.lists)
    for k in world.given.ks:
        yield dict(zip(users, curves[:, k - 1].tolist(), strict=True))


def same(a: float, b: float, tolerance: float) -> bool:
    """Tell whether two values are the same, NaN included."""
    return abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b))


def compare(question: Question, theirs: list[Values], world: World, side: Iterable[Values]) -> Row:
    """Compare a peer's answers to one question with one side."""
    n_values, n_stated, largest, wrong = 0, 0, 0.0, []
    subjects = world.subjects(question.whole)
    for (k, subject), values, ours in zip(subjects, theirs, side, strict=True):
        for name, value in values.items():
            n_values += 1
            if same(value, ours[name], question.tolerance):
                largest = max(largest, 0.0 if math.isnan(value) else abs(value - ours[name]))
                continue
            stated = question.stated
            if stated and same(value, stated.instead(world, subject[name], k), question.tolerance):
                n_stated += 1
                continue
            wrong.append(
                f"{question.ours} at {k} of {name}: peer's {question.theirs} {value!r}, here "
                f"{ours[name]!r}"
            )
    return Row(question, n_values, largest, n_stated, wrong)


def report(name: str, folder: Path, drawn: Population) -> Report:
    """Compare a peer with the oracle, and with toplist where it has the metric."""
    world = World(drawn)
    peer = PEERS[name]
    asked = [question.theirs for question in peer.questions]
    version, answered = ask(name, peer, folder, "lists_answers.py", answers, drawn, asked)
    rows: list[tuple[Row, Row | str]] = []
    for question, theirs in zip(peer.questions, answered, strict=True):
        beside: Row | str = "it has none" if question.toplist is None else ""
        if question.toplist:
            beside = compare(question, theirs, world, by_toplist(question, world))
        rows.append((compare(question, theirs, world, by_oracle(question, world)), beside))
    return Report(name, version, rows)


# What is printed


def details(found: Report) -> Iterator[str]:
    """Yield a line per question, reasons, and an example of what differs."""
    yield f"{PEERS[found.name].package} {found.version}: {len(found.differences)} differences"
    for row, beside in found.rows:
        yield f"  {row.question.theirs} = {row.question.ours}: {figures(row)}"
        yield f"    toplist: {beside if isinstance(beside, str) else figures(beside)}"
        if row.question.stated and row.n_stated:
            yield f"    stated: {row.question.stated.reason}"
        for wrong in (row.differences, [] if isinstance(beside, str) else beside.differences):
            yield from (f"    {text}" for text in wrong[:1])


def table(reports: Iterable[Report]) -> str:
    """Return the figures as a Markdown table, a line per question, reasons below."""
    lines = head("metric")
    notes: dict[str, None] = {}
    for found in reports:
        peer = PEERS[found.name]
        for row, beside in found.rows:
            asked = f"`{row.question.theirs}`"
            cell = "none" if isinstance(beside, str) else f"{len(beside.differences):,}"
            lines.append(line(peer, found, row.question.ours, asked, [row], cell))
            if row.question.stated and row.n_stated:
                reason = f"{found.name}, `{row.question.theirs}`: {row.question.stated.reason}"
                notes[f"- {reason}."] = None
        notes |= {f"- {found.name}, not asked: {peer.silent}.": None} if peer.silent else {}
    return "\n".join([*lines, "", *notes])


if __name__ == "__main__":
    sys.exit(main(__doc__, PEERS, MARKS, population, report, details, table))
