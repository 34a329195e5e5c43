"""Fingerprints of ground truths: the same for the same truths, in every form and process."""

import itertools
import pickle

import numpy as np
import pytest
from collisions import CHOSEN
from doors import match_by_words
from shared_inputs import csv_of, fresh, library

import toplist as tl
from toplist.inputs.id_hashes import hashes_of
from toplist.matching import fingerprints
from toplist.matching.fingerprints import Fingerprint

RANKS, TRUTHS, KEYS = [[1, 2], [3, 4], [5, 6]], [{1}, {4}, {9}], ["ann", "bob", "eve"]


def print_of(ranks, truths, **options):
    return match_by_words(ranks, truths, **options).about.fingerprints


def test_fingerprints_do_not_depend_on_order_or_form():
    ranks = [[1, 2], [3, 4], [5, 6]]
    truths = [[1, 7, -3], [4], [9, 2**62]]
    (one,) = print_of(ranks, truths)
    assert one.n_users == 3 and one.varied and one.total > 0
    ragged = tl.inputs.Lists([0, 3, 4, 6], [1, 7, -3, 4, 9, 2**62])
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


def test_fingerprints_of_text_are_the_same_in_every_form():
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


def test_fingerprints_are_unseeded_and_of_any_integers():
    # from another process, or another year
    code = (
        "import toplist as tl; print(tl.match([['a']], [{'x', 'y'}]).about.fingerprints[0].total)"
    )
    expected = [str(print_of([["b"]], [["y", "x"]])[0].total)]
    assert fresh(code) == fresh(code) == expected
    top = 2**63 - 1
    big = print_of([[1]], [{top, -5}])
    assert big == print_of([[top]], [[-5, top]]) != print_of([[1]], [{top - 1, -5}])
    assert print_of([[top]], [{-5}]) == print_of([[1]], [{-5}])
    assert print_of([[b"a"]], [{b"x"}]) == print_of([[b"b"]], [[b"x"]])


def test_fingerprints_hold_grades():
    ranks = [[1, 2], [3]]
    graded = [{1: 3, 2: 1}, {3: 1}]
    assert print_of(ranks, graded) != print_of(ranks, [{1: 1, 2: 3}, {3: 1}])
    assert print_of(ranks, graded) == print_of(ranks, [{2: 1, 1: 3}, {3: 1}])
    one = print_of([[1], [2]], [{1: 2}, {2: 1}])
    assert one != print_of([[1], [2]], [{1: 1}, {2: 2}])
    assert print_of([[1], [2]], [{1: 1}, {2: 1}]) == print_of([[1], [2]], [1, 2])


@pytest.mark.parametrize("n", [3, 60, 70, 5000])
def test_fingerprints_of_long_truths_and_repeats(n):
    rng = np.random.default_rng(n)
    items = rng.integers(-(2**63), 2**63 - 1, n)
    ranks = [items.tolist(), [1]]
    expected = print_of(ranks, [items, [3, 4]])
    assert print_of(ranks, [np.concatenate([items, items[::2]]), [4, 3]]) == expected
    assert print_of(ranks, [items[1:], [3, 4]]) != expected
    colliding = CHOSEN[:n].tolist()
    assert print_of(ranks, [colliding, [1]]) == print_of(ranks, [colliding[::-1] * 2, [1]])


def test_parts_over_the_same_users():
    part = tl.match(RANKS, TRUTHS)
    with pytest.raises(ValueError, match="both parts have the same ground truths"):
        part + tl.match(RANKS[::-1], TRUTHS)
    assert len(part.merged(part, disjoint=True)) == 6
    other = tl.match(RANKS, [{1}, {4}, {8}])
    both = part + other
    assert both.about.fingerprints == (*part.about.fingerprints, *other.about.fingerprints)
    with pytest.raises(ValueError, match="same ground truths"):
        both + part
    single = tl.match([[1]], [{1}])
    assert len(single + single) == 2  # cannot be told from another user
    assert tl.Hits.from_ranks([1], 2).about.fingerprints == ()
    assert pickle.loads(pickle.dumps(both)).about.fingerprints == both.about.fingerprints


