"""`Ranks`: what few need to say of a source of lists, beside the lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from toplist.checks import choice
from toplist.inputs.options import (
    ORDERS,
    SIDES,
    ColumnNames,
    FormatName,
    Order,
)
from toplist.metrics.conventions import TIES, Convention, Ties


@dataclass(frozen=True, eq=False, repr=False)
class Ranks:
    """Ranked lists, and what is to be said of them that few need to say.

    It stands where `ranks` does. A file is read at each evaluation, a stream can be read once.

    Parameters
    ----------
    ranks : any form that `toplist.top_k_eval` takes
        A text is a path.
    columns : mapping, optional
        Of a table or file: its own names of user_id, item_id, rank and score.
    format : {"csv", "tsv", "jsonl", "trec", "parquet"}, optional
        Of a file; default what the extension says.
    order : {"file"}, optional
        Of a file: items are taken in the order of the file, best first.
    ties : {"order", "item", "item_desc"}, optional
        Where scores rank the items: equal scores keep their order, or go by item id, ascending or
        descending; integers as numbers, text by code points. Default: trec_eval's "item_desc" in
        TREC files and under convention "trec_eval", "item" on Spark, whose rows have no order, else
        "order". The result says which was used.
    users : sequence, optional
        The users' keys, one per row, where the lists have none (lists by position, arrays,
        `Lists`, `Hits`): weights, labels and merging then go by key.
    unit : str, optional
        What the rows are called in print, in the plural: "sessions". Default: "users"; "queries"
        of TREC files, of ranx, and where both sides are dicts query -> {document: number}; "rows"
        where they have clusters.

    Raises
    ------
    ValueError
        For a word that is not valid.

    Examples
    --------
    >>> import toplist as tl
    >>> lists = tl.Ranks([[1, 2], [3, 4]], users=["ann", "bob"])
    >>> lists
    Ranks(list, users=['ann', 'bob'])
    >>> result = tl.top_k_eval(lists, [{2}, {3}], k=2, metrics="mrr")
    >>> result.per_user("mrr@2", keyed=True)
    {'ann': 0.5, 'bob': 1.0}
    """

    ranks: Any
    columns: ColumnNames = None
    format: FormatName | None = None
    order: Order | None = None
    ties: Ties | None = None
    users: Any = None
    unit: str | None = None

    def __post_init__(self) -> None:
        """Check the words; a text is a path."""
        if isinstance(self.ranks, Ranks):
            raise TypeError("ranks is a Ranks already: give its lists, with all that is to be said")
        if isinstance(self.ranks, str):
            object.__setattr__(self, "ranks", Path(self.ranks))
        words = {"format": get_args(FormatName), "order": ORDERS, "ties": TIES}
        for name, valid in words.items():
            if getattr(self, name) is not None:
                choice(name, getattr(self, name), valid)

    def __repr__(self) -> str:
        """Return what the lists are, and what is said of them."""
        what = str(self.ranks) if isinstance(self.ranks, Path) else type(self.ranks).__name__
        told = (f"{name}={value!r:.60}" for name, value in self.said.items())
        return f"{type(self).__name__}({', '.join([what, *told])})"

    @property
    def said(self) -> dict[str, Any]:
        """What is said of the lists, by name."""
        values = {one.name: getattr(self, one.name) for one in fields(self)[1:]}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def options(self) -> dict[str, Any]:
        """What is said of the lists, as `toplist.inputs.options.Options` has it."""
        found = {name: value for name, value in self.said.items() if name != "columns"}
        if "format" in found:
            found["ranks_format"] = found.pop("format")
        return found


def columns_beside(columns: ColumnNames, own: ColumnNames) -> ColumnNames:
    """Return the names of columns of both sides, where lists have names of their own.

    Those of the evaluation are then of the ground truths alone.

    Examples
    --------
    >>> columns_beside({"user_id": "who"}, {"item_id": "movieId"})
    {'ranks': {'item_id': 'movieId'}, 'ground_truths': {'user_id': 'who'}}
    """
    if own is None:
        return columns
    ranks, truths = SIDES
    if not isinstance(columns, Mapping):
        return {ranks: own} if columns is None else columns  # which is refused where it is read
    of_both = {name: theirs for name, theirs in columns.items() if name not in SIDES}
    return {ranks: own, truths: of_both | dict(columns.get(truths, {}))}


def of_source(ranks: Any, columns: ColumnNames, rules: Convention) -> tuple[Any, dict[str, Any]]:
    """Return lists, and what is said of them, as options: names of columns, ties, users, ..."""
    said: dict[str, Any] = {"columns": columns, "ties": rules.ties}
    if not isinstance(ranks, Ranks):
        return ranks, said
    return ranks.ranks, said | ranks.options | {"columns": columns_beside(columns, ranks.columns)}
