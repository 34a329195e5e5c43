"""Metrics of the lists themselves: those that an evaluation knows by name, and the Gini index."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import choice
from toplist.metrics.definitions import table_of

# The names of `LIST_METRICS`, for type checkers and editors.
ListMetricName = Literal[
    "item_coverage", "gini", "shannon_entropy", "personalisation", "average_popularity",
    "tail_percentage", "novelty", "popularity_lift", "intra_list_diversity", "calibration",
    "unexpectedness", "serendipity", "exposure_share", "hit_share",
]  # fmt: skip
# Of two items: of features; of sets of labels; or given.
Distance = Literal["cosine", "hamming", "euclidean", "jaccard", "given"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
# Of two distributions of labels.
Divergence = Literal["kl", "hellinger"]
DIVERGENCES: tuple[Divergence, ...] = get_args(Divergence)
# What the items of a list count: the same, or 1 / log2(r + 1).
RankWeights = Literal["equal", "rank"]
RANK_WEIGHTS: tuple[RankWeights, ...] = get_args(RankWeights)


@dataclass(frozen=True)
class ListMetric:
    """A metric of the lists themselves; few of them read a ground truth.

    Attributes
    ----------
    name : str
        As it is asked for and printed, without ``@``.
    needs : tuple of str
        The keywords of `toplist.top_k_eval` that it needs.
    of_users : bool
        Whether it is a mean over users, or one number for all lists together.
    text, formula, latex : str
        What it is, in a line; its formula, as text and in LaTeX.
    within_one : bool
        Whether it is from 0 to 1 by definition.
    higher_is_better : bool or None
        None where neither more nor less of it is better.
    whom : str
        Who is in a mean over users.
    of_truth : bool
        Whether it reads the ground truth, whose users it is over then.
    given : tuple of pairs of str
        The parameters that are not the default, as in ``"calibration(weights=rank)"``.
    """

    name: str
    needs: tuple[str, ...]
    of_users: bool
    text: str = field(compare=False)  # words are no part of the definition
    formula: str = field(compare=False)
    latex: str = field(compare=False)
    within_one: bool = False
    higher_is_better: bool | None = None
    whom: str = field(default="with a list", compare=False)
    of_truth: bool = False
    given: tuple[tuple[str, str], ...] = ()

    @property
    def base(self) -> str:
        """The name without parameters."""
        return self.name.partition("(")[0]


# What each distance of two items is over, in words, and in LaTeX.
_APART: Mapping[str, tuple[str, str, str]] = {
    "cosine": ("features", "1 - cosine", r"\left(1 - \cos(i_q, i_r)\right)"),
    "hamming": ("features", "number of unlike features", "d_H(i_q, i_r)"),
    "euclidean": ("features", "Euclidean distance", r"\|x_{i_q} - x_{i_r}\|"),
    "jaccard": ("labels", "1 - Jaccard's index of labels", "d_J(i_q, i_r)"),
    "given": ("distances", "given distance", "d(i_q, i_r)"),
}


def distance_by(given: Collection[str]) -> Distance:
    """Return the distance that is meant where these keywords are given, and none is named.

    Examples
    --------
    >>> distance_by(["labels"]), distance_by(["labels", "features"])
    ('jaccard', 'cosine')
    """
    usual: tuple[Distance, ...] = ("cosine", "given", "jaccard")
    return next((one for one in usual if _APART[one][0] in given), "cosine")


def _diversity(distance: Distance = "cosine") -> ListMetric:
    """Return intra-list diversity by a distance of two items."""
    choice("distance", distance, DISTANCES)
    needs, words, latex = _APART[distance]
    short = words.partition(" of ")[0] if distance != "hamming" else words
    return ListMetric(
        "intra_list_diversity",
        (needs,),
        True,
        f"mean of {words} over pairs of items",
        f"intra_list_diversity@k = mean of {short}(i, j) over pairs of the first k items",
        rf"\binom{{k}}{{2}}^{{-1}} \sum_{{q < r \le k}} {latex}",
        within_one=distance == "jaccard",
    )


def _calibration(
    distance: Divergence = "kl", weights: RankWeights = "equal", alpha: str = "0.01"
) -> ListMetric:
    """Return calibration (Steck 2018) by a distance of two distributions of labels."""
    choice("distance", distance, DIVERGENCES)
    choice("weights", weights, RANK_WEIGHTS)
    if not 0 < float(alpha) < 1:
        raise ValueError(f"alpha must be above 0 and below 1, not {alpha}")
    kl, rest = distance == "kl", f"{1 - float(alpha):g}"
    words = "KL divergence of" if kl else "Hellinger's distance between"
    of = "; items count 1 / log2(r + 1)" if weights == "rank" else ""
    formula = f"sum over labels of p log(p / ({rest} q + {alpha} p))"
    formula = formula if kl else "sqrt(1 - sum sqrt(p q))"
    return ListMetric(
        "calibration",
        ("history", "labels"),
        True,
        f"{words} the labels of the history and those of the list{of}: 0 is calibrated",
        f"calibration@k = {formula}; p, q: shares of a label in the history, in the first k items"
        + of,
        rf"\sum_g p_g \log \frac{{p_g}}{{{rest}\, q_g + {alpha}\, p_g}}"
        if kl
        else r"\sqrt{1 - \sum_g \sqrt{p_g q_g}}",
        within_one=not kl,
        higher_is_better=False,
        whom="with a list and a history",
    )


def _exposure_share(label: str = "") -> ListMetric:
    """Return the share of a list's exposure that items of a label get."""
    return ListMetric(
        "exposure_share",
        ("labels",),
        True,
        f"share of the list's exposure that goes to {_labelled(label)}",
        "exposure_share@k = sum over items of the label of 1 / log2(r + 1), over that of the "
        "first k items",
        r"\frac{\sum_{r \le k,\, i_r \in g} 1 / \log_2(r + 1)}{\sum_{r \le k} 1 / \log_2(r + 1)}",
        within_one=True,
    )


