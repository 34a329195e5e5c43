"""A k of a metric's own, a k beyond every list, and what they cost."""

import numpy as np
import pytest
from doors import by_words
from shared_inputs import csv_of, fresh

import toplist as tl

LISTS = [[1, 2, 3], [4, 5], [], [7]]
TRUTHS = [{2, 9}, {4}, {1}, {8, 7, 6}]
METRICS = ["hit", "precision", "recall", "map", "ndcg", "mrr", "f1", "dcg", "cg", "rbp"]


def test_a_k_of_a_billion_costs_what_the_lists_cost():
    """K = 10^9 on lists of three took all memory."""
    code = """
        import resource, time
        import toplist as tl
        tl.top_k_eval([[1, 2, 3]], [{2, 9}], k=3)          # compiles
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        result = tl.top_k_eval([[1, 2, 3]], [{2, 9}], k=10**9)
        text, values = repr(result), result.per_user("ndcg@1000000000")
        ends = [result.interval(name) for name in result.names()]
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((after - before) < 50_000, time.process_time() - start < 2)
    """
    assert fresh(code) == ["True", "True"]


@pytest.mark.parametrize("convention", ["standard", "rectools", "neurec"])
def test_values_below_the_lists_are_those_of_padded_lists(convention):
    """At any k, as if every list went on with irrelevant items."""
    k = 3000
    starts = [10_000 * (user + 1) for user in range(len(LISTS))]
    padded = [[*row, *range(lo, lo + k)] for row, lo in zip(LISTS, starts, strict=True)]
    have = [name for name in METRICS if name in tl.CONVENTIONS[convention].metrics]
    long = tl.top_k_eval(
        padded,
        TRUTHS,
        k=k,
        metrics=have,
        convention=tl.CONVENTIONS["standard"].replace(missing="zero", empty="zero"),
    )
    short = tl.top_k_eval(
        LISTS,
        TRUTHS,
        k=k,
        metrics=have,
        convention=tl.CONVENTIONS["standard"].replace(missing="zero", empty="zero"),
    )
    for name in have:
        for at in (1, 3, 4, 1023, 1024, 1025, 2999, 3000):
            one = f"{name}@{at}"
            assert short[one] == pytest.approx(long[one], rel=1e-13), one
            assert short.std(one) == pytest.approx(long.std(one), rel=1e-9), one
            assert short.per_user(one).tolist() == pytest.approx(long.per_user(one).tolist())
        assert short[name].shape == (k,)
        assert short[name].tolist() == pytest.approx(long[name].tolist(), rel=1e-13)
        assert short.per_user(name)[:, -1].tolist() == short.per_user(f"{name}@{k}").tolist()


@pytest.mark.slow
def test_every_convention_at_a_large_k():
    """Divisors that use the length of the list, and ideals down to k."""
    for name, convention in tl.CONVENTIONS.items():
        with_k = [word for word, metric in convention.metrics.items() if metric.cut != "n"]
        result = tl.top_k_eval([[1, 2]], [{2}], k=[2, 10**6], metrics=with_k, convention=name)
        for metric in with_k:
            curve = result.per_user(metric)[0]
            assert curve[10**6 - 1] == result.per_user(f"{metric}@1000000")[0]
            assert result[f"{metric}@1000000"] == curve[-1]


def test_grades_and_weights_at_a_large_k():
    """Averages that are computed from the users' curves."""
    lists, truths = [["a", "b"], ["c"]], [{"a": 2, "x": 1}, {"c": 1, "d": 3}]
    asked = {"metrics": ["ndcg", "map", "dcg"], "weights": [1, 2]}
    result = by_words(lists, truths, k=10**9, **asked)
    near = by_words(lists, truths, k=2000, **asked)
    for name in ("ndcg", "map", "dcg"):
        assert result[f"{name}@1000000000"] == near[f"{name}@2000"]  # none of them falls with k
        assert result[f"{name}@1500"] == near[f"{name}@1500"]
    parts = [tl.top_k_eval({u: lists[u]}, {u: truths[u]}, k=5000, metrics="ndcg") for u in range(2)]
    merged = parts[0] + parts[1]
    users = near.per_user("ndcg@2000")
    assert merged["ndcg@5000"] == merged["ndcg@1024"] == users.mean()


