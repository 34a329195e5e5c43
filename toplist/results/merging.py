"""`merge`: many results over different users, in one step."""

from collections.abc import Iterable

from toplist.averages.means import merged
from toplist.results.result import TopKResult


def merge(parts: Iterable[TopKResult], *more: TopKResult, disjoint: bool = False) -> TopKResult:
    """Merge results over different users into that of all of them.

    ``sum(parts)`` does the same, one part after the other; this takes as long as all parts have
    users, however many they are.

    Parameters
    ----------
    parts, *more : results
        A list of them or several, with the same metrics, k, convention and policies.
    disjoint : bool
        Whether the users are known to be different. Users with keys are checked by their keys,
        always. Others are known by position only: parts with the same ground truths, such as five
        seeds of one model, are over the same users, and are refused unless this is True. Parts
        where all users have one ground truth merge: these may well be different users.

    Returns
    -------
    TopKResult

    Raises
    ------
    TypeError, ValueError
        If there is no part, or what is no result; if metrics, k, convention or policies differ;
        or if a user is in two parts.

    Examples
    --------
    >>> import toplist as tl
    >>> batches = [([[1, 2]], [{2}]), ([[1, 2], [3, 4]], [{1}, {9}])]
    >>> tl.merge(tl.top_k_eval(*batch, k=2, metrics="mrr") for batch in batches)["mrr@2"]
    0.5
    """
    found = [parts] if isinstance(parts, TopKResult) else list(parts)
    found += more
    for part in found:
        if not isinstance(part, TopKResult):
            kind = type(part).__name__
            raise TypeError(f"merge takes results of top_k_eval, not {kind}")
    if not found:
        raise ValueError("merge: there is no part: give at least one result")
    return merged(found, disjoint)
