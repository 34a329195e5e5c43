"""Columns of data frames as arrays, whatever library the frame is of.

A frame is recognised without importing anything: who holds a pandas frame has pandas. Integer
columns stay arrays; text, categories and dictionaries become codes beside their distinct names.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.ids import kinds_of


@dataclass(frozen=True, eq=False)
class Column:
    """Ids of one column: integers, or codes 0.. of `names`."""

    name: str
    codes: NDArray[Any]
    names: list[Any] | None = None

    def decode(self, code: Any) -> Any:
        """Return an id as it stood in the column."""
        return int(code) if self.names is None else self.names[code]


def is_frame(value: Any) -> bool:
    """Whether `value` is a table with named columns (pandas, polars, Arrow, or their like)."""
    return hasattr(value, "__arrow_c_stream__") and (
        hasattr(value, "columns") or hasattr(value, "column_names")
    )


def names_of(frame: Any) -> list[Any]:
    """Return the column names."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def numbers(frame: Any, name: str, side: str) -> NDArray[Any]:
    """Return a column of numbers without nulls; TypeError for anything else."""
    column: NDArray[Any] | None = _library(frame).array(frame, name)
    if column is None or column.dtype.kind not in "iuf":
        raise TypeError(f"{side}: column {name!r} must hold numbers, and no nulls")
    return column


def ids(frame: Any, name: str, side: str) -> Column:
    """Return a column of ids; the errors name the row of a null, or the kind that is no id."""
    library = _library(frame)
    array = library.array(frame, name)
    if array is not None and array.dtype.kind in "iu":
        return Column(name, array)
    codes, names = library.codes(frame, name)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise ValueError(f"{side}: column {name!r} is null in row {missing[0]}")
    kinds = kinds_of(names, f"{side}, column {name!r}")
    if kinds == {int}:  # categories of integers are integers
        return Column(name, np.array(names, np.int64)[codes])
    return Column(name, codes, names)


def _library(frame: Any) -> Any:
    for name, adapter in _ADAPTERS.items():
        module = sys.modules.get(name)
        if module is not None and isinstance(frame, adapter.kinds(module)):
            return adapter
    raise TypeError(
        f"a {type(frame).__module__}.{type(frame).__name__} is not read: give a table of pandas, "
        "polars or pyarrow"
    )


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


class _Arrow:
    """pyarrow tables and record batches."""

    @staticmethod
    def kinds(module: Any) -> Any:
        return module.Table, module.RecordBatch

    @staticmethod
    def _column(frame: Any, name: str) -> Any:
        column = frame.column(name)
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


_ADAPTERS: dict[str, Any] = {"pandas": _Pandas, "polars": _Polars, "pyarrow": _Arrow}
