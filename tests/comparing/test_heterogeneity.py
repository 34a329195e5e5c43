"""Whether segments differ: of values, of moments, of the segments of a comparison."""

import math

import numpy as np
import pytest
from systems import SHARES, TRUTH, segment, system

import toplist as tl
from toplist.comparing.inference import heterogeneity, heterogeneity_of_moments
from toplist.stats.estimates import difference, welch
from toplist.stats.units import Units


def thirds(user):
    return f"s{int(user.split()[1]) % 3}"


def in_segments(shares, label=thirds, baseline="a"):
    results = {name: system(*of) for name, of in shares.items()}
    return tl.compare(results, baseline=baseline).by({user: label(user) for user in TRUTH})


def test_values_and_their_moments_say_the_same():
    rng = np.random.default_rng(0)
    segments = {label: rng.normal(0.1 * label, 1, 30 + label) for label in range(4)}
    found = heterogeneity(segments)
    moments = {label: (len(d), d.mean(), d.std(ddof=1)) for label, d in segments.items()}
    assert found[:6] == pytest.approx(heterogeneity_of_moments(moments)[:6])
    assert found.df1 == 3 and found.p_adjusted == found.p and found.left_out == ()


def test_segments_without_spread_are_left_out_and_named():
    d = {"a": [0.3, 0.1, 0.4, 0.2], "b": [0.0, 0.1, -0.1]}
    more = d | {"nobody": [], "one": [0.5], "alike": [0.1] * 9}
    found = heterogeneity(more)
    assert found.left_out == ("nobody", "one", "alike")
    assert found[:6] == heterogeneity(d)[:6]
    alone = heterogeneity({"a": d["a"], "one": [0.5]})
    assert math.isnan(alone.p) and math.isnan(alone.f) and alone.left_out == ("one",)


def test_what_is_refused():
    with pytest.raises(TypeError, match="give a dict of segment -> differences, not list"):
        heterogeneity([[0.1], [0.2]])
    with pytest.raises(ValueError, match="segment 'b': the value of user 1 is nan"):
        heterogeneity({"a": [0.1, 0.2], "b": [0.1, math.nan]})
    with pytest.raises(ValueError, match=r"segment 'b': values of shape \(1, 2\)"):
        heterogeneity({"a": [0.1, 0.2], "b": [[0.1, 0.3]]})
    for bad in ((5, math.nan, 0.1), (5, 0.1, -1), (5, 0.1, math.nan), (5, 0.1, math.inf)):
        with pytest.raises(ValueError, match="segment 'b' has mean .*: give finite numbers"):
            heterogeneity_of_moments({"a": (5, 0.1, 0.2), "b": bad})


def test_segments_of_a_comparison_are_those_of_its_values():
    by = in_segments({name: SHARES[name] for name in "ab"})
    found = by.heterogeneity("ndcg@10")["b", "a", "ndcg@10"]
    differences = {}
    for label, part in by.items():
        a, b = (part.results[name].per_user("ndcg@10", keyed=True) for name in "ab")
        differences[label] = [b[user] - a[user] for user in a]
    assert found[:6] == pytest.approx(heterogeneity(differences)[:6])
    line = f"the difference is not shown to differ between segments (Welch F(2, {found.df2:,.1f})"
    assert f"{line} = {found.f:.2f}, p = {found.p:.3f})" in str(by.test("ndcg@10"))
    assert by.test("ndcg@10", method="sign")[0].p != by.test("ndcg@10")[0].p
    assert line in str(by.test("ndcg@10", method="sign"))


def unequal():
    """Return a system that is better for the old users alone."""
    old = [user for user in TRUTH if segment(user) == "old"]
    new = [user for user in TRUTH if segment(user) == "new"]
    parts = (0.22, 5, new), (0.9, 3, old)
    return tl.merge(system(q, s, users=users) for q, s, users in parts)


def test_a_difference_that_differs_between_segments_is_said_to():
    results = {"a": system(0.2, 1), "b": unequal()}
    by = tl.compare(results, baseline="a").by({user: segment(user) for user in TRUTH})
    assert by.heterogeneity("ndcg@10")["b", "a", "ndcg@10"].p < 0.001
    words = "the difference differs between segments (Welch F(1, "
    assert f"\n{words}" in str(by.test("ndcg@10"))
    assert f"b - a ndcg@5: {words}" in str(by) and f"b - a ndcg@10: {words}" in str(by)


