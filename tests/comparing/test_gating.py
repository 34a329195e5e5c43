"""tl.gate: its verdicts, what makes them, what is refused, and how it is said."""

import math

import numpy as np
import pytest
from doors import by_words

import toplist as tl
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


FEW = {user: {"a": 3, "b": 1} for user in range(40)}
FOUND = {user: ["a", "b", "c"] for user in FEW}
GROUPED = tl.Groups({user: [["a"], ["b"]] for user in FEW})


@pytest.mark.parametrize(
    ("new", "truth", "passes"),
    [
        (FOUND, FEW, True),  # evaluated anew, as a run of CI does
        ({user: ["a", "b", "d"] for user in FEW}, FEW, True),  # other misses
        (FOUND | {0: ["b", "a", "c"], 1: ["b", "a", "c"]}, FEW, False),  # grades at other ranks
        (FOUND | {0: ["a", "c", "b"]}, FEW, False),
        (FOUND | {0: ["a", "b"]}, FEW, False),  # may differ below
        ({user: ["b", "a", "c"] for user in FEW}, GROUPED, False),  # of other groups
    ],
)
def test_only_the_same_hits_at_the_same_ranks_pass_unseen(new, truth, passes):
    """Of 40 users, none of whom differs, a loss of 0.005 cannot be told from chance."""
    both = [tl.top_k_eval(one, truth, 3, metrics=["ndcg", "recall"]) for one in (new, FOUND)]
    found = tl.gate(*both, {"ndcg@3": 0.005, "recall@3": 0.005})
    assert ("new and base have the same hits at the same ranks" in found.notes) == passes
    assert found.passed == passes


def test_undecided_says_how_many_users_would_decide():
    row = tl.gate(WORSE, BASE, {"ndcg@5": NEAR}).rows[0]
    expected = not_worse(values(WORSE), values(BASE), NEAR)
    assert row.verdict == "undecided" and row.n_needed == expected.n_needed > N
    assert f"about {row.n_needed:,} users like these would decide" in str(row)
    assert not tl.gate(WORSE, BASE, {"ndcg@5": NEAR})


def test_the_verdict_of_the_whole():
    margins = {"ndcg@5": 0.3, "recall@5": 0.3}
    assert tl.gate(WORSE, BASE, margins).verdict == "not worse"
    assert tl.gate(WORSE, BASE, margins | {"mrr@5": 0.01}).verdict == "worse"
    undecided = margins | {"ndcg@5": NEAR}
    assert tl.gate(WORSE, BASE, undecided).verdict == "undecided"
    assert tl.gate(WORSE, BASE, undecided | {"mrr@5": 0.01}).verdict == "worse"
    low, high = WORSE.interval("recall@5")
    for floor, verdict in ((low, "not worse"), ((low + high) / 2, "undecided"), (0.99, "worse")):
        found = tl.gate(WORSE, BASE, {"ndcg@5": 0.3}, floors={"recall@5": floor})
        assert found.verdict == verdict


def test_a_floor_is_held_against_the_interval_of_the_new_mean():
    low, high = WORSE.interval("recall@5", 0.9)
    for floor, verdict in ((low, "above"), (high, "undecided"), (high + 1e-9, "below")):
        [row] = tl.gate(WORSE, BASE, {}, floors={"recall@5": floor}, level=0.9).rows
        assert (row.verdict, row.low, row.high, row.floor) == (verdict, low, high, floor)
        assert math.isnan(row.difference) and row.margin is None
    assert str(row).startswith(f"recall@5 {row.mean:.4f}") and "below the floor" in str(row)
    [row] = tl.gate(WORSE, BASE, {}, floors={"recall@5": (low + high) / 2}).rows
    assert row.n_needed > N and "undecided at the floor" in str(row)


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


