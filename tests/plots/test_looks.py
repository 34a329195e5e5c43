"""Nothing is cut off, nothing lies on the curves, and every text can be read in every style."""

from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product

import numpy as np
import pytest

import toplist as tl
from toplist import plots
from toplist.plots import axes

matplotlib = pytest.importorskip("matplotlib")
from matplotlib import colors, style  # noqa: E402
from matplotlib.text import Text  # noqa: E402

RNG = np.random.default_rng(3)
TRUTHS = [set(RNG.integers(0, 40, 6).tolist()) for _ in range(40)]
RANKS = [np.array([RNG.permutation(40)[:10] for _ in TRUTHS]) for _ in range(8)]
LABELS = ["young", "a segment with a rather long label"] * 20
METRICS = "ndcg", "recall"


@cache
def evaluated(system, metrics):
    return tl.top_k_eval(RANKS[system], TRUTHS, [1, 2, 5, 10], metrics=metrics)


def systems(n, letters, metrics=METRICS):
    """Return results of systems with names of so many letters, which differ at their ends."""
    names = (f"{'a model of ours ' * 9}"[: letters - 2] + f" {i}" for i in range(n))
    return {name: evaluated(system, metrics) for system, name in enumerate(names)}


@cache
def compared(n, letters):
    some = systems(n, letters)
    return tl.compare(some, baseline=next(iter(some)))


# Each picture, and of how many systems it is drawn.
PICTURES = {
    "curves": (4, lambda some, _: plots.curves(some)),
    "per_user": (8, lambda some, _: plots.per_user(some, "ndcg@10")),
    "exposure": (8, lambda some, _: plots.exposure({name: RNG.random(9) for name in some})),
    "segments": (
        8,
        lambda some, _: plots.segments(
            {name: one.by(LABELS) for name, one in some.items()}, "ndcg@10"
        ),
    ),
    "ranks": (
        8,
        lambda some, _: plots.critical_difference(
            {f"{i} {name}": 1 + 0.9 * i for i, name in enumerate([*some] * 3)}, 1.1, n_datasets=7
        ),
    ),
    "forest": (4, lambda _, both: both.test().plot()),
    "forest of one": (8, lambda _, both: both.test("ndcg@10").plot()),
    "band": (2, lambda _, both: both.band("ndcg", both.systems[1]).plot()),
    "movers": (4, lambda _, both: both.plot("ndcg@10", kind="movers")),
    "over": (8, lambda _, both: both.plot("ndcg@10")),
}


def drawn(name, n, letters):
    figure = PICTURES[name][1](systems(n, letters), compared(n, letters)).figure
    figure.draw_without_rendering()
    return figure


def written(figure):
    """Return the texts that are drawn."""
    hidden = {text for ax in figure.axes if not ax.axison for text in ax.findobj(Text)}
    hidden -= {text for ax in figure.axes for text in (*ax.texts, ax.title, ax._left_title)}
    some = (text for text in figure.findobj(Text) if text not in hidden)
    return [text for text in some if text.get_visible() and text.get_text().strip()]


LONG = "curves", "movers"


