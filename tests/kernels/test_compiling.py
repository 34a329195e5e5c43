"""What is said while kernels are compiled: on a terminal, once, where it takes a while."""

import gc
import io
import sys

import numba
import numpy as np
import pytest
from numba.core import caching, event

from toplist.kernels import compiling, hashing
from toplist.kernels.compiling import KEPT, NOT_KEPT, compiled


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self):
        return True


def told(patch, screen, cache, patience=(0, 60, 0, 0)):
    """Return what is said while a process compiles kernels, each with so much patience."""
    compiling.notice.__init__()  # as in a process that has compiled nothing
    patch.setattr(sys, "stderr", screen)
    patch.setattr(numba.config, "CACHE_DIR", str(cache))
    shown = []
    for number, wait in enumerate(patience):
        patch.setattr(compiling, "PATIENCE", wait)

        def kernel(value, number=number):
            return value + number

        kernel.__module__ = compiling.__name__
        kernel.__qualname__ = f"kernel_{number}"
        assert compiled(kernel)(2) == 2 + number
        shown.append(screen.getvalue())
    return shown


def test_a_terminal_is_told_once_that_kernels_are_compiled(tmp_path, monkeypatch):
    assert told(monkeypatch, Terminal(), tmp_path) == ["", "", f"{KEPT}\n", f"{KEPT}\n"]
    assert told(monkeypatch, Terminal(), tmp_path) == [""] * 4  # they are kept
    assert told(monkeypatch, io.StringIO(), tmp_path / "other") == [""] * 4  # a pipe


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (caching.FunctionCache._impl_class, "_locator_classes", []),
        (caching.IndexDataCacheFile, "save", full),
    ],
    ids=["no folder", "full"],
)
def test_where_compiled_code_is_not_kept_the_words_say_so(
    tmp_path, monkeypatch, where, name, fault
):
    monkeypatch.setattr(where, name, fault)
    assert told(monkeypatch, Terminal(), tmp_path)[2:] == [f"{NOT_KEPT}\n"] * 2


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_waits_while_a_kernel_is_compiled(collects):
    seen = []
    listener = event.RecordingListener()
    listener.notify = lambda _: seen.append(gc.isenabled())
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with event.install_listener("numba:run_pass", listener):
            numba.njit(hashing.mix.py_func)(np.uint64(1))
            with pytest.raises(numba.TypingError):
                numba.njit(hashing.mix.py_func)("text")
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()
    assert seen
    assert not any(seen)
