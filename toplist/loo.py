"""Leave-one-out experiments: splits of a log, and the rank of the held-out item."""

from toplist.placing import ranks_of as ranks_of
from toplist.splits import holdout as holdout
from toplist.splits import leave_one_out as leave_one_out
