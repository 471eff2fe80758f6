"""A slow tree builder, node by node and row by row: the oracle that growth is held to.

It sorts, loops and recurses, and knows nothing of codes, histograms, arrays over nodes or floating
point where it can be helped: Gini, twoing and squared error are fractions. What both sides have to
agree on is said here once more, from the specification:

- thresholds lie midway between neighbouring values of the node; x <= threshold goes left;
- missing values are tried right, then left; where a node has none, they follow the heavier child
  (the right one of equals); they may be a right side by themselves, never a left one;
- levels of two classes or of reals are cut in the order of their mean; of more classes, all subsets
  are tried (up to 12 levels), or cuts in the order of each class's share (above);
- of equal gains the first wins: lowest feature, missing right, lowest cut.
"""

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEAR = 1e-10  # gains this close, over the impurity of the node, are a tie for `pick` to settle


@dataclass(frozen=True)
class Split:
    feature: int
    threshold: float | None  # None for levels
    levels: frozenset[int]  # the node's levels that go left
    missing_left: bool
    left: tuple[int, ...]  # rows
    right: tuple[int, ...]
    gain: Any = 0


Pick = Callable[[list[Split]], int]
Cut = tuple[float | None, frozenset[int]]


@dataclass
class Node:
    rows: tuple[int, ...]
    depth: int
    bounds: tuple[float, float]
    weight: int
    value: list[float]
    impurity: float
    split: Split | None = None
    missing_child: int = -1
    children: list["Node"] = field(default_factory=list)


