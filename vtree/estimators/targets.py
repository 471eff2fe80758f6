"""The door for y and sample_weight: labels, real targets and weights as plain NumPy arrays."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array

from vtree import arrays
from vtree.errors import InputError, InputTypeError, own_errors
from vtree.tables.levels import is_missing, offsets_of_whole_numbers

Floats = NDArray[np.float64]

_LABELS = "y may hold strings, booleans or whole numbers, one kind in a column and none missing."
_NUMBERS = "y may hold finite real numbers, (N,) or (N, outputs)."
_WEIGHTS = "sample_weight may hold finite numbers from 0 up, one a row, or be one number."

_WIDEST = 2.0**480  # squared, and times any whole weight, it still fits float64


def host(values: Any) -> Any:
    """Return arrays of other namespaces as NumPy; leave everything else as it is."""
    return arrays.to_numpy(values) if arrays.is_array(values) else values


def as_columns(y: Any, *, numeric: bool) -> NDArray[Any]:
    """Return y as (N, outputs), checked for shape, missing and infinite values.

    Raises
    ------
    InputError, InputTypeError
        Anything else than numbers (`numeric`) or labels in one or two dimensions.
    """
    if y is None:
        raise InputError("This estimator requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise InputTypeError("y is a sparse matrix; pass a dense array, y.toarray()")
    # scikit-learn looks for infinities by a sum, which may overflow by itself.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with quiet, own_errors("y", _NUMBERS if numeric else _LABELS):
        given = _plain_objects(_without_gaps(y, "y"))
        kind = np.asarray(given).dtype
        if numeric and kind.kind in "mM":
            raise InputTypeError(
                f"y holds times ({kind}); pass seconds since a date of your choice"
            )
        table = check_array(
            given,
            ensure_2d=False,
            dtype=np.float64 if numeric else None,
            ensure_all_finite=True,
            input_name="y",
            allow_nd=False,
        )
    return np.reshape(table, (-1, 1)) if table.ndim == 1 else table


def _without_gaps(values: Any, argument: str) -> Any:
    """Return `values` on the host, if none is masked, complex, or an object for "missing"."""
    if np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise InputError(
            f"{argument} is masked in row {row}; leave such rows out of X and {argument}"
        )
    values = _with_gaps(host(values))
    table = np.asarray(values)
    if table.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {argument} is of type {table.dtype}.")
    if table.dtype == object:
        values_of = table.ravel().tolist()
        if any(map(is_missing, _different(values_of))):
            per_row = table.size // max(1, len(table)) if table.ndim else 1  # entries a row
            place = next(n for n, value in enumerate(values_of) if is_missing(value))
            raise InputError(
                f"Input {argument} contains NaN or another mark of a missing value, "
                f"{values_of[place]!r} in row {place // per_row}; leave such rows out."
            )
    # Nullable integers are floats to scikit-learn, and integers to NumPy.
    as_given = table.dtype == object or table.ndim == 0 or isinstance(values, np.matrix)
    return values if as_given else table


def _with_gaps(values: Any) -> Any:
    """Return `values`, as objects where NumPy would make other strings of them.

    It turns NaN into one, and cuts the names of an enumeration's members at their values' length.
    """
    if isinstance(values, list | tuple) and np.asarray(values).dtype.kind == "U":
        own = np.asarray(values, dtype=object)
        different = _different(own.ravel().tolist())
        if any(is_missing(value) or isinstance(value, Enum) for value in different):
            return own
    return values


def _different(values: list[Any]) -> list[Any]:
    """Return each value once, or all where some cannot be hashed."""
    try:
        return list(dict.fromkeys(values))
    except TypeError:
        return values


def _plain_objects(values: Any) -> Any:
    """Return an array of objects that are all integers, or all of another number, as such."""
    table = np.asarray(values)
    kinds = set(map(type, table.ravel().tolist())) if table.dtype == object else set()
    if len(kinds) != 1 or not issubclass(kinds.pop(), bool | int | float | np.number | np.bool_):
        return values
    plain = np.array(table.tolist())
    # Integers beyond int64 would turn to floats, and different ones into one.
    is_exact = plain.dtype.kind != "f" or isinstance(table.flat[0], float | np.floating)
    return plain if plain.dtype != object and is_exact else values


def class_codes(y: NDArray[Any]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Return (classes of each output, sorted; codes (N, outputs)) of labels (N, outputs).

    Raises
    ------
    InputError, InputTypeError
        Labels that are fractions, of mixed kinds, or of no kind that labels have.
    """
    classes, codes = [], []
    with own_errors("y", _LABELS):
        for output in range(y.shape[1]):
            column = _plain_objects(y[:, output])
            # Whole numbers and strings are labels; scikit-learn sorts them all to say so.
            are_labels = column.dtype.kind in "iuU" or _are_strings(column)
            if not are_labels:
                check_classification_targets(column[:, None])
            labels, code = _distinct(column)
            if are_labels and 2 * labels.size > code.size:
                check_classification_targets(column)  # which warns of so many
            classes.append(labels)
            codes.append(np.reshape(code, -1))
    return classes, np.stack(codes, axis=1).astype(np.int64)


