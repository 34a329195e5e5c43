"""Splits and draws are made in exact arithmetic: times, thresholds, shares, popularity."""

import re

import numpy as np
import pytest

from toplist import loo
from toplist.loo.logs import instant, times_of

T = 1_700_000_000_000_000_000
Y2020 = "2020-01-01T00:00:00"
ROWS = [1, 1, 1], ["a", "b", "c"]


@pytest.mark.parametrize(
    "times",
    [
        np.array([T, T + 100, T + 50]),
        np.array([2**63 + 1, 2**63 + 3, 2**63 + 2], np.uint64),
        np.array([T, T + 100, T + 50]).view("datetime64[ns]"),
        [f"2020-01-01T00:00:00.000000{digit}" for digit in (1, 3, 2)],
        ["1e3", "1.002e3", "1001"],
    ],
    ids=str,
)  # fmt: skip
def test_times_are_compared_exactly(times):
    for seed in range(8):  # ties would fall at random
        split = loo.leave_one_out((*ROWS, times), validation=True, seed=seed)
        assert (split.truths(), split.truths("validation")) == ({1: ["b"]}, {1: ["c"]})
        assert split.report.n_tied == 0


def test_ties_stay_ties():
    same = ["2020-01-01T00:00:00.100", "2020-01-01 00:00:00.1", "2020-01-01T00:00:00.1000000"]
    assert loo.leave_one_out((*ROWS, same)).report.n_tied == 1
    assert loo.leave_one_out((*ROWS, ["1.0", "1", "10e-1"])).report.n_tied == 1


@pytest.mark.parametrize(
    ("times", "threshold", "expected"),
    [
        (np.array([2**53, 2**53 + 1, 5]), 2.0**53, "ab"),
        (np.array([0.1, 0.2, 0.3]), "0.3", "c"),
        (np.array([50, 51, 40]).view("datetime64[Y]"), "2020-01-02", "b"),
        (np.array([2**63 + 1, 2**63 + 3, 0], np.uint64), 2**63 + 2, "b"),
        (np.array([T, T + 1, 0]).view("datetime64[ns]"), np.datetime64(T + 1, "ns"), "b"),
        (np.array([600, 601, 0]).view("datetime64[M]"), "2020-02-01", "b"),
        (["2020-01-01", f"{Y2020}.0000001", "2019-01-01"], f"{Y2020}.00000005", "b"),
        ([5, 2**63 - 1, 0], 2**63 - 1, "b"),
        ([1, 2, 3], 2**90, ""),
        ([1, 2, 3], -(2**90), "abc"),
    ],
)  # fmt: skip
def test_thresholds_compare_exactly(times, threshold, expected):
    truths = loo.holdout((*ROWS, times), time=threshold).truths()
    assert truths == ({1: list(expected)} if expected else {})


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([2**80, 1], f"row 0: timestamp {2**80} is beyond 63 bits"),
        ([2**63, -1], f"row 0: timestamp {2**63} is beyond 63 bits beside others"),
        ([0.5, 2**53 + 1], f"row 1: timestamp {2**53 + 1} is beyond 53 bits beside decimals"),
        (["2020-01-01", "9999-12-31"], "row 1: timestamp '9999-12-31'.* from 1677-09-22 to 2262"),
        (["2020-01-01T00:00:00.0000000001"], "row 0: timestamp '2020.*kept in nanoseconds"),
        (np.array([0, 8_000]).view("datetime64[Y]"), "row 1: timestamp '9970'.*nanoseconds"),
        (np.array([1, 1_000]).view("datetime64[ps]"), "row 0: timestamp '1970.*nanoseconds"),
    ],
)
def test_times_that_64_bits_do_not_hold_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        times_of(times)


def test_months_of_any_year_begin_where_numpy_says():
    months = np.arange(-3_500, 3_500, 7).view("datetime64[M]")
    days = months.astype("datetime64[D]")
    times = times_of(months)
    for threshold in ("1970-01-01", "1969-12-31T23:59:59.9", "1904-02-29", "2200-03-01"):
        expected = days.astype("datetime64[ms]") >= np.datetime64(threshold, "ms")
        assert np.array_equal(times.since(instant(threshold).value), expected)


@pytest.mark.parametrize(
    "text", ["1_000", "１", "٣", "0x10", "inf", "1e", ".", "2020-1-1", "2020-01-01T12:30.5", True]
)
def test_what_is_no_plain_number_or_date_is_refused_with_its_row(text):
    with pytest.raises(ValueError, match=re.escape(f"row 1: timestamp {text!r} is neither")):
        loo.leave_one_out(([1, 1], [5, 6], ["3", text]))


def test_items_beside_a_heavy_one_can_be_drawn():
    held = np.full(3_000, 3)
    drawn = loo.negatives(held, 2, n_items=4, popularity=[1e300, 1, 2, 0])
    assert np.all(drawn[:, 0] == 0)
    assert 0.62 < np.mean(drawn[:, 1] == 2) < 0.71
    drawn = loo.negatives(held, 3, n_items=4, popularity=[1.7e308, 1.7e308, 5e-324, 0])
    assert 0.45 < np.mean(drawn[:, 0] == 0) < 0.55 and np.all(drawn[:, 2] == 2)


def test_a_share_is_taken_in_exact_arithmetic():
    log = [1] * 100, list(range(100)), list(range(100))
    assert loo.holdout(log, 0.29).report.rows["test"] == 29
