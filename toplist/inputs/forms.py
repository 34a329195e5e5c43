"""Read ranked lists and ground truths in every accepted form, as lists that can be joined.

What an argument means is decided by its type, never by its length or its values:

- a *container* is a list, tuple, range or 1-D array, for ground truths also a set or a
  dict item -> grade;
- an id is never a container; strings and bytes are ids;
- a container of containers, a 2-D array or `Lists` holds many users, a mapping keys them;
- two arrays of one shape, one of integers and one of floats, are a pair (ids, scores);
- an object of a library that `toplist.inputs.objects` knows is what its own methods make of it.

The ids themselves are read by `toplist.inputs.ids`. What is returned is validated, except for
repeats in a list: the join finds these.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np

from toplist.checks import no_mask
from toplist.inputs.ids import check_width, encode, integers_of, shaped, two_kinds, unpadded
from toplist.inputs.keyed import (
    CountedItems,
    KeptTruths,
    beside,
    check_not_counted,
    is_series,
    keys_of,
    no_common_user,
    no_truths,
)
from toplist.inputs.lists import (
    CONTAINERS,
    Flat,
    Lists,
    described,
    flatten,
    in_containers,
    is_container,
    is_frame,
    is_truth_container,
    offsets_of,
)
from toplist.inputs.objects import (
    Ordering,
    array,
    check_not_swapped,
    is_row,
    is_tensor,
    to_builtin,
    unscored,
)
from toplist.inputs.options import MEMORY, ColumnNames, Joining, Options, Ranks, of_source
from toplist.inputs.truths import Groups

PLAINLY = Joining()


def read_sides(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    joining: Joining = PLAINLY,
    hashing: bool = True,
) -> tuple[Flat, Flat, int, bool]:
    """Validate, align and encode the two sides of an evaluation: the input of the join.

    Lists are cut at `k`, and what else becomes of them says `joining`, whose `items_as` is an
    `ItemMap`. Without `hashing`, strings of lists are numbered: two of them share a hash.

    Returns
    -------
    ranked, truth
        Lists of the same users, a row per user of the truth; without padding.
    n_extra
        How many users have a list alone.
    single
        Whether one user was given bare.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted, or a mapping on one side only.
    ValueError
        For sides of different length or without a common user, misplaced padding.
    """
    kept = ground_truths if isinstance(ground_truths, KeptTruths) else None
    truths = to_builtin(ground_truths, "ground_truths") if kept is None else kept.rows
    ranks, truths = beside(to_builtin(ranks, "ranks"), truths)
    if isinstance(ranks, Mapping) and isinstance(truths, Mapping) and not _are_ids(ranks):
        check_not_swapped(ranks, truths)
    padding, items_as = joining.padding, joining.items_as
    depth = None if joining.collapses else k
    hashing = hashing and not joining.collapses and padding is None and items_as is None
    ranks = side_to_builtin(ranks, "ranks", (depth, padding, joining.ties, hashing))
    if kept is None:
        truths = side_to_builtin(truths, "ground_truths")
    tied = getattr(ranks, "scored", None) if isinstance(ranks, Mapping) else None
    single, n_extra = False, 0
    users: Any = None
    tables = any(is_frame(side) or isinstance(side, Flat) for side in (ranks, truths))
    if tables or isinstance(ranks, Mapping):
        _refuse_users(joining.users, ranks, truths)
    if tables:
        from toplist.inputs.tables import read_tables  # a quarter of the import of toplist

        ranked, truth, n_extra = read_tables(ranks, kept or truths, joining)
    else:
        _refuse(ranks, truths)
        if isinstance(ranks, Mapping):
            if not isinstance(truths, Mapping):
                raise TypeError(
                    "ranks is keyed by user, ground_truths is not: give both as dicts, or both by "
                    "position; dict(zip(USERS, ground_truths)) names the users"
                )
            check_not_counted("ranks", ranks, "ground_truths", truths)
            check_not_counted("ground_truths", truths, "ranks", ranks)
            check_users(ranks, "ranks")
            if kept is None:  # else they were checked when they were read
                check_users(truths, "ground_truths")
            users = list(truths) if kept is None else kept.users
            n_common = sum(map(ranks.__contains__, users))
            if ranks and not n_common:
                listed = next(iter(ranks))
                raise no_common_user(listed, users[0]) if users else no_truths(listed)
            rows, n_extra = [ranks.get(user, ()) for user in users], len(ranks) - n_common
        else:
            rows, truths, single = _by_position(ranks, truths, kept)
            users = None if joining.users is None else keys_of(joining.users, len(rows))
        if kept is not None:
            truth = kept.flat if padding is None else kept.flattened(padding)
        else:
            if isinstance(truths, Mapping):
                truths = in_containers(truths.values())
            truth = flatten(truths, None, "ground_truths", padding, users)
        ranked = flatten(rows, depth, "ranks", users=users)
        if len(ranked.lengths) != len(truth.lengths):
            raise ValueError(
                f"{len(ranked.lengths)} ranked lists but {len(truth.lengths)} ground truths: "
                "lists by position need one ground truth each"
            )
        if items_as is not None:
            ranked, truth = items_as.sides(ranked, truth, padding)
        else:
            ranked, truth = encode(ranked, truth, hashing)
    ranked = ranked if tied is None else replace(ranked, scored=tied)
    ranked = shaped(ranked, k, joining)
    return ranked, truth if items_as is not None else unpadded(truth, padding), n_extra, single


def are_queries(ranks: Any, truths: Any) -> bool:
    """Whether the forms of both sides are those of queries: of ranx, or {query: {id: number}}.

    Examples
    --------
    >>> are_queries({"q1": {"d7": 0.5}}, {"q1": {"d7": 2}}), are_queries([[1]], [{1: 2}])
    (True, False)
    """
    if isinstance(ranks, dict) and isinstance(getattr(truths, "rows", truths), dict):
        rows = ranks, getattr(truths, "rows", truths)
        return all(isinstance(next(iter(side.values()), None), dict) for side in rows)
    return type(ranks).__module__.partition(".")[0] == "ranx"


def read_ranks(
    ranks: Any, k: int | None = None, columns: ColumnNames = None, padding: Any = None
) -> tuple[Flat, bool]:
    """Read ranked lists, or `Ranks`, without a ground truth; `padding` is known, not dropped.

    Returns
    -------
    flat
        The lists cut at `k`, not yet encoded.
    single
        Whether one user was given bare.
    """
    users, ties = None, "order"
    if isinstance(ranks, Ranks):
        ranks, said = of_source(ranks, columns)
        options = Options(**said)
        options.check(MEMORY)
        users, ties, columns = options.users, options.joining.ties, options.columns
    ranks = side_to_builtin(ranks, "ranks", (k, padding, ties))
    if is_frame(ranks) or isinstance(ranks, (Flat, Mapping)):
        _refuse_users(users, ranks)
    if is_frame(ranks) or isinstance(ranks, Flat):
        from toplist.inputs.tables import lists_of

        lists = lists_of(ranks, "ranks", columns, ties)
        flat = replace(lists, users=lists.keys)
        return flat if k is None else flat.cut(k), False
    _refuse(ranks, ())
    if isinstance(ranks, Mapping):
        check_users(ranks, "ranks")
        return flatten([*ranks.values()], k, "ranks", users=[*ranks]), False
    single = not _holds_many(ranks, ())
    rows = [ranks] if single else ranks
    keys = None if users is None else keys_of(users, len(rows))
    return flatten(rows, k, "ranks", users=keys), single


def read_once(
    ranks: Any, k: int | None, columns: ColumnNames = None, ties: str = "order", padding: Any = None
) -> Any:
    """Return ranked lists in a form that is fast to read again: for the join, and for list metrics.

    A table becomes `Flat`, Python lists of integers `Lists`, cut at `k`. Everything else is
    returned unchanged: arrays are read as they are, dicts and text are read by each reader. Of a
    pandas Series the scored rows become lists: by position or key, the truth decides.
    """
    ordering = k, padding, ties
    if is_series(ranks):
        rows = list(ranks)
        if not rows or not is_truth_container(rows[0]) or not ranks.index.is_unique:
            return ranks
        # equal scores are ordered here: nothing that reads the lists later knows how
        keyed = dict(zip(ranks.index, rows, strict=True))
        lists = [*side_to_builtin(keyed, "ranks", ordering).values()]
        same = all(map(operator.is_, lists, rows))
        return ranks if same else type(ranks)(lists, index=ranks.index)
    ranks = side_to_builtin(ranks, "ranks", ordering)
    if is_frame(ranks) or isinstance(ranks, Flat):
        from toplist.inputs.tables import lists_of

        return lists_of(ranks, "ranks", columns, ties)
    if not (isinstance(ranks, (list, tuple)) and ranks and _holds_many(ranks, ())):
        return ranks
    flat = flatten(ranks, k, "ranks")
    items = integers_of(flat)
    return ranks if items is None else Lists(offsets_of(flat.lengths), items)


def _refuse(ranks: Any, truths: Any) -> None:
    """Raise for what can be no ranked list, or no ground truth."""
    if ranks is None or truths is None:
        missing = "ranks" if ranks is None else "ground_truths"
        raise TypeError(f"{missing} is missing: give ranked lists and ground truths, or a Hits")
    text = isinstance(ranks, str) and (os.path.splitext(ranks)[1] or os.path.exists(ranks))
    if text or isinstance(ranks, os.PathLike):
        first = repr(os.fspath(ranks))
        second = repr(os.fspath(truths)) if isinstance(truths, (str, os.PathLike)) else "..."
        raise TypeError(
            f"ranks looks like a path: for files, toplist.top_k_eval({first}, {second}, k=10)"
        )
    if isinstance(truths, os.PathLike) or (isinstance(truths, str) and os.path.isfile(truths)):
        path = repr(os.fspath(truths))  # a text of truths may be an id
        item = f"; [{path}] where it is an item" if isinstance(truths, str) else ""
        raise TypeError(
            "ground_truths looks like a path: beside lists in memory, toplist.top_k_eval(ranks, "
            f"pathlib.Path({path}), k=10){item}"
        )
    kind = type(ranks).__name__
    if isinstance(ranks, (Set, str, bytes)):
        raise TypeError(f"ranks is a {kind}, which has no ranking: are the arguments swapped?")
    for side, value in (("ranks", ranks), ("ground_truths", truths)):
        no_mask(value, side, "fill it, and name the filling as padding")
        if isinstance(value, Iterator):
            raise TypeError(f"{side} is a {type(value).__name__}, read once only: make it a list")
        if hasattr(value, "collect"):
            raise TypeError(
                f"{side} is a {type(value).__name__}: {side}.collect() makes a table of it"
            )
    if not isinstance(ranks, (Mapping, Lists, np.ndarray, *CONTAINERS)):
        raise TypeError(
            f"ranks is a {kind}: give a list of item ids, a list of lists, a dict user -> list, "
            "a 2-D array of ids, a table, or Lists"
        )


def _refuse_users(users: Any, *sides: Any) -> None:
    """Raise TypeError for `users=` beside lists that have keys."""
    if users is not None:
        tables = any(is_frame(side) or isinstance(side, Flat) for side in sides)
        raise TypeError(
            f"users= names the rows of lists by position, but here are "
            f"{'tables' if tables else 'dicts'}, which have keys of their own: leave it out, or "
            "where only one side has them name the other one's, dict(zip(USERS, ranks))"
        )


def _by_position(ranks: Any, truths: Any, kept: KeptTruths | None) -> tuple[Any, Any, bool]:
    """Return the rows of both sides, and whether they are of one user, who was given bare."""
    if kept is not None:
        if kept.users is not None and not isinstance(truths, CountedItems):
            raise TypeError(_ONE_BY_POSITION)
        if not _holds_many(ranks, kept.flat.lengths):
            raise TypeError(
                f"ranks is one user's list of ids, ground_truths is of {len(kept):,} users: give a "
                "list of lists"
            )
        return ranks, truths, False
    if _holds_many(ranks, truths):
        return ranks, truths_of_many(truths), False
    if isinstance(truths, (Lists, np.ndarray)) and not is_container(truths):
        raise TypeError(
            f"ranks is one user's list, ground_truths is {described(truths)}: give that user's ids"
        )
    if isinstance(truths, (list, tuple)) and truths and is_truth_container(truths[0]):
        raise TypeError(
            f"ranks is one user's list of ids, ground_truths holds a {type(truths[0]).__name__}, "
            "as for many users: give [ranks], or that user's ids"
        )
    return [ranks], [truths if is_truth_container(truths) else [truths]], True


def check_users(rows: Mapping[Any, Any], side: str) -> None:
    """Raise TypeError for users of two kinds, and for one of True or False, to Python 1 and 0.

    And ValueError for an integer that int64 does not hold.
    """
    kinds = set(map(type, rows))
    if kinds == {int}:
        check_width(rows, side)
    if bool in kinds:
        user = next(user for user in rows if type(user) is bool)
        raise TypeError(
            f"{side}: user {user} is a bool, and equal to {int(user)}: name users by integers "
            "or text"
        )
    if len(kinds) > 1:
        number = next((user for user in rows if isinstance(user, (int, np.integer))), None)
        text = next((user for user in rows if isinstance(user, str)), None)
        if number is not None and text is not None:
            way_out = "write all as one kind, for example {str(user): row for user, row in ...}"
            raise two_kinds(f"{side}: users", repr(number), repr(text), way_out)


def _holds_many(ranks: Any, truths: Any) -> bool:
    """Whether ranks by position are those of many users; of nothing at all, the truths decide."""
    if isinstance(ranks, Lists):
        return True
    if isinstance(ranks, np.ndarray) and (ranks.ndim != 1 or ranks.dtype != object):
        if ranks.ndim not in (1, 2):
            raise TypeError(f"ranks is {described(ranks)}: give 1-D or 2-D")
        return ranks.ndim == 2
    if len(ranks):
        return is_container(ranks[0]) or isinstance(ranks[0], (Set, Mapping))
    if isinstance(truths, np.ndarray):
        return truths.ndim == 2
    lists = isinstance(truths, CONTAINERS) and (not truths or is_truth_container(truths[0]))
    return lists or isinstance(truths, Lists)


_ONE_BY_POSITION = (
    "ground_truths is keyed by user, ranks is not: give both as dicts or both by position; "
    "dict(zip(USERS, ranks)) names the users of the lists, in their order"
)


def truths_of_many(truths: Any) -> Any:
    """Return ground truths by position as they can be flattened."""
    if isinstance(truths, Mapping):
        raise TypeError(_ONE_BY_POSITION)
    if isinstance(truths, Lists) or (isinstance(truths, np.ndarray) and truths.ndim in (1, 2)):
        return truths
    if isinstance(truths, np.ndarray):
        raise TypeError(f"ground_truths is {described(truths)}: give 1-D or 2-D")
    if not isinstance(truths, (list, tuple)):
        raise TypeError(
            f"ranks holds many users, ground_truths is one {type(truths).__name__}: "
            "give one ground truth per user"
        )
    # by their types, of which there are few, not one by one: 15 ns per listed id less
    accepted = (*CONTAINERS, np.ndarray, Set, Mapping)
    bare = {kind: not issubclass(kind, accepted) for kind in set(map(type, truths))}
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


def side_to_builtin(value: Any, side: str, ordering: tuple[Any, ...] = ()) -> Any:
    """Return one side of an evaluation as arrays, `Lists`, dicts or tables; others unchanged.

    Objects of known libraries are opened by `toplist.inputs.objects`. Series and Arrow arrays are
    read by `toplist.inputs.columns.column_to_builtin`, ranked lists that come with scores by
    `toplist.inputs.objects.unscored`, with its `Ordering`. A sparse matrix (ground truths only) is
    users x items.

    Raises
    ------
    TypeError
        For a sparse matrix of ranks, and a list of tables.
    """
    if isinstance(value, (list, tuple)) and any(map(is_frame, value[:1])):
        raise TypeError(
            f"{side} is a list of tables: give one table, or of record "
            "batches a reader, pyarrow.RecordBatchReader.from_batches(batches[0].schema, batches)"
        )
    value = to_builtin(value, side)
    if isinstance(value, Ranks):
        way = "give its lists, .ranks, here" if side == "ranks" else "that is for lists"
        raise TypeError(f"{side} is a Ranks: {way}; of ground truths, toplist.GroundTruths says it")
    if side == "ranks" and isinstance(value, Groups):
        raise TypeError("ranks is Groups, which have no ranking: are the arguments swapped?")
    if side == "ranks" and hasattr(value, "tocsr"):
        raise TypeError("ranks is a sparse matrix: scores enter by scores.top_k")
    if isinstance(value, Groups):
        value = value.rows
    elif hasattr(value, "tocsr"):  # before dict: scipy's dok is one
        value = Lists.from_matrix(value)
    elif isinstance(value, (list, tuple, dict)):
        rows = value.values() if isinstance(value, dict) else value
        first = next(iter(rows), None)
        if is_tensor(first) and is_row(first):  # of ids, not a single one
            arrays = [*map(array, rows)]
            value = dict(zip(value, arrays, strict=True)) if isinstance(value, dict) else arrays
    elif not (value is None or isinstance(value, (np.ndarray, Lists, Set, str, bytes, int))):
        from toplist.inputs import columns as cols  # a quarter of the import of toplist

        found = cols.column_to_builtin(value, side)
        value = array(value) if found is None else found
    if side != "ranks" or not isinstance(value, (list, tuple, Mapping)) or _are_ids(value):
        return value
    return unscored(value, Ordering(*ordering))


def _are_ids(ranks: Any) -> bool:
    """Whether ranks begin with ids, of one user or of many: a quick look, most are.

    Also where they are empty.
    """
    if not ranks:
        return True
    first = next(iter(ranks.values())) if isinstance(ranks, Mapping) else ranks[0]
    if type(first) is list and first:
        first = first[0]
    return type(first) is int or type(first) is str
