"""Metrics of the lists themselves, each declared once: a function, and what is said of it.

The first parameter says of what it is: `lists`, a value of each user; `hits`, the same of the users
of the ground truth; `exposure`, one number of all lists together. The parameters after it are facts
of the items that it needs, by the keywords of `toplist.Items`. Keyword-only parameters are written
in its name, ``"gini(divisor=n-1)@10"``; their types say what they may be, and one without a default
is in every name. A metric of users returns what is computed of each list, in the words of
`toplist.beyond.listed`.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Floats, Ints
from toplist.metrics import declared
from toplist.metrics.declared import Parameter, parameters_of, values_of

# The names of `LIST_METRICS`, for type checkers and editors.
ListMetricName = Literal[
    "item_coverage", "gini", "shannon_entropy", "personalisation", "average_popularity",
    "tail_percentage", "novelty", "popularity_lift", "intra_list_diversity", "calibration",
    "unexpectedness", "serendipity", "exposure_share", "hit_share",
]  # fmt: skip
# Of two items: of features; of sets of labels; or given.
Distance = Literal["cosine", "hamming", "euclidean", "jaccard", "given"]
Over = Literal["catalogue", "recommended"]


@dataclass(frozen=True)
class ListMetric:
    """A metric of the lists themselves; few of them read a ground truth.

    Attributes
    ----------
    name : str
        As it is asked for and printed, without ``@``.
    needs : tuple of str
        The facts of `toplist.Items` that it needs.
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
    limit : float or None
        What it goes to below the lists, as it divides by k; None where it stays as it is.
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
    limit: float | None = field(default=None, compare=False)

    def at(self, values: Floats, cuts: Ints) -> Floats:
        """Return curves (..., K) at some k's, which may be below the lists.

        Examples
        --------
        >>> LIST_METRICS["serendipity"].at(np.array([1.0, 0.5]), np.array([1, 2, 4]))
        array([1.  , 0.5 , 0.25])
        """
        width = values.shape[-1]
        share = self.share(width, cuts)
        found: Floats = values[..., np.minimum(cuts, width) - 1] * share
        return found if self.limit is None else found + self.limit * (1.0 - share)

    def share(self, width: int, cuts: Ints) -> Floats:
        """Return what is left at some k's of how far a value was from its limit at k = `width`."""
        if self.limit is None:
            return np.ones(len(cuts))
        share: Floats = width / np.maximum(cuts, width)
        return share

    @property
    def base(self) -> str:
        """The name without parameters."""
        return self.name.partition("(")[0]

    def of(self, what: Any, facts: Mapping[str, Any]) -> Any:
        """Call its function with the lists, or the exposure, and with the facts that it needs."""
        row = _DECLARED[self.base]
        known = {name: facts[name] if name in self.needs else None for name in row.facts}
        own = values_of(self.name, row.parameters, dict(self.given))
        return row.function(what, **known, **own)


class _Declared(NamedTuple):
    """A function, and what is said of it: words, or functions of its parameters (a dict).

    Where a parameter without a default is not given, its name stands for it in what is said.
    """

    function: Callable[..., Any]
    of: str
    facts: list[str]
    parameters: dict[str, Parameter]
    said: Mapping[str, Any]

    def metric(self, given: Mapping[str, str]) -> ListMetric:
        """Return the metric with parameters, as they are written."""
        name, rows = self.function.__name__, self.parameters.items()
        defaults = {key: key if one.is_required else one.default for key, one in rows}
        values = defaults | values_of(name, self.parameters, given)
        own = [(key, value) for key, value in values.items() if value != defaults[key]]
        try:
            said = {key: one(values) if callable(one) else one for key, one in self.said.items()}
        except ValueError as error:
            raise ValueError(f"metric {name!r}: {error}") from None
        return ListMetric(
            name=declared.named(name, own),
            of_users=self.of != "exposure",
            of_truth=self.of == "hits",
            given=tuple((key, declared.written(value)) for key, value in own),
            **{"needs": tuple(self.facts), **said},
        )


