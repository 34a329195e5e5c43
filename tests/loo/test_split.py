"""Splits of a log: what is held out, whatever the order of rows and the kind of the log."""

from collections import Counter
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from split_logs import FEW, REPEATS, ROWS, SHUFFLES, TIMES, by_user, columns, kept, parts

import toplist as tl
from toplist import loo
from toplist.inputs import id_hashes

WAYS = st.sampled_from(["last", "random", "basket"])


# Against plain Python


@FEW
@given(ROWS, WAYS, REPEATS, st.integers(0, 3), st.booleans(), st.sampled_from(["train", "drop"]))
def test_leave_one_out_holds_out_what_it_says(rows, by, repeats, least, validation, short):
    split = loo.leave_one_out(
        columns(rows), by, repeats=repeats, min_history=least, validation=validation, short=short
    )
    train, test, rest = (by_user((part or Counter()).elements()) for part in parts(split)[:3])
    for user, own in kept(rows, repeats).items():
        newest, n = max(own)[0], min(len(own), 1 + validation)
        baskets = sorted({time for time, _ in own})[::-1]
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
        if by == "last":
            assert test[user][0][0] == newest
            assert all(time <= test[user][0][0] for time, _ in rest[user])
            assert all(time <= row[0] for row in rest[user] for time, _ in train[user])
    report = split.report
    n_rows = sum(report.rows.values())
    assert report.n_rows == len(rows) == n_rows + report.n_repeats + report.n_dropped
    assert report.rows["train"] == len(split.train[0])
    assert report.users["test"] + report.n_short == report.n_users == len({u for u, _, _ in rows})


@FEW
@given(ROWS, st.sampled_from([0.1, 0.29, 0.5, 0.7]), st.sampled_from([None, 0.2]), REPEATS)
def test_holdout_holds_out_a_share_in_exact_arithmetic(rows, ratio, validation, repeats):
    split = loo.holdout(columns(rows), ratio, validation=validation, repeats=repeats)
    train, test, rest = (by_user((part or Counter()).elements()) for part in parts(split)[:3])
    for user, own in kept(rows, repeats).items():
        n, m = (int(Fraction(str(share)) * len(own)) for share in (ratio, validation or 0))
        if n == 0 or len(own) - n - m < 1:
            assert (sorted(train[user]), test[user], rest[user]) == (own, [], [])
            continue
        assert (len(test[user]), len(rest[user])) == (n, m)
        times = [[time for time, _ in part[user]] for part in (train, rest, test)]
        assert sorted(chain(*times)) == list(chain(*map(sorted, times)))


@FEW
@given(ROWS, st.integers(1, 4), st.none() | st.integers(1, 2), st.integers(0, 2), REPEATS)
def test_holdout_holds_out_the_last_rows(rows, n, validation, least, repeats):
    split = loo.holdout(
        columns(rows), last=n, validation=validation, min_history=least, repeats=repeats
    )
    train, test, rest = (by_user((part or Counter()).elements()) for part in parts(split)[:3])
    n_short = 0
    for user, own in kept(rows, repeats).items():
        if len(own) < n + (validation or 0) + least:
            n_short += 1
            assert (sorted(train[user]), test[user], rest[user]) == (own, [], [])
            continue
        sizes = [len(part[user]) for part in (test, rest)]
        assert sizes == [n, validation or 0]
        times = [[time for time, _ in part[user]] for part in (train, rest, test)]
        assert sorted(chain(*times)) == list(chain(*map(sorted, times)))
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


@pytest.mark.parametrize(
    ("least", "validation", "train", "test"),
    [
        (0, None, {1: [5]}, {2: [5, 6], 3: [6, 7]}),
        (1, None, {1: [5], 2: [5, 6]}, {3: [6, 7]}),
        (0, 1, {1: [5], 2: [5, 6]}, {3: [6, 7]}),
        (1, 1, {1: [5], 2: [5, 6], 3: [5, 6, 7]}, {}),
    ],
)
def test_the_last_two_rows_are_two_rows_whatever_must_remain(least, validation, train, test):
    log = [1, 2, 2, 3, 3, 3], [5, 5, 6, 5, 6, 7], [1, 1, 2, 1, 2, 3]
    split = loo.holdout(log, last=2, min_history=least, validation=validation)
    rest = {3: [5]} if test else {}
    assert split.truths() == test
    assert split.truths("train") == (train if validation else train | rest)
    assert split.truths("validation") == (rest if validation else {})
    assert split.report.n_short == len(train)


