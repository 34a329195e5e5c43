"""Assertions for the tests of a model: a new result must not be worse than its base.

>>> import toplist as tl
>>> truth = {user: {user % 7} for user in range(1000)}
>>> lists = {user: [(user * user + i) % 7 for i in range(5)] for user in truth}
>>> base = tl.top_k_eval(lists, truth, k=5, metrics="ndcg")      # tl.TopKResult.load("base.npz")
>>> new = tl.top_k_eval({**lists, 7: [1, 2, 3, 4, 5]}, truth, k=5, metrics="ndcg")
>>> tl.testing.assert_not_worse(new, base, "ndcg@5", margin=0.01)

What fails prints each verdict with its interval, as `toplist.gate` does, which has the methods.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from toplist.checks import choice
from toplist.comparing.contrasts import SameUsers
from toplist.comparing.gating import gate
from toplist.metrics.names import Names, listed
from toplist.results.result import TopKResult

Undecided = Literal["fail", "ok"]
UNDECIDED: tuple[Undecided, ...] = get_args(Undecided)

__all__ = ["assert_not_worse"]


def __dir__() -> list[str]:
    """List the public names."""
    return __all__


def assert_not_worse(
    new: TopKResult,
    base: TopKResult,
    names: Names,
    *,
    margin: float,
    undecided: Undecided = "fail",
    by: Any = None,
    level: float = 0.95,
    users: SameUsers = "same",
    clusters: Any = None,
) -> None:
    """Raise AssertionError unless a new result is not worse than its base.

    Parameters
    ----------
    new, base : TopKResult
        Over the same users and ground truths, by the same rules.
    names : str or several
        ``"ndcg@10"``.
    margin : float
        Above 0: the loss in each of them that does not matter.
    undecided : {"fail", "ok"}
        Whether too few users to decide fail the test.
    by, level, users, clusters
        As in `toplist.gate`.

    Raises
    ------
    AssertionError
        If it is worse, or undecided; the message is the printed result of `toplist.gate`.
    TypeError, ValueError
        For results that cannot be compared.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = {user: {user % 7} for user in range(500)}
    >>> base = tl.top_k_eval({user: [user % 7] for user in truth}, truth, metrics="mrr@5")
    >>> new = tl.top_k_eval({user: [7, user % 7] for user in truth}, truth, metrics="mrr@5")
    >>> assert_not_worse(new, base, "mrr@5", margin=0.005)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: mrr@5 -0.5000: worse than -0.005 (p <0.001, one-sided, by a bound of ...
    """
    __tracebackhide__ = True
    choice("undecided", undecided, UNDECIDED)
    margins = dict.fromkeys(listed(names), margin)
    how: dict[str, Any] = {"by": by, "level": level, "users": users, "clusters": clusters}
    found = gate(new, base, margins, **how)
    if not found.passed and (found.verdict == "worse" or undecided == "fail"):
        raise AssertionError(found.to_text())
