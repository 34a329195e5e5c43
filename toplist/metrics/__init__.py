"""What the numbers mean: definitions of metrics, conventions, names and formulas.

`definitions` holds the metrics as data, `conventions` whose divisors and policies apply, `names`
reads ``"ndcg@10"``, `formulas` writes a metric as text or LaTeX. Nothing here loops over users.
"""
