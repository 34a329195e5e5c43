"""What the notebooks say in words, as checks of their variables: a function for each notebook.

`test_notebooks` calls them where the notebook has run, after its last cell, with all its names.
"""

from math import isclose

import numpy as np

import toplist as tl


def quickstart(page):
    result, listed_only = page.result, page.listed_only
    assert (result.n_evaluated, result.n_missing, result.n_extra) == (992, 12, 8)
    assert listed_only.n_evaluated == 992 - 12
    assert listed_only["ndcg@10"] > result["ndcg@10"]  # it "makes the recommender look better"

    assert all(best == ["itemknn"] for best in page.both.best().values())
    lowest, _ = page.both.results["itemknn"].interval("ndcg")
    _, highest = page.both.results["popularity"].interval("ndcg")
    assert (lowest > highest).all()  # the bands do not touch at any k

    assert page.segments["0"]["hit@10"] == 0  # nothing read, no list, no hit
    readers = [part for label, part in page.segments.items() if label != "0"]
    assert np.all(np.diff([part["hit@10"] for part in readers]) > 0)
    assert np.all(np.diff([part["recall@10"] for part in readers]) < 0)


def choosing_k(page):
    result = page.result
    assert np.all(np.diff(result["precision"]) < 0)
    assert (result["map"].argmin() + 1, result["ndcg"].argmin() + 1) == (9, 4)
    assert np.median([len(items) for items in page.truth.values()]) == 4
    assert np.all(np.diff(page.both_maps["map_R"]) >= 0)
    assert np.any(np.diff(page.both_maps["map"]) < 0)

    assert result["ndcg@20"] > 1.3 * page.reversed_lists["ndcg@20"]
    ratio = page.width(page.few, "ndcg@10") / page.width(result, "ndcg@10")
    assert 2 < ratio < 5  # about the square root of 992 / 100, 3.1

    values = {name: one.per_user("ndcg@10") for name, one in page.systems.items()}
    assert np.mean(values["itemknn"] > 0) == result["hit@10"] < 0.5  # where the curve begins
    levels = np.linspace(0, 0.6, 13)[:, np.newaxis]
    above = {name: (of_users > levels).mean(axis=1) for name, of_users in values.items()}
    assert np.all(above["itemknn"] > above["popularity"])


def leave_one_out(page):
    log, split = page.log, page.split
    newest = log["timestamp"] == log.groupby("user_id")["timestamp"].transform("max")
    several = log[newest].drop_duplicates().groupby("user_id").size() > 1
    assert split.report.n_tied == several.sum() > 0.93 * log["user_id"].nunique()

    assert len(page.customers) == page.recalls["the whole basket"].n_evaluated == 693
    known, unseen = (result["recall@10"] for result in page.recalls.values())
    assert known > 2 * unseen  # most of the recall

    best = page.results["3 nearest"]

    of_nothing = page.hits_at_10["knows nothing"]
    assert (of_nothing["best"], of_nothing["worst"]) == (1, 0)
    for group in page.parts["popularity"]:
        ordered = [page.parts[name][group]["hit@10"] for name in page.models]
        assert ordered == sorted(ordered, reverse=True)

    of_all, of_sample = page.results, page.in_sample
    assert of_all["3 nearest"]["hit@10"] > of_all["20 nearest"]["hit@10"]
    assert of_sample["3 nearest"]["hit@10"] < of_sample["20 nearest"]["hit@10"]
    ahead = of_sample["popularity"]["hit"] > of_sample["3 nearest"]["hit"]
    assert ahead.argmax() + 1 == 11 and ahead[10:].all()
    assert page.unlike.differences[0].kind == "candidates"
    table = page.table
    error = (table["corrected"] - table["all products"]).abs()
    assert (error < (table["100 sampled"] - table["all products"]).abs() / 3).all()
    assert list(table["corrected"].sort_values(ascending=False).index) == list(page.models)
    assert (table["high"] < table["all products"]).iloc[0]  # the interval does not hold the truth

    assert (page.found.counts["leaked"], page.found.ok) == (1, False)
    assert len(page.leaky) == 65_667
    assert 1.15 < page.leaked["hit@10"] / best["hit@10"] < 1.25  # "a fifth more"


