"""Saved is the same: whatever an evaluation was asked for, what is loaded says the same."""

import random

import numpy as np
import pytest
from doors import by_words

import toplist as tl

USERS = [f"u{i:02}" for i in range(24)]
ITEMS = [f"i{i}" for i in range(12)]
RNG = np.random.default_rng(5)


def drawn(most, least=0):
    sizes = RNG.integers(least, most + 1, len(USERS))
    rows = [[ITEMS[i] for i in RNG.permutation(len(ITEMS))[:n]] for n in sizes]
    return dict(zip(USERS, rows, strict=True))


LISTS = [drawn(8, 1), drawn(8, 1)]
TRUTHS = {
    "sets": {user: set(row) for user, row in drawn(4).items()},
    "grades": {
        user: {item: int(RNG.integers(0, 4)) for item in row} for user, row in drawn(5, 1).items()
    },
    "groups": {user: [row[:2], row[1:3]] for user, row in drawn(4, 3).items()},
    "one": {user: row[:1] for user, row in drawn(1, 1).items()},
}
COUNTS = {item: 2 + 3 * i for i, item in enumerate(ITEMS)}
# Every option of an evaluation that changes what a result holds, with two values or more.
OPTIONS = {
    "k": [[1, 3], 5, None],
    "convention": ["trec_eval", "neurec", "recbole", "xgboost"],
    "weights": [{u: 0.5 + i % 3 for i, u in enumerate(USERS)}, dict.fromkeys(USERS, 2.0)],
    "clusters": [{u: u[-1] for u in USERS}, {u: i // 4 for i, u in enumerate(USERS)}],
    "unit": ["sessions", "queries"],
    "propensities": [{i: (n + 2) / 20 for n, i in enumerate(ITEMS)}, dict.fromkeys(ITEMS, 0.5)],
    "weighting": ["ips", "snips"],
    "clip": [0.2, 0.4],
    "aggregate": ["pooled", "mean"],
    "empty": ["zero", "one"],
    "missing": ["skip", "zero"],
    "relevant": ["listed", "all"],
    "duplicates": ["first", "collapse"],
    "items_as": [{item: f"{name}{i // 2}" for i, item in enumerate(ITEMS)} for name in "id"],
    "unjudged": ["drop", "miss"],
    "padding": ["i11", "none"],
    "relevant_from": [2, 3],
    "gains": ["exponential", {1: 1.0, 2: 4.0, 3: 9.0}],
    "ties": ["item", "item_desc"],
    "catalogue": [12, ITEMS],
    "unknown": ["skip", "raise"],
}  # fmt: skip
# What metrics of the lists are given besides.
GIVEN = {
    "counts": COUNTS,
    "labels": {item: "odd" if i % 2 else "even" for i, item in enumerate(ITEMS)},
    "history": {user: ITEMS[i % 9 : i % 9 + 3] for i, user in enumerate(USERS)},
    "expected": set(ITEMS[:3]),
}
METRICS = {
    "sets": ["hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "cg"],
    "grades": ["ndcg", "err", "bpref", "recall", "precision(rel=2)", "rbp(p=0.5)", "judged"],
    "groups": ["group_recall", "complete", "alpha_ndcg", "hit", "mrr"],
    "one": ["hit", "recall", "map", "ndcg", "psp", "psndcg"],
}
OF_LISTS = {
    "novelty": {"counts"},
    "popularity_lift": {"counts", "history"},
    "calibration": {"labels", "history"},
    "hit_share": {"labels"},
    "unexpectedness": {"expected"},
    "item_coverage": {"catalogue"},
    "personalization": set(),
}


def evaluations(rng, options):
    """Return two evaluations of the same options, all else at random; None where none is found."""
    for _ in range(6):
        kind = rng.choice(list(TRUTHS))
        asked = {name: rng.choice(OPTIONS[name]) for name in options}
        metrics = rng.sample(METRICS[kind], rng.randint(1, 2))
        for name in rng.sample(list(OF_LISTS), rng.choice([0, 0, 1])):
            metrics.append(name)
            asked |= {one: GIVEN.get(one, 12) for one in OF_LISTS[name] if one not in asked}
        if {"weighting", "clip"} & {*asked}:
            asked.setdefault("propensities", OPTIONS["propensities"][0])
        asked.setdefault("k", 4)
        truth = tl.Groups(TRUTHS[kind]) if kind == "groups" else TRUTHS[kind]
        try:
            return [by_words(lists, truth, metrics=metrics, **asked) for lists in LISTS]
        except (ValueError, TypeError):  # options that do not go together
            continue
    return None


def said(result):
    """Return all that a result says without its users."""
    names = result.names()
    return {
        "means": [result[name] for name in names],
        "std": [result.std(name) for name in names],
        "ends": [end for name in names for end in result.interval(name, 0.9)],
        "n": [float(result.n_of(name)) for name in names],
        "counts": [result.n_users, result.n_evaluated, result.n_missing, result.n_extra],
    }


def said_of_users(results):
    """Return what needs the users: values, segments, tests."""
    found = {}
    for which, result in enumerate(results):
        for name in result.names():
            try:
                found[f"{which} {name}"] = np.asarray(result.per_user(name))
            except ValueError:  # of all lists together
                found[f"{which} {name}"] = np.empty(0)
        try:
            parts = result.by({user: int(user[1:]) % 2 for user in USERS})
        except ValueError:  # nothing that splits
            continue
        for label, part in parts.items():
            found |= {f"{which} {label} {name}": one for name, one in said(part).items()}
    try:
        tests = tl.compare(dict(zip("ab", results, strict=True))).test()
    except ValueError as error:  # nothing that is tested
        return found | {"tests": str(error)}
    for one in tests.to_dict():
        numbers = {name: value for name, value in one.items() if isinstance(value, float)}
        found[f"test {one['name']}"] = [numbers[name] for name in sorted(numbers)]
    return found


def check_same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, str):
            assert value == other[name]
        else:
            np.testing.assert_allclose(other[name], value, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_evaluation_is_the_same_once_it_is_saved_and_loaded(option, tmp_path):
    rng, n = random.Random(option), 0
    for other in OPTIONS:
        results = evaluations(rng, dict.fromkeys([option, other]))
        if results is None:
            continue
        n += 1
        kept = []
        for result, name in zip(results, "ab", strict=True):
            result.save(tmp_path / f"{name}.npz")
            kept.append(tl.TopKResult.load(tmp_path / f"{name}.npz"))
            assert kept[-1] == result and str(kept[-1]) == str(result)
            check_same(said(result), said(kept[-1]))
        check_same(said_of_users(results), said_of_users(kept))
        weighted = results[0].terms.weighted and results[0].terms.weighting is None
        if results[0].clusters is None and not weighted:  # their intervals need the rows
            results[0].without_users().save(tmp_path / "a.npz")
            check_same(said(results[0]), said(tl.TopKResult.load(tmp_path / "a.npz")))
    assert n > 5


def test_ips_and_weights_of_users():
    """Each user's value is a sum of 1 / p: 2 of a, 4 of b; b weighs three times as much."""
    lists, truth = {"a": ["x", "y"], "b": ["y", "z"]}, {"a": {"x"}, "b": {"z"}}
    of_items = {"propensities": {"x": 0.5, "y": 0.5, "z": 0.25}, "weighting": "ips"}
    ask = {"k": 2, "metrics": "cg", **of_items}
    assert by_words(lists, truth, **ask)["cg@2"] == 3
    weighted = by_words(lists, truth, weights={"a": 1.0, "b": 3.0}, **ask)
    assert weighted["cg@2"] == (1 * 2 + 3 * 4) / 4


def test_gains_of_grades_are_loaded(tmp_path):
    graded = tl.top_k_eval(
        {"a": ["x"]},
        {"a": {"x": 2}},
        1,
        metrics="ndcg",
        convention=tl.CONVENTIONS["standard"].replace(gains={2: 4.0}),
    )
    graded.save(tmp_path / "a.npz")
    assert tl.TopKResult.load(tmp_path / "a.npz")["ndcg@1"] == 1
