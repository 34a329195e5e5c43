"""Cells of text tables: found, and read as integers, numbers and codes of ids."""

import numpy as np

from toplist.kernels import kernel
from toplist.kernels.strings import equal, hash_of

# Instead of an integer: the cell is no text that an integer of up to `DIGITS` digits is written as.
OTHER = -(2**63)
# Instead of a code: the text is that of the cell before, which is no such integer either.
SAME = OTHER + 1
DIGITS = 18  # `toplist.files.text_ids` relies on it
# Characters in a cell; Python's csv has the same limit.
LONGEST = 131_072

# Codes of texts that are no integers follow this one, which no integer of `DIGITS` digits is.
FIRST = -(2**62)
EXACT = 2**53  # doubles hold every integer up to here
_POWERS = np.array([float(10**n) for n in range(23)])  # exact
_MOST = 10 ** (DIGITS - 1)
_NONE = 0, len(_POWERS)
_SPLIT = 2.0**27 + 1

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE = 9, 10, 13, 32, 34
_PLUS, _MINUS, _POINT, _ZERO, _LARGE_E, _SMALL_E = 43, 45, 46, 48, 69, 101
_COMMA, _BACKSLASH, _CLOSE = 44, 92, 93

LITERAL = -1  # a part of a line that is no value


@kernel
def integer_of(text, start, end):
    """Return the integer that is written as ``text[start:end]`` and in no other way, or `OTHER`."""
    at, negative = start, False
    if at < end and text[np.uint64(at)] == _MINUS:
        at, negative = at + 1, True
    n = end - at
    if n < 1 or n > DIGITS or (text[np.uint64(at)] == _ZERO and (n > 1 or negative)):
        return OTHER
    value = np.int64(0)
    while at < end:
        digit = np.int64(text[np.uint64(at)]) - _ZERO
        if digit < 0 or digit > 9:
            return OTHER
        value = value * 10 + digit
        at += 1
    return -value if negative else value


@kernel
def integers(text: np.uint8, starts: np.int32, ends: np.int32, out):
    """Fill `out` with the integer of each text ``text[starts[i]:ends[i]]``, or `OTHER`."""
    for i in range(len(starts)):
        out[i] = integer_of(text, starts[i], ends[i])


@kernel
def read_ids(text: np.uint8, starts: np.int32, ends: np.int32, codes, begins, stops):
    """Fill `codes` with the integer of each text, `OTHER`, or `SAME`: the text before it again.

    `begins` and `stops` are filled with the places of the texts that are `OTHER`. Return how many
    these are. (Their keys, found here by a function, took 25 ns per text instead of 13.)
    """
    n = 0
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        codes[i] = integer_of(text, start, end)
        if codes[i] == OTHER:
            if (
                i > 0
                and codes[i - 1] <= SAME
                and equal(text, start, end, starts[i - 1], ends[i - 1])
            ):
                codes[i] = SAME  # a table sorted by user
            else:
                begins[n], stops[n] = start, end
                n += 1
    return n


@kernel
def give_codes(numbers: np.int64, codes):
    """Replace `OTHER` by the code of the next of the numbers, `SAME` by the code before it."""
    n = 0
    for i in range(len(codes)):
        if codes[i] == OTHER:
            codes[i] = FIRST + numbers[n]
            n += 1
        elif codes[i] == SAME:
            codes[i] = codes[i - 1]


