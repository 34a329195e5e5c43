"""Metrics of the lists inside an evaluation, and on the command line."""

import json
import pickle
import re

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.files import tables
from toplist.metrics import names
from toplist.metrics.beyond_accuracy import LIST_METRICS
from toplist.stats.distributions import t_ppf

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
TRUTHS = [{5}, {2}, {0}, {1, 6}, set()]
COUNTS = [3, 1, 4, 1, 5, 9, 2, 6]
FEATURES = np.random.default_rng(0).random((8, 3))
LABELS = {0: "war", 1: ["war", "love"], 2: "love", 3: None, 4: [], 5: "fun", 6: "fun", 7: "war"}
DISTANCES = np.abs(np.subtract.outer(np.arange(8), np.arange(8))) / 8
HISTORY = [[0, 1, 1], [5, 6], [3], [2, 7], []]
KNOWN = {
    "catalogue": 8,
    "counts": COUNTS,
    "features": FEATURES,
    "labels": LABELS,
    "distances": DISTANCES,
    "history": HISTORY,
    "expected": [[5], [5, 2], [0], [1, 4, 6], [3]],
}
# Those of one label stand for what is asked for without one.
OF_LABELS = "exposure_share", "hit_share"
ALL = [f"{name}(label=war)" if name in OF_LABELS else name for name in LIST_METRICS]
VARIANTS = ["calibration(distance=hellinger)", "calibration(weights=rank)"]
VARIANTS += [f"intra_list_diversity(distance={one})" for one in ("hamming", "jaccard", "given")]
VARIANTS += ["gini(divisor=n-1)", "gini(over=recommended)", "shannon_entropy(unit=bits)"]
VARIANTS += ["shannon_entropy(normalised=catalogue)", "shannon_entropy(normalised=recbole)"]
VARIANTS += ["novelty(total=500)", "tail_percentage(share=0.5)", "tail_percentage(n_items=3)"]
VARIANTS += ["tail_percentage(max_count=4)", "intra_list_diversity(single=0.5)"]
VARIANTS += ["serendipity(divisor=n)", "serendipity(divisor=unexpected)"]


def metric_of(name):
    return names.parse(name, tl.CONVENTIONS["standard"])[0]


def evaluate(lists=LISTS, truths=TRUTHS, k=3, metrics=ALL, **options):
    return by_words(lists, truths, k, metrics=metrics, **KNOWN | options)


def curves(name, lists=LISTS, truths=TRUTHS):
    """Return the values at every k, by themselves."""
    metric = metric_of(name)
    items = tl.Items(**{one: KNOWN[one] for one in metric.needs})
    return tl.curves(name, lists, truths if metric.of_truth else None, items=items)


@pytest.mark.filterwarnings("ignore:(Mean of empty|Degrees of freedom)")
@pytest.mark.parametrize("name", [*ALL, *VARIANTS])
def test_a_result_holds_the_values_at_every_k(name):
    result, found, metric = evaluate(metrics=["ndcg", name, "hit"]), curves(name), metric_of(name)
    if metric.of_users:
        np.testing.assert_allclose(result.per_user(name), found, rtol=0, atol=1e-15)
        std, n = np.nanstd(found, axis=0, ddof=1), np.isfinite(found).sum(axis=0)
        np.testing.assert_allclose(result.std(name), std, atol=1e-12)
        mean = np.nanmean(found, axis=0)
        low, high = (
            mean + sign * np.array([t_ppf(0.975, one - 1) for one in n]) * std / np.sqrt(n)
            for sign in (-1, 1)
        )
        if metric.within_one:
            low, high = np.maximum(low, 0), np.minimum(high, 1)
        np.testing.assert_allclose(result.interval(name), (low, high), atol=1e-12)
        assert result.n_of(f"{name}@3") == n[-1]
        found = mean
    else:
        assert np.isnan(result.std(name)).all() and np.isnan(result.interval(name)).all()
        with pytest.raises(ValueError, match=re.escape(f"{name} is of all lists together")):
            result.per_user(name)
    np.testing.assert_allclose(result[name], found, rtol=0, atol=1e-12)
    (alone,) = evaluate(metrics=[f"{name}@2"], k=None)
    assert result[f"{name}@2"] == result[name][1] == alone
    assert result["ndcg@3"] == tl.top_k_eval(LISTS, TRUTHS, 3, metrics="ndcg")["ndcg@3"]
    assert name in result.names()[1] and f"{name}@3" in result.to_dict()
    assert result.formula(name).startswith(f"{metric.base}@k = ")
    assert "\\" in result.formula(name, "latex")


