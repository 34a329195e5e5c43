"""What follows from the definition of a metric, whatever its values.

Its formula, as text and in LaTeX, composed from its three choices; bounds and identities, some of
which hold only where no user has more than one relevant item, or where the ground truth has no
grades: that is the `Population`; and what becomes of it under ``propensities=``, where relevant
items count 1 / p, with the two metrics that need these by name (the chapter is
`toplist.propensities`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from toplist.checks import USERS, in_latex, worded
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import DISCOUNTS, DIVISORS, Discount, Metric, table_of

Style = Literal["text", "latex"]
STYLES: tuple[Style, ...] = get_args(Style)

_COUNT_WORDS = {"each": "1", "nth": "j", "first": "[j = 1]"}
# What hits are, where not relevant items.
_HITS = {"judged": "hits: judged items", "groups": "hits: groups, R of them, each counted once"}
SYMBOLS = "r_j: rank of the user's j-th hit; R: number of relevant items; n: length of the list"
# A symbol in words that are LaTeX: r_j, R, 2^grade; no article, and no s of a genitive.
_SYMBOL = re.compile(
    r"(?<!['\w\\])(2\\textasciicircum\{\}(?P<power>\w+)|(gain(?=\\_)|[b-zA-Z])(\\_\w)?)(?![\w\\])"
)
# Functions of a caller in a formula in LaTeX.
_OWN = "g_j", "d(r_j)", "D(k, R, n)"
# What the symbols of formulas of lists are in LaTeX, by what such a formula has of them.
_OF_LISTS = {
    "L_u": r"$L_u^{(k)}$: first $k$ items of the list of user $u$",
    "r_j": "$r_j$: rank of the user's $j$-th hit",
    "i_": "$i_r$: item at rank $r$",
    r"\min(k, n)": "$n$: length of the list",
    r"\binom{n}": "$n$: number of lists",
    "c(": "$c(i)$: count of item $i$",
    r"\bar{c}": r"$\bar{c}$: mean count of items",
    "H_u": "$H_u$: history of the user",
    "B_u": "$B_u$: expected list of the user",
    r"\in T": "$T$: items of the tail",
    r"\in g": "$g$: items of the label",
    "_g": "$g$: a label",
    "x_{i_": "$x_i$: features of item $i$",
    "d_H": "$d_H$: number of unlike features",
    "d_J": "$d_J$: one minus Jaccard's index of labels",
    "d(i_": "$d$: given distance",
}
GAIN_WORDS: dict[str, str] = {
    "linear": "gain_j: the grade of the j-th hit, 1 without grades",
    "exponential": "gain_j: 2^grade - 1 of the j-th hit, 1 without grades",
}
WEIGHT_WORDS = {
    "ips": "gain_j: 1 / propensity of the j-th hit",
    "snips": "gain_j: 1 / propensity of the j-th hit, over the sum of 1 / propensity of the user's "
    "relevant items, which is the user's weight",
}


def formula(metric: Metric | ListMetric, style: Style = "text") -> str:
    r"""Return ``name@k = ...``, of hits for one user.

    Parameters
    ----------
    metric : Metric or ListMetric
    style : {"text", "latex"}

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> formula(METRICS["map"])
    'map@k = sum over r_j <= k of j / r_j, divided by min(k,R)'
    >>> print(formula(METRICS["mrr"], "latex"))
    \mathrm{mrr}@k = \sum_{j : r_j \le k} \frac{[j = 1]}{r_j}
    """
    if isinstance(metric, ListMetric):
        in_math = f"{latex_name(metric.name)}@k = {metric.latex}"
        return in_math if style == "latex" else metric.formula
    return _latex(metric) if style == "latex" else _text(metric)


def _text(metric: Metric) -> str:
    """Return the formula as text."""
    term, last = _term(metric), {"k": "k", "R": "min(k,R)", "n": "n"}[metric.cut]
    divisor = metric.dividing.name
    if metric.dividing.ideal:
        deepest = divisor.removeprefix("ideal(").removesuffix(")")
        each = term if metric.earning else _term(replace(metric, counts="each"))
        total = "the same sum" if term == each else f"the sum of {each}"
        divisor = f"{total} over hits at all ranks up to {deepest}, best gains first"
    if metric.dividing.by_hits:
        divisor = f"the number of hits with r_j <= {last}"
    divided = "" if divisor == "1" else f", divided by {divisor}"
    if metric.dividing.balanced:
        own = f"1 / {metric.discounting.name.replace('r', 'i')}"
        divided += f"; of each user both over the sum of {own} for i up to min(k,R)"
    which = "".join(f" ({words})" for words in _where(metric))
    return f"{metric.name}@k = sum over r_j <= {last} of {term}{divided}{which}"


def _where(metric: Metric) -> list[str]:
    """Return what hits are, where not all relevant items, and what the symbols of `Earned` are."""
    found = [_HITS[metric.of]] if metric.of in _HITS else []
    if metric.relevant_from is not None:
        found = [f"relevant: from grade {metric.relevant_from:g} on"]
    where = metric.earning.where if metric.earning else ""
    return [*found, where] if where else found


def symbols(
    metric: Metric | ListMetric, gain_words: str = "", unit: str = USERS, style: Style = "text"
) -> list[str]:
    r"""Return what the symbols of a formula are, in lines; in LaTeX also what the text has in it.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> print(*symbols(METRICS["dcg"], GAIN_WORDS["exponential"], style="latex")[1:])
    $g_j$: $2^{\mathrm{grade}}$ - 1 of the $j$-th hit, 1 without grades
    """
    if isinstance(metric, ListMetric):
        lines = [words for symbol, words in _OF_LISTS.items() if symbol in metric.latex]
        return [described(metric.formula), *lines] if style == "latex" else []
    gained = metric.graded and not metric.earning
    lines = [worded(SYMBOLS, unit), *[gain_words] * gained]
    if style == "text":
        return lines
    found = [described(line) for line in [*lines, *_where(metric)]]
    if not metric.latex:
        own = metric.earning, metric.discounting, metric.dividing
        some = [one for one in own if one and one.latex in _OWN]
        found += [f"{described(one.latex)}: {in_latex(one.name)}" for one in some]
        if metric.dividing.ideal and (metric.graded or metric.earning):
            found.append(described("with *: of the i-th item of the ideal order, best gains first"))
    return found


def described(words: str) -> str:
    """Return words about a formula in LaTeX, with their symbols in math."""

    def math(found: re.Match[str]) -> str:
        if found["power"]:
            return rf"$2^{{\mathrm{{{found['power']}}}}}$"
        return "$" + found[0].replace("gain", "g").replace(r"\_", "_") + "$"

    return _SYMBOL.sub(math, in_latex(words))


def _term(metric: Metric) -> str:
    """Return what a hit adds: its count over the discount, or times the weight of its rank."""
    earning = metric.earning
    count = earning.name if earning else _COUNT_WORDS[metric.counts]  # type: ignore[index]
    if metric.graded and not earning:
        count = "gain_j" if count == "1" else f"{count} gain_j"
    discount = metric.discounting
    if discount.weight:
        weight = re.sub(r"\br\b", "r_j", discount.weight)
        return weight if count == "1" else f"{count} * {weight}"
    if isinstance(metric.discount, (str, Discount)):
        name = re.sub(r"\br\b", "r_j", discount.name)
    else:
        name = f"{discount.name}(r_j)"
    return count if name == "1" else f"{count} / {name}"


def _latex(metric: Metric) -> str:
    """Return the formula in LaTeX: the metric's own one, or the composed one."""
    if metric.latex:
        return metric.latex
    earning, discount = metric.earning, metric.discounting.latex
    count = earning.latex if earning else _COUNT_WORDS[metric.counts]  # type: ignore[index]
    if metric.graded and not earning:
        count = "g_j" if count == "1" else f"{count} g_j"
    last = {"k": "k", "R": r"\min(k, R)", "n": "n"}[metric.cut]
    term = _fraction(count, discount)
    if weight := metric.discounting.weight_latex:
        term = weight if count == "1" else rf"{count} \cdot {weight}"
    total = rf"\sum_{{j : r_j \le {last}}} {term}"
    dividing = metric.dividing
    divisor = dividing.latex.replace("k", last) if dividing.by_hits else dividing.latex
    if dividing.ideal:
        gain = _ideal(earning.latex if earning else "g_j") if metric.graded or earning else "1"
        ideal = discount.replace("r_j", "i")
        divisor = rf"\sum_{{i = 1}}^{{{dividing.latex}}} {_fraction(gain, ideal)}"
    which = ""
    if dividing.balanced:
        which = (
            rf"\quad\text{{(both over }} \sum_{{i \le \min(k, R)}} \frac{{1}}{{{ideal}}}\text{{)}}"
        )
    return rf"{latex_name(metric.name)}@k = {_fraction(total, divisor)}{which}"


