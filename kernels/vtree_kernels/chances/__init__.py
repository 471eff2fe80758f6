"""chances: two numbers in [0, 1) for each row, drawn by the hash of its number.

    chances(chance, rounding, state)

chance, rounding (N,) float64, written to; state: uint64, the hash of what the draw is for. With
`mixing.next_state` and `mixing.share`,

    chance[i]   = share(next_state(state, i))
    rounding[i] = chance[i] × 2^24, less its whole part

The later digits know nothing of the first.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.chances import reference

chances = Kernel(reference.chances, cpu="vtree_kernels.chances.cpu")

__all__ = ["chances"]
