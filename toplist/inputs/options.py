"""The options of an evaluation, in one table; how lists are read and joined; names of columns.

`Ranks` is what few need to say of a source of lists, beside the lists; `Items` is what is known of
the items, and of what each user had, for metrics of the lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from toplist.checks import Once, about, choice
from toplist.inputs.truths import Grading
from toplist.metrics.conventions import CONVENTIONS, Convention, ConventionName, Ties, rules_of
from toplist.metrics.conventions import TIES as TIES
from toplist.metrics.definitions import Gains, GainTable
from toplist.metrics.names import Metrics

#: What the columns of tables and files are called unless ``columns=`` says otherwise.
COLUMNS = ("user_id", "item_id", "rank", "score", "relevance")
#: A column of ground truths that is read only where ``columns=`` names it.
GROUP = "group"
# What others call our columns; ours come first.
SYNONYMS = {
    "user_id": ("user", "query_id", "query-id", "qid", "query"),
    "item_id": ("item", "doc_id", "docid", "docno", "doc-id", "corpus-id", "corpus_id"),
    "relevance": ("rel", "grade", "label"),
}
# What qrels of BEIR call both; they have their grades in "score".
_BEIR = {"query-id", "query_id"}, {"corpus-id", "corpus_id"}
Duplicates = Literal["raise", "first", "collapse"]
DUPLICATES: tuple[Duplicates, ...] = get_args(Duplicates)
Unjudged = Literal["miss", "drop"]
UNJUDGED: tuple[Unjudged, ...] = get_args(Unjudged)
Order = Literal["file"]  # in the order of the file; without it by rank or score
ORDERS: tuple[Order, ...] = get_args(Order)
Weighting = Literal["snips", "ips"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
Unknown = Literal["raise", "skip"]
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
Keep = Literal["users", "part"]
FormatName = Literal["csv", "tsv", "jsonl", "trec", "parquet"]
SIDES = ("ranks", "ground_truths")

# Names of columns: ours -> theirs, of both sides; or side -> {ours: theirs}.
ColumnNames = Mapping[str, Any] | None


class Reading(TypedDict, total=False):
    """How lists are read: keywords of `toplist.beyond.exposure`."""

    duplicates: Duplicates | None
    padding: Any
    columns: ColumnNames
    n_threads: int | None
    items_as: Any


class Joining(NamedTuple):
    """How lists are joined with ground truths, in the order of the public keywords.

    `fingerprints` is none of these: hits that never merge need no fingerprint of their truths. Nor
    is `listed`: whether a ground truth is known for listed items only, which the convention says.
    """

    duplicates: Duplicates | None = None
    padding: Any = None
    relevant_from: float | None = None
    gains: Gains | GainTable | None = None
    columns: ColumnNames = None
    n_threads: int | None = None
    ties: Ties = "order"
    users: Sequence[Any] | None = None
    unjudged: Unjudged = "miss"
    fingerprints: bool = True
    listed: bool = False
    items_as: Any = None

    @property
    def repeats(self) -> Duplicates:
        """What is done with an id twice in a list: chunks of one document are one item."""
        if self.duplicates is None:
            return "raise" if self.items_as is None else "collapse"
        choice("duplicates", self.duplicates, DUPLICATES)
        if self.duplicates == "raise" and self.items_as is not None:
            raise ValueError(
                "duplicates='raise' does not go with items_as=, which makes one item of the chunks "
                "of a document: leave it out, or write duplicates='first', which keeps their ranks"
            )
        return self.duplicates

    @property
    def collapses(self) -> bool:
        """Whether later copies of an id leave a list, before it is cut."""
        return self.repeats == "collapse"

    def cut(self, k: int | None) -> int | None:
        """Return where lists are cut for values down to k."""
        return None if self.listed or self.unjudged == "drop" else k

    def depth(self, k: int | None) -> int | None:
        """Return how deep lists are read for values down to k."""
        return None if self.collapses else self.cut(k)

    @property
    def grading(self) -> Grading:
        """How grades become gains."""
        return Grading(self.relevant_from, "linear" if self.gains is None else self.gains)

    @property
    def reading(self) -> Reading:
        """How lists are read."""
        found: Any = {name: getattr(self, name) for name in Reading.__annotations__}
        return found  # type: ignore[no-any-return]


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


def _fact(give: str, file: str, help: str) -> Any:
    """Return a row of `Items`."""
    return field(default=None, metadata=ItemKeyword(give, file, help)._asdict())


@dataclass(frozen=True, eq=False)
class Items(Once):
    """Facts of the items beside the lists, for the metrics that need them.

    Facts of items are read at their first use, once, and those of users (`history`, `expected`) at
    each: after a change, give new `Items`.

    These metrics are of all lists given, also of users without a truth; but serendipity and
    hit_share are of the users of the truth. Means over users take their weights, numbers of all
    lists together do not.

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

    catalogue: Any = _fact(
        give="the number of items, or their ids",
        file="ids",
        help="items (CSV, TSV: item_id), for item_coverage and gini",
    )
    counts: Any = _fact(
        give="a dict item -> interactions in the training data, or an array",
        file="counts",
        help="item_id and count (FILE:COLUMN another), or the training data itself, user_id and "
        "item_id, for average_popularity, tail_percentage, novelty and popularity_lift",
    )
    features: Any = _fact(
        give="a dict item -> vector, or an array of items x features",
        file="numbers",
        help="item_id and numbers, for intra_list_diversity",
    )
    labels: Any = _fact(
        give="a dict item -> label or list of labels, or a table of item_id and label",
        file="labels",
        help="item_id and label (several rows of an item: several labels), for calibration, "
        "exposure_share, hit_share and intra_list_diversity",
    )
    distances: Any = _fact(
        give="a square table with the items as index and columns, or a square array",
        file="matrix",
        help="item_id, and a column of numbers for each item, for intra_list_diversity",
    )
    history: Any = _fact(
        give="a dict user -> items, or a table of user_id and item_id",
        file="items",
        help="user_id and item_id: the training data, for calibration and popularity_lift",
    )
    expected: Any = _fact(
        give="a dict user -> items that could be expected, or one set of items for everyone",
        file="items",
        help="user_id and item_id: what could be expected, for unexpectedness and serendipity",
    )
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


