"""Results saved with their users: npz and back, to the last bit; what was changed is refused."""

import dataclasses
import json
import pickle
import tempfile
import tracemalloc
from pathlib import Path

import fuzz_saved
import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, has_misses, populations_with_duplicates

import toplist as tl
from toplist.results import npz, with_users

RANKS = {"a": [5, 7, 8, 9, 3], "b\0": [4, 6, 2, 1, 10], "": [1], "😀\ud800": [2, 6], "e": [4]}
TRUTHS = {"a": {7: 3, 3: 1}, "b\0": {4: 2, 2: 0, 1: 1}, "": {}, "😀\ud800": {2: 1}, "d": {2: 2}}
SETS = {user: {item for item, grade in one.items() if grade} for user, one in TRUTHS.items()}
NUMBERED = dict(zip(TRUTHS, (10**12, -7, 0, 300, 2**40), strict=True))  # users as integers
GROUPS = tl.Groups({"a": [[7, 8], [3], [99]], "b\0": [[4, 2], [2]], "": [], "d": [[1]]})
NAMES = ["hit", "precision", "recall", "map", "ndcg", "mrr", "f1", "rbp(p=0.5)"]


def evaluated(truths=TRUTHS, ranks=RANKS, k=(1, 3), **options):
    return by_words(ranks, truths, k, **{"metrics": NAMES} | options)


def through_a_file(result):
    with tempfile.TemporaryDirectory() as folder:
        result.save(path := Path(folder, "result.npz"))
        return tl.TopKResult.load(path)


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
    assert one.to_bytes() == other.to_bytes()
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


def test_values_that_give_other_means_are_refused(tmp_path):
    path, result = tmp_path / "base.npz", evaluated(**OF_LISTS)
    changed(path, result)
    alike(result, tl.TopKResult.load(path))
    with open(path, "rb") as stream:
        values = npz.read(stream)["lists"]
    known = np.flatnonzero(np.isfinite(values)).tolist()
    changes = [(edited("lists", at, values[at] + 1e-3), "give other means of") for at in known[::7]]
    changes += [
        (edited("lists", known[0], np.nan), "give other means of calibration"),
        (edited("lists", known[0], np.inf), "give other means of calibration"),
        (lambda arrays: arrays.update(lists=values[:-1]), "cannot reshape"),
        (lambda arrays: arrays.update(lists=np.append(values, 0.5)), "more values of users than"),
        (lambda arrays: arrays.update(lists=np.zeros(len(values), "i1")), "of users of int8"),
    ]
    for change, words in changes:
        changed(path, result, change)
        with pytest.raises(ValueError, match=f"is damaged, or was changed: .*({words})"):
            tl.TopKResult.load(path)
    bare = evaluated()
    changed(path, bare, lambda arrays: arrays.update(lists=np.ones(1)))
    with pytest.raises(ValueError, match="values of users of float64, of no metric of the lists"):
        tl.TopKResult.load(path)


def test_a_file_without_the_values_is_read_as_before(tmp_path):
    path, result = tmp_path / "base.npz", evaluated(**OF_LISTS)
    changed(path, result, lambda arrays: arrays.pop("lists"))
    found = tl.TopKResult.load(path)
    assert found == result
    with pytest.raises(ValueError, match="a merged result, or one from JSON, holds no lists"):
        found.per_user("novelty@3")
    given = OF_LISTS | {"history": {"z": [1, 2]}}
    merged = result + evaluated({"z": {1: 1}}, {"z": [1]}, **given)
    assert through_a_file(merged) == merged


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


def test_results_without_hits_are_refused_with_the_reason(tmp_path):
    bare = evaluated().without_users()
    for result in (bare, tl.loo.from_rank_counts({1: 2, None: 1}, 1)):
        with pytest.raises(ValueError, match=r"no hits, so an \.npz .* \(\.json .*keep='users'"):
            result.save(tmp_path / "base.npz")
    assert not list(tmp_path.iterdir())
    bare.save(tmp_path / "base.json")
    with pytest.raises(ValueError, match=r"results saved as JSON, .* have no hits: save as \.npz"):
        tl.TopKResult.load(tmp_path / "base.json").per_user("ndcg@3")


