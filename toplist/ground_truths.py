"""`GroundTruths`: ground truths in any form, read once for the evaluation of many lists."""

import os
from functools import partial
from typing import Any, get_args

import numpy as np

from toplist.checks import cached, choice
from toplist.inputs.columns import readable
from toplist.inputs.forms import check_users, read_sides, side_to_builtin, truths_of_many
from toplist.inputs.grades import STANDARD, Judged
from toplist.inputs.keyed import CountedItems, KeptTruths
from toplist.inputs.lists import Flat, Lists, is_frame
from toplist.inputs.options import ColumnNames, FormatName
from toplist.inputs.tables import lists_of
from toplist.inputs.texts import Texts


class GroundTruths(KeptTruths):
    """Ground truths of many users, read, checked, encoded and hashed once, at the first use.

    They stand wherever `ground_truths` does, beside lists of any form: for checkpoints, settings or
    systems that are evaluated one after another. The results are the same, to the bit; the truths
    cost nothing from the second evaluation on.

    Parameters
    ----------
    ground_truths : any form that `top_k_eval` takes
        Of many users: rows by position, a dict, a table, a path, a DataFrame of Spark (which is
        collected). A text is a path. They are copied, except for tables.
    columns : mapping, optional
        The names of the columns of a table or file, as in `top_k_eval`.
    format : {"csv", "tsv", "jsonl", "trec", "parquet"}, optional
        Of a file; default what the extension says.

    Raises
    ------
    TypeError, ValueError
        At the first use as `top_k_eval`, for what is wrong with the truths alone; for one user's
        items. At once for a format that is not valid.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = tl.GroundTruths({"ann": {"a", "b"}, "bob": {"c"}})
    >>> checkpoints = {1: {"ann": ["a"], "bob": ["b"]}, 2: {"ann": ["b"], "bob": ["c"]}}
    >>> {step: tl.top_k_eval(lists, truth, 1)["hit@1"] for step, lists in checkpoints.items()}
    {1: 0.5, 2: 1.0}
    >>> truth
    GroundTruths(2 users)
    """

    def __init__(
        self, ground_truths: Any, *, columns: ColumnNames = None, format: FormatName | None = None
    ) -> None:
        if isinstance(ground_truths, GroundTruths):
            raise TypeError("ground_truths are GroundTruths already: give what they were made of")
        if format is not None:
            choice("format", format, get_args(FormatName))
        self._given, self._columns, self._format = ground_truths, columns, format

    @cached
    def texts(self) -> tuple[Texts, Texts]:
        """The texts of users and items."""
        return Texts(), Texts()

    @property
    def is_path(self) -> bool:
        """Whether they are in a file."""
        return isinstance(self._given, (str, os.PathLike))

    @cached
    def stream(self) -> Any:
        """The file that they are from; None where they are in memory."""
        if not self.is_path:
            return None
        from toplist.files import batches  # few read files: imports stay quick

        given = self._given, "ground_truths", self._format, self._columns
        return batches.stream_of(*given, keyword="format")

    @cached
    def rows(self) -> Any:
        """The truths, read and checked at the first use."""
        if self.stream is not None:
            found: Any = self.stream.whole(self.texts)
        else:
            given = self._given
            if type(given).__module__.startswith("pyspark.sql"):
                given = given.toArrow()
            found = side_to_builtin(given, "ground_truths")
            if isinstance(found, (set, frozenset)):
                raise TypeError("GroundTruths are of many users: give one user's items as [items]")
            if is_frame(found) or isinstance(found, Flat):
                frame = readable(found)
                found = lists_of(frame, "ground_truths", self._columns, known=self.texts)
            elif isinstance(found, dict):
                check_users(found, "ground_truths")
            else:
                found = truths_of_many(found)
        known = KeptTruths(found, self.texts, self.stream)
        nothing: Any = {}
        if known.users is None or isinstance(known.rows, CountedItems):
            nothing = Lists(np.zeros(len(known) + 1, int), np.empty(0, int))
        _, truth, *_ = read_sides(nothing, known)  # what is wrong with the truths is said here
        truth.once(STANDARD, partial(Judged.of, truth, STANDARD))
        vars(self).update({name: one for name, one in vars(known).items() if name != "rows"})
        return known.rows

    def __repr__(self) -> str:
        """Return the number of users, once they are read."""
        known = f"{len(self):,} users" if "rows" in vars(self) else "not read yet"
        return f"GroundTruths({known})"
