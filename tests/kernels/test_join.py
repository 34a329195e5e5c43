"""The join: nothing at all, 100,000 ids, the ends of int64, repeats, one relevant item each.

One relevant id per user (leave-one-out) is looked for, and found as the general join finds it.
"""

import re
from itertools import combinations, product

import numpy as np
import pytest
from collisions import inverse
from doors import match_by_words
from hypothesis import given
from hypothesis import strategies as st
from oracle import hits as oracle
from shared_inputs import same
from strategies import ITEMS, int64_ids

import toplist as tl
from toplist import parallel
from toplist.kernels import hashing, join

# Where the join changes its ways: 256 and 2,048 ids of a list, and ground truths that fill more
# than an eighth of a table of 2^12 slots, have more than 2,048 ids, or number them beyond 15 bits.
LIST_SIZES = [0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 65_536, 65_537, 100_000]
TRUTH_SIZES = [0, 1, 2, 512, 513, 2048, 2049, 8193, 32_767, 32_768, 32_769, 65_537, 100_000]
SOME_SIZES = [0, 1, 2, 33, 255, 256, 257, 513, 2047, 2048, 2049, 5000]


def times(numbers, factor):
    """Return the products modulo 2^64: those with the inverse are ids that collide."""
    return (numbers.astype(np.uint64) * np.uint64(factor)).view(np.int64)


LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
IDS = {  # of the numbers 0, 1, 2, ...
    "small": lambda numbers: numbers,
    "lowest": lambda numbers: LOWEST + numbers,
    "highest": lambda numbers: HIGHEST - numbers,
    "both ends": lambda numbers: np.where(numbers % 2, LOWEST + numbers, HIGHEST - numbers),
    "spread": lambda numbers: times(numbers, hashing.GOLDEN),
    "multiples of 2^40": lambda numbers: numbers << 40,
    "colliding": lambda numbers: times(numbers, inverse(hashing.GOLDEN)),
}


def user(n_listed, n_relevant, random):
    """Draw a list and a truth of numbers, and the ranks of the hits: half of what there may be."""
    numbers = random.permutation(n_listed + n_relevant)
    n_hits = (min(n_listed, n_relevant) + 1) // 2
    places = np.sort(random.choice(n_listed, n_hits, replace=False))
    listed, others = numbers[:n_listed], numbers[n_listed : n_listed + n_relevant - n_hits]
    return listed, random.permutation(np.concatenate([listed[places], others])), places + 1


def as_lists(rows):
    offsets = np.concatenate([[0], np.cumsum(list(map(len, rows)))])
    return tl.inputs.Lists(offsets, np.concatenate(rows))


def match(users, ids="small", **options):
    listed, truths = (as_lists([IDS[ids](user[side]) for user in users]) for side in (0, 1))
    return match_by_words(listed, truths, **options)


def assert_hits(hits, users):
    listed, truths, ranks = zip(*users, strict=True)
    assert hits.n_listed.tolist() == list(map(len, listed))
    assert hits.n_relevant.tolist() == list(map(len, truths))
    assert np.diff(hits.offsets).tolist() == list(map(len, ranks))
    assert np.array_equal(hits.ranks, np.concatenate(ranks))


@pytest.mark.parametrize("ids", IDS)
def test_every_size_of_list_with_every_size_of_truth(ids):
    random = np.random.default_rng(1)
    sides = [LIST_SIZES, TRUTH_SIZES] if ids == "small" else [SOME_SIZES] * 2
    users = [user(*sizes, random) for sizes in product(*sides)]
    random.shuffle(users)  # so that short truths follow long ones, and the reverse
    for duplicates in ("raise", "first"):
        assert_hits(match(users, ids, duplicates=duplicates), users)


@pytest.mark.parametrize("n_relevant", [32_767, 32_768])
def test_a_truth_of_its_own_for_each_width_of_the_table(n_relevant):
    # alone in their block: the longest truth decides how its table is made
    users = [user(n, n_relevant, np.random.default_rng(3)) for n in (100, 70_000)]
    for one in users:
        assert_hits(match([one]), [one])


def test_more_users_in_a_block_than_there_are_stamps():
    """Each user marks its slots by a stamp of 16 bits: these come again, what they marked goes."""
    n_users = 140_000
    listed = np.tile(np.arange(5), (n_users, 1))  # all in the same slots
    listed[1::2] += 5
    truths = np.stack([listed[:, 3], np.roll(listed[:, 0], 1)], axis=1)  # the other: no hit
    hits = tl.match(listed, truths)
    assert np.array_equal(hits.ranks, np.full(n_users, 4)) and (hits.n_relevant == 2).all()
    for user in (65_533, 65_534, 65_535, 65_536, n_users - 1):
        repeated = listed.copy()
        repeated[user, 4] = repeated[user, 1]
        with pytest.raises(ValueError, match=f"^user {user} has item . at ranks 2 and 5: "):
            tl.match(repeated, truths)


FAR = {0, 7, 255, 256, 2047, 2048, 65_536, 99_999, -1, -2}


@pytest.mark.parametrize("name", ["map", "ndcg"])
def test_a_metric_of_a_list_and_of_a_truth_of_100_000(name):
    many, metric = list(range(100_000)), oracle.METRICS[name]
    for ranked, truth, depths in (
        (many, FAR, [1, 256, 257, 2048, 65_537, 100_000]),
        ([*range(-5, 20)], set(many), [1, 6, 20, 25]),
    ):
        result = tl.top_k_eval([ranked, ranked], [truth, {5}], depths, metrics=name)
        curve = tl.curves(name, ranked, truth)
        for k in depths:
            expected = metric(ranked, truth, k)
            assert curve[k - 1] == pytest.approx(expected, rel=0, abs=1e-12)
            both = oracle.evaluate([ranked, ranked], [truth, {5}], k, metric)
            found = result[f"{name}@{k}"], result.std(f"{name}@{k}")
            assert found == pytest.approx((both.mean, both.std), rel=0, abs=1e-12)


