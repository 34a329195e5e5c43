"""Columns of data frames as arrays, whatever library the frame is of.

A frame is recognised without importing anything: who holds a pandas frame has pandas. Integer
columns stay arrays; text, categories and dictionaries become codes beside their distinct names;
lists become offsets beside a column of their values.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.ids import kinds_of

Offsets = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """Ids of one column: integers, or codes 0.. of `names`."""

    name: str
    codes: NDArray[Any]
    names: list[Any] | None = None

    def decode(self, code: Any) -> Any:
        """Return an id as it stood in the column."""
        return int(code) if self.names is None else self.names[code]

    def decoded(self, codes: NDArray[Any]) -> list[Any]:
        """Return many ids as they stood in the column."""
        found: list[Any] = codes.tolist()
        return found if self.names is None else list(map(self.names.__getitem__, found))


def is_frame(value: Any) -> bool:
    """Whether `value` is a table with named columns (pandas, polars, Arrow, or their like)."""
    return hasattr(value, "__arrow_c_stream__") and (
        hasattr(value, "columns") or hasattr(value, "column_names")
    )


def known(frame: Any) -> Any:
    """Return a table that is read as it is, or its copy in Arrow.

    Raises
    ------
    TypeError
        If pyarrow is needed for the copy and not installed.
    """
    if _adapter(frame) is not None:
        return frame
    try:
        import pyarrow
    except ImportError:
        raise TypeError(
            f"a table of {type(frame).__module__.split('.')[0]} is read through pyarrow, which is "
            "not installed: pip install 'toplist[io]'"
        ) from None
    return pyarrow.table(frame)


def names_of(frame: Any) -> list[Any]:
    """Return the column names."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def numbers(frame: Any, name: str, side: str) -> NDArray[Any]:
    """Return a column of numbers without nulls; TypeError for anything else."""
    column: NDArray[Any] | None = _adapter(frame).array(frame, name)
    if column is None or column.dtype.kind not in "iuf":
        raise TypeError(f"{side}: column {name!r} must hold numbers, and no nulls")
    return column


def integers(frame: Any, name: Any) -> NDArray[Any] | None:
    """Return a column of integers without nulls; None for anything else."""
    column: NDArray[Any] | None = _adapter(frame).array(frame, name)
    return column if column is not None and column.dtype.kind in "iu" else None


def ids(frame: Any, name: str, side: str, offsets: Offsets | None = None) -> Column:
    """Return a column of ids; the errors name the row of a null, or the kind that is no id.

    With `offsets`, the ids are the values of a column of lists.
    """
    array = integers(frame, name)
    if array is not None:
        return Column(name, array)
    codes, names = _adapter(frame).codes(frame, name)
    missing = np.flatnonzero(codes < 0)
    if len(missing) and offsets is not None:
        row = int(np.searchsorted(offsets, missing[0], side="right")) - 1
        raise ValueError(f"{side}: column {name!r} holds a null in the list of row {row}")
    if len(missing):
        raise ValueError(f"{side}: column {name!r} is null in row {missing[0]}")
    kinds = kinds_of(names, f"{side}, column {name!r}")
    if kinds == {int}:  # categories of integers are integers
        return Column(name, np.array(names, np.int64)[codes])
    return Column(name, codes, names)


def index(frame: Any, side: str) -> Column:
    """Return the labels of the rows: the index of a pandas frame, elsewhere their positions."""
    if not hasattr(frame, "index"):
        return Column("user_id", np.arange(len(frame)))
    return ids(frame.index.to_frame(index=False, name="index"), "index", side)


def lists(frame: Any, name: str, side: str) -> tuple[Offsets, Any] | None:
    """Return where the lists of a column start, and a table of their values; None if not lists."""
    found: tuple[Offsets, Any] | None = _adapter(frame).lists(frame, name, side)
    return found


def objects(frame: Any, name: Any) -> list[Any]:
    """Return a column as Python objects, None for null."""
    found: list[Any] = _adapter(frame).objects(frame, name)
    return found


def python_lists(frame: Any, name: str, side: str) -> list[Any] | None:
    """Return a column of Python lists or arrays (pandas alone has such); None for any other."""
    if _adapter(frame) is not _Pandas or frame[name].dtype != object or not len(frame):
        return None
    rows = objects(frame, name)
    containers = (list, tuple, set, frozenset, dict, np.ndarray)
    if not any(isinstance(row, containers) for row in rows):
        return None
    for place, row in enumerate(rows):
        if not isinstance(row, containers):
            raise ValueError(f"{side}: column {name!r} holds {row!r} in row {place}, not a list")
    return rows


def _adapter(frame: Any) -> Any:
    for name, adapter in _ADAPTERS.items():
        module = sys.modules.get(name)
        if module is not None and isinstance(frame, adapter.kinds(module)):
            return adapter
    return None


def _refuse_null_list(side: str, name: str, null: Any) -> None:
    missing = np.flatnonzero(null)
    if len(missing):
        raise ValueError(f"{side}: column {name!r} is null in row {missing[0]}: write []")


