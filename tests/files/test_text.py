"""Text files of ids, CSV, TSV, TREC and JSONL: what is read from them, fast or row by row."""

import sys

import numpy as np
import pytest
from file_helpers import both, jsonl, write_parquet
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared_inputs import in_small_blocks

import toplist as tl
from toplist.files import read_ranks, read_truths

IDS = ["a", "Z", "é", "z", "a1", "10", "9", "\U0001f600", "\uffff"]
BIG = 2**63 - 1
T, R, S = "user_id,item_id\n", "user_id,item_id,rank\n", "user_id,item_id,score\n"
G = "user_id,item_id,relevance\n"
RANKED = [
    ("rank wins over score", "a.csv", "user_id,item_id,score,rank\nu,a,9,2\nv,x,1,1\nu,b,1,1\n",
     {"u": ["b", "a"], "v": ["x"]}),
    ("equal scores stay in order", "a.csv", S + "u,b,1\nu,c,2\nu,a,1\nu,d,-1e300\nu,e,1.0\nu,f,1e3",
     {"u": ["f", "c", "b", "a", "e", "d"]}),
    ("quotes, blank lines and decimals", "a.csv",
     '"user_id","item_id",score\r\n"a","x,""y""",0.5\r\n\r\n"a","z",-1e-3\r\nb,z,7\r\n',
     {"a": ['x,"y"', "z"], "b": ["z"]}),
    ("numbers that stay", "a.csv", S + "u,a, 1 \nu,b,+.5\nu,c,1e2\nu,d,007\nu,e,\t-0\nu,f,5.\n",
     {"u": [*"cdfabe"]}),
    ("equal scores of a run by the bytes of ids, descending", "a.run",
     "".join(f"q Q0 {one} 1 0.5 t\n" for one in IDS) + "q Q0 top 1 0.50001 t\n",
     {"q": ["top", *sorted(IDS, key=str.encode, reverse=True)]}),
    ("scores of a run are doubles", "a.trec.gz",
     "q Q0 z 1 0.12345678901 t\nq Q0 a 2 0.12345678902 t\n", {"q": ["a", "z"]}),
    ("ids of a run may begin with a hash", "a.run",
     "\nq#1 Q0 #d 1 0.5 #t\r\n   \n#q\tQ0  d#2 1\t 0.7 t", {"q#1": ["#d"], "#q": ["d#2"]}),
    ("a document twice is left in a run", "a.run",
     "q Q0 a 1 3 t\nq Q0 b 1 2 t\nq Q0 a 1 1 t\n", {"q": ["a", "b", "a"]}),
    ("a byte order mark within a run stays", "a.run", "q Q0 a 1 2 t\n\ufeffz Q0 b 1 1 t\n",
     {"q": ["a"], "\ufeffz": ["b"]}),
    ("texts of jsonl stay text", "a.jsonl",
     jsonl({"user_id": 1, "item_id": ["1", "007"]}, {"user_id": 2, "item_id": ["-5"]}),
     {1: ["1", "007"], 2: ["-5"]}),
    ("integers of jsonl stay integers", "a.jsonl",
     jsonl({"user_id": "1", "item_id": [1, BIG, -5]}, {"user_id": "2", "item_id": [7]}),
     {"1": [1, BIG, -5], "2": [7]}),
    ("an empty list of jsonl", "a.jsonl",
     jsonl({"user_id": 2, "item_id": [9, 7, 8]}, {"user_id": 1, "item_id": []}), {2: [9, 7, 8], 1: []}),
    ("lists of scores", "a.jsonl", jsonl({"user_id": 1, "item_id": [7, 8], "score": [0.1, 0.9]}),
     {1: [8, 7]}),
    ("lists of ranks", "a.jsonl", jsonl({"user_id": 1, "item_id": [7, 8], "rank": [2, 1]}), {1: [8, 7]}),
    ("a row with a number is no second header", "a.csv", R + "user_id,item_id,1\nu,b,1\n",
     {"user_id": ["item_id"], "u": ["b"]}),
    ("a long line whose end a buffer cuts", "a.jsonl.gz",
     '{"user_id": "u", "item_id": ["%s"]}\r\n{"user_id": "v", "item_id": ["b"]}\r\n' % ("x" * 4062),
     {"u": ["x" * 4062], "v": ["b"]}),
]  # fmt: skip
RELEVANT = [
    ("without relevance a set", "a.csv.gz",
     "user_id,price,item_id\nbob,1,tea\nann,2,jam\nbob,3,jam\nbob,4,tea\n",
     {"bob": {"tea", "jam"}, "ann": {"jam"}}),
    ("relevance as it is given", "a.csv", G + "u,a,0\nu,b,0.5\nv,a,-1\nu,b,0.50\n",
     {"u": {"a": 0, "b": 0.5}, "v": {"a": -1}}),
    ("grades beside integers that no double holds", "a.csv",
     G + "a,x,0.5\na,y,2\nb,z,9007199254740993\n", {"a": {"x": 0.5, "y": 2.0}, "b": {"z": 2.0**53}}),
    ("ranks are not looked at", "a.csv", R + "u,a,x\n", {"u": {"a"}}),
    ("other columns may have one name", "a.csv", "user_id,x,item_id,x\nu,1,a,2\n", {"u": {"a"}}),
    ("ids are exact text", "a.csv",
     T + '01, a \n1,"b,c"\n1.0,"d ""e"""\n1,é\n#1,nan\n"2\n3",x\n',
     {"01": {" a "}, "1": {"b,c", "é"}, "1.0": {'d "e"'}, "#1": {"nan"}, "2\n3": {"x"}}),
    ("tsv splits at tabs only", "a.tsv", 'user_id\titem_id\nann b\ttea, hot\nann b\t"5"" disk"\n',
     {"ann b": {"tea, hot", '5" disk'}}),
    ("a byte order mark within is part of an id", "a.csv", T + "\ufeffu,a\n", {"\ufeffu": {"a"}}),
    *((f"mark {mark!r}, end {end!r}, {last}", name, mark + end.join(lines) + (end if last else ""), found)
      for mark in ("", "\ufeff") for end in ("\n", "\r\n") for last in (True, False)
      for name, lines, found in [
        ("a.csv", ["user_id,item_id", "ann,tea", "", "ann,jam"], {"ann": {"tea", "jam"}}),
        ("a.qrels", ["a 0 tea 1", "a 0 jam 1"], {"a": {"tea", "jam"}}),
        ("a.jsonl", ['{"user_id": 1, "item_id": [2, 3]}', "  "], {1: {2, 3}})]),
    ("qrels", "a.qrels", "q2 0 d1 0\nq1 0 d1 1\nq1 0 d2 0\nq1 0 d3 -2\nq1 0 d1 1\nq3 0 d9 -1\n",
     {"q2": {"d1": 0}, "q1": {"d1": 1, "d2": 0, "d3": -2}, "q3": {"d9": -1}}),
    ("ids of qrels may begin with a hash", "a.qrels", "q 0 #d 1\n#q 0 d 1\n", {"q": {"#d"}, "#q": {"d"}}),
    ("qrels split at ascii blanks only", "a.qrels", "q 0 d\u00a01\u2003x 1\n", {"q": {"d\u00a01\u2003x"}}),
    ("an empty list of jsonl", "a.jsonl",
     jsonl({"user_id": 2, "item_id": [7, 8, 7]}, {"user_id": 1, "item_id": []}), {2: {7, 8}, 1: set()}),
    ("lists of jsonl with grades", "a.jsonl", jsonl(
        {"user_id": 1, "item_id": [7, 8], "relevance": [2, 0]},
        {"user_id": 2, "item_id": [], "relevance": []}), {1: {7: 2, 8: 0}, 2: {}}),
    ("other keys of jsonl are free", "a.jsonl",
     jsonl({"user_id": 1, "item_id": 2, "note": 1}, {"item_id": 3, "user_id": 1}), {1: {2, 3}}),
]  # fmt: skip
READS = [(read_ranks, {}, *row) for row in RANKED] + [(read_truths, {}, *row) for row in RELEVANT]
NAMES = {"user_id": "userId", "item_id": "movieId", "rank": "place", "relevance": "none"}
READS += [
    (read_ranks, {"order": "file"}, "order", "a.csv", R + "u,b,2\nv,x,none\nu,a,2\n",
     {"u": ["b", "a"], "v": ["x"]}),
    (read_ranks, {"order": "file"}, "order", "a.run", "q Q0 a 1 0.1 t\nq Q0 b 1 0.9 t\n",
     {"q": ["a", "b"]}),
    (read_ranks, {"order": "file"}, "order", "a.jsonl",
     '{"user_id":1,"item_id":8}\n{"user_id":1,"item_id":7}\n', {1: [8, 7]}),
    (read_ranks, {"columns": NAMES}, "names", "a.csv",
     "userId,movieId,place,rank\nu,a,2,x\nu,b,1,y\n", {"u": ["b", "a"]}),
    (read_truths, {"columns": {"user_id": "u", "item_id": "i", "relevance": "r", "score": "none"}},
     "names", "a.jsonl", jsonl({"u": 1, "i": 2, "r": 3}), {1: {2: 3}}),
    (read_truths, {"columns": {"user_id": "userId", "relevance": "x"}}, "none of qrels", "a.qrels",
     "q 0 d 1\n", {"q": {"d"}}),
]  # fmt: skip


