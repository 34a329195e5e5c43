"""Lists by position, of one user and by key: every form, and every refusal in words."""

import uuid
from collections import deque

import numpy as np
import pytest
from shared_inputs import DOORS, evaluate, read_only, rows

import toplist as tl
from toplist import Hits, match
from toplist.inputs import Lists

RANKS = [[5, 7, 8], [4, 6, 2]]
TRUTHS = [[3, 5, 7], [2, 9]]
# Whatever is said of random lists in the tests of relations is left out here.
ODD_RANKS = {
    "lists": RANKS,
    "mixed rows": [(5, 7, 8), np.array([4, 6, 2])],
    "2-D array, big-endian": np.array(RANKS, ">i8"),
    "numpy scalars": [list(map(np.int16, row)) for row in RANKS],
}
ODD_TRUTHS = {
    "mixed rows": [{3, 5, 7}, {2: 1.0, 9: 1.0}],
    "keys": [dict.fromkeys(row).keys() for row in TRUTHS],
    "repeats count once": [[3, 5, 3, 7, 7], [2, 2, 9]],
    "read-only": list(map(read_only, map(np.array, TRUTHS))),
}


@pytest.mark.parametrize("truths", ODD_TRUTHS.values(), ids=ODD_TRUTHS)
@pytest.mark.parametrize("ranks", ODD_RANKS.values(), ids=ODD_RANKS)
def test_many_by_position(ranks, truths):
    hits = match(ranks, truths)
    assert rows(hits) == [([1, 2], 3, 3), ([3], 2, 3)]
    assert (hits.users, hits.k) == (None, 3)


@pytest.mark.parametrize("ranks", ODD_RANKS.values(), ids=ODD_RANKS)
def test_many_with_one_bare_id_each(ranks):
    assert rows(match(ranks, np.array([7, 2], object))) == [([2], 1, 3), ([3], 1, 3)]


def test_ranges_are_lists():
    found = match([range(3), range(9, 6, -1)], [range(2, 4), {8}])
    assert rows(found) == [([3], 2, 3), ([2], 1, 3)]


@pytest.mark.parametrize(
    "ranks",
    [[5, 7, 8], (5, 7, 8), np.array([5, 7, 8]), np.array([5, 7, 8], object), range(5, 10, 2)],
    ids=lambda ranks: type(ranks).__name__,
)
@pytest.mark.parametrize(
    "truth",
    [(7, 3), {7, 3}, frozenset([7, 3]), {7: 1, 3: 1}, np.array([7, 3]), range(3, 8, 4)],
    ids=lambda truth: type(truth).__name__,
)
def test_one_user(ranks, truth):
    assert rows(match(ranks, truth)) == [([2], 2, 3)]
    assert tl.mrr(ranks, truth, 2).tolist() == [0.0, 0.5]
    by_key = match({"ann": ranks}, {"ann": truth})
    assert rows(by_key) == [([2], 2, 3)] and list(by_key.users) == ["ann"]


@pytest.mark.parametrize("bare", ["bb", np.str_("bb")])
def test_a_string_or_bytes_is_one_id(bare):
    assert rows(match([b"a", b"bb"], b"bb")) == [([2], 1, 2)]
    assert rows(match(["a", "bb", "b"], bare)) == [([2], 1, 3)]
    assert rows(match([["a", "bb"], ["bb"]], [bare, bare])) == [([2], 1, 2), ([1], 1, 1)]


def test_one_user_and_one_row_differ_in_shape():
    assert tl.hit([5, 7], {7}).shape == tl.hit([5, 7], np.uint8(7)).shape == (2,)
    assert tl.hit([[5, 7]], [{7}]).shape == (1, 2)
    assert evaluate(RANKS, TRUTHS).users == range(2)
    assert evaluate([5, 7], {7})["mrr@2"] == evaluate([[5, 7]], [{7}])["mrr@2"] == 0.5


@pytest.mark.parametrize("truth", [{1, 2}, [1, 2], (1,), 5, "a", {1: 2.0}, np.array([1, 2])])
@pytest.mark.parametrize("ranks", [[], (), np.array([])], ids=["list", "tuple", "array"])
def test_nothing_ranked_for_the_truth_of_one(ranks, truth):
    assert tl.hit(ranks, truth, 3).tolist() == [0.0, 0.0, 0.0]
    assert tl.hit(ranks, truth).shape == (0,)


def test_rows_follow_the_truth():
    ranks = {"zoe": [1, 2], "extra": [3], "ann": (4, 5)}
    hits = match(ranks, {"ann": {5}, "bob": 1, "zoe": [1, 9]})
    assert list(hits.users) == ["ann", "bob", "zoe"]
    assert rows(hits) == [([2], 1, 2), ([], 1, 0), ([1], 2, 2)]
    assert hits.about.n_extra == 1


def test_keys_are_any_hashables():
    users = [1, "1", (1, 2), None, uuid.UUID(int=1)]
    hits = match({user: [7] for user in users}, {user: {7} for user in users[::-1]})
    assert list(hits.users) == users[::-1]


def generator():
    yield from [1, 2]


