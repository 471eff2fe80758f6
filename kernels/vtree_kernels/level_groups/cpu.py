"""`level_groups` in Numba: problems in parallel; logarithms of pairs are the only costly thing."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._registered import register_jitable
from vtree_kernels.entropy_cuts.cpu import information, x_log_x
from vtree_kernels.entropy_cuts.reference import SLACK
from vtree_kernels.level_groups.reference import EPSILON, RARE, RISE, TIE, LevelGroups

# Of a problem: classes (G, K), sizes, T and x log x of the sizes of its groups, each (G,).


@register_jitable
def _gain(sums: Any, below: float, filled: int) -> float:
    base, known, _, whole = sums
    gain: float = known / whole * ((base - below) / known) if filled >= 2 else -EPSILON
    return gain


@register_jitable
def _worth(gain: float, info: float, by_ratio: bool) -> float:
    if by_ratio:
        return gain / info if gain >= EPSILON and info > EPSILON else -EPSILON
    return gain if info > 0.0 and gain > -EPSILON else -EPSILON


@register_jitable
def _judge(groups: Any, n: int, sums: Any, least: float) -> tuple[float, float]:
    _, sizes, each, logs = groups
    below, all_logs, filled, total = 0.0, x_log_x(sums[2]), 0, sums[2]
    for g in range(n):
        below += each[g]
        all_logs += logs[g]
        total += sizes[g]
        filled += sizes[g] >= least
    return _gain(sums, below, filled), (x_log_x(total) - all_logs) / sums[3]


@register_jitable
def _set(groups: Any, place: int, own: Any) -> None:
    classes, sizes, each, logs = groups
    for k in range(own.size):
        classes[place, k] = own[k]
    sizes[place] = own.sum()
    each[place] = information(own)
    logs[place] = x_log_x(sizes[place])


@register_jitable
def _join(groups: Any, n: int, first: int, second: int, group: Any) -> int:
    classes = groups[0]
    _set(groups, first, classes[first] + classes[second])
    _set(groups, second, classes[n - 1].copy())
    for v in range(group.size):
        if group[v] == second:
            group[v] = first
        elif group[v] == n - 1:
            group[v] = second
    return n - 1


@register_jitable
def _only_class(own: Any) -> int:
    found = -1
    for k in range(own.size):
        if own[k] > 0.0:
            if found >= 0:
                return -1
            found = k
    return found


@register_jitable
def _join_pure(groups: Any, n: int, group: Any) -> int:
    classes, first = groups[0], 0
    while first < n - 1:
        own, second = _only_class(classes[first]), first + 1
        while own >= 0 and second < n:
            if _only_class(classes[second]) == own:
                n = _join(groups, n, first, second, group)
            else:
                second += 1
        first += 1
    return n


@numba.njit(cache=True, nogil=True)
def _best_pair(groups, n, sums, least, by_ratio, half):  # type: ignore[no-untyped-def]  # noqa: C901
    """Return (first, second, gain, info, worth, whether it must be) of the pair to join."""
    classes, sizes, each, logs = groups
    filled, large, barred = 0, 0, 0
    below, all_logs, total = 0.0, x_log_x(sums[2]), sums[2]
    for g in range(n):
        filled += sizes[g] >= least
        large += sizes[g] >= SLACK
        barred = g if sizes[g] > sizes[barred] else barred
        below += each[g]
        all_logs += logs[g]
        total += sizes[g]
    barred = barred if filled < 3 else -1
    forced, all_info = not by_ratio or filled < 2, x_log_x(total)
    best = (-1, -1)
    best_gain, best_info, best_value = -EPSILON, 0.0, 0.0
    for a in range(n - 1):
        for b in range(a + 1, n):
            if barred in (a, b):
                continue
            both = sizes[a] + sizes[b]
            own = large - (sizes[a] >= SLACK) - (sizes[b] >= SLACK) + (both >= SLACK)
            joined = information(classes[a] + classes[b])
            gain = _gain(sums, ((below - each[a]) - each[b]) + joined, own)
            info = (all_info - (((all_logs - logs[a]) - logs[b]) + x_log_x(both))) / sums[3]
            value = _worth(gain, info, by_ratio)
            keeps_half = gain >= half and half > best_gain
            if keeps_half or value >= best_value - TIE or (best[0] < 0 and forced):
                best = (a, b)
                best_gain, best_info, best_value = gain, info, value
    return best, best_gain, best_info, best_value, forced


@numba.njit(cache=True, nogil=True)
def _merge(classes, missing, least, by_ratio, group, groups):  # type: ignore[no-untyped-def]
    """Fill group (V,); return (count, gain or −∞, info) of one problem with known rows."""
    n_levels = classes.shape[0]
    whole_classes = np.zeros(classes.shape[1])
    for v in range(n_levels):
        whole_classes += classes[v]
        _set(groups, v, classes[v])
    known = whole_classes.sum()
    sums = (information(whole_classes), known, missing, missing + known)
    gain, info = _judge(groups, n_levels, sums, SLACK)
    n = 0
    for v in range(n_levels):
        group[v] = -1
        if classes[v].sum() > RARE:
            group[v] = n
            _set(groups, n, classes[v])
            n += 1
    some_rare, before = n < n_levels, n
    n = _join_pure(groups, n, group)
    if n < before:
        gain, info = _judge(groups, n, sums, SLACK)
    value, half = _worth(gain, info, by_ratio), gain / 2.0
    while n > 2:
        best, own_gain, own_info, own_value, forced = _best_pair(
            groups, n, sums, least, by_ratio, half
        )
        if not forced and (best[0] < 0 or own_value < value + RISE):
            break
        gain, info, value = own_gain, own_info, own_value
        n = _join(groups, n, best[0], best[1], group)
    for v in range(n_levels):
        group[v] = n if group[v] < 0 else group[v]
    gain, _ = _judge(groups, n, sums, least)
    passes = value > 0.0 and gain > -EPSILON
    return n + some_rare, gain if passes else -np.inf, info


@numba.njit(cache=True, nogil=True)
def _merge_all(classes, missing, least, by_ratio, begin, end, group, count, gain, info):  # type: ignore[no-untyped-def]
    n_levels, n_classes = classes.shape[1:]
    own = (np.empty((n_levels, n_classes)), np.empty(n_levels), np.empty(n_levels),
           np.empty(n_levels))  # fmt: skip
    for p in range(begin, end):
        if classes[p].sum() > 0.0:
            count[p], gain[p], info[p] = _merge(
                classes[p], missing[p], least, by_ratio, group[p], own
            )


def level_groups(
    classes: NDArray[np.float64], missing: NDArray[np.float64], min_weight: float, by_ratio: bool
) -> LevelGroups:
    """Return what `LevelGroups` holds; see the package for the contract."""
    n, n_levels = classes.shape[:2]
    found = LevelGroups(
        np.zeros((n, n_levels), dtype=np.int32), np.zeros(n, dtype=np.int64), np.full(n, -np.inf),
        np.zeros(n),
    )  # fmt: skip
    step = max(1, 4096 // max(1, n_levels * n_levels))

    def task(index: int) -> None:
        begin, end = index * step, min((index + 1) * step, n)
        _merge_all(classes, missing, min_weight * SLACK, by_ratio, begin, end, *found)

    _threads.run(task, -(-n // step), work=n * n_levels * n_levels * 10)
    return found
