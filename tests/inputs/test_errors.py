"""What is refused in memory: a row is lists, truths, options and what the error must say."""

import math
import os
import pathlib
import types
import uuid
from collections import deque
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from listwise import listwise
from shared_inputs import AT, DOORS, LIBRARIES, NAN, csr, frame_of, library, said

import toplist as tl
from toplist.inputs import Lists


class Table(dict):
    """Columns of a table, which is made by each library."""


def made(value, name):
    """Return a side of a row: a table of the library, or what its function returns."""
    if isinstance(value, Table):
        return frame_of(name, value)
    return value() if isinstance(value, types.FunctionType) else value


def of_libraries(rows):
    """Repeat the rows that have a table for each library."""
    for *row, words in rows:
        names = LIBRARIES if any(isinstance(one, Table) for one in row) else [None]
        for name in names:
            yield pytest.param(*row, words, name, id=f"{name or ''} {words}"[:70])


def generator():
    yield from [1, 2]


def pandas():
    return library("pandas")


LONG = {"user_id": ["u", "u"], "item_id": ["a", "b"], "rank": [1, 2]}
IDS = {"user_id": ["u", "u"], "item_id": ["a", "b"]}
TRUTH, CHUNKS = {"u": ["a"]}, {"a1": "a", "a2": "a", "b1": "b"}
KEYS, THREE, TRUTHS = ["ann", "bob", "eve"], [[1, 2], [3, 4], [5, 6]], [{1}, {4}, {9}]
TWICE = "at ranks 1 and 3: ... duplicates='first'"
WIDE = 2**63
DOCUMENTS = {"items_as": CHUNKS}
SCORED = [{"corpus_id": "a", "score": 0.5}]
FILLED = np.array([[7, 3], [2, -1]]), np.array([[0.5, 0.25], [0.1, -3.4e38]])
PAIR = [[7, 3, 9], [2, 8, 4]]
FALLING = [[4.0, 2.5, 2.5], [0.5, 0.25, -math.inf]]
COMPOSITE = {"user": ["a", "a"], "time": [1, 1], "item_id": ["x", "y"], "rank": [1, 2]}


def arrays(*pair):
    return tuple(map(np.array, pair))


