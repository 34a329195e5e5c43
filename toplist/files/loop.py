"""Files and streams: the ground truths are read whole, the lists in blocks of complete users.

A block of the lists is joined with the truths of its users, evaluated and forgotten; the results of
the blocks are merged. So memory holds the truths and one block, whatever the order of the users;
the result has means and spreads, but no values per user, unless the hits are kept.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Ints, about
from toplist.evaluation import evaluate, in_memory, result_of_lists
from toplist.evaluation.plan import Plan, plan_of
from toplist.files.batches import Block, Source, source_of, stream_of_batches
from toplist.files.formats import IN_MEMORY, TREC, named, short
from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.ids import shaped, unpadded
from toplist.inputs.keyed import Codes, KeptTruths
from toplist.inputs.lists import Flat, offsets_of
from toplist.inputs.options import SIDES, Options, columns_of
from toplist.inputs.tables import lists_of
from toplist.inputs.texts import IdTexts, hashes_of
from toplist.inputs.truths import check_no_matrix
from toplist.matching import closed_up, join
from toplist.matching.about import together
from toplist.matching.hits import Hits
from toplist.results.means import in_pairs
from toplist.results.result import TopKResult

# Of the free memory, what a file may take that is read whole to be sorted.
SHARE = 1 / 4
UNKNOWN = 4 << 30  # bytes that are free where no system says
GROUPS = "/sys/fs/cgroup"
# Users without a list that are evaluated at a time.
PART = 1 << 17
# The lists, and the ground truths.
Sources = tuple[Source, Source]


def evaluate_streams(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate lists of a file or stream over truths of any form, or lists in memory over a file.

    With `options.system`, each system of the file of lists, which is read whole.
    """
    kept = truths if isinstance(truths, KeptTruths) else None
    listed = source_of(ranks, "ranks", options)
    relevant = source_of(truths, "ground_truths", options) if kept is None else kept.stream
    if any(isinstance(one, Source) and one.format is TREC for one in (listed, relevant)):
        options = replace(options, unit=options.unit or "queries")
    texts = IdTexts() if kept is None else kept.texts
    if not isinstance(listed, Source):
        return in_memory(listed, relevant.whole(texts), plan_of(options, k))
    plan = plan_of(options, k, listed.ordering)
    # Queries of a TREC run are few. Intervals by weights and clusters need the rows, and what was
    # given of each is held already. Beside metrics of the lists, which are read whole with users,
    # weights alone do not ask for it.
    weighted = plan.options.weights is not None and not plan.list_metrics
    needs_rows = listed.format is TREC or plan.options.clusters is not None or weighted
    if needs_rows and plan.options.keep is None:
        plan = replace(plan, options=replace(plan.options, keep="users"))
    if not isinstance(relevant, Source):  # of truths in memory
        if kept is None:
            side = side_to_builtin(truths, "ground_truths")
            lists = lists_of(side, "ground_truths", options.columns, known=texts)
            kept = KeptTruths(lists, texts)
        relevant = Source("ground_truths", "ground_truths", options.columns, format=IN_MEMORY)
    sources = listed, relevant
    keys = (columns_of(one.columns, one.side)["user_id"] for one in sources)
    composite = any(isinstance(key, tuple) for key in keys)
    # metrics of the lists have values by user where all lists are known
    kept_lists = plan.options.keep == "users" and plan.list_metrics
    if not composite and options.system is None and not kept_lists:
        return Loop(sources, plan, kept).result()
    if options.keep == "part":
        raise ValueError("keep='part': keys of several columns and systems are read whole")
    truth = relevant.whole(texts) if kept is None else kept.lists
    systems = listed.by_system(options.system)
    found = {name: _in_whole((one, relevant), plan, texts, truth) for name, one in systems}
    return found[None] if options.system is None else found  # type: ignore[return-value]


def evaluate_part(ranks: Any, truths: Any, k: Any, options: Options) -> TopKResult:
    """Evaluate all users of two tables, which are some of the users of a larger evaluation."""
    given = zip((ranks, truths), SIDES, strict=True)
    listed, relevant = (stream_of_batches(one, side, options, True) for one, side in given)
    return Loop((listed, relevant), plan_of(options, k), is_part=True).result()


