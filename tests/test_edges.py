"""Edges where a number was silently wrong: scores, ties, columns, grades, matrices, extremes."""

import sys
from decimal import Decimal

import numpy as np
import pytest

import toplist as tl

T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float


def library(name):
    return pytest.importorskip(name)


def frame_of(name, columns):
    if name == "pyarrow":
        return library("pyarrow").table(columns)
    return library(name).DataFrame(columns)


LIBRARIES = ["pandas", "polars", "pyarrow"]


def ranks_of(table, truth="new"):
    return tl.match(table, {"u": {truth}}).ranks.tolist()


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("shuffled", [False, True])
def test_a4_integer_scores_keep_their_order(name, shuffled):
    users, items, scores = ["u", "u", "v"], ["old", "new", "old"], [T, T + 100, T]
    if shuffled:
        users, items, scores = ["u", "v", "u"], ["old", "old", "new"], [T, T, T + 100]
    table = frame_of(name, {"user_id": users, "item_id": items, "score": scores})
    assert ranks_of(table) == [1]


@pytest.mark.parametrize(
    ("scores", "dtype"),
    [
        ([2**64 - 2, 2**64 - 1], "uint64"),
        ([5, 2**63], "uint64"),
        ([-(2**63), -(2**63) + 1], "int64"),
        ([T, T + 1], "Int64"),
    ],
)
def test_a4_integers_at_their_limits(scores, dtype):
    pandas = library("pandas")
    table = pandas.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
    table["score"] = pandas.array(scores, dtype=dtype)
    assert ranks_of(table) == [1]
    table["score"] = table["score"].to_numpy()[::-1]
    assert ranks_of(table) == [2]


