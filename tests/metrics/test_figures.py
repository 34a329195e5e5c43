"""Figures from outside: other projects' tests, printed examples, trec_eval.

The files lie beside the repository (`../shared`); what is absent is skipped.
"""

import json
from dataclasses import replace
from pathlib import Path

import cases
import numpy as np
import pytest
from doors import by_words, curve
from systems import RANKS, TRUTHS

import toplist as tl
from toplist.files import read_ranks, read_truths

DATA = cases.FOLDER.parent / "data"
SIX = ["hit", "precision", "recall", "map", "ndcg", "mrr"]


# Cases of other projects

CASES, _ = cases.read()


def metric_of(case):
    """Return the case's metric as a name, or with the case's own divisor."""
    if case.parameters:
        return f"{case.metric}(p={case.parameters['p']})"
    metric = tl.CONVENTIONS[case.convention].metrics[case.metric]
    return replace(metric, divisor=case.divisor) if case.divisor else case.metric


def compute(case):
    """Compute a case by the library, in the shape of its `expected`."""
    options = {"duplicates": "first", "convention": case.convention, "missing": "zero"}
    options["empty"] = "skip"  # the cases are about formulas, not about who is counted
    if case.gain == "exponential":
        options["gains"] = "exponential"
    if case.aggregation == "mean":
        metrics = [metric_of(case)]
        (mean,) = by_words(case.ranks, case.truths, case.k, metrics=metrics, **options)
        return list(mean) if isinstance(case.k, list) else mean
    how = {"divisor": case.divisor, **options}
    curves = curve(case.metric, case.ranks, case.truths, case.k, **how)
    return curves.tolist() if case.aggregation == "cumulative" else curves[:, -1].tolist()


@pytest.mark.skipif(not CASES, reason="no cases beside the repository")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_figures_of_other_projects(case):
    case.check(compute(case))


# The example of the NeuRec-style functions, and the figures printed under it

PRINTED = {
    1: [1.0, 1.0, 0.2917, 1.0, 1.0, 1.0],
    3: [1.0, 0.6667, 0.5833, 0.3056, 0.7346, 1.0],
    5: [1.0, 0.5, 0.75, 0.1679, 0.7662, 1.0],
}


@pytest.mark.parametrize("k", PRINTED)
def test_neurec_prints_what_the_original_printed(k):
    hit, precision, recall, map_, ndcg, mrr = tl.top_k_eval(RANKS, TRUTHS, k, convention="neurec")
    assert [round(v, 4) for v in (hit, precision, recall, map_, ndcg, mrr)] == PRINTED[k]
    curves = [curve(name, RANKS, TRUTHS, convention="neurec") for name in SIX]
    assert [round(curve[:, k - 1].mean(), 4) for curve in curves] == PRINTED[k]


@pytest.mark.parametrize(("k", "map_"), [(1, 1.0), (3, 0.6111), (5, 0.6417)])
def test_by_default_all_but_map_are_the_same(k, map_):
    expected = dict(zip(SIX, PRINTED[k], strict=True)) | {"map": map_}
    values = dict(zip(SIX, tl.top_k_eval(RANKS, TRUTHS, k), strict=True))
    assert {name: round(value, 4) for name, value in values.items()} == expected


# trec_eval's own test files

TREC = DATA / "trec_eval"
MEASURES = {  # as trec_eval calls them; those without a cut-off are of the whole list
    "P": "precision",
    "recall": "recall",
    "success": "hit",
    "ndcg_cut": "ndcg",
    "map_cut": "map",
    "map": "map",
    "ndcg": "ndcg",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
}


def asked(measure, deepest):
    """Return what is asked for a measure of trec_eval; None for one that is not here."""
    name, cut, k = measure.rpartition("_")
    name, k = (name, k) if cut and k.isdigit() else (measure, deepest)
    return f"{MEASURES[name]}@{k}" if name in MEASURES else None


