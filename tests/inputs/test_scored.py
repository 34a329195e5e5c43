"""Scores that order lists: exactly, whatever holds them, with ties as asked."""

import math
from collections import Counter

import numpy as np
import pytest
from doors import by_words, match_by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from listwise import listwise
from shared_inputs import (
    LIBRARIES,
    RANKED,
    RUN,
    TRUTHS,
    csv_of,
    equal_results,
    frame_of,
    library,
    same,
)

import toplist as tl

T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float
FALLING = {  # two numbers that a float does not tell apart, in the type of a column
    "int64": (T + 1, T),
    "the least int64": (-(2**63) + 1, -(2**63)),
    "uint64": (2**64 - 1, 2**64 - 2),
    "both halves of uint64": (2**63, 5),
}


def place_of(table, item="new", **how):
    return match_by_words(table, {"u": {item}}, **how).ranks.tolist()


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("falling", FALLING.values(), ids=FALLING)
def test_scores_keep_their_order(name, falling):
    high, low = falling
    kind = np.uint64 if high >= 2**63 else np.int64
    for users, items, scores in (
        ("uu", ["old", "new"], [low, high]),
        ("uvu", ["old", "old", "new"], [low, low, high]),
    ):
        for backwards in (False, True):
            column = np.array(scores[::-1] if backwards else scores, kind)
            table = {"user_id": list(users), "item_id": items, "score": column}
            assert place_of(frame_of(name, table)) == [1 + backwards]


ITEMS = {
    "below zero": -np.arange(200),
    "int8": np.arange(-100, 100, dtype=np.int8),
    "uint64": np.arange(2**63 - 200, 2**63, dtype=np.uint64),
    "text": np.array([*(f"d{n}" for n in range(198)), "é", "ee"], object),
}


def in_order(row, ties):
    """Return the items of a dict item -> score, best first, and equal ones as `ties` says."""
    descending = ties in ("item_desc", "trec_eval")
    items = list(row) if ties in ("order", None) else sorted(row, reverse=descending)
    return sorted(items, key=lambda item: held(row[item], ties), reverse=True)


def held(score, ties):
    """Return a score as it is compared."""
    return np.float32(score) if ties == "trec_eval" else score


@pytest.mark.parametrize("ties", ["order", "item", "item_desc", "trec_eval", None])
@pytest.mark.parametrize("kind", ITEMS)
def test_equal_scores_as_ties_says(tmp_path, kind, ties):
    """Zeros of both signs are equal; the lists are longer than those sorted by insertion."""
    rng = np.random.default_rng(5)
    items = rng.permutation(ITEMS[kind])
    relevant = set(ITEMS[kind][::3].tolist())
    truth = {"q": relevant, "r": relevant}
    for levels in ([-0.0, 0.0, 0.5, -1.5], [T, T + 1, T - 1, T]):
        scores = np.array(levels)[rng.integers(0, 4, 200)]
        row = dict(zip(items.tolist(), scores.tolist(), strict=True))
        expected = tl.match(dict.fromkeys("qr", in_order(row, ties)), truth)
        assert same(match_by_words(dict.fromkeys("qr", row), truth, ties=ties), expected)
        columns = {"item_id": np.repeat(items, 2), "score": np.repeat(scores, 2)}
        columns["user_id"] = list("qr" * 200)  # the rows of both stand among each other
        for name in LIBRARIES:
            assert same(match_by_words(frame_of(name, columns), truth, ties=ties), expected)
        if kind == "text":
            lines = [f"{user},{item},{score}" for user in "qr" for item, score in row.items()]
            path = csv_of(tmp_path / "lists.csv", "user_id,item_id,score", *lines)
            result = by_words(path, truth, 200, ties=ties)
            assert result["map"].tolist() == tl.top_k_eval(expected, k=200)["map"].tolist()


