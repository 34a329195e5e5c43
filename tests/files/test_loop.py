"""Files and streams of any size: the same numbers as in memory, in any cut, or one clear error.

That options are those of memory in every format is said by the matrix.
"""

import gzip
import io
import subprocess
import sys
from functools import partial

import doors
import numpy as np
import pytest
from doors import by_words
from file_helpers import both, sent, write_parquet
from shared_inputs import frame_of, in_small_blocks, library, listed, said

import toplist as tl

RANKS = {f"u{user}": [f"i{(user * 7 + rank * 3) % 50}" for rank in range(6)] for user in range(40)}
TRUTHS = {f"u{user}": {f"i{(user * 7 + item) % 50}" for item in range(4)} for user in range(5, 45)}
GRADED = {user: {item: 1 + n % 3 for n, item in enumerate(sorted(t))} for user, t in TRUTHS.items()}
K = [1, 3, 6]
# A few of these, where many cuts are tried
LISTS, RELEVANT, JUDGED = (dict([*one.items()][:15]) for one in (RANKS, TRUTHS, GRADED))


def numbers(side):
    """Return a side with integers as its ids."""
    return {int(user[1:]): [int(item[1:]) for item in items] for user, items in side.items()}


def columns_of(side, by="rank", order=None):
    """Return the rows of lists, or of a truth with or without grades, as columns."""
    rows = [
        (user, item, {"rank": n, "score": 10.0 - n}.get(by, items.get(item)) if by else n)
        for user, items in (
            (u, i if isinstance(i, dict) else dict.fromkeys(i)) for u, i in side.items()
        )
        for n, item in enumerate(items if isinstance(side[user], list | dict) else sorted(items), 1)
    ]
    if order == "shuffled":
        rows = [rows[at] for at in np.random.default_rng(5).permutation(len(rows))]
    names = ("user_id", "item_id", by)[: 3 if by else 2]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))


def write(path, columns):
    """Write columns in the format of a path; return the path."""
    if path.suffix == ".parquet":
        library("pyarrow")
    doors.write(path.suffix[1:], columns, path, None)
    return path


FORMATS = ["csv", "tsv", "jsonl", "parquet", "reader"]
FORMATS += [f"lists.{format}" for format in ("parquet", "jsonl", "reader")]


def source(folder, name, side, format, by="rank", order=None):
    """Hand a side over as a file, or as a stream of batches of three rows."""
    columns = listed(side) if "lists" in format else columns_of(side, by, order)
    if "reader" in format:
        return frame_of("pyarrow", columns).to_reader(3)
    return write(folder / f"{name}.{format}", columns)


@pytest.fixture(params=["whole", "cut"])
def parts(request, monkeypatch):
    """Read files in large parts, and in parts of a few rows."""
    if request.param == "cut":
        in_small_blocks(monkeypatch)


def counts(result):
    names = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
    return {name: getattr(result, name) for name in names}


def same(found, whole):
    """Check that a result is the whole one: means bit for bit, spreads to 1e-12."""
    assert found.to_dict() == whole.to_dict() and counts(found) == counts(whole)
    for name in whole.names():
        assert found.std(name) == pytest.approx(whole.std(name), rel=1e-12, abs=1e-15, nan_ok=True)


@pytest.fixture(scope="module")
def expected():
    return tl.top_k_eval(LISTS, RELEVANT, K)


BESIDE = [
    (*both, to)
    for to, by in ((numbers, 1), (dict, 3))
    for both in zip(FORMATS, FORMATS[by:] + FORMATS[:by], strict=True)
]


@pytest.mark.parametrize(("recs", "truth", "to"), BESIDE)
def test_every_format_beside_every_other(tmp_path, monkeypatch, expected, recs, truth, to):
    """Numbers are the text they are written as beside files of text."""
    lists, truths = map(to, (LISTS, RELEVANT))
    for small, keep in ((False, "users"), (True, None)):
        if small:
            in_small_blocks(monkeypatch)
        ranks = source(tmp_path, "recs", lists, recs)
        same(by_words(ranks, source(tmp_path, "t", truths, truth, None), K, keep=keep), expected)


