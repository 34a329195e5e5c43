"""How a metric is declared: a function whose keyword-only parameters its name may carry.

``"rbp(p=0.5)@10"`` and ``"gini(divisor=n-1)@10"`` are read alike: the parameters are those of the
function of that name, and its annotations say what they may be. The functions are in
`toplist.metrics.definitions` and `toplist.metrics.beyond_accuracy`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np

from toplist.checks import LARGEST_INT, choice

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
    def of(cls, kind: Any, default: Any) -> "Parameter":
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
