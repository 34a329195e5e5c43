"""Results as bytes: means, spreads and counts without any user.

Their format is `MAGIC`, a version, and compressed: the length of a header in JSON, the header, and
arrays one after another. There is no pickle in it, so that bytes from elsewhere can do no harm;
what is not known, or contradicts itself, is refused, before memory is taken for it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages.histograms import Histograms, sums_of
from toplist.averages.moments import Moments, Pooled
from toplist.checks import USERS, choice, whole
from toplist.inputs.flatten import Scored
from toplist.inputs.grades import Grading
from toplist.inputs.options import UNJUDGED, WEIGHTINGS
from toplist.matching.about import Unmatched
from toplist.matching.fingerprints import from_plain, together
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric, variant
from toplist.metrics.conventions import CONVENTIONS, MISSING, RELEVANT, SYNONYMS, TIES
from toplist.metrics.definitions import (
    EMPTY,
    METRICS,
    TREC_IPREC,
    Earned,
    Geometric,
    Metric,
    rbp_metric,
    with_parameters,
)
from toplist.metrics.weighing import SCORED, Exposed, is_scored
from toplist.results.means import Means, fingerprints_of
from toplist.results.terms import SAMPLERS, Entry, Sampled, Terms

M = TypeVar("M", bound=Means)

MAGIC, VERSION = b"toplist", 3
# Written where no metric is of the lists themselves, so that older versions read it.
WITHOUT_LISTS = 2
# The format of 0.1.0 and 0.2.0, which has no word of grades, and of no sums of squared weights.
FIRST = MAGIC + b"\x01"
# The header may be as long as this; an honest one has some kilobytes.
LONGEST = 1 << 24
# The arrays may hold as many numbers as this: 1 GB in memory.
MOST = 1 << 27

Arrays = dict[str, NDArray[Any]]
_TABLES = ("n_relevant", "n_listed", "n_users", "each", "nth", "first", "spreads", "cuts")
# The array with the users who have a list, of parts.
_LISTED = "listed"
_AVERAGES: Mapping[str, Any] = {"moments": Moments, "pooled": Pooled}
_POLICIES = (
    *(("empty", EMPTY), ("missing", MISSING), ("relevant", RELEVANT)),
    *(("ties", TIES), ("unjudged", UNJUDGED)),
)


def without_users(result: M) -> M:
    """Return a result without hits and weights; see `TopKResult.without_users`."""
    if result.clusters is not None:
        raise ValueError(
            "intervals by clusters follow from the rows, and nothing is left of these: pickle "
            "keeps the result, and to_dict() and to_pandas() give its figures"
        )
    prints = fingerprints_of(result)
    whole = (together(prints),) if prints else ()
    lists = None if result.lists is None else result.lists.without_users()
    bare = replace(result, hits=None, counted=None, weights=None, lists=lists)
    return replace(bare, fingerprints=whole)


def to_bytes(result: Means) -> bytes:
    """Return a result without users as bytes; see `TopKResult.to_bytes`."""
    result, of_lists = without_users(result), None
    arrays: Arrays = {name: getattr(result.histograms, name) for name in _TABLES}
    if result.listed is not None:
        arrays[_LISTED] = result.listed.view(np.int64)
    if result.lists is not None:
        from toplist.beyond import stored as lists  # what few need, so that imports are quick

        own: Any = result.lists
        of_lists, more = lists.content(own)
        arrays |= more
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
    if result.terms.own is not None:
        raise ValueError(
            f"convention {result.terms.convention!r} is of your own making, and a file cannot hold "
            "it: evaluate again where it is needed"
        )
    terms = {one.name: getattr(result.terms, one.name) for one in fields(Terms)}
    del terms["own"]
    if result.terms.unit == USERS:  # as before there were others
        del terms["unit"]
    if result.terms.weighting is None:
        del terms["weighting"], terms["clip"], terms["propensities"]
    for name in ("known_as", "made_by"):
        if not terms[name]:
            del terms[name]
    terms["entries"] = [
        {"metric": metric_content(entry.metric), "ks": entry.ks, "scalar": entry.scalar}
        for entry in result.terms.entries
    ]
    terms["grading"] = asdict(result.terms.grading)
    terms["sampled"] = None if result.terms.sampled is None else asdict(result.terms.sampled)
    header = {
        "terms": terms,
        "counts": [result.n_users, result.n_missing, result.n_extra],
        "graded": result.graded,
        "fingerprints": [asdict(one) for one in result.fingerprints],
        "unmatched": None if result.unmatched is None else list(result.unmatched),
        "scored": result.scored,
        **({"exposed": result.exposed} if result.exposed else {}),
        **({} if result.longest is None else {"longest": result.longest}),
        **({"notes": list(result.notes)} if result.notes else {}),
        "averages": averages,
        **({} if of_lists is None else {"lists": of_lists}),
        "arrays": [[name, one.dtype.str, one.shape] for name, one in packed.items()],
    }
    words = json.dumps(header, separators=(",", ":")).encode()
    n_numbers = sum(one.size for one in packed.values())
    if len(words) > LONGEST or n_numbers > MOST:
        raise ValueError(
            f"bytes hold at most {MOST:,} counts and a list of {LONGEST:,} letters of what was "
            f"asked, this result has {n_numbers:,} and {len(words):,}: ask for fewer k"
        )
    body = b"".join(
        [len(words).to_bytes(8, "little"), words, *(a.tobytes() for a in packed.values())]
    )
    version = WITHOUT_LISTS if of_lists is None else VERSION
    return MAGIC + bytes([version]) + zlib.compress(body, 6)


def _packed(array: NDArray[Any]) -> NDArray[Any]:
    """Return counts in as few bytes as they need, in the byte order of the format."""
    if array.dtype.kind == "i" and array.min(initial=0) >= 0:
        array = array.astype(np.min_scalar_type(int(array.max(initial=0))))
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def metric_content(metric: Metric | ListMetric) -> dict[str, Any]:
    """Return a metric as JSON holds it; ValueError for functions of the user's own."""
    if isinstance(metric, ListMetric):
        return {"of_lists": metric.base, "name": metric.name, "given": dict(metric.given)}
    plain: dict[str, Any] = {field.name: getattr(metric, field.name) for field in fields(Metric)}
    geometric = getattr(metric.discount, "function", None)
    if isinstance(geometric, Geometric):
        plain["discount"] = {"rbp": geometric.p}
    if metric.earning is not None:
        plain["counts"] = _earned_content(metric.earning)
    if is_scored(metric):
        plain["divisor"] = {"of": metric.name}
    for part in ("counts", "discount", "divisor"):
        if not isinstance(plain[part], (str, dict)):
            raise ValueError(
                f"metric {metric.name!r} has a {part} of its own, which bytes cannot hold: give "
                "the name of one, or pickle the result"
            )
    return plain


