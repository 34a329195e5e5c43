"""Leave-one-out: one relevant id per user is looked for, and found as the general join finds it."""

import numpy as np
import pytest
from doors import match_by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_inputs import same
from strategies import ITEMS, int64_ids

import toplist as tl
from toplist import parallel
from toplist.kernels import join


def test_gains_of_leave_one_out_belong_to_their_users_in_every_block():
    n, length = 40_000, 60
    lists = np.tile(np.arange(length), (n, 1))
    grades = np.arange(n) % 7 + 1.0
    truths = [{user % length: grade} for user, grade in enumerate(grades.tolist())]
    hits = tl.match(list(lists), truths)
    assert len(parallel.bounds(hits.offsets + np.arange(n + 1) * length)) > 2
    assert np.array_equal(hits.grades, grades)


@st.composite
def one_each(draw, items=ITEMS):
    """Draw ranked lists, which may repeat ids, and truths of one id or none."""
    n_users = draw(st.integers(1, 8))
    ranks = draw(st.lists(st.lists(items, max_size=12), min_size=n_users, max_size=n_users))
    truths = draw(st.lists(st.lists(items, max_size=1), min_size=n_users, max_size=n_users))
    return ranks, truths


def by_marking(*arguments, **options):
    """Join by the general way."""

    def by_the_general_join(*given):
        *arrays, ranks, n_hits, n_relevant = given
        tables, places = join.tables_for(1, int(arrays[2].max(initial=0))), np.empty_like(ranks)
        join.join(*arrays, False, tables, ranks, places, n_hits, n_relevant)
        assert not places[: n_hits.sum()].any()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join, "join_single_relevant", by_the_general_join)
        return match_by_words(*arguments, **options)


@settings(deadline=None)
@given(one_each() | one_each(int64_ids()), st.none() | st.integers(1, 15))
def test_the_fast_join_finds_what_the_general_one_finds(population, k):
    found = tl.match(*population, k, duplicates="first")
    assert same(found, by_marking(*population, k, duplicates="first"))
    expected = [
        [ranked[:k].index(truth[0]) + 1] if truth and truth[0] in ranked[:k] else []
        for ranked, truth in zip(*population, strict=True)
    ]
    ends = zip(found.offsets, found.offsets[1:], strict=False)
    assert [found.ranks[a:b].tolist() for a, b in ends] == expected


@settings(deadline=None)
@given(one_each())
def test_repeats_are_found_by_both(population):
    def outcome(join):
        try:
            return join(*population)
        except ValueError as error:
            return str(error)

    fast, general = outcome(tl.match), outcome(by_marking)
    repeats = [len(set(ranked)) < len(ranked) for ranked in population[0]]
    assert isinstance(fast, str) == any(repeats)
    if any(repeats):
        assert fast == general
        assert f"user {repeats.index(True)} has item" in fast
    else:
        assert same(fast, general)


@settings(deadline=None)
@given(one_each(), st.randoms(use_true_random=False))
def test_strings_and_grades_take_the_fast_join_too(population, random):
    ranks, truths = population
    texts = [[[f"item {i}" for i in row] for row in side] for side in population]
    assert same(tl.match(*texts, duplicates="first"), tl.match(ranks, truths, duplicates="first"))
    graded = [{item: random.choice([0.5, 1, 3]) for item in truth} for truth in truths]
    found = tl.match(ranks, graded, duplicates="first")
    assert same(found, by_marking(ranks, graded, duplicates="first"))


def test_the_fast_join_is_the_one_taken(monkeypatch):
    def refuse(*_):
        raise AssertionError("the general join was taken")

    monkeypatch.setattr(join, "join", refuse)
    assert tl.match([[1, 2], [3]], [2, 4], duplicates="first").ranks.tolist() == [2]
    for truths, duplicates in (([2, 4], "raise"), ([[2], [4, 5]], "first")):
        with pytest.raises(AssertionError, match="general"):
            tl.match([[1, 2], [3]], truths, duplicates=duplicates)


def test_the_means_of_many_users_keep_the_identities():
    """Rounded once more, a mean over 1,000 users is off by a bit four times out of five."""
    for seed in range(30):
        ranks = np.random.default_rng(seed).integers(0, 21, 900 + 7 * seed)
        result = tl.top_k_eval(tl.Hits.from_ranks(ranks, 20), k=20)
        assert np.array_equal(result["hit"], result["recall"])
        assert np.array_equal(result["map"], result["mrr"])
        n_hits = np.cumsum(np.bincount(ranks, minlength=21)[1:])
        assert np.array_equal(result["precision"], n_hits / (len(ranks) * np.arange(1, 21)))


def test_long_lists_and_many_blocks():
    rng = np.random.default_rng(0)
    lists = np.array([rng.permutation(5_000) for _ in range(300)])
    truths = rng.integers(0, 10_000, 300)
    found = tl.match(lists, truths)
    where = [np.flatnonzero(row == item) + 1 for row, item in zip(lists, truths, strict=True)]
    assert found.ranks.tolist() == np.concatenate(where).tolist()
    lists[217, 4_000] = lists[217, 10]
    with pytest.raises(ValueError, match=r"user 217 .* at ranks 11 and 4001"):
        tl.match(lists, truths)
