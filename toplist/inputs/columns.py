"""Columns of tables: the only module with branches by library.

A column of any library is read (`read`) as one of three: an array of numpy (numbers without nulls),
an array of Arrow, or a list of Python's objects; or as codes of one of these, or lists of its
values. All else knows these three. A library whose tables have Arrow's interface needs no branch,
any other one in `read`. No library is imported to recognise a frame: if there is a pandas frame,
pandas is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, cached, is_missing, optional
from toplist.inputs.factorize import Column, Numbering, by_value, used_codes
from toplist.inputs.ids import signed
from toplist.inputs.keyed import column_of, is_series, keyed_rows
from toplist.inputs.lists import Lists, offsets_of, places_of
from toplist.inputs.lists import is_frame as is_frame
from toplist.inputs.objects import one_result_at_a_time, to_builtin
from toplist.inputs.texts import Spans, TextColumn, Texts, Views, joined

Where = Callable[[int], str]  # how messages name a row
in_row: Where = "row {}".format

# Lists of ids as objects, which tables of pandas have, and lines of JSON.
CONTAINERS = (list, tuple, set, frozenset, dict, np.ndarray)


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
    if not (hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")):
        return None
    if hasattr(value, "to_frame"):
        table = value.rename("values").to_frame()
    else:
        table = sys.modules["pyarrow"].table({"values": value})
    cells = read(table, "values", side)
    found = cells.lists()
    column = (cells if found is None else found[1]).ids()
    items = column.codes
    if column.names is not None:
        items = np.array(list(column.names), object)[items]
    return items if found is None else Lists(found[0], items)


def readable(frame: Any) -> Any:
    """Return the table, or its copy in Arrow if it is of another library.

    Raises
    ------
    ImportError
        If pyarrow is needed for the copy and cannot be imported.
    """
    frame = frame if _library(frame) else to_builtin(frame, "table")
    if _library(frame) or isinstance(frame, Table):
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


_TABLES = {"pandas": ("DataFrame",), "polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}


def _library(frame: Any) -> str:
    """Return the library of a table; "" for one that is not known."""
    for name, kinds in _TABLES.items():
        module = sys.modules.get(name)
        if module and isinstance(frame, tuple(getattr(module, kind) for kind in kinds)):
            return name
    return ""


def names_of(frame: Any) -> list[Any]:
    """Return the column names."""
    return list(frame.schema.names if _library(frame) == "pyarrow" else frame.columns)


# Types that pyarrow (26) does not take rows of, and those that it does.
_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}


def take(frame: Any, rows: Ints) -> Any:
    """Return some rows of a table as a table of the same library."""
    library = _library(frame)
    if library == "pandas":
        return frame.iloc[rows]
    if library == "polars":
        return frame[rows]
    if isinstance(frame, Table):
        return frame.take(rows)
    for at, one in enumerate(frame.schema):
        if str(one.type) in _VIEWS:
            plain = frame.column(at).cast(_VIEWS[str(one.type)])
            frame = frame.set_column(at, one.name, plain)
    return frame.take(rows)


def cell(frame: Any, name: Any, row: int) -> Any:
    """Return one cell as a Python object, None for null, without a look at the others."""
    # of Arrow, a slice is there for every type; take is not
    some = frame.slice(row, 1) if hasattr(frame, "slice") else frame.iloc[row : row + 1]
    return read(some, name).objects()[0]


def read(frame: Any, name: Any, side: str = "", where: Where = in_row) -> Cells:
    """Return a column of a table; messages name the table by `side`, a row by `where`."""
    library = _library(frame)
    if isinstance(frame, Table):
        found = frame.cells[name]
    elif library == "pyarrow":
        found = _of_arrow(name, frame.column(name))
    else:
        found = (_of_polars if library == "polars" else _of_pandas)(name, frame[name])
    return replace(found, side=side, where=where)


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of a table, as it was read.

    Attributes
    ----------
    name : the column
    data : array of numpy, array of Arrow, or list
        Numbers without nulls, anything, or Python's objects, None for null. With `codes` or
        `offsets`, the `Cells` of the distinct values, or of the values of all lists.
    kind : what the library calls the type, for messages
    codes : array of int, optional
        Of each row, of a dictionary or categories: its place in `data`, -1 for null.
    offsets : array of int64, optional
        Of a column of lists: row i has the values from ``offsets[i]`` to ``offsets[i + 1]``.
    null : array of int64
        The rows whose list is null.
    side, where : how messages name the table, and a row
    in_lists : bool
        Whether these are the values of a column of lists, which may be padded with an empty text.
    """

    name: Any
    data: Any
    kind: Any
    codes: NDArray[Any] | None = None
    offsets: Ints | None = None
    null: Any = ()
    side: str = ""
    where: Where = in_row
    in_lists: bool = False

    def __len__(self) -> int:
        """Return the number of rows."""
        if self.offsets is not None:
            return len(self.offsets) - 1
        return len(self.data if self.codes is None else self.codes)

    @property
    def _in_arrow(self) -> bool:
        return hasattr(self.data, "null_count")

    @cached
    def array(self) -> NDArray[Any] | None:
        """The numbers of a column without nulls; None for any other."""
        if self.codes is not None or self.offsets is not None or isinstance(self.data, list):
            return None
        if not self._in_arrow:
            return self.data
        types = sys.modules["pyarrow"].types
        numeric = types.is_integer(self.data.type) or types.is_floating(self.data.type)
        # to_numpy would import pandas, where that is installed
        return np.from_dlpack(self.data) if numeric and not self.data.null_count else None

    @cached
    def texts(self) -> TextColumn | None:
        """The texts of a column without nulls, or codes of texts; None for any other."""
        if self.offsets is not None:
            return None
        if self.codes is not None:
            if self.codes.min(initial=0) < 0:
                return None
            found = self.data.texts
            return found and found._replace(codes=self.codes)
        if isinstance(self.data, list):
            try:
                return TextColumn(joined(self.data))
            except TypeError:  # not all are text
                return None
        if not self._in_arrow or self.data.null_count:
            return None
        types = sys.modules["pyarrow"].types
        if types.is_string_view(self.data.type):
            return TextColumn(views_of(self.data))
        if types.is_string(self.data.type) or types.is_large_string(self.data.type):
            return TextColumn(spans_of(self.data))
        return None

    def objects(self) -> list[Any]:
        """Return the cells as Python objects, None for null."""
        if self.offsets is not None:
            values, bounds = self.data.objects(), self.offsets.tolist()
            rows: list[Any] = [values[lo:hi] for lo, hi in pairwise(bounds)]
            for row in self.null:
                rows[row] = None
            return rows
        if self.codes is not None:
            names = [*self.data.objects(), None]  # that of -1
            return [names[code] for code in self.codes.tolist()]
        if self._in_arrow:
            return self.data.to_pylist()
        return self.data if isinstance(self.data, list) else self.data.tolist()

    def numbers(self, exact: bool = False) -> NDArray[Any]:
        """Return a column of numbers without nulls; TypeError for anything else.

        With `exact`, as of scores, numbers that are neither integers of 64 bits nor doubles are
        refused; without it, they are their values.
        """
        if not len(self):  # an empty column is of any type
            return np.empty(0)
        if self.array is not None and self.array.dtype.kind in "iuf":
            return self.array
        values = self.objects()
        if self.array is not None and exact:  # of a file of text; of scores, the order counts
            places: Ints = np.unique(self.array, return_inverse=True)[1].astype(np.int64)
            return places
        found = by_value(values, exact)
        if found is not None:
            return found
        null = next((row for row, value in enumerate(values) if value is None), None)
        way = ": cast it to integers of 64 bits, or to floats" if exact else ""
        raise TypeError(
            f"{self.side}: column {self.name!r} must hold numbers, and no nulls; it is {self.kind}"
            + (way if null is None else f", null in {self.where(null)}")
        )

    def ids(self, known: Texts | None = None) -> Column:
        """Return a column of ids; the errors name the row of a null, or the type without ids.

        An empty text is missing, too: a file of text has no other way to write it. Texts are
        numbered by `known`, if given.
        """
        what = f"{self.side}, column {self.name!r}"
        if self.array is not None and self.array.dtype.kind in "iu":
            return Column(self.name, signed(self.array, what))
        if self.texts is not None:
            found = self._encoded(self.texts, Texts() if known is None else known)
        else:
            codes, names = self._coded()
            if codes.min(initial=0) < 0:
                raise self._missing(int(np.argmax(codes < 0)))
            try:
                distinct = column_of(self.name, names, what)
            except TypeError:  # a NaN among integers makes floats of all
                missing = [row for row, one in enumerate(self.objects()) if is_missing(one)]
                if not missing:
                    raise
                raise self._missing(missing[0]) from None
            found = distinct.take(codes)
        self._check_empty(found)
        return found

    def _coded(self) -> tuple[NDArray[Any], list[Any]]:
        """Return the code of each row, -1 for null, and the distinct values.

        TypeError for a column of lists, or of Object of polars, which has no distinct values.
        """
        if self.codes is not None:
            return self.codes, self.data.objects()
        if self._in_arrow:
            with suppress(ValueError, NotImplementedError):  # Arrow's own
                cast = self.data.cast(_VIEWS.get(str(self.data.type), self.data.type))
                column = cast.dictionary_encode()
                codes = np.from_dlpack(column.indices.cast("int64").fill_null(-1))
                return codes, column.dictionary.to_pylist()
        elif self.offsets is None and str(self.kind) != "Object":
            rows = self.objects()
            known = np.array([one is not None for one in rows], bool)
            codes = np.where(known, np.cumsum(known) - 1, -1)
            return codes, [one for one in rows if one is not None]
        raise TypeError(
            f"{self.side}: column {self.name!r} is of {self.kind}, which holds no ids: give "
            "integers or text"
        )

    def _missing(self, row: int, null: str = "null") -> ValueError:
        """Return the error of an id that is missing."""
        what, out = f"is {null} in", "leave the row out"
        if self.in_lists:
            what, out = "holds a null in", "leave it out"
        words = f"column {self.name!r} {what} {self.where(row)}: the id is missing, {out}"
        return ValueError(f"{self.side}: {words}")

    def _check_empty(self, ids: Column, starts: Any = None) -> None:
        """Raise ValueError for an empty text; `starts` are the rows of runs of equal ids."""
        if ids.names is not None and "" in ids.names and not self.in_lists:
            for row in np.flatnonzero(ids.codes == ids.names.index("")).tolist()[:1]:
                raise self._missing(row if starts is None else int(starts[row]), "empty")

    def runs(self, known: Texts) -> tuple[Column, Ints] | None:
        """Return the ids of runs of equal rows, and the bounds of these.

        None if there are few runs, or the column is not of text; then `ids` reads it.
        """
        found = None if self.texts is None else self.texts.runs()
        if found is None:
            return None
        column = self._encoded(found[0], known)
        self._check_empty(column, found[1])
        return column, np.append(found[1], len(self))

    def _encoded(self, texts: TextColumn, known: Texts) -> Column:
        """Return texts by the numbers that `known` has of them."""
        try:
            return Column(self.name, texts.encode(known), known)
        except UnicodeDecodeError as error:
            way = f"holds text that is no UTF-8: {error}"
            raise ValueError(f"{self.side}: column {self.name!r} {way}") from None

    def lists(self) -> tuple[Ints, Cells] | None:
        """Return the offsets of a column of lists, and its values; None if it holds none."""
        offsets, data = self.offsets, self.data
        if (rows := self.containers()) is not None:
            values = (row.tolist() if isinstance(row, np.ndarray) else row for row in rows)
            offsets, data = offsets_of(list(map(len, rows))), replace(self, data=[*chain(*values)])
        if offsets is None:
            return None
        if len(self.null):
            row = self.where(int(self.null[0]))
            raise ValueError(f"{self.side}: column {self.name!r} is null in {row}: write []")

        def where(place: int) -> str:
            row = int(np.searchsorted(offsets, place, side="right")) - 1
            return f"the list of {self.where(row)}, at place {place - offsets[row] + 1}"

        return offsets, replace(data, side=self.side, where=where, in_lists=True)

    def containers(self) -> list[Any] | None:
        """Return a column of Python's lists, sets, dicts or arrays; None for any other."""
        if not isinstance(self.data, list) or self.codes is not None or self.offsets is not None:
            return None
        if not len(self.data) or self.texts is not None:
            return None
        if not any(issubclass(kind, CONTAINERS) for kind in set(map(type, self.data))):
            return None
        for place, row in enumerate(self.data):
            if not isinstance(row, CONTAINERS):
                raise ValueError(
                    f"{self.side}: column {self.name!r} holds {row!r} in {self.where(place)}, not "
                    "a list"
                )
        return self.data

    def slice(self, lo: int, hi: int) -> Cells:
        """Return the rows from `lo` to before `hi`; of a column without codes."""
        if self.offsets is None:
            return replace(self, data=self.data[lo:hi])
        bounds = self.offsets[lo : hi + 1]
        return replace(self, data=self.data.slice(*bounds[[0, -1]]), offsets=bounds - bounds[0])

    def take(self, rows: Ints) -> Cells:
        """Return some rows; of a column without codes."""
        if self.offsets is not None:
            items = self.data.take(places_of(self.offsets, rows))
            return replace(self, data=items, offsets=offsets_of(np.diff(self.offsets)[rows]))
        if isinstance(self.data, list):
            return replace(self, data=[self.data[row] for row in rows.tolist()])
        return replace(self, data=self.data.take(rows))

    def start_of_last(self) -> int:
        """Return where the last run of equal rows begins."""
        values: Any = self.data if self.codes is None else self.codes
        n, size = len(values), 1 << 6
        while True:
            lo = max(0, n - size)
            rows = values[lo:]
            if not isinstance(rows, np.ndarray):
                # one by one: to import pyarrow.compute takes longer than the rows of most users
                rows = rows.to_pylist() if self._in_arrow else rows
                differ: Any = [one != rows[-1] for one in rows]
            else:
                differ = rows != values[-1]
            found = np.flatnonzero(differ)
            if len(found) or not lo:
                return lo + int(found[-1]) + 1 if len(found) else 0
            size *= 8


