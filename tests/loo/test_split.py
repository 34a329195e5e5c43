"""Splits of a log: what is held out, whatever the order of rows and the kind of the log."""

import datetime
import pickle
from collections import Counter
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from split_logs import FEW, REPEATS, ROWS, SHUFFLES, TIMES, by_user, columns, kept, parts

from toplist import audit, loo
from toplist.inputs.texts import keys_of, random_numbers

WAYS = st.sampled_from(["last", "random", "basket"])
AMOUNTS = st.integers(1, 3) | st.sampled_from([0.1, 0.2, 0.29, 0.5, 0.7])
LENGTHS = st.integers(1, 4)


def n_of(amount, n):
    """Return how many of n rows are held out: so many, or a share in exact arithmetic."""
    return amount if isinstance(amount, int) else int(Fraction(str(amount)) * n)


def rows_of(split):
    """Return user -> rows (time, item) of train, test, validation and history."""
    return [by_user((part or Counter()).elements()) for part in parts(split)]


def in_order(*given):
    """Return whether no time of a part is after one of the next part."""
    times = [[time for time, _ in part] for part in given]
    return sorted(chain(*times)) == list(chain(*map(sorted, times)))


# Against plain Python


@FEW
@given(ROWS, WAYS, REPEATS, st.integers(0, 3), st.booleans(), st.sampled_from(["train", "drop"]))
def test_leave_one_out_holds_out_what_it_says(rows, by, repeats, least, validation, short):
    split = loo.leave_one_out(
        columns(rows), by, repeats=repeats, min_history=least, validation=validation, short=short
    )
    train, test, rest, _ = rows_of(split)
    for user, own in kept(rows, repeats).items():
        n, baskets = min(len(own), 1 + validation), sorted({time for time, _ in own})[::-1]
        if by == "basket":
            n = sum(time in baskets[: 1 + validation] for time, _ in own)
        if len(own) - n < least:
            assert not test[user] and not rest[user]
            assert sorted(train[user]) == (sorted(own) if short == "train" else [])
            continue
        assert sorted(train[user] + test[user] + rest[user]) == sorted(own)
        if by == "basket":
            assert sorted(test[user]) == [row for row in own if row[0] == baskets[0]]
            assert {time for time, _ in rest[user]} == set(baskets[1:2] if validation else [])
            continue
        assert (len(test[user]), len(rest[user])) == (1, validation and len(own) > 1)
        assert by != "last" or in_order(train[user], rest[user], test[user])
    report = split.report
    assert report.users["test"] + report.n_short == report.n_users == len({u for u, _, _ in rows})


@FEW
@given(
    ROWS, AMOUNTS, st.booleans(), st.integers(0, 3), REPEATS, st.sampled_from(["last", "random"])
)
def test_holdout_holds_out_so_many_rows_or_a_share(rows, amount, more, least, repeats, by):
    option = "last" if isinstance(amount, int) else "ratio"
    validation = {"last": 2, "ratio": 0.2}[option] if more else None
    options = {option: amount, "validation": validation, "min_history": least}
    options |= {"by": by} if option == "ratio" else {}
    split = loo.holdout(columns(rows), repeats=repeats, **options)
    train, test, rest, _ = rows_of(split)
    n_short = 0
    for user, own in kept(rows, repeats).items():
        n, m = (n_of(one, len(own)) for one in (amount, validation or 0))
        if n == 0 or len(own) - n - m < least:
            n_short += 1
            assert (sorted(train[user]), test[user], rest[user]) == (own, [], [])
            continue
        assert (len(test[user]), len(rest[user])) == (n, m)
        assert sorted(train[user] + rest[user] + test[user]) == own
        assert options.get("by") == "random" or in_order(train[user], rest[user], test[user])
    assert split.report.n_short == n_short


@FEW
@given(ROWS, TIMES, st.none() | TIMES, st.integers(0, 2))
def test_holdout_by_time_never_trains_on_the_future(rows, time, validation, least):
    if validation is not None:
        time, validation = max(time, validation), min(time, validation)
    split = loo.holdout(
        columns(rows), time=time, validation=validation, repeats="keep", min_history=least
    )
    begin = time if validation is None else validation
    train, test, rest = (part or Counter() for part in parts(split)[:3])
    assert train == Counter(row for row in rows if row[2] < begin)
    history = Counter(user for user, _, when in rows if when < begin)
    known = [row for row in rows if history[row[0]] >= least]
    assert test == Counter(row for row in known if row[2] >= time)
    assert rest == Counter(row for row in known if begin <= row[2] < time)


