"""What tests of the command line share: a folder of small files, and what they are typed with."""

import csv
import gzip
import io
import sys
from pathlib import Path

import pytest
from file_helpers import jsonl

RANKED = {"u1": ["a", "b"], "u2": ["c"], "u3": ["a"]}
RELEVANT = {"u1": ["b"], "u2": ["d"], "u4": ["a", "e"]}
RECS = "user_id,item_id,rank\nu1,a,1\nu1,b,2\nu2,c,1\nu3,a,1\n"
MORE = "user_id,item_id,rank\nu1,b,1\nu2,d,1\nu4,a,1\n"
TRUTH = "user_id,item_id\nu1,b\nu2,d\nu4,a\nu4,e\n"
LOG = 'user_id,item_id,timestamp,note\n1,a,2011-01-01,x\n1,b,2011-01-02,"y,z"\n2,a,2011-01-03,\n'
MODELS = "user_id,item_id,rank,model\nu1,a,1,x\nu1,b,2,x\nu2,d,1,x\nu1,b,1,y\nu2,c,1,y\nu4,a,1,y\n"
FILES = {
    "recs.csv": RECS,
    "more.csv": MORE,
    "truth.csv": TRUTH,
    "log.csv": LOG,
    "models.csv": MODELS,
    "users.csv": "user_id,country\nu1,UK\nu2,FR\nu4,\nu9,UK\n",
    "items.csv": "item_id,genre,title\na,x,An apple\nb,y,\nd,,\ne,y,Egg <1>\nq,x,\n",
    "n.jsonl": jsonl({"user_id": 7, "item_id": [1, 2]}),
    "n_truth.jsonl": jsonl({"user_id": 7, "item_id": [1, 3]}),
    "n.csv": "item_id,genre\n1,x\n",
}
KEYED = {
    "keyed.csv": "user,time,item_id,rank\na,1,x,1\na,1,y,2\na,2,z,1\nb,1,x,1\nc,4,x,1\n",
    "keyed_truth.csv": "user,time,item_id\na,1,y\na,2,x\nb,1,x\nc,4,x\n",
    "who.csv": "user,time,person\na,1,ann\na,2,ann\nb,1,bob\nc,4,bob\n",
}


def put(name, text):
    """Write a file, gzipped if its name says so; return the name."""
    data = text.encode()
    Path(name).write_bytes(gzip.compress(data) if str(name).endswith(".gz") else data)
    return name


def rows(text):
    """Return the rows of CSV, by the names of its columns."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in a folder with good files; return their texts by name."""
    monkeypatch.chdir(tmp_path)
    for name, text in (FILES | KEYED).items():
        put(name, text)
    return FILES | KEYED


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(data):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdin", stream)

    return put


def refused(found, status=1):
    """Check that a command has failed with one line on stderr; return what the line says."""
    code, out, err = found
    assert (code, out) == (status, ""), err
    assert err.startswith("toplist: ") and err.count("\n") == 1 and err.endswith("\n"), err
    return err.removeprefix("toplist: ").rstrip("\n")


@pytest.fixture
def bad(cli):
    """Run a command on bad input: status 1, one line on stderr; return what the line says."""
    return lambda *arguments: refused(cli(*arguments))
