"""The parts that metrics are made of, by name: what discounts a rank, what a sum is divided by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Discount:
    """What a hit at rank r is divided by: a function of ranks (float64, from 1), and its words."""

    name: str
    function: Callable[[Array], Any]
    latex: str


@dataclass(frozen=True)
class Divisor:
    """What the sum over the hits is divided by: ``function(k, R, n)``, and its words.

    With `ideal`, the function gives a number of places, and the divisor is what hits on all
    places down to there would earn: the ideal DCG, under the metric's own discount.
    `by_length` says that the length n of the list matters.
    """

    name: str
    function: Callable[[Array, Array, Array], Any]
    latex: str
    by_length: bool = False
    ideal: bool = False


def table_of(*rows: Any) -> Mapping[str, Any]:
    """Return rows by name, read-only: others read them too."""
    return MappingProxyType({row.name: row for row in rows})


DISCOUNTS: Mapping[str, Discount] = table_of(
    Discount("1", lambda r: np.ones_like(r), "1"),
    Discount("r", lambda r: r, "r_j"),
    Discount("log2(r+1)", lambda r: np.log2(r + 1), r"\log_2(r_j + 1)"),
    Discount("log2(max(r,2))", lambda r: np.log2(np.maximum(r, 2)), r"\log_2(\max(r_j, 2))"),
)


def _steps(k: Array, R: Array, n: Array) -> Array:
    """Sum of min(i, R) over i = 1..min(k, n)."""
    m = np.minimum(k, n)
    low = np.minimum(m, R)
    total: Array = low * (low + 1) // 2 + (m - low) * R
    return total


# No "min(n,R)": a list is cut at k, so it is min(k,n,R).
_SMALLEST: dict[str, tuple[Callable[[Array, Array, Array], Any], str, bool]] = {
    "k": (lambda k, R, n: k, "k", False),
    "R": (lambda k, R, n: R, "R", False),
    "min(k,R)": (lambda k, R, n: np.minimum(k, R), r"\min(k, R)", False),
    "min(k,n)": (lambda k, R, n: np.minimum(k, n), r"\min(k, n)", True),
    "min(k,n,R)": (
        lambda k, R, n: np.minimum(np.minimum(k, n), R),
        r"\min(k, n, R)",
        True,
    ),
}

DIVISORS: Mapping[str, Divisor] = table_of(
    Divisor("1", lambda k, R, n: 1, "1"),
    *(Divisor(name, of, latex, by_length) for name, (of, latex, by_length) in _SMALLEST.items()),
    Divisor("R^2", lambda k, R, n: R * R, "R^2"),
    Divisor("sum(min(i,R))", _steps, r"\sum_{i=1}^{\min(k, n)} \min(i, R)", by_length=True),
    Divisor("(k+R)/2", lambda k, R, n: (k + R) / 2, r"\frac{k + R}{2}"),
    *(
        Divisor(f"ideal({name})", of, latex, by_length, ideal=True)
        for name, (of, latex, by_length) in _SMALLEST.items()
    ),
)


@dataclass(frozen=True)
class Geometric:
    """The discount of rank-biased precision, 1 / ((1 - p) p^(r - 1)), kept finite far down."""

    p: float

    def __call__(self, ranks: Array) -> Any:
        """Return the discount at each rank."""
        with np.errstate(divide="ignore", under="ignore", over="ignore"):
            discount = 1 / ((1 - self.p) * self.p ** (ranks - 1))
        return np.minimum(discount, np.finfo(np.float64).max)
