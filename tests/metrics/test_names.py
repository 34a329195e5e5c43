"""Names that others use, and misspelt ones: the error offers the near one first, then all."""

import re
from operator import attrgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist import checks
from toplist.metrics import names
from toplist.metrics.beyond_accuracy import LIST_METRICS
from toplist.metrics.conventions import OTHER_NAMES
from toplist.metrics.properties import SCORED

RANKS, TRUTHS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]], [{7, 3, 5}, {4, 2, 8, 7}]
READ = {  # by other names
    "hit": "hit_rate HitRate",
    "hit@10": "HitRate@10 hr@10 Hits@10 hit_10",
    "hit@5": "success@5 Success@5",
    "ndcg@10": "NDCG@10 nDCG@10 ndcg_cut_10 ndcg_cut.10 normalized_dcg@10",
    "ndcg": "nDCG",
    "recall@10": "recall_at_10 Recall@10",
    "recall@100": "R@100",
    "map": "MAP AP mean_average_precision",
    "map@100": "map_cut.100 AP@100",
    "precision@5": "p@5 P_5 P@5",
    "mrr": "recip_rank RR",
    "mrr@10": "RR@10",
    "judged@10": "Judged@10",
    "group_recall@1": "StRecall@1",
    "alpha_ndcg@10": "alpha_nDCG@10",
    "r_precision": "Rprec",
    "f1": "F1",
    "f1@10": "f1_score@10",
    "rbp(p=0.8)": "RBP(p=0.8)",
    "rbp(p=0.95)@5": "RBP(p=0.95)@5",
    "personalisation@3": "personalization@3",
}
MEANT = {  # misspelt, or of several definitions
    "ndcg": "ndcgAt ndgc",
    "ndcg@10": "ndgc@10 nddcg@10",
    "recall": "recall_at_k",
    "recall@20": "recal@20",
    "map": "meanAveragePrecisionAt",
    "precision": "precision@ precison presison",
    "f1@10": "f1_beta@10",
    "hit@10": "accuracy@10",
    "item_coverage@10": "coverage@10",
    "gini": "GiniIndex",
    "toplist.pointwise.auc": "auc",
    "serendipity": "serendipty",
    "calibration@5": "miscalibration@5",
}


def pairs(meant):
    return [(name, ours) for ours, names in meant.items() for name in names.split()]


@pytest.mark.parametrize(("name", "meant"), pairs(MEANT))
def test_metrics(name, meant):
    said = re.escape(f"metric {name!r} (did you mean {meant!r}?): ")
    with pytest.raises(ValueError, match=f"^{said}(choose from hit, precision|write a name)"):
        tl.top_k_eval(RANKS, TRUTHS, 5, metrics=["ndcg", name])


@pytest.mark.parametrize(("name", "ours"), pairs(READ))
def test_names_of_other_libraries_are_read_and_printed_as_ours(name, ours):
    truths = [dict.fromkeys(row, 1) | {11: 0} for row in TRUTHS]
    found, own = (tl.top_k_eval(RANKS, truths, 5, metrics=[one]) for one in (name, ours))
    assert found == own and found.names() == own.names()
    assert found[name] is not None and name in own
    assert ours in repr(found) or ours.partition("@")[0] in repr(found)


def test_a_name_of_trec_eval_says_where_its_formula_is_another():
    said = "\nAP is map, over min(k,R); in trec_eval and ir_measures over R\n"
    assert said in repr(tl.top_k_eval(RANKS, TRUTHS, metrics=["AP@3", "P@3"]))
    for name, convention in (("AP@3", "trec_eval"), ("map@3", "standard"), ("P@3", "standard")):
        result = tl.top_k_eval(RANKS, TRUTHS, metrics=name, convention=convention)
        assert "ir_measures" not in repr(result)


@settings(deadline=None, max_examples=25)
@given(st.text(max_size=8))
def test_any_text_is_an_error_with_the_valid_names(name):
    if not names.canonical(name).partition("@")[0].startswith((*tl.METRICS, *LIST_METRICS)):
        with pytest.raises(ValueError, match="choose from hit|write a name|needs propensities"):
            tl.top_k_eval(RANKS, TRUTHS, 5, metrics=[name])
        assert f"{name}@3" not in tl.top_k_eval(tl.Hits.from_ranks([1], 3), k=3)


def test_every_synonym_is_of_a_name_and_is_none_itself():
    known = {*tl.METRICS, *LIST_METRICS, *SCORED}
    for other, ours in names.METRIC_NAMES.items():
        place, _, name = ours.rpartition(".")
        module = {"toplist.pointwise": tl.pointwise, "toplist.beyond": tl.beyond}.get(place)
        assert callable(getattr(module, name)) if module else ours in known
        assert other not in known
    assert set(OTHER_NAMES.values()) <= set(tl.CONVENTIONS)
    assert not set(OTHER_NAMES) & set(tl.CONVENTIONS)
    assert all(callable(attrgetter(ours)(tl)) for ours in names.PACKAGE_NAMES.values())


