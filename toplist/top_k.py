"""`top_k_eval`: lists and ground truths from memory, files, streams or Spark, by their type.

`GroundTruths` are ground truths in any of these forms, read once for the evaluation of many lists.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Never, ParamSpec, Protocol, cast, get_args, overload

import numpy as np

from toplist.checks import cached, choice, did_you_mean, near
from toplist.evaluation import in_memory
from toplist.evaluation.plan import plan_of
from toplist.inputs.forms import check_users, read_sides, side_to_builtin, truths_of_many
from toplist.inputs.keyed import CountedItems, KeptTruths
from toplist.inputs.lists import Flat, Lists, is_frame, is_stream
from toplist.inputs.options import (
    FILES,
    MEMORY,
    NO_ITEMS,
    SPARK,
    STREAM,
    ColumnNames,
    Duplicates,
    FormatName,
    Items,
    Keep,
    Options,
    Source,
    Unjudged,
    of_source,
)
from toplist.inputs.texts import IdTexts
from toplist.inputs.truths import STANDARD, Judged
from toplist.metrics.conventions import Convention, ConventionName, rules_of
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult

# The arguments of `top_k_eval`.
Call = ParamSpec("Call")


class _ByType(Protocol[Call]):
    """A function whose result depends on whether systems are named."""

    __signature__: inspect.Signature

    @overload  # the second has a system of None
    def __call__(  # type: ignore[overload-overlap]
        self, ranks: Any, ground_truths: Any, k: Any = ..., *, system: str, **options: Any
    ) -> dict[str, TopKResult]: ...
    @overload
    def __call__(self, *arguments: Call.args, **options: Call.kwargs) -> TopKResult: ...


def _by_type(function: Callable[Call, Any]) -> _ByType[Call]:
    """Let type checkers tell one result from several, and show the keywords there are."""
    signature = inspect.signature(function)
    shown = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    found = cast(_ByType[Call], function)
    found.__signature__ = signature.replace(parameters=shown)
    return found


# Keywords of 0.3, and what to write instead.
_MOVED = {
    **dict.fromkeys(
        ("empty", "missing", "relevant", "aggregate", "gains"),
        'convention=toplist.CONVENTIONS["{of}"].replace({}=...)',
    ),
    **dict.fromkeys(("catalogue", "features", "history", "unknown"), "items=toplist.Items({}=...)"),
    "item_counts": "items=toplist.Items(counts=...)",
    "item_labels": "items=toplist.Items(labels=...)",
    "item_distances": "items=toplist.Items(distances=...)",
    "baseline": "items=toplist.Items(expected=...)",
    **dict.fromkeys(("weighting", "clip"), "propensities=toplist.Propensities(p, {}=...)"),
    **dict.fromkeys(("ties", "users", "order", "unit"), "toplist.Ranks(ranks, {}=...)"),
    "ranks_format": "toplist.Ranks(path, format=...)",
    "ground_truths_format": "toplist.GroundTruths(path, format=...)",
    **dict.fromkeys(("partitions", "paired"), "toplist.spark.Ranks(recs, {}=...)"),
    "stream": "nothing, since a RecordBatchReader is a stream by its type, and a table is none",
    "in_memory": 'keep="users" where values of users are wanted; the rows may be in any order',
    "part": 'keep="part"',
}


@_by_type
def top_k_eval(
    ranks: Any,
    ground_truths: Any = None,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics | None = None,
    convention: ConventionName | Convention = "standard",
    weights: Any = None,
    clusters: Any = None,
    propensities: Any = None,
    items: Items | None = None,
    items_as: Any = None,
    relevant_from: float | None = None,
    unjudged: Unjudged = "miss",
    duplicates: Duplicates | None = None,
    padding: Any = None,
    columns: Mapping[str, Any] | None = None,
    system: str | None = None,
    keep: Keep | None = None,
    n_threads: int | None = None,
    **misspelt: Never,
) -> Any:
    r"""Evaluate ranked lists against ground truths: means over users, at every k at once.

    Parameters
    ----------
    ranks : ranked lists of ids, in memory, in a file, in a stream or on Spark
        In memory: one user's list, a list of lists, a dict user -> list, a 2-D array of ids,
        `Lists`, a table of pandas, polars or pyarrow; or the `Hits` of an earlier `match`, alone.
        See `toplist.match` for every form. A path (text or PathLike) of a CSV, TSV, JSONL, TREC or
        Parquet file, or a stream, such as a RecordBatchReader, a relation of DuckDB, or what
        ``collect_batches()`` of a lazy frame of polars returns: read in blocks of complete users,
        see `toplist.files`. A DataFrame of Spark: see `toplist.spark`. `Ranks` says what few need:
        the users of rows without keys, the order of equal scores, a file's format.
    ground_truths : relevant ids of the same users
        Sets, lists, or one bare id per user, in the same form; a path beside a path. Beside lists
        in memory, only a PathLike is a path: a text may be an id. `GroundTruths` beside any form:
        read once, for many lists. `Groups`: any id of a group will do, all groups are wanted.
    k : int or several ints, optional
        Cut-offs. None is the whole list: the length of the longest one of a user of the ground
        truth. A metric may carry its own
        (``metrics=["ndcg@10", "recall"], k=[5, 20]``), which wins over these.
    metrics : names or Metric objects, optional
        Names of `METRICS`: ``"ndcg"``, ``"ndcg@10"``, ``"rbp(p=0.5)"``, or a `Metric` of your own.
        Default: hit, precision, recall, map, ndcg and mrr, as far as the convention has them.
    convention : str or Convention
        A name in `CONVENTIONS`, or of a library that shares one: its divisors, gains of grades and
        policies for users without relevant items or without a list. A policy of your own is
        ``tl.CONVENTIONS["standard"].replace(empty="zero")``; a `Convention` of your own stands
        here, too.
    weights : (n_users,) numbers, dict user -> number or pandas Series by user, optional
        How much each user counts, 0 or more, of which 0 counts nothing, in tests too: means are
        Σwx / Σw, and intervals hold also where weights go with the values; of files and streams
        they need ``keep="users"``. What has keys is matched by key. Beside metrics of the lists,
        users with a list and no ground truth have weights, too.
    clusters : dict row -> user, pandas Series by row, one label per row, or str, optional
        Where the rows are no users: which of them belong together, such as the sessions of a user.
        Intervals, tests and power are then those of clusters (CR2, see `TopKResult.interval`); the
        means are the same. ``"user"`` is that part of keys that are made of several columns, see
        `columns`. Of files and streams with ``keep="users"``.
    propensities : Propensities, dict item -> p, pandas Series, table or array, optional
        How likely each relevant item was to be observed, above 0 and at most 1: it counts 1 / p.
        For psp and psndcg, and unbiased estimates of other metrics: see `toplist.propensities`.
    items : Items, optional
        What is known of the items (catalogue, counts, labels, ...), for the metrics of the lists
        themselves, such as item_coverage and novelty.
    items_as : dict id -> document, pandas Series, table or function, optional
        Of ids that are chunks (passages, variants): the item that each is a part of, in place of
        the ids of lists and truths; metrics of the lists and their facts are of documents, too. See
        `toplist.match`. With ``duplicates="first"``, later chunks of a document keep their place.
    relevant_from : float, optional
        Where the ground truth has grades: an item is relevant from this grade on; default above 0.
        0 is every item that was judged, but for those below 0, which are never relevant and gain 0
        (spam of TREC: -2); the metric judged is over these at any threshold. In
        convention "trec_eval", nDCG reads all grades, as trec_eval -l does: a user with nothing
        relevant enough keeps it, unless ``empty`` leaves the user out ("skip") or gives 1 ("one").
    unjudged : {"miss", "drop"}
        What is done with listed items that have no grade: they are misses; or they leave the
        lists, which are read whole, and ranks close up, so that k counts judged items (trec_eval
        -J); so does a later copy of an item. Grades of 0 are judgements; items below 0 leave, as in
        trec_eval. An error where no item of grade 0 or more is judged not relevant, as in sets:
        only hits would be left. `judged` is counted before: its mean at the largest k stands in
        the account. Metrics of the lists themselves read them as they are.
    duplicates : {"raise", "first", "collapse"}, optional
        An item twice in one list: refused; or later copies earn nothing and keep their place; or
        they leave and ranks close up: of [d1, d1, d2] is left [d1, d2]. k and the ranks in messages
        then count what is left. Default: "raise", with `items_as` "collapse". Lists of users
        without a ground truth are not joined, so that "raise" does not look at these.
    padding : id, optional
        An id that fills rectangular arrays, dropped from the ends.
    columns : mapping, optional
        Of tables and files, where `Ranks` or `GroundTruths` say nothing of their own: their names
        of user_id, item_id, rank, score and relevance; for each side,
        ``{"ranks": {...}, "ground_truths": {...}}``. A column of groups is read where "group" names
        it: see `Groups`; "iteration" is the second field of TREC qrels. Ground truths whose columns
        of ids are query-id and corpus-id, as in BEIR, have their relevance in score, whether these
        are named or not; any other column score of ground truths without relevance is an error. A
        UserWarning says that a column such as rating is not read, where ground truths have no
        relevance and it is not named. The key of a row may be made of several columns,
        ``{"user_id": ["user", "time"]}``: it is the tuple of both. Files are then read whole, CSV,
        TSV and Parquet; not streams.
    system : str, optional
        A column that names systems, of a table, a file or a DataFrame of Spark: then a dict system
        -> result is returned, in order of first appearance (on Spark sorted), which
        `toplist.compare` takes. A user of the truth for whom a system has no rows is one without a
        list.
    keep : {"users", "part"}, optional
        Of files and streams, which are read in blocks, keep the ranks of the hits and the users'
        keys, so that the result has values per user, segments and tests: some 190 bytes per user
        with three hits, the keys as Python objects among them; two gigabytes for ten million users.
        With metrics of the lists themselves, the lists are read whole. Lists in memory, TREC runs
        and systems always keep their users. So do clusters, and weights beside metrics of hits
        alone: their intervals need the rows. "part" is for files, streams and tables that hold the
        lists of some of the users, such as a hash bucket: it may be empty, and users of the truth
        without a list in it are not counted. ``toplist.merge(parts, truth)`` adds these once.
    n_threads : int, optional
        Default: the CPUs this process may use. Means are the same bits for any number.

    Returns
    -------
    TopKResult, or dict of system -> TopKResult
        A table when printed. Unpacks into one value per metric; ``["ndcg@3"]`` is a mean,
        ``["ndcg"]`` the curve over k, ``.per_user(...)`` the users' values: not of what was read in
        blocks, unless the users are kept, nor of Spark.

    Raises
    ------
    TypeError, ValueError
        As `toplist.match`; and for an unknown metric, convention or option, an option that the
        source does not take, k given twice or not at all, or a k deeper than the `Hits` were read
        to; for a threshold as in ``"recall(rel=2)"`` that no grade reaches; for a file that cannot
        be read, with its line or row, and for lists whose users are scattered over a stream, or
        over a file that does not fit into memory.
    OSError
        For a path that cannot be opened.

    Examples
    --------
    >>> ranks = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
    >>> truths = [{7, 3, 5}, {4, 2, 8, 7}]
    >>> hit, precision, recall, map_, ndcg, mrr = top_k_eval(ranks, truths, k=3)
    >>> round(map_, 4), round(ndcg, 4)
    (0.6111, 0.7346)
    >>> top_k_eval(ranks, truths, k=[1, 3, 5], metrics=["recall", "map"])
                                 @1                       @3                       @5
    recall  0.2917 [0.0000, 0.8211]  0.5833 [0.0000, 1.0000]  0.7500 [0.0000, 1.0000]
    map     1.0000 –                 0.6111 [0.0000, 1.0000]  0.6417 [0.0000, 1.0000]
    convention standard: mean over users
    95 % interval, ± half or [low, high]: Student's t (rough: only 2 users); – where all
    values are equal
    2 of 2 users evaluated

    Files, of which one part after another is in memory:

    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/recs.csv", "user_id,item_id,rank\nann,tea,1\nann,jam,2\n")
    ...     write_text(f"{folder}/truth.csv", "user_id,item_id\nann,jam\n")
    ...     top_k_eval(f"{folder}/recs.csv", f"{folder}/truth.csv", k=2)["mrr@2"]
    0.5

    Chunks of documents, of which one list has two of "a":

    >>> chunks = {"a1": "a", "a2": "a", "b1": "b"}
    >>> top_k_eval([["a1", "a2", "b1"]], [{"b"}], k=2, metrics="mrr", items_as=chunks)["mrr@2"]
    0.5

    Streams of record batches:

    >>> import pyarrow as pa
    >>> recs = pa.table({"user_id": ["ann", "ann"], "item_id": ["tea", "jam"], "rank": [1, 2]})
    >>> truth = pa.table({"user_id": ["ann"], "item_id": ["jam"]})
    >>> top_k_eval(recs.to_reader(), truth.to_reader(), k=2)["mrr@2"]
    0.5
    """
    for name in misspelt:
        if name in _MOVED:
            place = _MOVED[name].format(name, of=rules_of(convention).name)
            raise TypeError(f"top_k_eval() has no keyword {name!r} since 0.4: write {place}")
        meant = did_you_mean(near(name, list(inspect.signature(top_k_eval).parameters)))
        raise TypeError(f"top_k_eval() got an unexpected keyword argument {name!r}{meant}")
    ranks, said = of_source(ranks, columns, rules_of(convention))
    options = Options(
        metrics=metrics,
        convention=convention,
        weights=weights,
        clusters=clusters,
        propensities=propensities,
        items=NO_ITEMS if items is None else items,
        items_as=items_as,
        relevant_from=relevant_from,
        unjudged=unjudged,
        duplicates=duplicates,
        padding=padding,
        system=system,
        keep=keep,
        n_threads=n_threads,
        **said,
    )
    source = _source_of(ranks, ground_truths, options)
    options.check(source)
    if source == MEMORY:
        return in_memory(ranks, ground_truths, plan_of(options, k))
    if source == SPARK:  # what other sources need is not imported
        from toplist import spark

        return spark.evaluate(ranks, ground_truths, k, options)
    from toplist.files import loop  # twice the import of toplist

    return loop.evaluate_streams(ranks, ground_truths, k, options)


def _source_of(ranks: Any, truths: Any, options: Options) -> Source:
    """Return where an evaluation reads from, by the types of both sides."""
    for side, value in (("ranks", ranks), ("ground_truths", truths)):
        if hasattr(type(value), "collect_batches"):  # a DataFrame of Spark Connect has any name
            raise TypeError(
                f"{side} is a {type(value).__name__}: {side}.collect() makes a table of it, "
                f"{side}.collect_batches(maintain_order=True) a stream"
            )
    if is_stream(ranks, of_part=options.keep == "part"):
        return STREAM
    is_path = isinstance(ranks, str) and bool(
        options.format or os.path.splitext(ranks)[1] or os.path.exists(ranks)
    )
    if is_path or isinstance(ranks, os.PathLike) or isinstance(truths, os.PathLike):
        return FILES
    of_spark = [type(one).__module__.startswith("pyspark.sql") for one in (ranks, truths)]
    if of_spark[0] and (of_spark[1] or isinstance(truths, GroundTruths)):
        return SPARK
    return MEMORY  # where one of Spark alone is refused


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
    def texts(self) -> IdTexts:
        """The texts of users and items."""
        return IdTexts()

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

        return batches.stream_of(self._given, "ground_truths", self._format, self._columns)

    @cached
    def rows(self) -> Any:
        """The truths, read and checked at the first use."""
        from toplist.inputs.columns import readable  # what few need: imports stay quick
        from toplist.inputs.tables import lists_of

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
