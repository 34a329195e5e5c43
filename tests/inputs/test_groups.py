"""Ground truths made of groups: every form and source says the same; what is wrong is named."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from doors import by_words

import toplist as tl

METRICS = ["group_recall", "alpha_ndcg", "recall", "map"]
TRUTH = {"q1": [["a", "x"], ["c"]], "q2": [["b"], ["b", "z"]], "q3": [["k"]]}
LISTS = {"q1": ["x", "a", "c", "d"], "q2": ["z", "y", "b"], "q3": ["m"], "q4": ["a"]}
ROWS = [(user, item, f"g{n}") for user in TRUTH for n, g in enumerate(TRUTH[user]) for item in g]
NUGGET = {"ground_truths": {"group": "nugget"}}


def outcome(lists, truth, **options):
    return by_words(lists, truth, 3, metrics=METRICS, **options).to_dict()


@pytest.fixture
def expected():
    found = outcome(LISTS, tl.Groups(TRUTH))
    assert found["group_recall@3"] == pytest.approx((1 + 1 + 0) / 3)
    return found


def table(rows=ROWS, name="nugget"):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(
        dict(zip(["user_id", "item_id", name], map(list, zip(*rows, strict=True)), strict=True))
    )


def ranked():
    rows = [(user, item, at) for user, row in LISTS.items() for at, item in enumerate(row, 1)]
    return table(rows, "rank")


# Memory


def test_by_position(expected):
    lists = [LISTS[user] for user in TRUTH]
    assert outcome(lists, tl.Groups(list(TRUTH.values()))) == expected
    integers = [[ord(item) for item in row] for row in lists]
    truth = tl.Groups([[{*map(ord, g)} for g in some] for some in TRUTH.values()])
    assert outcome(integers, truth) == expected
    filled = np.array([row + [-1] * (4 - len(row)) for row in integers])
    arrays = [[np.array([*map(ord, g), -1]) for g in some] for some in TRUTH.values()]
    assert outcome(filled, tl.Groups(arrays), padding=-1) == expected


def test_kinds_of_groups(expected):
    kinds = tuple, set, frozenset, np.array
    truth = {
        user: [kinds[at % 4](group) for at, group in enumerate(some)]
        for user, some in TRUTH.items()
    }
    assert outcome(LISTS, tl.Groups(truth)) == expected
    assert outcome(LISTS, pickle.loads(pickle.dumps(tl.Groups(truth)))) == expected


def test_kept(expected):
    kept = tl.GroundTruths(tl.Groups(TRUTH))
    assert len(kept) == 3
    for lists in (LISTS, ranked(), ranked().to_reader(2)):
        assert outcome(lists, kept) == expected
    assert outcome([LISTS[user] for user in TRUTH], tl.GroundTruths(tl.Groups([*TRUTH.values()])))


def test_no_group_is_an_empty_truth():
    found = tl.top_k_eval({"a": [1], "b": [1]}, tl.Groups({"a": [[1]], "b": []}), 1)
    assert (found.n_evaluated, found.n_skipped) == (1, 1)


def test_an_id_in_a_group_twice(expected):
    truth = {user: [[*g, *g] for g in some] for user, some in TRUTH.items()}
    assert outcome(LISTS, tl.Groups(truth)) == expected


def test_zeros_and_ones_are_no_matrix():
    truth = tl.Groups([[[0, 1], [1]], [[0], [0, 1]]])
    assert tl.curves("group_recall", [[1], [0]], truth)[:, 0].tolist() == [1, 1]


def test_systems(expected):
    pandas = pytest.importorskip("pandas")
    frame = ranked().to_pandas().assign(model="m")
    both = pandas.concat([frame, frame.assign(model="n")])
    found = tl.top_k_eval(both, tl.Groups(TRUTH), 3, metrics=METRICS, system="model")
    assert [one.to_dict() for one in found.values()] == [expected] * 2


def test_audit_counts_an_id_of_two_groups_once():
    assert "twice" not in str(tl.audit.check(LISTS, tl.Groups(TRUTH)))


# Tables


@pytest.mark.parametrize("columns", [NUGGET, {"group": "nugget"}])
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "shuffled", "integers"])
def test_tables(kind, columns, expected):
    truth, lists = table(), ranked()
    if kind in ("pandas", "shuffled", "integers"):
        pytest.importorskip("pandas")
        truth, lists = truth.to_pandas(), lists.to_pandas()
    if kind == "polars":
        polars = pytest.importorskip("polars")
        truth, lists = polars.from_arrow(truth), polars.from_arrow(lists)
    if kind == "shuffled":
        truth = truth.sample(frac=1, random_state=3)
    if kind == "integers":  # beyond what floats hold
        truth["nugget"] = [2**62 + int(label[1:]) for label in truth["nugget"]]
    assert outcome(lists, truth, columns=columns) == expected
    assert outcome(LISTS, truth, columns=columns) == expected
    assert outcome(lists, tl.GroundTruths(truth, columns={"group": "nugget"})) == expected


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_a_row_per_user(kind, expected):
    pyarrow = pytest.importorskip("pyarrow")
    truth = pyarrow.table(
        {
            "user_id": list(TRUTH),
            "item_id": [[item for g in TRUTH[user] for item in g] for user in TRUTH],
            "nugget": [[f"g{n}" for n, g in enumerate(TRUTH[user]) for _ in g] for user in TRUTH],
        }
    )
    if kind == "pandas":
        pytest.importorskip("pandas")
        truth = truth.to_pandas()
    assert outcome(ranked(), truth, columns=NUGGET) == expected


def test_a_column_group_that_is_not_asked_for():
    truth = table(name="group")
    union = {user: set().union(*some) for user, some in TRUTH.items()}
    plain = tl.top_k_eval(LISTS, union, 3, metrics=METRICS)
    assert tl.top_k_eval(ranked(), truth, 3, metrics=METRICS) == plain
    assert tl.top_k_eval(ranked(), truth, 3, metrics=METRICS, columns={"group": "group"}) != plain


# Files and streams


def files(folder):
    """Write the truth in every format; return the paths with the name of the column."""
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table(), folder / "truth.parquet")
    for extension, delimiter in (("csv", ","), ("tsv", "\t")):
        lines = [("user_id", "item_id", "nugget"), *ROWS]
        text = "".join(delimiter.join(line) + "\n" for line in lines)
        (folder / f"truth.{extension}").write_text(text)
    quoted = "".join(f'"{user}","{item}","{group}"\n' for user, item, group in ROWS)
    (folder / "quoted.csv").write_text(f"user_id,item_id,nugget\n{quoted}")
    rows = [{"user_id": user, "item_id": item, "nugget": group} for user, item, group in ROWS]
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lists = [
        {
            "user_id": user,
            "item_id": [item for g in some for item in g],
            "nugget": [n for n, g in enumerate(some) for _ in g],
        }
        for user, some in TRUTH.items()
    ]
    (folder / "lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lists))
    return [*folder.glob("truth.*"), folder / "quoted.csv", folder / "lists.jsonl"]


def write_lists(folder):
    rows = [f"{user},{item},{at}" for user, row in LISTS.items() for at, item in enumerate(row, 1)]
    path = folder / "recs.csv"
    path.write_text("user_id,item_id,rank\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.mark.parametrize("without", [False, True])
def test_files(tmp_path, expected, monkeypatch, without):
    paths, lists = files(tmp_path), write_lists(tmp_path)
    if without:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(paths) == 6
    for path in (one for one in paths if not (without and str(one).endswith("parquet"))):
        for more in ({}, {"keep": "users"}):
            assert outcome(lists, str(path), columns=NUGGET, **more) == pytest.approx(expected)
        kept = tl.GroundTruths(path, columns={"group": "nugget"})
        assert outcome(lists, kept) == expected
        assert outcome(LISTS, path, columns=NUGGET) == expected


def test_a_plain_block_between_others(tmp_path, monkeypatch):
    """Labels have one number in blocks that pyarrow reads, and in those that it cannot read."""
    monkeypatch.setattr("toplist.files.lines.SIZE", 32)
    rows = ["q,a,g1", "q,b,g2", "q,c,g1", 'q,d,"g2"', "q,e,g1", 'q,f,"g1"', "q,h,g2"]
    path = tmp_path / "truth.csv"
    path.write_text("user_id,item_id,nugget\n" + "\n".join(rows) + "\n")
    truth = tl.files.read_truths(path, columns={"group": "nugget"})
    assert repr(truth) == "Groups(1 user, 2 groups)"
    assert tl.curves("group_recall", {"q": ["f", "x", "d"]}, truth).tolist() == [[0.5, 0.5, 1.0]]


def test_qrels(tmp_path, expected):
    """The second field is the group where it is asked for; below grade 1 nothing is relevant."""
    rows = [f"{user} {group[1:]} {item} 1" for user, item, group in ROWS]
    path = tmp_path / "truth.qrels"
    path.write_text("\n".join([*rows, "q1 7 d 0", "q5 0 d -1", ""]))
    lists = write_lists(tmp_path)
    found = tl.top_k_eval(lists, str(path), 3, metrics=METRICS, columns={"group": "iteration"})
    assert found.to_dict() == expected
    assert (found.n_users, found.n_skipped) == (4, 1)
    plain = tl.top_k_eval(lists, str(path), 3, metrics=METRICS)
    assert plain["group_recall@3"] == plain["recall@3"]
    assert tl.files.read_truths(path, columns={"group": "iteration"}).rows["q5"] == ()
    with pytest.raises(ValueError, match="write 'group': 'iteration', not 'nugget'"):
        outcome(lists, str(path), columns={"group": "nugget"})
    path.write_text("q1 0 a one\n")
    with pytest.raises(ValueError, match="qrels:1: relevance 'one' is not a finite number"):
        outcome(lists, str(path), columns={"group": "iteration"})


@pytest.mark.parametrize("keep", [None, "users"])
def test_streams(keep, expected):
    streams = [one.to_reader(2) for one in (ranked(), table())]
    found = tl.top_k_eval(*streams, 3, metrics=METRICS, columns=NUGGET, keep=keep)
    assert found.to_dict() == pytest.approx(expected)
    if keep:
        by_key = tl.top_k_eval(LISTS, tl.Groups(TRUTH), 3, metrics=METRICS)
        values = found.per_user("alpha_ndcg@3", keyed=True)
        assert values == by_key.per_user("alpha_ndcg@3", keyed=True)


def test_streams_of_many_parts():
    rng = np.random.default_rng(5)
    lists = {u: rng.permutation(60)[:20].tolist() for u in range(3000)}
    truth = {u: [rng.permutation(60)[:3].tolist() for _ in range(1 + u % 4)] for u in lists}
    rows = [(u, i, f"g{n}") for u in truth for n, g in enumerate(truth[u]) for i in g]
    places = [(u, i, at) for u in lists for at, i in enumerate(lists[u], 1)]
    streams = table(places, "rank").to_reader(1000), table(rows).to_reader(777)
    found = tl.top_k_eval(*streams, 10, metrics=METRICS, columns=NUGGET)
    whole = tl.top_k_eval(lists, tl.Groups(truth), 10, metrics=METRICS)
    assert found.to_dict() == pytest.approx(whole.to_dict(), abs=1e-12)
    assert found.std("alpha_ndcg") == pytest.approx(whole.std("alpha_ndcg"), abs=1e-12)


def test_the_command_line(tmp_path, good, expected):
    files(tmp_path)
    lists = write_lists(tmp_path)
    for name in ("group=nugget", "ground_truths:group=nugget"):
        names = "-m", "group_recall", "alpha_ndcg", "--columns", name, "--format", "json"
        found = json.loads(good("eval", lists, tmp_path / "truth.csv", "-k", 3, *names))
        shown = json.dumps(found)
        assert str(expected["alpha_ndcg@3"]) in shown and str(expected["group_recall@3"]) in shown


# What is wrong


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"q": [["a"], []]}, "user 'q', group 1 has no id: leave it out, or write its ids"),
        ([[["a"]], [[]]], "user 1, group 0 has no id"),
        ({"q": ["a"]}, r"user 'q', group 0 is 'a', no list of ids: write \['a'\]"),
        ({"q": [["a"], 7]}, r"user 'q', group 1 is 7, no list of ids: write \[7\]"),
        ({"q": [{"a": 2}]}, "group 0 is {'a': 2}, no list of ids: groups have no grades"),
        ({"q": {"a", "b"}}, "user 'q' has .* where a list of groups belongs"),
        ({"q": "a"}, "user 'q' has 'a' where a list of groups belongs: write"),
        ("a", "give a dict user -> list of groups, or a list of these, not a str"),
    ],
)
def test_what_is_no_group(groups, message):
    with pytest.raises((TypeError, ValueError), match=message):
        tl.Groups(groups)


def test_ids_of_two_kinds():
    with pytest.raises(TypeError, match="two kinds, 'a' in ranks and 1 in ground_truths"):
        tl.curves("group_recall", [["a"]], tl.Groups([[[1]]]))


def test_groups_are_no_ranks():
    with pytest.raises(TypeError, match="ranks is Groups.*are the arguments swapped"):
        tl.curves("group_recall", tl.Groups(TRUTH), LISTS)


def test_groups_have_no_grades(tmp_path):
    with pytest.raises(ValueError, match="relevant_from=1 needs ground truths with grades"):
        tl.curves("group_recall", LISTS, tl.Groups(TRUTH), relevant_from=1)
    graded = table().append_column("relevance", [[1] * len(ROWS)])
    words = "has grades, column 'relevance', beside groups, 'nugget': groups have no grades"
    with pytest.raises(ValueError, match=words):
        outcome(ranked(), graded, columns=NUGGET)
    path = Path(tmp_path / "truth.csv")
    path.write_text("user_id,item_id,nugget,relevance\nq1,a,g,1\n")
    with pytest.raises(ValueError, match=f"truth.csv:1: .*{words}"):
        outcome(write_lists(tmp_path), str(path), columns=NUGGET)


def test_columns_that_are_not_there(tmp_path):
    with pytest.raises(ValueError, match="no column 'facts'"):
        outcome(ranked(), table(), columns={"group": "facts"})
    with pytest.raises(ValueError, match="'group' is none of user_id"):
        outcome(ranked(), table(), columns={"ranks": {"group": "nugget"}})
    files(tmp_path)
    for name in ("truth.csv", "truth.jsonl"):
        with pytest.raises(ValueError, match="no column 'facts'"):
            outcome(write_lists(tmp_path), str(tmp_path / name), columns={"group": "facts"})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q1,a,g\nq1,b,\n", "truth.csv:3: empty nugget"),
        ('q1,a,g\n"q1",b,""\n', "truth.csv:3: empty nugget"),
    ],
)
def test_a_row_without_a_label(tmp_path, rows, message):
    path = tmp_path / "truth.csv"
    path.write_text("user_id,item_id,nugget\n" + rows)
    with pytest.raises(ValueError, match=message):
        outcome(write_lists(tmp_path), str(path), columns=NUGGET)


def test_a_null_in_the_column():
    rows = [*ROWS, ("q3", "j", None)]
    with pytest.raises(ValueError, match="column 'nugget' is null in row 7"):
        outcome(ranked(), table(rows), columns=NUGGET)