def _are_texts(sources: Sources) -> bool:
    """Whether ids are read as text: where one of two files has no other ones."""
    formats = [source.format for source in sources]
    return IN_MEMORY not in formats and not all(one.typed_ids for one in formats)


def _in_whole(sources: Sources, plan: Plan, texts: IdTexts, truth: Flat) -> TopKResult:
    """Evaluate lists and truths that are read whole: one block, with values per user."""
    sides = [sources[0].whole(texts), truth]
    if _are_texts(sources):
        users, items = Codes(texts.users, as_text=True), Codes(texts.items, as_text=True)
        given = zip(sides, [str(source.path) for source in sources], strict=True)
        sides = [
            one.under(users.encode(one.users, path), items.encode(one.items, path))
            for one, path in given
        ]
    try:
        return evaluate(plan, *sides)
    except (ValueError, TypeError) as error:
        raise _located(error, sources) from None


def _located(error: Exception, sources: Sources) -> Exception:
    """Return an error of the join with the file, and the line or row, that it is about."""
    users = getattr(error, "users", None)
    if users is not None:
        return _no_user_in_both(sources, *users)
    side = getattr(error, "side", None)
    if side is not None:
        return sources[side == "ground_truths"].located(error)
    return named(", ".join(str(source.path) for source in sources) + ": ", error)


def _no_user_in_both(sources: Sources, listed: Any, absent: Any) -> ValueError:
    recs, truth = (source.path for source in sources)
    return ValueError(
        f"no user is in both: {recs} has {short(listed)}, {truth} has {short(absent)}"
    )


class RowsApartError(ValueError):
    """The rows of a user of the lists are not together."""


