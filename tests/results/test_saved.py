"""Results saved: JSON for readers; other files, and changed ones, are refused in a line."""

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
from file_helpers import through_a_file

import toplist as tl
from toplist.cli import main

RANKS = {"a": [5, 7, 8, 9, 3], "b": [4, 6, 2, 1, 10], "c": [1], "e": [4]}

TRUTHS = {"a": [7, 3, 5], "b": [4, 2, 8, 7], "c": [], "d": [2]}


GRADES = {"a": {7: 3, 3: 1}, "b": {4: 2}, "c": {1: 1}, "d": {2: 2}}


def evaluated(truths=TRUTHS, **options):
    return by_words(RANKS, truths, [1, 3], **{"metrics": ["hit", "ndcg"]} | options)


def read_by_people(result):
    return json.loads(result.to_json(), parse_constant=pytest.fail)


def test_what_a_reader_sees_of_an_option():
    options = {"relevant_from": 2, "weights": [1, 2, 3, 4], "aggregate": "pooled"}
    for asked, expected in (({}, (None, False, [])), (options, (2, True, ["hit", "ndcg"]))):
        readable = read_by_people(evaluated(GRADES, **asked))
        assert next(iter(readable)) == "toplist"
        policies = readable["policies"]
        assert tuple(policies[one] for one in ("relevant_from", "weighted", "pooled")) == expected


def test_it_is_what_the_command_line_prints(tmp_path, capsys):
    for name, side in (("recs", RANKS), ("truth", TRUTHS)):
        rows = [f"{u},{i},{r}" for u, items in side.items() for r, i in enumerate(items, 1)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user_id,item_id,rank", *rows]) + "\n")
    files = [str(tmp_path / "recs.csv"), str(tmp_path / "truth.csv")]
    assert main(["eval", *files, "-k", "1", "3", "--format", "json"]) == 0
    printed = capsys.readouterr().out
    text = tl.top_k_eval(*files, k=[1, 3]).to_json()
    assert printed == text + "\n" and '"k": [1, 3],\n' in text


def test_a_loaded_result_works_as_one_without_users():
    first, second = (
        tl.top_k_eval({u: RANKS[u]}, {u: TRUTHS[u]}, 3, metrics=["hit"]) for u in ("a", "b")
    )
    both = through_a_file(first) + through_a_file(second)
    assert both == first + second
    comparison = tl.compare({"one": through_a_file(first), "two": second.without_users()})
    assert comparison == tl.compare({"one": first, "two": second})


@pytest.mark.parametrize(("users", "mean"), [([], None), ([1], 1.0)])
def test_what_is_not_a_number_is_null(users, mean):
    """There is no mean of nobody, and no spread and interval of one user."""
    result = tl.top_k_eval([users] * len(users), [{1}] * len(users), 3, metrics=["hit", "ndcg"])
    again, readable = through_a_file(result), read_by_people(result)
    assert again == result and readable["values"] == {"hit@3": mean, "ndcg@3": mean}
    assert readable["std"]["ndcg@3"] is None and readable["interval"]["ndcg@3"] == [None, None]


def test_sampled_results_say_so():
    sampled = tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=20, seed=0)
    again, readable = (of(sampled.evaluate(20)) for of in (through_a_file, read_by_people))
    assert "SAMPLED" in repr(again) and readable["sampled"]["n"] == 20


def test_options_that_are_numbers_of_numpy():
    for least in (np.int64(2), np.float32(2)):
        result = tl.top_k_eval(RANKS, GRADES, np.int64(3), relevant_from=least, metrics="ndcg")
        again, readable = through_a_file(result), read_by_people(result)
        assert again == result and readable["policies"]["relevant_from"] == 2
    sampled = tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=np.int64(20), seed=np.int64(1))
    assert read_by_people(sampled.evaluate(20))["sampled"]["n"] == 20


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "result.npz"
    evaluated().save(path)
    before = path.read_bytes()
    own = tl.Metric("cubic", "each", lambda r: r**3, "k")
    with pytest.raises(
        ValueError, match=r"^save: metric 'cubic'/discount is .*to_json\(\) have the"
    ):
        evaluated(metrics=[own]).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    evaluated(convention="recbole").save(path)
    assert tl.TopKResult.load(path).terms.convention == "recbole"
    (tmp_path / "dir.npz").mkdir()
    for missing in (tmp_path / "none" / "result.npz", tmp_path / "dir.npz"):
        with pytest.raises(OSError, match=missing.name):
            evaluated().save(missing)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "dir.npz", path]


@pytest.mark.parametrize("name", ["base.json", "base.json.gz", "base", "base.pickle"])
def test_results_are_saved_as_npz_alone(name, tmp_path):
    with pytest.raises(ValueError, match=rf"^save: .*{name}: a result is saved as \.npz.*to_json"):
        evaluated().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


# Other files


BASE = evaluated(GRADES, weights=[1, 2, 3, 4])