SPLITS = {
    "one": (loo.leave_one_out, {}, {"validation": True, "short": "drop", "by": "random"}),
    "basket": (loo.leave_one_out, {"by": "basket"}, {"validation": True, "short": "drop"}),
    "last": (loo.holdout, {"last": 2}, {"validation": 1, "short": "drop"}),
    "share": (loo.holdout, {"ratio": 0.5}, {"validation": 0.2, "short": "drop", "by": "random"}),
    "time": (loo.holdout, {"time": 4}, {"validation": 2}),
    "users": (loo.held_out_users, {"test": 1, "hold": 1}, {"validation": 1, "by": "random"}),
    "windows": (loo.windows, {"every": 2, "start": 2}, {"horizon": 1}),
}


@FEW
@given(
    *(st.sampled_from(sorted(SPLITS)), ROWS, REPEATS, st.integers(0, 3)),
    *(st.lists(st.booleans(), min_size=3, max_size=3), st.none() | st.integers(1, 2)),
)
def test_every_row_has_a_place_and_test_users_keep_their_history(
    name, rows, repeats, least, more, core
):
    splitter, asked, optional = SPLITS[name]
    given = [option for option, wanted in zip(optional, more, strict=False) if wanted]
    asked = asked | {option: optional[option] for option in given}
    if name == "windows" and repeats == "last":
        repeats = "first"
    try:
        made = splitter(columns(rows), min_history=least, repeats=repeats, k_core=core, **asked)
    except ValueError:  # no user, no window, or no k-core: nothing is split
        return
    for split in made if name == "windows" else [made]:
        report, found = split.report, [part for part in parts(split) if part is not None]
        left_out = report.n_repeats + report.n_dropped + report.n_later
        left_out += report.core.n_rows if report.core else 0
        assert sum(map(Counter.total, found)) + left_out == len(rows) == report.n_rows
        assert not sum(found, Counter()) - Counter(rows)
        train, _, _, history = parts(split)
        known = history if name == "users" else train
        before = Counter(user for user, *_ in known.elements())
        assert all(before[user] >= least for user in split.truths())
        assert name != "windows" or split.truths()
        assert name != "last" or {len(items) for items in split.truths().values()} <= {2}


# Whatever the order and the kind


@FEW
@given(ROWS, SHUFFLES, WAYS, REPEATS, st.integers(0, 3), st.booleans())
def test_the_order_of_rows_does_not_matter(rows, random, by, repeats, seed, validation):
    shuffled, seed = random.sample(rows, len(rows)), seed if by != "basket" else 0
    splits = [
        loo.leave_one_out(columns(each), by, repeats=repeats, seed=seed, validation=validation)
        for each in (rows, shuffled)
    ]
    assert parts(splits[0]) == parts(splits[1])
    assert splits[0].report == splits[1].report
    shares = [loo.holdout(columns(each), 0.4, by="random", seed=seed) for each in (rows, shuffled)]
    assert parts(shares[0]) == parts(shares[1])
    last = [loo.holdout(columns(each), last=2, seed=seed) for each in (rows, shuffled)]
    assert parts(last[0]) == parts(last[1])
    assert last[0].report == last[1].report


@settings(deadline=None, max_examples=12)
@given(rows=ROWS, by=WAYS, seed=st.integers(0, 3))
def test_the_kind_of_the_log_does_not_matter(kinds, rows, by, seed):
    truths = None
    for log in kinds(rows):
        split = loo.leave_one_out(log, by, seed=seed if by != "basket" else 0)
        found = {int(user): sorted(map(int, items)) for user, items in split.truths().items()}
        truths = found if truths is None else truths
        assert found == truths, type(log)
        if not isinstance(log, str):
            assert type(split.train) is type(log) is type(split.test)
        last = loo.holdout(log, last=1, seed=seed)  # the same as one out
        if by == "last":
            assert last.truths() == split.truths()


def test_all_columns_survive(kinds):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"user_id": [1, 1, 2], "item_id": [5, 6, 5], "timestamp": [2, 1, 1], "price": [9.5, 8, 7]},
        index=[10, 11, 12],
    )
    split = loo.leave_one_out(frame)
    assert split.test.to_dict("list") == {
        "user_id": [1], "item_id": [5], "timestamp": [2], "price": [9.5]
    }  # fmt: skip
    assert split.train.index.tolist() == [11, 12]


