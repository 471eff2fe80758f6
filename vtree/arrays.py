"""The only door to array-api-compat: namespaces, devices, and moving between them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import cuda

Array = Any  # anything with the array API


def is_array(value: object) -> bool:
    """Tell whether `value` is an array of a namespace that the array API covers."""
    return bool(array_api_compat.is_array_api_obj(value))


def is_numpy(value: object) -> bool:
    """Tell whether `value` is a NumPy array."""
    return isinstance(value, np.ndarray)


def namespace(*arrays: Array) -> Any:
    """Return the namespace that all of `arrays` belong to."""
    return array_api_compat.array_namespace(*arrays)


def device(array: Array) -> Any:
    """Return the device on which `array` lies."""
    return array_api_compat.device(array)


def on_host(array: Array) -> bool:
    """Tell whether the host can read `array` without a copy from an accelerator."""
    if isinstance(array, np.ndarray):
        return True
    place = str(device(array)).lower()
    return "cpu" in place or not any(
        name in place for name in ("cuda", "gpu", "mps", "xpu", "device(")
    )


def at_home(array: Array) -> AbstractContextManager[Any]:
    """Make the device of a CuPy array the current one, which is a matter of each thread."""
    if array_api_compat.is_cupy_array(array):
        device: AbstractContextManager[Any] = array.device
        return device
    return nullcontext()


def detached(array: Array) -> Array:
    """Return `array` without PyTorch's record of how it came to be; its memory is the same."""
    records = array_api_compat.is_torch_array(array) and array.requires_grad
    return array.detach() if records else array


def to_numpy(array: Array) -> NDArray[Any]:
    """Return `array` as a NumPy array, without a copy where memory can be shared."""
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    if is_array(array):
        return np.asarray(np.from_dlpack(array))
    return np.asarray(array)


def like(values: Any, example: Array, *, dtype: Any = None) -> Array:
    """Return `values` (a NumPy array or numbers) in the namespace and on the device of `example`.

    NumPy stays NumPy without a copy; elsewhere the values are copied, never shared. What lies on
    that device already is returned as it is.
    """
    gpu = cuda.owner(example)
    if gpu is not None and dtype is None and cuda.owner(values) is gpu:
        return values
    array = np.asarray(values, dtype=dtype)
    if is_numpy(example):
        return array
    if gpu is not None:  # it copies by itself
        return gpu.upload(array)
    xp = namespace(example)
    # A copy, for array libraries refuse or warn about read-only memory.
    return xp.asarray(np.array(array, copy=True, order="C"), device=device(example))


def code_dtype(n_codes: int, example: Array) -> Any:
    """Return the smallest integer dtype for codes below `n_codes` that the namespace computes in.

    PyTorch has uint16 in name only, so wide features take int32 there.
    """
    xp = namespace(example)
    if n_codes <= 256:
        return xp.uint8
    narrow = n_codes <= 65_536 and not array_api_compat.is_torch_namespace(xp)
    return xp.uint16 if narrow else xp.int32
