"""Results saved with their users: npz and back, to the last bit; what was changed is refused."""

import dataclasses
import pickle
import tracemalloc

import numpy as np
import pytest
from doors import by_words
from file_helpers import through_a_file
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, has_misses, populations_with_duplicates

import toplist as tl

RANKS = {"a": [5, 7, 8, 9, 3], "b\0": [4, 6, 2, 1, 10], "": [1], "😀\ud800": [2, 6], "e": [4]}
TRUTHS = {"a": {7: 3, 3: 1}, "b\0": {4: 2, 2: 0, 1: 1}, "": {}, "😀\ud800": {2: 1}, "d": {2: 2}}
SETS = {user: {item for item, grade in one.items() if grade} for user, one in TRUTHS.items()}
NUMBERED = dict(zip(TRUTHS, (10**12, -7, 0, 300, 2**40), strict=True))  # users as integers
GROUPS = tl.Groups({"a": [[7, 8], [3], [99]], "b\0": [[4, 2], [2]], "": [], "d": [[1]]})
NAMES = ["hit", "precision", "recall", "map", "ndcg", "mrr", "f1", "rbp(p=0.5)"]


def evaluated(truths=TRUTHS, ranks=RANKS, k=(1, 3), **options):
    return by_words(ranks, truths, k, **{"metrics": NAMES} | options)


def parts(found):
    """Return all that an object of hits holds, as plain values, but the ids of relevant items."""
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.tolist()
    if dataclasses.is_dataclass(found):
        names = (one.name for one in dataclasses.fields(found) if one.name != "items")
        return {name: parts(getattr(found, name)) for name in names}
    if isinstance(found, (list, tuple, range)):
        return list(map(parts, found))
    return found


def same(one, other):
    """Check that two results are the same with all their users."""
    assert one == other and one.terms == other.terms and repr(one) == repr(other)
    assert list(one.users) == list(other.users)
    for name in ("hits", "counted", "weights", "clusters", "fingerprints", "unmatched", "scored"):
        assert parts(getattr(one, name)) == parts(getattr(other, name)), name
    for name in [*one.names(), *one.terms.asked]:
        values = one.per_user(name)
        np.testing.assert_array_equal(values, other.per_user(name))
        assert getattr(values, "users", None) == getattr(other.per_user(name), "users", None)


WAYS = {
    "grades": {},
    "sets": {"truths": SETS},
    "whole lists": {"k": None, "metrics": ["bpref", "ndcg", "r_precision"]},
    "earned": {"metrics": ["bpref", "iprec", "err", "nerr", "complete", "precision(rel=2)"]},
    "groups": {"truths": GROUPS, "metrics": ["group_recall", "alpha_ndcg", "hit"]},
    "groups of listed": {"truths": GROUPS, "metrics": ["group_recall"], "relevant": "listed"},
    "unjudged leave": {"unjudged": "drop"},
    "listed and judged": {"relevant": "listed", "unjudged": "drop"},
    "missing": {"missing": "skip"},
    "weights": {"weights": [1, 0, 0.1, 3, 2.5]},
    "pooled": {"aggregate": "pooled"},
    "table of gains": {"gains": {1: 1, 2: 4, 3: 9}},
    "trec_eval": {"convention": "trec_eval", "relevant_from": 2, "metrics": ["ndcg", "map"]},
    "deep": {"k": [5, 3000]},
    "no hit": {"ranks": {user: [99] for user in RANKS}},
    "nobody": {"ranks": {}, "truths": {}},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_evaluating(way):
    result = evaluated(**WAYS[way])
    same(result, through_a_file(result))
    if result.n_users:
        for part in result.by([user % 2 for user in range(result.n_users)]).values():
            same(part, through_a_file(part))


def test_scores_sampled_ranks_and_hits_by_hand():
    scored = tl.top_k_eval({"a": {"x": 0.5, "y": 0.5}}, {"a": {"x": 1}}, 2)
    assert scored.scored is not None
    sampled = tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=20, seed=0).evaluate(20)
    deep = tl.top_k_eval(tl.Hits.from_ranks([1, 0, 90_000], 100_000), metrics=["mrr", "hit"])
    for result in (scored, sampled, deep):
        same(result, through_a_file(result))


