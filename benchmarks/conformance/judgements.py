"""Groups, incomplete judgements, ERR, levels of recall: a list with its grades or groups.

"{k}" in a peer's words stands for a cut-off; without one the whole list is measured.
"""

import math
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine import ROUNDED, Peer, Question, Values
from oracle import hits
from oracle import judgements as oracle

SEED = 20_261
KS = [1, 3, 10, 20]  # pyndeval goes no further
WHOLE = 60  # beyond every list


@dataclass(eq=False)
class Population:
    """Ranked lists, grades and groups by user, and the cut-offs; ids are text."""

    ks: list[int]
    lists: dict[str, list[str]]
    grades: dict[str, dict[str, int]]
    groups: dict[str, list[list[str]]]

    def truths(self, of: str) -> dict[str, Any]:
        """Return one kind of truths: "grades", "groups" of sets, or "relevant": above 0."""
        if of == "groups":
            return {user: [{*group} for group in row] for user, row in self.groups.items()}
        if of == "relevant":
            return {u: {i for i, grade in row.items() if grade} for u, row in self.grades.items()}
        return self.grades

    def run(self) -> dict[str, dict[str, float]]:
        """Return the lists that hold something as scores that fall."""
        lists = {user: row for user, row in self.lists.items() if row}
        return {user: {i: -float(r) for r, i in enumerate(row)} for user, row in lists.items()}

    def shown(self, user: str, k: int | None) -> str:
        """Say what a value was computed from."""
        return f"{self.lists[user][:k]}, {self.grades[user]}, {self.groups[user]}"


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw users: lists of up to 30 ids, some empty; up to 12 grades, now and then 40; groups."""
    source = random.Random(SEED)
    lists, grades, groups = {}, {}, {}
    for user in map(str, range(1, n_inputs + 1)):
        items = [*map(str, range(source.randint(3, WHOLE)))]
        lists[user] = source.sample(items, source.randint(0, min(30, len(items))))
        n_judged = source.randint(1, min(40 if source.random() < 0.3 else 12, len(items)))
        scale = source.choice([(0, 1), (0, 1, 2, 3, 4), (1, 1, 1, 0), (0, 0, 0, 2)])
        grades[user] = {one: source.choice(scale) for one in source.sample(items, n_judged)}
        near = source.sample(items, min(len(items), source.randint(2, 10)))
        groups[user] = [
            source.sample(near, source.randint(1, min(4, len(near))))
            for _ in range(source.randint(1, 5))
        ]
    return [Population(KS, lists, grades, groups)]


def of_side(side: str, drawn: Population, question: Question) -> dict[int | None, dict[str, float]]:
    """Return the values of one side here; users without a relevant item score 0."""
    import sides

    given = dict(question.given)
    turn = int if given.pop("integers", False) else str
    lists = {user: [*map(turn, row)] for user, row in drawn.lists.items()}
    truths = drawn.truths(question.of)
    if question.of == "groups":
        truths = {u: [{*map(turn, one)} for one in row] for u, row in truths.items()}
    whole = [None] if question.ours.startswith("bpref") else [WHOLE]
    ks = whole if question.uncut else drawn.ks
    found = getattr(sides, side)(question.ours, lists, truths, ks, **given)
    return {None: found[ks[0]]} if question.uncut else found


by_oracle = partial(of_side, "by_oracle")
by_toplist = partial(of_side, "by_toplist")


# The peers


def ir_measures(drawn: Population) -> Callable[[Question, int | None], Values]:
    """Return measures as they are written there; groups are subtopics, a qrel's iteration."""
    import ir_measures as package

    def at(question: Question, k: int | None) -> Values:
        measure = eval(question.theirs.replace("{k}", str(k)), vars(package))
        if measure.NAME == "ERR" and not shutil.which("perl"):
            return None
        truths, rows = drawn.truths(question.of), []
        for user, row in truths.items():
            judged = row.items() if question.of == "grades" else ((i, 1) for i in sorted(row))
            if question.of == "groups":
                rows += [(user, i, 1, str(n)) for n, g in enumerate(drawn.groups[user]) for i in g]
            else:
                rows += [(user, item, grade, "0") for item, grade in judged]
        qrels = [package.GenericQrel(*row) for row in rows]
        found = package.iter_calc([measure], qrels, drawn.run())
        # A user of whom it has no qrel is none of its own; it says 0 of those it knows.
        return dict.fromkeys(truths, 0.0) | {one.query_id: float(one.value) for one in found}

    return at


def pytrec_eval(drawn: Population) -> Callable[[Question, int | None], Values]:
    """Return measures with the options of trec_eval: -l, the least grade, and -J."""
    from pytrec_eval import RelevanceEvaluator

    def at(question: Question, k: int | None) -> Values:
        name, *options = question.theirs.replace("{k}", str(k)).split()
        least = int(options[options.index("-l") + 1]) if "-l" in options else 1
        how = {"relevance_level": least, "judged_docs_only_flag": "-J" in options}
        found = RelevanceEvaluator(drawn.grades, {name}, **how).evaluate(drawn.run())
        return dict.fromkeys(drawn.grades, 0.0) | {user: row[name] for user, row in found.items()}

    return at


# What peers give instead, where it is stated: of a list, a truth and a k


def by(formula: Callable[[list[str], Any, int], float], of: str) -> Callable[..., float]:
    """Return a formula of a population, a user and a k."""

    def instead(drawn: Population, user: str, k: int | None) -> float:
        return formula(drawn.lists[user], drawn.truths(of)[user], WHOLE if k is None else k)

    return instead


