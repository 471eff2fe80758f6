from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated, on_device, strict, to_host
from vtree_kernels._cuda import PITCH, device_of
from vtree_kernels.bincode import bincode

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0]

Case = tuple[NDArray[Any], list[int], NDArray[np.float64], list[int], Any]


def _back_to_back(edges: list[Any]) -> tuple[NDArray[np.float64], list[int]]:
    own = [np.asarray(each, dtype=np.float64) for each in edges]
    return np.concatenate(own), np.cumsum([0] + [each.size for each in own]).tolist()


def _random(n_rows: int = 500, n_edges: int = 17, dtype: Any = np.float64) -> Case:
    draw = np.random.default_rng(n_rows + n_edges)
    values = np.round(draw.normal(size=(n_rows, 3)), 1).astype(dtype)
    values[draw.random(values.shape) < 0.1] = np.nan
    edges = [np.unique(np.round(draw.normal(size=n_edges), 1)), [], [0.0]]
    return values, [2, 0, 1], *_back_to_back(edges), np.uint8


def _special() -> Case:
    values = np.array(SPECIAL)[:, None]
    edges = [[-np.inf, -5e-324, 0.0, 5e-324, 1.0, 1.7e308]]
    return values, [0], *_back_to_back(edges), np.uint8


def _levels(dtype: Any = np.float64) -> Case:
    values = np.append(np.arange(-2.0, 12.0, 0.25), SPECIAL[:5]).astype(dtype)
    near = np.nextafter(dtype(2.5), dtype([0.0, 9.0]))
    values = np.append(values, near)[:, None]
    return values, [0], *_back_to_back([np.arange(9) + 0.5]), np.uint8


def _levels_side_by_side(width: int) -> Case:
    one = _levels()[0]
    values = np.column_stack([one, one[::-1], np.roll(one, 3), np.roll(one, 9)])
    return (
        values,
        [1, 2, 3][:width],
        *_back_to_back([np.arange(n) + 0.5 for n in (9, 1, 4)][:width]),
        np.uint8,
    )


def _wide() -> Case:
    values = np.arange(3000.0)[:, None] / 2
    return values, [0], *_back_to_back([np.arange(1400.0)]), np.uint16


CASES: dict[str, Callable[[], Case]] = {
    "random": _random,
    "float32": lambda: _random(dtype=np.float32),
    "empty": lambda: _random(n_rows=0),
    "one row": lambda: _random(n_rows=1),
    "two blocks of rows": lambda: _random(n_rows=5000),
    "one value": lambda: (np.full((50, 1), 2.0), [0], *_back_to_back([[1.0, 2.0]]), np.uint8),
    "all missing": lambda: (np.full((9, 1), np.nan), [0], *_back_to_back([[1.0]]), np.uint8),
    "special values": _special,
    "levels": _levels,
    "levels side by side": lambda: _levels_side_by_side(3),
    "levels by columns": lambda: (
        np.asfortranarray(_levels_side_by_side(3)[0]),
        *_levels_side_by_side(3)[1:],
    ),
    "levels of float32": lambda: _levels(np.float32),
    "wide codes": _wide,
}


def _definition(values: NDArray[Any], columns: list[int], edges: Any, offsets: Any) -> Any:
    codes = np.zeros((values.shape[0], len(columns)), dtype=np.int64)
    for g, column in enumerate(columns):
        own = edges[offsets[g] : offsets[g + 1]]
        for row, x in enumerate(values[:, column].astype(np.float64).tolist()):
            codes[row, g] = 0 if x != x else 1 + int((own < x).sum())
    return codes


def _codes_dtype(xp: Namespace, wanted: Any) -> Any:
    if wanted == np.uint8:
        return xp.xp.uint8
    return xp.xp.int32 if is_torch_namespace(xp.xp) else xp.xp.uint16


@pytest.mark.parametrize("name", CASES)
def test_twins_and_definition_agree(name: str, xp: Namespace) -> None:
    values, columns, edges, offsets, dtype = CASES[name]()
    expected = _definition(values, columns, edges, offsets)
    own_dtype = _codes_dtype(xp, dtype)
    own = xp.asarray(values), columns, xp.asarray(edges), offsets, own_dtype
    codes = bincode.reference(*own)
    assert codes.dtype == own_dtype
    np.testing.assert_array_equal(xp.to_numpy(codes), expected)
    native = bincode.twin("cpu")(values, columns, edges, offsets, dtype)
    assert native.dtype == dtype
    np.testing.assert_array_equal(native, expected)


@pytest.mark.parametrize("layout", ["fortran", "strided", "reversed", "read only", "transposed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_layout_of_values(layout: str, dtype: Any) -> None:
    plain, columns, edges, offsets, codes_dtype = _random(dtype=dtype)
    double = np.repeat(np.repeat(plain, 2, axis=0), 2, axis=1)
    read_only = plain.copy()
    read_only.flags.writeable = False
    values = {
        "fortran": np.asfortranarray(plain),
        "strided": double[::2, ::2],
        "reversed": np.ascontiguousarray(plain[::-1, ::-1])[::-1, ::-1],
        "read only": read_only,
        "transposed": np.ascontiguousarray(plain.T).T,
    }[layout]
    args = (columns, edges, offsets, codes_dtype)
    expected = bincode.reference(plain, *args)
    assert_same_bits(bincode.reference(values, *args), expected)
    assert_same_bits(bincode.twin("cpu")(values, *args), expected)


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.one_of(st.floats(), st.sampled_from(SPECIAL)), max_size=20),
    st.lists(finite, max_size=12, unique=True),
)
def test_a_code_counts_the_edges_below(column: list[float], edges: list[float]) -> None:
    ascending = sorted(set(edges))
    values = np.array(column + ascending, dtype=np.float64)[:, None]
    args = (values, [0], np.array(ascending), [0, len(ascending)], np.uint8)
    expected = _definition(*args[:4])
    np.testing.assert_array_equal(bincode.reference(*args), expected)
    np.testing.assert_array_equal(bincode.twin("cpu")(*args), expected)


