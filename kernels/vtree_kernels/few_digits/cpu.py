"""`few_digits` in Numba: one pass over the rows."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `choose`)
from vtree_kernels import _threads
from vtree_kernels._registered import register_jitable
from vtree_kernels.elementary import choose
from vtree_kernels.few_digits import reference
from vtree_kernels.few_digits.reference import Few, Scale

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

nearest = register_jitable(forceinline=True)(reference.nearest)
short = register_jitable(forceinline=True)(reference.short)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _fill(  # type: ignore[no-untyped-def]
    gradient, hessian, factors, downs, mosts, turn, whole, mass, sums, words, places, sizes
):
    """Fill what rows have; whole (2 R,): of one row after another."""
    steep, curved = factors
    down_g, down_h = downs
    most_g, most_h = mosts
    place_g, place_h = places
    up_g, up_h = 1.0 / down_g, 1.0 / down_h
    size_g, size_h, packed = np.int64(0), np.int64(0), words.size > 0
    for i in range(np.uint64(gradient.size)):
        g, h = gradient[i] * steep, hessian[i] * curved
        few_g, few_h = short(g, down_g, most_g, turn), short(h, down_h, most_h, turn)
        all_h, own_g, own_h = nearest(h), np.int64(few_g), np.int64(few_h)
        whole[np.uint64(2) * i] = np.int64(choose(all_h > 1.0, all_h, 1.0))
        whole[np.uint64(2) * i + np.uint64(1)] = np.int64(nearest(g))
        if packed:
            words[i] = np.int64(1) + (own_h << place_h) + (own_g << place_g)
        else:
            mass[i], sums[i] = np.int64(few_h * up_h), np.int64(few_g * up_g)
        size_g += abs(own_g)
        size_h += abs(own_h)
    sizes[0], sizes[1] = np.float64(size_g), np.float64(size_h)


def few_digits(
    gradient: Floats,
    hessian: Floats,
    weight: Integers | None,
    scales: tuple[Scale, Scale],
    turn: float,
    few: Few,
) -> tuple[float, float]:
    """Fill `few`; see the package for the contract."""
    sizes: list[Floats] = [np.zeros(2)]
    factors = tuple(scale.factor for scale in scales)
    downs = tuple(2.0**-scale.shift for scale in scales)
    mosts = tuple(scale.most for scale in scales)
    places = tuple(scale.place for scale in scales)

    def block(rows: slice) -> None:
        size, own = np.empty(2), few.of(rows)
        given = (gradient[rows], hessian[rows], factors, downs, mosts, turn)
        _fill(*given, own.whole.reshape(-1), *own[1:], places, size)
        sizes.append(size)
        if weight is not None:
            for column in (own.whole[:, 0], own.whole[:, 1], own.mass, own.sums):
                column *= weight[rows]

    _threads.run_blocks(block, gradient.size, each=10, times=4)
    steep, curved = np.sum(sizes, axis=0).tolist()
    return steep, curved
