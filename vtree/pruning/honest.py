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
from vtree.pruning.losses import Losses
from vtree.targets import SUM_BITS
from vtree.tree import Tree, parents

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
    unseen, passed = 0.0, []
    for part in parts:
        w = weight[part.rows] * part.share
        unseen += float(w.sum())
        for own in _answering(part, between / total):
            value = loss(part.rows[own.row], part.tree.value[own.node])
            passed.append((own, value * w[own.row], value * value * w[own.row]))
    sums = _sums(alphas.size, [(own, first) for own, first, _ in passed])
    squares = _sums(alphas.size, [(own, second) for own, _, second in passed])
    spread = np.sqrt(np.maximum(squares - sums * sums / unseen, 0.0))
    return Judged(alphas / total, n_leaves, risks / total, sums / unseen, spread / unseen)


class _Answers(NamedTuple):
    """Nodes that answer for n rows, and the subtrees in which they do: begin to end."""

    row: Integers  # (n,) among those of a part
    node: Integers  # (n,)
    begin: Integers  # (n,)
    end: Integers  # (n,)


def _cut_from(path: Path, alphas: Floats) -> Integers:
    """Return the first of ascending alphas (P,) at which each node is no longer split, (M,)."""
    found: Integers = np.searchsorted(alphas + path.tolerance, path.cut_at, side="left")
    return found


def _subtrees(tree: Tree, losses: Losses, path: Path, alphas: Floats) -> tuple[Integers, Floats]:
    """Return (leaves, risk) of the subtree for each alpha."""
    parent = parents(tree)
    begin = _cut_from(path, alphas)
    end = np.where(parent < 0, alphas.size, begin[parent])
    n_leaves = _active(begin, end, np.ones(begin.size), alphas.size)
    risks = _active(begin, end, losses.as_leaf, alphas.size)
    risks += _active(np.zeros_like(begin), begin, losses.at_rest, alphas.size)
    return n_leaves.astype(np.int64), risks


def _answering(part: Part, alphas: Floats) -> Iterator[_Answers]:
    """Yield who answers for each row: where it rests, until that is cut, then one up, and so on."""
    path = cost_complexity_path(part.tree, part.losses)
    cut_from = _cut_from(path, alphas * float(part.tree.weight[0]))
    parent = parents(part.tree)
    row, node = np.arange(part.leaf.size), part.leaf.astype(np.int64)
    begin = np.zeros_like(node)  # also where rows rest at a node that is split
    while row.size:
        above = parent[node]
        end = np.where(above < 0, alphas.size, cut_from[above])
        some = begin < end
        if some.any():
            yield _Answers(row[some], node[some], begin[some], end[some])
        more = above >= 0
        row, node, begin = row[more], above[more], end[more]


def _active(begin: Integers, end: Integers, values: Floats, count: int) -> Floats:
    """Return the sums, (count,), of the values whose range each of `count` places lies in."""
    size = count + 1
    change = np.bincount(begin, values, size) - np.bincount(end, values, size)
    found: Floats = np.cumsum(change[:count])
    return found


def _sums(count: int, passed: list[tuple[_Answers, Floats]]) -> Floats:
    """Return the sums of rows' values for each of `count` subtrees, the same in any order of rows.

    Values are whole multiples of a step so small that a sum just fits float64.
    """
    n_rows = sum(int(np.count_nonzero(own.begin == 0)) for own, _ in passed)
    largest = max((float(values.max(initial=0.0)) for _, values in passed), default=0.0)
    step = int(np.frexp(largest)[1]) - (SUM_BITS - 1 - n_rows.bit_length())
    total = np.zeros(count)
    for own, values in passed:
        total += _active(own.begin, own.end, np.rint(np.ldexp(values, -step)), count)
    return np.ldexp(total, step)
