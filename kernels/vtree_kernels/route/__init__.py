"""route: sort each node's rows by the child they go to, keeping their order within a child.

    rows = route(rows, start, stop, codes, column, kind, bin, missing_child, map_offset,
                 branch_map, n_children, overwrite)

rows (R,) int32, node l's at rows[start[l] : stop[l]], start ascending; codes (N, G), in memory row
after row or column after column; the rest (L,) NumPy arrays: the column of the node's feature among
the G, and its rule:

    code 0                 → missing_child[l], in 0 … n_children − 1
    kind[l] == 0           → 0 if code <= bin[l] else 1
    kind[l] > 0            → branch_map[map_offset[l] + code]

Returns what `partition` does: new rows (R,), equal to the old ones outside the segments. With
`overwrite` (False) they may take the place of the old ones, which nobody reads any more.

    before  a b c d e f     children 0 1 0 0 1 1
    after   a c d b e f
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.route import reference

route = Kernel(reference.route, cpu="vtree_kernels.route.cpu", cuda="vtree_kernels.route.cuda")

__all__ = ["route"]