def printed_by_trec_eval(path, deepest):
    """Read {(metric@k, query or "all", as trec_eval calls it): the figure as it is printed}."""
    rows = map(str.split, path.read_text(encoding="utf-8").splitlines())
    return {
        (asked(measure, deepest), query, measure): figure
        for measure, query, figure in rows
        if asked(measure, deepest)
    }


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
@pytest.mark.parametrize(
    ("run", "output", "n_figures", "options"),
    [
        ("results.test", "out.test.a", 43, {}),
        ("results.test", "out.test.aq", 43 * 4, {}),
        ("results.trunc", "out.test.aqc", 43 * 4, {"missing": "zero"}),
    ],
)
def test_trec_eval(run, output, n_figures, options):
    # its test files: "more junk at end of lines reserved for future expansion"
    ranks = read_ranks(TREC / run, format="trec")
    truths = read_truths(TREC / "qrels.test", format="trec")
    figures = printed_by_trec_eval(TREC / output, max(map(len, ranks.values())))
    assert len(figures) == n_figures
    names = sorted({name for name, _, _ in figures})
    result = by_words(ranks, truths, metrics=names, convention="trec_eval", **options)
    found = {(name, "all"): result[name] for name in names}
    for name in names:
        per_query = zip(result.users, result.per_user(name), strict=True)
        found |= {(name, query): value for query, value in per_query}
    assert {key: f"{found[key[:2]]:.4f}" for key in figures} == figures


# trec_eval -q -l 2 qrels.rel_level results.test, as test/out.test.aql (usnistgov/trec_eval@07010b1)
# has it: measure; queries 301, 302, 303; all. qrels.rel_level is qrels.test with other grades, -1
# (here 0) among them.
GRADES_OF_301 = {
    2: "CR93E-7952 CR93E-8290 CR93E-9665 CR93E-9750 FT943-3533 FT944-10635",
    4: "CR93E-5799 CR93E-6905 CR93E-7348 CR93H-10037 FT943-16238 FT943-16477",
}
NOT_RELEVANT_IN_303 = "FT924-286 FT941-17652"
FIGURES_FROM_2 = Path(__file__).parent / "data" / "trec_eval_from_2.txt"


def graded_qrels():
    """Return the grades of qrels.rel_level: 1, 2 and 4 in query 301, 3 in 302, 2 in 303."""
    grades = {}
    for line in (TREC / "qrels.test").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        grades.setdefault(query, {})[document] = int(grade)
    for grade, documents in GRADES_OF_301.items():
        grades["301"] |= dict.fromkeys(documents.split(), grade)
    grades["302"] = {document: 3 * grade for document, grade in grades["302"].items()}
    grades["303"] = {document: 2 * grade for document, grade in grades["303"].items()}
    grades["303"] |= dict.fromkeys(NOT_RELEVANT_IN_303.split(), 0)
    return grades


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
def test_the_threshold_of_trec_eval_does_not_touch_its_ndcg():
    ranks = read_ranks(TREC / "results.test", format="trec")
    result = tl.top_k_eval(
        *(ranks, graded_qrels(), 1000),
        metrics=["hit", "precision", "recall", "map", "ndcg", "mrr", "r_precision"],
        convention="trec_eval",
        relevant_from=2,
    )
    assert list(result.users) == ["301", "302", "303"]
    wrong = {}
    for line in FIGURES_FROM_2.read_text().splitlines():
        measure, *figures = line.split()
        name = asked(measure, 1000)
        found = [f"{value:.4f}" for value in (*result.per_user(name), result[name])]
        if found != figures:
            wrong[measure] = found, figures
    assert not wrong


# Cases that are not of plain lists: scores with ties, and a ratio of sums


def source_case(file, **wanted):
    path = cases.FOLDER / file
    if not path.exists():
        pytest.skip("no cases beside the repository")
    (found,) = (
        case
        for case in json.loads(path.read_text())
        if all(case.get(name) == value for name, value in wanted.items())
    )
    return found


@pytest.mark.parametrize(("number", "ties"), [("sklearn-071", "average"), ("sklearn-072", "order")])
def test_figures_of_scores_with_ties(number, ties):
    case = source_case("ir_cases.json", id=number)
    columns = range(len(case["scores"][0]))
    scores = [[row[str(c)] for c in columns] for row in case["scores"]]
    relevance = [[row.get(str(c), 0) for c in columns] for row in case["truths"]]
    values = tl.scores.ndcg(scores, relevance=relevance, k=case["k"], ties=ties)[:, -1]
    assert values.mean() == pytest.approx(case["expected"], abs=case["tol"])


def test_figures_of_implicits_pooled_precision():
    case = source_case("recsys_cases.json", peer="implicit", k=2)
    result = tl.top_k_eval(
        case["ranks"], case["truths"], case["k"], metrics="precision", convention="implicit"
    )
    assert result["precision@2"] == pytest.approx(case["expected"], abs=case["tolerance"])


