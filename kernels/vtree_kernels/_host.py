"""Arrays to the host and back, for kernels whose results are asked for there."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _cuda


def to_numpy(array: Any) -> NDArray[Any]:
    """Return `array` as a NumPy array, without a copy where memory can be shared."""
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    if array_api_compat.is_array_api_obj(array):
        return np.asarray(np.from_dlpack(array))
    return np.asarray(array)


def like(values: Any, example: Any, *, dtype: Any = None) -> Any:
    """Return `values` (a NumPy array or numbers) in the namespace and on the device of `example`.

    NumPy stays NumPy without a copy; elsewhere the values are copied, never shared. What lies on
    that device already is returned as it is.
    """
    gpu = _cuda.owner(example)
    if gpu is not None and dtype is None and _cuda.owner(values) is gpu:
        return values
    array = np.asarray(values, dtype=dtype)
    if isinstance(example, np.ndarray):
        return array
    if gpu is not None:  # it copies by itself
        return gpu.upload(array)
    xp = array_api_compat.array_namespace(example)
    # A copy, for array libraries refuse or warn about read-only memory.
    return xp.asarray(
        np.array(array, copy=True, order="C"), device=array_api_compat.device(example)
    )
