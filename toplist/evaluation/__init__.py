"""`plan` checks the arguments; `evaluate` is evaluation in memory, and the metric functions."""
