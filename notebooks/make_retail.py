"""Write the real purchases of notebook 3 and the lists of recommendations of notebook 6.

Source: Online Retail, UCI Machine Learning Repository, https://doi.org/10.24432/C5BW33 (Chen, Sain
and Guo, "Data mining for the online retail industry", Journal of Database Marketing & Customer
Strategy Management 19(3), 2012), licensed under CC BY 4.0. It is the log of a British shop of
gifts, 2010-12-01 to 2011-12-09; many of its customers are wholesalers.

Run ``python make_retail.py LOG``, where LOG is a CSV file, also gzipped, with the columns user_id,
item_id, timestamp, order_id, or UCI's own CustomerID, StockCode, InvoiceDate, InvoiceNo (others do
not matter). UCI's sheet becomes such a file by
``pandas.read_excel("Online Retail.xlsx").to_csv("log.csv", index=False)``. Only numpy is needed,
and nothing is downloaded. The files go to ``retail/`` next to this script, and every run writes the
same bytes:

- ``log.csv.gz``: user_id, item_id, timestamp; the purchases since 2011-11-01, repeats included, in
  order of time, user and item,
- ``truth.jsonl.gz``: a line per user, {"user_id": ..., "item_id": [...]}; what was held out, in
  order of item_id,
- ``popularity.jsonl.gz``, ``itemknn.jsonl.gz``, ``itemknn-shrunk.jsonl.gz``, ``ease.jsonl.gz``: the
  same with 50 recommended items, best first,
- ``mf-seed1.jsonl.gz`` to ``mf-seed5.jsonl.gz``: 10 items of one more model, trained five times,
- ``users.csv.gz``: user_id, baskets; how many orders the user had made by the last item in
  training: 1, 2 to 3, or 4 or more.

What was changed. Rows without a customer and cancelled orders (C...) are dropped; so are codes
that are no product: all but five digits, with or without letters (POST, M, C2, DOT, BANK CHARGES,
PADS). Nothing else was changed for ``log.csv.gz``. For the lists: of repeated purchases the first
is kept, so nothing held out is in the user's training part. The products of a user are put in order
of that first time. A basket has one time, so ties are the rule: they stand in the order of a hash
(BLAKE2b) of user and product, which follows neither the log nor the codes. The last fifth, rounded
down, is held out of the users with at least 15 products; the others are in training only. The
split is by each user's own clock: what others bought later is in training too, and a basket may be
cut in two. Lists leave out what the user has in training and are ordered by the score, rounded to 6
decimals, the highest first, and equal scores by item_id, ascending.

What the models are for. They show how systems are compared, and say nothing about which model is
good. Their settings were chosen while looking at the held-out purchases: EASE is regularised far
more strongly than suits it (of the penalties tried, 50 and 100 do best), and the neighbourhoods
are larger than suits them (10 is better than 100), so that EASE leads clearly in long lists, just
so in lists of 10, and not at the top. The shrinkage was set to change little, for the worse, and
the factorisation is stopped early, where its seeds differ more. Never choose like that for a
result.
"""

import csv
import gzip
import hashlib
import io
import json
import re
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "retail"

COLUMNS = ["user_id", "item_id", "timestamp", "order_id"]
UCI_COLUMNS = ["CustomerID", "StockCode", "InvoiceDate", "InvoiceNo"]
PRODUCT = re.compile(r"[0-9]{5}[A-Za-z]*")

LOG_SINCE = "2011-11-01"

MIN_ITEMS = 15
HELD_OUT = 5  # one of so many
BASKETS = [(1, "1"), (3, "2 to 3"), (np.inf, "4 or more")]

TOP_K = 50
N_NEIGHBOURS = 100
SHRINKAGE = 20
EASE_PENALTY = 1300

MF_TOP_K = 10
MF_SEEDS = [1, 2, 3, 4, 5]
MF_FACTORS = 16
MF_ROUNDS = 5
MF_PENALTY = 1
MF_CONFIDENCE = 10  # a purchase weighs 1 + 10, anything else 1


