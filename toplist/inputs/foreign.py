"""Objects of other libraries that stand for lists: tensors, sparse matrices, Series, Arrow arrays.

Recognised by their protocols, without importing anything. Ids on a device are copied to the host,
once, by the tensor's own ``cpu()`` or ``get()``.
"""

import sys
from typing import Any

import numpy as np

from toplist.inputs.containers import is_frame
from toplist.inputs.lists import Lists


def native(value: Any, side: str) -> Any:
    """Return one side of an evaluation as arrays, `Lists`, dicts or tables; others as they are.

    A pandas Series is keyed by its index. A Series of polars, or an Arrow array, holds users by
    position if it holds lists, else ids. A sparse matrix (ground truths only) is users x items.

    Raises
    ------
    TypeError
        For a sparse matrix of ranks.
    """
    if isinstance(value, (np.ndarray, Lists)):
        return value
    if hasattr(value, "tocsr"):  # before dict: scipy's dok is one
        if side == "ranks":
            raise TypeError("ranks is a sparse matrix: scores enter by scores.top_k")
        return Lists.from_matrix(value)
    if isinstance(value, (list, tuple)):
        return list(map(array, value)) if value and _is_row(value[0]) else value
    if isinstance(value, dict):
        if not value or not _is_row(next(iter(value.values()))):
            return value
        return {user: array(row) for user, row in value.items()}
    if hasattr(value, "read_all"):  # an Arrow reader
        return value.read_all()
    if hasattr(value, "index") and hasattr(value, "to_dict") and not is_frame(value):
        return _of_series(value, side)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        return value if is_frame(value) else _of_column(value, side)
    return array(value)


def is_tensor(value: Any) -> bool:
    """Whether a value is an array of another library, on this or another device."""
    protocols = ("__dlpack__", "__array__")
    return not isinstance(value, (np.ndarray, np.generic)) and any(
        hasattr(value, name) for name in protocols
    )


def _is_row(value: Any) -> bool:
    """Whether a value is a tensor of ids, not of a single one."""
    return is_tensor(value) and len(getattr(value, "shape", ())) > 0


def array(tensor: Any) -> Any:
    """Return a tensor as a numpy array, a view where it lies in the host's memory; others as is."""
    if not is_tensor(tensor):
        return tensor
    if hasattr(tensor, "to_numpy"):  # a pandas Series or Index
        return tensor.to_numpy()
    for copying in ("cpu", "get"):  # torch; cupy
        if hasattr(tensor, copying):
            tensor = getattr(tensor, copying)()
            break
    return np.asarray(tensor) if hasattr(tensor, "__array__") else np.from_dlpack(tensor)


def _of_series(series: Any, side: str) -> dict[Any, Any]:
    """Return a pandas Series as a dict; one whose index holds a user twice is refused."""
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()].tolist()[0]
        raise ValueError(f"{side}: user {twice!r} stands in the index twice: a user has one row")
    rows: dict[Any, Any] = series.to_dict()
    if side == "ranks" and rows and not hasattr(next(iter(rows.values())), "__len__"):
        raise TypeError(
            "ranks is a Series with one id per user: a Series of lists is keyed by its index; one "
            "user's list enters as .to_list()"
        )
    return rows


def _of_column(value: Any, side: str) -> Any:
    """Return an Arrow array or a polars Series as `Lists`, or as a 1-D array of ids."""
    from toplist.inputs import dataframes

    if hasattr(value, "to_frame"):
        table = value.rename("values").to_frame()
    else:
        table = sys.modules["pyarrow"].table({"values": value})
    found = dataframes.lists(table, "values", side)
    if found is None:
        return _ids(table, side)
    return Lists(found[0], _ids(found[1], side))


def _ids(table: Any, side: str) -> Any:
    from toplist.inputs import dataframes

    column = dataframes.ids(table, "values", side)
    if column.names is None:
        return column.codes
    return (
        np.array(column.names, object)[column.codes] if len(column.codes) else np.empty(0, object)
    )
