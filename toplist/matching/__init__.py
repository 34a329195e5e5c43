"""The join (`match`): ranked and relevant ids become `Hits`, in blocks of users over threads.

Where nobody has a hit, an id of each side is chosen so that the likely cause shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Bools, check_positive_int
from toplist.inputs import ids
from toplist.inputs.forms import read_sides
from toplist.inputs.lists import Flat, first_repeat, item_twice, offsets_of
from toplist.inputs.options import (
    MEMORY,
    ColumnNames,
    Duplicates,
    Joining,
    Options,
    Unjudged,
    of_source,
)
from toplist.inputs.texts import hashes_of
from toplist.inputs.truths import Judged, Words
from toplist.matching.about import About, Fingerprint, Unmatched
from toplist.matching.hits import Hits, above, trusted
from toplist.metrics.conventions import Convention, ConventionName, rules_of


def match(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    *,
    convention: ConventionName | Convention = "standard",
    items_as: Any = None,
    relevant_from: float | None = None,
    unjudged: Unjudged = "miss",
    duplicates: Duplicates | None = None,
    padding: Any = None,
    columns: ColumnNames = None,
    n_threads: int | None = None,
) -> Hits:
    """Join ranked lists with ground truths, once; every metric then takes the `Hits`.

    Parameters
    ----------
    ranks : lists of ids, best first
        One user: a list, tuple, range or 1-D array of ids. Many by position: a list of those, a
        2-D array of ids, `Lists`, an Arrow array or polars Series of lists. Many by key: a dict
        user -> list, a pandas Series of lists, or a table (pandas, polars, pyarrow, or any other
        with the Arrow interface) with user_id, item_id and rank (1..n) or score; or with a row
        per user, whose item_id is a list. Tensors in the host's memory are not copied; one on a
        device is copied by its own ``cpu()`` or ``get()``.
        Lists with scores: a pair (ids, scores) in either order, two arrays of one shape, one of
        integers and one of floats that fall (implicit's ``recommend``, ``torch.topk``, faiss; for
        one user or many), or a pair per user; a dict user -> {item: score} (pytrec_eval, BEIR);
        lists of hits ``{"corpus_id": 7, "score": 0.5}`` by position or by key
        (sentence-transformers); a dict query -> response of Elasticsearch or OpenSearch.
        Objects of libraries: ranx ``Run``, LensKit ``ItemListCollection``, Hugging Face
        ``Dataset``, datasets of pyarrow.
    ground_truths : relevant ids of the same users
        In the same form, though keyed forms mix; a user's may be a set, a dict item -> grade, or
        one bare id. A pandas Series is keyed by its index, unless that only counts its rows and
        `ranks` is by position. A table has user_id, item_id and, with grades, relevance. Or a scipy
        sparse matrix, users x items, of 1s or grades; a ranx ``Qrels``; the other objects above;
        `toplist.GroundTruths`, read once for many lists; `toplist.Groups`, of which any id will do.
        A table whose column of groups is named, ``columns={"group": ...}``, is such a truth too.
    k : int, optional
        Read the first k ids of each list only; default all. Metrics then go down to this k, or to
        the longest list, and no deeper.
    convention : str or Convention
        As in `toplist.top_k_eval`: how grades become gains, and how equal scores are ordered.
    duplicates : {"raise", "first", "collapse"}
        An id twice in one list: refused; or only its first place counts, and later ones are misses;
        or later copies leave and ranks close up: [d1, d1, d2] is [d1, d2], of which k counts what
        is left, as do ranks in messages. Default: "raise", with `items_as` "collapse".
    padding : id, optional
        An id that fills rectangular arrays: dropped from the ends of lists and ground truths. The
        ids of a pair that end with -1 (implicit and faiss write it) need ``padding=-1``.
    relevant_from : float, optional
        An item is relevant if its grade is at least this; default: above 0.
    columns : mapping, optional
        Of tables: their own names of user_id, item_id, rank, score and relevance; or names by
        side, ``{"ranks": {"item_id": "movieId"}, "ground_truths": {...}}``.
    n_threads : int, optional
        Default: the CPUs this process may use. The result does not depend on it.
    items_as : dict id -> document, pandas Series, table or function, optional
        Of ids that are chunks (passages, variants): the item that each is a part of, in place of
        the ids of lists and truths. A table has the columns item_id and document; a function takes
        the distinct ids, in a list or an array, and returns as many documents. An id that is no
        key and is the document of another is a document already. Lists then hold each document
        once, at the place of its first chunk; a document's grade is the largest of its chunks'.
    unjudged : {"miss", "drop"}
        Listed items without a grade are misses, or leave the lists, which are then read whole, and
        ranks close up: `Hits.judged_only` says how.

    Returns
    -------
    Hits
        One row per user of the ground truth, in its order.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted (floats, bools, None, ids of two kinds, a set
        where ranks belong).
    ValueError
        For an id twice in a list, sides of different length or without a common user,
        misplaced padding, a bad `k` or option; a score that is NaN, scores of a pair that rise; an
        id that `items_as` does not know.

    Examples
    --------
    >>> match({"ann": ["a", "b"], "bob": ["b", "c"]}, {"bob": {"c"}, "eve": {"a"}})
    Hits(2 users, 1 hits, lists read to k=2)
    >>> match({"q1": {"a": 0.2, "b": 0.5}}, {"q1": {"a": 1}}).ranks.tolist()
    [2]

    Chunks of documents, of which the second is relevant:

    >>> chunks = {"a1": "a", "a2": "a", "b1": "b"}
    >>> match(["a1", "a2", "b1"], {"b"}, items_as=chunks).ranks.tolist()
    [2]
    """
    rules = rules_of(convention)
    ranks, said = of_source(ranks, columns, rules)
    options = Options(
        convention=rules,
        items_as=items_as,
        relevant_from=relevant_from,
        unjudged=unjudged,
        duplicates=duplicates,
        padding=padding,
        n_threads=n_threads,
        **said,
    )
    options.check(MEMORY)
    return joined(ranks, ground_truths, k, options.joining._replace(listed=False))[0]


class HashCollisionError(Exception):
    """Two different strings have one hash: all are numbered by a dictionary instead."""


def joined(ranks: Any, truths: Any, k: int | None, joining: Joining) -> tuple[Hits, bool]:
    """Return the hits, and whether one user was given bare."""
    hits, _, single = read_and_joined(ranks, truths, k, joining)
    return closed_up(hits, k, joining), single


def read_and_joined(
    ranks: Any, truths: Any, k: int | None, joining: Joining
) -> tuple[Hits, Flat, bool]:
    """Return the hits as deep as lists are read for k, these lists, and whether a user was bare."""
    k = None if k is None else check_positive_int(k, "k")
    if joining.items_as is not None:
        from toplist.inputs.facts import ItemMap  # what few need, so that imports are quick

        joining = joining._replace(items_as=ItemMap.of(joining.items_as))
    depth = joining.cut(k)
    ranked, truth, n_extra, single = read_sides(ranks, truths, depth, joining)
    try:
        hits = join(ranked, truth, depth, joining, n_extra)
    except HashCollisionError:
        ranked, truth, *_ = read_sides(ranks, truths, depth, joining, hashing=False)
        hits = join(ranked, truth, depth, joining, n_extra)
    return hits, ranked, single


def closed_up(hits: Hits, k: int | None, joining: Joining) -> Hits:
    """Return hits of whole lists down to k, by what counts as R and as listed."""
    if joining.unjudged == "drop":
        hits = hits.judged_only(k)
    return hits.listed(k) if joining.listed else hits


def join(
    ranked: Flat, truth: Flat, k: int | None, joining: Joining, n_extra: int = 0, whole: bool = True
) -> Hits:
    """Join lists that are read to k with the ground truths of the same users, in blocks of users.

    Both are of integers, codes of the same names, or hashes. `n_extra` is how many users have a
    list alone; `whole` says that these are all users of the truth.
    """
    fingerprints = joining.fingerprints
    judged = truth.once(joining.grading, partial(Judged.of, truth, joining.grading, whole))
    known, groups = judged.known, judged.groups
    if fingerprints and groups is not None and "hashes" not in known:
        items = judged.truth.ids
        words = items.view(np.uint64) if judged.words is None else judged.words(items)
        known["hashes"] = groups.hashes(judged.truth.offsets, words)
    hashing = fingerprints and "hashes" not in known
    rows = None if ranked.is_array or truth.source is None else truth.source.ids
    of_block = partial(_join_block, ranked, judged, rows, joining.repeats == "raise", hashing)
    bounds = parallel.bounds(ranked.offsets + judged.truth.offsets)
    parts = list(parallel.run(of_block, bounds, joining.n_threads))
    ranks, n_hits, n_truth, places, grades, ideal, hashes, of_judged = (
        parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    )
    known.setdefault("ideal", ideal)
    if hashing:
        known["hashes"] = hashes
        known["judged"] = None if judged.relevant is judged.truth else of_judged
    users, *found = known.get("fingerprint", (known,))
    if fingerprints and users is not ranked.users:
        words = known["hashes"]
        varied = bool((words[1:] != words[:1]).any())
        if ranked.users is not None:  # whose rows are never taken for those of other users
            words, varied = words.copy(), len(words) > 0
            kernels.hashing.mix_in(hashes_of(ranked.users), words)
        found = [Fingerprint(int(words.sum(dtype=np.uint64)), len(words), varied)]
        known["fingerprint"] = ranked.users, *found
    offsets = offsets_of(n_hits)
    if ranked.source is not None and not ids.agree(ranked, truth, offsets, ranks, n_truth):
        raise HashCollisionError
    graded, items_of = judged.truth.grades is not None, None
    if groups is None:
        from toplist.matching.hit_items import HitItems  # not before there are hits

        items_of = HitItems.of(judged, places, n_truth)
    found_one = len(ranks) > 0
    if judged.relevant is not judged.truth and len(grades):
        found_one = bool(above(grades, joining.grading.relevant_from).any())
    about = About(
        n_extra=n_extra,
        fingerprints=tuple(found) if fingerprints else (),
        truth_hashes=known["hashes"] if fingerprints else None,
        judged_hashes=known.get("judged") if fingerprints else None,
        unmatched=None if found_one else _unmatched(ranked, truth),
        scored=ranked.scored,
    )
    return trusted(
        offsets=offsets,
        ranks=ranks,
        n_truth=n_truth,
        n_listed=ranked.lengths,
        grades=grades if graded else None,
        truth_grades=known["ideal"] if graded else None,
        k=int(ranked.lengths.max(initial=0)) if k is None else k,
        grading=joining.grading,
        users=ranked.users[:] if isinstance(ranked.users, list) else ranked.users,
        coverage=None if groups is None else replace(groups, items=places),
        items=items_of,
        about=about,
    )


def _join_block(
    ranked: Flat, judged: Judged, rows: Any, distinct: bool, hashing: bool, lo: int, hi: int
) -> tuple[NDArray[Any], ...]:
    """Return ranks, numbers of hits and of items of the truth, and which of these each hit is.

    Then the grades of the hits and of the truth, best first, and hashes of the relevant items and
    of all judged ones. `rows` are the truths as they were given, where lists are dicts of scores.
    """
    truths, offsets, values = judged.truth.graded_block(lo, hi)
    sizes = np.diff(offsets)
    if rows is None:
        found = _joined(ranked, judged, distinct, lo, hi)
    else:
        ranks, n_hits, places = ids.looked_up(ranked.ids[lo:hi], rows[lo:hi], ranked.lengths[lo:hi])
        found = ranks, n_hits, sizes, places
    ranks, n_hits, n_truth, places = found
    grades, ideal, hashes, of_judged = values, np.empty(0), *np.empty((2, 0), np.uint64)
    if len(values):
        grades = values[np.repeat(offsets[:-1] - offsets[0], n_hits) + places]
    if hashing:
        repeated = n_truth < sizes
        hashes = _row_hashes(judged.relevant.graded_block(lo, hi), judged.words, repeated)
        if judged.relevant is not judged.truth:
            of_judged = _row_hashes((truths, offsets, values), judged.words, repeated)
    if judged.truth.grades is not None and "ideal" not in judged.known:
        ideal = np.empty(len(truths))
        ideal = ideal[: kernels.join.ideals(truths, offsets, values, n_truth, ideal)]
    return ranks, n_hits, n_truth, places, grades, ideal, hashes, of_judged


def _joined(ranked: Flat, judged: Judged, distinct: bool, lo: int, hi: int) -> tuple[Any, ...]:
    """Return ranks, numbers of hits and of items of the truth, and which of these each hit is."""
    items, listed, lengths = ranked.block(lo, hi)
    truths, offsets, _ = judged.truth.block(lo, hi)
    sizes = np.diff(offsets)
    most = int(sizes.max(initial=0))
    arrays = items, listed, lengths, truths, offsets
    n_hits, n_truth = np.empty((2, len(lengths)), np.int64)
    if most <= 1 and not distinct:  # search for the one relevant id, without a table
        ranks, places = np.empty(len(lengths), np.int32), np.zeros(len(lengths), np.int32)
        kernels.join.join_single_relevant(*arrays, ranks, n_hits, n_truth)
    else:
        tables = kernels.join.tables_for(most, int(lengths.max(initial=0)))
        # at most as many hits as the shorter of list and truth has ids, for each user
        room = int(np.minimum(lengths, sizes).sum())
        ranks, places = np.empty(room, np.int32), np.empty(room, np.int32)
        user = kernels.join.join(*arrays, distinct, tables, ranks, places, n_hits, n_truth)
        if user >= 0:
            user += lo
            written = ranked.row(user)
            twice = first_repeat(written)
            if twice is None:
                raise HashCollisionError
            item = written[twice[1]]
            fills = all(other == item for other in written[twice[0] :])
            error = item_twice(ranked.name_user(user), item, twice[0] + 1, twice[1] + 1, fills)
            raise ranked.about(error, user, item=item)
    n = int(n_hits.sum())
    return ranks[:n].copy(), n_hits, n_truth, places[:n].copy()


def _row_hashes(
    truth: tuple[NDArray[Any], ...], words_of: Words | None, repeated: Bools
) -> NDArray[np.uint64]:
    """Return a hash of the ground truth of each user of a block, some of which hold an id twice."""
    items, offsets, values = truth
    words = np.empty(0, np.uint64) if words_of is None else words_of(items)
    rows = items, offsets, words, values.view(np.uint64)
    hashes = np.empty(len(repeated), np.uint64)
    kernels.hashing.hash_rows(*rows, hashes)
    if repeated.any():
        kernels.hashing.hash_rows_once(np.flatnonzero(repeated), *rows, hashes)
    return hashes


# Ids of each side that are compared.
COMPARED = 4096

# What may be all that keeps ids apart, in words, and what takes it away.
CAUSES: dict[str, Callable[[str], str]] = {
    "a trailing .0": lambda text: text.removesuffix(".0"),
    "blanks": str.strip,
    "upper and lower case": str.casefold,
    "leading zeros": lambda text: text.lstrip("0") or "0",
    "two Unicode forms (NFC, NFD)": partial(normalize, "NFC"),
}


def _unmatched(ranked: Flat, truth: Flat) -> Unmatched | None:
    """Return what keeps the ids of lists without any hit apart; None if a side has no id.

    Where an id is on both sides, they are written alike: the users just have no hit.
    """
    listed, relevant = _some(ranked), _some(truth)
    if not listed or not relevant:
        return None
    texts = isinstance(listed[0], str) and isinstance(relevant[0], str)
    causes = CAUSES.items() if texts and set(listed).isdisjoint(relevant) else ()
    for cause, simplify in causes:
        written = {simplify(one): one for one in reversed(listed)}
        for one in relevant:
            if simplify(one) in written:
                return Unmatched(written[simplify(one)], one, cause)
    return Unmatched(str(listed[0]), str(relevant[0]), "")


def _some(flat: Flat) -> list[Any]:
    """Return some thousand ids of one side, as written; only one if they are no text."""
    users = np.flatnonzero(flat.lengths[:COMPARED]).tolist()
    found = chain.from_iterable(map(flat.row, users))
    first = list(islice(found, 1))
    if not first or not isinstance(first[0], str):
        return first
    return [*first, *islice(found, COMPARED - 1)]
