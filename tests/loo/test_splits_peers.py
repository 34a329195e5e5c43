"""The rows of splits by RecTools and LensKit: the same, or the difference that is stated here.

- RecTools puts users with no more rows than are held out in the test alone; here they are in train.
- LensKit's last window has no end.

    python benchmarks/conformance/splits.py --envs envs
    TOPLIST_PEERS=envs pytest -m peers tests/loo/test_splits_peers.py
"""

import os
import random
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from toplist import loo

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "conformance" / "splits.py"
sys.path += [str(SCRIPT.parent), str(SCRIPT.parents[1])]

from environments import called, interpreter  # noqa: E402
from splits import FIRST, PEERS  # noqa: E402

ENVIRONMENTS = Path(os.environ.get("TOPLIST_PEERS", "")).resolve()


def drawn(seed):
    """Draw rows of 12 users over 40 days, no day twice; one user has one row, on the last day."""
    source = random.Random(seed)
    rows = [[12, 3, 39]]
    for user in range(12):
        days = sorted(source.sample(range(40), source.randint(1, 12)))
        items = source.sample(range(30), len(days))
        rows += [[user, item, day] for item, day in zip(items, days, strict=True)]
    return source.sample(rows, len(rows))


@cache
def asked(name, seed):
    """Return what a peer answers."""
    folder = ENVIRONMENTS / f"splits-{name}"
    if not (folder / "ready").exists():
        pytest.skip(f"no environment of {name}")
    return called(interpreter(folder, PEERS[name]), SCRIPT, f"by_{name}", drawn(seed))


def logged(rows):
    users, items, days = map(list, zip(*rows, strict=True))
    return users, items, [str(np.datetime64(FIRST) + day) for day in days]


def counted(rows):
    return Counter(map(tuple, rows))


def parts(split, *names):
    whole = (zip(*getattr(split, name), strict=True) for name in names)
    first = np.datetime64(FIRST)
    days = ((u, i, int((np.datetime64(d) - first).astype(int))) for p in whole for u, i, d in p)
    return Counter(days)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PEERS)
def test_windows_have_the_rows_of_the_peer(name, seed):
    rows = drawn(seed)
    start = str(np.datetime64(FIRST) + 40 - 21)
    windows = loo.windows(logged(rows), "7d", start=start, repeats="keep")
    theirs = asked(name, seed)["windows"]
    assert len(windows) == len(theirs) == 3
    for split, (train, test) in zip(windows, theirs, strict=True):
        assert parts(split, "train") == counted(train)
        assert parts(split, "test") == counted(test)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(2))
def test_the_last_rows_are_those_of_rectools_but_for_users_with_few(seed):
    rows = drawn(seed)
    n_of = Counter(user for user, _, _ in rows)
    few = counted(row for row in rows if n_of[row[0]] <= 2)
    split = loo.holdout(logged(rows), last=2)
    train, test = map(counted, asked("rectools", seed)["last"])
    assert few and few <= test
    assert (parts(split, "train"), parts(split, "test")) == (train + few, test - few)
