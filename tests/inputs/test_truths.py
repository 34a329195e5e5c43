"""Grades and groups of a truth: the same values in every form, and what is relevant."""

import json
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from doors import by_words, qrels_of, write
from shared_inputs import LIBRARIES, frame_of, library, listed, long, said

import toplist as tl
from toplist.inputs import Lists

USER, ITEM, GRADE = "user_id", "item_id", "relevance"


def file_of(end, columns, folder):
    """Write columns as a file of a format; return its path."""
    path = folder / f"truth.{end}"
    if end == "parquet":
        library("pyarrow.parquet")
    write(end, columns, path, qrels_of)
    return path


# How a truth is handed over: (folder, columns) -> truth
SOURCES = {name: lambda folder, columns, name=name: frame_of(name, columns) for name in LIBRARIES}
SOURCES |= {end: lambda folder, columns, end=end: file_of(end, columns, folder)
            for end in ("csv", "tsv", "jsonl", "parquet")}  # fmt: skip
SOURCES["reader"] = lambda folder, columns: frame_of("pyarrow", columns).to_reader(1)
SHAPED = [(one, long) for one in SOURCES]
SHAPED += [(one, listed) for one in SOURCES if one not in ("csv", "tsv")]
QUERIES = {"q1": ["d2", "d1"], "q2": ["d3"]}
# d2 is judged and not relevant: the reciprocal ranks are 1/2 and 1, the gains 3 and 1.
GRADES = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
EXPECTED = {"mrr@2": 0.75, "cg@2": 2.0}
ASKED = {"k": 2, "metrics": ["mrr", "cg"]}


def evaluated(source, truth, **options):
    """Evaluate the lists of queries against a truth, both from one kind of source."""
    ids = {USER: list(QUERIES), ITEM: list(QUERIES.values())}
    lists = frame_of("pyarrow", ids).to_reader(1) if source == "reader" else QUERIES
    return by_words(lists, truth, **ASKED, **options).to_dict()


@pytest.mark.parametrize(("source", "shape"), SHAPED)
@pytest.mark.parametrize("header", [("query-id", "corpus-id"), ("query_id", "corpus_id")])
def test_scores_under_the_header_of_beir_are_relevance(source, shape, header, tmp_path):
    make = partial(SOURCES[source], tmp_path)
    names, columns = (*header, "score"), dict(zip((USER, ITEM), header, strict=True))
    for more in ({}, {"columns": {"ground_truths": columns}}):
        assert evaluated(source, make(shape(GRADES, names)), **more) == EXPECTED
    if source in LIBRARIES:  # for both sides: the lists are a dict
        assert evaluated(source, make(shape(GRADES, names)), columns=columns) == EXPECTED


@pytest.mark.parametrize(("source", "shape"), SHAPED)
def test_a_score_of_a_truth_is_read_or_refused_and_relevance_wins(source, shape, tmp_path):
    make = partial(SOURCES[source], tmp_path)
    scored = shape(GRADES, (USER, ITEM, "score"))
    words = "ground_truths: column 'score' is not read ... columns={'ground_truths': {'relevance': "
    message = said(f"{words}'score'}}}} reads it ... leave", evaluated, source, make(scored))
    assert ("ground_truths.drop(columns='score')" in message) == (source in LIBRARIES)
    named = {"ground_truths": {GRADE: "score"}}
    assert evaluated(source, make(scored), columns=named) == EXPECTED
    wrong = {user: dict.fromkeys(row, 7) for user, row in GRADES.items()}
    for ids in ((USER, ITEM), ("query-id", "corpus-id")):
        for grade in (GRADE, "grade_of_mine"):
            columns = shape(wrong, (*ids, "score")) | shape(GRADES, (*ids, grade))
            more = {} if grade == GRADE else {"columns": {"ground_truths": {GRADE: grade}}}
            assert evaluated(source, make(columns), **more) == EXPECTED


