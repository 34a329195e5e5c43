"""What is printed says no more than is known (defects A2, A3, A11-A13, A15, A17, B4, B5, C, D7)."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import toplist as tl
from toplist.checks import OptionRef
from toplist.cli import main, output
from toplist.cli.options import option
from toplist.matching.fingerprints import Fingerprint

Z = 1.959963984540054


def hits_at_1(n_hits, n_users, **options):
    """Return the result of some users, the first of whom have a hit."""
    lists = [[user] for user in range(n_users)]
    truths = [{user if user < n_hits else -1} for user in range(n_users)]
    return tl.top_k_eval(lists, truths, **{"k": 1, "metrics": "hit", **options})


# A2: labels by user


def test_a2_labels_of_a_series_go_by_key_or_are_refused():
    pandas = pytest.importorskip("pandas")
    ids, held = np.array([[1, 2], [3, 4], [5, 6]]), np.array([1, 4, 9])
    result = tl.top_k_eval(ids, held, k=1, metrics="hit")
    labels = pandas.Series({1: "A", 2: "B", 3: "C"})
    with pytest.raises(TypeError, match=r"an index of its own, .* by position: .*labels.to_numpy"):
        result.by(labels)
    found = result.by(labels.to_numpy())
    assert {label: part["hit@1"] for label, part in found.items()} == {"A": 1, "B": 0, "C": 0}
    keyed = tl.top_k_eval({"ann": [1], "bob": [2]}, {"ann": {1}, "bob": {9}}, k=1, metrics="hit")
    counting = pandas.Series(["A", "B"])
    with pytest.raises(
        TypeError,
        match=r"counts its rows, but the users have keys, like 'ann': give it by user, .*"
        r"labels\.set_axis\(users\) or a dict user -> value; or labels\.to_numpy\(\) if its order",
    ):
        keyed.by(counting)
    by_hand = keyed.by(counting.set_axis(["bob", "ann"]))
    assert {label: part["hit@1"] for label, part in by_hand.items()} == {"A": 0, "B": 1}
    parts = keyed.by(pandas.Series({"bob": "B"}))
    assert {label: part["hit@1"] for label, part in parts.items()} == {"B": 0, None: 1}


# A3: merging


def printed_as(result, *totals):
    return replace(result, fingerprints=tuple(Fingerprint(t, result.n_users, True) for t in totals))


def test_a3_five_seeds_by_position_are_refused_with_the_way_out():
    seeds = [printed_as(hits_at_1(i, 3), 7) for i in range(5)]
    for merging in (sum, tl.merge, lambda parts: parts[0] + parts[1]):
        with pytest.raises(ValueError, match=r"the same users.*merge\(\.\.\., disjoint=True\)"):
            merging(seeds)
    merged = tl.merge(seeds, disjoint=True)
    assert (merged.n_users, merged["hit@1"]) == (15, pytest.approx(9 / 15))
    # far apart, and after others were merged
    with pytest.raises(ValueError, match="the same users"):
        tl.merge([seeds[0], *(printed_as(hits_at_1(1, 3), t) for t in range(20, 30)), seeds[1]])
    with pytest.raises(ValueError, match="the same users"):
        (seeds[0] + printed_as(hits_at_1(1, 3), 8)) + seeds[1]


def test_a3_five_seeds_of_real_truths():
    seeds = [tl.top_k_eval([[1], [2], [9]], [{1}, {2}, {3}], k=1, metrics="hit") for _ in range(5)]
    with pytest.raises(ValueError, match="the same users"):
        sum(seeds)
    assert tl.merge(seeds, disjoint=True).n_users == 15
    single = [tl.top_k_eval([[1]], [{1}], k=1, metrics="hit") for _ in range(2)]
    assert tl.merge(single).n_users == 2  # two users who chose the same popular item


def test_a3_batches_merge_and_the_account_says_how():
    batches = [printed_as(hits_at_1(i, 3), i) for i in range(3)]
    merged = tl.merge(batches)
    assert repr(merged).endswith("9 of 9 users evaluated, merged by position from 3 parts")
    assert merged.fingerprints == tuple(one for part in batches for one in part.fingerprints)
    assert repr(sum(batches)) == repr(merged)
    singles = [replace(hits_at_1(1, 1), fingerprints=(Fingerprint(5, 1, False),)) for _ in "ab"]
    assert tl.merge(singles).n_users == 2
    keyed = [tl.top_k_eval({u: [1]}, {u: {1}}, k=1, metrics="hit") for u in "ab"]
    assert "merged" not in repr(tl.merge(keyed))
    with pytest.raises(ValueError, match="user 'a' is in both parts"):
        tl.merge([*keyed, keyed[0]], disjoint=True)


def test_a3_merge_is_the_sum_of_the_parts_to_the_last_bit():
    generator = np.random.default_rng(3)
    parts = []
    for _ in range(9):
        hits = tl.Hits.from_ranks(generator.integers(0, 30, 40), 30)
        parts.append(tl.top_k_eval(hits, k=30))
    merged, added = tl.merge(iter(parts)), sum(parts)
    for name in merged.terms.metrics:
        assert merged[name].tobytes() == added[name].tobytes()
        assert merged.std(name).tobytes() == added.std(name).tobytes()
        np.testing.assert_array_equal(merged.per_user(name), added.per_user(name))
    assert tl.merge(parts[:1])["hit@1"] == parts[0]["hit@1"]
    for wrong, error in (([], ValueError), ([1], TypeError), ({"a": parts[0]}, TypeError)):
        with pytest.raises(error, match="merge"):
            tl.merge(wrong)


# A11: identities


def test_a11_values_that_happen_to_agree_share_no_row():
    metrics = ["precision", "map", "recall", "mrr"]
    result = tl.top_k_eval([[1, 2, 3, 4], [9, 5, 6, 8]], [{1, 3}, {5, 7}], k=4, metrics=metrics)
    assert result["recall@4"] == result["mrr@4"]
    for text in (repr(result), result.to_markdown(), result.to_latex(), result._repr_html_()):
        assert " = " not in text.split("convention")[-1 if "%" in text[:1] else 0]
    legend = result.plot().get_legend().get_texts() if _matplotlib() else []
    assert all("=" not in one.get_text() for one in legend)


def _matplotlib():
    return pytest.importorskip("matplotlib")


def labels(result):
    return [line.split("  ")[0] for line in repr(result).splitlines()[1:-3]]


def test_a11_identities_of_one_relevant_item_and_of_equal_choices():
    same = replace(tl.METRICS["recall"], name="same")
    one_out = tl.Hits.from_ranks([1, 3, 0], 5)
    metrics = ["hit", "recall", "map", "mrr", "ndcg", "dcg", "precision"]
    result = tl.top_k_eval(one_out, k=[1, 3], metrics=metrics)
    assert labels(result) == ["hit = recall", "map = mrr", "ndcg = dcg", "precision"]
    several = tl.top_k_eval([[1, 2]] * 2, [{1, 2}, {3}], k=2, metrics=[*metrics, same])
    assert labels(several) == [*("hit", "recall = same", "map", "mrr", "ndcg", "dcg", "precision")]
    graded = tl.top_k_eval([[1, 2]] * 2, [{1: 3.0}, {2: 2.0}], k=2, metrics=["ndcg", "dcg", "cg"])
    assert labels(graded) == ["ndcg", "dcg", "cg"]
    pooled = tl.top_k_eval(
        [[1]] * 2, [{1}, set()], 1, metrics=["hit", "recall"], empty="zero", aggregate="pooled"
    )
    assert labels(pooled) == ["hit", "recall"]  # a user without items counts in one of them


def test_a11_a_switch_prints_every_metric(tmp_path, capsys):
    one_out = tl.top_k_eval(tl.Hits.from_ranks([1, 3, 0], 5), k=3, metrics=["hit", "recall"])
    both = tl.compare({"a": one_out, "b": one_out})
    for shown in (one_out, both):
        for write in (shown.to_text, shown.to_markdown, shown.to_latex):
            assert " = recall" in write()
            assert " = recall" not in write(every_metric=True)
    for name in ("r", "t"):
        (tmp_path / f"{name}.csv").write_text("user_id,item_id,rank\nu,a,1\n")
    files = [str(tmp_path / "r.csv"), str(tmp_path / "t.csv")]
    assert main(["eval", *files, "-k", "1", "-m", "hit", "recall", "--every-metric"]) == 0
    assert "hit = recall" not in capsys.readouterr().out


# A12: lists of different length


def test_a12_no_best_where_one_systems_lists_end_before_k():
    truths = [{11}, {2}]
    short = tl.top_k_eval([[1, 2], [2, 3]], truths, k=[1, 20], metrics="recall")
    long = tl.top_k_eval([list(range(1, 31))] * 2, truths, k=[1, 20], metrics="recall")
    both = tl.compare({"short": short, "long": long})
    (line,) = both.differences
    assert line.startswith(
        "LISTS OF DIFFERENT LENGTH: short at most 2, long at least 20: at k = 20 "
    )
    assert line in repr(both)
    assert both.best() == {"recall@1": ["short"], "recall@20": []}
    stream = replace(long, hits=None, counted=None)
    assert tl.compare({"short": short, "stream": stream}).differences == []
    equal = tl.compare({"a": short, "b": short})
    assert equal.differences == [] and equal.best()["recall@20"] == ["a", "b"]


def test_a12_the_mark_says_that_it_is_no_test():
    lists = {"a": [[1], [9], [9]], "b": [[1], [1], [9]]}
    both = tl.compare(
        {name: tl.top_k_eval(some, [{1}] * 3, 1, metrics="hit") for name, some in lists.items()}
    )
    for text in (repr(both), both.to_markdown(), both._repr_html_()):
        assert (
            "best of its column; not tested: .test() and toplist compare test the difference"
            in text
        )


# A13: no hit at all


def test_a13_no_hit_names_an_item_of_each_side_and_the_cause():
    result = tl.top_k_eval({"f": ["1172.0"]}, {"f": ["1172"]}, k=1, metrics="hit")
    assert repr(result).endswith(
        "NO HIT AT ALL: the lists hold items such as '1172.0', the ground truths '1172'; "
        "likely cause: a trailing .0"
    )
    unlike = tl.top_k_eval({"f": ["a"]}, {"f": ["b"]}, k=1, metrics="hit")
    assert repr(unlike).endswith("'a', the ground truths 'b'; are the item ids of both sides "
                                 "written in the same way?")  # fmt: skip
    stream = replace(result, hits=None, counted=None)
    assert repr(stream).endswith("NO HIT AT ALL: are the item ids of both sides written in the "
                                 "same way?")  # fmt: skip


# A15: intervals


def wilson(p, n, z=Z):
    """Return the interval by the formula of the field's textbooks."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - half, centre + half


