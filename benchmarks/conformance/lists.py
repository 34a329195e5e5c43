"""Metrics of the lists themselves: of one user's list, history and truth, or of five users' lists.

A peer is silent about what it refuses.
"""

import math
import random
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from engine import Peer, Question
from oracle import beyond as oracle
from oracle import propensities as scored

SEED = 20_262
KS = [1, 3, 10, 20]
ITEMS, COLD = 150, 20  # as many of the items are in no history
LABELS, FEATURES = 8, 5
WINDOW = 5  # users whose lists are one input of a metric of all lists together
WHOLE = {"item_coverage", "gini", "shannon_entropy", "personalisation", "psp", "psndcg"}
Lists = dict[str, list[int]]
Values = dict[str, float]


@dataclass(eq=False)
class Population:
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

    def filled(self, k: int) -> dict[str, list[list[int]]]:
        """Return the lists of each window alone."""
        return {first: [*some.values()] for first, some in self.windows(k).items()}

    def rows(self, lists: Lists) -> list[tuple[str, int, int]]:
        """Return user, item and rank of every place."""
        return [(u, item, rank) for u, row in lists.items() for rank, item in enumerate(row, 1)]

    def shown(self, user: str, k: int) -> str:
        """Say what a value was computed from, or from its first user."""
        return f"{self.lists[user][:k]}, history {self.history[user]}"


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


# The metrics here


def is_whole(question: Question) -> bool:
    """Return whether a metric is of some users' lists together."""
    return question.ours.partition("(")[0] in WHOLE


def of_side(side: str, world: Population, question: Question) -> dict[int, Values]:
    """Return the values of users, or of windows by the first user of each, of one side here.

    A question is given facts of users and items by the names that they have in a population.
    """
    import sides

    of_world = {name: one for name, one in question.given.items() if hasattr(world, str(one))}
    options = {name: one for name, one in question.given.items() if name not in of_world}
    facts = {name: getattr(world, one) for name, one in of_world.items()}
    options |= {"propensities": True} if "propensities" in facts else {}
    name = question.ours.format(world=world)

    def values(lists: Lists, ks: list[int]) -> dict[int, Values]:
        truths = {user: {*world.truths[user]} for user in lists}
        if side == "by_oracle" and "propensities" in facts:
            rows = [*lists.values()], [*truths.values()], scored.weights(world.propensities)
            return {k: {"": getattr(scored, name)(*rows, k)} for k in ks}
        return getattr(sides, side)(name, lists, truths, ks, facts=facts, **options)

    if not is_whole(question):
        return values(world.lists, world.ks)
    return {
        k: {first: values(some, [k])[k][""] for first, some in world.windows(k).items()}
        for k in world.ks
    }


by_oracle, by_toplist = partial(of_side, "by_oracle"), partial(of_side, "by_toplist")


# What peers give instead, where it is stated: of one user, or of the first user of a window


def unlike_pairs(world: Population, user: str, k: int) -> float:
    """Evaluate diversity where two items without a label have the distance 0, as scipy says."""

    def distance(a: Any, b: Any) -> float:
        return oracle.jaccard_distance(a, b) if a or b else 0.0

    return oracle.intra_list_diversity(world.lists[user], k, world.labels, distance)


def pairs_alone(world: Population, user: str, k: int) -> float:
    """Evaluate diversity of known pairs: 0 without any pair, NaN without one that is known."""
    listed = world.lists[user][:k]
    known = [item for item in listed if item in world.labelled]
    if len(known) < 2:
        return math.nan if len(listed) > 1 else 0.0
    return oracle.intra_list_diversity(known, k, world.labelled, oracle.hamming_distance)


def hits_above_popularity(world: Population, user: str, k: int) -> float:
    """Add up by how much higher than by popularity the hits stand, over the list."""
    n, levels, total = len(world.items), sorted({*world.seen.values()}, reverse=True), 0.0
    for rank, item in enumerate(world.lists[user][:k], start=1):
        if item in world.truths[user]:
            known = item in world.seen
            wanted = (n - levels.index(world.seen[item])) / n if known else 0.0
            total += max((n + 1 - rank) / n - wanted, 0.0)
    return total / len(world.lists[user][:k])


def by_features(world: Population, a: int, b: int) -> float:
    """Return the distance of two items by the cosine of their features."""
    return oracle.cosine_distance(world.features[a], world.features[b])


