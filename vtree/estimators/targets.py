"""The door for y and sample_weight: labels, real targets and weights as plain NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array

from vtree import arrays
from vtree.errors import InputError, InputTypeError

Floats = NDArray[np.float64]


def host(values: Any) -> Any:
    """Return arrays of other namespaces as NumPy; leave everything else as it is."""
    return arrays.to_numpy(values) if arrays.is_array(values) else values


def as_columns(y: Any, *, numeric: bool) -> NDArray[Any]:
    """Return y as (N, outputs), checked for shape, missing and infinite values."""
    if y is None:
        raise InputError("This estimator requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise InputTypeError("y is a sparse matrix; pass a dense array, y.toarray()")
    table = check_array(
        host(y),
        ensure_2d=False,
        dtype=np.float64 if numeric else None,
        ensure_all_finite=True,
        input_name="y",
        allow_nd=False,
    )
    if table.ndim == 0:
        raise InputError("y must have one or two dimensions, got a single value")
    return np.reshape(table, (-1, 1)) if table.ndim == 1 else table


def class_codes(y: NDArray[Any]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Return (classes of each output, sorted; codes (N, outputs)) of labels (N, outputs)."""
    check_classification_targets(y)
    classes, codes = [], []
    for output in range(y.shape[1]):
        labels, code = np.unique(y[:, output], return_inverse=True)
        classes.append(labels)
        codes.append(np.reshape(code, -1))
    return classes, np.stack(codes, axis=1).astype(np.int64)


def check_counts(y: Floats) -> None:
    """Raise InputError unless y can be counts of a Poisson distribution."""
    if (y < 0.0).any():
        raise InputError(
            "Some value(s) of y are negative which is not allowed for Poisson regression."
        )
    if not (y.sum(axis=0) > 0.0).all():
        raise InputError("Sum of y is not positive which is necessary for Poisson regression.")


def row_weights(
    sample_weight: Any, class_weight: Any, y: NDArray[Any], n_rows: int
) -> Floats | None:
    """Return the product of sample and class weights, (N,), or None if there are none.

    Raises
    ------
    InputError
        If a weight is negative, not finite, or all of them are zero.
    """
    check_consistent_length(y, np.empty(n_rows))
    if sample_weight is None and class_weight is None:
        return None
    weight = _check_sample_weight(host(sample_weight), np.empty((n_rows, 1)), dtype=np.float64)
    if (weight < 0.0).any():
        worst = int(np.argmin(weight))
        raise InputError(
            f"sample_weight must not be negative, got {weight[worst]} for row {worst}; "
            "use 0 to leave a row out"
        )
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y if y.shape[1] > 1 else y[:, 0])
    if not (weight > 0.0).any():
        raise InputError("all weights are zero; at least one row needs a positive weight")
    return np.asarray(weight, dtype=np.float64)
