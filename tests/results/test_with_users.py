"""Results saved with their users: npz and back, to the last bit; what was changed is refused."""

import dataclasses
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, populations_with_duplicates

import toplist as tl

RANKS = {"a": [5, 7, 8, 9, 3], "b\0": [4, 6, 2, 1, 10], "": [1], "😀\ud800": [2, 6], "e": [4]}
TRUTHS = {"a": {7: 3, 3: 1}, "b\0": {4: 2, 2: 0, 1: 1}, "": {}, "😀\ud800": {2: 1}, "d": {2: 2}}
SETS = {user: {item for item, grade in one.items() if grade} for user, one in TRUTHS.items()}
GROUPS = tl.Groups({"a": [[7, 8], [3], [99]], "b\0": [[4, 2], [2]], "": [], "d": [[1]]})
NAMES = ["hit", "precision", "recall", "map", "ndcg", "mrr", "f1", "rbp(p=0.5)"]


def evaluated(truths=TRUTHS, ranks=RANKS, k=(1, 3), **options):
    return tl.top_k_eval(ranks, truths, k, **{"metrics": NAMES} | options)


def through_a_file(result):
    with tempfile.TemporaryDirectory() as folder:
        result.save(path := Path(folder, "result.npz"))
        return tl.TopKResult.load(path)


def parts(found):
    """Return all that an object of hits holds, as plain values."""
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.tolist()
    if dataclasses.is_dataclass(found):
        return {one.name: parts(getattr(found, one.name)) for one in dataclasses.fields(found)}
    if isinstance(found, (list, tuple, range)):
        return list(map(parts, found))
    return found


def same(one, other):
    """Check that two results are the same with all their users."""
    assert one == other and one.terms == other.terms and repr(one) == repr(other)
    assert list(one.users) == list(other.users)
    for name in ("hits", "counted", "weights", "fingerprints", "unmatched", "scored"):
        assert parts(getattr(one, name)) == parts(getattr(other, name)), name
    assert one.to_bytes() == other.to_bytes()
    for name in [*one.names(), *one.terms.asked]:
        values = one.per_user(name)
        np.testing.assert_array_equal(values, other.per_user(name))
        assert getattr(values, "users", None) == getattr(other.per_user(name), "users", None)


KEYS = st.text(max_size=3), st.integers(-(2**63), 2**63 - 1)


@settings(deadline=None, max_examples=80)
@given(populations_with_duplicates(min_users=0), st.sets(st.integers(1, 12), min_size=1), st.data())
def test_what_comes_back_is_what_was_saved(population, ks, data):
    convention = data.draw(st.sampled_from(list(tl.CONVENTIONS)))
    metrics = tl.CONVENTIONS[convention].metrics
    size = dict.fromkeys(("min_size", "max_size"), len(population[0]))
    result = tl.top_k_eval(
        *population,
        sorted(ks),
        metrics=[name for name, metric in metrics.items() if metric.cut != "n"],
        convention=convention,
        duplicates="first",
        empty=data.draw(st.sampled_from(["zero", "skip"])),
        missing=data.draw(st.sampled_from(["zero", "skip"])),
        users=data.draw(st.none() | st.one_of(*(st.lists(k, **size, unique=True) for k in KEYS))),
    )
    same(result, through_a_file(result))


@settings(deadline=None, max_examples=60)
@given(graded_populations(), st.integers(1, 8), st.data())
def test_grades_weights_and_unjudged_items_too(population, k, data):
    draw = data.draw
    options = {
        "relevant_from": draw(st.sampled_from([None, 1, 2])),
        "aggregate": draw(st.sampled_from([None, "pooled"])),
        "unjudged": draw(st.sampled_from(["miss", "drop"])),
        "gains": draw(st.sampled_from(["linear", "exponential"])),
        "convention": draw(st.sampled_from(["standard", "trec_eval", "mteb"])),
        "weights": draw(
            st.none() | st.just(np.random.default_rng(0).random(len(population[0])) + 0.1)
        ),
    }
    if options["relevant_from"] is not None and not any(population[1]):
        return
    names = ["ndcg", "recall", "map", "mrr", "precision"]
    result = tl.top_k_eval(*population, k, metrics=names, empty="zero", **options)
    same(result, through_a_file(result))
