"""Files of ids: every format read alike, every fault reported in one line."""

import gzip
import json
import os
import re
import stat
import sys

import pytest

import toplist as tl
from toplist import cli
from toplist.files import FORMATS, format_of, read_ranks, read_truths, tables, write_text


@pytest.fixture
def put(tmp_path):
    """Write text or bytes under a name and return the path."""

    def put(name, content):
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return put


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def fault(read, path, **options):
    """Return what the error says after the path; it must be one line."""
    with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
        read(path, **options)
    message = str(caught.value)
    assert type(caught.value) is ValueError
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


# formats and extensions


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("extension", "format"),
    [
        (".csv", "csv"),
        (".tsv", "tsv"),
        (".jsonl", "jsonl"),
        (".run", "trec"),
        (".qrels", "trec"),
        (".trec", "trec"),
        (".CSV", "csv"),
    ],
)
def test_extension_names_the_format(extension, format, packed):
    assert format_of(f"some.dir/a.b{extension}{packed}") == format
    assert format in FORMATS


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a", "csv", ".csv.zip", "a.csv.gz.gz"])
def test_unknown_extension(name):
    assert fault(format_of, name) == (
        ": the extension names no format: use .csv, .tsv, .jsonl, .run, .qrels, .trec (all of "
        "them also .gz), .parquet"
    )
    assert fault(read_truths, name).endswith(
        ".parquet, or name it by format= (one of csv, tsv, jsonl, trec, parquet)"
    )


def test_format_overrides_the_extension(put):
    path = put("lists.csv", "q1 Q0 d1 1 0.5 tag\n")
    assert read_ranks(path, format="trec") == {"q1": ["d1"]}
    assert read_ranks(str(path), format="trec") == {"q1": ["d1"]}


def test_wrong_options(put):
    path = put("lists.csv", "user_id,item_id\nann,tea\n")
    with pytest.raises(ValueError, match=r"^format='xml': choose from 'csv', 'tsv', 'jsonl'"):
        read_ranks(path, format="xml")
    with pytest.raises(ValueError, match=r"^order='rank': choose from 'file'$"):
        read_ranks(path, order="rank")
    with pytest.raises(ValueError, match=r"^columns: 'user' is none of user_id, item_id, rank"):
        read_truths(path, columns={"user": "user_id"})


def test_missing_file_stays_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_ranks(tmp_path / "none.csv")


ROWS = [("ann", "tea", 2, 0.5), ("bob", "tea", 1, 0.1), ("ann", "jam", 1, 0.9)]
LISTS = {"ann": ["jam", "tea"], "bob": ["tea"]}


@pytest.mark.parametrize("value", ["rank", "score"])
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_formats_agree(put, format, value, packed):
    names = ("user_id", "item_id", value)
    rows = [(user, item, rank if value == "rank" else score) for user, item, rank, score in ROWS]
    if format == "jsonl":
        text = lines(*(dict(zip(names, row, strict=True)) for row in rows))
    else:
        comma = "," if format == "csv" else "\t"
        text = "".join(comma.join(map(str, row)) + "\n" for row in [names, *rows])
    ranks = read_ranks(put(f"lists.{format}{packed}", text))
    assert ranks == LISTS
    assert list(ranks) == ["ann", "bob"]


@pytest.mark.parametrize("name", ["a.run", "a.trec", "a.run.gz"])
def test_trec_run(put, name):
    text = "".join(f"{user} Q0 {item} 7 {score} tag\n" for user, item, _, score in ROWS)
    assert read_ranks(put(name, text)) == LISTS


# order


def test_rank_wins_over_score(put):
    path = put("a.csv", "user_id,item_id,score,rank\nu,a,9,2\nu,b,1,1\n")
    assert read_ranks(path) == {"u": ["b", "a"]}


def test_rank_may_be_written_as_a_float(put):
    assert read_ranks(put("a.csv", "user_id,item_id,rank\nu,a,2.0\nu,b,1.0\n")) == {"u": ["b", "a"]}


def test_score_ties_stay_in_file_order(put):
    text = "user_id,item_id,score\nu,b,1\nu,c,2\nu,a,1\nu,d,-1e300\nu,e,1.0\nu,f,1e3\n"
    assert read_ranks(put("a.csv", text)) == {"u": ["f", "c", "b", "a", "e", "d"]}