@pytest.mark.parametrize(("n_hits", "n"), [(0, 1), (1, 2), (3, 3), (0, 7), (5, 50), (50, 50)])
def test_a15_hit_has_wilsons_interval(n_hits, n):
    result = hits_at_1(n_hits, n, metrics=["hit", "recall"])
    expected = wilson(n_hits / n, n)
    assert result.interval("hit@1") == pytest.approx(expected, abs=1e-12)
    assert result.interval("hit@1") == result.interval("recall@1")
    low, high = result.interval("hit@1")
    assert 0 <= low <= result["hit@1"] <= high <= 1 and low < high
    parts = [hits_at_1(n_hits, n), hits_at_1(0, 3)]
    assert tl.merge(parts).interval("hit@1") == pytest.approx(wilson(n_hits / (n + 3), n + 3))
    stream = replace(result, hits=None, counted=None)
    assert stream.interval("hit@1") == result.interval("hit@1")


def test_a15_wilson_by_definition_and_never_by_values():
    """All values are 0 or 1, but those of recall and mrr need not be."""
    lists, truths = [[1, 2], [3, 4], [5, 6]], [{1, 2}, {3, 4}, {9, 8}]
    result = tl.top_k_eval(lists, truths, k=2)
    assert set(result.per_user("recall@2")) == {0, 1}
    half = Z * result.std("recall@2") / math.sqrt(3)
    assert result.interval("recall@2") == (pytest.approx(2 / 3 - half), 1.0)
    assert result.interval("hit@2") == pytest.approx(wilson(2 / 3, 3))
    own = tl.Metric("own", "first", lambda r: np.ones_like(r), "1")
    unknown = tl.top_k_eval(lists, truths, 2, metrics=own)
    assert unknown.interval("own@2")[1] == 1.0
    assert "normal" in repr(unknown)


