"""Columns of data frames as arrays: the only module with branches by library.

The functions are the same for every library; a class per library (`_Pandas`, `_Polars`, `_Arrow`)
reads its columns. To add a library, write such a class and add it to `_LIBRARIES`. No library is
imported to recognise a frame: if there is a pandas frame, pandas is loaded.

Integer columns become arrays; text, categories and dictionaries become codes and their distinct
values; a column of lists becomes offsets and a table of the values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, is_missing, optional
from toplist.inputs import ordering
from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.flatten import is_frame as is_frame
from toplist.inputs.ids import WideIdError, kinds_of
from toplist.inputs.keyed import column_of, is_series, keyed_rows
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.objects import one_result_at_a_time, to_builtin
from toplist.inputs.texts import Spans, TextColumn, Texts, Views, joined

Where = Callable[[int], str]  # how messages name a row


def column_to_builtin(value: Any, side: str) -> Any:
    """Return a series, an Arrow array or a reader as a dict, `Lists`, ids or a table; else None.

    A pandas Series is keyed by its index. A Series of polars, or an Arrow array, holds users by
    position if it holds lists, else ids. A table is returned unchanged.
    """
    if hasattr(value, "read_all"):  # an Arrow reader
        return value.read_all()
    if is_series(value):
        return keyed_rows(value, side)
    if is_frame(value):
        return value
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        return _rows_of_column(value, side)
    return None


def _rows_of_column(value: Any, side: str) -> Any:
    """Return an Arrow array or a polars Series as `Lists`, or as a 1-D array of ids."""
    if hasattr(value, "to_frame"):
        table = value.rename("values").to_frame()
    else:
        table = sys.modules["pyarrow"].table({"values": value})
    found = lists(table, "values", side)
    column = ids(table if found is None else found[1], "values", side)
    items = column.codes
    if column.names is not None:
        items = np.array(list(column.names), object)[items]
    return items if found is None else Lists(found[0], items)


def in_row(row: int) -> str:
    """Return how messages name a row."""
    return f"row {row}"


def readable(frame: Any) -> Any:
    """Return the table, or its copy in Arrow if it is of another library.

    Raises
    ------
    ImportError
        If pyarrow is needed for the copy and cannot be imported.
    """
    frame = frame if library_of(frame) is not None else to_builtin(frame, "table")
    if library_of(frame) is not None:
        return frame
    if not hasattr(frame, "__arrow_c_stream__"):
        raise TypeError(
            f"a {type(frame).__name__} has columns, but no Arrow interface to read them: give a "
            "table of pandas, polars or pyarrow, or a dict user -> ids"
        )
    library = type(frame).__module__.split(".")[0]
    pyarrow = optional("pyarrow", f"a table of {library} is read through pyarrow", "io")
    with one_result_at_a_time("table"):
        return pyarrow.table(frame)


def names_of(frame: Any) -> list[Any]:
    """Return the column names."""
    return library_of(frame).names(frame)


def values(frame: Any, name: Any) -> NDArray[Any]:
    """Return a column as an array of any type, for what is no id and no number."""
    return library_of(frame).values(frame, name)


def take(frame: Any, rows: Ints) -> Any:
    """Return some rows of a table as a table of the same library."""
    return library_of(frame).take(frame, rows)


def cell(frame: Any, name: Any, row: int) -> Any:
    """Return one cell as a Python object, None for null."""
    # of Arrow, a slice is there for every type; take is not
    some = frame.slice(row, 1) if hasattr(frame, "slice") else frame.iloc[row : row + 1]
    return objects(some, name)[0]


def numbers(
    frame: Any, name: str, side: str, where: Where = in_row, exact: bool = False
) -> NDArray[Any]:
    """Return a column of numbers without nulls; TypeError for anything else.

    With `exact`, Decimals, integers of 128 bits and Python's integers in a column of objects, which
    fit no type of numpy, are places that order them; without it, they are their values. `where`
    names the row of a null.
    """
    column: NDArray[Any] | None = library_of(frame).array(frame, name)
    if not len(frame):  # an empty column is of any type
        return np.empty(0)
    if column is not None and column.dtype.kind in "iuf":
        return column
    values = objects(frame, name)
    floats = any(isinstance(value, float) for value in values)
    places = ordering.exact(values) if exact and not floats else None
    if places is not None:
        return places
    found = None if exact else ordering.by_value(values)
    if found is not None:
        return found
    null = next((row for row, value in enumerate(values) if value is None), None)
    raise TypeError(
        f"{side}: column {name!r} must hold numbers, and no nulls; it is {type_of(frame, name)}"
        + ("" if null is None else f", null in {where(null)}")
    )


def integers(frame: Any, name: Any) -> NDArray[Any] | None:
    """Return a column of integers without nulls; None for anything else."""
    column: NDArray[Any] | None = library_of(frame).array(frame, name)
    return column if column is not None and column.dtype.kind in "iu" else None


def ids(
    frame: Any,
    name: str,
    side: str,
    offsets: Ints | None = None,
    where: Where = in_row,
    known: Texts | None = None,
) -> Column:
    """Return a column of ids; the errors name the row of a null, or the type that holds no ids.

    With `offsets`, the ids are the values of a column of lists; `where` names a row.
    Texts are numbered by `known`, if given.
    """
    try:
        return _ids(frame, name, side, offsets, where, known)
    except TypeError:  # a NaN among integers makes floats of all
        missing = [row for row, one in enumerate(objects(frame, name)) if is_missing(one)]
        if not missing:
            raise
        raise _null(name, side, missing[0], offsets, where) from None


def _ids(
    frame: Any, name: str, side: str, offsets: Ints | None, where: Where, known: Texts | None
) -> Column:
    """Do what `ids` does; without integers, one that is missing may be the error of a type."""
    array = integers(frame, name)
    if array is not None:
        return Column(name, array)
    library, what = library_of(frame), f"{side}, column {name!r}"
    with _named(frame, name, side):
        text = library.texts(frame, name)
        if text is not None:
            known = Texts() if known is None else known
            return Column(name, text.encode(known), known)
        codes, names = library.codes(frame, name, what)
    distinct = column_of(name, names, what)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise _null(name, side, int(missing[0]), offsets, where)
    return replace(distinct, codes=distinct.codes[codes])


def _null(name: str, side: str, row: int, offsets: Ints | None, where: Where) -> ValueError:
    """Return the error of an id that is missing: of a row, or of a value of a column of lists."""
    if offsets is None:
        what, out = f"is null in {where(row)}", "leave the row out"
    else:
        user = int(np.searchsorted(offsets, row, side="right")) - 1
        what = f"holds a null in the list of {where(user)}, at place {row - offsets[user] + 1}"
        out = "leave it out"
    return ValueError(f"{side}: column {name!r} {what}: the id is missing, {out}")


def runs(frame: Any, name: str, side: str, known: Texts) -> tuple[Column, Ints] | None:
    """Return the ids of runs of equal rows, and the bounds of these.

    None if there are few runs, or the column is not of text; then `ids` reads it.
    """
    with _named(frame, name, side):
        text = library_of(frame).texts(frame, name)
        found = None if text is None else text.runs()
        if found is None:
            return None
        return Column(name, found[0].encode(known), known), np.append(found[1], len(frame))


@contextmanager
def _named(frame: Any, name: str, side: str) -> Iterator[None]:
    """Name the column whose ids a library cannot read: it has no distinct values of its type."""
    refused: list[type[Exception]] = [ValueError, NotImplementedError]
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None:
        refused.append(polars.exceptions.PolarsError)
    if pyarrow is not None:
        refused.append(pyarrow.ArrowException)
    try:
        yield
    except UnicodeDecodeError as error:
        way = f"holds text that is no UTF-8: {error}"
        raise ValueError(f"{side}: column {name!r} {way}") from None
    except (MemoryError, WideIdError):
        raise
    except tuple(refused) as error:
        raise TypeError(
            f"{side}: column {name!r} is of {type_of(frame, name)}, which holds no ids: give "
            "integers or text"
        ) from error


def index(frame: Any, side: str) -> Column:
    """Return the labels of the rows: the index of a pandas frame, elsewhere their positions."""
    if not hasattr(frame, "index"):
        return Column("user_id", np.arange(len(frame)))
    return ids(frame.index.to_frame(index=False, name="index"), "index", side)


def lists(frame: Any, name: str, side: str, where: Where = in_row) -> tuple[Ints, Any] | None:
    """Return the offsets of a column of lists, and a table of their values; None if not lists.

    `where` names a row, for the message about a null.
    """
    return library_of(frame).lists(frame, name, side, where)


def objects(frame: Any, name: Any) -> list[Any]:
    """Return a column as Python objects, None for null."""
    return library_of(frame).objects(frame, name)


def python_lists(frame: Any, name: str, side: str, where: Where = in_row) -> list[Any] | None:
    """Return a column of Python lists or arrays (only pandas has such); None for any other."""
    if type_of(frame, name) is not np.dtype(object) or not len(frame):
        return None
    if sys.modules["pandas"].api.types.infer_dtype(frame[name], skipna=True) == "string":
        return None  # 10 ns per row, where the types of all objects take 40
    rows = objects(frame, name)
    containers = (list, tuple, set, frozenset, dict, np.ndarray)
    if not any(isinstance(row, containers) for row in rows):
        return None
    for place, row in enumerate(rows):
        if not isinstance(row, containers):
            raise ValueError(f"{side}: column {name!r} holds {row!r} in {where(place)}, not a list")
    return rows


def type_of(frame: Any, name: Any) -> Any:
    """Return what the library calls the type of a column."""
    return library_of(frame).type_of(frame, name)


def _check_no_null_list(side: str, name: str, null: Any, where: Where) -> None:
    missing = np.flatnonzero(null)
    if len(missing):
        raise ValueError(f"{side}: column {name!r} is null in {where(int(missing[0]))}: write []")


def texts_of(column: Any) -> TextColumn | None:
    """Return the texts of an array."""
    types = sys.modules["pyarrow"].types
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if column.null_count:
        return None
    if types.is_dictionary(column.type):
        found = texts_of(column.dictionary)
        if found is None or found.codes is not None:
            return None
        return found._replace(codes=np.from_dlpack(column.indices))
    if types.is_string_view(column.type):
        return TextColumn(views_of(column))
    if types.is_string(column.type) or types.is_large_string(column.type):
        return TextColumn(spans_of(column))
    return None


def views_of(column: Any) -> Views:
    """Return the texts of an array of string_view where they are in memory."""
    _, views, *buffers = column.buffers()
    words = np.empty(0, np.uint64)
    if len(column):
        words = np.frombuffer(views, np.uint64, 2 * len(column), 16 * column.offset)
    parts = [np.frombuffer(buffer, np.uint8) for buffer in buffers]
    text = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint8), *parts])
    return Views(words, text, offsets_of([len(part) for part in parts]))


def spans_of(column: Any) -> Spans:
    """Return the texts of an array of Arrow where they are in memory."""
    _, offsets, data = column.buffers()
    wide = sys.modules["pyarrow"].types.is_large_string(column.type)
    width = np.dtype(np.int64 if wide else np.int32)
    text = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    if not len(column):  # it may have no offsets
        return Spans(text, np.empty(0, width), np.empty(0, width))
    bounds = np.frombuffer(offsets, width, len(column) + 1, column.offset * width.itemsize)
    return Spans(text, bounds[:-1], bounds[1:])


class _Library:
    """How the tables of one library are read; a class for each.

    `array` returns a column of numbers without nulls (or None), `codes` codes (-1 for null) and the
    distinct values, `lists` offsets and values of a column of lists (or None), and `objects` a
    column as Python objects, None for null. The methods below are right for a library whose tables
    are of a class ``DataFrame`` and have ``columns``, ``[name]`` and ``[rows]``.
    """

    def kinds(self, module: Any) -> Any:
        """Return the classes of tables."""
        return module.DataFrame

    def names(self, frame: Any) -> list[Any]:
        """Return the column names."""
        return list(frame.columns)

    def values(self, frame: Any, name: Any) -> NDArray[Any]:
        """Return a column as an array of any type."""
        return np.asarray(frame[name])

    def take(self, frame: Any, rows: Ints) -> Any:
        """Return some rows as a table."""
        return frame[rows]

    def type_of(self, frame: Any, name: Any) -> Any:
        """Return what the library calls the type of a column."""
        return frame[name].dtype

    def texts(self, frame: Any, name: Any) -> TextColumn | None:
        """Return a column of texts without nulls, or of codes of texts; None for any other."""
        return None


class _Pandas(_Library):
    """pandas frames."""

    def take(self, frame: Any, rows: Ints) -> Any:
        """Return some rows as a table."""
        return frame.iloc[rows]

    def array(self, frame: Any, name: str) -> NDArray[Any] | None:
        """Return a column of numbers without nulls, or None."""
        dtype = frame[name].dtype
        if getattr(dtype, "kind", "O") not in "iuf" or frame[name].isna().any():
            return None
        found = frame[name].to_numpy()
        return found if found.dtype.kind in "iuf" else found.astype(dtype.numpy_dtype)

    def texts(self, frame: Any, name: Any) -> TextColumn | None:
        """Return a column of texts without nulls, or of codes of texts; None for any other."""
        series = frame[name]
        if not hasattr(series, "cat"):
            return self._texts(series)
        codes, found = series.cat.codes.to_numpy(), self._texts(series.cat.categories)
        if found is None or found.codes is not None or codes.min(initial=0) < 0:
            return None
        return found._replace(codes=codes)

    def _texts(self, values: Any) -> TextColumn | None:
        """Return the texts of a series or an index."""
        dtype = values.dtype
        if getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
            return texts_of(sys.modules["pyarrow"].array(values))
        objects = "python" if getattr(dtype, "kind", "O") == "O" else ""
        if getattr(dtype, "storage", objects) != "python":
            return None
        try:
            return TextColumn(joined(values.to_numpy(object).tolist()))
        except TypeError:  # not all are text
            return None

    def codes(self, frame: Any, name: str, what: str) -> tuple[Ints, list[Any]]:
        """Return codes (-1 for null) and the distinct values; `what` names the column."""
        series = frame[name]
        if hasattr(series, "cat"):
            return series.cat.codes.to_numpy(np.int64), series.cat.categories.tolist()
        if series.dtype == object:
            kinds_of(series.dropna().tolist(), what)  # 1 and True share a code
        codes, names = sys.modules["pandas"].factorize(series)
        return codes.astype(np.int64), list(names)

    def lists(self, frame: Any, name: str, side: str, where: Where) -> tuple[Ints, Any] | None:
        """Return offsets and values of a column of Arrow lists."""
        dtype = getattr(frame[name].dtype, "pyarrow_dtype", None)
        if dtype is None:
            return None
        pyarrow = sys.modules["pyarrow"]
        return _Arrow().lists(pyarrow.table({name: pyarrow.array(frame[name])}), name, side, where)

    def objects(self, frame: Any, name: Any) -> list[Any]:
        """Return a column as Python objects, None for null."""
        series = frame[name]
        nulls = series.isna().tolist()
        values = series.tolist()
        return [None if null else value for value, null in zip(values, nulls, strict=True)]


class _Polars(_Library):
    """polars frames."""

    def array(self, frame: Any, name: str) -> NDArray[Any] | None:
        """Return a column of numbers without nulls, or None."""
        series = frame[name]
        if not series.dtype.is_numeric() or series.null_count() or "128" in str(series.dtype):
            return None  # numpy has no integers of 128 bits: as Python's they are exact
        return series.to_numpy()

    def texts(self, frame: Any, name: Any) -> TextColumn | None:
        """Return a column of texts without nulls, or of codes of texts; None for any other."""
        polars, series = sys.modules["polars"], frame[name]
        if series.null_count():
            return None
        if series.dtype == polars.String:
            return TextColumn(self._texts(series))
        if series.dtype not in (polars.Categorical, polars.Enum) or not len(series):
            return None
        codes = series.to_physical().to_numpy()
        if int(codes.max()) > 4 * len(codes) + 2**20:  # of many that other frames have
            codes = Numbering().number(codes)

        def texts_at(rows: Ints) -> Any:
            return self._texts(series.gather(rows).cast(polars.String))

        return TextColumn(None, codes, texts_at)

    def _texts(self, series: Any) -> Views | Spans:
        """Return the texts of a series: where they are in memory, with pyarrow."""
        newest = sys.modules["polars"].CompatLevel.newest()  # string_view, which is not a copy
        try:
            return views_of(series.to_arrow(compat_level=newest))
        except ImportError:
            return joined(series.to_list())

    def codes(self, frame: Any, name: str, what: str) -> tuple[Ints, list[Any]]:
        """Return codes (-1 for null) and the distinct values; `what` names the column."""
        names = frame[name].drop_nulls().unique().to_list()
        kinds_of(names, what)  # integers too wide may share a hash
        places = {None: -1} | {one: code for code, one in enumerate(names)}
        return np.array([places[one] for one in frame[name].to_list()], np.int64), names

    def lists(self, frame: Any, name: str, side: str, where: Where) -> tuple[Ints, Any] | None:
        """Return offsets and values of a column of lists."""
        series = frame[name]
        if hasattr(series.dtype, "shape"):
            series = series.arr.to_list()
        if not hasattr(series.dtype, "inner"):
            return None
        _check_no_null_list(side, name, series.is_null().to_numpy(), where)
        lengths = series.list.len().cast(sys.modules["polars"].Int64).to_numpy()
        filled = series.filter(series.list.len() > 0)  # an empty list would become a null
        return offsets_of(lengths), filled.explode().rename(name).to_frame()

    def objects(self, frame: Any, name: Any) -> list[Any]:
        """Return a column as Python objects, None for null."""
        return frame[name].to_list()


# Types that pyarrow (26) does not take rows of, and those that it does.
_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}


class _Arrow(_Library):
    """pyarrow tables and record batches."""

    def kinds(self, module: Any) -> Any:
        """Return the classes of tables."""
        return module.Table, module.RecordBatch

    def names(self, frame: Any) -> list[Any]:
        """Return the column names."""
        return list(frame.schema.names)

    def values(self, frame: Any, name: Any) -> NDArray[Any]:
        """Return a column as an array of any type."""
        return self._column(frame, name).to_numpy(zero_copy_only=False)

    def take(self, frame: Any, rows: Ints) -> Any:
        """Return some rows as a table."""
        views = [field for field in frame.schema if str(field.type) in _VIEWS]
        for field in views:  # pyarrow has no take of them
            at, plain = frame.schema.get_field_index(field.name), _VIEWS[str(field.type)]
            frame = frame.set_column(at, field.name, frame.column(at).cast(plain))
        return frame.take(rows)

    def type_of(self, frame: Any, name: Any) -> Any:
        """Return the Arrow type of a column."""
        return frame.schema.field(name).type

    def _column(self, frame: Any, name: str) -> Any:
        column = frame.column(name)
        if getattr(column, "num_chunks", 0) == 1:
            return column.chunk(0)  # combine_chunks would copy it
        return column.combine_chunks() if hasattr(column, "combine_chunks") else column

    def array(self, frame: Any, name: str) -> NDArray[Any] | None:
        """Return a column of numbers without nulls, or None."""
        column = self._column(frame, name)
        types = sys.modules["pyarrow"].types
        numeric = types.is_integer(column.type) or types.is_floating(column.type)
        if not numeric or column.null_count:
            return None
        # to_numpy would import pandas, where that is installed
        return np.from_dlpack(column)

    def codes(self, frame: Any, name: str, what: str) -> tuple[Ints, list[Any]]:
        """Return codes (-1 for null) and the distinct values."""
        column = self._column(frame, name)
        if sys.modules["pyarrow"].types.is_string_view(column.type):
            column = column.cast(sys.modules["pyarrow"].large_string())
        if not hasattr(column, "dictionary"):
            column = column.dictionary_encode()
        indices = column.indices.cast(sys.modules["pyarrow"].int64())  # unsigned ones have no -1
        codes = np.from_dlpack(indices.fill_null(-1))
        return codes.astype(np.int64, copy=False), column.dictionary.to_pylist()

    def texts(self, frame: Any, name: Any) -> TextColumn | None:
        """Return a column of texts without nulls, or of codes of texts; None for any other."""
        return texts_of(self._column(frame, name))

    def lists(self, frame: Any, name: str, side: str, where: Where) -> tuple[Ints, Any] | None:
        """Return offsets and values of a column of lists, without copying the values."""
        column = self._column(frame, name)
        pyarrow = sys.modules["pyarrow"]
        types = pyarrow.types
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if types.is_fixed_size_list(column.type):
            column = column.cast(pyarrow.list_(column.type.value_type))
        if types.is_list_view(column.type) or types.is_large_list_view(column.type):
            # pyarrow's own cast of a view loses its last row (26.0)
            lists = pyarrow.large_list(column.type.value_type)
            column = pyarrow.array(column.to_pylist(), lists)
        if not (types.is_list(column.type) or types.is_large_list(column.type)):
            return None
        _check_no_null_list(side, name, column.is_null().to_numpy(zero_copy_only=False), where)
        offsets = column.offsets.to_numpy().astype(np.int64)
        return offsets - offsets[0], pyarrow.table({name: column.flatten()})

    def objects(self, frame: Any, name: Any) -> list[Any]:
        """Return a column as Python objects, None for null."""
        return frame.column(name).to_pylist()


_LIBRARIES: dict[str, Any] = {"pandas": _Pandas(), "polars": _Polars(), "pyarrow": _Arrow()}


def library_of(frame: Any) -> Any:
    """Return what reads a table; None for one of an unknown library."""
    for name, library in _LIBRARIES.items():
        module = sys.modules.get(name)
        if module is not None and isinstance(frame, library.kinds(module)):
            return library
    return None
