"""What metrics of lists, exposures and agreements refuse: one table of calls and words."""

import re

import numpy as np
import pytest
from doors import by_words
from listwise import listwise
from shared_inputs import said

import toplist as tl
from toplist import beyond
from toplist.metrics.beyond_accuracy import LIST_METRICS

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
EXPOSURE = beyond.exposure(LISTS, catalogue=8)
NAN = float("nan")
MASKED = np.ma.array(np.eye(9), mask=np.eye(9) > 0)
L, overlap, rbo = listwise, beyond.overlap, beyond.rbo
KEYED = {"ann": [1, 9], "bob": [9]}
LABELS = {"a": "war", "b": ["war", "love"]}


def calibration(*lists, **known):
    return L.calibration(*lists, **{"history": [["a"]], "labels": LABELS} | known)


def evaluated(**options):
    """Evaluate one user; say what is given otherwise."""
    known = {"metrics": "calibration", "history": {"u": ["a"]}, "labels": LABELS} | options
    return by_words({"u": ["a", "b"]}, {"u": ["a"]}, 2, **known)


def from_counts(items=(0,), ranks=(1,), counts=(1,)):
    return beyond.Exposure.from_counts(items, ranks, counts, n_users=2, catalogue=3)


ITEMS = beyond.exposure([[1]], catalogue=2)
ARRAY = beyond.exposure([[3, 1]], catalogue=np.array([3, 1, 2]))
FALLING = ITEMS.pairs._make(map(np.array, ([0, 2], [1, 0], [1, 1])))  # at one rank
A = {"ann": [1, 2, 3], "bob": [4, 5], "eve": [6]}
B = {"zoe": [6], "bob": [5, 4], "ann": [3, 9]}
WHOLE = rbo(A, B, k=3)
SKIP = {"unknown": "skip"}
REFUSED = [
    # what is needed
    (lambda: L.shannon_entropy(LISTS, normalised="catalogue"), "=catalogue) needs toplist.Items("),
    (lambda: L.intra_list_diversity([["a"]], distance="jaccard"), "needs toplist.Items(labels="),
    (lambda: tl.top_k_eval(LISTS, items={3: 1}), "items is a dict: give toplist.Items(counts=...)"),
    (lambda: L.gini(beyond.exposure(LISTS)), "gini needs toplist.beyond.exposure(catalogue="),
    (lambda: L.hit_share([["a"]], [["a"]], labels=LABELS), "name a label, as in 'hit_share(label="),
    # items that are unknown
    (
        lambda: L.item_coverage(KEYED, catalogue=8),
        "user 'ann' lists item 9 at rank 2 ... in catalogue (2 such places); unknown='skip'",
    ),
    (
        lambda: L.average_popularity([["a", "z"]], counts={"a": 1}),
        "user 0 lists item 'z' at rank 2, which is not in counts ... unknown='skip' ... "
        "average_popularity(unknown=1)",
    ),
    (
        lambda: L.novelty([["a"]], counts={"a": 0, "b": 1}),
        "item 'a' at rank 1 ... unknown='skip' ... a count of 0 is none",
    ),
    (
        lambda: L.intra_list_diversity([[5]], features={1: [1]}),
        "item 5 at rank 1, which is not in features ... unknown=nan ... gives NaN",
    ),
    (
        lambda: L.tail_percentage([[5]], counts={1: 1}),
        "item 5 at rank 1 ... tail_percentage(unknown=tail), or =head, counts them",
    ),
    (
        lambda: calibration([["a", "x", "b"]], history=[["a", "y"]]),
        "history: user 0 has item 'y', which is not in labels",
    ),
    (lambda: calibration([["a", "x"]]), "user 0 lists item 'x' at rank 2, which is not in labels"),
    (
        lambda: L.average_popularity([[8], [7]], counts={1: 3}, **SKIP),
        "no item of ranks is in counts: it has 1, ranks has 8",
    ),
    (
        lambda: calibration([["q"]], labels={"q": "war"}, **SKIP),
        "no item of history is in labels: it has 'q', history has 'a'",
    ),
    (lambda: L.item_coverage([[1], [2, 10**9]], catalogue=10**9), "user 1 lists item 1000000000"),
    (lambda: L.item_coverage([[-1]], catalogue=10**9), "user 0 lists item -1 at rank 1"),
    (lambda: L.item_coverage([[1, 1]], catalogue=10**9), "1 at ranks 1 and 2 ... padding=1"),
    (lambda: L.item_coverage([["a"]], catalogue=10**9), "'a' in ranks and 0 in"),
    (lambda: L.item_coverage([["a"]], catalogue=3), "'a' in ranks and 0 in catalogue"),
    # lists and catalogues
    (
        lambda: L.gini([[1, 2], [3, 4, 3, 4]], catalogue=8),
        "user 1 has item 3 at ranks 1 and 3 ... duplicates='first'",
    ),
    *(
        (
            lambda unknown=unknown: L.average_popularity(
                [["a", "z", "z"]], counts={"a": 6}, unknown=unknown
            ),
            "user 0 has item 'z' at ranks 2 and 3",
        )
        for unknown in (0, "skip")
    ),
    (lambda: L.item_coverage(LISTS, catalogue=True), "catalogue must be"),
    (lambda: L.item_coverage(LISTS, catalogue=0), "catalogue must be at least 1"),
    (
        lambda: L.item_coverage(LISTS, catalogue=[1, -1], padding=-1),
        "catalogue holds the padding id -1",
    ),
    (lambda: L.item_coverage(LISTS, catalogue="abc"), "catalogue is a str: give"),
    (lambda: L.item_coverage([[0.5]], catalogue=3), "0.5 is a float, never an id"),
    (lambda: L.item_coverage({1, 2}, catalogue=8), "has no ranking"),
    (lambda: L.item_coverage(tl.match([[1]], [[1]]), catalogue=8), "a Hits holds no ids"),
    (lambda: evaluated(metrics="gini@0"), "k must be a whole number from 1 on"),
    (lambda: L.gini(LISTS, catalogue=8, k=0), "k must be at least 1"),
    (lambda: beyond.exposure(LISTS, unknown="zero"), "unknown='zero': choose from 'raise', 'skip'"),
    (lambda: beyond.exposure(LISTS, paddin=0), "named 'paddin': lists are read by dup"),
    # parameters
    (lambda: L.gini(LISTS, catalogue=8, over="all"), "over='all': choose from"),
    (lambda: L.gini(LISTS, catalogue=8, unknown="zero"), "takes over, divisor, not unknown"),
    (
        lambda: L.average_popularity(LISTS, counts=[1], unknown=-1),
        "unknown must be a finite number from 0 on, not -1",
    ),
    (
        lambda: L.tail_percentage(LISTS, counts=[1], share=0.1, max_count=3),
        "the tail is given twice",
    ),
    (lambda: L.tail_percentage(LISTS, counts=[1], share=2), "share must be above 0 and at most 1"),
    (lambda: L.tail_percentage(LISTS, counts=[1], n_items=0), "n_items must be a whole number"),
    (lambda: L.novelty(LISTS, counts=[1], total=0), "total must be"),
    (lambda: L.novelty(LISTS, counts=[9], total=5), "total=5 is below a count of 9"),
    # the mask of an array was dropped
    *(
        (
            lambda one=one, name=name: getattr(L, name)(LISTS, **{one: MASKED}),
            f"{one} is a masked array",
        )
        for one, name in {
            "catalogue": "item_coverage",
            "counts": "novelty",
            "features": "intra_list_diversity",
            "expected": "unexpectedness",
        }.items()
    ),
    *(
        (lambda more=more: L.novelty(LISTS, counts=[1, 1], unknown=5, **more), words)
        for more, words in (
            ({}, "unknown=5 is above the total of all counts, 2"),
            ({"total": 3}, "unknown=5 is above the total of all counts, 3"),
        )
    ),
    (lambda: L.novelty(LISTS, counts=[1], unknown=0), "unknown must be ... above 0, not 0"),
    (lambda: evaluated(metrics="exposure_share(label=wra)"), "no item is labelled 'wra': there"),
    (lambda: evaluated(metrics="hit_share", labels={"a": None}), "labels has no label"),
    (lambda: evaluated(metrics="calibration(x=1)"), "takes distance, weights, alpha, not x"),
    (lambda: evaluated(metrics="calibration(weights=rnak)"), "did you mean 'rank'"),
    (
        lambda: evaluated(metrics=["gini", "gini@2"], catalogue=["a", "b"]),
        "'gini@2' is asked for twice",
    ),
    (lambda: evaluated(metrics="ginny"), "choose from hit ... of the lists themselves: item_cov"),
    # facts
    (lambda: L.average_popularity(LISTS, counts={5: -1}), "counts: item 5 has -1"),
    (lambda: L.average_popularity(LISTS, counts="abc"), "give a dict item -> number"),
    (lambda: L.average_popularity(LISTS, counts={5: "1"}), "must hold numbers"),
    (
        lambda: L.intra_list_diversity(LISTS, features={1: [1], 2: [1, 2]}),
        "item 1 has 1 numbers, item 2 2",
    ),
    (lambda: L.intra_list_diversity(LISTS, features=[[NAN]]), "item 0 ... is not finite"),
    (lambda: L.intra_list_diversity(LISTS, features=[1, 2]), "item -> vector ... or a 2-D"),
    (
        lambda: L.intra_list_diversity([[0, 1]], features=[[1e200], [1]], distance="euclidean"),
        "item 0 has a number beyond 3e+135",
    ),
    *(
        (lambda matrix=matrix: L.intra_list_diversity([[0, 1]], distances=matrix), words)
        for matrix, words in (
            ([[0, 1]], "give a square array"),
            ([[0, 1], [2, 0]], "the same in both directions"),
            ([[0, NAN], [NAN, 0]], "must be finite"),
        )
    ),
    *(
        (lambda given=given: evaluated(**given), words)
        for given, words in (
            ({"history": [["a"]]}, "ranks is keyed by user, history is by position: give"),
            ({"history": {"zoe": ["a"]}}, "no user is in both: ranks has 'u', history has 'zoe'"),
            ({"expected": {1}, "metrics": "unexpectedness"}, "'a' in ranks and 1 in expected"),
            ({"history": 7}, "history is a int: give a dict user -> items, a table"),
            ({"history": {"u": [1.5]}}, "history: ... 1.5"),
            ({"labels": 7}, "labels is a int: give a dict item -> label"),
            ({"labels": {"a": [["x"]]}}, "item 'a' has ... give text or numbers"),
            ({"labels": {"a": {"x": 1}}}, "item 'a' has the label {'x': 1}, a dict: gi"),
            ({"labels": {"a": 1, "b": "1"}}, "1 and '1' are written alike: gi"),
            ({"labels": {"a": [1], "b": ["1"]}}, "1 and '1' are written alike: gi"),
            ({"labels": {"a": True, "b": "True"}}, "True and 'True' are written alike: gi"),
            ({"labels": {"a": "x", 3: "y"}}, "ids of two kinds, ... in labels and ... in labels"),
        )
    ),
    (lambda: calibration([["a"]], history={"u": ["a"]}), "history is keyed ... ranks=dict(zip(USE"),
    (lambda: calibration([["a"], ["b"]]), "ranks has 2 lists, history has 1: lists by position"),
    # exposures
    (lambda: L.gini(EXPOSURE, 4), "k=4 is deeper than this Exposure was read to, k=3"),
    (lambda: L.gini(EXPOSURE, catalogue=9), "it takes no items"),
    (lambda: L.average_popularity(EXPOSURE, counts=[1]), "Exposure"),
    (lambda: EXPOSURE + beyond.exposure(LISTS, 1, catalogue=8), "to k=3 and to k=1 do not merge"),
    (lambda: EXPOSURE + beyond.exposure(LISTS, catalogue=9), "two catalogues do not merge"),
    (lambda: EXPOSURE + beyond.exposure(LISTS, catalogue=[*range(1, 9)]), "two catalogues do not"),
    (
        lambda: beyond.exposure(LISTS) + beyond.exposure(LISTS),
        "stated catalogue only: give catalogue=",
    ),
    (lambda: EXPOSURE + 1, "Exposure"),
    (lambda: ARRAY + beyond.exposure([[0, 1]], catalogue=4), "two catalogues do not"),
    (lambda: ARRAY + beyond.exposure([[0, 1]], catalogue=3), "two catalogues do not"),
    (
        lambda: beyond.Exposure.of_counts(1, 2, 3, range(3), FALLING),
        "the counts of listed items contradict each other",
    ),
    (
        lambda: L.novelty(EXPOSURE, counts={5: 1}),
        "novelty is of the lists themselves, and an Exposure holds none",
    ),
    (lambda: ITEMS.discounted(discount="log"), "choose from '1' ... 'rbp(p=0.8)'"),
    (lambda: ITEMS.discounted(discount="rbp(p=2)"), "p must be above 0 and below 1"),
    (lambda: ITEMS.discounted(discount=lambda r: r - 1), "its discount at rank 1 is 0.0"),
    (lambda: ITEMS.discounted(2), "k=2 is deeper than this Exposure"),
    (lambda: ITEMS.ratios({"1": "a"}), "no item in common: groups has '1', the catalogue 0"),
    (lambda: ITEMS.ratios(["a"]), "groups has 1 places, the catalogue 2 items"),
    (lambda: ITEMS.ratios({1: ["a", "b"]}), "item 1 has ['a', 'b']: an item has one group"),
    (lambda: beyond.exposure([[1]]).ratios({1: "a"}), "ratios of groups needs ... catalogue="),
    (lambda: from_counts([3]), "items: 3 is not in the catalogue"),
    (lambda: from_counts(["0"]), "items: '0' is not in the catalogue"),
    (lambda: from_counts([True]), "items: True is not in the catalogue"),
    (lambda: from_counts(ranks=[0]), "ranks: whole numbers from 1 on"),
    (lambda: from_counts(counts=[1.0]), "counts: whole numbers from 1 on"),
    (lambda: from_counts(counts=[1, 1]), "counts: one of each of the 1 items"),
    (lambda: from_counts([0, 0], [1, 1], [1, 1]), "item 0 is there twice at rank 1"),
    (lambda: from_counts(counts=[3]), "3 items at rank 1, but there are 2 lists"),
    # two systems
    (lambda: overlap([[1], [2]], [[1]]), "a has 2 lists, b has 1: lists by position"),
    (lambda: overlap({1: [1]}, {"1": [1]}), "a has 1, b has '1' (a number and its text"),
    (lambda: overlap({"x": [1]}, {"x": [1, 2, 1]}), "b: user 'x' has item 1 at ranks 1 and 3"),
    (lambda: overlap([[1, 2, 2]], [[1]]), "a: user 0 has item 2 at ranks"),
    (lambda: overlap([[1, -1, 2]], [[1]], padding=-1), "a: user 0 has padding at rank 2"),
    (lambda: overlap([[1]], [[1]], 0), "k must be at least 1"),
    (lambda: overlap([[1]], [[1]], divisor="n"), "divisor='n': choose from"),
    (lambda: overlap([[1]], [[1]], duplicates="last"), "duplicates='last': choose from"),
    (lambda: rbo([[1]], [[1]], 1.0), "p = 1.0 must be ... below 1"),
    (lambda: rbo([[1]], [[1]], 0), "p = 0 must be ... above 0"),
    (lambda: rbo([[1]], [[1]], True), "p = True must be"),
    (lambda: overlap([[1]], [[1]]).interval(95), "level must be between 0 and 1, not 95"),
    (lambda: WHOLE + rbo(A, B, 0.5, k=3), "rbo(p=0.9) ... and rbo(p=0.5) ... do not merge"),
    (lambda: WHOLE + rbo(A, B, k=2), "read to k=3 and ... to k=2 do not merge"),
    (lambda: WHOLE + rbo([[1]], [[1]], k=3), "by key and users by position do not merge"),
    (lambda: WHOLE + WHOLE, "user 'ann' is there twice"),
    (lambda: overlap(A, [[1]]), "a is keyed by user, b is by position: give"),
    (lambda: overlap([[1]], A), "b is keyed ... a=dict(zip(USERS, a))"),
    (lambda: overlap([1], [[1]]), "a is one user's list ... give [a]"),
    (lambda: overlap([[1]], [["1"]]), "ids of two kinds, ... 1 in a ... never equal"),
    (lambda: overlap([[1]], {1, 2}), "b: ... has no ranking"),
    (lambda: overlap([[0.5]], [[1]]), "0.5 is a float, never an id"),
    (lambda: overlap(tl.match([[1]], [[1]]), [[1]]), "a: ranks is a Hits, which holds no ids"),
    (lambda: WHOLE + 1, "Agreement"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_refused(call, words):
    said(words, call)


NEEDED = [name for name in LIST_METRICS if LIST_METRICS[name].needs]
GIVEN = {"history": [["a"]], "expected": [["a"]], "counts": {"a": 1}, "features": {"a": [1]}}


@pytest.mark.parametrize("name", NEEDED)
def test_one_error_names_what_is_missing(name):
    name += "(label=war)" if name.endswith("share") else ""
    needed = LIST_METRICS[name.partition("(")[0]].needs
    for i, keyword in enumerate(needed):
        given = {one: GIVEN[one] for one in needed[:i]}
        with pytest.raises(ValueError, match=rf"^{re.escape(name)} needs .*Items\({keyword}="):
            by_words([["a"]], [["a"]], 1, metrics=["hit", name], **given)


def test_tables_that_are_refused():
    pandas = pytest.importorskip("pandas")
    table, series = pandas.DataFrame, pandas.Series
    for call, words in (
        (lambda: ITEMS.ratios(table({"a": [1]})), "groups: ... 'item_id'"),
        (
            lambda: calibration({"u": ["a"]}, history=table({"person": ["u"], "item_id": ["a"]})),
            "history: no column 'user_id'",
        ),
        (
            lambda: calibration({"u": ["a"]}, history=table({"user_id": ["u"], "thing": ["a"]})),
            "history: no column 'item_id'",
        ),
        (
            lambda: calibration([["a"]], labels=series(["x"])),
            "labels is a Series that counts its rows: give it by",
        ),
        (
            lambda: calibration([["a"]], labels=table({"item_id": ["a"], "a": [1], "b": [2]})),
            "labels: give a table of item_id and one column o",
        ),
        (
            lambda: overlap(series([[1, 2], [3]]), {0: [2, 1], 1: [4]}),
            "b is keyed by user, a is by position",
        ),
    ):
        said(words, call)


@pytest.mark.parametrize("name", ["group_exposure", "from_counts_of_counts"])
def test_names_that_are_gone_say_what_to_write(name):
    with pytest.raises(AttributeError, match=f"{name} is gone since 0.4: .*xposure"):
        getattr(beyond, name)


def test_the_word_of_unknown_items_is_checked_where_it_is_given():
    said("unknown='zero': choose from 'raise', 'skip'", tl.Items, unknown="zero")
    assert np.isnan(L.average_popularity([7], counts={1: 3}, **SKIP)).all()
