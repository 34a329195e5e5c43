"""Every compiled loop: plain arrays in, plain arrays out.

The only place that imports numba, and loaded on first use, so that ``import toplist`` and the
command line's help stay light. `join` turns ids into hits, `curves` hits into numbers.

Each kernel has one signature: another width, stride or read-only flag would compile it again. So a
parameter annotated with a dtype is an input, which is converted before the call: contiguous,
read-only, of that dtype. No ``parallel=True``: it kills a forked child and aborts when two threads
call it; blocks of users over threads do the same work (`toplist.parallel`). Ranks count from 1, as
in the formulas; positions in arrays from 0.
"""

import functools
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


class Kernel:
    """A compiled function whose annotated parameters are converted before the call."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.compiled = function, _compiled(function)
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self._inputs = [
            (place, None if dtype is np.generic else dtype)
            for place, name in enumerate(names)
            if (dtype := function.__annotations__.get(name)) is not None
        ]

    def __call__(self, *arguments: Any) -> Any:
        """Convert the inputs and run the compiled code."""
        given = list(arguments)
        for place, dtype in self._inputs:
            given[place] = _readonly(given[place], dtype)
        return self.compiled(*given)


def kernel(function: Any) -> Any:
    """Compile a function on its first call, without the interpreter lock, cached where possible.

    Annotate inputs with their dtype (``np.generic``: any). A function without annotations is
    called by other kernels only.
    """
    return Kernel(function) if function.__annotations__ else _compiled(function)


def _compiled(function: Any) -> Any:
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # read-only install and no home: nowhere to keep the compiled code
        return numba.njit(**options)(function)


def _readonly(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """Return `array` contiguous, not writable, and of one width: no copy where it is so already."""
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view