@pytest.mark.parametrize(
    ("format", "by"), [("csv", "rank"), ("csv", "score"), ("jsonl", "score"), ("parquet", "rank")]
)
def test_rows_of_lists_in_any_order(tmp_path, parts, format, by):
    recs = source(tmp_path, "recs", LISTS, format, by, "shuffled")
    truth = source(tmp_path, "t", RELEVANT, "csv", None)
    known = {"metrics": ["recall", "map", "item_coverage"]}
    known["catalogue"] = [f"i{n}" for n in range(60)]
    expected, found = (by_words(*two, K, **known) for two in ((LISTS, RELEVANT), (recs, truth)))
    same(found, expected)
    note = f"the rows of users are apart in {recs}: it was read whole and sorted"
    assert note in str(found) and found.notes == (note,) and expected.notes == ()
    assert note in str(sent(found))
    kept = tl.top_k_eval(recs, truth, K, keep="users")
    assert kept.users == list(RELEVANT) and note in str(kept)


@pytest.mark.parametrize(
    ("truth", "graded"), [("csv", True), ("parquet", False), ("reader", True), ("reader", False)]
)
def test_rows_of_the_truth_in_any_order(tmp_path, parts, truth, graded):
    columns = columns_of(JUDGED, "relevance" if graded else None, "shuffled")
    users = list(dict.fromkeys(columns["user_id"]))
    truths = {user: JUDGED[user] if graded else set(JUDGED[user]) for user in users}
    expected = tl.top_k_eval(LISTS, truths, K)
    recs = source(tmp_path, "recs", LISTS, "csv")
    for keep in (None, "users"):
        if truth == "reader":
            path = frame_of("pyarrow", columns).to_reader(7)
        else:
            path = write(tmp_path / f"t.{truth}", columns)
        found = tl.top_k_eval(recs, path, K, keep=keep)
        assert counts(found) == counts(expected)
        assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)
    assert found.users == expected.users == users and found.to_dict() == expected.to_dict()


SORTING = [
    ("csv", "pl.scan_csv({0!r}, infer_schema=False).sort('user_id', maintain_order=True)"
     ".sink_csv({1!r})", "COPY (FROM read_csv({0!r}, all_varchar=true) ORDER BY"),
    ("tsv", "pl.scan_csv({0!r}, infer_schema=False, separator='\\t').sort('user_id', "
     "maintain_order=True).sink_csv({1!r}, separator='\\t')", ", delim='\\t') ORDER BY"),
    ("jsonl", "pl.scan_ndjson({0!r}).sort('user_id', maintain_order=True)"
     ".sink_ndjson({1!r})", "COPY (FROM read_json({0!r}) ORDER BY"),
    ("parquet", "pl.scan_parquet({0!r}).sort('user_id', maintain_order=True)"
     ".sink_parquet({1!r})", "COPY (FROM read_parquet({0!r}) ORDER BY \"user_id\") TO {1!r}"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "polars", "duckdb"), SORTING)
def test_a_file_that_does_not_fit_says_how_to_sort_it(
    tmp_path, monkeypatch, format, polars, duckdb
):
    recs = source(tmp_path, "recs", LISTS, format, order="shuffled")
    truth = source(tmp_path, "t", RELEVANT, "csv", None)
    monkeypatch.setattr("toplist.files.loop.free_memory", lambda: 2_000)
    in_small_blocks(monkeypatch)
    target = recs.with_stem("recs-sorted")
    lines = [one.format(str(recs), str(target)) for one in (polars, duckdb)]
    words = "takes about 0.0 GB, more than a quarter of the 0.0 GB that are free"
    error = said(words, tl.top_k_eval, recs, truth, 3)
    assert all(one in error for one in lines)
    assert "DuckDB" not in said("", by_words, recs, truth, 3, order="file")
    eval(lines[0], {"pl": library("polars")})  # the line that the error gives, as it is
    same(tl.top_k_eval(target, truth, K), tl.top_k_eval(LISTS, RELEVANT, K))


