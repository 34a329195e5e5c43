"""Leave-one-out experiments: splits of a log, ranks of the held-out item, sampled candidates."""

from toplist.averages.terms import Sampled, SampledMetricsWarning
from toplist.loo.estimators import Estimate, corrected, full_depth
from toplist.loo.rank_counts import from_rank_counts
from toplist.loo.ranks import ranks_of
from toplist.loo.sampling import SampledRanks, negatives, sampled_ranks
from toplist.loo.split import Columns, Split, holdout, leave_one_out
from toplist.loo.split_report import Report

__all__ = [
    "Columns",
    "Estimate",
    "Report",
    "Sampled",
    "SampledMetricsWarning",
    "SampledRanks",
    "Split",
    "corrected",
    "from_rank_counts",
    "full_depth",
    "holdout",
    "leave_one_out",
    "negatives",
    "ranks_of",
    "sampled_ranks",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
