"""Does each convention give its peer's numbers? Means, and values of users where a peer has them.

A peer is a function of a `Population`: it returns what answers its own name of a metric at a k, by
a mean, values by user, or both; values alone are averaged where they are numbers. What a peer has
no form for is translated as its own documents say: a frame has no rows for an empty list, and an
item judged 0 is no row of a frame of relevant items.

Populations have no duplicates, long, short and even lists, k beyond both, grades, and users without
truth, without a list or without either where the peer takes them.
"""

import asyncio
import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any

import sources
from engine import EXACT, ROUNDED, SINGLE, Peer, Question

SEED = 20_201
TORCH = "torch==2.13.0"


# Populations


@dataclass(eq=False)
class Population:
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


def _frame(rows: Iterable[tuple[str, int, float]], columns: tuple[str, ...]) -> Any:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns))


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw the populations that a peer takes; an input is one of them at one of four k's.

    They may hold "grades"; users with an "empty" truth, "missing" or with a "blank" list, or
    "extra" ones, in the lists alone. "whole": every list ranks every item. "shallow": no k is
    beyond the longest list.
    """
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


# Both sides here, and how peers are registered


def of_side(side: str, case: Population, question: Question) -> dict[int, dict[str, float]]:
    """Return the mean, by "", and the values of users of one side here, at every k."""
    import sides

    truths: dict[str, Any] = case.truths
    if not graded(case, 0):  # sets
        truths = {user: {i for i, g in row.items() if g} for user, row in truths.items()}
    rules = {"empty": None, "missing": None, **question.given}
    return getattr(sides, side)(question.ours, case.ranks, truths, case.ks, **rules)


by_toplist, by_oracle = partial(of_side, "by_toplist"), partial(of_side, "by_oracle")


def peer(
    package: str,
    names: str,
    *installs: tuple[str, ...],
    convention: str = "",
    takes: str = "",
    apart: Mapping[str, Mapping[str, Any]] = {},
    share: float = 1.0,
    silent: str = "",
    tolerance: float = EXACT,
    name: str = "",
) -> Callable[..., Callable[..., Any]]:
    """Register a peer: a function of a population, which returns what answers its names at a k.

    `names` are words "ours:theirs", or one word for both; `apart` is by names of ours in a text.
    """

    def register(of: Callable[[Population], Callable[[str, int], Any]]) -> Callable[..., Any]:
        key = name or of.__name__
        rules = convention or key.replace("_", "-")
        metrics = [word.partition(":") for word in names.split()]
        group = f"{rules}: {' '.join(ours for ours, _, _ in metrics)}"
        questions = []
        for ours, _, theirs in metrics:
            stated = next((dict(apart[some]) for some in apart if ours in some.split()), {})
            given = {"convention": rules, **stated.pop("given", {})}
            how = {"group": group, "tolerance": tolerance, **stated}
            questions.append(Question(theirs or ours, ours, given, **how))

        def asked(case: Population) -> Callable[[Question, int], dict[str, float] | None]:
            at = of(case)
            return lambda question, k: by_user(at(question.theirs, k), case)

        PEERS[key] = Peer(package, installs, questions, asked, takes, share, silent)
        return of

    return register


def by_user(found: Any, case: Population) -> dict[str, float] | None:
    """Return a mean, values, or both as values of users, NaN for those left out; "" is the mean."""
    if found is None:
        return None
    if not isinstance(found, dict | tuple):
        return {"": float(found)}
    if isinstance(found, dict):
        numbers = [value for value in found.values() if not math.isnan(value)]
        found = math.fsum(numbers) / len(numbers), found
    return {"": float(found[0]), **dict.fromkeys(case.truths, math.nan), **found[1]}


# Where differences are stated: of these users, and of the mean if there are any


def graded(case: Population, k: int) -> set[str]:
    """Return the users who have a grade above 1."""
    return {user for user, truth in case.truths.items() if max(truth.values()) > 1}


def with_neither(case: Population, k: int) -> set[str]:
    """Return the users who have neither a relevant item nor a list."""
    return {user for user in case.truths.keys() - case.relevant if not case.ranks.get(user)}


def ending_in_a_hit(case: Population, k: int) -> set[str]:
    """Return the users whose list is shorter than k and has a relevant item at its end."""
    lists = {user: row for user, row in case.ranks.items() if 0 < len(row) < k}
    return {user for user, row in lists.items() if row[-1] in case.relevant.get(user, ())}


def of_users(some: Callable[[Population, int], set[str]]) -> Callable[..., Any]:
    """Return that anything may be the value of some users, and the mean if there are any."""

    def instead(case: Population, user: str, k: int) -> Any:
        users = some(case, k)
        return ... if user in users or (users and not user) else None

    return instead


def otherwise(metric: str, **given: str) -> Callable[..., float | None]:
    """Return that the value is the one under another policy."""
    question = Question("", metric, given)
    return lambda case, user, k: by_oracle(case, question)[k].get(user)


PEERS: dict[str, Peer] = {}


# Recommenders


@peer(
    "rectools",
    "hit:HitRate precision:Precision recall:Recall f1:F1Beta map:MAP ndcg:NDCG mrr:MRR",
    ("rectools",),
    takes="empty missing extra",
)
def rectools(case: Population) -> Any:
    """Return ``calc_per_user`` and its mean."""
    from rectools import metrics

    reco = case.ranked_frame("user_id", "item_id", "rank")
    interactions = case.relevant_frame("user_id", "item_id", "weight")

    def at(theirs: str, k: int) -> Any:
        each = getattr(metrics, theirs)(k).calc_per_user(reco, interactions)
        return each.mean(), each.to_dict()

    return at


@peer(
    "ranx",
    "hit:hit_rate cg:hits precision recall f1 map mrr dcg ndcg rbp:rbp.80",
    ("ranx",),
    takes="grades empty missing blank extra",
    apart={
        "rbp": {
            "why": "its rank-biased precision adds up grades, which its own formula has not",
            "instead": of_users(graded),
        }
    },
)
def ranx(case: Population) -> Any:
    """Return ``evaluate`` of Qrels and Run; its rank-biased precision has no cut-off."""
    from ranx import Qrels, Run, evaluate

    run, qrels = Run(case.run()), Qrels(case.qrels)

    def at(theirs: str, k: int) -> Any:
        if "." in theirs and k < case.longest:
            return None
        label = theirs if "." in theirs else f"{theirs}@{k}"
        return evaluate(qrels, run, label, make_comparable=True), dict(run.scores[label])

    return at


@peer(
    "pytrec-eval-terrier",
    "hit:success precision:P recall map:map_cut ndcg:ndcg_cut mrr:recip_rank r_precision:Rprec",
    ("pytrec-eval-terrier", "numpy"),
    convention="trec_eval",
    takes="grades empty missing extra",
    silent="empty lists, which its dicts have and trec_eval's files have not: 0, and counted",
)
def pytrec_eval(case: Population) -> Any:
    """Return values of users; k cuts the run for recip_rank and Rprec."""
    from pytrec_eval import RelevanceEvaluator

    def at(theirs: str, k: int) -> Any:
        uncut = theirs in ("recip_rank", "Rprec")
        name, run = (theirs, case.run(k)) if uncut else (f"{theirs}_{k}", case.run())
        found = RelevanceEvaluator(case.qrels, {name}).evaluate(run)
        return {user: row[name] for user, row in found.items()}

    return at


@peer(
    "scikit-learn", "ndcg:ndcg_score dcg:dcg_score", ("scikit-learn",), takes="grades empty whole"
)
def sklearn(case: Population) -> Any:
    """Return ndcg_score and dcg_score of score rows, in which every item has its place."""
    from sklearn import metrics

    grades, scores = case.matrices()

    def at(theirs: str, k: int) -> Any:
        score = getattr(metrics, theirs)
        each = [float(score([row], [own], k=k)) for row, own in zip(grades, scores, strict=True)]
        return score(grades, scores, k=k), dict(zip(case.truths, each, strict=True))

    return at


@peer(
    "recommenders",
    "precision:precision_at_k recall:recall_at_k map map_at_k ndcg:ndcg_at_k",
    ("--no-deps", "recommenders"),
    ("pandas<3", "scikit-learn"),
    takes="grades empty missing extra",
    apart={
        "ndcg": {
            "why": "its nDCG alone counts users without a list, as 0",
            "instead": otherwise("ndcg", convention="recommenders", missing="zero"),
        }
    },
)
def recommenders(case: Population) -> Any:
    """Return the functions of python_evaluation, which give means alone."""
    from recommenders.evaluation import python_evaluation as package

    predicted = case.ranked_frame("userID", "itemID", "prediction", scores=True)
    true = case.relevant_frame("userID", "itemID", "rating")
    return lambda theirs, k: getattr(package, theirs)(true, predicted, k=k, score_type="raw")


@peer(
    "lenskit",
    "hit:Hit precision:Precision recall:Recall map:AveragePrecision mrr:RecipRank ndcg:NDCG "
    "dcg:DCG",
    ("lenskit",),
    takes="grades missing",
    silent="empty lists and lists of users without a truth: its summary counts both as 0, but "
    "leaves missing lists out; and its average precision divides by 0 without a truth",
)
def lenskit(case: Population) -> Any:
    """Return RunAnalysis: its list metrics and their summary."""
    from lenskit.data import ItemList, ItemListCollection, UserIDKey
    from lenskit.metrics import RunAnalysis, ranking

    lists, truths = ItemListCollection(UserIDKey), ItemListCollection(UserIDKey)
    for user, row in case.ranks.items():
        lists.add(ItemList(row, ordered=True), user_id=user)
    for user, truth in case.relevant.items():
        truths.add(ItemList([*truth], grade=[*truth.values()]), user_id=user)

    analysis, names = RunAnalysis(), "Hit Precision Recall AveragePrecision RecipRank NDCG DCG"
    for name in names.split():
        options = {"gain": "grade"} if name.endswith("DCG") else {}
        for k in case.ks:
            analysis.add_metric(getattr(ranking, name)(k, **options), f"{name}@{k}")
    found = analysis.measure(lists, truths)
    means, each = found.list_summary()["mean"], found.list_metrics()
    return lambda theirs, k: (means[f"{theirs}@{k}"], each[f"{theirs}@{k}"].to_dict())


@peer("irspack", "hit precision recall map ndcg", ("irspack",), takes="empty missing extra")
def irspack(case: Population) -> Any:
    """Return evaluate_recommendation_df, which has no cut-off, so k cuts the frame."""
    from irspack.evaluation.evaluate_df_to_df import evaluate_recommendation_df

    ranked = case.ranked_frame("user", "item", "rank")
    true = case.relevant_frame("user", "item", "grade")
    found = {
        k: evaluate_recommendation_df(ranked[ranked["rank"] <= k], true, "user", "item", 1)
        for k in case.ks
    }
    return lambda theirs, k: found[k][theirs]


@peer("implicit", "precision map ndcg", ("implicit",), takes="empty missing blank extra")
def implicit(case: Population) -> Any:
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
    found = {
        k: ranking_metrics_at_k(Given(), csr_matrix(shape), test, k, show_progress=False)
        for k in case.ks
    }
    return lambda theirs, k: found[k][theirs]


@peer(
    "rs_metrics",
    "hit:hitrate precision recall map:mapr ndcg mrr",
    ("rs_metrics",),
    convention="standard",
    takes="extra",
    apart={"precision map": {"given": {"convention": "irspack"}}},
    silent="empty truths and missing lists: values are NaN, and so is the mean",
)
def rs_metrics(case: Population) -> Any:
    """Return the functions on dicts of lists."""
    import rs_metrics as package

    truths = {user: list(row) for user, row in case.relevant.items()}

    def at(theirs: str, k: int) -> Any:
        function = getattr(package, theirs)
        each = map(float, function(truths, case.ranks, k=k, apply_mean=False))
        return function(truths, case.ranks, k=k), dict(zip(truths, each, strict=True))

    return at


@peer(
    "recbole",
    "hit:Hit precision:Precision recall:Recall map:MAP ndcg:NDCG mrr:MRR",
    ("--no-deps", "recbole"),
    # Its MAP needs np.float, which left numpy in 1.24.
    (TORCH, "numpy<1.24", "scipy<1.12", "pandas<2.1", "scikit-learn<1.4"),
    ("colorama", "colorlog", "psutil", "pyyaml", "tensorboard", "texttable", "tqdm"),
    takes="missing blank",
    silent="users without a truth, whose recall is NaN; nor its own means, which it rounds to 4 "
    "decimals: these are means of its values per user",
)
def recbole(case: Population) -> Any:
    """Return metric_info, the cumulative values per user that RecBole rounds the means of."""
    import numpy as np
    from recbole.evaluator import metrics

    hits = np.zeros((len(case.relevant), max(case.ks)), bool)
    for row, (user, truth) in zip(hits, case.relevant.items(), strict=True):
        found = [item in truth for item in case.lists[user][: len(row)]]
        row[: len(found)] = found
    sizes = np.array([len(truth) for truth in case.relevant.values()])

    def at(theirs: str, k: int) -> Any:
        metric = getattr(metrics, theirs)({"topk": case.ks, "metric_decimal_place": 4})
        given = (hits, sizes) if theirs in ("Recall", "MAP", "NDCG") else (hits,)
        return dict(zip(case.relevant, metric.metric_info(*given)[:, k - 1].tolist(), strict=True))

    return at


@peer(
    "rectorch",
    "hit recall ndcg mrr",
    ("--no-deps", "rectorch"),
    ("numpy", "Bottleneck"),
    takes="whole",
    silent="users without a truth, whose recall and nDCG are NaN",
)
def rectorch(case: Population) -> Any:
    """Return Metrics.compute of score rows, in which every item has its place."""
    import numpy as np
    from rectorch.metrics import Metrics

    truth, scores = map(np.array, case.matrices())

    def at(theirs: str, k: int) -> Any:
        (values,) = Metrics.compute(scores, truth, [f"{theirs}@{k}"]).values()
        return dict(zip(case.truths, map(float, values), strict=True))

    return at


@peer(
    "pyspark",
    "precision:precisionAt recall:recallAt map:meanAveragePrecisionAt ndcg:ndcgAt",
    ("pyspark", "numpy"),
    takes="empty missing blank",
    share=0.025,
)
def spark(case: Population) -> Any:
    """Return the methods of RankingMetrics, which give means alone."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    local = SparkSession.builder.master("local[1]").config(map=quiet)
    context = local.getOrCreate().sparkContext
    context.setLogLevel("OFF")
    rows = [(row, [*case.relevant.get(user, ())]) for user, row in case.lists.items()]
    found = RankingMetrics(context.parallelize(rows, 1))
    return lambda theirs, k: getattr(found, theirs)(k)


