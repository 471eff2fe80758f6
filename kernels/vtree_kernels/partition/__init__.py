"""partition: sort each node's rows by a child number given row by row, keeping their order.

    rows = partition(rows, start, stop, child, n_children)

rows (R,) int32, node l's at rows[start[l] : stop[l]], start ascending (NumPy arrays); child (R,)
uint8, the child in 0 … n_children − 1 of the row at each position, read inside the segments only;
for `route`, the native twins take uint16, too.

Returns new rows (R,), equal to the old ones outside the segments. A last child may stand for "stays
at the node": those rows come last. `route` is this after a look at the codes.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.partition import reference

partition = Kernel(
    reference.partition,
    cpu="vtree_kernels.partition.cpu",
    cuda="vtree_kernels.partition.cuda",
)

__all__ = ["partition"]
