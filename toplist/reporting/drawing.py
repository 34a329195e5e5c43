"""The geometry of the charts: places of lines, points and words; the template draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from toplist.checks import Floats
from toplist.plots.axes import brief

# The frame of a chart, in units of its view box, and what its names and numbers need of it.
WIDTH, HEIGHT = 440, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 318, 12, 200
POINTS = 100  # of a line, at most
ROW = 26  # the height of a line of dots
SPACING = 14  # between names at the ends of lines
# Letters of a name beside a line, and beside a dot; where dots stand between name and number.
AT_LINE, AT_DOT = 14, 24
DOTS = 166, 376


class Line(NamedTuple):
    """A curve: its name and number, the points, the outline of its band, where its name stands.

    `stop` is where it ends before the chart does: no list goes on.
    """

    name: str
    colour: int
    points: str
    band: str
    end: float
    stop: tuple[float, float] | None = None


class Dot(NamedTuple):
    """A row of dots: name, number, ends of the interval, the point, its height, how it looks."""

    name: str
    text: str
    low: float
    high: float
    at: float
    y: float
    colour: int
    hollow: bool


class Chart(NamedTuple):
    """What is drawn: lines or dots or bars, ticks of both axes, and where 0 is, if it is there."""

    title: str
    x: Sequence[tuple[float, str]]
    y: Sequence[tuple[float, str]]
    lines: Sequence[Line] = ()
    dots: Sequence[Dot] = ()
    bars: Sequence[tuple[float, float, float, float]] = ()
    zero: float | None = None
    height: float = HEIGHT


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from low to high, at most so many.

    Examples
    --------
    >>> ticks(0.013, 0.21)
    [0.05, 0.1, 0.15, 0.2]
    """
    least = (high - low) / most
    size = 10.0 ** math.floor(math.log10(least))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= least * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _ends(*arrays: Floats) -> tuple[float, float]:
    """Return the least and greatest number, a little apart."""
    known = np.concatenate([one[np.isfinite(one)] for one in arrays])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.04 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room


def _scale(low: float, high: float, start: float, end: float, value: float) -> float:
    return start + (value - low) / (high - low) * (end - start)


def curves(
    title: str,
    depth: int,
    lines: Sequence[tuple[str, int, Floats, Floats, Floats]],
    zero: bool = False,
) -> Chart:
    """Return lines over k = 1 to `depth`: (name, colour, values, low, high), each (depth,) or less.

    A line of fewer values ends where its lists do.
    """
    # all k's, of more than `POINTS` some in equal steps, with both ends
    ks = sorted({*np.linspace(1, depth, min(depth, POINTS)).astype(int).tolist()})
    low, high = _ends(*(one for line in lines for one in line[2:]), np.zeros(int(zero)))
    wide = max(depth, 2)

    def x(k: float) -> float:
        return _scale(1, wide, LEFT, RIGHT, k)

    def y(value: float) -> float:
        return _scale(low, high, BOTTOM, TOP, value)

    def points(values: Floats, order: Sequence[int]) -> list[str]:
        both = ((k, float(values[k - 1])) for k in order if k <= len(values))
        return [f"{x(k):.1f},{y(one):.1f}" for k, one in both if math.isfinite(one)]

    found = []
    names = brief([line[0] for line in lines], AT_LINE)
    for name, (_, colour, values, lows, highs) in zip(names, lines, strict=True):
        own = sorted({*(k for k in ks if k < len(values)), len(values)})
        band = " ".join([*points(highs, own), *points(lows, own[::-1])])
        last = float(values[-1])
        end = y(last) if math.isfinite(last) else BOTTOM
        stop = (x(len(values)), end) if len(values) < depth and math.isfinite(last) else None
        found.append(Line(name, colour, " ".join(points(values, own)), band, end, stop))
    across = sorted({1, *(int(k) for k in ticks(1, wide) if k == int(k)), depth})
    across = [k for k in across if k in (1, depth) or x(depth) - x(k) > 24]
    return Chart(
        title,
        [(x(k), str(k)) for k in across],
        [(y(one), f"{one:g}") for one in ticks(low, high)],
        _apart(found),
        zero=y(0) if zero else None,
    )


def _apart(lines: Sequence[Line]) -> list[Line]:
    """Return lines whose names do not stand on each other."""
    order = sorted(range(len(lines)), key=lambda i: lines[i].end)
    places = [lines[i].end for i in order]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + SPACING)
    for i in reversed(range(len(places))):
        below = places[i + 1] - SPACING if i + 1 < len(places) else float(BOTTOM)
        places[i] = min(places[i], below)
    ends = dict(zip(order, places, strict=True))
    return [line._replace(end=ends[i]) for i, line in enumerate(lines)]


def dots(
    title: str,
    rows: Sequence[tuple[str, float, float, float, int, bool]],
    zero: bool = False,
) -> Chart:
    """Return numbers with their intervals: (name, number, low, high, colour, hollow).

    With `zero` they are differences, and hollow are those that are not shown.
    """
    values = np.array([row[1:4] for row in rows], float)
    low, high = _ends(values.ravel(), np.zeros(int(zero)))

    def x(value: float) -> float:
        return _scale(low, high, *DOTS, value)

    found, names = [], brief([row[0] for row in rows], AT_DOT)
    for i, (name, (_, at, least, most, colour, hollow)) in enumerate(zip(names, rows, strict=True)):
        ends = (least, most) if math.isfinite(least + most) else (at, at)
        start, end, place = (x(one) if math.isfinite(at) else DOTS[0] for one in (*ends, at))
        text = f"{at:+.4f}" if zero else f"{at:.4f}"
        found.append(Dot(name, text, start, end, place, ROW * (i + 0.6), colour, hollow))
    places = [(x(one), f"{one:{'+' * (zero and one != 0)}g}") for one in ticks(low, high, 4)]
    at_zero = x(0) if zero else None
    return Chart(title, places, (), dots=found, zero=at_zero, height=ROW * len(rows) + 34)


def histogram(title: str, values: Floats, n_bins: int = 40) -> Chart:
    """Return how many of some differences, none of which is 0, are in each of equal steps."""
    most = float(np.abs(values).max()) if len(values) else 1.0
    counts, edges = np.histogram(values, n_bins, (-most, most))
    top = max(int(counts.max()), 1)

    def x(value: float) -> float:
        return _scale(-most, most, LEFT, WIDTH - 12, value)

    bars = []
    for n, start, end in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if n:
            height = n / top * (BOTTOM - TOP)
            bars.append((x(start) + 0.5, BOTTOM - height, x(end) - x(start) - 1, height))
    up = [one for one in ticks(0, top) if one == int(one)]
    return Chart(
        title,
        [(x(one), f"{one:+g}" if one else "0") for one in ticks(-most, most, 6)],
        [(_scale(0, top, BOTTOM, TOP, one), f"{one:,.0f}") for one in up],
        bars=bars,
        zero=x(0),
    )