@pytest.mark.parametrize(("read", "options", "what", "name", "text", "expected"), READS,
                         ids=[f"{row[3]} {row[2]}" for row in READS])  # fmt: skip
@pytest.mark.parametrize("small", [False, True])
def test_what_is_read(put, monkeypatch, small, read, options, what, name, text, expected):
    """Users and items in their order; in one block and in small ones, with pyarrow and without."""
    path = put(name, text)
    if small:
        in_small_blocks(monkeypatch, SIZE=13)
    for _ in range(2):
        found = read(path, **options)
        assert found == expected and list(found) == list(expected)
        monkeypatch.setitem(sys.modules, "pyarrow", None)


# The fast reader gives what the reader of rows gives, or its error.

SIDES = {"ranks": read_ranks, "ground_truths": read_truths}
CELLS = "a b 7 -7 007 +7 -0 0 é 1.0 1e3 日本 q'r #1 999999999999999999 1000000000000000000"
CELLS = [*CELLS.split(), "-999999999999999999", "9" * 30, "x y", " 7", "\u00a0"]
NUMBERS = """1 2 3 10 1.5 .5 5. -2.5e-3 1E+5 007 +7 -0 -0.0 0.1 0.30000000000000004 1e22 1e23 1e-22
8.5e-30 123456789.123456789 9007199254740992 9007199254740993 9007199254740993.0
12345678901234567890"""
NUMBERS = [*NUMBERS.split(), " 3", "3\t"]
ODD = """item_id user_id \ufeffuser_id rank 1_0 \uff11 nan inf 1e999 1e e5 - --1 . 1.2.3 0x1 1e-400
1e+0_0"""
ODD = [*ODD.split(), "", '"q"', '"q,r"', '"q""r"', 'q"r', '"open', '"a\nb"', '"a\r\nb"', "a\rb"]
ODD += ["\0", "x" * 200_000, "1 2", "5e 3", "\udcff"]
ENDS = ["\n"] * 8 + ["\r\n"] * 3 + ["\n\n", "\r\n\r\n", "\r", "\n \n", ",\n", "\n,\n"]
HEADERS = """user_id,item_id,rank score,user_id,item_id user_id,item_id item_id,x,user_id
"user_id","item_id","relevance" user_id,item_id,relevance \ufeffuser_id,item_id
user_id,item_id,user_id user,item_id"""
TREC_ODD = ["", *["#", "\xa0", "a\xa0b", "a\x0bb", "a\rb", "\x00", "1_0", "nan", "�", "-1", "é"]]
TREC_ENDS = ["\n"] * 6 + ["\r\n", " \n", "\n\n"]


