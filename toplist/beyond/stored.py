"""Metrics of the lists as plain data, which `toplist.results.stored` writes and reads as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.beyond.exposure import Exposure, UserItemPairs
from toplist.beyond.results import ListResult, Spread
from toplist.metrics.beyond_accuracy import ListMetric

Arrays = dict[str, NDArray[Any]]
# Before the names of the arrays, so that none is that of an array of hits.
_MARK = "lists:"
_PARTS = ("users", "mean", "deviation")


def content(lists: ListResult) -> tuple[dict[str, Any], Arrays]:
    """Return means and spreads, and the counts that those of all lists together follow from.

    Raises
    ------
    ValueError
        For a catalogue of other ids than integers and text.
    """
    arrays: Arrays = {}
    for name, one in lists.spreads.items():
        for part in _PARTS:
            arrays[f"{_MARK}{name}/{part}"] = getattr(one, part)
    header: dict[str, Any] = {
        "names": lists.names,
        "left_out": {name: one.n_left_out for name, one in lists.spreads.items()},
        "exposure": None,
    }
    seen = lists.exposure
    if seen is not None:
        catalogue, kind = seen.catalogue, type(seen.catalogue).__name__
        if isinstance(catalogue, np.ndarray):
            kind, catalogue = catalogue.dtype.str, catalogue.tolist()
        if isinstance(catalogue, list):
            if not set(map(type, catalogue)) <= {int, str}:
                raise ValueError("bytes hold a catalogue of integers or text only: pickle it")
            words = json.dumps(catalogue).encode()
            arrays[f"{_MARK}catalogue"] = np.frombuffer(words, np.uint8)
        for part, array in seen.pairs._asdict().items():
            arrays[f"{_MARK}{part}"] = array
        header["exposure"] = [seen.k, seen.n_users, seen.n_items, kind]
    return header, arrays


def read(
    header: Mapping[str, Any], arrays: Arrays, metrics: Mapping[str, ListMetric]
) -> ListResult:
    """Return what `content` wrote, of these metrics; its arrays are taken out of `arrays`.

    Raises
    ------
    KeyError, TypeError, ValueError
        For what is not there, or contradicts itself.
    """
    found = {name: arrays.pop(name) for name in [*arrays] if name.startswith(_MARK)}
    spreads = {}
    for name, metric in metrics.items():
        if metric.of_users:
            parts = {part: found[f"{_MARK}{name}/{part}"] for part in _PARTS}
            n_left_out = int(header["left_out"][name])
            spreads[name] = Spread(**parts, n_left_out=n_left_out)
            _check(spreads[name], metric)
    seen = None if header["exposure"] is None else _exposure(header["exposure"], found)
    whole = [name for name, metric in metrics.items() if not metric.of_users]
    if set(header["names"]) != set(metrics) or bool(whole) != (seen is not None):
        raise ValueError("metrics of the lists that were not asked for, or are not there")
    return ListResult(tuple(header["names"]), seen, spreads, None)


def _check(found: Spread, metric: ListMetric) -> None:
    """Raise ValueError for averages that cannot be."""
    users, mean, deviation = found.users, found.mean, found.deviation
    wrong = not users.ndim == 1 == mean.ndim or not len(users) == len(mean) == len(deviation)
    if wrong or found.n_left_out < 0 or users.min(initial=0) < 0 or not (deviation >= 0).all():
        raise ValueError(f"the averages of {metric.name} cannot be")
    known = mean[users > 0]
    if metric.within_one and not ((known >= -1e-9) & (known <= 1 + 1e-9)).all():
        raise ValueError(f"the averages of {metric.name} cannot be")


def _exposure(header: list[Any], found: Arrays) -> Exposure:
    """Return counts over a catalogue."""
    k, n_users, n_items, kind = header
    catalogue: Any = None if kind == "NoneType" else range(n_items)
    if f"{_MARK}catalogue" in found:
        catalogue = json.loads(found[f"{_MARK}catalogue"].astype(np.uint8).tobytes())
        if kind != "list":
            catalogue = np.array(catalogue, np.dtype(kind))
    pairs = UserItemPairs(*(found[f"{_MARK}{part}"] for part in UserItemPairs._fields))
    starts, items, counts = pairs
    possible = len(starts) == k + 1 and starts[0] == 0 and starts[-1] == len(items) == len(counts)
    possible = possible and bool((np.diff(starts) >= 0).all())
    inside = 0 <= items.min(initial=0) <= items.max(initial=0) < max(n_items, 1)
    few = counts.min(initial=1) >= 1 and counts.max(initial=0) <= n_users
    size = n_items if catalogue is None else len(catalogue)
    if not (possible and inside and few) or size != n_items:
        raise ValueError("the counts of listed items contradict each other")
    narrow = np.int32 if n_items <= np.iinfo(np.int32).max else np.int64
    return Exposure(k, n_users, n_items, catalogue, pairs._replace(items=items.astype(narrow)))
