"""What the numbers mean: definitions of metrics, conventions, names and formulas.

`definitions` holds the metrics as data, `conventions` the metrics and policies of other libraries,
`beyond_accuracy` the metrics of the lists themselves. `names` reads ``"ndcg@10"``, and `formulas`
writes a metric as text or LaTeX. Nothing here loops over users.
"""
