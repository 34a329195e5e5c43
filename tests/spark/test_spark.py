"""Spark: the bits of a local run, whatever the partitions; errors in one line on the driver.

That options are those of memory is said by the pairs.
"""

import os
import random
import subprocess
import sys
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

import matrix
from doors import by_words, call
from pyspark.sql import functions
from shared_inputs import frame_of, said

from toplist import beyond

# pyspark's own: of newer pandas, of sockets that it leaves open
pytestmark = pytest.mark.filterwarnings("ignore")

K = [1, 10]
NAMES = ["hit", "precision", "recall", "map", "ndcg", "mrr"]


# Pairs of options: a sample as the oracle says, and what is refused on purpose

# What no door but that of files, or of arrays, has words for.
UNSAID = {"whole", "keep", "users"}


def without_bpref(options):
    """Return options as Spark may take them: bpref it never does."""
    return options | {"metrics": [name for name in options["metrics"] if name != "bpref"]}


SAID = [without_bpref(one) for one in matrix.pairs() if UNSAID.isdisjoint(one)]
TAKEN = [one for one in SAID if one["metrics"] and not matrix.refusals_of(one, "spark")]
OF_SPARK = [row for row in matrix.REFUSED if row.doors == ("spark",)]


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("text", [True, False], ids=["text", "integers"])
def test_a_sample_of_pairs(text):
    rng = random.Random(f"spark {text}")
    sample = rng.sample(TAKEN, 30)
    found = [matrix.verdict(one, "spark", rng.randrange(100), text) for one in sample]
    assert not [one for one in found if one != ""]


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("row", OF_SPARK, ids=[row.reason for row in OF_SPARK])
def test_what_is_refused(row):
    """Of the pairs that a row refuses, one that few others do."""
    some = matrix.pairs() if row.bpref else SAID
    asked = [one for one in some if row.fits(one, "spark") and UNSAID.isdisjoint(one)]
    options = min(asked, key=lambda one: len(matrix.refusals_of(one, "spark")))
    refused(row.words, call, matrix.world_of(options, 0), options, "spark")


# The bits of a local run


def lists(text=False, n=120):
    """Return ranked lists and truths by user; some users are on one side only."""
    rng = np.random.default_rng(5)

    def ids(some, letter):
        return [f"{letter}{one}" if text else int(one) for one in some]

    users = ids(range(n), "u")
    ranks = {u: ids(rng.permutation(80)[:15], "i") for u in users[:-4]}
    truth = {u: ids(rng.permutation(80)[: 1 + rng.integers(6)], "i") for u in users[3:]}
    return ranks, truth


RANKS, TRUTH = lists()


def rows_of(side, seed=0, more=()):
    """Return rows of lists, with ranks, or of truths with grades, in no order."""
    rows = [
        (*more, u, i, float(some[i]) if isinstance(some, dict) else rank)
        for u, some in side.items()
        for rank, i in enumerate(some, start=1)
    ]
    return [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]


def frames(session, ranks=RANKS, truth=TRUTH, kind="bigint"):
    """Return both sides; `ranks` are lists by user, or those of systems by name."""
    ids, head, more = f"user_id {kind}, item_id {kind}", "", {"": ranks}
    if ranks and isinstance(next(iter(ranks.values())), dict):
        head, more = "model string, ", ranks
    rows = [row for name, one in more.items() for row in rows_of(one, more=(name,) if name else ())]
    recs = session.createDataFrame(rows, f"{head}{ids}, rank int")
    if truth and isinstance(next(iter(truth.values())), dict):
        return recs, session.createDataFrame(rows_of(truth), f"{ids}, relevance double")
    relevant = [row[:2] for row in rows_of(truth)]
    return recs, session.createDataFrame(relevant, ids)


