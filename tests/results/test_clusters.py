"""Results of rows in clusters: intervals by an oracle in plain Python, at every door; merging."""

import copy
import math
import pickle

import numpy as np
import pytest
from cluster_case import LABELS, TENTHS
from doors import by_words, match_by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_inputs import LIBRARIES, frame_of
from strategies import graded_populations, populations

import toplist as tl
from toplist.results.describe import content
from toplist.stats.distributions import t_ppf

METRICS = ["hit", "precision", "recall", "map", "ndcg", "mrr"]


def oracle(values, labels, weights, divisors=None):
    """Return the mean, its standard error and the degrees of freedom, by the formulas."""
    y = [1.0] * len(values) if divisors is None else divisors
    total = sum(w * one for w, one in zip(weights, y, strict=True))
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / total
    whole, squares, shares = sum(weights), 0.0, []
    for label in dict.fromkeys(labels):
        rows = [i for i, one in enumerate(labels) if one == label]
        share = sum(weights[i] for i in rows) / whole
        left = sum(weights[i] * (values[i] - mean * y[i]) for i in rows)
        squares += left**2 / (1 - share) if share < 1 else math.nan
        shares.append(share)
    a = [share**2 / (1 - share) if share < 1 else math.nan for share in shares]
    df = 1 / (sum(share**2 for share in shares) + sum(a) ** 2 - sum(one**2 for one in a))
    return mean, math.sqrt(squares) / total, df


def expected_interval(result, name, labels, weights, level=0.95):
    values = result.per_user(name)
    rows = [i for i, value in enumerate(values) if value == value and weights[i] > 0]
    if len({labels[i] for i in rows}) < 2:
        return math.nan, math.nan
    some = ([one[i] for i in rows] for one in (values.tolist(), labels, weights))
    mean, error, df = oracle(*some)
    half = t_ppf(0.5 + level / 2, df) * error
    return max(mean - half, min(mean, 0)), min(mean + half, max(mean, 1))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_intervals_are_those_of_the_formula(data):
    graded = data.draw(st.booleans())
    draw = graded_populations if graded else populations
    ranks, truths = data.draw(draw(min_users=2, max_users=9))
    n = len(ranks)
    several = st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)
    labels = data.draw(several.filter(lambda found: len({*found}) < n))
    numbers = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)
    weights = data.draw(st.none() | numbers.filter(any))
    options = {
        "empty": data.draw(st.sampled_from(["skip", "zero", "one"])),
        "missing": data.draw(st.sampled_from(["skip", "zero"])),
        "weights": weights,
    }
    more = ["bpref", "err"] if graded and any(0 in one.values() for one in truths) else []
    result = by_words(ranks, truths, 4, metrics=METRICS + more, clusters=labels, **options)
    for name in result.names():
        expected = expected_interval(result, name, labels, weights or [1.0] * n)
        assert result.interval(name) == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert result.interval(name, 0.8) == pytest.approx(
            expected_interval(result, name, labels, weights or [1.0] * n, 0.8),
            abs=1e-9,
            nan_ok=True,
        )


def many(n=80, seed=0, **options):
    """Return lists and truths by key, and the cluster of each row."""
    rng = np.random.default_rng(seed)
    keys = [f"s{i}" for i in range(n)]
    ranks = {key: rng.permutation(20)[: rng.integers(1, 9)].tolist() for key in keys}
    truths = {key: set(rng.integers(0, 20, 3).tolist()) for key in keys}
    clusters = {key: f"user {rng.integers(0, 12)}" for key in keys}
    return ranks, truths, clusters


