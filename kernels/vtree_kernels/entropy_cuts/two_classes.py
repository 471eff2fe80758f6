"""The best cut of rows of two classes that weigh one each, without a look at most of the cuts.

T(left) + T(known − left) is concave in the counts l₀, l₁ of both classes on the left. Over a block
of rows these stay in a box, so nowhere in it is the sum below the least of the four corners. Where
not even a corner gains enough, as nearly everywhere, no cut in the block is judged.

    l₁  ┌────────── end of the block
        │      ╱──┘
        │   ╭──╯      one row after another
        start ─────── l₀
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from vtree_kernels._registered import register_jitable
from vtree_kernels.entropy_cuts.reference import SLACK

BLOCK = np.uint64(32)  # rows; measured from 8 to 32
_ONE = np.uint64(1)
SURELY = 1.0 - 1e-9  # leaves room for rounding where a bound saves the exact comparison
_ROUNDING = 1e-14  # of sums of a few entries of the table, as a share of the largest


@register_jitable
def least_weight(known_weight: float, classes: int, min_weight: float) -> float:
    """Return the least weight of both sides of a cut."""
    share = min(0.1 * known_weight / classes, 25.0)
    return (min_weight if share <= min_weight else share) * SLACK


@register_jitable
def _below(l0: Any, l1: Any, r0: Any, r1: Any, table: Any) -> Any:
    """Return T(left) + T(right) of counts of two classes."""
    left = table[l0 + l1] - (table[l0] + table[l1])
    return left + (table[r0 + r1] - (table[r0] + table[r1]))


@register_jitable
def _may_cut(keys: Any, i: Any, step: Any) -> bool:
    """Tell whether a cut may come between rows i and i + 1."""
    code = keys[i] >> 1
    apart: bool = (keys[i + _ONE] >> 1) - code >= step[np.uint64(code) - _ONE]
    return apart


@register_jitable
def _candidates(keys: Any, begin: Any, end: Any, reach: Any, near: Any) -> Any:
    """Count the cuts behind some rows; only codes near each other need a look at their steps."""
    step, span = reach
    far, same, size = 0, 0, np.uint64(0)
    for i in range(begin, end):
        distance = (keys[i + _ONE] >> 1) - (keys[i] >> 1)
        far += distance >= span
        same += distance == 0
    if far + same == end - begin:
        return far
    if 2 * far < end - begin:
        far = 0
        for i in range(begin, end):
            far += _may_cut(keys, i, step)
        return far
    for i in range(begin, end):  # without branches, for which ones are near is hard to predict
        distance = (keys[i + _ONE] >> 1) - (keys[i] >> 1)
        near[size] = i
        size += np.uint64(0 < distance < span)
    for k in range(size):
        far += _may_cut(keys, near[k], step)
    return far


@register_jitable
def _ones(keys: Any, begin: Any, end: Any) -> Any:
    """Count the rows of the second class."""
    count = np.uint64(0)
    for i in range(begin, end):
        count += np.uint64(keys[i] & 1)
    return count


@numba.njit(cache=True, nogil=True)
def cut_of_two(keys, reach, whole, rule, table, total, left, near):  # type: ignore[no-untyped-def]  # noqa: C901
    """Return (gain, tries, code, following code) of a node's best cut; codes are 0 without one.

    keys (R,): codes, ascending, with the class as their last bit; reach: (step, span) as in
    `Reach`; whole: the weight of the node; rule: (least weight, margin); table: x log2 x. Writes
    the rows of both classes, and of any: those known to total[0], those on the left to left[0].
    near (BLOCK,) uint64 is to work in.
    """
    # Indices are unsigned: signed ones may count from the end, which costs a choice at each.
    n, first = np.uint64(keys.size), np.uint64(0)
    while first < n and keys[first] < 2:
        first += _ONE
    known, k1 = n - first, _ones(keys, first, n)
    k0 = known - k1
    total[0, 0], total[0, 1], total[0, 2] = k0, k1, known
    min_weight, margin = rule
    least = np.uint64(max(1.0, np.ceil(least_weight(np.float64(known), 2, min_weight))))
    best, code, following, tries = -np.inf, 0, 0, 0
    if known < 2 * least:
        return best, tries, code, following
    base = table[known] - (table[k0] + table[k1])
    slack = table[known] * _ROUNDING
    bar = margin
    enough = whole * bar * SURELY
    begin, last = first + least - _ONE, first + known - least
    l1 = _ones(keys, first, begin)
    l0 = least - _ONE - l1
    while begin < last:
        end = min(begin + BLOCK, last)
        e1 = l1 + _ones(keys, begin, end)
        e0 = l0 + l1 + (end - begin) - e1
        tries += _candidates(keys, begin, end, reach, near)
        at_ends = min(
            _below(l0, l1, k0 - l0, k1 - l1, table), _below(e0, e1, k0 - e0, k1 - e1, table)
        )
        at_corners = min(
            _below(l0, e1, k0 - l0, k1 - e1, table), _below(e0, l1, k0 - e0, k1 - l1, table)
        )
        if base - min(at_ends, at_corners) >= enough - slack:
            for i in range(begin, end):
                own = np.uint64(keys[i] & 1)
                l0, l1 = l0 + (_ONE - own), l1 + own
                below = _below(l0, l1, k0 - l0, k1 - l1, table)
                if base - below >= enough and _may_cut(keys, i, reach[0]):
                    gain = known / whole * ((base - below) / known)
                    if gain > bar:
                        best, bar = gain, gain + margin
                        enough = whole * bar * SURELY
                        code, following = keys[i] >> 1, keys[i + _ONE] >> 1
                        left[0, 0], left[0, 1], left[0, 2] = l0, l1, l0 + l1
        begin, l0, l1 = end, e0, e1
    return best, tries, code, following
