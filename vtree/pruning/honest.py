"""Which of the nested subtrees of cost-complexity pruning to take: their risk on unseen rows.

Either rows held out judge the tree itself, or each part of the rows judges a tree grown on the
others (Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984, §3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.pruning.cost_complexity import Path, cost_complexity_path
from vtree.pruning.losses import Losses, exact_sums
from vtree.tree import Tree, levels, parents

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Judged(NamedTuple):
    """P nested subtrees, largest first. Risks and alphas are losses per unit of weight."""

    alphas: Floats  # (P,) from which each is the best one
    n_leaves: Integers  # (P,)
    risks: Floats  # (P,) on the training rows
    unseen_risks: Floats  # (P,) on rows that the tree was not grown on
    standard_errors: Floats  # (P,) of these

    def choose(self, rule: str) -> int:
        """Return the subtree of least unseen risk, the smallest of equal ones.

        rule "one_standard_error": the smallest whose risk is within one standard error of that.
        """
        smallest_first = self.unseen_risks[::-1]
        best = int(np.argmin(smallest_first))
        if rule == "one_standard_error":
            bound = smallest_first[best] + self.standard_errors[::-1][best]
            best = int(np.argmax(smallest_first <= bound))
        return self.alphas.size - 1 - best


class Part(NamedTuple):
    """A tree and rows that it has not seen."""

    tree: Tree
    losses: Losses  # of its training rows
    leaf: Integers  # (n,) where the unseen rows come to rest
    rows: Integers  # (n,) their numbers
    share: Floats | float = 1.0  # (n,) of a row that rests here, where rows rest in parts


def judge(
    tree: Tree,
    losses: Losses,
    parts: list[Part],
    loss: Callable[[Integers, Floats], Floats],
    weight: Floats,
    least_alpha: float = 0.0,
) -> Judged:
    """Return the subtrees of `tree` with their risk on unseen rows.

    Parameters
    ----------
    tree : one tree
    losses : of its training rows
    parts : who judges; each row in at most one of them
    loss : loss(rows (n,), predictions (n, …)) → (n,)
    weight : (N,) of all rows
    least_alpha : subtrees for smaller alphas are left out

    Returns
    -------
    Judged; where a subtree is the best one between two alphas, the trees of the parts are cut at
    their geometric mean, the smallest tree at ten times its alpha (as rpart does).
    """
    path = cost_complexity_path(tree, losses)
    total = float(tree.weight[0])
    least = least_alpha * total
    alphas = np.append(least, path.alphas[path.alphas > least + path.tolerance])
    n_leaves, risks = _subtrees(tree, losses, path, alphas)
    between = np.sqrt(alphas * np.append(alphas[1:], 100.0 * alphas[-1]))
    w = np.concatenate([weight[part.rows] * part.share for part in parts])[:, None]
    unseen = float(w.sum())
    moments = []
    # One alpha after another: the losses of all rows for all alphas may not fit into memory.
    for answering in zip(*(_answering(part, between / total) for part in parts), strict=True):
        own = [
            loss(part.rows, part.tree.value[nodes[part.leaf]])
            for part, nodes in zip(parts, answering, strict=True)
        ]
        each = np.concatenate(own)[:, None]
        moments.append(exact_sums(np.concatenate([each * w, each * each * w], axis=1)))
    sums, squares = np.stack(moments, axis=1)
    spread = np.sqrt(np.maximum(squares - sums * sums / unseen, 0.0))
    return Judged(alphas / total, n_leaves, risks / total, sums / unseen, spread / unseen)


def _subtrees(tree: Tree, losses: Losses, path: Path, alphas: Floats) -> tuple[Integers, Floats]:
    """Return (leaves, risk) of the subtree for each alpha."""
    parent = parents(tree)
    n_leaves, risks = [], []
    for alpha in alphas.tolist():
        split = path.cut_at > alpha + path.tolerance
        leaf = ~split & ((parent < 0) | split[parent])
        n_leaves.append(int(leaf.sum()))
        risks.append(float(losses.as_leaf[leaf].sum() + losses.at_rest[split].sum()))
    return np.asarray(n_leaves), np.asarray(risks)


def _answering(part: Part, alphas: Floats) -> Iterator[Integers]:
    """Yield, for each alpha, the node that answers for each node (M,) of the tree cut there."""
    path = cost_complexity_path(part.tree, part.losses)
    parent = parents(part.tree)
    below = levels(part.tree.first_child, part.tree.n_children, part.tree.root)[1:]
    for alpha in (alphas * float(part.tree.weight[0])).tolist():
        split = path.cut_at > alpha + path.tolerance
        answering = np.arange(split.size)
        for nodes in below:
            above = parent[nodes]
            answering[nodes] = np.where(split[above], nodes, answering[above])
        yield answering
