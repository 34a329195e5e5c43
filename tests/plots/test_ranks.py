"""Critical-difference diagrams: every system stands at its rank, and bars join what is near."""

import pytest

pytest.importorskip("matplotlib")
from toplist import plots
from toplist.plots.axes import COLOURS

FIVE = {"e": 4.4, "a": 1.2, "d": 3.8, "b": 2.0, "c": 3.6}


def drawn(ax, colour):
    return [line.get_xydata().tolist() for line in ax.lines if line.get_color() == colour]


def test_systems_stand_at_their_ranks():
    ax = plots.critical_difference(FIVE, 1.0, n_datasets=7)
    starts = [line[0] for line in drawn(ax, COLOURS[0])]
    assert starts == [[rank, 0] for rank in sorted(FIVE.values())]
    texts = [text.get_text() for text in ax.texts]
    assert texts[5:] == [
        *("critical difference 1.00", "a  1.20", "b  2.00", "c  3.60"),
        *("3.80  d", "4.40  e"),
    ]
    assert texts[:5] == ["1", "2", "3", "4", "5"]
    assert ax.get_title(loc="left").startswith("mean ranks, 1 is the best; 7 data sets")


def test_bars_join_what_does_not_differ():
    ax = plots.critical_difference(FIVE, 1.0)
    bars = [[round(x) for x, _ in line] for line in drawn(ax, COLOURS[1])]
    assert bars == [[1, 2], [4, 4]]
    places = [line[0][1] for line in drawn(ax, COLOURS[1])]
    assert places[0] != places[1]
    assert not drawn(plots.critical_difference(FIVE, 0.1), COLOURS[1])


def test_a_group_within_another_has_no_bar():
    (bar,) = drawn(plots.critical_difference({"a": 1.0, "b": 2.0, "c": 3.0}, 5.0), COLOURS[1])
    assert [round(x) for x, _ in bar] == [1, 3]
    four = plots.critical_difference({"a": 1.0, "b": 2.0, "c": 3.0, "d": 3.5}, 1.5)
    assert [[round(x) for x, _ in bar] for bar in drawn(four, COLOURS[1])] == [[1, 2], [2, 4]]


def test_names_do_not_run_into_each_other_or_out_of_the_figure():
    many = {f"a model with a long name, number {i}": 1 + 0.9 * i for i in range(20)}
    for given in (dict([*many.items()][:2]), many):
        figure = plots.critical_difference(given, 3.0).figure
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        width, height = figure.get_size_inches() * figure.dpi
        for i, box in enumerate(boxes):
            assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height
            assert not any(box.overlaps(other) for other in boxes[:i])


def test_one_system_has_no_ranks():
    with pytest.raises(ValueError, match="two systems are needed, and there are 1"):
        plots.critical_difference({"a": 1.0}, 1.0)
