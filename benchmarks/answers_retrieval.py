"""What libraries for search and retrieval answer, those of labels beside scores, and some more.

As in `answers.py`: a peer is one function of a `Case`, and imports what it needs itself.
"""

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from case import Answer, Case, averaged


def llamaindex(case: Case) -> Iterator[Answer]:
    """Yield ``compute`` of each query; there is no cut-off, so k cuts the list."""
    from llama_index.core.evaluation.retrieval import metrics as theirs

    kinds = {
        "hit": theirs.HitRate,
        "precision": theirs.Precision,
        "recall": theirs.Recall,
        "map": theirs.AveragePrecision,
        "mrr": theirs.MRR,
        "ndcg": theirs.NDCG,
    }
    expected = {user: [*map(str, truth)] for user, truth in case.relevant.items()}
    for name, kind in kinds.items():
        for k in case.ks:
            lists = {user: [*map(str, case.ranks[user][:k])] for user in expected}
            found = {
                user: kind().compute(expected_ids=ids, retrieved_ids=lists[user]).score
                for user, ids in expected.items()
            }
            yield averaged(name, k, found)


def haystack(case: Case) -> Iterator[Answer]:
    """Yield the evaluators' ``run``; there is no cut-off, so k cuts the list."""
    from haystack import Document
    from haystack.components import evaluators as theirs

    kinds = {
        "hit": theirs.DocumentRecallEvaluator("single_hit"),
        "recall": theirs.DocumentRecallEvaluator("multi_hit"),
        "map": theirs.DocumentMAPEvaluator(),
        "mrr": theirs.DocumentMRREvaluator(),
        "ndcg": theirs.DocumentNDCGEvaluator(),
    }
    relevant = [case.relevant.get(user, {}) for user in case.truths]
    same = [{"id": str(i), "content": str(i)} for i in range(case.n_items)]  # which it compares
    truths = [[Document(**same[i], score=g) for i, g in row.items()] for row in relevant]
    lists = [[Document(**same[i]) for i in case.ranks.get(user, ())] for user in case.truths]
    for name, evaluator in kinds.items():
        for k in case.ks:
            found = evaluator.run(truths, [row[:k] for row in lists])
            each = dict(zip(case.truths, found["individual_scores"], strict=True))
            yield name, k, found["score"], each


def mlflow(case: Case) -> Iterator[Answer]:
    """Yield the scores and the mean of each EvaluationMetric."""
    import mlflow.metrics as theirs
    import pandas as pd

    kinds = {
        "precision": theirs.precision_at_k,
        "recall": theirs.recall_at_k,
        "ndcg": theirs.ndcg_at_k,
    }
    lists = pd.Series([case.ranks.get(user, []) for user in case.truths])
    truths = pd.Series([[*case.relevant.get(user, ())] for user in case.truths])
    for name, kind in kinds.items():
        for k in case.ks:
            found = kind(k)(predictions=lists, targets=truths)
            each = dict(zip(case.truths, found.scores, strict=True))
            yield name, k, found.aggregate_results["mean"], each


def ragas(case: Case) -> Iterator[Answer]:
    """Yield precision and recall by ids; there is no cut-off, so k cuts the list."""
    from ragas import SingleTurnSample
    from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall

    async def score(metric: Any, k: int) -> dict[str, float]:
        values = {}
        for user in case.truths:
            sample = SingleTurnSample(
                retrieved_context_ids=case.ranks.get(user, [])[:k],
                reference_context_ids=[*case.relevant.get(user, ())],
            )
            values[user] = await metric.single_turn_ascore(sample)
        return values

    metrics = {"precision": IDBasedContextPrecision(), "recall": IDBasedContextRecall()}
    for name, metric in metrics.items():
        for k in case.ks:
            yield averaged(name, k, asyncio.run(score(metric, k)))


