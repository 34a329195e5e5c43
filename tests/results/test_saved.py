"""Results saved: what is loaded is the same to the last bit; what was changed is refused.

That files keep the numbers of all options is said by properties/test_matrix.py.
"""

import copy
import dataclasses
import io
import json
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import fuzz_saved
import numpy as np
import pytest
from doors import by_words
from file_helpers import sent, through_a_file

import toplist as tl

RANKS = {"a": [5, 7, 8, 9, 3], "b\0": [4, 6, 2, 1, 10], "": [1], "😀\ud800": [2, 6], "e": [4]}
GRADES = {"a": {7: 3, 3: 1}, "b\0": {4: 2, 2: 0, 1: 1}, "": {}, "😀\ud800": {2: 1}, "d": {2: 2}}
GROUPS = tl.Groups({"a": [[7, 8], [3], [99]], "b\0": [[4, 2], [2]], "": [], "d": [[1]]})
NAMES = ["hit", "precision", "map", "ndcg", "rbp(p=0.5)"]
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
CLUSTERS = dict(zip(GRADES, "aabbc", strict=True))
TUPLES = [(("ann", "", "b\0", "😀", "ann")[i], i - 2, 2**63 + i) for i in range(5)]


def evaluated(truths=GRADES, ranks=RANKS, k=(1, 3), **options):
    return by_words(ranks, truths, k, **{"metrics": NAMES} | options)


def tuples():
    lists, truths = {user: [1, 2] for user in TUPLES}, {user: {2} for user in TUPLES}
    clusters = {user: (user[0], "x") for user in TUPLES}
    return by_words(lists, truths, 2, metrics=NAMES, clusters=clusters)


def merged():
    truths = ([{2}, {5}], [{2}, {6}], [{2}, {3}])
    return tl.merge([evaluated(truth, [[1, 2], [3]]) for truth in truths])


def of_lengths(*lists):
    """Return results whose longest lists, to which bpref is read, differ."""
    return [by_words([[*row]], [{row[-1]: 1, row[0]: 0}], metrics="bpref") for row in lists]


def deepened(short, long):
    """Return a result whose k is that of the longest list of another."""
    return tl.compare({"short": short, "long": long}).results["short"]


WAYS = {
    "grades": evaluated,
    "earned": lambda: evaluated(metrics=["bpref", "iprec", "err", "nerr", "complete"]),
    "groups": lambda: evaluated(GROUPS, metrics=["group_recall", "alpha_ndcg", "hit"]),
    "threshold": lambda: evaluated(
        convention="trec_eval", relevant_from=np.float32(2), metrics=["ndcg", "map"]
    ),
    "no hit": lambda: evaluated(ranks={user: [99] for user in RANKS}),
    "nobody": lambda: evaluated({}, {}),
    "clusters": lambda: evaluated(clusters=CLUSTERS, unit="sessions"),
    "sampled": lambda: tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=20).evaluate(20),
    "from ranks": lambda: tl.top_k_eval(tl.Hits.from_ranks([1, 0, 90_000], 100_000), metrics="mrr"),
    "merged": merged,
    "merged lengths": lambda: sum(of_lengths("xa", "xybz")),
    "deepened": lambda: deepened(*of_lengths("xa", range(2000))),
    "tuples": tuples,
    "lists in clusters": lambda: evaluated(**OF_LISTS, clusters=CLUSTERS),
    "no other lists": lambda: evaluated(
        ranks={user: RANKS[user] for user in reversed(RANKS) if user in GRADES}, **OF_LISTS
    ),
    "without users": lambda: evaluated().without_users(),
    "counts": lambda: tl.loo.from_rank_counts({1: 2, None: 1}, 1),
}  # fmt: skip


# Those of every kind of array: they are used after they were loaded, and their files are changed
FUZZED = (
    *("grades", "earned", "groups", "threshold", "clusters", "tuples", "sampled"),
    "no other lists",
)


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


HELD = ("hits", "counted", "weights", "clusters", "fingerprints", "unmatched", "scored", "exposed")


def same(one, other):
    """Check that two results are the same with all their users, at the k's that were asked for."""
    assert one.terms == other.terms and repr(one) == repr(other)
    assert one == other or one.lists is not None  # a part of lists knows the k's asked for alone
    assert list(one.users) == list(other.users)
    for name in HELD:
        assert repr(parts(getattr(one, name))) == repr(parts(getattr(other, name))), name
    of_hits = one.terms.metrics
    for name in (*one.names(), *of_hits):
        for ask in ("__getitem__", "std", "interval", "n_of", "n_clusters_of", "per_user"):
            found = []
            for result in (one, other):
                try:
                    found.append(repr(getattr(result, ask)(name)))
                except ValueError as error:  # of all lists together, or without users
                    found.append(str(error))
            assert found[0] == found[1], (name, ask)


