"""bincode: raw values to codes.

    codes = bincode(values, columns, edges, offsets, codes_dtype)

values (N, F) float32 or float64; columns (G,) the columns to encode; `edges` (E,) float64 holds
the ascending finite edges of each of the G features back to back, feature g's at
edges[offsets[g] : offsets[g + 1]]. Returns codes (N, G): 0 for NaN, else 1 + the number of edges
strictly below the value, so that a value equal to an edge falls below it. A float32 value is
compared as the float64 it equals.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.bincode import reference

bincode = Kernel(
    reference.bincode, cpu="vtree_kernels.bincode.cpu", cuda="vtree_kernels.bincode.cuda"
)

__all__ = ["bincode"]
