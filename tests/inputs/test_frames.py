"""Long tables of pandas, polars and pyarrow: the same hits as from dicts, or one clear error."""

import math

import numpy as np
import pytest
from shared_inputs import LIBRARIES, frame_of, same

import toplist as tl

RANKS = {"u2": ["c", "a", "d"], "u1": ["b"], "u9": ["a"], "u3": ["e", "b"]}
TRUTHS = {"u1": {"b": 2.0, "a": 1.0}, "u2": {"a": 1.0}, "u4": {"c": 3.0}, "u3": {"b": 1.0}}


@pytest.fixture(params=LIBRARIES)
def table(request):
    """How one of the libraries makes a table of a dict of columns."""
    return lambda columns: frame_of(request.param, columns)


def columns_of(names, rows):
    return dict(zip(names.split(), map(list, zip(*rows, strict=True)), strict=True))


def long_ranks():
    rows = [(u, i, rank) for u, items in RANKS.items() for rank, i in enumerate(items, 1)]
    return columns_of("user_id item_id rank", rows)


def long_truths():
    rows = [(u, i, grade) for u, items in TRUTHS.items() for i, grade in items.items()]
    return columns_of("user_id item_id relevance", rows)


def test_rank_wins_over_score(table):
    columns = long_ranks() | {"score": list(range(7))}
    assert same(tl.match(table(columns), table(long_truths())), tl.match(RANKS, TRUTHS))


def test_only_the_first_k_are_read(table):
    hits = tl.match(table(long_ranks()), table(long_truths()), 1)
    assert same(hits, tl.match(RANKS, TRUTHS, 1))


def test_columns_of_another_name(table):
    ranks, truths = long_ranks(), long_truths()
    for side in (ranks, truths):
        side["userId"], side["movieId"] = side.pop("user_id"), side.pop("item_id")
    columns = {"user_id": "userId", "item_id": "movieId"}
    result = tl.top_k_eval(table(ranks), table(truths), 3, columns=columns)
    assert result.to_dict() == tl.top_k_eval(RANKS, TRUTHS, 3).to_dict()
    assert np.array_equal(
        tl.ndcg(table(ranks), table(truths), columns=columns), tl.ndcg(RANKS, TRUTHS)
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_integers_of_every_width(table, dtype):
    users, items = np.array([1, 1, 2], dtype), np.array([7, 8, 9], dtype)
    ranks = {"user_id": users, "item_id": items, "rank": [1, 2, 1]}
    truths = {"user_id": np.array([2, 1]), "item_id": np.array([9, 8])}
    hits = tl.match(table(ranks), table(truths))
    assert (hits.users, hits.ranks.tolist()) == ([2, 1], [1, 2])


def test_integers_past_int64(table):
    ranks = {"user_id": [1, 1], "item_id": np.array([2**63, 5], np.uint64), "rank": [1, 2]}
    truths = {"user_id": [1, 1], "item_id": np.array([-1, 5])}
    with pytest.raises(ValueError, match=rf"'item_id': {2**63} is .*as text, str\(id\)"):
        tl.match(table(ranks), table(truths))
    ranks["item_id"][0] = 7
    assert tl.match(table(ranks), table(truths)).ranks.tolist() == [2]


def test_shuffling_rows_never_changes_a_users_values(table):
    rng = np.random.default_rng(0)
    ranks = {
        "user_id": np.repeat(np.arange(50), 20),
        "item_id": np.concatenate([rng.permutation(60)[:20] for _ in range(50)]),
        "rank": np.tile(np.arange(1, 21), 50),
    }
    truths = {"user_id": rng.permutation(50).repeat(3), "item_id": rng.integers(0, 60, 150)}
    plain = tl.top_k_eval(table(ranks), table(truths), 10)
    order, other = rng.permutation(1000), rng.permutation(150)
    mixed = tl.top_k_eval(
        table({name: column[order] for name, column in ranks.items()}),
        table({name: column[other] for name, column in truths.items()}),
        10,
    )
    values = [dict(zip(r.users, r.per_user("ndcg@10"), strict=True)) for r in (plain, mixed)]
    assert values[0] == values[1]
    assert plain.to_dict() == mixed.to_dict()


def test_frames_are_not_modified():
    pandas = pytest.importorskip("pandas")
    ranks, truths = pandas.DataFrame(long_ranks())[::-1], pandas.DataFrame(long_truths())
    before = ranks.copy(), truths.copy()
    tl.match(ranks, truths)
    assert ranks.equals(before[0]) and truths.equals(before[1])


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([0, 1, 2, 1, 1, 1, 2], r"'u2' has ranks 0, 1, 2 where 1 to 3 belong.*ranks start at 1"),
        ([1, 2, 4, 1, 1, 1, 2], r"user 'u2' has ranks 1, 2, 4 where 1 to 3 belong"),
        ([1, 2, 2, 1, 1, 1, 2], r"user 'u2' has ranks 1, 2, 2 where 1 to 3 belong"),
        ([1.5, 2, 3, 1, 1, 1, 2], "has rank 1.5, which is not whole"),
    ],
)
def test_ranks_that_are_not_1_to_n(table, ranks, message):
    with pytest.raises(ValueError, match=message):
        tl.match(table(long_ranks() | {"rank": ranks}), table(long_truths()))


