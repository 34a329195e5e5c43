"""Metrics of the lists in an evaluation: values, over whom they are, tests, segments, digests.

That every door and option gives these numbers is in tests/properties.
"""

import pickle
import re

import latex
import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.files import tables
from toplist.metrics import beyond_accuracy, names
from toplist.metrics.beyond_accuracy import LIST_METRICS
from toplist.metrics.declared import Count, written

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
TRUTHS = [{5}, {2}, {0}, {1, 6}, set()]
KNOWN = {
    "catalogue": 8,
    "counts": [3, 1, 4, 1, 5, 9, 2, 6],
    "features": np.random.default_rng(0).random((8, 3)),
    "labels": {0: "war", 1: ["war", "love"], 2: "love", 3: None, 4: [], 5: "fun", 6: "fun"},
    "distances": np.abs(np.subtract.outer(np.arange(8), np.arange(8))) / 8,
    "history": [[0, 1, 1], [5, 6], [3], [2, 7], []],
    "expected": [[5], [5, 2], [0], [1, 4, 6], [3]],
}
KNOWN["labels"][7] = "war"
# Those of one label stand for what is asked for without one.
ALL = [f"{name}(label=war)" if name.endswith("_share") else name for name in LIST_METRICS]
OF_ALL = [name for name in ALL if name in LIST_METRICS and not LIST_METRICS[name].of_users]


def pickled(result):
    """Return the result with values of users at the k's asked for, and without its lists."""
    return pickle.loads(pickle.dumps(result))


def evaluate(lists=LISTS, truths=TRUTHS, k=3, metrics=ALL, **options):
    return by_words(lists, truths, k, metrics=metrics, **KNOWN | options)


def test_a_result_is_the_curves_and_says_their_formulas():
    """That values and means are those of the formulas is in test_values.py and the matrix."""
    result = evaluate(metrics=["ndcg", *ALL, "hit"])
    for name in ALL:
        metric = result.terms.asked[name]
        items = tl.Items(**{one: KNOWN[one] for one in metric.needs})
        found = tl.curves(name, LISTS, TRUTHS if metric.of_truth else None, items=items)
        held = result.per_user(name) if metric.of_users else result[name]
        np.testing.assert_allclose(held, found, rtol=0, atol=1e-12)
        assert np.isnan(result.std(name)).all() == (not metric.of_users)
        assert result.formula(name).startswith(f"{metric.base}@k = ")
        assert not latex.faults(result.formula(name, "latex")), name
    for name in OF_ALL:
        with pytest.raises(ValueError, match=f"{name} is of all lists together"):
            result.per_user(name)


# What is asked for, and a part of its formula as text and in LaTeX.
FORMULAS = [
    ("shannon_entropy", "of p log p;", r"-\sum_i p_i \log p_i"),
    ("shannon_entropy(unit=bits)", "of p log2 p;", r"-\sum_i p_i \log_2 p_i"),
    ("shannon_entropy(unit=bits,normalised=catalogue)", "by log2 n,", r"-\frac{1}{\log_2 n} \sum"),
    ("intra_list_diversity", "pairs of the first k items", r"= \binom{\min(k, n)}{2}^{-1} \sum"),
    ("gini(divisor=n-1)", "/ ((n - 1) sum of x_i)", r"\[\text{gini(divisor=n-1)}@k = "),
]


@pytest.mark.parametrize(("name", "words", "math"), FORMULAS)
def test_formulas_have_what_is_computed(name, words, math):
    result = evaluate(metrics=name)
    written = result.formula(name, "latex")
    assert words in result.formula(name) and math in written and not latex.faults(written)


def test_what_is_printed():
    printed = repr(evaluate(metrics=["hit", "gini", "novelty"]))
    for words in (
        *("gini     0.3417\n", "mean over 5 users with a list", "convention standard"),
        "gini: Gini's index of how often the items of the catalogue are listed; of all 5 lists",
    ):
        assert words in printed
    assert "convention" not in repr(evaluate(metrics="gini"))
    result = evaluate(metrics=["calibration(weights=rank, alpha=0.10)"])
    assert result.names() == ["calibration(weights=rank,alpha=0.1)@3"]
    assert "(0.9 q + 0.1 p)" in result.formula("calibration(weights=rank, alpha=0.10)")
    assert "mean over 3 users with a list and a history (2 left out)" in repr(result)


def test_tables_of_users_have_no_columns_for_what_users_have_not():
    pytest.importorskip("pandas")
    frame = evaluate(metrics=["gini", "novelty", "hit"]).to_pandas(per_user=True)
    assert list(frame.columns) == ["user_id", "novelty@3", "hit@3"]
    assert evaluate(metrics=["gini", "hit"]).to_pandas()["n"].tolist() == [5, 4]


