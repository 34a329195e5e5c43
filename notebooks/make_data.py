"""Write the small synthetic data set that the notebooks evaluate.

A year of readers and articles is simulated, the later articles of each reader are held out, and
two recommenders are trained on the rest. Run ``python make_data.py``; the files go to ``data/``
next to this script, and every run writes the same bytes:

- ``train.csv.gz``: user_id, item_id, timestamp (unix seconds); the log, in order of time, equal
  times by user_id, and one user's in the order of reading,
- ``truth.csv``: user_id, item_id; the articles held out,
- ``items.csv.gz``: item_id, topic; all articles, also those that nobody read,
- ``popularity.csv.gz`` and ``itemknn.csv.gz``: user_id, item_id, rank, score; the lists.

A reader reads an article at most once, so nothing held out is in the reader's own log. Lists leave
out what stands there. They are ordered by the score as written (4 decimals), the highest
first, and equal scores by item_id, ascending.
"""

import csv
import gzip
import io
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent / "data"
SEED = 20240101

N_USERS = 1_000
N_ITEMS = 2_000
N_TASTES = 16
MIN_READS, MEDIAN_READS, MAX_READS = 5, 20, 120

POPULARITY_EXPONENT = 0.9  # the article of popularity rank r is read in proportion to r ** -0.9
TASTE_CONCENTRATION = 0.1  # small: a reader likes few tastes; large: everyone likes everything
TIE_SHARE = 0.03  # of the reads: opened at the same second as the reader's previous one

DAY = 86_400
START = 1_704_067_200  # 2024-01-01 00:00:00 UTC
END = START + 365 * DAY
LAST_JOINED = END - 90 * DAY

HELD_OUT = 0.2
N_NEWCOMERS = 12
N_LAPSED = 8

TOP_K = 20
N_NEIGHBOURS = 50

USER_IDS = [f"u{number:04d}" for number in range(1, N_USERS + 1)]
ITEM_IDS = [f"i{number:04d}" for number in range(1, N_ITEMS + 1)]


def simulate_reads(rng):
    """Draw which articles each reader reads, and in which order.

    An article has one taste and a popularity, a reader likes the tastes to different degrees; the
    next article is drawn in proportion to popularity times liking, from those not read so far.

    Parameters
    ----------
    rng : numpy.random.Generator

    Returns
    -------
    reads : list of ndarray of int
        The item numbers of each user, first read first.
    taste : ndarray of int
        The taste of each article, its topic.
    """
    popularity = rng.permutation(np.arange(1, N_ITEMS + 1) ** -POPULARITY_EXPONENT)
    taste = rng.integers(N_TASTES, size=N_ITEMS)
    liking = rng.dirichlet(np.full(N_TASTES, TASTE_CONCENTRATION), size=N_USERS)
    # A little of everything keeps each article possible, and the logarithm finite.
    weights = popularity * (0.97 * liking + 0.03 / N_TASTES)[:, taste]
    # Sorting by log-weight plus Gumbel noise is drawing without replacement, one after another.
    order = np.argsort(-(np.log(weights) + rng.gumbel(size=weights.shape)), axis=1, kind="stable")
    n_reads = MEDIAN_READS * rng.lognormal(sigma=0.8, size=N_USERS)
    n_reads = np.clip(n_reads, MIN_READS, MAX_READS).astype(int)
    return [items[:n] for items, n in zip(order, n_reads, strict=True)], taste


def simulate_times(rng, n_reads):
    """Draw when one reader reads: from the day of joining to the end of the year.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_reads : int

    Returns
    -------
    ndarray of int
        Unix seconds, ascending; a few are equal.
    """
    joined = rng.integers(START, LAST_JOINED)
    times = np.sort(rng.integers(joined, END, size=n_reads))
    for i in range(1, n_reads):
        if rng.random() < TIE_SHARE:
            times[i] = times[i - 1]
    return times


def split(rng, reads):
    """Hold out the last fifth of each reader's articles, at least one.

    Parameters
    ----------
    rng : numpy.random.Generator
    reads : list of ndarray of int
        The item numbers of each user, first read first.

    Returns
    -------
    train, truth : list of ndarray of int
        The two parts of each user; a part may be empty.
    """
    n_train = np.array([len(items) - max(1, round(HELD_OUT * len(items))) for items in reads])
    # In a real evaluation the users with a truth and the users with a list are never quite the
    # same: newcomers have no log to be recommended from, and lapsed readers get lists but never
    # come back. An evaluation has to say how it counts both, so a few of each are made here, by
    # dropping one of their parts.
    chosen = rng.permutation(N_USERS)
    newcomers, lapsed = np.split(chosen[: N_NEWCOMERS + N_LAPSED], [N_NEWCOMERS])
    train = [items[:n] for items, n in zip(reads, n_train, strict=True)]
    truth = [items[n:] for items, n in zip(reads, n_train, strict=True)]
    for user in newcomers:
        train[user] = train[user][:0]
    for user in lapsed:
        truth[user] = truth[user][:0]
    return train, truth


