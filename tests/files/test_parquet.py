"""Parquet files, and folders of them: which columns are read, what is refused, with the row."""

import re
import sys

import numpy as np
import pytest
from file_helpers import both, fault, faults, write_parquet

from toplist import top_k_eval
from toplist.files import parquet, tables

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def truth(put):
    return put("t.csv", "user_id,item_id\nu,a\n1,a\n")


def test_a_column_twice(truth):
    arrays = [pyarrow.array(x) for x in (["u"], ["a"], [1], ["b"])]
    names = ["user_id", "item_id", "rank", "item_id"]
    pq.write_table(pyarrow.Table.from_arrays(arrays, names=names), "a.parquet")
    expected = "a.parquet: two columns are named 'item_id'; columns found: ['user_id', 'item_id', "
    assert all(error.startswith(expected) for error in faults("a.parquet", truth))
    assert fault(tables.read_table, "a.parquet").startswith(expected)


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"user_id": [3], "item_id": ["c"]}, r"no column 'rank', folder/0.parquet has one"),
        ({"user_id": [3], "item_id": [7], "rank": [1]}, r"'item_id' holds numbers, in folder"),
        ({"user_id": [3], "item_id": [["c"]], "rank": [[1]]}, r"'item_id' holds lists of text"),
    ],
)
def test_an_odd_part_of_a_folder(truth, tmp_path, odd, reason):
    (tmp_path / "folder").mkdir()
    for part in range(2):
        write_parquet(f"folder/{part}.parquet", user_id=[part], item_id=["a"], rank=[1])
    write_parquet("folder/2.parquet", **odd)
    for error in faults("folder", truth):
        assert error.startswith("folder/2.parquet: unlike the other files of its folder: ")
        assert re.search(reason, error)


def test_parts_of_a_folder_are_read_as_one_file(put, tmp_path):
    (tmp_path / "folder").mkdir()
    t = put("t.jsonl", '{"user_id": 1, "item_id": ["a"]}\n')
    write_parquet("folder/0.parquet", user_id=[1], item_id=[["a"]])
    write_parquet("folder/1.parquet", user_id=[2], item_id=[[]])  # lists of nothing are not odd
    assert [one["hit@3"] for one in both("folder", t)] == [1, 1]
    (tmp_path / "w").mkdir()
    for part, kind in enumerate((pyarrow.int32(), pyarrow.int64())):
        columns = {"user_id": [part], "item_id": [5], "rank": [1]}
        write_parquet(
            f"w/{part}.parquet", **{n: pyarrow.array(c, kind) for n, c in columns.items()}
        )
    t = put("t.jsonl", '{"user_id": 0, "item_id": [5]}\n{"user_id": 1, "item_id": [6]}\n')
    assert [one["hit@1"] for one in both("w", t, 1)] == [0.5, 0.5]
    (tmp_path / "r").mkdir()
    for part, ranks in ((9, [1, 2]), (10, [3, 4])):  # one user over two files, 9 before 10
        write_parquet(f"r/part-{part}.parquet", user_id=[7, 7], item_id=ranks, rank=ranks)
    t = put("t.jsonl", '{"user_id": 7, "item_id": [4]}\n')
    assert top_k_eval("r", t, 4)["mrr@4"] == 0.25


def test_invalid_utf8(truth):
    good = pyarrow.array([b"a", b"b", b"\xff"], pyarrow.binary())
    bad = pyarrow.Array.from_buffers(pyarrow.string(), 3, good.buffers())
    write_parquet("a.parquet", user_id=["u", "u", "v"], item_id=bad, rank=[1, 2, 1])
    expected = "a.parquet: row 2: column 'item_id' is not valid UTF-8"
    assert faults("a.parquet", truth) == [expected, expected]


@pytest.mark.parametrize("step", ["read_schema", "ParquetFile", "concat_tables"])
def test_memory_errors_stay_memory_errors(truth, monkeypatch, step):
    write_parquet("a.parquet", user_id=["u"], item_id=["a"], rank=[1])

    def full(*args, **options):
        raise pyarrow.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr(pyarrow if step == "concat_tables" else pq, step, full)
    with pytest.raises(MemoryError):
        top_k_eval("a.parquet", truth, 1, keep="users")


