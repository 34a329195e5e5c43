"""Keys: `users=`, pandas Series by key or position, and fingerprints of ground truths."""

import itertools
import pickle

import numpy as np
import pytest

import toplist as tl
from toplist.inputs.catalogues import features_of
from toplist.matching import fingerprints
from toplist.matching.fingerprints import Fingerprint

RANKS = [[1, 2], [3, 4], [5, 6]]
TRUTHS = [{1}, {4}, {9}]
KEYS = ["ann", "bob", "eve"]


def library(name):
    return pytest.importorskip(name)


def keyed():
    return tl.match(dict(zip(KEYS, RANKS, strict=True)), dict(zip(KEYS, TRUTHS, strict=True)))


def forms():
    offsets = [0, 2, 4, 6]
    yield RANKS, TRUTHS
    yield np.array(RANKS), [[1], [4], [9]]
    yield np.array(RANKS), np.array([1, 4, 9])
    yield tl.Lists(offsets, np.ravel(RANKS)), tl.Lists([0, 1, 2, 3], [1, 4, 9])


@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize("make", [list, tuple, np.array, "Series", "Index", "polars"])
def test_a2_users_name_the_rows(form, make):
    if isinstance(make, str):
        make = library("polars").Series if make == "polars" else getattr(library("pandas"), make)
    ranks, truths = list(forms())[form]
    hits, expected = tl.match(ranks, truths, users=make(KEYS)), keyed()
    assert hits.users == KEYS
    for name in ("offsets", "ranks", "n_relevant", "n_listed"):
        assert np.array_equal(getattr(hits, name), getattr(expected, name))


def test_a2_users_of_one_bare_user_and_as_numbers():
    assert tl.match([1, 2], {2}, users=["ann"]).users == ["ann"]
    assert tl.match(RANKS, TRUTHS, users=range(3)).users == [0, 1, 2]
    assert tl.match(RANKS, TRUTHS, users=np.array([7, 5, 6])).users == [7, 5, 6]


def test_a2_users_of_hits_made_by_hand():
    assert tl.Hits.from_matrix([[0, 1], [1, 0]], [1, 1], users=["a", "b"]).users == ["a", "b"]
    assert tl.Hits.from_ranks([1, 0], 2, users=np.array([7, 8])).users == [7, 8]
    by_hand = tl.Hits([0, 1, 1], [1], [1, 1], [2, 2], users=np.array(["a", "b"]))
    assert by_hand.users == ["a", "b"]
    with pytest.raises(ValueError, match="users: 3 keys for 2 rows"):
        tl.Hits.from_ranks([1, 0], 2, users=KEYS)
    with pytest.raises(ValueError, match="users: 1 is the key of rows 0 and 1"):
        tl.Hits.from_matrix([[0, 1], [1, 0]], [1, 1], users=[1, 1])


def test_a2_errors_of_users():
    with pytest.raises(ValueError, match="users: 2 keys for 3 rows: one per row is needed"):
        tl.match(RANKS, TRUTHS, users=["ann", "bob"])
    with pytest.raises(ValueError, match="users: 'ann' is the key of rows 0 and 2"):
        tl.match(RANKS, TRUTHS, users=["ann", "bob", "ann"])
    with pytest.raises(TypeError, match="users is a str: give one key per row"):
        tl.match(RANKS, TRUTHS, users="ann")
    with pytest.raises(TypeError, match="users is a dict"):
        tl.match(RANKS, TRUTHS, users={"ann": 1})
    with pytest.raises(TypeError, match="ids of two kinds"):
        tl.match(RANKS, TRUTHS, users=["ann", 1, 2])
    with pytest.raises(TypeError, match=r"users: 1\.0 is a float, never an id"):
        tl.match(RANKS, TRUTHS, users=[1.0, 2.0, 3.0])


def test_a2_users_beside_keys():
    with pytest.raises(TypeError, match=r"users= names the rows of lists by position.*dicts"):
        tl.match({"ann": [1]}, {"ann": {1}}, users=["ann"])
    table = library("pandas").DataFrame({"user_id": ["ann"], "item_id": [1], "rank": [1]})
    with pytest.raises(TypeError, match=r"users= names the rows of lists by position.*tables"):
        tl.match(table, {"ann": {1}}, users=["ann"])
    series = library("pandas").Series
    with pytest.raises(TypeError, match=r"users= names the rows"):
        tl.match(series([[1]], ["ann"]), series([1], ["ann"]), users=["ann"])


