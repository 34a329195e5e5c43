"""The door: every accepted form of ranked lists and ground truths, and every refusal in words."""

import copy
import math
import re
import uuid
from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import toplist as tl
from toplist import CONVENTIONS, DIVISORS, METRICS, Hits, Lists, match, top_k_eval

NAN = float("nan")


def rows(hits):
    """Return (ranks of the hits, R, n) of each user."""
    parts = [hits.ranks[start:end].tolist() for start, end in pairwise(hits.offsets.tolist())]
    return list(zip(parts, hits.n_relevant.tolist(), hits.n_listed.tolist(), strict=True))


def evaluate(ranks, truths, **options):
    return top_k_eval(ranks, truths, k=2, metrics=["mrr"], **options)


# A function for each way in: a refusal must not depend on which one is taken.
DOORS = [match, tl.ndcg, evaluate]


def read_only(array):
    array.flags.writeable = False
    return array


# Forms: many users by position

RANKS = [[5, 7, 8], [4, 6, 2]]
FORMS_OF_RANKS = {
    "lists": RANKS,
    "tuples": tuple(map(tuple, RANKS)),
    "mixed rows": [(5, 7, 8), np.array([4, 6, 2])],
    "arrays": [np.array(row, np.int32) for row in RANKS],
    "2-D array": np.array(RANKS),
    "2-D array of uint8": np.array(RANKS, np.uint8),
    "2-D array of uint64": np.array(RANKS, np.uint64),
    "2-D array of objects": np.array(RANKS, object),
    "2-D array, big-endian": np.array(RANKS, ">i8"),
    "2-D array by columns": np.asfortranarray(RANKS),
    "every other column": np.array([[5, 0, 7, 0, 8], [4, 0, 6, 0, 2]])[:, ::2],
    "backwards": np.array([[8, 7, 5], [2, 6, 4]])[:, ::-1],
    "read-only": read_only(np.array(RANKS)),
    "Lists": Lists([0, 3, 6], [5, 7, 8, 4, 6, 2]),
    "numpy scalars": [list(map(np.int16, row)) for row in RANKS],
}
TRUTHS = [[3, 5, 7], [2, 9]]
FORMS_OF_TRUTHS = {
    "lists": TRUTHS,
    "tuples": tuple(map(tuple, TRUTHS)),
    "sets": list(map(set, TRUTHS)),
    "frozensets": list(map(frozenset, TRUTHS)),
    "dicts": [dict.fromkeys(row, 1) for row in TRUTHS],
    "arrays": list(map(np.array, TRUTHS)),
    "mixed rows": [{3, 5, 7}, {2: 1.0, 9: 1.0}],
    "keys": [dict.fromkeys(row).keys() for row in TRUTHS],
    "Lists": Lists([0, 3, 5], [3, 5, 7, 2, 9]),
    "repeats count once": [[3, 5, 3, 7, 7], [2, 2, 9]],
    "read-only": list(map(read_only, map(np.array, TRUTHS))),
}


@pytest.mark.parametrize("truths", FORMS_OF_TRUTHS.values(), ids=FORMS_OF_TRUTHS)
@pytest.mark.parametrize("ranks", FORMS_OF_RANKS.values(), ids=FORMS_OF_RANKS)
def test_many_by_position(ranks, truths):
    hits = match(ranks, truths)
    assert rows(hits) == [([1, 2], 3, 3), ([3], 2, 3)]
    assert hits.users is None
    assert hits.k == 3


@pytest.mark.parametrize("truths", [[7, 2], (7, 2), np.array([7, 2]), np.array([7, 2], object)])
@pytest.mark.parametrize("ranks", FORMS_OF_RANKS.values(), ids=FORMS_OF_RANKS)
def test_many_with_one_bare_id_each(ranks, truths):
    assert rows(match(ranks, truths)) == [([2], 1, 3), ([3], 1, 3)]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, object])
def test_truth_as_a_2d_array(dtype):
    truths = np.array([[3, 5, 7], [2, 9, 4]], dtype)
    assert rows(match(RANKS, truths)) == [([1, 2], 3, 3), ([1, 3], 3, 3)]


def test_ranges_are_lists():
    assert rows(match([range(3), range(9, 6, -1)], [range(2, 4), {8}])) == [
        ([3], 2, 3),
        ([2], 1, 3),
    ]


def test_lists_of_any_length():
    found = match([[], [1], [2, 1, 3, 5]], [{1}, [], {5, 1, 6}])
    assert rows(found) == [([], 1, 0), ([], 0, 1), ([2, 4], 3, 4)]


def test_a_position_is_a_row_in_every_result():
    assert tl.recall(RANKS, TRUTHS).shape == (2, 3)
    assert evaluate(RANKS, TRUTHS).users == range(2)


# Forms: one user


@pytest.mark.parametrize(
    "ranks",
    [[5, 7, 8], (5, 7, 8), np.array([5, 7, 8]), np.array([5, 7, 8], object), range(5, 10, 2)],
    ids=lambda ranks: type(ranks).__name__,
)
@pytest.mark.parametrize(
    "truth",
    [[7, 3], (7, 3), {7, 3}, frozenset([7, 3]), {7: 1, 3: 1}, np.array([7, 3]), range(3, 8, 4)],
    ids=lambda truth: type(truth).__name__,
)
def test_one_user(ranks, truth):
    assert rows(match(ranks, truth)) == [([2], 2, 3)]
    assert tl.mrr(ranks, truth, 2).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("bare", [7, np.int64(7), np.uint8(7)])
def test_one_user_with_one_bare_id(bare):
    assert rows(match([5, 7, 8], bare)) == [([2], 1, 3)]


