"""`breadth_first` in Numba: the order is its own queue."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels._pages import own_pages


@numba.njit(cache=True, nogil=True)
def _walk(order, first_child, n_children, root):  # type: ignore[no-untyped-def]
    found, next_out = 0, 0
    alike = n_children.size == 1
    for tree in range(root.size):
        order[found] = root[tree]
        found += 1
        while next_out < found:
            node = order[next_out]
            next_out += 1
            if first_child[node] >= 0:
                for child in range(n_children[0 if alike else node]):
                    order[found] = first_child[node] + child
                    found += 1
    return found


def breadth_first(
    first_child: NDArray[Any], n_children: NDArray[Any], root: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the nodes in order; see the package for the contract."""
    order = own_pages({"": ((first_child.size,), np.int64)})[""]  # there may be fewer
    return order[: _walk(order, first_child, n_children, root)]
