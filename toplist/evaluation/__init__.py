"""`plan` checks the arguments, `evaluate` has `top_k_eval`, `functions` the metric functions."""