# Metrics by which what hits earn is stored: those of the tables, and that of a convention.
_EARNING = {**METRICS, "trec_iprec": TREC_IPREC}


def _earned_content(earned: Earned) -> Any:
    """Return what a metric of the tables with these earnings is called, and its parameters."""
    kind = type(earned.function)
    for name, metric in _EARNING.items():
        if metric.earning and isinstance(metric.earning.function, kind):
            given = vars(earned.function)
            if is_dataclass(kind) or metric.earning == earned:
                return {"earned": name, **given}
    return earned


def _earned(name: str, **given: float) -> Any:
    """Return what hits earn in a metric of the tables."""
    return (with_parameters(_EARNING[name], **given) if given else _EARNING[name]).counts


def from_bytes(made: type[M], data: bytes) -> M:
    """Return the result that bytes hold; see `TopKResult.from_bytes`."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"from_bytes takes bytes, not {type(data).__name__}")
    data = bytes(data)
    if not data.startswith(MAGIC) or len(data) <= len(MAGIC):
        raise ValueError("these bytes are no result of toplist: to_bytes() makes such")
    version = data[len(MAGIC)]
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"these bytes are of format {version}, and this toplist knows 1 to {VERSION}: read "
            "them with the version that wrote them"
        )
    try:
        return _read(made, *_unpacked(data[len(MAGIC) + 1 :]))
    except KeyError as error:
        found: Exception = ValueError(f"there is no {error}")
    except (
        *(zlib.error, ValueError, TypeError, IndexError, AttributeError),
        *(ArithmeticError, RecursionError, MemoryError),
    ) as error:
        found = error
    raise ValueError(f"these bytes are damaged, or not written by to_bytes(): {found}") from None


def _unpacked(data: bytes) -> tuple[Any, Arrays]:
    """Return the header and the arrays; no more is unpacked than the header announces."""
    stream = zlib.decompressobj()

    def take(n_bytes: int) -> bytes:
        nonlocal data
        part = stream.decompress(data, n_bytes) if n_bytes else b""  # 0 would be: without limit
        data = stream.unconsumed_tail
        if len(part) < n_bytes:
            raise ValueError("they are cut")
        return part

    length = int.from_bytes(take(8), "little")
    if not 0 < length <= LONGEST:
        raise ValueError(f"a header of {length:,} bytes")
    header = json.loads(take(length), parse_constant=_refused)
    announced = [(str(name), *_shaped(kind, shape)) for name, kind, shape in header["arrays"]]
    n_numbers = sum(prod(max(size, 1) for size in shape) for _, _, shape in announced)
    if n_numbers > MOST:
        raise ValueError(f"arrays of {n_numbers:,} numbers, at most {MOST:,}")
    arrays: Arrays = {}
    for name, dtype, shape in announced:
        array = np.frombuffer(take(prod(shape) * dtype.itemsize), dtype).reshape(shape)
        arrays[name] = array.astype(np.float64 if dtype.kind == "f" else np.int64)
    if len(arrays) < len(announced):
        raise ValueError("an array is there twice")
    if stream.decompress(data, 1) or not stream.eof or stream.unused_data:
        raise ValueError("they go on behind the end, or are cut there")
    return header, arrays


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _shaped(kind: Any, shape: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return type and shape of an array, which are of the kinds that `to_bytes` writes."""
    if not re.fullmatch(r"[<|]?([iu][1248]|f8)", kind):
        raise ValueError(f"an array of {kind!r}")
    return np.dtype(kind), tuple(whole(size) for size in shape)