def unlike_history(distance: Callable[[Population, int, int], float]) -> Callable[..., float]:
    """Return how unlike their user's history the hits are, a mean over the list."""

    def value(world: Population, user: str, k: int) -> float:
        history, listed = world.history[user], world.lists[user][:k]
        hits = [item for item in listed if item in world.truths[user]]
        means = [sum(distance(world, item, one) for one in history) / len(history) for item in hits]
        return sum(means) / len(listed)

    return value


def cold_are_worth_nothing(world: Population, user: str, k: int) -> float:
    """Average self-information over all items listed, 0 of those that nobody has seen."""
    total, listed = world.seen.total(), world.lists[user][:k]
    return sum(-math.log2(world.seen[i] / total) for i in listed if i in world.seen) / len(listed)


def cold_are_counted(world: Population, first: str, k: int) -> float:
    """Divide all items listed by those of the histories."""
    return len({item for row in world.filled(k)[first] for item in row}) / len(world.seen)


def over_k(world: Population, user: str, k: int) -> float:
    """Take the share of k places that the first k of the baseline hold off 1."""
    return 1 - len({*world.lists[user][:k]} & {*world.popular[:k]}) / k


# The peers: what answers a question at a k


def rectools(world: Population) -> Callable[[Question, int], Values]:
    """Return metrics of frames; distances other than Hamming's are scipy's, or given."""
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

    def frame(lists: Lists) -> Any:
        return pd.DataFrame(world.rows(lists), columns=["user_id", "item_id", "rank"])

    reco, before = frame(world.lists), frame(world.history)
    labels, features = (np.array([*x.values()]) for x in (world.indicators, world.features))
    hamming = metrics.PairwiseHammingDistanceCalculator
    distances = {
        "hamming": lambda: hamming(pd.DataFrame(labels)),
        "hamming of some": lambda: hamming(pd.DataFrame(labels)[labels.any(axis=1)]),
        "cosine": lambda: Given(cdist(features, features, "cosine")),
        "jaccard": lambda: Given(cdist(labels > 0, labels > 0, "jaccard")),
        "given": lambda: Given([*world.distances.values()]),
    }

    def at(question: Question, k: int) -> Values:
        name, _, kind = question.theirs.partition(", ")
        if name == "CatalogCoverage":
            metric = metrics.CatalogCoverage(k, normalize=True)
            windows = world.windows(k).items()
            return {first: float(metric.calc(frame(some), world.items)) for first, some in windows}
        if name == "IntraListDiversity":
            return metrics.IntraListDiversity(k, distances[kind]()).calc_per_user(reco).to_dict()
        given, options = (before,), {"normalize": True} if kind else {}
        if name == "Serendipity":
            given = frame(world.truths), before, world.items
        return getattr(metrics, name)(k, **options).calc_per_user(reco, *given).to_dict()

    return at


def lenskit(world: Population) -> Callable[[Question, int], Values]:
    """Return values of lists one by one, or of windows of them."""
    import pandas as pd
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.metrics import ranking

    before = pd.DataFrame(world.rows(world.history), columns=["user", "item", "rank"])
    data = from_interactions_df(before, user_col="user", item_col="item")

    def at(question: Question, k: int) -> Values:
        if question.theirs == "MeanPopRank":
            metric = ranking.MeanPopRank(data, n=k)
            lists = world.cut(k).items()
            return {u: metric.measure_list(ItemList(row, ordered=True), None) for u, row in lists}
        metric, found = ranking.ListGini(k, items=len(world.items)), {}
        for first, rows in world.filled(k).items():
            lists = (ItemList(row, ordered=True) for row in rows)
            parts = [metric.compute_list_data(one, None) for one in lists]
            found[first] = float(metric.global_aggregate(parts))
        return found

    return at


