"""What tests of the command line share: files of three users, and commands that fail."""

from pathlib import Path

import pytest

RECS = "user_id,item_id,rank\nu1,a,1\nu1,b,2\nu2,c,1\nu3,a,1\n"
MORE = "user_id,item_id,rank\nu1,b,1\nu2,d,1\nu4,a,1\n"
TRUTH = "user_id,item_id\nu1,b\nu2,d\nu4,a\nu4,e\n"
USERS = "user_id,country\nu1,UK\nu2,FR\nu4,UK\n"
LOG = "user_id,item_id,timestamp\n1,a,1\n1,b,2\n2,a,3\n2,c,4\n"
FILES = {"recs.csv": RECS, "more.csv": MORE, "truth.csv": TRUTH, "users.csv": USERS, "log.csv": LOG}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in a folder with good files; return their texts by name."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return FILES


@pytest.fixture
def bad(cli):
    """Run a command on bad input: status 1, one line on stderr; return what the line says."""

    def run(*arguments):
        status, out, err = cli(*arguments)
        assert (status, out) == (1, "")
        assert err.startswith("toplist: ")
        assert err.count("\n") == 1 and err.endswith("\n")
        assert "Traceback" not in err
        return err.removeprefix("toplist: ").rstrip("\n")

    return run