def test_order_file(put):
    text = "user_id,item_id,rank\nu,b,2\nv,x,none\nu,a,2\n"
    assert read_ranks(put("a.csv", text), order="file") == {"u": ["b", "a"], "v": ["x"]}
    text = "q Q0 a 1 0.1 t\nq Q0 b 1 0.9 t\n"
    assert read_ranks(put("a.run", text), order="file") == {"q": ["a", "b"]}
    text = lines({"user_id": 1, "item_id": 8}, {"user_id": 1, "item_id": 7})
    assert read_ranks(put("a.jsonl", text), order="file") == {1: [8, 7]}


def test_neither_rank_nor_score(put):
    reason = (
        ":1: neither rank nor score, order='file' takes the items as they come; "
        "columns found: ['user_id', 'item_id']"
    )
    assert fault(read_ranks, put("a.csv", "user_id,item_id\nu,a\n")) == reason
    assert fault(read_ranks, put("a.jsonl", lines({"user_id": 1, "item_id": 2}))) == reason


@pytest.mark.parametrize(
    ("ranks", "found"),
    [
        ([0, 1], "USER ranks 0, 1 RULE 2 belong, each once; ranks start at 1"),
        ([1, 0, 2], "USER ranks 0, 1, 2 RULE 3 belong, each once; ranks start at 1"),
        ([1, 2, 2], "USER ranks 1, 2, 2 RULE 3 belong, each once"),
        ([3, 1], "USER ranks 1, 3 RULE 2 belong, each once: where rows were left out"),
        ([2, 3], "USER ranks 2, 3 RULE 2 belong, each once: where rows were left out"),
        ([1, 1.5], ":4: rank '1.5' is not a whole number"),
        ([-1, 1], "USER ranks -1, 1 RULE 2 belong, each once"),
        ([1, 2.0**60], f":4: rank '{2.0**60}' is not a whole number"),
        ([1, float("inf")], ":4: rank 'inf' is not a number"),
    ],
)
def test_ranks_must_be_one_to_n(put, ranks, found):
    rows = "".join(f"bob,i{place},{rank}\n" for place, rank in enumerate(ranks))
    path = put("a.csv", "user_id,item_id,rank\nann,tea,1\n" + rows)
    found = found.replace("USER", ":3: ranks: user 'bob' has").replace("RULE", "where 1 to")
    assert fault(read_ranks, path).startswith(found)


# values


@pytest.mark.parametrize("value", ["nan", "high", "", "1,5", "0x1"])
@pytest.mark.parametrize("name", ["rank", "score"])
def test_value_must_be_a_number(put, name, value):
    path = put("a.tsv", f"user_id\titem_id\t{name}\nu\ta\t1\nu\tb\t{value}\n")
    assert fault(read_ranks, path) == f":3: {name} {value!r} is not a number"


@pytest.mark.parametrize("value", ["1.5", None, True, [1], {}, 10**400])
def test_jsonl_value_must_be_a_number(put, value):
    text = lines({"user_id": 1, "item_id": 2, "score": value})
    reason = fault(read_ranks, put("a.jsonl", text))
    assert reason.startswith(":1: score ")
    assert reason.endswith(" is not a number")


def test_jsonl_value_is_shown(put):
    text = lines({"user_id": 1, "item_id": 2, "score": "1.5"})
    assert fault(read_ranks, put("a.jsonl", text)) == """:1: score '"1.5"' is not a number"""


def test_trec_score_must_be_a_number(put):
    text = "q Q0 a 1 2.5 t\nq Q0 b 2 nan t\n"
    assert fault(read_ranks, put("a.run", text)) == ":2: score 'nan' is not a number"


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "good", ""])
def test_relevance_must_be_finite_and_not_negative(put, value):
    path = put("a.csv", f"user_id,item_id,relevance\nu,a,{value}\n")
    expected = f":2: relevance {value!r} is not a finite number of at least 0"
    assert fault(read_truths, path) == expected
    if value != "-1":
        path = put("a.qrels", f"u 0 a {value or '-'}\n")
        expected = f":1: relevance {value or '-'!r} is not a finite number"
        assert fault(read_truths, path) == expected