def test_undecided_segments_fail_nothing_and_are_counted():
    margins = {"ndcg@5": 0.05}
    some = {user: i % 100 if i < 500 else None for i, user in enumerate(TRUTH)}
    new = result(lists(30, seed=0))
    found = tl.gate(new, BASE, margins, by=some)
    assert found.verdict == "not worse" and found.rows[-1].segment == "(no label)"
    undecided = sum(one.verdict == "undecided" for one in found.rows)
    assert undecided > 10 and f"0 worse by p < 0.025 after Holm over all of them, {undecided} " in (
        found.to_text()
    )
    alone = [not_worse(values(new)[i:500:100], values(BASE)[i:500:100], 0.05) for i in range(100)]
    assert any(one.p_worse < 0.025 for one in alone) == any(
        one.p_worse < 0.025 for one in found.rows[1:]
    )


def test_users_are_matched_by_key_and_labels_and_clusters_with_them():
    rng = np.random.default_rng(1)
    users = [f"u{i}" for i in rng.permutation(N)]
    given = lists(200)
    shuffled = result({u: given[u] for u in users}, {u: TRUTH[u] for u in users})
    how = {"by": {u: i % 3 for i, u in enumerate(TRUTH)}}
    how["clusters"] = {u: i % 50 for i, u in enumerate(TRUTH)}
    one = tl.gate(WORSE, BASE, {"ndcg@5": 0.1}, floors={"recall@5": 0.5}, **how)
    other = tl.gate(shuffled, BASE, {"ndcg@5": 0.1}, floors={"recall@5": 0.5}, **how)
    assert repr(one.rows) == repr(other.rows)
    plain = tl.gate(WORSE, BASE, {"ndcg@5": 0.1}, floors={"recall@5": 0.5})
    assert one.rows[0].p_worse != plain.rows[0].p_worse
    assert (one.rows[1].low, one.rows[1].high) != (plain.rows[1].low, plain.rows[1].high)
    assert "by clusters" in one.to_text() and "by clusters" not in plain.to_text()


def test_labels_by_position():
    both = [
        tl.top_k_eval([*lists(n).values()], [*TRUTH.values()], metrics="ndcg@5") for n in (90, 0)
    ]
    labels = ["hurt" if i < 90 else "rest" for i in range(N)]
    found = tl.gate(*both, {"ndcg@5": 0.1}, by=labels)
    assert [(one.segment, one.verdict) for one in found.rows] == [
        *((None, "undecided" if found.rows[0].verdict == "undecided" else "not worse"),),
        *(("hurt", "worse"), ("rest", "not worse")),
    ]


def test_weights_are_those_of_the_results():
    weights = {user: 1 + i % 5 for i, user in enumerate(TRUTH)}
    new, base = (result(lists(n), weights=weights) for n in (200, 0))
    found = tl.gate(new, base, {"ndcg@5": 0.1})
    assert found.rows[0].difference == pytest.approx(new["ndcg@5"] - base["ndcg@5"])
    assert ", weighted; " in found.to_text()


def test_where_lower_is_better_all_is_turned_round():
    rank = tl.Metric(
        "miss", "each", lambda rank: rank / rank, lambda k, R, n: R, higher_is_better=False
    )
    new, base = (result(lists(n), metrics=[rank, "recall"], k=5) for n in (0, 200))
    row, other = tl.gate(new, base, {"miss@5": 0.05, "recall@5": 0.05}).rows
    assert (row.verdict, other.verdict) == ("worse", "not worse")
    assert row.difference == pytest.approx(other.difference)
    assert (row.low, row.high) == pytest.approx((other.low, other.high))
    assert "worse than +0.05" in str(row) and not row.higher_is_better
    assert tl.gate(base, new, {"miss@5": 0.05}).verdict == "not worse"
    assert "-0.0000" not in str(tl.gate(new, new, {"miss@5": 0.05}))
    with pytest.raises(ValueError, match=r"'miss@5': lower is better, and a floor"):
        tl.gate(new, base, {}, floors={"miss@5": 0.1})