def same_numbers(page):
    assert len(page.of_one_list) == len(tl.CONVENTIONS) == 39
    assert page.of_one_list.round(10).nunique()["map"] == 5
    but_in = {"precision": [], "map": ["lightgbm", "xgboost"], "ndcg": page.apart}
    for metric, but in but_in.items():
        wins = (page.good[metric] > page.poor[metric])[page.good[metric].notna()]
        assert list(wins.index[~wins]) == but
    assert page.poor.loc["lenskit", "map"] > 3 * page.good.loc["neurec", "map"]
    assert (page.neurec, page.standard) == (0.5, 1.0)


def beyond_accuracy(page):
    for one, other in (("itemknn", "co-read"), ("co-read", "itemknn")):
        low, high = page.accuracy[one].interval("ndcg")
        assert np.all((low < page.accuracy[other]["ndcg"]) & (page.accuracy[other]["ndcg"] < high))
    coverage, varied = page.at_10.loc[["item_coverage@10", "intra_list_diversity@10"]].to_numpy()
    assert coverage.round(2).tolist() == [0.43, 0.11]
    assert varied.round(2).tolist() == [0.22, 0.80]

    ours, other = page.results["itemknn"], page.results["co-read"]
    for name in ("item_coverage", "shannon_entropy", "novelty"):
        assert np.all(ours[name] > other[name]) and np.all(np.diff(ours[name]) > 0)
    for name in ("gini", "average_popularity"):
        assert np.all(ours[name] < other[name]) and np.all(np.diff(ours[name]) < 0)

    for name, n_half in {"itemknn": 112, "co-read": 12}.items():
        x = np.sort(page.counts[name])
        assert x[-n_half:].sum() >= x.sum() / 2 > x[1 - n_half :].sum()
    assert (page.counts["co-read"] == 0).mean() > 0.89
    ginis = page.ginis.T
    assert (ginis["over the recommended, by n"] < ginis["over the catalogue, by n"]).all()
    assert page.of_tail["itemknn"].round(2).agg(["min", "max"]).tolist() == [0.02, 0.4]
    reads = page.n_reads.sort_values()
    assert round(reads.iloc[: int(0.8 * len(reads))].sum() / reads.sum(), 2) == 0.38

    reader, taste, both, too_sure = page.values.to_dict("index").values()
    assert reader["gauc"] == 0.5  # one prediction per reader: all tied
    assert reader["auc"] > taste["auc"] and reader["gauc"] < taste["gauc"]
    assert (too_sure["auc"], too_sure["gauc"]) == (both["auc"], both["gauc"])
    assert isclose(both["gauc"], taste["gauc"])
    assert too_sure["log loss"] > 1.2 * both["log loss"]


def is_b_better(page):
    [row] = page.at_10
    assert row.p < 0.05 < page.two.test("ndcg@5")[0].p
    assert page.band.low[9] > 0 > page.band.low_all[9]  # better at k = 10 alone, not at all k
    assert np.flatnonzero(page.band.low_all > 0)[0] + 1 == 11
    same = page.four.equivalence("ndcg@10", margin=0.005)
    assert page.four.test("ndcg@10")["itemknn-shrunk", "ndcg@10"].p < 0.05  # it differs ...
    assert same["itemknn-shrunk", "ndcg@10"].p < 0.05  # ... by less than the margin
    assert sum(one.p < 0.05 for one in page.groups) == 1
    assert all(one.p_adjusted >= 0.05 for one in page.groups)
    assert all(one.losses > 0.8 * one.wins for one in page.groups)
    worst = page.movers.rows[0]
    assert worst.baseline_ranks == (1, 2, 3, 4)
    steps = np.subtract(worst.system_ranks, worst.baseline_ranks)
    assert (steps.min(), steps.max()) == (5, 31)
    assert page.two.power("ndcg@10", difference=0.003).rows[0]["n_needed"] > row.n
    [of_seeds] = page.of_seeds
    assert of_seeds.n == 3332 and of_seeds.error > of_seeds.error_users


