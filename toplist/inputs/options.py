"""Keywords that several functions share: how lists are read and joined, and data of the items."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from toplist.checks import Keyword, worded
from toplist.inputs.grades import Grading

COLUMNS = ("user_id", "item_id", "rank", "score", "relevance")
DUPLICATES = ("raise", "first")
TIES = ("order", "item", "item_desc")
UNKNOWN = ("raise", "skip")
SIDES = ("ranks", "ground_truths")

# Names of columns: ours -> theirs, of both sides; or side -> {ours: theirs}.
Columns = Mapping[str, Any] | None


class Reading(TypedDict, total=False):
    """How lists are read: keywords of `toplist.beyond.exposure`."""

    duplicates: str
    padding: Any
    columns: Columns
    n_threads: int | None


class Joining(NamedTuple):
    """How lists are joined with ground truths, in the order of the public keywords."""

    duplicates: str = "raise"
    padding: Any = None
    relevant_from: float | None = None
    gains: str = "linear"
    columns: Columns = None
    n_threads: int | None = None
    ties: str = "order"
    users: Sequence[Any] | None = None

    @property
    def grading(self) -> Grading:
        """How grades become gains."""
        return Grading(self.relevant_from, self.gains)

    @property
    def reading(self) -> tuple[Any, ...]:
        """How lists are read: the last fields of `Known`."""
        return self.duplicates, self.padding, self.columns, self.n_threads


class Known(NamedTuple):
    """Data of the items, and how lists are read: keywords of `top_k_eval`."""

    catalogue: Any = None
    item_counts: Any = None
    features: Any = None
    unknown: str = "raise"
    duplicates: str = "raise"
    padding: Any = None
    columns: Columns = None
    n_threads: int | None = None

    @property
    def reading(self) -> Reading:
        """How lists are read."""
        return {
            "duplicates": self.duplicates,
            "padding": self.padding,
            "columns": self.columns,
            "n_threads": self.n_threads,
        }


# What to give for each keyword of `Known` that a metric may need.
NEEDED = {
    "catalogue": "the number of items, or their ids",
    "item_counts": "a dict item -> interactions in the training data, or an array",
    "features": "a dict item -> vector, or an array of items x features",
}


def needs(what: str, keyword: str) -> ValueError:
    """Return the error of a metric that needs a keyword of `Known`."""
    return worded(ValueError, f"{what} needs ", Keyword(keyword), f": {NEEDED[keyword]}")


def columns_of(columns: Columns, side: str) -> dict[str, str]:
    """Return what each column is called in the tables of one side, "ranks" or "ground_truths".

    `columns` holds names for both sides, names by side, or both forms together: those of the side
    come first.

    Examples
    --------
    >>> ours = {"user_id": "who", "ranks": {"item_id": "movieId"}}
    >>> [columns_of(ours, side)["item_id"] for side in SIDES], columns_of(ours, "ranks")["user_id"]
    (['movieId', 'item_id'], 'who')
    """
    if not isinstance(columns, Mapping):
        return renamed(columns)
    both = {name: theirs for name, theirs in columns.items() if name not in SIDES}
    unknown = [name for name in both if name not in COLUMNS]
    if unknown:
        raise ValueError(
            f"columns: {unknown[0]!r} is none of {', '.join(COLUMNS)}; for one side only: "
            f"columns={{'ranks': {{'item_id': 'NAME'}}}} or 'ground_truths'"
        )
    for one in SIDES:
        if not isinstance(columns.get(one, {}), Mapping):
            raise TypeError(
                f"columns: {one!r} is a side: give a dict, {{{one!r}: {{'item_id': 'NAME'}}}}"
            )
        renamed(columns.get(one))
    return renamed(both | dict(columns.get(side, {})))


def renamed(columns: Mapping[str, str] | None, valid: Sequence[str] = COLUMNS) -> dict[str, str]:
    """Return what each of the valid columns is called in the tables."""
    if columns is not None and not isinstance(columns, Mapping):
        raise TypeError(
            f"columns is a {type(columns).__name__}: give a dict, {valid[0]} -> its name"
        )
    unknown = [name for name in columns or {} if name not in valid]
    if unknown:
        raise ValueError(f"columns: {unknown[0]!r} is none of {', '.join(valid)}")
    return {name: name for name in valid} | dict(columns or {})
