"""Figures from outside: other projects' tests, printed examples, trec_eval.

The files lie beside the repository (`../shared`); what is absent is skipped.
"""

import json
from dataclasses import replace

import cases
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
FIGURES_FROM_2 = """
Rprec 0.0000 0.5065 0.0000 0.1688
map 0.0003 0.4175 0.0823 0.1667
recip_rank 0.0033 1.0000 0.0526 0.3520
P_5 0.0000 0.8000 0.0000 0.2667
P_10 0.0000 0.7000 0.0000 0.2333
P_15 0.0000 0.8000 0.0000 0.2667
P_20 0.0000 0.8000 0.0500 0.2833
P_30 0.0000 0.7333 0.0333 0.2556
P_100 0.0000 0.4200 0.0700 0.1633
P_200 0.0000 0.2200 0.0400 0.0867
P_500 0.0020 0.1000 0.0160 0.0393
P_1000 0.0010 0.0500 0.0080 0.0197
recall_5 0.0000 0.0519 0.0000 0.0173
recall_10 0.0000 0.0909 0.0000 0.0303
recall_15 0.0000 0.1558 0.0000 0.0519
recall_20 0.0000 0.2078 0.1250 0.1109
recall_30 0.0000 0.2857 0.1250 0.1369
recall_100 0.0000 0.5455 0.8750 0.4735
recall_200 0.0000 0.5714 1.0000 0.5238
recall_500 0.0833 0.6494 1.0000 0.5776
recall_1000 0.0833 0.6494 1.0000 0.5776
ndcg 0.1396 0.6617 0.3669 0.3894
ndcg_cut_5 0.0000 0.8304 0.0000 0.2768
ndcg_cut_10 0.0439 0.7530 0.0000 0.2656
ndcg_cut_15 0.0393 0.8085 0.0000 0.2826
ndcg_cut_20 0.0746 0.8082 0.0585 0.3138
ndcg_cut_30 0.0867 0.7604 0.0585 0.3019
ndcg_cut_100 0.1390 0.6046 0.3294 0.3577
ndcg_cut_200 0.1544 0.6209 0.3669 0.3807
ndcg_cut_500 0.1396 0.6617 0.3669 0.3894
ndcg_cut_1000 0.1396 0.6617 0.3669 0.3894
map_cut_5 0.0000 0.0461 0.0000 0.0154
map_cut_10 0.0000 0.0768 0.0000 0.0256
map_cut_15 0.0000 0.1265 0.0000 0.0422
map_cut_20 0.0000 0.1695 0.0066 0.0587
map_cut_30 0.0000 0.2298 0.0066 0.0788
map_cut_100 0.0000 0.3983 0.0729 0.1571
map_cut_200 0.0000 0.4068 0.0823 0.1630
map_cut_500 0.0003 0.4175 0.0823 0.1667
map_cut_1000 0.0003 0.4175 0.0823 0.1667
success_1 0.0000 1.0000 0.0000 0.3333
success_5 0.0000 1.0000 0.0000 0.3333
success_10 0.0000 1.0000 0.0000 0.3333
"""


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
    for line in FIGURES_FROM_2.split("\n")[1:-1]:
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
