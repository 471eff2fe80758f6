"""`Training`: the rows that boosting learns from, and where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.steps import Leaves
from vtree.losses import Slopes, Terms, held
from vtree_kernels import run_blocks
from vtree_kernels.spread import spread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Training(NamedTuple):
    """N rows, what their targets are, and how their loss is derived."""

    bins: Bins  # N rows
    values: Array  # (N, F) as encoded
    y: Array  # (N,) float64, or (N, K) of several outputs
    weights: Weights
    terms: Callable[[Floats, Floats], Terms]  # raw (N, K), y → derivatives
    curved: bool
    leaves: Leaves
    rebin: Callable[[Integers], Bins] | None = None  # whole weights (N,) → bins of a round
    rows: Integers | slice = slice(None)  # which ones of the user's table these are
    # start (K,), sums (N, K), y → what derives the loss by each raw prediction, K of them, in fewer
    # passes over rows or as trees are grown; None where only `terms` does.
    in_turn: Callable[[Floats, Array, Array], list[Slopes]] | None = None

    def slopes(self, start: Floats, sums: Array) -> list[Slopes]:
        """Return the derivatives of the loss at start (K,) or (N, K) + sums (N, K), K of them."""
        if self.in_turn is not None and start.ndim == 1:
            return self.in_turn(start, sums, self.y)
        terms = self.terms(added(start, sums), self.y)
        gradient, hessian = (np.asfortranarray(each) for each in terms[:2])
        return [
            held(gradient[:, k], hessian[:, k] if self.curved else None)
            for k in range(sums.shape[1])
        ]


def beside_codes(training: Training, start: Floats, sums: Floats) -> tuple[Training, Array]:
    """Return `training` and raw predictions (N, K), both where the codes are if rounds can do so.

    They can where derivatives come from columns, one raw prediction's at a time, and leaves answer
    by sums or quantiles: a user's own functions, Friedman's search by Huber's loss, bins anew each
    round and raw predictions (N, K) to start from are NumPy's.
    """
    by_columns = training.in_turn is not None and start.ndim == 1
    if not by_columns or training.leaves.huber is not None or training.rebin is not None:
        return training, sums
    codes = training.bins.groups[0].codes
    if arrays.is_numpy(codes) or not spread.is_native(codes):
        return training, sums
    whole = training.weights.whole
    there = None if whole is None else arrays.like(whole, codes)
    return training._replace(
        y=_columns_like(training.y, codes), weights=training.weights._replace(whole=there)
    ), _columns_like(sums, codes)


def _columns_like(values: Floats, example: Array) -> Array:
    """Return values (N,) or (N, K) where `example` is, each column in one piece."""
    return arrays.like(values.T, example).T if values.ndim == 2 else arrays.like(values, example)


def added(start: Floats, sums: Array) -> Floats:
    """Return start (K,) or (N, K) + sums (N, K), on the host."""
    sums = arrays.to_numpy(sums)
    raw: Floats = np.empty_like(sums)

    def block(rows: slice) -> None:
        np.add(start if start.ndim == 1 else start[rows], sums[rows], out=raw[rows])

    run_blocks(block, sums.shape[0], each=sums.shape[1])
    return raw