def same(found, expected, exact=True):
    """Check that two results have the same numbers; of grades, sums in another order."""
    for name in expected.names():
        mean = expected[name] if exact else pytest.approx(expected[name], rel=1e-12)
        assert found[name] == mean
        assert found.std(name) == pytest.approx(expected.std(name), rel=1e-12)
    for count in ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra"):
        assert getattr(found, count) == getattr(expected, count)


def refused(words, call, *arguments, **options):
    """Check that a call is refused; "^" is the start of the message, "$" its end."""
    error = said(words.strip("^$"), call, *arguments, **options)
    assert words[:1] != "^" or error.startswith(words[1:].rstrip("$").split(" ... ")[0]), error
    assert words[-1] != "$" or error.endswith(words[:-1].split(" ... ")[-1].lstrip("^")), error


DOTS = {"ranks": {"user_id": "a.b", "rank": "at`x"}}
ALIKE = [
    *((["*"], {"partitions": n}) for n in (None, 1, 2, 7, 200)),
    (["int(user_id) user_id", "int(item_id) item_id", "rank"], {}),
    (["user_id", "item_id", "bigint(9007199254740993 - rank) score"], {"partitions": 1}),
    (["user_id `a.b`", "item_id", "rank `at``x`", "1 `m.x`"], {"columns": DOTS, "system": "m.x"}),
]


@pytest.mark.parametrize(("columns", "options"), ALIKE)
def test_the_bits_of_a_local_run(session, columns, options):
    recs, relevant = frames(session)
    found = by_words(recs.selectExpr(*columns), relevant, K, metrics=NAMES, **options)
    found = found["1"] if "system" in options else found
    same(found, tl.top_k_eval(RANKS, TRUTH, K, metrics=NAMES))
    assert found.hits is None
    looked_up = partial(map, lambda one: one % 9)
    chunks = by_words(*frames(session), K, items_as=lambda ids: [*looked_up(list(ids))])
    same(chunks, tl.top_k_eval(RANKS, TRUTH, K, items_as={one: one % 9 for one in range(80)}))


@pytest.mark.parametrize("label", ["string", "bigint"])
def test_groups(session, label):
    groups = {user: [some[:2], some[1:]] if some[1:] else [some] for user, some in TRUTH.items()}
    rows = [(user, item, at if label == "bigint" else f"g{at}") for user, some in groups.items()
            for at, group in enumerate(some) for item in group]  # fmt: skip
    recs, _ = frames(session)
    table = session.createDataFrame(rows, f"user_id bigint, item_id bigint, nugget {label}")
    names = ["group_recall", "alpha_ndcg", "recall"]
    expected = tl.top_k_eval(RANKS, tl.Groups(groups), K, metrics=names)
    kept = tl.GroundTruths(tl.Groups(groups))
    for relevant, columns in ((table, {"group": "nugget"}), (kept, None)):
        same(tl.top_k_eval(recs, relevant, K, metrics=names, columns=columns), expected, False)
    graded = table.selectExpr("*", "1.0 as relevance")
    words = "grades, column 'relevance', beside groups, 'nugget'"
    refused(words, tl.top_k_eval, recs, graded, K, columns={"group": "nugget"})


def test_columns_of_lists_with_empty_ones(session):
    ranks, truth = RANKS | {7: []}, TRUTH | {8: []}
    recs = session.createDataFrame(list(ranks.items()), "user_id bigint, item_id array<bigint>")
    relevant = session.createDataFrame(list(truth.items()), "user_id int, item_id array<int>")
    expected = tl.top_k_eval(ranks, truth, K)
    same(tl.top_k_eval(tl.spark.Ranks(recs, partitions=3), relevant, K), expected)
    mixed = tl.top_k_eval(frames(session)[0].where("user_id <> 7"), relevant, K)
    assert mixed["ndcg@10"] == expected["ndcg@10"] and mixed.n_missing == expected.n_missing
    alone = tl.top_k_eval(recs, relevant.where("user_id = 7"), K)  # with an empty list
    assert (alone.n_missing, alone.n_extra) == (1, len(ranks) - 1)