def test_broken_files(truth, tmp_path):
    users = [f"u{user}" for user in range(40)]
    path = tmp_path / write_parquet("r.parquet", user_id=users, item_id=users, rank=[1] * 40)
    data = path.read_bytes()
    for broken in (data[: len(data) // 2], b"no Parquet at all", b"", data[:-10] + b"0123456789"):
        path.write_bytes(broken)
        assert fault(top_k_eval, "r.parquet", truth, 3).startswith("r.parquet: not readable: ")
    path.write_bytes(data[:40] + bytes(60) + data[100:])  # a page, not the footer
    assert fault(top_k_eval, "r.parquet", truth, 3).startswith("r.parquet: ")
    with pytest.raises(FileNotFoundError, match=r"other\.parquet"):
        top_k_eval("other.parquet", truth, 3)
    (tmp_path / "empty.parquet").mkdir()
    expected = "empty.parquet: a folder without .parquet files"
    assert fault(top_k_eval, "empty.parquet", truth, 3) == expected


NOTHING = {name: pyarrow.array([], "int64") for name in ("user_id", "item_id", "rank")}
LONG = {"user_id": ["a", "a"], "item_id": ["x", "y"]}
WRONG = [
    ({"who": ["a"], "item_id": ["x"]}, "r.parquet: no column 'user_id', columns="),
    (LONG, "no column 'rank' or 'score'"),
    (LONG | {"rank": ["1", "2"]}, "column 'rank' must hold numbers"),
    (LONG | {"item_id": ["x", None], "rank": [1, 2]}, "column 'item_id' is null in row 1"),
    (NOTHING, "r.parquet: no rows"),
    ({"user_id": range(24), "item_id": [["x"]] * 23 + [None]}, "'item_id' is null in row 23"),
    (
        {"user_id": range(24), "item_id": [["x"]] * 22 + [["y", None], ["z"]]},
        "holds a null in the list of row 22",
    ),
]


@pytest.mark.parametrize(("columns", "said"), WRONG)
@pytest.mark.parametrize("ids", [12, 1 << 20])
def test_wrong_columns(truth, monkeypatch, columns, said, ids):
    monkeypatch.setattr(parquet, "IDS", ids)  # rows are counted over the parts
    error = fault(top_k_eval, write_parquet("r.parquet", **columns), truth, 3, kind=Exception)
    assert error.startswith("r.parquet: ") and said in error


@pytest.mark.parametrize("lists", [False, True])
def test_a_user_split_over_distant_rows(put, monkeypatch, lists):
    truth = put("t.jsonl", '{"user_id": 4, "item_id": [4]}\n')
    users = [*range(30), 4]
    items = [[user, user + 1] for user in users] if lists else users
    columns = {"user_id": users, "item_id": items} | ({} if lists else {"rank": [1] * 30 + [2]})
    write_parquet("r.parquet", **columns)
    for ids in (12, 1 << 20):
        monkeypatch.setattr(parquet, "IDS", ids)
        for keep in (None, "users"):
            if lists:
                error = fault(top_k_eval, "r.parquet", truth, 1, keep=keep)
                assert "user 4 is in rows 4 and 30: a user has one list" in error
            else:
                assert top_k_eval("r.parquet", truth, 1, keep=keep)["hit@1"] == 1


def test_ranks_of_a_user_who_is_split_are_read_together(put):
    columns = {"user_id": [1, 2, 3, 2], "item_id": [5, 6, 7, 8], "rank": [1, 2, 1, 1]}
    write_parquet("r.parquet", 2, **columns)
    truth = put("t.jsonl", '{"user_id": 2, "item_id": [8]}\n')
    for keep in (None, "users"):
        assert top_k_eval("r.parquet", truth, 1, keep=keep)["hit@1"] == 1


def test_lists_of_scores_order_the_items(put):
    columns = {"item_id": [["a", "b", "c"], []], "score": [[0.1, 0.9, 0.9], []]}
    write_parquet("r.parquet", user_id=["u", "v"], **columns)
    truth = put("t.csv", "user_id,item_id\nu,c\n")
    assert [one["mrr@3"] for one in both("r.parquet", truth)] == [0.5, 0.5]


@pytest.mark.slow
def test_a_user_with_a_million_items(put, monkeypatch):
    monkeypatch.setattr(parquet, "IDS", 1 << 16)
    n = 1_000_000
    users = np.concatenate([[1, 1], np.full(n, 2), [3]])
    items, ranks = np.arange(n + 3), np.concatenate([[1, 2], np.arange(1, n + 1), [1]])
    write_parquet("r.parquet", user_id=users, item_id=items, rank=ranks)
    write_parquet("t.parquet", user_id=[1, 2, 3], item_id=[1, n + 1, 7])
    result = top_k_eval("r.parquet", "t.parquet", n, metrics=["mrr", "recall"])
    assert result[f"recall@{n}"] == 2 / 3
    assert result[f"mrr@{n}"] == pytest.approx((1 / 2 + 1 / n) / 3, rel=1e-12)


def test_parquet_needs_pyarrow(put, truth, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'toplist[io]'")):
        top_k_eval(put("recs.parquet", b""), truth, 3)
