"""Grades of a truth: gains, the threshold, and what no grade can be."""

import json
import math
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from doors import by_words, match_by_words
from shared_inputs import DOORS, NAN, library, rows

import toplist as tl
from toplist import match
from toplist.inputs import Lists


def test_a_truth_is_a_set():
    for truth in ([7, 7, 5], (7, 5, 7), np.array([5, 7, 7]), np.array([7, 5, 7], np.uint8)):
        assert rows(match([[7, 5]], [truth])) == [([1, 2], 2, 2)]
    graded = Lists([0, 3], [7, 5, 7], gains=[2, 1, 2])
    assert rows(match([[7, 5]], graded)) == [([1, 2], 2, 2)]
    assert match([[7, 5]], graded).relevant.ideal_gains.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("gains", "options"),
    [([1, 2], {}), ([1, 0], {}), ([0, 1], {}), ([1, 3], {"relevant_from": 2}), ([0.5, 1], {})],
)
def test_two_grades_for_one_item(gains, options):
    truths = Lists([0, 1, 5], [4, 3, 3, 7, 7], gains=[1, 1, 1, *gains])
    with pytest.raises(ValueError, match=r"user 1 has item 7 twice.*different grades"):
        match_by_words([[4], [7]], truths, **options)


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf, np.float32(math.inf)])
def test_impossible_grades(bad):
    number = str(float(bad))
    for ranks, truths, named in (
        ([[7, 8]], [{7: 1, 8: bad}], "user 0, item 8"),
        (["x"], {"x": bad}, "user 0, item 'x'"),
        ({"ann": ["x"]}, {"ann": {"y": 1, "x": bad}}, "user 'ann', item 'x'"),
        ([[1], [2]], Lists([0, 1, 2], [1, 2], gains=[1, bad]), "user 1, item 2"),
    ):
        with pytest.raises(ValueError, match=rf"{named}: grade {number}; .*finite"):
            match(ranks, truths)


@pytest.mark.parametrize("bad", ["a", None, [1], {1}])
def test_grades_that_are_no_numbers(bad):
    with pytest.raises(TypeError, match=r"ground_truths: grade .* not a number"):
        match([[7]], [{7: bad}])


@pytest.mark.parametrize("door", DOORS)
def test_relevant_from_needs_grades(door):
    for ranks, truths in (([7], {7}), ([[7]], [[7]]), ([[7]], [7]), ({"a": [7]}, {"a": [7]})):
        with pytest.raises(ValueError, match="relevant_from=2 needs ground truths with grades"):
            door(ranks, truths, relevant_from=2)


@pytest.mark.parametrize("bad", [-1, NAN, "2", [1]])
def test_relevant_from_is_a_grade(bad):
    with pytest.raises(ValueError, match=r"relevant_from=.*: give a grade, 0 or more"):
        match([[7]], [{7: 1}], relevant_from=bad)


def test_grades_whose_squares_overflow():
    for ranks, truths, gains, words in (
        ([["a", "b"]], [{"a": 1, "b": 1e308}], "linear", r"user 0, item 'b': grade 1e\+308 is too"),
        (
            {"u": ["b"]},
            {"u": {"b": 1e200}},
            "linear",
            "user 'u', item 'b': grade 1e.200 is too large",
        ),
        (["a"], {"a": 600}, "exponential", r"2\^grade of grade 600 is too large.*gains='linear'"),
        ([[7]], [{7: 1, 8: 2000}], "exponential", "user 0, item 8.*2000"),
    ):
        with pytest.raises(ValueError, match=words):
            tl.curves(
                "ndcg", ranks, truths, convention=tl.CONVENTIONS["standard"].replace(gains=gains)
            )
    with pytest.raises(ValueError, match="Hits: grades must be finite, and gain at most 1e.140"):
        tl.Hits([0, 1], [1], [1], [1], grades=[1e200], truth_grades=[1e200])
    result = tl.top_k_eval([["a"], ["b"]], [{"a": 1e140}, {"c": 1e140}], 1, metrics="dcg")
    assert np.isfinite(result.std("dcg@1")) and result["dcg@1"] == 5e139


