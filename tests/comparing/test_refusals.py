"""What comparisons and their tests refuse, each in one line that says why."""

from functools import cache

import numpy as np
import pytest
from doors import by_words
from systems import TRUTH, compared, results, segment, system

import toplist as tl
from toplist.comparing.inference import heterogeneity, heterogeneity_of_moments

TRUTHS = [{1, 2, 3}, {2}, {9}]
LISTS = {"a": [[1, 2], [3, 2], [1, 9]], "b": [[1, 4], [2, 3], [9, 8]]}


@cache
def three(**options):
    """Return three systems over 60 users, or others of such."""
    return results(**dict(options))


def two(baseline=None, **options):
    return tl.compare({name: three()[name] for name in "ab"}, baseline=baseline, **options)


@cache
def by_position(**options):
    return by_words([[1], [2]], [{1}, {9}], k=1, metrics="mrr", **options)


def pairs(a, b, **options):
    return tl.compare({"a": a, "b": b}, **options)


def few(a=(1.0, 2.0), b=(0.0, 3.0), **options):
    return tl.inference.paired_tests({"a": a, "b": b}, **options)


@cache
def pooled():
    return compared(LISTS, TRUTHS, 2, metrics="recall", aggregate="pooled")


@cache
def weighted():
    return tl.compare(results(weights={f"u{i}": 1.0 + i for i in range(60)}), baseline="a")


