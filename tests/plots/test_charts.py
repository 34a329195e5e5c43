"""Pictures: what is drawn are the numbers of the results, and nothing else is touched."""

import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from listwise import listwise

import toplist as tl
from toplist import plots
from toplist.plots import axes, differences

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

RNG = np.random.default_rng(7)

RANKS = np.array([RNG.permutation(40)[:10] for _ in range(50)])

TRUTHS = [set(RNG.integers(0, 40, 6).tolist()) for _ in range(50)]


@pytest.fixture
def result():
    return tl.top_k_eval(RANKS, TRUTHS, k=[5, 10])


@pytest.fixture
def other():
    return tl.top_k_eval(RANKS[:, ::-1], TRUTHS, k=[5, 10])


def texts(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def band(collection):
    """Return the lower and the upper edge of a filled band at every k."""
    points = collection.get_paths()[0].vertices
    ks = np.unique(points[:, 0])
    at = [points[points[:, 0] == k, 1] for k in ks]
    return np.array([ys.min() for ys in at]), np.array([ys.max() for ys in at])


def test_a_curve_is_the_mean_and_its_interval(result):
    ax = plots.curves(result, "ndcg", level=0.8)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 11))
    np.testing.assert_array_equal(line.get_ydata(), result["ndcg"])
    np.testing.assert_allclose(band(ax.collections[0]), result.interval("ndcg", 0.8))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k", "ndcg@k")
    title = ax.get_title(loc="left")
    assert title == "50 users; convention standard; band: 80 % interval"
    assert ax.get_ylim()[0] == 0
    assert ax.get_xticks()[0] == 1 and ax.get_xticks()[-1] == 10


def test_all_metrics_by_default_named_in_the_order_in_which_they_end(result):
    ax = plots.curves(result)
    assert len(ax.lines) == 6
    assert texts(ax) == sorted(result.terms.metrics, key=lambda name: -result[name][-1])
    assert ax.get_ylabel() == "metric@k"
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == 6
    assert ax.get_ylim()[1] > max(line.get_ydata().max() for line in ax.lines)


def test_several_systems_have_a_chart_for_each_metric(result, other):
    first = plots.curves({"a": result, "b": other}, ["ndcg", "mrr"])
    charts_of = first.figure.axes
    assert charts_of[0] is first and [ax.get_ylabel() for ax in charts_of] == ["ndcg@k", "mrr@k"]
    assert [texts(ax) for ax in charts_of] == [[], ["a", "b"]]
    for ax, name in zip(charts_of, ("ndcg", "mrr"), strict=True):
        for line, one in zip(ax.lines, (result, other), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), one[name])
    looks = [[(one.get_color(), one.get_linestyle()) for one in ax.lines] for ax in charts_of]
    assert looks[0] == looks[1] and len({*looks[0]}) == 2
    single = plots.curves({"a": result, "b": other}, "ndcg")
    assert sorted(texts(single)) == ["a", "b"]
    with pytest.raises(ValueError, match="ax= is for one metric of several systems: 'ndcg'"):
        plots.curves({"a": result, "b": other}, ["ndcg", "mrr"], ax=Figure().subplots())


def test_what_differs_is_in_the_caption(result):
    neurec = tl.top_k_eval(RANKS[:30], TRUTHS[:30], k=[5, 10], convention="neurec")
    title = plots.curves({"a": result, "b": neurec}, "ndcg").get_title(loc="left")
    assert title.startswith("different numbers of users; different conventions; ")


def test_equal_curves_are_one_line():
    one_out = tl.top_k_eval(tl.Hits.from_ranks([1, 4, 0, 2], 5), k=5)
    assert texts(plots.curves(one_out)) == ["hit", "recall", "ndcg", "map = mrr", "precision"]
    assert plots.curves(one_out, ["mrr", "map"]).get_ylabel() == "mrr = map@k"


def test_equal_metrics_of_several_systems_share_a_chart():
    results = {
        name: tl.top_k_eval(tl.Hits.from_ranks(ranks, 2), k=[1, 2])
        for name, ranks in (("good", [1, 2, 1]), ("poor", [2, 0, 0]))
    }
    assert [ax.get_ylabel() for ax in plots.curves(results).figure.axes] == [
        *("hit@k", "precision@k", "recall@k", "map = mrr@k", "ndcg@k")
    ]


