"""`GroundTruths`: ground truths in any form, read once for the evaluation of many lists."""

import os
from typing import Any

import numpy as np

from toplist.inputs.columns import readable
from toplist.inputs.flatten import is_frame
from toplist.inputs.forms import read_sides, side_to_builtin, truths_of_many
from toplist.inputs.kept import KeptTruths
from toplist.inputs.keyed import CountedItems, ListsByUser
from toplist.inputs.lists import Lists
from toplist.inputs.options import ColumnNames, FormatName
from toplist.inputs.tables import lists_of
from toplist.inputs.texts import Texts


class GroundTruths(KeptTruths):
    """Ground truths of many users, read, checked, encoded and hashed once.

    They stand wherever `ground_truths` does, beside lists of any form: for checkpoints, settings or
    systems that are evaluated one after another. The results are the same, to the bit; the truths
    cost nothing from the second evaluation on.

    Parameters
    ----------
    ground_truths : any form that `top_k_eval` takes
        Of many users: rows by position, a dict, a table, a path, a DataFrame of Spark (which is
        collected). They are copied, except for tables.
    columns : mapping, optional
        The names of the columns of a table or file, as in `top_k_eval`.
    format : str, optional
        The format of a file whose name does not say it.

    Raises
    ------
    TypeError, ValueError
        As `top_k_eval`, for what is wrong with the truths alone; for one user's items.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = tl.GroundTruths({"ann": {"a", "b"}, "bob": {"c"}})
    >>> truth
    GroundTruths(2 users)
    >>> checkpoints = {1: {"ann": ["a"], "bob": ["b"]}, 2: {"ann": ["b"], "bob": ["c"]}}
    >>> {step: tl.top_k_eval(lists, truth, 1)["hit@1"] for step, lists in checkpoints.items()}
    {1: 0.5, 2: 1.0}
    """

    def __init__(
        self, ground_truths: Any, *, columns: ColumnNames = None, format: FormatName | None = None
    ) -> None:
        texts, stream = (Texts(), Texts()), None
        is_path = isinstance(ground_truths, (str, os.PathLike))
        if is_path:
            from toplist.files import batches

            stream = batches.stream_of(
                *(ground_truths, "ground_truths", format, columns), keyword="format"
            )
            rows = batches.loaded(stream, texts)
        else:
            rows = _rows(ground_truths, columns, texts)
        super().__init__(rows, texts, stream)
        nothing: Any = {}
        if self.users is None or isinstance(self.rows, CountedItems):
            nothing = Lists(np.zeros(len(self) + 1, int), np.empty(0, int))
        read_sides(nothing, self)  # what is wrong with the truths is said here

    def __repr__(self) -> str:
        """Return the number of users."""
        return f"GroundTruths({len(self):,} users)"


def _rows(truths: Any, columns: ColumnNames, texts: tuple[Texts, Texts]) -> Any:
    """Return ground truths as `KeptTruths` takes them."""
    if type(truths).__module__.startswith("pyspark.sql"):
        truths = truths.toArrow()
    found = side_to_builtin(truths, "ground_truths")
    if isinstance(found, (set, frozenset)):
        raise TypeError("GroundTruths are of many users: give one user's items as [items]")
    if is_frame(found) or isinstance(found, ListsByUser):
        return lists_of(readable(found), "ground_truths", columns, known=texts)
    return found if isinstance(found, dict) else truths_of_many(found)
