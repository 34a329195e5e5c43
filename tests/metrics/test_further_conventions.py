"""Ten conventions of rankers, search engines and scripts, and the names that share a convention.

Figures are those that a library's own tests or documents print, with the file beside them.
"""

import pytest
from doors import by_words

import toplist as tl
from toplist.metrics.conventions import CONVENTION_CHOICES, SYNONYMS


def labelled(labels):
    """Return a list of items and the grades of these, from labels along a list."""
    return list(range(len(labels))), dict(enumerate(labels))


def asked(convention, metric, lists, truths, **options):
    k = int(metric.partition("@")[2])
    return by_words(lists, truths, k, metrics=metric, convention=convention, **options)[metric]


def of_labels(convention, metric, rows, **options):
    lists, truths = zip(*map(labelled, rows), strict=True)
    return asked(convention, metric, list(lists), list(truths), **options)


# dmlc/xgboost@379b29f tests/cpp/metric/test_rank_metric.h: scores .1 .9 .1 .9 of labels 0 0 1 1,
# three groups, and grades; catboost/catboost@27a223c libs/metrics/ut/precision_recall_at_k_ut.cpp,
# the same scores; gist.github.com/bwhite/3726239, its docstrings.
TIED, GROUPS, GRADES = [[0, 1, 0, 1]], [[1, 1], [0, 1, 1], [0]], [[5, 1, 0, 0, 10]]
GIST, FIRST = [[3, 2, 3, 0, 0, 1, 2, 2, 3, 0]], [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
OF_LABELS = [
    ("xgboost", "precision@2", TIED, 0.5),
    ("xgboost", "precision@4", [[1, 1, 0, 0, 1, 0]], 0.5),
    ("xgboost", "precision@2", [[0, 0]], 0),
    ("xgboost", "ndcg@4", TIED, 0.6509),
    ("xgboost", "ndcg@2", TIED, 0.3868),
    ("xgboost", "ndcg@5", GRADES, 0.409738),
    ("xgboost", "ndcg@5", [[0]], 1),
    ("xgboost", "map@4", TIED, 0.5),
    ("xgboost", "map@2", TIED, 0.25),
    ("xgboost", "map@5", GROUPS, 0.8611),
    ("catboost", "precision@2", TIED, 0.5),
    ("catboost", "recall@2", TIED, 0.5),
    ("catboost", "recall@2", [[1, 0]], 1),
    ("catboost", "recall@2", [[0, 0]], 1),
    ("catboost", "map@4", TIED, 0.5),
    ("catboost", "map@2", TIED, 0.25),
    ("catboost", "map@2", [[0, 0]], 0),
    ("bwhite", "mrr@3", FIRST, 0.61111111),
    ("bwhite", "map@10", [[1, 1, 0, 1, 0, 1, 0, 0, 0, 1]], 0.78333333),
    ("bwhite", "map@10", [[1, 1, 0, 1, 0, 1, 0, 0, 0, 1], [0]], 0.39166667),
    ("bwhite", "precision@3", [[0, 0, 1]], 0.33333333),
    ("bwhite", "dcg@1", GIST, 3),
    ("bwhite", "dcg@2", GIST, 5),
    ("bwhite", "dcg@11", GIST, 9.60511774),
    ("bwhite", "ndcg@1", GIST, 1),
    ("bwhite", "ndcg@4", [[2, 1, 2, 0]], 0.92030321),
    ("torchmetrics", "ndcg@4", [[2, 1, 2, 0]], 0.96519547),  # the gist with method=1
    ("bwhite", "ndcg@1", [[0]], 0),
    # keras-team/keras-rs@812d35b keras_rs/src/metrics/mean_average_precision_test.py
    ("keras-rs", "map@4", [[1, 0, 0, 0], [0, 3, 0, 4], [0, 0, 0, 0], [1, 0, 0, 2]], 0.5625),
]


@pytest.mark.parametrize(("convention", "metric", "rows", "value"), OF_LABELS)
def test_figures_of_labels(convention, metric, rows, value):
    assert of_labels(convention, metric, rows) == pytest.approx(value, abs=1e-4)


def test_the_suffix_of_xgboost_is_a_policy():
    for metric in ("ndcg@2", "map@2"):
        assert of_labels("xgboost", metric, [[0, 0]], empty="zero") == 0
    value = of_labels("xgboost", "ndcg@5", GRADES, gains="linear")  # ndcg_exp_gain=False
    assert value == pytest.approx(0.695694, abs=1e-6)


# elastic/elasticsearch@0066a27 and @00203b9, DiscountedCumulativeGainTests, ExpectedReciprocalRank
# Tests; opensearch-project/search-relevance@d8be5d1 EvaluationTests.java, where figures have two
# decimals; o19s/quepid@f80322f test/services/javascript_scorer_test.rb, likewise.
ES = list("abcdef"), dict(zip("abcdef", [3, 2, 3, 0, 1, 2], strict=True))
UNRATED = list("abcdef"), {"a": 3, "b": 2, "c": 3, "e": 1}
SHORT = list("abcd"), UNRATED[1]
CASCADE = list("abcd"), {"a": 3, "b": 2, "c": 0, "d": 1}
OS = [f"d{i}" for i in range(1, 21)], {f"d{i}": i % 3 for i in range(1, 21)}
NOTE = labelled([3, 2, 3, 0, 0, 1, 2, 2, 3, 0])
THREE = ["1", "2", "3"], {"1": 0, "2": 3, "3": 1}
OF_LISTS = [
    ("elasticsearch", "dcg@10", *ES, 13.84826362927298, 5e-6),
    ("elasticsearch", "ndcg@10", *ES, 13.84826362927298 / 14.595390756454922, 5e-6),
    ("elasticsearch", "dcg@10", *UNRATED, 12.779642067948913, 5e-6),
    ("elasticsearch", "ndcg@10", *UNRATED, 12.779642067948913 / 13.347184833073591, 5e-6),
    ("elasticsearch", "ndcg@10", *SHORT, 12.392789260714371 / 13.347184833073591, 5e-6),
    ("elasticsearch", "err(max=3)@3", *CASCADE, 0.8984375, 1e-13),
    ("elasticsearch", "err(max=3)@4", *CASCADE, 0.90087890625, 1e-13),
    ("opensearch", "precision@20", *OS, 0.7, 5e-3),
    ("opensearch", "precision@8", OS[0][:5], OS[1], 0.8, 5e-3),
    ("opensearch", "map@20", *OS, 0.76, 5e-3),
    ("opensearch", "map@8", OS[0][:5], OS[1], 0.25, 5e-3),
    ("opensearch", "ndcg@20", *OS, 0.76, 5e-3),
    ("opensearch", "ndcg@5", *OS, 0.51, 5e-3),
    ("opensearch", "ndcg@8", OS[0][:5], OS[1], 0.40, 5e-3),
    ("quepid", "precision@10", ["1", "2"], {"1": 1, "2": 0}, 0.5, 1e-12),
    ("quepid", "map@10", ["1", "2"], {"2": 1, "1": 0, "3": 1}, 0.25, 1e-12),
    ("quepid", "map@10", ["1", "2"], {"1": 0, "2": 0}, 0, 0),  # NaN there
    ("quepid", "dcg@10", *THREE, 4.92, 5e-3),
    ("quepid", "ndcg@10", *THREE, 0.64, 5e-3),
    ("quepid", "mrr@10", ["1", "2", "3"], {"1": 0, "2": 0, "3": 1}, 0.33, 5e-3),
    # by hand: the ideal has both rated documents, whatever k
    ("quepid", "ndcg@1", ["1"], {"1": 1, "2": 1}, 0.6131471927654585, 1e-12),
    # of a Chinese note: gains in rank order, and both discounts
    *(("standard", f"cg@{k}", *NOTE, gain, 0) for k, gain in ((1, 3), (2, 5), (10, 16))),
    *(
        ("standard", f"dcg@{k}", *NOTE, gain, 1e-13)
        for k, gain in ((1, 3), (2, 4.2618595071429155))
    ),
    *(("bwhite", f"dcg@{k}", *NOTE, gain, 1e-13) for k, gain in ((2, 5), (10, 9.6051177391888114))),
    ("bwhite", "ndcg@4", *labelled([2, 1, 2, 0]), 0.9203032077642922, 1e-15),
    ("standard", "ndcg@4", *labelled([2, 1, 2, 0]), 0.96519546960144276, 1e-15),
    ("standard", "ndcg@2", *labelled([1]), 1, 0),
    ("neurec", "ndcg@2", ["a", "b"], {"a": 1, "b": 3}, 1, 0),  # which knows no grades
    # the target at rank 2 weighs as much as at rank 1
    ("longmemeval", "ndcg@2", ["x", "a"], {"a"}, 1, 0),
    ("longmemeval", "complete@2", ["a", "b"], {"a", "c"}, 0, 0),
]


@pytest.mark.parametrize(
    ("convention", "metric", "ranked", "truth", "value", "tolerance"), OF_LISTS
)
def test_figures_of_lists(convention, metric, ranked, truth, value, tolerance):
    found = asked(convention, metric, [ranked], [truth])
    assert found == pytest.approx(value, abs=tolerance)


def test_transformers4rec():
    """NVIDIA-Merlin/Transformers4Rec@8bf122f tests/unit/torch/test_ranking_metrics.py."""
    lists, truths = [[4, 3, 5, 2]] * 3, [{7}, {5}, {4}]
    options = {"metrics": ["mrr", "recall"], "convention": "transformers4rec"}
    found = by_words(lists, truths, [1, 2, 3, 4], **options)
    assert found["mrr"].tolist() == pytest.approx([1 / 3, 1 / 3, 4 / 9, 4 / 9])
    assert found["recall"].tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])


