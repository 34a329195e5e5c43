"""Text files of ids, CSV, TSV, TREC and JSONL: what is read from them, and what is refused."""

import json
import os

import pytest
from doors import by_words
from file_helpers import fault, jsonl

import toplist as tl
from toplist import top_k_eval
from toplist.files import read_ranks, read_truths, tables

IDS = ["a", "Z", "é", "z", "a1", "10", "9", "\U0001f600", "\uffff"]
BIG = 2**63 - 1
RANKED = {
    "rank wins over score": (
        *("a.csv", "user_id,item_id,score,rank\nu,a,9,2\nv,x,1,1\nu,b,1,1\n"),
        {"u": ["b", "a"], "v": ["x"]},
    ),
    "a rank may be written as a float": (
        *("a.csv", "user_id,item_id,rank\nu,a,2.0\nu,b,1.0\n"),
        {"u": ["b", "a"]},
    ),
    "equal scores stay in the order of the file": (
        *("a.csv", "user_id,item_id,score\nu,b,1\nu,c,2\nu,a,1\nu,d,-1e300\nu,e,1.0\nu,f,1e3\n"),
        {"u": ["f", "c", "b", "a", "e", "d"]},
    ),
    "a carriage return within quotes": (
        *("a.csv", 'user_id,item_id,rank\nu,"b\rc",1\n'),
        {"u": ["b\rc"]},
    ),
    "equal scores of a run by the bytes of ids, descending": (
        "a.run",
        "".join(f"q Q0 {one} 1 0.5 t\n" for one in IDS) + "q Q0 top 1 0.50001 t\n",
        {"q": ["top", *sorted(IDS, key=str.encode, reverse=True)]},
    ),
    "scores of a run are doubles": (
        *("a.trec.gz", "q Q0 z 1 0.12345678901 t\nq Q0 a 2 0.12345678902 t\n"),
        {"q": ["a", "z"]},
    ),
    "ids of a run may begin with a hash, blanks are free": (
        *("a.run", "\nq#1 Q0 #d 1 0.5 #t\r\n   \n#q\tQ0  d#2 1\t 0.7 t"),
        {"q#1": ["#d"], "#q": ["d#2"]},
    ),
    "a document twice is left in a run": (
        *("a.run", "q Q0 a 1 3 t\nq Q0 b 1 2 t\nq Q0 a 1 1 t\n"),
        {"q": ["a", "b", "a"]},
    ),
    "runs of different queries with different tags are one run": (
        *("a.run", "q1 Q0 d1 1 2.0 bm25\nq2 Q0 d1 1 2.0 bm25\nq3 Q0 d9 1 1.5 dense\n"),
        {"q1": ["d1"], "q2": ["d1"], "q3": ["d9"]},
    ),
    "texts of jsonl stay text": (
        "a.jsonl",
        jsonl({"user_id": 1, "item_id": ["1", "007"]}, {"user_id": 2, "item_id": ["-5"]}),
        {1: ["1", "007"], 2: ["-5"]},
    ),
    "integers of jsonl stay integers": (
        "a.jsonl",
        jsonl({"user_id": "1", "item_id": [1, BIG, -5]}, {"user_id": "2", "item_id": [7]}),
        {"1": [1, BIG, -5], "2": [7]},
    ),
    "lists of jsonl, an empty one too": (
        "a.jsonl",
        jsonl({"user_id": 2, "item_id": [9, 7, 8]}, {"user_id": 1, "item_id": []}),
        {2: [9, 7, 8], 1: []},
    ),
    "lists of jsonl by lists of scores": (
        "a.jsonl",
        jsonl({"user_id": 1, "item_id": [7, 8, 9], "score": [0.1, 0.9, 0.5]}),
        {1: [8, 9, 7]},
    ),
    "lists of jsonl by lists of ranks": (
        "a.jsonl",
        jsonl({"user_id": 1, "item_id": [7, 8, 9], "rank": [3, 1, 2]}),
        {1: [8, 9, 7]},
    ),
}
RELEVANT = {
    "without relevance a set": (
        *("a.csv.gz", "user_id,price,item_id\nbob,1,tea\nann,2,jam\nbob,3,jam\nbob,4,tea\n"),
        {"bob": {"tea", "jam"}, "ann": {"jam"}},
    ),
    "relevance as it is given": (
        *("a.csv", "user_id,item_id,relevance\nu,a,0\nu,b,0.5\nv,a,1\nu,b,0.50\n"),
        {"u": {"a": 0, "b": 0.5}, "v": {"a": 1}},
    ),
    "grades beside integers that no double holds": (
        *("a.csv", "user_id,item_id,relevance\na,x,0.5\na,y,2\nb,z,9007199254740993\n"),
        {"a": {"x": 0.5, "y": 2.0}, "b": {"z": 9007199254740992.0}},
    ),
    "ranks are not looked at": (
        *("a.csv", "user_id,item_id,rank\nu,a,x\n"),
        {"u": {"a"}},
    ),
    "other columns may have one name": ("a.csv", "user_id,x,item_id,x\nu,1,a,2\n", {"u": {"a"}}),
    "ids are exact text": (
        "a.csv",
        'user_id,item_id\n01, a \n1,"b,c"\n1.0,"d ""e"""\n1,é\n#1,nan\n"2\n3",x\n',
        {"01": {" a "}, "1": {"b,c", "é"}, "1.0": {'d "e"'}, "#1": {"nan"}, "2\n3": {"x"}},
    ),
    "tsv splits at tabs only": (
        *("a.tsv", 'user_id\titem_id\nann b\ttea, hot\nann b\t"5"" disk"\n'),
        {"ann b": {"tea, hot", '5" disk'}},
    ),
    "a byte order mark within the file is part of an id": (
        *("a.csv", "user_id,item_id\n\ufeffu,a\n"),
        {"\ufeffu": {"a"}},
    ),
    "qrels": (
        *("a.qrels", "q2 0 d1 0\nq1 0 d1 1\nq1 0 d2 0\nq1 0 d3 -2\nq1 0 d1 1\nq3 0 d9 -1\n"),
        {"q2": {"d1": 0}, "q1": {"d1": 1, "d2": 0, "d3": -2}, "q3": {"d9": -1}},
    ),
    "qrels with grades": (
        *("a.qrels", "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 -1\nq2 0 d1 0\nq3 0 d1 1\n"),
        {"q1": {"d1": 2, "d2": 0, "d3": -1}, "q2": {"d1": 0}, "q3": {"d1": 1}},
    ),
    "ids of qrels may begin with a hash": (
        *("a.qrels", "q 0 #d 1\n#q 0 d 1\n"),
        {"q": {"#d"}, "#q": {"d"}},
    ),
    "qrels split at ascii blanks only": (
        *("a.qrels", "q 0 d\u00a01\u2003x 1\n"),
        {"q": {"d\u00a01\u2003x"}},
    ),
    "lists of jsonl, an empty one too": (
        "a.jsonl",
        jsonl({"user_id": 2, "item_id": [7, 8, 7]}, {"user_id": 1, "item_id": []}),
        {2: {7, 8}, 1: set()},
    ),
    "lists of jsonl with grades": (
        "a.jsonl",
        jsonl(
            {"user_id": 1, "item_id": [7, 8], "relevance": [2, 0]},
            {"user_id": 2, "item_id": [], "relevance": []},
        ),
        {1: {7: 2, 8: 0}, 2: {}},
    ),
    "lines of jsonl with grades": (
        *("a.jsonl", jsonl({"user_id": 1, "item_id": 2, "relevance": 3})),
        {1: {2: 3}},
    ),
    "other keys of jsonl are free": (
        "a.jsonl",
        jsonl({"user_id": 1, "item_id": 2, "note": 1}, {"item_id": 3, "user_id": 1}),
        {1: {2, 3}},
    ),
}


