"""What each peer of `judgements.py` answers, run in the peer's own environment.

    python judgements_answers.py ir_measures < asked.json      # the last line printed is JSON

Nothing but the standard library is imported before a peer is named. A peer is one function of a
population, the kind of its truths, a measure in the peer's words and a k (None: the whole list);
it returns values by user, or None where this machine cannot run it.

AutoRAG and LongMemEval are no packages that could be installed for these few lines. What they
compute was read in their sources and is written anew here: Marker-Inc-Korea/AutoRAG at 0964abb,
autorag/evaluation/metric/retrieval.py, and xiaowu0162/LongMemEval at 6a92d1a,
src/retrieval/eval_utils.py.
"""

import json
import math
import shutil
import sys
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, NamedTuple


class Population(NamedTuple):
    """Ranked lists, grades and groups by user, and the cut-offs asked for."""

    ks: list[int]
    lists: dict[str, list[str]]
    grades: dict[str, dict[str, int]]
    groups: dict[str, list[list[str]]]

    def truths(self, of: str) -> dict[str, Any]:
        """Return one kind of truths: "grades", "groups", or "relevant": the items above 0."""
        if of != "relevant":
            return getattr(self, of)
        return {user: {i for i, grade in row.items() if grade} for user, row in self.grades.items()}

    def run(self) -> dict[str, dict[str, float]]:
        """Return the lists that hold something as scores that fall."""
        return {
            u: {i: -float(r) for r, i in enumerate(row)} for u, row in self.lists.items() if row
        }


Values = dict[str, float] | None


def ir_measures(population: Population, of: str, theirs: str, k: int | None) -> Values:
    """Evaluate a measure as it is written there; groups are subtopics, a qrel's iteration."""
    import ir_measures as package

    measure = eval(theirs.replace("{k}", str(k)), vars(package))  # of judgements_questions.py
    if measure.NAME == "ERR" and not shutil.which("perl"):
        return None
    truths = population.truths(of)
    rows: Iterable[tuple[str, str, int, str]]
    if of == "groups":
        rows = [
            (user, item, 1, str(place))
            for user, groups in truths.items()
            for place, group in enumerate(groups)
            for item in group
        ]
    elif of == "relevant":
        rows = [(user, item, 1, "0") for user, row in truths.items() for item in sorted(row)]
    else:
        rows = [(user, item, g, "0") for user, row in truths.items() for item, g in row.items()]
    qrels = [package.GenericQrel(*row) for row in rows]
    found = package.iter_calc([measure], qrels, population.run())
    # A user of whom it has no qrel is none of its own; it says 0 of those it knows.
    return dict.fromkeys(truths, 0.0) | {one.query_id: float(one.value) for one in found}


def pytrec_eval(population: Population, of: str, theirs: str, k: int | None) -> Values:
    """Evaluate a measure with the options of trec_eval: -l, the least grade, and -J."""
    from pytrec_eval import RelevanceEvaluator

    name, *options = theirs.replace("{k}", str(k)).split()
    least = int(options[options.index("-l") + 1]) if "-l" in options else 1
    found = RelevanceEvaluator(
        population.truths(of), {name}, relevance_level=least, judged_docs_only_flag="-J" in options
    ).evaluate(population.run())
    return dict.fromkeys(population.truths(of), 0.0) | {u: row[name] for u, row in found.items()}


def autorag(population: Population, of: str, theirs: str, k: int | None) -> Values:
    """Evaluate the first k ids, as it evaluates a list."""

    def value(groups: list[list[str]], ranked: list[str]) -> float:
        if theirs.startswith("recall"):
            share = sum(any(i in group for i in ranked) for group in groups) / len(groups)
            return float(share == 1) if theirs == "recall == 1" else share
        labels = [int(any(i in group for group in groups)) for i in ranked]
        if theirs == "precision":
            return sum(labels) / len(ranked) if ranked else 0.0
        ideal = [1] * min(sum(map(len, groups)), len(ranked))
        gain, best = (
            sum(label / math.log2(place + 2) for place, label in enumerate(row))
            for row in (labels, ideal)
        )
        return gain / best if best else 0.0

    return {user: value(row, population.lists[user][:k]) for user, row in population.groups.items()}


def longmemeval(population: Population, of: str, theirs: str, k: int | None) -> Values:
    """Evaluate chunks, or sessions: then k grows until the first k hold that many sessions."""

    def session(item: str) -> str:
        return item[: item.rindex("_")]

    def value(relevant: set[str], ranked: list[str]) -> float:
        depth = k or len(ranked)
        if theirs.endswith("sessions"):
            relevant = {session(item) for item in relevant}
            ranked = [session(item) for item in ranked]
            while depth <= len(ranked) and len({*ranked[:depth]}) < (k or 0):
                depth += 1
        found = {*ranked[:depth]}
        if theirs.startswith("recall_any"):
            return float(not relevant.isdisjoint(found))
        if theirs.startswith("recall_all"):
            return float(relevant <= found)
        weights = [1.0, *(1 / math.log2(rank) for rank in range(2, depth + 1))]
        ideal = sum(weights[: min(depth, len(relevant))])
        hits = [w for w, i in zip(weights, ranked[:depth], strict=False) if i in relevant]
        return sum(hits) / ideal if ideal else 0.0

    truths = population.truths("relevant")
    return {user: value(row, population.lists[user]) for user, row in truths.items()}


PEERS = {peer.__name__: peer for peer in (ir_measures, pytrec_eval, autorag, longmemeval)}


def answers(name: str, population: Population, asked: list[list[str]]) -> list[list[Values]]:
    """Return a peer's values: a row per question (its words, its truths), a column per k."""
    return [
        [
            PEERS[name](population, of, theirs, k)
            for k in (population.ks if "{k}" in theirs or name in OF_LISTS else [None])
        ]
        for theirs, of in asked
    ]


OF_LISTS = "autorag", "longmemeval"  # a k cuts the list, whatever the measure


def main() -> None:
    """Answer what is on the standard input."""
    name, package = sys.argv[1:]
    population, asked = json.load(sys.stdin)
    found = answers(name, Population(*population), asked)
    print()
    print(json.dumps({"version": version(package), "answers": found}))


if __name__ == "__main__":
    main()
