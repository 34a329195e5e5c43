"""Golden values of the metrics of lists, from other projects' tests and documentation, and a paper.

The oracle has to give them, and toplist where it has the metric. Each says whose it is: repository,
file, and the commit it was read at.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from listwise import listwise
from oracle import beyond as oracle

NAN = math.nan


class Golden(NamedTuple):
    """A value from outside, the oracle's, and toplist's (None: it has no such metric)."""

    source: str
    expected: Any
    oracle: Any
    toplist: Any = None
    tolerance: float = 5e-7


def diversity(lists, k, features, distance):
    function = oracle.intra_list_diversity
    return [function(row, k, features, distance) for row in lists]


def means(lists, k, values):
    return [oracle.mean_of(row, k, values.get) for row in lists]


def at(curves):
    """Return the values at the largest k."""
    return curves[..., -1]


# RecTools, 41a5a63

RECTOOLS = "MobileTeleSystems/RecTools 41a5a63 tests/metrics/test_"
SQUARES = {"i1": [0, 0], "i2": [0, 1], "i3": [1, 1]}
DOCUMENTED = {1: [0, 0], 2: [0, 1], 3: [1, 1], 4: [0, 0]}
OF_DOCUMENTED = [[1, 2, 3], [1, 4]]
POPULAR = [["i1", "i2"], ["i3", "i1", "i2"], ["i3", "i2"]]
BOUGHT = {"i1": 3, "i2": 2, "i3": 1}
NEW = [["i3"], ["i2", "i3"], ["i1", "i2"]]
BUYERS = {"i1": 3, "i2": 1, "i3": 1}  # i3 is new there, as if one user had it
THIRD = math.log2(3)


def hamming(lists, k, features, **options):
    return at(
        listwise.intra_list_diversity(lists, k, features=features, distance="hamming", **options)
    )


def of_squares(k, expected):
    lists = [["i1", "i2", "i3"], ["i1"]]
    return Golden(
        f"{RECTOOLS}diversity.py:24 k={k}",
        expected,
        diversity(lists, k, SQUARES, oracle.hamming_distance),
        hamming(lists, k, SQUARES),
    )


def popularity(k, divisor, expected):
    counts = {item: count / divisor for item, count in BOUGHT.items()}
    return Golden(
        f"{RECTOOLS}popularity.py:23 k={k} of {divisor}",
        expected,
        means(POPULAR, k, counts),
        at(listwise.average_popularity(POPULAR, k, counts=counts)),
    )


def self_information(k, expected):
    bits = {item: -math.log2(count / 3) for item, count in BUYERS.items()}
    return Golden(
        f"{RECTOOLS}novelty.py:23 k={k}",
        expected,
        means(NEW, k, bits),
        at(listwise.novelty(NEW, k, counts={"i1": 3, "i2": 1}, total=3, unknown=1)),
    )


FROM_RECTOOLS = [
    of_squares(1, [0, 0]),
    of_squares(2, [1, 0]),
    of_squares(3, [4 / 3, 0]),
    Golden(
        "MobileTeleSystems/RecTools 41a5a63 rectools/metrics/diversity.py:97",
        [1.33333333, 0],
        diversity(OF_DOCUMENTED, 3, DOCUMENTED, oracle.hamming_distance),
        hamming(OF_DOCUMENTED, 3, DOCUMENTED),
    ),
    popularity(1, 1, [3, 1, 1]),
    popularity(3, 1, [2.5, 2, 1.5]),
    popularity(1, 6, [1 / 2, 1 / 6, 1 / 6]),
    popularity(3, 6, [5 / 12, 1 / 3, 1 / 4]),
    self_information(1, [THIRD, THIRD, 0]),
    self_information(2, [THIRD, THIRD, THIRD / 2]),
    Golden(
        f"{RECTOOLS}catalog.py:25",
        0.4,
        oracle.item_coverage([[1, 2], [1, 2], [], [1]], 2, range(5)),
        at(listwise.item_coverage([[1, 2], [1, 2], [], [1]], 2, catalogue=5)),
    ),
]

# recommenders, b02c95e2: tests/unit/recommenders/evaluation/conftest.py, diversity_data

RECOMMENDERS = (
    "recommenders-team/recommenders b02c95e2 "
    "tests/unit/recommenders/evaluation/test_python_evaluation.py:"
)
TRAINED = {1: [1, 2, 4], 2: [3, 4], 3: [3, 4, 5]}
SHOWN = [[3, 5], [2, 5], [1, 2]]
SEEN = {1: 1, 2: 1, 3: 2, 4: 3, 5: 1}
FEATURES = {
    1: [0, 1, 1, 0, 0],
    2: [0, 1, 0, 1, 0],
    3: [0, 0, 1, 1, 0],
    4: [0, 0, 1, 0, 1],
    5: [0, 0, 0, 1, 1],
}


def users_apart(i, j):
    """Return one minus the cosine of the users of two items."""
    shared = sum({i, j} <= {*row} for row in TRAINED.values())
    return 1 - shared / math.sqrt(SEEN[i] * SEEN[j])


FROM_RECOMMENDERS = [
    Golden(
        RECOMMENDERS + "461",
        0.8,
        oracle.item_coverage(SHOWN, 2, SEEN),
        at(listwise.item_coverage(SHOWN, catalogue=[*SEEN])),
    ),
    Golden(
        RECOMMENDERS + "469",
        1.9183,
        oracle.shannon_entropy(SHOWN, 2, 2),
        at(listwise.shannon_entropy(SHOWN, unit="bits")),
        5e-5,
    ),
    Golden(
        RECOMMENDERS + "477",
        [3, 3, 2, 1.41504, 3],
        means([[item] for item in SEEN], 1, {i: -math.log2(n / 8) for i, n in SEEN.items()}),
        at(listwise.novelty([[item] for item in SEEN], counts=SEEN)),
        5e-6,
    ),
    Golden(
        RECOMMENDERS + "498",
        2.83333,
        np.mean(means(SHOWN, 2, {i: -math.log2(n / 8) for i, n in SEEN.items()})),
        at(listwise.novelty(SHOWN, counts=SEEN)).mean(),
        5e-6,
    ),
    Golden(
        RECOMMENDERS + "518",
        [0.29289, 1, 0],
        diversity(SHOWN, 2, {item: item for item in SEEN}, users_apart),
        tolerance=5e-6,
    ),
    Golden(
        RECOMMENDERS + "538",
        0.43096,
        np.mean(diversity(SHOWN, 2, {item: item for item in SEEN}, users_apart)),
        tolerance=5e-6,
    ),
    Golden(
        RECOMMENDERS + "619",
        [0.5, 0.5, 0.5],
        diversity(SHOWN, 2, FEATURES, oracle.cosine_distance),
        at(listwise.intra_list_diversity(SHOWN, features=FEATURES)),
    ),
]

# LensKit, 3bd1c17: similarities are one minus distances, entropy is to .02, its smoothing

LENSKIT = "lenskit/lkpy 3bd1c17 tests/eval/test_"


def similar(line, labels, expected):
    items = [*labels]
    mean = 1 - oracle.intra_list_diversity(items, len(items), labels, oracle.cosine_distance)
    found = at(listwise.intra_list_diversity([items], features=labels))[0]
    return Golden(f"{LENSKIT}ils.py:{line}", expected, mean, 1 - found, 5e-4)


def varied(line, labels, expected):
    listed = oracle.list_shares([*labels], len(labels), labels)
    return Golden(f"{LENSKIT}entropy.py:{line}", expected, oracle.entropy(listed, 2), None, 1e-9)


FROM_LENSKIT = [
    similar(17, {1: [1, 0, 0], 2: [1, 0, 0], 3: [1, 0, 0]}, 1.0),
    similar(26, {1: [1, 0, 0], 2: [0, 1, 0], 3: [0, 0, 1]}, 0.0),
    similar(58, {1: [1, 0], 2: [1, 0], 3: [0, 1]}, 0.333),
    similar(77, {1: [1, 0, 0]}, 1.0),
    varied(17, {1: "a", 2: "b", 3: "c"}, math.log2(3)),
    varied(34, {1: "a", 2: "b", 3: "a", 4: "b"}, 1.0),
    varied(113, {n: "abcde"[n // 2] if n % 2 == 0 else "" for n in range(10)}, math.log2(5)),
]

# recmetrics, b21222d

RECMETRICS = "statisticianinstilettos/recmetrics b21222d tests/test_metrics.py:"
WATCHED = {
    **{1198: 893, 1270: 876, 593: 876, 2762: 867, 318: 864},
    **{2571: 863, 260: 859, 1240: 857, 296: 856, 608: 853},
}
STRANGERS = [["1", "2", "C", "D"], ["4", "3", "m", "X"], ["7", "B", "t", "X"]]
GENRES = {3: [0, 1, 0], 7: [0, 1, 0], 5: [0, 1, 0], 9: [1, 0, 0]}

FROM_RECMETRICS = [
    Golden(
        RECMETRICS + "10",
        0.10697151566593581,
        means([[*WATCHED]], 10, {i: -math.log2(n / 933) for i, n in WATCHED.items()})[0],
        at(listwise.novelty([[*WATCHED]], counts=WATCHED, total=933))[0],
        1e-15,
    ),
    Golden(
        RECMETRICS + "44",
        0.5,
        oracle.item_coverage(["XYZ", "XYZ"], 3, "ABCXYZ"),
        at(listwise.item_coverage([[*"XYZ"], [*"XYZ"]], catalogue=[*"ABCXYZ"])),
    ),
    Golden(
        RECMETRICS + "255",
        0.916,
        oracle.personalisation_by_cosine(STRANGERS, 4),
        at(listwise.personalisation(STRANGERS)),  # the lists are as long as k
        7e-4,
    ),
    Golden(
        RECMETRICS + "274",
        0.5,
        1 - oracle.intra_list_diversity([*GENRES], 4, GENRES, oracle.cosine_distance),
        1 - at(listwise.intra_list_diversity([[*GENRES]], features=GENRES))[0],
    ),
]

# Calibration and lift

# A user's history and 20 recommended films, their genres by shares to three decimals.
INTERACTED = {
    **{"Action": 0.113, "Drama": 0.109, "Romance": 0.034, "War": 0.015, "Comedy": 0.073},
    **{"Horror": 0.093, "Adventure": 0.178, "Sci-Fi": 0.06, "Crime": 0.038, "Thriller": 0.058},
    **{"Children": 0.019, "Fantasy": 0.163, "Western": 0.007, "Musical": 0.005},
    **{"Animation": 0.01, "Mystery": 0.016, "IMAX": 0.008},
}
RECOMMENDED = {
    **{"Action": 0.133, "Adventure": 0.121, "Fantasy": 0.117, "Comedy": 0.058, "Horror": 0.271},
    **{"Thriller": 0.133, "Sci-Fi": 0.108, "Romance": 0.013, "Mystery": 0.046},
}
P, Q = (dict(enumerate(row)) for row in ([0.6, 0.1, 0.1, 0.2], [0.2, 0.2, 0.1, 0.5]))
# ClayRS's ratings: six users, of whom "u6" has no list
RATED = {"i1": 3, "i2": 1, "i3": 3, "i9": 2, "i10": 4} | dict.fromkeys(
    ("i4", "i5", "i6", "i7", "i8", "i11", "i12", "i13", "i15", "i16", "i18", "i19", "i20"), 1
)
HISTORIES = [
    ["i1", "i2", "i3", "i4", "i5", "i6"],
    ["i1", "i9", "i10"],
    ["i1", "i12", "i13", "i3"],
    ["i3", "i10", "i15", "i16", "i9"],
    ["i10", "i18", "i19", "i20"],
]
RANKS = [
    ["i7", "i10", "i11", "i12", "i13"],
    ["i11", "i20", "i6", "i3", "i4"],
    ["i4", "i5", "i6", "i7", "i10"],
    ["i9", "i2", "i3", "i1", "i5"],
    ["i2", "i4", "i3", "i5", "i6"],
]
UNEXPECTED = [([3, 7, 10, 11, 2], 4, {2, 7, 3}), ([5, 8, 11, 1, 3], 4, {5, 8, 3})]
CLAYRS = "swapUniba/ClayRS 6df4fbe test/evaluation/metrics/test_fairness_metrics.py:"
GENSIM = "piskvorky/gensim 04d7f87 gensim/test/test_similarity_metrics.py TestHellinger, TestKL"

FROM_OTHERS = [
    Golden(  # users 1 and 2, whose lists are longer than k
        "sb-ai-lab/RePlay b4e051e8 replay/metrics/unexpectedness.py, documentation, k=4",
        [0.5, 0.5],
        [oracle.unexpectedness(*shown) for shown in UNEXPECTED],
        [listwise.unexpectedness(row, k, expected=known)[-1] for row, k, known in UNEXPECTED],
    ),
    Golden(
        "ethen8181/machine-learning 1dcc979 recsys/calibration/calibrated_reco.ipynb, in bits",
        1.3345197164266038,
        oracle.kl_divergence(INTERACTED, oracle.smoothed(INTERACTED, RECOMMENDED, 0.01))
        / math.log(2),
        tolerance=1e-12,
    ),
    Golden(f"{GENSIM}: Hellinger", 0.309742984153, oracle.hellinger(P, Q), tolerance=1e-12),
    Golden(f"{GENSIM}: KL", 0.40659450877, oracle.kl_divergence(P, Q), tolerance=1e-11),
    Golden(
        "scipy 1.17.1, documentation of scipy.spatial.distance.jaccard",
        [1, 0.6666666666666666, 0],
        [oracle.jaccard_distance({0}, other) for other in ({1}, {0, 1, 2}, {0})],
    ),
    # Its test adds the popularities up: of u2 (1 + 1 + 1 + 3 + 1) / 5 beside (3 + 2 + 4) / 3.
    Golden(
        f"{CLAYRS}585, the group of u2",
        (7 / 5 - 3) / 3,
        oracle.popularity_lift(RANKS[1], 5, HISTORIES[1], RATED),
    ),
    Golden(
        f"{CLAYRS}544, one group",
        ((8 + 7 + 8 + 10 + 7) / 5) / (10 / 6 + 3 + 8 / 4 + 11 / 5 + 7 / 4) - 1,
        oracle.group_popularity_lift(RANKS, HISTORIES, 5, RATED),
    ),
]

GOLDEN = [*FROM_RECTOOLS, *FROM_RECOMMENDERS, *FROM_LENSKIT, *FROM_RECMETRICS, *FROM_OTHERS]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.source)
def test_the_oracle_and_toplist_give_golden_values(golden):
    for found in (golden.oracle, golden.toplist):
        if found is not None:
            np.testing.assert_allclose(found, golden.expected, rtol=0, atol=golden.tolerance)


# Relations that hold by the definitions, so that the oracle is checked where nobody has a value

LABELS = {"a": ["war"], "b": ["war", "drama"], "c": ["drama"], "x": []}
COUNTS = {"a": 1, "b": 3, "c": 8}
OWN = {"a": "own", "b": "own", "c": "other"}
BY_DEFINITION = [
    (oracle.calibration(["b"], 1, ["a", "c"], LABELS), 0),
    (oracle.calibration(["b"], 1, ["a", "c"], LABELS, "hellinger"), 0),
    (oracle.calibration(["c"], 1, ["a"], LABELS), -math.log(0.01)),
    (oracle.calibration(["c"], 1, ["a"], LABELS, "hellinger"), 1),
    *((oracle.calibration(["a"], 2, one, LABELS), NAN) for one in ([], ["x"])),
    (oracle.calibration(["x", "unknown"], 2, ["a"], LABELS), NAN),
    # a of rank 1 weighs 1, c of rank 2 1 / log2(3); of rank 3 where x keeps its place
    (oracle.list_shares(["a", "c"], 2, LABELS, True)["war"], THIRD / (1 + THIRD)),
    (oracle.list_shares(["a", "x", "c"], 3, LABELS, True)["war"], 2 / 3),
    (oracle.popularity_lift(["a", "b"], 2, ["b", "a"], COUNTS), 0),
    (oracle.popularity_lift(["b"], 1, ["a"], COUNTS), 2),
    (oracle.group_popularity_lift([["b"], ["c"]], [["a"], ["c"]], 1, COUNTS), 2 / 9),
    (oracle.popularity_lift(["a"], 1, [], COUNTS), NAN),
    (oracle.popularity_lift([], 1, ["a"], COUNTS), NAN),
    (oracle.group_shares([["a", "c", "x"]], 3, OWN)["own"], 1 / (1 + 1 / THIRD + 1 / 2)),
    (sum(oracle.group_shares([["a", "c", "x"]], 3, OWN).values()), 1),
    (oracle.group_shares([[]], 3, OWN)["own"], NAN),
    (oracle.ratio_of_exposure([["a", "c"]], 2, OWN, "own"), (1 / 2) / (2 / 3)),
    (oracle.mean_over_users([1.0, NAN, 2.0])[0], 1.5),
]


@pytest.mark.parametrize(("found", "expected"), BY_DEFINITION)
def test_values_by_definition(found, expected):
    assert found == pytest.approx(expected, abs=1e-8, nan_ok=True)
