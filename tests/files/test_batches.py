"""Streams of Arrow record batches, evaluated as files are."""

from functools import partial

import numpy as np
import pytest
from doors import by_words
from file_helpers import sent as sent_one

import toplist as tl
from toplist.files import parquet

pa = pytest.importorskip("pyarrow")

N, K = 60, 5


def tables(text=False, lists=False, by="rank"):
    """Return recommendations and truths as Arrow tables, and as dicts."""
    rng = np.random.default_rng(3)
    users = [f"u{n:02}" if text else n for n in range(N)]
    ranks = {u: rng.permutation(30)[:8].tolist() for u in users if u not in (users[3], users[7])}
    truth = {u: rng.permutation(30)[: 1 + int(rng.integers(4))].tolist() for u in users[:-2]}
    if text:
        ranks, truth = (
            {u: [f"item {i}" for i in some] for u, some in side.items()} for side in (ranks, truth)
        )
    if lists:
        columns = [{"user_id": list(s), "item_id": list(s.values())} for s in (ranks, truth)]
    else:
        columns = [
            {
                "user_id": [u for u, some in side.items() for _ in some],
                "item_id": [item for some in side.values() for item in some],
            }
            for side in (ranks, truth)
        ]
        places = np.tile(np.arange(8), len(ranks))
        columns[0] |= {"rank": places + 1} if by == "rank" else {"score": 1.0 - places / 8}
    return (*map(pa.table, columns), ranks, truth)


def in_batches(table, size):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=size))


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "kind", [{}, {"text": True}, {"lists": True}, {"by": "score"}], ids=lambda kind: str(kind)
)
def test_batches_give_the_bits_of_dicts(kind, size):
    recs, truth, ranks, truths = tables(**kind)
    found = tl.top_k_eval(in_batches(recs, size), in_batches(truth, size), K)
    expected = tl.top_k_eval(ranks, truths, K)
    for name in expected.names():
        assert found[name] == expected[name]
    counts = "n_users", "n_evaluated", "n_missing", "n_extra"
    assert all(getattr(found, name) == getattr(expected, name) for name in counts)


def test_readers_and_whatever_speaks_arrow():
    recs, truth, ranks, truths = tables()
    expected = tl.top_k_eval(ranks, truths, K)["ndcg@5"]
    assert tl.top_k_eval(recs.to_reader(3), truth, K)["ndcg@5"] == expected
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(recs)
    assert tl.top_k_eval(frame.lazy().collect_batches(maintain_order=True), truth, K)["ndcg@5"] == (
        expected
    )
    with pytest.raises(TypeError, match=r"ranks\.collect_batches\(maintain_order=True\) a stream"):
        tl.top_k_eval(frame.lazy(), truth, K)
    with pytest.raises(TypeError, match=r"of record batches a reader, pyarrow\.RecordBatchReader"):
        tl.top_k_eval(recs.to_batches(3), truth, K)


@pytest.mark.parametrize("truths", ["dict", "GroundTruths", "table", "reader"])
def test_a_stream_beside_truths_of_any_form(truths):
    recs, truth, ranks, known = tables()
    expected = tl.top_k_eval(ranks, known, K)
    forms = {"dict": known, "GroundTruths": tl.GroundTruths(known), "table": truth}
    side = forms.get(truths, truth.to_reader(7))
    for keep in (None, "users"):
        found = tl.top_k_eval(recs.to_reader(9), side, K, keep=keep)
        assert found.to_dict() == expected.to_dict() and found.n_extra == expected.n_extra
        side = forms.get(truths, truth.to_reader(7))
    assert np.array_equal(found.per_user("map@5"), expected.per_user("map@5"), equal_nan=True)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("n_parts", [1, 2, 7, 40])
