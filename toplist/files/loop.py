"""Files and streams: the ground truths are read whole, the lists in blocks of complete users.

A block of the lists is joined with the truths of its users, evaluated and forgotten; the results of
the blocks are merged. So memory holds the truths and one block, whatever the order of the users;
the result has means and spreads, but no values per user, unless the hits are kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.beyond.results import ListResult
from toplist.checks import Bools, Ints, about
from toplist.evaluation.evaluate import evaluate, lists_of, ruled
from toplist.evaluation.plan import Plan, plan_of
from toplist.files.batches import (
    Block,
    IdTexts,
    Source,
    loaded,
    stream_of,
    stream_of_batches,
)
from toplist.files.codes import Codes, in_texts
from toplist.files.errors import named, short
from toplist.files.memory import free_memory
from toplist.inputs.factorize import Column, Numbering, numbered
from toplist.inputs.flatten import Flat, Scored, is_stream
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.id_hashes import hashes_of
from toplist.inputs.judged import check_no_matrix
from toplist.inputs.kept import KeptTruths
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import Options, is_composite
from toplist.inputs.shaping import compact, shaped, unpadded
from toplist.inputs.tables import lists_of as lists_of_side
from toplist.inputs.texts import Texts
from toplist.matching.about import Unmatched
from toplist.matching.fingerprints import Fingerprint, together
from toplist.matching.hits import Hits
from toplist.matching.match import closed_up, join
from toplist.results.merging import in_pairs, without_users
from toplist.results.result import TopKResult

# Of the free memory, what a file may take that is read whole to be sorted.
SHARE = 1 / 4
# Users without a list that are evaluated at a time.
PART = 1 << 17
# The lists, and the ground truths.
Streams = tuple[Source, Source]


def evaluate_streams(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate lists of a file or stream over truths of any form, or lists in memory over a file.

    With `options.system`, each system of the file of lists, which is read whole.
    """
    listed, relevant = _stream_of(ranks, "ranks", options), truths
    is_part, in_memory = options.keep == "part", isinstance(truths, KeptTruths)
    if not in_memory:
        relevant = _stream_of(truths, "ground_truths", options)
    elif truths.stream is not None:  # a file that was read before
        relevant = truths.stream
    plan = plan_of(options, k, listed.ordering if isinstance(listed, Source) else "order")
    if isinstance(listed, Source) and _needs_rows(plan, listed):
        plan = replace(plan, options=replace(plan.options, keep="users"))
    if any(isinstance(one, Source) and one.is_trec for one in (listed, relevant)):
        plan = plan.called("queries")
    texts = truths.texts if in_memory else (Texts(), Texts())
    if not isinstance(listed, Source):
        in_file = isinstance(relevant, Source) and not in_memory
        return evaluate(plan, ranks, loaded(relevant, texts) if in_file else truths)
    kept = truths if in_memory else None
    if not isinstance(relevant, Source):
        side = relevant if in_memory else side_to_builtin(relevant, "ground_truths")
        kept = KeptTruths(lists_of_side(side, "ground_truths", options.columns, known=texts), texts)
        relevant = Source("ground_truths", "ground_truths", options.columns, format=None)
    streams = listed, relevant
    composite = any(is_composite(one.columns, one.side) for one in streams)
    in_parts = not composite and options.system is None
    if is_part and not in_parts:
        raise ValueError("keep='part': keys of several columns and systems are read whole")
    # metrics of the lists have values by user where all lists are known
    if in_parts and not (plan.options.keep == "users" and plan.list_metrics):
        return in_blocks(streams, plan, kept)
    ranked = loaded(listed, texts) if options.system is None else None
    truth = loaded(relevant, texts) if kept is None else kept.lists
    if ranked is not None:
        return _in_whole(streams, plan, texts, ranked, truth)
    return {
        name: _in_whole((one, relevant), plan, texts, loaded(one, texts), truth)
        for name, one in listed.by_system(str(options.system))
    }