def test_pytorch_metric_learning():
    """KevinMusgrave/pytorch-metric-learning@216a792 tests/utils/test_calculate_accuracies.py."""
    rows = [[0, 1, 1, 0, 0], [1, 0, 1, 1, 0], [0, 0, 0, 0, 1], [1, 0, 1, 0, 1], [0, 0, 1, 0, 0]]
    lists = [[*range(5)]] * 6
    sizes, hits = (3, 3, 5, 4, 5, 2), [*rows, [0] * 5]
    truths = [
        {item for item in range(5) if row[item]} | set(range(-size, -sum(row)))
        for row, size in zip(hits, sizes, strict=True)
    ]
    assert tuple(map(len, truths)) == sizes
    expected = {
        "precision@1": [0, 1, 0, 1, 0, 0],
        "r_precision@5": [2 / 3, 2 / 3, 1 / 5, 2 / 4, 1 / 5, 0],
        "map_at_r@5": [7 / 18, 5 / 9, 1 / 25, 5 / 12, 1 / 15, 0],
        "map@5": [7 / 18, (1 + 2 / 3 + 3 / 4) / 3, 1 / 25, (1 + 2 / 3 + 3 / 5) / 4, 1 / 15, 0],
        "mrr@5": [1 / 2, 1, 1 / 5, 1, 1 / 3, 0],
    }
    options = {"metrics": [*expected], "convention": "pytorch-metric-learning"}
    result = by_words([*lists, [0]], [*truths, set()], 5, **options)  # the last is alone
    for name, values in expected.items():
        assert result.per_user(name)[:6].tolist() == pytest.approx(values), name
        assert result[name] == pytest.approx(sum(values) / 6)