@dataclass(frozen=True)
class Naive:
    X: NDArray[np.float64]
    y: NDArray[Any]  # (N, O)
    criterion: str
    levels: tuple[int, ...]  # of each feature, −1 for numbers
    weight: NDArray[np.int64]  # (N,)
    max_depth: int | None = None
    min_rows_split: int = 2
    min_rows: int = 1
    min_weight: float = 0.0
    max_leaves: int | None = None
    monotone: tuple[int, ...] | None = None
    pick: Pick = lambda splits: 0

    @property
    def regression(self) -> bool:
        return self.criterion in ("squared_error", "poisson")

    def grow(self) -> Node:
        root = self._node(tuple(range(len(self.X))), 0, (-math.inf, math.inf))
        if self.max_leaves is None:
            self._grow_below(root)
        else:
            self._grow_best_first(root)
        return root

    def _grow_below(self, node: Node) -> None:
        node.split = self._best(node)
        if node.split is not None:
            self._add_children(node)
            for child in node.children:
                self._grow_below(child)

    def _grow_best_first(self, root: Node) -> None:
        line: list[tuple[Any, int, Node, Split]] = []
        arrivals = 0
        arriving, leaves = [root], 1
        while True:
            for node in arriving:
                split = self._best(node)
                if split is not None:
                    heapq.heappush(line, (-split.gain, arrivals, node, split))
                arrivals += 1
            if not line or leaves == self.max_leaves:
                return
            _, _, node, node.split = heapq.heappop(line)
            self._add_children(node)
            arriving, leaves = node.children, leaves + 1

    def _node(self, rows: tuple[int, ...], depth: int, bounds: tuple[float, float]) -> Node:
        weight = self._weight(rows)
        impurity = float(self._impurity(rows)) / weight
        value = [float(Fraction(v) / weight) for output in self._sums(rows) for v in output]
        if self.monotone is not None:
            bounded = min(max(value[-1], bounds[0]), bounds[1])
            value = [bounded] if self.regression else [1.0 - bounded, bounded]
        return Node(rows, depth, bounds, weight, value, impurity)

    def _add_children(self, node: Node) -> None:
        split = node.split
        assert split is not None
        if np.isnan(self.X[list(node.rows), split.feature]).any():
            node.missing_child = 0 if split.missing_left else 1
        else:
            lighter = self._weight(split.left) <= self._weight(split.right)
            node.missing_child = 1 if lighter else 0
        bounds = [node.bounds, node.bounds]
        direction = 0 if self.monotone is None else self.monotone[split.feature]
        if direction:
            middle = sum(self._ordered(rows) for rows in (split.left, split.right)) / 2
            lower, upper = node.bounds
            bounds = [(lower, middle), (middle, upper)][::direction]
        for rows, own in zip((split.left, split.right), bounds, strict=True):
            node.children.append(self._node(rows, node.depth + 1, own))

    def _best(self, node: Node) -> Split | None:
        if self.max_depth is not None and node.depth >= self.max_depth:
            return None
        if len(node.rows) < self.min_rows_split or len({tuple(self.y[r]) for r in node.rows}) < 2:
            return None
        legal = [split for split in self._splits(node.rows) if self._legal(split, node.bounds)]
        judged = [replace(split, gain=self._gain(node, split)) for split in legal]
        judged = [split for split in judged if split.gain > -math.inf]
        if not judged:
            return None
        best = max(split.gain for split in judged)
        slack = NEAR * node.impurity * node.weight
        near = [split for split in judged if split.gain >= best - slack]
        return near[self.pick(near)]

    def _splits(self, rows: tuple[int, ...]) -> Iterator[Split]:
        """Yield every candidate in the order of ties."""
        for feature in range(self.X.shape[1]):
            x = {row: float(self.X[row, feature]) for row in rows}
            missing = tuple(row for row in rows if math.isnan(x[row]))
            known = [row for row in rows if not math.isnan(x[row])]
            for cuts in self._scans(feature, known, x):
                for missing_left in (False, True) if missing else (False,):
                    for threshold, levels in cuts:
                        left, right = _divided(known, x, threshold, levels)
                        sides = (left + missing, right) if missing_left else (left, right + missing)
                        yield Split(feature, threshold, levels, missing_left, *sides)

    def _scans(self, feature: int, known: list[int], x: dict[int, float]) -> Iterator[list[Cut]]:
        """Yield the cuts of a feature: one list for numbers, one each order of levels."""
        values = sorted({x[row] for row in known})
        if self.levels[feature] >= 0:
            present = [int(value) for value in values]
            for subsets in self._subsets(feature, present, known, x):
                yield [(None, subset) for subset in subsets]
            return
        cuts = []
        for low, high in zip(values, values[1:], strict=False):
            middle = low / 2 + high / 2
            cuts.append((middle if low <= middle < high else low, frozenset[int]()))
        yield [*cuts, (math.inf, frozenset())]  # the last: numbers against missing values

    def _subsets(
        self, feature: int, present: list[int], known: list[int], x: dict[int, float]
    ) -> Iterator[list[frozenset[int]]]:
        n_outputs = self.y.shape[1]
        n_classes = 1 if self.regression else int(self.y.max()) + 1
        several = n_classes > 2 or (n_classes > 1 and n_outputs > 1)
        if several and present and self.levels[feature] <= 12:
            # Counted in binary; the last level present stays right, but all against missing ones.
            numbers = [*range(1, 1 << max(present)), (1 << (max(present) + 1)) - 1]
            yield [frozenset(level for level in present if n >> level & 1) for n in numbers]
            return
        of_level = {level: tuple(row for row in known if x[row] == level) for level in present}
        weights = {level: self._weight(rows) for level, rows in of_level.items()}
        for output in range(n_outputs):
            for k in range(n_classes) if several else [n_classes - 1]:
                ranked = sorted(
                    (Fraction(self._sums(rows)[output][k]) / weights[level], level)
                    for level, rows in of_level.items()
                )
                in_order = [level for _, level in ranked]
                yield [frozenset(in_order[:cut]) for cut in range(1, len(in_order) + 1)]

    def _legal(self, split: Split, bounds: tuple[float, float]) -> bool:
        sides = (split.left, split.right)
        if not any(not math.isnan(self.X[row, split.feature]) for row in split.left):
            return False
        if min(map(len, sides)) < max(1, self.min_rows):
            return False
        if min(map(self._weight, sides)) < self.min_weight:
            return False
        direction = 0 if self.monotone is None else self.monotone[split.feature]
        if direction == 0:
            return True
        means = [self._ordered(rows) for rows in sides]
        inside = bounds[0] <= min(means) and max(means) <= bounds[1]
        return inside and (means[1] - means[0]) * direction >= 0

    def _weight(self, rows: Any) -> int:
        return int(sum(int(self.weight[row]) for row in rows))

    def _sums(self, rows: tuple[int, ...]) -> list[list[Any]]:
        """Return for each output the weight of each class, or the one sum of the targets."""
        sums: list[list[Any]] = []
        for column in self.y.T:
            if self.regression:
                sums.append([sum(int(self.weight[r]) * Fraction(float(column[r])) for r in rows)])
                continue
            own = [0] * (int(self.y.max()) + 1)
            for row in rows:
                own[int(column[row])] += int(self.weight[row])
            sums.append(own)
        return sums

    def _ordered(self, rows: tuple[int, ...]) -> float:
        """Return the mean that monotone constraints order: of the reals, or the second class."""
        return float(Fraction(self._sums(rows)[0][-1]) / self._weight(rows))

    def _gain(self, node: Node, split: Split) -> Any:
        left, right = split.left, split.right
        if self.criterion == "twoing":
            return self._twoing(left, right)
        if self.criterion == "poisson" and 0 in [
            s[0] for r in (left, right) for s in self._sums(r)
        ]:
            return -math.inf
        return self._impurity(node.rows) - self._impurity(left) - self._impurity(right)

    def _twoing(self, left: tuple[int, ...], right: tuple[int, ...]) -> Any:
        a, b = self._weight(left), self._weight(right)
        total: Any = 0
        for in_left, in_right in zip(self._sums(left), self._sums(right), strict=True):
            pairs = zip(in_left, in_right, strict=True)
            total += sum(abs(Fraction(p, a) - Fraction(q, b)) for p, q in pairs) ** 2
        return Fraction(a * b, 4 * (a + b)) * total / self.y.shape[1]

    def _impurity(self, rows: tuple[int, ...]) -> Any:
        """Return the impurity of some rows, times their weight."""
        w = self._weight(rows)
        total: Any = 0
        for column, sums in zip(self.y.T, self._sums(rows), strict=True):
            if self.criterion in ("gini", "twoing"):
                total += w - sum(Fraction(c * c, w) for c in sums)
            elif self.criterion == "entropy":
                total -= sum(c * math.log2(c / w) for c in sums if c)
            elif self.criterion == "squared_error":
                total += sum(int(self.weight[r]) * Fraction(float(column[r])) ** 2 for r in rows)
                total -= sums[0] ** 2 / w
            else:
                mean = float(sums[0]) / w
                logs = [column[r] * math.log(column[r] / mean) if column[r] else 0.0 for r in rows]
                total += sum(int(self.weight[r]) * log for r, log in zip(rows, logs, strict=True))
        return total / self.y.shape[1]


