"""Metrics of the lists themselves: those that an evaluation knows by name, and the Gini index."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toplist.metrics.definitions import table_of

# The names of `LIST_METRICS`, for type checkers and editors.
ListMetricName = Literal[
    "item_coverage", "gini", "shannon_entropy", "average_popularity", "tail_percentage", "novelty",
    "intra_list_diversity",
]  # fmt: skip


@dataclass(frozen=True)
class ListMetric:
    """A metric of the lists, without a ground truth.

    Attributes
    ----------
    name : str
        As it is asked for and printed, without ``@``.
    needs : str or None
        The keyword of `toplist.top_k_eval` that it needs.
    of_users : bool
        Whether it is a mean over users, or one number for all lists together.
    text, formula, latex : str
        What it is, in a line; its formula, as text and in LaTeX.
    within_one : bool
        Whether it is from 0 to 1 by definition.
    """

    name: str
    needs: str | None
    of_users: bool
    text: str
    formula: str
    latex: str
    within_one: bool = False


LIST_METRICS: Mapping[str, ListMetric] = table_of(
    ListMetric(
        "item_coverage",
        "catalogue",
        False,
        "share of the catalogue that is listed",
        "item_coverage@k = distinct items in all lists down to k / n; n: size of the catalogue",
        r"\frac{1}{n} \left| \bigcup_{u} L_u^{(k)} \right|",
        within_one=True,
    ),
    ListMetric(
        "gini",
        "catalogue",
        False,
        "Gini's index of how often the items of the catalogue are listed",
        "gini@k = sum over i of (2 i - n - 1) x_(i) / (n sum of x_i); x_(i): lists that hold "
        "an item within k, rising; n: size of the catalogue",
        r"\frac{\sum_{i=1}^{n} (2 i - n - 1)\, x_{(i)}}{n \sum_{i=1}^{n} x_i}",
        within_one=True,
    ),
    ListMetric(
        "shannon_entropy",
        None,
        False,
        "entropy of how often items are listed, in nats",
        "shannon_entropy@k = - sum over items of p log p; p: share of all places down to k",
        r"-\sum_i p_i \log p_i",
    ),
    ListMetric(
        "average_popularity",
        "item_counts",
        True,
        "mean item count",
        "average_popularity@k = mean of count(i) over the first k items",
        r"\frac{1}{\min(k, n)} \sum_{r \le k} c(i_r)",
    ),
    ListMetric(
        "tail_percentage",
        "item_counts",
        True,
        "share of items of the tail, the least popular tenth",
        "tail_percentage@k = items of the tail among the first k / number of these items",
        r"\frac{1}{\min(k, n)} \left| \{r \le k : i_r \in T\} \right|",
        within_one=True,
    ),
    ListMetric(
        "novelty",
        "item_counts",
        True,
        "mean self-information, in bits, of items by their share of all counts",
        "novelty@k = mean of -log2(count(i) / sum of counts) over the first k items",
        r"-\frac{1}{\min(k, n)} \sum_{r \le k} \log_2 \frac{c(i_r)}{\sum_j c(j)}",
    ),
    ListMetric(
        "intra_list_diversity",
        "features",
        True,
        "mean of 1 - cosine over pairs of items",
        "intra_list_diversity@k = mean of 1 - cosine(i, j) over pairs of the first k items",
        r"\binom{k}{2}^{-1} \sum_{q < r \le k} \left(1 - \cos(i_q, i_r)\right)",
    ),
)


def gini_index(counts: NDArray[np.float64]) -> float:
    """Return the Gini index of some counts: 0 if they are equal, towards 1 if one item has all.

        sum over i of (2 i - n - 1) x_(i) / (n sum of x_i),  x_(i) rising, i = 1..n

    This is twice the area between the Lorenz curve and the diagonal (Gini 1914; the sum over
    sorted values as in Dixon et al. 1987).

    Parameters
    ----------
    counts : (n,) float64
        0 or more, and not all 0. Whole numbers give a sum without rounding.

    Examples
    --------
    >>> gini_index(np.array([1.0, 1.0, 1.0])), gini_index(np.array([0.0, 4.0, 0.0, 0.0]))
    (0.0, 0.75)
    """
    n = len(counts)
    weights = 2.0 * np.arange(1, n + 1) - n - 1
    return float(weights @ np.sort(counts) / (n * counts.sum()))
