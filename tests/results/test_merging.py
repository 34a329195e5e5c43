"""Results as values: which are equal to the last bit, which merge, and what is left without users.

That merged parts are the whole, under all options, is said by properties.
"""

import dataclasses
import pickle
import re
from functools import reduce
from operator import add

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist import Metric, top_k_eval
from toplist.comparing.samples import moments_of
from toplist.stats.systems import SystemRef

RANKS, TRUTHS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10], [1]], [{7, 3, 5}, {4, 2, 8, 7}, set()]
SPREAD = ["hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "f1", "rbp(p=0.5)"]


def evaluated(ranks=RANKS, truths=TRUTHS, k=3, **options):
    return by_words(ranks, truths, k, **options)


# Equality


def hits(some):
    return evaluated(RANKS[some], TRUTHS[some], metrics="hit")


def of_lists(first=5):
    lists, known = [[first, 7], [4, 6]], {"metrics": ["hit", "item_coverage"], "catalogue": 10}
    return evaluated(lists, [{9}, {9}], 2, **known)


def compared(**options):
    return tl.compare({"a": evaluated(), "b": evaluated(k=[1, 3])}, **options)


def moved():
    """Return a result whose spread is another in the last bit."""
    result = evaluated()
    spreads = result.histograms.spreads.copy()
    spreads[0] = np.nextafter(spreads[0], 9)
    histograms = dataclasses.replace(result.histograms, spreads=spreads)
    return dataclasses.replace(result, histograms=histograms)


EQUAL = [
    (evaluated(), evaluated(RANKS[::-1], TRUTHS[::-1])),  # the order of users is no part of it
    (evaluated([], []), evaluated([], [])),  # whose means are NaN
    (evaluated([[1]], [{1}]), evaluated([[1]], [{1}])),  # whose spread is
    (of_lists(), of_lists(3)),  # as many items
    (compared(), compared()),
    (compared(), pickle.loads(pickle.dumps(compared()))),
    (evaluated().by([1, 2, 2]), evaluated().by([1, 2, 2])),
    (tl.compare({"a": [evaluated()] * 2}), tl.compare({"a": [evaluated()] * 2})),
    (sum(hits(slice(i, i + 1)) for i in (0, 1, 2)), hits(slice(3))),
]
OTHER = [
    (evaluated(metrics="hit"), evaluated([[9, 5, 8], *RANKS[1:]], metrics="hit")),
    (evaluated(), moved()),
    (evaluated(), dataclasses.replace(evaluated(), n_extra=1)),
    (evaluated(), dataclasses.replace(evaluated(), graded=True)),
    (evaluated(), evaluated(gains="exponential")),
    (evaluated(), evaluated().to_dict()),
    (evaluated(), 3),
    (of_lists(), of_lists(4)),
    (of_lists(), evaluated(metrics="hit")),
    (compared(), compared(baseline="a")),
    (compared(), tl.compare({"b": evaluated(k=[1, 3]), "a": evaluated()})),
    (evaluated().by([1, 2, 2]), evaluated().by([1, 1, 1])),
    (tl.compare({"a": [evaluated()] * 2}), tl.compare({"a": evaluated()})),
]


def test_equal_is_what_is_equal_to_the_last_bit():
    assert not [pair for pair in EQUAL if pair[0] != pair[1]]
    assert not [pair for pair in OTHER if pair[0] == pair[1]]
    for one in (evaluated(), compared(), evaluated().by([1, 1, 1])):
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)


# Merging


def seed(*items, truths=({1}, {2}, {3})):
    """Return a result by position: three users, and the one item that each was given."""
    return top_k_eval([[item] for item in items], truths, k=1, metrics="hit")


def of_user(user, **options):
    return by_words({user: [1, 2]}, {user: {2: 1}}, **{"k": 3, "metrics": ["mrr", "map"]} | options)


