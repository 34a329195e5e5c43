"""Chunks and documents: what is mapped and collapsed by the library is as mapped by hand.

That every source takes them is said by the matrix of options.
"""

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from listwise import listwise
from shared_inputs import csv_of, frame_of, library, rows

import toplist as tl


def once(row):
    return list(dict.fromkeys(row))


def mapped(row, chunks, collapse=True):
    """Return a list, or a truth with or without grades, of documents."""
    if isinstance(row, dict):
        grades = {}
        for one, grade in row.items():
            document = chunks.get(one, one)
            grades[document] = max(grade, grades.get(document, 0))
        return grades
    if isinstance(row, set):
        return {chunks.get(one, one) for one in row}
    documents = [chunks.get(one, one) for one in row]
    return once(documents) if collapse else documents


def bits(hits):
    """Return all that hits have, without how lists were read."""
    parts = hits.ranks, hits.offsets, hits.n_truth, hits.n_listed, hits.grades, hits.truth_grades
    arrays = [None if part is None else part.tolist() for part in parts]
    return arrays, hits.k, hits.users, hits.about.fingerprints


# ids of chunks and of documents: numbers, far numbers, text, bytes
KINDS = {
    "numbers": (int, lambda d: 100 + d),
    "documents among chunks": (int, int),
    "far": (lambda c: (c - 7) * 10**15, lambda d: -(d + 1) * 10**14),
    "large": (lambda c: 2**62 + c, lambda d: d),
    "text": ("c{}".format, "d{}".format),
    "text to numbers": ("c{}".format, int),
    "numbers to text": (int, "d{}".format),
    "bytes": (lambda c: b"c%d" % c, lambda d: b"d%d" % d),
}
LISTS = st.lists(st.lists(st.integers(0, 11), max_size=9), min_size=1, max_size=5)


@st.composite
def populations(draw, kind):
    """Draw lists of chunks, truths of chunks (some with grades), and the documents of chunks."""
    chunk, document = KINDS[kind]
    lists = [list(map(chunk, row)) for row in draw(LISTS)]
    some = st.lists(st.integers(0, 11), max_size=6)
    truths = [set(map(chunk, draw(some))) for _ in lists]
    if draw(st.booleans()):
        grade = st.integers(0, 3)
        truths = [{one: draw(grade) for one in sorted(row)} for row in truths]
    documents = draw(st.lists(st.integers(0, 4), min_size=12, max_size=12))
    return lists, truths, {chunk(one): document(d) for one, d in enumerate(documents)}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=8)
def test_lists_are_mapped_and_collapsed(kind, data):
    lists, truths, chunks = data.draw(populations(kind))
    k = data.draw(st.none() | st.integers(1, 9))
    collapse = data.draw(st.booleans())
    plain = [mapped(row, chunks, collapse) for row in lists], [mapped(t, chunks) for t in truths]
    expected = tl.match(*plain, k, duplicates="first")
    how = {"duplicates": None if collapse else "first"}
    look = lambda ids: [chunks[one] for one in np.asarray(ids, object).tolist()]  # noqa: E731
    series = [library("pandas").Series(chunks)] if kind == "text" else []
    for items_as in (chunks, look, *series):
        assert bits(tl.match(lists, truths, k, items_as=items_as, **how)) == bits(expected)
    kept = tl.GroundTruths(truths)
    assert bits(tl.match(lists, kept, k, items_as=chunks, **how)) == bits(expected)
    keyed = [dict(zip("abcde", side, strict=False)) for side in (lists, truths)]
    assert rows(tl.match(*keyed, k, items_as=chunks, **how)) == rows(expected)
    if collapse:
        found = tl.match(*plain[:1], plain[1], k, duplicates="collapse")
        assert bits(found) == bits(expected)
        again = [[one for one in row for _ in "12"] for row in plain[0]]
        assert bits(tl.match(again, plain[1], k, duplicates="collapse")) == bits(expected)


CHUNKS = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b"}