def test_what_is_printed():
    printed = repr(evaluate(metrics=["hit", "gini", "novelty"]))
    assert "gini     0.3417\n" in printed
    assert (
        "gini: Gini's index of how often the items of the catalogue are listed; of all 5 lists"
        in printed
    )
    assert "mean over 5 users with a list" in printed
    assert "convention standard" in printed
    assert "convention" not in repr(evaluate(metrics="gini"))


@pytest.mark.parametrize("name", [*[one for one in ALL if metric_of(one).needs], *OF_LABELS])
def test_one_error_names_what_is_missing(name):
    needed = LIST_METRICS[name.partition("(")[0]].needs
    for i, keyword in enumerate(needed):
        given = {one: KNOWN[one] for one in needed[:i]}
        with pytest.raises(
            ValueError, match=rf"^{re.escape(name)} needs toplist.Items\({keyword}="
        ):
            by_words(LISTS, TRUTHS, 3, metrics=["hit", name], **given)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"metrics": "ginny"},
            ValueError,
            "choose from hit, .*; of the lists themselves: item_cov",
        ),
        ({"metrics": "gini@0", "k": None}, ValueError, "k must be a whole number from 1 on"),
        ({"metrics": ["gini", "gini@3"]}, ValueError, "'gini@3' is asked for twice"),
        ({"catalogue": 7}, ValueError, "user 0 lists item 7 at rank 2, which is not in catalogue"),
        ({"unknown": "zero"}, ValueError, "unknown='zero': choose from 'raise', 'skip'"),
        ({"lists": tl.match(LISTS, TRUTHS), "truths": None}, TypeError, "which holds no ids"),
    ],
)
def test_errors(options, error, message):
    with pytest.raises(error, match=message):
        evaluate(**options)


def test_unknown_items_are_left_out():
    result = evaluate(counts={5: 4, 3: 2}, catalogue=[5, 3], features={5: [1]}, unknown="skip")
    assert result["item_coverage"].tolist() == [0.5, 1.0, 1.0]
    # the fourth list holds nothing known, the second and the third nothing at first
    assert result["average_popularity"].tolist() == [4, (4 + 4 + 2 + 3) / 4, 3.25]
    assert result.n_of("average_popularity@3") == 4
    assert result.n_of("average_popularity") == 4
    np.testing.assert_array_equal(
        result.per_user("average_popularity@1"), [4, np.nan, np.nan, np.nan, 4]
    )


BY_USER = {name: dict(enumerate(KNOWN[name])) for name in ("history", "expected")}


def part(users, **options):
    keyed = {user: LISTS[user] for user in users}
    return evaluate(keyed, {user: TRUTHS[user] for user in users}, **BY_USER | options)


def test_parts_add_up():
    whole, merged = part(range(5)), part([0, 1]) + part([2, 3, 4])
    for name in ALL:
        np.testing.assert_allclose(merged[name], whole[name], rtol=0, atol=1e-12)
        np.testing.assert_allclose(merged.std(name), whole.std(name), rtol=0, atol=1e-12)
        assert merged.n_of(name) == whole.n_of(name)
        if not metric_of(name).of_users:
            assert merged[name].tobytes() == whole[name].tobytes()
    with pytest.raises(ValueError, match="a merged result, or one without users, holds no"):
        merged.per_user("novelty")
    travelled = sum(pickle.loads(pickle.dumps([part([0, 1]), part([2, 3, 4])])))
    assert travelled["gini"].tobytes() == whole["gini"].tobytes()


