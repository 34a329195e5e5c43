"""Texts to numbers: a table of distinct texts, looked up by many threads, extended by one.

A text is looked up by its key, two words (uint64), laid out as the views of Arrow's string_view.
The first holds the length (the low 32 bits) and the first 4 bytes. The second holds the next 8
bytes, with zeros after the end, of a text of up to `HERE` bytes, which its key therefore is; of a
longer one it is a hash, so that equal keys have to be verified (`agree`). In a view it says where
the bytes of a longer text are: the number of a buffer (the low 32 bits), and the place in it.

The table is open addressing with a power of two of slots, 0 where free. A slot has the number of a
known key and 1, and above these 32 bits those of its hash, so that another key is seldom compared.
The hash is a pair-multiply-shift of the four halves of a key (Thorup 2015, High speed hashing for
integers and strings, arXiv:1504.06804). Keys may be chosen so that many share a place: the kernels
count their probes, and give up where these are too many.

The loops over rows call nothing that takes an array: numba would count references to it in every
row, which two threads do in turns (190 ns per text instead of 10).
"""

from typing import Any

import numpy as np
from numpy import int64, uint8, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import GOLDEN, most_probes_of_rows

HERE = 12  # bytes of a text that its key holds
UNKNOWN = -1
SAME = -2  # as the row before, which is unknown

_HERE = uint64(HERE)
_HALF, _LOW, _ONE = uint64(32), uint64(2**32 - 1), uint64(1)
_MIX = uint64(0x94D049BB133111EB)
# The four words of the hash: the digits of pi.
_PI = 0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89
_A, _B, _C, _D = map(uint64, _PI)


@kernel
def keys_of_spans(text: uint8, starts: int64, ends: int64, keys):
    """Fill `keys` with the keys of ``text[starts[i]:ends[i]]``; return whether one is longer."""
    longer = False
    for i in range(len(starts)):
        start, n = starts[i], ends[i] - starts[i]
        head, tail = uint64(0), uint64(0)
        if start + HERE <= len(text):  # all that a key can hold is there: two loads
            for b in range(4):
                head |= uint64(text[uint64(start + b)]) << uint64(8 * b)
            for b in range(8):
                tail |= uint64(text[uint64(start + 4 + b)]) << uint64(8 * b)
            if n < 4:
                head &= (_ONE << uint64(8 * n)) - _ONE
            if n < HERE:
                tail &= (_ONE << uint64(8 * max(n - 4, 0))) - _ONE
        elif n <= HERE:
            for b in range(n):
                byte = uint64(text[uint64(start + b)])
                if b < 4:
                    head |= byte << uint64(8 * b)
                else:
                    tail |= byte << uint64(8 * b - 32)
        keys[2 * i] = uint64(n) | (head << _HALF)
        if n > HERE:
            longer = True
            tail = hash_of(text, start, start + n)
        keys[2 * i + 1] = tail
    return longer


@kernel
def spans_of_views(views: uint64, text: uint8, bases: int64, keys, starts):
    """Fill `keys` with the keys of texts, and `starts` with the places of longer ones in `text`.

    Buffer b of the views is in `text` from ``bases[b]`` on.
    """
    for i in range(len(starts)):
        first, second = views[2 * i], views[2 * i + 1]
        starts[i] = 0
        if first & _LOW > _HERE:
            starts[i] = bases[second & _LOW] + int64(second >> _HALF)
            second = hash_of(text, starts[i], starts[i] + int64(first & _LOW))
        keys[2 * i], keys[2 * i + 1] = first, second


def find_texts(keys: Any, table: Any, known: Any, codes: Any) -> int:
    """Fill `codes` with the number of each key among `known`, `UNKNOWN`, or `SAME`.

    Return how many are `UNKNOWN`; -1, given up, where so many keys share places of the table that
    it would take too long.
    """
    n_unknown, _ = _number(keys, 0, table, known, 0, np.empty(0, int64), codes, False)
    return int(n_unknown)


