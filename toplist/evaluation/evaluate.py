"""`top_k_eval`: from lists to means at every k, and who is averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from toplist.checks import choice, whole
from toplist.evaluation.plan import Aggregate, Plan, plan_of
from toplist.inputs.forms import read_once
from toplist.inputs.options import (
    DUPLICATES,
    UNKNOWN,
    Duplicates,
    Items,
    Joining,
    Known,
    Ties,
    Unknown,
    known_of,
    shows_items,
)
from toplist.matching.hits import Hits
from toplist.matching.match import joined
from toplist.metrics.conventions import CONVENTIONS, Convention, ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult

if TYPE_CHECKING:
    from toplist.beyond.results import ListResult

DEFAULT = ("hit", "precision", "recall", "map", "ndcg", "mrr")


@shows_items
def top_k_eval(
    ranks: Any,
    ground_truths: Any = None,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    weights: Any = None,
    aggregate: Aggregate | None = None,
    empty: Empty | None = None,
    missing: Missing | None = None,
    relevant: Relevant | None = None,
    duplicates: Duplicates = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: Gains | None = None,
    ties: Ties = "order",
    columns: Mapping[str, Any] | None = None,
    users: Any = None,
    unknown: Unknown = "raise",
    n_threads: int | None = None,
    **items: Unpack[Items],
) -> TopKResult:
    """Evaluate ranked lists against ground truths: means over users, at every k at once.

    Parameters
    ----------
    ranks : ranked lists of ids, or Hits
        One user's list, a list of lists, a dict user -> list, a 2-D array of ids, `Lists`, a
        table of pandas, polars or pyarrow; or the `Hits` of an earlier `match`, alone. See
        `toplist.match` for every form.
    ground_truths : relevant ids of the same users
        Sets, lists, or one bare id per user, in the same form.
    k : int or several ints, optional
        Cut-offs. None is the whole list: the length of the longest one. A metric may carry its own
        (``metrics=["ndcg@10", "recall"], k=[5, 20]``), which wins over these.
    metrics : names or Metric objects
        Names of `METRICS`: ``"ndcg"``, ``"ndcg@10"``, ``"rbp(p=0.5)"``, or a `Metric` of your own.
    convention : str
        A name in `CONVENTIONS`: whose divisors and policies.
    weights : (n_users,) numbers, dict user -> number or pandas Series by user, optional
        How much each user counts, 0 or more: means are Σwx / Σw. What has keys is matched by key.
    aggregate : {"mean", "pooled"}, optional
        The mean of the users' values; or the ratio of sums, Σ numerators / Σ divisors over
        users, which has no std. Default: the convention's.
    empty : {"skip", "zero", "one", "raise"}, optional
        Users with an empty ground truth: left out of the mean (NaN per user), or 0, or 1. Default:
        the convention's, which may differ from metric to metric; what is given here is of all.
    missing : {"zero", "skip", "raise"}, optional
        Users with a ground truth and no list: 0, or left out. Default: the convention's.
    relevant : {"all", "listed"}, optional
        Which relevant items count as R: all, or where a ground truth is known for listed items
        only, those in the whole list, whatever k (see `Hits.listed`). Default: the convention's.
    duplicates : {"raise", "first"}
        An item twice in one list: refused, or later copies earn nothing and keep their place.
    padding : id, optional
        An id that fills rectangular arrays, dropped from the ends.
    relevant_from : float, optional
        Where the ground truth has grades: an item is relevant from this grade on; default above 0.
        0 is every item that was judged: precision is then that of the metric judged, but over all
        users with a judgement, also of 0 alone; trec_eval prints its complement as unj.
    gains : {"linear", "exponential"}, optional
        Where the ground truth has grades: the gain of a hit is its grade, or 2^grade - 1, in cg,
        dcg and ndcg. Default: the convention's.
    ties : {"order", "item", "item_desc"}
        Where scores rank the items: equal scores keep their order, or go by item id, ascending or
        descending (trec_eval's).
    columns : mapping, optional
        Of tables: their own names of user_id, item_id, rank, score and relevance; for each side,
        ``{"ranks": {...}, "ground_truths": {...}}``.
    users : sequence, optional
        The users' keys, one per row, where the lists have none (lists by position, arrays,
        `Lists`, `Hits`): weights, labels and merging then go by key.
    **items
        Data of the items, for metrics of the lists: catalogue, item_counts and the others of
        `toplist.inputs.options.ITEMS`, whose paragraphs stand here in help().
    unknown : {"raise", "skip"}
        Of these metrics: a listed item that is not among those of the keyword is refused, or left
        out. They are of all lists given (shannon_entropy too), without weights and truths.
    n_threads : int, optional
        Default: the CPUs this process may use. Means are the same bits for any number.

    Returns
    -------
    TopKResult
        A table when printed. Unpacks into one value per metric; ``["ndcg@3"]`` is a mean,
        ``["ndcg"]`` the curve over k, ``.per_user(...)`` the users' values.

    Raises
    ------
    TypeError, ValueError
        As `toplist.match`; and for an unknown metric, convention or option, k given twice or not
        at all, or a k deeper than the `Hits` were read to.

    Examples
    --------
    >>> ranks = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
    >>> truths = [{7, 3, 5}, {4, 2, 8, 7}]
    >>> hit, precision, recall, map_, ndcg, mrr = top_k_eval(ranks, truths, k=3)
    >>> round(map_, 4), round(ndcg, 4)
    (0.6111, 0.7346)
    >>> top_k_eval(ranks, truths, k=[1, 3, 5], metrics=["recall", "map"])
                        @1              @3                       @5
    recall  0.2917 ±0.0817  0.5833 ±0.1633  0.7500 [0.2600, 1.0000]
    map     1.0000 ±0.0000  0.6111 ±0.1089  0.6417 [0.2007, 1.0000]
    convention standard: mean over users
    95 % interval, ± half or [low, high]: normal (rough: only 2 users)
    2 of 2 users evaluated
    """
    options = duplicates, padding, relevant_from, gains, columns, n_threads
    joining = Joining(*options, ties, users)
    known = known_of("top_k_eval", items, unknown, joining)
    plan = plan_of(metrics, k, convention, weights, aggregate, empty, missing, relevant, ties)
    return evaluate(plan, ranks, ground_truths, joining, known)


def evaluate(plan: Plan, ranks: Any, truths: Any, joining: Joining, known: Known) -> TopKResult:
    """Join lists with ground truths and compute what the plan asks for."""
    joining = ruled(ranks, joining, plan.rules)
    if plan.list_metrics and not isinstance(ranks, Hits):
        choice("duplicates", joining.duplicates, DUPLICATES)
        order = joining.ties, joining.padding
        ranks = read_once(ranks, joining.depth(plan.depth), joining.columns, *order)
    hits, _ = hits_of(ranks, truths, plan.depth, joining)
    lists = lists_of(plan, ranks, known, hits.k)
    return plan.result(hits, joining.n_threads, lists)


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


def lists_of(plan: Plan, ranks: Any, known: Known, longest: int | None = None) -> ListResult | None:
    """Evaluate the metrics of the lists themselves, where some are asked for.

    `longest` is the length of the longest list, which is their k where the plan has none.
    """
    choice("unknown", known.unknown, UNKNOWN)
    if not plan.list_metrics:
        return None
    from toplist.beyond.results import evaluate_lists  # a third of the import of toplist

    depth = longest if plan.depth is None else plan.depth
    if depth is None:
        names = ", ".join(metric.name for metric in plan.list_metrics)
        raise ValueError(f"{names}: lists that come in parts need a k, the whole list is not known")
    return evaluate_lists(plan.list_metrics, ranks, depth, known)


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
    hits = _with_users(ranks, joining.users)
    return hits.listed() if joining.listed else hits, False


def _with_users(hits: Hits, users: Any) -> Hits:
    """Return hits whose rows have keys."""
    if users is None:
        return hits
    if hits.users is not None:
        raise TypeError("ranks is a Hits that has its users by key: it takes no users")
    return replace(hits, users=list(users))


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
    depth = whole(k, "k")
    found: dict[str, dict[str, float]] = {}
    hits: dict[tuple[str, str], Hits] = {}
    for name, rules in CONVENTIONS.items():
        empty: Empty | None = "skip" if rules.empty == "raise" else None
        missing: Missing | None = "zero" if rules.missing == "raise" else None
        plan = plan_of(list(rules.metrics), depth, name, None, None, empty, missing)
        ways = rules.relevant, rules.gains
        if ways not in hits:
            joining = ruled(ranks, Joining("first"), plan.rules)
            hits[ways], _ = hits_of(ranks, ground_truths, depth, joining)
        found[name] = dict(zip(rules.metrics, plan.result(hits[ways], None), strict=True))
    return found
