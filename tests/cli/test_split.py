"""`toplist split`: a log in; whole files out, or none."""

import csv
import gzip
import os
import sys
from unittest.mock import Mock

import pytest

from toplist import loo

LOG = 'user_id,item_id,timestamp,note\n1,a,2011-01-01,x\n1,b,2011-01-02,"y,z"\n2,a,2011-01-03,\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(LOG)
    return tmp_path


@pytest.fixture
def split(cli):
    return lambda *arguments: cli("split", *arguments)


def rows(path):
    with open(path, newline="") as stream:
        return list(csv.reader(stream))


def test_the_parts_are_files_with_all_columns(split, folder):
    status, out, err = split("log.csv", "--out", "parts")
    assert (status, err) == (0, "")
    assert "leave one out: the last by time" in out
    assert out.endswith("written: parts/train.csv, parts/test.csv\n")
    header = ["user_id", "item_id", "timestamp", "note"]
    assert rows("parts/train.csv") == [
        header, ["1", "a", "2011-01-01", "x"], ["2", "a", "2011-01-03", ""]
    ]  # fmt: skip
    assert rows("parts/test.csv") == [header, ["1", "b", "2011-01-02", "y,z"]]
    assert sorted(path.name for path in (folder / "parts").iterdir()) == ["test.csv", "train.csv"]


@pytest.mark.parametrize(
    ("arguments", "options", "by_hand"),
    [
        (["--by", "random", "--seed", "5"], {"by": "random", "seed": 5}, loo.leave_one_out),
        (["--ratio", "0.5"], {"ratio": 0.5}, loo.holdout),
        (["--time", "2011-01-02"], {"time": "2011-01-02"}, loo.holdout),
        (["--last", "1", "--k-core", "1"], {"last": 1, "k_core": 1}, loo.holdout),
        (["--last", "1", "--k-core", "2", "1"], {"last": 1, "k_core": (2, 1)}, loo.holdout),
        (["--held-out-users", "1", "--hold", "1"], {"test": 1, "hold": 1}, loo.held_out_users),
        (["--held-out-users", "1", "--hold", "0.5", "--by", "random", "--seed", "2"],
         {"test": 1, "hold": 0.5, "by": "random", "seed": 2}, loo.held_out_users),
        (["--min-history", "0", "--short", "drop"], {"min_history": 0, "short": "drop"},
         loo.leave_one_out),
    ],
)  # fmt: skip
def test_the_options_are_those_of_python(split, arguments, options, by_hand):
    assert split("log.csv", "--out", "parts", *arguments)[0] == 0
    found = by_hand("log.csv", **options)
    for part in found.report.rows:
        table = getattr(found, part)
        assert rows(f"parts/{part}.csv")[1:] == list(map(list, zip(*table.values(), strict=True)))