@FEW
@given(ROWS, st.integers(1, 3), st.none() | st.integers(1, 2), AMOUNTS, st.integers(0, 2), REPEATS)
def test_held_out_users_are_not_in_train(rows, n, validation, hold, least, repeats):
    own = kept(rows, repeats)
    n_held = {user: n_of(hold, len(some)) for user, some in own.items()}
    enough = {user for user in own if n_held[user] and len(own[user]) - n_held[user] >= least}
    options = {"hold": hold, "validation": validation, "min_history": least, "repeats": repeats}
    if n + (validation or 0) > len(enough):
        with pytest.raises(ValueError, match=r"with enough rows to choose from"):
            loo.held_out_users(columns(rows), n, **options)
        return
    split = loo.held_out_users(columns(rows), n, **options)
    train, test, rest, history = rows_of(split)
    assert (len(test), len(rest)) == (n, validation or 0)
    assert {*test, *rest} <= enough and not {*test} & {*rest} and not {*train} & {*test, *rest}
    assert {*train, *test, *rest} == {*own} and {*history} <= {*test, *rest}
    for user, some in own.items():
        held = test.get(user, []) + rest.get(user, [])
        before = history.get(user, [])
        assert sorted(train.get(user, []) + before + held) == some
        assert len(held) == (n_held[user] if user in {*test, *rest} else 0)
        assert in_order(before, held)
    assert split.report.n_cold_users == n and split.report.n_short == len(own) - len(enough)
    assert "no row in train: given their history" in str(split.report)


def windows_of(rows, every, horizon, start, repeats, least):
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
        history = Counter(user for user, _, _ in train.elements())
        known = [row for row in own if history[row[0]] >= least]
        test = Counter(row for row in known if start <= row[2] < start + horizon)
        found.append((start, train, test))
        start += every
    return found if found and all(train and test for _, train, test in found) else None


@FEW
@given(
    *(ROWS, LENGTHS, st.none() | LENGTHS, st.none() | st.integers(0, 6)),
    *(st.sampled_from(["first", "keep"]), st.integers(0, 2)),
)
def test_windows_are_what_the_rule_says(rows, every, horizon, start, repeats, least):
    windows = windows_of(rows, every, horizon or every, start, repeats, least)
    options = {"horizon": horizon, "start": start, "repeats": repeats, "min_history": least}
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
        left_out = report.n_repeats + report.n_later + report.n_dropped
        assert report.n_rows == len(rows) == sum(report.rows.values()) + left_out
        assert report.n_cold_users == len({u for u, *_ in test} - {u for u, *_ in train})
        assert report.n_cold == len({i for _, i, _ in test} - {i for _, i, _ in train})
        assert report.n_older == 0


def core(pairs, k_users, k_items, random):
    """Remove one row at a time, of a user or an item with too few; in any order."""
    left = list(pairs)
    while True:
        users, items = Counter(u for u, _ in left), Counter(i for _, i in left)
        few = [at for at, (u, i) in enumerate(left) if users[u] < k_users or items[i] < k_items]
        if not few:
            return Counter(left)
        del left[random.choice(few)]


@FEW
@given(ROWS, st.integers(1, 3), st.integers(1, 3), REPEATS, SHUFFLES)
def test_a_core_is_what_removal_in_any_order_leaves(rows, k_users, k_items, repeats, random):
    own = [(user, item) for user, some in kept(rows, repeats).items() for _, item in some]
    expected = core(own, k_users, k_items, random)
    options = {"repeats": repeats, "k_core": (k_users, k_items), "last": 1}
    if not expected:
        with pytest.raises(ValueError, match=r"leaves nothing of"):
            loo.holdout(columns(rows), **options)
        return
    split = loo.holdout(columns(rows), **options)
    found = sum((part for part in parts(split) if part is not None), Counter())
    assert Counter((user, item) for user, item, _ in found.elements()) == expected
    sizes = [(len(of), len({u for u, _ in of}), len({i for _, i in of})) for of in (own, expected)]
    whole, left = sizes[0], (expected.total(), *sizes[1][1:])
    report, left_out = split.report, split.report.core
    assert left_out == (k_users, k_items, *(a - b for a, b in zip(whole, left, strict=True)))
    assert report.n_rows == len(rows) == found.total() + report.n_repeats + left_out.n_rows
    assert (report.n_users, report.n_items) == whole[1:]
    assert split.log.by_user().keys() == {u for u, _ in expected}


