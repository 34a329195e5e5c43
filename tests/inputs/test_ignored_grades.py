"""A column of ground truths that looks like grades and was not named is not lost in silence."""

import json
import warnings
from functools import partial

import pytest
from doors import by_words

import toplist as tl
from toplist.cli import main

RECS = {"user_id": ["u", "u"], "item_id": ["a", "b"], "rank": [1, 2]}
TRUTH = {"user_id": ["u", "u"], "item_id": ["a", "b"], "rating": [1, 5]}
WORDS = (
    "ground_truths: column 'rating' is ignored, all rows are relevant alike; "
    "columns={'ground_truths': {'relevance': 'rating'}} reads it as grades"
)


def as_files(folder, end):
    """Write both sides as files of a format."""
    paths = [folder / f"{name}{end}" for name in ("recs", "truth")]
    if end == ".parquet":
        parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
        for path, side in zip(paths, (RECS, TRUTH), strict=True):
            parquet.write_table(pa.table(side), path)
        return [str(path) for path in paths]
    for path, side in zip(paths, (RECS, TRUTH), strict=True):
        rows = [list(side), *zip(*side.values(), strict=True)]
        if end == ".jsonl":
            lines = (f'{{"user_id": "{u}", "item_id": "{i}", "{rows[0][2]}": {v}}}'
                     for u, i, v in rows[1:])  # fmt: skip
        else:
            lines = (",".join(map(str, row)) for row in rows)
        path.write_text("\n".join(lines) + "\n")
    return [str(path) for path in paths]


@pytest.mark.parametrize("end", [".csv", ".jsonl", ".parquet", "pandas", "polars", "pyarrow"])
def test_a_column_of_ratings_that_is_ignored_is_said(end, tmp_path):
    if end.startswith("."):
        sides = as_files(tmp_path, end)
    else:
        made = pytest.importorskip(end)
        made = made.table if end == "pyarrow" else made.DataFrame
        sides = made(RECS), made(TRUTH)
    with pytest.warns(UserWarning, match="rating") as caught:
        plain = tl.top_k_eval(*sides, k=2, metrics="cg")
    assert {str(one.message) for one in caught} == {WORDS} and plain["cg@2"] == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = {"ground_truths": {"relevance": "rating"}}
        assert tl.top_k_eval(*sides, k=2, metrics="cg", columns=named)["cg@2"] == 6


def test_the_command_line_says_it_in_its_own_words(tmp_path, capsys):
    files = as_files(tmp_path, ".csv")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["eval", *files, "-k", "2", "-m", "cg"]) == 0
        assert capsys.readouterr().err == (
            "toplist: note: ground_truths: column 'rating' is ignored, all rows are relevant "
            "alike; --columns ground_truths:relevance=rating reads it as grades\n"
        )
        assert main(["eval", *files, "-k", "2", "-m", "cg", "--quiet"]) == 0
        named = ["--columns", "ground_truths:relevance=rating"]
        assert main(["eval", *files, "-k", "2", "-m", "cg", *named]) == 0
        assert capsys.readouterr().err == ""


def test_columns_of_ranks_and_names_that_were_given_are_not_said():
    pandas = pytest.importorskip("pandas")
    recs, truth = pandas.DataFrame(RECS), pandas.DataFrame(TRUTH)
    rated = recs.assign(rating=3)
    assert tl.top_k_eval(rated, truth.drop(columns="rating"), k=2, metrics="cg")["cg@2"] == 2
    both = {"ground_truths": {"item_id": "rating"}}
    ids = truth.drop(columns="item_id").astype({"rating": str})
    assert tl.top_k_eval(recs, ids, k=2, metrics="cg", columns=both)["cg@2"] == 0


QUERIES = {"q1": ["d2", "d1"], "q2": ["d3"]}
# d2 is judged and not relevant: the reciprocal ranks are 1/2 and 1, the gains 3 and 1.
GRADES = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
EXPECTED = {"mrr@2": 0.75, "cg@2": 2.0}
ASKED = {"k": 2, "metrics": ["mrr", "cg"]}
LONG, LISTS = "a row per item", "a list per user"


