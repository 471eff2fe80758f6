"""NVIDIA's run-time compiler, which needs no device: is a source CUDA C, on every architecture?"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from pathlib import Path
from typing import Any

# Turing, the oldest one that NVRTC 13 knows; Ampere, Hopper, Blackwell.
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")

# What CuPy 14 adds to the options of all that it compiles.
OF_CUPY = ("-ftz=true", "--device-as-default-execution-space")


class CompileError(ValueError):
    """What the compiler has against a source."""


@functools.cache
def _nvrtc() -> Any:
    spec = importlib.util.find_spec("nvidia")
    places = [] if spec is None else spec.submodule_search_locations or []
    found = [path for place in places for path in sorted(Path(place).glob("*/lib/libnvrtc.so.*"))]
    return ctypes.CDLL(str(found[0])) if found else None


def missing() -> str | None:
    """Say why nothing can be compiled here, or None where it can."""
    return None if _nvrtc() else "nvidia-cuda-nvrtc is not installed"


def compiled(text: str, options: tuple[str, ...], architecture: str) -> bytes:
    """Return machine code, or PTX for a virtual architecture ("compute_80").

    CompileError with the compiler's log, for warnings too, and for PTX that takes denormal floats
    for zero.
    """
    nvrtc, program = _nvrtc(), ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"cuda.cu", 0, None, None)
    try:
        listed = [
            each.encode() for each in (*options, *OF_CUPY, f"--gpu-architecture={architecture}")
        ]
        failed = nvrtc.nvrtcCompileProgram(
            program, len(listed), (ctypes.c_char_p * len(listed))(*listed)
        )
        log = _read(nvrtc, program, "ProgramLog").rstrip(b"\0").decode()
        if failed or log.strip():
            raise CompileError(log)
        if architecture.startswith("sm"):
            return _read(nvrtc, program, "CUBIN")
        code = _read(nvrtc, program, "PTX")
        if b".ftz" in code:
            raise CompileError("floats are computed with, compared or converted: see floats.cuh")
        return code
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _read(nvrtc: Any, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw
