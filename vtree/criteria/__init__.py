"""Criteria: how much a split tells. `CLASSIFICATION` and `REGRESSION` map a name to its functions.

A gain is written once, as arithmetic on the statistics left and right of a candidate. It is called
with arrays (`left[k]` is then an array over nodes, features and bins) and, compiled, with numbers;
so it may use + − × ÷, `range` loops over a fixed order, and `vtree.elementary`, nothing else.
Neither side is ever empty. The result is the total decrease: the weight of the node times its
impurity, less the same of both children.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from vtree.criteria import classification, regression


class Criterion(NamedTuple):
    """One way to judge splits, with what reports need.

    gain(left, right, layout) -> decrease, as said above.
    impurity(stats, layout) -> (M,) from class weights (M, S), None for regression.
    deviance(y, mean) -> (N,) the loss of each row at its leaf's mean, None for classification.
    degree: the power of the targets' unit that gain and impurity carry.
    """

    gain: Callable[[Any, Any, Any], Any]
    impurity: Callable[[Any, Any], Any] | None = None
    deviance: Callable[[Any, Any], Any] | None = None
    degree: int = 0


_GINI = Criterion(classification.gini, impurity=classification.gini_impurity)
_ENTROPY = Criterion(classification.entropy, impurity=classification.entropy_impurity)
_TWOING = Criterion(classification.twoing, impurity=classification.gini_impurity)
_SQUARED = Criterion(regression.squared_error, deviance=regression.squared_deviance, degree=2)
_POISSON = Criterion(regression.poisson, deviance=regression.poisson_deviance, degree=1)

CLASSIFICATION: Mapping[str, Criterion] = MappingProxyType(
    {"gini": _GINI, "entropy": _ENTROPY, "log_loss": _ENTROPY, "twoing": _TWOING}
)
REGRESSION: Mapping[str, Criterion] = MappingProxyType(
    # Friedman's improvement, w_L w_R / w (mean_L − mean_R)², is the squared-error decrease itself.
    {"squared_error": _SQUARED, "friedman_mse": _SQUARED, "poisson": _POISSON}
)
