"""From hits to numbers: values per user, histograms, means, spreads, and their merging.

`per_user` has the values of each user, `histograms` the integers that means follow from,
`moments` averages that merge, `terms` what was asked, `means` the result, `describe` its words.
"""