# Every way to split: the same of any order and kind of the log, and no row gets lost
SPLITS = {
    "one": (loo.leave_one_out, {}, {"validation": True, "short": "drop", "by": "random"}),
    "basket": (loo.leave_one_out, {"by": "basket"}, {"validation": True, "short": "drop"}),
    "last": (loo.holdout, {"last": 2}, {"validation": 1, "short": "drop"}),
    "share": (loo.holdout, {"ratio": 0.5}, {"validation": 0.2, "short": "drop", "by": "random"}),
    "time": (loo.holdout, {"time": 4}, {"validation": 2}),
    "users": (loo.held_out_users, {"test": 1, "hold": 1}, {"validation": 1, "by": "random"}),
    "windows": (loo.windows, {"every": 2, "start": 2}, {"horizon": 1}),
}
DRAWN = "one", "last", "share", "users"


def splits_of(name, log, **options):
    splitter, asked, _ = SPLITS[name]
    made = splitter(log, **asked | options)
    return list(made) if name == "windows" else [made]


@settings(max_examples=40)
@given(
    *(st.sampled_from(sorted(SPLITS)), ROWS, SHUFFLES, REPEATS, st.integers(0, 3)),
    *(st.lists(st.booleans(), min_size=3, max_size=3), st.none() | st.integers(1, 2)),
    st.integers(0, 3),
)
def test_every_row_has_a_place_in_any_order(name, rows, random, repeats, least, more, k_core, seed):
    optional = SPLITS[name][2].items()
    options = {option: one for (option, one), wanted in zip(optional, more, strict=False) if wanted}
    options |= {"seed": seed} if name in DRAWN else {}
    options |= {"min_history": least, "repeats": repeats, "k_core": k_core}
    if name == "windows" and repeats == "last":
        options["repeats"] = "first"
    try:
        made = splits_of(name, columns(rows), **options)
    except ValueError:  # no user, no window, or no k-core: nothing is split
        return
    again = splits_of(name, columns(random.sample(rows, len(rows))), **options)
    assert [parts(split) for split in made] == [parts(split) for split in again]
    assert [split.report for split in made] == [split.report for split in again]
    for split in made:
        report, found = split.report, [part for part in parts(split) if part is not None]
        left_out = report.n_repeats + report.n_dropped + report.n_later
        left_out += report.core.n_rows if report.core else 0
        assert sum(map(Counter.total, found)) + left_out == len(rows) == report.n_rows
        assert not sum(found, Counter()) - Counter(rows)
        train, _, _, history = parts(split)
        before = Counter(user for user, *_ in (history if name == "users" else train).elements())
        assert all(before[user] >= least for user in split.truths())
        assert name != "windows" or split.truths()
        assert name != "last" or {len(items) for items in split.truths().values()} <= {2}


@settings(max_examples=7)
@given(rows=ROWS, name=st.sampled_from(sorted(SPLITS)), seed=st.integers(0, 3))
def test_the_kind_of_the_log_does_not_matter(kinds, rows, name, seed):
    rows, whole = [*rows, (0, 5, 1), (0, 6, 2), (1, 5, 1), (1, 6, 2), (8, 7, 6), (9, 5, 0)], None
    for log in kinds(rows):
        first, day = datetime.datetime(2011, 12, 2, 8, 26), datetime.timedelta(1)
        if isinstance(log, tuple) and isinstance(log[2][0], float):  # seconds
            first, day = first.timestamp(), 86_400
        elif "UTC" in str(getattr(log, "dtypes", "")):
            first = first.replace(tzinfo=datetime.UTC)
        timed = {"windows": {"every": 5 * day, "start": first}, "time": {"time": first + 2 * day}}
        options = timed.get(name, {"seed": seed} if name in DRAWN else {})
        made = splits_of(name, log, **options)
        found = [
            {int(user): sorted(map(int, items)) for user, items in split.truths(part).items()}
            for split in made
            for part in split.report.rows
        ]
        whole = found if whole is None else whole
        assert found == whole, type(log)
        for split in made if not isinstance(log, str) else ():
            assert type(split.train) is type(log) is type(split.test)


