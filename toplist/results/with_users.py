"""Results saved with their users, as npz: all that tests, segments and merging need.

A file has, as arrays of bytes, a header in JSON and the result without users (`to_bytes`); the hits
and the weights, each in the smallest type that holds them; the values of users of metrics of the
lists, at the k's asked for, and of lists without a ground truth below these; the keys of the users,
and of those who have such a list, integers or text in UTF-8, or columns of these; and a hash of all
this. What is read must be whole, and the hits and values must give the histograms and means of the
result: to the last bit where these are integers, else but for rounding, as another machine has
other last digits. There is no pickle in it.
"""

from __future__ import annotations

import json
import operator
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import reduce
from hashlib import blake2b
from itertools import count, takewhile
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages import histograms, per_user
from toplist.averages.histograms import Histograms
from toplist.averages.moments import AGAIN, Moments
from toplist.checks import Bools
from toplist.inputs.grades import STANDARD
from toplist.inputs.id_hashes import hashes_of
from toplist.matching.fingerprints import from_plain
from toplist.matching.hits import Hits
from toplist.matching.packed import Arrays, pack, take, unpack
from toplist.metrics.definitions import Metric
from toplist.results import npz
from toplist.results.means import Means, hits_of, is_graded, n_missing_of, weighing
from toplist.results.stored import from_bytes

M = TypeVar("M", bound=Means)

VERSION = 2
# The arrays that are no columns: bytes of the header and of the result, and the hash of the rest.
HEADER, RESULT, SEAL = "header", "result", "seal"
# The array with the values of users of the metrics of the lists, at the k's asked for.
VALUES = "lists"
# The keys of the users of lists without a ground truth, which are in the means of these metrics.
OTHERS = "others"
# What reading may raise for a file that is none of these.
DAMAGE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError),
    *(MemoryError, EOFError, OSError, zipfile.BadZipFile, zlib.error),
)


def without(result: M) -> M:
    """Return a result without what the arrays of a file hold."""
    bare = replace(result, hits=None, counted=None, weights=None, clusters=None)
    return replace(bare, fingerprints=())


def content(result: Means, whole: bytes) -> Callable[[str], None]:
    """Return what writes a result to the file of a path; `whole` are the bytes without users."""
    hits, counted = hits_of(result, "an .npz would have no users (.json holds the means alone)")
    plain, columns = pack(hits)
    columns |= _packed("users", hits.users) | _packed("clusters", result.clusters)
    columns["counted"] = counted
    if result.weights is not None:
        columns["weights"] = result.weights
    own: Any = result.lists
    if own is not None and own.values:
        from toplist.beyond import stored as lists  # what few need, so that imports are quick

        columns[VALUES] = lists.values_at(own, result.users, result.terms.ks)
        others = lists.others_of(own, result.users)
        columns |= _packed(OTHERS, others) if others else {}
    header = {
        "format": VERSION,
        "fingerprints": [asdict(one) for one in result.fingerprints],
        "hits": plain,
    }
    arrays = {name: npz.smallest(one) for name, one in columns.items()}
    if (most := npz.MOST - 3) < len(arrays):
        raise ValueError(f"save: {len(arrays)} arrays, at most {most}: give keys of fewer columns")
    words = json.dumps(header, separators=(",", ":")).encode()
    for name, data in ((HEADER, words), (RESULT, whole)):
        arrays[name] = np.frombuffer(data, np.uint8)
    arrays[SEAL] = _seal(arrays)
    return lambda path: npz.write(path, arrays)