def test_parts_that_do_not_add_up():
    with pytest.raises(ValueError, match="two catalogues"):
        part([0], metrics="gini") + part([1], metrics="gini", catalogue=9)
    a, b = (part([u], metrics="shannon_entropy", catalogue=None) for u in (0, 1))
    with pytest.raises(ValueError, match="stated catalogue only"):
        a + b


def test_users_of_the_rows_are_found_by_key():
    lists = {"a": [1], "b": [2], "extra": [3]}
    result = evaluate(lists, {"b": {2}, "none": {1}, "a": {0}}, 1, ["average_popularity"])
    np.testing.assert_array_equal(result.per_user("average_popularity@1"), [4, np.nan, 1])
    assert result["average_popularity@1"] == (1 + 4 + 1) / 3  # of all lists given


def test_tables_of_users_have_no_columns_for_what_users_have_not():
    pytest.importorskip("pandas")
    frame = evaluate(metrics=["gini", "novelty", "hit"]).to_pandas(per_user=True)
    assert list(frame.columns) == ["user_id", "novelty@3", "hit@3"]
    assert evaluate(metrics=["gini", "hit"]).to_pandas()["n"].tolist() == [5, 4]


# The command line


@pytest.fixture
def folder(tmp_path):
    rows = [f"u{u},{i},{r}\n" for u, one in enumerate(LISTS) for r, i in enumerate(one, 1)]
    (tmp_path / "recs.csv").write_text("user_id,item_id,rank\n" + "".join(rows))
    (tmp_path / "truth.csv").write_text("user_id,item_id\nu0,5\nu1,2\nu2,0\nu3,1\nu4,9\n")
    (tmp_path / "items.csv").write_text("item_id,name\n" + "".join(f"{i},x\n" for i in range(8)))
    counts = "".join(f"{i}\t{count}\n" for i, count in enumerate(COUNTS))
    (tmp_path / "counts.tsv").write_text("item_id\tcount\n" + counts)
    train = "".join(f"u,{i}\n" * count for i, count in enumerate(COUNTS))
    (tmp_path / "train.csv").write_text("user_id,item_id\n" + train)
    vectors = "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(FEATURES.tolist()))
    (tmp_path / "features.csv").write_text("item_id,a,b,c\n" + vectors)
    labels = [(i, one if isinstance(one, list) else [one or ""]) for i, one in LABELS.items()]
    rows = "".join(f"{i},{one}\n" for i, some in labels for one in some or [""])
    (tmp_path / "labels.csv").write_text("item_id,genre\n" + rows)
    rows = [f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(DISTANCES.tolist())]
    header = ",".join(["item_id", *map(str, range(8))])
    (tmp_path / "distances.csv").write_text(f"{header}\n{''.join(rows[::-1])}")
    for name in ("history", "expected"):
        rows = "".join(f"u{u},{i}\n" for u, one in enumerate(KNOWN[name]) for i in one)
        (tmp_path / f"{name}.csv").write_text("user_id,item_id\n" + rows)
    jsonl = [json.dumps({"user_id": f"u{u}", "item_id": one}) for u, one in enumerate(LISTS)]
    (tmp_path / "recs.jsonl").write_text("\n".join(jsonl))
    (tmp_path / "truth.jsonl").write_text('{"user_id": "u0", "item_id": [5]}')
    return tmp_path


@pytest.fixture
def bad(cli):
    """Run a command that must fail; return stderr."""

    def run(*arguments, status=1):
        found, _, err = cli(*arguments)
        assert found == status
        return err

    return run