def test_ratios_of_sums_have_the_interval_of_their_residuals():
    ranks, truths, clusters = many()
    labels = list(clusters.values())
    pooled = tl.top_k_eval(
        ranks,
        truths,
        5,
        metrics="recall",
        clusters=labels,
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    each = tl.top_k_eval(ranks, truths, 5, metrics="recall")
    sizes = [float(len(truth)) for truth in truths.values()]
    hits = [x * y for x, y in zip(each.per_user("recall@5").tolist(), sizes, strict=True)]
    mean, error, df = oracle(hits, labels, [1.0] * len(hits), sizes)
    half = t_ppf(0.975, df) * error
    assert pooled["recall@5"] == pytest.approx(mean)
    assert pooled.interval("recall@5") == pytest.approx((mean - half, mean + half))


def test_a_k_below_all_lists_and_a_curve_have_their_intervals():
    ranks, truths, clusters = many()
    result = tl.top_k_eval(ranks, truths, [5, 2000], metrics=["precision"], clusters=clusters)
    labels = list(clusters.values())
    low, high = result.interval("precision")
    for k in (1, 5, 1500, 2000):
        expected = expected_interval(result, f"precision@{k}", labels, [1.0] * 80)
        assert result.interval(f"precision@{k}") == pytest.approx(expected, rel=1e-9)
        assert (low[k - 1], high[k - 1]) == pytest.approx(expected, rel=1e-9)


def test_clusters_of_one_row_are_nearly_none_and_equal_ones_are_exact():
    ranks, truths, _ = many()
    alone = tl.top_k_eval(ranks, truths, 5, metrics="ndcg", clusters=range(80))
    plain = tl.top_k_eval(ranks, truths, 5, metrics="ndcg")
    low, high = alone.interval("ndcg@5")
    half = t_ppf(0.975, 79) * plain.std("ndcg@5") / math.sqrt(80)
    assert (low, high) == pytest.approx((plain["ndcg@5"] - half, plain["ndcg@5"] + half))
    assert plain.clusters is None and plain.n_clusters == plain.n_clusters_of("ndcg") == 0


def test_the_specification_holds_for_results_at_every_k():
    ranks = [[*range(n), *range(100, 110 - n)] for n in TENTHS]  # precision@10 of a tenth each
    result = tl.top_k_eval(ranks, [set(range(10))] * 12, 10, metrics="precision", clusters=LABELS)
    assert result.interval("precision@10") == pytest.approx((0.2694304098, 0.7305695902), abs=1e-9)


def frames(name, ranks, truths):
    rows = [(user, item, i + 1) for user, some in ranks.items() for i, item in enumerate(some)]
    users, items, places = zip(*rows, strict=True)
    recs = frame_of(name, {"user_id": users, "item_id": items, "rank": places})
    pairs = [(user, item) for user, some in truths.items() for item in sorted(some)]
    users, items = zip(*pairs, strict=True)
    return recs, frame_of(name, {"user_id": users, "item_id": items})


def doors(folder):
    """Yield the name of a way in, and what evaluates by it."""
    ranks, truths, clusters = many()
    options = {"k": 5, "metrics": METRICS, "clusters": clusters}
    rows = list(ranks.values()), list(truths.values())
    yield "dicts", lambda: by_words(ranks, truths, **options)
    yield "kept truths", lambda: by_words(ranks, tl.GroundTruths(truths), **options)
    yield "hits", lambda: by_words(match_by_words(ranks, truths, 5), **options)
    named = {**options, "users": list(truths)}
    yield "positions with keys", lambda: by_words(*rows, **named)
    by_row = {**options, "clusters": np.array(list(clusters.values()))}
    yield "positions", lambda: by_words(*rows, **by_row)
    lines = [f"{u},{item},{i}" for u, some in ranks.items() for i, item in enumerate(some, 1)]
    (folder / "recs.csv").write_text("\n".join(["user_id,item_id,rank", *lines, ""]))
    lines = [f"{u},{item}" for u, some in truths.items() for item in sorted(some)]
    (folder / "truth.csv").write_text("\n".join(["user_id,item_id", *lines, ""]))
    files = folder / "recs.csv", folder / "truth.csv"
    yield "files in memory", lambda: by_words(*files, keep="users", **options)
    yield "files that keep hits", lambda: by_words(*files, keep="users", **options)


def test_every_door_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("toplist.files.lines.SIZE", 300)  # many parts
    expected = None
    for door, evaluate in doors(tmp_path):
        result = evaluate()
        found = {name: result.interval(name) for name in result.names()}
        expected = expected or found
        assert found == {n: pytest.approx(ends, rel=1e-12) for n, ends in expected.items()}, door
        assert (result.n_clusters, result.terms.unit) == (12, "rows"), door


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_and_streams_give_the_same(library):
    ranks, truths, clusters = many()
    options = {"k": 5, "metrics": METRICS, "clusters": clusters}
    expected = by_words(ranks, truths, **options)
    recs, truth = frames(library, ranks, truths)
    found = [by_words(recs, truth, **options)]
    if library == "pyarrow":
        readers = recs.to_reader(), truth.to_reader()
        found.append(by_words(*readers, keep="users", **options))
    if library == "pandas":
        series = sys_series(clusters)
        found.append(by_words(recs, truth, **{**options, "clusters": series}))
    for result in found:
        for name in expected.names():
            assert result.interval(name) == pytest.approx(expected.interval(name), rel=1e-12)


def sys_series(clusters):
    import pandas

    return pandas.Series(clusters).sample(frac=1, random_state=0)


def test_files_keep_the_rows_that_are_in_clusters(tmp_path):
    *_, (_, evaluate) = list(doors(tmp_path))
    files, clusters = (tmp_path / "recs.csv", tmp_path / "truth.csv"), many()[2]
    found = tl.top_k_eval(*files, 5, clusters=clusters)
    assert found.interval("ndcg@5") == evaluate().interval("ndcg@5")
    with pytest.raises(ValueError, match="clusters= need the rows, .*: keep='users' keeps them"):
        tl.top_k_eval(*files, 5, clusters=clusters, keep="part")


def test_every_row_needs_a_cluster():
    ranks, truths, clusters = many()
    fewer = {key: label for key, label in clusters.items() if key != "s7"}
    for wrong, error, words in (
        (fewer, ValueError, "clusters: user 's7' has none, None"),
        ({**clusters, "s7": float("nan")}, ValueError, "clusters: user 's7' has none, nan"),
        (["a"] * 79, ValueError, "79 clusters for 80 users: one per user is needed"),
        ([["a"]] * 80, TypeError, "clusters: a label cannot be compared"),
        ({"other": "a"}, ValueError, "clusters have none of the users"),
        ("user", ValueError, r"clusters='user' is no column of the keys of the rows, 'user_id'; "),
    ):
        with pytest.raises(error, match=words):
            tl.top_k_eval(ranks, truths, 5, clusters=wrong)


def test_metrics_with_users_of_their_own_count_their_clusters():
    ranks, truths = [[1], [1, 2], [3]], [{1: 2}, {1: 1, 2: 2}, {3: 1}]
    metrics, clusters = ["hit", "hit(rel=2)"], ["a", "a", "b"]
    result = tl.top_k_eval(ranks, truths, 2, metrics=metrics, clusters=clusters)
    assert (result.n_of("hit"), result.n_clusters_of("hit@2")) == (3, 2)
    assert (result.n_of("hit(rel=2)"), result.n_clusters_of("hit(rel=2)")) == (2, 1)
    assert "3 of 3 rows evaluated, of 2 clusters, hit(rel=2): over 2 of 1 cluster" in str(result)


def test_results_say_what_their_rows_are():
    ranks, truths, clusters = many()
    text = str(tl.top_k_eval(ranks, truths, 5, metrics="ndcg", clusters=clusters))
    assert "80 of 80 rows evaluated, of 12 clusters" in text
    assert "mean over rows" in text and ": by clusters (CR2) (rough: clusters so few" in text
    halves = [min(row, 78) for row in range(80)]
    enough = tl.top_k_eval(ranks, truths, 5, metrics="ndcg", clusters=halves)
    assert str(enough).splitlines()[-2].endswith("by clusters (CR2)")
    one = tl.top_k_eval(ranks, truths, 5, metrics="ndcg", clusters=["a"] * 80)
    assert np.isnan(one.interval("ndcg@5")).all() and "±" not in str(one).splitlines()[1]
    assert content(enough)["n_clusters"] == 79


def test_clusters_of_one_row_each_are_no_clusters():
    ranks, truths, _ = many()
    plain, own = (
        tl.top_k_eval(ranks, truths, 5, metrics=["hit", "ndcg"], clusters=clusters)
        for clusters in (None, range(80))
    )
    assert own.interval("hit@5") == plain.interval("hit@5")  # Wilson's
    assert own.interval("ndcg@5") == plain.interval("ndcg@5")


def test_clusters_stay_with_their_rows():
    ranks, truths, clusters = many()
    options = {"k": 5, "metrics": ["ndcg"]}
    whole = by_words(ranks, truths, clusters=clusters, **options)
    keys = list(truths)
    parts = [
        by_words(
            {u: ranks[u] for u in some}, {u: truths[u] for u in some}, clusters=clusters, **options
        )
        for some in (keys[:30], keys[30:])
    ]
    merged = parts[0] + parts[1]
    assert merged.clusters == whole.clusters == list(clusters.values())
    assert merged.interval("ndcg@5") == pytest.approx(whole.interval("ndcg@5"), rel=1e-12)
    assert whole == by_words(ranks, truths, clusters=clusters, **options)
    assert whole != by_words(ranks, truths, **options)
    for other in (pickle.loads(pickle.dumps(whole)), copy.deepcopy(whole)):
        assert other.interval("ndcg@5") == whole.interval("ndcg@5") and other == whole
    segments = whole.by({key: i % 2 for i, key in enumerate(keys)})
    assert [part.n_clusters for part in segments.values()] == [12, 12]
    odd = keys[1::2]
    alone = by_words(
        {u: ranks[u] for u in odd}, {u: truths[u] for u in odd}, clusters=clusters, **options
    )
    assert segments[1].interval("ndcg@5") == alone.interval("ndcg@5")
    assert segments.to_text().split()[:2] == ["rows", "n"]
    with pytest.raises(ValueError, match="some parts have clusters and others have none"):
        tl.merge([parts[0], by_words({"z": [1]}, {"z": {1}}, **options)])


def test_nothing_without_rows_has_clusters():
    ranks, truths, clusters = many()
    result = tl.top_k_eval(ranks, truths, 5, clusters=clusters)
    with pytest.raises(ValueError, match="intervals by clusters follow from the rows"):
        result.without_users()


def test_metrics_of_the_lists_go_by_the_rows_of_the_truth():
    ranks, truths, clusters = many()
    options = {"k": 5, "metrics": ["novelty", "item_coverage"], "catalogue": 20}
    options["counts"] = {item: item + 1 for item in range(20)}
    result = by_words(ranks, truths, clusters=clusters, **options)
    values = result.per_user("novelty@5").tolist()
    mean, error, df = oracle(values, list(clusters.values()), [1.0] * 80)
    half = t_ppf(0.975, df) * error
    assert result.interval("novelty@5") == pytest.approx((mean - half, mean + half))
    assert np.isnan(result.interval("item_coverage@5")).all()
    more = by_words({**ranks, "z": [1]}, truths, clusters=clusters, **options)
    assert np.isnan(more.interval("novelty@5")).all()  # a list that is no row


def test_dropped_judgements_keep_their_values():
    truths = {key: {item: item % 3 for item in some} for key, some in many()[1].items()}
    ranks, _, clusters = many()
    result = tl.top_k_eval(
        ranks,
        truths,
        3,
        metrics=["ndcg", "err(max=2)", "bpref"],
        clusters=clusters,
        unjudged="drop",
    )
    for name in result.names():
        expected = expected_interval(result, name, list(clusters.values()), [1.0] * 80)
        assert result.interval(name) == pytest.approx(expected, rel=1e-9)
