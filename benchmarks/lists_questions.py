"""What the peers of `lists.py` are asked, what the same is called here, and what differs.

A question holds a peer's own words for a metric, the oracle's value of one user, or of some users'
lists together, and toplist's. Where they differ by what is stated, the peer's formula stands beside
the reason, and the peer has to agree with that.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from conformance_peers import TOLERANCE
from lists_formulas import (
    World,
    cold_are_counted,
    cold_are_worth_nothing,
    over_k,
    pairs_alone,
    raised_entropy,
    rectools_serendipity,
    rows_of,
    unlike_history,
    unlike_pairs,
    users_weigh_the_same,
)

from toplist import beyond

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from listwise import listwise
from oracle import beyond as oracle
from oracle import lists as twins

SINGLE = 1e-5  # what numbers of 32 bits hold


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
    return lambda world, lists, k: listwise.intra_list_diversity(
        lists, k, features=getattr(world, features), **options
    )


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
        lambda world, lists, k: listwise.calibration(
            lists,
            k,
            history=world.histories,
            labels=world.labels,
            distance=name,
            weights="rank" if by_rank else "equal",
        ),
    )


def label_entropy(theirs: str, by_rank: bool) -> Question:
    """Ask for the entropy of the labels of a list."""
    return Question(
        theirs,
        "entropy of the labels" + (", by rank" if by_rank else ""),
        lambda world, user, k: twins.entropy(
            twins.list_shares(world.lists[user], k, world.labels, by_rank), base=2
        ),
        stated=Stated("1e-6 is added to each label's sum", raised_entropy(by_rank)),
    )


# The peers


def baseline_serendipity(theirs: str, stated: Stated) -> Question:
    """Ask for the serendipity of a peer, whose formula is another one."""
    return Question(
        theirs,
        "serendipity",
        lambda world, user, k: twins.serendipity(
            world.lists[user], world.given.truths[user], k, world.popular
        ),
        lambda world, lists, k: listwise.serendipity(
            lists, world.given.truths, k, expected=world.popular
        ),
        stated,
    )


def popularity(theirs: str, ours: str, counts: str, **options: Any) -> Question:
    """Ask for the mean count of the items of a list."""
    return Question(
        theirs,
        ours,
        mean_of(lambda world, item: getattr(world, counts).get(item, 0)),
        lambda world, lists, k: listwise.average_popularity(
            lists, k, counts=getattr(world, counts), unknown=0
        ),
        **options,
    )


def coverage(theirs: str, counted: bool) -> Question:
    """Ask for the share of the catalogue that is listed at all, or the number of these items."""

    def times(world: World) -> int:
        return len(world.items) if counted else 1

    return Question(
        theirs,
        "item_coverage" + (", times the catalogue" if counted else ""),
        lambda world, lists, k: times(world) * oracle.item_coverage(lists.values(), k, world.items),
        lambda world, lists, k: (
            times(world) * listwise.item_coverage(lists, k, catalogue=world.items)
        ),
        whole=True,
    )


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
        lambda world, lists, k: listwise.novelty(
            lists, k, counts=world.seen, total=total(world), unknown=unknown
        ),
        stated,
    )


def ratios(world: World, lists: dict[str, list[int]], k: int) -> dict[int, Any]:
    """Return toplist's ratios of exposure by group."""
    found = beyond.exposure(lists, k, catalogue=list(world.providers))
    return found.ratios(world.providers, discount="1")


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
        lambda world, lists, k: listwise.intra_list_diversity(lists, k, labels=world.labels),
        stated=Stated("scipy's distance of two items without labels is 0, here 1", unlike_pairs),
    ),
    Question(
        "IntraListDiversity, given",
        "intra_list_diversity, a matrix",
        lambda world, user, k: by_matrix(world, user, k, world.given.distances),
        lambda world, lists, k: listwise.intra_list_diversity(
            lists, k, distances=np.array(world.given.distances)
        ),
    ),
    novelty_from("MeanInvUserFreq", users=True),
    popularity("AvgRecPopularity", "average_popularity", "seen"),
    popularity("AvgRecPopularity, normalize", "average_popularity, of shares", "shares"),
    baseline_serendipity(
        "Serendipity",
        Stated("hits by ranks in the list less ranks by popularity", rectools_serendipity),
    ),
    coverage("CatalogCoverage", counted=False),
)

