"""Does each convention give its peer's numbers? Means, and values of users where a peer has them.

A peer answers by a mean, values by user, or both; values alone are averaged where they are numbers.
What a peer has no form for is translated as its own documents say: a frame has no rows for an empty
list, and an item judged 0 is no row of a frame of relevant items.

Populations have no duplicates, long, short and even lists, k beyond both, grades, and users without
truth, without a list or without either where the peer takes them.
"""

import asyncio
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any

import engine
from engine import Peer, Question, peers_of

SEED = 20_201


# Populations


@dataclass(eq=False)
class Population(engine.Population):
    """Ranked lists and judged items by user, in the forms that peers take, and the cut-offs."""

    ks: list[int]
    ranks: dict[str, list[int]]
    truths: dict[str, dict[int, float]]

    @cached_property
    def relevant(self) -> dict[str, dict[int, float]]:
        """The items judged above 0, of the users who have any."""
        rows = {u: {i: g for i, g in truth.items() if g > 0} for u, truth in self.truths.items()}
        return {user: row for user, row in rows.items() if row}

    @property
    def lists(self) -> dict[str, list[int]]:
        """The list of every user with a truth, if only an empty one."""
        return {user: self.ranks.get(user, []) for user in self.truths}

    @property
    def n_items(self) -> int:
        """One more than the largest id."""
        return 1 + max(i for row in (*self.ranks.values(), *self.truths.values()) for i in row)

    @property
    def longest(self) -> int:
        """Length of the longest list."""
        return max(map(len, self.ranks.values()))

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The ground truths with whole grades and ids that are strings."""
        return {u: {str(i): int(g) for i, g in truth.items()} for u, truth in self.truths.items()}

    def run(self, k: int | None = None) -> dict[str, dict[str, float]]:
        """Return each list as scores that fall, from its length to 1, by ids that are strings."""
        return {
            user: {str(item): float(len(row) - place) for place, item in enumerate(row[:k])}
            for user, row in self.ranks.items()
        }

    def labels(self) -> dict[str, list[float]]:
        """Return the grades along each list that is not empty, of users with a ground truth."""
        return {
            u: [self.truths[u].get(i, 0.0) for i in row] for u, row in self.lists.items() if row
        }

    def matrices(self) -> tuple[list[list[float]], list[list[float]]]:
        """Return users x items: grades, and scores that fall along lists of every item."""
        items, lists = range(self.n_items), self.lists.values()
        grades = [[truth.get(item, 0.0) for item in items] for truth in self.truths.values()]
        return grades, [[float(-row.index(item)) for item in items] for row in lists]

    def ranked_frame(self, *columns: str, scores: bool = False) -> Any:
        """Return a row per user and listed item, with its rank, or a score that falls with it."""
        turn = (lambda rank: -float(rank)) if scores else int
        rows = ((u, enumerate(row, 1)) for u, row in self.ranks.items())
        return _frame(((u, item, turn(rank)) for u, row in rows for rank, item in row), columns)

    def relevant_frame(self, *columns: str) -> Any:
        """Return a row per user and relevant item, with its grade."""
        rows = ((u, row.items()) for u, row in self.relevant.items())
        return _frame(((user, item, grade) for user, row in rows for item, grade in row), columns)

    def shown(self, user: str, k: int) -> str:
        """Say what a value was computed from."""
        users = [user] if user else [*self.truths]
        lists = {one: self.ranks[one][:k] for one in users if one in self.ranks}
        return f"{lists}, {[self.truths.get(one) for one in users]}"

    def by_subject(self, found: Any) -> dict[str, float] | None:
        """Return a mean, values, or both as values of users, NaN for those left out."""
        if found is None:
            return None
        if not isinstance(found, dict | tuple):
            return {"": float(found)}
        if isinstance(found, dict):
            numbers = [value for value in found.values() if not math.isnan(value)]
            found = math.fsum(numbers) / len(numbers), found
        return {"": float(found[0]), **dict.fromkeys(self.truths, math.nan), **found[1]}

    def here(self, side: str, question: Question) -> dict[int, dict[str, float]]:
        """Return the mean, by "", and the values of users, by the policies of a convention."""
        import sides

        truths: dict[str, Any] = self.truths
        if all(grade <= 1 for row in truths.values() for grade in row.values()):  # sets
            truths = {user: {i for i, g in row.items() if g} for user, row in truths.items()}
        rules = {"empty": None, "missing": None, **question.given}
        return getattr(sides, side)(question.ours, self.ranks, truths, self.ks, **rules)


def _frame(rows: Iterable[tuple[str, int, float]], columns: tuple[str, ...]) -> Any:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns))


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw the populations that a peer takes; an input is one of them at one of four k's."""
    source = random.Random(SEED)
    n = math.ceil(n_inputs / 4 * peer.share)
    return [population(source, {*peer.takes.split()}) for _ in range(n)]


