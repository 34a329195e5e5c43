"""Objects of other libraries, and lists with scores, read as tables, dicts and ranked lists.

None of these libraries is imported: who holds such an object has imported it. It is known by the
module that its class comes from. To add a library, write a reader and add it to `_READERS`.

Tensors are read where they lie (`array`). Search engines and models return ranked lists with scores
(`unscored`). A pair (ids, scores) is ranked already: its scores are only checked to fall. A dict
item -> score and a list of hits ``{"corpus_id": 7, "score": 0.5}`` are ranked by score, falling.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from toplist import kernels
from toplist.checks import about
from toplist.inputs.factorize import (
    EXACT,
    as_held,
    as_integers,
    by_value,
    comparable,
    places_by_id,
)
from toplist.inputs.lists import RankedDict, Scored, is_container, is_truth_container, offsets_of

# Floats that numpy has no type for: float32 holds every one of them exactly.
_NARROW = ("bfloat16", "float8")
# What implicit and faiss fill a list with, where fewer items are found.
FILLING = -1


def to_builtin(value: Any, name: str) -> Any:
    """Return an object of a known library as a table or dict; everything else unchanged.

    `name` is the argument, for messages.

    Raises
    ------
    TypeError
        For data that is spread over processes or not yet computed; the error names the way.
    """
    for kind in type(value).__mro__:
        reader = _READERS.get(kind.__module__.partition(".")[0])
        if reader is not None:
            return reader(value, name)
    return value


# What a connection of DuckDB needs, which has one open result at a time.
CURSORS = "give each side a cursor: con.cursor().sql(...)"


@contextmanager
def one_result_at_a_time(name: str) -> Iterator[None]:
    """Name the way out where a connection of DuckDB has an open result, of the other side mostly.

    Raises
    ------
    ValueError
        In place of DuckDB's own error.
    """
    try:
        yield
    except Exception as error:
        if "open result" not in str(error):
            raise
        way = f"{name}: a connection of DuckDB has one open result at a time: {CURSORS}"
        raise about(ValueError(way), path=name) from error


def _ranx(value: Any, name: str) -> Any:
    """Return a `Run` or `Qrels` as {query: {document: score or grade}}."""
    if not hasattr(value, "to_dict"):
        return value
    return {query: dict(row) for query, row in value.to_dict().items()}


def _lenskit(value: Any, name: str) -> Any:
    """Return an `ItemListCollection` as a table: a row per key, its items, ranks, ... in lists."""
    if hasattr(value, "ids") and hasattr(value, "ordered"):
        raise TypeError(
            f"{name} is an ItemList, of one user and without its key: give {name}.ids() for its "
            "items in their order, or an ItemListCollection"
        )
    if not hasattr(value, "to_arrow"):
        return value
    table = value.to_arrow()
    columns = {key: table.column(key) for key in table.column_names if key != "items"}
    lists = table.column("items").combine_chunks()
    fields, parts = lists.type.value_type, lists.flatten().flatten()
    offsets = lists.offsets.to_numpy()
    for place, values in enumerate(parts):
        if values.null_count == 0 or values.null_count < len(values):  # ranks, if lists have them
            found = type(lists).from_arrays(offsets - offsets[0], values)
            columns[fields.field(place).name] = found
    if name == "ranks" and columns.keys().isdisjoint(("rank", "score")):
        raise TypeError(
            "ranks is an ItemListCollection whose lists have neither an order nor scores: make "
            "each as ItemList(..., ordered=True)"
        )
    return sys.modules["pyarrow"].table(columns)


def _hugging_face(value: Any, name: str) -> Any:
    """Return a `Dataset` as its Arrow table, in the order of its rows."""
    if isinstance(value, Mapping):
        splits = ", ".join(map(repr, value))
        raise TypeError(
            f"{name} is a {type(value).__name__} of {splits}: give one of them, {name}[SPLIT]"
        )
    if hasattr(value, "with_format") and hasattr(value, "__len__"):
        return value.with_format("arrow")[:]
    if hasattr(value, "column_names"):
        raise TypeError(
            f"{name} is a {type(value).__name__}, which is read row by row: give "
            f"datasets.Dataset.from_list(list({name}))"
        )
    return value


def _spread(library: str, where: str, way: str, known: str = "") -> Callable[[Any, str], Any]:
    """Return what refuses data that is not in the memory of this process; `known` by an attribute.

    `where` it is, and the way out, of which the argument is {0}.
    """

    def refuse(value: Any, name: str) -> Any:
        if known and not hasattr(value, known):
            return value
        convert = "to_pandas" if type(value).__module__.startswith("pyspark.pandas") else "toPandas"
        way_out = way.format(name, convert)
        raise TypeError(f"{name} is a {library} {type(value).__name__}, {where}: {way_out}")

    return refuse


_OF_SPARK = (
    "toplist.top_k_eval evaluates two of them there; where it fits into the memory of this "
    "machine, give {}.{}()"
)
_dask = _spread("Dask", "not computed yet", "give {}.compute()", known="compute")
_READERS: dict[str, Callable[[Any, str], Any]] = {
    "ranx": _ranx,
    "lenskit": _lenskit,
    "datasets": _hugging_face,
    "pyarrow": lambda value, _: value.to_table() if hasattr(value, "to_table") else value,
    "pyspark": _spread("Spark", "spread over a cluster", _OF_SPARK),
    "modin": _spread("Modin", "spread over processes", "give {}.modin.to_pandas()"),
    "dask": _dask,
    "dask_expr": _dask,
}


def is_tensor(value: Any) -> bool:
    """Whether a value is an array of another library, on this or another device."""
    if isinstance(value, (np.ndarray, np.generic)):
        return False
    return hasattr(value, "__dlpack__") or hasattr(value, "__array__")


def is_row(value: Any) -> bool:
    """Whether a value is an array of numbers, of any library, not a single one."""
    is_array = isinstance(value, np.ndarray) or is_tensor(value)
    return is_array and len(getattr(value, "shape", ())) > 0


def array(tensor: Any) -> Any:
    """Return a tensor as a numpy array, a view if it is in the host's memory; others unchanged.

    Floats of 8 or 16 bits that numpy has no type for (bfloat16) become float32.
    """
    if not is_tensor(tensor):
        return tensor
    if hasattr(tensor, "to_numpy"):  # a pandas Series or Index
        return tensor.to_numpy()
    if hasattr(tensor, "detach"):  # torch: numbers without their gradients
        tensor = tensor.detach()
    for copying in ("cpu", "get"):  # torch; cupy
        if hasattr(tensor, copying):
            tensor = getattr(tensor, copying)()
            break
    if hasattr(tensor, "float") and _is_narrow(getattr(tensor, "dtype", "")):  # torch
        tensor = tensor.float()
    found = np.asarray(tensor) if hasattr(tensor, "__array__") else np.from_dlpack(tensor)
    return found.astype(np.float32) if _is_narrow(found.dtype) else found  # JAX, TensorFlow


def _is_narrow(dtype: Any) -> bool:
    """Whether a type of numbers is one of `_NARROW`, by whatever library."""
    return str(dtype).removeprefix("torch.").startswith(_NARROW)


class Ordering(NamedTuple):
    """How deep lists are read, the id that fills them up, and how equal scores are ordered.

    `looked_up` says that dicts of scores may become `RankedDict`, for the join alone.
    """

    k: int | None = None
    padding: Any = None
    ties: str = "order"
    looked_up: bool = False


class ByScore(dict[Any, Any]):
    """Lists by user that were ordered by scores; `scored` says how many of these are equal."""

    scored: Scored | None = None


def unscored(ranks: Any, ordering: Ordering) -> Any:
    """Return ranked lists without the scores that come with them; what has none unchanged.

    Parameters
    ----------
    ranks : list, tuple or mapping
        Of one user a pair (ids, scores) of arrays, or a list of hits; of many by position a pair
        of 2-D arrays, or a list of pairs or of lists of hits; by key a mapping user -> items with
        scores: a mapping item -> score, a pair, a list of hits, or a response of Elasticsearch or
        OpenSearch.
    ordering : Ordering

    Raises
    ------
    TypeError
        For scores that are no numbers, and users of whom only some have scores.
    ValueError
        For a score that is NaN; scores of a pair that rise; -1 in a pair without `padding`.

    Examples
    --------
    >>> unscored({"q1": {"a": 0.2, "b": 0.5, "c": 0.2}}, Ordering(ties="item_desc"))
    {'q1': ['b', 'c', 'a']}
    >>> unscored([[{"corpus_id": 7, "score": 0.5}], []], Ordering())
    [[7], []]
    >>> unscored((np.array([0.9, 0.5]), np.array([3, 8])), Ordering())
    array([3, 8])
    """
    if not ranks:
        return ranks
    keyed = isinstance(ranks, Mapping)
    if keyed and isinstance(first := _first(ranks.values()), Mapping) and not _is_response(first):
        return _by_score(ranks, ordering)
    if not keyed and (of_one := scored_row(ranks, "", ordering)) is not None:
        return of_one
    found, known = [], False
    for user, row in ranks.items() if keyed else enumerate(ranks):
        name = f"user {user!r}"
        nothing = isinstance(row, (list, tuple, Mapping)) and not row
        if not known and not keyed and isinstance(row, Mapping) and row:
            return ranks
        ids = [] if nothing else scored_row(row, name, ordering)
        if ids is None and not known:
            return ranks
        found.append(_nothing(row, name) if ids is None else ids)
        known = known or not nothing
    return _of_users(ranks, found) if known and keyed else found if known else ranks


def _nothing(row: Any, user: str) -> Any:
    """Return a row without scores, if it has no ids either; else TypeError."""
    if is_container(row) and len(row) == 0:
        return row
    raise TypeError(
        f"ranks: {user} has a {type(row).__name__} without scores, other users have items with "
        "scores: give all of them alike"
    )


def _of_users(ranks: Mapping[Any, Any], rows: Iterable[Any]) -> Any:
    """Return rows by user; what a dict of another type says of its rows stays true."""
    found: Any = copy(ranks) if isinstance(ranks, dict) and type(ranks) is not dict else ByScore()
    found.update(zip(ranks, rows, strict=True))
    return found


def scored_row(row: Any, user: str, ordering: Ordering) -> Any:
    """Return the ranked ids of one user, whose name is for messages; None if they have no scores.

    A pair may be one of 2-D arrays, of all users.
    """
    if _is_response(row):  # in its own order
        return [hit["_id"] for hit in row["hits"].get("hits", ())]
    if not isinstance(row, (list, tuple)) or not row:
        return None
    if not _is_hit(row[0]):
        return _of_pair(row, user, ordering)
    for rank, hit in enumerate(row, start=1):
        if not _is_hit(hit):
            raise TypeError(
                f"ranks: {_of(user)}hit {rank} is {hit!r:.80}, without 'corpus_id' and 'score'"
            )
    items, given = ([hit[name] for hit in row] for name in ("corpus_id", "score"))
    scores, places = _numbers(items, given, user), _by_id(items, user, ordering.ties)
    scores = as_held(scores, ordering.ties)
    # an item may be there twice
    return [items[place] for place in sorted(places, key=scores.__getitem__, reverse=True)]


def _by_score(ranks: Mapping[Any, Any], ordering: Ordering) -> Any:
    """Return the lists of a mapping user -> {item: number}, ordered at once, and cut at k.

    That is ten times as fast as a sort for each user.
    """
    rows: list[Any] = [*ranks.values()]
    if not all(issubclass(kind, Mapping) for kind in set(map(type, rows))):
        named = zip(ranks, rows, strict=True)
        rows = [
            row if isinstance(row, Mapping) else dict.fromkeys(_nothing(row, f"user {user!r}"))
            for user, row in named
        ]
    values = [*chain.from_iterable(row.values() for row in rows)]
    scores = by_value(values, exact=True)
    if scores is None or np.isnan(scores).any():
        named = zip(ranks, rows, strict=True)
        parts = (_numbers([*row], [*row.values()], f"user {user!r}") for user, row in named)
        values = [*chain.from_iterable(parts)]
        scores = by_value(values, exact=True)
    as_floats = scores is not None
    if ordering.ties == "trec_eval":
        scores = as_held(values if scores is None else scores, ordering.ties)
    if scores is None:  # neither 64 bits nor a double hold their order
        place = {value: at for at, value in enumerate(sorted(set(values)))}
        scores = np.array([place[value] for value in values])
    elif scores.dtype.kind != "f":
        as_floats = bool(((scores >= -EXACT) & (scores <= EXACT)).all())
    keys = ~as_integers(scores.astype(np.float64) if as_floats else comparable(scores))
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64, len(rows)))
    order, again = kernels.hashing.order_of_rows(keys, offsets)
    tied = set[int]()
    if ordering.ties != "order":
        tied.update((np.searchsorted(offsets, again, side="right") - 1).tolist())
    starts = offsets[:-1]
    places = order - np.repeat(starts, np.diff(offsets))
    ends = np.minimum(offsets[1:], starts + (ordering.k or len(order))).tolist()
    found, fallen = [], keys[order]
    whole = zip(ranks, rows, starts.tolist(), ends, offsets[1:].tolist(), strict=True)
    for at, (user, row, first, cut, last) in enumerate(whole):
        if at in tied:
            by_id = _by_id([*row], f"user {user!r}", ordering.ties)
            places[first:last] = sorted(by_id, key=keys[first:last].tolist().__getitem__)
        items = RankedDict(row, places[first:cut], fallen[first:last], ordering.ties)
        found.append(items if as_floats and ordering.looked_up else list(items))
    by_user = _of_users(ranks, found)
    runs = int(np.count_nonzero(np.diff(again, prepend=-1) > 1))
    by_user.scored = Scored(len(again) + runs, len(order))
    return by_user


def _first(rows: Iterable[Any]) -> Any:
    """Return the first row that is no empty container."""
    return next((row for row in rows if not isinstance(row, (list, tuple, Mapping)) or row), None)


def _is_response(value: Any) -> bool:
    """Whether a value is what Elasticsearch or OpenSearch answers."""
    return isinstance(value, Mapping) and isinstance(value.get("hits"), Mapping)


def _is_hit(value: Any) -> bool:
    return isinstance(value, Mapping) and "corpus_id" in value and "score" in value


def _of(user: str) -> str:
    """Begin a message about a user; "" is one who was given bare."""
    return f"{user}, " if user else ""


def _numbers(items: list[Any], scores: list[Any], user: str) -> list[Any]:
    """Return scores as numbers of Python: numpy's round what they are compared to."""
    found = []
    for item, score in zip(items, scores, strict=True):
        number = array(score)
        if isinstance(number, (np.generic, np.ndarray)) and number.ndim == 0:
            number = number.item()
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            words = f"the score {score!r:.80} is no number, int or float"
            raise TypeError(f"ranks: {_of(user)}item {item!r}: {words}")
        if number != number:
            words = "the score is NaN, which has no rank"
            raise ValueError(f"ranks: {_of(user)}item {item!r}: {words}")
        found.append(number)
    return found


