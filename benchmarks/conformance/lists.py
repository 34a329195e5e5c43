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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from oracle import beyond as oracle
from questions import SINGLE, Peer, Question

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

    Ids are the places 0..n-1 of the last four, `distances` holds one number for each two items.
    """

    ks: list[int]
    lists: Lists
    truths: Lists
    histories: Lists
    label_rows: list[list[int]]
    feature_rows: list[list[float]]
    provider_rows: list[int]
    distances: list[list[float]]

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

    # What is known of items

    @property
    def items(self) -> range:
        """All items."""
        return range(len(self.label_rows))

    @cached_property
    def labels(self) -> dict[int, list[int]]:
        """The labels of each item."""
        return dict(enumerate(self.label_rows))

    @cached_property
    def features(self) -> dict[int, list[float]]:
        """The features of each item."""
        return dict(enumerate(self.feature_rows))

    @cached_property
    def providers(self) -> dict[int, int]:
        """The provider of each item."""
        return dict(enumerate(self.provider_rows))

    @cached_property
    def seen(self) -> Counter[int]:
        """How many histories hold each item, of those that some hold; none holds one twice."""
        return Counter(item for row in self.histories.values() for item in row)

    @cached_property
    def counts(self) -> dict[int, int]:
        """The same of every item."""
        return {item: self.seen[item] for item in self.items}

    @cached_property
    def shares(self) -> dict[int, float]:
        """The share of all interactions that are with each item."""
        return {item: n / self.seen.total() for item, n in self.counts.items()}

    @cached_property
    def n_users(self) -> int:
        """How many users have a history."""
        return sum(map(bool, self.histories.values()))

    @cached_property
    def popular(self) -> list[int]:
        """The baseline: the 20 items that most histories hold."""
        return sorted(self.items, key=lambda item: -self.seen[item])[:20]

    @cached_property
    def indicators(self) -> dict[int, list[float]]:
        """A column per label, 1 where an item has it."""
        every = sorted({label for row in self.label_rows for label in row})
        return {i: [float(label in row) for label in every] for i, row in self.labels.items()}

    @cached_property
    def labelled(self) -> dict[int, list[float]]:
        """The rows of items that have a label."""
        return {item: row for item, row in self.indicators.items() if any(row)}

    @cached_property
    def quantiles(self) -> dict[int, float]:
        """The share of the items seen that are as popular, of equal ones the mean; else 0."""
        values = [*self.seen.values()]
        below = {n: sum(one < n for one in values) for n in values}
        shares = {n: (below[n] + (values.count(n) + 1) / 2) / len(values) for n in values}
        return {item: shares.get(n, 0.0) for item, n in self.counts.items()}

    @cached_property
    def tail(self) -> set[int]:
        """The items below Elliot's short head, which has 80 % of the interactions."""
        left, found = self.seen.total() * 0.8, set()
        for item in sorted(self.seen, key=lambda one: (-self.seen[one], one)):
            if left <= 0:
                found.add(item)
            left -= self.seen[item]
        return found

    @cached_property
    def apart(self) -> list[list[float]]:
        """One minus the cosine of the users of two items."""
        found = [[1.0] * len(self.items) for _ in self.items]
        for row in self.histories.values():
            for i in row:
                for j in row:
                    found[i][j] -= 1 / math.sqrt(self.counts[i] * self.counts[j])
        return found


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
    labels = [sorted(source.sample(range(LABELS), source.randint(0, 4))) for _ in items]
    features = [[source.gauss(0, 1) for _ in range(FEATURES)] for _ in items]
    providers = [source.randrange(PROVIDERS) for _ in items]
    distances = [[0.0] * ITEMS for _ in items]
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
        toplist's. Empty: it has it not as one function.
    given : callable
        Of a world: parameters and facts of the items, as `listwise` takes them.
    oracle : callable
        Of a world, a user (of a metric of all lists together: some users' lists) and a k.
    whole : bool
        Whether it is of some users' lists together.
    turned : callable
        Of a world and the value: what of it is the peer's.
    """

    name: str
    given: Callable[[Population], dict[str, Any]]
    oracle: Callable[[Population, Any, int], float]
    whole: bool = False
    turned: Callable[[Population, Any], Any] = lambda world, value: value


def diverse(which: str, of: Callable[[Any, Any], float], **words: Any) -> Measure:
    """Return diversity by features of items, or by their labels."""
    fact = "labels" if which == "labels" else "features"
    return Measure(
        "intra_list_diversity",
        lambda world: {fact: getattr(world, which), **words},
        lambda world, user, k: oracle.intra_list_diversity(
            world.lists[user], k, getattr(world, which), of
        ),
    )


def by_matrix(which: str) -> Measure:
    """Return diversity by a distance for each two items."""

    def value(world: Population, user: str, k: int) -> float:
        matrix, items = getattr(world, which), dict(enumerate(world.items))
        return oracle.intra_list_diversity(world.lists[user], k, items, lambda i, j: matrix[i][j])

    return Measure(
        "intra_list_diversity", lambda world: {"distances": getattr(world, which)}, value
    )


def mean_of(name: str, given: Callable[..., Any], value: Callable[..., float | None]) -> Measure:
    """Return the mean of a number of each item over the list; None is left out."""

    def mean(world: Population, user: str, k: int) -> float:
        return oracle.mean_of(world.lists[user], k, lambda item: value(world, item))

    return Measure(name, given, mean)


def popular(which: str) -> Measure:
    """Return the mean of a count of each item."""
    return mean_of(
        "average_popularity",
        lambda world: {"counts": getattr(world, which)},
        lambda world, item: getattr(world, which)[item],
    )


def bits(world: Population, item: int, total: int, cold: int | None) -> float | None:
    """Return the self-information of an item."""
    count = world.seen.get(item, cold)
    return None if count is None else -math.log2(count / total)


def calibrated(name: str, weights: str) -> Measure:
    """Return the calibration of labels."""

    def value(world: Population, user: str, k: int) -> float:
        sides = world.lists[user], k, world.histories[user], world.labels
        return oracle.calibration(*sides, distance=name, weights=weights)

    words = {"distance": name, "weights": weights}
    return Measure(
        "calibration",
        lambda world: {"history": world.histories, "labels": world.labels, **words},
        value,
    )


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


def nothing(world: Population) -> dict[str, Any]:
    """Return that a metric is given nothing."""
    return {}


def catalogue(world: Population) -> dict[str, Any]:
    """Return what coverage and Gini are given."""
    return {"catalogue": [*world.items]}


def expected(world: Population) -> dict[str, Any]:
    """Return the baseline as what everybody expects."""
    return {"expected": {*world.popular}}


def whole(name: str, given: Callable[..., Any], value: Callable[..., float]) -> Measure:
    """Return a metric of some users' lists together: of a world, their rows and a k."""
    return Measure(name, given, lambda world, lists, k: value(world, [*lists.values()], k), True)


def by_ranks(group: int) -> Measure:
    """Return a provider's share of all places over its share of the items."""
    return whole(
        "ratios",
        lambda world: {"group": group},
        lambda world, rows, k: oracle.ratio_of_exposure(rows, k, world.providers, group),
    )


HAMMING = {"of": oracle.hamming_distance, "distance": "hamming"}
COVERAGE = whole(
    "item_coverage", catalogue, lambda world, rows, k: oracle.item_coverage(rows, k, world.items)
)
MEASURES = {
    "intra_list_diversity, cosine": diverse("features", oracle.cosine_distance),
    "1 - intra_list_diversity, cosine of labels": diverse(
        "indicators", oracle.cosine_distance
    )._replace(turned=lambda world, value: 1 - value),
    "intra_list_diversity, hamming": diverse("indicators", **HAMMING),
    "intra_list_diversity, hamming, unknown items left out": diverse(
        "labelled", **HAMMING, unknown="skip"
    ),
    "intra_list_diversity, jaccard": diverse("labels", oracle.jaccard_distance),
    "intra_list_diversity, a matrix": by_matrix("distances"),
    "intra_list_diversity, a matrix of users in common": by_matrix("apart"),
    "novelty, cold items as of one user": mean_of(
        "novelty",
        lambda world: {"counts": dict(world.seen), "total": world.n_users, "unknown": 1},
        lambda world, item: bits(world, item, world.n_users, 1),
    ),
    "novelty, cold items left out": mean_of(
        "novelty",
        lambda world: {"counts": dict(world.seen), "unknown": "skip"},
        lambda world, item: bits(world, item, world.seen.total(), None),
    ),
    "average_popularity": popular("counts"),
    "average_popularity, of shares": popular("shares"),
    "average_popularity, of quantiles": popular("quantiles"),
    "tail_percentage": mean_of(
        "tail_percentage",
        lambda world: {
            "counts": {item: int(item not in world.tail) for item in world.items},
            "max_count": 0,
        },
        lambda world, item: item in world.tail,
    ),
    "popularity_lift": Measure(
        "popularity_lift",
        lambda world: {"history": world.histories, "counts": world.counts},
        lambda world, user, k: oracle.popularity_lift(
            world.lists[user], k, world.histories[user], world.counts
        ),
    ),
    "popularity_lift of the means over users": Measure(
        "",
        nothing,
        lambda world, lists, k: oracle.group_popularity_lift(
            lists.values(), [world.histories[user] for user in lists], k, world.counts
        ),
        whole=True,
    ),
    "serendipity": Measure(
        "serendipity",
        expected,
        lambda world, user, k: oracle.serendipity(
            world.lists[user], world.truths[user], k, world.popular
        ),
    ),
    "unexpectedness": Measure(
        "unexpectedness",
        expected,
        lambda world, user, k: oracle.unexpectedness(world.lists[user], k, world.popular),
    ),
    **{
        f"calibration, {name}{more}": calibrated(name, weights)
        for name in ("kl", "hellinger")
        for weights, more in (("equal", ""), ("rank", ", by rank"))
    },
    "entropy of the labels": Measure("", nothing, label_entropy(by_rank=False)),
    "entropy of the labels, by rank": Measure("", nothing, label_entropy(by_rank=True)),
    "item_coverage": COVERAGE,
    "item_coverage, times the catalogue": COVERAGE._replace(
        turned=lambda world, share: share * len(world.items)
    ),
    "item_coverage, cold items left out": whole(
        "item_coverage",
        lambda world: {"catalogue": [*world.seen], "unknown": "skip"},
        lambda world, rows, k: oracle.item_coverage(
            [[item for item in row if item in world.seen] for row in rows], k, world.seen
        ),
    ),
    "gini": whole("gini", catalogue, lambda world, rows, k: oracle.gini(rows, k, world.items)),
    "1 - gini, over n - 1": whole(
        "gini",
        lambda world: {**catalogue(world), "divisor": "n-1"},
        lambda world, rows, k: oracle.gini(rows, k, world.items, "n-1"),
    )._replace(turned=lambda world, value: 1 - value),
    "gini of discounted exposure": whole(
        "", nothing, lambda world, rows, k: oracle.gini_of_exposure(rows, k, world.items)
    ),
    "shannon_entropy, bits": whole(
        "shannon_entropy",
        lambda world: {"unit": "bits"},
        lambda world, rows, k: oracle.shannon_entropy(rows, k, 2),
    ),
    "personalisation": whole(
        "personalisation", nothing, lambda world, rows, k: oracle.personalisation(rows, k)
    ),
    **{
        f"ratio of exposure without discount, provider {group}": by_ranks(group)
        for group in range(PROVIDERS)
    },
}


def by_oracle(world: Population, question: Question) -> dict[int, Values]:
    """Return the oracle's values of users, or of windows, by the first user of each."""
    measure = MEASURES[question.ours]

    def value(subject: Any, k: int) -> float:
        return measure.turned(world, measure.oracle(world, subject, k))

    users = {user: user for user in world.lists}
    return {
        k: {
            name: value(one, k)
            for name, one in (world.windows(k) if measure.whole else users).items()
        }
        for k in world.ks
    }


def by_toplist(world: Population, question: Question) -> dict[int, Values] | None:
    """Return toplist's values of the same: of users from one call, of windows from one each."""
    measure = MEASURES[question.ours]
    if not measure.name:
        return None
    import numpy as np
    from listwise import listwise

    import toplist as tl

    given = measure.given(world)
    if "distances" in given:
        given["distances"] = np.array(given["distances"])

    def curve(rows: list[list[int]], k: int) -> Any:
        if measure.name == "ratios":
            found = tl.beyond.exposure(rows, k, **catalogue(world))
            return found.ratios(world.providers, discount="1")[given["group"]]
        return getattr(listwise, measure.name)(rows, k, **given)

    if measure.whole:
        return {
            k: {
                one: float(measure.turned(world, curve(rows, k)[-1]))
                for one, rows in world.filled(k).items()
            }
            for k in world.ks
        }
    sides = [world.truths] if measure.name == "serendipity" else []
    curves = getattr(listwise, measure.name)(world.lists, *sides, max(world.ks), **given)
    curves = measure.turned(world, curves)
    return {k: dict(zip(world.lists, curves[:, k - 1].tolist(), strict=True)) for k in world.ks}


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


def cosine_of_rows(world: Population, first: str, k: int) -> float:
    """Divide what two lists share by both lengths."""
    return oracle.personalisation_by_cosine(world.filled(k)[first], k)


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
    labels, features = np.array([*world.indicators.values()]), world.feature_rows
    hamming = metrics.PairwiseHammingDistanceCalculator
    distances = {
        "hamming": lambda: hamming(pd.DataFrame(labels)),
        "hamming of some": lambda: hamming(pd.DataFrame(labels)[labels.any(axis=1)]),
        "cosine": lambda: Given(cdist(features, features, "cosine")),
        "jaccard": lambda: Given(cdist(labels > 0, labels > 0, "jaccard")),
        "given": lambda: Given(world.distances),
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
    vectors = [*map(np.array, world.feature_rows)]
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


def questions(text: str, *stated: Question) -> list[Question]:
    """Return what a peer is asked: "its words = words here" in lines, and what differs."""
    lines = [line.strip().rpartition(" = ") for line in text.strip().splitlines()]
    return [*(Question(theirs, ours) for theirs, _, ours in lines), *stated]


RECTOOLS = questions(
    """
    IntraListDiversity, hamming = intra_list_diversity, hamming
    IntraListDiversity, cosine = intra_list_diversity, cosine
    IntraListDiversity, given = intra_list_diversity, a matrix
    MeanInvUserFreq = novelty, cold items as of one user
    AvgRecPopularity = average_popularity
    AvgRecPopularity, normalize = average_popularity, of shares
    CatalogCoverage = item_coverage
    """,
    Question(
        "IntraListDiversity, hamming of some",
        "intra_list_diversity, hamming, unknown items left out",
        why="0 without two items, but NaN of two without two that are known",
        instead=pairs_alone,
    ),
    Question(
        "IntraListDiversity, jaccard",
        "intra_list_diversity, jaccard",
        why="scipy's distance of two items without labels is 0, here 1",
        instead=unlike_pairs,
    ),
    Question(
        "Serendipity",
        "serendipity",
        why="hits by ranks in the list less ranks by popularity",
        instead=hits_above_popularity,
    ),
)
LENSKIT = questions(
    """
    MeanPopRank = average_popularity, of quantiles
    ListGini = gini
    """,
    Question("ExposureGini", "gini of discounted exposure", tolerance=SINGLE),
    Question(
        "entropy", "entropy of the labels", why=RAISED, instead=label_entropy(False, raised=1e-6)
    ),
    Question(
        "rank_biased_entropy",
        "entropy of the labels, by rank",
        why=RAISED,
        instead=label_entropy(True, raised=1e-6),
    ),
)
RECOMMENDERS = questions(
    """
    user_diversity, features = intra_list_diversity, cosine
    user_diversity = intra_list_diversity, a matrix of users in common
    distributional_coverage = shannon_entropy, bits
    """,
    Question(
        "novelty",
        "novelty, cold items left out",
        why="cold items add 0 and are counted",
        instead=cold_are_worth_nothing,
    ),
    Question(
        "user_serendipity",
        "serendipity",
        why=UNLIKE,
        instead=unlike_history(lambda world, a, b: world.apart[a][b]),
    ),
    Question(
        "user_serendipity, features",
        "serendipity",
        why=UNLIKE,
        instead=unlike_history(
            lambda world, a, b: oracle.cosine_distance(world.features[a], world.features[b])
        ),
    ),
    Question(
        "catalog_coverage",
        "item_coverage, cold items left out",
        why="cold items are counted among those listed, which may exceed 1",
        instead=cold_are_counted,
    ),
)
REPLAY = [
    Question(
        "Unexpectedness",
        "unexpectedness",
        why="the baseline is cut at k, too, which divides lists of any length",
        instead=over_k,
    )
]
SCIPY = questions(
    """
    entropy(p, .99 q + .01 p) = calibration, kl
    entropy(p, .99 q + .01 p), by rank = calibration, kl, by rank
    euclidean(sqrt(p), sqrt(q)) = calibration, hellinger
    euclidean(sqrt(p), sqrt(q)), by rank = calibration, hellinger, by rank
    """,
    Question(
        "pdist of rows, cosine",
        "personalisation",
        why="both lengths in place of k divide what is shared",
        instead=cosine_of_rows,
    ),
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
    BiasDisparityBR, 0 = ratio of exposure without discount, provider 0
    BiasDisparityBR, 1 = ratio of exposure without discount, provider 1
    BiasDisparityBR, 2 = ratio of exposure without discount, provider 2
    """,
    Question(
        "SEntropy",
        "shannon_entropy, bits",
        why="every user weighs the same, however short the list, or empty",
        instead=lambda world, first, k: users_weigh_the_same(world.filled(k)[first]),
    ),
)
CLAYRS = questions(
    """
    DeltaGap = popularity_lift
    DeltaGap, of groups = popularity_lift of the means over users
    """
)
PEERS = {
    "rectools": Peer(
        "rectools",
        (("rectools",),),
        RECTOOLS,
        rectools,
        silent="it has no calibration, lift of popularity, Gini, entropy, personalisation",
    ),
    "lenskit": Peer(
        "lenskit",
        (("lenskit<2026",),),  # later ones ask for Python 3.12
        LENSKIT,
        lenskit,
        silent="it has no calibration, novelty, serendipity, personalisation",
    ),
    "recommenders": Peer(
        "recommenders",
        (("--no-deps", "recommenders"), ("pandas<3", "scikit-learn")),
        RECOMMENDERS,
        recommenders,
        silent="it has no calibration, popularity, Gini, personalisation; its means over users",
    ),
    "replay": Peer("replay-rec", (("replay-rec", "torch==2.13.0"),), REPLAY, replay),
    "scipy": Peer("scipy", (("scipy", "numpy"),), SCIPY, scipy),
    "lenskit_2026": Peer("lenskit@3bd1c17 (read)", (), LENSKIT_2026, lenskit_2026),
    "elliot": Peer(
        "elliot@fc27efe (read)",
        (),
        ELLIOT,
        elliot,
        silent="ACLT, APLT times the items listed; EFD and EPC, novelty of hits by discount; "
        "SRecall, labels of hits; PopREO, PopRSP, REO, RSP, spreads over groups; it has no "
        "calibration, diversity, serendipity",
    ),
    "clayrs": Peer("clayrs@6df4fbe (read)", (), CLAYRS, clayrs),
}
