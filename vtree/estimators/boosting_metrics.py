"""What early stopping watches: a loss, a metric by name, or a function of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, r2_score, roc_auc_score

from vtree.errors import InputError, own_errors
from vtree.losses import Loss

Floats = NDArray[np.float64]


class Metric(NamedTuple):
    """A number a round, and whether larger is better."""

    name: str
    function: Callable[[Floats, Floats, Floats | None, Loss], float | tuple[float, bool]]
    larger: bool = False

    def score(
        self, raw: Floats, y: Floats, weight: Floats | None, loss: Loss
    ) -> tuple[float, bool]:
        """Return (the metric of raw predictions (N, K), whether larger is better)."""
        found = self.function(raw, y, weight, loss)
        return found if isinstance(found, tuple) else (float(found), self.larger)


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
    _check_classes(y, max(2, raw.shape[1]), "auc")
    if raw.shape[1] == 1:
        return float(roc_auc_score(y, raw[:, 0], sample_weight=weight))
    how = {"multi_class": "ovr", "average": "weighted", "sample_weight": weight}
    return float(roc_auc_score(y, loss.link(raw), **how))


def _precision(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    if raw.shape[1] > 1:
        raise InputError('eval_metric "aucpr" is of two classes; use "auc" or "mlogloss"')
    _check_classes(y, 2, "aucpr")
    return float(average_precision_score(y, raw[:, 0], sample_weight=weight))


def _check_classes(y: Floats, n_classes: int, name: str) -> None:
    found = np.unique(y).size
    if found < n_classes:
        raise InputError(
            f"eval_metric {name!r} needs rows of all {n_classes} classes, but a table of eval_set "
            f"holds {found} of them; add rows, or use the log-loss"
        )


def _r2(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return float(r2_score(y, loss.link(raw), sample_weight=weight))


def _mse(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return _rmse(raw, y, weight, loss) ** 2


def _accuracy(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> float:
    return 1.0 - _error(raw, y, weight, loss)


# As XGBoost, LightGBM and CatBoost call them, in small letters: (function, larger is better).
_LOSSES = ("logloss", "mlogloss", "binary_logloss", "multi_logloss", "multiclass")
_CLASSES: dict[str, tuple[Callable[..., float], bool]] = {
    **dict.fromkeys(_LOSSES, (_mean_loss, False)),
    **dict.fromkeys(("error", "merror", "binary_error", "multi_error"), (_error, False)),
    "accuracy": (_accuracy, True),
    "auc": (_auc, True),
    **dict.fromkeys(("aucpr", "average_precision"), (_precision, True)),
}
_REALS: dict[str, tuple[Callable[..., float], bool]] = {
    **dict.fromkeys(("rmse", "root_mean_squared_error"), (_rmse, False)),
    **dict.fromkeys(("mse", "l2", "mean_squared_error"), (_mse, False)),
    **dict.fromkeys(("mae", "l1", "mean_absolute_error"), (_mae, False)),
    "r2": (_r2, True),
}


def metrics_of(wanted: Any, loss: Loss) -> list[Metric]:
    """Return the metrics for `eval_metric`: one as `metric_of` takes them, or a list of these.

    Raises
    ------
    InputError
        An unknown name, no metric, or two of one name.
    """
    several = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    metrics = [metric_of(own, loss) for own in several]
    for number, own in enumerate(several):
        if callable(own):  # two lambdas, say: told apart by their places
            before = [metric.name for metric in metrics[:number]]
            if metrics[number].name in before:
                metrics[number] = metrics[number]._replace(name=f"{metrics[number].name}_{number}")
    names = [metric.name for metric in metrics]
    if not metrics or len(set(names)) < len(names):
        raise InputError(
            f"eval_metric={wanted!r} must name metrics, each of them once; pass None for the loss"
        )
    return metrics


def metric_of(wanted: Any, loss: Loss) -> Metric:
    """Return the metric for a name, a function (y, prediction), or None for the loss.

    A function is given predictions: of two classes the shares of the second (N,), of more those of
    all (N, K), with the classes' numbers for y. Rows' weights, None where there are none, are
    given to one that has a parameter `sample_weight`, as scikit-learn's, or a third one without a
    default, as LightGBM's; another one judges all rows alike. It returns a number, of which smaller
    is better but for scikit-learn's `…_score`, or (name, number, whether larger is better) as for
    LightGBM; the metric is called what the function is, whatever the name in it.
    """
    if wanted is None:
        return Metric("loss", _mean_loss)
    if callable(wanted):
        inner = unwrapped(wanted)
        return Metric(getattr(inner, "__name__", type(inner).__name__), _by_user(wanted))
    known = _CLASSES if loss.domain == "class" else _REALS
    if not isinstance(wanted, str) or wanted.lower() not in known:
        raise InputError(
            f"eval_metric={wanted!r} is not known here; use one of {sorted(known)}, a function "
            "(y, prediction) -> number, a list of these, or None for the loss itself"
        )
    return Metric(wanted, *known[wanted.lower()])


def unwrapped(function: Any) -> Any:
    """Return the function that a `functools.partial` calls, which has a name; others as is."""
    return function.func if isinstance(function, partial) else function


def _by_user(function: Callable[..., Any]) -> Callable[..., tuple[float, bool]]:
    with_weight, is_score = _weighted(function), _is_score(function)

    def score(raw: Floats, y: Floats, weight: Floats | None, loss: Loss) -> tuple[float, bool]:
        linked = loss.link(raw).copy()  # as y, for the function may work in place
        if loss.domain == "class" and linked.shape[1] == 2:
            linked = linked[:, 1]
        elif linked.shape[1] == 1:
            linked = linked[:, 0]
        with own_errors("eval_metric", _ASKED):
            found = with_weight(y.copy(), linked, None if weight is None else weight.copy())
        is_named = isinstance(found, tuple) and len(found) == 3
        _, number, larger = found if is_named else ("", found, is_score)
        with own_errors("eval_metric", "It returns a number, or (name, number, larger is better)."):
            value = float(number)
        if not np.isfinite(value):
            raise InputError(f"eval_metric returned {value}; it must return a finite number")
        return value, bool(larger)

    return score


_ASKED = "It is called with y and predictions: of two classes the shares of the second, (N,)."


def _weighted(function: Callable[..., Any]) -> Callable[[Floats, Floats, Floats | None], Any]:
    """Return function(y, prediction, weight), which hands weights on to one that asks for them."""
    try:
        asked = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # compiled code may keep its signature to itself
        asked = []
    if any(each.name == "sample_weight" for each in asked):
        return lambda y, prediction, weight: function(y, prediction, sample_weight=weight)
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if sum(each.kind in by_place and each.default is each.empty for each in asked) == 3:
        return function
    return lambda y, prediction, _: function(y, prediction)


def _is_score(function: Any) -> bool:
    """Tell whether it is one of scikit-learn's of which, by their names, larger is better."""
    inner = unwrapped(function)
    module, name = (str(getattr(inner, each, "")) for each in ("__module__", "__name__"))
    return module.startswith("sklearn.metrics") and name.endswith("_score")