def _needs_rows(plan: Plan, listed: Source) -> bool:
    """Whether users are kept where nothing is said of it.

    Queries of a TREC run are few. Intervals by weights and clusters need the rows, and what was
    given of each is held already. Beside metrics of the lists, which are read whole with users,
    weights alone do not ask for it.
    """
    if plan.options.keep is not None:
        return False
    weighted = plan.options.weights is not None and not plan.list_metrics
    return listed.is_trec or plan.options.clusters is not None or weighted


def _stream_of(side: Any, name: str, options: Options) -> Any:
    """Return a file, or what gives record batches, as a stream; all else as it is."""
    if isinstance(side, (str, os.PathLike)):
        form, order = getattr(options, f"{name}_format"), options.order if name == "ranks" else None
        return stream_of(side, name, form, options.columns, order, options.ties)
    is_part = options.keep == "part"
    if is_stream(side, of_part=is_part and name == "ranks"):
        return stream_of_batches(side, name, options, is_part)
    return side


def evaluate_part(ranks: Any, truths: Any, k: Any, options: Options) -> TopKResult:
    """Evaluate all users of two tables, which are some of the users of a larger evaluation."""
    plan = plan_of(options, k)
    streams = (
        stream_of_batches(ranks, "ranks", options, True),
        stream_of_batches(truths, "ground_truths", options, True),
    )
    return in_blocks(streams, plan, is_part=True)


def _are_texts(streams: Streams) -> bool:
    """Whether ids are read as text: where one of two files has no other ones."""
    in_memory = any(stream.format is None for stream in streams)
    return not in_memory and not all(stream.typed_ids for stream in streams)


def _in_whole(
    streams: Streams, plan: Plan, texts: IdTexts, ranked: Flat, truth: Flat
) -> TopKResult:
    """Evaluate lists and truths that were read whole: one block, with values per user."""

    def in_text(column: Column, known: Texts) -> Column:
        if isinstance(column.names, list) and type(column.names[0]) is tuple:
            return replace(column, names=[tuple(map(str, key)) for key in column.names])
        return in_texts(column, known)

    sides = [ranked, truth]
    if _are_texts(streams):
        for place, side in enumerate(sides):
            users, items = map(in_text, (side.users, side.items), texts)
            sides[place] = side.under(users, items)
    try:
        return evaluate(plan, *sides)
    except (ValueError, TypeError) as error:
        raise located(error, streams) from None


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
    return ValueError(
        f"no user is in both: {recs} has {short(listed)}, {truth} has {short(absent)}"
    )


def in_blocks(
    streams: Streams, plan: Plan, kept: KeptTruths | None = None, is_part: bool = False
) -> TopKResult:
    """Evaluate the lists of a stream block by block, over truths that are read whole.

    They may have been read for other lists. A part of a larger evaluation may be empty.
    """
    weights = plan.options.weights
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError("weights must be a dict user -> number: files have no rows to count by")
    if plan.options.clusters is not None and plan.options.keep != "users":
        raise ValueError(
            "clusters= need the rows, and what is read in blocks keeps none: keep='users' keeps "
            "them"
        )
    as_text = _are_texts(streams)
    texts = (Texts(), Texts()) if kept is None else kept.texts
    codes = Codes(as_text, texts[0]), Codes(as_text, texts[1])
    truth = truth_of(streams[1], codes, plan.options, kept)
    ranked = _Ranked(streams[0], truth, codes, plan.options)
    try:
        return Loop(streams, plan.mapped, truth, codes[1], is_part).run(ranked.blocks())
    except RowsApartError as error:
        blocks = ranked.sorted_blocks(error)
    again = replace(plan.mapped)  # knows nothing of the first lists
    found = Loop(streams, again, truth, codes[1], is_part).run(blocks)
    note = f"the rows of users are apart in {streams[0].path}: it was read whole and sorted"
    return replace(found, notes=(note,))