def interaction_matrix(train):
    """Return the users x items matrix of what was read, as 0.0 and 1.0."""
    matrix = np.zeros((N_USERS, N_ITEMS))
    for user, items in enumerate(train):
        matrix[user, items] = 1
    return matrix


def popularity_scores(matrix):
    """Score each article by the share of the readers who read it, the same for every user."""
    n_readers = matrix.any(axis=1).sum()
    return np.broadcast_to(matrix.sum(axis=0) / n_readers, matrix.shape)


def itemknn_scores(matrix):
    """Score each article by its similarity to the articles that the user has read.

    Similarity is the cosine of two columns of `matrix`. Only the `N_NEIGHBOURS` articles most
    similar to one that was read get a score from it; of equally similar ones, those that come
    first by item_id.
    """
    norms = np.sqrt(matrix.sum(axis=0))
    norms[norms == 0] = 1
    similarity = matrix.T @ matrix / np.outer(norms, norms)
    np.fill_diagonal(similarity, 0)
    farther = np.argsort(-similarity, axis=1, kind="stable")[:, N_NEIGHBOURS:]
    np.put_along_axis(similarity, farther, 0, axis=1)
    # Row sums, not a second matrix product: the first adds whole numbers and is exact, but with
    # fractions a product depends on the order in which the machine at hand adds.
    return np.array([similarity[np.flatnonzero(row)].sum(axis=0) for row in matrix])


def top_lists(scores, matrix):
    """Yield the rows (user_id, item_id, rank, score) of the top lists.

    Parameters
    ----------
    scores, matrix : ndarray, users x items
        What to rank by, and what was read and is left out.

    Yields
    ------
    tuple
    """
    for user in np.flatnonzero(matrix.any(axis=1)):
        rounded = np.where(matrix[user] > 0, -np.inf, np.round(scores[user], 4))
        # Item numbers and item ids sort alike, so a stable sort leaves equal scores by item_id.
        best = np.argsort(-rounded, kind="stable")[:TOP_K]
        for rank, item in enumerate(best, start=1):
            yield USER_IDS[user], ITEM_IDS[item], rank, f"{rounded[item]:.4f}"


def log_rows(train, times):
    """Return the rows (user_id, item_id, timestamp) of the log, in order of time."""
    rows = [
        (USER_IDS[user], ITEM_IDS[item], int(time))
        for user, items in enumerate(train)
        for item, time in zip(items, times[user], strict=False)  # the later times are held out
    ]
    return sorted(rows, key=lambda row: (row[2], row[0]))


def write_csv(name, header, rows):
    """Write a table to the data folder, compressed if `name` ends in ``.gz``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    content = text.getvalue().encode()
    with open(DATA / name, "wb") as file:
        if name.endswith(".gz"):
            # Neither a time nor a file name in the header: the same rows give the same bytes.
            with gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed:
                packed.write(content)
        else:
            file.write(content)


def main():
    """Simulate, train and write all files."""
    rng = np.random.default_rng(SEED)
    reads, taste = simulate_reads(rng)
    times = [simulate_times(rng, len(items)) for items in reads]
    train, truth = split(rng, reads)
    matrix = interaction_matrix(train)

    DATA.mkdir(exist_ok=True)
    write_csv("train.csv.gz", ["user_id", "item_id", "timestamp"], log_rows(train, times))
    held_out = [(USER_IDS[u], ITEM_IDS[i]) for u, items in enumerate(truth) for i in items]
    write_csv("truth.csv", ["user_id", "item_id"], held_out)
    topics = [f"topic {number + 1:02d}" for number in taste]
    write_csv("items.csv.gz", ["item_id", "topic"], zip(ITEM_IDS, topics, strict=True))
    list_columns = ["user_id", "item_id", "rank", "score"]
    write_csv("popularity.csv.gz", list_columns, top_lists(popularity_scores(matrix), matrix))
    write_csv("itemknn.csv.gz", list_columns, top_lists(itemknn_scores(matrix), matrix))


if __name__ == "__main__":
    main()