@pytest.mark.parametrize(
    ("name", "n", "letters"),
    [*((name, n, 33) for name, (n, _) in PICTURES.items()), *((name, 2, 80) for name in LONG)],
)
def test_nothing_is_cut_off(name, n, letters):
    figure = drawn(name, n, letters)
    box, size = figure.get_tightbbox(), figure.get_size_inches()  # of all that is drawn
    assert min(box.min) > -0.02 and (box.max < size + 0.02).all(), (box, size)
    for ax in figure.axes:
        assert min(ax.get_window_extent().size) > 70  # what is drawn has room, too
        labels = [one.get_window_extent() for one in ax.get_yticklabels() if one.get_text()]
        beside = sorted((box.y0, box.y1) for box in labels)
        assert all(a[1] < b[0] + 2 for a, b in pairwise(beside)), name  # none on another
        boxes = [one.get_window_extent() for one in ax.texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        legend = ax.get_legend()
        if legend:
            assert legend.get_window_extent().x0 >= ax.get_window_extent().x1 - 2
    assert max(figure.get_size_inches()) < 14
    assert not unread(figure)


def test_twenty_systems_fit_their_pictures():
    """The legend has as many as there is room for, and says so; names stand side by side."""
    bare = evaluated(0, METRICS).without_users()
    many = tl.compare({f"rate {i / 8}, dropout": bare for i in range(20)})
    over_k = many.plot("ndcg")
    for ax in (over_k, many.plot("ndcg@10")):
        ax.figure.draw_without_rendering()  # a warning where there is no room
        frame, inside = ax.figure.bbox, ax.get_tightbbox().extents
        assert inside[0] >= 0 and inside[2] <= frame.x1 + 1 and inside[3] <= frame.y1 + 1
        assert ax.get_window_extent().height > 0.5 * 3.4 * ax.figure.dpi
    legend = over_k.get_legend()
    assert len(legend.get_texts()) == 12 and legend.get_title().get_text() == "12 highest of 20"
    few = tl.compare(dict.fromkeys("abc", bare)).plot("ndcg").get_legend()
    assert few.get_title().get_text() == ""


def test_a_figure_that_is_given_stays():
    mine = matplotlib.figure.Figure(figsize=(5, 3)).subplots()
    plots.curves(systems(8, 33), "ndcg", ax=mine)
    assert tuple(mine.figure.get_size_inches()) == (5, 3)


ODD = "_base_", "US$5 v US$10_x", "$\\bad$", "_"


@pytest.mark.parametrize(
    "name", [*PICTURES, "precision_recall", "sampled", "over_k", "segments alone"]
)
def test_names_are_drawn_as_they_are(name):
    """An underscore keeps no name from a legend, and dollars are no math."""
    points = ["iprec(recall=0.1)", "iprec(recall=1)"]
    own = replace(tl.METRICS["mrr"], name="m$r$_x^")
    some = {
        system: tl.top_k_eval(RANKS[at], TRUTHS, [1, 10], metrics=["ndcg", own, *points])
        for at, system in enumerate(ODD)
    }
    both = tl.compare(some, baseline=ODD[0])
    more = {
        "precision_recall": lambda: plots.precision_recall(some),
        "sampled": lambda: plots.sampled(some, some, "ndcg"),
        "over_k": lambda: both.plot(own.name),
        "segments alone": lambda: plots.segments(some, f"{own.name}@10"),
    }
    ax = more[name]() if name in more else PICTURES[name][1](some, both)
    ax.figure.draw_without_rendering()
    shown = [text for text in written(ax.figure) if any(one in text.get_text() for one in ODD)]
    words = " ".join(text.get_text() for text in shown)
    assert all(one in words for one in ODD[: 2 if name == "band" else 4])
    assert not any(text.get_parse_math() for text in shown if "$" in text.get_text())


def luminance(colour):
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    part = np.array(colors.to_rgb(colour))
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


OWN = {"figure.facecolor": "#1e1e1e", "axes.facecolor": "#1e1e1e", "savefig.facecolor": "#1e1e1e"}
OWN |= dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), "white")


LOOKS = [
    *((name, "dark_background") for name in PICTURES if name != "forest"),  # many of those of one
    *product(["ranks"], ["ggplot", OWN]),
]


def unread(figure):
    """Return the texts that are not told from what they stand on."""
    found = []
    for text in written(figure):
        on = figure.get_facecolor()
        if text.axes is not None and text in text.axes.texts and text.axes.axison:
            on = text.axes.get_facecolor()
        if contrast(text.get_color(), on) < 4.5:
            found.append((text.get_text(), text.get_color(), on))
    return found


@pytest.mark.parametrize(("name", "look"), LOOKS)
def test_every_text_can_be_read_in_every_style(name, look, monkeypatch):
    monkeypatch.setattr(axes, "fitted", lambda ax, *_: ax)  # whatever has room
    with style.context(look):
        assert not unread(drawn(name, 3, 6))


@pytest.mark.parametrize("look", ["default", "dark_background"])
def test_no_line_has_the_colour_of_the_background(look, monkeypatch):
    monkeypatch.setattr(axes, "fitted", lambda ax, *_: ax)
    with style.context(look):
        ax = plots.curves(systems(8, 6), "ndcg")
        for line in ax.lines:
            assert contrast(line.get_color(), ax.get_facecolor()) > 2
        diagram = plots.critical_difference({"a": 1.0, "b": 2.0}, 1.1)
        ink = diagram.collections[0].get_color()[0]
        assert ink.tolist() == [*[float(look != "default")] * 3, 1.0]
