"""Pictures: what is drawn are the numbers of the results, and nothing else is touched.

How figures grow until all has room is said by test_looks.py.
"""

import math
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from listwise import listwise

import toplist as tl
from toplist import plots
from toplist.plots import axes, differences
from toplist.plots.axes import COLOURS

matplotlib = pytest.importorskip("matplotlib")
from matplotlib._pylab_helpers import Gcf  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

RNG = np.random.default_rng(7)
RANKS = np.array([RNG.permutation(40)[:10] for _ in range(50)])
TRUTHS = [set(RNG.integers(0, 40, 6).tolist()) for _ in range(50)]
RESULT, OTHER = (tl.top_k_eval(some, TRUTHS, k=[5, 10]) for some in (RANKS, RANKS[:, ::-1]))
BOTH = {"a": RESULT, "b": OTHER}
POINTS = [f"iprec(recall={tenth / 10})" for tenth in range(11)]


@pytest.fixture(autouse=True)
def as_made(monkeypatch):
    """Leave figures as they are made."""
    monkeypatch.setattr(axes, "fitted", lambda ax, *_: ax)


def texts(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def ticks(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def told(ax):
    return ax.get_title(loc="left").replace("\n", " ")


def looks(lines):
    return [(one.get_color(), str(one._unscaled_dash_pattern)) for one in lines]


def eight(one):
    return {f"system {i}": one for i in range(8)}


# Curves


def test_a_curve_is_the_mean_and_its_interval():
    ax = plots.curves(RESULT, "ndcg", level=0.8)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 11))
    np.testing.assert_array_equal(line.get_ydata(), RESULT["ndcg"])
    points = ax.collections[0].get_paths()[0].vertices
    at = [points[points[:, 0] == k, 1] for k in range(1, 11)]
    ends = [one.min() for one in at], [one.max() for one in at]
    np.testing.assert_allclose(ends, RESULT.interval("ndcg", 0.8))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k", "ndcg@k") and ax.get_ylim()[0] == 0
    assert told(ax) == "50 users; convention standard; band: 80 % interval"
    assert (ax.get_xticks()[0], ax.get_xticks()[-1], line.get_marker()) == (1, 10, "")


def test_all_metrics_by_default_named_in_the_order_in_which_they_end():
    ax = plots.curves(RESULT)
    assert len(ax.lines) == len({*looks(ax.lines)}) == 6 and ax.get_ylabel() == "metric@k"
    assert texts(ax) == sorted(RESULT.terms.metrics, key=lambda name: -RESULT[name][-1])
    assert ax.get_ylim()[1] > max(line.get_ydata().max() for line in ax.lines)


def test_several_systems_have_a_chart_for_each_metric():
    first, *others = plots.curves(BOTH, ["ndcg", "mrr"]).figure.axes
    assert [ax.get_ylabel() for ax in (first, *others)] == ["ndcg@k", "mrr@k"]
    assert [texts(ax) for ax in (first, *others)] == [[], ["a", "b"]]
    for ax, name in zip((first, *others), ("ndcg", "mrr"), strict=True):
        for line, one in zip(ax.lines, BOTH.values(), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), one[name])
    assert looks(first.lines) == looks(others[0].lines) and len({*looks(first.lines)}) == 2
    assert sorted(texts(plots.curves(BOTH, "ndcg"))) == ["a", "b"]
    compared = tl.compare(BOTH)
    np.testing.assert_array_equal(compared.plot("map").lines[1].get_ydata(), OTHER["map"])
    np.testing.assert_array_equal(RESULT.plot("map").lines[0].get_ydata(), RESULT["map"])
    assert compared.plot().get_ylabel() == "hit@k"


def test_what_is_equal_by_definition_is_one_line_or_chart():
    one_out = tl.top_k_eval(tl.Hits.from_ranks([1, 4, 0, 2], 5), k=5)
    assert texts(plots.curves(one_out)) == ["hit", "recall", "ndcg", "map = mrr", "precision"]
    assert plots.curves(one_out, ["mrr", "map"]).get_ylabel() == "mrr = map@k"
    poor = tl.top_k_eval(tl.Hits.from_ranks([2, 0, 0], 5), k=5)
    facets = plots.curves({"good": one_out, "poor": poor}).figure.axes
    names = ["hit@k", "precision@k", "recall@k", "map = mrr@k", "ndcg@k"]
    assert [ax.get_ylabel() for ax in facets] == names


