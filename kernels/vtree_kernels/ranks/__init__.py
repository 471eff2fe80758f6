"""ranks: the distinct numbers of each column, and for each row which of them it has.

    codes, distinct = ranks(values, columns)

values (N, F) float32 or float64; columns, a list of G column numbers. Returns codes (G, N) int32,
0 for NaN and else 1 + the number of smaller distinct values, and a list of G arrays of float64, the
distinct values ascending. −0.0 counts as 0.0 and is returned as such.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.ranks import reference

ranks = Kernel(reference.ranks, cpu="vtree_kernels.ranks.cpu")

__all__ = ["ranks"]
