"""Metrics of the lists of several systems: cautions of other data, and of means over others."""

import pickle

import pytest
from doors import by_words
from file_helpers import sent

import toplist as tl

USERS = "abcdefgh"
LISTS = {user: [1, 2, 3] for user in USERS}
OTHER = {user: [3, 4 + i % 3, 1] for i, user in enumerate(USERS)}
TRUTHS = {user: {1 + i % 3} for i, user in enumerate(USERS)}
LABELS = {item: ["odd", "even"][item % 2] for item in range(1, 7)}
GIVEN = {
    "counts": {item: item for item in range(1, 7)},
    "labels": LABELS,
    "history": {user: [1, 5] for user in USERS},
    "catalogue": range(1, 7),
    "metrics": ["ndcg", "novelty", "calibration", "item_coverage"],
}
SWAPPED = LABELS | {1: "odd", 2: "even"}


def evaluated(lists=LISTS, truths=TRUTHS, **given):
    return by_words(lists, truths, 3, **GIVEN | given)


def differences(**systems):
    return [one.text for one in tl.compare(systems).differences]


def test_other_data_of_metrics_of_the_lists_are_told():
    one, other = evaluated(), evaluated(OTHER, labels=SWAPPED)
    assert differences(a=one, b=other) == ["DIFFERENT labels: a and b"]
    assert differences(a=one, b=other, c=one) == ["DIFFERENT labels: a, c; b"]
    assert str(tl.compare({"a": one, "b": other})).count("DIFFERENT labels: a and b") == 1
    same = evaluated(OTHER, labels=dict(reversed(LABELS.items())), catalogue=[*range(1, 7)])
    assert differences(a=one, b=same) == []
    own = GIVEN["history"] | {"a": [2]}
    more = evaluated(OTHER, history=own, catalogue=range(8), counts=[1] * 9)
    lines = [f"DIFFERENT {name}: a and b" for name in ("catalogue", "counts", "history")]
    assert differences(a=one, b=more) == lines
    # what no metric reads is no matter
    bare = [evaluated(metrics=["novelty"], labels=x) for x in (LABELS, SWAPPED)]
    assert differences(a=bare[0], b=bare[1]) == []


def test_digests_are_saved_and_merged(tmp_path):
    one, other = evaluated(), evaluated(OTHER, labels=SWAPPED)
    for one_saved in (other, other.without_users()):
        one_saved.save(tmp_path / "b.npz")
        again = tl.TopKResult.load(tmp_path / "b.npz")
        assert differences(a=one, b=again) == ["DIFFERENT labels: a and b"]
        assert differences(a=other, b=again) == []
    sent = pickle.loads(pickle.dumps(other)).without_users()
    assert differences(a=one, b=sent) == ["DIFFERENT labels: a and b"]
    some = [{user: row for user, row in TRUTHS.items() if (user < "d") == low} for low in (1, 0)]
    halves = [
        evaluated({user: OTHER[user] for user in part}, part, labels=labels)
        for part, labels in zip(some, (LABELS, SWAPPED), strict=True)
    ]
    assert differences(a=one, b=sum(halves)) == []  # several, so that none is known
    old = one.lists.given
    assert set(old) == {"counts", "labels", "history", "catalogue"}


def test_files_without_digests_are_not_known(monkeypatch):
    one, other = evaluated(), evaluated(OTHER, labels=SWAPPED)
    monkeypatch.setitem(other.lists.given, "labels", "")
    assert differences(a=one, b=other) == []
    other.lists.given.clear()
    assert differences(a=one, b=sent(other)) == []


def test_other_metrics_are_marked_and_tested_as_before():
    one, other = evaluated(), evaluated(OTHER, labels=SWAPPED)
    compared = tl.compare({"a": one, "b": other})
    assert not compared.comparable
    best = compared.best()
    assert best["ndcg@3"] == ["a"] and best["calibration@3"] == []
    same = tl.compare({"a": one, "b": evaluated(OTHER)}).best()
    assert same["ndcg@3"] == ["a"] and same["calibration@3"] != []
    line = "DIFFERENT labels: a and b"
    assert str(compared.test()).count(line) == 1 == str(compared.test("calibration@3")).count(line)
    assert line not in str(compared.test(["ndcg@3", "novelty@3"]))
    found = tl.gate(other, one, {"ndcg@3": 0.5})
    assert found.warnings == ("DIFFERENT labels: new and base",)


@pytest.mark.parametrize("unit", ["users", "queries"])
def test_tests_over_others_than_the_means_are_told(unit):
    """Both means are over 8; where a list is gone, those over all that both have are over 7."""
    truths = {user: TRUTHS[user] for user in "abcde"}
    fewer = {user: row for user, row in OTHER.items() if user != "h"}
    one, same, other = (evaluated(some, truths, unit=unit) for some in (LISTS, OTHER, fewer))
    tests = tl.compare({"a": one, "b": same}).test()
    assert tests["b", "novelty@3"].n == 8 == one.n_of("novelty@3")
    assert "in other tables" not in str(tests)
    compared = tl.compare({"a": one, "b": other})
    tests = compared.test(users="common")
    assert tests["b", "novelty@3"].n == 7 and tests["b", "ndcg@3"].n == 5
    said = (
        f"novelty@3, calibration@3: tested over 7 {unit} who have a value in every system; in "
        "other tables, over 7 or 8"
    )
    assert str(tests).split("\n").count(said) == 1
    assert "in other tables" not in str(compared.test("ndcg@3"))


def test_segments_are_found_by_their_labels():
    one, other = evaluated(), evaluated(OTHER)
    labels = dict(zip(USERS, [True, False, None, 1.5, True, False, None, 1.5], strict=True))
    tests = tl.compare({"a": one, "b": other}).by(labels).test(["novelty@3", "ndcg@3"])
    for label, text in [(True, "True"), (False, "False"), (None, "(no label)"), (1.5, "1.5")]:
        found = tests[label, "b", "a", "novelty@3"]
        assert found.segment == text and found is tests[text, "b", "novelty@3"]
    alike = {user: 1 if user < "d" else "1" for user in USERS}
    tests = tl.compare({"a": one, "b": other}).by(alike).test("novelty@3")
    assert (tests[1, "b", "novelty@3"].n, tests["1", "b", "novelty@3"].n) == (3, 5)
    for key in [(2, "b", "novelty@3"), ()]:
        with pytest.raises(KeyError, match="no comparison has"):
            tests[key]
