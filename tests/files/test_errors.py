"""What errors of files name: the file, the line or row, the user and the way out."""

import gzip

import fuzz_files
import numpy as np
import pytest
from file_helpers import fault, faults, write_parquet

import toplist as tl
from toplist import top_k_eval

TRUTH = "user_id,item_id\nann,a\nbob,b\neve,c\n"


def test_an_item_twice_names_the_line(put):
    truth, users = put("t.csv", TRUTH), ["ann", "bob", "bob", "eve"]
    put("a.csv", "user_id,item_id,rank\nann,a,1\nbob,b,1\nbob,b,2\neve,e,1\n")
    put("a.jsonl", '{"user_id":"ann","item_id":["a"]}\n{"user_id":"bob","item_id":["b","b"]}\n')
    write_parquet("a.parquet", user_id=users, item_id=list("abbe"), rank=[1, 1, 2, 1])
    for name, place in (("a.csv", ":4"), ("a.jsonl", ":2"), ("a.parquet", ": row 1")):
        for error in faults(name, truth):
            assert error.startswith(f"{name}{place}: user 'bob' has item 'b' at ranks 1 and 2")


def test_two_grades_name_the_line(put):
    recs = put("a.csv", "user_id,item_id,rank\nann,a,1\nbob,b,1\n")
    put("t.csv", "user_id,item_id,relevance\nann,a,1\nbob,b,1\nbob,c,1\nbob,b,2\n")
    write_parquet("t.parquet", user_id=["ann", "bob", "bob"], item_id=[*"abb"], relevance=[1, 1, 2])
    for truth, place in (("t.csv", ":5"), ("t.parquet", ": row 1")):
        for error in faults(recs, truth):
            assert error.startswith(f"{truth}{place}: user 'bob' has item 'b' twice in the ground")


@pytest.mark.parametrize(
    ("score", "place", "said"),
    [
        ([1.0, 2.0, float("nan"), 1.0], "row 1: ", "user 'bob' has a score that is NaN"),
        ([1.0, None, 1.0, 1.0], "", "column 'score' must hold numbers"),
        (["1"] * 4, "", "column 'score' must hold numbers"),
    ],
)
def test_scores_that_are_no_number_name_the_row(put, score, place, said):
    users, truth = ["ann", "bob", "bob", "eve"], put("t.csv", TRUTH)
    write_parquet("a.parquet", user_id=users, item_id=list("abcd"), score=score)
    for error in faults("a.parquet", truth):
        assert error.startswith(f"a.parquet: {place}ranks: {said}")
        assert error.endswith("null in row 1 (user 'bob')") == (None in score)


def test_no_user_in_both_names_both_files(put):
    put("a.csv", "user_id,item_id,rank\nann,a,1\n")
    put("t.csv", "user_id,item_id\nx9,a\n")
    expected = "no user is in both: a.csv has 'ann', t.csv has 'x9'"
    assert faults("a.csv", "t.csv") == [expected, expected]


def test_options_are_not_blamed_on_a_line(put):
    put("a.csv", "user_id,item_id,rank\nann,a,1\n")
    for error in faults("a.csv", put("t.csv", TRUTH), relevant_from=2):
        assert error.startswith("a.csv, t.csv: relevant_from=2 needs ground truths with grades")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "user_id,item_id,rank\n" + "u" * 100_000 + ",a,2\n"),
        ("a.csv", "user_id,item_id,score\nu,a," + "x" * 100_000 + "\n"),
        ("a.csv", "user_id,thing" + ",c" * 50_000 + "\nu,a\n"),
        ("a.csv", "user_id,item_id,rank" + ",c" * 50_000 + "\nu,a\n"),
        ("a.csv", "user_id,item_id,rank\n" + f"u,{'i' * 99_999},1\nu,{'i' * 99_999},2\n"),
        ("a.jsonl", '{"user_id": 1, "item_id": ["' + "x" * 100_000 + '", []]}\n'),
        ("a.jsonl", '{"' + "k" * 100_000 + '": 1}\n'),
        ("a.jsonl", '{"k": 1, "k": 1, "' + "k" * 100_000 + '": 1}\n'),
        ("a.jsonl", '{"user_id": "' + "x" * 100_000 + '", "item_id": [1, 1]}\n'),
        ("a.run", "u Q0 " + "x" * 100_000 + " 1\n"),
    ],
)
def test_messages_stay_short(put, name, text):
    """A name of 100 kB is not told in whole."""
    put("t.csv", "user_id,item_id\nu,a\n" if "jsonl" not in name else "user_id,item_id\n1,1\n")
    for error in faults(put(name, text), "t.csv"):
        assert len(error) < 2000


