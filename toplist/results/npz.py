"""Arrays of numbers in a file of numpy's npz, read without trust in what the file announces.

`numpy.load` allocates what a header says before it looks for the numbers. Here nothing is unpacked,
and no array is larger than the bytes that the file has of it.
"""

import os
import re
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

# The most arrays that a file may hold, and bytes of its directory for each.
MOST, ENTRY = 64, 256
# The end of a zip: its first bytes, and those of the locator of zip64, which is before it.
END, END_64 = b"PK\5\6", b"PK\6\7"
# From here on the directory is at a place that only zip64 can name.
FAR = 1 << 31
_NPY = b"\x93NUMPY\1\0"
_HEADER = re.compile(
    rb"\{'descr': '([<>|](?:[iu][1248]|f[48]|b1))', 'fortran_order': False, "
    rb"'shape': \((\d{1,18}),\), \} *\n"
)
# Of each kind, what may hold the same numbers in fewer bytes.
_SMALLER = {
    "i": ("u1", "i1", "u2", "i2", "u4", "i4"),
    "u": ("u1", "u2", "u4"),
    "f": ("u1", "u2", "f4"),
}


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the smallest type that holds every one of them.

    Examples
    --------
    >>> [smallest(np.array(one)).dtype.str for one in ([1, 300], [-1, 5], [1.0, 3.0], [0.1])]
    ['<u2', '|i1', '|u1', '<f8']
    """
    given = array.tobytes()
    for kind in _SMALLER.get(array.dtype.kind, ()):
        with np.errstate(invalid="ignore", over="ignore"):
            small = array.astype(kind)
        # bytes, as these tell -0.0 from 0.0, and NaN is NaN
        if small.itemsize < array.itemsize and small.astype(array.dtype).tobytes() == given:
            return small
    return array


def write(path: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write one-dimensional arrays to a file that is not there."""
    with open(path, "xb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read(stream: BinaryIO) -> Arrays:
    """Return the arrays of a file that `write` wrote.

    Raises
    ------
    ValueError, zipfile.BadZipFile and others of zipfile
        For files that are cut, packed, damaged, or hold something else.
    """
    size = _check_end(stream)
    arrays: Arrays = {}
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        stored = (one.compress_type == zipfile.ZIP_STORED for one in members)
        if not all(stored) or any(one.compress_size != one.file_size for one in members):
            raise ValueError("an array is compressed, and save() compresses none")
        if sum(one.file_size for one in members) > size:
            raise ValueError("its arrays are longer than the file")
        for one in members:
            name = one.filename.removesuffix(".npy")
            if name in arrays:
                raise ValueError(f"array {name!r:.40} is there twice")
            arrays[name] = _array(archive.read(one), name)
    return arrays


def _check_end(stream: BinaryIO) -> int:
    """Return the size of a zip whose directory, which zipfile reads as a whole, is a short one."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 42, 0))
    end = stream.read(42)
    n_members, n_bytes = (int.from_bytes(end[a:b], "little") for a, b in ((-12, -10), (-10, -6)))
    if end[-22:-18] != END:
        raise ValueError("it is cut, or goes on behind the end")
    if n_members > MOST or n_bytes > MOST * ENTRY or (end[-42:-38] == END_64 and size < FAR):
        raise ValueError("its directory is too long")
    return size


def _array(data: bytes, name: str) -> NDArray[Any]:
    """Return the array that the bytes of a file of numpy's npy are."""
    start = len(_NPY) + 2
    end = start + int.from_bytes(data[len(_NPY) : start], "little")
    found = _HEADER.fullmatch(data[start:end])
    if not data.startswith(_NPY) or found is None:
        raise ValueError(f"{name!r:.40} is no one-dimensional array of numbers")
    dtype = np.dtype(found[1].decode())
    if len(data) - end != int(found[2]) * dtype.itemsize:
        raise ValueError(f"array {name!r:.40} is not as long as it says")
    return np.frombuffer(data, dtype, offset=end)
