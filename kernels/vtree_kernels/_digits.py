"""Sorting numbers by the digits of their bits, compiled: by one digit after another.

With the sign bit set, a positive number's bits sort like it, and above those of negative ones, of
which all bits are turned over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

_DIGIT = 11  # bits; places for 2,048 values stay in L1
_SIZE = 1 << _DIGIT


class Bits(NamedTuple):
    """How the numbers of one dtype are told apart by their bits."""

    kind: Any  # the unsigned integers of their size
    width: int  # bits
    sign: Any  # the sign's bit
    infinity: Any  # the bits of ∞


def bits_of_dtype(dtype: np.dtype[Any]) -> Bits:
    """Return the same of float32 or float64."""
    kind: Any = np.uint32 if dtype == np.float32 else np.uint64
    width = 8 * dtype.itemsize
    infinity = np.array([np.inf], dtype=dtype).view(kind)[0]
    return Bits(kind, width, kind(1 << (width - 1)), infinity)


@numba.njit(cache=True, nogil=True)
def write_keys(bits, sign, infinity, keys, rows):  # type: ignore[no-untyped-def]
    """Write what sorts like each number that is not NaN, and its row; return how many.

    keys, rows: with room for one more than there are; rows may be empty. −0.0 counts as 0.0.
    """
    count = np.uint64(0)
    for row in range(bits.size):
        own = bits[row]
        size = own & ~sign
        if size == 0:
            own = size
        keys[count] = ~own if own & sign else own | sign
        if rows.size:
            rows[count] = row
        count += np.uint64(size <= infinity)
    return count


@numba.njit(cache=True, nogil=True)
def bits_of_key(key, sign):  # type: ignore[no-untyped-def]
    """Return the bits of the number that a key sorts like."""
    return key ^ sign if key & sign else ~key


@numba.njit(cache=True, nogil=True)
def _counted(keys, width):  # type: ignore[no-untyped-def]
    """Return how many keys have each value of each digit, (digits, values)."""
    counts = np.zeros((-(-width // _DIGIT), _SIZE), np.uint32)
    mask = keys.dtype.type(_SIZE - 1)
    for i in range(keys.size):
        left = keys[i]
        for digit in range(counts.shape[0]):
            counts[digit, np.uint64(left & mask)] += np.uint32(1)
            left >>= keys.dtype.type(_DIGIT)
    return counts


@numba.njit(cache=True, nogil=True)
def sort_keys(keys, rows, spare_keys, spare_rows, width):  # type: ignore[no-untyped-def]
    """Return (keys, rows) sorted by keys of `width` bits, in their arrays or in the spare ones.

    rows: what goes along with the keys, may be empty.
    """
    if keys.size == 0:
        return keys, rows
    counts = _counted(keys, width)
    mask = keys.dtype.type(_SIZE - 1)
    for digit in range(counts.shape[0]):
        by, place = keys.dtype.type(digit * _DIGIT), counts[digit]
        if place[np.uint64((keys[0] >> by) & mask)] == keys.size:
            continue  # all have this digit, as whole numbers have zeros
        before = np.uint32(0)
        for value in range(_SIZE):
            before, place[value] = np.uint32(before + place[value]), before
        for i in range(keys.size):
            own = np.uint64((keys[i] >> by) & mask)
            to = np.uint64(place[own])
            spare_keys[to] = keys[i]
            if rows.size:
                spare_rows[to] = rows[i]
            place[own] += np.uint32(1)
        keys, spare_keys = spare_keys, keys
        rows, spare_rows = spare_rows, rows
    return keys, rows
