"""Metrics of the lists themselves: of one user's list, history and truth, or of five users' lists.

A peer answers by values of users, or of windows by the first user of each. It is silent about what
it refuses.
"""

import math
import random
import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import engine
from engine import Peer, Question, Values, peers_of
from oracle import beyond as oracle
from oracle import propensities as scored

SEED = 20_262
KS = [1, 3, 10, 20]
ITEMS, COLD = 150, 20  # as many of the items are in no history
LABELS, FEATURES = 8, 5
WINDOW = 5  # users whose lists are one input of a metric of all lists together
Lists = dict[str, list[int]]


@dataclass(eq=False)
class Population(engine.Population):
    """Lists, truths and histories of item ids by user; of each item labels and features.

    `distances` holds one number for each two items.
    """

    ks: list[int]
    lists: Lists
    truths: Lists
    history: Lists
    labels: dict[int, list[int]]
    features: dict[int, list[float]]
    distances: dict[int, list[float]]

    def __post_init__(self) -> None:
        """Work out what else is known of the items."""
        self.items = [*self.labels]
        # how many histories hold each item, of those that some hold; none holds one twice
        self.seen = Counter(item for row in self.history.values() for item in row)
        self.known = [*self.seen]
        self.counts = {item: self.seen[item] for item in self.items}
        self.shares = {item: n / self.seen.total() for item, n in self.counts.items()}
        self.n_users = sum(map(bool, self.history.values()))  # who have a history
        self.propensities = {item: (1 + n) / self.n_users for item, n in self.counts.items()}
        # the baseline, which everybody expects: the 20 items that most histories hold
        self.popular = sorted(self.items, key=lambda item: -self.seen[item])[:20]
        self.expected = dict.fromkeys(self.lists, self.popular)
        # a column per label, 1 where an item has it; the rows of items that have one
        every = range(LABELS)
        self.indicators = {i: [float(n in row) for n in every] for i, row in self.labels.items()}
        self.labelled = {item: row for item, row in self.indicators.items() if any(row)}
        # the share of the items seen that are as popular, of equal ones the mean; else 0
        values = [*self.seen.values()]
        below = {n: sum(one < n for one in values) for n in values}
        shares = {n: (below[n] + (values.count(n) + 1) / 2) / len(values) for n in values}
        self.quantiles = {item: shares.get(n, 0.0) for item, n in self.counts.items()}
        # one minus the cosine of the users of two items
        self.apart = {item: [1.0] * len(self.items) for item in self.items}
        for i, j in (pair for row in self.history.values() for pair in product(row, row)):
            self.apart[i][j] -= 1 / math.sqrt(self.counts[i] * self.counts[j])

    def cut(self, k: int) -> Lists:
        """Return the first k of all lists that hold something."""
        return {user: row[:k] for user, row in self.lists.items() if row}

    def windows(self, k: int) -> dict[str, Lists]:
        """Return some users' lists that hold something, by the user who starts a window.

        Each window has one of the k's. One in which nobody has a list is left out.
        """
        users, lists = [*self.lists], self.cut(k)
        found = {}
        for i in range(self.ks.index(k), len(users), len(self.ks)):
            some = (users[j % len(users)] for j in range(i, i + WINDOW))
            found[users[i]] = {user: lists[user] for user in some if user in lists}
        return {first: some for first, some in found.items() if some}

    def shown(self, user: str, k: int) -> str:
        """Say what a value was computed from, or from its first user."""
        return f"{self.lists[user][:k]}, history {self.history[user]}"

    def here(self, side: str, question: Question) -> dict[int, Values]:
        """Return the values of users, or of windows.

        A question is given facts of users and items by the names that they have here.
        """
        import sides

        facts = {name: one for name, one in question.given.items() if hasattr(self, one)}
        options = {name: one for name, one in question.given.items() if name not in facts}
        facts = {name: getattr(self, one) for name, one in facts.items()}
        options |= {"propensities": True} if "propensities" in facts else {}
        name = question.ours.replace("USERS", str(self.n_users))

        def values(lists: Lists, ks: list[int]) -> dict[int, Values]:
            truths = {user: {*self.truths[user]} for user in lists}
            if side == "by_oracle" and "propensities" in facts:
                rows = [*lists.values()], [*truths.values()], scored.weights(self.propensities)
                return {k: {"": getattr(scored, name)(*rows, k)} for k in ks}
            return getattr(sides, side)(name, lists, truths, ks, facts=facts, **options)

        if question.of != "windows":
            return values(self.lists, self.ks)
        return {
            k: {first: values(some, [k])[k][""] for first, some in self.windows(k).items()}
            for k in self.ks
        }


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw users: lists of up to 30 ids, some empty, of nothing in the history, which may be empty.

    An item has up to four labels; a user's items are popular ones, and a few of the list relevant.
    """
    source = random.Random(SEED)
    items = range(ITEMS)
    popularity = [1 / (item + 5) for item in items[:-COLD]]
    lists, truths, history = {}, {}, {}
    for user in map(str, range(1, n_inputs + 1)):
        n_seen = 0 if source.random() < 0.05 else source.randint(1, 20)
        history[user] = [*dict.fromkeys(source.choices(items[:-COLD], popularity, k=n_seen))]
        others = [item for item in items if item not in history[user]]
        lists[user] = source.sample(others, source.randint(0, 30))
        likely = lists[user] if source.random() < 0.9 else []
        wanted = [*{*likely, *source.sample(others, 10)}]
        truths[user] = source.sample(wanted, source.randint(1, 8))
    labels = {i: sorted(source.sample(range(LABELS), source.randint(0, 4))) for i in items}
    features = {i: [source.gauss(0, 1) for _ in range(FEATURES)] for i in items}
    distances = {i: [0.0] * ITEMS for i in items}
    for i in items:
        for j in items[:i]:
            distances[i][j] = distances[j][i] = source.random()
    return [Population(KS, lists, truths, history, labels, features, distances)]


# What peers give instead, where it is stated: of one user, or of the first user of a window


def unlike_pairs(world: Population, _: Question, user: str, k: int) -> float:
    """Evaluate diversity where two items without a label have the distance 0, as scipy says."""

    def distance(a: Any, b: Any) -> float:
        return oracle.jaccard_distance(a, b) if a or b else 0.0

    return oracle.intra_list_diversity(world.lists[user], k, world.labels, distance)


def pairs_alone(world: Population, _: Question, user: str, k: int) -> float:
    """Evaluate diversity of known pairs: 0 without any pair, NaN without one that is known."""
    listed = world.lists[user][:k]
    known = [item for item in listed if item in world.labelled]
    if len(known) < 2:
        return math.nan if len(listed) > 1 else 0.0
    return oracle.intra_list_diversity(known, k, world.labelled, oracle.hamming_distance)


def hits_above_popularity(world: Population, _: Question, user: str, k: int) -> float:
    """Add up by how much higher than by popularity the hits stand, over the list."""
    n, levels, total = len(world.items), sorted({*world.seen.values()}, reverse=True), 0.0
    for rank, item in enumerate(world.lists[user][:k], start=1):
        if item in world.truths[user]:
            known = item in world.seen
            wanted = (n - levels.index(world.seen[item])) / n if known else 0.0
            total += max((n + 1 - rank) / n - wanted, 0.0)
    return total / len(world.lists[user][:k])


def unlike_history(world: Population, question: Question, user: str, k: int) -> float:
    """Return how unlike their user's history the hits are, a mean over the list."""

    def distance(a: int, b: int) -> float:
        if question.theirs.endswith("features"):
            return oracle.cosine_distance(world.features[a], world.features[b])
        return world.apart[a][b]

    history, listed = world.history[user], world.lists[user][:k]
    hits = [item for item in listed if item in world.truths[user]]
    means = [sum(distance(item, one) for one in history) / len(history) for item in hits]
    return sum(means) / len(listed)


