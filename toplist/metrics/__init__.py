"""Which formula: metrics as data, the conventions of other libraries, a metric of your own.

Three choices
-------------

With the hits j = 1..h of a user at ranks r_1 < r_2 < ..., R relevant items and a list of n::

    metric@k = ( sum over r_j <= k of count(j) * gain_j / discount(r_j) ) / divisor(k, R, n)

======================  ==========================  ===============================  =============
metric                  counts                      discount at rank r               divisor
======================  ==========================  ===============================  =============
`hit`                   first                       1                                1
`precision`             each                        1                                k
`recall`                each                        1                                R
`map` (AP of a user)    nth                         r                                min(k, R)
`ndcg`                  each                        log2(r + 1)                      ideal list
`mrr` (RR of a user)    first                       r                                1
`dcg`                   each                        log2(r + 1)                      1
`cg`                    each                        1                                1
`f1`                    each                        1                                (k + R) / 2
`r_precision`           each hit within rank R      1                                R
`judged`                each judged, 0 or below     1                                min(k, n)
`rbp`, p = 0.8          each                        1 / ((1 - p) p^(r - 1))          1
`complete`              the R-th                    1                                1
`err`                   p_j (1 - p_i) of i < j      r                                1
`nerr`                  p_j (1 - p_i) of i < j      r                                ideal list
`bpref`, no k           1 - judged misses above     1                                R
`iprec`, recall = 0.1   rise of the best precision  1                                1
`group_recall`          each group, once            1                                groups
`alpha_ndcg`, alpha=.5  each                        log2(r + 1)                      greedy list
======================  ==========================  ===============================  =============

*each* hit counts 1, the *nth* hit counts n, only the *first* counts. The divisor of nDCG is the
same sum over an ideal list: ranks 1 to min(k, R). Gains are 1; where the truth has grades (a dict
item -> grade), `cg`, `dcg` and `ndcg` count a hit by its grade, or by 2^grade - 1 with
the convention's gains, or ``replace(gains={1: 1, 2: 4})`` of it. Another p: ``"rbp(p=0.5)"``. Past
the end of a list the places are misses.

In `err` the item of a hit satisfies the user with p = (2^grade - 1) / 2^max; max is the largest
grade of the truths (of what is listed, with ``relevant="listed"``), which the result says, or
``"err(max=4)"``, which Spark needs; files and streams need it without ``keep="users"``. `bpref`
needs judged items that are not relevant, of grade 0 or more; a hit earns 1 - min(b, R) / min(N, R)
with b of these above it, of N. Its key has the length of the longest list, ``"bpref@40"``, and
other metrics get curves of this length too. Items below 0 have no part in it: trec_eval takes them
for unjudged. They are not relevant, gain 0, and count in `judged`. `iprec` is the best precision
from the rank on that has found ``"iprec(recall=0.5)"`` of the R; the eleven points of TREC are 0,
0.1, ..., 1, and `toplist.plots.precision_recall` draws them (recall R is rounded up; under
"trec_eval" it is int(recall R + .9), as there). ``"precision(rel=2)@10"``, and so with every
metric: relevant in this metric from grade 2 on, whatever the others count. Lower grades gain
nothing in it, also in "trec_eval", "mteb" and "elasticsearch", where ``relevant_from=2`` leaves the
gains of nDCG as they are.

Where truths are made of groups (`toplist.Groups`: facts of an answer, hops, near-duplicates), any
id of a group will do. `group_recall` is the share of groups that are found. In `alpha_ndcg` the
gain of a hit is the sum over its groups of (1 - alpha)^m, m times found above, and the ideal takes
the best item that is left, again and again, of equally good ones that with the highest id (as
ndeval does, with which it agrees to 1e-12; as a greedy choice is not always the best, a list may
pass 1). All other metrics read the ids of all groups. Without groups, every relevant item is one.

``result.formula("map@3")`` says which formula a number has, and who else computes it so:

>>> import toplist as tl
>>> ranks, truths = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]], [{7, 3, 5}, {4, 2, 8, 7}]
>>> print(tl.top_k_eval(ranks, truths, k=3).formula("map@3"))
map@k = sum over r_j <= k of j / r_j, divided by min(k,R)
r_j: rank of the user's j-th hit; R: number of relevant items; n: length of the list
convention standard; the same in neurec-cpp, recbole, implicit, spark, sentence-transformers,
replay, transformers4rec
mean over users; users without relevant items are left out; users without a list score 0
2 of 2 users evaluated

Which MAP is this?
------------------

Libraries disagree about the divisor, so that one list has up to five values of "MAP@5". A
*convention* is a name for a set of divisors and policies, and every result says which one it used:

>>> neurec = tl.top_k_eval(ranks, truths, k=3, convention="neurec")
>>> round(tl.top_k_eval(ranks, truths, k=3)["map@3"], 4), round(neurec["map@3"], 4)
(0.6111, 0.3056)

Both are "MAP@3". The well-known NeuRec-style function divides by the sum of min(i, R) over
i = 1..k, so that a perfect list of three scores 0.5. It is kept to reproduce numbers; the default
divides by min(k, R), as most libraries and textbooks do. That map may fall as k grows; trec_eval's,
divided by R, does not: ``tl.map(ranks, truths, convention="trec_eval")``.

What the conventions make of one list of three, seven relevant items, k = 5:

>>> shown = ("precision", "recall", "map", "ndcg")
>>> for name, row in tl.audit.conformance([[1, 2, 3]], [{1, 3, 8, 9, 10, 11, 12}], k=5).items():
...     print(f"{name:23}", *(f"{row[m]:.4f}" if m in row else "   -  " for m in shown))
standard                0.4000 0.2857 0.3333 0.5087
neurec                  0.6667 0.2857 0.2778 0.7039
neurec-cpp              0.4000 0.2857 0.3333 0.5087
rectorch                   -   0.4000    -   0.5087
recbole                 0.4000 0.2857 0.3333 0.5087
sklearn                    -      -      -   0.5087
trec_eval               0.4000 0.2857 0.2381 0.5087
ranx                    0.4000 0.2857 0.2381 0.5087
rectools                0.4000 0.2857 0.2381 0.5087
lenskit                 0.6667 0.4000 0.5556 0.4579
recommenders            0.4000 0.2857 0.2381 0.5087
implicit                0.4000    -   0.3333 0.5087
irspack                 0.6667 0.2857 0.2381 0.7039
spark                   0.4000 0.2857 0.3333 0.5087
llamaindex              0.6667 0.2857 0.2381 0.4123
mlflow                  0.6667 0.2857    -   0.7039
haystack                   -   0.2857 0.2381 0.4123
haystack-2025              -   0.2857 0.8333 0.4123
sentence-transformers   0.4000 0.2857 0.3333 0.5087
mteb                    0.4000 0.2857 0.2381 0.5087
ragas                   0.6667 0.2857    -      -
replay                  0.4000 0.2857 0.3333 0.5087
evidently               0.6667 1.0000 0.8333 0.9197
tf-ranking              0.6667 1.0000 0.8333 0.9197
lightgbm                   -      -   0.8333 0.9197
torchmetrics            0.4000 1.0000 0.8333 0.9197
elliot                  0.4000 0.2857    -   0.5087
recpack                 0.4000 0.2857    -   0.5087
cornac                  0.4000 0.2857    -   0.5087
longmemeval                -      -      -   0.4579
xgboost                 0.6667    -   0.8333 0.9197
catboost                0.6667 1.0000 0.8333 0.9197
autorag                 0.6667 0.2857    -   0.7039
pytorch-metric-learning 0.4000    -   0.2381    -
elasticsearch           0.6667 0.2857    -   0.7039
opensearch              0.6667    -   0.2381 0.5087
quepid                  0.6667    -   0.2381 0.4123
transformers4rec        0.4000 0.2857 0.3333    -
bwhite                  0.4000    -   0.8333 0.8155

All but NeuRec's two were compared on random inputs, mostly 2,000 (`benchmarks/README.md`): with the
library itself, or with the steps of its source (LongMemEval, AutoRAG, Elasticsearch, OpenSearch,
Quepid, Transformers4Rec, bwhite's gist).
`toplist.CONVENTIONS` and ``toplist metrics map --convention lenskit`` give the lines of its source.

- Other names: pyvespa, torch_geometric (PyTorch Geometric's LinkPred metrics) and lightfm are
  "standard", keras-rs and rax "tf-ranking", and kaggle, its mapk, "spark": the same formulas and
  policies, and the result says ``convention standard (as pyvespa)``.
- Evidently, TensorFlow Ranking, LightGBM, XGBoost, CatBoost, torchmetrics and bwhite's gist know
  the relevance of listed items only: R counts those in the list, and recall is 1 here;
  ``tl.CONVENTIONS[...].replace(relevant="listed")`` does so in any other.
- torchmetrics, recmetrics, LibRecommender, DocArray, AutoRAG, DeepEval and Haystack before 2026-08
  divide average precision by the hits found so far (divisor ``"hits"`` of a metric): a
  list whose first item is relevant may score 1.0 with half of the truth missing.
- LightGBM and XGBoost score an empty ground truth 1 (``empty="one"``), CatBoost in recall and nDCG.
- `r_precision` is trec_eval's Rprec from k = R on; what BEIR, MTEB and RecPack call so is recall
  over min(k, R).
- 1 - `judged` is the share of holes, the items of the list that nobody judged. Its users are those
  with a judgement of any grade, whatever is done with empty ground truths in other metrics.
- ``unjudged="drop"`` is trec_eval -J, and judged_only of ir_measures: items without a grade, or
  with one below 0, leave the lists, and ranks close up. Where no other is judged not relevant,
  theirs leave hits only, and every list is perfect; here that is an error.
  ``result.bounds("precision@10")`` has both ends, `toplist.annotating.unjudged` what to judge next.

A metric that a library lacks is an error there. A defect of a library (an item listed twice earning
twice, ideals made from the hits found) is not copied. ``replace(aggregate="pooled")`` of a
convention divides sums over users instead of averaging ratios; ``weights=`` counts users
differently.

A metric of your own
--------------------

Three choices and a name; it works wherever a name does, and nothing is compiled. The functions are
given arrays (``np.minimum``, not ``min``); a ``def`` at module level pickles and merges, a lambda
does not:

>>> import dataclasses
>>> map_R = dataclasses.replace(tl.METRICS["map"], name="map_R", divisor="R")
>>> early = tl.Metric("early", counts="each", discount=lambda r: r**2, divisor=lambda k, R, n: R)
>>> result = tl.top_k_eval(ranks, truths, k=3, metrics=["map", map_R, early])
>>> {name: round(value, 4) for name, value in result.to_dict().items()}
{'map@3': 0.6111, 'map_R@3': 0.5417, 'early@3': 0.3472}

`toplist.METRICS` and `toplist.CONVENTIONS`, `DIVISORS` and `DISCOUNTS` of `definitions` are the
definitions as data. To add a metric to toplist itself: one row in `toplist.metrics.definitions`,
its plain-Python twin in
``tests/oracle/hits.py``, one row in the table above; tests fail while one of them is missing.

Inside
------

`definitions` holds the metrics as data, `conventions` the metrics and policies of other libraries,
`beyond_accuracy` the metrics of the lists themselves; `declared` has what they are declared by,
parameters of names and what hits earn. `names` reads ``"ndcg@10"``, and `properties` has what
follows from a definition: its formula, as text or LaTeX, and bounds. Nothing here loops over users.
"""
