"""What holds under every convention, or for every metric, whatever the numbers are."""

import itertools
import random
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from doors import by_words
from world import draw

import toplist as tl
from toplist.metrics.conventions import CONVENTION_CHOICES, convention_of

# Seeds; most of them are for the slow runs.
DEEP = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))]
KS = [1, 3, 7]
WORLD = draw(3, graded=False)
LISTS, ONES = WORLD.lists, WORLD.truths
# the same with judged items that are not relevant, which bpref needs
JUDGED = {user: {"i0": 0, "i1": 0} | grades for user, grades in ONES.items()}
POLICIES = [
    {},
    {"empty": "skip"},
    {"empty": "zero"},
    {"empty": "one"},
    {"missing": "skip"},
    {"missing": "zero"},
    {"relevant": "all"},
    {"relevant": "listed"},
    {"aggregate": "pooled"},
]


def said(result, name):
    """Return all that a result says of a metric: its numbers, of whom, and the averages' rules."""
    numbers = (result[name], result.std(name), *result.interval(name), result.per_user(name))
    rules = [result.formula(name).splitlines()[-2]]
    counts = result.n_of(name), result.n_evaluated, result.n_skipped, result.n_missing
    return [np.asarray(one, float).tobytes() for one in numbers], counts, rules


def asked(metric, name, truths, **options):
    """Return what an evaluation says of a metric, or the error without the metric's name."""
    k = None if metric.cut == "n" else KS
    try:
        result = by_words(LISTS, truths, k, metrics=name, **options)
    except ValueError as error:
        return str(error).replace(name, metric.name)
    numbers, counts, rules = said(result, name)
    return (
        numbers,
        counts,
        [one.replace("items of grade 1 or more", "relevant items") for one in rules],
    )


