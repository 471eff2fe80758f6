"""The definition of `chances`; what is drawn for rows are NumPy arrays on every backend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.mixing import next_state, share

MORE = 2.0**24  # digits that `chance` has before those of `rounding`


def chances(chance: NDArray[np.float64], rounding: NDArray[np.float64], state: np.uint64) -> None:
    """Fill both; see the package for the contract."""
    with np.errstate(over="ignore"):
        chance[:] = share(next_state(np.asarray([state]), np.arange(chance.size, dtype=np.uint64)))
    scaled = chance * MORE
    rounding[:] = scaled - np.floor(scaled)