def _read(made: type[M], header: Any, arrays: Arrays) -> M:
    """Return the result that a header and arrays make."""
    terms = _terms(header["terms"])
    metrics = tuple(terms.measured.values())
    words = arrays.pop(_LISTED, None)
    averages = {}
    for name, given in header["averages"].items():  # of metrics that need the users' curves
        made_of = _AVERAGES[given.pop("kind")]
        parts = (one.name for one in fields(made_of))
        own = {part: arrays.pop(key) for part in parts if (key := f"{name}/{part}") in arrays}
        averages[name] = made_of(**given, **own)
    lists = None
    if header.get("lists") is not None:
        from toplist.beyond import stored as of_lists  # what few need, so that imports are quick

        lists = of_lists.read(header["lists"], arrays, terms.list_metrics)
    elif terms.list_metrics:
        raise ValueError("there are no metrics of the lists")
    histograms = Histograms(metrics, gathered=averages, **arrays)
    _check_tables(histograms)
    n_users, n_missing, n_extra = map(whole, header["counts"])
    if histograms.n_of(None) > n_users or n_missing > n_users:
        raise ValueError(f"{histograms.n_of(None):,} users in the means, of {n_users:,}")
    of_grades = (one.name in averages for one in metrics if one.graded)
    guess = terms.weighted or bool(terms.pooled) or any(of_grades)  # the first format has no word
    said = header["unmatched"]
    result = made(
        *(terms, histograms, None, None, n_users, n_missing, n_extra),
        fingerprints=from_plain(header["fingerprints"]),
        unmatched=None if said is None else Unmatched(*map(str, said)),
        graded=bool(header.get("graded", guess)),
        scored=Scored(*map(whole, scored)) if (scored := header.get("scored")) else None,
        lists=lists,
        exposed=_exposed(*header["exposed"]) if "exposed" in header else None,
        longest=whole(header["longest"]) if "longest" in header else None,
        notes=tuple(map(str, header.get("notes", ()))),
        listed=None if words is None else words.astype(np.int64).view(np.uint64),
    )
    _check_averages(result)
    return result