def test_users_of_other_kinds_are_refused(tmp_path):
    hits = tl.match([[1], [2]], [{1}, {3}])
    tuples = [[(1, 2), (3, 4.5)], [(1, True), (3, 4)], [(1,), (1, 2)], [(1, (2,)), (3, (4,))]]
    for users in (*tuples, [(1, "b"), ("b", 1)], [(1, 2), "b"], [b"a", b"b"], [-1, 2**63]):
        result = tl.top_k_eval(dataclasses.replace(hits, users=users), k=1)
        with pytest.raises(ValueError, match=r"save: an \.npz holds users that are text"):
            result.save(tmp_path / "base.npz")
    wide = tl.top_k_eval(dataclasses.replace(hits, users=[(*range(60),), (*range(1, 61),)]), k=1)
    with pytest.raises(ValueError, match=r"save: 66 arrays, at most 61: give keys of fewer"):
        wide.save(tmp_path / "base.npz")
    assert not list(tmp_path.iterdir())


def test_what_bytes_cannot_hold_is_refused_as_there(tmp_path):
    path = tmp_path / "base.npz"
    evaluated().save(path)
    before = path.read_bytes()
    own = tl.Metric("cubic", "each", lambda r: r**3, "k")
    with pytest.raises(ValueError, match=r"^save: .*; to_dict\(\) and to_pandas\(\) give the"):
        evaluated(metrics=[own]).save(path)
    with_lists = evaluated(metrics=["hit", "item_coverage"], catalogue=20)
    with_lists.save(tmp_path / "lists.npz")
    assert tl.TopKResult.load(tmp_path / "lists.npz") == with_lists
    (tmp_path / "lists.npz").unlink()
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


# Files


def test_content_decides_and_not_the_name(tmp_path):
    evaluated().save(tmp_path / "base.NPZ")
    (tmp_path / "base.NPZ").rename(tmp_path / "base.json")
    same(evaluated(), tl.TopKResult.load(tmp_path / "base.json"))
    evaluated().save(tmp_path / "means.json")
    (tmp_path / "means.json").rename(tmp_path / "means.npz")
    assert tl.TopKResult.load(tmp_path / "means.npz").hits is None


def test_the_same_result_gives_the_same_bytes_that_numpy_reads(tmp_path):
    for name in ("a.npz", "b.npz"):
        evaluated().save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["hits.ranks"], evaluated().hits.ranks)


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
    assert again == result and peak < 3 * kept


DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["integers_2.npz", "text_2.npz"])
def test_files_of_the_second_format_load_for_ever(name):
    """`integers_2.npz` is of `NUMBERED` and sets, `text_2.npz` of grades, as they are here."""
    if name == "text_2.npz":
        expected = evaluated()
    else:
        sides = [{NUMBERED.get(u, 5): list(row) for u, row in one.items()} for one in (RANKS, SETS)]
        expected = tl.top_k_eval(*sides, [1, 3], metrics=NAMES)
    again = tl.TopKResult.load(DATA / name)
    assert list(again.users) == list(expected.users) and again.terms == expected.terms
    assert parts(again.hits) == parts(expected.hits)
    for one in again.names():
        np.testing.assert_allclose(again.per_user(one), expected.per_user(one), rtol=1e-12)
        assert again.interval(one) == pytest.approx(expected.interval(one), rel=1e-12, nan_ok=True)


# Changed files


def changed(path, result, change=lambda arrays: None, header=lambda header: None, sealed=True):
    """Write a file of a result of which arrays and header were changed, sealed anew."""
    result.save(path)
    with open(path, "rb") as stream:
        arrays = npz.read(stream)
    words = json.loads(arrays["header"].tobytes())
    header(words)
    arrays["header"] = np.frombuffer(json.dumps(words).encode(), np.uint8)
    seal = arrays.pop("seal")
    change(arrays)
    arrays["seal"] = with_users._seal(arrays) if sealed else seal
    path.unlink()
    npz.write(path, arrays)


def edited(name, at, value):
    """Return a change of one number of an array."""

    def change(arrays):
        array = arrays[name].copy()
        array[at] = value
        arrays[name] = array

    return change


