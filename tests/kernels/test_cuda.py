"""The sources compile for every architecture, and the emulation catches what it says it does."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtree_kernels
from tests.cuda_host import nvrtc
from tests.cuda_host.cupy_double import OPT_IN, cupy_double
from tests.cuda_host.emulation import (
    COMMENT,
    ORDERS,
    HostError,
    emulated,
    on_device,
    to_host,
)
from vtree_kernels import _cuda
from vtree_kernels.histogram import histogram

PACKAGES = sorted(path.parent.name for path in Path(vtree_kernels.__path__[0]).glob("*/cuda.cu"))
VARIANTS = [
    (package, index)
    for package in PACKAGES
    for index in range(len(importlib.import_module(f"vtree_kernels.{package}.cuda").VARIANTS))
]


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
@pytest.mark.parametrize(("package", "index"), VARIANTS)
def test_sources_compile(package: str, index: int, architecture: str) -> None:
    macros = dict(importlib.import_module(f"vtree_kernels.{package}.cuda").VARIANTS[index])
    text = _cuda.source_of(package, macros.pop("prelude", ""))
    defined = tuple(f"-D{name}={value}" for name, value in macros.items())
    options = (*_cuda.OPTIONS, *defined)
    assert nvrtc.compiled(text, options, architecture)[:4] == b"\x7fELF"
    if architecture == nvrtc.ARCHITECTURES[0]:
        assert b".version" in nvrtc.compiled(text, options, architecture.replace("sm", "compute"))


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
def test_the_compiler_refuses_what_is_not_cuda() -> None:
    with pytest.raises(nvrtc.CompileError, match="identifier .* is undefined"):
        nvrtc.compiled('extern "C" __global__ void f() { nothing(); }', (), "sm_80")
    with pytest.raises(nvrtc.CompileError, match="floats are"):
        text = 'extern "C" __global__ void f(float *x) { if (x[0] < x[1]) x[2] = 1; }'
        nvrtc.compiled(text, (), "compute_80")


def _run(text: str, name: str, *arguments: Any, order: str | int = "forward", **how: Any) -> Any:
    with emulated(order) as device:
        own = [on_device(each) for each in arguments]
        variant = device.compiled("sample", text, ())
        variant.launch(name, how.pop("grid", 1), how.pop("block", 64), *own, **how)
        return [to_host(each) for each in own if not isinstance(each, np.generic)]


SUM = """
extern "C" __global__ void sum(const int *values, int n, long long *total) {
    __shared__ int partial[32];
    int own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += values[i];
    for (int step = 16; step; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) own += partial[w];
        const unsigned long long whole = (long long)own;
        atomicAdd(reinterpret_cast<unsigned long long *>(total), whole);
    }
}"""


@pytest.mark.cuda_host
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (3, 96), ((2, 1, 1), (64, 1))])
def test_a_kernel_runs_on_the_host(order: str | int, grid: Any, block: Any) -> None:
    values = np.arange(-500, 5000, dtype=np.int32)
    total = np.array([7], dtype=np.int64)
    found = _run(
        SUM, "sum", values, np.int32(values.size), total, order=order, grid=grid, block=block
    )
    assert found[1].tolist() == [7 + values.sum()]


@pytest.mark.cuda_host
def test_warp_operations() -> None:
    text = """
