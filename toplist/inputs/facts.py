"""A fact of each item in any form: `by_item` reads it, and what stands below checks what it is.

These are ids (`ids_of`), numbers (`values_of`), vectors (`features_of`), distances
(`distances_of`), labels (`ItemLabels`) and, of chunks, the documents that they are parts of
(`ItemMap`), which stand in place of the ids of lists and ground truths. Files are read as tables
first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import (
    Floats,
    Ints,
    about,
    cached,
    check_positive_int,
    distinct,
    is_missing,
    no_mask,
    require,
)
from toplist.inputs import columns as cols
from toplist.inputs.factorize import Column, Numbering, distinct_ids, numbered, numbered_by, recoded
from toplist.inputs.ids import alone, kinds_of, two_kinds, unpadded
from toplist.inputs.keyed import check_unique, counts_rows, is_series
from toplist.inputs.lists import (
    CONTAINERS,
    Flat,
    described,
    first_repeat,
    is_frame,
    of_column,
    offsets_of,
)
from toplist.inputs.texts import hashes_of, total_of
from toplist.inputs.truths import check, check_no_matrix


class Fact(NamedTuple):
    """What is said of each item, for `by_item`.

    Attributes
    ----------
    name : str
        What it is called, in the singular.
    dimensions : int
        Of an array whose places are the ids 0..n-1; 0 where none is taken. What has two may have
        several columns in a table.
    several : bool
        Whether an item may have several rows.
    column : str
        The column of a table that holds it, if there are others.
    more : str
        Further forms, for messages.
    """

    name: str
    dimensions: int = 0
    several: bool = False
    column: str = ""
    more: str = ""


_PLACES = ", or a {} array whose places are the ids 0..n-1"
NUMBER = Fact("number", dimensions=1, more=_PLACES.format("1-D"))
VECTOR = Fact("vector", dimensions=2, more=_PLACES.format("2-D"))
LABEL = Fact("label", several=True)
_FUNCTION = ", or a function that takes ids and returns as many documents"
DOCUMENT = Fact("document", column="document", more=_FUNCTION)


class Facts(NamedTuple):
    """Items in the order given, and a fact of each.

    `columns` are the names of the columns of a table, `order` are the categories of an ordered
    type: a Categorical of pandas, an Enum of polars.
    """

    items: Any
    values: Any
    columns: tuple[Any, ...] = ()
    order: list[Any] | None = None


def by_item(given: Any, fact: Fact, name: str = "", key: str = "item_id") -> Facts:
    """Return the items, and a fact of each, from any form; files are read as tables first.

    Parameters
    ----------
    given : dict item -> fact, pandas Series, table, or array
        A Series has the items as its index; a table a column `key`, and one other (of vectors: one
        or several). An array, where `fact` takes it, has a row for each of the ids 0..n-1.
    fact : Fact
    name : str
        Of the argument, for messages: "labels", or "items_as=".
    key : {"item_id", "user_id"}

    Raises
    ------
    TypeError
        For other forms, and a Series that counts its rows where no array is taken.
    ValueError
        For a table of other columns, and an item with two rows.

    Examples
    --------
    >>> by_item({"tea": 3}, NUMBER)
    Facts(items=['tea'], values=[3], columns=(), order=None)
    >>> by_item([0.5, 1], NUMBER).items.tolist()
    [0, 1]
    """
    if isinstance(given, Facts):
        return given
    what = key.removesuffix("_id")
    argument = name.removesuffix("=")
    if is_frame(given):
        frame = cols.readable(given)
        names = cols.names_of(frame)
        rest = [fact.column] if fact.column in names else [one for one in names if one != key]
        columns = f"{key} and one column of {fact.name}s, {argument}[['{key}', 'COLUMN']]"
        way = f"give a table of {columns}"
        require(name, [key], names, way)
        if not rest or (len(rest) > 1 and fact.dimensions < 2):
            raise ValueError(f"{name}: {way}; columns found: {names}")
        items = cols.read(frame, key).objects()
        if not fact.several and (twice := first_repeat(items)) is not None:
            error = ValueError(f"{name}: {what} {items[twice[1]]!r} has two rows")
            raise about(error, item=items[twice[1]], row=twice[1])
        cells = [cols.read(frame, one) for one in rest]
        if fact.dimensions < 2:
            return Facts(items, cells[0].objects(), tuple(rest), categories(cells[0].kind))
        arrays = [one.array for one in cells]
        if any(one is None for one in arrays):
            rows = list(zip(*(one.objects() for one in cells), strict=True))
            return Facts(items, rows, tuple(rest))
        return Facts(items, np.stack(arrays, axis=1), tuple(rest))  # type: ignore[arg-type]
    if is_series(given):
        if counts_rows(given.index) and not fact.dimensions:
            raise TypeError(
                f"{name} is a Series that counts its rows: give it by {what}, "
                f"table.set_index('{key}')[COLUMN], or dict(enumerate({argument})) if its rows are "
                "the ids 0, 1, 2, ..."
            )
        if not fact.several:
            way = f"; {argument}.groupby(level=0).sum() adds up counts"
            check_unique(given, name, what, way if argument.endswith("counts") else "")
        return Facts(given.index.tolist(), given.tolist(), (), categories(given.dtype))
    if isinstance(given, Mapping):
        return Facts(list(given), list(given.values()))
    if hasattr(given, "to_numpy") and fact.dimensions:  # a column of a table
        given = np.asarray(given)
    listed = fact.dimensions and isinstance(given, (list, tuple, np.ndarray))
    if listed and np.ndim(given) == fact.dimensions:
        return Facts(np.arange(len(given)), given)
    raise TypeError(
        f"{name} is {described(given)}: give a dict {what} -> {fact.name}, a pandas Series whose "
        f"index has the {what}s, a table of {key} and a column of {fact.name}s{fact.more}"
    )


def categories(dtype: Any) -> list[Any] | None:
    """Return the categories of an ordered type."""
    ordered = getattr(dtype, "ordered", type(dtype).__name__ == "Enum")
    return list(dtype.categories) if ordered and hasattr(dtype, "categories") else None


def ids_of(catalogue: Any) -> Any:
    """Return the ids of a catalogue, in an order that does not change between processes.

    A number n means the ids 0..n-1, which stay a range; else an array, list, tuple, range, set,
    mapping (its keys), or a column of a table. An id that is there twice counts once.
    """
    if isinstance(catalogue, (int, np.integer, np.bool_)):
        return range(check_positive_int(catalogue, "catalogue"))
    if isinstance(catalogue, range):
        return catalogue if catalogue == range(len(catalogue)) else np.asarray(catalogue)
    if isinstance(catalogue, Set):
        try:
            return sorted(catalogue)
        except TypeError:
            return list(catalogue)
    if hasattr(catalogue, "to_numpy") and not is_frame(catalogue):  # a column of a table
        catalogue = np.asarray(catalogue)
    if isinstance(catalogue, np.ndarray) and catalogue.ndim == 1 and catalogue.dtype != object:
        return distinct(catalogue)
    if isinstance(catalogue, (list, tuple, Mapping)) or np.ndim(catalogue) == 1:
        return list(dict.fromkeys(catalogue))
    raise TypeError(
        f"catalogue is {described(catalogue)}: give the number of items (ids 0..n-1), or their ids "
        "in a list, a set or a 1-D array"
    )


def values_of(values: Any, name: str, probabilities: float | None = None) -> tuple[Any, Floats]:
    """Return the ids of the items that have a value, and the values: numbers from 0 on.

    With `probabilities`, the least, they are such.
    """
    no_mask(values, name)
    facts = by_item(values, NUMBER, name)
    ids, numbers = facts.items, _numbers(facts, name)
    valid, needed = (numbers >= 0) & (numbers < np.inf), "a finite number of at least 0 is needed"
    if probabilities is not None:
        valid = (numbers >= probabilities) & (numbers <= 1)
        needed = "give a probability above 0, 1 at most, as {item: 0.2}"
    bad = np.flatnonzero(~valid)
    if len(bad):
        item = plain(ids[bad[0]])
        raise ValueError(f"{name}: item {item!r} has {numbers[bad[0]]:g}: {needed}")
    return ids, numbers


def features_of(features: Any, name: str = "features") -> tuple[Any, Floats]:
    """Return the ids of the items that have features, and the features, (n_items, d)."""
    facts = by_item(features, VECTOR, name)
    ids, rows = facts.items, facts.values
    if not isinstance(ids, np.ndarray):
        lengths = list(map(np.size, rows))
        odd = next((row for row, n in enumerate(lengths) if n != lengths[0]), None)
        if odd is not None:
            raise ValueError(
                f"{name}: item {ids[0]!r} has {lengths[0]} numbers, item {ids[odd]!r} "
                f"{lengths[odd]}: every item needs as many"
            )
        facts = facts._replace(values=[np.ravel(row) for row in rows])
    numbers = _numbers(facts, name).reshape(len(ids), -1)
    bad = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if len(bad):
        raise ValueError(f"{name}: item {plain(ids[bad[0]])!r} has a number that is not finite")
    return ids, numbers


def distances_of(given: Any, name: str = "distances") -> tuple[Any, Floats]:
    """Return the ids of items, and the distance of any two: a square table, or an array.

    Also a dict item -> its distances to all items of the dict, in their order.

    Raises
    ------
    TypeError, ValueError
        For what is not square, not symmetric, or not of finite numbers.

    Examples
    --------
    >>> distances_of([[0, 0.5], [0.5, 0]])[1].tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ids: Any = None
    if is_frame(given):
        if hasattr(given, "index") and "item_id" not in given.columns:
            ids, others = given.index.tolist(), given.columns.tolist()
            given = given.to_numpy()
        else:
            facts = by_item(given, VECTOR, name)
            ids, others, given = facts.items, list(facts.columns), facts.values
        if len(set(ids)) < len(ids) or set(ids) != set(others):
            raise ValueError(f"{name}: the items of its rows are not those of its columns")
        given = np.asarray(given)[:, [others.index(one) for one in ids]]
    elif isinstance(given, Mapping):
        ids, given = list(given), list(given.values())
    matrix = np.asarray(given)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        raise TypeError(
            f"{name}: give a square array, whose places are the ids 0..n-1, or a square table, a "
            "column for each item, and the items as item_id or the index of pandas"
        )
    matrix = np.ascontiguousarray(matrix, np.float64)
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        raise ValueError(f"{name}: distances must be finite, and the same in both directions")
    return np.arange(len(matrix)) if ids is None else ids, matrix