def test_a_label_may_have_an_at_sign():
    known = {"labels": {1: "a@3", 2: "z"}}
    result = by_words([[1, 2]], [{1}], k=2, metrics="hit_share", **known)
    assert "hit_share(label=a@3)  1.0000" in str(result)
    assert result["hit_share(label=a@3)@2"] == 1 and result["hit_share(label=z)@1"] == 0


def test_labels_of_a_set_come_by_text():
    """Their order in a set is another in each process, whose results would not merge."""
    known = {"labels": {1: {f"label {n}" for n in range(90, 60, -1)}, 2: "z"}}
    found = by_words([[1, 2]], [{1}], k=2, metrics="hit_share", **known).names()
    assert found == [f"hit_share(label=label {n})@2" for n in range(61, 91)] + [
        "hit_share(label=z)@2"
    ]


# Parts, files


def test_parts_of_one_catalogue_add_up_to_the_bit():
    def part(users, **options):
        lists, truths = ({user: side[user] for user in users} for side in (LISTS, TRUTHS))
        return evaluate(lists, truths, **{"metrics": [*OF_ALL, "novelty"]} | options)

    whole, merged = part(range(5)), part([0, 1]) + part([2, 3, 4])
    assert all(merged[name].tobytes() == whole[name].tobytes() for name in OF_ALL)
    assert merged.per_user("novelty").tobytes() == whole.per_user("novelty").tobytes()
    sent = pickled(part([0, 1])) + part([2, 3, 4])
    assert sent.per_user("novelty@3").tobytes() == whole.per_user("novelty@3").tobytes()
    with pytest.raises(ValueError, match="two catalogues"):
        part([0], metrics="gini") + part([1], metrics="gini", catalogue=9)
    with pytest.raises(ValueError, match="stated catalogue only"):
        sum(part([user], metrics="shannon_entropy", catalogue=None) for user in (0, 1))


# Over whom: users a and b have lists of one item

USERS = "abcdefgh"
METRICS = ["ndcg", "novelty", "hit_share(label=war)", "intra_list_diversity(distance=jaccard)"]
FACTS = {
    "labels": {item: ("war", "love", "fun")[item % 3] for item in range(20)},
    "counts": {item: item + 1 for item in range(20)},
    "history": {user: [row, row + 3, 2 * row] for row, user in enumerate(USERS)},
}
OF_USER = {user: {3 * row % 20, (3 * row + 1) % 20, 19 - row} for row, user in enumerate(USERS)}


def drawn(seed=1):
    rng = np.random.default_rng(seed)
    return {user: rng.permutation(20).tolist()[: 1 if user in "ab" else 9] for user in USERS}


def of_users(seed=1, k=(1, 9), metrics=METRICS, users=USERS, lists=None, **options):
    lists = {user: row for user, row in (lists or drawn(seed)).items() if user in users}
    truths = {user: OF_USER[user] for user in users if user in OF_USER}
    return by_words(lists, truths, k=list(k), metrics=metrics, **FACTS | options)


def hits_of(seed, k):
    """Return who has a hit among the first k."""
    return [user for user, some in drawn(seed).items() if OF_USER[user] & set(some[:k])]


def test_users_are_counted_at_every_k():
    result, name = of_users(), METRICS[2]
    few, many = (len(hits_of(1, k)) for k in (1, 9))
    assert 0 < few < many < 8
    assert [result.n_of(f"{name}@{k}") for k in (1, 9)] == [few, many]
    assert result.n_of(name) == many
    assert f"mean over {few} to {many} users with a hit ({8 - many} left out)" in str(result)
    lines = str(of_users(metrics=name).by({user: user in "abcd" for user in USERS})).splitlines()
    n = [[len({*hits_of(1, k)} & {*some}) for k in (1, 9)] for some in ("efgh", "abcd", USERS)]
    for line, (least, most) in zip(lines[1:4], n, strict=True):
        assert f"  {least} to {most}  " in line if least < most else f"  {most}  " in line


NONE_KEPT = "no values per user.*keep='users'"


def test_a_file_that_keeps_no_users_has_no_values_of_users(tmp_path):
    (lists := tmp_path / "r.jsonl").write_text('{"user_id": "a", "item_id": ["x"]}\n')
    known = {"expected": {"a": ["z"]}, "counts": {"x": 3}, "catalogue": ["x"]}
    words = {"serendipity": NONE_KEPT, "novelty": NONE_KEPT}
    words["item_coverage"] = "of all lists together: it has no values per user$"  # kept or not
    found = by_words(lists, {"a": {"x"}}, 1, metrics=[*words], **known)
    for metric, said in words.items():
        with pytest.raises(ValueError, match=said):
            found.per_user(f"{metric}@1")


