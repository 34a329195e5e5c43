"""From hits to numbers: values per user, histograms, moments; all can be merged.

`per_user` computes the values of each user, `histograms` the counts that means and variances follow
from, `moments` averages that merge, and intervals. The means that people see are in
`toplist.results`.
"""
