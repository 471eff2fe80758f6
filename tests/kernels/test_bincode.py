from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
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
