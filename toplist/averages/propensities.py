"""Relevant items that count 1 / p: inverse propensity scoring (IPS, SNIPS), psp@k and psndcg@k.

Popular items are observed more often, so what is relevant is *missing not at random*, and ordinary
metrics reward a popularity bias. Where the propensity p of an item is known, how likely it is
observed where it is relevant, inverse propensity scoring takes that out: a relevant item that was
observed stands for 1 / p of them (*unbiased evaluation*: Schnabel et al. 2016, Yang et al. 2018).
Extreme classification calls it propensity-scored precision (Jain, Prabhu, Varma 2016).

>>> import toplist as tl
>>> ranks = [["hit", "new"], ["new", "hit"], ["hit", "old"]]
>>> truths = [{"hit"}, {"new"}, {"old"}]
>>> p = {"hit": 0.5, "new": 0.1, "old": 0.125}
>>> tl.top_k_eval(ranks, truths, k=[1, 2], metrics=["recall", "mrr"], propensities=p)
                             @1                       @2
recall  0.6000 [0.0000, 1.0000]  1.0000 –
mrr     0.6000 [0.0000, 1.0000]  0.8000 [0.0000, 1.0000]
convention standard, relevant items count 1 / propensity (SNIPS): weighted mean over users
95 % interval, ± half or [low, high]: Student's t (rough: only 2.4 users of equal
  propensity); – where all values are equal
3 relevant items count as much as 2.4 of equal propensity
3 of 3 users evaluated

Give a dict item -> p, a pandas Series, a table of item_id and one column of numbers, or an array
where the ids are 0..n-1; on the command line ``--propensities items.csv:p``. Every relevant item
needs one. With ``tl.Propensities(p, clip=0.01)`` none counts more than 100: some bias, far less
variance. The last line but one is Kish's effective number (Σ w)² / Σ w², and how many were clipped.
``result.hits`` then has these weights as gains, not grades: for other metrics evaluate the lists
again. Files, streams, weights and clusters, segments of users, merging and saving go with it.
Grades, groups, pooled means, ``unjudged="drop"`` and segments of items do not, and are refused.

SNIPS
-----

``tl.Propensities(p, weighting="snips")``, the default, divides by the sum of the weights w = 1 / p,
whose scale then does not matter (self-normalised: Swaminathan, Joachims 2015). With c, what a
metric gives a rank::

    metric@k = sum over users, over hits r_j <= k, of w_j c(r_j)
               / sum over users, over relevant items, of w

- recall, cg: c = 1, the share of all relevant items that is found
- dcg, rbp, own sums over hits: c = 1 / discount(r), DCG per relevant item (Yang et al.)
- hit, mrr, map, ndcg, precision: where no user has several relevant items, as in leave-one-out; the
  mean over users, each with the weight w. With several they are no sums over items, and refused.

So it is a mean over users with the weight ``result.weights``, the sum of w over the relevant items
of each; ``per_user("recall@10")`` is this ratio of one user, and tests are those of weighted means.
Intervals are linearised, with t of Kish's effective number of users (`TopKResult.interval`): where
p falls from 1 to 0.03, 95 % intervals hold in 92 to 95 of 100 samples of 200 users, and in 95 of
100 of 2,000 (``benchmarks/sizes.py``).

IPS
---

``weighting="ips"`` divides by nothing that hangs on what was observed: cg@k is the mean over users
of the sum of w over the hits down to k, precision@k is that over k, dcg@k has w / log2(r + 1). Each
is unbiased for its value if all relevant items had been observed. It needs p itself, not a multiple
of it, and may pass 1. recall and ndcg would need the number of all relevant items: SNIPS has the
sum of w in its place.

Everybody counts who has a list or an observed item, with 0 where nothing was observed: a mean of
those alone of whom something was observed would be too high. A truth in rows has no row of others,
so users who are in the lists only are added after its users, and the account says how many users
are without an observed item; conventions with ``empty="skip"`` of your own and `Hits`, which do not
know these users, are refused. The convention's ``missing`` says what is done with users without a
list. `toplist.compare` takes the users of all systems, with 0 in a system that has no list for one.
In a simulation (500 samples of 300 users with 3 relevant items each, observed with p from 0.6 down
to 0.03) precision@10 is 0.0151 and the mean of the estimates 0.0154 ± 0.0005; over the users with
an observed item alone it was 0.126.

>>> ips = tl.Propensities(p, weighting="ips")
>>> found = tl.top_k_eval(ranks, truths, k=1, metrics="precision", propensities=ips)
>>> found["precision@1"]    # (2 + 10 + 0) / 3
4.0

psp and psndcg
--------------

Ratios of sums over users, in the formulas of pyxclib (``kunaldahiya/pyxclib@5d13086``,
xclib/evaluation/xc_metrics.py), with intervals by the delta method. They are the same under
either weighting; under IPS users without an observed item count, with 0 in both sums. Of these
alone they are NaN::

    psp@k    = sum over users, hits r_j <= k, of w_j / that of the k largest w of each user
    psndcg@k = sum over users of DCG@k / I, over the same of the order by w,
               DCG@k: sum over hits r_j <= k of w_j / log2(r_j + 1),
               I: sum of 1 / log2(i + 1) over i = 1..min(k, R)

>>> p = tl.propensities.of_counts({"hit": 80, "new": 1, "old": 3}, n_users=100)
>>> {item: round(one, 4) for item, one in p.items()}
{'hit': 0.6534, 'new': 0.2171, 'old': 0.2771}
>>> round(tl.top_k_eval(ranks, truths, metrics="psp@1", propensities=p)["psp@1"], 4)
0.6296
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from toplist import kernels
from toplist.checks import Floats, check_positive_int, choice
from toplist.inputs.facts import ItemLabels, values_of
from toplist.inputs.ids import kinds_of, two_kinds
from toplist.inputs.lists import name_user, offsets_of, places_of
from toplist.inputs.options import WEIGHTINGS, Weighting
from toplist.inputs.texts import hashes_of, total_of
from toplist.inputs.truths import STANDARD
from toplist.matching.hits import Hits, above
from toplist.metrics.definitions import Metric
from toplist.metrics.properties import Exposed, needs_one_item

__all__ = ["Propensities", "of_counts"]

NAME = "propensities"
# Sums of squares of the weights 1 / p stay finite from here on.
SMALLEST = 1e-50
ALIKE = "give each relevant item once, as in sets, or a convention.replace(gains={grade: 1, ...})"


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def of_counts(
    counts: Mapping[Any, float], n_users: int, *, a: float = 0.55, b: float = 1.5
) -> dict[Any, float]:
    """Return propensities by how often each item is in the training data (Jain et al. 2016).

        p = 1 / (1 + C (count + b)^-a),  C = (log n - 1) (b + 1)^a

    (pyxclib's compute_inv_propesity is 1 / p.)

    Parameters
    ----------
    counts : dict item -> number, pandas Series, or array
        Users of the training data who have the item; an array's places are the ids 0..n-1. An item
        that nobody has needs its 0.
    n_users : int
        Users of the training data, n; 3 or more.
    a, b : float
        Jain et al.: 0.55 and 1.5; 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Raises
    ------
    TypeError, ValueError
        For other counts, fewer than three users, and a or b that are not positive.

    Examples
    --------
    >>> round(of_counts({"tea": 50, "jam": 0}, n_users=1000)["tea"], 4)
    0.4719
    """
    ids, numbers = values_of(counts, "counts")
    if check_positive_int(n_users, "n_users") < 3:
        raise ValueError(f"n_users={n_users}: log n - 1 must be positive, so give 3 or more")
    if len(numbers) and numbers.max() > n_users:
        item = list(ids)[int(np.argmax(numbers))]
        raise ValueError(f"item {item!r} has {numbers.max():g} users of n_users={n_users}")
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise ValueError(f"a={a!r}, b={b!r}: give positive numbers, such as a=0.55, b=1.5")
    c = (np.log(n_users) - 1) * (b + 1) ** a
    p = 1 / (1 + c * (numbers + b) ** -a)
    return dict(zip(list(ids), p.tolist(), strict=True))


class Propensities:
    """How likely each relevant item was to be observed, and how it is used: see this module.

    Parameters
    ----------
    p : dict item -> p, pandas Series, table of item_id and one column of numbers, or array
        Above 0 and at most 1; an array's places are the ids 0..n-1. Every relevant item needs one.
    weighting : {"snips", "ips"}
        Over the sum of 1 / p; or plain sums of 1 / p, for cg, dcg, precision, where everybody
        counts who has a list, with 0 where nothing was observed.
    clip : float, optional
        Smaller p count as this one, such as 0.01.

    Raises
    ------
    TypeError, ValueError
        For other forms, numbers that are no propensities, ids of two kinds, and other words.

    Examples
    --------
    >>> import toplist as tl
    >>> p = tl.Propensities({"hit": 0.5, "new": 0.001}, clip=0.01)
    >>> p
    Propensities(2 items, weighting='snips', clip=0.01)
    >>> result = tl.top_k_eval([["hit"], ["new"]], [{"hit"}, {"tea"}], 1, propensities={"hit": 0.5,
    ...     "tea": 0.25}, metrics="recall")
    >>> round(result["recall@1"], 4)
    0.3333
    """

    def __init__(
        self, p: Any, *, weighting: Weighting = "snips", clip: float | None = None
    ) -> None:
        choice("weighting", weighting, WEIGHTINGS)
        if clip is not None and not (isinstance(clip, (int, float)) and SMALLEST <= clip <= 1):
            raise ValueError(f"clip={clip!r}: give the least p that counts as it is, such as 0.01")
        ids, numbers = values_of(p, NAME, probabilities=SMALLEST)
        ids = list(range(len(ids))) if isinstance(ids, np.ndarray) else ids
        if not ids:
            raise ValueError(f"{NAME}= is empty: give {{item: p}}")
        self.weighting: Weighting = weighting
        self.clip = clip
        self.p = numbers if clip is None else np.maximum(numbers, clip)
        self._clipped = numbers < self.p
        self.digest = f"{total_of(hashes_of(ids), numbers):x}"
        self._items = ItemLabels(ids, np.empty(0, np.int64), np.empty(0, np.int64), (), None)
        kinds_of(ids, NAME)

    @classmethod
    def of(cls, given: Any) -> Propensities:
        """Return propensities as they are; a dict, Series, table or array with the usual words."""
        return given if isinstance(given, cls) else cls(given)

    def __repr__(self) -> str:
        """Return how many items, and how they are used."""
        clip = "" if self.clip is None else f", clip={self.clip!r}"
        return f"Propensities({len(self.p):,} items, weighting={self.weighting!r}{clip})"

    def weigh(self, hits: Hits, metrics: Sequence[Metric]) -> tuple[Hits, Floats | None, Exposed]:
        """Return hits with the weights as gains, the weights of users, and the numbers of both.

        Under SNIPS the gains of a user add up to 1, and the user's weight is the sum of 1 / p:
        every sum over users is that of 1 / p, and with one relevant item all gains are 1.
        """
        if hits.graded or hits.unjudged == "drop":
            raise ValueError(f"{NAME}= does not go with grades other than 1: {ALIKE}")
        several = np.flatnonzero(hits.n_relevant > 1)
        lost = [one.name for one in metrics if needs_one_item(one)]
        if self.weighting == "snips" and len(several) and lost:
            user = name_user(hits.users, int(several[0]))
            raise ValueError(
                f"{lost[0]} has no SNIPS estimate where a user has several relevant items, as "
                f"{user}: give standard recall, dcg, psp or psndcg"
            )
        items = hits.items
        if items is None:
            raise ValueError(
                f"{NAME}= needs ground truths of single items: groups, and Hits made by hand, do "
                "not know them; for one held-out item of each user give weights={user: 1 / p}"
            )
        entry_of, (starts, sizes) = items.entries(self._items), items.starts()
        rows = np.arange(len(items.offsets) - 1) if items.rows is None else items.rows
        own, whose = places_of(items.offsets, rows), np.repeat(np.arange(len(hits)), sizes)
        places = np.repeat(starts, np.diff(hits.offsets)) + items.places
        relevant, kept = items.distinct()[own], np.ones(len(hits.ranks), bool)
        if hits.listed_only:  # of users without a list all
            relevant &= np.isin(own, places) | (hits.n_listed == 0)[whose]
        if hits.grades is not None:
            least = hits.grading.relevant_from
            relevant &= above(items.grades()[own], least)
            kept = above(hits.grades, least)
        own, whose = own[relevant], whose[relevant]
        unknown = np.flatnonzero(entry_of[own] < 0)
        if len(unknown):
            known, item = self._items.ids[0], items.at(int(own[unknown[0]]))
            if isinstance(known, str) != isinstance(item, str):
                sides = f"{known!r} in {NAME}", f"{item!r} in ground_truths"
                raise two_kinds("ids", *sides, f"convert the items of {NAME}")
            user = name_user(hits.users, int(whose[unknown[0]]))
            raise ValueError(
                f"{NAME}= lacks item {item!r}, relevant to {user}: add {{{item!r}: p}}"
            )
        places = places[kept]
        weights = 1 / self.p[entry_of[own]]
        order = np.lexsort((-weights, whose))  # so that sums do not hang on the order of items
        ideal, whose = weights[order], whose[order]
        total: Floats = np.bincount(whose, ideal, len(hits)).astype(np.float64)
        grades, of_users = 1 / self.p[entry_of[places]], None
        clipped = int(self._clipped[entry_of[own]].sum())
        exposed = Exposed(len(own), clipped, float(ideal.sum()), float(ideal @ ideal))
        offsets = offsets_of(kept)[hits.offsets]
        if self.weighting == "snips":
            of_users = total
            grades = grades / np.repeat(total, np.diff(offsets))
            ideal = ideal / total[whose]
        about = hits.about
        hashes = None if about.truth_hashes is None else about.truth_hashes.copy()
        if hashes is not None:  # others where the propensities are others
            kernels.hashing.mix_in(total.view(np.uint64), hashes)
        alike = bool(np.all(ideal == 1))
        found = hits.of_part(
            offsets=offsets,
            ranks=hits.ranks[kept],
            n_truth=np.bincount(whose, minlength=len(hits)),
            grades=None if alike else grades,
            truth_grades=None if alike else ideal,
            grading=STANDARD,
            items=None,
            truth_hashes=hashes,
            judged_hashes=None,
        )
        return found, of_users, exposed
