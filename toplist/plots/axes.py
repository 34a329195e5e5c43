"""What all charts share: figures, lines with bands, axes, legends, captions."""

import io
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.checks import USERS, optional, worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:  # matplotlib is imported by what draws
    Axes = Any

# A `toplist.TopKResult`, read by its attributes: results are made above, and draw themselves here.
Result = Any
# Okabe and Ito 2008: distinct for all common kinds of colour vision; without yellow, too pale for
# a line, and black, which may be the background. The last two are of Tol 2021. Their number has no
# factor in common with those of dashes and markers, so that a colour comes back with others.
COLOURS = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933"
DASHES: tuple[Any, ...] = (
    *("-", "--", ":", "-."),
    *((0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (8, 3)), (0, (3, 1, 1, 1))),
)
MARKERS = "osD^v"
GREY = "#666666"
INCHES = (5.6, 3.4)
RIGHT: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
# Entries of a legend that fit beside the chart.
LEGEND_LONGEST = 12
# Letters of a line of words, and of a name beside a chart.
LETTERS, OF_NAME = 48, 36


def need_matplotlib() -> None:
    """Raise ImportError where matplotlib cannot be imported, with what to do."""
    optional("matplotlib", "plots need matplotlib", "plot")


def axes(ax: "Axes | None", *inches: float, grid: tuple[int, int] = (1, 1)) -> "Axes":
    """Return the axes given, or those of a new figure, the first of a grid of rows and columns.

    The figure is not registered with pyplot.
    """
    if ax is not None:
        return ax
    need_matplotlib()
    from matplotlib.figure import Figure

    width, height = inches or INCHES
    drawn = Figure(figsize=(width, height), layout="constrained")

    def png() -> bytes:
        out = io.BytesIO()
        drawn.savefig(out, format="png", dpi=110)
        return out.getvalue()

    new: Axes = drawn.subplots(*grid, squeeze=False)[0, 0]
    # a notebook shows only figures of pyplot by itself; other objects must return a picture
    new._repr_png_ = png  # type: ignore[attr-defined]
    return new


