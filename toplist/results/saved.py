"""Results as one file, an npz of numpy: a tree of objects of known classes, beside its arrays.

The tree is JSON: what is no number, text or None is an object with one key, the word of a class in
`FORMS`, or what kind of value it is. Only what these tables name is made when a file is read: there
is no pickle in it. Arrays are not compressed, so that none takes more memory than the file has
bytes of it, and a digest of all of them says whether the file is as it was written.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from importlib import import_module
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.checks import prefixed
from toplist.results.means import Means
from toplist.results.writing import PathLike, write_all

M = TypeVar("M", bound=Means)
Arrays = dict[str, NDArray[Any]]

# The names of this format: the word of each class, where it is, and its attributes in a file. Where
# a class moves, its place changes here; where an attribute is renamed, write "stored=attribute".
FORMAT = 1
FORMS: Mapping[str, tuple[str, str]] = {
    "result": (
        "results.result:TopKResult",
        "terms histograms hits counted n_users n_missing n_extra weights clusters lists "
        "fingerprints unmatched graded scored exposed longest notes listed",
    ),
    "terms": (
        "results.terms:Terms",
        "entries convention empty missing grading pooled weighted sampled relevant ties unjudged "
        "weighting clip propensities unit known_as made_by own",
    ),
    "entry": ("results.terms:Entry", "metric ks scalar written"),
    "sampled": ("results.terms:Sampled", "n n_items sampler seed ties"),
    "metric": (
        "metrics.definitions:Metric",
        "name counts discount divisor graded higher_is_better text latex empty cut of "
        "relevant_from",
    ),
    "earned": ("metrics.definitions:Earned", "name function latex most where"),
    "discount": ("metrics.definitions:Discount", "name function latex weight weight_latex"),
    "divisor": (
        "metrics.definitions:Divisor",
        "name function latex by_length ideal by_hits balanced",
    ),
    "geometric": ("metrics.definitions:Geometric", "p"),
    "preference": ("metrics.earned:Preference", ""),
    "cascade": ("metrics.earned:Cascade", "max"),
    "interpolated": ("metrics.earned:Interpolated", "recall"),
    "trec_interpolated": ("metrics.earned:TrecInterpolated", "recall"),
    "novelty": ("metrics.earned:Novelty", "alpha"),
    "list_metric": (
        "metrics.beyond_accuracy:ListMetric",
        "name needs of_users text formula latex within_one higher_is_better whom of_truth given",
    ),
    "convention": (
        "metrics.conventions:Convention",
        "name metrics empty missing pooled source text threshold_in_gains relevant gains empty_of "
        "aggregate ties replaced",
    ),
    "grading": ("inputs.grades:Grading", "relevant_from gains"),
    "histograms": (
        "averages.histograms:Histograms",
        "metrics n_relevant n_listed n_users each nth first spreads gathered cuts",
    ),
    "moments": (
        "averages.moments:Moments",
        "n weight weight2 mean deviation mean2 deviation2",
    ),
    "pooled": ("averages.moments:Pooled", "n x y xx xy yy"),
    "hits": (
        "matching.hits:Hits",
        "offsets ranks n_truth n_listed grades truth_grades k grading unjudged listed_only users "
        "coverage about",
    ),
    "coverage": ("inputs.groups:Coverage", "items sizes groups n_groups order"),
    "about": (
        "matching.about:About",
        "n_extra fingerprints truth_hashes judged_hashes unmatched scored",
    ),
    "fingerprint": ("matching.fingerprints:Fingerprint", "total n_users varied"),
    "unmatched": ("matching.about:Unmatched", "listed relevant cause"),
    "scored": ("inputs.flatten:Scored", "tied listed"),
    "exposed": ("metrics.weighing:Exposed", "n clipped weight weight2"),
    "lists": ("beyond.results:ListResult", "names exposure spreads values cuts given"),
    "spread": ("beyond.results:Spread", "users mean deviation n_left_out"),
    "known": ("beyond.results:Known", "values at listed"),
    "exposure": ("beyond.exposure:Exposure", "k n_users n_items catalogue source"),
    "pairs": ("beyond.exposure:UserItemPairs", "starts items counts"),
}
# Functions that metrics of the tables are made of.
FUNCTIONS: Mapping[str, str] = {
    "complete": "metrics.earned:complete",
    "places": "metrics.weighing:places",
}
# Whose arrays kernels trust, made by what checks them.
CHECKED: Mapping[str, str] = {"exposure": "beyond.exposure:Exposure.of_counts"}
WORDS = {
    f"toplist.{place}": word
    for word, place in [*((word, place) for word, (place, _) in FORMS.items()), *FUNCTIONS.items()]
}
# The arrays that are none of the result: its tree, and the digest of all others.
TREE, DIGEST = "tree", "digest"
# The beginning of an array of numbers in a file, as numpy writes it.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|][iufb]\d+)', 'fortran_order': False, "
    rb"'shape': \(((?:\d+, ?)*\d*)\), \} *\n",
    re.DOTALL,
)
# Of each kind, what may hold the same numbers in fewer bytes.
_SMALLER = {
    "i": ("u1", "i1", "u2", "i2", "u4", "i4"),
    "u": ("u1", "u2", "u4"),
    "f": ("u1", "u2", "f4"),
}
ANEW = (
    "evaluate again and save it, result.save('base.npz') or toplist eval LISTS TRUTH --save "
    "base.npz"
)
# What reading may raise for a file that is none of these.
DAMAGE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError),
    *(MemoryError, EOFError, OSError, zipfile.BadZipFile),
)


def save(result: Means, path: PathLike) -> None:
    """Write a result to a file; see `TopKResult.save`."""
    check_name("save: ", path)
    write_all({path: dump(result)})


def check_name(before: str, path: PathLike) -> None:
    """Raise ValueError for the name of a file that is no npz.

    Examples
    --------
    >>> check_name("save: ", "base.npz")
    >>> check_name("save: ", "base.json")
    Traceback (most recent call last):
        ...
    ValueError: save: base.json: a result is saved as .npz, such as base.npz; JSON is for readers, \