@cache
def clustered():
    labels = {f"u{i}": i // 3 for i in range(60)}
    return tl.compare({name: results(clusters=labels)[name] for name in "ab"})


@cache
def facts():
    """Return systems with metrics that have no direction, or are of all lists together."""
    metrics, counts = ["mrr", "novelty", "item_coverage"], dict.fromkeys(range(10), 3)
    return compared(LISTS, TRUTHS, 2, metrics=metrics, counts=counts, catalogue=range(10))


@cache
def seeds():
    """Return three runs of each of two systems."""
    return {name: [system(q, s) for s in (1, 2, 3)] for name, q in (("a", 0.2), ("b", 0.35))}


def split(shares=(0.2, 0.25), users=None):
    both = [system(shares[0], 1), system(shares[1], 1, users=users)]
    return pairs(*both).by({user: segment(user) for user in TRUTH})


# By the words of the error, "..." between them; of many calls, a list.
VALUE_ERRORS = {
    # what is compared
    "compare: the dict is empty": lambda: tl.compare({}),
    "two results are called '1'": lambda: tl.compare({1: by_position(), "1": by_position()}),
    "baseline 'z' is none of the systems: a, b": lambda: two("z"),
    "baseline 'a' is given twice": lambda: two(["a", "a"]),
    "as many runs of every system; there are a 3, b 1": lambda: pairs(
        seeds()["a"], seeds()["b"][0], runs="paired"
    ),
    "'a' has no runs": lambda: tl.compare({"a": []}),
    "'a, run 1': rename a system": lambda: tl.compare(
        {"a": [by_position()] * 2, "a, run 1": by_position()}
    ),
    "user 0 first; or ids are numbers in one and text in the other": lambda: pairs(
        by_position(), by_words([["1"], ["2"]], [{"1"}, {"9"}], k=1, metrics="mrr")
    ).test(),
    # what is shown
    "'novelty@2': neither more nor less of it is better": lambda: facts().sort("novelty@2"),
    "'mrr' is a whole curve: give one k, such as 'mrr@2'": lambda: facts().sort("mrr"),
    "digits must be a whole number from 0 to 15, not -1": lambda: two().to_latex(digits=-1),
    "label 'a b'": lambda: two().to_latex(label="a b"),
    # what is tested
    "two systems are needed, and there is a": lambda: tl.compare({"a": by_position()}).test(),
    "'mrr' is a whole curve: give name@k": lambda: two().test("mrr"),
    "'mrr@1' is there twice": lambda: two().test(["mrr@1", "mrr@1"]),
    "method='x': choose from 't', 'randomization'": lambda: two().test(method="x"),
    "correction='x': choose from 'holm', 'maxt'": lambda: two().test(correction="x"),
    "item_coverage@2 has no test: one number of all lists": lambda: facts().test("item_coverage@2"),
    "pooled, a ratio of sums over users: toplist.inference.ratio": [
        lambda: pooled().test("recall@2"),
        lambda: pooled().band("recall"),  # which would answer another question
        lambda: pooled().power("recall@2"),
        lambda: pooled().equivalence("recall@2", margin=0.1),
        lambda: pooled().tukey("recall@2"),
    ],
    "margin must be a number above 0": [
        lambda one=one: two().equivalence("mrr@2", margin=one)
        for one in (float("nan"), "1%", 0, True)
    ],
    "level must be above 0.5": lambda: two().equivalence(margin=0.1, level=0.4),
    "'maxt' is of tests of a difference": lambda: two().equivalence(margin=1, correction="maxt"),
    # of the t test too, which draws nothing
    "seed must be": [lambda one=one: few(seed=one) for one in (-1, 2**64, 1.5)],
    "n_resamples must be": [lambda one=one: few(n_resamples=one) for one in (98, 99.5)],
    "give a metric without @, not 'mrr@1'": lambda: two().band("mrr@1"),
    "band: beside a there are b, c: name one as system=": lambda: tl.compare(three()).band("mrr"),
    "is of one name@k, not of mrr@1, ndcg@2": lambda: two().tukey(["mrr@1", "ndcg@2"]),
    "the users have weights": [
        lambda: weighted().band("mrr", "b", "a"),
        lambda: weighted().tukey("mrr@2"),
    ],
    "the rows are in clusters: test(), equivalence(), power() and lead() take": [
        lambda: clustered().band("mrr"),
        lambda: clustered().tukey("mrr@2"),
    ],
    "method='wilcoxon' takes neither weights nor clusters": lambda: clustered().test(
        method="wilcoxon"
    ),
    "several runs: test() and equivalence() take runs": [
        lambda: tl.compare(seeds()).band("ndcg"),
        lambda: tl.compare(seeds()).power(),
        lambda: tl.compare(seeds()).tukey("ndcg@10"),
    ],
    "lead of the best is of one result of each": lambda: tl.compare(seeds()).lead("ndcg@10"),
    "'novelty@2': neither more": lambda: facts().lead("novelty@2"),
    # whose users are not the same, or unknown
    "the users of a have keys, those of b are known by position": lambda: pairs(
        three()["a"], by_position()
    ).test("mrr@1"),
    "a has 2 users and b 3, by position: without keys": lambda: pairs(
        by_position(), by_words([[1]] * 3, [{1}] * 3, 1, metrics="mrr")
    ).test(),
    "cannot be tested: DIFFERENT CONVENTIONS": lambda: pairs(
        by_position(), by_position(convention="neurec")
    ).test(),
    "a: this result holds no hits, so its users are unknown...keep='users' keeps them...of Spark, "
    "evaluate all systems in one ...(..., system=...) with paired=True;": lambda: pairs(
        *[three()["a"].without_users()] * 2
    ).test(),
    "a, b count other users: 10 are in some of them only": lambda: pairs(
        three()["a"], results(50)["b"]
    ).lead("mrr@3"),
    # segments
    "'maxt' is over comparisons of the same users": lambda: split().test(correction="maxt"),
    "segment 'old' has no user of b": lambda: split(
        users=[user for user in TRUTH if segment(user) == "new"]
    ),
    "not tested of several runs, nor of clusters": lambda: (
        tl.compare(seeds()).by({user: segment(user) for user in TRUTH}).heterogeneity("ndcg@10")
    ),
    # values of your own
    "the dict of systems is empty: give system -> values": lambda: tl.inference.paired_tests({}),
    "the values of the system have shape (3,): users x k are needed": lambda: tl.inference.band(
        np.arange(3), np.arange(3)
    ),
    "the value of user 1 of a is nan": lambda: few([1.0, np.nan]),
    "the values of b are up to ...whose square is no double": [
        lambda size=size: few(b=[0.0, size]) for size in (1e-170, 1e170)
    ],
    "b has other users than a: 1 are missing and 1 are new, 'x' first": lambda: few(
        {"x": 1.0}, {"y": 1.0}
    ),
    "a has 1 values and b 2": lambda: few([1.0]),
    "two systems are called '1': rename one": [
        lambda: tl.inference.paired_tests({1: [1.0, 2.0], "1": [2.0, 3.0]}),
        lambda: tl.inference.tukey({"1": [1.0, 2.0], 1: [2.0, 3.0], 2: [0.0, 1.0]}),
    ],
    "users: 1 keys for 2 rows": lambda: few(users=["x"]),
    "baseline '0' is none of the systems: a, b": lambda: two(0),
    "difference must be a number above 0, not ": [
        lambda one=one: two().power(difference=one) for one in ("2%", -0.1, 0, np.nan)
    ],
    "the weight of user 1 is ...must be 0 or more": [
        lambda one=one: few(weights=[1.0, one]) for one in (-1.0, np.nan, np.inf, 1e200)
    ],
    "one weight, 1e+18, is so much larger than all others together": [
        lambda: few(weights=[1.0, 1e18]),
        lambda: results(weights={f"u{i}": 1e18 if i == 3 else 1.0 for i in range(60)}),
    ],
    "correction='maxt' is for the methods": lambda: few(correction="maxt", method="sign"),
    "segment 'b': the value of user 1 is nan": lambda: heterogeneity({"b": [0.1, np.nan]}),
    "segment 'b' has mean ...: give finite numbers": [
        lambda bad=bad: heterogeneity_of_moments({"a": (5, 0.1, 0.2), "b": bad})
        for bad in ((5, np.nan, 0.1), (5, 0.1, -1))
    ],
}
TYPE_ERRORS = {
    "dict of name -> result, not list": lambda: tl.compare([1]),
    "'a' is list": lambda: tl.compare({"a": [by_position(), 0.5]}),
    "names are text or numbers": [
        lambda name=name: tl.compare({name: by_position()}) for name in (None, True, (1,))
    ],
    "baseline is {...}: give the name": lambda: two({"a"}),
    "names is": lambda: two().test(5),
    "give a dict of system -> values, not list": lambda: tl.inference.paired_tests([[1.0], [2.0]]),
    "the values of a are no numbers": [
        lambda values=values: few(values)
        for values in (["x", "y"], [1j, 2], np.array([1, 2], "m8[s]"))
    ],
    "is a masked array: fill it": [
        lambda: few(np.ma.array([1, 9], mask=[0, 1])),
        lambda: tl.inference.adjust(np.ma.array([0.1, 0.2], mask=[0, 1])),
    ],
    "some by position: ...as arrays": lambda: few({"x": 1.0}),
    "weights are by position, but the values are by user": lambda: few(
        users=["x", "y"], weights=[1, 1]
    ),
    "clusters are by position, but the values": lambda: two().test("mrr@3", clusters=[0] * 60),
    "give a dict of segment -> differences, not list": lambda: heterogeneity([[0.1], [0.2]]),
}
KEY_ERRORS = {
    "'hit@2': this result has mrr, novelty, item_cov": lambda: facts().sort("hit@2"),
    "no comparison has": lambda: two().test()["nobody", "ndcg@1"],
    "'map@7' is not tested here: there are mrr@1": lambda: two().test().to_text(names="map@7"),
    "'older': the segments are 'new', 'old'": lambda: split()["older"],
}
ATTRIBUTE_ERRORS = {
    "anova is gone since 0.4: ...tukey() all": [lambda: two().anova, lambda: tl.inference.anova],
    "has no attribute 'anovas'": [lambda: two().anovas, lambda: tl.inference.anovas],
}
TABLES = {
    ValueError: VALUE_ERRORS,
    TypeError: TYPE_ERRORS,
    KeyError: KEY_ERRORS,
    AttributeError: ATTRIBUTE_ERRORS,
}
ROWS = [(error, words, asked) for error, rows in TABLES.items() for words, asked in rows.items()]


@pytest.mark.parametrize(("error", "words", "asked"), ROWS, ids=[row[1][:50] for row in ROWS])
def test_what_is_refused_is_a_line_that_says_why(error, words, asked):
    for ask in asked if isinstance(asked, list) else [asked]:
        with pytest.raises(error) as caught:
            ask()
        message = str(caught.value)
        assert all(one in message for one in words.split("...")) and "\n" not in message
