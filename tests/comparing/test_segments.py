"""Comparisons in every segment: p is corrected for all of them together."""

import pytest
from systems import SHARES, TRUTH, segment, system

import toplist as tl


def test_each_segment_is_tested_as_its_users_alone(pair):
    found = tl.compare(pair, baseline="a").by({user: segment(user) for user in TRUTH})
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
    corrected = tl.inference.adjust(raw, "holm")
    assert [one.p_adjusted for one in tests] == corrected.tolist()
    assert "after Holm over 4 comparisons in 2 segments" in str(tests)
    assert "after Holm over 8 comparisons in 2 segments" in str(found)  # ndcg@5 as well
    assert [one.segment for one in tests] == ["new", "new", "old", "old"]


def test_labels_in_an_order_are_in_that_of_the_first_system(pair):
    users = list(TRUTH)[::-1]
    turned = {"a": pair["a"], "b": system(0.25, 2, users=users)}
    labels = [segment(user) for user in pair["a"].users]
    by_place = tl.compare(turned).by(labels)
    by_key = tl.compare(turned).by({user: segment(user) for user in TRUTH})
    assert by_place.to_dict() == by_key.to_dict()


def test_users_without_a_label_are_a_segment(pair):
    found = tl.compare(pair).by({user: "new" for user in TRUTH if segment(user) == "new"})
    assert list(found) == ["new", None] and "(no label)" in str(found)
    assert "best of its line; not tested" in str(found)
    pytest.importorskip("pandas")
    assert found.to_pandas()["segment"].isna().sum() == len(found[None].to_pandas())


def test_what_segments_refuse(pair):
    found = tl.compare(pair).by({user: segment(user) for user in TRUTH})
    with pytest.raises(ValueError, match="'maxt' is over comparisons of the same users"):
        found.test(correction="maxt")
    with pytest.raises(KeyError, match="'older': the segments are 'new', 'old'"):
        found["older"]
    few = {"a": pair["a"], "b": system(0.3, 1, users=[u for u in TRUTH if segment(u) == "new"])}
    with pytest.raises(ValueError, match="segment 'old' has no user of b"):
        tl.compare(few).by({user: segment(user) for user in TRUTH})


def test_labels_that_look_alike_are_told_apart(pair):
    labels = {user: (1, "1", "all")[number % 3] for number, user in enumerate(TRUTH)}
    found = tl.compare(pair, baseline="a").by(labels)
    segments = {one.segment for one in found.test("ndcg@10")}
    assert segments == {"1", "'1'", "'all'"} and "in 3 segments" in str(found)
    assert "'all'" in str(found) and "\nall " in str(found)


def test_the_forest_names_segments(pair):
    pytest.importorskip("matplotlib")
    found = tl.compare(pair, baseline="a").by({user: segment(user) for user in TRUTH})
    drawn = found.test("ndcg@10").plot()
    words = [label.get_text() for label in drawn.get_yticklabels()]
    assert len(set(words)) == 4 and any("(new)" in word for word in words)


@pytest.mark.parametrize("users", ["same", "common"])
def test_a_segment_of_nobody_is_told_and_the_others_are_tested(users):
    truths = {user: {user % 3} for user in range(40)}
    labels = {user: "x" if user < 30 else "y" for user in truths}
    lists = {
        "a": {user: [0, 1, 2] for user in truths if users == "common" or labels[user] == "x"},
        "b": {user: [2, 1, 0] for user in truths if labels[user] == "x"},
    }
    results = {
        name: tl.top_k_eval(
            one,
            truths,
            k=2,
            metrics="mrr",
            convention=tl.CONVENTIONS["standard"].replace(missing="skip"),
        )
        for name, one in lists.items()
    }
    found = tl.compare(results, baseline="a").by(labels).test(users=users)
    assert [one.segment for one in found] == ["x"]
    assert "not tested, since nobody is counted: y" in str(found)
