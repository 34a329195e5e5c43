"""`merge`: the result of all users, from the results of parts of them and the truth of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.checks import Ints
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.lists import Flat, is_frame
from toplist.inputs.options import ColumnNames, Joining
from toplist.results import merging
from toplist.results.result import TopKResult

if TYPE_CHECKING:
    from toplist.matching.hits import Hits


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
        a table or `GroundTruths`. Users who have no list in any part are then added, once.
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
        If there is no part, or what is no result; if metrics, k, convention or policies differ;
        or if a user is in two parts. Beside ground truths, for parts that were not made with
        ``keep="part"``, with weights, propensities or ``items_as``, for a user of a part who has
        no ground truth, and where all of them lack what a metric needs, such as a grade of 0.

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
    truths = [one for one in more if not isinstance(one, TopKResult)]
    found = [parts] if isinstance(parts, TopKResult) else list(parts)
    if not truths:
        found += more
        return merging.merge(found, disjoint)
    found += [one for one in more if isinstance(one, TopKResult)]
    known = isinstance(truths[0], Mapping) or is_frame(truths[0]) or hasattr(truths[0], "lists")
    if len(truths) > 1 or not known:
        found += truths
        return merging.merge(found)  # says what it takes
    if any(isinstance(one, TopKResult) and one.listed is None for one in found):
        raise ValueError(
            "merge: ground truths go beside parts: give keep='part' in each evaluation"
        )
    whole = merging.merge(found, disjoint=True)  # they know their users
    found = [whole, _absent(whole, truths[0], columns)]
    # of lists alone, nothing is added
    return replace(merging.merge(found, disjoint=True), lists=whole.lists, scored=whole.scored)


def _absent(whole: TopKResult, truths: Any, columns: ColumnNames) -> TopKResult:
    """Return the result of the users of ground truths who are not in a result."""
    # what few need, so that imports are quick
    from toplist.evaluation.plan import counted_users, lacks
    from toplist.inputs.factorize import Column
    from toplist.inputs.tables import lists_of
    from toplist.inputs.texts import hashes_of
    from toplist.matching.match import closed_up, join
    from toplist.metrics.conventions import convention_of

    _check_known(whole)
    terms, grading = whole.terms, whole.terms.grading
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

    rows = np.flatnonzero(~here)
    hits = without_lists(rows, joining._replace(listed=terms.relevant == "listed"))
    lacking = [one for one in terms.metrics.values() if not len(rows) or lacks(one, hits)]
    if lacking:  # a part may lack what others have, all of them may not
        everybody = without_lists(np.arange(len(here)), joining)
        said = next(filter(None, (lacks(one, everybody) for one in lacking)), "")
        if said:
            raise ValueError(f"merge: {said}")
    rules = convention_of(terms.convention)
    rules = replace(rules, empty=terms.empty, missing=terms.missing)
    counted = counted_users(hits, rules, terms.metrics.values())
    found = merging.without_users(TopKResult.of(terms, hits, counted))
    return replace(found, listed=words[rows])


def _check_known(whole: TopKResult) -> None:
    """Raise ValueError for a result that hangs on more than lists and ground truths."""
    terms = whole.terms
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
