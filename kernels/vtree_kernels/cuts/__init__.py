"""cuts: how rows lie to thresholds of their node's own, in raw values instead of codes.

    least, greatest = extremes(values, rows, start, stop, wanted)
    hist = cut_sums(values, rows, start, stop, wanted, threshold, label, weight, sums,
                    n_statistics, counted)
    child = sides(values, rows, start, stop, feature, threshold, missing_child)

values (N, F) float, NaN for missing; rows (R,) int32, those of node l at rows[start[l] : stop[l]];
start, stop and all that has an axis of nodes are NumPy arrays. wanted (L, F) bool: the pairs of
node and feature that are looked at.

extremes: the least and the greatest value of each pair, each (L, F) float64 NumPy; ∞ and −∞ where
there is none or the pair is not wanted.

cut_sums: hist (L, F, 3, S), statistics as in `histogram`, of the rows whose value is missing (0),
at most threshold[l, f] (1), greater (2). Zeros where a pair is not wanted.

sides: (R,) uint8, for each position inside the segments the child it goes to: 0 where
values[row, feature[l]] <= threshold[l], 1 where greater, missing_child[l] where missing.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.cuts import reference

_TWINS = {"cpu": "vtree_kernels.cuts.cpu", "cuda": "vtree_kernels.cuts.cuda"}

extremes = Kernel(reference.extremes, **_TWINS)
cut_sums = Kernel(reference.cut_sums, **_TWINS)
sides = Kernel(reference.sides, **_TWINS)

__all__ = ["cut_sums", "extremes", "sides"]