# rectorch: score matrices, names with @k, arrays per user

RECTORCH = [
    ([4, 3, 2, 1, 0], [1, 1, 0, 0, 1], {"recall@2": 1, "recall@3": 0.66666667, "ndcg@2": 1}),
    ([4, 3, 2, 1], [0, 0, 1, 1], {"ndcg@3": 0.306573596, "recall@3": 0.5}),
]


@pytest.mark.parametrize(("scores", "truth", "values"), RECTORCH)
def test_rectorch(scores, truth, values):
    lists, truths = tl.scores.top_k([scores], 10), tl.inputs.Lists.from_matrix([truth])
    result = tl.top_k_eval(lists, truths, metrics=[*values], convention="rectorch")
    for name, value in values.items():
        assert result.per_user(name).tolist() == pytest.approx([value], abs=1e-8)


# scikit-learn's ndcg_score: all examples of its documentation.

RELEVANCE = [[10, 0, 0, 1, 5]]


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([[0.1, 0.2, 0.3, 4, 70]], {}, 0.69),
        ([[0.05, 1.1, 1.0, 0.5, 0.0]], {}, 0.49),
        ([[0.05, 1.1, 1.0, 0.5, 0.0]], {"k": 4}, 0.35),
        (RELEVANCE, {"k": 4}, 1.0),
        ([[1, 0, 0, 0, 1]], {"k": 1}, 0.75),
        ([[1, 0, 0, 0, 1]], {"k": 1, "ties": "order"}, 0.5),
    ],
)
def test_sklearn_examples(scores, options, expected):
    value = tl.scores.ndcg(scores, relevance=RELEVANCE, **options)[0, -1]
    assert np.floor(value * 100) / 100 == expected


def test_sklearn_from_lists_without_ties():
    lists = tl.scores.top_k([[0.05, 1.1, 1.0, 0.5, 0.0]], 5)
    truth = tl.inputs.Lists.from_matrix(RELEVANCE)
    result = tl.top_k_eval(lists, truth, metrics=["ndcg@4", "ndcg@5"], convention="sklearn")
    assert [round(value, 3) for value in result] == [0.352, 0.494]


# RecBole: six cumulative arrays from its own inputs, pos_index and pos_len.

POS_INDEX = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 1], [0, 0, 1]], bool)
POS_LEN = np.array([1, 3, 4, 2])
RECBOLE = {  # RecBole tests/metrics/test_topk_metrics.py:43-122
    "hit": [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1]],
    "ndcg": [
        [0, 0, 0],
        [1, 1, 1],
        [1, 1 / (1 + 1 / np.log2(3)), (1 + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2)],
        [0, 0, (1 / 2) / (1 + 1 / np.log2(3))],
    ],
    "mrr": [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1 / 3]],
    "map": [[0, 0, 0], [1, 1, 1], [1, 1 / 2, 5 / 9], [0, 0, 1 / 6]],
    "recall": [[0, 0, 0], [1 / 3, 2 / 3, 1], [1 / 4, 1 / 4, 1 / 2], [0, 0, 1 / 2]],
    "precision": [[0, 0, 0], [1, 1, 1], [1, 1 / 2, 2 / 3], [0, 0, 1 / 3]],
}


@pytest.mark.parametrize("name", RECBOLE)
def test_recbole_arrays(name):
    hits = tl.Hits.from_matrix(POS_INDEX, POS_LEN)
    from_matrix = getattr(tl, name)(hits, convention="recbole")
    assert from_matrix == pytest.approx(np.array(RECBOLE[name]), abs=1e-12)
    ids = [[1, 2, 3]] * 4, [{9}, {1, 2, 3}, {1, 3, 8, 9}, {3, 9}]
    assert np.array_equal(getattr(tl, name)(*ids, convention="recbole"), from_matrix)


# A Chinese note: the Airbnb scoring, the pooled hit ratio


def test_note_airbnb_scores():
    """Five places, one true label per row; the third row lists FR twice."""
    lists = np.array([["US", "FR", "CN"], ["FR", "US", "CN"], ["FR", "FR", "CN"]])
    labels = np.array(["US", "CN", "FR"])
    assert tl.ndcg(lists, labels, 5, duplicates="first")[:, -1].tolist() == [1.0, 0.5, 1.0]


