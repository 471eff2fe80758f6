"""Leaves of symmetric trees: which one a row comes to, and what it answers.

A tree of depth d has 2^d leaves, counted from the left; node i has the children 2 i + 1, 2 i + 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.boosting import Training, added
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.folds import Fold
from vtree.losses import Terms, segment_quantiles, whole_numbers
from vtree.predict import leaves
from vtree.tree import Tree
from vtree_kernels import run_tasks

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_PART = 16_384  # rows whose sums are one task


class LeafRule(NamedTuple):
    """How steps are found."""

    reg_lambda: float = 3.0
    newton: bool = True  # Σ −g / (Σ h + λ), or Σ −g / (Σ w + λ)
    iterations: int = 1  # steps one after another


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
    n_rows = np.bincount(own, minlength=size).astype(np.int64)
    total: Any = n_rows if weights.whole is None else _sums(weights.whole, own, size)
    weight = total.astype(np.float64) * weights.unit
    first = _gradient_sums(terms.gradient[learners], own, size, weights)
    if training.leaves.levels is not None:
        residual = y - added(start, fold.sums[learners])[:, 0]
        value = _quantiles(residual, own, size, weights, training.leaves.levels[0])
        return Steps(value, first, weight, n_rows)
    value, sums = np.zeros(first.shape), first
    curved = rule.newton and training.curved
    hessian = terms.hessian[learners] if curved else None
    for iteration in range(rule.iterations):
        if iteration:
            terms = training.terms(added(start, fold.sums[learners]) + value[own], y)
            sums = _gradient_sums(terms.gradient, own, size, weights)
            hessian = terms.hessian if curved else None
        below = weight[:, None] if hessian is None else _hessian_sums(hessian, own, size, weights)
        filled = n_rows[:, None] > 0
        value = value + np.where(filled, sums / np.where(filled, below + rule.reg_lambda, 1.0), 0.0)
    return Steps(value, first, weight, n_rows)


def _sums(values: Any, segment: Integers, size: int) -> Floats:
    """Return sums of whole numbers, exact in any order as long as they stay below 2^53."""
    n_rows = max(_PART, 4 * size)  # of a part, so that all parts take less than the rows
    parts: list[Any] = [np.zeros(size)]

    def part(index: int) -> None:
        rows = slice(index * n_rows, (index + 1) * n_rows)
        parts.append(np.bincount(segment[rows], values[rows].astype(np.float64), size))

    run_tasks(part, -(-segment.size // n_rows), work=segment.size * 4)
    return np.asarray(np.sum(parts, axis=0))


def _gradient_sums(gradient: Floats, segment: Integers, size: int, weights: Weights) -> Floats:
    found = np.empty((size, gradient.shape[1]))
    for k in range(gradient.shape[1]):
        own = (gradient[:, k], weights.whole, weights.n_rows, weights.total)
        whole, unit = whole_numbers(*own, negated=True)
        found[:, k] = _sums(whole, segment, size) * (unit * weights.unit)
    return found


def _hessian_sums(hessian: Floats, segment: Integers, size: int, weights: Weights) -> Floats:
    """Return Σ w h; a positive second derivative is never rounded to zero."""
    found = np.empty((size, hessian.shape[1]))
    for k in range(hessian.shape[1]):
        own = (hessian[:, k], weights.whole, weights.n_rows, weights.total)
        whole, unit = whole_numbers(*own, least=1)
        found[:, k] = _sums(whole, segment, size) * (unit * weights.unit)
    return found


def _quantiles(
    residual: Floats, segment: Integers, size: int, weights: Weights, level: float
) -> Floats:
    """Return the quantile of the residuals in each leaf, (size, 1), 0 in empty ones."""
    sorting = np.argsort(segment, kind="stable")
    filled, begin = np.unique(segment[sorting], return_index=True)
    whole = None if weights.whole is None else weights.whole[sorting]
    found = np.zeros((size, 1))
    found[filled, 0] = segment_quantiles(residual[sorting], begin, whole, level)
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
