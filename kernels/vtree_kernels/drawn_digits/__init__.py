"""drawn_digits: drawn weights and weighted gradients as whole numbers of few digits.

    plane, sums, heaviest, steepest = drawn_digits(gradient, factor, rounding, weight, bits)

gradient (N, K), factor (N,), rounding (N,) float64; weight (N,) int64, or None where all are one;
bits: two numbers. With w = factor × weight, heaviest the largest w and steepest the largest
|gradient × w|, and with `unit_of` the power of two of which numbers up to a size are less than
2^bits,

    plane[i]   = floor(w / unit_of(heaviest, bits[0]) + rounding)
    sums[i, k] = floor(−(gradient × w) / unit_of(steepest, bits[1]) + rounding)

plane (N,), sums (N, K) int64. Where `steepest` is no finite number they say nothing.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.drawn_digits import reference
from vtree_kernels.drawn_digits.reference import unit_of

drawn_digits = Kernel(reference.drawn_digits, cpu="vtree_kernels.drawn_digits.cpu")

__all__ = ["drawn_digits", "unit_of"]
