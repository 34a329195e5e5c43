"""A program of another project: what a type checker sees of an installed toplist.

`tests/test_typing.py` runs mypy on it, and the program itself. Every ``type: ignore`` below is an
error that a checker must find: strict checkers report an ignore without an error.
"""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import toplist as tl
from toplist.typing import Empty, Metrics, Ties

if TYPE_CHECKING:
    from toplist.comparing.contrasts import Contrast
    from toplist.comparing.segments import SegmentedComparison
    from toplist.comparing.tests import Tests
    from toplist.comparing.views import Band
    from toplist.loo import Split
    from toplist.results.segments import Segments

Lists = Mapping[str, list[int]]
Curve = NDArray[np.float64]

TRUTHS = {"ann": {1, 2}, "bob": {3}, "cid": {4, 5}, "dan": {2}}
RANKS = {"ann": [1, 9, 2], "bob": [3, 8, 7], "cid": [9, 4, 8], "dan": [7, 8, 9]}
OTHER = {"ann": [9, 1, 2], "bob": [8, 3, 7], "cid": [9, 8, 7], "dan": [2, 8, 9]}


def evaluated(
    ranks: Lists, metrics: Metrics, *, empty: Empty | None = None, ties: Ties = "item"
) -> tl.TopKResult:
    """Hand options on, as a function of another project does."""
    return tl.top_k_eval(
        tl.Ranks(ranks, ties=ties),
        TRUTHS,
        k=[1, 3],
        metrics=metrics,
        convention=tl.CONVENTIONS["standard"].replace(empty=empty),
    )


def names() -> None:
    """Names with k are floats, names alone are curves; of any other text nothing is known."""
    mine = tl.Metric("mine", "each", "log2(r+1)", lambda k, R, n: k)
    result = evaluated(RANKS, ["ndcg", "recall@3", "rbp(p=0.5)@2", mine], empty="zero")
    best = 0.0
    best = max(best, result["ndcg@3"])
    assert_type(result["ndcg@3"], float)
    assert_type(result["ndcg"], Curve)
    assert_type(result.std("recall@3"), float)
    assert_type(result.interval("recall@3"), tuple[float, float])
    assert_type(result.interval("ndcg", level=0.9), tuple[Curve, Curve])
    assert_type(result.per_user("ndcg@3"), Curve)
    assert_type(result[f"ndcg@{2}"], Any)
    assert_type(result["mine"], Any)
    assert_type(result.to_dict(at="_at_"), dict[str, float])
    assert_type(float(evaluated(RANKS, "mrr@3")), float)
    assert_type(result + result.without_users() if best < 0 else result, tl.TopKResult)
    assert_type(tl.merge([result]), tl.TopKResult)


def functions() -> None:
    """Metric functions return arrays, one row per user where there are many."""
    assert_type(tl.ndcg([5, 7, 8], {7}), Curve)
    by_relevant = dataclasses.replace(tl.METRICS["map"], divisor="R")
    assert_type(tl.curves(by_relevant, RANKS, TRUTHS, 3, convention="trec_eval"), Curve)
    hits = tl.match(RANKS, TRUTHS, 3, duplicates="first")
    assert_type(hits, tl.Hits)
    assert_type(tl.audit.conformance([[1]], [{1}], k=1), dict[str, dict[str, float]])
    every = [name for name, convention in tl.CONVENTIONS.items() if "map" in convention.metrics]
    assert_type(every, list[str])
    assert every


def comparisons() -> None:
    """What a comparison and its tests return, by what stands in brackets."""
    both = {"a": evaluated(RANKS, "mrr"), "b": evaluated(OTHER, "mrr")}
    compared = tl.compare(both, baseline="a")
    assert_type(compared, tl.comparing.comparison.Comparison)
    assert_type(compared.results["a"]["mrr@3"], float)
    tests: Tests = compared.test("mrr@3", method="randomization", alternative="greater")
    contrast: Contrast = tests["b", "mrr@3"]
    assert_type(contrast.p, float)
    assert_type(tests[0].wins, int)
    fewer: Tests = tests[:1]
    band: Band = compared.band("mrr")
    segments: Segments[tl.TopKResult] = both["a"].by(["new", "new", "old", "old"])
    assert_type(segments["new"]["mrr@3"], float)
    parts: SegmentedComparison[tl.comparing.comparison.Comparison] = compared.by(
        dict.fromkeys(TRUTHS, "all")
    )
    assert_type(parts["all"].best(), dict[str, list[str]])
    assert fewer and band.n == 4