@pytest.mark.parametrize("packed", [False, True])
def test_a_run_that_does_not_fit_says_how_to_sort_it(tmp_path, monkeypatch, packed):
    lines = [f"{u} Q0 {one} 1 {9 - r} t" for r in range(3) for u, ids in RANKS.items()
             for one in ids[r : r + 1]]  # fmt: skip
    text = "\n".join(lines).encode() + b"\n"
    recs = tmp_path / ("the recs.run.gz" if packed else "the recs.run")
    recs.write_bytes(gzip.compress(text) if packed else text)
    truth = source(tmp_path, "t", TRUTHS, "csv", None)
    monkeypatch.setattr("toplist.files.loop.free_memory", lambda: 100)
    in_small_blocks(monkeypatch)
    error = said("sort it by user, in a shell", tl.top_k_eval, recs, truth, 3)
    subprocess.run(error.partition("in a shell, ")[2], shell=True, check=True, timeout=60)
    sorted_run = tmp_path / "the recs-sorted.run"
    found = tl.top_k_eval(sorted_run, truth, 3)
    assert found.to_dict() == tl.top_k_eval(RANKS, TRUTHS, 3).to_dict()
    assert found.per_user("ndcg@3").shape == (len(TRUTHS),)  # kept, as of every run


def test_a_user_split_over_distant_rows(tmp_path):
    recs = source(tmp_path, "recs", RANKS, "csv")
    truth = source(tmp_path, "t", TRUTHS, "csv", None)
    recs.write_text(recs.read_text() + "u10,i999,7\n")
    found = tl.top_k_eval(recs, truth, 3, metrics=["ndcg", "alpha_ndcg"])
    assert found.n_users == 40 and "recs.csv: it was read whole and sorted" in str(found)
    assert "the ground truths name no groups" in str(found)
    weights = "weights must be a dict user -> number"
    said(weights, tl.top_k_eval, recs, truth, 3, weights=[1.0] * 40)
    said("weights= has no entry for user", tl.top_k_eval, recs, truth, 3, weights={})
    recs.write_text(recs.read_text() + "u10,i998,9\n")  # as wrong as in a file that is sorted
    words = "recs.csv:62: ranks: user 'u10' has ranks 1, 2, 3, 4, 5, 6, 7, 9"
    said(words, tl.top_k_eval, recs, truth, 9)
    plain, whole = both(recs.with_name(source(tmp_path, "r", RANKS, "csv").name), truth)
    said("has no values per user ... keep='users'", plain.per_user, "ndcg@3")
    assert whole.per_user("ndcg@3").shape == (40,)


@pytest.mark.parametrize("n", [128, 129])  # numbers of users that a byte holds, and one more
def test_a_truth_of_two_rounds_over_all_users(tmp_path, n):
    users = {"user_id": [*range(n)] * 2, "item_id": [1] * n + [2] * n}
    truth = write(tmp_path / "t.csv", users)
    once = {"user_id": range(n), "item_id": [2] * n, "rank": [1] * n}
    recs = write(tmp_path / "r.csv", once)
    found = tl.top_k_eval(recs, truth, 1, metrics="hit")
    assert found["hit@1"] == 1 and found.n_evaluated == n
    said("two kinds", tl.top_k_eval, recs, {user: [2] for user in range(n)}, 1)  # text and numbers


def test_folders_in_folders_and_what_stands_beside_the_data(tmp_path, parts):
    users, root = list(RANKS), tmp_path / "recs"  # a folder of any name
    for part in range(10):
        some = {user: RANKS[user] for user in users[part * 4 : part * 4 + 4]}
        folder = root / ("country=NL" if part % 2 else ".")
        folder.mkdir(parents=True, exist_ok=True)
        write_parquet(folder / f"part-{part}.PARQUET", 50, **columns_of(some))
    (root / "_temporary").mkdir()
    for name in ("_temporary/x.parquet", ".hidden.parquet", "_SUCCESS"):
        (root / name).write_bytes(b"half")
    truth = source(tmp_path, "t", TRUTHS, "csv", None)
    same(tl.top_k_eval(root, truth, K), tl.top_k_eval(RANKS, TRUTHS, K))
    (tmp_path / "w").mkdir()
    for part, ranks in ((9, [1, 2]), (10, [3, 4])):  # one user over two files, 9 before 10
        kind = library("pyarrow").array([7, 7], "int32" if part == 9 else "int64")
        write_parquet(tmp_path / f"w/part-{part}.parquet", user_id=kind, item_id=ranks, rank=ranks)
    write_parquet(tmp_path / "w/part-11.parquet", user_id=[8], item_id=[5], rank=[1])
    assert tl.top_k_eval(tmp_path / "w", {7: {4}}, 4)["mrr@4"] == 0.25


