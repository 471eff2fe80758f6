"""What leaves answer where sums over gradients do not say it: Friedman's line searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins
from vtree.ensembles.derivatives import Weights
from vtree.grown import Grown
from vtree.losses import whole_numbers
from vtree_kernels.segment_quantiles import segment_quantiles
from vtree_kernels.segment_sums import segment_sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Leaves(NamedTuple):
    """How the values of leaves are found, besides T(R) / (H + λ) from their statistics.

    levels: the quantile of the residuals that the leaves of each tree of a round answer, (K,); None
        for others.
    huber: the quantile of |residuals| beyond which Huber's line search clips them, None for others.
    by_curvature: Σ −g / Σ h of the leaf's rows, for trees grown on gradients alone.
    """

    levels: tuple[float, ...] | None = None
    huber: float | None = None
    by_curvature: bool = False

    @property
    def searched(self) -> bool:
        """Whether the rows of leaves are asked, by `leaf_steps`."""
        return self.by_residuals or self.by_curvature

    @property
    def by_residuals(self) -> bool:
        """Whether what the rows are off by is asked, in its order."""
        return self.levels is not None or self.huber is not None

    def of(self, numbers: Integers) -> Leaves:
        """Return the same for some trees of a round."""
        if self.levels is None:
            return self
        return self._replace(levels=tuple(self.levels[k] for k in numbers.tolist()))


def below_sorted_levels(
    grown: Grown, nodes: Integers, bins: Bins, one_against_rest: int
) -> NDArray[np.bool_]:
    """Tell which `nodes` (L,) stand below a split by subsets of more levels than that, (L, 1)."""
    parent = grown.parent[nodes]
    feature = grown.feature[parent]
    sorted_ = bins.is_categorical[feature] & (bins.n_bins[feature] > one_against_rest)
    return (sorted_ & (parent >= 0))[:, None]


def smoothed(step: Floats, grown: Grown, rows: float) -> Floats:
    """Return steps (M, 1) that lean on those of their parents, but for roots' (LightGBM's rule).

    A node of n rows keeps n / (n + rows) of its own step.
    """
    found = step.copy()
    for depth in range(1, int(grown.depth.max()) + 1):
        own = np.flatnonzero(grown.depth == depth)
        found[own] = leaning(step[own], grown.total[own, :1], found[grown.parent[own]], rows)
    return found


def leaning(step: Floats, n_rows: Integers, above: Floats, rows: float) -> Floats:
    """Return steps of nodes with `n_rows` rows that lean on those `above`, of one shape all."""
    share = n_rows / (n_rows + rows)
    found: Floats = step * share + above * (1.0 - share)
    return found


class Rows(NamedTuple):
    """A table's rows for K trees of a round: N of them, a raw prediction each."""

    y: Array  # (N,), or (K·N,) where the targets of trees differ
    raw: Array | None  # (K·N,), None where residuals are not asked for
    gradient: Array  # (K·N,)
    hessian: Array | None  # (K·N,), None where all are one
    weights: Weights  # of K·N rows


def leaf_steps(leaves: Leaves, table: Rows, rows: Array, lengths: Integers) -> Floats:
    """Return what each leaf adds, (L,), where rows have to be searched for it.

    rows: of the leaves, one leaf after another, `lengths` (L,) of them each; where the table is.
    """
    xp = arrays.namespace(rows)
    begin = np.cumsum(lengths) - lengths
    whole, weights = table.weights.whole, table.weights
    weight = None if whole is None else xp.take(whole, rows)
    if leaves.levels is not None:
        level: Any = leaves.levels[0]
        if len(set(leaves.levels)) > 1:
            first = arrays.to_numpy(xp.take(rows, arrays.like(begin, rows)))
            level = np.asarray(leaves.levels)[first // weights.n_rows]
        found = segment_quantiles(_residuals(table, rows), begin, weight, level)
        return np.asarray(arrays.to_numpy(found))
    if leaves.huber is not None:
        column = rows // weights.n_rows
        return _huber(_residuals(table, rows), column, begin, weight, leaves.huber, weights)
    assert table.hessian is not None
    total = _sums(xp.take(table.hessian, rows), begin, weight, weights)
    step = _sums(-xp.take(table.gradient, rows), begin, weight, weights)
    return np.divide(step, total, out=np.zeros(step.shape), where=np.abs(total) > 1e-150)


def _residuals(table: Rows, rows: Array) -> Array:
    """Return the residuals of rows (R,); none is −0, for no target is."""
    assert table.raw is not None
    xp, n_targets = arrays.namespace(rows), table.y.shape[0]
    own = rows if n_targets == table.raw.shape[0] else rows % n_targets
    return xp.take(table.y, own) - xp.take(table.raw, rows)


def _huber(
    residual: Floats,
    column: Integers,
    begin: Integers,
    weight: Integers | None,
    level: float,
    weights: Weights,
) -> Floats:
    """Return median + mean of clipped distances to it (Friedman 2001, equation 33)."""
    first = np.flatnonzero(np.diff(column, prepend=-1))  # rows of each tree
    delta = segment_quantiles(np.abs(residual), first, weight, level)
    delta = np.repeat(delta, np.diff(first, append=residual.size))
    median = segment_quantiles(residual, begin, weight, 0.5)
    lengths = np.diff(begin, append=residual.size)
    clipped = np.clip(residual - np.repeat(median, lengths), -delta, delta)
    ones = np.ones(residual.size)
    share: Floats = _sums(clipped, begin, weight, weights) / _sums(ones, begin, weight, weights)
    step: Floats = median + share
    return step


def _sums(values: Array, begin: Integers, weight: Array | None, weights: Weights) -> Floats:
    """Return the weighted sums of segments, added as integers so that no order matters."""
    xp, n_values = arrays.namespace(values), values.shape[0]
    whole, unit = whole_numbers(values, weight, weights.n_rows, weights.total)
    places = xp.arange(n_values, dtype=xp.int32, device=arrays.device(values))
    sums = segment_sums(whole[:, None], places, begin, np.append(begin[1:], n_values))
    found: Floats = arrays.to_numpy(sums)[:, 0].astype(np.float64) * unit
    return found