@kernel
def scan_table(text: np.uint8, delimiter, places: np.int64, line, starts, ends, lines):
    r"""Find the cells of a part of a CSV table; rows end in \n or \r\n, blank lines are no rows.

    Parameters
    ----------
    text : uint8
        Whole lines; the last may lack its end.
    delimiter : int
    places : int64 (n_columns,)
        The row of `starts` and `ends` that a column of the table fills, or -1.
    line : int
        The number of the first line.
    starts, ends : int32 (n_wanted, n_rows), written
        Where the text of each wanted cell begins and ends, without quotes around it.
    lines : int64 (n_rows,), written
        The line of each row.

    Returns
    -------
    int
        The number of rows; or -1, where only a full reader of CSV knows what is meant: a quote
        within a cell, a line end within quotes, a lone \r, NUL, a row of another width, an empty
        cell that is wanted.
    """
    n, column, at, width, size = 0, 0, 0, len(places), len(text)
    while at < size:
        first = text[np.uint64(at)]
        if column == 0 and first in (_NEWLINE, _RETURN):
            if first == _RETURN and (at + 1 >= size or text[np.uint64(at + 1)] != _NEWLINE):
                return -1
            at += 1 + (first == _RETURN)
            line += 1
            continue
        quoted = first == _QUOTE
        start = at = at + quoted
        if quoted:
            while at < size and text[np.uint64(at)] != _QUOTE:
                if text[np.uint64(at)] in (_NEWLINE, _RETURN, 0):
                    return -1
                at += 1
            end, at = at, at + 1
            if at > size:
                return -1
        else:
            while at < size:
                c = text[np.uint64(at)]
                if c == delimiter or (c <= _RETURN and c in (_NEWLINE, _RETURN, 0)):
                    break
                if c == _QUOTE:
                    return -1
                at += 1
            end = at
        last = at >= size
        c = _NEWLINE if last else text[np.uint64(at)]
        if c == _RETURN and at + 1 < size and text[np.uint64(at + 1)] == _NEWLINE:
            at, c = at + 1, _NEWLINE
        if column >= width or end - start > LONGEST or (c != delimiter and c != _NEWLINE):
            return -1
        place = places[column]
        if place >= 0:
            if start == end:
                return -1
            starts[place, n], ends[place, n] = start, end
        at += 1
        column += 1
        if c == _NEWLINE:
            if column != width:
                return -1
            lines[n] = line
            n, column, line = n + 1, 0, line + 1
    return n if column == 0 else -1


@kernel
def scan_fields(text: np.uint8, width, longer, places: np.int64, line, starts, ends, lines):
    r"""Find the fields of lines that are separated by white space of ASCII, as in TREC's files.

    As `scan_table`; but for `longer`, what follows the last of `width` fields is ignored.
    """
    n, at, size = 0, 0, len(text)
    while at < size:
        column = 0
        while at < size and text[np.uint64(at)] != _NEWLINE:
            start = at
            while at < size and not _is_space(text[np.uint64(at)]):
                at += 1
            if at > start:
                place = places[column] if column < width else -1
                if place >= 0:
                    starts[place, n], ends[place, n] = start, at
                column += 1
            elif text[np.uint64(at)] == _RETURN and at + 1 < size and not _is_end(text, at + 1):
                return -1
            at += at == start
        if column > 0:
            if column != width and not (longer and column > width):
                return -1
            lines[n] = line
            n += 1
        at += 1
        line += 1
    return n


@kernel
def _is_space(c):
    return c == _SPACE or (c >= _TAB and c <= _RETURN)


@kernel
def _is_end(text, at):
    return text[np.uint64(at)] == _NEWLINE


@kernel
def scan_objects(
    text: np.uint8, kinds: np.int64, words: np.uint64, sizes: np.int64, line, starts, ends, lines
):
    """Find the values of objects of JSON, one in a line, all with the same bytes between values.

    Parameters
    ----------
    text, line, lines
        As in `scan_table`.
    kinds : int64 (n_parts,)
        Of the parts of a line: 0 for a number, 1 for a string, 2 and 3 for a list, `LITERAL` for
        bytes that are the same in all lines, quotes of strings and brackets of lists among them.
    words, sizes : uint64, int64 (n_parts,)
        The bytes of each literal, up to 8, the first the lowest; and how many.
    starts, ends : int32 (n_values, n_rows), written
        Where each value begins and ends. What is in a list is for `scan_elements` to judge.

    Returns
    -------
    int
        The number of rows; or -1, where a line is not so, or a string has an escape, or is empty.
    """
    # functions that take the text are called where they are seldom needed: see `texts`
    n, at, size = 0, 0, len(text)
    while at < size:
        if text[np.uint64(at)] != _NEWLINE:
            value = 0
            for part in range(len(kinds)):
                start, kind = at, kinds[part]
                if kind == LITERAL:
                    word = np.uint64(0)
                    for b in range(8 if at + 8 <= size else 0):  # one load
                        word |= np.uint64(text[np.uint64(at + b)]) << np.uint64(8 * b)
                    word = word if at + 8 <= size else _last_word(text, at)
                    # what is above the bytes of the literal is shifted out
                    if (word ^ words[part]) << np.uint64(64 - 8 * sizes[part]):
                        return -1
                    at += sizes[part]
                    continue
                if kind == 0:
                    while at < size and _is_digit(text[np.uint64(at)]):
                        at += 1
                    if at == size or not _is_integer(text[start], text[np.uint64(at)], at - start):
                        at = _end_of_number(text, start)
                elif kind == 1:
                    while at < size and _is_plain(text[np.uint64(at)]):
                        at += 1
                else:
                    at = _end_of_list(text, at)
                if at < start + (kind < 2):
                    return -1
                starts[value, n], ends[value, n] = start, at
                value += 1
            while at < size and _is_blank(text[np.uint64(at)]):
                at += 1
            if at < size and text[np.uint64(at)] != _NEWLINE:
                return -1
            lines[n] = line
            n += 1
        at += 1
        line += 1
    return n