FORMS = [
    ({5, 7}, [5], {}, "ranks is a set ... swapped"),
    (deque([5]), [5], {}, "ranks is a deque"),
    (None, [5], {}, "ranks is missing"),
    ([5], None, {}, "ground_truths is missing"),
    (np.array(5), [5], {}, "ranks is an array of 0 dimensions"),
    (np.ma.array([[1, 2]]), [[1]], {}, "a masked array: fill it"),
    ([{5, 7}], [[5]], {}, "user 0 has {5, 7} ... swapped"),
    ([["ab"], "ab"], [["ab"], ["ab"]], {}, "user 1 has 'ab' where a list"),
    (["ab", "cd"], [["ab"], ["cd"]], {}, "ranks is one user's list of ids, ground_truths holds a"),
    ([5, [7]], [5], {}, "[7] is a list, never an id"),
    ([[5]], {5}, {}, "ranks holds many users, ground_truths is one set"),
    ([5, 7], np.array([[5, 7]]), {}, "ground_truths"),
    ([[5]], np.array(5), {}, "ground_truths"),
    ([[5], [7]], [5, {7}], {}, "mixes containers and bare ids: user 0 has 5, user 1 has {7}"),
    ({"ann": [5]}, [[5]], {}, "ranks is keyed by user, ground_truths is not ... USERS, ground_tru"),
    ([[5]], {"ann": [5]}, {}, "ground_truths is keyed by user, ranks is not ... USERS, ranks)) na"),
    ({"ann": {5: 1}}, {"ann": [5]}, {}, "ranks holds whole numbers by item, like grades ... swapp"),
    ({"p": {"a": 2, "b": 1, "c": 1}, "q": {"a": 2}}, {"p": {"a": 0.7, "b": 0.1}, "q": {"a": 0.5}}, {},
     "like grades ... swapped"),
    ({"u": "a"}, Table(IDS), {}, "user 'u' has 'a' where a list"),
    (lambda: zip([1]), [1], {}, "ranks is a  ... read once only: make it a list"),
    (lambda: [[1], generator()], [{1}, {1}], {}, "generator"),
    ([[1], [2]], [{1}], {}, "2 ranked lists but 1 ground truths"),
    ({"u": ["a"]}, {}, {}, "ground_truths has no user, ranks has 'u'"),
    ({"u": ["a"]}, Table({"user_id": [], "item_id": []}), {}, "ground_truths has no user, ranks h"),
    ({"a": [1]}, {"b": [1]}, {}, "no user is in both: ranks has 'a', ground_truths has 'b'"),
    ({True: [1]}, {1: {1}}, {}, "ranks: user True is a bool, and equal to 1"),
    ({1: [1]}, {True: {1}}, {}, "ground_truths: user True is a bool, and equal to 1"),
    (tl.Groups({"q": [["a"]]}), {"q": ["a"]}, {}, "ranks is Groups ... are the arguments swapped"),
    ([[5]], tl.Ranks([[5]]), {}, "ground_truths is a Ranks: ... toplist.GroundTruths says it"),
]  # fmt: skip
ITEMS = [
    (np.array([[0.1, 0.9]]), [[1]], {}, "ranks is an array of float64 ... scores.top_k"),
    *((np.zeros((1, 1), one), [[1]], {}, "ranks is an array of")
      for one in ("M8[s]", "m8[s]", "c16", "V4", bool)),
    *(([[0, 2]], np.array([[1, 0, 1]], one), {}, f"{np.dtype(one)} ... Lists.from_matrix")
      for one in (bool, np.float64, np.float32)),
    ([[3.0]], [[3.0]], {}, "3.0 is a float ... scores.top_k ... int(id)"),
    (lambda: csr([[1]]), [[1]], {}, "sparse matrix: scores enter by scores.top_k"),
    (lambda: library("pyarrow").array([0.5, 0.25]), {1}, {}, "never an id"),
    *(([[one]], [{other}], {}, f"two kinds ... {one!r} ... {other!r} ... [str(i) for i in ids]")
      for one, other in [(1, "1"), ("1", 1), (b"1", "1"), (1, uuid.UUID(int=1)), (1, Fraction(1))]),
    # types in the order of their names, whichever a set of them has
    ([["a", 1, b"b", uuid.UUID(int=1), date(2020, 1, 1), Fraction(1), Decimal(1),
       pathlib.PurePosixPath("a")]], [set()], {},
     "two kinds, Decimal('1') in ranks and Fraction(1, 1) in ranks"),
    ([np.array([1, 2]), np.array(["1", "2"])], [{"1"}, {"1"}], {}, ""),
    ([np.array([1, 2]), np.array([True])], [{1}, {1}], {}, ""),
    (Table({"user_id": [7], "item_id": [7], "rank": [1]}), {7: ["i8"]}, {},
     "ids of two kinds, 7 in ranks and 'i8' in ground_truths"),
    (Table({"user_id": [30], "item_id": [7], "rank": [1]}), {"u10": [7]}, {},
     "'user_id' holds ids of two kinds, 30 in ranks and 'u10'"),
    (Table({"user_id": [30], "item_id": [b"x"], "rank": [1]}), {30: ["x"]}, {},
     "'item_id' holds ids of two kinds, b'x' in ranks and 'x' in ground_truths"),
    *((Table(LONG), Table({**IDS, "item_id": one}), {}, "never an id")
      for one in ([1.0, 2.0], [True, False])),
    ([[WIDE, 3]], [[3]], {}, f"ranks: {WIDE} is an id that int64 does not hold: ... str(id)"),
    ([[3]], [{3, -WIDE - 1}], {}, f"ground_truths: {-WIDE - 1} is an id that int64 does not hold"),
    ([[3]], Lists([0, 1], np.array([WIDE], ">u8")), {}, f"ground_truths: {WIDE} is an id that"),
    ({1: [3], "2": [3]}, {1: [3], 2: [3]}, {}, "ranks: users of two kinds, 1 and '2': ... str(user)"),
    ({1: [3]}, lambda: tl.GroundTruths({True: [3]}), {}, "ground_truths: user True is a bool"),
    ({1: [3]}, __file__, {}, "ground_truths looks like a path: ... (ranks, pathlib.Path("),
    ({WIDE: [3]}, {WIDE: [3]}, {}, f"ranks: {WIDE} is an id that int64 does not hold"),
    *(([row[:1], row], [{row[0]}] * 2, {}, f"user 1 has item {row[1]!r} at ranks 2 and 4: ... 'fir")
      for row in ([5, 7, 9, 7], ["a", "b", "c", "b"], [8, -(2**63), 9, -(2**63)])),
    ([[8, 8]], [set()], {}, "user 0 has item 8 at ranks 1 and 2"),
    (np.array([[3, 2, 3]], np.int8), [2], {}, f"user 0 has item 3 {TWICE}"),
    (Table({**LONG, "item_id": ["a", "a"]}), TRUTH, {}, "user 'u' has item 'a' at ranks 1 and 2"),
    ([[3, 0, 1]], np.array([[0, 1, 1, 0]]), {}, "user 0 has 1 twice ... Lists.from_matrix(matrix)"),
    ({0: [3, 0]}, Table({"user_id": [0], "item_id": [[0, 1, 1]]}), {}, "user 0 has 1 twice"),
    ([[0, 1, 2]], [[0, 1, 1]], {"items_as": {0: 0, 1: 0, 2: 1}}, "user 0 has 1 twice, and all ids"),
]  # fmt: skip
PADDING = [
    (np.array([[5, -1, -1]]), [[5]], {}, "padding=-1"),
    ([[5, 7], [-1, 4]], [[7], [4]], {"padding": -1},
     "ranks: user 1 has padding at rank 1, before a real id"),
    ([[4]], [[-1, 4]], {"padding": -1}, "ground_truths: user 0 has padding"),
    (Table({"user_id": [1, 2], "item_id": [[5, -1, 7], [4, 3, 2]]}), {1: [5]}, {"padding": -1},
     "user 1 has padding at rank 2, before a real id"),
    *(([one], [one], {"padding": pad}, f"padding ... {pad!r}") for one, pad in
      [([5], "x"), ([5], -1.0), ([5], False), ([5], NAN), (["a"], -1), (["a"], b"")]),
    (FILLED, [{3}, {2}], {}, "user 1, rank 2 has the id -1 ... padding=-1 drops it"),
]  # fmt: skip
GRADES = [
    *((ranks, truths, {}, f"{named}: grade {float(bad)}; ... finite")
      for bad in (NAN, math.inf, -math.inf, np.float32(math.inf))
      for ranks, truths, named in (
        ([[7, 8]], [{7: 1, 8: bad}], "user 0, item 8"),
        (["x"], {"x": bad}, "user 0, item 'x'"),
        ({"ann": ["x"]}, {"ann": {"y": 1, "x": bad}}, "user 'ann', item 'x'"),
        ([[1], [2]], Lists([0, 1, 2], [1, 2], gains=[1, bad]), "user 1, item 2"),
        (Table(LONG), Table({**IDS, "relevance": [1.0, float(bad)]}), "user 'u', item 'b'"),
      ) if not (isinstance(truths, Table) and bad != math.inf)),
    ([[3]], lambda: library("scipy.sparse").csr_array(([NAN], [3], [0, 1]), (1, 9)), {},
     "entry nan of user 0, item 3"),
    *(([[7]], [{7: bad}], {}, "ground_truths: grade  ... not a number")
      for bad in ("a", None, [1], {1})),
    *(([[4], [7]], Lists([0, 1, 5], [4, 3, 3, 7, 7], gains=[1, 1, 1, *both]), more,
       "user 1 has item 7 twice ... different grades")
      for both, more in [([1, 2], {}), ([1, 0], {}), ([0, 1], {}), ([1, 3], {"relevant_from": 2})]),
    *((ranks, truths, {"relevant_from": 2}, "relevant_from=2 needs ground truths with grades")
      for ranks, truths in [([7], {7}), ([[7]], [[7]]), ([[7]], [7]), ({"a": [7]}, {"a": [7]})]),
    ({"q": ["a"]}, tl.Groups({"q": [["a"]]}), {"relevant_from": 1},
     "relevant_from=1 needs ground truths with grades"),
    *(([[7]], [{7: 1}], {"relevant_from": bad}, "relevant_from= ... : give a grade, 0 or more")
      for bad in (-1, NAN, "2", [1], 10**400)),
    ([["a", "b"]], [{"a": 1, "b": 1e308}], {}, "user 0, item 'b': grade 1e+308 is too large"),
    (["a"], {"a": 600}, {"gains": "exponential"},
     "2^grade of grade 600 is too large ... gains='linear'"),
    (Table(LONG), Table({"user_id": ["u"], "item_id": [["a", "b"]], "relevance": [[1.0]]}), {},
     "'relevance' must hold a list per user, as long"),
    ({"u": ["c"]}, Table({**IDS, "relevance": [None, 1.0]}), {},
     "'relevance' must hold numbers ... , null in row 0"),
    ({"u": ["a"]}, Table({**IDS, "sim": [1, 2]}), {"columns": {"score": "sim"}},
     "column 'sim' is not read"),
    ({"u": ["a"]}, Table({**IDS, "score": [1, 2], "topic": [*"xy"]}),
     {"columns": {"ground_truths": {"group": "topic"}}}, "'score', beside groups"),
    ({"u": ["a"]}, Table({**IDS, "relevance": [1, 2], "topic": [*"xy"]}),
     {"columns": {"ground_truths": {"group": "topic"}}},
     "has grades, column 'relevance', beside groups, 'topic': groups have no grades"),
    ({"u": ["a"]}, Table({**IDS, "topic": ["x", None]}), {"columns": {"group": "topic"}},
     "column 'topic' is null in row 1"),
    ]  # fmt: skip
