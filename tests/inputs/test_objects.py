"""Objects of other libraries, as they are: the same results, bit for bit, as plain lists.

What a library itself makes is tested where it is installed. Stand-ins have the names by which
toplist knows the real class, and no more.
"""

import math

import numpy as np
import pytest
from doors import by_words, curve, match_by_words
from shared_inputs import LIBRARIES, csr, frame_of, library, same

import toplist as tl


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


SCORES = [[0.5, 0.25, 2.0, 1.0], [-1.0, 3.0, 0.125, -math.inf]]  # exact in 16 bits


@pytest.mark.parametrize("make", [Narrow, torch_narrow])
def test_scores_of_16_bits(make):
    scores = make(SCORES)
    assert tl.scores.top_k(scores, 3).items.tolist() == tl.scores.top_k(SCORES, 3).items.tolist()
    relevance = np.array([[1, 0, 2, 0], [0, 0, 1, 1]])
    expected = tl.scores.ndcg(np.array(SCORES), relevance=relevance)
    assert np.array_equal(tl.scores.ndcg(scores, relevance=relevance), expected)
    assert tl.loo.ranks_of(scores, [0, 0]).tolist() == [3, 3]
    drawn = [tl.loo.sampled_ranks(one, [0, 0], n=2).ranks for one in (scores, np.array(SCORES))]
    assert np.array_equal(*drawn)


@pytest.mark.libraries
def test_scores_of_numpys_extension_types():
    from toplist.inputs.flatten import array

    class OfJax:
        def __array__(self, dtype=None, copy=None):
            return np.array(SCORES).astype(library("ml_dtypes").bfloat16)

    assert array(OfJax()).dtype == np.float32
    assert np.array_equal(array(OfJax()), np.float32(SCORES))


