"""Every form of lists beside every form of truths: the hits of plain lists, bit for bit."""

import sys
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import pytest
from doors import by_words, match_by_words
from shared_inputs import (
    AT,
    LIBRARIES,
    OF_TIMES,
    TIMES,
    csr,
    csv_of,
    frame_of,
    fresh,
    in_small_blocks,
    library,
    listed,
    long,
    read_only,
    rows,
    said,
    same,
)

import toplist as tl
from toplist.inputs import Lists

# users 30, 10, 20 (a list of their own order), user 40 without truth; user 50 without a list
RANKS = {30: [7, 3, 9, 1], 10: [2, 8], 20: [5, 1, 4], 40: [6]}
TRUTHS = {10: [8, 6], 20: [4, 5, 0], 30: [1], 50: [2]}
GRADED = {10: {8: 1.0, 6: 2.5}, 20: {4: 3.0, 5: 1.0, 0: 0.0}, 30: {1: -1.0}, 50: {2: 1.0}}
LONG_NAMES = "a user with a long name, no "
ODD = [*("ä", "漢字", "7", "07", "twelve bytes", "thirteen bytes", "a\0b", "a\0", "\0", "x" * 300)]


def text(sides):
    """Return a side with ids of text, some of them long, with a NUL, or of several bytes."""
    names = {user: f"u{user}" if user < 30 else f"{LONG_NAMES}{user}" for user in (*RANKS, 50)}
    return {
        names[user]: {ODD[item]: one for item, one in items.items()}
        if isinstance(items, dict)
        else [ODD[item] for item in items]
        for user, items in sides.items()
    }


# Tables: how columns become one, and how a side becomes columns