def read_log(path):
    """Return the purchases of products as rows (user, time, item, order).

    Parameters
    ----------
    path : str
        A CSV file with a header, gzipped if its name ends in ``.gz``.

    Returns
    -------
    list of tuple of (int, str, str, str)
    """
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        names = COLUMNS if COLUMNS[0] in header else UCI_COLUMNS
        missing = [name for name in names if name not in header]
        if missing:
            sys.exit(f"{path} has no column {missing[0]}; it has {', '.join(header)}")
        places = [header.index(name) for name in names]
        rows = []
        for row in reader:
            user, item, time, order = (row[place] for place in places)
            if user and not order.startswith("C") and PRODUCT.fullmatch(item):
                # UCI's sheet holds customers as 17850.0; times are YYYY-MM-DD HH:MM:SS, and sort.
                rows.append((int(float(user)), time, item, order))
    return rows


def first_purchases(rows):
    """Return each user's distinct items, the first bought first, ties by a hash.

    Parameters
    ----------
    rows : list of tuple of (user, time, item, order)

    Returns
    -------
    dict of int to list of (time, item)
        Users ascending.
    """
    first = {}
    for user, time, item, _ in rows:
        if (user, item) not in first or time < first[user, item]:
            first[user, item] = time
    keyed = []
    for (user, item), time in first.items():
        tie = hashlib.blake2b(f"{user} {item}".encode(), digest_size=8).digest()
        keyed.append((user, time, tie, item))
    histories = {}
    for user, time, _, item in sorted(keyed):
        histories.setdefault(user, []).append((time, item))
    return histories


def split(histories):
    """Hold out the last fifth of each user with at least `MIN_ITEMS` items.

    Parameters
    ----------
    histories : dict of int to list of (time, item)

    Returns
    -------
    train : dict of int to list of (time, item)
        Of all users.
    truth : dict of int to list of str
        Items ascending, of the users that are evaluated.
    """
    train, truth = {}, {}
    for user, history in histories.items():
        n_train = len(history)
        if n_train >= MIN_ITEMS:
            n_train -= n_train // HELD_OUT
            truth[user] = sorted(item for _, item in history[n_train:])
        train[user] = history[:n_train]
    return train, truth


def basket_labels(rows, train, users):
    """Label users by how many orders they had made up to the last item of their training part.

    Parameters
    ----------
    rows : list of tuple of (user, time, item, order)
    train : dict of int to list of (time, item)
    users : iterable of int

    Returns
    -------
    list of str
    """
    orders = {user: set() for user in train}
    for user, time, _, order in rows:
        if time <= train[user][-1][0]:
            orders[user].add(order)
    return [next(name for most, name in BASKETS if len(orders[user]) <= most) for user in users]


def interaction_matrix(train, item_ids):
    """Return the users x items matrix of the training part, as 0.0 and 1.0."""
    numbers = {item: number for number, item in enumerate(item_ids)}
    matrix = np.zeros((len(train), len(item_ids)))
    for row, history in enumerate(train.values()):
        matrix[row, [numbers[item] for _, item in history]] = 1
    return matrix


def itemknn_scores(matrix, together, evaluated, shrinkage):
    """Score each item by its similarity to the user's items, as far as they are its neighbours.

    Similarity is the cosine of two columns of `matrix`, with `shrinkage` added to the divisor,
    which lowers that of items seldom bought. An item has `N_NEIGHBOURS` neighbours, the most
    similar ones; of equally similar ones, those that come first by item_id.

    Parameters
    ----------
    matrix, together : ndarray
        Users x items, and how many users have both of two items.
    evaluated : ndarray of int
        The rows of `matrix` to score.
    shrinkage : float

    Returns
    -------
    ndarray, evaluated users x items
    """
    n_buyers = np.diag(together)
    divisor = np.sqrt(np.outer(n_buyers, n_buyers)) + shrinkage
    # Items nobody has in training are like no other.
    similarity = np.divide(together, divisor, out=np.zeros_like(together), where=together > 0)
    np.fill_diagonal(similarity, 0)
    farther = np.argsort(-similarity, axis=1, kind="stable")[:, N_NEIGHBOURS:]
    np.put_along_axis(similarity, farther, 0, axis=1)
    # Sums of rows, not a matrix product, which with fractions depends on the order in which the
    # machine at hand adds; `together` is made of whole numbers and exact.
    votes = np.ascontiguousarray(similarity.T)
    return np.array([votes[np.flatnonzero(row)].sum(axis=0) for row in matrix[evaluated]])


def ease_scores(matrix, together, evaluated):
    """Score by the linear model that predicts each item from the others (Steck, WWW 2019)."""
    inverse = np.linalg.inv(together + EASE_PENALTY * np.eye(len(together)))
    weights = inverse / -np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return matrix[evaluated] @ weights