WEIGHTS = {user: float(row) for row, user in enumerate(USERS + "yz")}  # of "a" it is 0


def test_weights_are_of_means_over_users():
    """What is of all lists together counts each list once; equal weights are as none."""
    more = {"lists": drawn() | {"y": [0, 1, 2], "z": [3, 4, 9]}, "users": USERS + "yz"}
    more |= {"metrics": ["novelty", "gini", "hit_share(label=war)"], "catalogue": 20}
    plain, shown = of_users(**more), str(of_users(weights=WEIGHTS, **more))
    assert "weighted mean over 9 users with a list" in shown
    assert "all 10 lists together, without weights" in shown
    twos = of_users(weights=dict.fromkeys(WEIGHTS, 2), **more)
    for name in ("novelty@9", "hit_share(label=war)@9"):
        assert twos.interval(name) == pytest.approx(plain.interval(name), rel=1e-12)


def test_a_test_of_a_weighted_metric_of_the_lists():
    name, extra = "novelty@9", {"y": [0, 1, 2], "z": [3, 4, 9]}
    both = {
        system: of_users(
            seed, weights=WEIGHTS, lists=drawn(seed) | extra, users=USERS + "yz", metrics=METRICS
        )
        for seed, system in enumerate("ab")
    }
    found = tl.compare(both, baseline="a").test(name)[0]
    values = {}
    for system, result in both.items():
        own = [*result.users, *extra]
        values[system] = dict(zip(own, result.values_of_all(name)[0].tolist(), strict=True))
    weights = {user: WEIGHTS[user] for user in values["a"] if WEIGHTS[user]}
    values = {system: {user: some[user] for user in weights} for system, some in values.items()}
    alone = tl.inference.paired_tests(values, weights=weights, baseline="a")[0]
    assert (found.n, alone.n) == (len(weights),) * 2 == (7 + len(extra),) * 2
    for column in ("difference", "error", "df", "p", "low", "high"):
        assert getattr(found, column) == pytest.approx(getattr(alone, column), rel=1e-11)


def test_every_user_of_a_weighted_mean_has_a_weight():
    """Also who has a list and no ground truth; an empty list is none."""
    lists, some = drawn() | {"x": [], "y": [1], "z": [2]}, dict.fromkeys(USERS, 1.0)
    asked = {"lists": lists, "users": USERS + "xyz"}
    words = "no entry for user 'y' .2 such.*without a ground truth.*a dict user -> number"
    for weights in (some, [*some.values()]):
        with pytest.raises(ValueError, match=words):
            of_users(weights=weights, **asked)
        assert of_users(weights=weights, **asked | {"metrics": ["hit_share(label=war)"]})


# Comparisons and segments


def test_the_best_by_a_metric_that_has_a_direction():
    results = {
        name: of_users(seed, metrics=["calibration", "novelty"]) for seed, name in enumerate("ab")
    }
    both = tl.compare(results)
    assert both.best()["calibration@9"] and both.best()["novelty@9"] == []
    better = sorted("ab", key=lambda name: results[name]["calibration@9"])
    assert both.sort("calibration@9").systems == better


def test_segments_are_over_the_users_of_the_truth():
    """Lists without a truth are in the mean of all lists, and in no segment."""
    extra = of_users(metrics=["novelty", "gini"], catalogue=20, lists=drawn() | {"z": [0, 1, 2]},
                     users=USERS + "z")  # fmt: skip
    labels = {user: user in "abc" for user in USERS}
    split = extra.by(labels)
    assert not any("gini@9" in part for part in split.values())
    only = of_users(metrics="novelty")["novelty@9"]
    assert split.whole["novelty@9"] == pytest.approx(only, rel=1e-12) != extra["novelty@9"]
    compared = tl.compare(dict.fromkeys("ab", extra)).by(labels)
    shown = [line for line in str(compared).splitlines() if line.startswith("all")]
    assert f"{only:.4f}" in shown[-1] and f"{extra['novelty@9']:.4f}" not in shown[-1]
    merged = pickled(of_users(users="abcd")) + of_users(users="efgh")
    assert str(merged.by(labels)) == str(of_users().by(labels))


# The command line


@pytest.fixture
def folder(tmp_path):
    """Write lists, truths and labels as files."""

    def write(name, header, rows):
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")

    listed = [(f"u{u}", i, r) for u, one in enumerate(LISTS) for r, i in enumerate(one, 1)]
    write("recs.csv", "user_id,item_id,rank", listed)
    write("truth.csv", "user_id,item_id", [("u0", 5), ("u1", 2), ("u2", 0), ("u3", 1), ("u4", 9)])
    labels = {i: one if isinstance(one, list) else [one] for i, one in KNOWN["labels"].items()}
    rows = [(i, one or "", 1) for i, some in labels.items() for one in some or [""]]
    write("labels.csv", "item_id,genre", [row[:2] for row in rows])
    write("wide.csv", "item_id,genre,price", rows)
    return tmp_path