def _by_id(items: list[Any], user: str, ties: str) -> Sequence[int]:
    """Return the places of items, by item where equal scores are ordered so."""
    if ties == "order":
        return range(len(items))
    return places_by_id(items, f"ranks: {_of(user)}", descending=ties != "item")


def _of_pair(pair: Any, user: str, ordering: Ordering) -> Any:
    """Return the ids of a pair of arrays of one shape, one of integers and one of floats.

    The scores have to fall, or else it is a ValueError. None for what is no pair: two lists of ids
    are two users.
    """
    if len(pair) != 2 or not all(map(is_row, pair)):
        return None
    arrays = [array(one) for one in pair]
    kinds = ["i" if one.dtype.kind in "iu" else one.dtype.kind for one in arrays]
    if sorted(kinds) != ["f", "i"] or arrays[0].shape != arrays[1].shape:
        if not all(one.ndim == 2 for one in arrays):
            return None
        shown = " and ".join(f"{one.dtype} of {one.shape}" for one in arrays)
        raise TypeError(
            f"ranks is a pair of 2-D arrays, {shown}: a pair (ids, scores) has one shape, and one "
            "of integers and one of floats; else give the array of ids alone"
        )
    place = kinds.index("i")
    ids, scores = arrays[place], arrays[1 - place]
    if ids.ndim > 2:
        raise TypeError(f"ranks is a pair of arrays of {ids.ndim} dimensions: give 1-D or 2-D")
    rows, values = (np.atleast_2d(one)[:, : ordering.k] for one in (ids, scores))

    def whose(row: int) -> str:
        return _of(user if ids.ndim == 1 else f"user {row}")

    if ordering.padding is None and FILLING in rows[:, -1:]:
        row = int(np.flatnonzero(rows[:, -1] == FILLING)[0])
        rank = int(np.argmax(rows[row] == FILLING)) + 1
        raise ValueError(
            f"ranks is a pair (ids, scores): {whose(row)}rank {rank} has the id {FILLING}, "
            "with which implicit and faiss fill up a list of fewer items: "
            f"padding={FILLING} drops it; where it is an item, give the ids alone, [{place}] of "
            "the pair"
        )
    if (values[:, 1:] <= values[:, :-1]).all() and not np.isnan(values[:, :1]).any():
        return ids
    kept = np.ones(rows.shape, bool) if ordering.padding is None else rows != ordering.padding
    nan = np.argwhere(np.isnan(values) & kept)
    if len(nan):
        row, at = nan[0].tolist()
        raise ValueError(
            f"ranks is a pair (ids, scores): {whose(row)}item {rows[row, at]} at rank "
            f"{at + 1}: the score is NaN, which has no rank"
        )
    rises = np.argwhere((values[:, 1:] > values[:, :-1]) & kept[:, 1:] & kept[:, :-1])
    if len(rises):  # only padding may be out of order
        row, at = rises[0].tolist()
        raise ValueError(
            f"ranks is a pair (ids, scores), best first: {whose(row)}the score rises from "
            f"{values[row, at]:g} at rank {at + 1} to {values[row, at + 1]:g}; if these are "
            f"distances, of which the least is best, give the ids alone, [{place}] of the pair"
        )
    return ids


