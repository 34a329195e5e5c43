"""Metrics with a k of their own beside others at the common k: the same through every door."""

import json

import numpy as np
import pytest
from doors import by_words, match_by_words
from file_helpers import sent
from shared_inputs import csv_of, frame_of

import toplist as tl
from toplist.cli import main

RANKS = {"a": [5, 7, 8, 9, 3], "b": [4, 6, 2, 1, 10], "c": [1, 2, 3]}
TRUTHS = {"a": [7, 3, 5], "b": [4, 2, 8, 7], "c": [3]}
MIXED = ["ndcg@2", "recall", "rbp(p=0.5)@4"]
NAMES = ["ndcg@2", "recall@1", "recall@3", "rbp(p=0.5)@4"]


def rows(lists):
    return [(user, item, r) for user, items in lists.items() for r, item in enumerate(items, 1)]


def written(folder, name, lists):
    lines = (",".join(map(str, row)) for row in rows(lists))
    return str(csv_of(folder / name, "user_id,item_id,rank", *lines))


def of_files(folder, **asked):
    paths = [written(folder, f"{n}.csv", side) for n, side in enumerate((RANKS, TRUTHS))]
    return by_words(*paths, **asked)


def of_batches(folder, **asked):
    names = "user_id", "item_id", "rank"
    columns = (
        dict(zip(names, zip(*rows(lists), strict=True), strict=True)) for lists in (RANKS, TRUTHS)
    )
    return by_words(*(frame_of("pyarrow", one).to_reader() for one in columns), **asked)


DOORS = {
    "lists": lambda folder, **asked: by_words(RANKS, TRUTHS, **asked),
    "hits": lambda folder, **asked: by_words(match_by_words(RANKS, TRUTHS, k=5), **asked),
    "files": of_files,
    "batches": of_batches,
    "a file": lambda folder, **asked: sent(by_words(RANKS, TRUTHS, **asked)),
    "segments": lambda folder, **asked: by_words(RANKS, TRUTHS, **asked).by([1, 1, 1])[1],
}


@pytest.mark.parametrize("door", DOORS)
def test_own_and_common_k(door, tmp_path):
    found = DOORS[door](tmp_path, metrics=MIXED, k=[1, 3])
    assert found.names() == NAMES and found.ks == (1, 2, 3, 4)
    alone = {name: tl.top_k_eval(RANKS, TRUTHS, metrics=name)[name] for name in NAMES}
    assert found.to_dict() == alone
    ndcg, recall, rbp = found
    assert type(ndcg) is type(rbp) is float  # beside an array
    assert isinstance(recall, np.ndarray) and recall.shape == (2,)


@pytest.mark.parametrize("door", DOORS)
def test_own_k_beside_the_whole_list(door, tmp_path):
    found = DOORS[door](tmp_path, metrics=MIXED)
    assert found.names() == ["ndcg@2", "recall@5", "rbp(p=0.5)@4"]
    assert found["recall@5"] == tl.recall(RANKS, TRUTHS)[:, 4].mean()


def test_one_metric_at_its_own_and_at_the_common_k():
    found = tl.top_k_eval(RANKS, TRUTHS, metrics=["ndcg@2", "ndcg"], k=[1, 3])
    assert found.names() == ["ndcg@2", "ndcg@1", "ndcg@3"]
    assert [found[f"ndcg@{k}"] for k in (1, 2, 3)] == found["ndcg"].tolist()
    with pytest.raises(ValueError, match="'ndcg@3' is asked for twice, by its own k or by the"):
        tl.top_k_eval(RANKS, TRUTHS, metrics=["ndcg@3", "ndcg"], k=[1, 3])


def test_ranks_among_sampled_items():
    sampled = tl.loo.sampled_ranks(np.eye(6, 60), np.arange(6), n=30, seed=0)
    found = sampled.evaluate([20, 25], metrics=["ndcg@30", "hit"])
    assert found.names() == ["ndcg@30", "hit@20", "hit@25"]
    counted = tl.loo.from_rank_counts({1: 4, 3: 2}, [2, 9], metrics=["ndcg@5", "hit"])
    assert counted.names() == ["ndcg@5", "hit@2", "hit@9"]


def test_parts_merge():
    parts = [{user: RANKS[user]} for user in RANKS]
    asked = {"metrics": MIXED, "k": [1, 3]}
    whole = tl.merge(by_words(one, {u: TRUTHS[u] for u in one}, **asked) for one in parts)
    assert whole.to_dict() == by_words(RANKS, TRUTHS, **asked).to_dict()


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (["-m", *MIXED, "-k", "1", "3"], NAMES),
        (["-m", "ndcg@2", "recall"], ["ndcg@2", *(f"recall@{k}" for k in (1, 5, 10, 20))]),
        (["-m", "ndcg@2", "recall", "-k", "all"], ["ndcg@2", "recall@5"]),
        (["-m", "ndcg@2", "recall@3"], ["ndcg@2", "recall@3"]),
    ],
)
def test_the_command_line(asked, names, tmp_path, capsys):
    files = [written(tmp_path, f"{n}.csv", side) for n, side in enumerate((RANKS, TRUTHS))]
    assert main(["eval", *files, *asked, "--format", "json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]
    assert values == tl.top_k_eval(RANKS, TRUTHS, metrics=names).to_dict()
    other = written(tmp_path, "other.csv", {user: list[::-1] for user, list in RANKS.items()})
    assert main(["compare", files[0], other, files[1], *asked, "--format", "json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == names


# Metrics of the lists beside one of whole lists

JUDGED = {"a": {"x": 1, "n": 0}, "b": {"y": 1, "x": 0}}
LISTED = {"a": ["s", "t", "x", "n", "z"], "b": ["u", "y", "x", "w", "v"]}
ITEMS = [*"rnstuvwxyz"]


@pytest.mark.parametrize("unjudged", ["miss", "drop"])
@pytest.mark.parametrize("beside", [[], ["bpref"], ["mrr@4"], ["bpref", "ndcg@1"]])
def test_lists_are_read_to_their_k_whatever_is_asked_beside(unjudged, beside):
    """Of 10 items, 7 are among the first 4 of both lists, which are cut before others leave."""
    known = {"catalogue": ITEMS, "unjudged": unjudged}
    found = by_words(LISTED, JUDGED, metrics=["item_coverage@4", *beside], **known)
    assert found["item_coverage@4"] == 7 / 10


@pytest.mark.parametrize("beside", [[], ["bpref"], ["bpref", "hit@2"]])
def test_serendipity_of_shorter_lists_is_over_k(beside):
    lists, truths = {"u": ["a", "b", "c", "d"]}, {"u": {"a": 1, "e": 0}}
    metrics = ["serendipity@10", *beside]
    found = tl.top_k_eval(lists, truths, metrics=metrics, items=tl.Items(expected={"u": ["b"]}))
    assert found["serendipity@10"] == 0.1


def test_whole_lists_in_parts_are_refused_by_the_name_of_what_reads_them(tmp_path):
    paths = [written(tmp_path, f"{n}.csv", side) for n, side in enumerate((RANKS, TRUTHS))]
    with pytest.raises(ValueError, match="bpref: metrics of the lists, .* need a k"):
        tl.top_k_eval(
            *paths,
            metrics=["item_coverage@2", "bpref"],
            items=tl.Items(catalogue=list(map(str, range(11)))),
        )
