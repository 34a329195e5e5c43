"""`top_k_eval_files`: two files of any size, joined part by part.

Both files are read in parts; lists meet by user, are evaluated and forgotten. What waits for its
other half is all that is kept: little where the users of both files stand in the same order, else
the ground truth. The parts of the result merge, so that it has means and spreads, but no users.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.beyond.results import ListResult
from toplist.checks import choice
from toplist.evaluation.evaluate import DEFAULT, hits_of, lists_of
from toplist.evaluation.plan import Plan, plan_of
from toplist.files.batches import SplitUserError, Stream
from toplist.files.buffers import Codes, Users, Waiting
from toplist.files.lists import TEXT_FORMATS, load
from toplist.files.text import FORMATS, PathLike, format_of
from toplist.inputs.factorize import Column, textual
from toplist.inputs.flatten import Flat
from toplist.inputs.grades import Grading
from toplist.inputs.keyed import Keyed
from toplist.inputs.options import DUPLICATES, Joining, Known
from toplist.inputs.sides import admit_aligned
from toplist.matching.match import join
from toplist.metrics.definitions import Metric
from toplist.results.result import TopKResult

# Ids of ranked lists that may wait before the truth is read ahead for them: 32 MB.
PATIENCE = 1 << 22
# Users in a part of those whose lists never came.
PART = 1 << 17


def top_k_eval_files(
    recs: PathLike,
    truth: PathLike,
    k: int | Iterable[int] | None = None,
    *,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    convention: str = "standard",
    weights: Mapping[Any, float] | None = None,
    aggregate: str | None = None,
    empty: str | None = None,
    missing: str | None = None,
    duplicates: str = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: str = "linear",
    columns: Mapping[str, str] | None = None,
    catalogue: Any = None,
    item_counts: Any = None,
    features: Any = None,
    unknown: str = "raise",
    n_threads: int | None = None,
    recs_format: str | None = None,
    truth_format: str | None = None,
    order: str | None = None,
    in_memory: bool = False,
) -> TopKResult:
    r"""Evaluate two files of any size: Parquet, CSV, TSV or JSONL, the last three also .gz.

    Parameters
    ----------
    recs : path
        Of ranked lists: user_id, item_id and rank (1..n) or score, the rows of a user together;
        or one row per user, item_id holding the list. A folder stands for its .parquet files.
    truth : path
        Of relevant ids: user_id, item_id and, with grades, relevance, in either form.
    k, metrics, convention, weights, aggregate, empty, missing
        As in `toplist.top_k_eval`; weights by user only.
    duplicates, padding, relevant_from, gains, columns, n_threads
        As in `toplist.top_k_eval`.
    catalogue, item_counts, features, unknown
        As in `toplist.top_k_eval`; shannon_entropy needs a catalogue here too.
    recs_format, truth_format : str, optional
        "csv", "tsv", "jsonl", "trec" or "parquet"; default what the extension says.
    order : {"file"}, optional
        Ranked items are taken as they stand in the file, best first.
    in_memory : bool
        Read both files whole, with the rows of a user in any place; the result then has values
        per user. TREC files are always read so.

    Returns
    -------
    TopKResult
        Merged from parts: it holds no hits, so `per_user` raises.

    Raises
    ------
    ValueError, TypeError
        As `toplist.top_k_eval`; and for a file that cannot be read, with its line or row, and for
        a user whose rows do not stand together.
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
    plan = plan_of(metrics, k, convention, weights, aggregate, empty, missing)
    if order not in (None, "file"):
        raise ValueError(f"order={order!r}: 'file', or None for rank or score")
    recs, truth = os.fspath(recs), os.fspath(truth)
    for given in filter(None, (recs_format, truth_format)):
        choice("format", given, FORMATS)
    formats = recs_format or format_of(recs), truth_format or format_of(truth)
    options = Joining(duplicates, padding, relevant_from, gains, columns, n_threads)
    choice("duplicates", duplicates, DUPLICATES)
    grading = Grading(relevant_from, gains)
    reading = duplicates, padding, columns, n_threads
    known = Known(catalogue, item_counts, features, unknown, *reading)
    if in_memory or "trec" in formats:
        sides = load(recs, truth, formats, columns or {}, order)
        hits, _ = hits_of(*sides, plan.depth, options)
        lists = lists_of(plan, sides[0], known)
        return plan.result(hits, n_threads, lists)
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError("weights must be a dict user -> number: files have no rows to count by")
    streams = (
        Stream(recs, "ranks", formats[0], columns, order),
        Stream(truth, "ground_truths", formats[1], columns),
    )
    as_text = len({name in TEXT_FORMATS for name in formats}) == 2
    return _Join(streams, plan, options, grading, known, as_text).run()


