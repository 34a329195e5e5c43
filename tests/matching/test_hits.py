"""Hits: made by hand and joined, what they hold, merged and shipped; fingerprints of truths."""

import itertools
import math
import pickle

import numpy as np
import pytest
from collisions import CHOSEN
from doors import by_words, match_by_words
from shared_inputs import csv_of, frame_of, said
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import Hits, match, top_k_eval
from toplist.inputs import Lists

# By hand


def test_hits_by_hand_are_those_of_the_join():
    hits, joined = Hits([0, 3, 5], [1, 2, 5, 1, 3], [3, 4], [5, 5]), match(RANKS, TRUTHS)
    assert repr(hits) == repr(joined) == "Hits(2 users, 5 hits, lists read to k=5)"
    assert top_k_eval(hits, k=3).to_dict() == top_k_eval(joined, k=3).to_dict() and len(hits) == 2
    keyed = Hits([0, 1, 1], [2], [1, 1], [2, 0], k=4, users=np.array(["ann", "bob"]))
    result = top_k_eval(keyed.of_part(n_extra=3), k=4, metrics="mrr")
    assert list(result.users) == ["ann", "bob"]
    assert (result["mrr@4"], result.n_missing, result.n_extra) == (0.25, 1, 3)
    said("user 'bob' has no ranked list", by_words, keyed, k=4, missing="raise")
    graded = Hits([0, 1], [2], [2], [2], grades=[1], truth_grades=[3, 1])
    assert tl.curves("cg", graded).tolist() == [[0.0, 1.0]]
    assert tl.ndcg(graded)[0, 1] == pytest.approx(1 / math.log2(3) / (3 + 1 / math.log2(3)))
    far = 2**32 + 1  # ranks do not wrap around
    for one in (Hits([0, 1], [far], [1], [2 * far]), Hits.from_ranks([far], 2 * far)):
        assert tl.hit(one, k=1).tolist() == [[0.0]]


# Judged items

GRADED = {"a": 1, "b": 3, "c": 2}


def test_hits_are_of_all_judged_items():
    ranks, truths = [["a", "b", "c"], ["z", "y"]], [GRADED | {"d": -1}, {"y": 1}]
    hits = match(ranks, truths, relevant_from=2)
    assert hits.ranks.tolist() == [1, 2, 3, 2] and hits.n_truth.tolist() == [4, 1]
    assert hits.grades.tolist() == [1, 3, 2, 1] and hits.truth_grades.tolist() == [3, 2, 1, -1, 1]
    assert hits.relevant.ranks.tolist() == [2, 3] and hits.n_relevant.tolist() == [2, 0]
    assert hits.relevant.gains.tolist() == [3, 2] and hits.relevant.ideal_gains.tolist() == [3, 2]
    judged = hits.judged
    assert judged.ranks.tolist() == [1, 2, 3, 2] and judged.n_relevant.tolist() == [3, 1]
    assert hits.every_judged.n_relevant.tolist() == [4, 1]
    assert hits.from_grade(3).ranks.tolist() == [2] and not hits.from_grade(3).n_relevant[1]
    powers = match_by_words(ranks, truths, relevant_from=2, gains="exponential").judged
    assert powers.gains.tolist() == [1, 7, 3, 1]
    for least, truth in itertools.product([None, 0, 1], [GRADED, {"a": 1, "b": 1}]):
        hits = match([["a", "b", "c"]], [truth], relevant_from=least)  # where all is relevant
        assert hits.judged is hits.relevant and hits.every_judged is hits.relevant
        assert np.shares_memory(hits.relevant.ranks, hits.ranks)
        assert (hits.grades is None) == (truth is not GRADED)
    for seed in range(5):
        grades = np.random.default_rng(seed).choice([-2.5, -1, -0.0, 0, 0.5, 3], 40).tolist()
        hits = match([list(range(40))], [dict(enumerate(grades))])
        assert hits.truth_grades.tolist() == sorted(grades, reverse=True)


def test_judged_hits_of_tables_go_along():
    columns = {"user_id": [*"uuuv"], "item_id": [*"abca"], "relevance": [1, 3, 2, 5]}
    table, ranks = frame_of("pandas", columns), {"u": ["a", "b", "c"], "v": ["b", "a"]}
    hits = match(ranks, table, relevant_from=2)
    assert hits.users == ["u", "v"] and hits.judged.ranks.tolist() == [1, 2, 3, 2]
    assert pickle.loads(pickle.dumps(hits)).judged.ranks.tolist() == [1, 2, 3, 2]
    assert hits.subset([1, 0]).judged.ranks.tolist() == [2, 1, 2, 3]
    for mask in ([True, True], [False, True], [False, False]):
        assert hits.subset(mask).users == list(itertools.compress("uv", mask))
    all_relevant = match({"w": ["x"]}, {"w": {"x": 4}}, 3, relevant_from=2)
    deep = match(ranks, table, 3, relevant_from=2).of_part(n_extra=1)
    for both in (deep + all_relevant, all_relevant + deep):
        assert sorted(both.users) == ["u", "v", "w"] and len(both.judged.ranks) == 5
        assert len(both.relevant.ranks) == 4 and both.about.n_extra == 1


