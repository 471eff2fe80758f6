"""Losses of the user's own, known by their derivatives alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.errors import InputError, InputTypeError, own_errors
from vtree.losses.exact import Terms

Floats = NDArray[np.float64]


def own_terms(function: Callable[..., Any], X: Any, raw: Floats, y: Floats) -> Terms:
    """Return what a user's objective(y, raw) says, checked; losses are unknown, NaN.

    X: the table as it came. If it is an array, the function gets y and raw in its namespace and on
    its device, else as NumPy's. It may answer in either.
    """
    example = X if arrays.is_array(X) else raw
    single = raw.shape[1] == 1
    # Copies, for it may work in place.
    given = (arrays.like(each.copy(), example) for each in (y, raw[:, 0] if single else raw))
    with arrays.at_home(example):
        found = function(*given)
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise InputTypeError("objective must return a pair (gradient, hessian)")
    columns = []
    for name, part in zip(("gradient", "hessian"), found, strict=True):
        with own_errors("objective", f"Its {name} must be an array of numbers."):
            own = arrays.to_numpy(part)
            if np.iscomplexobj(own):
                raise ValueError("complex numbers are no derivatives.")
            own = np.asarray(own, dtype=np.float64)
        shape, own = own.shape, own[:, None] if own.ndim == 1 else own
        if own.shape != raw.shape:
            raise InputError(
                f"objective returned a {name} of shape {shape}; it must have the shape of "
                f"the raw predictions, {raw[:, 0].shape if single else raw.shape}"
            )
        if not np.isfinite(own).all():
            raise InputError(f"objective returned a {name} that is not finite")
        columns.append(own)
    if (columns[1] < 0.0).any():
        raise InputError("objective returned a hessian below zero; clip it at a small number")
    return Terms(columns[0], columns[1], np.full(y.size, np.nan))