def test_a_curve_ends_where_its_lists_do_and_one_of_one_k_is_a_point():
    deep = tl.top_k_eval(RANKS, TRUTHS, k=20)
    (line,) = plots.curves(deep, "ndcg").lines
    assert len(line.get_xdata()) == 10 and line.get_marker() == "o"
    assert plots.curves(deep, "ndcg").get_xlim() == (1, 20)
    ax = tl.top_k_eval([1], {1}, k=1, metrics=["mrr"]).plot()
    assert told(ax).endswith("; no interval")
    assert ax.lines[0].get_marker() == "o" and ax.get_xticks().tolist() == [1]


def test_metrics_of_the_lists():
    known = {"catalogue": 40, "counts": np.arange(1, 41)}
    result = by_words(RANKS, TRUTHS, k=10, metrics=["item_coverage", "novelty"], **known)
    ax = plots.curves(result, "item_coverage")  # of all lists together
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), result["item_coverage"])
    assert len(ax.collections) == 0 and "no interval" in told(ax)
    assert "band: 95 % interval" in told(plots.curves(result, "novelty"))


def test_eight_systems_have_eight_looks():
    per_user, many = plots.per_user(eight(RESULT), "ndcg@10"), plots.exposure(eight([1, 2, 3]))
    for ax in (plots.curves(eight(RESULT), ["ndcg", "mrr"]), per_user, many):
        drawn = looks(one for one in ax.lines if one.get_label().startswith("system"))
        assert len({*drawn}) == len(drawn) >= 8
    for others in (axes.DASHES, axes.MARKERS):  # colours come back with another
        assert math.gcd(len(COLOURS), len(others)) == 1


def test_sampled_beside_full():
    ax = plots.sampled({"a": RESULT}, {"a": OTHER}, "hit")
    lines = {line.get_label(): line for line in ax.lines}
    full, few = lines["a, all items"], lines["a, sampled"]
    assert full.get_ydata().tolist() == RESULT["hit"].tolist()
    assert few.get_ydata().tolist() == OTHER["hit"].tolist()
    assert full.get_color() == few.get_color()
    assert (full.get_linestyle(), few.get_linestyle()) == ("-", "--")


def test_interpolated_precision_over_recall():
    asked = ["iprec(recall=0)", "iprec(recall=0.5)", "iprec", "ndcg"]
    found = tl.top_k_eval(RANKS, TRUTHS, [5, 10], metrics=asked)
    ax = plots.precision_recall({"a": found, "b": found}, 5)
    names = "iprec(recall=0)@5", "iprec@5", "iprec(recall=0.5)@5"
    assert ax.lines[0].get_xdata().tolist() == [0, 0.1, 0.5] and texts(ax) == ["a", "b"]
    assert ax.lines[0].get_ydata().tolist() == [found[name] for name in names]
    low, high = found.interval(names[2])
    points = ax.collections[0].get_paths()[0].vertices
    assert {*points[points[:, 0] == 0.5, 1].round(9)} >= {round(low, 9), round(high, 9)}


# Users, segments, items


def test_the_area_under_the_users_curve_is_the_mean():
    ax = plots.per_user(BOTH, "ndcg@10")
    for line, system in zip(ax.lines, BOTH.values(), strict=True):
        x, y = line.get_xdata(), line.get_ydata()
        assert line.get_drawstyle() == "steps-post"
        assert np.sum(np.diff(x) * y[:-1]) == pytest.approx(system["ndcg@10"])
        assert y[0] == np.mean(system.per_user("ndcg@10") > 0) and y[-1] == 0
    assert texts(ax) == [f"{name}: mean {one['ndcg@10']:.4f}" for name, one in BOTH.items()]
    some = tl.top_k_eval([[1, 2], [1, 2], [1]], [{2}, {1}, set()], k=2)  # one is left out
    assert plots.per_user(some, "mrr@2").lines[0].get_ydata().tolist() == [1.0, 0.5, 0.0]
    nobody = tl.top_k_eval([[1], [2]], [set(), set()], k=1)
    assert plots.per_user(nobody, "mrr@1").lines[0].get_ydata().tolist() == [0.0]


