"""Text tables in blocks: the fast reader gives what the reader of rows gives, or its error."""

import gzip
import json
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist.files import lines as lines_of_files
from toplist.files import read_ranks, read_truths, tables

SIDES = ("ranks", "ground_truths")
COLUMN_NAMES = ("user_id", "item_id", "rank")

IDS = "a b 7 -7 007 +7 -0 0 é 1.0 1e3 日本 q'r #1 999999999999999999 1000000000000000000"
IDS = [*IDS.split(), "-999999999999999999", "9" * 30, "x y", " 7", "\u00a0"]
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


@st.composite
def files(draw):
    """Return the bytes of a table, most of it right."""
    header = draw(st.sampled_from([*HEADERS.split(), ""]))
    width = max(header.count(",") + 1, 2)
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = [header, end]
    odd = draw(st.booleans())
    for _ in range(draw(st.integers(0, 12))):
        row = []
        for name in header.replace('"', "").lstrip("\ufeff").split(","):
            cells = NUMBERS if name in ("rank", "score", "relevance", "x") else IDS
            row.append(
                draw(st.sampled_from(ODD if odd and draw(st.integers(0, 9)) == 0 else cells))
            )
        text += [",".join(row[:width]), draw(st.sampled_from(ENDS)) if odd else end]
    whole = "".join(text).encode("utf-8", "surrogateescape" if odd else "strict")
    return whole if draw(st.booleans()) else whole.removesuffix(end.encode())


def outcome(read):
    """Return rows, or the message of an error."""
    try:
        return list(read())
    except (ValueError, TypeError) as error:
        return str(error)


def both(path, side="ranks"):
    """Return what is read of a file with pyarrow, and without."""
    read = read_ranks if side == "ranks" else read_truths
    with pytest.MonkeyPatch.context() as patch:
        fast = outcome(lambda: read(path).items())
        without_pyarrow(patch)
        return outcome(lambda: read(path).items()), fast


def without_pyarrow(patch):
    patch.setitem(sys.modules, "pyarrow", None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks")


@settings(max_examples=1500, deadline=None)
@given(files(), st.sampled_from(SIDES), st.sampled_from([16, 50, 1 << 22]))
@example(b'user_id,item_id,rank\na,b,1\n"c\nd",e,1\nf,g,2\nh,i,1', "ranks", 16)
@example(b"user_id,item_id\nuser_id,item_id\n", "ground_truths", 16)
@example(b"user_id,item_id\na,b\n\n\n\n", "ground_truths", 16)
def test_both_readers_agree(folder, content, side, size):
    path = folder / "file.csv"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_of_files, "SIZE", size)
        one, other = both(path, side)
    assert one == other


def test_blocks_of_a_packed_file(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_of_files, "SIZE", 100)
    lines = [f"{u},item-{u * 7 + r},{r + 1}" for u in range(40) for r in range(5)]
    path = tmp_path / "lists.csv.gz"
    path.write_bytes(gzip.compress("\n".join(["user_id,item_id,rank", *lines]).encode()))
    one, other = both(path)
    assert one == other
    assert other[-1] == ("39", [f"item-{273 + rank}" for rank in range(5)])


def test_most_cells_need_no_other_reader(tmp_path):
    """Quotes around cells, \\r\\n, blank lines and decimals."""
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'"user_id","item_id",score\r\n"a","x,""y""",0.5\r\n\r\n"a","z",-1e-3\r\nb,z,7\r\n'
    )
    one, other = both(path)
    assert one == other == [("a", ['x,"y"', "z"]), ("b", ["z"])]


def test_an_odd_block_among_others(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_of_files, "SIZE", 200)
    lines = [f'u,"i"{i}' if i == 50 else f"u,i{i}" for i in range(100)]
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join(["user_id,item_id", *lines]).encode())
    one, other = both(path, "ground_truths")
    assert one == other == f"{path}:52: not readable: ',' expected after '\"'"
    lines[50] = 'u,"i\n50"'
    path.write_bytes("\n".join(["user_id,item_id", *lines]).encode())
    one, other = both(path, "ground_truths")
    assert one == other and "i\n50" in other[0][1]


@pytest.mark.parametrize("cell", ["0x1F", "0X1F", "1e999", "inf", "nan", "1_0", ""])
@pytest.mark.parametrize("end", ["", "\n"])
def test_numbers_that_pyarrow_would_take_are_refused(tmp_path, cell, end):
    path = tmp_path / "a.csv"
    path.write_text(f"user_id,item_id,score\na,b,1\na,c,{cell}{end}")
    one, other = both(path)
    assert one == other and f":3: score {cell!r} is not a number" in one


# TREC


TREC_ODD = [
    "",
    "#",
    "\u00a0",
    "a\u00a0b",
    "a\x0bb",
    "a\rb",
    "\0",
    "1_0",
    "nan",
    "\udcff",
    "-1",
    "é",
]
TREC_ENDS = ["\n"] * 6 + ["\r\n", " \n", "\n\n"]