@kernel
def _last_word(text, at):
    """Return the last bytes of a text, up to 8, the first the lowest."""
    word = np.uint64(0)
    for b in range(len(text) - at):
        word |= np.uint64(text[np.uint64(at + b)]) << np.uint64(8 * b)
    return word


@kernel
def scan_elements(text: np.uint8, quoted, starts: np.int32, ends: np.int32, firsts, lasts, counts):
    """Find the elements of lists of JSON, ``text[starts[i]:ends[i]]`` between their brackets.

    Parameters
    ----------
    quoted : bool
        Whether they are strings; else numbers.
    firsts, lasts : int32 (n_elements,), written
        Where each element begins and ends, without quotes.
    counts : int64 (n_lists,), written

    Returns
    -------
    int
        The number of elements; or -1, as `scan_objects`.
    """
    n = 0
    for i in range(len(starts)):
        at, end, before = starts[i], ends[i], n
        while at < end and _is_blank(text[np.uint64(at)]):
            at += 1
        more = at < end
        while more:
            if quoted and text[np.uint64(at)] != _QUOTE:
                return -1
            start = at = at + quoted
            if quoted:
                while at < end and _is_plain(text[np.uint64(at)]):
                    at += 1
            else:
                while at < end and _is_digit(text[np.uint64(at)]):
                    at += 1
                if at == end or not _is_integer(text[start], text[np.uint64(at)], at - start):
                    at = _end_of_number(text, start)
            if at <= start or at + quoted > end or (quoted and text[np.uint64(at)] != _QUOTE):
                return -1
            firsts[n], lasts[n] = start, at
            n, at = n + 1, at + quoted
            while at < end and _is_blank(text[np.uint64(at)]):
                at += 1
            more = at < end
            if more:
                if text[np.uint64(at)] != _COMMA:
                    return -1
                at += 1
                while at < end and _is_blank(text[np.uint64(at)]):
                    at += 1
                if at == end:
                    return -1
        counts[i] = n - before
    return n


@kernel
def _is_blank(c):
    return c in (_SPACE, _TAB, _RETURN)


@kernel
def _is_digit(c):
    return c >= _ZERO and c <= _ZERO + 9


@kernel
def _is_plain(c):
    """Return whether a byte is in a string of JSON: no quote, escape or control character."""
    return c >= _SPACE and c not in (_QUOTE, _BACKSLASH)


@kernel
def _is_integer(first, c, n):
    """Return whether `n` digits before a byte are an integer; False if more is to be looked at."""
    return n > 0 and first != _ZERO and c not in (_POINT, _SMALL_E, _LARGE_E)


@kernel
def _end_of_list(text, at):
    """Return where the closing bracket of a list may be."""
    string = False
    while at < len(text) and (string or text[np.uint64(at)] != _CLOSE):
        string ^= text[np.uint64(at)] == _QUOTE
        at += 1
    return at


