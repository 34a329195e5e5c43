"""Several evaluations: side by side, tests, segments, bands, runs, power, a gate, data sets.

Side by side
------------

``tl.compare({name: result})`` is a table with a row per system, the best of every column marked (by
`Metric.higher_is_better`). More than eight means are a table per metric; or, of up to eight systems
where each metric has one k or these tables would fill a screen, one table with a row per mean.
Lines below it tell where systems were counted over different users, or by different conventions,
formulas, candidates, metrics or k, and where all lists of one end before a k that others reach:
there no system is marked. ``compared.differences`` has the same as values, each with its kind and
its systems.

>>> import toplist as tl
>>> one_out = tl.Hits.from_ranks([1, 3, 0, 2], n_listed=5)    # rank of the held-out item; 0: missed
>>> other = tl.Hits.from_ranks([2, 3, 0, 0], n_listed=5)
>>> both = tl.compare({"mine": tl.top_k_eval(one_out, k=5), "theirs": tl.top_k_eval(other, k=5)})
>>> both
        hit@5 = recall@5  precision@5  map@5 = mrr@5   ndcg@5
mine             *0.7500      *0.1500        *0.4583  *0.5327
theirs            0.5000       0.1000         0.2083   0.2827
* best of its column; not tested: .test() and toplist compare test the difference
convention standard: mean over users
4 of 4 users evaluated
>>> both.best()["ndcg@5"], both.differences
(['mine'], [])

Many runs of one model
----------------------

Checkpoints or settings are systems: ``tl.compare({1000: result, 2000: other, ...})``.
``.sort("ndcg@10")`` puts the best first, ``.to_text(names=["ndcg@10", "recall@20"])`` has these
columns alone, ``.plot("ndcg@10")`` is the learning curve. The best of many on the same users leads
by chance, too: ``.lead("ndcg@10")`` says how far, and how far the best of as many equal ones would.

>>> runs = {1000 * i: tl.top_k_eval(tl.Hits.from_ranks([i, 3, 0, 2], 5), k=5) for i in (3, 1, 2)}
>>> tl.compare(runs).sort("mrr@5").systems
['1000', '2000', '3000']

Single users
------------

Who got worse? ``.movers("ndcg@10")`` has the users with the largest differences, worst first, and
the ranks of their hits; ``.plot("ndcg@10", kind="movers")`` draws all differences, sorted. What do
their lists look like? ``tl.show(user, {"a": lists, ...}, truth, titles)`` has them side by side:
hits, what moved, and where the relevant items stand that are not in the first k. On the command
line: ``toplist compare A B TRUTH --movers 20``, ``toplist show USER A B TRUTH``. Extremes are
chosen because they are extreme: they explain, and estimate nothing.

>>> both.movers("mrr@5").rows[0].user_id, both.movers("mrr@5").counts
(0, {'worse': 2, 'equal': 2, 'better': 0})

Several data sets
-----------------

``tl.across({"ml-20m": comparison, "yelp": {system: result, ...}}, "ndcg@10")`` has systems as rows
and data sets as columns, with macro mean, mean rank and Borda's votes. It says how surely the ranks
are known by these users, who is not shown to be behind the first, and what Friedman's test and
Nemenyi's critical difference say of sets like these; ``.plot()`` draws it. With ``baseline=``, the
difference from it has an interval, for these data sets or (``of="sample"``) for sets like these,
and a column says in how many data sets at least a system is better. Users are never merged across
data sets.

>>> sets = {"one": {"mine": runs[1000], "theirs": runs[3000]}, "two": both}
>>> tl.across(sets, "mrr@5").borda.tolist()
[2.0, 0.0]

Tests
-----

A star only marks the highest number. ``tl.compare(results, baseline="theirs")`` tests every
difference, and marks what is better and what is worse. ``tl.inference`` is the chapter about it; it
also tests values of your own.

A gate
------

May the new model replace the base? A mean that is lower by chance must not stop it, and one that is
not lower by chance alone must. ``tl.gate(new, base, {"ndcg@10": 0.005})`` holds the interval of the
difference against the loss that does not matter, the margin, and says *not worse*, *worse* or
*undecided*, then with the number of users that would decide. ``floors={"recall@10": 0.6}`` are
least means, ``by=labels`` looks for harm in segments.

>>> truth = {user: {user % 7} for user in range(400)}
>>> lists = {user: [(user * user + i) % 7 for i in range(3)] for user in truth}
>>> base = tl.top_k_eval(lists, truth, metrics="mrr@3")
>>> changed = {**lists, **{user: [0, 1, 2] for user in range(120)}}
>>> new = tl.top_k_eval(changed, truth, metrics="mrr@3")
>>> found = tl.gate(new, base, {"mrr@3": 0.05})
>>> print(found.to_text(width=100))
mrr@3 -0.0638 [-0.0827, -0.0448]: undecided at -0.05 (p = 0.078, one-sided); about 1,553 users like
  these would decide
gate: undecided: mrr@3
new - base, paired t over 400 users; intervals are 95 %, each side is tested at p < 0.025
convention standard: mean over users
400 of 400 users evaluated
>>> found.verdict, found.passed, found.rows[0].n_needed
('undecided', False, 1553)

In tests of pytest it is `toplist.testing.assert_not_worse`, in CI ``toplist gate NEW BASE TRUTH``,
whose exit status is the verdict; the cookbook has both.
"""