# The questions

TREC = {"convention": "trec_eval"}
JUDGED = {**TREC, "unjudged": "drop"}
SQUARES = {1: 1, 2: 4, 3: 9, 4: 16}
CUT = {"P": "precision", "R": "recall", "AP": "map", "RR": "mrr", "Success": "hit"}
TREC_CUT = {"P": "precision", "recall": "recall", "map_cut": "map", "success": "hit"}


def question(
    theirs: str, ours: str, of: str = "grades", given: Mapping[str, Any] = {}, **more: Any
) -> Question:
    """Return a question; its line of the table is the measure's."""
    uncut = "{k}" not in theirs
    return Question(theirs, ours, given, of=of, uncut=uncut, group=ours.partition("(")[0], **more)


def level(recall: float, theirs: str, parameters: str = "", **options: Any) -> Question:
    """Ask for the precision at a level of recall."""
    name, given = f"iprec(recall={recall}{parameters})", {**TREC, **options}

    def as_trec_eval(ranked: list[str], truth: Any, k: int) -> float:
        import sides

        (left,) = hits.without_unjudged([ranked], [truth])
        n_relevant = len(hits.relevant_items(truth, 2 if "rel=2" in parameters else None))
        if ranked and not left and not oracle.trec_needed(recall, n_relevant):
            return math.nan
        return sides.value(name, ranked, truth, k, **given)

    why = "0/0 is NaN where no document is judged and none is asked for"
    stated = {"why": why, "instead": by(as_trec_eval, "grades")} if options else {}
    return question(theirs, name, given=given, **stated)


IR_MEASURES = [
    *(question(f"{one}(rel=2)@{{k}}", f"{ours}(rel=2)", given=TREC) for one, ours in CUT.items()),
    *(
        question(f"{one}(judged_only=True)@{{k}}", ours, given=JUDGED)
        for one, ours in {**CUT, "nDCG": "ndcg"}.items()
        if one != "RR"  # it cuts it at no k
    ),
    question("RR(judged_only=True)", "mrr", given=JUDGED),
    question("AP(rel=3, judged_only=True)", "map(rel=3)", given=JUDGED),
    question("Rprec(rel=2)", "r_precision(rel=2)", given=TREC),
    question("P@{k}", "precision", "groups", TREC),
    question("nDCG@{k}", "ndcg", "groups", TREC),
    question(f"nDCG(gains={SQUARES})@{{k}}", "ndcg", given={**TREC, "gains": SQUARES}),
    question(
        f"nDCG(gains={SQUARES}, judged_only=True)@{{k}}", "ndcg", given={**JUDGED, "gains": SQUARES}
    ),
    question("Judged@{k}", "judged", given=TREC),
    question("Bpref", "bpref"),
    question("Bpref(rel=2)", "bpref(rel=2)"),
    question("ERR@{k}", "err(max=4)", tolerance=ROUNDED),
    question("nERR_IA@{k}", "nerr(max=1)", "relevant"),
    *(level(x, f"IPrec@{x}") for x in (0.05, 0.1, 0.25, 0.7)),
    level(0.5, "IPrec(rel=2)@0.5", ",rel=2"),
    level(0.3, "IPrec(judged_only=True)@0.3", unjudged="drop"),
    *(
        question(f"alpha_nDCG(alpha={alpha})@{{k}}", f"alpha_ndcg(alpha={alpha})", "groups")
        for alpha in (0.0, 0.25, 0.5, 0.9, 1.0)
    ),
    question(
        "alpha_nDCG(alpha=0.5)@{k}",
        "alpha_ndcg(alpha=0.5)",
        "groups",
        {"integers": True},
        why="pyndeval orders ties of its ideal by text, also integers",
        instead=by(oracle.alpha_ndcg, "groups"),
    ),
    question("StRecall@{k}", "group_recall", "groups"),
]

PYTREC_EVAL = [
    *(question(f"bpref -l {rel}", f"bpref(rel={rel})") for rel in (1, 2, 3)),
    *(
        question(f"{one}_{{k}} -l {rel}", f"{ours}(rel={rel})", given=TREC)
        for one, ours in TREC_CUT.items()
        for rel in (2, 3)
    ),
    *(
        question(f"{one}_{{k}} -J", ours, given=JUDGED)
        for one, ours in {**TREC_CUT, "ndcg_cut": "ndcg"}.items()
    ),
    question("map -J -l 2", "map(rel=2)", given=JUDGED),
    question("recip_rank -J", "mrr", given=JUDGED),
    question("Rprec -J", "r_precision", given=JUDGED),
    *(level(tenths / 10, f"iprec_at_recall_{tenths / 10:.2f}") for tenths in range(11)),
    level(0.7, "iprec_at_recall_0.70 -J -l 2", ",rel=2", unjudged="drop"),
]

PEERS = {
    "ir_measures": Peer(
        "ir_measures",
        (("ir-measures", "pytrec-eval-terrier", "pyndeval"),),
        IR_MEASURES,
        ir_measures,
        silent="NERR8 to NERR11, approximations of ERR by another model of the reader; ERR_IA and "
        "alpha_DCG, which pyndeval divides by a constant of k; judged_only of measures of groups, "
        "which raises TypeError; k above 20, which pyndeval refuses",
    ),
    "pytrec_eval": Peer(
        "pytrec-eval-terrier", (("pytrec-eval-terrier", "numpy"),), PYTREC_EVAL, pytrec_eval
    ),
}