def cold_are_worth_nothing(world: Population, _: Question, user: str, k: int) -> float:
    """Average self-information over all items listed, 0 of those that nobody has seen."""
    total, listed = world.seen.total(), world.lists[user][:k]
    return sum(-math.log2(world.seen[i] / total) for i in listed if i in world.seen) / len(listed)


def cold_are_counted(world: Population, _: Question, first: str, k: int) -> float:
    """Divide all items listed by those of the histories."""
    return len({item for row in world.windows(k)[first].values() for item in row}) / len(world.seen)


def over_k(world: Population, _: Question, user: str, k: int) -> float:
    """Take the share of k places that the first k of the baseline hold off 1."""
    return 1 - len({*world.lists[user][:k]} & {*world.popular[:k]}) / k


def over_both_lengths(world: Population, _: Question, first: str, k: int) -> float:
    """Divide what is shared by both lengths in place of k."""
    return oracle.personalisation_by_cosine([*world.windows(k)[first].values()], k)


# The peers


def rectools(world: Population, theirs: str, k: int) -> Values:
    """Return metrics of frames; distances other than Hamming's are scipy's, or given."""
    from rectools import metrics

    name, _, kind = theirs.partition(", ")
    if name == "CatalogCoverage":
        metric, windows = metrics.CatalogCoverage(k, normalize=True), world.windows(k).items()
        return {first: float(metric.calc(ranked(some), world.items)) for first, some in windows}
    if name == "IntraListDiversity":
        metric, given = metrics.IntraListDiversity(k, distances(world, kind)), ()
    else:
        options = {"normalize": True} if kind else {}
        metric, given = getattr(metrics, name)(k, **options), (ranked(world.history),)
    if name == "Serendipity":
        given = ranked(world.truths), *given, world.items
    return metric.calc_per_user(ranked(world.lists), *given).to_dict()


