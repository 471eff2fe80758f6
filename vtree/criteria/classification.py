"""Gains and impurities from class weights (Breiman, Friedman, Olshen & Stone 1984; Quinlan 1986).

With p_k the share of class k in a node: Gini 1 − Σ p_k², entropy −Σ p_k log2 p_k, and twoing,
w_L w_R / (4 w) (Σ |p_kL − p_kR|)², which has no impurity of its own and reports Gini's.
Several outputs count as their mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree.elementary import choose, log2

_FEW = 32  # classes that are all looked at in each node


def gini(left: Any, right: Any, layout: Any) -> Any:
    """Return w_L w_R / w Σ_k (p_kL − p_kR)², which equals the decrease of w · Gini.

    With one division: Σ_k (c_kL w_R − c_kR w_L)² / (w_L w_R w), c the class weights. This form
    cannot go below zero and is exactly zero where both sides have the same shares.
    """
    left_weight, right_weight = left[layout.weight], right[layout.weight]
    total = 0.0
    for k in range(layout.first, layout.first + layout.outputs * layout.classes):
        difference = left[k] * right_weight - right[k] * left_weight
        total = total + difference * difference
    weight = (left_weight + right_weight) * layout.outputs
    return total / (left_weight * right_weight * weight)


def entropy(left: Any, right: Any, layout: Any) -> Any:
    """Return Σ_k c_kL log2(p_kL / p_k) + c_kR log2(p_kR / p_k), c the class weights."""
    left_weight, right_weight = left[layout.weight], right[layout.weight]
    weight = left_weight + right_weight
    total = 0.0
    for k in range(layout.first, layout.first + layout.outputs * layout.classes):
        both = left[k] + right[k]
        share = choose(both > 0.0, both, 1.0) / weight
        left_share, right_share = left[k] / left_weight, right[k] / right_weight
        total = total + left[k] * log2(choose(left_share > 0.0, left_share, share) / share)
        total = total + right[k] * log2(choose(right_share > 0.0, right_share, share) / share)
    return choose(total > 0.0, total, 0.0) / layout.outputs


def twoing(left: Any, right: Any, layout: Any) -> Any:
    """Return w_L w_R / (4 w) (Σ_k |p_kL − p_kR|)² (Breiman et al. 1984, §4.3)."""
    left_weight, right_weight = left[layout.weight], right[layout.weight]
    total = 0.0
    for output in range(layout.outputs):
        distance = 0.0
        for c in range(layout.classes):
            k = layout.first + output * layout.classes + c
            difference = left[k] * right_weight - right[k] * left_weight
            distance = distance + choose(difference < 0.0, -difference, difference)
        total = total + distance * distance
    weight = (left_weight + right_weight) * layout.outputs
    return total * 0.25 / (left_weight * right_weight * weight)


def shares(total: Any, start: Any, stop: Any, order: Any, targets: Any) -> Any:
    """Return the classes' shares of nodes with statistics `total` (M, S), (M, K)."""
    layout = targets.layout
    return total[:, layout.first :] / total[:, layout.weight, None]


def gini_impurity(stats: Any, layout: Any) -> Any:
    """Return 1 − Σ p_k² of nodes with statistics (M, S), averaged over outputs, (M,)."""
    total = 0.0
    for output in range(layout.outputs):
        first = layout.first + output * layout.classes
        total = total + (1.0 - _summed(_square, stats, layout, first, layout.classes))
    return total / layout.outputs


def entropy_impurity(stats: Any, layout: Any) -> Any:
    """Return −Σ p_k log2 p_k of nodes with statistics (M, S), averaged over outputs, (M,)."""
    total = 0.0 - _summed(
        _logarithmic, stats, layout, layout.first, layout.outputs * layout.classes
    )
    return choose(total > 0.0, total, 0.0) / layout.outputs


def _square(share: Any) -> Any:
    return share * share


def _logarithmic(share: Any) -> Any:
    return share * log2(choose(share > 0.0, share, 1.0))


def _summed(term: Any, stats: Any, layout: Any, first: int, count: int) -> Any:
    """Return Σ term(p_k) over the classes of `count` planes from `first` on, in order, (M,).

    A class that a node has no row of adds exactly nothing: of many only the others are looked at.
    """
    weight, own = stats[:, layout.weight], stats[:, first : first + count]
    if count <= _FEW:
        total = 0.0
        for k in range(count):
            total = total + term(own[:, k] / weight)
        return total
    node, plane = np.nonzero(own)  # by node, then by class, and so they are added
    return np.bincount(node, term(own[node, plane] / weight[node]), minlength=own.shape[0])
