"""toplist eval --propensities: what Python gives, and what is refused."""

import toplist as tl
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
    expected = tl.top_k_eval(*files, **how, clip=0.1)
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
