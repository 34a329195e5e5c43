"""Splits of a log, baselines, ranks of the held-out item, sampled candidates.

From a log to a result
----------------------

A log is a table of pandas, polars or pyarrow, a dict or tuple of columns, or a CSV, TSV or Parquet
file, in any order of rows; the parts are of its kind, with all its columns:

>>> import toplist as tl
>>> users, items = ["ann", "ann", "ann", "bob", "bob"], ["tea", "jam", "fig", "jam", "tea"]
>>> log = users + ["joe"], items + ["fig"], [1, 2, 2, 1, 2, 1]      # users, items, times
>>> split = leave_one_out(log)                          # by="last", or "random", or "basket"
>>> lists = {user: ["tea", "fig", "jam"] for user in split.truths()}    # your model on split.train
>>> result = tl.top_k_eval(lists, split.truths(), k=[1, 3])
>>> split.report
leave one out: the last by time (ties in random order, seed 0; of repeats the first is kept)
6 rows of 3 users and 3 items
train: 4 rows of 3 users; test: 2 rows of 2 users
1 user without a test row: too few interactions (min_history=1; all in train)
1 user (33.3 %) with several items at their newest timestamp

A basket has one timestamp (that of 92.4 % of the users of the UCI Online Retail log is shared by
several items), so time alone does not say which item is the last. Such rows are put in random order
by a hash of seed, user and item, which depends neither on the order of rows nor on whether ids are
integers or their text. Of a user's repeated choices of an item the first is kept (``repeats=``);
users with too little history stay in training (``min_history=``, ``short=``); a missing timestamp
is an error. ``validation=`` adds a part, ``k_core=5`` first leaves out rare users and items. On the
command line: ``toplist split LOG --out DIR``. `toplist.audit.check` looks for leaks and lost users
afterwards.

Which split for which question
------------------------------

- What does a known user choose next? ``leave_one_out(log)``; of several choices each,
  ``holdout(log, last=5)``, or a share of every user's rows, ``holdout(log, 0.2)``. All three train
  on the future of other users: the report counts such rows.
- How good would it have been in use? ``holdout(log, time="2011-11-01")``, or again and again,
  ``windows(log, "7d")``: nothing leaks from the future, and new users and items are among the test,
  counted. The results of the windows are runs of `toplist.compare`.
- How good is it for users it was not trained on (strong generalisation)?
  ``held_out_users(log, 0.1)``: the model is given their earlier rows, ``split.history``, only to
  predict.

A first comparison is with `popular` and `random`, which list items of the training part, of each
user the unseen ones:

>>> popular(split.train, 2, users=split.truths())
{'ann': ['fig'], 'bob': ['fig', 'tea']}

Ranks of the held-out item
--------------------------

With one relevant item per user hit = recall, map = mrr and precision = hit / k, bit for bit, and
its rank is all there is to know. `ranks_of` gives it from lists, or from scores without sorting
them (ties as in `toplist.scores.top_k`, best, worst, or average); the figures are the same bits.
For an array of scores, a split gives its rows and columns: ``users, items, held_out, seen =
split.columns()``.

>>> import numpy as np
>>> scores = np.array([[0.9, 0.1, 0.8, 0.3], [0.2, 0.2, 0.9, 0.1]])     # users x items
>>> ranks = ranks_of(scores, [2, 1], exclude=[{0}, set()])
>>> ranks
array([1, 2])
>>> tl.top_k_eval(tl.Hits.from_ranks(ranks, n_listed=4), k=2, metrics=["hit", "mrr"]).to_dict()
{'hit@2': 1.0, 'mrr@2': 0.75}

How many users have the held-out item at each rank, 0 for none, is enough, and a database counts it:

>>> from_rank_counts({1: 2_000_000_000, 2: 500_000_000, 0: 1_500_000_000}, k=10)["mrr@10"]
0.5625

Sampled candidates
------------------

Ranking the held-out item among 100 drawn items is cheap, and another metric: rank 10 of the sample
corresponds to about rank 816 of 9,066 items, and systems may change places (Krichene and Rendle,
KDD 2020). ``sampled_ranks(scores, held_out, n=100, exclude=seen).evaluate(k=10)`` does it, draws
nothing a user has, and marks the result as sampled wherever it is shown; a user's draw follows from
seed and user alone. `corrected` is the paper's bias-variance estimator (gamma = 0.1). On
ml-latest-small at k = 10, over five seeds (``python benchmarks/leave_one_out.py``), hit is 0.0477
among all items, 0.5463 among the sample and 0.0251 corrected for popularity, and 0.0581, 0.6483 and
0.0440 for item-kNN: the corrections are better by far, and still off by a quarter to a half. Rank
all items if you can.
"""

from typing import NoReturn

from toplist.checks import no_attribute
from toplist.loo.parts import Columns, Core, Report, Split
from toplist.loo.ranks import from_rank_counts, ranks_of
from toplist.loo.sampling import (
    Estimate,
    SampledRanks,
    corrected,
    negatives,
    popular,
    random,
    sampled_ranks,
)
from toplist.loo.split import Windows, held_out_users, holdout, leave_one_out, windows
from toplist.results.terms import Sampled, SampledMetricsWarning

__all__ = [
    "Columns",
    "Core",
    "Estimate",
    "Report",
    "Sampled",
    "SampledMetricsWarning",
    "SampledRanks",
    "Split",
    "Windows",
    "corrected",
    "from_rank_counts",
    "held_out_users",
    "holdout",
    "leave_one_out",
    "negatives",
    "popular",
    "random",
    "ranks_of",
    "sampled_ranks",
    "windows",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError; for a name of 0.3 it says what to write instead."""
    raise no_attribute("toplist.loo", name)
