"""`top_k_eval_files`: two files of any size, joined part by part.

Both files are read in parts. As soon as the list and the truth of a user are both read, the user
is evaluated and both are forgotten. Memory holds only what waits for the other file: little where
the users of both files are in the same order, else the ground truth. The results of the parts are
merged, so that there are means and spreads, but no values per user.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.averages.means import Unmatched, in_pairs, unmatched
from toplist.beyond.results import ListResult
from toplist.checks import Keyword, about, choice, worded
from toplist.evaluation.evaluate import DEFAULT, lists_of, ruled
from toplist.evaluation.plan import Aggregate, Plan, plan_of
from toplist.files.batches import Part, Stream, stream_of
from toplist.files.buffers import Codes, Users, Waiting, in_list, text_codes
from toplist.files.errors import named, short
from toplist.files.formats import FormatName, PathLike
from toplist.inputs.flatten import Flat
from toplist.inputs.keyed import Keyed, align
from toplist.inputs.options import (
    DUPLICATES,
    ORDERS,
    Duplicates,
    Items,
    Joining,
    Known,
    Order,
    Ties,
    Unknown,
    known_of,
    shows_items,
)
from toplist.inputs.sides import sides_of
from toplist.inputs.texts import Texts
from toplist.matching.fingerprints import Fingerprint, together
from toplist.matching.hits import Hits
from toplist.matching.match import join
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult

# Ids of ranked lists that may wait before more of the truth is read for them: 32 MB.
PATIENCE = 1 << 22
# What `keep` keeps.
Keep = Literal["hits"]
KEEP: tuple[Keep, ...] = get_args(Keep)
# Users without a list that are evaluated at a time.
PART = 1 << 17


@shows_items
def top_k_eval_files(
    recs: PathLike,
    truth: PathLike,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    weights: Mapping[Any, float] | None = None,
    aggregate: Aggregate | None = None,
    empty: Empty | None = None,
    missing: Missing | None = None,
    relevant: Relevant | None = None,
    duplicates: Duplicates = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: Gains | None = None,
    ties: Ties | None = None,
    columns: Mapping[str, Any] | None = None,
    unknown: Unknown = "raise",
    n_threads: int | None = None,
    recs_format: FormatName | None = None,
    truth_format: FormatName | None = None,
    order: Order | None = None,
    in_memory: bool = False,
    keep: Keep | None = None,
    **items: Unpack[Items],
) -> TopKResult:
    r"""Evaluate two files of any size: Parquet, CSV, TSV or JSONL, the last three also .gz.

    Parameters
    ----------
    recs : path
        Of ranked lists: user_id, item_id and rank (1..n) or score, the rows of a user together;
        or one row per user, item_id holding the list. A folder is read as its .parquet files.
    truth : path
        Of relevant ids: user_id, item_id and, with grades, relevance, in either form.
    k, metrics, convention, weights, aggregate, empty, missing, relevant
        As in `toplist.top_k_eval`; weights by user only.
    duplicates, padding, relevant_from, gains, ties, columns, n_threads
        As in `toplist.top_k_eval`.
    **items, unknown
        As in `toplist.top_k_eval`; shannon_entropy needs a catalogue here too.
    recs_format, truth_format : str, optional
        "csv", "tsv", "jsonl", "trec" or "parquet"; default what the extension says.
    order : {"file"}, optional
        Ranked items are taken in the order of the file, best first.
    in_memory : bool
        Read both files whole, with the rows of a user in any place; the result then has values
        per user. TREC files are always read so.
    keep : {"hits"}, optional
        "hits": of files that are read in parts, keep the ranks of the hits and the users' keys, so
        that the result has values per user, segments and tests: some 190 bytes per user with three
        hits, the keys as Python objects among them; two gigabytes for ten million users.

    Returns
    -------
    TopKResult
        Merged from parts: without `keep` it holds no hits, so `per_user` raises.

    Raises
    ------
    ValueError, TypeError
        As `toplist.top_k_eval`; and for a file that cannot be read, with its line or row, and for
        a user whose rows are not together.
    OSError
        For a path that cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/recs.csv", "user_id,item_id,rank\nann,tea,1\nann,jam,2\n")
    ...     write_text(f"{folder}/truth.csv", "user_id,item_id\nann,jam\n")
    ...     top_k_eval_files(f"{folder}/recs.csv", f"{folder}/truth.csv", k=2)["mrr@2"]
    0.5
    """
    options = Joining(duplicates, padding, relevant_from, gains, columns, n_threads)
    known = known_of("top_k_eval_files", items, unknown, options)
    streams = (
        stream_of(os.fspath(recs), "ranks", recs_format, columns, order, ties, "recs_format"),
        stream_of(os.fspath(truth), "ground_truths", truth_format, columns, keyword="truth_format"),
    )
    asked = empty, missing, relevant, streams[0].ordering
    plan = plan_of(metrics, k, convention, weights, aggregate, *asked)
    options = ruled(None, options, plan.rules)
    if order is not None:
        choice("order", order, ORDERS)
    if keep is not None:
        choice("keep", keep, KEEP)
    choice("duplicates", duplicates, DUPLICATES)
    _ = options.grading  # refuses a wrong word before any file is read
    if in_memory or not all(stream.in_parts for stream in streams):
        return in_whole(streams, plan, options, known)
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError("weights must be a dict user -> number: files have no rows to count by")
    return Join(streams, plan, options, known, keep is not None).run()


# The lists, and the ground truths.
Streams = tuple[Stream, Stream]


def are_texts(streams: Streams) -> bool:
    """Whether ids are read as text: where one side has no other ones."""
    return not all(stream.typed_ids for stream in streams)


def in_whole(streams: Streams, plan: Plan, options: Joining, known: Known) -> TopKResult:
    """Evaluate two files that are read as a whole, the rows of a user in any place."""
    texts = Texts(), Texts()
    ranked, truth = (_whole(stream, texts, are_texts(streams)) for stream in streams)
    try:
        users, listed, relevant, n_extra = align(ranked, truth)
        hits = _hits(users, listed, relevant, plan.depth, options, n_extra)
    except (ValueError, TypeError) as error:
        raise located(error, streams) from None
    ranks = replace(ranked, users=in_list(ranked.users), items=in_list(ranked.items))
    return plan.result(hits, options.n_threads, lists_of(plan, ranks, known, hits.k))


def _whole(stream: Stream, texts: tuple[Texts, Texts], as_text: bool) -> Keyed:
    """Return all lists of a file; if `as_text`, integers as decimal text."""
    try:
        found = stream.whole(texts)
    except (ValueError, TypeError) as error:
        raise stream.located(error) from None
    if not as_text:
        return found
    users, items = (
        replace(column, codes=text_codes(known, column), names=known)
        for known, column in zip(texts, (found.users, found.items), strict=True)
    )
    return replace(found, users=users, items=items)


def _hits(
    users: Sequence[Any],
    ranked: Flat,
    truth: Flat,
    depth: int | None,
    options: Joining,
    n_extra: int = 0,
) -> Hits:
    """Join lists of integers, or codes, that are in the order of the users."""
    read = options.depth(depth), options.padding, options.grading
    sides = sides_of(users, ranked, truth, n_extra, *read)
    hits = join(sides, options.duplicates, options.n_threads)
    return hits.listed(depth) if options.listed else hits


def located(error: Exception, streams: Streams) -> Exception:
    """Return an error of the join with the file, and the line or row, that it is about."""
    users = getattr(error, "users", None)
    if users is not None:
        return _no_user_in_both(streams, *users)
    side = getattr(error, "side", None)
    if side is not None:
        return streams[side == "ground_truths"].located(error)
    return named(", ".join(str(stream.path) for stream in streams) + ": ", error)


def _no_user_in_both(streams: Streams, listed: Any, absent: Any) -> ValueError:
    recs, truth = (stream.path for stream in streams)
    return worded(
        ValueError,
        "no user is in both: ",
        f"{recs} has {short(listed)}, {truth} has {short(absent)}",
    )


class _Side:
    """One file of the join: where the list of each user begins, and the lists that wait."""

    def __init__(self, stream: Stream, users: Users, items: Codes) -> None:
        self.stream, self.users, self.items = stream, users, items
        self.begins = np.empty(0, np.int64)  # the row, by the number of the user; -1: unseen
        self.waiting = Waiting(stream.side)

    def parts(self) -> Iterator[tuple[NDArray[np.int64], Keyed]]:
        """Yield the parts of the file: the numbers of the users, and their lists."""
        source = str(self.stream.path)
        try:
            for part in self.stream.parts((self.users.texts, self.items.texts)):
                numbers = self._number(part, source)
                codes = self.items.encode(part.lists.items, source)
                items = replace(part.lists.items, codes=codes, names=None)
                yield numbers, replace(part.lists, items=items)
        except (ValueError, TypeError) as error:
            if not hasattr(error, "path"):  # of a list, which may be one that is cut in two
                self._refuse_split_user(getattr(error, "user", None))
            raise self.stream.located(error) from None

    def _number(self, part: Part, source: str) -> NDArray[np.int64]:
        """Return the numbers of the users of a part; ValueError for one with two lists."""
        numbers = self.users.number(part.lists.users, source)
        if len(self.begins) < len(self.users):
            known = self.begins
            self.begins = np.full(2 * len(self.users), -1)
            self.begins[: len(known)] = known
        before = self.begins[numbers]
        self.begins[numbers] = part.begins
        last = self.begins[numbers]  # of a user who is twice in this part, the second place
        twice = np.flatnonzero((before >= 0) | (last != part.begins))
        if len(twice):
            at = twice[0]
            places = (
                (before[at], part.begins[at]) if before[at] >= 0 else (part.begins[at], last[at])
            )
            raise self._split_user(self.users[numbers[at]], sorted(places))
        return numbers

    def _refuse_split_user(self, user: Any) -> None:
        """Raise ValueError if the rows of a user are apart: it explains a list that is wrong."""
        if user is None:
            return
        places = self.stream.places_of(user)
        if self.stream.is_read_once:  # the places before are known here alone
            seen = np.flatnonzero(self.begins[: len(self.users)] >= 0)
            before = seen[[one == user for one in self.users.decoded(seen)]]
            places = [*self.begins[before].tolist(), *places]
        if len(places) > 1:
            raise self._split_user(user, places)

    def _split_user(self, user: Any, rows: Sequence[int]) -> ValueError:
        """Return the error of a user whose rows are apart, those that begin at some rows."""
        unit, places = "row", rows
        if self.stream.unit == "line" and (lines := self.stream.places_of(user)):
            unit, places = "line", lines
        error = worded(
            ValueError,
            f"{self.stream.path}: user {short(user)} is in {unit} {places[0]} and again in {unit} "
            f"{places[1]}: a file that is read in parts must have the rows of a user together; ",
            Keyword("in_memory", True),
            " takes them in any order",
        )
        return about(error, path=str(self.stream.path), user=user)


class Join:
    """The join of two streams: both sides, and the result of the users met so far.

    A `part` of a larger evaluation may have no user in both, and no user at all.
    """

    def __init__(
        self,
        streams: Streams,
        plan: Plan,
        options: Joining,
        known: Known,
        keep: bool,
        part: bool = False,
    ) -> None:
        self.plan, self.options, self.part, self.streams = plan, options, part, streams
        # of every part, the users by number and their hits
        self.hits: list[tuple[NDArray[np.int64], Hits]] | None = [] if keep else None
        self.known, self.as_text = known, are_texts(streams)
        self.users, self.items = Users(self.as_text), Codes(self.as_text)
        self.ranked, self.truth = (_Side(stream, self.users, self.items) for stream in streams)
        self.lists: ListResult | None = None
        self.result: TopKResult | None = None
        self.longest = 0
        self.unmatched: Unmatched | None = None  # of the first part without a hit
        self.truths: list[Fingerprint] = []  # of every part: together, that of the file

    def run(self) -> TopKResult:
        """Read both files to their ends."""
        truths = self.truth.parts()
        more = True
        for numbers, lists in self.ranked.parts():
            self._measure(lists)
            self._join(numbers, lists, self.ranked, self.truth)
            while more and self._should_read_truth():
                more = self._read_truth(truths)
        while more:
            more = self._read_truth(truths)
        return self._finish()

    def _read_truth(self, truths: Iterator[tuple[NDArray[np.int64], Keyed]]) -> bool:
        """Join the next part of the truth; False at its end."""
        part = next(truths, None)
        if part is not None:
            self._join(*part, self.truth, self.ranked)
        return part is not None

    def _should_read_truth(self) -> bool:
        """Whether lists wait for truths that may well be in the next part.

        Where the users of both files are in the same order, they are not, once the truth is
        ahead: what still waits then are users without a truth.
        """
        listed, relevant = self.ranked.waiting, self.truth.waiting
        return bool(listed.n_ids) and (relevant.reached or listed.n_ids > PATIENCE)

    def _measure(self, lists: Keyed) -> None:
        """Add the metrics of a part of the lists themselves."""
        if not self.plan.list_metrics:
            return
        lists = replace(lists, items=in_list(replace(lists.items, names=self.items.names)))
        part = lists_of(self.plan, lists, self.known)
        self.lists = part if self.lists is None or part is None else self.lists + part

    def _join(self, users: NDArray[np.int64], lists: Keyed, side: _Side, other: _Side) -> None:
        """Evaluate the users of a part whose other list is known; the rest of the part waits."""
        met = other.waiting.has(users)
        side.waiting.add(users[~met], lists.take(np.flatnonzero(~met)), len(self.users))
        if met.any():
            here = lists if met.all() else lists.take(np.flatnonzero(met))
            pair = here.flat(), other.waiting.take(users[met])
            self._evaluate(users[met], *(pair if side is self.ranked else pair[::-1]))

    def _evaluate(self, numbers: NDArray[np.int64], ranked: Flat, truth: Flat) -> None:
        """Add users to the result, with their lists and truths."""
        listed, relevant = (replace(flat, names=self.items.names) for flat in (ranked, truth))
        users = _UserIds(self.users, numbers)
        try:
            hits = _hits(users, listed, relevant, self.plan.depth, self.options)
        except (ValueError, TypeError) as error:
            raise located(error, self.streams) from None
        if self.hits is not None:
            self.hits.append((numbers, hits))
        n_threads = self.options.n_threads
        part = replace(self.plan.part(hits, n_threads), hits=None, counted=None, fingerprints=())
        self.unmatched = self.unmatched or unmatched(hits)
        self.longest, self.truths = max(self.longest, hits.k), [*self.truths, *hits.fingerprints]
        self.result = part if self.result is None else self.result + part

    def _finish(self) -> TopKResult:
        """Add the users without lists, and count the lists without users."""
        extra, absent = self.ranked.waiting.users(), self.truth.waiting.users()
        if self.result is None and len(extra) and len(absent) and not self.part:
            raise _no_user_in_both(self.streams, self.users[extra[0]], self.users[absent[0]])
        for first in range(0, len(absent), PART):
            numbers = absent[first : first + PART]
            offsets = np.zeros(len(numbers) + 1, np.int64)
            nothing = Flat("ranks", np.empty(0, np.int64), offsets, np.diff(offsets))
            self._evaluate(numbers, nothing, self.truth.waiting.take(numbers))
        if self.result is None:  # a part of nothing; a file without rows is an error
            offsets = np.zeros(1, np.int64)
            sides = (
                Flat(side, np.empty(0, np.int64), offsets, np.empty(0, np.int64))
                for side in ("ranks", "ground_truths")
            )
            self._evaluate(np.empty(0, np.int64), *sides)
        assert self.result is not None
        terms = self.result.terms.whole(self.longest)
        truths = (together(self.truths),)
        whole = self.result
        if self.hits is not None:
            whole = self.plan.result(self._kept(self.hits), self.options.n_threads)
        return replace(
            whole,
            terms=terms,
            n_extra=len(extra),
            lists=self.lists,
            fingerprints=truths,
            unmatched=self.unmatched,
        )

    def _kept(self, parts: list[tuple[NDArray[np.int64], Hits]]) -> Hits:
        """Return the hits of all parts as those of one, with the keys of its users."""
        depth = self.plan.depth or max(hits.k for _, hits in parts)
        some = [_without_users(hits, depth) for _, hits in parts]
        users = self.users.decoded(np.concatenate([numbers for numbers, _ in parts]))
        whole = in_pairs(some, partial(Hits.merged, disjoint=True))
        return replace(whole, users=users, fingerprints=(together(self.truths),))


def _without_users(hits: Hits, depth: int) -> Hits:
    """Return hits of a part as they merge with others: read to one depth, without keys."""
    judged = None if hits.judged is None else _without_users(hits.judged, depth)
    return replace(hits, k=depth, users=None, fingerprints=(), judged=judged)


class _UserIds(Sequence[Any]):
    """The ids of some users, looked up where a message or a weight needs them."""

    def __init__(self, users: Users, numbers: NDArray[np.int64]) -> None:
        self._users, self._numbers = users, numbers

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self._numbers)

    def words(self) -> NDArray[np.uint64]:
        """Return the words of the users."""
        return self._users.words(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        """Return the id of one user."""
        return self._users[int(self._numbers[at])]