SCORES = [
    ({"q": {"a": 0.5, "b": NAN}}, {"q": ["a"]}, {}, "ranks: user 'q', item 'b': the score is NaN"),
    *(({"q": {"a": 0.5, "b": one}}, {"q": ["a"]}, {}, f"user 'q', item 'b': the score {one!r} is n")
      for one in ("0.4", None, True, Decimal("0.2"))),
    ({"q": {"a": 0.5}, "r": ["a"]}, {"q": ["a"], "r": ["a"]}, {}, "user 'r' has a list without sc"),
    ({"q": {"a": 0.5}, "r": 3}, {"q": ["a"], "r": ["a"]}, {}, "user 'r' has a int without scores"),
    ([SCORED, [{"corpus_id": "b"}]], [{"a"}] * 2, {}, "user 1 has a list without scores"),
    ([[*SCORED, {"id": "b"}]], [{"a"}], {}, "user 0, hit 2 is  ... 'b'}, without 'corpus_id'"),
    ([[{"corpus_id": "a", "score": NAN}]], [{"a"}], {}, "user 0, item 'a': the score is NaN"),
    ([{"corpus_id": "a", "score": NAN}], {"a"}, {}, "ranks: item 'a': the score is NaN"),
    ({"a": 0.5}, {"a": {"a"}}, {}, "user 'a' has 0.5 where a list ... {user: {item: score}}"),
    ({"q": [{"id": "a", "text": ""}]}, {"q": {"a"}}, {}, "[one[KEY] for one in hits] ... 'id', 't"),
    ({"q": {"a": 1.0, 2: 1.0}}, {"q": {"a"}}, {"ties": "item"},
     "user 'q', ties by item need ids that have an order ... 'a'"),
    (arrays(PAIR, [[4.0, 2.5, 3.0]] * 2), [{7}, {2}], {},
     "user 0, the score rises  ... 2 to 3; ... 0] of the pair"),
    (arrays(PAIR, [FALLING[0], [0.5, NAN, 0.1]]), [{7}, {2}], {}, "user 1, item 8  ... 2 ... NaN"),
    (arrays(PAIR[0], [1.0, 2.0, 0.0]), {3}, {}, "best first: the score rises from 1 at rank 1 to"),
    (arrays(PAIR, [[1.0], [2.0]]), [{7}, {2}], {}, "int64 of (2, 3) and float64 of (2, 1): a pair"),
    (arrays(PAIR, PAIR), [{7}, {2}], {}, "a pair of 2-D arrays, int64 ... integers and one of flo"),
    (arrays([PAIR], [FALLING]), [{7}], {}, "pair of arrays of 3 dimensions"),
    (Table({**IDS, "score": [0.5, NAN]}), TRUTH, {"ties": "item_desc"}, ""),
    (Table({**IDS, "score": [0.5, None]}), TRUTH, {}, "'score' must hold numbers, and no nulls"),
    (Table({"user_id": ["u", "v"], "item_id": [[3, 1], [2]], "score": [[1.0], [2.0, 3.0]]}),
     {"u": {1}}, {}, "'score' must hold a list per user, as long as the"),
    *((lambda low=low: pandas().DataFrame(IDS).assign(
        score=pandas().Series([low, 2**63 + 1], dtype=object)), TRUTH, {},
       "cast it to integers of 64 bits, or to floats") for low in (2**70, -1, 0.5)),
]  # fmt: skip
TABLES = [
    *((Table({**LONG, "item_id": [*"abcdefghi"][:len(ranks)], "user_id": ["u"] * len(ranks),
              "rank": ranks}), TRUTH, {}, words) for ranks, words in [
        ([0, 1, 2], "user 'u' has ranks 0, 1, 2 where 1 to 3 belong, each once; ranks start at 1"),
        ([1, 2, 4], "user 'u' has ranks 1, 2, 4 where 1 to 3 belong ... score = -rank"),
        ([2.0, 3.0, 1.5], "user 'u' has rank 1.5, which is not whole"),
        (list(range(9)), "ranks 0, 1, 2, 3, 4, 5, 6, 7, ... where 1 to 9 belong")]),
    (Table(IDS), Table(LONG), {}, "ranks: no column 'rank' or 'score' ... (is this the ground tru"),
    (lambda: frame_of("polars", LONG).lazy(), TRUTH, {},
     "ranks is a LazyFrame: ranks.collect() makes a table"),
    *((*sides, {}, f"{name} is a list of tables: give one table") for name, sides in [
        ("ranks", [lambda: [frame_of("polars", LONG)], TRUTH]),
        ("ground_truths", [TRUTH, lambda: [frame_of("pandas", LONG)]])]),
    (Table(LONG), [["a"]], {}, "ranks is a table ... ground_truths is a list: give both"),
    *((Table({**LONG, "item_id": [one, None]}), TRUTH, {},
       "ranks: column 'item_id' is null in row 1 (user 'u'): the id is missing") for one in ("a", 7)),
    (Table({**LONG, "item_id": ["a", ""]}), TRUTH, {}, "column 'item_id' is empty in row 1 (user"),
    (Table({**LONG, "user_id": ["u", None]}), TRUTH, {}, "'user_id' is null in row 1: the id is m"),
    *((lambda name=name: frame_of(name, {"user_id": [1, 2], "item_id": [[1, None], [2]]}), {1: [1]},
       {}, "holds a null in the list of row 0 (user 1), at place 2: the id is missing")
      for name in LIBRARIES[1:]),
    *((lambda name=name: frame_of(name, {"user_id": [1, 2], "item_id": [[1], None]}), {1: [1]}, {},
       "column 'item_id' is null in row 1 (user 2): write []") for name in LIBRARIES[1:]),
    (lambda: pandas().DataFrame({"user_id": [1, 2], "item_id": [[1, None], [2]]}), {1: [1]}, {},
     "user 1 has None at rank 2: an item is missing"),
    (lambda: pandas().DataFrame({"user_id": [1, 2], "item_id": [[1], None]}), {1: [1]}, {},
     "column 'item_id' holds None in row 1 (user 2), not a list"),
    (Table({"user_id": [*"aba"], "item_id": [[1], [2], [3]]}), {"a": [1]}, {},
     "user 'a' is in rows 0 and 2"),
    (lambda: pandas().Series([[1], [2]], index=["a", "a"]), {"a": [1]}, {},
     "user 'a' is in the index of the Series twice"),
    (lambda: pandas().DataFrame(LONG).set_index("user_id"), TRUTH, {},
     "ranks: 'user_id' is the index ... reset_index()"),
    (lambda: pandas().concat([pandas().DataFrame(LONG)] * 2, axis=1)[["user_id", "item_id", "rank"]]
     .iloc[:, [0, 2, 3, 4]], TRUTH, {}, "ranks: two columns are named 'item_id'"),
    (lambda: pandas().Series([1, 2]), {0: 1, 1: 2}, {}, "a Series with one id per user"),
    (lambda: frame_of("polars", {"user_id": [1], "item_id": [{"a": 1}], "rank": [1]}), {1: [1]}, {},
     "ranks: column 'item_id' is of  ... holds no ids"),
    (Table(LONG), Table(IDS), {"columns": ["user_id"]}, "columns is a list: give a dict"),
    (Table({"user_id": ["a", "b"], "1": [5, 6], "2": [7, 8]}), {"a": [7]}, {},
     "'item_id' ... frame.melt('user_id', var_name="),
    (Table(LONG), Table(IDS), {"columns": {"relevance": "grades"}}, "no column 'grades'"),
    (Table(LONG), Table(IDS), {"columns": {"item": "x"}}, "columns: 'item' is none of user_id, it"),
    (Table({"who": ["u"], "what": ["a"], "rank": [1]}), Table(IDS), {},
     "columns={'ranks': {'user_id': 'NAME', 'it ... , columns={'user_id': 'NAME', 'item_id': 'NAME'} "
     "of both sides; columns"),
    (Table(LONG), Table(IDS), {"columns": {"recs": {"item_id": "x"}}}, "'recs' is none of  ... 'r"),
    (Table(LONG), Table(IDS), {"columns": {"ranks": "x"}}, "columns: 'ranks' is a side: give a di"),
    (Table({**COMPOSITE, "time": [1, None]}), TRUTH, {"columns": AT}, "column 'time' is null in r"),
    (Table(COMPOSITE), Table(IDS), {"columns": AT}, "ground_truths: no columns 'user', 'time'"),
    (Table(COMPOSITE), TRUTH, {"columns": {"user_id": ["user"]}}, "'user_id' is ['user']: give tw"),
    (Table(COMPOSITE), TRUTH, {"columns": {"item_id": ["a", "b"]}},
     "columns: 'item_id' is one column, not ['a', 'b']"),
]  # fmt: skip
USERS = [
    *((THREE, TRUTHS, {"users": users}, words) for users, words in [
        (["ann", "bob"], "users: 2 keys for 3 rows: one per row is needed"),
        (["ann", "bob", "ann"], "users: 'ann' is the key of rows 0 and 2"),
        ("ann", "users is a str: give one key per row"),
        (["ann", 1, 2], "ids of two kinds"),
        ([1.0, 2.0, 3.0], "users: 1.0 is a float, never an id")]),
    ({"ann": [1]}, {"ann": {1}}, {"users": ["ann"]}, "users= names the rows of lists by pos ... d"),
    (Table(LONG), TRUTH, {"users": ["ann"]}, "users= names the rows of lists by position ... tabl"),
    (THREE, lambda: pandas().Series([1, 4, 9], index=KEYS), {},
     "ground_truths is a Series with keys of its own, like 'ann', but ranks is by position: give "
     "ground_truths.to_numpy()  ...  toplist.Ranks(ranks, users=ground_truths.index) to name them"),
    (lambda: pandas().Series(THREE, index=KEYS), TRUTHS, {},
     "toplist.Ranks(ranks.to_numpy(), users=ranks.index) to name them"),
    *((dict(zip([1, 2, 3], THREE, strict=True)), lambda one=one: pandas().Series(one), {},
       "ground_truths is a Series that counts its rows, but")
      for one in ([1, 4, 9], [[1], [4], [9], [7]])),
    ]  # fmt: skip
