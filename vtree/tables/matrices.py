"""Tables that are arrays of one number type: NumPy, array API, masked and sparse."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from vtree.arrays import Array, detached, device, is_array, is_numpy, namespace
from vtree.errors import InputError, InputTypeError, MemoryBudgetError

# A sparse matrix is grown on as a dense one, if that one stays within 2 GiB.
MOST_DENSE_BYTES = 2 * 1024**3

_RESHAPE = (
    "\nReshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


def matrix_of(X: Any) -> Any:
    """Read whatever is no frame as a matrix.

    Parameters
    ----------
    X : array of any array-API namespace, masked array, SciPy sparse array, or \
whatever NumPy reads, such as a list of lists

    Returns
    -------
    array, (N, F)
        float32 or float64 in X's namespace and on its device, NaN where masked: X
        itself where it was one, so it must not be written to. Or a NumPy array of
        objects, where X is not all numbers.

    Raises
    ------
    InputError
        Not two axes, no rows, no columns, rows of unequal length, complex numbers.
    InputTypeError
        Structured, time and `numpy.matrix` arrays.
    MemoryBudgetError
        A sparse array whose dense form would take more than 2 GiB.
    """
    if scipy.sparse.issparse(X):
        return _densify(X)
    if isinstance(X, np.ma.MaskedArray):
        return _fill(X)
    if isinstance(X, np.matrix):
        raise InputTypeError("np.matrix is not supported. Please convert X with np.asarray.")
    return _as_float(detached(X)) if is_array(X) and not is_numpy(X) else _read_numpy(X)


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise InputError unless there are two axes, a row and a column.

    The words are scikit-learn's, which its checks and its users look for.
    """
    if len(shape) < 2:
        kind = "1D array" if shape else "scalar array"
        raise InputError(f"Expected 2D array, got {kind} instead (shape={shape}).{_RESHAPE}")
    if len(shape) > 2:
        raise InputError(
            f"Found array with dim {len(shape)} (shape={shape}), while dim <= 2 is required."
        )
    for count, noun in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InputError(
                f"Found array with 0 {noun}(s) (shape={shape}) while a minimum of 1 is required."
            )


def _read_numpy(X: Any) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(
            f"X cannot be read as a matrix, whose rows must be of one length: {error}"
        ) from error
    if array.dtype.kind in "OSUT":
        # From X once more: beside a string, NumPy turns numbers into strings too.
        array = np.asarray(X, dtype=object)
        check_shape(array.shape)
        return array
    _check_kind(array.dtype)
    return np.asarray(_as_float(array))


def _check_kind(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is of type {dtype}. Pass real columns.")
    if dtype.kind in "mM":
        raise InputTypeError(
            f"X holds times ({dtype}), and trees split numbers. Pass parts such as the year, "
            "the month or the hour, or seconds since a date of your choice."
        )
    if dtype.kind not in "biuf":
        raise InputTypeError(
            f"X is an array of type {dtype}, but must hold numbers. Structured arrays are no "
            "matrices: see numpy.lib.recfunctions.structured_to_unstructured, or pass a frame."
        )


def _as_float(array: Array) -> Array:
    """Give an array (N, F) as float32 or float64; without a copy where it is either."""
    check_shape(tuple(array.shape))
    xp = namespace(array)
    if array.dtype in (xp.float32, xp.float64):
        return array
    if xp.isdtype(array.dtype, "complex floating"):
        raise InputError(f"Complex data not supported: X is of type {array.dtype}.")
    is_half = xp.isdtype(array.dtype, "real floating") and xp.finfo(array.dtype).bits <= 32
    # Some accelerators have no float64.
    types = xp.__array_namespace_info__().dtypes(kind="real floating", device=device(array))
    with np.errstate(over="ignore"):  # a long double beyond float64 is infinite there
        return xp.astype(array, types["float32" if is_half else max(types)])


def _fill(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Give a masked array with NaN, or None among objects, where it is masked."""
    array = _read_numpy(np.ma.getdata(X))
    missing = None if array.dtype == object else np.nan
    if not np.ma.is_masked(X):
        return array
    filled = array.copy()
    filled[np.ma.getmaskarray(X)] = missing
    return filled


def _densify(X: Any) -> NDArray[Any]:
    check_shape(tuple(X.shape))
    _check_kind(X.dtype)
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    size = X.shape[0] * X.shape[1] * dtype.itemsize
    if size > MOST_DENSE_BYTES:
        raise MemoryBudgetError(
            f"The sparse X of shape {X.shape} takes {size:,} bytes as a dense {dtype} matrix, "
            f"and at most {MOST_DENSE_BYTES:,} are allowed. Pass fewer columns or rows, or "
            "X.toarray() if the memory is there."
        )
    return np.asarray(X.astype(dtype).toarray())