@pytest.mark.parametrize("n_policies", [1, pytest.param(9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("convention", CONVENTION_CHOICES)
def test_relevant_from_grade_1_is_the_metric_itself_where_all_grades_are_1(convention, n_policies):
    rules = convention_of(convention)
    of_errors = {"raise": {"empty": "skip", "missing": "zero"}}
    usual = of_errors.get(rules.empty, {})  # an error is the policy: then that of others
    start = CONVENTION_CHOICES.index(convention)
    for place, (name, metric) in enumerate(rules.metrics.items(), start):
        truths = JUDGED if name in ("bpref", "judged") else ONES
        for policy in (POLICIES[(place + step) % 9] for step in range(n_policies)):
            options = {"convention": convention, **usual, **policy}
            plain = asked(metric, name, truths, **options)
            other = asked(metric, f"{name}(rel=1)", truths, **options)
            assert other == plain, (name, policy)


def test_a_lower_grade_of_a_metric_than_of_all_makes_several_items_relevant():
    """Of the grades 2, 1, 1 the lists find 2 and 1: one of one, and two or one of three."""
    lists, truths = [["a", "b"], ["a", "x"]] * 6, [{"a": 2, "b": 1, "c": 1}] * 12
    names = ["recall", "recall(rel=1)", "hit(rel=1)"]
    result = tl.top_k_eval(lists, truths, 2, metrics=names, relevant_from=2)
    assert [*result] == pytest.approx([1, 1 / 2, 1])
    low, high = result.interval("recall(rel=1)@2")
    half = 2.200985160082949 * np.std([2 / 3, 1 / 3] * 6, ddof=1) / 12**0.5
    assert (low, high) == pytest.approx((1 / 2 - half, 1 / 2 + half))
    assert " = " not in str(result)


# An interval of a segment, where the pairs have no words for it: one item each, psp and psndcg


ITEMS = [f"i{place}" for place in range(12)]
OF_HITS = ["hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "cg", "f1", "complete"]
SUMS = ["cg", "dcg", "precision", "psp", "psndcg"]


def population(seed, single):
    """Return lists, truths and labels: the truths of label x hold one item."""
    rng = random.Random(seed)
    users = [f"u{place}" for place in range(rng.choice([5, 9, 14]))]
    lists = {user: rng.sample(ITEMS, rng.choice([1, 2, 5, 8])) for user in users}
    labels = {user: rng.choice("xyz") for user in users}
    truths = {}
    for user in users:
        alone = single or labels[user] == "x"
        truths[user] = {*rng.sample(ITEMS, 1 if alone else rng.choice([0, 1, 2, 4]))}
    del lists[users[-1]]  # a user without a list
    given = {
        "propensities": {item: rng.choice([0.1, 0.2, 0.5, 1]) for item in ITEMS},
        "weights": {user: rng.choice([0.5, 1, 2, 3]) for user in users},
        "clusters": {user: rng.choice("abcdef") for user in users},
    }
    return lists, truths, labels, given


# metrics, whether all truths hold one item, which of `population` is given, and options
SEGMENTS = [
    (OF_HITS, True, [], {}),
    (OF_HITS, True, ["weights"], {}),
    (["recall", "hit", "mrr", "ndcg", "precision"], True, ["propensities"], {}),
    (SUMS, True, ["propensities"], {"weighting": "ips"}),
    (["recall", "cg", "dcg", "psp", "psndcg"], False, ["propensities"], {}),
    (["recall", "dcg", "psp"], False, ["propensities", "clusters"], {}),
    (SUMS, False, ["propensities"], {"weighting": "ips"}),
]


@pytest.mark.parametrize("seed", DEEP)
@pytest.mark.parametrize(("metrics", "single", "names", "options"), SEGMENTS)
def test_a_segment_is_an_evaluation_of_its_users_alone(metrics, single, names, options, seed):
    lists, truths, labels, given = population(seed, single)
    options = {"k": [1, 3, 6], "metrics": metrics} | options
    whole = by_words(lists, truths, **options, **{name: given[name] for name in names})
    for label, part in whole.by(labels).items():
        users = [user for user in truths if labels[user] == label]
        own = {name: given[name] for name in names}
        for name in {"weights", "clusters"} & {*own}:
            own[name] = {user: own[name][user] for user in users}
        its = {user: lists[user] for user in users if user in lists}
        if not its:
            continue  # lists and truths of no common user are refused
        alone = by_words(its, {user: truths[user] for user in users}, **options, **own)
        for name in part.names():
            found, expected = (
                [one[name], *one.interval(name), one.std(name), one.n_of(name)]
                for one in (part, alone)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13, err_msg=name)
        kinds = [str(one).split("95 %")[-1].splitlines()[0] for one in (part, alone)]
        assert kinds[0] == kinds[1]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("options", [[], ["weights"], ["propensities"], ["clusters"]])
def test_hit_alone_is_a_proportion_and_equal_values_print_no_interval(single, options):
    """Each of six users finds all that is relevant: 1 of 1, or 2 of 2."""
    lists = {f"u{place}": ["i0", "i1"] for place in range(6)}
    truths = {user: {"i0": 1} | ({} if single else {"i1": 1}) for user in lists}
    given = {
        "weights": {user: place + 1.0 for place, user in enumerate(lists)},
        "propensities": {"i0": 0.5, "i1": 0.1},
        "clusters": {user: place // 2 for place, user in enumerate(lists)},
    }
    named = {one: given[one] for one in options}
    metrics = ["recall"] if options == ["propensities"] and not single else ["hit", "recall"]
    result = by_words(lists, truths, [1, 2], metrics=metrics, **named)
    rows = {line.split()[0]: line for line in str(result).splitlines()[1:]}
    assert rows["recall"].split()[-2:] == ["1.0000", "–"]
    assert result.interval("recall@2") == (1.0, 1.0)
    assert "– where all values are equal" in str(result)
    if "hit" in metrics and options not in (["clusters"], ["weights"]):
        assert "Wilson for hit" in str(result) or "]: Wilson" in str(result)
        low, high = result.interval("hit@2")
        assert low < 0.7 and high == 1.0


# Bounds


def holes_of(lists, truths, k):
    """Return the unjudged items among the first k of every list, as (user, item)."""
    return [(u, item) for u, row in lists.items() for item in row[:k] if item not in truths[u]]


def judged_in_every_way(truths, holes, grades):
    """Yield the truths with every judgement of the holes; None is that they have none."""
    for judgements in itertools.product([None, *grades], repeat=len(holes)):
        found = {user: dict(row) for user, row in truths.items()}
        for (user, item), grade in zip(holes, judgements, strict=True):
            found[user] |= {} if grade is None else {item: grade}
        yield found


def few(seed, graded):
    """Return lists and truths of two users with at most six holes."""
    rng = random.Random(seed)
    lists = {user: rng.sample("abcdefg", rng.choice([1, 3, 4])) for user in "uv"}
    grades = [0, 1, 3] if graded else [0, 1]
    truths = {
        user: {item: rng.choice(grades) for item in rng.sample("abcdefgxy", rng.choice([0, 2, 5]))}
        for user in "uv"
    }
    truths["u"]["z"] = grades[-1]
    return lists, truths, grades[1:]


# No unjudged item that becomes relevant lowers these; others have bounds without grades alone.
RISING = {"hit", "precision", "recall", "mrr", "f1", "rbp", "cg", "dcg", "err(max=3)"}


def bounded_names(convention):
    names = {"err": "err(max=3)", "nerr": "nerr(max=3)"}
    every = [names.get(one, one) for one in convention_of(convention).metrics]
    every += ["iprec(recall=0.5)"] * ("iprec" in every)
    return [one for one in every if one not in ("bpref", "judged")]


SOME = {"map", "ndcg", "nerr(max=3)", "r_precision", "complete", "group_recall", "alpha_ndcg"}


def in_bounds(lists, truths, grades, k, names, **options):
    """Compare the bounds of an evaluation with the means of every judgement."""
    graded_ones = options.get("empty") == "one" and max(grades) > 1
    may_lack = SOME | ({"cg", "dcg", "err(max=3)"} if graded_ones else set())
    whole = by_words(lists, truths, k, metrics=names, **options)
    found = {}
    for name in names:
        with suppress(ValueError) if name in may_lack else nullcontext():
            found[name] = whole.bounds(f"{name}@{k}")
    least, most = ends_of(lists, truths, grades, k, [*found], **options)
    for name, ends in found.items():
        assert ends == pytest.approx((least[name], most[name]), abs=1e-12), (name, options)
    return set(found)


def ends_of(lists, truths, grades, k, names, weights=None, **options):
    """Return the least and the largest means of all judgements, by name.

    Users are judged independently, so that those of a mean over users are of each user's own; of a
    ratio of sums every judgement of all of them together is tried.
    """
    if options.get("aggregate") == "pooled" or options.get("convention") == "implicit":
        means = [
            by_words(lists, one, k, metrics=names, weights=weights, **options).to_dict()
            for one in judged_in_every_way(truths, holes_of(lists, truths, k), grades)
        ]
        values = {name: [one[f"{name}@{k}"] for one in means] for name in names}
        return [{name: end(values[name]) for name in names} for end in (min, max)]
    judged = {}
    for user in truths:
        own = {user: truths[user]}
        ways = judged_in_every_way(own, holes_of({user: lists[user]}, own, k), grades)
        judged |= {f"{user}{place}": one[user] for place, one in enumerate(ways)}
    result = by_words({u: lists[u[0]] for u in judged}, judged, k, metrics=names, **options)
    weights = weights or dict.fromkeys(truths, 1)
    found = {}, {}
    for name in names:
        values = dict(zip(result.users, result.per_user(f"{name}@{k}").tolist(), strict=True))
        for ends, end in zip(found, (min, max), strict=True):
            of_users = {u: end(values[one] for one in judged if one[0] == u) for u in truths}
            total = sum(weights[user] * value for user, value in of_users.items())
            ends[name] = total / sum(weights.values())
    return found


@pytest.mark.parametrize("seed", DEEP[:5])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("empty", ["zero", "one"])
def test_bounds_are_the_least_and_the_largest_mean_of_all_judgements(seed, graded, empty):
    lists, truths, grades = few(seed, graded)
    for k in (1, 3):
        names = bounded_names("standard")
        has = in_bounds(lists, truths, grades, k, names, empty=empty)
        if empty == "zero":
            assert has >= RISING if graded else has == {*names}
        weights = {"u": 1, "v": 3}
        in_bounds(lists, truths, grades, k, [*has], empty=empty, weights=weights)


@pytest.mark.parametrize("convention", sorted({*CONVENTION_CHOICES} - {"standard"}))
def test_bounds_are_those_of_the_convention(convention):
    for seed, graded in ((1, False), (4, True)):
        lists, truths, grades = few(seed, graded)
        options = {"convention": convention, "empty": "zero", "missing": "zero"}
        if convention_of(convention).relevant == "listed":  # as are the grades that there are
            lists = {user: row[:3] for user, row in lists.items()}  # R is of whole lists
            listed = {user: {*row} & {*truths[user]} for user, row in lists.items()}
            truths = {user: {i: truths[user][i] for i in row} for user, row in listed.items()}
            grades = sorted({1, *(g for row in truths.values() for g in row.values() if g)})
        in_bounds(lists, truths, grades, 3, bounded_names(convention), **options)


@pytest.mark.parametrize("seed", DEEP[:4])
@pytest.mark.parametrize("options", [{"relevant_from": 0}, {"relevant_from": 3}])
def test_bounds_read_thresholds(seed, options):
    lists, truths, grades = few(seed, True)
    names = ["hit", "precision", "recall", "cg", "dcg", "precision(rel=3)", "recall(rel=1)"]
    in_bounds(lists, truths, [0, *grades], 3, names, empty="zero", **options)
    lowest, names = {"u": {"a": 0}}, ["hit", "cg", "dcg", "err(max=3)"]
    in_bounds({"u": ["x", "y"]}, lowest, [0, 1], 2, names, relevant_from=0)
    pooled = {"aggregate": "pooled", "empty": "zero"}
    in_bounds(lists, truths, grades, 2, ["precision", "recall", "f1", "cg", "hit"], **pooled)


def test_whole_lists_have_no_bounds():
    judged = {"q": {"a": 1, "z": 0}}
    with pytest.raises(ValueError, match="bpref has no bounds"):
        tl.top_k_eval({"q": ["x", "a"]}, judged, metrics="bpref").bounds("bpref")