class Loop:
    """An evaluation block by block, over truths that are read whole, maybe for other lists.

    A part of a larger evaluation may have no user in both, and no user at all; with ``keep="part"``
    it counts users with a list alone.
    """

    def __init__(
        self, sources: Sources, plan: Plan, kept: KeptTruths | None = None, is_part: bool = False
    ) -> None:
        options = plan.options
        if options.weights is not None and not isinstance(options.weights, Mapping):
            raise TypeError("weights must be a dict user -> number: files have no rows to count by")
        if options.clusters is not None and options.keep != "users":
            raise ValueError(
                "clusters= need the rows, and what is read in blocks keeps none: keep='users' "
                "keeps them"
            )
        self.sources, self.plan = sources, plan
        self.counts_listed = options.keep == "part"
        self.is_part = is_part or self.counts_listed
        self.texts = IdTexts() if kept is None else kept.texts
        as_text = _are_texts(sources)
        self.users, self.items = Codes(self.texts.users, as_text), Codes(self.texts.items, as_text)
        try:
            self.truth = self._read_truth(sources[1], kept)
        except (ValueError, TypeError) as error:
            raise self._of_both(sources[1].located(error)) from None

    def _of_both(self, error: Exception) -> Exception:
        """Return an error of columns of the truths with that of the lists, if both lack some."""
        lists = self.sources[0]
        if hasattr(error, "absent") and lists.batches is None:
            try:
                next(lists.blocks(self.texts), None)
            except ValueError as other:
                if hasattr(other, "absent"):
                    return about(ValueError(f"{error}; {lists.located(other)}"), **vars(error))
        return error

    def result(self) -> TopKResult:
        """Evaluate the lists; those whose users are scattered over a file are read whole."""
        try:
            return self._evaluated(self._blocks())
        except RowsApartError as error:
            blocks = self._sorted_blocks(error)
        path = self.sources[0].path
        note = f"the rows of users are apart in {path}: it was read whole and sorted"
        found = self._evaluated(blocks)
        return replace(found, notes=(*found.notes, note))

    def _read_truth(self, source: Source, kept: KeptTruths | None) -> Flat:
        """Return all ground truths by common codes, the rows of a user in any place."""
        options, path = self.plan.options, str(source.path)
        begins = list[Ints]()  # of lists of which a user has one
        # chunks that become documents are no ids of the lists, and may be of another kind
        items = self.items
        if options.items_as is not None:
            items = Codes(items.texts, items.names is not None)

        def encoded(part: Block) -> Flat:
            lists, listed = part.lists, part.lists.items
            own = self.users.encode(lists.users, path), items.encode(listed, path)
            if not part.is_long or (lists.grouped and source.batches is not None):
                begins.append(part.begins)
            if own[0] is lists.users and own[1] is listed:  # with what is known of them
                return lists
            return lists.under(*own)

        of_file = source.blocks(self.texts) if kept is None else None
        parts = of_file or [Block(kept.lists, np.arange(len(kept)))]  # type: ignore[union-attr, arg-type]
        truth, n_lists = _by_user(map(encoded, parts), source, begins)
        if len(truth.users) < n_lists and truth.grouped:
            # groups are numbered in each block alone
            truth = encoded(Block(source.whole(self.texts), truth.offsets))
        if options.items_as is not None:
            documents: Flat = options.items_as.mapped(truth, options.padding, whole=True)
            return documents.under(documents.users, self.items.encode(documents.items, path))
        if truth.items.names is None and not truth.grouped and len(truth.items):
            check_no_matrix(unpadded(truth, options.padding).compact())
        return truth

    def _encoded(self, lists: Flat) -> Flat:
        """Return lists by common codes."""
        path, options = str(self.sources[0].path), self.plan.options
        users = self.users.encode(lists.users, path)
        if options.items_as is not None:
            lists = options.items_as.mapped(lists, options.padding)
        return lists.under(users, self.items.encode(lists.items, path))

    def _blocks(self) -> Iterator[tuple[Flat, Ints]]:
        """Yield lists of complete users, and the place of each user in the truth; -1: in none.

        RowsApartError for a user who was met before.
        """
        source, n_truth, others = self.sources[0], len(self.truth.users), Numbering()
        begins = np.full(n_truth, -1)  # the lists: of users of the truth, then of others
        try:
            for part in source.blocks(self.texts):
                lists = self._encoded(part.lists)
                places = self.truth.places.find(lists.users.codes)
                numbers, other = places.copy(), places < 0
                numbers[other] = n_truth + others.number(lists.users.codes[other])
                n_users = n_truth + len(others)
                if len(begins) < n_users:
                    begins = np.append(begins, np.full(2 * n_users - len(begins), -1))
                before = begins[numbers]
                begins[numbers] = part.begins
                last = begins[numbers]  # of a user who is twice in this block, the second place
                twice = np.flatnonzero((before >= 0) | (last != part.begins))
                if len(twice):
                    at = twice[0]
                    first = before[at] if before[at] >= 0 else last[at]
                    rows = sorted((first, part.begins[at]))
                    if not part.is_long:
                        raise source.two_lists(lists.users[at], *rows)
                    raise self._apart(lists.users[at], rows)
                yield lists, places
        except RowsApartError:
            raise
        except (ValueError, TypeError) as error:
            user = getattr(error, "user", None)
            if user is not None and not hasattr(error, "path"):  # of a list that is cut in two?
                rows = source.place(user)
                if source.batches is not None:  # the places before are known here alone
                    known = [*self.truth.users, *Column("user_id", others.codes, self.users.names)]
                    met = zip(known, begins.tolist(), strict=False)
                    rows = [*(row for one, row in met if one == user and row >= 0), *rows]
                if len(rows) > 1:
                    raise self._apart(user, rows) from None
            raise source.located(error) from None

    def _apart(self, user: Any, rows: Sequence[int]) -> RowsApartError:
        """Return the error of a user whose rows are apart, those that begin at some rows."""
        path, unit = self.sources[0].path, self.sources[0].unit
        error = RowsApartError(
            f"{path}: user {short(user)} is in {unit} {rows[0]} and again in {unit} {rows[1]}"
        )
        return about(error, path=str(path), user=user)

    def _sorted_blocks(self, error: RowsApartError) -> Iterator[tuple[Flat, Ints]]:
        """Yield the lists of a file that is read whole, the rows of a user in any place.

        ValueError, with the way out, if it can be read once, or does not fit into memory.
        """
        source, free = self.sources[0], free_memory()
        needed = source.size()
        if source.batches is not None or needed > free * SHARE:
            raise about(ValueError(f"{error}{source.way_out(needed, free)}"), **vars(error))
        try:
            lists = self._encoded(source.whole(self.texts))
            _ = lists.places  # no user has two lists
        except (ValueError, TypeError) as wrong:
            raise source.located(wrong) from None
        yield lists, self.truth.places.find(lists.users.codes)

    def _evaluated(self, blocks: Iterable[tuple[Flat, Ints]]) -> TopKResult:
        """Evaluate all blocks, and users of the truth who are in none."""
        truth, options = self.truth, self.plan.options
        if options.items_as is not None:  # items are documents already, without padding
            repeats = options.joining.repeats
            options = replace(options, items_as=None, padding=None, duplicates=repeats)
        plan = replace(self.plan, options=options)  # which knows nothing of other lists
        of_truth = [one for one in plan.list_metrics if one.of_truth]
        alone = [one for one in plan.list_metrics if not one.of_truth]
        joining = options.joining
        depth = joining.cut(plan.depth)
        without = np.ones(len(truth.users), bool)  # users of the truth without a list so far
        n_extra, extra = 0, None  # users of lists alone, and one of them
        scored, prints, words = list[Any](), list[Any](), list[NDArray[np.uint64]]()
        kept = list[tuple[Hits, Column, Ints]]()
        measured = unmatched = result = lacking = None
        longest = 0

        def measure(metrics: Sequence[Any], lists: Flat, hits: Hits | None = None) -> None:
            nonlocal measured
            part = result_of_lists(plan, metrics, lists, hits)
            if part is not None:
                measured = part if measured is None else measured + part

        def add(lists: Flat, places: Ints) -> None:
            """Add users with their lists and the truths at some places; -1: none."""
            nonlocal unmatched, longest, result, lacking
            users = lists.users
            relevant = replace(truth.take(places), names=self.items.names, users=users)
            try:
                ranked = shaped(lists, depth, joining)
                relevant = unpadded(relevant, joining.padding)
                hits = join(ranked, relevant, depth, joining, whole=False)
                hits = closed_up(hits, plan.depth, joining)
            except (ValueError, TypeError) as error:
                raise _located(error, self.sources) from None
            if of_truth:
                measure(of_truth, lists, hits)
            unmatched = unmatched or hits.about.unmatched  # of the first block without a hit
            prints.extend(hits.about.fingerprints)
            longest = max(longest, hits.k)
            if options.keep == "users":
                kept.append((hits, users, places))
                return
            if self.counts_listed:
                words.append(hashes_of(users))
            if len(hits):
                lacking = plan.lacking(hits, lacking)
            part = replace(plan.part(hits).without_users(), fingerprints=())
            result = part if result is None else result + part

        def nobody(places: Ints) -> Flat:
            """Return empty lists of users of the truth."""
            users = truth.users.take(places)
            none = Column("item_id", np.empty(0, np.int64), self.items.names)
            return Flat.of("ranks", users, none, np.zeros(len(places) + 1, np.int64))

        for lists, places in blocks:
            scored += [] if lists.scored is None else [lists.scored]
            lists = replace(lists, names=self.items.names, scored=None)
            measure(alone, lists)
            known = places >= 0
            without[places[known]] = False
            if not known.all():
                extra = lists.users[int(np.argmin(known))] if not n_extra else extra
                n_extra += len(known) - int(np.count_nonzero(known))
            if plan.counts_all or self.counts_listed:
                has_list = unpadded(lists, options.padding).lengths > 0
                known = known | has_list if plan.counts_all else known & has_list
            rows = np.flatnonzero(known)
            if len(rows) and not known.all():
                lists = replace(lists.take(rows), users=lists.users.take(rows))
            if len(rows):
                add(lists, places[rows])
        absent = np.flatnonzero(without)
        if measured is None:  # a part without lists has the same metrics as others
            measure(alone, nobody(absent[:0]))
        if n_extra and len(absent) == len(without) > 0 and not self.is_part:
            raise _no_user_in_both(self.sources, extra, truth.users[absent[0]])
        if self.counts_listed:
            absent = absent[:0]
        for first in range(0, max(len(absent), not prints), PART):
            places = absent[first : first + PART]
            add(nobody(places), places)
        if kept:
            hits = _merged(kept, plan.depth or longest, len(without))
            found = plan.result(hits.of_part(fingerprints=(together(prints),)))
        else:
            assert result is not None
            lacks = next(filter(None, (lacking or {}).values()), "")
            if lacks and not self.is_part:  # of all ground truths together
                raise ValueError(lacks)
            found = replace(result, terms=result.terms.with_depth(longest))
        return replace(
            found,
            n_extra=0 if plan.counts_all else n_extra,
            lists=measured,
            fingerprints=(together(prints),),
            unmatched=unmatched,
            scored=reduce(operator.add, scored) if scored else None,
            listed=np.concatenate(words) if self.counts_listed else None,
        )


