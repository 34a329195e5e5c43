"""The door: every accepted form of ranked lists and ground truths, user by user.

What an argument means is decided by its type, never by its length or its values:

- a *container* is a list, tuple, range or 1-D array, for ground truths also a set or a
  dict item -> grade;
- an id is never a container; strings and bytes are ids;
- a container of containers, a 2-D array or `Lists` holds many users, a mapping keys them.

The ids themselves go through `toplist.ids`. Behind the door nothing is validated again, except
for repeats in a list, which the join finds on its way.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from toplist import grades
from toplist.admitted import Admitted
from toplist.checks import whole
from toplist.columns import is_frame
from toplist.flat import Flat
from toplist.frames import admit_tables
from toplist.grades import STANDARD, Grading
from toplist.ids import encode
from toplist.lists import Lists

CONTAINERS = (list, tuple, range)


def admit(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    padding: Any = None,
    grading: Grading = STANDARD,
    columns: Mapping[str, str] | None = None,
    hashing: bool = True,
) -> Admitted:
    """Recognise, align and encode the two sides of an evaluation.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted, or a mapping on one side only.
    ValueError
        For a bad `k`, sides of different length or without a common user, misplaced padding.
    """
    if k is not None:
        k = whole(k, "k")
    if is_frame(ranks) or is_frame(ground_truths):
        return admit_tables(ranks, ground_truths, k, grading, columns)
    users, rank_rows, truth_rows, single, n_extra = _arrange(ranks, ground_truths)
    if padding is not None and isinstance(truth_rows, list):
        # a set has no end for padding to stand at
        truth_rows = [
            row - {padding} if isinstance(row, (set, frozenset)) else row for row in truth_rows
        ]
    ranked = _flatten(rank_rows, k, "ranks")
    truth = _flatten(truth_rows, None, "ground_truths")
    if len(ranked.lengths) != len(truth.lengths):
        raise ValueError(
            f"{len(ranked.lengths)} ranked lists but {len(truth.lengths)} ground truths: "
            "lists by position need one ground truth each"
        )
    encoded = encode(ranked, truth, padding, users, hashing)
    relevant = grades.apply(encoded.truth, truth, grading, users)
    depth = int(encoded.lengths.max(initial=0)) if k is None else k
    return Admitted(
        encoded.ranked,
        encoded.lengths,
        relevant,
        grading,
        depth,
        users,
        single,
        n_extra,
        (ranked, truth),
        encoded.hashed,
    )


def admit_ranks(ranks: Any, k: int | None = None) -> tuple[list[Any] | None, Flat, bool]:
    """Recognise ranked lists that come without a ground truth.

    Returns
    -------
    users
        The keys of keyed inputs, else None.
    flat
        The lists cut at `k`, not yet encoded.
    single
        Whether one user was given bare.
    """
    _refuse(ranks, ())
    if isinstance(ranks, Mapping):
        users, rows, *_ = _by_key(ranks, dict.fromkeys(ranks, ()))
        return users, _flatten(rows, k, "ranks"), False
    single = not _holds_many(ranks, ())
    return None, _flatten([ranks] if single else ranks, k, "ranks"), single


def _arrange(ranks: Any, truths: Any) -> tuple[list[Any] | None, Any, Any, bool, int]:
    """Return (users, rank rows, truth rows, one bare user?, users of ranks only)."""
    _refuse(ranks, truths)
    if isinstance(ranks, Mapping):
        if not isinstance(truths, Mapping):
            raise TypeError(
                "ranks is keyed by user, ground_truths is not: give both as dicts, "
                "or both by position"
            )
        return _by_key(ranks, truths)
    if _holds_many(ranks, truths):
        return None, ranks, _truths_of_many(truths), False, 0
    if isinstance(truths, (Lists, np.ndarray)) and not _is_container(truths):
        raise TypeError(
            f"ranks is one user's list, ground_truths is {_shape(truths)}: give that user's ids"
        )
    if isinstance(truths, (list, tuple)) and truths and _is_truth_container(truths[0]):
        raise TypeError(
            f"ranks is one user's list of ids, ground_truths holds a {type(truths[0]).__name__}, "
            "as for many users: give [ranks], or that user's ids"
        )
    return None, [ranks], [truths if _is_truth_container(truths) else [truths]], True, 0


def _refuse(ranks: Any, truths: Any) -> None:
    """Raise for what can be no ranked list, or no ground truth."""
    if ranks is None or truths is None:
        missing = "ranks" if ranks is None else "ground_truths"
        raise TypeError(f"{missing} is missing: give ranked lists and ground truths, or a Hits")
    if isinstance(ranks, (Set, str, bytes)):
        raise TypeError(
            f"ranks is a {type(ranks).__name__}, which has no ranking: are the arguments swapped?"
        )
    for side, value in (("ranks", ranks), ("ground_truths", truths)):
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{side} is a masked array: fill it, and name the filling as padding")
        if isinstance(value, Iterator):
            raise TypeError(f"{side} is a {type(value).__name__}, read once only: make it a list")
    if not isinstance(ranks, (Mapping, Lists, np.ndarray, *CONTAINERS)):
        raise TypeError(
            f"ranks is a {type(ranks).__name__}: give a list of item ids, a list of lists, "
            "a dict user -> list, a 2-D array of ids, a table, or Lists"
            + (" (.tolist() or .to_dict() makes one)" if hasattr(ranks, "to_dict") else "")
        )


def _by_key(
    ranks: Mapping[Any, Any], truths: Mapping[Any, Any]
) -> tuple[list[Any], list[Any], list[Any], bool, int]:
    users = list(truths)
    n_common = sum(user in ranks for user in users)
    if ranks and truths and not n_common:
        raise ValueError(
            f"no user is in both: ranks has {next(iter(ranks))!r}, ground_truths has {users[0]!r} "
            "(a number and its text are two keys)"
        )
    for user, row in ranks.items():
        if not _is_container(row):
            raise TypeError(
                f"user {user!r}: the ranked list is a {type(row).__name__}, not a list of ids"
                + _swapped(row)
            )
    bare = [row if _is_truth_container(row) else [row] for row in truths.values()]
    return users, [ranks.get(user, ()) for user in users], bare, False, len(ranks) - n_common


def _holds_many(ranks: Any, truths: Any) -> bool:
    if isinstance(ranks, Lists):
        return True
    if isinstance(ranks, np.ndarray):
        if ranks.ndim == 1 and ranks.dtype == object and len(ranks):
            return _is_container(ranks[0])
        if ranks.ndim not in (1, 2):
            raise TypeError(f"ranks is {_shape(ranks)}: give 1-D or 2-D")
        return ranks.ndim == 2
    if len(ranks) == 0:  # one user without a list, or no user at all: the truth tells
        return isinstance(truths, Lists) or (
            truths.ndim == 2
            if isinstance(truths, np.ndarray)
            else isinstance(truths, CONTAINERS) and (not truths or _is_truth_container(truths[0]))
        )
    return _is_container(ranks[0]) or isinstance(ranks[0], (Set, Mapping))


def _truths_of_many(truths: Any) -> Any:
    if isinstance(truths, Mapping):
        raise TypeError(
            "ground_truths is keyed by user, ranks is not: give both as dicts or both by position"
        )
    if isinstance(truths, Lists) or (isinstance(truths, np.ndarray) and truths.ndim in (1, 2)):
        return truths
    if isinstance(truths, np.ndarray):
        raise TypeError(f"ground_truths is {_shape(truths)}: give 1-D or 2-D")
    if not isinstance(truths, (list, tuple)):
        raise TypeError(
            f"ranks holds many users, ground_truths is one {type(truths).__name__}: "
            "give one ground truth per user"
        )
    # by their types, of which there are few, not one by one: 15 ns per listed id less
    bare = {kind: not _truth_type(kind) for kind in set(map(type, truths))}
    if all(bare.values()):
        return [[row] for row in truths]
    if any(bare.values()):
        first = bare[type(truths[0])]
        user = next(u for u, row in enumerate(truths) if bare[type(row)] != first)
        raise TypeError(
            f"ground_truths mixes containers and bare ids: user 0 has {truths[0]!r}, "
            f"user {user} has {truths[user]!r}"
        )
    return truths


def _shape(value: Any) -> str:
    if isinstance(value, Lists):
        return f"Lists of {len(value)} users"
    return f"an array of {value.ndim} dimensions"


def _is_container(value: Any) -> bool:
    return isinstance(value, CONTAINERS) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _is_truth_container(value: Any) -> bool:
    return _is_container(value) or isinstance(value, (Set, Mapping))


def _truth_type(kind: type) -> bool:
    """Return whether a type holds relevant ids; the shape of arrays is looked at later."""
    return issubclass(kind, (*CONTAINERS, np.ndarray, Set, Mapping))


def _swapped(row: Any) -> str:
    return " (are the arguments swapped?)" if isinstance(row, (Set, Mapping)) else ""


def _flatten(rows: Any, depth: int | None, side: str) -> Flat:
    """Bring the rows of one side into one flat run of ids, each list cut at `depth`."""
    if isinstance(rows, Lists):
        flat = Flat(side, rows.items, rows.offsets, np.diff(rows.offsets), rows.gains)
    elif isinstance(rows, np.ndarray) and rows.dtype == object:
        return _flatten([row if _is_container(row) else [row] for row in rows], depth, side)
    elif isinstance(rows, np.ndarray):
        width = rows.shape[1] if rows.ndim == 2 else 1
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * width
        flat = Flat(
            side, np.ascontiguousarray(rows).reshape(-1), offsets, np.full(len(rows), width)
        )
    else:
        return _flatten_rows(rows, depth, side)
    return flat if depth is None else flat.cut(depth)


def _flatten_rows(rows: Sequence[Any], depth: int | None, side: str) -> Flat:
    accepted = _is_container if side == "ranks" else _is_truth_container
    known = CONTAINERS if side == "ranks" else (*CONTAINERS, set, frozenset, dict)
    if not all(issubclass(kind, known) for kind in set(map(type, rows))):
        for user, row in enumerate(rows):
            if not accepted(row):
                raise TypeError(
                    f"{side}: user {user} has {row!r} where a container of ids belongs"
                    + _swapped(row)
                )
    if depth is not None:
        rows = [row if len(row) <= depth else row[:depth] for row in rows]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if rows and all(type(row) is np.ndarray for row in rows):
        filled = [row for row in rows if len(row)]  # numpy makes an empty list one of floats
        if len({row.dtype.kind for row in filled}) == 1:  # else 1 and True, or "1", would mix
            return Flat(side, np.concatenate(filled), offsets, lengths)
    as_lists = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    return Flat(side, as_lists, offsets, lengths, grades.of_rows(rows))