def sentence_transformers(case: Case) -> Iterator[Answer]:
    """Yield ``compute_metrics`` of all queries, and of each alone, on hits as search gives them."""
    from sentence_transformers.sentence_transformer.evaluation import (
        InformationRetrievalEvaluator,
    )

    options = ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")
    cuts = dict.fromkeys(options, case.ks)
    truths = {user: {*map(str, case.relevant.get(user, ()))} for user in case.truths}
    run = case.run()

    def found(queries: list[str]) -> dict[str, dict[int, float]]:
        evaluator = InformationRetrievalEvaluator(dict.fromkeys(queries, ""), {}, truths, **cuts)
        hits = [
            [{"corpus_id": doc, "score": score} for doc, score in run.get(query, {}).items()]
            for query in evaluator.queries_ids
        ]
        return evaluator.compute_metrics(hits)

    means = found([*case.ranks, *case.truths])
    each = {query: found([query]) for query in case.relevant}
    for name in ("hit", "precision", "recall", "map", "mrr", "ndcg"):
        theirs = "accuracy@k" if name == "hit" else f"{name}@k"
        for k in case.ks:
            yield name, k, means[theirs][k], {user: row[theirs][k] for user, row in each.items()}


def mteb(case: Case) -> Iterator[Answer]:
    """Yield the values per query that MTEB takes the means of, before it rounds those."""
    from mteb._evaluators import retrieval_metrics as theirs

    run = case.run()
    scores = theirs.calculate_retrieval_scores(run, case.qrels, case.ks).all_scores
    names = {"hit": "success", "precision": "P", "recall": "recall"}
    names |= {"map": "map_cut", "ndcg": "ndcg_cut"}
    for name, label in names.items():
        for k in case.ks:
            found = {user: row[f"{label}_{k}"] for user, row in scores.items()}
            yield averaged(name, k, found)
    ranks = theirs.mrr(case.qrels, run, case.ks)
    capped = theirs.recall_cap(case.qrels, run, case.ks)
    for k in case.ks:
        yield averaged("mrr", k, dict(zip(run, ranks[f"MRR@{k}"], strict=True)))
        found = dict(zip(run, capped[f"R_cap_at_{k}"], strict=True))
        found = {user: float("nan") if value is None else value for user, value in found.items()}
        yield averaged("r_cap", k, found)


