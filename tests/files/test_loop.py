"""Files of any size: the same numbers as in memory, in any cut, or one clear error."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from doors import by_words
from file_helpers import both, fault, jsonl, sent, write_parquet
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations

import toplist as tl
from toplist.files import lines as lines_of_files
from toplist.files import loop, parquet

RANKS = {f"u{user}": [f"i{(user * 7 + rank * 3) % 50}" for rank in range(6)] for user in range(40)}
TRUTHS = {f"u{user}": {f"i{(user * 7 + item) % 50}" for item in range(4)} for user in range(5, 45)}
K = [1, 3, 6]


def long_rows(lists, ranked):
    for user, items in lists.items():
        for place, item in enumerate(items if ranked else sorted(items), start=1):
            yield (user, item, place) if ranked else (user, item)


def write_csv(path, lists, ranked=True):
    header = "user_id,item_id,rank\n" if ranked else "user_id,item_id\n"
    path.write_text(
        header + "".join(",".join(map(str, row)) + "\n" for row in long_rows(lists, ranked))
    )
    return path


def write_jsonl(path, lists, ranked=True):
    path.write_text(jsonl(*({"user_id": u, "item_id": list(some)} for u, some in lists.items())))
    return path


def write_long_parquet(path, lists, ranked=True):
    columns = zip(*long_rows(lists, ranked), strict=True)
    names = ("user_id", "item_id", "rank")  # of a truth the first two
    return write_parquet(path, 50, **{n: list(c) for n, c in zip(names, columns, strict=False)})


def write_parquet_lists(path, lists, ranked=True):
    return write_parquet(path, 7, user_id=list(lists), item_id=list(map(list, lists.values())))


WRITERS = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_long_parquet,
    "lists.parquet": write_parquet_lists,
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write lists and a truth in two formats; return their paths."""
    monkeypatch.chdir(tmp_path)

    def write(recs="csv", truth="csv", ranks=RANKS, truths=TRUTHS):
        return (
            WRITERS[recs](tmp_path / f"recs.{recs}", ranks),
            WRITERS[truth](tmp_path / f"truth.{truth}", truths, ranked=False),
        )

    return write


@pytest.fixture(params=["whole", "cut"])
def parts(request, monkeypatch):
    """Read files in large parts, and in parts of a few rows."""
    if request.param == "cut":
        monkeypatch.setattr(lines_of_files, "SIZE", 40)
        monkeypatch.setattr(parquet, "IDS", 12)
        monkeypatch.setattr(parquet, "LEAST", 1)
        monkeypatch.setattr(loop, "PART", 2)


def counts(result):
    names = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
    return {name: getattr(result, name) for name in names}


def same(streamed, whole):
    """Tell whether a streamed result is the whole one: means bit for bit, spreads to 1e-12."""
    assert streamed.to_dict() == whole.to_dict()
    assert counts(streamed) == counts(whole)
    for name in whole.names():
        assert streamed.std(name) == pytest.approx(whole.std(name), rel=1e-12, abs=1e-15)
    return True


@pytest.mark.parametrize("truth", WRITERS)
@pytest.mark.parametrize("recs", WRITERS)
def test_every_format_beside_every_other(files, parts, recs, truth):
    expected = tl.top_k_eval(RANKS, TRUTHS, K)
    assert all(same(found, expected) for found in both(*files(recs, truth), K))


@pytest.mark.parametrize("order", ["same", "reversed", "shuffled"])
@pytest.mark.parametrize("format", ["csv", "lists.parquet"])
def test_users_in_any_order(files, parts, order, format):
    users = list(TRUTHS)
    if order == "reversed":
        users = users[::-1]
    elif order == "shuffled":
        users = np.random.default_rng(1).permutation(users).tolist()
    found = files(format, format, truths={user: TRUTHS[user] for user in users})
    assert same(tl.top_k_eval(*found, K), tl.top_k_eval(RANKS, TRUTHS, K))