@pytest.mark.parametrize("value", [-1, "1", None, True])
def test_jsonl_relevance(put, value):
    text = lines({"user_id": 1, "item_id": 2, "relevance": value})
    reason = fault(read_truths, put("a.jsonl", text))
    assert reason.endswith(" is not a finite number of at least 0")


# truths


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_truth_without_relevance_is_a_set(put, packed):
    text = "user_id,price,item_id\nbob,1,tea\nann,2,jam\nbob,3,jam\nbob,4,tea\n"
    truths = read_truths(put(f"a.csv{packed}", text))
    assert truths == {"bob": {"tea", "jam"}, "ann": {"jam"}}
    assert list(truths) == ["bob", "ann"]


def test_relevance_is_kept_as_given(put):
    text = "user_id,item_id,relevance\nu,a,0\nu,b,0.5\nv,a,1\nu,b,0.50\n"
    assert read_truths(put("a.csv", text)) == {"u": {"a": 0, "b": 0.5}, "v": {"a": 1}}
    text = lines({"user_id": 1, "item_id": 2, "relevance": 3})
    assert read_truths(put("a.jsonl", text)) == {1: {2: 3}}


def test_truth_ignores_rank_and_score(put):
    text = "user_id,item_id,rank,score\nu,a,x,y\n"
    assert read_truths(put("a.csv", text)) == {"u": {"a"}}


@pytest.mark.parametrize(
    ("name", "line", "text"),
    [
        ("a.csv", 4, "user_id,item_id,relevance\nu,a,1\nu,b,2\nu,a,3.5\n"),
        (
            "a.jsonl",
            1,
            lines({"user_id": "u", "item_id": ["a", "b", "a"], "relevance": [1, 2, 3.5]}),
        ),
        ("a.qrels", 3, "u 0 a 1\nu 0 b 2\nu 0 a 3.5\n"),
    ],
)
def test_two_grades_for_one_item(put, name, line, text):
    expected = f":{line}: user 'u': item 'a' has relevance 1 and 3.5"
    assert fault(read_truths, put(name, text)) == expected


def test_qrels(put):
    text = "q2 0 d1 0\nq1 0 d1 1\nq1 0 d2 0\nq1 0 d3 -2\nq1 0 d1 1\nq3 0 d9 -1\n"
    truths = read_truths(put("a.qrels", text))
    assert truths == {"q2": set(), "q1": {"d1"}, "q3": set()}
    assert list(truths) == ["q2", "q1", "q3"]
    assert all(type(truth) is set for truth in truths.values())


def test_graded_qrels(put):
    text = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 -1\nq2 0 d1 0\nq3 0 d1 1\n"
    assert read_truths(put("a.qrels", text)) == {"q1": {"d1": 2}, "q2": {}, "q3": {"d1": 1}}


# TREC


def test_trec_ties_by_id_descending_in_bytes(put):
    ids = ["a", "Z", "é", "z", "a1", "10", "9", "\U0001f600", "\uffff"]
    text = "".join(f"q Q0 {one} 1 0.5 t\n" for one in ids) + "q Q0 top 1 0.50001 t\n"
    expected = sorted(ids, key=str.encode, reverse=True)
    assert read_ranks(put("a.run", text)) == {"q": ["top", *expected]}


def test_trec_scores_are_doubles(put):
    text = "q Q0 z 1 0.12345678901 t\nq Q0 a 2 0.12345678902 t\n"
    assert read_ranks(put("a.run", text)) == {"q": ["a", "z"]}


def test_trec_ids_may_begin_with_a_hash(put):
    text = "\nq#1 Q0 #d 1 0.5 #t\r\n   \n#q\tQ0  d#2 1\t 0.7 t"
    assert read_ranks(put("a.run", text)) == {"q#1": ["#d"], "#q": ["d#2"]}
    assert read_truths(put("a.qrels", "q 0 #d 1\n#q 0 d 1\n")) == {"q": {"#d"}, "#q": {"d"}}


def test_trec_splits_at_ascii_space_only(put):
    assert read_truths(put("a.qrels", "q 0 d\u00a01\u2003x 1\n")) == {"q": {"d\u00a01\u2003x"}}


def test_trec_document_twice_is_left_in(put):
    text = "q Q0 a 1 3 t\nq Q0 b 1 2 t\nq Q0 a 1 1 t\n"
    assert read_ranks(put("a.run", text)) == {"q": ["a", "b", "a"]}


