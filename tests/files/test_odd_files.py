"""Files that are odd, hostile or broken: each was read wrongly or badly in the first version."""

import decimal
import errno
import gzip
import os
import re
import subprocess
import sys

import fuzz_files
import numpy as np
import pytest

from toplist import top_k_eval
from toplist.files import batches, lines, numbers, read_ranks, read_truths, tables
from toplist.inputs.texts import Texts
from toplist.results import writing


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write text or bytes under a name, in the folder where the test runs."""
    monkeypatch.chdir(tmp_path)

    def put(name, content):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return name

    return put


def write(name, **columns):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pyarrow.table(columns), name)
    return name


def fault(call, *args, kind=ValueError, **options):
    """Return the error of a call, of one line that a person can read."""
    with pytest.raises(kind) as caught:
        call(*args, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 2000
    return message


def both(recs, truth, k=3, **options):
    """Evaluate two files streamed and in memory."""
    return [top_k_eval(recs, truth, k, in_memory=whole, **options) for whole in (False, True)]


def faults(recs, truth, **options):
    """Return the errors of two files streamed and in memory."""
    return [
        fault(
            top_k_eval,
            recs,
            truth,
            3,
            in_memory=whole,
            kind=(ValueError, TypeError),
            **options,
        )
        for whole in (False, True)
    ]


def test_trec_ids_may_begin_with_a_hash(put):
    run = put("a.run", "#q2 Q0 d9 1 2.0 t\nq1 Q0 d1 1 2.0 t\n")
    qrels = put("a.qrels", "#q2 0 d2 1\nq1 0 d1 1\n")
    result = top_k_eval(run, qrels, 1, metrics="hit")
    assert (result["hit@1"], result.n_users) == (0.5, 2)


def test_a_comment_in_trec_is_named(put):
    assert fault(read_truths, put("a.qrels", "q 0 d 1\n# by hand\n")) == (
        "a.qrels:2: '#': TREC files have no comments, remove the line"
    )


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
    assert re.match(r"a\.\wsv:3: a second header, .*cat a.csv b.csv", fault(read_truths, path))
    if "relevance" not in first:
        error = fault(top_k_eval, path, path, 1, order="file")
        assert error.startswith("a.csv:3: a second header")


def test_a_second_header_in_column_files(put):
    """Also A7: catalogues, counts, features and logs."""
    text = "item_id,count\na,1\nb,2\nitem_id,count\nc,3\n"
    for read in (tables.catalogue, tables.item_counts, tables.features, tables.read_table):
        assert fault(read, put("a.csv", text)).startswith("a.csv:4: a second header")
    assert fault(tables.catalogue, put("b.csv", "item_id\na\n\ufeffitem_id\n")).startswith(
        "b.csv:3"
    )
    assert tables.catalogue(put("c.csv", "item_id,name\na,item_id\n")) == ["a"]


def test_files_joined_without_a_line_end(put):
    path = put("a.csv", "user_id,item_id\nu,auser_id,item_id\n")
    assert fault(read_truths, path).endswith(
        "(a second file joined to this one, its header to the last row?)"
    )


BAD = [
    "1_0",
    "１",
    "٣",
    "1_000",
    "0x1",
    "inf",
    "-inf",
    "nan",
    "1e400",
    "1,5",
    "",
    "1 0",
    "\u00a01",
    "1\n",
]


@pytest.mark.parametrize("cell", BAD)
def test_numbers_in_text(put, cell):
    """A9: one rule for ranks, scores, grades, counts, features and predictions."""
    quoted = f'"{cell}"'
    for name in ("rank", "score"):
        path = put("a.csv", f"user_id,item_id,{name}\nu,b,1\nu,a,{quoted}\n")
        line = 4 if "\n" in cell else 3
        assert fault(read_ranks, path).startswith(f"a.csv:{line}: {name} ")
    path = put("b.csv", f"user_id,item_id,relevance\nu,a,{quoted}\n")
    assert re.match(
        r"b.csv:[23]: relevance .* is not a finite number of at least 0", fault(read_truths, path)
    )
    for read, name in ((tables.item_counts, "count"), (tables.features, "f")):
        path = put("c.csv", f"item_id,{name}\nb,1\na,{quoted}\n")
        assert re.match(rf"c.csv:[34]: {name} .* is not a number", fault(read, path))
    if cell.strip() == cell and cell and " " not in cell:
        assert fault(read_ranks, put("a.run", f"u Q0 a 1 {cell} t\n")).startswith("a.run:1: score")
    assert fault(
        read_ranks, put("a.jsonl", f'{{"user_id":1,"item_id":1,"score":"{cell!r}"}}')
    ).startswith("a.jsonl:1: ")


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1e2", 100), (" 1 ", 1), ("+.5", 0.5), ("5.", 5), ("007", 7), ("\t-0", 0)],
)
def test_numbers_that_stay(put, cell, number):
    assert numbers.parse(cell) == number
    path = put("a.csv", f"item_id,count\na,{cell}\n")
    assert tables.numbers(path, "count", [cell]).tolist() == [number]


def test_the_way_to_write_it(put):
    path = put("a.csv", "user_id,item_id,score\nu,a,1_0\n")
    assert fault(read_ranks, path) == (
        "a.csv:2: score '1_0' is not a number: write ASCII digits, as in 12, -0.5 or 1e-3"
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"user_id":"u","item_id":"a","item_id":"b"}', "the key 'item_id' twice in an object"),
        ('{"user_id":1,"item_id":2,"x":{"y":1,"y":1}}', "the key 'y' twice in an object"),
        ('{"user_id":1,"item_id":2,"x":NaN}', "NaN is no number of JSON"),
        ('{"user_id":1,"item_id":2,"x":-Infinity}', "-Infinity is no number of JSON"),
    ],
)
def test_json(put, line, reason):
    path = put("a.jsonl", '{"user_id":1,"item_id":3}\n' + line + "\n")
    assert fault(read_truths, path) == f"a.jsonl:2: not valid JSON: {reason}"


T = 1_700_000_000_000_000_000
TIMES = [(T, T + 100), (2**53, 2**53 + 1), (2**63 - 2, 2**63 - 1), (2**64, 2**64 + 1),
         (-(2**63), -(2**63) + 1), (2.5, 2**60), (2.0**60, 2**60 + 1), (-(2**70), 0.5),
         (-(2**53) - 1, -(2.0**53))]  # fmt: skip


@pytest.mark.parametrize(("low", "high"), TIMES)
@pytest.mark.parametrize("format", ["csv", "jsonl", "lists.jsonl", "run"])
def test_integer_scores_beyond_doubles(put, format, low, high):
    """A4: in memory; nanoseconds and larger, and beside fractions."""
    low, high = (format_number(x) for x in (low, high))
    text = {
        "csv": f"user_id,item_id,score\nu,old,{low}\nu,new,{high}\n",
        "jsonl": "".join(f'{{"user_id":"u","item_id":"{i}","score":{s}}}\n' for i, s in (("old", low), ("new", high))),  # noqa: E501
        "lists.jsonl": f'{{"user_id":"u","item_id":["old","new"],"score":[{low},{high}]}}\n',
        "run": f"u Q0 old 1 {low} t\nu Q0 new 1 {high} t\n",
    }[format]  # fmt: skip
    assert read_ranks(put(f"a.{format}", text)) == {"u": ["new", "old"]}


def format_number(number):
    return str(number) if isinstance(number, int) else repr(number)


@pytest.mark.parametrize(("low", "high"), TIMES)
def test_streams_hand_over_scores_that_keep_their_order(put, monkeypatch, low, high):
    """A4: int64 as they are where all are integers of 64 bits; else an exact order."""
    from toplist.inputs import tables as inputs

    seen = []
    monkeypatch.setattr(
        inputs, "by_score", lambda side, s, groups, items, *_: seen.append(s) or items
    )
    a, b = format_number(low), format_number(high)
    path = put("a.csv", f"user_id,item_id,score\nu,old,{a}\nu,new,{b}\n")
    list(batches.stream_of(path, "ranks").parts((Texts(), Texts())))
    assert seen[0][0] < seen[0][1]
    if all(isinstance(x, int) and -(2**63) <= x < 2**63 for x in (low, high)):
        assert seen[0].dtype == np.int64
        assert seen[0].tolist() == [low, high]


@pytest.mark.parametrize(
    "scores",
    [
        np.array([T, T + 100], np.int64),
        np.array([2**63 + 1, 2**63 + 2], np.uint64),
        np.array([T, T + 100], np.uint64),
        [decimal.Decimal(2**80), decimal.Decimal(2**80 + 1)],
        [decimal.Decimal("0.1"), decimal.Decimal("0.2")],
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_parquet_hands_over_int64(put, monkeypatch, tmp_path, scores, nested):
    from toplist.inputs import tables as inputs

    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    seen = []
    monkeypatch.setattr(
        inputs, "by_score", lambda side, s, groups, items, *_: seen.append(s) or items
    )
    column = pyarrow.array(scores)
    columns = {"user_id": ["u", "u"], "item_id": ["old", "new"], "score": column}
    if nested:
        offsets = pyarrow.array([0, 2], pyarrow.int32())
        lists = pyarrow.ListArray.from_arrays(offsets, column)
        columns = {"user_id": ["u"], "item_id": [["old", "new"]], "score": lists}
    stream = batches.stream_of(write("a.parquet", **columns), "ranks")
    list(stream.parts((Texts(), Texts())))
    stream.read_all((Texts(), Texts()))
    for found in seen:
        assert found.dtype == np.int64
        assert found[0] < found[1]
    assert len(seen) == 2


@pytest.mark.slow
def test_a_line_without_an_end(put, tmp_path):
    """B3: a small gz that unpacks to one line of 300 MB; its memory is bounded."""
    for name in ("a.jsonl.gz", "a.csv.gz", "a.run.gz"):
        with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
            for _ in range(300):
                file.write(b"x" * 1_000_000)
        script = (
            "import resource, sys\nfrom toplist.files import read_ranks\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "try:\n    read_ranks(sys.argv[1])\nexcept ValueError as error:\n    print(error)\n"
            "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
        )
        done = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True)
        message, peak = done.stdout.splitlines()
        limit = lines.JSON_LINE if "json" in name else lines.LINE
        assert message == f"{name}:1: the line has no end after {limit:,} bytes"
        assert int(peak) < 200  # MB


def test_a_row_and_a_line_without_an_end(put):
    row = b'"a\n",' * 1000 + b'"b\n",' * 4_000_000
    assert re.match(
        r"a.csv:2: the row has no end", fault(read_truths, put("a.csv", b"user_id,item_id\n" + row))
    )
    path = put("b.csv", b"user_id,item_id\nu,a\n" + b"x" * 20_000_000)
    assert fault(read_truths, path).startswith("b.csv:3: the line has no end")


@pytest.mark.slow
def test_a_million_items_in_a_line(put):
    items = ",".join(f'"{item:036d}"' for item in range(1_000_000))
    path = put("a.jsonl", f'{{"user_id": 1, "item_id": [{items}]}}\n')
    assert len(read_ranks(path, order="file")[1]) == 1_000_000


# B5


def test_all_files_or_none(put, tmp_path):
    put("a.csv", "old a")
    put("b.csv", "old b")

    def full(path):
        with open(path, "w") as file:
            file.write("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left on device: 'b.csv'"):
        writing.write_all({"a.csv": "new a", "b.csv": full, "c.csv": b"new"})
    assert sorted(os.listdir()) == ["a.csv", "b.csv"]
    assert (tmp_path / "a.csv").read_text() == "old a"
    writing.write_all(
        {"a.csv": "new a", "b.csv": lambda p: put(os.path.basename(p), "b"), "c.csv.gz": "c"}
    )
    assert sorted(os.listdir()) == ["a.csv", "b.csv", "c.csv.gz"]
    assert (tmp_path / "b.csv").read_text() == "b"
    assert gzip.decompress((tmp_path / "c.csv.gz").read_bytes()) == b"c"


def test_a_failed_rename_names_the_file(put, tmp_path, monkeypatch):
    put("a.csv", "old a")
    put("c.csv", "old c")
    replace = os.replace

    def refuse(source, target):
        if target.endswith("c.csv"):
            raise OSError(errno.EIO, "refused")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="refused: 'c.csv'"):
        writing.write_all({"a.csv": "new", "c.csv": "new"})
    assert sorted(os.listdir()) == ["a.csv", "c.csv"]  # no temporary file is left
    assert (tmp_path / "a.csv").read_text() == "new"
    assert (tmp_path / "c.csv").read_text() == "old c"


def test_targets_that_cannot_be(put, tmp_path):
    put("a.csv", "old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="two of the files to write are one"):
        writing.write_all({"a.csv": "", "link.csv": ""})
    with pytest.raises(IsADirectoryError, match="'folder'"):
        writing.write_all({"a.csv": "new", "folder": "new"})
    with pytest.raises(FileNotFoundError, match="'none/b.csv'"):
        writing.write_all({"a.csv": "new", "none/b.csv": "new"})
    assert (tmp_path / "a.csv").read_text() == "old"
    assert sorted(os.listdir()) == ["a.csv", "folder", "link.csv"]


# B7, and Parquet in general


def test_a_column_twice(put):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    put("t.csv", "user_id,item_id\nu,a\n")
    arrays = [pyarrow.array(x) for x in (["u"], ["a"], [1], ["b"])]
    names = ["user_id", "item_id", "rank", "item_id"]
    pq.write_table(pyarrow.Table.from_arrays(arrays, names=names), "a.parquet")
    expected = "a.parquet: two columns are named 'item_id'"
    assert faults("a.parquet", "t.csv") == [expected, expected]
    assert fault(tables.read_table, "a.parquet") == expected


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"user_id": [3], "item_id": ["c"]}, r"no column 'rank', folder/0.parquet has one"),
        ({"user_id": [3], "item_id": [7], "rank": [1]}, r"'item_id' holds numbers, in folder"),
        ({"user_id": [3], "item_id": [["c"]], "rank": [[1]]}, r"'item_id' holds lists of text"),
    ],
)  # fmt: skip
def test_an_odd_part_of_a_folder(put, tmp_path, odd, reason):
    (tmp_path / "folder").mkdir()
    put("t.jsonl", '{"user_id": 1, "item_id": "a"}\n')
    for part in range(2):
        write(f"folder/{part}.parquet", user_id=[part], item_id=["a"], rank=[1])
    write("folder/2.parquet", **odd)
    for error in faults("folder", "t.jsonl"):
        assert error.startswith("folder/2.parquet: unlike the other files of its folder: ")
        assert re.search(reason, error)


def test_parts_with_nothing_but_empty_lists_are_not_odd(put, tmp_path):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "folder").mkdir()
    put("t.jsonl", '{"user_id": 1, "item_id": "a"}\n')
    write("folder/0.parquet", user_id=[1], item_id=[["a"]])
    pq.write_table(pyarrow.table({"user_id": [2], "item_id": [[]]}), "folder/1.parquet")
    assert [one["hit@3"] for one in both("folder", "t.jsonl")] == [1, 1]


def test_invalid_utf8_in_parquet(put):
    pyarrow = pytest.importorskip("pyarrow")
    put("t.csv", "user_id,item_id\nu,a\n")
    good = pyarrow.array([b"a", b"b", b"\xff"], pyarrow.binary())
    bad = pyarrow.Array.from_buffers(pyarrow.string(), 3, good.buffers())
    write("a.parquet", user_id=["u", "u", "v"], item_id=bad, rank=[1, 2, 1])
    expected = "a.parquet: row 2: column 'item_id' is not valid UTF-8"
    assert faults("a.parquet", "t.csv") == [expected, expected]


@pytest.mark.parametrize("step", ["read_schema", "ParquetFile", "concat_tables"])
def test_memory_errors_stay_memory_errors(put, monkeypatch, step):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    put("t.csv", "user_id,item_id\nu,a\n")
    write("a.parquet", user_id=["u"], item_id=["a"], rank=[1])

    def full(*args, **options):
        raise pyarrow.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr(pyarrow if step == "concat_tables" else pq, step, full)
    with pytest.raises(MemoryError):
        top_k_eval("a.parquet", "t.csv", 1, in_memory=True)


# what an error names


TRUTH = "user_id,item_id\nann,a\nbob,b\neve,c\n"


@pytest.mark.parametrize("ranks", [[1, 1], [1, 3], [0, 1], [2, 3]])
def test_ranks_with_gaps_name_the_line(put, ranks):
    rows = "".join(f"bob,{place},{rank}\n" for place, rank in enumerate(ranks))
    put("a.csv", f"user_id,item_id,rank\nann,a,1\n{rows}eve,e,1\n")
    streamed, memory = faults("a.csv", put("t.csv", TRUTH))
    assert streamed == memory
    assert streamed.startswith("a.csv:3: ranks: user 'bob' has ranks")
    write(
        "a.parquet", user_id=["ann", "bob", "bob", "eve"], item_id=list("abcd"), rank=[1, *ranks, 1]
    )
    for error in faults("a.parquet", "t.csv"):
        assert error.startswith("a.parquet: row 1: ranks: user 'bob' has ranks")


def test_an_item_twice_names_the_line(put):
    put("a.csv", "user_id,item_id,rank\nann,a,1\nbob,b,1\nbob,b,2\neve,e,1\n")
    for error in faults("a.csv", put("t.csv", TRUTH)):
        assert error.startswith("a.csv:4: user 'bob' has item 'b' at ranks 1 and 2")
    write(
        "a.parquet", user_id=["ann", "bob", "bob", "eve"], item_id=list("abbe"), rank=[1, 1, 2, 1]
    )
    for error in faults("a.parquet", "t.csv"):
        assert error.startswith("a.parquet: row 1: user 'bob' has item 'b' at ranks 1 and 2")


def test_two_grades_name_the_line(put):
    put("a.csv", "user_id,item_id,rank\nann,a,1\nbob,b,1\n")
    put("t.csv", "user_id,item_id,relevance\nann,a,1\nbob,b,1\nbob,c,1\nbob,b,2\n")
    for error in faults("a.csv", "t.csv"):
        assert error.startswith("t.csv:5: user 'bob' has item 'b' twice in the ground truth")
    assert fault(read_truths, "t.csv") == "t.csv:5: user 'bob': item 'b' has relevance 1 and 2"
    write("t.parquet", user_id=["ann", "bob", "bob"], item_id=list("abb"), relevance=[1, 1, 2])
    for error in faults("a.csv", "t.parquet"):
        assert error.startswith("t.parquet: row 1: user 'bob' has item 'b' twice")


def test_scores_that_are_no_number_name_the_row(put):
    put("t.csv", TRUTH)
    columns = {"user_id": ["ann", "bob", "bob", "eve"], "item_id": list("abcd")}
    write("a.parquet", **columns, score=[1.0, 2.0, float("nan"), 1.0])
    for error in faults("a.parquet", "t.csv"):
        assert error.startswith("a.parquet: row 1: ranks: user 'bob' has a score that is NaN")
    write("a.parquet", **columns, score=[1.0, None, 1.0, 1.0])
    for error in faults("a.parquet", "t.csv"):
        assert error.startswith("a.parquet: ranks: column 'score' must hold numbers")
        assert error.endswith("null in row 1 (user 'bob')")
    write("a.parquet", **columns, score=["1"] * 4)
    for error in faults("a.parquet", "t.csv"):
        assert error.startswith("a.parquet: ranks: column 'score' must hold numbers")


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
    """D7: errors of 200 kB."""
    put("t.csv", "user_id,item_id\nu,a\n" if "jsonl" not in name else "user_id,item_id\n1,1\n")
    for error in faults(put(name, text), "t.csv"):
        assert len(error) < 2000


def test_integers_from_2_to_the_63_on(put):
    """A file read in parts has no code for them beside negative ones; in memory they are exact."""
    put("a.jsonl", f'{{"user_id": 1, "item_id": [{2**64 - 1}, {2**63}]}}\n')
    put("t.jsonl", f'{{"user_id": 1, "item_id": [{2**63}]}}\n')
    streamed = fault(top_k_eval, "a.jsonl", "t.jsonl", 2)
    assert streamed.startswith("integers from 2^63 on, as in a.jsonl, cannot be read in parts")
    memory = top_k_eval("a.jsonl", "t.jsonl", 2, metrics="mrr", in_memory=True)
    assert memory["mrr@2"] == 0.5


@pytest.mark.parametrize("side", ["a.jsonl", "t.jsonl"])
def test_integers_beyond_64_bits(put, side):
    wide = side[0] == "a"
    put("a.jsonl", f'{{"user_id": 1, "item_id": [5, {2**70 if wide else 7}]}}\n')
    put("t.jsonl", f'{{"user_id": 1, "item_id": [5, {7 if wide else 2**70}]}}\n')
    for error in faults("a.jsonl", "t.jsonl"):
        assert f"{2**70} is beyond 64 bits: give such ids as text, str(id)" in error


def test_kinds_of_ids_in_one_file(put):
    """A file of integers and texts is refused beside a text file too, streamed and in memory."""
    put("t.csv", "user_id,item_id\n1,1\n")
    put("a.jsonl", '{"user_id": 1, "item_id": [1, "2"]}\n')
    for error in faults("a.jsonl", "t.csv"):
        assert error.startswith("a.jsonl: ")
        assert "two kinds" in error


def test_carriage_returns_within_trec_lines(put):
    path = put("a.run", "q Q0 a 1 2 t\nq Q0 b 2 1.5 t\rq Q0 c 3 1 t\n")
    assert fault(read_ranks, path).startswith("a.run:2: a carriage return within the line")


@pytest.mark.slow
def test_mutated_files():
    """Streamed and in memory agree, every error is one line that names a file, nothing hangs."""
    assert fuzz_files.fuzz(1500, seed=1) == []


def test_grades_keep_their_value_beside_integers_that_no_double_holds(tmp_path):
    """Grades of 0.5 and of 2^53 + 1 in one file were read as their places in the order."""
    truth = tmp_path / "t.csv"
    truth.write_text("user_id,item_id,relevance\na,x,0.5\na,y,2\nb,z,9007199254740993\n")
    assert read_truths(truth) == {"a": {"x": 0.5, "y": 2.0}, "b": {"z": 9007199254740992.0}}


@pytest.mark.parametrize("in_memory", [False, True])
def test_ranks_are_not_their_places_in_the_order(tmp_path, in_memory):
    """Ranks 1.5 and 2^53 + 1 have the places 1 and 2 in a file with a rank of 0.5."""
    (tmp_path / "t.csv").write_text("user_id,item_id\na,x\nb,y\n")
    recs = tmp_path / "r.csv"
    recs.write_text("user_id,item_id,rank\nb,x,0.5\na,x,1.5\na,y,9007199254740993\n")
    with pytest.raises(ValueError, match="rank"):
        top_k_eval(recs, tmp_path / "t.csv", k=2, in_memory=in_memory)


def test_two_runs_in_one_trec_file(put):
    one = "q1 Q0 d1 1 2.0 bm25\nq2 Q0 d1 1 2.0 bm25\n"
    assert fault(read_ranks, put("a.run", one + "q1 Q0 d9 1 1.5 dense\n")) == (
        "a.run:3: query 'q1' has the tags 'bm25' (line 1) and 'dense': a file holds one run, "
        "evaluate two runs from two files"
    )
    # runs of different queries are one run, in parts
    apart = put("b.run", one + "q3 Q0 d9 1 1.5 dense\n")
    assert read_ranks(apart) == {"q1": ["d1"], "q2": ["d1"], "q3": ["d9"]}
