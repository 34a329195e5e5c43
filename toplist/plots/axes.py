"""What all pictures share: figures, lines with bands, axes, legends, captions."""

import io
from collections.abc import Iterable, Mapping, Sequence, ValuesView
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toplist.averages import describe
from toplist.averages.means import Means

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Floats = NDArray[np.float64]

# Okabe and Ito 2008, told apart by all common kinds of colour vision; yellow is too faint a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Any, ...] = (
    *("-", "--", ":", "-."),
    *((0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (8, 3)), (0, (3, 1, 1, 1))),
)
MARKERS = "osD^v"
GREY = "#666666"
INCHES = (5.6, 3.4)


def need_matplotlib() -> None:
    """Raise ModuleNotFoundError with the extra that is missing."""
    try:
        import_module("matplotlib")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("plots need matplotlib: pip install 'toplist[plot]'") from None


def figure(width: float = INCHES[0], height: float = INCHES[1]) -> "Figure":
    """Return an empty white figure that pyplot knows nothing of; inches."""
    need_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def axes(ax: "Axes | None", *inches: float) -> "Axes":
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    new: Axes = figure(*inches).subplots()
    # a notebook shows figures of pyplot alone; of others it asks the object for a picture
    new._repr_png_ = partial(_png, new.figure)  # type: ignore[attr-defined]
    return new


def _png(drawn: Any) -> bytes:
    out = io.BytesIO()
    drawn.savefig(out, format="png", dpi=110)
    return out.getvalue()


def named(results: "Means | Mapping[str, Means]") -> "Mapping[str, Means]":
    """Return the results by label; a single one has none."""
    if not isinstance(results, Mapping):
        if not hasattr(results, "terms"):
            kind = type(results).__name__
            raise TypeError(f"give a result, or a dict of label -> result, not {kind}")
        return {"": results}
    if not results:
        raise ValueError("no result to draw: give one, or a dict of label -> result")
    return results


def check_curves(metrics: Sequence[str]) -> None:
    """Raise ValueError for a metric with its own k: a curve runs over all of them."""
    for metric in metrics:
        base, at, _ = metric.partition("@")
        if at:
            raise ValueError(f"{metric!r}: a curve runs over every k; give {base!r}")


def check_value(name: str) -> None:
    """Raise ValueError for a metric without a k where one number is drawn."""
    if "@" not in name:
        raise ValueError(f"{name!r}: it is drawn at one k; give for example '{name}@10'")


def equal(
    systems: "Mapping[str, Means]", metrics: Sequence[str], level: float = 0.95
) -> list[tuple[str, ...]]:
    """Group the metrics whose curves and bands are equal in all systems: they are one line."""
    return describe.folded(
        {
            name: [one for r in systems.values() for one in (r[name], *r.interval(name, level))]
            for name in metrics
        }
    )


def style(colour: int, dash: int) -> dict[str, Any]:
    """Return the look of a line; after the last one the first comes again."""
    return {"color": COLOURS[colour % len(COLOURS)], "linestyle": DASHES[dash % len(DASHES)]}


def line(
    ax: "Axes", mean: Floats, ends: tuple[Floats, Floats], look: dict[str, Any], label: str
) -> None:
    """Draw a curve over k = 1..K and its band, if there is one."""
    ks = np.arange(1, len(mean) + 1)
    ax.plot(ks, mean, label=label, linewidth=1.8, marker="o" * (len(ks) == 1), **look)
    if np.isnan(ends).all():
        return  # one user, or a metric of all lists together, has none
    low, high = (np.where(np.isnan(end), mean, end) for end in ends)
    ax.fill_between(ks, low, high, color=look["color"], alpha=0.15, linewidth=0)


def over_k(ax: "Axes", name: str) -> None:
    """Dress the axes of curves over k: whole numbers below, from 0 up."""
    from matplotlib.ticker import MaxNLocator

    last = max(int(np.max(one.get_xdata())) for one in ax.lines)
    ax.set_xlim(1 if last > 1 else 0, max(last, 2))
    ticks = MaxNLocator(nbins=7, steps=[1, 2.5, 5, 10], integer=True).tick_values(0, last)
    ax.set_xticks(sorted({1, *(int(tick) for tick in ticks if 1 <= tick <= last)}))  # from 1, not 0
    ax.set_ylim(bottom=0)
    ax.set_xlabel("k")
    ax.set_ylabel(f"{name}@k")
    clean(ax)


def clean(ax: "Axes", grid: str = "both") -> None:
    """Leave the two axes that are read, and a faint grid behind."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=GREY, alpha=0.2, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def legend(ax: "Axes", inside: str = "") -> None:
    """Name the lines: beside the picture in the order in which they end, or inside, as drawn."""
    handles, labels = ax.get_legend_handles_labels()
    pairs = list(zip(handles, labels, strict=True))
    if not inside:
        ends = {id(handle): float(handle.get_ydata()[-1]) for handle in handles}  # type: ignore[attr-defined]
        pairs.sort(key=lambda pair: -np.nan_to_num(ends[id(pair[0])]))
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    place: dict[str, Any] = {"loc": inside} if inside else beside
    if pairs:
        ax.legend(*zip(*pairs, strict=True), frameon=False, **place)


def caption(ax: "Axes", *words: str) -> None:
    """Say above the picture what it is to be read by."""
    ax.set_title("; ".join(words), loc="left", fontsize="small", color=GREY)


def users_of(results: "Iterable[Means]") -> str:
    """Say how many users are shown."""
    numbers = {result.n_evaluated for result in results}
    return counted(numbers) if len(numbers) == 1 else "different numbers of users"


def counted(numbers: "Iterable[int]") -> str:
    """Say one number of users, or several."""
    told = " or ".join(f"{n:,}" for n in sorted(numbers))
    return f"{told} user{'' if told == '1' else 's'}"


def rules_of(results: "Sequence[Means] | ValuesView[Means]") -> str:
    """Say by whose rules the numbers are, and among how many candidates, if they were sampled."""
    rules = {describe.rules(result) for result in results}
    told = rules.pop() if len(rules) == 1 else "different conventions"
    samples = {one.terms.sampled for one in results if one.terms.sampled is not None}
    if len(samples) > 1:
        return f"{told}; different samples"
    return "; ".join([told, *(f"sampled: {s.n:,} of {s.n_items:,} items" for s in samples)])


def band(ax: "Axes", level: float) -> str:
    """Say what the bands are that were drawn, if any was."""
    return f"band: {level * 100:g} % interval" if ax.collections else "no interval"


def lorenz(counts: Floats, label: str) -> tuple[Floats, Floats]:
    """Return the corners of a Lorenz curve: shares of items, and of recommendations."""
    if counts.ndim != 1 or not np.all((counts >= 0) & (counts < np.inf)) or not counts.any():
        of = f" of {label!r}" if label else ""
        raise ValueError(f"counts{of}: one number per item is needed, 0 or more, and not all 0")
    total = np.concatenate([[0.0], np.cumsum(np.sort(counts))])
    return np.arange(len(total)) / len(counts), total / total[-1]


def gini(counts: Floats) -> float:
    """Return twice the area between the diagonal and the Lorenz curve, as `beyond.gini` does."""
    n = len(counts)
    weights = 2.0 * np.arange(1, n + 1) - n - 1
    return float(weights @ np.sort(counts) / (n * counts.sum()))  # of whole numbers: exact