def test_few_who_differ_are_said_and_the_seed():
    found = tl.gate(SAME, BASE, {"ndcg@5": 0.05}, seed=7)
    row = found.rows[0]
    assert row.bound and f"as only {row.differ} differ" in str(row)
    assert "p allows for users who lose all and were not drawn" in found.to_text()
    assert "(no user differs)" in str(tl.gate(BASE, BASE, {"ndcg@5": 0.05}))
    shifted = result({user: [8, *row] for user, row in lists().items()}, metrics="recall@8")
    assert tl.gate(shifted, result(metrics="recall@8"), {"recall@8": 0.1}).passed


def test_users_in_common():
    fewer = WORSE.by({user: i < 400 for i, user in enumerate(TRUTH)})[True]
    with pytest.raises(ValueError, match="new, base count other users: 200 are in some of them"):
        tl.gate(fewer, BASE, {"ndcg@5": 0.1})
    found = tl.gate(fewer, BASE, {"ndcg@5": 0.1}, users="common")
    assert found.rows[0].n == 400 and any("DIFFERENT USERS" in one for one in found.warnings)


OTHER_TRUTH = TRUTH | {"u3": {1}}
REFUSED = [
    (result(convention="neurec"), "these systems cannot be tested: DIFFERENT CONVENTIONS"),
    (result(truth=OTHER_TRUTH), "new and base have other ground truths"),
    (result(metrics="ndcg@3"), r"new: 'ndcg@5'.*has ndcg, without k or with @1 to @3"),
    (result(metrics="mrr@5"), r"new: 'ndcg@5'.*has mrr"),
    (BASE.without_users(), r"new is without users.*without_users"),
    (
        tl.top_k_eval([*lists().values()], [*TRUTH.values()], metrics="ndcg@5"),
        "the users of base have keys, those of new are known by position",
    ),
]


@pytest.mark.parametrize(("new", "said"), REFUSED, ids=[said[:24] for _, said in REFUSED])
def test_what_cannot_be_compared_is_an_error(new, said):
    with pytest.raises(ValueError, match=said):
        tl.gate(new, BASE, {"ndcg@5": 0.1})
    with pytest.raises(ValueError, match=said):
        tl.testing.assert_not_worse(new, BASE, "ndcg@5", margin=0.1)