def population(source: random.Random, takes: set[str]) -> Population:
    """Draw one to eight users; the first has a truth and a list, whatever the others lack."""
    n_items = source.randint(2, 60)
    longest = source.randint(1, min(30, n_items))
    even = source.random() < 0.3
    grades = (0, 1, 2, 3, 4) if "grades" in takes and source.random() < 0.5 else (1,)
    ranks, truths = {}, {}
    for user in (f"u{place}" for place in range(source.randint(1, 8))):
        length = n_items if "whole" in takes else source.randint(longest if even else 1, longest)
        ranks[user] = source.sample(range(n_items), length)
        relevant = source.sample(range(n_items), source.randint(1, min(12, n_items)))
        truths[user] = {item: float(source.choice(grades)) for item in relevant}
        truths[user][relevant[0]] = float(source.choice(grades[-4:]))
        if user == "u0":
            continue
        if "empty" in takes and source.random() < 0.15:  # one item judged 0
            truths[user] = {next(iter(truths[user])): 0.0}
        if "missing" in takes and source.random() < 0.15:
            del ranks[user]
        elif "blank" in takes and source.random() < 0.15:
            ranks[user] = []
    if "extra" in takes and source.random() < 0.2:
        ranks["x"] = source.sample(range(n_items), longest)
    deepest = longest if "shallow" in takes else 40
    ks = source.sample(range(1, deepest + 1), min(4, deepest))
    return Population(sorted(ks), ranks, truths)


# Where differences are stated


def of_users(some: Callable[[Population, int], set[str]]) -> Callable[..., Any]:
    """Return that anything may be the value of some users, and the mean if there are any."""

    def instead(case: Population, _: Question, user: str, k: int) -> Any:
        users = some(case, k)
        return ... if user in users or (users and not user) else None

    return instead


@of_users
def graded(case: Population, k: int) -> set[str]:
    """Return the users who have a grade above 1."""
    return {user for user, truth in case.truths.items() if max(truth.values()) > 1}


@of_users
def with_neither(case: Population, k: int) -> set[str]:
    """Return the users who have neither a relevant item nor a list."""
    return {user for user in case.truths.keys() - case.relevant if not case.ranks.get(user)}


@of_users
def ending_in_a_hit(case: Population, k: int) -> set[str]:
    """Return the users whose list is shorter than k and has a relevant item at its end."""
    lists = {user: row for user, row in case.ranks.items() if 0 < len(row) < k}
    return {user for user, row in lists.items() if row[-1] in case.relevant.get(user, ())}


# Recommenders


def rectools(case: Population, theirs: str, k: int) -> Any:
    """Return ``calc_per_user`` and its mean."""
    from rectools import metrics

    reco = case.ranked_frame("user_id", "item_id", "rank")
    interactions = case.relevant_frame("user_id", "item_id", "weight")
    each = getattr(metrics, theirs)(k).calc_per_user(reco, interactions)
    return each.mean(), each.to_dict()


def ranx(case: Population, theirs: str, k: int) -> Any:
    """Return ``evaluate`` of Qrels and Run; its rank-biased precision has no cut-off."""
    from ranx import Qrels, Run, evaluate

    if "." in theirs and k < case.longest:
        return None
    run, label = Run(case.run()), theirs if "." in theirs else f"{theirs}@{k}"
    mean = evaluate(Qrels(case.qrels), run, label, make_comparable=True)
    return mean, dict(run.scores[label])


