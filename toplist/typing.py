"""The types of options and names, for the annotations of programs that pass them on.

Every option that takes a word has a type, a `typing.Literal` of its valid words, so that a type
checker finds a misspelt one, and an editor completes it. Here are those of an evaluation and of
tests; the types of other options stand in the modules whose functions take them, as
`toplist.loo.split.Short`. A function of your own that hands ``ties`` on says which words it takes::

    from toplist.typing import ConventionName, Metrics, Ties

    def evaluated(metrics: Metrics, convention: ConventionName = "standard", ties: Ties = "item"):
        ranks = tl.Ranks(lists, ties=ties)
        return tl.top_k_eval(ranks, truths, k=10, metrics=metrics, convention=convention)

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
('order', 'item', 'item_desc', 'trec_eval')
"""

from toplist.comparing.contrasts import SameUsers, TestCorrection, TestFamily, TestMethod
from toplist.inputs.options import Duplicates, FormatName, Keep, Order, Unjudged, Unknown, Weighting
from toplist.metrics.conventions import Aggregate, ConventionName, Missing, Relevant, Ties
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics, Name, NameAtK
from toplist.stats import RunsAre
from toplist.stats.units import Alternative

__all__ = [
    "Aggregate", "Alternative", "ConventionName", "Duplicates", "Empty", "FormatName", "Gains",
    "Keep", "Metrics", "Missing", "Name", "NameAtK", "Order", "Relevant", "RunsAre", "SameUsers",
    "TestCorrection", "TestFamily", "TestMethod", "Ties", "Unjudged", "Unknown", "Weighting",
]  # fmt: skip


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
