"""What is refused in files: a row is a side, its file, and what the error must say.

Every row is read by `read_ranks` or `read_truths`, and evaluated beside another file, with users and
without: the error is the same, and names the file and the line or row.
"""

import gc
import gzip
import os
import re
import sys
from functools import partial

import fuzz_files
import numpy as np
import pytest
from doors import by_words
from file_helpers import fault, jsonl, write_parquet
from shared_inputs import holds, in_small_blocks, library, said

import toplist as tl
from toplist import top_k_eval
from toplist.files import format_of, read_ranks, read_truths

R, T = "user_id,item_id,rank\n", "user_id,item_id\n"
G, S = "user_id,item_id,relevance\n", "user_id,item_id,score\n"
READ = {"ranks": read_ranks, "truth": read_truths}
MAC = r": lines end in \r alone: write line ends as \n or \r\n"
TWICE = "user 'u' ... item 'a' "
NO_ORDER = (
    ":1: no column 'rank' or 'score', columns={'ranks': {'rank': 'NAME'}} or columns={'ranks': "
    "{'score': 'NAME'}} names another, toplist.Ranks(path, order='file') takes the items in the or"
)
LONG = "x" * 100_000
WIDE = 2**63
TEXT = [
    # columns
    ("ranks", "a.csv", T + "u,a\n", NO_ORDER),
    ("ranks", "a.jsonl", jsonl({"user_id": 1, "item_id": 2}), NO_ORDER),
    ("truth", "a.csv", "user_id,item_id,item_id\nu,a,b\n", ":1: two columns are named 'item_id';"),
    ("truth", "a.csv", "user_id,thing\nu,a\n", ":1: no column 'item_id' ... ; columns found: ['us"),
    ("truth", "a.jsonl", '{"user_id":1,"item_id":2}\n{"who":1,"item_id":3}\n',
     ":2: no column 'user_id', columns={'ground_truths': {'user_id': 'NAME'}} names another of "),
    ("truth", "a.csv", T + "u,a\nu\n", ":3: 1 columns instead of 2: ['user_id', 'item_id']"),
    ("truth", "a.csv", T + '"u\n",a\nu,a,b\n', ":4: 3 columns instead of 2: ['user_id', 'item_id'"),
    ("truth", "a.trec", "q 0 d 1\nq Q0 d 1 0.5 t\n", ":2: 6 columns instead of 4: ['qid', 'iterat"),
    ("truth", "a.trec", "q 0 d 1 0.5 t\nq 0 d 1\n", "'rel'] (a line of a run: swapped files?)"),
    ("ranks", "a.trec", "q 0 d 1\n", "'tag'] (a line of qrels: swapped files?)"),
    ("ranks", "a.trec", "q Q0 New York 3 0.5 t\n", ":1: 7 columns instead of 6: ['qid', 'Q0', 'd"),
    ("ranks", "a.trec", "q Q0 New York 3 0.5 t\n", "'tag']: no id has blanks"),
    ("ranks", "a.trec", "q Q0 d 1 0.5 t\n\nq 0 d 1\n", ":3: 4 columns instead of 6: ['qid', 'Q0'"),
    ("truth", "a.qrels", "q 0 d 1\n# by hand\n", ":2: '#': TREC files have no comments, remove th"),
    *(("truth", name, first + second + first.partition("\n")[2], ":3: a second header,  ... cat a.")
      for name, first, second in [
        ("a.csv", T + "u,a\n", T), ("a.csv", T + "u,a\n", "\ufeff" + T), ("a.csv", G + "u,a,1\n", G),
        ("a.tsv", "user_id\titem_id\trelevance\nu\ta\t1\n", "user_id\titem_id\tscore\n")]),
    ("truth", "a.csv", T + "u,auser_id,item_id\n", "a second file joined to this one"),
    # ids
    *(("truth", "a.csv", f"{T}u,a\n{row}\n", f":3: empty {name}") for row, name in [
        (",a", "user_id"), ("u,", "item_id"), ('u,""', "item_id"), (",", "user_id")]),
    *(("truth", "a.jsonl", jsonl({"user_id": 1, "item_id": 1}, bad), f":2: {one} is not an id: use")
      for one, value in [("1.0", 1.0), ("true", True), ('{"a": 1}', {"a": 1}), ('""', "")]
      for bad in ({"user_id": value, "item_id": 2}, {"user_id": 2, "item_id": value})),
    ("truth", "a.jsonl", jsonl({"user_id": 1, "item_id": 1}, {"user_id": 2, "item_id": None}),
     ":2: user 2 has null at place 1: an item is missing"),
    ("ranks", "a.jsonl", jsonl({"user_id": 1, "item_id": [1]}, {"user_id": 2, "item_id": [2, None]}),
     ":2: user 2 has null at place 2: an item is missing"),
    *((side, "a.jsonl", jsonl({"user_id": 1, "item_id": [5, WIDE * 2**n]}),
       f":1: {WIDE * 2**n} is an id that int64 does not hold: write ids as text")
      for side in READ for n in (0, 7)),
    ("ranks", "a.jsonl", '{"user_id":"ann","item_id":["a"]}\n{"user_id":"bob","item_id":[1]}',
     ":2: unlike line 1, ids of two kinds"),
    ("ranks", "a.jsonl", '{"user_id":"ann","item_id":["a",1]}', ":1: ids of two kinds"),
    *((side, "a.jsonl", jsonl(*({"user_id": u, "item_id": [u]} for u in (1, 2, 1))),
       "user 1 is in lines 1 and 3: a user has one list") for side in READ),
    ("ranks", "a.csv", R + "ann,a,1\nbob,b,1\nbob,b,2\neve,e,1\n",
     ":4: user 'bob' has item 'b' at ranks 1 and 2"),
    ("ranks", "a.jsonl", '{"user_id":1,"item_id":[7]}\n{"user_id":2,"item_id":[8,8]}\n',
     ":2: user 2 has item 8 at ranks 1 and 2"),
    # grades
    ("truth", "a.csv", G + "u,a,1\nu,b,2\nu,a,3.5\n", f":4: {TWICE}"),
    ("truth", "a.jsonl", '{"user_id":1,"item_id":[7,7],"relevance":[1,3.5]}\n', ":1: user 1 ... i"),
    ("truth", "a.qrels", "u 0 a 1\nu 0 b 2\nu 0 a 3.5\n", f":3: {TWICE}"),
    *(("truth", "a.jsonl", jsonl({"user_id": 1, "item_id": [7, 8], "relevance": one}),
       ":1: relevance must be a list as long as the list of items") for one in ([1], [1] * 3, 1, None)),
    *((side, "a.jsonl", jsonl({"user_id": 1, **first}, {"user_id": 2, **second}),
       ":2: unlike the lines before: an item or a list") for side, first, second in [
        ("ranks", {"item_id": [1]}, {"item_id": 1, "rank": 1}),
        ("ranks", {"item_id": 1, "score": 1}, {"item_id": 1, "rank": 1}),
        ("truth", {"item_id": 1}, {"item_id": 2, "relevance": 1}),
        ("truth", {"item_id": 1, "relevance": 1}, {"item_id": 2}),
        ("truth", {"item_id": 1}, {"item_id": [2]})]),
    # numbers
    ("ranks", "a.tsv", "user_id\titem_id\trank\nu\tb\thigh\n", ":2: rank 'high' is not a number"),
    *((side, "a.csv", f'{header}u,b,1\nu,a,"{cell}"\n',
       f":{4 if cell == '1' + chr(10) else 3}: {name} {cell!r} is not a {number}")
      for side, header, name, number in [("ranks", R, "rank", "number"), ("ranks", S, "score", "number"),
                                         ("truth", G, "relevance", "finite number")]
      for cell in ("1_0", "１", "0x1", "-inf", "nan", "1e400", "1,5", "", "1 0", "\u00a01", "1\n")),
    *((side, name, text % cell, f":1: {value} {cell!r} is not a ")
      for side, name, text, value in [("ranks", "a.run", "u Q0 a 1 %s t\n", "score"),
                                      ("truth", "a.qrels", "u 0 a %s\n", "relevance")]
      for cell in ("1_0", "１", "nan", "1e400")),
    *((side, "a.jsonl", jsonl({"user_id": 1, "item_id": 2, name: one}), f":1: {name}  ... number")
      for side, name in (("ranks", "score"), ("truth", "relevance"))
      for one in ("1.5", "1_0", None, True, [1], {}, 10**400)),
    *(("ranks", "a.csv", f"{R}ann,a,1\n" + "".join(f"bob,{n},{one}\n" for n, one in enumerate(ranks)),
       words if words[0] == ":" else f":3: ranks: user 'bob' has {words}") for ranks, words in [
        ([1, 0, 2], "ranks 0, 1, 2 where 1 to 3 belong, each once; ranks start at 1"),
        ([1, 1], "ranks 1, 1 where 1 to 2 belong, each once"),
        ([3, 1], "ranks 1, 3 where 1 to 2 belong, each once: where rows were left out"),
        ([-1, 1], "ranks -1, 1 where 1 to 2 belong, each once"),
        ([2**63, 2**63], "ranks 9223372036854775808, 9223372036854775808 where 1 to 2 belong"),
        ([1, 1.5], ":4: rank '1.5' is not a whole number"),
        ([1, float("inf")], ":4: rank 'inf' is not a number")]),
    ("ranks", "a.csv", R + "ann,a,1\n\nbob,b,2\n", ":4: ranks: user 'bob' has ranks 2 where 1 to 1"),
    # JSON
    *(("truth", "a.jsonl", "\n" + jsonl({"user_id": 1, "item_id": 2}) + line + "\n", f":3: {reason}")
      for line, reason in [
        ('{"user_id": 1', "not valid JSON: Expecting ',' delimiter: column 14 (char 13)"),
        ("user_id,item_id", "not valid JSON: Expecting value: column 1 (char 0)"),
        ("9" * 5000, "not valid JSON: Exceeds the limit (4300 digits) for integer string"),
        ("[1, 2]", "not a JSON object: '[1, 2]'"),
        ('"' + "x" * 90 + '"', "not a JSON object: '\"" + "x" * 58),
        ('{"user_id":"u","item_id":"a","item_id":"b"}', "not valid JSON: the key 'item_id' twice"),
        ('{"user_id":1,"item_id":2,"x":{"y":1,"y":1}}', "not valid JSON: the key 'y' twice in an"),
        ('{"user_id":1,"item_id":2,"x":-Infinity}', "not valid JSON: -Infinity is no number of")]),
    ("truth", "a.jsonl", "[" * 100_000, ":1: not valid JSON: "),
    # quotes, line ends, bytes
    *(("ranks", f"a.csv{gz}", f'{R}ann,a,1\nann,"b,2\nann,c,3\n{last}',
       ":3: not readable: a quote opens in this row and does not end before line 5")
      for gz in ("", ".gz") for last in ("bob,b,1\n", 'bob,"b",1\n')),
    ("truth", "a.csv", T + 'u,"a"b\nu,b\n', """:2: not readable: ',' expected after '"'"""),
    ("ranks", "a.csv", R + "u,a,1\nu,b\rc,2\n", r":3: a carriage return within the line: write line en"),
    ("ranks", "a.run", "q Q0 a 1 2 t\nq Q0 b 2 1.5 t\rq Q0 c 3 1 t\n", ":2: a carriage return wit"),
    *(("ranks", name + gz, "user_id,item_id,rank\ru,b,2\rv,c,1\ru,a,1\r", MAC)
      for name in ("mac.csv", "mac.jsonl", "mac.run") for gz in ("", ".gz")),
    *(("truth", name, head + bad, ":3: not readable: 'utf-8' codec can't decode byte 0xff in posit")
      for name, head, bad in [
        ("a.csv", b"user_id,item_id\nu,a\n", b"u,\xff\n"),
        ("a.jsonl", b'{"user_id": 1, "item_id": 2}\n\n', b'{"user_id": "\xff"}\n'),
        ("a.qrels", b"q 0 a 1\nq 0 b 1\n", b"q 0 \xff 1\n")]),
    *(("truth", name, text, "no rows") for name, text in [
        ("a.csv", ""), ("a.csv", "\ufeff"), ("a.csv", "\n\n" + T), ("a.csv", T), ("a.jsonl", ""),
        ("a.tsv", "user_id\titem_id\n\n"), ("a.jsonl", "\n \n"), ("a.qrels", "\n"), ("a.qrels.gz", "")]),
    # names of 100 kB are not said in whole
    ("ranks", "a.csv", f"{R}{LONG},a,2\n", ""), ("ranks", "a.csv", f"{S}u,a,{LONG}\n", ""),
    ("ranks", "a.csv", "user_id,thing" + ",c" * 50_000 + "\nu,a\n", ""),
    ("ranks", "a.jsonl", '{"user_id": 1, "item_id": ["' + LONG + '", []]}\n', ""),
    ("ranks", "a.jsonl", '{"user_id": "' + LONG + '", "item_id": [1, 1]}\n', ""),
    ("ranks", "a.run", f"u Q0 {LONG} 1\n", ""),
]  # fmt: skip
# What `read_ranks` leaves as it is, and an evaluation refuses.
UNREAD = "at ranks 1 and 2"


