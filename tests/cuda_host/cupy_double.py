"""A double of CuPy, as far as `vtree_kernels._cuda` uses it, whose kernels run on the host.

It stands in `sys.modules` under CuPy's name, so that the launcher's own way to CuPy is run too:
names, keywords and the order of calls are CuPy 14's. What it cannot tell is whether CuPy agrees.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from tests.cuda_host import emulation
from vtree_kernels import _cuda

OPT_IN = 96 * 1024  # bytes of shared memory
STATIC = 48 * 1024  # what a kernel gets that never asked for more


class Array(np.ndarray[Any, Any]):
    """An array of a device: `get` is the only way from it to NumPy, and NumPy's do not mix in."""

    __module__ = "cupy"
    home: Any = None  # its device

    def __array_finalize__(self, of: Any) -> None:
        self.home = getattr(of, "home", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        _refuse_numpy(inputs)
        plain = [each.view(np.ndarray) if isinstance(each, Array) else each for each in inputs]
        return getattr(ufunc, method)(*plain, **keywords).view(Array)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        raise TypeError(f"{function.__name__} of NumPy was given an array of CuPy")

    @property
    def device(self) -> Any:
        return self.home

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data, memset_async=self._memset_async)

    def _memset_async(self, value: int, size: int) -> None:
        assert self.flags.c_contiguous
        self.view(np.ndarray).reshape(-1).view(np.uint8)[:size] = value

    @property
    def _array(self) -> Any:
        return self.view(np.ndarray)

    def get(self, *, out: Any = None) -> Any:
        if out is None:
            return np.array(self.view(np.ndarray))
        if not (self.flags.c_contiguous and out.flags.c_contiguous and out.dtype == self.dtype):
            raise TypeError("CuPy copies memory as it lies")
        if out.shape != self.shape:
            raise ValueError("shapes differ")
        out[...] = self.view(np.ndarray)
        return out


def _refuse_numpy(values: Any) -> None:
    if any(isinstance(each, np.ndarray) and not isinstance(each, Array) for each in values):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")


class Double:
    """What tests may ask: the current device, the calls in their order."""

    def __init__(self, devices: int) -> None:
        self.devices = devices
        self.current = [0]
        self.calls: list[tuple[Any, ...]] = []

    def module(self) -> Any:
        """Return the module that is to be called cupy."""
        module: Any = ModuleType("cupy")
        module.ndarray = Array
        module.asarray = functools.partial(self._make, np.array)  # never the host's own memory
        for name in ("empty", "zeros"):
            setattr(module, name, functools.partial(self._make, getattr(np, name)))
        module.ascontiguousarray = self._contiguous
        module.RawModule = functools.partial(_Module, self)
        runtime = SimpleNamespace(
            getDeviceCount=lambda: self.devices,
            getDeviceProperties=lambda number: {
                "multiProcessorCount": 5,
                "sharedMemPerBlockOptin": OPT_IN,
                "name": b"double",
            },
            memGetInfo=lambda: (3000, 9000),
        )
        module.cuda = SimpleNamespace(runtime=runtime, Device=functools.partial(Device, self))
        pool = SimpleNamespace(
            free_bytes=lambda: 70, free_all_blocks=lambda: self.calls.append(("free",))
        )
        module.get_default_memory_pool = lambda: pool
        pinned = SimpleNamespace(free_all_blocks=lambda: self.calls.append(("free pinned",)))
        module.get_default_pinned_memory_pool = lambda: pinned
        return module

    def extension(self) -> Any:
        """Return the module that is to be called cupyx."""
        module: Any = ModuleType("cupyx")
        module.empty_pinned = self._pinned
        return module

    def _pinned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        self.calls.append(("pinned", shape))
        return np.empty(shape, dtype)

    def _contiguous(self, array: Array) -> Array:
        """Refuses NumPy arrays, as CuPy's does."""
        if not isinstance(array, Array):
            raise TypeError(f"Argument 'a' has incorrect type (got {type(array).__name__})")
        if array.flags.c_contiguous:
            return array
        return self._make(np.array, array.view(np.ndarray), order="C")

    def _make(self, make: Any, *arguments: Any, **keywords: Any) -> Array:
        array: Array = make(*arguments, **keywords).view(Array)
        array.home = Device(self, self.current[-1])
        return array


class Device:
    """A device, which is the current one inside `with`."""

    def __init__(self, double: Double, number: int = 0) -> None:
        self._double = double
        self.id = number

    def __enter__(self) -> None:
        self._double.current.append(self.id)

    def __exit__(self, *error: object) -> None:
        self._double.current.pop()


class _Module:
    def __init__(
        self, double: Double, *, code: str, options: tuple[str, ...], backend: str
    ) -> None:
        assert backend == "nvrtc"
        code.encode("ascii")  # CuPy writes it in the machine's own encoding
        self._double = double
        host = emulation.HostDevice("backward", shared_bytes=OPT_IN)
        self._variant = host.compiled("double", code, options)

    def get_function(self, name: str) -> _Kernel:
        self._double.calls.append(("get", name))
        return _Kernel(self._double, self._variant, name)


class _Kernel:
    shared_size_bytes = 1000

    def __init__(self, double: Double, variant: Any, name: str) -> None:
        self._double, self._variant, self._name = double, variant, name
        self.max_dynamic_shared_size_bytes = STATIC - self.shared_size_bytes

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: Any, *, shared_mem: int = 0
    ) -> None:
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise RuntimeError("CUDA_ERROR_INVALID_VALUE: too much shared memory")
        self._double.calls.append((self._name, self._double.current[-1], grid, block))
        self._variant.launch(self._name, grid, block, *args, shared=shared_mem)


@contextmanager
def cupy_double(devices: int = 2) -> Iterator[Double]:
    """Put the double in CuPy's place."""
    double = Double(devices)
    with (
        mock.patch.dict("sys.modules", cupy=double.module(), cupyx=double.extension()),
        mock.patch.object(_cuda, "platform", _cuda.CupyPlatform()),
    ):
        yield double