@st.composite
def trec_files(draw):
    """Return the bytes of a run or of qrels, most of it right."""
    run, odd = draw(st.booleans()), draw(st.booleans())
    lines = []
    for _ in range(draw(st.integers(1, 10))):
        query, item = draw(st.sampled_from(["q1", "q2", "7"])), draw(st.sampled_from(IDS[:12]))
        number = draw(st.sampled_from(["1", "2", "0", "3.25", "1e-3", "0.30000000000000004"]))
        tag = draw(st.sampled_from(["tag"] * 20 + ["other"]))
        fields = [query, "Q0", item, "1", number, tag] if run else [query, "0", item, number]
        if odd and draw(st.integers(0, 4)) == 0:
            fields[draw(st.integers(0, len(fields) - 1))] = draw(st.sampled_from(TREC_ODD))
        separator = draw(st.sampled_from([" ", "\t", "  ", " \t"]))
        lines.append(separator.join(fields) + draw(st.sampled_from(TREC_ENDS)))
    whole = "".join(lines).encode("utf-8", "surrogateescape")
    return "a.run" if run else "a.qrels", draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + whole


@pytest.mark.slow
@settings(max_examples=700, deadline=None)
@given(trec_files(), st.sampled_from([16, 50, 1 << 22]))
def test_trec_files_are_read_as_by_rows(folder, file, size):
    name, content = file
    path = folder / name
    path.write_bytes(content)
    read = read_ranks if name == "a.run" else read_truths

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_of_files, "SIZE", size)
        fast = outcome(lambda: read(path).items())
        without_pyarrow(patch)
        assert outcome(lambda: read(path).items()) == fast


def test_a_byte_order_mark_within_a_run_stays(tmp_path, monkeypatch):
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 2 t\n\ufeffz Q0 b 1 1 t\n")
    for size in (1 << 22, 13):
        monkeypatch.setattr(lines_of_files, "SIZE", size)
        assert read_ranks(path) == {"q": ["a"], "\ufeffz": ["b"]}
    path.write_text("\ufeffq Q0 a 1 2 t\n")
    assert read_ranks(path) == {"q": ["a"]}


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_end_that_a_buffer_cuts(tmp_path, packed):
    for n in (4095, 8191):
        line = '{"user_id": "u", "item_id": ["%s"]}' % ("x" * (n - 33))
        text = (line + '\r\n{"user_id": "v", "item_id": ["b"]}\r\n').encode()
        path = tmp_path / "a.jsonl"
        path.write_bytes(gzip.compress(text) if packed else text)
        assert len(line) == n and list(read_ranks(path)) == ["u", "v"]


@pytest.mark.parametrize("grades", [["1", "1", "0"], ["2", "1", "0"], ["0.5", "0", "1.5"]])
def test_trec_in_memory_is_what_its_dicts_are(tmp_path, grades):
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("".join(f"q{q} Q0 d{d} 1 {d % 3} t\n" for d in range(5) for q in range(3)))
    lines = [f"q{q} 0 d{d} {grades[(q + d) % 3]}\n" for q in range(4) for d in range(4)]
    qrels.write_text("".join(lines))
    result = tl.top_k_eval(run, qrels, 3, convention="trec_eval")
    expected = tl.top_k_eval(read_ranks(run), read_truths(qrels), 3, convention="trec_eval")
    assert [*result] == [*expected]
    assert result.users == expected.users
    assert (result.n_users, result.n_missing, result.n_extra) == (4, 1, 0)
    assert result.hits.about.fingerprints == expected.hits.about.fingerprints


@pytest.mark.parametrize("name", ["recs.parquet", "recs.jsonl", "recs.csv"])
def test_in_memory_ids_of_integers_and_text_meet(tmp_path, name):
    """Integers are the text they are written as where the other file holds text."""
    recs, truth = tmp_path / name, tmp_path / "truth.csv"
    rows = [(1, 7, 1), (1, 10**18, 2), (2, 10**18, 1), (2, -5, 2)]
    if name == "recs.parquet":
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        table = {n: list(c) for n, c in zip(COLUMN_NAMES, zip(*rows, strict=True), strict=True)}
        pyarrow.parquet.write_table(pa.table(table), recs)
    elif name == "recs.jsonl":
        lines = [json.dumps(dict(zip(COLUMN_NAMES, row, strict=True))) for row in rows]
        recs.write_text("\n".join(lines))
    else:
        recs.write_text("\n".join(",".join(map(str, row)) for row in [COLUMN_NAMES, *rows]))
    truth.write_text("user_id,item_id\n1,1000000000000000000\n2,-5\n2,07\n3,7\n")
    results = [
        tl.top_k_eval(recs, truth, 2, metrics=["hit", "ndcg"], keep="users" if whole else None)
        for whole in (False, True)
    ]
    assert [*results[0]] == [*results[1]]
    assert results[0]["hit@2"] == 2 / 3
    assert results[1].users == ["1", "2", "3"]
    assert results[0].fingerprints == results[1].hits.about.fingerprints


# Columns


@pytest.mark.slow
@settings(max_examples=700, deadline=None)
@given(files(), st.sampled_from([16, 50, 1 << 22]))
@example(b"user_id,item_id\nuser_id,item_id\n", 16)
@example(b"user_id,item_id,rank\n" + b"a,b,\n" * 20, 50)
@example(b'user_id,item_id,rank\na,b,c\n\nd,e,"open', 50)
def test_columns_are_those_of_the_reader_of_rows(folder, content, size):
    path = folder / "file.csv"
    path.write_bytes(content)
    for wanted in (["item_id"], lambda header: header, ["user_id", "item_id"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines_of_files, "SIZE", size)
            fast = outcome(lambda wanted=wanted: tables.read(path, wanted).items())
            without_pyarrow(patch)
            assert outcome(lambda wanted=wanted: tables.read(path, wanted).items()) == fast
