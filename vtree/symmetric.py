"""Symmetric trees: one split for all nodes of a level (Prokhorenkova et al., CatBoost, 2018, §B).

A `Searcher` that adds up what each candidate is worth over all nodes of a level, and gives the best
one to all of them. Nodes may be left without rows, so that all leaves are equally deep.

Of several roots, the first half may learn and the second half judge: tree j and tree J + j are
divided alike, the steps come from the rows of the first, and how well they point along the
gradients of the second is the score (Algorithm 2 there, with prefixes for single rows).

Where features are monotone, what leaves answer must not fall along chains of them (`vtree.chains`),
and a candidate is worth what the best such answers are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.choice import Nodes, Splits
from vtree.criteria import Criterion
from vtree.sampling import Columns
from vtree.thresholds import thresholds
from vtree.tree import SUBSET, THRESHOLD
from vtree_kernels.isotonic import isotonic
from vtree_kernels.joint import joint
from vtree_kernels.scan import Layout, Limits
from vtree_kernels.symmetric_splits import OF_ITS_OWN

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# For `Plan`: a level is searched at once. Slices of it would have a split each.
WHOLE_LEVELS = 1 << 62  # bytes
NO_FEW_ROWS = -1


class Noise(NamedTuple):
    """What is left to chance in the scores."""

    seed: int = 0
    spread: float = 0.0  # standard deviation of what is added to a score, 0 for nothing


class JointBest(NamedTuple):
    """The best candidate of each feature of a group, for all nodes together."""

    score: Floats  # (G,) −inf: none
    bin: Integers
    missing_left: NDArray[np.bool_]
    hist: Array  # (L, G, B, S)


class SymmetricSearch(NamedTuple):
    """Search for one split a level.

    Scores are Σ R²/(H + shrink) over both sides of all nodes ("L2"), or that over the square root
    of Σ H (R/(H + shrink))² (`cosine`). Numbers split by thresholds, categories one against all
    others, the missing ones among these.
    """

    criterion: Criterion
    layout: Layout
    shrink: float = 0.0  # in the unit of the weights
    cosine: bool = True
    judges: bool = False  # the second half of the roots judges the first
    noise: Noise = Noise()
    columns: Columns = Columns()
    limits: Limits = Limits(0, 0.0)
    monotone: NDArray[np.int8] | None = None
    uses_once: bool = False
    directions: NDArray[np.int8] | None = None  # (F,) as `monotone`; nodes' bounds are their places

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell whether `find` asks for the histograms of a group."""
        return True

    def derives(self, group: Group) -> bool:
        """Tell that `find` asks for whole histograms."""
        return False

    def find(self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins) -> JointBest:
        """Return the best candidate of each feature of a group, hist (L, G, B, S)."""
        worth, size = self._candidates(group, hist, nodes)
        if (worth[:, 1] == -np.inf).all():  # nothing is missing
            worth, size = worth[:, :1], size[:, :1]
        score = worth
        if self.cosine:  # here, for not all libraries round square roots correctly
            filled = size > 0.0
            length = np.sqrt(np.where(filled, size, 1.0))
            score = np.where(filled, worth / length, np.where(np.isinf(worth), worth, 0.0))
        n_features, n_codes = score.shape[0], score.shape[2]
        plain, own = score.reshape(n_features, -1), np.zeros(n_features)
        if self.noise.spread > 0.0:
            # Among features the best candidate has another draw: that which won would tell how many
            # candidates there are.
            drawn = self._drawn(group, nodes, np.append(np.arange(n_codes), OF_ITS_OWN))
            score, own = score + drawn[:, None, :-1], drawn[:, -1]
            real = np.arange(n_codes) <= bins.n_bins[group.features][:, None]
            score = np.where(real[:, None, :], score, -np.inf)  # chance counts no bin twice
        place = score.reshape(n_features, -1).argmax(axis=1)
        best = plain[np.arange(n_features), place] + own
        return JointBest(best, place % n_codes, place >= n_codes, hist)

    def _candidates(self, group: Group, hist: Array, nodes: Nodes) -> tuple[Floats, Floats]:
        """Return the worth of each candidate, and the size of its answers, each (G, 2, B)."""
        total = arrays.like(nodes.total, hist)
        shrink, one_hot, layout = self.shrink, group.categorical, self.layout
        if self.directions is None:
            learn, judge = self._pairs(nodes)
            found = joint(hist, total, learn, judge, shrink, one_hot, layout)
        else:
            learn, judge, chain = self._pairs_in_chains(nodes)
            own = (chain, self.directions[group.features])
            found = isotonic(hist, total, learn, judge, *own, shrink, one_hot, layout)
        worth, size = map(arrays.to_numpy, found)
        return worth, size

    def _pairs_in_chains(self, nodes: Nodes) -> tuple[Integers, Integers, Integers]:
        """Return the nodes that learn, those that judge them and their chains, (Q,) each."""
        assert nodes.tree is not None
        n_trees = int(nodes.tree.max()) + 1
        chain = np.floor(nodes.lower).astype(np.int64)
        in_order = np.lexsort((nodes.lower, nodes.tree, chain))
        learn = judge = in_order
        if self.judges:
            learns = nodes.tree[in_order] < n_trees // 2
            learn, judge = in_order[learns], in_order[~learns]
        return learn, judge, chain[learn] * n_trees + nodes.tree[learn]

    def _pairs(self, nodes: Nodes) -> tuple[Integers, Integers]:
        """Return the nodes that learn and those that judge them, (Q,) twice.

        In the order of their keys: growth's own depends on which sibling has fewer rows.
        """
        assert nodes.tree is not None
        in_order = np.lexsort((nodes.tree, nodes.key))
        if not self.judges:
            return in_order, in_order
        halves = in_order.reshape(-1, 2, (int(nodes.tree.max()) + 1) // 2)
        return halves[:, 0].reshape(-1), halves[:, 1].reshape(-1)

    def _drawn(self, group: Group, nodes: Nodes, codes: Integers) -> Floats:
        """Return what chance adds to the scores of a group, (G, B)."""
        assert nodes.depth is not None
        where = (draws.SCORE, self.noise.seed, int(nodes.depth[0]), group.features[:, None])
        drawn: Floats = draws.nearly_normal(*where, codes[None, :]) * self.noise.spread
        return drawn

    def choose(self, found: list[JointBest], nodes: Nodes, bins: Bins) -> Splits:
        """Return the one best split for each node; the lowest feature of equal ones."""
        n_features = bins.n_bins.size
        score = np.full(n_features, -np.inf)
        for group, each in zip(bins.groups, found, strict=True):
            score[group.features] = each.score
        assert nodes.depth is not None
        allowed = self.columns.drawn(nodes.key[:1], nodes.depth[:1], n_features)[0]
        score[~allowed] = -np.inf
        feature = int(np.argmax(score))
        if score[feature] == -np.inf:
            return _no_split(nodes)
        number = next(g for g, group in enumerate(bins.groups) if feature in group.features)
        place = int(np.searchsorted(bins.groups[number].features, feature))
        own = found[number]
        divide = _by_level if bins.is_categorical[feature] else _by_threshold
        hist = own.hist[:, place, ...]
        cut = divide(feature, int(own.bin[place]), bool(own.missing_left[place]), hist, bins)
        return _alike(cut, float(score[feature]), nodes)


class _Cut(NamedTuple):
    """How all nodes of a level are divided."""

    feature: int
    kind: int
    bin: int
    threshold: float
    missing_child: int
    left: Integers  # (L, S) the statistics of the first children
    branch_map: NDArray[np.uint8] | None = None


def _by_threshold(feature: int, bin: int, missing_left: bool, hist: Array, bins: Bins) -> _Cut:
    """Return the cut after code `bin`, hist (L, B, S)."""
    hist = arrays.to_numpy(hist)
    counts = hist[:, :, 0].sum(axis=0)
    later = np.flatnonzero(counts[bin + 1 :] > 0)
    following = bin + 1 + int(later[0]) if later.size else 0
    gap = np.asarray([feature]), np.asarray([bin]), np.asarray([following])
    last_code, threshold = thresholds(*gap, bins)
    first = 0 if missing_left else 1
    left = hist[:, first : bin + 1, :].sum(axis=1)
    if counts[0] == 0:  # no row tells where missing values go: with the more of them
        missing_left = 2 * int(left[:, 0].sum()) > int(counts.sum())
    missing_child = 0 if missing_left else 1
    return _Cut(feature, THRESHOLD, int(last_code[0]), float(threshold[0]), missing_child, left)


def _by_level(feature: int, bin: int, missing_left: bool, hist: Array, bins: Bins) -> _Cut:
    """Return the cut between code `bin` and all others, hist (L, B, S)."""
    branch_map = np.ones(int(bins.n_bins[feature]) + 1, dtype=np.uint8)
    branch_map[bin] = 0
    left = arrays.to_numpy(hist[:, bin, :]).astype(np.int64)
    return _Cut(feature, SUBSET, bin, 0.0, int(branch_map[0]), left, branch_map)


def _alike(cut: _Cut, score: float, nodes: Nodes) -> Splits:
    """Return the same split for every node."""
    shape = nodes.key.shape
    sides = np.stack([cut.left, nodes.total - cut.left], axis=1)  # (L, 2, S)
    every = range(nodes.key.size if cut.branch_map is not None else 0)
    return Splits(
        feature=np.full(shape, cut.feature, dtype=np.int32),
        kind=np.full(shape, cut.kind, dtype=np.int8),
        bin=np.full(shape, cut.bin, dtype=np.int32),
        threshold=np.full(shape, cut.threshold),
        gain=np.full(shape, score),
        missing_child=np.full(shape, cut.missing_child, dtype=np.int32),
        n_children=np.full(shape, 2, dtype=np.int32),
        child_total=sides.reshape(-1, cut.left.shape[1]),
        child_of_code={node: cut.branch_map for node in every if cut.branch_map is not None},
    )


def _no_split(nodes: Nodes) -> Splits:
    none = _alike(_Cut(-1, THRESHOLD, 0, 0.0, -1, nodes.total), -np.inf, nodes)
    return none._replace(n_children=none.n_children * 0, child_total=none.child_total[:0])