def number_texts(
    keys: Any, begin: int, table: Any, known: Any, n: int, rows: Any, codes: Any
) -> tuple[int, int]:
    """Fill `codes` with the number of each key, from `begin` on; those not yet known are added.

    Parameters
    ----------
    table, known : uint64; written
    n : int
        How many keys are known.
    rows : int64 (one place for each key that the table may hold), written
        The row of each key that is added.

    Returns
    -------
    int, int
        The row at which it stopped because the table is half full, else the number of rows; or
        -1, given up, as `find_texts`. And how many keys are known.
    """
    return _number(keys, begin, table, known, n, rows, codes, True)


@kernel
def _number(keys: uint64, begin, table, known, n, rows, codes, adding):
    """Do what `number_texts` does; unless `adding`, what `find_texts` does."""
    last = uint64(len(table) - 1)
    n_unknown, probes, most = 0, 0, most_probes_of_rows(len(codes) - begin)
    for i in range(begin, len(codes)):
        first, second = keys[2 * i], keys[2 * i + 1]
        if i > 0 and keys[2 * i - 2] == first and keys[2 * i - 1] == second:
            codes[i] = codes[i - 1] if codes[i - 1] >= 0 else SAME  # a table sorted by user
            continue
        hashed = _hash(first, second)
        slot = hashed & last
        while table[slot]:
            if table[slot] >> _HALF == hashed >> _HALF:
                one = (table[slot] & _LOW) - _ONE
                if known[2 * one] == first and known[2 * one + _ONE] == second:
                    break
            slot = (slot + _ONE) & last
            probes += 1
            if probes > most:
                return -1, n
        if adding and not table[slot]:
            if 2 * n >= len(table):
                return i, n
            known[2 * n], known[2 * n + 1], rows[n] = first, second, i
            n += 1
            table[slot] = (hashed & ~_LOW) | uint64(n)
        codes[i] = int64(table[slot] & _LOW) - 1
        n_unknown += codes[i] < 0
    return len(codes) if adding else n_unknown, n


def place_texts(known: Any, table: Any) -> bool:
    """Put the numbers of distinct keys into an empty table.

    Return whether it was done: not where so many share places that it would take too long.
    """
    n = len(known) // 2
    rows, codes = np.empty((2, n), int64)
    at, _ = _number(known, 0, table, known, 0, rows, codes, True)
    return bool(at == n)


@kernel
def _hash(first, second):
    hashed = (_A + (first & _LOW)) * (_B + (first >> _HALF))
    hashed += (_C + (second & _LOW)) * (_D + (second >> _HALF))
    # low bits of a product know nothing of high bits; the names of users are no random numbers
    hashed = (hashed ^ (hashed >> _HALF)) * _MIX
    return hashed ^ (hashed >> _HALF)


@kernel
def keep_texts(keys: uint64, text: uint8, starts: int64, rows: int64, used, arena, places):
    """Copy the longer texts of some rows into the arena, from `used` on, and note their places.

    Return how much of the arena is used.
    """
    for i in range(len(rows)):
        row = rows[i]
        size = int64(keys[2 * row] & _LOW)
        places[i] = used
        if size > HERE:
            for b in range(size):
                arena[used + b] = text[uint64(starts[row] + b)]
            used += size
    return used


@kernel
def agree(keys: uint64, text: uint8, starts: int64, arena: uint8, places: int64, codes: int64):
    """Return whether the longer texts are those of their codes, as far as these are known."""
    for i in range(len(codes)):
        n = keys[2 * i] & _LOW
        if n <= _HERE or codes[i] == UNKNOWN:
            continue
        start = uint64(starts[i])
        different = uint8(0)
        if codes[i] >= 0:
            at = uint64(places[codes[i]])
            for b in range(n):  # without a branch, many at a time
                different |= text[start + b] ^ arena[at + b]
        else:
            at = uint64(starts[i - 1])
            for b in range(n):
                different |= text[start + b] ^ text[at + b]
        if different:
            return False
    return True


