"""Pictures of results, drawn with matplotlib: curves over k, users, segments, exposure, samples.

Every function takes arrays or results with their labels, draws on ``ax=`` or on a new figure, which
a notebook shows, and returns the matplotlib axes: ``plots.curves(result).figure.savefig("a.pdf")``.
Pictures of results say who was counted and by which rules. Background, texts and fonts are those of
the style, as of ``plt.style.use("dark_background")``; the colours of lines are our own. A new
figure grows until names and legends fit. pyplot and rcParams are not changed. They need the extra
``toplist[plot]``.

- ``result.plot("ndcg")`` and ``compared.plot("ndcg")``, or `curves`: curves over k, with bands
- `per_user`: how a metric is spread over users
- `precision_recall`: interpolated precision over recall, the eleven points of TREC
- `segments`: of ``result.by(labels)`` and ``result.by_item(labels)``, which draw themselves:
  ``.plot("ndcg@10")``
- `exposure`: Lorenz curve and Gini of ``beyond.exposure(lists, catalogue=items).counts(k)``
- `sampled`: sampled candidates beside the full ranking
- `critical_difference`: mean ranks over data sets, of ``tl.across(...).plot()``
- ``compared.test(...).plot()`` and ``compared.band("ndcg").plot()``: forests and bands of
  differences
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import worded
from toplist.metrics.beyond_accuracy import gini_index
from toplist.metrics.names import AnyName, Name
from toplist.metrics.properties import equal_names
from toplist.plots import axes
from toplist.plots.axes import COLOURS, GREY, MARKERS, Axes, Result
from toplist.plots.differences import critical_difference

__all__ = [
    "critical_difference",
    "curves",
    "exposure",
    "per_user",
    "precision_recall",
    "sampled",
    "segments",
]

Results = Mapping[str, Result]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def curves(
    results: Result | Results,
    metrics: Name | str | Sequence[Name | str] | None = None,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw metrics at every k with their confidence bands, of one system or of several.

    Parameters
    ----------
    results : TopKResult or dict of label -> TopKResult
        Of several systems each metric has a chart of its own, in which they have the same colours
        and dashes; of one system all metrics are in one.
    metrics : str or several, optional
        Names without ``@``; default: all of the first result. Metrics that are equal by
        definition, such as hit and recall in leave-one-out, share a line.
    level : float
        Of the bands, between 0 and 1.
    ax : matplotlib Axes, optional
        For one metric, or one system.

    Returns
    -------
    matplotlib Axes
        Of several charts the first: ``.figure.axes`` are all.

    Examples
    --------
    >>> import toplist as tl
    >>> result = tl.top_k_eval([[1, 2], [3, 1]], [{2}, {3}], k=2, metrics=["hit", "recall", "mrr"])
    >>> ax = tl.plots.curves(result)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['hit', 'recall', 'mrr']
    """
    systems = axes.named(results)
    first, every = next(iter(systems.values())), systems.values()
    with_k = (name for name, one in first.terms.metrics.items() if one.cut != "n")
    names = [metrics] if isinstance(metrics, str) else list(metrics or with_k)
    axes.check_curves(names, first)
    groups = equal_names(list(every), names, True)
    drawn = [group[0] for group in groups]
    several = len(systems) > 1 and len(groups) > 1
    if several and ax is not None:
        raise ValueError(f"ax= is for one metric of several systems: {drawn[0]!r}")
    places = axes.facets(len(groups), 2.8) if several else [axes.axes(ax)] * len(groups)
    for j, (place, group) in enumerate(zip(places, groups, strict=True)):
        for i, (label, result) in enumerate(systems.items()):
            look, text = i if len(systems) > 1 else j, label or " = ".join(group)
            axes.line(place, result, group[0], level, axes.style(look, look), label=text)
        depth = max(len(result[group[0]]) for result in every)
        single = several or len(groups) == 1
        axes.over_k(place, " = ".join(group) if single else "metric", depth)
    first, band = places[0], axes.interval_of(places[0], level, every, drawn)
    if not several:
        return axes.finished(first, every, drawn, *band, by_end=True)
    axes.headline(places, axes.users_of(every, drawn), axes.rules_of(every), *band)
    axes.legend(places[min(3, len(places)) - 1])  # to the right of all in the first row
    return axes.fitted(first)


