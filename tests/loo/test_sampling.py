"""Sampled candidates: drawn fairly, never what the user has, and marked wherever shown.

And the two baselines, against plain Python.
"""

import itertools
import math
import warnings
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from split_logs import FEW, ROWS, SHUFFLES, columns

import toplist as tl
from toplist import loo

RNG = np.random.default_rng(0)


@st.composite
def drawn(draw):
    n_items, n_users = draw(st.integers(4, 12)), draw(st.integers(1, 5))
    column = st.integers(0, n_items - 1)
    held = draw(st.lists(column, min_size=n_users, max_size=n_users))
    most = n_items - 2
    seen = draw(st.lists(st.sets(column, max_size=most), min_size=n_users, max_size=n_users))
    left = min(n_items - len(own | {item}) for own, item in zip(seen, held, strict=True))
    return n_items, held, seen, draw(st.integers(1, max(1, left))), left


@FEW
@given(drawn(), st.booleans(), st.integers(0, 2**64 - 1))
def test_drawn_items_are_new_to_the_user_and_distinct(case, popular, seed):
    n_items, held, seen, n, left = case
    weights = 10.0 ** -np.arange(n_items) if popular else None

    def draw():
        return loo.negatives(held, n, n_items=n_items, exclude=seen, popularity=weights, seed=seed)

    if left < n:
        with pytest.raises(ValueError, match=r"user \d has fewer than n=1 items left to draw"):
            draw()
        return
    items = draw()
    assert items.shape == (len(held), n)
    for row, own, item in zip(items.tolist(), seen, held, strict=True):
        assert len(set(row)) == n
        assert not set(row) & (own | {item})
        assert set(row) <= set(range(n_items))


def test_a_users_draw_does_not_depend_on_order_others_or_threads(monkeypatch):
    n_users, n_items = 300, 500
    held = RNG.integers(0, n_items, n_users)
    seen = RNG.random((n_users, n_items)) < 0.1
    users = [f"user {u}" for u in range(n_users)]
    options = {"n_items": n_items, "seed": 7}
    whole = loo.negatives(held, 40, exclude=seen, users=users, n_threads=1, **options)
    order = RNG.permutation(n_users)[:200]
    monkeypatch.setattr("toplist.loo.sampling.BLOCK", 400)
    options |= {"n_threads": 4}
    own = [users[u] for u in order]
    some = loo.negatives(held[order], 40, exclude=seen[order], users=own, **options)
    assert np.array_equal(some, whole[order])
    as_numbers = loo.negatives(held, 40, exclude=seen, **options)
    as_text = loo.negatives(held, 40, exclude=seen, users=list(map(str, range(n_users))), **options)
    assert np.array_equal(as_numbers, as_text)
    assert not np.array_equal(as_numbers, whole)
    other = loo.negatives(held, 40, exclude=seen, n_items=n_items, seed=8)
    assert np.mean(other == as_numbers) < 0.05


@pytest.mark.parametrize("n", [3, 7])  # by drawing again; nearly all, by order
def test_uniform_draws_are_uniform(n):
    n_users, n_items = 20_000, 9
    items = loo.negatives(np.zeros(n_users, int), n, n_items=n_items, exclude=[{8}] * n_users)
    counts = np.bincount(items.ravel(), minlength=n_items)
    assert counts[0] == counts[8] == 0
    share = n / 7
    assert np.all(abs(counts[1:8] - n_users * share) <= 5 * np.sqrt(n_users * share * (1 - share)))


@pytest.mark.parametrize("weights", [[0, 1, 2, 3, 4], [0, 1, 1e-9, 1e-9, 1e-9]])
def test_draws_by_popularity_are_in_proportion_one_after_another(weights):
    """Against the chances of every ordered pair; the second weights end by ordering."""
    n_users = 20_000
    items = loo.negatives(np.zeros(n_users, int), 2, n_items=5, popularity=weights)
    total = sum(weights)
    for a, b in itertools.permutations(range(1, 5), 2):
        chance = weights[a] / total * weights[b] / (total - weights[a])
        found = np.sum((items == [a, b]).all(axis=1))
        assert abs(found - n_users * chance) <= 5 * math.sqrt(n_users * chance * (1 - chance)) + 1


def test_items_beside_a_heavy_one_can_be_drawn():
    held = np.full(3_000, 3)
    drawn = loo.negatives(held, 2, n_items=4, popularity=[1e300, 1, 2, 0])
    assert np.all(drawn[:, 0] == 0)
    assert 0.62 < np.mean(drawn[:, 1] == 2) < 0.71
    drawn = loo.negatives(held, 3, n_items=4, popularity=[1.7e308, 1.7e308, 5e-324, 0])
    assert 0.45 < np.mean(drawn[:, 0] == 0) < 0.55 and np.all(drawn[:, 2] == 2)