def test_series_truths_by_position():
    pandas = library("pandas")
    expected = tl.match(RANKS, [1, 4, 9])
    for truth in (pandas.Series([1, 4, 9]), pandas.Series([1, 4, 9], dtype="Int64")):
        for ranks in (RANKS, np.array(RANKS), pandas.Series(RANKS)):
            hits = tl.match(ranks, truth)
            assert hits.ranks.tolist() == expected.ranks.tolist() and hits.users is None
            assert tl.match(ranks, truth, users=KEYS).users == KEYS
    lists = pandas.Series([{1}, {4}, {9}])
    assert tl.match(RANKS, lists).ranks.tolist() == expected.ranks.tolist()
    assert tl.match(pandas.Series(RANKS), TRUTHS).ranks.tolist() == expected.ranks.tolist()
    text = [[f"i{item}" for item in row] for row in RANKS]
    assert tl.match(text, pandas.Series(["i1", "i4", "i9"])).ranks.tolist() == [1, 2]


def test_series_truth_of_one_user_holds_ids_not_grades():
    pandas = library("pandas")
    assert tl.recall([5, 7, 8], pandas.Series([7, 3])).tolist() == [0, 0.5, 0.5]


def test_series_with_keys_beside_positions():
    pandas = library("pandas")
    truth = pandas.Series([1, 4, 9], index=KEYS)
    pattern = (
        r"ground_truths is a Series with keys of its own, like 'ann', but ranks is by position: "
        r"give ground_truths\.to_numpy\(\) .* users=ground_truths\.index to name them"
    )
    for keys in (None, KEYS):
        with pytest.raises(TypeError, match=pattern):
            tl.match(RANKS, truth, users=keys)
    assert tl.match(RANKS, truth.to_numpy(), users=truth.index).users == KEYS
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
    pattern = r"ground_truths is a Series that counts its rows, but ranks has keys, like 3"
    with pytest.raises(TypeError, match=pattern):
        tl.match(dict(zip([1, 2, 3], RANKS, strict=True)), counted)
    table = pandas.DataFrame({"user_id": [1, 2, 3], "item_id": [1, 4, 6], "rank": [1, 1, 1]})
    with pytest.raises(TypeError, match=pattern):
        tl.match(table, counted)


def test_values_of_users_by_key_with_users():
    result = tl.top_k_eval(tl.match(RANKS, TRUTHS, users=KEYS), k=1, metrics="hit")
    assert {k: v["hit@1"] for k, v in result.by({"ann": "A", "bob": "B"}).items()} == {
        "A": 1.0,
        "B": 0.0,
        None: 0.0,
    }
    with pytest.raises(ValueError, match="user 'ann' is in both parts"):
        result + result


def test_item_counts_as_a_series_or_a_table():
    pandas = library("pandas")
    counts = {1: 2, 2: 4}
    found = tl.beyond.average_popularity([[1, 2]], item_counts=pandas.Series(counts))
    assert found.tolist() == [[2.0, 3.0]]
    with pytest.raises(ValueError, match="item_counts: item 1 is in the index of the Series twice"):
        tl.beyond.average_popularity([[1]], item_counts=pandas.Series([2, 3], index=[1, 1]))
    for name in ("pandas", "polars"):
        table = library(name).DataFrame({"item_id": [1, 2], "n": [2, 4]})
        with pytest.raises(TypeError, match=r"item_counts is a table \(columns 'item_id', 'n'\)"):
            tl.beyond.average_popularity([[1]], item_counts=table)
        with pytest.raises(TypeError, match=r"give features=dict\(zip\(table\['item_id'\]"):
            tl.beyond.intra_list_diversity([[1]], features=table)


def test_features_as_a_series():
    pandas = library("pandas")
    ids, rows = features_of(pandas.Series({"a": [1, 0], "b": [0, 1]}))
    assert ids == ["a", "b"] and rows.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="features: item 'a' is in the index of the Series twice"):
        features_of(pandas.Series([[1], [2]], index=["a", "a"]))


def print_of(ranks, truths, **options):
    return tl.match(ranks, truths, **options).fingerprints


