"""Spark: the bits of a local run, whatever the partitions; errors in one line on the driver."""

import os
import subprocess
import sys
from decimal import Decimal
from functools import partial

import numpy as np
import pytest

import toplist as tl

# TOPLIST_SPARK=1: then pyspark and Java have to be there; =connect: all tests run over Connect
if os.environ.get("TOPLIST_SPARK"):
    import pyspark
else:
    pyspark = pytest.importorskip("pyspark")
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")

from doors import by_words
from pyspark.sql import functions

from toplist import beyond

# pyspark's own: of newer pandas, of sockets that it leaves open
pytestmark = pytest.mark.filterwarnings("ignore")

K = [1, 10]
NAMES = ["hit", "precision", "recall", "map", "ndcg", "mrr"]


def lists(text=False, n=120):
    """Return ranked lists and truths by user; some users are on one side only."""
    rng = np.random.default_rng(5)

    def ids(some, letter):
        return [f"{letter}{one}" if text else int(one) for one in some]

    users = ids(range(n), "u")
    ranks = {u: ids(rng.permutation(80)[:15], "i") for u in users[:-4]}
    truth = {u: ids(rng.permutation(80)[: 1 + rng.integers(6)], "i") for u in users[3:]}
    return ranks, truth


def rows_of(ranks, truth, seed=0):
    """Return both sides as rows in no order."""
    rng = np.random.default_rng(seed)
    recs = [(u, i, r) for u, some in ranks.items() for r, i in enumerate(some, start=1)]
    relevant = [(u, i) for u, some in truth.items() for i in some]
    return ([some[at] for at in rng.permutation(len(some))] for some in (recs, relevant))


def frames(session, ranks, truth, user="bigint", item="bigint", seed=0):
    recs, relevant = rows_of(ranks, truth, seed)
    return (
        session.createDataFrame(recs, f"user_id {user}, item_id {item}, rank int"),
        session.createDataFrame(relevant, f"user_id {user}, item_id {item}"),
    )


def same(found, expected):
    for name in expected.names():
        assert found[name] == expected[name]
        assert found.std(name) == pytest.approx(expected.std(name), rel=1e-12)
    for count in ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra"):
        assert getattr(found, count) == getattr(expected, count)


@pytest.mark.parametrize("partitions", [None, 1, 2, 7, 200])
def test_the_bits_of_a_local_run(session, partitions):
    ranks, truth = lists()
    sides = frames(session, ranks, truth)
    found = by_words(*sides, K, metrics=NAMES, partitions=partitions)
    same(found, tl.top_k_eval(ranks, truth, K, metrics=NAMES))
    assert found.hits is None


@pytest.mark.parametrize("label", ["string", "bigint"])
def test_groups(session, label):
    ranks, truth = lists()
    groups = {user: [some[:2], some[1:]] if some[1:] else [some] for user, some in truth.items()}
    rows = [
        (user, item, at if label == "bigint" else f"g{at}")
        for user, some in groups.items()
        for at, group in enumerate(some)
        for item in group
    ]
    recs, _ = frames(session, ranks, truth)
    table = session.createDataFrame(rows, f"user_id bigint, item_id bigint, nugget {label}")
    names = ["group_recall", "alpha_ndcg", "recall"]
    expected = tl.top_k_eval(ranks, tl.Groups(groups), K, metrics=names)
    kept = tl.GroundTruths(tl.Groups(groups))
    for relevant, columns in ((table, {"group": "nugget"}), (kept, None)):
        found = tl.top_k_eval(recs, relevant, K, metrics=names, columns=columns)
        assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)
        assert found.std("alpha_ndcg") == pytest.approx(expected.std("alpha_ndcg"), rel=1e-12)
    graded = table.selectExpr("*", "1.0 as relevance")
    with pytest.raises(ValueError, match="grades, column 'relevance', beside groups, 'nugget'"):
        tl.top_k_eval(recs, graded, K, columns={"group": "nugget"})