@pytest.mark.parametrize("truth", ["csv", "parquet"])
@pytest.mark.parametrize("graded", [False, True])
def test_rows_of_the_truth_in_any_order(tmp_path, parts, truth, graded):
    """The rows of a user of the truth may be anywhere: in files, and in a stream."""
    grades = {user: {item: 1 + n % 3 for n, item in enumerate(t)} for user, t in TRUTHS.items()}
    rows = [(user, item, one) for user, some in grades.items() for item, one in some.items()]
    rows = [rows[place] for place in np.random.default_rng(5).permutation(len(rows))]
    names = ("user_id", "item_id", "relevance")[: 2 + graded]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))
    recs, path = write_csv(tmp_path / "recs.csv", RANKS), tmp_path / f"shuffled.{truth}"
    if truth == "csv":
        lines = [names, *zip(*columns.values(), strict=True)]
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    else:
        write_parquet(path, 50, **columns)
    users = list(dict.fromkeys(user for user, *_ in rows))
    truths = {user: grades[user] if graded else set(grades[user]) for user in users}
    expected = tl.top_k_eval(RANKS, truths, K)
    found = tl.top_k_eval(recs, path, K)
    assert counts(found) == counts(expected)
    assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)
    kept = tl.top_k_eval(recs, path, K, keep="users")
    assert kept.to_dict() == expected.to_dict()
    assert kept.users == expected.users == users
    for name in expected.names():
        assert np.array_equal(kept.per_user(name), expected.per_user(name), equal_nan=True)


def test_a_row_per_user_of_the_truth_is_there_once(tmp_path, parts):
    recs = write_csv(tmp_path / "recs.csv", RANKS)
    truth = write_parquet(
        tmp_path / "t.parquet", 1, user_id=["u1", "u2", "u1"], item_id=[["i1"], ["i2"], ["i3"]]
    )
    assert "user 'u1' is in rows 0 and 2" in fault(tl.top_k_eval, recs, truth, 3)


@settings(max_examples=40, deadline=None)
@given(population=graded_populations(min_users=1), data=st.data())
def test_streams_are_memory(tmp_path_factory, population, data):
    """Any ragged population, in any order of users, cut anywhere, with grades."""
    ranks, truths = population
    users = data.draw(st.permutations(range(len(ranks))))
    folder = tmp_path_factory.mktemp("streams")
    recs, truth = folder / "recs.jsonl", folder / "truth.jsonl"
    write_jsonl(recs, dict(enumerate(ranks)))
    rows = (
        {"user_id": u, "item_id": list(truths[u]), "relevance": list(truths[u].values())}
        for u in users
    )
    truth.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given_truths = {user: truths[user] for user in users}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_of_files, "SIZE", data.draw(st.integers(1, 200)))
        result = tl.top_k_eval(recs, truth, 4, metrics=["map", "ndcg", "cg"], duplicates="first")
    whole = tl.top_k_eval(dict(enumerate(ranks)), given_truths, 4, metrics=["map", "ndcg", "cg"])
    assert counts(result) == counts(whole)
    for name in whole.names():
        assert result[name] == pytest.approx(whole[name], rel=1e-12, abs=1e-15, nan_ok=True)


def test_options_are_those_of_memory(files, parts):
    found, weights = files(), {user: 1.0 + len(user) for user in TRUTHS}
    for options in (
        {"convention": "trec_eval"},
        {"missing": "skip"},
        {"metrics": ["map", "rbp(p=0.5)"], "aggregate": "pooled"},
        {"weights": weights},
    ):
        streamed = by_words(*found, 3, **options)
        whole = by_words(RANKS, TRUTHS, 3, **options)
        assert counts(streamed) == counts(whole)
        for name in whole.names():
            assert streamed[name] == pytest.approx(whole[name], rel=1e-12)
    with pytest.raises(ValueError, match="user 'u40' has no ranked list"):
        tl.top_k_eval(*found, 3, convention=tl.CONVENTIONS["standard"].replace(missing="raise"))
    with pytest.raises(TypeError, match="weights must be a dict user -> number"):
        tl.top_k_eval(*found, 3, weights=[1.0] * 40)
    with pytest.raises(ValueError, match="weights has no entry for user"):
        tl.top_k_eval(*found, 3, weights={})
    with pytest.raises(ValueError, match="metric 'nope'"):
        tl.top_k_eval("missing.csv", "missing.csv", 3, metrics="nope")


