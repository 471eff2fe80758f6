"""`joint` in Numba: one pass over each (feature, pair of nodes)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._registered import register_jitable


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
        for s in range(n_statistics):
            own[0, s], own[1, s] = 0, cells[0, s]
            judged[0, s], judged[1, s] = 0, other[0, s]
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _add_single(  # type: ignore[no-untyped-def]  # noqa: PLR0915  (one compiled loop)
    worth, size, divided, hist, total, learn, judge, shrink, plane, g, lines
):
    """Do it for thresholds and one output, several candidates at a time.

    lines (5, B): the sums up to each code. Codes without rows have those of the code before.
    """
    weight, first, n_codes = plane[0], plane[1], hist.shape[2]
    ways = 2 if np.any(hist[:, g, 0, 0] > 0) else 1
    for q in range(learn.size):
        cells, other = hist[learn[q], g], hist[judge[q], g]
        w_all, s_all = total[learn[q], weight], total[learn[q], first]
        m_all, t_all = total[judge[q], weight], total[judge[q], first]
        n_all = total[judge[q], 0]
        if n_all == 0:
            continue  # nobody judges, and zeros change nothing
        n, w, s, m, t = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for b in range(1, n_codes):
            n, w, s = n + other[b, 0], w + cells[b, weight], s + cells[b, first]
            m, t = m + other[b, weight], t + other[b, first]
            lines[0, b], lines[1, b], lines[2, b], lines[3, b], lines[4, b] = n, w, s, m, t
        for way in range(ways):
            n, m, t = way * other[0, 0], way * other[0, weight], way * other[0, first]
            w, s = way * cells[0, weight], way * cells[0, first]
            for b in range(1, n_codes):
                w_left, s_left = lines[1, b] + w, lines[2, b] + s
                m_left, t_left = lines[3, b] + m, lines[4, b] + t
                w_right = w_all - w_left
                v_left = np.float64(s_left) / (np.float64(w_left) + shrink)
                v_right = np.float64(s_all - s_left) / (np.float64(w_right) + shrink)
                v_left = v_left if w_left > 0 else 0.0
                v_right = v_right if w_right > 0 else 0.0
                worth[way, b] += v_left * np.float64(t_left) + v_right * np.float64(t_all - t_left)
                size[way, b] += v_left * v_left * np.float64(m_left) + (
                    v_right * v_right * np.float64(m_all - m_left)
                )
            for b in range(1, n_codes):
                rows = lines[0, b] + n
                divided[way, b] |= (rows > 0) & (rows < n_all)


@numba.njit(cache=True, nogil=True)
def _add_features(  # type: ignore[no-untyped-def]
    worth, size, divided, hist, total, learn, judge, shrink, one_hot, plane, lines, first, last
):
    """Add up what the candidates of some features are worth."""
    for g in range(first, last):
        own = (worth[g], size[g], divided[g])
        if one_hot or plane[2] > 1:
            _add_feature(*own, hist, total, learn, judge, shrink, one_hot, plane, g)
        else:
            _add_single(*own, hist, total, learn, judge, shrink, plane, g, lines)


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
    n_features, n_codes = hist.shape[1], hist.shape[2]
    shape = (n_features, 2, n_codes)
    worth, size, divided = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    plane = (layout.weight, layout.first, layout.outputs)
    given = (worth, size, divided, hist, total, learn, judge, float(shrink), one_hot, plane)
    work = learn.size * n_features * n_codes * 8
    n_tasks = n_features if _threads.useful(work) > 1 else min(1, n_features)

    def features(index: int) -> None:
        first, last = index * n_features // n_tasks, (index + 1) * n_features // n_tasks
        _add_features(*given, np.empty((5, n_codes), np.int64), first, last)

    _threads.run(features, n_tasks, work=work)
    return np.where(divided, worth, -np.inf), np.where(divided, size, 0.0)
