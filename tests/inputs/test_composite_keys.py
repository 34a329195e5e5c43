"""Keys of rows that are made of several columns: ``columns={"user_id": ["user", "time"]}``."""

import datetime
import re

import numpy as np
import pytest
from doors import by_words
from shared_inputs import LIBRARIES, csv_of, frame_of, library

import toplist as tl

COLUMNS = {"user_id": ["user", "time"]}
RECS = {
    "user": ["a", "a", "a", "b", "b", "b"],
    "time": [1, 1, 2, 1, 1, 9],
    "item_id": ["x", "y", "z", "x", "z", "z"],
    "rank": [1, 2, 1, 1, 2, 1],
}
TRUTH = {"user": ["a", "a", "b", "b"], "time": [1, 2, 1, 1], "item_id": ["y", "x", "x", "y"]}
KEYS = [("a", 1), ("a", 2), ("b", 1)]
OPTIONS = {"k": 2, "metrics": ["mrr"], "columns": COLUMNS, "clusters": "user"}


def check(result, keys=KEYS):
    assert list(result.users) == keys
    assert list(result.clusters) == ["a", "a", "b"]
    assert result.per_user("mrr@2").tolist() == [0.5, 0.0, 1.0]
    assert (result.n_extra, result.n_clusters) == (1, 2)


def shuffled(columns, seed=0):
    order = np.random.default_rng(seed).permutation(len(columns["user"])).tolist()
    return {name: [values[i] for i in order] for name, values in columns.items()}


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_key_is_the_tuple(name):
    check(by_words(frame_of(name, RECS), frame_of(name, TRUTH), **OPTIONS))
    mixed = by_words(frame_of(name, shuffled(RECS)), frame_of(name, TRUTH), **OPTIONS)
    check(mixed)
    kept = tl.GroundTruths(frame_of(name, TRUTH), columns=COLUMNS)
    check(by_words(frame_of(name, RECS), kept, **OPTIONS))
    dicts = {("a", 1): ["y"], ("a", 2): ["x"], ("b", 1): ["x", "y"]}
    check(by_words(frame_of(name, RECS), dicts, **OPTIONS))
    lists = {("a", 1): ["x", "y"], ("a", 2): ["z"], ("b", 1): ["x", "z"], ("b", 9): ["z"]}
    check(by_words(lists, frame_of(name, TRUTH), **OPTIONS))
    check(tl.top_k_eval(lists, dicts, 2, metrics=["mrr"], clusters={k: k[0] for k in dicts}))


@pytest.mark.parametrize("name", LIBRARIES)
def test_rows_of_lists(name):
    of_lists = {"user": list("aabb"), "time": [1, 2, 1, 9]}
    lists = frame_of(name, {**of_lists, "item_id": [["x", "y"], ["z"], ["x", "z"], ["z"]]})
    check(by_words(lists, frame_of(name, TRUTH), **OPTIONS))


def test_names_by_side_and_three_columns():
    recs = {"who": RECS["user"], "at": RECS["time"], "site": ["s"] * 6, **RECS}
    truth = {**TRUTH, "site": ["s"] * 4}
    name = "pandas"
    columns = {
        "ranks": {"user_id": ["who", "at", "site"]},
        "ground_truths": {"user_id": ("user", "time", "site")},
    }
    frames = frame_of(name, recs), frame_of(name, truth)
    result = by_words(*frames, **{**OPTIONS, "columns": columns})
    check(result, [(*key, "s") for key in KEYS])


def test_times_of_two_libraries_are_the_same():
    days = [datetime.datetime(2026, 1, day) for day in range(1, 10)]
    recs, truth = ({**c, "time": [days[t - 1] for t in c["time"]]} for c in (RECS, TRUTH))
    result = by_words(frame_of("pandas", recs), frame_of("polars", truth), **OPTIONS)
    check(result, [(user, days[time - 1]) for user, time in KEYS])