@FEW
@given(drawn(), st.sampled_from(["order", "best", "worst"]))
def test_sampled_ranks_are_ranks_among_the_drawn_items(case, ties):
    n_items, held, seen, n, left = case
    if left < n:
        return
    seen = [own - {item} for own, item in zip(seen, held, strict=True)]
    scores = np.random.default_rng(n_items).integers(0, 4, (len(held), n_items)).astype(float)
    found = loo.sampled_ranks(scores, held, n, exclude=seen, ties=ties)
    drawn_items = loo.negatives(held, n, n_items=n_items, exclude=seen)
    others = [
        set(range(n_items)) - set(row) - {item}
        for row, item in zip(drawn_items.tolist(), held, strict=True)
    ]
    assert found.ranks.tolist() == loo.ranks_of(scores, held, exclude=others, ties=ties).tolist()
    if left == n and len(set(map(len, seen))) == 1:  # a sample of all there is
        full = loo.ranks_of(scores, held, exclude=seen, ties=ties)
        assert found.ranks.tolist() == full.tolist()
        assert found.n_candidates == n + 1


def test_a_function_scores_candidates_alone():
    scores = RNG.random((50, 200))
    held = RNG.integers(0, 200, 50)
    asked = []

    def score(rows, items):
        asked.append((rows.shape, items.shape))
        assert items[:, 0].tolist() == held[rows[:, 0]].tolist()
        return scores[rows, items]

    # a held-out item that is excluded is never listed
    found = loo.sampled_ranks(np.zeros((2, 9)), [1, 2], 3, exclude=[{1}, {3}])
    assert found.ranks[0] == 0 and found.ranks[1] > 0
    lowest = loo.sampled_ranks(np.full((2, 9), -np.inf), [1, 2], 3)  # nor is one scored -inf
    assert lowest.ranks.tolist() == [0, 0]
    one = loo.sampled_ranks(score, held, 20, n_items=200)
    other = loo.sampled_ranks(scores, held, 20)
    assert np.array_equal(one.ranks, other.ranks) and one.sampled == other.sampled
    assert asked == [((50, 1), (50, 21))]


# Metrics of the hits of one relevant item without a grade.
METRICS = [name for name in tl.METRICS if name not in ("bpref", "psp", "psndcg")]
IGNORED = pytest.mark.filterwarnings("ignore::toplist.loo.SampledMetricsWarning")
WORDS = "SAMPLED: ranked among 100 items of 1,000 (uniform, seed 3; ties: order)"


def sampled(n=100, n_users=400, n_items=1_000, **options):
    scores = np.random.default_rng(1).random((n_users, n_items))
    return loo.sampled_ranks(scores, np.arange(n_users), n, **options)


def evaluated(seed, **options):
    return sampled(seed=seed).evaluate(**{"k": 5, "metrics": "hit"} | options)


@IGNORED
def test_a_sampled_result_says_so_everywhere():
    options = {"k": [5, 10], "metrics": ["hit", "mrr"]}
    with pytest.warns(loo.SampledMetricsWarning, match="k=5 among 100 sampled items of 1,000"):
        result = evaluated(3, **options)
    said = repr(result), result.formula("hit@5"), repr(result.by([0, 1] * 200))
    assert all(WORDS in text for text in said) and '"sampled": {' in result.to_json()
    assert result.n_users == 400 and result.terms.sampled.n == 100
    with pytest.raises(ValueError, match="cannot merge: sampled is Sampled"):
        result + evaluated(4, **options)
    one, other = evaluated(3), evaluated(4)
    full = tl.top_k_eval(tl.Hits.from_ranks(np.arange(400), 1_000), k=5, metrics="hit")
    alike, plain = tl.compare({"a": one, "b": one}), tl.compare({"a": full, "b": full})
    assert alike.differences == [] and repr(alike).count(WORDS) == 1
    assert "SAMPLED" not in repr(full) + repr(plain)
    (line,) = tl.compare({"full": full, "few": one}).differences
    assert line.text.startswith(f"DIFFERENT CANDIDATES: full: all items; few: {WORDS}")
    mixed = tl.compare({"a": one, "b": other})
    (line,) = mixed.differences
    assert "seed 3" in line.text and "seed 4" in line.text
    pytest.importorskip("matplotlib")
    words = "convention standard; sampled: 100 of 1,000 items"
    assert words in one.plot().get_title(loc="left")
    assert words in tl.plots.sampled(full, one, "hit").get_title(loc="left")
    assert "different samples" in mixed.plot().get_title(loc="left")
    assert "sampled" not in full.plot().get_title(loc="left")