@pytest.mark.parametrize("bare", ["bb", np.str_("bb")])
def test_a_string_is_one_id(bare):
    assert rows(match(["a", "bb", "b"], bare)) == [([2], 1, 3)]
    assert rows(match([["a", "bb"], ["bb"]], [bare, bare])) == [([2], 1, 2), ([1], 1, 1)]


def test_bytes_are_one_id():
    assert rows(match([b"a", b"bb"], b"bb")) == [([2], 1, 2)]


def test_one_user_and_one_row_differ_in_shape():
    assert tl.hit([5, 7], {7}).shape == (2,)
    assert tl.hit([[5, 7]], [{7}]).shape == (1, 2)
    assert evaluate([5, 7], {7})["mrr@2"] == evaluate([[5, 7]], [{7}])["mrr@2"] == 0.5


# Forms: empty


@pytest.mark.parametrize("truth", [{1, 2}, [1, 2], (1,), 5, "a", {1: 2.0}, np.array([1, 2])])
@pytest.mark.parametrize("ranks", [[], (), np.array([])], ids=["list", "tuple", "array"])
def test_nothing_ranked_for_the_truth_of_one(ranks, truth):
    assert tl.hit(ranks, truth, 3).tolist() == [0.0, 0.0, 0.0]
    assert tl.hit(ranks, truth).shape == (0,)


@pytest.mark.parametrize("truths", [[], (), {}, Lists([0], [])], ids=lambda one: type(one).__name__)
def test_no_user_at_all(truths):
    ranks = {} if isinstance(truths, dict) else []
    assert tl.hit(ranks, truths, 3).shape == (0, 3)
    assert tl.hit(ranks, truths).shape == (0, 0)
    assert len(match(ranks, truths)) == 0


@pytest.mark.parametrize("ranks", [np.empty((0, 4), np.int64), Lists([0], [])])
def test_no_row_at_all(ranks):
    assert tl.hit(ranks, [], 3).shape == (0, 3)


@pytest.mark.parametrize("ranks", [[[], []], np.empty((2, 0)), Lists([0, 0, 0], [])])
def test_only_empty_lists(ranks):
    assert rows(match(ranks, [{1}, {2}])) == [([], 1, 0), ([], 1, 0)]
    assert match(ranks, [{1}, {2}]).k == 0
    assert tl.hit(ranks, [{1}, {2}], 2).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_no_lists_for_the_truths_of_two():
    with pytest.raises(ValueError, match=r"0 ranked lists but 2 ground truths"):
        match([], [{1}, {2}])
    with pytest.raises(ValueError, match=r"0 ranked lists but 2 ground truths"):
        match([], np.array([[1], [2]]))


def test_empty_truths_of_any_ids():
    assert rows(match([["a"], ["b"]], [set(), []])) == [([], 0, 1), ([], 0, 1)]
    assert rows(match(["a"], set())) == [([], 0, 1)]


# Forms: by key


def test_rows_follow_the_truth():
    ranks = {"zoe": [1, 2], "extra": [3], "ann": (4, 5)}
    hits = match(ranks, {"ann": {5}, "bob": {1}, "zoe": [1, 9]})
    assert list(hits.users) == ["ann", "bob", "zoe"]
    assert rows(hits) == [([2], 1, 2), ([], 1, 0), ([1], 2, 2)]
    assert hits.n_extra == 1


@pytest.mark.parametrize(
    "truth", [{2}, [2], (2,), {2: 1}, np.array([2]), frozenset([2]), 2], ids=repr
)
@pytest.mark.parametrize("ranked", [[1, 2], (1, 2), range(1, 3), np.array([1, 2])], ids=repr)
def test_forms_by_key(ranked, truth):
    hits = match({"ann": ranked}, {"ann": truth})
    assert rows(hits) == [([2], 1, 2)]
    assert list(hits.users) == ["ann"]


def test_one_key_may_hold_a_set_another_a_bare_id():
    truths = {"ann": {"x", "y"}, "bob": "x"}
    assert rows(match({"ann": ["x"], "bob": ["x"]}, truths)) == [([1], 2, 1), ([1], 1, 1)]


def test_keys_are_any_hashables():
    users = [1, "1", (1, 2), None, uuid.UUID(int=1)]
    hits = match({user: [7] for user in users}, {user: {7} for user in users[::-1]})
    assert list(hits.users) == users[::-1]


def test_no_lists_by_key():
    hits = match({}, {"ann": {1}})
    assert rows(hits) == [([], 1, 0)]
    assert hits.n_extra == 0
    assert match({"ann": [1]}, {}).n_extra == 1


def test_no_user_in_common():
    with pytest.raises(ValueError, match=r"no user is in both: .*'ann'.*'bob'"):
        match({"ann": [1]}, {"bob": {1}})
    with pytest.raises(ValueError, match=r"no user is in both: ranks has 1, .* has '1'"):
        match({1: [1]}, {"1": {1}})


# Forms that are refused

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
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("ranks", "truths", "message"), WRONG_FORMS)
def test_forms_that_are_refused(door, ranks, truths, message):
    with pytest.raises(TypeError, match=message):
        door(ranks, truths)


def generator():
    yield from [1, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda: (generator(), [1]),
        lambda: ([1], generator()),
        lambda: ([generator()], [1]),
        lambda: ([[1], generator()], [{1}, {1}]),
        lambda: ([[1]], [generator()]),
        lambda: ([[1]], generator()),
        lambda: ([generator(), generator()], [generator(), generator()]),
        lambda: ({"ann": generator()}, {"ann": [1]}),
        lambda: ({"ann": [1]}, {"ann": generator()}),
    ],
)
def test_a_generator_anywhere(make):
    with pytest.raises(TypeError, match="generator"):
        match(*make())