extern "C" __global__ void warp(unsigned int *out) {
    const int lane = threadIdx.x;
    out[lane] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    out[32 + lane] = __shfl_sync(0xffffffffu, 10 * lane, 5);
    out[64 + lane] = __shfl_up_sync(0xffffffffu, lane, 1, 8);
    out[96 + lane] = __shfl_xor_sync(0xffffffffu, lane, 3);
    out[128 + lane] = __match_any_sync(0xffffffffu, lane / 8);
    if (lane < 16) out[160 + lane] = __popc(__ballot_sync(0xffffu, lane > 2));
    __syncwarp();
    out[176 + lane % 16] = __ffs(lane % 16) + __clz(lane % 16);
    out[192 + lane] = __syncthreads_count(lane % 2);
}"""
    lanes = np.arange(32)
    for order in ORDERS:
        found = _run(text, "warp", np.zeros(224, dtype=np.uint32), order=order, block=32)[0]
        assert (found[:32] == sum(1 << lane for lane in range(0, 32, 3))).all()
        assert (found[32:64] == 50).all()
        np.testing.assert_array_equal(found[64:96], np.where(lanes % 8, lanes - 1, lanes))
        np.testing.assert_array_equal(found[96:128], lanes ^ 3)
        np.testing.assert_array_equal(found[128:160], 0xFF << (lanes // 8 * 8))
        assert (found[160:176] == 13).all()
        assert found[176:180].tolist() == [32, 32, 32, 31]
        assert (found[192:] == 16).all()


@pytest.mark.cuda_host
def test_a_race_shows_in_another_order() -> None:
    text = """
extern "C" __global__ void last(int *out) { out[0] = threadIdx.x; }"""
    found = {
        order: _run(text, "last", np.zeros(1, np.int32), order=order)[0][0] for order in ORDERS
    }
    assert found["forward"] == 63
    assert found["backward"] == 0


REFUSED = {
    "ended lanes": (
        "if (threadIdx.x == 40) return; __syncwarp();",
        "line 2: mask ffffffff names lane 8, which has ended",
    ),
    "two barriers": (
        "if (threadIdx.x < 7)\n __syncthreads();\n else\n __syncthreads();",
        "threads 0 and 7 wait at the barriers of lines 3 and 5",
    ),
    "a lane that never comes": (
        "if (threadIdx.x == 3)\n __syncthreads();\n else\n __syncwarp();\n __syncthreads();",
        "deadlock: thread 0 waits at a warp operation in line 5, thread 3 is at a barrier",
    ),
    "beside an array": ("if (threadIdx.x == 0) out[-1] = 1;", "wrote beside an array of 4 bytes"),
}


@pytest.mark.cuda_host
@pytest.mark.parametrize("name", REFUSED)
def test_what_cuda_leaves_undefined_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    text = f'\nextern "C" __global__ void f(int *out) {{ {body} }}'
    with pytest.raises(HostError, match=message):
        _run(text, "f", np.zeros(1, dtype=np.int32))


@pytest.mark.cuda_host
@pytest.mark.parametrize(
    ("arguments", "how", "message"),
    [
        ((np.zeros(3, np.int64), np.int32(3), np.zeros(1, np.int64)), {}, "array of long long"),
        ((np.zeros(3, np.int32), 3, np.zeros(1, np.int64)), {}, "'int' cannot be a int"),
        ((np.zeros(3, np.int32), np.int64(3), np.zeros(1, np.int64)), {}, "'int' was given"),
        ((np.zeros(3, np.int32),), {}, "takes 3 arguments, got 1"),
        ((np.zeros(3, np.int32), np.int32(3), np.zeros(1, np.int64)), {"block": 2000}, "1024"),
        ((np.zeros(3, np.int32), np.int32(3), np.zeros(1, np.int64)), {"shared": 10**6}, "shared"),
    ],
)
def test_arguments_are_held_to_the_parameters(arguments: Any, how: Any, message: str) -> None:
    with pytest.raises(HostError, match=message):
        _run(SUM, "sum", *arguments, **how)


@pytest.mark.cuda_host
def test_dynamic_shared_memory_and_macros() -> None:
    text = """
