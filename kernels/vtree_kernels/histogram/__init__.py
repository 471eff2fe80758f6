"""histogram: statistics of each (node, feature, code).

    hist = histogram(codes, rows, start, stop, label, weight, sums, n_codes, n_statistics,
                     counted, compact, room)

codes (N, G); rows (R,) int32 row numbers, those of node l at rows[start[l] : stop[l]]; start and
stop (L,) int64 NumPy. Each row adds to hist[l, g, codes[row, g], :] (L, G, B, S):

    plane 0                      1                      if `counted`
    plane 1                      weight[row]            if weight (N,) int64, on the host
                                                or int32, is given
    plane label[row, o], each o  weight[row], or 1      label (N, O) int32, O = 0 for regression
    last J planes                sums[row, :]           sums (N, J) int64, J = 0 for classes

Class counts without weights need no plane 0, for the classes add up to it: then `counted` is False
and hist is int32; otherwise it is int64. Sums are exact; the caller sees to it that they cannot
overflow.

So many more nodes as `room` says follow the L built ones, whose cells are rubbish: histograms that
are derived from others, see `vtree_kernels.derive`.

`compact` is what `compacted(sums, weight, counted)` returned for the same statistics. It changes
nothing but what a twin reads: a tree whose histograms take many calls asks for it once. Where it is
`packed`, words hold all that rows have, and a twin that reads them needs neither `weight`, None,
nor sums, (N, 0).

    values = unpacked(compact, rows, counted)                  (P, n)  weight if any, then sums
    weight, sums = numbers_of(compact, rows)                   (n,) or None, (n, J)
    sums = packed_sums(rows, start, stop, compact, counted)    (L, P)  of rows[start[l] : stop[l]]
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.histogram import reference
from vtree_kernels.histogram.reference import Compact, numbers_of, packing, unpacked

histogram = Kernel(
    reference.histogram,
    cpu="vtree_kernels.histogram.cpu",
    cuda="vtree_kernels.histogram.cuda",
)

compacted = Kernel(reference.compacted, cpu="vtree_kernels.histogram.cpu")

packed_sums = Kernel(reference.packed_sums, cpu="vtree_kernels.histogram.packed")

__all__ = [
    "Compact",
    "compacted",
    "histogram",
    "numbers_of",
    "packed_sums",
    "packing",
    "unpacked",
]