_DECLARED: dict[str, _Declared] = {}


def metric(**said: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function as a metric of the lists; what is said of it are fields of `ListMetric`.

    A field may be a function of the parameters, a dict.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        of, *rest = inspect.signature(function).parameters.values()
        facts = [one.name for one in rest if one.kind != one.KEYWORD_ONLY]
        row = _Declared(function, of.name, facts, parameters_of(function), said)
        _DECLARED[function.__name__] = row
        return function

    return declare


def takes(name: str) -> dict[str, Parameter]:
    """Return the parameters that a metric of the lists takes in its name.

    Examples
    --------
    >>> {name: str(one) for name, one in takes("gini").items()}
    {'over': 'catalogue, recommended', 'divisor': 'n, n-1'}
    """
    return _DECLARED[name].parameters


def variant(name: str, given: Mapping[str, str]) -> ListMetric:
    """Return a metric with parameters; ValueError for those it does not take, and one it lacks.

    Examples
    --------
    >>> variant("calibration", {"weights": "rank", "distance": "kl"}).name
    'calibration(weights=rank)'
    >>> variant("novelty", {"total": "5000"}).text
    'mean self-information, in bits, of items by their counts over 5000'
    """
    for key, one in takes(name).items():
        if one.is_required and key not in given:
            raise ValueError(f"metric {name!r} needs {key}, {one}: write {name}({key}=...)")
    return _DECLARED[name].metric(given)


# Of all lists together


@metric(
    text="share of the catalogue that is listed",
    formula="item_coverage@k = distinct items in all lists down to k / n; n: size of the catalogue",
    latex=r"\frac{1}{n} \left| \bigcup_{u} L_u^{(k)} \right|",
    within_one=True,
)
def item_coverage(exposure: Any, catalogue: Any) -> Floats:
    """Ge, Delgado-Battenfeld, Jannach 2010; RecBole's ItemCoverage."""
    return np.asarray(exposure.curves.covered / exposure.n_items)


_BELOW = {"n": "n", "n-1": "(n - 1)"}


@metric(
    text=lambda by: (
        "Gini's index of how often the items of the catalogue are listed"
        if by["over"] == "catalogue"
        else "Gini's index of how often the listed items are listed"
    ),
    formula=lambda by: (
        f"gini@k = sum over i of (2 i - n - 1) x_(i) / ({_BELOW[by['divisor']]} sum of x_i); "
        "x_(i): lists that hold an item within k, rising; "
        + ("n: size of the catalogue" if by["over"] == "catalogue" else "n: items listed within k")
    ),
    latex=lambda by: (
        r"\frac{\sum_{i=1}^{n} (2 i - n - 1)\, x_{(i)}}{"
        rf"{_BELOW[by['divisor']]} \sum_{{i=1}}^{{n}} x_i}}"
    ),
    needs=lambda by: ("catalogue",) * (by["over"] == "catalogue"),
    within_one=True,
)
def gini(exposure: Any, *, over: Over = "catalogue", divisor: Literal["n", "n-1"] = "n") -> Floats:
    """Libraries differ in both parameters.

    Over the catalogue with n (RecBole, irspack, LensKit); over what is recommended with n - 1
    (Evidently); one minus it over the catalogue with n - 1 (Elliot). With n - 1, one item of
    several that gets everything gives exactly 1; of one item only the index is 0. Exact up to one
    rounding.
    """
    sums = exposure.curves
    n, total = sums.covered, sums.total
    if over == "catalogue":
        n = np.full_like(n, exposure.n_items)
    if int(n.max(initial=0)) * int(total.max(initial=0)) >= 2**53:
        n, total = n.astype(object), total.astype(object)  # Python's integers: one rounding
    below = (n if divisor == "n" else n - 1) * total
    return _ratio(n * total - sums.squares, below, sums)


_OVER = {
    None: "",
    "catalogue": "; divided by log n, n: size of the catalogue",
    "recommended": "; divided by log n, n: items listed within k",
    "recbole": "; divided by n, n: items listed within k",
}
_SHANNON = dict.fromkeys(get_args(Over), r"-\frac{1}{\log n} \sum_i p_i \log p_i")
_SHANNON |= {None: r"-\sum_i p_i \log p_i", "recbole": r"-\frac{1}{n} \sum_i p_i \log p_i"}
_LOG = {"nats": (" log ", r"\log "), "bits": (" log2 ", r"\log_2 ")}


@metric(
    text=lambda by: {
        "recbole": f"entropy of how often items are listed, in {by['unit']}, over their number, "
        "as RecBole 1.2 has it",
        None: f"entropy of how often items are listed, in {by['unit']}",
    }.get(by["normalised"], "entropy of how often items are listed, over the largest possible"),
    formula=lambda by: (
        "shannon_entropy@k = - sum over items of p log p; p: share of all places down to k"
        + _OVER[by["normalised"]]
    ).replace(" log ", _LOG[by["unit"]][0]),
    latex=lambda by: _SHANNON[by["normalised"]].replace(r"\log ", _LOG[by["unit"]][1]),
    needs=lambda by: ("catalogue",) * (by["normalised"] == "catalogue"),
    within_one=lambda by: by["normalised"] in get_args(Over),
)
def shannon_entropy(
    exposure: Any,
    *,
    unit: Literal["nats", "bits"] = "nats",
    normalised: Literal["catalogue", "recommended", "recbole"] | None = None,
) -> Floats:
    """Normalised by the logarithm of the number of items, 0 where there is one item only.

    RecBole 1.2 divides by the number of listed items; its documented formula does not
    (RUCAIBox/RecBole, pull request 2165).
    """
    sums = exposure.curves
    below = np.ones_like(sums.entropy)
    if normalised == "catalogue":
        below = np.log(below * exposure.n_items)
    elif normalised == "recommended":
        below = np.log(np.maximum(sums.covered, 1))
    else:
        of = sums.covered if normalised == "recbole" else below
        below = of * (np.log(2.0) if unit == "bits" else 1.0)
    return _ratio(sums.entropy, below, sums)


@metric(
    text="one minus the mean overlap of two users' lists",
    formula="personalisation@k = 1 - mean over pairs of users of |both lists down to k| / k",
    latex=r"1 - \binom{n}{2}^{-1} \sum_{u < v} \frac{|L_u^{(k)} \cap L_v^{(k)}|}{k}",
    within_one=True,
    limit=1.0,
)
def personalisation(exposure: Any) -> Floats:
    """Of lists of k items that is one minus the cosine of users' 0/1 rows, as recmetrics has it.

    Here the pairs are counted by item, x (x - 1) / 2 for an item in x lists. NaN for fewer than two
    lists.
    """
    n, sums = exposure.n_users, exposure.curves
    if n < 2:
        return np.full(len(sums.total), np.nan)
    shared = sums.spread - sums.total  # of every pair twice
    overlap: Floats = (shared / (n * (n - 1))).astype(np.float64)
    return np.asarray(1.0 - overlap / exposure.ks[: len(shared)])


def _ratio(above: NDArray[Any], below: NDArray[Any], sums: Any) -> Floats:
    """Return the ratio: 0 for 0 / 0, NaN where nothing is listed."""
    out, some = np.zeros(len(sums.total)), below != 0
    out[some] = above[some] / below[some]
    out[sums.total == 0] = np.nan
    return out


# Of each user: means over the items of the list

_COUNT = "a number, as in {}(unknown=1), is their count"


@metric(
    text="mean item count",
    formula="average_popularity@k = mean of count(i) over the first k items",
    latex=r"\frac{1}{\min(k, n)} \sum_{r \le k} c(i_r)",
)
def average_popularity(lists: Any, counts: Any, *, unknown: declared.Count | None = None) -> Any:
    """RecBole's AveragePopularity, with unknown=0; ARP in Abdollahpouri, Burke, Mobasher 2019."""
    return lists.mean(counts, counts.data, unknown, _COUNT.format("average_popularity"))


@metric(
    text=lambda by: "share of items of the tail, " + _tail(by),
    formula="tail_percentage@k = items of the tail among the first k / number of these items",
    latex=r"\frac{1}{\min(k, n)} \left| \{r \le k : i_r \in T\} \right|",
    within_one=True,
)
def tail_percentage(
    lists: Any,
    counts: Any,
    *,
    share: declared.Share | None = None,
    n_items: declared.Whole | None = None,
    max_count: declared.Count | None = None,
    unknown: Literal["tail", "head"] | None = None,
) -> Any:
    """Of the items in `counts`, the tail is the least popular, or those with at most a count.

    A share of the items, 0.1 where nothing is given, is rounded down, to one at least. Among equal
    counts the smaller id comes first, text of whole numbers by these. (RecBole's TailPercentage
    with unknown=head: its tail_ratio up to 1 is `share`, above 1 `max_count`. APLT in
    Abdollahpouri, Burke, Mobasher 2019.)
    """
    if max_count is not None:
        tail = counts.data <= max_count
    else:
        tail = counts.lowest(0.1 if share is None else share, n_items)
    other = None if unknown is None else float(unknown == "tail")
    return lists.mean(
        *(counts, tail.astype(np.float64), other),
        "tail_percentage(unknown=tail), or =head, counts them",
    )


def _tail(by: Mapping[str, Any]) -> str:
    """Say which items are the tail; ValueError where that is said twice."""
    ways = {
        "share": "the least popular {:g} of all",
        "n_items": "the {:g} least popular",
        "max_count": "those of a count up to {:g}",
    }
    given = [words.format(by[key]) for key, words in ways.items() if by[key] is not None]
    if len(given) > 1:
        raise ValueError("the tail is given twice: by one of share, n_items, max_count")
    return given[0] if given else "the least popular tenth"


@metric(
    text=lambda by: f"mean self-information, in bits, of items by their {_of_all(by)[0]}",
    formula=lambda by: (
        f"novelty@k = mean of -log2(count(i) / {_of_all(by)[1]}) over the first k items"
    ),
    latex=lambda by: (
        r"-\frac{1}{\min(k, n)} \sum_{r \le k} \log_2 \frac{c(i_r)}" + f"{{{_of_all(by)[2]}}}"
    ),
)
def novelty(
    lists: Any,
    counts: Any,
    *,
    total: declared.Positive | None = None,
    unknown: declared.Positive | None = None,
) -> Any:
    """Zhou et al. 2010, "Solving the apparent diversity-accuracy dilemma of recommender systems".

    There total is the number of users, for counts of users; RecTools' MeanInvUserFreq with
    unknown=1 too. An item of count 0 is unknown.
    """
    over = counts.data.sum() if total is None else total
    if not 0 < over < np.inf and len(counts.data):
        raise ValueError(f"total must be a finite number above 0, not {over:g}")
    seen = counts.where(counts.data > 0)
    if (seen.data > over).any():
        below = f"total={over:g} is below a count of {seen.data.max():g}"
        raise ValueError(f"{below}: give what counts are out of, such as the number of users")
    if unknown is not None and unknown > over:
        raise ValueError(f"unknown={unknown:g} is above the total of all counts, {over:g}")
    other = None if unknown is None else float(np.log2(over / unknown))
    way_out = _COUNT.format("novelty") + "; a count of 0 is none"
    return lists.mean(seen, np.log2(over / seen.data), other, way_out)


def _of_all(by: Mapping[str, Any]) -> tuple[str, str, str]:
    """Say what counts are over: in words, and as text and LaTeX in a formula."""
    if by["total"] is None:
        return "share of all counts", "sum of counts", r"\sum_j c(j)"
    total = declared.written(by["total"])
    return f"counts over {total}", total, total


@metric(
    text="how much more popular the list is than the history, as a share of that",
    formula="popularity_lift@k = (mean count of the first k items - that of the history) / that of "
    "the history",
    latex=r"\frac{\bar{c}(L_u^{(k)}) - \bar{c}(H_u)}{\bar{c}(H_u)}",
    whom="with a list and a history",
)
def popularity_lift(
    lists: Any, history: Any, counts: Any, *, unknown: declared.Count | None = None
) -> Any:
    """Abdollahpouri, Mansoury, Burke, Mobasher 2019, "The unfairness of popularity bias".

    There the means are over a group of users first. Without a value: users of whose history all
    counts are 0.
    """
    means = lists.mean(counts, counts.data, unknown, _COUNT.format("popularity_lift"))
    return lists.lift(means, history)


@metric(
    text=lambda by: f"share of the list's exposure that goes to {_labelled(by['label'])}",
    formula="exposure_share@k = sum over items of the label of 1 / log2(r + 1), over that of the "
    "first k items",
    latex=r"\frac{\sum_{r \le k,\, i_r \in g} 1 / \log_2(r + 1)}{\sum_{r \le k} 1 / \log_2(r + 1)}",
    within_one=True,
)
def exposure_share(lists: Any, labels: Any, *, label: str = "") -> Any:
    """Take the exposure of Singh, Joachims 2018, of each user's list by itself.

    An item is shared equally among its labels; what is left to 1 goes to items without a label.
    """
    return lists.mean(labels, labels.data.shares(label), by_rank=True)


@metric(
    text=lambda by: f"share of the user's hits that are {_labelled(by['label'])}",
    formula="hit_share@k = hits of the label among the first k items / all hits among these",
    latex=r"\frac{\left| \{j : r_j \le k, i_{r_j} \in g\} \right|}"
    r"{\left| \{j : r_j \le k\} \right|}",
    within_one=True,
    whom="with a hit",
)
def hit_share(hits: Any, labels: Any, *, label: str = "") -> Any:
    """Beside `exposure_share`, it says whether users choose a label more than it is shown."""
    shares = labels.data.shares(label)
    return hits.share(labels, shares, np.ones_like(shares), "hits")


def _labelled(label: str) -> str:
    return f"items labelled {label!r}" if label else "the items of a label"


# Of each user: what could not be expected


@metric(
    text="share of the list that was not expected",
    formula="unexpectedness@k = items among the first k that are not in the expected list / number "
    "of these items",
    latex=r"\frac{1}{\min(k, n)} \left| \{r \le k : i_r \notin B_u\} \right|",
    within_one=True,
    whom="with a list and an expected one",
)
def unexpectedness(lists: Any, expected: Any) -> Any:
    """Ge, Delgado-Battenfeld, Jannach 2010, of Murakami, Mori, Orihara 2008."""
    return lists.mean(expected, np.arange(2.0))


_OF_PLACES = {
    "k": "share of the k places with a relevant item that was not expected",
    "n": "share of the listed items that are relevant and were not expected",
    "unexpected": "share of the items that were not expected that are relevant",
}
_PLACES = {
    "k": ("k", "k"),
    "n": ("number of these items", r"\min(k, n)"),
    "unexpected": (
        "all among these that are not in it",
        r"\left| \{r \le k : i_r \notin B_u\} \right|",
    ),
}


@metric(
    text=lambda by: _OF_PLACES[by["divisor"]],
    formula=lambda by: (
        "serendipity@k = relevant items among the first k that are not in the expected list / "
        + _PLACES[by["divisor"]][0]
    ),
    latex=lambda by: (
        rf"\frac{{1}}{{{_PLACES[by['divisor']][1]}}} "
        r"\left| \{j : r_j \le k,\, i_{r_j} \notin B_u\} \right|"
    ),
    within_one=True,
    higher_is_better=True,
    whom="with relevant items",
    limit=lambda by: 0.0 if by["divisor"] == "k" else None,
)
def serendipity(hits: Any, expected: Any, *, divisor: Literal["k", "n", "unexpected"] = "k") -> Any:
    """Ge, Delgado-Battenfeld, Jannach 2010: useful and unexpected recommendations.

    Of users who have no expected list, nothing was to be expected; 0 where the divisor is.
    """
    below = np.array([1.0 if divisor == "n" else 0.0, 1.0])
    return hits.share(expected, np.arange(2.0), below, "k" if divisor == "k" else "places")


# Of each user: pairs of items, shares of labels

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


@metric(
    text=lambda by: f"mean of {_APART[by['distance']][1]} over pairs of items",
    formula=lambda by: (
        f"intra_list_diversity@k = mean of {_APART[by['distance']][1].removesuffix(' of labels')}"
        "(i, j) over pairs of the first k items"
    ),
    latex=lambda by: (
        rf"\binom{{\min(k, n)}}{{2}}^{{-1}} \sum_{{q < r \le k}} {_APART[by['distance']][2]}"
    ),
    needs=lambda by: (_APART[by["distance"]][0],),
    within_one=lambda by: by["distance"] == "jaccard" and 0 <= by["single"] <= 1,
)
def intra_list_diversity(
    lists: Any,
    features: Any,
    labels: Any,
    distances: Any,
    *,
    distance: Distance = "cosine",
    single: float = 0.0,
    unknown: Literal["nan"] | None = None,
) -> Any:
    """Smyth, McClave 2001; with cosines, one minus the mean of what Ziegler et al. 2005 add up.

    Of features, one minus the cosine (an item without any feature is like no other), the number
    that differ, or the length of the difference; of labels, one minus Jaccard's index (an item
    without a label is like no other). A list of one item, which has no pairs, has the value
    `single`. With unknown=nan an unknown item makes the value NaN from there on.
    """
    fact = next(one for one in (features, labels, distances) if one is not None)
    return lists.pairs(fact, distance, single, unknown == "nan")


_ALPHA = 0.01
_BY_RANK = {"equal": "", "rank": "; items count 1 / log2(r + 1)"}


@metric(
    text=lambda by: (
        ("KL divergence of" if by["distance"] == "kl" else "Hellinger's distance between")
        + f" the labels of the history and those of the list{_BY_RANK[by['weights']]}: 0 is "
        "calibrated"
    ),
    formula=lambda by: (
        f"calibration@k = {_divergence(**by)[0]}; p, q: shares of a label in the history, in the "
        f"first k items{_BY_RANK[by['weights']]}"
    ),
    latex=lambda by: _divergence(**by)[1],
    within_one=lambda by: by["distance"] != "kl",
    higher_is_better=False,
    whom="with a list and a history",
)
def calibration(
    lists: Any,
    history: Any,
    labels: Any,
    *,
    distance: Literal["kl", "hellinger"] = "kl",
    weights: Literal["equal", "rank"] = "equal",
    alpha: declared.Part = _ALPHA,
) -> Any:
    """Steck 2018, "Calibrated recommendations"; with natural logarithms.

    ``-log(alpha)`` is a list without any label of the history. An item is shared equally among its
    labels; items without a label are left out of p and q.
    """
    return lists.calibration(history, labels, distance == "hellinger", weights == "rank", alpha)


def _divergence(distance: str, alpha: float, **_: Any) -> tuple[str, str]:
    """Return the formula of a distance of two distributions of labels, as text and in LaTeX."""
    if distance != "kl":
        if alpha != _ALPHA:
            raise ValueError(f"alpha={alpha:g} goes with distance=kl: leave it out")
        return "sqrt(1 - sum sqrt(p q))", r"\sqrt{1 - \sum_g \sqrt{p_g q_g}}"
    rest = f"{1 - alpha:g}"
    return (
        f"sum over labels of p log(p / ({rest} q + {alpha:g} p))",
        rf"\sum_g p_g \log \frac{{p_g}}{{{rest}\, q_g + {alpha:g}\, p_g}}",
    )


#: The metrics of the lists themselves by name, each with its defaults. Read-only.
LIST_METRICS: Mapping[str, ListMetric] = MappingProxyType(
    {name: _DECLARED[name].metric({}) for name in get_args(ListMetricName)}
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
