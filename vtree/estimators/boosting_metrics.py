"""What early stopping watches: a loss, a metric by name, or a function of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from vtree.errors import InputError
from vtree.losses import Loss

Floats = NDArray[np.float64]


class Metric(NamedTuple):
    """A number a round, and whether larger is better."""

    name: str
    function: Callable[[Floats, Floats, Floats | None, Loss], float]
    larger: bool = False

    def score(self, raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
        """Return the metric of raw predictions (N, K)."""
        return float(self.function(raw, y, weight, loss))


def _mean_loss(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return float(np.average(loss.of(raw, y).loss, weights=weight))


def _rmse(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return float(np.sqrt(np.average((_distances(raw, y, loss) ** 2).mean(axis=1), weights=weight)))


def _mae(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return float(np.average(np.abs(_distances(raw, y, loss)).mean(axis=1), weights=weight))


def _distances(raw: Floats, y: Floats, loss: Loss) -> Floats:
    """Return predictions less targets, (N, K)."""
    distance: Floats = loss.link(raw) - (y if y.ndim == 2 else y[:, None])
    return distance


def _error(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return float(np.average(np.argmax(loss.link(raw), axis=1) != y, weights=weight))


def _auc(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return float(roc_auc_score(y, raw[:, 0], sample_weight=weight))


_CLASSES = {
    "logloss": Metric("logloss", _mean_loss),
    "mlogloss": Metric("mlogloss", _mean_loss),
    "error": Metric("error", _error),
    "merror": Metric("merror", _error),
    "auc": Metric("auc", _auc, larger=True),
}
_REALS = {"rmse": Metric("rmse", _rmse), "mae": Metric("mae", _mae)}


def metric_of(wanted: Any, loss: Loss) -> Metric:
    """Return the metric for `eval_metric`: a name, a function (y, prediction), None for the loss.

    A function is given predictions, of classifiers the shares of the classes; smaller is better.
    """
    if wanted is None:
        return Metric("loss", _mean_loss)
    if callable(wanted):
        return Metric(getattr(wanted, "__name__", "metric"), _by_user(wanted))
    known = _CLASSES if loss.domain == "class" else _REALS
    if wanted not in known:
        raise InputError(
            f"eval_metric={wanted!r} is not known here; use one of {sorted(known)}, a function "
            "(y, prediction) -> number, or None for the loss itself"
        )
    return known[wanted]


def _by_user(function: Callable[..., Any]) -> Callable[..., float]:
    def score(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
        found = loss.link(raw)
        value = float(function(y, found[:, 0] if found.shape[1] == 1 else found))
        if not np.isfinite(value):
            raise InputError(f"eval_metric returned {value}; it must return a finite number")
        return value

    return score