def test_parts_by_user_and_the_truth_merge_to_the_whole(n_parts, text):
    recs, truth, ranks, truths = tables(text=text)
    number = np.array([hash(user) % n_parts for user in recs["user_id"].to_pylist()])
    parts = []
    for place in range(n_parts):
        lists = recs.filter(pa.array(number == place))
        parts.append(tl.top_k_eval(lists, tl.GroundTruths(truth), K, keep="part"))
        assert parts[-1].n_missing == 0
    sent = [sent_one(one) for one in parts]
    expected = tl.top_k_eval(ranks, truths, K)
    for side in (truths, truth, tl.GroundTruths(truths)):
        whole = tl.merge(sent, side)
        for name in expected.names():
            assert whole[name] == expected[name]
            assert whole.std(name) == pytest.approx(expected.std(name), rel=1e-12)
            assert whole.interval(name) == pytest.approx(expected.interval(name), rel=1e-12)
        counts = "n_users", "n_evaluated", "n_missing", "n_extra"
        assert all(getattr(whole, one) == getattr(expected, one) for one in counts)
        assert whole.fingerprints
    with pytest.raises(ValueError, match="a user has lists in two parts"):
        tl.merge([*sent, max(sent, key=lambda one: one.n_users)])
    with pytest.raises(ValueError, match="56 users of the parts have no ground truth here"):
        tl.merge(sent, {"nobody": ["x"]})


@pytest.mark.parametrize("options", [
    {"convention": "trec_eval"}, {"missing": "skip"}, {"empty": "zero"}, {"relevant": "listed"},
    {"metrics": ["ndcg", "err(max=4)", "judged"], "gains": "exponential"},
    {"metrics": ["ndcg", "recall"], "relevant_from": 2}, {"aggregate": "pooled"},
    {"metrics": ["recall", "item_coverage"], "catalogue": 30},
])  # fmt: skip
def test_parts_and_the_truth_merge_under_policies(options):
    recs, _, ranks, truths = tables()
    truths = {u: {i: n % 4 for n, i in enumerate(some)} for u, some in truths.items()}
    truths |= {5: {}, 999: {}}
    options = {"metrics": ["ndcg", "map"]} | options
    if options["metrics"][-1] == "item_coverage":
        options["catalogue"] = list(range(30))
    expected = by_words(ranks, truths, [2, K], **options)
    halves = (recs.filter(pa.array(np.asarray(recs["user_id"]) % 2 == n)) for n in (0, 1))
    parts = [by_words(half, truths, [2, K], keep="part", **options) for half in halves]
    whole = tl.merge(parts, truths)
    assert whole.to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)
    assert str(whole).splitlines()[-1] == str(expected).splitlines()[-1]


@pytest.mark.parametrize("options", [
    {"metrics": "precision", "unjudged": "drop"}, {"metrics": "bpref"},
    {"metrics": "precision(rel=3)"},
])  # fmt: skip
def test_a_part_may_lack_what_not_all_ground_truths_lack(options):
    lists = pa.table({"user_id": [1, 1, 2, 2], "item_id": [5, 8, 6, 7], "rank": [1, 2, 1, 2]})
    parts = [lists.slice(place, 2) for place in (0, 2)]

    def merged(parts, truths):
        found = [tl.top_k_eval(one, truths, 2, keep="part", **options) for one in parts]
        return tl.merge(found, truths)

    for some in (parts, parts[:1]):
        with pytest.raises(ValueError, match="merge: .*no ground truth has"):
            merged(some, {1: {5: 1}, 2: {6: 1}})
    truths = {1: {5: 1}, 2: {6: 3, 7: 0}}
    for some, whole in ((parts, lists), (parts[:1], parts[0])):
        expected = tl.top_k_eval(whole, truths, 2, **options)
        assert merged(some, truths).to_dict() == expected.to_dict()


def test_what_parts_beside_the_truth_refuse():
    recs, _, ranks, truths = tables()
    whole = tl.top_k_eval(ranks, truths, K)
    with pytest.raises(ValueError, match="give keep='part' in each evaluation"):
        tl.merge([whole], truths)
    for more in ({"weights": dict.fromkeys(truths, 1.0)}, {"items_as": lambda ids: ids}):
        part = by_words(recs.to_reader(), truths, K, keep="part", **more)
        with pytest.raises(ValueError, match=f"merge: parts with {next(iter(more))}"):
            tl.merge([part], truths)
    with pytest.raises(TypeError, match="keep='part' is for files, streams and tables"):
        tl.top_k_eval(ranks, truths, K, keep="part")
    with pytest.raises(TypeError, match="merge takes results of top_k_eval, not int"):
        tl.merge([whole], 7)


