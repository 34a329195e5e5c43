"""toplist eval --segments FILE:COLUMN."""

import csv
import io
import json
from pathlib import Path

import pytest


@pytest.fixture
def split(files, cli):
    """Evaluate three users by the segments of an option."""
    for name, text in (
        ("users", "u1,UK\nu2,FR\nu4,\nu9,UK\n"),
        ("other", "x,UK\n"),
        ("twice", "u1,UK\nu1,FR\n"),
    ):
        Path(f"{name}.csv").write_text(f"user_id,country\n{text}")
    return lambda *option: cli(
        *("eval", "recs.csv", "truth.csv", "-k", 2, "-m", "hit", "--segments", *option)
    )


def test_segments_on_the_command_line(split):
    status, out, _ = split("users.csv:country")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["FR", "UK", "(no", "all"]
    assert "1 label of users who are not in the result" in out
    _, out, _ = split("users.csv:country", "--format", "json")
    content = json.loads(out)
    assert [(one["segment"], one["values"]["hit@2"]) for one in content["segments"]] == [
        *(("FR", 0), ("UK", 1), (None, 0))
    ]
    assert content["n_users"] == sum(one["n_users"] for one in content["segments"])
    _, out, _ = split("users.csv:country", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["segment"], row["n"]) for row in rows] == [("FR", "1"), ("UK", "1"), ("", "1")]
    assert split("more.csv:rank")[0] == 0  # of any file with a row by user


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("users.csv:age", "users.csv: no column 'age'; columns found: ['user_id', 'country']"),
        ("none.csv:age", "none.csv: No such file"),
        ("other.csv:country", "other.csv: has none of the users of the result; it has 'x'"),
        ("twice.csv:country", "user 'u1' has two labels, 'UK' and 'FR'"),
    ],
)
def test_bad_segments_are_one_line(split, option, message):
    status, _, err = split(option)
    assert status == 1 and message in err and err.count("\n") == 1
