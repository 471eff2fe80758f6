"""segment_quantiles: weighted quantiles of consecutive segments.

    quantiles = segment_quantiles(values, begin, weight, level)

values (N,) float64, neither NaN nor −0; begin (L,) int64 NumPy: where segments begin, ascending
from 0, none empty; weight (N,) int64, or None where all are one; level: one for all segments, or
(L,) float64 NumPy. Returns (L,) float64 where the values are: the least value of a segment with
`level` of its weight, or, where that share is reached exactly, halfway to the next larger one. Sums
of weights stay below 2^53.

There is no CUDA kernel: sorting is left to the array library.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.segment_quantiles import reference

segment_quantiles = Kernel(reference.segment_quantiles, cpu="vtree_kernels.segment_quantiles.cpu")

__all__ = ["segment_quantiles"]
