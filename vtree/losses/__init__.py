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

from vtree.losses import absolute, classes, counts, squared
from vtree.losses.exact import Terms, exact_mean, quantile, segment_quantiles, whole_numbers
from vtree_kernels.elementwise import elementwise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "Loss",
    "Terms",
    "exact_mean",
    "quantile",
    "segment_quantiles",
    "whole_numbers",
]


class Loss(NamedTuple):
    """One loss, with what boosting needs of it.

    terms: as above, of one raw prediction; None for several classes.
    numbers: what `terms` takes besides.
    start(y, weight, numbers) -> the raw prediction that is best for all rows; weight (N,) whole
        numbers, or None.
    link: raw prediction → prediction, as columns (N, K).
    domain: "real", "not negative", "positive" or "class": what y may be.
    level(numbers): the quantile of residuals that is best in a leaf, None where derivatives say it.
    curved: whether the second derivative differs from row to row.
    """

    terms: Callable[..., tuple[Any, Any, Any]] | None
    start: Callable[[Floats, Integers | None, tuple[float, ...]], float]
    link: Callable[[Floats], Floats]
    numbers: tuple[float, ...] = ()
    domain: str = "real"
    level: Callable[[tuple[float, ...]], float] | None = None
    curved: bool = True
    unlink: Callable[[float], float] = float

    def starts(self, y: Floats, weight: Integers | None, n_raw: int) -> Floats:
        """Return the raw predictions to start from, (K,)."""
        if self.terms is not None:
            return np.asarray([self.start(y, weight, self.numbers)])
        return np.asarray([self.start(y, weight, (float(k),)) for k in range(n_raw)])

    def of(self, raw: Floats, y: Floats) -> Terms:
        """Return the terms of rows with raw predictions (N, K) and targets (N,)."""
        if self.terms is None:
            return Terms(*classes.multinomial_terms(raw, y))
        columns = elementwise(raw[:, 0].copy(), (y,), self.numbers, self.terms, 3)
        return Terms(columns[0][:, None], columns[1][:, None], columns[2])

    def derivatives(self, raw: Floats, y: Floats) -> Terms:
        """Return the same without losses, which take half the time."""
        if self.terms is None:
            return Terms(*classes.multinomial_derivatives(raw, y), np.empty(0))
        columns = elementwise(raw[:, 0].copy(), (y,), self.numbers, self.terms, 2)
        return Terms(columns[0][:, None], columns[1][:, None], np.empty(0))


def _same(raw: Floats) -> Floats:
    return raw


_SQUARED = Loss(squared.terms, squared.start, _same, curved=False)
_ABSOLUTE = Loss(absolute.terms, absolute.start, _same, (0.5,), level=absolute.level, curved=False)
_HUBER = Loss(absolute.huber_terms, absolute.median, _same, (1.0,), curved=False)
_POISSON = Loss(
    counts.poisson_terms, counts.start, counts.link, domain="not negative", unlink=counts.unlink
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
        ),
        "multinomial": Loss(
            None, classes.multinomial_start, classes.multinomial_link, domain="class"
        ),
    }
)
