"""Estimates, tests and intervals: arrays of values per user in, numbers out.

`units` are what is drawn or flipped as one: rows, or clusters of them, with weights. `estimates`
has means, ratios and differences with their errors, and the t test; `randomization` the tests by
sign flips, resamples and ranks, and how far the best of many systems leads by chance;
`simultaneous` what many comparisons need: corrected p, the distribution of the largest of many
statistics, and Tukey's test; `planning` margins, losses within them, power, and means of few labels
by people and many by an automatic judge; `systems` what parts of the users send in place of their
values; `datasets` what holds over several data sets or groups; and `distributions` the
probabilities behind them.
"""