def test_exclude_takes_sparse_matrices_and_tensors():
    scores = np.random.default_rng(3).random((3, 10))
    seen = [[1, 2], [], [9, 0, 4]]
    expected = tl.scores.top_k(scores, 10, exclude=seen).items.tolist()
    matrix = csr(seen)
    for kind in ("csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "csr_array"):
        sparse = getattr(library("scipy.sparse"), kind)(matrix)
        assert tl.scores.top_k(scores, 10, exclude=sparse).items.tolist() == expected
    disliked = matrix * -2.0  # seen as well
    assert tl.scores.top_k(scores, 10, exclude=disliked).items.tolist() == expected
    held = [5, 5, 5]
    ranks = tl.loo.ranks_of(scores, held, exclude=matrix)
    assert ranks.tolist() == tl.loo.ranks_of(scores, held, exclude=seen).tolist()
    drawn = tl.loo.negatives(held, 3, n_items=10, exclude=matrix)
    assert np.array_equal(drawn, tl.loo.negatives(held, 3, n_items=10, exclude=seen))
    with pytest.raises(ValueError, match=r"sparse matrix of shape \(3, 10\): \(1, 10\), users x"):
        tl.scores.top_k(scores[:1], 10, exclude=matrix)


@pytest.mark.libraries
def test_exclude_takes_tensors():
    torch = library("torch")
    scores, seen = np.random.default_rng(3).random((2, 5)), [[1, 2], [0]]
    expected = tl.scores.top_k(scores, 5, exclude=seen).items.tolist()
    flags = torch.zeros((2, 5), dtype=torch.bool)
    flags[0, 1] = flags[0, 2] = flags[1, 0] = True
    for given in (flags, [torch.tensor(row) for row in seen]):
        assert tl.scores.top_k(scores, 5, exclude=given).items.tolist() == expected


RANKED = {"q1": ["b", "a", "c"], "q2": ["z"], "q3": []}
TRUTHS = {"q1": {"a": 2, "b": 1}, "q2": {"x": 1}, "q4": {"y": 1}, "q3": {"b": 0}}
RUN = {"q1": {"a": 0.5, "b": 0.75, "c": -1.5}, "q2": {"z": 3.25}, "q3": {}}


def hits_of(rows):
    return [{"corpus_id": item, "score": score} for item, score in rows.items()]


def response(rows):
    """Return what Elasticsearch answers; it is in its own order, whatever the scores are."""
    best = sorted(rows, key=rows.get, reverse=True)
    hits = [{"_index": "docs", "_id": item, "_score": None, "_source": {}} for item in best]
    return {"took": 3, "hits": {"total": {"value": len(rows)}, "hits": hits}}


KEYED = {
    "scores": lambda run: run,
    "numpy-scores": lambda run: {
        q: {d: np.float32(s) for d, s in row.items()} for q, row in run.items()
    },
    "tensors": lambda run: {
        q: {d: library("torch").tensor(s) for d, s in row.items()} for q, row in run.items()
    },
    "series": lambda run: library("pandas").Series(run),
    "hits": lambda run: {q: hits_of(row) for q, row in run.items()},
    "responses": lambda run: {q: response(row) for q, row in run.items()},
}


def equal_results(ranks, truths, expected, **options):
    """Evaluate in one line, in every way; the same numbers, bit for bit, as plain lists."""
    hits, plain = match_by_words(ranks, truths, **options), match_by_words(*expected, **options)
    assert same(hits, plain)
    assert hits.about.fingerprints == plain.about.fingerprints
    given, plain = (by_words(*both, 3, **options) for both in ((ranks, truths), expected))
    assert list(given) == list(plain)
    for metric in ("ndcg", "map", "precision"):
        values = [one.per_user(metric) for one in (given, plain)]
        assert np.array_equal(*values, equal_nan=True)
    both = [curve("ndcg", *sides, **options) for sides in ((ranks, truths), expected)]
    assert np.array_equal(*both, equal_nan=True)


@pytest.mark.parametrize("make", KEYED.values(), ids=KEYED)
def test_scores_by_item_are_ranked(make):
    equal_results(make(RUN), TRUTHS, (RANKED, TRUTHS))
    sets = {query: set(row) for query, row in TRUTHS.items()}
    equal_results(make(RUN), sets, (RANKED, sets))
    asked = {"metrics": ["ndcg", "item_coverage"], "catalogue": list("abcz")}
    given, plain = (by_words(ranks, TRUTHS, 2, **asked) for ranks in (make(RUN), RANKED))
    assert list(given) == list(plain)
    both = [tl.beyond.item_coverage(r, 3, catalogue=list("abcz")) for r in (make(RUN), RANKED)]
    assert np.array_equal(*both)


def test_hits_by_position():
    ranks = [hits_of({7: 0.5, 3: 0.75, 1: 0.5}), [], hits_of({2: 1})]
    truths = [{7, 1}, {3}, {2}]
    equal_results(ranks, truths, ([[3, 7, 1], [], [2]], truths))
    equal_results([[], *ranks], [{1}, *truths], ([[], [3, 7, 1], [], [2]], [{1}, *truths]))
    assert tl.recall(ranks[0], {7}).tolist() == [0, 1, 1]  # one user
    assert tl.match(tl.Ranks(ranks, ties="item"), truths).ranks.tolist() == [2, 3, 1]


def test_scores_are_compared_exactly():
    run = {"q": {"a": 2**53, "b": 2**53 + 1, "c": float(2**53)}}
    assert tl.match(run, {"q": {"b"}}).ranks.tolist() == [1]
    single = {"q": {"a": np.float32(0.1), "b": 0.1, "c": np.float16(3)}}  # 0.1 of float32 is more
    assert tl.match(single, {"q": {"a"}}).ranks.tolist() == [2]


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({"q": {"a": 0.5, "b": math.nan}}, "ranks: user 'q', item 'b': the score is NaN, which"),
        ({"q": {"a": 0.5, "b": "0.4"}}, "ranks: user 'q', item 'b': the score '0.4' is no number"),
        ({"q": {"a": 0.5, "b": None}}, "user 'q', item 'b': the score None is no number"),
        ({"q": {"a": True}}, "user 'q', item 'a': the score True is no number"),
        ({"q": {"a": 0.5}, "r": ["a"]}, "user 'r' has a list without scores, other users have it"),
        ({"q": {"a": 0.5}, "r": 3}, "user 'r' has a int without scores, other users have"),
        ([hits_of({"a": 0.5}), [{"corpus_id": "b"}]], "user 1 has a list without scores"),
        ([[*hits_of({"a": 0.5}), {"id": "b"}]], r"user 0, hit 2 is .*'b'\}, without 'corpus_id'"),
        ([hits_of({"a": math.nan})], "ranks: user 0, item 'a': the score is NaN"),
        (hits_of({"a": math.nan}), "ranks: item 'a': the score is NaN"),
        ({"a": 0.5}, "user 'a': the ranked list is a float.*enter as {user: {item: score}}"),
        ({"q": [("a", 0.5)]}, r"'a', 0\.5\) is a tuple.*give \[item for item, _ in pairs\]"),
        ({"q": [{"id": "a", "text": ""}]}, r"\[one\[KEY\] for one in hits\].*'id', 'text'"),
    ],
)
def test_scores_that_are_refused(ranks, message):
    truths = {user: {"a"} for user in ranks} if isinstance(ranks, dict) else [{"a"}, {"a"}]
    if not isinstance(ranks, dict):
        truths = truths[: len(ranks)] if isinstance(ranks[0], list) else {"a"}
    with pytest.raises((TypeError, ValueError), match=message):
        tl.top_k_eval(ranks, truths, 3)