def test_more_metrics_and_k_in_one_of_them_do_not_matter():
    alone = result(lists(200), metrics="ndcg@5")
    found = tl.gate(alone, BASE, {"ndcg@5": 0.1})
    assert found.rows == tl.gate(WORSE, BASE, {"ndcg@5": 0.1}).rows and not found.warnings


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ({"ndcg@5": 0}, {}, "the margin of ndcg@5 must be a number above 0, not 0"),
        ({"ndcg@5": -0.1}, {}, "the margin of ndcg@5 must be a number above 0"),
        ({}, {}, "nothing to test: give margins"),
        ({"ndcg": 0.1}, {}, "'ndcg' is a whole curve"),
        ({"nDCG@5": 0.1, "ndcg@5": 0.1}, {}, "'ndcg@5' is there twice"),
        ({}, {"floors": {"ndcg@5": math.nan}}, "the floor of ndcg@5 must be a number, not nan"),
        ({}, {"floors": {"ndcg": 0.1}}, "'ndcg' is a whole curve: a floor is of name@k"),
        ({}, {"floors": {"map@5": 0.1}}, r"new: 'map@5'"),
        ({"ndcg@5": 0.1}, {"level": 95}, "level must be a number between 0 and 1"),
        ({"ndcg@5": 0.1}, {"users": "all"}, "users='all'"),
        ({"ndcg@5": 0.1}, {"seed": -1}, "seed must be a whole number"),
        ({"ndcg@5": 0.1}, {"by": {"nobody": 1}}, "labels have none of the users"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(given, options, said):
    with pytest.raises(ValueError, match=said):
        tl.gate(BASE, BASE, given, **options)


def test_arguments_of_other_types():
    with pytest.raises(TypeError, match="base is dict: give what top_k_eval returned"):
        tl.gate(BASE, {"ndcg@5": 0.1}, {"ndcg@5": 0.1})
    with pytest.raises(TypeError, match=r"margins is 0.1: give a dict, {'ndcg@10': 0.005}"):
        tl.gate(BASE, BASE, 0.1)
    with pytest.raises(TypeError, match="floors is 'recall@5'"):
        tl.gate(BASE, BASE, {"ndcg@5": 0.1}, floors="recall@5")
    with pytest.raises(ValueError, match="names= chooses"):
        tl.gate(BASE, BASE, {"ndcg@5": 0.1}).to_text(names="ndcg@5")


def test_metrics_without_a_direction_or_users_are_refused():
    more = {"counts": dict.fromkeys(range(9), 3), "catalogue": range(9)}
    one = result(metrics=["ndcg@5", "novelty@5", "item_coverage@5"], **more)
    with pytest.raises(ValueError, match="neither more nor less of it is better"):
        tl.gate(one, one, {"novelty@5": 0.1})
    with pytest.raises(ValueError, match="has no test: one number of all lists"):
        tl.gate(one, one, {"item_coverage@5": 0.1})
    assert tl.gate(one, one, {}, floors={"novelty@5": 0.1}).passed
    with pytest.raises(ValueError, match="item_coverage@5 has no interval"):
        tl.gate(one, one, {}, floors={"item_coverage@5": 0.1})


def test_margins_and_floors_that_nothing_can_miss_are_refused():
    mean = BASE["ndcg@5"]
    for margin in (mean, 5.0):
        with pytest.raises(ValueError, match="is not below the mean of base"):
            tl.gate(WORSE, BASE, {"ndcg@5": margin})
    assert tl.gate(WORSE, BASE, {"ndcg@5": mean - 1e-9}).passed
    for floor in (0, 1.5, -1):
        with pytest.raises(ValueError, match="is not from 0 to 1"):
            tl.gate(WORSE, BASE, {}, floors={"ndcg@5": floor})


def test_users_without_a_label_are_told():
    some = dict.fromkeys(list(BASE.users)[: N - 7], "x")
    found = tl.gate(WORSE, BASE, {"ndcg@5": 0.3}, by=some)
    assert "7 users without a label: a segment of their own, (no label)" in str(found)
    whole = tl.gate(WORSE, BASE, {"ndcg@5": 0.3}, by=dict.fromkeys(BASE.users, "x"))
    assert "without a label" not in str(whole)


def test_users_of_two_kinds_are_told():
    truths = {"7": 1, "8": 1}, {7: 1, 8: 1}
    new, base = (tl.top_k_eval({u: [1] for u in t}, t, metrics="mrr@1") for t in truths)
    with pytest.raises(ValueError, match="text in one result and numbers in another.*'7'"):
        tl.gate(new, base, {"mrr@1": 0.1})


def test_a_segment_with_a_p_above_its_side_is_undecided():
    by = {user: "some" if i < 60 else "rest" for i, user in enumerate(TRUTH)}
    found = tl.gate(result(lists(12)), BASE, {"ndcg@5": 0.02}, by=by)
    [part] = (one for one in found.rows if one.segment == "some")
    assert 0.025 < part.p_adjusted < 0.45 and part.verdict == "undecided"


def test_queries_are_called_so():
    new, base = (result(lists(n), unit="queries") for n in (5, 0))
    found = tl.gate(new, base, {"ndcg@5": 0.0005}, by=dict.fromkeys(list(base.users)[:-9], "x"))
    assert "queries like these would decide" in str(found.rows[0])
    assert "9 queries without a label" in str(found) and "| ndcg@5 | queries |" in (
        found.to_markdown()
    )
    assert "user" not in str(found).replace("--users", "")