def read_is(found, expected):
    """Assert that users, in their order, and their items are those expected."""
    assert found == expected
    assert list(found) == list(expected)


@pytest.mark.parametrize(("name", "text", "expected"), RANKED.values(), ids=RANKED)
def test_ranked_lists(put, name, text, expected):
    read_is(read_ranks(put(name, text)), expected)


@pytest.mark.parametrize(("name", "text", "expected"), RELEVANT.values(), ids=RELEVANT)
def test_ground_truths(put, name, text, expected):
    read_is(read_truths(put(name, text)), expected)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "user_id,item_id,rank\nu,b,2\nv,x,none\nu,a,2\n", {"u": ["b", "a"], "v": ["x"]}),
        ("a.run", "q Q0 a 1 0.1 t\nq Q0 b 1 0.9 t\n", {"q": ["a", "b"]}),
        ("a.jsonl", '{"user_id":1,"item_id":8}\n{"user_id":1,"item_id":7}\n', {1: [8, 7]}),
        ("b.jsonl", jsonl({"user_id": 2, "item_id": [9, 7, 8]}), {2: [9, 7, 8]}),
    ],
)
def test_the_order_of_the_file(put, name, text, expected):
    read_is(read_ranks(put(name, text), order="file"), expected)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_byte_order_mark_and_line_ends(put, mark, end, last):
    rows = ["user_id,item_id", "ann,tea", "", "ann,jam"]
    text = mark + end.join(rows) + (end if last else "")
    assert read_truths(put("a.csv", text)) == {"ann": {"tea", "jam"}}
    text = mark + end.join(["a 0 tea 1", "a 0 jam 1"]) + (end if last else "")
    assert read_truths(put("a.qrels", text)) == {"a": {"tea", "jam"}}
    text = mark + end.join(['{"user_id": 1, "item_id": [2, 3]}', "  "]) + (end if last else "")
    assert read_truths(put("a.jsonl", text)) == {1: {2, 3}}


