"""Who is counted, and averages of values, in plain Python."""

import math

NAN = math.nan


def counted(values):
    """Return the values of users who have one."""
    return [value for value in values if not math.isnan(value)]


def mean(values):
    """Average values; nan of nobody."""
    return math.fsum(values) / len(values) if values else NAN


def std(values):
    """Return the sample standard deviation; nan of fewer than two."""
    if len(values) < 2:
        return NAN
    middle = mean(values)
    return math.sqrt(math.fsum((one - middle) ** 2 for one in values) / (len(values) - 1))


def weighted_mean(values, weights):
    """Return sum(w x) / sum(w) of the users who have a value.

    >>> weighted_mean([1.0, NAN, 0.0], [3, 5, 1])
    0.75
    """
    pairs = [(w, x) for w, x in zip(weights, values, strict=True) if w and not math.isnan(x)]
    total = math.fsum(w for w, _ in pairs)
    return math.fsum(w * x for w, x in pairs) / total if total else NAN
