"""The only door to array-api-compat: namespaces, devices, and moving between them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import array_api_compat
import numpy as np

from vtree_kernels._host import like, to_numpy

__all__ = [
    "Array",
    "at_home",
    "code_dtype",
    "detached",
    "device",
    "is_array",
    "is_numpy",
    "like",
    "namespace",
    "on_host",
    "to_numpy",
]

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


def code_dtype(n_codes: int, example: Array) -> Any:
    """Return the smallest integer dtype for codes below `n_codes` that the namespace computes in.

    PyTorch has uint16 in name only, so wide features take int32 there.
    """
    xp = namespace(example)
    if n_codes <= 256:
        return xp.uint8
    narrow = n_codes <= 65_536 and not array_api_compat.is_torch_namespace(xp)
    return xp.uint16 if narrow else xp.int32