def test_renamed_columns(put):
    path = put("a.csv", "userId,movieId,place,rank\nu,a,2,x\nu,b,1,y\n")
    columns = {"user_id": "userId", "item_id": "movieId", "rank": "place", "relevance": "none"}
    assert read_ranks(path, columns=columns) == {"u": ["b", "a"]}
    path = put("a.jsonl", jsonl({"u": 1, "i": 2, "r": 3}))
    columns = {"user_id": "u", "item_id": "i", "relevance": "r", "score": "none"}
    assert read_truths(path, columns=columns) == {1: {2: 3}}
    path = put("a.qrels", "q 0 d 1\n")  # its columns have no names
    assert read_truths(path, columns={"user_id": "userId", "relevance": "x"}) == {"q": {"d"}}


# What is refused, with the line


COLUMNS = "['userId', 'item_id', 'rank']"
RANKS = "columns={'ranks': {"
ABSENT = [
    (read_ranks, {}, f"'user_id' (did you mean 'userId'?), {RANKS}'user_id': 'NAME'}}}} names"),
    (read_ranks, {"user_id": "userId", "item_id": "movie"}, f"'movie', {RANKS}'item_id'"),
    (read_ranks, {"user_id": "userId", "score": "points"}, f"'points', {RANKS}'score'"),
    (read_truths, {"user_id": "userId", "relevance": "x"}, "'x', columns={'ground_truths': {'rele"),
]


@pytest.mark.parametrize(("read", "columns", "said"), ABSENT)
def test_absent_columns(put, read, columns, said):
    error = fault(read, put("a.csv", "userId,item_id,rank\nu,a,1\n"), columns=columns)
    assert error.startswith(f"a.csv:1: no column {said}")
    assert error.endswith(f"; columns found: {COLUMNS}")