def bytes_of(result, path):
    result.save(path)
    return path.read_bytes()


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
    ],
)
@pytest.mark.parametrize("name", ["result.npz", "result.json"])
def test_other_files_are_refused_in_a_line(name, data, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=words) as caught:
        tl.TopKResult.load(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_files_of_earlier_versions_are_refused_with_the_way_out(tmp_path):
    """They had these arrays."""
    np.savez(tmp_path / "old.npz", header=np.arange(3), result=np.arange(3), seal=np.arange(3))
    words = r"old\.npz: is no result of toplist 0\.4 or later: evaluate again .* --save base\.npz"
    with pytest.raises(ValueError, match=words):
        tl.TopKResult.load(tmp_path / "old.npz")
    with pytest.raises(FileNotFoundError):
        tl.TopKResult.load(tmp_path / "none.npz")


def rewritten(path, change):
    """Write arrays that were changed in the place of those of a file."""
    with np.load(path, allow_pickle=False) as found:
        arrays = dict(found)
    change(arrays)
    path.unlink()
    np.savez(path, allow_pickle=True, **arrays)


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
    rewritten(path, lambda arrays: None)
    assert tl.TopKResult.load(path) == BASE
    rewritten(path, change)
    with pytest.raises(ValueError, match=rf"base\.npz: .*{words}"):
        tl.TopKResult.load(path)


def forged(path, old, new):
    """Write a file whose tree was changed by who knows the format."""
    with np.load(path, allow_pickle=False) as found:
        arrays = dict(found)
    tree = arrays["tree"].tobytes()
    assert old in tree
    arrays["tree"] = np.frombuffer(tree.replace(old, new, 1), np.uint8)
    path.write_bytes(fuzz_saved.sealed(arrays))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'{"result":', b'{"system":', "'system' is not known here"),
        (b'{"result":', b'{"os":', "'os' is not known here"),
        (b'"n_users":4,"n_m', b'"n_users":5,"n_m', "arrays that are not of 5 users"),
        (b'"n_users":4', b'"no":1,"n_users":4', "there is no 'no'"),
        (b'"standard"', b'{"function":"eval"}', "there is no 'eval'"),
        (b'"gains":"linear"', b'"gains":"cubic"', "gains"),
        (b'"k":3', b'"k":1', "read to k=1"),
        (b'["hits/ranks","<i4"]', b'["hits/ranks","|O"]', "is no type of numbers"),
        (b'["hits/ranks","<i4"]', b'["hits/ranks","<U9"]', "is no type of numbers"),
        (b'["hits/ranks","<i4"]', b'["hits/n_truth","<i4"]', "Hits: "),
    ],
)
def test_what_cannot_be_is_refused_even_with_its_digest(old, new, words, tmp_path):
    BASE.save(path := tmp_path / "base.npz")
    forged(path, old, new)
    with pytest.raises(ValueError, match=rf"base\.npz: is damaged, or was changed: .*{words}"):
        tl.TopKResult.load(path)


def test_counts_of_listed_items_that_cannot_be_are_refused(tmp_path):
    result = by_words([[0, 1], [2, 3]], [{1}, {2}], 2, metrics="gini", catalogue=9)
    for old, new in ((b'"n_items":9', b'"n_items":3'), (b'"k":2,"n_users"', b'"k":1,"n_users"')):
        result.save(path := tmp_path / "base.npz")
        forged(path, old, new)
        with pytest.raises(ValueError, match="counts of listed items contradict"):
            tl.TopKResult.load(path)


def test_what_a_file_announces_takes_no_memory(tmp_path):
    """An array that says it is larger, one that is packed, one array under many names."""
    data = bytes_of(BASE, path := tmp_path / "base.npz")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    ranks = members["hits/ranks.npy"]
    start = ranks.index(b"(") + 1
    huge = ranks[:start] + b"99999999999," + ranks[ranks.index(b")") :]
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(1 << 24, np.uint8))
    many = fuzz_saved.zipped([("a.npy", bytes(1000))] * 1)
    first, end = many.index(b"PK\1\2"), many.index(b"PK\5\6")
    counts = (50).to_bytes(2, "little") * 2 + (50 * (end - first)).to_bytes(4, "little")
    many = many[:first] + many[first:end] * 50 + many[end : end + 8] + counts + many[end + 16 :]
    files = (
        (fuzz_saved.zipped([*(members | {"hits/ranks.npy": huge}).items()]), "as long as it says"),
        (fuzz_saved.zipped([("a.npy", zeros.getvalue())], packed=True), "an array is compressed"),
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
    data = bytes_of(result, path := tmp_path / "base.npz")
    loaded = 0
    for at in range(0, len(data), 37):
        for made in (data[:at], data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :]):
            path.write_bytes(made)
            said = fuzz_saved.tried(path, made, fuzz_saved.numbers(result))
            assert said in ("", "loaded"), (at, said)
            loaded += said == "loaded"
    assert loaded < 50  # of some 500: dates and the like, which nothing reads


@pytest.mark.slow
def test_mutated_files():
    loaded, wrong = fuzz_saved.fuzz(3000, seed=1)
    assert not wrong and loaded > 20


# Files of 0.4 load throughout 0.x


DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "golden_0_4.json").read_text())


@pytest.mark.parametrize("name", GOLDEN)
def test_files_of_0_4_load_with_their_numbers(name):
    """They are results of `fuzz_saved.saved`, and their numbers as 0.4 printed them."""
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
