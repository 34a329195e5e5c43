"""toplist eval --segments FILE:COLUMN."""

import csv
import io
import json

import pytest


@pytest.fixture
def split(tmp_path, monkeypatch, cli):
    """Evaluate three users by the segments of an option."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("recs", "user_id,item_id,rank\nu1,a,1\nu2,b,1\nu3,c,1\n"),
        ("truth", "user_id,item_id\nu1,a\nu2,a\nu3,c\n"),
        ("users", "user_id,country\nu1,UK\nu2,FR\nu3,\nu9,UK\n"),
        ("other", "user_id,country\nx,UK\n"),
        ("twice", "user_id,country\nu1,UK\nu1,FR\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(text)
    return lambda *option: cli(
        *("eval", "recs.csv", "truth.csv", "-k", 1, "-m", "hit", "--segments", *option)
    )


def test_segments_on_the_command_line(split):
    status, out, _ = split("users.csv:country")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["FR", "UK", "(no", "all"]
    assert "1 label of users who are not in the result" in out
    _, out, _ = split("users.csv:country", "--format", "json")
    content = json.loads(out)
    assert [(one["segment"], one["values"]["hit@1"]) for one in content["segments"]] == [
        ("FR", 0), ("UK", 1), (None, 1)
    ]  # fmt: skip
    assert content["n_users"] == sum(one["n_users"] for one in content["segments"])
    _, out, _ = split("users.csv:country", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["segment"], row["n"]) for row in rows] == [("FR", "1"), ("UK", "1"), ("", "1")]


@pytest.mark.parametrize(
    ("option", "status", "message"),
    [
        ("users.csv", 2, "write FILE:COLUMN"),
        ("users.txt:a", 2, "names no format"),
        ("users.csv:age", 1, "users.csv: no column 'age'; columns found: ['user_id', 'country']"),
        ("none.csv:age", 1, "none.csv: No such file"),
        ("recs.csv:rank", 0, ""),
        ("other.csv:country", 1, "other.csv: has none of the users of the result; it has 'x'"),
        ("twice.csv:country", 1, "user 'u1' has two labels, 'UK' and 'FR'"),
    ],
)
def test_bad_segments_are_one_line(split, option, status, message):
    found, _, err = split(option)
    assert found == status and message in err
    assert status == 0 or "Traceback" not in err
