"""Mutated files of saved results.

Each is refused in one line that names it, or loads with the numbers that were saved, and works. Of
trees that were changed by who knows the format, and have their digest again, only the first is
asked: no other error, and no more memory than the file. `fuzz` returns what is wrong.
"""

import io
import json
import os
import random
import tempfile
import time
import tracemalloc
import warnings
import zipfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import numpy as np

import toplist as tl

SLOW = 5.0  # seconds of CPU, once kernels are compiled: longer hangs
ROOM = 1 << 21  # bytes that reading may take besides four times the file
NUMBERS = [0, 1, -1, 2, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**64 - 1]
VALUES = [*NUMBERS, None, True, 0.5, 1e400, -1e400, "", "text", [], [1], {}, "standard", 2**70]
KINDS = ["u1", "i1", "u2", "i4", "i8", "u8", "f4", "f8", "b1", ">i8", "S3", "U2", "c16", "M8[s]"]


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=array.dtype.kind == "O")
    return out.getvalue()


def zipped(members, packed=False):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", 8 * packed) as archive:
        warnings.simplefilter("ignore")  # names may be there twice
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, 8 * packed)
    return out.getvalue()


def arrays_of(data):
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        return dict(found)


def from_arrays(arrays):
    return zipped([(f"{name}.npy", npy(one)) for name, one in arrays.items()])


def sealed(arrays):
    """Return a file of arrays with their digest, as the format has it."""
    found = blake2b(digest_size=16)
    for name, one in sorted(arrays.items()):
        if name != "digest":
            found.update(f"{name} {one.dtype.str} {one.shape}\n".encode())
            found.update(one.tobytes())
    return from_arrays(arrays | {"digest": np.frombuffer(found.digest(), np.uint8)})


def bytes_changed(rng, data):
    at, other, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.choice([1, 1, 2, 8])
    flipped = bytes(one ^ 1 << rng.randrange(8) for one in data[at : at + size])
    filled = rng.choice([b"\0", b"\xff"]) * size
    put = rng.choice([flipped, flipped, b"", filled, data[other : other + size], None])
    if put is None:  # cut, or longer
        return data[:at] + rng.choice([b"", rng.randbytes(size) + data[at:]])
    return data[:at] + put + data[at + size :]


def array_changed(rng, data):
    """Return a file of which an array has another number, length, type or place, or is gone."""
    arrays = arrays_of(data)
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    array = np.atleast_1d(arrays[name].copy()).ravel()
    at, more = rng.randrange(max(len(array), 1)), array[-1:] if len(array) else np.zeros(1)

    def valued():
        value = np.array(rng.choice([*NUMBERS, float("nan"), -0.5]))
        array[at : at + 1] = value.astype(array.dtype)
        return array

    changes = [
        *(valued, valued, lambda: np.delete(array, slice(at, at + 1))),
        *(lambda: np.append(array, more), lambda: array.astype(rng.choice(KINDS))),
        *(lambda: arrays[other], lambda: array[::-1], lambda: np.roll(array, 1)),
        *(lambda: np.sort(array), lambda: np.zeros_like(array), lambda: array.reshape(1, -1)),
        *(lambda: array[:0], lambda: np.array(3), lambda: np.repeat(array, 2)),
    ]
    with np.errstate(all="ignore"), warnings.catch_warnings(), suppress(RuntimeError):
        warnings.simplefilter("ignore")  # numpy writes no time as a short text
        arrays[name] = rng.choice(changes)().copy()
    if rng.random() < 0.1:
        del arrays[other]
    return from_arrays(arrays)


def tree_changed(rng, data):
    """Return a file of which a part of the tree was changed, with its digest again."""
    arrays = arrays_of(data)
    part = tree = json.loads(arrays["tree"].tobytes())
    while True:
        key = rng.choice(list(part) if isinstance(part, dict) else range(len(part)))
        if not isinstance(part[key], (dict, list)) or not part[key] or rng.random() < 0.1:
            break
        part = part[key]
    part[key] = rng.choice(VALUES)
    if isinstance(part, dict) and rng.random() < 0.2:
        del part[key]
    arrays["tree"] = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    return sealed(arrays)


MUTATIONS = [
    *(bytes_changed, array_changed, array_changed, array_changed),
    tree_changed,
]


def numbers(result):
    """Return the numbers of a result that a reader sees."""
    return [
        np.concatenate([np.ravel(one) for one in (result[name], result.std(name), *ends)])
        for name in result.names()
        for ends in [(*result.interval(name), result.n_of(name))]
    ]


def used(result):
    """Use all that hits are for: a file that was taken must not make it fail."""
    tl.compare({"a": result, "b": result})
    if result.hits is None:
        return
    for name in result.names():
        if not name.startswith("item_coverage"):
            result.per_user(name)
    rows = [i % 2 for i in range(result.n_users)]
    keyed = result.hits.users is not None
    result.by(dict(zip(result.users, rows, strict=True)) if keyed else rows)


def tried(path, data, expected, forged=False):
    """Return what is wrong with reading a file: "" if nothing is."""
    Path(path).write_bytes(data)
    tracemalloc.start()
    begin, said, found = time.process_time(), "", None
    try:
        found = tl.TopKResult.load(path)
    except ValueError as error:
        if not str(error).startswith(f"{path}: ") or "\n" in str(error):
            said = f"message {str(error)!r}"
    except BaseException as error:  # whatever it is
        said = f"{type(error).__name__}: {error}"
    seconds, peak = time.process_time() - begin, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if seconds > SLOW or peak > 4 * len(data) + ROOM:
        return f"{seconds:.1f} s, {peak:,} bytes for {len(data):,}"
    if found is None or forged:
        return said
    pairs = zip(numbers(found), expected, strict=True)
    if not all(np.allclose(one, other, 1e-9, 1e-9, equal_nan=True) for one, other in pairs):
        return "other numbers"
    try:
        used(found)
    except Exception as error:
        return f"in use, {type(error).__name__}: {error}"
    return "loaded"


def fuzz(results, n, seed=0):
    """Return how many of n mutated files of results were loaded, and what is wrong with others."""
    rng, wrong, loaded, files = random.Random(seed), [], 0, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "base.npz")
        for name, result in results.items():
            result.save(path)
            files[name] = Path(path).read_bytes(), numbers(result)
            used(tl.TopKResult.load(path))  # kernels are compiled
            assert tried(path, *files[name]) == "loaded", name
        for i in range(n):
            name, mutate = rng.choice(list(files)), rng.choice(MUTATIONS)
            data, expected = files[name]
            said = tried(path, mutate(rng, data), expected, forged=mutate is tree_changed)
            loaded += said == "loaded"
            if said not in ("", "loaded"):
                wrong.append(f"{i}: {name}, {mutate.__name__}: {said}")
    return loaded, wrong
