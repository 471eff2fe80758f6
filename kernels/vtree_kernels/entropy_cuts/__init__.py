"""entropy_cuts: the cut of each (node, numeric feature) with the largest gain (Quinlan 1993).

    found = cuts(codes, rows, start, stop, label, weight, values, offsets, layout, unit, rule)

codes (N, G); rows, start, stop as for `histogram`; label (N, 1) int32, whose class is
label − (layout.first − layout.implied); weight (N,) int64 or None; values (V,) float64 what each
code stands for, ascending, code c of feature g at values[offsets[g] + c − 1]; offsets (G,) int64.
Weights count in units of `unit`. Rows with code 0 are left out: W is the weight of all rows of
the node, k that of the known ones, K = layout.classes.

A candidate cut parts neighbouring codes of the node whose values lie more than rule.gap apart,
with at least max(m, min(k / (10 K), 25)) on both sides, m = rule.min_weight. With
T(v) = S log2 S − Σ v_j log2 v_j, S = Σ v_j, over class weights,

    gain = k/W · (T(known) − (T(left) + T(right))) / k.

Only cuts between rows of different classes, the first and the last candidate can be the best
(Fayyad & Irani 1992); of these the first within 1e-12 of the largest gain is taken.

Returns `Cuts`: gain (L, G) float64, −inf without a candidate; tries (L, G) int64, the number of
candidates; bin and following (L, G) int32, the codes on both sides of the cut; left and known
(L, G, S) int64, statistics as `Layout` has them.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.entropy_cuts import reference
from vtree_kernels.entropy_cuts.reference import Cuts, Rule

cuts = Kernel(reference.cuts, cpu="vtree_kernels.entropy_cuts.cpu")

__all__ = ["Cuts", "Rule", "cuts"]
