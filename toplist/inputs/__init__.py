"""Ranked lists and ground truths in every accepted form, read into arrays of integers.

`forms` decides which form an argument has; `flatten`, `keyed` and `tables` (with `dataframes`)
bring it into one run of ids per side; `ids`, `factorize` and `grades` make integers of ids and
gains of grades; `sides` holds both sides as the join needs them. `lists` is the container of
ragged lists, `options` the shared keywords, `errors` the shared messages; `catalogues` reads what
is known of items, `predictions` rows of label and prediction.
"""