def same_in_use(result, loaded):
    """Check that segments and a test of a result are those of the loaded one."""
    labels = dict.fromkeys(result.users, 0) | dict.fromkeys([*result.users][::2], 1)
    labels = labels if result.hits.users is not None else [*labels.values()]
    mine, theirs = result.by(labels), loaded.by(labels)
    assert repr(mine) == repr(theirs)
    for label, part in mine.items():
        same(part, through_a_file(theirs[label]))
    assert outcome([result] * 2) == outcome([loaded] * 2)


def outcome(results):
    try:
        tests = tl.compare(dict(zip("ab", results, strict=True))).test()
    except ValueError as error:  # nothing that is tested
        return str(error)
    return repr([tests, tests.to_dict()])


@pytest.mark.parametrize("way", WAYS)
def test_what_is_loaded_is_what_was_saved(way):
    result = WAYS[way]()
    again = through_a_file(result)
    assert result == again
    same(result, through_a_file(again))  # what was loaded is saved, too
    if result.hits is not None and way in FUZZED:
        same_in_use(result, again)
        if result.terms.metrics and result.clusters is None:  # which need the rows
            same(result.without_users(), sent(again))


def test_lists_of_others_are_tested_from_a_file_as_before_it():
    """With lists of users without a truth, whose they are kept, and a truth without a list."""
    lists = {**RANKS, "y": [1, 2], "z": [2, 1]}
    sides = lists, {user: row[::-1] for user, row in lists.items()}
    results = [evaluated(ranks=side, **OF_LISTS) for side in sides]
    again = [through_a_file(one) for one in results]
    assert outcome(results) == outcome(again)
    test = tl.compare(dict(zip("ab", again, strict=True))).test()["b", "novelty@3"]
    assert test.n == results[0].n_of("novelty@3") > results[0].n_evaluated


def test_a_loaded_result_merges_and_has_bounds():
    ours, other = evaluated(), evaluated({"new": {1: 2}}, {"new": [1]})
    again = through_a_file(ours)
    same(ours + other, again + through_a_file(other))
    same(ours, pickle.loads(pickle.dumps(again)))
    assert again.bounds("precision@3") == ours.bounds("precision@3")
    halves = [sent(one) for one in (ours, other)]
    assert sum(halves) == ours + other
    both = [tl.compare({"a": a, "b": b}) for a, b in ((ours, ours), (sent(ours), ours))]
    assert both[0] == both[1]


WEIGHTS = {user: row + 1.0 for row, user in enumerate(GRADES | RANKS)}
BY_ROWS = [{"clusters": CLUSTERS}, {"weights": WEIGHTS}]
KEPT = [through_a_file, lambda result: pickle.loads(pickle.dumps(result)), copy.deepcopy]


@pytest.mark.parametrize("options", BY_ROWS)
@pytest.mark.parametrize("kept", KEPT)
def test_other_k_are_not_known_of_users_that_were_loaded(options, kept):
    whole = evaluated(**OF_LISTS, **options)
    again = kept(whole)
    same(whole, again)
    same(whole, copy.copy(whole))
    assert repr(copy.copy(whole).interval("novelty")) == repr(whole.interval("novelty"))
    found = again.by(dict(zip(GRADES, [1, 1, 2, 2, 2], strict=True)))
    part = found[1]
    assert again["novelty"].tobytes() == whole["novelty"].tobytes()
    assert again.n_of("novelty@2") == whole.n_of("novelty@2")
    for ask in (
        *(again.per_user, again.interval, part.__getitem__, part.std, part.n_of),
        *(through_a_file(part).__getitem__, (part + found[2]).__getitem__),
    ):
        with pytest.raises(ValueError, match="^novelty@2: a result that was saved .*: eval"):
            ask("novelty@2")


# (result, what is asked, words of the error)
NOT_HELD = [
    (evaluated, lambda one: one + evaluated(), "is in both parts"),
    (merged, lambda one: one + merged(), "same ground truths"),
    (evaluated, lambda one: one.by_item({1: "a"}), "which item"),
    (
        lambda: evaluated(k=[5, 3000], weights=[1, 2, 3, 4, 5]).without_users(),
        lambda one: one["ndcg@2000"],
        "ndcg@2000 is not known: it was not asked for, and lies below the lists",
    ),
    (
        lambda: evaluated().without_users(),
        lambda one: one.per_user("ndcg@3"),
        r"what without_users\(\) left .* have no hits: save the",
    ),
]