def test_seeded_splits_and_samples_stay_what_they_are():
    words = np.array([0, 1, 2**64 - 1], np.uint64)
    assert id_hashes.random_numbers(0, words).tolist() == [
        -6411193824288604561, 627405149472732430, 3303439293501059696
    ]  # fmt: skip
    words = (np.array([word], np.uint64) for word in (5, 6, 7))
    assert id_hashes.random_numbers(2**64 - 1, *words).tolist() == [-2824380188021875533]
    users, items = ["ann"] * 6 + ["bob"] * 6, list("abcdef") * 2
    assert loo.leave_one_out((users, items), "random", seed=3).truths() == {
        "ann": ["c"], "bob": ["d"]
    }  # fmt: skip
    assert loo.holdout((users, items, [1] * 12), 0.5, seed=3).truths() == {
        "ann": ["a", "c", "e"], "bob": ["a", "d", "f"]
    }  # fmt: skip
    drawn = loo.negatives([3, 0], 4, n_items=50, seed=5)
    assert drawn.tolist() == [[0, 44, 21, 6], [9, 16, 1, 48]]
    drawn = loo.negatives([3, 0], 4, n_items=50, seed=5, users=["ann", 17], popularity=range(50))
    assert drawn.tolist() == [[31, 35, 26, 6], [31, 40, 25, 47]]


def test_text_that_is_no_plain_integer_has_a_key_of_its_own():
    """The text "7" is the integer 7; "007" and "-0" are other ids."""
    keys = id_hashes.keys_of(["7", "007", "0", "-0", "00"])
    assert keys.tolist()[::2][:2] == [7, 0]
    assert len(set(keys.tolist())) == 5


def test_random_choices_are_fair_and_the_seed_matters():
    """Of ten items at one time each is held out about as often, whatever its id."""
    users = np.repeat(np.arange(5_000), 10)
    items = np.tile(np.arange(10), 5_000)
    split = loo.leave_one_out((users, items, np.zeros(50_000, int)))
    counts = np.bincount(split.test[1], minlength=10)
    assert split.report.n_tied == 5_000
    assert np.all(abs(counts - 500) < 5 * np.sqrt(450))  # five deviations
    other = loo.leave_one_out((users, items, np.zeros(50_000, int)), seed=1)
    assert 300 < np.sum(other.test[1] == split.test[1]) < 700
    drawn = loo.leave_one_out((users, items), "random", repeats="keep")
    assert np.all(abs(np.bincount(drawn.test[1], minlength=10) - 500) < 5 * np.sqrt(450))


def test_repeats_that_are_kept_are_as_likely_each():
    users = np.repeat(np.arange(4_000), 4)
    items = np.tile([7, 7, 7, 8], 4_000)
    split = loo.leave_one_out((users, items), "random", repeats="keep")
    assert abs(np.sum(split.test[1] == 7) - 3_000) < 5 * np.sqrt(750)


# Stated behaviour, and one clear error


def test_users_with_one_interaction_stay_in_train_or_go():
    log = [1, 2, 2], [5, 5, 6], [1, 1, 2]
    split = loo.leave_one_out(log)
    assert (split.train, split.test) == (([1, 2], [5, 5], [1, 1]), ([2], [6], [2]))
    assert "1 user without a test row: too few interactions (min_history=1" in str(split.report)
    split = loo.leave_one_out(log, short="drop")
    assert split.train == ([2], [5], [1])
    assert "left out: 1 row" in str(split.report)
    assert loo.leave_one_out(log, min_history=0).test == ([1, 2], [5, 6], [1, 2])


def test_the_report_counts_the_traps():
    log = ["a", "a", "a", "b", "b"], [1, 2, 3, 1, 9], [1, 5, 5, 7, 8]
    report = loo.leave_one_out(log, seed=3).report
    assert (report.n_tied, report.n_cold, report.n_older) == (1, 2, 1)
    text = str(report)
    assert "1 user (50.0 %) with several items at their newest timestamp" in text
    assert "2 test items are not in train" in text
    assert "1 test row (50.0 %) older than the newest row of train" in text


