"""segment_sums: whole numbers of the rows of some segments, added up.

    sums = segment_sums(values, rows, start, stop, number)

values (N, P) int32 or int64; rows (R,) int32, those of segment l at rows[start[l] : stop[l]];
start, stop (L,) int64 NumPy; number: what `numbered.row_segments` returned for the same segments,
or None. Returns sums (L, P) int64 where the values are:

    sums[l, p] = Σ values[row, p] over the rows of segment l

exact in any order. No two segments hold the same row; the caller sees to it that sums cannot
overflow.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.segment_sums import reference

segment_sums = Kernel(
    reference.segment_sums,
    cpu="vtree_kernels.segment_sums.cpu",
    cuda="vtree_kernels.segment_sums.cuda",
)

__all__ = ["segment_sums"]