def test_segments_are_points_with_their_intervals():
    parts = RESULT.by(["new"] * 20 + ["old"] * 29 + [None])
    ax = plots.segments(parts, "hit@10", level=0.9)
    dots, _, (reach,) = ax.containers[0].lines
    np.testing.assert_array_equal(dots.get_xdata(), [one["hit@10"] for one in parts.values()])
    ends = [segment[:, 0] for segment in reach.get_segments()]
    np.testing.assert_allclose(ends, [one.interval("hit@10", 0.9) for one in parts.values()])
    assert ticks(ax) == ["new\n20 users", "old\n29 users", "no label\n1 user"]
    assert ax.yaxis_inverted() and texts(ax) == []  # the first on top
    both = plots.segments({"a": {"x": RESULT}, "b": {"x": OTHER, "y": OTHER}}, "mrr@5")
    places = [bars.lines[0].get_ydata() for bars in both.containers]
    assert texts(both) == ["a", "b"] and places[0][0] < places[1][0]  # not on top of each other
    assert [round(place) for place in places[1]] == [0, 1]
    labels = ["new", "old"] * 25
    for made in (RESULT.by(labels), tl.compare(BOTH).by(labels)):  # which draw themselves
        assert [one[:3] for one in ticks(made.plot("recall@10"))] == ["new", "old"]


def test_many_segments_have_room_and_eight_systems_stay_in_them():
    ax = plots.segments(eight(RESULT.by(["new", "old"] * 25)), "recall@10")
    rows = np.array([bars.lines[0].get_ydata() for bars in ax.containers])  # (systems, segments)
    assert np.all(np.diff(rows, axis=0) > 0.05)
    assert rows[:, 0].max() < 0.5 < rows[:, 1].min() < rows[:, 1].max() < 1.5  # within the axis
    lines = [bars.lines[0] for bars in ax.containers]
    assert len({(one.get_color(), one.get_marker()) for one in lines}) == 8
    parts = {f"s{i}": tl.top_k_eval([[1], [2]], [{1}, {1}], k=1) for i in range(40)}
    assert plots.segments(parts, "hit@1").figure.get_size_inches()[1] > 15


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
    seen = tl.beyond.exposure(RANKS, catalogue=60)  # of which 20 are never listed
    for k in (1, 4, 10):
        assert texts(plots.exposure(seen.counts(k))) == [f"Gini {listwise.gini(seen)[k - 1]:.3f}"]
    assert texts(plots.exposure({"lists": seen})) == [f"lists (Gini {listwise.gini(seen)[9]:.3f})"]


# What cannot be drawn

A_CURVE, AT_ONE_K = r"'ndcg@5': a curve .* every k; give 'ndcg'", r"'ndcg': .* one k; .*'ndcg@10'"
STEPS = tl.compare({1: RESULT, 2: RESULT})
AX = Figure().subplots()
WHOLE = tl.top_k_eval([[1, 2]], [{1: 1, 2: 0}], 2, metrics="bpref")
REFUSED = [
    (lambda: WHOLE.plot("bpref"), ValueError, "'bpref' is of the whole list: it has no k, and no"),
    (lambda: RESULT.plot("nope"), KeyError, "this result has hit, precision"),
    (lambda: RESULT.plot("ndcg@5"), ValueError, A_CURVE),
    (lambda: plots.per_user({"a": RESULT}, "ndcg"), ValueError, AT_ONE_K),
    (lambda: plots.curves({}, "ndcg"), ValueError, "no result to draw"),
    (lambda: plots.curves([RESULT], "ndcg"), TypeError, "a dict of label -> result, not list"),
    (lambda: plots.segments(RESULT, "ndcg@5"), ValueError, "dict of segment -> result"),
    (
        lambda: plots.curves(BOTH, ["ndcg", "mrr"], ax=AX),
        *(ValueError, "ax= is for one metric of several systems: 'ndcg'"),
    ),
    (lambda: plots.precision_recall(RESULT), ValueError, "or more metrics 'iprec.*result has 0"),
    *(
        (lambda one=one: plots.exposure({"a": one}), ValueError, "counts of 'a': one number per")
        for one in ([], [0, 0], [1, -1], [np.nan, 1], [[1, 2]])
    ),
    (lambda: STEPS.plot("ndcg@10", kind="curv"), ValueError, "kind='curv' .did you mean 'curve'"),
    (lambda: STEPS.plot("ndgc@10"), KeyError, "'ndgc@10' .did you mean 'ndcg@10'.*: this result h"),
    (lambda: STEPS.test().plot(ax=AX), ValueError, r"is for one metric: .test\('hit@5'\).plot"),
    (lambda: tl.compare({"a": RESULT}).plot(kind="movers"), ValueError, "two systems are needed"),
    (
        lambda: tl.compare({**BOTH, "c": OTHER}).plot(kind="movers", ax=AX),
        *(ValueError, "ax= is for one pair"),
    ),
    (lambda: plots.critical_difference({"a": 1.0}, 1.0), ValueError, "and there are 1"),
]