def test_parts_of_other_truths_vary_together():
    """Of two users who chose different items, the truths vary, though each part has but one."""
    parts = [Fingerprint(7, 1, False), Fingerprint(8, 1, False)]
    assert fingerprints.together(parts) == Fingerprint(15, 2, True)
    assert fingerprints.together(parts[:1] * 2) == Fingerprint(14, 2, False)


def test_keyed_parts_differ_by_their_users():
    a, b = (tl.match({user: [1]}, {user: {1}}).about.fingerprints for user in ("ann", "bob"))
    assert a != b and a[0].varied
    assert print_of({1: [1]}, {1: {1}}) != print_of({2: [1]}, {2: {1}})
    keyed = (dict(zip(KEYS, side, strict=True)) for side in (RANKS, TRUTHS))
    assert print_of(RANKS, TRUTHS, users=KEYS) == print_of(*keyed)


def test_words_stay_what_they_are():
    """Saved results hold fingerprints that are made of them."""
    assert hashes_of([17, -1, 2**63]).tolist() == [17, 2**64 - 1, 2**63]
    texts = [9682208681465241786, 0, 14604959174369286923]
    assert hashes_of(["17", "", "a longer name"]).tolist() == texts
    assert hashes_of([b"17"]) == hashes_of(["b'17'"])


def test_words_of_text_with_a_nul_are_those_of_its_bytes():
    words = hashes_of(["a", "b\0c", "", "\ud800"])
    for at, text in enumerate(["a", "b\0c", "", "\ud800"]):
        assert hashes_of([text]) == words[at : at + 1]
    assert len(set(words.tolist())) == 4


def in_batches(ranks, truths, *cuts):
    edges = [0, *cuts, len(ranks)]
    return [tl.top_k_eval(ranks[lo:hi], truths[lo:hi], k=2) for lo, hi in itertools.pairwise(edges)]


def test_seeds_cut_into_other_batches_are_the_same_users():
    truths = np.arange(200).reshape(100, 2)
    ranks = np.arange(100, 300).reshape(100, 2)
    first, second = in_batches(ranks, truths, 50), in_batches(ranks, truths, 30, 60)
    assert tl.merge(first).n_users == 100
    for parts in ([*first, *second], [tl.merge(first), tl.merge(second)]):
        for add in (tl.merge, sum):
            with pytest.raises(ValueError, match=r"the same ground truths \(100 users\)"):
                add(parts)
        assert tl.merge(parts, disjoint=True).n_users == 200
    assert tl.merge([*first, *second[:-1]]).n_users == 160  # not all of them: nothing is known


def test_single_users_may_choose_the_same_items_in_turn():
    parts = [tl.top_k_eval([[1, 2]], [{item}], k=2) for item in (1, 2, 1, 2)]
    assert sum(parts).n_users == 4


def test_fingerprints_of_colliding_ids_do_not_depend_on_their_order():
    truths = CHOSEN.reshape(-1, 100)
    whole, parts = tl.match(truths, truths), tl.match(truths[:, ::-1].copy(), truths[:, ::-1])
    single = sum(match_by_words(row, row).about.fingerprints[0].total for row in truths) % 2**64
    found = whole.about.fingerprints
    assert found == parts.about.fingerprints and found[0].total == single


def test_two_streams_over_the_same_truth_do_not_merge(tmp_path):
    """Results of files have no users, but know their ground truths."""
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "ann,a,1", "bob,b,1")
    other = csv_of(tmp_path / "other.csv", "user_id,item_id,rank", "ann,b,1", "bob,b,1")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "ann,a", "bob,c")
    one, two = (tl.top_k_eval(path, truth, k=1) for path in (recs, other))
    with pytest.raises(ValueError, match="the same users"):
        one + two
    assert tl.merge([one, two], disjoint=True).n_users == 4
    assert "merged by position" not in repr(one)