class Stream:
    """A table of no library that toplist knows: it gives itself as an Arrow stream."""

    def __init__(self, columns):
        self._table = library("pyarrow").table(columns)
        self.columns = list(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def sliced(columns):
    table = frame_of("pyarrow", columns)
    return library("pyarrow").concat_tables([table, table]).slice(len(table))


def of_pandas(columns):
    """Make a table of pandas in which columns that have no type are integers."""
    frame = library("pandas").DataFrame(columns)
    wide = [one for one in frame if one.endswith("_id") and frame[one].dtype.kind == "f"]
    return frame.astype(dict.fromkeys(wide, "Int64"))


def of_arrow(columns):
    types = library("pandas").ArrowDtype
    return frame_of("pyarrow", columns).to_pandas(types_mapper=types)


def column(values, form):
    """Return a column of text in a form, its categories in falling order with one never used."""
    name, _, kind = form.partition(" ")
    module = library("pyarrow" if name == "arrow" else name)
    names = sorted({*values, "never used"} - {None}, reverse=True)
    if name == "polars":
        if kind == "Categorical":  # numbers of which depend on what came before
            module.Series(names, dtype=module.Categorical)
        dtype = module.Enum(names) if kind == "Enum" else getattr(module, kind)
        return module.Series(values, dtype=dtype)
    if name == "pandas":
        if kind.startswith("category"):
            categories = module.Index(names, dtype=object if "object" in kind else "str")
            return module.Series(module.Categorical(values, categories=categories))
        dtype = {"python": module.StringDtype("python", na_value=np.nan)}.get(kind, kind)
        if kind == "arrow":
            dtype = module.ArrowDtype(library("pyarrow").string())
        return module.Series(values, dtype=dtype)
    if kind.startswith("dictionary"):
        codes = [None if value is None else names.index(value) for value in values]
        width = getattr(module, kind.partition(" ")[2] or "uint16")()
        return module.DictionaryArray.from_arrays(module.array(codes, width), names)
    if kind == "parts":
        halves = np.array_split(np.array(values, object), 2)
        return module.chunked_array([module.array(["-", *half]).slice(1) for half in halves])
    return module.array(values, getattr(module, kind)())


def of_texts(form, columns):
    """Return columns as a table, its ids in a form."""
    made = {
        name: column(values, form) if name.endswith("_id") else values
        for name, values in columns.items()
    }
    return frame_of({"arrow": "pyarrow"}.get(form.split()[0], form.split()[0]), made)


TEXTS = [
    *("pandas str", "pandas object", "pandas category", "pandas category of object"),
    *("pandas arrow", "pandas python", "polars String", "polars Categorical", "polars Enum"),
    *("arrow string", "arrow large_string", "arrow string_view", "arrow parts"),
    *(f"arrow dictionary {width}" for width in ("uint8", "uint32", "uint64", "int8")),
]
MAKERS = {
    "pandas": of_pandas,
    "pandas-arrow": of_arrow,
    "polars": partial(frame_of, "polars"),
    "pyarrow": partial(frame_of, "pyarrow"),
    "pyarrow-sliced": sliced,
    "stream": Stream,
}


def shuffled(side):
    table = long(side)
    order = np.random.default_rng(3).permutation(len(table["user_id"]))
    return {name: [one[i] for i in order] for name, one in table.items()}


def scored(side):
    """Return rows in no order, which scores rank; beside ranks, scores are not read."""
    table = shuffled(side)
    return table | {"score": [-0.5 * rank for rank in table.pop("rank")]}


def both(side):
    table = shuffled(side)
    return table | {"score": table["rank"]}


def plain(side):
    """Return a truth without grades."""
    columns = long(side)
    return {name: columns[name] for name in ("user_id", "item_id")}


SHAPES = {one.__name__: one for one in (long, shuffled, scored, both, listed)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ids", ["integers", "text"])
@pytest.mark.parametrize("name", MAKERS)
def test_tables(name, ids, shape):
    """Beside truths that are dicts, tables of rows with and without grades, and of lists."""
    make, sides, k = MAKERS[name], (RANKS, TRUTHS, GRADED), None
    if ids == "text":
        sides, k = map(text, sides), 2
    ranks, truths, graded = sides
    table = make(SHAPES[shape](ranks))
    expected = tl.match(ranks, truths, k)
    for truth in (truths, make(plain(truths)), make(listed(truths))):
        found = tl.match(table, truth, k)
        assert same(found, expected) and list(found.users) == list(truths)
    expected = tl.match(ranks, graded, k)
    for truth in (graded, make(long(graded)), make(listed(graded))):
        assert same(tl.match(table, truth, k), expected)
        assert same(tl.match(ranks, truth, k), expected)


def by_user(found, expected):
    """Compare hits, in whatever order their users are."""
    place = {user: row for row, user in enumerate(found.users)}
    order = [place[user] for user in expected.users]
    assert sorted(found.users) == sorted(expected.users)
    assert [rows(found)[row] for row in order] == rows(expected)
    assert found.about.fingerprints == expected.about.fingerprints


@pytest.mark.parametrize("other", ["polars Enum", None])
@pytest.mark.parametrize("form", TEXTS)
def test_text_in_every_form_beside_every_other(form, other, monkeypatch):
    """With new texts in every block of rows."""
    in_small_blocks(monkeypatch)
    rng = np.random.default_rng(1)
    n = 60 if other is None and "int8" not in form else 9
    many = {f"user {u:0{5 + 10 * (u % 2)}d}": [*map("i{}".format, rng.permutation(99)[:9])]
            for u in range(n)}  # fmt: skip
    for ranks in (text(RANKS), many):
        truths = {user: set(row[1::2]) | {"other"} for user, row in reversed(ranks.items())}
        expected, of_truths = tl.match(ranks, truths), plain(truths)
        for shape in (long, shuffled):
            table = of_texts(form, shape(ranks))
            by_user(tl.match(table, of_texts(other or form, of_truths)), expected)
            by_user(tl.match(table, truths), expected)
        by_user(tl.match(ranks, of_texts(form, of_truths)), expected)


@pytest.mark.parametrize("form", TEXTS)
def test_what_is_said_of_text(form):
    table = partial(of_texts, form)
    ids = {"user_id": ["a", "b", "b"], "item_id": ["x", "y", "z"], "rank": [1, 1, 2]}
    for more, truth, words in (
        ({"user_id": ["a", None, "b"]}, {"b": "x"}, "user_id.* is null in row 1"),
        ({"item_id": ["x", "y", "y"]}, {"b": "x"}, "item 'y' at ranks 1 and 2"),
        ({}, {"c": "x"}, "ranks has 'a', ground_truths has 'c'"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            tl.match(table(ids | more), truth)
    empty = table({"user_id": [], "item_id": [], "rank": []})
    truth = table({"user_id": ["a"], "item_id": ["x"]})
    assert tl.top_k_eval(empty, truth, k=3).n_missing == 1
    tied = {"user_id": ["u"] * 4, "item_id": ["b", "c", "a", "-"], "score": [1.0, 1.0, 1.0, 0.0]}
    hits = tl.match(tl.Ranks(table(tied), ties="item"), {"u": ["a", "-"]}, padding="-")
    assert rows(hits) == [([1], 1, 3)]
    assert tl.match(table(tied), {"u": {"a"}}, padding="none").ranks.tolist() == [3]


@pytest.mark.parametrize("side", ["ranks", "ground_truths"])
@pytest.mark.parametrize("name", ["user_id", "item_id"])
def test_text_that_is_no_utf8(side, name):
    pyarrow = library("pyarrow")
    bad = pyarrow.array([b"\xff", b"\xff"]).view(pyarrow.string())
    columns = {one: bad if one == name else ["a", "a"] for one in ("user_id", "item_id")}
    sides = {
        "ranks": RANKS,
        "ground_truths": TRUTHS,
        side: pyarrow.table(columns | {"rank": [1, 2]}),
    }
    with pytest.raises(ValueError, match=f"{side}: column '{name}' holds text that is no UTF-8"):
        match_by_words(**sides)


def test_texts_of_polars_in_chunks_of_none_and_without_pyarrow(monkeypatch):
    polars = library("polars")
    parts = polars.concat([polars.Series(["a"]), polars.Series(["b" * 20, "c"])], rechunk=False)

    def missing(series, **_):
        raise ModuleNotFoundError("pyarrow is required for converting a Series to an Arrow Array.")

    for _ in range(2):
        for series in (parts, parts[1:], parts[:0]):
            table = polars.DataFrame({"user_id": ["u"] * len(series), "item_id": series})
            table = table.with_columns(rank=polars.int_range(1, len(series) + 1))
            by_user(tl.match(table, {"u": {"c"}}), tl.match({"u": series.to_list()}, {"u": {"c"}}))
        monkeypatch.setattr(polars.Series, "to_arrow", missing)


# Lists by position, of one user, and by key


def rectangle(lists, padding=-1):
    width = max(map(len, lists))
    return np.array([row + [padding] * (width - len(row)) for row in lists])


def lists_of(lists):
    offsets = np.cumsum([0, *map(len, lists)])
    return Lists(offsets, np.concatenate([np.array(row, np.int64) for row in lists]))


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


POSITIONS = [RANKS.get(user, []) for user in TRUTHS], list(TRUTHS.values())
BY_POSITION = {
    "lists": lambda rows: rows,
    "tuples and arrays": lambda rows: [tuple(rows[0]), *map(np.array, rows[1:3]), rows[3]],
    "numbers of numpy": lambda rows: [list(map(np.int16, row)) for row in rows],
    "Series": lambda rows: library("pandas").Series(rows),
    "Lists": lists_of,
    "matrix": lambda rows: np.broadcast_to(rectangle(rows), rectangle(rows).shape),
    "by columns": lambda rows: np.asfortranarray(rectangle(rows)),
    "backwards": lambda rows: rectangle(rows)[::-1, ::-1].copy()[::-1, ::-1],
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
TRUTHS_BY_POSITION = BY_POSITION | {
    "sets": lambda rows: list(map(set, rows)),
    "sets and dicts": lambda rows: [set(rows[0]), dict.fromkeys(rows[1], 1.0), *rows[2:]],
    "keys": lambda rows: [dict.fromkeys(row).keys() for row in rows],
    "csr": csr,
    "coo": lambda rows: csr(rows).tocoo(),
    "dense": lambda rows: Lists.from_matrix(csr(rows).toarray()),
}


# Every form beside plain lists, and beside another one
PAIRED = [(one, "lists") for one in BY_POSITION] + [("lists", one) for one in TRUTHS_BY_POSITION]
PAIRED += zip([*BY_POSITION] * 2, [*TRUTHS_BY_POSITION][::-1], strict=False)


@pytest.mark.parametrize(("ranks", "truths"), PAIRED)
def test_forms_by_position(ranks, truths):
    expected, users = tl.match(*POSITIONS, 4), list(TRUTHS)
    given = BY_POSITION[ranks](POSITIONS[0]), TRUTHS_BY_POSITION[truths](POSITIONS[1])
    found = tl.match(*given, 4, padding=-1)
    assert same(found, expected) and found.users is None
    named = match_by_words(*given, 4, padding=-1, users=users)
    keyed = {user: row for user, row in RANKS.items() if user in TRUTHS}
    assert same(named, tl.match(keyed, TRUTHS, 4))


BARE = {  # of one user
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda ids: np.array(ids, object),
    "uint8": lambda ids: np.array(ids, np.uint8),
    "range": lambda ids: range(ids[0], ids[-1] + 1, ids[1] - ids[0]),
    "polars": lambda ids: library("polars").Series(ids),
    "arrow": lambda ids: library("pyarrow").array(ids),
}
BARE_TRUTHS = BARE | {"set": set, "frozenset": frozenset, "dict": lambda ids: dict.fromkeys(ids, 1)}
BARE_TRUTHS |= {"Series": lambda ids: library("pandas").Series(ids)}


ONE_USER = [(one, "list") for one in BARE] + [("list", one) for one in BARE_TRUTHS]
ONE_USER += zip([*BARE] * 2, [*BARE_TRUTHS][::-1], strict=False)


@pytest.mark.parametrize(("ranks", "truth"), ONE_USER)
def test_one_user(ranks, truth):
    ranked, relevant = BARE[ranks]([5, 7, 9]), BARE_TRUTHS[truth]([3, 7])
    assert rows(tl.match(ranked, relevant)) == [([2], 2, 3)]
    assert tl.mrr(ranked, relevant, 2).tolist() == [0.0, 0.5]
    if ranks != "arrow" and truth not in ("Series", "polars", "arrow"):
        by_key = tl.match({"ann": ranked}, {"ann": relevant})
        assert rows(by_key) == [([2], 2, 3)] and list(by_key.users) == ["ann"]
    if ranks in ("list", "tuple", "array"):
        assert tl.hit(BARE[ranks]([]), relevant, 3).tolist() == [0.0, 0.0, 0.0]
        assert tl.hit(BARE[ranks]([]), relevant).shape == (0,)


KEYED = {
    "dict of tuples": lambda side: {user: tuple(row) for user, row in side.items()},
    "dict of arrays": lambda side: {user: np.array(row) for user, row in side.items()},
    "dict of Series": lambda side: {u: library("pandas").Series(row) for u, row in side.items()},
    "Series": lambda side: library("pandas").Series(side),
    "reader": lambda side: frame_of("pyarrow", long(side)).to_reader(3),
    "list_view": lambda side: views(side, "list_view"),
    "large_list_view": lambda side: views(side, "large_list_view"),
    "polars of lists": lambda side: frame_of("polars", listed(side)),
    "kept": lambda side: tl.Ranks(side),
}


def views(side, kind):
    pyarrow = library("pyarrow")
    lists = pyarrow.array(list(side.values()), getattr(pyarrow, kind)(pyarrow.int64()))
    return pyarrow.table({"user_id": list(side), "item_id": lists})


@pytest.mark.parametrize("form", KEYED)
def test_forms_by_key(form):
    truths = {user: set(row) for user, row in TRUTHS.items()}
    expected = tl.match(RANKS, TRUTHS)
    for truth in (TRUTHS, truths, tl.GroundTruths(TRUTHS), library("pandas").Series(truths)):
        if form != "reader" or isinstance(truth, dict):
            assert same(tl.match(KEYED[form](RANKS), truth), expected)
    if form not in ("reader", "kept"):
        assert same(tl.match(RANKS, KEYED[form](TRUTHS)), expected)
        of_one = library("pandas").Series({30: 3, 10: 9})  # a bare id by key
        assert same(tl.match(KEYED[form](RANKS), of_one), tl.match(RANKS, {30: 3, 10: 9}))


@pytest.mark.parametrize("make", [list, tuple, np.array, "Series", "Index", "polars"])
def test_users_name_the_rows(make):
    if isinstance(make, str):
        make = library("polars").Series if make == "polars" else getattr(library("pandas"), make)
    keys = ["ann", "bob", "eve", "fay"]
    for users in (keys, [7, 5, 6, 8]):
        found = match_by_words(*POSITIONS, users=make(users))
        assert same(found, tl.match(*(dict(zip(users, one, strict=True)) for one in POSITIONS)))
        assert found.users == users
    assert match_by_words(*POSITIONS, users=range(4)).users == [0, 1, 2, 3]
    with pytest.raises(TypeError, match=r"Series with an index of its own.*to_numpy"):
        match_by_words(*POSITIONS, users=library("pandas").Series(keys)[::-1])


# Padding

PADDED = [[5, 7, -1], [-1, -1, -1], [1, 2, 3]], [[7, -1], [1, -1], [3, 2]]


def as_texts(table):
    return [["" if item == -1 else str(item) for item in row] for row in table]


@pytest.mark.parametrize("padding", [-1, "", np.int64(-1)], ids=repr)
@pytest.mark.parametrize("form", ["lists", "array", "objects", "read-only", *LIBRARIES])
def test_padding_is_dropped_from_the_ends(form, padding):
    sides = map(as_texts, PADDED) if padding == "" else PADDED
    expected = [([2], 1, 2), ([], 1, 0), ([2, 3], 2, 3)]
    if form in LIBRARIES:
        tables = [frame_of(form, {"user_id": [4, 5, 6], "item_id": one}) for one in sides]
        assert rows(tl.match(*tables, padding=padding)) == expected
        return
    make = {"array": np.array, "objects": lambda one: np.array(one, object)}.get(form, list)
    make = make if form != "read-only" else lambda one: read_only(np.array(one))
    ranks, truths = map(make, sides)
    assert rows(tl.match(ranks, truths, padding=padding)) == expected
    assert rows(tl.match(ranks[0], truths[0], padding=padding)) == expected[:1]  # one user
    keyed = dict(enumerate(ranks)), dict(enumerate(truths))
    assert rows(tl.match(*keyed, padding=padding)) == expected
    assert by_words(ranks, truths, 2, padding=padding).n_missing == 1
    assert tl.hit(ranks, truths, padding=padding)[:, 2].tolist() == [1.0, 0.0, 1.0]


# lists, truths, options -> ranks of the hits, relevant, listed of each user
PADS = {
    "grades": ([[2, 1], [3, 4]], Lists([0, 3, 5], [1, 2, -1, 3, -1], gains=[1, 2, 5, 3, 5]), -1,
               [([1, 2], 2, 2), ([1], 1, 2)]),
    "an id, if it is not named": ([[5, -1]], [[-1]], None, [([2], 1, 2)]),
    "none there": ([[5, 7]], [[7]], 0, [([2], 1, 2)]),
    "none there, of text": ([["a", "b"]], [["b"]], "", [([2], 1, 2)]),
    "nothing at all": ([[]], [[]], "", [([], 0, 0)]),
    "in a set": ([[5, 7]], [{7, -1}], -1, [([2], 1, 2)]),
    "ids 0 and 1": ([[3, 0]], np.array([[1, 0, 0]]), 0, [([], 1, 1)]),
    **{f"exactly {pad}": (ids, [{5}], pad, n) for ids, pad, n in [
        (np.array([[5, -1, -2]]), 2**64 - 1, [([1], 1, 3)]),
        (np.array([[5, -1, -2]]), 2**70, [([1], 1, 3)]),
        (np.array([[5, 255]], np.uint8), -1, [([1], 1, 2)]),
        (np.array([[5, -(2**63)]]), 2**63, [([1], 1, 2)]),
        ([[5, -1]], 2**64 - 1, [([1], 1, 2)]),
        ([[5, 2**63 - 1]], 2**63 - 1, [([1], 1, 1)])]},
}  # fmt: skip


@pytest.mark.parametrize("pad", PADS)
def test_what_is_padding(pad):
    ranks, truths, padding, expected = PADS[pad]
    assert rows(tl.match(ranks, truths, padding=padding)) == expected


# Keys of several columns


@pytest.mark.parametrize("name", LIBRARIES)
def test_keys_of_several_columns_are_tuples(name):
    lists = {("a", 1): ["x", "y"], ("a", 2): ["z"], ("b", 1): ["x", "z"], ("b", 9): ["z"]}
    truths = {("a", 1): ["y"], ("a", 2): ["x"], ("b", 1): ["x", "y"]}
    order = np.random.default_rng(0).permutation(6)
    shuffled = {one: [values[i] for i in order] for one, values in TIMES.items()}
    of_lists = {"user": list("aabb"), "time": [1, 2, 1, 9], "item_id": list(lists.values())}
    truth = frame_of(name, OF_TIMES)
    kept = tl.GroundTruths(truth, columns=AT)
    expected = by_words(lists, truths, 2, clusters={key: key[0] for key in truths})
    ranks = [frame_of(name, one) for one in (TIMES, shuffled, of_lists)]
    for sides in (*((one, truth) for one in ranks), (ranks[0], kept), (ranks[0], truths)):
        found = by_words(*sides, 2, columns=AT, clusters="user")
        assert found.to_dict() == expected.to_dict() and list(found.users) == list(truths)
        assert found.interval("mrr@2") == expected.interval("mrr@2") and found.n_extra == 1
    said = tl.Ranks(ranks[0], columns=AT)  # of one side each
    found = by_words(said, tl.GroundTruths(truth, columns=AT), 2, clusters="user")
    assert found.interval("mrr@2") == expected.interval("mrr@2")


# What is left alone


def test_nothing_of_the_caller_is_changed_or_copied():
    hit_ranks = np.array([1, 2])
    tl.Hits(np.array([0, 2]), hit_ranks, [2], [2])
    hit_ranks[0] = 0  # still writable
    device = OnDevice(rectangle(POSITIONS[0]))
    tl.match(device, POSITIONS[1], padding=-1)
    assert device.copies == 1
    sparse = library("scipy.sparse").csr_array(([1.0, 1.0, 0.0], [3, 3, 5], [0, 3]), (1, 10))
    assert Lists.from_matrix(sparse).gains.tolist() == [2.0] and sparse.nnz == 3


def test_lists_made_by_hand():
    lists = Lists([0, 3, 3, 5], [5, 7, 8, 4, 6])
    assert [row.tolist() for row in lists] == [[5, 7, 8], [], [4, 6]] and len(lists) == 3
    assert lists[-1].tolist() == [4, 6] and "3 users, 5 ids" in repr(lists)
    with pytest.raises(AttributeError):
        lists.items = np.zeros(1)
    for user in (3, -4):
        with pytest.raises(IndexError, match=f"user {user} of 3"):
            lists[user]
    for dtype in (bool, int, np.uint8, np.float32):
        made = Lists.from_matrix(np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]], dtype))
        assert [row.tolist() for row in made] == [[2, 3], [1], []] and made.gains is None
    assert Lists.from_matrix([[0, 0.5, 3], [1, 0, 0]]).gains.tolist() == [0.5, 3.0, 1.0]


def test_a_table_that_toplist_cannot_read(monkeypatch):
    class MyFrame:
        columns = ("user_id", "item_id", "rank")

        def __getitem__(self, name):
            return np.array([1])

    table = Stream(long(RANKS))
    with pytest.raises(TypeError, match="a MyFrame has columns, but no Arrow interface"):
        tl.match(MyFrame(), {"a": {1}})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'toplist\[io\]'"):
        tl.match(table, TRUTHS)


def test_the_line_that_is_given_makes_the_table_that_is_meant():
    """Columns of ranks become rows; ranks with gaps become scores."""
    make = library("pandas").DataFrame
    wide = make({"user_id": ["a", "b"], "1": ["5", "6"], "2": ["7", None]})
    gaps = make({"user_id": 1, "item_id": [5, 6, 7], "rank": [4, 1, 3]})
    for frame, truth, words, start, end in (
        (wide, {"a": ["7"], "b": ["7"]}, "columns of ranks", "become rows by ", "; columns found"),
        (gaps, {1: [7]}, "ranks 1, 3, 4 where 1 to 3 belong", "ranks the rest, ", "\n"),
    ):
        line = said(words, tl.match, frame, truth).partition(start)[2].partition(end)[0]
        assert tl.match(eval(line, {"frame": frame}), truth).ranks.tolist() == [2]


def test_libraries_are_not_imported_for_others(tmp_path):
    """Lists load no library; a table of one loads no other; text files load pyarrow alone."""
    library("polars")
    csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "u,a,1")
    code = """
        import sys, numpy as np, toplist as tl
        names = "pandas polars pyarrow torch tqdm ranx lenskit datasets pyspark"  # numba asks scipy
        tl.match({1: [2]}, {1: [2]})
        ids, scores = np.array([[1, 2]]), np.array([[0.5, 0.25]])
        assert tl.top_k_eval((ids, scores), [{2}], metrics="mrr@2")["mrr@2"] == 0.5
        hits = [[{"corpus_id": 1, "score": 0.5}]]
        assert tl.top_k_eval(hits, [{1}], metrics="mrr@2")["mrr@2"] == 1
        print(*(name for name in names.split() if name in sys.modules))
        import polars
        before = set(sys.modules)
        table = polars.DataFrame({'user_id': [1], 'item_id': [[5]]})
        tl.match(table, table)
        print(*(name for name in names.split() if name in set(sys.modules) - before))
        from toplist import cli
        cli.main(["eval", sys.argv[1], sys.argv[1]])
        print("then", *(name for name in names.split() if name in set(sys.modules) - before))
    """
    *shown, then, loaded = fresh(code, str(tmp_path / "recs.csv"))
    assert "recall" in shown and (then, loaded) == ("then", "pyarrow")


# Ids are compared exactly

EDGES = (0, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64)
NUMBERS = sorted({sign * edge + step for edge in EDGES for sign in (1, -1) for step in (-1, 0, 1)})
WIDTHS = ("int8", "int16", ">i4", "uint32", "int64", "uint64", ">i8", ">u8", "Python", "objects")


def integers(form):
    """Return how a form is made, and the numbers that it can hold."""
    if form in ("Python", "objects"):
        make = list if form == "Python" else partial(np.array, dtype=object)
        return make, [n for n in NUMBERS if -(2**63) <= n < 2**63]
    low, high = np.iinfo(form).min, min(np.iinfo(form).max, 2**63 - 1)
    return partial(np.array, dtype=form), [n for n in NUMBERS if low <= n <= high]


@pytest.mark.parametrize(("of_ranks", "of_truths"), [*combinations_with_replacement(WIDTHS, 2)])
def test_integers_are_compared_exactly(of_ranks, of_truths):
    (to_ranks, a), (to_truths, b) = integers(of_ranks), integers(of_truths)
    every = [(one, other) for one in a for other in b]
    ranked, relevant = (list(side) for side in zip(*every, strict=True))
    in_rows = to_ranks(ranked)
    ranks = in_rows[:, np.newaxis] if isinstance(in_rows, np.ndarray) else [[n] for n in ranked]
    found = tl.hit(ranks, to_truths(relevant), 1)[:, 0] == 1
    assert found.tolist() == [one == other for one, other in every]


def test_ids_0_and_1_are_ids_where_no_row_repeats_one():
    for truths in ([[0, 1]], [{0, 1}]):
        assert rows(tl.match([[3, 0, 1]], truths)) == [([2, 3], 2, 3)]
    for lists, truths in (([[3, 0]], [[1, 1, 2]]), ([["0", "1"]], [["0", "1", "1"]])):
        assert tl.match(lists, truths).n_relevant.tolist() == [2]
