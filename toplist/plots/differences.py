"""The charts of differences of systems: forests, bands over k, movers.

They take what `toplist.comparing` returns by its attributes, and know nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.plots import axes
from toplist.plots.axes import COLOURS, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches for each line of a forest, and for what is around it.
LINE, AROUND = 0.28, 1.1
# Users that are drawn one by one; colours of those who are worse, and better.
DRAWN, SIDES = 2000, (COLOURS[1], COLOURS[0])


def forest(
    contrasts: Sequence[Any],
    *,
    level: float = 0.95,
    margin: float | None = None,
    told: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw each difference with its interval, a line for zero, and the margin if there is one.

    Parameters
    ----------
    contrasts : sequence of Contrast
    level : float
        Of the intervals, for the label of the axis.
    margin : float, optional
    told : sequence of str
        How, over whom and by which rules, for the caption.
    ax : matplotlib Axes, optional
    """
    if not contrasts:
        raise ValueError("no comparison to draw")
    names = list(dict.fromkeys(one.name for one in contrasts))
    pairs = list(dict.fromkeys((one.system, one.baseline) for one in contrasts))
    share = 100 * (2 * level - 1 if margin is not None else level)
    whose = f"{pairs[0][0]} - {pairs[0][1]}, " if len(pairs) == 1 else ""
    labels = []
    for one in contrasts:
        parts = [f"{one.system} - {one.baseline}"] * (len(pairs) > 1 or len(names) == 1)
        parts += [one.name] * (len(names) > 1 or len(pairs) == 1)
        parts += [f"({one.segment})"] * (one.segment is not None)
        labels.append(axes.lines(" ".join(parts), 50))
    row = LINE * max(1, 0.65 * (1 + max(label.count("\n") for label in labels)))
    ax = axes.axes(ax, 6.2, AROUND + row * len(contrasts))
    places = np.arange(len(contrasts))[::-1]
    if margin is not None:
        ax.axvspan(-margin, margin, color=GREY, alpha=0.15, linewidth=0)
    ax.axvline(0, color=GREY, linewidth=0.8)
    for place, one in zip(places, contrasts, strict=True):
        colour = axes.colour(names.index(one.name))
        ax.plot([one.low, one.high], [place, place], color=colour, linewidth=1.6)
        ax.plot([one.difference], [place], marker="o", markersize=4.5, color=colour)
    ax.set_yticks(places, labels)
    ax.set_ylim(-0.7, len(contrasts) - 0.3)
    ax.set_xlabel(axes.lines(f"{whose}difference and {share:.4g} % interval", 60))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    axes.caption(ax, *told)
    return axes.fitted(ax, row * len(contrasts))


def band(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a difference over k, its interval at each k and the one for all k, and zero."""
    ax = axes.axes(ax)
    ks = np.arange(1, len(found.difference) + 1)
    share = f"{100 * found.level:.4g} %"
    for low, high, alpha, where in (
        (found.low_all, found.high_all, 0.15, "all k together"),
        (found.low, found.high, 0.35, "each k"),
    ):
        label = f"{share} at {where}"
        ax.fill_between(ks, low, high, color=COLOURS[0], alpha=alpha, linewidth=0, label=label)
    ax.plot(ks, found.difference, color=COLOURS[0], linewidth=1.6)
    ax.axhline(0, color=GREY, linewidth=0.8)
    lowest = float(np.min(found.low_all, initial=0.0))
    axes.over_k(ax, found.name)
    ax.set_ylabel(axes.lines(f"{' - '.join(found.systems)}, {found.name}@k", 36))
    ax.set_ylim(bottom=1.08 * lowest, auto=None)  # not from 0: differences fall below
    axes.caption(ax, f"{found.n:,} {found.unit}; sup-t, critical value {found.critical:.2f}")
    axes.legend(ax, inside="best")
    return axes.fitted(ax)


def movers(found: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw the differences of users, sorted; on new axes, beside them both values.

    Parameters
    ----------
    found : sequence of Movers
        Of several systems less one baseline: a small chart for each, without the values.
    ax : matplotlib Axes, optional
    """
    several = len(found) > 1
    if several and ax is not None:
        raise ValueError("ax= is for one pair: comparison.movers(name, system).plot(ax=ax)")
    rows = -(-len(found) // 2)
    grid = (1, 1) if ax is not None else (rows, 2)
    ax = axes.axes(ax, *((8.4, 0.8 + 2.9 * rows) if grid[1] == 2 else ()), grid=grid)
    places = ax.figure.axes if several else [ax]
    widest = max(max(np.abs(one.differences), default=0) for one in found)
    for place, one in zip(places, found, strict=False):
        d = one.differences
        edges = np.unique(np.linspace(0, len(d), DRAWN + 1).astype(np.int64))
        steps = d[edges[:-1]]  # every user, or of many as many as can be seen
        parts = np.minimum(steps, 0), np.maximum(steps, 0)
        lower = 1 if one.higher_is_better is False else 0
        for i, part in enumerate(parts):
            place.stairs(part, edges, fill=True, color=SIDES[i ^ lower])
        place.axhline(0, color=GREY, linewidth=0.8)
        place.set_ylabel(axes.lines(" - ".join(one.systems), 36))
        place.set_xlabel(f"{one.unit}, from the worst to the best")
        place.margins(x=0)
        if several and widest:
            place.set_ylim(-1.05 * widest, 1.05 * widest)
        axes.clean(place, grid="y")
        told = ", ".join(f"{n:,} {word}" for word, n in one.counts.items())
        axes.caption(place, one.name, told)
    for place in places[len(found) :]:
        place.remove()
    if grid[1] == 2 and not several:
        _both(ax.figure.axes[1], found[0])
    return axes.fitted(ax)


def _both(ax: Axes, one: Any) -> None:
    """Draw the values of both systems, a point for the users who share them, its area by these."""
    y, x = one.values.round(12)
    points, counts = np.unique(x + 1j * y, return_counts=True)
    x, y = points.real, points.imag
    side = np.sign(x - y).astype(int) * (1 if one.higher_is_better is False else -1)
    colours = np.array([SIDES[0], GREY, SIDES[1]])[side + 1]
    sizes = 8 + 240 * counts / max(counts.sum(), 1)
    ax.scatter(x, y, s=sizes, c=colours, alpha=0.6, linewidths=0, rasterized=True)
    ends = [min(*x, *y, 0), max(*x, *y)]
    ax.plot(ends, ends, color=GREY, linewidth=0.8)
    x_of, y_of = (axes.lines(one.systems[i], 36) for i in (1, 0))
    ax.set(xlabel=x_of, ylabel=y_of, aspect="equal")
    axes.clean(ax)
    axes.caption(ax, f"{one.name} of each; area: {one.unit}")
