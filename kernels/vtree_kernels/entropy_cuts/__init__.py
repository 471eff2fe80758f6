"""entropy_cuts: the cut of each (node, numeric feature) with the largest gain (Quinlan 1993).

    found = cuts(codes, rows, start, stop, label, weight, values, layout, unit, rule)

codes (N, G); rows, start, stop as for `histogram`; label (N, 1) int32, whose class is
label − (layout.first − layout.implied); weight (N,) int64 or None; values, G arrays of float64:
what the codes of a feature stand for, ascending, code c at place c − 1. Weights count in units of
`unit`. Rows with code 0 are left out: W is the weight of all rows of the node, k that of the known
ones, K = layout.classes.

A candidate cut parts neighbouring codes of the node whose values lie more than rule.gap apart,
with at least max(m, min(k / (10 K), 25)) on both sides, m = rule.min_weight. With
T(v) = S log2 S − Σ v_j log2 v_j, S = Σ v_j, over class weights,

    gain = k/W · (T(known) − (T(left) + T(right))) / k.

From the lowest cut to the highest, one takes the place of the best so far (at first: none, gain 0)
if it gains more than rule.margin more. Candidates amid rows of one class gain no more than the
candidates around those rows (Fayyad & Irani 1992), so most need not be judged.

Returns `Cuts`: gain (L, G) float64, −inf without a cut; tries (L, G) int64, the number of
candidates; bin and following (L, G) int32, the codes on both sides of the cut, 0 without; left and
known (L, G, S) int64, statistics as `Layout` has them.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.entropy_cuts import reference
from vtree_kernels.entropy_cuts.reference import Cuts, Rule

cuts = Kernel(reference.cuts, cpu="vtree_kernels.entropy_cuts.cpu")

__all__ = ["Cuts", "Rule", "cuts"]