@pytest.mark.parametrize(
    ("k", "n", "depth"),
    [(1, 100, 10), (2, 100, 10), (50, 100, 490), (51, 100, None), (10, 500, 18), (10, 501, None)],
)
def test_the_warning_is_for_a_small_k_among_few(k, n, depth):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sampled(n).evaluate(k, metrics="hit")
    warned = depth is not None
    assert [one.category for one in caught] == [loo.SampledMetricsWarning] * warned
    if warned:
        assert f"about the first {depth} of all items" in str(caught[0].message)


# Estimators


def chances(n, n_items):
    """Return the chance of every sampled rank at every rank, from binomial coefficients."""
    ranks, sampled_ranks = range(n_items), range(n + 1)
    total = math.comb(n_items - 1, n)

    def chance(r, s):
        return math.comb(r, s) * math.comb(n_items - 1 - r, n - s) / total

    return np.array([[chance(r, s) for s in sampled_ranks] for r in ranks])


def estimated(ranks, n, n_items, metric, k, gamma):
    """Minimise the sum of squared bias and variance by stacking it as one least-squares problem."""
    chance = chances(n, n_items)
    worth = {"hit": lambda r: 1.0, "mrr": lambda r: 1 / r, "ndcg": lambda r: 1 / math.log2(r + 1)}
    worth["precision"] = lambda r: 1 / k
    target = np.array([worth[metric](r) if r <= k else 0.0 for r in range(1, n_items + 1)])
    # Σ (1 - γ) E[f]² - 2 E[f] m + γ E[f²]: rows for the bias, and rows for γ E[f²]
    scale = math.sqrt(1 - gamma)
    stacked = np.vstack([scale * chance, math.sqrt(gamma) * np.diag(np.sqrt(chance.sum(axis=0)))])
    wanted = np.concatenate([target / scale, np.zeros(n + 1)])
    f = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
    return np.array([f[rank - 1] if rank else 0.0 for rank in ranks])


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("metric", ["hit", "mrr", "ndcg", "precision"])
def test_the_corrected_estimate_minimises_what_the_paper_minimises(metric, gamma):
    ranks = sampled(n=8, n_items=60, n_users=60)
    found = loo.corrected(ranks, [3, 10], metrics=metric, gamma=gamma)
    for k in (3, 10):
        values = estimated(ranks.ranks, 8, 60, metric, k, gamma)
        mean, half = values.mean(), 1.959963984540054 * values.std(ddof=1) / np.sqrt(60)
        expected = mean, mean - half, mean + half
        assert found[f"{metric}@{k}"] == pytest.approx(expected, abs=1e-9)


OWN = tl.Metric("steep", "each", lambda r: r**2.0, "k", cut="R")


@pytest.mark.parametrize("metric", [*METRICS, "err(max=4)", OWN])
def test_where_all_others_were_drawn_nothing_is_corrected(metric):
    """The held-out items have ranks 1 to 20."""
    ranks = loo.sampled_ranks(np.tile(-np.arange(20.0), (20, 1)), np.arange(20), n=19)
    found = loo.corrected(ranks, [1, 10, 30], metrics=metric)
    whole = tl.Hits.from_ranks(np.arange(20) + 1, 20).of_part(k=30)
    expected = tl.top_k_eval(whole, k=[1, 10, 30], metrics=metric).to_dict()
    assert {name: one.value for name, one in found.items()} == pytest.approx(expected, abs=1e-12)


def test_a_column_that_is_excluded_again_is_no_other_candidate():
    once, again = (
        sampled(n=9, n_users=40, n_items=60, exclude=[row] * 40)
        for row in ([50, 51], [51, 50, 51, 51])
    )
    assert once.n_candidates == again.n_candidates == 58
    assert loo.corrected(once, 5) == loo.corrected(again, 5)


def test_the_depth_of_a_sample_is_the_rank_whose_mean_sampled_rank_is_k():
    marked = loo.Sampled(8, 60, "uniform", 0, "order")
    for k in (1, 2, 7):
        depth = marked.depth(k)
        means = chances(8, 60) @ np.arange(1, 10)
        assert means[depth - 1] <= k + 1e-9 and (depth == 60 or means[depth] > k)
    marked = loo.Sampled(100, 9_066, "uniform", 0, "order")
    assert [marked.depth(k) for k in (1, 2, 10, 101)] == [1, 91, 816, 9_066]
    assert "about the first 816 of all items" in marked.warning(10)