def test_columns_padding_and_order(tmp_path, parts):
    recs, truth = tmp_path / "recs.jsonl", tmp_path / "truth.jsonl"
    recs.write_text('{"u": 1, "i": [5, 7, -1]}\n{"u": 2, "i": [4, -1, -1]}\n')
    truth.write_text('{"u": 1, "i": [7]}\n{"u": 2, "i": [4, -1]}\n')
    names = {"user_id": "u", "item_id": "i"}
    result = tl.top_k_eval(recs, truth, 3, columns=names, padding=-1)
    assert same(result, tl.top_k_eval({1: [5, 7], 2: [4]}, {1: [7], 2: [4]}, 3))
    recs = tmp_path / "recs.csv"
    recs.write_text("user_id,item_id\nu,b\nu,a\n")
    (tmp_path / "truth.csv").write_text("user_id,item_id\nu,a\n")
    assert tl.top_k_eval(tl.Ranks(recs, order="file"), tmp_path / "truth.csv", 2)["mrr@2"] == 0.5


def test_scores_order_the_rows_of_a_user(tmp_path, parts):
    (tmp_path / "recs.csv").write_text("user_id,item_id,score\nu,a,0.1\nu,b,0.9\nu,c,0.9\n")
    (tmp_path / "truth.csv").write_text("user_id,item_id\nu,c\n")
    assert tl.top_k_eval(tmp_path / "recs.csv", tmp_path / "truth.csv", 3)["mrr@3"] == 0.5


@pytest.mark.parametrize(
    ("typed", "text"), [("parquet", "csv"), ("jsonl", "csv"), ("csv", "lists.parquet")]
)
def test_numbers_beside_text_are_read_as_text(files, parts, typed, text):
    numbers = {int(user[1:]): [int(item[1:]) for item in items] for user, items in RANKS.items()}
    relevant = {int(user[1:]): {int(item[1:]) for item in items} for user, items in TRUTHS.items()}
    expected = tl.top_k_eval(numbers, relevant, K)
    assert all(same(one, expected) for one in both(*files(typed, text, numbers, relevant), K))


def test_a_catalogue_of_text_beside_numbers_and_text(files, parts):
    """Ids that are read as text are text for the metrics of the lists, too."""
    found = files("jsonl", "csv", {1: [5, 6], 2: [6, 7]}, {1: {5: 1}, 2: {9: 1}})
    options = {"metrics": ["item_coverage", "hit"], "catalogue": ["5", "6", "7", "8"]}
    for result in both(*found, 2, **options):
        assert (result["item_coverage@2"], result["hit@2"]) == (3 / 4, 1 / 2)


def test_grades_of_numbers_beside_text(files, tmp_path, parts):
    recs, _ = files(ranks={1: [97, 98], 2: [99]})
    truth = tmp_path / "t.jsonl"
    truth.write_text('{"user_id": 1, "item_id": [98], "relevance": [3]}\n')
    assert [one["cg@2"] for one in both(recs, truth, 2, metrics="cg")] == [3.0, 3.0]