@peer(
    "replay-rec",
    "hit:HitRate precision:Precision recall:Recall map:MAP mrr:MRR ndcg:NDCG",
    ("replay-rec", TORCH),
    takes="empty missing blank extra",
)
def replay(case: Population) -> Any:
    """Return the metrics on pandas frames: values per user, and the means."""
    from replay import metrics

    ranked = case.ranked_frame("query_id", "item_id", "rating", scores=True)
    true = case.relevant_frame("query_id", "item_id", "rating")

    def at(theirs: str, k: int) -> Any:
        kind = getattr(metrics, theirs)
        each = kind([k], mode=metrics.PerUser())(ranked, true)[f"{theirs}-PerUser@{k}"]
        return kind([k])(ranked, true)[f"{theirs}@{k}"], each

    return at


@peer(
    "cornac",
    "hit:HitRatio precision:Precision recall:Recall f1:FMeasure ndcg:NDCG ncrr:NCRR mrr:MRR",
    ("cornac",),
    takes="empty missing blank extra",
    silent="MRR where a user has no hit, which is an error there; MAP, which ranks every item",
)
def cornac(case: Population) -> Any:
    """Return ranking_eval of a model that ranks as the lists do; MRR only where all have a hit."""
    import numpy as np
    from cornac import metrics
    from cornac.data import Dataset
    from cornac.eval_methods.base_method import ranking_eval

    names, lists = [*case.truths], [*case.lists.values()]

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
    hit = all(not truth.keys().isdisjoint(case.lists[u]) for u, truth in case.relevant.items())

    def at(theirs: str, k: int) -> Any:
        if theirs == "MRR" and not (hit and k >= case.longest):
            return None
        asked = [metrics.MRR() if theirs == "MRR" else getattr(metrics, theirs)(k)]
        means, each = ranking_eval(Given(), asked, train, test, exclude_unknowns=False)
        return means[0], {names[user]: value for user, value in each[0].items()}

    return at