def test_the_keys_of_users_stay_with_their_ranks():
    scores, users = np.random.default_rng(0).random((20, 50)), [f"u{i}" for i in range(20)]
    ask = {"held_out": range(20), "n": 40, "users": users}
    found = [
        loo.sampled_ranks(one, **ask).evaluate(k=41, metrics="mrr") for one in (scores, -scores)
    ]
    named = loo.sampled_ranks(scores, **ask).evaluate(k=41, metrics="mrr", users=users)
    assert found[0] == named and list(found[0].users) == users
    turned = ask | {"held_out": range(20)[::-1], "users": users[::-1]}  # whose draws are their own
    ranks = loo.sampled_ranks(scores[::-1], **turned).ranks[::-1]
    assert ranks.tolist() == loo.sampled_ranks(scores, **ask).ranks.tolist()
    systems = {"a": found[0], "b": found[1], "named": named}
    assert tl.compare(systems).differences == []
    other = [user.upper() for user in users]
    assert loo.sampled_ranks(scores, **ask).evaluate(k=41, users=other).users == other
    assert list(loo.sampled_ranks(scores, range(20), 40).evaluate(k=41).users) == list(range(20))


# Baselines

USERS = st.none() | st.lists(st.integers(0, 6), max_size=5)
EXCLUDED = st.sampled_from(["train", None]) | st.dictionaries(
    st.integers(0, 6), st.sets(st.integers(4, 15)), max_size=4
)


def left_for(rows, users, exclude):
    """Return the unseen items of each user."""
    seen = defaultdict(set)
    for user, item, _ in rows:
        seen[user].add(item)
    items = {item for _, item, _ in rows}
    own = {"train": seen, None: {}}.get(exclude) if not isinstance(exclude, dict) else exclude
    return {user: items - set(own.get(user, ())) for user in (seen if users is None else users)}


@FEW
@given(ROWS, st.integers(1, 12), USERS, EXCLUDED)
def test_popular_items_come_by_their_rows_then_by_id(rows, k, users, exclude):
    counts = Counter(item for _, item, _ in rows)
    expected = {
        user: sorted(left, key=lambda item: (-counts[item], item))[:k]
        for user, left in left_for(rows, users, exclude).items()
    }
    assert loo.popular(columns(rows), k, users=users, exclude=exclude) == expected


@FEW
@given(ROWS, st.integers(1, 12), USERS, EXCLUDED, SHUFFLES)
def test_random_items_are_unseen_ones_each_once(rows, k, users, exclude, random):
    found = loo.random(columns(rows), k, users=users, exclude=exclude, seed=1)
    left = left_for(rows, users, exclude)
    assert found.keys() == left.keys()
    for user, items in found.items():
        assert len(items) == min(k, len(left[user])) == len(set(items)) and {*items} <= left[user]
    shuffled = columns(random.sample(rows, len(rows)))
    assert loo.random(shuffled, k, users=users, exclude=exclude, seed=1) == found
    for user in found if exclude == "train" else ():
        assert loo.random(columns(rows), k, users=[user], seed=1) == {user: found[user]}


def test_every_unseen_item_is_as_likely_at_every_place():
    users = np.arange(6_000)
    train = np.append(users, np.zeros(6, int)), np.append(np.zeros(6_000, int), np.arange(6))
    lists = loo.random(train, 2, users=users[1:].tolist())
    for place in (0, 1):
        counts = Counter(items[place] for items in lists.values())
        assert set(counts) == {1, 2, 3, 4, 5}
        assert all(abs(n - 5_999 / 5) < 5 * np.sqrt(960) for n in counts.values())
    other = loo.random(train, 2, users=users[1:].tolist(), seed=1)
    assert 0 < sum(other[user] == lists[user] for user in lists) < 1_000


def test_ties_are_integers_by_number_then_text():
    train = [1] * 7, ["b", "10", "9", "a", "-1", "09", "B"]
    assert loo.popular(train, 9, users=[2]) == {2: ["-1", "9", "10", "09", "B", "a", "b"]}


def test_an_id_alone_is_one_item_to_leave_out():
    train, alone = (["ann", "bob"], ["jam", "a"]), {"ann": "jam"}
    series = pytest.importorskip("pandas").Series(alone)
    for exclude in (alone, {"ann": ["jam"]}, series):
        assert loo.popular(train, 2, users=["ann"], exclude=exclude) == {"ann": ["a"]}
    assert loo.popular(([1, 2], [5, 6]), 2, users=[1], exclude={1: 6}) == {1: [5]}


def test_nothing_to_list():
    empty = np.empty(0, int), np.empty(0, int)
    assert loo.popular(empty, 3) == loo.random(empty, 3) == {}
    assert loo.popular(empty, 3, users=[4]) == loo.random(empty, 3, users=[4]) == {4: []}
