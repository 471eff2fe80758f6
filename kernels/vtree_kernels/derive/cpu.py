"""`derive` in Numba: a loop over the cells of each node."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._registered import register_jitable
from vtree_kernels.derive.reference import Derived

Cells = tuple[NDArray[Any], ...]


@register_jitable
def less(cells: Any, whole: Any, other: Any) -> None:
    """Write the cells of one node in one feature."""
    for i in range(np.uint64(cells.size)):
        cells[i] = whole[i] - other[i]


@numba.njit(cache=True, nogil=True)
def _derive(cells, first_derived, parent, slot, built, sibling, first, last):  # type: ignore[no-untyped-def]
    for d in range(first, last):
        for g in range(cells.shape[1]):
            less(cells[first_derived + d, g], parent[slot[d], g], built[sibling[d], g])


def flat(hist: NDArray[Any]) -> NDArray[Any]:
    """Return a view (L, G, B · S) of histograms (L, G, B, S), so that loops over cells are one.

    Raises ValueError where it would be a copy, which is not what is to be written to.
    """
    if not hist.flags.c_contiguous:
        raise ValueError(f"histograms must be in C order, got strides {hist.strides}")
    n_nodes, n_features, n_codes, n_statistics = hist.shape
    return hist.reshape(n_nodes, n_features, n_codes * n_statistics)


def derive(hist: NDArray[Any], derived: Derived) -> None:
    """Write the histograms of the last D nodes; see the package for the contract."""
    number, cells = derived.slot.size, hist[0].size if hist.shape[0] else 0
    some = max(1, 100_000 // max(1, cells))  # nodes a task
    own, parent, built = flat(hist), flat(derived.parent), flat(derived.built)
    where, sibling = (parent, derived.slot), (built, derived.sibling)

    def nodes(index: int) -> None:
        last = min((index + 1) * some, number)
        _derive(own, hist.shape[0] - number, *where, *sibling, index * some, last)

    _threads.run(nodes, -(-number // some), work=number * cells // 4)
