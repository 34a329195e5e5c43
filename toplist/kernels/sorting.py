"""Sorting of 64-bit words in linear time, whatever they are."""

import numpy as np

from toplist.kernels import kernel

# Bits of a digit: six digits make a word, and the 2,048 counts of one fit in the first-level cache.
DIGIT = 11
# Fewer words are sorted by comparison: to clear the counts would take longer.
FEW = 1 << 10


@kernel
def sort_words(ids):
    """Return ids (int64) in the order of their bits (uint64), and where each of them was (int32).

    By digits, the last first (LSD radix sort: Knuth, TAOCP 3, 5.2.5); equal ids keep their order.
    """
    n = len(ids)
    words, order = ids.astype(np.uint64), np.arange(n).astype(np.int32)
    if n < FEW:
        order = np.argsort(words, kind="mergesort").astype(np.int32)
        return words[order], order
    moved, moved_order = np.empty_like(words), np.empty_like(order)
    n_digits, last = -(-64 // DIGIT), np.uint64((1 << DIGIT) - 1)
    counts = np.zeros((n_digits, 1 << DIGIT), np.int32)
    for word in words:
        for digit in range(n_digits):
            counts[digit, (word >> np.uint64(digit * DIGIT)) & last] += 1
    for digit in range(n_digits):
        shift, ends = np.uint64(digit * DIGIT), counts[digit]
        if ends[(words[0] >> shift) & last] == n:
            continue  # all have the same digit
        total = 0
        for value in range(1 << DIGIT):
            total, ends[value] = total + ends[value], total
        for i in range(n):
            value = (words[i] >> shift) & last
            moved[ends[value]], moved_order[ends[value]] = words[i], order[i]
            ends[value] += 1
        words, moved = moved, words
        order, moved_order = moved_order, order
    return words, order
