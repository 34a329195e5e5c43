"""What test files share: the command line, and the mark of libraries that [test] has not."""

import os
import re
import sys

import pytest
from hypothesis import settings

from toplist.cli import main

settings.register_profile("toplist", deadline=None, max_examples=40)  # where a test says no number
settings.load_profile("toplist")
# Many processes import what one of them compiles, also where Python is told to keep none of it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Tensors of torch among the parameters of a test; not the names of conventions.
TORCH = re.compile(r"\btorch(?!metrics|_geometric)|\btensors?\b")
# What a library warns of is not ours to mend; what this package warns of is an error.
OTHERS = "ignore", "error:::toplist"


def seconds(item):
    """Return how long a slow test takes, where it takes long."""
    mark = item.get_closest_marker("slow")
    return mark.kwargs.get("seconds", 0) if mark else 0


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items):
    items.sort(key=seconds, reverse=True)  # so that no worker ends long after the other
    for item in items:
        if TORCH.search(item.name.partition("[")[2]):
            item.add_marker(pytest.mark.libraries)
        if item.get_closest_marker("libraries"):
            item.add_marker(pytest.mark.filterwarnings(*OTHERS))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let a worker that is done take tests from another: some take half a minute."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture
def cli(capsys):
    """Run the command line and return (exit status, stdout, stderr)."""

    def run(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def good(cli):
    """Run a command that must succeed, in silence on stderr; return stdout."""

    def run(*arguments):
        status, out, err = cli(*arguments)
        assert (status, err) == (0, "")
        return out

    return run