def test_kept_truths_meet_maps_in_turn():
    first, second = {"c1": "a", "c2": "a"}, {"c1": "a", "c2": "b"}
    for form in ([{"c1", "c2"}], {"u": {"c1", "c2"}}):
        kept = tl.GroundTruths(form)
        lists = [["c2", "c1"]] if isinstance(form, list) else {"u": ["c2", "c1"]}
        for items_as, n in ((first, 1), (second, 2), (dict(first), 1), (None, 2), (first, 1)):
            assert tl.match(lists, kept, items_as=items_as).n_relevant.tolist() == [n]
        first["c2"] = "b"  # the caller's map, changed
        assert tl.match(lists, kept, items_as=first).n_relevant.tolist() == [2]
        first["c2"] = "a"
        for items_as, n in ((lambda _: ["x"] * len(_), 1), (lambda ids: list(ids), 2)):
            assert tl.match(lists, kept, items_as=items_as).n_relevant.tolist() == [n]
    kept = tl.GroundTruths(frame_of("polars", {"user_id": ["u"], "item_id": [["c1", "c2"]]}))
    for padding, n in ((None, 2), ("c2", 1), (None, 2)):
        hits = tl.match({"u": ["c1", "c2"]}, kept, items_as=second, padding=padding)
        assert hits.n_relevant.tolist() == [n]


def test_functions_of_the_lists_take_maps_and_collapse():
    lists, plain = {"u": ["a1", "b1", "a2"], "v": ["b2"]}, {"u": ["a", "b"], "v": ["b"]}
    twice = {"u": ["a", "a", "b", "b"], "v": ["b"]}
    for call in (
        lambda ranks, **how: tl.beyond.exposure(ranks, 2, **how).counts(),
        lambda ranks, **how: listwise.item_coverage(ranks, 2, catalogue=["a", "b", "c"], **how),
        lambda ranks, **how: tl.beyond.overlap(ranks, ranks, 2, **how).per_user,
        lambda ranks, **how: tl.curves("hit", ranks, {"u": {"b"}, "v": {"a"}}, 2, **how),
    ):
        expected = np.asarray(call(plain))
        for ranks, how in (
            (lists, {"items_as": CHUNKS}),
            (twice, {"duplicates": "collapse"}),
            ({u: [*row, ""] for u, row in lists.items()}, {"items_as": CHUNKS, "padding": ""}),
        ):
            assert np.array_equal(np.asarray(call(ranks, **how)), expected, equal_nan=True)
    found = tl.loo.ranks_of([["a", "a", "b"], ["b"]], ["b", "a"], duplicates="collapse")
    assert found.tolist() == [2, 0]
    whole = tl.top_k_eval([["a", "a", "b", "b", "c"]], [{"b", "c", "z"}], duplicates="collapse")
    assert whole.hits.k == 3 and whole["precision@3"] == pytest.approx(2 / 3)


def test_errors_of_files_and_of_the_command_line(tmp_path, cli):
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "u,a1,1", "u,z,2")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "u,a")
    for more in ({}, {"keep": "users"}):
        with pytest.raises(ValueError, match="recs.csv:3: ranks: user 'u' has item 'z' at rank 2"):
            by_words(recs, truth, 2, items_as=CHUNKS, **more)
    lines = [",".join(pair) for pair in CHUNKS.items()]
    chunks = csv_of(tmp_path / "chunks.csv", "item_id,document", *lines)
    command = "eval", recs, truth, "--items-as"
    assert "truth.csv:1: no column 'document'" in cli(*command, truth)[2]
    found = cli(*command, chunks, "--duplicates", "raise")[2]
    assert "--duplicates raise does not go with --items-as" in found


@pytest.mark.parametrize("make", [int, "d{}".format], ids=["numbers", "text"])
def test_numbers_of_parquet_beside_a_map_of_text(tmp_path, make, good):
    parquet = library("pyarrow.parquet")
    recs, truth = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    ids = {"user_id": [1, 1, 1], "item_id": [10, 11, 20], "rank": [1, 2, 3]}
    parquet.write_table(frame_of("pyarrow", ids), recs)
    parquet.write_table(frame_of("pyarrow", {"user_id": [1], "item_id": [20]}), truth)
    lines = [f"{chunk},{make(chunk // 10)}" for chunk in (10, 11, 20)]
    chunks = csv_of(tmp_path / "chunks.csv", "item_id,document", *lines)
    catalogue = csv_of(tmp_path / "all.csv", "item_id", *map(str, map(make, (1, 2, 3, 4))))
    asked = "eval", recs, truth, "-k", 2, "-m", "mrr", "item_coverage", "--catalogue", catalogue
    lines = good(*asked, "--items-as", chunks, "--format", "csv").splitlines()
    cells = [line.split(",") for line in lines]
    assert [float(row[cells[0].index("mean")]) for row in cells[1:]] == [0.5, 0.5]
