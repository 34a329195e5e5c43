"""Judged@k, the share of the first k with a judgement."""

import cases
import pytest

import toplist as tl

TREC = cases.FOLDER.parent / "data" / "trec_eval"


GRADED = {"a": {1: 2, 2: 0, 3: 1}, "b": {4: 1}, "c": {5: 0, 6: 1}}
LISTED = {"a": [2, 9, 1], "b": [8, 4], "c": [5, 7, 6]}


def test_judged_of_merged_segments_and_weighted_results():
    parts = [
        tl.top_k_eval({u: LISTED[u]}, {u: GRADED[u]}, 3, metrics=["judged"])
        for u in ("a", "b", "c")
    ]
    whole = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged"])
    assert sum(parts)["judged@3"] == pytest.approx(whole["judged@3"], rel=1e-15)
    assert sum(parts).std("judged@3") == pytest.approx(whole.std("judged@3"), rel=1e-12)
    assert whole.by({"b": "b"})["b"]["judged@3"] == pytest.approx(1 / 3)
    heavy = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged"], weights={"a": 1, "b": 2, "c": 1})
    assert heavy["judged@3"] == pytest.approx((2 / 3 + 2 / 3 + 2 / 3) / 4)


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
def test_judged_is_what_trec_eval_does_not_call_unjudged():
    rows = [line.split() for line in (TREC / "out.test.aq").read_text().splitlines()]
    figures = {(name, query): figure for name, query, figure in rows if name.startswith("unj")}
    assert len(figures) == 12
    files = TREC / "results.test", TREC / "qrels.test", [5, 10, 20]
    options = {"metrics": "judged", "convention": "trec_eval"}
    options |= {"ranks_format": "trec", "ground_truths_format": "trec"}
    result = tl.top_k_eval(*files, in_memory=True, **options)
    assert tl.top_k_eval(*files, **options).to_dict() == result.to_dict()
    for k in result.ks:
        found = dict(zip(result.users, result.per_user(f"judged@{k}"), strict=True))
        found["all"] = result[f"judged@{k}"]
        for query, judged in found.items():
            assert f"{1 - judged:.4f}" == figures[f"unj_{k}", query]


def test_a_wrong_word_of_what_counts():
    with pytest.raises(ValueError, match="of='listed': choose from 'relevant', 'judged'"):
        tl.Metric("x", "each", "1", "k", of="listed")