@pytest.mark.parametrize("source", [*LIBRARIES, "csv", "jsonl", "parquet"])
def test_a_column_that_looks_like_grades_is_not_lost_in_silence(source, tmp_path):
    truth = {"u": {"a": 1, "b": 5}}
    make = partial(SOURCES[source], tmp_path)
    words = "ground_truths: column 'rating' is ignored, all rows are relevant alike; "
    with pytest.warns(UserWarning, match=words) as caught:
        found = by_words(
            {"u": ["a", "b"]}, make(long(truth, (USER, ITEM, "rating"))), 2, metrics="cg"
        )
    assert "columns={'ground_truths': {'relevance': 'rating'}}" in str(caught[0].message)
    assert len({str(one.message) for one in caught}) == 1 and found["cg@2"] == 2
    named = {"ground_truths": {GRADE: "rating"}}
    table = make(long(truth, (USER, ITEM, "rating")))
    assert by_words({"u": ["a", "b"]}, table, 2, metrics="cg", columns=named)["cg@2"] == 6
    ids = make(long({"u": {"x": 1, "y": 5}}, (USER, "item", "rating"), number=str))
    if source in LIBRARIES:  # a column that is named as something else
        columns = {"ground_truths": {ITEM: "rating"}}
        assert by_words({"u": ["1"]}, ids, 1, metrics="cg", columns=columns)["cg@1"] == 1


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_what_is_said_on_the_command_line(end, tmp_path, cli, good):
    (tmp_path / "lists").mkdir()
    lists = long({user: {item: -n for n, item in enumerate(row)} for user, row in QUERIES.items()},
                 (USER, ITEM, "score"))  # fmt: skip
    recs = file_of("csv", lists, tmp_path / "lists")
    beir = file_of(end, long(GRADES, ("query-id", "corpus-id", "score")), tmp_path)
    command = "eval", recs, beir, "-k", 2, "-m", "mrr", "cg"
    names = "--columns", "ground_truths:user_id=query-id", "ground_truths:item_id=corpus-id"
    for options in ((), names):
        assert json.loads(good(*command, "--format", "json", *options))["values"] == EXPECTED
    file_of(end, long(GRADES, (USER, ITEM, "score")), tmp_path)
    status, _, error = cli(*command)
    assert status and "--columns ground_truths:relevance=score reads it" in error
    assert "leave the column out" in error and ".drop(" not in error
    rated = file_of(end, long(GRADES, (USER, ITEM, "rating")), tmp_path)
    error = cli("eval", recs, rated, "-k", 1)[2]
    assert error.startswith("toplist: note: ground_truths: column 'rating' is ignored")
    assert "--columns ground_truths:relevance=rating reads it as grades" in error
    good("eval", recs, rated, "-k", 1, "--quiet")


# The same values, as people hold them: of one type, or of several beside each other.
WRITTEN = {
    "floats": [3.0, 0.5, 1.0, 0.0],
    "ints and floats": [3, 0.5, 1, 0],
    "Decimals": [Decimal(3), Decimal("0.5"), Decimal(1), Decimal(0)],
    "Decimals, ints and floats": [3, Decimal("0.5"), 1.0, 0],
    "objects of numpy": np.array([3, 0.5, 1, 0], object),
    "numbers of numpy": [np.int64(3), np.float32(0.5), 1, np.float16(0)],
}


def typed(number, decimal):
    """Return a number as a value of the one type of a column."""
    return Decimal(str(number)) if decimal else float(number)


@pytest.mark.parametrize("shape", [long, listed])
@pytest.mark.parametrize("written", WRITTEN)
def test_a_grade_is_its_value_in_every_form(written, shape, tmp_path):
    ranks, values = {"a": ["y", "q", "x", "w", "z"], "b": ["x"]}, WRITTEN[written]
    truths = {"a": dict(zip("xyzw", values, strict=True)), "b": {"x": Decimal(2)}}
    plain = {user: dict(zip(row, map(float, row.values()), strict=True))
             for user, row in truths.items()}  # fmt: skip
    expected = tl.ndcg(ranks, plain)
    flat = Lists([0, 4, 5], [*"xyzw", "x"], gains=[*values, 2])
    decimal = partial(typed, decimal=written.startswith("Decimals"))
    forms = {
        "dict": truths,
        "Lists": flat,
        "pandas": library("pandas").DataFrame(shape(truths, number=lambda one: one), dtype=object),
        "polars": library("polars").DataFrame(shape(truths, number=decimal), strict=False),
        "arrow": frame_of("pyarrow", shape(truths, number=decimal)),
        "parquet": file_of("parquet", shape(truths, number=decimal), tmp_path),
        "jsonl": file_of("jsonl", shape(truths), tmp_path),
        "csv": file_of("csv", long(truths, number=str), tmp_path),
    }
    for name, truth in forms.items():
        lists = list(ranks.values()) if name == "Lists" else ranks
        found = by_words(lists, truth, [1, 2, 3, 4, 5], metrics="ndcg", keep="users")
        assert found.per_user("ndcg").tobytes() == expected.tobytes(), name
        assert found.hits.relevant.ideal_gains.tolist() == [3, 1, 0.5, 2], name


