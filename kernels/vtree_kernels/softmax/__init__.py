"""softmax: what the shares of K classes have in common, row by row, and how steep they are.

    found = softmax(sums, start, y)

sums (N, K) float64, each column in one piece (order="F"); start (K,) float64 NumPy; y (N,) float64,
the number of each row's class. With raw = start + sums:

    largest[i] = max over k of raw[i, k]
    total[i]   = Σ over k in ascending order of exp(raw[i, k] − largest[i])
    share      = exp(raw[i, k] − largest[i]) / total[i]
    steep      = max over i and k of |share − [y[i] = k]|
    curved     = max over i and k of share × (1 − share)

so that each class's shares, and the derivatives of the log-loss, follow from its own column. A
`Softmax`: largest, total (N,); steep, curved: floats, NaN where raw predictions are not finite.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.softmax import reference
from vtree_kernels.softmax.reference import Softmax

softmax = Kernel(
    reference.softmax, cpu="vtree_kernels.softmax.cpu", cuda="vtree_kernels.softmax.cuda"
)

__all__ = ["Softmax", "softmax"]