def evaluating_a_retriever(page):
    result = page.result
    assert (result.n_users, result.n_evaluated, result.n_skipped) == (66, 64, 2)
    assert len({round(page.choices[name], 4) for name in page.choices if "ndcg" in name}) == 3

    assert sum(not docs for docs in page.cut.values()) == 9
    ndcg = [found["ndcg@3"] for found in page.everyone.values() if "ndcg@3" in found.names()]
    assert (round(min(ndcg), 2), round(max(ndcg), 2)) == (0.25, 0.34)

    recall, words = page.curves["recall"], page.curves["words"]
    assert (round(recall[5] - recall[1], 2), round(recall[20] - recall[10], 2)) == (0.25, 0.06)
    assert (round(words[5] - words[1], -1), round(words[20] - words[10], -2)) == (320, 800)
    bm25 = page.results["bm25"]
    assert (round(bm25["hit@10"] * 4), round(page.answers["hit@10"] * 8)) == (3, 5)

    nothing = page.per_question[page.per_question["recall@10"] == 0]
    assert (len(nothing), (nothing["recall@20"] == 0).sum()) == (17, 14)
    assert (page.per_question["recall@10"] == 1).sum() == 18

    for name in ("tfidf", "bm25"):
        assert page.plain[name]["judged@3"] == 1
        assert 0.25 <= 1 - page.plain[name]["judged@5"] < 0.28  # "a quarter"
    assert round(1 - page.plain["trigrams"]["judged@5"], 2) == 0.39
    tenth = [page.plain[name]["judged@10"] for name in ("tfidf", "bm25")]
    assert isclose(*tenth, abs_tol=0.002)  # "judged alike"
    low, high, dropped = (page.holes[name] for name in page.holes.columns[:3])
    assert low.max() - low.min() < 0.01
    assert (high - low).min() > 0.245 and high.min() > low.max()  # nobody is out of reach
    assert round(dropped["trigrams"] - dropped.drop("trigrams").max(), 2) == 0.03
    assert ["numpy.maximum", "numpy.minimum"] in page.groups["q24"]
    found, at = page.grouped["bm25"], list(page.groups).index("q13")
    assert isclose(found.per_user("recall@5")[at], 2 / 3)
    assert found.per_user("group_recall@5")[at] == 1 / 2
    for found in page.grouped.values():
        assert round(found["group_recall@5"] - found["recall@5"], 2) == 0.02
    fives = {query: list(run)[:5] for query, run in page.passages.items()}
    documents = {query: [page.document_of[one] for one in five] for query, five in fives.items()}
    assert sum(len(set(five)) < 5 for five in documents.values()) == 27
    assert {one for run in page.passages.values() for one in run} <= page.document_of.keys()
    for term, value in page.ways["documents"].to_dict().items():
        first, collapse = (page.ways[f"passages, {one}"][term] for one in ("first", "collapse"))
        assert first < value < collapse
        assert max(collapse - value, value - first) < 0.0205  # "0.02 or less", rounded

    [row] = page.two.test("ndcg@10")
    assert row.low < 0 < row.difference < row.high
    assert (page.band.low_all < 0).all() and (page.band.high_all > 0).all()
    [power] = page.two.power("ndcg@10", difference=0.02).rows
    assert 4.5 < power["n_needed"] / row.n < 5.5
    assert round(power["detectable"], 2) == 0.05


def every_week(page):
    assert len(page.some[0].users) == 91
    margins = {"ndcg@10": 0.01}
    gates = [tl.gate(*page.some, margins), tl.gate(page.new, page.base, margins)]
    assert [gate.verdict for gate in gates] == ["undecided", "not worse"]
    assert gates[0].rows[0].difference > gates[1].rows[0].difference  # "even higher"

    whole, once, *others = page.found.rows
    assert (whole.verdict, once.verdict, page.found.verdict) == ("not worse", "worse", "worse")
    assert once.segment == "1" and {row.verdict for row in others} == {"not worse"}
    assert 0.25 < once.n / whole.n < 0.35  # "three of ten customers"
    changed = [user for user in page.broken if page.broken[user] != page.lists["ease"][user]]
    assert changed and {page.baskets[user] for user in changed} == {"1"}
    [line] = page.both.by(page.baskets).heterogeneity("ndcg@10").values()
    assert line.p < 0.001

    across = tl.across(page.datasets, "ndcg@10", missing="last")
    assert np.isnan(across.macro[across.systems.index("ease")])

    people, rule, corrected = page.corrected.human, page.corrected.judge, page.corrected.estimate
    assert 1.7 < rule / people < 2.1 and abs(corrected / people - 1) < 0.05
    assert page.corrected.n < page.corrected.n_effective < 1.3 * page.corrected.n