def test_a_part_may_be_empty():
    recs, truth, ranks, truths = tables()
    nothing = recs.slice(0, 0), truth.slice(0, 0)
    for sides in (nothing, (recs, nothing[1]), (nothing[0], truth)):
        part = tl.top_k_eval(*(side.to_reader() for side in sides), K, keep="part")
        assert part.n_users == 0 and part.n_extra == (N - 2 if sides[0] is recs else 0)
    empty, whole = (tl.top_k_eval(one, truths, K, keep="part") for one in (nothing[0], recs))
    assert tl.merge([empty, whole], truths)["map@5"] == tl.top_k_eval(ranks, truths, K)["map@5"]
    assert tl.merge([empty], truths).n_missing == N - 2


def test_without_part_a_stream_without_rows_is_an_error():
    """As of files; a connection of DuckDB 1 ends the first of two streams without a word."""
    recs, truth, *_ = tables()
    for empty, sides in {"ranks": (recs[:0], truth), "ground_truths": (recs, truth[:0])}.items():
        with pytest.raises(ValueError, match=rf"^{empty}: no rows; keep='part' .*con\.cursor\(\)"):
            tl.top_k_eval(*(side.to_reader() for side in sides), K)


class Busy:
    """A relation of a connection that has another open result; it says so at once, or later."""

    columns = ("user_id", "item_id", "rank")

    def __init__(self, table=None):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        if self.table is None:
            raise RuntimeError("Resource In Use Error: connection has an open result; drain")
        batches = self.batches()
        reader = pa.RecordBatchReader.from_batches(self.table.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)

    def batches(self):
        yield from self.table.to_batches()[:1]
        raise RuntimeError("Resource In Use Error: connection has an open result; drain")


def test_an_open_result_of_duckdb_says_to_take_cursors():
    recs, truth, *_ = tables()
    line = r": give each side a cursor: con\.cursor\(\)\.sql\(\.\.\.\)$"
    asked = {
        "ground_truths": lambda: tl.top_k_eval(recs.to_reader(), Busy(), K),
        "ranks": lambda: tl.top_k_eval(Busy(recs), truth, K),
    }
    for name, ask in asked.items():
        with pytest.raises(ValueError, match=f"^{name}: a connection of DuckDB has one .*{line}"):
            ask()


def test_two_relations_of_one_connection():
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.execute("CREATE TABLE recs AS SELECT u user_id, 1 item_id, 1 rank FROM range(99999) t(u)")
    rows = "FROM recs ORDER BY user_id"
    with pytest.raises(ValueError, match=r"^(ranks|ground_truths): .*con\.cursor"):
        tl.top_k_eval(con.sql(rows), con.sql(rows), K)
    sides = (con.cursor().sql(some) for some in (rows, f"SELECT user_id, item_id {rows}"))
    assert tl.top_k_eval(*sides, K)["hit@1"] == 1


def test_without_part_nobody_in_both_is_an_error():
    recs, truth, *_ = tables()
    far = truth.set_column(0, "user_id", pa.array(np.asarray(truth["user_id"]) + 1000))
    with pytest.raises(ValueError, match="no user is in both: ranks has 0, ground_truths has 1000"):
        tl.top_k_eval(recs.to_reader(), far.to_reader(), K)
    part = tl.top_k_eval(recs, far, K, keep="part")
    assert part.n_users == 0 and part.n_extra == N - 2


def test_kept_hits_have_values_per_user():
    recs, truth, ranks, truths = tables(text=True)
    found = tl.top_k_eval(in_batches(recs, 11), in_batches(truth, 5), K, keep="users")
    expected = tl.top_k_eval(ranks, truths, K)
    mine = dict(zip(found.users, found.per_user("ndcg@5"), strict=True))
    assert mine == dict(zip(expected.users, expected.per_user("ndcg@5"), strict=True))


def test_errors_name_the_stream_the_row_and_the_user():
    recs, truth, *_ = tables()
    evaluate = partial(tl.top_k_eval, k=K)
    split = pa.concat_tables([recs, recs.slice(0, 8)])
    with pytest.raises(
        ValueError, match=r"ranks: user 0 is in row 0 and again in row 464: a stream .*sort"
    ):
        evaluate(split.to_reader(), truth)
    wrong = recs.set_column(2, "rank", pa.array(np.append([2], np.asarray(recs["rank"])[1:])))
    with pytest.raises(ValueError, match=r"ranks: row 0: .*user 0 has ranks 2, 2, 3"):
        evaluate(wrong.to_reader(), truth)
    with pytest.raises(ValueError, match=r"ranks: .*item_id"):
        evaluate(recs.drop_columns(["item_id"]).to_reader(), truth)
    with pytest.raises(ValueError, match="choose from"):
        evaluate(recs, truth, keep="everything")


