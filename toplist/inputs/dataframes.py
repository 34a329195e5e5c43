"""Columns of data frames as arrays, whatever library the frame is of.

A frame is recognised without importing anything: who holds a pandas frame has pandas. Integer
columns stay arrays; text, categories and dictionaries become codes beside their distinct names;
lists become offsets beside a column of their values.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.adapters import Offsets, Pandas, PlainTable, adapter_of
from toplist.inputs.containers import is_frame as is_frame
from toplist.inputs.factorize import Column
from toplist.inputs.ids import kinds_of


def known(frame: Any) -> Any:
    """Return a table that is read as it is, or its copy in Arrow.

    Raises
    ------
    ImportError
        If pyarrow is needed for the copy and not installed.
    """
    if adapter_of(frame) is not None:
        return frame
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            f"a table of {type(frame).__module__.split('.')[0]} is read through pyarrow, which is "
            "not installed: pip install 'toplist[io]'"
        ) from None
    return pyarrow.table(frame)


def names_of(frame: Any) -> list[Any]:
    """Return the column names."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def numbers(frame: Any, name: str, side: str) -> NDArray[Any]:
    """Return a column of numbers without nulls; TypeError for anything else."""
    column: NDArray[Any] | None = adapter_of(frame).array(frame, name)
    if not len(frame):  # an empty column is of any type
        return np.empty(0)
    if column is None or column.dtype.kind not in "iuf":
        raise TypeError(
            f"{side}: column {name!r} must hold numbers, and no nulls; it is {type_of(frame, name)}"
        )
    return column


def integers(frame: Any, name: Any) -> NDArray[Any] | None:
    """Return a column of integers without nulls; None for anything else."""
    column: NDArray[Any] | None = adapter_of(frame).array(frame, name)
    return column if column is not None and column.dtype.kind in "iu" else None


def ids(frame: Any, name: str, side: str, offsets: Offsets | None = None, first: int = 0) -> Column:
    """Return a column of ids; the errors name the row of a null, or the kind that is no id.

    With `offsets`, the ids are the values of a column of lists; `first` numbers the first row.
    """
    array = integers(frame, name)
    if array is not None:
        return Column(name, array)
    try:
        codes, names = adapter_of(frame).codes(frame, name)
        kinds = kinds_of(names, f"{side}, column {name!r}")
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        raise _no_ids(frame, name, side) from None
    except (
        Exception
    ) as error:  # of the library's own: it cannot do with such a column what ids need
        raise _no_ids(frame, name, side) from error
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        row, what = missing[0], "is null in row"
        if offsets is not None:
            row = np.searchsorted(offsets, row, side="right") - 1
            what = "holds a null in the list of row"
        raise ValueError(f"{side}: column {name!r} {what} {first + int(row)}")
    if kinds == {int} and all(-(2**63) <= number < 2**63 for number in names):
        return Column(name, np.array(names, np.int64)[codes])  # categories of integers
    return Column(name, codes, names)


def _no_ids(frame: Any, name: str, side: str) -> TypeError:
    return TypeError(
        f"{side}: column {name!r} is of {type_of(frame, name)}, which holds no ids: give integers "
        "or text"
    )


def type_of(frame: Any, name: Any) -> Any:
    """Return what the library calls the type of a column."""
    if isinstance(frame, PlainTable):
        return type(frame.data[name]).__name__
    return frame.schema.field(name).type if hasattr(frame, "column") else frame[name].dtype


def index(frame: Any, side: str) -> Column:
    """Return the labels of the rows: the index of a pandas frame, elsewhere their positions."""
    if not hasattr(frame, "index"):
        return Column("user_id", np.arange(len(frame)))
    return ids(frame.index.to_frame(index=False, name="index"), "index", side)


def lists(frame: Any, name: str, side: str, first: int = 0) -> tuple[Offsets, Any] | None:
    """Return where the lists of a column start, and a table of their values; None if not lists.

    `first` numbers the first row, for the message about a null.
    """
    found: tuple[Offsets, Any] | None = adapter_of(frame).lists(frame, name, side, first)
    return found


def objects(frame: Any, name: Any) -> list[Any]:
    """Return a column as Python objects, None for null."""
    found: list[Any] = adapter_of(frame).objects(frame, name)
    return found


def python_lists(frame: Any, name: str, side: str) -> list[Any] | None:
    """Return a column of Python lists or arrays (pandas alone has such); None for any other."""
    if adapter_of(frame) is not Pandas or frame[name].dtype != object or not len(frame):
        return None
    rows = objects(frame, name)
    containers = (list, tuple, set, frozenset, dict, np.ndarray)
    if not any(isinstance(row, containers) for row in rows):
        return None
    for place, row in enumerate(rows):
        if not isinstance(row, containers):
            raise ValueError(f"{side}: column {name!r} holds {row!r} in row {place}, not a list")
    return rows
