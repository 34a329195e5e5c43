"""toplist eval --propensities: what Python gives, and what is refused."""

from doors import by_words

from toplist.files import write_text

RECS = "user_id,item_id,rank\nu,a,1\nu,b,2\nv,b,1\nv,d,2\n"
TRUTH = "user_id,item_id\nu,a\nu,c\nv,d\n"
ITEMS = "item_id,price,p\na,1.5,0.9\nb,1,0.5\nc,1,0.2\nd,1,0.05\n"
P = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.05}
SUMS = "recall", "dcg", "psp", "psndcg"


def test_the_command_line(tmp_path, monkeypatch, cli, good, bad):
    monkeypatch.chdir(tmp_path)
    for name, text in (("recs", RECS), ("truth", TRUTH), ("items", ITEMS)):
        write_text(f"{name}.csv", text)
    write_text("two.csv", "item_id,p\na,0.9\nb,0.5\nc,0.2\nd,0.05\n")
    ask = "eval", "recs.csv", "truth.csv", "-k", 1, 2, "-m", *SUMS
    files, how = ("recs.csv", "truth.csv"), {"k": [1, 2], "metrics": SUMS, "propensities": P}
    expected = by_words(*files, clip=0.1, **how)
    for file in ("items.csv:p", "two.csv", "two.csv:p"):
        assert good(*ask, "--propensities", file, "--clip", 0.1) == f"{expected}\n"
    found = good(*ask[:5], "-m", "dcg", "--propensities", "two.csv", "--weighting", "ips")
    assert "(IPS)" in found
    assert "2 columns besides 'item_id'" in bad(*ask, "--propensities", "items.csv")
    assert bad(*ask).startswith("psp needs --propensities: give {item: p}, how likely")
    status, _, err = cli(*ask, "--propensities", "two.csv:p", "-o", "two.csv")
    assert status == 2 and "--out two.csv would overwrite an input file" in err
    write_text("two.csv", "item_id,p\na,0.9\nb,0\n")
    assert "item 'b' has 0: give a probability" in bad(*ask, "--propensities", "two.csv")
    assert "psndcg" in good("metrics") and "1 / p" in good("metrics", "psp")


def test_under_ips_files_are_compared_over_the_users_of_all(tmp_path, monkeypatch, good):
    """u finds a, 1 / .5; y has no list, v and w are in one file alone: 2 / 5 in both."""
    monkeypatch.chdir(tmp_path)
    write_text("a.csv", "user_id,item_id,rank\nu,a,1\nu,d,2\nv,b,1\nw,c,1\n")
    write_text("b.csv", "user_id,item_id,rank\nu,d,1\nu,a,2\no,b,1\n")
    write_text("t.csv", "user_id,item_id\nu,a\ny,b\n")
    write_text("q.csv", "item_id,p\na,.5\nb,.25\nc,1\nd,.2\n")
    ask = ["-m", "cg@2", "--propensities", "q.csv:p", "--weighting", "ips"]
    both = good("eval", "a.csv", "b.csv", "t.csv", *ask)
    assert "DIFFERENT" not in both and both.count("0.4000") == 2
    assert "5 of 5 users evaluated, 3 of them without an observed item" in both
    alone = good("eval", "a.csv", "t.csv", *ask)
    assert "0.5000" in alone and "4 of 4 users evaluated" in alone
    assert "over 5 users" in good("compare", "a.csv", "b.csv", "t.csv", *ask)