def test_a_part_without_rows_of_truth_takes_relevant_from():
    lists = pa.table({"user_id": [1, 2], "item_id": [5, 6], "rank": [1, 1]})
    truths = pa.table({"user_id": [1, 2], "item_id": [5, 6], "relevance": [3, 1]})
    evaluate = partial(tl.top_k_eval, k=1, metrics="hit", relevant_from=2)
    parts = [evaluate(lists, one, keep="part") for one in (truths, truths.slice(0, 0))]
    assert tl.merge(parts)["hit@1"] == evaluate(lists.to_reader(), truths)["hit@1"] == 1
    with pytest.raises(ValueError, match="relevant_from=2 needs ground truths with grades"):
        evaluate(lists.to_reader(), truths.select(["user_id", "item_id"]))


def test_a_user_of_many_batches_is_looked_at_a_few_times(monkeypatch):
    looked_at = []
    start_of_last = parquet.start_of_last
    monkeypatch.setattr(
        parquet, "start_of_last", lambda users: looked_at.append(len(users)) or start_of_last(users)
    )
    monkeypatch.setattr(parquet, "LEAST", 16)
    n = 2_000
    users = np.repeat(["ann", "bob", "eve", "fay"], [3, n, 1, 7])
    ranks = np.concatenate([np.arange(1, size + 1) for size in (3, n, 1, 7)])
    table = pa.table({"user_id": users, "item_id": np.arange(n + 11), "rank": ranks})
    truth = {"ann": {1}, "bob": {n, 3}, "eve": {n + 3}, "fay": {0}}
    relevant = pa.table(
        {
            "user_id": [user for user, items in truth.items() for _ in items],
            "item_id": [item for items in truth.values() for item in items],
        }
    )
    found = tl.top_k_eval(table.to_reader(5), relevant.to_reader(1), n)
    assert found["mrr"][-1] == tl.top_k_eval(table, relevant, n)["mrr"][-1]
    assert found.n_missing == 0 and sum(looked_at) < 8 * n


@pytest.mark.parametrize(("kind", "known"), [(int, "ids"), (int, "number"), ("i{}".format, "ids")])
def test_items_of_later_batches_are_looked_up(monkeypatch, kind, known):
    """New items in every batch, some in no catalogue: as of lists in memory."""
    monkeypatch.setattr(parquet, "LEAST", 8)
    rng = np.random.default_rng(4)
    lists = {u: [kind(i) for i in rng.permutation(u + 9)[:6]] for u in range(40)}
    truth = {u: [kind(u), kind(u + 20)] for u in range(40)}
    catalogue = [kind(i) for i in rng.permutation(60)[:45]] if known == "ids" else 45
    counts = {kind(i): i + 1 for i in range(0, 60, 2)}
    options = {
        "metrics": ["ndcg", "item_coverage", "gini", "novelty", "average_popularity"],
        "catalogue": catalogue, "counts": counts, "unknown": "skip",
    }  # fmt: skip
    tables = [
        pa.table({"user_id": list(side), "item_id": list(side.values())}) for side in (lists, truth)
    ]
    found = by_words(*(in_batches(table, 3) for table in tables), [2, 6], **options)
    whole = by_words(lists, truth, [2, 6], **options)
    assert found.to_dict() == pytest.approx(whole.to_dict(), rel=1e-12, nan_ok=True)
    assert found["item_coverage@6"] == whole["item_coverage@6"] < 1


@pytest.mark.parametrize("text", [False, True])
def test_an_empty_part_has_the_metrics_of_the_lists(text):
    recs, _, ranks, truths = tables(text=text)
    counts = {item: n for n, item in enumerate(sorted(set().union(*ranks.values())), 1)}
    asked = {"metrics": ["novelty", "recall", "item_coverage"], "counts": counts}
    asked |= {"catalogue": list(counts)}
    expected = by_words(ranks, truths, K, **asked)

    def part(lists):
        return by_words(lists.to_reader(), truths, K, keep="part", **asked)

    full, empty = part(recs), part(recs[:0])
    assert np.isnan(empty[f"novelty@{K}"]) and empty.n_of(f"novelty@{K}") == 0
    for some in ([full, empty], [empty, full], [empty, empty, full]):
        whole = tl.merge(some, truths)
        assert whole.to_dict() == pytest.approx(expected.to_dict(), abs=1e-12)