def _on_cuda(values: Any, columns: Any, edges: Any, offsets: Any, codes_dtype: Any) -> Any:
    arguments = (columns, on_device(edges), offsets, codes_dtype)
    return to_host(bincode.twin("cuda")(on_device(values), *arguments))


def _columns(n_columns: int, n_edges: int, dtype: Any = np.float32, n_rows: int = 700) -> Case:
    """Draw edges next to values, on both sides of a rounding to float32."""
    draw = np.random.default_rng(n_columns)
    values = draw.choice([*draw.normal(size=300), *SPECIAL], (n_rows, n_columns))
    with np.errstate(over="ignore"):
        values = values.astype(dtype)
    known = np.unique(values[np.isfinite(values)].astype(np.float64))
    near = np.concatenate([known, np.nextafter(known, 9), np.nextafter(known, -9), [1e300, -1e300]])
    edges = [np.unique(draw.choice(near, draw.integers(0, n_edges + 1))) for _ in range(n_columns)]
    codes_dtype = np.uint8 if n_edges < 255 else np.uint16
    return values, list(range(n_columns)), *_back_to_back(edges), codes_dtype


def _denormals() -> tuple[Any, ...]:
    least = 1.401298464324817e-45
    most = np.finfo(np.float32).max
    values = [np.nan, np.inf, -np.inf, -0.0, 0.0, least, -least, 2 * least, most, -most, 1.0]
    edges = [-np.inf, -3.5e38, -least, -1e-46, 0.0, 1e-46, least, 3e-45, 1.0, most, 3.5e38]
    return np.array(values, dtype=np.float32)[:, None], [0], *_back_to_back([edges]), np.uint8


CUDA_CASES = CASES | {
    "denormal floats": _denormals,
    "no edges": lambda: _columns(3, 0),
    "one column": lambda: _columns(1, 254, n_rows=9000),
    "33 columns": lambda: _columns(33, 100),
    "70 columns of doubles": lambda: _columns(70, 254, np.float64, n_rows=100),
    "deep": lambda: _columns(5, 900),
    "deep doubles": lambda: _columns(2, 900, np.float64),
    "int64": lambda: (
        (np.arange(-90, 90).reshape(60, 3), [1, 0], *_back_to_back([[-3.5, 4], [7]])) + (np.uint8,)
    ),
    "no columns": lambda: (np.ones((5, 2)), [], np.empty(0), [0], np.uint8),
}


@pytest.mark.parametrize("name", CUDA_CASES)
@pytest.mark.usefixtures("cuda")
def test_cuda_agrees(name: str) -> None:
    arguments = CUDA_CASES[name]()
    codes = _on_cuda(*arguments)
    assert codes.dtype == arguments[4]
    assert_same_bits(codes, bincode.reference(*arguments))


@pytest.mark.parametrize("n_columns", [1, 32, 33])
@pytest.mark.usefixtures("cuda")
def test_cuda_keeps_rows_of_codes_in_sectors(n_columns: int) -> None:
    for n_edges in (9, 300):
        values, columns, edges, offsets, codes_dtype = _columns(n_columns, n_edges, n_rows=4)
        own = on_device(values), columns, on_device(edges), offsets, codes_dtype
        codes = bincode.twin("cuda")(*own)
        pitch = device_of(codes).strides(codes)[0] * np.dtype(codes_dtype).itemsize
        assert pitch % PITCH == 0 and pitch - PITCH < n_columns * np.dtype(codes_dtype).itemsize


@pytest.mark.parametrize("layout", ["fortran", "strided", "reversed"])
@pytest.mark.usefixtures("cuda")
def test_cuda_takes_any_layout_of_values(layout: str) -> None:
    values, *rest = _random(n_rows=60, dtype=np.float32)
    own = {
        "fortran": lambda: on_device(np.ascontiguousarray(values.T)).T,
        "strided": lambda: on_device(np.repeat(np.repeat(values, 2, axis=0), 3, axis=1))[::2, ::3],
        "reversed": lambda: on_device(np.ascontiguousarray(values[::-1, ::-1]))[::-1, ::-1],
    }[layout]()
    columns, edges, offsets, codes_dtype = rest
    codes = bincode.twin("cuda")(own, columns, on_device(edges), offsets, codes_dtype)
    assert_same_bits(to_host(codes), bincode.reference(values, *rest))


@pytest.mark.cuda_host
@pytest.mark.parametrize("shared_bytes", [0, 128, 1000, 16_000])
def test_cuda_searches_with_whatever_shared_memory_there_is(shared_bytes: int) -> None:
    for arguments in (_columns(7, 254), _columns(7, 254, np.float64), _columns(3, 900)):
        with emulated(shared_bytes=shared_bytes):
            assert_same_bits(_on_cuda(*arguments), bincode.reference(*arguments))


@pytest.mark.cuda_host
def test_cuda_reads_values_beyond_two_to_the_31(tmp_path: Path) -> None:
    far = 2**27 - 1
    values = np.memmap(tmp_path / "values", np.float32, "w+", shape=(20, 2**27))  # sparse
    values[[3, 17, 19], far] = [0.5, np.nan, 7.0]
    with emulated():
        arguments = ([far], on_device(np.array([0.0, 1.0])), [0, 2], np.uint8)
        codes = to_host(bincode.twin("cuda")(strict(values), *arguments))
    assert codes.ravel().tolist() == [1, 1, 1, 2, *[1] * 13, 0, 1, 3]
