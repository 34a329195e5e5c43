"""How alike two sets of ranked lists are: overlap at every depth, and rank-biased overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.averages.moments import normal
from toplist.beyond.indexing import Listed, rows_by_user, together
from toplist.beyond.results import Spread
from toplist.checks import Floats, Ints, cached, choice, counted, prefixed
from toplist.inputs.keyed import counts_rows, is_series
from toplist.inputs.lists import first_repeat, name_user
from toplist.inputs.options import Reading
from toplist.stats.distributions import normal_ppf

OverlapDivisor = Literal["k", "union"]
DIVISORS: tuple[OverlapDivisor, ...] = get_args(OverlapDivisor)
# What the two sides are called in messages.
SIDES = ("a", "b")
# Writes a block: of how many items both lists hold, and any, and both lengths, (users, K) or
# (users,), into an array (users, K).
Fill = Callable[[NDArray[np.int32], NDArray[np.int32], Ints, Ints, Floats], None]


@dataclass(frozen=True, eq=False)
class Agreement:
    """How alike two lists of each user are, at every k; made by `overlap` and `rbo`.

    Two parts over different users, of one measure and one k, can be added.

    Attributes
    ----------
    name : str
        The measure, as in ``"rbo(p=0.9)"``.
    values : (n_users, K) float64
        A row per user who is in both sets, in the order of the first; NaN where both lists are
        empty.
    users : list or None
        The users of keyed lists.
    only_a, only_b : int
        How many users of keyed lists are in one set only: they have no row.
    single : bool
        Whether one user was given bare.
    note : str
        What is added when it is printed.

    Examples
    --------
    >>> found = overlap({"ann": [1, 2], "bob": [3, 4]}, {"bob": [4, 3], "eve": [5]})
    >>> found
    overlap of 1 user (1 only in a, 1 only in b): mean 1.0000 at k=2
    >>> found.users, found.per_user.tolist(), found.mean.tolist()
    (['bob'], [[0.0, 1.0]], [0.0, 1.0])
    """

    name: str
    values: Floats
    users: list[Any] | None = None
    only_a: int = 0
    only_b: int = 0
    single: bool = False
    note: str = ""

    @property
    def per_user(self) -> Floats:
        """The value of every user at every k, (n_users, K); (K,) of one bare user."""
        return self.values[0] if self.single else self.values

    @property
    def k(self) -> int:
        """The largest k."""
        return int(self.values.shape[1])

    @property
    def n_users(self) -> int:
        """How many users are in both sets."""
        return len(self.values)

    @property
    def n_evaluated(self) -> int:
        """How many of them have a value: an item in any of their two lists."""
        return self._spread.n

    @property
    def mean(self) -> Floats:
        """The mean over the users who have a value, (K,); NaN where none has."""
        return self._spread.mean

    @property
    def std(self) -> Floats:
        """The standard deviation over users (ddof = 1), (K,); NaN for fewer than two."""
        return self._spread.std

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of a confidence interval of the mean, mean ± z std / √n, within [0, 1].

        Examples
        --------
        >>> low, high = overlap([[1], [2], [3]], [[1], [2], [4]]).interval()
        >>> low.round(4).tolist(), high.tolist()
        ([0.0133], [1.0])
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, not {level!r}")
        z = normal_ppf((1 + level) / 2)
        return normal(self.mean, self._spread.error, z, within_one=True)

    def __add__(self, other: Agreement) -> Agreement:
        """Return both sets of users; those in one set of lists only are added up.

        Raises
        ------
        ValueError
            For two measures, another k, lists by key beside lists by position, or a user twice.
        """
        if not isinstance(other, Agreement):
            return NotImplemented
        if (self.name, self.k) != (other.name, other.k):
            raise ValueError(
                f"{self.name} read to k={self.k} and {other.name} to k={other.k} do not merge"
            )
        if (self.users is None) != (other.users is None):
            raise ValueError("users by key and users by position do not merge")
        users = None
        if self.users is not None and other.users is not None:
            users = self.users + other.users
            _check_unique(users, "merging")
        values = np.concatenate([self.values, other.values])
        only = self.only_a + other.only_a, self.only_b + other.only_b
        return Agreement(self.name, values, users, *only, note=self.note)

    def __radd__(self, other: Any) -> Agreement:
        """Let ``sum(parts)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        """Return the measure, who was compared, and the mean at the largest k."""
        empty = self.n_users - self.n_evaluated
        counts = [(self.only_a, "only in a"), (self.only_b, "only in b"), (empty, "without lists")]
        left_out = ", ".join(f"{n:,} {what}" for n, what in counts if n)
        mean = f"mean {self.mean[-1]:.4f} at k={self.k}" if self.k else "no list holds an item"
        who = counted(self.n_users, "user") + (f" ({left_out})" if left_out else "")
        return f"{self.name} of {who}: {mean}{self.note}"

    @cached
    def _spread(self) -> Spread:
        """The mean over users at every k."""
        return Spread.of(self.values)


