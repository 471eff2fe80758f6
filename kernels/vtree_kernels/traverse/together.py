"""Rows that go down a tree together, in Numba.

A row's way down is a chain of loads, each waiting for the one before. Eight rows go at a time, so
that eight chains are under way. All of a block's rows take some steps, then those that have come to
rest leave the list, until none is left:

    rows of the list   0 1 2 3 4 5 6 7 8 9   as many steps as a full tree of that many nodes has
                       0 . 2 3 . . 6 . 8 .   some more
                       . . 2 . . . . . 8 .   …

None of it is a branch that the processor guesses wrong: a leaf is its own child, so that steps too
many change nothing, and a row that leaves is overwritten by the next one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vtree_kernels._keys import number_of_key, unsigned_key
from vtree_kernels._naming import named_after
from vtree_kernels._prefetch import LINE
from vtree_kernels._registered import register_jitable, register_once

TOGETHER = 8  # rows that go down a tree together
ROWS = 512  # of which a list is made
STEPS = 4  # before the list is looked through again
FETCHED = 256  # nodes a row, at most, of trees that are fetched whole before rows go down them

_ONE, _TWO = np.uint64(1), np.uint64(2)


def by_number(nodes: Any, keys: Any, row: Any, node: Any) -> Any:
    """Return where a row whose keys begin at keys[row], none missing, goes from a node."""
    link = np.uint64(nodes.word[_TWO * node + _ONE])
    key = keys[row + (link & ((_ONE << nodes.column_bits) - _ONE))]
    right = np.uint64(key > nodes.word[_TWO * node])
    return node + (link >> (nodes.column_bits + _ONE)) + right


def by_missing(nodes: Any, values: Any, row: Any, node: Any) -> Any:
    """Return the same of rows of keys or values, some missing, which go left or right.

    Where they go left, one is added to key and cut: all ones become zero, which is below any cut.
    """
    cut, link = nodes.word[_TWO * node], np.uint64(nodes.word[_TWO * node + _ONE])
    key = unsigned_key(values[row + (link & ((_ONE << nodes.column_bits) - _ONE))], cut)
    left = (link >> nodes.column_bits) & _ONE
    right = ((np.uint64(key) + left) & np.uint64(nodes.no_value)) > np.uint64(cut) + left
    return node + (link >> (nodes.column_bits + _ONE)) + np.uint64(right)


def by_map(nodes: Any, values: Any, row: Any, node: Any) -> Any:
    """Return the same at nodes of any kind, where missing values may stay."""
    cut, link = nodes.word[_TWO * node], np.uint64(nodes.word[_TWO * node + _ONE])
    key = unsigned_key(values[row + (link & ((_ONE << nodes.column_bits) - _ONE))], cut)
    missing = key == nodes.no_value
    mapped = (nodes.kind[node] > 0) & (not missing)
    level = np.int64(number_of_key(key) if mapped else 0.0)
    place = np.uint64(mapped) * np.uint64(nodes.map_offset[node] + level + 1)
    branch, absent = np.int64(nodes.branch_map[place]), np.int64(nodes.missing_child[node])
    child = branch if mapped else np.int64(key > cut)
    child = absent if missing else child
    distance = np.int64(link >> (nodes.column_bits + _ONE))
    return node + np.uint64(distance + child if child >= 0 else 0)


def is_leaf(nodes: Any, values: Any, row: Any, node: Any) -> Any:
    """Tell whether a row stays at a node, where all go left or right."""
    return np.uint64(nodes.word[_TWO * node + _ONE]) >> (nodes.column_bits + _ONE) == 0


def stays(nodes: Any, values: Any, row: Any, node: Any) -> Any:
    """Tell whether a row stays at a node of any kind."""
    return by_map(nodes, values, row, node) == node


_ENDS = {by_number: is_leaf, by_missing: is_leaf, by_map: stays}


def _stretch(step: Callable[..., Any]) -> Any:
    """Compile what lets all rows of a list take some steps."""
    register_once(step, forceinline=True)

    @register_jitable
    @named_after(step)
    def stretch(node, row, values, nodes, steps):  # type: ignore[no-untyped-def]
        whole = node.size // TOGETHER * TOGETHER
        for i in range(0, whole, TOGETHER):
            r0, r1, r2, r3 = row[i], row[i + 1], row[i + 2], row[i + 3]
            r4, r5, r6, r7 = row[i + 4], row[i + 5], row[i + 6], row[i + 7]
            n0, n1, n2, n3 = node[i], node[i + 1], node[i + 2], node[i + 3]
            n4, n5, n6, n7 = node[i + 4], node[i + 5], node[i + 6], node[i + 7]
            for _ in range(steps):
                n0 = step(nodes, values, r0, n0)
                n1 = step(nodes, values, r1, n1)
                n2 = step(nodes, values, r2, n2)
                n3 = step(nodes, values, r3, n3)
                n4 = step(nodes, values, r4, n4)
                n5 = step(nodes, values, r5, n5)
                n6 = step(nodes, values, r6, n6)
                n7 = step(nodes, values, r7, n7)
            node[i], node[i + 1], node[i + 2], node[i + 3] = n0, n1, n2, n3
            node[i + 4], node[i + 5], node[i + 6], node[i + 7] = n4, n5, n6, n7
        for i in range(whole, node.size):
            for _ in range(steps):
                node[i] = step(nodes, values, row[i], node[i])

    return stretch


def _one_tree(step: Callable[..., Any], ends: Callable[..., Any]) -> Any:
    """Compile leaf (rows,) ← (few rows' values, one root and its first steps, nodes, lists)."""
    stretch = _stretch(step)
    register_once(ends, forceinline=True)

    @register_jitable
    @named_after(step, ends)
    def down(leaf, values, width, root, first, nodes, lists):  # type: ignore[no-untyped-def]
        node, row, number = lists
        for i in range(leaf.size):
            node[i], row[i], number[i] = root, i * width, i
        count, steps = leaf.size, first
        while count > 0:
            stretch(node[:count], row[:count], values, nodes, steps)
            left, steps = 0, STEPS
            for i in range(count):
                at = node[i]
                leaf[number[i]] = at
                moves = not ends(nodes, values, row[i], at)
                node[left], row[left], number[left] = at, row[i], number[i]
                left += moves
            count = left

    return down


@register_jitable
def _fetch(array: Any, begin: Any, end: Any) -> Any:
    """Read nodes in the order of memory, before rows ask for them here and there.

    A processor foresees what is asked for next, so that it comes many times as fast. Returns bits
    that someone has to take, or the compiler leaves it out.
    """
    seen = array[begin]
    for place in range(begin, end, LINE // array.itemsize):
        seen |= array[place]
    return seen


@functools.cache
def descent(step: Callable[..., Any]) -> Any:
    """Compile leaf (T, rows) int32 ← (keys or values C-contiguous, root, end, first (T,), nodes).

    end: behind each tree's last node; first: its first steps, −1 for trees that are left out. All
    that it calls are plain functions: those that are compiled by themselves have a number of their
    process, and no later one would find this.
    """
    register_once(by_map, forceinline=True)  # which `stays` asks
    ends = _ENDS[step]
    down = _one_tree(step, ends)

    @numba.njit(cache=True, nogil=True)
    @named_after(step, ends)
    def all_down(leaf, values, root, end, first, nodes):  # type: ignore[no-untyped-def]
        node, row = np.empty(ROWS, np.uint64), np.empty(ROWS, np.uint64)
        lists = (node, row, np.empty(ROWS, np.uint64))
        n_rows, width = values.shape
        for tree in range(root.size):
            if first[tree] < 0:
                continue
            if end[tree] - root[tree] <= FETCHED * n_rows:
                node[0] = _fetch(nodes.word, 2 * np.int64(root[tree]), 2 * end[tree])
            for begin in range(0, n_rows, ROWS):
                own = values[begin : begin + ROWS].reshape(-1)
                out = leaf[tree, begin : begin + ROWS]
                down(out, own, width, root[tree], first[tree], nodes, lists)

    return all_down
