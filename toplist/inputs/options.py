"""Keywords that several functions share: how lists are read and joined, and data of the items."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

from toplist.checks import Keyword, did_you_mean, near, worded
from toplist.inputs.grades import Grading
from toplist.metrics.definitions import Gains

#: What the columns of tables and files are called unless ``columns=`` says otherwise.
COLUMNS = ("user_id", "item_id", "rank", "score", "relevance")
Duplicates = Literal["raise", "first"]
DUPLICATES: tuple[Duplicates, ...] = get_args(Duplicates)
Ties = Literal["order", "item", "item_desc"]
TIES: tuple[Ties, ...] = get_args(Ties)
Order = Literal["file"]  # in the order of the file; without it by rank or score
ORDERS: tuple[Order, ...] = get_args(Order)
Unknown = Literal["raise", "skip"]
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
SIDES = ("ranks", "ground_truths")
# The keywords of each function that takes those of `Items`, for its errors.
KEYWORDS: dict[str, list[str]] = {}

# Names of columns: ours -> theirs, of both sides; or side -> {ours: theirs}.
Columns = Mapping[str, Any] | None
F = TypeVar("F", bound=Callable[..., Any])


class Reading(TypedDict, total=False):
    """How lists are read: keywords of `toplist.beyond.exposure`."""

    duplicates: Duplicates
    padding: Any
    columns: Columns
    n_threads: int | None


class Joining(NamedTuple):
    """How lists are joined with ground truths, in the order of the public keywords.

    `fingerprints` is none of these: hits that never merge need no fingerprint of their truths. Nor
    is `listed`: whether a ground truth is known for listed items only, which the convention says.
    """

    duplicates: Duplicates = "raise"
    padding: Any = None
    relevant_from: float | None = None
    gains: Gains | None = None
    columns: Columns = None
    n_threads: int | None = None
    ties: Ties = "order"
    users: Sequence[Any] | None = None
    fingerprints: bool = True
    listed: bool = False

    def depth(self, k: int | None) -> int | None:
        """Return how deep lists are read for values down to k."""
        return None if self.listed else k

    @property
    def grading(self) -> Grading:
        """How grades become gains."""
        return Grading(self.relevant_from, "linear" if self.gains is None else self.gains)

    @property
    def reading(self) -> Reading:
        """How lists are read."""
        return {
            "duplicates": self.duplicates,
            "padding": self.padding,
            "columns": self.columns,
            "n_threads": self.n_threads,
        }


class Items(TypedDict, total=False):
    """Data of the items, for metrics of the lists: each is a keyword and has a row in `ITEMS`."""

    catalogue: Any
    item_counts: Any
    features: Any


class ItemKeyword(NamedTuple):
    """What is said of a keyword of `Items`, and how the command line reads it.

    Attributes
    ----------
    give : str
        What to give, in the error of a metric that needs it.
    form, text : str
        Its paragraph in the documentation of `top_k_eval`: the first line, and the rest.
    file : {"ids", "counts", "number", "numbers"}
        What a file has of each item: see `toplist.files.tables.READERS`.
    help : str
        In the help of the command line.
    """

    give: str
    form: str
    text: str
    file: str
    help: str


ITEMS = {
    "catalogue": ItemKeyword(
        give="the number of items, or their ids",
        form="int or ids",
        text="All items, as in `toplist.beyond.exposure`, for the metrics item_coverage and gini.",
        file="ids",
        help="items (CSV, TSV: item_id), for item_coverage and gini",
    ),
    "item_counts": ItemKeyword(
        give="a dict item -> interactions in the training data, or an array",
        form="dict item -> number, or array",
        text="Interactions of each item in the training data, for the metrics average_popularity,\n"
        "tail_percentage and novelty (as the functions of `toplist.beyond`, by their defaults).",
        file="counts",
        help="item_id and count, or the training data itself, for average_popularity, "
        "tail_percentage and novelty",
    ),
    "features": ItemKeyword(
        give="a dict item -> vector, or an array of items x features",
        form="dict item -> vector, or array",
        text="For the metric intra_list_diversity.",
        file="numbers",
        help="item_id and numbers, for intra_list_diversity",
    ),
}


class Known(NamedTuple):
    """Data of the items, what is done with others, and how lists are read."""

    items: Items
    unknown: Unknown
    reading: Reading


def known_of(caller: str, items: Items, unknown: Unknown, joining: Joining) -> Known:
    """Return what a caller was given of the items; TypeError for a keyword that it does not have.

    Examples
    --------
    >>> known_of("top_k_eval", {"catalogue": 9}, "raise", Joining()).items
    {'catalogue': 9}
    """
    other = next((name for name in items if name not in ITEMS), None)
    if other is not None:  # as Python says it of a function without `**items`
        meant = did_you_mean(near(other, KEYWORDS.get(caller, ITEMS)))
        raise TypeError(f"{caller}() got an unexpected keyword argument {other!r}{meant}")
    return Known(items=items, unknown=unknown, reading=joining.reading)


def shows_items(function: F) -> F:
    """Show each keyword of `Items` in the signature and the documentation, for ``**items``.

    In the signature they stand before `unknown`. In the documentation the paragraph ``**items``
    becomes one for each; among other names, ``**items`` becomes their names.
    """
    signature = inspect.signature(function)
    parameters = dict(signature.parameters)
    del parameters["items"]
    like = parameters["unknown"]
    kind = "Any" if isinstance(like.annotation, str) else Any
    place = list(parameters).index("unknown")
    shown = [*parameters.values()]
    shown[place:place] = [like.replace(name=one, default=None, annotation=kind) for one in ITEMS]
    function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    KEYWORDS[function.__name__] = [one.name for one in shown]
    doc = inspect.cleandoc(function.__doc__ or "")  # None under python -OO
    paragraphs = "".join(
        f"{name} : {row.form}, optional\n    " + row.text.replace("\n", "\n    ") + "\n"
        for name, row in ITEMS.items()
    )
    doc = re.sub(r"^\*\*items\n(    .*\n)+", lambda _: paragraphs, doc, flags=re.MULTILINE)
    function.__doc__ = doc.replace("**items", ", ".join(ITEMS))
    return function


def needs(what: str, keyword: str) -> ValueError:
    """Return the error of a metric that needs a keyword of `Items`."""
    return worded(ValueError, f"{what} needs ", Keyword(keyword), f": {ITEMS[keyword].give}")


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
