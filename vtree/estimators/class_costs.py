"""The door for `priors` and `costs`: what classes weigh, and what it costs to mistake them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from vtree.costs import class_factors
from vtree.errors import InputError, own_errors

Floats = NDArray[np.float64]

_SUM_TOLERANCE = 1e-8


def prior_vector(priors: Any, classes: NDArray[Any]) -> Floats | None:
    """Return the prior of each of K classes, (K,), or None where the data says it.

    Raises
    ------
    InputError
        Other than K positive numbers that sum to one, in the order of the classes or by class.
    """
    if priors is None:
        return None
    if isinstance(priors, str):
        if priors != "equal":
            raise InputError(f"priors={priors!r} is not None, 'equal', numbers, or a dict")
        return np.full(classes.size, 1.0 / classes.size)
    if isinstance(priors, Mapping):
        priors = _in_order(priors, classes)
    with own_errors("priors"):
        vector = np.asarray(priors, dtype=np.float64)
    if vector.shape != classes.shape:
        raise InputError(
            f"priors has the shape {vector.shape}, but y has {classes.size} classes, "
            f"{classes.tolist()}; pass one number a class"
        )
    if not (np.isfinite(vector).all() and (vector > 0.0).all()):
        raise InputError(f"priors must be positive, got {vector.tolist()}")
    if abs(float(vector.sum()) - 1.0) > _SUM_TOLERANCE:
        raise InputError(
            f"priors must sum to 1, but {vector.tolist()} sum to {vector.sum():.10g}; divide "
            "them by their sum"
        )
    return vector


def _in_order(priors: Mapping[Any, Any], classes: NDArray[Any]) -> list[Any]:
    strangers = [label for label in priors if label not in classes.tolist()]
    absent = [label for label in classes.tolist() if label not in priors]
    if strangers or absent:
        raise InputError(
            f"priors names the classes {list(priors)}, but those of y are {classes.tolist()}; "
            "give each of them its prior"
        )
    return [priors[label] for label in classes.tolist()]


def cost_matrix(costs: Any, classes: NDArray[Any]) -> Floats | None:
    """Return what a true class (row) taken for another (column) costs, (K, K), or None.

    One class cannot be taken for another, so its matrix counts as None.

    Raises
    ------
    InputError
        Other than K times K finite numbers, not negative, zeros on the diagonal, and at least one
        positive number in each row.
    """
    if costs is None:
        return None
    with own_errors("costs"):
        matrix = np.asarray(costs, dtype=np.float64)
    n_classes = classes.size
    if matrix.shape != (n_classes, n_classes):
        raise InputError(
            f"costs has the shape {matrix.shape}, but y has {n_classes} classes, "
            f"{classes.tolist()}; pass a matrix of {n_classes} rows (the true class) and "
            f"{n_classes} columns (the predicted one)"
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0.0).all()):
        raise InputError(f"costs must be finite and not negative, got {matrix.tolist()}")
    if matrix.diagonal().any():
        raise InputError(
            f"costs must have zeros on the diagonal, got {matrix.diagonal().tolist()}; a right "
            "answer costs nothing"
        )
    if n_classes == 1:
        return None
    free = np.flatnonzero(~matrix.any(axis=1))
    if free.size:
        label = classes.tolist()[free[0]]
        raise InputError(
            f"costs has a row of zeros for the class {label!r}: nothing would be lost by never "
            "predicting it; leave its rows out, or let its errors cost something"
        )
    return matrix


def check_single_output(estimator: Any, n_outputs: int) -> None:
    """Raise InputError if `priors` or `costs` are given for several outputs."""
    for name in ("priors", "costs"):
        if n_outputs > 1 and getattr(estimator, name) is not None:
            raise InputError(f"{name} is for one output, and y has {n_outputs} columns")
    if estimator.priors is not None and estimator.class_weight is not None:
        raise InputError(
            "priors and class_weight both say what classes weigh; set one of them to None"
        )


def altered_weights(
    weight: Floats | None, codes: NDArray[np.int64], priors: Floats | None, costs: Floats | None
) -> Floats | None:
    """Return the weights (N,) of rows of classes `codes` (N,) that stand for priors and costs.

    Raises
    ------
    InputError
        A class without any weight.
    """
    if priors is None and costs is None:
        return weight
    own: Floats = np.ones(codes.size) if weight is None else weight
    n_classes = len(priors if priors is not None else costs)  # type: ignore[arg-type]
    of_class: Floats = np.bincount(codes, own, n_classes).astype(np.float64)
    if not (of_class > 0.0).all():
        raise InputError(
            "sample_weight is zero for all rows of a class, so its prior and its costs cannot be "
            "met; leave the class out"
        )
    altered: Floats = own * class_factors(of_class, priors, costs)[codes]
    return altered


def weight_like_training(model: Any, y: NDArray[Any], weight: Floats | None) -> Floats | None:
    """Return weights (N,) under which unseen rows count as a model's training rows did.

    y (N, outputs): labels; weight (N,): the rows' own, or None. Priors, and class weights, are
    those of the model.
    """
    class_weight = getattr(model, "class_weight", None)
    priors = getattr(model, "priors_", None)
    own: Floats = np.ones(len(y)) if weight is None else weight
    if class_weight is not None:
        known = model.classes_ if isinstance(class_weight, Mapping) else y[:0, 0]
        # With the classes behind them, for a weight of a class that no row has is an error there.
        rows = np.concatenate([y[:, 0], known]) if y.shape[1] == 1 else y
        weighed: Floats = own * compute_sample_weight(class_weight, rows)[: len(y)]
        return weighed
    if priors is not None:
        codes = np.searchsorted(model.classes_, y[:, 0])
        of_class = np.bincount(codes, own, priors.size)
        share = of_class / of_class.sum()
        factor: Floats = np.divide(priors, share, out=np.zeros_like(priors), where=share > 0.0)
        return own * factor[codes]
    return weight
