"""`isotonic` in Numba: code after code of a feature, and all pairs for each."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._registered import register_jitable

# What is kept of a side: R and H of those that learn, R and H of those that judge, and their rows.
_SUMS, _WEIGHT, _TRIED, _MASS, _ROWS = range(5)


@register_jitable
def _taken_in(blocks, levels, top, side, shrink):  # type: ignore[no-untyped-def]
    """Bring a side in as a block; return how many there are then.

    blocks (2 Q, 4): sums of what is kept of sides; levels (2 Q, 2): answers, and how many sides.
    """
    sums, weight, tried, mass = side
    n_sides = 1.0
    value = np.float64(sums) / (np.float64(weight) + shrink) if weight > 0 else 0.0
    while top > 0 and levels[top - 1, 0] >= value:
        top -= 1
        sums, weight = sums + blocks[top, _SUMS], weight + blocks[top, _WEIGHT]
        tried, mass = tried + blocks[top, _TRIED], mass + blocks[top, _MASS]
        n_sides += levels[top, 1]
        below = np.float64(weight) + n_sides * shrink
        value = np.float64(sums) / below if weight > 0 else 0.0
    blocks[top, _SUMS], blocks[top, _WEIGHT] = sums, weight
    blocks[top, _TRIED], blocks[top, _MASS] = tried, mass
    levels[top, 0], levels[top, 1] = value, n_sides
    return top + 1


@register_jitable
def _side(left, whole, q, right):  # type: ignore[no-untyped-def]
    sums, weight = left[q, _SUMS], left[q, _WEIGHT]
    tried, mass = left[q, _TRIED], left[q, _MASS]
    if right:
        sums, weight = whole[q, _SUMS] - sums, whole[q, _WEIGHT] - weight
        tried, mass = whole[q, _TRIED] - tried, whole[q, _MASS] - mass
    return sums, weight, tried, mass


@register_jitable
def _candidate(left, whole, chain, direction, shrink, blocks, levels):  # type: ignore[no-untyped-def]
    """Return (worth, size) of a candidate that sends left (Q, 5) of whole (Q, 5) to the left."""
    worth, size, first = 0.0, 0.0, 0
    while first < chain.size:
        last = first + 1
        while last < chain.size and chain[last] == chain[first]:
            last += 1
        for turn in range(1 if direction else 2):
            top = 0
            for q in range(first, last):
                right = direction < 0 if direction else turn == 1
                side = _side(left, whole, q, right)  # type: ignore[no-untyped-call]
                top = _taken_in(blocks, levels, top, side, shrink)  # type: ignore[no-untyped-call]
                if direction:
                    side = _side(left, whole, q, not right)  # type: ignore[no-untyped-call]
                    top = _taken_in(blocks, levels, top, side, shrink)  # type: ignore[no-untyped-call]
            for block in range(top):
                v = levels[block, 0]
                worth += v * np.float64(blocks[block, _TRIED])
                size += v * v * np.float64(blocks[block, _MASS])
        first = last
    return worth, size


@register_jitable
def _planes(cells, judged, plane, out, q, add):  # type: ignore[no-untyped-def]
    """Write what is kept of a pair's cells to out[q], or add it there."""
    weight, first = plane
    kept = (cells[first], cells[weight], judged[first], judged[weight], judged[0])
    for place in range(5):
        out[q, place] = kept[place] + (out[q, place] if add else 0)


@register_jitable
def _divides(left, missing, whole, way, sent):  # type: ignore[no-untyped-def]
    """Write what a candidate sends left, with missing values by way 1; tell if that divides any."""
    divided = False
    for q in range(left.shape[0]):
        for place in range(5):
            sent[q, place] = left[q, place] + way * missing[q, place]
        divided |= 0 < sent[q, _ROWS] < whole[q, _ROWS]
    return divided


@numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
def _write_feature(  # type: ignore[no-untyped-def]  # noqa: C901  (one compiled loop)
    worth, size, hist, total, pairs, direction, shrink, one_hot, plane, g, sides, blocks, levels
):
    """Write what the candidates of feature g are worth, (2, B) each; sides (4, Q, 5): room."""
    learn, judge, chain = pairs
    whole, missing, left, sent = sides[0], sides[1], sides[2], sides[3]
    absent = False
    for node in range(hist.shape[0]):
        absent |= hist[node, g, 0, 0] > 0
    for q in range(learn.size):
        _planes(total[learn[q]], total[judge[q]], plane, whole, q, False)  # type: ignore[no-untyped-call]
        _planes(hist[learn[q], g, 0], hist[judge[q], g, 0], plane, missing, q, False)  # type: ignore[no-untyped-call]
    for b in range(0 if one_hot else 1, hist.shape[2]):
        some = b <= 1 or one_hot
        for q in range(learn.size):
            cells, judged = hist[learn[q], g, b], hist[judge[q], g, b]
            some |= cells[0] > 0 or judged[0] > 0
            _planes(cells, judged, plane, left, q, b > 1 and not one_hot)  # type: ignore[no-untyped-call]
        for way in range(2 if absent and not one_hot else 1):
            if not some:  # the candidate before
                worth[way, b], size[way, b] = worth[way, b - 1], size[way, b - 1]
            elif _divides(left, missing, whole, way, sent):  # type: ignore[no-untyped-call]
                own = (chain, direction, shrink, blocks, levels)
                worth[way, b], size[way, b] = _candidate(sent, whole, *own)  # type: ignore[no-untyped-call]


def isotonic(
    hist: NDArray[np.int64],
    total: NDArray[np.int64],
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    chain: NDArray[np.int64],
    direction: NDArray[np.int8],
    shrink: float,
    one_hot: bool,
    layout: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (worth, size), each (G, 2, B); see the package for the contract."""
    n_features, n_codes = hist.shape[1], hist.shape[2]
    shape = (n_features, 2, n_codes)
    worth, size = np.full(shape, -np.inf), np.zeros(shape)
    given, plane = (hist, total, (learn, judge, chain)), (layout.weight, layout.first)

    def feature(g: int) -> None:
        own = (int(direction[g]), float(shrink), one_hot, plane, g)
        room = [np.empty((4, learn.size, 5), np.int64), np.empty((2 * learn.size, 4), np.int64)]
        answers = np.empty((2 * learn.size, 2))
        _write_feature(worth[g], size[g], *given, *own, *room, answers)

    _threads.run(feature, n_features, work=learn.size * n_features * n_codes * 32)
    return worth, size
