"""The noun of the rows in print: users, queries, or as the caller says; no name changes."""

import dataclasses

import pytest
from doors import by_words
from file_helpers import sent

import toplist as tl
from toplist.checks import worded

RUN = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d3": 0.7}}
QRELS = {"q1": {"d2": 1, "d1": 0}, "q2": {"d3": 2}}
LISTS = {"q1": ["d1", "d2"], "q2": ["d3"]}


@pytest.mark.parametrize(
    ("unit", "one"),
    [
        *(("sessions", "session"), ("queries", "query"), ("searches", "search")),
        *(("classes", "class"), ("boxes", "box"), ("cases", "case"), ("people", "people")),
    ],
)
def test_the_singular_follows(unit, one):
    assert worded("2 users, 1 user of the user's", unit) == f"2 {unit}, 1 {one} of the {one}'s"
    assert worded("2 users, 1 user", "users") == "2 users, 1 user"


def test_forms_of_queries_say_so_themselves():
    for ranks, truths in ((RUN, QRELS), (RUN, tl.GroundTruths(QRELS))):
        text = str(tl.top_k_eval(ranks, truths, 2))
        assert "2 of 2 queries evaluated" in text and "mean over queries" in text
        assert "(rough: only 2 queries)" in text and "user" not in text
    for ranks, truths in ((LISTS, QRELS), (LISTS, {"q1": {"d2"}, "q2": {"d3"}})):
        assert "2 of 2 users evaluated" in str(tl.top_k_eval(ranks, truths, 2))
    assert "2 of 2 users" in str(tl.top_k_eval(tl.Ranks(RUN, unit="users"), QRELS, 2))


def test_trec_files_are_of_queries(tmp_path):
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.5 x\n")
    qrels.write_text("q1 0 d2 1\n")
    assert "1 of 1 query evaluated" in str(tl.top_k_eval(run, qrels, 2))
    truth = tl.GroundTruths(qrels)
    assert "mean over queries" in str(tl.top_k_eval(run, truth, 2))
    assert "1 of 1 topic evaluated" in str(tl.top_k_eval(tl.Ranks(run, unit="topics"), qrels, 2))


def test_a_unit_is_a_word():
    for wrong in ("", " ", 3):
        with pytest.raises(TypeError, match="give what the rows are called, as 'sessions'"):
            tl.top_k_eval(tl.Ranks(RUN, unit=wrong), QRELS, 2)


def test_names_are_never_changed():
    mine = dataclasses.replace(tl.METRICS["mrr"], name="user")
    options = {"k": 2, "metrics": [mine], "unit": "sessions"}
    lists = {i: [i % 3, 7] for i in range(40)}
    truths = {i: {0} for i in lists}
    result = by_words(lists, truths, **options)
    assert str(result).splitlines()[1].startswith("user  ")
    assert "40 of 40 sessions" in str(result)
    assert "Student's t (rough where few sessions" in str(result)
    assert "14 for user@2" in str(result) and "mean over sessions; sessions" in result.formula(
        "user"
    )
    both = tl.compare({"users": result, "user 2": result}, baseline="users")
    tests = both.test()
    assert "user 2 - users, paired t over 40 sessions" in str(tests)
    assert "user 2 equals users in user@2" in tests.sentence()
    assert "at k = " in str(both.band("user")) or "40 sessions)" in str(both.band("user"))
    assert str(both.power()).split()[0] == "sessions"
    assert "same 40 sessions" in str(tl.compare({"a": result, "b": result}).lead())


def test_one_noun_for_all_systems_and_parts():
    lists = tl.top_k_eval(LISTS, QRELS, 2)
    both = tl.compare({"run": tl.top_k_eval(RUN, QRELS, 2), "lists": lists})
    assert "DIFFERENT" not in str(both) and "2 of 2 queries" in str(both)
    assert "1 of 1 query" in str(tl.top_k_eval({"q3": {"d": 1}}, {"q3": {"d": 1}}, 2))
    more = tl.top_k_eval({"q3": ["d"]}, {"q3": ["d"]}, 2)
    assert "3 of 3 queries" in str(
        tl.top_k_eval(RUN, QRELS, 2, convention=tl.CONVENTIONS["standard"].replace(gains=None))
        + more
    )


def test_files_keep_the_noun():
    result = tl.top_k_eval(RUN, QRELS, 2)
    assert "2 of 2 queries" in str(sent(result))
    assert "2 of 2 users" in str(sent(tl.top_k_eval(LISTS, QRELS, 2)))


def test_segments_and_pictures():
    lists, truths = {i: [i % 3, 7] for i in range(6)}, {i: {0} for i in range(6)}
    result = tl.top_k_eval(tl.Ranks(lists, unit="sessions"), truths, 2, metrics="mrr")
    parts = result.by({i: i % 2 for i in lists})
    assert parts.to_text().split()[:2] == ["sessions", "n"]
    assert "sessions: of the ground truth" in parts.to_text()
    both = tl.compare({"a": result, "b": result}).by({i: i % 2 for i in lists})
    assert "mrr@2  sessions" in str(both) and "sessions: those of the ground truth" in str(both)
    pytest.importorskip("matplotlib")
    assert "6 sessions" in result.plot().get_title("left")
    assert tl.plots.per_user(result, "mrr@2").get_xlabel() == "mrr@2 of a session"
    labels = tl.plots.segments(parts, "mrr@2").get_yticklabels()
    assert [label.get_text() for label in labels] == ["0\n3 sessions", "1\n3 sessions"]
