"""Files of any size: the same numbers as in memory, in any cut, or one clear error."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations

import toplist as tl
from toplist import cli
from toplist.files import lines as lines_of_files
from toplist.files import parquet, streaming
from toplist.files import rows as row_parts

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
    rows = ({"user_id": user, "item_id": list(items)} for user, items in lists.items())
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_parquet(path, lists, ranked=True):
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    users, items, *ranks = zip(*long_rows(lists, ranked), strict=True)
    columns = {"user_id": users, "item_id": items} | ({"rank": ranks[0]} if ranked else {})
    pq.write_table(
        pyarrow.table({name: list(c) for name, c in columns.items()}), path, row_group_size=50
    )
    return path


def write_parquet_lists(path, lists, ranked=True):
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {"user_id": list(lists), "item_id": [list(row) for row in lists.values()]}
    )
    pq.write_table(table, path, row_group_size=7)
    return path


WRITERS = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "lists.parquet": write_parquet_lists,
}


@pytest.fixture(params=["whole", "cut"])
def parts(request, monkeypatch):
    """Read files in large parts, and in parts of a few rows."""
    if request.param == "cut":
        monkeypatch.setattr(row_parts, "CHUNK", 8)
        monkeypatch.setattr(lines_of_files, "SIZE", 40)
        monkeypatch.setattr(parquet, "IDS", 12)
        monkeypatch.setattr(streaming, "MAX_WAITING_IDS", 20)
        monkeypatch.setattr(streaming, "PART", 2)


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
def test_every_format_beside_every_other(tmp_path, parts, recs, truth):
    files = (
        WRITERS[recs](tmp_path / f"recs.{recs}", RANKS),
        WRITERS[truth](tmp_path / f"truth.{truth}", TRUTHS, ranked=False),
    )
    expected = tl.top_k_eval(RANKS, TRUTHS, K)
    assert same(tl.top_k_eval(*files, K), expected)
    assert same(tl.top_k_eval(*files, K, in_memory=True), expected)


@pytest.mark.parametrize("order", ["same", "reversed", "shuffled"])
@pytest.mark.parametrize("write", ["csv", "lists.parquet"])
def test_users_in_any_order(tmp_path, parts, order, write):
    users = list(TRUTHS)
    if order == "reversed":
        users = users[::-1]
    elif order == "shuffled":
        users = np.random.default_rng(1).permutation(users).tolist()
    truths = {user: TRUTHS[user] for user in users}
    files = (
        WRITERS[write](tmp_path / f"recs.{write}", RANKS),
        WRITERS[write](tmp_path / f"truth.{write}", truths, ranked=False),
    )
    assert same(tl.top_k_eval(*files, K), tl.top_k_eval(RANKS, TRUTHS, K))


def test_same_order_keeps_little(tmp_path, monkeypatch):
    """Two files in one order never hold more than a few parts, though users lack on both sides."""
    monkeypatch.setattr(lines_of_files, "SIZE", 400)
    monkeypatch.setattr(streaming, "MAX_WAITING_IDS", 60)
    held = []
    join = streaming.Join._join

    def watched(self, *part):
        join(self, *part)
        held.append(max(side.waiting.n_ids for side in (self.ranked, self.truth)))

    monkeypatch.setattr(streaming.Join, "_join", watched)
    ranks = {user: [user % 7, 8 + user % 3, 20] for user in range(3000) if user % 300}
    truths = {user: [user % 7] for user in range(3000) if user % 301}
    files = (
        write_jsonl(tmp_path / "recs.jsonl", ranks),
        write_jsonl(tmp_path / "truth.jsonl", truths),
    )
    result = tl.top_k_eval(*files, 3)
    assert same(result, tl.top_k_eval(ranks, truths, 3))
    assert max(held) < 150


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
        patch.setattr(row_parts, "CHUNK", data.draw(st.integers(1, 10)))
        patch.setattr(lines_of_files, "SIZE", data.draw(st.integers(1, 200)))
        patch.setattr(streaming, "MAX_WAITING_IDS", data.draw(st.integers(0, 10)))
        result = tl.top_k_eval(recs, truth, 4, metrics=["map", "ndcg", "cg"], duplicates="first")
    whole = tl.top_k_eval(dict(enumerate(ranks)), given_truths, 4, metrics=["map", "ndcg", "cg"])
    assert counts(result) == counts(whole)
    for name in whole.names():
        assert result[name] == pytest.approx(whole[name], rel=1e-12, abs=1e-15, nan_ok=True)


def test_options_are_those_of_memory(tmp_path, parts):
    files = (
        write_csv(tmp_path / "recs.csv", RANKS),
        write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False),
    )
    weights = {user: 1.0 + len(user) for user in TRUTHS}
    for options in (
        {"convention": "trec_eval"},
        {"missing": "skip"},
        {"metrics": ["map", "rbp(p=0.5)"], "aggregate": "pooled"},
        {"weights": weights},
    ):
        streamed = tl.top_k_eval(*files, 3, **options)
        whole = tl.top_k_eval(RANKS, TRUTHS, 3, **options)
        assert counts(streamed) == counts(whole)
        for name in whole.names():
            assert streamed[name] == pytest.approx(whole[name], rel=1e-12)
    with pytest.raises(ValueError, match="user 'u40' has no ranked list"):
        tl.top_k_eval(*files, 3, missing="raise")
    with pytest.raises(TypeError, match="weights must be a dict user -> number"):
        tl.top_k_eval(*files, 3, weights=[1.0] * 40)
    with pytest.raises(ValueError, match="weights has no entry for user"):
        tl.top_k_eval(*files, 3, weights={})
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
    assert tl.top_k_eval(recs, tmp_path / "truth.csv", 2, order="file")["mrr@2"] == 0.5


def test_scores_order_the_rows_of_a_user(tmp_path, parts):
    (tmp_path / "recs.csv").write_text("user_id,item_id,score\nu,a,0.1\nu,b,0.9\nu,c,0.9\n")
    (tmp_path / "truth.csv").write_text("user_id,item_id\nu,c\n")
    files = tmp_path / "recs.csv", tmp_path / "truth.csv"
    assert tl.top_k_eval(*files, 3)["mrr@3"] == 0.5
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {
        "user_id": ["u", "v"],
        "item_id": [["a", "b", "c"], []],
        "score": [[0.1, 0.9, 0.9], []],
    }
    pq.write_table(pyarrow.table(table), tmp_path / "recs.parquet")
    assert tl.top_k_eval(tmp_path / "recs.parquet", files[1], 3)["mrr@3"] == 0.5


def test_numbers_beside_text_are_read_as_text(tmp_path, parts):
    numbers = {int(user[1:]): [int(item[1:]) for item in items] for user, items in RANKS.items()}
    relevant = {int(user[1:]): {int(item[1:]) for item in items} for user, items in TRUTHS.items()}
    expected = tl.top_k_eval(numbers, relevant, K)
    for typed, text in (("parquet", "csv"), ("jsonl", "csv"), ("csv", "lists.parquet")):
        files = (
            WRITERS[typed](tmp_path / f"recs.{typed}", numbers),
            WRITERS[text](tmp_path / f"truth.{text}", relevant, ranked=False),
        )
        assert same(tl.top_k_eval(*files, K), expected)
        assert same(tl.top_k_eval(*files, K, in_memory=True), expected)


def test_a_catalogue_of_text_beside_numbers_and_text(tmp_path, parts):
    """Ids that are read as text are text for the metrics of the lists, too."""
    files = (
        WRITERS["jsonl"](tmp_path / "recs.jsonl", {1: [5, 6], 2: [6, 7]}),
        WRITERS["csv"](tmp_path / "truth.csv", {1: {5: 1}, 2: {9: 1}}, ranked=False),
    )
    options = {"metrics": ["item_coverage", "hit"], "catalogue": ["5", "6", "7", "8"]}
    for in_memory in (False, True):
        result = tl.top_k_eval(*files, 2, in_memory=in_memory, **options)
        assert (result["item_coverage@2"], result["hit@2"]) == (3 / 4, 1 / 2)


def test_a_folder_of_parquet_files(tmp_path, parts):
    users = list(RANKS)
    (tmp_path / "recs.parquet").mkdir()
    for part in range(4):
        some = {user: RANKS[user] for user in users[part * 10 : part * 10 + 10]}
        write_parquet(tmp_path / "recs.parquet" / f"part-{part}.parquet", some)
    (tmp_path / "recs.parquet" / "_SUCCESS").write_text("")
    truth = write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False)
    result = tl.top_k_eval(tmp_path / "recs.parquet", truth, K)
    assert same(result, tl.top_k_eval(RANKS, TRUTHS, K))


def test_a_streamed_result_has_no_users(tmp_path):
    files = (
        write_csv(tmp_path / "recs.csv", RANKS),
        write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False),
    )
    result = tl.top_k_eval(*files, 3)
    with pytest.raises(ValueError, match="holds no hits, so it has no values per user.*in_memory"):
        result.per_user("ndcg@3")
    assert result.interval("ndcg@3") == pytest.approx(
        tl.top_k_eval(RANKS, TRUTHS, 3).interval("ndcg@3")
    )
    whole = tl.top_k_eval(*files, 3, in_memory=True)
    assert whole.per_user("ndcg@3").shape == (40,)


# what is refused


@pytest.fixture
def bad(tmp_path, monkeypatch, capsys):
    """Run ``toplist eval`` on files of a folder; return its one line of complaint."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "recs.csv", RANKS)
    write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False)

    def run(*arguments):
        assert cli.main(["eval", *arguments]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("toplist: ")
        assert err.count("\n") == 1
        return err.removeprefix("toplist: ").rstrip("\n")

    return run


def test_a_user_split_over_distant_rows(bad, tmp_path, parts):
    rows = (tmp_path / "recs.csv").read_text()
    (tmp_path / "recs.csv").write_text(rows + "u3,i999,7\n")
    line = bad("recs.csv", "truth.csv")
    assert line.startswith("recs.csv: user 'u3' is in line 20 and again in line 242")
    assert "--in-memory" in line
    assert cli.main(["eval", "recs.csv", "truth.csv", "--in-memory", "-k", "3"]) == 0


@pytest.mark.parametrize("lists", [False, True])
def test_a_user_split_over_distant_rows_of_parquet(bad, tmp_path, parts, lists):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    users = [*range(30), 4]
    items = [[user, user + 1] for user in users] if lists else users
    columns = {"user_id": users, "item_id": items} | ({} if lists else {"rank": [1] * 30 + [2]})
    pq.write_table(pyarrow.table(columns), "recs.parquet")
    (tmp_path / "truth.jsonl").write_text('{"user_id": 4, "item_id": [4]}\n')
    line = bad("recs.parquet", "truth.jsonl")
    assert line.startswith("recs.parquet: user 4 is in row 4 and again in row 30")
    status = cli.main(["eval", "recs.parquet", "truth.jsonl", "--in-memory", "-k", "1"])
    assert status == (1 if lists else 0)  # two lists of one user are an error in memory too


def test_broken_parquet(bad, tmp_path):
    pytest.importorskip("pyarrow")
    write_parquet(tmp_path / "recs.parquet", RANKS)
    data = (tmp_path / "recs.parquet").read_bytes()
    for broken in (data[: len(data) // 2], b"no Parquet at all", b"", data[:-10] + b"0123456789"):
        (tmp_path / "recs.parquet").write_bytes(broken)
        assert bad("recs.parquet", "truth.csv").startswith("recs.parquet: not readable: ")
    data = bytearray(data)
    data[40:400] = bytes(360)  # a page, not the footer
    (tmp_path / "recs.parquet").write_bytes(data)
    assert bad("recs.parquet", "truth.csv").startswith("recs.parquet: ")
    assert bad("other.parquet", "truth.csv") == "other.parquet: No such file or directory"
    (tmp_path / "empty.parquet").mkdir()
    assert bad("empty.parquet", "truth.csv") == "empty.parquet: a folder without .parquet files"


def test_parquet_of_wrong_columns(bad):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def complaint(**columns):
        pq.write_table(pyarrow.table(columns), "recs.parquet")
        return bad("recs.parquet", "truth.csv")

    long = {"user_id": ["a", "a"], "item_id": ["x", "y"]}
    assert complaint(user=["a"], item_id=["x"]).startswith(
        "recs.parquet: ranks has no column 'user_id', only 'user', 'item_id'"
    )
    assert "no column 'rank' or 'score'" in complaint(**long)
    assert "column 'rank' must hold numbers" in complaint(**long, rank=["1", "2"])
    assert "has a score that is NaN" in complaint(**long, score=[0.5, float("nan")])
    assert "column 'item_id' is null in row 1" in complaint(
        user_id=["a", "a"], item_id=["x", None], rank=[1, 2]
    )
    assert "'u5' has rank" not in complaint(**long, rank=[1, 3])
    assert "recs.parquet: no rows" in complaint(
        user_id=pyarrow.array([], "str"),
        item_id=pyarrow.array([], "str"),
        rank=pyarrow.array([], "int64"),
    )


def test_a_null_is_named_by_its_row_in_the_file(bad, parts):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    items = [["x"]] * 23 + [None]
    pq.write_table(pyarrow.table({"user_id": range(24), "item_id": items}), "recs.parquet")
    assert "'item_id' is null in row 23" in bad("recs.parquet", "truth.csv")
    items = [["x"]] * 22 + [["y", None], ["z"]]
    pq.write_table(pyarrow.table({"user_id": range(24), "item_id": items}), "recs.parquet")
    assert "holds a null in the list of row 22" in bad("recs.parquet", "truth.csv")


def test_broken_text(bad, tmp_path, parts):
    whole = gzip.compress((tmp_path / "recs.csv").read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "not readable" in bad("cut.csv.gz", "truth.csv")
    for text, message in (
        ("", "empty.csv: no rows"),
        ("user_id,item_id,rank\n", "empty.csv: no rows"),
        ("user_id,item_id,rank\nu5,i1,one\n", "empty.csv:2: rank 'one' is not a number"),
        ("user_id,item_id,score\nu5,i1,nan\n", "empty.csv:2: score 'nan' is not a number"),
        ("user_id,item,rank\nu5,i1,1\n", "empty.csv:1: no column 'item_id'"),
    ):
        (tmp_path / "empty.csv").write_text(text)
        assert bad("empty.csv", "truth.csv").startswith(message)


@pytest.mark.slow
def test_a_user_with_a_million_items(tmp_path, monkeypatch):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "IDS", 1 << 16)
    n = 1_000_000
    users = np.concatenate([[1, 1], np.full(n, 2), [3]])
    items, ranks = np.arange(n + 3), np.concatenate([[1, 2], np.arange(1, n + 1), [1]])
    pq.write_table(
        pyarrow.table({"user_id": users, "item_id": items, "rank": ranks}), tmp_path / "r.parquet"
    )
    pq.write_table(
        pyarrow.table({"user_id": [1, 2, 3], "item_id": [1, n + 1, 7]}), tmp_path / "t.parquet"
    )
    result = tl.top_k_eval(
        tmp_path / "r.parquet", tmp_path / "t.parquet", n, metrics=["mrr", "recall"]
    )
    assert result[f"recall@{n}"] == 2 / 3
    assert result[f"mrr@{n}"] == pytest.approx((1 / 2 + 1 / n) / 3, rel=1e-12)


def test_no_user_in_common(bad, tmp_path, parts):
    write_csv(tmp_path / "truth.csv", {"x9": {"i1"}}, ranked=False)
    assert bad("recs.csv", "truth.csv").startswith(
        "no user is in both: recs.csv has 'u0', truth.csv has 'x9'"
    )


def test_two_kinds_of_ids(bad, tmp_path, parts):
    write_jsonl(tmp_path / "recs.jsonl", {"a": [1]})
    write_jsonl(tmp_path / "truth.jsonl", {"a": ["1"]})
    line = bad("recs.jsonl", "truth.jsonl")
    assert "'item_id' holds ids of two kinds, '1' in truth.jsonl and 1 in recs.jsonl" in line


def test_an_item_twice_is_named_as_written(bad, tmp_path, parts):
    write_jsonl(tmp_path / "recs.jsonl", RANKS | {"u9": ["i5", "x", "i5"]})
    line = bad("recs.jsonl", "truth.csv")
    assert line.startswith("recs.jsonl:10: user 'u9' has item 'i5' at ranks 1 and 3")


def test_parquet_needs_pyarrow(bad, tmp_path, monkeypatch):
    (tmp_path / "recs.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'toplist[io]'" in bad("recs.parquet", "truth.csv")


def test_text_files_load_pyarrow_alone(tmp_path):
    write_csv(tmp_path / "recs.csv", RANKS)
    write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False)
    script = (
        "import sys; from toplist import cli\n"
        "cli.main(['eval', 'recs.csv', 'truth.csv'])\n"
        "print([name for name in ('pandas', 'polars', 'tqdm') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_interrupt_leaves_nothing_half_written(tmp_path, monkeypatch, capsys):
    from toplist.cli import output

    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "recs.csv", RANKS)
    write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False)
    before = sorted(path.name for path in tmp_path.iterdir())

    def interrupted(result):
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "per_user_csv", interrupted)
    assert cli.main(["eval", "recs.csv", "truth.csv", "--per-user", "users.csv"]) == 130
    assert capsys.readouterr().err == "toplist: interrupted\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


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


def test_progress_is_shown_on_terminals_only(tmp_path, monkeypatch):
    pytest.importorskip("tqdm")
    from toplist.files import lines

    write_csv(tmp_path / "recs.csv", {f"u{u}": [f"i{i}" for i in range(10)] for u in range(1000)})
    write_csv(tmp_path / "truth.csv", {"u1": {"i1"}}, ranked=False)
    files = tmp_path / "recs.csv", tmp_path / "truth.csv"
    monkeypatch.setattr(lines, "DELAY", 0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    tl.top_k_eval(*files, 3)
    assert terminal.text == ""  # a fast call
    monkeypatch.setattr(lines, "PROGRESS_MIN_BYTES", 1000)
    tl.top_k_eval(*files, 3)
    assert "recs.csv" in terminal.text
    terminal.text = ""
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    tl.top_k_eval(*files, 3)
    assert terminal.text == ""


# found by trying to break it


def test_folders_in_folders_and_what_stands_beside_the_data(tmp_path, parts):
    users = list(RANKS)
    root = tmp_path / "recs"  # a folder of any name
    for part in range(12):
        some = {user: RANKS[user] for user in users[part * 4 : part * 4 + 4]}
        folder = root / ("country=NL" if part % 2 else ".")
        folder.mkdir(parents=True, exist_ok=True)
        if some:
            write_parquet(folder / f"part-{part}.PARQUET", some)
    (root / "_temporary").mkdir()
    (root / "_temporary" / "x.parquet").write_bytes(b"half")
    (root / ".hidden.parquet").write_bytes(b"half")
    truth = write_csv(tmp_path / "truth.csv", TRUTHS, ranked=False)
    assert same(tl.top_k_eval(root, truth, K), tl.top_k_eval(RANKS, TRUTHS, K))


def test_part_9_comes_before_part_10(tmp_path):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "r").mkdir()
    for part, ranks in ((9, [1, 2]), (10, [3, 4])):  # one user over two files
        columns = {"user_id": [7, 7], "item_id": ranks, "rank": ranks}
        pq.write_table(pyarrow.table(columns), tmp_path / "r" / f"part-{part}.parquet")
    (tmp_path / "t.jsonl").write_text('{"user_id": 7, "item_id": [4]}\n')
    assert tl.top_k_eval(tmp_path / "r", tmp_path / "t.jsonl", 4)["mrr@4"] == 0.25


def test_parts_of_different_widths(tmp_path):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "r").mkdir()
    for part, kind in enumerate(("int32", "int64")):
        table = pyarrow.table({"user_id": [part], "item_id": [5], "rank": [1]})
        schema = pyarrow.schema([(name, kind) for name in table.column_names])
        pq.write_table(table.cast(schema), tmp_path / "r" / f"{part}.parquet")
    (tmp_path / "t.jsonl").write_text(
        '{"user_id": 0, "item_id": [5]}\n{"user_id": 1, "item_id": [6]}\n'
    )
    for whole in (False, True):
        result = tl.top_k_eval(tmp_path / "r", tmp_path / "t.jsonl", 1, in_memory=whole)
        assert result["hit@1"] == 0.5


