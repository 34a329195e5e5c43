"""Mutated files of saved results; `python tests/fuzz_saved.py N`.

Each is refused in one line that names it, or loads with the numbers that were saved, and works. Of
trees that were changed by who knows the format, and have their digest again, only the first is
asked: no other error, and no more memory than the file. `fuzz` returns what is wrong.

`python tests/fuzz_saved.py golden FOLDER` writes a file of each kind, with its numbers.
"""

import io
import json
import os
import random
import sys
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


def saved():
    """Return results of every kind of array, by name."""
    rng = np.random.default_rng(0)
    n, k = 30, 6
    users = [f"user {i}" for i in range(n)]
    lists = {user: rng.permutation(20)[: rng.integers(0, 9)].tolist() for user in users}
    grades = {
        user: {int(i): int(rng.integers(0, 4)) for i in rng.permutation(20)[: rng.integers(0, 6)]}
        for user in users
    }
    by_number = [
        {int(u.split()[1]) * 1000 - 5: v for u, v in one.items()} for one in (lists, grades)
    ]
    sets = [set(one) for one in grades.values()]
    groups = tl.Groups(
        {user: [list(one)[:2], list(one)[1:]] for user, one in grades.items() if len(one) > 1}
    )
    weights = rng.random(n)
    keys = [(user, 7 * i) for i, user in enumerate(users)]
    keyed = [
        dict(list(zip(keys, one.values(), strict=True))[at:])
        for at, one in ((0, lists), (3, grades))
    ]
    some = {user: set(row) for user, row in zip(users, sets, strict=True)}
    of_items = tl.Propensities({item: (item + 1) / 21 for item in range(20)}, weighting="snips")
    sampled = tl.loo.sampled_ranks(rng.random((n, 40)), rng.integers(0, 40, n), n=20, seed=0)
    return {
        "bare": tl.top_k_eval(lists, grades, [1, k]).without_users(),
        "clusters": tl.top_k_eval(
            lists, grades, k, clusters={user: user[-1] for user in users}, metrics=["ndcg", "hit"]
        ),
        "earned": tl.top_k_eval(
            *(lists, grades, [2, k]),
            metrics=["err", "nerr(max=3)", "iprec", "complete", "precision(rel=2)"],
            convention="trec_eval",
        ),
        "propensities": tl.top_k_eval(
            lists, some, k, metrics=["recall", "psp", "psndcg"], propensities=of_items
        ),
        "sampled": sampled.evaluate(15, metrics=["mrr", "hit"]),
        "own": tl.top_k_eval(
            *(lists, grades, k),
            metrics=["ndcg", "rbp(p=0.5)", tl.Metric("reach", "first", "1", "1", text="any hit")],
            convention=tl.Convention("mine", tl.METRICS, empty="one", gains={1: 1, 2: 3, 3: 9}),
        ),
        "sets": tl.top_k_eval(list(lists.values()), sets, [1, k]),
        "grades": tl.top_k_eval(*by_number, k, metrics=["ndcg", "recall", "bpref"]),
        "text": tl.top_k_eval(lists, grades, k, metrics=["ndcg", "map"], weights=weights),
        "dropped": tl.top_k_eval(lists, grades, k, unjudged="drop", metrics=["ndcg", "hit"]),
        "groups": tl.top_k_eval(lists, groups, k, metrics=["group_recall", "alpha_ndcg", "mrr"]),
        "pooled": tl.top_k_eval(
            lists,
            grades,
            k,
            metrics=["recall"],
            convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
        ),
        "lists": tl.top_k_eval(
            *keyed,
            [2, k],
            metrics=["ndcg", "novelty", "hit_share", "intra_list_diversity", "item_coverage"],
            items=tl.Items(
                counts=list(range(1, 21)),
                labels=dict(enumerate(["even", "odd"] * 10)),
                catalogue=20,
            ),
        ),
    }


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
    data, at = bytearray(data), rng.randrange(len(data))
    size = rng.choice([1, 1, 2, 8, 64])
    what = rng.randrange(6)
    if what == 0:
        for _ in range(rng.choice([1, 1, 3, 20])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif what == 1:
        del data[at:]
    elif what == 2:
        data[at:at] = rng.randbytes(size)
    elif what == 3:
        del data[at : at + size]
    elif what == 4:
        data[at : at + size] = rng.choice([b"\0", b"\xff"]) * size
    else:
        other = rng.randrange(len(data))
        data[at : at + size] = data[other : other + size]
    return bytes(data)


def near_the_end(rng, data):
    """Return a file of which the directory was changed, or its end."""
    at = data.rindex(b"PK\5\6") if rng.random() < 0.5 else data.index(b"PK\1\2")
    return data[:at] + bytes_changed(rng, data[at:])


def array_changed(rng, data):
    arrays = arrays_of(data)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        array, what = np.atleast_1d(arrays[name].copy()).ravel(), rng.randrange(8)
        if what == 0 and len(array):
            with np.errstate(all="ignore"):
                value = rng.choice([*NUMBERS, *array.tolist(), float("nan"), -0.5, float("inf")])
                at = rng.randrange(len(array))
                array[at] = np.array(value).astype(array.dtype)
        elif what == 1 and len(array):
            array = np.delete(array, rng.randrange(len(array)))
        elif what == 2:
            array = np.append(array, array[-1:] if len(array) else np.zeros(1, array.dtype))
        elif what == 3:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(RuntimeError):  # numpy writes no time as a short text
                    array = array.astype(rng.choice(KINDS))
        elif what == 4:
            other = rng.choice(list(arrays))
            arrays[other], array = array, arrays[other]
        elif what == 5 and len(array) > 1:
            array = rng.choice(
                [array[::-1], np.roll(array, 1), np.sort(array), np.zeros_like(array)]
            )
        elif what == 6:
            array = rng.choice([array.reshape(1, -1), array[:0], np.array(3), np.repeat(array, 2)])
        else:
            del arrays[name]
            continue
        arrays[name] = array.copy()
    return from_arrays(arrays)


def tree_changed(rng, data):
    """Return a file of which a part of the tree was changed, with its digest again."""
    arrays = arrays_of(data)
    tree = json.loads(arrays["tree"].tobytes())
    part, path = tree, []
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            break
        key = rng.choice(keys)
        path.append((part, key))
        if not isinstance(part[key], (dict, list)) or rng.random() < 0.1:
            break
        part = part[key]
    part, key = path[-1]
    if isinstance(part, dict) and rng.random() < 0.2:
        del part[key]
    else:
        part[key] = rng.choice(VALUES)
    arrays["tree"] = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    return sealed(arrays)


def npy_changed(rng, data):
    """Return a file in which the header of an array announces something else."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(one.filename, archive.read(one)) for one in archive.infolist()]
    at = rng.randrange(len(members))
    name, one = members[at]
    end = 10 + int.from_bytes(one[8:10], "little")
    head, what = one[:end], rng.randrange(5)
    if what == 0:
        start = head.index(b"(") + 1
        number = rng.choice(
            [b"9" * 18, b"0", b"1", b"-1", b"4294967296", b"3, 3", b"2**40", b"\xb2"]
        )
        head = head[:start] + number + head[head.index(b",", start) :]
    elif what == 1:
        kind = rng.choice([b"|O", b"<U4", b"<i8", b"|V8", b"<f8", b"<c16", b"|u1"])
        start = head.index(b"descr': '") + 9
        head = head[:start] + kind + head[head.index(b"'", start) :]
    elif what == 2:
        head = head.replace(b"False", b"True")
    elif what == 3:
        head = head[:6] + bytes([rng.randrange(4), rng.randrange(3)]) + head[8:]
    else:
        head = bytes_changed(rng, head)
    members[at] = name, head + one[end:]
    return zipped(members)


def packed(rng, data):
    """Return a file of compressed arrays, or of many."""
    arrays = arrays_of(data)
    what = rng.randrange(3)
    if what == 0:
        name = rng.choice(list(arrays))
        arrays[name] = np.zeros(1 << 24, np.uint8)
    members = [(f"{name}.npy", npy(one)) for name, one in arrays.items()]
    if what == 1:
        members += [(f"{i}.npy", b"") for i in range(rng.choice([1, 60, 3000]))]
    return zipped(members, packed=what != 1)


MUTATIONS = [
    *(bytes_changed, near_the_end, array_changed, array_changed, array_changed),
    *(tree_changed, npy_changed, packed),
]


def numbers(result):
    """Return the numbers of a result that a reader sees."""
    names = result.names()
    return [
        (result[name], result.std(name), result.interval(name), result.n_of(name)) for name in names
    ]


def same(found, expected):
    """Return whether two results have the same numbers, of floats but for rounding (1e-9)."""
    flat = [np.concatenate([np.ravel(part) for part in row]) for row in (*found, *expected)]
    pairs = zip(flat[: len(found)], flat[len(found) :], strict=True)
    return all(np.allclose(one, other, 1e-9, 1e-9, equal_nan=True) for one, other in pairs)


def used(result):
    """Use all that hits are for: a file that was taken must not make it fail."""
    tl.compare({"a": result, "b": result})
    if result.hits is None:
        return
    for name in result.names():
        if not name.startswith("item_coverage"):
            result.per_user(name)
    rows = [i % 2 for i in range(result.n_users)]
    users = list(result.users)
    result.by(dict(zip(users, rows, strict=True)) if result.hits.users is not None else rows)


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
    if not same(numbers(found), expected):
        return "other numbers"
    try:
        used(found)
    except Exception as error:
        return f"in use, {type(error).__name__}: {error}"
    return "loaded"


def fuzz(n, seed=0):
    """Return how many of n mutated files were loaded, and what is wrong with others."""
    rng, wrong, loaded = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "base.npz")
        files = {}
        for name, result in saved().items():
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


def golden(folder):
    """Write a file of each kind, and their numbers."""
    found = {}
    for name, result in saved().items():
        result.save(Path(folder, f"{name}_0_4.npz"))
        names = [one for one in result.names() if not one.startswith("item_coverage")]
        found[name] = {
            "means": result.to_dict(),
            "interval": {one: result.interval(one) for one in result.names()},
            "per_user": {one: result.per_user(one).tolist() for one in names}
            if result.hits is not None
            else {},
            "users": list(map(repr, result.users)),
            "n_clusters": result.n_clusters,
        }
    text = json.dumps(found, indent=1).replace("NaN", "null")
    Path(folder, "golden_0_4.json").write_text(text + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["golden"]:
        golden(sys.argv[2])
        sys.exit()
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    n_loaded, found = fuzz(n_files, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(*found[:40], f"{n_files} files, {n_loaded} loaded, {len(found)} wrong", sep="\n")