@pytest.mark.parametrize("side", ["a.jsonl", "t.jsonl"])
def test_integers_that_int64_does_not_hold(put, side):
    wide = side[0] == "a"
    put("a.jsonl", f'{{"user_id": 1, "item_id": [5, {2**63 if wide else 7}]}}\n')
    put("t.jsonl", f'{{"user_id": 1, "item_id": [5, {7 if wide else 2**70}]}}\n')
    for error in faults("a.jsonl", "t.jsonl"):
        beyond = f"{2**63 if wide else 2**70} is an id that int64 does not hold: write ids as text"
        assert f"{side}:1: {beyond}" in error


@pytest.mark.parametrize(
    "text",
    [
        '{"user_id": 1, "item_id": [1, "2"]}\n',
        '{"user_id": 1, "item_id": [97]}\n{"user_id": "1", "item_id": [98]}\n',
    ],
)
def test_kinds_of_ids_in_one_file(put, text):
    """A file of integers and texts is refused beside a text file too, on either side."""
    put("t.csv", "user_id,item_id\n1,1\n")
    put("a.jsonl", text)
    for files in (("a.jsonl", "t.csv"), ("t.csv", "a.jsonl")):
        for error in faults(*files, order="file"):
            assert error.startswith("a.jsonl:") and "two kinds" in error and "'" in error


@pytest.mark.parametrize(
    ("recs", "truth", "name"),
    [
        ('{"user_id": "a", "item_id": [1]}', '{"user_id": "a", "item_id": ["1"]}', "item_id"),
        ('{"user_id": 1, "item_id": ["a"]}', '{"user_id": "1", "item_id": ["a"]}', "user_id"),
    ],
)
def test_two_kinds_of_ids(put, recs, truth, name):
    error = fault(top_k_eval, put("r.jsonl", recs), put("t.jsonl", truth), 3, kind=TypeError)
    assert f"'{name}' holds ids of two kinds, '1' in t.jsonl and 1 in r.jsonl" in error