@pytest.mark.parametrize("items", [b"abcde", np.arange(5).astype("datetime64[D]")])
def test_items_of_other_types_in_several_blocks(tmp_path, monkeypatch, items):
    in_small_blocks(monkeypatch)
    pa = library("pyarrow")
    kind = pa.binary() if isinstance(items, bytes) else pa.date32()
    items = [bytes([one]) for one in items] if kind == pa.binary() else items.tolist()
    recs, truth = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    for path, places in ((recs, [0, 1, 2, 0]), (truth, [4, 1, 2, 3])):
        column = pa.array([items[place] for place in places], kind)
        write_parquet(path, 2, user_id=[1, 1, 2, 2], item_id=column, rank=[1, 2, 1, 2])
    assert tl.top_k_eval(recs, truth, 2, metrics="recall")["recall@2"] == 0.5


# Streams of record batches


def test_readers_and_whatever_speaks_arrow(monkeypatch):
    recs, truth = (frame_of("pyarrow", columns_of(*one)) for one in ((RANKS,), (TRUTHS, None)))
    expected = tl.top_k_eval(RANKS, TRUTHS, K)
    frame = library("polars").from_arrow(recs)
    lazy = frame.lazy().collect_batches(maintain_order=True)
    for ranks in (recs.to_reader(3), lazy):
        assert tl.top_k_eval(ranks, truth, K).to_dict() == expected.to_dict()
    for side in (TRUTHS, tl.GroundTruths(TRUTHS), truth, truth.to_reader(7)):
        found = tl.top_k_eval(recs.to_reader(9), side, K, keep="users")
        assert found.to_dict() == expected.to_dict() and found.n_extra == expected.n_extra
        assert np.array_equal(found.per_user("map@3"), expected.per_user("map@3"), equal_nan=True)
    evaluate = partial(tl.top_k_eval, k=K)
    pa = library("pyarrow")
    users = pa.array([f"x{one}" for one in truth["user_id"].to_pylist()])
    far = truth.set_column(0, "user_id", users)
    twice = pa.concat_tables([recs, recs.slice(0, 6)])
    wrong = recs.set_column(2, "rank", pa.array([2, *recs["rank"].to_pylist()[1:]]))
    for words, ranks, side in (
        ("ranks.collect_batches(maintain_order=True) a stream", frame.lazy(), truth),
        ("of record batches a reader, pyarrow.RecordBatchReader", recs.to_batches(3), truth),
        ("no user is in both: ranks has 'u0', ground_truths has 'xu5'", recs.to_reader(), far),
        (
            "user 'u0' is in row 0 and again in row 240: a  ... sort",
            twice.to_reader(),
            truth,
        ),
        ("ranks: row 0:  ... user 'u0' has ranks 2, 2, 3", wrong.to_reader(), truth),
        ("ranks:  ... item_id", recs.drop_columns(["item_id"]).to_reader(), truth),
        ("ranks: no rows; keep='part'  ... con.cursor()", recs[:0].to_reader(), truth.to_reader()),
        ("ground_truths: no rows; keep='part'", recs.to_reader(), truth[:0].to_reader()),
        ("truths: a connection of DuckDB has one  ... con.cursor()", recs.to_reader(), Busy()),
        ("ranks: a connection of DuckDB has one  ... : give each side a cursor", Busy(recs), truth),
    ):
        said(words, evaluate, ranks, side)


class Busy:
    """A relation of a connection that has another open result; it says so at once, or later."""

    columns = ("user_id", "item_id", "rank")

    def __init__(self, table=None):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        if self.table is None:
            raise RuntimeError("Resource In Use Error: connection has an open result; drain")
        make = library("pyarrow").RecordBatchReader.from_batches
        return make(self.table.schema, self.batches()).__arrow_c_stream__(requested_schema)

    def batches(self):
        yield from self.table.to_batches()[:1]
        raise RuntimeError("Resource In Use Error: connection has an open result; drain")


def test_two_relations_of_one_connection():
    con = library("duckdb").connect()
    con.execute("CREATE TABLE recs AS SELECT u user_id, 1 item_id, 1 rank FROM range(99999) t(u)")
    rows = "FROM recs ORDER BY user_id"
    said("con.cursor", tl.top_k_eval, con.sql(rows), con.sql(rows), 5)
    sides = (con.cursor().sql(some) for some in (rows, f"SELECT user_id, item_id {rows}"))
    assert tl.top_k_eval(*sides, 5)["hit@1"] == 1


