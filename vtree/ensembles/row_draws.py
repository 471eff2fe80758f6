"""Which rows a round of boosting sees: all, a share drawn at random, or GOSS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import draws
from vtree.elementary import choose, exp, log
from vtree.ensembles.system import Goss, System
from vtree.losses import Terms
from vtree_kernels import run_blocks
from vtree_kernels.elementwise import elementwise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Drawn(NamedTuple):
    """The rows of a round."""

    rows: NDArray[np.int32]  # (R,) ascending
    factor: Floats | None = None  # (N,) what their derivatives are multiplied by


def drawn(system: System, terms: Terms, number: int) -> Drawn:
    """Return the rows of round `number`, drawn by the hash of their numbers."""
    n_rows = terms.gradient.shape[0]
    if system.goss is not None and number >= system.goss.warm_up:
        return _goss(system.goss, system.seed, terms, number)
    if system.subsample >= 1.0:
        return Drawn(np.arange(n_rows, dtype=np.int32))
    turn = number // system.subsample_every
    chance = draws.uniform(draws.SUBSAMPLE, system.seed, turn, np.arange(n_rows))
    rows = np.flatnonzero(chance <= max(system.subsample, float(chance.min())))
    return Drawn(rows.astype(np.int32))


class Chance(NamedTuple):
    """What a round draws for each of N rows."""

    factor: Floats  # (N,) what its weight is multiplied by
    rounding: Floats  # (N,) uniform in [0, 1), for whole numbers of few digits


def row_factors(
    temperature: float, subsample: float, seed: int, number: int, n_rows: int
) -> Chance | None:
    """Return what round `number` draws, None where it leaves all rows as they are.

    (−log u)^temperature with u uniform is the Bayesian bootstrap (Rubin 1981), of which a
    temperature of 0 is none; a share of the rows is drawn where `subsample` is below 1.
    """
    if temperature == 0.0 and subsample >= 1.0:
        return None
    chance, rounding = np.empty(n_rows), np.empty(n_rows)

    def draw(rows: slice) -> None:
        own = draws.uniform(draws.BOOTSTRAP, seed, number, np.arange(rows.start, rows.stop))
        chance[rows] = own
        own = own * 2.0**24
        rounding[rows] = own - np.floor(own)  # its later digits know nothing of the first

    run_blocks(draw, n_rows, each=20)
    if subsample < 1.0:
        drawn = chance <= max(subsample, float(chance.min()))
        return Chance(drawn.astype(np.float64), rounding)
    if temperature == 1.0:
        return Chance(elementwise(chance, (), (), _exponential, 1)[0], rounding)
    return Chance(elementwise(chance, (), (temperature,), _bayesian, 1)[0], rounding)


def _exponential(chance: Any) -> Any:
    size = -log(1.0 - chance)  # never infinite, for chance is below 1
    return (choose(size > 1e-18, size, 1e-18),)


def _bayesian(chance: Any, temperature: Any) -> Any:
    (size,) = _exponential(chance)
    return (exp(temperature * log(size)),)


def _goss(goss: Goss, seed: int, terms: Terms, number: int) -> Drawn:
    """Keep the rows with the largest Σ_k |g h|; of the others draw some, which count for more."""
    score = np.abs(terms.gradient * terms.hessian).sum(axis=1)
    n_rows = score.size
    n_top = max(1, int(goss.top * n_rows))
    n_other = min(max(1, int(goss.other * n_rows)), n_rows - n_top)
    by_score = np.argsort(-score, kind="stable")
    rest = by_score[n_top:]
    chance = draws.mix(draws.SUBSAMPLE, seed, number, rest)
    others = rest[np.argsort(chance, kind="stable")[:n_other]]
    factor = np.ones(n_rows)
    factor[others] = (n_rows - n_top) / max(1, n_other)
    rows = np.sort(np.concatenate([by_score[:n_top], others]))
    return Drawn(rows.astype(np.int32), factor)
