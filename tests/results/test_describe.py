"""What a result says of itself: whom it counted, by which rules and formulas."""

from dataclasses import replace

import pytest
from doors import by_words
from file_helpers import sent
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import METRICS, Metric, top_k_eval
from toplist.metrics.formulas import GAIN_WORDS


@pytest.fixture
def result():
    return top_k_eval(RANKS, TRUTHS, k=[1, 3, 5])


def test_repr(result):
    assert repr(top_k_eval(RANKS, TRUTHS, k=[1, 3, 5], metrics=["recall", "map"])) == (
        "                             @1                       @3                       @5\n"
        "recall  0.2917 [0.0000, 0.8211]  0.5833 [0.0000, 1.0000]  0.7500 [0.0000, 1.0000]\n"
        "map     1.0000 –                 0.6111 [0.0000, 1.0000]  0.6417 [0.0000, 1.0000]\n"
        "convention standard: mean over users\n"
        "95 % interval, ± half or [low, high]: Student's t (rough: only 2 users); – where all "
        "values are equal\n"
        "2 of 2 users evaluated"
    )
    labels = [line.split("  ")[0] for line in repr(result).splitlines()[1:-3]]
    assert labels == ["hit", "precision", "recall", "map", "ndcg", "mrr"]


def test_repr_says_who_was_counted():
    ranks = {"ann": [1, 2], "bob": [2], "eve": [3]}
    truths = {"ann": {2}, "bob": {1}, "cid": {1}, "dan": set()}
    lines = repr(top_k_eval(ranks, truths, metrics=["mrr@2", "hit@1", "mrr@1"])).splitlines()
    assert lines == [
        "                          @1                       @2",
        "mrr  0.0000 –                 0.1667 [0.0000, 0.8838]",
        "hit  0.0000 [0.0000, 0.5615]",
        "convention standard: mean over users",
        "95 % interval, ± half or [low, high]: Student's t for mrr; Wilson for hit "
        "(rough: only 3 users); – where all values are equal",
        "3 of 4 users evaluated, 1 skipped (no relevant items), 1 without a list (counted as 0), "
        "1 with a list but no ground truth (ignored)",
    ]
    # each user is told once: without relevant items, or else without a list
    more = {"ann": ["1"], "bob": ["1"]}, {"ann": ["1"], "bob": [], "cid": [], "dan": ["2"]}
    for empty, told in (
        ("skip", "1 of 4 users evaluated, 2 skipped (no relevant items), 1 without a list"),
        ("zero", "1 skipped (no relevant items), 1 without a list (left out)"),
    ):
        assert told in repr(
            top_k_eval(
                *more, 1, convention=tl.CONVENTIONS["standard"].replace(empty=empty, missing="skip")
            )
        )
    only = repr(
        top_k_eval(
            {"ann": ["1"]},
            {"ann": ["1"], "dan": ["2"]},
            1,
            convention=tl.CONVENTIONS["standard"].replace(missing="skip"),
        )
    )
    assert "1 of 2 users evaluated, 1 without a list (left out)" in only
    options = {"k": 1, "convention": "neurec", "empty": "skip", "missing": "skip"}
    skipping = repr(by_words(ranks, truths, **options)).splitlines()
    assert skipping[-3].startswith("convention neurec: mean over users")
    assert skipping[-1] == (
        "2 of 4 users evaluated, 1 skipped (no relevant items), "
        "1 without a list (left out), 1 with a list but no ground truth (ignored); NO HIT AT ALL: "
        "the lists hold items such as '1', the ground truths '2'; "
        "are the item ids of both sides written in the same way?"
    )


def rare(n_users, n_hits, **options):
    """Return a result of users of whom some have a hit, at rank 2, of two relevant items."""
    lists = [[-1, user] if user < n_hits else [-1] for user in range(n_users)]
    return by_words(lists, [{user, -2} for user in range(n_users)], **options)


def test_an_interval_is_rough_where_few_users_have_a_value():
    """With one user in a hundred hit, intervals of a thousand users cover less than they say."""
    words = "(rough where few users have a value other than 0: {} for mrr@2)"
    for n_hits in (1, 29, 30):
        result = rare(1_000, n_hits, k=2, metrics=["hit", "mrr"])
        bare = sent(result)
        assert (words.format(n_hits) in repr(result)) == (words.format(n_hits) in repr(bare))
        assert (words.format(n_hits) in repr(result)) == ("rough" in repr(result)) == (n_hits < 30)
    assert "rough" not in repr(rare(1_000, 5, k=2, metrics="hit"))  # Wilson's holds


def test_a_user_without_relevant_items_who_counts_as_one_has_a_value():
    lists = [[-1, user] if user < 28 else [-1] for user in range(1_000)]
    truths = [{user, -2} if user < 998 else set() for user in range(1_000)]
    result = top_k_eval(
        lists,
        truths,
        k=2,
        metrics="mrr",
        convention=tl.CONVENTIONS["standard"].replace(empty="one"),
    )
    assert "rough" not in repr(result)
    assert "rough where few" in repr(
        top_k_eval(
            lists,
            truths,
            k=2,
            metrics="mrr",
            convention=tl.CONVENTIONS["standard"].replace(empty="zero"),
        )
    )


