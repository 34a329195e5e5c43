"""Logs for tests of splits: rows at random, and what is kept of them, in plain Python."""

from collections import Counter, defaultdict

from hypothesis import settings
from hypothesis import strategies as st

TIMES = st.integers(0, 6)
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(5, 14), TIMES), min_size=1, max_size=40)
SHUFFLES = st.randoms(use_true_random=False)
REPEATS = st.sampled_from(["first", "last", "keep"])
FEW = settings(max_examples=25)


def columns(rows):
    users, items, times = zip(*rows, strict=True)
    return list(users), list(items), list(times)


def parts(split):
    """Return the rows of every part, in any order."""
    whole = [split.train, split.test, split.validation, split.history]
    return [None if part is None else Counter(zip(*part, strict=True)) for part in whole]


def by_user(rows):
    found = defaultdict(list)
    for user, item, time in rows:
        found[user].append((time, item))
    return found


def kept(rows, repeats):
    """Drop repeated choices, in plain Python: user -> rows (time, item), oldest first."""
    found = {}
    for user, own in by_user(rows).items():
        times = defaultdict(list)
        for time, item in own:
            times[item].append(time)
        pick = {"first": lambda t: [min(t)], "last": lambda t: [max(t)], "keep": sorted}[repeats]
        found[user] = sorted((time, item) for item in times for time in pick(times[item]))
    return found