@pytest.mark.parametrize("grade", [1e-17, 5e-324, 1e-4])
def test_exponential_gains_of_small_grades(grade):
    assert tl.curves(
        "ndcg",
        ["a"],
        {"a": grade},
        convention=tl.CONVENTIONS["standard"].replace(gains="exponential"),
    ).tolist() == [1.0]
    gain = tl.match(
        ["a"], {"a": grade}, convention=tl.CONVENTIONS["standard"].replace(gains="exponential")
    ).relevant.gains[0]
    assert gain == pytest.approx(grade * np.log(2), rel=1e-3) or grade == 5e-324


def test_ordinary_gains_keep_their_bits():
    for grade in (0.001, 0.01, 0.5, 1.5, 3.0, 10.0):
        gain = tl.match(
            ["a"], {"a": grade}, convention=tl.CONVENTIONS["standard"].replace(gains="exponential")
        ).relevant.gains[0]
        assert gain == np.exp2(grade) - 1


SPAM = {"q": {"a": 2, "b": -2, "c": 0, "d": -0.5}}
LISTED = {"q": ["b", "a", "c", "u", "d"]}  # nobody judged u


def negative_forms(folder):
    """Return the truth of `SPAM` in every form."""
    pandas = pytest.importorskip("pandas")
    row, columns = SPAM["q"], ("user_id", "item_id", "relevance")
    frame = pandas.DataFrame([("q", *pair) for pair in row.items()], columns=columns)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "t.parquet")
    lines = (f"q 0 {item} {grade}\n" for item, grade in row.items())
    (folder / "t.qrels").write_text("".join(lines))
    return {
        "dict": SPAM,
        "Series": pandas.Series(SPAM),
        "Decimals": {"q": {item: Decimal(str(grade)) for item, grade in row.items()}},
        "pandas": frame,
        "pandas of lists": pandas.DataFrame([["q", [*row], [*row.values()]]], columns=columns),
        "polars": pytest.importorskip("polars").from_pandas(frame),
        "arrow": pytest.importorskip("pyarrow").Table.from_pandas(frame),
        **{end: folder / f"t.{end}" for end in ("csv", "jsonl", "parquet", "qrels")},
    }


def test_an_item_below_0_is_judged_and_not_relevant_in_every_form(tmp_path):
    names = ["ndcg", "cg", "map", "recall", "judged"]
    # of b, a, c, u, d only a is relevant, at rank 2; all but u are judged
    discount = 1 / math.log2(3)
    expected = {"ndcg@5": discount, "cg@5": 2, "map@5": 0.5, "recall@5": 1, "judged@5": 0.8}
    for form, truths in negative_forms(tmp_path).items():
        for gains in ("linear", {1: 1, 2: 2}):
            result = tl.top_k_eval(
                LISTED,
                truths,
                5,
                metrics=names,
                convention=tl.CONVENTIONS["standard"].replace(gains=gains),
            )
            assert result.to_dict() == pytest.approx(expected, abs=1e-15), form
        powers = tl.top_k_eval(
            LISTED,
            truths,
            5,
            metrics=["cg", "ndcg"],
            convention=tl.CONVENTIONS["standard"].replace(gains="exponential"),
        )
        assert powers.to_dict() == pytest.approx({"cg@5": 3, "ndcg@5": discount}), form
        from_0 = tl.top_k_eval(LISTED, truths, 5, metrics="recall", relevant_from=0)
        assert from_0["recall@5"] == 1 and from_0.hits.n_relevant.tolist() == [2], form
    by_position = tl.inputs.Lists.from_matrix([[2, -2, 0, -0.5]])
    assert (
        tl.curves("judged", [[1, 0, 2, 4, 3]], by_position)[0, -1] == 0.6
    )  # an entry of 0 says nothing


