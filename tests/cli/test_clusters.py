"""toplist eval and compare --clusters, --unit, and keys of several columns."""

import json
from pathlib import Path

import pytest
from doors import by_words

RECS = "user,time,item_id,rank\na,1,x,1\na,1,y,2\na,2,z,1\nb,1,x,1\nc,4,x,1\n"
OTHER = "user,time,item_id,rank\na,1,y,1\na,2,x,1\nb,1,z,1\nc,4,x,1\n"
TRUTH = "user,time,item_id\na,1,y\na,2,x\nb,1,x\nc,4,x\n"
WHO = "user,time,person\na,1,ann\na,2,ann\nb,1,bob\nc,4,bob\n"
KEYS = "--columns", "user_id=user,time"
COLUMNS = {"user_id": ["user", "time"]}


@pytest.fixture
def keyed(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    for name, text in (("recs", RECS), ("other", OTHER), ("truth", TRUTH), ("who", WHO)):
        Path(f"{name}.csv").write_text(text)
    plain = {"recs": RECS, "truth": TRUTH, "who": WHO}
    for name, text in plain.items():  # one column of keys
        lines = [line.replace(",", "", 1) for line in text.splitlines()[1:]]
        header = text.splitlines()[0].replace("user,time", "user_id")
        Path(f"{name}1.csv").write_text("\n".join([header, *lines, ""]))


def test_clusters_of_a_file_or_of_the_key(keyed, good):
    ask = "eval", "recs.csv", "truth.csv", "-k", 2, "-m", "mrr", *KEYS
    text = good(*ask, "--clusters", "who.csv:person", "--unit", "sessions")
    assert "4 of 4 sessions evaluated, of 2 clusters" in text and "by clusters (CR2)" in text
    options = {"k": 2, "metrics": "mrr", "columns": COLUMNS}
    found = json.loads(good(*ask, "--clusters", "user", "--format", "json"))
    expected = by_words("recs.csv", "truth.csv", clusters="user", **options)
    assert found["n_clusters"] == 3
    assert found["interval"]["mrr@2"] == list(expected.interval("mrr@2"))
    found = json.loads(good(*ask, "--clusters", "who.csv:person", "--format", "json"))
    labels = [{"a": "ann"}.get(user, "bob") for user, _ in expected.users]
    expected = by_words("recs.csv", "truth.csv", clusters=labels, **options)
    assert found["interval"]["mrr@2"] == list(expected.interval("mrr@2"))


def test_clusters_of_plain_keys_and_of_several_systems(keyed, good):
    ask = "eval", "recs1.csv", "truth1.csv", "-k", 2, "-m", "mrr"
    assert "4 of 4 rows evaluated, of 2 clusters" in good(*ask, "--clusters", "who1.csv:person")
    both = "recs.csv", "other.csv", "truth.csv", "-k", 2, "-m", "mrr", *KEYS
    text = good("compare", *both, "--clusters", "who.csv:person", "--power")
    assert "paired t over 4 rows in 2 clusters" in text and "rows  clusters  effective" in text
    assert "of 2 clusters" in good("eval", *both, "--clusters", "who.csv:person")
    text = good("eval", *both[:1], *both[2:], "--segments", "who.csv:person")
    assert [line.split()[0] for line in text.splitlines()[1:4]] == ["ann", "bob", "all"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("who.csv:", "--clusters 'who.csv:': write FILE:COLUMN"),
        ("who.csv:age", "who.csv: no column 'age'; columns found: ['user', 'time', 'person']"),
        (
            "site",
            "--clusters site is no column of the keys of the rows, ('user', 'time'); --columns",
        ),
        ("less.csv:person", "less.csv: has no cluster of row ('b', '1')"),
        ("none.csv:person", "none.csv: has none of the users of the result; it has ('z', '1')"),
    ],
)
def test_bad_clusters_are_one_line(keyed, cli, option, message):
    Path("less.csv").write_text("user,time,person\na,1,ann\na,2,ann\nb,1,\nc,4,bob\n")
    Path("none.csv").write_text("user,time,person\nz,1,ann\n")
    ask = "eval", "recs.csv", "truth.csv", "-k", 2, "-m", "mrr", *KEYS
    status, _, err = cli(*ask, "--clusters", option)
    assert status and message in err


def test_no_output_replaces_the_clusters(keyed, cli):
    ask = "eval", "recs.csv", "truth.csv", *KEYS, "--clusters", "who.csv:person"
    status, _, err = cli(*ask, "-o", "who.csv")
    assert status and "--out who.csv would overwrite an input file" in err
