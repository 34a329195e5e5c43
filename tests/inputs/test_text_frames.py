"""Frames whose ids are text, in every form of every library, are what the same dicts are."""

import numpy as np
import pytest

import toplist as tl
from toplist.inputs import factorize

ITEMS = [
    *("0", "a", "b", "ä", "漢字", "7", "07", "twelve bytes", "thirteen bytes", "thirteen bytez"),
    *("x" * 300, "x" * 299 + "y", "a\0b", "a\0", "\0"),
]
USERS = ["u1", "u2", "ü", "-", "a user with a long name, no 1", "a user with a long name, no 2"]
LISTS = {user: ITEMS[place:] + ITEMS[:place] for place, user in enumerate(USERS)}
TRUTHS = {
    user: {ITEMS[2 * place], ITEMS[place + 7], f"new {place}"}
    for place, user in enumerate(reversed(USERS))
}
FORMS = [
    *("pandas str", "pandas object", "pandas category", "pandas category of object"),
    *("pandas arrow", "pandas python", "polars String", "polars Categorical", "polars Enum"),
    *("arrow string", "arrow large_string", "arrow string_view", "arrow dictionary", "arrow parts"),
]


def series(values, form, backwards):
    """Return a column of text in a form; with its categories in another order if `backwards`."""
    library, _, kind = form.partition(" ")
    module = pytest.importorskip("pyarrow" if library == "arrow" else library)
    names = sorted({*values, "never used"} - {None}, reverse=backwards)
    if library == "polars":
        if kind == "Categorical":  # numbers of which depend on what came before
            module.Series(names, dtype=module.Categorical)
        dtype = module.Enum(names) if kind == "Enum" else getattr(module, kind)
        return module.Series(values, dtype=dtype)
    if library == "pandas":
        if kind.startswith("category"):
            categories = module.Index(names, dtype=object if "object" in kind else "str")
            return module.Series(module.Categorical(values, categories=categories))
        dtype = {"python": module.StringDtype("python", na_value=np.nan)}.get(kind, kind)
        if kind == "arrow":
            dtype = module.ArrowDtype(pytest.importorskip("pyarrow").string())
        return module.Series(values, dtype=dtype)
    if kind == "dictionary":
        codes = [None if value is None else names.index(value) for value in values]
        return module.DictionaryArray.from_arrays(module.array(codes, module.uint16()), names)
    if kind == "parts":
        halves = np.array_split(np.array(values, object), 2)
        return module.chunked_array([module.array(["-", *half]).slice(1) for half in halves])
    return module.array(values, getattr(module, kind)())


def frame(columns, form, backwards=False):
    """Return columns as a table, its ids in a form."""
    library = form.split()[0]
    module = pytest.importorskip("pyarrow" if library == "arrow" else library)
    made = {
        name: series(values, form, backwards) if name.endswith("_id") else values
        for name, values in columns.items()
    }
    return module.table(made) if library == "arrow" else module.DataFrame(made)


def rows_of(lists, shuffled, ranked=True):
    """Return dicts as the columns of a long table."""
    rows = [
        (user, item, place)
        for user, row in lists.items()
        for place, item in enumerate(row, start=1)
    ]
    order = np.random.default_rng(3).permutation(len(rows)) if shuffled else range(len(rows))
    users, items, ranks = zip(*(rows[place] for place in order), strict=True)
    columns = {"user_id": list(users), "item_id": list(items)}
    return columns | {"rank": list(ranks)} if ranked else columns


def same(found, expected):
    """Compare hits, in whatever order the users are."""
    place = {user: row for row, user in enumerate(found.users)}
    rows = [place[user] for user in expected.users]
    assert sorted(found.users) == sorted(expected.users)
    for name in ("n_relevant", "n_listed"):
        assert getattr(found, name)[rows].tolist() == getattr(expected, name).tolist()
    ranks = [np.split(one.ranks, one.offsets[1:-1]) for one in (found, expected)]
    assert [ranks[0][row].tolist() for row in rows] == [row.tolist() for row in ranks[1]]
    assert found.about.fingerprints == expected.about.fingerprints


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_a_frame_of_text_is_the_dict(form, shuffled):
    ranks = frame(rows_of(LISTS, shuffled), form)
    truths = frame(rows_of(TRUTHS, shuffled, ranked=False), form, backwards=True)
    expected = tl.match(LISTS, TRUTHS)
    same(tl.match(ranks, truths), expected)
    same(tl.match(ranks, TRUTHS), expected)
    same(tl.match(LISTS, truths), expected)


@pytest.mark.parametrize("other", FORMS)
@pytest.mark.parametrize("form", FORMS)
def test_both_sides_may_be_of_any_form(form, other):
    ranks = frame(rows_of(LISTS, False), form)
    truths = frame(rows_of(TRUTHS, True, ranked=False), other, backwards=True)
    same(tl.match(ranks, truths), tl.match(LISTS, TRUTHS))