def test_trec_columns_have_no_names(put):
    path = put("a.qrels", "q 0 d 1\n")
    assert read_truths(path, columns={"user_id": "userId", "relevance": "x"}) == {"q": {"d"}}


def test_trec_number_of_columns(put):
    run, qrels = "q Q0 d 1 0.5 t\n", "q 0 d 1\n"
    assert fault(read_truths, put("a.trec", qrels + run)) == (
        ":2: 6 columns instead of 4: ['qid', '0', 'docno', 'rel']"
    )
    assert fault(read_ranks, put("b.trec", run + "\n" + qrels)) == (
        ":3: 4 columns instead of 6: ['qid', 'Q0', 'docno', '(rank)', 'score', 'tag']"
    )


# tables


def test_ids_are_exact_text(put):
    text = 'user_id,item_id\n01, a \n1,"b,c"\n1.0,"d ""e"""\n1,é\n#1,nan\n"2\n3",x\n'
    assert read_truths(put("a.csv", text)) == {
        "01": {" a "},
        "1": {"b,c", "é"},
        "1.0": {'d "e"'},
        "#1": {"nan"},
        "2\n3": {"x"},
    }


def test_tsv_splits_at_tabs_only(put):
    text = 'user_id\titem_id\nann b\ttea, hot\nann b\t"5"" disk"\n'
    assert read_truths(put("a.tsv", text)) == {"ann b": {"tea, hot", '5" disk'}}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_byte_order_mark_and_line_ends(put, mark, end, last):
    rows = ["user_id,item_id", "ann,tea", "", "ann,jam"]
    text = mark + end.join(rows) + (end if last else "")
    assert read_truths(put("a.csv", text)) == {"ann": {"tea", "jam"}}
    text = mark + end.join(["a 0 tea 1", "a 0 jam 1"]) + (end if last else "")
    assert read_truths(put("a.qrels", text)) == {"a": {"tea", "jam"}}
    text = mark + end.join(['{"user_id": 1, "item_id": [2, 3]}', "  "]) + (end if last else "")
    assert read_truths(put("a.jsonl", text)) == {1: {2, 3}}


def test_mark_within_the_file_is_part_of_an_id(put):
    assert read_truths(put("a.csv", "user_id,item_id\n\ufeffu,a\n")) == {"\ufeffu": {"a"}}


def test_renamed_columns(put):
    path = put("a.csv", "userId,movieId,place,rank\nu,a,2,x\nu,b,1,y\n")
    columns = {"user_id": "userId", "item_id": "movieId", "rank": "place", "relevance": "none"}
    assert read_ranks(path, columns=columns) == {"u": ["b", "a"]}
    path = put("a.jsonl", lines({"u": 1, "i": 2, "r": 3}))
    columns = {"user_id": "u", "item_id": "i", "relevance": "r", "score": "none"}
    assert read_truths(path, columns=columns) == {1: {2: 3}}


def test_absent_columns(put):
    path = put("a.csv", "userId,item_id,rank\nu,a,1\n")
    found = "; columns found: ['userId', 'item_id', 'rank']"
    assert fault(read_ranks, path) == (
        ":1: no column 'user_id' (did you mean 'userId'?), columns={'user_id': 'NAME'} names "
        "another" + found
    )
    columns = {"user_id": "userId", "item_id": "movie"}
    assert fault(read_ranks, path, columns=columns) == (
        ":1: no column 'movie', columns={'item_id': 'NAME'} names another" + found
    )
    columns = {"user_id": "userId", "score": "points"}
    assert fault(read_ranks, path, columns=columns) == (
        ":1: no column 'points', columns={'score': 'NAME'} names another" + found
    )
    columns = {"user_id": "userId", "relevance": "grade"}
    assert fault(read_truths, path, columns=columns) == (
        ":1: no column 'grade', columns={'relevance': 'NAME'} names another" + found
    )
    path = put("a.jsonl", lines({"user_id": 1, "item_id": 2}, {"user": 1, "item_id": 3}))
    assert fault(read_truths, path) == (
        ":2: no column 'user_id', columns={'user_id': 'NAME'} names another; "
        "columns found: ['user', 'item_id']"
    )