def test_gzip_and_tsv_and_other_names(split, folder):
    text = (LOG + "1,c,2011-01-04,\n").replace(",", "\t").replace("user_id", "who")
    (folder / "log.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert split("log.tsv.gz", "--out", ".", "--columns", "user_id=who", "--validation")[0] == 0
    with gzip.open("test.tsv.gz", "rt") as stream:
        assert stream.readline() == "who\titem_id\ttimestamp\tnote\n"


def test_parquet(split, folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"user_id": [1, 1], "item_id": [5, 6], "timestamp": [2, 1]})
    parquet.write_table(table, folder / "log.parquet")
    assert split("log.parquet", "--out", "parts")[0] == 0
    assert parquet.read_table("parts/test.parquet").to_pydict() == {
        "user_id": [1], "item_id": [5], "timestamp": [2]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["none.csv"], 1, "none.csv: No such file"),
        (["log.txt"], 2, "log.txt: the extension names no format: use .csv"),
        (["log.csv", "--columns", "who=x"], 2, "'who' is not a column to rename: user_id"),
        (["log.csv", "--columns", "timestamp=when"], 1, "log.csv: log has no column 'timestamp'"),
        (["log.csv", "--ratio", "2"], 1, "log.csv: --ratio 2.0: a share between 0 and 1"),
        (["log.csv", "--ratio", "0.2", "--validation"], 2, "--validation needs a value"),
        (["log.csv", "--validation", "0.2"], 2, "only with --ratio, --time, --last or --held"),
        (["log.csv", "--time", "1", "--by", "random"], 2, "does not go with --time"),
        (["log.csv", "--ratio", "0.1", "--time", "2011-01-01"], 2, "--ratio or --time"),
        (["--last", "2", "--ratio", "0.1"], 2, "give --ratio or --last, not both"),
        (["--last", "2", "--ratio", "0.1", "--time", "1"], 2, "--time or --last, not all"),
        (["--last", "0"], 1, "log.csv: last must be at least 1, not 0"),
        (["--last", "2", "--by", "random"], 2, "--by random does not go with --last"),
        (["--windows", "2d", "--short", "drop"], 2, "--short drop does not go with --windows"),
        (["--time", "2011-01-02", "--short", "drop"], 2, "--short drop does not go with --time"),
        (["--time", "2011-01-02", "--seed", "3"], 2, "--seed 3 does not go with --time"),
        (["--windows", "1d", "--seed", "3"], 2, "--seed 3 does not go with --windows"),
        (["--by", "basket", "--seed", "3"], 2, "--seed 3 does not go with --by basket"),
        (["--last", "2"], 1, "the test part would be empty: no user has enough rows"),
        (["--last", "1", "--validation", "0.2"], 1, "validation must be a whole number from 1"),
        (["--k-core", "3"], 1, "log.csv: --k-core 3 leaves nothing of 3 rows"),
        (["--k-core", "1", "2", "3"], 1, "--k-core 1 2 3: give k, or (k_users, k_items)"),
        (["--horizon", "7d"], 2, "--horizon goes with --windows alone"),
        (["--hold", "1", "--last", "2"], 2, "--hold goes with --held-out-users alone"),
        (["--windows", "1d", "--validation", "0.1"], 2, "does not go with --windows"),
        (["--windows", "7"], 1, "log.csv: --windows 7: the timestamps of this log are dates"),
        (["--windows", "7d"], 1, "beyond the newest row (2011-01-03): give a shorter horizon"),
        (["--windows", "1d", "--start", "2011-01-01"], 1, "no row is before 2011-01-01: give a"),
        (["--windows", "1d", "--min-history", "9"], 1, "the test part would be empty"),
        (["--held-out-users", "5"], 1, "log.csv: --held-out-users 5: 0 users with enough rows"),
        (["--held-out-users", "x"], 2, "--held-out-users: invalid number value: 'x'"),
        (["short.csv"], 1, "short.csv:3: 2 columns instead of 3"),
        (["empty.csv"], 1, "empty.csv: no rows"),
        (["quote.csv"], 1, "quote.csv:2: not readable"),
        (["bad.csv.gz"], 1, "bad.csv.gz: not readable"),
        (["none.parquet"], 1, "none.parquet"),
    ],
)
def test_bad_logs_and_words_are_one_line(split, folder, arguments, status, message):
    (folder / "short.csv").write_text("user_id,item_id,timestamp\n1,2,3\n1,2\n")
    (folder / "empty.csv").write_text("user_id,item_id,timestamp\n")
    (folder / "quote.csv").write_text('user_id,item_id,timestamp\n1,"a"b,3\n')
    (folder / "bad.csv.gz").write_bytes(b"no gzip")
    if arguments[0].endswith("parquet"):
        pytest.importorskip("pyarrow")
    log = [] if not arguments[0].startswith("--") else ["log.csv"]
    found, out, err = split(*log, *arguments, "--out", "parts")
    assert (found, out) == (status, "") and message in err
    assert "Traceback" not in err
    assert not (folder / "parts").exists()


