"""What the peers of `lists.py` are asked, what the same is called here, and what differs.

A question holds a peer's own words for a metric, the oracle's value of one user, or of some users'
lists together, and toplist's. Where they differ by what is stated, the peer's formula stands beside
the reason, and the peer has to agree with that.
"""

import math
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from conformance_peers import TOLERANCE
from lists_answers import Population, elliot_tail

from toplist import beyond

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import oracle_beyond as oracle
import oracle_lists as twins

SINGLE = 1e-5  # what numbers of 32 bits hold


class World:
    """A population with what the metrics are given of it."""

    def __init__(self, given: Population) -> None:
        self.given = given
        self.lists, self.histories = given.lists, given.histories
        self.items = range(len(given.labels))
        self.labels = dict(enumerate(given.labels))
        self.features = dict(enumerate(given.features))
        self.indicators = dict(enumerate(given.indicators()))
        self.labelled = {item: row for item, row in self.indicators.items() if any(row)}
        self.providers = dict(enumerate(given.providers))

    def subjects(self, whole: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield what is measured at each k: users, or the lists of windows of users."""
        for k in self.given.ks:
            users = {user: user for user in self.lists}
            yield k, self.given.windows(k) if whole else users

    @cached_property
    def seen(self) -> dict[int, int]:
        """How many histories hold each item, of those that some hold."""
        return dict(self.given.counts)

    @cached_property
    def counts(self) -> dict[int, int]:
        """The same of every item."""
        return {item: self.seen.get(item, 0) for item in self.items}

    @cached_property
    def shares(self) -> dict[int, float]:
        """The share of all interactions that are with each item."""
        return {item: n / sum(self.seen.values()) for item, n in self.seen.items()}

    @cached_property
    def n_users(self) -> int:
        """How many users have a history."""
        return sum(map(bool, self.histories.values()))

    @cached_property
    def popular(self) -> set[int]:
        """The baseline: the 20 items in most histories."""
        return {*sorted(self.items, key=lambda item: -self.counts[item])[:20]}

    @cached_property
    def tail(self) -> set[int]:
        """What is not of Elliot's short head."""
        return elliot_tail(self.given.counts)

    @cached_property
    def quantiles(self) -> dict[int, float]:
        """The share of the items that are as popular, of equal ones the mean."""
        values = [*self.seen.values()]
        below = {n: sum(one < n for one in values) for n in values}
        return {
            item: (below[n] + (values.count(n) + 1) / 2) / len(values)
            for item, n in self.seen.items()
        }

    @cached_property
    def apart(self) -> list[list[float]]:
        """One minus the cosine of the users of two items."""
        found = [[1.0] * len(self.items) for _ in self.items]
        for row in self.histories.values():
            for i in row:
                for j in row:
                    found[i][j] -= 1 / math.sqrt(self.counts[i] * self.counts[j])
        return found


class Stated(NamedTuple):
    """A difference that is stated: why, and what the peer computes at a k."""

    reason: str
    instead: Callable[[World, Any, int], float]


class Question(NamedTuple):
    """One metric in the words of both.

    Parameters
    ----------
    theirs, ours : str
    oracle : callable
        Of a world, a user (of a metric of all lists: lists by user) and a k.
    toplist : callable, optional
        Of a world, lists by user and a k: curves of users, or of all lists.
    stated : Stated, optional
    whole : bool
        Whether it is a metric of all lists together.
    tolerance : float
    """

    theirs: str
    ours: str
    oracle: Callable[[World, Any, int], float]
    toplist: Callable[[World, dict[str, list[int]], int], Any] | None = None
    stated: Stated | None = None
    whole: bool = False
    tolerance: float = TOLERANCE


class Peer(NamedTuple):
    """A peer: its package, what is installed (nothing: its facts are read), and its questions."""

    package: str
    installs: tuple[tuple[str, ...], ...]
    questions: tuple[Question, ...]
    silent: str = ""


# What is asked of one user's list, or of the lists of some


def mean_of(value: Callable[[World, int], float | None]) -> Callable[..., float]:
    """Return the oracle of a mean over the list; None is left out."""
    return lambda world, user, k: oracle.mean_of(
        world.lists[user], k, lambda item: value(world, item)
    )


def diversity(features: str, distance: Callable[[Any, Any], float]) -> Callable[..., float]:
    """Return the oracle of diversity by what is known of items."""
    return lambda world, user, k: oracle.intra_list_diversity(
        world.lists[user], k, getattr(world, features), distance
    )


def by_matrix(world: World, user: str, k: int, matrix: list[list[float]]) -> float:
    """Evaluate diversity by a distance for each two items."""
    return oracle.intra_list_diversity(
        world.lists[user], k, dict(enumerate(world.items)), lambda i, j: matrix[i][j]
    )


def diverse(features: str, **options: Any) -> Callable[..., Any]:
    """Return toplist's diversity."""
    return lambda world, lists, k: beyond.intra_list_diversity(
        lists, k, features=getattr(world, features), **options
    )


def rows_of(lists: dict[str, list[int]]) -> list[list[int]]:
    """Return the lists that hold something."""
    return [row for row in lists.values() if row]


def calibration(name: str, by_rank: bool) -> Question:
    """Ask for the calibration of labels."""
    function = getattr(twins, f"calibration_{name}")
    theirs = "entropy(p, .99 q + .01 p)" if name == "kl" else "euclidean(sqrt(p), sqrt(q))"
    more = ", by rank" if by_rank else ""
    return Question(
        theirs + more,
        f"calibration, {name}{more}",
        lambda world, user, k: function(
            world.lists[user], world.histories[user], k, world.labels, by_rank=by_rank
        ),
    )


def label_entropy(theirs: str, by_rank: bool) -> Question:
    """Ask for the entropy of the labels of a list."""

    def raised(world: World, user: str, k: int) -> float:
        """Add a millionth to the sum of each label."""
        listed = [
            (1 / twins.discount(rank) if by_rank else 1.0, world.labels[item])
            for item, rank in twins.places(world.lists[user], k).items()
        ]
        sums = [
            1e-6 + sum(weight / len(row) for weight, row in listed if label in row)
            for label in range(len(world.indicators[0]))
        ]
        return twins.entropy({i: one / sum(sums) for i, one in enumerate(sums)}, base=2)

    return Question(
        theirs,
        "entropy of the labels" + (", by rank" if by_rank else ""),
        lambda world, user, k: twins.entropy(
            twins.list_shares(world.lists[user], k, world.labels, by_rank), base=2
        ),
        stated=Stated("1e-6 is added to each label's sum", raised),
    )


# What differs


def unlike_pairs(world: World, user: str, k: int) -> float:
    """Evaluate diversity where two items without a label have the distance 0, as scipy says."""

    def distance(a: Any, b: Any) -> float:
        return twins.jaccard_distance(a, b) if a or b else 0.0

    return oracle.intra_list_diversity(world.lists[user], k, world.labels, distance)


def pairs_alone(world: World, user: str, k: int) -> float:
    """Evaluate diversity of known pairs: 0 without any pair, NaN without one that is known."""
    listed = world.lists[user][:k]
    known = [item for item in listed if item in world.labelled]
    if len(known) < 2:
        return math.nan if len(listed) > 1 else 0.0
    return oracle.intra_list_diversity(known, k, world.labelled, oracle.hamming_distance)


def rectools_serendipity(world: World, user: str, k: int) -> float:
    """Add up by how much higher than by popularity the hits stand, over the list."""
    n, levels = len(world.items), sorted({*world.seen.values()}, reverse=True)
    total = 0.0
    for rank, item in enumerate(world.lists[user][:k], start=1):
        if item in world.given.truths[user]:
            known = item in world.seen
            expected = (n - levels.index(world.seen[item])) / n if known else 0.0
            total += max((n + 1 - rank) / n - expected, 0.0)
    return total / len(world.lists[user][:k])


def unlike_history(features: str) -> Callable[[World, str, int], float]:
    """Return how unlike their user's history the hits are, a mean over the list."""

    def distance(world: World, a: int, b: int) -> float:
        if features:
            return oracle.cosine_distance(world.features[a], world.features[b])
        return world.apart[a][b]

    def value(world: World, user: str, k: int) -> float:
        history, truth = world.histories[user], world.given.truths[user]
        hits = [item for item in world.lists[user][:k] if item in truth]
        means = [sum(distance(world, item, one) for one in history) / len(history) for item in hits]
        return sum(means) / len(world.lists[user][:k])

    return value


def cold_are_worth_nothing(world: World, user: str, k: int) -> float:
    """Average self-information over all items listed, 0 of those that nobody has seen."""
    total, listed = sum(world.seen.values()), world.lists[user][:k]
    return sum(-math.log2(world.seen[i] / total) for i in listed if i in world.seen) / len(listed)


def cold_are_counted(world: World, lists: dict[str, list[int]], k: int) -> float:
    """Divide all items listed by those of the histories."""
    return len({item for row in lists.values() for item in row}) / len(world.seen)


def users_weigh_the_same(world: World, lists: dict[str, list[int]], k: int) -> float:
    """Average over users the mean self-information of their items among all listings."""
    listed = oracle.listings(rows_of(lists), k)
    total = sum(listed.values())
    means = [-sum(math.log2(listed[i] / total) for i in row) / len(row) for row in rows_of(lists)]
    return sum(means) / len(lists)


# The peers


def baseline_serendipity(theirs: str, stated: Stated) -> Question:
    """Ask for the serendipity of a peer, whose formula is another one."""
    return Question(
        theirs,
        "serendipity",
        lambda world, user, k: twins.serendipity(
            world.lists[user], world.given.truths[user], k, world.popular
        ),
        lambda world, lists, k: beyond.serendipity(
            lists, world.given.truths, k, baseline=world.popular
        ),
        stated,
    )


def popularity(theirs: str, ours: str, counts: str, **options: Any) -> Question:
    """Ask for the mean count of the items of a list."""
    return Question(
        theirs,
        ours,
        mean_of(lambda world, item: getattr(world, counts).get(item, 0)),
        lambda world, lists, k: beyond.average_popularity(
            lists, k, item_counts=getattr(world, counts), unknown=0
        ),
        **options,
    )


def coverage(theirs: str, ours: str, times: Callable[[World], float]) -> Question:
    """Ask for the items that are listed at all, times a number."""
    return Question(
        theirs,
        ours,
        lambda world, lists, k: oracle.item_coverage(lists.values(), k, world.items) * times(world),
        lambda world, lists, k: (
            beyond.item_coverage(lists, k, catalogue=world.items) * times(world)
        ),
        whole=True,
    )


def share_of_all(world: World) -> float:
    """Return 1."""
    return 1.0


def number(world: World) -> float:
    """Return the size of the catalogue."""
    return float(len(world.items))


def novelty_from(theirs: str, users: bool, stated: Stated | None = None) -> Question:
    """Ask for self-information, by shares of users or of interactions."""

    def total(world: World) -> int:
        return world.n_users if users else sum(world.seen.values())

    def bits(world: World, item: int) -> float | None:
        count = world.seen.get(item, 1 if users else None)
        return None if count is None else -math.log2(count / total(world))

    unknown: Any = 1 if users else "skip"
    return Question(
        theirs,
        "novelty" + (", cold items as of one user" if users else ", cold items left out"),
        mean_of(bits),
        lambda world, lists, k: beyond.novelty(
            lists, k, item_counts=world.seen, total=total(world), unknown=unknown
        ),
        stated,
    )


def ratios(world: World, lists: dict[str, list[int]], k: int) -> dict[int, Any]:
    """Return toplist's ratios of exposure by group."""
    found = beyond.group_exposure(lists, k, groups=world.providers, discount="1")
    return dict(zip(found.groups, found.ratio, strict=True))


RECTOOLS = (
    Question(
        "IntraListDiversity, hamming",
        "intra_list_diversity, hamming",
        diversity("indicators", oracle.hamming_distance),
        diverse("indicators", distance="hamming"),
    ),
    Question(
        "IntraListDiversity, hamming of some",
        "intra_list_diversity, hamming, unknown items left out",
        diversity("labelled", oracle.hamming_distance),
        diverse("labelled", distance="hamming", unknown="skip"),
        Stated("0 without two items, but NaN of two without two that are known", pairs_alone),
    ),
    Question(
        "IntraListDiversity, cosine",
        "intra_list_diversity, cosine",
        diversity("features", oracle.cosine_distance),
        diverse("features"),
    ),
    Question(
        "IntraListDiversity, jaccard",
        "intra_list_diversity, jaccard",
        diversity("labels", twins.jaccard_distance),
        stated=Stated("scipy's distance of two items without labels is 0, here 1", unlike_pairs),
    ),
    Question(
        "IntraListDiversity, given",
        "intra_list_diversity, a matrix",
        lambda world, user, k: by_matrix(world, user, k, world.given.distances),
    ),
    novelty_from("MeanInvUserFreq", users=True),
    popularity("AvgRecPopularity", "average_popularity", "seen"),
    popularity("AvgRecPopularity, normalize", "average_popularity, of shares", "shares"),
    baseline_serendipity(
        "Serendipity",
        Stated("hits by ranks in the list less ranks by popularity", rectools_serendipity),
    ),
    coverage("CatalogCoverage", "item_coverage", share_of_all),
)

LENSKIT = (
    popularity("MeanPopRank", "average_popularity, of quantiles", "quantiles"),
    Question(
        "ListGini",
        "gini",
        lambda world, lists, k: oracle.gini(lists.values(), k, world.items),
        lambda world, lists, k: beyond.gini(lists, k, catalogue=world.items),
        whole=True,
    ),
    Question(
        "ExposureGini",
        "gini of discounted exposure",
        lambda world, lists, k: twins.gini_of_exposure(lists.values(), k, world.items),
        whole=True,
        tolerance=SINGLE,
    ),
    label_entropy("entropy", by_rank=False),
    label_entropy("rank_biased_entropy", by_rank=True),
)

RECOMMENDERS = (
    Question(
        "user_diversity, features",
        "intra_list_diversity, cosine",
        diversity("features", oracle.cosine_distance),
        diverse("features"),
    ),
    Question(
        "user_diversity",
        "intra_list_diversity, a matrix of users in common",
        lambda world, user, k: by_matrix(world, user, k, world.apart),
    ),
    novelty_from(
        "novelty",
        users=False,
        stated=Stated("cold items add 0 and are counted", cold_are_worth_nothing),
    ),
    *(
        baseline_serendipity(
            f"user_serendipity{kind}",
            Stated("how unlike the history the hits are, over the items listed", instead),
        )
        for kind, instead in (("", unlike_history("")), (", features", unlike_history("features")))
    ),
    Question(
        "catalog_coverage",
        "item_coverage, cold items left out",
        lambda world, lists, k: oracle.item_coverage(
            [[item for item in row if item in world.seen] for row in lists.values()], k, world.seen
        ),
        lambda world, lists, k: beyond.item_coverage(
            lists, k, catalogue=[*world.seen], unknown="skip"
        ),
        Stated("cold items are counted among those listed, which may exceed 1", cold_are_counted),
        whole=True,
    ),
    Question(
        "distributional_coverage",
        "shannon_entropy, bits",
        lambda world, lists, k: oracle.shannon_entropy(lists.values(), k, 2),
        lambda world, lists, k: beyond.shannon_entropy(lists, k, unit="bits"),
        whole=True,
    ),
)

SCIPY = (
    *(calibration(name, by_rank) for name in ("kl", "hellinger") for by_rank in (False, True)),
    Question(
        "pdist of rows, cosine",
        "personalisation",
        lambda world, lists, k: oracle.personalisation(rows_of(lists), k),
        lambda world, lists, k: beyond.personalisation(rows_of(lists), k),
        Stated(
            "both lengths in place of k divide what is shared",
            lambda world, lists, k: twins.personalisation_by_cosine(rows_of(lists), k),
        ),
        whole=True,
    ),
)

LENSKIT_2026 = (
    Question(
        "ILS",
        "1 - intra_list_diversity, cosine",
        lambda world, user, k: 1 - diversity("features", oracle.cosine_distance)(world, user, k),
        lambda world, lists, k: 1 - diverse("features")(world, lists, k),
    ),
    coverage("UniqueItemCount", "items listed", number),
)

ELLIOT = (
    popularity("ARP", "average_popularity", "counts"),
    Question(
        "APLT",
        "tail_percentage",
        mean_of(lambda world, item: item in world.tail),
        lambda world, lists, k: beyond.tail_percentage(
            lists, k, item_counts={i: int(i not in world.tail) for i in world.items}, max_count=0
        ),
    ),
    Question(
        "ACLT",
        "items of the tail",
        lambda world, user, k: sum(item in world.tail for item in world.lists[user][:k]),
    ),
    coverage("ItemCoverage", "items listed", number),
    Question(
        "Gini",
        "1 - gini, over n - 1",
        lambda world, lists, k: 1 - oracle.gini(lists.values(), k, world.items, "n-1"),
        lambda world, lists, k: 1 - beyond.gini(lists, k, catalogue=world.items, divisor="n-1"),
        whole=True,
    ),
    Question(
        "SEntropy",
        "shannon_entropy, bits",
        lambda world, lists, k: oracle.shannon_entropy(lists.values(), k, 2),
        lambda world, lists, k: beyond.shannon_entropy(lists, k, unit="bits"),
        Stated(
            "every user weighs the same, however short the list, or empty", users_weigh_the_same
        ),
        whole=True,
    ),
    *(
        Question(
            f"BiasDisparityBR, {group}",
            "group_exposure without discount, ratio",
            lambda world, lists, k, group=group: twins.ratio_of_exposure(
                rows_of(lists), k, world.providers, group
            ),
            lambda world, lists, k, group=group: ratios(world, lists, k)[group],
            whole=True,
        )
        for group in range(3)
    ),
)


CLAYRS = (
    Question(
        "DeltaGap",
        "popularity_lift",
        lambda world, user, k: twins.popularity_lift(
            world.lists[user], world.histories[user], k, world.counts
        ),
    ),
    Question(
        "DeltaGap, of groups",
        "popularity_lift of the means over users",
        lambda world, lists, k: twins.group_popularity_lift(
            lists.values(), [world.histories[user] for user in lists], k, world.counts
        ),
        whole=True,
    ),
)

PEERS = {
    "rectools": Peer(
        "rectools",
        (("rectools",),),
        RECTOOLS,
        "it has no calibration, lift of popularity, Gini, entropy, personalisation",
    ),
    "lenskit": Peer(
        "lenskit",
        (("lenskit<2026",),),  # later ones ask for Python 3.12
        LENSKIT,
        "it has no calibration, novelty, serendipity, personalisation",
    ),
    "recommenders": Peer(
        "recommenders",
        (("--no-deps", "recommenders"), ("pandas<3", "scikit-learn")),
        RECOMMENDERS,
        "it has no calibration, popularity, Gini, personalisation; its means over users",
    ),
    "scipy": Peer("scipy", (("scipy", "numpy"),), SCIPY),
    "lenskit_2026": Peer("lenskit at 3bd1c17, by its facts", (), LENSKIT_2026),
    "elliot": Peer(
        "elliot at fc27efe, by its facts",
        (),
        ELLIOT,
        "EFD and EPC, novelty of hits by discount; SRecall, labels of hits; PopREO, PopRSP, "
        "REO, RSP, spreads of recall over groups; it has no calibration, diversity, serendipity",
    ),
    "clayrs": Peer("clayrs at 6df4fbe, by its facts", (), CLAYRS),
}
