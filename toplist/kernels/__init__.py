"""The compiled loops: plain arrays in, plain arrays out.

Its modules alone use numba, and are loaded on first use (``kernels.join``), so that ``import
toplist`` and the command line's help stay fast. `join` turns ids into hits, `curves` hits into
numbers.

Another width, stride or read-only flag of an argument would compile a kernel again, so each kernel
has one signature. A parameter annotated with a dtype is an input: it is converted before the call,
to a contiguous, read-only array of that dtype. Parameters without annotation are scalars, or arrays
that the kernel writes. No ``parallel=True``: it kills a forked child and aborts when two threads
call it; blocks of users over threads do the same work (`toplist.parallel`). Ranks count from 1, as
in the formulas; positions in arrays from 0.
"""

import functools
import importlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

# Rows in one call of a kernel that would take all users: at most a second of work, since Ctrl-C is
# heard between calls only.
STEP = 1 << 22


def __getattr__(name: str) -> Any:
    """Load a module of kernels on first use."""
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(name) from None


class Kernel:
    """A compiled function whose annotated parameters are converted before the call."""

    def __init__(self, function: Any, fastmath: Any = False) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._fastmath = function, fastmath
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self._inputs = [
            (place, None if dtype is np.generic else dtype)
            for place, name in enumerate(names)
            if (dtype := function.__annotations__.get(name)) is not None
        ]

    def __getattr__(self, name: str) -> Any:
        """Make what numba compiles on first use: for all kernels, it took 20 ms of every start."""
        if name != "compiled":
            raise AttributeError(name)
        return vars(self).setdefault(name, _compiled(self.py_func, self._fastmath))

    def __call__(self, *arguments: Any) -> Any:
        """Convert the inputs and run the compiled code."""
        given = list(arguments)
        for place, dtype in self._inputs:
            given[place] = _readonly(given[place], dtype)
        return self.compiled(*given)


def kernel(function: Any, fastmath: Any = False) -> Any:
    """Compile a function on its first call, without the interpreter lock, cached where possible.

    `fastmath` are the flags of LLVM by which it may change the order of sums.
    Annotate input arrays with their dtype (``np.generic``: any). A function without annotations
    is called by other kernels only; of one that has some, they call what is ``compiled``.
    """
    if function.__annotations__:
        return Kernel(function, fastmath)
    return _compiled(function, fastmath)


def _compiled(function: Any, fastmath: Any) -> Any:
    from toplist.kernels.compiling import compiled  # numba is loaded here

    return compiled(function, fastmath)


def _readonly(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """Return `array` contiguous, read-only and of one dtype; a copy only where needed."""
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view


def in_steps(function: Any) -> Any:
    """Compile a kernel whose first input are offsets, and call it for `steps` of these.

    It ends where a call returns a position, which it returns; else -1.
    """
    compiled = Kernel(function)

    @functools.wraps(function)
    def call(offsets: Any, *others: Any) -> int:
        for lo, hi in steps(offsets):
            at = compiled(offsets[lo : hi + 1], *others)
            if at is not None and at >= 0:
                return int(at)
        return -1

    return call


def steps(offsets: ArrayLike) -> Iterator[tuple[int, int]]:
    """Yield (first user, user after the last) of parts with about `STEP` rows.

    Examples
    --------
    >>> list(steps([0, 3, 3 + STEP, 5 + STEP, 6 + STEP]))
    [(0, 2), (2, 4)]
    """
    ends = np.asarray(offsets)
    marks = np.arange(ends[0] + STEP, ends[-1], STEP)
    edges = {0, *np.searchsorted(ends, marks).tolist(), len(ends) - 1}
    yield from pairwise(sorted(edges))