def pytrec_eval(case: Population, theirs: str, k: int) -> Any:
    """Return values of users; k cuts the run for recip_rank and Rprec."""
    from pytrec_eval import RelevanceEvaluator

    uncut = theirs in ("recip_rank", "Rprec")
    name, run = (theirs, case.run(k)) if uncut else (f"{theirs}_{k}", case.run())
    found = RelevanceEvaluator(case.qrels, {name}).evaluate(run)
    return {user: row[name] for user, row in found.items()}


def sklearn(case: Population, theirs: str, k: int) -> Any:
    """Return ndcg_score and dcg_score of score rows, in which every item has its place."""
    from sklearn import metrics

    score, (grades, scores) = getattr(metrics, theirs), case.matrices()
    each = [float(score([row], [own], k=k)) for row, own in zip(grades, scores, strict=True)]
    return score(grades, scores, k=k), dict(zip(case.truths, each, strict=True))


def recommenders(case: Population, theirs: str, k: int) -> Any:
    """Return the functions of python_evaluation, which give means alone."""
    from recommenders.evaluation import python_evaluation as package

    predicted = case.ranked_frame("userID", "itemID", "prediction", scores=True)
    true = case.relevant_frame("userID", "itemID", "rating")
    return getattr(package, theirs)(true, predicted, k=k, score_type="raw")


@cache
def analysed(case: Population, metric: str) -> Any:
    """Return LensKit's RunAnalysis of a metric at every k."""
    from lenskit.data import ItemList, ItemListCollection, UserIDKey
    from lenskit.metrics import RunAnalysis, ranking

    lists, truths = ItemListCollection(UserIDKey), ItemListCollection(UserIDKey)
    for user, row in case.ranks.items():
        lists.add(ItemList(row, ordered=True), user_id=user)
    for user, truth in case.relevant.items():
        truths.add(ItemList([*truth], grade=[*truth.values()]), user_id=user)
    analysis, options = RunAnalysis(), {"gain": "grade"} if metric.endswith("DCG") else {}
    for k in case.ks:
        analysis.add_metric(getattr(ranking, metric)(k, **options), k)
    return analysis.measure(lists, truths)


def lenskit(case: Population, theirs: str, k: int) -> Any:
    """Return RunAnalysis: its list metrics and their summary."""
    found = analysed(case, theirs)
    return found.list_summary()["mean"][k], found.list_metrics()[k].to_dict()


def irspack(case: Population, theirs: str, k: int) -> Any:
    """Return evaluate_recommendation_df, which has no cut-off, so k cuts the frame."""
    from irspack.evaluation.evaluate_df_to_df import evaluate_recommendation_df

    ranked = case.ranked_frame("user", "item", "rank")
    true = case.relevant_frame("user", "item", "grade")
    return evaluate_recommendation_df(ranked[ranked["rank"] <= k], true, "user", "item", 1)[theirs]


def implicit(case: Population, theirs: str, k: int) -> Any:
    """Return ranking_metrics_at_k of a model that recommends the lists, short ones filled by -1."""
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    lists = [*case.lists.values()]

    class Given:
        def recommend(self, users: Any, _: Any, N: int) -> tuple[Any, None]:
            rows = [lists[user][:N] for user in users]
            return np.array([row + [-1] * (N - len(row)) for row in rows], np.int32), None

    places = [
        (u, item) for u, name in enumerate(case.truths) for item in case.relevant.get(name, ())
    ]
    shape = len(lists), case.n_items + 1  # its AUC divides by the number of irrelevant items
    test = csr_matrix((np.ones(len(places)), tuple(np.array(places).T)), shape)
    return ranking_metrics_at_k(Given(), csr_matrix(shape), test, k, show_progress=False)[theirs]


def rs_metrics(case: Population, theirs: str, k: int) -> Any:
    """Return the functions on dicts of lists."""
    import rs_metrics as package

    truths = {user: list(row) for user, row in case.relevant.items()}
    mean, each = (
        getattr(package, theirs)(truths, case.ranks, k=k, apply_mean=one) for one in (True, False)
    )
    return mean, dict(zip(truths, map(float, each), strict=True))


