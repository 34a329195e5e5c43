"""Tests of tensors of torch carry the mark `libraries`, as all that need what [test] has not."""

import pytest


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items):
    for item in items:
        if "torch" in item.name.partition("[")[2]:
            item.add_marker(pytest.mark.libraries)