def test_a15_weights_have_kishs_number_of_users():
    weights = [1.0, 2.0, 4.0, 0.0]
    result = hits_at_1(2, 4, weights=weights)
    n = sum(weights) ** 2 / sum(w * w for w in weights)
    assert result.interval("hit@1") == pytest.approx(wilson(3 / 7, n))
    merged = tl.merge([result, hits_at_1(0, 2, weights=[1.0, 1.0])], disjoint=True)
    n = 9**2 / (21 + 2)
    assert merged.interval("hit@1") == pytest.approx(wilson(3 / 9, n))


def test_a15_only_metrics_that_cannot_leave_0_and_1_are_cut():
    lists, truths = [[1, 2], [3, 4]], [{1, 2}, {8}]
    beyond = tl.Metric("beyond", "each", "1", lambda k, R, n: np.maximum(R - 1, 1))
    metrics = [*tl.METRICS, beyond]
    result = tl.top_k_eval(lists, truths, k=2, metrics=metrics)
    past = {name for name in result.terms.metrics if result.interval(f"{name}@2")[1] > 1}
    assert past == {"dcg", "cg", "beyond"}
    for name in set(result.terms.metrics) - past:
        assert result.interval(f"{name}@2")[0] >= 0
    for convention in tl.CONVENTIONS.values():
        names = [name for name in convention.metrics if name not in ("dcg", "cg")]
        found = tl.top_k_eval(lists, truths, k=2, metrics=names, convention=convention.name)
        for name in names:
            low, high = found.interval(name)  # NaN where one user is left in the mean
            assert np.all(np.isnan(low) | ((low >= 0) & (high <= 1)))
    graded = tl.top_k_eval(lists, [{1: 3, 2: 1}, {8: 1}], 2, metrics=["ndcg", "cg"])
    assert graded.interval("ndcg@2")[1] == 1 and graded.interval("cg@2")[1] > 1


