"""spread: add each leaf's value to the raw predictions of the rows it holds.

    spread(sums, rows, start, stop, value, number)

sums (N,) float64 in one piece, changed in place; rows (R,) int32, those of leaf l at
rows[start[l] : stop[l]]; start, stop (L,) int64 and value (L,) float64 NumPy:

    sums[row] += value[l]

number: what `numbered.row_segments` returned for the same leaves, None where nobody asked for it.
No two leaves hold the same row number, so each sum has one addition and no order matters.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.spread import reference

spread = Kernel(
    reference.spread,
    cpu="vtree_kernels.spread.cpu",
    cuda="vtree_kernels.spread.cuda",
)

__all__ = ["spread"]
