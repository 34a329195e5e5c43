"""`ItemMap`: the document of each chunk, put in place of the ids of lists and ground truths.

The distinct ids are looked up, each once, whatever form the lists have. Documents that are integers
take the place of ids themselves; others are codes, by one numbering for both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from toplist import kernels
from toplist.inputs import truths
from toplist.inputs.factorize import Column, distinct_ids, numbered_by, recoded
from toplist.inputs.facts import DOCUMENT, by_item
from toplist.inputs.ids import alone, kinds_of, two_kinds, unpadded
from toplist.inputs.lists import Flat, of_column, offsets_of
from toplist.inputs.texts import hashes_of, total_of

NAME = "items_as"
# Maps of more chunks are compared by their numbers alone: to hash a million takes 0.25 s.
EXACT = 20_000


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
                truths.check_no_matrix(flat)
            truths.check(flat)
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
                answer = self._function(np.array(new, np.int64) if flat.names is None else new)
                found = answer if isinstance(answer, (list, tuple)) else of_column(answer)
                if found is None or len(found) != len(new):
                    kind = TypeError if found is None else ValueError
                    what = f"a {type(answer).__name__}"
                    what = what if found is None else f"{len(found):,} documents"
                    raise kind(
                        f"{NAME}= returned {what} for {len(new):,} ids: it must return a document "
                        "for each, in a list"
                    )
                self._learn(new, found)
        places = [self._known.get(one) for one in asked]
        if None in places:
            unknown = used[[place is None for place in places]]
            raise self._unknown(flat, int(np.argmax(np.isin(codes, unknown))))
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
        kind = next(iter(kinds_of(values, NAME)), None)
        if kind is not None and (known := self._kinds.setdefault(what, kind)) is not kind:
            words = f"{known.__name__} and {kind.__name__} among its {what}"
            raise TypeError(f"{NAME}=: ids of two kinds, {words}")
        return kind

    def _unknown(self, flat: Flat, place: int) -> Any:
        """Return the error of an id that has no document."""
        user = flat.user_at(place)
        at = place - int(flat.offsets[user])
        item = flat.row(user)[at]
        kinds = self._kinds.values()
        if kinds and next(iter(kinds_of([item], flat.side))) not in kinds:
            example = next(iter(self._known))
            error: Exception = two_kinds(
                "ids", f"{item!r} in {flat.side}", f"{example!r} in {NAME}", "convert one side"
            )
            return flat.about(error, user, item=item)
        rank = f" at rank {at + 1}" if flat.side == "ranks" else ""
        error = ValueError(
            f"{flat.side}: {flat.name_user(user)} has item {item!r}{rank}, of which {NAME}= "
            f"has no document: add it, {{{item!r}: DOCUMENT}}, give the chunks of the whole "
            "index, or a function that takes ids and returns their documents"
        )
        return flat.about(error, user, item=item)
