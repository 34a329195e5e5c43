"""Leave-one-out experiments: splits of a log, ranks of the held-out item, sampled candidates."""

from toplist.averages.terms import Sampled as Sampled
from toplist.averages.terms import SampledMetricsWarning as SampledMetricsWarning
from toplist.loo.estimators import Estimate as Estimate
from toplist.loo.estimators import corrected as corrected
from toplist.loo.estimators import full_depth as full_depth
from toplist.loo.ranks import ranks_of as ranks_of
from toplist.loo.sampling import SampledRanks as SampledRanks
from toplist.loo.sampling import negatives as negatives
from toplist.loo.sampling import sampled_ranks as sampled_ranks
from toplist.loo.split import Columns as Columns
from toplist.loo.split import Split as Split
from toplist.loo.split import holdout as holdout
from toplist.loo.split import leave_one_out as leave_one_out
from toplist.loo.split_report import Report as Report