def test_a15_a_cell_shows_both_ends_where_they_differ():
    result = tl.top_k_eval([[1], [2], [3]], [{1, 7}, {2}, {3}], k=1, metrics=["hit", "recall"])
    _, hit, recall, rules, line, _ = repr(result).splitlines()
    assert hit == "hit     1.0000 [0.4385, 1.0000]"
    assert recall == "recall  0.8333 [0.5067, 1.0000]"
    assert rules == "convention standard: mean over users"
    assert line == (
        "95 % interval, ± half or [low, high]: Wilson for hit; normal for recall "
        "(rough: only 3 users)"
    )
    assert "| hit | 1.0000 [0.4385, 1.0000] |" in result.to_markdown()
    assert r"hit & 1.0000 {\scriptsize[0.4385, 1.0000]} \\" in result.to_latex()
    assert ">[0.4385, 1.0000]</span>" in result._repr_html_()


def test_a15_columns_of_both_kinds_are_aligned():
    lists, truths = (
        [[i, -i] for i in range(1, 41)],
        [{i if i % 3 else 99, 77} for i in range(1, 41)],
    )
    result = tl.top_k_eval(lists, truths, k=[1, 2], metrics=["hit", "precision"])
    hit, precision = repr(result).splitlines()[1:3]
    assert [hit.index("0.6750"), hit.rindex("0.6750")] == [
        precision.index("0.6750"), precision.index("0.3375")
    ]  # fmt: skip
    assert "rough" not in repr(result)
    latex = result.to_latex()
    assert r"\begin{tabular}{lr@{ }lr@{ }l}" in latex
    assert r" & \multicolumn{2}{r}{@1} & \multicolumn{2}{r}{@2} \\" in latex
    assert r"precision & 0.6750 & {\scriptsize$\pm$\,0.1470}" in latex