# Where nothing is found

SPELLING = [
    *(("1172.0", "1172", "a trailing .0"), ("1172", "1172.0", "a trailing .0")),
    *((" tt7", "tt7", "blanks"), ("TT7", "tt7", "upper and lower case")),
    *(("007", "7", "leading zeros"), ("xyz", "abc", "")),
    ("caf\u00e9", "cafe\u0301", "two Unicode forms (NFC, NFD)"),
]


@pytest.mark.parametrize(("listed", "relevant", "cause"), SPELLING)
def test_examples_of_ids_that_differ_in_spelling(listed, relevant, cause, tmp_path):
    ranks, truths = [["p", "q"], ["r", listed]], [["s", "t"], ["u", relevant]]
    keyed = dict(zip("vw", ranks, strict=True)), dict(zip("vw", truths, strict=True))
    for hits in (match(ranks, truths), match(*keyed)):
        assert hits.about.unmatched == (*((listed, relevant) if cause else ("p", "s")), cause)
    table = frame_of("pandas", {"user_id": ["w"], "item_id": [listed], "rank": [1]})
    assert match(table, {"w": {relevant}}).about.unmatched.cause == cause
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", f"ann,{listed},1")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", f"ann,{relevant}")
    for keep in (None, "users"):
        text = repr(top_k_eval(recs, truth, k=1, metrics="hit", keep=keep))
        assert f"NO HIT AT ALL: the lists hold items such as '{listed}', the ground" in text
        assert not cause or f"likely cause: {cause}" in text


def test_where_no_item_is_relevant_the_ids_are_not_to_blame():
    for options in ({}, {"relevant_from": 2}):
        text = repr(
            top_k_eval([["a"]], [{"a": bool(options)}], k=1, convention="trec_eval", **options)
        )
        assert "NO ITEM IS RELEVANT" in text and "NO HIT" not in text


# Fingerprints of ground truths: the same for the same truths, in every form and process

LISTS, RELEVANT, KEYS = [[1, 2], [3, 4], [5, 6]], [[1, 7, -3], [4], [9, 2**62]], ["a", "b", "c"]


def print_of(ranks, truths, **options):
    return match_by_words(ranks, truths, **options).about.fingerprints


def test_fingerprints_do_not_depend_on_order_or_form():
    (one,) = print_of(LISTS, RELEVANT)
    assert one.n_users == 3 and one.varied and one.total > 0
    for other in (
        [set(row) for row in RELEVANT],
        [row[::-1] for row in RELEVANT],
        [row + row for row in RELEVANT],  # an id counts once
        [dict.fromkeys(row, 1.0) for row in RELEVANT],
        Lists([0, 3, 4, 6], [1, 7, -3, 4, 9, 2**62]),
        [RELEVANT[1], RELEVANT[2], RELEVANT[0]],
    ):
        assert print_of(LISTS, other) == (one,)
    assert print_of([[9], [8], [7]], RELEVANT) == (one,)  # whatever was recommended
    for other in ([[1, 7], [4, -3], [9, 2**62]], [[1, 7, -3], [4], [9]], [[4], [4], [4]]):
        assert print_of(LISTS, other) != (one,)
    keyed = (dict(zip(KEYS, side, strict=True)) for side in (LISTS, RELEVANT))
    assert print_of(LISTS, RELEVANT, users=KEYS) == print_of(*keyed) != (one,)
    a, b = (match({user: [1]}, {user: {1}}).about.fingerprints for user in ("ann", "bob"))
    assert a != b and a[0].varied and print_of({1: [1]}, {1: {1}}) != print_of({2: [1]}, {2: {1}})
    graded = [{1: 3, 2: 1}, {3: 1}]
    assert print_of(LISTS[:2], graded) != print_of(LISTS[:2], [{1: 1, 2: 3}, {3: 1}])
    assert print_of(LISTS[:2], graded) == print_of(LISTS[:2], [{2: 1, 1: 3}, {3: 1}])
    assert print_of([[1], [2]], [{1: 2}, {2: 1}]) != print_of([[1], [2]], [{1: 1}, {2: 2}])
    assert print_of([[1], [2]], [{1: 1}, {2: 1}]) == print_of([[1], [2]], [1, 2])


