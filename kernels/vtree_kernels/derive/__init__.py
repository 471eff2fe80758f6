"""derive: histograms of larger siblings, which are their parents' less the smaller ones'.

    derive(hist, derived)

hist (L, G, B, S) int32 or int64 in C order, written to: of its last D nodes, node d becomes
derived.parent[derived.slot[d]] less derived.built[derived.sibling[d]]. No node of `built` is among
these D; it may be the memory of which `hist` is a part. Integers make the difference exact.

`scan` does the same by itself with each histogram that it is about to read.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.derive import reference
from vtree_kernels.derive.reference import Derived

derive = Kernel(reference.derive, cpu="vtree_kernels.derive.cpu", cuda="vtree_kernels.derive.cuda")

__all__ = ["Derived", "derive"]
