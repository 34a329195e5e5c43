"""Blocks of users, run by a pool of threads.

The blocks depend on the data only, never on the number of threads, so sums over blocks are the same
for any number. The pool is made for one call (0.1 ms): one kept between calls would hang a forked
child.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

# 2^20 ids are 8 MB, a millisecond or two of work: 2^18 took 1.2 x as long in all (starting a block
# costs some 50 microseconds), 2^22 1.1 x (too few blocks to share evenly).
BLOCK = 1 << 20


def bounds(work: NDArray[np.int64], size: int = BLOCK) -> list[tuple[int, int]]:
    """Cut users into blocks of about `size` units of work.

    Parameters
    ----------
    work : (n_users + 1,) int64
        Work before each user, and in all, in ascending order (such as offsets).
    size : int
        Units of work in a block; a user is never split.

    Returns
    -------
    list of (first user, user after the last)
        At least one block, which is empty where there are no users.

    Examples
    --------
    >>> bounds(np.array([0, 3, 6, 20, 21]), size=6)
    [(0, 2), (2, 3), (3, 4)]
    """
    n_users = len(work) - 1
    ends = np.searchsorted(work, np.arange(work[0] + size, work[-1], size))
    edges = np.unique(np.concatenate([[0], ends, [n_users]]))
    if n_users == 0:
        return [(0, 0)]
    return [(int(lo), int(hi)) for lo, hi in pairwise(edges)]


def run(
    function: Callable[[int, int], T], blocks: list[tuple[int, int]], n_threads: int | None
) -> Iterator[T]:
    """Yield ``function(first, last)`` of every block, in the order of the blocks."""
    if n_threads is None:
        n_threads = available_cpus()
    elif isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
        raise ValueError(f"n_threads must be a whole number from 1 on, not {n_threads!r}")
    workers = min(len(blocks), n_threads)
    if workers <= 1:
        for block in blocks:
            yield function(*block)
        return
    from concurrent.futures import ThreadPoolExecutor  # a tenth of the import of toplist

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(function, *zip(*blocks, strict=True))


def ahead(function: Callable[[int], T], steps: Iterable[int], n_threads: int | None) -> Iterator[T]:
    """Yield ``function(step)`` in order; the next one is computed while one is used."""
    if (available_cpus() if n_threads is None else n_threads) == 1:
        yield from map(function, steps)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        following = None
        for step in steps:
            ready, following = following, pool.submit(function, step)
            if ready is not None:
                yield ready.result()
        if following is not None:
            yield following.result()


def available_cpus() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