@pytest.mark.parametrize("ranks", [zip([1]), map(int, "1"), iter([1])])
def test_other_iterators(ranks):
    with pytest.raises(TypeError, match=r"ranks is a .*read once only: make it a list"):
        match(ranks, [1])


@pytest.mark.parametrize("truths", [[{1}], [{1}] * 3, np.array([1]), Lists([0], [])])
def test_different_lengths(truths):
    with pytest.raises(ValueError, match=rf"2 ranked lists but {len(truths)} ground truths"):
        match([[1], [2]], truths)


# Ids that are refused

NEVER_IDS = [1.0, 1.5, NAN, math.inf, True, False, None, 1j, np.True_, np.float32(3)]


@pytest.mark.parametrize("bad", NEVER_IDS, ids=repr)
@pytest.mark.parametrize("good", [5, "a"], ids=["integers", "strings"])
def test_never_an_id(bad, good):
    words = f" is a {type(bad).__name__}, never an id"
    ordered = [good, bad], (good, bad), np.array([good, bad], object)
    for ranks in ([good, bad], *([row] for row in ordered)):
        with pytest.raises(TypeError, match=f"ranks: .*{words}"):
            match(ranks, [good])
    for truth in (*ordered, {good, bad}, frozenset([good, bad]), {good: 1, bad: 1}):
        with pytest.raises(TypeError, match=f"ground_truths: .*{words}"):
            match([good], truth)
        with pytest.raises(TypeError, match=f"ground_truths: .*{words}"):
            match([[good]], [truth])


@pytest.mark.parametrize("bad", NEVER_IDS, ids=repr)
def test_never_an_id_by_key_or_bare(bad):
    with pytest.raises(TypeError, match=r"ranks: .* never an id"):
        match({"ann": [5, bad]}, {"ann": [5]})
    with pytest.raises(TypeError, match=r"ground_truths: .* never an id"):
        match({"ann": [5]}, {"ann": bad})
    with pytest.raises(TypeError, match=r"ground_truths: .* never an id"):
        match([[5], [5]], [5, bad])


@pytest.mark.parametrize("bad", [2.0, NAN, None], ids=repr)
def test_one_bare_id_that_is_none(bad):
    message = "ground_truths is missing" if bad is None else "never an id"
    with pytest.raises(TypeError, match=message):
        match([1, 2], bad)


def test_the_example_and_the_way_out_are_named():
    with pytest.raises(TypeError, match=r"3\.0 is a float.*scores.top_k.*int\(id\)"):
        match([[3.0]], [[3.0]])


@pytest.mark.parametrize("door", DOORS)
def test_a_float_array_of_ranks_is_scores(door):
    for ranks, truths in ((np.array([[0.1, 0.9]]), [[1]]), (np.array([0.1, 0.9]), [1])):
        with pytest.raises(TypeError, match=r"ranks is an array of float64.*scores\.top_k"):
            door(ranks, truths)


def test_a_bool_array_of_ranks():
    with pytest.raises(TypeError, match="ranks is an array of bool"):
        match(np.array([[True, False]]), [[1]])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("dtype", [bool, np.float64, np.float32])
def test_a_matrix_of_truths_enters_elsewhere(door, dtype):
    with pytest.raises(TypeError, match=rf"{np.dtype(dtype)}.*Lists\.from_matrix"):
        door([[0, 2]], np.array([[1, 0, 1]], dtype))
    assert rows(match([[0, 2]], Lists.from_matrix(np.array([[1, 0, 1]], dtype)))) == [
        ([1, 2], 2, 2)
    ]


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "c16", "V4"])
def test_arrays_of_other_things(dtype):
    with pytest.raises(TypeError, match="ranks is an array of"):
        match(np.zeros((1, 1), dtype), [[1]])


def test_lists_of_floats():
    with pytest.raises(TypeError, match="Lists: items are float64"):
        match(Lists([0, 1], [0.5]), [[1]])


# Ids of two kinds

TWO_KINDS = [(1, "1"), ("1", 1), (b"1", "1"), (1, uuid.UUID(int=1)), (1, Fraction(1))]


@pytest.mark.parametrize(("one", "other"), TWO_KINDS)
def test_two_kinds_of_ids(one, other):
    for ranks, truths in (([[one]], [{other}]), ([[one, other]], [{one}]), ([one], [one, other])):
        with pytest.raises(TypeError, match="two kinds") as caught:
            match(ranks, truths)
        assert repr(one) in str(caught.value)
        assert repr(other) in str(caught.value)
        assert "[str(i) for i in ids]" in str(caught.value)


def test_two_kinds_in_two_arrays():
    with pytest.raises(TypeError, match="two kinds, '1' in ranks and 1 in ground_truths"):
        match(np.array([["1"]]), np.array([[1]]))


def test_what_is_no_kind_of_its_own():
    assert rows(match([["a", "b"]], [{np.str_("b")}])) == [([2], 1, 2)]
    assert rows(match([[3, 2**63]], [np.array([3])])) == [([1], 1, 2)]


# Only the first k ids count


@pytest.mark.parametrize("below", [None, 2.5, True, "x", 1, [1]], ids=repr)
def test_what_stands_below_k_is_not_read(below):
    ranks = [[1, 2, below, 3]]
    assert rows(match(ranks, [{2, 3}], 2)) == [([2], 2, 2)]
    assert tl.hit(ranks, [{2, 3}], 2).tolist() == [[0.0, 1.0]]
    assert evaluate(ranks, [{2, 3}])["mrr@2"] == 0.5


