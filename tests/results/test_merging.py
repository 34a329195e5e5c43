"""Results over different users merge; those over the same users, or of other terms, are refused."""

import re

import numpy as np
import pytest
from doors import by_words
from systems import RANKS, TRUTHS, people

import toplist as tl
from toplist import Metric, match, top_k_eval


def test_merged_users_and_counts():
    ranks, truths = {"x": [1], "extra": [1]}, {"x": {1}, "lost": {2}, "blank": set()}
    one = people("a")
    merged = one + top_k_eval(ranks, truths, k=3, metrics=["mrr", "map"])
    assert repr(one) == repr(people("a"))  # the parts are left alone
    assert list(merged.users) == ["a1", "a2", "x", "lost", "blank"]
    assert (merged.n_users, merged.n_evaluated, merged.n_extra, merged.n_missing) == (5, 4, 1, 1)
    assert merged.per_user("mrr@3")[:4].tolist() == [0.5, 1.0, 1.0, 0.0]


def test_merging_with_nobody():
    nobody = top_k_eval({}, {}, k=3, metrics=["mrr", "map"])
    for merged in (people("a") + nobody, nobody + people("a")):
        assert merged.to_dict() == people("a").to_dict()
        assert merged.std("map@3") == pytest.approx(people("a").std("map@3"))


DIFFERENT = [
    ({"metrics": ["mrr", "hit"]}, r"one has mrr@3, map@3, the other mrr@3, hit@3"),
    ({"metrics": ["map", "mrr"]}, r"one has mrr@3, map@3, the other map@3, mrr@3"),
    ({"metrics": ["mrr"]}, r"one has mrr@3, map@3, the other mrr@3$"),
    ({"k": 2}, r"one has mrr@3, map@3, the other mrr@2, map@2"),
    ({"k": [1, 3]}, r"one has mrr@3, map@3, the other mrr@1, mrr@3, map@1, map@3"),
    ({"convention": "neurec"}, r"convention is 'standard' in one and 'neurec' in the other"),
    ({"empty": "zero"}, r"empty is 'skip' in one and 'zero' in the other"),
    ({"missing": "skip"}, r"missing is 'zero' in one and 'skip' in the other"),
    ({"gains": "exponential"}, r"gains is 'linear' in one and 'exponential'"),
    ({"aggregate": "pooled"}, r"pooled .*'mrr', 'map'"),
    ({"weights": [1, 2]}, r"weighted is False in one and True in the other"),
]


@pytest.mark.parametrize(("options", "message"), DIFFERENT, ids=lambda value: str(value)[:30])
def test_different_results_do_not_merge(options, message):
    with pytest.raises(ValueError, match=f"cannot merge: {message}"):
        people("a") + people("b", **options)


def test_different_thresholds_do_not_merge():
    one, other = (
        top_k_eval({user: [1]}, {user: {1: 1}}, k=1, relevant_from=least)
        for user, least in (("a", None), ("b", 1))
    )
    with pytest.raises(ValueError, match=r"cannot merge: relevant_from is None in one and 1"):
        one + other


def test_the_message_says_what_differs():
    own = [Metric("mine", "each", "1", divisor) for divisor in ("k", "R")]
    pairs = (
        [people("a", metrics=[metric]) for metric in own],
        [people("a", k=3), people("b", k=[3])],
    )
    for one, other in pairs:
        with pytest.raises(ValueError, match="cannot merge") as caught:
            one + other
        said = re.search("one has (.*), the other (.*)", str(caught.value))
        assert said is None or said[1] != said[2]


def test_a_user_counts_once():
    with pytest.raises(ValueError, match=r"user 'a1' is in both parts"):
        people("a") + people("a")
    extra = top_k_eval({"z": [1], "a2": [1]}, {"z": {1}, "a2": {1}}, k=3, metrics=["mrr", "map"])
    with pytest.raises(ValueError, match=r"user 'a2' is in both parts"):
        people("a") + extra


def test_by_key_and_by_position_do_not_merge():
    by_position = top_k_eval([[1]], [{1}], k=3, metrics=["mrr", "map"])
    for one, other in ((people("a"), by_position), (by_position, people("a"))):
        with pytest.raises(ValueError, match="by key, the other by position"):
            one + other


