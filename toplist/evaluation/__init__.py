"""Evaluation in memory, `merge` of the results of parts, and every metric as a function.

`plan` checks the arguments before any id is read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.checks import Ints, check_positive_int, did_you_mean, near, prefixed
from toplist.evaluation.plan import Plan, counted_users, lacks, plan_of, settled
from toplist.inputs.factorize import Column
from toplist.inputs.forms import are_queries, read_once, read_ranks, side_to_builtin
from toplist.inputs.ids import alone, unpadded
from toplist.inputs.lists import Flat, is_frame
from toplist.inputs.options import (
    MEMORY,
    NO_ITEMS,
    OPTIONS,
    ColumnNames,
    Duplicates,
    ItemData,
    Items,
    Joining,
    Options,
    Unjudged,
    of_source,
)
from toplist.inputs.texts import hashes_of
from toplist.inputs.truths import Grading, Groups
from toplist.matching import closed_up, join, joined
from toplist.matching.about import together
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import Convention, ConventionName, rules_of
from toplist.metrics.definitions import METRICS, Metric
from toplist.metrics.names import parse
from toplist.metrics.properties import formula, is_scored
from toplist.results.means import merge as merged
from toplist.results.result import TopKResult


def in_memory(ranks: Any, truths: Any, plan: Plan) -> TopKResult | dict[str, TopKResult]:
    """Evaluate lists in memory: one result, or one for each system of a table.

    Systems are in order of first appearance, over the same truth.
    """
    if plan.options.keep == "part":
        raise TypeError("keep='part' is for files, streams and tables of lists")
    system, columns = plan.options.system, plan.options.columns
    if system is None:
        return evaluate(plan, ranks, truths)
    if not is_frame(ranks):
        raise TypeError(
            f"system={system!r} names a column of a table of ranks, which is a "
            f"{type(ranks).__name__}: evaluate each system on its own, in a dict"
        )
    # what few need, so that imports are quick
    from toplist.inputs import tables
    from toplist.inputs.columns import readable
    from toplist.inputs.keyed import KeptTruths
    from toplist.inputs.texts import IdTexts

    texts = IdTexts()
    if is_frame(truths):
        truths = KeptTruths(tables.lists_of(truths, "ground_truths", columns, known=texts), texts)
    found = {}
    for name, part in tables.by_column(readable(ranks), system, "ranks"):
        try:
            found[name] = evaluate(plan, part, truths)
        except (ValueError, TypeError) as error:
            raise prefixed(f"system {name!r}: ", error) from None
    return found


def evaluate(plan: Plan, ranks: Any, truths: Any) -> TopKResult:
    """Join lists with ground truths and compute what the plan asks for."""
    joining = plan.options.joining
    if plan.options.unit is None and are_queries(ranks, truths):
        plan = replace(plan, options=replace(plan.options, unit="queries"))
    if plan.list_metrics and not isinstance(ranks, Hits):
        order = joining.ties, joining.padding
        ranks = read_once(ranks, joining.depth(plan.depth), joining.columns, *order)
    hits, _ = hits_of(ranks, truths, plan.depth, joining, plan.rules)
    measured = result_of_lists(plan, plan.list_metrics, ranks, hits, hits.longest)
    if plan.counts_all and hits.about.n_extra:
        if isinstance(ranks, Hits):
            raise ValueError(
                "toplist.Propensities(weighting='ips') counts the users with a list alone, and "
                f"this Hits does not have its {hits.about.n_extra:,}: give the lists and the "
                "ground truths"
            )
        lists, _ = read_ranks(ranks, joining.depth(plan.depth), joining.columns)
        whole = plan.depth is None and joining.unjudged == "miss"
        hits = with_a_list_alone(hits, lists, joining.padding, whole)
    return plan.result(hits, measured)


def with_a_list_alone(hits: Hits, lists: Flat, padding: Any = None, whole: bool = False) -> Hits:
    """Return hits, and rows without a relevant item for users of lists who have none in them.

    An empty list is no list. `whole` lists are read to their ends, which may be below all others.
    """
    known, users = set(hits.users or ()), lists.users or ()
    rows = [row for row, user in enumerate(users) if user not in known]
    lengths = unpadded(lists if padding is None else alone(lists), padding).lengths[rows]
    lengths = lengths if whole else np.minimum(lengths, hits.k)
    some = (users[row] for row, length in zip(rows, lengths, strict=True) if length)
    hits = hits.of_part(k=max(hits.k, int(lengths.max(initial=0))))
    nothing: dict[Any, tuple[Any, ...]] = dict.fromkeys(some, ())
    found, _ = joined(nothing, nothing, 1, Joining())
    alike = {name: getattr(hits, name) for name in ("k", "grading", "listed_only")}
    found = hits.merged(found.of_part(n_listed=lengths[lengths > 0], **alike), disjoint=True)
    return found.of_part(n_extra=0, fingerprints=(together(found.about.fingerprints),))


def result_of_lists(
    plan: Plan,
    metrics: Sequence[ListMetric],
    ranks: Any,
    hits: Hits | None = None,
    longest: int | None = None,
) -> Any:
    """Return the `ListResult` of metrics of the lists themselves; None where none is asked for.

    `longest` is the length of the longest list, which they are read to where a metric has no k;
    without it the lists are a part of all.
    """
    if not metrics:
        return None
    from toplist.beyond.results import evaluate_lists  # a third of the import of toplist

    if plan.depth is None and longest is None:
        whole = ", ".join(entry.metric.name for entry in plan.entries if not entry.ks)
        raise ValueError(
            f"{whole}: metrics of the lists, and what is asked beside them, need a k where lists "
            "come in parts, as the whole list is not known"
        )
    ks = [k for entry in plan.entries for k in entry.ks]
    depth = max(longest or 0, *ks, 0) if plan.depth is None else max(ks)
    asked: dict[str, int] = {}
    for entry in plan.entries:
        name = entry.metric.name
        asked[name] = max(asked.get(name, 0), *(entry.ks or (longest or depth,)))
    more = hits, longest is not None, asked, plan.options.weights
    return evaluate_lists(metrics, ranks, depth, plan.item_data, *more)


# What may be said of hits that are joined already.
_OF_HITS = "n_threads", "users", "fingerprints", "listed", "gains"


def hits_of(
    ranks: Any, truths: Any, depth: int | None, joining: Joining, rules: Convention
) -> tuple[Hits, bool]:
    """Return the hits down to `depth`, and whether one user was given bare.

    Raises
    ------
    TypeError, ValueError
        For `Hits` beside ground truths, or options of a join; that were read less deep, or joined
        with other gains than the convention's.
    """
    if not isinstance(ranks, Hits):
        return joined(ranks, truths, depth, joining)
    own, wanted = ranks.grading.gains, Grading(gains=rules.gains).gains
    if ranks.graded and own != wanted and ("gains" in rules.replaced or wanted != "linear"):
        raise ValueError(
            f"convention {rules.name!r} has {wanted} gains, this Hits {own} ones: join with "
            f"match(..., convention={rules.name!r}), or say convention.replace(gains={own!r}) here "
            "if these are meant"
        )
    if truths is not None:
        raise TypeError("ranks is a Hits, joined already: it takes no ground_truths")
    # said, and so it is; it is not known how equal scores were ordered
    same = {"duplicates": "raise", "unjudged": ranks.unjudged, "ties": rules.ties}
    usual = Joining(**{name: getattr(joining, name) for name in _OF_HITS})
    pairs = zip(joining._fields, joining, usual, strict=True)
    given = [name for name, one, plain in pairs if one != plain and one != same.get(name, plain)]
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


def merge(
    parts: Iterable[TopKResult], *more: Any, disjoint: bool = False, columns: ColumnNames = None
) -> TopKResult:
    """Merge results over different users into that of all of them.

    ``sum(parts)`` does the same, one part after the other; this takes as long as all parts have
    users, however many they are.

    Parameters
    ----------
    parts, *more : results
        A list of them or several, with the same metrics, k, convention and policies. After results
        that were made with ``keep="part"``, the ground truths of all users, keyed by user: a dict,
        `Groups`, a table or `GroundTruths`. Users without a list in any part are then added, once.
    disjoint : bool
        Whether the users are known to be different. Users with keys are checked by their keys,
        always. Others are known by position only: parts with the same ground truths, such as five
        seeds of one model, are over the same users, and are refused unless this is True. Parts
        where all users have one ground truth merge: these may well be different users.
    columns : mapping, optional
        What columns of a table of ground truths are called, as in `top_k_eval`.

    Returns
    -------
    TopKResult

    Raises
    ------
    TypeError, ValueError
        If there is no part, or what is no result; if metrics, k, convention, policies,
        ``items_as`` or ``duplicates`` differ ("raise" goes with the others: no list had a copy;
        of two functions ``items_as`` it is not seen); or if a user is in two parts. Beside ground
        truths, for parts that were not made with ``keep="part"``, with weights, propensities or
        ``items_as``, for a user of a part who has no ground truth or another one than there, and
        where all of them lack what a metric needs, such as a grade of 0.

    Examples
    --------
    >>> import toplist as tl
    >>> batches = [([[1, 2]], [{2}]), ([[1, 2], [3, 4]], [{1}, {9}])]
    >>> tl.merge(tl.top_k_eval(*batch, k=2, metrics="mrr") for batch in batches)["mrr@2"]
    0.5

    Lists in two tables, of which none has those of "cy":

    >>> import pyarrow as pa
    >>> truth = {"ann": {"tea"}, "bob": {"jam"}, "cy": {"jam"}}
    >>> shards = [
    ...     pa.table({"user_id": [user], "item_id": [[item]]})
    ...     for user, item in {"ann": "tea", "bob": "oil"}.items()
    ... ]
    >>> parts = [tl.top_k_eval(one, truth, k=1, metrics="hit", keep="part") for one in shards]
    >>> tl.merge(parts)["hit@1"], round(tl.merge(parts, truth)["hit@1"], 4)
    (0.5, 0.3333)
    """
    found: list[TopKResult] = [*([parts] if isinstance(parts, TopKResult) else parts), *more]
    truths = [one for one in more if not isinstance(one, TopKResult)]
    if len(truths) != 1 or not (
        isinstance(truths[0], (Mapping, Groups))
        or is_frame(truths[0])
        or hasattr(truths[0], "lists")
    ):
        return merged(found, disjoint)  # says what it takes
    found = [one for one in found if one is not truths[0]]
    if any(isinstance(one, TopKResult) and one.listed is None for one in found):
        raise ValueError(
            "merge: ground truths go beside parts: give keep='part' in each evaluation"
        )
    whole = merged(found, disjoint=True)  # they know their users
    found = [whole, _absent(whole, truths[0], columns)]
    # of lists alone, nothing is added
    return replace(merged(found, disjoint=True), lists=whole.lists, scored=whole.scored)


def _absent(whole: TopKResult, truths: Any, columns: ColumnNames) -> TopKResult:
    """Return the result of the users of ground truths who are not in a result."""
    from toplist.inputs.tables import lists_of  # a quarter of the import of toplist

    terms, grading = whole.terms, whole.terms.grading
    for given, what in (
        (terms.weighted, "weights"),
        (terms.weighting is not None, "propensities"),
        ("items_as" in terms.made_by, "items_as"),
        (any(one.of_truth for one in terms.list_metrics.values()), "metrics of lists and truths"),
    ):
        if given:
            raise ValueError(
                f"merge: parts with {what} do not go beside ground truths, which do not say what "
                "users without a list count: evaluate all users together"
            )
    how: Any = {"relevant_from": grading.relevant_from, "gains": grading.gains}
    joining = Joining("first", unjudged=terms.unjudged, **how)
    depth = max(terms.depth, 1)
    side = truths if hasattr(truths, "lists") else side_to_builtin(truths, "ground_truths")
    truth = lists_of(side, "ground_truths", columns)
    words = hashes_of(truth.users)
    assert whole.listed is not None  # that of all parts
    here = np.isin(words, whole.listed)
    if here.sum() < len(whole.listed):
        n = len(whole.listed) - int(here.sum())
        raise ValueError(
            f"merge: {n:,} of the {len(whole.listed):,} users of the parts have no ground truth "
            "here: give those of all users, with ids that are text where they were read as text"
        )

    def without_lists(rows: Ints, joining: Joining) -> Hits:
        users = Column("user_id", truth.users.codes[rows], truth.users.names)
        offsets = np.zeros(len(rows) + 1, np.int64)
        names = truth.items.names
        nothing = Flat("ranks", offsets[:0], offsets, offsets[1:], names=names, users=users)
        relevant = replace(truth.take(rows), users=users)
        return closed_up(join(nothing, relevant, depth, joining, whole=False), depth, joining)

    same = without_lists(np.flatnonzero(here), joining).about.fingerprints
    if len(whole.listed) and together(same).total != together(whole.prints).total:
        raise ValueError(
            "merge: the parts were evaluated against other ground truths than these: their users "
            "have other relevant items, grades or groups, or items that are numbers here and text "
            "there"
        )
    rows = np.flatnonzero(~here)
    hits = without_lists(rows, joining._replace(listed=terms.relevant == "listed"))
    lacking = [one for one in terms.metrics.values() if not len(rows) or lacks(one, hits)]
    if lacking:  # a part may lack what others have, all of them may not
        everybody = without_lists(np.arange(len(here)), joining)
        said = next(filter(None, (lacks(one, everybody) for one in lacking)), "")
        if said:
            raise ValueError(f"merge: {said}")
    rules = replace(terms.known, empty=terms.empty, missing=terms.missing)
    counted = counted_users(hits, rules, terms.metrics.values())
    found = TopKResult.of(terms, hits, counted).without_users()
    return replace(found, listed=words[rows])


def curves(
    metric: str | Metric,
    ranks: Any,
    ground_truths: Any = None,
    k: int | None = None,
    *,
    convention: ConventionName | Convention = "standard",
    items: Items | None = None,
    items_as: Any = None,
    relevant_from: float | None = None,
    unjudged: Unjudged = "miss",
    duplicates: Duplicates | None = None,
    padding: Any = None,
    columns: ColumnNames = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Return a metric of every user at every k: any k is a slice.

    Parameters
    ----------
    metric : str or Metric
        A name of `METRICS`, ``"rbp(p=0.5)"``, of the convention or of the lists themselves
        (``"novelty(total=500)"``, see `toplist.beyond`), or a `Metric` of your own; not psp and
        psndcg, which need the propensities of `toplist.top_k_eval`.
    ranks, ground_truths : ids
        Ranked lists and relevant ids of one user, or of many in any form that `toplist.match`
        takes; or one `Hits` in place of both. Metrics of the lists alone need no ground truths;
        those of all lists together take a `toplist.beyond.Exposure` in place of the lists.
    k : int, optional
        The largest k wanted; default the longest list. May exceed every list.
    convention, items, items_as, relevant_from, unjudged, duplicates, padding, columns, n_threads
        As in `toplist.top_k_eval`. Users left out have NaN.

    Returns
    -------
    (K,) or (n_users, K) float64
        The value at k = 1..K of one user, or a row per user in the order of the ground truths, or
        of the lists where there are none. Past the end of a short list the places are misses. Of
        metrics of all lists together, as gini, (K,).

    Raises
    ------
    TypeError, ValueError
        As `toplist.top_k_eval`.

    Examples
    --------
    >>> import toplist as tl
    >>> tl.curves("rbp(p=0.5)", [5, 7, 8, 9, 3], {7, 3, 5}).round(4).tolist()
    [0.5, 0.75, 0.75, 0.75, 0.7812]
    >>> counts = {"a": 8, "b": 1}
    >>> tl.curves("novelty", [["a", "b"]], items=tl.Items(counts=counts)).round(4).tolist()
    [[0.1699, 1.6699]]
    """
    depth = None if k is None else check_positive_int(k, "k")
    rules = rules_of(convention)
    ranks, said = of_source(ranks, columns, rules)
    options = Options(
        convention=rules,
        items=NO_ITEMS if items is None else items,
        items_as=items_as,
        relevant_from=relevant_from,
        unjudged=unjudged,
        duplicates=duplicates,
        padding=padding,
        n_threads=n_threads,
        **said,
    )
    options.check(MEMORY)
    if not isinstance(metric, (str, Metric)):
        words = "the metric comes first, curves('ndcg', ranks, ground_truths)"
        raise ValueError(f"metric is a {type(metric).__name__}, {metric!r:.60}: {words}")
    found, own_k = parse(metric, rules)
    if own_k is not None:
        raise ValueError(f"{metric!r} has a k of its own: give k={own_k}, of which it is the last")
    if isinstance(found, ListMetric):
        return _list_curves(found, ranks, ground_truths, depth, options)
    if is_scored(found):
        way = f"top_k_eval(..., propensities=p).per_user('{found.name}')"
        raise ValueError(f"{found.name} needs propensities: {way} has its curves")
    found = replace(found, empty=rules.policy_of(found))
    joining = options.joining._replace(fingerprints=False)
    hits, single = hits_of(ranks, ground_truths, depth, joining, rules)
    found = settled(found, hits)
    counted = counted_users(hits, rules, [found])
    read = per_user.gains_of(hits, found, rules.threshold_in_gains)
    out = per_user.curves(read, counted, found, depth or hits.k, n_threads)
    return out[0] if single else out


