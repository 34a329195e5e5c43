"""Metrics of the lists themselves: of one user's list, history and truth, or of five users' lists.

Elliot is on no package index, ClayRS asks for hundreds of MB and LensKit 2026 for Python 3.12. What
they compute was read in their sources and is written anew here: sisinflab/elliot at fc27efe, below
elliot/evaluation: metrics/diversity/gini_index/gini_index.py:74, shannon_entropy.py:74,
item_coverage.py:51, bias/arp/arp.py:57, aplt.py:61, BiasDisparityBR.py:106 and
popularity_utils/popularity.py; swapUniba/ClayRS at 6df4fbe,
clayrs/evaluation/metrics/fairness_metrics.py:517; lenskit/lkpy at 3bd1c17,
src/lenskit/metrics/ranking/_ils.py:18 and metrics/basic.py:75.

A peer is silent about what it refuses.
"""

import math
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, NamedTuple

from engine import EXACT, SINGLE, Peer, Question
from oracle import beyond as oracle

SEED = 20_262
KS = [1, 3, 10, 20]
ITEMS, COLD = 150, 20  # as many of the items are in no history
LABELS, FEATURES, PROVIDERS = 8, 5, 3
WINDOW = 5  # users whose lists are one input of a metric of all lists together
Lists = dict[str, list[int]]
Values = dict[str, float]


