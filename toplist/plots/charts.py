"""Pictures of results: arrays and labels in, matplotlib axes out.

Every function draws on ``ax``, or on a new figure, and returns the axes:
``plots.curves(result).figure.savefig("curves.pdf")``. No number is made here that the arguments do
not hold. matplotlib's global state (pyplot, rcParams) is neither used nor changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from toplist.averages.means import Means
from toplist.plots import axes
from toplist.plots.axes import COLOURS, GREY, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["curves", "exposure", "per_user", "sampled", "segments"]


def curves(
    results: Means | Mapping[str, Means],
    metrics: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw metrics at every k with their confidence bands, of one system or of several.

    Parameters
    ----------
    results : TopKResult or dict of label -> TopKResult
        A colour per system and a dash per metric; of a single system or metric, both change.
    metrics : str or several, optional
        Names without ``@``; default: all of the first result. Metrics that are equal at every k,
        as hit and recall in leave-one-out, are one line.
    level : float
        Of the bands, between 0 and 1.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import toplist as tl
    >>> result = tl.top_k_eval([[1, 2], [3, 1]], [{2}, {3}], k=2, metrics=["hit", "recall", "mrr"])
    >>> ax = tl.plots.curves(result)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['hit = recall', 'mrr']
    """
    systems = axes.named(results)
    first = next(iter(systems.values()))
    names = [metrics] if isinstance(metrics, str) else list(metrics or first.terms.metrics)
    axes.check_curves(names)
    groups = axes.equal(systems, names, level)
    ax = axes.axes(ax)
    for i, (label, result) in enumerate(systems.items()):
        for j, group in enumerate(groups):
            told = [label] if label else []
            told += [" = ".join(group)] if len(groups) > 1 or not label else []
            colour = i if len(systems) > 1 else j
            style = axes.style(colour, j if len(groups) > 1 else colour)
            interval = result.interval(group[0], level)
            axes.line(ax, result[group[0]], interval, style, label=", ".join(told))
    axes.over_k(ax, " = ".join(groups[0]) if len(groups) == 1 else "metric")
    shown = systems.values()
    axes.caption(ax, axes.users_of(shown), axes.rules_of(shown), axes.band(ax, level))
    axes.legend(ax)
    return ax


def per_user(results: Means | Mapping[str, Means], name: str, *, ax: Axes | None = None) -> Axes:
    """Draw how a metric is distributed over users: the share of users above each value.

    The curve starts at the share of users with any hit at all, and the area under it is the mean.

    Parameters
    ----------
    results : TopKResult or dict of label -> TopKResult
        They must hold their hits.
    name : str
        ``"name@k"``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import toplist as tl
    >>> result = tl.top_k_eval([[1, 2], [3, 1]], [{2}, {4}], k=2)
    >>> tl.plots.per_user(result, "mrr@2").get_xlabel()
    'mrr@2 of a user'
    """
    axes.check_value(name)
    ax = axes.axes(ax)
    systems = axes.named(results)
    for i, (label, result) in enumerate(systems.items()):
        values = np.sort(result.per_user(name))
        values = values[~np.isnan(values)]
        steps = np.unique(np.concatenate([[0.0], values]))
        above = np.searchsorted(-values[::-1], -steps, side="left") / max(len(values), 1)
        mean = f"mean {result[name]:.4f}"
        told = f"{label}: {mean}" if label else mean
        ax.step(steps, above, where="post", label=told, linewidth=1.8, **axes.style(i, i))
        if len(systems) == 1:
            ax.fill_between(steps, above, step="post", alpha=0.15, color=COLOURS[0], linewidth=0)
    ax.set_xlabel(f"{name} of a user")
    ax.set_ylabel("share of users above")
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    axes.clean(ax)
    shown = systems.values()
    axes.caption(ax, axes.users_of(shown), axes.rules_of(shown), "area below: mean")
    filled = max(result[name] for result in shown) > ax.get_xlim()[1] / 2
    axes.legend(ax, inside="lower left" if filled else "upper right")
    return ax


