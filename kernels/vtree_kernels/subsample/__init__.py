"""subsample: a share of the rows, drawn by the hash of their numbers.

    rows, inside = subsample(example, state, n_rows, share)

example: an array; state: uint64, the hash of what the draw is for; n_rows at least 1; share in
(0, 1]. With `mixing.next_state` and `mixing.share`,

    chance[i] = share(next_state(state, i))
    inside[i] = chance[i] <= max(share, the least chance of all)
    rows      = the numbers i of those inside, ascending

rows (R,) int32, one at least; inside (N,) bool: in the namespace and on the device of `example`.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.subsample import reference

subsample = Kernel(
    reference.subsample, cpu="vtree_kernels.subsample.cpu", cuda="vtree_kernels.subsample.cuda"
)

__all__ = ["subsample"]
