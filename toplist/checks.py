"""Checks of single arguments; errors that know what they are about, and offer near names."""

import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import islice
from textwrap import wrap
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
E = TypeVar("E", bound=Exception)
T = TypeVar("T")

# How alike two names must be, by the ratio of difflib, so that one may be meant by the other.
NEAR = 0.7
# The longest name that is looked at, and how many of a header, in what helps with an error.
NAME, NAMES = 64, 1000
# Columns of a record in print, within the 80 of a terminal; its fields that are left out.
WIDTH = 76
NOTHING = {"nan", "None", "''", "()", "{}", "False"}
LARGEST_INT = 2**63 - 1
# Squares of weights, summed over users, stay finite up to here.
HEAVIEST = 1e100
NONE: Mapping[str, str] = MappingProxyType({})


class cached(Generic[T]):  # noqa: N801 (a decorator, as property is)
    """A property that is computed once per object, and kept in its ``__dict__``.

    `functools.cached_property` of Python 3.11 computes under one lock for all objects: a child
    that is forked meanwhile waits for it forever. Without a lock, two threads may both compute the
    value, and use the one that is kept first.

    Examples
    --------
    >>> class Squares:
    ...     @cached
    ...     def total(self):
    ...         print("adding up")
    ...         return sum(i * i for i in range(10))
    >>> squares = Squares()
    >>> squares.total, squares.total
    adding up
    (285, 285)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function: Callable[[Any], T] = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: Any) -> T:
        """Compute the value and keep it; from then on Python finds it in the object itself."""
        if instance is None:
            return self  # type: ignore[return-value]
        value: T = vars(instance).setdefault(self.function.__name__, self.function(instance))
        return value


class Once:
    """What keeps what follows from it, for all who ask again; it is pickled without."""

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, computed once."""
        known: dict[Hashable, T] = vars(self).setdefault("_known", {})
        return known[what] if what in known else known.setdefault(what, make())

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what was computed once."""
        return {name: value for name, value in vars(self).items() if name != "_known"}


def check_positive_int(value: Any, name: str, least: int = 1) -> int:
    """Return `value` if it is a whole number from `least` on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number from {least} on, not {value!r:.60}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    if value > LARGEST_INT:
        raise ValueError(f"{name} must be below 2^63, not {value}")
    return int(value)


def whole(value: Any) -> int:
    """Return a whole number from 0 on that 63 bits hold, as a file has it.

    Examples
    --------
    >>> whole(-1)
    Traceback (most recent call last):
        ...
    ValueError: -1 where a whole number from 0 on is needed
    """
    if type(value) is not int or not 0 <= value <= LARGEST_INT:
        raise ValueError(f"{value!r:.40} where a whole number from 0 on is needed")
    return value


def doubles(values: Any) -> Floats:
    """Return numbers as doubles; integers of Python beyond them are infinite.

    TypeError for what ``np.asarray`` would make other numbers of: a masked array, whose mask it
    drops, times, of which it takes the number of some unit, and complex numbers.

    Examples
    --------
    >>> doubles([10**400, -1])
    array([inf, -1.])
    """
    no_mask(values, "what is given")
    given = np.asarray(values)
    if given.dtype.kind in "mMc":
        raise TypeError(f"{given.dtype} is given where numbers are needed")
    try:
        return given.astype(np.float64, copy=False)
    except OverflowError:
        inf, most = float("inf"), sys.float_info.max
        limited = [inf if one > most else -inf if one < -most else one for one in given.ravel()]
        return np.array(limited, np.float64).reshape(given.shape)


def no_mask(value: Any, name: str, way: str = "fill it, or leave out what is masked") -> None:
    """Raise TypeError for a masked array: ``np.asarray`` drops its mask."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: {way}")


def check_spread(weights: Floats) -> None:
    """Raise ValueError where one of several weights is all of them, but for rounding."""
    largest = weights.max(initial=0.0)
    if len(weights) > 1 and weights.sum() - largest <= 1e-15 * largest:
        raise ValueError(
            f"one weight, {largest:g}, is so much larger than all others together that these do "
            "not count: means and intervals would be of one user"
        )


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, ascending: `numpy.unique` takes 40 times as long of integers.

    Examples
    --------
    >>> distinct(np.array([7, 5, 7])).tolist()
    [5, 7]
    """
    found = np.sort(values)
    is_first = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=is_first[1:])
    return found[is_first]


