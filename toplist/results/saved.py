"""Results saved: as JSON for readers, as files of it that can be loaded again, and as bytes.

Bytes hold means, spreads and counts without any user. Their format is `MAGIC`, a version, and
compressed: the length of a header in JSON, the header, and arrays one after another. There is no
pickle in it, so that bytes from elsewhere can do no harm; what is not known is refused.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages.histograms import Histograms
from toplist.averages.moments import Moments, Pooled
from toplist.checks import prefixed
from toplist.inputs.flatten import Scored
from toplist.inputs.grades import Grading
from toplist.matching.fingerprints import Fingerprint, together
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS
from toplist.metrics.definitions import Geometric, Metric, rbp_metric
from toplist.metrics.formulas import formula
from toplist.results.means import Means, Unmatched, fingerprints_of
from toplist.results.terms import Entry, Sampled, Terms
from toplist.results.writing import PathLike, write_all

M = TypeVar("M", bound=Means)

COUNTS = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
POLICIES = ("empty", "missing", "relevant", "ties", "weighted", "pooled")
# The key of a file that holds the result itself, as text of `to_bytes`.
WHOLE = "result"
# What another version may word otherwise, and no figure follows from.
WORDS = ("toplist", "formulas")


def content(result: Means) -> dict[str, Any]:
    """Return what JSON says of a result: what was asked, by which rules, of whom; every mean.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> found = content(top_k_eval([[1, 2], [3]], [{2}, {3}], k=[1, 2], metrics="mrr"))
    >>> found["convention"], found["k"], found["values"], found["n"]
    ('standard', [1, 2], {'mrr@1': 0.5, 'mrr@2': 0.75}, {'mrr@1': 2, 'mrr@2': 2})
    >>> found["formulas"]
    {'mrr': 'mrr@k = sum over r_j <= k of [j = 1] / r_j'}
    """
    version = import_module("toplist").__version__  # of the package, which imports all others
    names, terms = result.names(), result.terms
    intervals = {name: result.interval(name) for name in names}
    policies = {name: getattr(terms, name) for name in POLICIES} | vars(terms.grading)
    return {
        "toplist": version,
        "convention": terms.convention,
        "policies": policies | {"pooled": list(terms.pooled)},
        "k": list(result.ks),
        **({"sampled": vars(terms.sampled)} if terms.sampled else {}),
        **{name: getattr(result, name) for name in COUNTS},
        **({"scores": result.scored._asdict()} if result.scored else {}),
        "values": {name: json_number(result[name]) for name in names},
        "std": {name: json_number(result.std(name)) for name in names},
        "interval": {name: list(map(json_number, ends)) for name, ends in intervals.items()},
        "n": {name: result.n_of(name) for name in names},
        "formulas": {
            name: formula(one) if isinstance(one, Metric) else one.formula
            for name, one in terms.asked.items()
        },
    }


def text_of(found: Any) -> str:
    r"""Return JSON for readers: a line per field, and lists in one line.

    Examples
    --------
    >>> print(text_of({"k": [1, 2], "values": {"mrr@1": 0.5}}))
    {
     "k": [1, 2],
     "values": {
      "mrr@1": 0.5
     }
    }
    """
    # no text of JSON holds a line break: what begins and ends so is a list
    return re.sub(
        r"\[\n([^\[\]{}]*)\n *\]",
        lambda one: f"[{' '.join(map(str.strip, one[1].splitlines()))}]",
        json.dumps(found, indent=1),
    )


def json_number(value: float) -> float | None:
    """Return a number as JSON can hold it: None (null) for NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def save(result: Means, path: PathLike) -> None:
    """Write a result to a file; see `TopKResult.save`."""
    try:
        whole = to_bytes(result)
    except ValueError as error:
        raise ValueError(
            f"save: {error}; to_dict() and to_pandas() give the means, without a way back"
        ) from None
    found = content(result) | {WHOLE: base64.b64encode(whole).decode("ascii")}
    write_all({path: text_of(found) + "\n"})