MAPS = [
    ([["a1", "z"]], [{"a1"}], DOCUMENTS,
     "ranks: user 0 has item 'z' at rank 2, of which items_as= has no document: add it"),
    ({"u": ["a1"]}, {"u": {"z": 1}}, DOCUMENTS,
     "ground_truths: user 'u' has item 'z', of which items_as= has no document"),
    ([[5]], [{"a1"}], DOCUMENTS, "ids of two kinds, 5 in ranks and 'a' in items_as: they are neve"),
    ({"u": ["a1"]}, Table({"user_id": [*"uu"], "item_id": ["a1"] * 2, "relevance": [1, 2]}),
     DOCUMENTS, "user 'u' has item 'a1' twice in the ground truth, with"),
    *(([["a1", "b1"]], [{"a1"}], {"items_as": one}, words) for one, words in [
        ({"a1": None}, "items_as: None is a NoneType, never an id"),
        ({"a1": ["a"]}, "items_as:  ...  is a list, never an id"),
        ({"a1": "a", "b1": 1}, "ids of two kinds"),
        ({"a1": 2**63}, f"{2**63} is an id that int64"),
        ("map.csv", "items_as= is a str: give a dict item -> docum"),
        (lambda _: None, "items_as= returned a NoneType for")]),
    ([["a1", "b1"]], [set()], {"items_as": lambda _: ["a"]},
     "items_as= returned 1 documents for 2 ids: it must return a document for each, in a list"),
    ([["a1"]], [{"a1"}], {**DOCUMENTS, "duplicates": "raise"},
     "duplicates='raise' does not go with items_as=,  ...  or write duplicates='first', which"),
]  # fmt: skip
OPTIONS = [
    *(([[1]], [{1}], {"duplicates": bad}, f"duplicates={bad!r} ... : choose from 'raise', 'first'")
      for bad in ("drop", False, 0)),
    *(([[1]], [{1}], {name: bad}, f"{name}={bad!r}: choose from ")
      for name in ("empty", "missing", "relevant", "aggregate") for bad in ("drop", False, 0)),
    *(([[1]], [{1}], {name: "wrong"}, f"{name}='wrong' ... : choose from ")
      for name in ("ties", "order")),
    ([[1]], [{1}], {"gains": "lineer"}, "(did you mean 'linear'?): choose from 'linear', 'exponen"),
    ([[1]], [{1}], {"n_threads": 0}, "n_threads must be a whole number from 1 on, not 0"),
]  # fmt: skip