def check_not_swapped(ranks: Any, truths: Any) -> None:
    """Raise TypeError for sides that look like grades as ranks, and ranked lists as the truth.

    The numbers of `ranks` are those of grades: whole, and twice in a row or all 0 and 1, as scores
    hardly are. They are beside lists, or beside numbers with a fraction.

    Examples
    --------
    >>> check_not_swapped({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 0.71, "c": 0.25}})
    Traceback (most recent call last):
        ...
    TypeError: ranks holds whole numbers by item, like grades: are the arguments swapped? \
If not, give lists, \
{user: sorted(row, key=row.get, reverse=True) for user, row in ranks.items()}
    """
    scores, relevant = _first(ranks.values()), _first(truths.values())
    if not isinstance(scores, Mapping) or not _whole({None: scores}):
        return
    of_ids = isinstance(relevant, (list, tuple)) and not is_truth_container(relevant[0])
    # the truths are the smaller side, and mostly tell
    unlike_grades = of_ids or (isinstance(relevant, Mapping) and not _whole(truths))
    if unlike_grades and _whole(ranks):
        values = [[*row.values()] for row in ranks.values() if isinstance(row, Mapping)]
        repeats = any(len({*row}) < len(row) for row in values)
        if repeats or {*chain.from_iterable(values)} <= {0, 1}:
            raise TypeError(
                "ranks holds whole numbers by item, like grades: are the arguments swapped? If "
                "not, give lists, {user: sorted(row, key=row.get, reverse=True) for user, row in "
                "ranks.items()}"
            )


def _whole(rows: Mapping[Any, Any]) -> bool:
    """Whether all numbers of mappings item -> number are whole; it stops at the first other."""
    given = (row.values() for row in rows.values() if isinstance(row, (dict, Mapping)))
    return all(
        isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
        for value in chain.from_iterable(given)
    )
