"""differ: which nodes hold rows of different targets.

    several = differ(rows, start, stop, identity)

rows (R,) int32, those of node l at rows[start[l] : stop[l]]; start, stop (L,) int64 NumPy; identity
(N, O) float64, never NaN, equal exactly where targets are. Returns (L,) bool: whether any two rows
of the node differ in any output. Comparing stops at the first difference, so that only nodes
of equal targets are read as a whole.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.differ import reference

differ = Kernel(reference.differ, cpu="vtree_kernels.differ.cpu", cuda="vtree_kernels.differ.cuda")

__all__ = ["differ"]
