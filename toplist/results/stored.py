"""Results as bytes, and back: means, spreads and counts without any user, in one known format.

The format is `MAGIC`, a version, and compressed: the length of a header in JSON, the header, and
arrays one after another. There is no pickle in it, so that bytes from elsewhere can do no harm;
what is not known is refused.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages.histograms import Histograms
from toplist.averages.moments import Moments, Pooled
from toplist.inputs.grades import Grading
from toplist.matching.fingerprints import Fingerprint, together
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS
from toplist.metrics.definitions import Geometric, Metric, rbp_metric
from toplist.results.means import Means, Unmatched, fingerprints_of
from toplist.results.terms import Entry, Sampled, Terms

MAGIC, VERSION = b"toplist", 1
# The header may be as long as this; an honest one has some kilobytes.
LONGEST = 1 << 24

M = TypeVar("M", bound=Means)
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
