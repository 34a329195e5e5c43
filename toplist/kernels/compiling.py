"""Compiling a kernel: the code is kept for the next process; a terminal shows that it runs."""

import gc
import sys
import time
from contextlib import suppress
from typing import Any

import numba
from numba.core import event
from numba.core.runtime import rtsys

PATIENCE = 1.0  # seconds: what compiles for less stays silent
KEPT = "toplist: compiling for this machine, once; the next start is quick"
NOT_KEPT = "toplist: compiling, as at every start: it cannot be kept; see NUMBA_CACHE_DIR"
TRIED = (0, 69)  # before this version of numba, kept code was loaded without its registries


class Notice(event.Listener):  # type: ignore[misc]
    """Says once, on a terminal only, that kernels are compiled; not that kept ones are loaded.

    Numba calls it before and after it compiles a function, one thread at a time. It prints in that
    thread once `PATIENCE` is used up: so there is no thread of its own to end. Not in notebooks:
    nothing there tells somebody who waits from a run without anybody, whose output is kept.
    """

    def __init__(self) -> None:
        self.words = ""  # known as soon as one kernel was, or was not, kept
        self._said = False
        self._collects = True
        self._spent = 0.0
        self._begun: list[float] = []  # of our kernels that are being compiled, one within another

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins to be compiled."""
        if _ours(event):
            if not self._begun:  # a tenth of the time is looking for cycles among numba's objects
                self._collects = gc.isenabled()
                gc.disable()
            self._begun.append(time.monotonic())
        self._look()

    def on_end(self, event: Any) -> None:
        """Add up what it took."""
        self._look()
        if _ours(event) and self._begun:
            begun = self._begun.pop()
            if not self._begun:
                self._spent += time.monotonic() - begun
                if self._collects:
                    gc.enable()

    def _look(self) -> None:
        if self._said or not self._begun or not self.words:
            return
        if self._spent + time.monotonic() - self._begun[0] > PATIENCE:
            self._said = True
            with suppress(OSError, ValueError):  # standard error is closed
                if sys.stderr is not None and sys.stderr.isatty():
                    _print(self.words)


def _ours(event: Any) -> bool:
    """Return whether numba compiles a kernel, and not a function of the user, or of its own."""
    return str(event.data["dispatcher"].py_func.__module__).startswith(__package__)


def _print(words: str) -> None:
    """Print a line to standard error, above a bar of progress."""
    tqdm = getattr(sys.modules.get("tqdm"), "tqdm", None)
    if tqdm is not None:
        tqdm.write(words, file=sys.stderr)
    else:
        print(words, file=sys.stderr, flush=True)


notice = Notice()
event.register("numba:compile", notice)


def compiled(function: Any, fastmath: Any = False) -> Any:
    """Return what numba compiles on the first call, and keeps for other processes if it can."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    options["fastmath"] = fastmath
    try:
        found = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # read-only install and no home: no folder for the compiled code
        notice.words = NOT_KEPT
        return numba.njit(**options)(function)
    cache = found._cache
    save = cache.save_overload

    def save_if_possible(*code: Any) -> None:
        try:
            save(*code)
            notice.words = notice.words or KEPT
        except OSError:  # a full disk: the next process compiles it again
            notice.words = NOT_KEPT

    def load_alone(signature: Any, context: Any) -> Any:
        rtsys.initialize(context)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, context)

    cache.save_overload = save_if_possible
    if numba.version_info < TRIED:
        # Numba's own way first registers all that could be compiled: 0.15 s of every process, and
        # 0.4 s where scipy is installed. Kept code needs the runtime alone.
        cache.load_overload = load_alone
    return found