def load(made: type[M], path: PathLike) -> M:
    """Return the result of a file; see `TopKResult.load`."""
    name = os.fsdecode(path)
    try:
        with gzip.open(name) if name.lower().endswith(".gz") else open(name, "rb") as stream:
            found = json.loads(stream.read())
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error, RecursionError) as error:
        raise ValueError(
            f"{name}: is no result that was saved by save(): {error} (from_bytes reads what "
            "to_bytes returned)"
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get(WHOLE), str):
        raise ValueError(
            f"{name}: holds no {WHOLE!r}: result.save() writes it, while the JSON of toplist eval "
            "is for reading only"
        )
    try:
        result = from_bytes(made, base64.b64decode(found[WHOLE], validate=True))
    except ValueError as error:
        raise prefixed(f"{name}: ", error) from None
    for where, said, held in _differences(found, content(result)):
        raise ValueError(
            f"{name}: {where} reads {said!r}, but the result that the file holds has {held!r}: it "
            "was changed after it was saved"
        )
    return result


def _differences(said: Any, held: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where the part for readers contradicts the result, with both values.

    Numbers may differ in the last digits, as logarithms of two machines do. What is not there
    contradicts nothing: a file of an older version may say less, and notes may be added.
    """
    if isinstance(said, Mapping) and isinstance(held, Mapping):
        for key in held:
            if key in said and (where or key not in WORDS):
                yield from _differences(said[key], held[key], f"{where} of {key}" if where else key)
    elif isinstance(said, list) and isinstance(held, list) and len(said) == len(held):
        for one, other in zip(said, held, strict=True):
            yield from _differences(one, other, where)
    elif isinstance(said, float) and isinstance(held, float):
        if not math.isclose(said, held, rel_tol=1e-9, abs_tol=1e-12):
            yield where, said, held
    elif said != held:
        yield where, said, held


MAGIC, VERSION = b"toplist", 1
# The header may be as long as this; an honest one has some kilobytes.
LONGEST = 1 << 24

Arrays = dict[str, NDArray[Any]]
_TABLES = ("n_relevant", "n_listed", "n_users", "each", "nth", "first", "spreads", "cuts")
_AVERAGES: Mapping[str, Any] = {"moments": Moments, "pooled": Pooled}


def without_users(result: M) -> M:
    """Return a result without hits and weights; see `TopKResult.without_users`."""
    prints = fingerprints_of(result)
    whole = (together(prints),) if prints else ()
    lists = None if result.lists is None else result.lists.without_users()
    bare = replace(result, hits=None, counted=None, weights=None, lists=lists)
    return replace(bare, fingerprints=whole)


def to_bytes(result: Means) -> bytes:
    """Return a result without users as bytes; see `TopKResult.to_bytes`."""
    if result.lists is not None:
        names = ", ".join(result.terms.list_metrics)
        raise ValueError(
            f"bytes hold metrics of hits, not of the lists themselves: evaluate {names} apart"
        )
    result = without_users(result)
    arrays: Arrays = {name: getattr(result.histograms, name) for name in _TABLES}
    averages = {}
    for name, one in result.histograms.gathered.items():
        kind = next(word for word, made in _AVERAGES.items() if type(one) is made)
        averages[name] = {"kind": kind}
        for key, value in vars(one).items():
            if isinstance(value, np.ndarray):
                arrays[f"{name}/{key}"] = value
            else:
                averages[name][key] = value
    packed = {name: _packed(array) for name, array in arrays.items()}
    terms = {one.name: getattr(result.terms, one.name) for one in fields(Terms)}
    terms["entries"] = [
        {"metric": metric_content(entry.metric), "ks": entry.ks, "scalar": entry.scalar}
        for entry in result.terms.entries
    ]
    terms["grading"] = asdict(result.terms.grading)
    terms["sampled"] = None if result.terms.sampled is None else asdict(result.terms.sampled)
    header = {
        "terms": terms,
        "counts": [result.n_users, result.n_missing, result.n_extra],
        "fingerprints": [asdict(one) for one in result.fingerprints],
        "unmatched": None if result.unmatched is None else list(result.unmatched),
        "scored": result.scored,
        "averages": averages,
        "arrays": [[name, one.dtype.str, one.shape] for name, one in packed.items()],
    }
    words = json.dumps(header, separators=(",", ":")).encode()
    body = b"".join(
        [len(words).to_bytes(8, "little"), words, *(a.tobytes() for a in packed.values())]
    )
    return MAGIC + bytes([VERSION]) + zlib.compress(body, 6)


def from_bytes(made: type[M], data: bytes) -> M:
    """Return the result that bytes hold; see `TopKResult.from_bytes`."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"from_bytes takes bytes, not {type(data).__name__}")
    data = bytes(data)
    if not data.startswith(MAGIC) or len(data) <= len(MAGIC):
        raise ValueError("these bytes are no result of toplist: to_bytes() makes such")
    version = data[len(MAGIC)]
    if version != VERSION:
        raise ValueError(
            f"these bytes are of format {version}, and this toplist knows {VERSION}: read them "
            "with the version that wrote them"
        )
    try:
        return _read(made, zlib.decompress(data[len(MAGIC) + 1 :]))
    except (zlib.error, KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise ValueError(
            f"these bytes are damaged, or not written by to_bytes(): {error}"
        ) from None


def _read(made: type[M], body: bytes) -> M:
    n = int.from_bytes(body[:8], "little")
    if not 0 < n <= min(LONGEST, len(body)):
        raise ValueError("its header has no end")
    header = json.loads(body[8 : 8 + n])
    arrays, at = {}, 8 + n
    for name, kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        if dtype.kind not in "uif" or any(size < 0 for size in shape):
            raise ValueError(f"array {name} of {kind}")
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if at + size > len(body):
            raise ValueError(f"array {name} is cut")
        arrays[name] = np.frombuffer(body, dtype, size // dtype.itemsize, at).reshape(shape)
        at += size
    if at != len(body):
        raise ValueError("there is more than was announced")
    asked, entries = header["terms"], []
    for one in asked["entries"]:
        plain = dict(one["metric"])
        if isinstance(plain["discount"], dict):
            plain["discount"] = rbp_metric(plain["discount"]["rbp"]).discount
        entries.append(Entry(Metric(**plain), tuple(one["ks"]), bool(one["scalar"])))
    if asked["convention"] not in CONVENTIONS:
        raise ValueError(f"convention {asked['convention']!r} is not known here")
    sampled = None if asked["sampled"] is None else Sampled(**asked["sampled"])
    rest = {"entries": tuple(entries), "pooled": tuple(asked["pooled"]), "sampled": sampled}
    terms = Terms(**{**asked, **rest, "grading": Grading(**asked["grading"])})
    averages = {}
    for name, given in header["averages"].items():  # of metrics that need the users' curves
        made_of = _AVERAGES[given.pop("kind")]
        parts = [one.name for one in fields(made_of) if one.name not in given]
        own = {part: arrays[f"{name}/{part}"].astype(np.float64) for part in parts}
        averages[name] = made_of(**given, **own)
    tables = {name: arrays[name].astype(np.int64) for name in _TABLES if name != "spreads"}
    metrics, spreads = tuple(terms.metrics.values()), arrays["spreads"].astype(np.float64)
    unmatched = header["unmatched"]
    counts: Any = dict(zip(("n_users", "n_missing", "n_extra"), header["counts"], strict=True))
    return made(
        terms,
        Histograms(metrics=metrics, spreads=spreads, gathered=averages, **tables),
        hits=None,
        counted=None,
        **counts,
        fingerprints=tuple(Fingerprint(**one) for one in header["fingerprints"]),
        unmatched=None if unmatched is None else Unmatched(*unmatched),
        scored=Scored(*header["scored"]) if header.get("scored") else None,
    )


def _packed(array: NDArray[Any]) -> NDArray[Any]:
    """Return counts in as few bytes as they need, in the byte order of the format."""
    if array.dtype.kind == "i" and array.min(initial=0) >= 0:
        array = array.astype(np.min_scalar_type(int(array.max(initial=0))))
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def metric_content(metric: Metric | ListMetric) -> dict[str, Any]:
    """Return a metric as JSON holds it; ValueError for functions of the user's own."""
    assert isinstance(metric, Metric)  # lists are refused before
    plain: dict[str, Any] = {field.name: getattr(metric, field.name) for field in fields(Metric)}
    geometric = getattr(metric.discount, "function", None)
    if isinstance(geometric, Geometric):
        plain["discount"] = {"rbp": geometric.p}
    for choice in ("discount", "divisor"):
        if not isinstance(plain[choice], (str, dict)):
            raise ValueError(
                f"metric {metric.name!r} has a {choice} of its own, which bytes cannot hold: give "
                "the name of one, or pickle the result"
            )
    return plain
