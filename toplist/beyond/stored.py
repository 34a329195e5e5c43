"""Metrics of the lists as plain data, which `toplist.results.stored` writes and reads as bytes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.averages.moments import AGAIN
from toplist.beyond.exposure import Exposure, UserItemPairs
from toplist.beyond.results import ListResult, Spread
from toplist.checks import Bools, Floats
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
        "given": dict(lists.given),
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
    given = {str(name): str(one) for name, one in header.get("given", {}).items()}
    return ListResult(tuple(header["names"]), seen, spreads, None, given=given)


def values_at(lists: ListResult, users: Sequence[Any], ks: Sequence[int]) -> Floats:
    """Return the values of users at some k's, metric by metric; then those of all other lists."""
    known, parts = replace(lists, cuts=tuple(ks)), [np.empty(0)]
    for name in sorted(lists.values or ()):
        both = np.concatenate(known.parted(name, users)[:2])
        parts.append(both[:, known.at_cuts(both.shape[1])].ravel())
    return np.concatenate(parts)


def others_of(lists: ListResult, users: Sequence[Any]) -> Sequence[Any]:
    """Return whose the lists of `values_at` are that are of none of these users."""
    found = (lists.parted(name, users)[2] for name in sorted(lists.values or ()))
    return max((some for some in found if some is not None), key=len, default=[])


def with_values(
    lists: ListResult,
    of_truth: Collection[str],
    ks: Sequence[int],
    sizes: tuple[int, int],
    given: Floats,
    listed: Sequence[Any] | None = None,
) -> ListResult:
    """Return metrics with what `values_at` returned; `sizes` are those of users, of other lists.

    `listed` are the keys of both, where they are known.

    Raises
    ------
    ValueError
        If the means and counts do not follow from the values.
    """
    known, values = replace(lists, cuts=tuple(ks)), {}
    for name, spread in sorted(lists.spreads.items()):
        at = known.at_cuts(len(spread.users))
        n_rows = sizes[0] if name in of_truth else sum(sizes)
        own, given = np.split(given, [n_rows * np.count_nonzero(at)])
        own = own.reshape(n_rows, np.count_nonzero(at))
        _check_values(own, spread, at, name)
        values[name] = partial(_spread_out, own, at, None if name in of_truth else listed)
    if len(given):
        raise ValueError("it has more values of users than there are users")
    return replace(known, values=values)


def _spread_out(
    values: Floats, at: Bools, listed: Sequence[Any] | None
) -> tuple[Floats, Sequence[Any] | None]:
    """Return curves of users, and of other lists, of which some k's are known; and their keys."""
    curves = np.full((len(values), len(at)), np.nan)
    curves[:, at] = values
    return curves, listed


def _check_values(values: Floats, kept: Spread, at: Bools, name: str) -> None:
    """Raise ValueError unless values give the averages at their k's, but for rounding."""
    found, users = Spread.of(values), kept.users[at]
    some = users > 0
    (mean, deviation), (again, apart) = (
        (one.mean[part][some], one.deviation[part][some])
        for one, part in ((kept, at), (found, slice(None)))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        near = AGAIN * (np.abs(mean) + np.sqrt(deviation / users[some]))
        same = np.abs(again - mean) <= near
        same &= np.abs(apart - deviation) <= AGAIN * deviation + users[some] * near**2
    counts = np.array_equal(found.users, users) and kept.n + kept.n_left_out <= len(values)
    if not counts or not same.all():
        raise ValueError(f"its values of users give other means of {name}")


def _check(found: Spread, metric: ListMetric) -> None:
    """Raise ValueError for averages that cannot be."""
    users, mean, deviation = found.users, found.mean, found.deviation
    wrong = not users.ndim == 1 == mean.ndim or not len(users) == len(mean) == len(deviation)
    if wrong or found.n_left_out < 0 or users.min(initial=0) < -1 or not (deviation >= 0).all():
        raise ValueError(f"the averages of {metric.name} cannot be")
    known = mean[users > 0]
    if metric.within_one and not ((known >= -AGAIN) & (known <= 1 + AGAIN)).all():
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
