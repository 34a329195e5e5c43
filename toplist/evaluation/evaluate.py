"""Evaluation in memory: `top_k_eval` of lists, and every metric as a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.checks import OptionRef, check_positive_int, option_error, prefixed
from toplist.evaluation.plan import Plan, counted_users, plan_of, rules_of, settled
from toplist.inputs.flatten import Flat, is_frame
from toplist.inputs.forms import are_queries, read_once, read_ranks
from toplist.inputs.options import Duplicates, Joining, Options, Ties, Unjudged
from toplist.matching.hits import Hits
from toplist.matching.match import joined
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS, Convention, ConventionName, Missing, Relevant
from toplist.metrics.definitions import METRICS, Divisor, DivisorName, Empty, Gains, GainTable
from toplist.metrics.formulas import formula
from toplist.metrics.names import parse
from toplist.results.result import TopKResult

if TYPE_CHECKING:
    from toplist.beyond.results import ListResult


def in_memory(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate lists in memory: one result, or one for each system of a table."""
    if options.keep == "part":
        raise option_error(
            TypeError, OptionRef("keep", "part"), " is for files, streams and tables of lists"
        )
    plan = plan_of(options, k)
    if options.system is not None:
        return _by_system(plan, ranks, truths, options.system)
    return evaluate(plan, ranks, truths)


def evaluate(plan: Plan, ranks: Any, truths: Any) -> TopKResult:
    """Join lists with ground truths and compute what the plan asks for."""
    joining = ruled(ranks, plan.joining, plan.rules)
    plan = plan.called("queries") if are_queries(ranks, truths) else plan
    if plan.list_metrics and not isinstance(ranks, Hits):
        order = joining.ties, joining.padding
        ranks = read_once(ranks, joining.depth(plan.depth), joining.columns, *order)
    hits, _ = hits_of(ranks, truths, plan.depth, joining)
    extra = None
    if plan.options.counts_all and hits.about.n_extra:
        if isinstance(ranks, Hits):
            raise option_error(
                ValueError,
                OptionRef("weighting", "ips"),
                f" counts the users with a list alone, and this Hits does not have its "
                f"{hits.about.n_extra:,}: give the lists and the ground truths",
            )
        users, flat, _ = read_ranks(ranks, joining.depth(plan.depth), joining.columns)
        extra = with_a_list_alone(hits, users or (), flat, joining.padding)
    return plan.result(hits, lists_of(plan, plan.list_metrics, ranks, hits, hits.longest), extra)


def with_a_list_alone(hits: Hits, users: Sequence[Any], lists: Flat, padding: Any = None) -> Hits:
    """Return the users of lists who have no row in hits, as hits without a relevant item.

    An empty list is no list.
    """
    known = set(hits.users or ())
    rows = [row for row, user in enumerate(users) if user not in known]
    lengths = np.minimum(lists.lengths[rows], hits.k)
    if padding is not None:
        for place, row in enumerate(rows):
            ids = lists.row(row)
            while lengths[place] and ids[lengths[place] - 1] == padding:
                lengths[place] -= 1
    some = (users[row] for row, length in zip(rows, lengths, strict=True) if length)
    nothing: dict[Any, tuple[Any, ...]] = dict.fromkeys(some, ())
    found, _ = joined(nothing, nothing, 1, Joining())
    return found.of_part(n_listed=lengths[lengths > 0])


def _by_system(plan: Plan, ranks: Any, truths: Any, system: str) -> dict[str, TopKResult]:
    """Evaluate each system of a table, in order of first appearance, over the same truth."""
    from toplist.inputs import tables
    from toplist.inputs.columns import readable

    if not is_frame(ranks):
        raise TypeError(
            f"system={system!r} names a column of a table of ranks, which is a "
            f"{type(ranks).__name__}: evaluate each system on its own, in a dict"
        )
    from toplist.inputs.kept import KeptTruths
    from toplist.inputs.texts import Texts

    columns, texts = plan.options.columns, (Texts(), Texts())
    if is_frame(truths):
        truths = KeptTruths(tables.lists_of(truths, "ground_truths", columns, known=texts), texts)
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
    if joining.unjudged == ranks.unjudged:  # said, and so it is
        joining = joining._replace(unjudged="miss")
    own = ranks.grading.gains
    if joining.gains == own:  # said, and so it is
        return joining._replace(gains=None)
    if ranks.graded and joining.gains is None and own != rules.gains != "linear":
        raise ValueError(
            f"convention {rules.name!r} has {rules.gains} gains, this Hits {own} ones: give "
            f"match(..., gains={rules.gains!r}), or gains={own!r} here if these are meant"
        )
    return joining