def beir(case: Case) -> Iterator[Answer]:
    """Yield EvaluateRetrieval's means, which it rounds to 5 decimals."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    run = case.run()
    found: dict[str, float] = {}
    for part in EvaluateRetrieval.evaluate(case.qrels, run, case.ks):
        found |= part
    for metric in ("mrr", "recall_cap", "top_k_accuracy"):
        found |= EvaluateRetrieval.evaluate_custom(case.qrels, run, case.ks, metric)
    names = {"hit": "Accuracy", "precision": "P", "recall": "Recall", "r_cap": "R_cap"}
    names |= {"map": "MAP", "mrr": "MRR", "ndcg": "NDCG"}
    for name, theirs in names.items():
        for k in case.ks:
            yield name, k, found[f"{theirs}@{k}"], None


# Truths that are labels of the listed items


def torchmetrics(case: Case) -> Iterator[Answer]:
    """Yield the retrieval metrics of labels and scores, which it computes in single precision.

    R-precision has no cut-off, so it is asked where k covers the lists.
    """
    import torch
    from torchmetrics import retrieval as classes
    from torchmetrics.functional import retrieval as functions

    kinds: dict[str, tuple[Any, Any]] = {
        "hit": (classes.RetrievalHitRate, functions.retrieval_hit_rate),
        "precision": (classes.RetrievalPrecision, functions.retrieval_precision),
        "recall": (classes.RetrievalRecall, functions.retrieval_recall),
        "map": (classes.RetrievalMAP, functions.retrieval_average_precision),
        "mrr": (classes.RetrievalMRR, functions.retrieval_reciprocal_rank),
        "ndcg": (classes.RetrievalNormalizedDCG, functions.retrieval_normalized_dcg),
        "r_precision": (classes.RetrievalRPrecision, functions.retrieval_r_precision),
    }
    lists = case.judged_lists()
    scores = {user: torch.arange(len(row), 0.0, -1.0) for user, row in lists.items()}
    grades = {user: torch.tensor(row).long() for user, row in lists.items()}
    sizes = torch.tensor([len(row) for row in lists.values()])
    indexes = torch.repeat_interleave(torch.arange(len(lists)), sizes)
    for name, (kind, function) in kinds.items():
        labels = {u: row if name == "ndcg" else (row > 0).long() for u, row in grades.items()}
        given = torch.cat([*scores.values()]), torch.cat([*labels.values()])
        uncut = name == "r_precision"
        for k in [k for k in case.ks if k >= case.longest or not uncut]:
            options = {} if uncut else {"top_k": k}
            metric = kind(**options)
            metric.update(*given, indexes=indexes)
            each = {u: float(function(scores[u], labels[u], **options)) for u in lists}
            yield name, k, float(metric.compute()), each


def lightgbm(case: Case) -> Iterator[Answer]:
    """Yield the metrics of a ranker before its first tree, so that the scores are those given."""
    import lightgbm as theirs
    import numpy as np

    quiet = {"verbose": -1, "num_threads": 1}
    options = {"objective": "lambdarank", "metric": ["map", "ndcg"], "eval_at": case.ks, **quiet}

    def found(lists: list[list[float]]) -> dict[str, float]:
        labels = [grade for row in lists for grade in row]
        scores = [-float(place) for row in lists for place in range(len(row))]
        feature = np.arange(len(labels), dtype=float)[:, np.newaxis]
        sizes = [len(row) for row in lists]
        data = theirs.Dataset(feature, labels, group=sizes, init_score=scores, params=quiet)
        rows = theirs.Booster(options, data).eval_train()
        return {metric: value for _, metric, value, *_ in rows}

    lists = case.judged_lists()
    means = found([*lists.values()])
    each = {user: found([row]) for user, row in lists.items()}
    for name in ("map", "ndcg"):
        for k in case.ks:
            label = f"{name}@{k}"
            yield name, k, means[label], {user: row[label] for user, row in each.items()}


def xgboost(case: Case) -> Iterator[Answer]:
    """Yield the metrics of a ranker without a tree, whose scores are the margins given."""
    import numpy as np
    import xgboost as theirs

    names = {"precision": "pre", "map": "map", "ndcg": "ndcg"}
    labels = [f"{name}@{k}" for name in names.values() for k in case.ks]

    def evaluated(lists: list[list[float]], asked: list[str]) -> dict[str, float]:
        grades = [grade for row in lists for grade in row]
        feature = np.zeros((len(grades), 1))
        data = theirs.DMatrix(feature, label=grades, group=[len(row) for row in lists])
        data.set_base_margin([-float(place) for row in lists for place in range(len(row))])
        options = {"objective": "rank:ndcg", "eval_metric": asked, "nthread": 1}
        words = theirs.Booster(options, [data]).eval(data).split("\t")[1:]
        pairs = (word.removeprefix("eval-").rpartition(":") for word in words)
        return {label: float(value) for label, _, value in pairs}

    def found(lists: list[list[float]]) -> dict[str, float]:
        binary = [[float(grade > 0) for grade in row] for row in lists]  # the others refuse grades
        of_grades = [label for label in labels if label.startswith("ndcg")]
        others = [label for label in labels if label not in of_grades]
        return evaluated(lists, of_grades) | evaluated(binary, others)

    lists = case.judged_lists()
    means = found([*lists.values()])
    each = {user: found([row]) for user, row in lists.items()}
    for name, theirs_is in names.items():
        for k in case.ks:
            label = f"{theirs_is}@{k}"
            yield name, k, means[label], {user: row[label] for user, row in each.items()}


def catboost(case: Case) -> Iterator[Answer]:
    """Yield eval_metric of labels, scores and groups."""
    from catboost.utils import eval_metric

    names = {"precision": "PrecisionAt", "recall": "RecallAt", "map": "MAP"}
    names |= {"ndcg": "NDCG", "dcg": "DCG", "mrr": "MRR"}

    def found(lists: list[list[float]], name: str) -> float:
        rows = [(g, -float(i), n) for n, row in enumerate(lists) for i, g in enumerate(row)]
        labels, scores, groups = map(list, zip(*rows, strict=True))
        return float(eval_metric(labels, scores, name, group_id=groups, thread_count=1)[0])

    lists = case.judged_lists()
    for name, theirs in names.items():
        for k in case.ks:
            label = f"{theirs}:top={k}"
            each = {user: found([row], label) for user, row in lists.items()}
            yield name, k, found([*lists.values()], label), each


def pytorch_metric_learning(case: Case) -> Iterator[Answer]:
    """Yield the AccuracyCalculator of each query, whose neighbours are its list."""
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    names = {
        "precision": "precision_at_1",
        "map": "mean_average_precision",
        "map_at_r": "mean_average_precision_at_r",
        "mrr": "mean_reciprocal_rank",
        "r_precision": "r_precision",
    }

    def found(user: str, k: int) -> dict[str, float]:
        relevant = case.relevant.get(user, {})
        neighbours = torch.tensor([case.ranks[user]])
        calculator = AccuracyCalculator(
            include=tuple(names.values()),
            k=k,
            device=torch.device("cpu"),
            knn_func=lambda query, k, *_: (None, neighbours[:, :k]),
            kmeans_func=lambda *_: None,
        )
        labels = torch.tensor([float(item in relevant) for item in range(case.n_items)])
        given = torch.zeros(1, 1), torch.ones(1), torch.zeros(case.n_items, 1), labels
        return dict(calculator.get_accuracy(*given))

    for k in case.ks:
        values = {user: found(user, k) for user in case.truths}
        for name, theirs in names.items():
            if name != "precision" or k == 1:
                yield averaged(name, k, {user: row[theirs] for user, row in values.items()})


def tf_ranking(case: Case) -> Iterator[Answer]:
    """Yield the Keras metrics, which give means alone; its arithmetic is in single precision."""
    import tensorflow as tf
    from tensorflow_ranking import keras

    kinds = {
        "hit": keras.metrics.HitsMetric,
        "precision": keras.metrics.PrecisionMetric,
        "recall": keras.metrics.RecallMetric,
        "map": keras.metrics.MeanAveragePrecisionMetric,
        "mrr": keras.metrics.MRRMetric,
        "ndcg": keras.metrics.NDCGMetric,
        "dcg": keras.metrics.DCGMetric,
    }
    lists = [*case.judged_lists().values()]
    width = max(map(len, lists))
    padded = tf.constant([row + [-1.0] * (width - len(row)) for row in lists])
    scores = tf.constant([[float(-place) for place in range(width)] for _ in lists])
    for name, kind in kinds.items():
        for k in case.ks:
            yield name, k, float(kind(topn=k)(padded, scores)), None


def evidently(case: Case) -> Iterator[Answer]:
    """Yield the curves of a report down to the longest list, below which it has none."""
    import pandas as pd
    from evidently.legacy import metrics as theirs
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    kinds = {
        "hit": theirs.HitRateKMetric,
        "precision": theirs.PrecisionTopKMetric,
        "recall": theirs.RecallTopKMetric,
        "map": theirs.MAPKMetric,
        "mar": theirs.MARKMetric,
        "mrr": theirs.MRRKMetric,
        "ndcg": theirs.NDCGKMetric,
    }
    lists = case.judged_lists()
    rows = [(u, rank, g) for u, row in lists.items() for rank, g in enumerate(row, 1)]
    data = pd.DataFrame(rows, columns=["user_id", "prediction", "target"])
    columns = ColumnMapping(
        target="target", prediction="prediction", user_id="user_id", recommendations_type="rank"
    )
    # Users without clicks are left out, so the deepest k is that of the others.
    deepest = max((len(row) for row in lists.values() if any(row)), default=0)
    ks = [k for k in case.ks if k <= deepest]
    if not ks:
        return
    asked = {name: kind(k=max(ks)) for name, kind in kinds.items()}
    Report(metrics=[*asked.values()]).run(
        reference_data=None, current_data=data, column_mapping=columns
    )
    for name, metric in asked.items():
        curve = metric.get_result().current.tolist()
        for k in ks:
            yield name, k, curve[k - 1], None


# Recommenders


def replay(case: Case) -> Iterator[Answer]:
    """Yield the metrics on pandas frames: values per user, and the means."""
    from replay import metrics as theirs

    kinds = {
        "hit": theirs.HitRate,
        "precision": theirs.Precision,
        "recall": theirs.Recall,
        "map": theirs.MAP,
        "mrr": theirs.MRR,
        "ndcg": theirs.NDCG,
    }
    ranked = case.ranked_frame("query_id", "item_id", "rank")
    ranked["rating"] = -ranked.pop("rank").astype(float)
    true = case.relevant_frame("query_id", "item_id", "rating")
    for name, kind in kinds.items():
        means = kind(case.ks)(ranked, true)
        each = kind(case.ks, mode=theirs.PerUser())(ranked, true)
        for k in case.ks:
            yield name, k, means[f"{kind.__name__}@{k}"], each[f"{kind.__name__}-PerUser@{k}"]


def cornac(case: Case) -> Iterator[Answer]:
    """Yield ranking_eval of a model that ranks as the lists do; MRR only where all have a hit."""
    import numpy as np
    from cornac import metrics as theirs
    from cornac.data import Dataset
    from cornac.eval_methods.base_method import ranking_eval

    names = [*case.truths]

    class Given:
        def rank(self, user_idx: int, item_indices: Any, k: int) -> tuple[Any, None]:
            row = case.ranks.get(names[user_idx], [])
            return np.array(row if k < 0 else row[:k], int), None

    def data(triples: list[tuple[int, int, float]]) -> Dataset:
        users, items, ratings = map(np.array, zip(*triples, strict=True))
        n_items = case.n_items + 1  # one more, which nobody has, for the set of training
        numbers = dict(enumerate(range(len(names)))), dict(enumerate(range(n_items)))
        return Dataset(len(names), n_items, *numbers, (users, items, ratings))

    rows = enumerate(case.truths.values())
    test = data([(user, item, grade) for user, truth in rows for item, grade in truth.items()])
    train = data([(0, case.n_items, 1.0)])
    kinds: dict[str, Callable[[int], Any]] = {
        "hit": theirs.HitRatio,
        "precision": theirs.Precision,
        "recall": theirs.Recall,
        "f1": theirs.FMeasure,
        "ndcg": theirs.NDCG,
        "ncrr": theirs.NCRR,
    }
    asked = {(name, k): kind(k) for name, kind in kinds.items() for k in case.ks}
    users = case.relevant.items()
    if all(not truth.keys().isdisjoint(case.ranks.get(user, ())) for user, truth in users):
        asked |= {("mrr", k): theirs.MRR() for k in case.ks if k >= case.longest}
    means, each = ranking_eval(Given(), [*asked.values()], train, test, exclude_unknowns=False)
    for (name, k), mean, values in zip(asked, means, each, strict=True):
        yield name, k, mean, {names[user]: value for user, value in values.items()}


def recpack(case: Case) -> Iterator[Answer]:
    """Yield ``calculate`` of sparse matrices of scores and of relevant items."""
    from recpack import metrics as theirs
    from scipy.sparse import csr_matrix

    kinds = {
        "cg": theirs.HitK,
        "precision": theirs.PrecisionK,
        "recall": theirs.RecallK,
        "calibrated_recall": theirs.CalibratedRecallK,
        "mrr": theirs.ReciprocalRankK,
        "dcg": theirs.DCGK,
        "ndcg": theirs.NDCGK,
    }
    names = [*case.truths]

    def matrix(triples: list[tuple[float, int, int]]) -> Any:
        values, rows, columns = zip(*triples, strict=True)
        return csr_matrix((values, (rows, columns)), (len(names), case.n_items))

    run, relevant = case.run(), case.relevant
    given = [(s, u, int(i)) for u, name in enumerate(names) for i, s in run.get(name, {}).items()]
    true = [(1.0, u, i) for u, name in enumerate(names) for i in relevant.get(name, ())]
    for name, kind in kinds.items():
        for k in case.ks:
            metric = kind(k)
            metric.calculate(matrix(true), matrix(given))
            each = metric.results.groupby("user_id")["score"].sum().to_dict()
            yield name, k, metric.value, {names[user]: each[user] for user in each}


def elliot(case: Case) -> Iterator[Answer]:
    """Yield ``eval`` and ``eval_user_metric``, whose threshold of relevance is 1."""
    from elliot.evaluation import metrics as theirs
    from elliot.evaluation.relevance.relevance import Relevance

    kinds = {
        "hit": theirs.HR,
        "precision": theirs.Precision,
        "recall": theirs.Recall,
        "f1": theirs.F1,
        "mrr": theirs.MRR,
        "ndcg": theirs.nDCG,
    }
    lists = {
        user: [(item, -float(place)) for place, item in enumerate(row)]
        for user, row in case.ranks.items()
        if user in case.truths
    }
    for name, kind in kinds.items():
        for k in case.ks:
            known = SimpleNamespace(relevance=Relevance(case.truths, 1), cutoff=k)
            metric = kind(lists, None, None, known)
            yield name, k, float(metric.eval()), metric.eval_user_metric()


PEERS = {
    peer.__name__: peer
    for peer in (
        llamaindex,
        haystack,
        mlflow,
        ragas,
        sentence_transformers,
        mteb,
        beir,
        torchmetrics,
        lightgbm,
        xgboost,
        catboost,
        pytorch_metric_learning,
        tf_ranking,
        evidently,
        replay,
        cornac,
        recpack,
        elliot,
    )
} | {"haystack_2025": haystack}