def counted(n: int, what: str) -> str:
    """Return a number with its noun, in the singular for 1.

    Examples
    --------
    >>> counted(1, "user"), counted(2345, "user")
    ('1 user', '2,345 users')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


#: What the rows of an evaluation are called in print, unless ``unit=`` says otherwise.
USERS = "users"


def worded(text: str, unit: str) -> str:
    """Return words of ours about users with their unit, such as sessions, in place of users.

    Only words of ours: a name of a system or a metric in the text would change, too.

    Examples
    --------
    >>> worded("mean over users, 1 user left out", "queries")
    'mean over queries, 1 query left out'
    """
    if unit == USERS:
        return text
    one = re.sub(r"(?<=ss|sh|ch)es$|(?<=x)es$|(?<!s)s$", "", re.sub(r"ies$", "y", unit))
    return re.sub(r"\buser(s?)\b", lambda found: unit if found[1] else one, text)


def readable(kind: type[T]) -> type[T]:
    """Give a dataclass or a named tuple that people get back the ``repr`` of `told`."""
    kind.__repr__ = told  # type: ignore[method-assign]
    return kind


def told(record: Any) -> str:
    """Return the fields of a record: in a line if they fit, else aligned below its name.

    Fields without anything, such as NaN for what is not known, are left out.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Found(NamedTuple):
    ...     difference: float
    ...     wins: int
    ...     p: float = float("nan")
    >>> print(told(Found(0.0193071, 139)))
    Found(difference=0.01931, wins=139)
    """
    named = getattr(record, "_fields", None)
    usual = {} if named else {one.name: one.default for one in fields(record)}
    found = {name: getattr(record, name) for name in named or usual}
    texts = {
        name: _told(value)
        for name, value in found.items()
        if repr(value) not in NOTHING or (value is False and usual.get(name) is True)
    }
    title = type(record).__name__
    line = f"{title}({', '.join(f'{name}={text}' for name, text in texts.items())})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    short = {name: text for name, text in texts.items() if len(text) <= 12}
    label, number = (max(map(len, some), default=0) for some in (short, short.values()))
    cells = [f"  {name:<{label}}  {text:>{number}}" for name, text in short.items()]
    across = max(1, WIDTH // (label + number + 6))
    rows = ["  ".join(cells[i : i + across]) for i in range(0, len(cells), across)]
    for name, text in texts.items():
        if "\n" in text:  # is in lines already
            rows += [f"  {name}", *(f"    {one}" for one in text.split("\n"))]
        elif name not in short:
            rows.append("  " + "\n    ".join(wrap(f"{name}  {text}", WIDTH - 4)))
    return "\n".join([title, *rows])


def _told(value: Any) -> str:
    """Return the value of a field, numbers with four digits; of what is named, or the names."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, max_line_width=WIDTH - 4, precision=4, threshold=60)
    if isinstance(value, Mapping):
        numbers = all(isinstance(one, float) for one in value.values())
        return ", ".join(f"{a}: {_told(b)}" if numbers else str(a) for a, b in value.items())
    if type(value) is tuple:
        return f"({', '.join(map(_told, value))}{',' * (len(value) == 1)})"
    return repr(value)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA.

    Examples
    --------
    >>> [is_missing(one) for one in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def optional(library: str, needs: str, extra: str, *parts: str) -> Any:
    """Return an optional library, with some of its modules loaded.

    `needs` are the words before "which is not installed", `extra` is the extra that has it.

    Raises
    ------
    ImportError
        If it is not installed, with what to install, or fails to import, with what failed.
    """
    try:
        found = import_module(library)
        for part in parts:
            import_module(f"{library}.{part}")
    except MemoryError:
        raise
    except Exception as error:  # of libraries made for another numpy, of any kind
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            words = f"{needs}, which is not installed: pip install 'toplist[{extra}]'"
            raise ModuleNotFoundError(words, name=library) from None
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise ImportError(
            f"{needs}, which is installed and cannot be imported: {why:.300}", name=library
        ) from error
    return found


def name_hint(wanted: Iterable[str], found: Iterable[Any]) -> str:
    """Return the question that stands behind columns that are not found; "" without a near name.

    Examples
    --------
    >>> name_hint(["user_id", "item_id"], ["User_ID", "itemid ", "rank"]), name_hint(["a"], ["b"])
    (" (did you mean 'User_ID', 'itemid '?)", '')
    """
    names = [name for name in islice(found, NAMES) if isinstance(name, str) and len(name) <= NAME]
    meant = [f"{name!r:.60}" for one in wanted if (name := near(one, names)) is not None]
    return f" (did you mean {', '.join(meant)}?)" if meant else ""


def printable(text: str, kept: Collection[str] = ("Zs",)) -> str:
    r"""Return a text in one line that can do nothing to a terminal: control characters escaped.

    `kept` are categories of Unicode that are left as they are.

    Examples
    --------
    >>> print(printable("a\x1b[31mb\n"))
    a\x1b[31mb\n
    """
    if text.isprintable():
        return text
    return "".join(
        one
        if one.isprintable() or category(one) in kept
        else one.encode("unicode_escape").decode("ascii")
        for one in text
    )


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "▾": r"$^{\blacktriangledown}$",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def in_latex(words: str) -> str:
    """Return words in one line of LaTeX, without commands."""
    plain = printable(" ".join(words.split()))
    return "".join(_LATEX.get(character, character) for character in plain)


def choice(option: str, value: Any, valid: Sequence[str]) -> None:
    """Raise ValueError unless `value` is one of the valid words; a word that is near comes first.

    Examples
    --------
    >>> choice("duplicates", "frist", ("raise", "first"))
    Traceback (most recent call last):
        ...
    ValueError: duplicates='frist' (did you mean 'first'?): choose from 'raise', 'first'
    """
    if not isinstance(value, str) or value not in valid:  # tables and arrays cannot be looked for
        hint = did_you_mean(near(value, valid))
        given = " ".join(repr(value)[:300].split())  # in one line
        raise ValueError(f"{option}={given}{hint}: choose from {', '.join(map(repr, valid))}")


def near(given: Any, valid: Iterable[str], synonyms: Mapping[str, str] = NONE) -> str | None:
    """Return the valid name that was likely meant; None if none is near.

    Case, hyphens and underscores do not matter; a letter may be wrong. `synonyms` are names that
    others use, each with ours.

    Examples
    --------
    >>> near("trec-eval", ["standard", "trec_eval"]), near("RecBole", ["recbole"])
    ('trec_eval', 'recbole')
    >>> near("lineer", ["linear"]), near("HitRate", ["hit"], {"hit rate": "hit"}), near("x", ["k"])
    ('linear', 'hit', None)
    """
    from difflib import get_close_matches  # imported late: only for errors

    if not isinstance(given, str) or len(given) > NAME:
        return None
    names = spellings(valid, synonyms)
    found = get_close_matches(plain(given), names, n=1, cutoff=NEAR)
    return names[found[0]] if found else None


def spellings(valid: Iterable[str], synonyms: Mapping[str, str] = NONE) -> dict[str, str]:
    """Return the valid names by their `plain` spelling, and by those of their synonyms."""
    names = {plain(one): one for one in valid}
    known = set(names.values())
    return {plain(other): ours for other, ours in synonyms.items() if ours in known} | names


def plain(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(one for one in name.casefold() if one.isalnum())


def did_you_mean(name: str | None) -> str:
    """Return the question that stands in an error behind what was given; "" without a name."""
    return "" if name is None else f" (did you mean {name!r}?)"


def require(where: str, wanted: Iterable[Any], found: Iterable[Any], ways: str = "") -> None:
    """Raise ValueError unless all of the wanted columns are found, once: the words of all tables.

    `where` names the table, "" where who catches the error does; `ways` are what to write instead.

    Examples
    --------
    >>> require("ranks", ["user_id", "item_id"], ["User_ID", "item_id"])
    Traceback (most recent call last):
        ...
    ValueError: ranks: no column 'user_id' (did you mean 'User_ID'?); columns found: \
['User_ID', 'item_id']
    """
    wanted, found = list(dict.fromkeys(wanted)), list(found)
    absent = [name for name in wanted if name not in found]
    if absent:
        raise no_columns(where, absent, found, ways)
    twice = next((name for name in wanted if found.count(name) > 1), None)
    if twice is not None:
        start = f"{where}: " if where else ""
        words = f"two columns are named {twice!r:.300}; columns found: {found!r:.300}"
        raise ValueError(start + words)


def no_columns(
    where: str, absent: Sequence[Any], found: Sequence[Any], ways: str = "", *, either: int = 0
) -> ValueError:
    """Return the error of columns that are not found, of which one of the first `either` is enough.

    See `require`.
    """
    quoted = [f"{name!r:.300}" for name in absent]
    names = ", ".join([" or ".join(quoted[:either]), *quoted[either:]] if either else quoted)
    lacks = f"no column{'s' if len(quoted) - max(either - 1, 0) > 1 else ''} {names}"
    lacks += name_hint(absent, found)
    start = f"{where}: " if where else ""
    ways = f", {ways}" if ways else ""
    error = ValueError(f"{start}{lacks}{ways}; columns found: {list(found)!r:.300}")
    return about(error, absent=list(absent))


def about(error: E, **facts: Any) -> E:
    """Return an error that knows what it is about: side, user, item, row, path or line.

    Who reads a file adds the place by these, not by the words of the message.

    Examples
    --------
    >>> about(ValueError("a score is NaN"), side="ranks", user="ann").user
    'ann'
    """
    vars(error).update(facts)
    return error


def prefixed(prefix: str, error: E) -> E:
    """Return the same error with a text before its message, such as the name of a file."""
    # the constructor of UnicodeError takes more than a message
    kind: Any = ValueError if isinstance(error, UnicodeError) else type(error)
    return about(cast(E, kind(f"{prefix}{error}")), **vars(error))


def equal(a: Any, b: Any) -> bool:
    """Return whether two values are equal: numbers, arrays, mappings, tuples, dataclasses.

    Examples
    --------
    >>> nan = float("nan")
    >>> equal((1, np.array([nan, 2.0])), (1, np.array([nan, 2.0]))), equal({"a": nan}, {"a": 1.0})
    (True, False)
    >>> equal(np.ones(1), None), equal(np.ones(1), np.ones(2))
    (False, False)
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if is_dataclass(a) and type(a) is type(b):
        names = [one.name for one in fields(a) if one.compare]
        return all(equal(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b) or (a != a and b != b)


# Names that 0.3 had below the top of the package, and what to write instead; gone in 0.5.
_NAMED = {  # functions of `toplist.beyond`: the name of a metric, what it needs, whether the truth
    "item_coverage": ("item_coverage", "catalogue", False),
    "gini": ("gini(over=recommended)", "", False),
    "shannon_entropy": ("shannon_entropy(unit=bits)", "", False),
    "personalisation": ("personalisation", "", False),
    "average_popularity": ("average_popularity(unknown=0)", "counts", False),
    "tail_percentage": ("tail_percentage(share=0.2)", "counts", False),
    "novelty": ("novelty(total=500)", "counts", False),
    "popularity_lift": ("popularity_lift", "history, counts", False),
    "intra_list_diversity": ("intra_list_diversity(distance=jaccard)", "labels", False),
    "calibration": ("calibration(alpha=0.01)", "history, labels", False),
    "unexpectedness": ("unexpectedness", "expected", False),
    "serendipity": ("serendipity(divisor=n)", "expected", True),
    "exposure_share": ("exposure_share(label=LABEL)", "labels", False),
    "hit_share": ("hit_share(label=LABEL)", "labels", True),
}


def _curves_of(name: str, needs: str, of_truth: bool) -> str:
    """Say how to write a metric of the lists, whose parameters stand in its name."""
    facts = ", ".join(f"{one}={one.upper()}" for one in needs.split(", ") if one)
    items = f", items=toplist.Items({facts})" if facts else ""
    return f'write toplist.curves("{name}", ranks, {"truths, " * of_truth}k=k{items})'


INSTEAD = {
    "toplist.beyond.from_counts_of_counts": (
        "Exposure.from_counts takes how many lists have each item at each rank"
    ),
    "toplist.beyond.group_exposure": (
        "write toplist.beyond.exposure(lists, catalogue=ITEMS).ratios(GROUPS)"
    ),
    **{f"toplist.beyond.{name}": _curves_of(*row) for name, row in _NAMED.items()},
    "toplist.loo.full_depth": "SampledRanks.sampled.depth(k) is that rank",
    "toplist.spark.per_user": (
        "collect the DataFrames, top_k_eval(recs.toArrow(), truth.toArrow(), ...)"
    ),
    "Comparison.anova": "test() compares the pairs; tukey() all of them with one pooled variance",
    "toplist.inference.anova": (
        "paired_tests() compares the pairs; tukey() all of them with one pooled variance"
    ),
    "toplist.inference.family": 'write paired_tests(..., correction="maxt")',
}


def no_attribute(owner: str, name: str) -> AttributeError:
    """Return the error of a name that a module or class does not have; of a gone one, the way out.

    Examples
    --------
    >>> str(no_attribute("toplist.inference", "anova"))[:61]
    'toplist.inference.anova is gone since 0.4: paired_tests() com'
    >>> no_attribute("toplist.inference", "gone")
    AttributeError("'toplist.inference' has no attribute 'gone'")
    """
    whole = f"{owner}.{name}"
    if whole in INSTEAD:
        return AttributeError(f"{whole} is gone since 0.4: {INSTEAD[whole]}")
    return AttributeError(f"{owner!r} has no attribute {name!r}")
