"""The users whose values differ most, against a plain sort; their ranks; what is refused."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import populations

import toplist as tl
from toplist import TopKResult
from toplist.comparing.views import extremes

TRUTH = {"ann": {"a"}, "bob": {"b", "c"}, "eve": {"d"}, "zoe": {"b"}}
OLD = {"ann": ["a", "x"], "bob": ["x", "y"], "eve": ["d", "y"], "zoe": ["b", "x"]}
NEW = {"ann": ["x", "a"], "bob": ["b", "c"], "eve": ["d", "x"], "zoe": ["x", "b"]}


def evaluated(lists, truth=TRUTH, **options):
    options = {"k": 2, "metrics": ["mrr", "ndcg"]} | options
    return by_words(lists, truth, **options)


def both(**options):
    return tl.compare({"old": evaluated(OLD, **options), "new": evaluated(NEW, **options)})


def mrr(ranked, relevant, k):
    return max((1 / rank for rank, item in enumerate(ranked[:k], 1) if item in relevant), default=0)


def ranks_of(ranked, relevant):
    return tuple(rank for rank, item in enumerate(ranked, 1) if item in relevant)


def expected(old, new, truth, k, n):
    """Return the rows from the definition: sorted as a whole, and cut from both ends."""
    rows = []
    for user, relevant in truth.items():
        if not relevant:
            continue
        a, b = (mrr(lists.get(user, []), relevant, k) for lists in (old, new))
        places = (ranks_of(lists.get(user, [])[:k], relevant) for lists in (old, new))
        rows.append((user, a, b, b - a, len(relevant), *places))
    worse = sorted((row for row in rows if row[3] < 0), key=lambda r: (r[3], -r[4], r[0]))
    better = sorted((row for row in rows if row[3] > 0), key=lambda r: (-r[3], -r[4], r[0]))
    counts = [len(worse), len(rows) - len(worse) - len(better), len(better)]
    shown = sorted(worse[:n] + better[:n], key=lambda r: (r[3], -r[4], r[0]))
    return shown, counts


@settings(deadline=None, max_examples=100)
@given(st.data(), populations(max_users=9, max_truth=3), st.integers(1, 5), st.integers(1, 4))
def test_against_the_definition(data, population, k, n):
    lists, truths = population
    keyed = data.draw(st.sampled_from([int, "u{:02}".format]))
    order = data.draw(st.permutations(range(len(lists))))
    other = data.draw(st.permutations(lists))
    truth = {keyed(u): truths[u] for u in range(len(lists))}
    old = {keyed(u): lists[u] for u in range(len(lists))}
    new = {keyed(u): other[u] for u in order}
    shuffled = {keyed(u): truths[u] for u in order}
    results = {
        "old": evaluated(old, truth, k=k, metrics="mrr"),
        "new": evaluated(new, shuffled, k=k, metrics="mrr"),
    }
    rows, counts = expected(old, new, truth, k, n)
    if not any(truths):
        with pytest.raises(ValueError, match="nobody to test"):
            tl.compare(results).movers(f"mrr@{k}")
        return
    found = tl.compare(results).movers(f"mrr@{k}", n=n)
    assert [tuple(row) for row in found] == [
        (*r[:1], *map(pytest.approx, r[1:4]), *r[4:]) for r in rows
    ]
    assert list(found.counts.values()) == counts
    assert list(found.differences) == sorted(found.values[0] - found.values[1])


def test_rounding_is_no_difference_and_no_order():
    """Equal differences that are summed in another order differ in the last digit."""
    lists = {"a": [3, 1], "b": [5, 1], "c": [1, 9]}
    truth = {"a": {1}, "b": {1, 7}, "c": {1}}
    first = evaluated(lists, truth, metrics="mrr")
    found = tl.compare(
        {"x": first, "y": evaluated({user: [1] for user in truth}, truth, metrics="mrr")}
    )
    assert [row.user_id for row in found.movers("mrr@2")] == ["b", "a"]  # more relevant items first
    d = -np.array([0.1 + 0.2, 0.3])
    assert extremes(d, np.array([1, 1]), ["b", "a"], 1) == [1]
    values = np.array([[0.1 + 0.2, 0.5], [0.3, 0.4]])
    assert replace(found.movers("mrr@2"), values=values).counts == {
        "worse": 0,
        "equal": 1,
        "better": 1,
    }


def test_rows_notes_and_forms():
    found = both().movers("mrr@2", n=1)
    assert [row.user_id for row in found] == ["ann", "bob"]
    assert found.to_dict()[1] == {
        **{"user_id": "bob", "baseline": 0.0, "system": 1.0, "difference": 1.0},
        **{"n_relevant": 2, "baseline_ranks": (), "system_ranks": (1, 2)},
    }
    lines = found.to_text().split("\n")
    assert lines[3:5] == [
        "extremes are chosen because they are extreme: do not estimate from them",
        "new - old mrr@2: of 4 users, 2 worse, 1 equal, 1 better",
    ]
    assert lines[2].split() == ["bob", "0.0000", "1.0000", "+1.0000", "2", "-", "1", "2"]
    assert "<table" in found._repr_html_() and "| bob |" in found.to_markdown()


def test_nobody_differs():
    same = tl.compare({"a": evaluated(OLD), "b": evaluated(OLD)}).movers("ndcg@2")
    assert list(same) == [] and same.counts == {"worse": 0, "equal": 4, "better": 0}
    assert "of 4 users, 0 worse, 4 equal, 0 better" in repr(same)


def test_movers_as_a_table():
    pytest.importorskip("pandas")
    found = tl.compare({"a": evaluated(OLD), "b": evaluated(NEW)}).movers("mrr@2", n=1)
    frame = found.to_pandas()
    assert list(frame.columns) == list(found.to_dict()[0])
    assert frame["difference"].tolist() == [row.difference for row in found]
    same = tl.compare({"a": evaluated(OLD), "b": evaluated(OLD)}).movers("ndcg@2")
    assert same.to_pandas().columns[0] == "user_id"


def test_systems_are_named_where_there_are_several():
    three = {"old": evaluated(OLD), "new": evaluated(NEW), "third": evaluated(OLD)}
    found = tl.compare(three)
    assert found.movers("mrr@2", "new").systems == ("new", "old")
    turned = found.movers("mrr@2", "old", "new")
    assert [row.user_id for row in turned] == ["bob", "ann", "zoe"]
    assert tl.compare(three, baseline="new").movers("mrr@2", "old").systems == ("old", "new")
    for ask, said in (
        (lambda: found.movers("mrr@2"), "movers: several systems: name one as system=; there are"),
        (lambda: found.movers("mrr@2", "x"), "movers: no system 'x'; there are old, new, third"),
        (lambda: found.movers("mrr@2", "old"), "'old' is both the system and its baseline"),
        (lambda: tl.compare({"old": three["old"]}).movers("mrr@2"), "two systems are needed"),
        (lambda: found.movers("mrr@2", "new", n=0), "n must be at least 1, not 0"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            ask()


def test_others_with_this_metric_alone_do_not_matter():
    """A third system, of other metrics, is none of the two."""
    third = evaluated(OLD, metrics="recall")
    three = tl.compare({"old": evaluated(OLD), "new": evaluated(NEW), "third": third})
    assert len(three.movers("mrr@2", "new").rows) == 3


def test_every_source_gives_the_same(tmp_path):
    from toplist.files import write_text

    memory = both(metrics="mrr").movers("mrr@2")
    truth = "user_id,item_id\n" + "".join(f"{u},{i}\n" for u, row in TRUTH.items() for i in row)
    write_text(tmp_path / "truth.csv", truth)
    results, saved = {}, {}
    for name, lists in (("old", OLD), ("new", NEW)):
        rows = [f"{u},{i},{r}\n" for u, row in lists.items() for r, i in enumerate(row, 1)]
        write_text(tmp_path / f"{name}.csv", "user_id,item_id,rank\n" + "".join(rows))
        paths = tmp_path / f"{name}.csv", tmp_path / "truth.csv"
        results[name] = tl.top_k_eval(*paths, k=2, metrics="mrr", keep="users")
        results[name].save(tmp_path / f"{name}.npz")
        saved[name] = TopKResult.load(tmp_path / f"{name}.npz")
    for found in (results, saved):
        assert list(tl.compare(found).movers("mrr@2")) == list(memory)
    streamed = tl.top_k_eval(tmp_path / "old.csv", tmp_path / "truth.csv", k=2, metrics="mrr")
    with pytest.raises(
        ValueError, match="the users of new are unknown; of files and streams, keep='users'"
    ):
        tl.compare(dict.fromkeys(("old", "new"), streamed)).movers("mrr@2")


def test_users_by_position_and_metrics_of_the_lists():
    truths = [{1}, {2}]
    some = [
        tl.top_k_eval(
            lists,
            truths,
            2,
            metrics=["mrr", "novelty", "gini"],
            items=tl.Items(counts={1: 5, 2: 1}, catalogue=[1, 2]),
        )
        for lists in ([[1, 2], [2, 1]], [[2, 1], [2]])
    ]
    found = tl.compare({"a": some[0], "b": some[1]})
    assert [row.user_id for row in found.movers("mrr@2")] == [0]
    novelty = found.movers("novelty@2")
    assert set(novelty.counts) == {"lower", "equal", "higher"}
    assert novelty.rows[0].n_relevant == 1 and math.isfinite(novelty.rows[0].difference)
    with pytest.raises(ValueError, match="gini@2 has no test: one number of all lists"):
        found.movers("gini@2")
    with pytest.raises(ValueError, match="'mrr' is a whole curve"):
        found.movers("mrr")
    with pytest.raises(KeyError, match="recall"):
        found.movers("recall@2")


def test_lower_may_be_better():
    mrr, turned = tl.METRICS["mrr"], replace(tl.METRICS["mrr"], name="m", higher_is_better=False)
    found = both(metrics=[mrr, turned])
    assert [row.user_id for row in found.movers("m@2")] == ["bob", "ann", "zoe"]
    assert [row.user_id for row in found.movers("m@2", n=1)] == ["bob", "ann"]
    assert found.movers("m@2").counts == {"worse": 1, "equal": 1, "better": 2}
    assert found.movers("m@2").differences.tolist() == [1, 0, -0.5, -0.5]


def test_what_a_metric_counts_as_relevant_is_what_is_shown():
    graded = {"ann": {"a": 1, "x": 2}, "bob": {"b": 2}, "eve": {"d": 2}, "zoe": {"b": 2}}
    found = tl.compare(
        {n: evaluated(li, graded, metrics="mrr(rel=2)") for n, li in (("o", OLD), ("n", NEW))}
    )
    assert found.movers("mrr(rel=2)@2").rows[-2:] == tuple(
        row for row in found.movers("mrr(rel=2)@2") if row.difference > 0
    )
    ann = next(row for row in found.movers("mrr(rel=2)@2") if row.user_id == "ann")
    assert (ann.n_relevant, ann.baseline_ranks, ann.system_ranks) == (1, (2,), (1,))


def test_other_users_and_runs_are_refused():
    fewer = {user: TRUTH[user] for user in ("ann", "bob")}
    other = tl.compare({"old": evaluated(OLD), "new": evaluated(NEW, fewer)})
    with pytest.raises(ValueError, match="users='common'"):
        other.movers("mrr@2")
    assert [row.user_id for row in other.movers("mrr@2", users="common")] == ["ann", "bob"]
    runs = tl.compare({"old": [evaluated(OLD)] * 2, "new": [evaluated(NEW)] * 2})
    with pytest.raises(ValueError, match=r"comparison.results\['old, run 1'\]"):
        runs.movers("mrr@2")


def test_a_hostile_user_is_text():
    user = "<script>alert(1)</script>\n" + "x" * 500
    truth, lists = {user: {1}}, ({user: [1]}, {user: [2]})
    a, b = (evaluated(one, truth) for one in lists)
    found = tl.compare({"a": a, "b": b}).movers("mrr@2")
    assert "<script" not in found.to_html() and len(found.to_text().split("\n")[1]) < 120


def test_many_users_take_no_longer_than_a_sort():
    """Nothing is sorted in Python but the few, where few are equal."""
    rng = np.random.default_rng(0)
    truths = [{int(item)} for item in rng.integers(0, 50, 20_000)]
    a, b = (
        tl.top_k_eval(rng.random((20_000, 50)).argsort(), truths, 50, metrics="ndcg")
        for _ in range(2)
    )
    found = tl.compare({"a": a, "b": b}).movers("ndcg@50", n=3)
    d = b.per_user("ndcg@50") - a.per_user("ndcg@50")
    assert [row.difference for row in found] == pytest.approx([*np.sort(d)[:3], *np.sort(d)[-3:]])