def test_one_k_and_one_user():
    ax = tl.top_k_eval([1], {1}, k=1, metrics=["mrr"]).plot()
    assert ax.get_title(loc="left").endswith("; no interval")
    assert ax.lines[0].get_marker() == "o"
    assert ax.get_xticks().tolist() == [1]


def test_result_and_comparison_draw_themselves(result, other):
    np.testing.assert_array_equal(result.plot("map").lines[0].get_ydata(), result["map"])
    both = tl.compare({"a": result, "b": other})
    np.testing.assert_array_equal(both.plot("map").lines[1].get_ydata(), other["map"])
    assert both.plot().get_ylabel() == "hit@k"


A_CURVE, AT_ONE_K = r"'ndcg@5': a curve .* every k; give 'ndcg'", r"'ndcg': .* one k; .*'ndcg@10'"
REFUSED = [
    (lambda one: one.plot("nope"), KeyError, "this result has hit, precision"),
    (lambda one: one.plot("ndcg@5"), ValueError, A_CURVE),
    (lambda one: plots.sampled(one, one, "ndcg@5"), ValueError, A_CURVE),
    (lambda one: plots.per_user({"a": one}, "ndcg"), ValueError, AT_ONE_K),
    (lambda one: plots.segments({"a": one}, "ndcg"), ValueError, AT_ONE_K),
    (lambda one: plots.curves({}, "ndcg"), ValueError, "no result to draw"),
    (lambda one: plots.curves([one], "ndcg"), TypeError, "a dict of label -> result, not list"),
    (lambda one: plots.segments(one, "ndcg@5"), ValueError, "dict of segment -> result"),
    (lambda one: plots.segments({}, "mrr@5"), ValueError, "no segment to draw"),
]


@pytest.mark.parametrize(("draw", "error", "said"), REFUSED)
def test_what_cannot_be_drawn(result, draw, error, said):
    with pytest.raises(error, match=said):
        draw(result)


def test_the_area_under_the_users_curve_is_the_mean(result, other):
    ax = plots.per_user({"a": result, "b": other}, "ndcg@10")
    for line, system in zip(ax.lines, (result, other), strict=True):
        x, y = line.get_xdata(), line.get_ydata()
        assert line.get_drawstyle() == "steps-post"
        assert np.sum(np.diff(x) * y[:-1]) == pytest.approx(system["ndcg@10"])
        assert y[0] == np.mean(system.per_user("ndcg@10") > 0)
        assert y[-1] == 0
    assert texts(ax) == [f"a: mean {result['ndcg@10']:.4f}", f"b: mean {other['ndcg@10']:.4f}"]


def test_metrics_of_the_lists():
    known = {"catalogue": 40, "counts": np.arange(1, 41)}
    result = by_words(RANKS, TRUTHS, k=10, metrics=["item_coverage", "novelty"], **known)
    ax = plots.curves(result, "item_coverage")  # of all lists together
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), result["item_coverage"])
    assert len(ax.collections) == 0 and "no interval" in ax.get_title(loc="left")
    assert "band: 95 % interval" in plots.curves(result, "novelty").get_title(loc="left")


def test_users_left_out_are_not_drawn():
    result = tl.top_k_eval([[1, 2], [1, 2], [1]], [{2}, {1}, set()], k=2)
    assert plots.per_user(result, "mrr@2").lines[0].get_ydata().tolist() == [1.0, 0.5, 0.0]


def test_nobody_can_be_drawn():
    nobody = tl.top_k_eval([[1], [2]], [set(), set()], k=1)
    assert plots.per_user(nobody, "mrr@1").lines[0].get_ydata().tolist() == [0.0]
    for ax in every(nobody):
        ax.figure.canvas.draw()


def test_segments(result, other):
    parts = {"few": tl.top_k_eval(RANKS[:20], TRUTHS[:20], k=10), "many": result}
    ax = plots.segments(parts, "hit@10", level=0.9)
    (bars,) = ax.containers
    dots, _, (reach,) = bars.lines
    np.testing.assert_array_equal(dots.get_xdata(), [one["hit@10"] for one in parts.values()])
    ends = [segment[:, 0] for segment in reach.get_segments()]
    np.testing.assert_allclose(ends, [one.interval("hit@10", 0.9) for one in parts.values()])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["few\n20 users", "many\n50 users"]
    assert ax.yaxis_inverted()  # the first on top
    assert texts(ax) == []


