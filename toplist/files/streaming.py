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
from typing import Any, Literal, TypeVar, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.averages.means import Unmatched, in_pairs, unmatched
from toplist.beyond.results import ListResult
from toplist.checks import Keyword, choice, worded
from toplist.evaluation.evaluate import DEFAULT, hits_of, lists_of, ruled
from toplist.evaluation.plan import Aggregate, Plan, plan_of
from toplist.files.batches import Part, SplitUserError, Stream
from toplist.files.buffers import Codes, Users, Waiting, in_list, text_codes, two_kinds
from toplist.files.errors import located, named, short
from toplist.files.faults import faulty_pair
from toplist.files.formats import FormatName, PathLike
from toplist.files.lists import load
from toplist.files.text_ids import TextIds
from toplist.inputs.factorize import Column
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
from toplist.inputs.tables import lists_of as lists_of_side
from toplist.matching.fingerprints import Fingerprint, together
from toplist.matching.hits import Hits
from toplist.matching.match import join
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult

E = TypeVar("E", bound=Exception)
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
    ties: Ties = "order",
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
    plan = plan_of(metrics, k, convention, weights, aggregate, empty, missing, relevant, ties)
    options = ruled(None, options, plan.rules)
    if order is not None:
        choice("order", order, ORDERS)
    if keep is not None:
        choice("keep", keep, KEEP)
    choice("duplicates", duplicates, DUPLICATES)
    streams = (
        Stream(os.fspath(recs), "ranks", recs_format, columns, order, ties),
        Stream(os.fspath(truth), "ground_truths", truth_format, columns),
    )
    kinds = [stream.kind for stream in streams]
    # integers on one side, decimal text on the other: both are read as text
    as_text = not all(kind.typed_ids for kind in kinds)
    _ = options.grading  # refuses a wrong word before any file is read
    if in_memory or not all(kind.in_parts for kind in kinds):
        try:
            found = _coded(streams, plan, options) if as_text else None
        except (ValueError, TypeError):  # read again, by what knows the line of the error
            found = None
        hits, ranks = found or _loaded(streams, plan.depth, options, as_text)
        return plan.result(hits, n_threads, lists_of(plan, ranks, known, hits.k))
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError("weights must be a dict user -> number: files have no rows to count by")
    return Join(streams, plan, options, known, as_text, keep is not None).run()


def _coded(streams: tuple[Stream, Stream], plan: Plan, options: Joining) -> tuple[Hits, Keyed]:
    """Return the hits of two files in memory, and the ranked lists, with their ids if needed.

    The ids of both files are read as codes of texts.
    """
    users, items = TextIds(), TextIds()

    def coded(stream: Stream) -> Keyed:
        if stream.kind.typed_ids:
            lists = lists_of_side(load(stream, True), stream.side, None)
        else:
            lists = stream.whole(users, items)
        own = Column("user_id", text_codes(users, lists.users))
        return replace(lists, users=own, items=Column("item_id", text_codes(items, lists.items)))

    ranked, truth = map(coded, streams)
    codes, listed, relevant, n_extra = align(ranked, truth)
    listed, relevant = replace(listed, names=items), replace(relevant, names=items)
    hits = _hits([users[code] for code in codes], listed, relevant, plan.depth, options, n_extra)
    if not plan.list_metrics:
        return hits, ranked
    named = in_list(replace(ranked.users, names=users)), in_list(replace(ranked.items, names=items))
    return hits, replace(ranked, users=named[0], items=named[1])


def _loaded(
    streams: tuple[Stream, Stream], depth: int | None, options: Joining, as_text: bool
) -> tuple[Hits, Any]:
    """Return the hits of two files in memory, and the ranked lists."""
    ranks, truths = (load(stream, as_text) for stream in streams)
    try:
        return hits_of(ranks, truths, depth, options)[0], ranks
    except (ValueError, TypeError) as error:
        raise _located(error, streams, ranks, truths, depth, options) from None


def _hits(
    users: Sequence[Any],
    ranked: Flat,
    truth: Flat,
    depth: int | None,
    options: Joining,
    n_extra: int = 0,
) -> Hits:
    """Join lists of integers, or codes, that are in the order of the users."""
    grading = options.grading
    read = options.depth(depth), options.padding, grading
    sides = sides_of(users, ranked, truth, n_extra, *read)
    hits = join(sides, options.duplicates, options.n_threads)
    return hits.listed(depth) if options.listed else hits


def _located(
    error: E,
    streams: tuple[Stream, Stream],
    ranks: Any,
    truths: Any,
    depth: int | None,
    options: Joining,
) -> Exception:
    """Return the error of two files in memory with the file, and the line or row, it is about."""
    both = named(f"{streams[0].path}, {streams[1].path}: ", error)
    try:
        sides = lists_of_side(ranks, "ranks", None), lists_of_side(truths, "ground_truths", None)
        listed, absent = ([*side.users.decoded(side.users.codes)] for side in sides)
        if listed and absent and set(listed).isdisjoint(absent):
            one, other = listed[0], absent[0]
            if isinstance(one, int) != isinstance(other, int):
                where = (
                    f"{short(id)} in {s.path}" for id, s in zip((one, other), streams, strict=True)
                )
                return two_kinds("user_id", *where)
            return _no_user_in_both(streams, listed[0], absent[0])
        users, ranked, truth, _ = align(*sides)
    except (ValueError, TypeError):
        return both

    def again(some: slice, ranked: Flat, truth: Flat) -> Hits:
        return _hits(users[some], ranked, truth, depth, options)

    found = faulty_pair(ranked, truth, again)
    if found is None:
        return both
    place, in_ranks = found
    return named(streams[0 if in_ranks else 1].find(users[place]), error)


