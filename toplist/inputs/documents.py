"""`ItemMap`: the document of each chunk, put in place of the ids of lists and ground truths.

The distinct ids are looked up, each once, whatever form the lists have. Documents that are integers
take the place of ids themselves; others are codes, by one numbering for both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Bools, Ints
from toplist.inputs import grades
from toplist.inputs.factorize import Numbering, blocks, numbered_by, used_codes
from toplist.inputs.facts import DOCUMENT, by_item
from toplist.inputs.flatten import Flat, of_column
from toplist.inputs.id_hashes import hashes_of, total_of
from toplist.inputs.ids import alone, kinds_of, two_kinds
from toplist.inputs.judged import check_no_matrix
from toplist.inputs.lists import offsets_of
from toplist.inputs.shaping import collapsed, compact, unpadded
from toplist.inputs.texts import Texts, joined

NAME = "items_as"
# Integer ids below this are looked up by themselves, in a table of 9 MB at most.
DENSE = 1 << 20
# Maps of more chunks are compared by their numbers alone: to hash a million takes 0.25 s.
EXACT = 20_000
NOTHING: tuple[Any, Ints, Bools] = None, np.empty(0, np.int64), np.empty(0, bool)


class ItemMap:
    """Which document an id is a part of, as it was given: a dict, or a function of ids.

    An id that is no key and is the document of another one is a document itself.

    Examples
    --------
    >>> found = ItemMap.of({"a1": "a", "a2": "a", "b1": "b"})
    >>> list(found.mapped(Flat("ranks", [["b1", "a", "a2"]], np.array([0, 3]), np.array([3]))).rows)
    [['b', 'a', 'a']]
    """

    def __init__(self, given: Mapping[Any, Any] | Callable[[Any], Any]) -> None:
        self._function = None if isinstance(given, Mapping) else given
        self._kinds: dict[str, Any] = {}  # of chunks and of documents
        self._others: dict[Any, int] = {}  # documents that are neither integers nor text
        self._names: Any = None  # of documents that are codes
        self._places: dict[Any, int] = {}  # the document of each id: an integer, or a code
        self._integers: _Table | None = None  # of ids that are integers
        self._of_names = NOTHING  # names, their documents, and which have one
        self.digest = "a function"  # of chunks and documents in any order: is it the same map?
        if isinstance(given, Mapping):
            self._kind("chunks", list(given))
            self._learn(list(given), list(given.values()))
            self.digest = f"{len(given)} chunks, {len(self._places)} ids"
            if len(given) <= EXACT:
                words = (hashes_of(list(one)) for one in (given, given.values()))
                self.digest += f", {total_of(*words):x}"

    @classmethod
    def of(cls, items_as: Any) -> ItemMap:
        """Return the map that was given in any form.

        Raises
        ------
        TypeError
            For other forms.
        ValueError
            For a table without the columns, or a chunk that is there twice.
        """
        if isinstance(items_as, cls):
            return items_as
        if isinstance(items_as, Mapping) or callable(items_as):
            return cls(items_as)
        facts = by_item(items_as, DOCUMENT, f"{NAME}=")
        return cls(dict(zip(facts.items, facts.values, strict=True)))

    def sides(self, ranked: Flat, truth: Flat, padding: Any) -> tuple[Flat, Flat]:
        """Return both sides of documents, without padding; truths hold each once."""
        own, relevant = self._of_truth(truth, padding)
        return own.mapped(ranked, padding), relevant

    def _of_truth(self, truth: Flat, padding: Any) -> tuple[ItemMap, Flat]:
        """Return a truth of documents, and the map by which it was made: this, or one like it.

        A truth that is kept for many lists keeps what the last map made of it. What a function
        returns may change from call to call.
        """
        kept: list[tuple[ItemMap, Any, Flat]] = truth.once(ItemMap, list)
        for known, dropped, found in kept:
            same = self is known or (self._function is None and self._places == known._places)
            if same and known._function is self._function and dropped == padding:
                return known, found
        flat = self.mapped(truth, padding, whole=True)
        kept[:] = [(self, padding, flat)]
        return self, flat

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
        if padding is not None and not self._other_kind(flat, padding):
            flat = unpadded(flat, padding)
        lists = compact(flat)
        flat = replace(flat, ids=lists.items, offsets=lists.offsets, grades=lists.gains)
        if of_truth:
            if whole and flat.names is None and not flat.grouped:
                check_no_matrix(lists, flat.users)
            if lists.gains is not None and not flat.grouped:
                grades.check(lists, flat)
        found = replace(flat, ids=self._documents(flat), names=self._names)
        return found if repeats or flat.grouped or not of_truth else _once(found)

    def _documents(self, flat: Flat) -> Ints:
        """Return the document of each id: an integer, or a code."""
        codes, known = self._looked_up(flat)
        out = np.empty(len(codes), np.int64)

        def look(lo: int, hi: int) -> int:
            return int(kernels.repeats.documents_of(codes[lo:hi], *known, out[lo:hi]))

        bounds = blocks(len(codes))
        for (lo, _), wrong in zip(bounds, parallel.run(look, bounds, None), strict=True):
            if wrong >= 0:
                raise self._unknown(flat, lo + wrong)
        return out

    def _looked_up(self, flat: Flat) -> tuple[Any, tuple[Ints, Bools]]:
        """Return the ids as codes, and the document of each code, if it has one."""
        if flat.names is None:
            table = self._integers = self._integers or _Table(self._places)
            if self._function is not None and len(new := table.unknown(flat.ids)):
                self._ask(new)
                table = self._integers = _Table(self._places)
            return table.codes(flat.ids), (table.documents, table.known)
        known_names, documents, known = self._of_names
        if known_names is not flat.names:
            documents, known = documents[:0], known[:0]
        new = np.arange(len(documents), len(flat.names))
        if len(new):
            documents = np.concatenate([documents, np.empty(len(new), np.int64)])
            known = np.concatenate([known, np.zeros(len(new), bool)])
        if self._function is not None:
            used = used_codes(flat.ids)[0] if len(flat.ids) else new[:0]
            new = used[~known[used]]
        asked = _names_at(flat.names, new)
        if self._function is not None:
            self._ask([one for one in asked if one not in self._places])
        places = [self._places.get(one) for one in asked]
        known[new] = [place is not None for place in places]
        documents[new] = [0 if place is None else place for place in places]
        self._of_names = flat.names, documents, known
        return flat.ids, (documents, known)

    def _ask(self, ids: Any) -> None:
        """Ask the function for the documents of ids that it was not asked for."""
        if not len(ids):
            return
        assert self._function is not None
        answer = self._function(ids)
        found = answer if isinstance(answer, (list, tuple)) else of_column(answer)
        if found is None or len(found) != len(ids):
            what = f"a {type(answer).__name__}" if found is None else f"{len(found):,} documents"
            kind = TypeError if found is None else ValueError
            raise kind(
                f"{NAME}= returned {what} for {len(ids):,} ids: it must return a document for "
                "each, in a list"
            )
        self._learn(ids if isinstance(ids, list) else ids.tolist(), found)

    def _learn(self, chunks: list[Any], documents: Sequence[Any]) -> None:
        """Keep the documents of chunks; of a dict, documents are their own."""
        kind = self._kind("documents", documents)
        if kind is int:
            codes = list(map(int, documents))
        elif kind is str:
            self._names = Texts() if self._names is None else self._names
            codes = self._names.encode(joined(list(documents))).tolist()
        else:
            codes = numbered_by(self._others, documents)[0].tolist()
            self._names = list(self._others)
        if self._function is None:
            self._places.update(zip(documents, codes, strict=True))
        self._places.update(zip(chunks, codes, strict=True))

    def _kind(self, what: str, values: Sequence[Any]) -> Any:
        """Return the one kind of some ids; TypeError for a second, and for what is no id."""
        kind = next(iter(kinds_of(values, NAME)), None)
        if kind is not None and (known := self._kinds.setdefault(what, kind)) is not kind:
            words = f"{known.__name__} and {kind.__name__} among its {what}"
            raise TypeError(f"{NAME}=: ids of two kinds, {words}")
        return kind

    def _other_kind(self, flat: Flat, padding: Any) -> bool:
        """Whether padding is no id of a side since chunks and documents are of two kinds."""
        is_text = flat.names is not None and isinstance(next(iter(flat.names), ""), str)
        return len(set(self._kinds.values())) > 1 and isinstance(padding, str) != is_text

    def _unknown(self, flat: Flat, place: int) -> Any:
        """Return the error of an id that has no document."""
        user = flat.user_at(place)
        at = place - int(flat.offsets[user])
        item = flat.row(user)[at]
        kinds = self._kinds.values()
        if kinds and next(iter(kinds_of([item], flat.side))) not in kinds:
            example = next(iter(self._places))
            error: Exception = two_kinds(
                "ids", f"{item!r} in {flat.side}", f"{example!r} in {NAME}", "convert one side"
            )
            return flat.about(error, user, item=item)
        rank = f" at rank {at + 1}" if flat.side == "ranks" else ""
        error = ValueError(
            f"{flat.side}: {flat.name_user(user)} has item {item!r}{rank}, of which {NAME}= "
            f"has no document: add it, {{{item!r}: DOCUMENT}}, give the chunks of the whole "
            "index, or a function that takes ids and returns their documents",
        )
        return flat.about(error, user, item=item)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what is looked up again."""
        return vars(self) | {"_integers": None, "_of_names": NOTHING}