# Calls of other functions.
HITS = tl.match([[1]], [{1}])
GROUPS = [
    ({"q": [["a"], []]}, "user 'q', group 1 has no id: leave it out, or write its ids"),
    ({"q": ["a"]}, "user 'q', group 0 is 'a', no list of ids: write ['a']"),
    ({"q": [{"a": 2}]}, "group 0 is {'a': 2}, no list of ids: groups have no grades"),
    ({"q": {"a"}}, "user 'q' has  ...  where a list of groups belongs"),
    ("a", "give a dict user -> list of groups, or a list of these, not a str"),
]
LISTS = [
    (([1, 2], [5]), "offsets must begin with 0 and end with len(items) = 1"),
    (([0, 2, 1, 3], [5, 7, 8]), "offsets fall after position 1"),
    (([0.0, 1.0], [5]), "offsets must be a 1-D array of integers"),
    (([0, 1], [[5]]), "items a 1-D array"),
    (([0, 1], [5], [1, 2]), "2 gains for 1 items"),
    (([0, 3], ["a", "b", 3]), "several kinds, int, str"),
    (([0, 3], [0.5, 1.0, 2.0]), "items are float64"),
    (([0, 1], np.array([True])), "items are bool"),
    ((np.ma.array([0, 1]), [5]), "Lists: offsets is a masked array"),
    (([0, 1], [5], np.ma.array([1.0])), "Lists: gains is a masked array"),
]
MATRICES = [
    ([[0, -math.inf]], "entry -inf of user 0, item 1 ... finite"),
    ([[0.0, 1], [NAN, 0]], "entry nan of user 1, item 0"),
    ([["a"]], "Lists.from_matrix: a 2-D  ... not 2-D of <U1"),
]