def written(folder, extension):
    """Write both sides; return their paths."""
    paths = []
    for name, columns in (("recs", RECS), ("truth", TRUTH)):
        path = folder / f"{name}.{extension}"
        if extension == "parquet":
            library("pyarrow.parquet").write_table(frame_of("pyarrow", columns), path)
        else:
            comma = "," if extension == "csv" else "\t"
            rows = zip(*columns.values(), strict=True)
            csv_of(path, comma.join(columns), *(comma.join(map(str, row)) for row in rows))
        paths.append(path)
    return paths


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet"])
def test_files_are_read_whole(tmp_path, extension):
    library("pyarrow")
    files = written(tmp_path, extension)
    keys = KEYS if extension == "parquet" else [(user, str(time)) for user, time in KEYS]
    for more in ({}, {"keep": "users"}):
        check(by_words(*files, **OPTIONS, **more), keys)
    kept = tl.GroundTruths(files[1], columns=COLUMNS)
    check(by_words(files[0], kept, **OPTIONS), keys)


def test_text_beside_typed_columns_and_systems(tmp_path):
    library("pyarrow")
    texts, typed = written(tmp_path, "csv"), written(tmp_path, "parquet")
    keys = [(user, str(time)) for user, time in KEYS]
    check(by_words(texts[0], typed[1], **OPTIONS), keys)
    check(by_words(typed[0], texts[1], **OPTIONS), keys)
    lines = texts[0].read_text().splitlines()
    both = csv_of(
        tmp_path / "both.csv",
        f"{lines[0]},model",
        *(f"{line},{m}" for m in "pq" for line in lines[1:]),
    )
    found = by_words(both, texts[1], system="model", **OPTIONS)
    assert list(found) == ["p", "q"]
    for result in found.values():
        check(result, keys)


def test_what_is_wrong_is_named(tmp_path):
    library("pyarrow")
    recs, truth = written(tmp_path, "csv")
    frames = frame_of("pyarrow", RECS), frame_of("pyarrow", TRUTH)
    without = {name: values for name, values in RECS.items() if name != "time"}
    nothing = {**RECS, "time": [1, None, 2, 1, 1, 9]}
    halves = {**RECS, "time": [1.5] * 6}
    for sides, columns, words in (
        (
            (frame_of("pyarrow", without), frames[1]),
            COLUMNS,
            "ranks: no column 'time', ",
        ),
        (frames, {"user_id": ["user"]}, "columns: 'user_id' is ['user']: give two names or more"),
        (frames, {"user_id": ["user", "user"]}, "give two names or more"),
        (frames, {"item_id": ["a", "b"]}, "columns: 'item_id' is one column, not ['a', 'b']"),
        (
            (frame_of("pyarrow", nothing), frames[1]),
            COLUMNS,
            "column 'time' is null in row 1",
        ),
        ((frame_of("pyarrow", halves), frames[1]), COLUMNS, "1.5 is a float, never an id"),
        ((recs, truth), {"user_id": ["user", "tim"]}, "no column 'tim' (did you mean 'time'?), "),
        ((tmp_path / "a.jsonl", truth), COLUMNS, "files of jsonl have one column of users; tables"),
    ):
        with pytest.raises((ValueError, TypeError), match=re.escape(words)):
            tl.top_k_eval(*sides, 2, columns=columns)
    readers = [one.to_reader() for one in frames]
    with pytest.raises(ValueError, match="streams have one column of users"):
        tl.top_k_eval(*readers, 2, columns=COLUMNS)
    with pytest.raises(ValueError, match="clusters='site' is no column of the keys of the"):
        tl.top_k_eval(*frames, 2, columns=COLUMNS, clusters="site")
    gap = csv_of(tmp_path / "gap.csv", "user,time,item_id,rank", "a,1,x,1", "a,1,y,3")
    with pytest.raises(ValueError, match=r"gap.csv: ranks: user \('a', '1'\) has ranks 1, 3"):
        tl.top_k_eval(gap, truth, 2, columns=COLUMNS)
    text = csv_of(tmp_path / "text.csv", "user,time,item_id,rank", "a,1,x,1", "a,1,y,z")
    with pytest.raises(ValueError, match=r"text.csv:3: rank 'z' is not a number"):
        tl.top_k_eval(text, truth, 2, columns=COLUMNS)


def test_what_reads_one_column_refuses_several():
    log = frame_of("pandas", {**TRUTH, "timestamp": [1, 2, 3, 4]})
    with pytest.raises(TypeError, match="columns: 'user_id' is one column"):
        tl.loo.leave_one_out(log, columns=COLUMNS)
