"""Does each convention give its peer's numbers? Random populations, every value compared.

    python benchmarks/conformance.py                       # every peer, temporary environments
    python benchmarks/conformance.py ranx --envs envs      # one peer; its environment is kept
    python benchmarks/conformance.py --envs envs --write   # and write README.md here

A peer runs in its own environment, by `answers.py`, with the versions that install today; what does
not install is followed from its source, by `answers_read.py`. Both
sides get the same seeded populations without duplicates: long, short and even lists, k beyond
both, grades, and users without truth, without a list or without either where the peer takes them.
An input is a population at one k. Means, and values per user where the peer gives them, must agree
to 1e-9, and to single precision where a peer counts in that.

A difference that the convention states is counted apart, with its reason. It must vanish under the
options that stand beside the reason, or be of the users that the reason is about. Any other ends
the run with exit code 1.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from answers import PEERS as ANSWERS
from case import Answer, Case
from conformance_peers import PEERS, TOLERANCE, Peer, graded
from environments import interpreter

import toplist as tl

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
MARKS = "<!-- conformance -->", "<!-- /conformance -->"
SEED = 20_201


assert PEERS.keys() == ANSWERS.keys()


# Populations


def populations(peer: Peer, n: int, seed: int = SEED) -> Iterator[Case]:
    """Yield seeded random populations of the kinds that a peer takes."""
    source = random.Random(seed)
    for _ in range(n):
        yield population(source, set(peer.takes.split()))


def population(source: random.Random, takes: set[str]) -> Case:
    """Draw one to eight users; the first has a truth and a list, whatever the others lack."""
    n_items = source.randint(2, 60)
    longest = source.randint(1, min(30, n_items))
    even = source.random() < 0.3
    grades = (0, 1, 2, 3, 4) if "grades" in takes and source.random() < 0.5 else (1,)
    ranks, truths = {}, {}
    for user in (f"u{place}" for place in range(source.randint(1, 8))):
        length = n_items if "whole" in takes else source.randint(longest if even else 1, longest)
        ranks[user] = source.sample(range(n_items), length)
        relevant = source.sample(range(n_items), source.randint(1, min(12, n_items)))
        truths[user] = {item: float(source.choice(grades)) for item in relevant}
        truths[user][relevant[0]] = float(source.choice(grades[-4:]))
        if user != "u0":
            _spoil(user, ranks, truths, takes, source)
    if "extra" in takes and source.random() < 0.2:
        ranks["x"] = source.sample(range(n_items), longest)
    deepest = longest if "shallow" in takes else 40
    ks = source.sample(range(1, deepest + 1), min(4, deepest))
    return Case(sorted(ks), ranks, truths)


def _spoil(
    user: str,
    ranks: dict[str, list[int]],
    truths: dict[str, dict[int, float]],
    takes: set[str],
    source: random.Random,
) -> None:
    """Take a user's truth or list away, now and then; an empty truth is one item judged 0."""
    if "empty" in takes and source.random() < 0.15:
        truths[user] = {next(iter(truths[user])): 0.0}
    if "missing" in takes and source.random() < 0.15:
        del ranks[user]
    elif "blank" in takes and source.random() < 0.15:
        ranks[user] = []


# The two sides


def ask(name: str, folder: Path, cases: list[Case]) -> tuple[str, list[list[Answer]]]:
    """Return a peer's version and its answers to every population."""
    if not PEERS[name].installs:  # its source is read
        return "(read)", [list(ANSWERS[name](case)) for case in cases]
    python = interpreter(folder / name, *PEERS[name].installs)
    # JSON has no integer keys, so a truth goes as pairs.
    sent = [
        {**case._asdict(), "truths": {user: [*row.items()] for user, row in case.truths.items()}}
        for case in cases
    ]
    command = [python, str(HERE / "answers.py"), name, PEERS[name].package]
    done = subprocess.run(command, input=json.dumps(sent), capture_output=True, text=True)
    if done.returncode:  # else its warnings are of no interest
        raise SystemExit(f"{done.stderr}{name} gave no answers")
    report = json.loads(done.stdout.splitlines()[-1])  # a peer may print lines of its own before
    return report["version"], report["answers"]