def _exposed(n: int, clipped: int, weight: float, weight2: float) -> Exposed:
    """Return how many relevant items count 1 / p."""
    if not (whole(clipped) <= whole(n) and 0 <= weight2 <= weight**2 * (1 + 1e-9) < np.inf):
        raise ValueError("the numbers of relevant items contradict each other")
    return Exposed(n, clipped, weight, weight2)


def _terms(asked: Any) -> Terms:
    """Return what was asked, and by which rules."""
    entries = []
    for one in asked["entries"]:
        plain = dict(one["metric"])
        ks = tuple(whole(k, 1) for k in one["ks"])
        if "of_lists" in plain:
            metric = variant(plain["of_lists"], plain["given"]) if plain["given"] else None
            metric = replace(metric or LIST_METRICS[plain["of_lists"]], name=str(plain["name"]))
            entries.append(Entry(metric, ks, bool(one["scalar"])))
            continue
        if isinstance(plain["discount"], dict):
            plain["discount"] = rbp_metric(plain["discount"]["rbp"]).discount
        if isinstance(plain["divisor"], dict):
            plain["divisor"] = SCORED[plain["divisor"]["of"]].divisor
        if isinstance(plain["counts"], dict):
            given = dict(plain["counts"])
            plain["counts"] = _earned(given.pop("earned"), **given)
        texts = plain["name"], plain.get("text", ""), plain.get("latex", "")
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"a metric named {plain['name']!r:.40}")
        entries.append(Entry(Metric(**plain), ks, bool(one["scalar"])))
    if asked["convention"] not in CONVENTIONS:
        raise ValueError(f"convention {asked['convention']!r} is not known here")
    for policy, valid in _POLICIES:
        choice(policy, asked.get(policy, valid[0]), valid)
    if asked.get("weighting") is not None:
        choice("weighting", asked["weighting"], WEIGHTINGS)
    sampled = None if asked["sampled"] is None else Sampled(**asked["sampled"])
    if sampled is not None:
        choice("sampler", sampled.sampler, SAMPLERS)
        whole(sampled.n), whole(sampled.n_items)
    rest = {"entries": tuple(entries), "pooled": tuple(asked["pooled"]), "sampled": sampled}
    terms = Terms(**{**asked, **rest, "grading": Grading(**asked["grading"])})
    if not entries or any(terms.asked[one.metric.name] != one.metric for one in entries):
        raise ValueError("no metric, or two of one name")
    if not all(type(word) is str for pair in terms.made_by.items() for word in pair):
        raise ValueError("an option is no text")
    if type(terms.unit) is not str:
        raise ValueError("the unit is no text")
    if terms.known_as and SYNONYMS.get(terms.known_as) != terms.convention:
        raise ValueError(f"convention {terms.convention!r} is not known as {terms.known_as!r}")
    if not set(terms.pooled) <= set(terms.metrics) or type(terms.weighted) is not bool:
        raise ValueError("pooled or weighted is of no metric")
    return terms