def facets(n: int, high: float) -> "list[Axes]":
    """Return so many axes of a new figure, at most three beside each other, each so high."""
    across = min(3, n)
    down = -(-n // across)
    places: list[Axes] = axes(None, 3.2 * across + 2, high * down, grid=(down, across)).figure.axes
    for one in places[n:]:
        one.remove()
    return places[:n]


def headline(places: "Sequence[Axes]", *parts: str) -> None:
    """Write a line above several charts."""
    drawn: Any = places[0].figure
    words = lines("; ".join(parts), 40 * min(3, len(places)))
    drawn.suptitle(words, fontsize="small", parse_math=False)


def fitted(ax: "Axes", high: float = 0.0) -> "Axes":
    """Return axes; a figure that `axes` made grows until they keep their size beside all words.

    That is three fifths of it, and at least `high` inches.
    """
    if not hasattr(ax, "_repr_png_"):
        return ax
    drawn: Any = ax.figure
    least = 0.6 * drawn.get_size_inches() / ax.get_gridspec().get_geometry()[::-1]  # type: ignore[union-attr]
    least[1] = max(least[1], high)
    beside = ax.get_legend()
    for _ in range(6):  # what has more room may be laid out in another way
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # there is no room yet
            drawn.draw_without_rendering()
        words, size = drawn.get_tightbbox(), drawn.get_size_inches()
        outside = np.maximum(0, -words.min) + np.maximum(0, words.max - size)
        if beside:  # one that is higher than the axes would make them smaller and smaller
            least[1] = max(least[1], beside.get_window_extent().height / drawn.dpi)
        lacking = np.maximum(outside, least - ax.get_window_extent().size / drawn.dpi)
        if max(lacking) < 0.02:
            break
        drawn.set_size_inches(size + lacking.clip(0))
    return ax


def lines(words: str, letters: int = LETTERS) -> str:
    r"""Return a label in lines; one that would have more than five is cut, and says so.

    Examples
    --------
    >>> lines("popularity of last month", 12)
    'popularity\nof last\nmonth'
    """
    return "\n".join(wrap(words, letters, max_lines=5, placeholder="…"))


def brief(names: Sequence[str], most: int) -> list[str]:
    """Return names of at most so many letters, that differ where the names do.

    Long ones lose the words that all begin with, then their middles.

    Examples
    --------
    >>> brief(["ease", "knn"], 14)
    ['ease', 'knn']
    >>> brief(["two-tower-v3-base", "two-tower-v3-with-history"], 14)
    ['…base', '…with-history']
    """
    if max(map(len, names), default=0) <= most:
        return list(names)
    pairs = zip(min(names), max(names), strict=False)
    common = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(common.rfind(one) for one in "-_ ./:") + 1 if len(names) > 1 else 0
    rest = ["…" + name[start:] for name in names] if start > 3 else list(names)

    def cut(name: str, letters: int) -> str:
        head = letters // 2
        tail = name[len(name) - (letters - 1 - head) :]
        return name if len(name) <= letters else f"{name[:head]}…{tail}"

    short = [cut(name, most) for name in rest]
    return [
        one if short.count(one) == 1 else f"{i} {cut(name, most - len(str(i)) - 1)}"
        for i, (name, one) in enumerate(zip(rest, short, strict=True), start=1)
    ]


def colour(place: int) -> str:
    """Return the colour of a system; after the last, the first is used again."""
    return COLOURS[place % len(COLOURS)]


def named(results: "Result | Mapping[str, Result]") -> "Mapping[str, Result]":
    """Return the results by label; the label of a single result is empty."""
    if not isinstance(results, Mapping):
        if not hasattr(results, "terms"):
            kind = type(results).__name__
            raise TypeError(f"give a result, or a dict of label -> result, not {kind}")
        return {"": results}
    if not results:
        raise ValueError("there is no result to draw: give one, or a dict of label -> result")
    return results


def check_curves(metrics: Sequence[str], result: "Result") -> None:
    """Raise ValueError for a metric with a k: a curve is drawn over every k; or of whole lists."""
    for metric in metrics:
        base, at, _ = metric.partition("@")
        known = result.terms.metrics.get(base)
        if known is not None and known.cut == "n":
            raise ValueError(f"{base!r} is of the whole list: it has no k, and no curve over k")
        if at:
            raise ValueError(f"{metric!r}: a curve is drawn over every k; give {base!r}")


def check_value(name: str) -> None:
    """Raise ValueError for a metric without a k where one number is drawn."""
    if "@" not in name:
        raise ValueError(f"{name!r}: it is drawn at one k; give for example '{name}@10'")


def style(place: int, dash: int) -> dict[str, Any]:
    """Return colour and dash of a line; after the last of each, the first is used again."""
    return {"color": colour(place), "linestyle": DASHES[dash % len(DASHES)]}


def line(
    ax: "Axes", result: Result, name: Any, level: float, style: dict[str, Any], label: str
) -> None:
    """Draw a metric over k = 1..K and its band, if there is one.

    The line ends with a point where it ends before K.
    """
    values = result[name], *result.interval(name, level)
    end = end_of(result, len(values[0]))
    stops = "o" * (end < len(values[0]) or end == 1)
    look = {"label": labelled(label), "marker": stops, "markevery": [-1], **style}
    banded(ax, np.arange(1, end + 1), *(some[:end] for some in values), **look)


def end_of(result: Result, depth: int) -> int:
    """Return the k at which a curve ends: past the longest list nothing is new."""
    return max(1, min(depth, result.longest or depth))


def banded(ax: "Axes", x: Any, mean: Any, low: Any, high: Any, **look: Any) -> None:
    """Draw a line with a band; none where no end is known."""
    ax.plot(x, mean, linewidth=1.8, **look)
    if np.isnan([low, high]).all():
        return  # one user, or a metric of all lists together, has none
    low, high = (np.where(np.isnan(end), mean, end) for end in (low, high))
    ax.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)