def test_a4_scores_in_lists():
    pandas, polars = library("pandas"), library("polars")
    columns = {"user_id": ["u"], "item_id": [["old", "new"]], "score": [[T, T + 100]]}
    assert ranks_of(pandas.DataFrame(columns)) == [1]
    assert ranks_of(polars.DataFrame(columns)) == [1]
    columns["score"] = [[-1, 2**63 + 1]]  # numpy makes floats of these
    assert ranks_of(pandas.DataFrame(columns)) == [1]
    columns["score"] = [[2**63, 2**63 + 1]]
    assert ranks_of(pandas.DataFrame(columns)) == [1]
    columns["score"] = [[2.0**63, 2**63 + 1]]
    assert ranks_of(pandas.DataFrame(columns)) == [1]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a4_decimals(name):
    scores = [Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002")]
    columns = {"user_id": ["u", "u"], "item_id": ["old", "new"], "score": scores}
    assert ranks_of(frame_of(name, columns)) == [1]


def test_a4_integers_of_128_bits():
    polars = library("polars")
    table = polars.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
    score = polars.Series("score", [2**70, 2**70 + 1], dtype=polars.Int128)
    assert ranks_of(table.with_columns(score)) == [1]
    assert ranks_of(table.with_columns(score.reverse())) == [2]


def test_a4_long_lists_with_ties_keep_their_order():
    pandas = library("pandas")
    n = 40
    scores = [T + i // 10 for i in range(n)]
    table = pandas.DataFrame({"user_id": ["u"] * n, "item_id": range(n), "score": scores})
    expected = [i for top in (30, 20, 10, 0) for i in range(top, top + 10)]
    found = [tl.match(table, {"u": {i}}).ranks.tolist()[0] for i in expected]
    assert found == list(range(1, n + 1))
    reverse = table[::-1].reset_index(drop=True)
    assert tl.match(reverse, {"u": {39}}).ranks.tolist() == [1]


TIED = {
    "user_id": ["v", "u", "u", "v", "u", "u"],
    "item_id": ["10", "9", "10", "9", "2", "é"],
    "score": [1.0, 0.5, 0.5, 1.0, 0.7, 0.5],
}


def listed(table, ties, items, user="u"):
    hits = [tl.match(table, {user: {item}}, ties=ties) for item in items]
    return [item for _, item in sorted((h.ranks.tolist()[0], i) for h, i in zip(hits, items))]  # noqa: B905


@pytest.mark.parametrize("name", LIBRARIES)
def test_ties_by_item(name):
    table = frame_of(name, TIED)
    items = ["2", "9", "10", "é"]
    assert listed(table, "order", items) == ["2", "9", "10", "é"]
    assert listed(table, "item", items) == ["2", "10", "9", "é"]
    assert listed(table, "item_desc", items) == ["2", "é", "9", "10"]
    assert listed(table, "item", ["9", "10"], "v") == ["10", "9"]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
def test_ties_of_numbers_by_number(dtype):
    pandas = library("pandas")
    table = pandas.DataFrame(TIED | {"item_id": np.array([10, 9, 10, 9, 2, 100], dtype)})
    assert listed(table, "item", [2, 9, 10, 100]) == [2, 9, 10, 100]
    assert listed(table, "item_desc", [2, 9, 10, 100]) == [2, 100, 10, 9]


def test_ties_of_integer_scores_and_of_zeros():
    pandas = library("pandas")
    table = pandas.DataFrame({"user_id": [1] * 3, "item_id": [3, 1, 2], "score": [T, T, T + 1]})
    assert tl.match(table, {1: {1}}, ties="item").ranks.tolist() == [2]
    table["score"] = [0.0, -0.0, -1.0]
    assert tl.match(table, {1: {1}}, ties="item").ranks.tolist() == [1]
    scores = {"user_id": [1] * 2, "item_id": [3, 1], "score": [0.0, float("nan")]}
    with pytest.raises(ValueError, match="user 1 has a score that is NaN"):
        tl.match(library("polars").DataFrame(scores), {1: {1}}, ties="item")


def test_ties_in_lists_and_where_nothing_ties():
    pandas, polars = library("pandas"), library("polars")
    columns = {"user_id": ["u"], "item_id": [[3, 1, 2]], "score": [[1.0, 1.0, 2.0]]}
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        assert tl.match(table, {"u": {1}}, ties="item").ranks.tolist() == [2]
        assert tl.match(table, {"u": {1}}, ties="order").ranks.tolist() == [3]
    for ranks in ({"u": [3, 1]}, pandas.DataFrame({"user_id": ["u"] * 2, "item_id": [3, 1],
                                                   "rank": [1, 2]})):  # fmt: skip
        assert tl.match(ranks, {"u": {1}}, ties="item_desc").ranks.tolist() == [2]
    with pytest.raises(ValueError, match="ties='id': choose from 'order', 'item', 'item_desc'"):
        tl.match([[1]], [{1}], ties="id")


def test_scores_are_as_many_as_the_items_of_each_list():
    """Not only in all: a score would go to an item of another user."""
    pandas, polars = library("pandas"), library("polars")
    columns = {"user_id": ["u", "v"], "item_id": [[3, 1], [2]], "score": [[1.0], [2.0, 3.0]]}
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        with pytest.raises(ValueError, match="'score' must hold a list per user, as long as the"):
            tl.match(table, {"u": {1}})


def test_d2_columns_by_side():
    pandas = library("pandas")
    recs = pandas.DataFrame({"userId": ["u"], "movieId": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "item_id": ["a"]})
    columns = {"ranks": {"user_id": "userId", "item_id": "movieId"}}
    assert tl.match(recs, truth, columns=columns).ranks.tolist() == [1]
    back = truth.rename(columns={"user_id": "userId"})
    columns["user_id"] = "userId"  # of both sides, unless a side says otherwise
    assert tl.match(recs, back, columns=columns).ranks.tolist() == [1]
    assert tl.beyond.item_coverage(recs, columns=columns, catalogue=["a"]).tolist() == [1.0]
    columns["user_id"] = "person"
    assert tl.match(recs, truth.rename(columns={"user_id": "person"}), columns=columns).k == 1


def test_d2_the_error_shows_the_side():
    pandas = library("pandas")
    recs = pandas.DataFrame({"userId": ["u"], "movieId": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "item_id": ["a"]})
    with pytest.raises(ValueError, match=r"columns=\{'ranks': \{'user_id': 'NAME', 'it"):
        tl.match(recs, truth)
    with pytest.raises(ValueError, match=r"columns=\{'ground_truths': \{'user_id': 'NAME'"):
        tl.match(recs, truth, columns={"user_id": "userId", "item_id": "movieId"})
    with pytest.raises(ValueError, match="columns: 'item' is none of user_id"):
        tl.match(recs, truth, columns={"ranks": {"item": "movieId"}})
    with pytest.raises(ValueError, match="columns: 'recs' is none of .*'ranks'"):
        tl.match(recs, truth, columns={"recs": {"item_id": "movieId"}})
    with pytest.raises(TypeError, match="columns: 'ranks' is a side: give a dict"):
        tl.match(recs, truth, columns={"ranks": "movieId"})
    with pytest.raises(ValueError, match="columns: 'item' is none of user_id"):  # a side not read
        tl.beyond.item_coverage(recs, catalogue=["a"], columns={"ground_truths": {"item": "x"}})


GRADED = {"a": 1, "b": 3, "c": 2}


def test_a5_judged_hits_beside_relevant_ones():
    ranks = [["a", "b", "c"], ["z", "y"]]
    truths = [GRADED, {"y": 1}]
    hits = tl.match(ranks, truths, relevant_from=2)
    assert hits.ranks.tolist() == [2, 3] and hits.n_relevant.tolist() == [2, 0]
    plain = tl.match(ranks, truths)
    for name in ("offsets", "ranks", "n_relevant", "n_listed", "gains", "ideal_gains"):
        assert np.array_equal(getattr(hits.judged, name), getattr(plain, name))
    assert hits.judged.judged is None and plain.judged is None
    assert tl.match(ranks, truths, relevant_from=1).judged is None  # nothing is left out
    assert tl.match(ranks, truths, relevant_from=0).judged is None
    exponential = tl.match(ranks, truths, relevant_from=2, gains="exponential").judged
    assert exponential.gains.tolist() == [1, 7, 3, 1]


def test_a5_judged_hits_of_tables_go_along():
    import pickle

    table = library("pandas").DataFrame(
        {"user_id": ["u"] * 3 + ["v"], "item_id": ["a", "b", "c", "a"], "relevance": [1, 3, 2, 5]}
    )
    ranks = {"u": ["a", "b", "c"], "v": ["b", "a"]}
    hits = tl.match(ranks, table, relevant_from=2)
    assert hits.judged.users == ["u", "v"] and hits.judged.ranks.tolist() == [1, 2, 3, 2]
    assert pickle.loads(pickle.dumps(hits)).judged.ranks.tolist() == [1, 2, 3, 2]
    assert hits.subset([1, 0]).judged.ranks.tolist() == [2, 1, 2, 3]
    all_relevant = tl.match({"w": ["x"]}, {"w": {"x": 4}}, 3, relevant_from=2)
    assert all_relevant.judged is None
    deep = tl.match(ranks, table, 3, relevant_from=2)
    for both in (deep + all_relevant, all_relevant + deep):
        assert sorted(both.judged.users) == ["u", "v", "w"] and len(both.judged.ranks) == 5
        assert len(both.ranks) == 4


@pytest.mark.parametrize(
    ("listed", "relevant", "cause"),
    [
        ("1172.0", "1172", "a trailing .0"),
        ("1172", "1172.0", "a trailing .0"),
        (" tt7", "tt7", "blanks"),
        ("TT7", "tt7", "upper and lower case"),
        ("007", "7", "leading zeros"),
        ("xyz", "abc", ""),
    ],
)
def test_a13_examples_of_ids_that_differ_in_spelling(listed, relevant, cause):
    ranks, truths = [["p", "q"], ["r", listed]], [["s", "t"], ["u", relevant]]
    keyed = dict(zip("vw", ranks, strict=True)), dict(zip("vw", truths, strict=True))
    for hits in (tl.match(ranks, truths), tl.match(*keyed)):
        assert hits.cause == cause
        assert hits.examples == ((listed, relevant) if cause else ("p", "s"))
    table = library("pandas").DataFrame({"user_id": ["w"], "item_id": [listed], "rank": [1]})
    assert tl.match(table, {"w": {relevant}}).cause == cause


def test_a13_only_without_a_hit():
    assert tl.match([["a", "1.0"]], [{"a", "1"}]).examples is None
    assert tl.match([["a"], ["1.0"]], [{"b"}, {"1"}]).cause == "a trailing .0"
    # an id on both sides: they are written alike, nobody has a hit
    hits = tl.match([["a"], ["1.0"]], [{"1"}, {"a"}])
    assert hits.cause == "" and hits.examples == ("a", "1")
    assert tl.match([[5, 6]], [{7}]).examples == ("5", "7")
    assert tl.match([[]], [{7}]).examples is None and tl.match([[1]], [[]]).examples is None
    both = tl.match([["a"]], [{"b"}], 1) + tl.match([["1.0"]], [{"1"}], 1)
    assert both.cause == "a trailing .0" and both.examples == ("1.0", "1")
    assert (both + tl.match([["a"]], [{"a"}], 1)).examples is None


@pytest.mark.parametrize("make", [np.array, list, "lists", "dict", "table", "wide"])
def test_a14_a_matrix_of_integers_as_truth(make):
    matrix, ranks = [[0, 1, 1, 0], [1, 0, 0, 1]], [[3, 0, 1], [2, 1, 0]]
    if make == "lists":
        truth = tl.Lists([0, 4, 8], np.ravel(matrix))
    elif make == "dict":
        ranks, truth = dict(enumerate(ranks)), dict(enumerate(matrix))
    elif make in ("table", "wide"):
        columns = {"user_id": [0, 1]}
        if make == "table":
            columns["item_id"] = matrix
        else:
            columns |= {str(j + 1): [row[j] for row in matrix] for j in range(4)}
        ranks, truth = dict(enumerate(ranks)), library("polars").DataFrame(columns)
    else:
        truth = make(matrix)
    with pytest.raises(ValueError, match=r"user 0 has 1 twice.*Lists\.from_matrix\(matrix\).*sets"):
        tl.recall(ranks, truth)


def test_a14_ids_0_and_1_are_ids_where_no_row_repeats_one():
    assert tl.recall([[3, 0, 1]], [[0, 1]]).tolist() == [[0, 0.5, 1]]
    assert tl.recall([[3, 0, 1]], [{0, 1}]).tolist() == [[0, 0.5, 1]]
    assert tl.match([[3, 0]], np.array([[1, 0, 0]]), padding=0).n_relevant.tolist() == [1]
    with pytest.raises(ValueError, match="user 0 has 1 twice"):
        tl.match([[3, 0]], np.array([[1, 1, -1]]), padding=-1)
    assert tl.match([[3, 0]], [[1, 1, 2]]).n_relevant.tolist() == [2]
    assert tl.match([["0", "1"]], [["0", "1", "1"]]).n_relevant.tolist() == [2]


def test_a16_grades_whose_squares_overflow():
    with pytest.raises(ValueError, match=r"user 0, item 'b': grade 1e\+308 is too large"):
        tl.ndcg([["a", "b"]], [{"a": 1, "b": 1e308}])
    with pytest.raises(ValueError, match="user 'u', item 'b': grade 1e.200 is too large"):
        tl.match({"u": ["b"]}, {"u": {"b": 1e200}})
    with pytest.raises(ValueError, match=r"2\^grade of grade 600 is too large.*gains='linear'"):
        tl.ndcg(["a"], {"a": 600}, gains="exponential")
    with pytest.raises(ValueError, match="Hits: gains must be 0 or more, and at most 1e.140"):
        tl.Hits([0, 1], [1], [1], [1], gains=[1e200], ideal_gains=[1e200])
    result = tl.top_k_eval([["a"], ["b"]], [{"a": 1e140}, {"c": 1e140}], 1, metrics="dcg")
    assert np.isfinite(result.std("dcg@1")) and result["dcg@1"] == 5e139


@pytest.mark.parametrize("grade", [1e-17, 5e-324, 1e-4])
def test_a16_exponential_gains_of_small_grades(grade):
    assert tl.ndcg(["a"], {"a": grade}, gains="exponential").tolist() == [1.0]
    gain = tl.match(["a"], {"a": grade}, gains="exponential").gains[0]
    assert gain == pytest.approx(grade * np.log(2), rel=1e-3) or grade == 5e-324


def test_a16_ordinary_gains_keep_their_bits():
    for grade in (0.001, 0.01, 0.5, 1.5, 3.0, 10.0):
        gain = tl.match(["a"], {"a": grade}, gains="exponential").gains[0]
        assert gain == np.exp2(grade) - 1


def test_a16_a_share_is_what_is_written():
    def tail(share):
        lists = [list(range(100))]
        found = tl.beyond.tail_percentage(lists, item_counts=list(range(100)), share=share)
        return round(float(found[0, -1] * 100))

    assert [tail(s) for s in (0.29, 0.57, 0.1, 0.295, 1, np.float32(0.29))] == [
        *(29, 57, 10, 29, 100, 29)
    ]


def test_a16_cosines_of_extreme_vectors():
    def diversity(a, b, **options):
        features = {"a": a, "b": b}
        return tl.beyond.intra_list_diversity([["a", "b"]], features=features, **options)[0, 1]

    for size in (1e200, 1e308, 1e-155, 1e-170, 1e-308):
        assert diversity([size, 0], [size, 0]) == 0.0
        assert diversity([size, 0], [0, size]) == 1.0
        assert diversity([size, size], [3.0, 3.0]) == pytest.approx(0, abs=1e-15)
    assert diversity([0, 0], [1, 0]) == 1.0
    with pytest.raises(ValueError, match=r"item 'a' has a number beyond 3e\+135"):
        diversity([1e200, 0], [0, 1], distance="euclidean")


def test_b6_a_large_catalogue_costs_what_the_lists_cost():
    import pickle
    import tracemalloc

    lists, n = [[5, 999_999_999, 3], [4, 5, 2], [2, 3, 5]], 10**9
    tracemalloc.start()
    found = tl.beyond.exposure(lists, catalogue=n)
    coverage, gini = tl.beyond.item_coverage(found), tl.beyond.gini(found)
    again = pickle.loads(pickle.dumps(found))
    part = tl.beyond.exposure(lists[:1], catalogue=n) + tl.beyond.exposure(lists[1:], catalogue=n)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    small = tl.beyond.exposure([[5, 7, 3], [4, 5, 2], [2, 3, 5]], catalogue=8)
    assert np.array_equal(coverage * n, tl.beyond.item_coverage(small) * 8)
    for other in (again, part):
        assert np.array_equal(tl.beyond.gini(other), gini)
        assert np.array_equal(tl.beyond.shannon_entropy(other), tl.beyond.shannon_entropy(small))
        assert other.n_items == n and repr(other) == repr(found)
    assert gini[-1] == pytest.approx(1, abs=1e-8)
    assert len(found.pairs.items) == len(small.pairs.items)
    assert found.pairs.items.max() == 999_999_999


@pytest.mark.parametrize("n", [8, 1_100_000])
def test_b6_same_numbers_at_any_size(n):
    lists = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
    ids = np.arange(n)
    for metric in (tl.beyond.item_coverage, tl.beyond.gini, tl.beyond.shannon_entropy):
        assert np.array_equal(metric(lists, catalogue=n), metric(lists, catalogue=ids))
    assert tl.beyond.exposure(lists, catalogue=n).counts()[:8].tolist() == [0, 1, 2, 3, 2, 4, 1, 2]


def test_b6_unknown_items_and_repeats_of_a_large_catalogue():
    n = 10**9
    with pytest.raises(ValueError, match=r"user 1 lists item 1000000000 at rank 2"):
        tl.beyond.item_coverage([[1], [2, n]], catalogue=n)
    with pytest.raises(ValueError, match=r"user 0 lists item -1 at rank 1"):
        tl.beyond.item_coverage([[-1]], catalogue=n)
    with pytest.raises(ValueError, match="item 1 at ranks 1 and 2"):
        tl.beyond.item_coverage([[1, 1]], catalogue=n)
    found = tl.beyond.exposure([[1, 1, n, 7]], catalogue=n, unknown="skip", duplicates="first")
    assert found.curves.total.tolist() == [1, 1, 1, 2]
    with pytest.raises(TypeError, match="ids of two kinds, 'a' in ranks and 0 in catalogue"):
        tl.beyond.item_coverage([["a"]], catalogue=n)
    assert tl.beyond.item_coverage([[1, 2]], catalogue=10**12).tolist() == [1e-12, 2e-12]
    found = tl.beyond.exposure([[2**63, -1, 5]], catalogue=n, unknown="skip")
    assert found.curves.total.tolist() == [0, 0, 1]
    table = library("pandas").DataFrame({"user_id": [1, 1], "item_id": [5, 7], "rank": [1, 2]})
    assert tl.beyond.item_coverage(table, catalogue=n).tolist() == [1e-9, 2e-9]


def test_b4_memory_errors_pass(monkeypatch):
    from toplist.inputs import dataframes

    table = library("pandas").DataFrame({"user_id": ["u"], "item_id": ["a"], "rank": [1]})

    def codes(frame, name):
        raise MemoryError

    monkeypatch.setattr(dataframes.library_of(table), "texts", staticmethod(codes))
    with pytest.raises(MemoryError):
        tl.match(table, {"u": {"a"}})


def test_b4_columns_of_other_types_hold_no_ids():
    polars, pyarrow = library("polars"), library("pyarrow")
    rows = {"user_id": ["u"], "rank": [1]}
    for column in (polars.Series("item_id", [{"a": 1}]), polars.Series("item_id", [object()])):
        with pytest.raises(TypeError):
            tl.match(polars.DataFrame(rows).with_columns(column), {"u": {"a"}})
    table = pyarrow.table(rows).append_column("item_id", pyarrow.array([{"a": 1}]))
    with pytest.raises(TypeError, match="which holds no ids"):
        tl.match(table, {"u": {"a"}})
    bad = pyarrow.array([b"\xff"]).view(pyarrow.string()) if sys.maxsize else None
    broken = pyarrow.table(rows).append_column("item_id", bad)
    with pytest.raises((TypeError, ValueError), match="UTF-8|holds no ids"):
        tl.match(broken, {"u": {"a"}})


# What a second look found


@pytest.mark.parametrize(("ties", "rank"), [("item", 1), ("item_desc", 2)])
def test_ties_order_unsigned_ids_as_unsigned(ties, rank):
    """Ids on both sides of 2^63: the larger ones came first, as if they were negative."""
    pandas = pytest.importorskip("pandas")
    ids = np.array([2**63 + 9, 2**63 - 5], np.uint64)
    table = pandas.DataFrame({"user_id": ["a", "a"], "item_id": ids, "score": [0.0, 0.0]})
    result = tl.top_k_eval(table, {"a": {2**63 - 5}}, k=2, metrics="mrr", ties=ties)
    assert result["mrr@2"] == 1 / rank


@pytest.mark.parametrize("n", [2, 11, 22, 45, 199])
def test_values_that_are_all_0_do_not_vary(n):
    """The std of rbp was 2.4e-9 where nobody has a hit."""
    metrics = ["rbp", "rbp(p=0.1)", "mrr", "ndcg", "map", "hit"]
    result = tl.top_k_eval([[7]] * n, [{1}] * n, k=1, metrics=metrics)
    assert [result.std(name) for name in result.names()] == [0.0] * len(metrics)


@pytest.mark.parametrize("width", ["uint8", "uint32", "uint64", "int8"])
def test_dictionaries_with_indices_of_any_width(width):
    pyarrow = pytest.importorskip("pyarrow")
    indices = pyarrow.array([0, 1], getattr(pyarrow, width)())
    items = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["x", "y"]))
    table = pyarrow.table({"user_id": ["a", "a"], "item_id": items, "rank": [1, 2]})
    assert tl.top_k_eval(table, {"a": ["y"]}, k=2, metrics="mrr")["mrr@2"] == 0.5