@st.composite
def tables(draw):
    """Return the bytes of a table, most of it right."""
    header = draw(st.sampled_from([*HEADERS.split(), ""]))
    width = max(header.count(",") + 1, 2)
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text, odd = [header, end], draw(st.booleans())
    for _ in range(draw(st.integers(0, 12))):
        row = []
        for name in header.replace('"', "").lstrip("\ufeff").split(","):
            cells = NUMBERS if name in ("rank", "score", "relevance", "x") else CELLS
            odd_one = odd and draw(st.integers(0, 9)) == 0
            row.append(draw(st.sampled_from(ODD if odd_one else cells)))
        text += [",".join(row[:width]), draw(st.sampled_from(ENDS)) if odd else end]
    whole = "".join(text).encode("utf-8", "surrogateescape" if odd else "strict")
    return "a.csv", whole if draw(st.booleans()) else whole.removesuffix(end.encode())


@st.composite
def trec_files(draw):
    """Return the bytes of a run or of qrels, most of it right."""
    run, odd = draw(st.booleans()), draw(st.booleans())
    lines = []
    for _ in range(draw(st.integers(1, 10))):
        query, item = draw(st.sampled_from(["q1", "q2", "7"])), draw(st.sampled_from(CELLS[:12]))
        number = draw(st.sampled_from(["1", "2", "0", "3.25", "1e-3", "0.30000000000000004"]))
        tag = draw(st.sampled_from(["tag"] * 20 + ["other"]))
        fields = [query, "Q0", item, "1", number, tag] if run else [query, "0", item, number]
        if odd and draw(st.integers(0, 4)) == 0:
            fields[draw(st.integers(0, len(fields) - 1))] = draw(st.sampled_from(TREC_ODD))
        separator = draw(st.sampled_from([" ", "\t", "  ", " \t"]))
        lines.append(separator.join(fields) + draw(st.sampled_from(TREC_ENDS)))
    whole = "".join(lines).encode("utf-8", "surrogateescape")
    return "a.run" if run else "a.qrels", draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + whole