def test_ties_by_item_need_an_order():
    with pytest.raises(TypeError, match="user 'q', ties by item need ids that have an order.*'a'"):
        tl.match(tl.Ranks({"q": {"a": 1.0, 2: 0.5}}, ties="item"), {"q": {"a"}})


def test_sides_that_look_swapped():
    for run in ({"q": ["a", "b"]}, {"q": {"a": 0.25, "b": 1.0}}):
        with pytest.raises(TypeError, match="like grades.*swapped.*sorted"):
            tl.match({"q": {"a": 1, "b": 0}}, run)
    assert tl.match({"q": {"a": 2, "b": 1}}, {"q": {"b": 1.0}}).ranks.tolist() == [2]
    assert tl.match({"q": {"a": 2, "b": 1}}, {"q": {"b"}}).ranks.tolist() == [2]
    assert tl.match({"q": {"a": 2.5, "b": 1}}, {"q": ["b"]}).ranks.tolist() == [2]


def test_whole_numbers_may_be_scores_beside_grades_with_a_fraction():
    assert tl.match({"q": {"a": 3.0, "b": 2.0}}, {"q": {"a": 0.5, "b": 1}}).ranks.tolist() == [1, 2]
    run = {user: {"a": 3, "b": 2, "c": 1} for user in "pq"}
    for relevant in ({"a": 0.5}, ["a"]):
        assert len(tl.match(run, dict.fromkeys("pq", relevant)).ranks) == 2
    grades = {"p": {"a": 2, "b": 1, "c": 1}, "q": {"a": 2}}
    with pytest.raises(TypeError, match="like grades.*swapped"):
        tl.match(grades, {"p": {"a": 0.7, "b": 0.1}, "q": {"a": 0.5}})


def test_lists_by_position_beside_truths_by_query_say_what_to_write():
    ranks, truths = [["a"], ["b"]], {"q1": {"a"}, "q2": {"c"}}
    with pytest.raises(TypeError, match=r"dict\(zip\(USERS, ranks\)\) names the users"):
        tl.match(ranks, truths)
    with pytest.raises(TypeError, match=r"dict\(zip\(USERS, ground_truths\)\) names the users"):
        tl.match(truths and {"q1": ["a"]}, [{"a"}])
    assert tl.match(dict(zip(truths, ranks, strict=True)), truths).ranks.tolist() == [1]


IDS = [[7, 3, 9, 1], [2, 8, 4, 0], [5, 1, 4, 6]]
FALLING = [[4.0, 2.5, 2.5, -1.0], [0.5, 0.25, 0.25, 0.25], [3.0, 2.0, 1.0, -math.inf]]
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
    equal_results(make(IDS, FALLING), RELEVANT, (IDS, RELEVANT))
    assert tl.recall(make(IDS[0], FALLING[0]), {3}).tolist() == [0, 1, 1, 1]  # one user
    pairs = [make(*row) for row in zip(IDS, FALLING, strict=True)]
    equal_results(pairs, RELEVANT, (IDS, RELEVANT))
    users = ["ann", "bob", "eve"]
    keyed = [dict(zip(users, rows, strict=True)) for rows in (pairs, IDS, RELEVANT)]
    equal_results(keyed[0], keyed[2], keyed[1:])
    asked = {"metrics": ["ndcg", "gini"], "catalogue": 10}
    given, plain = (by_words(ranks, RELEVANT, 4, **asked) for ranks in (make(IDS, FALLING), IDS))
    assert list(given) == list(plain)