def test_column_twice(put):
    assert fault(read_truths, put("a.csv", "user_id,item_id,item_id\nu,a,b\n")) == (
        ":1: two columns 'item_id'; columns found: ['user_id', 'item_id', 'item_id']"
    )
    assert read_truths(put("a.csv", "user_id,x,item_id,x\nu,1,a,2\n")) == {"u": {"a"}}


def test_number_of_columns(put):
    assert fault(read_truths, put("a.csv", "user_id,item_id\nu,a\nu\n")) == (
        ":3: 1 columns instead of 2: ['user_id', 'item_id']"
    )
    assert fault(read_truths, put("a.csv", 'user_id,item_id\n"u\n",a\nu,a,b\n')) == (
        ":4: 3 columns instead of 2: ['user_id', 'item_id']"
    )


@pytest.mark.parametrize(
    ("row", "name"), [(",a", "who"), ("u,", "item_id"), ('u,""', "item_id"), (",", "who")]
)
def test_empty_id(put, row, name):
    path = put("a.csv", f"who,item_id\nu,a\n{row}\n")
    assert fault(read_truths, path, columns={"user_id": "who"}) == f":3: empty {name}"


# JSONL


def test_jsonl_keeps_types(put):
    text = lines({"user_id": 1, "item_id": ["1", "007"]}, {"user_id": 2, "item_id": ["-5"]})
    assert read_ranks(put("a.jsonl", text)) == {1: ["1", "007"], 2: ["-5"]}
    text = lines({"user_id": "1", "item_id": [1, 2**64 - 1, -5]}, {"user_id": "2", "item_id": [7]})
    assert read_ranks(put("a.jsonl", text)) == {"1": [1, 2**64 - 1, -5], "2": [7]}
    text = lines({"user_id": 1, "item_id": [1, "1"]})
    with pytest.raises(TypeError, match=r"a\.jsonl: ids of two kinds, 1 in column 'item_id' and"):
        read_ranks(put("a.jsonl", text))


def test_jsonl_lists(put):
    text = lines({"user_id": 2, "item_id": [9, 7, 8]}, {"user_id": 1, "item_id": []})
    assert read_ranks(put("a.jsonl", text)) == {2: [9, 7, 8], 1: []}
    assert read_ranks(put("a.jsonl", text), order="file") == {2: [9, 7, 8], 1: []}
    assert read_truths(put("a.jsonl", text)) == {2: {7, 8, 9}, 1: set()}
    assert read_truths(put("a.jsonl", lines({"user_id": 1, "item_id": [7, 7]}))) == {1: {7}}


def test_jsonl_lists_with_values(put):
    text = lines({"user_id": 1, "item_id": [7, 8, 9], "score": [0.1, 0.9, 0.5]})
    assert read_ranks(put("a.jsonl", text)) == {1: [8, 9, 7]}
    text = lines({"user_id": 1, "item_id": [7, 8, 9], "rank": [3, 1, 2]})
    assert read_ranks(put("a.jsonl", text)) == {1: [8, 9, 7]}
    graded = {"user_id": 1, "item_id": [7, 8], "relevance": [2, 0]}
    text = lines(graded, {"user_id": 2, "item_id": [], "relevance": []})
    assert read_truths(put("a.jsonl", text)) == {1: {7: 2, 8: 0}, 2: {}}


@pytest.mark.parametrize("relevance", [[1], [1, 2, 3], 1, None])
def test_jsonl_values_must_match_the_list(put, relevance):
    text = lines({"user_id": 1, "item_id": [7, 8], "relevance": relevance})
    assert fault(read_truths, put("a.jsonl", text)) == (
        ":1: relevance must be a list as long as the list of items"
    )


@pytest.mark.parametrize("read", [read_ranks, read_truths])
def test_jsonl_user_with_two_lists(put, read):
    text = lines(*({"user_id": user, "item_id": [user]} for user in (1, 2, 1)))
    assert fault(read, put("a.jsonl", text)) == ":3: user 1 has a list already, in line 1"


@pytest.mark.parametrize("one", [1.0, None, True, {"a": 1}, ""])
def test_jsonl_ids(put, one):
    expected = f":2: {json.dumps(one)} is not an id: use integers or texts"
    good = {"user_id": 1, "item_id": 1}
    for bad in ({"user_id": one, "item_id": 2}, {"user_id": 2, "item_id": one}):
        assert fault(read_truths, put("a.jsonl", lines(good, bad))) == expected
    text = lines({"user_id": 1, "item_id": [1]}, {"user_id": 2, "item_id": [2, one]})
    assert fault(read_ranks, put("a.jsonl", text)) == expected