@pytest.mark.parametrize(("make", "ask", "words"), NOT_HELD)
def test_what_a_loaded_result_cannot_do(make, ask, words):
    with pytest.raises(ValueError, match=words):
        ask(through_a_file(make()))


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
    again = through_a_file(tl.top_k_eval(dataclasses.replace(hits, users=users), k=1))
    kinds = [int if isinstance(one, np.integer) else type(one) for one in users]
    assert again.users == users and [type(one) for one in again.users] == kinds


def of_users(*users):
    hits = tl.match([[1], [2]], [{1}, {3}])
    return tl.top_k_eval(dataclasses.replace(hits, users=[*users]), k=1)


OWN = tl.Metric("cubic", "each", lambda r: r**3, "k")
# (result, name of the file, words of the error)
NOT_SAVED = [
    (lambda: of_users(b"a", b"b"), "a.npz", "save: hits/users/0 is .*give keys as text, or pickle"),
    (lambda: of_users(frozenset("a"), "b"), "a.npz", "save: hits/users/0 is "),
    (lambda: evaluated(metrics=[OWN]), "a.npz", r"save: metric 'cubic'/discount is .*to_json\(\)"),
    (
        lambda: by_words([[b"a"]], [{b"a"}], 1, metrics="gini", catalogue=[b"a", b"b"]),
        *("a.npz", "save: lists/exposure/catalogue/0 is b'a'"),
    ),
    *(
        (evaluated, name, rf"save: .*{name}: a result is saved as \.npz.*to_json")
        for name in ("base.json", "base.json.gz", "base", "base.pickle")
    ),
]


@pytest.mark.parametrize(("make", "name", "words"), NOT_SAVED)
def test_what_no_file_holds_leaves_what_is_there(make, name, words, tmp_path):
    (tmp_path / "a.npz").write_text("before")
    with pytest.raises(ValueError, match=f"^{words}"):
        make().save(tmp_path / name)
    assert [*tmp_path.iterdir()] == [tmp_path / "a.npz"]
    assert (tmp_path / "a.npz").read_text() == "before"


def test_files_are_numpys_and_content_decides_what_they_are(tmp_path):
    for name in ("a.npz", "b.NPZ"):
        evaluated().save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.NPZ").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["hits/ranks"], evaluated().hits.ranks)
    (tmp_path / "b.NPZ").rename(tmp_path / "b.json")
    same(evaluated(), tl.TopKResult.load(tmp_path / "b.json"))
    (tmp_path / "dir.npz").mkdir()
    for missing in (tmp_path / "none" / "result.npz", tmp_path / "dir.npz"):
        with pytest.raises(OSError, match=missing.name):
            evaluated().save(missing)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.npz", "b.json", "dir.npz"]


@pytest.mark.parametrize("keys", ["text", "integers"])
def test_the_size_of_many_users_and_of_none(keys, tmp_path):
    rng, n, sizes = np.random.default_rng(0), 20_000, {}
    lists = rng.integers(0, 50, (n, 10)) + 100 * np.arange(10)
    truths = np.where(rng.random((n, 10)) < 0.3, lists, lists + 50)
    users = [f"user{i:06d}" for i in range(n)] if keys == "text" else rng.permutation(n)
    for some in (500, n):
        result = tl.top_k_eval(tl.Ranks(lists[:some], users=users[:some]), truths[:some], 10)
        result.without_users().save(tmp_path / "bare.npz")
        sizes[some] = (tmp_path / "bare.npz").stat().st_size
    assert sizes[n] < 1.5 * sizes[500] < 60_000
    result.save(tmp_path / "base.npz")
    assert (tmp_path / "base.npz").stat().st_size < 30 * n + 40_000
    tracemalloc.start()
    again = tl.TopKResult.load(tmp_path / "base.npz")
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert again == result and peak < 4 * kept


# JSON, for readers


def read_by_people(result):
    return json.loads(result.to_json(), parse_constant=pytest.fail)


def test_what_a_reader_sees():
    options = {"relevant_from": np.int64(2), "weights": [1, 2, 3, 4, 5], "aggregate": "pooled"}
    asked = {"metrics": ["hit", "ndcg"]}
    for more, expected in (({}, (None, False, [])), (options, (2, True, ["hit", "ndcg"]))):
        readable = read_by_people(evaluated(**asked, **more))
        assert next(iter(readable)) == "toplist"
        policies = readable["policies"]
        assert tuple(policies[one] for one in ("relevant_from", "weighted", "pooled")) == expected
    assert read_by_people(WAYS["sampled"]())["sampled"]["n"] == 20
    assert "SAMPLED" in repr(through_a_file(WAYS["sampled"]()))
    for users, mean in (([], None), ([1], 1.0)):  # no mean of nobody, no spread of one user
        readable = read_by_people(evaluated([{1}] * len(users), [users] * len(users), 3, **asked))
        assert readable["values"] == {"hit@3": mean, "ndcg@3": mean}
        assert readable["std"]["ndcg@3"] is None and readable["interval"]["ndcg@3"] == [None, None]


