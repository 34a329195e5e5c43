"""Paired tests and intervals: arrays of values per user in, numbers out.

`paired` has the moments, the t test and effect sizes of a difference, `randomization` the tests by
sign flips, resamples and ranks, `corrections` what many comparisons need, `simultaneous` the
distribution of the largest of many statistics, `blocked` all systems at once, `systems` what parts
of the users send in place of their values, `planning` margins and power, `distributions` the
probabilities behind them, `best_of_many` how far the best of many systems leads by chance,
`datasets` what holds over several data sets, `noninferiority` whether a loss is within a margin,
`heterogeneity` Welch's F of several groups, `prediction_powered` means of few labels by people and
many by an automatic judge.
"""
