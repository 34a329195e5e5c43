"""The users whose values differ most, against a plain sort; their ranks; what is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import populations
from systems import compared

import toplist as tl
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


@settings(deadline=None, max_examples=25)
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
    systems = {"x": lists, "y": {user: [1] for user in truth}}
    found = compared(systems, truth, 2, metrics="mrr").movers("mrr@2")
    assert [row.user_id for row in found] == ["b", "a"]  # more relevant items first
    d = -np.array([0.1 + 0.2, 0.3])
    assert extremes(d, np.array([1, 1]), ["b", "a"], 1) == [1]
    values = np.array([[0.1 + 0.2, 0.5], [0.3, 0.4]])
    assert replace(found, values=values).counts == {"worse": 0, "equal": 1, "better": 1}


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
    same = tl.compare({"a": evaluated(OLD), "b": evaluated(OLD)}).movers("ndcg@2")
    assert list(same) == [] and same.counts == {"worse": 0, "equal": 4, "better": 0}
    assert "of 4 users, 0 worse, 4 equal, 0 better" in repr(same)
    pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert list(frame.columns) == list(found.to_dict()[0])
    assert frame["difference"].tolist() == [row.difference for row in found]
    assert same.to_pandas().columns[0] == "user_id"


THREE = {
    "old": evaluated(OLD),
    "new": evaluated(NEW),
    "third": evaluated(OLD, metrics=["mrr", "recall"]),
}
SOME = {user: TRUTH[user] for user in ("ann", "bob")}
FEWER = tl.compare({"old": THREE["old"], "new": evaluated(NEW, SOME)})


def test_which_systems_are_compared():
    found = tl.compare(THREE)
    assert found.movers("mrr@2", "new").systems == ("new", "old")
    turned = found.movers("mrr@2", "old", "new")
    assert [row.user_id for row in turned] == ["bob", "ann", "zoe"]
    assert tl.compare(THREE, baseline="new").movers("mrr@2", "old").systems == ("old", "new")
    assert len(found.movers("ndcg@2", "new").rows) == 3  # which the third does not have
    assert [row.user_id for row in FEWER.movers("mrr@2", users="common")] == ["ann", "bob"]


# (comparison, what is asked, words of the error)
REFUSED = [
    (THREE, {}, "movers: beside old there are new, third: name one as sys"),
    (THREE, {"system": "x"}, "beside old there are new, third: 'x' is none"),
    (THREE, {"system": "old"}, "beside old there are new, third: 'old' is none"),
    ({1: THREE["old"], 2: THREE["new"]}, {"system": 1}, "beside 1 there are 2: '1' is none"),
    ({"old": THREE["old"]}, {}, "two systems are needed"),
    (THREE, {"system": "new", "n": 0}, "n must be at least 1, not 0"),
    (FEWER.results, {}, "users='common'"),
    ({name: [one] * 2 for name, one in THREE.items()}, {}, "comparison.results['old, run 1']"),
]


@pytest.mark.parametrize(("systems", "asked", "words"), REFUSED)
def test_what_is_refused(systems, asked, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        tl.compare(systems).movers("mrr@2", **asked)
