"""`chances` in Numba: one pass, several rows at a time."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads, mixing
from vtree_kernels._registered import register_jitable
from vtree_kernels.chances.reference import MORE

_next_state: Any = register_jitable(forceinline=True)(mixing.next_state)
_share: Any = register_jitable(forceinline=True)(mixing.share)


@numba.njit(cache=True, nogil=True)
def _fill(chance, rounding, state, first):  # type: ignore[no-untyped-def]
    for i in range(np.uint64(chance.size)):
        own = _share(_next_state(state, first + i))
        chance[i] = own
        own *= MORE
        rounding[i] = own - np.floor(own)


def chances(chance: NDArray[np.float64], rounding: NDArray[np.float64], state: np.uint64) -> None:
    """Fill both; see the package for the contract."""

    def block(rows: slice) -> None:
        _fill(chance[rows], rounding[rows], np.uint64(state), np.uint64(rows.start))

    _threads.run_blocks(block, chance.size, each=8)