def test_a_series_that_counts_its_rows_is_refused_beside_some_of_these_keys():
    """Keys 1, 2, 3 are all in an index 0..3, one row too early."""
    pandas = pytest.importorskip("pandas")
    truth = pandas.Series([[1], [3], [5], [7]])
    with pytest.raises(TypeError, match="counts its rows, but ranks has keys"):
        tl.top_k_eval({1: [1, 2], 2: [3, 4], 3: [5, 6]}, truth, k=2)


def test_parts_with_keys_of_two_kinds_do_not_merge():
    one = tl.top_k_eval({1: [1, 2]}, {1: {1}}, k=2)
    other = tl.top_k_eval({"1": [2, 1]}, {"1": {1}}, k=2)
    with pytest.raises(ValueError, match="like 1, of the other like '1': these are never equal"):
        one + other


def test_users_of_a_series_with_an_index_of_its_own_are_refused():
    pandas = pytest.importorskip("pandas")
    users = pandas.Series(["a", "b"])
    assert tl.match([[1], [2]], [{1}, {2}], users=users).users == ["a", "b"]
    with pytest.raises(TypeError, match=r"users is a Series with an index of its own.*to_numpy"):
        tl.match([[1], [2]], [{1}, {2}], users=users[::-1])


@pytest.mark.parametrize(
    "weights",
    [
        ["1", "2"],
        np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
        np.array([1, 2], "m8[s]"),
        [1 + 2j, 1],
        np.ma.array([1.0, 2.0], mask=[0, 1]),
    ],
)
def test_weights_are_numbers(weights):
    with pytest.raises((TypeError, ValueError), match="weights"):
        tl.top_k_eval([[1], [2]], [{1}, {2}], k=1, weights=weights)


def test_a_second_header_in_another_order_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("user_id,item_id\na,x\ny,b\n")
    recs = tmp_path / "r.csv"
    recs.write_text("user_id,item_id\na,x\nitem_id,user_id\ny,b\n")
    with pytest.raises(ValueError, match="r.csv:3: a second header"):
        tl.top_k_eval(recs, tmp_path / "t.csv", k=1, order="file")
