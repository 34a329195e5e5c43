"""Several evaluations: side by side, tested against each other, in segments, over runs.

"""
