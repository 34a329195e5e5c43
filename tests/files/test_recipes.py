"""The recipes of `toplist.files` for other engines: the very lines of its documentation."""

import re
import textwrap

import numpy as np
import pytest

import toplist as tl
import toplist.files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N, K = 90, 10


def literal_blocks(text):
    """Return what is indented below each line that ends in two colons."""
    found = re.findall(r"::\n\n((?:(?: {4}.*)?\n)+)", text)
    return [textwrap.dedent(block).strip() for block in found]


def name_of(block):
    engine = re.match(r"import (\w+)", block)[1]
    way = "files" if "-sorted.parquet" in block else "buckets" if "bucket" in block else "stream"
    return f"{engine} {way}" if "shuffle" not in block else f"{engine} shuffle"


BLOCKS = literal_blocks(tl.files.__doc__)
RECIPES = {name_of(block): block for block in BLOCKS if block.startswith("import ")}


def sides(text):
    """Return lists and truths by user, negative ones too; some users are on one side only."""
    rng = np.random.default_rng(3)
    users = [f"u{n}" if text else n - N // 2 for n in range(N)]

    def some(n):
        found = rng.permutation(40)[:n].tolist()
        return [f"item {item}" for item in found] if text else found

    ranks = {u: some(14) for u in users if u not in users[3:6]}
    return ranks, {u: some(1 + rng.integers(5)) for u in users[:-4]}


def write(folder, ranks, truth, user, truth_user):
    """Write both sides as files with their rows in no order and ids of the types given."""
    rng = np.random.default_rng(0)
    for name, lists, kind in (("recs", ranks, user), ("truth", truth, truth_user)):
        rows = [(u, i, r) for u, some in lists.items() for r, i in enumerate(some, 1)]
        columns = zip(*(rows[at] for at in rng.permutation(len(rows))), strict=True)
        table = pa.table(dict(zip(("user_id", "item_id", "rank"), columns, strict=True)))
        table = table.set_column(0, "user_id", table["user_id"].cast(kind))
        table = table if name == "recs" else table.drop_columns(["rank"])
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=200)


def test_every_recipe_is_run():
    assert [*RECIPES] == [
        *("duckdb files", "duckdb stream", "duckdb buckets"),
        *("polars files", "polars buckets", "dask shuffle"),
    ]
    assert all(3 <= len(block.splitlines()) <= 12 for block in RECIPES.values())


# dask 2026.8 and pandas 3.1: an argument that pandas calls deprecated
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")
@pytest.mark.parametrize("kinds", [("int32", "int64"), ("string", "string")])
@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_gives_the_bits_of_a_local_run(name, kinds, tmp_path, monkeypatch):
    pytest.importorskip("dask.dataframe" if "dask" in name else name.split()[0])
    ranks, truth = sides(text="string" in kinds)
    write(tmp_path, ranks, truth, *kinds)
    monkeypatch.chdir(tmp_path)
    names = {"tl": tl}
    exec(RECIPES[name], names)
    result, expected = names["result"], tl.top_k_eval(ranks, truth, K)
    for metric in ("hit", "precision", "recall", "map", "ndcg", "mrr"):
        assert np.array_equal(result[metric], expected[metric])
    assert result.n_missing == 3 and result.n_extra == 4
    assert result.n_users == result.n_evaluated == len(truth)
