"""What an audit finds, and what it does not."""

import numpy as np
import pytest
from shared_inputs import frame_of

import toplist as tl
from toplist import audit
from toplist.audit import CHECKS

RANKS = {"ann": ["tea", "jam"], "bob": ["fig", "tea"]}
TRUTHS = {"ann": ["jam"], "bob": ["tea"]}
TRAIN = {"ann": ["fig"], "bob": ["jam"], "eve": ["tea"]}


def found(*arguments, **options):
    """Return what was found, by name and count."""
    return {name: n for name, n in audit.check(*arguments, **options).counts.items() if n}


def test_nothing_is_found_in_good_data():
    result = audit.check(RANKS, TRUTHS, TRAIN, k=2)
    assert result.ok and set(result.counts) == {*CHECKS} and not any(result.counts.values())
    assert len({*CHECKS.values()}) == len(CHECKS)  # a sentence each
    assert str(result).endswith("nothing found")
    assert result.sizes == {"ranks": (2, 3), "ground_truths": (2, 2), "train": (3, 3)}


NEVER_EQUAL = "1 (int) in ranks, '1' (str) in ground_truths"
ALIKE = " unlisted relevant items match a listed one but for "
FLAWS = [  # sides, what is found, and what is said of it; lists are shorter than k where it is 2
    ((RANKS, TRUTHS, TRAIN | {"ann": ["jam"]}),
     {"leaked": 1, "listed_seen": 1, "unknown_items": 1}, "'jam' of"),
    (({"ann": ["tea"]}, TRUTHS), {"without_list": 1}, "1 of 2 users of ground_truths have no"),
    ((RANKS, {"ann": ["jam"]}), {"without_truth": 1}, "are ignored: 'bob'"),
    (({"ann": ["tea", "jam", "tea"]}, {"ann": "tea"}), {"listed_twice": 1}, "'tea' of 'ann'"),
    ((None, {"ann": ["tea", "tea"]}), {"relevant_twice": 1}, "counted once"),
    ((None, None, {"ann": ["tea"] * 3}), {"trained_twice": 2}, "2 of 3 rows of the train"),
    ((RANKS, TRUTHS, {"ann": ["fig", "tea"]}),
     {"cold_users": 1, "cold_items": 1, "unknown_items": 1, "listed_seen": 1}, "in train: 'bob'"),
    (([[1, 2], []], [[1], [2]]), {"empty": 1}, "empty row in ranks: 1"),
    (([[1, 2]], [["1"]]), {"two_kinds": 1}, NEVER_EQUAL),
    (({1: [1]}, {"1": [1]}), {"two_kinds": 1, "without_list": 1, "without_truth": 1},
     "1 of 2 user ids are of another type"),
    (([[4, 0, 0], [5, 6, 0]], [[4], [5]]), {"padding": 1, "listed_twice": 1}, "padding: 0"),
    ((np.array([[4, -1], [5, 6]]), [4, 5]), {"padding": 1}, "padding: -1"),
    (({"a": ["x", "nan"]}, {"a": ["x"]}), {"padding": 1}, "padding: 'nan'"),
    (([["38", "7"], ["00041"]], [["00038", "7"], ["41", "9"]]), {"two_spellings": 2},
     f"2 of 3{ALIKE}leading zeros: '00038' / '38'"),
    (([["a", "b "]], [["a", "b"]]), {"two_spellings": 1}, f"1 of 1{ALIKE}blanks: 'b' / 'b '"),
    (([["038", "38"]], [["38"]]), {}, "nothing found"),
    (([[38, 7]], [[7]]), {}, "nothing found"),
    (([[1, 2]], [[7]]), {}, "nothing found"),  # of one user that is no sign
    (([[1], [2, 3]], [1, 2], None, 2), {"short": 1}, "1 of 2 lists are shorter than k=2"),
    (([[1], [2, 3]], [1, 2]), {}, "nothing found"),
    (([{1}], [[1]]), {"refused": 1}, "are the arguments swapped"),
    (({"a": [1.5]}, {"a": [1.5]}), {"refused": 1}, "never an id"),
    (({"a": [1]}, {"a": {1: float("nan")}}), {"refused": 1, "empty": 1}, "grade nan"),
    (({"a": [1, 2], "b": [3]}, {"a": [7], "b": [8]}), {"nothing_common": 2}, "written alike"),
    (([[1, 2], [3]], [[], []]), {"nothing_common": 2, "empty": 2}, "written alike: 1"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected", "said"), FLAWS, ids=[row[2] for row in FLAWS])
def test_every_flaw_is_found_and_said(arguments, expected, said):
    *sides, k = (*arguments, None, None, None)[:4]
    result = audit.check(*sides, k=k)
    assert {name: n for name, n in result.counts.items() if n} == expected and said in str(result)
    assert result.ok is all(CHECKS[name][0] == "note" for name in expected)
    levels = [one.level for one in result.findings]
    assert levels == sorted(levels, key=audit.LEVELS.index)


def test_forms_of_the_sides():
    lists = tl.inputs.Lists([0, 2, 3], [1, 2, 3])
    assert found(lists, [1, 9], (np.array([0, 1]), np.array([5, 3]))) == {
        "cold_items": 2, "listed_seen": 1, "unknown_items": 2
    }  # fmt: skip
    pandas = pytest.importorskip("pandas")
    train = pandas.DataFrame({"user_id": ["ann"], "item_id": ["jam"]})
    assert found(RANKS, TRUTHS, train)["leaked"] == 1
    assert found(None, {"ann": {"jam": 0.0, "tea": 2.0}}, train) == {"cold_items": 1}
    rows = {"user_id": [*RANKS], "item_id": [*RANKS.values()]}
    graded = {"user_id": ["ann", "bob"], "item_id": [["jam", "fig"], ["tea"]],
              "relevance": [[1, 0], [2]]}  # fmt: skip
    sides = pandas.DataFrame(rows), pandas.DataFrame(graded)
    assert str(audit.check(*sides, TRAIN, k=3)) == str(audit.check(RANKS, TRUTHS, TRAIN, k=3))
    for lists, truth in ((RANKS, TRUTHS), ([[1, 2], [3]], [{2}, [3, 4]])):
        assert str(audit.check(lists, tl.GroundTruths(truth))) == str(audit.check(lists, truth))
    with pytest.raises(TypeError, match="ranks is a int"):
        audit.check(3)
    with pytest.raises(TypeError, match="give ranks, ground_truths, a training log"):
        audit.check()
    with pytest.raises(ValueError, match="k must be at least 1, not -3"):
        audit.check(RANKS, k=-3)


def test_grades_of_tables_and_files_are_read():
    """What was judged not relevant is not relevant, in every form; nothing is in common then."""
    pandas = pytest.importorskip("pandas")
    lists = {f"u{user}": ["a", "b"] for user in range(6)}
    grades = {user: {"a": 0, "b": 0, "z": 1} for user in lists}
    train = [*lists], ["a"] * 6
    listed = [(user, item, rank) for user in lists for rank, item in enumerate(lists[user], 1)]
    judged = [(user, *pair) for user in grades for pair in grades[user].items()]
    tables = (
        pandas.DataFrame(listed, columns=["user_id", "item_id", "rank"]),
        pandas.DataFrame(judged, columns=["user_id", "item_id", "relevance"]),
    )
    for table, path in zip(tables, ("lists.csv", "grades.csv"), strict=True):
        table.to_csv(path, index=False)
    expected = audit.check(lists, grades, train)
    assert expected.counts["nothing_common"] == 6 and expected.counts["leaked"] == 0
    for side in (lists, tables[0], "lists.csv"):
        for truth in (tables[1], "grades.csv"):
            assert str(audit.check(side, truth, train)) == str(expected)
    named = tables[1].rename(columns={"relevance": "grade"})
    columns = {"relevance": "grade"}
    assert str(audit.check(tables[0], named, train, columns=columns)) == str(expected)
    twice = pandas.concat([tables[1], tables[1].iloc[[2, 2]]])
    assert audit.check(lists, twice).counts["relevant_twice"] == 2


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recs.csv").write_text("user_id,item_id,rank\n1,a,1\n1,b,2\n2,a,1\n")
    (tmp_path / "truth.csv").write_text("user_id,item_id\n1,b\n2,c\n")
    (tmp_path / "log.csv").write_text("user_id,item_id,timestamp\n1,b,3\n2,a,4\n")


def test_grades_that_are_refused_are_a_finding():
    pandas = pytest.importorskip("pandas")
    truth = pandas.DataFrame({"user_id": ["a"], "item_id": ["x"], "relevance": [np.nan]})
    assert found({"a": ["x"]}, truth) == found(None, truth) == {"refused": 1}


def test_check_on_the_command_line(cli):
    status, out, err = cli("check", "recs.csv", "truth.csv", "--train", "log.csv", "-k", "2")
    assert (status, err) == (0, "")
    assert (
        "warning  1 of 2 relevant items are in the user's own training log, of 1 user: 'b'" in out
    )
    assert "note     1 of 2 lists are shorter than k=2 (missing places are misses), of: '2'" in out
    status, out, err = cli("check", "recs.csv", "truth.csv", "--train", "log.csv", "--strict")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1 and "training log" in err
    assert cli("check", "recs.csv", "truth.csv", "--strict")[0] == 0
    status, _, err = cli("check", "recs.csv", "truth.csv", "--train", "none.csv")
    assert status == 1 and "none.csv: No such file" in err
    columns = {"user_id": ["1", "1", "2"], "item_id": ["a", "b", "a"], "rank": [1, 2, 1]}
    pytest.importorskip("pyarrow.parquet").write_table(frame_of("pyarrow", columns), "recs.parquet")
    of_parquet = cli("check", "recs.parquet", "truth.csv", "-k", "2")
    assert of_parquet == cli("check", "recs.csv", "truth.csv", "-k", "2")


def test_lists_of_nothing_but_relevant_items_are_found():
    truths = {user: [user, user + 1, user + 2] for user in range(40)}
    lists = {user: row[:2] for user, row in truths.items()}
    lists[7] = [7, 99]
    result = audit.check(lists, truths)
    assert result.counts["all_relevant"] == 39 and not result.ok
    assert "39 of 40 lists hold nothing but relevant items" in str(result)
    lists |= {1: [99], 2: [98]}
    assert audit.check(lists, truths).counts["all_relevant"] == 0