def lists_of(
    plan: Plan,
    metrics: Sequence[ListMetric],
    ranks: Any,
    hits: Hits | None = None,
    longest: int | None = None,
) -> ListResult | None:
    """Evaluate metrics of the lists themselves, where some are asked for.

    `longest` is the length of the longest list, which they are read to where a metric has no k;
    without it the lists are a part of all.
    """
    if not metrics:
        return None
    from toplist.beyond.results import evaluate_lists  # a third of the import of toplist

    ks = [k for entry in plan.entries for k in entry.ks]
    if plan.depth is None and longest is None:
        whole = ", ".join(entry.metric.name for entry in plan.entries if not entry.ks)
        raise ValueError(
            f"{whole}: metrics of the lists, and what is asked beside them, need a k where lists "
            "come in parts, as the whole list is not known"
        )
    depth = max(ks) if plan.depth is not None else max(longest or 0, *ks, 0)
    asked: dict[str, int] = {}
    for entry in plan.entries:
        name = entry.metric.name
        asked[name] = max(asked.get(name, 0), *(entry.ks or (longest or depth,)))
    more = hits, longest is not None, asked
    return evaluate_lists(metrics, ranks, depth, plan.item_data, *more)


def hits_of(ranks: Any, truths: Any, depth: int | None, joining: Joining) -> tuple[Hits, bool]:
    """Return the hits down to `depth`, and whether one user was given bare."""
    if not isinstance(ranks, Hits):
        return joined(ranks, truths, depth, joining)
    if truths is not None:
        raise TypeError("ranks is a Hits, joined already: it takes no ground_truths")
    if joining.duplicates == "raise":  # said, and so it is
        joining = joining._replace(duplicates=None)
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
        hits = replace(hits, users=list(joining.users))  # checks them
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
        ``{convention: {metric: mean}}``, each with the metrics that it has at a k.

    Examples
    --------
    >>> table = conformance([[1, 2, 3, 4, 5]], [{1, 3, 9}], k=5)
    >>> {name: round(row["map"], 4) for name, row in table.items() if "map" in row}
    {'standard': 0.5556, 'neurec': 0.1389, 'neurec-cpp': 0.5556, 'recbole': 0.5556,
     'trec_eval': 0.5556, 'ranx': 0.5556, 'rectools': 0.5556, 'lenskit': 0.5556,
     'recommenders': 0.5556, 'implicit': 0.5556, 'irspack': 0.5556, 'spark': 0.5556,
     'llamaindex': 0.5556, 'haystack': 0.5556, 'haystack-2025': 0.8333,
     'sentence-transformers': 0.5556, 'mteb': 0.5556, 'replay': 0.5556, 'evidently': 0.8333,
     'tf-ranking': 0.8333, 'lightgbm': 0.8333, 'torchmetrics': 0.8333, 'xgboost': 0.8333,
     'catboost': 0.8333, 'pytorch-metric-learning': 0.5556, 'opensearch': 0.5556,
     'quepid': 0.5556, 'transformers4rec': 0.5556, 'bwhite': 0.8333}
    """
    depth = check_positive_int(k, "k")
    found: dict[str, dict[str, float]] = {}
    hits: dict[tuple[str, str], Hits] = {}
    for name, rules in CONVENTIONS.items():
        empty: Empty | None = "skip" if rules.empty == "raise" else None
        missing: Missing | None = "zero" if rules.missing == "raise" else None
        metrics = [word for word, metric in rules.metrics.items() if metric.cut != "n"]  # have a k
        asked = Options(metrics=metrics, convention=name, empty=empty, missing=missing)
        plan = plan_of(asked, depth)
        ways = rules.relevant, rules.gains
        if ways not in hits:
            joining = ruled(ranks, Joining("first"), plan.rules)
            hits[ways], _ = hits_of(ranks, ground_truths, depth, joining)
        found[name] = dict(zip(metrics, plan.result(hits[ways]), strict=True))
    return found


_DOCUMENTATION = """{text}

    {formula}

Parameters
----------
ranks, ground_truths : ids
    Ranked lists and relevant ids of one user, or of many in any form that `toplist.match`
    takes; or one `Hits` in place of both.
k : int, optional
    The largest k wanted; default the longest list. May exceed every list.
convention : str
    A name in `CONVENTIONS`, or of a library that shares one: whose divisor and policies.
divisor : str or callable, optional
    A name in `DIVISORS`, or a function ``f(k, R, n)``, in place of the convention's. "hits" is
    the number of hits in the first k.
empty, missing, relevant, duplicates, unjudged, padding, relevant_from, gains, ties, columns, \
n_threads
    As in `toplist.top_k_eval`. Users left out have NaN.

Returns
-------
(K,) or (n_users, K) float64
    The value at k = 1..K of one user, or a row per user: any k is a slice. Past the end of a
    short list the places are misses. Of keyed lists the rows know their ``users``.

Raises
------
TypeError, ValueError
    As `toplist.top_k_eval`.