def _hit_share(label: str = "") -> ListMetric:
    """Return the share of a user's hits that are items of a label."""
    return ListMetric(
        "hit_share",
        ("labels",),
        True,
        f"share of the user's hits that are {_labelled(label)}",
        "hit_share@k = hits of the label among the first k items / all hits among these",
        r"\frac{\left| \{j : r_j \le k, i_{r_j} \in g\} \right|}{\left| \{j : r_j \le k\} \right|}",
        within_one=True,
        whom="with a hit",
        of_truth=True,
    )


def _labelled(label: str) -> str:
    return f"items labelled {label!r}" if label else "the items of a label"


# How a metric with parameters is made, and these with their defaults.
VARIANTS: Mapping[str, tuple[Callable[..., ListMetric], Mapping[str, str]]] = {
    "intra_list_diversity": (_diversity, {"distance": "cosine"}),
    "calibration": (_calibration, {"distance": "kl", "weights": "equal", "alpha": "0.01"}),
    "exposure_share": (_exposure_share, {"label": ""}),
    "hit_share": (_hit_share, {"label": ""}),
}


def parameters_of(name: str) -> Mapping[str, str]:
    """Return the parameters that a metric takes in its name, with their defaults."""
    return VARIANTS[name][1] if name in VARIANTS else {}


def variant(name: str, given: Mapping[str, str]) -> ListMetric:
    """Return a metric with parameters; ValueError for those it does not take.

    Examples
    --------
    >>> variant("calibration", {"weights": "rank", "distance": "kl"}).name
    'calibration(weights=rank)'
    """
    defaults = parameters_of(name)
    wrong = [one for one in given if one not in defaults]
    if wrong:
        takes = f"takes {', '.join(defaults)}" if defaults else "takes no parameter"
        raise ValueError(f"metric {name!r} {takes}, not {', '.join(wrong)}")
    try:
        if "alpha" in given:  # one number has one name
            given = {**given, "alpha": f"{float(given['alpha']):g}"}
    except ValueError:
        alpha = given["alpha"]
        raise ValueError(f"metric {name!r}: alpha={alpha!r} is not a number") from None
    try:
        metric = VARIANTS[name][0](**given) if given else LIST_METRICS[name]
    except ValueError as error:
        raise ValueError(f"metric {name!r}: {error}") from None
    own = tuple(
        (key, given[key]) for key in defaults if given.get(key, defaults[key]) != defaults[key]
    )
    shown = ",".join(f"{key}={value}" for key, value in own)
    return replace(metric, name=f"{name}({shown})" if own else name, given=own)


