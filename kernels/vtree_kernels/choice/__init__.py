"""choice: of the best splits of all features, that of each node.

    chosen = choice(gain, best, total, size, is_categorical, worth, place)

gain (L, F) float64: what features gain, −∞ where one may not split the node; best: as `scan` finds
it for them, (L, F), and (L, F, S); total (L, S) int64: the nodes' statistics; size: the plane by
which one child is larger than the other; is_categorical (F,); worth (L, F): by what features are
compared if not by gain, None; place (L, F) int64: which of equally worthy ones comes first, None
where the lowest does.

Returns `Choice`. Rows without a value go where the node's own say, and where none lack it to the
larger child, the second one of equal ones.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.choice import reference
from vtree_kernels.choice.reference import Choice, missing_branch

choice = Kernel(reference.choice, cpu="vtree_kernels.choice.cpu")

__all__ = ["Choice", "choice", "missing_branch"]