def segments(
    results: Mapping[str, Means] | Mapping[str, Mapping[str, Means]],
    name: str,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw one metric by segment of users: a dot per segment, with its confidence interval.

    Parameters
    ----------
    results : dict of segment -> TopKResult, or of system -> such a dict
        What ``result.by(labels)`` returns is one. Segments are drawn from top to bottom, as they
        come, with their numbers of users.
    name : str
        ``"name@k"``.
    level : float
        Of the intervals, between 0 and 1.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import toplist as tl
    >>> new = tl.top_k_eval([[1, 2], [3, 1]], [{2}, {4}], k=2)
    >>> old = tl.top_k_eval([[1, 2], [3, 1], [5]], [{2}, {3}, {5}], k=2)
    >>> ax = tl.plots.segments({"new": new, "old": old}, "mrr@2")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['new\n2 users', 'old\n3 users']
    """
    axes.check_value(name)
    if not isinstance(results, Mapping) or not results:
        raise ValueError("no segment to draw: give a dict of segment -> result")
    nested = all(isinstance(one, Mapping) for one in results.values())
    systems: Mapping[str, Any] = results if nested else {"": results}
    labels: dict[str, set[int]] = {}
    for parts in systems.values():
        for label, result in parts.items():
            labels.setdefault(label, set()).add(result.n_evaluated)
    ax = axes.axes(ax, 5.6, max(3.4, 0.8 + 0.42 * len(labels)))
    for i, (system, parts) in enumerate(systems.items()):
        shift = 0.16 * (i - (len(systems) - 1) / 2)
        places = [list(labels).index(label) + shift for label in parts]
        means = np.array([result[name] for result in parts.values()])
        ends = np.array([result.interval(name, level) for result in parts.values()]).T
        reach = np.nan_to_num(np.abs(ends - means))
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        ax.errorbar(means, places, xerr=reach, fmt=marker, color=colour, capsize=3, label=system)
    told = [
        f"{'no label' if label is None else label}\n{axes.counted(n_users)}"
        for label, n_users in labels.items()
    ]
    ax.set_yticks(range(len(labels)), told)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(f"{name}, mean and {level * 100:g} % interval")
    axes.clean(ax, grid="x")
    every = [result for parts in systems.values() for result in parts.values()]
    axes.caption(ax, axes.rules_of(every))
    if nested:
        axes.legend(ax, inside="best")
    return ax


def exposure(counts: ArrayLike | Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw the Lorenz curve of exposure: what share of all recommendations the items got.

    Items stand from the least to the most recommended; on the diagonal all would be recommended
    equally often. The Gini index is twice the area between the diagonal and the curve: that of
    `toplist.beyond.gini` by its defaults.

    Parameters
    ----------
    counts : (n_items,) numbers, an Exposure, or dict of label -> such
        How often each item of the catalogue was recommended, 0 for never:
        ``beyond.exposure(lists, catalogue=items).counts(10)``, say.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        For counts that are not 0 or more, or all 0.

    Examples
    --------
    >>> import toplist as tl
    >>> ax = tl.plots.exposure({"to all alike": [1, 1, 1, 1], "to one": [4, 0, 0, 0]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['to all alike (Gini 0.000)', 'to one (Gini 0.750)']
    """
    ax = axes.axes(ax, 4.2, 4.0)
    systems = counts if isinstance(counts, Mapping) else {"": counts}
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (2, 2)))
    for i, (label, of_items) in enumerate(systems.items()):
        if hasattr(of_items, "counts"):  # an Exposure, down to its k
            of_items = of_items.counts()
        numbers = np.asarray(of_items, np.float64)
        items, share = axes.lorenz(numbers, label)
        gini = f"Gini {axes.gini(numbers):.3f}"
        told = f"{label} ({gini})" if label else gini
        # much of a curve may lie on the frame, which would hide half of the line
        (line,) = ax.plot(items, share, label=told, linewidth=1.8, **axes.style(i, i))
        line.set(clip_on=False, zorder=3)
    ax.set_xlabel("share of items, least recommended first")
    ax.set_ylabel("share of recommendations")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    axes.clean(ax)
    axes.legend(ax, inside="upper left")
    return ax


def sampled(
    full: Means | Mapping[str, Means],
    sampled: Means | Mapping[str, Means],
    metric: str,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw one metric over k as ranked among all items, and among a sample of candidates.

    Parameters
    ----------
    full, sampled : TopKResult or dict of label -> TopKResult
        The same systems, ranked among all items and among sampled ones. A colour per system;
        the full ranking is solid, the sampled one dashed.
    metric : str
        Without ``@``.
    level : float
        Of the bands, between 0 and 1.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import toplist as tl
    >>> full, few = tl.Hits.from_ranks([3, 2, 0], 5), tl.Hits.from_ranks([1, 1, 3], 5)
    >>> results = [tl.top_k_eval(hits, k=5, metrics=["hit"]) for hits in (full, few)]
    >>> [text.get_text() for text in tl.plots.sampled(*results, "hit").get_legend().get_texts()]
    ['sampled', 'all items']
    """
    axes.check_curves([metric])
    ax = axes.axes(ax)
    for dash, (words, results) in enumerate((("all items", full), ("sampled", sampled))):
        for i, (label, result) in enumerate(axes.named(results).items()):
            told = f"{label}, {words}" if label else words
            interval = result.interval(metric, level)
            axes.line(ax, result[metric], interval, axes.style(i, dash), label=told)
    axes.over_k(ax, metric)
    shown = (*axes.named(full).values(), *axes.named(sampled).values())
    axes.caption(ax, axes.users_of(shown), axes.rules_of(shown), axes.band(ax, level))
    axes.legend(ax)
    return ax
