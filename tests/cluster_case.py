"""Case C of the statistics of clusters: twelve values in five unequal clusters."""

D = [0.3, 0.1, -0.2, 0.4, 0.0, 0.2, 0.5, -0.1, 0.3, 0.1, 0.2, 0.6]
LABELS = list("aaaaabbcccde")
ERROR, DF = 0.0685581246, 2.7363773422
# The values and 0.3, in tenths, as a precision@10 can be.
TENTHS = [round(10 * d) + 3 for d in D]