def test_parts_with_lists_of_different_length_are_the_whole():
    """The users of the part with short lists differ: they do so below its histograms, too.

    The means are those of the whole to the last bit.
    """
    truth, long = {5, 7, 1500}, list(range(2000))
    lists = {"a": [5, 7], "b": [1, 5, 2, 7], "c": long}
    truths = dict.fromkeys(lists, truth)
    first, second = ({u: lists[u] for u in some} for some in (["a", "b"], ["c"]))
    parts = [tl.top_k_eval(part, dict.fromkeys(part, truth), k=5000) for part in (first, second)]
    whole, merged = tl.top_k_eval(lists, truths, k=5000), parts[0] + parts[1]
    for name in ("hit", "precision", "recall", "map", "ndcg", "mrr"):
        assert np.array_equal(merged[name], whole[name]), name
        assert merged.std(name).tolist() == pytest.approx(whole.std(name).tolist(), rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"weights": {"ann": 1, "bob": 2}},
        {"aggregate": "pooled"},
        {"convention": "trec_eval", "relevant_from": 2},
    ],
    ids=str,
)
def test_a_k_below_the_lists_that_was_not_asked_for(options):
    """Weights, sums over users and the threshold count there as in lists that reach down to it."""
    lists, truths = {"ann": ["a", "b"], "bob": ["c"]}, {"ann": {"a": 2, "x": 1}, "bob": {"d": 3}}
    padded = {user: row + [f"{user}{i}" for i in range(1500)] for user, row in lists.items()}
    asked = {"metrics": ["precision", "ndcg"], **options}
    result = by_words(lists, truths, k=5000, **asked)
    own = by_words(padded, truths, k=1500, **asked)
    for name in own.names():
        assert result[name] == pytest.approx(own[name], rel=1e-13)


@pytest.mark.parametrize("k", [2**20, 2**20 + 1, 2**21 + 5])
def test_ideals_of_a_k_beyond_a_million(k):
    """The ideal list is summed part by part, without a break between the parts."""
    result = tl.top_k_eval([[1]], [{1}], k=k, metrics="ndcg", convention="rectools")
    expected = 1 / np.sum(1 / np.log2(np.arange(2, k + 2)))
    assert result[f"ndcg@{k}"] == pytest.approx(expected, rel=1e-10)


def test_what_cannot_fit_names_its_shape():
    """One line, before any memory is taken."""
    result = tl.top_k_eval(LISTS, TRUTHS, k=10**13)
    assert result["hit@10000000000000"] == 0.75
    with pytest.raises(MemoryError, match=r"an array of shape \(10000000000000,\) needs 80,000 GB"):
        result["ndcg"]
    for call in (lambda: result.per_user("ndcg"), lambda: tl.ndcg(LISTS, TRUTHS, k=10**13)):
        with pytest.raises(MemoryError, match=r"shape \(4, 10000000000000\)"):
            call()


def test_metrics_of_the_lists_are_known_at_any_k():
    names, items = ["item_coverage", "gini"], tl.Items(catalogue=8)
    result = tl.top_k_eval([[5, 7, 3], [4, 5]], [{5}, {9}], [2, 50], metrics=names, items=items)
    assert result["item_coverage@50"] == 4 / 8
    asked = {"metrics": ["item_coverage", "gini", "novelty"], "counts": [1] * 8}
    huge = by_words([[5, 7, 3], [4, 5]], [{5}, {9}], k=[2, 10**9], catalogue=8, **asked)
    for name in ("item_coverage", "gini"):
        assert huge[f"{name}@1000000000"] == result[f"{name}@50"]
        assert huge[f"{name}@2"] == result[f"{name}@2"]
    assert huge.per_user("novelty@1000000000").tolist() == [3.0, 3.0]