def recbole(case: Population, theirs: str, k: int) -> Any:
    """Return metric_info, the cumulative values per user that RecBole rounds the means of."""
    import numpy as np
    from recbole.evaluator import metrics

    hits = np.zeros((len(case.relevant), max(case.ks)), bool)
    for row, (user, truth) in zip(hits, case.relevant.items(), strict=True):
        found = [item in truth for item in case.lists[user][: len(row)]]
        row[: len(found)] = found
    sizes = np.array([len(truth) for truth in case.relevant.values()])
    given = (hits, sizes) if theirs in ("Recall", "MAP", "NDCG") else (hits,)
    metric = getattr(metrics, theirs)({"topk": case.ks, "metric_decimal_place": 4})
    return dict(zip(case.relevant, metric.metric_info(*given)[:, k - 1].tolist(), strict=True))


def rectorch(case: Population, theirs: str, k: int) -> Any:
    """Return Metrics.compute of score rows, in which every item has its place."""
    import numpy as np
    from rectorch.metrics import Metrics

    truth, scores = map(np.array, case.matrices())
    (values,) = Metrics.compute(scores, truth, [f"{theirs}@{k}"]).values()
    return dict(zip(case.truths, map(float, values), strict=True))


def spark(case: Population, theirs: str, k: int) -> Any:
    """Return the methods of RankingMetrics, which give means alone."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    local = SparkSession.builder.master("local[1]").config(map=quiet)
    context = local.getOrCreate().sparkContext
    context.setLogLevel("OFF")
    rows = [(row, [*case.relevant.get(user, ())]) for user, row in case.lists.items()]
    return getattr(RankingMetrics(context.parallelize(rows, 1)), theirs)(k)


def replay(case: Population, theirs: str, k: int) -> Any:
    """Return the metrics on pandas frames: values per user, and the means."""
    from replay import metrics

    ranked = case.ranked_frame("query_id", "item_id", "rating", scores=True)
    true = case.relevant_frame("query_id", "item_id", "rating")
    kind = getattr(metrics, theirs)
    each = kind([k], mode=metrics.PerUser())(ranked, true)[f"{theirs}-PerUser@{k}"]
    return kind([k])(ranked, true)[f"{theirs}@{k}"], each


def cornac(case: Population, theirs: str, k: int) -> Any:
    """Return ranking_eval of a model that ranks as the lists do; MRR only where all have a hit."""
    import numpy as np
    from cornac import metrics
    from cornac.data import Dataset
    from cornac.eval_methods.base_method import ranking_eval

    names, lists = [*case.truths], [*case.lists.values()]
    hit = all(not truth.keys().isdisjoint(case.lists[u]) for u, truth in case.relevant.items())
    if theirs == "MRR" and not (hit and k >= case.longest):
        return None

    class Given:
        def rank(self, user_idx: int, item_indices: Any, k: int) -> tuple[Any, None]:
            return np.array(lists[user_idx][: None if k < 0 else k], int), None

    def data(triples: list[tuple[int, int, float]]) -> Dataset:
        users, items, ratings = map(np.array, zip(*triples, strict=True))
        n_items = case.n_items + 1  # one more, which nobody has, for the set of training
        numbers = dict(enumerate(range(len(names)))), dict(enumerate(range(n_items)))
        return Dataset(len(names), n_items, *numbers, (users, items, ratings))

    judged = enumerate(case.truths.values())
    test = data([(user, item, grade) for user, truth in judged for item, grade in truth.items()])
    train = data([(0, case.n_items, 1.0)])
    metric = metrics.MRR() if theirs == "MRR" else getattr(metrics, theirs)(k)
    means, each = ranking_eval(Given(), [metric], train, test, exclude_unknowns=False)
    return means[0], {names[user]: value for user, value in each[0].items()}


def recpack(case: Population, theirs: str, k: int) -> Any:
    """Return ``calculate`` of sparse matrices of scores and of relevant items."""
    from recpack import metrics
    from scipy.sparse import csr_matrix

    names = [*case.truths]

    def matrix(rows: Any) -> Any:
        triples = [(x, u, int(i)) for u, name in enumerate(names) for i, x in rows(name).items()]
        values, users, items = zip(*triples, strict=True)
        return csr_matrix((values, (users, items)), (len(names), case.n_items))

    metric, run = getattr(metrics, theirs)(k), case.run()
    true = matrix(lambda name: dict.fromkeys(case.relevant.get(name, ()), 1.0))
    metric.calculate(true, matrix(lambda name: run.get(name, {})))
    each = metric.results.groupby("user_id")["score"].sum().to_dict()
    return metric.value, {names[user]: value for user, value in each.items()}


def elliot(case: Population, theirs: str, k: int) -> Any:
    """Return ``eval`` and ``eval_user_metric``, whose threshold of relevance is 1."""
    from elliot.evaluation import metrics
    from elliot.evaluation.relevance.relevance import Relevance

    lists = {
        user: [(item, -float(place)) for place, item in enumerate(row)]
        for user, row in case.lists.items()
        if user in case.ranks
    }
    known = SimpleNamespace(relevance=Relevance(case.truths, 1), cutoff=k)
    metric = getattr(metrics, theirs)(lists, None, None, known)
    return metric.eval(), metric.eval_user_metric()


# Search and retrieval


def llamaindex(case: Population, theirs: str, k: int) -> Any:
    """Return ``compute`` of each query; there is no cut-off, so k cuts the list."""
    from llama_index.core.evaluation.retrieval import metrics

    def found(*both: Any) -> float:
        expected, retrieved = ([*map(str, ids)] for ids in both)
        metric = getattr(metrics, theirs)()
        return metric.compute(expected_ids=expected, retrieved_ids=retrieved).score

    return {user: found(truth, case.ranks[user][:k]) for user, truth in case.relevant.items()}


def haystack(case: Population, theirs: str, k: int) -> Any:
    """Return the evaluators' ``run``; there is no cut-off, so k cuts the list."""
    from haystack import Document
    from haystack.components import evaluators

    relevant = [case.relevant.get(user, {}) for user in case.truths]
    same = [{"id": str(i), "content": str(i)} for i in range(case.n_items)]  # which it compares
    truths = [[Document(**same[i], score=g) for i, g in row.items()] for row in relevant]
    lists = [[Document(**same[i]) for i in row[:k]] for row in case.lists.values()]
    kind, *mode = theirs.split(":")
    found = getattr(evaluators, kind)(*mode).run(truths, lists)
    return found["score"], dict(zip(case.truths, found["individual_scores"], strict=True))


