"""AdaBoost: weak learners on ever new weights of the rows, heavier where the last one erred.

SAMME (Zhu, Zou, Rosset & Hastie, Multi-class AdaBoost, 2009; AdaBoost.M1 of Freund & Schapire for
two classes) and R2 (Drucker, Improving regressors using boosting techniques, 1997). R2 resamples
rows by their weights; here the learner is given the weights themselves, so that nothing is left to
chance and a weight of two is two rows.

Weights are integers in every sum, so the order of the rows cannot matter. How many cases a row
stands for is kept apart from what a case has come to weigh, so that a weight of three stays three
rows to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.elementary import log
from vtree.targets import PRODUCT_BITS, quantise_weights
from vtree.tree import Tree
from vtree_kernels.elementary.reference import LN2_HIGH, LN2_LOW

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEAST = float(np.finfo(np.float64).eps)  # of the total weight: a case never weighs less


class Weights(NamedTuple):
    """What N rows weigh."""

    case: Floats  # (N,) what each case weighs
    times: Integers | None = None  # (N,) how many cases a row stands for, None: one

    @property
    def whole(self) -> Integers:
        """Integers in proportion to the rows' weights, (N,)."""
        return self._quantised[0]

    @property
    def total(self) -> float:
        """The sum of the rows' weights, the same in any order."""
        whole, unit = self._quantised
        return unit * int(whole.sum())

    @property
    def of_rows(self) -> Floats:
        """The rows' weights, (N,)."""
        return self.case if self.times is None else self.case * self.times

    @property
    def _quantised(self) -> tuple[Integers, float]:
        times = np.ones(self.case.size, dtype=np.int64) if self.times is None else self.times
        whole, unit = quantise_weights(self.case, int(times.sum()))
        return times if whole is None else whole * times, unit


def weights_of(given: Floats) -> Weights:
    """Return the weights of a first round (N,), positive: whole ones are so many cases.

    So are whole multiples of a part of one.
    """
    whole, unit = quantise_weights(given, given.size)
    times = np.ones(given.size, dtype=np.int64) if whole is None else whole
    if unit.is_integer() and unit * float(times.sum()) < 2.0**PRODUCT_BITS:
        times = times * int(unit)
    if int(times.sum()).bit_length() > PRODUCT_BITS:
        return Weights(given)
    return Weights(np.ones(given.size), times if times.max() > 1 else None)


class Step(NamedTuple):
    """What a round makes of its learner."""

    error: float
    alpha: float | None  # the learner's weight; None: it is no better than chance
    factor: Floats | None  # (N,) what the rows' weights are multiplied by, None: nothing is left


class Boosted(NamedTuple):
    """The rounds of a fit."""

    trees: list[Tree]
    alphas: list[float]
    errors: list[float]


# fit(weights) → (tree, what it answers for each training row)
Fit = Callable[[Weights], tuple[Tree, NDArray[np.generic]]]
# judge(answers, weight) → Step; weight (N,) int64
Judge = Callable[[NDArray[np.generic], NDArray[np.int64]], Step]


def boost(
    fit: Fit,
    judge: Judge,
    weights: Weights,
    n_rounds: int,
    told: Callable[[Boosted], bool] | None = None,
) -> Boosted:
    """Run `n_rounds` at most, from positive weights.

    A learner that makes no error, or is no better than chance, is the last one; the latter is
    kept only if it is the first. told: asked after each round whether to stop.
    """
    boosted = Boosted([], [], [])
    weights = weights._replace(case=_scaled(weights.case))
    for _ in range(n_rounds):
        weights = weights._replace(case=np.maximum(weights.case, _LEAST * weights.total))
        tree, answers = fit(weights)
        following = _take(boosted, tree, judge(answers, weights.whole), weights.case)
        stop = told is not None and told(boosted)
        if stop or following is None:
            break
        weights = weights._replace(case=following)
    return boosted


def _take(boosted: Boosted, tree: Tree, step: Step, weight: Floats) -> Floats | None:
    """Add a round to `boosted`; return the weights of the next one, None if there is none."""
    if step.alpha is None:
        if not boosted.trees:
            boosted.trees.append(tree)
        return None
    boosted.trees.append(tree)
    boosted.alphas.append(step.alpha)
    boosted.errors.append(step.error)
    if step.factor is None:
        return None
    with np.errstate(over="ignore"):
        weight = weight * step.factor
    if not np.isfinite(weight).all():
        warnings.warn(
            f"Sample weights have reached infinite values, after {len(boosted.trees)} rounds. "
            "Boosting stops there; lower the learning rate.",
            stacklevel=6,
        )
        return None
    return _scaled(weight)


def _scaled(weight: Floats) -> Floats:
    """Return weights over a power of two, the largest below one: whole ones stay exact."""
    scaled: Floats = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    return scaled


def samme(target: NDArray[np.generic], n_classes: int, learning_rate: float) -> Judge:
    """Judge class numbers: alpha = rate (ln((1 − err) / err) + ln(K − 1)), misses times e^alpha."""

    def judge(answers: NDArray[np.generic], whole: NDArray[np.int64]) -> Step:
        missed = answers != target
        error = int(whole[missed].sum()) / int(whole.sum())
        if error <= 0.0:
            return Step(0.0, 1.0, None)
        if error >= 1.0 - 1.0 / n_classes:
            return Step(error, None, None)
        odds = _log((1.0 - error) / error) + _log(n_classes - 1.0)
        alpha = learning_rate * odds
        return Step(error, alpha, np.where(missed, _exp(np.asarray([alpha])), 1.0))

    return judge


def r2(target: Floats, loss: str, learning_rate: float) -> Judge:
    """Judge numbers: alpha = rate ln(1 / beta), beta = L / (1 − L), rows times beta^(rate (1 − l)).

    l is a row's loss, from 0 to 1: its error over the largest one, as it is ("linear"), squared
    ("square"), or 1 − e^−error ("exponential"); L is their weighted mean.
    """

    def judge(answers: NDArray[np.generic], whole: NDArray[np.int64]) -> Step:
        own = np.abs(answers.astype(np.float64) - target)
        largest = float(own.max())
        own = own / largest if largest > 0.0 else own
        if loss == "square":
            own = own * own
        elif loss == "exponential":
            own = 1.0 - _exp(-own)
        scaled = np.rint(own * 2.0**30).astype(np.int64)
        # Two factors of at most 53 and 31 bits: Python's integers add them exactly.
        total = sum((scaled.astype(object) * whole.astype(object)).tolist())
        error = total / (int(whole.sum()) * 2**30)
        if error <= 0.0:
            return Step(0.0, 1.0, None)
        if error >= 0.5:
            return Step(error, None, None)
        log_beta = _log(error / (1.0 - error))
        factor = _exp((1.0 - own) * (learning_rate * log_beta))
        return Step(error, -learning_rate * log_beta, factor)

    return judge


def _log(x: float) -> float:
    return float(np.asarray(log(np.asarray([x])))[0])


def _exp(x: Floats) -> Floats:
    """Return e^x from + − × alone, so that every machine has the same bits.

    x = n ln 2 + r with |r| at most 0.35, and fifteen terms of the series of e^r.
    """
    n = np.rint(x / LN2_HIGH)
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    total = np.ones_like(x)
    for k in range(15, 0, -1):
        total = 1.0 + r / k * total
    with np.errstate(over="ignore"):
        return np.ldexp(total, np.clip(n, -2000, 2000).astype(np.int64))
