"""The two baselines, against plain Python."""

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from split_logs import FEW, ROWS, SHUFFLES, columns

from toplist import loo

USERS = st.none() | st.lists(st.integers(0, 6), max_size=5)
EXCLUDED = st.sampled_from(["train", None]) | st.dictionaries(
    st.integers(0, 6), st.sets(st.integers(4, 15)), max_size=4
)


def left_for(rows, users, exclude):
    """Return the unseen items of each user."""
    seen = defaultdict(set)
    for user, item, _ in rows:
        seen[user].add(item)
    items = {item for _, item, _ in rows}
    own = {"train": seen, None: {}}.get(exclude) if not isinstance(exclude, dict) else exclude
    return {user: items - set(own.get(user, ())) for user in (seen if users is None else users)}


@FEW
@given(ROWS, st.integers(1, 12), USERS, EXCLUDED)
def test_popular_items_come_by_their_rows_then_by_id(rows, k, users, exclude):
    counts = Counter(item for _, item, _ in rows)
    expected = {
        user: sorted(left, key=lambda item: (-counts[item], item))[:k]
        for user, left in left_for(rows, users, exclude).items()
    }
    assert loo.popular(columns(rows), k, users=users, exclude=exclude) == expected


@FEW
@given(ROWS, st.integers(1, 12), USERS, EXCLUDED, SHUFFLES)
def test_random_items_are_unseen_ones_each_once(rows, k, users, exclude, random):
    found = loo.random(columns(rows), k, users=users, exclude=exclude, seed=1)
    left = left_for(rows, users, exclude)
    assert found.keys() == left.keys()
    for user, items in found.items():
        assert len(items) == min(k, len(left[user])) == len(set(items)) and {*items} <= left[user]
    shuffled = columns(random.sample(rows, len(rows)))
    assert loo.random(shuffled, k, users=users, exclude=exclude, seed=1) == found
    for user in found if exclude == "train" else ():
        assert loo.random(columns(rows), k, users=[user], seed=1) == {user: found[user]}


@settings(deadline=None, max_examples=8)
@given(rows=ROWS)
def test_the_kind_of_the_log_does_not_matter(kinds, rows):
    whole = None
    for log in kinds(rows):
        found = [
            {int(user): [*map(int, items)] for user, items in model(log, 4).items()}
            for model in (loo.popular, loo.random)
        ]
        whole = found if whole is None else whole
        assert found == whole, type(log)


def test_every_unseen_item_is_as_likely_at_every_place():
    users = np.arange(6_000)
    train = np.append(users, np.zeros(6, int)), np.append(np.zeros(6_000, int), np.arange(6))
    lists = loo.random(train, 2, users=users[1:].tolist())
    for place in (0, 1):
        counts = Counter(items[place] for items in lists.values())
        assert set(counts) == {1, 2, 3, 4, 5}
        assert all(abs(n - 5_999 / 5) < 5 * np.sqrt(960) for n in counts.values())
    other = loo.random(train, 2, users=users[1:].tolist(), seed=1)
    assert 0 < sum(other[user] == lists[user] for user in lists) < 1_000


def test_ties_are_integers_by_number_then_text():
    train = [1] * 7, ["b", "10", "9", "a", "-1", "09", "B"]
    assert loo.popular(train, 9, users=[2]) == {2: ["-1", "9", "10", "09", "B", "a", "b"]}


def test_nothing_to_list():
    empty = np.empty(0, int), np.empty(0, int)
    assert loo.popular(empty, 3) == loo.random(empty, 3) == {}
    assert loo.popular(empty, 3, users=[4]) == loo.random(empty, 3, users=[4]) == {4: []}
