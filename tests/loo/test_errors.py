"""What is refused: logs, splits, ranks of the held-out item, counts of them, and candidates."""

import re
from decimal import Decimal

import numpy as np
import pytest

import toplist as tl
from toplist import loo

TWO = [1, 1], [2, 3], [1, 2]
FIVE = [1, 1, 2, 2, 3], [5, 6, 5, 6, 5], [1, 2, 3, 4, 5]
ONE = [1], [2], [3]
LOG = [day % 3 for day in range(28)], [*range(28)], [f"2024-01-{day:02}" for day in range(1, 29)]
LEAVE, HOLD, WINDOWS = loo.leave_one_out, loo.holdout, loo.windows
MASKED = np.ma.array([1, 2], mask=[0, 1])


def drawn_from(log, test, **options):
    return loo.held_out_users(log, test, **{"hold": 1} | options)


ERRORS = [
    (LEAVE, ([1], [2]), {}, "no column 'timestamp'.*by='random' needs no timestamp"),
    (LEAVE, ([1, 4], [2, 3], [1, None]), {}, r"row 1, of user 4, has no timestamp \(1 such rows\)"),
    (LEAVE, ([1, 4], [2, 3], np.array([1.0, np.inf])), {}, "timestamp inf is neither"),
    *(
        (
            LEAVE,
            ([1, 1], [5, 6], ["3", one]),
            {},
            f"log, .*: row 1: timestamp {re.escape(repr(one))}",
        )
        for one in (
            "soon",
            "1_000",
            "１",
            "0x10",
            "inf",
            "1e",
            ".",
            "2020-1-1",
            "2020-01-01T12:30.5",
        )
    ),
    (LEAVE, ([1, 4], [2, 3], [1, True]), {}, "row 1: timestamp True is neither"),
    (LEAVE, ([1, None], [2, 3], [1, 2]), {}, "column 'user_id' is null in row 1"),
    (LEAVE, ([1, 2], [2], [1, 2]), {}, "columns of different length"),
    (LEAVE, {"user_id": [1], "item": [2]}, {}, "no columns 'item_id', 'timestamp' .*, columns="),
    (LEAVE, ONE, {"by": "first"}, "by='first': choose from 'last', 'random', 'basket'"),
    (LEAVE, ONE, {"repeats": "all"}, "repeats='all': choose from"),
    (LEAVE, ONE, {"short": "all"}, "short='all': choose from 'train', 'drop'"),
    (LEAVE, ONE, {"seed": -1}, "seed must be a whole number from 0 on"),
    (LEAVE, ONE, {"seed": 3, "by": "basket"}, "seed=3 changes nothing: a split by baskets"),
    (LEAVE, ONE, {"columns": {"rank": "r"}}, "columns: 'rank' is none of user_id"),
    (LEAVE, "log.xyz", {}, "log.xyz: the extension names no format"),
    (LEAVE, TWO, {"k_core": 3}, "k_core=3 leaves nothing of 2 rows"),
    (LEAVE, TWO, {"k_core": 2.5}, "k_core must be a whole number"),
    (HOLD, TWO, {}, "give one of ratio=0.2, time=... and last=5"),
    (HOLD, TWO, {"ratio": 0.2, "last": 1}, "give one of ratio=0.2, time=... and last=5"),
    (HOLD, TWO, {"last": 0}, "last must be at least 1, not 0"),
    (HOLD, TWO, {"last": 2, "validation": 0.1}, "validation must be a whole number from 1 on, not"),
    (HOLD, TWO, {"last": 2, "by": "random"}, "by='random' does not go with last=2"),
    (HOLD, TWO, {"last": 1, "k_core": (1, 0)}, "k_core must be at least 1, not 0"),
    (HOLD, TWO, {"last": 1, "k_core": (1, 2, 3)}, r"k_core=\(1, 2, 3\): give k, or"),
    (HOLD, TWO, {"ratio": 1.2}, "ratio=1.2: a share between 0 and 1"),
    (HOLD, TWO, {"time": "2011-01-01"}, "time='2011-01-01': the timestamps of this log are num"),
    (HOLD, TWO, {"time": 1, "validation": 2}, "validation=2 begins after the test"),
    (HOLD, TWO, {"ratio": 0.1, "by": "basket"}, "by='basket': choose from 'last', 'random'"),
    (HOLD, TWO, {"time": 2, "by": "random"}, "by='random' does not go with time=2"),
    (HOLD, TWO, {"time": 2, "short": "drop"}, "short='drop' does not go with time=2"),
    (HOLD, TWO, {"time": 2, "seed": 3}, "seed=3 changes nothing: a split by time"),
    (drawn_from, FIVE, {"test": 0}, "test must be at least 1, not 0"),
    (drawn_from, FIVE, {"test": 1.5}, "test=1.5: a share between 0 and 1"),
    (drawn_from, FIVE, {"test": 3}, "test=3: 2 users with enough rows"),
    (drawn_from, FIVE, {"test": 1, "validation": 2}, "validation=2: 1 user with enough rows"),
    (drawn_from, FIVE, {"test": 1, "hold": 0}, "hold must be at least 1"),
    (drawn_from, FIVE, {"test": 1, "min_history": -1}, "min_history must be"),
    (drawn_from, FIVE, {"test": 1, "by": "basket"}, "by='basket': choose from 'last', 'random'"),
    (WINDOWS, LOG, {"every": 7}, "every=7: the timestamps of this log are dates: give a timedelta"),
    (WINDOWS, LOG, {"every": np.timedelta64(1, "M")}, "every=np.timedelta64.*: the timestamps"),
    (WINDOWS, LOG, {"every": "0d"}, "every='0d': .*, above 0"),
    (WINDOWS, LOG, {"every": "7d", "start": 5}, "start=5: the timestamps of this log are dates"),
    (WINDOWS, LOG, {"every": "7d", "start": "2024-01-15T00:00+00:00"}, "start=.* no time zone"),
    (WINDOWS, LOG, {"every": "7d", "start": "2024-01-01"}, "no row is before 2024-01-01: give a l"),
    (WINDOWS, LOG, {"every": "999999999999999w"}, "first ends at 2262-04-11T.*, beyond the newest"),
    (WINDOWS, LOG, {"every": "30d"}, "beyond the newest row .2024-01-28.: give a shorter horizon"),
    (WINDOWS, LOG, {"every": "12h"}, "no row is from 2024-01-15T12:00:00 on and before 2024-01-16"),
    (WINDOWS, LOG, {"every": "1s", "horizon": "3d"}, "[0-9,]* windows of 28 rows: give a longer e"),
    (WINDOWS, LOG, {"every": "7d", "min_history": 6}, "01-22 .* empty: none of its users has 6 ro"),
    (WINDOWS, LOG, {"every": "7d", "repeats": "last"}, "repeats='last': choose from 'first', 'k"),
    (WINDOWS, TWO, {"every": True}, "every=True: "),
    (WINDOWS, ([1, 1], [2, 3], [4, 4]), {"every": 1}, "before no time lie half of the rows"),
    (WINDOWS, ([], [], []), {"every": 1, "start": 1}, "windows: 1 windows of 0 rows"),
]
BITS = [  # times that 64 bits do not hold
    ([2**80, 1], f"row 0: timestamp {2**80} is beyond 63 bits"),
    ([0.5, 2**53 + 1], f"row 1: timestamp {2**53 + 1} is beyond 53 bits beside decimals"),
    (["2020-01-01", "9999-12-31"], "row 1: timestamp '9999-12-31'.* from 1677-09-22 to 2262"),
    (["2020-01-01T00:00:00.0000000001"] * 2, "row 0: timestamp '2020.*kept in nanoseconds"),
    (np.array([1, 1_000]).view("datetime64[ps]"), "row 0: timestamp '1970.*nanoseconds"),
]
ERRORS += [(LEAVE, ([1, 1], [5, 6], times), {}, words) for times, words in BITS]
WRONG_TYPES = [
    (LEAVE, [(1, 2, 3)], {}, "log is a table, a dict of columns, a tuple"),
    (LEAVE, ([1, "1"], [2, 3], [3, 4]), {}, "ids of two kinds"),
    (LEAVE, ([1, 1], [2, 3], ["2011-01-01", 5]), {}, "timestamps of two kinds"),
    (LEAVE, ([1, 1], [2, 3], ["2011-01-01", "2011-01-01T00:00:00+00:00"]), {}, "time zone"),
    (LEAVE, (7, [2], [3]), {}, "int"),
    (LEAVE, ONE, {"columns": {"user_id": "x"}}, "log is a tuple of columns, without names"),
    (LEAVE, (MASKED, [2, 3], [1, 2]), {}, "column 'user_id' is a masked array"),
    (LEAVE, ([1, 1], [2, 3], MASKED), {}, "column 'timestamp' is a masked array: fill it"),
    (LEAVE, ([("a", 1), ("b",)], [2, 3], [1, 2]), {}, "'user_id' holds .*, a tuple: give integers"),
]