@pytest.mark.parametrize(
    ("log", "options", "message"),
    [
        (([1], [2]), {}, "no column 'timestamp'.*by='random' needs none"),
        (([1, 4], [2, 3], [1, None]), {}, "row 1, of user 4, has no timestamp \\(1 such rows\\)"),
        (([1, 4], [2, 3], ["2011-01-01", "soon"]), {}, "'soon' is neither a number nor an ISO"),
        (([1, 4], [2, 3], np.array([1.0, np.inf])), {}, "timestamp inf is neither"),
        (([1, 4], [2, 3], [1, True]), {}, "row 1: timestamp True is neither"),
        (([1, None], [2, 3], [1, 2]), {}, "column 'user_id' is empty in row 1"),
        (([1, 2], [2], [1, 2]), {}, "columns of different length"),
        ({"user_id": [1], "item": [2]}, {}, "no column 'item_id' .*, columns="),
        (([1], [2], [3]), {"by": "first"}, "by='first': choose from 'last', 'random', 'basket'"),
        (([1], [2], [3]), {"repeats": "all"}, "repeats='all': choose from"),
        (([1], [2], [3]), {"seed": -1}, "seed must be a whole number from 0 on"),
        (
            ([1], [2], [3]),
            {"seed": 3, "by": "basket"},
            "seed=3 changes nothing: a split by baskets",
        ),
        (([1], [2], [3]), {"min_history": -1}, "min_history must be at least 0, not -1"),
        (([1], [2], [3]), {"columns": {"rank": "r"}}, "columns: 'rank' is none of user_id"),
        ("log.xyz", {}, "log.xyz: the extension names no format"),
    ],
)
def test_bad_logs_are_refused_in_one_line(log, options, message):
    with pytest.raises(ValueError, match=message) as error:
        loo.leave_one_out(log, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ([(1, 2, 3)], "a log is a table, a dict of columns, a tuple"),
        (([1.5], [2], [3]), "1.5 is a float, never an id"),
        (([1, "1"], [2, 3], [3, 4]), "ids of two kinds"),
        (([1, 1], [2, 3], ["2011-01-01", 5]), "timestamps of two kinds"),
        (([1, 1], [2, 3], ["2011-01-01", "2011-01-01T00:00:00+00:00"]), "time zone"),
        ((7, [2], [3]), "int"),
    ],
)
def test_what_is_no_log_is_refused(log, message):
    with pytest.raises(TypeError, match=message):
        loo.leave_one_out(log)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give one of ratio=0.2, time=... and last=5"),
        ({"ratio": 0.2, "time": 1}, "give one of ratio=0.2, time=... and last=5"),
        ({"ratio": 0.2, "last": 1}, "give one of ratio=0.2, time=... and last=5"),
        ({"last": 0}, "last must be at least 1, not 0"),
        ({"last": 0.5}, "last must be a whole number from 1 on, not 0.5"),
        ({"last": 2, "validation": 0.1}, "validation must be a whole number from 1 on, not 0.1"),
        ({"last": 2, "by": "random"}, "by='random' does not go with last=2"),
        ({"last": 1, "k_core": 3}, "k_core=3 leaves nothing of 2 rows"),
        ({"last": 1, "k_core": (1, 0)}, "k_core must be at least 1, not 0"),
        ({"last": 1, "k_core": (1, 2, 3)}, "k_core=\\(1, 2, 3\\): give k, or"),
        ({"ratio": 1.2}, "ratio=1.2: a share between 0 and 1"),
        ({"time": "2011-01-01"}, "time='2011-01-01': the timestamps of this log are numbers"),
        ({"time": 1, "validation": 2}, "validation=2 begins after the test"),
        ({"ratio": 0.1, "by": "basket"}, "by='basket': choose from 'last', 'random'"),
        ({"time": 2, "by": "random"}, "by='random' does not go with time=2"),
        ({"time": 2, "short": "drop"}, "short='drop' does not go with time=2"),
        ({"time": 2, "seed": 3}, "seed=3 changes nothing: a split by time"),
    ],
)
def test_holdout_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        loo.holdout(([1, 1], [2, 3], [1, 2]), **options)


def test_random_needs_no_times_and_ignores_incomplete_ones():
    log = [1, 1, 1], [5, 6, 7]
    assert loo.leave_one_out(log, "random").truths() == (
        loo.leave_one_out((*log, [None, 3, 2]), "random").truths()
    )


def test_a_log_without_rows():
    split = loo.leave_one_out((np.empty(0, int), np.empty(0, int), np.empty(0)))
    assert split.report.n_rows == 0 and split.truths() == {}


@FEW
@given(ROWS, st.booleans())
def test_the_columns_of_a_split_are_its_truths(rows, validation):
    split = loo.leave_one_out(columns(rows), validation=validation)
    users, items, held_out, seen = split.columns()
    truths, train, rest = map(split.truths, ("test", "train", "validation"))
    assert items == sorted({item for _, item, _ in rows})
    assert {user: [items[c]] for user, c in zip(users, held_out, strict=True)} == truths
    for row, user in enumerate(users):
        known = {*train.get(user, ()), *rest.get(user, ())}
        assert {items[c] for c in seen[row]} == known
    scores = np.zeros((len(users), len(items)))
    assert np.all(loo.ranks_of(scores, held_out, exclude=seen) >= 1)