def test_int_beside_bigint_and_text(session):
    ranks, truth = lists()
    recs, relevant = frames(session, ranks, truth)
    narrow = recs.selectExpr("cast(user_id as int) user_id", "cast(item_id as int) item_id", "rank")
    same(tl.top_k_eval(narrow, relevant, K), tl.top_k_eval(ranks, truth, K))
    ranks, truth = lists(text=True)
    sides = frames(session, ranks, truth, "string", "string")
    same(tl.top_k_eval(*sides, K), tl.top_k_eval(ranks, truth, K))


@pytest.mark.parametrize("text", [False, True])
def test_chunks_of_documents_and_repeats(session, text):
    ranks, truth = lists(text)
    sides = frames(session, ranks, truth, *(("string", "string") if text else ()))
    items = {item for some in (*ranks.values(), *truth.values()) for item in some}
    chunks = {item: f"d{hash(item) % 9}" if text else int(item) % 9 for item in sorted(items)}
    expected = tl.top_k_eval(ranks, truth, K, items_as=chunks)
    same(by_words(*sides, K, items_as=chunks, partitions=3), expected)
    look = lambda ids: [chunks[one] for one in list(ids)]  # noqa: E731
    same(by_words(*sides, K, items_as=look, partitions=3), expected)
    repeated = {user: [item for item in some for _ in "12"] for user, some in ranks.items()}
    kinds = ("string", "string") if text else ()
    both = frames(session, repeated, truth, *kinds)
    found = by_words(*both, K, duplicates="collapse", partitions=3)
    same(found, tl.top_k_eval(ranks, truth, K))


def test_columns_of_lists_with_empty_ones(session):
    ranks, truth = lists()
    ranks[7], truth[8] = [], []
    recs = session.createDataFrame(list(ranks.items()), "user_id bigint, item_id array<bigint>")
    relevant = session.createDataFrame(list(truth.items()), "user_id int, item_id array<int>")
    expected = tl.top_k_eval(ranks, truth, K)
    same(tl.top_k_eval(tl.spark.Ranks(recs, partitions=3), relevant, K), expected)
    long = frames(session, *lists())[0].where("user_id <> 7")
    mixed = tl.top_k_eval(long, relevant, K)
    assert mixed["ndcg@10"] == expected["ndcg@10"] and mixed.n_missing == expected.n_missing
    alone = tl.top_k_eval(recs, relevant.where("user_id = 7"), K)  # with an empty list
    assert (alone.n_missing, alone.n_extra) == (1, len(ranks) - 1)


@pytest.mark.parametrize("text", [False, True])
def test_kept_ground_truths(session, text):
    ranks, truth = lists(text=text)
    truth[next(iter(truth))] = []
    recs, _ = frames(session, ranks, truth, *(("string", "string") if text else ()))
    kept = tl.GroundTruths(truth)
    same(tl.top_k_eval(tl.spark.Ranks(recs, partitions=2), kept, K), tl.top_k_eval(ranks, truth, K))
    graded = {
        user: {item: place for place, item in enumerate(some)} for user, some in truth.items()
    }
    found = tl.top_k_eval(recs, tl.GroundTruths(graded), K, relevant_from=2)
    expected = tl.top_k_eval(ranks, graded, K, relevant_from=2)
    for name in expected.names():  # values by grades are added in another order
        assert found[name] == pytest.approx(expected[name], rel=1e-14)
    of_spark = tl.GroundTruths(frames(session, ranks, truth)[1]) if not text else None
    if of_spark is not None:
        assert tl.top_k_eval(ranks, of_spark, 3)["hit@3"] > 0
    with pytest.raises(TypeError, match="^ground_truths have no users"):
        tl.top_k_eval(recs, tl.GroundTruths([[1]]), K)


