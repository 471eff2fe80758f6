"""Sorted numbers as trees whose nodes hold sixteen, for compiled searches without branches.

    numbers     n₀ … n₁₅ | n₁₆ … n₃₁ | n₃₂ … n₄₇ | n₄₈ …
                      │           │           │
    level above      n₁₅         n₃₁         n₄₇    the last of each full node

How many numbers of a node lie below a value tells the node to look at one level down: a processor
compares all sixteen in one instruction (or two or four) and counts the bits of the answer. Of 255
numbers two nodes are looked at, where a binary search takes eight steps that wait for one another.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from vtree_kernels._prefetch import LINE
from vtree_kernels._registered import register_jitable

FAN = 16


def _count_below(typing_context: Any, numbers: Any, at: Any, value: Any) -> Any:
    """Count the numbers of `numbers[at : at + 16]` that are less than `value`."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        word = context.get_value_type(signature.args[0].dtype)
        node = ir.VectorType(word, FAN)
        first = builder.gep(array.data, [values[1]])
        own = builder.load(builder.bitcast(first, node.as_pointer()), align=word_bytes)
        alone = ir.VectorType(word, 1)
        spread = builder.insert_element(alone(ir.Undefined), values[2], ir.IntType(32)(0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), FAN), [0] * FAN)
        every = builder.shuffle_vector(spread, alone(ir.Undefined), places)
        less = builder.fcmp_ordered("<", own, every)
        bits = builder.bitcast(less, ir.IntType(FAN))
        return builder.zext(builder.ctpop(bits), ir.IntType(64))

    kind = numbers.dtype
    if not (isinstance(kind, types.Float) and value == kind and numbers.layout == "C"):
        return None
    word_bytes = kind.bitwidth // 8
    return types.int64(numbers, types.intp, value), codegen


count_below: Any = intrinsic(_count_below)


@numba.njit(cache=True, nogil=True)
def trees_of(numbers, offsets):  # type: ignore[no-untyped-def]
    """Return (trees, starts (G, L)) of G ascending lists, `numbers[offsets[g] : offsets[g + 1]]`.

    trees holds the levels of each list, that of the list itself last, each filled up with +∞; level
    l of list g begins at trees[starts[g, l]]. All lists have as many levels as the longest needs.
    """
    n_lists = offsets.size - 1
    longest = 0
    for g in range(n_lists):
        longest = max(longest, offsets[g + 1] - offsets[g])
    n_levels = 1
    while longest > FAN:
        longest //= FAN
        n_levels += 1
    starts = np.empty((n_lists, n_levels), np.int64)
    size = 0
    for g in range(n_lists):
        own = offsets[g + 1] - offsets[g]
        for level in range(n_levels - 1, -1, -1):
            starts[g, level] = size
            # A value above all of many full nodes comes to one more, of nothing but +∞.
            size += FAN * (own // FAN + 1)
            own //= FAN
    # Nodes that do not begin at a line of the cache would each lie in two (or four).
    room = np.full(size + LINE // numbers.itemsize, np.inf, numbers.dtype)
    skip = -room.ctypes.data % LINE // numbers.itemsize
    trees = room[skip : skip + size]
    for g in range(n_lists):
        own = offsets[g + 1] - offsets[g]
        step = 1
        for level in range(n_levels - 1, -1, -1):
            for i in range(own):
                trees[starts[g, level] + i] = numbers[offsets[g] + (i + 1) * step - 1]
            own //= FAN
            step *= FAN
    return trees, starts


@register_jitable
def number_below(trees: Any, starts: Any, g: int, value: Any) -> Any:
    """Count the numbers of list g that are less than `value`; NaN is above none."""
    place = np.int64(0)
    for level in range(np.uint64(starts.shape[1])):
        place = FAN * place
        place += count_below(trees, starts[g, level] + place, value)
    return place
