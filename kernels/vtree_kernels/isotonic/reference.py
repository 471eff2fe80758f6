"""The definition of `isotonic` over the array API: one feature and one side after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray


def isotonic(
    hist: Any,
    total: Any,
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    chain: NDArray[np.int64],
    direction: NDArray[np.int8],
    shrink: float,
    one_hot: bool,
    layout: Any,
) -> tuple[Any, Any]:
    """Return (worth, size), each (G, 2, B); see the package for the contract."""
    xp, place = array_namespace(hist), device(hist)
    shape = (hist.shape[1], 2, hist.shape[2])
    none = xp.zeros(shape, dtype=xp.float64, device=place)
    if learn.size == 0 or shape[0] == 0:
        return none - float("inf"), none
    codes = xp.arange(shape[2], dtype=xp.int64, device=place)[None, :]
    way = xp.asarray([0, 1], dtype=xp.int64, device=place)[:, None]
    worths, sizes = [], []
    for g, own in enumerate(direction.tolist()):
        sides, divided = _sides(hist[:, g, ...], total, learn, judge, one_hot, layout)
        worth, size = none[0, ...], none[0, ...]
        for places in _chains(chain, own):
            here = _pooled([sides[q][side] for q, side in places], shrink)
            for value, tried, mass in here:
                worth, size = worth + value * tried, size + value * value * mass
        absent = xp.any(hist[:, g, 0, 0] > 0)
        possible = (way == 0) if one_hot else (codes > 0) & ((way == 0) | absent)
        possible = divided & possible
        worths.append(xp.where(possible, worth, -float("inf")))
        sizes.append(xp.where(possible, size, 0.0))
    return xp.stack(worths), xp.stack(sizes)


def _chains(chain: NDArray[np.int64], direction: int) -> list[list[tuple[int, int]]]:
    """Return chains of (pair, side), side 0 being the left one."""
    found = []
    for pairs in np.split(np.arange(chain.size), np.flatnonzero(np.diff(chain)) + 1):
        if direction == 0:
            found += [[(q, side) for q in pairs.tolist()] for side in (0, 1)]
        else:
            both = (0, 1) if direction > 0 else (1, 0)
            found.append([(q, side) for q in pairs.tolist() for side in both])
    return found


def _sides(
    hist: Any,
    total: Any,
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    one_hot: bool,
    layout: Any,
) -> tuple[list[tuple[Any, Any]], Any]:
    """Return ((left, right) of each pair, whether some judging node is divided (2, B)).

    hist (L, B, S). A side: R and H of those that learn, 1, R and H of those that judge, (5, 2, B).
    """
    xp = array_namespace(hist)
    sides = []
    divided: Any = False
    for q, j in zip(learn.tolist(), judge.tolist(), strict=True):
        nodes = [(_left(hist[node, ...], one_hot), total[node, :]) for node in (q, j)]
        both = []
        for right in (False, True):
            own, judged = (whole - left if right else left for left, whole in nodes)
            planes = [own[..., layout.first], own[..., layout.weight]]
            planes += [xp.ones_like(planes[0])]
            planes += [judged[..., layout.first], judged[..., layout.weight]]
            both.append((xp.stack(planes), judged[..., 0]))
        divided = divided | ((both[0][1] > 0) & (both[1][1] > 0))
        sides.append((both[0][0], both[1][0]))
    return sides, divided


def _left(hist: Any, one_hot: bool) -> Any:
    """Return what candidates send left, (2, B, S), in a node (B, S)."""
    xp = array_namespace(hist)
    if one_hot:
        return xp.stack([hist, hist])
    with_missing = xp.cumulative_sum(hist, axis=0, dtype=xp.int64)
    return xp.stack([with_missing - hist[:1, :], with_missing])


def _value(block: Any, shrink: float) -> Any:
    """Return what blocks (5, 2, B) answer, (2, B)."""
    xp = array_namespace(block)
    sums, weight, n_sides = (xp.astype(block[plane, ...], xp.float64) for plane in range(3))
    filled = weight > 0.0
    below = xp.where(filled, weight + n_sides * shrink, 1.0)
    return xp.where(filled, sums / below, 0.0)


def _pooled(sides: list[Any], shrink: float) -> list[tuple[Any, Any, Any]]:
    """Return (v, Σ R[judge], Σ H[judge]) of the blocks of a chain, zeros where there are fewer."""
    xp = array_namespace(sides[0])
    stack = xp.zeros((len(sides), *sides[0].shape), dtype=xp.int64, device=device(sides[0]))
    level = xp.arange(len(sides), dtype=xp.int64, device=device(stack))[:, None, None]
    top = xp.zeros(sides[0].shape[1:], dtype=xp.int64, device=device(stack))
    for block in sides:
        while True:
            below = xp.sum(xp.where((level == top - 1)[:, None, ...], stack, 0), axis=0)
            takes = (top > 0) & (_value(below, shrink) >= _value(block, shrink))
            if not xp.any(takes):
                break
            block = xp.where(takes, block + below, block)
            top = top - xp.astype(takes, xp.int64)
        stack = xp.where((level == top)[:, None, ...], block, stack)
        top = top + 1
    stack = xp.where((level < top)[:, None, ...], stack, 0)
    return [
        (
            _value(stack[place, ...], shrink),
            xp.astype(stack[place, 3, ...], xp.float64),
            xp.astype(stack[place, 4, ...], xp.float64),
        )
        for place in range(len(sides))
    ]