def test_folders_in_folders_and_what_stands_beside_the_data(files, tmp_path, parts):
    users = list(RANKS)
    root = tmp_path / "recs"  # a folder of any name
    for part in range(12):
        some = {user: RANKS[user] for user in users[part * 4 : part * 4 + 4]}
        folder = root / ("country=NL" if part % 2 else ".")
        folder.mkdir(parents=True, exist_ok=True)
        if some:
            write_long_parquet(folder / f"part-{part}.PARQUET", some)
    (root / "_temporary").mkdir()
    (root / "_temporary" / "x.parquet").write_bytes(b"half")
    (root / ".hidden.parquet").write_bytes(b"half")
    (root / "_SUCCESS").write_text("")
    assert same(tl.top_k_eval(root, files()[1], K), tl.top_k_eval(RANKS, TRUTHS, K))


def test_a_streamed_result_has_no_users(files):
    result, whole = both(*files())
    with pytest.raises(
        ValueError, match="holds no hits, so it has no values per user.*keep='users'"
    ):
        result.per_user("ndcg@3")
    expected = tl.top_k_eval(RANKS, TRUTHS, 3)
    assert result.interval("ndcg@3") == pytest.approx(expected.interval("ndcg@3"))
    assert whole.per_user("ndcg@3").shape == (40,)


def scattered(path, lists, by="rank"):
    """Write lists with the rows of users in any place."""
    rows = list(long_rows(lists, True))
    rows = [rows[at] for at in np.random.default_rng(2).permutation(len(rows))]
    values = [place if by == "rank" else 10.0 - place for *_, place in rows]
    columns = {"user_id": [u for u, *_ in rows], "item_id": [i for _, i, _ in rows], by: values}
    lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if path.suffix == ".parquet":
        return write_parquet(path, 50, **columns)
    tab = "," if path.suffix == ".csv" else "\t"
    texts = [tab.join(columns), *(tab.join(map(str, line.values())) for line in lines)]
    path.write_text(jsonl(*lines) if path.suffix == ".jsonl" else "\n".join(texts) + "\n")
    return path