def test_an_item_below_0_has_no_part_in_bpref_nor_where_unjudged_items_leave(tmp_path):
    # trec_eval takes what is below 0 for unjudged: "in pool, but unjudged", form_res_rels.c and
    # m_bpref.c of usnistgov/trec_eval
    truth = {"q": {"a": 1, "b": -2, "c": 0, "d": 2, "e": 0}}
    lists = {"q": ["b", "c", "a", "b2", "d"]}
    options = {"k": 5, "metrics": ["bpref", "precision", "judged"]}
    found = by_words(lists, truth, **options)
    # c is above both hits, and one of N = 2 items judged 0; b is none of them
    assert found["bpref"] == pytest.approx((1 - 1 / 2 + 1 - 1 / 2) / 2)
    assert found["judged@5"] == 0.8
    closed = by_words(lists, truth, unjudged="drop", **options)
    assert closed["precision@5"] == 2 / 5 and closed["judged@5"] == 0.8
    hits = closed.hits.relevant
    assert hits.ranks.tolist() == [2, 3] and hits.n_listed.tolist() == [3]


def test_what_is_judged_below_0_is_not_judged_again():
    assert [row.item for row in tl.annotating.unjudged({"m": LISTED}, SPAM, k=5)] == ["u"]


def test_parts_with_and_without_items_below_0_add_up(tmp_path):
    lists = dict.fromkeys(("q", "r", "s"), LISTED["q"])
    truths = SPAM | {"r": {"a": 1, "c": 0}, "s": {"a": 1, "u": 3}}
    options = {"k": [2, 5], "metrics": ["judged", "bpref", "ndcg"]}
    for unjudged in ("miss", "drop"):
        parts = [
            by_words({u: lists[u]}, {u: truths[u]}, unjudged=unjudged, **options) for u in "qr"
        ]
        both = ({u: one[u] for u in "qr"} for one in (lists, truths))
        some = by_words(*both, unjudged=unjudged, **options)
        assert sum(parts).to_dict() == pytest.approx(some.to_dict())
        whole = by_words(lists, truths, unjudged=unjudged, **options)
        path = tmp_path / f"{unjudged}.npz"
        whole.save(path)
        assert tl.TopKResult.load(path).to_dict() == whole.to_dict()
        assert whole.per_user("judged@5").tolist() == [0.8, 0.4, 0.4]


ITEMS = ["x", "y", "z", "w"]
# The same values, as people hold them: of one type, or of several beside each other.
WRITTEN = {
    "floats": [3.0, 0.5, 1.0, 0.0],
    "ints and floats": [3, 0.5, 1, 0],
    "Decimals": [Decimal(3), Decimal("0.5"), Decimal(1), Decimal(0)],
    "Decimals, ints and floats": [3, Decimal("0.5"), 1.0, 0],
    "objects of numpy": np.array([3, 0.5, 1, 0], object),
    "numbers of numpy": [np.int64(3), np.float32(0.5), 1, np.float16(0)],
}


def _lists(given, make):
    return make({"user_id": ["a", "b"], "item_id": [ITEMS, ["x"]], "relevance": given})


def _long(given, make):
    grades = [*given[0], *given[1]]
    return make({"user_id": [*"aaaab"], "item_id": [*ITEMS, "x"], "relevance": grades})


def _pandas(given, shape):
    pandas = pytest.importorskip("pandas")
    return shape(given, lambda columns: pandas.DataFrame(columns, dtype=object))


def _polars(given, shape):
    # it looks at the first value of numpy alone, and would make the others integers
    given = [[one.item() if hasattr(one, "item") else one for one in row] for row in given]
    return shape(given, partial(pytest.importorskip("polars").DataFrame, strict=False))


def _arrow(given, shape):
    decimals = any(isinstance(one, Decimal) for one in given[0])
    kind = Decimal if decimals else float  # a column of Arrow is of one type
    given = [[kind(one) for one in row] for row in given]
    return shape(given, pytest.importorskip("pyarrow").table)


