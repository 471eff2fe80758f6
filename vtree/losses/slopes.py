"""`Slopes`: first and second derivatives that are worked out when they are asked for.

Of many rows and several raw predictions they take more memory than the table, and each tree asks
for its own ones alone, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.losses.exact import reach_of

Floats = NDArray[np.float64]
Pair = tuple[Array, Array | None]  # float64, where the raw predictions lie


class Slopes(NamedTuple):
    """Derivatives of R rows by one raw prediction each.

    of: some of the rows → first and second derivatives; None where the latter are all one.
    reach: what neither is larger than, where that is known before they are worked out.
    held: whether they have been worked out already.
    """

    n_rows: int
    of: Callable[[slice], Pair]
    reach: tuple[float, float] | None = None
    held: bool = False

    def whole(self) -> Pair:
        """Return the derivatives of all rows."""
        return self.of(slice(0, self.n_rows))


def held(
    gradient: Array, hessian: Array | None, reach: tuple[float, float] | None = None
) -> Slopes:
    """Return those of columns (R,) that are there."""

    def of(rows: slice) -> Pair:
        return gradient[rows], None if hessian is None else hessian[rows]

    return Slopes(gradient.shape[0], of, reach, held=True)


def weighed(slopes: Slopes, curvature: float, factor: Array | None) -> Slopes:
    """Return the same with second derivatives times `curvature`, both times factor (R,)."""
    if curvature == 1.0 and factor is None:
        return slopes

    def of(rows: slice) -> Pair:
        gradient, hessian = slopes.of(rows)
        if hessian is not None and curvature != 1.0:
            hessian = hessian * curvature
        if factor is None:
            return gradient, hessian
        own = factor[rows]
        return gradient * own, own if hessian is None else hessian * own

    reach = slopes.reach
    if reach is not None:
        reach = None if factor is not None else (reach[0], reach[1] * curvature)
    return Slopes(slopes.n_rows, of, reach)


def first_order(slopes: Slopes) -> Slopes:
    """Return the same as if all second derivatives were one."""
    reach = None if slopes.reach is None else (slopes.reach[0], 1.0)
    return Slopes(slopes.n_rows, lambda rows: (slopes.of(rows)[0], None), reach)


def end_to_end(several: Sequence[Slopes]) -> Slopes:
    """Return those of rows one after another."""
    if len(several) == 1:
        return several[0]
    gradients, hessians = zip(*(each.whole() for each in several), strict=True)
    none = hessians[0] is None
    xp = arrays.namespace(gradients[0])
    return held(xp.concat(gradients), None if none else xp.concat(hessians))


def reach_of_slopes(several: Sequence[Slopes]) -> tuple[float, float]:
    """Return the largest first and second derivative of all, NaN if there is one."""
    found = np.max([each.reach or _looked_at(each) for each in several], axis=0)
    return float(found[0]), float(found[1])


def _looked_at(slopes: Slopes) -> tuple[float, float]:
    gradient, hessian = slopes.whole()
    return reach_of(gradient), 1.0 if hessian is None else reach_of(hessian)
