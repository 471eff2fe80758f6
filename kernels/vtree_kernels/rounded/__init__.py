"""rounded: numbers of weighted rows as whole ones.

    whole = rounded(values, factor, weight, products, least)

values (N,) float64; factor: a power of two, maybe with a sign; weight (N,) int64, or None where all
are one; least: a whole number, or None. Returns whole (N,) int64 where the values are,

    round(value × factor) × weight     with `products`
    round(value × factor × weight)     otherwise

halves to even, and `least` in place of what is smaller. The caller sees to it that no number
reaches 2^63.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.rounded import reference

rounded = Kernel(
    reference.rounded, cpu="vtree_kernels.rounded.cpu", cuda="vtree_kernels.rounded.cuda"
)

__all__ = ["rounded"]