def dots(ax: "Axes", rows: Sequence[tuple[str, float, float, float, str, bool]]) -> None:
    """Draw a row for each number: its name, the number, low, high, its colour, whether hollow."""
    for place, (_, at, low, high, colour, hollow) in enumerate(rows):
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [place, place], color=colour, linewidth=1.6)
        inside = ax.get_facecolor() if hollow else colour
        look: dict[str, Any] = {"markersize": 6, "markerfacecolor": inside, "markeredgewidth": 1.4}
        ax.plot([at], [place], marker="o", color=colour, linestyle="", **look)
    ax.set_yticks(range(len(rows)), brief([row[0] for row in rows], OF_NAME), parse_math=False)
    ax.set_ylim(len(rows) - 0.3, -0.7)
    ax.locator_params(axis="x", nbins=5)
    clean(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def over_k(ax: "Axes", name: str, depth: int = 1) -> None:
    """Set ticks, limits and labels of curves over k, which may end before `depth`."""
    from matplotlib.ticker import MaxNLocator

    last = max(depth, *(int(np.max(one.get_xdata())) for one in ax.lines))
    ax.set_xlim(1 if last > 1 else 0, max(last, 2))
    ticks = MaxNLocator(nbins=7, steps=[1, 2.5, 5, 10], integer=True).tick_values(0, last)
    ax.set_xticks(sorted({1, *(int(tick) for tick in ticks if 1 <= tick <= last)}))  # from 1, not 0
    name_axes(ax, "k", f"{name}@k")
    ax.set_ylim(0, None)
    clean(ax)


def clean(ax: "Axes", grid: str = "both") -> None:
    """Remove the upper and right spines, and draw a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=GREY, alpha=0.2, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def name_axes(ax: "Axes", x: str = "", y: str = "") -> None:
    """Write what the axes are; a dollar in it is one, no math."""
    if x:
        ax.set_xlabel(x, parse_math=False)
    if y:
        ax.set_ylabel(y, parse_math=False)


def labelled(name: Any) -> str:
    """Return the label of what is drawn: matplotlib keeps those from legends that begin with _."""
    return f" {name}" if str(name).startswith("_") else str(name)


def legend(ax: "Axes", by_end: bool = False) -> None:
    """Add a legend beside the chart, of very many the first; or sorted by how the lines end."""
    handles, labels = ax.get_legend_handles_labels()
    pairs = list(zip(handles, brief(labels, OF_NAME), strict=True))
    if by_end:
        ends = {id(handle): float(handle.get_ydata()[-1]) for handle in handles}  # type: ignore[attr-defined]
        pairs.sort(key=lambda pair: -np.nan_to_num(ends[id(pair[0])]))
    title = f"{LEGEND_LONGEST} {'highest of' if by_end else 'of'} {len(pairs)}"
    title *= len(pairs) > LEGEND_LONGEST
    if not pairs:
        return
    shown = zip(*pairs[:LEGEND_LONGEST], strict=True)
    for text in ax.legend(*shown, title=title, frameon=False, **RIGHT).get_texts():
        text.set(text=text.get_text().removeprefix(" "), parse_math=False)


def caption(ax: "Axes", *parts: str) -> None:
    """Write a line above the chart, or remove it; a long one is in several, as wide as it is."""
    letters = int(17 * ax.get_window_extent().width / ax.figure.dpi)  # about 17 in an inch
    words = lines("; ".join(parts), max(letters, 24))
    ax.set_title(words, loc="left", fontsize="small", parse_math=False)


def finished(
    ax: "Axes",
    results: "Collection[Result]",
    names: "Collection[str]",
    *more: str,
    high: float = 0.0,
    **of_legend: Any,
) -> "Axes":
    """Return axes with a legend, and a caption: users in the means, rules, and more."""
    of_users = [users_of(results, names)] if names else []
    caption(ax, *of_users, rules_of(results), *more)
    legend(ax, **of_legend)
    return fitted(ax, high)


def interval_of(
    ax: "Axes", level: float, results: "Collection[Result]", names: "Collection[str]"
) -> list[str]:
    """Return which band is drawn, for a caption, and where it is rough."""
    if not ax.collections:
        return ["no interval"]
    return [f"band: {level * 100:g} % interval", *rough_of(results, names)]


def rough_of(results: "Iterable[Result]", names: "Collection[str]") -> list[str]:
    """Return why the roughest interval of some means is so, for a caption; none where none is."""
    roughness = (
        one.roughness(at)
        for one in results
        for name in names
        for at in [f"{name}@{k}" for k in one.terms.ks_of.get(name, ())] or [name]
    )
    why = max(roughness, default=(0.0, ""))[1]
    return [f"rough: {why}"] if why else []


def users_of(results: "Iterable[Result]", names: "Collection[str]") -> str:
    """Return how many users are in the means of some names, which may be fewer than are counted."""
    some = list(results)
    numbers = {result.n_of(name) for result in some for name in names}
    unit = some[0].terms.unit
    several = worded("different numbers of users", unit)
    return counted(numbers, unit) if len(numbers) == 1 else several


def counted(numbers: "Iterable[int]", unit: str = USERS) -> str:
    """Return one number of users, or several, in words.

    Examples
    --------
    >>> counted({1}), counted({3, 12})
    ('1 user', '3 or 12 users')
    """
    text = " or ".join(f"{n:,}" for n in sorted(numbers))
    return worded(f"{text} user{'' if text == '1' else 's'}", unit)


def rules_of(results: "Collection[Result]") -> str:
    """Return the convention of the results, and the number of candidates if they were sampled."""
    rules = {result.terms.rules() for result in results}
    text = rules.pop() if len(rules) == 1 else "different conventions"
    samples = {one.terms.sampled for one in results if one.terms.sampled is not None}
    if len(samples) > 1:
        return f"{text}; different samples"
    return "; ".join([text, *(f"sampled: {s.n:,} of {s.n_items:,} items" for s in samples)])
