"""Text tables in blocks: the fast reader gives what the reader of rows gives, or its error."""

import gzip
import json
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist.files import batches, blocks, read_ranks, read_truths, tables
from toplist.files.blocks import OddError
from toplist.files.formats import find_format
from toplist.files.text import GRADE, NUMBER, Source, rows
from toplist.files.text_ids import TextIds
from toplist.inputs import texts as numbering
from toplist.kernels import cells as kernels
from toplist.kernels import texts as text_kernels

COLUMNS = {"ranks": ("rank", "score"), "ground_truths": ("relevance",)}
COLUMN_NAMES = ("user_id", "item_id", "rank")
VALID = {"ranks": NUMBER, "ground_truths": GRADE}

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


def by_rows(source, valid):
    for user, item, value in rows(source, valid):
        yield user, item, 0.0 if item is None else value, source.line


def of_lists(part):
    """Return the rows of lists, as the reader of rows has them."""
    users, items = (ids.decoded(ids.codes) for ids in (part.users, part.items))
    for row, (lo, hi) in enumerate(pairwise(part.offsets.tolist())):
        values = [1.0] * (hi - lo) if part.values is None else part.values[lo:hi].tolist()
        found = zip(items[lo:hi], values, strict=True)
        for item, value in list(found) or [(None, 0.0)]:
            yield users[row], item, value, part.lines[row]


def by_blocks(source, valid, users, items):
    try:
        for part in blocks.rows(source, valid, users, items):
            if part.offsets is not None:
                yield from of_lists(part)
                continue
            values = [1.0] * len(part) if part.values is None else part.values.tolist()
            columns = [ids.decoded(ids.codes) for ids in (part.users, part.items)]
            yield from zip(*columns, values, part.lines.tolist(), strict=True)
    except OddError:  # before any row
        yield from by_rows(source, valid)