def exponential(truth, call=tl.match):
    rules = tl.CONVENTIONS["standard"].replace(gains="exponential")
    return call(["a"], {"a": truth}, convention=rules)


def test_exponential_gains_of_small_and_large_grades():
    for grade in (1e-17, 5e-324, 1e-4):
        assert exponential(grade, tl.ndcg).tolist() == [1.0]
        gain = exponential(grade).relevant.gains[0]
        assert gain == pytest.approx(grade * np.log(2), rel=1e-3) or grade == 5e-324
    result = tl.top_k_eval([["a"], ["b"]], [{"a": 1e140}, {"c": 1e140}], 1, metrics="dcg")
    assert np.isfinite(result.std("dcg@1")) and result["dcg@1"] == 5e139


def test_items_below_0_in_a_matrix():
    """They are judged, and not relevant; an entry of 0 says nothing."""
    for form in (matrix := [[2, -2, 0, -0.5]], library("scipy.sparse").csr_array(matrix)):
        by_position = Lists.from_matrix(form)
        assert tl.curves("judged", [[1, 0, 2, 4, 3]], by_position)[0, -1] == 0.6
        assert tl.curves("recall", [[1, 0, 2, 4, 3]], by_position)[0].tolist() == [0, 1, 1, 1, 1]


# Groups

FACTS = {"q1": [["a", "x"], ["c"]], "q2": [["b"], ["b", "z"]], "q3": [["k"]]}
OF_FACTS = {"q1": ["x", "a", "c", "d"], "q2": ["z", "y", "b"], "q3": ["m"], "q4": ["a"]}
OUTCOME = {"group_recall@3": 2 / 3, "alpha_ndcg@3": None, "recall@3": None, "map@3": None}
NUGGET = {"columns": {"ground_truths": {"group": "nugget"}}}


def outcome(truth, lists=OF_FACTS, **options):
    names = [name.partition("@")[0] for name in OUTCOME]
    return by_words(lists, truth, 3, metrics=names, **options).to_dict()


def of_groups(shape, label="g{}".format):
    """Return groups as columns of a row for each item, or for each user."""
    found = {u: [(one, label(n)) for n, some in enumerate(FACTS[u]) for one in some] for u in FACTS}
    if shape == "listed":
        columns = [
            list(FACTS),
            *([[row[at] for row in one] for one in found.values()] for at in (0, 1)),
        ]
    else:
        columns = zip(*((u, *row) for u, one in found.items() for row in one), strict=True)
    return dict(zip((USER, ITEM, "nugget"), map(list, columns), strict=True))


GROUPED = {
    "by key": lambda folder: tl.Groups(FACTS),
    "kept": lambda folder: tl.GroundTruths(tl.Groups(FACTS)),
    "an id twice": lambda folder: tl.Groups({u: [g * 2 for g in s] for u, s in FACTS.items()}),
    "of several kinds": lambda folder: tl.Groups(
        {u: [(tuple, set, np.array)[n](g) for n, g in enumerate(s)] for u, s in FACTS.items()}
    ),
    **{f"{source}, {shape}": lambda folder, source=source, shape=shape: SOURCES[source](
        folder, of_groups(shape)) for source in SOURCES for shape in ("long", "listed")
        if shape == "long" or source not in ("csv", "tsv")},
    "integers beyond floats": lambda folder: frame_of("pandas", of_groups("long", (2**62).__add__)),
    "shuffled": lambda folder: frame_of("pandas", of_groups("long")).sample(frac=1, random_state=3),
}  # fmt: skip