def _divided(
    known: list[int], x: dict[int, float], threshold: float | None, levels: frozenset[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    goes_left = {r: x[r] in levels if threshold is None else x[r] <= threshold for r in known}
    left = tuple(row for row in known if goes_left[row])
    return left, tuple(row for row in known if not goes_left[row])


def breadth_first(root: Node) -> list[Node]:
    nodes = [root]
    for node in nodes:
        nodes += node.children
    return nodes


class PrunedByRecursion:
    """A binary tree over numbers, pruned by its errors as Quinlan 1993 says, node by node."""

    def __init__(self, tree: Any, number: int, added: Any) -> None:
        self.added = added
        self.feature, self.cut = int(tree.feature[number]), float(tree.threshold[number])
        first = int(tree.first_child[number])
        self.children = (
            [PrunedByRecursion(tree, first + j, added) for j in range(2)] if first >= 0 else []
        )

    def parts(self, X: Any, y: Any) -> list[tuple[Any, Any]]:
        right = X[:, self.feature] > self.cut
        return [(X[~right], y[~right]), (X[right], y[right])]

    def estimate(self, X: Any, y: Any) -> float:
        if not self.children:
            return self.leaf(y)
        return sum(c.estimate(*own) for c, own in zip(self.children, self.parts(X, y), strict=True))

    def prune(self, X: Any, y: Any) -> float:
        if not self.children:
            return self.leaf(y)
        parts = self.parts(X, y)
        as_tree = sum(c.prune(*own) for c, own in zip(self.children, parts, strict=True))
        sizes = [len(own[1]) for own in parts]
        largest = self.children[1 if sizes[1] >= sizes[0] else 0]
        as_leaf, as_branch = self.leaf(y), largest.estimate(X, y)
        if as_leaf <= as_branch + 0.1 and as_leaf <= as_tree + 0.1:
            self.children = []
            return as_leaf
        if as_branch <= as_tree + 0.1:
            self.feature, self.cut, self.children = largest.feature, largest.cut, largest.children
            return self.prune(X, y)
        return as_tree

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children)

    def leaf(self, y: Any) -> float:
        if not y.size:
            return 0.0
        errors = float(y.size - np.bincount(y).max())
        return errors + float(self.added(np.array([float(y.size)]), np.array([errors]))[0])