@peer(
    "recpack",
    "cg:HitK precision:PrecisionK recall:RecallK calibrated_recall:CalibratedRecallK "
    "mrr:ReciprocalRankK dcg:DCGK ndcg:NDCGK",
    (TORCH, "recpack"),
    takes="empty missing blank extra",
)
def recpack(case: Population) -> Any:
    """Return ``calculate`` of sparse matrices of scores and of relevant items."""
    from recpack import metrics
    from scipy.sparse import csr_matrix

    names = [*case.truths]

    def matrix(triples: list[tuple[float, int, int]]) -> Any:
        values, rows, columns = zip(*triples, strict=True)
        return csr_matrix((values, (rows, columns)), (len(names), case.n_items))

    run, relevant = case.run(), case.relevant
    given = [(s, u, int(i)) for u, name in enumerate(names) for i, s in run.get(name, {}).items()]
    true = [(1.0, u, i) for u, name in enumerate(names) for i in relevant.get(name, ())]

    def at(theirs: str, k: int) -> Any:
        metric = getattr(metrics, theirs)(k)
        metric.calculate(matrix(true), matrix(given))
        each = metric.results.groupby("user_id")["score"].sum().to_dict()
        return metric.value, {names[user]: value for user, value in each.items()}

    return at


@peer(
    "elliot",
    "hit:HR precision:Precision recall:Recall f1:F1 mrr:MRR ndcg:nDCG",
    # On no package index; what it asks for is of 2020, and its metrics need none of it.
    ("numpy", "pandas", "scipy", "pyyaml", "tqdm", "setuptools<70", "wheel"),
    (
        *("--no-deps", "--no-build-isolation", "-e"),
        "git+https://github.com/sisinflab/elliot"
        "@fc27efedaddf4a57294db14b4bcaa5553a0015d2#egg=elliot",
    ),
    takes="grades empty missing extra",
    silent="empty lists, which it counts as 0, but leaves missing lists out; MAP and MAR, which "
    "are means over 1..k",
)
def elliot(case: Population) -> Any:
    """Return ``eval`` and ``eval_user_metric``, whose threshold of relevance is 1."""
    from elliot.evaluation import metrics
    from elliot.evaluation.relevance.relevance import Relevance

    lists = {
        user: [(item, -float(place)) for place, item in enumerate(row)]
        for user, row in case.lists.items()
        if user in case.ranks
    }

    def at(theirs: str, k: int) -> Any:
        known = SimpleNamespace(relevance=Relevance(case.truths, 1), cutoff=k)
        metric = getattr(metrics, theirs)(lists, None, None, known)
        return metric.eval(), metric.eval_user_metric()

    return at


