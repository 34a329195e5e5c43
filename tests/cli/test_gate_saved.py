"""toplist gate of results that were saved with their users."""

from pathlib import Path

import pytest

import toplist as tl

TRUTH = {f"u{user}": {user % 7} for user in range(300)}
HIT = {user: [*items, 8] for user, items in TRUTH.items()}
LATER = {user: [8, *items] for user, items in TRUTH.items()}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lists in (("base", HIT), ("good", HIT), ("bad", LATER)):
        tl.top_k_eval(lists, TRUTH, metrics="mrr@2").save(f"{name}.npz")
    tl.top_k_eval(HIT, TRUTH, metrics="mrr@2", convention="neurec").save("other.npz")
    some = {user: TRUTH[user] for user in list(TRUTH)[:200]}
    tl.top_k_eval(HIT, some, metrics="mrr@2").save("fewer.npz")
    rows = "".join(f"{user},8,2\n{user},{next(iter(one))},1\n" for user, one in TRUTH.items())
    Path("lists.csv").write_text(f"user_id,item_id,rank\n{rows}")
    Path("truth.csv").write_text(
        "user_id,item_id\n" + "".join(f"{user},{next(iter(one))}\n" for user, one in TRUTH.items())
    )


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ("good.npz base.npz", 0),
        ("bad.npz base.npz", 1),
        ("other.npz base.npz", 2),
        ("fewer.npz base.npz", 2),
        ("good.npz none.npz", 2),
        ("good.npz base.npz truth.csv", 2),
        ("good.npz lists.csv", 2),
    ],
)
def test_the_exit_status(cli, files, status):
    found, out, err = cli("gate", *files.split(), "-m", "mrr@2", "--margin", "0.05")
    assert found == status and (out == "") == bool(err) == (status == 2)


def test_lists_beside_a_saved_base(cli):
    """The truth of a file is text, and so are the keys of users: the items must be, too."""
    lists = tl.top_k_eval("lists.csv", "truth.csv", metrics="mrr@2", keep="users")
    lists.save("kept.npz")
    line = "gate lists.csv kept.npz truth.csv -m mrr@2 --margin 0.05"
    assert cli(*line.split())[0] == 0
