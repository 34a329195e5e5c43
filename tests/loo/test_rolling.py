"""Windows of time: which rows are before a cut, which in its horizon, and how many there are."""

import datetime
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from split_logs import FEW, ROWS, SHUFFLES, columns, kept, parts

import toplist as tl
from toplist import loo

LENGTHS = st.integers(1, 4)


def expected(rows, every, horizon, start, repeats):
    """Return (cut, train, test) of every window, in plain Python; None where one is empty."""
    own = [(user, item, time) for user, some in kept(rows, repeats).items() for time, item in some]
    times = sorted(time for *_, time in own)
    if start is None:
        halves = [time for time in times if 2 * sum(t < time for t in times) >= len(times)]
        if not halves:
            return None
        start = halves[0]
    found = []
    while start + horizon <= max(time for *_, time in rows) + 1:
        train = Counter(row for row in own if row[2] < start)
        test = Counter(row for row in own if start <= row[2] < start + horizon)
        found.append((start, train, test))
        start += every
    return found if found and all(train and test for _, train, test in found) else None


@FEW
@given(
    *(ROWS, LENGTHS, st.none() | LENGTHS, st.none() | st.integers(0, 6)),
    st.sampled_from(["first", "keep"]),
)
def test_windows_are_what_the_rule_says(rows, every, horizon, start, repeats):
    windows = expected(rows, every, horizon or every, start, repeats)
    options = {"horizon": horizon, "start": start, "repeats": repeats}
    if windows is None:
        with pytest.raises(ValueError, match="^windows: ") as error:
            loo.windows(columns(rows), every, **options)
        assert "\n" not in str(error.value)
        return
    found = loo.windows(columns(rows), every, **options)
    assert found.cuts == [cut for cut, *_ in windows] and len(found) == len(windows)
    for split, (_, train, test) in zip(found, windows, strict=True):
        assert parts(split)[:2] == [train, test]
        report = split.report
        total = sum(report.rows.values()) + report.n_repeats + report.n_later
        assert report.n_rows == len(rows) == total
        assert report.n_cold_users == len({u for u, *_ in test} - {u for u, *_ in train})
        assert report.n_cold == len({i for _, i, _ in test} - {i for _, i, _ in train})
        assert report.n_older == 0


@FEW
@given(ROWS, SHUFFLES)
def test_the_order_of_rows_does_not_matter(rows, random):
    rows = [*rows, (8, 5, 0), (9, 6, 6)]
    shuffled = random.sample(rows, len(rows))
    whole, other = (loo.windows(columns(each), 6, start=1) for each in (rows, shuffled))
    assert repr(whole) == repr(other)
    assert [parts(split) for split in whole] == [parts(split) for split in other]


@settings(deadline=None, max_examples=8)
@given(rows=ROWS)
def test_the_kind_of_the_log_does_not_matter(kinds, rows):
    rows, whole = [*rows, (8, 5, 0), (9, 6, 2), (9, 7, 6)], None
    for log in kinds(rows):
        start, every = datetime.datetime(2011, 12, 2, 8, 26), "5d"
        if isinstance(log, tuple) and isinstance(log[2][0], float):  # seconds
            start, every = start.timestamp(), 5 * 86_400
        elif "UTC" in str(getattr(log, "dtypes", "")):
            start = start.replace(tzinfo=datetime.UTC)
        (split,) = loo.windows(log, every, start=start)
        found = [
            {int(user): sorted(map(int, items)) for user, items in split.truths(part).items()}
            for part in ("train", "test")
        ]
        whole = found if whole is None else whole
        assert found == whole, type(log)


DAYS = [f"2024-01-{day:02}" for day in range(1, 29)]
USERS = [day % 3 for day in range(28)]
LOG = USERS, list(range(28)), DAYS


@pytest.mark.parametrize(
    "week", ["7d", "1w", "168h", datetime.timedelta(7), np.timedelta64(7, "D"),
             np.timedelta64(1, "W"), np.timedelta64(604_800, "s")],
)  # fmt: skip
def test_a_log_of_days_ends_with_its_last_day(week):
    windows = loo.windows(LOG, week, start="2024-01-15")
    assert windows.cuts == ["2024-01-15", "2024-01-22"]
    assert repr(windows) == (
        "2 windows\n2024-01-15: 14 rows before, 7 rows before 2024-01-22\n"
        "2024-01-22: 21 rows before, 7 rows before 2024-01-29"
    )
    assert windows[-1].test == (USERS[21:], list(range(21, 28)), DAYS[21:])
    assert [split.report.how for split in windows[:1]] == [
        "window 1 of 2: train before 2024-01-15, test before 2024-01-22 (of repeats the first is "
        "kept)"
    ]
    assert "7 rows left out: after the horizon" in str(windows[0].report)
    with pytest.raises(IndexError):
        windows[2]
    assert pickle.loads(pickle.dumps(windows))[1].truths() == windows[1].truths()
    overlapping = loo.windows(LOG, "1d", horizon=week, start=np.datetime64("2024-01-15"))
    assert len(overlapping) == 8 and {split.report.rows["test"] for split in overlapping} == {7}


