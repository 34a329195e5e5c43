"""Metrics that are equal by definition share a row in print; those that happen to agree do not."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist.cli import main

ONE_OUT = tl.Hits.from_ranks([1, 3, 0, 2, 5], 5)


def labels(result):
    """Return the labels of the rows as printed."""
    rows = repr(result).splitlines()[1 : -len(result._page().notes)]
    return [row.split("  ")[0] for row in rows]


def test_rows_that_are_nearly_equal_stay_apart():
    """A discount of one's own is never the same by definition, whatever its values."""
    standard = tl.METRICS["mrr"]
    near = tl.Metric("near", "first", lambda r: np.where(r == 3, r * (1 + 1e-15), r), "1")
    twin = dataclasses.replace(standard, name="twin")
    result = tl.top_k_eval(ONE_OUT, k=[1, 3], metrics=[standard, near, twin])
    assert labels(result) == ["mrr = twin", "near"]
    first = tl.top_k_eval(ONE_OUT, k=[1, 2], metrics=[standard, near])
    assert labels(first) == ["mrr", "near"]


def test_only_rows_of_the_same_k_are_one():
    result = tl.top_k_eval(ONE_OUT, metrics=["hit@3", "recall@3", "mrr@3", "map@5", "cg@3", "cg@5"])
    assert labels(result) == ["hit", "recall", "mrr", "map", "cg"]
    both = tl.compare({"a": result, "b": result})
    assert "hit@3 = recall@3" in both.to_text()


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.integers(1, 3))
def test_leave_one_out_identities_to_the_last_bit(ranks, parts):
    """The spread too, of a whole and of merged parts."""
    pieces = np.array_split(np.array(ranks), parts)
    hits = [tl.Hits.from_ranks(piece, 30) for piece in pieces if len(piece)]
    merged = sum(tl.top_k_eval(part, k=30) for part in hits)
    whole = tl.top_k_eval(tl.Hits.from_ranks(ranks, 30), k=30)
    for result in (whole, merged):
        for one, other in (("hit", "recall"), ("map", "mrr")):
            assert result.std(one).tobytes() == result.std(other).tobytes()
            assert result[one].tobytes() == result[other].tobytes()
    for name in ("recall", "map", "ndcg"):
        expected = whole.per_user(name).std(axis=0, ddof=1)
        np.testing.assert_allclose(whole.std(name), expected, rtol=1e-12, atol=1e-15)


def test_values_that_happen_to_agree_share_no_row():
    metrics = ["precision", "map", "recall", "mrr"]
    result = tl.top_k_eval([[1, 2, 3, 4], [9, 5, 6, 8]], [{1, 3}, {5, 7}], k=4, metrics=metrics)
    assert result["recall@4"] == result["mrr@4"]
    for text in (repr(result), result.to_markdown(), result.to_latex(), result._repr_html_()):
        assert " = " not in text.split("convention")[-1 if "%" in text[:1] else 0]
    pytest.importorskip("matplotlib")
    legend = result.plot().get_legend().get_texts()
    assert all("=" not in one.get_text() for one in legend)


def test_identities_of_one_relevant_item_and_of_equal_choices():
    same = replace(tl.METRICS["recall"], name="same")
    metrics = ["hit", "recall", "map", "mrr", "ndcg", "dcg", "precision"]
    for one_out in ((ONE_OUT,), ([1], {1})):  # one user with one item is leave-one-out, too
        result = tl.top_k_eval(*one_out, k=[1, 3], metrics=metrics)
        # hit has an interval of its own, that of a proportion
        assert labels(result) == ["hit", "recall", "map = mrr", "ndcg = dcg", "precision"]
    assert all(len(labels(tl.top_k_eval(*no, k=1))) == 6 for no in (([1], {1, 2}), ([], [])))
    assert "map = mrr" in result._repr_html_() and result.terms.asked.keys() == set(metrics)
    assert [*result.to_dict()] == [f"{name}@{k}" for name in metrics for k in (1, 3)]
    several = tl.top_k_eval([[1, 2]] * 2, [{1, 2}, {3}], k=2, metrics=[*metrics, same])
    assert labels(several) == [*("hit", "recall = same", "map", "mrr", "ndcg", "dcg", "precision")]
    graded = tl.top_k_eval([[1, 2]] * 2, [{1: 3.0}, {2: 2.0}], k=2, metrics=["ndcg", "dcg", "cg"])
    assert labels(graded) == ["ndcg", "dcg", "cg"]
    pooled = tl.top_k_eval(
        [[1]] * 2,
        [{1}, set()],
        1,
        metrics=["hit", "recall"],
        convention=tl.CONVENTIONS["standard"].replace(empty="zero", aggregate="pooled"),
    )
    assert labels(pooled) == ["hit", "recall"]  # a user without items counts in one of them


