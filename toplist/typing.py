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

from toplist.audit import Level as Level
from toplist.averages.terms import Sampler as Sampler
from toplist.beyond.agreement import OverlapDivisor as OverlapDivisor
from toplist.beyond.agreement import RboVariant as RboVariant
from toplist.beyond.concentration import EntropyVariant as EntropyVariant
from toplist.beyond.concentration import GiniDivisor as GiniDivisor
from toplist.beyond.concentration import Over as Over
from toplist.beyond.concentration import Unit as Unit
from toplist.beyond.diversity import Distance as Distance
from toplist.beyond.diversity import SerendipityDivisor as SerendipityDivisor
from toplist.beyond.diversity import UnknownItem as UnknownItem
from toplist.beyond.groups import Against as Against
from toplist.beyond.popularity import UnknownToTail as UnknownToTail
from toplist.files.formats import TextFormatName as TextFormatName
from toplist.inputs.options import Aggregate as Aggregate
from toplist.inputs.options import Duplicates as Duplicates
from toplist.inputs.options import FormatName as FormatName
from toplist.inputs.options import Keep as Keep
from toplist.inputs.options import Order as Order
from toplist.inputs.options import Ties as Ties
from toplist.inputs.options import Unknown as Unknown
from toplist.loo.histories import Repeats as Repeats
from toplist.loo.ranks import HeldOutTies as HeldOutTies
from toplist.loo.sampling import CandidateTies as CandidateTies
from toplist.loo.split import HeldOut as HeldOut
from toplist.loo.split import Part as Part
from toplist.loo.split import ShareHeldOut as ShareHeldOut
from toplist.loo.split import Short as Short
from toplist.metrics.beyond_accuracy import ListMetricName as ListMetricName
from toplist.metrics.conventions import ConventionName as ConventionName
from toplist.metrics.conventions import Missing as Missing
from toplist.metrics.conventions import Relevant as Relevant
from toplist.metrics.definitions import Counts as Counts
from toplist.metrics.definitions import Cut as Cut
from toplist.metrics.definitions import DiscountName as DiscountName
from toplist.metrics.definitions import DivisorName as DivisorName
from toplist.metrics.definitions import Empty as Empty
from toplist.metrics.definitions import Gains as Gains
from toplist.metrics.definitions import Of as Of
from toplist.metrics.formulas import Style as Style
from toplist.metrics.names import Metrics as Metrics
from toplist.metrics.names import Name as Name
from toplist.metrics.names import NameAtK as NameAtK
from toplist.pointwise import UserWeights as UserWeights
from toplist.results.aligning import SameUsers as SameUsers
from toplist.results.inference import TukeyMethod as TukeyMethod
from toplist.results.pairwise import TestCorrection as TestCorrection
from toplist.results.pairwise import TestFamily as TestFamily
from toplist.results.pairwise import TestMethod as TestMethod
from toplist.results.tests import Picture as Picture
from toplist.scores import RankedTies as RankedTies
from toplist.scores import ScoreTies as ScoreTies
from toplist.stats.corrections import Correction as Correction
from toplist.stats.paired import Alternative as Alternative
from toplist.stats.paired import RunsAre as RunsAre

__all__ = sorted(name for name in globals() if name[0].isupper())


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
