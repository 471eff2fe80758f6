"""few_digits: first and second derivatives as whole numbers, once in all digits and once in few.

    steep, curved = few_digits(gradient, hessian, weight, scales, turn, few)

gradient, hessian (N,) float64; weight (N,) int64, or None where all are one; `scales`: a `Scale`
each; turn: in [0, 1); few: a `Few`, written to. With w the weight and s the scale of either,

    whole[:, 0] = max(round(hessian × s.factor), 1) × w
    whole[:, 1] = round(gradient × s.factor) × w
    r           = value × s.factor / 2^s.shift, rounded, from −s.most to s.most
    short       = r × 2^s.shift × w
    words       = 1 + Σ r × 2^s.place

whole (N, 2): int32 without weights, int64 with them. The two of few digits are in the words (N,)
int64, what a row that weighs one adds to a cell of a histogram; where rows have weights, there are
no words, (0,), but `sums` of the gradient and `mass` of the hessian, (N,) int64 each, which are
(0,) otherwise. Rounding to few digits goes up or down, to either as
often as the value lies near it; which one follows from the value's own later digits and `turn`, so
that equal values stay equal, whatever their rows' numbers are. `steep` is Σ |r| of the gradient,
`curved` that of the hessian: whole numbers, exact in any order as long as they are below 2^53.
Rows may come block by block, as slices of `few`; then these add up.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.few_digits import reference
from vtree_kernels.few_digits.reference import Few, Scale

few_digits = Kernel(
    reference.few_digits,
    cpu="vtree_kernels.few_digits.cpu",
    cuda="vtree_kernels.few_digits.cuda",
)

__all__ = ["Few", "Scale", "few_digits"]