def test_what_cannot_be_drawn():
    for draw, error, said in REFUSED:
        with pytest.raises(error, match=said):
            draw()


# Every function


def every(result, ax=None):
    """Call every plotting function."""
    yield plots.curves(result, ax=ax)
    yield plots.per_user(result, "ndcg@1", ax=ax)
    yield plots.segments({"all": result}, "ndcg@1", ax=ax)
    yield plots.exposure([1, 2, 3], ax=ax)
    yield plots.sampled(result, result, "ndcg", ax=ax)
    yield plots.precision_recall(tl.top_k_eval(RANKS, TRUTHS, metrics=POINTS), ax=ax)
    yield plots.critical_difference({"a": 1.0, "b": 2.0}, 1.1, ax=ax)


def test_every_function_draws_where_it_is_told_and_changes_nothing_else():
    before = dict(matplotlib.rcParams), len(Gcf.figs)
    mine = Figure().subplots()
    assert all(ax is mine for ax in every(RESULT, mine))
    pictures = [*every(RESULT)]
    assert len(plots.__all__) == len(pictures) == len({ax.figure for ax in pictures})
    assert {ax._repr_png_.__name__ for ax in pictures} == {"png"}  # by which notebooks show them
    assert pictures[0]._repr_png_().startswith(b"\x89PNG")
    assert before == (dict(matplotlib.rcParams), len(Gcf.figs))  # pyplot knows of none
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["red"])}):
        ax = plots.curves(RESULT)
    assert all(re.fullmatch("#[0-9A-F]{6}", line.get_color()) for line in ax.lines)


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'toplist\[plot\]'$"):
        RESULT.plot()


def test_a_picture_says_over_how_many_users_its_means_are_and_by_which_rules():
    """A third of 90 users has an item of grade 2: the others are in no mean of recall(rel=2)."""
    lists = {f"u{i}": [f"i{(i + j) % 7}" for j in range(4)] for i in range(90)}
    truth = {user: {f"i{i % 5}": 1 + (i % 3 == 0)} for i, user in enumerate(lists)}
    some = "recall(rel=2)"
    result = tl.top_k_eval(lists, truth, [1, 3], metrics=["ndcg", some])
    titles = {
        "30 users": (plots.curves(result, some), plots.per_user(result, f"{some}@3")),
        "90 users": (plots.curves(result, "ndcg"),),
        "different numbers of users": (plots.curves(result, ["ndcg", some]),),
    }
    titles["30 users"] += (tl.compare({1: result, 2: result}).plot(f"{some}@3"),)
    for said, drawn in titles.items():
        assert {told(ax).split(";")[0] for ax in drawn} == {said}
    both = plots.curves({"a": result, "b": result}).figure
    assert both.get_suptitle().startswith("different numbers of users")
    halves = result.by({user: i % 2 for i, user in enumerate(lists)})
    assert ticks(plots.segments(halves, f"{some}@3")) == ["0\n15 users", "1\n15 users"]
    neurec = tl.top_k_eval(RANKS[:30], TRUTHS[:30], k=[5, 10], convention="neurec")
    title = told(plots.curves({"a": RESULT, "b": neurec}, "ndcg"))
    assert title.startswith("different numbers of users; different conventions; ")


