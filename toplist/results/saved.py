"""Results saved: as JSON for readers, and as files of it that can be loaded again."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np

from toplist.averages.moments import wilson
from toplist.checks import prefixed
from toplist.metrics.definitions import Metric
from toplist.metrics.formulas import formula
from toplist.results.means import Means
from toplist.results.stored import FIRST, from_bytes, to_bytes
from toplist.results.writing import Content, PathLike, write_all

M = TypeVar("M", bound=Means)

COUNTS = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
POLICIES = ("empty", "missing", "relevant", "ties", "unjudged", "weighted", "pooled")
# The key of a file that holds the result itself, as text of `to_bytes`.
WHOLE = "result"
# Files may be as long as this, unpacked.
LONGEST = 1 << 28
# They are read in pieces of so many bytes, as to read takes what is asked for at once.
PIECE = 1 << 20
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
    weighing = {"weighting": terms.weighting, "clip": terms.clip}
    weighing |= result.exposed._asdict() if result.exposed else {}
    policies = {name: getattr(terms, name) for name in POLICIES} | vars(terms.grading)
    return {
        "toplist": version,
        "convention": terms.convention,
        "policies": policies | {"pooled": list(terms.pooled), "graded": result.graded},
        "k": list(result.ks),
        **({"sampled": vars(terms.sampled)} if terms.sampled else {}),
        **{name: getattr(result, name) for name in COUNTS},
        **({} if result.clusters is None else {"n_clusters": result.n_clusters}),
        **({"scores": result.scored._asdict()} if result.scored else {}),
        **({"propensities": weighing} if terms.weighting else {}),
        **_judged(result),
        "values": {name: json_number(result[name]) for name in names},
        "std": {name: json_number(result.std(name)) for name in names},
        "interval": {name: list(map(json_number, ends)) for name, ends in intervals.items()},
        "n": {name: result.n_of(name) for name in names},
        "formulas": {
            name: formula(one) if isinstance(one, Metric) else one.formula
            for name, one in terms.asked.items()
        },
    }


def _judged(result: Means) -> dict[str, Any]:
    """Return how much was judged before the rest left the lists."""
    if result.terms.unjudged == "miss":
        return {}
    name, share = result.judged_share()
    return {"judged": {name: json_number(share)}}


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


def keeps_users(path: PathLike) -> bool:
    """Return whether a file of this name holds the users too: numpy's npz.

    Examples
    --------
    >>> keeps_users("base.npz"), keeps_users("base.json")
    (True, False)
    """
    return os.fsdecode(path).lower().endswith(".npz")


def save(result: Means, path: PathLike) -> None:
    """Write a result to a file; see `TopKResult.save`."""
    write_all({path: written(result, path)})


def written(result: Means, path: PathLike) -> Content:
    """Return what `save` writes to a file of this name."""
    from toplist.results import with_users  # imported late: few save users

    try:
        whole = to_bytes(with_users.without(result) if keeps_users(path) else result)
    except ValueError as error:
        raise ValueError(
            f"save: {error}; to_dict() and to_pandas() give the means, without a way back"
        ) from None
    if keeps_users(path):
        return with_users.content(result, whole)
    found = content(result) | {WHOLE: base64.b64encode(whole).decode("ascii")}
    text = text_of(found) + "\n"
    if len(text) > LONGEST:
        raise ValueError(f"save: {len(text):,} characters, at most {LONGEST:,}: ask for fewer k")
    return text


def load(made: type[M], path: PathLike) -> M:
    """Return the result of a file; see `TopKResult.load`."""
    name = os.fsdecode(path)
    with open(name, "rb") as stream:
        try:
            begin = stream.peek(2)[:2]
            if not begin:
                raise ValueError("is empty")
            if begin != b"PK":
                return _from_json(made, stream, name)
            from toplist.results import with_users

            return with_users.load(made, stream)
        except ValueError as error:
            raise prefixed(f"{name}: ", error) from None


def _from_json(made: type[M], stream: Any, name: str) -> M:
    """Return the result of an open file of JSON."""
    try:
        source = gzip.GzipFile(fileobj=stream) if name.lower().endswith(".gz") else stream
        pieces = iter(partial(source.read, PIECE), b"")
        text = b"".join(islice(pieces, LONGEST // PIECE + 1))
        if len(text) > LONGEST:
            raise ValueError(f"it is longer than {LONGEST:,} bytes")
        found = json.loads(text)
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error, RecursionError) as error:
        raise ValueError(
            f"is no result that was saved by save(): {error} (from_bytes reads what to_bytes "
            "returned)"
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get(WHOLE), str):
        raise ValueError(
            f"holds no {WHOLE!r}: result.save() writes it, while the JSON of toplist eval "
            "is for reading only"
        )
    whole = base64.b64decode(found[WHOLE], validate=True)
    result = from_bytes(made, whole)
    different = _differences(found, result)
    if different and whole.startswith(FIRST):
        # the first format does not say whether truths had grades, on which intervals depend
        other = replace(result, graded=not result.graded)
        if not _differences(found, other):
            return other
    for where, said, held in different[:1]:
        raise ValueError(
            f"{where} reads {said!r}, but the result that the file holds has {held!r}: it "
            "was changed after it was saved"
        )
    return result


def _was_a_proportion(result: Means, where: str, said: Any) -> bool:
    """Return whether an interval is Wilson's, of a metric that is 0 or 1 for one relevant item.

    Until 0.4, files said it of these, as of recall in leave-one-out.
    """
    kind, _, name = where.partition(" of ")
    if kind != "interval" or not isinstance(said, float) or not result.population.single:
        return False
    metric, k = result.terms.find(name)
    if not isinstance(metric, Metric) or metric.name in result.terms.pooled or result.clusters:
        return False
    average = result.histograms.moments(metric, np.array([k]))
    z = NormalDist().inv_cdf(0.975)
    ends = wilson(average.mean, average.effective, z)
    return any(math.isclose(said, float(end[0]), rel_tol=1e-9, abs_tol=1e-12) for end in ends)


def _differences(found: Any, result: Means) -> list[tuple[str, Any, Any]]:
    """Return where the part for readers contradicts the result, with both values."""
    rows = _compared(found, content(result))
    return [row for row in rows if not _was_a_proportion(result, *row[:2])]


def _compared(said: Any, held: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where the part for readers contradicts the result, with both values.

    Numbers may differ in the last digits, as logarithms of two machines do. What is not there
    contradicts nothing: a file of an older version may say less, and notes may be added.
    """
    if isinstance(said, Mapping) and isinstance(held, Mapping):
        for key in held:
            if key in said and (where or key not in WORDS):
                yield from _compared(said[key], held[key], f"{where} of {key}" if where else key)
    elif isinstance(said, list) and isinstance(held, list) and len(said) == len(held):
        for one, other in zip(said, held, strict=True):
            yield from _compared(one, other, where)
    elif isinstance(said, float) and isinstance(held, float):
        if not math.isclose(said, held, rel_tol=1e-9, abs_tol=1e-12):
            yield where, said, held
    elif said != held:
        yield where, said, held
