"""Chunks and documents: every form and source gives what is mapped and collapsed by hand."""

import pickle

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_inputs import LIBRARIES, csv_of, frame_of, library

import toplist as tl
from toplist.cli import main
from toplist.inputs.documents import ItemMap

K = 4
USERS = [f"u{user}" for user in range(6)]


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
    rows = st.lists(st.integers(0, 11), max_size=6)
    truths = [set(map(chunk, draw(rows))) for _ in lists]
    if draw(st.booleans()):
        grade = st.integers(0, 3)
        truths = [{one: draw(grade) for one in sorted(row)} for row in truths]
    documents = draw(st.lists(st.integers(0, 4), min_size=12, max_size=12))
    return lists, truths, {chunk(one): document(d) for one, d in enumerate(documents)}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_lists_are_mapped_and_collapsed(kind, data):
    lists, truths, chunks = data.draw(populations(kind))
    k = data.draw(st.none() | st.integers(1, 9))
    collapse = data.draw(st.booleans())
    plain = [mapped(row, chunks, collapse) for row in lists], [mapped(t, chunks) for t in truths]
    expected = tl.match(*plain, k, duplicates="first")
    duplicates = None if collapse else "first"
    look = lambda ids: [chunks[one] for one in np.asarray(ids, object).tolist()]  # noqa: E731
    for items_as in (chunks, look):
        found = tl.match(lists, truths, k, items_as=items_as, duplicates=duplicates)
        assert bits(found) == bits(expected)
    keyed = [dict(zip(USERS, side, strict=False)) for side in (lists, truths)]
    found = tl.match(*keyed, k, items_as=chunks, duplicates=duplicates)
    assert found.ranks.tolist() == expected.ranks.tolist()
    kept = tl.match(lists, tl.GroundTruths(truths), k, items_as=chunks, duplicates=duplicates)
    assert bits(kept) == bits(expected)


@given(st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=1), st.integers(1, 9))
@settings(deadline=None)
def test_collapsed_lists_without_a_map(lists, k):
    truths = [{0, 2, 5}] * len(lists)
    for kind in (int, "i{}".format, lambda one: b"%d" % one, lambda one: 2**62 + one):
        rows = [list(map(kind, row)) for row in lists]
        relevant = [set(map(kind, row)) for row in truths]
        found = tl.match(rows, relevant, k, duplicates="collapse")
        assert bits(found) == bits(tl.match(list(map(once, rows)), relevant, k))
        listed = tl.beyond.exposure(rows, k, duplicates="collapse")
        expected = tl.beyond.exposure(list(map(once, rows)), k)
        entropies = map(tl.beyond.shannon_entropy, (listed, expected))
        assert len({found.tobytes() for found in entropies}) == 1