def test_a_caption_says_what_is_rough_as_the_table_beside_it_does():
    lists = {"a": RANKS[:12], "b": RANKS[:12, ::-1]}
    few = {name: tl.top_k_eval(some, TRUTHS[:12], k=[1, 5]) for name, some in lists.items()}
    both = tl.compare(few)
    rough = "rough: only 12 users"
    assert rough in str(few["a"]) and rough not in str(RESULT)
    for ax in (
        few["a"].plot("ndcg"),
        both.plot("ndcg"),
        both.plot("ndcg@5"),
        plots.sampled(*few.values(), "ndcg"),
        both.by([0] * 12).plot("ndcg@5"),
    ):
        assert rough in told(ax)
    assert rough not in told(RESULT.plot("ndcg")) + told(plots.per_user(few["a"], "ndcg@5"))
    assert rough in told(few["a"].plot()) and "rough" not in told(few["a"].plot("hit"))
    differ = "fewer than 30 users differ"
    assert differ in told(both.test("ndcg@5").plot()) and differ in told(both.band("ndcg").plot())


# Comparisons


def test_one_metric_over_steps_is_a_learning_curve():
    found = tl.compare({2000: RESULT, 500: OTHER, 1000: OTHER})
    for ax in (found.plot(kind="curve", metric="ndcg@10"), found.sort("mrr@5").plot("ndcg@10")):
        (line,) = ax.lines
        assert line.get_xdata().tolist() == [500, 1000, 2000] and ax.get_ylabel() == "ndcg@10"
        assert line.get_ydata().tolist() == [OTHER["ndcg@10"]] * 2 + [RESULT["ndcg@10"]]
        bars = ax.collections[0].get_segments()
        np.testing.assert_allclose(bars[0][:, 1], RESULT.interval("ndcg@10"))
        assert told(ax).endswith("95 % interval of each")
    # of others the best comes first; without @ it is over k, as ever
    ax = tl.compare({"late": OTHER, "9": RESULT}).plot("ndcg@10", level=0.5)
    best = sorted({"late": OTHER, "9": RESULT}.items(), key=lambda pair: -pair[1]["ndcg@10"])
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == [one["ndcg@10"] for _, one in best]
    assert ax.yaxis_inverted() and all(one.get_markerfacecolor() == one.get_color() for one in dots)
    assert ticks(ax) == [name for name, _ in best] and "50 % interval" in told(ax)
    assert found.plot(kind="curve").get_xlabel() == "k" and len(found.plot("ndcg").lines) == 3
    ax = tl.compare({1: [RESULT, OTHER], 2: OTHER}).plot("mrr@5")  # the mean of runs
    assert ax.lines[0].get_ydata()[0] == (RESULT["mrr@5"] + OTHER["mrr@5"]) / 2
    assert told(ax).endswith("no interval")


def filled(ax):
    """Return the filled steps of a chart, worse and better together."""
    return sum(patch.get_data().values for patch in ax.patches)


def test_movers_are_the_sorted_differences_and_both_values():
    found = tl.compare(BOTH)
    ax = found.plot("ndcg@10", kind="movers")
    a, b = RESULT.per_user("ndcg@10"), OTHER.per_user("ndcg@10")
    np.testing.assert_allclose(filled(ax), np.sort(b - a))
    worse, better = (patch.get_data().values for patch in ax.patches)
    assert max(worse) == 0 == min(better)
    counts = f"{sum(b < a)} worse, {sum(b == a)} equal, {sum(b > a)} better"
    assert told(ax) == f"ndcg@10; {counts}"
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("b - a", "users, from the worst to the best")
    beside = ax.figure.axes[1]
    points = {tuple(point) for point in beside.collections[0].get_offsets().data.round(9)}
    assert points == {*zip(a.round(9).tolist(), b.round(9).tolist(), strict=True)}
    assert (beside.get_xlabel(), beside.get_ylabel()) == ("a", "b")
    given = Figure().subplots()
    assert found.movers("ndcg@10").plot(ax=given) is given and len(given.figure.axes) == 1


def test_movers_of_several_systems_have_a_chart_each():
    names = {"base": RESULT, "b" * 90: OTHER, "same": RESULT, "d": OTHER}
    ax = tl.compare(names).plot(kind="movers")  # the first name
    drawn = ax.figure.axes
    assert [one.get_ylabel() for one in drawn] == [
        *("bbbbbbb…bbbbbb - base", "same - base", "d - base")
    ]
    assert not filled(drawn[1]).any() and drawn[0].get_ylim() == drawn[1].get_ylim()
    assert "0 worse, 50 equal, 0 better" in told(STEPS.plot(kind="movers"))