def _check_tables(found: Histograms) -> None:
    """Raise where tables have no shape in common, or count what cannot be."""
    rows, depth = found.each.shape
    sizes: dict[str, tuple[int, ...]] = dict.fromkeys(
        ("n_relevant", "n_listed", "n_users"), (rows,)
    )
    sizes |= dict.fromkeys(("each", "nth", "first"), (rows, depth))
    sizes |= {"spreads": (len(sums_of(found.metrics)), rows, depth), "cuts": (len(found.cuts),)}
    for name, size in sizes.items():
        table = getattr(found, name)
        if table.shape != size or not 0 <= table.min(initial=0) <= table.max(initial=0) < np.inf:
            raise ValueError(f"table {name} is of {table.shape}, or has numbers that cannot be")
    step = max(1, (1 << 20) // max(depth, 1))
    possible = all(_is_possible(found, slice(lo, lo + step)) for lo in range(0, rows, step))
    distinct = set(zip(found.n_relevant.tolist(), found.n_listed.tolist(), strict=True))
    if not possible or len(distinct) < rows or found.n_users.sum(dtype=float) > 2.0**62:
        raise ValueError("its counts of hits contradict each other")
    if not len(found.cuts) or found.cuts[0] < 1 or (np.diff(found.cuts) <= 0).any():
        raise ValueError("its k do not rise from 1 on")


def _is_possible(found: Histograms, some: slice) -> bool:
    """Return whether some rows of users can have these hits: all j-th ones are at rank j or below.

    So nobody has two first hits, two at one rank, or more than relevant items, and the squares of
    the numbers of hits are not below those of their mean.
    """
    R, n_users = (one[some, np.newaxis].astype(float) for one in (found.n_relevant, found.n_users))
    each, nth, first = (one[some].astype(float) for one in (found.each, found.nth, found.first))
    largest = np.minimum(np.arange(1, each.shape[1] + 1), R)  # the largest j at each rank
    slack = 1 + 1e-9  # for what floats cannot hold
    ordered = (first <= each) & (each <= nth) & (each <= n_users) & (nth <= each * largest * slack)
    squares = np.cumsum(2 * nth - each, axis=1)  # the j-th hit raises j^2 by 2 j - 1
    total, first = np.cumsum(each, axis=1), np.cumsum(first, axis=1)
    ordered &= (first <= n_users * slack) & (total <= first * largest * slack)
    return bool((ordered & (total**2 <= squares * first * slack)).all())


def _check_averages(result: Means) -> None:
    """Raise for averages, computed from the users' curves, that are none of these users."""
    terms, kept = result.terms, result.histograms
    for name, one in kept.gathered.items():
        numbers = (value for value in vars(one).values() if value is not None)
        arrays = [value for value in numbers if np.ndim(value)]
        pooled = isinstance(one, Pooled)
        wrong = name not in terms.measured or pooled != (name in terms.pooled)
        wrong |= any(array.shape != kept.cuts.shape for array in arrays)
        wrong |= whole(one.n) > result.n_users
        if isinstance(one, Moments):
            slack = 1 + 1e-9
            wrong |= not one.weight2 <= one.weight**2 * slack < np.inf
            wrong |= one.weight**2 > one.n * one.weight2 * slack or (one.weight > 0) != (one.n > 0)
            wrong |= not terms.weighted and one.weight != one.n
        signed = (array for array in arrays if one.n or pooled)
        wrong |= any(
            not (0 <= array.min(initial=0) <= array.max(initial=0) < np.inf) for array in signed
        )
        with np.errstate(over="raise"):
            wrong = wrong or bool((one.error < 0).any())
        if wrong or (
            name in terms.metrics and result.is_within_one(name) and (one.mean > 1 + 1e-9).any()
        ):
            raise ValueError(f"the averages of {name} contradict the counts")
    needed = set(terms.measured) if terms.weighted else set(terms.pooled)
    if not needed <= set(kept.gathered):
        raise ValueError(f"there are no averages of {', '.join(needed - set(kept.gathered))}")