# Search and retrieval


@peer(
    "llama-index-core",
    "hit:HitRate precision:Precision recall:Recall map:AveragePrecision mrr:MRR ndcg:NDCG",
    ("llama-index-core",),
    silent="empty truths and lists, which it refuses",
)
def llamaindex(case: Population) -> Any:
    """Return ``compute`` of each query; there is no cut-off, so k cuts the list."""
    from llama_index.core.evaluation.retrieval import metrics

    def at(theirs: str, k: int) -> Any:
        kind, found = getattr(metrics, theirs), {}
        for user, truth in case.relevant.items():
            expected, retrieved = ([*map(str, ids)] for ids in (truth, case.ranks[user][:k]))
            found[user] = kind().compute(expected_ids=expected, retrieved_ids=retrieved).score
        return found

    return at


HAYSTACK = (
    "hit:DocumentRecallEvaluator:single_hit recall:DocumentRecallEvaluator:multi_hit "
    "map:DocumentMAPEvaluator mrr:DocumentMRREvaluator ndcg:DocumentNDCGEvaluator"
)


@peer(
    "haystack-ai",
    HAYSTACK,
    ("haystack-ai==2.19.0",),
    takes="grades empty missing blank",
    name="haystack_2025",
)
@peer("haystack-ai", HAYSTACK, ("haystack-ai",), takes="grades empty missing blank")
def haystack(case: Population) -> Any:
    """Return the evaluators' ``run``; there is no cut-off, so k cuts the list."""
    from haystack import Document
    from haystack.components import evaluators

    relevant = [case.relevant.get(user, {}) for user in case.truths]
    same = [{"id": str(i), "content": str(i)} for i in range(case.n_items)]  # which it compares
    truths = [[Document(**same[i], score=g) for i, g in row.items()] for row in relevant]
    lists = [[Document(**same[i]) for i in row] for row in case.lists.values()]

    def at(theirs: str, k: int) -> Any:
        kind, *mode = theirs.split(":")
        found = getattr(evaluators, kind)(*mode).run(truths, [row[:k] for row in lists])
        return found["score"], dict(zip(case.truths, found["individual_scores"], strict=True))

    return at