def truth_of(
    stream: Source, codes: tuple[Codes, Codes], options: Options, kept: KeptTruths | None
) -> Flat:
    """Return all ground truths of a stream by common codes, the rows of a user in any place.

    They may have been read for other lists.
    """
    source, padding = str(stream.path), options.padding
    # chunks that become documents are no ids of the lists, and may be of another kind
    items, texts = codes[1], (codes[0].texts, codes[1].texts)
    if options.items_as is not None:
        items = Codes(items.names is not None, items.texts)
    begins: list[Ints] = []  # of lists of which a user has one

    def encoded(part: Block) -> Flat:
        lists, listed = part.lists, part.lists.items
        own = codes[0].encode(lists.users, source), items.encode(listed, source)
        if not part.is_long or (lists.grouped and stream.batches is not None):
            begins.append(part.begins)
        if own[0] is lists.users and own[1] is listed:  # with what is known of them
            return lists
        return lists.under(*own)

    try:
        parts = stream.blocks(texts) if kept is None else [Block(kept.lists, np.arange(len(kept)))]
        truth, n_lists = _by_user(map(encoded, parts), stream, begins)
        if len(truth.users) < n_lists and truth.grouped:
            # groups are numbered in each block alone
            truth = encoded(Block(stream.whole(texts), truth.offsets))
        if options.items_as is not None:
            truth = options.items_as.mapped(truth, padding, whole=True)
            truth = truth.under(truth.users, codes[1].encode(truth.items, source))
        elif truth.items.names is None and not truth.grouped and len(truth.items):
            check_no_matrix(compact(unpadded(truth, padding)), truth.users)
    except (ValueError, TypeError) as error:
        raise stream.located(error) from None
    return truth