def test_a_split_user_is_told_before_wrong_ranks(bad, tmp_path):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"user_id": [1, 2, 3, 2], "item_id": [5, 6, 7, 8], "rank": [1, 2, 1, 1]}
    pq.write_table(pyarrow.table(columns), "r.parquet", row_group_size=2)
    (tmp_path / "t.jsonl").write_text('{"user_id": 2, "item_id": [8]}\n')
    assert "user 2 is in row 1 and again in row 3" in bad("r.parquet", "t.jsonl")
    assert cli.main(["eval", "r.parquet", "t.jsonl", "--in-memory", "-k", "1"]) == 0


def test_parquet_tells_all_columns_and_the_way_out(bad):
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pyarrow.table({"u": ["a"], "item_id": ["x"], "rank": [1]}), "r.parquet")
    line = bad("r.parquet", "truth.csv")
    assert "no column 'user_id', only 'u', 'item_id', 'rank'" in line
    assert "--columns ranks:user_id=NAME" in line
    pq.write_table(
        pyarrow.table({"user_id": ["a"], "item_id": ["x"], "position": [1]}), "r.parquet"
    )
    line = bad("r.parquet", "truth.csv")
    assert "'position'" in line
    assert "--order file" in line


def test_padding_on_the_command_line(bad, tmp_path, capsys):
    (tmp_path / "r.jsonl").write_text('{"user_id": 1, "item_id": [5, -1, -1]}\n')
    (tmp_path / "t.jsonl").write_text('{"user_id": 1, "item_id": [5]}\n')
    line = bad("r.jsonl", "t.jsonl", "-k", "3")
    assert "(if it fills up the list: --padding -1)" in line
    assert "--duplicates first" in line
    assert bad("r.jsonl", "t.jsonl", "--padding", "x").endswith("not all ids here are")
    assert cli.main(["eval", "r.jsonl", "t.jsonl", "-k", "3", "--padding=-1"]) == 0
    assert "hit = recall  1.0000" in capsys.readouterr().out


def test_formats_are_checked_first():
    with pytest.raises(ValueError, match="format='xml': choose from 'csv'.*'parquet'"):
        tl.top_k_eval("a", "b", 3, ranks_format="xml")