class _Pandas:
    """pandas frames."""

    @staticmethod
    def kinds(module: Any) -> Any:
        return module.DataFrame

    @staticmethod
    def array(frame: Any, name: str) -> NDArray[Any] | None:
        """Return a column of numbers without nulls, or None."""
        dtype = frame[name].dtype
        if getattr(dtype, "kind", "O") not in "iuf" or frame[name].isna().any():
            return None
        found: NDArray[Any] = frame[name].to_numpy()
        return found if found.dtype.kind in "iuf" else found.astype(dtype.numpy_dtype)

    @staticmethod
    def codes(frame: Any, name: str) -> tuple[NDArray[np.int64], list[Any]]:
        """Return codes (-1 for null) and the distinct values."""
        series = frame[name]
        if hasattr(series, "cat"):
            return series.cat.codes.to_numpy(np.int64), series.cat.categories.tolist()
        if series.dtype == object:
            kinds_of(series.dropna().tolist(), f"column {name!r}")  # 1 and True share a code
        codes, names = sys.modules["pandas"].factorize(series)
        return codes.astype(np.int64), list(names)

    @staticmethod
    def lists(frame: Any, name: str, side: str) -> tuple[Offsets, Any] | None:
        """Return offsets and values of a column of Arrow lists."""
        dtype = getattr(frame[name].dtype, "pyarrow_dtype", None)
        if dtype is None:
            return None
        pyarrow = sys.modules["pyarrow"]
        return _Arrow.lists(pyarrow.table({name: pyarrow.array(frame[name])}), name, side)

    @staticmethod
    def objects(frame: Any, name: Any) -> list[Any]:
        series = frame[name]
        nulls = series.isna().tolist()
        values = series.tolist()
        return [None if null else value for value, null in zip(values, nulls, strict=True)]


class _Polars:
    """polars frames."""

    @staticmethod
    def kinds(module: Any) -> Any:
        return module.DataFrame

    @staticmethod
    def array(frame: Any, name: str) -> NDArray[Any] | None:
        """Return a column of numbers without nulls, or None."""
        series = frame[name]
        if not series.dtype.is_numeric() or series.null_count():
            return None
        found: NDArray[Any] = series.to_numpy()
        return found

    @staticmethod
    def codes(frame: Any, name: str) -> tuple[NDArray[np.int64], list[Any]]:
        """Return codes (-1 for null) and the distinct values."""
        polars, series = sys.modules["polars"], frame[name]
        names = series.drop_nulls().unique().to_list()
        if not all(type(one) is str for one in names):
            place = {one: code for code, one in enumerate(names)}
            codes = [place.get(one, -1) for one in series.to_list()]
            return np.array(codes, np.int64), names
        codes = series.cast(polars.String).cast(polars.Enum(names)).to_physical()
        return codes.cast(polars.Int64).fill_null(-1).to_numpy(), names

    @staticmethod
    def lists(frame: Any, name: str, side: str) -> tuple[Offsets, Any] | None:
        """Return offsets and values of a column of lists."""
        series = frame[name]
        if hasattr(series.dtype, "shape"):
            series = series.arr.to_list()
        if not hasattr(series.dtype, "inner"):
            return None
        _refuse_null_list(side, name, series.is_null().to_numpy())
        lengths = series.list.len().cast(sys.modules["polars"].Int64).to_numpy()
        filled = series.filter(series.list.len() > 0)  # an empty list would become a null
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return offsets, filled.explode().rename(name).to_frame()

    @staticmethod
    def objects(frame: Any, name: Any) -> list[Any]:
        found: list[Any] = frame[name].to_list()
        return found


class _Arrow:
    """pyarrow tables and record batches."""

    @staticmethod
    def kinds(module: Any) -> Any:
        return module.Table, module.RecordBatch

    @staticmethod
    def _column(frame: Any, name: str) -> Any:
        column = frame.column(name)
        if getattr(column, "num_chunks", 0) == 1:
            return column.chunk(0)  # combine_chunks would copy it
        return column.combine_chunks() if hasattr(column, "combine_chunks") else column

    @classmethod
    def array(cls, frame: Any, name: str) -> NDArray[Any] | None:
        """Return a column of numbers without nulls, or None."""
        column = cls._column(frame, name)
        types = sys.modules["pyarrow"].types
        numeric = types.is_integer(column.type) or types.is_floating(column.type)
        if not numeric or column.null_count:
            return None
        found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return found

    @classmethod
    def codes(cls, frame: Any, name: str) -> tuple[NDArray[np.int64], list[Any]]:
        """Return codes (-1 for null) and the distinct values."""
        column = cls._column(frame, name)
        if not hasattr(column, "dictionary"):
            column = column.dictionary_encode()
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return codes.astype(np.int64), column.dictionary.to_pylist()

    @classmethod
    def lists(cls, frame: Any, name: str, side: str) -> tuple[Offsets, Any] | None:
        """Return offsets and values of a column of lists, without copying the values."""
        column = cls._column(frame, name)
        pyarrow = sys.modules["pyarrow"]
        types = pyarrow.types
        if types.is_fixed_size_list(column.type):
            column = column.cast(pyarrow.list_(column.type.value_type))
        if not (types.is_list(column.type) or types.is_large_list(column.type)):
            return None
        _refuse_null_list(side, name, column.is_null().to_numpy(zero_copy_only=False))
        offsets = column.offsets.to_numpy().astype(np.int64)
        return offsets - offsets[0], pyarrow.table({name: column.flatten()})

    @staticmethod
    def objects(frame: Any, name: Any) -> list[Any]:
        found: list[Any] = frame.column(name).to_pylist()
        return found


_ADAPTERS: dict[str, Any] = {"pandas": _Pandas, "polars": _Polars, "pyarrow": _Arrow}
