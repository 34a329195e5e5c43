"""Metrics by the labels of items (genres, providers): calibration, shares of exposure and hits."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from toplist import kernels
from toplist.beyond.indexing import IndexedLists, Indexing, codes_of, read_lists
from toplist.beyond.user_items import UserItems
from toplist.beyond.user_metrics import Fill, OfUser, of_hits
from toplist.checks import Floats, check_positive_int, choice
from toplist.inputs.facts import ItemLabels
from toplist.inputs.items import UNKNOWN, Unknown
from toplist.inputs.options import Joining, Reading
from toplist.matching.hits import Hits
from toplist.matching.match import joined
from toplist.metrics.beyond_accuracy import DIVERGENCES, RANK_WEIGHTS, Divergence, RankWeights


def calibration(
    ranks: Any,
    k: int | None = None,
    *,
    history: Any,
    labels: Any,
    distance: Divergence = "kl",
    weights: RankWeights = "equal",
    alpha: float = 0.01,
    unknown: Unknown = "raise",
    **reading: Unpack[Reading],
) -> Floats:
    """Return how far the labels of each list are from those of the user's history, at every k.

        calibration@k of a user = sum over labels of p log(p / ((1 - alpha) q + alpha p)),
        p: share of the label in the history, q: share in the first k items

    (Steck 2018, "Calibrated recommendations": the Kullback-Leibler divergence, by natural
    logarithms.) 0 is calibrated; ``-log(alpha)`` is a list without any label of the history. An
    item is shared equally among its labels; items without a label are left out of p and q.

    Parameters
    ----------
    ranks, k, **reading
        As in `toplist.beyond.average_popularity`.
    history : dict user -> items, pandas Series, or table
        What each user had before, by key, or by position if the lists are. An item counts as often
        as it is there.
    labels : dict item -> label or list of labels, pandas Series, or table
        A table has item_id and one other column, and a row per item and label. None, NaN and ""
        are no label.
    distance : {"kl", "hellinger"}
        Or Hellinger's distance, ``sqrt(1 - sum of sqrt(p q))``, from 0 to 1, without alpha.
    weights : {"equal", "rank"}
        What the items of a list count: the same, or 1 / log2(rank + 1).
    alpha : float
        How much of p is mixed into q, above 0 and below 1.
    unknown : {"raise", "skip"}
        An item of a list or a history that is not among `labels`: refused, or left out, where
        some are known.

    Returns
    -------
    (K,) or (n_users, K) float64
        A row per user, in the order of the lists; NaN of users without a history that has labels,
        and where nothing labelled is listed.

    Raises
    ------
    TypeError, ValueError
        As `toplist.beyond.exposure`; and for a history of other users, by position where lists are
        by key, or the other way round.

    Examples
    --------
    >>> labels = {"a": ["war"], "b": ["war", "love"], "c": ["love"]}
    >>> history = {"ann": ["a", "c"]}
    >>> calibration({"ann": ["b", "a"]}, history=history, labels=labels).round(4).tolist()
    [[0.0, 0.1405]]
    >>> found = calibration(
    ...     {"ann": ["b", "a"]}, history=history, labels=labels, distance="hellinger"
    ... )
    >>> found.round(4).tolist()
    [[0.0, 0.1846]]
    """
    lists, labels = read_lists(ranks, k, reading), ItemLabels.of(labels)
    own = UserItems.of(history, "history", reading, lists.single)
    found = Calibration(own, labels, unknown, reading, distance, weights, alpha)
    return found.curves(lists, k, reading)


class OfLabels(OfUser):
    """A metric of each user's list by the labels of its items."""

    def __init__(self, labels: ItemLabels, unknown: Unknown) -> None:
        choice("unknown", unknown, UNKNOWN)
        self.labels, code = labels, None if unknown == "raise" else -1
        way_out = "unknown='skip' leaves such items out, None is no label"
        self.items = Indexing(labels.ids, "labels", code, way_out)