#: What is said of the facts of `Items`, by name.
ITEMS = {row.name: ItemKeyword(**row.metadata) for row in fields(Items) if row.metadata}


def needs(what: str, keyword: str, of: str = "toplist.Items") -> ValueError:
    """Return the error of a metric that needs a keyword, of `of`; "" where it is its own."""
    given = f"{of}({keyword}=...)" if of else f"{keyword}="
    error = ValueError(f"{what} needs {given}: {ITEMS[keyword].give}")
    return about(error, metric=what, needs=keyword)


@dataclass(frozen=True, eq=False)
class ItemData(Once):
    """Facts of the items, read, what is done with other items, and how lists are read.

    What metrics make of the facts is made once, for all parts of the lists.
    """

    facts: Mapping[str, Any]
    unknown: Unknown
    reading: Reading


# Where an evaluation reads from, in the words of an error.
Source = str
MEMORY = "lists in memory"
FILES = "files"
STREAM = "streams"
SPARK = "DataFrames of Spark"
_SOURCES = (MEMORY, FILES, STREAM, SPARK)


def _option(default: Any = None, *sources: Source, choices: Sequence[str] = ()) -> Any:
    """Return a row of `Options`: its default, the sources that take it (all), its valid words."""
    return field(default=default, metadata={"sources": sources or _SOURCES, "choices": choices})


DEFAULT_METRICS = ("hit", "precision", "recall", "map", "ndcg", "mrr")
_LOCAL = (MEMORY, FILES, STREAM)
# Nothing is known of the items.
NO_ITEMS = Items()