def test_a_user_over_many_batches_and_items_that_are_new_in_later_ones(monkeypatch):
    in_small_blocks(monkeypatch)
    sizes = {"ann": 3, "bob": 2_000, "eve": 1, "fay": 7}
    lists = {user: [f"{user}{n}" for n in range(size)] for user, size in sizes.items()}
    truth = {"ann": {"ann1"}, "bob": {"bob1999", "bob7"}, "eve": {"eve0"}, "fay": {"x"}}
    sides = [frame_of("pyarrow", columns_of(*one)) for one in ((lists,), (truth, None))]
    found = tl.top_k_eval(sides[0].to_reader(5), sides[1].to_reader(1), 2_000)
    assert found.to_dict() == tl.top_k_eval(lists, truth, 2_000).to_dict()


# Parts of the lists, merged with the truth


@pytest.mark.parametrize(("n_parts", "ids"), [(1, "integers"), (7, "text")])
def test_parts_by_user_and_the_truth_merge_to_the_whole(n_parts, ids):
    ranks, truths = (RANKS, TRUTHS) if ids == "text" else (numbers(RANKS), numbers(TRUTHS))
    expected, parts = tl.top_k_eval(ranks, truths, K), []
    for place in range(n_parts):
        some = {user: ranks[user] for n, user in enumerate(ranks) if n % n_parts == place}
        lists = frame_of("pyarrow", columns_of(some))
        parts.append(sent(tl.top_k_eval(lists, tl.GroundTruths(truths), K, keep="part")))
        assert parts[-1].n_missing == 0
    groups = tl.Groups({user: [[item] for item in some] for user, some in truths.items()})
    table = frame_of("pyarrow", columns_of(truths, None))
    for side in (truths, table, tl.GroundTruths(truths)):
        whole = tl.merge(parts, side)
        same(whole, expected)
        for name in expected.names():
            assert whole.interval(name) == pytest.approx(expected.interval(name), rel=1e-12)
        assert whole.fingerprints
    most = max(parts, key=lambda one: one.n_users)
    said("a user has lists in two parts", tl.merge, [*parts, most])
    said("35 users of the parts have no ground truth here", tl.merge, parts, {"nobody": ["x"]})
    seen = next(user for user in ranks if user in truths)
    for other in (truths | {seen: [*truths[seen]][1:]}, groups):
        said("evaluated against other ground truths", tl.merge, parts, other)


MINE = tl.Convention("mine", {name: tl.METRICS[name] for name in ("ndcg", "map")}, empty="one")


@pytest.mark.parametrize("options", [
    {"convention": MINE}, {"convention": MINE, "empty": "zero", "missing": "skip"},
    {"convention": "trec_eval"}, {"missing": "skip"}, {"empty": "zero"}, {"relevant": "listed"},
    {"metrics": ["ndcg", "err(max=4)", "judged"], "gains": "exponential"},
    {"metrics": ["ndcg", "recall"], "relevant_from": 2}, {"aggregate": "pooled"},
    {"metrics": ["recall", "novelty", "item_coverage"]},
])  # fmt: skip
def test_parts_and_the_truth_merge_under_policies(options):
    """One of the parts is empty."""
    truths = GRADED | {"u1": {}, "u999": {}}
    options = {"metrics": ["ndcg", "map"]} | options
    if "novelty" in options["metrics"]:
        items = [f"i{n}" for n in range(50)]
        options |= {"catalogue": items, "counts": {item: n + 1 for n, item in enumerate(items)}}
    expected = by_words(RANKS, truths, [2, 5], **options)
    recs = frame_of("pyarrow", columns_of(RANKS))
    cuts = recs.slice(0, 120), recs.slice(0, 0), recs.slice(120)
    parts = [by_words(one, truths, [2, 5], keep="part", **options) for one in cuts]
    whole = tl.merge(parts, truths)
    assert whole.to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)
    assert str(whole).splitlines()[-1] == str(expected).splitlines()[-1]
    assert parts[1].n_users == 0


