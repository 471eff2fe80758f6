"""Criteria: how much a split tells. The tables below map a name to its functions.

`CLASSIFICATION` and `REGRESSION` judge a split by sums over the rows of each side, `RANKED` by the
rows themselves, since no sums tell a median.

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

from vtree.criteria import classification, median, newton, regression


class Criterion(NamedTuple):
    """One way to judge splits, with what reports need.

    gain(left, right, layout) -> decrease, as said above.
    center(total, start, stop, order, targets) -> (M, K) what nodes predict: class shares, means or
        medians, from statistics (M, S) or from the nodes' rows, order[start[m] : stop[m]].
    impurity(stats, layout) -> (M,) from class weights (M, S), None for regression.
    deviance(y, center) -> (N,) the loss of each row at its leaf's center, None for classification.
    degree: the power of the targets' unit that gain and impurity carry.
    answer(side, layout) -> what a side answers by the plane `layout.ordered`, as a gain is written;
        None where no sums tell that, or nobody asks.
    by_rows: whether splits are judged from rows by the kernel `medians`, and not by `gain`.
    """

    gain: Callable[[Any, Any, Any], Any]
    center: Callable[[Any, Any, Any, Any, Any], Any]
    impurity: Callable[[Any, Any], Any] | None = None
    deviance: Callable[[Any, Any], Any] | None = None
    degree: int = 0
    by_rows: bool = False
    answer: Callable[[Any, Any], Any] | None = None


_GINI, _ENTROPY, _TWOING = (
    Criterion(gain, classification.shares, impurity=impurity, answer=regression.mean)
    for gain, impurity in (
        (classification.gini, classification.gini_impurity),
        (classification.entropy, classification.entropy_impurity),
        (classification.twoing, classification.gini_impurity),
    )
)
_SQUARED, _POISSON = (
    Criterion(gain, regression.means, deviance=deviance, degree=degree, answer=regression.mean)
    for gain, deviance, degree in (
        (regression.squared_error, regression.squared_deviance, 2),
        (regression.poisson, regression.poisson_deviance, 1),
    )
)
_ABSOLUTE = Criterion(
    median.no_gain, median.medians, deviance=median.absolute_deviance, degree=1, by_rows=True
)

NEWTON, BOUNDED_NEWTON, SMOOTHED_NEWTON = (
    Criterion(gain, newton.steps, impurity=newton.no_impurity, answer=answer)
    for gain, answer in (
        (newton.newton, newton.step),
        (newton.bounded_newton, newton.bounded_step),
        (newton.smoothed_newton, None),
    )
)

CLASSIFICATION: Mapping[str, Criterion] = MappingProxyType(
    {"gini": _GINI, "entropy": _ENTROPY, "log_loss": _ENTROPY, "twoing": _TWOING}
)
REGRESSION: Mapping[str, Criterion] = MappingProxyType(
    # Friedman's improvement, w_L w_R / w (mean_L − mean_R)², is the squared-error decrease itself.
    {"squared_error": _SQUARED, "friedman_mse": _SQUARED, "poisson": _POISSON}
)
RANKED: Mapping[str, Criterion] = MappingProxyType({"absolute_error": _ABSOLUTE})
