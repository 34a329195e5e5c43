"""Every pair of options through every door: as the oracle says, or refused, by a row with why."""

import math
import os
import random

import matrix
import oracle
import pytest
from doors import (
    DOORS,
    EVERYWHERE,
    FORMS,
    ORDERED,
    ask,
    call,
    counting,
    installed,
    seen,
    segments,
    slices,
)
from world import draw

import toplist as tl
from toplist.metrics.beyond_accuracy import LIST_METRICS

PAIRS = matrix.pairs()
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))]
# How many doors each pair is dealt to in slow runs, and by which seed; 18 are all of them.
N_DOORS, SEED = map(int, os.environ.get("TOPLIST_PAIRS", "6 0").split())


def dealt(door, text):
    """Return the pairs of a door."""
    place, pairs = [*DOORS].index(door), random.Random(f"{SEED} {text}").sample(PAIRS, len(PAIRS))
    return [one for row, one in enumerate(pairs) if (row - place) % len(DOORS) < N_DOORS]


def test_every_metric_is_tried():
    tried = {name.partition("(")[0] for name in (*matrix.HITS, *matrix.GROUPED, *matrix.LISTS)}
    assert tried == {*tl.METRICS, *LIST_METRICS}


@pytest.mark.parametrize("n", [5, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", [True, False], ids=["text", "integers"])
@pytest.mark.parametrize("door", DOORS)
def test_pairs_of_options(door, text, n):
    """With half of the metrics that each could have."""
    installed(door)
    rng, pairs = random.Random(f"{SEED} {door} {text}"), dealt(door, text)
    tried = [
        matrix.verdict(matrix.with_half(one, rng), door, rng.randrange(100), text)
        for one in pairs[:n]
    ]
    assert any(one is not None for one in tried) or not text
    assert not [one for one in tried if one]
    values = {name: [one[name] for one in pairs if name in one] for name in matrix.OPTIONS}
    for name, every in matrix.OPTIONS.items():
        assert name == "metrics" or all(one in values[name] for one in every), name


def test_every_refusal_is_met():
    """A row that no pair meets is out of date."""
    for row in matrix.REFUSED:
        doors = row.doors or tuple(EVERYWHERE)
        assert any(row.fits(options, door) for options in PAIRS for door in doors), row


@pytest.mark.parametrize(("door", "more"), [("dicts", {}), ("merged", {"weights": True})])
def test_metrics_of_the_lists_far_below_them(door, more):
    """Two of them divide by k."""
    options = {"k": [2, 3_000], "metrics": ["serendipity", "personalisation", "gini"], **more}
    same(draw(2), options, call(draw(2), options, door), "deep")


def test_a_block_of_users_may_know_no_item_of_a_catalogue():
    """Of all lists together some are known: that none is known is an error of all lists."""
    options = {"k": [1, 3], "unknown": "skip", "metrics": ["item_coverage", "gini"]}
    assert not matrix.verdict(options, "csv", 8)


def test_a_list_that_counts_without_a_truth_may_be_the_longest():
    """Where k is None, the places of IPS go down to its end: 7, and 6 of the others."""
    options = {"k": None, "propensities": True, "weighting": "ips", "metrics": ["precision", "cg"]}
    assert not matrix.verdict(options, "dicts", 25)


# What a metric is called beside its name, by convention: (convention, called, name)
CALLED = [
    ("standard", "hits", "hit"),
    ("standard", "map_at_10", "map@10"),
    ("ranx", "hits", "cg"),
    ("ranx", "hit_rate", "hit"),
    ("trec_eval", "P_5", "precision@5"),
    ("trec_eval", "recip_rank", "mrr"),
    ("recommenders", "map_at_5", "map_at_k@5"),
]


@pytest.mark.parametrize(("convention", "called", "name"), CALLED)
def test_a_metric_by_another_name(convention, called, name):
    options = {"k": [2, 5], "convention": convention, "metrics": [called]}
    found = call(draw(1), options, "dicts")
    same(draw(1), options | {"metrics": [name]}, found, called)


# Parts of a result, and two systems, in memory

ALONE = {"users", "columns", "system", "keep"}
PARTS = [
    options
    for options in PAIRS
    if ALONE.isdisjoint(options)
    and options["k"] is not None  # the longest list of a part is its own
    and not matrix.refusals_of(options, "dicts")
]
UNSLICED = {"items_as", "unjudged", "propensities", "groups"}  # refused, or of documents
UNTESTED = {"weights", "clusters", "aggregate", "propensities"}  # by a plain t test


def sample(seed, n, such=lambda options: True):
    """Draw options, each with a world."""
    rng = random.Random(seed)
    for options in rng.sample([one for one in PARTS if such(one)], n):
        yield options, matrix.world_of(options, rng.randrange(100))


def without(options, names):
    """Return options without some metrics."""
    return options | {"metrics": [name for name in options["metrics"] if name not in names]}


def same(world, options, found, label):
    """Compare the answer of a part with the oracle's of a world of its own."""
    wrong = matrix.apart(oracle.evaluate(world, options), found)
    assert not wrong, f"{label}, {options}: {wrong[:3]}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_segment_is_the_evaluation_of_its_users(seed):
    """Unjudged items are dropped by what is judged in all segments together."""
    for options, world in sample(seed, 8, lambda one: "unjudged" not in one):
        parts, left_out = segments(world, options)
        assert left_out == {*matrix.OF_ALL} & {*options["metrics"]}
        options = without(options, matrix.OF_ALL)
        for label, found in parts.items():
            some = seen(world, options, "dicts").only(
                [user for user in counting(world, options) if world.segments[user] == label]
            )
            same(some, options, found, label)


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_the_same_in_every_form(form):
    if form in ("Series", "categories"):
        pytest.importorskip("pandas")
    options = {"k": [2, 5], "metrics": ["hit", "ndcg", "novelty"]}
    world = draw(4)
    parts, _ = segments(world, options, form)
    assert [*parts] == ([*ORDERED] if form == "categories" else sorted(ORDERED))
    for label, found in parts.items():
        some = world.only([user for user in world.users if world.segments[user] == label])
        same(some, options, found, label)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slice_is_the_evaluation_of_its_items(seed):
    for options, world in sample(seed, 8, lambda one: UNSLICED.isdisjoint(one)):
        options = without(options, (*matrix.LISTS, "bpref", "judged"))  # which slices leave out
        if options["metrics"]:
            for label, found in slices(world, options).items():
                some = seen(world, options, "dicts").of_slice(label, options.get("relevant_from"))
                same(some, options, found, label)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_test_is_over_the_users_of_the_means(seed):
    stats = pytest.importorskip("scipy.stats")
    for options, world in sample(seed, 8, lambda one: UNTESTED.isdisjoint(one)):
        options = without(options, (*matrix.OF_ALL, "bpref"))
        sides = [
            oracle.evaluate(seen(one, options, "dicts"), options)
            for one in (world, world.of_other())
        ]
        found = ask(world, options, "test", users="common")
        for name in {name for name, _, _ in found}:
            a, b = (side.averaged[name] for side in sides)
            pairs = [(b[user], a[user]) for user in a if user in b]
            row = {column: value for (one, _, column), value in found.items() if one == name}
            differences = [one - other for one, other in pairs]
            assert row["n"] == len(pairs), (name, options)
            mean = math.fsum(one for one, _ in pairs) / len(pairs)
            assert matrix.close(row["mean"], mean), (name, options)
            assert matrix.close(row["difference"], math.fsum(differences) / len(pairs))
            if len({*differences}) > 1:
                expected = stats.ttest_1samp(differences, 0.0).pvalue
                assert math.isclose(row["p"], expected, rel_tol=1e-9, abs_tol=1e-12), (
                    name,
                    options,
                )
