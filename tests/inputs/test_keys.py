"""Users by name: `users=`, a Series by key or by position, what is given for each item."""

import numpy as np
import pytest
from shared_inputs import frame_of, library, same

import toplist as tl
from toplist.inputs.catalogues import features_of

RANKS = [[1, 2], [3, 4], [5, 6]]
TRUTHS = [{1}, {4}, {9}]
KEYS = ["ann", "bob", "eve"]


FORMS = [
    (RANKS, TRUTHS),
    (np.array(RANKS), np.array([1, 4, 9])),
    (tl.inputs.Lists([0, 2, 4, 6], np.ravel(RANKS)), tl.inputs.Lists([0, 1, 2, 3], [1, 4, 9])),
]


@pytest.mark.parametrize(("ranks", "truths"), FORMS)
@pytest.mark.parametrize("make", [list, tuple, np.array, "Series", "Index", "polars"])
def test_users_name_the_rows(ranks, truths, make):
    if isinstance(make, str):
        make = library("polars").Series if make == "polars" else getattr(library("pandas"), make)
    keyed = (dict(zip(KEYS, side, strict=True)) for side in (RANKS, TRUTHS))
    assert same(tl.match(tl.Ranks(ranks, users=make(KEYS)), truths), tl.match(*keyed))


def test_users_of_one_bare_user_and_as_numbers():
    assert tl.match(tl.Ranks([1, 2], users=["ann"]), {2}).users == ["ann"]
    assert tl.match(tl.Ranks(RANKS, users=range(3)), TRUTHS).users == [0, 1, 2]
    assert tl.match(tl.Ranks(RANKS, users=np.array([7, 5, 6])), TRUTHS).users == [7, 5, 6]


def test_users_of_hits_made_by_hand():
    assert tl.Hits.from_matrix([[0, 1], [1, 0]], [1, 1], users=["a", "b"]).users == ["a", "b"]
    assert tl.Hits.from_ranks([1, 0], 2, users=np.array([7, 8])).users == [7, 8]
    by_hand = tl.Hits([0, 1, 1], [1], [1, 1], [2, 2], users=np.array(["a", "b"]))
    assert by_hand.users == ["a", "b"]
    with pytest.raises(ValueError, match="users: 3 keys for 2 rows"):
        tl.Hits.from_ranks([1, 0], 2, users=KEYS)
    with pytest.raises(ValueError, match="users: 1 is the key of rows 0 and 1"):
        tl.Hits.from_matrix([[0, 1], [1, 0]], [1, 1], users=[1, 1])


@pytest.mark.parametrize(
    ("users", "words"),
    [
        (["ann", "bob"], "users: 2 keys for 3 rows: one per row is needed"),
        (["ann", "bob", "ann"], "users: 'ann' is the key of rows 0 and 2"),
        ("ann", "users is a str: give one key per row"),
        ({"ann": 1}, "users is a dict"),
        (["ann", 1, 2], "ids of two kinds"),
        ([1.0, 2.0, 3.0], r"users: 1\.0 is a float, never an id"),
    ],
)
def test_errors_of_users(users, words):
    with pytest.raises((ValueError, TypeError), match=words):
        tl.match(tl.Ranks(RANKS, users=users), TRUTHS)


def test_users_beside_keys():
    table = frame_of("pandas", {"user_id": ["ann"], "item_id": [1], "rank": [1]})
    series = library("pandas").Series
    for ranks, truths, words in (
        ({"ann": [1]}, {"ann": {1}}, "users= names the rows of lists by position.*dicts"),
        (table, {"ann": {1}}, "users= names the rows of lists by position.*tables"),
        (series([[1]], ["ann"]), series([1], ["ann"]), "users= names the rows"),
    ):
        with pytest.raises(TypeError, match=words):
            tl.match(tl.Ranks(ranks, users=["ann"]), truths)


def test_series_truths_by_position():
    pandas = library("pandas")
    expected = tl.match(RANKS, [1, 4, 9])
    for truth in (pandas.Series([1, 4, 9]), pandas.Series([1, 4, 9], dtype="Int64")):
        for ranks in (RANKS, np.array(RANKS), pandas.Series(RANKS)):
            hits = tl.match(ranks, truth)
            assert hits.ranks.tolist() == expected.ranks.tolist() and hits.users is None
            assert tl.match(tl.Ranks(ranks, users=KEYS), truth).users == KEYS
    lists = pandas.Series([{1}, {4}, {9}])
    assert tl.match(RANKS, lists).ranks.tolist() == expected.ranks.tolist()
    assert tl.match(pandas.Series(RANKS), TRUTHS).ranks.tolist() == expected.ranks.tolist()
    text = [[f"i{item}" for item in row] for row in RANKS]
    assert tl.match(text, pandas.Series(["i1", "i4", "i9"])).ranks.tolist() == [1, 2]
    of_one = pandas.Series([7, 3])  # ids, not grades
    assert tl.recall([5, 7, 8], of_one).tolist() == [0, 0.5, 0.5]