and not read back: result.to_json(), or toplist eval LISTS TRUTH --format json
    """
    name = os.fsdecode(path)
    if not name.lower().endswith(".npz"):
        stem = os.path.splitext(name.removesuffix(".gz"))[0]
        raise ValueError(
            f"{before}{name}: a result is saved as .npz, such as {stem}.npz; JSON is for readers, "
            "and not read back: result.to_json(), or toplist eval LISTS TRUTH --format json"
        )


def load(made: type[M], path: PathLike) -> M:
    """Return the result of a file; see `TopKResult.load`."""
    name = os.fsdecode(path)
    with open(name, "rb") as stream:
        data = stream.read()
    try:
        return read(made, data)
    except ValueError as error:
        raise prefixed(f"{name}: ", error) from None


def dump(result: Means) -> bytes:
    """Return a result as the bytes of a file: with its users, if it has them.

    Raises
    ------
    ValueError
        For what no file holds, such as functions of one's own.
    """
    lists = None if result.lists is None else result.lists.kept(result.users, result.terms.ks)
    found = _Writer()
    version = import_module("toplist").__version__  # of the package, which imports all others
    tree = found.plain(replace(result, lists=lists), "")
    words = json.dumps({"format": FORMAT, "toplist": version, "tree": tree}, separators=(",", ":"))
    arrays = {TREE: np.frombuffer(words.encode(), np.uint8), **found.arrays}
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **arrays, **{DIGEST: _digest(arrays)})
    return out.getvalue()


def check_storable(one: Any) -> None:
    """Raise ValueError for what no file holds."""
    _Writer().plain(one, "")


class _Writer:
    """Makes a tree of an object, and gathers its arrays by their places in it."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def plain(self, one: Any, where: str) -> Any:
        """Return what JSON holds of a value."""
        if isinstance(one, np.generic):
            one = one.item()
        if one is None or isinstance(one, (bool, int, str)):
            return one
        if isinstance(one, float):  # JSON knows neither NaN nor infinity
            return one if math.isfinite(one) else {"float": str(one)}
        if isinstance(one, np.ndarray) and one.dtype.kind == "U":
            return {"texts": self.keys(one.tolist(), where)}
        if isinstance(one, np.ndarray) and one.dtype.kind in "iufb":
            self.arrays[where] = smallest(np.asarray(one, order="C"))
            return {"array": [where, one.dtype.str]}
        word = WORDS.get(_place(type(one)))
        if word is not None:
            inside = f"metric {one.name!r}/" if word == "metric" else where and f"{where}/"
            names = _attributes(word).items()
            return {word: {n: self.plain(getattr(one, name), inside + n) for n, name in names}}
        if isinstance(one, range):
            return {"range": [one.start, one.stop, one.step]}
        if isinstance(one, tuple):
            return [self.plain(part, f"{where}/{i}") for i, part in enumerate(one)]
        if isinstance(one, Mapping):
            pairs = enumerate(one.items())
            return {"dict": [[k, self.plain(part, f"{where}/{i}")] for i, (k, part) in pairs]}
        if isinstance(one, Sequence) and not isinstance(one, (bytes, bytearray, memoryview)):
            return self.keys(list(one), where)
        if callable(one) and _place(one) in WORDS:
            return {"function": WORDS[_place(one)]}
        raise ValueError(
            f"save: {where} is {one!r:.80}, and a file holds numbers, text, and tuples of these, "
            "but no function of your own: give keys as text, or pickle the result; to_dict() and "
            "to_json() have the means"
        )

    def keys(self, several: list[Any], where: str) -> Any:
        """Return a list, such as the keys of users: text, integers, tuples of these as arrays."""
        kinds = set(map(type, several))
        if kinds and all(issubclass(kind, str) for kind in kinds):
            data = "".join(several).encode("utf-8", "surrogatepass")
            self.arrays[f"{where}.text"] = np.frombuffer(data, np.uint8)
            self.arrays[f"{where}.lengths"] = smallest(np.array([*map(len, several)], np.int64))
            return {"text": where}
        whole = all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds)
        integers = np.array(several if whole else [0.5])
        if len(integers) and integers.dtype.kind in "iu":
            self.arrays[where] = smallest(integers)
            return {"integers": where}
        if kinds == {tuple} and {*map(len, several)} == {len(several[0]) or -1}:
            columns = enumerate(zip(*several, strict=True))
            return {"columns": [self.keys(list(one), f"{where}.{i}") for i, one in columns]}
        return {"list": [self.plain(one, f"{where}/{i}") for i, one in enumerate(several)]}