@pytest.mark.parametrize("options", [
    {"metrics": "precision", "unjudged": "drop"}, {"metrics": "bpref"},
    {"metrics": "bpref", "unjudged": "drop"},
    {"metrics": "precision(rel=3)"},
])  # fmt: skip
def test_a_part_may_lack_what_not_all_ground_truths_lack(options):
    columns = {"user_id": [1, 1, 2, 2], "item_id": [5, 8, 6, 7], "rank": [1, 2, 1, 2]}
    lists = frame_of("pyarrow", columns)
    parts = [lists.slice(place, 2) for place in (0, 2)]

    def merged(parts, truths):
        found = [tl.top_k_eval(one, truths, 2, keep="part", **options) for one in parts]
        return tl.merge(found, truths)

    truths = {1: {5: 1}, 2: {6: 3, 7: 0}}
    for some, whole in ((parts, lists), (parts[:1], parts[0])):
        said("merge:  ... no ground truth has", merged, some, {1: {5: 1}, 2: {6: 1}})
        expected = tl.top_k_eval(whole, truths, 2, **options)
        assert merged(some, truths).to_dict() == expected.to_dict()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.tsv.gz", "a.parquet"])
def test_a_file_without_rows_is_a_part(tmp_path, name):
    path = tmp_path / name
    if name == "a.parquet":
        write_parquet(path, **dict.fromkeys(("user_id", "item_id", "rank"), np.array([], int)))
    else:
        path.write_bytes(gzip.compress(b"") if name.endswith("gz") else b"\n")
    part = tl.top_k_eval(path, TRUTHS, K, keep="part")
    assert tl.merge([part], TRUTHS).n_missing == len(TRUTHS)


def test_what_parts_refuse():
    recs = frame_of("pyarrow", columns_of(RANKS))
    whole = tl.top_k_eval(RANKS, TRUTHS, K)
    said("give keep='part' in each evaluation", tl.merge, [whole], TRUTHS)
    for more in ({"weights": dict.fromkeys(TRUTHS, 1.0)}, {"items_as": lambda ids: ids}):
        part = by_words(recs.to_reader(), TRUTHS, K, keep="part", **more)
        said(f"merge: parts with {next(iter(more))}", tl.merge, [part], TRUTHS)
    said("keep='part' is for files, streams and tables", by_words, RANKS, TRUTHS, K, keep="part")
    said("merge takes results of top_k_eval, not int", tl.merge, [whole], 7)
    nothing = recs.slice(0, 0)
    empty, full = (tl.top_k_eval(one, TRUTHS, K, keep="part") for one in (nothing, recs))
    same(tl.merge([empty, full], TRUTHS), whole)
    columns = {"user_id": [1, 2], "item_id": [5, 6], "relevance": [3, 1]}
    truths = frame_of("pyarrow", columns)
    lists = truths.rename_columns(["user_id", "item_id", "score"])
    evaluate = partial(by_words, lists, k=1, metrics="hit", relevant_from=2, keep="part")
    parts = [evaluate(ground_truths=one) for one in (truths, truths.slice(0, 0))]
    assert tl.merge(parts)["hit@1"] == 1


# What is shown, and what is loaded


class Terminal(io.StringIO):
    """Standard error as a terminal, as a progress bar sees it."""

    encoding = "utf-8"

    def isatty(self):
        return True


class Notebook(io.StringIO):
    """Standard error of a kernel: no terminal, and shown nevertheless."""

    __module__, encoding = "ipykernel.iostream", "utf-8"


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_progress_is_shown_in_terminals_and_notebooks_only(tmp_path, monkeypatch, kind):
    library("tqdm")
    many = {f"u{u}": [f"i{i}" for i in range(10)] for u in range(1000)}
    recs = source(tmp_path, "recs", many, "csv")
    monkeypatch.setattr("toplist.files.formats.DELAY", 0)
    terminal, pipe = kind(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    tl.top_k_eval(recs, {"u1": {"i1"}}, 3)
    assert terminal.getvalue() == ""  # a fast call
    monkeypatch.setattr("toplist.files.text.PROGRESS_MIN_BYTES", 1000)
    tl.top_k_eval(recs, {"u1": {"i1"}}, 3)
    assert "recs.csv" in terminal.getvalue()
    shown = terminal.getvalue()
    assert "B/s" in shown and shown.endswith("\r")  # and is gone in the end
    for other in (pipe, None):  # None without a console
        monkeypatch.setattr(sys, "stderr", other)
        tl.top_k_eval(recs, {"u1": {"i1"}}, 3)
    assert pipe.getvalue() == ""