def test_jsonl_nested_ids(put):
    text = lines({"user_id": 1, "item_id": [[2]]})
    assert fault(read_ranks, put("a.jsonl", text)) == ":1: [2] is not an id: use integers or texts"
    text = lines({"user_id": [1], "item_id": [2]})
    assert fault(read_ranks, put("a.jsonl", text)) == ":1: [1] is not an id: use integers or texts"


@pytest.mark.parametrize(
    ("read", "first", "second"),
    [
        (read_ranks, {"item_id": [1]}, {"item_id": 1, "rank": 1}),
        (read_ranks, {"item_id": 1, "score": 1}, {"item_id": 1, "rank": 1}),
        (read_truths, {"item_id": 1}, {"item_id": 2, "relevance": 1}),
        (read_truths, {"item_id": 1, "relevance": 1}, {"item_id": 2}),
        (read_truths, {"item_id": 1}, {"item_id": [2]}),
    ],
)
def test_jsonl_lines_are_of_one_form(put, read, first, second):
    text = lines({"user_id": 1, **first}, {"user_id": 2, **second})
    assert fault(read, put("a.jsonl", text)) == (
        ":2: unlike the lines before: an item or a list, with the same keys"
    )


def test_jsonl_other_keys_are_free(put):
    text = lines({"user_id": 1, "item_id": 2, "note": 1}, {"item_id": 3, "user_id": 1})
    assert read_truths(put("a.jsonl", text)) == {1: {2, 3}}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"user_id": 1', "not valid JSON: Expecting ',' delimiter: column 14 (char 13)"),
        ("user_id,item_id", "not valid JSON: Expecting value: column 1 (char 0)"),
        (
            "9" * 5000,
            "not valid JSON: Exceeds the limit (4300 digits) for integer string conversion",
        ),
        ("[1, 2]", "not a JSON object: '[1, 2]'"),
        ("null", "not a JSON object: 'null'"),
        ('"' + "x" * 90 + '"', "not a JSON object: '\"" + "x" * 58),
    ],
)
def test_jsonl_faults(put, line, reason):
    text = "\n" + lines({"user_id": 1, "item_id": 2}) + line + "\n"
    assert fault(read_truths, put("a.jsonl", text)).startswith(f":3: {reason}")


def test_jsonl_nested_too_deeply(put):
    reason = fault(read_truths, put("a.jsonl", "[" * 100_000))
    assert reason.startswith(":1: not valid JSON: ")


# damaged files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", ""),
        ("a.csv", "\ufeff"),
        ("a.csv", "\n\nuser_id,item_id\n"),
        ("a.csv", "user_id,item_id\n"),
        ("a.tsv", "user_id\titem_id\n\n"),
        ("a.jsonl", ""),
        ("a.jsonl", "\n \n"),
        ("a.qrels", "\n"),
        ("a.qrels.gz", ""),
    ],
)
def test_no_rows(put, name, text):
    assert fault(read_truths, put(name, text)).endswith("no rows")


@pytest.mark.parametrize(
    ("name", "head", "bad"),
    [
        ("a.csv", b"user_id,item_id\nu,a\n", b"u,\xff\n"),
        ("a.jsonl", b'{"user_id": 1, "item_id": 2}\n\n', b'{"user_id": "\xff"}\n'),
        ("a.qrels", b"q 0 a 1\nq 0 b 1\n", b"q 0 \xff 1\n"),
    ],
)
def test_invalid_utf8(put, name, head, bad):
    reason = fault(read_truths, put(name, head + bad))
    assert reason.startswith(":3: not readable: 'utf-8' codec can't decode byte 0xff in position")


def test_open_quote(put):
    reason = fault(read_truths, put("a.csv", 'user_id,item_id\nu,"a\nu,b\n'))
    assert reason == ":3: not readable: unexpected end of data"
    reason = fault(read_truths, put("a.csv", 'user_id,item_id\nu,"a"b\nu,b\n'))
    assert reason == """:2: not readable: ',' expected after '"'"""


