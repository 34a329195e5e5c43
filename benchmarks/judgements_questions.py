"""What the peers of `judgements.py` are asked, what the same is called here, and what differs.

A question holds a peer's own words for a measure and toplist's. "{k}" stands for a cut-off, and
without one the whole list is measured. Where the two differ by what is stated, the peer's formula
stands beside the reason, in the words of the oracle, and the peer has to agree with that.
"""

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from conformance_peers import ROUNDED, TOLERANCE

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracle import hits as oracle
from oracle import judgements as twins


class Stated(NamedTuple):
    """A difference that is stated: why, and what the peer computes of a list, a truth and a k."""

    reason: str
    instead: Callable[[list[Any], Any, int], float]


class Question(NamedTuple):
    """One measure in the words of both.

    Parameters
    ----------
    theirs, ours : str
    of : str
        The truths that both are given: "grades", "groups", or "relevant" items without grades.
    options : mapping
        Of toplist's evaluation.
    stated : Stated, optional
    integers : bool
        Whether toplist's ids are integers where the peer's are text.
    tolerance : float
    """

    theirs: str
    ours: str
    of: str = "grades"
    options: Mapping[str, Any] = {}
    stated: Stated | None = None
    integers: bool = False
    tolerance: float = TOLERANCE


class Peer(NamedTuple):
    """A peer: its package, what is installed (nothing: its facts are read), and its questions."""

    package: str
    installs: tuple[tuple[str, ...], ...]
    questions: tuple[Question, ...]
    silent: str = ""


# What everybody's chunks are: three to a document, by their ids (`judgements.item`)


def number(item: str) -> int:
    """Return the integer of an id.

    >>> number("s3_1")
    10
    """
    document, chunk = item[1:].split("_")
    return 3 * int(document) + int(chunk)


def document(item: str) -> str:
    """Return the document of a chunk.

    >>> document("s3_1")
    's3'
    """
    return item.rpartition("_")[0]


TREC = {"convention": "trec_eval"}
JUDGED = {**TREC, "unjudged": "drop"}
SQUARES = {1: 1, 2: 4, 3: 9, 4: 16}
GAINS = {**TREC, "gains": SQUARES}
CHUNKS = {"items_as": document}
CUT = {"P": "precision", "R": "recall", "AP": "map", "RR": "mrr", "Success": "hit"}
TREC_CUT = {"P": "precision", "recall": "recall", "map_cut": "map", "success": "hit"}


def level(recall: float, theirs: str, parameters: str = "", **options: Any) -> Question:
    """Ask for the precision at a level of recall."""

    def as_trec_eval(ranked: list[Any], truth: Any, k: int) -> float:
        left, _ = twins.prepared(ranked, truth, **options)
        n_relevant = len(oracle.relevant_items(truth, twins.named(name)[1].get("relevant_from")))
        if ranked and not left and not twins.trec_needed(recall, n_relevant):
            return math.nan
        return twins.value(name, ranked, truth, k, **given)

    name, given = f"iprec(recall={recall}{parameters})", {**TREC, **options}
    reason = "0/0 is NaN where no document is judged and none is asked for"
    stated = Stated(reason, as_trec_eval) if options else None
    return Question(theirs, name, options=given, stated=stated)


def text_ideal(ranked: list[Any], groups: list[Any], k: int) -> float:
    """Evaluate alpha-nDCG with ids as text, by which pyndeval orders ties."""
    texts = [{f"s{i // 3}_{i % 3}" for i in group} for group in groups]
    return twins.alpha_ndcg([f"s{i // 3}_{i % 3}" for i in ranked], texts, k)


def rounded(alpha: float) -> Stated:
    """Return the difference of an ideal by gains in floating point, group by group."""

    def rounded_ideal(ranked: list[Any], groups: list[Any], k: int) -> float:
        best: list[Any] = []
        left, found = twins.union(groups), [0] * len(groups)

        def gain(item: Any) -> tuple[float, Any]:
            pairs = zip(groups, found, strict=True)
            return sum((1 - alpha) ** n for group, n in pairs if item in group), item

        while left:
            best.append(max(left, key=gain))
            left.remove(best[-1])
            found = [n + (best[-1] in g) for g, n in zip(groups, found, strict=True)]
        ideal = twins.alpha_dcg(best, groups, k, alpha=alpha)
        return oracle.ratio(twins.alpha_dcg(ranked, groups, k, alpha=alpha), ideal)

    return Stated("equal gains of its ideal may differ by the rounding of sums", rounded_ideal)


def repeated_ideal(ranked: list[Any], groups: list[Any], k: int) -> float:
    """Evaluate nDCG over an ideal that holds an id once for each of its groups, cut at n."""
    n = min(k, len(ranked))
    places = min(n, sum(map(len, groups)))
    return oracle.ratio(oracle.dcg(ranked, twins.union(groups), n), oracle.ideal_dcg(places))


def all_of_none(ranked: list[Any], truth: Any, k: int) -> float:
    """Tell whether all relevant items are found, which holds where there are none."""
    none = not oracle.relevant_items(truth)
    return 1.0 if none else twins.value("complete", ranked, truth, k)


def all_of_no_documents(ranked: list[Any], truth: Any, k: int) -> float:
    """Tell the same of the documents of chunks."""
    documents = {document(item) for item in oracle.relevant_items(truth)}
    return all_of_none(twins.collapsed([document(item) for item in ranked]), documents, k)