# AutoRAG@a35d321 legacy/tests/autorag/evaluate/metric/test_retrieval_metric.py
AUTORAG = [
    ("1 p 2 q", [["1", "2"], ["3"]], 0.5, 0.5, 0.7039180890341347),
    ("6 p q r", [["4", "5"], ["6", "7"], ["8"]], 0.25, 1 / 3, 0.3903800499921017),
    ("9 p q r", [["9", "10"]], 0.25, 1, 0.6131471927654585),
    ("13 12 p q", [["11"], ["12"], ["13"]], 0.5, 2 / 3, 0.7653606369886217),
    ("14 p", [["14"]], 0.5, 1, 1),
    ("p q 15", [["15"]], 1 / 3, 1, 0.5),
]


def test_autorag():
    lists, groups = [row[0].split() for row in AUTORAG], [row[1] for row in AUTORAG]
    metrics = ["precision", "recall", "ndcg"]
    result = tl.top_k_eval(
        [*lists, ["p"]], tl.Groups([*groups, []]), 5, metrics=metrics, convention="autorag"
    )
    for place, name in enumerate(metrics, 2):
        values = [row[place] for row in AUTORAG]
        assert result.per_user(f"{name}@5")[:6].tolist() == pytest.approx(values), name
        assert result[f"{name}@5"] == pytest.approx(sum(values) / 6)  # no groups, not counted


