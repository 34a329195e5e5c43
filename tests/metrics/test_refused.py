"""What metrics, names, parameters, gains and policies refuse: one table of calls and words."""

import dataclasses
import math

import numpy as np
import pytest
from doors import by_words
from shared_inputs import said
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import Metric
from toplist.metrics.definitions import DISCOUNTS, DIVISORS

GRADES = {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}


def graded(metrics, **options):
    return by_words({"q": list("xabycde")}, {"q": GRADES}, 3, metrics=metrics, **options)


def plain(*metrics, k=3, **options):
    """Evaluate metrics of sets, and read all means: own functions are called then."""
    return list(by_words(RANKS, TRUTHS, k, metrics=list(metrics), **options))


def bad(counts="each", discount="1", divisor="1"):
    return plain(Metric("bad", counts, discount, divisor))


RECALL = {"recall": tl.METRICS["recall"]}
CHOICES = "choose from hit, precision"
REFUSED = [
    # names
    *(
        (lambda one=one: plain(one, k=None), f"'{one}': k must be a whole number from 1 on")
        for one in ("ndcg@0", "ndcg@-1", "ndcg@1.5", "ndcg@x", "ndcg@1e1", "ndcg@²")
    ),
    *(
        (lambda one=one: plain(one, k=None), "metric ... write a name, 'name@k', or give a Metric")
        for one in ("", "ndcg@", "@3", 3, None, ("ndcg", 3))
    ),
    (lambda: tl.curves([[1] * 99], [{1}], "hit"), f"{[[1] * 99]!r:.60}: the metric comes first"),
    *(
        (lambda one=one: tl.curves(one, [[1]], [{1}]), f"{one} needs propensities: top_k_eval(...")
        for one in ("psp", "psndcg")
    ),
    (lambda: plain(), "metrics is empty"),
    (lambda: plain("ndcg", "ndcg", k=2), "'ndcg@2' is asked for twice"),
    *(
        (lambda twins=twins: plain(*twins), f"two metrics are named '{name} ... name='{name}_2'")
        for name, twins in (
            ("ndcg", ["ndcg", Metric("ndcg", "each", "1", "1")]),
            ("mine", [Metric("mine", "each", "1", "1"), Metric("mine", "each", "1", "k")]),
        )
    ),
    (
        lambda: plain("dcg", convention="neurec"),
        "'dcg' ... choose from hit, precision, recall, map",
    ),
    *(
        (lambda one=one: plain(one), f"metric {one!r}: {CHOICES}")
        for one in ("x", "nope", "squares", "x(p=2)", "10", "k", "nope(p=0.5)")
    ),
    # another measure is not taken for a misspelt one
    *(
        (lambda one=one: plain(one), f"metric {one!r}: ")
        for one in (
            *("errr@10", "erra", "context_precision", "NCG@10", "infbpref", "MAPR", "mape"),
            *("gmap", "infAP", "ndcg_exp", "nrbp", "mar@10"),
        )
    ),
    (lambda: tl.ndcg([[1]], [{1}], 1, convention=["standard"]), "convention ['standard']: choose"),
    # parameters, of hits and of the lists with one wording
    *(
        (lambda one=one: graded(one), f"metric {words}")
        for one, words in {
            "rbp(p=2)": "'rbp': p must be above 0 and below 1, not 2",
            "rbp(p=0)": "'rbp': p must be above 0 and below 1, not 0",
            "rbp(p=1)": "'rbp': p must be above",
            "rbp(p=nan)": "'rbp': p must be above",
            "calibration(alpha=2)": "'calibration': alpha must be above 0 and below 1, not 2",
            "calibration(distance=hellinger,alpha=0.5)": "'calibration': alpha=0.5 goes with dis",
            "iprec(recall=half)": "'iprec': recall='half' is not a number",
            "iprec(recall=2)": "'iprec': recall must be from 0 to 1, not 2",
            "alpha_ndcg(alpha=1.1)": "'alpha_ndcg': alpha must be from 0 to 1",
            "alpha_ndcg(alpha=-0.1)": "'alpha_ndcg': alpha must be from 0 to 1",
            "err(max=0)": "'err': max must be a grade above 0",
            "err(p=2)": "'err' takes max, rel, not p",
            "ndcg(p=0.5)": "'ndcg' takes rel, not p",
            "gini(p=2)": "'gini' takes over, divisor, not p",
            "rbp(p=0.5,p=0.6)": "'rbp': p is given twice",
            "rbp()": "'rbp()' (did you mean 'rbp'?): write a name",
            "rbp(p=0.5": "'rbp(p=0.5' (did you mean 'rbp'?): write a name",
            "precision(rel=-1)": "'precision': rel must be a grade, 0 or more",
            "bpref@10": "'bpref@10': bpref has no k, it is of the whole list: 'bpref'",
        }.items()
    ),
    # grades and gains
    (lambda: graded("err(max=1)"), "a ground truth has grade 2, above max=1: write 'err(max=2)'"),
    (
        lambda: graded("precision(rel=3)"),
        "no ground truth has a grade of 3 or more, the largest is 2",
    ),
    (lambda: plain("bpref"), "bpref needs judged items ... grade 0"),
    *(
        (lambda gains=gains: graded("ndcg", gains=gains), words)
        for gains, words in (
            (
                {1: 1},
                "item 'c': grade 2 has no gain; add it, convention.replace(gains={2: ...})",
            ),
            ({1: 2, 2: 1}, "a higher grade must not have a lower gain"),
            ({}, "give 'linear', 'exponential', or {grade: gain}"),
            ({1: "a"}, "give 'linear', 'exponential', or {grade: gain}"),
            ({1: -1}, "grades and gains are 0 or more, and finite"),
            ("cubic", "gains='cubic': choose from 'linear', 'exponential'"),
            (3, "gains=3: choose from 'linear', 'exponential'"),
        )
    ),
    # a metric when it is made
    *(
        (lambda given=given: Metric(*given[:4], **dict(given[4:])), words)
        for given, words in (
            (("", "each", "1", "1"), "a name is needed, without '@'"),
            (("a@1", "each", "1", "1"), "'a@1': a name is needed, without '@'"),
            (("a", "all", "1", "1"), "counts='all': choose from 'each', 'nth', 'first'"),
            (("a", "each", "r^2", "1"), "discount='r^2': choose from '1', 'r', 'log2(r+1)'"),
            (("a", "each", "1", "n"), f"divisor='n': choose from {', '.join(map(repr, DIVISORS))}"),
            (("a", "each", "1", "k", ("cut", "x")), "cut='x': choose from 'k', 'R', 'n'"),
            (
                ("a", "each", "1", "k", ("of", "listed")),
                "of='listed': choose from 'relevant', 'judged'",
            ),
        )
    ),
    *(
        (
            lambda one=one: Metric("x", "nth", "r", one),
            "'x': counts='nth' ... passes 1 ... counts='each'",
        )
        for one in DIVISORS
        if one.startswith("ideal")
    ),
    # own functions when they are called
    *(
        (lambda counts=counts, one=one: bad(counts, one), "metric 'bad': its discount")
        for counts in ("each", "nth", "first")
        for one in (
            *(lambda r: r - 1, lambda r: -r, lambda r: r * math.nan, lambda r: np.ones(7)),
            *(lambda r: np.where(r > 2, math.inf, r), lambda r: None),
        )
    ),
    *(
        (lambda one=one: bad("each", "1", one), "metric 'bad': its divisor")
        for one in (
            *(lambda k, R, n: k - 1, lambda k, R, n: -R, lambda k, R, n: math.nan),
            *(lambda k, R, n: math.inf, lambda k, R, n: R - 3, lambda k, R, n: np.ones(7)),
            lambda k, R, n: None,
        )
    ),
    (lambda: bad("each", lambda r: 3 - r), "'bad': its discount at rank 3 is 0.0; ... positive"),
    (
        lambda: bad("each", "1", lambda k, R, n: 2 - k + 0 * R),
        "'bad': its divisor at k=2, R=3, n=3 is 0.0",
    ),
    (
        lambda: bad("each", "1", lambda k, R, n: min(k, R)),
        "metric 'bad': its divisor failed: ... use np.minimum",
    ),
    (
        lambda: tl.curves(
            dataclasses.replace(tl.METRICS["recall"], divisor=lambda k, R, n: -R), RANKS, TRUTHS, 3
        ),
        "metric 'recall': its divisor",
    ),
    # policies
    *(
        (lambda metrics=metrics, own=own: tl.Convention("mine", metrics, **own), words)
        for metrics, own, words in (
            (RECALL, {"pooled": ("recal",)}, "pooled: name='recal' (did you mean 'recall'?)"),
            (RECALL, {"pooled": "recall"}, "pooled is 'recall': give a tuple of names"),
            (RECALL, {"empty_of": {"map": "zero"}}, "empty_of: name='map': choose from 'recall'"),
            (RECALL, {"empty_of": {"recall": "Zero"}}, "empty_of: recall='Zero' (did you mean 'z"),
            (RECALL, {"empty_of": ["recall"]}, "empty_of is ['recall']: give a dict"),
            ({"recall": "recall"}, {}, "metrics holds 'recall': give a dict name -> toplist.Met"),
            ("recall", {}, "metrics holds 'recall': give a dict name -> toplist.Metric"),
        )
    ),
    (lambda: plain("recall", relevant="some"), "relevant='some': choose from 'all', 'listed'"),
    (
        lambda: plain("recall", empty="all"),
        "empty='all': choose from 'skip', 'zero', 'one', 'raise'",
    ),
    (
        lambda: plain("recall", aggregate="pooled", empty="one"),
        "recall is a ratio of sums over users, in which no user",
    ),
    (
        lambda: by_words(
            {"a": [1], "b": [2]},
            {"a": {1: 1}, "b": {2: 0}},
            1,
            metrics=["judged", "hit"],
            empty="raise",
        ),
        "user 'b' has an empty ground truth",
    ),
    (
        lambda: by_words(
            {"a": [1], "b": []}, {"a": {1}, "b": {2}}, 1, relevant="listed", missing="raise"
        ),
        "no ranked list",
    ),
    (
        lambda: tl.annotating.unjudged(
            {"s": {"q": ["a", "a"]}}, {"q": {"z"}}, 3, duplicates="collapse"
        ),
        "duplicates='collapse': choose from 'raise', 'first'",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_refused(call, words):
    message = said(words, call)
    assert message.startswith(words.partition(" ... ")[0]) or not words.startswith("metric '")


@pytest.mark.parametrize("table", [tl.METRICS, DIVISORS, DISCOUNTS, tl.CONVENTIONS])
def test_the_tables_are_read_only(table):
    with pytest.raises(TypeError, match="does not support item assignment"):
        table[next(iter(table))] = 3