CHANGES = [
    (edited("hits.ranks", 0, 9), "ranks rise from 1, within the list"),
    (edited("hits.ranks", 0, 3), "ranks rise|its hits give other means"),
    (edited("hits.n_hits", 0, 3), "offsets must rise|ranks rise"),
    (edited("hits.n_truth", 0, 1), "at most one per item|items of the truths"),
    (edited("hits.n_listed", 0, 1), "within the list"),
    (edited("hits.grades", 0, 2), "its hits give other means"),
    (edited("weights", 0, 9), "its hits give other means"),
    (edited("weights", 0, -0.5), "a weight is negative"),
    (edited("weights", 0, np.nan), "array weights is of float64, or has numbers that cannot be"),
    (edited("counted", 0, False), "other users than its means"),
    (edited("users.text", 0, 1), "6 users of 5 rows"),
    (
        lambda arrays: arrays.update({"users.text": np.frombuffer(b"a,b,c,d,b,", "u1")}),
        "5 keys of 5 users, one of them twice",
    ),
    (lambda arrays: arrays.pop("hits.ranks"), r"there is no array hits\.ranks"),
    (lambda arrays: arrays.pop("weights"), "there is no array weights"),
    (lambda arrays: arrays.update(more=np.ones(2)), "array 'more' is not known here"),
    (lambda arrays: arrays.update({"counted": arrays["counted"][1:]}), "4, 5 values for 5 users"),
    (lambda arrays: arrays.update({"hits.grades": arrays["hits.grades"][1:]}), "grades"),
    (lambda arrays: arrays.update({"hits.truth_hashes": np.zeros(4, "u8")}), "4 hashes for 5"),
    (lambda arrays: arrays.update({"hits.n_hits": np.ones(5)}), r"hits\.n_hits is of float64"),
    (
        lambda arrays: arrays.update({"hits.n_truth": np.full(5, 2**61)}),
        "more hits, or items of ground truths",
    ),
    (lambda arrays: arrays.update({"hits.ranks": np.full(4, 2**40)}), r"hits\.ranks is of int64"),
    (lambda arrays: arrays.update(result=arrays["result"][:-1]), "these bytes are damaged"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_arrays_that_contradict_each_other_are_refused(change, words, tmp_path):
    path, result = tmp_path / "base.npz", evaluated(weights=[0.3, 1, 2, 0.5, 0.25])
    changed(path, result)
    same(result, tl.TopKResult.load(path))
    changed(path, result, change)
    with pytest.raises(ValueError, match=rf"base\.npz: is damaged, or was changed: .*({words})"):
        tl.TopKResult.load(path)


HEADERS = [
    (lambda header: header.pop("hits"), "there is no 'hits'"),
    (lambda header: header["hits"].update(k=-1), "-1 where a whole number"),
    (lambda header: header["hits"].update(k=2), "read to k=2"),
    (lambda header: header["hits"].update(unjudged="drop"), "its hits are"),
    (lambda header: header["hits"].update(listed_only=True), "its hits are"),
    (lambda header: header["hits"].update(grading={"gains": "exponential"}), "its hits are"),
]


@pytest.mark.parametrize(("change", "words"), HEADERS)
def test_headers_that_cannot_be_are_refused(change, words, tmp_path):
    changed(path := tmp_path / "base.npz", evaluated(), header=change)
    with pytest.raises(ValueError, match=rf"base\.npz: is damaged, or was changed: .*({words})"):
        tl.TopKResult.load(path)


def test_groups_that_contradict_the_hits_are_refused(tmp_path):
    path, result = tmp_path / "base.npz", evaluated(**WAYS["groups"])
    wrong = [("items", 7), ("groups", 9), ("n_groups", 200), ("sizes", 3)]
    for change in [*(edited(f"hits.{name}", 0, value) for name, value in wrong), negative]:
        changed(path, result, change)
        with pytest.raises(ValueError, match="the groups are not those of the hits"):
            tl.TopKResult.load(path)


def negative(arrays):
    arrays["hits.items"] = arrays["hits.items"].astype(np.int64) - 1000


def test_hits_at_other_ranks_are_not_those_of_the_means(tmp_path):
    """The same numbers of users and hits, one of them a rank lower; another user's, one to one."""
    result = tl.top_k_eval([[1, 2, 3], [4, 5, 6]], [{1}, {5, 6}], [1, 3], metrics=NAMES)
    for name, numbers in (("ranks", [1, 1, 3]), ("n_hits", [2, 1]), ("n_truth", [2, 2])):

        def change(arrays, name=name, numbers=numbers):
            arrays[f"hits.{name}"] = np.array(numbers, np.uint8)

        changed(path := tmp_path / "base.npz", result, change)
        with pytest.raises(ValueError, match="other means|other users than its means|ranks rise"):
            tl.TopKResult.load(path)


def test_no_sum_overflows(tmp_path):
    """Of so many items of the truths that their number wraps to that of the grades."""

    def wrapped(arrays):
        total = int(arrays["hits.n_truth"].sum())
        sizes = [2**63 - 1, 2**63 - 1, 2 + total, 0, 0]
        arrays["hits.n_truth"] = np.array(sizes, np.int64)

    changed(path := tmp_path / "base.npz", evaluated(), wrapped)
    with pytest.raises(ValueError, match="more hits, or items of ground truths, than can be"):
        tl.TopKResult.load(path)


def test_what_only_the_seal_can_tell(tmp_path):
    """Keys and hashes of ground truths may be anything; those who edit them break the seal."""
    path = tmp_path / "base.npz"
    for change in (edited("users.text", 0, ord("z")), edited("hits.truth_hashes", 0, 1)):
        changed(path, evaluated(), change, sealed=False)
        with pytest.raises(ValueError, match="was changed: what it holds is not what was saved"):
            tl.TopKResult.load(path)


@pytest.mark.parametrize("version", [0, 1, "2", None])
def test_other_versions_are_named(version, tmp_path):
    changed(path := tmp_path / "base.npz", evaluated(), header=lambda h: h.update(format=version))
    with pytest.raises(
        ValueError,
        match=rf"base\.npz: is of format {version!r}, and this toplist knows 2: evaluate",
    ):
        tl.TopKResult.load(path)


def test_lists_that_reach_deeper_than_the_means_are_not_counted(tmp_path):
    """Before any table is made: one of so many ranks would need gigabytes."""

    def deeper(arrays):
        arrays["hits.n_listed"] = arrays["hits.n_listed"].astype(np.int64) + 2**30

    def deep(header):
        header["hits"]["k"] = 2**31 - 1

    result = tl.top_k_eval([[1, 2], [3]], [{2}, {9}], k=2**31 - 1, metrics=["mrr"])
    changed(path := tmp_path / "base.npz", result, deeper, deep)
    tracemalloc.start()
    with pytest.raises(ValueError, match="other users than its means"):
        tl.TopKResult.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()


def test_files_of_other_kinds(tmp_path):
    path = tmp_path / "base.npz"
    for data in (b"PK", b"PK\3\4" + bytes(100), b"PK\5\6" + bytes(18)):
        path.write_bytes(data)
        with pytest.raises(
            ValueError, match=r"base\.npz: is no result that was saved by save\(\): "
        ):
            tl.TopKResult.load(path)
    np.savez(path, ranks=np.arange(3))
    with pytest.raises(ValueError, match="there is no 'header'"):
        tl.TopKResult.load(path)


@pytest.mark.slow
def test_mutated_files():
    loaded, wrong = fuzz_saved.fuzz(3000, seed=1)
    assert not wrong and loaded > 100


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


def test_lists_without_a_truth_are_tested_from_a_file_as_before_it(tmp_path):
    """Whose they are is kept; of files that do not say it, what counts them is not tested."""
    lists = {**RANKS, "y": [1, 2], "z": [2, 1]}
    sides = lists, {user: row[::-1] for user, row in lists.items()}
    given = {name: one for name, one in OF_LISTS.items() if name != "clusters"}
    results = {name: evaluated(ranks=side, **given) for name, side in zip("ab", sides, strict=True)}
    again = {name: through_a_file(one) for name, one in results.items()}
    tests = tl.compare(results).test()
    assert repr(tests) == repr(tl.compare(again).test())
    name = next(one.name for one in tests if one.name.startswith("novelty"))
    assert tests["b", name].n == results["a"].n_of(name) > results["a"].n_evaluated
    old = {}
    for system, one in results.items():
        path = tmp_path / f"{system}.npz"
        changed(path, one, lambda arrays: [arrays.pop(k) for k in [*arrays] if "others" in k])
        old[system] = tl.TopKResult.load(path)
    tests = tl.compare(old).test()
    assert name not in tests.names and "nothing says whose the lists" in str(tests)
    with pytest.raises(ValueError, match="nothing says whose they are: evaluate again"):
        tl.compare(old).test(name)