def test_bad_grades_are_named(table):
    truths = long_truths() | {"relevance": [1.0, math.inf, 1.0, 1.0, 1.0]}
    with pytest.raises(ValueError, match=r"user 'u1', item 'a': grade inf"):
        tl.match(table(long_ranks()), table(truths))


@pytest.mark.parametrize(("n", "end"), [(8, "6, 7"), (9, r"6, 7, \.\.\.")])
def test_eight_ranks_are_shown(table, n, end):
    """The ninth and those after it are points."""
    ranks = {"user_id": ["u1"] * n, "item_id": list("abcdefghi")[:n], "rank": list(range(n))}
    with pytest.raises(ValueError, match=f"user 'u1' has ranks 0, 1, .*{end} where 1 to {n} "):
        tl.match(table(ranks), table(long_truths()))


def test_missing_columns_are_named(table):
    ranks = long_ranks()
    del ranks["rank"]
    words = "ranks: no column 'rank' or 'score'"
    with pytest.raises(ValueError, match=words):
        tl.match(table(ranks), table(long_truths()))
    given = table(long_ranks() | {"item": ["a"] * 7}), table(long_truths())
    with pytest.raises(ValueError, match="ground_truths: no column 'item'"):
        tl.match(*given, columns={"item_id": "item"})
    with pytest.raises(ValueError, match="columns: 'item' is none of user_id, item_id"):
        tl.match(table(long_ranks()), table(long_truths()), columns={"item": "x"})


@pytest.mark.parametrize("bad", [[1.0, 2.0, 3.0, 4.0, 5.0], [True, False, True, True, False]])
def test_ids_that_are_floats_or_bools(table, bad):
    with pytest.raises(TypeError, match="never an id"):
        tl.match(table(long_ranks()), table(long_truths() | {"item_id": bad}))


def test_empty_tables(table):
    empty = dict.fromkeys(("user_id", "item_id", "rank"), np.empty(0, np.int64))
    assert len(tl.match(table(empty), table(empty))) == 0
    truths = table({"user_id": [1], "item_id": [7]})
    assert tl.match(table(empty), truths).n_listed.tolist() == [0]


class MyFrame:
    """A table of a library that nobody has heard of: columns of numpy arrays, no Arrow."""

    def __init__(self, **columns):
        self.columns, self.arrays = list(columns), columns

    def __len__(self):
        return len(self.arrays[self.columns[0]])

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.arrays[key]
        return MyFrame(**{name: column[key] for name, column in self.arrays.items()})


def test_a_table_without_arrow_is_refused():
    unknown = MyFrame(user_id=np.array(["a"]), item_id=np.array([1]), rank=np.array([1]))
    with pytest.raises(TypeError, match="a MyFrame has columns, but no Arrow interface"):
        tl.match(unknown, {"a": {1}})


@pytest.mark.parametrize("width", ["uint8", "uint32", "uint64", "int8"])
def test_dictionaries_with_indices_of_any_width(width):
    pyarrow = pytest.importorskip("pyarrow")
    indices = pyarrow.array([0, 1], getattr(pyarrow, width)())
    items = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["x", "y"]))
    table = pyarrow.table({"user_id": ["a", "a"], "item_id": items, "rank": [1, 2]})
    assert tl.top_k_eval(table, {"a": ["y"]}, k=2, metrics="mrr")["mrr@2"] == 0.5


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_column_per_rank_is_refused_with_the_line_to_write(name):
    for first, words in ((2020, "'item_id'"), (1, r"'item_id'.*frame.melt\('user_id', var_name=")):
        table = frame_of(name, {"user_id": ["a", "b"], f"{first}": [5, 6], f"{first + 1}": [7, 8]})
        with pytest.raises(ValueError, match=words):
            tl.match(table, {"a": [7], "b": [6]})


def test_a_column_per_rank_becomes_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user_id": ["a", "b"], "1": ["5", "6"], "2": ["7", None]})
    with pytest.raises(ValueError, match="columns of ranks become rows by frame") as caught:
        tl.match(frame, {"a": ["7"]})
    line = str(caught.value).partition("become rows by ")[2].partition("; columns found")[0]
    rows = eval(line, {"frame": frame})
    assert tl.match(rows, {"a": ["7"], "b": ["7"]}).ranks.tolist() == [2]
