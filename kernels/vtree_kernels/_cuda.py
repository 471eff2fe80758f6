"""The way to a CUDA device: sources, compiled kernels, memory. The only importer of CuPy.

A kernel's CUDA C stands beside its launcher, `<kernel>/cuda.cu`, as plain `extern "C"` functions:

    _program = Program("histogram")
    ...
    here = device_of(codes)
    out = here.zeros((n_nodes, n_codes), np.int64)
    variant = _program.on(here, CODE="unsigned char", PLANES=3)
    variant.launch("count", blocks, 256, codes, out, np.int32(n_nodes), shared=n_bytes)

Arguments are arrays on the device and NumPy scalars of exactly the C types. Tests put a platform in
CuPy's place that runs the same sources on the host.
"""

from __future__ import annotations

import functools
import importlib
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

Extent = int | tuple[int, ...]

_PACKAGE = Path(__file__).parent
_INCLUDE = re.compile(r'^#include "([\w/]+\.cuh)"$', re.MULTILINE)

# Bytes; a sector of memory, so that 32 codes of a row are one access and words are aligned.
PITCH = 32

# Bytes that the host reads by way of pinned memory, which the device writes without a copy between
# and CuPy keeps for the next read: what a level tells is far less, whole tables stay out of it.
_PINNED = 2**20

# Gains are compared to the last bit with the host's, so a product is rounded before it is added.
OPTIONS = ("--std=c++17", "-fmad=false")


class Variant(Protocol):
    """The kernels of one source, compiled with one set of macros."""

    def launch(
        self, name: str, grid: Extent, block: Extent, *arguments: Any, shared: int = 0
    ) -> None:
        """Run kernel `name` with `shared` bytes of dynamic shared memory; an empty grid is none."""


class Device(Protocol):
    """One device: its sizes, its memory and its compiler."""

    processors: int  # streaming multiprocessors
    shared_bytes: int  # the most shared memory of a block

    def empty(self, shape: Extent, dtype: Any) -> Any:
        """Return an array of rubbish."""

    def zeros(self, shape: Extent, dtype: Any) -> Any:
        """Return an array of zeros."""

    def clear(self, array: Any) -> None:
        """Set an array in C order, or the first part of one, to zeros."""

    def pitched(self, rows: int, columns: int, dtype: Any) -> Any:
        """Return rubbish (rows, columns), rows `PITCH` bytes or a multiple of it apart."""

    def upload(self, values: Any) -> Any:
        """Copy a NumPy array, or another library's array of the same device, to the device.

        NumPy's comes in C order, whatever its own is. Nothing waits for the copy.
        """

    def download(self, array: Any) -> Any:
        """Copy an array to the host, as NumPy; waits for the kernels that fill it."""

    def contiguous(self, array: Any) -> Any:
        """Return `array` in C order, itself if it is so."""

    def strides(self, array: Any) -> tuple[int, ...]:
        """Return the steps of `array` along its axes, in elements."""

    def address(self, array: Any) -> int:
        """Return where `array` begins."""

    def compiled(self, name: str, text: str, options: tuple[str, ...]) -> Variant:
        """Compile a source."""

    def in_use(self) -> AbstractContextManager[Any]:
        """Make this the device that the array library works on, inside."""

    def free_bytes(self) -> int:
        """Count the bytes that could still be taken."""

    def release(self) -> None:
        """Give memory that no array holds back to other programs."""


class Program:
    """The CUDA C of one kernel package, compiled once for each device and set of macros."""

    def __init__(self, package: str) -> None:
        self.package = package
        self._variants: dict[Any, Variant] = {}

    def on(self, device: Device, prelude: str = "", **macros: Any) -> Variant:
        """Return the kernels compiled for `device` with -D macros.

        prelude: generated CUDA C in front of the file's own.
        """
        key = (device, prelude, *sorted(macros.items()))
        if key not in self._variants:
            text = source_of(self.package, prelude)
            defined = tuple(f"-D{name}={value}" for name, value in sorted(macros.items()))
            self._variants[key] = device.compiled(self.package, text, (*OPTIONS, *defined))
        return self._variants[key]


@functools.cache
def source_of(package: str, prelude: str = "") -> str:
    """Return `prelude` and the CUDA C of a package, headers put in."""
    return joined(prelude + (_PACKAGE / package / "cuda.cu").read_text(encoding="utf-8"))


def joined(text: str) -> str:
    """Return CUDA C with its headers put in.

    CuPy's cache of compiled kernels goes by the text it is given: a header that it had to look for
    could change unnoticed.
    """
    done: set[str] = set()
    while found := _INCLUDE.search(text):
        name = found[1]
        header = "" if name in done else (_PACKAGE / name).read_text(encoding="utf-8")
        done.add(name)
        text = f"{text[: found.start()]}{header}{text[found.end() :]}"
    return text


