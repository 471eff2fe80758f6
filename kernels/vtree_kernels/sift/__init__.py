"""sift: rows in the order of every feature, sorted by child after a split, as `rows` already are.

    lines = line_up(codes, label, bits)

codes (N, G), at least 0, and label (N,), below 2^bits, code · 2^bits + label below 2^31. Returns
(G, N) int64: of each feature the elements (code · 2^bits + label) · 2^32 + row, ascending by code,
then by row.

    lines = sift(lines, rows, start, stop, n_children, lengths)

lines (G, R) int64: elements whose last 32 bits are a row number; rows (R,) int32; start, stop (L,):
the nodes that were split, whose rows and elements are rows[start[l] : stop[l]] and
lines[:, start[l] : stop[l]]; n_children (L,) and lengths (C,): the rows of each child, node after
node, which stand in this order in `rows`. Returns the lines with each node's elements sorted by
child, stably:

    node l   rows   c a | d b       child 0: a, c    child 1: b, d
             line   a b c d    →    a c | b d

`lines` that come in may be overwritten.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.sift import reference

line_up = Kernel(reference.line_up, cpu="vtree_kernels.sift.cpu")
sift = Kernel(reference.sift, cpu="vtree_kernels.sift.cpu")

__all__ = ["line_up", "sift"]