haystack_2025 = haystack  # another release


def mlflow(case: Population, theirs: str, k: int) -> Any:
    """Return the scores and the mean of each EvaluationMetric."""
    import pandas as pd
    from mlflow import metrics

    lists = pd.Series([*case.lists.values()])
    truths = pd.Series([[*case.relevant.get(user, ())] for user in case.truths])
    found = getattr(metrics, theirs)(k)(predictions=lists, targets=truths)
    return found.aggregate_results["mean"], dict(zip(case.truths, found.scores, strict=True))


def ragas(case: Population, theirs: str, k: int) -> Any:
    """Return precision and recall by ids; there is no cut-off, so k cuts the list."""
    from ragas import SingleTurnSample, metrics

    async def scores() -> dict[str, float]:
        metric, values = getattr(metrics, theirs)(), {}
        for user, row in case.lists.items():
            ids = {"reference_context_ids": [*case.relevant.get(user, ())]}
            sample = SingleTurnSample(retrieved_context_ids=row[:k], **ids)
            values[user] = await metric.single_turn_ascore(sample)
        return values

    return asyncio.run(scores())


@cache
def searched(case: Population, *queries: str) -> Any:
    """Return ``compute_metrics`` of sentence-transformers on hits as of a search for queries."""
    from sentence_transformers.sentence_transformer import evaluation

    options = ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")
    truths = {user: {*map(str, case.relevant.get(user, ()))} for user in case.truths}
    given = dict.fromkeys(queries, ""), {}, truths
    evaluator = evaluation.InformationRetrievalEvaluator(*given, **dict.fromkeys(options, case.ks))
    run = case.run()
    hits = [
        [{"corpus_id": doc, "score": score} for doc, score in run.get(query, {}).items()]
        for query in evaluator.queries_ids
    ]
    return evaluator.compute_metrics(hits)