def test_the_log_itself_is_never_overwritten(split, folder):
    (folder / "train.csv").write_text(LOG)
    status, _, err = split("train.csv", "--out", ".")
    assert status == 2 and "would overwrite the log" in err
    assert (folder / "train.csv").read_text() == LOG


def test_parts_are_written_whole_or_not_at_all(split, folder, monkeypatch):
    split("log.csv", "--out", "parts")
    before = {path.name: path.read_text() for path in (folder / "parts").iterdir()}
    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError(28, "No space left on device")))
    status, out, err = split("log.csv", "--out", "parts", "--time", "2011-01-02", "--force")
    assert (status, out) == (1, "") and "No space left" in err
    assert {path.name: path.read_text() for path in (folder / "parts").iterdir()} == before


def test_parquet_without_its_library_is_one_line(split, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, out, err = split("log.parquet", "--out", "parts")
    assert (status, out) == (1, "")
    assert err == (
        "toplist: Parquet files are read through pyarrow, which is not installed: pip install "
        "'toplist[io]'\n"
    )


def test_a_part_of_another_split_is_not_left_beside(split, folder):
    lines = "".join(f"a,{i},{i}\n" for i in range(5))
    (folder / "log.csv").write_text(f"user_id,item_id,timestamp\n{lines}")
    command = "log.csv", "--out", "parts"
    assert split(*command, "--validation")[0] == 0
    status, _, err = split(*command, "--force")
    assert status == 1 and "validation.csv is left from another split: remove it" in err


@pytest.fixture
def eight(folder):
    """Write a log of eight rows of each of ten users."""
    lines = [f"{user},{item},{user * 8 + item}" for user in range(10) for item in range(8)]
    (folder / "log.csv").write_text("\n".join(["user_id,item_id,timestamp", *lines]) + "\n")


@pytest.mark.usefixtures("eight")
def test_the_report_has_the_real_shares_and_the_validation_part(split):
    status, out, _ = split("log.csv", "--out", "p", "--ratio", "0.3", "--validation", "0.2")
    assert status == 0
    assert "hold out 0.3 of each user's rows, 0.2 for validation" in out
    assert "test: 20 rows of 10 users; validation: 10 rows of 10 users\n" in out
    assert "shares of the rows: train 62.5 %, test 25.0 %, validation 12.5 %\n" in out
    assert "validation: 0 rows" in str(loo.holdout("log.csv", 0.2, validation=0.1).report)
    assert "shares" not in str(loo.leave_one_out("log.csv").report)


@pytest.mark.usefixtures("eight")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ratio", "0.2", "--validation", "0.1"],
         "the validation part would be empty: --validation 0.1 of 8 rows, the most that a user "
         "has, is less than one row: give at least --validation 0.125"),
        (["--ratio", "0.1"], "the test part would be empty: --ratio 0.1 of 8 rows"),
        (["--ratio", "0.1", "--short", "drop"], "the train part would be empty: --ratio 0.1 of 8"),
        (["--min-history", "8", "--short", "drop"], "no user has enough rows for all parts"),
        (["--time", "60", "--min-history", "8"], "no user has enough rows for all parts, with 8"),
        (["--ratio", "0.8", "--validation", "0.3", "--min-history", "0"], "nothing is left for it"),
        (["--min-history", "8"], "the test part would be empty: no user has enough rows"),
        (["--time", "1000"], "the test part would be empty: no row is from 1000 on"),
        (["--time", "0"], "the train part would be empty: no row is before 0"),
        (["--time", "50", "--validation", "49.5"], "no row is from 49.5 on and before 50"),
    ],
)  # fmt: skip
def test_an_empty_part_is_an_error_and_nothing_is_written(split, folder, arguments, words):
    status, out, err = split("log.csv", "--out", "p", *arguments)
    assert (status, out) == (1, "") and words in err
    assert not (folder / "p").exists()
    least = err.partition("give at least ")[2].split()
    if least:
        assert split("log.csv", "--out", "p", *arguments, *least)[0] == 0