KEYS = ["user_id item_id", "user_id item_id rank", "item_id title user_id score",
        "user_id item_id relevance", "user item_id score rank"]  # fmt: skip
IDS = ['"a"', '"b"', '"\\u00e9\\ud83d\\ude00"', '"a:b"', '"}\\n{"', '"日本"', '"7"']
VALUES = ["1", "2", "3", "2.0", "0.5", "-0", "1e3", "9007199254740993"]
STRANGE = ["null", "true", '""', '"\\ud83d"', "[]", "{}", '["a", null]', "NaN", "1e999", "01",
           "12345678901234567890", '"a\tb"', '"open', "\udcff", '"x" "y"', "1, 2", "1}{"]  # fmt: skip
LINE_ENDS = ["\n"] * 6 + ["\r\n", " \n", "\n\n", "\n \n", " ", "", ",\n", "x\n"]


@st.composite
def json_lines(draw):
    """Return the bytes of lines of JSON, of items or of lists, most of them right."""
    keys, odd, n = draw(st.sampled_from(KEYS)).split(), draw(st.booleans()), draw(st.integers(0, 2))
    ids = draw(st.sampled_from([IDS, ["1", "2", "7", "-3"]]))
    text = draw(st.sampled_from(["", "", "\ufeff"]))
    for _ in range(draw(st.integers(1, 8))):
        cells = [
            draw(st.sampled_from(ids if key[:4] in ("user", "item") else VALUES)) for key in keys
        ]
        for place in range(len(keys) if n else 0):
            if keys[place][:4] not in ("user", "titl"):
                cells[place] = f"[{', '.join([cells[place]] * n)}]"
        pairs = [f'"{key}": {cell}' for key, cell in zip(keys, cells, strict=True)]
        if odd and draw(st.integers(0, 3)) == 0:
            place = draw(st.integers(0, len(keys) - 1))
            name = draw(st.sampled_from([keys[place], "title", keys[0]]))
            pairs[place] = f'"{name}": {draw(st.sampled_from([*STRANGE, *IDS, *VALUES]))}'
        text += "{" + ", ".join(pairs) + "}" + (draw(st.sampled_from(LINE_ENDS)) if odd else "\n")
    return "a.jsonl", text.encode("utf-8", "surrogateescape")


