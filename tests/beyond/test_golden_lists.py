"""Golden values of the metrics of lists, from other projects' tests and documentation, and a paper.

The oracle has to give them, and toplist where it has the metric. Each says whose it is: repository,
file, and the commit it was read at.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracle import beyond as oracle
from sides import by_oracle, by_toplist

NAN = math.nan
THIRD = math.log2(3)


class Golden(NamedTuple):
    """Values from outside: of users, or a mean, or a number of all lists.

    Facts are those of a metric of toplist, by user "u0", "u1", ...; where toplist has no such
    metric, the name is what the oracle gives.
    """

    source: str
    expected: Any
    name: Any
    lists: Any = ()
    k: int = 0
    facts: dict | None = None
    tolerance: float = 5e-7

    def found(self):
        """Return what the oracle gives, and what toplist does."""
        if not isinstance(self.name, str):
            return [self.name]
        lists = {f"u{u}": row for u, row in enumerate(self.lists)}
        truths = {user: {self.lists[0][0]} for user in lists}
        both = []
        for side in (by_oracle, by_toplist):
            values = side(self.name, lists, truths, [self.k], facts=self.facts or {})[self.k]
            mean = values.pop("")
            both.append([*values.values()] if np.ndim(self.expected) else mean)
        return both


# RecTools, 41a5a63

RECTOOLS = "MobileTeleSystems/RecTools 41a5a63 tests/metrics/test_"
HAMMING = "intra_list_diversity(distance=hamming)"
SQUARES = [["i1", "i2", "i3"], ["i1"]], {"features": {"i1": [0, 0], "i2": [0, 1], "i3": [1, 1]}}
DOCUMENTED = {"features": {1: [0, 0], 2: [0, 1], 3: [1, 1], 4: [0, 0]}}
POPULAR = [["i1", "i2"], ["i3", "i1", "i2"], ["i3", "i2"]]
BOUGHT = {"counts": {"i1": 3, "i2": 2, "i3": 1}}
SHARES = {"counts": {item: count / 6 for item, count in BOUGHT["counts"].items()}}
NEW = [["i3"], ["i2", "i3"], ["i1", "i2"]]
BUYERS = {"counts": {"i1": 3, "i2": 1}}  # i3 is new there, as if one user had it
BITS = "novelty(total=3,unknown=1)"

FROM_RECTOOLS = [
    *(
        Golden(f"{RECTOOLS}diversity.py:24", [value, 0], HAMMING, SQUARES[0], k, SQUARES[1])
        for k, value in ((1, 0), (2, 1), (3, 4 / 3))
    ),
    Golden(
        *("MobileTeleSystems/RecTools 41a5a63 rectools/metrics/diversity.py:97", [4 / 3, 0]),
        *(HAMMING, [[1, 2, 3], [1, 4]], 3, DOCUMENTED),
    ),
    *(
        Golden(f"{RECTOOLS}popularity.py:23", values, "average_popularity", POPULAR, k, counts)
        for k, values, counts in (
            *((1, [3, 1, 1], BOUGHT), (3, [2.5, 2, 1.5], BOUGHT)),
            *((1, [1 / 2, 1 / 6, 1 / 6], SHARES), (3, [5 / 12, 1 / 3, 1 / 4], SHARES)),
        )
    ),
    Golden(f"{RECTOOLS}novelty.py:23", [THIRD, THIRD, 0], BITS, NEW, 1, BUYERS),
    Golden(f"{RECTOOLS}novelty.py:23", [THIRD, THIRD, THIRD / 2], BITS, NEW, 2, BUYERS),
    Golden(
        *(f"{RECTOOLS}catalog.py:25", 0.4, "item_coverage", [[1, 2], [1, 2], [], [1]], 2),
        {"catalogue": range(5)},
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
    **{1: [0, 1, 1, 0, 0], 2: [0, 1, 0, 1, 0], 3: [0, 0, 1, 1, 0], 4: [0, 0, 1, 0, 1]},
    5: [0, 0, 0, 1, 1],
}


def users_apart(i, j):
    """Return one minus the cosine of the users of two items."""
    shared = sum({i, j} <= {*row} for row in TRAINED.values())
    return 1 - shared / math.sqrt(SEEN[i] * SEEN[j])


APART = {"distances": {i: [users_apart(i, j) for j in SEEN] for i in SEEN}}
GIVEN = "intra_list_diversity(distance=given)"

FROM_RECOMMENDERS = [
    Golden(RECOMMENDERS + line, expected, name, lists, len(lists[0]), facts, tolerance)
    for line, expected, name, lists, facts, tolerance in (
        ("461", 0.8, "item_coverage", SHOWN, {"catalogue": [*SEEN]}, 5e-7),
        ("469", 1.9183, "shannon_entropy(unit=bits)", SHOWN, {}, 5e-5),
        ("477", [3, 3, 2, 1.41504, 3], "novelty", [[i] for i in SEEN], {"counts": SEEN}, 5e-6),
        ("498", 2.83333, "novelty", SHOWN, {"counts": SEEN}, 5e-6),
        ("518", [0.29289, 1, 0], GIVEN, SHOWN, APART, 5e-6),
        ("538", 0.43096, GIVEN, SHOWN, APART, 5e-6),
        ("619", [0.5] * 3, "intra_list_diversity", SHOWN, {"features": FEATURES}, 5e-7),
    )
]

# LensKit, 3bd1c17: similarities are one minus distances, entropy is to .02, its smoothing

LENSKIT = "lenskit/lkpy 3bd1c17 tests/eval/test_"


def similar(source, labels, expected, tolerance=5e-4):
    facts = {"features": labels}
    name = "intra_list_diversity"
    return Golden(source, [1 - expected], name, [[*labels]], len(labels), facts, tolerance)


def varied(line, labels, expected):
    listed = oracle.list_shares([*labels], len(labels), labels)
    source = f"{LENSKIT}entropy.py:{line}"
    return Golden(source, expected, oracle.entropy(listed, 2), tolerance=1e-9)


FROM_LENSKIT = [
    similar(f"{LENSKIT}ils.py:17", {1: [1, 0, 0], 2: [1, 0, 0], 3: [1, 0, 0]}, 1.0),
    similar(f"{LENSKIT}ils.py:26", {1: [1, 0, 0], 2: [0, 1, 0], 3: [0, 0, 1]}, 0.0),
    similar(f"{LENSKIT}ils.py:58", {1: [1, 0], 2: [1, 0], 3: [0, 1]}, 0.333),
    similar(f"{LENSKIT}ils.py:77", {1: [1, 0, 0]}, 1.0),
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
        *(RECMETRICS + "10", [0.10697151566593581], "novelty(total=933)", [[*WATCHED]], 10),
        *({"counts": WATCHED}, 1e-15),
    ),
    Golden(
        *(RECMETRICS + "44", 0.5, "item_coverage", [[*"XYZ"], [*"XYZ"]], 3),
        {"catalogue": [*"ABCXYZ"]},
    ),
    # the lists are as long as k
    Golden(RECMETRICS + "255", 0.916, "personalisation", STRANGERS, 4, {}, 7e-4),
    Golden(
        RECMETRICS + "255", 0.916, oracle.personalisation_by_cosine(STRANGERS, 4), tolerance=7e-4
    ),
    similar(RECMETRICS + "274", GENRES, 0.5, 5e-7),
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
# ClayRS's ratings
ONCE = [f"i{n}" for n in (4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 18, 19, 20)]
RATED = {"i1": 3, "i2": 1, "i3": 3, "i9": 2, "i10": 4} | dict.fromkeys(ONCE, 1)
CLAYRS = "swapUniba/ClayRS 6df4fbe test/evaluation/metrics/test_fairness_metrics.py:"
GENSIM = "piskvorky/gensim 04d7f87 gensim/test/test_similarity_metrics.py TestHellinger, TestKL"
SMOOTHED = oracle.smoothed(INTERACTED, RECOMMENDED, 0.01)

FROM_OTHERS = [
    Golden(  # users 1 and 2, whose lists are longer than k
        "sb-ai-lab/RePlay b4e051e8 replay/metrics/unexpectedness.py, documentation, k=4",
        *([0.5, 0.5], "unexpectedness", [[3, 7, 10, 11, 2], [5, 8, 11, 1, 3]], 4),
        {"expected": {"u0": [2, 7, 3], "u1": [5, 8, 3]}},
    ),
    Golden(
        "ethen8181/machine-learning 1dcc979 recsys/calibration/calibrated_reco.ipynb, in bits",
        *(1.3345197164266038, oracle.kl_divergence(INTERACTED, SMOOTHED) / math.log(2)),
        tolerance=1e-12,
    ),
    Golden(f"{GENSIM}: Hellinger", 0.309742984153, oracle.hellinger(P, Q), tolerance=1e-12),
    Golden(f"{GENSIM}: KL", 0.40659450877, oracle.kl_divergence(P, Q), tolerance=1e-11),
    Golden(
        *("scipy 1.17.1, documentation of scipy.spatial.distance.jaccard", [1, 2 / 3, 0]),
        [oracle.jaccard_distance({0}, other) for other in ({1}, {0, 1, 2}, {0})],
    ),
    # Its test adds the popularities up: of u2 (1 + 1 + 1 + 3 + 1) / 5 beside (3 + 2 + 4) / 3.
    Golden(
        *(f"{CLAYRS}585, the group of u2", [(7 / 5 - 3) / 3], "popularity_lift"),
        *([["i11", "i20", "i6", "i3", "i4"]], 5),
        {"history": {"u0": ["i1", "i9", "i10"]}, "counts": RATED},
    ),
]

GOLDEN = [*FROM_RECTOOLS, *FROM_RECOMMENDERS, *FROM_LENSKIT, *FROM_RECMETRICS, *FROM_OTHERS]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.source)
def test_the_oracle_and_toplist_give_golden_values(golden):
    for found in golden.found():
        np.testing.assert_allclose(found, golden.expected, rtol=0, atol=golden.tolerance)


# Relations that hold by the definitions, so that the oracle is checked where nobody has a value

LABELS = {"a": ["war"], "b": ["war", "drama"], "c": ["drama"], "x": []}
COUNTS = {"a": 1, "b": 3, "c": 8}
SIDES = {"a": "own", "b": "own", "c": "other"}
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
    (oracle.popularity_lift(["a"], 1, [], COUNTS), NAN),
    (oracle.popularity_lift([], 1, ["a"], COUNTS), NAN),
    (oracle.group_shares([["a", "c", "x"]], 3, SIDES)["own"], 1 / (1 + 1 / THIRD + 1 / 2)),
    (sum(oracle.group_shares([["a", "c", "x"]], 3, SIDES).values()), 1),
    (oracle.group_shares([[]], 3, SIDES)["own"], NAN),
]


@pytest.mark.parametrize(("found", "expected"), BY_DEFINITION)
def test_values_by_definition(found, expected):
    assert found == pytest.approx(expected, abs=1e-8, nan_ok=True)
