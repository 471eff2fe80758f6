"""Arrays of every layout and type."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

from vtree.errors import InputError, InputTypeError, MemoryBudgetError
from vtree.tables import read_table
from vtree.tables.matrices import matrix_of

NUMBERS = np.array([[0, 1, 2], [3, 4, 5]])

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
    "reversed": lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
    "list": lambda array: array.tolist(),
    "tuple": lambda array: tuple(map(tuple, array)),
    "object": lambda array: array.astype(object),
    "byte-swapped": lambda array: array.astype(array.dtype.newbyteorder()),
    "masked": np.ma.array,
    "sparse": scipy.sparse.csr_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u8", "i4"])
def test_layouts(layout: str, dtype: str) -> None:
    X = LAYOUTS[layout](NUMBERS.astype(dtype))
    values = matrix_of(X) if layout != "object" else read_table(X).values
    np.testing.assert_array_equal(values, NUMBERS)
    assert values.dtype in (np.float32, np.float64)
    assert type(values) is np.ndarray


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("longdouble", "float64"),
        ("int8", "float64"),
        ("uint64", "float64"),
        ("bool", "float64"),
    ],
)
def test_dtypes(dtype: str, expected: str) -> None:
    X = np.array([[0, 1]], dtype=dtype)
    assert matrix_of(X).dtype == expected
    np.testing.assert_array_equal(matrix_of(X), [[0, 1]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
def test_namespaces(xp: Any, dtype: str) -> None:
    X = xp.asarray(np.array([[0, 1]], dtype=dtype))
    values = matrix_of(X)
    assert type(values) is type(X)
    assert xp.to_numpy(values).dtype == ("float32" if dtype == "float32" else "float64")
    np.testing.assert_array_equal(xp.to_numpy(values), [[0, 1]])


def test_devices() -> None:
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    X = strict.asarray([[1, 2], [3, 2]], device=device)
    table = read_table(X, categorical_features=[1])
    assert table.values.device == device
    single = strict.asarray([[1, 2]], device=strict.Device("no_float64"))
    assert matrix_of(single).dtype == strict.float32


def test_halves_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for dtype in (torch.float16, torch.bfloat16):
        assert matrix_of(torch.ones((1, 2), dtype=dtype)).dtype == torch.float32


def test_float_arrays_are_not_copied() -> None:
    for dtype in (np.float32, np.float64):
        X = np.asfortranarray(NUMBERS, dtype=dtype)
        X.flags.writeable = False
        assert matrix_of(X) is X


def test_masked_arrays() -> None:
    mask = [[True, False, False], [False, False, True]]
    for dtype, expected in (("i8", "f8"), ("f4", "f4"), ("f2", "f4")):
        X = np.ma.array(NUMBERS.astype(dtype), mask=mask)
        values = matrix_of(X)
        np.testing.assert_array_equal(values, [[np.nan, 1, 2], [3, 4, np.nan]])
        assert values.dtype == expected
        assert type(values) is np.ndarray
        assert X.mask.tolist() == mask
        np.testing.assert_array_equal(X.data, NUMBERS)
    objects = np.ma.array(NUMBERS.astype(object), mask=mask)
    np.testing.assert_array_equal(read_table(objects).values, values)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "bool"])
def test_sparse(kind: str, dtype: str) -> None:
    dense = (np.eye(3, 4) * 2).astype(dtype)
    for container in (scipy.sparse.coo_array, scipy.sparse.coo_matrix):
        values = read_table(container(dense).asformat(kind)).values
        assert type(values) is np.ndarray
        assert values.dtype == ("float32" if dtype == "f4" else "float64")
        np.testing.assert_array_equal(values, dense)


def test_sparse_too_large_to_be_dense() -> None:
    X = scipy.sparse.csr_array((2**20, 257))
    with pytest.raises(
        MemoryBudgetError, match=r"sparse X .* takes 2,155,872,256 bytes.*2,147,483"
    ):
        matrix_of(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "(?s)Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2], "Expected 2D array, got 1D array instead"),
        (scipy.sparse.coo_array(np.ones(3)), "Expected 2D array, got 1D array instead"),
        ([], "Expected 2D array, got 1D array instead"),
        (5, "(?s)Expected 2D array, got scalar array instead.*Reshape your data"),
        (None, "Expected 2D array, got scalar array"),
        ("text", "Expected 2D array, got scalar array"),
        (np.ones((1, 1, 1)), "Found array with dim 3"),
        (np.ones((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (
            np.ones((3, 0)),
            r"0 feature\(s\) \(shape=\(\d*, 0\)\) while a minimum of \d* is required\.",
        ),
        (np.ones((3, 0), dtype=object), r"0 feature\(s\)"),
        ([[], []], r"0 feature\(s\)"),
        (scipy.sparse.csr_array((0, 3)), r"0 sample\(s\)"),
        ([[1], [1, 2]], "of one length"),
        (np.array([[1j]]), "Complex data not supported"),
        ([[1j]], "Complex data not supported"),
        (np.array([[1j, 1]], dtype=object), "Complex data not supported: X, column 0"),
        (np.ma.array([[1j]]), "Complex data not supported"),
        (scipy.sparse.csr_array([[1j]]), "Complex data not supported"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_values_that_make_no_matrix(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_table(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((1, 1)).view(np.matrix), r"np\.matrix is not supported"),
        (np.zeros(2, dtype=[("a", int)]), "structured_to_unstructured"),
        (np.zeros((2, 2), "M8[s]"), r"holds times \(datetime64\[s\]\)"),
        (np.zeros((2, 2), "m8[ns]"), "holds times"),
        (np.array([[{"foo": "bar"}, 1.0]], dtype=object), "argument must be .* string.* number"),
        (np.array([[b"1"]]), "'bytes'"),
    ],
)
def test_kinds_that_make_no_matrix(X: Any, message: str) -> None:
    with pytest.raises(InputTypeError, match=message):
        read_table(X)


def test_other_namespaces_are_checked_in_the_same_words(xp: Any) -> None:
    for shape in ((3,), (0, 3), (3, 0), (1, 1, 1)):
        with pytest.raises(InputError, match="Expected 2D array, got 1D|Found array with"):
            matrix_of(xp.asarray(np.ones(shape)))
    with pytest.raises(InputError, match="Complex data not supported"):
        matrix_of(xp.asarray(np.ones((1, 1), dtype=complex)))


def test_tensors_that_record_gradients() -> None:
    tensor = torch.tensor([[1.0], [2.0]], requires_grad=True)
    table = read_table(tensor)
    assert not table.values.requires_grad and tensor.requires_grad
    np.testing.assert_array_equal(table.values, [[1.0], [2.0]])