def both(path, side="ranks"):
    """Return what both readers make of a file."""
    found = []
    for read, ids in ((by_rows, ()), (by_blocks, (TextIds(), TextIds()))):
        source = Source(path, find_format(path), None, *COLUMNS[side])
        found.append(outcome(partial(read, source, VALID[side], *ids)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks")


@settings(max_examples=1500, deadline=None)
@given(files(), st.sampled_from([*COLUMNS]), st.sampled_from([16, 50, 1 << 22]))
@example(b'user_id,item_id,rank\na,b,1\n"c\nd",e,1\nf,g,2\nh,i,1', "ranks", 16)
@example(b"user_id,item_id\nuser_id,item_id\n", "ground_truths", 16)
@example(b"user_id,item_id\na,b\n\n\n\n", "ground_truths", 16)
def test_both_readers_agree(folder, content, side, size):
    path = folder / "file.csv"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        patch.setattr(blocks, "ROWS", 3)
        one, other = both(path, side)
    assert one == other


def test_blocks_of_a_packed_file(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SIZE", 100)
    lines = [f"{u},item-{u * 7 + r},{r + 1}" for u in range(40) for r in range(5)]
    path = tmp_path / "lists.csv.gz"
    path.write_bytes(gzip.compress("\n".join(["user_id,item_id,rank", *lines]).encode()))
    one, other = both(path)
    assert one == other
    assert other[-1] == ("39", "item-277", 5, 201)


def test_most_blocks_need_no_reader_of_rows(tmp_path, monkeypatch):
    """Quotes around cells, \\r\\n, blank lines and decimals are read by the scan itself."""

    def refuse(*arguments):
        raise AssertionError("read row by row")

    monkeypatch.setattr(blocks, "_read", refuse)
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'"user_id","item_id",score\r\n"a","x,y",0.5\r\n\r\n"a","z",-1e-3\r\nb,z,7\r\n'
    )
    ids = TextIds(), TextIds()
    source = Source(path, find_format(path), None, "score")
    assert [*by_blocks(source, NUMBER, *ids)] == [
        ("a", "x,y", 0.5, 2),
        ("a", "z", -0.001, 4),
        ("b", "z", 7.0, 5),
    ]


def test_one_odd_block_does_not_slow_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SIZE", 200)
    read, found = blocks._read, []
    monkeypatch.setattr(
        blocks, "_read", lambda *arguments: found.append(read(*arguments)) or found[-1]
    )
    lines = [f'u,"i""{i}"' if i == 50 else f"u,i{i}" for i in range(100)]
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join(["user_id,item_id", *lines]).encode())
    one, other = both(path, "ground_truths")
    assert one == other
    assert 0 < sum(map(len, found)) <= 200 // 4


# The codes of texts


@given(st.lists(st.text(max_size=12) | st.integers().map(str), max_size=60), st.integers(1, 20))
def test_texts_and_their_codes(texts, step):
    ids = TextIds()
    codes = [
        code for lo in range(0, len(texts), step) for code in ids.encode(texts[lo : lo + step])
    ]
    assert [ids[int(code)] for code in codes] == texts
    assert len(set(codes)) == len(set(texts))
    assert all(ids.index(text) == code for text, code in zip(texts, codes, strict=True))


@given(st.integers(-(10**19), 10**19) | st.integers(-10, 10))
def test_small_integers_are_their_own_codes(number):
    [code] = TextIds().encode([str(number)])
    small = abs(number) < 10**TextIds.DIGITS
    assert code == number if small else code <= kernels.FIRST + 1
    assert kernels.DIGITS == TextIds.DIGITS


def test_the_table_of_texts_grows_and_keeps_its_codes(monkeypatch):
    monkeypatch.setattr(numbering, "SMALLEST", 4)
    ids = TextIds()
    texts = [f"t{i}" for i in range(3000)]
    first = ids.encode(texts[:2])
    codes = ids.encode(texts)
    assert codes[:2].tolist() == first.tolist()
    assert ids.encode(texts[::-1]).tolist() == codes[::-1].tolist()
    assert [ids[int(code)] for code in codes] == texts


@pytest.mark.parametrize("which", ["number_texts", "place_texts"])
def test_texts_that_share_places_are_numbered_by_a_dictionary(monkeypatch, which):
    """As texts of one hash would make it: the table gives up, and the codes stay the same."""
    monkeypatch.setattr(numbering, "SMALLEST", 4)
    plain, given_up = TextIds(), TextIds()
    texts = ["x", "a b", "x", "7", "é", "y\0z"]
    more = [*texts, "new", "newer", "a b", *(f"new {i}" for i in range(300))]
    expected = [*plain.encode(texts)], [*plain.encode(more)]
    first = [*given_up.encode(texts)]
    calls, kernel = [], getattr(text_kernels, which)

    def sometimes(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            return (-1, given_up.n_texts) if which == "number_texts" else False
        return kernel(*arguments)

    monkeypatch.setattr(text_kernels, which, sometimes)
    assert (first, [*given_up.encode(more)]) == expected
    assert given_up._texts._slow is not None
    assert [given_up[int(code)] for code in expected[1]] == more
    codes = np.array(expected[1])
    assert given_up.words(codes).tolist() == plain.words(codes).tolist()
    assert [*given_up.encode(["newest", "new"])] == [*plain.encode(["newest", "new"])]


def test_words_are_those_of_the_texts():
    from toplist.inputs.id_hashes import words_of

    texts = ["0", "-5", "7", "1234567890123", "999999999999999999", "007", "tea", ""]
    ids = TextIds()
    assert ids.words(ids.encode(texts)).tolist() == words_of(texts).tolist()


# Numbers


@settings(max_examples=500, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.from_regex(r"\A[+-]?[0-9]{0,20}\.?[0-9]{0,20}(?:[eE][+-]?[0-9]{1,3})?\Z")
)
def test_decimals_are_read_as_python_reads_them(text):
    data = np.frombuffer(text.encode() or b" ", np.uint8)
    bounds = np.array([0]), np.array([len(text)])
    out, left = np.empty(1), np.empty(1, np.int64)
    n_left = kernels.decimals(data, *bounds, np.array([0]), out, left)
    if n_left == 0:
        assert repr(out[0].item()) == repr(float(text))


# JSONL


OBJECTS = [
    '{"user_id": %s, "item_id": %s, "rank": %s}',
    '{"user_id":%s,"item_id":%s,"score":%s}',
    '{"x": 5, "user_id": %s, "item_id": %s, "y": "a:b, 5", "rank": %s}',
    '{"user_id": %s, "item_id": %s, "relevance": %s, "note": null}',
    '  {"user_id": %s , "item_id": %s, "rank": %s}',
]
JSON_TEXTS = ['"a"', '"7"', '"007"', '"é"', '"x"', '"日本"']
JSON_IDS = {"text": [*JSON_TEXTS, '"x y"'], "integer": ["7", "-7", "0", "12", "5"]}
JSON_ODD = [
    r'""',
    r'"\n"',
    r'"\u00e9"',
    r"1.0",
    r"007",
    r"+7",
    r"-0",
    r"1e2",
    r"null",
    r"true",
    r"[1]",
    r"{}",
    r"[]",
    r"18446744073709551616",
    r"1_0",
    r"NaN",
    r"1000000000000000000",
    r"1e999",
    r"-5",
    r'"q',
    r'"a"x',
]
JSON_NUMBERS = [
    "1",
    "2",
    "3",
    "10",
    "0.5",
    "-2.5e-3",
    "1E+5",
    "-0",
    "0.30000000000000004",
    "9007199254740993",
    ".5",
    "5.",
    '"1"',
    "12345678901234567890",
]


@st.composite
def object_files(draw):
    """Return the bytes of JSONL, most of it right."""
    kinds = draw(st.sampled_from(["text", "integer"])), draw(st.sampled_from(["text", "integer"]))
    form, odd, lines = draw(st.sampled_from(OBJECTS)), draw(st.booleans()), []
    for _ in range(draw(st.integers(1, 10))):
        cells = [draw(st.sampled_from(JSON_IDS[kind])) for kind in kinds]
        cells.append(draw(st.sampled_from(JSON_NUMBERS if odd else JSON_NUMBERS[:6])))
        if odd and draw(st.integers(0, 5)) == 0:
            cells[draw(st.integers(0, 2))] = draw(st.sampled_from(JSON_ODD))
        if odd and draw(st.integers(0, 9)) == 0:
            form = draw(st.sampled_from(OBJECTS))
        end = draw(st.sampled_from(["\n"] * 8 + ["\r\n", " \n", "\n\n", "}\n", "\r"]))
        lines.append(form % tuple(cells) + (end if odd else "\n"))
    return draw(st.sampled_from(["", "", "\ufeff", "\n"])).encode() + "".join(lines).encode()


def agree(one, other):
    """Assert that the readers agree; ids of two kinds are refused at once, by rows at the end.

    So are integers beyond 64 bits.
    """
    if isinstance(other, str) and "beyond 64 bits" in other:
        assert isinstance(one, str) or any(
            type(i) is int and not -(2**63) <= i < 2**64 for row in one for i in row[:2]
        )
    elif isinstance(other, str) and "ids of two kinds" in other:
        if isinstance(one, list):
            columns = list(zip(*one, strict=True))[:2]
            assert any(len({type(i) for i in ids} - {type(None)}) > 1 for ids in columns)
    else:
        assert one == other


@settings(max_examples=1000, deadline=None)
@given(object_files(), st.sampled_from([*COLUMNS]), st.sampled_from([16, 100, 1 << 22]))
def test_both_readers_agree_on_objects(folder, content, side, size):
    path = folder / "file.jsonl"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        patch.setattr(blocks, "ROWS", 3)
        one, other = both(path, side)
    agree(one, other)


LISTS = [
    '{"user_id": %s, "item_id": %s, "rank": %s}',
    '{"user_id":%s,"item_id":%s,"score":%s}',
    '{"user_id": %s, "item_id": %s, "x": %s}',
    '{"x": [1, "a"], "user_id": %s, "item_id": %s, "relevance": %s}',
    '{"user_id": %s, "item_id": [%s], "relevance": %s, "y": null}',
]


@st.composite
def list_files(draw):
    """Return the bytes of JSONL with lists, most of it right."""
    kinds = draw(st.sampled_from(["text", "integer"])), draw(st.sampled_from(["text", "integer"]))
    form, odd, lines = draw(st.sampled_from(LISTS)), draw(st.booleans()), []
    comma = draw(st.sampled_from([",", ", ", " , "]))
    for user in range(draw(st.integers(1, 8))):
        n = draw(st.integers(0 if user else 1, 4))
        items = [draw(st.sampled_from(JSON_IDS[kinds[1]])) for _ in range(n)]
        numbers = [
            draw(st.sampled_from(JSON_NUMBERS if odd else JSON_NUMBERS[:6])) for _ in range(n)
        ]
        if odd and n and draw(st.integers(0, 5)) == 0:
            (items if draw(st.booleans()) else numbers)[0] = draw(st.sampled_from(JSON_ODD))
        if odd and draw(st.integers(0, 9)) == 0:
            form, numbers = draw(st.sampled_from([*LISTS, OBJECTS[0]])), numbers[1:]
        name = f'"u{user}"' if kinds[0] == "text" else str(user)
        end = draw(st.sampled_from(["\n"] * 8 + ["\r\n", " \n", "\n\n", "]\n"])) if odd else "\n"
        lines.append(form % (name, *(f"[{comma.join(one)}]" for one in (items, numbers))) + end)
    return draw(st.sampled_from(["", "", "\ufeff", "\n"])).encode() + "".join(lines).encode()


@settings(max_examples=1000, deadline=None)
@given(list_files(), st.sampled_from([*COLUMNS]), st.sampled_from([16, 100, 1 << 22]))
def test_both_readers_agree_on_lists(folder, content, side, size):
    path = folder / "lists.jsonl"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        one, other = both(path, side)
    agree(one, other)


def test_most_lists_need_no_reader_of_rows(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("read row by row")

    monkeypatch.setattr(blocks, "_read_lists", refuse)
    monkeypatch.setattr(batches.Stream, "_parts_of_text", refuse)
    recs, truth = tmp_path / "recs.jsonl", tmp_path / "truth.jsonl"
    recs.write_text('{"user_id": "a", "item_id": [3, 1]}\n{"user_id": "b", "item_id": []}\n')
    truth.write_text(
        '{"user_id":"a","item_id":[1],"relevance":[2]}\n{"user_id":"b","item_id":[7],"relevance":[1]}'
    )
    result = tl.top_k_eval_files(recs, truth, 2, metrics=["hit", "cg"], order="file")
    assert [*result] == [0.5, 1.0]
    assert (result.n_users, result.n_missing) == (2, 1)


@pytest.mark.parametrize("text", [True, False])
def test_most_objects_need_no_reader_of_rows(tmp_path, monkeypatch, text):
    def refuse(*arguments):
        raise AssertionError("read row by row")

    monkeypatch.setattr(blocks, "_read", refuse)
    monkeypatch.setattr(blocks, "OddError", KeyError)  # nothing is left to `by_rows`
    path = tmp_path / "a.jsonl"
    ids = [("ann", "7"), ("ann", "tea"), ("bob", "é")] if text else [(1, 7), (1, -8), (2, 10**17)]
    rows = [{"user_id": u, "item_id": i, "rank": r, "x": 1.5} for r, (u, i) in enumerate(ids, 1)]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    found = by_blocks(Source(path, find_format(path), None, "rank"), NUMBER, TextIds(), TextIds())
    assert [*found] == [(*both, r, r) for r, both in enumerate(ids, 1)]


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


@settings(max_examples=700, deadline=None)
@given(trec_files(), st.sampled_from([16, 50, 1 << 22]))
def test_trec_files_are_read_as_by_rows(folder, file, size):
    name, content = file
    path = folder / name
    path.write_bytes(content)
    read = read_ranks if name == "a.run" else read_truths

    def refuse(*arguments):
        raise OddError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        fast = outcome(lambda: read(path).items())
        patch.setattr(blocks, "whole", refuse)
        assert outcome(lambda: read(path).items()) == fast


@pytest.mark.parametrize("grades", [["1", "1", "0"], ["2", "1", "0"], ["0.5", "0", "1.5"]])
def test_trec_in_memory_is_what_its_dicts_are(tmp_path, grades):
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("".join(f"q{q} Q0 d{d} 1 {d % 3} t\n" for d in range(5) for q in range(3)))
    lines = [f"q{q} 0 d{d} {grades[(q + d) % 3]}\n" for q in range(4) for d in range(4)]
    qrels.write_text("".join(lines))
    result = tl.top_k_eval_files(run, qrels, 3, convention="trec_eval")
    expected = tl.top_k_eval(read_ranks(run), read_truths(qrels), 3, convention="trec_eval")
    assert [*result] == [*expected]
    assert result.users == expected.users
    assert (result.n_users, result.n_missing, result.n_extra) == (4, 1, 0)
    assert result.hits.fingerprints == expected.hits.fingerprints


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
        tl.top_k_eval_files(recs, truth, 2, metrics=["hit", "ndcg"], in_memory=whole)
        for whole in (False, True)
    ]
    assert [*results[0]] == [*results[1]]
    assert results[0]["hit@2"] == 2 / 3
    assert results[1].users == ["1", "2", "3"]
    assert results[0].fingerprints == results[1].hits.fingerprints


# Columns


def columns_by_rows(path, wanted):
    """Return columns and their lines, as the reader of rows has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables._Columns, "take", lambda self, block: False)
        return columns_of(path, wanted)


def columns_of(path, wanted):
    found = tables.read(path, wanted)
    return [(name, [*cells], [*cells.lines]) for name, cells in found.items()]


@settings(max_examples=700, deadline=None)
@given(files(), st.sampled_from([16, 50, 1 << 22]))
@example(b"user_id,item_id\nuser_id,item_id\n", 16)
@example(b"user_id,item_id,rank\n" + b"a,b,\n" * 20, 50)
def test_columns_are_those_of_the_reader_of_rows(folder, content, size):
    path = folder / "file.csv"
    path.write_bytes(content)
    for wanted in (["item_id"], lambda header: header, ["user_id", "item_id"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "SIZE", size)
            fast = outcome(lambda wanted=wanted: columns_of(path, wanted))
            assert outcome(lambda wanted=wanted: columns_by_rows(path, wanted)) == fast


def test_most_columns_need_no_reader_of_rows(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("item_id,count\n" + "".join(f"i{i % 7},{i}\n" for i in range(100)))
    taken, take = [], tables._Columns.take
    monkeypatch.setattr(blocks, "SIZE", 100)
    monkeypatch.setattr(tables._Columns, "take", lambda *one: taken.append(take(*one)) or taken[-1])
    columns = tables.read(path, ["count", "item_id"])
    assert columns == {
        "count": [*map(str, range(100))],
        "item_id": [f"i{i % 7}" for i in range(100)],
    }
    assert all(taken) and len(taken) > 3


def test_a_last_line_that_ends_with_a_comma(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"user_id,item_id,rank\na,b,1\na,c,")
    one, other = both(path)
    assert one == other and ":3: rank '' is not a number" in one
