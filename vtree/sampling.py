"""Per-node draws: which features may split a node, and where a random threshold falls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import draws
from vtree.binning import Bins
from vtree_kernels.mixing import below

Words = NDArray[np.uint64]


class Draw(NamedTuple):
    """What is left to chance in a split."""

    seed: int = 0
    max_features: int | None = None  # None: all of them
    random_threshold: bool = False
    raw: bool = False  # thresholds are drawn between raw values, `Bins.values`, not between bins

    def leaves_out(self, n_features: int) -> bool:
        """Whether a node may be split by some of the features alone."""
        return self.max_features is not None and self.max_features < n_features

    @property
    def chance(self) -> bool:
        """Whether anything is left to chance."""
        return self.max_features is not None or self.random_threshold


class Columns(NamedTuple):
    """The shares of the features that a tree, a level of it and a node draw, one from another."""

    by_tree: float = 1.0
    by_level: float = 1.0
    by_node: float = 1.0
    seed: int = 0  # of the tree

    @property
    def all_of_them(self) -> bool:
        """Whether no feature is left out anywhere."""
        return min(self.by_tree, self.by_level, self.by_node) >= 1.0

    @property
    def differ(self) -> bool:
        """Whether nodes of one tree have other features than others."""
        return min(self.by_level, self.by_node) < 1.0

    def of_tree(self, n_features: int) -> NDArray[np.int64]:
        """Return the features that some node of the tree may use, ascending."""
        whole = Columns(self.by_tree, seed=self.seed)
        one = whole.drawn(np.zeros(1, np.uint64), np.zeros(1, np.int64), n_features)
        return np.flatnonzero(one)

    def counts(self, n_features: int) -> tuple[int, int, int]:
        """Return how many features a tree, a level and a node draw, 0 where that is all there are.

        A share is rounded down, to one at least (XGBoost's rule).
        """
        found, count = [], n_features
        for share in (self.by_tree, self.by_level, self.by_node):
            count = max(1, int(share * count)) if share < 1.0 else count
            found.append(count if share < 1.0 else 0)
        return found[0], found[1], found[2]

    def state(self, stage: int) -> np.uint64:
        """Return the state of a stage's draws before their level or key, and the feature."""
        return np.uint64(draws.mix(draws.COLUMNS, self.seed, stage))

    def __call__(self, nodes: Any, n_features: int) -> NDArray[np.bool_]:
        """Return the features that may split each of L nodes with a `key` and a `depth`, (L, F)."""
        return self.drawn(nodes.key, nodes.depth, n_features)

    def drawn(self, keys: Words, depth: NDArray[np.int64], n_features: int) -> NDArray[np.bool_]:
        """Return the same for nodes with these keys and depths, (L,)."""
        allowed = np.ones((keys.size, n_features), dtype=np.bool_)
        feature = np.arange(n_features)[None, :]
        alike = np.zeros((keys.size, 1), dtype=np.int64)
        level = depth[:, None]
        counts = self.counts(n_features)
        for stage, what in enumerate((alike, level, keys[:, None])):
            if not counts[stage]:
                continue
            chance = draws.mix(draws.COLUMNS, self.seed, stage, what, feature)
            chance = np.where(allowed, chance >> np.uint64(1), np.uint64(2**64 - 1))
            rank = np.argsort(np.argsort(chance, axis=1, kind="stable"), axis=1, kind="stable")
            allowed = rank < counts[stage]
        return allowed


def drawn_places(draw: Draw, keys: Words, varies: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the place of each feature that may split a node in its draw, F for others, (L, F).

    keys (L,): of the nodes; varies (L, F): features with at least two codes in the node. The first
    `max_features` in the node's own random order are taken and, if all of them are constant there,
    those after up to the first that is not (scikit-learn's rule). Without a draw, features are in
    the order of the table.
    """
    n_features = varies.shape[1]
    most = draw.max_features
    if most is None or not draw.leaves_out(n_features):
        return np.broadcast_to(np.arange(n_features), varies.shape)
    place = feature_places(draw, keys, n_features, most)
    stuck = np.flatnonzero(varies.any(axis=1) & ~(varies & (place < most)).any(axis=1))
    if stuck.size:
        further = feature_places(draw, keys[stuck], n_features)
        first_varying = np.where(varies[stuck], further, n_features).min(axis=1)
        place[stuck] = np.where(further <= first_varying[:, None], further, n_features)
    return place


def feature_places(
    draw: Draw, keys: Words, n_features: int, count: int | None = None
) -> NDArray[np.int64]:
    """Return the place of each feature in each node's own random order, (L, F).

    A feature that is not among the first `count` has the place F. Each place in turn is taken by
    one of the features that are left (Fisher & Yates), so that a short draw costs little.
    """
    every = np.arange(keys.size)
    order = np.tile(np.arange(n_features), (keys.size, 1))
    place = np.full(order.shape, n_features)
    for turn in range(n_features if count is None else count):
        word = draws.mix(draw.seed, draws.FEATURE_ORDER, keys, turn)
        other = turn + below(word, np.uint64(n_features - turn)).astype(np.int64)
        taken = order[every, other]
        order[every, other] = order[every, turn]
        order[every, turn] = taken
        place[every, taken] = turn
    return place


def random_thresholds(
    draw: Draw,
    keys: Words,
    bins: Bins,
    feature: int,
    lowest: NDArray[np.int64],
    highest: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return (allowed code, threshold), each (L,), of one numeric feature.

    lowest, highest (L,): the node's extreme codes with rows. The threshold is uniform between the
    values they stand for; where a bin holds a range of values, it is the edge below that point.
    A constant feature allows only "missing or not" (its code), an empty one nothing (−1).
    """
    u = draws.uniform(draw.seed, draws.THRESHOLD, keys, feature)
    values = bins.distinct[feature]
    spread = lowest < highest
    allowed = np.where(highest > 0, highest, -1)
    threshold = np.full(u.shape, np.inf)
    if not spread.any():
        return allowed.astype(np.int32), threshold
    if values is None:
        # The cut lies between the upper edge of the lowest bin and the lower edge of the highest.
        edges = bins.edges[feature]
        point = _mix(edges[lowest[spread] - 1], edges[highest[spread] - 2], u[spread])
        code = np.searchsorted(edges, point, side="right")
        threshold[spread] = edges[code - 1]
    else:
        low, high = values[lowest[spread] - 1], values[highest[spread] - 1]
        point = between(low, high, u[spread])
        code = np.searchsorted(values, point, side="right")
        threshold[spread] = point
    allowed[spread] = code
    return allowed.astype(np.int32), threshold


def between(
    low: NDArray[np.float64], high: NDArray[np.float64], u: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the points at a share u of the way from `low` to `high`, below `high`."""
    point = _mix(low, high, u)
    return np.where((point >= low) & (point < high), point, low)


def _mix(
    low: NDArray[np.float64], high: NDArray[np.float64], u: NDArray[np.float64]
) -> NDArray[np.float64]:
    # Two products instead of low + u (high − low), whose difference may overflow.
    with np.errstate(invalid="ignore"):
        point: NDArray[np.float64] = low * (1.0 - u) + high * u
    return np.where(np.isnan(point), low, point)