def _merged(parts: Sequence[tuple[Hits, Column, Ints]], depth: int, n_users: int) -> Hits:
    """Return the hits of all blocks as those of one: in the order of the truth, then others."""
    some = [hits.of_part(k=depth, users=None, fingerprints=()) for hits, *_ in parts]
    whole = in_pairs(some, partial(Hits.merged, disjoint=True))
    codes = np.concatenate([users.codes for _, users, _ in parts])
    places = np.concatenate([one for *_, one in parts])
    order = np.argsort(np.where(places < 0, n_users, places), kind="stable")
    if np.any(order[1:] < order[:-1]):
        whole = whole.subset(order)
    return whole.of_part(users=Column("user_id", codes[order], parts[-1][1].names)[:])


def _by_user(parts: Iterable[Flat], source: Source, begins: list[Ints]) -> tuple[Flat, int]:
    """Return the lists of all parts, those of a user as one, and how many lists there were.

    Users are in order of appearance. Parts are held in as few bytes as their numbers need, and
    forgotten as they are copied: rows in no order are a list each. ValueError for a user with two
    lists, where these have the places `begins`.
    """

    def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
        # as of numbers below 0, so that the type is signed
        least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
        return numbers.astype(np.min_scalar_type(min(least, -1 - most)))

    numbering, held, last, n_lists = Numbering(), list[tuple[Any, ...]](), None, 0
    graded = grouped = False
    for last in parts:
        columns = numbering.number(last.users.codes), np.diff(last.offsets), last.ids
        held.append((*map(narrow, columns), last.grades))
        graded, grouped = graded or last.grades is not None, grouped or last.grouped
        n_lists += len(last.users)
    if last is None:
        nothing = Column("", np.empty(0, np.int64))
        return Flat.of("ground_truths", nothing, nothing, np.zeros(1, np.int64)), 0
    if len(numbering) < n_lists and begins:
        numbers = np.concatenate([one[0] for one in held])
        users = replace(last.users, codes=numbering.codes)
        source.check_one_list(users, numbers, np.concatenate(begins))
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
    more = {"grades": grades if graded else None, "scored": last.scored, "grouped": grouped}
    found = Flat.of(last.side, users, listed, offsets, **more)
    found.once(Numbering, lambda: numbering)
    return found, n_lists


