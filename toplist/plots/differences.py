"""The charts of differences of systems: forests, bands over k, movers, mean ranks (Demšar 2006).

They take what `toplist.comparing` returns by its attributes, and know nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from toplist.plots import axes
from toplist.plots.axes import COLOURS, GREY, Axes

# Inches for each line of a forest, and for what is around it.
LINE, AROUND = 0.28, 1.1
OF_SYSTEM = 14  # letters of a system in the name of a difference
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

    Each metric has a chart of its own, since their differences are of other sizes; what is not
    shown to differ, or to be within the margin, is hollow.

    Parameters
    ----------
    contrasts : sequence of Contrast
    level : float
        Of the intervals, for the label of the axis.
    margin : float, optional
    told : sequence of str
        How, over whom and by which rules, for the caption.
    ax : matplotlib Axes, optional
        For one metric.
    """
    if not contrasts:
        raise ValueError("no comparison to draw")
    metrics = list(dict.fromkeys(one.name.partition("@")[0] for one in contrasts))
    if len(metrics) > 1 and ax is not None:
        raise ValueError(f"ax= is for one metric: .test({contrasts[0].name!r}).plot(ax=ax)")
    pairs = list(dict.fromkeys((one.system, one.baseline) for one in contrasts))
    names = list(dict.fromkeys(one.name for one in contrasts))
    called = dict(zip(pairs, _called(pairs), strict=True))
    facets: dict[str, list[tuple[str, float, float, float, str, bool]]] = {}
    for one in contrasts:
        metric, _, k = one.name.partition("@")
        pair = one.system, one.baseline
        parts = [called[pair]] * (len(pairs) > 1 or len(names) == 1)
        parts += [f"@{k}" if k else metric] * (len(names) > 1)
        parts += [f"({one.segment})"] * (one.segment is not None)
        shown = one.p_adjusted < 1 - level if margin is not None else bool(one.mark)
        colour = axes.colour(pairs.index(pair))
        row = " ".join(parts), one.difference, one.low, one.high, colour, not shown
        facets.setdefault(metric, []).append(row)
    high = LINE * max(map(len, facets.values()))
    places = axes.facets(len(metrics), AROUND + high) if ax is None else [ax]
    for place, (metric, rows) in zip(places, facets.items(), strict=True):
        if margin is not None:
            place.axvspan(-margin, margin, color=GREY, alpha=0.15, linewidth=0)
        place.axvline(0, color=GREY, linewidth=0.8)
        axes.dots(place, rows)
        axes.name_axes(place, names[0] if len(names) == 1 else metric)
    share = 100 * (2 * level - 1 if margin is not None else level)
    whose = f"{called[pairs[0]]}, " if len(pairs) == 1 else ""
    what = "not shown to be within" if margin is not None else "not shown"
    how = f"{whose}difference and {share:.4g} % interval; hollow: {what}"
    first = places[0]
    if len(metrics) == 1:
        axes.name_axes(first, axes.lines(f"{first.get_xlabel()}: {how}", 60))
        axes.caption(first, *told)
    else:
        axes.headline(places, *told, how)
    return axes.fitted(first, high)


def _called(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return what differences are called, in few letters."""
    systems = list(dict.fromkeys(one for pair in pairs for one in pair))
    short = dict(zip(systems, axes.brief(systems, OF_SYSTEM), strict=True))
    return [f"{short[system]} - {short[baseline]}" for system, baseline in pairs]


def band(found: Any, *, told: Sequence[str] = (), ax: Axes | None = None) -> Axes:
    """Draw a difference over k, its interval at each k and the one for all k, and zero.

    `told` is more for the caption.
    """
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
    axes.name_axes(ax, y=axes.lines(f"{_called([found.systems])[0]}, {found.name}@k", 36))
    ax.set_ylim(bottom=1.08 * lowest, auto=None)  # not from 0: differences fall below
    how = f"sup-t, critical value {found.critical:.2f}"
    axes.caption(ax, f"{found.n:,} {found.unit}", how, *told)
    axes.legend(ax)
    return axes.fitted(ax)


def movers(found: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw the differences of users, sorted; on new axes, beside them both values.

    Parameters
    ----------
    found : sequence of Movers
        Of several systems less one baseline: a small chart for each, without the values.
    ax : matplotlib Axes, optional
    """
    several, is_new = len(found) > 1, ax is None
    if several and not is_new:
        raise ValueError("ax= is for one pair: comparison.movers(name, system).plot(ax=ax)")
    places = axes.facets(len(found), 2.9) if several else [axes.axes(ax, 8.4, 3.7, grid=(1, 2))]
    widest = max(max(np.abs(one.differences), default=0) for one in found)
    for place, one in zip(places, found, strict=True):
        d = one.differences
        edges = np.unique(np.linspace(0, len(d), DRAWN + 1).astype(np.int64))
        steps = d[edges[:-1]]  # every user, or of many as many as can be seen
        parts = np.minimum(steps, 0), np.maximum(steps, 0)
        lower = 1 if one.higher_is_better is False else 0
        for i, part in enumerate(parts):
            place.stairs(part, edges, fill=True, color=SIDES[i ^ lower])
        place.axhline(0, color=GREY, linewidth=0.8)
        of_users = f"{one.unit}, from the worst to the best"
        axes.name_axes(place, of_users, _called([one.systems])[0])
        place.margins(x=0)
        if several and widest:
            place.set_ylim(-1.05 * widest, 1.05 * widest)
        axes.clean(place, grid="y")
        told = ", ".join(f"{n:,} {word}" for word, n in one.counts.items())
        axes.caption(place, one.name, told)
    if is_new and not several:
        _both(places[0].figure.axes[1], found[0])
    return axes.fitted(places[0])


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
    y_of, x_of = axes.brief(one.systems, axes.OF_NAME)
    axes.name_axes(ax, x_of, y_of)
    ax.set_aspect("equal")
    axes.clean(ax)
    axes.caption(ax, f"{one.name} of each; area: {one.unit}")


# Mean ranks over data sets


# Inches for a line of names, for a bar that joins systems, and for what is around them.
OF_RANK, BAR, AROUND_RANKS = 0.26, 0.11, 0.95


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
    ax = axes.axes(ax, 4.2 + 2 * names, AROUND_RANKS + below + OF_RANK * half)
    ink = ax.title.get_color()  # that of texts in every style
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
        y, end = -below - OF_RANK * (row + 0.5), 1 - 0.02 * n if left else n + 0.02 * n
        ax.plot([rank, rank, end], [0, y, y], color=COLOURS[0], linewidth=0.9)
        side = "right" if left else "left"
        label = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        ax.text(
            end + (-1 if left else 1) * 0.01 * n, y, label, ha=side, va="center", parse_math=False
        )
    ax.set_xlim(1 - 0.03 * n, max(n, 1 + critical) + 0.03 * n)
    ax.set_ylim(-below - OF_RANK * half, 0.8)
    ax.set_axis_off()
    over = [] if n_datasets is None else [f"{n_datasets} data sets"]
    axes.caption(ax, "mean ranks, 1 is the best", *over, "bars join what is not shown to differ")
    return axes.fitted(ax)