@pytest.mark.parametrize("form", GROUPED)
def test_groups_are_the_same_in_every_form(form, tmp_path):
    expected = outcome(tl.Groups(FACTS))
    assert expected["group_recall@3"] == pytest.approx(2 / 3)
    how = NUGGET if "," in form or form in ("integers beyond floats", "shuffled") else {}
    lists = {USER: list(OF_FACTS), ITEM: list(OF_FACTS.values())}
    lists = frame_of("pyarrow", lists).to_reader(1) if "reader" in form else OF_FACTS
    truth = GROUPED[form](tmp_path)
    assert outcome(truth, lists, **how) == pytest.approx(expected)
    if "reader" not in form:
        for more in ({"columns": {"group": "nugget"}} if how else {}, how | {"keep": "users"}):
            assert outcome(truth, lists, **more) == pytest.approx(expected)
    if how and "reader" not in form:
        kept = tl.GroundTruths(truth, columns={"group": "nugget"})
        assert outcome(kept) == expected


def test_groups_of_nothing_and_of_zeros_and_ones():
    found = tl.top_k_eval({"a": [1], "b": [1]}, tl.Groups({"a": [[1]], "b": []}), 1)
    assert (found.n_evaluated, found.n_skipped) == (1, 1)
    truth = tl.Groups([[[0, 1], [1]], [[0], [0, 1]]])  # zeros and ones are no matrix
    assert tl.curves("group_recall", [[1], [0]], truth)[:, 0].tolist() == [1, 1]
    assert "twice" not in str(tl.audit.check(OF_FACTS, tl.Groups(FACTS)))
    union = {user: set().union(*some) for user, some in FACTS.items()}
    columns = of_groups("long")
    columns["group"] = columns.pop("nugget")  # which nobody asks for
    assert outcome(frame_of("pyarrow", columns)) == outcome(union) != outcome(tl.Groups(FACTS))


def test_groups_of_qrels_and_of_files(tmp_path, good):
    """The second field is the group where it is asked for; below grade 1 nothing is relevant."""
    path, expected = tmp_path / "truth.qrels", outcome(tl.Groups(FACTS))
    facts = zip(*of_groups("long").values(), strict=True)
    lines = [f"{user} {group[1:]} {item} 1" for user, item, group in facts]
    path.write_text("\n".join([*lines, "q1 7 d 0", "q5 0 d -1", ""]))
    found = by_words(OF_FACTS, path, 3, columns={"group": "iteration"})
    assert (found.n_users, found.n_skipped) == (4, 1)
    assert outcome(path, columns={"group": "iteration"}) == expected
    said("write 'group': 'iteration', not 'nugget'", outcome, path, columns={"group": "nugget"})
    path.write_text("q1 0 a one\n")
    words = "qrels:1: relevance 'one' is not a finite number"
    said(words, outcome, path, columns={"group": "iteration"})
    for text, words in (
        ("user_id,item_id,nugget\nq1,a,g\nq1,b,\n", "truth.csv:3: empty nugget"),
        ("user_id,item_id,nugget,relevance\nq1,a,g,1\n", "truth.csv:1:  ... groups have no grades"),
        ("user_id,item_id,fact\nq1,a,g\n", "no column 'nugget'"),
    ):
        (tmp_path / "truth.csv").write_text(text)
        said(words, outcome, tmp_path / "truth.csv", **NUGGET)
    truth = file_of("csv", of_groups("long"), tmp_path)
    (tmp_path / "lists").mkdir()
    lists = long({u: {one: n for n, one in enumerate(row, 1)} for u, row in OF_FACTS.items()},
                 (USER, ITEM, "rank"), int)  # fmt: skip
    recs = file_of("csv", lists, tmp_path / "lists")
    for name in ("group=nugget", "ground_truths:group=nugget"):
        asked = "-m", "group_recall", "alpha_ndcg", "--columns", name, "--format", "json"
        found = json.loads(good("eval", recs, truth, "-k", 3, *asked))["values"]
        assert found == {name: expected[name] for name in ("group_recall@3", "alpha_ndcg@3")}
