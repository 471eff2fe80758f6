"""numbered: rows that know the number of their segment, and what is added up and given back by it.

    number   1 2 0 1 0 2 2 0 1 0      of each row; L segments

`segment_numbers(rows, start, stop, n_rows)` returns the numbers (n_rows,) of rows (R,) int32 that
lie at rows[start[l] : stop[l]] for segment l, of rows in none L: unsigned, as short as they can be.

`row_segments(rows, start, stop, n_rows)` returns the same for loops that can pass over rows in turn
instead of segment after segment, or None where these take no longer: on devices, for few rows of
the table, or a small one.

`numbered_sums(number, n_segments, columns, weight, products)` returns (L, 2 + P) int64: how many
rows each segment has, what they weigh, and Σ of each column's whole numbers, P being 1 or 2. number
(N,): any integers; weight (N,) int64, or None where all are one. A `Column` has values (N,)
float64, a factor and a least number; row i's whole number, halves to even, is

    max(round(value × factor) × weight, least)     with `products`
    max(round(value × factor × weight), least)     otherwise

The caller sees to it that none of them and no sum reaches 2^63. Sums are exact in any order.

`numbered_add(sums, number, value)` changes sums (N, K) float64 in place, value (L, K):

    sums[i, k] += value[number[i], k]
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.numbered import reference
from vtree_kernels.numbered.reference import Column

_CPU = "vtree_kernels.numbered.cpu"

segment_numbers = Kernel(reference.segment_numbers, cpu=_CPU)
row_segments = Kernel(reference.row_segments, cpu=_CPU)
numbered_sums = Kernel(reference.numbered_sums, cpu=_CPU)
numbered_add = Kernel(reference.numbered_add, cpu=_CPU)

__all__ = ["Column", "numbered_add", "numbered_sums", "row_segments", "segment_numbers"]
