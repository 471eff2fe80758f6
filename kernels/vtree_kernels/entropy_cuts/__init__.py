"""entropy_cuts: the cut of each (node, numeric feature) with the largest gain (Quinlan 1993).

    found = cuts(codes, rows, start, stop, label, weight, reach, layout, unit, rule, lines)

codes (N, G); rows, start, stop as for `histogram`; label (N, 1) int32, whose class is
label − (layout.first − layout.implied); weight (N,) int64 or None. Weights count in units of
`unit`. Rows with code 0 are left out: W is the weight of all rows of the node, k that of the known
ones, K = layout.classes.

reach, G of `Reach`: step (V,) uint8 or int32 holds for code c at place c − 1 by how much a code
must be larger for a cut to come between, span is the largest step.

lines (G, R) int64, or None: what may spare sorting, the rows in the order of each feature. For each
node lines[g, start[l] : stop[l]] holds (code · 2^b + class) · 2^32 + row, ascending by code, where
b is the bits of K − 1, at least one. Only where weight is None.

A candidate cut parts neighbouring codes of the node of which the second is so much larger, with at
least max(m, min(k / (10 K), 25)) on both sides, m = rule.min_weight. With
T(v) = S log2 S − Σ v_j log2 v_j, S = Σ v_j, over class weights,

    gain = k/W · (T(known) − (T(left) + T(right))) / k.

From the lowest cut to the highest, one takes the place of the best so far (at first: none, gain 0)
if it gains more than rule.margin more. Candidates amid rows of one class gain no more than the
candidates around those rows (Fayyad & Irani 1992), so most need not be judged.

Returns `Cuts`: gain (L, G) float64, −inf without a cut; tries (L, G) int64, the number of
candidates; bin and following (L, G) int32, the codes on both sides of the cut, 0 without; left and
known (L, G, S) int64, statistics as `Layout` has them.

    reach = reach_of(values, gap)

values (V,) float64, ascending: what codes 1 … V stand for. A cut may come between codes whose
values lie more than `gap` apart; with none of these behind it, a code's step is to V + 1. Steps are
uint8 if all are below 256.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.entropy_cuts import reference
from vtree_kernels.entropy_cuts.reference import Cuts, Reach, Rule

cuts = Kernel(
    reference.cuts,
    cpu="vtree_kernels.entropy_cuts.cpu",
    cuda="vtree_kernels.entropy_cuts.cuda",
)
reach_of = Kernel(reference.reach_of, cpu="vtree_kernels.entropy_cuts.cpu")

__all__ = ["Cuts", "Reach", "Rule", "cuts", "reach_of"]
