"""Packed words: all that a row adds to a cell, in as few integers as hold it exactly.

    bit 63        49 48         15 14        0
        ├ sum of targets ──────────┼ rows ───┤     one addition a row and feature adds both

Each field has room for the sum over `2^room − 1` rows; before it can overflow, the fields are
unpacked and added to the histogram. How many bits a row's values need is read off the rows
themselves, so nothing is rounded and no caller has to promise anything. Where one word does not
hold all fields, two lie side by side and are added at once.

Cells lie by class, feature and code: (class * features + feature) * codes + code.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

_WORD = 62  # bits in use
_LEAST_ROOM = 14  # of fields that share a word: more flushes cost more than another word


@numba.njit(cache=True, nogil=True)
def field_reach(reach, weight, sums, first, last):  # type: ignore[no-untyped-def]
    """Write the bits that some rows have in each field: the weight if any, then each sum."""
    weighted = np.intp(weight.size > 0)
    if weighted:
        own = np.int64(0)
        for row in range(first, last):
            own |= weight[row]
        reach[0] = own
    for j in range(sums.shape[1]):
        own = np.int64(0)
        for row in range(first, last):
            own |= abs(sums[row, j])
        reach[weighted + j] = own


def field_bits(reach: NDArray[np.int64], weighted: int) -> NDArray[np.int64]:
    """Return the bits of the fields (P,) that `field_reach` has looked at, with their signs."""
    lengths = [int(each).bit_length() + (f >= weighted) for f, each in enumerate(reach)]
    return np.asarray(lengths, dtype=np.int64)


@numba.njit(cache=True, nogil=True)
def fill_fields(fields, weight, sums, first, last):  # type: ignore[no-untyped-def]
    """Write the weight if any, then each sum, of some rows to fields (N, P)."""
    weighted = np.intp(weight.size > 0)
    for row in range(first, last if weighted else first):
        fields[row, 0] = weight[row]
    for j in range(sums.shape[1]):
        for row in range(first, last):
            fields[row, weighted + j] = sums[row, j]


@numba.njit(cache=True, nogil=True)
def packing(bits):  # type: ignore[no-untyped-def]
    """Return (word and width of each field (fields, 2), words, rows until a field may overflow)."""
    fields = np.empty((bits.size, 2), np.int64)
    words, used, inside, room = 0, 0, 0, 31
    for f in range(bits.size):
        if inside == 0 or (_WORD - used - bits[f]) // (inside + 1) < _LEAST_ROOM:
            words, used, inside = words + 1, 0, 0
        used, inside = used + bits[f], inside + 1
        room = min(room, (_WORD - used) // inside)
        fields[f, 0] = words - 1
    fields[:, 1] = bits + room
    return fields, words, (1 << room) - 1


def _add_pair(typing_context: Any, cells: Any, cell: Any, first: Any, second: Any) -> Any:
    """Add `first` to cells[cell] and `second` to the one after, as one addition."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pair = ir.VectorType(ir.IntType(64), 2)
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        target = builder.bitcast(builder.gep(view.data, [arguments[1]]), pair.as_pointer())
        more = ir.Constant(pair, ir.Undefined)
        for place in range(2):
            more = builder.insert_element(more, arguments[2 + place], ir.IntType(32)(place))
        before = builder.load(target, align=8)
        builder.store(builder.add(before, more), target, align=8)
        return context.get_dummy_value()

    return types.void(cells, types.uint64, types.int64, types.int64), codegen


add_pair: Any = intrinsic(_add_pair)


@numba.njit(cache=True, nogil=True)
def move_field(  # type: ignore[no-untyped-def]
    hist, cells, word, side_by_side, width, signed, planes, n_classes
):
    """Add the lowest field of all cells to some planes of hist (G, B, S), and shift it out.

    word: which of the `side_by_side` words of each cell; planes (P, 2): the plane of class 0, and
    1 if each class has its own from there on.
    """
    n_features, n_codes = hist.shape[:2]
    outside = np.int64(64 - width)
    mask = np.int64((np.uint64(1) << np.uint64(width)) - np.uint64(1))
    for g in range(n_features):
        for c in range(n_classes):
            at = (c * n_features + g) * n_codes
            line = cells[at * side_by_side + word :: side_by_side]
            for p in range(planes.shape[0]):
                plane = planes[p, 0] + c * planes[p, 1]
                for b in range(n_codes):
                    value = (line[b] << outside) >> outside if signed else line[b] & mask
                    hist[g, b, plane] += value
            for b in range(n_codes):
                value = (line[b] << outside) >> outside if signed else line[b] & mask
                line[b] = (line[b] - value) >> width
