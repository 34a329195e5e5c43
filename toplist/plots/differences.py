"""Pictures of differences: a forest of intervals, systems against each other, a band over k.

They take what `toplist.results` returns by its attributes, and know nothing else of it.
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


def forest(
    contrasts: Sequence[Any],
    *,
    level: float = 0.95,
    margin: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw each difference with its interval, a line for zero, and the margin if there is one.

    Parameters
    ----------
    contrasts : sequence of Contrast
    level : float
        Of the intervals, for the label of the axis.
    margin : float, optional
    ax : matplotlib Axes, optional
    """
    if not contrasts:
        raise ValueError("no comparison to draw")
    names = list(dict.fromkeys(one.name for one in contrasts))
    pairs = list(dict.fromkeys((one.system, one.baseline) for one in contrasts))
    ax = axes.axes(ax, 6.2, AROUND + LINE * len(contrasts))
    places = np.arange(len(contrasts))[::-1]
    if margin is not None:
        ax.axvspan(-margin, margin, color=GREY, alpha=0.15, linewidth=0)
    ax.axvline(0, color=GREY, linewidth=0.8)
    for place, one in zip(places, contrasts, strict=True):
        colour = COLOURS[names.index(one.name) % len(COLOURS)]
        ax.plot([one.low, one.high], [place, place], color=colour, linewidth=1.6)
        ax.plot([one.difference], [place], marker="o", markersize=4.5, color=colour)
    labels = [
        " ".join(
            [f"{one.system} - {one.baseline}"] * (len(pairs) > 1 or len(names) == 1)
            + [one.name] * (len(names) > 1 or len(pairs) == 1)
            + [f"({one.segment})"] * (one.segment is not None)
        )
        for one in contrasts
    ]
    ax.set_yticks(places, labels)
    ax.set_ylim(-0.7, len(contrasts) - 0.3)
    share = 100 * (2 * level - 1 if margin is not None else level)
    whose = f"{pairs[0][0]} - {pairs[0][1]}, " if len(pairs) == 1 else ""
    ax.set_xlabel(f"{whose}difference and {share:.4g} % interval")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def matrix(
    contrasts: Sequence[Any],
    *,
    level: float = 0.95,
    margin: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the differences of all pairs of systems; bold where p, corrected, is below 0.05.

    Row less column. `level` and `margin` change nothing.
    """
    names = list(dict.fromkeys(one.name for one in contrasts))
    if len(names) != 1:
        raise ValueError(f"a matrix is of one name, not of {', '.join(names) or 'none'}")
    systems = list(dict.fromkeys(s for one in contrasts for s in (one.system, one.baseline)))
    n, place = len(systems), {system: i for i, system in enumerate(systems)}
    table = np.full((n, n), np.nan)
    ax = axes.axes(ax, 1.8 + 0.75 * n, 1.4 + 0.5 * n)
    for one in contrasts:
        i, j = place[one.system], place[one.baseline]
        table[i, j], table[j, i] = one.difference, -one.difference
    widest = float(np.nanmax(np.abs(table), initial=0.0)) or 1.0
    ax.imshow(table, cmap="RdBu", vmin=-1.6 * widest, vmax=1.6 * widest, aspect="auto")
    for one in contrasts:
        i, j = place[one.system], place[one.baseline]
        weight = "bold" if one.p_adjusted < 0.05 else "normal"
        for row, column, value in ((i, j, one.difference), (j, i, -one.difference)):
            words = f"{value:+.4f}" if n <= 6 else f"{value:+.3f}"
            # the cells are light, on dark pages as well
            style: dict[str, Any] = {
                "fontsize": 8 if n <= 6 else 7,
                "fontweight": weight,
                "color": "black",
            }
            ax.text(column, row, words, ha="center", va="center", **style)
    ax.set_xticks(range(n), systems, rotation=30, ha="right")
    ax.set_yticks(range(n), systems)
    ax.set_title(f"{names[0]}, row less column; bold: p < 0.05", fontsize=9)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    return ax


def band(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a difference over k, its interval at each k and the one for all k, and zero."""
    ax = axes.axes(ax)
    ks = np.arange(1, len(found.difference) + 1)
    share = f"{100 * found.level:.4g} %"
    ax.fill_between(
        ks, found.low_all, found.high_all, color=COLOURS[0], alpha=0.15, linewidth=0,
        label=f"{share} at all k together",
    )  # fmt: skip
    ax.fill_between(
        ks, found.low, found.high, color=COLOURS[0], alpha=0.35, linewidth=0,
        label=f"{share} at each k",
    )  # fmt: skip
    ax.plot(ks, found.difference, color=COLOURS[0], linewidth=1.6)
    ax.axhline(0, color=GREY, linewidth=0.8)
    lowest = float(np.min(found.low_all, initial=0.0))
    axes.over_k(ax, f"{' - '.join(found.systems)}, {found.name}")
    ax.set_ylim(bottom=1.08 * lowest, auto=None)  # not from 0: differences fall below
    axes.caption(ax, f"{found.n:,} users; sup-t, critical value {found.critical:.2f}")
    axes.legend(ax, inside="best")
    return ax