# What is drawn


def test_seeded_splits_and_samples_stay_what_they_are():
    words = np.array([0, 1, 2**64 - 1], np.uint64)
    assert random_numbers(0, words).tolist() == [
        -6411193824288604561, 627405149472732430, 3303439293501059696
    ]  # fmt: skip
    words = (np.array([word], np.uint64) for word in (5, 6, 7))
    assert random_numbers(2**64 - 1, *words).tolist() == [-2824380188021875533]
    # the text "7" is the integer 7; "007" and "-0" are other ids
    keys = keys_of(["7", "007", "0", "-0", "00"]).tolist()
    assert keys[::2][:2] == [7, 0] and len(set(keys)) == 5
    users, items = ["ann"] * 6 + ["bob"] * 6, list("abcdef") * 2
    one = loo.leave_one_out((users, items), "random", seed=3)
    assert one.truths() == {"ann": ["c"], "bob": ["d"]}
    half = loo.holdout((users, items, [1] * 12), 0.5, seed=3)
    assert half.truths() == {"ann": ["a", "c", "e"], "bob": ["a", "d", "f"]}
    log = np.repeat(np.arange(9), 2), np.tile([5, 6], 9), np.tile([1, 2], 9)
    assert sorted(loo.held_out_users(log, 3, hold=1, seed=3).truths()) == [3, 4, 6]
    drawn = loo.negatives([3, 0], 4, n_items=50, seed=5)
    assert drawn.tolist() == [[0, 44, 21, 6], [9, 16, 1, 48]]
    drawn = loo.negatives([3, 0], 4, n_items=50, seed=5, users=["ann", 17], popularity=range(50))
    assert drawn.tolist() == [[31, 35, 26, 6], [31, 40, 25, 47]]


def test_random_choices_are_fair_and_the_seed_matters():
    """Of ten items at one time each is held out about as often, whatever its id."""
    users, items = np.repeat(np.arange(5_000), 10), np.tile(np.arange(10), 5_000)
    ties = users, items, np.zeros(50_000, int)
    split, other = loo.leave_one_out(ties), loo.leave_one_out(ties, seed=1)
    drawn = loo.leave_one_out((users, items), "random", repeats="keep")
    for one in (split, drawn):
        assert np.all(abs(np.bincount(one.test[1], minlength=10) - 500) < 5 * np.sqrt(450))
    assert split.report.n_tied == 5_000
    assert 300 < np.sum(other.test[1] == split.test[1]) < 700
    # repeats that are kept are as likely each
    users, items = np.repeat(np.arange(4_000), 4), np.tile([7, 7, 7, 8], 4_000)
    split = loo.leave_one_out((users, items), "random", repeats="keep")
    assert abs(np.sum(split.test[1] == 7) - 3_000) < 5 * np.sqrt(750)


def test_every_user_is_as_likely_and_more_users_are_the_same_and_others():
    log = np.repeat(np.arange(40), 2), np.tile([5, 6], 40), np.tile([1, 2], 40)
    drawn = Counter(
        user
        for seed in range(160)
        for user in loo.held_out_users(log, 10, hold=1, seed=seed).truths()
    )
    assert all(abs(n - 40) < 5 * np.sqrt(30) for n in drawn.values()) and len(drawn) == 40
    few, many = (loo.held_out_users(log, n, hold=1).truths().keys() for n in (5, 0.5))
    assert few < many and len(many) == 20


# Stated behaviour