def overlap(
    a: Any,
    b: Any,
    k: int | None = None,
    *,
    divisor: OverlapDivisor = "k",
    **reading: Unpack[Reading],
) -> Agreement:
    """Return the share of items that two lists of each user have in common, at every k.

        overlap@k of a user = |A_k and B_k| / k,  A_k: the first k items of the user's list in a

    (The agreement at depth k of Webber, Moffat, Zobel 2010; precision@k of one list, read as the
    truth of the other.) Past the end of a short list the places are misses, as for precision: two
    equal lists of 3 items overlap by 3/5 at k=5. ``divisor="union"`` is Jaccard's index,
    ``|A_k and B_k| / |A_k or B_k|`` (Jaccard 1901), which is 1 for equal lists of any length.

    Parameters
    ----------
    a, b : ranked lists of ids
        Each in every form that `toplist.match` takes for ranks: both by position, or both keyed
        by user (a dict, a Series, a table). Keyed ones are matched by key, and the users of one
        of them only are counted.
    k : int, optional
        The largest k wanted; default the longest list. May exceed every list.
    divisor : {"k", "union"}
        k, or the number of items in any of both lists within k.
    **reading
        duplicates ("first": later places of an item count for nothing), padding, columns (of both
        tables), n_threads, items_as: as in `toplist.beyond.exposure`.

    Returns
    -------
    Agreement
        The mean at every k, and the values of every user; NaN where both lists are empty, 0 where
        one is.

    Raises
    ------
    TypeError
        As `toplist.beyond.exposure`; and if one of both is keyed by user only.
    ValueError
        As `toplist.beyond.exposure`; and for another number of lists by position, no user in
        both, or a user twice.

    Examples
    --------
    >>> overlap([1, 2, 3], [2, 1, 9], k=5).per_user.round(4).tolist()
    [0.0, 1.0, 0.6667, 0.5, 0.4]
    >>> overlap([1, 2, 3], [2, 1, 9], divisor="union").per_user.tolist()
    [0.0, 1.0, 0.5]
    """
    choice("divisor", divisor, DIVISORS)

    def fill(shared: Any, union: Any, short: Ints, long: Ints, out: Floats) -> None:
        below = union if divisor == "union" else np.arange(1, out.shape[1] + 1)
        with np.errstate(invalid="ignore"):  # 0 / 0 of two empty lists
            np.divide(shared, below, out=out)
        out[long == 0] = np.nan

    return _compared("jaccard" if divisor == "union" else "overlap", a, b, k, reading, fill)


def rbo(
    a: Any,
    b: Any,
    p: float = 0.9,
    k: int | None = None,
    **reading: Unpack[Reading],
) -> Agreement:
    """Return the rank-biased overlap of two lists of each user, cut at every k.

        rbo = (1 - p) * sum over depths d = 1, 2, ... of p^(d-1) |A_d and B_d| / d

    (Webber, Moffat, Zobel 2010, "A similarity measure for indefinite rankings", ACM TOIS 28(4),
    equation 4.) What stands below the ends of the lists is not known: this is the value if the
    lists go on as they are down to their ends (RBO_ext, equation 32, for lists of different
    lengths). With s and l the lengths of the shorter and the longer list within k,
    ``X_d = |A_d and B_d|``::

        rbo = (1-p)/p (sum_{d=1..l} X_d/d p^d + sum_{d=s+1..l} X_s (d-s)/(s d) p^d)
              + ((X_l - X_s)/l + X_s/s) p^l

    p says how deep one looks: at every rank, one goes on to the next with probability p. The first
    d ranks carry the weight 1 - p^(d-1) + d (1-p)/p (-ln(1-p) - sum_{i<d} p^i/i) (equation 21):
    the first 10 ranks 86 % with p=0.9, the first 50 ranks 85 % with p=0.98. Printed, the result
    says it for k.

    Parameters
    ----------
    a, b, k, **reading
        As in `overlap`. Lists of ids have no ties.
    p : float
        Above 0 and below 1.

    Returns
    -------
    Agreement
        At k, of both lists cut there; past the end of the longer list the value stays. Equal lists
        have 1 exactly, lists without a common item 0. NaN where both lists are empty, 0 where
        one is.

    Raises
    ------
    TypeError, ValueError
        As `overlap`; and for p that is not between 0 and 1.

    Examples
    --------
    >>> found = rbo([["a", "b", "c"]], [["b", "a", "c"]], p=0.9)
    >>> found
    rbo(p=0.9) of 1 user: mean 0.9000 at k=3; the first 3 ranks carry 52 % of the weight
    >>> found.per_user.round(4).tolist()
    [[0.0, 0.9, 0.9]]
    """
    if isinstance(p, bool) or not (isinstance(p, (int, float, np.floating)) and 0 < p < 1):
        raise ValueError(f"rbo: p = {p!r} must be a number above 0 and below 1")
    p = float(p)

    def fill(shared: Any, union: Any, short: Ints, long: Ints, out: Floats) -> None:
        with np.errstate(under="ignore"):
            powers = np.concatenate([[1.0], p ** np.arange(1.0, out.shape[1] + 1)])
        kernels.lists.extrapolated(shared, short, long, powers, p, out)

    found = _compared(f"rbo(p={p})", a, b, k, reading, fill)
    weight = _weight(p, found.k)
    ranks = "rank carries" if found.k == 1 else f"{found.k} ranks carry"
    return replace(found, note=f"; the first {ranks} {weight:.0%} of the weight".replace("%", " %"))


