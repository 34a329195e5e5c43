"""From hits to numbers: values per user, means, standard deviations, intervals; all can be merged.

`per_user` computes the values of each user, `histograms` the counts that means and variances follow
from, `moments` averages that merge. `terms` holds what was asked and by which rules, `means` the
numbers of an evaluation, and `describe` says in words who was counted and by which rules.
"""