TWO_GRADES = "user 'u': item 'a' has relevance 1 and 3.5"
NO_ORDER = (
    f"no column 'rank' or 'score', {RANKS}'rank': 'NAME'}}}} names another, order='file' takes "
    "the items in the order of the file (is this the ground truth?); columns found: ['us"
)
REFUSED = {
    "a key that a later line lacks": (
        *(read_truths, "a.jsonl", '{"user_id":1,"item_id":2}\n{"who":1,"item_id":3}\n'),
        ":2: no column 'user_id', columns={'ground_truths': {'user_id': 'NAME'}} names another; ",
    ),
    "a column twice": (
        *(read_truths, "a.csv", "user_id,item_id,item_id\nu,a,b\n"),
        ":1: two columns are named 'item_id'; columns found: ['user_id', 'item_id', 'item_id']",
    ),
    "no order": (read_ranks, "a.csv", "user_id,item_id\nu,a\n", f":1: {NO_ORDER}"),
    "no order in jsonl": (
        *(read_ranks, "a.jsonl", jsonl({"user_id": 1, "item_id": 2}), f":1: {NO_ORDER}"),
    ),
    "too few columns": (
        *(read_truths, "a.csv", "user_id,item_id\nu,a\nu\n"),
        ":3: 1 columns instead of 2: ['user_id', 'item_id']",
    ),
    "too many columns": (
        *(read_truths, "a.csv", 'user_id,item_id\n"u\n",a\nu,a,b\n'),
        ":4: 3 columns instead of 2: ['user_id', 'item_id']",
    ),
    "a run as qrels": (
        *(read_truths, "a.trec", "q 0 d 1\nq Q0 d 1 0.5 t\n"),
        ":2: 6 columns instead of 4: ['qid', 'iteration', 'docno', 'rel']",
    ),
    "qrels as a run": (
        *(read_ranks, "a.trec", "q Q0 d 1 0.5 t\n\nq 0 d 1\n"),
        ":3: 4 columns instead of 6: ['qid', 'Q0', 'docno', '(rank)', 'score', 'tag']",
    ),
    "a comment in qrels": (
        *(read_truths, "a.qrels", "q 0 d 1\n# by hand\n"),
        ":2: '#': TREC files have no comments, remove the line",
    ),
    "two grades": (
        *(read_truths, "a.csv", "user_id,item_id,relevance\nu,a,1\nu,b,2\nu,a,3.5\n"),
        f":4: {TWO_GRADES}",
    ),
    "two grades in a list": (
        *(read_truths, "a.jsonl", '{"user_id":"u","item_id":["a","a"],"relevance":[1,3.5]}\n'),
        f":1: {TWO_GRADES}",
    ),
    "two grades in qrels": (
        *(read_truths, "a.qrels", "u 0 a 1\nu 0 b 2\nu 0 a 3.5\n"),
        f":3: {TWO_GRADES}",
    ),
    "a list within a list": (
        *(read_ranks, "a.jsonl", jsonl({"user_id": 1, "item_id": [[2]]})),
        ":1: [2] is not an id: use integers or texts",
    ),
    "a list as a user": (
        *(read_ranks, "a.jsonl", jsonl({"user_id": [1], "item_id": [2]})),
        ":1: [1] is not an id: use integers or texts",
    ),
    "nested too deeply": (read_truths, "a.jsonl", "[" * 100_000, ":1: not valid JSON: "),
    "an open quote": (
        *(read_truths, "a.csv", 'user_id,item_id\nu,"a\nu,b\n'),
        ":2: not readable: a quote opens in this row and does not end before line 3: unexpected",
    ),
    "text after a quote": (
        *(read_truths, "a.csv", 'user_id,item_id\nu,"a"b\nu,b\n'),
        """:2: not readable: ',' expected after '"'""",
    ),
    "a carriage return within a line": (
        *(read_ranks, "a.csv", "user_id,item_id,rank\nu,a,1\nu,b\rc,2\n"),
        r":3: a carriage return within the line: write line ends as \n or \r\n",
    ),
    "a carriage return within a line of a run": (
        *(read_ranks, "a.run", "q Q0 a 1 2 t\nq Q0 b 2 1.5 t\rq Q0 c 3 1 t\n"),
        ":2: a carriage return within the line",
    ),
}