def _no_user_in_both(streams: tuple[Stream, Stream], listed: Any, absent: Any) -> ValueError:
    recs, truth = (stream.path for stream in streams)
    return located(
        ValueError,
        "no user is in both: ",
        f"{recs} has {short(listed)}, {truth} has {short(absent)}",
    )


class _Side:
    """One file of the join: where the list of each user begins, and the lists that wait."""

    def __init__(self, stream: Stream, users: Users, items: Codes) -> None:
        self.stream, self.users, self.items = stream, users, items
        self.begins = np.empty(0, np.int64)  # line or row, by the number of the user; -1: unseen
        self.waiting = Waiting(stream.side)

    def parts(self) -> Iterator[Part[NDArray[np.int64]]]:
        """Yield the parts of the file, the users as numbers."""
        return self.stream.parts(self._number, self.users.texts, self.items.texts)

    def encoded(self, lists: Keyed) -> Keyed:
        """Return lists whose items are the codes that both files share."""
        codes = self.items.encode(lists.items, str(self.stream.path))
        return replace(lists, items=replace(lists.items, codes=codes, names=None))

    def _number(self, users: Column, begins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the users of a part; SplitUserError for one with two lists."""
        numbers = self.users.number(users, str(self.stream.path))
        if len(self.begins) < len(self.users):
            known = self.begins
            self.begins = np.full(2 * len(self.users), -1)
            self.begins[: len(known)] = known
        before = self.begins[numbers]
        self.begins[numbers] = begins
        last = self.begins[numbers]  # of a user who is twice in this part, the second place
        twice = np.flatnonzero((before >= 0) | (last != begins))
        if len(twice):
            at = twice[0]
            other = before[at] if before[at] >= 0 else last[at]
            raise self._split_user(self.users[numbers[at]], *sorted((other, begins[at])))
        return numbers

    def _split_user(self, user: Any, first: int, second: int) -> SplitUserError:
        unit = self.stream.unit
        return worded(
            SplitUserError,
            f"user {short(user)} is in {unit} {first} and again in {unit} {second}: a file that "
            "is read in parts must have the rows of a user together; ",
            Keyword("in_memory", True),
            " takes them in any order",
        )


class Join:
    """The join of two streams: both sides, and the result of the users met so far.

    A `part` of a larger evaluation may have no user in both, and no user at all.
    """

    def __init__(
        self,
        streams: tuple[Stream, Stream],
        plan: Plan,
        options: Joining,
        known: Known,
        as_text: bool,
        keep: bool,
        part: bool = False,
    ) -> None:
        self.plan, self.options, self.part = plan, options, part
        # of every part, the users by number and their hits
        self.hits: list[tuple[NDArray[np.int64], Hits]] | None = [] if keep else None
        self.known, self.as_text = known, as_text
        self.users, self.items = Users(as_text), Codes(as_text)
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
        for part in self.ranked.parts():
            self._measure(part.lists)
            self._join(part, self.ranked, self.truth)
            while more and self._should_read_truth():
                more = self._read_truth(truths)
        while more:
            more = self._read_truth(truths)
        return self._finish()

    def _read_truth(self, truths: Iterator[Part[NDArray[np.int64]]]) -> bool:
        """Join the next part of the truth; False at its end."""
        part = next(truths, None)
        if part is not None:
            self._join(part, self.truth, self.ranked)
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
        lists = replace(lists, items=in_list(lists.items, self.as_text))
        part = lists_of(self.plan, lists, self.known)
        self.lists = part if self.lists is None or part is None else self.lists + part

    def _join(self, part: Part[NDArray[np.int64]], side: _Side, other: _Side) -> None:
        """Evaluate the users of a part whose other list is known; the rest of the part waits."""
        users, lists = part.users, side.encoded(part.lists)
        met = other.waiting.has(users)
        side.waiting.add(users[~met], lists.take(np.flatnonzero(~met)), len(self.users))
        if met.any():
            here = lists if met.all() else lists.take(np.flatnonzero(met))
            pair = here.flat(), other.waiting.take(users[met])
            self._evaluate(users[met], *(pair if side is self.ranked else pair[::-1]))

    def _evaluate(self, numbers: NDArray[np.int64], ranked: Flat, truth: Flat) -> None:
        """Add users to the result, with their lists and truths."""
        listed, relevant = (replace(flat, names=self.items.names) for flat in (ranked, truth))

        def join(some: slice, listed: Flat, relevant: Flat) -> Hits:
            users = _UserIds(self.users, numbers[some])
            return _hits(users, listed, relevant, self.plan.depth, self.options)

        try:
            hits = join(slice(None), listed, relevant)
        except (ValueError, TypeError) as error:
            found = faulty_pair(listed, relevant, join)
            if found is None:
                paths = ", ".join(str(side.stream.path) for side in (self.ranked, self.truth))
                raise named(f"{paths}: ", error) from None
            place, in_ranks = found
            side = self.ranked if in_ranks else self.truth
            raise named(side.stream.place(int(side.begins[numbers[place]])), error) from None
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
            streams = self.ranked.stream, self.truth.stream
            raise _no_user_in_both(streams, self.users[extra[0]], self.users[absent[0]])
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