@dataclass(frozen=True, eq=False)
class Table:
    """A table of columns that were read, by name: what a block of a text file is.

    `lines` are those of the rows in the file.
    """

    cells: Mapping[Any, Cells]
    lines: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        """Return the number of rows."""
        return max([len(self.lines), *map(len, self.cells.values())])

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return [*self.cells]

    def slice(self, first: int, n: int | None = None) -> Table:
        """Return `n` rows from `first` on, or all."""
        last = len(self) if n is None else first + n
        cells = {name: one.slice(first, last) for name, one in self.cells.items()}
        return Table(cells, self.lines[first:last])

    def take(self, rows: Ints) -> Table:
        """Return some rows."""
        cells = {name: one.take(rows) for name, one in self.cells.items()}
        return Table(cells, self.lines[rows] if len(self.lines) else self.lines)


def _of_pandas(name: Any, series: Any) -> Cells:
    dtype = series.dtype
    if hasattr(series, "cat"):
        names = _of_pandas(name, series.cat.categories.to_series())
        return Cells(name, names, dtype, codes=series.cat.codes.to_numpy())
    if getattr(dtype, "kind", "O") in "iuf" and not series.isna().any():
        found = series.to_numpy()
        if found.dtype.kind not in "iuf":
            found = found.astype(dtype.numpy_dtype)
        return Cells(name, found, dtype)
    if getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
        return replace(_of_arrow(name, sys.modules["pyarrow"].array(series)), kind=dtype)
    array = series.to_numpy(object)
    rows = array.tolist()
    # 10 ns per row, where a look at each for nulls takes 60
    if sys.modules["pandas"].api.types.infer_dtype(array, skipna=False) != "string":
        for row in np.flatnonzero(series.isna().to_numpy()).tolist():
            rows[row] = None
    return Cells(name, rows, dtype)