def _numbers(facts: Facts, name: str) -> Floats:
    """Return facts as doubles; TypeError where one is no number."""
    array = np.asarray(facts.values)
    if array.size and array.dtype.kind not in "biuf":
        pairs = zip(facts.items, facts.values, strict=True)
        odd = [one for one in pairs if not isinstance(one[1], (int, float, np.number))]
        one = array.ndim == 1 and not isinstance(facts.items, np.ndarray) and odd
        of = ": item {!r} has {!r}".format(*odd[0]) if one else f", not {array.dtype}"
        raise TypeError(f"{name} must hold numbers{of}")
    return np.ascontiguousarray(array, np.float64)


def plain(item: Any) -> Any:
    """Return an id as Python writes it."""
    return item.item() if isinstance(item, np.generic) else item


ONE = (
    "an item is in one slice; for one label at a time, give whether an item has it: "
    "{item: 'LABEL' in found for item, found in labels.items()}"
)
SEVERAL = (*CONTAINERS, Set, np.ndarray)  # what holds the labels of one item


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The labels of items: item i of `ids` has ``codes[offsets[i]:offsets[i + 1]]`` of `labels`.

    An item without labels has none, and None, NaN and "" are none; a label that is there twice
    counts once. Labels are in the order of first appearance, those of a set by text. `categories`
    are those of an ordered type, in their order: a Categorical of pandas, an Enum of polars.
    """

    ids: list[Any]
    offsets: Ints
    codes: Ints
    labels: tuple[Any, ...]
    categories: list[Any] | None = None

    @classmethod
    def of(cls, given: Any, name: str = "labels") -> ItemLabels:
        """Read labels in any form: a dict item -> label or several, a pandas Series, a table.

        Raises
        ------
        TypeError
            For other forms, ids that are none or of two kinds, and labels that are not hashable.
        ValueError
            For a table of other columns than item_id and a label, and for two labels that are
            written alike, such as 1 and "1".

        Examples
        --------
        >>> found = ItemLabels.of({"a": ["war", "drama"], "b": None, "c": "war"})
        >>> found.labels, found.offsets.tolist(), found.codes.tolist()
        (('war', 'drama'), [0, 2, 2, 3], [0, 1, 0])
        """
        if isinstance(given, cls):
            return given
        items, rows, _, order = by_item(given, LABEL, name)
        kinds_of(items, name)
        types = set(map(type, rows))
        if any(issubclass(one, SEVERAL) for one in types):
            # the order of a set is another in each process
            rows = [sorted(row, key=str) if isinstance(row, Set) else row for row in rows]
            apart = [list(row) or [None] if isinstance(row, SEVERAL) else [row] for row in rows]
            items = [item for item, row in zip(items, apart, strict=True) for _ in row]
            rows = [one for row in apart for one in row]  # None is that of an item without
            types = set(map(type, rows))
        odd = [one for one in types if issubclass(one, SEVERAL) or not issubclass(one, Hashable)]
        if odd:
            item, one = next(pair for pair in zip(items, rows, strict=True) if type(pair[1]) in odd)
            raise TypeError(
                f"{name}: item {item!r} has the label {one!r:.60}, a {type(one).__name__}: give "
                "text or numbers"
            )
        ids, kinds = list(dict.fromkeys(items)), dict[Any, int]()
        several = len(ids) < len(items)
        entries = numbered_by({}, items)[0] if several else np.arange(len(ids))
        codes, _ = numbered_by(kinds, rows)
        some = np.array([not (is_missing(one) or one == "") for one in kinds], bool)[codes]
        entries, codes = entries[some], codes[some]
        if several:  # in the order of the items, and of equal ones the first
            _, first = np.unique(entries * len(kinds) + codes, return_index=True)
            first = first[np.lexsort((first, entries[first]))]
            entries, codes = entries[first], codes[first]
        codes, used = numbered(codes)
        known = list(kinds)
        labels = tuple(known[code] for code in used.tolist())
        alike: dict[str, Any] = {}
        for one in labels:  # tables and names of metrics hold labels as text
            if (other := alike.setdefault(str(one), one)) != one:
                raise ValueError(
                    f"{name}: {other!r} and {one!r} are written alike: give one of both"
                )
        offsets = offsets_of(np.bincount(entries, minlength=len(ids)))
        return cls(ids, offsets, codes, labels, order)

    def slices(self, order: Iterable[Any] | None = None) -> tuple[NDArray[np.int32], list[Any]]:
        """Return the place of each item's only label, and labels in order, None of others last.

        The last place is that of all other items.

        Examples
        --------
        >>> ItemLabels.of({"tea": "drink", "rye": "food", "cup": None}).slices()
        (array([0, 1, 2, 2], dtype=int32), ['drink', 'food', None])
        """
        n = np.diff(self.offsets)
        several = np.flatnonzero(n > 1)
        if len(several):
            item, first = self.ids[several[0]], self.offsets[several[0]]
            one, two = (self.labels[code] for code in self.codes[first : first + 2].tolist())
            raise ValueError(f"labels: item {item!r} has two labels, {one!r} and {two!r}: {ONE}")
        found = ordered(self.labels, self.categories if order is None else list(order))
        codes = np.full(len(n) + 1, len(found) - 1, np.int32)
        place = {one: at for at, one in enumerate(found)}
        codes[:-1][n == 1] = np.array([place[one] for one in self.labels], np.int32)[self.codes]
        return codes, found

    @cached
    def _places(self) -> dict[Any, int]:
        """The entry of each item."""
        return dict(zip(self.ids, range(len(self.ids)), strict=True))

    @cached
    def _numbers(self) -> Numbering:
        """The entry of each item, of integers."""
        numbering = Numbering()
        numbering.number(np.array(self.ids, np.int64))
        return numbering

    def entries(self, ids: NDArray[Any], names: Any) -> NDArray[np.int32]:
        """Return the entry of each item, -1 for none; ids are integers, or codes of names."""
        if names is None and kinds_of(self.ids[:1], "labels") == {int}:
            return self._numbers.find(ids).astype(np.int32)
        codes, used, asked = distinct_ids(ids, names)
        entries = np.full(used.max(initial=-1) + 1, -1)
        entries[used] = list(map(self._places.get, asked, repeat(-1)))
        return recoded(codes, entries).astype(np.int32)

    def shares(self, label: Any) -> Floats:
        """Return the share of each item that belongs to a label: 1 / n of an item with n labels.

        `label` may be written as text. ValueError if no item has it.
        """
        code = next((i for i, one in enumerate(self.labels) if str(one) == str(label)), None)
        if code is None:
            shown = ", ".join(map(repr, self.labels[:8])) + ", ..." * (len(self.labels) > 8)
            raise ValueError(f"labels: no item is labelled {label!r}: there are {shown or 'none'}")
        n = np.diff(self.offsets)
        of_label = np.repeat(np.arange(len(n)), n)[self.codes == code]
        found = np.zeros(len(n))
        found[of_label] = 1 / n[of_label]
        return found


def ordered(labels: Iterable[Any], order: Sequence[Any] | None) -> list[Any]:
    """Return labels in an order, sorted by default, None last."""
    named = list(labels)
    if order is not None:
        known = dict.fromkeys(order)
        absent = [label for label in named if label not in known]
        if absent:
            raise ValueError(
                f"order lacks the label {absent[0]!r}: it has {', '.join(map(repr, known))}"
            )
        named = [label for label in known if label is not None]
    else:
        with suppress(TypeError):  # labels of several types stay in order of appearance
            named = sorted(named)
    return [*named, None]


# Maps of more chunks are compared by their numbers alone: to hash a million takes 0.25 s.
EXACT = 20_000


class ItemMap:
    """Which document an id is a part of, as it was given: a dict, or a function of ids.

    An id that is no key and is the document of another one is a document itself. Distinct ids are
    looked up, each once, whatever form the lists have. Documents that are integers take the place
    of ids themselves; others are codes, by one numbering for both sides.

    Examples
    --------
    >>> found = ItemMap.of({"a1": "a", "a2": "a", "b1": "b"})
    >>> list(found.mapped(Flat("ranks", [["b1", "a", "a2"]], np.array([0, 3]), np.array([3]))).rows)
    [['b', 'a', 'a']]
    """

    def __init__(self, given: Mapping[Any, Any] | Callable[[Any], Any]) -> None:
        self._function = None if isinstance(given, Mapping) else given
        self._kinds: dict[str, Any] = {}  # of chunks and of documents
        self._numbers: dict[Any, int] = {}  # of documents that are no integers
        self._known: dict[Any, int] = {}  # the document of each id: an integer, or its number
        self.digest = "a function"  # of chunks and documents in any order: is it the same map?
        if isinstance(given, Mapping):
            self._kind("chunks", given)
            self._learn(given, given.values())
            self.digest = f"{len(given)} chunks, {len(self._known)} ids"
            if len(given) <= EXACT:
                words = (hashes_of(list(one)) for one in (given, given.values()))
                self.digest += f", {total_of(*words):x}"

    @classmethod
    def of(cls, items_as: Any) -> ItemMap:
        """Return the map that was given in any form; errors are those of `by_item`."""
        if isinstance(items_as, cls):
            return items_as
        if isinstance(items_as, Mapping) or callable(items_as):
            return cls(items_as)
        facts = by_item(items_as, DOCUMENT, "items_as=")
        return cls(dict(zip(facts.items, facts.values, strict=True)))

    def sides(self, ranked: Flat, truth: Flat, padding: Any) -> tuple[Flat, Flat]:
        """Return both sides of documents, without padding; truths hold each once.

        A truth that is kept for many lists keeps what the last map made of it. What a function
        returns may change from call to call.
        """
        kept: list[tuple[ItemMap, Any, Flat]] = truth.once(ItemMap, list)
        for known, dropped, found in kept:
            same = self is known or (self._function is None and self._known == known._known)
            if same and known._function is self._function and dropped == padding:
                return known.mapped(ranked, padding), found
        kept[:] = [(self, padding, self.mapped(truth, padding, whole=True))]
        return self.mapped(ranked, padding), kept[0][2]

    def mapped(
        self, flat: Flat, padding: Any = None, whole: bool = False, repeats: bool = False
    ) -> Flat:
        """Return one side of documents, without padding; truths hold each once.

        `whole` says that these are all users, so that a truth may be seen to be a matrix. With
        `repeats`, each document is there as often as its chunks: what a user had counts so.

        Raises
        ------
        TypeError
            For ids that are no ids, or neither of the kind of the chunks nor of the documents.
        ValueError
            For an id that has no document.
        """
        flat, of_truth = alone(flat), flat.side != "ranks"
        # of chunks and documents of two kinds, padding may be no id of this side
        is_text = flat.names is not None and isinstance(next(iter(flat.names), ""), str)
        if len(set(self._kinds.values())) < 2 or isinstance(padding, str) == is_text:
            flat = unpadded(flat, padding)
        flat = flat.compact()
        if of_truth and not flat.grouped:
            if whole and flat.names is None:
                check_no_matrix(flat)
            check(flat)
        found = flat.under(flat.users, self._documents(flat))
        if repeats or flat.grouped or not of_truth:
            return found
        order, again = kernels.hashing.order_of_rows(found.ids, found.offsets)
        first = np.ones(len(order), bool)
        first[again] = False
        starts, largest = np.flatnonzero(first), found.grades
        if largest is not None and len(starts):
            largest = np.maximum.reduceat(largest[order], starts)
        ids, offsets = found.ids[order[starts]], offsets_of(first)[found.offsets]
        lengths = np.diff(offsets)
        return replace(found, ids=ids, offsets=offsets, lengths=lengths, grades=largest)

    def _documents(self, flat: Flat) -> Column:
        """Return the document of each id."""
        codes, used, asked = distinct_ids(flat.ids, flat.names)
        if self._function is not None:
            new = [one for one in asked if one not in self._known]
            if new:  # each is asked for once
                try:
                    answer = self._function(np.array(new, np.int64) if flat.names is None else new)
                except (AttributeError, TypeError) as failed:
                    failed.add_note("items_as= gets all ids: lambda ids: [f(id) for id in ids]")
                    raise
                found = answer if isinstance(answer, (list, tuple)) else of_column(answer)
                if found is None or len(found) != len(new):
                    kind = TypeError if found is None else ValueError
                    what = type(answer).__name__ if found is None else f"{len(found):,} documents"
                    raise kind(
                        f"items_as= returned {'a ' * (found is None)}{what} for {len(new):,} ids: "
                        "it must return a document for each, in a list"
                    )
                self._learn(new, found)
        places = [self._known.get(one) for one in asked]
        if None in places:
            unknown = used[[place is None for place in places]]
            place = int(np.argmax(np.isin(codes, unknown)))
            user = flat.user_at(place)
            at = place - int(flat.offsets[user])
            item, rank = flat.row(user)[at], f" at rank {at + 1}" if flat.side == "ranks" else ""
            error: Exception = ValueError(
                f"{flat.side}: {flat.name_user(user)} has item {item!r}{rank}, of which items_as= "
                f"has no document: add it, {{{item!r}: DOCUMENT}}, give the chunks of the whole "
                "index, or a function that takes ids and returns their documents"
            )
            kinds = self._kinds.values()
            if kinds and next(iter(kinds_of([item], flat.side))) not in kinds:
                both = f"{item!r} in {flat.side}", f"{next(iter(self._known))!r} in items_as"
                error = two_kinds("ids", *both, "convert one side")
            raise flat.about(error, user, item=item)
        documents = np.empty(used.max(initial=-1) + 1, np.int64)
        documents[used] = places
        return Column(flat.column, recoded(codes, documents), list(self._numbers) or None)

    def _learn(self, chunks: Collection[Any], documents: Collection[Any]) -> None:
        """Keep the documents of chunks; of a dict, documents are their own."""
        if self._kind("documents", documents) is int:
            codes = list(map(int, documents))
        else:
            codes = numbered_by(self._numbers, documents)[0].tolist()
        if self._function is None:
            self._known.update(zip(documents, codes, strict=True))
        self._known.update(zip(chunks, codes, strict=True))

    def _kind(self, what: str, values: Collection[Any]) -> Any:
        """Return the one kind of some ids; TypeError for a second, and for what is no id."""
        kind = next(iter(kinds_of(values, "items_as")), None)
        if kind is not None and (known := self._kinds.setdefault(what, kind)) is not kind:
            words = f"{known.__name__} and {kind.__name__} among its {what}"
            raise TypeError(f"items_as=: ids of two kinds, {words}")
        return kind
