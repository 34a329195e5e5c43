"""Metrics of the lists as functions: formulas, figures from outside, relations, extreme inputs."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import cases
import matrix
import numpy as np
import pytest
from listwise import listwise
from oracle import beyond as oracle
from world import draw

from toplist import beyond

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
NAN = math.nan


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


# Figures from outside

DISAGREED = [  # of one table of lists, by whom
    ("gini", {"catalogue": 8}, 0.341667),
    ("gini", {"catalogue": 8, "divisor": "n-1"}, 1 - 0.609524),  # Elliot
    ("gini", {"over": "recommended", "divisor": "n-1"}, 0.288889),  # Evidently
    ("shannon_entropy", {}, 1.841390),
    ("shannon_entropy", {"unit": "bits"}, 2.656565),
    ("shannon_entropy", {"normalised": "recbole"}, 0.263056),
    ("item_coverage", {"catalogue": 8}, 0.875),
]


@pytest.mark.parametrize(("name", "options", "value"), DISAGREED)
def test_the_matrix_that_libraries_disagree_about(name, options, value):
    assert getattr(listwise, name)(LISTS, **options)[-1] == pytest.approx(value, abs=5e-7)


def counted(case):
    return {"counts": {int(item): count for item, count in case["item_count"].items()}}


def buyers(train, of=1):
    items = [item for row in train.values() for item in row]
    return {"counts": {item: items.count(item) / of for item in items}}


PEERS = {  # of other projects' metrics: the function here, and its options for a case
    "item_coverage": ("item_coverage", lambda c: {"catalogue": c["num_items"]}),
    "gini_index": ("gini", lambda c: {"catalogue": c["num_items"]}),
    "shannon_entropy": ("shannon_entropy", lambda c: {"normalised": "recbole"}),
    "average_popularity": ("average_popularity", lambda c: counted(c) | {"unknown": 0}),
    "tail_percentage": (
        "tail_percentage",
        lambda c: counted(c) | {"unknown": "head", "share": c["tail_ratio"]},
    ),
    "avg_rec_popularity": ("average_popularity", lambda c: {"counts": c["item_count"]}),
    "mean_inv_user_freq": (
        "novelty",
        lambda c: buyers(c["train"]) | {"total": len(c["train"]), "unknown": 1, "k": c["k"]},
    ),
    "intra_list_diversity": (
        "intra_list_diversity",
        lambda c: {"features": c["features"], "distance": "hamming", "unknown": "nan"},
    ),
    "coverage": ("item_coverage", lambda c: {"catalogue": c["catalog"], "unknown": "skip"}),
    "popularity": ("average_popularity", lambda c: buyers(c["train"], len(c["train"]))),
    "novelty": ("novelty", lambda c: counted(c) | {"total": c["n_users"]}),
}
PATH = cases.FOLDER / "recsys_cases.json"
CASES = [
    case
    for case in (json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else [])
    if case["metric"] in PEERS
]


@pytest.mark.skipif(not CASES, reason="no cases beside the repository")
def test_there_are_cases_of_recbole_and_others():
    assert len(CASES) >= 11
    assert {case["peer"] for case in CASES} >= {"RecBole", "RecTools", "rs_metrics"}


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['peer']}-{c['metric']}")
def test_figures_of_other_projects(case):
    expected = np.array(case["expected"], float)  # null is NaN
    name, options = PEERS[case["metric"]]
    found = getattr(listwise, name)(case["ranks"], **options(case))
    if found.ndim > expected.ndim:
        found = found[..., -1]  # at k
    same(found if found.ndim == expected.ndim else found.mean(), expected, case["tolerance"])


# Against the oracle

CHOICES = [  # every parameter of a metric, and its values
    *("average_popularity", "average_popularity(unknown=0)", "popularity_lift", "unexpectedness"),
    *("novelty", "novelty(total=500,unknown=1)"),
    *(f"tail_percentage({one})" for one in ("share=0.3", "n_items=3", "max_count=4")),
    *("tail_percentage(unknown=tail)", "tail_percentage(share=0.3,unknown=head)"),
    *(f"intra_list_diversity(distance={one})" for one in ("hamming", "euclidean", "jaccard")),
    *("intra_list_diversity(single=0.25)", "intra_list_diversity(distance=given)"),
    *(f"calibration{one}" for one in ("", "(weights=rank)", "(alpha=0.5)", "(distance=hellinger)")),
    "calibration(distance=hellinger,weights=rank)",
    *("exposure_share(label=war)", "hit_share(label=love)"),
    *(f"serendipity{one}" for one in ("", "(divisor=n)", "(divisor=unexpected)")),
    *("item_coverage", "personalisation", "gini", "gini(divisor=n-1)"),
    *(f"gini(over=recommended{one})" for one in ("", ",divisor=n-1")),
    *("shannon_entropy", "shannon_entropy(unit=bits)"),
    *(f"shannon_entropy(normalised={one})" for one in ("catalogue", "recommended", "recbole")),
]


@pytest.mark.parametrize("seed", range(4))
def test_every_choice_is_the_formula(seed):
    """Some users have no history, some items no label; of one item nothing may be known."""
    world = draw(seed, gap=seed % 2 == 1, text=seed % 3 > 0)
    places = range(len(world.catalogue))
    world = replace(
        world,
        labels=world.labels | {item: [] for item in world.catalogue[1:3]},
        history=world.history | {world.users[0]: []},
        distances={
            item: [abs(row - other) % 5 / 4 for other in places]
            for row, item in enumerate(world.catalogue)
        },
    )
    options = {"metrics": CHOICES, "k": [1, 2, 3, 5, 8], "unknown": "skip"}
    options = options if seed % 2 else options | {"unknown": "raise"}
    assert not matrix.differences(world, options, "dicts" if seed < 2 else "rows")


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_exposure_of_long_ragged_lists_is_the_formulas(n_threads):
    rng = np.random.default_rng(3)
    popular = 1 / np.arange(1, 61)
    lists = [
        rng.choice(60, size, replace=False, p=popular / popular.sum()).tolist()
        for size in rng.integers(0, 41, 120)
    ]
    exposure = beyond.exposure(lists, catalogue=60, n_threads=n_threads)
    depth, known = max(map(len, lists)), range(0, 60, 2)
    assert exposure.k == depth > 30
    half = beyond.exposure(lists, catalogue=known, unknown="skip", n_threads=n_threads)
    for k in range(1, depth + 1):
        assert listwise.item_coverage(exposure)[k - 1] == oracle.item_coverage(lists, k, range(60))
        same(listwise.gini(exposure)[k - 1], oracle.gini(lists, k, range(60)))
        same(listwise.shannon_entropy(exposure)[k - 1], oracle.shannon_entropy(lists, k))
        same(listwise.gini(half)[k - 1], oracle.gini(lists, k, known))
    same(listwise.personalisation(exposure)[19], oracle.personalisation(lists, 20))
    for name, options in (
        ("gini", {"over": "recommended", "divisor": "n-1"}),
        *(("shannon_entropy", {"normalised": one}) for one in ("recommended", "recbole")),
        *(("shannon_entropy", {"unit": one}) for one in ("nats", "bits")),
        ("personalisation", {}),
    ):
        function = getattr(listwise, name)
        same(function(exposure, **options), function(lists, catalogue=60, **options))


# Relations


def test_an_array_is_a_loop_and_a_slice_is_the_metric_at_k(monkeypatch):
    """Whatever the threads, the blocks and the order of users."""
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((200, 40)), axis=1)[:, :8]
    facts = {
        "average_popularity": {"counts": np.arange(40)},
        "tail_percentage": {"counts": np.arange(40)},
        "intra_list_diversity": {"features": rng.random((40, 3))},
        "unexpectedness": {"expected": {1, 2, 3}},
        "exposure_share": {"labels": {item: "ab"[item % 2] for item in range(40)}, "label": "a"},
        "calibration": {
            "labels": {item: "ab"[item % 2] for item in range(40)},
            "history": lists[:, :2],
        },
    }
    whole = {name: getattr(listwise, name)(lists, **known) for name, known in facts.items()}
    monkeypatch.setattr("toplist.parallel.BLOCK", 64)
    monkeypatch.setattr("toplist.beyond.listed.BLOCK", 64)
    for name, known in facts.items():
        function = getattr(listwise, name)
        assert function(lists, n_threads=4, **known).tobytes() == whole[name].tobytes()
        same(function(lists, 5, **known), whole[name][:, :5], 0)
        for row in (0, 199):
            own = known | ({"history": [lists[row, :2]]} if "history" in known else {})
            same(function(lists[row], **own), whole[name][row], 0)  # one bare user: (K,)
            if "history" not in known:
                same(function(lists[::-1], **known)[199 - row], whole[name][row], 0)
    for name in ("item_coverage", "gini", "shannon_entropy"):
        function = getattr(listwise, name)
        assert np.array_equal(
            function(lists, 5, catalogue=40), function(lists[::-1], catalogue=40)[:5]
        )


# By hand


FIRST = {"duplicates": "first"}
BY_HAND = [  # name, lists, options, the last values
    ("gini", [[0]], {"catalogue": 1}, 0),
    ("gini", [[0]], {"catalogue": 1, "divisor": "n-1"}, 0),
    ("gini", [[0, 1, 2, 3]] * 9, {"over": "recommended"}, 0),
    ("gini", [[0]] * 9, {"catalogue": 4, "divisor": "n-1"}, 1),
    ("personalisation", [[0, 1, 2, 3]] * 9, {}, 0),
    ("shannon_entropy", [[0]], {}, 0),
    ("shannon_entropy", [[0]], {"catalogue": 1, "normalised": "catalogue"}, 0),
    ("shannon_entropy", [[0]], {"catalogue": 1, "normalised": "recommended"}, 0),
    ("shannon_entropy", [[0, 1]] * 9, {"catalogue": 8, "normalised": "recommended"}, 1),
    ("shannon_entropy", [[0, 1]] * 9, {"catalogue": 8, "normalised": "catalogue"}, 1 / 3),
    ("tail_percentage", [[0]], {"counts": [5]}, [1]),
    ("average_popularity", [["a", "z", "z", "y"]], {"counts": {"a": 6}, "unknown": 0} | FIRST, [2]),
    (
        "novelty",
        [["a", "z", "z", "y"]],
        {"counts": {"a": 8, "z": 0}, "total": 8, "unknown": 1} | FIRST,
        [2],
    ),
    (
        "tail_percentage",
        [["a", "z", "z", "y"]],
        {"counts": {"a": 9, "b": 1}, "n_items": 1, "unknown": "tail"} | FIRST,
        [2 / 3],
    ),
    # of equal counts the smaller number comes first, in text too
    (
        "tail_percentage",
        [[2, 10], [10, 1]],
        {"counts": {1: 5, 2: 1, 10: 1}, "n_items": 1},
        [0.5, 0],
    ),
    (
        "tail_percentage",
        [["2", "10"], ["10", "1"]],
        {"counts": {"1": 5, "2": 1, "10": 1}, "n_items": 1},
        [0.5, 0],
    ),
    *(
        ("tail_percentage", [[*range(100)]], {"counts": [*range(100)], "share": share}, [found])
        for share, found in ((0.1, 0.1), (0.29, 0.29), (0.57, 0.57), (0.295, 0.29), (1, 1))
    ),
    ("average_popularity", [[1], [7]], {"counts": {1: 3}, "unknown": "skip"}, [3, NAN]),
    ("unexpectedness", {"a": [1, 2], "b": [3]}, {"expected": {"a": [1]}}, [0.5, NAN]),
    ("unexpectedness", [[1, 2]], {"expected": [{1: 0, 2: 3}]}, [0.5]),  # grade 0 is not expected
    (
        "intra_list_diversity",
        [["a", "x", "b"]],
        {"labels": {"a": 1, "b": 2}, "unknown": "nan"},
        [NAN],
    ),
    *(
        (
            "exposure_share",
            [[0, 1]],
            {"labels": {0: "war", 1: one}, "label": "war"},
            [1 / (1 + 1 / math.log2(3))],
        )
        for one in (None, "", NAN, [], [""], ["", None])  # what is no label
    ),
]


@pytest.mark.parametrize(("name", "lists", "options", "expected"), BY_HAND)
def test_by_hand(name, lists, options, expected):
    same(getattr(listwise, name)(lists, **options)[..., -1], expected, 1e-15)


def test_nothing_was_to_be_expected_of_users_without_an_expected_list():
    lists, truths = {"a": [1], "b": [4]}, {"b": {4}, "a": {1}}
    found = listwise.serendipity(lists, truths, expected={"a": [1], "c": [9]})
    assert found.tolist() == [[1], [0]]  # in the order of the truth
    assert listwise.serendipity(lists, truths, expected={4})[0].tolist() == [0]


def test_nobody_has_no_numbers():
    assert listwise.gini({}, catalogue=3).shape == (0,)
    assert np.isnan(listwise.average_popularity([7], counts={1: 3}, unknown="skip")).all()


@pytest.mark.parametrize("size", [1e200, 1e308, 1e-155, 1e-170, 1e-308])
def test_cosines_of_extreme_vectors(size):
    for other, apart in (([size, 0], 0), ([0, size], 1), ([3.0, 0], 0)):
        features = {"a": [size, 0], "b": other}
        found = listwise.intra_list_diversity([["a", "b"]], features=features)
        assert found[0, 1] == pytest.approx(apart, abs=1e-15)


def test_many_labels_and_both_ends_of_the_distances():
    """Logarithms of a kernel's own: those of math, from none of a history to all of it."""
    labels = {i: [i, i + 1000, "all"] for i in range(200)}
    lists, history = {"u": list(range(100))}, {"u": list(range(100))}
    for distance, most in (("kl", -math.log(0.01)), ("hellinger", 1.0)):
        how = {"labels": labels, "distance": distance}
        found = listwise.calibration(lists, history=history, **how)
        assert found[0, -1] == pytest.approx(0, abs=1e-7)
        assert all(later <= one for one, later in pairwise(found[0]))
        how["labels"] = {i: [i] for i in range(200)}
        found = listwise.calibration(lists, history={"u": [150, 151]}, **how)
        assert found[0] == pytest.approx([most] * 100, abs=1e-12)
    for alpha in (1e-300, 1e-9, 0.3, 1 - 1e-9):  # half of the history: log of 2 - alpha and alpha
        how = {"labels": {1: "a", 2: "b"}, "history": [[1, 2]], "alpha": alpha}
        expected = -(math.log(2 - alpha) + math.log(alpha)) / 2
        assert listwise.calibration([[1]], **how)[0] == pytest.approx(expected, rel=1e-14)
    found = listwise.intra_list_diversity(lists, labels=labels)
    assert found[0, 1:] == pytest.approx([0.8] * 99, abs=1e-12)  # one label of five