def free_memory() -> int:
    """Return the free bytes: the smaller of the machine's and the control group's.

    Files that the system holds in memory only to be quick count as free.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    machine = _numbers("/proc/meminfo").get("MemAvailable:", UNKNOWN >> 10) << 10
    return max(min([machine, *_of_groups()]), 1)


def _of_groups() -> Iterator[int]:
    """Yield what is left to the control groups of this process, those of version 1 and 2."""
    for line in _lines("/proc/self/cgroup"):
        number, kind, path = line.split(":", 2)
        if number == "0":
            base, limit, used = GROUPS, "memory.max", "memory.current"
        elif kind == "memory":
            base, limit, used = f"{GROUPS}/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        while True:  # the group, and those that it is in; in a container the path may be outside
            folder = base + path.rstrip("/")
            most, held = (next(iter(_lines(f"{folder}/{name}")), "") for name in (limit, used))
            if most.isdecimal() and held.isdecimal():
                stat = _numbers(f"{folder}/memory.stat")
                inactive = stat.get("total_inactive_file", stat.get("inactive_file", 0))
                yield int(most) - int(held) + inactive
            if path in ("", "/"):
                break
            path = os.path.dirname(path)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _numbers(path: str) -> dict[str, int]:
    """Return the numbers of a file with a name and a number in each line."""
    rows = (line.split() for line in _lines(path))
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}
