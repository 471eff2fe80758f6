"""Minimal cost-complexity pruning (Breiman, Friedman, Olshen & Stone 1984, §3.3).

R(t) is the risk of node t as a leaf: its training errors, their costs, or its weight times its
impurity; R(T_t) that of the leaves below it. The weakest link has the least

    g(t) = (R(t) − R(T_t)) / (leaves below t − 1),

the price per leaf at which its subtree stops paying. Cutting it changes g of its ancestors only.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.pruning.losses import Losses, impurities
from vtree.tree import Tree, collapse, levels, parents, sum_upward

Floats = NDArray[np.float64]


class Path(NamedTuple):
    """The nested subtrees, largest first."""

    alphas: Floats  # (P,) nondecreasing; alphas[0] is 0, for the whole tree
    risks: Floats  # (P,) total risk of the leaves of each subtree
    cut_at: Floats  # (M,) the alpha from which each node is a leaf; 0 where it never is split
    tolerance: float  # alphas this close are one


def cost_complexity_path(tree: Tree, losses: Losses | None = None) -> Path:
    """Return the subtrees that minimise R(T) + alpha · leaves for growing alpha, of one tree.

    losses: R of each node, in whatever unit alpha shall have; None for the impurities.
    """
    link = _Links(tree, impurities(tree) if losses is None else losses)
    alpha = 0.0
    alphas, risks = [0.0], [float(link.risk_below[0])]
    tolerance = 1e-10 * float(link.risk[0])
    cut_at = np.where(tree.first_child >= 0, np.inf, 0.0)
    while link.heap:
        strength, node = heapq.heappop(link.heap)
        if not link.alive[node]:
            continue
        if (now := link.strength(node)) != strength:  # what was cut below it made it stronger
            heapq.heappush(link.heap, (now, node))
            continue
        alpha = max(alpha, strength)  # rounding must not make the sequence fall
        cut_at[node] = alpha
        link.cut(node)
        if alpha > alphas[-1] + tolerance or len(alphas) == 1:
            alphas.append(alpha)
            risks.append(float(link.risk_below[0]))
        else:
            alphas[-1] = alpha
            risks[-1] = float(link.risk_below[0])
    cuts = _downward(tree, cut_at)
    return Path(np.asarray(alphas), np.maximum.accumulate(risks), cuts, tolerance)


def prune_cost_complexity(tree: Tree, alpha: float, losses: Losses | None = None) -> Tree:
    """Return the smallest minimiser of R(T) + alpha · leaves, see `cost_complexity_path`."""
    path = cost_complexity_path(tree, losses)
    return collapse(tree, path.cut_at > alpha + path.tolerance)


def _downward(tree: Tree, cut_at: Floats) -> Floats:
    """Let no node outlive its parent."""
    parent = parents(tree)
    lasting = cut_at.copy()
    for nodes in levels(tree.first_child, tree.n_children, tree.root)[1:]:
        lasting[nodes] = np.minimum(lasting[nodes], lasting[parent[nodes]])
    return lasting


class _Links:
    """Risks and leaf counts below each node while subtrees are cut.

    Lists, for single numbers of arrays take three times as long.
    """

    def __init__(self, tree: Tree, losses: Losses) -> None:
        leaf = tree.first_child < 0
        self.risk: list[float] = losses.as_leaf.tolist()
        self.risk_below: list[float] = sum_upward(tree, losses.at_rest).tolist()
        self.leaves: list[float] = sum_upward(tree, leaf.astype(np.float64)).tolist()
        self.parent: list[int] = parents(tree).tolist()
        self.alive: list[bool] = (~leaf).tolist()
        self.first_child: list[int] = tree.first_child.tolist()
        self.n_children: list[int] = tree.n_children.tolist()
        self.heap = [(self.strength(node), node) for node in np.flatnonzero(~leaf).tolist()]
        heapq.heapify(self.heap)

    def strength(self, node: int) -> float:
        """Return g of an internal node, which cuts below it never make less."""
        return (self.risk[node] - self.risk_below[node]) / (self.leaves[node] - 1.0)

    def cut(self, node: int) -> None:
        """Make `node` a leaf, and count so for its ancestors."""
        below = [node]
        while below:  # the whole subtree goes
            each = below.pop()
            if self.alive[each]:
                self.alive[each] = False
                first = self.first_child[each]
                below.extend(range(first, first + self.n_children[each]))
        risk_change = self.risk[node] - self.risk_below[node]
        fewer = self.leaves[node] - 1.0
        self.risk_below[node], self.leaves[node] = self.risk[node], 1.0
        ancestor = self.parent[node]
        while ancestor >= 0:
            self.risk_below[ancestor] += risk_change
            self.leaves[ancestor] -= fewer
            ancestor = self.parent[ancestor]
