"""Results saved as JSON: readable, and back as an equal result; what was changed is refused."""

import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.cli import main
from toplist.results import saved, stored

RANKS = {"a": [5, 7, 8, 9, 3], "b": [4, 6, 2, 1, 10], "c": [1], "e": [4]}

TRUTHS = {"a": [7, 3, 5], "b": [4, 2, 8, 7], "c": [], "d": [2]}


GRADES = {"a": {7: 3, 3: 1}, "b": {4: 2}, "c": {1: 1}, "d": {2: 2}}


def evaluated(truths=TRUTHS, **options):
    return by_words(RANKS, truths, [1, 3], **{"metrics": ["hit", "ndcg"]} | options)


def through_a_file(result, name="result.json"):
    """Return the result that comes back, and what a reader sees."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        result.save(path)
        readable = json.loads(path.read_text(), parse_constant=pytest.fail)
        return tl.TopKResult.load(path), readable


def test_what_a_reader_sees_of_an_option():
    options = {"relevant_from": 2, "weights": [1, 2, 3, 4], "aggregate": "pooled"}
    for asked, expected in (({}, (None, False, [])), (options, (2, True, ["hit", "ndcg"]))):
        readable = through_a_file(evaluated(GRADES, **asked))[1]
        assert (next(iter(readable)), list(readable)[-1]) == ("toplist", "result")
        policies = readable["policies"]
        assert tuple(policies[one] for one in ("relevant_from", "weighted", "pooled")) == expected


def test_it_is_what_the_command_line_prints(tmp_path, capsys):
    for name, side in (("recs", RANKS), ("truth", TRUTHS)):
        rows = [f"{u},{i},{r}" for u, items in side.items() for r, i in enumerate(items, 1)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user_id,item_id,rank", *rows]) + "\n")
    files = [str(tmp_path / "recs.csv"), str(tmp_path / "truth.csv")]
    assert main(["eval", *files, "-k", "1", "3", "--format", "json"]) == 0
    printed = capsys.readouterr().out
    tl.top_k_eval(*files, k=[1, 3]).save(tmp_path / "result.json")
    text = (tmp_path / "result.json").read_text()
    readable = json.loads(text)
    del readable["result"]
    assert json.loads(printed) == readable
    assert text.startswith(printed.rstrip("}\n")) and '"k": [1, 3],\n' in text


def test_a_loaded_result_works_as_one_without_users():
    first, second = (
        tl.top_k_eval({u: RANKS[u]}, {u: TRUTHS[u]}, 3, metrics=["hit"]) for u in ("a", "b")
    )
    both = through_a_file(first)[0] + through_a_file(second)[0]
    assert both == first + second
    comparison = tl.compare({"one": through_a_file(first)[0], "two": second.without_users()})
    assert comparison == tl.compare({"one": first, "two": second})


@pytest.mark.parametrize(("users", "mean"), [([], None), ([1], 1.0)])
def test_what_is_not_a_number_is_null(users, mean):
    """There is no mean of nobody, and no spread and interval of one user."""
    result = tl.top_k_eval([users] * len(users), [{1}] * len(users), 3, metrics=["hit", "ndcg"])
    again, readable = through_a_file(result)
    assert again == result and readable["values"] == {"hit@3": mean, "ndcg@3": mean}
    assert readable["std"]["ndcg@3"] is None and readable["interval"]["ndcg@3"] == [None, None]


def test_sampled_results_say_so():
    sampled = tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=20, seed=0)
    again, readable = through_a_file(sampled.evaluate(20))
    assert "SAMPLED" in repr(again) and readable["sampled"]["n"] == 20


def test_options_that_are_numbers_of_numpy():
    for least in (np.int64(2), np.float32(2)):
        result = tl.top_k_eval(RANKS, GRADES, np.int64(3), relevant_from=least, metrics="ndcg")
        again, readable = through_a_file(result)
        assert again == result and readable["policies"]["relevant_from"] == 2
    sampled = tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=np.int64(20), seed=np.int64(1))
    assert through_a_file(sampled.evaluate(20))[1]["sampled"]["n"] == 20


def test_packed_files(tmp_path):
    path = tmp_path / "result.json.gz"
    evaluated().save(path)
    assert json.loads(gzip.decompress(path.read_bytes()))["k"] == [1, 3]
    assert tl.TopKResult.load(path) == tl.TopKResult.load(str(path)) == evaluated()


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "result.json"
    evaluated().save(path)
    before = path.read_bytes()
    own = tl.Metric("cubic", "each", lambda r: r**3, "k")
    with pytest.raises(ValueError, match=r"^save: .*; to_dict\(\) and to_pandas\(\) give the"):
        evaluated(metrics=[own]).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    evaluated(convention="recbole").save(path)
    assert tl.TopKResult.load(path).terms.convention == "recbole"
    for missing in (tmp_path / "none" / "result.json", tmp_path):
        with pytest.raises(OSError, match=missing.name):
            evaluated().save(missing)
    assert list(tmp_path.iterdir()) == [path]


def changed(**changes):
    """Return the text of a file of which some fields were changed."""
    found = saved.content(evaluated()) | {"result": through_a_file(evaluated())[1]["result"]}
    for where, value in changes.items():
        part = found
        *keys, last = where.split("/")
        for key in keys:
            part = part[key]
        part[last] = value
    return json.dumps(found)


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("values/ndcg@3", 0.9, r"values of ndcg@3 reads 0\.9, but the result that the file holds"),
        ("values/hit@1", None, r"values of hit@1 reads None, but"),
        ("interval/hit@3", [0.1, 0.2], r"interval of hit@3 reads 0\.1, but"),
        ("std/hit@3", "0", r"std of hit@3 reads '0', but"),
        ("n/hit@3", 4, "n of hit@3 reads 4, but the result that the file holds has 3"),
        ("k", [1, 5], "k reads 5, but the result that the file holds has 3: it was changed after"),
        ("k", [1], r"k reads \[1\], but"),
        ("n_users", 5, "n_users reads 5, but"),
        ("convention", "ranx", "convention reads 'ranx', but .* has 'standard'"),
        ("policies/empty", "zero", "policies of empty reads 'zero', but"),
    ],
)
def test_changed_figures_are_refused(where, value, words, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(changed(**{where: value}))
    with pytest.raises(ValueError, match=rf"result\.json: {words}"):
        tl.TopKResult.load(path)


def test_what_is_no_change(tmp_path):
    path = tmp_path / "result.json"
    harmless = {
        "values/ndcg@3": evaluated()["ndcg@3"] * (1 + 1e-14),  # another machine's logarithm
        "toplist": "9.9",
        "formulas/hit": "in other words",
        "note": "the run of Monday",
        "policies/later": True,
    }
    path.write_text(changed(**harmless))
    assert tl.TopKResult.load(path) == evaluated()
    found = json.loads(path.read_text())
    path.write_text(json.dumps({"result": found["result"]}))  # by a version that says less
    assert tl.TopKResult.load(path) == evaluated()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", r"result\.json.*(is empty|is no result)"),
        (b"{", "is no result that was saved by save"),
        (b"\xff\xfe\x00", "is no result that was saved by save"),
        (b"toplist\x01\x00", r"is no result .*from_bytes reads what to_bytes returned"),
        (b"[" * 100_000, "is no result that was saved by save"),
        (b"[1]", "holds no 'result': result.save"),
        (b'{"k": [1]}', "holds no 'result': result.save.* JSON of toplist eval is for reading"),
        (b'{"result": 3}', "holds no 'result'"),
        (b'{"result": "?"}', "[bB]ase64"),
        (b'{"result": "YWJj"}', "these bytes are no result of toplist"),
        (b'{"result": "dG9wbGlzdAk="}', "of format 9, and this toplist knows 1"),
        (b'{"result": "dG9wbGlzdAEA"}', "damaged"),
    ],
)
@pytest.mark.parametrize("name", ["result.json", "result.json.gz"])
def test_other_files_are_refused_in_a_line(name, data, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(ValueError, match=words) as caught:
        tl.TopKResult.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_not_there_or_not_packed(tmp_path):
    with pytest.raises(FileNotFoundError):
        tl.TopKResult.load(tmp_path / "none.json")
    path = tmp_path / "odd.json.gz"
    for data in (b"{}", gzip.compress(changed().encode())[:-20]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="is no result that was saved by save"):
            tl.TopKResult.load(path)


def test_what_is_longer_than_a_reader_takes_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "result.json.gz"
    evaluated().save(path)
    monkeypatch.setattr(saved, "LONGEST", 1_000)
    with pytest.raises(ValueError, match=r"save: .* characters, at most 1,000: ask for fewer k"):
        evaluated().save(tmp_path / "new.json")
    with pytest.raises(ValueError, match=r"result\.json\.gz: .* it is longer than 1,000 bytes"):
        tl.TopKResult.load(path)
    assert list(tmp_path.iterdir()) == [path]
    for limit in ("LONGEST", "MOST"):
        with monkeypatch.context() as patch:
            patch.setattr(stored, limit, 20)
            with pytest.raises(ValueError, match=r"bytes hold at most .*: ask for fewer k"):
                evaluated().to_bytes()


OLD = json.loads(Path(__file__).with_name("saved_by_0_2_0.json").read_text())


@pytest.mark.parametrize("name", OLD)
def test_results_saved_by_0_2_0_load_with_their_figures(name, tmp_path):
    """Weighted ones keep their intervals, as the sums for the present ones are not in them."""
    (tmp_path / "old.json").write_text(json.dumps(OLD[name]))
    result = tl.TopKResult.load(tmp_path / "old.json")
    held = saved.content(result)
    for part in ("values", "std", "interval"):
        for one, said in OLD[name][part].items():
            if part == "interval" and one.startswith("cg") and name == "one":
                continue  # 0.2.0 said Wilson's, as no user has two hits; it is no proportion
            assert held[part][one] == pytest.approx(said, abs=1e-12)
    assert ("saved by toplist 0.2" in repr(result)) == result.terms.weighted
    both = tl.merge([result, result], disjoint=True)
    assert ("saved by toplist 0.2" in repr(both)) == result.terms.weighted
    if name == "plain":
        assert result == evaluated()
    if result.terms.weighted:
        assert "saved by" not in repr(evaluated(GRADES, weights=[1, 2, 3, 4]))
