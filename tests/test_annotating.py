"""`unjudged`: which listed items to judge next."""

import csv
import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from shared_inputs import csv_of, said
from strategies import graded_populations, populations

import toplist as tl

SYSTEMS = {
    "bm25": {"q1": ["a", "b", "c"], "q2": ["x", "y"]},
    "dense": {"q2": ["y", "z"], "q1": ["d", "b", "c"], "q9": ["a"]},
}
JUDGED = {"q1": {"a": 1, "c": 0}, "q2": {"x": 0}}
ROWS = [
    ("q2", "y", 1, ("bm25", "dense"), 0.2 + 0.16),
    ("q1", "b", 2, ("bm25", "dense"), 0.16 + 0.16),
    ("q1", "d", 1, ("dense",), 0.2),
    ("q2", "z", 2, ("dense",), 0.16),
]


def written(folder):
    """Write the lists of the systems, and the truth; return their paths."""
    paths = {}
    for name, lists in SYSTEMS.items():
        ranks = [f"{u},{i},{r}" for u, row in lists.items() for r, i in enumerate(row, 1)]
        paths[name] = str(csv_of(folder / f"{name}.csv", "user_id,item_id,rank", *ranks))
    grades = [f"{u},{i},{g}" for u, row in JUDGED.items() for i, g in row.items()]
    return paths, str(csv_of(folder / "truth.csv", "user_id,item_id,relevance", *grades))


def rows(found):
    return [(*row[:-1], pytest.approx(row[-1])) for row in found]


def test_most_valuable_first():
    found = tl.annotating.unjudged(SYSTEMS, JUDGED, k=3)
    assert list(found) == rows(ROWS)
    assert (len(found), found[0].item, found[-1].systems) == (4, "y", ("dense",))
    assert list(found[1:3]) == rows(ROWS[1:3])
    assert [row.item for row in tl.annotating.unjudged(SYSTEMS, JUDGED, k=1)] == ["d", "y"]
    even = tl.annotating.unjudged(SYSTEMS, JUDGED, k=3, p=0.5)
    assert [(row.item, row.weight) for row in even] == [
        *(("y", 0.75), ("b", 0.5), ("d", 0.5), ("z", 0.25))
    ]


@settings(max_examples=12)
@given(st.data(), graded_populations() | populations(), st.integers(1, 15))
def test_against_the_definition(data, population, k):
    n, item = len(population[0]), st.integers(0, 15)
    lists = st.lists(st.lists(item, max_size=12, unique=True), min_size=n, max_size=n)
    systems = {"a": population[0], "b": data.draw(lists), "c": data.draw(lists)}
    expected = oracle.to_judge(systems, population[1], k)
    found = tl.annotating.unjudged(systems, population[1], k)
    assert list(found) == rows(expected)
    texts = {
        name: {f"u{u}": [f"i{i}" for i in row] for u, row in enumerate(lists)}
        for name, lists in systems.items()
    }
    truths = {f"u{u}": {f"i{i}": 0 for i in row} for u, row in enumerate(population[1])}
    if any(map(any, texts.values())):
        keyed = tl.annotating.unjudged(texts, truths, k)
        assert list(keyed) == rows([(f"u{u}", f"i{i}", *more) for u, i, *more in expected])


def test_every_form(tmp_path):
    expected = list(tl.annotating.unjudged(SYSTEMS, JUDGED, k=3))
    paths, truth = written(tmp_path)
    assert list(tl.annotating.unjudged(paths, truth, 3)) == expected
    mixed = {"bm25": SYSTEMS["bm25"], "dense": paths["dense"]}
    for truths in (tl.GroundTruths(truth), tl.GroundTruths(JUDGED), JUDGED):
        assert list(tl.annotating.unjudged(mixed, truths, 3)) == expected
    arrays = {"a": np.array([[1, 2], [3, 4]]), "b": [[2, 5], [4, 9]]}
    found = tl.annotating.unjudged(arrays, [{1: 1}, {3}], 2)
    assert [row[:4] for row in found] == [
        *((0, 2, 1, ("a", "b")), (1, 4, 1, ("a", "b")), (0, 5, 2, ("b",)), (1, 9, 2, ("b",))),
    ]
    padded = {"a": np.array([[1, 2, -1]])}
    assert len(tl.annotating.unjudged(padded, [{1}], 3, padding=-1)) == 1


def test_copies_count_once():
    twice = {"a": {"q": ["x", "x", "j", "j", "y"]}}
    with pytest.raises(ValueError, match=r"^system 'a': user 'q' has item 'x' at ranks 1 and 2"):
        tl.annotating.unjudged(twice, {"q": {"j": 0}}, 5)
    found = tl.annotating.unjudged(twice, {"q": {"j": 0}}, 5, duplicates="first")
    assert [row[:3] for row in found] == [("q", "x", 1), ("q", "y", 5)]


