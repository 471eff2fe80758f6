"""isotonic: what each candidate is worth if answers must not fall along chains of leaves.

    worth, size = isotonic(hist, total, learn, judge, chain, direction, shrink, one_hot, layout)

As `joint`, of one output, for a level of which some features, or those above, are monotone. chain
(Q,) int64 NumPy: the chain of each pair of nodes, whose pairs follow one another in the order in
which answers must not fall. direction (G,) int8 NumPy: by a feature of direction 1 or −1, the sides
of a chain's pairs are one chain again, left before right or right before left in each pair; by one
of direction 0 the left sides are a chain, and the right ones another.

Along each chain the answers are the isotonic regression of R/(H + shrink) with weights H + shrink,
which is the best that a penalty of `shrink` allows: side after side comes in as a block of its own,
and takes in the block before as long as that answers as much or more. A block of n sides answers

    v = Σ R[learn] / (Σ H[learn] + n · shrink), 0 where Σ H[learn] is 0,
    worth = Σ over blocks of v Σ R[judge],    size = Σ over blocks of v v Σ H[judge],

chain after chain, left sides' before right sides'. Returns both, each (G, 2, B) float64, −inf and 0
where `joint` does. A thread of the twin for CUDA is a candidate; it returns them on the host.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.isotonic import reference

isotonic = Kernel(
    reference.isotonic, cpu="vtree_kernels.isotonic.cpu", cuda="vtree_kernels.isotonic.cuda"
)

__all__ = ["isotonic"]