def test_two_lists_stay_two_users():
    two = [np.array([1, 2]), np.array([3, 4])]
    assert len(tl.match(two, [{1}, {3}])) == len(tl.match(tuple(two), [{1}, {3}])) == 2
    assert len(tl.match([[1, 2], [3, 4]], [{1}, {3}])) == 2
    assert len(tl.match([np.array([1, 2]), np.array([])], [{1}, {3}])) == 2


FILLED = np.array([[7, 3, 9], [2, -1, -1]]), np.array([[0.5, 0.25, 0.0], [0.1, -3.4e38, -3.4e38]])


def test_padding_of_a_pair():
    for options in ({}, {"metrics": ["gini"], "catalogue": 10}):
        with pytest.raises(ValueError, match=r"user 1, rank 2 has the id -1.*padding=-1 drops it"):
            by_words(FILLED, [{9}, {2}], 3, **options)
        found = by_words(FILLED, [{9}, {2}], 3, padding=-1, **options)
        assert list(found) == list(by_words([[7, 3, 9], [2]], [{9}, {2}], 3, **options))
    with pytest.raises(ValueError, match="padding=-1 drops it"):
        tl.beyond.gini(FILLED, 3, catalogue=10)
    expected = tl.beyond.gini([[7, 3, 9], [2]], 3, catalogue=10)
    assert np.array_equal(tl.beyond.gini(FILLED, 3, catalogue=10, padding=-1), expected)
    counts, lists = [1] * 10, [[7, 3, 9], [2]]
    found = tl.beyond.novelty(FILLED, counts=counts, k=3, padding=-1)
    assert np.array_equal(found, tl.beyond.novelty(lists, counts=counts, k=3))
    truths = [{9}, {2}]
    rising = FILLED[0], np.array([[0.5, 0.25, 0.0], [0.1, 3.4e38, math.nan]])  # as faiss fills
    assert same(tl.match(rising, truths, padding=-1), tl.match(lists, truths))
    for pair in (FILLED, rising):
        assert same(tl.match(pair, truths, 1), tl.match([[7], [2]], truths, 1))  # read to there


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((IDS, [[4.0, 2.5, 3.0, 1.0]] * 3), "user 0, the score rises .*2 to 3;.*0. of the pair"),
        ((IDS, [FALLING[0], [0.5, math.nan, 0.1, 0.0], FALLING[2]]), "user 1, item 8 .*2.*NaN"),
        (([[5], [6]], [[0.5], [math.nan]]), "user 1, item 6 at rank 1: the score is NaN"),
        ((IDS[0], [1.0, 2.0, 0.0, 0.0]), "best first: the score rises from 1 at rank 1 to 2"),
        ((IDS, [[1.0], [2.0], [3.0]]), r"int64 of \(3, 4\) and float64 of \(3, 1\): a pair"),
        ((IDS, IDS), "ranks is a pair of 2-D arrays, int64.*one of integers and one of floats"),
        ((FALLING, FALLING), "pair of 2-D arrays, float64.*give the array of ids alone"),
        (([IDS], [FALLING]), "pair of arrays of 3 dimensions"),
    ],
)
def test_pairs_that_are_refused(pair, message):
    ranks = tuple(map(np.array, pair))
    with pytest.raises((TypeError, ValueError), match=message):
        tl.top_k_eval(ranks, {3} if ranks[0].ndim == 1 else RELEVANT[: len(pair[0])], 4)


