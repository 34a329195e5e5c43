"""Objects of other libraries that hold lists: read as tables or dicts, by their own methods.

None of these libraries is imported: who holds such an object has imported it. It is known by the
module that its class comes from. To add a library, write a reader and add it to `_READERS`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from toplist.checks import about


def opened(value: Any, name: str) -> Any:
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


def _arrow(value: Any, name: str) -> Any:
    """Return a dataset or a scanner of pyarrow as a table."""
    return value.to_table() if hasattr(value, "to_table") else value


def _spark(value: Any, name: str) -> Any:
    """Raise TypeError for a frame, a column or an RDD."""
    convert = "to_pandas" if type(value).__module__.startswith("pyspark.pandas") else "toPandas"
    raise TypeError(
        f"{name} is a Spark {type(value).__name__}, spread over a cluster: "
        "toplist.top_k_eval evaluates two of them there; where it fits into the memory of this "
        f"machine, give {name}.{convert}()"
    )


def _modin(value: Any, name: str) -> Any:
    """Raise TypeError for a frame or a series."""
    raise TypeError(
        f"{name} is a Modin {type(value).__name__}, spread over processes: give "
        f"{name}.modin.to_pandas()"
    )


def _dask(value: Any, name: str) -> Any:
    """Raise TypeError for a collection that is not computed."""
    if not hasattr(value, "compute"):
        return value
    raise TypeError(
        f"{name} is a Dask {type(value).__name__}, not computed yet: give {name}.compute()"
    )


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "ranx": _ranx,
    "lenskit": _lenskit,
    "datasets": _hugging_face,
    "pyarrow": _arrow,
    "pyspark": _spark,
    "modin": _modin,
    "dask": _dask,
    "dask_expr": _dask,
}
