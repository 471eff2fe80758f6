"""Which memory an estimator works in: `device="auto" | "cpu" | "cuda" | "cuda:N"`."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np

from vtree import arrays
from vtree.arrays import Array
from vtree.errors import InputError, NotAvailableError
from vtree_kernels import mode

_DEVICES = re.compile(r"auto|cpu|cuda(:\d+)?")


def place(values: Array, device: str) -> Array:
    """Return `values` where the engine shall work on them.

    "auto" works where the data lies. On the host that is NumPy, whose kernels are compiled; under
    `vtree.kernels("reference")` any array keeps its own namespace instead.
    """
    if not isinstance(device, str) or not _DEVICES.fullmatch(device):
        raise InputError(
            f"device={device!r} is not one of 'auto', 'cpu', 'cuda' and 'cuda:N' (N a number)"
        )
    if device.startswith("cuda"):
        return _to_cuda(values, int(device.partition(":")[2] or 0))
    if mode() == "reference" and arrays.is_array(values):
        return values
    if device == "cpu" or not arrays.is_array(values) or arrays.on_host(values):
        return arrays.to_numpy(values)
    return values


def _to_cuda(values: Array, number: int) -> Array:
    try:
        cupy = importlib.import_module("cupy")
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # a broken driver raises errors of CuPy's own
        raise NotAvailableError(
            "device='cuda' needs CuPy and an NVIDIA GPU: install vtree[cuda12] or vtree[cuda13], "
            f"or use device='cpu', which gives the same model ({type(error).__name__}: {error})"
        ) from error
    if number >= count:
        raise NotAvailableError(f"device='cuda:{number}': this machine has {count} CUDA devices")
    with cupy.cuda.Device(number):
        return cupy.asarray(arrays.to_numpy(values) if arrays.is_numpy(values) else values)


def answer(values: np.ndarray[Any, Any], example: object) -> Array:
    """Return numbers in the namespace of the user's own array; labels of other kinds as NumPy."""
    if not arrays.is_array(example) or arrays.is_numpy(example) or values.dtype.kind not in "biuf":
        return values
    return arrays.like(values, example)