def _of_polars(name: Any, series: Any) -> Cells:
    polars, dtype = sys.modules["polars"], series.dtype
    if "128" in str(dtype) or dtype == polars.Object:  # of which numpy and Arrow have none
        return Cells(name, series.to_list(), dtype)
    if dtype.is_integer() or dtype.is_float():
        if not series.null_count():
            return Cells(name, series.to_numpy(), dtype)
    elif hasattr(dtype, "inner"):
        lists = series.arr.to_list() if hasattr(dtype, "shape") else series
        offsets = offsets_of(lists.list.len().fill_null(0).cast(polars.Int64).to_numpy())
        filled = lists.filter(lists.list.len() > 0)  # an empty list would become a null
        null = np.flatnonzero(lists.is_null().to_numpy())
        return Cells(name, _of_polars(name, filled.explode()), dtype, offsets=offsets, null=null)
    elif dtype in (polars.Categorical, polars.Enum) and len(series) and not series.null_count():
        codes = series.to_physical().to_numpy()
        if int(codes.max()) > 4 * len(codes) + 2**20:  # of many that other frames have
            codes = Numbering().number(codes)
        used, first = used_codes(codes)
        rows = np.zeros(int(used[-1]) + 1, np.int64)  # of a code that is not used: any
        rows[used] = first
        names = _of_polars(name, series.gather(rows).cast(polars.String))
        return Cells(name, names, dtype, codes=codes)
    elif dtype in (polars.Categorical, polars.Enum):
        series = series.cast(polars.String)
    try:  # string_view is not a copy
        column = series.to_arrow(compat_level=polars.CompatLevel.newest())
    except ImportError:
        return Cells(name, series.to_list(), dtype)
    return replace(_of_arrow(name, column), kind=dtype)


