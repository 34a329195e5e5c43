"""What each peer of `lists.py` answers, run in the peer's own environment.

    python lists_answers.py rectools < asked.json      # the last line printed is JSON

Nothing but the standard library is imported before a peer is named. A peer is one function of a
population, a metric in the peer's words and a k; it returns a value by user or, of a metric of all
lists together, by the first user of each window of `Population.windows`. It is silent about what it
refuses.

Elliot is on no package index, ClayRS asks for hundreds of MB and LensKit 2026 for Python 3.12. What
they compute was read in their sources and is written anew here: sisinflab/elliot at fc27efe, below
elliot/evaluation: metrics/diversity/gini_index/gini_index.py:74, shannon_entropy.py:74,
item_coverage.py:51, bias/arp/arp.py:57, aplt.py:61, BiasDisparityBR.py:106 and
popularity_utils/popularity.py; swapUniba/ClayRS at 6df4fbe,
clayrs/evaluation/metrics/fairness_metrics.py:517; lenskit/lkpy at 3bd1c17,
src/lenskit/metrics/ranking/_ils.py:18 and metrics/basic.py:75.
"""

import json
import math
import sys
import warnings
from collections import Counter
from importlib.metadata import version
from itertools import combinations
from typing import Any, NamedTuple

Values = dict[str, float]
WINDOW = 5  # users whose lists are one input of a metric of all lists together


class Population(NamedTuple):
    """Lists, truths and histories of item ids by user; of each item labels, features, a provider.

    Ids are the places 0..n-1 of the last four, `distances` holds one number for each two items.
    """

    ks: list[int]
    lists: dict[str, list[int]]
    truths: dict[str, list[int]]
    histories: dict[str, list[int]]
    labels: list[list[int]]
    features: list[list[float]]
    providers: list[int]
    distances: list[list[float]]

    def cut(self, k: int) -> dict[str, list[int]]:
        """Return the first k of all lists that hold something."""
        return {user: row[:k] for user, row in self.lists.items() if row}

    def windows(self, k: int) -> dict[str, dict[str, list[int]]]:
        """Return some users' lists for each user who starts a window; each has one of the k's."""
        users = [*self.lists]
        starts = range(self.ks.index(k), len(users), len(self.ks))
        named = {users[i]: [users[j % len(users)] for j in range(i, i + WINDOW)] for i in starts}
        return {first: {u: self.lists[u][:k] for u in some} for first, some in named.items()}

    def filled(self, k: int) -> dict[str, list[list[int]]]:
        """Return the lists of each window, without those that hold nothing."""
        found = {
            name: [row for row in some.values() if row] for name, some in self.windows(k).items()
        }
        return {name: rows for name, rows in found.items() if rows}

    def rows(self, lists: dict[str, list[int]]) -> list[tuple[str, int, int]]:
        """Return user, item and rank of every place."""
        return [(u, item, rank) for u, row in lists.items() for rank, item in enumerate(row, 1)]

    @property
    def counts(self) -> Counter[int]:
        """How many histories hold each item; none holds one twice."""
        return Counter(item for row in self.histories.values() for item in row)

    @property
    def popular(self) -> list[int]:
        """The baseline: the 20 items that most histories hold."""
        counts = self.counts
        return sorted(range(len(self.labels)), key=lambda item: -counts[item])[:20]

    def indicators(self) -> list[list[float]]:
        """Return a column per label, 1 where an item has it."""
        every = sorted({label for row in self.labels for label in row})
        return [[float(label in row) for label in every] for row in self.labels]


def rectools(population: Population, theirs: str, k: int) -> Values:
    """Evaluate a metric of frames; distances other than Hamming's are scipy's, or given."""
    import numpy as np
    import pandas as pd
    from rectools import metrics
    from rectools.metrics.distances import PairwiseDistanceCalculator
    from scipy.spatial.distance import cdist

    class Given(PairwiseDistanceCalculator):
        def __init__(self, matrix: Any) -> None:
            self.matrix = np.asarray(matrix)

        def _get_distances_for_item_pairs(self, a: Any, b: Any) -> Any:
            return self.matrix[np.asarray(a, int), np.asarray(b, int)]

    columns = ["user_id", "item_id", "rank"]
    reco = pd.DataFrame(population.rows(population.lists), columns=columns)
    before = pd.DataFrame(population.rows(population.histories), columns=columns)
    items = range(len(population.labels))
    labelled = pd.DataFrame(population.indicators())
    name, _, kind = theirs.partition(", ")
    if name == "IntraListDiversity":
        known = labelled[labelled.any(axis=1)] if kind == "hamming of some" else labelled
        given = {
            "cosine": lambda: Given(cdist(population.features, population.features, "cosine")),
            "jaccard": lambda: Given(
                cdist(labelled.astype(bool), labelled.astype(bool), "jaccard")
            ),
            "given": lambda: Given(population.distances),
        }
        hamming = lambda: metrics.PairwiseHammingDistanceCalculator(known)  # noqa: E731
        distance = given.get(kind, hamming)()
        return metrics.IntraListDiversity(k, distance).calc_per_user(reco).to_dict()
    if name == "Serendipity":
        truth = pd.DataFrame(population.rows(population.truths), columns=columns)
        metric = metrics.Serendipity(k)
        return metric.calc_per_user(reco, truth, before, items).to_dict()
    if name == "CatalogCoverage":
        metric = metrics.CatalogCoverage(k, normalize=True)
        frames = {
            first: pd.DataFrame(population.rows(some), columns=columns)
            for first, some in population.windows(k).items()
        }
        return {first: float(metric.calc(frame, items)) for first, frame in frames.items()}
    options = {"normalize": True} if kind == "normalize" else {}
    return getattr(metrics, name)(k, **options).calc_per_user(reco, before).to_dict()


