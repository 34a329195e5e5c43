"""Leave-one-out experiments: splits of a log, ranks of the held-out item, sampled candidates."""

from toplist.averages.sampled import Sampled as Sampled
from toplist.averages.sampled import SampledMetricsWarning as SampledMetricsWarning
from toplist.candidates import SampledRanks as SampledRanks
from toplist.candidates import negatives as negatives
from toplist.candidates import sampled_ranks as sampled_ranks
from toplist.estimators import Estimate as Estimate
from toplist.estimators import corrected as corrected
from toplist.estimators import full_depth as full_depth
from toplist.placing import ranks_of as ranks_of
from toplist.reports import Columns as Columns
from toplist.reports import Report as Report
from toplist.reports import Split as Split
from toplist.splits import holdout as holdout
from toplist.splits import leave_one_out as leave_one_out
