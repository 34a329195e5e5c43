"""`toplist split`: a log in; whole files out, or none."""

import csv
import gzip
import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from cli.conftest import put, refused, rows
from file_helpers import write_parquet

from toplist import loo

EIGHT = [f"{user},{item},{user * 8 + item}" for user in range(10) for item in range(8)]
WEEKS = [f"{day % 4},{day % 5},2024-01-{day + 1:02},{day}" for day in range(21)]


@pytest.fixture
def split(files, cli):
    """Split a log of three rows, one of eight rows of each of ten users, or one of three weeks."""
    put("eight.csv", "\n".join(["user_id,item_id,timestamp", *EIGHT, ""]))
    put("weeks.csv", "\n".join(["user_id,item_id,timestamp,n", *WEEKS, ""]))
    return lambda *arguments: cli("split", *arguments, "--out", "parts")


def part(name, folder="parts"):
    return rows(Path(folder, f"{name}.csv").read_text())


def texts():
    return {str(path): path.read_text() for path in Path("parts").rglob("*.csv")}


OPTIONS = [
    ("log.csv --by random --seed 5", loo.leave_one_out, {"by": "random", "seed": 5}),
    ("log.csv --min-history 0 --short drop", loo.leave_one_out,
     {"min_history": 0, "short": "drop"}),
    ("eight.csv --ratio 0.3 --validation 0.2", loo.holdout, {"ratio": 0.3, "validation": 0.2}),
    ("weeks.csv --time 2024-01-03 --repeats keep", loo.holdout,
     {"time": "2024-01-03", "repeats": "keep"}),
    ("log.csv --last 1 --k-core 2 1", loo.holdout, {"last": 1, "k_core": (2, 1)}),
    ("weeks.csv --held-out-users 0.5 --hold 1 --validation 1", loo.held_out_users,
     {"test": 0.5, "hold": 1, "validation": 1}),
    ("eight.csv --windows 20 --start 40", loo.windows, {"every": 20, "start": 40}),
    ("weeks.csv --windows 3d --horizon 7d --start 2024-01-08", loo.windows,
     {"every": "3d", "horizon": "7d", "start": "2024-01-08"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "by_hand", "options"), OPTIONS)
def test_the_options_are_those_of_python(split, line, by_hand, options):
    status, out, err = split(*line.split())
    assert (status, err) == (0, "")
    made = by_hand(line.split()[0], **options)
    found = (
        {f"{i}/": one for i, one in enumerate(made, 1)} if by_hand is loo.windows else {"": made}
    )
    assert out.startswith("\n\n".join(str(one.report) for one in found.values()))
    names = {f"{folder}{name}": one for folder, one in found.items() for name in one.report.rows}
    for path, one in names.items():
        table = getattr(one, path.rpartition("/")[2])  # with all columns of the log
        expected = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        assert part(path) == expected
    written = [f"parts/{path}.csv" for path in names]
    assert {*texts()} == {*written} and out.endswith(f"written: {', '.join(written)}\n")


def test_other_formats_and_names(split):
    text = (Path("log.csv").read_text() + "1,c,2011-01-04,\n").replace(",", "\t")
    put("log.tsv.gz", text.replace("user_id", "who"))
    assert split("log.tsv.gz", "--columns", "user_id=who", "--validation")[0] == 0
    assert sorted(os.listdir("parts")) == ["test.tsv.gz", "train.tsv.gz", "validation.tsv.gz"]
    with gzip.open("parts/test.tsv.gz", "rt") as stream:
        assert stream.readline() == "who\titem_id\ttimestamp\tnote\n"
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet("log.parquet", user_id=[1] * 3, item_id=[5, 6, 7], timestamp=[2, 1, 3])
    assert split("--validation", "log.parquet")[0] == 0  # takes no file
    assert parquet.read_table("parts/test.parquet").to_pydict() == {
        "user_id": [1], "item_id": [7], "timestamp": [3]
    }  # fmt: skip


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_line_ends_within_ids_are_quoted(split, cli, end):
    lines = [f'u,"a{end}",1', "u,b,2", "v,b,1", "v,c,2"]
    put("odd.csv", "\n".join(["user_id,item_id,timestamp", *lines, ""]))
    assert split("odd.csv")[0] == 0
    with open("parts/train.csv", newline="") as stream:
        assert [row[:2] for row in csv.reader(stream)][1:] == [["u", f"a{end}"], ["v", "b"]]
    assert cli("check", "recs.csv", "truth.csv", "--train", "parts/train.csv")[0] == 0


def test_parts_are_written_whole_or_not_at_all(split, monkeypatch):
    split("log.csv")
    before = texts()
    again = "log.csv", "--time", "2011-01-02"
    assert "parts/train.csv, parts/test.csv exist: --force replaces them" in refused(split(*again))
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", Mock(side_effect=OSError(28, "No space left on device")))
        assert "No space left" in refused(split(*again, "--force"))
    assert texts() == before
    os.unlink("parts/test.csv")
    assert refused(split(*again)) == "parts/train.csv exists: --force replaces it"
    assert os.listdir("parts") == ["train.csv"]
    assert "written: parts/train.csv, parts/test.csv" in split(*again, "--force")[1]
    assert split("eight.csv", "--validation", "--force")[0] == 0
    left = refused(split("log.csv", "--force"))
    assert "validation.csv is left from another split: remove it" in left


def test_windows_are_folders(split):
    arguments = "weeks.csv", "--windows", "7d", "--start", "2024-01-08", "--repeats", "keep"
    status, out, err = split(*arguments)
    assert (status, err) == (0, "")
    first, second = out.split("\n\n")
    assert first.startswith("window 1 of 2: train before 2024-01-08, test before 2024-01-15 (")
    assert "window 2 of 2" in second and second.endswith(
        "written: parts/1/train.csv, parts/1/test.csv, parts/2/train.csv, parts/2/test.csv\n"
    )
    before = texts()
    assert "parts/2/test.csv exist: --force replaces them" in refused(split(*arguments))
    last = "--last", "1", "--force"
    assert "parts/1/train.csv is left from another" in refused(split("weeks.csv", *last))
    status, _, err = split("parts/1/train.csv", *arguments[1:], "--force")
    assert status == 2 and "--out parts would overwrite the log" in err
    assert texts() == before
