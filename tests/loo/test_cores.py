"""The k-core of a log, against removal row by row."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from split_logs import FEW, REPEATS, ROWS, SHUFFLES, columns, kept, parts

from toplist import loo


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
    options = {"repeats": repeats, "k_core": (k_users, k_items)}
    if not expected:
        with pytest.raises(ValueError, match=r"leaves nothing of"):
            loo.holdout(columns(rows), last=1, **options)
        return
    split = loo.holdout(columns(rows), last=1, **options)
    found = sum((part for part in parts(split) if part is not None), Counter())
    assert Counter((user, item) for user, item, _ in found.elements()) == expected
    report, left_out = split.report, split.report.core
    assert left_out.n_rows == len(own) - expected.total()
    assert left_out.n_users == len({u for u, _ in own}) - len({u for u, _ in expected})
    assert left_out.n_items == len({i for _, i in own}) - len({i for _, i in expected})
    assert report.n_rows == len(rows) == found.total() + report.n_repeats + left_out.n_rows
    assert (report.n_users, report.n_items) == (
        len({u for u, *_ in rows}),
        len({i for _, i in own}),
    )
    assert split.log.by_user().keys() == {u for u, _ in expected}
    shuffled = loo.holdout(columns(random.sample(rows, len(rows))), last=1, **options)
    assert parts(shuffled) == parts(split)


@pytest.mark.parametrize(
    "split",
    [
        lambda log, **k: loo.leave_one_out(log, "random", **k),
        lambda log, **k: loo.holdout(log, 0.5, **k),
        lambda log, **k: loo.holdout(log, time=4, **k),
        lambda log, **k: loo.held_out_users(log, 1, hold=1, **k),
        lambda log, **k: loo.windows(log, 2, start=3, **k)[0],
    ],
)
def test_every_split_takes_a_core(split):
    users, items = [1, 1, 2, 2, 3, 1], [5, 6, 5, 6, 6, 9]
    found = split((np.array(users), np.array(items), np.array([1, 2, 3, 4, 5, 6])), k_core=2)
    whole = found.truths("train"), found.truths(), found.truths("history")
    assert {item for part in whole for some in part.values() for item in some} == {5, 6}
    assert {user for part in whole for user in part} == {1, 2}
    assert str(found.report.core) in str(found.report)
    assert str(found.report.core) == "k-core (users 2, items 2): 2 rows, 1 user and 1 item left out"
    assert "6 rows of 3 users and 3 items" in str(found.report)


def test_a_core_needs_no_more_than_it_says():
    log = [1, 1, 2, 2], [5, 6, 5, 6], [1, 2, 3, 4]
    assert loo.leave_one_out(log, k_core=2).report.core[2:] == (0, 0, 0)
    assert loo.leave_one_out(log, k_core=(2, 1)).report.core[:2] == (2, 1)
    with pytest.raises(ValueError, match="k_core=3 leaves nothing of 4 rows"):
        loo.leave_one_out(log, k_core=3)
    with pytest.raises(ValueError, match="k_core must be a whole number"):
        loo.leave_one_out(log, k_core=2.5)
