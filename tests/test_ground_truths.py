"""`GroundTruths`: the same results as without, beside every form of lists; nothing read again."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.matching.hits import Hits

K = [1, 3, 7]


def population(seed, text, graded):
    """Return three dicts of ranked lists, and ground truths of some of their users and others."""
    rng = np.random.default_rng(seed)
    user, item = (lambda one: f"u{one}", lambda one: f"i{one}") if text else (int, int)
    truth = {}
    for one in rng.permutation(40)[:30].tolist():
        items = list(map(item, rng.choice(30, rng.integers(0, 8), replace=False).tolist()))
        truth[user(one)] = dict.fromkeys(items, 2) if graded else set(items)
        if graded and items:
            truth[user(one)] |= {items[0]: 0, items[-1]: 3}
    systems = [
        {
            user(one): list(map(item, rng.choice(35, 9, replace=False).tolist()))
            for one in rng.permutation(40)[: 20 + 5 * place].tolist()
        }
        for place in range(3)
    ]
    return systems, truth


def frame(rows, graded=False):
    polars = pytest.importorskip("polars")
    columns = {
        "user_id": [user for user, row in rows.items() for _ in row],
        "item_id": [item for row in rows.values() for item in row],
    }
    if graded:
        columns["relevance"] = [grade for row in rows.values() for grade in row.values()]
    else:
        columns["rank"] = [place for row in rows.values() for place in range(1, len(row) + 1)]
    return polars.DataFrame(columns)


def forms(rows, path, graded=False):
    """Return rows as a dict, tables and files."""
    table = frame(rows, graded)
    table.write_parquet(path.with_suffix(".parquet"))
    table.write_csv(path.with_suffix(".csv"))
    files = path.with_suffix(".parquet"), path.with_suffix(".csv")
    return {"dict": rows, "polars": table, "pandas": table.to_pandas(), "parquet": files[0]} | {
        "csv": files[1]
    }


def outcome(lists, truths, **options):
    """Return all bits of a result, or the error."""
    try:
        result = by_words(lists, truths, K, **options)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    hits: Hits = result.hits
    values = {
        name: repr((result[name], result.interval(name), result.std(name)))
        for name in result.names()
        if not name.startswith("item_")
    }
    values["means"] = repr([result[name] for name in result.names()])
    counts = result.n_users, result.n_missing, result.n_extra, result.n_skipped
    return values, counts, hits.about.fingerprints, hits.users, hits.ranks.tolist()


OPTIONS = [
    {},
    {"convention": "trec_eval"},
    {"padding": 0, "metrics": ["hit", "f1"]},
    {"gains": "exponential", "metrics": ["ndcg", "judged"]},
    {"relevant_from": 2},
    {"duplicates": "first", "n_threads": 1, "metrics": ["hit", "item_coverage"]},
]


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("text", [False, True])
def test_the_bits_of_ground_truths_that_are_read_again(tmp_path, text, graded):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    systems, truth = population(5, text, graded)
    truths = forms({user: row for user, row in truth.items() if row}, tmp_path / "truth", graded)
    truths["dict"] = truth
    for name, side in truths.items():
        kept = tl.GroundTruths(side)
        for place, system in enumerate(systems):
            for form, lists in forms(system, tmp_path / f"lists{place}").items():
                for options in OPTIONS:
                    of_files = isinstance(lists, Path)
                    more = {"keep": "users"} if of_files else {}
                    again = outcome(lists, side, **options, **more)
                    found = outcome(lists, kept, **options, **more)
                    if isinstance(again[0], dict):
                        assert found == again, (name, form, options)
                    else:
                        assert not isinstance(found[0], dict), (name, form, options)


@pytest.mark.parametrize("text", [False, True])
def test_truths_by_position(text):
    rng = np.random.default_rng(1)
    item = (lambda one: f"i{one}") if text else int
    rows = [list(map(item, rng.permutation(9)[:6].tolist())) for _ in range(20)]
    truths = {
        "lists": [row[::2] for row in rows[::-1]],
        "sets": [set(row[::2]) for row in rows[::-1]],
        "one each": [row[0] for row in rows[::-1]],
        "grades": [dict.fromkeys(row, 2) for row in rows[::-1]],
        "matrix": np.array([row[:3] for row in rows]),
        "Lists": tl.inputs.Lists(
            np.arange(21) * 2, np.array([one for row in rows for one in row[:2]])
        ),
    }
    for truth in truths.values():
        kept = tl.GroundTruths(truth)
        for lists in (rows, rows[::-1], np.array(rows)):
            for options in ({}, {"users": range(20)}, {"users": [f"u{one}" for one in range(20)]}):
                for _ in range(2):
                    found = outcome(lists, kept, **options)
                    assert found == outcome(lists, truth, **options)
                    assert isinstance(found[0], dict)


def test_ids_of_other_kinds_and_series():
    pandas = pytest.importorskip("pandas")
    wide = {"a": {2**62 + 5, 7}, "b": {2**63 - 1}}
    lists = [{"a": [7, -1], "b": [2**63 - 1]}, {"a": [2**62 + 5], "b": [3]}]
    kept = tl.GroundTruths(wide)
    for some in lists:
        found = tl.top_k_eval(some, kept, 2)
        assert found["hit@2"] == tl.top_k_eval(some, wide, 2)["hit@2"] > 0
    counted = tl.GroundTruths(pandas.Series([{1}, {2}]))
    by_position = tl.top_k_eval([[1], [3]], counted, 1)
    assert by_position["hit@1"] == tl.top_k_eval({0: [1], 1: [3]}, counted, 1)["hit@1"] == 0.5
    of_bytes = tl.GroundTruths({"a": {b"x"}})
    assert tl.top_k_eval({"a": [b"x"]}, of_bytes, 1)["hit@1"] == 1


def test_functions_that_take_ground_truths_take_kept_ones():
    systems, truth = population(2, True, False)
    kept = tl.GroundTruths(truth)
    assert np.array_equal(tl.ndcg(systems[0], kept), tl.ndcg(systems[0], truth), equal_nan=True)
    assert tl.match(systems[0], kept).ranks.tolist() == tl.match(systems[0], truth).ranks.tolist()
    assert tl.audit.conformance(systems[0], kept, 5) == tl.audit.conformance(systems[0], truth, 5)
    results = {f"step {place}": tl.top_k_eval(some, kept, 5) for place, some in enumerate(systems)}
    assert len(tl.compare(results).test("ndcg@5")) == 3


def test_systems_of_a_table(tmp_path):
    polars = pytest.importorskip("polars")
    systems, truth = population(3, True, False)
    truth = {user: row for user, row in truth.items() if row}
    table = polars.concat(
        [frame(some).with_columns(model=polars.lit(f"m{i}")) for i, some in enumerate(systems)]
    )
    table.write_csv(tmp_path / "lists.csv")
    alone = {f"m{place}": tl.top_k_eval(some, truth, 5) for place, some in enumerate(systems)}
    for lists in (table, tmp_path / "lists.csv"):
        for kept in (tl.GroundTruths(truth), tl.GroundTruths(frame(truth))):
            if lists is not table and kept.stream is None:
                continue  # systems of a file are evaluated beside a file
            found = tl.top_k_eval(lists, kept, 5, system="model")
            assert {name: one["ndcg@5"] for name, one in found.items()} == {
                name: one["ndcg@5"] for name, one in alone.items()
            }
    frame(truth).write_csv(tmp_path / "truth.csv")
    found = tl.top_k_eval(
        tmp_path / "lists.csv", tl.GroundTruths(tmp_path / "truth.csv"), 5, system="model"
    )
    assert found["m1"]["map@5"] == alone["m1"]["map@5"]


def test_record_batches_beside_kept_truths():
    pytest.importorskip("pyarrow")
    systems, truth = population(4, True, False)
    for kept in (tl.GroundTruths(truth), tl.GroundTruths(frame(truth))):
        expected = tl.top_k_eval(frame(systems[0]), kept, 5)
        table = frame(systems[0]).sort("user_id", maintain_order=True).to_arrow()
        batches = table.to_reader()
        found = tl.top_k_eval(batches, kept, 5)
        assert found["ndcg@5"] == pytest.approx(expected["ndcg@5"], abs=1e-15)


def test_what_changes_later_does_not_change_them():
    truth, rows = {"a": {1}, "b": {2}}, np.array([[1], [2]])
    kept, by_position = tl.GroundTruths(truth), tl.GroundTruths(rows)
    assert len(kept) == len(by_position) == 2  # both are read
    truth["a"].add(9)
    truth["c"] = {5}
    rows[:] = 0
    assert tl.top_k_eval({"a": [9], "b": [2]}, kept, 1)["hit@1"] == 0.5
    assert tl.top_k_eval([[1], [2]], by_position, 1)["hit@1"] == 1
    assert len(kept) == 2 and repr(kept) == "GroundTruths(2 users)"


def test_threads_and_pickles():
    polars = pytest.importorskip("polars")
    systems, truth = population(6, True, False)
    kept = tl.GroundTruths(frame(truth))
    lists = [
        frame(some).with_columns(polars.col("item_id") + str(new)) if new else frame(some)
        for new in range(4)
        for some in systems
    ]
    alone = [tl.top_k_eval(some, frame(truth), 5)["ndcg@5"] for some in lists]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda some: tl.top_k_eval(some, kept, 5)["ndcg@5"], lists * 5))
    assert found == alone * 5
    again = pickle.loads(pickle.dumps(kept))
    assert [tl.top_k_eval(some, again, 5)["ndcg@5"] for some in lists] == alone


def test_nothing_is_read_again(monkeypatch):
    polars = pytest.importorskip("polars")
    from toplist import kernels
    from toplist.inputs.texts import Texts

    systems, truth = population(7, True, True)
    kept = [tl.GroundTruths(truth), tl.GroundTruths(frame(truth, True))]
    seen = []
    encode = Texts.encode
    monkeypatch.setattr(
        Texts, "encode", lambda self, one: seen.append(len(one)) or encode(self, one)
    )
    for name in ("hash_rows", "hash_rows_once"):
        of_name = getattr(kernels.hashing, name)
        monkeypatch.setattr(
            kernels.hashing, name, lambda *given, of=of_name: seen.append("hashes") or of(*given)
        )
    for one in kept:
        tl.top_k_eval(systems[0] if one is kept[0] else frame(systems[0]), one, 5)
    assert "hashes" in seen
    seen.clear()
    for system in systems:
        tl.top_k_eval(system, kept[0], 5)
        tl.top_k_eval(frame(system), kept[1], 5)
    n_rows = max(sum(map(len, system.values())) for system in systems)
    assert "hashes" not in seen and max(seen) <= n_rows and polars


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ({1, 2}, "^GroundTruths are of many users"),
        ({"a": {"x": float("inf")}}, "^user 'a', item 'x': grade inf"),
        ({"a": {1.5}}, "1.5 is a float, never an id"),
        ({"a": {1}, "b": {"x"}}, "ids of two kinds"),
        ([[0, 0, 1]], "user 0 has 0 twice, and all ids are 0 or 1"),
        (None, "ground_truths is missing|NoneType"),
    ],
)
def test_what_is_wrong_with_the_truths_is_said_when_they_are_read(truth, words):
    with pytest.raises((TypeError, ValueError), match=words):
        len(tl.GroundTruths(truth))


def test_sides_that_do_not_fit():
    kept, by_position = tl.GroundTruths({"a": {1}}), tl.GroundTruths([{1}, {2}])
    for lists, truth, words in (
        ([[1]], kept, "^ground_truths is keyed by user, ranks is not"),
        ({"a": [1]}, by_position, "^ranks is keyed by user, ground_truths is not"),
        ([[1]], by_position, "^1 ranked lists but 2 ground truths"),
        ([1, 2], by_position, "^ranks is one user's list of ids, ground_truths is of 2 users"),
        ({"b": [1]}, kept, "^no user is in both: ranks has 'b', ground_truths has 'a'"),
        ({"a": ["x"]}, kept, "ids of two kinds"),
        ({"a": {1}}, kept, "^user 'a': the ranked list is a set"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            tl.top_k_eval(lists, truth, 1)


def test_a_bad_line_of_a_file_is_named(tmp_path):
    (tmp_path / "truth.csv").write_text("user_id,item_id,relevance\na,x,1\nb,y,high\n")
    with pytest.raises(ValueError, match=r"truth\.csv:3: .*high"):
        len(tl.GroundTruths(tmp_path / "truth.csv"))


def test_each_result_has_a_list_of_users_of_its_own():
    truth = tl.GroundTruths({"ann": {1}, "bob": {2}})
    one, other = (tl.top_k_eval({"ann": [1], "bob": [3]}, truth, 1) for _ in range(2))
    one.users.reverse()
    assert other.users == ["ann", "bob"]
    assert tl.top_k_eval({"bob": [2], "ann": [3]}, truth, 1).per_user("hit@1").tolist() == [0, 1]
