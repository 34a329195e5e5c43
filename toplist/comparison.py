"""Side by side: the same lists under every convention."""

from typing import Any

from toplist.checks import whole
from toplist.conventions import CONVENTIONS
from toplist.evaluate import Joining, hits_of, top_k_eval


def conformance(ranks: Any, ground_truths: Any, k: int) -> dict[str, dict[str, float]]:
    """Evaluate the same lists under every convention.

    Parameters
    ----------
    ranks, ground_truths
        As in `top_k_eval`; later copies of an item earn nothing.
    k : int

    Returns
    -------
    dict
        ``{convention: {metric: mean}}``, each with the metrics that it has.

    Examples
    --------
    >>> table = conformance([[1, 2, 3, 4, 5]], [{1, 3, 9}], k=5)
    >>> {name: round(row["map"], 4) for name, row in table.items() if "map" in row}
    {'standard': 0.5556, 'neurec': 0.1389, 'neurec-cpp': 0.5556, 'recbole': 0.5556,
     'trec_eval': 0.5556, 'ranx': 0.5556, 'rectools': 0.5556, 'lenskit': 0.5556,
     'recommenders': 0.5556, 'implicit': 0.5556, 'irspack': 0.5556, 'spark': 0.5556}
    """
    hits, _ = hits_of(ranks, ground_truths, whole(k, "k"), Joining("first"))
    found = {}
    for name, convention in CONVENTIONS.items():
        result = top_k_eval(hits, k=k, metrics=list(convention.metrics), convention=name)
        found[name] = dict(zip(convention.metrics, result, strict=True))
    return found