def latex_name(name: str) -> str:
    r"""Return the name of a metric in math.

    Examples
    --------
    >>> print(latex_name("r_precision"), latex_name("50% & more"))
    \mathrm{r\_precision} \text{50\% \& more}
    """
    command = "mathrm" if re.fullmatch(r"[\w(),.=]+", name, re.ASCII) else "text"
    return rf"\{command}{{{in_latex(name)}}}"


def _ideal(earned: str) -> str:
    """Return in LaTeX what hit j earns, and those i before it, as hit i of the ideal order, and l.

    What has such an index has an asterisk.
    """
    indexed = re.sub(r"(?<=[a-zA-Z])_(?=[ij]\b)", "^*_", earned)
    return re.sub(r"(?<![a-zA-Z])[ij]\b", lambda one: {"i": "l", "j": "i"}[one[0]], indexed)


def _fraction(above: str, below: str) -> str:
    """Return a fraction in LaTeX; the numerator alone if the denominator is 1."""
    return above if below == "1" else rf"\frac{{{above}}}{{{below}}}"


# Cut-offs 1 to DEPTH, numbers of relevant items and lengths at which a bound is looked for.
DEPTH = 64
_SIZES = np.array([1, 2, 3, 5, 8, 13, 30, DEPTH])


@dataclass(frozen=True)
class Population:
    """What is known of the users before any value.

    Attributes
    ----------
    single : bool
        Whether no user has more than one relevant item, as in leave-one-out.
    graded : bool
        Whether the ground truth has grades.
    """

    single: bool
    graded: bool