def test_a_repeat_below_k_is_not_read():
    for ranks in ([[1, 2, 1]], np.array([[1, 2, 1]]), Lists([0, 3], [1, 2, 1]), {0: [1, 2, 1]}):
        truths = {0: [1]} if isinstance(ranks, dict) else [[1]]
        assert rows(match(ranks, truths, 2)) == [([1], 1, 2)]
        with pytest.raises(ValueError, match="item 1 at ranks 1 and 3"):
            match(ranks, truths, 3)


def test_k_may_exceed_every_list():
    hits = match([[1, 2], [3]], [{2}, {3}], 5)
    assert (hits.k, rows(hits)) == (5, [([2], 1, 2), ([1], 1, 1)])
    assert tl.precision(hits)[:, 4].tolist() == [0.2, 0.2]


# Exact comparison

LARGE = 2**53


@pytest.mark.parametrize(
    ("ranked", "truth"),
    [
        ([LARGE, LARGE + 1], [LARGE + 1]),
        ([-(2**63), 2**63 - 1], [2**63 - 1]),
        ([0, 2**63], [2**63]),
        ([-1, 2**64 - 1], [2**64 - 1]),
        ([-(2**63), 2**63], [2**63]),
        (np.array([0, 2**64 - 1], np.uint64), [2**64 - 1]),
        (np.array([LARGE, LARGE + 1], np.uint64), np.array([LARGE + 1])),
        (["tea", "tea "], ["tea "]),
        (["\u00e9", "e\u0301"], ["e\u0301"]),
        (["a", "A"], ["A"]),
    ],
)
def test_ids_are_compared_exactly(ranked, truth):
    assert rows(match([ranked], [truth])) == [([2], 1, 2)]
    assert rows(match(ranked, truth)) == [([2], 1, 2)]


@pytest.mark.parametrize("dtype", [np.uint64, ">u8", object])
def test_large_unsigned_ids_are_not_negative_ones(dtype):
    ranks = np.array([[2**64 - 1, 2**63]], dtype)
    assert rows(match(ranks, np.array([[-1, -(2**63)]]))) == [([], 2, 2)]
    assert rows(match(ranks, [[-1, 2**63]])) == [([2], 2, 2)]


def test_a_large_unsigned_id_is_named_as_it_is():
    with pytest.raises(ValueError, match=f"item {2**64 - 1} at ranks 1 and 2"):
        match(np.array([[2**64 - 1, 2**64 - 1]], np.uint64), [[1]])


def test_other_hashables():
    a, b = uuid.UUID(int=1), uuid.UUID(int=2)
    assert rows(match([[a, b]], [{uuid.UUID(int=2)}])) == [([2], 1, 2)]


def test_strings_in_arrays_of_any_width():
    for dtype in ("U3", "U9", object):
        ranks = np.array([["a", "bcd"], ["e", "f"]], dtype)
        assert rows(match(ranks, [{"bcd"}, {"x"}])) == [([2], 1, 2), ([], 1, 2)]
        assert rows(match(ranks, np.array(["bcd", "e"]))) == [([2], 1, 2), ([1], 1, 2)]


# Padding

PADDED = [[5, 7, -1], [-1, -1, -1], [1, 2, 3]]
PADDED_TRUTHS = [[7, -1], [1, -1], [3, 2]]


def as_texts(table):
    return [["" if item == -1 else str(item) for item in row] for row in table]


@pytest.mark.parametrize("form", [list, np.array, lambda table: np.array(table, object)])
@pytest.mark.parametrize("padding", [-1, "", np.int64(-1)], ids=repr)
def test_padding_is_dropped_from_the_ends(form, padding):
    tables = [PADDED, PADDED_TRUTHS]
    if padding == "":
        tables = map(as_texts, tables)
    ranks, truths = map(form, tables)
    hits = match(ranks, truths, padding=padding)
    assert rows(hits) == [([2], 1, 2), ([], 1, 0), ([2, 3], 2, 3)]
    assert evaluate(ranks, truths, padding=padding).n_missing == 1
    assert tl.hit(ranks, truths, padding=padding)[:, 2].tolist() == [1.0, 0.0, 1.0]


def test_padding_in_lists_and_by_key():
    flat = Lists([0, 3, 4], [5, 7, -1, 9])
    assert rows(match(flat, [[7], [9, -1]], padding=-1)) == [([2], 1, 2), ([1], 1, 1)]
    assert rows(match({"ann": [5, 7, -1]}, {"ann": [7, -1]}, padding=-1)) == [([2], 1, 2)]
    assert rows(match([5, 7, -1], [7, -1], padding=-1)) == [([2], 1, 2)]


def test_padding_with_grades():
    truths = Lists([0, 3, 5], [1, 2, -1, 3, -1], gains=[1, 2, 5, 3, 5])
    hits = match([[2, 1], [3, 4]], truths, padding=-1)
    assert rows(hits) == [([1, 2], 2, 2), ([1], 1, 2)]
    assert hits.gains.tolist() == [2.0, 1.0, 3.0]


def test_without_padding_named_it_is_an_id():
    assert rows(match([[5, -1]], [[-1]])) == [([2], 1, 2)]
    with pytest.raises(ValueError, match="item -1 at ranks 2 and 3"):
        match([[5, -1, -1]], [[5]])


def test_padding_that_does_not_occur():
    assert rows(match([[5, 7]], [[7]], padding=0)) == [([2], 1, 2)]
    assert rows(match([["a", "b"]], [["b"]], padding="")) == [([2], 1, 2)]


