"""elementwise: a small arithmetic function of numbers, applied row by row to whole columns.

    results = elementwise(column, others, numbers, function, n_results)

column (N,) and each of the tuple `others` (N,), three at most: float64; numbers: a tuple of floats,
the same for all rows. Returns a tuple of `n_results` columns (N,) float64:

    results[0][i], results[1][i], … = function(column[i], *(o[i] for o in others), *numbers)

    results, reach = with_reach(column, others, numbers, function, n_results, before)

is the same of before + column[i], a number each, and says what no |result| is larger than: a float
for each column of results, NaN where there is one.

`function` is written once: + − × ÷, comparisons inside `choose`, and `vtree_kernels.elementary`; it
is called with whole columns and, compiled, with numbers. It returns a tuple. The native twins
compile it once per function, so its values must come in as `numbers` and not from its closure.
Of four numbers and less, that is: more are left to the reference on CUDA.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.elementwise import reference

elementwise = Kernel(
    reference.elementwise,
    cpu="vtree_kernels.elementwise.cpu",
    cuda="vtree_kernels.elementwise.cuda",
)

with_reach = Kernel(
    reference.with_reach,
    cpu="vtree_kernels.elementwise.cpu",
    cuda="vtree_kernels.elementwise.cuda",
)

__all__ = ["elementwise", "with_reach"]
