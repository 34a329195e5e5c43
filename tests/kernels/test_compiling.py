"""What is said while kernels are compiled: on a terminal, once, where it takes a while."""

import gc
import json
import os
import subprocess
import sys
from contextlib import suppress

import numba
import numpy as np
import pytest
from numba.core import event

from toplist.kernels import hashing
from toplist.kernels.compiling import KEPT, NOT_KEPT

pty = pytest.importorskip("pty", reason="a terminal of Unix")
WORDS = KEPT.encode() + b"\r\n"
HASH = """
import sys
from toplist.kernels import compiling, hashing
compiling.PATIENCE = 60
hashing.most_probes(3)
print("now", file=sys.stderr)
compiling.PATIENCE = 0
hashing.mix(3)
hashing.most_probes_of_rows(3)
print('{"n_users": 0}')
"""
NO_FOLDER = """
from numba.core import caching
caching.FunctionCache._impl_class._locator_classes = []
"""
FULL = """
from numba.core import caching
def save(*_):
    raise OSError(28, "No space left on device")
caching.IndexDataCacheFile.save = save
"""


def said(folder, code, *, terminal=True):
    """Run code with kernels kept in a folder; return what standard error got."""
    words = b""
    leader, follower = pty.openpty()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=follower if terminal else subprocess.PIPE,
        check=True,
        timeout=120,
    )
    assert "n_users" in json.loads(done.stdout)
    os.close(follower)
    with suppress(OSError), open(leader, "rb", buffering=0) as screen:  # an error is its end
        while part := screen.read(1 << 16):
            words += part
    return words if terminal else done.stderr


def test_a_terminal_is_told_once_that_kernels_are_compiled(tmp_path):
    assert said(tmp_path, HASH) == b"now\r\n" + WORDS  # not of the first, which was a short wait
    assert said(tmp_path, HASH) == b"now\r\n"  # they are kept


def test_nothing_is_said_in_pipes(tmp_path):
    assert said(tmp_path, HASH, terminal=False) == b"now\n"


@pytest.mark.parametrize("fault", [NO_FOLDER, FULL], ids=["no folder", "full"])
def test_where_compiled_code_is_not_kept_the_words_say_so(tmp_path, fault):
    assert said(tmp_path, fault + HASH) == b"now\r\n" + NOT_KEPT.encode() + b"\r\n"


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