def test_a_switch_prints_every_metric(tmp_path, capsys):
    one_out = tl.top_k_eval(ONE_OUT, k=3, metrics=["map", "mrr"])
    both = tl.compare({"a": one_out, "b": one_out})
    for shown in (one_out, both):
        for write in (shown.to_text, shown.to_markdown, shown.to_latex):
            assert " = mrr" in write()
            assert " = mrr" not in write(every_metric=True)
    for name in ("r", "t"):
        (tmp_path / f"{name}.csv").write_text("user_id,item_id,rank\nu,a,1\n")
    files = [str(tmp_path / "r.csv"), str(tmp_path / "t.csv")]
    assert main(["eval", *files, "-k", "1", "-m", "map", "mrr", "--every-metric"]) == 0
    assert "map = mrr" not in capsys.readouterr().out


CHOSEN = (["ndcg@3", "hit"], "mrr@1", ["recall@1", "hit@1"], ["novelty@3", "map"], ["novelty@1"])


@pytest.mark.parametrize("names", CHOSEN, ids=str)
def test_every_output_takes_the_names_to_show(names):
    """It is that of an evaluation in which nothing else was asked."""
    ranks, truths = {"a": [1, 2, 3], "b": [3, 4], "c": [9]}, {"a": {2}, "b": {3}, "c": {1}}
    options = {"counts": {1: 4, 2: 3, 3: 2, 4: 1, 9: 1}}
    metrics = ["hit", "recall", "map", "ndcg", "mrr", "novelty"]
    whole = by_words(ranks, truths, k=[1, 3], metrics=metrics, **options)
    spelled = [names] if isinstance(names, str) else names
    asked = [n for one in spelled for n in ([one] if "@" in one else [f"{one}@1", f"{one}@3"])]
    other = by_words(ranks, truths, metrics=asked, **options)
    for every in (False, True):
        for output in ("to_text", "to_html", "to_markdown", "to_latex"):
            assert getattr(whole, output)(every, names=names) == getattr(other, output)(every)
            two = tl.compare({"x": whole, "y": whole}), tl.compare({"x": other, "y": other})
            shown = [getattr(one, output) for one in two]
            mine, theirs = shown[0](every, names=names), shown[1](every)
            if output == "to_latex":  # what is tested, and corrected for, is all of the comparison
                mine, theirs = (one.split("begin{tabular}")[1] for one in (mine, theirs))
                mine, theirs = (one.split("end{tabular}")[0] for one in (mine, theirs))
            assert mine == theirs
    labels = {"a": 1, "b": 2}
    segments = "novelty@1" not in asked and "novelty@3" not in asked
    if segments:
        assert whole.by(labels).to_text(names=names) == other.by(labels).to_text()
    pytest.importorskip("pandas")
    if segments:
        assert repr(whole.by(labels).to_pandas(names=names)) == repr(other.by(labels).to_pandas())
    assert repr(whole.to_pandas(names=names)) == repr(other.to_pandas())
    assert repr(whole.to_pandas(True, names=names)) == repr(other.to_pandas(True))


def test_names_that_are_not_there_are_refused():
    result = tl.top_k_eval([[1, 2]], [{2}], k=[1, 2], metrics=["mrr", "ndcg"])
    with pytest.raises(KeyError, match="'hit@1' is not shown here: there are mrr@1, mrr@2, ndcg@1"):
        result.to_text(names=["mrr", "hit@1"])
    for empty in ([], ()):
        with pytest.raises(ValueError, match="names is empty"):
            result.to_markdown(names=empty)
    with pytest.raises(TypeError, match="names is 3: give 'ndcg@10', or a list"):
        result.to_latex(names=3)
    other = tl.top_k_eval([[1, 2]], [{2}], k=[1, 2], metrics=["mrr"])
    with pytest.raises(KeyError, match="y has none of these: it has mrr@1, mrr@2"):
        tl.compare({"x": result, "y": other}).to_html(names="ndcg")
    tests = tl.compare({"x": result, "y": result}).test()
    assert "mrr@2" not in tests.to_latex(names="mrr@1")
    with pytest.raises(KeyError, match="'hit@1' is not tested here: there are mrr@1"):
        tests.to_latex(names="hit@1")