def ranked(given, *, held_out=(1,), **options):
    return loo.ranks_of(given, held_out, **options)


def sampled(given, **options):
    return loo.sampled_ranks(given, **{"held_out": [1, 2], "n": 3} | options)


def counted(given, **options):
    return loo.from_rank_counts(given, **{"k": 5} | options)


def corrected(given, **options):
    return loo.corrected(loo.sampled_ranks(np.zeros((2, 9)), [1, 2], 3, **given), **options)


def of_sampled(k, **options):
    return sampled(NINE).evaluate(k, **options)


SCORES, NINE = np.zeros((1, 2)), np.zeros((2, 9))
ERRORS += [
    (ranked, [[1, 2]], {"held_out": [[1, 2]]}, "user 0 has 2 held-out items: a rank needs exactly"),
    (ranked, {"a": [1]}, {"held_out": {"a": []}}, "user 'a' has 0 held-out items"),
    (ranked, SCORES, {"held_out": [2]}, r"user 0 has item 2, no column of 0\.\.1"),
    (ranked, SCORES, {"held_out": [1, 1]}, "one column per user is needed, 1 integers"),
    (ranked, np.array([[1, np.nan]]), {"held_out": [0]}, "user 0, item 1 is NaN"),
    (ranked, SCORES, {"ties": "mean"}, "ties='mean': choose from"),
    (sampled, NINE, {"n": 0}, "n must be at least 1"),
    (sampled, NINE, {"n": 99}, "user 0 has fewer than n=99 items left to draw of 9"),
    (sampled, NINE, {"popularity": [1, 2]}, r"popularity has shape \(2,\)"),
    (sampled, NINE, {"popularity": [-1.0] * 9}, "0 or more per item"),
    (sampled, NINE, {"ties": "average"}, "ties='average': choose from 'order', 'best', 'worst'"),
    (sampled, np.full((2, 9), np.nan), {}, "user 0, item . is NaN"),
    (sampled, NINE, {"users": ["a"]}, "1 users for 2 held-out items"),
    (sampled, lambda *_: np.zeros(3), {"n_items": 9}, r"\(3,\) scores for \(2, 4\) candidates"),
    (corrected, {"popularity": np.ones(9)}, {"k": 5}, "drawn by popularity"),
    (corrected, {}, {"k": 5, "gamma": 0}, "gamma=0: above 0 and at most 1"),
    (corrected, {}, {}, "k is missing"),
    (corrected, {}, {"k": 5, "metrics": "gini"}, "only metrics of hits are estimated from ranks"),
    (of_sampled, 5, {}, r"k=5 is deeper than the 4 candidates .* sampled_ranks\(\.\.\., n=5\)"),
    (tl.Hits.from_ranks, [0, 12, 3], {"n_listed": 10}, "user 1: rank 12 in a list of 10"),
    (counted, {1.5: 1}, {}, "rank 1.5: whole numbers"),
    (counted, [(1, 2), (1, 3)], {}, "rank 1 is there twice: give o"),
    (counted, {1: Decimal("1.5")}, {}, "users Decimal.*: whole"),
    (counted, {1: 20.0}, {}, "type: CAST.n AS BIGINT., n.astype"),
    (counted, {1: None}, {}, "number of users None: whole"),
    (counted, ([1, 2], [3]), {}, "2 ranks, but 1 numbers of users"),
    (counted, {"m": [1], "rank": [1], "n": [2]}, {}, "'m', 'rank', 'n': give two .*, the rank fi"),
    (counted, {1: 1}, {"k": None}, "k is missing"),
    (counted, {1: 1}, {"metrics": "precision", "convention": "lenskit"}, "give n_listed="),
    (counted, {1: 1}, {"metrics": "map", "convention": "torchmetrics"}, "map needs more than the"),
    (loo.popular, TWO[:2], {"k": 0}, "k must be at least 1"),
    (loo.random, TWO[:2], {"k": 0}, "k must be at least 1"),
    (loo.random, TWO[:2], {"k": 2, "exclude": "seen"}, "exclude='seen': choose from 'train'"),
    (loo.popular, TWO[:2], {"k": 2, "exclude": np.zeros((2, 2))}, ": choose from 'train'"),
]
WRONG_TYPES += [
    (ranked, [[1, 2]], {"ties": "best"}, "ties go with scores"),
    (ranked, [[1, 2]], {"exclude": [{1}]}, "exclude go with scores"),
    (ranked, SCORES, {"duplicates": "first"}, "go with lists"),
    (sampled, [[1.0]], {}, "2-D array of numbers"),
    (sampled, NINE, {"n_items": 9}, "n_items=9 goes with a function"),
    (of_sampled, 2, {"system": "x"}, "system='x' names a column of a table"),
    (of_sampled, 2, {"keep": "part"}, "keep='part' is for files"),
    (loo.popular, TWO[:2], {"k": 2, "users": ["1"]}, "ids of two kinds"),
    (loo.random, TWO[:2], {"k": 2, "exclude": {1: ["5"]}}, "ids of two kinds"),
    (loo.popular, TWO[:2], {"k": 2, "exclude": {"1": [3]}}, "1 in users and '1' in exclude"),
    (loo.popular, TWO[:2], {"k": 2, "users": "ann"}, r"users='ann': give ids, .* \['ann'\]"),
    (loo.random, TWO[:2], {"k": 2, "users": 1}, r"users=1: give ids, of one user \[1\]"),
    (loo.popular, [1, 2], {"k": 2}, "train is a table, a dict of columns, a tuple"),
    (loo.corrected, [1, 2], {"k": 5}, "give the SampledRanks of loo.sampled_ranks"),
    (counted, [1, 2], {}, "counts is a list: give a dict of rank"),
    (ranked, np.ma.array(SCORES), {}, "ranks is a masked array"),
    (tl.Hits.from_ranks, MASKED, {"n_listed": 5}, "rank_of_the_item is a masked array"),
    (ranked, SCORES, {"held_out": MASKED[:1]}, "held_out is a masked array"),
    (ranked, SCORES, {"exclude": np.ma.array(SCORES > 0)}, "exclude is a masked array"),
    (sampled, np.ma.array(NINE), {}, "scores is a masked array"),
    (sampled, lambda _, items: np.ma.array(items), {"n_items": 9}, "scores is a masked array"),
    (sampled, NINE, {"popularity": np.ma.ones(9)}, "popularity is a masked array"),
]


def test_a_wrong_time_names_the_file(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user_id,item_id,timestamp\n1,2,3\n1,3,x\n")
    with pytest.raises(ValueError, match=r"log\.csv, column 'timestamp': row 1: timestamp 'x'"):
        LEAVE(path)


@pytest.mark.parametrize(
    ("kind", "call", "given", "options", "words"),
    [(ValueError, *one) for one in ERRORS] + [(TypeError, *one) for one in WRONG_TYPES],
)
def test_what_is_refused(kind, call, given, options, words):
    with pytest.raises(kind, match=words) as error:
        call(given, **options)
    assert "\n" not in str(error.value)