OWN = [Metric("mine", "each", "1", divisor) for divisor in ("k", "R")]
BATCHES = [seed(1, 2, 9, truths=[{i}, {2}, {3}]) for i in range(20, 30)]
KEYED = [of_user(user) for user in "ab"]
BY_POSITION = top_k_eval([[1]], [{1}], 3, metrics=["mrr", "map"])
SAME_USERS = r"the same users.*merge\(\.\.\., disjoint=True\)"
DIFFERENT = {
    "metrics": (["mrr", "hit"], r"one has mrr@3, map@3, the other mrr@3, hit@3"),
    "k": ([1, 3], r"one has mrr@3, map@3, the other mrr@1, mrr@3, map@1, map@3"),
    "convention": ("neurec", r"convention is 'standard' in one and 'neurec' in the other"),
    "empty": ("zero", r"empty is 'skip' in one and 'zero' in the other"),
    "missing": ("skip", r"missing is 'zero' in one and 'skip' in the other"),
    "gains": ("exponential", r"gains is 'linear' in one and 'exponential'"),
    "aggregate": ("pooled", r"pooled .*'mrr', 'map'"),
    "weights": ([1], r"weighted is False in one and True in the other"),
    "relevant_from": (1, r"relevant_from is None in one and 1"),
    "ties": ("item", "ties is 'order' in one and 'item' in the other"),
}
FIRST, COLLAPSE = {"duplicates": "first"}, {"duplicates": "collapse"}
DOCUMENTS = {"items_as": {1: 5, 2: 2}}
# options that leave no other trace; what "raise" lets pass goes with any
UNLIKE = [
    ([FIRST, COLLAPSE], "cannot merge: duplicates is 'first' in one and 'collapse' in another"),
    ([{}, FIRST, COLLAPSE], "duplicates is"),
    ([DOCUMENTS, {}], "items_as is None in one and '2 chunks"),
    ([DOCUMENTS, {"items_as": {1: 6, 2: 2}}], "items_as is '2 chunks"),
    ([DOCUMENTS | FIRST, DOCUMENTS], "duplicates is 'first'"),
]
# (parts, keywords, error, words)
UNMERGED = [
    *(
        ([of_user("a"), of_user("b", **{name: value})], {}, ValueError, f"cannot merge: {words}")
        for name, (value, words) in DIFFERENT.items()
    ),
    *(
        ([of_user(user, **how) for user, how in zip("abc", hows, strict=False)], {}, ValueError, w)
        for hows, w in UNLIKE
    ),
    ([of_user("a"), of_user("b", k=2)], {}, ValueError, "map@3, the other mrr@2, map@2"),
    ([of_user(u, metrics=[m]) for u, m in zip("ab", OWN, strict=True)], {}, ValueError, "mine is"),
    ([KEYED[0], KEYED[0]], {}, ValueError, "user 'a' is in both parts"),
    ([*KEYED, KEYED[0]], {"disjoint": True}, ValueError, "user 'a' is in both parts"),
    ([KEYED[0], BY_POSITION], {}, ValueError, "by key, the other by position"),
    ([seed(1, 2, 9)] * 5, {}, ValueError, SAME_USERS),
    ([seed(1, 2, 9).without_users()] * 2, {}, ValueError, SAME_USERS),
    ([seed(1, 2, 9), *BATCHES, seed(1, 2, 9)], {}, ValueError, SAME_USERS),  # far apart
    ([], {}, ValueError, "merge: there is no part"),
    ([1], {}, TypeError, "merge takes results of top_k_eval, not int"),
    ([*KEYED, [{1}]], {}, TypeError, "not list; beside parts, ground truths keyed by user"),
    ({"a": KEYED[0]}, {}, TypeError, "merge takes results of top_k_eval, not str"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "how", "error", "words"), UNMERGED)
def test_what_does_not_merge(parts, how, error, words):
    with pytest.raises(error, match=words) as caught:
        tl.merge(parts, **how)
    said = re.search("one has (.*), the other (.*)", str(caught.value))
    assert said is None or said[1] != said[2]
    if error is ValueError and parts and not how:
        with pytest.raises(ValueError, match=words):
            reduce(add, parts)
    for other in (3, None, "mrr", {"mrr@3": 0.5}, tl.match(RANKS, TRUTHS)):
        with pytest.raises(TypeError, match="unsupported operand"):
            KEYED[0] + other