@kernel
def starts_of_runs(keys: uint64, text: uint8, places: int64, first, starts):
    """Fill `starts` with the rows whose text is not that of the row before; return how many.

    `first` is the row of the first text, which begins no run; `places` are those of longer texts.
    """
    n_starts = 0
    for i in range(1, len(keys) // 2):
        different = keys[2 * i] != keys[2 * i - 2] or keys[2 * i + 1] != keys[2 * i - 1]
        n = keys[2 * i] & _LOW
        if n > _HERE and not different:
            start, before = uint64(places[i]), uint64(places[i - 1])
            byte = uint8(0)
            for b in range(n):
                byte |= text[start + b] ^ text[before + b]
            different = byte != 0
        if different:
            starts[n_starts] = first + i
            n_starts += 1
    return n_starts


@kernel
def repeat_same(codes):
    """Replace `SAME` by the code before it."""
    for i in range(1, len(codes)):
        if codes[i] == SAME:
            codes[i] = codes[i - 1]


@kernel
def copy_texts(keys: uint64, places: int64, arena: uint8, numbers: int64, out, ends):
    """Write known texts one after another, a NUL after each; `ends` are the places of these."""
    at = 0
    for i in range(len(numbers)):
        one = numbers[i]
        n = int64(keys[2 * one] & _LOW)
        if n > HERE:
            for b in range(n):
                out[at + b] = arena[places[one] + b]
        else:
            for b in range(n):
                word, byte = (keys[2 * one], b + 4) if b < 4 else (keys[2 * one + 1], b - 4)
                out[at + b] = (word >> uint64(8 * byte)) & uint64(255)
        out[at + n] = 0
        ends[i] = at + n
        at += n + 1


@kernel
def first_rows(codes: int64, begin, rows):
    """Write the first row of each code, counted from `begin` on, where there is still -1."""
    for i in range(len(codes)):
        if rows[codes[i]] < 0:
            rows[codes[i]] = begin + i


@kernel
def recode(codes: int64, new: int64, out):
    """Replace codes by new ones."""
    for i in range(len(codes)):
        out[i] = new[codes[i]]


@kernel
def hash_of(text, start, end):
    """Return a hash (uint64) of ``text[start:end]``: a multiplication and a shift per 8 bytes."""
    hashed = uint64(end - start) * GOLDEN
    at = start
    while at + 8 <= end:
        word = uint64(0)
        for b in range(8):
            word |= uint64(text[uint64(at + b)]) << uint64(8 * b)
        hashed = (hashed ^ word) * GOLDEN
        hashed ^= hashed >> uint64(32)
        at += 8
    tail = uint64(0)
    while at < end:
        tail = (tail << uint64(8)) | uint64(text[uint64(at)])
        at += 1
    hashed = (hashed ^ tail) * GOLDEN
    return hashed ^ (hashed >> uint64(29))


@kernel
def hash_strings(text: uint8, ends: int64, hashes):
    """Fill `hashes` (int64) with a hash of each string in `text` (uint8).

    String i ends before ``ends[i]``, where one byte separates it from the next.
    """
    at = int64(0)  # of one type: as a literal, `hash_of` would be compiled again
    for i in range(len(ends)):
        hashes[i] = int64(hash_of(text, at, ends[i]))
        at = ends[i] + 1


_QUOTE, _LF, _CR = uint8(34), uint8(10), uint8(13)
_START, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3  # where a byte stands: in which part of a cell


@kernel
def complete_rows(text: uint8, delimiter):
    """Return how many bytes of `text` are complete rows, and whether these are simple.

    They are simple if quotes stand at the edges of cells, or are doubled within quotes, and no
    line ends within quotes. `text` begins with a row; a carriage return is part of a line end.
    """
    state, end = _START, 0
    simple, simple_so_far = True, True
    for i in range(len(text)):
        byte = text[i]
        if state == _QUOTED:
            if byte == _QUOTE:
                state = _CLOSED
            elif byte == _LF:
                simple_so_far = False
        elif byte == _LF:
            state, end, simple = _START, i + 1, simple_so_far
        elif byte == delimiter:
            state = _START
        elif byte == _QUOTE and state != _PLAIN:
            state = _QUOTED
        elif byte != _CR:
            if state == _CLOSED:
                simple_so_far = False
            state = _PLAIN
    return end, simple