@kernel
def _end_of_number(text, at):
    """Return where a number of JSON ends; -1 if it is none."""
    at += at < len(text) and text[np.uint64(at)] == _MINUS
    start = at
    at = _end_of_digits(text, at)
    if at == start or (text[np.uint64(start)] == _ZERO and at > start + 1):
        return -1
    if at < len(text) and text[np.uint64(at)] == _POINT:
        start = at + 1
        at = _end_of_digits(text, start)
        if at == start:
            return -1
    if at < len(text) and text[np.uint64(at)] in (_SMALL_E, _LARGE_E):
        start = at + 1
        start += start < len(text) and text[np.uint64(start)] in (_PLUS, _MINUS)
        at = _end_of_digits(text, start)
        if at == start:
            return -1
    return at


@kernel
def _end_of_digits(text, at):
    while at < len(text) and _is_digit(text[np.uint64(at)]):
        at += 1
    return at


@kernel
def decimals(text: np.uint8, starts: np.int32, ends: np.int32, cells: np.int64, out, left):
    """Fill `out` (float64) with the numbers of some cells, each the double nearest to it.

    Returns
    -------
    int
        How many are left: the first of `left` (int64, as long as `cells`), which holds their cells.
    """
    n_left = 0
    for i in cells:
        digits, exponent = _digits(text, starts[i], ends[i])
        power = abs(exponent)
        value = _nearest(digits, _POWERS[power], exponent < 0) if power < len(_POWERS) else np.nan
        if value != value:
            left[n_left] = i
            n_left += 1
        else:
            out[i] = -value if text[np.uint64(starts[i])] == _MINUS else value
    return n_left


@kernel
def _nearest(digits, power, divided):
    """Return the double nearest to digits times or over a power of ten; NaN where that is close.

    Up to 2^53 all operands are exact, and one operation rounds as the number itself would be
    (Clinger 1990, How to read floating point numbers accurately). Beyond, the result is
    corrected by what the operation lost, which is known to 2^-52 of itself (Dekker 1971, A
    floating-point technique for extending the available precision).
    """
    high = np.float64(digits)
    if digits <= EXACT:
        return high / power if divided else high * power
    low = np.float64(digits - np.int64(high))
    if divided:
        first = high / power
        product, lost = _product(first, power)
        rest = ((high - product) - lost + low) / power
    else:
        first, lost = _product(high, power)
        rest = lost + low * power
    value = first + rest
    lost = (first - value) + rest
    # half way to the next double, or so near that the correction does not tell
    return np.nan if value + lost * (1 + 1e-9) != value else value


@kernel
def _product(a, b):
    """Return a product and what its rounding lost, exactly."""
    product = a * b
    scaled = a * _SPLIT
    a_high = scaled - (scaled - a)
    scaled = b * _SPLIT
    b_high = scaled - (scaled - b)
    a_low, b_low = a - a_high, b - b_high
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


@kernel
def _digits(text, start, end):
    """Return the digits of a number, and the power of ten that they are to be multiplied by.

    A power that is out of reach where it is none, or has more digits.
    """
    at = start + (start < end and (text[np.uint64(start)] in (_MINUS, _PLUS)))
    digits, exponent, n, point = np.int64(0), 0, 0, False
    while at < end:
        c = np.int64(text[np.uint64(at)])
        if c == _POINT and not point:
            point = True
        elif c >= _ZERO and c <= _ZERO + 9:
            if digits >= _MOST:
                return _NONE
            digits = digits * 10 + (c - _ZERO)
            n += 1
            exponent -= point
        else:
            break
        at += 1
    if at < end and n > 0 and text[np.uint64(at)] in (_SMALL_E, _LARGE_E):
        shift = integer_of(text, at + 1 + (at + 1 < end and text[np.uint64(at + 1)] == _PLUS), end)
        if shift < -LONGEST or shift > LONGEST:
            return _NONE
        return digits, exponent + shift
    return (digits, exponent) if n > 0 and at == end else _NONE


@kernel
def hash_decimals(codes: np.int64, hashes):
    """Fill `hashes` (uint64) with the hashes of the texts that integers are written as."""
    text = np.empty(DIGITS + 2, np.uint8)
    for i in range(len(codes)):
        at, rest = len(text), abs(codes[i])
        while at == len(text) or rest > 0:
            at -= 1
            text[at] = _ZERO + rest % 10
            rest //= 10
        if codes[i] < 0:
            at -= 1
            text[at] = _MINUS
        hashes[i] = hash_of(text, at, len(text))
