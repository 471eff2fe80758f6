"""A CUDA platform on the host: the kernels compiled by g++, the arrays array-api-strict's.

    with emulated("backward"):
        there = on_device(codes)          # an array that the host cannot read, as CuPy's
        found = histogram(there, ...)     # the `cuda` twin, launcher and kernel
        to_host(found)
        DecisionTreeClassifier(device="cuda").fit(X, y)

Orders of threads and blocks: "forward", "backward", or a number, the seed of a drawn order. See
cuda_host.h for what the emulation refuses. Besides, each launch checks every argument against the
C type of its parameter, and that nothing was written beside any array that `Device` gave out;
arrays are given out full of rubbish.

How to write a kernel, its launcher and its test: README.md, here.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import subprocess
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree_kernels import _cuda, _dispatch

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build" / "cuda_host"
NUMBER = 1  # array-api-strict's device1
ORDERS: tuple[str | int, ...] = ("forward", "backward", 1, 2)
MOST_DOWN = 65_535  # blocks of a grid along y and z
GUARD, RUBBISH = 64, 0xA5  # bytes around each array, and what fills new ones

FLAGS = (
    *("-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-fPIC", "-shared", "-w"),
    *("-fno-exceptions", "-fno-asynchronous-unwind-tables"),  # a third of the time
)
_KERNEL = re.compile(
    r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+"
    r"(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)"
)
_DYNAMIC = re.compile(r"extern\s+__shared__\s+([\w ]+?)\s+(\w+)\[\];")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_int * 3),
        ("block", ctypes.c_int * 3),
        ("shared", ctypes.c_int),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_ulonglong),
    )


class HostError(RuntimeError):
    """A launch that CUDA would refuse, hang at, or leave undefined."""


class HostDevice:
    """A device of the host, see `vtree_kernels._cuda.Device`."""

    processors = 3

    def __init__(self, order: str | int = "forward", shared_bytes: int = 99 * 1024) -> None:
        self.order = order
        self.shared_bytes = shared_bytes
        self.launches: list[str] = []  # names of the kernels run so far
        self._memory: weakref.WeakSet[Any] = weakref.WeakSet()

    def _new(self, shape: _cuda.Extent, dtype: Any, byte: int) -> Any:
        own = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * own.itemsize
        memory = _Guarded(size + 2 * GUARD, np.uint8)
        memory[...] = RUBBISH
        memory[GUARD : GUARD + size] = byte
        self._memory.add(memory)
        inner = memory[GUARD : GUARD + size].view(own).reshape(shape)
        return strict(inner.view(np.ndarray))

    def empty(self, shape: _cuda.Extent, dtype: Any) -> Any:
        return self._new(shape, dtype, RUBBISH)

    def zeros(self, shape: _cuda.Extent, dtype: Any) -> Any:
        return self._new(shape, dtype, 0)

    def clear(self, array: Any) -> None:
        assert array._array.flags.c_contiguous
        array._array[...] = 0

    def pitched(self, rows: int, columns: int, dtype: Any) -> Any:
        return strict(self.empty((rows, _cuda.pitch(columns, dtype)), dtype)._array[:, :columns])

    def upload(self, values: NDArray[Any]) -> Any:
        array = self.empty(values.shape, values.dtype)
        array._array[...] = values
        return array

    def download(self, array: Any) -> NDArray[Any]:
        return np.array(array._array)

    def contiguous(self, array: Any) -> Any:
        return array if array._array.flags.c_contiguous else self.upload(array._array)

    def strides(self, array: Any) -> tuple[int, ...]:
        return tuple(step // array._array.itemsize for step in array._array.strides)

    def address(self, array: Any) -> int:
        return int(array._array.ctypes.data)

    def compiled(self, name: str, text: str, options: tuple[str, ...]) -> HostVariant:
        return HostVariant(self, *_library(name, text, options))

    def in_use(self) -> AbstractContextManager[None]:
        return nullcontext()

    def free_bytes(self) -> int:
        return 1 << 30

    def release(self) -> None:
        self.launches.append("release")

    def held(self) -> int:
        """Count the bytes of the arrays given out that are still alive."""
        return sum(memory.size - 2 * GUARD for memory in self._memory)

    def check_guards(self, kernel: str) -> None:
        for memory in self._memory:
            plain = memory.view(np.ndarray)
            if (plain[:GUARD] != RUBBISH).any() or (plain[-GUARD:] != RUBBISH).any():
                raise HostError(
                    f"{kernel} wrote beside an array of {memory.size - 2 * GUARD} bytes"
                )


class _Guarded(np.ndarray[Any, Any]):
    """Memory that a WeakSet takes: equal to itself alone."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return self is other


