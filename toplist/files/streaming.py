"""Files and streams, joined part by part.

Both sides are read in parts. As soon as the list and the truth of a user are both read, the user
is evaluated and both leave the memory. It holds the users of whom one side is read: few where the
users of both are in the same order, else the ground truth. The results of the parts are
merged, so that there are means and spreads, but no values per user.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.beyond.results import ListResult
from toplist.checks import OptionRef, about, option_error
from toplist.evaluation.evaluate import evaluate, lists_of, ruled, with_a_list_alone
from toplist.evaluation.plan import Plan, plan_of
from toplist.files.batches import (
    Stream,
    TextStream,
    UserPart,
    by_system,
    loaded,
    stream_of,
    stream_of_batches,
)
from toplist.files.buffers import Codes, Users, Waiting, in_list, text_codes
from toplist.files.errors import named, short
from toplist.files.rows import IdTexts
from toplist.inputs.factorize import Column
from toplist.inputs.flatten import Flat, Scored
from toplist.inputs.kept import KeptTruths
from toplist.inputs.keyed import ListsByUser, align
from toplist.inputs.lists import Lists
from toplist.inputs.options import Options
from toplist.inputs.sides import check_no_matrix, sides_of
from toplist.inputs.texts import Texts
from toplist.matching.about import Unmatched
from toplist.matching.fingerprints import Fingerprint, together
from toplist.matching.hits import Hits
from toplist.matching.match import closed_up, join
from toplist.results.means import in_pairs
from toplist.results.result import TopKResult
from toplist.results.stored import without_users

# Ids of ranked lists that may wait before more of the truth is read for them: 32 MB.
MAX_WAITING_IDS = 1 << 22
# Users without a list that are evaluated at a time.
PART = 1 << 17


def evaluate_files(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate two files, in parts where their formats allow it; or one beside lists in memory.

    With `options.system`, each system of the file of lists, in memory.
    """
    ties = options.ties
    sides = [
        stream_of(side, name, getattr(options, f"{name}_format"), options.columns, order, ties)
        if isinstance(side, (str, os.PathLike))
        else side
        for side, name, order in (
            (ranks, "ranks", options.order),
            (truths, "ground_truths", None),
        )
    ]
    listed, relevant = sides
    ordering = listed.ordering if isinstance(listed, Stream) else "order"
    plan = plan_of(options, k, ordering)
    if any(isinstance(one, TextStream) and one.format.name == "trec" for one in sides):
        plan = plan.called("queries")
    kept = relevant if isinstance(relevant, KeptTruths) else None
    if kept is not None and kept.stream is not None:  # a file that was read before
        relevant = kept.stream
    if not (isinstance(listed, Stream) and isinstance(relevant, Stream)):
        texts = (Texts(), Texts()) if kept is None else kept.texts
        return evaluate(plan, *(loaded(s, texts) if isinstance(s, Stream) else s for s in sides))
    streams = listed, relevant
    if options.system is not None:
        return _by_system(streams, plan, options.system, kept)
    if kept is not None or options.in_memory or not (listed.in_parts and relevant.in_parts):
        return in_whole(streams, plan, kept)
    return Join(streams, plan).run()