NO_LISTS, TWO_EMPTY = tl.inputs.Lists([0], []), tl.inputs.Lists([0] * 3, [])
NOTHING = [
    *(([], none, (0, 3)) for none in ([], (), NO_LISTS)),
    *((none, [], (0, 3)) for none in (np.empty((0, 4), np.int64), NO_LISTS)),
    *((none, [{1}, []], (2, 3)) for none in ([[], []], np.empty((2, 0)), TWO_EMPTY)),
    *(({}, {}, (0, 3)), ([[]], [[]], (1, 3)), ([], 1, (3,))),
]


@pytest.mark.parametrize(("ranks", "truths", "shape"), NOTHING)
def test_nothing_at_all(ranks, truths, shape):
    for name in ("hit", "ndcg", "group_recall"):
        assert np.nansum(tl.curves(name, ranks, truths, 3)) == 0
        assert tl.curves(name, ranks, truths, 3).shape == shape
        assert tl.curves(name, ranks, truths).shape == (*shape[:-1], 0)
    result = tl.top_k_eval(ranks, truths, 3)
    assert result.n_users == len(result.users) == (shape[0] if len(shape) == 2 else 1)
    assert np.isnan(list(result)).all() == (result.n_evaluated == 0)
    assert np.nansum(list(result)) == 0


def refusal(ids, truth=(0,)):
    """Return who is said to hold which item at which ranks."""
    with pytest.raises(ValueError, match="a ranked list holds an item once") as caught:
        tl.match([np.array([1, 2, 3]), ids], [np.array([1]), np.array(truth)])
    found = re.match(r"user (\d+) has item (-?\d+) at ranks (\d+) and (\d+):", str(caught.value))
    return tuple(map(int, found.groups()))


def pairs_of(size):
    """List pairs of positions: all of a short list, those near the edges of a long one."""
    if size <= 17:
        return list(combinations(range(size), 2))
    near = {0, 1, 31, 32, 33, size // 2, 255, 256, 257, 2047, 2048, 65_535, 65_536}
    near |= {size - 2, size - 1}
    some = sorted(place for place in near if place < size)
    drawn = np.random.default_rng(5).integers(0, size, (10, 2)).tolist()
    return [*combinations(some, 2), *(tuple(sorted(pair)) for pair in drawn if len({*pair}) == 2)]


PLACES = [*product([2, 16, 17, 33, 257, 2049], ["small", "colliding"]), (256, "spread")]


@pytest.mark.parametrize(("size", "ids"), [*PLACES, (2048, "colliding"), (65_537, "small")])
def test_a_repeat_is_found_at_every_pair_of_positions(size, ids):
    numbers = np.random.default_rng(6).permutation(size)
    for first, second in pairs_of(size)[:: 9 if size > 65_536 else 1]:
        repeated = IDS[ids](numbers).copy()
        repeated[second] = repeated[first]
        assert refusal(repeated) == (1, repeated[first], first + 1, second + 1)


@pytest.mark.parametrize("ids", ["small", "colliding"])
@pytest.mark.parametrize("size", [2, 64, 256, 257, 2048, 2049])
def test_the_first_of_two_places_counts(size, ids):
    users = []
    for first, second in pairs_of(size):
        numbers = np.arange(size)
        numbers[second] = first
        users.append((numbers, np.array([first, size + 1]), np.array([first + 1])))
    assert_hits(match(users, ids, duplicates="first"), users)


# One relevant item


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


@given(one_each() | one_each(int64_ids()), st.none() | st.integers(1, 15))
def test_one_relevant_item_each_is_found_as_in_plain_python(population, k):
    """Of integers, of texts and beside grades; and the first user with a repeat is named."""
    ranks, truths = population
    expected = [
        [ranked[:k].index(truth[0]) + 1] if truth and truth[0] in ranked[:k] else []
        for ranked, truth in zip(ranks, truths, strict=True)
    ]
    found = tl.match(ranks, truths, k, duplicates="first")
    ends = zip(found.offsets, found.offsets[1:], strict=False)
    assert [found.ranks[a:b].tolist() for a, b in ends] == expected
    texts = [[[f"item {i}" for i in row] for row in side] for side in population]
    assert same(tl.match(*texts, k, duplicates="first"), found)
    graded = [dict.fromkeys(truth, 0.5 + row % 3) for row, truth in enumerate(truths)]
    hits = tl.match(ranks, graded, k, duplicates="first")
    worth = [0.5 + row % 3 for row, hit in enumerate(expected) if hit]
    assert np.array_equal(hits.ranks, found.ranks)
    assert (hits.grades is None and not worth) or hits.grades.tolist() == worth
    repeats = [len(set(ranked)) < len(ranked) for ranked in ranks]
    if any(repeats):
        with pytest.raises(ValueError, match=f"^user {repeats.index(True)} has item"):
            tl.match(ranks, truths)


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
    for seed in range(5):
        ranks = np.random.default_rng(seed).integers(0, 21, 900 + 7 * seed)
        result = tl.top_k_eval(tl.Hits.from_ranks(ranks, 20), k=20)
        assert np.array_equal(result["hit"], result["recall"])
        assert np.array_equal(result["map"], result["mrr"])
        n_hits = np.cumsum(np.bincount(ranks, minlength=21)[1:])
        assert np.array_equal(result["precision"], n_hits / (len(ranks) * np.arange(1, 21)))
