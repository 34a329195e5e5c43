"""What is an id and what is not; ids of every kind are compared exactly."""

import math
import uuid
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from shared_inputs import DOORS, NAN, library, rows

import toplist as tl
from toplist import match
from toplist.inputs import Lists

NEVER_IDS = [1.0, 1.5, NAN, math.inf, True, False, None, 1j, np.True_, np.float32(3)]


@pytest.mark.parametrize("bad", NEVER_IDS, ids=repr)
@pytest.mark.parametrize("good", [5, "a"], ids=["integers", "strings"])
def test_never_an_id(bad, good):
    missing = bad is None or bad != bad
    words = ": an item is missing" if missing else f" is a {type(bad).__name__}, never an id"
    ordered = [good, bad], (good, bad), np.array([good, bad], object)
    for ranks in ([good, bad], *([row] for row in ordered), {"ann": [good, bad]}):
        with pytest.raises(TypeError, match=f"ranks: .*{words}"):
            match(ranks, {"ann": [good]} if isinstance(ranks, dict) else [good])
    for truth in (*ordered, {good, bad}, frozenset([good, bad]), {good: 1, bad: 1}):
        for ranks, truths in (
            ([good], truth),
            ([[good]], [truth]),
            ({"ann": [good]}, {"ann": truth}),
        ):
            with pytest.raises(TypeError, match=f"ground_truths: .*{words}"):
                match(ranks, truths)
    bare = [good] if bad is None else bad, [good, bad], {"ann": bad}
    for ranks, truths in zip(([good], [[good], [good]], {"ann": [good]}), bare, strict=True):
        if truths != [good]:
            with pytest.raises(TypeError, match=f"ground_truths: .*{words}"):
                match(ranks, truths)


@pytest.mark.parametrize("door", DOORS)
def test_a_float_array_of_ranks_is_scores(door):
    for ranks, truths in ((np.array([[0.1, 0.9]]), [[1]]), (np.array([0.1, 0.9]), [1])):
        with pytest.raises(TypeError, match=r"ranks is an array of float64.*scores\.top_k"):
            door(ranks, truths)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("dtype", [bool, np.float64, np.float32])
def test_a_matrix_of_truths_enters_elsewhere(door, dtype):
    with pytest.raises(TypeError, match=rf"{np.dtype(dtype)}.*Lists\.from_matrix"):
        door([[0, 2]], np.array([[1, 0, 1]], dtype))
    truths = Lists.from_matrix(np.array([[1, 0, 1]], dtype))
    assert rows(match([[0, 2]], truths)) == [([1, 2], 2, 2)]


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "c16", "V4", bool])
def test_arrays_of_other_things(dtype):
    with pytest.raises(TypeError, match="ranks is an array of"):
        match(np.zeros((1, 1), dtype), [[1]])


def test_lists_of_floats():
    with pytest.raises(TypeError, match=r"3\.0 is a float.*scores.top_k.*int\(id\)"):
        match([[3.0]], [[3.0]])
    with pytest.raises(TypeError, match="Lists: items are float64"):
        match(Lists([0, 1], [0.5]), [[1]])


TWO_KINDS = [(1, "1"), ("1", 1), (b"1", "1"), (1, uuid.UUID(int=1)), (1, Fraction(1))]


@pytest.mark.parametrize(("one", "other"), TWO_KINDS)
def test_two_kinds_of_ids(one, other):
    for ranks, truths in (([[one]], [{other}]), ([[one, other]], [{one}]), ([one], [one, other])):
        with pytest.raises(TypeError, match="two kinds") as caught:
            match(ranks, truths)
        assert repr(one) in str(caught.value)
        assert repr(other) in str(caught.value)
        assert "[str(i) for i in ids]" in str(caught.value)


def test_what_is_no_kind_of_its_own():
    assert rows(match([["a", "b"]], [{np.str_("b")}])) == [([2], 1, 2)]


@pytest.mark.parametrize(
    ("ranked", "truth"),
    [
        ([uuid.UUID(int=1), uuid.UUID(int=2)], [uuid.UUID(int=2)]),
        (["tea", "tea "], ["tea "]),
        (["\u00e9", "e\u0301"], ["e\u0301"]),
        (["a", "A"], ["A"]),
    ],
)
def test_ids_are_compared_exactly(ranked, truth):
    assert rows(match([ranked], [truth])) == [([2], 1, 2)]
    assert rows(match(ranked, truth)) == [([2], 1, 2)]


def test_integers_of_128_bits_that_64_hold():
    polars = library("polars")
    items = polars.Series([5, 7], dtype=polars.Int128)
    table = polars.DataFrame({"user_id": [1, 1], "item_id": items, "rank": [1, 2]})
    assert tl.match(table, {1: [7]}).ranks.tolist() == [2]