# What a library calls one of its metrics, which is another than its name is elsewhere.
OF_LIBRARIES = [
    ("ranx", "hits@2", "cg@2", 1.5),
    ("ranx", "hits_at_2", "cg@2", 1.5),
    ("ranx", "hit_rate@2", "hit@2", 1.0),
    ("standard", "hits@2", "hit@2", 1.0),
    ("recbole", "hits@2", "hit@2", 1.0),
    # of the first user 2 / min(2, 3), or 2 / 3; of the second 1 / 2
    ("recommenders", "map_at_2", "map_at_k@2", 0.75),
    ("recommenders", "map@2", "map@2", (2 / 3 + 1 / 2) / 2),
    ("trec_eval", "map_cut_2", "map@2", (2 / 3 + 1 / 2) / 2),
    ("standard", "map_at_2", "map@2", 0.75),
]


@pytest.mark.parametrize(("convention", "written", "name", "value"), OF_LIBRARIES)
def test_a_name_means_what_it_means_in_the_library_of_the_convention(
    convention, written, name, value
):
    lists, truths = [["a", "b", "x"], ["d", "x", "y"]], [{"a", "b", "c"}, {"d", "e"}]
    found = tl.top_k_eval(lists, truths, metrics=written, convention=convention)
    assert found.to_dict() == {name: pytest.approx(value, abs=1e-15)}
    assert found[written] == found[name]


OF_A_RESULT = {
    "hit@3": "accuracy@3",
    "ndcg": "ndgc ndcg3",
    "ndcg@3": "ndgc@3",
    "rbp(p=0.5)@3": "rbp@3",
    "rbp(p=0.5)": "RBP",
}


@pytest.mark.parametrize(("name", "meant"), pairs(OF_A_RESULT))
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


OF_THE_PACKAGE = {
    "hit": "hit_rate",
    "recall": "recall_at_k",
    "ndcg": "nDCG ndcg_at_10",
    "map": "average_precision",
    "top_k_eval": "evaluate top_k_evals",
    "compare": "compares",
    "TopKResult.load": "load",
    "pointwise.auc": "auc",
    "loo.leave_one_out": "leave_one_out",
    "beyond.overlap": "overlap",
}


@pytest.mark.parametrize(("name", "meant"), pairs(OF_THE_PACKAGE))
def test_names_of_the_package(name, meant):
    words = f"^module 'toplist' has no attribute '{name}' \\(did you mean toplist.{meant}\\?\\)$"
    with pytest.raises(AttributeError, match=words):
        getattr(tl, name)


def test_private_names_of_the_package_are_plain_errors():
    for name in ("_ndcg", "__wrapped__", "qwertz"):
        with pytest.raises(AttributeError, match=f"^module 'toplist' has no attribute '{name}'$"):
            getattr(tl, name)


OF_CONVENTIONS = {
    "trec_eval": "trec-eval pytrec_eval",
    "recbole": "RecBole recbole?",
    "neurec-cpp": "neurec_cpp",
    "sklearn": "scikit-learn",
    "mteb": "BEIR",
    "standard": "Standard",
    "llamaindex": "llama_index",
    "pyvespa": "pyvespaa",
    "keras-rs": "Keras_RS",
    "xgboost": "XGBoost",
    "lightfm": "lightfn",
}


@pytest.mark.parametrize(("name", "meant"), pairs(OF_CONVENTIONS))
def test_conventions(name, meant):
    said = re.escape(f"convention {name!r} (did you mean {meant!r}?): choose from standard, ")
    for call in (tl.ndcg, tl.top_k_eval):
        with pytest.raises(ValueError, match=f"^{said}.*, rax$"):
            call(RANKS, TRUTHS, 5, convention=name)


def test_the_command_line(tmp_path, cli, good):
    said = "metric 'hti_rate@10' (did you mean 'hit@10'?): choose from"
    assert said in cli("eval", "recs.csv", "truth.csv", "-m", "hti_rate@10")[2]
    (file := tmp_path / "both.csv").write_text("user_id,item_id\nu,a\n")
    found = good("eval", "-m", "nDCG@10", "P_5", "RR@10", file, file, "--order", "file")
    assert all(name in found for name in ("ndcg", "precision", "mrr"))


def test_the_first_of_two_names_that_are_spelt_alike():
    assert checks.near("a b", ["a_b", "c"]) == "a_b"
    assert checks.near("A", {"a": 1}) == "a" and checks.near(None, ["None"]) is None
