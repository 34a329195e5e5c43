"""Metrics of the lists themselves, beyond accuracy: what is shown, to how many, and how alike.

Each has a name, as metrics of hits do, and its choices stand in the name: ``toplist.curves`` gives
its values at every k, and `toplist.top_k_eval` means with intervals, segments (``result.by``),
tests (`toplist.compare`), merging and saving. What is known of the items is given as
`toplist.Items`.

Choices
-------

Libraries disagree here more than anywhere (Gini of the same lists: .342, .610, .289), so every
choice is a named parameter:

>>> import toplist as tl
>>> lists = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
>>> tl.curves("item_coverage", lists, items=tl.Items(catalogue=8))     # k = 1, 2, 3
array([0.5  , 0.75 , 0.875])
>>> seen = tl.beyond.exposure(lists, catalogue=8)       # counted once; parts merge, a + b
>>> tl.curves("gini", seen).round(4)                    # over the catalogue, divided by n
array([0.575 , 0.425 , 0.3417])
>>> tl.curves("gini(over=recommended, divisor=n-1)", seen).round(4)
array([0.2   , 0.28  , 0.2889])
>>> tl.curves("shannon_entropy(unit=bits)", lists).round(4)
array([1.9219, 2.4464, 2.6566])
>>> trained = tl.Items(counts={1: 9, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5})    # in the training data
>>> tl.curves("average_popularity(unknown=0)", lists, items=trained)[0]        # of each user
array([4., 2., 2.])

Of all lists together, an array (K,):

- `item_coverage`: needs a catalogue
- `gini`: needs a catalogue, or ``over=recommended``; ``divisor=n``, ``n-1``; 0 of one item
- `shannon_entropy`: ``unit=nats``, ``bits``; ``normalised=catalogue``, ``recommended``, or
  ``recbole``: divided by the number of listed items, as RecBole 1.2 does; 0 of one item
- `personalisation`

Of each user, (n_users, K), in the order of the lists, or of the truth where there is one:

- `average_popularity`: needs counts; ``unknown=`` a count of unknown items
- `tail_percentage`: needs counts; the tail by ``share=`` (0.1, rounded down to whole items, to one
  at least), ``n_items=`` or ``max_count=``, of equal counts the smaller ids; ``unknown=tail``,
  ``head``
- `novelty`: needs counts; ``total=``: shares of all interactions, or of users; ``unknown=`` a count
- `popularity_lift`: needs a history and counts; ``unknown=`` a count
- `intra_list_diversity`: needs features (``distance=cosine``, ``hamming``, ``euclidean``),
  labels (``jaccard``) or distances (``given``); ``single=`` the value of a list of one item (0);
  ``unknown=nan``
- `calibration`: needs a history and labels; ``distance=kl``, ``hellinger``; ``weights=rank``;
  ``alpha=``
- `unexpectedness`, `serendipity`: need an expected list (and the truth); ``divisor=k``, ``n``,
  ``unexpected``
- `exposure_share`, `hit_share` (needs the truth): ``label=``; in `toplist.top_k_eval` without it of
  each label

``toplist metrics "novelty(total=500)"`` says what one of them is. Of groups of items, of all lists
together: `Exposure.ratios`. Of two systems, for each user: `overlap` and `rbo`.

A catalogue is a number of items (ids 0..n-1) or their ids. A listed id that is not in it, or has no
count or features, is an error that names user, item and rank; ``toplist.Items(unknown="skip")``
leaves such places out, and ``unknown=`` in a name says what else to do. Exposures over one stated
catalogue add up exactly; coverage, Gini and entropy do not, so merge exposures, not values. A
database may have counted how many items are in how many lists: `Exposure.from_counts`.

How alike are two systems, and whom do they show?
-------------------------------------------------

>>> old, new = {"ann": [1, 2, 3], "bob": [4, 5, 6]}, {"bob": [4, 6, 7], "ann": [1, 2, 3]}
>>> tl.beyond.overlap(old, new, k=3)                    # matched by user
overlap of 2 users: mean 0.8333 at k=3
>>> tl.beyond.rbo(old, new, p=0.9)                      # rank-biased overlap (Webber et al. 2010)
rbo(p=0.9) of 2 users: mean 0.8425 at k=3; the first 3 ranks carry 52 % of the weight
>>> groups = {1: "own", 2: "own", 3: "own", 4: "other", 5: "other", 6: "other", 7: "other"}
>>> ratios = tl.beyond.exposure(new, catalogue=groups).ratios(groups)   # 1 is parity
>>> {group: ratio[-1].round(4).item() for group, ratio in ratios.items()}
{'own': 1.1667, 'other': 0.875}

Does a list fit its user?
-------------------------

A history is what the user had before: a dict user -> items, a Series, a table, or rows by position.
An item may have several labels, which share it equally:

>>> labels = {1: "war", 2: ["war", "love"], 3: "love", 4: "fun", 6: None, 7: "fun"}
>>> history = {"ann": [1, 1, 3], "bob": [4, 7]}
>>> fits = tl.Items(history=history, labels=labels)
>>> tl.curves("calibration", new, items=fits).round(4)     # Steck (2018)
array([[0.    , 0.    , 0.    ],
       [1.267 , 0.017 , 0.0555]])

In an evaluation
----------------

They are of all lists, also of users without a ground truth, and so are tests; only serendipity and
hit_share read it, and are over its users. An empty list is no list.

>>> chosen = [{5}, {2}, {9}, {1, 6}, {4}]
>>> items = tl.Items(catalogue=8, counts=[1, 9, 1, 2, 3, 4, 5, 1])
>>> tl.top_k_eval(lists, chosen, [1, 3], metrics=["ndcg", "item_coverage", "novelty"], items=items)
                                    @1                       @3
ndcg           0.4000 [0.0000, 1.0000]  0.4839 [0.0000, 1.0000]
item_coverage  0.5000                   0.8750
novelty        2.9495 ±1.4199           3.3897 ±0.7350
convention standard: mean over users
95 % interval, ± half or [low, high]: Student's t (rough: only 5 users)
item_coverage: share of the catalogue that is listed; of all 5 lists together
novelty: mean self-information, in bits, of items by their share of all counts; mean over 5 users \
with a list
5 of 5 users evaluated

Who is shown, and who is chosen? Shares of each provider, as means over users, beside its share of
the catalogue (`Exposure.ratios` is of all lists together):

>>> providers = {item: "own" if item < 4 else "other" for item in range(8)}
>>> shares = ["exposure_share", "hit_share"]
>>> fair = tl.top_k_eval(lists, chosen, k=3, metrics=shares, items=tl.Items(labels=providers))
>>> {name: round(value, 4) for name, value in fair.to_dict().items()}
{'exposure_share(label=own)@3': 0.4, 'exposure_share(label=other)@3': 0.6,
 'hit_share(label=own)@3': 0.5, 'hit_share(label=other)@3': 0.5}
>>> fair.n_of("hit_share(label=own)@3")                 # users with a hit
3
"""

from typing import NoReturn

from toplist.beyond.agreement import Agreement, overlap, rbo
from toplist.beyond.exposure import Exposure, exposure
from toplist.checks import no_attribute

__all__ = ["Agreement", "Exposure", "exposure", "overlap", "rbo"]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError; for a name of 0.3 it says what to write instead."""
    raise no_attribute("toplist.beyond", name)