@dataclass(eq=False)
class Population:
    """Lists, truths and histories of item ids by user; of each item labels, features, a provider.

    `distances` holds one number for each two items.
    """

    ks: list[int]
    lists: Lists
    truths: Lists
    histories: Lists
    labels: dict[int, list[int]]
    features: dict[int, list[float]]
    providers: dict[int, int]
    distances: dict[int, list[float]]

    def __post_init__(self) -> None:
        """Work out what else is known of the items."""
        self.items = [*self.labels]
        # how many histories hold each item, of those that some hold; none holds one twice
        self.seen = Counter(item for row in self.histories.values() for item in row)
        self.known = [*self.seen]
        self.counts = {item: self.seen[item] for item in self.items}
        self.shares = {item: n / self.seen.total() for item, n in self.counts.items()}
        self.n_users = sum(map(bool, self.histories.values()))  # who have a history
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
        # the items below Elliot's short head, which has 80 % of the interactions; 1 of all others
        left, self.tail = self.seen.total() * 0.8, set[int]()
        for item in sorted(self.seen, key=lambda one: (-self.seen[one], one)):
            if left <= 0:
                self.tail.add(item)
            left -= self.seen[item]
        self.head = {item: int(item not in self.tail) for item in self.items}
        # one minus the cosine of the users of two items
        self.apart = {item: [1.0] * len(self.items) for item in self.items}
        for i, j in (pair for row in self.histories.values() for pair in product(row, row)):
            self.apart[i][j] -= 1 / math.sqrt(self.counts[i] * self.counts[j])

    def cut(self, k: int) -> Lists:
        """Return the first k of all lists that hold something."""
        return {user: row[:k] for user, row in self.lists.items() if row}

    def windows(self, k: int) -> dict[str, Lists]:
        """Return some users' lists, by the user who starts a window; each has one of the k's.

        Windows in which nobody has a list are left out.
        """
        users = [*self.lists]
        starts = range(self.ks.index(k), len(users), len(self.ks))
        named = {users[i]: [users[j % len(users)] for j in range(i, i + WINDOW)] for i in starts}
        found = {first: {u: self.lists[u][:k] for u in some} for first, some in named.items()}
        return {first: lists for first, lists in found.items() if any(lists.values())}

    def filled(self, k: int) -> dict[str, list[list[int]]]:
        """Return the lists of each window that hold something."""
        windows = self.windows(k).items()
        return {first: [row for row in lists.values() if row] for first, lists in windows}

    def rows(self, lists: Lists) -> list[tuple[str, int, int]]:
        """Return user, item and rank of every place."""
        return [(u, item, rank) for u, row in lists.items() for rank, item in enumerate(row, 1)]

    def shown(self, user: str, k: int) -> str:
        """Say what a value was computed from, or from its first user."""
        return f"{self.lists[user][:k]}, history {self.histories[user]}"


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw users: lists of up to 30 ids, some empty, of nothing in the history, which may be empty.

    An item has up to four labels; a user's items are popular ones, and a few of the list relevant.
    """
    source = random.Random(SEED)
    items = range(ITEMS)
    popularity = [1 / (item + 5) for item in items[:-COLD]]
    lists, truths, histories = {}, {}, {}
    for user in map(str, range(1, n_inputs + 1)):
        n_seen = 0 if source.random() < 0.05 else source.randint(1, 20)
        histories[user] = [*dict.fromkeys(source.choices(items[:-COLD], popularity, k=n_seen))]
        others = [item for item in items if item not in histories[user]]
        lists[user] = source.sample(others, source.randint(0, 30))
        likely = lists[user] if source.random() < 0.9 else []
        truths[user] = source.sample([*{*likely, *source.sample(others, 10)}], 8)
    labels = {i: sorted(source.sample(range(LABELS), source.randint(0, 4))) for i in items}
    features = {i: [source.gauss(0, 1) for _ in range(FEATURES)] for i in items}
    providers = {i: source.randrange(PROVIDERS) for i in items}
    distances = {i: [0.0] * ITEMS for i in items}
    for i in items:
        for j in items[:i]:
            distances[i][j] = distances[j][i] = source.random()
    return [Population(KS, lists, truths, histories, labels, features, providers, distances)]


# What the metrics are here


class Measure(NamedTuple):
    """A metric here, as a peer has it.

    Parameters
    ----------
    name : str
        toplist's, in which {world} is the population. Empty: it has it not as one function.
    facts : mapping
        The facts of users and items that it needs, and what they are called in a population.
    options : mapping
        What else both sides are given.
    whole : bool
        Whether it is of some users' lists together.
    turned : callable
        Of a world and the value: what of it is the peer's.
    oracle, toplist : callable, optional
        Instead of a name: of a world, a user (or some users' lists) and a k.
    """

    name: str = ""
    facts: Any = MappingProxyType({})
    options: Any = MappingProxyType({})
    whole: bool = False
    turned: Callable[[Population, Any], Any] = lambda world, value: value
    oracle: Callable[[Population, Any, int], float] | None = None
    toplist: Callable[[Population, Any, int], float] | None = None


def label_entropy(by_rank: bool, raised: float = 0.0) -> Callable[[Population, str, int], float]:
    """Return the entropy in bits of a list's labels, some more added to the sum of each."""

    def value(world: Population, user: str, k: int) -> float:
        sums = [raised] * LABELS
        for rank, item in enumerate(world.lists[user][:k], start=1):
            for label in world.labels[item]:
                weight = 1 / oracle.discount(rank) if by_rank else 1.0
                sums[label] += weight / len(world.labels[item])
        total = sum(sums)
        shares = {label: one / total for label, one in enumerate(sums) if one}
        return oracle.entropy(shares, base=2) if total else math.nan

    return value


def ratio_of_exposure(group: int) -> Measure:
    """Return a provider's share of all places over its share of the items."""

    def by_toplist(world: Population, lists: Lists, k: int) -> float:
        from toplist import beyond

        found = beyond.exposure([*lists.values()], k, catalogue=world.items)
        return float(found.ratios(world.providers, discount="1")[group][-1])

    def by_oracle(world: Population, lists: Lists, k: int) -> float:
        return oracle.ratio_of_exposure([*lists.values()], k, world.providers, group)

    return Measure(whole=True, oracle=by_oracle, toplist=by_toplist)


def less(world: Population, value: float) -> float:
    """Return what a value leaves of 1."""
    return 1 - value


SKIP = {"unknown": "skip"}
BY_LABELS = "intra_list_diversity(distance=hamming)"
CALIBRATED = {"history": "histories", "labels": "labels"}
COVERAGE = Measure("item_coverage", {"catalogue": "items"}, whole=True)
MEASURES = {
    "intra_list_diversity, cosine": Measure("intra_list_diversity", {"features": "features"}),
    "1 - intra_list_diversity, cosine of labels": Measure(
        "intra_list_diversity", {"features": "indicators"}, turned=less
    ),
    "intra_list_diversity, hamming": Measure(BY_LABELS, {"features": "indicators"}),
    "intra_list_diversity, hamming, unknown items left out": Measure(
        BY_LABELS, {"features": "labelled"}, SKIP
    ),
    "intra_list_diversity, jaccard": Measure(
        "intra_list_diversity(distance=jaccard)", {"labels": "labels"}
    ),
    "intra_list_diversity, a matrix": Measure(
        "intra_list_diversity(distance=given)", {"distances": "distances"}
    ),
    "intra_list_diversity, a matrix of users in common": Measure(
        "intra_list_diversity(distance=given)", {"distances": "apart"}
    ),
    "novelty, cold items as of one user": Measure(
        "novelty(total={world.n_users},unknown=1)", {"counts": "seen"}
    ),
    "novelty, cold items left out": Measure("novelty", {"counts": "seen"}, SKIP),
    "average_popularity": Measure("average_popularity", {"counts": "counts"}),
    "average_popularity, of shares": Measure("average_popularity", {"counts": "shares"}),
    "average_popularity, of quantiles": Measure("average_popularity", {"counts": "quantiles"}),
    "tail_percentage": Measure("tail_percentage(max_count=0)", {"counts": "head"}),
    "popularity_lift": Measure("popularity_lift", {"history": "histories", "counts": "counts"}),
    "popularity_lift of the means over users": Measure(
        whole=True,
        oracle=lambda world, lists, k: oracle.group_popularity_lift(
            lists.values(), [world.histories[user] for user in lists], k, world.counts
        ),
    ),
    "serendipity": Measure("serendipity", {"expected": "expected"}),
    "unexpectedness": Measure("unexpectedness", {"expected": "expected"}),
    **{
        f"calibration, {name}{more}": Measure(
            f"calibration(distance={name},weights={weights})", CALIBRATED
        )
        for name in ("kl", "hellinger")
        for weights, more in (("equal", ""), ("rank", ", by rank"))
    },
    "entropy of the labels": Measure(oracle=label_entropy(by_rank=False)),
    "entropy of the labels, by rank": Measure(oracle=label_entropy(by_rank=True)),
    "item_coverage": COVERAGE,
    "item_coverage, times the catalogue": COVERAGE._replace(
        turned=lambda world, share: share * len(world.items)
    ),
    "item_coverage, cold items left out": COVERAGE._replace(
        facts={"catalogue": "known"}, options=SKIP
    ),
    "gini": Measure("gini", {"catalogue": "items"}, whole=True),
    "1 - gini, over n - 1": Measure(
        "gini(divisor=n-1)", {"catalogue": "items"}, whole=True, turned=less
    ),
    "gini of discounted exposure": Measure(
        whole=True,
        oracle=lambda world, lists, k: oracle.gini_of_exposure(lists.values(), k, world.items),
    ),
    "shannon_entropy, bits": Measure("shannon_entropy(unit=bits)", whole=True),
    "personalisation": Measure("personalisation", whole=True),
    **{
        f"ratio of exposure without discount, provider {group}": ratio_of_exposure(group)
        for group in range(PROVIDERS)
    },
}


def of_side(side: str, world: Population, question: Question) -> dict[int, Values] | None:
    """Return the values of users, or of windows by the first user of each, of one side here."""
    measure = MEASURES[question.ours]
    own = getattr(measure, side)
    if not measure.name and own is None:
        return None

    def named(lists: Lists, ks: list[int]) -> dict[int, Values]:
        import sides

        facts = {name: getattr(world, one) for name, one in measure.facts.items()}
        truths = {user: {*world.truths[user]} for user in lists}
        by = {"oracle": sides.by_oracle, "toplist": sides.by_toplist}[side]
        name = measure.name.format(world=world)
        return by(name, lists, truths, ks, facts=facts, **measure.options)

    found: dict[int, Values] = {}
    for k in world.ks:
        subjects: dict[str, Any] = {user: user for user in world.lists}
        if measure.whole:
            windows = world.windows(k)
            subjects = {one: {u: row for u, row in windows[one].items() if row} for one in windows}
        if own is not None:
            found[k] = {name: own(world, one, k) for name, one in subjects.items()}
        elif measure.whole:
            found[k] = {name: named(lists, [k])[k][""] for name, lists in subjects.items()}
    found = found or named(world.lists, world.ks)
    return {k: {u: measure.turned(world, x) for u, x in row.items()} for k, row in found.items()}


by_oracle, by_toplist = partial(of_side, "oracle"), partial(of_side, "toplist")


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
        history, listed = world.histories[user], world.lists[user][:k]
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


def users_weigh_the_same(rows: list[list[int]]) -> float:
    """Average over users the mean self-information of their items; users without a list have 0."""
    listed = Counter(item for row in rows for item in row)
    total = listed.total()
    return sum(-math.log2(listed[i] / total) / len(row) for row in rows for i in row) / WINDOW


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

    reco, before = frame(world.lists), frame(world.histories)
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


def shares_of_labels(world: Population) -> Any:
    """Return the share of each label in an item's, as an array."""
    import numpy as np

    labels = np.array([*world.indicators.values()])
    return labels / np.maximum(labels.sum(axis=1, keepdims=True), 1)


def lenskit(world: Population) -> Callable[[Question, int], Values]:
    """Return values of lists one by one, or of windows of them."""
    import pandas as pd
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.metrics import ranking

    before = pd.DataFrame(world.rows(world.histories), columns=["user", "item", "rank"])
    data = from_interactions_df(before, user_col="user", item_col="item")
    labels = shares_of_labels(world)

    def listed(row: list[int]) -> ItemList:
        return ItemList(row, ordered=True)

    def at(question: Question, k: int) -> Values:
        theirs, lists = question.theirs, world.cut(k).items()
        by_rank = theirs in ("ExposureGini", "rank_biased_entropy")
        options = {"weight": ranking.LogRankWeight(offset=1)} if by_rank else {}
        if MEASURES[question.ours].whole:
            metric = getattr(ranking, theirs)(k, items=len(world.items), **options)
            parts = {
                first: [metric.compute_list_data(listed(row), None) for row in rows]
                for first, rows in world.filled(k).items()
            }
            return {first: float(metric.global_aggregate(one)) for first, one in parts.items()}
        if theirs == "MeanPopRank":
            metric = ranking.MeanPopRank(data, n=k)
            return {user: metric.measure_list(listed(row), None) for user, row in lists}
        function = getattr(ranking, theirs)
        return {user: function(ItemList(row), labels[row], **options) for user, row in lists}

    return at


def recommenders(world: Population) -> Callable[[Question, int], Values]:
    """Return values of frames of lists that are cut at k."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as package

    warnings.simplefilter("ignore")  # of pandas, by the thousand

    def frame(lists: Lists) -> Any:
        return pd.DataFrame(world.rows(lists), columns=["userID", "itemID", "rank"])

    train = frame(world.histories)
    vectors = [*map(np.array, world.features.values())]
    features = pd.DataFrame({"itemID": world.items, "features": vectors})

    def at(question: Question, k: int) -> Values:
        name, _, kind = question.theirs.partition(", ")
        function, lists = getattr(package, name), world.cut(k)
        whole = MEASURES[question.ours].whole
        if name == "novelty" or whole:
            # novelty of one user at a time, in place of a mean over all places of all lists
            windows = world.windows(k)
            some = windows if whole else {u: {u: lists[u]} for u in windows if u in lists}
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

    labels = shares_of_labels(world)

    def at(question: Question, k: int) -> Values:
        found = {}
        if MEASURES[question.ours].whole:
            for first, rows in world.filled(k).items():
                held = np.zeros((len(rows), len(labels)))
                for place, row in enumerate(rows):
                    held[place, row] = 1
                if len(rows) > 1:
                    found[first] = float(pdist(held, "cosine").mean())
            return found
        for user, row in world.cut(k).items():
            ranks = np.arange(1, len(row) + 1)
            weights = 1 / np.log2(ranks + 1) if "by rank" in question.theirs else ranks > 0
            p, q = labels[world.histories[user]].sum(axis=0), weights @ labels[row]
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


def distinct(rows: Iterable[list[int]]) -> int:
    """Return how many items are listed at all."""
    return len({item for row in rows for item in row})


def lenskit_2026(world: Population) -> Callable[[Question, int], Values]:
    """Return the mean cosine of two items, 1 of one item; or how many items are listed at all."""

    def unit(row: list[float]) -> list[float]:
        length = math.hypot(*row) or 1.0
        return [x / length for x in row]

    vectors = {item: unit(row) for item, row in world.indicators.items()}

    def similarity(row: list[int]) -> float:
        pairs = [
            sum(x * y for x, y in zip(vectors[i], vectors[j], strict=True))
            for i, j in combinations(row, 2)
        ]
        return sum(pairs) / len(pairs) if pairs else 1.0

    def at(question: Question, k: int) -> Values:
        if MEASURES[question.ours].whole:
            return {first: distinct(rows) for first, rows in world.filled(k).items()}
        return {user: similarity(row) for user, row in world.cut(k).items()}

    return at


def elliot(world: Population) -> Callable[[Question, int], Values]:
    """Return values of the first k; the tail is all but the items of 80 % of the interactions."""
    counts, n_items = world.seen, len(world.items)

    def disparity(rows: list[list[int]], group: str) -> float:
        mine = {i for i, one in world.providers.items() if str(one) == group}
        listed = sum(i in mine for row in rows for i in row) / sum(map(len, rows))
        return listed / (len(mine) / n_items)

    def gini(rows: list[list[int]]) -> float:
        listed = Counter(i for row in rows for i in row)
        rising = [0] * (n_items - len(listed)) + sorted(listed.values())
        parts = ((2 * j - n_items - 1) * n / listed.total() for j, n in enumerate(rising, 1))
        return 1 - sum(parts) / (n_items - 1)

    functions: dict[str, Callable[..., float]] = {
        "ARP": lambda row: sum(counts[i] for i in row) / len(row),
        "APLT": lambda row: len(world.tail & {*row}) / len(row),
        "ItemCoverage": distinct,
        "Gini": gini,
        "SEntropy": users_weigh_the_same,
        "BiasDisparityBR": disparity,
    }

    def at(question: Question, k: int) -> Values:
        name, _, group = question.theirs.partition(", ")
        given = [group] if group else []
        whole = MEASURES[question.ours].whole
        rows: dict[str, Any] = world.filled(k) if whole else world.cut(k)
        if name == "ARP":  # a KeyError for an item that is not in the training data
            rows = {user: row for user, row in rows.items() if counts.keys() >= {*row}}
        return {one: functions[name](row, *given) for one, row in rows.items()}

    return at


def clayrs(world: Population) -> Callable[[Question, int], Values]:
    """Return DeltaGap of groups: one user each, or a window of users."""
    popularity = {item: count / world.n_users for item, count in world.seen.items()}

    def gap(rows: list[list[int]]) -> float:
        return sum(sum(popularity.get(i, 0.0) for i in row) / len(row) for row in rows) / len(rows)

    def at(question: Question, k: int) -> Values:
        whole = MEASURES[question.ours].whole
        groups = world.windows(k) if whole else {user: [user] for user in world.lists}
        found = {}
        for name, some in groups.items():
            users = [u for u in some if world.lists[u] and world.histories[u]]
            if users:
                before = gap([world.histories[u] for u in users])
                found[name] = (gap([world.lists[u][:k] for u in users]) - before) / before
        return found

    return at


# The questions

UNLIKE = "how unlike the history the hits are, over the items listed"
RAISED = "1e-6 is added to each label's sum"


def questions(text: str, stated: Mapping[str, tuple[Any, ...]] = {}) -> list[Question]:
    """Return what a peer is asked: "its words = words here" in lines, and what differs, and why."""
    found = []
    for line in text.strip().splitlines():
        theirs, _, ours = line.strip().rpartition(" = ")
        why, instead = stated.get(theirs, ("", None))
        tolerance = SINGLE if theirs == "ExposureGini" else EXACT
        found.append(Question(theirs, ours, {}, why, instead, tolerance=tolerance))
    return found


RECTOOLS = questions(
    """
    IntraListDiversity, hamming = intra_list_diversity, hamming
    IntraListDiversity, hamming of some = intra_list_diversity, hamming, unknown items left out
    IntraListDiversity, cosine = intra_list_diversity, cosine
    IntraListDiversity, jaccard = intra_list_diversity, jaccard
    IntraListDiversity, given = intra_list_diversity, a matrix
    MeanInvUserFreq = novelty, cold items as of one user
    AvgRecPopularity = average_popularity
    AvgRecPopularity, normalize = average_popularity, of shares
    Serendipity = serendipity
    CatalogCoverage = item_coverage
    """,
    {
        "IntraListDiversity, hamming of some": (
            "0 without two items, but NaN of two without two that are known",
            pairs_alone,
        ),
        "IntraListDiversity, jaccard": (
            "scipy's distance of two items without labels is 0, here 1",
            unlike_pairs,
        ),
        "Serendipity": (
            "hits by ranks in the list less ranks by popularity",
            hits_above_popularity,
        ),
    },
)
LENSKIT = questions(
    """
    MeanPopRank = average_popularity, of quantiles
    ListGini = gini
    ExposureGini = gini of discounted exposure
    entropy = entropy of the labels
    rank_biased_entropy = entropy of the labels, by rank
    """,
    {
        "entropy": (RAISED, label_entropy(False, raised=1e-6)),
        "rank_biased_entropy": (RAISED, label_entropy(True, raised=1e-6)),
    },
)
RECOMMENDERS = questions(
    """
    user_diversity, features = intra_list_diversity, cosine
    user_diversity = intra_list_diversity, a matrix of users in common
    novelty = novelty, cold items left out
    user_serendipity = serendipity
    user_serendipity, features = serendipity
    catalog_coverage = item_coverage, cold items left out
    distributional_coverage = shannon_entropy, bits
    """,
    {
        "novelty": ("cold items add 0 and are counted", cold_are_worth_nothing),
        "user_serendipity": (UNLIKE, unlike_history(lambda world, a, b: world.apart[a][b])),
        "user_serendipity, features": (UNLIKE, unlike_history(by_features)),
        "catalog_coverage": (
            "cold items are counted among those listed, which may exceed 1",
            cold_are_counted,
        ),
    },
)
REPLAY = questions(
    "Unexpectedness = unexpectedness",
    {
        "Unexpectedness": (
            "the baseline is cut at k, too, which divides lists of any length",
            over_k,
        )
    },
)
SCIPY = questions(
    """
    entropy(p, .99 q + .01 p) = calibration, kl
    entropy(p, .99 q + .01 p), by rank = calibration, kl, by rank
    euclidean(sqrt(p), sqrt(q)) = calibration, hellinger
    euclidean(sqrt(p), sqrt(q)), by rank = calibration, hellinger, by rank
    pdist of rows, cosine = personalisation
    """,
    {
        "pdist of rows, cosine": (
            "both lengths in place of k divide what is shared",
            lambda world, first, k: oracle.personalisation_by_cosine(world.filled(k)[first], k),
        )
    },
)
LENSKIT_2026 = questions(
    """
    ILS = 1 - intra_list_diversity, cosine of labels
    UniqueItemCount = item_coverage, times the catalogue
    """
)
ELLIOT = questions(
    """
    ARP = average_popularity
    APLT = tail_percentage
    ItemCoverage = item_coverage, times the catalogue
    Gini = 1 - gini, over n - 1
    SEntropy = shannon_entropy, bits
    BiasDisparityBR, 0 = ratio of exposure without discount, provider 0
    BiasDisparityBR, 1 = ratio of exposure without discount, provider 1
    BiasDisparityBR, 2 = ratio of exposure without discount, provider 2
    """,
    {
        "SEntropy": (
            "every user weighs the same, however short the list, or empty",
            lambda world, first, k: users_weigh_the_same(world.filled(k)[first]),
        )
    },
)
CLAYRS = questions(
    """
    DeltaGap = popularity_lift
    DeltaGap, of groups = popularity_lift of the means over users
    """
)
SILENT = {
    "rectools": "it has no calibration, lift of popularity, Gini, entropy, personalisation",
    "lenskit": "it has no calibration, novelty, serendipity, personalisation",
    "recommenders": "it has no calibration, popularity, Gini, personalisation; its means over "
    "users",
    "elliot": "ACLT, APLT times the items listed; EFD and EPC, novelty of hits by discount; "
    "SRecall, labels of hits; PopREO, PopRSP, REO, RSP, spreads over groups; it has no "
    "calibration, diversity, serendipity",
}
# package, what is installed, questions, what answers
ROWS: list[tuple[str, tuple[tuple[str, ...], ...], list[Question], Callable[..., Any]]] = [
    ("rectools", (("rectools",),), RECTOOLS, rectools),
    ("lenskit", (("lenskit<2026",),), LENSKIT, lenskit),  # later ones ask for Python 3.12
    (
        "recommenders",
        (("--no-deps", "recommenders"), ("pandas<3", "scikit-learn")),
        *(RECOMMENDERS, recommenders),
    ),
    ("replay-rec", (("replay-rec", "torch==2.13.0"),), REPLAY, replay),
    ("scipy", (("scipy", "numpy"),), SCIPY, scipy),
    ("lenskit@3bd1c17 (read)", (), LENSKIT_2026, lenskit_2026),
    ("elliot@fc27efe (read)", (), ELLIOT, elliot),
    ("clayrs@6df4fbe (read)", (), CLAYRS, clayrs),
]
PEERS = {row[-1].__name__: Peer(*row, silent=SILENT.get(row[-1].__name__, "")) for row in ROWS}