def columns_of(names, values, shape):
    """Return ids and numbers by user as columns of these names."""
    if shape == LISTS:
        columns = list(values), [list(row) for row in values.values()]
        columns = *columns, [list(row.values()) for row in values.values()]
    else:
        rows = [(user, item, one) for user, row in values.items() for item, one in row.items()]
        columns = map(list, zip(*rows, strict=True))
    return dict(zip(names, columns, strict=True))


def frame(library, columns, folder):
    made = pytest.importorskip(library)
    return (made.table if library == "pyarrow" else made.DataFrame)(columns)


def file_of(end, columns, folder):
    path = folder / f"truth{end}"
    if end == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(frame("pyarrow", columns, folder), path)
        return path
    rows = list(zip(*columns.values(), strict=True))
    if end == ".jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    else:
        mark = "," if end == ".csv" else "\t"
        lines = [mark.join(map(str, row)) for row in [tuple(columns), *rows]]
    path.write_text("\n".join(lines) + "\n")
    return path


def reader(columns, folder):
    return frame("pyarrow", columns, folder).to_reader(1)


FRAMES = {name: partial(frame, name) for name in ("pandas", "polars", "pyarrow")}
FILES = {end: partial(file_of, end) for end in (".csv", ".tsv", ".jsonl", ".parquet")}
STREAMS = {"a reader": reader}
DOORS = FRAMES | FILES | STREAMS
SHAPED = [(door, LONG) for door in DOORS]
SHAPED += [(door, LISTS) for door in DOORS if door not in (".csv", ".tsv")]


def evaluated(door, truth, **options):
    """Evaluate the lists of queries against a truth, both from one kind of source."""
    if door in FRAMES:
        return by_words(QUERIES, truth, **ASKED, **options)
    arrow = pytest.importorskip("pyarrow")
    ids = {"user_id": list(QUERIES), "item_id": list(QUERIES.values())}
    if door in STREAMS:
        lists = arrow.table(ids).to_reader(1)
        return by_words(lists, truth, **ASKED, **options)
    lists = truth.parent / "lists.jsonl"
    rows = (json.dumps({"user_id": user, "item_id": row}) for user, row in QUERIES.items())
    lists.write_text("\n".join(rows) + "\n")
    return by_words(lists, truth, **ASKED, **options)


@pytest.mark.parametrize("named", ["not named", "named", "named for the truth"])
@pytest.mark.parametrize(
    "header", [("query-id", "corpus-id", "score"), ("query_id", "corpus_id", "score")]
)
@pytest.mark.parametrize(("door", "shape"), SHAPED)
def test_scores_under_the_header_of_beir_are_relevance(door, shape, header, named, tmp_path):
    truth = DOORS[door](columns_of(header, GRADES, shape), tmp_path)
    names = dict(zip(("user_id", "item_id"), header, strict=False))
    options = {} if named == "not named" else {"columns": {"ground_truths": names}}
    if named == "named" and door in FRAMES:  # for both sides: the lists are a dict
        options = {"columns": names}
    assert evaluated(door, truth, **options).to_dict() == EXPECTED


@pytest.mark.parametrize("door", [*FRAMES, *FILES])
def test_lists_under_the_header_of_beir_are_ranked_by_score(door, tmp_path):
    header = "query-id", "corpus-id", "score"
    scores = {"q1": {"d1": 0.25, "d2": 0.5}, "q2": {"d3": 0.125}}
    (tmp_path / "run").mkdir()
    sides = [
        DOORS[door](columns_of(header, values, LONG), folder)
        for values, folder in ((scores, tmp_path / "run"), (GRADES, tmp_path))
    ]
    for columns in (None, {"user_id": "query-id", "item_id": "corpus-id"}):
        assert by_words(*sides, columns=columns, **ASKED).to_dict() == EXPECTED


