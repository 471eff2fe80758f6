"""What rows have in packed words, read by row: for all that is no histogram.

    word                  ├ sum ───────┼ weight ─────┼ 1 ──┤
    and half a field more ├ sum + half ┼ weight + half ──┼ …    no field has a sign to carry now

so each field is read by itself: moved down, cut off, less the half. Sums of segments add whole
words, as many as cannot overflow, and take the fields out of those.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels._registered import register_jitable
from vtree_kernels._segments import summed
from vtree_kernels.histogram.reference import Compact, packing
from vtree_kernels.histogram.words import all_bits

Integers = NDArray[np.int64]
Packed = tuple[Integers, Integers, Integers]


def packed_of(compact: Compact | None, counted: bool) -> Packed:
    """Return what `field_of` reads, nothing of each where there are no words.

    words (N,), the sum of all halves (1,), and of each field (P, 3) where it begins, half of what
    it holds, and the bit that its value begins with.
    """
    if compact is None or not compact.packed:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 3), np.int64)
    width = packing(all_bits(compact.bits, int(counted)))[0][:, 1]
    begin = (np.cumsum(width) - width)[int(counted) :]
    half = np.int64(1) << (width[int(counted) :] - 1)  # no row's weight reaches it
    halves = np.sum(half << begin, keepdims=True)
    return compact.words, halves, np.stack([begin, half, compact.lowest], axis=1)


@register_jitable(forceinline=True)
def field_of(word: Any, halves: Any, begin: Any, half: Any) -> Any:
    """Return the field of a row's word that begins at a bit, half of what it holds added."""
    return ((word + halves) >> begin) & (half + half - 1)


@register_jitable
def _are_consecutive(rows: Any) -> Any:
    """Tell whether each row number is one more than the one before; without a branch a row."""
    others = 0
    for i in range(1, rows.size):
        others += rows[i] != rows[i - 1] + 1
    return others == 0


@register_jitable
def _sum(words: Any, rows: Any, together: Any) -> Any:
    """Return the sum of rows' words, which lie side by side if `together`."""
    own = np.int64(0)
    if together:
        first = np.uint64(rows[0])
        for word in words[first : first + np.uint64(rows.size)]:
            own += word
    else:
        for row in rows:
            own += words[np.uint64(row)]
    return own


@numba.njit(cache=True, nogil=True)
def _add(  # type: ignore[no-untyped-def]
    part, rows, tasks, first, last, words, width, lowest, first_sum, most
):
    """Write the sums of each task's fields, whose words are added `most` at a time.

    width (fields,): in bits, the count's first; lowest (fields,): the bit of a sum that its field
    begins with; first_sum: the first field that has a sign.
    """
    none = width.size - part.shape[1]
    for t in range(first, last):
        begin, end = np.uint64(tasks[t, 1]), np.uint64(tasks[t, 2])
        part[t] = 0
        together = _are_consecutive(rows[begin:end])
        for block in range(begin, end, np.uint64(most)):
            own = _sum(words, rows[block : min(block + np.uint64(most), end)], together)
            for f in range(width.size):
                sign = np.int64(1) << (width[f] - 1)
                value = own & (sign + sign - 1)
                if f >= first_sum:
                    value = (value ^ sign) - sign
                if f >= none:
                    part[t, f - none] += value << lowest[f]
                own = (own - value) >> width[f]


def packed_sums(
    rows: NDArray[np.int32],
    start: Integers,
    stop: Integers,
    compact: Compact,
    counted: bool = True,
) -> Integers:
    """Return sums (L, P); see the package for the contract."""
    fields, _, most = packing(all_bits(compact.bits, int(counted)))
    lowest, first_sum = all_bits(compact.lowest, int(counted)), int(counted) + compact.weighted

    def add(part: Integers, tasks: Integers, first: int, last: int) -> None:
        given = compact.words, fields[:, 1], lowest, first_sum, most
        _add(part, rows, tasks, first, last, *given)

    return summed(add, start, stop, compact.bits.size)