def test_a15_plots_draw_the_same_intervals():
    _matplotlib()
    result = hits_at_1(3, 3)
    (segments,) = tl.plots.segments({"all": result}, "hit@1").collections
    ((low, _), (high, _)) = segments.get_segments()[0]
    assert (low, high) == pytest.approx(result.interval("hit@1"))


# A17


def test_a17_nth_over_an_ideal_is_refused():
    for name in tl.DIVISORS:
        if name.startswith("ideal"):
            with pytest.raises(ValueError, match="'x': counts='nth'.*passes 1.*counts='each'"):
                tl.Metric("x", "nth", "r", name)
    tl.Metric("x", "first", "r", "ideal(k)")


# C: markup and terminals


def test_c_latex_keeps_notes_in_comments_and_escapes_names():
    a, b = hits_at_1(1, 1), tl.top_k_eval([[2], [1]], [{1}, {1}], k=1, metrics="hit")
    names = "x\n\\input{evil}", "[1cm]y", "*z\u2028\\input{evil}"
    latex = tl.compare(dict(zip(names, (a, b, b), strict=True))).to_latex()
    for line in latex.split("\n"):
        assert "\\input" not in line or line.startswith("%")
    assert "\u2028" not in latex and "\n{[}1cm]y & " in latex and "\n{*}z " in latex


def test_c_markdown_and_html_escape_notes():
    a, b = hits_at_1(1, 1), tl.top_k_eval([[2], [1]], [{1}, {1}], k=1, metrics="hit")
    names = "<script>", "# y", "![z](http://z)"
    both = tl.compare(dict(zip(names, (a, b, b), strict=True)))
    markdown = both.to_markdown()
    assert "DIFFERENT USERS" in markdown
    assert "<script>" not in markdown and "](" not in markdown
    assert not any(line.startswith("#") for line in markdown.split("\n"))
    assert "<script>" not in both._repr_html_()


def test_c_control_characters_reach_no_terminal(tmp_path, capsys):
    evil = tmp_path / "e\x1b[31mvil.csv"
    for path in (evil, tmp_path / "o.csv", tmp_path / "t.csv"):
        path.write_text("user_id,item_id,rank\nu,a,1\n")
    files = [str(evil), str(tmp_path / "o.csv"), str(tmp_path / "t.csv")]
    assert main(["eval", *files, "-k", "1", "-m", "hit"]) == 0
    assert main(["eval", str(evil), str(tmp_path / "no\x1b.csv"), "-k", "1"]) == 1
    evil.write_text("user_id,item_id\nu,a\n")
    assert main(["eval", *files, "-k", "1"]) == 1
    assert main(["check", files[1], files[2]]) == 0
    with pytest.raises(SystemExit):
        main(["eval", *files, "--\x1b[31m"])
    found = capsys.readouterr()
    assert "\x1b" not in found.out + found.err
    assert r"e\x1b[31mvil" in found.out and r"e\x1b[31mvil" in found.err