@pytest.mark.parametrize("name", [NUMBERED.get, str, lambda user: np.int64(NUMBERED[user])])
def test_a_loaded_result_works_as_the_one_in_memory(name):
    rows = [(name(user), RANKS.get(user, []), TRUTHS[user]) for user in TRUTHS]
    truths = {user: grades for user, _, grades in rows}
    lists = {user: items for user, items, _ in rows}, {user: row[::-1] for user, row, _ in rows}
    ours, theirs = (tl.top_k_eval(one, truths, [1, 3], metrics=NAMES) for one in lists)
    again = through_a_file(ours)
    expected = tl.compare({"a": ours, "b": theirs}).test()
    found = tl.compare({"a": again, "b": theirs}).test()
    assert repr(found.to_dict()) == repr(expected.to_dict()) and repr(found) == repr(expected)
    new = "new" if name is str else 99
    other = tl.top_k_eval({new: [1]}, {new: {1: 2}}, [1, 3], metrics=NAMES)
    same(ours + other, again + through_a_file(other))
    with pytest.raises(ValueError, match="is in both parts"):
        again + through_a_file(ours)
    same(ours, pickle.loads(pickle.dumps(again)))
    assert again.bounds("precision@3") == ours.bounds("precision@3")


def test_merged_results_and_parts_by_position():
    truths = ([{2}, {5}], [{2}, {6}], [{2}, {3}])
    parts = [tl.top_k_eval([[1, 2], [3]], truth, [1, 3], metrics=NAMES) for truth in truths]
    whole = tl.merge(parts)
    same(whole, through_a_file(whole))
    same(tl.merge(map(through_a_file, parts)), whole)
    with pytest.raises(ValueError, match="same ground truths"):
        tl.merge([through_a_file(parts[0]), parts[0]])


def test_parts_whose_longest_lists_differ():
    """They know an average that needs curves at the k's that all have, and ranks further down."""
    a = tl.top_k_eval([["x", "a"]], [{"a": 1, "x": 0}], metrics="bpref")
    b = tl.top_k_eval([["x", "y", "b", "z"]], [{"b": 2, "x": 0}], metrics="bpref")
    long = tl.top_k_eval([[*range(2000)]], [{1999: 1, 0: 0}], metrics="bpref")
    same(a + b, through_a_file(a + b))
    both = tl.compare({"a": a, "long": long}).results["a"]  # its k is that of the longest list
    same(both, through_a_file(both))


KEYS = st.text(max_size=3), st.integers(-(2**63), 2**63 - 1)


@settings(deadline=None, max_examples=50)
@given(populations_with_duplicates(min_users=0), st.sets(st.integers(1, 12), min_size=1), st.data())
def test_what_comes_back_is_what_was_saved(population, ks, data):
    convention = data.draw(st.sampled_from(list(tl.CONVENTIONS)))
    metrics = tl.CONVENTIONS[convention].metrics
    size = dict.fromkeys(("min_size", "max_size"), len(population[0]))
    result = by_words(
        *population,
        sorted(ks),
        metrics=[name for name, metric in metrics.items() if metric.cut != "n"],
        convention=convention,
        duplicates="first",
        empty=data.draw(st.sampled_from(["zero", "skip"])),
        missing=data.draw(st.sampled_from(["zero", "skip"])),
        users=data.draw(st.none() | st.one_of(*(st.lists(k, **size, unique=True) for k in KEYS))),
    )
    same(result, through_a_file(result))


