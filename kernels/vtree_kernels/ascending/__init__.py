"""ascending: the numbers of a column, sorted.

    numbers = ascending(x)

x (N,) float32 or float64. Returns those that are not NaN, of the same dtype, −0.0 as 0.0.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.ascending import reference

ascending = Kernel(reference.ascending, cpu="vtree_kernels.ascending.cpu")

__all__ = ["ascending"]
