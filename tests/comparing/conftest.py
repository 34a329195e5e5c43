"""Systems that several test files compare, evaluated once."""

import pytest
from systems import DATA, SHARES, system

import toplist as tl


@pytest.fixture(scope="session")
def retrieved():
    """Return the results of two systems of the notebooks."""
    return {
        name: tl.top_k_eval(
            DATA / f"{name}.csv.gz",
            DATA / "truth.csv",
            k=[1, 5, 10, 20],
            metrics=["hit", "recall", "map", "ndcg"],
            keep="users",
        )
        for name in ("popularity", "itemknn")
    }


@pytest.fixture(scope="session")
def runs():
    return {name: [system(q, s) for s in (1, 2, 3)] for name, q in (("a", 0.2), ("b", 0.35))}


@pytest.fixture(scope="session")
def pair():
    return {name: system(*of) for name, of in SHARES.items()}