@settings(deadline=None, max_examples=40)
@given(graded_populations(), st.integers(1, 8), st.data())
def test_grades_weights_and_unjudged_items_too(population, k, data):
    draw = data.draw
    options = {
        "relevant_from": draw(st.sampled_from([None, 1, 2])),
        "aggregate": draw(st.sampled_from([None, "pooled"])),
        "unjudged": draw(st.sampled_from(["miss", "drop"])),
        "gains": draw(st.sampled_from(["linear", "exponential"])),
        "convention": draw(st.sampled_from(["standard", "trec_eval", "mteb"])),
        "weights": draw(
            st.none() | st.just(np.random.default_rng(0).random(len(population[0])) + 0.1)
        ),
    }
    if options["relevant_from"] is not None and not any(population[1]):
        return
    if options["unjudged"] == "drop" and not has_misses(population[1], options["relevant_from"]):
        return
    names = ["ndcg", "recall", "map", "mrr", "precision"]
    result = by_words(*population, k, metrics=names, empty="zero", **options)
    same(result, through_a_file(result))


# Metrics of the lists


ITEMS = range(1, 11)
OF_LISTS = {
    "counts": {item: 2 * item - 1 for item in ITEMS},
    "labels": {item: ["even", "third"][: 1 + (item % 3 == 0)] * (item < 9) for item in ITEMS},
    "history": {user: [1, 2, 3][: i + 1] for i, user in enumerate([*RANKS][:-1])},
    "expected": {2, 7},
    "catalogue": 11,
    "metrics": [
        *("ndcg", "novelty", "hit_share", "calibration", "serendipity", "item_coverage"),
        *("tail_percentage", "intra_list_diversity", "popularity_lift", "unexpectedness"),
    ],
}


def alike(one, other):
    """Check that two results say the same at the k's that were asked for, also by user."""
    assert one.to_dict() == pytest.approx(other.to_dict(), rel=0, abs=0, nan_ok=True)
    assert repr(one) == repr(other)
    assert one.clusters == other.clusters and parts(one.hits) == parts(other.hits)
    assert list(one.users) == list(other.users)
    for name in one.names():
        assert repr(one.interval(name)) == repr(other.interval(name)) and name in other
        if not name.startswith("item_coverage"):
            assert one.per_user(name).tobytes() == other.per_user(name).tobytes(), name


def compared(one, other, **options):
    both = tl.compare({"a": one, "b": other})
    return repr([both, both.test(**options), both.test(**options).to_dict()])


@pytest.mark.parametrize("options", [{}, {"clusters": dict(zip(TRUTHS, "aabbc", strict=True))}])
@pytest.mark.parametrize("extra", [False, True])
def test_values_of_users_of_metrics_of_the_lists_are_kept(options, extra):
    """With lists of users without a truth, and a truth without a list; in another order."""
    ranks = {user: RANKS[user] for user in reversed(RANKS) if extra or user in TRUTHS}
    given = {**OF_LISTS, **options}
    one = evaluated(ranks=ranks, **given)
    other = evaluated(ranks={user: row[::-1] for user, row in ranks.items()}, **given)
    again = through_a_file(one)
    alike(one, again)
    assert one == again and one.n_extra == extra
    alike(again, through_a_file(again))
    assert compared(one, other) == compared(again, through_a_file(other))
    labels = dict(zip(TRUTHS, [1, 1, 2, 2, 2], strict=True))
    segments, found = one.by(labels), again.by(labels)
    assert repr(segments) == repr(found)
    for label, part in segments.items():
        alike(part, found[label])
        alike(part, through_a_file(found[label]))


def test_a_result_of_files_is_kept(tmp_path):
    """Of one part, and with lists of users without a truth; merged parts have no values."""
    rows = {"recs": "rank\na,5,1\na,7,2\nb,4,1\ne,1,1\n", "truth": "day\na,7,1\nc,1,1\n"}
    for name, text in rows.items():
        (tmp_path / f"{name}.csv").write_text("user_id,item_id," + text)
    for keep in ({"keep": "users"}, {"keep": "users"}):
        result = by_words(
            *(tmp_path / f"{name}.csv" for name in rows),
            k=2,
            metrics=["ndcg", "novelty", "average_popularity"],
            counts={"5": 1, "7": 2, "4": 1, "1": 1},
            **keep,
        )
        assert through_a_file(result) == result
        if result.lists.values is not None:
            alike(result, through_a_file(result))


