"""Held-out users: who is drawn, what the model is given of them, and what is the truth."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from split_logs import FEW, REPEATS, ROWS, SHUFFLES, by_user, columns, kept, parts

from toplist import loo

HOLD = st.integers(1, 3) | st.sampled_from([0.2, 0.5, 0.29])


@FEW
@given(ROWS, st.integers(1, 3), st.none() | st.integers(1, 2), HOLD, st.integers(0, 2), REPEATS)
def test_held_out_users_are_not_in_train(rows, n, validation, hold, least, repeats):
    own = kept(rows, repeats)
    n_held = {
        user: hold if isinstance(hold, int) else int(Fraction(str(hold)) * len(some))
        for user, some in own.items()
    }
    enough = {user for user in own if n_held[user] and len(own[user]) - n_held[user] >= least}
    options = {"hold": hold, "validation": validation, "min_history": least, "repeats": repeats}
    if n + (validation or 0) > len(enough):
        with pytest.raises(ValueError, match=r"with enough rows to choose from"):
            loo.held_out_users(columns(rows), n, **options)
        return
    split = loo.held_out_users(columns(rows), n, **options)
    found = [by_user((part or Counter()).elements()) for part in parts(split)]
    train, test, rest, history = found
    assert (len(test), len(rest)) == (n, validation or 0)
    assert {*test, *rest} <= enough and not {*test} & {*rest} and not {*train} & {*test, *rest}
    assert {*train, *test, *rest} == {*own} and {*history} <= {*test, *rest}
    for user, some in own.items():
        held = test.get(user, []) + rest.get(user, [])
        assert sorted(train.get(user, []) + history.get(user, []) + held) == some
        if user in {*test, *rest}:
            assert len(held) == n_held[user]
            before = [time for time, _ in history.get(user, [])]
            assert max(before, default=0) <= min(time for time, _ in held)
    assert split.report.n_cold_users == n and split.report.n_short == len(own) - len(enough)
    assert "no row in train: given their history" in str(split.report)


@FEW
@given(ROWS, SHUFFLES, st.integers(0, 3), st.sampled_from(["last", "random"]))
def test_the_order_of_rows_does_not_matter(rows, random, seed, by):
    shuffled = random.sample(rows, len(rows))
    try:
        whole = loo.held_out_users(columns(rows), 1, hold=1, seed=seed, by=by)
    except ValueError:
        return
    other = loo.held_out_users(columns(shuffled), 1, hold=1, seed=seed, by=by)
    assert parts(whole) == parts(other) and whole.report == other.report


@settings(deadline=None, max_examples=8)
@given(rows=ROWS, seed=st.integers(0, 3))
def test_the_kind_of_the_log_does_not_matter(kinds, rows, seed):
    rows = [*rows, (0, 5, 1), (0, 6, 2), (1, 5, 1), (1, 6, 2)]
    found = None
    for log in kinds(rows):
        split = loo.held_out_users(log, 0.5, hold=1, seed=seed)
        whole = [
            {int(user): sorted(map(int, items)) for user, items in split.truths(part).items()}
            for part in ("train", "history", "test")
        ]
        found = whole if found is None else found
        assert found == whole, type(log)
        assert isinstance(log, str) or type(split.history) is type(log)


def test_every_user_is_as_likely_and_more_users_are_the_same_and_others():
    log = np.repeat(np.arange(40), 2), np.tile([5, 6], 40), np.tile([1, 2], 40)
    drawn = Counter(
        user
        for seed in range(400)
        for user in loo.held_out_users(log, 10, hold=1, seed=seed).truths()
    )
    assert all(abs(n - 100) < 5 * np.sqrt(75) for n in drawn.values()) and len(drawn) == 40
    few, many = (loo.held_out_users(log, n, hold=1).truths().keys() for n in (5, 0.5))
    assert few < many and len(many) == 20


def test_the_history_is_seen():
    split = loo.held_out_users(([1, 1, 1, 2, 2, 2], list("abcabd"), [1, 2, 3, 1, 2, 3]), 2, hold=1)
    users, items, held_out, seen = split.columns()
    assert [(user, items[at]) for user, at in zip(users, held_out, strict=True)] == [
        (1, "c"), (2, "d")
    ]  # fmt: skip
    assert [[items[at] for at in row] for row in seen] == [["a", "b"], ["a", "b"]]


def test_the_draw_stays_what_it_is():
    log = np.repeat(np.arange(9), 2), np.tile([5, 6], 9), np.tile([1, 2], 9)
    assert sorted(loo.held_out_users(log, 3, hold=1, seed=3).truths()) == [3, 4, 6]


@pytest.mark.parametrize(
    ("test", "options", "message"),
    [
        (0, {}, "test must be at least 1, not 0"),
        (1.5, {}, "test=1.5: a share between 0 and 1"),
        (0.0, {}, "test=0.0: 2 users with enough rows to choose from"),
        (3, {}, "test=3: 2 users with enough rows"),
        (1, {"validation": 2}, "validation=2: 1 user with enough rows"),
        (1, {"hold": 0}, "hold must be at least 1"),
        (1, {"hold": 5}, "test=1: 0 users with enough rows"),
        (1, {"min_history": -1}, "min_history must be"),
        (1, {"by": "basket"}, "by='basket': choose from 'last', 'random'"),
    ],
)
def test_options_are_checked(test, options, message):
    log = [1, 1, 2, 2, 3], [5, 6, 5, 6, 5], [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match=message) as error:
        loo.held_out_users(log, test, **{"hold": 1, **options})
    assert "\n" not in str(error.value)
