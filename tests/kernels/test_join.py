"""The join: nothing at all, 100,000 ids, the ends of int64, repeats, one relevant item each."""

import re
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from collisions import inverse
from doors import match_by_words
from oracle import hits as oracle

import toplist as tl
from toplist.kernels import hashing

# Where the join changes its ways: 256 and 2,048 ids of a list, and ground truths that fill more
# than an eighth of a table of 2^12 slots, have more than 2,048 ids, or number them beyond 15 bits.
LIST_SIZES = [0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 65_536, 65_537, 100_000]
TRUTH_SIZES = [0, 1, 2, 512, 513, 2048, 2049, 8193, 32_767, 32_768, 32_769, 65_537, 100_000]
COLLIDING_SIZES = [0, 1, 2, 33, 255, 256, 257, 513, 2047, 2048, 2049, 5000]


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
    sides = [COLLIDING_SIZES] * 2 if ids == "colliding" else [LIST_SIZES, TRUTH_SIZES]
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


DEPTHS = [1, 256, 257, 2048, 65_537, 100_000]


@pytest.mark.parametrize("name", oracle.METRICS)
def test_every_metric_of_a_list_of_100_000(name):
    ranked = list(range(100_000))
    truth = {0, 7, 255, 256, 2047, 2048, 65_536, 99_999, -1, -2}
    curve = tl.curves(name, ranked, truth)
    result = tl.top_k_eval([ranked, ranked], [truth, {5}], DEPTHS, metrics=name)
    for k in DEPTHS:
        expected = oracle.METRICS[name](ranked, truth, k)
        assert curve[k - 1] == pytest.approx(expected, rel=0, abs=1e-12)
        both = oracle.evaluate([ranked, ranked], [truth, {5}], k, oracle.METRICS[name])
        assert result[f"{name}@{k}"] == pytest.approx(both.mean, rel=0, abs=1e-12)
        assert result.std(f"{name}@{k}") == pytest.approx(both.std, rel=0, abs=1e-12)


@pytest.mark.parametrize("name", oracle.METRICS)
def test_every_metric_of_a_truth_of_100_000(name):
    ranked, truth = list(range(-5, 20)), set(range(100_000))
    curve = tl.curves(name, ranked, truth, 40)
    expected = [oracle.METRICS[name](ranked, truth, k) for k in (1, 6, 20, 25, 40)]
    assert curve[[0, 5, 19, 24, 39]] == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("name", ["hit", "map", "ndcg", "mrr", "recall", "precision"])
def test_a_perfect_list_of_100_000_scores_exactly_one(name):
    ids = np.random.default_rng(4).permutation(100_000)
    curve = getattr(tl, name)(ids, np.sort(ids))
    mean = tl.top_k_eval([ids, ids], [ids, ids], 100_000, metrics=name)[name]
    for values in (curve, mean):
        assert values[-1] == 1
        assert name == "recall" or np.all(values == 1)


@pytest.mark.parametrize(
    ("ranks", "truths", "shape"),
    [
        *(([], none, (0, 3)) for none in ([], (), tl.inputs.Lists([0], []))),
        *((none, [], (0, 3)) for none in (np.empty((0, 4), np.int64), tl.inputs.Lists([0], []))),
        *(
            (none, [{1}, []], (2, 3))
            for none in ([[], []], np.empty((2, 0)), tl.inputs.Lists([0] * 3, []))
        ),
        ({}, {}, (0, 3)),
        ([[]], [[]], (1, 3)),
        ([], 1, (3,)),
    ],
)
def test_nothing_at_all(ranks, truths, shape):
    for name in oracle.METRICS:
        function = partial(tl.curves, name)
        assert function(ranks, truths, 3).shape == shape
        assert function(ranks, truths).shape == (*shape[:-1], 0)
        assert np.nansum(function(ranks, truths, 3)) == 0
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
    if size <= 64:
        return list(combinations(range(size), 2))
    near = {0, 1, 31, 32, 33, size // 2, 255, 256, 257, 2047, 2048, 65_535, 65_536}
    near |= {size - 2, size - 1}
    some = sorted(place for place in near if place < size)
    drawn = np.random.default_rng(5).integers(0, size, (100, 2)).tolist()
    return [*combinations(some, 2), *(tuple(sorted(pair)) for pair in drawn if len({*pair}) == 2)]


@pytest.mark.parametrize(
    ("size", "ids"),
    [
        *product(
            [2, 3, 16, 17, 33, 64, 255, 256, 257, 2048, 2049],
            ["small", "spread", "both ends", "colliding"],
        ),
        *product([65_536, 65_537, 100_000], ["small"]),
    ],
)
def test_a_repeat_is_found_at_every_pair_of_positions(size, ids):
    numbers = np.random.default_rng(6).permutation(size)
    for first, second in pairs_of(size)[:: 1 if size < 65_536 else 9]:
        repeated = IDS[ids](numbers).copy()
        repeated[second] = repeated[first]
        assert refusal(repeated) == (1, repeated[first], first + 1, second + 1)


@pytest.mark.parametrize("ids", ["small", "colliding"])
@pytest.mark.parametrize("size", [40, 300, 2049])
def test_a_repeat_among_many(size, ids):
    repeated = IDS[ids](np.arange(size) // 2)
    assert refusal(repeated) == (1, repeated[0], 1, 2)
    assert refusal(np.full(size, repeated[0]), truth=[repeated[0]]) == (1, repeated[0], 1, 2)


@pytest.mark.parametrize("ids", ["small", "colliding"])
@pytest.mark.parametrize("size", [2, 64, 256, 257, 2048, 2049])
def test_the_first_of_two_places_counts(size, ids):
    users = []
    for first, second in pairs_of(size):
        numbers = np.arange(size)
        numbers[second] = first
        users.append((numbers, np.array([first, size + 1]), np.array([first + 1])))
    assert_hits(match(users, ids, duplicates="first"), users)


@pytest.mark.parametrize("kind", [str, lambda number: f"item number {number}", lambda n: 2**62 + n])
@pytest.mark.parametrize("size", [2, 33, 257, 2049])
def test_a_repeat_of_other_ids(size, kind):
    for first, second in pairs_of(size)[:100]:
        repeated = list(map(kind, range(size)))
        repeated[second] = repeated[first]
        said = f"user 0 has item {repeated[first]!r} at ranks {first + 1} and {second + 1}:"
        with pytest.raises(ValueError, match=re.escape(said)):
            tl.match(repeated, {repeated[0]})
        hits = tl.match(repeated, {repeated[first]}, duplicates="first")
        assert hits.ranks.tolist() == [first + 1]


def test_an_item_twice_and_then_another_of_the_same_place():
    same, other, *rest = IDS["colliding"](np.arange(1, 5)).tolist()
    for row in ([same, same, other], [same, *rest, same, other]):
        with pytest.raises(ValueError, match=f"item {same} at ranks 1 and"):
            tl.match([row], [[5]])
