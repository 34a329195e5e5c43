"""Ranked lists as indices of a catalogue: unknown items and repeats, counted or replaced."""

from numpy import int64, uint64

from toplist.kernels import kernel


@kernel
def inspect(codes: int64, offsets: int64, lengths: int64, n_items, last):
    """Count the codes that are no index of the catalogue, and repeats within a list.

    Parameters
    ----------
    codes : int64
        The codes of a block of users; user u has `lengths[u]` from `offsets[u] - offsets[0]` on.
    last : int32 (n_items,), -1; written
        The last user whose list held the item.

    Returns
    -------
    tuple of int
        Number of unknown codes, user and position of the first; the same three of repeats.
    """
    n_unknown, unknown_user, unknown_place = 0, -1, -1
    n_repeats, repeat_user, repeat_place = 0, -1, -1
    n = uint64(n_items)
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        for r in range(lengths[u]):
            code = uint64(codes[begin + r])
            if code >= n:
                if n_unknown == 0:
                    unknown_user, unknown_place = u, r
                n_unknown += 1
            elif last[code] == u:
                if n_repeats == 0:
                    repeat_user, repeat_place = u, r
                n_repeats += 1
            else:
                last[code] = u
    return n_unknown, unknown_user, unknown_place, n_repeats, repeat_user, repeat_place


@kernel
def clean(codes: int64, offsets: int64, lengths: int64, n_items, unknown, last, out):
    """Copy `codes`, with `unknown` in place of unknown ones and -1 in place of repeats."""
    n = uint64(n_items)
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        for r in range(lengths[u]):
            code = uint64(codes[begin + r])
            if code >= n:
                out[begin + r] = unknown
            elif last[code] == u:
                out[begin + r] = -1
            else:
                last[code] = u
                out[begin + r] = codes[begin + r]
