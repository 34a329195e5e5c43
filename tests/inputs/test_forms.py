"""One case through every accepted form: the same `Hits`, bit for bit, or one clear error."""

import math
import sys
import textwrap
from functools import partial
from itertools import product

import numpy as np
import pytest
from doors import match_by_words
from shared_inputs import csr, frame_of, fresh, library, same

import toplist as tl


def test_padding_ends_the_lists_of_tables():
    padded = {"user_id": [1, 2], "item_id": [[5, 7, -1], [4, -1, -1]]}
    truths = {"user_id": [2, 1], "item_id": [[4, -1], [7, 5]]}
    for name in ("pandas", "polars", "pyarrow"):
        hits = tl.match(MAKERS[name](padded), MAKERS[name](truths), padding=-1)
        assert same(hits, tl.match({1: [5, 7], 2: [4]}, {2: [4], 1: [7, 5]}))
    with pytest.raises(ValueError, match="user 1 has padding at rank 2, before a real id"):
        tl.match(MAKERS["polars"](padded | {"item_id": [[5, -1, 7], [4]]}), {1: [5]}, padding=-1)


def test_two_kinds_of_ids_across_forms():
    with pytest.raises(TypeError, match=r"ids of two kinds, 7 in ranks and 'i8' in ground_truths"):
        tl.match(
            long(polars_frame), {user: [f"i{i}" for i in items] for user, items in TRUTHS.items()}
        )
    with pytest.raises(TypeError, match=r"'user_id' holds ids of two kinds, 30 in ranks and 'u10'"):
        tl.match(long(polars_frame), {f"u{user}": items for user, items in TRUTHS.items()})


# users 30, 10, 20 (a list of their own order), user 40 without truth; user 50 without a list
RANKS = {30: [7, 3, 9, 1], 10: [2, 8], 20: [5, 1, 4], 40: [6]}
TRUTHS = {10: [8, 6], 20: [4, 5, 0], 30: [1], 50: [2]}
GRADES = {10: [1.0, 2.0], 20: [3.0, 1.0, 1.0], 30: [2.0], 50: [1.0]}
USERS, ITEMS = list(TRUTHS), 10


def long(make, sides=RANKS, with_ranks=True):
    users = [user for user, items in sides.items() for _ in items]
    table = {"user_id": users, "item_id": [item for items in sides.values() for item in items]}
    if with_ranks:
        table["rank"] = [rank for items in sides.values() for rank in range(1, len(items) + 1)]
    return make(table)


def shuffled(make, sides=RANKS):
    table = long(dict, sides)
    order = np.random.default_rng(3).permutation(len(table["user_id"]))
    return make({name: [column[i] for i in order] for name, column in table.items()})


def scored(make, sides=RANKS):
    table = shuffled(dict, sides)
    return make({**table, "score": [-0.5 * rank for rank in table.pop("rank")]})


def listed(make, sides=RANKS):
    return make({"user_id": list(sides), "item_id": list(sides.values())})


def pandas_frame(columns):
    pandas = library("pandas")
    frame = pandas.DataFrame(columns)
    wide = [name for name in frame if name != "score" and frame[name].dtype.kind == "f"]
    return frame.astype(dict.fromkeys(wide, "Int64"))


def pandas_arrow(columns):
    arrow_dtype = library("pandas").ArrowDtype
    return arrow_table(polars_frame(columns).to_arrow()).to_pandas(types_mapper=arrow_dtype)


polars_frame, arrow_table = partial(frame_of, "polars"), partial(frame_of, "pyarrow")


def arrow_sliced(columns):
    table = arrow_table(columns)
    return library("pyarrow").concat_tables([table, table]).slice(len(table))


