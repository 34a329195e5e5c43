"""Metrics of the lists themselves, beyond accuracy: what is shown, to how many, and how alike.

Of the whole population, an array (K,) over k, from one `Exposure`: `item_coverage`, `gini`,
`shannon_entropy`, `personalisation` (a database may have counted: `from_counts_of_counts`); of
groups of items, `group_exposure`. Of each user,
(n_users, K): `average_popularity`, `tail_percentage`, `novelty`, `intra_list_diversity`,
`unexpectedness`, `serendipity`. Of two sets of lists, an `Agreement`: `overlap`, `rbo`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from toplist.beyond import concentration, diversity, popularity
from toplist.beyond.agreement import Agreement, overlap, rbo
from toplist.beyond.concentration import gini, item_coverage, personalisation, shannon_entropy
from toplist.beyond.counts_of_counts import CountsOfCounts, from_counts_of_counts
from toplist.beyond.diversity import intra_list_diversity
from toplist.beyond.exposure import Exposure, exposure
from toplist.beyond.groups import GroupExposure, group_exposure
from toplist.beyond.popularity import average_popularity, novelty, tail_percentage
from toplist.beyond.serendipity import serendipity, unexpectedness
from toplist.inputs.options import Known

__all__ = [
    "Agreement",
    "CountsOfCounts",
    "Exposure",
    "GroupExposure",
    "average_popularity",
    "exposure",
    "from_counts_of_counts",
    "gini",
    "group_exposure",
    "intra_list_diversity",
    "item_coverage",
    "novelty",
    "overlap",
    "personalisation",
    "rbo",
    "serendipity",
    "shannon_entropy",
    "tail_percentage",
    "unexpectedness",
]

# What computes each metric inside an evaluation: from an exposure, or the curves of each user.
WHOLE = concentration.WHOLE
OF_USERS: Mapping[str, Callable[[Known], Any]] = {**popularity.OF_USERS, **diversity.OF_USERS}


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