def is_proportion(metric: Metric) -> bool:
    """Return whether every user's value is 0 or 1 by definition, so that the mean is a proportion.

    These are metrics that count the first hit as 1 at every rank. Others may be 0 or 1 for every
    user of a population, as recall in leave-one-out; they are no proportions, so that the interval
    of a segment is of the same kind as that of all. A metric with functions of its own is none.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> [name for name in METRICS if is_proportion(METRICS[name])]
    ['hit', 'complete']
    """
    if metric.earning is not None:
        return metric.earning.most == "0 or 1"
    chosen = metric.counts, metric.graded, metric.discounting, metric.dividing
    return chosen == ("first", False, DISCOUNTS["1"], DIVISORS["1"])


def is_within_one(metric: Metric, population: Population) -> bool:
    """Return whether no value passes 1 by definition: even a perfect list does not.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> [name for name in METRICS if not is_within_one(METRICS[name], Population(False, False))]
    ['dcg', 'cg', 'alpha_ndcg']
    """
    if metric.earning is not None:
        return metric.earning.most != ""
    if metric.graded and population.graded and not metric.dividing.ideal:
        return False
    if isinstance(metric.discount, str) and isinstance(metric.divisor, str):
        return _known_within_one(metric, population.single)
    return _within_one(metric, population.single)  # a user's own function may change