class _Table:
    """The documents of ids that are integers: by the ids themselves, or by their numbers."""

    def __init__(self, places: Mapping[Any, int]) -> None:
        if set(map(type, places)) != {int}:
            kinds = int, np.integer
            places = {one: place for one, place in places.items() if isinstance(one, kinds)}
        ids = np.fromiter(places, np.int64, len(places))
        documents = np.fromiter(places.values(), np.int64, len(places))
        self.numbering: Numbering | None = None
        if not len(ids) or (ids.min() >= 0 and ids.max() < DENSE):
            n = int(ids.max(initial=-1)) + 1
            self.documents, self.known = np.zeros(n, np.int64), np.zeros(n, bool)
            self.documents[ids], self.known[ids] = documents, True
        else:
            self.numbering = Numbering()
            self.numbering.number(ids)
            self.documents, self.known = documents, np.ones(len(ids), bool)

    def codes(self, ids: Any) -> Any:
        """Return the places of ids in the table, outside of it where they have none."""
        return ids if self.numbering is None else self.numbering.find(ids)

    def unknown(self, ids: Any) -> Ints:
        """Return the distinct ids that have no document here."""
        codes = self.codes(ids)
        inside = (codes >= 0) & (codes < len(self.known))
        inside[inside] = self.known[codes[inside]]
        distinct = Numbering()
        distinct.number(ids[~inside])
        return distinct.codes.copy()


def _names_at(names: Any, codes: Ints) -> list[Any]:
    """Return the names of some codes."""
    if hasattr(names, "decoded"):
        return names.decoded(codes)  # type: ignore[no-any-return]
    return [names[code] for code in codes.tolist()]


def _once(truth: Flat) -> Flat:
    """Return truths that hold each document once, with the largest of its grades."""
    if truth.grades is None:
        found = compact(collapsed(truth, None, own=True))
        return replace(
            truth, ids=found.items, offsets=found.offsets, lengths=np.diff(found.offsets)
        )
    order, again = kernels.sorting.order_of_rows(truth.ids, truth.offsets)
    first = np.ones(len(order), bool)
    first[again] = False
    starts = np.flatnonzero(first)
    values = truth.grades[order]
    largest = np.maximum.reduceat(values, starts) if len(starts) else values
    offsets = offsets_of(first)[truth.offsets]
    ids = truth.ids[order[starts]]
    return replace(truth, ids=ids, offsets=offsets, lengths=np.diff(offsets), grades=largest)