def test_a3_fingerprints_do_not_depend_on_order_or_form():
    ranks = [[1, 2], [3, 4], [5, 6]]
    truths = [[1, 7, -3], [4], [9, 2**62]]
    (one,) = print_of(ranks, truths)
    assert one.n_users == 3 and one.varied and one.total > 0
    ragged = tl.Lists([0, 3, 4, 6], [1, 7, -3, 4, 9, 2**62])
    for other in (
        [set(row) for row in truths],
        [row[::-1] for row in truths],
        [row + row for row in truths],  # an id counts once
        [dict.fromkeys(row, 1.0) for row in truths],
        ragged,
        [truths[1], truths[2], truths[0]],
    ):
        assert print_of(ranks, other) == (one,)
    assert print_of([[9], [8], [7]], truths) == (one,)  # whatever was recommended
    for other in ([[1, 7], [4, -3], [9, 2**62]], [[1, 7, -3], [4], [9]], [[4], [4], [4]]):
        assert print_of(ranks, other) != (one,)


def test_a3_fingerprints_of_text_are_the_same_in_every_form():
    pandas, polars = library("pandas"), library("polars")
    truths = {"u": ["é", "b"], "v": ["a" * 20]}
    ranks = {"u": ["b"], "v": ["c"]}
    (one,) = print_of(ranks, truths)
    users, items = ["u", "u", "v"], ["é", "b", "a" * 20]
    table = {"user_id": users, "item_id": items}
    category = pandas.DataFrame(table).astype({"item_id": "category"})
    recs = pandas.DataFrame({"user_id": ["u", "v"], "item_id": ["b", "c"], "rank": [1, 1]})
    grades = {user: dict.fromkeys(row, 1) for user, row in truths.items()}
    for ranked in (ranks, recs):
        for truth in (truths, grades, pandas.DataFrame(table), polars.DataFrame(table), category):
            assert print_of(ranked, truth) == (one,)
    (first,) = print_of([["b"], ["c"]], list(truths.values()))
    assert first.total != one.total  # by position no key is mixed in
    named = print_of([["b"], ["c"]], list(truths.values()), users=["u", "v"])
    assert named == (one,)


def test_a3_fingerprints_are_unseeded_and_of_any_integers():
    # from another process, or another year
    import subprocess
    import sys

    code = "import toplist as tl; print(tl.match([['a']], [{'x', 'y'}]).fingerprints[0].total)"
    found = {subprocess.check_output([sys.executable, "-c", code]) for _ in range(2)}
    assert found == {b"%d\n" % print_of([["b"]], [["y", "x"]])[0].total}
    big = print_of([[1]], [{2**63, -5}])
    assert big == print_of([[2**63]], [[-5, 2**63]]) != print_of([[1]], [{2**63 + 1, -5}])
    assert print_of([[2**63]], [{-5}]) == print_of([[1]], [{-5}])
    assert print_of([[b"a"]], [{b"x"}]) == print_of([[b"b"]], [[b"x"]])


def test_a3_fingerprints_hold_grades():
    ranks = [[1, 2], [3]]
    graded = [{1: 3, 2: 1}, {3: 1}]
    assert print_of(ranks, graded) != print_of(ranks, [{1: 1, 2: 3}, {3: 1}])
    assert print_of(ranks, graded) == print_of(ranks, [{2: 1, 1: 3}, {3: 1}])
    one = print_of([[1], [2]], [{1: 2}, {2: 1}])
    assert one != print_of([[1], [2]], [{1: 1}, {2: 2}])
    assert print_of([[1], [2]], [{1: 1}, {2: 1}]) == print_of([[1], [2]], [1, 2])


@pytest.mark.parametrize("n", [3, 60, 70, 5000])
def test_a3_fingerprints_of_long_truths_and_repeats(n):
    rng = np.random.default_rng(n)
    items = rng.integers(-(2**63), 2**63 - 1, n)
    ranks = [items.tolist(), [1]]
    expected = print_of(ranks, [items, [3, 4]])
    assert print_of(ranks, [np.concatenate([items, items[::2]]), [4, 3]]) == expected
    assert print_of(ranks, [items[1:], [3, 4]]) != expected
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)  # ids that share a slot of the table
    colliding = [t * inverse % 2**64 - 2**63 for t in range(n)]
    assert print_of(ranks, [colliding, [1]]) == print_of(ranks, [colliding[::-1] * 2, [1]])