def test_parts_by_position_merge_and_the_account_says_how():
    merged = tl.merge(BATCHES[:3])
    assert repr(merged).endswith("9 of 9 users evaluated, merged by position from 3 parts")
    assert len(set(merged.fingerprints)) == 3 and repr(sum(BATCHES[:3])) == repr(merged)
    seeds = tl.merge([seed(1, 2, 9)] * 5, disjoint=True)
    assert (seeds.n_users, seeds["hit@1"]) == (15, pytest.approx(10 / 15))
    assert "merged" not in repr(tl.merge(KEYED))
    single = [top_k_eval([[1]], [{1}], k=1, metrics="hit")] * 2
    assert tl.merge(single).n_users == 2  # two users who chose the same popular item
    assert tl.merge(*KEYED) == tl.merge(iter(KEYED)) == sum(KEYED)
    nobody = top_k_eval({}, {}, 3, metrics=["mrr", "map"])
    for found in (KEYED[0] + nobody, nobody + KEYED[0], of_user("a")):  # parts are left alone
        assert found.to_dict() == KEYED[0].to_dict()


@pytest.mark.parametrize("hows", [[{}, FIRST], [FIRST, {}, FIRST], [COLLAPSE, {}]])
def test_parts_without_copies_merge_with_those_that_may_have_some(hows):
    word = next(how["duplicates"] for how in hows if how)
    parts = [of_user(user, **how) for user, how in zip("abc", hows, strict=False)]
    assert tl.merge(parts).terms.made_by == {"duplicates": word} == sum(parts).terms.made_by
    assert tl.merge(parts) == sum(of_user(user, duplicates=word) for user in "abc"[: len(hows)])


def part(rows, seed):
    rng = np.random.default_rng(seed)
    lists = rng.permuted(np.tile(np.arange(60), (rows, 1)), axis=1)[:, :15]
    truths = [set(rng.choice(60, rng.integers(1, 9), replace=False).tolist()) for _ in range(rows)]
    users = [f"{seed}-{row}" for row in range(rows)]
    return tl.top_k_eval(tl.Ranks(lists, users=users), truths, 15, metrics=SPREAD)


def test_rows_beyond_64_bits_are_told_apart():
    one = part(5, 1).without_users()
    far = one.histograms
    huge = np.full_like(far.n_relevant, 2**61) + np.arange(len(far.n_relevant))
    both = dataclasses.replace(one, histograms=dataclasses.replace(far, n_relevant=huge))
    merged = tl.merge([both, both], disjoint=True)
    assert merged.histograms.n_relevant.tolist() == huge.tolist()
    assert merged.n_evaluated == 2 * one.n_evaluated


# Without users


@pytest.mark.parametrize(
    ("ask", "so", "on_spark"),
    [
        (lambda one: one.per_user("hit@1"), "no values per user", "collect the DataFrames"),
        (lambda one: one.by({0: "new"}), "it cannot be split", "evaluate the truth of every seg"),
    ],
)
def test_what_to_do_without_hits_is_said_for_each_origin(ask, so, on_spark):
    """Those who hold results of Spark or counts of ranks have no files to keep hits of."""
    for bare in (tl.loo.from_rank_counts({1: 2, None: 1}, 1), part(30, 3).without_users()):
        with pytest.raises(ValueError, match=f"holds no hits, so .*{so}") as caught:
            ask(bare)
        words = str(caught.value)
        assert "; of files and streams, keep='users' keeps them" in words
        assert f"; of Spark, {on_spark}" in words
    systems = {name: top_k_eval([[1], [2], [i]], [{1}, {2}, {2}], 1) for i, name in enumerate("ab")}
    paired = SystemRef(moments_of(systems), "a")
    of_spark = dataclasses.replace(systems["a"].without_users(), paired=paired)
    with pytest.raises(ValueError, match=f"^this result of Spark holds .*{so}: {on_spark}"):
        ask(of_spark)
