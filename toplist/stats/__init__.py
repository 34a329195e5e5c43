"""Estimates, tests and intervals: arrays of values per user in, numbers out.

`estimates` has means, ratios and differences with their errors, by rows, weights and clusters,
and the t test; `randomization` the tests by sign flips, resamples and ranks, `corrections` what
many comparisons need, `simultaneous` the distribution of the largest of many statistics, and
Tukey's test, `systems` what parts of the users send in place of their values, `planning` margins
and power, `distributions` the probabilities behind them, `best_of_many` how far the best of many
systems leads by chance, `datasets` what holds over several data sets, `noninferiority` whether a
loss is within a margin, `prediction_powered` means of few labels by people and many by an automatic
judge.
"""