WRONG_FORMS = [
    ({5, 7}, [5], "ranks is a set.*swapped"),
    (frozenset([5]), [5], "ranks is a frozenset.*swapped"),
    ({5: 1}.keys(), [5], "ranks is a dict_keys"),
    ("abc", ["a"], "ranks is a str"),
    (b"abc", [b"a"], "ranks is a bytes"),
    (5, [5], "ranks is a int"),
    (deque([5]), [5], "ranks is a deque"),
    (None, [5], "ranks is missing"),
    ([5], None, "ground_truths is missing"),
    (np.array(5), [5], "ranks is an array of 0 dimensions"),
    (np.ones((1, 1, 1), int), [5], "ranks is an array of 3 dimensions"),
    ([{5, 7}], [[5]], r"user 0 has \{5, 7\}.*swapped"),
    ([[5], {7}], [[5], [7]], r"user 1 has \{7\}.*swapped"),
    ([{5: 1}], [[5]], r"user 0 has \{5: 1\}.*swapped"),
    ([["ab"], "ab"], [["ab"], ["ab"]], "user 1 has 'ab' where a container"),
    (["ab", "cd"], [["ab"], ["cd"]], "ranks is one user's list of ids, ground_truths holds a list"),
    ([[5], 7], [[5], [7]], "user 1 has 7 where a container"),
    ([5, [7]], [5], r"\[7\] is a list, never an id"),
    ([np.array([5, 7]), np.array([[5], [7]])], [{5}, {7}], "user 1"),
    ([np.array([5, 7]), np.array(5)], [{5}, {7}], "user 1"),
    ([[5]], {5}, "ranks holds many users, ground_truths is one set"),
    ([[5]], "abc", "ranks holds many users, ground_truths is one str"),
    ([[5]], 5, "ranks holds many users, ground_truths is one int"),
    ([[5], [7]], [{5}, 7], r"mixes containers and bare ids: user 0 has \{5\}, user 1 has 7"),
    ([[5], [7]], [5, {7}], r"mixes containers and bare ids: user 0 has 5, user 1 has \{7\}"),
    ([5, 7], [[5], [7]], "ranks is one user's list of ids, ground_truths holds a list"),
    ([5, 7], np.array([[5, 7]]), "ground_truths"),
    ([5, 7], Lists([0, 1], [5]), "ground_truths"),
    ([[5]], np.array(5), "ground_truths"),
    ([[5]], np.ones((1, 1, 1), int), "ground_truths"),
    ([5], deque([5]), "ground_truths: deque"),
    ({"ann": [5]}, [[5]], "ranks is keyed by user, ground_truths is not"),
    ({"ann": [5]}, {5}, "ranks is keyed by user, ground_truths is not"),
    ([[5]], {"ann": [5]}, "ground_truths is keyed by user, ranks is not"),
    ([5, 7], {"ann": {5}}, "ground_truths"),
    ({"ann": [1], "bob": {5}}, {"ann": [5], "bob": [5]}, "user 'bob'.* is a set.*swapped"),
    ({"ann": {5: 1}}, {"ann": [5]}, "ranks holds whole numbers by item, like grades.*swapped"),
    ({"ann": "x"}, {"ann": "x"}, "user 'ann'.* is a str"),
    ({"ann": 5}, {"ann": 5}, "user 'ann'.* is a int"),
    *((once, [1], "ranks is a .*read once only: make it a list") for once in (zip([1]), iter([1]))),
    *((once(), [1], "generator") for once in (generator, lambda: [generator()])),
    *(([1], once(), "generator") for once in (generator, lambda: [generator()])),
    *(([[1]], once(), "generator") for once in (generator, lambda: [generator()])),
    ([[1], generator()], [{1}, {1}], "generator"),
    ([generator(), generator()], [generator(), generator()], "generator"),
    ({"ann": generator()}, {"ann": [1]}, "generator"),
    ({"ann": [1]}, {"ann": generator()}, "generator"),
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("ranks", "truths", "message"), WRONG_FORMS)
def test_forms_that_are_refused(door, ranks, truths, message):
    with pytest.raises(TypeError, match=message):
        door(ranks, truths)


@pytest.mark.parametrize("truths", [[{1}], [{1}] * 3, np.array([1]), Lists([0], [])])
def test_different_lengths(truths):
    for ranks in ([[1], [2]], []) if len(truths) == 3 else ([[1], [2]],):
        words = f"{len(ranks)} ranked lists but {len(truths)} ground truths"
        with pytest.raises(ValueError, match=words):
            match(ranks, truths)


def test_arrays_stay_writable():
    ranks, truths, offsets = np.array(RANKS), np.array([5, 4]), np.array([0, 3, 6])
    match(ranks, truths)
    lists = Lists(offsets, ranks.reshape(-1))
    match(lists, truths)
    hit_ranks = np.array([1, 2])
    Hits(np.array([0, 2]), hit_ranks, [2], [2])
    assert ranks.flags.writeable and truths.flags.writeable
    assert offsets.flags.writeable and hit_ranks.flags.writeable
    hit_ranks[0] = ranks[0, 0] = truths[0] = offsets[0] = 0
