r"""Recipes: from the object you hold to the answer.

- Recommenders: implicit, RecTools, RecBole, LensKit, Surprise, torch
- Search and retrieval: ranx, pytrec_eval, BEIR, sentence-transformers, faiss, Hugging Face
  datasets, LlamaIndex
- Where the data lies: DuckDB; files, and Spark
- Training: early stopping, MLflow, Weights & Biases
- Experiments: folds, seeds
- Users and items: filtering seen items, new users, cold items, segments, weights of users
- Results: which MAP is this, is B better than A, a table for a paper, a metric of your own, saving
  and loading

Most end with a ``result`` of `toplist.top_k_eval`: print it for the table, take
``result["ndcg@10"]``, ``result.per_user("ndcg@10")`` or ``result.by(labels)``. Everywhere
``import numpy as np`` and ``import toplist as tl`` come first. The tests make what a recipe says
you hold, by the real library, and run its lines; from "Experiments" on, all runs as it stands.

Recommenders
============

implicit
--------

You hold a fitted ``model`` and two csr matrices, users x items: ``train`` and ``test``. Ask for the
users of the test alone, and for no more items than there are. Where fewer unseen items remain,
implicit fills the list with -1, or with seen items, which earn nothing and are dropped: their score
is the lowest of float32 (in neighbour models 0). ``> 0`` makes the truth binary; play counts would
be grades. With ``convention="implicit"`` the numbers are those of its ``ranking_metrics_at_k``. ::

    users = np.flatnonzero(np.diff(test.indptr))
    ids, scores = model.recommend(users, train[users], N=50, filter_already_liked_items=True)
    ids[scores == np.finfo(np.float32).min] = -1
    result = tl.top_k_eval(ids, test[users] > 0, k=[10, 50], users=users, padding=-1)

RecTools
--------

You hold a fitted ``model``, its ``dataset``, and the frame ``test`` of later interactions. Both
frames go in as they are, with your own ids; a column ``weight`` is not read. Users whom the model
does not know get no list and count 0. With ``convention="rectools"`` the numbers are those of its
``calc_metrics``. ::

    reco = model.recommend(
        users=test["user_id"].unique(),
        dataset=dataset,
        k=50,
        filter_viewed=True,
        on_unsupported_targets="ignore",  # without it, new users are an error
    )
    result = tl.top_k_eval(reco, test, k=[10, 50])

RecBole
-------

You hold a trained ``model`` (of the kind "general") with its ``config``, ``dataset`` and
``test_data``. RecBole numbers users and items anew, from 1 on, since 0 is its padding: keep its
numbers on both sides and name the users by their tokens. Lists of tokens, for use elsewhere, are
``dataset.id2token(dataset.iid_field, lists.cpu())``. With ``convention="recbole"`` the numbers are
those of ``trainer.evaluate``, not rounded. ::

    from recbole.utils.case_study import full_sort_topk

    uids = test_data.uid_list
    _, lists = full_sort_topk(uids, model, test_data, k=50, device=config["device"])
    relevant = [test_data.uid2positive_item[uid] for uid in uids]
    users = dataset.id2token(dataset.uid_field, uids)
    result = tl.top_k_eval(lists, relevant, k=[10, 50], users=users)

LensKit
-------

You hold a trained pipeline ``pipe`` and a ``split``. Its collections go in as they are. Ratings in
the test are not read, unless ``columns={"ground_truths": {"relevance": "rating"}}`` names them.
Without ``n_jobs=1`` LensKit may start processes, and a script then needs
``if __name__ == "__main__":``. With ``convention="lenskit"`` the numbers are those of its
``RunAnalysis``. ::

    from lenskit.batch import recommend

    recs = recommend(pipe, split.test, 50, n_jobs=1)
    result = tl.top_k_eval(recs, split.test, k=[10, 50])

Surprise
--------

You hold a fitted ``algo``, its ``trainset`` and a ``testset``. The error of its predictions is one
line. A top-k list is another question: it ranks every item that the user has not rated, and
``clip=False`` keeps apart what Surprise cuts to the best rating. A rating from 4 on is relevant
here; users without one are left out, and counted as skipped. ::

    rmse = tl.pointwise.rmse(algo.test(testset))

    relevant, run = {}, {}
    for user, item, rating in testset:
        relevant.setdefault(user, set())
        if rating >= 4:
            relevant[user].add(item)
    for user, item, _ in trainset.build_anti_testset():
        if user in relevant:
            run.setdefault(user, {})[item] = algo.predict(user, item, clip=False).est
    result = tl.top_k_eval(run, relevant, k=10)

torch
-----

You hold a ``model`` that scores all items for a batch of users, ``seen`` (users x items, bool), and
``relevant``, a set of items per user in the same order. Scores are made, cut and dropped batch by
batch; the tensors may be on any device. Where fewer than 50 unseen items remain, ``topk`` ends with
seen ones, which earn nothing; `toplist.scores.top_k` lists none of score -inf. ::

    best = []
    with torch.no_grad():
        for users in torch.arange(len(relevant)).split(1024):
            scores = model(users)
            scores[seen[users]] = -torch.inf
            best.append(scores.topk(50).indices)
    result = tl.top_k_eval(torch.cat(best), relevant, k=[10, 50])

Search and retrieval
====================

ranx
----

You hold ``Qrels`` and some ``Run``. They go in as they are; a query that a run lacks counts 0, so
no ``make_comparable`` is needed. With ``convention="ranx"`` the numbers are those of its
``evaluate``. ::

    results = {run.name: tl.top_k_eval(run, qrels, k=[10, 100]) for run in (bm25, dense)}
    comparison = tl.compare(results, baseline="bm25")

pytrec_eval
-----------

You hold the dicts ``run``, ``{query: {document: score}}``, and ``qrels``,
``{query: {document: grade}}``. Equal scores are put in trec_eval's order by ``ties="item_desc"``,
and by that alone: the convention does not change what the lists are. ::

    result = tl.top_k_eval(run, qrels, k=[10, 100], convention="trec_eval", ties="item_desc")

BEIR
----

You hold a ``retriever`` and what its data loader gave: ``corpus, queries, qrels``. The numbers are
those of its ``evaluate``, not rounded to 5 places, and per query. The second line is for data where
queries are documents too (ArguAna, Quora): BEIR leaves each out of its own list. ::

    run = retriever.retrieve(corpus, queries)
    run = {q: {d: score for d, score in row.items() if d != q} for q, row in run.items()}
    result = tl.top_k_eval(run, qrels, k=[10, 100], convention="mteb", ties="item_desc")

sentence-transformers
---------------------

You hold a ``model``, two dicts of texts by id, ``queries`` and ``corpus``, and ``relevant``,
``{query: {document, ...}}``. The hits name documents by position; here they get their ids back.
Where the truth has positions too, one set per query in order,
``tl.top_k_eval(hits, relevant, k=10)`` is all. With ``convention="sentence-transformers"`` the
numbers are those of its ``InformationRetrievalEvaluator``. ::

    from sentence_transformers.util import semantic_search

    vectors = [model.encode(list(texts.values())) for texts in (queries, corpus)]
    hits = semantic_search(*vectors, top_k=100)
    documents = list(corpus)
    lists = [[documents[hit["corpus_id"]] for hit in found] for found in hits]
    result = tl.top_k_eval(dict(zip(queries, lists)), relevant, k=[10, 100])

faiss
-----

You hold an ``index``, the query ``vectors`` and ``relevant``, a set of ids per query in the same
order. The pair (scores, ids) goes in as it is, where the scores fall. An index of distances gives
rising ones: then give ``found[1]`` alone. Where an index finds too few, it fills with -1. ::

    found = index.search(vectors, 100)
    result = tl.top_k_eval(found, relevant, k=[10, 100], padding=-1)

Hugging Face datasets
---------------------

You hold two ``Dataset``, such as the qrels of BEIR on the Hub and a ``run``, both with the columns
query-id, corpus-id and score. In the run ``score`` ranks; in the qrels it is the grade, and has to
be named as such. Of a ``DatasetDict`` give one split, ``qrels["test"]``. ::

    names = {"user_id": "query-id", "item_id": "corpus-id"}
    columns = {"ranks": names, "ground_truths": names | {"relevance": "score"}}
    result = tl.top_k_eval(run, qrels, k=[10, 100], columns=columns)

LlamaIndex
----------

You hold a ``retriever`` and ``relevant``, ``{question: {document id, ...}}``. It returns nodes,
several of one document: the first of each counts, so that a list of 10 nodes may hold 3 documents.
Where the truth has ids of nodes, take ``node_id`` in place of ``ref_doc_id``, without
``dict.fromkeys``; with ``convention="llamaindex"`` the numbers are then those of its
``RetrieverEvaluator``. ::

    lists = {}
    for question in relevant:
        nodes = [found.node for found in retriever.retrieve(question)]
        lists[question] = list(dict.fromkeys(node.ref_doc_id for node in nodes))
    result = tl.top_k_eval(lists, relevant, k=[1, 5])

Where the data lies
===================

DuckDB
------

You hold a connection ``con`` with a table of scored items and one of what was chosen. Both are read
as streams: where the users come in the same order, little is ever in memory. A connection streams
one result at a time, so the second has a cursor of its own (which sees no temporary tables). Equal
scores go by ``item_id``; without it in the order, SQL leaves them open. ::

    recs = con.sql("SELECT user_id, item_id, score FROM recs ORDER BY user_id, score DESC, item_id")
    chosen = con.cursor().sql("SELECT user_id, item_id FROM chosen ORDER BY user_id")
    result = tl.top_k_eval(recs, chosen, k=[10, 50], stream=True)

Files, and Spark
----------------

`toplist.top_k_eval` reads two files of any size, ``toplist eval RECS TRUTH`` does it on the
command line. `toplist.files` has the formats, and recipes of DuckDB, Polars and Dask for what is
larger than memory. Two DataFrames of Spark are evaluated where they are, by
``toplist.top_k_eval(recs, truth, k=10)``.

Training
========

Early stopping
--------------

You hold a torch ``model``, its ``train_epoch``, and of a split made with ``validation=...`` what is
``seen`` in training (users x items, bool) and ``validation``, ``{row of the user: items}``. The
loop ends after 5 epochs without a better value; the test part stays for the end. Where one number
was asked for, ``float`` is that number. ::

    best = epoch_of_best = -1
    for epoch in range(200):
        train_epoch(model)
        with torch.no_grad():
            lists = tl.scores.top_k(model(), k=10, exclude=seen)
        value = float(tl.top_k_eval(dict(enumerate(lists)), validation, metrics="ndcg@10"))
        if value > best:
            best, epoch_of_best, kept = value, epoch, copy.deepcopy(model.state_dict())
        elif epoch - epoch_of_best == 5:
            break
    model.load_state_dict(kept)

MLflow
------

You hold a ``result`` within a run. MLflow refuses names with ``@``: ``ndcg@10`` becomes
``ndcg_at_10``. The file adds intervals, counts and the convention, and comes back with
``tl.TopKResult.load``. ::

    mlflow.log_metrics(result.to_dict(at="_at_"), step=epoch)
    result.save("result.json")
    mlflow.log_artifact("result.json")

Weights & Biases
----------------

You hold a ``result`` and a ``run`` of wandb. It sorts and filters by names of letters, digits and
underscores alone. ::

    run.log(result.to_dict(at="_at_"), step=epoch)

Experiments
===========

From here on the examples share a log of 400 users and 80 items, of which the newest quarter of each
user's choices is held out, and three simple models that score every item for every user:

>>> import numpy as np
>>> import toplist as tl
>>> rng = np.random.default_rng(0)
>>> liking = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 80)) + rng.gumbel(size=(400, 80))
>>> users, items = np.nonzero(liking > 3.5)
>>> split = tl.loo.holdout((users, items, rng.permutation(len(users))), 0.25)
>>> train, truths = split.truths("train"), split.truths()       # {user: [item, ...]}
>>> seen = np.zeros((400, 80), int)
>>> seen[split.train[:2]] = 1
>>> pairs = seen.T @ seen                       # how many users chose both of two items
>>> scores = {"popular": np.tile(seen.sum(axis=0), (400, 1)),
...           "related": seen @ (pairs > 9), "neighbours": seen @ pairs}

>>> def evaluated(scores):
...     lists = tl.scores.top_k(scores, k=10, exclude=seen == 1)
...     return tl.top_k_eval(dict(enumerate(lists)), truths, k=10, metrics=["recall", "ndcg"])
>>> results = {name: evaluated(of_model) for name, of_model in scores.items()}

Folds
-----

Where each user is in one fold, the folds are parts of one result: over all users, as if they had
been evaluated together, with an interval that the mean of the folds' means does not have.

>>> lists = dict(enumerate(tl.scores.top_k(scores["neighbours"], k=10, exclude=seen == 1)))
>>> folds = []
>>> for fold in range(5):
...     relevant = {user: items for user, items in truths.items() if user % 5 == fold}
...     folds.append(tl.top_k_eval(lists, relevant, k=10, metrics=["recall", "ndcg"]))
>>> whole = tl.merge(folds)
>>> whole.n_evaluated, whole["ndcg@10"] == results["neighbours"]["ndcg@10"]
(309, True)

Where the same users are in every fold (splits by time, or of each user's choices), merging is
refused: each fold is then a run of the system, as in the next recipe.

Seeds
-----

Several runs of a system, of other seeds or splits, go into `toplist.compare` as a list. The test
then knows two sources of chance, the users and the runs. ``runs="paired"`` says that run i of both
systems shares its seed or split.

>>> def trained(seed, least):           # on 300 of the users
...     some = seen[np.random.default_rng(seed).permutation(400)[:300]]
...     return evaluated(seen @ (some.T @ some > least))
>>> runs = {name: [trained(seed, least) for seed in range(5)]
...         for name, least in {"wide": 4, "narrow": 9}.items()}
>>> compared = tl.compare(runs, baseline="narrow", runs="paired")
>>> compared
        recall@10  ndcg@10
wide      0.5140‡  0.3459‡
narrow    0.4345   0.3027
† ‡ better, ▾ worse than narrow: paired t over 309 users, p < 0.05, 0.01 after Holm
over 2 comparisons
means over 5 paired runs of each system
convention standard: mean over users
309 of 309 users evaluated, 91 with a list but no ground truth (ignored)
>>> [round(run["ndcg@10"], 4) for run in runs["wide"]]
[0.3527, 0.3452, 0.3475, 0.3468, 0.3372]

Users and items
===============

Filtering seen items
--------------------

With scores, ``exclude=`` leaves out what a user has seen. From lists that are there already, drop
it; they must be longer than k by what a user has seen. `toplist.audit.check` tells whether it was
forgotten.

>>> filtered = tl.scores.top_k(scores["popular"], k=10, exclude=seen == 1)
>>> lists = dict(enumerate(tl.scores.top_k(scores["popular"], k=40)))
>>> tl.audit.check(lists, truths, split.train)
ranks: 400 users, 40 items; ground_truths: 309 users, 79 items; train: 392 users, 80 items
warning  1,615 listed items (of 376 users) are in the user's own training log: 33 of 0
note     91 of 400 users with a list have no ground truth, and are ignored: 11
>>> seen_by = {user: set(items) for user, items in train.items()}
>>> lists = {user: [item for item in row if item not in seen_by.get(user, ())][:10]
...          for user, row in lists.items()}
>>> all(list(row) == list(filtered[user]) for user, row in lists.items())
True

New users
---------

Users of the truth for whom the model has no list count 0, and the last line tells how many they
are. ``missing="skip"`` answers another question: how good are the lists of those who got one?
Report the first, or both. Some models give users they do not know whatever comes first, with equal
scores: drop such lists, or name the model a fallback.

>>> served = {"ann": ["tea", "jam"], "bob": ["jam", "rye"]}
>>> wanted = {"ann": {"tea", "fig"}, "bob": {"fig"}, "eve": {"rye"}}
>>> tl.top_k_eval(served, wanted, k=2, metrics="recall")
                             @2
recall  0.1667 [0.0000, 0.4933]
convention standard: mean over users
95 % interval, ± half or [low, high]: normal (rough: only 3 users)
3 of 3 users evaluated, 1 without a list (counted as 0)
>>> tl.top_k_eval(served, wanted, k=2, metrics="recall", missing="skip")["recall@2"]
0.25

Cold items
----------

Items that were not in the training are in no list of most models, and count as misses: that is what
the users met. To see what they cost, evaluate once more with the known items of each truth; users
who wanted cold items alone are then skipped. The cold items of each truth, the other way round, say
how well a model does that can list them; to rank cold items among themselves, drop the known ones
from the lists, too.

>>> known = {"tea", "jam", "rye"}               # the items of the training
>>> of_known = {user: items & known for user, items in wanted.items()}
>>> result = tl.top_k_eval(served, of_known, k=2, metrics="recall")
>>> result["recall@2"], result.n_evaluated, result.n_skipped
(0.5, 2, 1)
>>> of_cold = {user: items - known for user, items in wanted.items()}
>>> tl.top_k_eval(served, of_cold, k=2, metrics="recall")["recall@2"]
0.0

Segments
--------

A label for each user splits a result, or a comparison, whose tests are then corrected for all
segments together.

>>> history = {user: "short" if len(items) < 8 else "long" for user, items in train.items()}
>>> results["neighbours"].by(history)
       users    n       recall@10         ndcg@10
long     110  110  0.6391 ±0.0527  0.5369 ±0.0494
short    199  199  0.5075 ±0.0649  0.3051 ±0.0447
all      309  309  0.5544 ±0.0463  0.3876 ±0.0359
users: of the ground truth; n: in the means
83 labels of users who are not in the result (unused)
convention standard: mean over users
95 % interval, ± half or [low, high]: normal
309 of 309 users evaluated, 91 with a list but no ground truth (ignored)
>>> tests = tl.compare(results, baseline="popular").by(history).test("ndcg@10")
>>> round(tests["short", "neighbours", "ndcg@10"].difference, 4)
0.1672

Weights of users
----------------

``weights`` are numbers by user, such as what each of them spends; where users have no keys, an
array in the order of the rows. Means are Σwx / Σw, and intervals follow.

>>> tl.top_k_eval(served, wanted, k=2, metrics="recall", weights={"ann": 3, "bob": 1, "eve": 1})
                             @2
recall  0.3000 [0.0000, 0.7256]
convention standard: weighted mean over users
95 % interval, ± half or [low, high]: normal (rough: only 3 users)
3 of 3 users evaluated, 1 without a list (counted as 0)

Results
=======

Which MAP is this?
------------------

Every result knows its formula, and the libraries that compute the same. The numbers of
another one come by its name, ``convention="trec_eval"``; ``tl.conformance(lists, truths, k=10)``
shows what all of them make of your lists.

>>> print(tl.top_k_eval(served, wanted, k=2, metrics="map").formula("map"))
map@k = sum over r_j <= k of j / r_j, divided by min(k,R)
r_j: rank of the user's j-th hit; R: number of relevant items; n: length of the list
convention standard; the same in neurec-cpp, recbole, implicit, spark, sentence-transformers, replay
mean over users; users without relevant items are left out; users without a list score 0
3 of 3 users evaluated, 1 without a list (counted as 0)

Is B better than A?
-------------------

Users are matched by key, and each difference is tested: by default with a paired t test, its p
corrected for all comparisons of the table. ``.sentence()`` says it for the text, ``.equivalence``
asks whether a difference is too small to matter, ``.power`` how many users would show it.

>>> test = tl.compare(results, baseline="popular").test("ndcg@10")["neighbours", "ndcg@10"]
>>> round(test.difference, 4), test.p_adjusted < 0.001, test.wins, test.ties, test.losses
(0.2269, True, 195, 99, 15)

A table for a paper
-------------------

Bold is the best of a column where it differs after the correction, letters name what a system
exceeds; with ``baseline=`` there are daggers instead. The sentence for the text is a comment above
the table, and ``.test("ndcg@10")`` has the differences with their intervals.

>>> table = tl.compare(results).to_latex(percent=True, caption="Test set", label="tab:test")
>>> print(table)  # doctest: +ELLIPSIS
% bold: best of its column, with those that do not differ from it
% Differences were tested by two-sided paired t over 309 users, with p after Holm over 6 ...
\begin{table}
\centering
\caption{Test set}
\label{tab:test}
\begin{tabular}{lrr}
\toprule
 & recall@10 & ndcg@10 \\
\midrule
(a) popular & 26.86 & 16.07 \\
(b) related & 48.55$^{a}$ & 34.78$^{a}$ \\
(c) neighbours & \textbf{55.44}$^{ab}$ & \textbf{38.76}$^{ab}$ \\
\bottomrule
\end{tabular}
<BLANKLINE>
{\footnotesize letters name the systems that a system exceeds: paired t over 309 users, ...}
\end{table}

A metric of your own
--------------------

It says how hits count, how ranks discount them, and what the sum is divided by; then it works
wherever a name does. Here a hit below rank 3 counts half, and the best possible list scores 1. A
value per user that is not of this form can still be tested, by `toplist.paired_tests`.

>>> half = tl.Metric("half", counts="each", discount=lambda rank: np.where(rank > 3, 2.0, 1.0),
...                  divisor="ideal(min(k,R))")
>>> ranked, relevant = [["tea", "jam", "rye", "fig"]], [{"tea", "fig"}]
>>> tl.top_k_eval(ranked, relevant, k=4, metrics=["recall", half]).to_dict()
{'recall@4': 1.0, 'half@4': 0.75}

Saving and loading
------------------

You hold a ``result``. The file is JSON to read: means, intervals, counts, policies, formulas. It
comes back as an equal result without its users, which prints, compares, draws and merges;
``result.to_pandas(per_user=True).to_parquet(path)`` keeps the values of each user. Metrics of the
lists, such as coverage, and metrics with functions of your own cannot be saved. ::

    result.save("result.json")
    again = tl.TopKResult.load("result.json")
"""