@pytest.mark.libraries
def test_implicit():
    library("implicit")
    from implicit.bpr import BayesianPersonalizedRanking
    from implicit.nearest_neighbours import CosineRecommender

    rng = np.random.default_rng(0)
    seen = library("scipy.sparse").csr_matrix((rng.random((8, 40)) < 0.2).astype(np.float32))
    held = rng.permuted(np.tile(np.arange(40), (8, 1)), axis=1)[:, :5]
    for model in (CosineRecommender(K=1), BayesianPersonalizedRanking(4, iterations=2)):
        model.fit(seen, show_progress=False)
        ranks = model.recommend(np.arange(8), seen, N=30)
        rows = [[item for item in row if item >= 0] for row in ranks[0].tolist()]
        expected = tl.top_k_eval(rows, held, 20)
        assert list(tl.top_k_eval(ranks, held, 20, padding=-1)) == list(expected)
        alone = model.recommend(0, seen[0], N=5)
        assert tl.recall(alone, held[0]).tolist() == tl.recall(alone[0], held[0]).tolist()
    filled = CosineRecommender(K=1)
    filled.fit(seen, show_progress=False)
    few = filled.recommend(np.arange(8), seen, N=39)
    assert -1 in few[0][:, -1]
    with pytest.raises(ValueError, match="which implicit and faiss.*padding=-1"):
        tl.top_k_eval(few, held, 39)


@pytest.mark.libraries
def test_torch_topk():
    torch = library("torch")
    scores = torch.rand((6, 50), generator=torch.Generator().manual_seed(3))
    truths = [{3, 5, 7}] * 6
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        found = scores.to(dtype).topk(10)
        assert type(found).__module__ == "torch.return_types"
        equal_results(found, truths, (found.indices.tolist(), truths))


@pytest.mark.libraries
def test_faiss():
    faiss = library("faiss")
    vectors = np.random.default_rng(1).random((20, 4), np.float32)
    truths = [{0, 1}] * 20
    for index in (faiss.IndexFlatIP(4), faiss.IndexFlatL2(4)):
        index.add(vectors)
        found = index.search(vectors, 25)  # (scores or distances, ids), of which -1 fills up
        expected = tl.top_k_eval(found[1][:, :20].tolist(), truths, 20)
        if isinstance(index, faiss.IndexFlatIP):
            assert list(tl.top_k_eval(found, truths, 20, padding=-1)) == list(expected)
        else:
            with pytest.raises(ValueError, match=r"give the ids alone, \[1\] of the pair"):
                tl.top_k_eval(found, truths, 20, padding=-1)
        assert list(tl.top_k_eval(found[1], truths, 20, padding=-1)) == list(expected)


@pytest.mark.libraries
def test_ranx():
    ranx = library("ranx")
    qrels = {query: row for query, row in TRUTHS.items() if query != "q3"}
    run = {query: row for query, row in RUN.items() if row}
    expected = {query: ids for query, ids in RANKED.items() if ids}, qrels
    equal_results(ranx.Run(run), ranx.Qrels(qrels), expected)
    equal_results(ranx.Run.from_dict(run), qrels, expected)
    equal_results(RANKED, ranx.Qrels.from_dict(qrels), (RANKED, qrels))
    series = library("pandas").Series(qrels)
    assert same(tl.match(ranx.Run(run), series), tl.match(*expected))
    found = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@3", make_comparable=True)
    ours = tl.top_k_eval(ranx.Run(run), ranx.Qrels(qrels), metrics="ndcg@3", convention="ranx")
    assert math.isclose(found, ours["ndcg@3"])