def test_scores_that_are_equal_in_float32_are_equal_in_trec_eval(tmp_path):
    """pytrec_eval 0.5.10 and ir_measures 0.4.3 give a reciprocal rank of 0.5, doubles give 1."""
    run, qrels = {"1": {"a": 30.10000001, "b": 30.1}}, {"1": {"a": 1, "b": 0}}
    (tmp_path / "a.run").write_text("1 Q0 a 1 30.10000001 t\n1 Q0 b 2 30.1 t\n")
    hits = {"1": [{"corpus_id": item, "score": score} for item, score in run["1"].items()]}
    columns = {"user_id": ["1", "1"], "item_id": ["a", "b"], "score": [*run["1"].values()]}
    frames = [frame_of(name, columns) for name in LIBRARIES]
    huge = {"1": {"a": 10**400 + 1, "b": 10**400}}  # which float32 holds as infinite
    for lists in (run, huge, hits, *frames, tmp_path / "a.run"):
        found = tl.top_k_eval(lists, qrels, 10, metrics="mrr", convention="trec_eval")
        assert found["mrr@10"] == 0.5
        assert tl.top_k_eval(tl.Ranks(lists, ties="item_desc"), qrels, 10)["mrr@10"] == 1


def test_the_least_integer_score_is_the_last_and_lists_of_scores_tie():
    for scores in (np.array([-(2**63), 3, 3]), np.array([0, 2**63, 2**63], np.uint64)):
        frame = frame_of("pandas", {"user_id": ["u"] * 3, "item_id": [5, 7, 6], "score": scores})
        for ties, item in (("item", 6), ("item_desc", 7), ("order", 7)):
            assert place_of(frame, 5, ties=ties) == [3] and place_of(frame, item, ties=ties) == [1]
    columns = {"user_id": ["u"], "item_id": [[3, 1, 2]], "score": [[1.0, 1.0, 2.0]]}
    for name in LIBRARIES:
        assert place_of(frame_of(name, columns), 1, ties="item") == [2]
        assert place_of(frame_of(name, columns), 1, ties="order") == [3]
    ranked = frame_of("pandas", {"user_id": ["u"] * 2, "item_id": [3, 1], "rank": [1, 2]})
    for ranks in ({"u": [3, 1]}, ranked):  # where nothing ties
        assert place_of(ranks, 1, ties="item_desc") == [2]


# Scores by item, hits of search engines, pairs of arrays


class Narrow:
    """Stands in for a tensor of torch: numpy cannot read its bfloat16, nor what has gradients."""

    def __init__(self, values, dtype="torch.bfloat16", gradients=True):
        self._values, self.dtype, self._gradients = np.array(values), dtype, gradients
        self.shape, self.ndim = self._values.shape, self._values.ndim

    def detach(self):
        return Narrow(self._values, self.dtype, gradients=False)

    def cpu(self):
        return self

    def float(self):
        return Narrow(self._values.astype(np.float32), "torch.float32", self._gradients)

    def __array__(self, dtype=None, copy=None):
        if self._gradients or self.dtype != "torch.float32":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._values


def torch_narrow(values):
    return library("torch").tensor(values, dtype=library("torch").bfloat16, requires_grad=True)


def hits_of(row):
    return [{"corpus_id": item, "score": score} for item, score in row.items()]


def response(row):
    """Return what Elasticsearch answers; it is in its own order, whatever the scores are."""
    best = sorted(row, key=row.get, reverse=True)
    hits = [{"_index": "docs", "_id": item, "_score": None, "_source": {}} for item in best]
    return {"took": 3, "hits": {"total": {"value": len(row)}, "hits": hits}}


KEYED = {
    "scores": dict,
    "numpy-scores": lambda row: {d: np.float32(s) for d, s in row.items()},
    "tensors": lambda row: {d: library("torch").tensor(s) for d, s in row.items()},
    "hits": hits_of,
    "responses": response,
}


@pytest.mark.parametrize("make", KEYED.values(), ids=KEYED)
def test_scores_by_item_are_ranked(make):
    run = {query: make(row) for query, row in RUN.items()}
    sets = {query: set(row) for query, row in TRUTHS.items()}
    for ranks in (run, library("pandas").Series(run)):
        for truths in (TRUTHS, sets):
            equal_results(ranks, truths, (RANKED, truths))


NUMBERS = st.sampled_from([0, 1, 2, 0.5, -0.0, -math.inf, math.inf, 2**53 + 1, 2**53 + 2])
RUNS = st.dictionaries(
    st.sampled_from("uvwx"), st.dictionaries(st.sampled_from("abcdefgh"), NUMBERS), min_size=1
)
WANTED = st.fixed_dictionaries(
    dict.fromkeys("uvw", st.dictionaries(st.sampled_from("abcdefghz"), st.integers(0, 2)))
)


