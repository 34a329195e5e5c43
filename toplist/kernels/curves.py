"""From hits to numbers: histograms over users; values of each user, at one k or at every k."""

import numpy as np
from numpy import float64, int32, int64

from toplist.kernels import kernel

# How much of a hit counts: each hit 1, the n-th hit n, only the first hit 1.
EACH, NTH, FIRST = 0, 1, 2


@kernel
def tally(
    offsets: int64, ranks: int32, rows: int64, codes: int64, discounts: float64, counts, squares
):
    """Add the hits of a block of users to the histograms of their rows.

    Parameters
    ----------
    offsets, ranks : int64 (n_users + 1,), int32 (n_hits,)
        The users' hits; ranks rise within a user. Hits below rank K are left out.
    rows : int64 (n_users,)
        Which row of the histograms a user belongs to; -1: not counted.
    codes, discounts : int64 (m,), float64 (m, K)
        The sums over hits whose squares are wanted: how hits count, and the discount at each rank.
    counts : int64 (n_rows, K, 3), added to
        Per row and rank: number of hits, sum of their j, number of first hits. (The three are
        neighbours, so that a hit touches one line of the cache, not three.)
    squares : float64 (n_rows, K, m), added to
        Per row and rank: by how much hits at that rank raise the sum of the squared sums.
    """
    depth = counts.shape[1]
    sums = np.empty(len(codes))
    for u in range(len(rows)):
        row, start, end = rows[u], offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        if row < 0 or start == end:
            continue
        sums[:] = 0.0
        for h in range(start, end):
            place = ranks[h] - 1
            if place >= depth:
                break
            j = h - start + 1
            counts[row, place, EACH] += 1
            counts[row, place, NTH] += j
            counts[row, place, FIRST] += j == 1
            for m in range(len(codes)):
                step = (j if codes[m] == NTH else 1) / discounts[m, place]
                squares[row, place, m] += step * (sums[m] + sums[m] + step)
                sums[m] += step


@kernel
def group(n_relevant: int64, n_listed: int64, counted: np.bool_, span, numbers, of_user):
    """Group the counted users by R and the length of their lists, up to span - 1.

    `numbers` is int64 of every key R * span + length, -1 and then the groups in ascending order;
    `of_user` (n_users,) becomes the group of each user, -1 if not counted.
    """
    for u in range(len(of_user)):
        of_user[u] = n_relevant[u] * span + min(n_listed[u], span - 1) if counted[u] else -1
        if counted[u]:
            numbers[of_user[u]] = 0
    n = 0
    for key in range(len(numbers)):
        if numbers[key] == 0:
            numbers[key] = n
            n += 1
    for u in range(len(of_user)):
        if of_user[u] >= 0:
            of_user[u] = numbers[of_user[u]]


@kernel
def curves(
    offsets: int64,
    ranks: int32,
    rows: int64,
    code,
    discount: float64,
    divisors: float64,
    first,
    out,
):
    """Fill `out` (n_users, K) with one metric of each user; NaN where the row is -1.

    The columns are of k from `first` on. `divisors` is (n_rows, K), `discount` reaches to the last
    rank of a hit, or k; offsets, ranks and rows as in `tally`.
    """
    n_columns = out.shape[1]
    for u in range(len(rows)):
        row = rows[u]
        if row < 0:
            out[u] = np.nan
            continue
        total = 0.0
        done = 0
        start = offsets[u] - offsets[0]
        for h in range(start, offsets[u + 1] - offsets[0]):
            column = ranks[h] - first
            if column >= n_columns:
                break
            for k in range(done, column):
                out[u, k] = total / divisors[row, k]
            done = max(done, column)
            total += _weight(code, h - start + 1) / discount[ranks[h] - 1]
        for k in range(done, n_columns):
            out[u, k] = total / divisors[row, k]


@kernel
def _weight(code, j):
    """Return what the j-th hit of a user counts."""
    if code == NTH:
        return j
    return 1 if code == EACH or j == 1 else 0


@kernel
def graded_curves(
    offsets: int64, ranks: int32, gains: float64, ideal_offsets: int64, ideal_gains: float64,
    rows: int64, code, discount: float64, divisors: float64, ideal, first, out,
):  # fmt: skip
    """As `curves`, for hits with gains.

    With `ideal`, `divisors` (n_rows, K) holds numbers of ranks: a value is divided by the DCG of
    the user's best gains at that many ranks. `discount` reaches to the largest such number.
    """
    earned = np.zeros(len(discount) + 1)
    for u in range(len(rows)):
        row = rows[u]
        if row < 0:
            out[u] = np.nan
            continue
        if ideal:
            best = ideal_offsets[u] - ideal_offsets[0]
            n_best = ideal_offsets[u + 1] - ideal_offsets[u]
            for i in range(len(discount)):
                # ranks after the last relevant item count with gain 1, as without grades
                gain = ideal_gains[best + i] if i < n_best else 1.0
                earned[i + 1] = earned[i] + gain / discount[i]
        start = offsets[u] - offsets[0]
        end = offsets[u + 1] - offsets[0]
        h = start
        total = 0.0
        for k in range(out.shape[1]):
            while h < end and ranks[h] <= first + k:  # groups may be found at one rank
                total += _weight(code, h - start + 1) * gains[h] / discount[ranks[h] - 1]
                h += 1
            divisor = earned[int64(divisors[row, k])] if ideal else divisors[row, k]
            out[u, k] = total / divisor if divisor > 0.0 else 0.0


@kernel
def places(offsets: int64, ranks: int32, among_offsets: int64, among_ranks: int32, out):
    """Fill `out` (n_hits,) with the place of each hit, from 1, among others that include it."""
    for u in range(len(offsets) - 1):
        j = among_offsets[u]
        for h in range(offsets[u], offsets[u + 1]):
            while among_ranks[j] < ranks[h]:
                j += 1
            out[h] = j - among_offsets[u] + 1


@kernel
def cascade(offsets: int64, p: float64, gains):
    """Fill `gains` with p_j times the product of 1 - p_i over the user's i < j."""
    for u in range(len(offsets) - 1):
        left = 1.0
        for h in range(offsets[u], offsets[u + 1]):
            gains[h] = p[h] * left
            left *= 1.0 - p[h]


@kernel
def best_precision(offsets: int64, ranks: int32, first: int64, gains):
    """Fill `gains` with what each hit adds to the largest j / rank from the `first` hit on."""
    for u in range(len(first)):
        best = 0.0
        for h in range(offsets[u], offsets[u + 1]):
            j = h - offsets[u] + 1
            precision = j / ranks[h] if j >= first[u] else 0.0
            gains[h] = max(precision - best, 0.0)
            best = max(best, precision)