Examples
--------
>>> import toplist as tl
>>> tl.{name}([5, 7, 8, 9, 3], {truth}).round(4).tolist()
{example}
"""

# The arguments of every metric function.
Call = ParamSpec("Call")


def _curves(
    name: str,
    ranks: Any,
    ground_truths: Any = None,
    k: int | None = None,
    *,
    convention: ConventionName = "standard",
    divisor: DivisorName | Divisor | Callable[..., Any] | None = None,
    empty: Empty | None = None,
    missing: Missing | None = None,
    relevant: Relevant | None = None,
    duplicates: Duplicates = "raise",
    unjudged: Unjudged = "miss",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: Gains | GainTable | None = None,
    ties: Ties = "order",
    columns: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Return a metric of the convention at every k: (K,) for one user, (n_users, K) for many."""
    rules = rules_of(convention, empty, missing, relevant)
    metric, _ = parse(name, rules)
    if divisor is not None:
        metric = replace(metric, divisor=divisor)
    metric = replace(metric, empty=rules.policy_of(metric))
    depth = None if k is None else check_positive_int(k, "k")
    joining = Joining(
        *(duplicates, padding, relevant_from, gains, columns, n_threads, ties),
        unjudged=unjudged,
        fingerprints=False,
    )
    hits, single = hits_of(ranks, ground_truths, depth, ruled(ranks, joining, rules))
    metric = settled(metric, hits)
    counted = counted_users(hits, rules, [metric])
    read = per_user.gains_of(hits, metric, rules.threshold_in_gains)
    out = per_user.curves(read, counted, metric, depth or hits.k, n_threads)
    if single or hits.users is None:
        return out[0] if single else out
    from toplist.inputs.user_values import by_users  # what few need, so that imports are quick

    return by_users(out, hits.users)


def _metric_function(
    curves: Callable[Concatenate[str, Call], NDArray[np.float64]],
    name: str,
    example: list[float],
    truth: str = "{7, 3, 5}",
) -> Callable[Call, NDArray[np.float64]]:
    """Return the function of a metric, with the signature of `curves`, documented by its row."""
    own: Any = FunctionType(curves.__code__, globals(), name, curves.__defaults__)
    own.__kwdefaults__, own.__qualname__ = curves.__kwdefaults__, name  # errors name the metric

    def function(*arguments: Call.args, **keywords: Call.kwargs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = own(name, *arguments, **keywords)
        return found

    signature = inspect.signature(curves)
    parameters = list(signature.parameters.values())[1:]
    metric = METRICS[name]
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__doc__ = _DOCUMENTATION.format(
        name=name,
        text=f"{metric.text[0].upper()}{metric.text[1:]}.",
        formula=formula(metric),
        example=example,
        truth=truth,
    )
    return function


hit = _metric_function(_curves, "hit", [1.0, 1.0, 1.0, 1.0, 1.0])
precision = _metric_function(_curves, "precision", [1.0, 1.0, 0.6667, 0.5, 0.6])
recall = _metric_function(_curves, "recall", [0.3333, 0.6667, 0.6667, 0.6667, 1.0])
map_ = _metric_function(_curves, "map", [1.0, 1.0, 0.6667, 0.6667, 0.8667])
ndcg = _metric_function(_curves, "ndcg", [1.0, 1.0, 0.7654, 0.7654, 0.9469])
mrr = _metric_function(_curves, "mrr", [1.0, 1.0, 1.0, 1.0, 1.0])
dcg = _metric_function(_curves, "dcg", [1.0, 1.6309, 1.6309, 1.6309, 2.0178])
cg = _metric_function(_curves, "cg", [1.0, 2.0, 2.0, 2.0, 3.0])
f1 = _metric_function(_curves, "f1", [0.5, 0.8, 0.6667, 0.5714, 0.75])
rbp = _metric_function(_curves, "rbp", [0.2, 0.36, 0.36, 0.36, 0.4419])
judged = _metric_function(_curves, "judged", [1.0, 1.0, 0.6667, 0.5, 0.6])
_JUDGED = "{7: 1, 3: 1, 5: 1, 8: 0, 6: 0}"
bpref = _metric_function(_curves, "bpref", [0.3333, 0.6667, 0.6667, 0.6667, 0.8333], _JUDGED)
complete = _metric_function(_curves, "complete", [0.0, 0.0, 0.0, 0.0, 1.0])
err = _metric_function(_curves, "err", [0.5, 0.625, 0.625, 0.625, 0.65])
nerr = _metric_function(_curves, "nerr", [1.0, 1.0, 0.9375, 0.9375, 0.975])
iprec = _metric_function(_curves, "iprec", [1.0, 1.0, 1.0, 1.0, 1.0])
r_precision = _metric_function(_curves, "r_precision", [0.3333, 0.6667, 0.6667, 0.6667, 0.6667])
group_recall = _metric_function(_curves, "group_recall", [0.3333, 0.6667, 0.6667, 0.6667, 1.0])
alpha_ndcg = _metric_function(_curves, "alpha_ndcg", [1.0, 1.0, 0.7654, 0.7654, 0.9469])