def load(made: type[M], stream: BinaryIO) -> M:
    """Return the result of an open file; ValueError in one line for any other file."""
    try:
        arrays = npz.read(stream)
        header = json.loads(arrays[HEADER].tobytes())
    except DAMAGE as error:
        raise ValueError(f"is no result that was saved by save(): {_one_line(error)}") from None
    version = header.get("format") if isinstance(header, dict) else None
    if version != VERSION:
        raise ValueError(
            f"is of format {version!r:.40}, and this toplist knows {VERSION}: evaluate again and "
            "save it, or read it with the version that wrote it"
        )
    try:
        if take(arrays, SEAL, "u", np.uint8).tobytes() != _seal(arrays).tobytes():
            raise ValueError("what it holds is not what was saved")
        return _read(made, header, arrays)
    except DAMAGE as error:
        raise ValueError(f"is damaged, or was changed: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    text = f"there is no {error}" if isinstance(error, KeyError) else str(error)
    return " ".join(text.split())


def _seal(arrays: Arrays) -> NDArray[np.uint8]:
    """Return a hash of the names of arrays, their types, and all their numbers."""
    found = blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {len(array)}\n".encode())
        found.update(array.data)
    return np.frombuffer(found.digest(), np.uint8)


def _packed(name: str, keys: Sequence[Any] | None) -> Arrays:
    """Return keys of users, or clusters of rows, as arrays: integers, text, or tuples of these."""
    if keys is None:
        return {}
    found = _column(name, keys)
    if not found and set(map(type, keys)) == {tuple} and len(set(map(len, keys))) == 1:
        columns = [_column(f"{name}.{i}", one) for i, one in enumerate(zip(*keys, strict=True))]
        found = reduce(operator.or_, columns, {}) if all(columns) else {}
    if not found:
        raise ValueError(
            f"save: an .npz holds {name} that are text, integers of 64 bits, or tuples with such "
            f"columns, and here is {name[:-1]} {keys[0]!r:.80}: evaluate them under "
            f"str({name[:-1]}), or pickle the result"
        )
    return found


def _column(name: str, keys: Sequence[Any]) -> Arrays:
    """Return text or integers as an array by its name; nothing for what is neither."""
    kinds = set(map(type, keys))
    if all(issubclass(kind, str) for kind in kinds):
        text = "".join(keys)
        between = next(one for one in map(chr, count()) if one not in text)
        data = between.join([*keys, ""]).encode("utf-8", "surrogatepass")
        return {f"{name}.text": np.frombuffer(data, np.uint8)}
    integers = all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds)
    array = np.array(keys) if integers else np.empty(0)
    return {name: array} if array.dtype.kind in "iu" else {}


def _unpacked(name: str, arrays: Arrays, n: int) -> list[Any] | None:
    """Return keys or clusters as they were; None where there are none."""
    if name in arrays:
        keys = take(arrays, name, "iu", arrays[name].dtype).tolist()
    elif f"{name}.text" in arrays:
        data = take(arrays, f"{name}.text", "u", np.uint8).tobytes()
        text = data.decode("utf-8", "surrogatepass")
        keys = text[:-1].split(text[-1]) if text else []
    elif f"{name}.0" in arrays or f"{name}.0.text" in arrays:
        columns = (_unpacked(f"{name}.{i}", arrays, n) for i in range(npz.MOST))
        keys = list(zip(*takewhile(bool, columns), strict=True))
    else:
        return None
    if len(keys) != n:
        raise ValueError(f"{len(keys):,} {name} of {n:,} rows")
    return list(keys)


def _users(arrays: Arrays, n_users: int) -> list[Any] | None:
    """Return the keys of the users, no two of which are equal; None by position."""
    keys = _unpacked("users", arrays, n_users)
    # hashes take less time and memory than a set; two that are equal say only that keys may be
    alike = keys is not None and bool((np.diff(np.sort(hashes_of(keys))) == 0).any())
    if keys is not None and alike and len(set(keys)) < len(keys):
        raise ValueError(f"{len(keys):,} keys of {n_users:,} users, one of them twice")
    return keys


