"""Blocks of users, run by a pool of threads.

The blocks depend on the data only, never on the number of threads, so sums over blocks are the same
for any number. The pool is made for one call (0.1 ms): one kept between calls would hang a forked
child.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import pairwise, starmap
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S")
T = TypeVar("T")

# 2^20 ids are 8 MB, a millisecond or two of work: 2^18 took 1.2 x as long in all (starting a block
# costs some 50 microseconds), 2^22 1.1 x (too few blocks to share evenly).
BLOCK = 1 << 20
# Blocks per thread that wait or run ahead of the one that is used.
AHEAD = 8


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
    if work[-1] - work[0] <= size:
        return [(0, n_users)]
    ends = np.searchsorted(work, np.arange(work[0] + size, work[-1], size))
    edges = np.unique(np.concatenate([[0], ends, [n_users]]))
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
        yield from starmap(function, blocks)
        return
    calls = (partial(function, *block) for block in blocks)
    yield from _in_order(calls, workers, AHEAD * workers)


def each(
    function: Callable[[int, int], None], blocks: list[tuple[int, int]], n_threads: int | None
) -> None:
    """Call ``function(first, last)`` for every block; it writes its results itself."""
    for _ in run(function, blocks, n_threads):
        pass


def ahead(
    function: Callable[[S], T], steps: Iterable[S], n_threads: int | None
) -> Generator[T, None, None]:
    """Yield ``function(step)`` in order; the next one is computed while one is used.

    The steps themselves are drawn in the thread of the caller.
    """
    if (available_cpus() if n_threads is None else n_threads) == 1:
        yield from map(function, steps)
        return
    yield from _in_order((partial(function, step) for step in steps), 1, 1)


def _in_order(calls: Iterable[Callable[[], T]], workers: int, most: int) -> Iterator[T]:
    """Yield what the calls return, in their order; up to `most` calls wait or run ahead.

    So where an error or Ctrl-C ends the work, hardly any of it is left, even if the caller keeps
    this generator alive (a traceback does).
    """
    from concurrent.futures import ThreadPoolExecutor  # a tenth of the import of toplist

    pool = ThreadPoolExecutor(workers)
    waiting: deque[Callable[[], T]] = deque()
    wait = True
    try:
        for call in calls:
            waiting.append(_submit(pool, call))
            if len(waiting) > most:
                yield waiting.popleft()()
        while waiting:
            yield waiting.popleft()()
    except (KeyboardInterrupt, GeneratorExit):
        # the garbage collector may end a generator within a thread that starts, while this holds
        # the lock that joining a thread takes
        wait = False
        raise
    finally:
        pool.shutdown(wait, cancel_futures=True)


def _submit(pool: Any, call: Callable[[], T]) -> Callable[[], T]:
    """Start a call in the pool; return how to get its result: here, if no thread can be started."""
    from concurrent.futures import Future

    task: Future[T] = Future()
    try:
        pool.submit(_perform, task, call)
    except RuntimeError:  # can't start new thread; one that was started before may still do it
        if task.cancel():
            return call
    return task.result


def _perform(task: Any, call: Callable[[], T]) -> None:
    if task.set_running_or_notify_cancel():
        try:
            task.set_result(call())
        except BaseException as error:
            task.set_exception(error)


def available_cpus() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