@pytest.mark.parametrize("form", FORMS)
def test_many_users_in_order_and_shuffled(form, monkeypatch):
    """More rows than one block of a thread, with new texts in every part."""
    from toplist.inputs import texts

    for module, name, size in (
        (texts, "FIRST", 64),
        (texts, "BLOCK", 128),
        (factorize, "FIRST", 64),
        (factorize, "BLOCK", 128),
        (factorize, "CHUNK", 64),
    ):
        monkeypatch.setattr(module, name, size)
    rng = np.random.default_rng(1)
    lists = {
        f"user {user:0{5 + 10 * (user % 2)}d}": [
            f"item {item}" for item in rng.permutation(500)[:9]
        ]
        for user in range(300)
    }
    truths = {user: set(row[::4]) | {"other"} for user, row in lists.items()}
    expected = tl.match(lists, truths)
    for shuffled in (False, True):
        ranks = frame(rows_of(lists, shuffled), form)
        same(tl.match(ranks, frame(rows_of(truths, shuffled, False), form, True)), expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", ["user_id", "item_id"])
def test_nulls_are_named(form, column):
    columns = rows_of(LISTS, False)
    columns[column][4] = None
    with pytest.raises(ValueError, match=f"{column}.* is null in row 4"):
        tl.match(frame(columns, form), TRUTHS)


@pytest.mark.parametrize("form", FORMS)
def test_empty_frames(form):
    empty = frame({"user_id": [], "item_id": [], "rank": []}, form)
    result = tl.top_k_eval(empty, frame(rows_of(TRUTHS, False, False), form), k=3)
    assert result.n_missing == len(USERS)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_no_text(form):
    ranks = frame(rows_of({"u": ["7", "8"]}, False), form)
    truths = frame({"user_id": ["u"], "item_id": ["7"]}, form)
    assert tl.match(ranks, truths).ranks.tolist() == [1]
    with pytest.raises(TypeError, match="two kinds"):
        tl.match(ranks, {"u": {7}})


@pytest.mark.parametrize("form", FORMS)
def test_errors_name_the_texts(form):
    columns = {"user_id": ["a", "b", "b"], "item_id": ["x", "y", "z"], "rank": [1, 1, 3]}
    with pytest.raises(ValueError, match="user 'b' has ranks 1, 3 where 1 to 2 belong"):
        tl.match(frame(columns, form), TRUTHS)
    with pytest.raises(ValueError, match="user 'b' has ranks 1, 1 where 1 to 2 belong"):
        tl.match(frame(columns | {"rank": [1, 1, 1]}, form), TRUTHS)
    with pytest.raises(ValueError, match="item 'y' at ranks 1 and 2"):
        tl.match(
            frame(columns | {"item_id": ["x", "y", "y"], "rank": [1, 1, 2]}, form), {"b": {"x"}}
        )
    with pytest.raises(ValueError, match="ranks has 'a', ground_truths has 'c'"):
        tl.match(frame(columns | {"rank": [1, 1, 2]}, form), {"c": {"x"}})


@pytest.mark.parametrize("form", FORMS)
def test_padding_and_ties_by_item(form):
    columns = {"user_id": ["u"] * 4, "item_id": ["b", "c", "a", "-"], "score": [1.0, 1.0, 1.0, 0.0]}
    ranks = frame(columns, form)
    hits = tl.match(tl.Ranks(ranks, ties="item"), {"u": ["a", "-"]}, padding="-")
    assert hits.ranks.tolist() == [1] and hits.n_listed.tolist() == [3]
    assert hits.n_relevant.tolist() == [1]
    assert tl.match(ranks, {"u": {"a"}}, padding="none").ranks.tolist() == [3]


@pytest.mark.parametrize("side", ["ranks", "ground_truths"])
@pytest.mark.parametrize("column", ["user_id", "item_id"])
def test_text_that_is_no_utf8(side, column):
    pyarrow = pytest.importorskip("pyarrow")
    bad = pyarrow.array([b"\xff", b"\xff"]).view(pyarrow.string())
    good = pyarrow.array(["a", "a"])
    columns = {name: bad if name == column else good for name in ("user_id", "item_id")}
    table = pyarrow.table(columns | {"rank": [1, 2]})
    sides = {"ranks": LISTS, "ground_truths": TRUTHS, side: table}
    with pytest.raises(ValueError, match=f"{side}: column '{column}' holds text that is no UTF-8"):
        tl.match(sides["ranks"], sides["ground_truths"])


def test_users_in_lists_of_text_and_users_in_runs():
    """Rows of a user that stand together, in a table with a column of lists."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"user_id": ["u"] * 3, "item_id": [["a"], ["b"], ["c"]]})
    with pytest.raises(ValueError, match="user 'u' is in rows 0 and 1"):
        tl.match(table, {"u": {"a"}})


def test_polars_without_pyarrow(monkeypatch):
    polars = pytest.importorskip("polars")
    ranks = frame(rows_of(LISTS, False), "polars String")
    expected = tl.match(LISTS, TRUTHS)

    def missing(series, **_):
        raise ModuleNotFoundError("pyarrow is required for converting a Series to an Arrow Array.")

    same(tl.match(ranks, TRUTHS), expected)
    monkeypatch.setattr(polars.Series, "to_arrow", missing)
    same(tl.match(ranks, TRUTHS), expected)


def test_texts_of_polars_in_several_chunks_and_of_none():
    polars = pytest.importorskip("polars")
    parts = polars.concat([polars.Series(["a"]), polars.Series(["b" * 20, "c"])], rechunk=False)
    for series in (parts, parts[1:], parts[:0]):
        table = polars.DataFrame({"user_id": ["u"] * len(series), "item_id": series})
        table = table.with_columns(rank=polars.int_range(1, len(series) + 1))
        same(tl.match(table, {"u": {"c"}}), tl.match({"u": series.to_list()}, {"u": {"c"}}))


def test_runs_of_texts_are_found_by_their_bytes():
    from toplist.inputs.texts import TextColumn, joined

    for words in (["a", "b"], ["a" * 20, "a" * 19 + "b"]):
        column = TextColumn(joined([words[0]] * 3 + [words[1]] * 3 + [words[0]] * 2))
        found, starts = column.runs()
        assert starts.tolist() == [0, 3, 6] and len(found.texts) == 3
        assert TextColumn(joined(words * 4)).runs() is None
