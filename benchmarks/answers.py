"""What each peer answers: its own functions on given populations, run in its own environment.

    python answers.py ranx < populations.json      # the last line printed is JSON

Nothing of toplist is imported here, nor anything but the standard library before a peer is named.
A peer is one function of a `Case`: it yields answers, each a metric (by toplist's name), a k, the
peer's mean and, where the peer gives them, its values per user. What a peer has no form for is
translated as its own documents say: a frame has no rows for an empty list, and an item judged 0
is no row of a frame of relevant items.
"""

import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

from answers_read import PEERS as READ
from answers_retrieval import PEERS as RETRIEVAL
from case import Answer, Case, averaged, read


def ranx(case: Case) -> Iterator[Answer]:
    """Yield ``evaluate`` of Qrels and Run; its rank-biased precision has no cut-off."""
    from ranx import Qrels, Run, evaluate

    names = {"hit": "hit_rate", "cg": "hits"}
    names |= {name: name for name in ("precision", "recall", "f1", "map", "mrr", "dcg", "ndcg")}
    asked = {f"{theirs}@{k}": (ours, k) for ours, theirs in names.items() for k in case.ks}
    run = Run(case.run())
    means = evaluate(Qrels(case.qrels), run, [*asked, "rbp.80"], make_comparable=True)
    for theirs, (ours, k) in asked.items():
        yield ours, k, means[theirs], dict(run.scores[theirs])
    for k in case.ks:
        if k >= case.longest:
            yield "rbp", k, means["rbp.80"], dict(run.scores["rbp.80"])


def pytrec_eval(case: Case) -> Iterator[Answer]:
    """Yield values per user and their mean; k cuts the run for recip_rank and Rprec."""
    from pytrec_eval import RelevanceEvaluator

    cut = {
        name: f"{name}.{','.join(map(str, case.ks))}"
        for name in ("success", "P", "recall", "map_cut", "ndcg_cut")
    }
    ours = ("hit", "precision", "recall", "map", "ndcg")
    qrels = case.qrels
    found = RelevanceEvaluator(qrels, set(cut.values())).evaluate(case.run())
    for name, theirs in zip(ours, cut, strict=True):
        for k in case.ks:
            yield averaged(name, k, {u: row[f"{theirs}_{k}"] for u, row in found.items()})
    for k in case.ks:
        found = RelevanceEvaluator(qrels, {"recip_rank", "Rprec"}).evaluate(case.run(k))
        for name, theirs in (("mrr", "recip_rank"), ("r_precision", "Rprec")):
            yield averaged(name, k, {user: row[theirs] for user, row in found.items()})


def sklearn(case: Case) -> Iterator[Answer]:
    """Yield ndcg_score and dcg_score of score rows, in which every item has its place."""
    from sklearn.metrics import dcg_score, ndcg_score

    relevance, scores = case.grade_matrix(), case.score_matrix()
    for name, score in (("ndcg", ndcg_score), ("dcg", dcg_score)):
        for k in case.ks:
            rows = zip(case.truths, relevance, scores, strict=True)
            each = {user: float(score([row], [given], k=k)) for user, row, given in rows}
            yield name, k, float(score(relevance, scores, k=k)), each


def rectools(case: Case) -> Iterator[Answer]:
    """Yield ``calc_per_user`` and its mean."""
    from rectools import metrics

    kinds: dict[str, Callable[[int], Any]] = {
        "hit": metrics.HitRate,
        "precision": metrics.Precision,
        "recall": metrics.Recall,
        "f1": metrics.F1Beta,
        "map": metrics.MAP,
        "ndcg": metrics.NDCG,
        "mrr": metrics.MRR,
    }
    reco = case.ranked_frame("user_id", "item_id", "rank")
    interactions = case.relevant_frame("user_id", "item_id", "weight")
    for name, kind in kinds.items():
        for k in case.ks:
            each = kind(k).calc_per_user(reco, interactions)
            yield name, k, float(each.mean()), each.to_dict()


def lenskit(case: Case) -> Iterator[Answer]:
    """Yield RunAnalysis: its list metrics and their summary."""
    from lenskit.data import ItemList, ItemListCollection, UserIDKey
    from lenskit.metrics import DCG, NDCG, Hit, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision

    kinds = {"hit": Hit, "precision": Precision, "recall": Recall, "map": AveragePrecision}
    kinds |= {"mrr": RecipRank, "ndcg": NDCG, "dcg": DCG}
    analysis = RunAnalysis()
    for name, kind in kinds.items():
        options = {"gain": "grade"} if name in ("ndcg", "dcg") else {}
        for k in case.ks:
            analysis.add_metric(kind(k, **options), f"{name}@{k}")
    lists, truths = ItemListCollection(UserIDKey), ItemListCollection(UserIDKey)
    for user, row in case.ranks.items():
        lists.add(ItemList(row, ordered=True), user_id=user)
    for user, truth in case.relevant.items():
        truths.add(ItemList([*truth], grade=[*truth.values()]), user_id=user)
    measured = analysis.measure(lists, truths)
    means, each = measured.list_summary()["mean"], measured.list_metrics()
    for name in kinds:
        for k in case.ks:
            label = f"{name}@{k}"
            yield name, k, float(means[label]), each[label].to_dict()


def recommenders(case: Case) -> Iterator[Answer]:
    """Yield the functions of python_evaluation, which give means alone."""
    from recommenders.evaluation import python_evaluation as theirs

    functions = {
        "precision": theirs.precision_at_k,
        "recall": theirs.recall_at_k,
        "map": theirs.map,
        "map_at_k": theirs.map_at_k,
        "ndcg": theirs.ndcg_at_k,
    }
    predicted = case.ranked_frame("userID", "itemID", "rank")
    predicted["prediction"] = -predicted.pop("rank").astype(float)
    true = case.relevant_frame("userID", "itemID", "rating")
    for name, function in functions.items():
        for k in case.ks:
            yield name, k, float(function(true, predicted, k=k, score_type="raw")), None


