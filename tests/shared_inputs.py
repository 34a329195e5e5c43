"""What tests of inputs share: tables and sparse matrices of plain rows, and hits compared."""

import importlib
import re
import subprocess
import sys
import textwrap
from contextlib import suppress
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from doors import by_words, curve, match_by_words

import toplist as tl

NAN = float("nan")
LIBRARIES = ["pandas", "polars", "pyarrow"]


def library(name):
    """Import a library; skip the test where it is not installed."""
    return pytest.importorskip(name)


def frame_of(name, columns):
    """Make a table of a library from a dict of columns."""
    module = library(name)
    return (module.table if name == "pyarrow" else module.DataFrame)(columns)


NAMES = "user_id", "item_id", "relevance"


def long(side, names=NAMES, number=float):
    """Return a side as columns of a row for each item: of grades, or of lists with their ranks."""
    found = [
        (user, *((item, number(row[item])) if isinstance(row, dict) else (item, rank)))
        for user, row in side.items()
        for rank, item in enumerate(row, 1)
    ]
    names = names if isinstance(next(iter(side.values())), dict) else (*names[:2], "rank")
    return dict(zip(names, map(list, zip(*found, strict=True)), strict=True))


def listed(side, names=NAMES, number=float):
    """Return a side as columns of a row for each user."""
    columns = [list(side), list(map(list, side.values()))]
    if isinstance(next(iter(side.values())), dict):
        columns.append([list(map(number, row.values())) for row in side.values()])
    return dict(zip(names, columns, strict=False))


def csr(rows, grades=None, n_items=10):
    """Make a sparse matrix of the items of each row, with grades or ones."""
    users = [user for user, row in enumerate(rows) for _ in row]
    items = [item for row in rows for item in row]
    values = np.concatenate(grades) if grades else np.ones(len(items))
    sparse = library("scipy.sparse")
    return sparse.coo_array((values, (users, items)), (len(rows), n_items)).tocsr()


def evaluate(ranks, truths, k=2, **options):
    return by_words(ranks, truths, k, metrics=["mrr"], **options)


def to_any_depth(ranks, truths, **options):
    return evaluate(ranks, truths, None, **options)


# A function for each way in: a refusal must not depend on which one is taken.
DOORS = [match_by_words, partial(curve, "ndcg"), to_any_depth]


def rows(hits):
    """Return (ranks of the hits, R, n) of each user."""
    parts = [hits.ranks[start:end].tolist() for start, end in pairwise(hits.offsets.tolist())]
    return list(zip(parts, hits.n_relevant.tolist(), hits.n_listed.tolist(), strict=True))


def same(hits, expected):
    """Tell whether two `Hits` are the same, bit for bit."""
    names = ("offsets", "ranks", "n_truth", "n_listed", "grades", "truth_grades")
    arrays = [(getattr(hits, name), getattr(expected, name)) for name in names]
    return (
        all(
            np.array_equal(a, b) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0)
            for a, b in arrays
        )
        and hits.k == expected.k
        and list(hits.users or range(len(hits))) == list(expected.users or range(len(expected)))
        and hits.about.n_extra == expected.about.n_extra
    )


def read_only(array):
    """Return the array, which refuses to be written."""
    array.flags.writeable = False
    return array


def csv_of(path, *lines):
    """Write a file of lines; return its path."""
    path.write_text("\n".join(lines) + "\n")
    return path


def fresh(code, *arguments):
    """Run code in a fresh interpreter; return what it prints, in words."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=600
    ).stdout.split()


def holds(words, message):
    """Tell whether a message has all parts of the words, in their order."""
    return re.search(".*".join(map(re.escape, words.split(" ... "))), message)


def said(words, call, *arguments, **options):
    """Check that a call is refused in one line that has all parts of the words, in their order."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    assert holds(words, message), message
    assert "\n" not in message
    return message


# Lists, what ranks them, and truths, of users whom one side alone knows
RANKED = {"q1": ["b", "a", "c"], "q2": ["z"], "q3": []}
TRUTHS = {"q1": {"a": 2, "b": 1}, "q2": {"x": 1}, "q4": {"y": 1}, "q3": {"b": 0}}
RUN = {"q1": {"a": 0.5, "b": 0.75, "c": -1.5}, "q2": {"z": 3.25}, "q3": {}}


# Lists and truths whose users have keys of two columns
AT = {"user_id": ["user", "time"]}
TIMES = {
    "user": ["a", "a", "a", "b", "b", "b"],
    "time": [1, 1, 2, 1, 1, 9],
    "item_id": ["x", "y", "z", "x", "z", "z"],
    "rank": [1, 2, 1, 1, 2, 1],
}
OF_TIMES = {"user": ["a", "a", "b", "b"], "time": [1, 2, 1, 1], "item_id": ["y", "x", "x", "y"]}


def equal_results(ranks, truths, expected, **options):
    """Evaluate in one line, in every way; the same numbers, bit for bit, as plain lists."""
    hits, plain = match_by_words(ranks, truths, **options), match_by_words(*expected, **options)
    assert same(hits, plain)
    assert hits.about.fingerprints == plain.about.fingerprints
    asked = {"metrics": ["ndcg", "map", "novelty"], **options}
    items = {item for row in getattr(expected[0], "values", lambda: expected[0])() for item in row}
    asked["counts"] = dict.fromkeys(sorted(items), 3)
    given, plain = (by_words(*both, 3, **asked) for both in ((ranks, truths), expected))
    assert list(given) == list(plain)
    for metric in ("ndcg", "map"):
        values = [one.per_user(metric) for one in (given, plain)]
        assert np.array_equal(*values, equal_nan=True)
    both = [curve("ndcg", *sides, **options) for sides in ((ranks, truths), expected)]
    assert np.array_equal(*both, equal_nan=True)
    texts = [str(tl.audit.check(*sides)) for sides in ((ranks, truths), expected)]
    assert options or texts[0] == texts[1]


# Situations in which a source is read. What the library reads at once is a constant of a module.

# module -> constants that are made small, so that a few rows are many blocks
SIZES = {
    "toplist.files.text": {"SIZE": 40},
    "toplist.files.tables": {"IDS": 12},
    "toplist.files.batches": {"LEAST": 1},
    "toplist.files.loop": {"PART": 2},
    "toplist.inputs.texts": {"FIRST": 64, "BLOCK": 128},
    "toplist.inputs.factorize": {"FIRST": 64, "BLOCK": 128, "CHUNK": 64},
}


def in_small_blocks(patch, **sizes):
    """Let files, streams and tables be read in blocks of a few rows."""
    found = 0
    for name, constants in SIZES.items():
        with suppress(ImportError):
            module = importlib.import_module(name)
            for constant, size in constants.items():
                if hasattr(module, constant):
                    patch.setattr(module, constant, sizes.get(constant, size))
                    found += 1
    assert found > 3, "the names of the constants have changed"