@pytest.mark.parametrize("by", ["rank", "score"])
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_rows_of_lists_in_any_order(tmp_path, parts, format, by):
    recs = scattered(tmp_path / f"recs.{format}", RANKS, by)
    truth = write_csv(tmp_path / "t.csv", TRUTHS, ranked=False)
    expected, found = tl.top_k_eval(RANKS, TRUTHS, K), tl.top_k_eval(recs, truth, K)
    assert same(found, expected)
    note = f"the rows of users are apart in {recs}: it was read whole and sorted"
    assert note in str(found) and found.notes == (note,) and expected.notes == ()
    assert note in str(sent(found))
    kept = tl.top_k_eval(recs, truth, K, keep="users")
    assert kept.users == expected.users and note in str(kept)
    assert np.array_equal(kept.per_user("map@3"), expected.per_user("map@3"))
    counted = {"metrics": ["recall", "item_coverage"]}
    counted["catalogue"] = [f"i{n}" for n in range(60)]
    whole = by_words(RANKS, TRUTHS, K, **counted)
    assert by_words(recs, truth, K, **counted).to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("format", "polars", "duckdb"),
    [
        ("csv", "pl.scan_csv({0!r}, infer_schema=False).sort('user_id', maintain_order=True)"
         ".sink_csv({1!r})", "COPY (FROM read_csv({0!r}, all_varchar=true) ORDER BY"),
        ("tsv", "pl.scan_csv({0!r}, infer_schema=False, separator='\\t').sort('user_id', "
         "maintain_order=True).sink_csv({1!r}, separator='\\t')", ", delim='\\t') ORDER BY"),
        ("jsonl", "pl.scan_ndjson({0!r}).sort('user_id', maintain_order=True)"
         ".sink_ndjson({1!r})", "COPY (FROM read_json({0!r}) ORDER BY"),
        ("parquet", "pl.scan_parquet({0!r}).sort('user_id', maintain_order=True)"
         ".sink_parquet({1!r})", "COPY (FROM read_parquet({0!r}) ORDER BY \"user_id\") TO {1!r}"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_says_how_to_sort_it(
    tmp_path, monkeypatch, parts, format, polars, duckdb
):
    recs = scattered(tmp_path / f"recs.{format}", RANKS)
    truth = write_csv(tmp_path / "t.csv", TRUTHS, ranked=False)
    monkeypatch.setattr(loop, "free_memory", lambda: 4_000)
    error = fault(tl.top_k_eval, recs, truth, 3)
    assert "takes about 0.0 GB, more than a quarter of the 0.0 GB that are free" in error
    target = recs.with_stem("recs-sorted")
    lines = [one.format(str(recs), str(target)) for one in (polars, duckdb)]
    assert all(one in error for one in lines)
    assert "DuckDB" not in fault(by_words, recs, truth, 3, order="file")
    pl = pytest.importorskip("polars")
    eval(lines[0], {"pl": pl})  # the line that the error gives, as it is
    assert same(tl.top_k_eval(target, truth, K), tl.top_k_eval(RANKS, TRUTHS, K))


def test_a_user_split_over_distant_rows(files, parts):
    recs, truth = files()
    recs.write_text(recs.read_text() + "u10,i999,7\n")
    found = tl.top_k_eval(recs, truth, 3)
    assert found.n_users == 40 and "recs.csv: it was read whole and sorted" in str(found)
    recs.write_text(recs.read_text() + "u10,i998,9\n")  # as wrong as in a file that is sorted
    error = fault(tl.top_k_eval, "recs.csv", truth, 9)
    assert "recs.csv:62: ranks: user 'u10' has ranks 1, 2, 3, 4, 5, 6, 7, 9" in error


def test_broken_text(files, parts):
    recs, truth = files()
    whole = gzip.compress(recs.read_bytes())
    recs.with_name("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "not readable" in fault(tl.top_k_eval, "cut.csv.gz", truth, 3)
    for text, message in (
        ("user_id,item_id,rank\n", "recs.csv: no rows"),
        ("user_id,item_id,rank\nu5,i1,one\n", "recs.csv:2: rank 'one' is not a number"),
        ("user_id,thing,rank\nu5,i1,1\n", "recs.csv:1: no column 'item_id'"),
    ):
        recs.write_text(text)
        assert fault(tl.top_k_eval, "recs.csv", truth, 3).startswith(message)


def test_text_files_load_pyarrow_alone(files, tmp_path):
    files()
    script = (
        "import sys; from toplist import cli\n"
        "cli.main(['eval', 'recs.csv', 'truth.csv'])\n"
        "print([name for name in ('pandas', 'polars', 'tqdm') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.splitlines()[-1] == "[]"


class Terminal:
    """Standard error as a terminal, as a progress bar sees it."""

    def __init__(self):
        self.text = ""
        self.encoding = "utf-8"

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


class Notebook(Terminal):
    """Standard error of a kernel: no terminal, and shown nevertheless."""

    __module__ = "ipykernel.iostream"

    def isatty(self):
        return False


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_progress_is_shown_in_terminals_and_notebooks_only(files, monkeypatch, kind):
    pytest.importorskip("tqdm")
    many = {f"u{u}": [f"i{i}" for i in range(10)] for u in range(1000)}
    found = files(ranks=many, truths={"u1": {"i1"}})
    monkeypatch.setattr(lines_of_files, "DELAY", 0)
    terminal = kind()
    monkeypatch.setattr(sys, "stderr", terminal)
    tl.top_k_eval(*found, 3)
    assert terminal.text == ""  # a fast call
    monkeypatch.setattr(lines_of_files, "PROGRESS_MIN_BYTES", 1000)
    tl.top_k_eval(*found, 3)
    assert "recs.csv" in terminal.text
    assert "B/s" in terminal.text and terminal.text.endswith("\r")  # and is gone in the end
    pipe = Terminal()
    pipe.isatty = lambda: False
    for other in (pipe, None):  # None without a console
        monkeypatch.setattr(sys, "stderr", other)
        tl.top_k_eval(*found, 3)
    assert pipe.text == ""