def implicit(case: Case) -> Iterator[Answer]:
    """Yield ranking_metrics_at_k of a model that recommends the lists, short ones filled by -1."""
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    class Given:
        def recommend(self, users: Any, _: Any, N: int) -> tuple[Any, None]:
            rows = [case.ranks.get(names[user], [])[:N] for user in users]
            return np.array([row + [-1] * (N - len(row)) for row in rows], np.int32), None

    names = list(case.truths)
    places = [(u, item) for u, name in enumerate(names) for item in case.relevant.get(name, ())]
    rows, columns = np.array(places).T
    shape = len(names), case.n_items + 1  # its AUC divides by the number of irrelevant items
    test = csr_matrix((np.ones(len(places)), (rows, columns)), shape)
    for k in case.ks:
        found = ranking_metrics_at_k(Given(), csr_matrix(shape), test, k, show_progress=False)
        for name in ("precision", "map", "ndcg"):
            yield name, k, found[name], None


def irspack(case: Case) -> Iterator[Answer]:
    """Yield evaluate_recommendation_df, which has no cut-off, so k cuts the frame."""
    from irspack.evaluation.evaluate_df_to_df import evaluate_recommendation_df

    ranked = case.ranked_frame("user", "item", "rank")
    true = case.relevant_frame("user", "item", "grade")
    for k in case.ks:
        found = evaluate_recommendation_df(ranked[ranked["rank"] <= k], true, "user", "item", 1)
        for name in ("hit", "precision", "recall", "map", "ndcg"):
            yield name, k, found[name], None


def rs_metrics(case: Case) -> Iterator[Answer]:
    """Yield the functions on dicts of lists."""
    import rs_metrics as theirs

    functions = {
        "hit": theirs.hitrate,
        "precision": theirs.precision,
        "recall": theirs.recall,
        "map": theirs.mapr,
        "ndcg": theirs.ndcg,
        "mrr": theirs.mrr,
    }
    truths = {user: list(row) for user, row in case.relevant.items()}
    for name, function in functions.items():
        for k in case.ks:
            each = function(truths, case.ranks, k=k, apply_mean=False)
            values = dict(zip(truths, map(float, each), strict=True))
            yield name, k, float(function(truths, case.ranks, k=k)), values


def recbole(case: Case) -> Iterator[Answer]:
    """Yield metric_info, the cumulative values per user that RecBole rounds the means of."""
    import numpy as np
    from recbole.evaluator import metrics

    kinds = {
        "hit": metrics.Hit,
        "precision": metrics.Precision,
        "recall": metrics.Recall,
        "map": metrics.MAP,
        "ndcg": metrics.NDCG,
        "mrr": metrics.MRR,
    }
    deepest = max(case.ks)
    hits = np.zeros((len(case.relevant), deepest), bool)
    for row, (user, truth) in zip(hits, case.relevant.items(), strict=True):
        found = [item in truth for item in case.ranks.get(user, [])[:deepest]]
        row[: len(found)] = found
    sizes = np.array([len(truth) for truth in case.relevant.values()])
    for name, kind in kinds.items():
        metric = kind({"topk": case.ks, "metric_decimal_place": 4})
        needs_sizes = name in ("recall", "map", "ndcg")
        values = metric.metric_info(hits, sizes) if needs_sizes else metric.metric_info(hits)
        for k in case.ks:
            yield averaged(
                name, k, dict(zip(case.relevant, values[:, k - 1].tolist(), strict=True))
            )


def rectorch(case: Case) -> Iterator[Answer]:
    """Yield Metrics.compute of score rows, in which every item has its place."""
    import numpy as np
    from rectorch.metrics import Metrics

    scores, truth = np.array(case.score_matrix()), np.array(case.grade_matrix())
    names = [f"{name}@{k}" for name in ("hit", "recall", "ndcg", "mrr") for k in case.ks]
    for label, values in Metrics.compute(scores, truth, names).items():
        name, _, k = label.partition("@")
        yield averaged(name, int(k), dict(zip(case.truths, map(float, values), strict=True)))


def spark(case: Case) -> Iterator[Answer]:
    """Yield the methods of RankingMetrics, which give means alone."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    local = SparkSession.builder.master("local[1]").config(map=quiet)
    context = local.getOrCreate().sparkContext
    context.setLogLevel("OFF")
    rows = [(case.ranks.get(u, []), [*case.relevant.get(u, ())]) for u in case.truths]
    found = RankingMetrics(context.parallelize(rows, 1))
    methods = {
        "precision": found.precisionAt,
        "recall": found.recallAt,
        "map": found.meanAveragePrecisionAt,
        "ndcg": found.ndcgAt,
    }
    for name, method in methods.items():
        for k in case.ks:
            yield name, k, method(k), None


PEERS = {
    peer.__name__: peer
    for peer in (
        rectools,
        ranx,
        pytrec_eval,
        sklearn,
        recommenders,
        lenskit,
        irspack,
        implicit,
        rs_metrics,
        recbole,
        rectorch,
        spark,
    )
} | {**RETRIEVAL, **READ}


def main() -> None:
    """Answer every population of the standard input."""
    name, package = sys.argv[1:]
    cases = map(read, json.load(sys.stdin))
    answers = [list(PEERS[name](case)) for case in cases]
    # A peer's numbers may be numpy's, which are no JSON.
    print()
    print(json.dumps({"version": version(package), "answers": answers}, default=float))


if __name__ == "__main__":
    main()