def test_other_k_are_not_known_of_users_that_were_loaded():
    whole = evaluated(**OF_LISTS, clusters=dict(zip(TRUTHS, "aabbc", strict=True)))
    again = through_a_file(whole)
    labels = dict(zip(TRUTHS, [1, 1, 2, 2, 2], strict=True))
    part = again.by(labels)[1]
    assert again["novelty"].tobytes() == whole["novelty"].tobytes()
    assert again.n_of("novelty@2") == whole.n_of("novelty@2")
    for ask in (
        lambda name: again.per_user(name),
        lambda name: again.interval(name),
        lambda name: part[name],
        lambda name: part.std(name),
        lambda name: through_a_file(part)[name],
        lambda name: (part + again.by(labels)[2])[name],
    ):
        for name in ("novelty@2", "novelty"):
            words = f"^{name}: a loaded result has the values .*, novelty@1, novelty@3: evaluate"
            with pytest.raises(ValueError, match=words):
                ask(name)
    with pytest.raises(ValueError, match="^novelty@2: a loaded"):
        part.n_of("novelty@2")
    name = "hit_share(label=even)"
    assert whole.n_clusters_of(f"{name}@3") == again.n_clusters_of(f"{name}@3") == 2
    assert whole.n_clusters_of(f"{name}@1") == again.n_clusters_of(f"{name}@1") == 2


def test_a_merged_result_has_no_values_of_users():
    result = evaluated(**OF_LISTS)
    given = OF_LISTS | {"history": {"z": [1, 2]}}
    merged = result + evaluated({"z": {1: 1}}, {"z": [1]}, **given)
    assert through_a_file(merged) == merged
    with pytest.raises(ValueError, match="a merged result, or one without users, holds no lists"):
        through_a_file(merged).per_user("novelty@3")


# Keys of several columns


@pytest.mark.parametrize("n", [0, 1, 5])
def test_keys_and_clusters_that_are_tuples(n):
    users = [(("ann", "", "b\0", "😀", "ann")[i], i - 2, 2**63 + i) for i in range(n)]
    clusters = {user: (user[0], "x") for user in users}
    lists, truths = {user: [1, 2] for user in users}, {user: {2} for user in users}
    result = tl.top_k_eval(lists, truths, 2, metrics=NAMES, clusters=clusters)
    again = through_a_file(result)
    assert again == result and list(again.users) == users
    assert again.clusters == result.clusters == [clusters[user] for user in users]
    bare = tl.top_k_eval(lists, truths, 2, metrics=NAMES)
    same(bare, through_a_file(bare))
    for user in again.users:
        assert type(user) is tuple and list(map(type, user)) == [str, int, int]


# What has no place in a file


def test_results_without_hits_are_saved_without_them():
    bare = evaluated().without_users()
    for result in (bare, tl.loo.from_rank_counts({1: 2, None: 1}, 1)):
        again = through_a_file(result)
        assert again == result and again.hits is None and repr(again) == repr(result)
    with pytest.raises(ValueError, match=r"what without_users\(\) left .* have no hits: save the"):
        through_a_file(bare).per_user("ndcg@3")


@pytest.mark.parametrize(
    "users",
    [
        [(1, 2), (3, 4.5)], [(1, True), (3, 4)], [(1,), (1, 2)], [(1, (2,)), (3, (4,))], [True, 7],
        [(1, "b"), ("b", 1)], [(1, 2), "b"], [-1, 2**63], [2**70, 1], [0.1, float("inf")], [(), 1],
        [(*range(60),), (*range(1, 61),)], ["a" * 100_000, ""], [np.int32(3), np.int64(2**40)],
    ],
    ids=lambda users: repr(users)[:30],
)  # fmt: skip
def test_keys_of_every_kind_come_back(users):
    hits = tl.match([[1], [2]], [{1}, {3}])
    result = tl.top_k_eval(dataclasses.replace(hits, users=users), k=1)
    again = through_a_file(result)
    assert again == result and again.users == users
    assert [type(one) for one in again.users] == [
        int if isinstance(one, np.integer) else type(one) for one in users
    ]