def evaluations(side, name):
    """Return the evaluations of a file beside a good one."""
    end = ".csv" if "jsonl" not in name else ".jsonl"
    other = f"other{end}"
    sides = (name, other) if side == "ranks" else (tl.Ranks(other, order="file"), name)
    return [partial(by_words, *sides, keep=keep, k=3) for keep in (None, "users")]


@pytest.fixture
def good(put):
    """Write files that may stand beside any other."""
    put("other.csv", T + "ann,a\nbob,b\nu,a\n")
    put("other.jsonl", '{"user_id": 1, "item_id": [1]}\n{"user_id": 2, "item_id": [1]}\n')
    return put


@pytest.mark.parametrize(("side", "name", "text", "words"), TEXT,
                         ids=[f"{row[1]} {row[3][:50]!a} {n}" for n, row in enumerate(TEXT)])  # fmt: skip
def test_text_files(good, side, name, text, words):
    good(name, text)
    calls = [] if UNREAD in words or not words else [partial(READ[side], name)]
    for call in (*calls, *evaluations(side, name)):
        error = fault(call, kind=(ValueError, TypeError))
        assert holds(f"{name}{words}" if words[:1] == ":" else words, error), error
        assert error.startswith(name) or not words


USERS, ITEMS = ["ann", "bob", "bob", "eve"], [*"abcd"]
PARQUET = [
    ("ranks", {"item_id": [*"abbd"], "rank": [1, 1, 2, 1]}, ": row 2: user 'bob' has item 'b' at"),
    *(("ranks", {"score": score}, words) for score, words in [
        ([1.0, 2.0, float("nan"), 1.0], ": row 2: ranks: user 'bob' has a score that is NaN"),
        ([1.0, None, 1.0, 1.0], ": ranks: column 'score' must hold numbers ... in row 1 (user 'bo"),
        (["1"] * 4, ": ranks: column 'score' must hold numbers"),
        ([2.0, -np.inf, 1.0, 1.0], ": row  ... a score that is -inf, of item '")]),
    ("ranks", {"item_id": [["a"], ["b"], ["c", "d"], ["e"]], "user_id": [*"abcd"],
               "score": [[1.0], [2.0], [1.0, np.inf], [1.0]]}, ": row  ... a score that is inf, o"),
    *(("ranks", {"rank": [1, *ranks, 1]}, f": row 1: ranks: user 'bob' has {words}") for ranks, words in [
        ([0, 1], "ranks 0, 1 where 1 to 2 belong, each once; ranks start at 1"),
        ([3, 1], "ranks 1, 3 where 1 to 2 belong"), ([1.0, 1.5], "rank 1.5"), ([2, 2], "ranks 2, 2"),
        ([2**63 - 1, 1], "ranks 1, 9223372036854775807 where 1 to 2 belong"),
        ([1.0, 2.0**64], "ranks 1, 18446744073709551616 where 1 to 2 belong")]),
    ("ranks", {"user_id": None, "who": USERS}, ": no column 'user_id', columns="),
    ("ranks", {"rank": [*"1234"]}, "must hold num"),
    ("truth", {"item_id": ["x", None, "a", "b"]}, "column 'item_id' is null in row 1"),
    ("truth", {"item_id": [*"abbd"], "relevance": [1, 1, 2, 1]},
     ": row 2: user 'bob' has item 'b' twice in the ground"),
    ("ranks", {name: np.array([], np.int64) for name in ("user_id", "item_id", "rank")}, ": no rows"),
    ("ranks", {"user_id": range(24), "item_id": [["x"]] * 22 + [["y", None], ["z"]]},
     "holds a null in the list of row 22"),
    ("ranks", {"user_id": [*range(30), 4], "item_id": [[n, n + 1] for n in range(31)]},
     " is in rows 4 and 30: a user has one list"),
]  # fmt: skip


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(("side", "columns", "words"), PARQUET)
def test_parquet_files(good, monkeypatch, side, columns, words, small):
    """Rows are counted over the parts; a file left half read is closed without pyarrow."""
    if small:
        in_small_blocks(monkeypatch)
    columns = {"user_id": USERS, "item_id": ITEMS} | columns
    write_parquet("a.parquet", **{n: one for n, one in columns.items() if one is not None})
    for call in evaluations(side, "a.parquet"):
        said(f"a.parquet{words}" if words[0] == ":" else words, call)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    gc.collect()