def ranked(lists: Lists) -> Any:
    """Return a frame of user, item and rank of every place."""
    import pandas as pd

    rows = [(u, item, rank) for u, row in lists.items() for rank, item in enumerate(row, 1)]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])


def distances(world: Population, kind: str) -> Any:
    """Return RecTools' calculator of the distances of two items."""
    import numpy as np
    import pandas as pd
    from rectools.metrics.distances import PairwiseDistanceCalculator
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator as Hamming
    from scipy.spatial.distance import cdist

    class Given(PairwiseDistanceCalculator):
        def __init__(self, matrix: Any) -> None:
            self.matrix = np.asarray(matrix)

        def _get_distances_for_item_pairs(self, a: Any, b: Any) -> Any:
            return self.matrix[np.asarray(a, int), np.asarray(b, int)]

    labels, features = (np.array([*x.values()]) for x in (world.indicators, world.features))
    if kind == "hamming":
        return Hamming(pd.DataFrame(labels))
    if kind == "hamming of some":
        return Hamming(pd.DataFrame(labels)[labels.any(axis=1)])
    if kind == "given":
        return Given([*world.distances.values()])
    rows = features if kind == "cosine" else labels > 0
    return Given(cdist(rows, rows, kind))


def lenskit(world: Population, theirs: str, k: int) -> Values:
    """Return values of lists one by one, or of windows of them."""
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.metrics import ranking

    if theirs == "MeanPopRank":
        data = from_interactions_df(ranked(world.history))
        metric, lists = ranking.MeanPopRank(data, n=k), world.cut(k).items()
        return {u: metric.measure_list(ItemList(row, ordered=True), None) for u, row in lists}
    metric, found = ranking.ListGini(k, items=len(world.items)), {}
    for first, some in world.windows(k).items():
        lists = (ItemList(row, ordered=True) for row in some.values())
        parts = [metric.compute_list_data(one, None) for one in lists]
        found[first] = float(metric.global_aggregate(parts))
    return found


