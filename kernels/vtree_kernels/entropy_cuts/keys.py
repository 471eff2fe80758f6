"""Keys of rows: the code, and in the last bits where a short table has class and weight."""

from __future__ import annotations

import numba
import numpy as np

from vtree_kernels._prefetch import AHEAD, prefetch


@numba.njit(cache=True, nogil=True)
def fill(codes, rows, start, stop, label, weight, shift, feature, keys, bits, tables):  # type: ignore[no-untyped-def]
    """Write the keys (tile, R) of the nodes' rows, of features from `feature` on, node by node."""
    plane, amount = tables
    width, all_codes = codes.shape[1], codes.reshape(-1)
    at = 0
    for node in range(start.size):
        end = stop[node]
        for position in range(start[node], end):
            # Rows of a node lie apart: without this, each waits for the memory.
            ahead = np.intp(rows[min(position + AHEAD, end - 1)])
            prefetch(all_codes, ahead * width + feature)
            row = np.intp(rows[position])
            own = label[row, 0] + shift
            if weight.size > 0:
                plane[at], amount[at], own = own, weight[row], at
            for j in range(keys.shape[0]):
                keys[j, at] = (np.int64(all_codes[row * width + feature + j]) << bits) | own
            at += 1


@numba.njit(cache=True, nogil=True)
def take(lines, start, stop, feature, keys):  # type: ignore[no-untyped-def]
    """Write the keys of sorted rows, like `fill`."""
    for j in range(keys.shape[0]):
        at = np.uint64(0)
        for node in range(start.size):
            for position in range(np.uint64(start[node]), np.uint64(stop[node])):
                keys[j, at] = lines[feature + j, position] >> 32
                at += np.uint64(1)


@numba.njit(cache=True, nogil=True)
def sorted_by_code(keys, spare, low, width, counts):  # type: ignore[no-untyped-def]  # noqa: C901
    """Return the keys sorted by their codes, those below `width` from bit `low` on.

    In `keys` or in `spare`.
    """
    if keys.size <= 24:
        for i in range(1, keys.size):
            key = keys[i]
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return keys
    digit = 11 if keys.size > 3000 else 8
    size, shift = 1 << digit, 0
    while (width - 1) >> shift > 0:
        counts[:size] = 0
        for i in range(keys.size):
            counts[(keys[i] >> (low + shift)) & (size - 1)] += 1
        before = 0
        for d in range(size):
            before, counts[d] = before + counts[d], before
        for i in range(keys.size):
            d = (keys[i] >> (low + shift)) & (size - 1)
            spare[counts[d]] = keys[i]
            counts[d] += 1
        keys, spare = spare, keys
        shift += digit
    return keys