def test_parquet_of_types_that_arrow_cannot_compare(good):
    pa = library("pyarrow")
    texts = {"user_id": ["ann", "bob"], "item_id": ["a", "b"], "model": ["m", "m"]}
    columns = texts | {"rank": [1, 1]}
    never = {"null": pa.nulls(2), "half": pa.array(np.array([1, 2], np.float16))}
    for column in texts:
        for kind, ids in never.items():
            write_parquet("a.parquet", **columns | {column: ids})
            words = "never an id" if kind == "half" else "is null in row 0"
            said(words, by_words, "a.parquet", "other.csv", 3, system="model")
    view = {name: pa.array(some, pa.string_view()) for name, some in texts.items()}
    write_parquet("a.parquet", **columns | view)
    found = by_words("a.parquet", "other.csv", 1, system="model")["m"]
    assert found["hit@1"] == pytest.approx(2 / 3)
    ids = {"user_id": ["ann"] * 2, "item_id": ["a", "b"]}
    for kind in (pa.decimal128(5, 2), pa.decimal256(5)):  # whole decimals are ranks
        ranks = pa.array([1, 2]).cast(pa.decimal128(20)).cast(kind)
        assert top_k_eval(pa.table(ids | {"rank": ranks}), {"ann": ["b"]}, 2)["mrr@2"] == 0.5
    half = pa.table(ids | {"rank": pa.array([1.5, 2.0]).cast(pa.decimal128(5, 1))})
    said("user 'ann' has rank 1.5, which is not whole", top_k_eval, half, {"ann": ["b"]}, 2)