def test_one_long_list_among_many_short_ones():
    lists = [list(range(4_000)), *([u] for u in range(1_000))]
    exposure = beyond.exposure(lists, catalogue=4_000)
    assert exposure.curves.total[[0, -1]].tolist() == [1_001, 5_000]
    assert exposure.curves.covered[[0, 999, -1]].tolist() == [1_000, 1_000, 4_000]
    x = np.sort(np.where(np.arange(4_000) < 1_000, 2, 1))
    i = np.arange(1, 4_001)
    same(listwise.gini(exposure)[-1], ((2 * i - 4_001) * x).sum() / (4_000 * x.sum()))


def test_ids_that_outgrow_their_first_table():
    ids = np.random.default_rng(0).integers(-(2**62), 2**62, 100_000)
    found = beyond.exposure(ids.reshape(1_000, 100))
    assert found.curves.covered[-1] == found.n_items == len(np.unique(ids))


# Forms: tests/properties tries all in evaluations

OTHERS = [[7, 5, 1], [4, 5, 2], [5, 6, 7], [2, 3, 5], [3, 7, 5]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_two_tables(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame

    def table(lists):
        rows = [(f"u{u}", str(i), r) for u, one in enumerate(lists) for r, i in enumerate(one, 1)]
        names = "who", "item_id", "rank"
        return make(dict(zip(names, map(list, zip(*rows[::-1], strict=True)), strict=True)))

    plain = beyond.overlap(LISTS, OTHERS).per_user
    written = {f"u{u}": list(map(str, one)) for u, one in enumerate(OTHERS)}
    for a, b in ((LISTS, table(OTHERS)), (LISTS, written)):
        found = beyond.overlap(table(a), b, columns={"user_id": "who"})
        assert found.users == ["u4", "u3", "u2", "u1", "u0"]  # as they first appear
        assert np.array_equal(found.per_user, plain[::-1])