def _weight(p: float, d: int) -> float:
    """Return the weight of the first d ranks in the rank-biased overlap.

    Webber, Moffat, Zobel 2010, equation 21.

    Examples
    --------
    >>> round(_weight(0.9, 10), 4), round(_weight(0.98, 50), 4)
    (0.8556, 0.8522)
    """
    if d == 0:
        return 0.0
    ranks = np.arange(1.0, d)
    with np.errstate(under="ignore"):
        tail = max(-np.log1p(-p) - (p**ranks / ranks).sum(), 0.0)
        return float(1 - p ** (d - 1) + (1 - p) / p * d * tail)


def _compared(name: str, a: Any, b: Any, k: int | None, how: Reading, fill: Fill) -> Agreement:
    """Compare two sets of lists, user by user."""
    lists = [_read(one, side, k, how) for one, side in zip((a, b), SIDES, strict=True)]
    rows, only = _matched(*lists)
    both, single, users = together(*lists), lists[0].single, lists[0].users
    depth = max(one.depth for one in both)
    out = np.empty((len(rows[0]), depth))
    sides = [
        (one.codes, one.flat.offsets[:-1][at], one.flat.lengths[at])
        for one, at in zip(both, rows, strict=True)
    ]

    def write(lo: int, hi: int) -> None:
        part = [(codes, starts[lo:hi], lengths[lo:hi]) for codes, starts, lengths in sides]
        seen = np.full(both[0].n_items, -1, np.int32)
        shared, union = np.empty((2, hi - lo, depth), np.int32)
        kernels.lists.count_shared(*part[0], *part[1], seen, shared, union)
        lengths = part[0][2], part[1][2]
        fill(shared, union, np.minimum(*lengths), np.maximum(*lengths), out[lo:hi])

    bounds = parallel.bounds(np.arange(len(out) + 1) * depth) if depth else []
    parallel.each(write, bounds, how.get("n_threads"))
    known = None if users is None else [users[row] for row in rows[0]]
    return Agreement(name, out, known, *only, single=single)


def _read(lists: Any, side: str, k: int | None, how: Reading) -> Listed:
    """Read one of both sides; an error names it."""
    if is_series(lists) and counts_rows(lists.index):  # which has positions
        lists = lists.to_list()
    try:
        return Listed.of(lists, k, how, side)
    except (TypeError, ValueError) as error:
        raise (
            error if str(error).startswith(f"{side}: ") else prefixed(f"{side}: ", error)
        ) from None


def _matched(a: Listed, b: Listed) -> tuple[tuple[Ints, Ints], tuple[int, int]]:
    """Return the rows of the users in both, in the order of `a`, and how many are in one only."""
    for one, other in ((a, b), (b, a)):
        name, beside = one.flat.side, other.flat.side
        if one.users is not None:
            _check_unique(one.users, name)
        elif one.single and not other.single and other.users is None:
            raise TypeError(
                f"{name} is one user's list, {beside} holds lists of many users: give "
                f"[{name}], or one list of {beside}"
            )
    rows = rows_by_user(b.flat, a.flat.side, a.users, len(a))
    of_a = np.flatnonzero(rows >= 0)
    n = len(of_a)
    return (of_a, rows[of_a]), (len(a) - n, len(b) - n)


def _check_unique(users: Sequence[Any], side: str) -> None:
    """Raise ValueError for a user who is there twice."""
    if (twice := first_repeat(users)) is not None:
        who = name_user(users, twice[1])
        raise ValueError(f"{side}: {who} is there twice: a user has one list")
