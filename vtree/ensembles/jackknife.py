"""How much a bagged answer would vary with another training set, from the samples it has.

The infinitesimal jackknife and the jackknife after bootstrap, each with its correction for the
finite number of trees (Wager, Hastie & Efron, Confidence intervals for random forests, JMLR 15,
2014, equations 5, 6, 7 and 9, which are of n draws, all rows alike). With m draws, row i with
probability p_i, the number of its draws has about the mean and variance m p_i, and a tree is
without it with probability e^(−m p_i). The noise of a row's covariance over B trees is then
m p_i v/B, v the variance over trees, and that of the mean without the row (e^(m p_i) − 1) v/B.
A row that cannot be drawn adds nothing to either.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROWS = 4096  # training rows at a time


def infinitesimal(
    times: Integers, answers: Floats, chance: Floats | None = None, *, corrected: bool = True
) -> Floats:
    """Return Σ_i Cov_i², less m/B² Σ_b (t_b − t)² if `corrected`, (Q,).

    times (B, n): how often each tree drew each row, m draws a tree; answers (B, Q): what each tree
    says; chance (n,): with what probability a draw is of a row, None where all are alike. Cov_i is
    that of times and answers over trees.
    """
    n_trees, n_rows = times.shape
    apart = answers - answers.mean(axis=0)
    variance = np.zeros(answers.shape[1])
    for first in range(0, n_rows, _ROWS):
        own = times[:, first : first + _ROWS]
        covariance = (own - own.mean(axis=0)).T @ apart / n_trees
        variance += (covariance * covariance).sum(axis=0)
    n_draws = int(times.sum()) / n_trees
    return variance - n_draws / n_trees**2 * (apart * apart).sum(axis=0) if corrected else variance


def after_bootstrap(
    times: Integers, answers: Floats, chance: Floats | None = None, *, corrected: bool = True
) -> Floats:
    """Return Σ_i (1 − p_i) (t_−i − t)², less Σ_i (e^(m p_i) − 1)/B² Σ_b (t_b − t)², (Q,).

    The latter if `corrected`. As for `infinitesimal`; p_i is `chance`, and 1/n where all rows are
    alike; t_−i is the mean of the trees that did not draw row i. Rows that all trees drew are left
    out of both sums.
    """
    n_trees, n_rows = times.shape
    chance = np.full(n_rows, 1.0 / n_rows) if chance is None else chance
    n_draws = int(times.sum()) / n_trees
    apart = answers - answers.mean(axis=0)
    variance = np.zeros(answers.shape[1])
    noise = 0.0
    for first in range(0, n_rows, _ROWS):
        without = (times[:, first : first + _ROWS] == 0).astype(np.float64)
        count = without.sum(axis=0)
        known, own = count > 0.0, chance[first : first + _ROWS]
        without, count, own = without[:, known], count[known], own[known]
        distance = without.T @ apart / count[:, None]
        variance += ((1.0 - own)[:, None] * distance * distance).sum(axis=0)
        noise += float(np.expm1(n_draws * own).sum())
    return variance - noise / n_trees**2 * (apart * apart).sum(axis=0) if corrected else variance


def extrapolated(
    times: Integers, answers: Floats, chance: Floats | None = None, *, corrected: bool = True
) -> Floats:
    """Return the mean of both, whose biases have opposite signs (section 2.2), (Q,)."""
    by_share = infinitesimal(times, answers, chance, corrected=corrected)
    return (by_share + after_bootstrap(times, answers, chance, corrected=corrected)) / 2.0


METHODS: dict[str, Callable[..., Floats]] = {
    "infinitesimal": infinitesimal,
    "after_bootstrap": after_bootstrap,
    "extrapolated": extrapolated,
}