def mf_scores(matrix, evaluated, seed):
    """Score by a factorisation of few factors from a random start (Hu, Koren, Volinsky 2008).

    The rounds are too few to settle; where they would settle depends on the seed as well.
    """

    def solve(values, factors):
        pairs = (factors[:, :, None] * factors[:, None, :]).reshape(len(factors), -1)
        left = MF_CONFIDENCE * (values @ pairs).reshape(-1, MF_FACTORS, MF_FACTORS)
        left += factors.T @ factors + MF_PENALTY * np.eye(MF_FACTORS)
        right = (1 + MF_CONFIDENCE) * (values @ factors)
        return np.linalg.solve(left, right[:, :, None])[:, :, 0]

    of_items = np.random.default_rng(seed).normal(scale=0.1, size=(matrix.shape[1], MF_FACTORS))
    for _ in range(MF_ROUNDS):
        of_users = solve(matrix, of_items)
        of_items = solve(matrix.T, of_users)
    return of_users[evaluated] @ of_items.T


def top_lists(scores, seen, k):
    """Return the numbers of the k best items of each user, best first.

    Parameters
    ----------
    scores, seen : ndarray, users x items
        What to rank by, and what was bought and is left out (1.0).
    k : int

    Returns
    -------
    ndarray of int, users x k
    """
    losses = np.where(seen > 0, np.inf, -np.round(scores, 6))
    lists = np.empty((len(losses), k), dtype=int)
    for user, loss in enumerate(losses):
        last = np.partition(loss, k - 1)[k - 1]
        # Item numbers and item ids sort alike, so a stable sort leaves equal scores by item_id.
        items = np.flatnonzero(loss <= last)
        lists[user] = items[np.argsort(loss[items], kind="stable")[:k]]
    return lists


def write_packed(name, text):
    """Write a gzipped file to the folder, without a time or a name in its header."""
    with (
        open(FOLDER / name, "wb") as file,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed,
    ):
        packed.write(text.encode())


def write_lists(name, users, lists):
    """Write a JSON object per user: the user and a list of items."""
    lines = io.StringIO()
    for user, items in zip(users, lists, strict=True):
        row = {"user_id": user, "item_id": list(items)}
        lines.write(json.dumps(row, separators=(",", ":")) + "\n")
    write_packed(name, lines.getvalue())


def write_log(rows):
    """Write the purchases since `LOG_SINCE`, a line each."""
    purchases = sorted((time, user, item) for user, time, item, _ in rows if time >= LOG_SINCE)
    lines = [f"{user},{item},{time[:16]}\n" for time, user, item in purchases]
    write_packed("log.csv.gz", "user_id,item_id,timestamp\n" + "".join(lines))


def main():
    """Read the log named on the command line, split, train and write all files."""
    if len(sys.argv) != 2:
        sys.exit("usage: python make_retail.py LOG")
    rows = read_log(sys.argv[1])
    train, truth = split(first_purchases(rows))
    users = list(truth)
    item_ids = sorted({item for _, _, item, _ in rows})
    matrix = interaction_matrix(train, item_ids)
    together = matrix.T @ matrix
    evaluated = np.flatnonzero([user in truth for user in train])
    seen = matrix[evaluated]

    FOLDER.mkdir(exist_ok=True)
    write_log(rows)
    write_lists("truth.jsonl.gz", users, truth.values())
    labels = basket_labels(rows, train, users)
    lines = [f"{user},{label}\n" for user, label in zip(users, labels, strict=True)]
    write_packed("users.csv.gz", "user_id,baskets\n" + "".join(lines))

    def write_system(name, scores, k):
        lists = top_lists(scores, seen, k)
        write_lists(f"{name}.jsonl.gz", users, ([item_ids[i] for i in row] for row in lists))

    write_system("popularity", np.broadcast_to(matrix.sum(axis=0), seen.shape), TOP_K)
    write_system("itemknn", itemknn_scores(matrix, together, evaluated, 0), TOP_K)
    write_system("itemknn-shrunk", itemknn_scores(matrix, together, evaluated, SHRINKAGE), TOP_K)
    write_system("ease", ease_scores(matrix, together, evaluated), TOP_K)
    for seed in MF_SEEDS:
        write_system(f"mf-seed{seed}", mf_scores(matrix, evaluated, seed), MF_TOP_K)


if __name__ == "__main__":
    main()
