"""A table and what its columns are called."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from toplist.inputs import dataframes as cols
from toplist.inputs.factorize import Column


@dataclass(frozen=True, eq=False)
class Table:
    """One side: a frame, what to call it in messages, and what its columns are called.

    `order` of "file" takes ranked items as they stand. Of a part of a file, `first` is the number
    of its first row, and `in_file` returns the names of all columns.
    """

    frame: Any
    side: str
    names: Mapping[str, str]
    order: str | None = None
    first: int = 0
    in_file: Callable[[], list[str]] | None = None

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return cols.names_of(self.frame)

    @property
    def beside(self) -> str | None:
        """The column whose values go with the items: a rank or score, of a truth the relevance."""
        wanted = ("rank", "score") if self.side == "ranks" else ("relevance",)
        found = [name for name in wanted if self.names[name] in self.columns]
        return found[0] if found and self.order is None else None

    def one_of(self, *wanted: str) -> str:
        """Return the first of the wanted columns that is there."""
        for name in wanted:
            if self.names[name] in self.columns:
                if self.columns.count(self.names[name]) > 1:
                    raise ValueError(f"{self.side}: two columns are named {self.names[name]!r}")
                return name
        told = " or ".join(repr(self.names[name]) for name in wanted)
        if self.names[wanted[0]] in getattr(getattr(self.frame, "index", None), "names", ()):
            raise ValueError(
                f"{self.side}: {told} is the index, not a column: .reset_index() makes it one"
            )
        found = ", ".join(map(repr, self.columns if self.in_file is None else self.in_file()))
        way_out = f"columns={{{wanted[0]!r}: '...'}} names another"
        if self.in_file is not None:
            way_out += f" (--columns {wanted[0]}=NAME)"
            way_out += ", order='file' takes the items as they stand (--order file)" * (
                "rank" in wanted
            )
        raise ValueError(f"{self.side} has no column {told}, but {found or 'none'}; {way_out}")

    def ids(self, wanted: str) -> Column:
        """Return a column of ids."""
        return cols.ids(self.frame, self.names[self.one_of(wanted)], self.side, first=self.first)

    def numbers(self, wanted: str) -> NDArray[Any]:
        """Return a column of numbers."""
        return cols.numbers(self.frame, self.names[wanted], self.side)

    def wide(self) -> list[Any]:
        """Return the columns 1 to K in order, if the others (but user_id) are these."""
        rest = [name for name in self.columns if name != self.names["user_id"]]
        if not rest or not all(str(name).isdecimal() for name in rest):
            return []
        rest.sort(key=int)
        first = int(rest[0])
        return rest if [int(name) for name in rest] == [*range(first, first + len(rest))] else []
