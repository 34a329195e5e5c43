"""The types of options and names, for the annotations of programs that pass them on.

Every option that takes a word has a type here, a `typing.Literal` of its valid words, so that a
type checker finds a misspelt one, and an editor completes it. A function of your own that hands
``ties`` on to `toplist.top_k_eval` says which words it takes::

    from toplist.typing import ConventionName, Metrics, Ties

    def evaluated(metrics: Metrics, convention: ConventionName = "standard", ties: Ties = "item"):
        return tl.top_k_eval(lists, truths, k=10, metrics=metrics, convention=convention, ties=ties)

Names of metrics cannot all be listed: any k, any parameter, and metrics of your own are valid. So
`Metrics`, the type of ``metrics``, takes any text, of which editors complete the common ones:
`Name` (``"ndcg"``) and `NameAtK` (``"ndcg@10"``). By these, ``result["ndcg@10"]`` is a float and
``result["ndcg"]`` an array for a type checker; what another text gives it cannot tell, and does
not check.

Examples
--------
>>> from typing import get_args
>>> from toplist.typing import Ties
>>> get_args(Ties)
('order', 'item', 'item_desc')
"""

from toplist.audit import Level
from toplist.beyond.agreement import OverlapDivisor
from toplist.beyond.baselines import SerendipityDivisor
from toplist.beyond.concentration import EntropyVariant, GiniDivisor, Over, Unit
from toplist.beyond.diversity import UnknownItem
from toplist.beyond.popularity import UnknownToTail
from toplist.comparing.aligning import SameUsers
from toplist.comparing.comparison import ComparisonPicture
from toplist.comparing.datasets import MissingSystem
from toplist.comparing.inference import FamilyMethod
from toplist.comparing.pairwise import TestCorrection, TestFamily, TestMethod
from toplist.comparing.verdicts import FloorVerdict
from toplist.files.formats import TextFormatName
from toplist.inputs.items import Unknown
from toplist.inputs.options import Duplicates, FormatName, Keep, Order, Unjudged, Weighting
from toplist.loo.histories import Repeats
from toplist.loo.ranks import HeldOutTies
from toplist.loo.sampling import CandidateTies
from toplist.loo.split import HeldOut, Part, ShareHeldOut, Short
from toplist.metrics.beyond_accuracy import Distance, Divergence, ListMetricName, RankWeights
from toplist.metrics.conventions import Aggregate, ConventionName, Missing, Relevant, Ties
from toplist.metrics.definitions import Counts, Cut, DiscountName, DivisorName, Empty, Gains, Of
from toplist.metrics.formulas import Style
from toplist.metrics.names import Metrics, Name, NameAtK
from toplist.pointwise import UserWeights
from toplist.results.terms import Sampler
from toplist.scores import RankedTies, ScoreTies
from toplist.stats.corrections import Correction
from toplist.stats.datasets import DatasetsAre, ReplicabilityMethod
from toplist.stats.noninferiority import Verdict
from toplist.stats.paired import Alternative, RunsAre
from toplist.testing import Undecided

__all__ = [
    "Aggregate", "Alternative", "CandidateTies", "ComparisonPicture", "ConventionName",
    "Correction", "Counts", "Cut", "DatasetsAre", "DiscountName", "Distance", "Divergence",
    "DivisorName", "Duplicates", "Empty", "EntropyVariant", "FamilyMethod", "FloorVerdict",
    "FormatName", "Gains", "GiniDivisor", "HeldOut", "HeldOutTies", "Keep", "Level",
    "ListMetricName", "Metrics", "Missing", "MissingSystem", "Name", "NameAtK", "Of", "Order",
    "Over", "OverlapDivisor", "Part", "RankWeights", "RankedTies", "Relevant", "Repeats",
    "ReplicabilityMethod", "RunsAre", "SameUsers", "Sampler", "ScoreTies", "SerendipityDivisor",
    "ShareHeldOut", "Short", "Style", "TestCorrection", "TestFamily", "TestMethod",
    "TextFormatName", "Ties", "Undecided", "Unit", "Unjudged", "Unknown", "UnknownItem",
    "UnknownToTail", "UserWeights", "Verdict", "Weighting",
]  # fmt: skip


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