def test_equal_weights_are_exactly_equal():
    """Sums of the same ranks in another order of systems differ in no bit: users decide."""
    ranks = [1, 2, 3]
    lists = {
        name: [[f"{u}" if r == ranks[(u + at) % 3] else f"j{r}" for r in ranks] for u in range(3)]
        for at, name in enumerate("abc")
    }
    found = tl.annotating.unjudged(lists, [{"j1", "j2", "j3"}] * 3, 3, p=0.9)
    assert [row.user for row in found] == [0, 1, 2]
    assert len({row.weight for row in found}) == 1


def test_table(tmp_path):
    found = tl.annotating.unjudged(SYSTEMS, JUDGED, k=3)
    assert str(found).splitlines() == [
        "user_id  item_id  rank     systems  weight",
        "q2             y     1  bm25 dense  0.3600",
        "q1             b     2  bm25 dense  0.3200",
        "q1             d     1       dense  0.2000",
        "q2             z     2       dense  0.1600",
        "4 unjudged items",
    ]
    many = tl.annotating.unjudged({"a": [list(range(30))]}, [{99}], 30)
    assert "the first 10 of 30 unjudged items" in str(many)
    for name in ("judge.csv", "judge.csv.gz"):
        found.to_csv(tmp_path / name)
    with gzip.open(tmp_path / "judge.csv.gz", "rt", newline="") as packed:
        text = packed.read()
    assert text == (tmp_path / "judge.csv").read_text()
    read = list(csv.DictReader(text.splitlines()))
    assert read[0]["systems"] == "bm25 dense" and float(read[0]["weight"]) == found[0].weight
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert frame["user_id"].tolist() == ["q2", "q1", "q1", "q2"]
    assert frame["systems"][0] == ("bm25", "dense")
    assert "0 unjudged items" in str(tl.annotating.unjudged({"a": [[1]]}, [{1}], 3))