extern "C" __global__ void turn(TYPE *values) {
    extern __shared__ unsigned char bytes[];
    TYPE *own = reinterpret_cast<TYPE *>(bytes);
    own[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = own[blockDim.x - 1 - threadIdx.x];
}"""
    with emulated("backward") as device:
        variant = device.compiled("turn", text, ("-DTYPE=unsigned short",))
        values = on_device(np.arange(64, dtype=np.uint16))
        variant.launch("turn", 1, 64, values, shared=128)
        assert to_host(values).tolist() == list(range(63, -1, -1))


def test_headers_are_put_in_once() -> None:
    for package in PACKAGES:
        text = _cuda.source_of(package)
        assert "#include" not in text
        assert COMMENT.sub("", text).isascii()  # the launcher hands CuPy no other characters


def test_block_counts_and_types() -> None:
    assert _cuda.blocks_for(0, 256) == 0
    assert _cuda.blocks_for(257, 256) == 2
    assert _cuda.blocks_for(10**6, 1, most=12) == 12
    assert _cuda.c_type(np.uint8) == "unsigned char"
    assert _cuda.c_type(np.dtype("int64")) == "long long"


@pytest.mark.cuda_host
def test_a_launch_by_way_of_cupy() -> None:
    text = (
        SUM
        + """
// The last value comes first …
extern "C" __global__ void turn(unsigned short *values) {
    extern __shared__ unsigned short own[];
    own[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = own[blockDim.x - 1 - threadIdx.x];
}"""
    )
    with cupy_double() as double:
        assert _cuda.count_devices() == 2
        there = _cuda.device(1)
        assert (there.processors, there.shared_bytes) == (5, OPT_IN)
        values = there.upload(np.arange(64, dtype=np.uint16))
        assert _cuda.device_of(values) is there is _cuda.owner(values)
        assert _cuda.owner(np.zeros(3)) is None
        kernels = there.compiled("sample", text, _cuda.OPTIONS)
        for _ in range(2):
            kernels.launch("turn", 1, 64, values, shared=60 * 1024)  # more than is given unasked
        kernels.launch("sum", (0, 5), 32)  # an empty grid is no launch
        assert there.download(values).tolist() == list(range(64))
        launch = ("turn", 1, (1, 1, 1), (64, 1, 1))
        assert double.calls == [("get", "turn"), launch, launch, ("pinned", (64,))]


@pytest.mark.cuda_host
def test_memory_by_way_of_cupy() -> None:
    with cupy_double() as double:
        there = _cuda.device(0)
        for mixed in (lambda own: own + np.ones(2), np.sum, np.cumsum):
            with pytest.raises(TypeError):
                mixed(there.zeros(2, np.int64))
        pitched = there.pitched(3, 5, np.uint8)
        assert pitched.shape == (3, 5)
        assert there.strides(pitched) == (32, 1)
        assert there.address(pitched) == pitched.ctypes.data
        assert there.contiguous(pitched).flags.c_contiguous
        assert there.upload(np.asfortranarray(np.ones((3, 4)))).flags.c_contiguous
        assert there.download(there.upload(np.arange(6).reshape(2, 3)).T).tolist() == [
            [0, 3],
            [1, 4],
            [2, 5],
        ]
        assert double.calls == [("pinned", (3, 2))]
        for n_values in (0, 2**18):  # none, and more than small reads need
            assert there.download(there.zeros((n_values,), np.int64)).size == n_values
        assert double.calls == [("pinned", (3, 2))]
        assert there.free_bytes() == 3070
        there.release()
        assert double.calls[1:] == [("free",), ("free pinned",)]
        assert double.current == [0]


@pytest.mark.cuda_host
def test_a_kernel_by_way_of_cupy() -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 200, (900, 20), dtype=np.uint8)
    rows = np.arange(900, dtype=np.int32)
    label = draw.integers(0, 3, (900, 1), dtype=np.int32)
    nodes = (np.array([0, 800]), np.array([800, 890]))
    sums = np.empty((900, 0), dtype=np.int64)
    expected = histogram.reference(codes, rows, *nodes, label, None, sums, 201, 3, False)
    with cupy_double():
        there = _cuda.device(1)
        own = [there.upload(each) for each in (codes, rows, label, sums)]
        found = histogram(own[0], own[1], *nodes, own[2], None, own[3], 201, 3, False)
        np.testing.assert_array_equal(there.download(found), expected)


def test_names_of_types_of_other_libraries() -> None:
    array_api_strict = pytest.importorskip("array_api_strict")
    assert _cuda.numpy_dtype(array_api_strict.uint16) == np.uint16
    assert _cuda.c_type(array_api_strict.float32) == "float"