LIST_METRICS: Mapping[str, ListMetric] = table_of(
    ListMetric(
        "item_coverage",
        ("catalogue",),
        False,
        "share of the catalogue that is listed",
        "item_coverage@k = distinct items in all lists down to k / n; n: size of the catalogue",
        r"\frac{1}{n} \left| \bigcup_{u} L_u^{(k)} \right|",
        within_one=True,
    ),
    ListMetric(
        "gini",
        ("catalogue",),
        False,
        "Gini's index of how often the items of the catalogue are listed",
        "gini@k = sum over i of (2 i - n - 1) x_(i) / (n sum of x_i); x_(i): lists that hold "
        "an item within k, rising; n: size of the catalogue",
        r"\frac{\sum_{i=1}^{n} (2 i - n - 1)\, x_{(i)}}{n \sum_{i=1}^{n} x_i}",
        within_one=True,
    ),
    ListMetric(
        "shannon_entropy",
        (),
        False,
        "entropy of how often items are listed, in nats",
        "shannon_entropy@k = - sum over items of p log p; p: share of all places down to k",
        r"-\sum_i p_i \log p_i",
    ),
    ListMetric(
        "personalisation",
        (),
        False,
        "one minus the mean overlap of two users' lists",
        "personalisation@k = 1 - mean over pairs of users of |both lists down to k| / k",
        r"1 - \binom{n}{2}^{-1} \sum_{u < v} \frac{|L_u^{(k)} \cap L_v^{(k)}|}{k}",
        within_one=True,
    ),
    ListMetric(
        "average_popularity",
        ("counts",),
        True,
        "mean item count",
        "average_popularity@k = mean of count(i) over the first k items",
        r"\frac{1}{\min(k, n)} \sum_{r \le k} c(i_r)",
    ),
    ListMetric(
        "tail_percentage",
        ("counts",),
        True,
        "share of items of the tail, the least popular tenth",
        "tail_percentage@k = items of the tail among the first k / number of these items",
        r"\frac{1}{\min(k, n)} \left| \{r \le k : i_r \in T\} \right|",
        within_one=True,
    ),
    ListMetric(
        "novelty",
        ("counts",),
        True,
        "mean self-information, in bits, of items by their share of all counts",
        "novelty@k = mean of -log2(count(i) / sum of counts) over the first k items",
        r"-\frac{1}{\min(k, n)} \sum_{r \le k} \log_2 \frac{c(i_r)}{\sum_j c(j)}",
    ),
    ListMetric(
        "popularity_lift",
        ("history", "counts"),
        True,
        "how much more popular the list is than the history, as a share of that",
        "popularity_lift@k = (mean count of the first k items - that of the history) / that of the "
        "history",
        r"\frac{\bar{c}(L_u^{(k)}) - \bar{c}(H_u)}{\bar{c}(H_u)}",
        whom="with a list and a history",
    ),
    _diversity(),
    _calibration(),
    ListMetric(
        "unexpectedness",
        ("expected",),
        True,
        "share of the list that was not expected",
        "unexpectedness@k = items among the first k that are not in the expected list / number of "
        "these items",
        r"\frac{1}{\min(k, n)} \left| \{r \le k : i_r \notin B_u\} \right|",
        within_one=True,
        whom="with a list and an expected one",
    ),
    ListMetric(
        "serendipity",
        ("expected",),
        True,
        "share of the k places with a relevant item that was not expected",
        "serendipity@k = relevant items among the first k that are not in the expected list / k",
        r"\frac{1}{k} \left| \{j : r_j \le k,\, i_{r_j} \notin B_u\} \right|",
        within_one=True,
        higher_is_better=True,
        whom="with relevant items",
        of_truth=True,
    ),
    _exposure_share(),
    _hit_share(),
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