# Other files, and changed ones

BASE = evaluated({**GRADES, "d": {2: 2}}, weights=[1, 2, 3, 4, 5], metrics=["hit", "ndcg"])
OLD = io.BytesIO()
np.savez(OLD, header=np.arange(3), result=np.arange(3), seal=np.arange(3))  # those of versions


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is no npz"),
        (b"{}", "JSON is for readers, .* evaluate again and save it, result.save"),
        (b"\x1f\x8b{}", "is no npz, .* toplist eval LISTS TRUTH --save base.npz"),
        (b"toplist\x03\x00", "is no npz"),
        (pickle.dumps(BASE), "is no npz"),
        (b"PK", "is no saved result, or is damaged"),
        (b"PK\3\4" + bytes(100), "is no saved result, or is damaged"),
        (b"PK\5\6" + bytes(18), "is no result of toplist 0.4 or later: evaluate again"),
        (OLD.getvalue(), r"is no result of toplist 0\.4 or later: .* --save base\.npz"),
    ],
)
@pytest.mark.parametrize("name", ["result.npz", "result.json"])
def test_other_files_are_refused_in_a_line(name, data, words, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=words) as caught:
        tl.TopKResult.load(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ") and "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        tl.TopKResult.load(tmp_path / "none.npz")


def later(arrays):
    tree = json.loads(arrays["tree"].tobytes())
    arrays["tree"] = np.frombuffer(json.dumps(tree | {"format": 9}).encode(), np.uint8)


def edited(name, change):
    return lambda arrays: arrays.update({name: change(arrays[name].copy())})


CHANGES = [
    (later, r"is of format 9, and this toplist knows 1: read it with the version that wrote it"),
    (edited("hits/ranks", lambda one: one + 1), "what it holds is not what was saved"),
    (edited("hits/ranks", lambda one: one[:-1]), "what it holds is not what was saved"),
    (edited("hits/ranks", lambda one: one.astype(np.int64)), "not what was saved"),
    (edited("hits/ranks", lambda one: one.reshape(1, -1)), "not what was saved"),
    (edited("hits/ranks", lambda one: one.astype(object)), "'hits/ranks' is .* none of numbers"),
    (edited("hits/ranks", lambda one: one.astype("U5")), "'hits/ranks' is .* none of numbers"),
    (edited("tree", lambda one: one[:-1]), "is no saved result, or is damaged"),
    (edited("tree", lambda one: one[one != ord("3")]), "damaged"),
    (lambda arrays: arrays.pop("hits/ranks"), "what it holds is not what was saved"),
    (lambda arrays: arrays.pop("digest"), "there is no 'digest'"),
    (lambda arrays: arrays.pop("tree"), "is no result of toplist 0.4 or later"),
    (lambda arrays: arrays.update(more=np.ones(3)), "what it holds is not what was saved"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_changed_files_are_refused(change, words, tmp_path):
    BASE.save(path := tmp_path / "base.npz")
    arrays = fuzz_saved.arrays_of(path.read_bytes())
    path.write_bytes(fuzz_saved.from_arrays(arrays))
    assert tl.TopKResult.load(path) == BASE
    change(arrays)
    path.write_bytes(fuzz_saved.from_arrays(arrays))
    with pytest.raises(ValueError, match=rf"base\.npz: .*{words}"):
        tl.TopKResult.load(path)


GINI = by_words([[0, 1], [2, 3]], [{1}, {2}], 2, metrics="gini", catalogue=9)
# What someone who knows the format may write into the tree, and give its digest
FORGED = [
    (BASE, b'{"result":', b'{"system":', "'system' is not known here"),
    (BASE, b'{"result":', b'{"os":', "'os' is not known here"),
    (BASE, b'"n_users":5,"n_m', b'"n_users":6,"n_m', "arrays that are not of 6 users"),
    (BASE, b'"n_users":5', b'"no":1,"n_users":5', "there is no 'no'"),
    (BASE, b'"standard"', b'{"function":"eval"}', "there is no 'eval'"),
    (BASE, b'"gains":"linear"', b'"gains":"cubic"', "gains"),
    (BASE, b'"k":3', b'"k":1', "read to k=1"),
    (BASE, b'["hits/ranks","<i4"]', b'["hits/ranks","|O"]', "is no type of numbers"),
    (BASE, b'["hits/ranks","<i4"]', b'["hits/ranks","<U9"]', "is no type of numbers"),
    (BASE, b'["hits/ranks","<i4"]', b'["hits/n_truth","<i4"]', "Hits: "),
    (GINI, b'"n_items":9', b'"n_items":3', "counts of listed items contradict"),
    (GINI, b'"k":2,"n_users"', b'"k":1,"n_users"', "counts of listed items contradict"),
]


@pytest.mark.parametrize(("result", "old", "new", "words"), FORGED)
def test_what_cannot_be_is_refused_even_with_its_digest(result, old, new, words, tmp_path):
    result.save(path := tmp_path / "base.npz")
    arrays = fuzz_saved.arrays_of(path.read_bytes())
    tree = arrays["tree"].tobytes()
    assert old in tree
    arrays["tree"] = np.frombuffer(tree.replace(old, new, 1), np.uint8)
    path.write_bytes(fuzz_saved.sealed(arrays))
    with pytest.raises(ValueError, match=rf"base\.npz: is damaged, or was changed: .*{words}"):
        tl.TopKResult.load(path)


def test_what_a_file_announces_takes_no_memory(tmp_path):
    """An array that says it is larger, one that is packed, one array under many names."""
    BASE.save(path := tmp_path / "base.npz")
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    ranks = members["hits/ranks.npy"]
    start = ranks.index(b"(") + 1
    huge = ranks[:start] + b"99999999999," + ranks[ranks.index(b")") :]
    zeros = fuzz_saved.npy(np.zeros(1 << 24, np.uint8))
    many = fuzz_saved.zipped([("a.npy", bytes(1000))])
    first, end = many.index(b"PK\1\2"), many.index(b"PK\5\6")
    counts = (50).to_bytes(2, "little") * 2 + (50 * (end - first)).to_bytes(4, "little")
    many = many[:first] + many[first:end] * 50 + many[end : end + 8] + counts + many[end + 16 :]
    files = (
        (fuzz_saved.zipped([*(members | {"hits/ranks.npy": huge}).items()]), "as long as it says"),
        (fuzz_saved.zipped([("a.npy", zeros)], packed=True), "an array is compressed"),
        (many, "arrays are longer than the file"),
    )
    tracemalloc.start()
    for made, words in files:
        path.write_bytes(made)
        with pytest.raises(ValueError, match=words):
            tl.TopKResult.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_flipped_bytes_and_cuts(tmp_path):
    """All over a small file: an error, or the same result."""
    result = tl.top_k_eval({"a": [1, 2]}, {"a": {2}}, 2, metrics="mrr")
    result.save(path := tmp_path / "base.npz")
    data, loaded = path.read_bytes(), 0
    for at in range(0, len(data), 211):
        for made in (data[:at], data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :]):
            said = fuzz_saved.tried(path, made, fuzz_saved.numbers(result))
            assert said in ("", "loaded"), (at, said)
            loaded += said == "loaded"
    assert loaded < 10  # of some 90: dates and the like, which nothing reads


@pytest.mark.slow(seconds=20)
def test_mutated_files():
    results = {name: WAYS[name]() for name in FUZZED}
    loaded, wrong = fuzz_saved.fuzz(results, 1500, seed=1)
    assert not wrong and loaded > 10


# Files of 0.4 load throughout 0.x

DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "golden_0_4.json").read_text())


@pytest.mark.parametrize("name", GOLDEN)
def test_files_of_0_4_load_with_their_numbers(name):
    """They are results of every kind of array, and their numbers as 0.4 printed them."""
    result, expected = tl.TopKResult.load(DATA / f"{name}_0_4.npz"), GOLDEN[name]
    assert result.to_dict() == pytest.approx(expected["means"], rel=1e-12, nan_ok=True)
    for one, ends in expected["interval"].items():
        ends = [np.nan if end is None else end for end in ends]
        assert result.interval(one) == pytest.approx(tuple(ends), rel=1e-9, nan_ok=True)
    for one, values in expected["per_user"].items():
        values = [np.nan if value is None else value for value in values]
        np.testing.assert_allclose(result.per_user(one), values, rtol=1e-12)
    assert list(map(repr, result.users)) == expected["users"]
    assert result.n_clusters == expected["n_clusters"]
    assert tl.compare({"a": result, "b": result}).differences == []
    assert through_a_file(result) == result