LENSKIT = (
    popularity("MeanPopRank", "average_popularity, of quantiles", "quantiles"),
    Question(
        "ListGini",
        "gini",
        lambda world, lists, k: oracle.gini(lists.values(), k, world.items),
        lambda world, lists, k: listwise.gini(lists, k, catalogue=world.items),
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
        lambda world, lists, k: listwise.intra_list_diversity(
            lists, k, distances=np.array(world.apart)
        ),
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
        lambda world, lists, k: listwise.item_coverage(
            lists, k, catalogue=[*world.seen], unknown="skip"
        ),
        Stated("cold items are counted among those listed, which may exceed 1", cold_are_counted),
        whole=True,
    ),
    Question(
        "distributional_coverage",
        "shannon_entropy, bits",
        lambda world, lists, k: oracle.shannon_entropy(lists.values(), k, 2),
        lambda world, lists, k: listwise.shannon_entropy(lists, k, unit="bits"),
        whole=True,
    ),
)

REPLAY = (
    Question(
        "Unexpectedness",
        "unexpectedness",
        lambda world, user, k: twins.unexpectedness(world.lists[user], k, world.popular),
        lambda world, lists, k: listwise.unexpectedness(lists, k, expected=world.popular),
        Stated("the baseline is cut at k, too, which divides lists of any length", over_k),
    ),
)

SCIPY = (
    *(calibration(name, by_rank) for name in ("kl", "hellinger") for by_rank in (False, True)),
    Question(
        "pdist of rows, cosine",
        "personalisation",
        lambda world, lists, k: oracle.personalisation(rows_of(lists), k),
        lambda world, lists, k: listwise.personalisation(rows_of(lists), k),
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
        "1 - intra_list_diversity, cosine of labels",
        lambda world, user, k: 1 - diversity("indicators", oracle.cosine_distance)(world, user, k),
        lambda world, lists, k: 1 - diverse("indicators")(world, lists, k),
    ),
    coverage("UniqueItemCount", counted=True),
)

ELLIOT = (
    popularity("ARP", "average_popularity", "counts"),
    Question(
        "APLT",
        "tail_percentage",
        mean_of(lambda world, item: item in world.tail),
        lambda world, lists, k: listwise.tail_percentage(
            lists, k, counts={i: int(i not in world.tail) for i in world.items}, max_count=0
        ),
    ),
    coverage("ItemCoverage", counted=True),
    Question(
        "Gini",
        "1 - gini, over n - 1",
        lambda world, lists, k: 1 - oracle.gini(lists.values(), k, world.items, "n-1"),
        lambda world, lists, k: 1 - listwise.gini(lists, k, catalogue=world.items, divisor="n-1"),
        whole=True,
    ),
    Question(
        "SEntropy",
        "shannon_entropy, bits",
        lambda world, lists, k: oracle.shannon_entropy(lists.values(), k, 2),
        lambda world, lists, k: listwise.shannon_entropy(lists, k, unit="bits"),
        Stated(
            "every user weighs the same, however short the list, or empty", users_weigh_the_same
        ),
        whole=True,
    ),
    *(
        Question(
            f"BiasDisparityBR, {group}",
            "ratios of exposure without discount",
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
        lambda world, lists, k: listwise.popularity_lift(
            lists, k, history=world.histories, counts=world.counts
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
    "replay": Peer("replay-rec", (("replay-rec", "torch==2.13.0"),), REPLAY),
    "scipy": Peer("scipy", (("scipy", "numpy"),), SCIPY),
    "lenskit_2026": Peer("lenskit at 3bd1c17, by its facts", (), LENSKIT_2026),
    "elliot": Peer(
        "elliot at fc27efe, by its facts",
        (),
        ELLIOT,
        "ACLT, APLT times the items listed; EFD and EPC, novelty of hits by discount; SRecall, "
        "labels of hits; PopREO, PopRSP, REO, RSP, spreads over groups; it has no calibration, "
        "diversity, serendipity",
    ),
    "clayrs": Peer("clayrs at 6df4fbe, by its facts", (), CLAYRS),
}