def test_a_share_of_many_digits_is_exact():
    """A third as a float has sixteen digits: times 9,000 rows it is beyond 64 bits."""
    log = np.zeros(9_000, int), np.arange(9_000), np.arange(9_000)
    assert loo.holdout(log, 1 / 3).report.rows["test"] == int(Fraction(repr(1 / 3)) * 9_000)


def test_users_with_no_more_rows_than_are_held_out_stay_in_train():
    log = [1, 1, 1, 2, 2], [5, 6, 7, 5, 6], [1, 2, 3, 4, 5]
    split = loo.holdout(log, last=2)
    assert split.truths() == {1: [6, 7]} and split.truths("train") == {1: [5], 2: [5, 6]}
    assert str(split.report).splitlines() == [
        "hold out the last 2 of each user's rows (ties in random order, seed 0; of repeats the "
        "first is kept)",
        "5 rows of 2 users and 3 items",
        "train: 3 rows of 2 users; test: 2 rows of 1 user",
        "1 user without a test row: too few interactions (min_history=1; all in train)",
        "1 test item is not in train: unknown to any model",
        "2 test rows (100.0 %) older than the newest row of train: a model may know their future",
    ]


def test_baskets_have_no_columns():
    split = loo.leave_one_out(([1, 1, 1], [5, 6, 7], [1, 2, 2]), "basket")
    with pytest.raises(ValueError, match="several test items"):
        split.columns()


def test_three_lines_from_a_log_to_a_result():
    log = ["ann", "ann", "bob", "bob"], ["tea", "jam", "tea", "fig"], [1, 2, 1, 2]
    split = loo.leave_one_out(log)
    lists = {user: ["jam", "fig"] for user in split.truths("train")}
    result = tl.top_k_eval(lists, split.truths(), k=2)
    assert result["hit@1"] == 0.5 and result["mrr@2"] == 0.75


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_times_with_and_without_a_zone_do_not_mix(library):
    pandas, module = pytest.importorskip("pandas"), pytest.importorskip(library)
    naive = pandas.to_datetime(["2011-10-31 23:00", "2011-11-01 01:00", "2011-11-02 00:00"])
    named = {"user_id": ["a"] * 3, "item_id": list("xyz")}
    plain, tokyo = (
        module.DataFrame(pandas.DataFrame(named | {"timestamp": times}))
        for times in (naive, naive.tz_localize("Asia/Tokyo"))
    )
    with pytest.raises(ValueError, match="have a time zone: give a time with one"):
        loo.holdout(tokyo, time="2011-11-01")
    assert loo.holdout(tokyo, time="2011-11-01T00:00+09:00").truths() == {"a": ["y", "z"]}
    with pytest.raises(ValueError, match="have no time zone: give a time with none"):
        loo.holdout(plain, time="2011-11-01T00:00+09:00")


def test_what_is_held_out_is_not_seen_even_if_repeats_are_kept():
    split = loo.leave_one_out(([1] * 3, [5, 6, 5], [3, 4, 5]), repeats="keep")
    _, items, held_out, seen = split.columns()
    assert items[held_out[0]] == 5
    assert [items[column] for column in seen[0]] == [6]


def test_a_validation_part_that_nobody_is_in_is_empty():
    split = loo.leave_one_out(([1], [5], [3]), validation=True)
    assert [list(column) for column in split.validation] == [[], [], []]
    assert loo.leave_one_out(([1], [5], [3])).validation is None


def test_a_split_by_time_says_how_many_users_are_new():
    log = {"user_id": [1, 1, 2, 3, 3], "item_id": [*"abacd"], "timestamp": [1, 5, 2, 6, 7]}
    report = loo.holdout(log, time=5).report
    assert report.n_cold_users == 1 and report.users["test"] == 2
    assert "\n1 user of 2 in the test (50.0 %) has no row in train: new to any model" in str(report)
    log["user_id"][1] = 4
    report = loo.holdout(log, time=5).report
    assert "2 users of 2 in the test (100.0 %) have no row in train" in str(report)
    report = loo.holdout(log, 0.5).report
    assert report.n_cold_users == 0 and "new to any model" not in str(report)