@peer(
    "mlflow",
    "precision:precision_at_k recall:recall_at_k ndcg:ndcg_at_k",
    ("mlflow",),
    takes="empty missing blank",
    apart={
        "recall ndcg": {
            "why": "1 for a user with neither relevant items nor a list",
            "instead": of_users(with_neither),
        }
    },
)
def mlflow(case: Population) -> Any:
    """Return the scores and the mean of each EvaluationMetric."""
    import pandas as pd
    from mlflow import metrics

    lists = pd.Series([*case.lists.values()])
    truths = pd.Series([[*case.relevant.get(user, ())] for user in case.truths])

    def at(theirs: str, k: int) -> Any:
        found = getattr(metrics, theirs)(k)(predictions=lists, targets=truths)
        each = dict(zip(case.truths, found.scores, strict=True))
        return found.aggregate_results["mean"], each

    return at


@peer(
    "ragas",
    "precision:IDBasedContextPrecision recall:IDBasedContextRecall",
    # It imports a module that langchain-community 0.4 has not.
    ("ragas", "langchain-community<0.4"),
    takes="empty missing blank",
    apart={
        "precision": {
            "why": "its precision alone leaves out users without a list, as NaN",
            "instead": otherwise("precision", convention="ragas", missing="skip"),
        }
    },
)
def ragas(case: Population) -> Any:
    """Return precision and recall by ids; there is no cut-off, so k cuts the list."""
    from ragas import SingleTurnSample, metrics

    async def scores(metric: Any, k: int) -> dict[str, float]:
        values = {}
        for user, row in case.lists.items():
            ids = {"reference_context_ids": [*case.relevant.get(user, ())]}
            sample = SingleTurnSample(retrieved_context_ids=row[:k], **ids)
            values[user] = await metric.single_turn_ascore(sample)
        return values

    return lambda theirs, k: asyncio.run(scores(getattr(metrics, theirs)(), k))