MANY = 300_000  # users of more than one block
KEYED = tl.match({"a": [1], "b": [2]}, {"a": {1}, "b": {9}})
ONE_MASKED = np.ma.array([1, 9], mask=[False, True])


def two_users(**options):
    return tl.Hits([0, 1, 1], [2], [1, 0], [2, 1], **options)


def item_map(**columns):
    return tl.match([["a"]], [{"a"}], items_as=frame_of("pandas", columns))


OF_HITS = [
    (lambda: tl.Hits([0, 1], [0], [1], [1]), "user 0: ranks [0] ... rise from 1"),
    (lambda: tl.Hits([0, 2], [2, 2], [2], [3]), "ranks [2, 2]"),
    (lambda: tl.Hits([0, 0], [], [1], [-1]), "list of -1"),
    (lambda: tl.Hits([0, 1], [1], [1, 1], [1]), "disagree on the number of users"),
    (lambda: tl.Hits([1, 1], [1], [1], [1]), "offsets must rise from 0"),
    (lambda: tl.Hits([0, 1], [1.5], [1], [2]), "ranks must be whole numbers"),
    (lambda: two_users(k=1), "user 0: ranks [2] ... list of 2 read to k=1"),
    (lambda: two_users(k=2.5), "k must be a whole number"),
    (lambda: two_users(users=["ann", "ann"]), "user 'ann'"),
    (lambda: two_users(users=["ann"]), "1 users for 2 rows"),
    (lambda: two_users(grades=[1]), "one of them is missing"),
    (lambda: two_users(grades=[1, 2], truth_grades=[3]), "2 grades and 1 of truths for 1 hits"),
    (lambda: tl.Hits([0, 1], [1], [1], [1], grades=[1e200], truth_grades=[1e200]), "at most 1e+14"),
    (lambda: tl.Hits([0, 0], [], [2], [0], [], [1, 3]), "truth_grades must not rise"),
    *((lambda g=grades: tl.Hits([0, 0, 2], [1, 2], [1, 2], [0, 3], grades=g, truth_grades=[1, 2, 1]),
       "Hits: user 1: the grades of its hits are not among those of its truth")
      for grades in ([2, 2], [1, 3], [0, 1])),
    (lambda: tl.Hits(np.arange(MANY + 1), np.ones(MANY), np.ones(MANY), np.ones(MANY),
                     grades=np.ones(MANY), truth_grades=np.arange(MANY) < MANY - 1),
     f"user {MANY - 1}: the grades of its hits"),
    *((lambda rows=rows: KEYED.subset(np.array(rows)), words) for rows, words in [
        ([True], "rows are bool of shape (1,): give row numbers, or a mask of 2"),
        ([0.7], "rows are float64"), ([[0]], "rows are int64 of shape (1, 1)"),
        ([0, 0, 1], "user 'a' is in rows twice"), ([0, -1], "no row -1: there are 2"),
        ([5], "no row 5")]),
    *((call, "is a masked array") for call in (
        lambda: tl.Hits([0, 1], ONE_MASKED[:1], [1], [1]), lambda: KEYED.subset(ONE_MASKED),
        lambda: tl.Hits.from_ranks([1, 2], ONE_MASKED),
        lambda: tl.Hits([0, 1], [1], [1], [1], grades=ONE_MASKED[:1], truth_grades=[1]))),
    (lambda: tl.Hits.from_matrix([[0, 2]], [1]), "2-D array of 0 and 1"),
    (lambda: tl.Hits.from_matrix([[0, 1], [1, 0]], [1, 1], users=[1, 1]), "1 is the key of rows 0"),
    (lambda: tl.Hits.from_ranks([1, 11], 10), "user 1: rank 11 in a list of 10;  ... 0 means not"),
    (lambda: tl.Hits.from_ranks([1.5], 10), "rank_of_the_item must be whole numbers"),
    (lambda: tl.Hits.from_ranks([1, 2], [3, 3, 3]), "n_listed"),
    *((lambda call=call: call(HITS, [{1}], 1), "Hits, joined already: it takes no ground_truths")
      for call in (tl.hit, tl.top_k_eval)),
    *((lambda call=call, more=more: call(HITS, k=1, **more), f"joined already: give {next(iter(more))} to")
      for call in (tl.hit, tl.top_k_eval) for more in ({"duplicates": "first"}, {"padding": -1})),
    *((lambda more=more: tl.top_k_eval(HITS, k=1, **more), f"joined already: give {next(iter(more))} to")
      for more in ({"relevant_from": 1}, DOCUMENTS, {"duplicates": "collapse"}, {"unjudged": "drop"})),
    (lambda: tl.hit(tl.Ranks(HITS, ties="item"), k=1), "joined already: give ties to match"),
    *((lambda call=call, more=more: call(tl.match([[1, 2, 3]], [{3}], 2), **more),
       "k=3 is deeper than the lists of this Hits were read, k=2: match(..., k=3)")
      for call, more in [(tl.hit, {"k": 3}), (tl.top_k_eval, {"k": [1, 3]}),
                         (tl.top_k_eval, {"metrics": "hit@3"})]),
]  # fmt: skip
MORE = [
    *((lambda call=call, bad=bad: call([[1, 2]], [{2}], bad), f"k must be  ...  not {bad!r}")
      for call in (tl.match, tl.ndcg, tl.top_k_eval) for bad in (0, True, 2.0, "3", np.True_)),
    (lambda: tl.top_k_eval([[1]], [{1}], "all"), "not 'all': k=None is whole lists, and metrics= a"),
    *((lambda several=several: tl.top_k_eval([[1, 2]], [{2}], several), "k must be  ...  not ")
      for several in ([1, 0], (2.0,), [1, True])),
    *((lambda call=call: call([[1, 2]], [{2}], [1, 2]), "k must be a whole number from 1 on, not [")
      for call in (tl.match, tl.ndcg)),
    *((lambda call=call: call([[1]], [{1}], WIDE), f"k must be below 2^63, not {WIDE}")
      for call in (tl.match, tl.ndcg, tl.top_k_eval)),
    (lambda: tl.top_k_eval([[1]], [{1}], np.array(1)), "k must be a whole number from 1 on, not array"),
    *((lambda name=name: tl.top_k_eval([[1]], [{1}], 1, **{name: np.array(1.0)}), f"{name} is a ndarray")
      for name in ("weights", "clusters")),
    *((lambda call=call: call([["a"]], [{"a": 1024}]), "the largest grade is 1024: err and nerr div")
      for call in (partial(tl.top_k_eval, k=1, metrics="nerr"), partial(tl.curves, "err"))),
    (lambda: tl.top_k_eval(frame_of("pandas", {**LONG, "m": ["A", "A"]}), {"u": {"a"}}, 1, system="m",
                           keep="part"), "not for streams (keep='part' reads every table as one)"),
    (lambda: tl.top_k_eval([[1]], [{1}], k=[5, 5]), "k=[5, 5] holds a cut-off twice"),
    (lambda: tl.top_k_eval([[1]], [{1}], metrics=f"ndcg@{WIDE}"), "k must be a whole number from"),
    (lambda: tl.top_k_eval([[1]], [{1}], k=[]), "k is empty"),
    (lambda: tl.ndcg([[1]], [{1}], paddin=0), "argument 'paddin' (did you mean 'padding'?)"),
    (lambda: tl.top_k_eval([[1]], [{1}], [1, 3], metrics=["hit@3", "hit"]),
     "'hit@3' is asked for twice, by its own k or by the"),
    *((lambda bad=bad: tl.top_k_eval([[1]], [{1}], metrics=bad), f"metrics={bad!r}: give names, or M")
      for bad in (3, np.array(5))),
    *((lambda bad=bad: tl.top_k_eval([[1], [2]], [{1}, {2}], 1, weights=bad), "weight")
      for bad in (["1", "2"], np.array([1, "2"], object), np.array(["2020"] * 2, "M8[Y]"), [2j, 1],
                  np.array([1, 2], "m8[s]"), np.ma.array([1.0, 2.0], mask=[0, 1]),
                  [1e308, 1e308], [1e101, 1.0], [1e-200, 1e-200])),
    (lambda: tl.top_k_eval({0: [1]}, {0: [1]}, 1, weights=pandas().Series([1.0])),
     "counts its rows ... .set_index ... .to_numpy() if"),
    (lambda: tl.top_k_eval([[1]], [{1}], 1, weights=pandas().Series({"a": 3.0})), "users="),
    (lambda: tl.top_k_eval([[1]], [{1}], 1, weights=frame_of("pandas", {"user_id": ["a"], "w": [3.0]})),
     "weights is a table:  ... dict(zip"),
    *((lambda call=call, ranks=ranks, truths=truths: call(ranks, truths, 10), words)
      for call in (tl.match, tl.ndcg) for ranks, truths, words in [
        ("knn.csv", "truth.csv", "ranks looks  ... .top_k_eval('knn.csv', 'truth.csv', k=10)"),
        (pathlib.Path("k.csv"), [[1]], "ranks looks  ... .top_k_eval('k.csv', ..., k=10"),
        ([[1]], pathlib.Path("t.csv"), "ground_truths looks  ... .top_k_eval(ranks, pathlib.Path('t.csv')"),
        (os.curdir, [[1]], "ranks looks like a path"),
        ("knn", [[1]], "ranks is a str, which has no ranking: are the arguments swapped")]),
    (lambda: tl.top_k_eval([[1]], [{1}], 5, weight="x"),
     "top_k_eval() got an unexpected keyword argument 'weight' (did you mean 'weights'?)"),
    (lambda: tl.Ranks([[1]], format="wrong"), "format='wrong' ... : choose from "),
    (lambda: tl.top_k_eval([[1]], [{1}], 1, system="model"),
     "system='model' names a column of a table of ranks, whi"),
    (lambda: tl.top_k_eval(frame_of("pandas", COMPOSITE), {("a", 1): ["x"]}, 1, columns=AT, clusters="site"),
     "clusters='site' is no column of the keys of the"),
    (lambda: tl.loo.leave_one_out(frame_of("pandas", {**COMPOSITE, "timestamp": [1, 2]}), columns=AT),
     "columns: 'user_id' is one column"),
    (lambda: tl.match({"q": ["a"]}, {"q": ["a"]}) + tl.match({"q": ["a"]}, {"q": ["a"]}),
     "user 'q' is in both parts"),
    (lambda: tl.match([[1, 2]], [{2}]) + tl.match([[1]], [{1}]), "Hits of k 2 and of k 1 do not m"),
    (lambda: tl.match([[1]], [{1}]) + 1, "unsupported operand"),
    (lambda: tl.top_k_eval({1: [1]}, {1: [1]}, 1) + tl.top_k_eval({"1": [1]}, {"1": [1]}, 1),
     "like 1, of the other like '1': these are never equal"),
    (lambda: item_map(item=["a"], document=["b"]), "items_as=: no column 'item_id' ... columns fo"),
    (lambda: item_map(item_id=["a", "a"], document=["b", "c"]), "items_as=: item 'a' has two rows"),
    (lambda: listwise.average_popularity([[1]], counts=pandas().Series([2, 3], index=[1, 1])),
     "counts: item 1 is in the index of the Series twice"),
    (lambda: listwise.average_popularity([[1]], counts=frame_of("polars", {"n": [2, 4]})),
     "one column of numbers, counts[ ... found: ['n'"),
    (lambda: listwise.item_coverage([["c0", "c4"]], catalogue=["a"], items_as={"c0": "a", "c4": "b"}),
     "lists item 'b' at rank 2, which is not in catalogue"),
    (lambda: listwise.item_coverage(
        frame_of("pandas", LONG), catalogue=["a"], columns={"ground_truths": {"item": "x"}}),
     "columns: 'item' is none of user_id"),
    (lambda: tl.beyond.exposure([["a1"]], items_as=CHUNKS, duplicates="raise"),
     "duplicates='raise' does not go with items_as="),
    (lambda: listwise.item_coverage([[1]], catalogue=[1, WIDE]), f"catalogue: {WIDE} is an id th"),
    (lambda: tl.inference.paired_tests({"a": [10**400, 1], "b": [1, 2]}), "value of user 0 of a i"),
    *((lambda metrics=metrics, truth=truth, least=least: tl.top_k_eval(
        {"q": ["x", "a", "c"]}, truth, 3, metrics=metrics, unjudged="drop", relevant_from=least),
       "to drop unjudged items needs judged items that are not relevant,  ...  with grade 0")
      for metrics in ("precision", "judged") for truth, least in [
        ({"q": {"a", "c"}}, None), ({"q": {"a": 1, "c": 2}}, None), ({"q": {"a": 1, "z": -1}}, None),
        ({"q": {"a": 1, "b": 0, "z": -2}}, 0), (tl.Groups({"q": [["a"], ["c"]]}), None)]),
    *((lambda name=name: tl.top_k_eval([["x", "a"]], [{"a": 1, "z": -1}], 2, metrics=name),
       "bpref needs judged items that are not relevant") for name in ("bpref", "bpref(rel=0)")),
]  # fmt: skip
CALLS = [
    *((lambda one=one: tl.Groups(one), words) for one, words in GROUPS),
    *((lambda one=one: Lists(*one), words) for one, words in LISTS),
    *((lambda one=one: Lists.from_matrix(one), words) for one, words in MATRICES),
    *(OF_HITS + MORE),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words[:70] for _, words in CALLS])
