"""Hypothesis strategies: small ragged populations in which hits, misses and empty rows happen."""

from hypothesis import strategies as st

ITEMS = st.integers(0, 15)
GRADES = st.integers(0, 4) | st.sampled_from([0.5, 2.5])

LOWEST, HIGHEST = -(2**63), 2**63 - 1
LANDMARKS = [LOWEST, -(2**53), -(2**32), -(2**31), 0, 2**31, 2**32, 2**53, HIGHEST]


def int64_ids():
    """Ids from the whole range, mostly from a small pool, so that equal ids and near ones occur.

    The neighbours of 2**53 are the ones that collide when ids pass through float64.
    """
    near = {landmark + step for landmark in LANDMARKS for step in (-2, -1, 0, 1, 2)}
    pool = sorted(item for item in near if LOWEST <= item <= HIGHEST)
    return st.sampled_from(pool) | st.integers(LOWEST, HIGHEST)


@st.composite
def populations(
    draw, *, min_users=1, max_users=6, max_list=12, max_truth=8, items=ITEMS, unique=True
):
    """Draw (ranks, truths): a list of distinct ids and a set of ids per user; some are empty."""
    n_users = draw(st.integers(min_users, max_users))
    lists = st.lists(items, max_size=max_list, unique=unique)
    ranks = draw(st.lists(lists, min_size=n_users, max_size=n_users))
    truth = st.sets(items, max_size=max_truth)
    truths = draw(st.lists(truth, min_size=n_users, max_size=n_users))
    return ranks, truths


def populations_with_duplicates(**options):
    """Draw populations whose lists may hold an item more than once."""
    return populations(unique=False, **options)


@st.composite
def graded_populations(draw, *, grades=GRADES, **options):
    """Draw (ranks, truths) with a dict item -> grade per user; grade 0 is judged, not relevant."""
    ranks, truths = draw(populations(**options))
    return ranks, [{item: draw(grades) for item in sorted(truth)} for truth in truths]
