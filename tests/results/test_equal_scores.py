"""Equal scores: how many items share one is counted by every way in, and said below the table."""

import json

import pytest
from doors import by_words

import toplist as tl

LISTS = {"u": {"a": 0.5, "b": 0.5, "c": 0.7}, "v": {"d": 0.2, "e": 0.1}}
TRUTH = {"u": {"b"}, "v": {"d"}}
NOTE = "equal scores in the order of the rows; 40.0 % of the listed items share a score with a "


def evaluate(*sides, **options):
    return by_words(*sides, 2, metrics="mrr", **options)


def test_equal_scores_of_dicts_are_said():
    result = evaluate(LISTS, TRUTH)
    assert result.scored == (2, 5) and NOTE in str(result) and NOTE in result.formula("mrr")
    assert "equal scores" not in str(evaluate({u: list(row) for u, row in LISTS.items()}, TRUTH))
    by_item = str(evaluate(LISTS, TRUTH, ties="item_desc"))
    assert "equal scores by item id, descending" in by_item and "\n40.0 % of the listed" in by_item


def test_few_equal_scores_are_in_no_number_but_their_order_is_said():
    many = {"u": {i: 1.0 - i / 1000 for i in range(499)} | {499: 1.0}}
    result = evaluate(many, {"u": {0}})
    assert result.scored == (2, 500)
    assert "\nequal scores in the order of the rows\n" in str(result)


def test_equal_scores_of_every_source(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    rows = [(user, item, score) for user, row in LISTS.items() for item, score in row.items()]
    users, items, scores = (list(column) for column in zip(*rows, strict=True))
    table = arrow.table({"user_id": users, "item_id": items, "score": scores})
    truth = arrow.table({"user_id": ["u", "v"], "item_id": ["b", "d"]})
    lists, relevant, run = tmp_path / "lists.csv", tmp_path / "truth.csv", tmp_path / "a.run"
    lists.write_text("user_id,item_id,score\n" + "".join(f"{u},{i},{s}\n" for u, i, s in rows))
    relevant.write_text("user_id,item_id\nu,b\nv,d\n")
    run.write_text("".join(f"{u} Q0 {i} 1 {s} t\n" for u, i, s in rows))
    shuffled = table.take([3, 0, 4, 2, 1])
    for sides, options in (
        ((table, truth), {}),
        ((shuffled, truth), {}),
        ((lists, relevant), {}),
        ((lists, relevant), {"keep": "users"}),
        ((run, relevant), {}),
        ((lists, TRUTH), {}),
        ((table.to_reader(2), truth.to_reader()), {}),
    ):
        assert evaluate(*sides, **options).scored == (2, 5)


def test_equal_scores_add_up_and_are_saved(tmp_path):
    parts = [evaluate({user: LISTS[user]}, {user: TRUTH[user]}) for user in "uv"]
    whole = parts[0] + parts[1]
    assert whole.scored == (2, 5)
    whole.save(tmp_path / "result.npz")
    found = json.loads(whole.to_json())
    assert found["scores"] == {"tied": 2, "listed": 5} and found["policies"]["ties"] == "order"
    assert tl.TopKResult.load(tmp_path / "result.npz").scored == (2, 5)


def test_the_order_of_a_run_is_the_one_that_was_asked_for(tmp_path):
    run, truth = tmp_path / "a.run", {"q": {"a"}}
    run.write_text("q Q0 a 1 5.0 t\nq Q0 b 2 5.0 t\n")
    for ties, mean, words in (
        (None, 0.5, "equal scores by item id, descending"),
        ("order", 1.0, "equal scores in the order of the rows"),
        ("item", 1.0, "equal scores by item id, ascending"),
    ):
        result = evaluate(run, truth, ties=ties)
        assert result["mrr@2"] == mean and words in str(result)


def test_lists_without_scores_leave_their_number_unknown():
    scored, plain = ({"a": {1: 0.5, 2: 0.5}}, {"a": {1}}), ({"b": [1, 2]}, {"b": {2}})
    parts = [tl.match(*side) for side in (scored, plain)]
    assert parts[0].about.scored == (2, 2) and (parts[0] + parts[1]).about.scored is None
    assert (parts[1] + parts[0]).about.scored is None
