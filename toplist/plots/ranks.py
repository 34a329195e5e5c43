"""Critical-difference diagrams: systems by their mean ranks over data sets (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toplist.plots import axes
from toplist.plots.axes import COLOURS, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches for a line of names, for a bar that joins systems, and for what is around them.
LINE, BAR, AROUND = 0.26, 0.11, 0.95


def groups(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """Return the first and the last place of what does not differ, of ranks that rise.

    Examples
    --------
    >>> groups([1.0, 1.5, 2.5, 4.0], 1.2)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank <= critical)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def critical_difference(
    ranks: Mapping[str, float],
    critical: float,
    *,
    n_datasets: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean ranks on a line, the best at the left; bars join systems that do not differ.

    Parameters
    ----------
    ranks : dict of system -> mean rank
    critical : float
        Ranks that are no further apart do not differ: Nemenyi's critical difference.
    n_datasets : int, optional
        For the caption.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        For fewer than two systems.

    Examples
    --------
    >>> import toplist as tl
    >>> ax = tl.plots.critical_difference({"knn": 2.6, "ease": 1.2, "als": 2.2}, 1.1)
    >>> [text.get_text() for text in ax.texts]
    ['1', '2', '3', 'critical difference 1.10', 'ease  1.20', 'als  2.20', '2.60  knn']
    """
    if len(ranks) < 2:
        raise ValueError(f"two systems are needed, and there are {len(ranks)}")
    systems = sorted(ranks, key=lambda system: ranks[system])
    values = [ranks[system] for system in systems]
    bars, n = groups(values, critical), len(systems)
    half = (n + 1) // 2
    below = 0.12 + BAR * len(bars)
    labels = axes.brief(systems, axes.OF_NAME)
    names = 0.075 * max(map(len, labels)) + 0.5  # inches beside the line
    ax = axes.axes(ax, 4.2 + 2 * names, AROUND + below + LINE * half)
    ink = axes.colour(axes.BLACK_AT)
    ax.hlines(0, 1, n, color=ink, linewidth=1)
    ticks = range(1, n + 1, 1 if n <= 12 else 2)
    ax.vlines(ticks, 0, 0.07, color=ink, linewidth=1)
    for tick in ticks:
        ax.annotate(f"{tick}", (tick, 0.1), ha="center", va="bottom", fontsize="small")
    ax.plot([1, 1 + critical], [0.52, 0.52], color=GREY, linewidth=2, solid_capstyle="butt")
    words = f"critical difference {critical:.2f}"
    ax.text(1, 0.57, words, ha="left", va="bottom", fontsize="small")
    for level, (first, last) in enumerate(bars):
        ends = [values[first] - 0.01 * n, values[last] + 0.01 * n]
        y = -0.1 - BAR * level
        ax.plot(ends, [y, y], color=COLOURS[1], linewidth=3, solid_capstyle="butt")
    for place, (name, rank) in enumerate(zip(labels, values, strict=True)):
        left = place < half
        row = place if left else n - 1 - place
        y, end = -below - LINE * (row + 0.5), 1 - 0.02 * n if left else n + 0.02 * n
        ax.plot([rank, rank, end], [0, y, y], color=COLOURS[0], linewidth=0.9)
        side = "right" if left else "left"
        label = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        ax.text(end + (-1 if left else 1) * 0.01 * n, y, label, ha=side, va="center")
    ax.set(xlim=(1 - 0.03 * n, max(n, 1 + critical) + 0.03 * n), ylim=(-below - LINE * half, 0.8))
    ax.set_axis_off()
    over = [] if n_datasets is None else [f"{n_datasets} data sets"]
    axes.caption(ax, "mean ranks, 1 is the best", *over, "bars join what does not differ")
    return axes.fitted(ax)