def _place(one: Any) -> str:
    return f"{one.__module__}:{one.__qualname__}" if hasattr(one, "__qualname__") else ""


def _attributes(word: str) -> dict[str, str]:
    """Return the attributes of a class by their names in a file."""
    pairs = (one.partition("=") for one in FORMS[word][1].split())
    return {stored: attribute or stored for stored, _, attribute in pairs}


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the smallest type that holds every one of them.

    Examples
    --------
    >>> [smallest(np.array(one)).dtype.str for one in ([1, 300], [-1, 5], [1.0, 3.0], [0.1])]
    ['<u2', '|i1', '|u1', '<f8']
    """
    given = array.tobytes()
    for kind in _SMALLER.get(array.dtype.kind, ()):
        with np.errstate(invalid="ignore", over="ignore"):
            small = array.astype(kind)
        # bytes, as these tell -0.0 from 0.0, and NaN is NaN
        if small.itemsize < array.itemsize and small.astype(array.dtype).tobytes() == given:
            return small
    return array


def _digest(arrays: Arrays) -> NDArray[np.uint8]:
    """Return a hash of the names of arrays, their types, shapes and all their numbers."""
    found = blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode("utf-8", "surrogatepass"))
        found.update(array.tobytes())
    return np.frombuffer(found.digest(), np.uint8)


def read(made: type[M], data: bytes) -> M:
    """Return the result that `dump` wrote; ValueError in one line for any other bytes."""
    if not data.startswith(b"PK"):
        raise ValueError(
            "is no npz, as which results are saved (JSON is for readers, and other files of "
            f"toplist 0.3 and before are not read): {ANEW}"
        )
    try:
        arrays = _arrays(data)
        known = json.loads(arrays[TREE].tobytes()) if TREE in arrays else None
    except DAMAGE as error:
        raise ValueError(f"is no saved result, or is damaged: {_one_line(error)}") from None
    if not isinstance(known, dict) or "format" not in known:
        raise ValueError(f"is no result of toplist 0.4 or later: {ANEW}")
    if known["format"] != FORMAT:
        raise ValueError(
            f"is of format {known['format']!r:.40}, and this toplist knows {FORMAT}: read it with "
            f"the version that wrote it, {known.get('toplist')!r:.40}"
        )
    try:
        if arrays.pop(DIGEST).tobytes() != _digest(arrays).tobytes():
            raise ValueError("what it holds is not what was saved")
        return _checked(made, _made(known["tree"], arrays))
    except DAMAGE as error:
        raise ValueError(f"is damaged, or was changed: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    text = f"there is no {error}" if isinstance(error, KeyError) else str(error)
    return " ".join(text.split())


def _arrays(data: bytes) -> Arrays:
    """Return the arrays of an npz, of which none is longer than the bytes that there are of it.

    `numpy.load` would take the memory that a header announces before it looks for the numbers.
    """
    arrays: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(one.compress_type != zipfile.ZIP_STORED for one in members):
            raise ValueError("an array is compressed, and save() compresses none")
        if sum(one.file_size for one in members) > len(data):
            raise ValueError("its arrays are longer than the file")
        for one in members:
            name, part = one.filename.removesuffix(".npy"), archive.read(one)
            head = _HEADER.match(part)
            if head is None or name in arrays:
                raise ValueError(f"array {name!r:.40} is there twice, or is none of numbers")
            dtype, shape = np.dtype(head[1].decode()), [int(n) for n in head[2].split(b",") if n]
            if math.prod(shape) * dtype.itemsize != len(part) - head.end():
                raise ValueError(f"array {name!r:.40} is not as long as it says")
            arrays[name] = np.frombuffer(part, dtype, offset=head.end()).reshape(shape)
    return arrays


def _made(one: Any, arrays: Arrays) -> Any:
    """Return the value that a part of a tree stands for."""
    if isinstance(one, list):
        return tuple(_made(part, arrays) for part in one)
    if not isinstance(one, dict):
        return one
    ((word, inside),) = one.items()
    if word in FORMS:
        known = _attributes(word)
        given = {known[stored]: _made(part, arrays) for stored, part in inside.items()}
        return _imported(CHECKED.get(word, FORMS[word][0]))(**given)
    match word:
        case "array":
            name, kind = inside
            return arrays[name].astype(_number(kind))
        case "integers":
            return arrays[inside].tolist()
        case "text":
            text = arrays[f"{inside}.text"].tobytes().decode("utf-8", "surrogatepass")
            ends = accumulate(arrays[f"{inside}.lengths"].tolist(), initial=0)
            return [text[start:end] for start, end in pairwise(ends)]
        case "texts":
            return np.array(_made(inside, arrays), np.str_)
        case "columns":
            return list(zip(*(_made(part, arrays) for part in inside), strict=True))
        case "list":
            return [_made(part, arrays) for part in inside]
        case "dict":
            return {key: _made(part, arrays) for key, part in inside}
        case "range":
            return range(*inside)
        case "float":
            return float(inside)
        case "function":
            return _imported(FUNCTIONS[inside])
    raise ValueError(f"{word!r:.40} is not known here")


def _number(kind: str) -> np.dtype[Any]:
    """Return a type of numbers; ValueError for another."""
    dtype = np.dtype(kind)
    if dtype.kind not in "iufb":
        raise ValueError(f"{kind!r:.40} is no type of numbers")
    return dtype


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return attrgetter(name)(import_module(f"toplist.{module}"))


def _checked(made: type[M], found: Any) -> M:
    """Return a result, if it is one of as many users as its arrays have; else ValueError."""
    if not isinstance(found, made):
        raise ValueError("it holds no result")
    of_users = found.hits, found.counted, found.weights, found.clusters
    if any(one is not None and len(one) != found.n_users for one in of_users):
        raise ValueError(f"it has arrays that are not of {found.n_users} users")
    return found