ONE, HOLD = loo.leave_one_out, loo.holdout
SHORT = [1, 2, 2], [5, 5, 6], [1, 1, 2]
LATE = [1, 1, 2, 3, 3], list("abacd"), [1, 5, 2, 6, 7]
# A log, how it is split, the truths, and words of the report.
STATED = [
    (SHORT, ONE, {}, {2: [6]}, "1 user without a test row: too few interactions (min_history=1; a"),
    (SHORT, ONE, {"short": "drop"}, {2: [6]}, "left out: 1 row"),
    (
        *((list("aaabb"), [1, 2, 3, 1, 9], [1, 5, 5, 7, 8]), ONE, {"seed": 3}),
        *({"a": [2], "b": [9]}, "1 user (50.0 %) with several items at their newest timestamp"),
        *("2 test items are not in train", "1 test row (50.0 %) older than the newest row of tr"),
    ),
    (([1] * 3, [5, 6, 7], [None, 3, 2]), ONE, {"by": "random"}, {1: [6]}),  # no time is read
    ((np.empty(0, int),) * 2 + (np.empty(0),), ONE, {}, {}),
    (
        *(([1, 1, 1, 2, 2], [5, 6, 7, 5, 6], [1, 2, 3, 4, 5]), HOLD, {"last": 2}, {1: [6, 7]}),
        "hold out the last 2 of each user's rows (ties in random order, seed 0; of repeats the "
        "first is kept)\n5 rows of 2 users and 3 items\n"
        "train: 3 rows of 2 users; test: 2 rows of 1 user\n"
        "1 user without a test row: too few interactions (min_history=1; all in train)\n"
        "1 test item is not in train: unknown to any model\n"
        "2 test rows (100.0 %) older than the newest row of train: a model may know their future",
    ),
    (
        *(LATE, HOLD, {"time": 5}, {1: ["b"], 3: ["c", "d"]}),
        "\n1 user of 2 in the test (50.0 %) has no row in train: new to any model",
    ),
    (LATE, HOLD, {"ratio": 0.5}, {1: ["b"], 3: ["d"]}, "of the rows: train 60.0 %, test 40.0 %"),
    (
        *(([1, 1, 2, 2, 3, 1], [5, 6, 5, 6, 6, 9], [1, 2, 3, 4, 5, 6]), ONE, {"k_core": 2}),
        *({1: [6], 2: [6]}, "6 rows of 3 users and 3 items"),
        "k-core (users 2, items 2): 2 rows, 1 user and 1 item left out",
    ),
]


@pytest.mark.parametrize("row", STATED)
def test_stated_behaviour(row):
    log, splitter, options, truths, *words = row
    split = splitter(log, **options)
    assert split.truths() == truths
    assert all(one in str(split.report) for one in words)
    assert "new to any model" not in str(split.report) or split.report.n_cold_users


@FEW
@given(ROWS, st.booleans())
def test_the_columns_of_a_split_are_its_truths(rows, validation):
    split = loo.leave_one_out(columns(rows), validation=validation)
    users, items, held_out, seen = split.columns()
    truths, train = split.truths(), split.truths("train")
    rest = split.truths("validation") if validation else {}
    assert items == sorted({item for _, item, _ in rows})
    assert {user: [items[c]] for user, c in zip(users, held_out, strict=True)} == truths
    for row, user in enumerate(users):
        known = {*train.get(user, ()), *rest.get(user, ())}
        assert {items[c] for c in seen[row]} == known
    scores = np.zeros((len(users), len(items)))
    assert np.all(loo.ranks_of(scores, held_out, exclude=seen) >= 1)


def test_a_part_that_is_not_there_has_no_truths():
    log = [1, 2, 2], [5, 5, 6], [1, 2, 3]
    split = loo.leave_one_out(log, validation=True)
    assert split.truths("validation") == {}  # nobody has enough rows
    for part in ("validation", "history"):
        with pytest.raises(ValueError, match=f"part='{part}': this split has train, test alone"):
            loo.leave_one_out(log).truths(part)


def test_a_user_with_one_row_and_nothing_that_must_remain():
    log = [1, 2, 2], [5, 5, 6], [1, 2, 3]
    left = loo.leave_one_out(log, validation=True, min_history=0)
    assert (left.truths(), left.truths("validation")) == ({1: [5], 2: [6]}, {2: [5]})
    held = loo.holdout(log, last=1, validation=1, min_history=0)
    assert (held.truths(), held.truths("validation")) == ({2: [6]}, {2: [5]})


