"""`joint` in Numba: one pass over each (feature, pair of nodes)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from vtree_kernels import _threads


@register_jitable
def _side(own, own_total, judged, judged_total, left, plane, shrink):  # type: ignore[no-untyped-def]
    """Return (worth, size) of the left or the right side of a candidate."""
    weight_plane, first, outputs = plane
    weight, judged_weight = own[weight_plane], judged[weight_plane]
    if not left:
        weight = own_total[weight_plane] - weight
        judged_weight = judged_total[weight_plane] - judged_weight
    worth, size = 0.0, 0.0
    if weight <= 0:
        return worth, size
    whole, other = np.float64(weight) + shrink, np.float64(judged_weight)
    for k in range(first, first + outputs):
        sums, judged_sums = own[k], judged[k]
        if not left:
            sums, judged_sums = own_total[k] - sums, judged_total[k] - judged_sums
        v = np.float64(sums) / whole
        worth += v * np.float64(judged_sums)
        size += v * v * other
    return worth, size


@numba.njit(cache=True, nogil=True)
def _add_feature(  # type: ignore[no-untyped-def]  # noqa: C901  (one compiled loop)
    worth, size, divided, hist, total, learn, judge, shrink, one_hot, plane, g
):
    """Add up what the candidates of feature g are worth: worth, size, divided (2, B)."""
    n_codes, n_statistics = hist.shape[2], hist.shape[3]
    own = np.zeros((2, n_statistics), np.int64)  # codes 1 … b, and with those of code 0
    judged = np.zeros((2, n_statistics), np.int64)
    ways = 2 if not one_hot and np.any(hist[:, g, 0, 0] > 0) else 1
    for q in range(learn.size):
        cells, other = hist[learn[q], g], hist[judge[q], g]
        own_total, judged_total = total[learn[q]], total[judge[q]]
        own[0], own[1], judged[0], judged[1] = 0, cells[0], 0, other[0]
        alike = cells[0, 0] == 0 and other[0, 0] == 0
        here, length, both = np.zeros(2), np.zeros(2), np.zeros(2, np.bool_)
        for b in range(0 if one_hot else 1, n_codes):
            # Without a row the candidate is the one before.
            if b <= 1 or one_hot or cells[b, 0] > 0 or other[b, 0] > 0:
                for way in range(ways):
                    if way == 1 and alike:
                        here[1], length[1], both[1] = here[0], length[0], both[0]
                        continue
                    for s in range(n_statistics):
                        own[way, s] = cells[b, s] + (0 if one_hot else own[way, s])
                        judged[way, s] = other[b, s] + (0 if one_hot else judged[way, s])
                    a, c = own[way], judged[way]
                    left = _side(a, own_total, c, judged_total, True, plane, shrink)  # type: ignore[no-untyped-call]
                    right = _side(a, own_total, c, judged_total, False, plane, shrink)  # type: ignore[no-untyped-call]
                    here[way], length[way] = left[0] + right[0], left[1] + right[1]
                    both[way] = c[0] > 0 and judged_total[0] - c[0] > 0
            for way in range(ways):
                worth[way, b] += here[way]
                size[way, b] += length[way]
                divided[way, b] |= both[way]


@numba.njit(cache=True, nogil=True)
def _add_single(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0915  (one compiled loop)
    worth, size, divided, hist, total, learn, judge, shrink, plane, g
):
    """Do it for thresholds and one output, all in registers: 8 ns a candidate instead of 32."""
    weight, first = plane[0], plane[1]
    ways = 2 if np.any(hist[:, g, 0, 0] > 0) else 1
    here, length, both = np.zeros(2), np.zeros(2), np.zeros(2, np.bool_)
    for q in range(learn.size):
        cells, other = hist[learn[q], g], hist[judge[q], g]
        w_all, s_all = total[learn[q], weight], total[learn[q], first]
        m_all, t_all = total[judge[q], weight], total[judge[q], first]
        n_all = total[judge[q], 0]
        if n_all == 0:
            continue  # nobody judges, and zeros change nothing
        alike = cells[0, 0] == 0 and other[0, 0] == 0
        n, w, s, m, t = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for b in range(1, hist.shape[2]):
            # Without a row the candidate is the one before.
            if b == 1 or cells[b, 0] > 0 or other[b, 0] > 0:
                n, w, s = n + other[b, 0], w + cells[b, weight], s + cells[b, first]
                m, t = m + other[b, weight], t + other[b, first]
                for way in range(ways):
                    if way == 1 and alike:
                        here[1], length[1], both[1] = here[0], length[0], both[0]
                        continue
                    rows, w_left, s_left = n, w, s
                    m_left, t_left = m, t
                    if way == 1:
                        rows, w_left, s_left = (
                            n + other[0, 0],
                            w + cells[0, weight],
                            s + cells[0, first],
                        )
                        m_left, t_left = m + other[0, weight], t + other[0, first]
                    w_right = w_all - w_left
                    v_left, v_right = 0.0, 0.0
                    if w_left > 0:
                        v_left = np.float64(s_left) / (np.float64(w_left) + shrink)
                    if w_right > 0:
                        v_right = np.float64(s_all - s_left) / (np.float64(w_right) + shrink)
                    here[way] = v_left * np.float64(t_left) + v_right * np.float64(t_all - t_left)
                    length[way] = v_left * v_left * np.float64(m_left) + (
                        v_right * v_right * np.float64(m_all - m_left)
                    )
                    both[way] = 0 < rows < n_all
            for way in range(ways):
                worth[way, b] += here[way]
                size[way, b] += length[way]
                divided[way, b] |= both[way]


def joint(
    hist: NDArray[np.int64],
    total: NDArray[np.int64],
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    shrink: float,
    one_hot: bool,
    layout: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (worth, size), each (G, 2, B); see the package for the contract."""
    shape = (hist.shape[1], 2, hist.shape[2])
    worth, size, divided = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    plane = (layout.weight, layout.first, layout.outputs)

    def feature(g: int) -> None:
        given = (worth[g], size[g], divided[g], hist, total, learn, judge, float(shrink))
        if one_hot or layout.outputs > 1:
            _add_feature(*given, one_hot, plane, g)
        else:
            _add_single(*given, plane, g)

    work = learn.size * hist.shape[1] * hist.shape[2] * 8
    _threads.run(feature, hist.shape[1], work=work)
    return np.where(divided, worth, -np.inf), np.where(divided, size, 0.0)
