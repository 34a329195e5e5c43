"""A column of ground truths that looks like grades and was not named is not lost in silence."""

import warnings

import pytest

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
