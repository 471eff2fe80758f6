"""A sum over all that a model file holds, by which damage shows.

Checks of trees and headers find what cannot be walked on, not a threshold with another last digit.
The sum is against accidents: who makes up a model can make up its sum, too.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_sum(arrays: Mapping[str, NDArray[Any]], text: str) -> NDArray[np.uint32]:
    """Return the CRC-32, (), of a text and of arrays with their names, types and shapes.

    >>> int(check_sum({"a": np.zeros(2)}, "header"))
    1888801516
    """
    total = zlib.crc32(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        stored = np.ravel(array.astype(array.dtype.newbyteorder("<"), copy=False))
        total = zlib.crc32(f"{name} {stored.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(stored.view(np.uint8).data, total)
    return np.array(total, dtype=np.uint32)
