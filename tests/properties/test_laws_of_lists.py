"""Metrics of the lists: no bit hangs on the form, nor on what is asked beside."""

import numpy as np
import pytest
from doors import by_words
from matrix import OF_ALL
from shared_inputs import frame_of
from world import PAD_OF_TEXT as PAD
from world import draw

import toplist as tl

WORLD = draw(5)
LISTS, TRUTHS = WORLD.lists, WORLD.truths
# Of some users nothing is known.
HISTORY = {user: [*row, row[0]] for user, row in [*WORLD.history.items()][2:]}
EXPECTED = dict([*WORLD.expected.items()][1:])
KNOWN = {
    **{name: getattr(WORLD, name) for name in ("catalogue", "counts", "features", "labels")},
    "distances": {
        item: [abs(row - other) / 10 for other in range(12)]
        for row, item in enumerate(WORLD.catalogue)
    },
    "history": HISTORY,
    "expected": EXPECTED,
}
OF_USERS = [
    *("average_popularity", "tail_percentage", "novelty", "popularity_lift"),
    *(f"intra_list_diversity{one}" for one in ("", "(distance=jaccard)", "(distance=given)")),
    *(f"calibration{one}" for one in ("", "(distance=hellinger)", "(weights=rank)")),
    *("unexpectedness", "serendipity", "exposure_share(label=war)", "hit_share(label=love)"),
]
NAMES = [*OF_ALL, *OF_USERS]
K = 3
SAME = {item: item for item in WORLD.catalogue}


def evaluated(lists=LISTS, names=NAMES, k=K, beside=(), **options):
    """Evaluate metrics of the lists at k, and others beside them, as they are written."""
    metrics = [*(f"{name}@{k}" for name in names), *beside]
    return by_words(lists, TRUTHS, metrics=metrics, **KNOWN | options)


def bits(result, k=K):
    """Return all that a result says of metrics of the lists, bit for bit."""
    found = {}
    for name in (f"{one}@{k}" for one in NAMES):
        numbers = [result[name], result.std(name), *result.interval(name)]
        found[name] = result.n_of(name), *(float(one).hex() for one in numbers)
        if name.partition("@")[0] in OF_USERS:
            values = dict(zip(result.users, result.per_user(name).tolist(), strict=True))
            found[name] += tuple(values[user].hex() for user in TRUTHS)
    return found


# What is asked beside


HOWS = {
    "plain": {},
    "unjudged": {"unjudged": "drop"},
    "collapse": {"duplicates": "collapse"},
    "mapped": {"items_as": SAME},
    "listed": {"relevant": "listed"},
    "trec_eval": {"convention": "trec_eval"},
    "mapped, unjudged": {"items_as": SAME, "unjudged": "drop"},
}


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("k", [1, 10])
def test_no_metric_of_hits_beside_changes_a_bit(how, k):
    alone = bits(evaluated(k=k, **HOWS[how]), k)
    known = tl.CONVENTIONS[HOWS[how].get("convention", "standard")].metrics
    other = 7 if k < 7 else 1
    every = [f"{name}@{other}" for name in known if name != "bpref"] + ["bpref"]
    for beside in (every, every[1:2]):
        assert bits(evaluated(k=k, beside=beside, **HOWS[how]), k) == alone, beside


def test_no_metric_of_hits_beside_changes_a_bit_of_many_lists():
    """Of so many that they are averaged in blocks, whose sizes follow the largest k."""
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((3000, 120)), axis=1)
    known = {"counts": rng.random(120), "expected": set(range(40))}
    names = ["average_popularity@10", "novelty@10", "unexpectedness@10", "serendipity@10"]
    truths = rng.integers(0, 120, 3000)
    alone, both = (
        by_words(lists, truths, metrics=[*names, *beside], **known) for beside in ([], ["mrr@120"])
    )
    for name in names:
        assert alone[name].hex() == both[name].hex(), name
        assert alone.std(name).hex() == both.std(name).hex(), name


def test_values_at_every_k_are_those_that_are_asked_for_there():
    """Lists are read to the largest k of all, whatever asks for it."""
    result = evaluated(k=2, beside=["bpref", "mrr@9"], unjudged="drop")
    for k in range(1, 10):
        asked = evaluated(k=k, unjudged="drop")
        for name in (f"{one}@{k}" for one in NAMES):
            assert result[name] == pytest.approx(asked[name], rel=1e-13, nan_ok=True), name


def test_whole_lists_are_read_as_they_are_given():
    """Where unjudged items leave what is asked beside, the longest list is as long as it was."""
    metrics = ["item_coverage", "serendipity", "mrr"]
    found = by_words(LISTS, TRUTHS, metrics=metrics, unjudged="drop", **KNOWN)
    assert found.names()[:2] == ["item_coverage@7", "serendipity@7"]
    plain = by_words(LISTS, TRUTHS, metrics=metrics, **KNOWN)
    for name in found.names()[:2]:
        assert found[name] == plain[name]


# Forms


def with_pads(rows, n=2):
    return {user: [*row, *[PAD] * n] for user, row in rows.items()}


def tables_of(rows, kind):
    rows = [(user, item) for user, row in rows.items() for item in row]
    users, items = map(list, zip(*rows, strict=True))
    return frame_of(kind, {"user_id": users, "item_id": items})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("how", [{}, {"padding": PAD}, {"items_as": SAME}])
def test_a_history_and_a_baseline_are_the_same_in_every_form(kind, how):
    """An item of a history counts as often as it is there."""
    fill = with_pads if "padding" in how else dict
    tables = {name: tables_of(fill(KNOWN[name]), kind) for name in ("history", "expected")}
    assert bits(evaluated(fill(LISTS), **how, **tables)) == bits(evaluated())


# Tests of differences


def check_tests(results, tests):
    """Check that a tested difference is that of the means, over as many users."""
    a, b = results.values()
    assert len(tests)
    for one in tests:
        assert one.difference == pytest.approx(b[one.name] - a[one.name], rel=1e-9, abs=1e-12)
        assert one.n == a.n_of(one.name) == b.n_of(one.name), one.name


def test_clusters_and_the_lists_that_have_none():
    """A list without a truth has no cluster: what counts it is not tested by clusters."""
    clusters = {user: row // 2 for row, user in enumerate(TRUTHS)}
    sides = {"a": LISTS, "b": {user: row[::-1] for user, row in LISTS.items()}}

    def tested(known, names, of_results, **of_tests):
        results = {
            name: evaluated({u: some[u] for u in known}, names=names, **of_results)
            for name, some in sides.items()
        }
        return results, tl.compare(results).test(**of_tests)

    for extra in (True, False):
        known = [user for user in LISTS if extra or user in TRUTHS]
        results, tests = tested(known, ["novelty", "serendipity"], {"clusters": clusters})
        check_tests(results, tests)
        assert {one.name for one in tests} == {"serendipity@3", *([] if extra else ["novelty@3"])}
        assert (
            "not tested: novelty@3: lists without a ground truth are in these" in str(tests)
        ) is extra
    _, by_user = tested(LISTS, ["novelty"], {}, clusters=clusters | {"extra": "z"})
    assert by_user["b", "novelty@3"].n == sum(map(bool, LISTS.values()))
