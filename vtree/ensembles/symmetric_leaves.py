"""Leaves of symmetric trees: which one a row comes to, and what it answers.

A tree of depth d has 2^d leaves, counted from the left; node i has the children 2 i + 1, 2 i + 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins
from vtree.chains import not_falling
from vtree.ensembles.derivatives import LEAST_CURVATURE, Weights
from vtree.ensembles.folds import Fold
from vtree.ensembles.training import Training, added
from vtree.losses import Terms, reach_of, rounding
from vtree.predict import leaves
from vtree.tree import Tree
from vtree_kernels import run_blocks
from vtree_kernels.numbered import Column, numbered_add, numbered_sums
from vtree_kernels.segment_quantiles import segment_quantiles

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ANY = -(1 << 62)  # no whole number is less


class LeafRule(NamedTuple):
    """How steps are found."""

    reg_lambda: float = 3.0
    newton: bool = True  # Σ −g / (Σ h + λ), or Σ −g / (Σ w + λ)
    iterations: int = 1  # steps one after another
    place: Floats | None = None  # (L,) of the leaves, in chains along which answers do not fall

    def limited(self, value: Floats, weight: Floats) -> Floats:
        """Return answers (J L, 1) that do not fall along chains, as near as weight (J L,) says."""
        if self.place is None:
            return value
        shape = (-1, self.place.size)
        own = not_falling(value.reshape(shape), weight.reshape(shape), self.place)
        return own.reshape(value.shape)


class Steps(NamedTuple):
    """What L leaves of each of J models answer, J · L in all."""

    value: Floats  # (J L, K)
    sums: Floats  # (J L, K) Σ −w g before the first step
    weight: Floats  # (J L,)
    n_rows: Integers  # (J L,)


def leaf_of_rows(tree: Tree, values: Array, statistics: Floats | None) -> Integers:
    """Return the leaf of each row, (N,).

    values (N, F + …): the table, maybe with statistics of new rows behind its own columns;
    statistics (N, J): those to go by, None where there are none.
    """
    used = np.unique(tree.feature[tree.feature >= 0]).astype(np.int64)
    if used.size == 0:
        return np.zeros(values.shape[0], dtype=np.int64)
    xp = arrays.namespace(values)
    n_derived = 0 if statistics is None else statistics.shape[1]
    own = used[used < values.shape[1] - n_derived]
    columns = [xp.take(values, arrays.like(own, values), axis=1)] if own.size else []
    if statistics is not None and own.size < used.size:
        derived = statistics[:, used[own.size :] - (values.shape[1] - n_derived)]
        columns.append(arrays.like(derived, values))
    table = columns[0] if len(columns) == 1 else xp.concat(columns, axis=1)
    place = np.where(tree.feature >= 0, np.searchsorted(used, tree.feature), -1)
    node = leaves(tree._replace(feature=place.astype(np.int32)), table)[:, 0]
    return node.astype(np.int64) - int((tree.first_child >= 0).sum())


def leaf_by_codes(tree: Tree, bins: Bins) -> NDArray[Any]:
    """Return the leaf of each row of the table that a tree was grown from, (N,)."""
    first_of_level = (1 << np.arange(int((tree.first_child < 0).sum()).bit_length() - 1)) - 1
    levels = [(*_codes_of(bins, int(tree.feature[node])), node) for node in first_of_level]
    leaf: NDArray[Any] = np.zeros(bins.n_rows, dtype=np.uint8 if len(levels) <= 8 else np.uint16)

    def block(rows: slice) -> None:
        own = leaf[rows]
        for codes, categorical, node in levels:
            code, bin = codes[rows], tree.bin[node]
            right = code != bin if categorical else code > bin
            if not categorical and tree.missing_child[node] == 1:
                right |= code == 0
            np.add(own, own, out=own)
            np.add(own, right, out=own)

    run_blocks(block, bins.n_rows, each=len(levels))
    return leaf


def _codes_of(bins: Bins, feature: int) -> tuple[NDArray[Any], bool]:
    """Return a feature's (codes (N,), whether it has categories)."""
    group = next(group for group in bins.groups if feature in group.features)
    place = int(np.searchsorted(group.features, feature))
    codes = group.codes if group.by_column is None else group.by_column
    return arrays.to_numpy(codes[:, place]), group.categorical


def leaf_steps(
    rule: LeafRule,
    fold: Fold,
    segment: Integers,
    n_leaves: int,
    terms: Terms,
    training: Training,
    start: Floats,
) -> Steps:
    """Return the steps of all leaves of a fold's models.

    segment (E,): the leaf of each entry, model after model; terms: of all entries, and
    training.weights theirs, too.
    """
    learners = slice(0, fold.n_learners)
    own, size = segment[learners], fold.n_models * n_leaves
    rows = slice(None) if fold.whole else fold.rows[learners]
    y = training.y[rows]
    weights = training.weights
    if weights.whole is not None:
        weights = weights._replace(whole=weights.whole[learners])
    curved = rule.newton and training.curved and training.leaves.levels is None
    first, below, n_rows, weight = _leaf_sums(terms, learners, own, size, weights, curved)
    if training.leaves.levels is not None:
        residual = (y[:, None] if y.ndim == 1 else y) - added(start, fold.sums[learners])
        value = _quantiles(residual, own, size, weights, training.leaves.levels)
        return Steps(rule.limited(value, weight), first, weight, n_rows)
    value, sums = np.zeros(first.shape), first
    for iteration in range(rule.iterations):
        if iteration:
            raw = added(start, fold.sums[learners])
            numbered_add(raw, own, value)
            terms = training.terms(raw, y)
            sums, below, *_ = _leaf_sums(terms, learners, own, size, weights, curved)
        filled = n_rows[:, None] > 0
        below = below + rule.reg_lambda
        value = value + np.where(filled, sums / np.where(filled, below, 1.0), 0.0)
        value = rule.limited(value, below)
    return Steps(value, first, weight, n_rows)


