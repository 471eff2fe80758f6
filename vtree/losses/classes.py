"""Losses of classes: the log-loss of two classes, and of several.

Of two classes one raw prediction says the log-odds of the second; of K classes there are K, and
their shares are exp raw_k / Σ exp raw.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array
from vtree.elementary import choose, exp, log
from vtree.losses.exact import exact_mean
from vtree.losses.slopes import Pair, Slopes
from vtree_kernels.elementwise import elementwise
from vtree_kernels.softmax import softmax

Floats = NDArray[np.float64]

_LEAST_SHARE = 1e-16
_EPSILON = float(np.finfo(np.float64).eps)


def logistic_terms(raw: Any, y: Any) -> Any:
    """Return the derivatives p − y and p (1 − p) of log(1 + exp raw) − y raw, and it.

    y is 0 or 1.
    """
    size = choose(raw < 0.0, -raw, raw)
    small = exp(-size)  # never overflows
    share = choose(raw < 0.0, small, 1.0 + 0.0 * raw) / (1.0 + small)
    loss = choose(raw > 0.0, raw, 0.0 * raw) + log(1.0 + small) - y * raw
    return share - y, small / ((1.0 + small) * (1.0 + small)), loss


def logistic_start(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return the log-odds of the second class."""
    return logit(exact_mean(y, weight))


def logit(share: float) -> float:
    """Return the log-odds of a share, of 0 and 1 as if it were 1e-16 off."""
    share = min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE)
    return float(log(np.asarray([share / (1.0 - share)]))[0])


def logistic_link(raw: Floats) -> Floats:
    """Return the shares of both classes, (N, 2), from log-odds (N, 1)."""
    (share,) = elementwise(raw[:, 0], (), (), _share, 1)
    return np.stack([1.0 - share, share], axis=1)


def _share(raw: Any) -> Any:
    small = exp(choose(raw < 0.0, raw, -raw))
    return (choose(raw < 0.0, small, 1.0 + 0.0 * raw) / (1.0 + small),)


def logistic_inverse(shares: Floats) -> Floats:
    """Return log-odds (N, 1) of shares (N, 2), of 0 and 1 as if they were a little off."""
    share = np.clip(shares[:, 1], _EPSILON, 1.0 - _EPSILON)
    odds: Floats = log(share / (1.0 - share))[:, None]
    return odds


def exponential_terms(raw: Any, y: Any) -> Any:
    """Return the derivatives of exp(−s raw), s = 2 y − 1, and it (AdaBoost's; y is 0 or 1)."""
    side = 2.0 * y - 1.0
    loss = exp(-(side * raw))
    return -(side * loss), loss, loss


def exponential_start(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return half the log-odds of the second class."""
    return half_logit(exact_mean(y, weight))


def half_logit(share: float) -> float:
    """Return the raw prediction of a share."""
    return logit(share) / 2.0


def exponential_link(raw: Floats) -> Floats:
    """Return the shares of both classes, (N, 2), from half their log-odds (N, 1)."""
    return logistic_link(2.0 * raw)


def exponential_inverse(shares: Floats) -> Floats:
    """Return half the log-odds (N, 1) of shares (N, 2)."""
    return logistic_inverse(shares) / 2.0


def multinomial_start(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return the logarithm of the share of class numbers[0]."""
    share = exact_mean((y == numbers[0]).astype(np.float64), weight)
    return float(log(np.asarray([max(share, _LEAST_SHARE)]))[0])


def multinomial_link(raw: Floats) -> Floats:
    """Return the shares of K classes, (N, K)."""
    n_rows, n_raw = raw.shape
    found = softmax(np.asfortranarray(raw), np.zeros(n_raw), np.zeros(n_rows))
    common = found.largest, found.total
    shares = [elementwise(raw[:, k], common, (), _class_share, 1)[0] for k in range(n_raw)]
    return np.stack(shares, axis=1)


def multinomial_inverse(shares: Floats) -> Floats:
    """Return the logarithms of shares (N, K), less their mean over the classes."""
    return centered(log(np.clip(shares, _EPSILON, 1.0 - _EPSILON)))


def centered(raw: Floats) -> Floats:
    """Return raw predictions (…, K), which mean the same shares, that add up to zero."""
    total = np.zeros(raw.shape[:-1])
    for k in range(raw.shape[-1]):
        total += raw[..., k]
    found: Floats = raw - (total / raw.shape[-1])[..., None]
    return found


def multinomial_terms(raw: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the derivatives of log Σ exp raw − raw_y, and it."""
    found = softmax(np.asfortranarray(raw), np.zeros(raw.shape[1]), y)
    own = raw[np.arange(y.size), y.astype(np.int64)]
    (loss,) = elementwise(own, (found.largest, found.total), (), _class_loss, 1)
    return *multinomial_derivatives(raw, y), loss


def multinomial_derivatives(raw: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return p_k − [y = k] and p_k (1 − p_k), each (N, K).

    Systems multiply the second derivatives by factors of their own.
    """
    gradient, hessian = (np.empty(raw.shape, order="F") for _ in range(2))
    columns = multinomial_slopes(np.zeros(raw.shape[1]), np.asfortranarray(raw), y)
    for k, column in enumerate(columns):
        gradient[:, k], hessian[:, k] = column.whole()
    return gradient, hessian


def multinomial_slopes(start: Floats, sums: Array, y: Array) -> list[Slopes]:
    """Return the derivatives by each of K raw predictions, start (K,) + sums (N, K).

    Those by one ask for its own sums when they are worked out, and for nobody else's: these may
    have changed since.
    """
    found = softmax(sums, start, y)

    def of(k: int, rows: slice) -> Pair:
        common = found.largest[rows], found.total[rows], y[rows]
        numbers = float(start[k]), float(k)
        gradient, hessian = elementwise(sums[rows, k], common, numbers, _class_slopes, 2)
        return gradient, hessian

    reach = found.steep, found.curved
    return [Slopes(y.shape[0], functools.partial(of, k), reach) for k in range(start.size)]


def multinomial_losses(start: Floats, sums: Array, y: Array) -> Array:
    """Return log Σ exp raw − raw_y, (N,), of raw = start (K,) + sums (N, K)."""
    found, own = softmax(sums, start, y), sums[:, 0]
    for k, before in enumerate(start.tolist()):
        (own,) = elementwise(sums[:, k], (own, y), (before, float(k)), _or_of_class, 1)
    return elementwise(own, (found.largest, found.total), (), _class_loss, 1)[0]


def _or_of_class(sums: Any, own: Any, y: Any, start: Any, k: Any) -> Any:
    return (choose(y == k, start + sums, own),)


def _class_slopes(sums: Any, largest: Any, total: Any, y: Any, start: Any, k: Any) -> Any:
    share = exp((start + sums) - largest) / total
    return share - choose(y == k, 1.0, 0.0), share * (1.0 - share)


def _class_share(raw: Any, largest: Any, total: Any) -> Any:
    return (exp(raw - largest) / total,)


def _class_loss(raw: Any, largest: Any, total: Any) -> Any:
    return (log(total) - (raw - largest),)