class Ours:
    """What toplist says of one population, evaluated once for each set of options."""

    def __init__(self, case: Case) -> None:
        """Give grades where there are any, else sets."""
        self.case = case
        self.truths: dict[str, Any] = dict(case.truths)
        if not graded(case, max(case.ks)):
            self.truths = {u: {i for i, g in row.items() if g} for u, row in case.truths.items()}
        self.results: dict[tuple[str, ...], tl.TopKResult] = {}

    def value(self, name: str, k: int, options: Mapping[str, str]) -> tuple[float, dict[str, Any]]:
        """Return a metric's mean and its values per user."""
        own = [name] if "(" in name else []  # with a parameter
        key = (*own, *(f"{option}={value}" for option, value in options.items()))
        if key not in self.results:
            asked = own or list(tl.CONVENTIONS[options["convention"]].metrics)
            self.results[key] = tl.top_k_eval(
                self.case.ranks, self.truths, self.case.ks, metrics=asked, **options
            )
        result = self.results[key]
        values = result.per_user(f"{name}@{k}").tolist()
        return result[f"{name}@{k}"], dict(zip(result.users, values, strict=True))


# The comparison


class Difference(NamedTuple):
    """One value of a peer beside toplist's."""

    case: Case
    metric: str
    k: int
    user: str  # "" for the mean
    theirs: float
    ours: float

    @property
    def size(self) -> float:
        """How far apart; infinite where one is NaN."""
        size = abs(self.theirs - self.ours)
        return math.inf if math.isnan(size) else size

    def __str__(self) -> str:
        """Show the value and what it was computed from, of one user where it is one user's."""
        shown = [self.user] if self.user else self.case.truths
        ranks = {user: self.case.ranks[user][: self.k] for user in shown if user in self.case.ranks}
        truths = {user: self.case.truths[user] for user in shown if user in self.case.truths}
        what = f"{self.metric}@{self.k} of {self.user}" if self.user else f"{self.metric}@{self.k}"
        return (
            f"{what}: peer {self.theirs!r}, toplist {self.ours!r}\n"
            f"      ranks  {ranks}\n      truths {truths}"
        )


class Report(NamedTuple):
    """The comparison with one peer."""

    name: str
    version: str
    metrics: list[str]
    n_inputs: int
    n_values: int
    largest: float  # of the values that agree
    differences: list[Difference]
    stated: dict[str, int]  # metric -> differences from the convention as it stands


def compare(name: str, folder: Path, n_cases: int) -> Report:
    """Compare a peer with its convention on `n_cases` populations at four k's each."""
    peer = PEERS[name]
    cases = list(populations(peer, math.ceil(n_cases * peer.share)))
    version, answers = ask(name, folder, cases)
    pairs: list[Difference] = []
    stated = dict.fromkeys(peer.stated, 0)
    for case, answered in zip(cases, answers, strict=True):
        ours = Ours(case)
        for answer in answered:
            found, n_stated = _judge(peer, case, answer, ours)
            pairs += found
            if n_stated:
                stated[answer[0]] += n_stated
    metrics = list(dict.fromkeys(pair.metric for pair in pairs))
    wrong = [pair for pair in pairs if pair.size > peer.tolerance]
    largest = max((pair.size for pair in pairs if pair.size <= peer.tolerance), default=0.0)
    n_inputs = sum(len({k for _, k, *_ in answered}) for answered in answers)
    return Report(name, version, metrics, n_inputs, len(pairs), largest, wrong, stated)