@pytest.mark.parametrize(("door", "shape"), SHAPED)
def test_a_score_of_a_truth_is_read_or_refused(door, shape, tmp_path):
    header = "user_id", "item_id", "score"
    make = partial(DOORS[door], columns_of(header, GRADES, shape), tmp_path)
    with pytest.raises(ValueError, match="ground_truths: column 'score' is not read") as caught:
        evaluated(door, make())
    assert "columns={'ground_truths': {'relevance': 'score'}} reads it" in str(caught.value)
    assert "leave the column out" in str(caught.value)
    of_pandas = "ground_truths.drop(columns='score')" in str(caught.value)
    assert of_pandas == (door in FRAMES)
    columns = {"ground_truths": {"relevance": "score"}}
    assert evaluated(door, make(), columns=columns).to_dict() == EXPECTED


@pytest.mark.parametrize(("door", "shape"), SHAPED)
@pytest.mark.parametrize("ids", [("user_id", "item_id"), ("query-id", "corpus-id")])
def test_relevance_wins_over_a_score(door, shape, ids, tmp_path):
    wrong = {user: dict.fromkeys(row, 7) for user, row in GRADES.items()}
    columns = columns_of((*ids, "score"), wrong, shape)
    columns |= columns_of((*ids, "relevance"), GRADES, shape)
    assert evaluated(door, DOORS[door](columns, tmp_path)).to_dict() == EXPECTED
    graded = {name if name != "relevance" else "grade": row for name, row in columns.items()}
    names = {"ground_truths": {"relevance": "grade"}}
    truth = DOORS[door](graded, tmp_path)
    assert evaluated(door, truth, columns=names).to_dict() == EXPECTED


@pytest.mark.parametrize("library", FRAMES)
def test_the_column_that_is_named_as_score_is_not_left_over_either(library):
    truth = frame(library, columns_of(("user_id", "item_id", "sim"), GRADES, LONG), None)
    with pytest.raises(ValueError, match="column 'sim' is not read"):
        by_words(QUERIES, truth, columns={"score": "sim"}, **ASKED)


@pytest.mark.parametrize("end", [".csv", ".tsv", ".parquet", "pandas"])
def test_keys_of_several_columns_beside_a_score(end, tmp_path):
    pytest.importorskip("pyarrow")
    header = "query-id", "corpus-id", "score"
    truth = columns_of(header, GRADES, LONG) | {"day": [1, 1, 2]}
    lists = {"query-id": ["q1", "q1", "q2"], "corpus-id": ["d2", "d1", "d3"], "rank": [1, 2, 1]}
    lists["day"] = [1, 1, 2]
    (tmp_path / "run").mkdir()
    sides = DOORS[end](lists, tmp_path / "run"), DOORS[end](truth, tmp_path)
    columns = {"user_id": ["query-id", "day"], "item_id": "corpus-id"}
    assert by_words(*sides, columns=columns, **ASKED).to_dict() == EXPECTED


@pytest.mark.parametrize("library", FRAMES)
def test_a_score_beside_groups_is_refused(library):
    columns = columns_of(("user_id", "item_id", "score"), GRADES, LONG) | {"topic": ["a", "b", "a"]}
    truth = frame(library, columns, None)
    with pytest.raises(ValueError, match="'score', beside groups"):
        tl.match(QUERIES, truth, columns={"ground_truths": {"group": "topic"}})


@pytest.mark.parametrize("end", FILES)
def test_scores_of_a_truth_on_the_command_line(end, tmp_path, good, cli):
    header = "query-id", "corpus-id", "score"
    truth = file_of(end, columns_of(header, GRADES, LONG), tmp_path)
    evaluated(end, truth)  # writes the lists
    command = "eval", tmp_path / "lists.jsonl", truth, "-k", "2", "-m", "mrr", "cg"
    names = "--columns", "ground_truths:user_id=query-id", "ground_truths:item_id=corpus-id"
    for options in ((), names):
        assert json.loads(good(*command, "--format", "json", *options))["values"] == EXPECTED
    other = file_of(end, columns_of(("user_id", "item_id", "score"), GRADES, LONG), tmp_path)
    status, _, err = cli(*command[:2], other, *command[3:])
    assert status != 0
    assert "--columns ground_truths:relevance=score reads it" in err
    assert "leave the column out" in err and ".drop(" not in err