def recommenders(world: Population, theirs: str, k: int) -> Values:
    """Return values of frames of lists that are cut at k."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as package

    warnings.simplefilter("ignore")  # of pandas, by the thousand
    name, _, kind = theirs.partition(", ")
    function, lists, some = getattr(package, name), world.cut(k), world.windows(k)
    train, names = ranked(world.history), {"col_user": "user_id", "col_item": "item_id"}
    if name == "novelty":  # of one user at a time, in place of a mean over all places of all lists
        some = {user: {user: lists[user]} for user in some if user in lists}
    if not name.startswith("user_"):
        return {first: float(function(train, ranked(one), **names)) for first, one in some.items()}
    reco, options = ranked(lists), {}
    if kind:
        vectors = [*map(np.array, world.features.values())]
        features = pd.DataFrame({"item_id": world.items, "features": vectors})
        options = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
    if name == "user_serendipity":
        pairs = zip(reco["user_id"], reco["item_id"], strict=True)
        reco["relevance"] = [float(item in world.truths[user]) for user, item in pairs]
        options["col_relevance"] = "relevance"
    found = function(train, reco, **names, **options)
    return dict(zip(found["user_id"], found[name].astype(float), strict=True))


def scipy(world: Population, theirs: str, k: int) -> Values:
    """Return calibration by its entropy and distances, of matrices, as in Steck's equations."""
    import numpy as np
    from scipy.spatial.distance import euclidean, pdist
    from scipy.stats import entropy

    found = {}
    if theirs.startswith("pdist"):
        for first, some in world.windows(k).items():
            held = np.zeros((len(some), ITEMS))
            for place, row in enumerate(some.values()):
                held[place, row] = 1
            if len(some) > 1:
                found[first] = float(pdist(held, "cosine").mean())
        return found
    labels = np.array([*world.indicators.values()])
    labels /= np.maximum(labels.sum(axis=1, keepdims=True), 1)
    for user, row in world.cut(k).items():
        ranks = np.arange(1, len(row) + 1)
        weights = 1 / np.log2(ranks + 1) if "by rank" in theirs else ranks > 0
        p, q = labels[world.history[user]].sum(axis=0), weights @ labels[row]
        if p.any() and q.any():
            p, q = p / p.sum(), q / q.sum()
            distance = euclidean(np.sqrt(p), np.sqrt(q)) / math.sqrt(2)
            kl = theirs.startswith("entropy")
            found[user] = float(entropy(p, 0.99 * q + 0.01 * p) if kl else distance)
    return found


def replay(world: Population, theirs: str, k: int) -> Values:
    """Return values of dicts of lists beside one baseline for everybody."""
    from replay import metrics

    lists = world.cut(k)
    reco, same = (
        {u: [(i, -float(place)) for place, i in enumerate(row)] for u, row in some.items()}
        for some in (lists, dict.fromkeys(lists, world.popular))
    )
    metric = getattr(metrics, theirs)([k], mode=metrics.PerUser())
    return dict(metric(reco, same)[f"{theirs}-PerUser@{k}"])


def pyxclib(world: Population, theirs: str, k: int) -> Values:
    """Return what is scored by propensities of windows whose lists all reach down to k."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from xclib.evaluation import xc_metrics

    weights = 1 / np.array([*world.propensities.values()])

    def value(lists: Lists) -> float:
        places = [(u, i) for u, user in enumerate(lists) for i in world.truths[user]]
        shape = len(lists), ITEMS
        truth = csr_matrix((np.ones(len(places)), tuple(np.array(places).T)), shape)
        rows = np.array([*lists.values()])
        return float(getattr(xc_metrics, theirs)(rows, truth, weights, k=k, sorted=True)[-1])

    windows = world.windows(k).items()
    return {first: value(some) for first, some in windows if min(map(len, some.values())) == k}


PEERS = peers_of("lists")