def strict(array: NDArray[Any]) -> Any:
    """Return `array` as one of array-api-strict on a device of its own, its memory shared."""
    import array_api_strict  # not above: what runs on a real device does without it

    place = array_api_strict.Device("device1")
    return array_api_strict.asarray(np.empty(0))._new(array, place)


class HostPlatform:
    """One device in place of all, see `vtree_kernels._cuda.CupyPlatform`."""

    def __init__(self, device: HostDevice) -> None:
        self.only = device

    def count(self) -> int:
        return NUMBER + 1

    def device(self, number: int) -> HostDevice:
        return self.only

    def owns(self, array: Any) -> bool:
        own = strict(np.empty(0))
        return isinstance(array, type(own)) and array.device == own.device

    def number_of(self, array: Any) -> int:
        assert self.owns(array), "an array of the host was given to a kernel of the device"
        return NUMBER


class HostVariant:
    """A compiled source, see `vtree_kernels._cuda.Variant`."""

    def __init__(
        self, device: HostDevice, library: ctypes.CDLL, parameters: dict[str, list[str]]
    ) -> None:
        self._device = device
        self._library = library
        self._parameters = parameters

    def launch(
        self,
        name: str,
        grid: _cuda.Extent,
        block: _cuda.Extent,
        *arguments: Any,
        shared: int = 0,
    ) -> None:
        self._device.launches.append(name)
        extents = _cuda._three(grid)
        if 0 in extents:
            return
        if shared > self._device.shared_bytes:
            raise HostError(f"{name} asks for {shared} bytes of shared memory")
        words = _words(name, self._parameters[name], arguments)
        how = _Launch(extents, _cuda._three(block), shared, *_order(self._device.order))
        pointers = [ctypes.cast(ctypes.pointer(word), ctypes.c_void_p) for word in words]
        run = self._library[f"run_{name}"]
        run.restype = ctypes.c_char_p
        answer = run(ctypes.byref(how), (ctypes.c_void_p * len(words))(*pointers), len(words))
        if answer is not None:
            raise HostError(f"{name}: {answer.decode()}")
        self._device.check_guards(name)


def _order(order: str | int) -> tuple[int, int]:
    return (2, order) if isinstance(order, int) else (("forward", "backward").index(order), 0)


def _words(name: str, parameters: list[str], arguments: tuple[Any, ...]) -> list[Any]:
    """Return the arguments as words of C, each held to the type of its parameter."""
    if len(parameters) != len(arguments):
        raise HostError(f"{name} takes {len(parameters)} arguments, got {len(arguments)}")
    words: list[Any] = []
    for parameter, value in zip(parameters, arguments, strict=True):
        pointer = parameter.endswith("*")
        wanted = parameter.rstrip("*").removeprefix("const ").strip()
        if isinstance(value, np.generic) and not pointer:
            given = _cuda.c_type(value.dtype)
            words.append(np.ctypeslib.as_ctypes_type(value.dtype.str)(value.item()))
        elif pointer and hasattr(value, "_array"):
            given = _cuda.c_type(value._array.dtype)
            words.append(ctypes.c_void_p(value._array.ctypes.data))
        else:
            raise HostError(f"{name}: parameter {parameter!r} cannot be a {type(value).__name__}")
        if wanted != given and wanted != "void" and not _alike(wanted, given):
            raise HostError(f"{name}: parameter {parameter!r} was given an array of {given}")
    return words


