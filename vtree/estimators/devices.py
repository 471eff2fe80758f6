"""Which memory an estimator works in: `device="auto" | "cpu" | "cuda" | "cuda:N"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from vtree import arrays
from vtree.arrays import Array
from vtree.errors import InputError, NotAvailableError
from vtree_kernels import cuda, mode

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
        return _to_cuda(values, _number(device))
    if mode() == "reference" and arrays.is_array(values):
        return values
    if device == "cpu" or not arrays.is_array(values) or arrays.on_host(values):
        return arrays.to_numpy(values)
    return values


@contextmanager
def working(device: str, X: object, *, release: bool = False) -> Iterator[None]:
    """Make the GPU that an estimator works on the current one, where it works on one.

    release: whether memory that no array holds at the end goes back to other programs.
    """
    own = None
    if isinstance(device, str) and re.fullmatch(r"cuda(:\d+)?", device):
        own = _cuda_device(_number(device))
    elif device == "auto":
        own = cuda.owner(X)
    if own is None:
        yield
        return
    with own.in_use():
        try:
            yield
        finally:
            if release:
                own.release()


def _number(device: str) -> int:
    return int(device.partition(":")[2] or 0)


def _to_cuda(values: Array, number: int) -> Array:
    own = _cuda_device(number)
    if arrays.is_array(values) and not arrays.on_host(values):
        return values if cuda.owner(values) is own else own.upload(values)
    return own.upload(np.ascontiguousarray(arrays.to_numpy(values)))


def _cuda_device(number: int) -> Any:
    try:
        count = cuda.count_devices()
    except Exception as error:  # a broken driver raises errors of CuPy's own
        raise NotAvailableError(
            "device='cuda' needs CuPy and an NVIDIA GPU: install vtree[cuda12] or vtree[cuda13], "
            f"or use device='cpu', which gives the same model ({type(error).__name__}: {error})"
        ) from error
    if number >= count:
        raise NotAvailableError(f"device='cuda:{number}': this machine has {count} CUDA devices")
    return cuda.device(number)


def answer(values: np.ndarray[Any, Any], example: object) -> Array:
    """Return numbers in the namespace of the user's own array; labels of other kinds as NumPy."""
    if not arrays.is_array(example) or arrays.is_numpy(example) or values.dtype.kind not in "biuf":
        return values
    return arrays.like(values, example)
