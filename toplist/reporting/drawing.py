"""Where the parts of a chart are: lines over k, intervals as dots, bars; page.html draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from toplist.checks import Floats
from toplist.plots.axes import brief

# The frame of a chart, in units of its view box, and what its names and numbers need of it.
WIDTH, HEIGHT = 440, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 318, 12, 200
COLOURS = 7
POINTS = 100  # of a line, at most
ROW = 26  # the height of a line of dots
SPACING = 14  # between names at the ends of lines
# Letters of a name beside a line, and beside a dot; where dots stand between name and number.
AT_LINE, AT_DOT = 14, 24
DOTS = 166, 376
# A tick: where it stands, and its number.
Tick = tuple[float, str]


class Chart(NamedTuple):
    """What is drawn, at its places.

    Attributes
    ----------
    title : str
    height : float
    across, up : sequence of (place, number)
        The ticks below the chart, and at its left. From each of those at the left a line goes to
        `right`.
    zero : str
        The path of a line at 0; or nothing.
    lines : sequence of (colour, band, points, name, height of the name, end)
        Over k, as points; `end` is where a line stops before the chart does, or None.
    dots : sequence of (name, colour, low, high, place, height, hollow, number)
        With their intervals, each on a line of its own.
    bars : sequence of (x, y, width, height)
    """

    title: str
    height: float
    across: Sequence[Tick]
    up: Sequence[Tick] = ()
    right: int = RIGHT
    zero: str = ""
    lines: Sequence[tuple[Any, ...]] = ()
    dots: Sequence[tuple[Any, ...]] = ()
    bars: Sequence[tuple[float, ...]] = ()

    @property
    def ends(self) -> bool:
        """Whether a line stops before the chart does."""
        return any(end is not None for *_, end in self.lines)


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


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return what gives the place of a number from low to high, between start and end."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


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
    x, y = _scale(1, max(depth, 2), LEFT, RIGHT), _scale(low, high, BOTTOM, TOP)

    def points(values: Floats, order: Sequence[int]) -> str:
        both = ((k, float(values[k - 1])) for k in order if k <= len(values))
        return " ".join(f"{x(k):.1f},{y(one):.1f}" for k, one in both if math.isfinite(one))

    across = sorted({1, *(int(k) for k in ticks(1, max(depth, 2)) if k == int(k)), depth})
    across = [k for k in across if k in (1, depth) or x(depth) - x(k) > 24]
    lasts = [float(line[2][-1]) for line in lines]
    heights = [y(last) if math.isfinite(last) else float(BOTTOM) for last in lasts]
    names, drawn = brief([line[0] for line in lines], AT_LINE), []
    for line, name, last, height in zip(lines, names, lasts, _apart(heights), strict=True):
        _, colour, values, lows, highs = line
        own = sorted({*(k for k in ks if k < len(values)), len(values)})
        band = f"{points(highs, own)} {points(lows, own[::-1])}".strip()
        stops = len(values) < depth and math.isfinite(last)
        end = (x(len(values)), y(last)) if stops else None
        drawn.append((colour % COLOURS, band, points(values, own), name, height, end))
    places = [(x(k), str(k)) for k in across], [(y(one), f"{one:g}") for one in ticks(low, high)]
    line_at_0 = f"M{LEFT} {y(0):.1f}H{RIGHT}" if zero else ""
    return Chart(title, HEIGHT, *places, zero=line_at_0, lines=drawn)


def _apart(heights: Sequence[float]) -> list[float]:
    """Return where names stand that do not touch each other, as near to their heights as may be."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    places = [heights[i] for i in order]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + SPACING)
    for i in reversed(range(len(places))):
        below = places[i + 1] - SPACING if i + 1 < len(places) else float(BOTTOM)
        places[i] = min(places[i], below)
    return [place for _, place in sorted(zip(order, places, strict=True))]


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
    x, height = _scale(low, high, *DOTS), ROW * len(rows) + 34
    sign, names, drawn = "+" if zero else "", brief([row[0] for row in rows], AT_DOT), []
    for i, (name, (_, at, least, most, colour, hollow)) in enumerate(zip(names, rows, strict=True)):
        ends = (least, most) if math.isfinite(least + most) else (at, at)
        places = (x(one) if math.isfinite(at) else DOTS[0] for one in (*ends, at))
        look = colour % COLOURS, *places, ROW * (i + 0.6), hollow
        drawn.append((name, *look, f"{at:{sign}.4f}"))
    across = [(x(one), f"{one:{sign if one else ''}g}") for one in ticks(low, high, 4)]
    line_at_0 = f"M{x(0):.1f} 4V{height - 30}" if zero else ""
    return Chart(title, height, across, zero=line_at_0, dots=drawn)


def histogram(title: str, values: Floats, n_bins: int = 40) -> Chart:
    """Return how many of some differences, none of which is 0, are in each of equal steps."""
    most = float(np.abs(values).max()) if len(values) else 1.0
    counts, edges = np.histogram(values, n_bins, (-most, most))
    top = max(int(counts.max()), 1)
    x, y = _scale(-most, most, LEFT, WIDTH - 12), _scale(0, top, BOTTOM, TOP)
    across = [(x(one), f"{one:+g}" if one else "0") for one in ticks(-most, most, 6)]
    up = [(y(n), f"{n:,.0f}") for n in ticks(0, top) if n == int(n)]
    bars = [
        (x(start) + 0.5, y(n), x(end) - x(start) - 1, BOTTOM - y(n))
        for n, start, end in zip(counts, edges[:-1], edges[1:], strict=True)
        if n
    ]
    line_at_0 = f"M{x(0):.1f} 4V{BOTTOM}"
    return Chart(title, HEIGHT, across, up, WIDTH - 12, line_at_0, bars=bars)