def test_segments_of_several_systems(result, other):
    ax = plots.segments({"a": {"x": result}, "b": {"x": other, "y": other}}, "mrr@5")
    assert texts(ax) == ["a", "b"]
    places = [bars.lines[0].get_ydata() for bars in ax.containers]
    assert places[0][0] < places[1][0]  # beside each other, not on top
    assert [round(place) for place in places[1]] == [0, 1]


def test_segments_of_a_result_that_was_split(result, other):
    labels = ["new"] * 20 + ["old"] * 29 + [None]
    parts = result.by(labels)
    ax = plots.segments(parts, "recall@10")
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert ticks == ["new\n20 users", "old\n29 users", "no label\n1 user"]
    dots = ax.containers[0].lines[0]
    of_users = result.per_user("recall@10")
    expected = [of_users[:20].mean(), of_users[20:49].mean(), of_users[49]]
    np.testing.assert_allclose(dots.get_xdata(), expected)
    both = plots.segments({"a": parts, "b": other.by(labels)}, "recall@10")
    assert texts(both) == ["a", "b"]
    np.testing.assert_array_equal(both.containers[0].lines[0].get_xdata(), dots.get_xdata())


def eight(one):
    return {f"system {i}": one for i in range(8)}


def test_eight_systems_stay_in_their_segments(result):
    parts = result.by(["new", "old"] * 25)
    ax = plots.segments(eight(parts), "recall@10")
    rows = np.array([bars.lines[0].get_ydata() for bars in ax.containers])  # (systems, segments)
    assert np.all(np.diff(rows, axis=0) > 0.05)
    assert rows[:, 0].max() < 0.5 < rows[:, 1].min() < rows[:, 1].max() < 1.5  # within the axis
    looks = {(bars.lines[0].get_color(), bars.lines[0].get_marker()) for bars in ax.containers}
    assert len(looks) == 8


@pytest.mark.parametrize(
    "draw",
    [
        lambda one: plots.curves(eight(one), "ndcg"),
        lambda one: plots.per_user(eight(one), "ndcg@10"),
        lambda one: plots.exposure(eight([1, 2, 3])),
        lambda one: plots.curves(eight(one), ["ndcg", "mrr"]),
    ],
)
def test_eight_systems_have_eight_looks(result, draw):
    lines = [one for one in draw(result).lines if one.get_label().startswith("system")]
    looks = {(one.get_color(), str(one._unscaled_dash_pattern)) for one in lines}
    assert len(looks) == len(lines) >= 8


def test_a_curve_ends_where_its_lists_do(result):
    deep = tl.top_k_eval(RANKS, TRUTHS, k=20)
    (line,) = plots.curves(deep, "ndcg").lines
    assert len(line.get_xdata()) == 10 and line.get_marker() == "o"
    assert plots.curves(deep, "ndcg").get_xlim() == (1, 20)
    assert plots.curves(result, "ndcg").lines[0].get_marker() == ""


def test_a_long_legend_hides_no_curve(result):
    for ax in (plots.per_user(eight(result), "ndcg@10"), plots.exposure(eight([1, 2, 3]))):
        ax.figure.canvas.draw()
        assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_colours_come_back_with_another_dash_and_marker():
    for others in (axes.DASHES, axes.MARKERS):
        assert math.gcd(len(axes.COLOURS), len(others)) == 1


def test_lorenz_and_gini():
    counts = RNG.integers(0, 30, 25)
    ax = plots.exposure({"a": counts})
    _, line = ax.lines  # the first is the diagonal
    ascending = sorted(counts)
    expected = [sum(ascending[:i]) / sum(counts) for i in range(26)]
    np.testing.assert_allclose(line.get_ydata(), expected)
    np.testing.assert_allclose(line.get_xdata(), np.arange(26) / 25)
    # the other definition: half of the relative mean absolute difference
    gini = np.abs(np.subtract.outer(counts, counts)).mean() / (2 * counts.mean())
    assert texts(ax) == [f"a (Gini {gini:.3f})"]
    assert texts(plots.exposure(counts)) == [f"Gini {gini:.3f}"]