# Names that share a convention

LISTS, TRUTHS = [["a", "b"], ["c", "d"]], [{"b"}, {"c", "x"}]


def test_names_are_conventions_or_synonyms():
    assert (*tl.CONVENTIONS, *SYNONYMS) == CONVENTION_CHOICES
    assert {*SYNONYMS.values()} <= {*tl.CONVENTIONS}


@pytest.mark.parametrize(("name", "convention"), SYNONYMS.items())
def test_a_synonym_gives_the_numbers_of_its_convention(name, convention):
    metrics = [*tl.CONVENTIONS[convention].metrics]
    metrics = [one for one in metrics if tl.METRICS[one].cut != "n"]
    users = [*LISTS, ["e"]], [*TRUTHS, set()]
    both = [by_words(*users, 2, metrics=metrics, convention=one) for one in (name, convention)]
    assert list(both[0]) == list(both[1]) and both[0].terms == both[1].terms
    assert f"convention {convention} (as {name})" in str(both[0])
    assert f"(as {name})" not in str(both[1])
    assert tl.recall(LISTS, TRUTHS, convention=name).tolist()
    other = tl.top_k_eval([["a"]], [{"x"}], 2, metrics=metrics, convention=convention)
    assert (other + both[0]).n_users == 4
    assert "DIFFERENT" not in str(tl.compare(dict(zip("ab", both, strict=True))))


def test_kaggle():
    """benhamner/Metrics@9a637ae Python/ml_metrics/test/test_average_precision.py."""

    def mapk(truths, lists, k):
        return asked("kaggle", f"map@{k}", lists, truths, duplicates="first")

    five = [1, 2, 3, 4, 5]
    assert mapk([{*five}], [[6, 4, 7, 1, 2]], 2) == 0.25
    assert mapk([{*five}], [[1, 1, 1, 1, 1]], 5) == pytest.approx(0.2)
    assert mapk([{1, 3, 4}, {1, 2, 4}, {1, 3}], [five] * 3, 3) == pytest.approx(0.685185185185185)
    lists = [five, [1, 1, 1], [1, 2, 1]]
    assert mapk([{1, 3}, {1, 2, 3}, {1, 2, 3}], lists, 3) == pytest.approx(11 / 18)
    assert mapk([{1}, set()], [[1], [1]], 3) == 0.5


def test_the_command_line(tmp_path, good):
    (file := tmp_path / "both.csv").write_text("user_id,item_id\nu,a\nu,b\n")
    found = good("eval", file, file, "--order", "file", "-m", "map@2", "--convention", "kaggle")
    assert "convention spark (as kaggle): mean over users" in found
    assert "convention tf-ranking: " in good("metrics", "map", "--convention", "rax")
    assert "the same as tf-ranking: keras-rs, rax\n" in good("conventions", "-m", "map")