NO_TRUTH = "1 for a truth without a relevant item, which its own script leaves out"

IR_MEASURES = (
    *(
        Question(f"{theirs}(rel=2)@{{k}}", f"{o}(rel=2)", "grades", TREC)
        for theirs, o in CUT.items()
    ),
    *(
        Question(f"{theirs}(judged_only=True)@{{k}}", ours, "grades", JUDGED)
        for theirs, ours in {**CUT, "nDCG": "ndcg"}.items()
        if theirs != "RR"  # it cuts it at no k
    ),
    Question("RR(judged_only=True)", "mrr", "grades", JUDGED),
    Question("AP(rel=3, judged_only=True)", "map(rel=3)", "grades", JUDGED),
    Question("Rprec(rel=2)", "r_precision(rel=2)", "grades", TREC),
    Question("P@{k}", "precision", "groups", TREC),
    Question("nDCG@{k}", "ndcg", "groups", TREC),
    Question(f"nDCG(gains={SQUARES})@{{k}}", "ndcg", "grades", GAINS),
    Question(
        f"nDCG(gains={SQUARES}, judged_only=True)@{{k}}", "ndcg", "grades", {**GAINS, **JUDGED}
    ),
    Question("Judged@{k}", "judged", "grades", TREC),
    Question("Bpref", "bpref"),
    Question("Bpref(rel=2)", "bpref(rel=2)"),
    Question("ERR@{k}", "err(max=4)", tolerance=ROUNDED),
    Question("nERR_IA@{k}", "nerr(max=1)", "relevant"),
    *(level(x, f"IPrec@{x}") for x in (0.05, 0.1, 0.25, 0.7)),
    level(0.5, "IPrec(rel=2)@0.5", ",rel=2"),
    level(0.3, "IPrec(judged_only=True)@0.3", unjudged="drop"),
    *(
        Question(
            f"alpha_nDCG(alpha={alpha})@{{k}}",
            f"alpha_ndcg(alpha={alpha})",
            "groups",
            stated=rounded(alpha),
        )
        for alpha in (0.0, 0.25, 0.5, 0.9, 1.0)
    ),
    Question(
        "alpha_nDCG(alpha=0.5)@{k}",
        "alpha_ndcg(alpha=0.5)",
        "groups",
        stated=Stated("pyndeval orders ties of its ideal by text, also integers", text_ideal),
        integers=True,
    ),
    Question("StRecall@{k}", "group_recall", "groups"),
)

PYTREC_EVAL = (
    *(Question(f"bpref -l {rel}", f"bpref(rel={rel})") for rel in (1, 2, 3)),
    *(
        Question(f"{theirs}_{{k}} -l {rel}", f"{ours}(rel={rel})", "grades", TREC)
        for theirs, ours in TREC_CUT.items()
        for rel in (2, 3)
    ),
    *(
        Question(f"{theirs}_{{k}} -J", ours, "grades", JUDGED)
        for theirs, ours in {**TREC_CUT, "ndcg_cut": "ndcg"}.items()
    ),
    Question("map -J -l 2", "map(rel=2)", "grades", JUDGED),
    Question("recip_rank -J", "mrr", "grades", JUDGED),
    Question("Rprec -J", "r_precision", "grades", JUDGED),
    *(level(tenths / 10, f"iprec_at_recall_{tenths / 10:.2f}") for tenths in range(11)),
    level(0.7, "iprec_at_recall_0.70 -J -l 2", ",rel=2", unjudged="drop"),
)

AUTORAG = (
    Question("recall", "group_recall", "groups"),
    Question("recall == 1", "complete", "groups"),
    Question("precision", "precision", "groups", {"convention": "irspack"}),
    Question(
        "ndcg",
        "ndcg",
        "groups",
        {"convention": "irspack"},
        Stated("an id of two groups stands twice in its ideal", repeated_ideal),
    ),
)

LONGMEMEVAL = (
    Question("recall_any", "hit"),
    Question("recall_all", "complete", stated=Stated(NO_TRUTH, all_of_none)),
    Question("ndcg_any", "ndcg", "relevant", {"convention": "lenskit"}),
    Question("recall_any, sessions", "hit", "relevant", CHUNKS),
    Question(
        "recall_all, sessions",
        "complete",
        "relevant",
        CHUNKS,
        Stated(NO_TRUTH, all_of_no_documents),
    ),
)

PEERS = {
    "ir_measures": Peer(
        "ir_measures",
        (("ir-measures", "pytrec-eval-terrier", "pyndeval"),),
        IR_MEASURES,
        "NERR8 to NERR11, approximations of ERR by another model of the reader; ERR_IA and "
        "alpha_DCG, which pyndeval divides by a constant of k; judged_only of measures of groups, "
        "which raises TypeError; k above 20, which pyndeval refuses",
    ),
    "pytrec_eval": Peer("pytrec-eval-terrier", (("pytrec-eval-terrier", "numpy"),), PYTREC_EVAL),
    "autorag": Peer(
        "AutoRAG at 0964abb, by its facts",
        (),
        AUTORAG,
        "its F1 (of recall by groups and precision by ids), and its MRR and MAP, means over groups",
    ),
    "longmemeval": Peer(
        "LongMemEval at 6a92d1a, by its facts",
        (),
        LONGMEMEVAL,
        "nDCG of sessions, whose ideal counts chunks",
    ),
}