class Stream:
    """A table of no library that toplist knows: it gives itself as an Arrow stream."""

    def __init__(self, columns):
        self._table = library("pyarrow").table(columns)
        self.columns = list(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def series(sides):
    return library("pandas").Series(sides)


MAKERS = {
    "pandas": pandas_frame,
    "pandas-arrow": pandas_arrow,
    "polars": polars_frame,
    "pyarrow": arrow_table,
    "pyarrow-sliced": arrow_sliced,
    "stream": Stream,
}
RANKED = {
    "dict": lambda: RANKS,
    "series": lambda: series(RANKS),
    "dict-of-series": lambda: {user: series(items) for user, items in RANKS.items()},
}
RELEVANT = {
    "dict": lambda: TRUTHS,
    "dict-of-sets": lambda: {user: set(items) for user, items in TRUTHS.items()},
    "series": lambda: series(TRUTHS),
}


for (name, make), of in product(MAKERS.items(), (long, shuffled, scored, listed)):
    RANKED[f"{name}-{of.__name__}"] = lambda make=make, of=of: of(make)
    if of not in (shuffled, scored):
        RELEVANT[f"{name}-{of.__name__}"] = lambda make=make, of=of: of(make, TRUTHS)


@pytest.mark.parametrize("truths", RELEVANT)
@pytest.mark.parametrize("ranks", RANKED)
def test_forms_keyed_by_user(ranks, truths):
    hits = tl.match(RANKED[ranks](), RELEVANT[truths]())
    assert same(hits, tl.match(RANKS, TRUTHS))
    assert hits.users == USERS


def text(sides):
    return {f"u{user}": [f"i{item}" for item in items] for user, items in sides.items()}


@pytest.mark.parametrize("form", [long, shuffled, listed])
@pytest.mark.parametrize("name", MAKERS)
def test_text_and_mixed_with_dicts(name, form):
    make = MAKERS[name]
    expected = tl.match(text(RANKS), text(TRUTHS))
    assert same(tl.match(form(make, text(RANKS)), text(TRUTHS)), expected)
    assert same(tl.match(text(RANKS), long(make, text(TRUTHS), with_ranks=False)), expected)


@pytest.mark.parametrize("name", MAKERS)
def test_grades_in_every_table(name):
    make = MAKERS[name]
    expected = tl.match(RANKS, {u: dict(zip(TRUTHS[u], GRADES[u], strict=True)) for u in TRUTHS})
    users = [user for user, items in TRUTHS.items() for _ in items]
    flat = {
        name: [x for row in side.values() for x in row]
        for name, side in zip("ig", (TRUTHS, GRADES), strict=True)
    }
    graded = make({"user_id": users, "item_id": flat["i"], "relevance": flat["g"]})
    assert same(tl.match(long(make), graded), expected)
    lists = {"user_id": USERS, "item_id": list(TRUTHS.values()), "relevance": list(GRADES.values())}
    assert same(tl.match(long(make), make(lists)), expected)
    short = lists | {"relevance": [[1.0]] * 4}
    with pytest.raises(ValueError, match="'relevance' must hold a list per user, as long"):
        tl.match(long(make), make(short))


POSITIONS = [RANKS.get(user, []) for user in USERS], [TRUTHS[user] for user in USERS]


def rectangle(rows, padding=-1):
    width = max(map(len, rows))
    return np.array([row + [padding] * (width - len(row)) for row in rows])


def lists_of(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    return tl.inputs.Lists(offsets, np.concatenate([np.array(row, np.int64) for row in rows]))


class OnDevice:
    """Stands in for an array on a device: it must be copied before anything can read it."""

    def __init__(self, array, copying="cpu"):
        self.shape, self.copies = np.shape(array), 0

        def copy():
            self.copies += 1
            return np.asarray(array)

        setattr(self, copying, copy)

    def __array__(self, *args, **kwargs):
        raise TypeError("can't convert a device array to numpy")


class OnlyDlpack:
    """Stands in for an array of a library that numpy knows by ``__dlpack__`` alone."""

    def __init__(self, array):
        self._array, self.shape = np.array(array), np.shape(array)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


BY_POSITION = {
    "lists": lambda rows: rows,
    "arrays": lambda rows: [np.array(row, np.int32) for row in rows],
    "Lists": lists_of,
    "matrix": rectangle,
    "matrix-read-only": lambda rows: np.broadcast_to(rectangle(rows), rectangle(rows).shape),
    "tensor": lambda rows: library("torch").tensor(rectangle(rows)),
    "tensors": lambda rows: [library("torch").tensor(np.array(row, np.int64)) for row in rows],
    "dlpack": lambda rows: OnlyDlpack(rectangle(rows)),
    "dlpacks": lambda rows: [OnlyDlpack(np.array(row, np.int64)) for row in rows],
    "device-cpu": lambda rows: OnDevice(rectangle(rows)),
    "device-get": lambda rows: OnDevice(rectangle(rows), "get"),
    "polars": lambda rows: library("polars").Series(rows, dtype=library("polars").List(int)),
    "pyarrow": lambda rows: library("pyarrow").array(rows),
    "pyarrow-chunks": lambda rows: library("pyarrow").chunked_array([rows[:2], rows[2:]]),
}


@pytest.mark.parametrize("truths", [*BY_POSITION, "sets", "csr", "coo", "dense"])
@pytest.mark.parametrize("ranks", BY_POSITION)
def test_forms_by_position(ranks, truths):
    others = {
        "sets": lambda rows: list(map(set, rows)),
        "csr": csr,
        "coo": lambda rows: csr(rows).tocoo(),
        "dense": lambda rows: tl.inputs.Lists.from_matrix(csr(rows).toarray()),
    }
    given = BY_POSITION[ranks](POSITIONS[0]), (BY_POSITION | others)[truths](POSITIONS[1])
    assert same(tl.match(*given, 4, padding=-1), tl.match(*POSITIONS, 4))


def test_sparse_grades():
    graded = [dict(zip(TRUTHS[u], GRADES[u], strict=True)) for u in USERS]
    given = csr(POSITIONS[1], list(GRADES.values()))
    assert same(tl.match(POSITIONS[0], given), tl.match(POSITIONS[0], graded))
    twice = library("scipy.sparse").csr_array(([1.0, 1.0, 0.0], [3, 3, 5], [0, 3]), (1, ITEMS))
    assert tl.inputs.Lists.from_matrix(twice).gains.tolist() == [2.0]
    assert twice.nnz == 3  # the caller's is as it was
    with pytest.raises(ValueError, match=r"entry nan of user 0, item 3"):
        tl.match([[3]], library("scipy.sparse").csr_array(([math.nan], [3], [0, 1]), (1, ITEMS)))
    with pytest.raises(TypeError, match=r"sparse matrix: scores enter by scores\.top_k"):
        tl.match(given, POSITIONS[1])


def test_a_device_array_is_copied_once():
    ranks = OnDevice(rectangle(POSITIONS[0]))
    tl.match(ranks, POSITIONS[1], padding=-1)
    assert ranks.copies == 1


def test_arrow_lists_are_not_copied():
    pyarrow = library("pyarrow")
    lists = pyarrow.array([[5, 7, 8], [4, 6]])
    from toplist.inputs.forms import side_to_builtin

    items = side_to_builtin(lists, "ranks").items
    assert items.ctypes.data == lists.values.buffers()[1].address


@pytest.mark.libraries
def test_one_user_as_a_column_or_a_tensor():
    for ids in (library("torch").tensor([5, 7, 8]), library("pyarrow").array([5, 7, 8])):
        assert tl.recall(ids, {7}).tolist() == [0, 1, 1]
    assert tl.recall(library("polars").Series([5, 7, 8]), {7}).tolist() == [0, 1, 1]


def test_leave_one_out_truth_as_a_series_or_a_column():
    pandas = library("pandas")
    expected = tl.match(RANKS, {30: 3, 10: 9})
    assert same(tl.match(series(RANKS), pandas.Series({30: 3, 10: 9})), expected)
    column = library("polars").Series([8, 5, 9, 2])
    assert tl.match(POSITIONS[0], column).ranks.tolist() == [2, 1, 3]


@pytest.mark.parametrize("name", ["pandas-arrow", "polars", "pyarrow"])
def test_nulls_in_lists_are_named(name):
    make = MAKERS[name]
    for items, message in (
        ([[1, None], [2]], r"holds a null in the list of row 0 \(user 1\), at place 2: "),
        ([[1], None], r"column 'item_id' is null in row 1 \(user 2\): write \[\]"),
    ):
        with pytest.raises(ValueError, match=message):
            tl.match(make({"user_id": [1, 2], "item_id": items}), {1: [1]})


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_nulls_in_rows_are_named_with_their_user(name):
    make, truth = MAKERS[name], {"ann": ["a"]}
    rows = {"user_id": ["ann", "ann"], "item_id": ["a", "b"], "rank": [1, 2]}
    scored = {"user_id": ["ann", "ann"], "item_id": ["a", "b"], "score": [2, None]}
    graded = {"user_id": ["ann", "ann"], "item_id": ["a", "b"], "relevance": [1.0, None]}
    for ranks, relevant in (
        (rows | {"item_id": ["a", None]}, truth),
        (rows | {"rank": [1, None]}, truth),
        (scored, truth),
        (rows, make(graded)),
    ):
        with pytest.raises((ValueError, TypeError), match=r"null in row 1 \(user 'ann'\)"):
            tl.match(make(ranks), relevant)
    with pytest.raises(ValueError, match="'user_id' is null in row 1: the id is missing"):
        tl.match(make(rows | {"user_id": ["ann", None]}), truth)


def test_nulls_of_pandas_lists_are_named():
    pandas = library("pandas")
    for items, error, message in (
        ([[1, None], [2]], TypeError, "user 1 has None at rank 2: an item is missing"),
        ([[1], None], ValueError, "column 'item_id' holds None in row 1 .user 2., not a list"),
    ):
        with pytest.raises(error, match=message):
            tl.match(pandas.DataFrame({"user_id": [1, 2], "item_id": items}), {1: [1]})


@pytest.mark.parametrize("name", MAKERS)
def test_a_user_twice_is_named(name):
    twice = MAKERS[name]({"user_id": ["a", "b", "a"], "item_id": [[1], [2], [3]]})
    for sides in ((twice, {"a": [1]}), ({"a": [1]}, twice)):
        with pytest.raises(ValueError, match=r"user 'a' is in rows 0 and 2"):
            tl.match(*sides)


def test_a_user_twice_in_an_index():
    with pytest.raises(ValueError, match="user 'a' is in the index of the Series twice"):
        tl.match(library("pandas").Series([[1], [2]], index=["a", "a"]), {"a": [1]})


def test_a_table_beside_lists_by_position():
    with pytest.raises(TypeError, match=r"ranks is a table.*ground_truths is a list: give both"):
        tl.match(long(pandas_frame), [[1]])
    with pytest.raises(TypeError, match=r"ground_truths is a table.*ranks is a list"):
        tl.match([[1]], long(pandas_frame, TRUTHS, with_ranks=False))


def test_users_in_the_index_and_two_columns_of_one_name():
    pandas = library("pandas")
    frame = long(pandas_frame)
    with pytest.raises(ValueError, match=r"ranks: 'user_id' is the index.*reset_index\(\)"):
        tl.match(frame.set_index("user_id"), TRUTHS)
    with pytest.raises(ValueError, match="ranks: two columns are named 'item_id'"):
        tl.match(pandas.concat([frame, frame[["item_id"]]], axis=1), TRUTHS)


@pytest.mark.parametrize("side", ["ranks", "ground_truths"])
def test_a_lazy_table_is_to_be_collected(side):
    sides = {"ranks": RANKS, "ground_truths": TRUTHS, side: long(polars_frame).lazy()}
    with pytest.raises(TypeError, match=r"a LazyFrame.*\.collect\(\) makes a table"):
        match_by_words(**sides)


def test_a_series_of_single_ids_has_no_ranking():
    with pytest.raises(TypeError, match="a Series with one id per user"):
        tl.match(library("pandas").Series([1, 2]), {0: 1, 1: 2})
    with pytest.raises(TypeError, match="ranks is one user's list of ids"):
        tl.match(library("pandas").Series([1, 2]), [[1], [2]])


def test_a_table_of_another_library_needs_pyarrow(monkeypatch):
    table = Stream(long(dict))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'toplist\[io\]'"):
        tl.match(table, TRUTHS)


def test_a_column_that_is_no_table_of_lists():
    with pytest.raises(TypeError, match="never an id"):
        tl.match(library("pyarrow").array([0.5, 0.25]), {1})


def test_libraries_are_not_imported_for_others():
    """Lists load no library; a table of one loads no other, but pyarrow for text of polars."""
    libraries = "pandas polars pyarrow torch tqdm ranx lenskit datasets pyspark"  # numba asks scipy
    loaded = (
        f"print(*(name for name in '{libraries}'.split() if name in set(sys.modules) - before))"
    )
    plain = """
        import sys, numpy as np, toplist as tl
        before = set()
        tl.match({1: [2]}, {1: [2]})
        ids, scores = np.array([[1, 2]]), np.array([[0.5, 0.25]])
        assert tl.top_k_eval((ids, scores), [{2}], metrics="mrr@2")["mrr@2"] == 0.5
        run = {"q": {"a": 0.25, "b": 0.5}}
        assert tl.top_k_eval(run, {"q": {"a"}}, metrics="mrr@2")["mrr@2"] == 0.5
        hits = [[{"corpus_id": 1, "score": 0.5}]]
        assert tl.top_k_eval(hits, [{1}], metrics="mrr@2")["mrr@2"] == 1
    """
    assert fresh(textwrap.dedent(plain) + loaded) == []
    library("polars")
    tables = """
        import sys, polars, toplist as tl
        before = set(sys.modules)
        table = polars.DataFrame({'user_id': [1], 'item_id': [[5]]})
        tl.match(table, table)
    """
    assert fresh(textwrap.dedent(tables) + loaded) == []


def test_sparse_dictionaries_and_arrow_readers():
    sparse, pyarrow = library("scipy.sparse"), library("pyarrow")
    assert tl.match([[0, 1]], sparse.dok_matrix([[0, 1]])).ranks.tolist() == [2]
    table = pyarrow.table(long(dict))
    assert same(tl.match(table.to_reader(), TRUTHS), tl.match(RANKS, TRUTHS))


def test_list_views():
    pyarrow = library("pyarrow")
    for kind in (pyarrow.list_view, pyarrow.large_list_view):
        lists = pyarrow.array(list(RANKS.values()), kind(pyarrow.int64()))
        table = pyarrow.table({"user_id": list(RANKS), "item_id": lists})
        assert same(tl.match(table, TRUTHS), tl.match(RANKS, TRUTHS))


def test_columns_that_hold_no_ids_are_named():
    polars = library("polars")
    for items in ([{"a": 1}], [[[1]]], [object()]):
        table = polars.DataFrame({"user_id": [1], "item_id": items, "rank": [1]})
        with pytest.raises(
            TypeError, match=r"ranks: column 'item_id' is of .*holds no ids|never an"
        ):
            tl.match(table, {1: [1]})
    arrow = library("pyarrow").table({"user_id": [1], "item_id": [{"a": 1}], "rank": [1]})
    with pytest.raises(TypeError, match="which holds no ids"):
        tl.match(arrow, {1: [1]})
    for column in ("rank", "score"):
        table = polars.DataFrame({"user_id": [1], "item_id": [1], column: ["1"]})
        with pytest.raises(TypeError, match="must hold numbers, and no nulls; it is String"):
            tl.match(table, {1: [1]})


def test_empty_tables_of_no_type():
    pandas = library("pandas")
    empty = pandas.DataFrame(columns=["user_id", "item_id", "rank"])
    assert tl.match(empty, TRUTHS).n_listed.tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match=r"no columns 'user_id', 'item_id', .*found: \[\]"):
        tl.match(pandas.DataFrame(), TRUTHS)
    with pytest.raises(TypeError, match="columns is a list: give a dict"):
        tl.match(empty, TRUTHS, columns=["user_id"])
