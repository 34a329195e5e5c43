"""Files that are never half written; results as one file, a tree of known classes with its arrays.

A result is an npz of numpy. Its tree is JSON: what is no number, text or None is an object with one
key, the word of a class in `FORMS`, or what kind of value it is. Only what these tables name is
made when a file is read: there is no pickle in it. Arrays are not compressed, so that none takes
more memory than the file has bytes of it, and a digest of all of them says whether the file is as
it was written.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import math
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from hashlib import blake2b
from importlib import import_module
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.results.means import Means

R = TypeVar("R", bound=Means)
PathLike = str | os.PathLike[str]
# Bytes, text (UTF-8, gzipped if the name of the file ends in .gz), or a function that writes the
# file whose path it is given; that path ends as the target does.
Content = bytes | str | Callable[[str], object]

Arrays = dict[str, NDArray[Any]]

# The names of this format: the word of each class in a file, and where the class is. All its fields
# are in the file, but for those after a minus. Where a class moves, its place changes here; where a
# field is renamed, write "stored=field" behind the place.
FORMAT = 1
FORMS: Mapping[str, str] = {
    "result": "results.result:TopKResult -paired",
    "terms": "results.terms:Terms",
    "entry": "results.terms:Entry",
    "sampled": "results.terms:Sampled",
    "metric": "metrics.definitions:Metric",
    "earned": "metrics.declared:Earned",
    "discount": "metrics.definitions:Discount",
    "divisor": "metrics.definitions:Divisor",
    "geometric": "metrics.declared:Geometric",
    "preference": "metrics.declared:Preference",
    "cascade": "metrics.declared:Cascade",
    "interpolated": "metrics.declared:Interpolated",
    "trec_interpolated": "metrics.declared:TrecInterpolated",
    "novelty": "metrics.declared:Novelty",
    "list_metric": "metrics.beyond_accuracy:ListMetric",
    "convention": "metrics.conventions:Convention",
    "grading": "inputs.truths:Grading",
    "histograms": "averages:Histograms",
    "moments": "averages.moments:Moments",
    "pooled": "averages.moments:Pooled",
    "hits": "matching.hits:Hits -items",
    "coverage": "inputs.truths:Coverage",
    "about": "matching.about:About",
    "fingerprint": "matching.about:Fingerprint",
    "unmatched": "matching.about:Unmatched",
    "scored": "inputs.lists:Scored",
    "exposed": "metrics.properties:Exposed",
    "lists": "beyond.results:ListResult",
    "spread": "beyond.results:Spread",
    "known": "beyond.results:Known",
    "exposure": "beyond.exposure:Exposure -n_threads",
    "pairs": "beyond.exposure:UserItemPairs",
}
# Functions that metrics of the tables are made of.
FUNCTIONS: Mapping[str, str] = {
    "complete": "metrics.declared:complete",
    "places": "metrics.properties:places",
}
# Whose arrays kernels trust, made by what checks them.
CHECKED: Mapping[str, str] = {"exposure": "beyond.exposure:Exposure.of_counts"}
WORDS = {
    f"toplist.{place.split()[0]}": word for word, place in [*FORMS.items(), *FUNCTIONS.items()]
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
_SMALLER = {"i": "u1 i1 u2 i2 u4 i4", "u": "u1 u2 u4", "f": "u1 u2 f4"}
ANEW = (
    "evaluate again and save it, result.save('base.npz') or toplist eval LISTS TRUTH --save "
    "base.npz"
)
# What reading may raise for a file that is none of these.
DAMAGE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError),
    *(MemoryError, EOFError, OSError, zipfile.BadZipFile),
)


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


def dump(result: Means) -> bytes:
    """Return a result as the bytes of a file: with its users, if it has them.

    Raises
    ------
    ValueError
        For what no file holds, such as functions of one's own.
    """
    version = import_module("toplist").__version__  # of the package, which imports all others
    held: Arrays = {}
    tree = _plain(replace(result, lists=result.kept_lists), "", held)
    words = json.dumps({"format": FORMAT, "toplist": version, "tree": tree}, separators=(",", ":"))
    arrays = {TREE: np.frombuffer(words.encode(), np.uint8), **held}
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **arrays, **{DIGEST: _digest(arrays)})
    return out.getvalue()


def check_storable(one: Any) -> None:
    """Raise ValueError for what no file holds."""
    _plain(one, "", {})


def _plain(one: Any, where: str, held: Arrays) -> Any:
    """Return what JSON holds of a value; its arrays are held by their places in the tree."""
    if isinstance(one, np.generic):
        one = one.item()
    if one is None or isinstance(one, (bool, int, str)):
        return one
    if isinstance(one, float):  # JSON knows neither NaN nor infinity
        return one if math.isfinite(one) else {"float": str(one)}
    if isinstance(one, np.ndarray) and one.dtype.kind == "U":
        return {"texts": _keys(one.tolist(), where, held)}
    if isinstance(one, np.ndarray) and one.dtype.kind in "iufb":
        held[where] = smallest(np.asarray(one, order="C"))
        return {"array": [where, one.dtype.str]}
    word = WORDS.get(_place(type(one)))
    if word is not None:
        inside = f"metric {one.name!r}/" if word == "metric" else where and f"{where}/"
        names = _fields(word).items()
        return {word: {n: _plain(getattr(one, name), inside + n, held) for n, name in names}}
    if isinstance(one, range):
        return {"range": [one.start, one.stop, one.step]}
    if isinstance(one, tuple):
        return [_plain(part, f"{where}/{i}", held) for i, part in enumerate(one)]
    if isinstance(one, Mapping):
        pairs = enumerate(one.items())
        return {"dict": [[key, _plain(part, f"{where}/{i}", held)] for i, (key, part) in pairs]}
    if isinstance(one, Sequence) and not isinstance(one, (bytes, bytearray, memoryview)):
        return _keys(list(one), where, held)
    if callable(one) and _place(one) in WORDS:
        return {"function": WORDS[_place(one)]}
    raise ValueError(
        f"save: {where} is {one!r:.80}, and a file holds numbers, text, and tuples of these, "
        "but no function of your own: give keys as text, or pickle the result; to_dict() and "
        "to_json() have the means"
    )


def _keys(several: list[Any], where: str, held: Arrays) -> Any:
    """Return a list, such as the keys of users: text, integers, tuples of these as arrays."""
    kinds = set(map(type, several))
    if kinds and all(issubclass(kind, str) for kind in kinds):
        data = "".join(several).encode("utf-8", "surrogatepass")
        held[f"{where}.text"] = np.frombuffer(data, np.uint8)
        held[f"{where}.lengths"] = smallest(np.array([*map(len, several)], np.int64))
        return {"text": where}
    whole = all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds)
    integers = np.array(several if whole else [0.5])
    if len(integers) and integers.dtype.kind in "iu":
        held[where] = smallest(integers)
        return {"integers": where}
    if kinds == {tuple} and {*map(len, several)} == {len(several[0]) or -1}:
        columns = enumerate(zip(*several, strict=True))
        return {"columns": [_keys(list(one), f"{where}.{i}", held) for i, one in columns]}
    return {"list": [_plain(one, f"{where}/{i}", held) for i, one in enumerate(several)]}


def _place(one: Any) -> str:
    return f"{one.__module__}:{one.__qualname__}" if hasattr(one, "__qualname__") else ""


def _fields(word: str) -> dict[str, str]:
    """Return the fields of a class by their names in a file."""
    place, *notes = FORMS[word].split()
    kind = _imported(place)
    names = getattr(kind, "_fields", None) or [one.name for one in fields(kind)]
    stored = {name: old for old, _, name in (note.partition("=") for note in notes)}
    return {stored.get(name, name): name for name in names if f"-{name}" not in notes}


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the smallest type that holds every one of them.

    Examples
    --------
    >>> [smallest(np.array(one)).dtype.str for one in ([1, 300], [-1, 5], [1.0, 3.0], [0.1])]
    ['<u2', '|i1', '|u1', '<f8']
    """
    given = array.tobytes()
    for kind in _SMALLER.get(array.dtype.kind, "").split():
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