@dataclass(frozen=True, eq=False)
class Options:
    """What is asked of an evaluation, from `toplist.top_k_eval` and its sides, in one table.

    A row has the name, the type, the default, which sources take it and its valid words; what it
    means is in the documentation of `toplist.top_k_eval`, and of `toplist.Ranks` and
    `toplist.GroundTruths` for what is said of a source.
    """

    metrics: Metrics | None = _option(None)
    convention: ConventionName | Convention = _option("standard")
    weights: Any = _option(None, *_LOCAL)
    clusters: Any = _option(None, *_LOCAL)
    propensities: Any = _option(None, *_LOCAL)
    items: Items = _option(NO_ITEMS, *_LOCAL)
    items_as: Any = _option()
    relevant_from: float | None = _option()
    unjudged: Unjudged = _option("miss", choices=UNJUDGED)
    duplicates: Duplicates | None = _option(choices=DUPLICATES)
    padding: Any = _option()
    columns: ColumnNames = _option()
    system: str | None = _option(None, MEMORY, FILES, SPARK)
    keep: Keep | None = _option(None, *_LOCAL, choices=get_args(Keep))
    n_threads: int | None = _option(None, *_LOCAL)
    users: Any = _option(None, MEMORY)
    unit: str | None = _option()
    ties: Ties | None = _option(choices=TIES)
    order: Order | None = _option(None, FILES, choices=ORDERS)
    format: FormatName | None = _option(None, FILES, choices=get_args(FormatName))
    partitions: int | None = _option(None, SPARK)
    paired: bool = _option(True, SPARK)

    def check(self, source: Source) -> None:
        """Raise for an option that a source does not take, and for a word that is not valid.

        Examples
        --------
        >>> Options(order="file").check(MEMORY)
        Traceback (most recent call last):
            ...
        TypeError: order='file' is for files, not for lists in memory
        """
        for row in OPTIONS.values():
            value = getattr(self, row.name)
            if value is row.default:
                continue
            sources = row.metadata["sources"]
            if source not in sources:
                why = " (keep='part' reads every table as one)" * (self.keep == "part")
                raise TypeError(
                    f"{row.name}={value!r} is for {' and '.join(sources)}, not for {source}{why}"
                )
            if row.metadata["choices"]:
                choice(row.name, value, row.metadata["choices"])
        if not isinstance(self.items, Items):
            kind = type(self.items).__name__
            raise TypeError(
                f"items is a {kind}: give toplist.Items(counts=...), or what the metrics need of "
                "catalogue, features, labels, distances, history and expected"
            )
        _ = Grading(self.relevant_from), self.joining.repeats  # check the grade and the copies

    @property
    def joining(self) -> Joining:
        """How lists are joined with ground truths, under the convention."""
        same = {name: getattr(self, name) for name in Joining._fields if name in OPTIONS}
        rules = rules_of(self.convention)
        ruled = {"gains": rules.gains, "listed": rules.relevant == "listed"}
        return Joining(**same | ruled | {"ties": self.ties or "order"})


#: The rows of the table by name.
OPTIONS = {row.name: row for row in fields(Options)}


def columns_of(columns: ColumnNames, side: str) -> dict[str, Any]:
    """Return what each column is called in the tables of one side, "ranks" or "ground_truths".

    `columns` holds names for both sides, names by side, or both forms together: those of the side
    come first. "group" is there only if it is given, and of ground truths alone. Of keys that are
    made of several columns, "user_id" is the tuple of their names.

    Examples
    --------
    >>> ours = {"user_id": "who", "ranks": {"item_id": "movieId"}}
    >>> [columns_of(ours, side)["item_id"] for side in SIDES], columns_of(ours, "ranks")["user_id"]
    (['movieId', 'item_id'], 'who')
    """
    if not isinstance(columns, Mapping):
        return renamed(columns, keys=True)
    both = {name: theirs for name, theirs in columns.items() if name not in SIDES}
    valid = *COLUMNS, GROUP
    renamed(both, valid, keys=True)
    for one in SIDES:
        if not isinstance(columns.get(one, {}), Mapping):
            raise TypeError(
                f"columns: {one!r} is a side: give a dict, {{{one!r}: {{'item_id': 'NAME'}}}}"
            )
        renamed(columns.get(one), COLUMNS if one == "ranks" else valid, keys=True)
    own = both | dict(columns.get(side, {}))
    if side == "ranks":
        own.pop(GROUP, None)
    return renamed(own, valid if GROUP in own else COLUMNS, keys=True)