def _list_curves(
    metric: ListMetric, ranks: Any, truths: Any, depth: int | None, options: Options
) -> NDArray[np.float64]:
    """Return a metric of the lists at every k."""
    from toplist.beyond.exposure import Exposure  # a third of the import of toplist
    from toplist.beyond.indexing import Listed
    from toplist.beyond.results import curves_of, rows_of

    if isinstance(ranks, Exposure) and not metric.of_users:
        usual = Options(convention=options.convention, n_threads=options.n_threads)
        given = [name for name in OPTIONS if getattr(options, name) is not getattr(usual, name)]
        if truths is not None or given:
            what = given[0] if truths is None else "ground_truths"
            raise TypeError(f"ranks is an Exposure, counted already: it takes no {what}")
        known = ItemData({}, NO_ITEMS.unknown, options.joining.reading)
        return curves_of(metric, ranks, known)[0][: ranks.depth(depth)]
    if isinstance(ranks, Hits):
        raise TypeError(f"{metric.name} is of the lists themselves, and a Hits holds no ids")
    if isinstance(ranks, Exposure):
        raise TypeError(f"{metric.name} is of the lists themselves, and an Exposure holds none")
    joining, rules = options.joining, rules_of(options.convention)
    ranks = read_once(ranks, joining.depth(depth), joining.columns, joining.ties, joining.padding)
    hits, single = None, False
    if truths is not None:
        hits, single = hits_of(ranks, truths, depth, joining, rules)
    elif metric.of_truth:
        raise TypeError(f"{metric.name} needs ground_truths")
    lists = Listed.of(ranks, depth, joining.reading)
    plan = plan_of(replace(options, metrics=metric.name), depth, single=lists.single)
    metric, *more = plan.list_metrics
    if more:
        raise ValueError(f"name a label, as in {metric.name!r}")
    if hits is not None and hits.users is not None and lists.users is None:
        lists = replace(lists, flat=replace(lists.flat, users=hits.users))
    found, listed = curves_of(metric, lists, plan.item_data, hits)
    if metric.of_users and hits is not None:
        rows: Sequence[Any] = range(len(hits)) if hits.users is None else hits.users
        found, *_ = rows_of(found, listed, rows)
    return found[0] if metric.of_users and (single or lists.single) else found