def evaluate_batches(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult:
    """Evaluate two streams of record batches, in parts of complete users."""
    plan = plan_of(options, k)
    listed = stream_of_batches(ranks, "ranks", options)
    if isinstance(truths, KeptTruths):
        return evaluate(plan, loaded(listed, truths.texts), truths)
    streams = listed, stream_of_batches(truths, "ground_truths", options)
    return Join(streams, plan).run()


# The lists, and the ground truths.
Streams = tuple[Stream, Stream]


def are_texts(streams: Streams) -> bool:
    """Whether ids are read as text: where one side has no other ones."""
    return not all(stream.typed_ids for stream in streams)


def in_whole(streams: Streams, plan: Plan, kept: KeptTruths | None = None) -> TopKResult:
    """Evaluate two files that are read as a whole, the rows of a user in any place."""
    texts = (Texts(), Texts()) if kept is None else kept.texts
    as_text = are_texts(streams)
    ranked = _as_text(loaded(streams[0], texts), texts, as_text)
    return _evaluate_whole(streams, plan, ranked, _truth_of(streams, texts, kept))


def _truth_of(streams: Streams, texts: IdTexts, kept: KeptTruths | None) -> ListsByUser:
    truth = loaded(streams[1], texts) if kept is None else kept.lists
    return _as_text(truth, texts, are_texts(streams))


def _evaluate_whole(
    streams: Streams, plan: Plan, ranked: ListsByUser, truth: ListsByUser
) -> TopKResult:
    try:
        if plan.options.items_as is not None:
            ranked, truth = plan.options.items_as.tables(ranked, truth, plan.options.padding)
            plan = plan.mapped
        users, listed, relevant, n_extra = align(ranked, truth)
        hits = _hits(plan, users, listed, relevant, n_extra)
    except (ValueError, TypeError) as error:
        raise located(error, streams) from None
    ranks = replace(ranked, users=in_list(ranked.users), items=in_list(ranked.items))
    extra = None
    if plan.options.counts_all and n_extra:
        padding = plan.options.joining.padding
        extra = with_a_list_alone(hits, ranks.keys, ranks.flat, padding)
    return plan.result(hits, lists_of(plan, plan.list_metrics, ranks, hits, hits.longest), extra)


def _by_system(
    streams: Streams, plan: Plan, system: str, kept: KeptTruths | None
) -> dict[str, TopKResult]:
    """Evaluate each system of a file, in order of first appearance, over the same truth."""
    texts = (Texts(), Texts()) if kept is None else kept.texts
    truth, as_text = _truth_of(streams, texts, kept), are_texts(streams)
    found = {}
    for name, stream in by_system(streams[0], system, texts):
        lists = _as_text(loaded(stream, texts), texts, as_text)
        found[name] = _evaluate_whole((stream, streams[1]), plan, lists, truth)
    return found


def _as_text(found: ListsByUser, texts: IdTexts, as_text: bool) -> ListsByUser:
    """Return lists whose integers are decimal text, if `as_text`."""
    if not as_text or (found.users.names, found.items.names) == texts:
        return found

    def in_text(column: Column, known: Texts) -> Column:
        if isinstance(column.names, list) and type(column.names[0]) is tuple:
            return replace(column, names=[tuple(map(str, key)) for key in column.names])
        return replace(column, codes=text_codes(known, column), names=known)

    users, items = map(in_text, (found.users, found.items), texts)
    return replace(found, users=users, items=items)


def _hits(
    plan: Plan,
    users: Sequence[Any],
    ranked: Flat,
    truth: Flat,
    n_extra: int = 0,
    whole: bool = True,
) -> Hits:
    """Join lists of integers, or codes, that are in the order of the users.

    `read_all` says that this is all of the truth, which may then be seen to be a matrix.
    """
    joining = ruled(None, plan.joining, plan.rules)
    read = joining.cut(plan.depth), joining.padding, joining.grading
    sides = sides_of(users, ranked, truth, n_extra, *read, whole, shaping=joining.shaping)
    hits = join(sides, joining.repeats, joining.n_threads)
    return closed_up(hits, plan.depth, joining)


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
    return option_error(
        ValueError,
        "no user is in both: ",
        f"{recs} has {short(listed)}, {truth} has {short(absent)}",
    )


class _Side:
    """One file of the join: where the list of each user begins, and the lists that wait."""

    def __init__(self, stream: Stream, users: Users, items: Codes, options: Options) -> None:
        self.stream, self.users, self.items = stream, users, items
        self.items_as, self.padding = options.items_as, options.padding
        self.begins = np.empty(0, np.int64)  # the row, by the number of the user; -1: unseen
        self.waiting = Waiting(stream.side)

    def parts(self) -> Iterator[tuple[NDArray[np.int64], ListsByUser]]:
        """Yield the parts of the file: the numbers of the users, and their lists."""
        source = str(self.stream.path)
        try:
            for part in self.stream.parts((self.users.texts, self.items.texts)):
                numbers, lists = self._number(part, source), part.lists
                if self.items_as is not None:
                    lists = self.items_as.lists(lists, self.padding)
                codes = self.items.encode(lists.items, source)
                items = replace(lists.items, codes=codes, names=None)
                yield numbers, replace(lists, items=items)
        except (ValueError, TypeError) as error:
            if not hasattr(error, "path"):  # of a list, which may be one that is cut in two
                self._check_rows_together(getattr(error, "user", None))
            raise self.stream.located(error) from None

    def _number(self, part: UserPart, source: str) -> NDArray[np.int64]:
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

    def _check_rows_together(self, user: Any) -> None:
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
        error = option_error(
            ValueError,
            f"{self.stream.path}: user {short(user)} is in {unit} {places[0]} and again in {unit} "
            f"{places[1]}: a file that is read in parts must have the rows of a user together; ",
            OptionRef("in_memory", True),
            " takes them in any order",
        )
        return about(error, path=str(self.stream.path), user=user)


class Join:
    """The join of two streams: both sides, and the result of the users met so far.

    A part of a larger evaluation may have no user in both, and no user at all.
    """

    def __init__(self, streams: Streams, plan: Plan) -> None:
        weights = plan.options.weights
        if weights is not None and not isinstance(weights, Mapping):
            raise TypeError("weights must be a dict user -> number: files have no rows to count by")
        if plan.options.clusters is not None and plan.options.keep is None:
            text, whole = " need the rows, and what is read in parts keeps none: ", "in_memory"
            ways = OptionRef("keep", "hits"), " keeps them, or of files ", OptionRef(whole, True)
            raise option_error(ValueError, OptionRef("clusters"), text, *ways)
        self.whole, self.streams, self.part = plan.mapped, streams, plan.options.part
        self.plan = self.whole
        if plan.options.clusters is not None:  # asked of all rows together, not of those of a part
            named = self.whole.called("rows")
            self.plan = replace(named, options=replace(named.options, clusters=None))
        # of every part, the users by number and their hits
        self.hits: list[tuple[NDArray[np.int64], Hits]] | None
        self.hits = None if plan.options.keep is None else []
        self.as_text = are_texts(streams)
        self.users, self.items = Users(self.as_text), Codes(self.as_text)
        self.ranked, self.truth = (
            _Side(stream, self.users, self.items, plan.options) for stream in streams
        )
        self.lists: ListResult | None = None
        self.measured = False  # whether there were lists
        self.result: TopKResult | None = None
        self.longest = 0
        self.lacking: dict[str, str] | None = None  # what all parts lack, by metric
        self.scored: Scored | None = None
        self.unmatched: Unmatched | None = None  # of the first part without a hit
        self.truths: list[Fingerprint] = []  # of every part: together, that of the file
        self.matrix: ValueError | None = None  # why the truth so far may be a matrix of 0 and 1
        self.is_binary = True  # no other ids were seen

    def run(self) -> TopKResult:
        """Read both files to their ends."""
        truths = self.truth.parts()
        more = True
        for numbers, lists in self.ranked.parts():
            self._measure(lists)
            if lists.scored is not None:
                self.scored = lists.scored if self.scored is None else self.scored + lists.scored
                lists = replace(lists, scored=None)
            self._join(numbers, lists, self.ranked, self.truth)
            while more and self._should_read_truth():
                more = self._read_truth(truths)
        while more:
            more = self._read_truth(truths)
        return self._finish()

    def _read_truth(self, truths: Iterator[tuple[NDArray[np.int64], ListsByUser]]) -> bool:
        """Join the next part of the truth; False at its end."""
        part = next(truths, None)
        if part is not None:
            self._look_for_a_matrix(*part)
            self._join(*part, self.truth, self.ranked)
        return part is not None

    def _look_for_a_matrix(self, users: NDArray[np.int64], lists: ListsByUser) -> None:
        """Note whether a part of the truth holds nothing but 0 and 1, and one of them twice."""
        if not self.is_binary or self.items.names is not None or lists.grouped:
            return
        items = lists.items.codes
        self.is_binary = not np.any(items >> 1)
        try:
            check_no_matrix(Lists(lists.offsets, items), _UserIds(self.users, users))
        except ValueError as error:
            self.matrix = self.matrix or error

    def _should_read_truth(self) -> bool:
        """Whether lists wait for truths that may well be in the next part.

        Where the users of both files are in the same order, they are not, once the truth is
        ahead: what still waits then are users without a truth.
        """
        listed, relevant = self.ranked.waiting, self.truth.waiting
        return bool(listed.n_ids) and (relevant.reached or listed.n_ids > MAX_WAITING_IDS)

    def _measure(self, lists: ListsByUser) -> None:
        """Add the metrics of a part of the lists themselves."""
        self.measured = True
        metrics = [one for one in self.plan.list_metrics if not one.of_truth]
        if metrics:
            lists = replace(lists, items=replace(lists.items, names=self.items.names))
            self._add(lists_of(self.plan, metrics, lists))

    def _add(self, part: ListResult | None) -> None:
        """Add the metrics of some lists to those of the lists so far."""
        self.lists = part if self.lists is None or part is None else self.lists.plus(part, True)

    def _join(
        self, users: NDArray[np.int64], lists: ListsByUser, side: _Side, other: _Side
    ) -> None:
        """Evaluate the users of a part whose other list is known; the rest of the part waits."""
        met = other.waiting.has(users)
        side.waiting.add(users[~met], lists.take(np.flatnonzero(~met)), len(self.users))
        if met.any():
            here = lists if met.all() else lists.take(np.flatnonzero(met))
            pair = here.flat, other.waiting.take(users[met])
            self._evaluate(users[met], *(pair if side is self.ranked else pair[::-1]))

    def _evaluate(self, numbers: NDArray[np.int64], ranked: Flat, truth: Flat) -> None:
        """Add users to the result, with their lists and truths."""
        listed, relevant = (replace(flat, names=self.items.names) for flat in (ranked, truth))
        users = _UserIds(self.users, numbers)
        try:
            hits = _hits(self.plan, users, listed, relevant, whole=False)
        except (ValueError, TypeError) as error:
            raise located(error, self.streams) from None
        metrics = [one for one in self.plan.list_metrics if one.of_truth]
        if metrics:
            column = Column("user_id", np.arange(len(numbers)), users)
            items = Column("item_id", listed.ids, listed.names)
            lists = ListsByUser("ranks", column, items, listed.offsets)
            self._add(lists_of(self.plan, metrics, lists, hits))
        if self.hits is not None:
            self.hits.append((numbers, hits))
        if len(hits):
            self.lacking = self.plan.lacking(hits, self.lacking)
        part = self.plan.part(hits)
        self.longest = max(self.longest, hits.k)
        part = replace(without_users(part), fingerprints=())
        self.unmatched = self.unmatched or hits.about.unmatched
        self.truths += hits.about.fingerprints
        self.result = part if self.result is None else self.result + part

    def _finish(self) -> TopKResult:
        """Add the users without lists, and count the lists without users."""
        if self.matrix is not None and self.is_binary and self.items.names is None:
            raise located(self.matrix, self.streams)
        if not self.measured:  # a part without lists has the same metrics as others
            none = np.empty(0, np.int64)
            column = Column("user_id", none, _UserIds(self.users, none))
            items, offsets = Column("item_id", none, self.items.names), np.zeros(1, np.int64)
            self._measure(ListsByUser("ranks", column, items, offsets))
        extra, absent = self.ranked.waiting.users(), self.truth.waiting.users()
        if self.result is None and len(extra) and len(absent) and not self.part:
            raise _no_user_in_both(self.streams, self.users[extra[0]], self.users[absent[0]])
        alone = [(absent, self.truth, "ranks")]
        if self.plan.options.counts_all:  # after the users of the truth
            alone, extra = [*alone, (extra, self.ranked, "ground_truths")], extra[:0]
        for users, side, other in alone:
            for first in range(0, len(users), PART):
                numbers = users[first : first + PART]
                offsets = np.zeros(len(numbers) + 1, np.int64)
                nothing = Flat(other, np.empty(0, np.int64), offsets, np.diff(offsets))
                pair = nothing, side.waiting.take(numbers)
                self._evaluate(numbers, *(pair if other == "ranks" else pair[::-1]))
        if self.result is None:  # a part of nothing; a file without rows is an error
            offsets = np.zeros(1, np.int64)
            sides = (
                Flat(side, np.empty(0, np.int64), offsets, np.empty(0, np.int64))
                for side in ("ranks", "ground_truths")
            )
            self._evaluate(np.empty(0, np.int64), *sides)
        assert self.result is not None
        words = next(filter(None, (self.lacking or {}).values()), "")
        if words and not self.part:  # of all ground truths together
            raise ValueError(words)
        terms = self.result.terms.with_depth(self.longest)
        truths = (together(self.truths),)
        whole = self.result
        if self.hits is not None:
            whole = self.whole.result(self._kept(self.hits))
        return replace(
            whole,
            terms=terms,
            n_extra=len(extra),
            lists=self.lists,
            fingerprints=truths,
            unmatched=self.unmatched,
            scored=self.scored,
        )

    def _kept(self, parts: list[tuple[NDArray[np.int64], Hits]]) -> Hits:
        """Return the hits of all parts as those of one, with the keys of its users."""
        depth = self.plan.depth or self.longest
        some = [hits.of_part(k=depth, users=None, fingerprints=()) for _, hits in parts]
        users = self.users.decoded(np.concatenate([numbers for numbers, _ in parts]))
        whole = in_pairs(some, partial(Hits.merged, disjoint=True))
        return whole.of_part(users=users, fingerprints=(together(self.truths),))


class _UserIds(Sequence[Any]):
    """The ids of some users, looked up where a message or a weight needs them."""

    def __init__(self, users: Users, numbers: NDArray[np.int64]) -> None:
        self._users, self._numbers = users, numbers

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self._numbers)

    def hashes(self) -> NDArray[np.uint64]:
        """Return the words of the users."""
        return self._users.hashes(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        """Return the id of one user."""
        return self._users[int(self._numbers[at])]