@peer(
    "sentence-transformers",
    "hit:accuracy@k precision:precision@k recall:recall@k map:map@k mrr:mrr@k ndcg:ndcg@k",
    (TORCH, "sentence-transformers"),
    takes="empty missing blank extra",
)
def sentence_transformers(case: Population) -> Any:
    """Return ``compute_metrics`` of all queries, and of each alone, on hits as of a search."""
    from sentence_transformers.sentence_transformer import evaluation

    options = ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")
    cuts = dict.fromkeys(options, case.ks)
    truths = {user: {*map(str, case.relevant.get(user, ()))} for user in case.truths}
    run = case.run()

    def found(queries: list[str]) -> dict[str, dict[int, float]]:
        given = dict.fromkeys(queries, ""), {}, truths
        evaluator = evaluation.InformationRetrievalEvaluator(*given, **cuts)
        hits = [
            [{"corpus_id": doc, "score": score} for doc, score in run.get(query, {}).items()]
            for query in evaluator.queries_ids
        ]
        return evaluator.compute_metrics(hits)

    means = found([*case.ranks, *case.truths])
    each = {query: found([query]) for query in case.relevant}
    return lambda theirs, k: (means[theirs][k], {u: row[theirs][k] for u, row in each.items()})


@peer(
    "mteb",
    "hit:success precision:P recall map:map_cut ndcg:ndcg_cut mrr:MRR r_cap:R_cap_at",
    (TORCH, "mteb"),
    takes="grades empty missing",
    silent="empty lists, as pytrec_eval; nor its own means, which it rounds to 5 decimals: these "
    "are means of its values per query",
)
def mteb(case: Population) -> Any:
    """Return the values per query that MTEB takes the means of, before it rounds those."""
    from mteb._evaluators import retrieval_metrics as package

    run = case.run()
    scores = package.calculate_retrieval_scores(run, case.qrels, case.ks).all_scores
    ranks = package.mrr(case.qrels, run, case.ks)
    capped = package.recall_cap(case.qrels, run, case.ks)

    def at(theirs: str, k: int) -> Any:
        if theirs == "MRR":
            return dict(zip(run, ranks[f"MRR@{k}"], strict=True))
        if theirs == "R_cap_at":
            found = zip(run, capped[f"R_cap_at_{k}"], strict=True)
            return {user: math.nan if value is None else value for user, value in found}
        return {user: row[f"{theirs}_{k}"] for user, row in scores.items()}

    return at