def test_whole_lists_ties_and_columns_by_side_of_files(tmp_path):
    """k=None, ties= and columns= mean the same in memory, in files and in parts of files."""
    rows = [("ann", "c", 2), ("ann", "a", 2), ("ann", "b", 3), ("bob", "x", 1)]
    lines = (f"{user},{item},{score}" for user, item, score in rows)
    recs = csv_of(tmp_path / "recs.csv", "who,movie,score", *lines)
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "ann,a", "bob,x")
    columns = {"ranks": {"user_id": "who", "item_id": "movie"}}
    expected = {"order": 1 / 3, "item": 1 / 2, "item_desc": 1 / 3}
    for ties, rank in expected.items():
        for keep in (None, "users"):
            options = {"ties": ties, "columns": columns, "keep": keep}
            result = by_words(recs, truth, metrics=["mrr", "hit@1"], **options)
            assert result.names() == ["mrr@3", "hit@1"]
            assert result["mrr@3"] == (rank + 1) / 2


WEIGHTS = {"a": 1, "b": 3, "c": 2}
WAYS = {
    "grades": {"metrics": ["ndcg", "dcg", "recall"]},
    "weights": {"metrics": ["ndcg", "precision", "map", "mrr"], "weights": WEIGHTS},
    "pooled": {"metrics": ["recall", "precision", "map"], "aggregate": "pooled"},
    "harmonic": {"metrics": ["f1", "ndcg"], "weights": WEIGHTS},
}


@pytest.mark.parametrize("ks", [[3, 3000], [3, 1500]])
@pytest.mark.parametrize("way", WAYS)
def test_averages_of_curves_merge_where_lists_have_different_length(way, ks):
    truth = {1: 1, 7: 3, 900: 2, 1090: 1, 1900: 2}
    lists = {"a": list(range(1100)), "b": [7, 8, 1], "c": list(range(2000))}
    asked = WAYS[way]

    def evaluate(users):
        own = dict(asked)
        if "weights" in asked:
            own["weights"] = {user: asked["weights"][user] for user in users}
        return by_words({u: lists[u] for u in users}, dict.fromkeys(users, truth), ks, **own)

    parts, whole = [evaluate("ab"), evaluate("c")], evaluate("abc")
    for merged in (parts[0] + parts[1], sum(one.without_users() for one in parts)):
        for name in whole.names():
            assert merged[name] == pytest.approx(whole[name], rel=1e-14)
            np.testing.assert_allclose(merged.interval(name), whole.interval(name), rtol=1e-12)
        if way != "harmonic":  # whose divisors change otherwise for each user
            assert merged[f"{asked['metrics'][0]}@1400"] == pytest.approx(
                whole[f"{asked['metrics'][0]}@1400"], rel=1e-14
            )


def test_batches_of_whole_lists_of_different_length(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    lists = {"a": list(range(1100)), "b": list(range(2000))}
    truth = {user: {7: 2, 1090: 1} for user in lists}
    ranks, truths = (
        arrow.table({"user_id": [u for u, one in side.items() for _ in one], **columns})
        for side, columns in (
            (lists, {"item_id": [i for one in lists.values() for i in one]}),
            (truth, {"item_id": [7, 1090] * 2, "relevance": [2, 1] * 2}),
        )
    )
    ranks = ranks.append_column("rank", [[r + 1 for one in lists.values() for r in one]])
    batches = ranks.to_reader(1100), truths.to_reader()
    asked = {"metrics": ["ndcg", "precision"], "weights": {"a": 1, "b": 2}}
    found = by_words(*batches, **asked).to_dict()
    assert found == pytest.approx(by_words(lists, truth, **asked).to_dict(), rel=1e-14)