def test_damaged_gzip(put, tmp_path):
    rows = "".join(f"u{i},{os.urandom(8).hex()}\n" for i in range(5000))
    path = put("a.csv.gz", "user_id,item_id\n" + rows)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert ": not readable: Compressed file ended before the" in fault(read_truths, path)
    path.write_bytes(whole[:-8] + b"\0" * 8)
    assert ": not readable: CRC check failed" in fault(read_truths, path)
    path.write_bytes(whole[:20] + b"\xff" * 40 + whole[60:])
    assert ": not readable: " in fault(read_truths, path)
    path.write_bytes(b"user_id,item_id\nu,a\n")
    assert fault(read_truths, path) == ": not readable: Not a gzipped file (b'us')"


# writing


def test_write_text(tmp_path):
    path = tmp_path / "a.csv"
    write_text(path, "é\r\nb\n")
    assert path.read_bytes() == "é\r\nb\n".encode()
    write_text(str(path), "new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_write_text_with_a_bare_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text("a.csv", "text")
    assert os.listdir(tmp_path) == ["a.csv"]


def test_write_text_packs(tmp_path):
    path = tmp_path / "a.csv.gz"
    write_text(path, "text\n")
    first = path.read_bytes()
    assert gzip.decompress(first) == b"text\n"
    write_text(path, "text\n")
    assert path.read_bytes() == first


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_write_text_keeps_links_and_the_usual_mode(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    (tmp_path / "link").symlink_to(plain)
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert plain.read_text() == "text"
    write_text(tmp_path / "new", "text")
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("plain", "new")]
    umask = os.umask(0)
    os.umask(umask)
    assert modes == [0o666 & ~umask] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_write_text_does_not_replace_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(path, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(path).st_mode)


def test_failed_write_leaves_everything_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def refuse(source, target):
        assert os.path.dirname(source) == str(tmp_path)
        assert os.path.exists(source)
        raise OSError("refused")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="refused"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_unwritable_text_and_folder(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.csv", "\ud800")
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / "none" / "a.csv", "text")
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "text")


# what a message calls a keyword, in Python and on the command line


@pytest.mark.parametrize(
    ("lists", "truth", "python", "option"),
    [
        ("a.txt", "b.csv", "ranks_format= (one of csv", "--ranks-format (one of csv"),
        (
            "a.csv",
            "b.txt",
            "ground_truths_format= (one of csv",
            "--ground-truths-format (one of csv",
        ),
        ("a.csv", "b.csv", "columns={'item_id': 'NAME'} names", "--columns item_id=NAME names"),
        ("c.csv", "b.csv", "order='file' takes the items", "--order file takes the items"),
        ("d.csv", "b.csv", "in_memory=True takes them", "--in-memory takes them"),
    ],
)
def test_keywords_are_options_on_the_command_line(put, capsys, lists, truth, python, option):
    put("a.csv", "user_id,item,rank\nu,a,1\n")
    put("c.csv", "user_id,item_id\nu,a\n")
    put("d.csv", "user_id,item_id,score\nu,a,1\nv,a,1\nu,b,1\n")
    folder = put("b.csv", "user_id,item_id\nu,a\n").parent
    files = str(folder / lists), str(folder / truth)
    with pytest.raises(ValueError, match=re.escape(python)):
        tl.top_k_eval(*files, 1)
    assert cli.main(["eval", *files]) == 1
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", ["mac.csv", "mac.jsonl", "mac.run"])
def test_lines_that_end_in_a_bare_return(put, name, packed):
    path = put(f"{name}{packed}", "user_id,item_id,rank\ru,b,2\rv,c,1\ru,a,1\r")
    reason = r": lines end in \r alone: write line ends as \n or \r\n"
    assert fault(read_ranks, path) == reason
    if name == "mac.csv":
        assert fault(lambda path: tables.read(path, ["item_id"]), path) == reason


def test_a_carriage_return_within_a_line(put):
    path = put("a.csv", "user_id,item_id,rank\nu,a,1\nu,b\rc,2\n")
    reason = r":3: a carriage return within the line: write line ends as \n or \r\n"
    assert fault(read_ranks, path) == reason
    quoted = put("q.csv", 'user_id,item_id,rank\nu,"b\rc",1\n')
    assert read_ranks(quoted) == {"u": ["b\rc"]}