def _leaf_sums(
    terms: Terms, learners: slice, segment: Integers, size: int, weights: Weights, curved: bool
) -> tuple[Floats, Floats, Integers, Floats]:
    """Return (Σ −w g, Σ w h or Σ w, each (size, K) or (size, 1), rows (size,), Σ w) of segments.

    A positive second derivative is never rounded to zero.
    """
    table = weights.whole, weights.n_rows, weights.total
    gradients: list[Floats] = []
    hessians: list[Floats] = []
    for k in range(terms.gradient.shape[1]):
        columns, units = [], []
        signed = (terms.gradient, -1.0, _ANY, 0.0), (terms.hessian, 1.0, 1, LEAST_CURVATURE)
        for values, sign, least, floor in signed:
            if values is terms.hessian and not curved:
                break
            own = values[learners, k]
            step, products = rounding(max(reach_of(own), floor), *table)
            columns.append(Column(own, sign * np.ldexp(1.0, -step), least))
            units.append(float(np.ldexp(1.0, step)) * weights.unit)
        found = numbered_sums(segment, size, columns, weights.whole, products)
        whole = found.astype(np.float64)
        gradients.append(whole[:, 2] * units[0])
        hessians.append(whole[:, -1] * units[-1])
    n_rows, weight = found[:, 0].copy(), found[:, 1].astype(np.float64) * weights.unit
    below = np.stack(hessians, axis=1) if curved else weight[:, None]
    return np.stack(gradients, axis=1), below, n_rows, weight


def _quantiles(
    residual: Floats, segment: Integers, size: int, weights: Weights, levels: tuple[float, ...]
) -> Floats:
    """Return quantiles of the residuals (E, K) in each leaf, (size, K), 0 in empty ones."""
    sorting = np.argsort(segment, kind="stable")
    filled, begin = np.unique(segment[sorting], return_index=True)
    whole = None if weights.whole is None else weights.whole[sorting]
    found = np.zeros((size, len(levels)))
    for k, level in enumerate(levels):
        found[filled, k] = segment_quantiles(residual[sorting, k], begin, whole, level)
    return found


def answers(tree: Tree, steps: Steps) -> Tree:
    """Return a tree of depth d with what its 2^d leaves answer, and the nodes above them.

    An inner node answers the mean of its leaves by weight. A split's gain is the decrease of the
    sum of squares, (R_L w_R − R_R w_L)² / (w_L w_R w) over all outputs, w being weights.
    """
    value, sums, weight, n_rows = steps
    levels: list[tuple[Any, ...]] = [(value, weight, n_rows, np.zeros(weight.size))]
    while weight.size > 1:
        left, right = slice(0, None, 2), slice(1, None, 2)
        w_left, w_right = weight[left], weight[right]
        weight = w_left + w_right
        whole = np.where(weight > 0.0, weight, 1.0)[:, None]
        mixed = value[left] * w_left[:, None] + value[right] * w_right[:, None]
        value = mixed / whole
        n_rows = np.asarray(n_rows[left] + n_rows[right])
        gain = _gains(sums[left], sums[right], w_left, w_right)
        sums = sums[left] + sums[right]
        levels.append((value, weight, n_rows, gain))
    whole_tree = [np.concatenate(parts) for parts in zip(*reversed(levels), strict=True)]
    return tree._replace(
        value=whole_tree[0],
        weight=whole_tree[1],
        n_rows=whole_tree[2].astype(np.int64),
        gain=whole_tree[3],
    )


def _gains(left: Floats, right: Floats, w_left: Floats, w_right: Floats) -> Floats:
    """Return what splits gain by sums (L, K) and weights (L,) of both sides, (L,).

    Sums and weights are divided by powers of two, so that no product leaves the range of floats.
    """
    light, small = _exponent(w_left, w_right), _exponent(left, right)
    w_left, w_right = np.ldexp(w_left, -light), np.ldexp(w_right, -light)
    left, right = np.ldexp(left, -small), np.ldexp(right, -small)
    below = w_left * w_right * (w_left + w_right)
    filled = below > 0.0
    gain = np.zeros(below.size)
    for k in range(left.shape[1]):
        difference = left[:, k] * w_right - right[:, k] * w_left
        gain += np.where(filled, difference * difference / np.where(filled, below, 1.0), 0.0)
    found: Floats = np.ldexp(gain, 2 * small - light)
    return found


def _exponent(*sizes: Floats) -> int:
    """Return the exponent of the largest number."""
    return max(int(np.frexp(np.abs(each).max(initial=0.0))[1]) for each in sizes)