@pytest.mark.parametrize(
    ("ranks", "truths", "message"),
    [
        ([[5, 7], [-1, 4]], [[7], [4]], "ranks: user 1 has padding at rank 1, before a real id"),
        ([[5, -1, -1, 4]], [[4]], "ranks: user 0 has padding at rank 2, before a real id"),
        (np.array([[5, -1, 4]]), [4], "ranks: user 0 has padding at rank 2"),
        ({"ann": [5], "bob": [-1, 4]}, {"ann": [5], "bob": [4]}, "ranks: user 'bob' has padding"),
        ([[4]], [[-1, 4]], "ground_truths: user 0 has padding"),
        ({"ann": [4]}, {"ann": [-1, 4]}, "ground_truths: user 'ann' has padding"),
    ],
)
def test_padding_before_a_real_id(ranks, truths, message):
    with pytest.raises(ValueError, match=message):
        match(ranks, truths, padding=-1)


def test_text_padding_before_a_real_id():
    with pytest.raises(ValueError, match="ranks: user 0 has padding at rank 2"):
        match([["a", "", "b"]], [["b"]], padding="")


def test_padding_below_k_is_not_read():
    assert rows(match([[5, -1, 7]], [[7]], 2, padding=-1)) == [([], 1, 1)]


@pytest.mark.parametrize(
    ("ids", "padding"),
    [([5, 7], "x"), ([5, 7], -1.0), ([5, 7], False), ([5, 7], NAN), (["a"], -1), (["a"], b"")],
)
def test_padding_of_another_kind(ids, padding):
    with pytest.raises(TypeError, match="padding") as caught:
        match([ids], [ids], padding=padding)
    assert repr(padding) in str(caught.value)


@pytest.mark.parametrize(
    ("ranks", "padding"),
    [
        (np.array([[5, 2**64 - 1]], np.uint64), -1),
        (np.array([[5, -(2**63)]]), 2**63),
        ([[5, -1]], 2**64 - 1),
        ([[5, 7]], 2**70),
        ([[5, 7]], -(2**70)),
    ],
)
def test_padding_is_compared_exactly(ranks, padding):
    assert rows(match(ranks, [[5]], padding=padding)) == [([1], 1, 2)]


def test_nothing_but_empty_lists_takes_any_padding():
    assert rows(match([[]], [[]], padding="")) == rows(match([[]], [[]], padding=-1))


# Repeats

REPEATS = [
    ([[1], [5, 7, 9, 7]], [{1}, {7}], "user 1 has item 7 at ranks 2 and 4"),
    ([7, 7], {7}, "user 0 has item 7 at ranks 1 and 2"),
    ([[5, 8, 8]], [{5}], "user 0 has item 8 at ranks 2 and 3"),
    ([[8, 8]], [set()], "user 0 has item 8 at ranks 1 and 2"),
    (np.array([[3, 2, 3]], np.int8), [2], "user 0 has item 3 at ranks 1 and 3"),
    ({"ann": ["a", "b", "a"]}, {"ann": "b"}, "user 'ann' has item 'a' at ranks 1 and 3"),
    ({7: ["a"], 8: ["b", "b"]}, {8: "a", 7: "a"}, "user 8 has item 'b' at ranks 1 and 2"),
    ([[-1, 2**63, 2**63]], [[1]], f"user 0 has item {2**63} at ranks 2 and 3"),
    (np.array([["x", "y", "y"]]), ["x"], "user 0 has item 'y' at ranks 2 and 3"),
]


@pytest.mark.parametrize("door", DOORS[:2])
@pytest.mark.parametrize(("ranks", "truths", "message"), REPEATS)
def test_an_item_twice_in_a_list(door, ranks, truths, message):
    with pytest.raises(ValueError, match=rf"{message}: .*duplicates='first'"):
        door(ranks, truths)
    door(ranks, truths, duplicates="first")


def test_later_copies_earn_nothing_and_keep_their_place():
    hits = match([[7, 5, 7, 5, 9]], [{7, 9}], duplicates="first")
    assert rows(hits) == [([1, 5], 2, 5)]
    assert tl.precision([7, 7, 9], {7, 9}, duplicates="first").tolist() == [1.0, 0.5, 2 / 3]


def test_repeats_in_long_lists():
    ids = list(range(5000))
    ids[4321] = 17
    with pytest.raises(ValueError, match="user 1 has item 17 at ranks 18 and 4322"):
        match([[1], ids], [{1}, {17}])
    assert rows(match([ids], [{17, 4321}], duplicates="first")) == [([18], 2, 5000)]


def test_a_truth_is_a_set():
    for truth in ([7, 7, 5], (7, 5, 7), np.array([5, 7, 7]), np.array([7, 5, 7], np.uint8)):
        assert rows(match([[7, 5]], [truth])) == [([1, 2], 2, 2)]
    graded = Lists([0, 3], [7, 5, 7], gains=[2, 1, 2])
    assert rows(match([[7, 5]], graded)) == [([1, 2], 2, 2)]
    assert match([[7, 5]], graded).ideal_gains.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("gains", "options"),
    [([1, 2], {}), ([1, 0], {}), ([0, 1], {}), ([1, 3], {"relevant_from": 2}), ([0.5, 1], {})],
)
def test_two_grades_for_one_item(gains, options):
    truths = Lists([0, 1, 3], [4, 7, 7], gains=[1, *gains])
    with pytest.raises(ValueError, match=r"user 1 has item 7 twice.*different grades"):
        match([[4], [7]], truths, **options)


def test_the_item_with_two_grades_is_named():
    truths = Lists([0, 4], [3, 3, 7, 7], gains=[1, 1, 1, 2])
    with pytest.raises(ValueError, match="user 0 has item 7 twice"):
        match([[3, 7]], truths)


# Grades


