"""The mark `libraries`: tests with objects of libraries that [test] does not install."""

import re

import pytest

# Tensors of torch among the parameters of a test.
TORCH = re.compile(r"torch|\btensors?\b")
# What a library warns of is not ours to mend; what this package warns of is an error.
OTHERS = "ignore", "error:::toplist"


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items):
    for item in items:
        if TORCH.search(item.name.partition("[")[2]):
            item.add_marker(pytest.mark.libraries)
        if item.get_closest_marker("libraries"):
            item.add_marker(pytest.mark.filterwarnings(*OTHERS))
