"""whole_sum: a column of numbers added up as whole numbers, exact in any order.

`largest_size(values)` returns the largest |value| of values (N,) float64, 0 of none, NaN if there
is one. `whole_sum(values, factor, weight, products)` returns an integer, Σ over the rows of

    round(value × factor) × weight     with `products`
    round(value × factor × weight)     otherwise

halves to even; weight (N,) int64, or None where all are one. The caller sees to it that no sum
reaches 2^63.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.whole_sum import reference

largest_size = Kernel(
    reference.largest_size,
    cpu="vtree_kernels.whole_sum.cpu",
    cuda="vtree_kernels.whole_sum.cuda",
)
whole_sum = Kernel(
    reference.whole_sum,
    cpu="vtree_kernels.whole_sum.cpu",
    cuda="vtree_kernels.whole_sum.cuda",
)

__all__ = ["largest_size", "whole_sum"]