class Calibration(OfLabels):
    """The distance of the labels of a list from those of the user's history."""

    def __init__(
        self,
        history: UserItems,
        labels: ItemLabels,
        unknown: Unknown,
        reading: Reading,
        distance: Divergence = "kl",
        weights: RankWeights = "equal",
        alpha: float | str = 0.01,
    ) -> None:
        super().__init__(labels, unknown)
        choice("distance", distance, DIVERGENCES)
        choice("weights", weights, RANK_WEIGHTS)
        self._history, self._distance, self._alpha = history, distance, float(alpha)
        if not 0 < self._alpha < 1:
            raise ValueError(f"alpha must be above 0 and below 1, not {alpha!r}")
        self._by_rank = weights == "rank"
        self._own = codes_of(history.flat, self.items.reading(reading))

    def fills(self, listed: IndexedLists, hits: Hits | None, whole: bool) -> tuple[int, Fill]:
        """Return the number of users, and what writes their curves."""
        rows, labels = self._history.rows(listed, len(listed), whole), self.labels
        ranks = np.arange(1, listed.depth + 1)
        weights = 1 / np.log2(ranks + 1) if self._by_rank else np.ones(len(ranks))
        n_labels, most = len(labels.labels), int(np.diff(labels.offsets).max(initial=0))
        own = self._own, self._history.flat.offsets, labels.offsets, labels.codes, weights
        how = self._alpha, self._distance == "hellinger"
        sizes = n_labels, min(n_labels, most * listed.depth)

        def fill(lo: int, hi: int, out: Floats) -> None:
            lists = *listed.block(lo, hi), rows[lo:hi]
            kernels.labels.calibration(*lists, *own, *how, *sizes, out)

        return len(listed), fill


def exposure_share(
    ranks: Any,
    k: int | None = None,
    *,
    labels: Any,
    unknown: Unknown = "raise",
    **reading: Unpack[Reading],
) -> dict[Any, Floats]:
    """Return the share of each list's exposure that items of each label get, at every k.

        exposure_share@k of a label and a user = sum of 1 / log2(rank + 1) over the items of the
        label among the first k / that sum over all of the first k

    (The exposure of Singh, Joachims 2018, of each user's list by itself, so that a mean over users
    has an interval; `Exposure.ratios` is of all lists.) An item is shared equally among its labels;
    what is left to 1 goes to items without a label.

    Parameters
    ----------
    ranks, k, labels, unknown, **reading
        As in `calibration`.

    Returns
    -------
    dict of label -> (K,) or (n_users, K) float64
        A row per user, in the order of the lists; NaN where nothing is listed.

    Examples
    --------
    >>> found = exposure_share([["a", "b"]], labels={"a": "own", "b": "other"})
    >>> {label: values.round(4).tolist() for label, values in found.items()}
    {'own': [[1.0, 0.6131]], 'other': [[0.0, 0.3869]]}
    """
    lists, labels = read_lists(ranks, k, reading), ItemLabels.of(labels)
    return {
        label: ExposureShare(labels, unknown, label).curves(lists, k, reading)
        for label in labels.labels
    }


class ExposureShare(OfLabels):
    """The share of a list's exposure that items of a label get."""

    def __init__(self, labels: ItemLabels, unknown: Unknown, label: Any) -> None:
        super().__init__(labels, unknown)
        self._values = labels.shares(label)

    def fill(self, listed: IndexedLists, lo: int, hi: int, out: Floats) -> None:
        """Write the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        weights = 1 / np.log2(np.arange(2, listed.depth + 2))
        kernels.labels.weighted_means(*listed.block(lo, hi), self._values, weights, out)


def hit_share(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    *,
    labels: Any,
    unknown: Unknown = "raise",
    **reading: Unpack[Reading],
) -> dict[Any, Floats]:
    """Return the share of each user's hits that are items of each label, at every k.

        hit_share@k of a label and a user = relevant items of the label among the first k /
        relevant items among these

    Beside `exposure_share` it says whether a label (a provider, say) is shown more than users
    choose it. An item is shared equally among its labels.

    Parameters
    ----------
    ranks, ground_truths, k
        As in `toplist.match`.
    labels, unknown, **reading
        As in `calibration`.

    Returns
    -------
    dict of label -> (K,) or (n_users, K) float64
        A row per user of the ground truth, in its order; NaN without a hit.

    Examples
    --------
    >>> labels = {"a": "own", "b": "other", "c": "own"}
    >>> hit_share([["a", "b", "c"]], [{"b", "c"}], labels=labels)["own"].tolist()
    [[nan, 0.0, 0.5]]
    """
    depth = None if k is None else check_positive_int(k, "k")
    hits, single = joined(ranks, ground_truths, depth, Joining(**reading))
    lists, labels = read_lists(ranks, hits.k or None, reading), ItemLabels.of(labels)
    found = {}
    for label in labels.labels:
        out, _ = HitShare(labels, unknown, label).of_all(lists, reading, hits)
        found[label] = out[0] if single else out
    return found


class HitShare(OfLabels):
    """The share of a user's hits that are items of a label."""

    def __init__(self, labels: ItemLabels, unknown: Unknown, label: Any) -> None:
        super().__init__(labels, unknown)
        self._values = labels.shares(label)

    def fills(self, listed: IndexedLists, hits: Hits | None, whole: bool) -> tuple[int, Fill]:
        """Return the number of users of the truth, and what writes their curves."""
        return of_hits(listed, hits, self._values, np.ones_like(self._values), 2)