def outcome(read, path):
    """Return rows, or the message of an error."""
    try:
        return list(read(path).items())
    except (ValueError, TypeError) as error:
        return str(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks")


FILES = tables() | trec_files() | json_lines()
ODD_LINES = [
    b'{"user_id": 1, "item_id": 2}\n{"user_id": 1, "item_id": 3} {"user_id": 2,\n"item_id": 3}',
    b'{"user_id": 1, "item_id": 2}\n{"user_id": 1,\n"item_id": 3}',
    b'{"user_id": 1, "item_id": [2]}\n{"user_id": 2, "item_id": null}',
    b'{"user_id": 1, "item_id": 2}\n{"user_id": 1, "item_id": "2"}',
    b'{"user_id": 1, "item_id": 2}\n{"user_id": 1, "item_id": null}',
    b'{"user_id": 1, "item_id": 2}\n{"user_id": 1, "item_id": 3} {"user_id": 1, "item_id": 4}',
    b'{"user_id": 1, "item_id": "a"}\n{"user_id": 1, "item_id": ""}',
    b'{"user_id": 1, "item_id": 2}\n{"user_id": 1, "item_id": 3, "relevance": 2}',
    b'{"user_id": 1, "item_id": [2], "rel": [1]}\n{"user_id": 2, "item_id": [2], "rel": []}',
    b'{"user_id": 1, "item_id": [2], "rel": [1]}\n{"user_id": 2, "item_id": null, "rel": [1]}',
    b'{"user_id": 1, "item_id": 2}\r\n{"user_id": 1, "item_id": "3"}\r\n',
    b'{"user_id": 1, "item_id": 2, "rel": 1}\n{"user_id": 1, "item_id": 3, "rel": 9007199254740993}',
    b'{"user_id": "a", "item_id": 2}\n{"user_id": "\xff", "item_id": 2}',
]


@settings(max_examples=70)
@given(FILES, st.sampled_from([*SIDES]), st.sampled_from([16, 50, 1 << 22]))
@example(("a.csv", b'user_id,item_id,rank\na,b,1\n"c\nd",e,1\nf,g,2\nh,i,1'), "ranks", 16)
@example(("a.csv", b"user_id,item_id\nuser_id,item_id\n"), "ground_truths", 16)
@example(("a.csv", b"user_id,item_id\na,b\n\n\n\n"), "ground_truths", 16)
@example(("a.csv", b'user_id,item_id\nu,"i"i\nu,i\n'), "ground_truths", 16)
@example(("a.csv", b'user_id,item_id,rank\nu,i,1\n\nu",j,3\nv,i,1\n'), "ranks", 1 << 22)
@example(("a.run", b"q1 Q0 a 1 1 \n"), "ranks", 16)
@example(("a.run", b"q1 Q0 a 1 1\n Q0 b 2 2 tag\n"), "ranks", 16)
@example(("a.qrels", b" 0 a 1"), "ground_truths", 16)
def test_both_readers_agree(folder, file, side, size):
    read_by_both(folder / file[0], file[1], side, size)


@pytest.mark.parametrize("size", [16, 1 << 22])
@pytest.mark.parametrize("content", ODD_LINES)
def test_both_readers_agree_on_odd_lines_of_json(folder, content, size):
    read_by_both(folder / "a.jsonl", content, "ground_truths", size)


def read_by_both(path, content, side, size):
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        in_small_blocks(patch, SIZE=size)
        fast = outcome(SIDES[side], path)
        patch.setitem(sys.modules, "pyarrow", None)
        assert outcome(SIDES[side], path) == fast


def test_blocks_of_a_packed_file_and_an_odd_block_among_others(put, monkeypatch):
    in_small_blocks(monkeypatch, SIZE=100)
    lines = [f"{u},item-{u * 7 + r},{r + 1}" for u in range(40) for r in range(5)]
    found = read_ranks(put("lists.csv.gz", "\n".join([R[:-1], *lines])))
    assert found == {f"{u}": [f"item-{u * 7 + r}" for r in range(5)] for u in range(40)}
    lines = [f"u,i{i}" if i != 50 else 'u,"i\n50"' for i in range(100)]
    found = read_truths(put("a.csv", "\n".join([T[:-1], *lines])))
    assert found == {"u": {f"i{i}" if i != 50 else "i\n50" for i in range(100)}}
    labels = ["q,a,g1", "q,b,g2", "q,c,g1", 'q,d,"g2"', "q,e,g1", 'q,f,"g1"', "q,h,g2"]
    path = put("g.csv", "user_id,item_id,nugget\n" + "\n".join(labels) + "\n")
    truth = read_truths(path, columns={"group": "nugget"})  # a label has one number in all blocks
    assert tl.curves("group_recall", {"q": ["f", "x", "d"]}, truth).tolist() == [[0.5, 0.5, 1.0]]


# Numbers stay exact

T0 = 1_700_000_000_000_000_000
TIMES = [(T0, T0 + 100), (2**53, 2**53 + 1), (2**63 - 2, 2**63 - 1), (2**64, 2**64 + 1),
         (-(2**63), -(2**63) + 1), (2.5, 2**60), (2.0**60, 2**60 + 1), (-(2**70), 0.5),
         (-(2**53) - 1, -(2.0**53))]  # fmt: skip


@pytest.mark.parametrize(("low", "high"), TIMES)
@pytest.mark.parametrize(
    "format", ["csv", "jsonl", "lists.jsonl", "run", "parquet", "lists.parquet"]
)
def test_scores_beyond_doubles(put, format, low, high):
    """Nanoseconds and larger, and beside fractions: in memory and in parts."""
    truth, path = put("t.csv", "user_id,item_id\nu,new\n"), f"a.{format}"
    line = '{"user_id":"u","item_id":%s,"score":%s}\n'
    if "parquet" in format:
        if isinstance(low, float) or isinstance(high, float) or not -(2**63) <= low < high < 2**64:
            return  # a column is of one type
        scores = np.array([low, high], np.uint64 if high >= 2**63 else np.int64)
        columns = {"user_id": ["u", "u"], "item_id": ["old", "new"], "score": scores}
        if "lists" in format:
            columns = {"user_id": ["u"], "item_id": [["old", "new"]], "score": [scores]}
        write_parquet(path, **columns)
    else:
        put(path, {
            "csv": f"user_id,item_id,score\nu,old,{low}\nu,new,{high}\n",
            "jsonl": line % ('"old"', low) + line % ('"new"', high),
            "lists.jsonl": line % ('["old","new"]', f"[{low},{high}]"),
            "run": f"u Q0 old 1 {low} t\nu Q0 new 1 {high} t\n",
        }[format])  # fmt: skip
        assert read_ranks(path) == {"u": ["new", "old"]}
    assert [one["mrr@1"] for one in both(path, truth, 1)] == [1.0, 1.0]