@pytest.mark.parametrize("counts", ["counts.tsv", "train.csv"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_eval(folder, good, counts, kind):
    files = folder / f"recs.{kind}", folder / f"truth.{kind}"
    known = ["--catalogue", folder / "items.csv", "--counts", folder / counts]
    known += ["--features", folder / "features.csv", "--labels", folder / "labels.csv"]
    known += ["--distances", folder / "distances.csv"]
    known += ["--history", folder / "history.csv", "--expected", folder / "expected.csv"]
    metrics = [name for name in [*ALL, *VARIANTS] if not metric_of(name).of_truth]
    out = good("eval", *files, "-k", 3, "-m", *metrics, *known, "--format", "json")
    found, expected = json.loads(out), evaluate(metrics=metrics)
    assert found["values"] == {
        name: pytest.approx(value, abs=1e-12) for name, value in expected.to_dict().items()
    }
    assert found["std"]["gini@3"] is None


def test_eval_of_metrics_that_read_the_truth(folder, good):
    files = folder / "recs.csv", folder / "truth.csv"
    known = ["--labels", folder / "labels.csv", "--expected", folder / "expected.csv"]
    metrics = "serendipity", "hit_share"
    out = good("eval", *files, "-k", 3, "-m", *metrics, *known, "--format", "json")
    expected = evaluate(truths=[{5}, {2}, {0}, {1}, {9}], metrics=metrics)
    assert json.loads(out)["values"] == pytest.approx(expected.to_dict(), abs=1e-12)
    assert list(expected.to_dict()) == [
        "serendipity@3",
        *(f"hit_share(label={one})@3" for one in ("war", "love", "fun")),
    ]


def test_labels_are_a_column_of_a_table_of_items(folder, bad, good):
    header, *rows = (folder / "labels.csv").read_text().splitlines()
    wide = [f"{header},price", *(f"{row},1" for row in rows)]
    (folder / "wide.csv").write_text("\n".join(wide))
    ask = "eval", folder / "recs.csv", folder / "truth.csv", "-k", 3, "-m", "hit_share"
    plain = good(*ask, "--labels", folder / "labels.csv")
    assert good(*ask, "--labels", f"{folder / 'wide.csv'}:genre") == plain
    err = bad(*ask, "--labels", folder / "wide.csv")
    assert "2 columns besides 'item_id': one label is needed, " in err and "wide.csv:COLUMN" in err
    err = bad(*ask, "--labels", f"{folder / 'wide.csv'}:colour")
    assert "no column 'colour'; columns found: ['item_id', 'genre', 'price']" in err


def test_saved_results_are_compared_as_the_files(folder, good):
    rows = [f"u{u},{i},{r}\n" for u, one in enumerate(LISTS) for r, i in enumerate(one[::-1], 1)]
    (folder / "new.csv").write_text("user_id,item_id,rank\n" + "".join(rows))
    given = ["-m", "ndcg@3", "novelty@3", "tail_percentage@2"]
    given += ["--counts", folder / "counts.tsv"]
    old, new, truth = (folder / f"{name}.csv" for name in ("recs", "new", "truth"))
    for path in (old, new):
        good("eval", path, truth, *given, "--save", path.with_suffix(".npz"))
    saved = [path.with_suffix(".npz") for path in (old, new)]
    expected = good("compare", old, new, truth, *given)
    assert "novelty@3" in expected and "tail_percentage@2" in expected
    assert good("compare", *saved) == expected
    assert good("compare", saved[0], new, truth, *given) == expected


def test_eval_errors(folder, bad, good):
    files = folder / "recs.csv", folder / "truth.csv"
    err = bad("eval", *files, "-m", "gini")
    assert "gini needs --catalogue FILE: items (CSV, TSV: item_id)" in err
    err = bad("eval", *files, "-m", "calibration", "--labels", folder / "labels.csv")
    assert (
        err == "toplist: calibration needs --history FILE: user_id and item_id: the training data\n"
    )
    options = "--counts", folder / "truth.csv"
    err = bad("eval", *files, "-m", "average_popularity", *options)
    assert "user 'u0' lists item '7' at rank 2, which is not in counts" in err
    options = *options, "--unknown", "skip", "--per-user", folder / "users.csv"
    out = good("eval", *files, "-k", 3, "-m", "average_popularity", "hit", *options)
    assert "mean over 5 users with a list" in out
    assert (
        (folder / "users.csv").read_text().startswith("user_id,average_popularity@3,hit@3\nu0,1.0")
    )


def test_metrics_command(good):
    assert f"of the lists themselves: {', '.join(LIST_METRICS)}" in good("metrics")
    out = good("metrics", "gini")
    assert "gini@k = sum over i of" in out and "of all lists together; needs --catalogue" in out
    found = good("metrics", "intra_list_diversity")
    assert "mean over users with a list; needs --features" in found
    found = good("metrics", "calibration(weights=rank)")
    assert "with a list and a history; needs --history and --labels" in found
    assert "items count 1 / log2(r + 1)" in found


def test_text_columns(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("\ufeffitem_id,count\n\na,1\na,2\n", encoding="utf-8")
    assert tables.facts(path, "ids").items == ["a", "a"]
    with pytest.raises(ValueError, match="item 'a' has two rows"):
        tables.facts(path, "counts")
    path.write_text("item_id\na\n")
    with pytest.raises(ValueError, match="0 columns besides 'item_id'"):
        tables.facts(path, "numbers")


def test_a_file_of_one_number_per_item(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("days,item_id\n3,a\n0.5,b\n")
    assert tables.facts(path, "number")[:2] == (["a", "b"], [3.0, 0.5])
    for text, message in (
        ("item_id\na\n", "0 columns besides 'item_id': one number is needed"),
        ("item_id,x,y\na,1,2\n", "2 columns besides 'item_id': one number is needed"),
        ("item_id,x\na,1\na,1\n", "csv:3: item 'a' has two rows"),
        ("item_id,x\na,one\n", "csv:2: x 'one' is not a number"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            tables.facts(path, "number")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    rows = [(u, i, r) for u, one in enumerate(LISTS) for r, i in enumerate(one, 1)]
    users, items, ranks = map(list, zip(*rows, strict=True))
    recs = make({"who": users, "item_id": items, "rank": ranks})
    truth = make({"who": [4, 0, 2], "item_id": [3, 5, 0]})
    rows = [(u, i) for u, one in enumerate(HISTORY) for i in one]
    history = make(dict(zip(("who", "item_id"), map(list, zip(*rows, strict=True)), strict=True)))
    rows = [(i, one) for i, one in LABELS.items() if isinstance(one, str)]
    rows += [(1, "love"), (1, "war"), (3, None), (4, None)]
    labels = make(dict(zip(("item_id", "genre"), map(list, zip(*rows, strict=True)), strict=True)))
    known = {"history": history, "labels": labels, "expected": BY_USER["expected"]}
    result = evaluate(recs, truth, columns={"user_id": "who"}, **known)
    for name in (name for name in ALL if not metric_of(name).of_truth):
        np.testing.assert_allclose(result[name], evaluate()[name], rtol=0, atol=1e-12)
    found = curves("novelty")[[4, 0, 2]]
    np.testing.assert_allclose(result.per_user("novelty"), found, rtol=0, atol=1e-15)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="below rank 65,536 metrics that divide by k stay as they are there",
)
@pytest.mark.parametrize(("name", "value"), [("serendipity", 1e-5), ("personalisation", 1 - 1e-5)])
def test_metrics_that_divide_by_k_change_below_every_list(name, value):
    """One item is relevant, not expected, and in both lists."""
    name = f"{name}@100000"
    found = tl.top_k_eval([[1, 2], [1, 3]], [{1}, {1}], metrics=name, items=tl.Items(expected={9}))
    assert found[name] == pytest.approx(value, rel=1e-9)
