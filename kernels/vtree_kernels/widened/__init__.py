"""widened: floats as the array library can compute with them to the last bit.

    x = widened(x)

x (N,) float32 or float64. Returns x itself; on CUDA float32 as float64, for CuPy compiles array
expressions with -ftz=true, to which denormal floats are zeros, wherever they are computed with,
compared or converted.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.widened import reference

widened = Kernel(reference.widened, cuda="vtree_kernels.widened.cuda")

__all__ = ["widened"]