def population(kind=str, seed=3):
    """Return lists and truths of chunks by user, the map, and both sides by hand."""
    rng = np.random.default_rng(seed)
    make = "c{}".format if kind is str else int
    document = "d{}".format if kind is str else (lambda one: 500 + one)
    chunks = {make(c): document(c // 4) for c in range(24)}
    lists = {
        user: list(map(make, rng.permutation(24)[: 5 + u].tolist())) for u, user in enumerate(USERS)
    }
    truths = {
        user: {
            make(c): int(grade)
            for c, grade in zip(
                rng.permutation(24)[:5].tolist(), rng.integers(0, 4, 5), strict=True
            )
        }
        for user in USERS[::-1]
    }
    truths["u3"] = {document(1): 2, make(0): 1}  # a document beside a chunk
    del lists["u2"]
    lists["u9"] = [make(5), document(1), make(20)]
    sides = [{user: mapped(row, chunks) for user, row in side.items()} for side in (lists, truths)]
    return lists, truths, chunks, *sides


def table(rows, side):
    """Return the columns of a long table."""
    third = "rank" if side == "ranks" else "relevance"
    columns = {"user_id": [], "item_id": [], third: []}
    for user, row in rows.items():
        for place, item in enumerate(row, 1):
            value = place if side == "ranks" else row[item]
            for name, one in zip(columns, (user, item, value), strict=True):
                columns[name].append(one)
    return columns


LIST_METRICS = ["ndcg", "recall", "mrr", "item_coverage", "novelty"]


def of_documents(lists, truths, **options):
    counts = {
        one: place + 1
        for place, one in enumerate(
            sorted({item for row in lists.values() for item in row}, key=str)
        )
    }
    given = {"metrics": LIST_METRICS, "catalogue": list(counts), "counts": counts}
    return given | options


def agrees(result, expected):
    """Whether a result has the means and spreads of another, also of parts, and who was counted."""
    names = expected.names()
    assert result.names() == names
    for found, plain in (
        (result.to_dict(), expected.to_dict()),
        *(({n: result.std(n)}, {n: expected.std(n)}) for n in names),
    ):
        assert found == pytest.approx(plain, rel=1e-12, nan_ok=True)
    counts = "n_users", "n_missing", "n_extra", "n_skipped"
    assert [getattr(result, n) for n in counts] == [getattr(expected, n) for n in counts]


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("module", LIBRARIES)
def test_tables(kind, module):
    lists, truths, chunks, plain, relevant = population(kind)
    options = of_documents(plain, relevant)
    expected = by_words(plain, relevant, K, **options)
    sides = frame_of(module, table(lists, "ranks")), frame_of(module, table(truths, "truths"))
    maps = chunks, frame_of(module, {"item_id": list(chunks), "document": list(chunks.values())})
    for items_as in maps:
        for ranks, truth in (sides, (lists, sides[1]), (sides[0], truths), (lists, truths)):
            agrees(by_words(ranks, truth, K, items_as=items_as, **options), expected)
        kept = tl.GroundTruths(sides[1])
        for _ in range(2):
            agrees(by_words(sides[0], kept, K, items_as=items_as, **options), expected)


def test_a_series():
    pandas = library("pandas")
    lists, truths, chunks, plain, relevant = population()
    found = tl.top_k_eval(lists, truths, K, items_as=pandas.Series(chunks))
    agrees(found, tl.top_k_eval(plain, relevant, K))
    twice = pandas.Series(["d", "e"], index=["c", "c"])
    with pytest.raises(ValueError, match="items_as=: item 'c' is in the index of the Series twice"):
        tl.match([["c"]], [{"c"}], items_as=twice)


FORMATS = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("form", FORMATS)
def test_files(tmp_path, form, kind):
    pl = library("polars")
    library("pyarrow")
    lists, truths, chunks, plain, relevant = population(kind)
    paths = []
    for side, rows in (("ranks", lists), ("truths", truths)):
        paths.append(tmp_path / f"{side}.{form}")
        getattr(pl.DataFrame(table(rows, side)), FORMATS[form])(paths[-1])
    if form == "csv" and kind is int:  # ids of text files are text
        chunks = {str(chunk): str(document) for chunk, document in chunks.items()}
        plain = {user: list(map(str, row)) for user, row in plain.items()}
        relevant = {u: {str(one): g for one, g in row.items()} for u, row in relevant.items()}
    options = of_documents(plain, relevant)
    expected = by_words(plain, relevant, K, **options)
    for more in ({}, {"keep": "users"}):
        for items_as in (chunks, lambda ids: [chunks.get(one, one) for one in list(ids)]):
            found = by_words(*paths, K, items_as=items_as, **options, **more)
            agrees(found, expected)
            if more:
                ours, theirs = (
                    dict(zip(one.users, one.per_user("ndcg@4"), strict=True))
                    for one in (found, expected)
                )
                assert ours == theirs
    kept = tl.GroundTruths(paths[1])
    agrees(by_words(paths[0], kept, K, items_as=chunks, **options), expected)


@pytest.mark.parametrize("kind", [int, str])
def test_record_batches_in_small_parts(kind):
    pa = library("pyarrow")
    lists, truths, chunks, plain, relevant = population(kind)
    options = of_documents(plain, relevant)
    expected = by_words(plain, relevant, K, **options)
    sides = [pa.table(table(rows, side)) for rows, side in ((lists, "ranks"), (truths, "truths"))]

    def look(ids):
        asked.extend(np.asarray(ids).tolist())
        return [chunks.get(one, one) for one in np.asarray(ids).tolist()]

    for items_as in (chunks, look):
        asked = []
        streams = [side.to_reader(3) for side in sides]
        found = by_words(*streams, K, items_as=items_as, **options)
        agrees(found, expected)
        assert len(asked) == len(set(asked))  # each id once


def test_systems_of_a_table(tmp_path):
    pl = library("polars")
    lists, truths, chunks, plain, relevant = population()
    columns = table(lists, "ranks")
    first = pl.DataFrame(columns).with_columns(model=pl.lit("a"))
    second = first.filter(pl.col("rank") <= 2).with_columns(model=pl.lit("b"))
    both = pl.concat([first, second])
    both.write_csv(tmp_path / "recs.csv")
    pl.DataFrame(table(truths, "truths")).write_csv(tmp_path / "truth.csv")
    short = {user: mapped(row[:2], chunks) for user, row in lists.items()}
    for sides in ((both, truths), (tmp_path / "recs.csv", tmp_path / "truth.csv")):
        found = tl.top_k_eval(*sides, K, items_as=chunks, system="model")
        agrees(found["a"], tl.top_k_eval(plain, relevant, K))
        agrees(found["b"], tl.top_k_eval(short, relevant, K))


def test_scores_are_sorted_before_chunks_are_collapsed():
    scores = {"q": {"a1": 0.9, "b1": 0.5, "a2": 0.7, "c1": 0.1}}
    chunks = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
    found = tl.match(scores, {"q": {"b"}}, 2, items_as=chunks)
    assert found.ranks.tolist() == [2] and found.n_listed.tolist() == [2]
    ties = {"q": {"a1": 0.5, "b1": 0.5, "c1": 0.5}}
    assert tl.match(
        tl.Ranks(ties, ties="item_desc"), {"q": {"c"}}, items_as=chunks
    ).ranks.tolist() == [1]


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


EDGES = {  # lists, truths, options -> ranks of the hits, relevant, listed
    "empty lists": ([[], []], [{"a1"}, set()], {}, ([], [1, 0], [0, 0])),
    "all one document": ([["a1", "a2", "a3"]], [{"a2"}], {}, ([1], [1], [1])),
    "k = 1": ([["a1", "a2", "b1"]], [{"b1"}], {"k": 1}, ([], [1], [1])),
    "k = 2": ([["a1", "a2", "b1"]], [{"b1"}], {"k": 2}, ([2], [1], [2])),
    "k beyond": ([["a1", "a2", "b1"]], [{"b1"}], {"k": 9}, ([2], [1], [2])),
    "first": ([["a1", "a2", "b1"]], [{"b1"}], {"duplicates": "first"}, ([3], [1], [3])),
    "first, cut": ([["a1", "a2", "b1"]], [{"b1"}], {"duplicates": "first", "k": 2}, ([], [1], [2])),
    "padding": (
        [["a1", "a2", "b1", "", ""], ["b1", "", "", "", ""]],
        [["b1", ""], ["b2", "b1"]],
        {"padding": ""},
        ([2, 1], [1, 1], [2, 1]),
    ),
    "a document in the list": ([["a", "a1", "b1"]], [{"b"}], {}, ([2], [1], [2])),
    "chunks of one document in the truth": ([["b1"]], [["a1", "a2", "b1"]], {}, ([1], [2], [1])),
}
CHUNKS = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b"}


@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge):
    lists, truths, options, expected = EDGES[edge]
    documents = {"a": 7, "b": -(2**63)}
    for items_as in (CHUNKS, {chunk: documents[one] for chunk, one in CHUNKS.items()}):
        number = lambda row: [documents.get(one, one) for one in row]  # noqa: E731
        of_text = items_as is CHUNKS
        ranks = lists if of_text else list(map(number, lists))
        if not of_text and any(one in documents.values() for one in ranks[0]):
            continue  # one list would hold ids of two kinds
        hits = tl.match(
            ranks, truths if of_text else list(map(number, truths)), **options, items_as=items_as
        )
        found = hits.ranks.tolist(), hits.n_relevant.tolist(), hits.n_listed.tolist()
        assert found == expected


def test_lists_of_chunks_that_are_text_and_truths_of_documents_that_are_numbers():
    chunks = {"a#1": 1, "a#2": 1, "b#1": 2}
    lists, truth = {"u": ["a#1", "a#2", "b#1"]}, {"u": {2}}
    assert tl.match(lists, truth, items_as=chunks).ranks.tolist() == [2]
    assert tl.match({"u": ["a#1", ""]}, truth, items_as=chunks, padding="").k == 1
    pa = library("pyarrow")
    tables = pa.table(table(lists, "ranks")), pa.table({"user_id": ["u"], "item_id": [2]})
    assert tl.match(*tables, items_as=chunks).ranks.tolist() == [2]
    streams = [one.to_reader() for one in tables]
    assert tl.top_k_eval(*streams, 2, items_as=chunks)["mrr@2"] == 0.5


def test_grades_are_the_largest_of_the_chunks():
    truth = {"a1": 1, "a2": 3, "b1": 0, "b2": 2}
    hits = tl.match(["b1", "a3"], truth, items_as=CHUNKS)
    assert hits.grades.tolist() == [2, 3] and hits.truth_grades.tolist() == [3, 2]
    spam = tl.match(["b1", "a3"], {"a1": 3, "a2": -1, "b1": -1}, items_as=CHUNKS)
    assert spam.relevant.gains.tolist() == [3] and spam.every_judged.ranks.tolist() == [1, 2]
    with pytest.raises(ValueError, match="user 0, item 'a2': grade inf"):
        tl.match(["b1"], {"a1": 3, "a2": float("inf")}, items_as=CHUNKS)
    frame = {"user_id": ["u", "u"], "item_id": ["a1", "a1"], "relevance": [1, 2]}
    with pytest.raises(ValueError, match="user 'u' has item 'a1' twice in the ground truth, with"):
        tl.match({"u": ["a1"]}, frame_of("pandas", frame), items_as=CHUNKS)


def test_truths_that_are_a_matrix_are_refused_and_documents_0_and_1_are_none():
    chunks = {0: 0, 1: 0, 2: 1}
    with pytest.raises(ValueError, match="user 0 has 1 twice, and all ids are 0 or 1"):
        tl.match([[0, 1, 2]], [[0, 1, 1]], items_as=chunks)
    assert tl.match([[0, 1, 2]], [[0, 1, 2]], items_as=chunks).n_relevant.tolist() == [2]


WRONG = [
    (
        [["a1", "z"]],
        [{"a1"}],
        CHUNKS,
        ValueError,
        r"^ranks: user 0 has item 'z' at rank 2, of which items_as= has no document: add it",
    ),
    (
        {"u": ["a1"]},
        {"u": {"z": 1}},
        CHUNKS,
        ValueError,
        "^ground_truths: user 'u' has item 'z', of which items_as= has no document",
    ),
    (
        [[5]],
        [{"a1"}],
        CHUNKS,
        TypeError,
        "ids of two kinds, 5 in ranks and 'a' in items_as: they are never equal; convert one side",
    ),
    ([["a1"]], [{"a1"}], {"a1": None}, TypeError, "items_as: None is a NoneType, never an id"),
    ([["a1"]], [{"a1"}], {"a1": ["a"]}, TypeError, "items_as: .* is a list, never an id"),
    ([["a1"]], [{"a1"}], {"a1": "a", "b1": 1}, TypeError, "ids of two kinds"),
    ([["a1"]], [{"a1"}], {"a1": 2**63}, ValueError, r"9223372036854775808 is an id that int64"),
    ([["a1"]], [{"a1"}], "map.csv", TypeError, "^items_as= is a str: give a dict item -> docum"),
    (
        [["a1", "b1"]],
        [set()],
        lambda _: ["a"],
        ValueError,
        "^items_as= returned 1 documents for 2 ids: it must return a document for each, in a list$",
    ),
    ([["a1"]], [{"a1"}], lambda _: None, TypeError, "^items_as= returned a NoneType for 1 ids"),
]


@pytest.mark.parametrize(("lists", "truths", "items_as", "kind", "words"), WRONG)
def test_mistakes_are_one_line(lists, truths, items_as, kind, words):
    for call in (tl.match, tl.top_k_eval):
        with pytest.raises(kind, match=words) as caught:
            call(lists, truths, 3, items_as=items_as)
        assert "\n" not in str(caught.value)


def test_words_that_do_not_go_together():
    words = "^duplicates='raise' does not go with items_as=, .* or write duplicates='first', which"
    options = {"items_as": CHUNKS, "duplicates": "raise"}
    for call in (tl.match, tl.top_k_eval):
        with pytest.raises(ValueError, match=words):
            call([["a1"]], [{"a1"}], 3, **options)
    with pytest.raises(ValueError, match=words):
        tl.beyond.exposure([["a1"]], **options)
    hits = tl.match([["a1"]], [{"a1"}])
    with pytest.raises(TypeError, match="joined already: give items_as to match"):
        tl.top_k_eval(hits, items_as=CHUNKS, k=1)
    with pytest.raises(TypeError, match="joined already: give duplicates to match"):
        tl.top_k_eval(hits, duplicates="collapse", k=1)
    assert tl.top_k_eval(hits, duplicates="raise", k=1)["hit@1"] == 1.0


def test_columns_of_a_map():
    with pytest.raises(ValueError, match=r"^items_as=: no column 'item_id'.*; columns found: \["):
        tl.match([["a"]], [{"a"}], items_as=frame_of("pandas", {"item": ["a"], "document": ["b"]}))
    twice = frame_of("pandas", {"item_id": ["a", "a"], "document": ["b", "c"]})
    with pytest.raises(ValueError, match="^items_as=: item 'a' has two rows"):
        tl.match([["a"]], [{"a"}], items_as=twice)


@pytest.mark.parametrize("form", [*LIBRARIES, *FORMATS, "batches"])
def test_repeats_of_every_source(tmp_path, form):
    pl = library("polars")
    library("pyarrow")
    _, _, _, plain, relevant = population()
    repeated = {
        user: [one for item in row for one in (row[0], item)] for user, row in plain.items()
    }
    sides = []
    for side, rows in (("ranks", repeated), ("truths", relevant)):
        columns = table(rows, side)
        if form in FORMATS:
            sides.append(tmp_path / f"{side}.{form}")
            getattr(pl.DataFrame(columns), FORMATS[form])(sides[-1])
        else:
            sides.append(frame_of(form if form in LIBRARIES else "pyarrow", columns))
    options = of_documents(plain, relevant) | {"duplicates": "collapse"}
    if form == "batches":
        sides = [side.to_reader(3) for side in sides]
    agrees(
        by_words(*sides, K, **options),
        tl.top_k_eval(
            plain,
            relevant,
            K,
            metrics=LIST_METRICS,
            items=tl.Items(catalogue=options["catalogue"], counts=options["counts"]),
        ),
    )


def test_truths_of_listed_items_and_functions_of_metrics():
    lists, plain, truths = [["a", "a", "b", "b", "c"]], [["a", "b", "c"]], [{"b", "c", "z"}]
    for relevant in ("all", "listed"):
        found = tl.curves(
            "recall",
            lists,
            truths,
            2,
            duplicates="collapse",
            convention=tl.CONVENTIONS["standard"].replace(relevant=relevant),
        )
        assert (
            found.tolist()
            == tl.curves(
                "recall",
                plain,
                truths,
                2,
                convention=tl.CONVENTIONS["standard"].replace(relevant=relevant),
            ).tolist()
        )
        results = [
            tl.top_k_eval(
                rows,
                truths,
                [1, 2],
                duplicates="collapse",
                convention=tl.CONVENTIONS["standard"].replace(relevant=relevant),
            )
            for rows in (lists, plain)
        ]
        assert results[0].to_dict() == results[1].to_dict()
    whole = tl.top_k_eval(lists, truths, duplicates="collapse")
    assert whole.hits.k == 3 and whole["precision@3"] == pytest.approx(2 / 3)


def test_threads():
    rows = np.random.default_rng(2).integers(0, 5000, (60_000, 40))
    chunks = {c: c // 3 for c in range(5000)}
    truths = rows[:, 7:9]
    one, two = (
        tl.top_k_eval(
            rows,
            truths,
            9,
            items_as=chunks,
            n_threads=n,
            metrics=["ndcg", "gini"],
            items=tl.Items(catalogue=1700),
        )
        for n in (1, 2)
    )
    assert one.to_dict() == two.to_dict()
    plain = [once([c // 3 for c in row]) for row in rows[:500].tolist()]
    some = tl.match(rows[:500], truths[:500], 9, items_as=chunks)
    assert bits(some) == bits(tl.match(plain, truths[:500] // 3, 9))


def test_metrics_of_the_lists():
    lists, _, chunks, plain, _ = population()
    lists.pop("u9")
    plain.pop("u9")
    documents = sorted(set(chunks.values()))
    counts = {one: 1.0 + place for place, one in enumerate(documents)}
    features = {one: [place, 1.0] for place, one in enumerate(documents)}
    by = {"items_as": chunks}
    calls = [
        lambda ranks, **how: tl.beyond.item_coverage(ranks, K, catalogue=documents, **how),
        lambda ranks, **how: tl.beyond.novelty(ranks, K, counts=counts, **how),
        lambda ranks, **how: tl.beyond.intra_list_diversity(ranks, K, features=features, **how),
        lambda ranks, **how: tl.beyond.overlap(ranks, ranks, K, **how).per_user,
        lambda ranks, **how: tl.beyond.unexpectedness(
            ranks, K, expected={user: {documents[0]} for user in ranks}, **how
        ),
        lambda ranks, **how: tl.beyond.serendipity(
            ranks,
            {user: set(documents[:3]) for user in ranks},
            K,
            expected={user: {documents[0]} for user in ranks},
            **how,
        ),
    ]
    for call in calls:
        expected = np.asarray(call(plain))
        assert np.array_equal(np.asarray(call(lists, **by)), expected, equal_nan=True)
        repeated = {user: [one for one in row for _ in "12"] for user, row in plain.items()}
        found = np.asarray(call(repeated, duplicates="collapse"))
        assert np.array_equal(found, expected, equal_nan=True)
        assert np.array_equal(
            np.asarray(call({u: [*row, ""] for u, row in lists.items()}, **by, padding="")),
            expected,
            equal_nan=True,
        )
    with pytest.raises(ValueError, match="lists item 'd5' at rank 2, which is not in catalogue"):
        tl.beyond.item_coverage([["c0", "c1", "c20"]], catalogue=documents[:5], **by)
    with pytest.raises(ValueError, match="has padding at rank 2, before a real id"):
        tl.beyond.exposure([[1, -1, 1]], padding=-1, duplicates="collapse")


def test_ranks_of_held_out_items_among_collapsed_lists():
    found = tl.loo.ranks_of([["a", "a", "b"], ["b"]], ["b", "a"], duplicates="collapse")
    assert found.tolist() == [2, 0]


def test_errors_of_files_name_the_line(tmp_path):
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "u,a1,1", "u,z,2")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "u,a")
    for more in ({}, {"keep": "users"}):
        with pytest.raises(ValueError, match="recs.csv:3: ranks: user 'u' has item 'z' at rank 2"):
            by_words(recs, truth, 2, items_as=CHUNKS, **more)


def test_the_command_line(tmp_path, capsys):
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "u,a1,1", "u,a2,2", "u,b1,3")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "u,b")
    lines = [",".join(pair) for pair in CHUNKS.items()]
    chunks = csv_of(tmp_path / "chunks.csv", "item_id,document", *lines)
    documents = csv_of(tmp_path / "documents.csv", "item_id", "a", "b")
    asked = ["eval", str(recs), str(truth), "-k", "2", "-m", "mrr", "item_coverage", "--catalogue"]
    assert main([*asked, str(documents), "--items-as", str(chunks), "--format", "csv"]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert [float(row[rows[0].index("mean")]) for row in rows[1:]] == [0.5, 1.0]
    assert main(["eval", str(recs), str(truth), "--items-as", str(documents)]) == 1
    assert "documents.csv:1: no column 'document'" in capsys.readouterr().err
    wrong = ["eval", str(recs), str(truth), "--items-as", str(chunks), "--duplicates", "raise"]
    assert main(wrong) == 1
    assert "--duplicates raise does not go with --items-as" in capsys.readouterr().err


@pytest.mark.parametrize("documents", ["numbers", "text"])
def test_numbers_on_the_command_line(tmp_path, documents, capsys):
    pl = library("polars")
    library("pyarrow")
    make = int if documents == "numbers" else "d{}".format
    recs, truth = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    pl.DataFrame({"user_id": [1, 1, 1], "item_id": [10, 11, 20], "rank": [1, 2, 3]}).write_parquet(
        recs
    )
    pl.DataFrame({"user_id": [1], "item_id": [20]}).write_parquet(truth)
    rows = [f"{chunk},{make(chunk // 10)}" for chunk in (10, 11, 20)]
    chunks = csv_of(tmp_path / "chunks.csv", "item_id,document", *rows)
    catalogue = csv_of(tmp_path / "all.csv", "item_id", *map(str, map(make, (1, 2, 3, 4))))
    asked = [
        "eval",
        str(recs),
        str(truth),
        "-k",
        "2",
        "-m",
        "mrr",
        "item_coverage",
        "--format",
        "csv",
        "--catalogue",
        str(catalogue),
    ]
    assert main([*asked, "--items-as", str(chunks)]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert [float(row[rows[0].index("mean")]) for row in rows[1:]] == [0.5, 0.5]


def test_a_map_travels():
    lists, truths, chunks, plain, relevant = population()
    sent = ItemMap.of(chunks)
    tl.match(lists, truths, items_as=sent)
    found = tl.match(lists, truths, K, items_as=pickle.loads(pickle.dumps(sent)))
    assert found.ranks.tolist() == tl.match(plain, relevant, K).ranks.tolist()


@pytest.mark.parametrize("form", [dict, *LIBRARIES])
@pytest.mark.parametrize(
    "items_as",
    [
        {"x1": "x", "x2": "x", "y1": "y"},
        {one: one for one in ("x", "y")},
        lambda ids: [one[0] for one in ids],
    ],
)
def test_a_history_has_a_document_as_often_as_its_chunks(form, items_as):
    """Counts 4 and 1: the list has 4, the history x, x, y 3 on average, which is a third less."""
    chunks = ["x1", "x2", "y1"] if callable(items_as) or "x1" in items_as else ["x", "x", "y"]
    history = {"ann": chunks}
    if form is not dict:
        history = frame_of(form, {"user_id": ["ann"] * 3, "item_id": chunks})
    known = {"counts": {"x": 4, "y": 1}, "labels": {"x": "war", "y": "love"}}
    lists, names = {"ann": chunks[:1]}, ["popularity_lift@1", "calibration(distance=hellinger)@1"]
    given = {"history": history, "items_as": items_as, **known}
    found = by_words(lists, {"ann": {"x"}}, metrics=names, **given)
    assert found[names[0]] == pytest.approx(1 / 3, rel=1e-15)
    assert found[names[1]] == pytest.approx((1 - (2 / 3) ** 0.5) ** 0.5, rel=1e-15)