def lenskit(population: Population, theirs: str, k: int) -> Values:
    """Evaluate lists one by one, or windows of them."""
    import numpy as np
    import pandas as pd
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.metrics import ranking

    by_rank = ranking.LogRankWeight(offset=1)
    if theirs.endswith("Gini"):
        options = {"weight": by_rank} if theirs == "ExposureGini" else {}
        metric = getattr(ranking, theirs)(k, items=len(population.labels), **options)
        windows = {
            first: [metric.compute_list_data(ItemList(row, ordered=True), None) for row in rows]
            for first, rows in population.filled(k).items()
        }
        return {first: float(metric.global_aggregate(one)) for first, one in windows.items()}
    lists = population.cut(k)
    if theirs == "MeanPopRank":
        before = pd.DataFrame(
            population.rows(population.histories), columns=["user", "item", "rank"]
        )
        data = from_interactions_df(before, user_col="user", item_col="item")
        metric = ranking.MeanPopRank(data, n=k)
        return {
            u: metric.measure_list(ItemList(row, ordered=True), None) for u, row in lists.items()
        }
    matrix = np.array(population.indicators())
    matrix /= np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    options = {"weight": by_rank} if theirs == "rank_biased_entropy" else {}
    metric = getattr(ranking, theirs)
    return {u: metric(ItemList(row), matrix[row], **options) for u, row in lists.items()}


def recommenders(population: Population, theirs: str, k: int) -> Values:
    """Evaluate frames of lists that are cut at k."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as package

    def frame(lists: dict[str, list[int]]) -> Any:
        return pd.DataFrame(population.rows(lists), columns=["userID", "itemID", "rank"])

    train = frame(population.histories)
    name, _, kind = theirs.partition(", ")
    function = getattr(package, name)
    if name == "novelty":  # of one user at a time, in place of a mean over all places of all lists
        some = {u: {u: row} for u, row in population.cut(k).items() if u in population.windows(k)}
        return {u: float(function(train, frame(one))) for u, one in some.items()}
    if name.endswith("coverage"):
        windows = population.windows(k).items()
        found = {first: frame(some) for first, some in windows if any(some.values())}
        return {first: float(function(train, one)) for first, one in found.items()}
    reco = frame(population.cut(k))
    hits = [item in population.truths[u] for u, item in zip(reco.userID, reco.itemID, strict=True)]
    options: dict[str, Any] = {}
    if kind == "features":
        features = pd.DataFrame({"itemID": range(len(population.features))})
        features["features"] = [np.array(row) for row in population.features]
        options = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
    if name == "user_serendipity":
        reco["relevance"] = np.array(hits, float)
        options["col_relevance"] = "relevance"
    found = function(train, reco, **options)
    return dict(zip(found["userID"], found[name].astype(float), strict=True))


def scipy(population: Population, theirs: str, k: int) -> Values:
    """Calibrate by its entropy and its distances: the rows of matrices, as in Steck's equations."""
    import numpy as np
    from scipy.spatial.distance import euclidean, pdist
    from scipy.stats import entropy

    matrix = np.array(population.indicators())
    found = {}
    if theirs.startswith("pdist"):
        for first, rows in population.filled(k).items():
            held = np.zeros((len(rows), len(matrix)))
            for place, row in enumerate(rows):
                held[place, row] = 1
            if len(rows) > 1:
                found[first] = float(pdist(held, "cosine").mean())
        return found
    matrix /= np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    for user, row in population.cut(k).items():
        weights = (
            1 / np.log2(np.arange(2, len(row) + 2)) if "by rank" in theirs else np.ones(len(row))
        )
        p, q = matrix[population.histories[user]].sum(axis=0), weights @ matrix[row]
        if p.any() and q.any():
            p, q = p / p.sum(), q / q.sum()
            divergence = entropy(p, 0.99 * q + 0.01 * p)
            distance = euclidean(np.sqrt(p), np.sqrt(q)) / math.sqrt(2)
            found[user] = float(distance if theirs.startswith("euclidean") else divergence)
    return found


