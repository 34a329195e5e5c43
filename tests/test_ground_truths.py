"""`GroundTruths`: the same results as without, beside every form of lists; nothing read again."""

import pickle
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, cycle
from pathlib import Path

import numpy as np
import pytest
from doors import by_words
from shared_inputs import frame_of, library, long, said
from world import draw

import toplist as tl

K = [1, 3, 7]


def population(seed, text=True, graded=False):
    """Return the lists of two systems, and ground truths of some of their users and others."""
    world = draw(seed, users=25, text=text, graded=graded).without_odd_rows()
    truth = {user: row if graded else {*row} for user, row in world.truths.items()}
    return [world.lists, {user: row for user, row in world.other.items() if row}], truth


def frame(rows, library="polars"):
    """Return rows as a table: of lists with ranks, of dicts with grades, of sets with neither."""
    columns = long(rows, number=int)
    if isinstance(next(iter(rows.values())), set):
        del columns["rank"]
    return frame_of(library, columns)


def forms(rows, path):
    """Return rows as a dict, tables and files."""
    table = frame(rows)
    files = path.with_suffix(".parquet"), path.with_suffix(".csv")
    table.write_parquet(files[0])
    table.write_csv(files[1])
    return rows, table, frame(rows, "pandas"), *files


def outcome(lists, truths, **options):
    """Return all bits of a result, or the error."""
    more = {"keep": "users"} if isinstance(lists, Path) else {}
    try:
        result = by_words(lists, truths, K, **options | more)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    asked = [name for name in result.names() if not name.startswith("item_")]
    values = [repr((result[name], result.interval(name), result.std(name))) for name in asked]
    values.append(repr([result[name] for name in result.names()]))
    counts = result.n_users, result.n_missing, result.n_extra, result.n_skipped
    hits = result.hits
    return {"values": values}, counts, hits.about.fingerprints, hits.users, hits.ranks.tolist()


OPTIONS = [
    {},
    {"convention": "trec_eval"},
    {"padding": 0, "metrics": ["hit", "f1"]},
    {"gains": "exponential", "metrics": ["ndcg", "judged"]},
    {"relevant_from": 2},
    {"duplicates": "first", "n_threads": 1, "metrics": ["hit", "item_coverage"]},
]


@pytest.mark.parametrize(("text", "graded"), [(True, False), (False, True)])
def test_the_bits_of_ground_truths_that_are_read_again(tmp_path, text, graded):
    library("pyarrow")
    systems, truth = population(5, text, graded)
    ways = forms(systems[0], tmp_path / "lists"), systems[1:]  # the others as dicts alone
    for place, side in enumerate(forms(truth, tmp_path / "truth")):
        kept, turned = tl.GroundTruths(side), cycle(OPTIONS[place:] + OPTIONS[:place])
        for lists, options in zip(chain(*ways), turned, strict=False):
            again = outcome(lists, side, **options)
            found = outcome(lists, kept, **options)
            if isinstance(again[0], dict):
                assert found == again, (type(side), type(lists), options)
            else:
                assert not isinstance(found[0], dict), (type(side), type(lists), options)


def test_what_changes_later_does_not_change_them():
    truth, rows = defaultdict(set, a={1}, b={2}), np.array([[1], [2]])
    kept, by_position = tl.GroundTruths(truth), tl.GroundTruths(rows)
    assert len(kept) == len(by_position) == 2  # both are read
    truth["a"].add(9)
    truth["c"] = {5}
    rows[:] = 0
    assert tl.top_k_eval({"a": [9], "b": [2]}, kept, 1)["hit@1"] == 0.5
    assert tl.top_k_eval([[1], [2]], by_position, 1)["hit@1"] == 1
    assert len(kept) == 2 and repr(kept) == "GroundTruths(2 users)"
    one, other = (tl.top_k_eval({"a": [1], "b": [3]}, kept, 1) for _ in range(2))
    one.users.reverse()  # each result has users of its own
    assert other.users == ["a", "b"]
    assert tl.top_k_eval({"b": [2], "a": [3]}, kept, 1).per_user("hit@1").tolist() == [0, 1]


def test_threads_and_pickles():
    polars = library("polars")
    systems, truth = population(6)
    kept = tl.GroundTruths(frame(truth))
    lists = [*map(frame, systems)]
    lists += [one.with_columns(polars.col("item_id") + str(n)) for one in lists for n in (1, 2, 3)]
    alone = [tl.top_k_eval(some, frame(truth), 5)["ndcg@5"] for some in lists]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda some: tl.top_k_eval(some, kept, 5)["ndcg@5"], lists * 5))
    assert found == alone * 5
    again = pickle.loads(pickle.dumps(kept))
    assert [tl.top_k_eval(some, again, 5)["ndcg@5"] for some in lists] == alone


def test_nothing_is_read_again(monkeypatch):
    from toplist import kernels
    from toplist.inputs.texts import Texts

    systems, truth = population(7, graded=True)
    kept = [tl.GroundTruths(truth), tl.GroundTruths(frame(truth))]
    seen = []

    def watch(module, name, size):
        real = getattr(module, name)

        def watched(*given):
            seen.append(size(*given))
            return real(*given)

        monkeypatch.setattr(module, name, watched)

    watch(Texts, "encode", lambda self, one: len(one))
    for name in ("hash_rows", "hash_rows_once"):
        watch(kernels.hashing, name, lambda *given: "hashes")

    def evaluate(system):
        tl.top_k_eval(system, kept[0], 5)
        tl.top_k_eval(frame(system), kept[1], 5)

    evaluate(systems[0])
    assert "hashes" in seen
    seen.clear()
    for system in systems:
        evaluate(system)
    n_rows = max(sum(map(len, system.values())) for system in systems)
    assert "hashes" not in seen and max(seen) <= n_rows


def evaluated(lists, truth):
    return tl.top_k_eval(lists, tl.GroundTruths(truth), 1)


KEYED, ROWS = {"a": {1}}, [{1}, {2}]
WRONG = [  # with the truths alone, said when they are read; then with both sides
    *((partial(len, tl.GroundTruths(truth)), words) for truth, words in [
        ({1, 2}, "GroundTruths are of many users"),
        ({"a": {"x": float("inf")}}, "user 'a', item 'x': grade inf"),
        ({"a": {1.5}}, "1.5 is a float, never an id"), ({"a": {1}, "b": {"x"}}, "ids of two kinds"),
        ([[0, 0, 1]], "user 0 has 0 twice, and all ids are 0 or 1"), (None, "")]),
    *((partial(evaluated, lists, truth), words) for lists, truth, words in [
        ([[1]], KEYED, "ground_truths is keyed by user, ranks is not"),
        ({"a": [1]}, ROWS, "ranks is keyed by user, ground_truths is not"),
        ([[1]], ROWS, "1 ranked lists but 2 ground truths"),
        ([1, 2], ROWS, "ranks is one user's list of ids, ground_truths is of 2 users"),
        ({"b": [1]}, KEYED, "no user is in both: ranks has 'b', ground_truths has 'a'"),
        ({"a": ["x"]}, KEYED, "ids of two kinds"),
        ({"a": {1}}, KEYED, "user 'a' has {1} where a list")]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_is_refused(call, words):
    said(words, call)


def test_a_bad_line_of_a_file_is_named(tmp_path):
    (tmp_path / "truth.csv").write_text("user_id,item_id,relevance\na,x,1\nb,y,high\n")
    said("truth.csv:3:  ... high", len, tl.GroundTruths(tmp_path / "truth.csv"))