def test_durations_of_libraries():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    week = pandas.Timedelta(7, "D")
    columns = dict(zip(("user_id", "item_id", "timestamp"), LOG, strict=True))
    days = polars.DataFrame(columns).with_columns(polars.col("timestamp").str.to_datetime())
    zoned = days.with_columns(polars.col("timestamp").dt.replace_time_zone("UTC"))
    start = pandas.Timestamp("2024-01-15")
    plain = loo.windows(days, week, start=start)
    assert plain.cuts == loo.windows(LOG, "7d", start=start).cuts
    aware = loo.windows(zoned, week, start=start.tz_localize("UTC"))
    assert aware.cuts == ["2024-01-15T00:00:00+00:00", "2024-01-22T00:00:00+00:00"]
    assert aware[0].truths() == plain[0].truths()
    assert loo.holdout(zoned, time=aware.cuts[1]).truths() == aware[1].truths()
    length = polars.select(polars.duration(days=7)).item()
    assert loo.windows(days, length, start=start).cuts == plain.cuts
    odd = loo.windows(days, pandas.Timedelta(7 * 86_400 * 10**9 + 1), start=start)
    assert odd.cuts == ["2024-01-15"]


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float64])
def test_numbers_of_every_width(kind):
    times = np.arange(1, 9).astype(kind)
    windows = loo.windows((np.arange(8), np.arange(8), times), 2)
    assert windows.cuts == [5, 7] and windows[1].test[2].tolist() == [7, 8]
    if kind is np.uint64:
        windows = loo.windows((np.arange(8), np.arange(8), times + np.uint64(2**63)), 2)
        assert windows.cuts == [2**63 + 5, 2**63 + 7]


def test_tenths_are_tenths():
    times = [Fraction(i, 10) for i in range(30)]
    windows = loo.windows((list(range(30)), [1] * 30, list(map(float, times))), 0.1, start=0.1)
    assert windows.cuts == [i / 10 for i in range(1, 30)]
    assert all(split.report.rows["test"] == 1 for split in windows)


@pytest.mark.parametrize(
    ("log", "every", "options", "message"),
    [
        (LOG, 7, {}, "every=7: the timestamps of this log are dates: give a timedelta"),
        (LOG, "soon", {}, "every='soon': the timestamps"),
        (LOG, "7d", {"horizon": 2.5}, "horizon=2.5: the timestamps of this log are dates"),
        (LOG, np.timedelta64(1, "M"), {}, "every=np.timedelta64.*: the timestamps"),
        (LOG, np.timedelta64("NaT"), {}, "every=np.timedelta64.*: the timestamps"),
        (LOG, "0d", {}, "every='0d': .*, above 0"),
        (LOG, datetime.timedelta(-1), {}, "every=.*: .*, above 0"),
        (LOG, "7d", {"start": 5}, "start=5: the timestamps of this log are dates"),
        (LOG, "7d", {"start": "2024-01-15T00:00+00:00"}, "start=.* have no time zone"),
        (LOG, "7d", {"start": "2024-01-01"}, "no row is before 2024-01-01: give a later start"),
        (LOG, "7d", {"start": "2025-01-01"}, "first ends at 2025-01-08, beyond the newest row"),
        (LOG, "999999999999999w", {}, "first ends at 2262-04-11T.*, beyond the newest row"),
        (LOG, "30d", {}, "beyond the newest row .2024-01-28.: give a shorter horizon or"),
        (LOG, "12h", {}, "no row is from 2024-01-15T12:00:00 on and before 2024-01-16: give"),
        (LOG, "1s", {"horizon": "3d"}, "windows: [0-9,]* windows of 28 rows: give a longer every"),
        (LOG, "7d", {"min_history": 6}, "before 2024-01-22 .* empty: none of its users has 6 rows"),
        (LOG, "7d", {"repeats": "last"}, "repeats='last': choose from 'first', 'keep'"),
        (([1, 1], [2, 3], [4, 5]), "7d", {}, "every='7d': .* are numbers: give a number in their"),
        (([1, 1], [2, 3], [4, 5]), True, {}, "every=True: "),
        (([1, 1], [2, 3], [4, 4]), 1, {}, "before no time lie half of the rows"),
        (([1, 1], [2, 3], [4, None]), 1, {}, "row 1, of user 1, has no timestamp"),
        (([], [], []), 1, {}, "before no time lie half of the rows"),
        (([], [], []), 1, {"start": 1}, "windows: 1 windows of 0 rows"),
    ],
)  # fmt: skip
def test_what_gives_no_windows_is_refused_in_one_line(log, every, options, message):
    with pytest.raises(ValueError, match=message) as error:
        loo.windows(log, every, **options)
    assert "\n" not in str(error.value)


def test_the_results_of_windows_are_paired_runs():
    rows = list(range(60))
    log = [i % 7 for i in rows], [i * i % 11 for i in rows], rows
    parts = loo.windows(log, 15)
    models = {"popular": loo.popular, "random": loo.random}
    runs = {
        name: [
            tl.top_k_eval(model(one.train, 2, users=one.truths()), one.truths(), k=2)
            for one in parts
        ]
        for name, model in models.items()
    }
    paired = tl.compare(runs, runs="paired")
    assert paired.differences == []
    means = [result["mrr@2"] for result in runs["popular"]]
    assert paired.to_dict()["popular"]["mrr@2"] == sum(means) / 2
    assert tl.compare(runs).differences  # as independent runs they are over other users
    common = paired.test("mrr@2", users="common")
    assert len(common) == 1
