"""Equal scores: metrics of hits and of the lists see one order, from every form of the input."""

import json
from fractions import Fraction

import numpy as np
import pytest
from doors import by_words

from toplist.metrics.beyond_accuracy import LIST_METRICS

# "b" of user "v" is alone at its score; all else is tied, and no order of rows is that of the ids.
SCORES = {"u": {"y": 1.0, "x": 1.0, "z": 1.0}, "v": {"c": 0.5, "a": 0.5, "b": 0.75, "d": 0.5}}
ORDERS = {
    "order": {"u": ["y", "x", "z"], "v": ["b", "c", "a", "d"]},
    "item": {"u": ["x", "y", "z"], "v": ["b", "a", "c", "d"]},
    "item_desc": {"u": ["z", "y", "x"], "v": ["b", "d", "c", "a"]},
}
TRUTH = {"u": ["z"], "v": ["a"]}
ITEMS = "abcdxyz"
KNOWN = {
    "catalogue": list(ITEMS),
    "counts": {item: 3**place for place, item in enumerate(ITEMS)},
    "features": {item: [place % 3, place**2 % 5, 1] for place, item in enumerate(ITEMS)},
    "labels": {item: "war" if item in "axd" else "love" for item in ITEMS},
    "history": {"u": ["a", "x"], "v": ["y", "d", "c"]},
    "expected": {"u": ["y"], "v": ["c", "b"]},
}
WITH_LABEL = "exposure_share", "hit_share"
METRICS = [f"{name}(label=war)" if name in WITH_LABEL else name for name in LIST_METRICS]
OPTIONS = {"k": [1, 2, 3], "metrics": ["mrr", "hit", *METRICS], **KNOWN}


def _long():
    rows = [(user, item, one) for user, row in SCORES.items() for item, one in row.items()]
    users, items, scores = map(list, zip(*rows, strict=True))
    return {"user_id": users, "item_id": items, "score": scores}


def _lists():
    rows = list(SCORES.values())
    lists = {"user_id": list(SCORES), "item_id": list(map(list, rows))}
    return lists | {"score": [list(row.values()) for row in rows]}


def _module(name):
    return pytest.importorskip(name)


def _truth():
    return {"user_id": list(TRUTH), "item_id": [row[0] for row in TRUTH.values()]}


def _in_memory(make):
    return lambda folder, more: (make(_long() | more), make(_truth()))


def _csv(folder, more):
    for name, columns in (("run.csv", _long() | more), ("truth.csv", _truth())):
        rows = [columns, *zip(*columns.values(), strict=True)]
        (folder / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return folder / "run.csv", folder / "truth.csv"


def _jsonl(folder, more):
    for name, columns in (("run.jsonl", _long() | more), ("truth.jsonl", _truth())):
        rows = zip(*columns.values(), strict=True)
        lines = [json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows]
        (folder / name).write_text("".join(lines))
    return folder / "run.jsonl", folder / "truth.jsonl"


def _parquet(folder, more):
    arrow, parquet = _module("pyarrow"), _module("pyarrow.parquet")
    for name, columns in (("run.parquet", _long() | more), ("truth.parquet", _truth())):
        parquet.write_table(arrow.table(columns), folder / name)
    return folder / "run.parquet", folder / "truth.parquet"


# Forms with a row for each item, which a column may name the system of.
TABLES = {
    "pandas": _in_memory(lambda columns: _module("pandas").DataFrame(columns)),
    "polars": _in_memory(lambda columns: _module("polars").DataFrame(columns)),
    "arrow": _in_memory(lambda columns: _module("pyarrow").table(columns)),
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}
OTHERS = {
    "dict": lambda: (SCORES, TRUTH),
    "dict beside a table": lambda: (SCORES, _module("pandas").DataFrame(_truth())),
    "Series": lambda: (_module("pandas").Series(SCORES), _module("pandas").Series(TRUTH)),
    "pandas of lists": lambda: (_module("pandas").DataFrame(_lists()), TRUTH),
    "polars of lists": lambda: (_module("polars").DataFrame(_lists()), TRUTH),
    "arrow of lists": lambda: (_module("pyarrow").table(_lists()), TRUTH),
}


def _same(result, ties):
    expected = by_words(ORDERS[ties], TRUTH, **OPTIONS)
    np.testing.assert_equal(result.to_dict(), expected.to_dict())
    # worked out by hand: where z and a stand, and what stands above them
    places = [row.index(TRUTH[user][0]) + 1 for user, row in ORDERS[ties].items()]
    means = [sum(Fraction(p <= k, p) for p in places) / 2 for k in (1, 2, 3)]
    assert result["mrr"].tolist() == pytest.approx(list(map(float, means)), abs=1e-15)
    first = [KNOWN["counts"][row[0]] for row in ORDERS[ties].values()]
    assert result["average_popularity@1"] == sum(first) / 2


@pytest.mark.parametrize("ties", ORDERS)
@pytest.mark.parametrize("form", [*TABLES, *OTHERS])
def test_lists_have_the_order_of_the_hits(form, ties, tmp_path):
    ranks, truths = OTHERS[form]() if form in OTHERS else TABLES[form](tmp_path, {})
    _same(by_words(ranks, truths, ties=ties, **OPTIONS), ties)


@pytest.mark.parametrize("ties", ORDERS)
@pytest.mark.parametrize("form", TABLES)
def test_lists_of_each_system_have_the_order_of_the_hits(form, ties, tmp_path):
    ranks, truths = TABLES[form](tmp_path, {"model": ["m"] * 7})
    found = by_words(ranks, truths, ties=ties, system="model", **OPTIONS)
    _same(found["m"], ties)