@peer(
    "beir",
    "hit:Accuracy precision:P recall:Recall r_cap:R_cap map:MAP mrr:MRR ndcg:NDCG",
    (TORCH, "beir"),
    convention="mteb",
    takes="grades missing",
    apart={"hit mrr r_cap": {"given": {"missing": "zero"}}},
    silent="queries without relevant documents, by whose number its capped recall divides",
    tolerance=ROUNDED,
)
def beir(case: Population) -> Any:
    """Return EvaluateRetrieval's means, which it rounds to 5 decimals."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    given = case.qrels, case.run(), case.ks
    found: dict[str, float] = {}
    for part in EvaluateRetrieval.evaluate(*given):
        found |= part
    for metric in ("mrr", "recall_cap", "top_k_accuracy"):
        found |= EvaluateRetrieval.evaluate_custom(*given, metric)
    return lambda theirs, k: found[f"{theirs}@{k}"]


# Labels of the listed items, beside scores


@peer(
    "torchmetrics",
    "hit:HitRate:hit_rate precision:Precision:precision recall:Recall:recall "
    "map:MAP:average_precision mrr:MRR:reciprocal_rank ndcg:NormalizedDCG:normalized_dcg "
    "r_precision:RPrecision:r_precision",
    (TORCH, "torchmetrics"),
    takes="grades empty missing blank",
    tolerance=SINGLE,
)
def torchmetrics(case: Population) -> Any:
    """Return the retrieval metrics of labels and scores, which it computes in single precision.

    R-precision has no cut-off, so it is asked where k covers the lists.
    """
    import torch
    from torchmetrics import retrieval as classes
    from torchmetrics.functional import retrieval as functions

    lists = case.labels()
    scores = {user: torch.arange(len(row), 0.0, -1.0) for user, row in lists.items()}
    grades = {user: torch.tensor(row).long() for user, row in lists.items()}
    sizes = torch.tensor([len(row) for row in lists.values()])
    indexes = torch.repeat_interleave(torch.arange(len(lists)), sizes)

    def at(theirs: str, k: int) -> Any:
        kind, function = theirs.split(":")
        if kind == "RPrecision" and k < case.longest:
            return None
        options = {} if kind == "RPrecision" else {"top_k": k}
        binary = kind != "NormalizedDCG"
        labels = {u: (row > 0).long() if binary else row for u, row in grades.items()}
        metric = getattr(classes, f"Retrieval{kind}")(**options)
        metric.update(torch.cat([*scores.values()]), torch.cat([*labels.values()]), indexes=indexes)
        one = getattr(functions, f"retrieval_{function}")
        each = {user: float(one(scores[user], labels[user], **options)) for user in lists}
        return metric.compute(), each

    return at


@peer("lightgbm", "map ndcg", ("lightgbm", "numpy"), takes="grades empty missing blank")
def lightgbm(case: Population) -> Any:
    """Return the metrics of a ranker before its first tree, so that the scores are those given."""
    import lightgbm as package
    import numpy as np

    quiet = {"verbose": -1, "num_threads": 1}
    options = {"objective": "lambdarank", "metric": ["map", "ndcg"], "eval_at": case.ks, **quiet}

    def found(lists: list[list[float]]) -> dict[str, float]:
        labels = [grade for row in lists for grade in row]
        scores = [-float(place) for row in lists for place in range(len(row))]
        feature, sizes = np.arange(len(labels), dtype=float)[:, np.newaxis], [*map(len, lists)]
        data = package.Dataset(feature, labels, group=sizes, init_score=scores, params=quiet)
        rows = package.Booster(options, data).eval_train()
        return {metric: value for _, metric, value, *_ in rows}

    return of_groups(case, found, "{theirs}@{k}")


def of_groups(case: Population, found: Callable[..., dict[str, float]], label: str) -> Any:
    """Return values of all groups of labels, and those of each alone."""
    lists = case.labels()
    means = found([*lists.values()])
    each = {user: found([row]) for user, row in lists.items()}

    def at(theirs: str, k: int) -> Any:
        name = label.format(theirs=theirs, k=k)
        return means[name], {user: row[name] for user, row in each.items()}

    return at


@peer("xgboost", "precision:pre map ndcg", ("xgboost",), takes="grades empty missing blank")
def xgboost(case: Population) -> Any:
    """Return the metrics of a ranker without a tree, whose scores are the margins given."""
    import numpy as np
    import xgboost as package

    def evaluated(lists: list[list[float]], names: str) -> dict[str, float]:
        grades = [grade for row in lists for grade in row]
        data = package.DMatrix(np.zeros((len(grades), 1)), grades, group=[*map(len, lists)])
        data.set_base_margin([-float(place) for row in lists for place in range(len(row))])
        asked = [f"{name}@{k}" for name in names.split() for k in case.ks]
        options = {"objective": "rank:ndcg", "eval_metric": asked, "nthread": 1}
        words = package.Booster(options, [data]).eval(data).split("\t")[1:]
        pairs = (word.removeprefix("eval-").rpartition(":") for word in words)
        return {label: float(value) for label, _, value in pairs}

    def found(lists: list[list[float]]) -> dict[str, float]:
        binary = [[float(grade > 0) for grade in row] for row in lists]  # the others refuse grades
        return evaluated(lists, "ndcg") | evaluated(binary, "pre map")

    return of_groups(case, found, "{theirs}@{k}")


@peer(
    "catboost",
    "precision:PrecisionAt recall:RecallAt map:MAP ndcg:NDCG dcg:DCG mrr:MRR",
    ("catboost",),
    takes="grades empty missing blank",
)
def catboost(case: Population) -> Any:
    """Return eval_metric of labels, scores and groups."""
    from catboost.utils import eval_metric

    lists = case.labels()

    def found(some: list[list[float]], name: str) -> float:
        rows = [(g, -float(i), n) for n, row in enumerate(some) for i, g in enumerate(row)]
        labels, scores, groups = map(list, zip(*rows, strict=True))
        return float(eval_metric(labels, scores, name, group_id=groups, thread_count=1)[0])

    def at(theirs: str, k: int) -> Any:
        name = f"{theirs}:top={k}"
        each = {user: found([row], name) for user, row in lists.items()}
        return found([*lists.values()], name), each

    return at


@peer(
    "pytorch-metric-learning",
    "precision:precision_at_1 map:mean_average_precision map_at_r:mean_average_precision_at_r "
    "mrr:mean_reciprocal_rank r_precision",
    (TORCH, "pytorch-metric-learning"),
    takes="empty whole shallow",
    share=1.15,
    silent="lists of fewer than k neighbours, which it never makes",
    tolerance=1e-7,
)
def pytorch_metric_learning(case: Population) -> Any:
    """Return the AccuracyCalculator of each query, whose neighbours are its list."""
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    def found(user: str, theirs: str, k: int) -> float:
        relevant, neighbours = case.relevant.get(user, {}), torch.tensor([case.ranks[user]])
        calculator = AccuracyCalculator(
            include=tuple(row.theirs for row in PEERS["pytorch_metric_learning"].questions),
            k=k,
            device=torch.device("cpu"),
            knn_func=lambda query, k, *_: (None, neighbours[:, :k]),
            kmeans_func=lambda *_: None,
        )
        labels = torch.tensor([float(item in relevant) for item in range(case.n_items)])
        given = torch.zeros(1, 1), torch.ones(1), torch.zeros(case.n_items, 1), labels
        return calculator.get_accuracy(*given)[theirs]

    def at(theirs: str, k: int) -> Any:
        if theirs == "precision_at_1" and k != 1:
            return None
        return {user: found(user, theirs, k) for user in case.truths}

    return at


@peer(
    "tensorflow-ranking",
    "hit:Hits precision:Precision recall:Recall map:MeanAveragePrecision mrr:MRR ndcg:NDCG dcg:DCG",
    # The last TensorFlow of which Keras 2 is a part.
    ("tensorflow==2.15.*",),
    ("--no-deps", "tensorflow-ranking"),
    takes="grades empty missing blank",
    tolerance=SINGLE,
)
def tf_ranking(case: Population) -> Any:
    """Return the Keras metrics, which give means alone; its arithmetic is in single precision."""
    import tensorflow as tf
    from tensorflow_ranking import keras

    lists = [*case.labels().values()]
    width = max(map(len, lists))
    padded = tf.constant([row + [-1.0] * (width - len(row)) for row in lists])
    scores = tf.constant([[float(-place) for place in range(width)] for _ in lists])
    return lambda theirs, k: getattr(keras.metrics, f"{theirs}Metric")(topn=k)(padded, scores)


@peer(
    "evidently",
    "hit:HitRateK precision:PrecisionTopK recall:RecallTopK map:MAPK mar:MARK mrr:MRRK ndcg:NDCGK",
    # It imports a function that pandas 3 has not.
    ("evidently", "pandas<3"),
    takes="grades empty missing blank shallow",
    apart={
        "map mar": {
            "why": "past the end of a list it adds the list's last hit again",
            "instead": of_users(ending_in_a_hit),
        }
    },
    share=1.6,
    silent="k beyond the longest list, for which it has no value",
)
def evidently(case: Population) -> Any:
    """Return the curves of a report down to the longest list, below which it has none."""
    import pandas as pd
    from evidently.legacy import metrics
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    lists = case.labels()
    rows = [(u, rank, g) for u, row in lists.items() for rank, g in enumerate(row, 1)]
    data = pd.DataFrame(rows, columns=["user_id", "prediction", "target"])
    columns = ColumnMapping(
        target="target", prediction="prediction", user_id="user_id", recommendations_type="rank"
    )
    # Users without clicks are left out, so the deepest k is that of the others.
    deepest = max((len(row) for row in lists.values() if any(row)), default=0)
    curves: dict[str, list[float]] = {}

    def at(theirs: str, k: int) -> Any:
        if k > deepest:
            return None
        if theirs not in curves:
            metric = getattr(metrics, f"{theirs}Metric")(k=max(k for k in case.ks if k <= deepest))
            given = {"reference_data": None, "current_data": data, "column_mapping": columns}
            Report(metrics=[metric]).run(**given)
            curves[theirs] = metric.get_result().current.tolist()
        return curves[theirs][k - 1]

    return at


# Sources that are read, not installed


def read(name: str, package: str, names: str, **options: Any) -> None:
    """Register a peer whose steps are followed, query by query, on lists cut at k."""

    def of(case: Population) -> Any:
        def at(theirs: str, k: int) -> dict[str, float]:
            found = {
                user: getattr(sources, name)(row[:k], case.truths[user], k)
                for user, row in case.lists.items()
            }
            return {user: row[theirs] if row else math.nan for user, row in found.items()}

        return at

    peer(f"{package} (read)", names, name=name, **options)(of)


ANY = "grades empty missing blank"
read("longmemeval", "LongMemEval@9e0b455", "hit complete ndcg", takes="empty missing blank")
read("autorag", "AutoRAG@a35d321", "precision recall ndcg", takes="empty missing blank")
read(
    "elasticsearch", "elasticsearch@d04e400", "precision recall mrr dcg ndcg err(max=4)", takes=ANY
)
read(
    "opensearch",
    "search-relevance@d8be5d1",
    "precision map ndcg",
    takes=ANY,
    silent="its rounding of every query to 2 decimals",
)
read("quepid", "quepid@f80322f", "precision map ndcg dcg mrr err(max=4)", takes=ANY)
read(
    "transformers4rec",
    "Transformers4Rec@8bf122f",
    "precision recall map dcg mrr",
    takes="empty whole shallow",
    share=1.15,
)


@peer("bwhite/3726239 (read)", "map mrr dcg ndcg precision", takes=ANY)
def bwhite(case: Population) -> Any:
    """Follow the gist, on labels of the list alone; its precision wants lists of k items."""
    lists = {user: case.labels().get(user, []) for user in case.truths}
    shortest = min(map(len, lists.values()))

    def at(theirs: str, k: int) -> Any:
        if theirs == "precision" and k > shortest:
            return None
        return {user: sources.gist(theirs, row, k) for user, row in lists.items()}

    return at
