"""Leave-one-out experiments: splits of a log, and the rank of the held-out item."""

from toplist.splits import holdout as holdout
from toplist.splits import leave_one_out as leave_one_out
