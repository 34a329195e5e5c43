"""Columns of text are numbered exactly: equal codes where, and only where, strings are equal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist.inputs import factorize

WORDS = st.text(max_size=12) | st.sampled_from(["", "a", "b", "item0000000001", "item0000000002"])


def arrays(strings):
    data = [string.encode("utf-8", "surrogatepass") for string in strings]
    ends = np.cumsum([len(one) for one in data]).astype(np.int64)
    starts = ends - np.array([len(one) for one in data], np.int64)
    return np.frombuffer(b"".join(data), np.uint8), starts, ends


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=60))
def test_numbers_are_those_of_a_dictionary(strings):
    codes, names = factorize.numbered(*arrays(strings))
    assert names == list(dict.fromkeys(strings))
    assert [names[code] for code in codes] == strings


def test_many_distinct_strings_make_the_table_grow():
    strings = [f"item{i * 7919 % 40_000}" for i in range(100_000)]
    codes, names = factorize.numbered(*arrays(strings))
    assert len(names) == 40_000
    assert [names[code] for code in codes.tolist()] == strings


def test_strings_of_one_hash_stay_apart(monkeypatch):
    """With every hash the same, only the bytes tell strings apart."""
    from toplist.kernels import strings as kernels

    words = [f"w{i}" for i in range(50)] * 2
    data, starts, ends = arrays(words)
    table, first = np.full(256, -1, np.int64), np.empty(256, np.int64)
    hashes, codes = np.empty(256, np.uint64), np.empty(100, np.int64)
    kernel = kernels.number_strings.py_func
    monkeypatch.setitem(kernel.__globals__, "hash_of", lambda *_: np.uint64(5))
    with np.errstate(over="ignore"):
        at, n = kernel(data, starts, ends, 0, table, first, hashes, 0, codes)
    assert (at, n) == (100, 50)
    assert codes.tolist() == [*range(50)] * 2


def test_strings_joined_by_nul():
    assert factorize.joined("a\0b\0a", 3)[1] == ["a", "b"]
    assert factorize.joined("a\0b\0a", 2) is None  # one of the two holds a NUL
    assert factorize.joined("", 1)[1] == [""]


STRANGE = ["", "a\0b", "ä", "漢字", "x" * 300, "a", "b"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "views", "sliced", "large"])
def test_strange_ids_in_every_library(library):
    pyarrow = pytest.importorskip("pyarrow")
    n = len(STRANGE)
    ranks = {"user_id": ["u"] * n, "item_id": STRANGE, "rank": list(range(1, n + 1))}
    if library in ("pandas", "polars"):
        table = pytest.importorskip(library).DataFrame(ranks)
    else:
        table = pyarrow.table(ranks)
        if library == "sliced":
            table = pyarrow.concat_tables([table, table]).combine_chunks().slice(n)
        else:
            kind = {"views": "string_view", "large": "large_string"}.get(library, "string")
            item = table["item_id"].cast(getattr(pyarrow, kind)())
            table = table.set_column(1, "item_id", item)
    for place, item in enumerate(STRANGE):
        hits = tl.match(table, {"u": {item, "never listed"}})
        assert hits.ranks.tolist() == [place + 1]
