"""Extra-trees cuts: a threshold for each node and feature, uniform between the node's extremes.

The draw is among the values themselves, whatever bins they lie in (Geurts, Ernst & Wehenkel,
Extremely randomized trees, 2006), so rows are compared with it by value. What falls on each side
is a histogram of three codes, missing, left and right, which the scan of all other splits judges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.histogram import Rows
from vtree.sampling import Draw, Words, between, feature_places
from vtree_kernels.cuts import cut_sums, extremes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEFT = 1  # the code of values up to the threshold


def random_cuts(
    draw: Draw,
    keys: Words,
    values: Array,
    features: Integers,
    order: Array,
    start: Integers,
    stop: Integers,
    rows: Rows,
) -> tuple[Array, Floats]:
    """Return (histograms (L, G, 3, S) of missing, left and right; thresholds (L, G)).

    keys, start, stop (L,): of the nodes, whose rows are order[start[l] : stop[l]]; values (N, F);
    features (G,): the columns to cut. A constant feature's threshold is ∞. Features that the node's
    draw has no use for are left out: no rows at all.
    """
    wanted = _first_wanted(draw, keys, int(values.shape[1]), features)
    least, greatest = extremes(values, order, start, stop, wanted)
    stuck = np.flatnonzero(~(least < greatest).any(axis=1) & ~wanted[:, features].all(axis=1))
    if stuck.size:  # nothing of the draw varies there: it goes on through the other features
        wanted[np.ix_(stuck, features)] = True
        rest = extremes(values, order, start[stuck], stop[stuck], wanted[stuck])
        least[stuck], greatest[stuck] = rest
    threshold = _thresholds(draw, keys, wanted, least, greatest)
    hist = cut_sums(
        values,
        order,
        start,
        stop,
        wanted,
        threshold,
        rows.label,
        rows.weight,
        rows.sums,
        rows.layout.n_stored,
        rows.layout.implied == 0,
    )
    return arrays.namespace(hist).take(hist, arrays.like(features, hist), axis=1), threshold[
        :, features
    ]


def _first_wanted(
    draw: Draw, keys: Words, n_features: int, features: Integers
) -> NDArray[np.bool_]:
    """Return the pairs of node and feature to look at first, (L, F)."""
    wanted = np.zeros((keys.size, n_features), dtype=np.bool_)
    wanted[:, features] = True
    whole = features.size == n_features
    # With other groups beside, whether a node's draw goes on is not known here: look at all.
    if whole and draw.max_features is not None and draw.max_features < n_features:
        wanted = feature_places(draw, keys, n_features, draw.max_features) < n_features
    return wanted


def _thresholds(
    draw: Draw, keys: Words, wanted: NDArray[np.bool_], least: Floats, greatest: Floats
) -> Floats:
    threshold = np.full(wanted.shape, np.inf)
    node, feature = np.nonzero(least < greatest)
    u = draws.uniform(draw.seed, draws.THRESHOLD, keys[node], feature)
    low, high = least[node, feature], greatest[node, feature]
    threshold[node, feature] = between(low, high, u)
    return threshold
