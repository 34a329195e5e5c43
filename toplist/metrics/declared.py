"""What a metric is declared by: the parameters that its name may carry, and what its hits earn.

``"rbp(p=0.5)@10"`` and ``"gini(divisor=n-1)@10"`` are read alike: the parameters are those of the
function of that name, and its annotations say what they may be. The functions are in
`toplist.metrics.definitions` and `toplist.metrics.beyond_accuracy`.

Where a hit earns what the user's other hits or judgements leave it (ERR, bpref), a function takes
the relevant hits, `toplist.Hits.relevant`, and returns the gain of every hit, or with it the gains
of the ideal order; the metric is a sum of these.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np

from toplist import kernels
from toplist.checks import LARGEST_INT, Floats, Ints, choice, distinct

# Numbers, with what they must be.
Share = Annotated[float, "above 0 and at most 1", lambda one: 0 < one <= 1]
Part = Annotated[float, "above 0 and below 1", lambda one: 0 < one < 1]
Fraction = Annotated[float, "from 0 to 1", lambda one: 0 <= one <= 1]
Positive = Annotated[float, "a finite number above 0", lambda one: 0 < one < np.inf]
Count = Annotated[float, "a finite number from 0 on", lambda one: 0 <= one < np.inf]
Whole = Annotated[float, "a whole number from 1 on", lambda one: one >= 1 and one == one // 1]
Grade = Annotated[float, "a grade, 0 or more, and finite", lambda one: 0 <= one < LARGEST_INT]
Largest = Annotated[float, "a grade above 0 (below 1000)", lambda one: 0 < one < 1000]


@dataclass(frozen=True)
class Parameter:
    """What one parameter of a metric may be: one of some words, a number, or any text.

    Attributes
    ----------
    default : object
        `inspect.Parameter.empty` of one that every name must say.
    words : tuple of str
        Those it may be; () of numbers and text.
    text : bool
        Whether it may be any text.
    what : str
        What a number must be, with `valid`, which says whether it is.
    """

    default: Any
    words: tuple[str, ...] = ()
    text: bool = False
    what: str = "a number"
    valid: Callable[[float], bool] = lambda one: True

    @classmethod
    def of(cls, kind: Any, default: Any) -> Parameter:
        """Read an annotation."""
        if get_origin(kind) not in (Literal, Annotated):
            kind = next((one for one in get_args(kind) if one is not type(None)), kind)
        if get_origin(kind) is Literal:
            return cls(default, words=get_args(kind))
        if get_origin(kind) is Annotated:
            return cls(default, what=kind.__metadata__[0], valid=kind.__metadata__[1])
        return cls(default, text=kind is str)

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty

    def read(self, name: str, given: Any) -> Any:
        """Return a value from its text, or from Python; ValueError for one that is not valid."""
        if self.words:
            choice(name, given, self.words)
        if self.words or self.text:
            return given
        try:
            number = float(given)
        except (ValueError, TypeError):
            raise ValueError(f"{name}={given!r} is not a number") from None
        if not self.valid(number):
            raise ValueError(f"{name} must be {self.what}, not {given}")
        return number

    def __str__(self) -> str:
        """Say what it may be."""
        return ", ".join(self.words) or ("text" if self.text else self.what)


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters that are written in the name of a metric, by name."""
    rows = inspect.signature(function, eval_str=True).parameters.items()
    return {
        name: Parameter.of(row.annotation, row.default)
        for name, row in rows
        if row.kind == row.KEYWORD_ONLY
    }


