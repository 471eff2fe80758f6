"""The search for a node's split among the classes that its rows have.

Most nodes have rows of few of many classes. One that is not there adds exactly nothing to a gain,
so the others are numbered anew, in their order, and the search takes time and memory for them:

    planes     n   w   c0  c1  c2  c3  c4      total  9   9   0   4   0   5   0
    here       n   w   c1  c3                         9   9   4   5
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.scan.cpu import Shape
from vtree_kernels.scan.reference import Layout

Present = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]


def present_work(label: NDArray[np.int32], layout: Any, *, some: bool) -> Present:
    """Return the arrays for a node's total, for labels, and for the plane of each class here.

    some: False where all classes are looked at in all nodes.
    """
    outputs = label.shape[1]
    some = some and outputs == 1
    size = layout.n_statistics if some else 0
    return (
        np.empty(size, np.int64),
        np.empty((label.shape[0] if some else 0, outputs), np.int32),
        np.empty(size, np.int64),
    )


@register_jitable(forceinline=True)
def _numbered(own: Any, layout: Any, present: Any) -> Any:
    """Write the total without absent classes, and where each class is there; return how many."""
    total, _, place = present
    first, count = layout.first, 0
    for s in range(first):
        total[s] = own[s]
    for c in range(layout.classes):
        place[first + c - layout.implied] = first + count - layout.implied
        total[first + count] = own[first + c]
        count += own[first + c] > 0
    return count


@register_jitable(forceinline=True)
def _spread(sums: Any, own: Any, layout: Any, count: Any) -> None:
    """Move the sums of `count` classes to their planes among all, in place."""
    begin, kept = layout.first - layout.implied, count
    for c in range(layout.classes - 1, -1, -1):
        value = np.int64(0)
        if own[layout.first + c] > 0:
            kept -= 1
            value = sums[begin + kept]
        sums[begin + c] = value


@register_jitable(forceinline=True)
def _of_codes(work: Any, stored: Any) -> Any:
    dense, marks, cells, filled = work
    n_codes, few = dense.shape[0], cells.shape[0]
    dense = dense.reshape(-1)[: n_codes * stored].reshape(n_codes, stored)
    return dense, marks, cells.reshape(-1)[: few * stored].reshape(few, stored), filled


@register_jitable(forceinline=True)
def _of_cuts(work: Any, stored: Any) -> Any:
    keys, planes, cells, few = work
    return keys, planes, cells.reshape(-1)[: 3 * stored].reshape(3, stored), few


def among_present(search_node: Any, shape: Shape, raw: bool) -> Any:
    """Return a search that does what `search_node` does, among the classes of a node."""
    own_work = _of_cuts if raw else _of_codes

    @register_jitable(forceinline=True)
    @named_after(shape, raw)
    def search_present(  # type: ignore[no-untyped-def]
        columns, bits, local, node, statistics, n_codes, rules, work, present
    ):
        begin, end, state, own, held, levels, among = node
        (label, weight, sums, counted), (numbers, draw, given, nothing) = statistics, rules
        classes, total, here = given.classes, own, label
        if present[0].size:
            count = _numbered(own, given, present)
            if count < classes:
                classes, total, here = count, present[0][: given.first + count], present[1]
                for i in range(np.uint64(begin), np.uint64(end)):
                    row = np.uint64(local[i])
                    here[row, 0] = present[2][np.uint64(label[row, 0])]
        layout = Layout(
            given.weight, given.first, given.outputs, classes, given.ordered, given.center,
            given.scale, given.unit, given.implied, given.shrink, given.clip, given.lower,
            given.upper, given.confined,
        )  # fmt: skip
        stored = total.size - given.implied
        arrays, line, order, (running, candidates, left, right), sums_left = work
        scratch = (running[:stored], candidates, left[: total.size], right[: total.size])
        narrow = own_work(arrays, stored), line, order, scratch, sums_left[:stored]
        found = search_node(
            columns,
            bits,
            local,
            (begin, end, state, total, held, levels, among),
            (here, weight, sums, counted),
            n_codes,
            (numbers, draw, layout, nothing),
            narrow,
        )
        if raw and classes < given.classes:
            _spread(sums_left, own, given, classes)
        return found

    return search_present