def test_an_interval_that_says_nothing_is_a_dash():
    line = "95 % interval: – where all values are equal"
    for n_users, n_hits in ((2, 2), (1_000, 1_000), (1_000, 0)):
        result = rare(n_users, n_hits, k=2, metrics="mrr")
        assert repr(result).splitlines()[1] == f"mrr  {result['mrr@2']:.4f} –"
        assert line in repr(result).splitlines()
        assert "rough" not in repr(result) and "±" not in result.to_markdown()
        assert f"& {result['mrr@2']:.4f} {{\\scriptsize--}}" in result.to_latex()
        assert ">–</span>" in result._repr_html_()
    assert "mrr" not in repr(rare(9, 9, k=2, metrics=["hit", "mrr"])).splitlines()[4]


def test_repr_of_one_user_and_of_nobody():
    assert repr(top_k_eval([1, 2], {2}, k=2, metrics="mrr")) == (
        "         @2\nmrr  0.5000\nconvention standard: mean over users\n1 of 1 user evaluated"
    )
    assert repr(top_k_eval([], [], k=2, metrics="mrr")) == (
        "      @2\nmrr  nan\nconvention standard: mean over users\n0 of 0 users evaluated"
    )


def test_formula_as_text(result):
    first, *others = result.formula("map@3").splitlines()
    assert first == "map@k = sum over r_j <= k of j / r_j, divided by min(k,R)"
    for words in ("rank of the user's j-th hit", "convention standard", "2 of 2 users evaluated"):
        assert any(words in line for line in others)
    assert result.formula("map").splitlines()[0] == first
    for convention, words in (("neurec", "sum(min(i,R))"), ("trec_eval", "R")):
        text = top_k_eval(RANKS, TRUTHS, k=3, convention=convention).formula("map")
        assert text.splitlines()[0].endswith(f"divided by {words}")
        assert f"convention {convention}" in text


@pytest.mark.parametrize("style", ["text", "latex"])
def test_every_metric_has_a_formula(style):
    judged = [dict.fromkeys(truth, 1) | {-1: 0} for truth in TRUTHS]
    result = top_k_eval(RANKS, judged, k=3, metrics=METRICS)
    formulas = [result.formula(name, style).splitlines()[0] for name in METRICS]
    assert len(set(formulas)) == len(METRICS)
    for name, formula in zip(METRICS, formulas, strict=True):
        written = name.replace("_", r"\_")
        assert formula.startswith(
            rf"\mathrm{{{written}}}@k = " if style == "latex" else f"{name}@k = "
        )
        assert formula.count("{") == formula.count("}")


def test_an_own_formula_is_printed_as_it_is(result):
    def squared(r):
        """rank squared"""
        return r * r

    metric = Metric("mine", "each", squared, "1", latex=r"\mu@k")
    own = top_k_eval(RANKS, TRUTHS, k=3, metrics=[metric])
    assert own.formula("mine", "latex").splitlines()[0] == r"\mu@k"
    assert "rank squared" in own.formula("mine")
    plain = top_k_eval(RANKS, TRUTHS, k=3, metrics=[Metric("mine", "each", "1", "1")])
    assert plain.formula("mine").startswith("mine@k = sum over")
    lines = result.formula("map@3", "latex").splitlines()
    assert lines[0] == r"\mathrm{map}@k = \frac{\sum_{j : r_j \le k} \frac{j}{r_j}}{\min(k, R)}"
    with pytest.raises(ValueError, match="style='html': choose from 'text', 'latex'"):
        result.formula("map", "html")


def test_a_result_says_how_equal_scores_were_ordered():
    truth = {"ann": {"a": 1}}
    ranks = {"ann": {"b": 1.5, "a": 1.5}}
    shown = [
        tl.top_k_eval(tl.Ranks(ranks, ties=ties), truth, 1, metrics=["hit"])
        for ties in ("item", "item_desc")
    ]
    assert [one["hit@1"] for one in shown] == [1.0, 0.0]
    assert "equal scores by item id, ascending" in str(shown[0])
    assert "equal scores by item id, descending" in shown[1].formula("hit")
    assert "equal scores in the order of the rows" in str(tl.top_k_eval(ranks, truth, 1))
    again = sent(shown[0])
    assert "equal scores by item id, ascending" in str(again)
    with pytest.raises(ValueError, match="ties"):
        tl.merge([shown[0], shown[1]])


def test_no_hit_names_an_item_of_each_side_and_the_cause():
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


LISTS, HELD = [[1, 2, 3], [4, 5, 6]], [{1, 9}, {6}]


def test_an_own_metric_is_not_said_to_be_of_the_convention():
    standard = tl.METRICS["map"]
    result = tl.top_k_eval(LISTS, HELD, k=3, convention="neurec", metrics=["mrr", standard])
    assert "convention neurec (except map: own definition)" in repr(result)
    assert "own definition, policies of convention neurec" in result.formula("map")
    assert "convention neurec; the same in" in result.formula("mrr")
    tuned = tl.top_k_eval(LISTS, HELD, k=3, metrics=["rbp(p=0.5)"])
    assert "own definition" not in repr(tuned)