def test_series_with_keys_beside_positions():
    pandas = library("pandas")
    truth = pandas.Series([1, 4, 9], index=KEYS)
    pattern = (
        r"ground_truths is a Series with keys of its own, like 'ann', but ranks is by position: "
        r"give ground_truths\.to_numpy\(\) .* users=ground_truths\.index to name them"
    )
    for keys in (None, KEYS):
        with pytest.raises(TypeError, match=pattern):
            tl.match(tl.Ranks(RANKS, users=keys), truth)
    assert tl.match(tl.Ranks(RANKS, users=truth.index), truth.to_numpy()).users == KEYS
    with pytest.raises(TypeError, match="ranks is a Series with keys of its own"):
        tl.match(pandas.Series(RANKS, index=KEYS), TRUTHS)
    moved = pandas.Series([0, 1, 4, 9]).iloc[1:]  # RangeIndex(1, 4): not the rows of any list
    with pytest.raises(TypeError, match="Series with keys of its own, like 1"):
        tl.match(RANKS, moved)


def test_series_beside_keys_go_by_key():
    pandas = library("pandas")
    truth = pandas.Series([9, 4, 1], index=KEYS[::-1])
    lists = dict(zip(KEYS, RANKS, strict=True))
    table = pandas.DataFrame({"user_id": KEYS, "item_id": [1, 4, 6], "rank": [1, 1, 1]})
    for ranks in (lists, pandas.Series(lists)):
        assert tl.match(ranks, truth).ranks.tolist() == [2, 1]  # eve, bob, ann
    assert tl.match(table, truth).n_relevant.tolist() == [1, 1, 1]
    assert tl.match(table, truth).users == KEYS[::-1]


def test_series_that_count_rows_beside_other_keys():
    pandas = library("pandas")
    counted = pandas.Series([1, 4, 9])
    assert tl.match(dict(enumerate(RANKS)), counted).ranks.tolist() == [1, 2]
    keys, longer = [1, 2, 3], pandas.Series([[1], [4], [9], [7]])  # which has all keys, a row off
    table = pandas.DataFrame({"user_id": keys, "item_id": [1, 4, 6], "rank": [1, 1, 1]})
    for ranks in (dict(zip(keys, RANKS, strict=True)), table):
        for truths in (counted, longer):
            with pytest.raises(
                TypeError, match="ground_truths is a Series that counts its rows, but"
            ):
                tl.match(ranks, truths)


def test_values_of_users_by_key_with_users():
    result = tl.top_k_eval(tl.match(tl.Ranks(RANKS, users=KEYS), TRUTHS), k=1, metrics="hit")
    found = {k: v["hit@1"] for k, v in result.by({"ann": "A", "bob": "B"}).items()}
    assert found == {"A": 1.0, "B": 0.0, None: 0.0}
    with pytest.raises(ValueError, match="user 'ann' is in both parts"):
        result + result


def test_item_counts_as_a_series_or_a_table():
    pandas = library("pandas")
    counts = {1: 2, 2: 4}
    found = tl.beyond.average_popularity([[1, 2]], counts=pandas.Series(counts))
    assert found.tolist() == [[2.0, 3.0]]
    with pytest.raises(ValueError, match="counts: item 1 is in the index of the Series twice"):
        tl.beyond.average_popularity([[1]], counts=pandas.Series([2, 3], index=[1, 1]))
    for name in ("pandas", "polars"):
        table = library(name).DataFrame({"item_id": [1, 2], "n": [2, 4]})
        assert tl.beyond.average_popularity([[1, 2]], counts=table).tolist() == [[2.0, 3.0]]
        assert tl.beyond.intra_list_diversity([[1, 2]], features=table).tolist() == [[0, 0]]
        with pytest.raises(ValueError, match=r"one column of numbers, counts\[.*found: \['n'"):
            tl.beyond.average_popularity([[1]], counts=table[["n"]])


def test_features_as_a_series():
    pandas = library("pandas")
    ids, rows = features_of(pandas.Series({"a": [1, 0], "b": [0, 1]}))
    assert ids == ["a", "b"] and rows.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="features: item 'a' is in the index of the Series twice"):
        features_of(pandas.Series([[1], [2]], index=["a", "a"]))


@pytest.mark.parametrize("keys", [({True: [1]}, {1: {1}}), ({1: [1]}, {True: {1}})])
def test_a_bool_is_no_user(keys):
    side = "ranks" if next(iter(keys[0])) is True else "ground_truths"
    with pytest.raises(TypeError, match=f"{side}: user True is a bool, and equal to 1"):
        tl.top_k_eval(*keys, k=1)


@pytest.mark.parametrize("name", ["offsets", "items", "gains"])
def test_masked_arrays_are_no_lists(name):
    arrays = {"offsets": [0, 2], "items": [5, 7], "gains": [1.0, 2.0]}
    arrays[name] = np.ma.array(arrays[name], mask=[False, True])
    with pytest.raises(TypeError, match=f"Lists: {name} is a masked array"):
        tl.inputs.Lists(**arrays)


def test_parts_with_keys_of_two_kinds_do_not_merge():
    one = tl.top_k_eval({1: [1, 2]}, {1: {1}}, k=2)
    other = tl.top_k_eval({"1": [2, 1]}, {"1": {1}}, k=2)
    with pytest.raises(ValueError, match="like 1, of the other like '1': these are never equal"):
        one + other


def test_users_of_a_series_with_an_index_of_its_own_are_refused():
    pandas = pytest.importorskip("pandas")
    users = pandas.Series(["a", "b"])
    assert tl.match(tl.Ranks([[1], [2]], users=users), [{1}, {2}]).users == ["a", "b"]
    with pytest.raises(TypeError, match=r"users is a Series with an index of its own.*to_numpy"):
        tl.match(tl.Ranks([[1], [2]], users=users[::-1]), [{1}, {2}])