@pytest.mark.parametrize("other", [3, None, "mrr", {"mrr@3": 0.5}, match(RANKS, TRUTHS)])
def test_only_results_merge(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        people("a") + other


def test_merge_takes_several_results_and_no_flag_by_place():
    parts = [tl.top_k_eval({u: [1, 2]}, {u: {2 - u % 2}}, 2, metrics="mrr") for u in range(3)]
    assert tl.merge(*parts) == tl.merge(parts) == sum(parts[1:], parts[0])
    with pytest.raises(ValueError, match="user 0 is in both"):
        tl.merge(parts[0], parts[0])
    with pytest.raises(TypeError, match="merge takes results of top_k_eval, not bool"):
        tl.merge(parts, True)


def seed(*items, truths=({1}, {2}, {3})):
    """Return a result by position: three users, and the one item that each was given."""
    return top_k_eval([[item] for item in items], truths, k=1, metrics="hit")


def test_five_seeds_by_position_are_refused_with_the_way_out():
    seeds = [seed(1, 2, 9)] * 5
    for merging in (sum, tl.merge, lambda parts: parts[0] + parts[1]):
        with pytest.raises(ValueError, match=r"the same users.*merge\(\.\.\., disjoint=True\)"):
            merging(seeds)
    merged = tl.merge(seeds, disjoint=True)
    assert (merged.n_users, merged["hit@1"]) == (15, pytest.approx(10 / 15))
    # far apart, and after others were merged
    others = [seed(1, 2, 9, truths=[{i}, {2}, {3}]) for i in range(20, 30)]
    for parts in ([seeds[0], *others, seeds[1]], [seeds[0] + others[0], seeds[1]]):
        with pytest.raises(ValueError, match="the same users"):
            tl.merge(parts)
    single = [top_k_eval([[1]], [{1}], k=1, metrics="hit")] * 2
    assert tl.merge(single).n_users == 2  # two users who chose the same popular item


def test_batches_merge_and_the_account_says_how():
    batches = [seed(1, 2, 9, truths=[{i}, {2}, {3}]) for i in range(3)]
    merged = tl.merge(batches)
    assert repr(merged).endswith("9 of 9 users evaluated, merged by position from 3 parts")
    assert len(set(merged.fingerprints)) == 3
    assert repr(sum(batches)) == repr(merged)
    keyed = [tl.top_k_eval({u: [1]}, {u: {1}}, k=1, metrics="hit") for u in "ab"]
    assert "merged" not in repr(tl.merge(keyed))
    with pytest.raises(ValueError, match="user 'a' is in both parts"):
        tl.merge([*keyed, keyed[0]], disjoint=True)


def test_merge_is_the_sum_of_the_parts_to_the_last_bit():
    generator = np.random.default_rng(3)
    parts = []
    for _ in range(9):
        hits = tl.Hits.from_ranks(generator.integers(0, 30, 40), 30)
        parts.append(tl.top_k_eval(hits, k=30))
    merged, added = tl.merge(iter(parts)), sum(parts)
    for name in merged.terms.metrics:
        assert merged[name].tobytes() == added[name].tobytes()
        assert merged.std(name).tobytes() == added.std(name).tobytes()
        np.testing.assert_array_equal(merged.per_user(name), added.per_user(name))
    assert tl.merge(parts[:1])["hit@1"] == parts[0]["hit@1"]
    for wrong, error in (([], ValueError), ([1], TypeError), ({"a": parts[0]}, TypeError)):
        with pytest.raises(error, match="merge"):
            tl.merge(wrong)


def test_a_part_of_empty_lists_merges_with_bpref():
    truths = {user: {"x": 1, "y": 0} for user in "abc"}
    sides = {"a": ["x"], "b": [], "c": ["z", "y"]}, truths
    how = {"k": [1, 2], "metrics": ["bpref", "recall"], "unjudged": "drop"}
    parts = [
        by_words(*({user: side[user] for user in users} for side in sides), **how)
        for users in ("ac", "b")
    ]
    whole = by_words(*sides, **how)
    assert tl.merge(parts).to_dict() == tl.merge(parts[::-1]).to_dict() == whole.to_dict()


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="beside a metric of whole lists, those of the lists are kept to the longest of a part",
)
def test_parts_whose_longest_lists_differ_merge_with_metrics_of_the_lists():
    known = {"metrics": ["average_popularity@2", "bpref"], "counts": dict.fromkeys("abcde", 1)}
    parts = [
        by_words({user: row}, {user: {row[0]: 1, "z": 0}}, **known)
        for user, row in (("ann", ["a", "b"]), ("bob", ["c", "a", "b", "d", "e"]))
    ]
    assert sum(parts)["average_popularity@2"] == 1