@pytest.mark.parametrize("k", [1, 4, 10])
def test_the_gini_of_an_exposure_is_that_of_its_picture(k):
    seen = tl.beyond.exposure(RANKS, catalogue=60)  # of which 20 are never listed
    assert seen.counts(k).tolist() == [int(np.sum(RANKS[:, :k] == item)) for item in range(60)]
    (told,) = texts(plots.exposure(seen.counts(k)))
    assert told == f"Gini {listwise.gini(seen)[k - 1]:.3f}"
    if k == 10:
        assert texts(plots.exposure({"lists": seen})) == [f"lists ({told})"]


@pytest.mark.parametrize("counts", [[], [0, 0], [1, -1], [np.nan, 1], [[1, 2]]])
def test_counts_that_cannot_be(counts):
    with pytest.raises(ValueError, match="counts of 'a': one number per item"):
        plots.exposure({"a": counts})


def test_sampled_beside_full(result, other):
    ax = plots.sampled({"a": result}, {"a": other}, "hit")
    lines = {line.get_label(): line for line in ax.lines}
    full, few = lines["a, all items"], lines["a, sampled"]
    np.testing.assert_array_equal(full.get_ydata(), result["hit"])
    np.testing.assert_array_equal(few.get_ydata(), other["hit"])
    assert full.get_color() == few.get_color()
    assert (full.get_linestyle(), few.get_linestyle()) == ("-", "--")


def every(result, ax=None):
    """Call every plotting function."""
    yield plots.curves(result, ax=ax)
    yield plots.per_user(result, "ndcg@1", ax=ax)
    yield plots.segments({"all": result}, "ndcg@1", ax=ax)
    yield plots.exposure([1, 2, 3], ax=ax)
    yield plots.sampled(result, result, "ndcg", ax=ax)
    points = [f"iprec(recall={tenth / 10})" for tenth in range(11)]
    yield plots.precision_recall(tl.top_k_eval(RANKS, TRUTHS, metrics=points), ax=ax)
    yield plots.critical_difference({"a": 1.0, "b": 2.0}, 1.1, ax=ax)


def test_every_function_draws_where_it_is_told(result):
    assert {*plots.__all__} == {
        "curves",
        "per_user",
        "segments",
        "exposure",
        "sampled",
        "precision_recall",
        "critical_difference",
    }
    mine = Figure().subplots()
    assert all(ax is mine for ax in every(result, mine))


@pytest.mark.parametrize("extension", ["png", "svg", "pdf"])
def test_every_picture_can_be_written(result, extension, tmp_path):
    magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[extension]
    for i, ax in enumerate(every(result)):
        path = tmp_path / f"{i}.{extension}"
        ax.figure.savefig(path)
        assert path.read_bytes().startswith(magic)
        if extension == "png":  # as a notebook shows it
            assert ax._repr_png_().startswith(magic)


def test_colours_are_set_whatever_the_style(result):
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["red"])}):
        ax = plots.curves(result)
    assert "red" not in {line.get_color() for line in ax.lines}
    assert all(re.fullmatch("#[0-9A-F]{6}", line.get_color()) for line in ax.lines)


CODE = """
import sys
import matplotlib
import toplist as tl
before = dict(matplotlib.rcParams)
result = tl.top_k_eval([[1, 2], [2, 1]], [{1}, {1}], k=2)
result.plot().figure.savefig(sys.argv[1])
from matplotlib._pylab_helpers import Gcf  # what pyplot knows
print(len(Gcf.figs), before == dict(matplotlib.rcParams))
"""