def test_broken_parquet_and_odd_parts_of_a_folder(good, tmp_path, monkeypatch):
    pyarrow, pq = library("pyarrow"), library("pyarrow.parquet")
    users = [f"u{user}" for user in range(40)]
    path = tmp_path / write_parquet("r.parquet", user_id=users, item_id=users, rank=[1] * 40)
    data = path.read_bytes()
    evaluate = partial(by_words, "r.parquet", "other.csv", 3)
    for broken in (data[: len(data) // 2], b"no Parquet at all", b"", data[:-10] + b"0123456789"):
        path.write_bytes(broken)
        said("r.parquet: not readable: ", evaluate)
    path.write_bytes(data[:40] + bytes(60) + data[100:])  # a page, not the footer
    said("r.parquet: ", evaluate)
    bad = pyarrow.array([b"a", b"\xff"], pyarrow.binary())
    bad = pyarrow.Array.from_buffers(pyarrow.string(), 2, bad.buffers())
    write_parquet("r.parquet", user_id=["u", "v"], item_id=bad, rank=[1, 1])
    said("r.parquet: row 1: column 'item_id' is not valid UTF-8", evaluate)
    arrays = [pyarrow.array(x) for x in (["u"], ["a"], [1], ["b"])]
    names = ["user_id", "item_id", "rank", "item_id"]
    pq.write_table(pyarrow.Table.from_arrays(arrays, names=names), "r.parquet")
    said("r.parquet: two columns are named 'item_id'; columns found: ['user_id', 'item", evaluate)
    for folder, odd, words in (
        ("a", {"user_id": [3], "item_id": ["c"]}, "no column 'rank', a/0.parquet has one"),
        ("b", {"user_id": [3], "item_id": [7], "rank": [1]}, "'item_id' holds numbers, in b"),
        ("c", {"user_id": [3], "item_id": [["c"]], "rank": [[1]]}, "'item_id' holds lists of text"),
    ):
        (tmp_path / folder).mkdir()
        for part in range(2):
            write_parquet(f"{folder}/{part}.parquet", user_id=[part], item_id=["a"], rank=[1])
        write_parquet(f"{folder}/2.parquet", **odd)
        start = f"{folder}/2.parquet: unlike the other files of its folder:  ... "
        said(start + words, by_words, folder, "other.csv", 3)
    (tmp_path / "empty.parquet").mkdir()
    words = "empty.parquet: a folder without .parquet files"
    said(words, by_words, "empty.parquet", "other.csv", 3)
    with pytest.raises(FileNotFoundError, match=r"other\.parquet"):
        by_words("other.parquet", "other.csv", 3)
    for step in ("read_schema", "ParquetFile"):
        write_parquet("m.parquet", user_id=["u"], item_id=["a"], rank=[1])

        def full(*args, **options):
            raise pyarrow.ArrowMemoryError("malloc of size 1 failed")

        with monkeypatch.context() as patch:
            patch.setattr(pq, step, full)
            with pytest.raises(MemoryError):
                by_words("m.parquet", "other.csv", 1, keep="users")


def test_two_files_that_do_not_meet(good):
    good("a.csv", R + "ann,a,1\n")
    good("t.csv", T + "x9,a\n")
    good("n.jsonl", '{"user_id": 1, "item_id": [97]}\n{"user_id": "1", "item_id": [98]}\n')
    for keep in (None, "users"):
        words = "no user is in both: a.csv has 'ann', t.csv has 'x9'"
        said(words, by_words, "a.csv", "t.csv", 3, keep=keep)
        words = "a.csv, other.csv: relevant_from=2 needs ground truths with grades"
        said(words, by_words, "a.csv", "other.csv", 3, keep=keep, relevant_from=2)
        apart = good("b.csv", R + "ann,b,1\n"), good("c.csv", T + "ann,a\n")  # no id of both
        words = "padding is 0, but the ids of ranks are like 'b'"
        said(words, top_k_eval, *apart, 3, keep=keep, padding=0)
        words, counts = "ids of two kinds, 'b' in ranks and 0 in counts", tl.Items(counts={0: 1})
        said(words, top_k_eval, *apart, 3, keep=keep, metrics="novelty", items=counts)
        for sides in (("n.jsonl", "other.csv"), ("other.csv", "n.jsonl")):
            said("n.jsonl: ... two kinds", by_words, *sides, 3, keep=keep, order="file")
    for recs, truth, name in (
        ('{"user_id": "a", "item_id": [1]}', '{"user_id": "a", "item_id": ["1"]}', "item_id"),
        ('{"user_id": 1, "item_id": ["a"]}', '{"user_id": "1", "item_id": ["a"]}', "user_id"),
    ):
        sides = good("r.jsonl", recs), good("t.jsonl", truth)
        words = f"'{name}' holds ids of two kinds, '1' in t.jsonl and 1 in r.jsonl"
        said(words, top_k_eval, *sides, 3)


def test_damaged_gzip(good, tmp_path):
    rows = "".join(f"u{i},{os.urandom(8).hex()}\n" for i in range(5000))
    path = tmp_path / good("a.csv.gz", T + rows)
    whole = path.read_bytes()
    for data, words in (
        (whole[: len(whole) // 2], "Compressed file ended before the"),
        (whole[:-8] + b"\0" * 8, "CRC check failed"),
        (whole[:20] + b"\xff" * 40 + whole[60:], ""),
        (b"user_id,item_id\nu,a\n", "Not a gzipped file (b'us')"),
    ):
        path.write_bytes(data)
        for call in (partial(read_truths, path), partial(by_words, path, path, 1, order="file")):
            said(f": not readable: {words}", call)
    lines = [f"u{i},{i * 7919 % 1000},{j}\n" for i in range(3000) for j in (1, 2)]
    packed = gzip.compress((R + "".join(lines)).encode())
    good("cut.csv", packed[: len(packed) // 2])
    said("cut.csv: not readable: Compressed file ended before", by_words, "cut.csv", "other.csv", 3)


@pytest.mark.parametrize("n", [25, pytest.param(1500, marks=pytest.mark.slow(seconds=20))])
def test_mutated_files(n):
    """Streamed and in memory agree, every error is one line that names a file, nothing hangs."""
    assert fuzz_files.fuzz(n, seed=1) == []


# Formats

FORMATS = [
    *((lambda name=name: read_truths(name), f"{name}: the extension names no format: use .csv, .tsv, "
       ".jsonl, .run ... , .parquet, or name it by toplist.files.read_truths(path, format=...) (one ")
      for name in ("a.json", "a.gz", "a", "csv", ".csv.zip", "a.csv.gz.gz")),
    (lambda: read_ranks("l.csv", format="xml"), "format='xml': choose from 'csv', 'tsv', 'jsonl'"),
    (lambda: read_ranks("l.csv", order="rank"), "order='rank': choose from 'file'"),
    (lambda: read_truths("l.csv", columns={"user": "x"}), "columns: 'user' is none of user_id, it"),
    (lambda: top_k_eval(tl.Ranks("a", format="xml"), "b", 3), "format='xml': choose from 'csv'"),
    (lambda: top_k_eval("none.csv", "none.csv", 3, metrics="nope"), "metric 'nope'"),
    (lambda: top_k_eval("l.csv", "t.dat", 3), "name it by toplist.GroundTruths(path, format=...) (o"),
    *((lambda read=read: read(b"user_id,item_id\nann,a\n"), "is no path of a file: give text or a")
      for read in READ.values()),
    *((lambda read=read: read(None), "is no path of a file: give text or a Path")
      for read in READ.values()),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), FORMATS)
def test_formats_and_words(good, call, words):
    good("l.csv", T + "ann,tea\n")
    said(words, call)
    with pytest.raises(FileNotFoundError):
        read_ranks("none.csv")


def test_text_files_of_6_and_4_columns_are_of_trec(put, cli):
    for packed in ("", ".gz"):
        run = put(f"run.txt{packed}", "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n")
        qrels = put(f"qrels.txt{packed}", "q1 0 d2 1\nq1 0 d3 0\n")
        assert format_of(run) == format_of(qrels) == "trec" and format_of("a.CSV.gz") == "csv"
        assert top_k_eval(run, qrels, 2)["mrr@2"] == 0.5
        assert read_ranks(run) == {"q1": ["d1", "d2"]} and cli("eval", run, qrels)[0] == 0
    for text, n in ((R + "a,b,1\n", 1), ("a b c\n", 3), ("", 0)):
        words = "a.txt: a .txt file is of TREC, 6 columns in a run and 4 in qrels"
        words += f" ... first line has {n}: name another format by toplist.Ranks(path, format=...)"
        said(words, top_k_eval, put("a.txt", text), "t.csv", 1)
    assert read_truths(put("a.txt", T + "a,b\n"), format="csv") == {"a": {"b"}}
    assert read_ranks(put("b.csv", "q1 Q0 d1 1 0.5 tag\n"), format="trec") == {"q1": ["d1"]}


# Files of facts, on the command line

FACTS = {
    "--counts": ("novelty", "item_id,count\nb,1\na,{}\n"),
    "--features": ("intra_list_diversity", "item_id,f\nb,1\na,{}\n"),
}
CELLS = ["1_0", "１", "inf", "high", ""]


@pytest.mark.parametrize("flag", FACTS)
def test_files_of_facts(put, cli, flag):
    put("l.csv", R + "u,a,1\nu,b,2\n")
    put("t.csv", T + "u,a\n")
    metric, text = FACTS[flag]

    def status(content):
        return cli("eval", "l.csv", "t.csv", "-k", 2, "-m", metric, flag, put("f.csv", content))

    for cell in CELLS:
        error = status(text.format(cell))[2]
        assert re.search(r"f\.csv:3: \w+ .* is not a number", error), error
    header, good = text.partition("\n")[0], text.format(2)
    assert "f.csv:4: a second header" in status(f"{good}{header}\nc,3\n")[2]
    assert "lines end in" in status(good.replace("\n", "\r"))[2]
    assert status(text.format(" +.5e2 "))[0] == 0
