"""Comparisons in every segment: p is corrected for all, and whether segments differ is tested."""

import pytest
from systems import SHARES, TRUTH, compared, segment, system

import toplist as tl
from toplist.comparing.inference import heterogeneity, heterogeneity_of_moments

AGES = {user: segment(user) for user in TRUTH}
NUMBERS = {user: i for i, user in enumerate(TRUTH)}
THIRDS = {user: f"s{int(user.split()[1]) % 3}" for user in TRUTH}
TWO = {name: SHARES[name] for name in "ab"}


def test_each_segment_is_tested_as_its_users_alone(pair):
    found = tl.compare(pair, baseline="a").by(AGES)
    tests = found.test("ndcg@10")
    assert list(found) == ["new", "old"] and tests.n_family == 4
    raw = []
    for label in found:
        users = [user for user in TRUTH if segment(user) == label]
        results = {name: system(*of, users=users) for name, of in SHARES.items()}
        alone = tl.compare(results, baseline="a").test("ndcg@10", correction="none")
        for one in alone:
            mine = tests[label, one.system, "ndcg@10"]
            assert (mine.p, mine.low, mine.n) == (one.p, one.low, len(users))
            raw.append(one.p)
    assert [one.p_adjusted for one in tests] == tl.inference.adjust(raw, "holm").tolist()
    assert "after Holm over 4 comparisons in 2 segments" in str(tests)
    assert "after Holm over 8 comparisons in 2 segments" in str(found)  # ndcg@5 as well
    assert [one.segment for one in tests] == ["new", "new", "old", "old"]


def test_labels_of_any_kind_find_their_segment(pair):
    found = tl.compare(pair).by({user: "new" for user in TRUTH if segment(user) == "new"})
    assert list(found) == ["new", None] and "(no label)" in str(found)
    assert "best of its line; not tested" in str(found)
    # labels that look alike are told apart
    labels = {user: (1, "1", "all")[i % 3] for user, i in NUMBERS.items()}
    alike = tl.compare(pair, baseline="a").by(labels)
    assert {one.segment for one in alike.test("ndcg@10")} == {"1", "'1'", "'all'"}
    assert all(words in str(alike) for words in ("in 3 segments", "'all'", "\nall "))
    some = {user: (True, None, 1.5, 1, "1")[i % 5] for user, i in NUMBERS.items()}
    tests = tl.compare(pair).by(some).test("ndcg@10")
    for label, text in [(None, "(no label)"), (1.5, "1.5")]:
        one = tests[label, "b", "a", "ndcg@10"]
        assert one.segment == text and one is tests[text, "b", "a", "ndcg@10"]
    for key in [(2, "b", "ndcg@10"), ()]:
        with pytest.raises(KeyError, match="no comparison has"):
            tests[key]
    pytest.importorskip("pandas")
    assert found.to_pandas()["segment"].isna().sum() == len(found[None].to_pandas())


@pytest.mark.parametrize("users", ["same", "common"])
def test_a_segment_of_nobody_is_told_and_the_others_are_tested(users):
    truths = {user: {user % 3} for user in range(40)}
    labels = {user: "x" if user < 30 else "y" for user in truths}
    lists = {
        "a": {u: [0, 1, 2] for u in truths if (u if users == "common" else labels[u] == "x")},
        "b": {user: [2, 1, 0] for user in truths if labels[user] == "x"},
    }
    both = compared(lists, truths, 2, "a", metrics="mrr", missing="skip")
    found = both.by(labels).test(users=users)
    assert [(one.segment, one.n) for one in found] == [("x", 29 if users == "common" else 30)]
    assert "not tested, since nobody is counted: y" in str(found)


def of_sizes(n=40, unlisted=0, **asked):
    """Return systems in segment m, of users with two relevant items, and s, of users with one."""
    truths = {f"{label}{i}": {0, 1} if label == "m" else {0} for label in "ms" for i in range(n)}
    lists = {"A": {user: [5, 0, 1] for user in truths}, "B": {}}
    for i, user in enumerate(truths):
        if i < 2 * n - unlisted:
            found = i % (3 if user[0] == "m" else 4)
            lists["B"][user] = [5, 6, 0] if found else [5, 6, 7]
    return compared(lists, truths, 3, "A", **asked), {user: user[0] for user in truths}


def test_metrics_are_tested_as_one_where_they_are_equal_in_all_segments():
    both, labels = of_sizes(metrics=["hit", "recall"])
    by = both.by(labels)
    names, tests = ["hit@3", "recall@3"], by.test()
    assert [(one.segment, one.name) for one in tests] == [(x, one) for x in "ms" for one in names]
    assert tests.n_family == 4
    assert "equal by definition" not in str(tests)
    assert [name for _, _, name in by.heterogeneity()] == names
    # by item each slice has one, or some have two
    slices, some = both.by_item({0: "x", 1: "y"}).test(), both.by_item({0: "x", 1: "x"}).test()
    assert slices.names == ["hit@3"] and "equal by definition, and tested once" in str(slices)
    assert some.names == names
    # lines are of the names that are shown, each with its name
    differs, not_shown = welch_lines(by.to_text(names="recall@3")), welch_lines(by)[:1]
    assert [line.split(":")[0] for line in welch_lines(by)] == [f"B - A {one}" for one in names]
    assert differs == welch_lines(by)[1:] and " differs between" in differs[0]
    assert " is not shown to differ between" in not_shown[0]
    part = by["s"]  # alone it says what is equal there
    assert part.test().names == ["hit@3"] and "hit@3 = recall@3" in str(part)


