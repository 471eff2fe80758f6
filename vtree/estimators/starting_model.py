"""A model to start boosting from, `init`: fitted as any other, and asked for raw predictions."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from vtree import arrays
from vtree.ensembles.training import Training
from vtree.errors import InputError, InputTypeError, own_errors
from vtree.estimators.bins import Bins
from vtree.estimators.early_stopping import some_rows
from vtree.losses import Loss

Floats = NDArray[np.float64]


def counted(X: Any, training: Training) -> tuple[Any, Floats | None]:
    """Return the rows of a table that weigh more than 0, and their weights if there are any."""
    weights, rows = training.weights, training.rows
    table = X if isinstance(rows, slice) else some_rows(X, rows)
    if weights.whole is None:
        return table, None
    return table, weights.whole.astype(np.float64) * weights.unit


def fitted(init: Any, X: Any, y: NDArray[Any], weight: Floats | None) -> Any:
    """Return a copy of `init` fitted to X, y (N,) and, unless there is none, weight (N,).

    Raises
    ------
    InputTypeError
        Bins, which no other library reads, and weights that `init` does not take.
    """
    name = type(init).__name__
    if isinstance(X, Bins):
        raise InputTypeError(
            f"X is vtree.Bins, but init={name}() is fitted to the table; pass the table itself"
        )
    model = clone(init) if hasattr(init, "get_params") else deepcopy(init)
    if weight is None:
        model.fit(X, y)
        return model
    if not has_fit_parameter(model, "sample_weight"):
        raise InputTypeError(
            f"init={name}() takes no sample_weight in fit. Pass an init that does, or fit without "
            "weights."
        )
    model.fit(X, y, sample_weight=weight)
    return model


def raw_predictions(init: Any, X: Any, n_rows: int, n_raw: int, loss: Loss) -> Floats:
    """Return what a fitted `init` predicts for X, as raw predictions of a loss (N, K).

    Raises
    ------
    InputError
        Predictions of another shape, or that are not finite.
    """
    classes = loss.domain == "class"
    said = init.predict_proba(X) if classes else init.predict(X)
    with own_errors("init", "Its predictions must be numbers."):
        found = np.asarray(arrays.to_numpy(said), dtype=np.float64)
    shape = (n_rows, max(2, n_raw)) if classes else (n_rows, n_raw)
    if found.shape == (n_rows,) and not classes:
        found = found[:, None]
    if found.shape != shape:
        raise InputError(
            f"init={type(init).__name__}() predicts an array of shape {found.shape}; "
            f"{'shares of the classes' if classes else 'predictions'} {shape} are needed"
        )
    if not np.isfinite(found).all():
        raise InputError(f"init={type(init).__name__}() predicts numbers that are not finite")
    return loss.inverse(found)