def _read(made: type[M], header: Any, arrays: Arrays) -> M:
    """Return the result that a header and arrays make."""
    del arrays[HEADER]
    bare = from_bytes(made, take(arrays, RESULT, "u", np.uint8).tobytes())
    hits = unpack(header["hits"], arrays)
    hits = hits.of_part(users=_users(arrays, len(hits)))
    weights = take(arrays, "weights", "iuf", np.float64) if bare.terms.weighted else None
    found = replace(
        bare,
        hits=hits,
        counted=take(arrays, "counted", "b", np.bool_),
        weights=weights,
        clusters=_unpacked("clusters", arrays, len(hits)),
        fingerprints=from_plain(header["fingerprints"]),
    )
    others = _unpacked(OTHERS, arrays, found.n_extra)
    if VALUES in arrays:
        found = _with_values(found, arrays.pop(VALUES), others)
    if arrays:
        raise ValueError(f"array {next(iter(arrays))!r:.40} is not known here")
    _check(found, *hits_of(found, "there are none"))
    return found


def _with_values(found: M, values: NDArray[Any], others: list[Any] | None) -> M:
    """Return a result with the values of users of the metrics of the lists."""
    from toplist.beyond import stored as lists  # what few need, so that imports are quick

    of_truth = [name for name, one in found.terms.list_metrics.items() if one.of_truth]
    own: Any = found.lists
    if own is None or values.dtype.kind not in "uf":
        raise ValueError(f"values of users of {values.dtype}, of no metric of the lists")
    sizes, listed = (found.n_users, found.n_extra), None
    if others is not None:
        listed = [*found.users, *others]
        if len(set(listed)) < len(listed):
            raise ValueError("a list without a ground truth is of a user who has one")
    more = sizes, values.astype(np.float64), listed
    own = lists.with_values(own, of_truth, found.terms.ks, *more)
    return replace(found, lists=own)


def _check(found: Means, hits: Hits, counted: Bools) -> None:
    """Raise ValueError unless the hits give the histograms, and all else that follows from them."""
    terms, kept, n_users = found.terms, found.histograms, len(hits)
    given = (counted,) if found.weights is None else (counted, found.weights)
    if any(len(one) != n_users for one in given):
        raise ValueError(f"{', '.join(str(len(one)) for one in given)} values for {n_users} users")
    if found.weights is not None and not (found.weights >= 0).all():
        raise ValueError("a weight is negative, or NaN")
    grading = STANDARD if terms.weighting else terms.grading  # weights of items are no grades
    listed = terms.relevant == "listed"
    of_truths = hits.grading, hits.unjudged, hits.listed_only, is_graded(terms, hits)
    facts = n_users, n_missing_of(hits), *of_truths
    said = found.n_users, found.n_missing, grading, terms.unjudged, listed, found.graded
    if facts != said:
        raise ValueError(f"its hits are {facts}, its result is of {said}")
    # parts whose longest lists differ may know less of some averages than they have ranks
    deepest = max(kept.depth, int(kept.cuts[-1]))
    counted = weighing(counted, found.weights)
    rows, n_of_row = histograms.rows_of(hits.relevant, counted, kept.metrics, deepest)
    tables = kept.n_relevant, kept.n_listed, kept.n_users
    same = all(map(np.array_equal, tables, (rows.n_relevant, rows.n_listed, n_of_row)))
    if not same or per_user.reach(hits.relevant, deepest) != kept.depth:  # before it is counted
        raise ValueError("its hits are of other users than its means")
    again = histograms.count(
        *(hits, counted, kept.metrics, (*kept.cuts.tolist(), kept.depth), found.weights),
        pooled=terms.pooled,
        threshold_in_gains=terms.threshold_in_gains,
    )
    for name in ("each", "nth", "first"):
        same = same and np.array_equal(getattr(kept, name), getattr(again, name))
    if not same or not all(_alike(kept, again, one) for one in kept.metrics):
        raise ValueError("its hits give other means")


def _alike(kept: Histograms, again: Histograms, metric: Metric) -> bool:
    """Return whether two averages of a metric are equal at every k, but for rounding."""
    one, other = (table.moments(metric, kept.cuts) for table in (kept, again))
    near = AGAIN * np.abs(np.nan_to_num(one.mean))  # where no two users differ, errors are 0
    return all(
        np.allclose(getattr(one, name), getattr(other, name), AGAIN, near, equal_nan=True)
        for name in ("n", "mean", "error", *(("weight", "weight2") * isinstance(one, Moments)))
    )
