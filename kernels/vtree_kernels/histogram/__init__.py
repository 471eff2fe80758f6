"""histogram: statistics of each (node, feature, code).

    hist = histogram(codes, rows, start, stop, label, weight, sums, n_codes, n_statistics)

codes (N, G); rows (R,) int32 row numbers, those of node l at rows[start[l] : stop[l]]; start and
stop (L,) int64 NumPy. Each row adds to hist[l, g, codes[row, g], :] (L, G, B, S) int64:

    plane 0                      1
    plane 1                      weight[row]            if weight (N,) int64 is given
    plane label[row, o], each o  weight[row], or 1      label (N, O) int32, O = 0 for regression
    last J planes                sums[row, :]           sums (N, J) int64, J = 0 for classes

Sums are int64 and exact; the caller sees to it that they cannot overflow.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.histogram import reference

histogram = Kernel(reference.histogram, cpu="vtree_kernels.histogram.cpu")

__all__ = ["histogram"]
