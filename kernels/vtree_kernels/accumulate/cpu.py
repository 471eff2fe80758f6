"""`accumulate` in Numba: a block of rows goes down all trees, then adds up its leaves' values."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.traverse.cpu import descend, prepared

_MOST = 256  # different answers that are told by a byte a leaf
_SLOT_BITS = 10
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FEW = 4  # values of an answer, added one by one: no row waits for another's then
_FAR = 4096  # nodes of a tree whose answers do not lie near, while a byte each does


@numba.njit(cache=True, nogil=True)
def _slot_of(bits, node, first, slots):  # type: ignore[no-untyped-def]
    """Return where the kind of a leaf's answer stands among hashed ones, or has its free place."""
    n_values = bits.shape[1]
    mixed = np.uint64(0)
    for v in range(n_values):
        mixed = (mixed ^ bits[node, v]) * _MIX
    slot = np.int64(mixed >> np.uint64(64 - _SLOT_BITS))
    while slots[slot] >= 0:
        unlike, other = np.uint64(0), first[slots[slot]]
        for v in range(n_values):
            unlike |= bits[node, v] ^ bits[other, v]
        if unlike == 0:
            break
        slot = (slot + 1) % slots.size
    return slot


@numba.njit(cache=True, nogil=True)
def _distinct(kind, first, ends, bits):  # type: ignore[no-untyped-def]
    """Fill kind (M,), the number of the answer where rows may end; first (256,), a node of each.

    Return how many kinds there are, −1 if more. Answers are alike if their bits are.
    """
    slots = np.full(1 << _SLOT_BITS, -1, np.int64)
    count = 0
    for node in range(ends.size):
        if ends[node] >= 0:
            continue
        slot = _slot_of(bits, node, first, slots)
        if slots[slot] < 0:
            if count == first.size:
                return -1
            first[count], slots[slot] = node, count
            count += 1
        kind[node] = slots[slot]
    return count


def kinds_of_answers(
    value: NDArray[np.float64], missing_child: NDArray[np.int32], trees: int, rows: int
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return (the kind of each node's answer (M,), the kinds (≤ 256, V)) if there are so few.

    Fully grown classifiers are sure of a class in nearly all leaves. Otherwise no kinds, and value.
    Rows end where no child takes missing values: at leaves, and where these stay.
    """
    none = np.empty(0, np.uint8)
    if missing_child.size < trees * _FAR or rows * trees < missing_child.size:
        return none, value
    bits = np.ascontiguousarray(value).view(np.uint64)
    kind, first = np.empty(missing_child.size, np.uint8), np.empty(_MOST, np.int64)
    count = _distinct(kind, first, missing_child, bits)
    return (none, value) if count < 0 else (kind, value[first[:count]])


@numba.njit(cache=True, nogil=True)
def _add(total, leaf, kind, value, column):  # type: ignore[no-untyped-def]
    n_values = np.uint64(value.shape[1])
    for t in range(column.size):
        first, own = np.uint64(column[t]), leaf[t]
        if n_values > _FEW:
            for i in range(own.size):
                place = np.uint64(kind[np.uint64(own[i])] if kind.size > 0 else own[i])
                for v in range(n_values):
                    total[i, first + v] += value[place, v]
            continue
        for v in range(n_values):
            for i in range(own.size):
                place = np.uint64(kind[np.uint64(own[i])] if kind.size > 0 else own[i])
                total[i, first + v] += value[place, v]


def accumulate(
    values: NDArray[Any],
    root: NDArray[np.int32],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
    value: NDArray[np.float64],
    column: NDArray[np.int64],
    n_columns: int,
) -> NDArray[np.float64]:
    """Return total (N, n_columns); see the package for the contract."""
    total = np.zeros((values.shape[0], n_columns))
    plain = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)
    forest = prepared(values, root, *plain)
    kind_of_leaf, answers = kinds_of_answers(value, missing_child, root.size, values.shape[0])

    def block(index: int) -> None:
        rows = slice(index * forest.block, (index + 1) * forest.block)
        for trees, leaf in descend(np.ascontiguousarray(values[rows]), forest):
            _add(total[rows], leaf, kind_of_leaf, answers, column[trees])

    work = values.shape[0] * root.size * 16
    _threads.run(block, -(-values.shape[0] // forest.block), work=work)
    return total