@pytest.mark.parametrize("text", [False, True])
def test_kept_ground_truths(session, text):
    ranks, truth = lists(text=text)
    truth[next(iter(truth))] = []
    recs, relevant = frames(session, ranks, truth, "string" if text else "bigint")
    same(tl.top_k_eval(recs, tl.GroundTruths(truth), K), tl.top_k_eval(ranks, truth, K))
    graded = {user: {item: at for at, item in enumerate(some)} for user, some in truth.items()}
    found = tl.top_k_eval(recs, tl.GroundTruths(graded), K, relevant_from=2)
    same(found, tl.top_k_eval(ranks, graded, K, relevant_from=2), False)
    assert tl.top_k_eval(ranks, tl.GroundTruths(relevant), 3)["hit@3"] > 0
    words = "^ground_truths have no users"
    refused(words, tl.top_k_eval, recs, tl.GroundTruths([["a" if text else 1]]), K)


def test_unjudged_items_leave_the_lists(session):
    """No worker knows whether others have a miss among the judged: of one user only."""
    grades = {u: {i: 1 + i % 3 for i in some} for u, some in TRUTH.items()}
    systems = {"a": RANKS, "b": {u: some[::-1] for u, some in RANKS.items()}}
    options = {"k": K, "metrics": ["hit", "precision", "recall"], "unjudged": "drop"}
    words = "needs judged items that are not relevant"
    refused(words, by_words, *frames(session, systems, grades), system="model", **options)
    grades[7] = dict.fromkeys(RANKS[7][1::2], 0) | {RANKS[7][2]: 1}
    found = by_words(*frames(session, systems, grades), system="model", **options)
    local = {name: by_words(one, grades, **options) for name, one in systems.items()}
    for name, expected in local.items():
        same(found[name], expected)
        share = pytest.approx(expected.judged_share()[1], rel=1e-12)
        assert found[name].judged_share() == ("judged@10", share)
        assert "before unjudged" in str(found[name])
    tests = [tl.compare(one).test(method="t")["precision@10"] for one in (found, local)]
    assert tests[0].p == pytest.approx(tests[1].p)