def over_systems(
    name: str,
    means: Mapping[str, float],
    ends: Sequence[tuple[float, float]],
    results: Collection[Result],
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw a mean with its interval over systems: steps of numbers, rising, or the best first.

    Parameters
    ----------
    name : str
        ``"name@k"``.
    means : dict of system -> float
    ends : sequence of (float, float)
        Of the interval of each system; empty without intervals.
    results : collection of TopKResult
        Who was counted, and by which rules.
    level : float
        Of the intervals, for the caption.
    ax : matplotlib Axes, optional
    """
    steps = _numbers(list(means))
    low, high = np.array(ends).T if ends else np.full((2, len(means)), np.nan)
    what = ["no interval"]
    if np.isfinite(low).any():
        what = [f"{level * 100:g} % interval of each", *axes.rough_of(results, [name])]
    if steps:
        ax = axes.axes(ax)
        places, y = np.array(steps), np.array([*means.values()])
        reach = np.nan_to_num(np.abs(np.array([low, high]) - y))
        ax.errorbar(places, y, reach, fmt="none", ecolor=COLOURS[0], elinewidth=1, alpha=0.6)
        order = np.argsort(places, kind="stable")
        ax.plot(places[order], y[order], "-o", color=COLOURS[0], linewidth=1.4, markersize=4)
        axes.name_axes(ax, y=name)
        axes.clean(ax)
    else:
        ax = axes.axes(ax, axes.INCHES[0], 1.1 + 0.3 * len(means))
        better = next(iter(results)).terms.find(name)[0].higher_is_better
        sign = 1 if better is False else -1
        rows = zip(means.items(), low.tolist(), high.tolist(), strict=True)
        ordered = sorted(rows, key=lambda row: sign * np.nan_to_num(row[0][1]))
        axes.dots(ax, [(s, mean, a, b, COLOURS[0], False) for (s, mean), a, b in ordered])
        axes.name_axes(ax, name)
    return axes.finished(ax, results, [name], *what, high=0.3 * len(means) * (not steps))


def _numbers(names: Sequence[str]) -> list[float]:
    """Return names as numbers; none unless all of them are, and differ.

    Examples
    --------
    >>> _numbers(["1000", "2e3"]), _numbers(["1", "a"]), _numbers(["1", "1.0"]), _numbers(["nan"])
    ([1000.0, 2000.0], [], [], [])
    """
    try:
        found = [float(name) for name in names]
    except ValueError:
        return []
    return found if np.isfinite(found).all() and len({*found}) == len(found) else []


def per_user(results: Result | Results, name: AnyName, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of a metric over users: the share of users above each value.

    The curve starts at the share of users above 0; the area under it is the mean.

    Parameters
    ----------
    results : TopKResult or dict of label -> TopKResult
        They must hold their hits (of files: those read with ``keep="users"``).
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
        text = f"{label}: {mean}" if label else mean
        look = {"label": axes.labelled(text), **axes.style(i, i)}
        ax.step(steps, above, where="post", linewidth=1.8, **look)
        if len(systems) == 1:
            ax.fill_between(steps, above, step="post", alpha=0.15, color=COLOURS[0], linewidth=0)
    whose, share = (worded(text, result.terms.unit) for text in ("of a user", "share of users"))
    axes.name_axes(ax, f"{name} {whose}", f"{share} above")
    ax.set(xlim=(0, None), ylim=(0, None))
    axes.clean(ax)
    return axes.finished(ax, systems.values(), [name], "area below: mean")


def precision_recall(
    results: Result | Results, k: int | None = None, *, level: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw interpolated precision over recall, with bands: the eleven points of TREC, or others.

    Parameters
    ----------
    results : TopKResult or dict of label -> TopKResult
        Each with two or more metrics ``"iprec(recall=0.1)"``: their recalls are the points.
    k : int, optional
        Down to which rank the lists are read; default the largest k of the results.
    level : float
        Of the bands, between 0 and 1.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        For a result without such metrics.

    Examples
    --------
    >>> import toplist as tl
    >>> points = [f"iprec(recall={tenth / 10})" for tenth in range(11)]
    >>> result = tl.top_k_eval([[1, 2, 3], [4, 5]], [{1, 3}, {5}], metrics=points)
    >>> tl.plots.precision_recall(result).get_xlabel()
    'recall'
    """
    systems, ax = axes.named(results), axes.axes(ax)
    for i, (label, result) in enumerate(systems.items()):
        asked = {
            name: getattr(m.earning and m.earning.function, "recall", None)
            for name, m in result.terms.metrics.items()
        }
        points = sorted((recall, name) for name, recall in asked.items() if recall is not None)
        if len(points) < 2:
            raise ValueError(
                "precision_recall draws two or more metrics 'iprec(recall=...)', and "
                f"{label or 'the result'} has {len(points)}: give "
                "metrics=[f'iprec(recall={tenth / 10})' for tenth in range(11)]"
            )
        named = [(recall, f"{name}@{k or result.terms.depth}") for recall, name in points]
        rows = [(recall, result[name], *result.interval(name, level)) for recall, name in named]
        look = {"label": axes.labelled(label), **axes.style(i, i)}
        axes.banded(ax, *np.array(rows).T, marker="o", markersize=3, **look)
    ax.set(xlabel="recall", ylabel="interpolated precision", ylim=(0, None))
    axes.clean(ax)
    names = [name for _, name in named]
    every = systems.values()
    return axes.finished(ax, every, names, *axes.interval_of(ax, level, every, names))


def segments(
    results: Results | Mapping[str, Results],
    name: AnyName,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw one metric by segment of users, or slice of items: a point with its interval for each.

    Parameters
    ----------
    results : dict of segment -> TopKResult, or of system -> such a dict
        ``result.by(labels)`` and ``result.by_item(labels)`` return such a dict. Segments are drawn
        from top to bottom in their order, with their numbers of users.
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
        raise ValueError("there is no segment to draw: give a dict of segment -> result")
    nested = all(isinstance(one, Mapping) for one in results.values())
    systems: Mapping[str, Any] = results if nested else {"": results}
    labels: dict[str, set[int]] = {}  # the numbers of users of every segment
    for parts in systems.values():
        for label, result in parts.items():
            labels.setdefault(label, set()).add(result.n_of(name))
    step = min(0.16, 0.8 / len(systems))  # the rows of a segment stay apart from those of the next
    room = max(0.42, 0.17 * len(systems))
    ax = axes.axes(ax, 5.6, max(3.4, 0.8 + room * len(labels)))
    for i, (system, parts) in enumerate(systems.items()):
        shift = step * (i - (len(systems) - 1) / 2)
        places = [list(labels).index(label) + shift for label in parts]
        means = np.array([result[name] for result in parts.values()])
        ends = np.array([result.interval(name, level) for result in parts.values()]).T
        reach = np.nan_to_num(np.abs(ends - means))
        look: dict[str, Any] = {"color": axes.colour(i), "label": axes.labelled(system)}
        marker = MARKERS[i % len(MARKERS)]
        ax.errorbar(means, places, xerr=reach, fmt=marker, capsize=3, **look)
    texts = ["no label" if label is None else str(label) for label in labels]
    names = [
        f"{label}\n{axes.counted(n_users, result.terms.unit)}"
        for label, n_users in zip(axes.brief(texts, axes.OF_NAME), labels.values(), strict=True)
    ]
    ax.set_yticks(range(len(labels)), names, parse_math=False)
    ax.set(xlim=(0, None), ylim=(len(labels) - 0.5, -0.5))
    ax.locator_params(axis="x", nbins=6)
    axes.name_axes(ax, f"{name}, mean and {level * 100:g} % interval")
    axes.clean(ax, grid="x")
    every = [result for parts in systems.values() for result in parts.values()]
    return axes.finished(ax, every, (), *axes.rough_of(every, [name]))


def exposure(counts: ArrayLike | Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw the Lorenz curve of exposure: the share of all recommendations that items received.

    Items are sorted from the least to the most recommended; on the diagonal, all are recommended
    equally often. The Gini index is twice the area between the diagonal and the curve, as
    the metric ``"gini"`` is.

    Parameters
    ----------
    counts : (n_items,) numbers, an Exposure, or dict of label -> such
        How often each item of the catalogue was recommended, 0 for never, for example
        ``beyond.exposure(lists, catalogue=items).counts(10)``.
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
    >>> ax = tl.plots.exposure({"equal": [1, 1, 1, 1], "one item": [4, 0, 0, 0]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['equal (Gini 0.000)', 'one item (Gini 0.750)']
    """
    systems = counts if isinstance(counts, Mapping) else {"": counts}
    ax = axes.axes(ax, 6.0, 4.0)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (2, 2)))
    for i, (label, of_items) in enumerate(systems.items()):
        if hasattr(of_items, "counts"):  # an Exposure: at its largest k
            of_items = of_items.counts()
        numbers = np.asarray(of_items, np.float64)
        valid = np.all((numbers >= 0) & (numbers < np.inf)) and numbers.any()
        if numbers.ndim != 1 or not valid:
            of = f" of {label!r}" if label else ""
            raise ValueError(f"counts{of}: one number per item is needed, 0 or more, and not all 0")
        total = np.concatenate([[0.0], np.cumsum(np.sort(numbers))])
        items, share = np.arange(len(total)) / len(numbers), total / total[-1]
        gini = f"Gini {gini_index(numbers):.3f}"
        text = f"{label} ({gini})" if label else gini
        # much of a curve may lie on the frame, which would hide half of the line
        look = {"label": axes.labelled(text), **axes.style(i, i)}
        (line,) = ax.plot(items, share, linewidth=1.8, **look)
        line.set(clip_on=False, zorder=3)
    ax.set(xlabel="share of items, least recommended first", ylabel="share of recommendations")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    axes.clean(ax)
    axes.legend(ax)
    return axes.fitted(ax)


def sampled(
    full: Result | Results,
    sampled: Result | Results,
    metric: Name | str,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw one metric over k, ranked among all items and ranked among sampled candidates.

    Parameters
    ----------
    full, sampled : TopKResult or dict of label -> TopKResult
        The same systems, ranked among all items and among sampled ones. Each system has a
        colour; lines are solid for all items and dashed for the sample.
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
    both = {"all items": axes.named(full), "sampled": axes.named(sampled)}
    axes.check_curves([metric], next(iter(both["all items"].values())))
    ax = axes.axes(ax)
    for dash, (words, results) in enumerate(both.items()):
        for i, (label, result) in enumerate(results.items()):
            text = f"{label}, {words}" if label else words
            axes.line(ax, result, metric, level, axes.style(i, dash), label=text)
    drawn = [one for results in both.values() for one in results.values()]
    axes.over_k(ax, metric, max(len(one[metric]) for one in drawn))
    band = axes.interval_of(ax, level, drawn, [metric])
    return axes.finished(ax, drawn, [metric], *band, by_end=True)
