"""Where the rows of CSV end, as Python's csv module sees it, without reading their cells."""

from numpy import uint8

from toplist.kernels import kernel

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