@pytest.mark.parametrize("bad", [-1, -0.5, NAN, math.inf, -math.inf, np.float32(-2)])
def test_impossible_grades(bad):
    number = str(float(bad))
    for ranks, truths, named in (
        ([[7, 8]], [{7: 1, 8: bad}], "user 0, item 8"),
        (["x"], {"x": bad}, "user 0, item 'x'"),
        ({"ann": ["x"]}, {"ann": {"y": 1, "x": bad}}, "user 'ann', item 'x'"),
        ([[1], [2]], Lists([0, 1, 2], [1, 2], gains=[1, bad]), "user 1, item 2"),
    ):
        with pytest.raises(ValueError, match=rf"{named}: grade {number}; .*finite"):
            match(ranks, truths)


@pytest.mark.parametrize("bad", ["a", None, [1], {1}])
def test_grades_that_are_no_numbers(bad):
    with pytest.raises(TypeError, match=r"ground_truths: grade .* not a number"):
        match([[7]], [{7: bad}])


def test_grade_zero_is_not_relevant():
    assert rows(match([[7, 8]], [{7: 0, 8: 2}])) == [([2], 1, 2)]
    assert rows(match([[7, 8]], [{7: 0, 8: 0.0}])) == [([], 0, 2)]


def test_relevant_from():
    ranks, truths = [[7, 8, 9]], [{7: 1, 8: 2, 9: 3, 4: 2}]
    assert rows(match(ranks, truths, relevant_from=2)) == [([2, 3], 3, 3)]
    assert rows(match(ranks, truths, relevant_from=2.5)) == [([3], 1, 3)]
    assert rows(match(ranks, truths, relevant_from=4)) == [([], 0, 3)]
    assert tl.recall(ranks, truths, relevant_from=2)[0, -1] == 2 / 3
    assert evaluate(ranks, truths, relevant_from=3)["mrr@2"] == 0.0


@pytest.mark.parametrize("door", DOORS)
def test_relevant_from_needs_grades(door):
    for ranks, truths in (([7], {7}), ([[7]], [[7]]), ([[7]], [7]), ({"a": [7]}, {"a": [7]})):
        with pytest.raises(ValueError, match="relevant_from=2 needs ground truths with grades"):
            door(ranks, truths, relevant_from=2)


@pytest.mark.parametrize("bad", [-1, NAN, "2", [1]])
def test_relevant_from_is_a_grade(bad):
    with pytest.raises(ValueError, match=r"relevant_from=.*: give a grade, 0 or more"):
        match([[7]], [{7: 1}], relevant_from=bad)


def test_gains():
    ranks, truths = [[7, 8]], [{7: 1, 8: 2, 9: 3}]
    assert match(ranks, truths).gains.tolist() == [1.0, 2.0]
    hits = match(ranks, truths, gains="exponential")
    assert hits.gains.tolist() == [1.0, 3.0]
    assert hits.ideal_gains.tolist() == [7.0, 3.0, 1.0]
    assert tl.cg(ranks, truths).tolist() == [[1.0, 3.0]]
    assert tl.cg(ranks, truths, gains="exponential").tolist() == [[1.0, 4.0]]


def test_a_grade_too_large_for_a_gain():
    with pytest.raises(ValueError, match=r"user 0, item 8.*2000"):
        match([[7, 8]], [{7: 1, 8: 2000}], gains="exponential")


def test_grades_beside_a_set_are_one():
    assert match([[7], [8]], [{7}, {8: 2}]).gains.tolist() == [1.0, 2.0]


# Who is counted

PEOPLE = (
    {"both": [1, 2], "blank": [1], "bare": [], "extra": [1]},
    {
        "both": {2},
        "blank": set(),
        "lost": {1},
        "bare": {1, 2},
        "none": set(),
    },
)
POLICIES = [
    # empty, missing, evaluated, the values of both, blank, lost, bare, none
    ("skip", "zero", 3, [0.5, NAN, 0, 0, NAN]),
    ("skip", "skip", 1, [0.5, NAN, NAN, NAN, NAN]),
    ("zero", "zero", 5, [0.5, 0, 0, 0, 0]),
    ("zero", "skip", 2, [0.5, 0, NAN, NAN, NAN]),  # "none" has no list either
]


@pytest.mark.parametrize(("empty", "missing", "n_evaluated", "values"), POLICIES)
def test_policies(empty, missing, n_evaluated, values):
    result = evaluate(*PEOPLE, empty=empty, missing=missing)
    np.testing.assert_array_equal(result.per_user("mrr@2"), values)
    assert result["mrr@2"] == 0.5 / n_evaluated
    assert result.n_users == 5
    assert result.n_evaluated == n_evaluated
    assert result.n_skipped == 5 - n_evaluated
    assert result.n_missing == 2
    assert result.n_extra == 1
    curves = tl.mrr(*PEOPLE, 2, empty=empty, missing=missing)
    np.testing.assert_array_equal(curves[:, 1], values)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("empty", "missing", "n_evaluated", "values"), POLICIES)
def test_policies_are_the_same_for_every_metric(name, empty, missing, n_evaluated, values):
    result = top_k_eval(*PEOPLE, k=2, metrics=[name], empty=empty, missing=missing)
    found = result.per_user(f"{name}@2")
    assert np.isnan(found).tolist() == np.isnan(values).tolist()
    assert found[np.isnan(values) < 1][1:].tolist() == [0.0] * (n_evaluated - 1)
    assert result.n_evaluated == n_evaluated


def test_policies_that_raise():
    with pytest.raises(ValueError, match=r"user 'blank' has an empty ground truth \(2 such users"):
        evaluate(*PEOPLE, empty="raise")
    with pytest.raises(ValueError, match=r"user 'lost' has no ranked list \(2 such users"):
        evaluate(*PEOPLE, missing="raise")
    with pytest.raises(ValueError, match="user 1 has no ranked list"):
        tl.hit([[1], []], [{1}, {1}], missing="raise")
    assert evaluate([[1]], [{1}], empty="raise", missing="raise")["mrr@2"] == 1.0
    assert evaluate([[1], []], [{1}, []], empty="skip", missing="raise").n_evaluated == 1