WEEKS = [f"{day % 4},{day % 5},2024-01-{day + 1:02},{day}" for day in range(21)]


@pytest.fixture
def weeks(folder):
    """Write a log of three weeks."""
    (folder / "log.csv").write_text("\n".join(["user_id,item_id,timestamp,n", *WEEKS]) + "\n")


@pytest.mark.usefixtures("weeks")
def test_windows_are_folders(split, folder):
    arguments = "--windows", "7d", "--start", "2024-01-08", "--repeats", "keep"
    status, out, err = split("log.csv", "--out", "parts", *arguments)
    assert (status, err) == (0, "")
    first, second = out.split("\n\n")
    assert first.startswith("window 1 of 2: train before 2024-01-08, test before 2024-01-15 (")
    assert "7 rows left out: after the horizon" in first and "window 2 of 2" in second
    assert second.endswith(
        "written: parts/1/train.csv, parts/1/test.csv, parts/2/train.csv, parts/2/test.csv\n"
    )
    assert [row[3] for row in rows("parts/1/train.csv")[1:]] == [str(n) for n in range(7)]
    assert [row[3] for row in rows("parts/2/test.csv")[1:]] == [str(n) for n in range(14, 21)]
    status, _, err = split("log.csv", "--out", "parts", *arguments)
    assert status == 1 and "parts/2/test.csv exist: --force replaces them" in err
    before = {path: path.read_text() for path in (folder / "parts").rglob("*.csv")}
    longer = "--windows", "14d", "--start", "2024-01-08", "--force"
    status, _, err = split("log.csv", "--out", "parts", *longer)
    assert status == 1 and "parts/2/train.csv is left from another split: remove it" in err
    status, _, err = split("log.csv", "--out", "parts", "--last", "1", "--force")
    assert status == 1 and "parts/1/train.csv is left from another split: remove it" in err
    assert {path: path.read_text() for path in (folder / "parts").rglob("*.csv")} == before
    assert split("log.csv", "--out", "parts", *arguments, "--force")[0] == 0
    status, _, err = split("parts/1/train.csv", "--out", "parts", *arguments, "--force")
    assert status == 2 and "--out parts would overwrite the log" in err


@pytest.mark.usefixtures("weeks")
def test_held_out_users_have_a_history(split, folder):
    arguments = "--held-out-users", "0.5", "--hold", "1", "--validation", "1"
    status, out, _ = split("log.csv", "--out", "parts", *arguments)
    assert status == 0
    assert "2 users of 2 in the test (100.0 %) have no row in train: given their history" in out
    names = {path.name for path in (folder / "parts").iterdir()}
    assert names == {"train.csv", "history.csv", "test.csv", "validation.csv"}
    train, history = ({row[0] for row in rows(f"parts/{p}.csv")[1:]} for p in ("train", "history"))
    assert not train & history and len(train) == 1 and len(history) == 3


@pytest.mark.usefixtures("weeks")
def test_cold_users_are_printed(split):
    options = "--out", "parts", "--time", "2024-01-03", "--repeats", "keep"
    status, out, _ = split("log.csv", *options)
    assert (
        status == 0 and "2 users of 4 in the test (50.0 %) have no row in train: new to any" in out
    )
    assert "3 test items are not in train: unknown to any model" in out


@pytest.mark.usefixtures("eight")
def test_windows_of_numbers_are_numbers(split):
    status, out, _ = split("log.csv", "--out", "p", "--windows", "20", "--start", "40")
    assert status == 0 and "window 2 of 2: train before 60, test before 80 (" in out
    assert [int(row[2]) for row in rows("p/2/test.csv")[1:]] == list(range(60, 80))
    arguments = "--windows", "7d", "--start", "40"
    status, _, err = split("log.csv", "--out", "q", *arguments)
    assert status == 1 and "--windows 7d: the timestamps of this log are numbers: give a" in err