def _are_strings(y: NDArray[Any]) -> bool:
    """Tell whether an array of objects holds strings alone."""
    if y.dtype != object:
        return False
    return all(issubclass(kind, str) for kind in set(map(type, y.tolist())))


def _distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return (distinct labels, sorted; number of each label (N,))."""
    if _are_strings(y):
        values = y.tolist()
        strings = sorted(dict.fromkeys(values))
        number = {label: code for code, label in enumerate(strings)}
        codes = np.fromiter(map(number.__getitem__, values), np.int64, len(values))
        return np.array(strings, dtype=object), codes
    found = offsets_of_whole_numbers(y) if y.dtype.kind in "iu" else None
    if found is None:
        return np.unique(y, return_inverse=True)
    least, offset = found
    present = np.bincount(offset) > 0
    labels = np.flatnonzero(present).astype(y.dtype) + least
    return labels, (np.cumsum(present) - 1)[offset]


def codes_of(y: NDArray[Any], classes: list[NDArray[Any]], argument: str) -> NDArray[np.int64]:
    """Return the numbers (N, outputs) that labels (N, outputs) have among the training classes.

    Raises
    ------
    InputError
        Another number of columns, or labels that training did not see.
    """
    if y.shape[1] != len(classes):
        raise InputError(
            f"{argument} has {y.shape[1]} columns, but the model was fitted to {len(classes)}"
        )
    codes = np.empty(y.shape, dtype=np.int64)
    for output, known in enumerate(classes):
        number = {label: code for code, label in enumerate(known.tolist())}
        labels = y[:, output].tolist()
        strangers = list(dict.fromkeys(label for label in labels if label not in number))
        if strangers:
            raise InputError(
                f"{argument} holds the classes {strangers[:5]}, which training did not see; the "
                f"model knows {known.tolist()[:20]}"
            )
        codes[:, output] = [number[label] for label in labels]
    return codes


def check_span(y: Floats) -> None:
    """Raise InputError if squares of differences in y, summed, may leave the range of float64."""
    low, high = y.min(axis=0), y.max(axis=0)
    if (high / 2.0 - low / 2.0 > _WIDEST / 2.0).any():
        raise InputError(
            f"y reaches from {low.min():.3g} to {high.max():.3g}, but may span {_WIDEST:.1g} at "
            "most, for its errors are squared and summed; divide y by a large number"
        )


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
        A weight that is negative or not finite, weights that are all zero or of another length.
    InputTypeError
        Weights that are no numbers.
    """
    with own_errors("y"):
        check_consistent_length(y, np.empty(n_rows))
    if sample_weight is None and class_weight is None:
        return None
    weight = plain_weights(sample_weight, n_rows)
    if class_weight is not None:
        with own_errors("class_weight"):
            by_class = compute_sample_weight(class_weight, y if y.shape[1] > 1 else y[:, 0])
        _refuse_negative(by_class, "class_weight")
        weight = weight * by_class
    if not (weight > 0.0).any():
        raise InputError("all weights are zero; at least one row needs a positive weight")
    with np.errstate(over="ignore"):
        total = np.sum(weight)
    if not np.isfinite(total):
        raise InputError(
            "sample_weight adds up to more than float64 holds, class_weight included; divide all "
            "by one number"
        )
    return np.asarray(weight, dtype=np.float64)


def plain_weights(given: Any, n_rows: int, argument: str = "sample_weight") -> Floats:
    """Return weights as (N,), all ones where None are given; raise as `row_weights`."""
    with own_errors(argument, _WEIGHTS.replace("sample_weight", argument)):
        if given is not None:
            given = _without_gaps(given, argument)
        weight: Floats = _check_sample_weight(given, np.empty((n_rows, 1)), dtype=np.float64)
    _refuse_negative(weight, argument)
    return weight


def _refuse_negative(weight: Floats, argument: str) -> None:
    worst = int(np.argmin(weight))
    if not weight[worst] >= 0.0:
        raise InputError(
            f"{argument} must not be negative, got {weight[worst]} for row {worst}; "
            "use 0 to leave a row out"
        )