def test_columns_of_history_of_repeats_and_of_baskets():
    log = [1, 1, 1, 2, 2, 2], list("abcabd"), [1, 2, 3, 1, 2, 3]
    users, items, held_out, seen = loo.held_out_users(log, 2, hold=1).columns()
    assert (users, [items[at] for at in held_out]) == ([1, 2], ["c", "d"])
    assert [[items[at] for at in row] for row in seen] == [["a", "b"], ["a", "b"]]
    # what is held out is not seen even if repeats are kept
    split = loo.leave_one_out(([1] * 3, [5, 6, 5], [3, 4, 5]), repeats="keep")
    _, items, held_out, seen = split.columns()
    assert items[held_out[0]] == 5 and [items[column] for column in seen[0]] == [6]
    with pytest.raises(ValueError, match=r"user 1 has 2 test items, .* holdout\(last=1\)"):
        loo.leave_one_out(([1, 1, 1], [5, 6, 7], [1, 2, 2]), "basket").columns()


# Windows
DAYS = [f"2024-01-{day:02}" for day in range(1, 29)]
USERS = [day % 3 for day in range(28)]
LOG = USERS, list(range(28)), DAYS


def days_of(zone=None):
    """Return a table of the days, without a zone or with one."""
    pandas = pytest.importorskip("pandas")
    users, items, days = LOG
    times = pandas.to_datetime(days).tz_localize(zone)
    return pandas.DataFrame({"user_id": users, "item_id": items, "timestamp": times})


def test_a_log_of_days_ends_with_its_last_day():
    windows = loo.windows(LOG, "7d", start="2024-01-15")
    assert repr(windows) == (
        "2 windows\n2024-01-15: 14 rows before, 7 rows before 2024-01-22\n"
        "2024-01-22: 21 rows before, 7 rows before 2024-01-29"
    )
    assert windows[-1].test == (USERS[21:], list(range(21, 28)), DAYS[21:])
    report = str(windows[0].report)
    assert report.startswith("window 1 of 2: train before 2024-01-15, test before 2024-01-22 (")
    assert "7 rows left out: after the horizon" in report
    with pytest.raises(IndexError):
        windows[2]
    assert pickle.loads(pickle.dumps(windows))[1].truths() == windows[1].truths()


def test_lengths_of_time_in_every_form():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    start = pandas.Timestamp("2024-01-15")
    weeks = ["7d", "1w", "168h", datetime.timedelta(7), pandas.Timedelta(7, "D")]
    weeks += [np.timedelta64(7, "D"), np.timedelta64(1, "W"), np.timedelta64(604_800, "s")]
    weeks += [polars.select(polars.duration(days=7)).item()]
    for week in weeks:
        assert loo.windows(LOG, week, start="2024-01-15").cuts == ["2024-01-15", "2024-01-22"]
        overlapping = loo.windows(LOG, "1d", horizon=week, start=np.datetime64("2024-01-15"))
        assert [split.report.rows["test"] for split in overlapping] == [7] * 8
    odd = pandas.Timedelta(7 * 86_400 * 10**9 + 1)
    assert loo.windows(days_of(), odd, start=start).cuts == ["2024-01-15"]
    aware = loo.windows(days_of("UTC"), "7d", start=start.tz_localize("UTC"))
    assert aware.cuts == ["2024-01-15T00:00:00+00:00", "2024-01-22T00:00:00+00:00"]
    assert aware[0].truths() == loo.windows(LOG, "7d", start=start)[0].truths()


@pytest.mark.parametrize(
    ("kind", "low"), [(np.int64, 0), (np.uint64, 0), (np.float64, 0), (np.uint64, 2**63)]
)
def test_windows_of_numbers_of_every_width(kind, low):
    eight = np.arange(8)
    windows = loo.windows((eight, eight, np.arange(1, 9).astype(kind) + kind(low)), 2)
    assert windows.cuts == [low + 5, low + 7]
    assert windows[1].test[2].tolist() == [low + 7, low + 8]