def test_what_is_wrong_in_a_call_is_said(call, words):
    said(words, call)


ROWS = [*FORMS, *ITEMS, *PADDING, *GRADES, *SCORES, *TABLES, *USERS, *MAPS, *OPTIONS]


@pytest.mark.parametrize(("ranks", "truths", "options", "words", "name"), [*of_libraries(ROWS)])
def test_what_is_wrong_is_said(ranks, truths, options, words, name):
    """The error does not hang on the function that is called."""
    for door in DOORS:
        said(words, door, made(ranks, name), made(truths, name), **options)


NEVER_IDS = [1.0, 1.5, NAN, math.inf, True, False, None, 1j, np.True_, np.float32(3)]


@pytest.mark.parametrize("bad", NEVER_IDS, ids=repr)
@pytest.mark.parametrize("good", [5, "a"])
def test_never_an_id(bad, good):
    missing = bad is None or bad != bad
    words = ": an item is missing" if missing else f" is a {type(bad).__name__}, never an id"
    place = f"user {{!r}} has {bad!r} at rank 2" if missing else ""
    for row in ([good, bad], (good, bad), np.array([good, bad], object)):
        said(f"ranks: ... {place.format(0)} ... {words}", tl.match, [row], [good])
        said(f"ranks: ... {place.format('ann')} ... {words}", tl.match, {"ann": row}, {"ann": good})
        said(f"ground_truths: ... {words}", tl.match, [[good]], [row])
    for truth in ({good, bad}, {good: 1, bad: 1}, bad):
        said(f"ground_truths: ... {words}", tl.match, {"ann": [good]}, {"ann": truth})


@pytest.mark.parametrize("items", [(WIDE + 1) * 2**20, None])
def test_integers_too_wide_that_share_a_hash_are_refused_at_once(items):
    wide = [(2**61 - 1) * (2**20 + i) for i in range(20_000)]  # hours, as keys of a dictionary
    table = pandas().DataFrame({"user_id": 1, "item_id": wide})
    said("int64 does not hold", *((tl.match, wide, [3]) if items else (tl.match, {1: [3]}, table)))