def test_grades_thresholds_and_columns(session):
    ranks, truth = lists()
    grades = {u: {i: 1 + i % 4 for i in some} for u, some in truth.items()}
    recs, _ = frames(session, ranks, truth)
    rows = [(u, i, float(g)) for u, some in grades.items() for i, g in some.items()]
    graded = session.createDataFrame(rows, "u bigint, item_id bigint, relevance double")
    options = {"metrics": ["ndcg", "recall"], "relevant_from": 2, "gains": "exponential"}
    found = by_words(recs, graded, K, columns={"ground_truths": {"user_id": "u"}}, **options)
    expected = by_words(ranks, grades, K, **options)
    for name in expected.names():
        assert found[name] == pytest.approx(expected[name], rel=1e-12)


@pytest.mark.parametrize("misses", [True, False])
def test_unjudged_items_leave_the_lists(session, misses):
    """No worker knows whether others have a miss among the judged."""
    ranks, truth = lists()
    grades = {u: {i: 1 + i % 3 for i in some} for u, some in truth.items()}
    if misses:  # of one user only
        grades[7] = dict.fromkeys(ranks[7][1::2], 0) | {ranks[7][2]: 1}
    systems = {"a": ranks, "b": {u: some[::-1] for u, some in ranks.items()}}
    rows = [(m, u, i, r) for m, one in systems.items() for u, some in one.items()
            for r, i in enumerate(some, start=1)]  # fmt: skip
    recs = session.createDataFrame(rows, "model string, user_id bigint, item_id bigint, rank int")
    graded = [(u, i, float(g)) for u, row in grades.items() for i, g in row.items()]
    relevant = session.createDataFrame(graded, "user_id bigint, item_id bigint, relevance double")
    options = {"k": K, "metrics": ["hit", "precision", "recall"], "unjudged": "drop"}
    if not misses:
        with pytest.raises(ValueError, match="needs judged items that are not relevant"):
            by_words(recs, relevant, system="model", **options)
        return
    found = by_words(recs, relevant, system="model", **options)
    local = {name: by_words(one, grades, **options) for name, one in systems.items()}
    for name, expected in local.items():
        same(found[name], expected)
        share = pytest.approx(expected.judged_share()[1], rel=1e-12)
        assert found[name].judged_share() == ("judged@10", share)
        assert "before unjudged" in str(found[name])
    tests = [tl.compare(one).test(method="t")["precision@10"] for one in (found, local)]
    assert tests[0].p == pytest.approx(tests[1].p)