@pytest.mark.parametrize("n", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_mutated_files(n):
    """Streamed and in memory agree, every error is one line that names a file, nothing hangs."""
    assert fuzz_files.fuzz(n, seed=1) == []


@pytest.mark.parametrize("name", ["q.csv", "q.csv.gz"])
@pytest.mark.parametrize("last", ["bob,b,1\n", 'bob,"b",1\n'])
def test_an_open_quote_names_the_line_where_it_opens(put, name, last):
    put(name, f'user_id,item_id,rank\nann,a,1\nann,"b,2\nann,c,3\n{last}')
    for error in faults(name, put("t.csv", TRUTH)):
        start = f"{name}:3: not readable: a quote opens in this row and does not end before line 5"
        assert error.startswith(start)


def test_a_cut_gzip_names_no_line(put):
    lines = [f"u{i},{i * 7919 % 1000},{j}\n" for i in range(3000) for j in (1, 2)]
    packed = gzip.compress(f"user_id,item_id,rank\n{''.join(lines)}".encode())
    put("cut.csv", packed[: len(packed) // 2])
    for error in faults("cut.csv", put("t.csv", TRUTH)):
        assert error.startswith("cut.csv: not readable: Compressed file ended before")


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (['{"user_id":"ann","item_id":["a"]}', '{"user_id":"bob","item_id":[1]}'], (2, 1)),
        (['{"user_id":"ann","item_id":["a",1]}'], (1,)),
        (['{"user_id":"ann","item_id":[]}', '{"user_id":7,"item_id":["a"]}'], (2, 1)),
    ],
)
def test_ids_of_two_kinds_name_both_lines(put, lines, place):
    put("a.jsonl", "\n".join(lines))
    start = ": unlike line ".join(map(str, place))
    start = f"a.jsonl:{start}{', ' if len(place) > 1 else ': '}ids of two kinds"
    for error in faults("a.jsonl", put("t.csv", TRUTH)):
        assert error.startswith(start)
    assert fault(tl.files.read_ranks, "a.jsonl", kind=TypeError).startswith(start)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("lists", [False, True])
def test_an_infinite_score_of_parquet_is_refused_as_in_text(put, value, lists):
    users, items, scores = ["ann", "ann", "bob"], ["a", "b", "c"], np.array([2.0, value, 1.0])
    if lists:
        users, items, scores = ["ann", "bob"], [["a"], ["b", "c"]], [[2.0], [1.0, value]]
    write_parquet("a.parquet", user_id=users, item_id=items, score=scores)
    for error in faults("a.parquet", put("t.csv", TRUTH)):
        assert "a.parquet: row " in error and f"a score that is {value}, of item '" in error


def test_parquet_of_types_that_arrow_cannot_compare(put):
    pa = pytest.importorskip("pyarrow")
    truth = put("t.csv", TRUTH)
    good = {"user_id": ["ann", "bob"], "item_id": ["a", "b"], "rank": [1, 1], "model": ["m", "m"]}
    never = {"null": pa.nulls(2), "half": pa.array(np.array([1, 2], np.float16))}
    for column in ("user_id", "item_id", "model"):
        for kind, ids in never.items():
            write_parquet("a.parquet", **good | {column: ids})
            for error in faults("a.parquet", truth, system="model"):
                assert ("never an id" if kind == "half" else "is null in row 0") in error
    texts = "user_id", "item_id", "model"
    view = {name: pa.array(good[name], pa.string_view()) for name in texts}
    write_parquet("a.parquet", **good | view)
    found = top_k_eval("a.parquet", truth, 1, system="model")["m"]
    assert found["hit@1"] == pytest.approx(2 / 3)
    write_parquet("a.parquet", **good | view | {"rank": [1, 2]})
    for error in faults("a.parquet", truth, 1):
        assert "a.parquet: row 1: ranks: user 'bob' has ranks 2" in error


def test_whole_decimals_are_ranks():
    pa = pytest.importorskip("pyarrow")
    ids = {"user_id": ["ann"] * 2, "item_id": ["a", "b"]}
    truth = {"ann": ["b"]}
    for kind, value in ((pa.decimal128(5, 2), 0.5), (pa.decimal256(5), 0.5)):
        ranks = pa.array([1, 2]).cast(pa.decimal128(20)).cast(kind)
        assert top_k_eval(pa.table(ids | {"rank": ranks}), truth, 2)["mrr@2"] == value
    half = pa.array([1.5, 2.0]).cast(pa.decimal128(5, 1))
    error = fault(top_k_eval, pa.table(ids | {"rank": half}), truth, 2)
    assert "user 'ann' has rank 1.5, which is not whole" in error


def test_what_is_no_path_is_told():
    said = "is no path of a file: give text or a Path"
    for read in (tl.files.read_ranks, tl.files.read_truths):
        assert f"{said} (os.fsdecode" in fault(read, b"user_id,item_id\nann,a\n", kind=TypeError)
        assert fault(read, None, kind=TypeError).endswith(said)