# B4, B5 and the command line


def test_b5_plot_and_per_user_are_written_both_or_not_at_all(tmp_path, monkeypatch, capsys):
    _matplotlib()
    monkeypatch.chdir(tmp_path)
    for name in ("r.csv", "t.csv"):
        (tmp_path / name).write_text("user_id,item_id,rank\nu,a,1\n")
    for name in ("p.png", "u.csv"):
        (tmp_path / name).write_text("old")
    command = ["eval", "r.csv", "t.csv", "-k", "1", "--plot", "p.png", "--per-user", "u.csv"]

    def full(results, path):
        with open(path, "wb") as stream:
            stream.write(b"half")
        raise OSError(28, "No space left on device", path)

    with monkeypatch.context() as patch:
        patch.setattr(output, "draw", full)
        assert main(command) == 1
    assert capsys.readouterr().err == "toplist: p.png: No space left on device\n"
    assert [(tmp_path / name).read_text() for name in ("p.png", "u.csv")] == ["old", "old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.png", "r.csv", "t.csv", "u.csv"]
    assert main(command) == 0
    assert (tmp_path / "u.csv").read_text().startswith("user_id,hit@1")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "not enough memory"),
        (MemoryError("Unable to allocate 16 GiB"), "not enough memory (Unable to allocate 16 GiB)"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_b4_a_lack_of_memory_or_threads_is_one_line(monkeypatch, capsys, error, line):
    def fail(options):
        raise error

    monkeypatch.setattr("toplist.cli.eval._evaluate", lambda options, *_: fail(options))
    assert main(["eval", "r.csv", "t.csv", "-k", "1"]) == 1
    assert capsys.readouterr().err == f"toplist: {line}\n"
    error = RuntimeError("a fault of toplist itself")
    with pytest.raises(RuntimeError):
        main(["eval", "r.csv", "t.csv", "-k", "1"])


def test_columns_of_one_side(monkeypatch):
    asked = {}

    def keep(recs, truth, **options):
        asked.update(options)
        return hits_at_1(1, 1)

    monkeypatch.setattr("toplist.cli.eval.top_k_eval", keep)
    columns = ["item_id=movie", "ranks:user_id=uid", "ground_truths:user_id=user"]
    assert (
        main(["eval", "r.csv", "t.csv", "-k", "all", "--columns", *columns, "--ties", "item"]) == 0
    )
    assert asked["columns"] == {
        "ranks": {"item_id": "movie", "user_id": "uid"},
        "ground_truths": {"item_id": "movie", "user_id": "user"},
    }
    assert (asked["k"], asked["ties"]) == (None, "item")
    main(["eval", "r.csv", "t.csv", "-k", "1", "--columns", "user_id=uid"])
    assert asked["columns"] == {"user_id": "uid"}
    nested = OptionRef(
        "columns", {"ranks": {"user_id": "uid"}, "ground_truths": {"item_id": "..."}}
    )
    assert option(nested) == "--columns ranks:user_id=uid ground_truths:item_id=NAME"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "all", "5"], "-k all is the whole list: give no other cut-off with it"),
        (["-k", "ten"], "'ten' is no whole number: give cut-offs, or all"),
        (["--columns", "side:user_id=x"], "'side' is no side: ranks, ground_truths"),
        (["--ties", "no"], "invalid choice: 'no'"),
    ],
)
def test_wrong_options_are_refused_in_words(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(["eval", "r.csv", "t.csv", *arguments])
    assert message in capsys.readouterr().err


def test_python_m_toplist():
    command = [sys.executable, "-m", "toplist", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"toplist {tl.__version__}\n"


# D7


def test_d7_one_user_is_one_user():
    assert repr(hits_at_1(1, 1)).endswith("1 of 1 user evaluated")
    found = hits_at_1(1, 2).by(["a", "b"])
    assert "users" in repr(found)
