"""Texts of polars where they are in memory, by Arrow's C stream interface: no pyarrow is needed.

The interface is a stable one (https://arrow.apache.org/docs/format/CStreamInterface.html): a
capsule with a pointer to three functions that fill the structures below.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from toplist.inputs.texts import Views

_FORMAT = b"vu"  # of string_view


class _Schema(ctypes.Structure):
    """What an array holds; only its format is of interest."""


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]


class _Array(ctypes.Structure):
    """An array; `release` is null once there is none."""


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    """A stream of arrays of one schema."""


_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


def views_of(series: Any) -> Views | None:
    """Return the texts of a series of one chunk without nulls; None if they are not in views.

    The views are valid as long as the object that is returned.
    """
    if not hasattr(series, "__arrow_c_stream__"):
        return None
    capsule = series.__arrow_c_stream__()  # it ends the stream when it is deleted
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(address)
    schema, array, after = _Schema(), _Array(), _Array()
    if stream.get_schema(address, ctypes.byref(schema)):
        return None
    is_view = schema.format == _FORMAT
    _release(schema)
    if not is_view or stream.get_next(address, ctypes.byref(array)):
        return None
    if not array.release or stream.get_next(address, ctypes.byref(after)):
        _release(array)
        return None
    if after.release:  # a second chunk
        _release(after)
        _release(array)
        return None
    views = _views(array)
    weakref.finalize(views, _release, array)
    return views


def _views(array: _Array) -> Views:
    """Return the texts of an array: buffers of validity, views, bytes, and the sizes of these."""
    n_texts = array.n_buffers - 3
    sizes = _at(array.buffers[array.n_buffers - 1], np.dtype(np.int64), 0, n_texts)
    parts = [
        _at(array.buffers[2 + place], np.dtype(np.uint8), 0, int(size))
        for place, size in enumerate(sizes.tolist())
    ]
    words = _at(array.buffers[1], np.dtype(np.uint64), 2 * array.offset, 2 * array.length)
    return Views.of(words, parts)


def _at(address: int | None, dtype: np.dtype[Any], first: int, n: int) -> Any:
    """Return `n` values in memory, read only, from the place `first` on."""
    if not n or address is None:
        return np.empty(0, dtype)
    size = dtype.itemsize
    memory = (ctypes.c_char * (n * size)).from_address(address + first * size)
    found = np.frombuffer(memory, dtype)  # type: ignore[call-overload]
    found.flags.writeable = False
    return found


def _release(given: Any) -> None:
    """Give back what is in a structure."""
    if given.release:
        given.release(ctypes.byref(given))