def test_fingerprints_of_text_are_the_same_in_every_form():
    truths, ranks = {"u": ["é", "b", "a\0c"], "v": ["a" * 20]}, {"u": ["b"], "v": ["c"]}
    (one,) = print_of(ranks, truths)
    pairs = [(user, item) for user, row in truths.items() for item in row]
    columns = dict(zip(("user_id", "item_id"), map(list, zip(*pairs, strict=True)), strict=True))
    category = frame_of("pandas", columns).astype({"item_id": "category"})
    tables = *(frame_of(name, columns) for name in ("pandas", "polars", "pyarrow")), category
    for truth in (truths, {u: dict.fromkeys(row, 1) for u, row in truths.items()}, *tables):
        assert print_of(ranks, truth) == (one,)
    top = 2**63 - 1
    big = print_of([[1]], [{top, -5}])
    assert big == print_of([[top]], [[-5, top]]) != print_of([[1]], [{top - 1, -5}])
    assert print_of([[b"a"]], [{b"x"}]) == print_of([[b"b"]], [[b"x"]])


GOLDEN = [  # saved results hold them, from another process, or another year
    ([["17", "a longer name"]], 6748012423935996646),
    ([[17, -1]], 10295067365067489463),
    ([[b"17"]], 12314823973746127362),
    ([{"a": 2.0, "b": 0.5}], 8569978004928234632),
    ({"ü": ["a", "a\0c"]}, 7421464465858686323),
]


@pytest.mark.parametrize(("truths", "total"), GOLDEN)
def test_fingerprints_stay_what_they_are(truths, total):
    lists = {"ü": ["a"]} if isinstance(truths, dict) else [[*truths[0]][:1]]
    assert print_of(lists, truths)[0].total == total


@pytest.mark.parametrize("n", [3, 60, 70, 5000])
def test_fingerprints_of_long_truths_and_repeats(n):
    items = np.random.default_rng(n).integers(-(2**63), 2**63 - 1, n)
    ranks = [items.tolist(), [1]]
    expected = print_of(ranks, [items, [3, 4]])
    assert print_of(ranks, [np.concatenate([items, items[::2]]), [4, 3]]) == expected
    assert print_of(ranks, [items[1:], [3, 4]]) != expected
    colliding = CHOSEN[:n].tolist()
    assert print_of(ranks, [colliding, [1]]) == print_of(ranks, [colliding[::-1] * 2, [1]])


def test_parts_over_the_same_users_do_not_merge(tmp_path):
    part, truths = match(LISTS, RELEVANT), [{1}, {4}, {8}]
    said("both parts have the same ground truths", lambda: part + match(LISTS[::-1], RELEVANT))
    assert len(part.merged(part, disjoint=True)) == 6
    both = part + match(LISTS, truths)
    assert both.about.fingerprints == (*part.about.fingerprints, *print_of(LISTS, truths))
    assert pickle.loads(pickle.dumps(both)).about.fingerprints == both.about.fingerprints
    said("same ground truths", lambda: both + part)
    single = match([[1]], [{1}])
    assert len(single + single) == 2  # cannot be told from another user
    parts = [top_k_eval([[1, 2]], [{item}], k=2) for item in (1, 2, 1, 2)]
    assert sum(parts).n_users == 4
    ranks, truths = np.arange(100, 300).reshape(100, 2), np.arange(200).reshape(100, 2)

    def in_batches(*cuts):
        bounds = itertools.pairwise([0, *cuts, 100])
        return [top_k_eval(ranks[lo:hi], truths[lo:hi], k=2) for lo, hi in bounds]

    first, second = in_batches(50), in_batches(30, 60)
    for parts in ([*first, *second], [tl.merge(first), tl.merge(second)]):
        for add in (tl.merge, sum):
            said("the same ground truths (100 users)", add, parts)
        assert tl.merge(parts, disjoint=True).n_users == 200
    assert tl.merge([*first, *second[:-1]]).n_users == 160  # not all of them: nothing is known
    head = "user_id,item_id,rank"
    recs = [csv_of(tmp_path / f"{i}.csv", head, f"ann,{i},1", "bob,b,1") for i in "ab"]
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "ann,a", "bob,c")
    one, two = (top_k_eval(path, truth, k=1) for path in recs)
    said("the same users", lambda: one + two)  # results of files have no users, but know truths
    assert tl.merge([one, two], disjoint=True).n_users == 4
    assert "merged by position" not in repr(one)