def _judge(peer: Peer, case: Case, answer: Answer, ours: Ours) -> tuple[list[Difference], int]:
    """Return the pairs of values that have to agree, and how many differ as stated."""
    options = {"convention": peer.convention, **peer.apart.get(answer[0], {})}
    pairs = list(_beside(case, answer, ours, options))
    stated = peer.stated.get(answer[0])
    if stated is None:
        return pairs, 0
    wrong = [pair for pair in pairs if pair.size > peer.tolerance]
    if stated.options is not None:
        return list(_beside(case, answer, ours, {**options, **stated.options})), len(wrong)
    users = stated.users(case, answer[1])
    users = {*users, ""} if users else users  # "" is the mean
    left = [pair for pair in pairs if pair.size <= peer.tolerance or pair.user not in users]
    return left, len(pairs) - len(left)


def _beside(
    case: Case, answer: Answer, ours: Ours, options: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield the mean, and each user's value, of both sides; NaN is for users left out."""
    metric, k, mean, values = answer
    our_mean, our_values = ours.value(metric, k, options)
    pairs = {"": (mean, our_mean)}
    if values is not None:
        users = dict.fromkeys([*values, *our_values])
        pairs |= {u: (values.get(u, math.nan), our_values.get(u, math.nan)) for u in users}
    for user, (theirs, own) in pairs.items():
        if not (math.isnan(theirs) and math.isnan(own)):
            yield Difference(case, metric, k, user, theirs, own)


# What is printed


def details(report: Report) -> Iterator[str]:
    """Yield what the table has no room for: reasons, and the smallest example per metric."""
    peer = PEERS[report.name]
    for metric, count in report.stated.items():
        yield f"  {metric}: {count} values differ as stated: {peer.stated[metric].reason}"
    if peer.silent:
        yield f"  not asked: {peer.silent}"
    for metric in report.metrics:
        wrong = [found for found in report.differences if found.metric == metric]
        if wrong:
            smallest = min(wrong, key=lambda found: (len(found.case.truths), len(str(found))))
            yield f"  {metric}: {len(wrong)} values differ; {smallest}"


def table(reports: list[Report]) -> str:
    """Return the figures as a Markdown table, with the reasons below it."""
    lines = [
        "| peer | convention | metrics | inputs | values | differences | as stated | largest |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    notes = []
    for report in reports:
        peer = PEERS[report.name]
        sizes = [found.size for found in report.differences]
        cells = [
            f"{peer.package} {report.version}",
            peer.convention,
            " ".join(report.metrics),
            f"{report.n_inputs:,}",
            f"{report.n_values:,}",
            f"{len(sizes):,}",
            f"{sum(report.stated.values()):,}",
            f"{max([*sizes, report.largest]):.1e}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
        notes += [f"- {peer.package}, {m}: {s.reason}." for m, s in peer.stated.items()]
        notes += [f"- {peer.package}, not asked: {peer.silent}."] if peer.silent else []
        if peer.tolerance != TOLERANCE:
            notes.append(f"- {peer.package}: values agree to {peer.tolerance:.0e}.")
    return "\n".join([*lines, "", *notes])


def write(text: str, marks: tuple[str, str] = MARKS) -> None:
    """Put a table between its marks in benchmarks/README.md."""
    page = README.read_text(encoding="utf-8")
    if any(page.count(mark) != 1 for mark in marks):
        raise SystemExit(f"{README} needs each of {' and '.join(marks)} once")
    before, rest = page.split(marks[0])
    after = rest.split(marks[1])[1]
    page = f"{before}{marks[0]}\n{text}\n{marks[1]}{after}"
    README.write_text(page, encoding="utf-8")


def main() -> int:
    """Compare the peers asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--envs", type=Path, help="folder to keep the environments in")
    parser.add_argument("--cases", type=int, default=1_000, help="populations, at four k's each")
    parser.add_argument("--write", action="store_true", help="put the table into README.md here")
    options = parser.parse_args()
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(PEERS)}")

    reports = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.envs or Path(temporary)).resolve()
        for name in options.peers or PEERS:
            report = compare(name, folder, options.cases)
            heading = f"{name} {report.version}: {len(report.differences)} differences"
            print("\n".join([heading, *details(report)]), flush=True)
            reports.append(report)
    text = table(reports)
    print(text)
    if options.write:
        write(text)
    return int(any(report.differences for report in reports))


if __name__ == "__main__":
    sys.exit(main())