class _Join:
    """The join of two streams: what has come of each side, and the parts of the result."""

    def __init__(
        self,
        streams: tuple[Stream, Stream],
        plan: Plan,
        options: Joining,
        grading: Grading,
        known: Known,
        as_text: bool,
    ) -> None:
        self.streams, self.plan, self.options, self.grading = streams, plan, options, grading
        self.known, self.as_text = known, as_text
        self.lists: ListResult | None = None
        self.users, self.items = Users(as_text), Codes(as_text)
        self.waiting = Waiting(), Waiting()
        self.numbers = [np.empty(0, np.int64)] * 2  # of the users of the part that is read
        self.places = np.empty((2, 0), np.int64)  # where each user stands, by number; -1: nowhere
        self.n_met = 0
        self.result: TopKResult | None = None

    def run(self) -> TopKResult:
        """Read both files to their ends."""
        ranked, truths = (
            stream.parts(partial(self._meet, side)) for side, stream in enumerate(self.streams)
        )
        more = True
        for lists in ranked:
            self._measure(lists)
            self._come(0, lists)
            while more and self._should_read_truth():
                more = self._next(truths)
        while more:
            more = self._next(truths)
        return self._finish()

    def _next(self, truths: Iterator[Keyed]) -> bool:
        lists = next(truths, None)
        if lists is not None:
            self._come(1, lists)
        return lists is not None

    def _measure(self, lists: Keyed) -> None:
        """Add the metrics of a part of the lists themselves."""
        if self.as_text:
            lists = replace(lists, items=textual(lists.items))
        part = lists_of(self.plan, lists, self.known)
        self.lists = part if self.lists is None or part is None else self.lists + part

    def _should_read_truth(self) -> bool:
        """Whether lists wait for truths that may well be in the next part.

        Where the users of both files stand in the same order, they are not, once the truth is
        ahead: what still waits then are users without a truth.
        """
        listed, relevant = self.waiting
        return bool(listed.n_ids) and (relevant.reached or listed.n_ids > PATIENCE)

    def _come(self, side: int, lists: Keyed) -> None:
        """Evaluate the users of a part whose other half is here; the others wait."""
        numbers = self.numbers[side]
        codes = self.items.encode(lists.items, str(self.streams[side].path))
        column = replace(lists.items, codes=codes, names=None)
        lists = replace(lists, items=column)
        met = self.waiting[1 - side].has(numbers)
        self.waiting[side].add(numbers[~met], lists.take(np.flatnonzero(~met)), len(self.users))
        if met.any():
            here = lists if met.all() else lists.take(np.flatnonzero(met))
            there = self.waiting[1 - side].take(numbers[met])
            pair = (here.offsets, here.items.codes, here.grades), there
            self._evaluate(numbers[met], *(pair if side == 0 else pair[::-1]))
            self.n_met += int(met.sum())

    def _meet(self, side: int, users: Column, places: NDArray[np.int64]) -> None:
        """Give the users of a part numbers; ValueError for one who stands elsewhere too."""
        numbers = self.users.number(users, str(self.streams[side].path))
        self.numbers[side] = numbers
        n = len(self.users)
        if self.places.shape[1] < n:
            grown = np.full((2, 2 * n), -1)
            grown[:, : self.places.shape[1]] = self.places
            self.places = grown
        known = self.places[side]
        before = known[numbers]
        known[numbers] = places
        twice = np.flatnonzero((before >= 0) | (known[numbers] != places))
        if len(twice):
            this = twice[0]
            other = before[this] if before[this] >= 0 else known[numbers[this]]
            first, second = sorted((int(other), int(places[this])))
            stream, user = self.streams[side], self.users[numbers[this]]
            raise SplitUserError(
                f"user {user!r} stands in {stream.unit} {first} and again in "
                f"{stream.unit} {second}: a stream has the rows of a user together; --in-memory "
                "(in_memory=True in Python) takes them in any order"
            )

    def _evaluate(self, numbers: NDArray[np.int64], ranked: Any, truth: Any) -> None:
        """Add users to the result: their lists and truths, each (offsets, ids, grades)."""
        names = self.items.names
        listed, relevant = (
            Flat(side, ids, offsets, np.diff(offsets), grades, names)
            for side, (offsets, ids, grades) in (("ranks", ranked), ("ground_truths", truth))
        )
        users = _Names(self.users, numbers)
        _, padding, _, _, _, n_threads = self.options
        sides = admit_aligned(users, listed, relevant, 0, self.plan.depth, padding, self.grading)
        hits = join(sides, self.options.duplicates, n_threads)
        part = replace(self.plan.result(hits, n_threads), hits=None, counted=None)
        self.result = part if self.result is None else self.result + part

    def _finish(self) -> TopKResult:
        """Add the users without lists, and count the lists without users."""
        listed, relevant = self.waiting
        extra = listed.users()
        absent = relevant.users()
        if not self.n_met and len(extra) and len(absent):
            raise ValueError(
                f"no user is in both: {self.streams[0].path} has {self.users[extra[0]]!r}, "
                f"{self.streams[1].path} has {self.users[absent[0]]!r}"
            )
        for first in range(0, len(absent), PART):
            numbers = absent[first : first + PART]
            nothing = np.zeros(len(numbers) + 1, np.int64), np.empty(0, np.int64), None
            self._evaluate(numbers, nothing, relevant.take(numbers))
        assert self.result is not None  # a file without rows is an error
        return replace(self.result, n_extra=len(extra), lists=self.lists)


class _Names(Sequence[Any]):
    """The keys of some users, looked up where a message or a weight needs them."""

    def __init__(self, users: Users, numbers: NDArray[np.int64]) -> None:
        self._users, self._numbers = users, numbers

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        """Return one user's key."""
        return self._users[int(self._numbers[at])]