@settings(max_examples=25)
@given(
    RUNS,
    WANTED,
    st.sampled_from(["order", "item", "item_desc", "trec_eval"]),
    st.none() | st.integers(1, 5),
    st.booleans(),
)
def test_dicts_of_scores_are_lists_in_their_order(run, truths, ties, k, graded):
    truths = truths if graded else {user: set(row) for user, row in truths.items()}
    if not ({*run} & {*truths} and any(run.values())):
        return
    lists = {user: in_order(row, ties) for user, row in run.items()}
    found = match_by_words(run, truths, k, ties=ties)
    assert same(found, match_by_words(lists, truths, k))
    equal = [Counter(held(one, ties) for one in row.values()) for row in run.values()]
    tied = [sum(n for n in counts.values() if n > 1) for counts in equal]
    assert found.about.scored in (None, (sum(tied), sum(map(len, run.values()))))
    with pytest.raises(TypeError, match="two kinds|never an id"):
        tl.match({**run, "u": {"a": 1.0, 7: 0.5}}, truths)


IDS = [[7, 3, 9, 1], [2, 8, 4, 0], [5, 1, 4, 6]]
SCORES = [[4.0, 2.5, 2.5, -1.0], [0.5, 0.25, 0.25, 0.25], [3.0, 2.0, 1.0, -math.inf]]
RELEVANT = [{3, 1}, {4}, {5, 2}]
PAIRS = {
    "ids-first": lambda ids, scores: (np.array(ids, np.int32), np.array(scores, np.float32)),
    "scores-first": lambda ids, scores: (np.array(scores), np.array(ids)),
    "a-list": lambda ids, scores: [np.array(ids), np.array(scores)],
    "unsigned": lambda ids, scores: (np.array(ids, np.uint32), np.array(scores, np.float16)),
    "narrow": lambda ids, scores: (np.array(ids), Narrow(scores)),
    "torch": lambda ids, scores: (library("torch").tensor(ids), torch_narrow(scores)),
}


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS)
def test_a_pair_is_ids_with_scores(make):
    equal_results(make(IDS, SCORES), RELEVANT, (IDS, RELEVANT))
    assert tl.recall(make(IDS[0], SCORES[0]), {3}).tolist() == [0, 1, 1, 1]  # one user
    pairs = [make(*row) for row in zip(IDS, SCORES, strict=True)]
    equal_results(pairs, RELEVANT, (IDS, RELEVANT))
    keyed = [dict(zip("abe", one, strict=True)) for one in (pairs, IDS, RELEVANT)]
    equal_results(keyed[0], keyed[2], keyed[1:])


def test_two_lists_stay_two_users_and_padding_of_pairs():
    two = [np.array([1, 2]), np.array([3, 4])]
    for ranks in (two, tuple(two), [[1, 2], [3, 4]], [two[0], np.array([])]):
        assert len(tl.match(ranks, [{1}, {3}])) == 2
    truths, lists = [{9}, {2}], [[7, 3, 9], [2]]
    falling = np.array([[0.5, 0.25, 0.0], [0.1, -3.4e38, -3.4e38]])
    rising = np.array([[0.5, 0.25, 0.0], [0.1, 3.4e38, math.nan]])  # as faiss fills
    for scores in (falling, rising):
        pair = np.array([[7, 3, 9], [2, -1, -1]]), scores
        assert same(tl.match(pair, truths, padding=-1), tl.match(lists, truths))
        assert same(tl.match(pair, truths, 1), tl.match([[7], [2]], truths, 1))  # read to there
        found = listwise.gini(pair, 3, catalogue=10, padding=-1)
        assert np.array_equal(found, listwise.gini(lists, 3, catalogue=10))


MATRIX = [[0.5, 0.25, 2.0, 1.0], [-1.0, 3.0, 0.125, -math.inf]]  # exact in 16 bits


@pytest.mark.parametrize("make", [Narrow, torch_narrow])
def test_scores_of_16_bits(make):
    scores = make(MATRIX)
    assert tl.scores.top_k(scores, 3).items.tolist() == tl.scores.top_k(MATRIX, 3).items.tolist()
    relevance = np.array([[1, 0, 2, 0], [0, 0, 1, 1]])
    expected = tl.scores.ndcg(np.array(MATRIX), relevance=relevance)
    assert np.array_equal(tl.scores.ndcg(scores, relevance=relevance), expected)
    assert tl.loo.ranks_of(scores, [0, 0]).tolist() == [3, 3]