WIDE = 2**63


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: tl.match([[WIDE, 3]], [[3]]), "ranks"),
        (lambda: tl.match([[3]], [{3, -WIDE - 1}]), "ground_truths"),
        (lambda: tl.match(np.array([[WIDE, 3]], np.uint64), [[3]]), "ranks"),
        (
            lambda: tl.match([[3]], tl.inputs.Lists([0, 1], np.array([WIDE], ">u8"))),
            "ground_truths",
        ),
        (lambda: tl.match(np.array([[WIDE, 3]], object), [[3]]), "ranks"),
        (lambda: tl.ndcg({WIDE: [3]}, {WIDE: [3]}), "ranks"),
        (lambda: tl.match({1: [3]}, {WIDE: [3], 1: [3]}), "ground_truths"),
        (lambda: tl.match(tl.Ranks([[3]], users=[WIDE]), [[3]]), "users"),
        (lambda: tl.match(wide("item_id"), {1: [3]}), "ranks, column 'item_id'"),
        (lambda: tl.match({1: [3]}, wide("user_id")), "ground_truths, column 'user_id'"),
        (lambda: tl.match({WIDE: [3]}, wide(None)), "ranks"),
        (lambda: tl.match(wide("item_id", "polars"), {1: [3]}), "ranks, column 'item_id'"),
        (lambda: tl.loo.leave_one_out(([1, 1], [WIDE, 5], [1, 2])), "log, column 'item_id'"),
        (lambda: tl.beyond.item_coverage([[1]], catalogue=[1, WIDE]), "catalogue"),
        (lambda: tl.pointwise.gauc([WIDE, WIDE], [0, 1], [0.1, 0.2]), "users"),
    ],
)
def test_integers_that_int64_does_not_hold_are_refused(call, where):
    words = "is an id that int64 does not hold: give such ids as text, str\\(id\\)"
    said = f"^{where}: ({WIDE}|-{WIDE + 1}) {words}$"
    with pytest.raises(ValueError, match=said):
        call()


def wide(column, name="pandas"):
    module, content = library(name), {"user_id": [1, 1], "item_id": [3, 4], "rank": [1, 2]}
    dtype = object if name == "pandas" else module.Int128
    if column is not None:
        content[column] = module.Series([1, WIDE], dtype=dtype)
    return module.DataFrame(content)


def test_integers_too_wide_that_share_a_hash_are_refused_at_once():
    wide = [(2**61 - 1) * (2**20 + i) for i in range(20_000)]  # hours, as keys of a dictionary
    table = library("pandas").DataFrame({"user_id": 1, "item_id": wide})
    calls = (tl.match, wide, [3]), (tl.match, {1: [3]}, table), (tl.loo.leave_one_out, (wide,) * 3)
    for call, *arguments in calls:
        with pytest.raises(ValueError, match="int64 does not hold"):
            call(*arguments)


EDGES = (0, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64)
NUMBERS = sorted({sign * edge + step for edge in EDGES for sign in (1, -1) for step in (-1, 0, 1)})
INTEGERS = {  # how a column of numbers is given, and which numbers can be
    **{
        width: (lambda column, w=width: np.array(column, w), np.iinfo(width))
        for width in ("int8", "int32", "uint32", "int64", "uint64", ">i8", ">u8")
    },
    "Python": (list, None),
    "objects": (lambda column: np.array(column, object), None),
}


def column(form):
    """Return how a form is made, and the numbers that it can hold."""
    to, limits = INTEGERS[form]
    low, high = (-(2**63), 2**63 - 1) if limits is None else (limits.min, limits.max)
    return to, [n for n in NUMBERS if low <= n <= min(high, 2**63 - 1)]


@pytest.mark.parametrize("of_truths", INTEGERS)
@pytest.mark.parametrize("of_ranks", INTEGERS)
def test_integers_are_compared_exactly(of_ranks, of_truths):
    to_ranks, a = column(of_ranks)
    to_truths, b = column(of_truths)
    every = list(product(a, b))
    ranked, relevant = (list(side) for side in zip(*every, strict=True))
    in_rows = to_ranks(ranked)
    ranks = in_rows[:, np.newaxis] if isinstance(in_rows, np.ndarray) else [[n] for n in ranked]
    found = tl.hit(ranks, to_truths(relevant), 1)[:, 0] == 1
    assert found.tolist() == [one == other for one, other in every]


def test_lists_of_several_widths_are_compared_exactly():
    top = 2**63 - 1
    ranks = [np.array([5, -1]), np.array([top, 5], np.uint64), np.array([2**53 + 1])]
    truths = [np.array([top], np.uint64), np.array([-1]), np.array([2**53])]
    assert tl.hit(ranks, truths)[:, -1].tolist() == [0, 0, 0]
    truths = [np.array([-1]), np.array([top], np.uint64), np.array([2**53 + 1], np.uint64)]
    assert tl.mrr(ranks, truths)[:, -1].tolist() == [1 / 2, 1, 1]


ARRAYS_OF_TWO_KINDS = {
    "text": ([np.array([1, 2]), np.array(["1", "2"])], [{"1"}, {"1"}]),
    "text and integers": ([np.array(["1"])], [{1}]),
    "bool": ([np.array([1, 2]), np.array([True])], [{1}, {1}]),
    "float": ([np.array([1, 2]), np.array([1.0])], [{1}, {1}]),
    "bytes": ([np.array(["1", "2"]), np.array([b"1"])], [{"1"}, {"1"}]),
}


@pytest.mark.parametrize("kinds", ARRAYS_OF_TWO_KINDS)
def test_arrays_of_two_kinds_are_refused(kinds):
    arrays, sets = ARRAYS_OF_TWO_KINDS[kinds]
    with pytest.raises(TypeError):
        tl.match(arrays, sets)
    with pytest.raises(TypeError):
        tl.match([list(one) for one in sets], arrays)
