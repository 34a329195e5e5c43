"""Laws of splits, of drawn logs: whose rows are held out, how many, and what is refused."""

from collections import Counter

import numpy as np
import pytest

from toplist import loo

SEEDS = range(3)
# A way to hold out, and how many rows of a user it holds out of n; None where that varies.
WAYS = {
    "last": ({"last": 1}, lambda n: 1),
    "last two": ({"last": 2}, lambda n: 2),
    "half": ({"ratio": 0.5}, lambda n: n // 2),
    "half at random": ({"ratio": 0.5, "by": "random"}, lambda n: n // 2),
    "time": ({"time": 40}, None),
}


def log_of(seed):
    """Draw a log of users with one to seven rows, each at its own time."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(12), rng.integers(1, 8, 12))
    rows = rng.permutation(len(users))
    items = [int(rng.integers(0, 1000)) * 100 + row for row in range(len(users))]  # none twice
    times = rng.permutation(100)[: len(users)].tolist()
    return {"user_id": users[rows].tolist(), "item_id": items, "timestamp": times}


def rows_of(part):
    return list(zip(*(part[name] for name in ("user_id", "item_id", "timestamp")), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("least", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_who_is_tested_has_as_much_history_as_must_remain(way, least, seed):
    how, held_out = WAYS[way]
    log = log_of(seed)
    split = loo.holdout(log, **how, min_history=least)
    train, test = rows_of(split.train), rows_of(split.test)
    assert not {*train} & {*test} and {*train, *test} <= {*rows_of(log)}
    least = (0 if way == "time" else 1) if least is None else least
    n_rows, n_train, n_test = (
        Counter(row[0] for row in one) for one in (rows_of(log), train, test)
    )
    for user, n in n_rows.items():
        assert not n_test[user] or n_train[user] >= least
        if held_out is None:
            late = [row for row in rows_of(log) if row[0] == user and row[2] >= how["time"]]
            assert n_test[user] == (len(late) if n - len(late) >= least else 0)
        else:
            assert n_train[user] + n_test[user] == n
            wanted = held_out(n)
            assert n_test[user] == (wanted if n - wanted >= least else 0)


@pytest.mark.parametrize("more", [{"by": "random"}, {"short": "drop"}, {"seed": 3}])
def test_what_a_time_does_not_read_is_refused(more):
    with pytest.raises((TypeError, ValueError), match=next(iter(more))):
        loo.holdout(log_of(0), time=40, **more)


@pytest.mark.parametrize("least", [0, 1, 2, 4, 9])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_window_is_without_a_test(seed, least):
    log = log_of(seed)
    try:
        found = list(loo.windows(log, 15, min_history=least))
    except ValueError as error:
        found, said = [], str(error)
        assert "row" in said
    for split in found:
        assert rows_of(split.test)
        n_train = Counter(row[0] for row in rows_of(split.train))
        assert all(n_train[user] >= least for user, _, _ in rows_of(split.test))