def named_in(names: Mapping[str, Any], found: Iterable[Any], side: str) -> dict[str, Any]:
    """Return what the columns of a table are called that has these; `names` are as said.

    A column that is not there is read by a synonym that is, see `SYNONYMS`; two of these are a
    ValueError. Qrels of BEIR, query-id, corpus-id, score, have their grades in "score": they are
    read as relevance, also where ``columns=`` names the columns of ids.

    Examples
    --------
    >>> header = ["query-id", "corpus-id", "score"]
    >>> named_in(columns_of(None, "ground_truths"), header, "ground_truths")["relevance"]
    'score'
    >>> named_in(columns_of(None, "ranks"), header, "ranks")["item_id"]
    'corpus-id'
    """
    own, columns = dict(names), list(found)
    for ours, others in SYNONYMS.items():
        if own[ours] != ours or ours in columns or (ours == "relevance" and side == "ranks"):
            continue
        there = [name for name in others if name in columns]
        if len(there) > 1:
            one, other = there[:2]
            way = {side: {ours: one}}
            raise ValueError(
                f"{side}: columns {one!r} and {other!r} may both be {ours!r}; columns={way!r} says "
                "which one is read"
            )
        if there:
            own[ours] = there[0]
    users = own["user_id"] if isinstance(own["user_id"], tuple) else (own["user_id"],)
    is_beir = not _BEIR[0].isdisjoint(users) and own["item_id"] in _BEIR[1]
    graded = own["relevance"] != "relevance" or "relevance" in columns
    if is_beir and side == "ground_truths" and not graded and "score" in columns:
        own["relevance"] = "score"
    return own


def refuse_composite(columns: ColumnNames, what: str) -> None:
    """Raise ValueError for keys that are made of several columns, which `what` does not take."""
    for side in SIDES:
        key = columns_of(columns, side)["user_id"]
        if isinstance(key, tuple):
            given = {"user_id": [*key]}
            raise ValueError(
                f"columns={given!r}: {what} have one column of users; tables in memory and files "
                "of CSV, TSV and Parquet take several"
            )


def renamed(
    columns: Mapping[str, Any] | None, valid: Sequence[str] = COLUMNS, keys: bool = False
) -> dict[str, Any]:
    """Return what each of the valid columns is called; with `keys`, "user_id" may be several."""
    if columns is not None and not isinstance(columns, Mapping):
        raise TypeError(
            f"columns is a {type(columns).__name__}: give a dict, {valid[0]} -> its name"
        )
    unknown = [name for name in columns or {} if name not in valid]
    if unknown:
        way = "; for one side only: columns={'ranks': {'item_id': 'NAME'}} or 'ground_truths'"
        words = f"columns: {unknown[0]!r} is none of {', '.join(valid)}{way if keys else ''}"
        raise ValueError(words)
    found: dict[str, Any] = {name: name for name in valid} | dict(columns or {})
    for name, theirs in found.items():
        if isinstance(theirs, (list, tuple)):
            if name != "user_id" or not keys:
                raise TypeError(f"columns: {name!r} is one column, not {theirs!r}")
            if len({*theirs}) < max(len(theirs), 2):
                raise ValueError(f"columns: {name!r} is {theirs!r}: give two names or more")
            found[name] = tuple(theirs)
    return found


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
    ties : {"order", "item", "item_desc", "trec_eval"}, optional
        Where scores rank the items: equal scores keep their order, or go by item id, ascending or
        descending; integers as numbers, text by code points. "trec_eval" is its very order: equal
        ones go by descending id, and it holds scores in float32, where those within some 6e-8 of
        their size are equal. Default: "trec_eval" under that convention, else "item_desc" in TREC
        files, "item" on Spark, whose rows have no order, and "order". The result says which was
        used.
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


def of_source(
    ranks: Any, columns: ColumnNames, rules: Convention = CONVENTIONS["standard"]
) -> tuple[Any, dict[str, Any]]:
    """Return lists, and what is said of them, as options: names of columns, ties, users, ..."""
    said: dict[str, Any] = {"columns": columns, "ties": rules.ties}
    if not isinstance(ranks, Ranks):
        return ranks, said
    own, (side, other) = ranks.columns, SIDES
    if own is not None and isinstance(columns, Mapping):  # these are of the truths alone
        of_both = {name: theirs for name, theirs in columns.items() if name not in SIDES}
        columns = {side: own, other: of_both | dict(columns.get(other, {}))}
    elif own is not None and columns is None:
        columns = {side: own}
    return ranks.ranks, said | ranks.said | {"columns": columns}