def _alike(wanted: str, given: str) -> bool:
    """Tell types that differ in their sign alone, and bool from the byte it is kept in."""
    plain = [each.removeprefix("unsigned ").removeprefix("signed ") for each in (wanted, given)]
    return plain[0] == plain[1] or set(plain) == {"bool", "char"}


@functools.cache
def _library(
    name: str, text: str, options: tuple[str, ...]
) -> tuple[ctypes.CDLL, dict[str, list[str]]]:
    """Compile a source for the host; returns (library, kernel → C types of its parameters)."""
    defines = tuple(option for option in options if option.startswith("-D"))
    kernels = dict(_KERNEL.findall(COMMENT.sub("", text)))
    body = _DYNAMIC.sub(r"\1 *\2 = static_cast<\1 *>(cuda_host::dynamic_shared());", text)
    entries = "".join(
        f'extern "C" const char *run_{kernel}(const cuda_host::Launch &how, void **a, int n)'
        f" {{ return cuda_host::launch({kernel}, how, a, n); }}\n"
        for kernel in kernels
    )
    header = (HERE / "cuda_host.h").read_text(encoding="utf-8")
    program = f'{header}\n#line 1 "{name}/cuda.cu"\n{body}\n{entries}'
    macros = {key: value for key, _, value in (each[2:].partition("=") for each in defines)}
    parameters = {
        kernel: [_type_of(each, macros) for each in listed.split(",") if each.strip()]
        for kernel, listed in kernels.items()
    }
    return ctypes.CDLL(str(_build(name, program, (*FLAGS, *defines)))), parameters


def _type_of(parameter: str, macros: dict[str, str]) -> str:
    """Return the type of a parameter like `const CODE *__restrict__ codes`, macros put in."""
    declared = parameter.replace("__restrict__", " ").replace("*", " * ")
    words = [macros.get(word, word) for word in declared.split()[:-1]]
    return " ".join(words).replace(" *", "*")


def _build(name: str, program: str, flags: tuple[str, ...]) -> Path:
    digest = hashlib.sha256("\0".join((program, *flags)).encode()).hexdigest()[:24]
    library = BUILD / f"{name}-{digest}.so"
    if not library.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        source = BUILD / f"{name}-{digest}-{os.getpid()}.cpp"
        source.write_text(program, encoding="utf-8")
        own = source.with_suffix(".so")
        run = subprocess.run(
            ["g++", *flags, str(source), "-o", str(own)], capture_output=True, text=True
        )
        if run.returncode:
            raise HostError(f"g++ refuses {name}:\n{run.stderr}")
        own.replace(library)  # two test workers may build the same one
        source.unlink()
    return library


@contextmanager
def emulated(order: str | int = "forward", **sizes: int) -> Iterator[HostDevice]:
    """Put a device that runs on the host in the place of CUDA's."""
    device = HostDevice(order, **sizes)
    twins = {"array_api_strict": "cuda"}
    with (
        mock.patch.object(_cuda, "platform", HostPlatform(device)),
        mock.patch.dict(_dispatch._TWIN_OF_MODULE, twins),
    ):
        yield device


def recorded_grids(patch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Run no kernel from now on, and return the list of grids that are asked for, all legal."""
    asked: list[tuple[int, ...]] = []

    def launch(own: HostVariant, name: str, grid: Any, block: Any, *rest: Any, **how: Any) -> None:
        asked.append(_cuda._three(grid))
        x, y, z = asked[-1]
        if x >= 2**31 or y > MOST_DOWN or z > MOST_DOWN:
            raise HostError(f"{name}: a grid of {asked[-1]} blocks")

    patch.setattr(HostVariant, "launch", launch)
    return asked


def on_device(values: Any) -> Any:
    """Bring NumPy arrays, alone or in a NamedTuple, to the device; leave anything else as it is."""
    if isinstance(values, tuple) and hasattr(values, "_make"):
        return values._make(map(on_device, values))
    return _cuda.platform.device(0).upload(values) if isinstance(values, np.ndarray) else values


def to_host(values: Any) -> Any:
    """Return an array of the device (or of the host) as NumPy."""
    if isinstance(values, np.ndarray):
        return values
    return _cuda.device_of(values).download(values)
