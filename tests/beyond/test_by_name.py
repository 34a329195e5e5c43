"""Metrics of the lists by name, `tl.curves`, are the functions of `tl.beyond`, to the last bit."""

import numpy as np
import pytest

import toplist as tl
from toplist import beyond

RNG = np.random.default_rng(5)
LISTS = {f"u{u}": RNG.permutation(12)[: RNG.integers(0, 7)].tolist() for u in range(30)}
TRUTHS = {user: set(RNG.choice(12, 3, replace=False).tolist()) for user in LISTS}
KNOWN = {
    "catalogue": 12,
    "counts": dict(enumerate(range(1, 13))),
    "features": {item: RNG.random(3).tolist() for item in range(12)},
    "labels": {item: ["war", "love"][: 1 + item % 2] for item in range(12)},
    "history": {user: RNG.choice(12, 4).tolist() for user in LISTS},
    "expected": {user: RNG.choice(12, 4, replace=False).tolist() for user in LISTS},
}
# A name, the keywords of its function that are of items, and others.
ROWS = [
    ("item_coverage", ["catalogue"], {}),
    ("gini", ["catalogue"], {}),
    ("shannon_entropy", [], {}),
    ("personalisation", [], {}),
    ("average_popularity", ["counts"], {}),
    ("tail_percentage", ["counts"], {}),
    ("novelty", ["counts"], {}),
    ("popularity_lift", ["history", "counts"], {}),
    ("intra_list_diversity", ["features"], {}),
    ("intra_list_diversity(distance=euclidean)", ["features"], {"distance": "euclidean"}),
    ("intra_list_diversity(distance=hamming)", ["features"], {"distance": "hamming"}),
    ("intra_list_diversity(distance=jaccard)", ["labels"], {"distance": "jaccard"}),
    ("calibration", ["history", "labels"], {}),
    ("calibration(distance=hellinger)", ["history", "labels"], {"distance": "hellinger"}),
    ("calibration(weights=rank)", ["history", "labels"], {"weights": "rank"}),
    ("unexpectedness", ["expected"], {}),
    ("serendipity", ["expected"], {}),
]


@pytest.mark.parametrize(("name", "needs", "options"), ROWS)
def test_by_name_and_by_function(name, needs, options):
    given = {one: KNOWN[one] for one in needs}
    sides = (LISTS, TRUTHS) if name == "serendipity" else (LISTS,)
    expected = getattr(beyond, name.partition("(")[0])(*sides, **given, **options)
    found = tl.curves(name, *sides, items=tl.Items(**given))
    np.testing.assert_array_equal(found, expected)
    k = found.shape[-1]
    means = tl.top_k_eval(LISTS, TRUTHS, k, metrics=[name], items=tl.Items(**given))
    whole = np.nanmean(expected, axis=0)[-1] if expected.ndim == 2 else expected[-1]
    assert means[f"{name}@{k}"] == pytest.approx(whole, rel=1e-12)