def recommenders(world: Population) -> Callable[[Question, int], Values]:
    """Return values of frames of lists that are cut at k."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as package

    warnings.simplefilter("ignore")  # of pandas, by the thousand

    def frame(lists: Lists) -> Any:
        return pd.DataFrame(world.rows(lists), columns=["userID", "itemID", "rank"])

    train = frame(world.history)
    vectors = [*map(np.array, world.features.values())]
    features = pd.DataFrame({"itemID": world.items, "features": vectors})

    def at(question: Question, k: int) -> Values:
        name, _, kind = question.theirs.partition(", ")
        function, lists, windows = getattr(package, name), world.cut(k), world.windows(k)
        if name == "novelty" or is_whole(question):
            # novelty of one user at a time, in place of a mean over all places of all lists
            alone = {user: {user: lists[user]} for user in windows if user in lists}
            some = windows if is_whole(question) else alone
            return {first: float(function(train, frame(one))) for first, one in some.items()}
        reco, options = frame(lists), {}
        if kind:
            options = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
        if name == "user_serendipity":
            pairs = zip(reco.userID, reco.itemID, strict=True)
            reco["relevance"] = [float(item in world.truths[user]) for user, item in pairs]
            options["col_relevance"] = "relevance"
        found = function(train, reco, **options)
        return dict(zip(found["userID"], found[name].astype(float), strict=True))

    return at


def scipy(world: Population) -> Callable[[Question, int], Values]:
    """Return calibration by its entropy and distances, of matrices, as in Steck's equations."""
    import numpy as np
    from scipy.spatial.distance import euclidean, pdist
    from scipy.stats import entropy

    labels = np.array([*world.indicators.values()])
    labels /= np.maximum(labels.sum(axis=1, keepdims=True), 1)

    def personalisation(rows: list[list[int]]) -> float:
        held = np.zeros((len(rows), len(labels)))
        for place, row in enumerate(rows):
            held[place, row] = 1
        return float(pdist(held, "cosine").mean())

    def at(question: Question, k: int) -> Values:
        if is_whole(question):
            windows = world.filled(k).items()
            return {first: personalisation(rows) for first, rows in windows if len(rows) > 1}
        found = {}
        for user, row in world.cut(k).items():
            ranks = np.arange(1, len(row) + 1)
            weights = 1 / np.log2(ranks + 1) if "by rank" in question.theirs else ranks > 0
            p, q = labels[world.history[user]].sum(axis=0), weights @ labels[row]
            if p.any() and q.any():
                p, q = p / p.sum(), q / q.sum()
                distance = euclidean(np.sqrt(p), np.sqrt(q)) / math.sqrt(2)
                kl = question.theirs.startswith("entropy")
                found[user] = float(entropy(p, 0.99 * q + 0.01 * p) if kl else distance)
        return found

    return at


def replay(world: Population) -> Callable[[Question, int], Values]:
    """Return values of dicts of lists beside one baseline for everybody."""
    from replay import metrics

    def at(question: Question, k: int) -> Values:
        lists = world.cut(k)
        scored, same = (
            {u: [(i, -float(place)) for place, i in enumerate(row)] for u, row in some.items()}
            for some in (lists, dict.fromkeys(lists, world.popular))
        )
        metric = getattr(metrics, question.theirs)([k], mode=metrics.PerUser())
        return dict(metric(scored, same)[f"{question.theirs}-PerUser@{k}"])

    return at


