"""Chunks and documents: what is mapped and collapsed by the library is as mapped by hand.

That every source takes them is said by the matrix of options.
"""

import numpy as np
import pytest
from doors import by_words
from listwise import listwise
from shared_inputs import csv_of, frame_of, library

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


def drawn(kind, seed):
    """Draw lists of chunks, truths of chunks (some with grades), and the documents of chunks."""
    chunk, document = KINDS[kind]
    rng = np.random.default_rng(seed)

    def some():
        return [chunk(one) for one in rng.integers(0, 12, rng.integers(0, 9)).tolist()]

    lists = [some() for _ in range(5)]
    truths = [set(some()) for _ in lists]
    if seed % 2:
        truths = [{one: int(rng.integers(0, 4)) for one in sorted(row)} for row in truths]
    documents = rng.integers(0, 5, 12).tolist()
    return lists, truths, {chunk(one): document(d) for one, d in enumerate(documents)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_lists_are_mapped_and_collapsed(kind, seed):
    lists, truths, chunks = drawn(kind, seed)
    k, collapse = (None, 3, 2, None)[seed], seed != 2
    plain = [mapped(row, chunks, collapse) for row in lists], [mapped(t, chunks) for t in truths]
    expected = tl.match(*plain, k, duplicates="first")
    how = {"duplicates": None if collapse else "first"}
    look = lambda ids: [chunks[one] for one in np.asarray(ids, object).tolist()]  # noqa: E731
    series = [library("pandas").Series(chunks)] if kind == "text" else []
    for items_as in (chunks, look, *series):
        assert bits(tl.match(lists, truths, k, items_as=items_as, **how)) == bits(expected)
    kept = tl.GroundTruths(truths)
    assert bits(tl.match(lists, kept, k, items_as=chunks, **how)) == bits(expected)
    if collapse:
        again = [[one for one in row for _ in "12"] for row in plain[0]]
        for ranks in (plain[0], again):
            assert bits(tl.match(ranks, plain[1], k, duplicates="collapse")) == bits(expected)


def test_an_error_of_a_function_has_a_note_of_what_it_gets():
    with pytest.raises(AttributeError, match="split") as caught:
        tl.match([["a#1"]], [{"a"}], items_as=lambda one: one.split("#")[0])
    assert "gets all ids: lambda ids: [f(id) for id in ids]" in caught.value.__notes__[0]


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


def test_functions_of_the_lists_take_maps_and_collapse():
    lists, plain = {"u": ["a1", "b1", "a2"], "v": ["b2"]}, {"u": ["a", "b"], "v": ["b"]}
    twice = {"u": ["a", "a", "b", "b"], "v": ["b"]}
    for call in (
        lambda ranks, **how: tl.beyond.exposure(ranks, 2, **how).counts(),
        lambda ranks, **how: listwise.item_coverage(ranks, 2, catalogue=["a", "b", "c"], **how),
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


def test_an_item_of_a_file_without_a_document_names_the_line(tmp_path):
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "u,a1,1", "u,z,2")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "u,a")
    for keep in (None, "users"):
        with pytest.raises(ValueError, match="recs.csv:3: ranks: user 'u' has item 'z' at rank 2"):
            by_words(recs, truth, 2, items_as=CHUNKS, keep=keep)


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
