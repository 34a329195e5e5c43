"""What is said while kernels are compiled: on a terminal, once, where it takes a while."""

import gc
import io
import os
import subprocess
import sys
from functools import partial

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


ONE_KERNEL = """
import sys
import numpy as np
from toplist import kernels
hashes = np.zeros(1, np.uint64)
kernels.hashing.mix_in(np.ones(1, np.uint64), hashes)
print(hashes[0] > 0, "numba.np.linalg" in sys.modules)
"""


def test_kept_code_is_loaded_without_what_numba_needs_to_compile(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = partial(subprocess.run, env=environment, capture_output=True, text=True, timeout=120)
    said = [run([sys.executable, "-c", ONE_KERNEL]).stdout.split() for _ in range(2)]
    assert said[0] == ["True", "True"]  # the first process compiles it
    assert said[1] == ["True", str(numba.version_info >= compiling.TRIED)]


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
