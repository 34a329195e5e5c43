"""What an evaluation returns: means, intervals, values per user, segments; merging and saving.

What a result holds
-------------------

>>> import toplist as tl
>>> lists = {"ann": [5, 7, 8], "bob": [4, 6, 2], "cid": [9, 1, 3]}
>>> truth = {"ann": {7, 3}, "bob": {4, 2, 8}, "cid": {5}}
>>> result = tl.top_k_eval(lists, truth, k=[1, 3], metrics=["hit", "ndcg"])
>>> round(result["ndcg@3"], 4), result["ndcg"].round(4)         # a mean; the curve, k = 1..3
(0.3636, array([0.3333, 0.3333, 0.3636]))
>>> [round(one, 4) for one in result.interval("hit@3")]         # 95 %
[0.2077, 0.9385]
>>> result.users, result.per_user("ndcg@3").round(4)
(['ann', 'bob', 'cid'], array([0.3869, 0.7039, 0.    ]))
>>> result.n_evaluated, result.n_skipped, result.n_missing, result.n_extra
(3, 0, 0, 0)

- ``result["ndcg@10"]``, ``result["ndcg"]``, ``.std(name)``, ``.interval(name, 0.95)``: Wilson's
  interval where every value is 0 or 1 by definition, as that of hit; else mean ± t std/√n, cut to
  [0, 1] where the metric cannot leave it; with weights, which may go with the values, the error and
  the degrees of freedom are those of tests of the same values (CR2), and need the users; none is
  printed where all values are equal
- ``.bounds(name)``: the least and the largest mean, whatever the judgements of the listed items
  that nobody judged
- ``.formula(name, style="latex")``: which formula, and by which policies
- ``.to_dict()``, ``.to_pandas()``, ``.to_pandas(per_user=True)``, ``.to_text()``,
  ``.to_markdown()``, ``.to_latex()``, ``.plot()``
- ``hit, ndcg = result``: it unpacks into one value per metric

Metrics that are equal by definition, with their intervals, share a row in print, in leave-one-out
``map = mrr``; values that happen to agree do not. ``.to_text(every_metric=True)`` has a row for
each.

Segments
--------

``result.by(labels)`` splits the users by an attribute: a result for every label, users without one
under None, and the counts add up.

>>> country = {"ann": "fr", "bob": "de"}
>>> {label: part["hit@3"] for label, part in result.by(country).items()}
{'de': 1.0, 'fr': 1.0, None: 0.0}

Rows that are not users
-----------------------

Where rows are sessions, events or queries of users, those of one user are alike, and intervals as
of so many users are too narrow. ``clusters=`` says whose each row is; the means stay as they are,
and intervals, tests and power go by the clusters (CR2, with Satterthwaite's degrees of freedom; see
`TopKResult.interval`). Keys of rows may be tuples: of a table with
``columns={"user_id": ["user", "time"]}``, where ``clusters="user"`` names a part of them. ``unit=``
is what rows are called in print.

>>> rows = {("ann", 1): [5, 7], ("ann", 2): [7, 8], ("bob", 1): [4, 2], ("cid", 1): [1, 9]}
>>> wanted = {("ann", 1): 7, ("ann", 2): 7, ("bob", 1): 3, ("cid", 1): 1}
>>> users = {row: row[0] for row in rows}
>>> of_users = tl.top_k_eval(
...     tl.Ranks(rows, unit="sessions"), wanted, k=2, metrics="mrr", clusters=users
... )
>>> of_users["mrr@2"], of_users.n_evaluated, of_users.n_clusters, of_users.clusters
(0.625, 4, 3, ['ann', 'ann', 'bob', 'cid'])
>>> str(of_users).splitlines()[-1]
'4 of 4 sessions evaluated, of 3 clusters'

Slices of items
---------------

``result.by_item(labels)`` splits the relevant items, after the evaluation: only tail items, cold
ones, a category. The ground truth of a slice are the relevant items of its label; lists and ranks
stay as they are. R and nDCG's ideal are of the slice, precision is its share of the k places, and
users without a relevant item of the slice are not in it. Items without a label are the slice None;
ordered categories keep their order. (`judged`, `bpref` and the metrics of the lists do not split.)

>>> shelf = {7: "head", 3: "head", 4: "tail", 2: "tail", 8: "tail"}
>>> slices = result.by_item(shelf)
>>> {label: (part.n_users, part["hit@3"]) for label, part in slices.items()}
{'head': (1, 1.0), 'tail': (1, 1.0), None: (1, 0.0)}

An item is in one slice. Where items have several labels, look at one after another:
``result.by_item({item: "jazz" in found for item, found in genres.items()})``.
``tl.compare({...}).by_item(labels)`` tests the systems in every slice, ``.plot("ndcg@10")`` draws
either.

Saving
------

``result.save("base.npz")`` keeps a result with its users: a baseline for tests of months later,
``tl.compare({"base": tl.TopKResult.load("base.npz"), "new": result}).test()``, on the command line
``toplist eval recs.csv truth.csv --save base.npz`` and ``toplist compare base.npz new.csv
truth.csv``. What is loaded is the same to the last bit. The file is numpy's npz, without pickle: no
file from elsewhere can run code, and one that is damaged or was changed is refused. Files of 0.4
are read by all of 0.x. ``result.without_users().save(path)`` keeps no user; ``result.to_json()`` is
for readers, and not read back.

Merging
-------

Results over different users merge, ``a + b``, or ``tl.merge(parts)`` for many, and travel between
processes by pickle, or as files, where metrics of the lists have the values of users at the k's
asked for; ``without_users()`` they are some kilobytes, however many users they hold. A user with a
key is in one part only, or refused; of users by position, parts with the same ground truths (five
seeds of one model) are refused, unless ``disjoint=True`` says that they are other users. Without
grades, weights and pooling the means of metrics of hits are the same bits as those of the whole;
others (novelty and popularity among them) may differ in the last digit. Merging trusts that both
parts were given the same `counts` and `features`.

>>> parts = [tl.top_k_eval({u: lists[u]}, {u: truth[u]}, 3, metrics=["ndcg"]) for u in lists]
>>> tl.merge(parts)["ndcg@3"] == result["ndcg@3"]
True
"""
