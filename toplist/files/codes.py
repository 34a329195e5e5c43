"""`Codes`: one code for every id, the same in the ground truths and in all parts of the lists."""

from dataclasses import replace
from typing import Any

import numpy as np

from toplist.checks import about
from toplist.files.errors import short
from toplist.inputs.factorize import Column, Numbering, numbered_by, recoded
from toplist.inputs.texts import Texts, joined


class Codes:
    """Ids of one kind: an integer is its own code, text and others (bytes, dates) are numbered.

    With `as_text`, integers are read as decimal text, as the ids of a text file are. `texts` are
    those by which text is numbered.
    """

    def __init__(self, as_text: bool, texts: Texts) -> None:
        self.texts = texts
        self.names: Any = self.texts if as_text else None
        self._as_text = as_text
        self._others: dict[Any, int] = {}
        self._kinds: dict[str, tuple[type, str]] = {}  # and an example, by file where that matters

    def encode(self, column: Column, source: str) -> Column:
        """Return a column by these codes; `source` names the file in messages."""
        if not len(column):
            return replace(column, codes=np.empty(0, np.int64), names=self.names)
        kind = self._kind_of(column, source)
        if self._as_text or kind is str:
            self.names = self.texts
            return in_texts(column, self.texts)
        if kind is int:
            return replace(column, codes=column.codes.astype(np.int64))
        names = column.names if isinstance(column.names, list) else list(column.names)
        codes, _ = numbered_by(self._others, names)
        self.names = list(self._others)
        return replace(column, codes=recoded(column.codes, codes), names=self.names)

    def _kind_of(self, column: Column, source: str) -> type:
        """Return the type of the ids of a column; TypeError for a second one."""
        example = column[0]
        kind, shown = type(example), f"{short(example)} in {source}"
        known = self._kinds.setdefault(source if self._as_text else "", (kind, shown))
        if known[0] is not kind:
            error = TypeError(
                f"column {short(column.name)} holds ids of two kinds, {known[1]} and {shown}: they "
                "are never equal; convert one side"
            )
            raise about(error, path=source)
        return kind


def in_texts(column: Column, texts: Texts) -> Column:
    """Return a column by the numbers of texts; integers are read as decimal text.

    Examples
    --------
    >>> column = in_texts(Column("item_id", np.array([7, 5, 7])), Texts())
    >>> column.codes.tolist(), column[:]
    ([0, 1, 0], ['7', '5', '7'])
    """
    if column.names is texts:
        return column
    if column.names is None or isinstance(column.names, Texts):  # of which few may be used
        numbering = Numbering()  # np.unique takes fifteen times as long
        codes = numbering.number(column.codes)
        names = column.decoded(numbering.codes.astype(column.codes.dtype))
        column = replace(column, codes=codes, names=names)
    numbers = texts.encode(joined(list(map(str, column.names))))
    return replace(column, codes=recoded(column.codes, numbers), names=texts)