def _metric_function(name: str, example: list[float]) -> Callable[..., NDArray[np.float64]]:
    """Return the function of a metric: `curves` of it, documented by its row."""

    def function(
        ranks: Any, ground_truths: Any = None, k: int | None = None, **options: Any
    ) -> NDArray[np.float64]:
        """{text}.

            {formula}

        Parameters
        ----------
        ranks, ground_truths : ids
            Ranked lists and relevant ids of one user, or of many in any form that `toplist.match`
            takes; or one `Hits` in place of both.
        k : int, optional
            The largest k wanted; default the longest list. May exceed every list.
        convention, items, items_as, relevant_from, unjudged
            As in `toplist.top_k_eval`. Users left out have NaN.
        duplicates, padding, columns, n_threads
            As in `toplist.top_k_eval`.

        Returns
        -------
        (K,) or (n_users, K) float64
            The value at k = 1..K of one user, or a row per user, in the order of the ground truths:
            any k is a slice. Past the end of a short list the places are misses.

        Raises
        ------
        TypeError, ValueError
            As `toplist.top_k_eval`.

        Examples
        --------
        >>> import toplist as tl
        >>> tl.{name}([5, 7, 8, 9, 3], {{7, 3, 5}}).round(4).tolist()
        {example}
        """
        for word in [word for word in options if word not in known]:
            meant = did_you_mean(near(word, [*known]))
            raise TypeError(f"{name}() got an unexpected keyword argument {word!r}{meant}")
        return curves(name, ranks, ground_truths, k, **options)

    metric, (_, *rest) = METRICS[name], inspect.signature(curves).parameters.values()
    function.__name__ = function.__qualname__ = name
    known = {one.name for one in rest if one.kind is one.KEYWORD_ONLY}
    vars(function)["__signature__"] = inspect.signature(curves).replace(parameters=rest)
    text = f"{metric.text[0].upper()}{metric.text[1:]}"
    words: Any = {"name": name, "text": text, "formula": formula(metric), "example": example}
    function.__doc__ = inspect.cleandoc(function.__doc__ or "").format(**words)
    return function


hit = _metric_function("hit", [1.0, 1.0, 1.0, 1.0, 1.0])
precision = _metric_function("precision", [1.0, 1.0, 0.6667, 0.5, 0.6])
recall = _metric_function("recall", [0.3333, 0.6667, 0.6667, 0.6667, 1.0])
map_ = _metric_function("map", [1.0, 1.0, 0.6667, 0.6667, 0.8667])
ndcg = _metric_function("ndcg", [1.0, 1.0, 0.7654, 0.7654, 0.9469])
mrr = _metric_function("mrr", [1.0, 1.0, 1.0, 1.0, 1.0])
