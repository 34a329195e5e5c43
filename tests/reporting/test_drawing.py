"""Where lines, points and names stand in the charts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toplist.reporting import drawing

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


@given(FINITE, st.floats(1e-9, 1e6))
def test_ticks_are_round_and_within(low, width):
    high = low + width
    found = drawing.ticks(low, high)
    if high > low:
        assert len(found) <= 6
        room = 1e-6 * max(abs(low), abs(high), 1)
        assert all(low - room <= one <= high + room for one in found)


@pytest.mark.parametrize("depth", [1, 2, 7, 99, 100, 101, 5000])
def test_curves_have_both_ends_and_at_most_100_points(depth):
    values = np.linspace(0.1, 0.9, depth)
    chart = drawing.curves("t", depth, [("a", 0, values, values - 0.1, values + 0.1)])
    points = [tuple(map(float, one.split(","))) for one in chart.lines[0].points.split()]
    assert len(points) == min(depth, 100)
    assert points[0][0] == drawing.LEFT and (depth == 1 or points[-1][0] == drawing.RIGHT)
    assert all(drawing.TOP <= y <= drawing.BOTTOM for _, y in points)
    heights = [y for _, y in points]
    assert heights == sorted(heights, reverse=True)
    numbers = [text for _, text in chart.x]
    assert numbers[0] == "1" and numbers[-1] == str(depth)


def test_a_curve_without_interval_has_no_band():
    nothing = np.full(3, np.nan)
    (line,) = drawing.curves("t", 3, [("a", 0, np.array([0.0, 0.5, 1]), nothing, nothing)]).lines
    assert line.band == "" and len(line.points.split()) == 3
    (line,) = drawing.curves("t", 3, [("a", 0, nothing, nothing, nothing)]).lines
    assert line.points == ""


@given(st.lists(FINITE, min_size=1, max_size=7))
def test_names_at_the_ends_of_lines_do_not_touch(ends):
    lines = [
        (str(i), i, np.array([0.0, one]), np.zeros(2), np.zeros(2)) for i, one in enumerate(ends)
    ]
    found = sorted(line.end for line in drawing.curves("t", 2, lines).lines)
    assert all(b - a >= drawing.SPACING - 1e-6 for a, b in pairwise(found))
    assert found[-1] <= drawing.BOTTOM


def test_a_forest_has_zero_and_each_interval_in_its_place():
    rows = [("a", 0.1, 0.0, 0.2), ("b", -0.2, -0.4, 0.0), ("c", 0, np.nan, np.nan)]
    chart = drawing.dots("t", [(*row, 1, row[0] == "c") for row in rows], zero=True)
    a, b, c = chart.dots
    assert [one.hollow for one in chart.dots] == [False, False, True]
    assert [one.text for one in chart.dots] == ["+0.1000", "-0.2000", "+0.0000"]
    assert a.low == pytest.approx(chart.zero) == pytest.approx(b.high) == pytest.approx(c.at)
    assert a.at - a.low == pytest.approx((a.high - a.low) / 2)
    assert b.high - b.low == pytest.approx(2 * (a.high - a.low))
    assert a.y < b.y < c.y < chart.height and (c.low, c.high) == (c.at, c.at)


def test_bars_hold_all_differences():
    values = np.array([-0.5, -0.5, 0.1, 0.5, 0.5, 0.5])
    chart = drawing.histogram("t", values)
    heights = {round(height, 1) for *_, height in chart.bars}
    assert len(chart.bars) == 3 and max(heights) == drawing.BOTTOM - drawing.TOP
    total = sum(height for *_, height in chart.bars) / max(heights)
    assert total == pytest.approx(len(values) / 3)
    (dot,) = drawing.dots("t", [("a", 0.0, 0.0, 0.0, 0, False)]).dots
    assert np.isfinite([dot.low, dot.high, dot.at, dot.y]).all()


def test_a_curve_ends_where_its_lists_do():
    values = np.linspace(0.1, 0.4, 10)
    lines = [("long", 0, values, values, values), ("short", 1, *[values[:4]] * 3)]
    long, short = drawing.curves("t", 10, lines).lines
    assert long.stop is None
    assert short.stop == pytest.approx(
        tuple(map(float, short.points.split()[-1].split(","))), abs=0.1
    )
    assert len(short.points.split()) == 4


@given(st.lists(st.text("ab-", min_size=1, max_size=60), min_size=1, max_size=8, unique=True))
def test_names_are_cut_in_the_middle_and_stay_apart(names):
    chart = drawing.dots("t", [(name, 0.0, 0.0, 0.0, 0, False) for name in names])
    short = [one.name for one in chart.dots]
    assert max(map(len, short)) <= drawing.AT_DOT and len({*short}) == len(names)
    if max(map(len, names)) <= drawing.AT_DOT:
        assert short == names