def test_pyplot_and_settings_are_left_alone(tmp_path):
    command = [sys.executable, "-c", CODE, str(tmp_path / "a.png")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.stdout.split() == ["0", "True"], run.stderr


def test_without_matplotlib_the_extra_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'toplist\[plot\]'$"):
        result.plot()


def test_many_segments_have_room():
    parts = {f"s{i}": tl.top_k_eval([[1], [2]], [{1}, {1}], k=1) for i in range(40)}
    figure = tl.plots.segments(parts, "hit@1").figure
    assert figure.get_size_inches()[1] > 15


def steps(result, names):
    return tl.compare({name: result.without_users() for name in names})


def test_one_metric_over_steps_is_a_learning_curve(result, other):
    found = tl.compare({2000: result, 500: other, 1000: other})
    for ax in (found.plot(kind="curve", metric="ndcg@10"), found.sort("mrr@5").plot("ndcg@10")):
        (line,) = ax.lines
        assert line.get_xdata().tolist() == [500, 1000, 2000] and ax.get_ylabel() == "ndcg@10"
        assert line.get_ydata().tolist() == [other["ndcg@10"]] * 2 + [result["ndcg@10"]]
        bars = ax.collections[0].get_segments()
        np.testing.assert_allclose(bars[0][:, 1], result.interval("ndcg@10"))
        assert ax.get_title(loc="left").endswith("95 % interval of each")
    # of others the best comes first; without @ it is over k, as ever
    ax = tl.compare({"late": other, "9": result}).plot("ndcg@10", level=0.5)
    best = sorted({"late": other, "9": result}.items(), key=lambda pair: -pair[1]["ndcg@10"])
    assert [text.get_text() for text in ax.get_yticklabels()] == [name for name, _ in best]
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots == [one["ndcg@10"] for _, one in best] and ax.yaxis_inverted()
    assert "50 % interval" in ax.get_title(loc="left")
    assert found.plot(kind="curve").get_xlabel() == "k" and len(found.plot("ndcg").lines) == 3


def test_a_curve_over_steps_has_the_mean_of_runs(result, other):
    ax = tl.compare({1: [result, other], 2: other}).plot("mrr@5")
    assert ax.lines[0].get_ydata()[0] == (result["mrr@5"] + other["mrr@5"]) / 2
    assert ax.get_title(loc="left").endswith("no interval")


def test_what_is_not_there_to_draw_is_refused_with_what_is(result):
    found = tl.compare({1: result, 2: result})
    with pytest.raises(ValueError, match="kind='curv' .did you mean 'curve'.*choose from 'curve'"):
        found.plot("ndcg@10", kind="curv")
    with pytest.raises(KeyError, match="'ndgc@10' .did you mean 'ndcg@10'.*: this result has hit,"):
        found.plot("ndgc@10")
    with pytest.raises(KeyError, match="'ndcg@11'.* with @1 to @10"):
        found.plot("ndcg@11")


def test_forty_systems_fit_their_pictures(result):
    """The legend has as many as there is room for, and says so; names stand side by side."""
    many = steps(result, [f"rate {i / 8}, dropout" for i in range(40)])
    for ax in (many.plot("ndcg"), many.plot("ndcg@10")):
        ax.figure.draw_without_rendering()  # a warning where there is no room
        frame = ax.figure.bbox
        inside = ax.get_tightbbox().extents
        assert inside[0] >= 0 and inside[2] <= frame.x1 + 1 and inside[3] <= frame.y1 + 1
        assert ax.get_window_extent().height > 0.5 * 3.4 * ax.figure.dpi
    legend = many.plot("ndcg").get_legend()
    assert len(legend.get_texts()) == 12 and legend.get_title().get_text() == "12 highest of 40"
    assert steps(result, "abc").plot("ndcg").get_legend().get_title().get_text() == ""


def test_interpolated_precision_over_recall(result):
    asked = ["iprec(recall=0)", "iprec(recall=0.5)", "iprec", "ndcg"]
    found = tl.top_k_eval(RANKS, TRUTHS, [5, 10], metrics=asked)
    ax = plots.precision_recall({"a": found, "b": found}, 5)
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [0, 0.1, 0.5]
    assert line.get_ydata().tolist() == [
        found[name] for name in ("iprec(recall=0)@5", "iprec@5", "iprec(recall=0.5)@5")
    ]
    assert texts(ax) == ["a", "b"]
    with pytest.raises(ValueError, match="two or more metrics 'iprec.*the result has 0"):
        plots.precision_recall(result)


# Movers


def filled(ax):
    """Return the filled steps of a chart, worse and better together."""
    return sum(patch.get_data().values for patch in ax.patches)


def test_movers_are_the_sorted_differences_and_both_values(result, other):
    found = tl.compare({"a": result, "b": other})
    ax = found.plot("ndcg@10", kind="movers")
    a, b = result.per_user("ndcg@10"), other.per_user("ndcg@10")
    np.testing.assert_allclose(filled(ax), np.sort(b - a))
    worse, better = (patch.get_data().values for patch in ax.patches)
    assert max(worse) == 0 == min(better)
    counts = f"{sum(b < a)} worse, {sum(b == a)} equal, {sum(b > a)} better"
    assert ax.get_title(loc="left") == f"ndcg@10; {counts}"
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("b - a", "users, from the worst to the best")
    beside = ax.figure.axes[1]
    points = {tuple(point) for point in beside.collections[0].get_offsets().data.round(9)}
    assert points == {*zip(a.round(9).tolist(), b.round(9).tolist(), strict=True)}
    assert (beside.get_xlabel(), beside.get_ylabel()) == ("a", "b")
    given = Figure().subplots()
    assert found.movers("ndcg@10").plot(ax=given) is given and len(given.figure.axes) == 1


def test_movers_of_several_systems_have_a_chart_each(result, other):
    names = {"base": result, "b" * 90: other, "same": result, "d": other}
    ax = tl.compare(names).plot(kind="movers")  # the first name
    charts_of = ax.figure.axes
    called = [one.get_ylabel() for one in charts_of]
    assert called == ["bbbbbbb…bbbbbb - base", "same - base", "d - base"]
    assert not filled(charts_of[1]).any()
    assert charts_of[0].get_ylim() == charts_of[1].get_ylim()
    ax.figure.draw_without_rendering()
    assert charts_of[0].yaxis.get_tightbbox().x0 >= 0
    with pytest.raises(ValueError, match="ax= is for one pair"):
        tl.compare(names).plot(kind="movers", ax=Figure().subplots())
    with pytest.raises(ValueError, match="movers: two systems are needed, and there is 'a' alone"):
        tl.compare({"a": result}).plot(kind="movers")
    again = tl.compare({"a": result, "b": result}).plot(kind="movers")
    assert "0 worse, 50 equal, 0 better" in again.get_title(loc="left")


def test_movers_of_many_users_are_few_steps_and_lower_may_be_better():
    ranks = RNG.integers(0, 30, 9000)
    few = [tl.top_k_eval(tl.Hits.from_ranks(some, 30), k=5) for some in (ranks, ranks[::-1])]
    drawn = filled(tl.compare({"a": few[0], "b": few[1]}).plot("mrr@5", kind="movers"))
    assert len(drawn) == differences.DRAWN and (np.diff(drawn) >= 0).all()
    count = replace(tl.METRICS["hit"], name="count")
    lower = replace(count, higher_is_better=False), count
    for metric, falls in zip(lower, (True, False), strict=True):
        some = [tl.top_k_eval([[1], [1], row], [{1}] * 3, 1, metrics=metric) for row in ([2], [1])]
        ax = tl.compare({"a": some[0], "b": some[1]}).plot("count@1", kind="movers")
        assert filled(ax)[0] == int(falls)
        colours = [patch.get_facecolor() for patch in ax.patches if patch.get_data().values.any()]
        assert colours == [matplotlib.colors.to_rgba(differences.SIDES[0 if falls else 1])]


def test_a_picture_says_over_how_many_users_its_means_are():
    """A third of 90 users has an item of grade 2: the others are in no mean of recall(rel=2)."""
    lists = {f"u{i}": [f"i{(i + j) % 7}" for j in range(4)] for i in range(90)}
    truth = {user: {f"i{i % 5}": 1 + (i % 3 == 0)} for i, user in enumerate(lists)}
    result = tl.top_k_eval(lists, truth, [1, 3], metrics=["ndcg", "recall(rel=2)"])
    some = "recall(rel=2)"
    assert (result.n_of("ndcg@3"), result.n_of(f"{some}@3")) == (90, 30)
    titles = [
        plots.curves(result, some),
        plots.curves(result, "ndcg"),
        plots.curves(result, ["ndcg", some]),
        plots.per_user(result, f"{some}@3"),
        tl.compare({1: result, 2: result}).plot(f"{some}@3"),
    ]
    said = [ax.get_title(loc="left").replace("\n", " ").split(";")[0] for ax in titles]
    assert said == ["30 users", "90 users", "different numbers of users", "30 users", "30 users"]
    both = plots.curves({"a": result, "b": result}).figure
    assert both.get_suptitle().startswith("different numbers of users")
    halves = result.by({user: i % 2 for i, user in enumerate(lists)})
    ax = plots.segments(halves, f"{some}@3")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0\n15 users", "1\n15 users"]
