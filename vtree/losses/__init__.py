"""Losses: what boosting descends. `REGRESSION` and `CLASSIFICATION` map a name to its parts.

A loss is written as small arithmetic functions of numbers, see `vtree_kernels.elementwise`, with
`raw` the ensemble's raw prediction:

    terms(raw, y, *numbers) -> (first derivative by raw, second derivative by raw, loss)

Several classes share one denominator, Σ_k exp raw_k, and so have a function of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array
from vtree.losses import absolute, classes, counts, squared
from vtree.losses.exact import (
    Terms,
    check_finite,
    exact_mean,
    exact_sum,
    lowest_exponent,
    quantile,
    reach_of,
    rounding,
    whole_numbers,
)
from vtree.losses.slopes import (
    Slopes,
    end_to_end,
    first_order,
    held,
    reach_of_slopes,
    weighed,
)
from vtree_kernels.elementwise import elementwise, with_reach

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "Loss",
    "Slopes",
    "Terms",
    "check_finite",
    "end_to_end",
    "exact_mean",
    "exact_sum",
    "first_order",
    "held",
    "lowest_exponent",
    "quantile",
    "quantiles",
    "reach_of",
    "reach_of_slopes",
    "rounding",
    "weighed",
    "whole_numbers",
]


def _same(raw: Floats) -> Floats:
    return raw


class Loss(NamedTuple):
    """One loss, with what boosting needs of it.

    terms: as above, of one raw prediction; None for several classes.
    numbers: what `terms` takes besides.
    of_columns: what it takes of each of K raw predictions, where they differ.
    start(y, weight, numbers) -> the raw prediction that is best for all rows; weight (N,) whole
        numbers, or None.
    link: raw prediction → prediction, as columns (N, K).
    inverse: prediction (N, K) → raw prediction.
    domain: "real", "not negative", "positive" or "class": what y may be.
    level(numbers): the quantile of residuals that is best in a leaf, None where derivatives say it.
    curved: whether the second derivative differs from row to row.
    in_turn(start, sums, y): what derives the loss by each raw prediction, start (K,) + sums (N, K),
        where they are not independent of each other; for `slopes`.
    """

    terms: Callable[..., tuple[Any, Any, Any]] | None
    start: Callable[[Floats, Integers | None, tuple[float, ...]], float]
    link: Callable[[Floats], Floats]
    numbers: tuple[float, ...] = ()
    domain: str = "real"
    level: Callable[[tuple[float, ...]], float] | None = None
    curved: bool = True
    unlink: Callable[[float], float] = float
    inverse: Callable[[Floats], Floats] = _same
    of_columns: tuple[tuple[float, ...], ...] | None = None
    in_turn: Callable[[Floats, Array, Array], list[Slopes]] | None = None

    def numbers_of(self, k: int) -> tuple[float, ...]:
        """Return what `terms` takes besides for raw prediction k."""
        return self.numbers if self.of_columns is None else self.of_columns[k]

    def levels(self, n_raw: int) -> tuple[float, ...] | None:
        """Return the quantiles of residuals that are best in the leaves of each tree, (K,)."""
        if self.level is None:
            return None
        return tuple(self.level(self.numbers_of(k)) for k in range(n_raw))

    def starts(self, y: Floats, weight: Integers | None, n_raw: int) -> Floats:
        """Return the raw predictions to start from, (K,)."""
        if self.terms is None:
            return np.asarray([self.start(y, weight, (float(k),)) for k in range(n_raw)])
        own = [self.start(_target(y, k), weight, self.numbers_of(k)) for k in range(n_raw)]
        return np.asarray(own)

    def of(self, raw: Floats, y: Floats) -> Terms:
        """Return the terms of rows with raw predictions (N, K) and targets (N,) or (N, K)."""
        if self.terms is None:
            return Terms(*classes.multinomial_terms(raw, y))
        gradient, hessian, losses = self._columns(raw, y, 3)
        one = losses[:, 0] if raw.shape[1] == 1 else _row_means(list(losses.T))
        return Terms(gradient, hessian, one)

    def losses(self, start: Floats, sums: Array, y: Array) -> Array:
        """Return what rows lose, (N,), at start (K,) or (N, K) + sums (N, K).

        They lie beside these.
        """
        if start.ndim == 2:
            return self.of(start + sums, y).loss
        if self.terms is None:
            return classes.multinomial_losses(start, sums, y)
        own = []
        for k in range(start.size):
            given = (_target(y, k),), self.numbers_of(k), self.terms, 3
            own.append(with_reach(sums[:, k], *given, float(start[k]))[0][2])
        return own[0] if len(own) == 1 else _row_means(own)

    def derivatives(self, raw: Floats, y: Floats) -> Terms:
        """Return the same without losses, which take half the time."""
        if self.terms is None:
            return Terms(*classes.multinomial_derivatives(raw, y), np.empty(0))
        gradient, hessian = self._columns(raw, y, 2)
        return Terms(gradient, hessian, np.empty(0))

    def slopes(self, start: Floats, sums: Array, y: Array) -> list[Slopes]:
        """Return the derivatives by each raw prediction, start (K,) + sums (N, K), beside these."""
        if self.in_turn is not None:
            return self.in_turn(start, sums, y)
        assert self.terms is not None
        result = []
        for k in range(start.size):
            given = (_target(y, k),), self.numbers_of(k), self.terms, 1 + self.curved
            found, reach = with_reach(sums[:, k], *given, float(start[k]))
            if self.curved:
                result.append(held(found[0], found[1], (reach[0], reach[1])))
            else:
                result.append(held(found[0], None, (reach[0], 1.0)))
        return result

    def _columns(self, raw: Floats, y: Floats, n_terms: int) -> list[Floats]:
        """Return the first of the terms, (N, K) each."""
        assert self.terms is not None
        own = [
            elementwise(raw[:, k], (_target(y, k),), self.numbers_of(k), self.terms, n_terms)
            for k in range(raw.shape[1])
        ]
        return [_columns(each) for each in zip(*own, strict=True)]


def _columns(columns: tuple[Floats, ...]) -> Floats:
    """Return columns side by side (N, K), each in one piece."""
    return columns[0][:, None] if len(columns) == 1 else np.stack(columns).T


def _target(y: Array, k: int) -> Array:
    """Return the target of raw prediction k, (N,)."""
    return y if y.ndim == 1 else y[:, k]


def _row_means(columns: list[Array]) -> Array:
    """Return the mean of K columns (N,) in each row, added in their order."""
    total = columns[0]
    for each in columns[1:]:
        total = total + each
    return total / float(len(columns))


def quantiles(levels: tuple[float, ...], met: float = 1.0) -> Loss:
    """Return the pinball loss of several levels (K,) of the same target at once.

    met: what a target that is met counts as, 1 as below the prediction, 0 as above it.

    Predictions are sorted, so that no quantile lies above a higher one, which brings them nearer to
    the true ones (Chernozhukov, Fernández-Val and Galichon, 2010).
    """
    of_columns = tuple((level, met) for level in levels)
    return _ABSOLUTE._replace(of_columns=of_columns, link=_ascending)


def _ascending(raw: Floats) -> Floats:
    return np.sort(raw, axis=1)


_SQUARED = Loss(squared.terms, squared.start, _same, curved=False)
_ABSOLUTE = Loss(
    absolute.terms, absolute.start, _same, (0.5, 0.5), level=absolute.level, curved=False
)
_HUBER = Loss(absolute.huber_terms, absolute.median, _same, (1.0,), curved=False)
_POISSON = Loss(
    counts.poisson_terms,
    counts.start,
    counts.link,
    domain="not negative",
    unlink=counts.unlink,
    inverse=counts.inverse,
)

REGRESSION: Mapping[str, Loss] = MappingProxyType(
    {
        "squared_error": _SQUARED,
        "absolute_error": _ABSOLUTE,
        "huber": _HUBER,
        "quantile": _ABSOLUTE,
        "poisson": _POISSON,
        "gamma": _POISSON._replace(terms=counts.gamma_terms, domain="positive"),
        "tweedie": _POISSON._replace(terms=counts.tweedie_terms, numbers=(1.5,)),
    }
)
CLASSIFICATION: Mapping[str, Loss] = MappingProxyType(
    {
        "logistic": Loss(
            classes.logistic_terms,
            classes.logistic_start,
            classes.logistic_link,
            domain="class",
            unlink=classes.logit,
            inverse=classes.logistic_inverse,
        ),
        "exponential": Loss(
            classes.exponential_terms,
            classes.exponential_start,
            classes.exponential_link,
            domain="class",
            unlink=classes.half_logit,
            inverse=classes.exponential_inverse,
        ),
        "multinomial": Loss(
            None,
            classes.multinomial_start,
            classes.multinomial_link,
            domain="class",
            inverse=classes.multinomial_inverse,
            in_turn=classes.multinomial_slopes,
        ),
    }
)
