"""`Items`: what is known of the items, and of what each user had, for metrics of the lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from toplist.checks import about, choice

Unknown = Literal["raise", "skip"]
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)


@dataclass(frozen=True, eq=False)
class Items:
    """Facts of the items beside the lists, for the metrics that need them.

    These metrics are of all lists given, without weights and truths; but serendipity and hit_share
    are of the users of the truth.

    Parameters
    ----------
    catalogue : int or ids, optional
        All items, as in `toplist.beyond.exposure`, for item_coverage and gini; with streams, for
        shannon_entropy too.
    counts : dict item -> number, pandas Series, table, or array, optional
        Interactions of each item in the training data, for average_popularity, tail_percentage,
        novelty and popularity_lift.
    features : dict item -> vector, pandas Series, table, or array, optional
        For intra_list_diversity. A table has item_id, and a column for each number.
    labels : dict item -> label or list of labels, pandas Series, or table, optional
        Genres, providers: for calibration, exposure_share and hit_share, and for
        intra_list_diversity without features, or with ``(distance=jaccard)``. A table has item_id
        and one other column, and a row per item and label.
    distances : square table or array, optional
        A table has a column for each item, and the items as item_id or the index of pandas.
        For intra_list_diversity without features, or with ``(distance=given)``.
    history : dict user -> items, pandas Series, or table, optional
        What each user had before, for calibration and popularity_lift. By position as the lists
        are, else by key; users without one are left out of these metrics, and counted. An item
        counts as often as it is there.
    expected : dict user -> items, pandas Series, table, or a set of items for everyone, optional
        What each user could expect, for unexpectedness and serendipity.
    unknown : {"raise", "skip"}
        An item of a list or a history that is not among those given: refused, or left out.

    Raises
    ------
    ValueError
        For another word of `unknown`.

    Examples
    --------
    >>> import toplist as tl
    >>> items = tl.Items(catalogue=4, counts={0: 8, 1: 4, 2: 2, 3: 2})
    >>> items
    Items(catalogue, counts)
    >>> tl.top_k_eval([[0, 1]], [{1}], 2, metrics="item_coverage", items=items)["item_coverage@2"]
    0.5
    """

    catalogue: Any = None
    counts: Any = None
    features: Any = None
    labels: Any = None
    distances: Any = None
    history: Any = None
    expected: Any = None
    unknown: Unknown = "raise"

    def __post_init__(self) -> None:
        """Check the word."""
        choice("unknown", self.unknown, UNKNOWN)

    def __repr__(self) -> str:
        """Return the names of what is given."""
        names = [*self.given, *([f"unknown={self.unknown!r}"] if self.unknown != "raise" else [])]
        return f"Items({', '.join(names)})"

    @property
    def given(self) -> dict[str, Any]:
        """What is given, by name."""
        found = {name: getattr(self, name) for name in ITEMS}
        return {name: value for name, value in found.items() if value is not None}


class ItemKeyword(NamedTuple):
    """What is said of a fact of `Items`, and how the command line reads it.

    Attributes
    ----------
    give : str
        What to give, in the error of a metric that needs it.
    file : {"ids", "counts", "number", "numbers", "labels", "matrix", "items"}
        What a file has of each item, or user: see `toplist.files.tables.facts`.
    help : str
        In the help of the command line.
    """

    give: str
    file: str
    help: str


ITEMS = {
    "catalogue": ItemKeyword(
        give="the number of items, or their ids",
        file="ids",
        help="items (CSV, TSV: item_id), for item_coverage and gini",
    ),
    "counts": ItemKeyword(
        give="a dict item -> interactions in the training data, or an array",
        file="counts",
        help="item_id and count, or the training data itself, for average_popularity, "
        "tail_percentage, novelty and popularity_lift",
    ),
    "features": ItemKeyword(
        give="a dict item -> vector, or an array of items x features",
        file="numbers",
        help="item_id and numbers, for intra_list_diversity",
    ),
    "labels": ItemKeyword(
        give="a dict item -> label or list of labels, or a table of item_id and label",
        file="labels",
        help="item_id and label (several rows of an item: several labels), for calibration, "
        "exposure_share, hit_share and intra_list_diversity",
    ),
    "distances": ItemKeyword(
        give="a square table with the items as index and columns, or a square array",
        file="matrix",
        help="item_id, and a column of numbers for each item, for intra_list_diversity",
    ),
    "history": ItemKeyword(
        give="a dict user -> items, or a table of user_id and item_id",
        file="items",
        help="user_id and item_id: the training data, for calibration and popularity_lift",
    ),
    "expected": ItemKeyword(
        give="a dict user -> items that could be expected, or one set of items for everyone",
        file="items",
        help="user_id and item_id: what could be expected, for unexpectedness and serendipity",
    ),
}


# What takes the keywords, in an evaluation.
OF = "toplist.Items"


def needs(what: str, keyword: str, of: str = "") -> ValueError:
    """Return the error of a metric that needs a keyword, of `of` where it is not its own."""
    given = f"{of}({keyword}=...)" if of else f"{keyword}="
    error = ValueError(f"{what} needs {given}: {ITEMS[keyword].give}")
    return about(error, metric=what, needs=keyword)
