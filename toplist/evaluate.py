"""`top_k_eval`: from lists to means at every k, and who is averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist import population
from toplist.checks import choice, whole
from toplist.conventions import CONVENTIONS, EMPTY, MISSING, Convention
from toplist.flat import name_user
from toplist.grades import Grading
from toplist.hits import Hits
from toplist.matching import DUPLICATES, joined
from toplist.metrics import Metric
from toplist.results import TopKResult
from toplist.spelling import parse
from toplist.terms import Entry, Terms

AGGREGATES = ("mean", "pooled")
DEFAULT = ("hit", "precision", "recall", "map", "ndcg", "mrr")


def top_k_eval(
    ranks: Any,
    ground_truths: Any = None,
    k: int | Iterable[int] | None = None,
    *,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    convention: str = "standard",
    weights: Any = None,
    aggregate: str | None = None,
    empty: str | None = None,
    missing: str | None = None,
    duplicates: str = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: str = "linear",
    columns: Mapping[str, str] | None = None,
    n_threads: int | None = None,
) -> TopKResult:
    """Evaluate ranked lists against ground truths: means over users, at every k at once.

    Parameters
    ----------
    ranks : ranked lists of ids, or Hits
        One user's list, a list of lists, a dict user -> list, a 2-D array of ids, `Lists`, a
        pandas, polars or pyarrow table; or the `Hits` of an earlier `match`, alone. See
        `toplist.match` for every form.
    ground_truths : relevant ids of the same users
        Sets, lists, or one bare id per user, in the same form.
    k : int or several ints
        Cut-offs. Omitted when every metric carries its own (``"ndcg@10"``).
    metrics : names or Metric objects
        Names of `METRICS`: ``"ndcg"``, ``"ndcg@10"``, ``"rbp(p=0.5)"``, or a `Metric` of your own.
    convention : str
        A name in `CONVENTIONS`: whose divisors and policies.
    weights : (n_users,) numbers or dict user -> number, optional
        How much each user counts, 0 or more: means are Σwx / Σw.
    aggregate : {"mean", "pooled"}, optional
        The mean of the users' values; or the ratio of sums, Σ numerators / Σ divisors over
        users, which has no std. Default: the convention's.
    empty : {"skip", "zero", "raise"}, optional
        Users with an empty ground truth: left out of the mean (NaN per user), or 0. Default: the
        convention's.
    missing : {"zero", "skip", "raise"}, optional
        Users with a ground truth but no list: 0, or left out. Default: the convention's.
    duplicates : {"raise", "first"}
        An item twice in one list: refused, or later copies earn nothing and keep their place.
    padding : id, optional
        An id that fills rectangular arrays, dropped from the ends.
    relevant_from : float, optional
        Where the ground truth has grades: an item is relevant from this grade on; default above 0.
    gains : {"linear", "exponential"}
        Where the ground truth has grades: a hit is worth its grade, or 2^grade - 1, in cg, dcg
        and ndcg.
    columns : mapping, optional
        Of tables: their own names of user_id, item_id, rank, score and relevance.
    n_threads : int, optional
        Default: the CPUs this process may use. Means are the same bits for any number.

    Returns
    -------
    TopKResult
        A table when printed. Unpacks into one value per metric; ``["ndcg@3"]`` is a mean,
        ``["ndcg"]`` the curve over k, ``.per_user(...)`` the users' values.

    Raises
    ------
    TypeError, ValueError
        As `toplist.match`; and for an unknown metric, convention or option, k given twice or not
        at all, or a k deeper than the `Hits` were read to.

    Examples
    --------
    >>> ranks = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
    >>> truths = [{7, 3, 5}, {4, 2, 8, 7}]
    >>> hit, precision, recall, map_, ndcg, mrr = top_k_eval(ranks, truths, k=3)
    >>> round(map_, 4), round(ndcg, 4)
    (0.6111, 0.7346)
    >>> top_k_eval(ranks, truths, k=[1, 3, 5], metrics=["recall", "map"])
                         @1              @3              @5
    recall  0.2917 ±0.0817  0.5833 ±0.1633  0.7500 ±0.4900
    map     1.0000 ±0.0000  0.6111 ±0.1089  0.6417 ±0.4410
    convention standard: mean over users, ± half of the 95 % interval
    2 of 2 users evaluated
    """
    rules = rules_of(convention, empty, missing)
    entries = entries_of(metrics, k, rules)
    depth = max(k for entry in entries for k in entry.ks)
    options = Joining(duplicates, padding, relevant_from, gains, columns, n_threads)
    hits, _ = hits_of(ranks, ground_truths, depth, options)
    counted = counted_users(hits, rules)
    pooled = _pooled(entries, rules, aggregate)
    terms = Terms(
        entries, rules.name, rules.empty, rules.missing, hits.grading, pooled, weights is not None
    )
    worth = None if weights is None else _weights(weights, hits)
    histograms = population.count(
        hits,
        counted,
        tuple(terms.metrics.values()),
        depth,
        pooled=pooled,
        weights=worth,
        n_threads=n_threads,
    )
    n_missing = int(np.sum((hits.n_relevant > 0) & (hits.n_listed == 0)))
    return TopKResult(terms, histograms, hits, counted, len(hits), n_missing, hits.n_extra)


def _pooled(
    entries: tuple[Entry, ...], rules: Convention, aggregate: str | None
) -> tuple[str, ...]:
    """Return the names of the metrics that are ratios of sums over users."""
    names = dict.fromkeys(entry.metric.name for entry in entries)
    if aggregate is None:
        return tuple(name for name in names if name in rules.pooled)
    choice("aggregate", aggregate, AGGREGATES)
    return tuple(names) if aggregate == "pooled" else ()


def _weights(weights: Any, hits: Hits) -> NDArray[np.float64]:
    """Return one weight per row."""
    if isinstance(weights, Mapping):
        users = range(len(hits)) if hits.users is None else hits.users
        absent = [user for user in users if user not in weights]
        if absent:
            raise ValueError(f"weights has no entry for user {absent[0]!r} ({len(absent):,} such)")
        weights = [weights[user] for user in users]
    try:
        found = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise ValueError("weights must be numbers, one per user") from None
    if found.shape != (len(hits),):
        raise ValueError(f"weights has shape {found.shape}: one per user is needed, {len(hits)}")
    bad = np.flatnonzero(~((found >= 0) & (found < np.inf)))
    if len(bad):
        raise ValueError(
            f"{name_user(hits.users, int(bad[0]))} has weight {found[bad[0]]}: 0 or more is needed"
        )
    return found


class Joining(NamedTuple):
    """How lists are joined with ground truths, in the order of the public keywords."""

    duplicates: str = "raise"
    padding: Any = None
    relevant_from: float | None = None
    gains: str = "linear"
    columns: Mapping[str, str] | None = None
    n_threads: int | None = None


def hits_of(ranks: Any, truths: Any, depth: int | None, options: Joining) -> tuple[Hits, bool]:
    """Return the hits down to `depth`, and whether one user was given bare."""
    if not isinstance(ranks, Hits):
        grading = Grading(options.relevant_from, options.gains)
        choice("duplicates", options.duplicates, DUPLICATES)
        duplicates, padding, _, _, columns, n_threads = options
        return joined(ranks, truths, depth, padding, grading, columns, duplicates, n_threads)
    if truths is not None:
        raise TypeError("ranks is a Hits, joined already: it takes no ground_truths")
    given = [
        name
        for name, value in options._asdict().items()
        if name != "n_threads" and value != Joining._field_defaults[name]
    ]
    if given:
        raise TypeError(f"ranks is a Hits, joined already: give {', '.join(given)} to match()")
    if depth is not None and depth > ranks.k:
        raise ValueError(
            f"k={depth} is deeper than the lists of this Hits were read, k={ranks.k}: "
            f"match(..., k={depth}) reads deeper"
        )
    return ranks, False


def rules_of(convention: str, empty: str | None, missing: str | None) -> Convention:
    """Return the convention, with the caller's policies in place of its own."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention {convention!r}: choose from {', '.join(CONVENTIONS)}")
    rules = CONVENTIONS[convention]
    rules = replace(
        rules,
        empty=rules.empty if empty is None else empty,
        missing=rules.missing if missing is None else missing,
    )
    choice("empty", rules.empty, EMPTY)
    choice("missing", rules.missing, MISSING)
    return rules