@pytest.mark.parametrize("users", [[b"a", b"b"], [frozenset("a"), "b"]])
def test_users_of_other_kinds_are_refused(users, tmp_path):
    hits = tl.match([[1], [2]], [{1}, {3}])
    result = tl.top_k_eval(dataclasses.replace(hits, users=users), k=1)
    with pytest.raises(ValueError, match="save: hits/users/0 is .*give keys as text, or pickle"):
        result.save(tmp_path / "base.npz")
    assert not list(tmp_path.iterdir())


def test_what_no_file_holds_leaves_what_is_there(tmp_path):
    path = tmp_path / "base.npz"
    evaluated().save(path)
    before = path.read_bytes()
    own = tl.Metric("cubic", "each", lambda r: r**3, "k")
    with pytest.raises(ValueError, match=r"^save: metric 'cubic'/discount is .*to_dict\(\) and"):
        evaluated(metrics=[own]).save(path)
    lists = by_words([[b"a"]], [{b"a"}], 1, metrics="gini", catalogue=[b"a", b"b"])
    with pytest.raises(ValueError, match=r"^save: lists/exposure/catalogue/0 is b'a'"):
        lists.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


# Files


def test_content_decides_and_not_the_name(tmp_path):
    evaluated().save(tmp_path / "base.NPZ")
    (tmp_path / "base.NPZ").rename(tmp_path / "base.json")
    same(evaluated(), tl.TopKResult.load(tmp_path / "base.json"))


def test_the_same_result_gives_the_same_bytes_that_numpy_reads(tmp_path):
    for name in ("a.npz", "b.npz"):
        evaluated().save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["hits/ranks"], evaluated().hits.ranks)


@pytest.mark.parametrize("keys", ["text", "integers"])
def test_the_size_of_many_users(keys, tmp_path):
    rng, n = np.random.default_rng(0), 20_000
    lists = rng.integers(0, 50, (n, 10)) + 100 * np.arange(10)
    truths = np.where(rng.random((n, 10)) < 0.3, lists, lists + 50)
    users = [f"user{i:06d}" for i in range(n)] if keys == "text" else rng.permutation(n)
    result = tl.top_k_eval(tl.Ranks(lists, users=users), truths, 10)
    result.save(tmp_path / "base.npz")
    assert (tmp_path / "base.npz").stat().st_size < 30 * n + 10_000
    tracemalloc.start()
    again = tl.TopKResult.load(tmp_path / "base.npz")
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert again == result and peak < 4 * kept


def test_clusters_are_kept_and_ids_of_items_are_not():
    whose = {user: f"of {index % 2}" for index, user in enumerate(TRUTHS)}
    result = evaluated(clusters=whose, unit="sessions")
    again = through_a_file(result)
    assert again == result and repr(again) == repr(result) and again.clusters == result.clusters
    assert parts(again.hits) == parts(result.hits) and list(again.users) == list(result.users)
    assert again.interval("ndcg@3") == result.interval("ndcg@3")
    assert "of 2 clusters" in repr(again) and "sessions" in repr(again)
    with pytest.raises(ValueError, match="which item"):
        again.by_item({1: "a"})


def test_lists_without_a_truth_are_tested_from_a_file_as_before_it():
    """Whose they are is kept."""
    lists = {**RANKS, "y": [1, 2], "z": [2, 1]}
    sides = lists, {user: row[::-1] for user, row in lists.items()}
    given = {name: one for name, one in OF_LISTS.items() if name != "clusters"}
    results = {name: evaluated(ranks=side, **given) for name, side in zip("ab", sides, strict=True)}
    again = {name: through_a_file(one) for name, one in results.items()}
    tests = tl.compare(results).test()
    assert repr(tests) == repr(tl.compare(again).test())
    name = next(one.name for one in tests if one.name.startswith("novelty"))
    assert tests["b", name].n == results["a"].n_of(name) > results["a"].n_evaluated