def read(data: bytes, kind: type[R]) -> R:
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
        found = _made(known["tree"], arrays)
        if not isinstance(found, kind):
            raise ValueError("it holds no result")
        of_users = found.hits, found.counted, found.weights, found.clusters
        if any(one is not None and len(one) != found.n_users for one in of_users):
            raise ValueError(f"it has arrays that are not of {found.n_users} users")
    except DAMAGE as error:
        raise ValueError(f"is damaged, or was changed: {_one_line(error)}") from None
    return found


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
        known = _fields(word)
        given = {known[stored]: _made(part, arrays) for stored, part in inside.items()}
        return _imported(CHECKED.get(word, FORMS[word]))(**given)
    match word:
        case "array":
            name, kind = inside
            if np.dtype(kind).kind not in "iufb":
                raise ValueError(f"{kind!r:.40} is no type of numbers")
            return arrays[name].astype(kind)
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


def _imported(place: str) -> Any:
    """Return what stands at a place, whatever notes follow it."""
    module, _, name = place.split()[0].partition(":")
    return attrgetter(name)(import_module(f"toplist.{module}"))


def write_all(contents: Mapping[PathLike, Content]) -> None:
    r"""Write several files; until all of them are complete, those that are there stay as they are.

    Every file is written in the folder of its target, under another name, and then put in its
    place by `os.replace`. Links go on pointing to their files; pipes and devices are written, and
    so are open streams, such as /dev/stdout, where they are.

    Parameters
    ----------
    contents : mapping
        From the path of each file to bytes, text, or a function that writes the file whose path
        it is given.

    Raises
    ------
    OSError
        For a file that cannot be written; it names the target.
    ValueError
        For two targets that are one file.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_all({f"{folder}/a.txt": "one\n", f"{folder}/b.txt": lambda path: 1 / 0})
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """
    paths = [os.fspath(path) for path in contents]
    targets = {os.path.realpath(path) if _stream(path) is None else path: path for path in paths}
    if len(targets) < len(contents):
        raise ValueError(f"two of the files to write are one: {', '.join(targets.values())}")
    written: dict[str, str] = {}  # the temporary file of each target
    try:
        for (target, path), content in zip(targets.items(), contents.values(), strict=True):
            if os.path.isdir(target):
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            written[target] = _beside(target)
            if isinstance(content, str):
                packed = target.lower().endswith(".gz")  # without a time: same text, same bytes
                content = content.encode()
                content = gzip.compress(content, mtime=0) if packed else content
            with _naming(path, written[target]):
                if callable(content):
                    content(written[target])
                    continue
                with open(written[target], "xb") as stream:
                    stream.write(content)
        for target, path in targets.items():
            temporary = written[target]
            with _naming(path, temporary):
                if _is_plain(target):
                    os.replace(temporary, target)
                    continue
                # a pipe or a device gets what is in it
                number = _stream(target)
                place = target if number is None else number
                with (
                    open(temporary, "rb") as source,
                    open(place, "wb", closefd=number is None) as sink,
                ):
                    shutil.copyfileobj(source, sink)
    finally:
        for temporary in written.values():
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _is_plain(target: str) -> bool:
    """Whether a target is a file, or none yet: a pipe, a device or a stream is not replaced."""
    new = os.path.isfile(target) or not os.path.exists(target)
    return new and _stream(target) is None


def _stream(path: str) -> int | None:
    """Return the number of an open stream that a path names, such as /dev/stdout."""
    known = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}
    found = re.fullmatch("/(?:dev|proc/self)/fd/([0-9]+)", known.get(path, path))
    return int(found[1]) if found else None


def _beside(target: str) -> str:
    """Return a name that no file has, in the folder of a target, with its ending."""
    folder = os.path.dirname(target) if _is_plain(target) else tempfile.gettempdir()
    plain, packed = os.path.splitext(target)
    ending = os.path.splitext(plain)[1] + packed if packed.lower() == ".gz" else packed
    return os.path.join(folder, f".{os.urandom(8).hex()}{ending}")


@contextmanager
def _naming(path: str, temporary: str) -> Iterator[None]:
    """Let errors name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, path) from None
        raise