@pytest.mark.parametrize(("read", "name", "text", "said"), REFUSED.values(), ids=REFUSED)
def test_refused_with_the_line(put, read, name, text, said):
    assert fault(read, put(name, text)).startswith(f"{name}{said}")


@pytest.mark.parametrize(
    ("row", "name"), [(",a", "who"), ("u,", "item_id"), ('u,""', "item_id"), (",", "who")]
)
def test_empty_id(put, row, name):
    path = put("a.csv", f"who,item_id\nu,a\n{row}\n")
    assert fault(read_truths, path, columns={"user_id": "who"}) == f"a.csv:3: empty {name}"


HEADERS = [
    ("a.csv", "user_id,item_id\nu,a\n", "user_id,item_id\n"),
    ("a.csv", "user_id,item_id\nu,a\n", "\ufeffuser_id,item_id\n"),
    ("a.csv", "item_id,user_id\nu,a\n", "\ufeffitem_id,user_id\n"),
    ("a.csv", "user_id,item_id,relevance\nu,a,1\n", "user_id,item_id,relevance\n"),
    ("a.tsv", "user_id\titem_id\trelevance\nu\ta\t1\n", "user_id\titem_id\tscore\n"),
]


@pytest.mark.parametrize(("name", "first", "second"), HEADERS)
def test_a_second_header(put, name, first, second):
    path = put(name, first + second + first.split("\n")[1] + "\n")
    reads = [read_truths] if "relevance" in first else [read_truths, read_in_parts]
    for read in reads:
        error = fault(read, path)
        assert error.startswith(f"{name}:3: a second header, ") and "cat a.csv b.csv" in error


def read_in_parts(path):
    return top_k_eval(tl.Ranks(path, order="file"), path, 1)


def test_files_joined_without_a_line_end(put):
    path = put("a.csv", "user_id,item_id\nu,auser_id,item_id\n")
    assert "a second file joined to this one" in fault(read_truths, path)


@pytest.mark.parametrize("relevance", [[1], [1, 2, 3], 1, None])
def test_jsonl_values_must_match_the_list(put, relevance):
    text = jsonl({"user_id": 1, "item_id": [7, 8], "relevance": relevance})
    error = fault(read_truths, put("a.jsonl", text))
    assert error == "a.jsonl:1: relevance must be a list as long as the list of items"


@pytest.mark.parametrize("read", [read_ranks, read_truths])
def test_jsonl_user_with_two_lists(put, read):
    text = jsonl(*({"user_id": user, "item_id": [user]} for user in (1, 2, 1)))
    assert fault(read, put("a.jsonl", text)) == "a.jsonl:3: user 1 has a list already, in line 1"


def missing(place):
    return f"a.jsonl:2: user 2 has null at place {place}: an item is missing"


@pytest.mark.parametrize("one", [1.0, None, True, {"a": 1}, ""])
def test_jsonl_ids(put, one):
    expected = f"a.jsonl:2: {json.dumps(one)} is not an id: use integers or texts"
    good = {"user_id": 1, "item_id": 1}
    for bad in ({"user_id": one, "item_id": 2}, {"user_id": 2, "item_id": one}):
        found = fault(read_truths, put("a.jsonl", jsonl(good, bad)))
        assert (missing(1) if one is None and bad["item_id"] is None else expected) in found
    text = jsonl({"user_id": 1, "item_id": [1]}, {"user_id": 2, "item_id": [2, one]})
    assert (missing(2) if one is None else expected) in fault(read_ranks, put("a.jsonl", text))