def test_windows_of_tenths():
    times = [i / 10 for i in range(30)]
    windows = loo.windows((list(range(30)), [1] * 30, times), 0.1, start=0.1)
    assert windows.cuts == times[1:]
    assert all(split.report.rows["test"] == 1 for split in windows)


# Times and shares in exact arithmetic
T = 1_700_000_000_000_000_000
Y2020 = "2020-01-01T00:00:00"
ONE_USER = [1, 1, 1], ["a", "b", "c"]
UNTIED = [
    np.array([T, T + 100, T + 50]),
    np.array([2**63 + 1, 2**63 + 3, 2**63 + 2], np.uint64),
    np.array([T, T + 100, T + 50]).view("datetime64[ns]"),
    [f"2020-01-01T00:00:00.000000{digit}" for digit in (1, 3, 2)],
    ["1e3", "1.002e3", "1001"],
]
TIED = [
    ["2020-01-01T00:00:00.100", "2020-01-01 00:00:00.1", "2020-01-01T00:00:00.1000000"],
    ["1.0", "1", "10e-1"],
    ["2020-01-01T00:00:00.123456789", "2020-01-01 00:00:00.123456789", "2019-12-31"],
]


def test_times_are_compared_exactly():
    for times in UNTIED:
        for seed in range(8):  # ties would fall at random
            split = loo.leave_one_out((*ONE_USER, times), validation=True, seed=seed)
            assert (split.truths(), split.truths("validation")) == ({1: ["b"]}, {1: ["c"]})
            assert split.report.n_tied == 0
    for times in TIED:
        assert loo.leave_one_out((*ONE_USER, times)).report.n_tied == 1


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
        ([2, 3, 1], 2.5, "b"),
        ([1, 2, 3], 2**90, ""),
        ([1, 2, 3], -(2**90), "abc"),
    ],
)  # fmt: skip
def test_thresholds_compare_exactly(times, threshold, expected):
    truths = loo.holdout((*ONE_USER, times), time=threshold).truths()
    assert truths == ({1: list(expected)} if expected else {})


@pytest.mark.parametrize(("ratio", "n"), [(0.29, 100), (1 / 3, 9_000)])
def test_a_share_is_taken_in_exact_arithmetic(ratio, n):
    """A third as a float has sixteen digits: times 9,000 rows it is beyond 64 bits."""
    log = np.zeros(n, int), np.arange(n), np.arange(n)
    assert loo.holdout(log, ratio).report.rows["test"] == int(Fraction(repr(ratio)) * n)


def test_times_with_and_without_a_zone_do_not_mix():
    plain, tokyo = days_of(), days_of("Asia/Tokyo")
    aware, naive = "2024-01-28T00:00+09:00", "2024-01-28"
    polars = pytest.importorskip("polars")
    for make in (polars.DataFrame, lambda frame: frame):
        with pytest.raises(ValueError, match="have a time zone: give a time with one"):
            loo.holdout(make(tokyo), time=naive)
        assert loo.holdout(make(tokyo), time=aware).truths() == {0: [27]}
        with pytest.raises(ValueError, match="have no time zone: give a time with none"):
            loo.holdout(make(plain), time=aware)


# Real logs, where the data lie beside the repository, with the figures that their notes say
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "online-retail").exists(), reason="no data")


@needs_data
def test_ties_at_the_newest_timestamp_of_movielens():
    movies = DATA / "ml-latest-small" / "ratings.csv"
    split = loo.leave_one_out(movies, columns={"user_id": "userId", "item_id": "movieId"})
    assert "127 users (18.9 %) with several items" in str(split)
    assert split.report.rows == {"train": 99_333, "test": 671}
    found = audit.check(None, split.truths(), split.truths("train"))
    assert found.ok and found.counts["cold_items"] == split.report.n_cold == 30


@needs_data
@pytest.mark.slow
def test_ties_at_the_newest_timestamp_of_online_retail():
    split = loo.leave_one_out(DATA / "online-retail" / "interactions.csv.gz")
    assert (split.report.n_users, split.report.n_items) == (4_339, 3_665)
    assert "4,009 users (92.4 %) with several items" in str(split)