def _within_one(metric: Metric, single: bool) -> bool:
    """Return whether a perfect list does not pass 1, at any size that is looked at."""
    sizes = np.ones(1, np.int64) if single else _SIZES
    try:
        discounts = metric.discounts(DEPTH)
        divisors = metric.divisors(*_pairs(sizes), DEPTH)
    except ValueError:  # functions that are not meant for all sizes
        return False
    if np.any(np.diff(discounts) < 0):
        return False  # then hits at the first ranks are not the best
    j = np.arange(1, DEPTH + 1)
    counts = {"each": j > 0, "nth": j, "first": j == 1}[metric.counts]  # type: ignore[index]
    perfect = np.concatenate([[0.0], np.cumsum(counts / discounts)])
    R, n = _pairs(sizes)
    n_hits = np.minimum(np.minimum(R, n)[:, np.newaxis], j)
    return bool(np.all(perfect[n_hits] <= divisors * (1 + 1e-12)))


_known_within_one = lru_cache(maxsize=256)(_within_one)


def identity(
    metric: Metric, population: Population, pooled: bool, at_one: bool = False
) -> tuple[Any, ...]:
    """Return a key that is equal for metrics that are equal for every user by definition.

    These have the same three choices; or no user has more than one relevant item, and discount and
    divisor are the same there, as those of hit and recall in leave-one-out. `pooled` is whether
    the metric is a ratio of sums, in which users without relevant items have a part. With `at_one`
    it is at k = 1, one place, so that each, the nth and the first hit count alike.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> keys = [identity(METRICS[m], Population(True, False), False) for m in ("map", "mrr", "hit")]
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (True, False)
    >>> several, names = Population(False, False), ("hit", "precision", "map", "mrr", "recall")
    >>> keys = [identity(METRICS[name], several, False, at_one=True) for name in names]
    >>> [key == keys[0] for key in keys]
    [True, True, True, True, False]
    """
    dividing, discounting = metric.dividing, metric.discounting
    graded, known = metric.graded and population.graded, dividing in DIVISORS.values()
    at_one = at_one and known and discounting in DISCOUNTS.values()
    reading = metric.cut, metric.of, metric.relevant_from, metric.earning
    if not (population.single or at_one):
        return metric.counts, discounting, dividing, graded, pooled, *reading
    if not known:
        return discounting, dividing, graded, pooled, *reading
    sizes = np.array([0] * pooled + ([1] if population.single else _SIZES.tolist()))
    divisors = metric.divisors(*_pairs(sizes), 1 if at_one else DEPTH).tobytes()
    discount = metric.discounts(1).tobytes() if at_one else discounting
    ideal = graded and dividing.ideal  # then the divisor has the user's grade
    by_hits = dividing.by_hits and (pooled or at_one)  # a user without a hit has no part then
    return discount, divisors, ideal, by_hits, graded, pooled, *reading


def equal_names(
    results: Sequence[Any], names: Sequence[str], intervals: bool = False
) -> list[tuple[str, ...]]:
    """Group the metrics that are equal by definition in all of the results, and asked at equal k.

    In leave-one-out, hit equals recall, and map equals mrr. Values that happen to agree do not
    make metrics equal. With `intervals`, those have to be equal too: a proportion, as hit, has one
    of its own.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> metrics = ["hit", "map", "recall"]
    >>> equal_names([top_k_eval([[1], [2]], [{1}, {9}], k=1, metrics=metrics)], metrics)
    [('hit', 'recall'), ('map',)]
    """
    groups: list[tuple[Any, list[str]]] = []  # keys hold functions, which need not be hashable
    for name in names:
        key: list[Any] = [result.identity(name) for result in results]
        key += [intervals and result.is_proportion(name) for result in results]
        equal = next((group for other, group in groups if other == key), None)
        if equal is None:
            groups.append((key, [name]))
        else:
            equal.append(name)
    return [tuple(group) for _, group in groups]


def _pairs(sizes: Any) -> tuple[Any, Any]:
    """Return every R of some sizes with every length of a list, flat."""
    return np.repeat(sizes, len(_SIZES)), np.tile(_SIZES, len(sizes))