def test_tied_scores_have_one_value_in_any_layout(session):
    ranks, truth = lists()
    rows = [(u, i, float(r // 4)) for u, i, r in next(iter(rows_of(ranks, truth)))]
    table = {"user_id": [], "item_id": [], "score": []}
    for row in rows:
        for name, value in zip(table, row, strict=True):
            table[name].append(value)
    import pandas as pd

    expected = tl.top_k_eval(tl.Ranks(pd.DataFrame(table), ties="item"), truth, 10, metrics="ndcg")[
        "ndcg@10"
    ]
    relevant = frames(session, ranks, truth)[1]
    for seed, partitions in ((1, 1), (2, 3), (3, 5), (4, None)):
        order = np.random.default_rng(seed).permutation(len(rows))
        recs = session.createDataFrame(
            [rows[at] for at in order], "user_id bigint, item_id bigint, score double"
        ).repartition(seed)
        found = tl.top_k_eval(
            tl.spark.Ranks(recs, partitions=partitions), relevant, 10, metrics="ndcg"
        )
        assert found["ndcg@10"] == expected
        assert "equal scores by item id, ascending" in str(found)


def test_systems_are_evaluated_beside_each_other(session):
    ranks, truth = lists()
    other = {u: some[::-1] for u, some in list(ranks.items())[::2]}
    recs = [
        (name, u, i, r)
        for name, side in (("knn", ranks), ("ease", other))
        for u, some in side.items()
        for r, i in enumerate(some, start=1)
    ]
    both = session.createDataFrame(recs, "model string, user_id bigint, item_id bigint, rank int")
    relevant = frames(session, ranks, truth)[1]
    found = tl.top_k_eval(tl.spark.Ranks(both, partitions=5), relevant, K, system="model")
    assert list(found) == ["ease", "knn"]
    same(found["knn"], tl.top_k_eval(ranks, truth, K))
    same(found["ease"], tl.top_k_eval(other, truth, K))
    assert "ease" in str(tl.compare(found))
    flags = both.selectExpr("model = 'knn' as model", "user_id", "item_id", "rank")
    assert (
        tl.top_k_eval(flags, relevant, K, system="model")["true"]["ndcg@10"]
        == (found["knn"]["ndcg@10"])
    )
    lacking = both.selectExpr("nullif(model, 'knn') model", "user_id", "item_id", "rank")
    with pytest.raises(
        ValueError, match="ranks: the column 'model' of systems is null in some rows"
    ):
        tl.top_k_eval(lacking, relevant, K, system="model")


def of_systems(text=False):
    """Return four systems and the truth: twins, one that lacks users, and one that differs."""
    ranks, truth = lists(text)
    moved = {u: some[::-1] if n % 3 else some for n, (u, some) in enumerate(ranks.items())}
    fewer = {u: some for n, (u, some) in enumerate(moved.items()) if n % 5}
    return {"ease": ranks, "fewer": fewer, "knn": moved, "twin": ranks}, truth


def frames_of_systems(session, systems, truth, kind="bigint"):
    rows = [
        (name, u, i, r)
        for name, side in systems.items()
        for u, some in side.items()
        for r, i in enumerate(some, start=1)
    ]
    schema = f"model string, user_id {kind}, item_id {kind}, rank int"
    return session.createDataFrame(rows, schema), frames(session, {}, truth, kind, kind)[1]


def same_tests(found, expected):
    """Check that two comparisons have the same tests, bands and marks."""
    assert str(found) == str(expected)
    for one, other in zip(found.test(), expected.test(), strict=True):
        for field, value in vars(other).items():
            if isinstance(value, float):
                value = pytest.approx(value, rel=1e-12, abs=1e-15, nan_ok=True)
            assert getattr(one, field) == value, field
    band, other = found.band("ndcg", system="ease"), expected.band("ndcg", system="ease")
    for field in ("difference", "error", "low", "high", "low_all", "high_all"):
        assert getattr(band, field) == pytest.approx(getattr(other, field), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("partitions", [None, 1, 7, 70])
def test_systems_are_tested_as_in_a_local_run(session, partitions):
    systems, truth = of_systems(text=partitions == 7)
    kind = "string" if partitions == 7 else "bigint"
    sides = frames_of_systems(session, systems, truth, kind)
    options = {"k": K, "metrics": ["ndcg", "recall"]}
    found = by_words(*sides, system="model", partitions=partitions, **options)
    local = {name: by_words(some, truth, **options) for name, some in systems.items()}
    for name, one in local.items():
        same(found[name], one)
    same_tests(tl.compare(found, baseline="knn"), tl.compare(local, baseline="knn"))
    twins = tl.compare(found).test()["twin", "ease", "ndcg@10"]
    assert (twins.difference, twins.error, twins.p, twins.ties) == (0.0, 0.0, 1.0, len(truth))


def test_systems_that_count_other_users(session):
    systems, truth = of_systems()
    sides = frames_of_systems(session, systems, truth)
    options = {"k": K, "metrics": ["ndcg", "recall"], "missing": "skip"}
    plain = by_words(*sides, system="model", paired=False, **options)
    with pytest.raises(ValueError, match="users of .* unknown|holds no hits|without"):
        tl.compare(plain, baseline="knn").test()
    found = by_words(*sides, system="model", partitions=3, **options)
    assert [one["ndcg@10"] for one in plain.values()] == [one["ndcg@10"] for one in found.values()]
    both = tl.compare(found, baseline="knn")
    assert "NOT TESTED against knn" in str(both)
    with pytest.raises(ValueError, match="count other users: 23 are .* users='common' tests over"):
        both.test()
    local = {name: by_words(some, truth, **options) for name, some in systems.items()}
    expected = tl.compare(local, baseline="knn").test(users="common")
    for one, other in zip(both.test(users="common"), expected, strict=True):
        assert (one.n, one.wins, one.losses) == (other.n, other.wins, other.losses)
        assert one.p == pytest.approx(other.p, rel=1e-12)


def test_a_user_of_many_items_and_a_size_that_does_not_grow(session):
    ranks, truth = {0: list(range(1_000_000)), 1: [5]}, {0: {7, 100_000}, 1: {5}}
    recs = session.range(1_000_000).selectExpr("0L user_id", "id item_id", "int(id + 1) rank")
    one = session.createDataFrame([(1, 5, 1)], "user_id bigint, item_id bigint, rank int")
    relevant = session.createDataFrame([(0, 7), (0, 100_000), (1, 5)], "user_id long, item_id long")
    found = tl.top_k_eval(tl.spark.Ranks(recs.union(one), partitions=2), relevant, 10)
    same(found, tl.top_k_eval(ranks, truth, 10))


A, B = "ranks", "ground_truths"
COLUMNS = [  # of one side, what they become, the error
    (A, ["user_id", "item_id", "2 rank"], "^ranks: user [0-9]+ has ranks 2, 2"),
    (
        A,
        ["user_id", "nullif(item_id, 5) item_id", "rank"],
        "^ranks: column .*item_id. is null in a row",
    ),
    (
        A,
        ["user_id", "item_id", "nullif(rank, 3) rank"],
        "^ranks: column .*rank.* null in a row .user",
    ),
    (A, ["user_id", "item_id", "rank + 0.5 rank"], "ranks: user .* rank [0-9.]+, which is not wh"),
    (A, ["user_id", "item_id", "rank - 1 rank", "1 day"], "user .* 0, 1, .*; ranks start at 1$"),
    (
        A,
        ["user_id", "array(item_id) item_id"],
        "^ranks: user .* has several lists where a user has one",
    ),
    (
        A,
        ["user_id", "nullif(array(1L), array(1L)) item_id"],
        "^ranks: column .*item_id. is null in a row",
    ),
    (
        B,
        ["user_id", "item_id", "cast(null as int) relevance"],
        "^ground_.*relevance.* null in a row",
    ),
    (
        B,
        ["user_id % 3 user_id", "array(item_id) item_id"],
        "^ground_truths: .* where a user has on",
    ),
    (
        *(B, ["user_id + 1000 user_id", "item_id"]),
        "^no user is in both: ranks has [0-9]+, ground_truths has 1[0-9]+; are the user ids",
    ),
    (
        B,
        [
            "user_id * 99 + item_id user_id",
            "array(item_id) item_id",
            "nullif(array(1), array(1)) relevance",
        ],
        "^ground_truths: column .relevance. is null in a row .user [0-9]+.: write \\[\\]$",
    ),
]
CHANGES = [  # of both sides, the error
    (lambda r, t: (r.drop("rank"), t), "no column 'rank' or 'score'"),
    (lambda r, t: (r, t.drop("item_id")), "no column 'item_id', .*; columns found"),
    (lambda r, t: (r.union(r), t), "user [0-9]+ has ranks 1, 1, 2, 2"),
    (lambda r, t: (r.limit(0), t), "^ranks has no rows$"),
    (lambda r, t: (r, t.limit(0)), "^ground_truths has no rows$"),
    (
        lambda r, t: (r.selectExpr("user_id", "array(item_id, null) item_id").limit(1), t),
        "^ranks: column .item_id. holds a null in the list of a row .user [0-9]+.",
    ),
    (
        lambda r, t: (r, of_lists(t, "array(1, 2) relevance").limit(9)),
        "^ground_truths: column .relevance. must hold a list per user, as long as",
    ),
    (
        lambda r, t: (r.withColumn("rank", 2 * r["rank"]), t),
        r'ranks.withColumn\("score", -ranks\["rank"\]\).drop\("rank"\)$',
    ),
    (
        lambda r, t: (r.selectExpr("*", "'knn' model").unionAll(r.selectExpr("*", "'b'")), t),
        "^ranks: user [0-9]+ has ranks 1, 1, .* several systems, .*: system='model'$",
    ),
    (
        lambda r, t: (scored(r, "'knn' model").union(scored(r, "'b'")), t),
        "^ranks: user [0-9]+ has item [0-9]+ at ranks 1 and 2: .* system='model'$",
    ),
]


def scored(frame, *more):
    return frame.selectExpr("user_id", "item_id", "1 score", *more)


def of_lists(frame, *more):
    return frame.selectExpr("user_id", "array(item_id) item_id", *more)


def in_one_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("side", "columns", "words"), COLUMNS)
def test_errors_of_columns_are_one_line_on_the_driver(session, side, columns, words):
    sides = dict(zip((A, B), frames(session, *lists()), strict=True))
    sides[side] = sides[side].selectExpr(*columns)
    wrong = ValueError, TypeError
    in_one_line(lambda: by_words(k=10, partitions=3, **sides), wrong, words)


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_errors_are_one_line_on_the_driver(session, change, words):
    sides = change(*frames(session, *lists()))
    in_one_line(lambda: by_words(*sides, 10, partitions=3), ValueError, words)


OWN = tl.Metric("early", "each", lambda ranks: 2.0**-ranks, lambda k, R, n: k)
OPTIONS_REFUSED = [
    ({"ties": "order"}, ValueError, "rows of Spark have no order"),
    ({"duplicates": "frist"}, ValueError, "did you mean 'first'"),
    ({"gains": "squared"}, ValueError, "gains='squared'"),
    ({"partitions": "4"}, ValueError, "partitions must be a whole number"),
    ({"partitions": 0}, ValueError, "partitions must be at least 1"),
    ({"k": None}, ValueError, "hit needs a k, .* give k=10, or 'hit@10'"),
    ({"metrics": "novelty"}, ValueError, "novelty is a metric of the lists"),
    ({"system": ["m"]}, TypeError, "give the name of one column of ranks"),
    ({"system": "m"}, ValueError, r"^ranks: no column 'm'; columns found: \['user"),
]
SIDES_REFUSED = [  # all but one are TypeErrors
    (lambda r, t: ("recs", t), r"ranks is 'recs': .* spark.table\('NAME'\)|is a Spark"),
    (lambda r, t: (r, [1]), "ground_truths is a builtins.list: .* DataFrames of Spark|is a Spark"),
    (lambda r, t: (r.select("*", "rank"), t), "ranks: two columns are named 'rank'"),
    (
        lambda r, t: (r.selectExpr("user_id", "item_id", "'abc' score"), t),
        "ranks: 'score' is string: a score is a number",
    ),
    (
        lambda r, t: (r, t.selectExpr("*", "true relevance")),
        "ground_truths: 'relevance' is boolean: a relevance is a number",
    ),
    (
        lambda r, t: (r.selectExpr("double(user_id) user_id", "item_id", "rank"), t),
        "'user_id' is double: ids are whole numbers or text",
    ),
    (
        lambda r, t: (of_lists(r, "1 rank"), t),
        "'rank' is int, 'item_id' array<bigint>: give both as lists",
    ),
    (
        lambda r, t: (r, of_lists(t, "1 relevance")),
        "ground_truths: 'relevance' is int, 'item_id' array<bigint>: give both",
    ),
    (
        lambda r, t: (r, t.selectExpr("string(user_id) user_id", "item_id")),
        'user_id holds whole numbers in ranks and text in ground_truths.*cast\\("bigint"\\)',
    ),
    (
        lambda r, t: (r, of_lists(t.selectExpr("user_id", "string(item_id) item_id"))),
        r'item_id holds whole numbers .*cast\("array<bigint>"\)',
    ),
]


def test_what_is_refused_before_any_job(session):
    sides = tuple(frames(session, *lists(n=9)))
    for options, error, words in OPTIONS_REFUSED:
        in_one_line(partial(by_words, *sides, **{"k": 10, **options}), error, words)
    for change, words in SIDES_REFUSED:
        error = ValueError if "two columns" in words else TypeError
        in_one_line(partial(tl.top_k_eval, *change(*sides), k=10), error, words)


def test_a_function_of_ones_own_is_refused(session):
    sides = frames(session, *lists(n=9))
    with pytest.raises(ValueError, match="metric 'early' has a function .*: collect the DataFr"):
        tl.top_k_eval(*sides, 10, metrics=["ndcg", OWN])


def test_values_of_users_are_gone():
    with pytest.raises(AttributeError, match=r"recs\.toArrow\(\)"):
        tl.spark.per_user  # noqa: B018


def test_errors_of_systems_name_them(session):
    systems, truth = of_systems()
    recs, relevant = frames_of_systems(session, systems, truth)
    strange = recs.selectExpr(
        "model", "user_id + if(model = 'knn', 999, 0) user_id", "item_id", "rank"
    )
    wrong = recs.selectExpr("model", "user_id", "item_id", "if(model = 'knn', 2, rank) rank")
    bad = relevant.selectExpr("*", "cast('inf' as double) relevance")
    with pytest.raises(ValueError, match="^ground_truths: user [0-9]+, item [0-9]+: grade inf"):
        tl.top_k_eval(tl.spark.Ranks(recs, partitions=2), bad, 10, system="model")
    for some, words in (
        (
            strange,
            "^system 'knn': no user is in both: ranks has 1?[0-9]{3}, ground_truths has [0-9]+;",
        ),
        (wrong, "^system 'knn': ranks: user [0-9]+ has ranks 2, 2"),
        (recs.limit(0), "^ranks has no rows, so no systems$"),
    ):
        with pytest.raises(ValueError, match=words):
            tl.top_k_eval(tl.spark.Ranks(some, partitions=2), relevant, 10, system="model")


# A score beside one that is the same as a double.
CLOSE = [
    ("bigint", 2**53, 2**53 + 1),
]


@pytest.mark.parametrize(("kind", "low", "high"), CLOSE)
def test_scores_that_no_double_tells_apart(session, kind, low, high):
    rows = [(1, 5, low), (1, 6, high), (2, 5, high), (2, 6, low)]
    recs = session.createDataFrame(rows, f"user_id int, item_id int, score {kind}")
    relevant = session.createDataFrame([(1, 6), (2, 5)], "user_id int, item_id int")
    assert tl.top_k_eval(tl.spark.Ranks(recs, partitions=1), relevant, 2)["mrr@1"] == 1.0
    listed = recs.groupBy("user_id").agg(
        *(functions.collect_list(name).alias(name) for name in ("item_id", "score"))
    )
    assert tl.top_k_eval(tl.spark.Ranks(listed, partitions=1), relevant, 2)["mrr@1"] == 1.0


def test_decimal_scores_are_cast(session):
    recs = session.createDataFrame([(1, 5, Decimal(1))], "user_id int, item_id int, score decimal")
    relevant = session.createDataFrame([(1, 5)], "user_id int, item_id int")
    with pytest.raises(TypeError, match=r"frame\['score'\].cast\('double'\)"):
        tl.top_k_eval(tl.spark.Ranks(recs, partitions=1), relevant, 2)


def test_names_of_columns_may_hold_dots(session):
    ranks, truth = lists()
    recs, relevant = frames(session, ranks, truth)
    recs = recs.withColumnsRenamed({"user_id": "a.b", "rank": "at`x"}).selectExpr("*", "1 `m.x`")
    names = {"ranks": {"user_id": "a.b", "rank": "at`x"}}
    found = tl.top_k_eval(
        tl.spark.Ranks(recs, partitions=2), relevant, K, columns=names, system="m.x"
    )
    same(found["1"], tl.top_k_eval(ranks, truth, K))


def test_counts_that_spark_makes_give_the_bits_of_the_lists(session):
    ranks, truth = lists()
    recs, _ = frames(session, ranks, truth)
    rows = recs.where(f"rank <= {max(K)}").groupBy("item_id", "rank").count().collect()
    columns = [list(one) for one in zip(*rows, strict=True)]
    found = beyond.Exposure.from_counts(*columns, n_users=len(ranks), catalogue=100)
    local = beyond.exposure(ranks, max(K), catalogue=100)
    for name in ("item_coverage", "gini", "shannon_entropy"):
        assert tl.curves(name, found).tolist() == tl.curves(name, local).tolist()


CONNECT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
import toplist as tl
session = SparkSession.builder.remote("local[2]").getOrCreate()
rows = [(1, 7, 1), (1, 8, 2), (2, 7, 1)]
recs = session.createDataFrame(rows, "user_id int, item_id int, rank int")
truth = session.createDataFrame([(1, 8), (2, 7)], "user_id bigint, item_id bigint")
print("mrr", tl.top_k_eval(tl.spark.Ranks(recs, partitions=2), truth, k=2)["mrr@2"])
session.stop()
"""


@pytest.mark.skipif(
    os.environ.get("TOPLIST_SPARK") == "connect", reason="all tests run over Connect, on its port"
)
def test_spark_connect(tmp_path):
    pytest.importorskip("grpc")
    done = subprocess.run(
        [sys.executable, "-c", CONNECT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert "mrr 0.75" in done.stdout, done.stderr[-2000:]


def test_a_score_of_ground_truths_is_relevance_under_the_header_of_beir_or_refused(session):
    ranks = session.createDataFrame(
        [("q", "b", 1), ("q", "a", 2)], "user_id string, item_id string, rank int"
    )
    rows = [("q", "a", 3), ("q", "b", 0), ("q", "c", -2)]
    header = "`query-id` string, `corpus-id` string, score int"
    names = {"ground_truths": {"user_id": "query-id", "item_id": "corpus-id"}}
    for columns in (None, names):
        truth = session.createDataFrame(rows, header)
        found = tl.top_k_eval(ranks, truth, 2, metrics=["mrr", "cg"], columns=columns)
        assert found.to_dict() == {"mrr@2": 0.5, "cg@2": 3.0}
    other = session.createDataFrame(rows, "user_id string, item_id string, score int")
    with pytest.raises(ValueError, match="ground_truths: column 'score' is not read"):
        tl.top_k_eval(ranks, other, 2)
    named = {"ground_truths": {"relevance": "score"}}
    found = tl.top_k_eval(ranks, other, 2, metrics="mrr", columns=named)
    assert found.to_dict() == {"mrr@2": 0.5}


@pytest.mark.parametrize("unjudged", ["miss", "drop"])
def test_items_judged_below_0(session, unjudged):
    grades = [("q", "a", 2), ("q", "b", -2), ("q", "c", 0), ("r", "a", 1), ("s", "a", -1)]
    listed = [(u, i, r) for u in "qrs" for r, i in enumerate("bcad", start=1)]
    truth = session.createDataFrame(grades, "user_id string, item_id string, relevance int")
    ranks = session.createDataFrame(listed, "user_id string, item_id string, rank int")
    options = {"metrics": ["judged", "map", "ndcg", "precision"], "unjudged": unjudged}
    local = {u: {i: g for v, i, g in grades if v == u} for u in "qrs"}
    expected = by_words({u: list("bcad") for u in "qrs"}, local, 4, **options)
    found = by_words(ranks, truth, 4, **options)
    assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)
