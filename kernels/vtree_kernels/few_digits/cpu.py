"""`few_digits` in Numba: one pass over the rows."""

from __future__ import annotations

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `choose`)
from vtree_kernels import _threads
from vtree_kernels.few_digits import reference
from vtree_kernels.few_digits.reference import Few, Scale

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

nearest = register_jitable(forceinline=True)(reference.nearest)
short = register_jitable(forceinline=True)(reference.short)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _fill(  # type: ignore[no-untyped-def]
    gradient, hessian, factors, downs, mosts, turn, whole, mass, sums, sizes
):
    steep, curved = factors
    down_g, down_h = downs
    most_g, most_h = mosts
    up_g, up_h = 1.0 / down_g, 1.0 / down_h
    for i in range(gradient.size):
        g, h = gradient[i] * steep, hessian[i] * curved
        few_g, few_h = short(g, down_g, most_g, turn), short(h, down_h, most_h, turn)
        whole[i, 0] = np.int64(max(nearest(h), 1.0))
        whole[i, 1] = np.int64(nearest(g))
        mass[i] = np.int64(few_h * up_h)
        sums[i] = np.int64(few_g * up_g)
    # Apart and of whole numbers, for these are worked out several at a time.
    size_g, size_h = np.int64(0), np.int64(0)
    for i in range(gradient.size):
        size_g += abs(sums[i])
        size_h += abs(mass[i])
    sizes[0], sizes[1] = np.float64(size_g) * down_g, np.float64(size_h) * down_h


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

    def block(rows: slice) -> None:
        size, own = np.empty(2), few.of(rows)
        _fill(gradient[rows], hessian[rows], factors, downs, mosts, turn, *own, size)
        sizes.append(size)
        if weight is not None:
            for column in (own.whole[:, 0], own.whole[:, 1], own.mass, own.sums):
                column *= weight[rows]

    _threads.run_blocks(block, gradient.size, each=10)
    steep, curved = np.sum(sizes, axis=0).tolist()
    return steep, curved