def test_p_is_corrected_for_the_tests_of_all_names_and_pairs():
    by = in_segments(SHARES, baseline=None)
    found = by.heterogeneity()
    assert len(found) == 6 and ("c", "b", "ndcg@5") in found
    p, adjusted = zip(*((one.p, one.p_adjusted) for one in found.values()), strict=True)
    assert adjusted == tuple(tl.inference.adjust(p, "holm"))
    alone = by.heterogeneity(correction="none")
    assert all(one.p_adjusted == one.p for one in alone.values())
    assert " after Holm over 3)" in str(by.test(["ndcg@10"]))
    assert " after Holm over 3)" not in str(by.test(["ndcg@10"], correction="none"))


def test_of_many_one_line_says_what_there_is():
    by = in_segments(SHARES, baseline=None)
    lines = [line for line in str(by.test()).splitlines() if "Welch" in line]
    assert len(lines) == 1
    start = "shown to differ between segments: "
    assert lines[0].startswith(f"{start}none of 6 differences; least p: b - a ndcg@")
    assert lines[0].count("Welch F(2, ") == 1
    results = {name: system(*of) for name, of in SHARES.items()} | {"d": unequal()}
    labels = {user: segment(user) for user in TRUTH}
    words = str(tl.compare(results).by(labels).test())
    lines = [line for line in words.splitlines() if "Welch" in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"{start}6 of 12 differences; least p: d - ")
    assert lines[0].count("Welch F(1, ") == 4 and lines[0].endswith(" and 2 more")


def test_segments_of_one_user_are_named_and_of_few_called_rough():
    def label(user):
        number = list(TRUTH).index(user)
        return "one" if number < 1 else "few" if number < 30 else "many"

    words = str(in_segments({name: SHARES[name] for name in "ab"}, label).test("ndcg@10"))
    assert "Welch F(1, " in words
    assert "; without one: fewer than two users, or all alike; rough, as" in words
    assert "rough, as fewer than 30 users differ in few)" in words
    alone = in_segments({name: SHARES[name] for name in "ab"}, lambda user: user)
    assert alone.heterogeneity() == {} and "Welch" not in str(alone.test())


def test_no_difference_in_a_segment_is_no_word_about_all_users():
    """No segment of 40 shows the difference that 120 users show."""
    by = in_segments({name: SHARES[name] for name in "ab"})
    assert by.whole.test("ndcg@10")[0].p < 0.05
    assert not any(one.mark for one in by.test())
    words = str(by)
    assert "no difference" not in words and "no segment alone shows a difference from a: " in words
    assert "by itself it shows a difference: b - a ndcg@5, b - a ndcg@10\n" in words
    same = in_segments({"a": SHARES["a"], "b": (0.2, 9)})
    assert not any(one.mark for one in same.whole.test())
    assert "the line of all users is not among these tests\n" in str(same)


def test_runs_share_their_models_over_all_segments(runs):
    by = tl.compare(runs).by({user: segment(user) for user in TRUTH})
    assert "whether segments differ is not tested of several runs" in str(by.test("ndcg@10"))
    with pytest.raises(ValueError, match="not tested of several runs, nor of clusters"):
        by.heterogeneity("ndcg@10")


def test_weights_of_the_users_are_in_it():
    rng = np.random.default_rng(0)
    lists = {user: rng.permutation(5).tolist()[:3] for user in map(str, range(200))}
    truth = {user: {int(user) % 5} for user in lists}
    other = {user: some[::-1] for user, some in lists.items()}
    weights = {user: float(rng.lognormal()) for user in lists}
    results = {
        name: tl.top_k_eval(some, truth, k=3, metrics="ndcg", weights=weights)
        for name, some in {"a": lists, "b": other}.items()
    }
    labels = {user: "even" if int(user) % 2 == 0 else "odd" for user in lists}
    found = tl.compare(results).by(labels).heterogeneity("ndcg@3")["b", "a", "ndcg@3"]
    a, b = (results[name].per_user("ndcg@3", keyed=True) for name in "ab")
    tests = []
    for label in ("even", "odd"):
        users = [user for user in lists if labels[user] == label]
        sides = ([side[user] for user in users] for side in (b, a))
        tests.append(difference(*sides, Units.of(len(users), [weights[user] for user in users])))
    expected = welch(*np.array([(one.difference, one.error, one.df) for one in tests]).T)
    assert (found.f, found.df2, found.p) == pytest.approx((expected.f, expected.df2, expected.p))


def test_results_without_users_are_tested_by_their_moments():
    """A segment evaluated by itself has n, difference and std, however it was evaluated."""
    by = in_segments({name: SHARES[name] for name in "ab"})
    tests = {label: part.test("ndcg@10")[0] for label, part in by.items()}
    moments = {label: (one.n, one.difference, one.std) for label, one in tests.items()}
    found = by.heterogeneity("ndcg@10")["b", "a", "ndcg@10"]
    assert heterogeneity_of_moments(moments)[:6] == pytest.approx(found[:6])