def _parquet(given, shape, folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(_arrow(given, shape), folder / "truth.parquet")
    return folder / "truth.parquet"


def _jsonl(given, shape, folder):
    columns = shape([[json.loads(str(one)) for one in row] for row in given], dict)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "truth.jsonl"


def _csv(given, shape, folder):
    columns = _long(given, dict)
    lines = [",".join(map(str, row)) + "\n" for row in zip(*columns.values(), strict=True)]
    (folder / "truth.csv").write_text("user_id,item_id,relevance\n" + "".join(lines))
    return folder / "truth.csv"


FRAMES = {"pandas": _pandas, "polars": _polars, "arrow": _arrow}
FILES = {"parquet": _parquet, "jsonl": _jsonl, "csv": _csv}


@pytest.mark.parametrize("written", WRITTEN)
def test_a_grade_is_its_value_in_every_form(written, tmp_path):
    ranks, k = {"a": ["y", "q", "x", "w", "z"], "b": ["x"]}, 5
    grades, other = WRITTEN[written], [Decimal(2) if written == "Decimals" else 2]
    by_item = {"a": dict(zip(ITEMS, grades, strict=True)), "b": {"x": other[0]}}
    # y 0.5 at rank 1, x 3 at rank 3, z 1 at rank 5; the ideal list has 3, 1, 0.5
    gain = [0.5, 0.5, 0.5 + 3 / 2, 0.5 + 3 / 2, 0.5 + 3 / 2 + 1 / math.log2(6)]
    ideal = [3, 3 + 1 / math.log2(3), *[3 + 1 / math.log2(3) + 0.5 / 2] * 3]
    flat = tl.inputs.Lists([0, 4, 5], [*ITEMS, "x"], gains=[*grades, *other])
    forms = {"dict": by_item, "Lists": flat}
    for shape in (_lists, _long):
        for name, make in FRAMES.items():
            forms[f"{name}{shape.__name__}"] = make([grades, other], shape)
    expected = tl.ndcg(ranks, {"a": {"x": 3.0, "y": 0.5, "z": 1.0, "w": 0.0}, "b": {"x": 2.0}})
    np.testing.assert_allclose(expected[0], np.divide(gain, ideal), rtol=1e-12)
    for name, truths in forms.items():
        hits = match(list(ranks.values()) if name == "Lists" else ranks, truths, k)
        assert hits.relevant.ideal_gains.tolist() == [3, 1, 0.5, 2], name
        assert tl.ndcg(hits).tobytes() == expected.tobytes(), name
    (tmp_path / "ranks.jsonl").write_text(
        "".join(json.dumps({"user_id": u, "item_id": row}) + "\n" for u, row in ranks.items())
    )
    for name, write in FILES.items():
        for shape in (_lists, _long):
            truths = write([grades, other], shape, tmp_path)
            options = {"metrics": "ndcg", "keep": "users"}
            result = by_words(tmp_path / "ranks.jsonl", truths, [*range(1, k + 1)], **options)
            assert result.per_user("ndcg").tobytes() == expected.tobytes(), name


def test_a_rank_in_a_list_of_ints_and_floats_is_its_value():
    pandas = pytest.importorskip("pandas")
    ranks = {"user_id": ["a"], "item_id": [["y", "z", "x"]], "rank": [[2, 3.0, 1]]}
    truth = pandas.DataFrame({"user_id": ["a"], "item_id": ["x"]})
    assert match(pandas.DataFrame(ranks), truth).ranks.tolist() == [1]


def test_lists_of_grades_that_are_no_numbers_are_refused():
    pandas = library("pandas")
    table = {"user_id": ["u"], "item_id": [["a", "b"]], "relevance": [["high", None]]}
    with pytest.raises(TypeError, match="'relevance' must hold lists of numbers"):
        tl.match({"u": ["a"]}, pandas.DataFrame(table))
