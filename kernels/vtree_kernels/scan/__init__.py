"""scan: the best split of each (node, feature) from its histogram.

    best = scan(hist, total, allowed, monotone, lower, upper, limits, gain, layout, derived)

hist (L, G, B, S) int64, code 0 for missing values, or int32 with S − 1 planes where plane 0, the
number of rows, is the sum of the first output's layout.classes planes; total (L, S) int64, each
node's own statistics. A candidate b, 1 <= b < B, sends codes 1 … b left and the rest right,
missing values right or left (both are tried where there are any). It is legal if

    a row with a value goes left (missing values alone form a right side, never a left one),
    both children have at least limits.min_rows rows (plane 0, never less than one)
        and at least limits.min_weight weight (plane layout.weight),
    allowed is None, or allowed[l, g] is 0 or equal to b (so that a drawn threshold is a scan with
        one candidate),
    and, where monotone (G,) is given and monotone[g] is not 0, the children's means of plane
        layout.ordered, center + scale * T(sum) / (weight + shrink) with sums drawn towards zero
        by layout.clip, lie within lower[l] … upper[l] (with layout.confined they are drawn back to
        these) and
        (mean_right − mean_left) * monotone[g] >= 0.

`gain(left, right, layout)` judges it, see `vtree.criteria`, layout.lower and layout.upper being the
node's bounds; lower and upper may be None for nodes without. The sides come as float64, exact below
2^53. A gain that is NaN, since what it is worked out from overflows, is no split. The largest gain
wins, then missing to the right, then the lowest b (scikit-learn's order).
With `derived` the last nodes' histograms are written first, as by `vtree_kernels.derive`: each when
it is about to be read, so that its cells come from near memory.
Returns `Best`, each (L, G): gain float64 (−inf: no legal split), bin int32, next int32 (the next
code after `bin` with rows in it, or 0), missing_left bool, missing int64 (rows with code 0),
varies bool (rows with at least two codes), and left (L, G, S) int64. The twin for
CUDA returns them on the host, in NumPy, for one copy is faster than seven.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.scan import reference
from vtree_kernels.scan.reference import Best, Layout, Limits, with_counts

scan = Kernel(reference.scan, cpu="vtree_kernels.scan.cpu", cuda="vtree_kernels.scan.cuda")

__all__ = ["Best", "Layout", "Limits", "scan", "with_counts"]