class _CupyVariant:
    def __init__(self, module: Any, device: _CupyDevice) -> None:
        self._module = module
        self._device = device
        self._functions: dict[str, Any] = {}

    def launch(
        self, name: str, grid: Extent, block: Extent, *arguments: Any, shared: int = 0
    ) -> None:
        extents = _three(grid)
        if 0 in extents:
            return
        with self._device.in_use():
            self._function(name)(extents, _three(block), arguments, shared_mem=shared)

    def _function(self, name: str) -> Any:
        if name not in self._functions:
            function = self._module.get_function(name)
            # Once, for it waits for the device. What a kernel declares itself counts too.
            most = self._device.shared_bytes - function.shared_size_bytes
            function.max_dynamic_shared_size_bytes = most
            self._functions[name] = function
        return self._functions[name]


class _CupyDevice:
    def __init__(self, number: int) -> None:
        self._cupy = importlib.import_module("cupy")
        self._number = number
        properties = self._cupy.cuda.runtime.getDeviceProperties(number)
        self.processors = int(properties["multiProcessorCount"])
        self.shared_bytes = int(properties["sharedMemPerBlockOptin"])

    def empty(self, shape: Extent, dtype: Any) -> Any:
        with self.in_use():
            return self._cupy.empty(shape, dtype=dtype)

    def zeros(self, shape: Extent, dtype: Any) -> Any:
        with self.in_use():
            return self._cupy.zeros(shape, dtype=dtype)

    def clear(self, array: Any) -> None:
        with self.in_use():
            array.data.memset_async(0, array.nbytes)

    def pitched(self, rows: int, columns: int, dtype: Any) -> Any:
        return self.empty((rows, pitch(columns, dtype)), dtype)[:, :columns]

    def upload(self, values: Any) -> Any:
        with self.in_use():
            return self._cupy.asarray(values, order="C")  # else columns stay columns

    def download(self, array: Any) -> Any:
        if not 0 < array.nbytes <= _PINNED:
            return array.get()
        pinned = importlib.import_module("cupyx").empty_pinned(array.shape, array.dtype)
        return self.contiguous(array).get(out=pinned)

    def contiguous(self, array: Any) -> Any:
        with self.in_use():
            return self._cupy.ascontiguousarray(array)

    def strides(self, array: Any) -> tuple[int, ...]:
        return tuple(step // array.itemsize for step in array.strides)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def compiled(self, name: str, text: str, options: tuple[str, ...]) -> Variant:
        # CuPy writes the text to a file, in whatever encoding the machine prefers, and Windows' has
        # no ∞ or −. Comments alone have such characters.
        plain = text.encode("ascii", "replace").decode()
        module = self._cupy.RawModule(code=plain, options=options, backend="nvrtc")
        return _CupyVariant(module, self)

    def in_use(self) -> AbstractContextManager[Any]:
        device: AbstractContextManager[Any] = self._cupy.cuda.Device(self._number)
        return device

    def free_bytes(self) -> int:
        with self.in_use():
            free, _ = self._cupy.cuda.runtime.memGetInfo()
            return int(free) + int(self._cupy.get_default_memory_pool().free_bytes())

    def release(self) -> None:
        with self.in_use():
            self._cupy.get_default_memory_pool().free_all_blocks()
            self._cupy.get_default_pinned_memory_pool().free_all_blocks()


class CupyPlatform:
    """All CUDA devices of this machine, by way of CuPy."""

    def count(self) -> int:
        """Count the devices; raises whatever is wrong with CuPy or the driver."""
        return int(importlib.import_module("cupy").cuda.runtime.getDeviceCount())

    @functools.cache  # noqa: B019  (there is one platform in a process)
    def device(self, number: int) -> Device:
        """Return a device by its number."""
        return _CupyDevice(number)

    def owns(self, array: Any) -> bool:
        """Tell whether `array` lies on one of the devices."""
        return type(array).__module__.partition(".")[0] == "cupy"

    def number_of(self, array: Any) -> int:
        """Return the number of the device where `array` lies."""
        return int(array.device.id)


# Tests put devices that run on the host in its place.
platform: Any = CupyPlatform()


def device_of(array: Any) -> Device:
    """Return the device where `array` lies."""
    device: Device = platform.device(platform.number_of(array))
    return device


def count_devices() -> int:
    """Count the CUDA devices; raises whatever is wrong with CuPy or the driver."""
    return int(platform.count())


def device(number: int) -> Device:
    """Return a device by its number."""
    found: Device = platform.device(number)
    return found


def owner(array: Any) -> Device | None:
    """Return the CUDA device where `array` lies, or None if it lies elsewhere."""
    return device_of(array) if platform.owns(array) else None


def _three(extent: Extent) -> tuple[int, int, int]:
    extents = (extent,) if isinstance(extent, int) else tuple(int(each) for each in extent)
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z


def blocks_for(work: int, each: int, most: int = 2**31 - 1) -> int:
    """Return how many blocks of `each` items cover `work`, at most `most`."""
    return min(-(-work // each), most)


def pitch(columns: int, dtype: Any) -> int:
    """Return how many elements apart rows of `columns` elements are kept, see `PITCH`."""
    each: int = PITCH // np.dtype(dtype).itemsize
    return max(1, -(-columns // each)) * each


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return NumPy's dtype for that of any array library, by its name."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        found = np.dtype(str(dtype).rpartition(".")[2])
    return found


def c_type(dtype: Any) -> str:
    """Return the C type of a dtype."""
    return _C_TYPES[numpy_dtype(dtype).name]


_C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