def test_eval_says_what_is_needed_and_what_is_wrong(folder, cli, good):
    files = folder / "recs.csv", folder / "truth.csv"
    asked = {
        ("calibration", "--labels", folder / "labels.csv"): "toplist: calibration needs --history "
        "FILE: user_id and item_id: the training data\n",
        ("average_popularity", "--counts", folder / "truth.csv"): "user 'u0' lists item '7' at "
        "rank 2, which is not in counts",
        ("hit_share", "--labels", folder / "wide.csv"): "2 columns besides 'item_id': one label is "
        "needed, ",
        ("hit_share", "--labels", f"{folder / 'wide.csv'}:colour"): "no column 'colour'; columns "
        "found: ['item_id', 'genre', 'price']",
    }
    for words, message in asked.items():
        status, _, err = cli("eval", *files, "-m", *words)
        assert status == 1 and message in err
    plain, of_column = (
        good("eval", *files, "-k", 3, "-m", "hit_share", "--labels", f"{folder / one}")
        for one in ("labels.csv", "wide.csv:genre")
    )
    assert plain == of_column
    skip = "--counts", folder / "truth.csv", "--unknown", "skip", "--per-user", folder / "users.csv"
    out = good("eval", *files, "-k", 3, "-m", "average_popularity", "hit", *skip)
    assert "mean over 5 users with a list" in out
    header = "user_id,average_popularity@3,hit@3\nu0,1.0"
    assert (folder / "users.csv").read_text().startswith(header)


FILES = [  # kind and column, text, what is read, or the words of the error
    ("ids", "\ufeffitem_id,count\n\na,1\na,2\n", (["a", "a"], None)),
    ("counts", "item_id,count\na,1\na,2\n", "item 'a' has two rows"),
    ("counts", "item_id,query\na,1\na,2\nb,1\n", (["a", "b"], [2, 1])),  # interactions
    ("counts", "item_id,n\na,7\nb,1\n", "no column 'count', .*facts.csv:COLUMN names another"),
    ("counts", "item_id,customer\na,c\n", "a column user_id says that rows are interactions"),
    ("counts:n", "item_id,n,title\na,7,x\nb,1,y\n", (["a", "b"], [7.0, 1.0])),
    ("numbers", "item_id\na\n", "0 columns besides 'item_id'"),
    ("number", "days,item_id\n3,a\n0.5,b\n", (["a", "b"], [3.0, 0.5])),
    ("number", "item_id\na\n", "0 columns besides 'item_id': one number is needed"),
    ("number", "item_id,x,y\na,1,2\n", "2 columns besides 'item_id': one number is needed"),
    ("number", "item_id,x\na,1\na,1\n", "csv:3: item 'a' has two rows"),
    ("number", "item_id,x\na,one\n", "csv:2: x 'one' is not a number"),
]


@pytest.mark.parametrize(("kind", "text", "expected"), FILES)
def test_files_of_facts(tmp_path, kind, text, expected):
    (tmp_path / "facts.csv").write_text(text, encoding="utf-8")
    kind, colon, column = kind.partition(":")
    path = f"{tmp_path / 'facts.csv'}{colon}{column}"
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            tables.facts(path, kind)
        return
    found = tables.facts(path, kind)
    assert found.items == expected[0] and (expected[1] is None or found.values == expected[1])


def test_a_metric_of_ones_own_may_have_a_parameter_that_every_name_says(monkeypatch):
    """One row of the table: the share of items that are newer than a date."""

    @beyond_accuracy.metric(
        text=lambda by: f"share of items from {written(by['date'])} on",
        formula="share_newer@k = items from the date on among the first k / number of these",
        latex="",
    )
    def share_newer(lists, counts, *, date: Count):
        return lists.mean(counts, (counts.data >= date).astype(float))

    newer = beyond_accuracy.variant("share_newer", {"date": 4})
    assert newer.text == "share of items from 4 on" and newer.name == "share_newer(date=4)"
    monkeypatch.setattr(names, "LIST_METRICS", {**LIST_METRICS, "share_newer": newer})
    found = evaluate(metrics=["share_newer(date=4)"])
    counts = KNOWN["counts"]
    values = [sum(counts[item] >= 4 for item in row) / 3 for row in LISTS]
    assert found["share_newer(date=4)@3"] == pytest.approx(sum(values) / 5, rel=1e-12)
    words = "'share_newer' needs date, a finite number from 0 on: write share_newer(date=...)"
    with pytest.raises(ValueError, match=re.escape(words)):
        evaluate(metrics=["share_newer"])
