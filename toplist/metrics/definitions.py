"""The definitions: a metric is three choices, `counts`, a `Discount` and a `Divisor`.

With the hits j = 1..h of a user at ranks r_1 < r_2 < ..., R relevant items, list length n::

    metric@k = ( sum over r_j <= k of count(j) * gain_j / discount(r_j) ) / divisor(k, R, n)

Gains are 1, except in graded metrics. `COUNTS`, `DISCOUNTS` and `DIVISORS` are the choices, and
`METRICS` the metrics made of them. Where a hit earns what the hits or the judged items before it
leave (ERR, bpref), `counts` is an `Earned`, a function of all hits. These tables are the only
definitions: the metric functions, the command line, the error messages, the README and the tests
read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import choice
from toplist.metrics import declared
from toplist.metrics.declared import Earned, Parameter, named, parameters_of, values_of

Array = NDArray[Any]
# Ranks down to which discounts are kept.
KEPT = 1 << 10

Counts = Literal["each", "nth", "first"]
COUNTS: tuple[Counts, ...] = get_args(Counts)
# Down to which rank hits count: k; the number R of relevant items if that is less; the whole list.
Cut = Literal["k", "R", "n"]
CUTS: tuple[Cut, ...] = get_args(Cut)
Of = Literal["relevant", "judged", "groups"]
OF: tuple[Of, ...] = get_args(Of)

# How a grade becomes a gain.
Gains = Literal["linear", "exponential"]
GAINS: tuple[Gains, ...] = get_args(Gains)
# Gains of each grade, rising by grade, as a dict or as pairs.
GainTable = Mapping[float, float] | tuple[tuple[float, float], ...]
# What is done with a user whose ground truth is empty.
Empty = Literal["skip", "zero", "one", "raise"]
EMPTY: tuple[Empty, ...] = get_args(Empty)

# The names of `METRICS`, `DISCOUNTS` and `DIVISORS`, for type checkers and editors.
MetricName = Literal[
    "hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "cg", "f1", "rbp", "r_precision",
    "judged", "complete", "group_recall", "alpha_ndcg", "err", "nerr", "bpref", "iprec",
]  # fmt: skip
DiscountName = Literal["1", "r", "log2(r+1)", "log2(max(r,2))"]
DivisorName = Literal[
    "1", "k", "R", "min(k,R)", "min(k,n)", "min(k,n,R)", "R^2", "sum(min(i,R))", "hits", "(k+R)/2",
    "ideal(k)", "ideal(R)", "ideal(min(k,R))", "ideal(min(k,n))", "ideal(min(k,n,R))",
]  # fmt: skip


@dataclass(frozen=True)
class Discount:
    """What a hit at rank r is divided by: a function of ranks (float64), and its formula.

    `weight` and `weight_latex` are the formula of 1 / discount, where that is what people write.
    """

    name: str
    function: Callable[[Array], Any]
    latex: str = field(compare=False)  # in all of these, words are no part of a definition
    weight: str = field(default="", compare=False)
    weight_latex: str = field(default="", compare=False)


@dataclass(frozen=True)
class Divisor:
    """What the sum over hits is divided by: ``function(k, R, n)``, and its formula.

    With `ideal`, the function returns a number of ranks, and the divisor is the sum over hits at
    all these ranks: the ideal DCG, with the discount of the metric. `by_length` is whether the
    divisor depends on the length n of the list.

    With `by_hits`, the divisor is the number of the user's hits down to k, which is no function of
    k, R and n (the function returns what it is at most). Average precision is divided so in
    torchmetrics (top_k), LibRecommender, DocArray, AutoRAG, recmetrics and Haystack before
    2026-08, and the context precision of ragas and DeepEval. What is not found is then not in the
    divisor either: one relevant item of two at rank 1, and the value is 1. It may fall where a
    hit is added (benhamner/Metrics #59, PyG #9989, Haystack #12255).

    With `balanced`, which goes with `ideal`, a ratio of sums over users divides what each user adds
    to both sums by the user's ideal without gains. A value of one user is the same.
    """

    name: str
    function: Callable[[Array, Array, Array], Any]
    latex: str = field(compare=False)
    by_length: bool = False
    ideal: bool = False
    by_hits: bool = False
    balanced: bool = False


def table_of(*rows: Any) -> Mapping[Any, Any]:
    """Return rows by name, read-only since they are shared."""
    return MappingProxyType({row.name: row for row in rows})


#: By what a hit is divided, by name: functions of its rank r. Read-only.
DISCOUNTS: Mapping[DiscountName, Discount] = table_of(
    Discount("1", lambda r: np.ones_like(r), "1"),
    Discount("r", lambda r: r, "r_j"),
    Discount("log2(r+1)", lambda r: np.log2(r + 1), r"\log_2(r_j + 1)"),
    Discount("log2(max(r,2))", lambda r: np.log2(np.maximum(r, 2)), r"\log_2(\max(r_j, 2))"),
)


def _steps(k: Array, R: Array, n: Array) -> Array:
    """Return the sum of min(i, R) over i = 1..min(k, n)."""
    m = np.minimum(k, n)
    low = np.minimum(m, R)
    total: Array = low * (low + 1) // 2 + (m - low) * R
    return total


# Function, LaTeX, by_length. There is no "min(n,R)": a list is cut at k, so it is min(k,n,R).
_SMALLEST: dict[str, tuple[Callable[[Array, Array, Array], Any], str, bool]] = {
    "k": (lambda k, R, n: k, "k", False),
    "R": (lambda k, R, n: R, "R", False),
    "min(k,R)": (lambda k, R, n: np.minimum(k, R), r"\min(k, R)", False),
    "min(k,n)": (lambda k, R, n: np.minimum(k, n), r"\min(k, n)", True),
    "min(k,n,R)": (lambda k, R, n: np.minimum(np.minimum(k, n), R), r"\min(k, n, R)", True),
}

#: By what the sum over a user's hits is divided, by name: functions of k, R and n. Read-only.
DIVISORS: Mapping[DivisorName, Divisor] = table_of(
    Divisor("1", lambda k, R, n: 1, "1"),
    *(Divisor(name, of, latex, by_length) for name, (of, latex, by_length) in _SMALLEST.items()),
    Divisor("R^2", lambda k, R, n: R * R, "R^2"),
    Divisor("sum(min(i,R))", _steps, r"\sum_{i=1}^{\min(k, n)} \min(i, R)", by_length=True),
    Divisor("hits", _SMALLEST["min(k,n,R)"][0], r"\left|\{j : r_j \le k\}\right|", by_hits=True),
    Divisor("(k+R)/2", lambda k, R, n: (k + R) / 2, r"\frac{k + R}{2}"),
    *(
        Divisor(f"ideal({name})", of, latex, by_length, ideal=True)
        for name, (of, latex, by_length) in _SMALLEST.items()
    ),
)


# Ranks whose discounts are summed at a time.
PART = 1 << 20


def _cuts(k: int | Array) -> Array:
    """Return the k's: 1..k for a number."""
    return np.arange(1, k + 1) if isinstance(k, (int, np.integer)) else k


@dataclass(frozen=True)
class Metric:
    """One metric, made of three choices. A new metric needs no compilation.

    Parameters
    ----------
    name : str
        The name in `metrics` and in tables, without ``@``.
    counts : {"each", "nth", "first"}, Earned or callable
        Each hit counts 1; the n-th hit counts n; only the first hit counts, 1. Or what hits earn:
        see `Earned`, a function alone will do.
    discount : str or callable
        A name in `DISCOUNTS`, or a function of the ranks 1..K (float64) that returns positive
        numbers.
    divisor : str or callable
        A name in `DIVISORS`, or a function ``f(k, R, n)`` of integer arrays that broadcast
        against each other: R relevant items, n ids in the list cut at k. It must be positive
        wherever a hit is possible.
    graded : bool
        Whether a hit is multiplied by its gain where the ground truth has grades.
    higher_is_better : bool
        Whether the highest mean is the best of a comparison.
    text, latex : str
        A description in one line; a formula in LaTeX that replaces the composed one.
    cut : {"k", "R", "n"}
        Hits in the first k ranks count; or in the first min(k, R), as in R-precision; or in the
        whole list, so that the metric has no k, as bpref: its key has the length of the longest
        list, ``"bpref@40"``, and other metrics get curves of this length too.
    of : {"relevant", "judged", "groups"}
        A hit is a relevant item; or one with a grade, also 0, where the ground truth has grades (a
        ground truth is then empty only if it has no grade at all); or a group that is found for the
        first time, and R is the number of groups (`toplist.Groups`; without them each relevant item
        is one).
    empty : {"skip", "zero", "one"}, optional
        What a user with an empty ground truth does to this metric: left out of its mean, 0, or 1.
        Default: as the evaluation says for all metrics.
    relevant_from : float, optional
        An item is relevant in this metric from this grade on, whatever the evaluation says:
        ``"precision(rel=2)"``.

    Raises
    ------
    ValueError
        For an unknown name; the message has the valid ones. For counts "nth" over an ideal
        divisor, which would pass 1 on a perfect list.

    Examples
    --------
    >>> import dataclasses
    >>> map_R = dataclasses.replace(METRICS["map"], name="map_R", divisor="R")
    >>> reach = Metric("reach", "first", "1", "1", text="1 for any hit")
    >>> cubic = Metric("cubic", "each", lambda r: r**3, lambda k, R, n: k)
    """

    name: str
    counts: Counts | Earned | Callable[[Any], Any]
    discount: DiscountName | Discount | Callable[[Array], Any]
    divisor: DivisorName | Divisor | Callable[[Array, Array, Array], Any]
    graded: bool = False
    higher_is_better: bool = True
    text: str = field(default="", compare=False)
    latex: str = field(default="", compare=False)
    empty: Empty | None = None
    cut: Cut = "k"
    of: Of = "relevant"
    relevant_from: float | None = None

    def __post_init__(self) -> None:
        """Check the name and the three choices."""
        if not isinstance(self.name, str) or not self.name or "@" in self.name:
            raise ValueError(f"metric name {self.name!r}: a name is needed, without '@'")
        if not (isinstance(self.counts, Earned) or callable(self.counts)):
            choice("counts", self.counts, COUNTS)
        choice("cut", self.cut, CUTS)
        choice("of", self.of, OF)
        if self.empty is not None:
            choice("empty", self.empty, EMPTY)
        for what, given, valid in (
            ("discount", self.discount, DISCOUNTS),
            ("divisor", self.divisor, DIVISORS),
        ):
            if not (callable(given) or isinstance(given, (Discount, Divisor))):
                choice(what, given, tuple(valid))
        if self.counts == "nth" and self.dividing.ideal:
            raise ValueError(
                f"metric {self.name!r}: counts='nth' over an ideal divisor passes 1 on a perfect "
                "list, since the ideal counts every hit as 1: give counts='each', or a divisor "
                "such as 'min(k,R)'"
            )

    @property
    def formula(self) -> Metric:
        """The same definition, whatever is done with empty ground truths."""
        return self.with_policy(None)

    @property
    def base(self) -> str:
        """The name without parameters, by which a convention knows it."""
        return self.name.partition("(")[0]

    def with_policy(self, empty: Empty | None) -> Metric:
        """Return the same metric with a valid policy for empty ground truths.

        It is not checked anew, as `dataclasses.replace` would do: 1 µs instead of 9.
        """
        if self.empty == empty:
            return self
        found = object.__new__(type(self))
        vars(found).update(vars(self), empty=empty)
        return found

    @property
    def earning(self) -> Earned | None:
        """What hits earn, with its formula; None where `counts` is a word."""
        return None if isinstance(self.counts, str) else _with_formula(self.counts, Earned, {})

    @property
    def word(self) -> Counts:
        """How hits count, in a word; each where they have what they earn as their gains."""
        return self.counts if isinstance(self.counts, str) else "each"

    @property
    def counts_others(self) -> bool:
        """Whether other items count as relevant than in most metrics, so that R is another."""
        return self.of != "relevant" or self.relevant_from is not None

    @property
    def summed(self) -> Metric:
        """The metric of hits that have what they earn as their gains."""
        return self if self.earning is None else replace(self, counts="each", graded=True)

    @property
    def discounting(self) -> Discount:
        """The discount with its formula."""
        return _with_formula(self.discount, Discount, DISCOUNTS, latex="d(r_j)")

    @property
    def dividing(self) -> Divisor:
        """The divisor with its formula; a user's own function may use the length."""
        return _with_formula(self.divisor, Divisor, DIVISORS, latex="D(k, R, n)", by_length=True)

    def discounts(self, depth: int, first: int = 1) -> NDArray[np.float64]:
        """Return the discount at ranks first..depth, (depth - first + 1,); read-only if by name."""
        if isinstance(self.discount, str) and depth <= KEPT:
            return _discounts_by_name(self.discount, depth, first)
        ranks = np.arange(first, depth + 1, dtype=np.float64)
        found = self._computed("discount", self.discounting.function, (ranks,), ranks.shape)
        bad = np.flatnonzero(~((found > 0) & (found < np.inf)))
        if len(bad):
            raise ValueError(
                f"metric {self.name!r}: its discount at rank {first + bad[0]} is {found[bad[0]]}; "
                "it must be positive and finite"
            )
        return found

    def divisors(self, R: Array, n: Array, k: int | Array) -> NDArray[np.float64]:
        """Return what each (R, n) is divided by, (len(R), K): at 1..k, or at each of several k.

        Where no hit is possible a divisor may be 0; it is then infinite here, so that 0 / 0
        gives 0.
        """
        table = self.table(R, n, k)
        if self.dividing.ideal:
            table = self._ideal_sums(table.astype(np.int64))
        possible = (R > 0)[:, np.newaxis] & (n > 0)[:, np.newaxis]
        bad = ~((table >= 0) & (table < np.inf)) | ((table == 0) & possible)
        if np.any(bad):
            row, place = np.argwhere(bad)[0]
            raise ValueError(
                f"metric {self.name!r}: its divisor at k={_cuts(k)[place]}, R={R[row]}, n={n[row]} "
                f"is {table[row, place]}; it must be positive and finite"
            )
        table[table == 0] = np.inf
        return table

    def table(self, R: Array, n: Array, k: int | Array) -> NDArray[np.float64]:
        """Return ``divisor(k, R, n)``, (len(R), K): at 1..k, or at each of several k.

        For ideals, the ranks. The list is cut at k: n is min(n, k).
        """
        cuts = _cuts(k)
        sizes = cuts, R[:, np.newaxis], np.minimum(n[:, np.newaxis], cuts)
        return self._computed("divisor", self.dividing.function, sizes, (len(R), len(cuts)))

    def _ideal_sums(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what hits at all ranks down to these earn, 0 for rank 0.

        By the same running sum as in the kernels, so that a perfect list scores exactly 1; part
        by part, so that a divisor ideal(k) of a large k needs no memory for k ranks.
        """
        out, total = np.zeros(ranks.shape), 0.0
        for first in range(0, int(ranks.max(initial=0)), PART):
            last = min(first + PART, int(ranks.max(initial=0)))
            steps = 1.0 / self.discounts(last, first + 1)
            sums = np.cumsum(np.concatenate([[total], steps]))
            here = (ranks > first) & (ranks <= last)
            out[here] = sums[ranks[here] - first]
            total = sums[-1]
        return out

    def _computed(
        self, what: str, function: Any, arguments: tuple[Array, ...], shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Return what a function of the metric makes of arrays; an error names the metric."""
        try:
            found = function(*arguments)
        except Exception as error:
            raise ValueError(
                f"metric {self.name!r}: its {what} failed: {error} (it is called with arrays: "
                "use np.minimum and similar functions)"
            ) from error
        try:
            return np.array(np.broadcast_to(found, shape), np.float64)
        except (ValueError, TypeError):
            raise ValueError(
                f"metric {self.name!r}: its {what} returned {type(found).__name__} of shape "
                f"{np.shape(found)}; it must return numbers that broadcast to {shape}"
            ) from None


C = TypeVar("C", Discount, Divisor, Earned)


def _with_formula(given: Any, kind: type[C], known: Mapping[Any, C], **own: Any) -> C:
    """Return one of the three choices with its formula.

    That of a user's own function is its docstring's first line, if any, else its name.
    """
    if isinstance(given, (kind, str)):
        return known[given] if isinstance(given, str) else given
    words = (given.__doc__ or "").splitlines() or [str(getattr(given, "__name__", given))]
    return kind(words[0], given, **own)


# Metrics with parameters in their names: functions of these.


def rbp(*, p: declared.Part = 0.8) -> Metric:
    """Return rank-biased precision of persistence `p` (Moffat and Zobel 2008)."""
    weight = f"{1 - p:g} * {p:g}^(r-1)"
    latex = rf"{1 - p:g} \cdot {p:g}^{{r_j - 1}}"
    discount = Discount(
        f"({weight})^-1", declared.Geometric(p), rf"\left({latex}\right)^{{-1}}", weight, latex
    )
    text = f"rank-biased precision: the user goes on to the next rank with probability {p:g} "
    return Metric("rbp", "each", discount, "1", text=text + "(Moffat, Zobel 2008)")


def err(*, max: declared.Largest | None = None) -> Metric:
    """Return expected reciprocal rank (Chapelle et al. 2009); `max` is the largest grade there is.

    Without it, the largest grade of the ground truths; where these are known for listed items only,
    the largest of these.
    """
    cascade = Earned(
        "p_j (1 - p_1)...(1 - p_(j-1))",
        declared.Cascade(max),
        r"p_j \prod_{i < j} (1 - p_i)",
        "within 1",
        "p_j: (2^grade - 1) / 2^max of the j-th hit; max: the largest grade",
    )
    text = "expected reciprocal rank: of the item that satisfies the user (Chapelle et al. 2009)"
    return Metric("err", cascade, "r", "1", graded=True, text=text)


def nerr(*, max: declared.Largest | None = None) -> Metric:
    """Return expected reciprocal rank over that of the ideal order."""
    text = "expected reciprocal rank over that of the ideal order"
    return replace(err(max=max), name="nerr", divisor="ideal(min(k,R))", text=text)


def iprec(trec: bool = False, *, recall: declared.Fraction = 0.1) -> Metric:
    """Return interpolated precision: the best from the rank on that reaches a recall.

    With `trec`, trec_eval says which hit reaches it.
    """
    earning = declared.Interpolated(recall)
    first, latex = f"ceil({recall:g} R)", rf"\lceil {recall:g} R \rceil"
    if trec:
        earning = declared.TrecInterpolated(recall)
        first, latex = f"int({recall:g} R + .9)", rf"\lfloor {recall:g} R + 0.9 \rfloor"
    rise = Earned(
        f"[j >= {first}] (m_j - m_(j-1))",
        earning,
        rf"[j \ge {latex}] (m_j - m_{{j-1}})",
        "within 1",
        "m_j: the largest precision at a hit, from the first one that reaches the recall on",
    )
    text = "interpolated precision: the largest at any rank in the first k from where "
    text += f"{recall:g} of the relevant items are found (the eleven points of TREC)"
    return Metric("iprec", rise, "1", "1", text=text)


def alpha_ndcg(*, alpha: declared.Fraction = 0.5) -> Metric:
    """Return nDCG whose gains fall with repeated groups (Clarke et al. 2008)."""
    novelty = Earned(
        f"g_j, the sum over its groups of {1 - alpha:g}^m",
        declared.Novelty(alpha),
        rf"\sum_{{g \ni d_j}} {1 - alpha:g}^{{m_g}}",
        where="m: times the group (g, of item d_j) was found above; the ideal is built greedily",
    )
    text = f"nDCG of groups: each id of a group that is found again adds {1 - alpha:g} of what "
    text += "the last one did; over a greedy ideal order (Clarke et al. 2008)"
    return Metric("alpha_ndcg", novelty, "log2(r+1)", "ideal(min(k,R))", text=text)


_PREFERENCE = Earned(
    "(1 - min(b_j, R) / min(N, R))",
    declared.Preference(),
    r"\left(1 - \frac{\min(b_j, R)}{\min(N, R)}\right)",
    "within 1",
    "b_j: judged items that are not relevant above the j-th hit; N: those in all",
)
#: The metrics by name, as convention "standard" computes them. Read-only.
METRICS: Mapping[str, Metric] = table_of(
    Metric("hit", "first", "1", "1", text="1 if any relevant item is in the first k"),
    Metric("precision", "each", "1", "k", text="share of the first k ranks that are hits"),
    Metric("recall", "each", "1", "R", text="share of the relevant items found in the first k"),
    Metric(
        *("map", "nth", "r", "min(k,R)"),
        text="average precision: sum of the precision at each hit, over min(k, R)",
    ),
    Metric(
        *("ndcg", "each", "log2(r+1)", "ideal(min(k,R))"),
        graded=True,
        text="discounted gain over that of the ideal order (Jarvelin, Kekalainen 2002)",
    ),
    Metric("mrr", "first", "r", "1", text="reciprocal rank of the first hit, 0 below k"),
    Metric("dcg", "each", "log2(r+1)", "1", graded=True, text="discounted cumulative gain"),
    Metric(
        *("cg", "each", "1", "1"),
        graded=True,
        text="cumulative gain: number of hits, or sum of grades",
    ),
    Metric("f1", "each", "1", "(k+R)/2", text="harmonic mean of precision and recall"),
    rbp(),
    Metric(
        *("r_precision", "each", "1", "R"),
        text="precision at rank R, the number of relevant items (Buckley, Voorhees 2005): that of "
        "trec_eval from k = R on; recall over min(k,R) is what others call R-precision at k",
        cut="R",
    ),
    Metric(
        *("judged", "each", "1", "min(k,n)"),
        text="share of the listed items in the first k that were judged, relevant or not, over the "
        "users who have a judgement; 1 - judged is the share of holes",
        of="judged",
        empty="skip",
    ),
    Metric(
        *("complete", Earned("[j = R]", declared.complete, "[j = R]", "0 or 1"), "1", "1"),
        text="1 if all relevant items are in the first k, or an id of every group",
        of="groups",
    ),
    Metric(
        *("group_recall", "each", "1", "R"),
        text="share of the groups of which any id is in the first k; without groups, recall",
        of="groups",
    ),
    alpha_ndcg(),
    err(),
    nerr(),
    Metric(
        *("bpref", _PREFERENCE, "1", "R"),
        text="binary preference: judged items that are not relevant above each hit; items without "
        "a judgement, or with a grade below 0, have no part (Buckley, Voorhees 2004); its k is the "
        "length of the longest list",
        cut="n",
    ),
    iprec(),
)

#: `iprec` as convention "trec_eval" computes it.
TREC_IPREC = iprec(True)
# The parameters of every metric: relevant are items from a grade on, whatever the evaluation says.
_OF_ALL = {"rel": Parameter.of(declared.Grade, None)}
_MAKERS = {make().name: make for make in (rbp, err, nerr, iprec, alpha_ndcg)}
#: The metrics that take others in their names.
PARAMETRIC = frozenset(_MAKERS)


def takes(name: str) -> dict[str, Parameter]:
    """Return the parameters that a metric of hits takes in its name.

    Examples
    --------
    >>> {name: str(one) for name, one in takes("rbp").items()}
    {'p': 'above 0 and below 1', 'rel': 'a grade, 0 or more, and finite'}
    """
    return (parameters_of(_MAKERS[name]) if name in _MAKERS else {}) | _OF_ALL


def with_parameters(metric: Metric, given: Mapping[str, Any]) -> Metric:
    """Return a metric with other parameters, computed as this one is.

    Raises
    ------
    ValueError
        For parameters that it does not take, and values that are not valid.

    Examples
    --------
    >>> with_parameters(METRICS["rbp"], {"p": "0.5"}).name
    'rbp(p=0.5)'
    """
    own = values_of(metric.name, takes(metric.name), given)
    relevant_from = own.pop("rel", None)
    if own:
        metric = iprec(True, **own) if metric == TREC_IPREC else _MAKERS[metric.base](**own)
    if relevant_from is not None:
        own["rel"] = relevant_from
    return replace(metric, name=named(metric.name, own.items()), relevant_from=relevant_from)


@lru_cache(maxsize=256)
def _discounts_by_name(name: DiscountName, depth: int, first: int) -> NDArray[np.float64]:
    """Return the discounts of a name, computed once: it took a tenth of a tiny evaluation."""
    ranks = np.arange(first, depth + 1, dtype=np.float64)
    found: NDArray[np.float64] = DISCOUNTS[name].function(ranks)
    found.setflags(write=False)
    return found