@pytest.mark.parametrize(
    ("convention", "n_evaluated", "n_skipped"),
    [("standard", 3, 2), ("neurec", 5, 0), ("trec_eval", 2, 3)],
)
def test_policies_of_the_conventions(convention, n_evaluated, n_skipped):
    result = evaluate(*PEOPLE, convention=convention)
    assert (result.n_evaluated, result.n_skipped) == (n_evaluated, n_skipped)
    own = evaluate(*PEOPLE, convention=convention, empty="skip", missing="skip")
    assert (own.n_evaluated, own.n_skipped) == (1, 4)


def test_counts_by_position():
    result = evaluate([[1], [], [3]], [{1}, {2}, []])
    counts = (result.n_users, result.n_evaluated, result.n_skipped, result.n_missing)
    assert counts == (3, 2, 1, 1)
    assert result.n_extra == 0


@pytest.mark.parametrize(
    ("ranks", "truths"),
    [([], []), ({}, {}), ([1], set()), ([[1], [2]], [[], []]), ({"a": [1]}, {"a": []})],
)
def test_nobody_evaluated_is_nan_without_a_warning(ranks, truths):
    result = top_k_eval(ranks, truths, k=2)
    assert all(math.isnan(value) for value in result)
    assert math.isnan(result.std("ndcg@2"))
    assert all(map(math.isnan, result.interval("ndcg@2")))
    assert result.n_evaluated == 0
    assert "nan" in repr(result)
    assert np.isnan(result.per_user("map")).all()


def test_one_evaluated_has_a_mean_and_no_spread():
    result = evaluate([1, 2], {2})
    assert result["mrr@2"] == 0.5
    assert math.isnan(result.std("mrr@2"))


# k, metrics, options


@pytest.mark.parametrize("bad", [0, -1, True, 2.0, "3", NAN, np.float64(1), np.True_])
def test_k_is_a_whole_number_from_1_on(bad):
    message = rf"k must be .* not {bad!r}".replace("(", r"\(").replace(")", r"\)")
    for call in (match, tl.ndcg, top_k_eval):
        with pytest.raises(ValueError, match=message):
            call([[1, 2]], [{2}], bad)
    for several in ([1, bad], (bad,)):
        with pytest.raises(ValueError, match=message):
            top_k_eval([[1, 2]], [{2}], several)


@pytest.mark.parametrize("call", [match, tl.ndcg])
def test_one_k_where_all_come_back(call):
    with pytest.raises(ValueError, match=r"k must be a whole number from 1 on, not \[1, 2\]"):
        call([[1, 2]], [{2}], [1, 2])


@pytest.mark.parametrize("several", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), iter([1, 2])])
def test_several_k(several):
    result = top_k_eval([[1, 2]], [{2}], several, metrics="mrr")
    assert result.to_dict() == {"mrr@1": 0.0, "mrr@2": 0.5}


@pytest.mark.parametrize("k", [2, np.int64(2), np.uint8(2)])
def test_one_k(k):
    assert list(top_k_eval([[1, 2]], [{2}], k, metrics="mrr")) == [0.5]


def test_no_k_is_the_whole_list_and_a_metrics_own_k_wins():
    whole = top_k_eval([[1, 2, 3], [4]], [{3}, {4}], metrics=["hit", "mrr"])
    assert whole.to_dict() == {"hit@3": 1.0, "mrr@3": (1 / 3 + 1) / 2}
    assert top_k_eval([[1, 2]], [{2}], metrics=["ndcg@1", "mrr"]).names() == [
        "ndcg@1",
        "mrr@2",
    ]
    own = top_k_eval([[1, 2, 3]], [{3}], k=3, metrics=["map", "ndcg@2"])
    assert own.names() == ["map@3", "ndcg@2"]
    with pytest.raises(ValueError, match=r"k is empty"):
        top_k_eval([[1]], [{1}], k=[])


@pytest.mark.parametrize("name", ["nope", "squares", "x(p=2)"])
def test_unknown_metric(name):
    words = f"^metric {re.escape(repr(name))}: choose from {', '.join(METRICS)}; of"
    with pytest.raises(ValueError, match=words):
        top_k_eval([[1]], [{1}], k=1, metrics=[name])


def test_metric_that_a_convention_does_not_have():
    with pytest.raises(ValueError, match=r"'dcg'.*: choose from hit, precision, recall, map"):
        top_k_eval([[1]], [{1}], k=1, metrics=["dcg"], convention="neurec")
    with pytest.raises(ValueError, match=r"'dcg'.*: choose from hit"):
        tl.dcg([[1]], [{1}], convention="trec_eval")


@pytest.mark.parametrize("bad", ["ndcg@0", "ndcg@-1", "ndcg@1.5", "ndcg@x", "ndcg@1e1", "ndcg@²"])
def test_the_k_of_a_metric(bad):
    with pytest.raises(ValueError, match=rf"'{bad}': k must be a whole number from 1 on"):
        top_k_eval([[1]], [{1}], metrics=[bad])


@pytest.mark.parametrize("bad", ["", "ndcg@", "@3", 3, None, ("ndcg", 3)])
def test_entries_that_are_no_metrics(bad):
    with pytest.raises(ValueError, match=r"metric .*write a name, 'name@k', or give a Metric"):
        top_k_eval([[1]], [{1}], metrics=[bad])


def test_no_metric():
    with pytest.raises(ValueError, match="metrics is empty"):
        top_k_eval([[1]], [{1}], k=1, metrics=[])


