"""Columns of text as bytes, numbered in the order of appearance without a Python object each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def joined(text: str, n: int) -> tuple[NDArray[np.int64], list[Any]] | None:
    """Give numbers to `n` strings joined by NUL; None if one of them holds a NUL itself."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.append(np.flatnonzero(data == 0), len(data))
    if len(ends) != n:
        return None
    return numbered(data, np.concatenate([[0], ends[:-1] + 1]), ends)


def numbered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the code of each string ``data[starts[i]:ends[i]]``, and the distinct strings."""
    from toplist.kernels import readonly, strings

    text, starts, ends = readonly(data, np.uint8), readonly(starts), readonly(ends)
    codes = np.empty(len(starts), np.int64)
    at, n_known, size = 0, 0, 1 << 12
    first, hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
    while at < len(starts):  # the table grows with the distinct strings, not with the rows
        table = np.full(size, -1, np.int64)
        strings.place_hashes(readonly(hashes[:n_known], np.uint64), table)
        first, hashes = np.resize(first, size), np.resize(hashes, size)
        at, n_known = strings.number_strings(
            text, starts, ends, at, table, first, hashes, n_known, codes
        )
        size *= 8
    places = zip(starts[first[:n_known]].tolist(), ends[first[:n_known]].tolist(), strict=True)
    whole = data.tobytes() if n_known else b""
    return codes, [whole[start:end].decode("utf-8", "surrogatepass") for start, end in places]