def pyxclib(world: Population) -> Callable[[Question, int], Values]:
    """Return what is scored by propensities of windows whose lists all reach down to k."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from xclib.evaluation import xc_metrics

    weights = 1 / np.array([*world.propensities.values()])

    def value(theirs: str, lists: Lists, k: int) -> float:
        places = [(u, i) for u, user in enumerate(lists) for i in world.truths[user]]
        shape = len(lists), ITEMS
        truth = csr_matrix((np.ones(len(places)), tuple(np.array(places).T)), shape)
        ranked = np.array([*lists.values()])
        return float(getattr(xc_metrics, theirs)(ranked, truth, weights, k=k, sorted=True)[-1])

    def at(question: Question, k: int) -> Values:
        windows = world.windows(k).items()
        full = {first: some for first, some in windows if min(map(len, some.values())) == k}
        return {first: value(question.theirs, lists, k) for first, lists in full.items()}

    return at


# The questions

UNLIKE = "how unlike the history the hits are, over the items listed"
SKIP = {"unknown": "skip"}
DIVERSITY = "intra_list_diversity"
BY_LABELS = f"{DIVERSITY}(distance=hamming)"
GIVEN = f"{DIVERSITY}(distance=given)"
EXPECTED = {"expected": "expected"}
CALIBRATED = {"history": "history", "labels": "labels"}
SCORED = {"propensities": "propensities"}

RECTOOLS = [
    Question("IntraListDiversity, hamming", BY_LABELS, {"features": "indicators"}),
    Question(
        "IntraListDiversity, hamming of some",
        BY_LABELS,
        {"features": "labelled", **SKIP},
        "0 without two items, but NaN of two without two that are known",
        pairs_alone,
    ),
    Question("IntraListDiversity, cosine", DIVERSITY, {"features": "features"}),
    Question(
        "IntraListDiversity, jaccard",
        f"{DIVERSITY}(distance=jaccard)",
        {"labels": "labels"},
        "scipy's distance of two items without labels is 0, here 1",
        unlike_pairs,
    ),
    Question("IntraListDiversity, given", GIVEN, {"distances": "distances"}),
    Question(
        *("MeanInvUserFreq", "novelty(total={world.n_users},unknown=1)", {"counts": "seen"}),
        group="novelty(total=USERS,unknown=1)",
    ),
    Question("AvgRecPopularity", "average_popularity", {"counts": "counts"}),
    Question("AvgRecPopularity, normalize", "average_popularity", {"counts": "shares"}),
    Question(
        "Serendipity",
        "serendipity",
        EXPECTED,
        "hits by ranks in the list less ranks by popularity",
        hits_above_popularity,
    ),
    Question("CatalogCoverage", "item_coverage", {"catalogue": "items"}),
]
LENSKIT = [
    Question("MeanPopRank", "average_popularity", {"counts": "quantiles"}),
    Question("ListGini", "gini", {"catalogue": "items"}),
]
RECOMMENDERS = [
    Question("user_diversity, features", DIVERSITY, {"features": "features"}),
    Question("user_diversity", GIVEN, {"distances": "apart"}),
    Question(
        "novelty",
        "novelty",
        {"counts": "seen", **SKIP},
        "cold items add 0 and are counted",
        cold_are_worth_nothing,
    ),
    Question(
        "user_serendipity",
        "serendipity",
        EXPECTED,
        UNLIKE,
        unlike_history(lambda world, a, b: world.apart[a][b]),
    ),
    Question(
        "user_serendipity, features", "serendipity", EXPECTED, UNLIKE, unlike_history(by_features)
    ),
    Question(
        "catalog_coverage",
        "item_coverage",
        {"catalogue": "known", **SKIP},
        "cold items are counted among those listed, which may exceed 1",
        cold_are_counted,
    ),
    Question("distributional_coverage", "shannon_entropy(unit=bits)"),
]
REPLAY = [
    Question(
        "Unexpectedness",
        "unexpectedness",
        EXPECTED,
        "the baseline is cut at k, too, which divides lists of any length",
        over_k,
    )
]
SCIPY = [
    *(
        Question(f"{theirs}{more}", f"calibration(distance={name},weights={weights})", CALIBRATED)
        for theirs, name in (
            ("entropy(p, .99 q + .01 p)", "kl"),
            ("euclidean(sqrt(p), sqrt(q))", "hellinger"),
        )
        for weights, more in (("equal", ""), ("rank", ", by rank"))
    ),
    Question(
        "pdist of rows, cosine",
        "personalisation",
        {},
        "both lengths in place of k divide what is shared",
        lambda world, first, k: oracle.personalisation_by_cosine(world.filled(k)[first], k),
    ),
]
PYXCLIB = [  # which keeps psndcg in 32 bits
    Question("psprecision", "psp", SCORED, tolerance=1e-6),
    Question("psndcg", "psndcg", SCORED, tolerance=1e-6),
]
SOURCE = "git+https://github.com/kunaldahiya/pyxclib@5d130862df91a06d03b296ad264c89b037c33db7"
PEERS = {
    "rectools": Peer(
        *("rectools", (("rectools",),), RECTOOLS, rectools),
        silent="it has no calibration, lift of popularity, Gini, entropy, personalisation",
    ),
    "lenskit": Peer(  # later ones ask for Python 3.12
        *("lenskit", (("lenskit<2026",),), LENSKIT, lenskit),
        silent="it has no calibration, novelty, serendipity, personalisation",
    ),
    "recommenders": Peer(
        "recommenders",
        (("--no-deps", "recommenders"), ("pandas<3", "scikit-learn")),
        *(RECOMMENDERS, recommenders),
        silent="it has no calibration, popularity, Gini, personalisation; its means over users",
    ),
    "replay": Peer("replay-rec", (("replay-rec", "torch==2.13.0"),), REPLAY, replay),
    "scipy": Peer("scipy", (), SCIPY, scipy),
    "pyxclib": Peer(
        "xclib",
        (
            ("numpy", "scipy", "six", "scikit-learn", "numba", "Cython", "setuptools<70", "wheel"),
            ("--no-deps", "--no-build-isolation", SOURCE),
        ),
        *(PYXCLIB, pyxclib),
    ),
}