def _of_arrow(name: Any, column: Any) -> Cells:
    pyarrow = sys.modules["pyarrow"]
    if getattr(column, "num_chunks", 0) == 1:
        column = column.chunk(0)  # combine_chunks would copy it
    elif hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    kind, types = column.type, pyarrow.types
    if types.is_dictionary(kind):
        names, indices = _of_arrow(name, column.dictionary), column.indices
        if names.codes is not None or names.offsets is not None or names.data.null_count:
            return _of_arrow(name, column.dictionary_decode())
        if indices.null_count:  # unsigned ones have no -1
            indices = indices.cast(pyarrow.int64()).fill_null(-1)
        return Cells(name, names, kind, codes=np.from_dlpack(indices))
    if types.is_fixed_size_list(kind):
        column = column.cast(pyarrow.list_(kind.value_type))
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        # pyarrow's own cast of a view loses its last row (26.0)
        column = pyarrow.array(column.to_pylist(), pyarrow.large_list(kind.value_type))
    if not (types.is_list(column.type) or types.is_large_list(column.type)):
        return Cells(name, column, kind)
    offsets = column.offsets.to_numpy().astype(np.int64)
    null = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
    items = _of_arrow(name, column.flatten())
    return Cells(name, items, kind, offsets=offsets - offsets[0], null=null)


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