def test_note_hit_ratio_is_a_pooled_recall():
    truths = [
        {*range(found), *range(100, 100 + size - found)}
        for found, size in [(6, 10), (5, 12), (4, 8)]
    ]
    result = by_words([[*range(10)]] * 3, truths, 10, metrics="recall", aggregate="pooled")
    assert result["recall@10"] == (6 + 5 + 4) / (10 + 12 + 8) == 0.5


# Retrieval and RAG libraries, from their own tests, by their conventions and formulas

OTHERS = cases.FOLDER / "retrieval_cases.json"
OF_RETRIEVAL = json.loads(OTHERS.read_text(encoding="utf-8")) if OTHERS.exists() else []

# What was not of three choices before: counts, discount, divisor, and the policies beside them
FORMULAS = {
    "h3-008": ("each", "r", "hits", {}),
    "h3-154": ("nth", "r", "hits", {}),
    "h3-596": ("nth", "r", "R", {"empty": "one"}),
}
# No sum over hits: a mean over groups of alternatives, each divided by its own hits
NOT_OURS = {"h3-129"}

# What a peer and its metrics are called here, where that is not their own name
PEERS = {"pytrec_eval-terrier": "trec_eval", "tfr": "tf-ranking"}
OWN_NAMES = {
    "CalibratedRecallK": "calibrated_recall",
    "retrieval_average_precision": "map",
}
# By other functions and options of the peer than the convention holds
OTHER_OPTIONS = {
    "h3-428": "IPSHitRateK: grades that are inverse propensities",
    "h3-566": "r_precision=True",
}


def evaluated(case, **asked):
    """Return the figures of a case, shaped as it expects them."""
    truths = [cases.to_truth(truth, case["ranks"]) for truth in case["truths"]]
    policy = dict(case["policy"])
    if not any(isinstance(truth, dict) for truth in truths):
        policy.pop("relevant_from", None)
    options = {"duplicates": "first"} | policy | asked
    k = case["k"]
    result = by_words(case["ranks"], truths, k, **options)
    name = result.terms.names[0]
    return result[name] if case["aggregation"] == "mean" else result.per_user(name).tolist()


def check(case, found):
    pairs = list(zip(cases.flat(case["expected"]), cases.flat(found), strict=True))
    assert all(cases.same(*pair, case["tolerance"]) for pair in pairs), (found, case["expected"])


def formula_of(case):
    """Return the metric of a case and its policies; None for a formula that is not offered."""
    name = case["metric"] or "of_the_case"
    if case["id"] in FORMULAS:
        *choices, policy = FORMULAS[case["id"]]
        return tl.Metric(name, *choices), policy
    if case["formula"] is None:
        return None
    graded = case["metric"] in ("cg", "dcg", "ndcg")
    return tl.Metric(name, *case["formula"].values(), graded=graded), {}


@pytest.mark.parametrize(
    "case", [case for case in OF_RETRIEVAL if formula_of(case)], ids=lambda case: case["id"]
)
def test_by_its_formula(case):
    metric, policy = formula_of(case)
    if case["id"] == "h3-x01":  # gains that do not read the threshold are trec_eval's
        policy = {"convention": "trec_eval"}
    check(case, evaluated(case, metrics=metric, **policy))


def by_a_peer(case):
    """Return the convention and the metric of the peer of a case; None if it has none here."""
    convention = tl.CONVENTIONS.get(PEERS.get(case["peer"], case["peer"]))
    name = OWN_NAMES.get(case["peer_metric"], case["metric"])
    if convention is None or name not in convention.metrics or case["id"] in OTHER_OPTIONS:
        return None
    return convention.name, name


@pytest.mark.parametrize(
    "case", [case for case in OF_RETRIEVAL if by_a_peer(case)], ids=lambda case: case["id"]
)
def test_by_the_convention_of_its_peer(case):
    convention, name = by_a_peer(case)
    check(case, evaluated(case, metrics=name, convention=convention))


@pytest.mark.skipif(not OF_RETRIEVAL, reason="no cases beside the repository")
def test_all_cases_but_one_are_expressible():
    assert {case["id"] for case in OF_RETRIEVAL if not formula_of(case)} == NOT_OURS
    assert len([case for case in OF_RETRIEVAL if by_a_peer(case)]) >= 25