def test_a3_parts_over_the_same_users():
    part = tl.match(RANKS, TRUTHS)
    with pytest.raises(ValueError, match="both parts have the same ground truths"):
        part + tl.match(RANKS[::-1], TRUTHS)
    assert len(part.merged(part, disjoint=True)) == 6
    other = tl.match(RANKS, [{1}, {4}, {8}])
    both = part + other
    assert both.fingerprints == (*part.fingerprints, *other.fingerprints)
    with pytest.raises(ValueError, match="same ground truths"):
        both + part
    single = tl.match([[1]], [{1}])
    assert len(single + single) == 2  # cannot be told from another user
    assert tl.Hits.from_ranks([1], 2).fingerprints == ()
    assert pickle.loads(pickle.dumps(both)).fingerprints == both.fingerprints


def test_parts_of_other_truths_vary_together():
    """Of two users who chose different items, the truths vary, though each part has but one."""
    parts = [Fingerprint(7, 1, False), Fingerprint(8, 1, False)]
    assert fingerprints.together(parts) == Fingerprint(15, 2, True)
    assert fingerprints.together(parts[:1] * 2) == Fingerprint(14, 2, False)


def test_a3_keyed_parts_differ_by_their_users():
    a, b = (tl.match({user: [1]}, {user: {1}}).fingerprints for user in ("ann", "bob"))
    assert a != b and a[0].varied
    assert tl.match({1: [1]}, {1: {1}}).fingerprints != tl.match({2: [1]}, {2: {1}}).fingerprints
    assert tl.match(RANKS, TRUTHS, users=KEYS).fingerprints == keyed().fingerprints


def test_words_stay_what_they_are():
    """Saved results hold fingerprints that are made of them."""
    from toplist.inputs.id_hashes import hashes_of

    assert hashes_of([17, -1, 2**63]).tolist() == [17, 2**64 - 1, 2**63]
    assert hashes_of(["17", "", "a longer name"]).tolist() == [
        9682208681465241786,
        0,
        14604959174369286923,
    ]
    assert hashes_of([b"17"]) == hashes_of(["b'17'"])


def test_words_of_text_with_a_nul_are_those_of_its_bytes():
    from toplist.inputs.id_hashes import hashes_of

    words = hashes_of(["a", "b\0c", "", "\ud800"])
    for at, text in enumerate(["a", "b\0c", "", "\ud800"]):
        assert hashes_of([text]) == words[at : at + 1]
    assert len(set(words.tolist())) == 4


def in_batches(ranks, truths, *cuts):
    edges = [0, *cuts, len(ranks)]
    return [tl.top_k_eval(ranks[lo:hi], truths[lo:hi], k=2) for lo, hi in itertools.pairwise(edges)]


def test_a3_seeds_cut_into_other_batches_are_the_same_users():
    truths = np.arange(200).reshape(100, 2)
    ranks = np.arange(100, 300).reshape(100, 2)
    first, second = in_batches(ranks, truths, 50), in_batches(ranks, truths, 30, 60)
    assert tl.merge(first).n_users == 100
    for parts in ([*first, *second], [tl.merge(first), tl.merge(second)]):
        with pytest.raises(ValueError, match=r"the same ground truths \(100 users\)"):
            tl.merge(parts)
        with pytest.raises(ValueError, match=r"the same ground truths \(100 users\)"):
            sum(parts)
        assert tl.merge(parts, disjoint=True).n_users == 200
    assert tl.merge([*first, *second[:-1]]).n_users == 160  # not all of them: nothing is known


def test_a3_single_users_may_choose_the_same_items_in_turn():
    parts = [tl.top_k_eval([[1, 2]], [{item}], k=2) for item in (1, 2, 1, 2)]
    assert sum(parts).n_users == 4


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
        tl.Lists(**arrays)


@pytest.mark.parametrize("padding", [-1, 7, 1000])
def test_padding_in_a_set_beside_a_table(padding):
    """A set has no end: whether padding came first in it was a matter of its hash."""
    pl = library("polars")
    recs = pl.DataFrame({"user_id": [5] * 3, "item_id": [1, 2, padding], "rank": [1, 2, 3]})
    result = tl.top_k_eval(recs, {5: {2, padding, 9}}, 2, metrics="recall", padding=padding)
    assert result["recall@2"] == 0.5
