"""Every loop that is compiled: plain arrays in, plain arrays out.

The only place that imports numba, and loaded on first use, so that ``import toplist`` and the
command line's help stay light. `joining` turns ids into hits, `curves` hits into numbers.

Rules of the house. One signature per kernel: inputs are C-contiguous and read-only, ids int64
(another width, stride or flag would compile the kernel again). No ``parallel=True``: it kills a
forked child and aborts when two threads call it; blocks of users over threads do the same work
(`toplist.parallel`). Ranks count from 1, as in the formulas; positions in arrays from 0.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


def kernel(function: Any) -> Any:
    """Compile `function` on its first call, without the interpreter lock, cached where possible."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # read-only install and no home: nowhere to keep the compiled code
        return numba.njit(**options)(function)


def readonly(array: ArrayLike, dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """Return `array` as the kernels take their inputs: one width, contiguous, not writable."""
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view