def test_tied_scores_have_one_value_in_any_layout(session):
    rows = [(u, i, float(r // 4)) for u, i, r in rows_of(RANKS)]
    table = dict(zip(("user_id", "item_id", "score"), zip(*rows, strict=True), strict=True))
    table = tl.Ranks(frame_of("pandas", table), ties="item")
    expected = tl.top_k_eval(table, TRUTH, 10, metrics="ndcg")["ndcg@10"]
    relevant, schema = frames(session)[1], "user_id bigint, item_id bigint, score double"
    for seed, partitions in ((1, 1), (2, 3), (3, 5), (4, None)):
        some = [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]
        recs = session.createDataFrame(some, schema).repartition(seed)
        found = by_words(recs, relevant, 10, metrics="ndcg", partitions=partitions)
        assert found["ndcg@10"] == expected
        assert "equal scores by item id, ascending" in str(found)


# Several systems


def of_systems(text=False):
    """Return four systems and the truth: twins, one that lacks users, and one that differs."""
    ranks, truth = lists(text)
    moved = {u: some[::-1] if n % 3 else some for n, (u, some) in enumerate(ranks.items())}
    fewer = {u: some for n, (u, some) in enumerate(moved.items()) if n % 5}
    return {"ease": ranks, "fewer": fewer, "knn": moved, "twin": ranks}, truth


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
    sides = frames(session, systems, truth, "string" if partitions == 7 else "bigint")
    options = {"k": K, "metrics": ["ndcg", "recall"]}
    found = by_words(*sides, system="model", partitions=partitions, **options)
    local = {name: by_words(some, truth, **options) for name, some in systems.items()}
    assert list(found) == list(local)
    for name, one in local.items():
        same(found[name], one)
    same_tests(tl.compare(found, baseline="knn"), tl.compare(local, baseline="knn"))
    twins = tl.compare(found).test()["twin", "ease", "ndcg@10"]
    assert (twins.difference, twins.error, twins.p, twins.ties) == (0.0, 0.0, 1.0, len(truth))


def test_systems_that_count_other_users(session):
    systems, truth = of_systems()
    sides = frames(session, systems, truth)
    options = {"k": K, "metrics": ["ndcg", "recall"], "missing": "skip"}
    plain = by_words(*sides, system="model", paired=False, **options)
    with pytest.raises(ValueError, match="users of .* unknown|holds no hits|without"):
        tl.compare(plain, baseline="knn").test()
    found = by_words(*sides, system="model", partitions=3, **options)
    assert [one["ndcg@10"] for one in plain.values()] == [one["ndcg@10"] for one in found.values()]
    both = tl.compare(found, baseline="knn")
    assert "NOT TESTED against knn" in str(both)
    refused("count other users: 23 are  ... users='common' tests over", both.test)
    local = {name: by_words(some, truth, **options) for name, some in systems.items()}
    expected = tl.compare(local, baseline="knn").test(users="common")
    for one, other in zip(both.test(users="common"), expected, strict=True):
        assert (one.n, one.wins, one.losses) == (other.n, other.wins, other.losses)
        assert one.p == pytest.approx(other.p, rel=1e-12)


def test_errors_of_systems_name_them(session):
    recs, relevant = frames(session, *of_systems())
    flags = recs.selectExpr("model = 'knn' model", "user_id", "item_id", "rank")
    some = flags.where("model")
    assert tl.top_k_eval(some, relevant, K, system="model")["true"].n_users == len(TRUTH)
    ids = ["user_id", "item_id", "rank"]
    far = ["model", "user_id + if(model = 'knn', 999, 0) user_id", *ids[1:]]
    for columns, words in (
        (["nullif(model, 'knn') model", *ids], "ranks: the column 'model' of systems is null in"),
        (far, "^system 'knn': no user is in both: ranks has  ... , ground_truths has  ... ;"),
        (["model", *ids[:2], "if(model = 'knn', 2, rank) rank"],
         "^system 'knn': ranks: user  ... has ranks 2, 2"),
    ):  # fmt: skip
        changed = recs.selectExpr(*columns)
        refused(words, tl.top_k_eval, changed, relevant, 10, system="model")
    words = "^ranks has no rows, so no systems$"
    refused(words, tl.top_k_eval, recs.limit(0), relevant, 10, system="model")
    bad = relevant.selectExpr("*", "cast('inf' as double) relevance")
    words = "^ground_truths: user  ... , item  ... : grade inf"
    refused(words, tl.top_k_eval, recs, bad, 10, system="model")


# Errors

A, B = "ranks", "ground_truths"
U, ID, L = "user_id", "item_id", "array(item_id) item_id"
EACH = "user_id * 99 + item_id user_id"  # a user for each row
COLUMNS = [  # of one side, what they become, the error
    (A, [U, ID, "2 rank"], "^ranks: user  ... has ranks 2, 2"),
    (A, [U, "nullif(item_id, 5) item_id", "rank"], "^ranks: column 'item_id' is null in a row"),
    (A, [U, ID, "nullif(rank, 3) rank"], "^ranks: column 'rank' ... null in a row (user"),
    (A, [U, ID, "rank + 0.5 rank"], "ranks: user  ...  has rank  ... , which is not wh"),
    (A, [U, ID, "rank - 1 rank", "1 day"], "user  ...  0, 1,  ... ; ranks start at 1$"),
    (A, [U, L], "^ranks: user  ...  has several lists where a user has on"),
    (A, [U, "nullif(array(1L), array(1L)) item_id"], "^ranks: column 'item_id' is null in a row"),
    (A, [U, ID], "no column 'rank' or 'score'"),
    (A, [U, ID, "2 * rank rank"], 'ranks.withColumn("score", -ranks["rank"]).drop("rank")$'),
    (B, [U], "no column 'item_id' ... ; columns found"),
    (B, [U, ID, "cast(null as int) relevance"], "^ground_ ... relevance ... null in a row"),
    (B, ["user_id % 3 user_id", L], "^ground_truths:  ...  where a user has on"),
    (B, ["user_id + 1000 user_id", ID],
     "^no user is in both: ranks has  ... , ground_truths has 1 ... ; are the user ids"),
    (B, [EACH, L, "nullif(array(1), array(1)) relevance"],
     "^ground_truths: column 'relevance' is null in a row (user  ... ): write []$"),
    (B, [EACH, L, "array(1, 2) relevance"],
     "^ground_truths: column 'relevance' must hold a list per user, as long as"),
    (B, [U, ID, "1 score"], "ground_truths: column 'score' is not read"),
    # what schemas tell, before any job
    (A, ["*", "rank"], "ranks: two columns are named 'rank'"),
    (A, [U, ID, "'abc' score"], "ranks: 'score' is string: a score is a number"),
    (A, ["double(user_id) user_id", ID, "rank"], "'user_id' is double: ids are whole numbers or"),
    (A, [U, L, "1 rank"], "'rank' is int, 'item_id' array<bigint>: give both"),
    (A, [U, ID, "decimal(rank) score"], "frame['score'].cast('double')"),
    (B, ["*", "true relevance"], "ground_truths: 'relevance' is boolean: a relevance is a number"),
    (B, [U, L, "1 relevance"],
     "ground_truths: 'relevance' is int, 'item_id' array<bigint>: give both"),
    (B, ["string(user_id) user_id", ID],
     'user_id holds whole numbers in ranks and text in ground_truths ... cast("bigint")'),
    (B, [U, "array(string(item_id)) item_id"],
     'item_id holds whole numbers  ... cast("array<bigint>")'),
]  # fmt: skip
CHANGES = [  # of both sides, the error
    (lambda r, t: (r.union(r), t), "user  ... has ranks 1, 1, 2, 2"),
    (lambda r, t: (r.limit(0), t), "^ranks has no rows$"),
    (lambda r, t: (r, t.limit(0)), "^ground_truths has no rows$"),
    (lambda r, t: (r.selectExpr("user_id", "array(item_id, null) item_id").limit(1), t),
     "^ranks: column 'item_id' holds a null in the list of a row (user "),
    (lambda r, t: (r.selectExpr("*", "'knn' model").unionAll(r.selectExpr("*", "'b'")), t),
     "^ranks: user  ... has ranks 1, 1,  ... several systems,  ... : system='model'$"),
    (lambda r, t: (scored(r, "'knn' model").union(scored(r, "'b'")), t),
     "^ranks: user  ... has item  ... at ranks 1 and 2:  ... system='model'$"),
    *((change, "is a Spark DataFrame, spread over a cluster")
      for change in (lambda r, t: ("recs", t), lambda r, t: (r, [1]))),
]  # fmt: skip


def scored(frame, *more):
    return frame.selectExpr("user_id", "item_id", "1 score", *more)


@pytest.mark.parametrize(("side", "columns", "words"), COLUMNS)
def test_errors_of_columns_are_one_line_on_the_driver(session, side, columns, words):
    sides = dict(zip((A, B), frames(session), strict=True))
    sides[side] = sides[side].selectExpr(*columns)
    refused(words, by_words, k=10, partitions=3, **{"ranks": sides[A], "ground_truths": sides[B]})


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_errors_are_one_line_on_the_driver(session, change, words):
    refused(words, tl.top_k_eval, *change(*frames(session)), k=10)


OWN = tl.Metric("early", "each", lambda ranks: 2.0**-ranks, lambda k, R, n: k)
OPTIONS = [
    ({"ties": "order"}, "rows of Spark have no order"),
    ({"duplicates": "frist"}, "did you mean 'first'"),
    ({"gains": "squared"}, "gains='squared'"),
    ({"partitions": "4"}, "partitions must be a whole number"),
    ({"partitions": 0}, "partitions must be at least 1"),
    ({"k": None}, "hit needs a k,  ... give k=10, or 'hit@10'"),
    ({"metrics": "novelty"}, "novelty is a metric of the lists"),
    ({"metrics": ["ndcg", OWN]}, "metric 'early' has a function  ... : collect the DataFr"),
    ({"system": ["m"]}, "give the name of one column of ranks"),
    ({"system": "m"}, "^ranks: no column 'm'; columns found: ['user"),
]


def test_options_that_are_refused_before_any_job(session):
    sides = frames(session, *lists(n=9))
    for options, words in OPTIONS:
        refused(words, by_words, *sides, **{"k": 10, **options})
    with pytest.raises(AttributeError, match=r"recs\.toArrow\(\)"):
        tl.spark.per_user  # noqa: B018


# What only large data, other scores, and Connect show


def test_a_user_of_many_items_and_a_size_that_does_not_grow(session):
    ranks, truth = {0: list(range(1_000_000)), 1: [5]}, {0: {7, 100_000}, 1: {5}}
    recs = session.range(1_000_000).selectExpr("0L user_id", "id item_id", "int(id + 1) rank")
    one = session.createDataFrame([(1, 5, 1)], "user_id bigint, item_id bigint, rank int")
    relevant = session.createDataFrame([(0, 7), (0, 100_000), (1, 5)], "user_id long, item_id long")
    found = tl.top_k_eval(tl.spark.Ranks(recs.union(one), partitions=2), relevant, 10)
    same(found, tl.top_k_eval(ranks, truth, 10))


def test_scores_that_no_double_tells_apart(session):
    rows = [(1, 5, 2**53), (1, 6, 2**53 + 1), (2, 5, 2**53 + 1), (2, 6, 2**53)]
    recs = session.createDataFrame(rows, "user_id int, item_id int, score bigint")
    relevant = session.createDataFrame([(1, 6), (2, 5)], "user_id int, item_id int")
    listed = (functions.collect_list(name).alias(name) for name in ("item_id", "score"))
    for some in (recs, recs.groupBy("user_id").agg(*listed)):
        assert tl.top_k_eval(tl.spark.Ranks(some, partitions=1), relevant, 2)["mrr@1"] == 1.0


def test_counts_that_spark_makes_give_the_bits_of_the_lists(session):
    rows = frames(session)[0].where(f"rank <= {max(K)}").groupBy("item_id", "rank").count()
    columns = [list(one) for one in zip(*rows.collect(), strict=True)]
    found = beyond.Exposure.from_counts(*columns, n_users=len(RANKS), catalogue=100)
    local = beyond.exposure(RANKS, max(K), catalogue=100)
    for name in ("item_coverage", "gini", "shannon_entropy"):
        assert tl.curves(name, found).tolist() == tl.curves(name, local).tolist()


def test_a_score_of_ground_truths_is_relevance_under_the_header_of_beir(session):
    lists = [("q", "b", 1), ("q", "a", 2)]
    ranks = session.createDataFrame(lists, "user_id string, item_id string, rank int")
    rows = [("q", "a", 3), ("q", "b", 0), ("q", "c", -2)]
    truth = session.createDataFrame(rows, "`query-id` string, `corpus-id` string, score int")
    names = {"ground_truths": {"user_id": "query-id", "item_id": "corpus-id"}}
    for columns in (None, names):
        found = tl.top_k_eval(ranks, truth, 2, metrics=["mrr", "cg"], columns=columns)
        assert found.to_dict() == {"mrr@2": 0.5, "cg@2": 3.0}


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
    command = [sys.executable, "-c", CONNECT]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert "mrr 0.75" in done.stdout, done.stderr[-2000:]