def sentence_transformers(case: Population, theirs: str, k: int) -> Any:
    """Return values of all queries together, and of each alone."""
    each = {query: searched(case, query)[theirs][k] for query in case.relevant}
    return searched(case, *case.ranks, *case.truths)[theirs][k], each


def mteb(case: Population, theirs: str, k: int) -> Any:
    """Return the values per query that MTEB takes the means of, before it rounds those."""
    from mteb._evaluators import retrieval_metrics as package

    run = case.run()
    if theirs == "MRR":
        return dict(zip(run, package.mrr(case.qrels, run, [k])[f"MRR@{k}"], strict=True))
    if theirs == "R_cap_at":
        found = zip(run, package.recall_cap(case.qrels, run, [k])[f"R_cap_at_{k}"], strict=True)
        return {user: math.nan if value is None else value for user, value in found}
    scores = package.calculate_retrieval_scores(run, case.qrels, [k]).all_scores
    return {user: row[f"{theirs}_{k}"] for user, row in scores.items()}


def beir(case: Population, theirs: str, k: int) -> Any:
    """Return EvaluateRetrieval's means, which it rounds to 5 decimals."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    given = case.qrels, case.run(), [k]
    custom = {"MRR": "mrr", "R_cap": "recall_cap", "Accuracy": "top_k_accuracy"}
    if theirs in custom:
        parts = [EvaluateRetrieval.evaluate_custom(*given, custom[theirs])]
    else:
        parts = EvaluateRetrieval.evaluate(*given)
    return next(part[f"{theirs}@{k}"] for part in parts if f"{theirs}@{k}" in part)


# Labels of the listed items, beside scores


def torchmetrics(case: Population, theirs: str, k: int) -> Any:
    """Return the retrieval metrics of labels and scores, which it computes in single precision.

    R-precision has no cut-off, so it is asked where k covers the lists.
    """
    import torch
    from torchmetrics import retrieval as classes
    from torchmetrics.functional import retrieval as functions

    kind, function = theirs.split(":")
    if kind == "RPrecision" and k < case.longest:
        return None
    options = {} if kind == "RPrecision" else {"top_k": k}
    lists = case.labels()
    scores = {user: torch.arange(len(row), 0.0, -1.0) for user, row in lists.items()}
    labels = {user: torch.tensor(row).long() for user, row in lists.items()}
    if kind != "NormalizedDCG":
        labels = {user: (row > 0).long() for user, row in labels.items()}
    sizes = torch.tensor([len(row) for row in lists.values()])
    indexes = torch.repeat_interleave(torch.arange(len(lists)), sizes)
    metric = getattr(classes, f"Retrieval{kind}")(**options)
    metric.update(torch.cat([*scores.values()]), torch.cat([*labels.values()]), indexes=indexes)
    one = getattr(functions, f"retrieval_{function}")
    each = {user: float(one(scores[user], labels[user], **options)) for user in lists}
    return metric.compute(), each


def of_groups(value: Callable[[list[list[float]], str, int], float]) -> Callable[..., Any]:
    """Return a value of the labels of all users, and those of each alone."""

    def answer(case: Population, theirs: str, k: int) -> Any:
        lists = case.labels()
        each = {user: value([row], theirs, k) for user, row in lists.items()}
        return value([*lists.values()], theirs, k), each

    return answer


def scored(lists: list[list[float]]) -> tuple[list[float], list[float]]:
    """Return the labels of all lists, and scores that fall along each."""
    labels = [label for row in lists for label in row]
    return labels, [-float(place) for row in lists for place in range(len(row))]


@of_groups
def lightgbm(lists: list[list[float]], theirs: str, k: int) -> float:
    """Return the metric of a ranker before its first tree, so that the scores are those given."""
    import lightgbm as package
    import numpy as np

    quiet = {"verbose": -1, "num_threads": 1}
    options = {"objective": "lambdarank", "metric": theirs, "eval_at": [k], **quiet}
    labels, scores = scored(lists)
    feature, sizes = np.arange(len(labels), dtype=float)[:, np.newaxis], [*map(len, lists)]
    data = package.Dataset(feature, labels, group=sizes, init_score=scores, params=quiet)
    ((_, _, value, *_),) = package.Booster(options, data).eval_train()
    return value


@of_groups
def xgboost(lists: list[list[float]], theirs: str, k: int) -> float:
    """Return the metric of a ranker without a tree, whose scores are the margins given."""
    import numpy as np
    import xgboost as package

    labels, scores = scored(lists)
    if theirs != "ndcg":  # the others refuse grades
        labels = [float(label > 0) for label in labels]
    data = package.DMatrix(np.zeros((len(labels), 1)), labels, group=[*map(len, lists)])
    data.set_base_margin(scores)
    options = {"objective": "rank:ndcg", "eval_metric": f"{theirs}@{k}", "nthread": 1}
    return float(package.Booster(options, [data]).eval(data).rpartition(":")[2])


@of_groups
def catboost(lists: list[list[float]], theirs: str, k: int) -> float:
    """Return eval_metric of labels, scores and groups."""
    from catboost.utils import eval_metric

    labels, scores = scored(lists)
    groups = [place for place, row in enumerate(lists) for _ in row]
    name, how = f"{theirs}:top={k}", {"group_id": groups, "thread_count": 1}
    return float(eval_metric(labels, scores, name, **how)[0])


def pytorch_metric_learning(case: Population, theirs: str, k: int) -> Any:
    """Return the AccuracyCalculator of each query, whose neighbours are its list."""
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    if theirs == "precision_at_1" and k != 1:
        return None

    def found(user: str) -> float:
        relevant, neighbours = case.relevant.get(user, {}), torch.tensor([case.ranks[user]])
        calculator = AccuracyCalculator(
            include=(theirs, "r_precision"),  # its mean reciprocal rank alone is an error
            k=k,
            device=torch.device("cpu"),
            knn_func=lambda query, k, *_: (None, neighbours[:, :k]),
            kmeans_func=lambda *_: None,
        )
        labels = torch.tensor([float(item in relevant) for item in range(case.n_items)])
        given = torch.zeros(1, 1), torch.ones(1), torch.zeros(case.n_items, 1), labels
        return calculator.get_accuracy(*given)[theirs]

    return {user: found(user) for user in case.truths}


def tf_ranking(case: Population, theirs: str, k: int) -> Any:
    """Return the Keras metrics, which give means alone; its arithmetic is in single precision."""
    import tensorflow as tf
    from tensorflow_ranking import keras

    lists = [*case.labels().values()]
    width = max(map(len, lists))
    padded = tf.constant([row + [-1.0] * (width - len(row)) for row in lists])
    scores = tf.constant([[float(-place) for place in range(width)] for _ in lists])
    return getattr(keras.metrics, f"{theirs}Metric")(topn=k)(padded, scores)


@cache
def curve(case: Population, theirs: str) -> list[float]:
    """Return Evidently's metric at every k down to the longest list of users who have clicks."""
    import pandas as pd
    from evidently.legacy import metrics
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    lists = case.labels()
    deepest = max((len(row) for row in lists.values() if any(row)), default=0)
    ks = [k for k in case.ks if k <= deepest]
    if not ks:
        return []
    rows = [(u, rank, g) for u, row in lists.items() for rank, g in enumerate(row, 1)]
    data = pd.DataFrame(rows, columns=["user_id", "prediction", "target"])
    names = {"target": "target", "prediction": "prediction", "user_id": "user_id"}
    columns = ColumnMapping(**names, recommendations_type="rank")
    metric = getattr(metrics, f"{theirs}Metric")(k=ks[-1])
    given = {"reference_data": None, "current_data": data, "column_mapping": columns}
    Report(metrics=[metric]).run(**given)
    return metric.get_result().current.tolist()


def evidently(case: Population, theirs: str, k: int) -> Any:
    """Return a point of the curve of a report."""
    found = curve(case, theirs)
    return found[k - 1] if k <= len(found) else None


PEERS = peers_of("conventions")