def values_of(
    metric: str, parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of the parameters that are given; ValueError for those it does not take.

    Examples
    --------
    >>> values_of("x", {"p": Parameter(0.5)}, {"p": "0.25"})
    {'p': 0.25}
    """
    wrong = [one for one in given if one not in parameters]
    if wrong:
        words = f"takes {', '.join(parameters)}" if parameters else "takes no parameter"
        raise ValueError(f"metric {metric!r} {words}, not {', '.join(wrong)}")
    try:
        return {name: parameters[name].read(name, word) for name, word in given.items()}
    except ValueError as error:
        raise ValueError(f"metric {metric!r}: {error}") from None


def named(base: str, values: Iterable[tuple[str, Any]]) -> str:
    """Return the name of a metric with its parameters.

    Examples
    --------
    >>> named("rbp", [("p", 0.5)]), named("iprec", [("recall", 1.0)]), named("err", [])
    ('rbp(p=0.5)', 'iprec(recall=1)', 'err')
    """
    shown = ",".join(f"{name}={written(value)}" for name, value in values)
    return f"{base}({shown})" if shown else base


def written(value: Any) -> str:
    """Return a parameter as it is in a name: a whole number without a point."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)


# What hits earn, and a discount with a parameter


@dataclass(frozen=True)
class Earned:
    """What each hit earns, where that hangs on other hits or judgements; and its formula.

    ``function(hits)`` takes the relevant hits, as `toplist.Hits.relevant` has them, and returns the
    gain of each, (n_hits,); or a pair, with the gains of each user's ideal order,
    (sum of n_relevant,), which an ideal divisor needs; or some of these hits, each of which earns
    1. ``hits.judged`` are the hits of all judged items, of which they are.

    Parameters
    ----------
    name, latex : str
        The formula of what hit j earns.
    function : callable
    most : {"", "within 1", "0 or 1"}
        What the sum over a user's hits is by definition, with divisor and discount: any number, at
        most 1, or 0 or 1.
    where : str
        What the symbols of the formula are.
    """

    name: str
    function: Callable[[Any], Any]
    latex: str = field(default="g_j", compare=False)
    most: Literal["", "within 1", "0 or 1"] = ""
    where: str = field(default="", compare=False)


def complete(hits: Any) -> Any:
    """Return the hits that are the last relevant item of a user who has all."""
    last, n_hits = np.zeros(len(hits.ranks), bool), np.diff(hits.offsets)
    last[hits.offsets[1:][(n_hits == hits.n_relevant) & (n_hits > 0)] - 1] = True
    return hits.kept(last)


@dataclass(frozen=True)
class Preference:
    """What each hit earns in bpref (Buckley and Voorhees 2004), of at most 1.

    A hit with b judged items that are not relevant above it earns 1 - min(b, R) / min(N, R), of N
    such items in all; 1 where none stands above.
    """

    def __call__(self, hits: Any) -> Floats:
        """Return the gains of hits."""
        judged, n_hits = hits.judged, np.diff(hits.offsets)
        j = np.arange(len(hits.ranks)) - np.repeat(hits.offsets[:-1], n_hits)
        most = np.minimum(judged.n_relevant - hits.n_relevant, hits.n_relevant)
        most = np.repeat(most, n_hits)
        others = np.minimum(hits.places_among(judged) - 1 - j, most)
        gains: Floats = 1.0 - others / np.maximum(most, 1)
        return gains


@dataclass(frozen=True)
class Cascade:
    """What a hit earns in ERR: that its item satisfies the user, and no item before it did.

    The first has probability p = (2^grade - 1) / 2^max; `max` is the largest grade there is.
    """

    max: float | None = None

    def settled(self, hits: Any) -> Cascade:
        """Return the same with the largest grade of the ground truths, where none is given."""
        return self if self.max is not None else Cascade(hits.largest_grade or 1.0)

    def __call__(self, hits: Any) -> tuple[Floats, Floats]:
        """Return the gains of hits, and of the ideal order."""
        if self.max is None:
            raise ValueError(
                "err and nerr of lists that come in parts need the largest grade there is: write "
                "it, as in 'err(max=4)'"
            )
        largest = hits.largest_grade
        if largest > self.max:
            raise ValueError(
                f"a ground truth has grade {largest:g}, above max={self.max:g}: write "
                f"'err(max={largest:g})'"
            )
        if self.max >= sys.float_info.max_exp:
            raise ValueError(
                f"the largest grade is {self.max:g}: err and nerr divide by 2^grade, which "
                f"overflows from {sys.float_info.max_exp} on; give smaller grades"
            )
        found = []
        ends = np.concatenate([[0], np.cumsum(hits.n_relevant)])
        gains, ideal = hits.under("exponential").all_gains()
        for offsets, some in ((hits.offsets, gains), (ends, ideal)):
            p, earned = some / 2.0**self.max, np.empty(len(some))
            kernels.curves.cascade(offsets, p, earned)
            found.append(earned)
        return found[0], found[1]


@dataclass(frozen=True)
class Interpolated:
    """What a hit adds to the largest precision from where a share of the relevant items is found.

    That is at the hit of number ceil(recall R), exactly: the recall is read as it is written.
    """

    recall: float

    def __call__(self, hits: Any) -> Floats:
        """Return the gains of hits."""
        sizes = distinct(hits.n_relevant)
        first = self.needed(sizes)[np.searchsorted(sizes, hits.n_relevant)]
        gains = np.empty(len(hits.ranks))
        kernels.curves.best_precision(hits.offsets, hits.ranks, first, gains)
        return gains

    def needed(self, sizes: Ints) -> Ints:
        """Return at which hit the recall is reached, for each number of relevant items."""
        from fractions import Fraction  # few ask for it, and imports are quick

        share = Fraction(str(self.recall))
        return np.array([max(1, ceil(share * int(R))) for R in sizes], np.int64)


@dataclass(frozen=True)
class TrecInterpolated(Interpolated):
    """The same from hit number int(recall R + .9) on, in floating point, as trec_eval counts.

    That is one less than recall R rounded up where .7 R + .9 is 2.99...96 (R = 3, 23, 33), and
    where the recall has more than one decimal.
    """

    def needed(self, sizes: Ints) -> Ints:
        """Return at which hit the recall is reached, for each number of relevant items."""
        found: Ints = np.maximum((self.recall * sizes + 0.9).astype(np.int64), 1)
        return found


@dataclass(frozen=True)
class Novelty:
    """What a hit earns in alpha-nDCG: less for each group that was found above."""

    alpha: float

    def __call__(self, hits: Any) -> Any:
        """Return the gains of hits, and of the ideal order, which is built greedily."""
        found = hits.novelty(self.alpha)
        return found.all_gains() if found.graded else found


@dataclass(frozen=True)
class Geometric:
    """The discount of rank-biased precision, 1 / ((1 - p) p^(r - 1)), finite at all ranks."""

    p: float

    def __call__(self, ranks: Floats) -> Any:
        """Return the discount at each rank."""
        with np.errstate(divide="ignore", under="ignore", over="ignore"):
            discount = 1 / ((1 - self.p) * self.p ** (ranks - 1))
        return np.minimum(discount, np.finfo(np.float64).max)
