"""joint: what each candidate is worth if all nodes of a level split by it.

    worth, size = joint(hist, total, learn, judge, shrink, one_hot, layout)

hist (L, G, B, S) int64 and total (L, S) int64 as in `scan`, with plane 0, no classes, and K outputs
from plane layout.first on. learn, judge (Q,) int64 NumPy: pairs of nodes that the candidates divide
at the same place, one after another. Candidate (way, b) sends codes 1 … b left and the rest right,
missing values right (way 0) or left (way 1); with `one_hot`, code b alone left, and there is but
way 0. With R the sums of an output and H the weight of a side, each side of each pair has

    v = R[learn] / (H[learn] + shrink), 0 where H[learn] is 0,
    worth = Σ over outputs of v R[judge],    size = Σ over outputs of v v H[judge].

Left and right side of a pair are added up before they are added to those of the pairs before.
Returns the sums over all pairs, each (G, 2, B) float64. worth is −inf where no judging node has
rows on both sides, for way 1 of features without missing rows, and at code 0 unless `one_hot`; size
is 0 there. The twin for CUDA returns them on the host, for one copy is faster than two.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.joint import reference

joint = Kernel(reference.joint, cpu="vtree_kernels.joint.cpu", cuda="vtree_kernels.joint.cuda")

__all__ = ["joint"]