def test_the_way_to_people_and_back(tmp_path, cli):
    """A file with texts and an empty relevance; its grades are added, in Python as by command."""
    found, path = tl.annotating.unjudged(SYSTEMS, JUDGED, k=3), tmp_path / "judge.csv"
    found.to_csv(path, titles={"y": "why, so"}, user_titles=lambda user: f"query {user[1:]}")
    header, *lines = path.read_text().splitlines()
    assert header == "user_id,item_id,rank,systems,weight,user_title,title,relevance"
    assert lines[0].startswith("q2,y,1,bm25 dense,") and lines[0].endswith(',query 2,"why, so",')
    assert tl.annotating.judged(JUDGED, path) == JUDGED  # nobody wrote anything
    csv_of(path, header, lines[0] + "2", lines[1] + "0.5", *lines[2:])
    graded = {"q1": {"a": 1, "c": 0, "b": 0.5}, "q2": {"x": 0, "y": 2}}
    paths, truth = written(tmp_path)
    for side in (JUDGED, truth, tl.GroundTruths(truth), tl.GroundTruths(JUDGED)):
        assert tl.annotating.judged(side, path) == graded
    assert tl.annotating.judged({"q1": {}, "q2": {}}, path) == {"q1": {"b": 0.5}, "q2": {"y": 2}}
    odd = tl.annotating.unjudged({"a": {"q1": ["y\r", "y\n"]}}, {"q1": {}}, k=2)
    odd.to_csv(tmp_path / "odd.csv")
    text = (tmp_path / "odd.csv").read_bytes().decode()
    tl.files.write_text(tmp_path / "odd.csv", text.replace(",\n", ",1\n"))
    assert tl.annotating.judged({"q1": {}}, tmp_path / "odd.csv") == {"q1": {"y\r": 1, "y\n": 1}}
    numbers = csv_of(tmp_path / "numbers.csv", "user_id,item_id,relevance", "1,-7,0")
    assert tl.annotating.judged({1: {5, 6}}, numbers) == {1: {5: 1, 6: 1, -7: 0}}
    status, out, _ = cli("unjudged", "--judged", str(path), truth)
    lines = [f"{u},{i},{g}" for u, row in graded.items() for i, g in row.items()]
    assert (status, out.splitlines()) == (0, ["user_id,item_id,relevance", *lines])
    judged = [f"{u},{i},{g}" for u, row in JUDGED.items() for i, g in row.items()]
    named = csv_of(tmp_path / "named.csv", "uid,item_id,relevance", *judged)
    for side in ("ground_truths", named):
        columns = "--columns", f"{side}:user_id=uid"
        assert cli("unjudged", "--judged", str(path), str(named), *columns)[:2] == (0, out)
    titles = csv_of(tmp_path / "docs.csv", "item_id,text", 'y,"why, so"')
    line = ["unjudged", *paths.values(), truth, "-k", "3", "-n", "2"]
    assert cli(*line)[1] == f"{found[:2]}\n"
    assert cli(*line, "--titles", f"{titles}:text", "-o", str(path))[0] == 0
    found[:2].to_csv(tmp_path / "same.csv", titles={"y": "why, so"})
    assert path.read_text() == (tmp_path / "same.csv").read_text()


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ("time", "user,time"),
        ("weight", "user_id_1,user_id_2"),  # the name of another column for the judges
        ("title", "user_id_1,user_id_2"),
    ],
)
def test_users_of_several_columns_there_and_back(tmp_path, cli, column, key):
    """Two users whose keys are one text, joined by blanks."""
    names = "--columns", f"user_id=user,{column}"
    lists = csv_of(tmp_path / "k.csv", f"user,{column},item_id,rank", "a b,c,x,1", "a,b c,y,1")
    header = f"user,{column},item_id,relevance"
    truth = csv_of(tmp_path / "t.csv", header, "a b,c,z,1", "a,b c,z,0")
    judge, new = tmp_path / "judge.csv", tmp_path / "new.csv"
    assert cli("unjudged", lists, truth, "-k", 1, *names, "-o", judge) == (0, "", "")
    rest = "item_id,rank,systems,weight,relevance"
    lines = f"{key},{rest}", "a b,c,x,1,k,0.2,", "a,b c,y,1,k,0.2,"
    assert judge.read_text().splitlines() == [*lines]
    csv_of(judge, lines[0], f"{lines[1]}1", f"{lines[2]}2")
    assert cli("unjudged", "--judged", judge, truth, *names, "-o", new) == (0, "", "")
    graded = {("a b", "c"): {"z": 1, "x": 1}, ("a", "b c"): {"z": 0, "y": 2}}
    columns = {"user_id": ["user", column]}
    assert tl.annotating.judged(truth, judge, columns=columns) == graded
    assert tl.annotating.judged(new, judge, columns=columns) == graded
    # a dict does not know the names
    systems = {"k": {user: [item] for user, (_, item) in graded.items()}}
    tl.annotating.unjudged(systems, {user: {} for user in graded}, 1)[:1].to_csv(judge)
    first = judge.read_text().splitlines()
    assert first == [f"user_id_1,user_id_2,{rest}", lines[1]]
    csv_of(judge, first[0], f"{first[1]}3")
    assert tl.annotating.judged({("a b", "c"): {}}, judge) == {("a b", "c"): {"x": 3}}


@pytest.mark.parametrize(
    ("truths", "row", "words"),
    [
        (JUDGED, "q1,d,good", "judge.csv:2: relevance 'good' is not a number"),
        (JUDGED, "q1,,1", "judge.csv:2: empty item_id"),
        (JUDGED, "q3,d,1", "judge.csv:2: user 'q3' has no ground truth"),
        (JUDGED, "q1,a,0", "judge.csv:2: user 'q1': item 'a' has relevance 1 and 0"),
        ({"q1": {7}}, "q1,d,1", "judge.csv:2: item 'd' is no number, as those of the ground"),
        ([{7}], "0,8,1", "ground_truths by position have no users"),
        ({b"q1": {b"a"}}, "b'q1',d,1", "items of ground_truths are bytes, and those of a "),
        (tl.Groups({"q1": [{"a"}]}), "q1,d,1", "are groups of items, which have no grades"),
    ],
)
def test_grades_that_are_refused(tmp_path, truths, row, words):
    path = csv_of(tmp_path / "judge.csv", "user_id,item_id,relevance", row)
    with pytest.raises((ValueError, TypeError), match=words):
        tl.annotating.judged(truths, path)


@pytest.mark.parametrize(
    ("systems", "k", "p", "words"),
    [
        ([JUDGED], 3, 0.8, "systems is a list: give a dict name -> ranked lists"),
        ({}, 3, 0.8, "systems is empty: give at least one"),
        (SYSTEMS, None, 0.8, "k must be a whole number from 1 on, not None"),
        (SYSTEMS, 3, 1.5, "p must be above 0 and below 1, not 1.5"),
        # one system without its name
        (SYSTEMS["bm25"], 3, 0.8, "systems: 'q1' has the list of one user ... {'bm25': systems}"),
    ],
)
def test_what_is_refused(systems, k, p, words):
    said(words, tl.annotating.unjudged, systems, JUDGED, k, p=p)
