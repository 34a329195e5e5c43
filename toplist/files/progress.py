"""A progress bar for long work: on a terminal, after a second, where tqdm is installed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DELAY = 1.0  # seconds: what takes less stays silent


@contextmanager
def bar(title: str, total: int, unit: str, least: int) -> Iterator[Callable[[int], object] | None]:
    """Show how much of `total` is done; yields the function to call with every advance.

    Yields None where nothing is shown: the work is under `least`, standard error is no terminal,
    or tqdm is not installed.
    """
    if total < least or not sys.stderr.isatty():
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(
        desc=title, total=total, unit=unit, unit_scale=True, delay=DELAY, leave=False
    ) as shown:
        yield shown.update