def _by_user(parts: Iterable[Flat], stream: Source, begins: list[Ints]) -> tuple[Flat, int]:
    """Return the lists of all parts, those of a user as one, and how many lists there were.

    Users are in order of appearance. Parts are held in as few bytes as their numbers need, and
    forgotten as they are copied: rows in no order are a list each. ValueError for a user with two
    lists, where these have the places `begins`.
    """
    numbering, held, last, n_lists = Numbering(), list[tuple[Any, ...]](), None, 0
    graded = grouped = False
    for last in parts:
        columns = numbering.number(last.users.codes), np.diff(last.offsets), last.ids
        held.append((*map(_narrow, columns), last.grades))
        graded, grouped = graded or last.grades is not None, grouped or last.grouped
        n_lists += len(last.users)
    if last is None:
        nothing = Column("", np.empty(0, np.int64))
        return Flat.of("ground_truths", nothing, nothing, np.zeros(1, np.int64)), 0
    if len(numbering) < n_lists and begins:
        numbers = np.concatenate([one[0] for one in held])
        users = replace(last.users, codes=numbering.codes[numbers])
        raise stream.two_lists(users, numbers, np.concatenate(begins))
    if len(held) == 1 and len(numbering) == n_lists:
        return last, n_lists
    lengths = np.zeros(len(numbering), np.int64)
    for whose, sizes, *_ in held:
        # of one type: five times as fast
        np.add.at(lengths, whose.astype(np.int64), sizes.astype(np.int64))
    offsets = offsets_of(lengths)
    ends, items = offsets[:-1].copy(), np.empty(offsets[-1], np.int64)
    grades = np.empty(offsets[-1] if graded else 0)
    held.reverse()
    while held:
        whose, sizes, ids, values = held.pop()
        if graded and values is None:
            values = np.ones(len(ids))
        rows = np.repeat(whose.astype(np.int64), sizes)
        of_part = rows, ids.astype(np.int64), grades[:0] if values is None else values
        kernels.grouping.place_in_order(*of_part, ends, items, grades)
    users, listed = replace(last.users, codes=numbering.codes), replace(last.items, codes=items)
    kept = grades if graded else None
    found = Flat.of(last.side, users, listed, offsets, kept, last.scored, grouped)
    found.once(Numbering, lambda: numbering)
    return found, n_lists


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers of the smallest signed type that holds them."""
    least, most = numbers.min(initial=0), numbers.max(initial=0)
    kinds = (np.int8, np.int16, np.int32)
    fits = (one for one in kinds if np.iinfo(one).min <= least and most <= np.iinfo(one).max)
    return numbers.astype(next(fits, np.int64))


class RowsApartError(ValueError):
    """The rows of a user of the lists are not together."""


class _Ranked:
    """The lists: their blocks by common codes, and where the list of each user begins."""

    def __init__(
        self, stream: Source, truth: Flat, codes: tuple[Codes, Codes], options: Options
    ) -> None:
        self.stream, self.truth, self.codes, self.options = stream, truth, codes, options
        self.begins = np.full(len(truth.users), -1)  # of users of the truth, then of others
        self.others = Numbering()

    def blocks(self) -> Iterator[tuple[Flat, Ints]]:
        """Yield lists of complete users, and the place of each user in the truth; -1: in none."""
        texts = self.codes[0].texts, self.codes[1].texts
        try:
            for part in self.stream.blocks(texts):
                lists = self._encoded(part.lists)
                yield lists, self._places(lists.users, part)
        except RowsApartError:
            raise
        except (ValueError, TypeError) as error:
            if not hasattr(error, "path"):  # of a list, which may be one that is cut in two
                self._check_together(getattr(error, "user", None))
            raise self.stream.located(error) from None

    def sorted_blocks(self, error: RowsApartError) -> Iterator[tuple[Flat, Ints]]:
        """Yield the lists of a file that is read whole, the rows of a user in any place.

        RowsApartError, with the way out, if it can be read once, or does not fit into memory.
        """
        stream, free = self.stream, free_memory()
        needed = stream.size()
        if stream.batches is not None or needed > free * SHARE:
            raise about(
                ValueError(f"{error}{stream.way_out(needed, free)}"), **vars(error)
            ) from None
        lists = loaded(stream, (self.codes[0].texts, self.codes[1].texts))
        try:
            lists = self._encoded(lists)
            lists.check_no_two(numbered(lists.users.codes)[0])
        except (ValueError, TypeError) as wrong:
            raise stream.located(wrong) from None
        return self._cut(lists)

    def _cut(self, lists: Flat) -> Iterator[tuple[Flat, Ints]]:
        """Yield lists in blocks."""
        places = self.truth.places.find(lists.users.codes)
        for lo, hi in parallel.bounds(lists.offsets):
            users = replace(lists.users, codes=lists.users.codes[lo:hi])
            offsets = lists.offsets[lo : hi + 1]
            ids, lengths = lists.ids[offsets[0] : offsets[-1]], lists.lengths[lo:hi]
            some = {"ids": ids, "offsets": offsets - offsets[0], "lengths": lengths}
            scored = None if lo else lists.scored
            yield replace(lists, users=users, **some, scored=scored), places[lo:hi]

    def _encoded(self, lists: Flat) -> Flat:
        source, items_as = str(self.stream.path), self.options.items_as
        users = self.codes[0].encode(lists.users, source)
        if items_as is not None:
            lists = items_as.mapped(lists, self.options.padding)
        return lists.under(users, self.codes[1].encode(lists.items, source))

    def _places(self, users: Column, part: Block) -> Ints:
        """Return the place of each user in the truth; ValueError for one who was met before."""
        begins = part.begins
        places = self.truth.places.find(users.codes)
        numbers, other = places, places < 0
        if other.any():
            numbers = places.copy()
            numbers[other] = len(self.truth.users) + self.others.number(users.codes[other])
        n_users = len(self.truth.users) + len(self.others)
        if len(self.begins) < n_users:
            known = self.begins
            self.begins = np.full(2 * n_users, -1)
            self.begins[: len(known)] = known
        before = self.begins[numbers]
        self.begins[numbers] = begins
        last = self.begins[numbers]  # of a user who is twice in this block, the second place
        twice = np.flatnonzero((before >= 0) | (last != begins))
        if len(twice):
            at = twice[0]
            rows = sorted((before[at] if before[at] >= 0 else last[at], begins[at]))
            if not part.is_long:
                raise self.stream.two_lists([users[at]] * 2, np.zeros(2, np.int64), rows)
            raise self._apart(users[at], rows)
        return places

    def _check_together(self, user: Any) -> None:
        """Raise ValueError if the rows of a user are apart: it explains a list that is wrong."""
        if user is None:
            return
        places = self.stream.place(user)
        if self.stream.batches is not None:  # the places before are known here alone
            users = [*self.truth.users, *self._column(self.others.codes)]
            known = zip(users, self.begins.tolist(), strict=False)
            places = [*(row for one, row in known if one == user and row >= 0), *places]
        if len(places) > 1:
            raise self._apart(user, places)

    def _column(self, codes: Ints) -> Column:
        return Column("user_id", codes, self.codes[0].names)

    def _apart(self, user: Any, rows: Sequence[int]) -> RowsApartError:
        """Return the error of a user whose rows are apart, those that begin at some rows."""
        unit = self.stream.unit
        error = RowsApartError(
            f"{self.stream.path}: user {short(user)} is in {unit} {rows[0]} and again in {unit} "
            f"{rows[1]}"
        )
        return about(error, path=str(self.stream.path), user=user)


class Loop:
    """An evaluation block by block: the ground truths, and the result of the blocks so far.

    A part of a larger evaluation may have no user in both, and no user at all; with ``keep="part"``
    it counts users with a list alone.
    """

    def __init__(
        self, streams: Streams, plan: Plan, truth: Flat, items: Codes, is_part: bool
    ) -> None:
        self.streams, self.plan, self.truth, self.items = streams, plan, truth, items
        self.counts_listed = plan.options.keep == "part"
        self.is_part = is_part or self.counts_listed
        self.keeps = plan.options.keep == "users"
        self.without = np.ones(len(truth.users), bool)  # users of the truth without a list so far
        self.n_extra, self.extra = 0, None  # users of lists alone, and one of them
        self.hits = list[Hits]()  # of every block, if they are kept
        self.rows = list[Ints]()  # and the places of their users in the truth
        self.users = list[Column]()
        self.words = list[NDArray[np.uint64]]()  # of the users of a part
        self.lists: ListResult | None = None
        self.measured = False  # whether there were lists
        self.result: TopKResult | None = None
        self.longest = 0  # the longest list
        self.lacking: dict[str, str] | None = None  # what all blocks lack, by metric
        self.scored: Scored | None = None
        self.unmatched: Unmatched | None = None  # of the first block without a hit
        self.truths: list[Fingerprint] = []  # of every block: together, that of the file

    def run(self, blocks: Iterable[tuple[Flat, Ints]]) -> TopKResult:
        """Evaluate all blocks, and users of the truth who are in none."""
        for lists, places in blocks:
            self._measure(lists)
            known = places >= 0
            self.without[places[known]] = False
            if not known.all():
                self.extra = lists.users[int(np.argmin(known))] if not self.n_extra else self.extra
                self.n_extra += len(known) - int(np.count_nonzero(known))
            if self.plan.counts_all:
                known |= self._lengths(lists) > 0
            elif self.counts_listed:
                known &= self._lengths(lists) > 0
            if known.any():
                self._evaluate_lists(lists, places, known)
        if not self.measured:  # a part without lists has the same metrics as others
            none = np.empty(0, np.int64)
            users, items = replace(self.truth.users, codes=none), Column("item_id", none)
            self._measure(Flat.of("ranks", users, items, np.zeros(1, np.int64)))
        absent = np.flatnonzero(self.without)
        nobody = len(absent) == len(self.without)
        if nobody and self.n_extra and len(absent) and not self.is_part:
            raise _no_user_in_both(self.streams, self.extra, self.truth.users[absent[0]])
        if self.counts_listed:
            absent = absent[:0]
        for first in range(0, max(len(absent), not self.truths), PART):
            places = absent[first : first + PART]
            offsets = np.zeros(len(places) + 1, np.int64)
            nothing = Flat("ranks", offsets[:0], offsets, offsets[1:])
            users = replace(self.truth.users, codes=self.truth.users.codes[places])
            self._evaluate(users, places, nothing)
        return self._finish()

    def _lengths(self, lists: Flat) -> Ints:
        """Return the lengths of lists without their padding."""
        lists = replace(lists, names=self.items.names)
        return unpadded(lists, self.plan.options.padding).lengths

    def _measure(self, lists: Flat) -> None:
        """Add what is of the lists alone: equal scores, and metrics of the lists themselves."""
        self.measured = True
        if lists.scored is not None:
            self.scored = lists.scored if self.scored is None else self.scored + lists.scored
        metrics = [one for one in self.plan.list_metrics if not one.of_truth]
        if metrics:
            lists = replace(lists, names=self.items.names, scored=None)
            self._add(lists_of(self.plan, metrics, lists))

    def _add(self, part: ListResult | None) -> None:
        """Add the metrics of some lists to those of the lists so far."""
        self.lists = part if self.lists is None or part is None else self.lists.plus(part, True)

    def _evaluate_lists(self, lists: Flat, places: Ints, which: Bools) -> None:
        """Add the users of some lists of a block."""
        if not which.all():
            rows = np.flatnonzero(which)
            users = replace(lists.users, codes=lists.users.codes[rows])
            lists, places = replace(lists.take(rows), users=users), places[rows]
        self._evaluate(lists.users, places, lists)

    def _evaluate(self, users: Column, places: Ints, ranked: Flat) -> None:
        """Add users to the result, with their lists and the truths at some places; -1: none."""
        names = self.items.names
        sides = (
            replace(ranked, names=names, scored=None, users=users),
            replace(self.truth.take(places), names=names, users=users),
        )
        try:
            hits = self._joined(*sides)
        except (ValueError, TypeError) as error:
            raise located(error, self.streams) from None
        of_truth = [one for one in self.plan.list_metrics if one.of_truth]
        if of_truth:
            self._add(lists_of(self.plan, of_truth, sides[0], hits))
        self.unmatched = self.unmatched or hits.about.unmatched
        self.truths += hits.about.fingerprints
        self.longest = max(self.longest, hits.k)
        if self.keeps:
            self.hits.append(hits)
            self.rows.append(places)
            self.users.append(users)
            return
        if self.counts_listed:
            self.words.append(hashes_of(users))
        if len(hits):
            self.lacking = self.plan.lacking(hits, self.lacking)
        part = replace(without_users(self.plan.part(hits)), fingerprints=())
        self.result = part if self.result is None else self.result + part

    def _joined(self, ranked: Flat, truth: Flat) -> Hits:
        """Join lists of integers, or codes, that are in the order of the users."""
        joining = ruled(None, self.plan.joining, self.plan.rules)
        depth = joining.cut(self.plan.depth)
        ranked, truth = shaped(ranked, depth, joining), unpadded(truth, joining.padding)
        hits = join(ranked, truth, depth, joining, whole=False)
        return closed_up(hits, self.plan.depth, joining)

    def _finish(self) -> TopKResult:
        """Return the result of all blocks."""
        truths = (together(self.truths),)
        if self.keeps:
            found = self.plan.result(self._kept().of_part(fingerprints=truths))
        else:
            assert self.result is not None
            words = next(filter(None, (self.lacking or {}).values()), "")
            if words and not self.is_part:  # of all ground truths together
                raise ValueError(words)
            found = replace(self.result, terms=self.result.terms.with_depth(self.longest))
        return replace(
            found,
            n_extra=0 if self.plan.counts_all else self.n_extra,
            lists=self.lists,
            fingerprints=truths,
            unmatched=self.unmatched,
            scored=self.scored,
            listed=np.concatenate(self.words) if self.counts_listed else None,
        )

    def _kept(self) -> Hits:
        """Return the hits of all blocks as those of one, in the order of the truth."""
        depth = self.plan.depth or self.longest
        some = [hits.of_part(k=depth, users=None, fingerprints=()) for hits in self.hits]
        whole = in_pairs(some, partial(Hits.merged, disjoint=True))
        codes, places = (
            np.concatenate(parts) for parts in ([one.codes for one in self.users], self.rows)
        )
        alone = places < 0  # after the users of the truth
        order = np.argsort(np.where(alone, len(self.without), places), kind="stable")
        if np.any(order[1:] < order[:-1]):
            whole = whole.subset(order)
        return whole.of_part(users=Column("user_id", codes[order], self.users[0].names)[:])
