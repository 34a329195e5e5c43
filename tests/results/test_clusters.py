"""Results of rows in clusters and with weights: intervals by an oracle, merging, and words.

That every way in gives the intervals of the oracle, is said by properties/test_matrix.py.
"""

import math

import numpy as np
import pytest
from doors import by_words
from oracle import intervals

import toplist as tl
from toplist import parallel
from toplist.results.describe import content

RNG = np.random.default_rng(0)
KEYS = [f"s{i}" for i in range(80)]
RANKS = {key: RNG.permutation(20)[: RNG.integers(1, 9)].tolist() for key in KEYS}
TRUTHS = {key: set(RNG.integers(0, 20, 3).tolist()) for key in KEYS}
CLUSTERS = {key: f"user {RNG.integers(0, 12)}" for key in KEYS}
WEIGHTS = dict(zip(KEYS, RNG.lognormal(0, 1.5, 80).tolist(), strict=True))


def evaluated(keys=KEYS, k=5, **options):
    sides = ({key: side[key] for key in keys} for side in (RANKS, TRUTHS))
    return by_words(*sides, k, **{"metrics": "ndcg"} | options)


@pytest.mark.parametrize("k", [1, 5, 1500, 2000])
def test_a_k_below_all_lists_and_a_curve_have_their_intervals(k):
    result = evaluated(k=[5, 2000], metrics="precision", clusters=CLUSTERS)
    low, high = result.interval("precision")
    values = result.per_user(f"precision@{k}").tolist()
    rows = [
        intervals.Row(x, 1.0, 1.0, cluster=one)
        for x, one in zip(values, CLUSTERS.values(), strict=True)
    ]
    ends = pytest.approx(intervals.of_clusters(rows), abs=1e-9)
    assert result.interval(f"precision@{k}") == ends == (low[k - 1], high[k - 1])


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_no_figure_depends_on_the_blocks(monkeypatch, size):
    labels = np.sort(RNG.integers(0, 6, 80)) * (np.arange(80) > 25)  # one of many blocks
    asked = {"metrics": ["ndcg", "precision"], "clusters": labels}
    plain, expected = parallel.bounds, evaluated(n_threads=1, **asked).interval("ndcg")
    monkeypatch.setattr(parallel, "bounds", lambda work, *_: plain(work, size))
    assert np.allclose(evaluated(**asked).interval("ndcg"), expected, rtol=1e-13)


@pytest.mark.parametrize("aggregate", ["mean", "pooled"])
@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_clusters_of_one_row_and_equal_weights_are_as_none(aggregate, clusters):
    asked = {"metrics": ["hit", "recall"], "aggregate": aggregate}
    plain = evaluated(clusters=clusters, **asked)
    if clusters is None:
        assert plain.clusters is None and plain.n_clusters == plain.n_clusters_of("hit@5") == 0
    twice = [4.0] * 40 + [0.25] * 40
    halves = evaluated(clusters=clusters, weights=twice, **asked).by([n < 40 for n in range(80)])
    expected = plain.by([n < 40 for n in range(80)])
    own = clusters or range(80)
    for one, other in (
        (evaluated(clusters=own, **asked), plain),
        (evaluated(clusters=own, weights=[0.7] * 80, **asked), plain),
        *zip(halves.values(), expected.values(), strict=True),
    ):
        for name in plain.names():  # of hit Wilson's
            assert one.interval(name) == pytest.approx(other.interval(name), abs=1e-14)


def test_what_is_known_of_units_in_segments_in_parts_and_without_rows():
    whole = evaluated(clusters=CLUSTERS)
    assert whole == evaluated(clusters=CLUSTERS) != evaluated()
    segments = whole.by({key: i % 2 for i, key in enumerate(KEYS)})
    assert [part.n_clusters for part in segments.values()] == [12, 12]
    assert segments.to_text().split()[:2] == ["rows", "n"]
    with pytest.raises(ValueError, match="some parts have clusters and others have none"):
        tl.merge([whole, by_words({"z": [1]}, {"z": {1}}, 5, metrics="ndcg")])
    bare = evaluated(weights=WEIGHTS).without_users()
    assert np.isnan(bare.interval("ndcg@5")).all()  # it holds no rows
    assert "no interval of weighted means" in str(bare)


def test_results_say_what_their_rows_are():
    text = str(evaluated(clusters=CLUSTERS))
    assert "80 of 80 rows evaluated, of 12 clusters" in text
    assert "mean over rows" in text and ": by clusters (CR2) (rough: clusters so few" in text
    enough = evaluated(clusters=[min(row, 78) for row in range(80)])
    assert str(enough).splitlines()[-2].endswith("by clusters (CR2)")
    assert content(enough)["n_clusters"] == 79
    one = evaluated(clusters=["a"] * 80)
    assert np.isnan(one.interval("ndcg@5")).all() and "±" not in str(one).splitlines()[1]
    ranks, truths = [[1], [1, 2], [3]], [{1: 2}, {1: 1, 2: 2}, {3: 1}]
    some = tl.top_k_eval(ranks, truths, 2, metrics=["hit", "hit(rel=2)"], clusters=["a", "a", "b"])
    assert (some.n_of("hit"), some.n_clusters_of("hit@2")) == (3, 2)
    assert (some.n_of("hit(rel=2)"), some.n_clusters_of("hit(rel=2)")) == (2, 1)
    assert "3 of 3 rows evaluated, of 2 clusters, hit(rel=2): over 2 of 1 cluster" in str(some)


FEWER = {key: label for key, label in CLUSTERS.items() if key != "s7"}
# (options, error, words)
REFUSED = [
    ({"clusters": FEWER}, ValueError, "clusters: user 's7' has none, None"),
    ({"clusters": ["a"] * 79}, ValueError, "79 clusters for 80 users: one per user is needed"),
    ({"weights": {**WEIGHTS, "s7": -1}}, ValueError, "user 's7' has weight -1: a number from 0 to"),
    ({"weights": {**WEIGHTS, "s7": math.nan}}, ValueError, "user 's7' has weight nan"),
    ({"weights": {"s0": 1.0}}, ValueError, "no entry for user 's1'"),
    ({"clusters": [["a"]] * 80}, TypeError, "clusters: a label cannot be compared"),
    ({"clusters": {"other": "a"}}, ValueError, "clusters have none of the users"),
    ({"clusters": "user"}, ValueError, "'user' is no column of the keys of the rows, 'user_id'; "),
]


@pytest.mark.parametrize(("options", "error", "words"), REFUSED)
def test_clusters_and_weights_that_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        evaluated(**options)


def test_intervals_by_clusters_need_the_rows(tmp_path):
    (table := tmp_path / "both.csv").write_text("user_id,item_id,rank\ns0,1,1\n")
    with pytest.raises(ValueError, match="clusters= need the rows, .*: keep='users' keeps them"):
        tl.top_k_eval(table, table, 5, clusters=CLUSTERS, keep="part")
    with pytest.raises(ValueError, match="intervals by clusters follow from the rows"):
        evaluated(clusters=CLUSTERS).without_users()