def test_movers_of_many_users_are_few_steps_and_lower_may_be_better():
    ranks = RNG.integers(0, 30, 3000)
    few = [tl.top_k_eval(tl.Hits.from_ranks(some, 30), k=5) for some in (ranks, ranks[::-1])]
    drawn = filled(tl.compare({"a": few[0], "b": few[1]}).plot("mrr@5", kind="movers"))
    assert len(drawn) == differences.DRAWN and (np.diff(drawn) >= 0).all()
    count = replace(tl.METRICS["hit"], name="count")
    for metric, falls in ((replace(count, higher_is_better=False), True), (count, False)):
        some = [tl.top_k_eval([[1], [1], row], [{1}] * 3, 1, metrics=metric) for row in ([2], [1])]
        ax = tl.compare({"a": some[0], "b": some[1]}).plot("count@1", kind="movers")
        assert filled(ax)[0] == int(falls)
        colours = [patch.get_facecolor() for patch in ax.patches if patch.get_data().values.any()]
        assert colours == [matplotlib.colors.to_rgba(differences.SIDES[0 if falls else 1])]


def test_a_forest_has_a_line_for_each_comparison():
    tests, given = tl.compare({**BOTH, "c": RESULT}).test(), Figure().subplots()
    facets = tests.plot().figure.axes
    assert "paired t" in facets[0].figure.get_suptitle()
    assert [ax.get_xlabel() for ax in facets] == [*RESULT.terms.metrics]
    for ax in facets:
        these = [one for one in tests if one.name.startswith(f"{ax.get_xlabel()}@")]
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        assert [dot.get_xdata()[0] for dot in dots] == [one.difference for one in these]
        hollow = [dot.get_markerfacecolor() != dot.get_color() for dot in dots]
        assert hollow == [not one.mark for one in these]
    one = tl.compare(BOTH, baseline="a").test("ndcg@10")
    assert one.plot(ax=given) is given and len(given.get_yticklabels()) == 1
    three = tl.compare({**BOTH, "c": RESULT}).test("ndcg@10").plot()
    assert "paired t over 50 users after Holm over 3 comparisons" in told(three)
    assert told(three).endswith("convention standard")
    own = tl.inference.paired_tests({"a": [1.0, 2.0, 4.0], "b": [1.0, 3.0, 2.0]}).plot()
    assert "1 comparison; few rows lie" in told(own) and "convention" not in told(own)


# Mean ranks: every system stands at its own, and bars join what is near

FIVE = {"e": 4.4, "a": 1.2, "d": 3.8, "b": 2.0, "c": 3.6}


def drawn_in(ax, colour):
    return [line.get_xydata().tolist() for line in ax.lines if line.get_color() == colour]


def test_systems_stand_at_their_ranks():
    ax = plots.critical_difference(FIVE, 1.0, n_datasets=7)
    starts = [line[0] for line in drawn_in(ax, COLOURS[0])]
    assert starts == [[rank, 0] for rank in sorted(FIVE.values())]
    assert [text.get_text() for text in ax.texts] == [
        *("1", "2", "3", "4", "5", "critical difference 1.00"),
        *("a  1.20", "b  2.00", "c  3.60", "3.80  d", "4.40  e"),
    ]
    assert told(ax).startswith("mean ranks, 1 is the best; 7 data sets")


@pytest.mark.parametrize(
    ("ranks", "critical", "bars"),
    [
        (FIVE, 1.0, [[1, 2], [4, 4]]),
        (FIVE, 0.1, []),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, 5.0, [[1, 3]]),  # a group within another has no bar
        ({"a": 1.0, "b": 2.0, "c": 3.0, "d": 3.5}, 1.5, [[1, 2], [2, 4]]),
    ],
)
def test_bars_join_what_does_not_differ(ranks, critical, bars):
    lines = drawn_in(plots.critical_difference(ranks, critical), COLOURS[1])
    assert [[round(x) for x, _ in line] for line in lines] == bars
    assert len({line[0][1] for line in lines}) == len(lines)
