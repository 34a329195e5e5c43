"""tl.gate: its verdicts, what makes them, what is refused, and how it is said."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.comparing.gating import GateRow
from toplist.comparing.inference import adjust
from toplist.stats.planning import not_worse

N = 600
TRUTH = {f"u{i}": {i % 7} for i in range(N)}


def lists(lost=0, first=0, seed=0):
    """Return lists in which some users miss what they hit otherwise."""
    rng = np.random.default_rng(seed)
    found = {user: [int(i) for i in rng.permutation(7)] for user in TRUTH}
    missed = {f"u{i}": [7, 8, *found[f"u{i}"][:3]] for i in range(first, first + lost)}
    return found | missed


def result(given=None, truth=TRUTH, metrics=("ndcg@5", "recall@5", "mrr@5"), **options):
    return by_words(lists() if given is None else given, truth, metrics=metrics, **options)


BASE = result()
WORSE = result(lists(200))
SAME = result(lists(5))
NEAR = 1.05 * (BASE["ndcg@5"] - WORSE["ndcg@5"])  # a margin just above the loss


def values(one, name="ndcg@5"):
    return np.asarray(one.per_user(name))


@pytest.mark.parametrize(
    ("new", "margin", "verdict"),
    [(SAME, 0.3, "not worse"), (WORSE, 0.02, "worse"), (WORSE, 0.3, "not worse")],
)
def test_a_metric_is_tested_user_by_user(new, margin, verdict):
    found = tl.gate(new, BASE, {"ndcg@5": margin})
    [row] = found.rows
    expected = not_worse(values(new), values(BASE), margin)
    assert (found.verdict, row.verdict, row.n) == (verdict, expected.verdict, N)
    assert row.difference == pytest.approx(new["ndcg@5"] - BASE["ndcg@5"])
    assert (row.mean, row.base_mean) == pytest.approx((new["ndcg@5"], BASE["ndcg@5"]))
    assert (row.low, row.high) == pytest.approx((expected.test.low, expected.test.high))
    assert row.differ == expected.differ == np.count_nonzero(values(new) - values(BASE))
    assert found.passed == bool(found) == (verdict == "not worse")


LATE = replace(tl.METRICS["mrr"], name="late", higher_is_better=False)


@pytest.mark.parametrize("lost", [(60, 0), (0, 60)])
def test_where_lower_is_better_all_is_turned_round(lost):
    new, base = (result(lists(n), k=5, metrics=["mrr", LATE]) for n in lost)
    ages = {user: i < 60 for i, user in enumerate(TRUTH)}
    turned = tl.gate(new, base, {"late@5": 0.02}, by=ages)
    usual = tl.gate(base, new, {"mrr@5": 0.02}, by=ages)
    assert turned.verdict == usual.verdict == ("worse" if lost[1] else "not worse")
    for mine, theirs in zip(turned.rows, usual.rows, strict=True):
        assert (mine.verdict, mine.p_worse) == (theirs.verdict, theirs.p_worse)
        ends = (-theirs.difference, -theirs.high)
        assert (mine.difference, mine.low) == pytest.approx(ends, nan_ok=True)
    assert "worse than +0.02" in str(turned)
    assert f"late@5 {turned.rows[0].difference:+.4f}" in str(turned)


FEW = {user: {"a": 3, "b": 1} for user in range(40)}
FOUND = {user: ["a", "b", "c"] for user in FEW}
GROUPED = tl.Groups({user: [["a"], ["b"]] for user in FEW})


# New lists, the truth, and whether these pass unseen
UNSEEN = [
    (FOUND, FEW, True),  # evaluated anew, as a run of CI does
    ({user: ["a", "b", "d"] for user in FEW}, FEW, True),  # other misses
    (FOUND | {0: ["b", "a", "c"], 1: ["b", "a", "c"]}, FEW, False),  # grades at other ranks
    (FOUND | {0: ["a", "b"]}, FEW, False),  # may differ below
    ({user: ["b", "a", "c"] for user in FEW}, GROUPED, False),  # of other groups
]


@pytest.mark.parametrize(("new", "truth", "passes"), UNSEEN)
def test_only_the_same_hits_at_the_same_ranks_pass_unseen(new, truth, passes):
    """Of 40 users, none of whom differs, a loss of 0.005 cannot be told from chance."""
    both = [tl.top_k_eval(one, truth, 3, metrics=["ndcg", "recall"]) for one in (new, FOUND)]
    found = tl.gate(*both, {"ndcg@3": 0.005, "recall@3": 0.005})
    text = " ".join(found.notes)
    assert ("the same hits at the same ranks for every user: metrics of these" in text) == passes
    assert ("p allows for users who lose or gain all" in text) != passes  # nothing is tested
    assert found.passed == passes


def test_the_verdict_of_the_whole_is_the_worst():
    margins = {"ndcg@5": 0.3, "recall@5": 0.3}
    undecided = margins | {"ndcg@5": NEAR}
    for given, verdict in (
        (margins, "not worse"),
        (margins | {"mrr@5": 0.01}, "worse"),
        (undecided, "undecided"),
        (undecided | {"mrr@5": 0.01}, "worse"),
    ):
        found = tl.gate(WORSE, BASE, given)
        assert (found.verdict, bool(found)) == (verdict, verdict == "not worse")
    row = tl.gate(WORSE, BASE, undecided).rows[0]
    expected = not_worse(values(WORSE), values(BASE), NEAR)
    assert row.verdict == "undecided" and row.n_needed == expected.n_needed > N
    assert f"about {row.n_needed:,} users like these would decide" in str(row)
    low, high = WORSE.interval("recall@5")
    for floor, verdict in ((low, "not worse"), ((low + high) / 2, "undecided"), (0.99, "worse")):
        found = tl.gate(WORSE, BASE, {"ndcg@5": 0.3}, floors={"recall@5": floor})
        assert found.verdict == verdict


@pytest.mark.parametrize("how", ["plain", "weights", "clusters"])
def test_a_floor_below_users_who_are_all_alike_allows_for_others(how):
    def gated(n, floor):
        truth = {user: {1} for user in range(n)}
        alike = {
            "weights": dict.fromkeys(truth, 2),
            "clusters": {user: user // 2 for user in truth},
        }
        asked = {how: alike[how]} if how in alike else {}
        result = tl.top_k_eval({user: [1] for user in truth}, truth, 1, **asked)
        [row] = tl.gate(result, result, {}, floors={"mrr@1": floor}).rows
        return row

    n_units = 20 if how == "clusters" else 40
    row = gated(40, 0.95)
    assert row.low == pytest.approx(0.025 ** (1 / n_units)) and row.high == 1
    assert row.verdict == "undecided"
    assert gated(int(row.n_needed), 0.95).verdict == "above"
    assert gated(int(row.n_needed) - 2, 0.95).verdict == "undecided"


def test_a_floor_that_is_not_met_allows_for_others_too():
    def gated(n, floor, **more):
        truth = {user: {1} | more.get("others", set()) for user in range(n)}
        result = tl.top_k_eval({user: [9, 1] for user in truth}, truth, 2, metrics="dcg")
        return tl.gate(result, result, {}, floors={"dcg@2": floor}).rows[0]

    mean, rare = 1 / math.log2(3), 0.025 ** (1 / 20)
    row = gated(20, 0.65)
    assert (row.low, row.high) == pytest.approx((mean * rare, 1 - (1 - mean) * rare))
    assert row.verdict == "undecided"
    assert row.n_needed == math.ceil(math.log(0.025) / math.log((1 - 0.65) / (1 - mean)))
    assert gated(int(row.n_needed), 0.65).verdict == "below"
    assert gated(int(row.n_needed) - 1, 0.65).verdict == "undecided"
    above_one = gated(20, 5, others={2})  # others may have any value
    for one in (above_one, gated(20, above_one.mean, others={2}), gated(20, mean)):
        assert one.verdict == "undecided" and one.n_needed == math.inf
    assert above_one.high == math.inf


def test_a_floor_is_held_against_the_interval_of_the_new_mean():
    low, high = WORSE.interval("recall@5", 0.9)
    for floor, verdict in ((low, "above"), (high, "undecided"), (high + 1e-9, "below")):
        [row] = tl.gate(WORSE, BASE, {}, floors={"recall@5": floor}, level=0.9).rows
        assert (row.verdict, row.low, row.high, row.floor) == (verdict, low, high, floor)
        assert math.isnan(row.difference) and row.margin is None
    assert str(row).startswith(f"recall@5 {row.mean:.4f}") and "below the floor" in str(row)
    [row] = tl.gate(WORSE, BASE, {}, floors={"recall@5": (low + high) / 2}).rows
    assert row.n_needed > N and "undecided at the floor" in str(row)


def ranked(ranks, **options):
    hits = tl.Hits.from_ranks(np.asarray(ranks), n_listed=10)
    return tl.top_k_eval(hits, k=10, metrics=["recall", "hit", "mrr"], **options)


def test_users_who_were_not_drawn_are_said_where_few_lie_far_to_one_side():
    one_missed, all_first = ranked([1] * 99 + [0]), ranked([1] * 100)
    floors = {"recall@10": 0.97, "hit@10": 0.97}
    found = tl.gate(one_missed, all_first, {}, floors=floors)
    assert [one.verdict for one in found.rows] == ["undecided"] * 2 and found.rows[0].n_needed > 100
    assert "as few lie far to one side, users who were not drawn" in str(found.rows[0])
    assert tl.gate(one_missed, all_first, {}, floors={"recall@10": 0.9}).passed
    rng = np.random.default_rng(4)
    gains = np.where(rng.random(100) < 0.03, 1, np.where(rng.random(100) < 0.9, 0, 10))
    [row] = tl.gate(ranked(gains), ranked([10] * 100), {"mrr@10": 0.0603}).rows
    assert row.high < -0.0603 and row.verdict == "undecided" and "gains not drawn" in str(row)
    weights = np.where(np.arange(100) == 3, 60.0, 1.0)
    both = ranked(gains, weights=weights), ranked([10] * 100, weights=weights)
    notes = " ".join(tl.gate(*both, {"mrr@10": 0.05}, floors={"mrr@10": 0.01}).notes)
    assert notes.count("mrr@10: rough, weights so few or unequal leave") == 1
    pooled = tl.CONVENTIONS["standard"].replace(aggregate="pooled")
    sparse = ranked([0] * 97 + [1] * 3, convention=pooled)
    notes = " ".join(tl.gate(sparse, sparse, {}, floors={"recall@10": 0.001}).notes)
    assert "recall@10: rough, few users lie far to one side" in notes
    both = (ranked([rank] * 200, weights=weights.repeat(2)) for rank in (1, 2))
    notes = " ".join(tl.gate(*both, {"mrr@10": 0.05}).notes)
    assert "were not drawn, of those drawn by weight" in notes


def test_a_segment_is_worse_by_holm_over_segments_and_metrics():
    segments = {user: "hurt" if i < 60 else f"s{i % 8}" for i, user in enumerate(TRUTH)}
    new = result(lists(60))
    found = tl.gate(new, BASE, {"ndcg@5": 0.1, "mrr@5": 0.1}, by=segments)
    parts = [one for one in found.rows if one.segment is not None]
    assert found.verdict == "worse" and len(parts) == 18
    assert {one.verdict for one in found.rows if one.segment is None} == {"not worse"}
    expected = adjust([one.p_worse for one in parts], "holm")
    assert [one.p_adjusted for one in parts] == pytest.approx(expected)
    assert {(one.segment, one.name) for one in parts if one.verdict == "worse"} == {
        *(("hurt", "ndcg@5"), ("hurt", "mrr@5"))
    }
    rows = [i for i, user in enumerate(TRUTH) if segments[user] == "hurt"]
    one = next(one for one in parts if one.segment == "hurt" and one.name == "mrr@5")
    alone = not_worse(values(new, "mrr@5")[rows], values(BASE, "mrr@5")[rows], 0.1)
    assert one.p_worse == pytest.approx(alone.p_worse) and one.n == 60


def test_users_are_matched_by_key_and_labels_clusters_and_weights_with_them():
    users = [f"u{i}" for i in np.random.default_rng(1).permutation(N)]
    given = lists(200)
    shuffled = result({u: given[u] for u in users}, {u: TRUTH[u] for u in users})
    how = {"by": {u: i % 3 for i, u in enumerate(TRUTH)}}
    how["clusters"] = {u: i % 50 for i, u in enumerate(TRUTH)}
    asked = {"margins": {"ndcg@5": 0.1}, "floors": {"recall@5": 0.5}}
    one, other = (tl.gate(new, BASE, **asked, **how) for new in (WORSE, shuffled))
    assert repr(one.rows) == repr(other.rows)
    plain = tl.gate(WORSE, BASE, **asked)
    assert one.rows[0].p_worse != plain.rows[0].p_worse
    assert (one.rows[1].low, one.rows[1].high) != (plain.rows[1].low, plain.rows[1].high)
    assert "by clusters" in one.to_text() and "by clusters" not in plain.to_text()
    weights = {user: 1 + i % 5 for i, user in enumerate(TRUTH)}  # are those of the results
    new, base = (result(lists(n), weights=weights) for n in (200, 0))
    found = tl.gate(new, base, {"ndcg@5": 0.1})
    assert found.rows[0].difference == pytest.approx(new["ndcg@5"] - base["ndcg@5"])
    assert ", weighted; " in found.to_text()


def test_few_who_differ_are_said():
    found = tl.gate(SAME, BASE, {"ndcg@5": 0.05})
    row = found.rows[0]
    assert row.bound and f"as only {row.differ} differ" in str(row)
    assert (
        "fewer than 30 users differ, or few lie far to one side, p allows for users"
        in found.to_text()
    )
    found = tl.gate(SAME, BASE, {"ndcg@5": 0.05}, clusters={f"u{i}": i // 2 for i in range(N)})
    assert "as only 3 clusters differ" in str(found) and "than 30 clusters" in found.to_text()
    one = tl.gate(WORSE, BASE, {"ndcg@5": 0.3}, clusters=dict.fromkeys(TRUTH, 0))
    assert "as only 1 cluster differs)" in str(one) and "would decide" not in str(one)
    assert "(no user differs)" in str(tl.gate(BASE, BASE, {"ndcg@5": 0.05}))


OF_ALL = result(
    metrics=["ndcg@5", "novelty@5", "item_coverage@5"],
    counts=dict.fromkeys(range(9), 3),
    catalogue=range(9),
)
LOWER = result({user: [7, i % 7] if i < 120 else [7] for i, user in enumerate(TRUTH)}, metrics=LATE)
# By the words of the error: new, and what is asked of it beside base.
REFUSED = {
    "these systems cannot be tested: DIFFERENT CONVENTIONS": result(convention="neurec"),
    "new and base have other ground truths": result(truth=TRUTH | {"u3": {1}}),
    "new: 'ndcg@5'.*has ndcg, without k or with @1 to @3": result(metrics="ndcg@3"),
    "so new cannot be gated; .*keep='users'.*without_users": BASE.without_users(),
    "users of base have keys, those of new are known by position": tl.top_k_eval(
        [*lists().values()], [*TRUTH.values()], metrics="ndcg@5"
    ),
    "new, base count other users: 200 are in some of them": WORSE.by(
        {user: i < 400 for i, user in enumerate(TRUTH)}
    )[True],
    "text in one result and numbers in another.*'u0'": result(
        {i: [1] for i in range(9)}, {i: {1} for i in range(9)}
    ),
}
ASKED = {
    "the margin of ndcg@5 must be a number above 0, not 0": {"margins": {"ndcg@5": 0}},
    "nothing to test: give margins": {"margins": {}},
    "'ndcg' is a whole curve: give name@k": {"margins": {"ndcg": 0.1}},
    "'ndcg@5' is there twice": {"margins": {"nDCG@5": 0.1, "ndcg@5": 0.1}},
    "the floor of ndcg@5 must be a number, not nan": {"floors": {"ndcg@5": math.nan}},
    "'ndcg' is a whole curve: a floor is of name@k": {"floors": {"ndcg": 0.1}},
    "new: 'map@5'": {"floors": {"map@5": 0.1}},
    "level must be a number between 0 and 1": {"level": 95},
    "labels have none of the users": {"by": {"nobody": 1}},
    "margins is 0.1: give a dict, {'ndcg@10': 0.005}": {"margins": 0.1},
    "floors is 'recall@5'": {"floors": "recall@5"},
    "base is dict: give what top_k_eval returned": {"base": {"ndcg@5": 0.1}},
    "neither more nor less of it is better": {"new": OF_ALL, "margins": {"novelty@5": 0.1}},
    "has no test: one number of all": {"new": OF_ALL, "margins": {"item_coverage@5": 0.1}},
    "item_coverage@5 has no interval": {"new": OF_ALL, "floors": {"item_coverage@5": 0.1}},
    "is not below 0.4": {"margins": {"ndcg@5": BASE["ndcg@5"]}},
    "is not below 0.9, all that base can lose": {"new": LOWER, "margins": {"late@2": 0.95}},
    "the floor of ndcg@5, 0, is not from 0 to 1": {"floors": {"ndcg@5": 0}},
    "the floor of ndcg@5, 1.5, is not from 0 to 1": {"floors": {"ndcg@5": 1.5}},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_compared_is_an_error(said):
    for ask in (
        lambda: tl.gate(REFUSED[said], BASE, {"ndcg@5": 0.1}),
        lambda: tl.testing.assert_not_worse(REFUSED[said], BASE, "ndcg@5", margin=0.1),
    ):
        with pytest.raises(ValueError, match=said):
            ask()


@pytest.mark.parametrize("said", ASKED)
def test_what_is_asked_wrongly_is_one_line(said):
    given = dict(ASKED[said])
    new = given.pop("new", BASE)
    asked = {"base": new, "margins": {} if "floors" in given else {"ndcg@5": 0.1}} | given
    with pytest.raises((ValueError, TypeError)) as caught:
        tl.gate(new, **asked)
    assert said in str(caught.value) and "\n" not in str(caught.value)


# How it is said


def test_it_is_said_as_a_person_would_say_it():
    row = GateRow("ndcg@10", "not worse", 0.3, 0.3021, -0.0021, -0.0049, 0.0007, 900, 400, 0.005)
    row = replace(row, p_not_worse=0.021, p_worse=0.979)
    sentence = "ndcg@10 -0.0021 [-0.0049, +0.0007]: not worse than -0.005 (p = 0.021, one-sided)"
    assert str(row) == sentence
    worse = replace(row, verdict="worse", p_worse=0.0249, p_not_worse=0.9751)
    assert str(worse).endswith("worse than -0.005 (p = 0.0249, one-sided)")
    near = replace(row, verdict="undecided", low=-0.005004, n_needed=math.inf)
    assert "[-0.005004, +0.000700]: undecided at -0.005 (" in str(near)
    assert str(near).endswith("; no number of users would decide at this difference")
    part = replace(worse, segment="UK", p_adjusted=0.004)
    assert str(part).startswith("ndcg@10 of UK -0.0021") and "p = 0.004 after Holm" in str(part)


def test_tables_dicts_and_frames():
    by = {user: i < 200 for i, user in enumerate(TRUTH)}
    found = tl.gate(WORSE, BASE, {"ndcg@5": 0.2}, floors={"recall@5": 0.99}, by=by)
    text = found.to_markdown()
    head = "| metric | base | new | difference | 95 % interval | verdict |"
    assert text.startswith(f"**Gate: worse**\n\n{head}\n")
    assert "| **below the floor 0.99** |" in text and "| ndcg@5 | users | base | new |" in text
    assert "**bold**: fails the gate" in text and "| not worse than -0.2 |" in text
    assert found.to_text().splitlines()[0] == str(found.rows[0])
    whole = found.to_dict()
    assert (whole["verdict"], whole["passed"], whole["level"]) == ("worse", False, 0.95)
    assert whole["rows"][0]["p"] == found.rows[0].p_not_worse and json.dumps(whole)
    pytest.importorskip("pandas")
    assert found.to_pandas()["verdict"].tolist() == [one.verdict for one in found.rows]
