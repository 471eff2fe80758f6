"""How much a bagged answer would vary with another training set, from the samples it has.

The infinitesimal jackknife and the jackknife after bootstrap, each with its correction for the
finite number of trees (Wager, Hastie & Efron, Confidence intervals for random forests, JMLR 15,
2014, equations 5, 6, 7 and 9).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROWS = 4096  # training rows at a time


def infinitesimal(times: Integers, answers: Floats, *, corrected: bool = True) -> Floats:
    """Return Σ_i Cov_i², less n/B² Σ_b (t_b − t)² if `corrected`, (Q,).

    times (B, n): how often each tree drew each row; answers (B, Q): what each tree says. Cov_i is
    that of times and answers over trees.
    """
    n_trees, n_rows = times.shape
    apart = answers - answers.mean(axis=0)
    variance = np.zeros(answers.shape[1])
    for first in range(0, n_rows, _ROWS):
        own = times[:, first : first + _ROWS]
        covariance = (own - own.mean(axis=0)).T @ apart / n_trees
        variance += (covariance * covariance).sum(axis=0)
    return variance - n_rows / n_trees**2 * (apart * apart).sum(axis=0) if corrected else variance


def after_bootstrap(times: Integers, answers: Floats, *, corrected: bool = True) -> Floats:
    """Return (n − 1)/n Σ_i (t_−i − t)², less (e − 1) n/B² Σ_b (t_b − t)² if `corrected`, (Q,).

    t_−i is the mean of the trees that did not draw row i. Rows that all trees drew are left out.
    """
    n_trees, n_rows = times.shape
    apart = answers - answers.mean(axis=0)
    variance = np.zeros(answers.shape[1])
    for first in range(0, n_rows, _ROWS):
        without = (times[:, first : first + _ROWS] == 0).astype(np.float64)
        count = without.sum(axis=0)
        without, count = without[:, count > 0.0], count[count > 0.0]
        distance = without.T @ apart / count[:, None]
        variance += (distance * distance).sum(axis=0)
    variance *= (n_rows - 1) / n_rows
    noise = (np.e - 1.0) * n_rows / n_trees**2 * (apart * apart).sum(axis=0)
    return variance - noise if corrected else variance


def extrapolated(times: Integers, answers: Floats, *, corrected: bool = True) -> Floats:
    """Return the mean of both, whose biases have opposite signs (section 2.2), (Q,)."""
    by_share = infinitesimal(times, answers, corrected=corrected)
    return (by_share + after_bootstrap(times, answers, corrected=corrected)) / 2.0


METHODS: dict[str, Callable[..., Floats]] = {
    "infinitesimal": infinitesimal,
    "after_bootstrap": after_bootstrap,
    "extrapolated": extrapolated,
}