@pytest.mark.parametrize(
    ("read", "first", "second"),
    [
        (read_ranks, {"item_id": [1]}, {"item_id": 1, "rank": 1}),
        (read_ranks, {"item_id": 1, "score": 1}, {"item_id": 1, "rank": 1}),
        (read_truths, {"item_id": 1}, {"item_id": 2, "relevance": 1}),
        (read_truths, {"item_id": 1, "relevance": 1}, {"item_id": 2}),
        (read_truths, {"item_id": 1}, {"item_id": [2]}),
    ],
)
def test_jsonl_lines_are_of_one_form(put, read, first, second):
    path = put("a.jsonl", jsonl({"user_id": 1, **first}, {"user_id": 2, **second}))
    assert fault(read, path).startswith("a.jsonl:2: unlike the lines before: an item or a list")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"user_id": 1', "not valid JSON: Expecting ',' delimiter: column 14 (char 13)"),
        ("user_id,item_id", "not valid JSON: Expecting value: column 1 (char 0)"),
        ("9" * 5000, "not valid JSON: Exceeds the limit (4300 digits) for integer string"),
        ("[1, 2]", "not a JSON object: '[1, 2]'"),
        ("null", "not a JSON object: 'null'"),
        ('"' + "x" * 90 + '"', "not a JSON object: '\"" + "x" * 58),
        ('{"user_id":"u","item_id":"a","item_id":"b"}', "not valid JSON: the key 'item_id' twice"),
        ('{"user_id":1,"item_id":2,"x":{"y":1,"y":1}}', "not valid JSON: the key 'y' twice in an"),
        ('{"user_id":1,"item_id":2,"x":NaN}', "not valid JSON: NaN is no number of JSON"),
        ('{"user_id":1,"item_id":2,"x":-Infinity}', "not valid JSON: -Infinity is no number of"),
    ],
)
def test_lines_that_are_no_objects_of_json(put, line, reason):
    text = "\n" + jsonl({"user_id": 1, "item_id": 2}) + line + "\n"
    assert fault(read_truths, put("a.jsonl", text)).startswith(f"a.jsonl:3: {reason}")


# Damaged files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", ""),
        ("a.csv", "\ufeff"),
        ("a.csv", "\n\nuser_id,item_id\n"),
        ("a.csv", "user_id,item_id\n"),
        ("a.tsv", "user_id\titem_id\n\n"),
        ("a.jsonl", ""),
        ("a.jsonl", "\n \n"),
        ("a.qrels", "\n"),
        ("a.qrels.gz", ""),
    ],
)
def test_no_rows(put, name, text):
    assert fault(read_truths, put(name, text)).endswith("no rows")


@pytest.mark.parametrize(
    ("name", "head", "bad"),
    [
        ("a.csv", b"user_id,item_id\nu,a\n", b"u,\xff\n"),
        ("a.jsonl", b'{"user_id": 1, "item_id": 2}\n\n', b'{"user_id": "\xff"}\n'),
        ("a.qrels", b"q 0 a 1\nq 0 b 1\n", b"q 0 \xff 1\n"),
    ],
)
def test_invalid_utf8(put, name, head, bad):
    expected = f"{name}:3: not readable: 'utf-8' codec can't decode byte 0xff in position"
    assert fault(read_truths, put(name, head + bad)).startswith(expected)


def test_damaged_gzip(put, tmp_path):
    rows = "".join(f"u{i},{os.urandom(8).hex()}\n" for i in range(5000))
    path = tmp_path / put("a.csv.gz", "user_id,item_id\n" + rows)
    whole = path.read_bytes()
    for data, said in (
        (whole[: len(whole) // 2], "Compressed file ended before the"),
        (whole[:-8] + b"\0" * 8, "CRC check failed"),
        (whole[:20] + b"\xff" * 40 + whole[60:], ""),
        (b"user_id,item_id\nu,a\n", "Not a gzipped file (b'us')"),
    ):
        path.write_bytes(data)
        assert f": not readable: {said}" in fault(read_truths, path)
        assert f": not readable: {said}" in fault(by_words, path, path, 1, order="file")


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", ["mac.csv", "mac.jsonl", "mac.run"])
def test_lines_that_end_in_a_bare_return(put, name, packed):
    path = put(f"{name}{packed}", "user_id,item_id,rank\ru,b,2\rv,c,1\ru,a,1\r")
    said = r": lines end in \r alone: write line ends as \n or \r\n"
    assert fault(read_ranks, path).endswith(said)
    if name == "mac.csv":
        assert fault(tables.facts, path, "counts").endswith(said)
