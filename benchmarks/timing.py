"""Timing by the best of several rounds, subject and yardstick in turn, and its figures in print.

The yardstick is ``ids.sum()``: reading every ranked id once. A machine that is busy or throttled
slows both, so their ratio holds where seconds do not. Needs the standard library alone.
"""

import math
from collections.abc import Callable
from time import perf_counter
from typing import Any


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that one call takes, and what it returned."""
    start = perf_counter()
    result = call()
    return perf_counter() - start, result


def best_of(repeats: int, *calls: Callable[[], Any], patience: float = 20.0) -> list[float]:
    """Return the least seconds of each call, the calls taking turns.

    Parameters
    ----------
    repeats : int
        Rounds, each of which makes every call once.
    *calls : callable
        What to time. A call that only prepares the next one may stand among them.
    patience : float
        Seconds after which no further round begins.

    Returns
    -------
    list of float
    """
    least = [math.inf] * len(calls)
    start = perf_counter()
    for _ in range(repeats):
        least = [min(t, timed(call)[0]) for t, call in zip(least, calls, strict=True)]
        if perf_counter() - start > patience:
            break
    return least


def figure(value: float) -> str:
    """Return a number with three digits that count, and a dash for none."""
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