def test_what_holds_in_some_segments_alone_names_them():
    both, labels = of_sizes(
        unlisted=5, metrics=["hit", "novelty"], counts=dict.fromkeys(range(9), 2)
    )
    for users, words in [("same", "not tested: novelty@3: A, B"), ("common", "novelty@3: tested")]:
        lines = str(both.by(labels).test(users=users)).splitlines()
        assert sum(line.startswith(f"in s: {words}") for line in lines) == 1
        assert not any(line.startswith(words) for line in lines)


def test_clusters_that_are_given_are_those_of_each_segment(pair):
    clusters = {user: i // 4 for user, i in NUMBERS.items()}
    by = tl.compare(pair, baseline="a").by(AGES)
    tests = by.test("ndcg@10", clusters=clusters)
    for label, part in by.items():
        for alone in part.test("ndcg@10", clusters=clusters):
            found = tests[label, alone.system, "ndcg@10"]
            assert (found.error, found.df, found.p) == (alone.error, alone.df, alone.p)
    assert tests.plan.n_clusters and "not tested of several runs, nor of clusters" in str(tests)


def test_one_system_has_segments_and_a_table_for_a_paper_and_nothing_to_test():
    alone = tl.compare({"a": system(0.2, 1)})
    by = alone.by(AGES)
    means = {age: {"a": part.to_dict()} for age, part in alone.results["a"].by(AGES).items()}
    assert by.to_dict() == means
    for shown in (by, alone):
        assert "a" in shown.to_latex() and "*" not in repr(shown)
        with pytest.raises(ValueError, match="two systems are needed, and there is a"):
            shown.test()


# Whether segments differ


def in_segments(shares, labels=THIRDS, baseline="a", **more):
    results = {name: system(*of) for name, of in shares.items()} | more
    return tl.compare(results, baseline=baseline).by(labels)


def unequal():
    """Return a system that is better for the old users alone."""
    old, new = ([user for user in TRUTH if segment(user) == age] for age in ("old", "new"))
    parts = (0.22, 5, new), (0.9, 3, old)
    return tl.merge(system(q, s, users=users) for q, s, users in parts)


def test_segments_of_a_comparison_are_those_of_its_values():
    by = in_segments(TWO)
    found = by.heterogeneity("ndcg@10")["b", "a", "ndcg@10"]
    differences, moments = {}, {}
    for label, part in by.items():
        a, b = (part.results[name].per_user("ndcg@10", keyed=True) for name in "ab")
        differences[label] = [b[user] - a[user] for user in a]
        one = part.test("ndcg@10")[0]
        moments[label] = one.n, one.difference, one.std  # which results without users have, too
    assert found[:6] == pytest.approx(heterogeneity(differences)[:6])
    assert found[:6] == pytest.approx(heterogeneity_of_moments(moments)[:6])
    line = f"the difference is not shown to differ between segments (Welch F(2, {found.df2:,.1f})"
    assert f"{line} = {found.f:.2f}, p = {found.p:.3f})" in str(by.test("ndcg@10"))
    assert by.test("ndcg@10", method="sign")[0].p != by.test("ndcg@10")[0].p
    assert line in str(by.test("ndcg@10", method="sign"))


def test_a_difference_that_differs_between_segments_is_said_to():
    by = tl.compare({"a": system(0.2, 1), "b": unequal()}, baseline="a").by(AGES)
    assert by.heterogeneity("ndcg@10")["b", "a", "ndcg@10"].p < 0.001
    words = "the difference differs between segments (Welch F(1, "
    assert f"\n{words}" in str(by.test("ndcg@10"))
    assert f"b - a ndcg@5: {words}" in str(by) and f"b - a ndcg@10: {words}" in str(by)


def welch_lines(tests):
    return [line for line in str(tests).splitlines() if "Welch" in line]


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
    # of many one line says what there is
    start = "shown to differ between segments: "
    (line,) = welch_lines(by.test())
    assert line.startswith(f"{start}none of 6 differences; least p: b - a ndcg@")
    assert line.count("Welch F(2, ") == 1
    (line,) = welch_lines(in_segments(SHARES, AGES, None, d=unequal()).test())
    assert line.startswith(f"{start}6 of 12 differences; least p: d - ")
    assert line.count("Welch F(1, ") == 4 and line.endswith(" and 2 more")


def test_segments_of_one_user_are_named_and_of_few_called_rough():
    labels = {user: "one" if i < 1 else "few" if i < 30 else "many" for user, i in NUMBERS.items()}
    (line,) = welch_lines(in_segments(TWO, labels).test("ndcg@10"))
    assert "Welch F(1, " in line
    assert "; without one: fewer than two users, or all alike; rough, as" in line
    assert "rough, as fewer than 30 users differ in few)" in line
    alone = in_segments(TWO, NUMBERS)
    assert alone.heterogeneity("ndcg@10") == {}


def test_no_difference_in_a_segment_is_no_word_about_all_users():
    """No segment of 40 shows the difference that 120 users show."""
    by = in_segments(TWO)
    assert by.whole.test("ndcg@10")[0].p < 0.05 and not any(one.mark for one in by.test())
    words = str(by)
    assert "no difference" not in words and "; no p below 0.05 after Holm over" in words
    assert "by itself it shows a difference: b - a ndcg@5, b - a ndcg@10\n" in words
    same = in_segments({"a": SHARES["a"], "b": (0.2, 9)})
    assert not any(one.mark for one in same.whole.test())
    assert "the line of all users is not among these tests\n" in str(same)
