"""Systems that several test files compare, evaluated once."""

import pytest
from systems import SHARES, system


@pytest.fixture(scope="session")
def runs():
    return {name: [system(q, s) for s in (1, 2, 3)] for name, q in (("a", 0.2), ("b", 0.35))}


@pytest.fixture(scope="session")
def pair():
    return {name: system(*of) for name, of in SHARES.items()}
