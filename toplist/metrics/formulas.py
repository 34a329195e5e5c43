"""The formula of a metric, as text and in LaTeX, composed from its three choices."""

import re
from dataclasses import replace
from typing import Literal, get_args

from toplist.metrics.definitions import Discount, Metric

Style = Literal["text", "latex"]
STYLES: tuple[Style, ...] = get_args(Style)

_COUNT_WORDS = {"each": "1", "nth": "j", "first": "[j = 1]"}
# What hits are, where not relevant items.
_HITS = {"judged": "hits: judged items", "groups": "hits: groups, R of them, each counted once"}
SYMBOLS = {
    "text": "r_j: rank of the user's j-th hit; R: number of relevant items; n: length of the list",
    "latex": r"$r_j$: rank of the user's $j$-th hit; $R$: number of relevant items; "
    r"$n$: length of the list",
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


def formula(metric: Metric, style: Style = "text") -> str:
    r"""Return ``name@k = ...`` for one user.

    Parameters
    ----------
    metric : Metric
    style : {"text", "latex"}

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> formula(METRICS["map"])
    'map@k = sum over r_j <= k of j / r_j, divided by min(k,R)'
    >>> print(formula(METRICS["mrr"], "latex"))
    \mathrm{mrr}@k = \sum_{j : r_j \le k} \frac{[j = 1]}{r_j}
    """
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
    which = f" ({_HITS[metric.of]})" if metric.of in _HITS else ""
    if metric.relevant_from is not None:
        which = f" (relevant: from grade {metric.relevant_from:g} on)"
    if metric.earning is not None and metric.earning.where:
        which += f" ({metric.earning.where})"
    return f"{metric.name}@k = sum over r_j <= {last} of {term}{divided}{which}"


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
        ideal = discount.replace("r_j", "i")
        gain = "g^*_i" if metric.graded or earning else "1"
        divisor = rf"\sum_{{i = 1}}^{{{dividing.latex}}} {_fraction(gain, ideal)}"
    which = rf"\quad\text{{({_HITS[metric.of]})}}" if metric.of in _HITS else ""
    if dividing.balanced:
        own = discount.replace("r_j", "i")
        which = (
            rf"\quad\text{{(both over }} \sum_{{i \le \min(k, R)}} \frac{{1}}{{{own}}}\text{{)}}"
        )
    name = metric.name.replace("_", r"\_")
    return rf"\mathrm{{{name}}}@k = {_fraction(total, divisor)}{which}"


def _fraction(above: str, below: str) -> str:
    """Return a fraction in LaTeX; the numerator alone if the denominator is 1."""
    return above if below == "1" else rf"\frac{{{above}}}{{{below}}}"