@pytest.mark.parametrize("twice", [["ndcg", "ndcg"], ["ndcg@2", "map@2", "ndcg@2"]])
def test_a_metric_twice(twice):
    with pytest.raises(ValueError, match="'ndcg@2' is asked for twice"):
        top_k_eval([[1]], [{1}], k=None if "@" in twice[0] else 2, metrics=twice)
    with pytest.raises(ValueError, match="'ndcg' is asked for twice"):
        top_k_eval([[1]], [{1}], metrics=["ndcg", "ndcg"])


@pytest.mark.parametrize("bad", ["usual", "", None, "my own"])
def test_unknown_convention(bad):
    message = rf"convention {bad!r}: choose from {', '.join(CONVENTIONS)}"
    for call in (tl.ndcg, top_k_eval):
        with pytest.raises(ValueError, match=message):
            call([[1]], [{1}], 1, convention=bad)


@pytest.mark.parametrize("bad", ["drop", "", False, 0, "x"])
@pytest.mark.parametrize(
    ("option", "valid"),
    [
        ("empty", ("skip", "zero", "one", "raise")),
        ("missing", ("zero", "skip", "raise")),
        ("duplicates", ("raise", "first")),
        ("gains", ("linear", "exponential")),
    ],
)
def test_unknown_option(option, valid, bad):
    message = rf"{option}={bad!r}: choose from {', '.join(map(repr, valid))}"
    for call in (tl.ndcg, top_k_eval, match):
        if call is not match or option not in ("empty", "missing"):
            with pytest.raises(ValueError, match=message):
                call([[1]], [{1}], 1, **{option: bad})


def test_unknown_divisor():
    with pytest.raises(ValueError, match="divisor='n': choose from '1', 'k', 'R'") as caught:
        tl.map([1], {1}, divisor="n")
    assert all(repr(name) in str(caught.value) for name in DIVISORS)


# Hits


def test_hits_stand_for_both_arguments():
    hits = match(RANKS, TRUTHS)
    np.testing.assert_array_equal(tl.ndcg(hits), tl.ndcg(RANKS, TRUTHS))
    np.testing.assert_array_equal(tl.ndcg(hits, k=2), tl.ndcg(RANKS, TRUTHS, 2))
    assert top_k_eval(hits, k=2).to_dict() == top_k_eval(RANKS, TRUTHS, k=2).to_dict()


def test_hits_of_one_user_are_many_of_one():
    assert tl.hit(match([5, 7], {7})).shape == (1, 2)


def test_hits_know_their_depth():
    hits = match([[1, 2, 3]], [{3}], 2)
    message = "k=3 is deeper than the lists of this Hits were read, k=2"
    with pytest.raises(ValueError, match=message):
        tl.hit(hits, k=3)
    with pytest.raises(ValueError, match=message):
        top_k_eval(hits, k=[1, 3])
    with pytest.raises(ValueError, match=message):
        top_k_eval(hits, metrics=["hit@3"])


@pytest.mark.parametrize("call", [tl.hit, top_k_eval])
def test_hits_take_nothing_that_belongs_to_the_join(call):
    hits = match([[1]], [{1}])
    with pytest.raises(TypeError, match="Hits, joined already: it takes no ground_truths"):
        call(hits, [{1}], 1)
    for option, value in (
        ("duplicates", "first"),
        ("padding", -1),
        ("relevant_from", 1),
        ("gains", "exponential"),
    ):
        with pytest.raises(TypeError, match=rf"joined already: give {option} to match"):
            call(hits, k=1, **{option: value})


def test_hits_take_policies():
    hits = match(*PEOPLE)
    assert top_k_eval(hits, k=2, empty="zero").n_evaluated == 5
    assert top_k_eval(hits, k=2, missing="skip").n_evaluated == 1


def test_hits_are_no_ground_truths():
    with pytest.raises(TypeError):
        match([[1]], match([[1]], [{1}]))


# What is given stays as it is

GIVEN = [
    ([[5, 7, -1], [1, 2, 3]], [{7: 2.0}, {3: 1.0, 9: 0}]),
    (np.array(PADDED), np.array(PADDED_TRUTHS)),
    (np.array(PADDED, np.int16), [{7}, {1}, {2}]),
    (np.array(as_texts(PADDED)), as_texts(PADDED_TRUTHS)),
    ({"ann": [5, 7], "bob": [-1]}, {"bob": [1, -1], "ann": np.array([7])}),
    (Lists([0, 3, 4], [5, 7, -1, 9]), Lists([0, 2, 3], [7, 5, 9], gains=[3, 1, 2])),
]


def plain(value):
    """Return the content of an argument in a form that compares."""
    if isinstance(value, Lists):
        return [plain(part) for part in (value.offsets, value.items, value.gains)]
    if isinstance(value, dict):
        return [(key, plain(part)) for key, part in value.items()]
    if isinstance(value, list):
        return list(map(plain, value))
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("ranks", "truths"), GIVEN)
def test_arguments_are_not_modified(ranks, truths):
    before = copy.deepcopy((plain(ranks), plain(truths)))
    padding = "" if isinstance(ranks, np.ndarray) and ranks.dtype.kind == "U" else -1
    top_k_eval(ranks, truths, k=3, padding=padding, duplicates="first")
    tl.ndcg(ranks, truths, padding=padding)
    assert (plain(ranks), plain(truths)) == before


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


def test_read_only_input():
    ranks, truths = read_only(np.array(PADDED)), read_only(np.array(PADDED_TRUTHS))
    expected = rows(match(PADDED, PADDED_TRUTHS, padding=-1))
    assert rows(match(ranks, truths, padding=-1)) == expected
    texts = read_only(np.array(as_texts(PADDED)))
    assert rows(match(texts, as_texts(PADDED_TRUTHS), padding="")) == expected
