"""Hits as plain arrays and back; what kernels would trip on is refused."""

import json

import numpy as np
import pytest
from doors import match_by_words

import toplist as tl
from toplist.matching import packed

LISTS = {"a": ["x", "y", "z"], "b": ["z"], "c": []}
GRADES = {"a": {"y": 2, "z": 0, "w": 1}, "b": {"z": 1}, "c": {"x": 3}}
GROUPS = tl.Groups({"a": [["y", "z"], ["x"]], "b": [["q"]], "c": []})


def there_and_back(hits, **changes):
    """Return hits that were packed, through JSON; `changes` put arrays in the place of others."""
    plain, arrays = packed.pack(hits)
    arrays |= {f"hits.{name}": np.array(one) for name, one in changes.items()}
    found = packed.unpack(json.loads(json.dumps(plain)), arrays)
    assert not arrays
    return found


@pytest.mark.parametrize("rule", [{}, {"unjudged": "drop"}])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("truths", [GRADES, {u: set(one) for u, one in GRADES.items()}, GROUPS])
def test_what_is_packed_comes_back(truths, listed, rule):
    hits = match_by_words(LISTS, truths, 2, **rule)
    hits = hits.listed() if listed else hits
    again = there_and_back(hits).of_part(users=hits.users)
    for name in ("relevant", "judged", "every_judged"):
        one, other = getattr(again, name), getattr(hits, name)
        for part in ("offsets", "ranks", "n_relevant", "n_listed", "gains", "ideal_gains"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
        assert one.groups.ranks.tolist() == other.groups.ranks.tolist()
    for name in ("k", "grading", "unjudged", "listed_only"):
        assert getattr(again, name) == getattr(hits, name)
    assert again.has_misses() == hits.has_misses()
    assert again.about.fingerprints == hits.about.fingerprints
    assert again.ranks.dtype == hits.ranks.dtype and again.offsets.dtype == hits.offsets.dtype


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranks": [3, 2, 1]}, "ranks rise from 1, within the list"),
        ({"ranks": [2, 1]}, "offsets must rise from 0 to the number of ranks"),
        ({"ranks": [2, 4, 1]}, "ranks rise from 1, within the list"),
        ({"ranks": [2, 2**31, 1]}, r"array hits\.ranks is of int64, or has numbers that cannot be"),
        ({"ranks": [2.0, 3.0, 1.0]}, r"array hits\.ranks is of float64"),
        ({"n_truth": [3, 1, -1]}, "more hits, or items of ground truths, than can be"),
        ({"n_truth": [2**62, 2**62, 1]}, "more hits, or items of ground truths, than can be"),
        ({"n_truth": [3, 1]}, "disagree on the number of users"),
        ({"n_truth": [1, 1, 1], "truth_grades": [2, 1, 1]}, "at most one per item"),
        ({"n_listed": [3, 1, 9]}, "read to k=3"),
        ({"grades": [np.inf, 0.0, 1.0]}, "grades must be finite"),
        ({"grades": [np.nan, 0.0, 1.0]}, "has numbers that cannot be"),
        ({"truth_grades": [1.0]}, "1 of truths for 3 hits"),
        ({"truth_grades": [1.0, 2.0, 0.0, 1.0, 3.0]}, "must not rise"),
        ({"truth_hashes": np.zeros(2, np.uint64)}, "2 hashes for 3 ground truths"),
        ({"judged_hashes": np.zeros(2, np.uint64)}, "2 hashes for 3 ground truths"),
    ],
)
def test_hits_that_cannot_be_are_refused(changes, words):
    hits = tl.match(LISTS, GRADES, 3)
    with pytest.raises(ValueError, match=words):
        there_and_back(hits, **changes)


def test_a_rule_that_nobody_knows_is_refused():
    plain, arrays = packed.pack(tl.match(LISTS, GRADES, 3))
    with pytest.raises(ValueError, match="unjudged='keep'"):
        packed.unpack(plain | {"unjudged": "keep"}, arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"items": [0, 5]},
        {"items": [0, -1]},
        {"items": [0]},
        {"sizes": [2, 0, 1, 1]},
        {"sizes": [2, 1]},
        {"sizes": [1, -1, 1, 1]},
        {"groups": [0, 0, 2, 0]},
        {"groups": [0, 0, -1, 0]},
        {"groups": [0, 0, 1]},
        {"n_groups": [9, 1, 0]},
        {"n_groups": [2, 1]},
        {"order": [0, 1]},
    ],
    ids=str,
)
def test_groups_that_cannot_be_are_refused(changes):
    hits = tl.match(LISTS, GROUPS, 2)
    assert there_and_back(hits).coverage.groups.tolist() == hits.coverage.groups.tolist()
    with pytest.raises(ValueError, match="the groups are not those of the hits"):
        there_and_back(hits, **changes)


def test_a_key_that_is_twice_is_found_at_once():
    """Not by a count of every key before it."""
    users = [*range(100_000), 99_999]
    with pytest.raises(ValueError, match="user 99999 is there twice"):
        tl.Hits([0] * (len(users) + 1), [], [1] * len(users), [0] * len(users), users=users)