def replay(population: Population, theirs: str, k: int) -> Values:
    """Evaluate dicts of lists beside one baseline for everybody."""
    from replay import metrics

    lists = population.cut(k)
    scored, same = (
        {u: [(i, -float(place)) for place, i in enumerate(row)] for u, row in some.items()}
        for some in (lists, dict.fromkeys(lists, population.popular))
    )
    metric = getattr(metrics, theirs)([k], mode=metrics.PerUser())
    return dict(metric(scored, same)[f"{theirs}-PerUser@{k}"])


# Those whose facts are read


def lenskit_2026(population: Population, theirs: str, k: int) -> Values:
    """Evaluate the mean cosine of two items, 1 of one item; or how many items are listed at all."""
    if theirs == "UniqueItemCount":
        windows = population.windows(k).items()
        return {first: len({i for row in some.values() for i in row}) for first, some in windows}

    def unit(row: list[float]) -> list[float]:
        length = math.hypot(*row) or 1.0
        return [x / length for x in row]

    vectors = [*map(unit, population.indicators())]

    def similarity(row: list[int]) -> float:
        pairs = [
            sum(x * y for x, y in zip(vectors[i], vectors[j], strict=True))
            for i, j in combinations(row, 2)
        ]
        return sum(pairs) / len(pairs) if pairs else 1.0

    return {user: similarity(row) for user, row in population.cut(k).items()}


def elliot(population: Population, theirs: str, k: int) -> Values:
    """Evaluate the first k; the tail is all but the items of 80 % of the interactions."""
    counts, catalogue = population.counts, len(population.labels)
    lists, windows = population.cut(k), population.filled(k)
    if theirs == "ARP":  # a KeyError for an item that is not in the training data
        known = {user: row for user, row in lists.items() if counts.keys() >= {*row}}
        return {user: sum(counts[i] for i in row) / len(row) for user, row in known.items()}
    if theirs == "APLT":
        tail = elliot_tail(counts)
        return {user: len(tail & {*row}) / len(row) for user, row in lists.items()}
    if theirs == "ItemCoverage":
        return {first: len({i for row in rows for i in row}) for first, rows in windows.items()}
    if theirs.startswith("BiasDisparityBR"):
        mine = {i for i, one in enumerate(population.providers) if str(one) == theirs[-1]}
        of_catalogue = len(mine) / catalogue
        return {
            first: sum(i in mine for row in rows for i in row) / sum(map(len, rows)) / of_catalogue
            for first, rows in windows.items()
        }
    found = {}
    for first, rows in windows.items():
        listed = Counter(i for row in rows for i in row)
        total = sum(listed.values())
        if theirs == "Gini":
            rising = [0] * (catalogue - len(listed)) + sorted(listed.values())
            parts = ((2 * j - catalogue - 1) * n / total for j, n in enumerate(rising, 1))
            found[first] = 1 - sum(parts) / (catalogue - 1)
        else:  # SEntropy: every user weighs the same, also those with short lists, or none
            bits = sum(-math.log2(listed[i] / total) / len(row) for row in rows for i in row)
            found[first] = bits / WINDOW
    return found


def elliot_tail(counts: Counter[int]) -> set[int]:
    """Return the items below its short head."""
    left = counts.total() * 0.8
    tail = set()
    for item in sorted(counts, key=lambda one: (-counts[one], one)):
        if left <= 0:
            tail.add(item)
        left -= counts[item]
    return tail


def clayrs(population: Population, theirs: str, k: int) -> Values:
    """Evaluate DeltaGap of groups: one user each, or a window of users."""
    n_users = sum(map(bool, population.histories.values()))
    popularity = {item: count / n_users for item, count in population.counts.items()}

    def gap(rows: list[list[int]]) -> float:
        return sum(sum(popularity.get(i, 0.0) for i in row) / len(row) for row in rows) / len(rows)

    groups = {u: [u] for u in population.lists}
    if theirs.endswith("of groups"):
        groups = {first: [*some] for first, some in population.windows(k).items()}
    found = {}
    for name, users in groups.items():
        users = [u for u in users if population.lists[u] and population.histories[u]]
        if users:
            before = gap([population.histories[u] for u in users])
            found[name] = (gap([population.lists[u][:k] for u in users]) - before) / before
    return found


PEERS = {
    peer.__name__: peer
    for peer in (rectools, lenskit, recommenders, replay, scipy, lenskit_2026, elliot, clayrs)
}


def answers(name: str, population: Population, asked: list[str]) -> list[list[Values]]:
    """Return a peer's values: a row per question, a column per k."""
    return [[PEERS[name](population, theirs, k) for k in population.ks] for theirs in asked]


def main() -> None:
    """Answer what is on the standard input."""
    name, package = sys.argv[1:]
    warnings.simplefilter("ignore")  # of pandas, by the thousand
    population, asked = json.load(sys.stdin)
    found = answers(name, Population(*population), asked)
    print()
    print(json.dumps({"version": version(package), "answers": found}))


if __name__ == "__main__":
    main()