def places(k: Any, R: Any, n: Any) -> Any:
    """Return how many places relevant items can take; by its name, results are stored."""
    return np.minimum(k, R)


_IDEAL = replace(DIVISORS["ideal(min(k,R))"], function=places, balanced=True)

#: Propensity-scored metrics by name: ratios of sums over users. Read-only.
SCORED = table_of(
    Metric(
        *("psp", "each", "1", "ideal(min(k,R))"),
        graded=True,
        text="propensity-scored precision: hits count 1 / p, over the best k relevant items by 1 / "
        "p; under IPS users without relevant items count, with 0 (Jain, Prabhu, Varma 2016)",
    ),
    Metric(
        *("psndcg", "each", "log2(r+1)", _IDEAL),
        graded=True,
        text="propensity-scored nDCG: hits count 1 / p, over the best order by 1 / p; both are "
        "sums of users' DCG over the ideal one without weights; under IPS users without relevant "
        "items count, with 0 (Jain, Prabhu, Varma 2016)",
    ),
)


class Exposed(NamedTuple):
    """How many relevant items count 1 / p, of how many p was clipped; Σ 1 / p, Σ 1 / p²."""

    n: int
    clipped: int
    weight: float
    weight2: float

    def __add__(self, other: Any) -> Any:
        """Return the numbers of the relevant items of both."""
        return Exposed(*(one + more for one, more in zip(self, other, strict=True)))

    def words(self, clip: float | None) -> str:
        """Return the numbers in a line, with Kish's effective number."""
        effective = self.weight**2 / self.weight2 if self.n else 0.0
        more = "" if clip is None else f"; {self.clipped:,} of them clipped at {clip:g}"
        of = f"{self.n:,} relevant item{'s' * (self.n != 1)} count{'s' * (self.n == 1)}"
        return f"{of} as much as {effective:,.1f} of equal propensity{more}"


# Divisors that do not hang on which relevant items were observed.
_FIXED = "1", "k", "min(k,n)"


def is_scored(metric: Any) -> bool:
    """Return whether a metric is one of `SCORED`, whatever is done with empty ground truths."""
    known = isinstance(metric, Metric) and metric.name in SCORED
    return known and metric.formula == SCORED[metric.name]


def weighed(metric: Any, weighting: str) -> Any:
    """Return what a metric is where relevant items count 1 / p; one of lists as it is.

    ValueError for a metric that has no such estimate.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> weighed(METRICS["recall"], "snips").divisor, weighed(METRICS["precision"], "ips").graded
    ('ideal(R)', True)
    """
    if is_scored(metric) or not isinstance(metric, Metric):
        return metric
    divisor = metric.dividing.name
    known = metric.of == "relevant" and metric.cut == "k" and metric.relevant_from is None
    if metric.earning is not None or not known:
        raise ValueError(
            f"{metric.name} takes no propensities, as a hit earns what other items leave it: "
            "give recall, dcg, psp or psndcg"
        )
    if weighting == "ips":
        if metric.counts == "each" and divisor in _FIXED:
            return replace(metric, graded=True)
        raise ValueError(
            f"{metric.name} has no IPS estimate: it hangs on how many relevant items there are, "
            "and only some were observed; give cg, dcg or precision, or "
            "Propensities(weighting='snips')"
        )
    if metric.counts == "each" and divisor == "R" and metric.discounting.name == "1":
        return replace(metric, graded=True, divisor="ideal(R)")
    return replace(metric, graded=True) if metric.counts == "each" and divisor == "1" else metric


def needs_one_item(metric: Metric) -> bool:
    """Return whether the SNIPS estimate of a weighed metric is of users with one relevant item.

    Others are sums over hits, or ratios of such sums.
    """
    ways = ("1", metric.discounting.name), ("ideal(R)", "1")
    plain = (metric.dividing.name, metric.discounting.name) in ways
    return not is_scored(metric) and not (metric.graded and metric.counts == "each" and plain)