def entries_of(
    metrics: str | Metric | Iterable[str | Metric],
    k: int | Iterable[int] | None,
    rules: Convention,
) -> tuple[Entry, ...]:
    """Read what was asked for into entries, each with its k's."""
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise ValueError(f"metrics={metrics!r}: give names, or Metric objects")
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not asked:
        raise ValueError("metrics is empty: name at least one")
    ks = _cut_offs(k)
    scalar = not isinstance(k, Iterable)
    entries = []
    for spec in asked:
        metric, own = parse(spec, rules)
        if own is None and not ks:
            raise ValueError(f"k is missing: give k=10, or metrics such as '{metric.name}@10'")
        if own is not None and ks:
            raise ValueError(f"k is given twice: by k={k!r} and by the metric {spec!r}")
        entries.append(Entry(metric, (own,) if own else ks, scalar))
    _refuse_twins(entries)
    return tuple(entries)


def _cut_offs(k: int | Iterable[int] | None) -> tuple[int, ...]:
    if k is None:
        return ()
    ks = tuple(whole(one, "k") for one in (k if isinstance(k, Iterable) else [k]))
    if len(set(ks)) < len(ks):
        raise ValueError(f"k={list(ks)} holds a cut-off twice")
    if not ks:
        raise ValueError("k is empty: give at least one cut-off")
    return ks


def _refuse_twins(entries: list[Entry]) -> None:
    seen: dict[str, Entry] = {}
    for entry in entries:
        for name in (entry.metric.name, *(f"{entry.metric.name}@{k}" for k in entry.ks)):
            other = seen.setdefault(name, entry)
            if other is not entry and (other.metric != entry.metric or "@" in name):
                raise ValueError(
                    f"two metrics are named {name!r}: give one another name, for example with "
                    f"dataclasses.replace(metric, name={entry.metric.name + '_2'!r})"
                )


def counted_users(hits: Hits, rules: Convention) -> NDArray[np.bool_]:
    """Say which users are in the means; raise where a policy is to raise."""
    empty = hits.n_relevant == 0
    _refuse_users(hits, rules.empty == "raise", empty, "an empty ground truth", "empty='skip'")
    missing = (hits.n_listed == 0) & ~empty
    _refuse_users(hits, rules.missing == "raise", missing, "no ranked list", "missing='zero'")
    counted = np.ones(len(hits), bool)
    if rules.empty == "skip":
        counted &= ~empty
    if rules.missing == "skip":  # whatever the truth: trec_eval never sees such a user
        counted &= hits.n_listed > 0
    return counted


def _refuse_users(
    hits: Hits, refuse: bool, these: NDArray[np.bool_], what: str, way_out: str
) -> None:
    if refuse and these.any():
        found = np.flatnonzero(these)
        raise ValueError(
            f"{name_user(hits.users, int(found[0]))} has {what} ({len(found):,} such users); "
            f"{way_out} goes on without raising"
        )
