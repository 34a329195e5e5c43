"""The door: every form of lists, tables and ids becomes arrays of integers, checked.

`forms` tells which form an argument has; `flatten`, `keyed` and `tables` bring it into one run of
ids; `ids`, `factorize` and `grades` make integers of ids and gains of grades; `sides` holds both
sides as the join takes them.
"""