def splits() -> None:
    """A split, and the ranks of the held-out items."""
    split: Split = tl.loo.leave_one_out(([7, 7, 8, 8], [1, 2, 1, 3], [1, 2, 3, 4]), by="last")
    users, items, held_out, seen = split.columns()
    assert_type(held_out, NDArray[np.int64])
    assert_type(seen, tl.inputs.Lists)
    assert_type(split.truths("test"), dict[Any, list[Any]])
    ranks = tl.loo.ranks_of(np.ones((len(users), len(items))), held_out, ties="worst")
    assert_type(tl.top_k_eval(tl.Hits.from_ranks(ranks, 3), k=1)["hit@1"], float)
    assert_type(tl.pointwise.auc([0, 1], [0.2, 0.3]), float)
    assert_type(tl.audit.check(RANKS, TRUTHS).ok, bool)


if TYPE_CHECKING:

    def systems() -> None:
        """Several systems give a dict."""
        recs = truth = object()
        assert_type(tl.top_k_eval(tl.Ranks(recs, ties="item_desc"), truth, k=5), tl.TopKResult)
        by_model = tl.top_k_eval(recs, truth, k=5, system="model", convention="trec_eval")
        assert_type(by_model, dict[str, tl.TopKResult])
        tl.top_k_eval(recs, truth, k=5, partition=2)  # type: ignore[call-overload]

    def misspelt() -> None:
        """Each line has an error that a type checker must find."""
        standard = tl.CONVENTIONS["standard"]
        tl.top_k_eval(RANKS, TRUTHS, convention="trec-eval")  # type: ignore[call-overload]
        standard.replace(empty="none")  # type: ignore[arg-type]
        standard.replace(aggregate="micro")  # type: ignore[arg-type]
        standard.replace(gains="exp")  # type: ignore[arg-type]
        tl.top_k_eval(RANKS, TRUTHS, duplicates="last")  # type: ignore[call-overload]
        tl.Ranks(RANKS, ties="items")  # type: ignore[arg-type]
        tl.Items(unknown="ignore")  # type: ignore[arg-type]
        tl.top_k_eval(RANKS, TRUTHS, metrics=10)  # type: ignore[call-overload]
        tl.Ranks("r.csv", format="xml")  # type: ignore[arg-type]
        tl.Metric("mine", "each", "log2", "k")  # type: ignore[arg-type]
        print(tl.METRICS["ndcg"].dicount)  # type: ignore[attr-defined]
        result = tl.top_k_eval(RANKS, TRUTHS)
        print(result[3])  # type: ignore[call-overload]
        print(result.ndcg)  # type: ignore[attr-defined]
        result.formula("ndcg", style="tex")  # type: ignore[arg-type]
        compared = tl.compare({"a": result}, runs="pairs")  # type: ignore[arg-type]
        compared.test(method="ttest")  # type: ignore[arg-type]
        compared.test(correction="fdr")  # type: ignore[arg-type]
        compared.test(alternative="two_sided")  # type: ignore[arg-type]
        compared.test(family="metrics")  # type: ignore[arg-type]
        compared.equivalence(margin=0.1, correction="maxt")  # type: ignore[arg-type]
        tl.loo.leave_one_out([], repeats="all")  # type: ignore[arg-type]
        tl.loo.holdout([], 0.2, short="keep")  # type: ignore[arg-type]
        tl.scores.ndcg([], relevance=[], ties="mean")  # type: ignore[arg-type]
        tl.pointwise.gauc([], [], weights="clicks")  # type: ignore[arg-type]
        tl.files.read_ranks("a.csv", format="xml")  # type: ignore[arg-type]


if __name__ == "__main__":
    names()
    functions()
    comparisons()
    splits()
