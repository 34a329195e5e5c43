"""The order of keys in the rows of a table: a sort that is compiled in a quarter of a second.

Numba takes one or two seconds for `np.sort` and `np.argsort`.
"""

from typing import Any

import numpy as np
from numpy import int64, uint64

from toplist.kernels import kernel

# Keys that are sorted by insertion, before they are merged.
RUN = 16


def order_of_rows(keys: Any, offsets: Any) -> tuple[Any, Any]:
    """Return the positions of the keys (int64) of each row, from its lowest key to its highest.

    Equal keys keep their order. The rows are one after another; offsets begin with any number.
    Return as well the places in this order of keys that are equal to the one before.

    Examples
    --------
    >>> order_of_rows(np.array([5, 3, 3, 2, 2]), np.array([0, 2, 5]))
    (array([1, 0, 3, 4, 2]), array([3]))
    """
    order = np.arange(len(keys), dtype=uint64)
    spare = np.empty(np.diff(offsets).max(initial=0), uint64)
    again = np.zeros(len(keys), np.bool_)
    some = _sort(keys, offsets, order, spare, again)
    return order.view(int64), np.flatnonzero(again) if some else np.empty(0, int64)


@kernel
def _sort(keys: int64, offsets: int64, order, spare, again):
    """Sort the positions in `order` (uint64: numba takes no time to look for negative ones)."""
    some = False
    for row in range(len(offsets) - 1):
        start, end = offsets[row] - offsets[0], offsets[row + 1] - offsets[0]
        for first in range(start, end, RUN):
            for i in range(first + 1, min(first + RUN, end)):
                one, place = order[i], i
                while place > first and keys[order[place - 1]] > keys[one]:
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = one
        width = RUN
        while width < end - start:
            for low in range(start, end - width, 2 * width):
                left, right, place, high = 0, low + width, low, min(low + 2 * width, end)
                if keys[order[right - 1]] <= keys[order[right]]:
                    continue
                for i in range(width):
                    spare[i] = order[low + i]
                while left < width and right < high:  # without a branch
                    lower = keys[order[right]] < keys[spare[left]]
                    order[place] = order[right] if lower else spare[left]
                    left += not lower
                    right += lower
                    place += 1
                for i in range(left, width):
                    order[place] = spare[i]
                    place += 1
            width *= 2
        for i in range(start + 1, end):
            again[i] = keys[order[i]] == keys[order[i - 1]]
            some |= again[i]
    return some


@kernel
def find_in_rows(sought: int64, offsets: int64, keys: int64, key_offsets: int64, ranks):
    """Fill `ranks` with the rank, from 1, of each sought key among the sorted keys of its row.

    Of a key that its row holds more than once it is that of the first, with a minus.
    """
    for row in range(len(offsets) - 1):
        start, end = key_offsets[row], key_offsets[row + 1]
        for place in range(offsets[row], offsets[row + 1]):
            low, high = start, end
            while low < high:
                middle = (low + high) // 2
                if keys[middle] < sought[place]:
                    low = middle + 1
                else:
                    high = middle
            again = low + 1 < end and keys[low + 1] == sought[place]
            ranks[place] = start - low - 1 if again else low + 1 - start