@pytest.mark.parametrize("gains", GAIN_WORDS)
def test_a_graded_formula_says_what_a_gain_is(gains):
    result = tl.top_k_eval(
        LISTS,
        [{1: 2}, {6: 1}],
        k=3,
        metrics=["ndcg", "map"],
        convention=tl.CONVENTIONS["standard"].replace(gains=gains),
    )
    for style in ("text", "latex"):
        assert GAIN_WORDS[gains] in result.formula("ndcg", style).splitlines()
    assert "gain_j:" not in result.formula("map")


def test_grading_is_printed():
    truths = [{1: 5, 2: 3}, {6: 4}]
    options = {"relevant_from": 4, "gains": "exponential"}
    result = by_words(LISTS, truths, k=3, metrics=["ndcg", "recall"], **options)
    for told in (repr(result), result.formula("ndcg")):
        assert "relevant from grade 4, gain 2^grade - 1" in told
    assert "the same in" not in result.formula("ndcg")
    assert "relevant from grade 4; the same in" in result.formula("recall")


def test_a_footer_says_whether_truths_had_grades():
    """The means differ, and so do the lines below them."""
    plain, graded = (
        tl.top_k_eval(LISTS, truths, k=3, metrics=["ndcg", "map"])
        for truths in (HELD, [{1: 3, 9: 1}, {6: 2}])
    )
    assert plain["ndcg@3"] != graded["ndcg@3"]
    assert "grade" not in repr(plain)
    for one in (graded, sent(graded)):
        assert "convention standard, gain = grade: mean over users" in repr(one)
        assert "gain = grade" in one.formula("ndcg") and "gain = grade" not in one.formula("map")
    alone = tl.top_k_eval(LISTS, [{1: 3, 9: 1}, {6: 2}], k=3, metrics="map")
    assert "grade" not in repr(alone)
    assert "gain = grade" in repr(tl.compare({"a": graded, "b": graded}))


TWENTY = {f"u{user}": list(range(20)) for user in range(40)}
ONE_EACH = {user: {at % 30} for at, user in enumerate(TWENTY)}


@pytest.mark.parametrize(
    ("k", "said"),
    [
        ([10, 20], ""),
        (None, ""),
        (50, "no list has more than 20 items: k = 50 finds no more"),
        ([10, 30, 50], "no list has more than 20 items: k = 30 to 50 finds no more"),
    ],
)
@pytest.mark.parametrize("convention", ["standard", "trec_eval", "xgboost"])
def test_a_k_that_is_deeper_than_every_list_is_said_once(k, said, convention, tmp_path):
    ask = {"k": k, "metrics": ["precision", "ndcg"], "convention": convention}
    result = by_words(TWENTY, ONE_EACH, **ask)
    rows = [f"{user},{item},{1 + item}" for user, row in TWENTY.items() for item in row]
    truth = [f"{user},{item}" for user, row in ONE_EACH.items() for item in row]
    for name, lines in (("r", ["user_id,item_id,rank", *rows]), ("t", ["user_id,item_id", *truth])):
        (tmp_path / f"{name}.csv").write_text("\n".join([*lines, ""]))
    result.save(tmp_path / "a.npz")
    for one in (
        result,
        by_words(tmp_path / "r.csv", tmp_path / "t.csv", **ask),
        by_words(tmp_path / "r.csv", tmp_path / "t.csv", keep="users", **ask),
        tl.merge([result, by_words({"x": TWENTY["u0"]}, {"x": {1}}, **ask)]),
        tl.TopKResult.load(tmp_path / "a.npz"),
        sent(result),
        tl.compare({"a": result, "b": result}),
    ):
        text = one.to_text()
        assert text.count("no list has more") == bool(said) and said in text


def test_of_lists_of_other_lengths_the_longest_decides():
    short = {user: row[:15] for user, row in TWENTY.items()}
    results = {
        n: tl.top_k_eval(one, ONE_EACH, [20, 50]) for n, one in {"a": short, "b": TWENTY}.items()
    }
    text = str(tl.compare(results))
    assert "LISTS OF DIFFERENT LENGTH" in text
    assert text.count("no list has more than 20 items: k = 50 finds no more") == 1
    ranks = tl.Hits.from_ranks([1, 2, 0], 3)
    assert "no list" not in str(tl.top_k_eval(ranks, k=3, metrics="hit"))
    assert "no list" not in str(tl.top_k_eval({"a": []}, {"a": {1}}, k=3, metrics="hit"))


def test_formulas_say_which_grades_gain():
    lists, truths = {1: ["a", "b"]}, {1: {"a": 1, "b": 2}}
    for convention in ("trec_eval", "mteb", "elasticsearch"):
        asked = {"metrics": ["ndcg", "ndcg(rel=2)"], "convention": convention, "relevant_from": 2}
        result = by_words(lists, truths, 2, **asked)
        assert "items of lower grades than 2 gain, too" in result.formula("ndcg@2")
        own = result.formula("ndcg(rel=2)@2")
        assert "relevant: from grade 2 on" in own and "lower grades" not in own
