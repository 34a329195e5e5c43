"""`plan` checks the arguments, `evaluate` is evaluation in memory, `functions` the metrics."""