@pytest.mark.libraries
def test_ir_measures_and_pytrec_eval():
    pytrec_eval = library("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(TRUTHS, {"map", "recip_rank"})
    theirs = evaluator.evaluate(RUN)
    options = {"convention": "trec_eval", "ties": "item_desc", "metrics": ["map", "mrr"]}
    ours = by_words(RUN, TRUTHS, 10, **options)
    for query, row in theirs.items():
        place = ours.users.index(query)
        for name, metric in (("map", "map"), ("recip_rank", "mrr")):
            assert np.nan_to_num(ours.per_user(metric)[place][-1]) == pytest.approx(row[name])


def collections():
    """Return LensKit's collections of lists and truths, and the same as plain dicts."""
    data = library("lenskit.data")
    lists, truths = {5: [7, 3, 9], 2: [8], 3: [], 9: [1]}, {2: [8, 4], 5: [9], 3: [1], 6: [2]}
    ranks = {
        user: data.ItemList(ids, scores=np.linspace(1, 0, len(ids)), ordered=True)
        for user, ids in lists.items()
    }
    grades = {user: data.ItemList(ids, rating=[3.5] * len(ids)) for user, ids in truths.items()}
    make = data.ItemListCollection.from_dict
    return (make(ranks, "user_id"), make(grades, "user_id")), (lists, truths)


@pytest.mark.libraries
def test_lenskit():
    given, plain = collections()
    assert str(tl.audit.check(*given)) == str(tl.audit.check(*plain))
    equal_results(*given, plain)
    equal_results(given[0], plain[1], plain)
    equal_results(plain[0], given[1], plain)
    graded = {user: dict.fromkeys(items, 3.5) for user, items in plain[1].items()}
    columns = {"ground_truths": {"relevance": "rating"}}
    assert same(tl.match(*given, columns=columns), tl.match(plain[0], graded))
    both = [tl.beyond.item_coverage(lists, 2, catalogue=10) for lists in (given[0], plain[0])]
    assert np.array_equal(*both)


@pytest.mark.libraries
def test_lenskit_lists_without_an_order():
    data = library("lenskit.data")
    scored = data.ItemList(["a", "b", "c"], scores=[0.1, 0.9, 0.5])
    make = data.ItemListCollection.from_dict
    assert tl.match(make({"u": scored}, "user_id"), {"u": {"c"}}).ranks.tolist() == [2]
    with pytest.raises(TypeError, match=r"neither an order nor scores.*ordered=True"):
        tl.match(make({"u": data.ItemList(["a"])}, "user_id"), {"u": {"c"}})
    with pytest.raises(TypeError, match=r"ranks is an ItemList, .*give ranks\.ids\(\)"):
        tl.match(scored, {"c"})
    other = make({"u": scored}, "query_id")
    assert tl.match(other, {"u": {"c"}}).ranks.tolist() == [2]


LONG = {"user_id": [5, 5, 2, 5], "item_id": ["a", "b", "a", "c"], "rank": [2, 1, 1, 3]}
OF_LONG = {5: ["b", "a", "c"], 2: ["a"]}
LONG_TRUTHS = {5: {"c", "d"}, 2: {"a"}}


@pytest.mark.libraries
def test_hugging_face():
    datasets = library("datasets")
    ranks = datasets.Dataset.from_dict(LONG)
    truths = datasets.Dataset.from_dict({"user_id": [5, 2, 5], "item_id": ["c", "a", "d"]})
    expected = OF_LONG, {5: ["c", "d"], 2: ["a"]}
    equal_results(ranks, truths, expected)
    equal_results(ranks.shuffle(seed=1), truths, expected)
    equal_results(ranks.with_format("numpy").select([3, 1, 0, 2]), truths, expected)
    two = ranks.filter(lambda row: row["user_id"] == 5)  # its Arrow table has all rows
    assert tl.match(two, truths).n_listed.tolist() == [3, 0]
    lists = datasets.Dataset.from_dict({"user_id": [5, 2], "item_id": list(OF_LONG.values())})
    lists = lists.add_column("rank", [[1, 2, 3], [1]])
    equal_results(lists, truths, expected)
    assert tl.audit.check(ranks, truths).ok
    scored = datasets.Dataset.from_dict({"label": [0, 1], "prediction": [0.25, 0.5]})
    assert tl.pointwise.auc(scored) == 1.0
    with pytest.raises(TypeError, match=r"DatasetDict of 'train', 'test'.*ranks\[SPLIT\]"):
        tl.match(datasets.DatasetDict(train=ranks, test=ranks), truths)
    with pytest.raises(TypeError, match=r"IterableDataset.*from_list\(list\(ground_truths\)\)"):
        tl.match(ranks, truths.to_iterable_dataset())


def test_datasets_of_arrow(tmp_path):
    pyarrow = library("pyarrow")
    dataset, parquet = library("pyarrow.dataset"), library("pyarrow.parquet")
    table = pyarrow.table(LONG)
    for part in range(2):
        parquet.write_table(table.slice(2 * part, 2), tmp_path / f"{part}.parquet")
    ranks = dataset.dataset(tmp_path)
    truths = pyarrow.table({"user_id": [5, 2, 5], "item_id": ["c", "a", "d"]})
    expected = OF_LONG, {5: ["c", "d"], 2: ["a"]}
    equal_results(ranks, dataset.dataset(truths), expected)
    equal_results(ranks.scanner(), LONG_TRUTHS, (OF_LONG, LONG_TRUTHS))
    only = ranks.filter(dataset.field("user_id") == 5)
    assert tl.match(only, LONG_TRUTHS).n_listed.tolist() == [3, 0]
    split = tl.loo.holdout(ranks, ratio=0.5, by="random", seed=0)
    assert len(split.train) + len(split.test) == 4
    scored = dataset.dataset(pyarrow.table({"label": [0, 1], "prediction": [0.25, 0.5]}))
    assert tl.pointwise.auc(scored) == 1.0


class OfSpark:
    """Stands in for a frame of Spark: the module of its class, and the names that are looked at."""

    columns = ("user_id", "item_id")

    def collect(self):
        raise AssertionError("collects a cluster")

    toPandas = collect  # noqa: N815


OfSpark.__module__ = "pyspark.sql.dataframe"


@pytest.mark.parametrize("side", ["ranks", "ground_truths"])
def test_frames_of_a_cluster_name_the_way(side):
    sides = {"ranks": {1: [2]}, "ground_truths": {1: [2]}} | {side: OfSpark()}
    words = rf"{side} is a Spark .*toplist\.top_k_eval .*{side}\.toPandas\(\)"
    with pytest.raises(TypeError, match=words):
        by_words(k=3, **sides)


@pytest.mark.libraries
def test_real_frames_of_spark():
    sql = library("pyspark.sql")
    frame = object.__new__(sql.DataFrame)  # as one of a cluster, which is not asked
    with pytest.raises(TypeError, match=r"ranks is a Spark DataFrame.*ranks\.toPandas\(\)"):
        tl.match(frame, {1: [2]})


@pytest.mark.libraries
def test_modin():
    library("modin.config").Engine.put("Dask")
    library("dask.distributed")
    modin = library("modin.pandas")
    for value in (modin.DataFrame, modin.Series):
        frame = value.__new__(value)  # one without its workers
        with pytest.raises(TypeError, match=rf"Modin {value.__name__}.*ranks\.modin\.to_pandas"):
            tl.match(frame, {1: [2]})


def test_dask():
    dask, pandas = library("dask.dataframe"), library("pandas")
    frame = dask.from_pandas(pandas.DataFrame(LONG), npartitions=1)
    with pytest.raises(TypeError, match=r"Dask DataFrame.*give ground_truths\.compute\(\)"):
        tl.match(LONG_TRUTHS and OF_LONG, frame)
    equal_results(frame.compute(), LONG_TRUTHS, (OF_LONG, LONG_TRUTHS))


@pytest.mark.libraries
def test_sentence_transformers():
    torch, util = library("torch"), library("sentence_transformers.util")
    generator = torch.Generator().manual_seed(3)
    queries, corpus = (torch.randn((n, 8), generator=generator) for n in (7, 50))
    hits = util.semantic_search(queries, corpus, top_k=10)
    rows = [[hit["corpus_id"] for hit in row] for row in hits]
    relevant = [{query, query + 20} for query in range(7)]
    equal_results(hits, relevant, (rows, relevant))
    names = [f"q{query}" for query in range(7)]
    keyed = [dict(zip(names, side, strict=True)) for side in (hits, relevant, rows)]
    equal_results(keyed[0], keyed[1], (keyed[2], keyed[1]))


@pytest.mark.libraries
def test_predictions_of_surprise():
    library("surprise")
    from surprise import accuracy
    from surprise.prediction_algorithms.predictions import Prediction

    rng, pointwise = np.random.default_rng(2), tl.pointwise
    labels, predictions = rng.integers(0, 2, 60), rng.integers(0, 9, 60) / 8
    users = [f"u{user}" for user in rng.integers(0, 6, 60)]
    rows = zip(users, labels.tolist(), predictions.tolist(), strict=True)
    given = [Prediction(u, "i", float(r), e, {}) for u, r, e in rows]
    for metric in (pointwise.mae, pointwise.rmse, pointwise.auc, pointwise.log_loss):
        assert metric(given) == metric(labels, predictions)
    assert pointwise.gauc(given) == pointwise.gauc(users, labels, predictions)
    assert pointwise.rmse(given) == pytest.approx(accuracy.rmse(given, verbose=False), rel=1e-14)
    with pytest.raises(TypeError, match="ratings and estimates: give them alone"):
        pointwise.mae(given, predictions)
    unrated = given[0]._replace(r_ui=None)
    with pytest.raises(ValueError, match="user 'u.*', item 'i' has no rating, r_ui is None"):
        pointwise.mae([given[1], unrated])


def test_predictions_like_those_of_surprise():
    """Without Surprise: a tuple with its fields."""
    from collections import namedtuple

    Prediction = namedtuple("Prediction", ["uid", "iid", "r_ui", "est", "details"])
    given = [Prediction("a", "x", 4.0, 3.5, {}), Prediction("a", "y", 1.0, 2.5, {})]
    assert tl.pointwise.mae(given) == tl.pointwise.mae([4.0, 1.0], [3.5, 2.5]) == 1.0
    with pytest.raises(ValueError, match="labels are 0 or 1; of ratings, compare first"):
        tl.pointwise.auc(given)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_score_that_is_nan_or_null_is_found(name):
    rows = {"user_id": ["u", "v", "v"], "item_id": ["a", "b", "c"]}
    named = "user 'v' has a score that is NaN, of item 'c'|must hold numbers.*null in row 2"
    table = frame_of(name, rows | {"score": [0.5, 0.25, math.nan]})
    for ties in ("order", "item_desc"):
        with pytest.raises((TypeError, ValueError), match=named):
            tl.match(tl.Ranks(table, ties=ties), {"v": {"c"}})
    with pytest.raises(TypeError, match="'score' must hold numbers, and no nulls.*null in row 1"):
        tl.match(frame_of(name, rows | {"score": [0.5, None, 0.25]}), {"v": {"c"}})
    with pytest.raises(TypeError, match="'relevance' must hold numbers.*, null in row 0"):
        tl.match({"v": ["c"]}, frame_of(name, rows | {"relevance": [None, 1.0, 2.0]}))


def test_keys_of_one_kind_are_not_called_two():
    for ranked, truth in (("a", "b"), (np.int64(1), 2), (np.str_("a"), "b"), (1, 2)):
        with pytest.raises(ValueError, match="no user is in both") as caught:
            tl.match({ranked: [1]}, {truth: [1]})
        assert "two keys" not in str(caught.value)
    with pytest.raises(ValueError, match=r"\(a number and its text are two keys\)"):
        tl.match({1: [1]}, {"1": [1]})


def test_ranks_with_gaps_have_a_way_out():
    pandas = library("pandas")
    frame = pandas.DataFrame({"user_id": 1, "item_id": [5, 6, 7], "rank": [4, 1, 3]})
    with pytest.raises(ValueError, match="ranks 1, 3, 4 where 1 to 3 belong.*score = -rank") as one:
        tl.match(frame, {1: [6]})
    line = str(one.value).rpartition(", ")[2].replace("frame['rank']", 'frame["rank"]')
    assert line == "frame.assign(score=-frame[\"rank\"]).drop(columns='rank')"
    mended = frame.assign(score=-frame["rank"]).drop(columns="rank")
    assert same(tl.match(mended, {1: [7]}), tl.match({1: [6, 7, 5]}, {1: [7]}))
    with pytest.raises(ValueError, match="each once$"):
        tl.match(frame.assign(rank=[1, 1, 2]), {1: [6]})
    with pytest.raises(ValueError, match="ranks start at 1$"):
        tl.match(frame.assign(rank=[0, 1, 2]), {1: [6]})


def test_audit_takes_what_match_takes():
    pandas = library("pandas")
    truths = {"q1": ["a", "b"], "q2": ["x"]}
    expected = tl.audit.check(RANKED, truths, k=2)
    for ranks in (RUN, KEYED["hits"](RUN), pandas.Series(RUN), pandas.Series(RANKED)):
        for truth in (truths, pandas.Series(truths)):
            assert str(tl.audit.check(ranks, truth, k=2)) == str(expected)
    pair = np.array(IDS), np.array(FALLING)
    assert str(tl.audit.check(pair, RELEVANT)) == str(tl.audit.check(IDS, RELEVANT))
    assert str(tl.audit.check(IDS, csr(RELEVANT))) == str(tl.audit.check(IDS, RELEVANT))
