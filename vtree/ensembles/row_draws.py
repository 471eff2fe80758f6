"""Which rows a round of boosting sees: all, a share drawn at random, or GOSS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.elementary import choose, exp, log
from vtree.ensembles.system import Goss, System
from vtree.losses import Slopes
from vtree_kernels.chances import chances
from vtree_kernels.elementwise import elementwise
from vtree_kernels.subsample import subsample

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Drawn(NamedTuple):
    """The rows of a round."""

    rows: Array  # (R,) int32, ascending
    inside: Array | None = None  # (N,) bool, which ones these are; None for all
    factor: Array | None = None  # (N,) what their derivatives are multiplied by


def drawn(system: System, slopes: Sequence[Slopes], number: int, example: Array) -> Drawn:
    """Return the rows of round `number`, drawn by the hash of their numbers.

    slopes: of all rows, by each raw prediction; example: an array that lies where they do.
    """
    n_rows = slopes[0].n_rows
    if system.goss is not None and number >= system.goss.warm_up:
        return _goss(system.goss, system.seed, slopes, number, example)
    if system.subsample >= 1.0:
        xp = arrays.namespace(example)
        return Drawn(xp.arange(n_rows, dtype=xp.int32, device=arrays.device(example)))
    turn = number // system.subsample_every
    state = draws.mix(draws.SUBSAMPLE, system.seed, turn)
    return Drawn(*subsample(example, state, n_rows, system.subsample))


class Chance(NamedTuple):
    """What a round draws for each of N rows."""

    factor: Floats  # (N,) what its weight is multiplied by
    rounding: Floats  # (N,) uniform in [0, 1), for whole numbers of few digits

    def of(self, rows: Integers) -> Chance:
        """Return the same for entries (E,) of these rows."""
        return Chance(self.factor[rows], self.rounding[rows])


def row_factors(
    temperature: float, subsample: float, seed: int, number: int, n_rows: int
) -> Chance | None:
    """Return what round `number` draws, None where it leaves all rows as they are.

    (−log u)^temperature with u uniform is the Bayesian bootstrap (Rubin 1981), of which a
    temperature of 0 is none; a share of the rows is drawn where `subsample` is below 1.
    """
    if temperature == 0.0 and subsample >= 1.0:
        return None
    chance, rounding = row_chances(seed, number, n_rows)
    if subsample < 1.0:
        drawn = chance <= max(subsample, float(chance.min()))
        return Chance(drawn.astype(np.float64), rounding)
    if temperature == 1.0:
        return Chance(elementwise(chance, (), (), _exponential, 1)[0], rounding)
    return Chance(elementwise(chance, (), (temperature,), _bayesian, 1)[0], rounding)


def row_chances(seed: int, number: int, n_rows: int) -> tuple[Floats, Floats]:
    """Return what round `number` draws for each of N rows, uniform in [0, 1), twice."""
    chance, rounding = np.empty(n_rows), np.empty(n_rows)
    chances(chance, rounding, np.uint64(draws.mix(draws.BOOTSTRAP, seed, number)))
    return chance, rounding


def least_variance(size: Floats, share: float, chance: Floats) -> Floats:
    """Return what weights are multiplied by: 1 / p where a row is drawn, 0 where not, (N,).

    p = min(1, size / μ) with Σ p = share · N, for which estimates of Σ size² vary least (Ibragimov
    & Gusev, Minimal variance sampling in stochastic gradient boosting, NeurIPS 2019, theorem 1).
    size (N,): not negative; chance (N,): uniform in [0, 1).
    """
    size = size if size.max() > 0.0 else np.ones(size.shape)
    ascending = np.sort(size)
    n_below = np.arange(1, size.size + 1)  # rows that are not sure to be drawn
    room = share * size.size - (size.size - n_below)
    limit = np.full(size.size, np.inf)
    np.divide(np.cumsum(ascending), room, out=limit, where=room > 0.0)
    at = int(np.argmax(limit <= np.append(ascending[1:], np.inf)))
    odds = np.minimum(size / limit[at], 1.0) if limit[at] > 0.0 else (size > 0.0).astype(np.float64)
    turn = np.full(size.size, np.inf)  # drawn where below one
    np.divide(chance, odds, out=turn, where=odds > 0.0)
    drawn = (turn < 1.0) | (turn == turn.min())
    factor: Floats = np.divide(1.0, odds, out=np.zeros(size.size), where=drawn)
    return factor


def _exponential(chance: Any) -> Any:
    size = -log(1.0 - chance)  # never infinite, for chance is below 1
    return (choose(size > 1e-18, size, 1e-18),)


def _bayesian(chance: Any, temperature: Any) -> Any:
    (size,) = _exponential(chance)
    return (exp(temperature * log(size)),)


def _goss(goss: Goss, seed: int, slopes: Sequence[Slopes], number: int, example: Array) -> Drawn:
    """Keep the rows with the largest Σ_k |g h|; of the others draw some, which count for more."""
    score = np.zeros(slopes[0].n_rows)
    for each in slopes:
        gradient, hessian = each.whole()
        score += np.abs(arrays.to_numpy(gradient if hessian is None else gradient * hessian))
    n_rows = score.size
    n_top = max(1, int(goss.top * n_rows))
    n_other = min(max(1, int(goss.other * n_rows)), n_rows - n_top)
    by_score = np.argsort(-score, kind="stable")
    rest = by_score[n_top:]
    chance = draws.mix(draws.SUBSAMPLE, seed, number, rest)
    others = rest[np.argsort(chance, kind="stable")[:n_other]]
    factor = np.ones(n_rows)
    factor[others] = (n_rows - n_top) / max(1, n_other)
    inside = np.zeros(n_rows, np.bool_)
    inside[by_score[:n_top]] = inside[others] = True
    rows = np.flatnonzero(inside).astype(np.int32)
    return Drawn(*(arrays.like(each, example) for each in (rows, inside, factor)))
