"""Re-splitting: the most significant cut of a merged group into two (Kass 1980, step 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.chaid.association import AssociationTest

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ALL_SUBSETS_UP_TO = 12  # levels of a nominal predictor


def best_halves(
    stats: Floats, ordinal: bool, floating: bool, test: AssociationTest
) -> tuple[float, Mask]:
    """Return (log p, levels of the first half (m,)) of the cut with the smallest p-value.

    stats (m, T): of the group's m >= 2 levels. An ordinal group is cut between neighbours; if its
    last level is the floating one, that goes to either half or stands alone. A nominal group is
    cut in all ways up to 12 levels; beyond, along the orders of the levels by class share or mean,
    which holds the best cut for two classes and for means (Fisher 1958).
    """
    masks = _cuts(stats, ordinal, floating, test)
    tables = np.broadcast_to(stats, (masks.shape[0], *stats.shape))
    halves = np.stack([test.pool(tables, masks), test.pool(tables, ~masks)], axis=1)
    log_p = test.log_p(halves, np.ones(halves.shape[:2], dtype=np.bool_))
    best = int(np.argmin(log_p))
    return float(log_p[best]), masks[best]


def _cuts(stats: Floats, ordinal: bool, floating: bool, test: AssociationTest) -> Mask:
    """Return the halves to try, one a row, (C, m)."""
    n_levels = stats.shape[0]
    if ordinal and floating:
        line = _prefixes(np.arange(n_levels - 1))
        without = np.pad(line, ((0, 0), (0, 1)))
        alone = np.arange(n_levels) < n_levels - 1
        return np.concatenate([without, without | ~alone, alone[None, :]])
    if ordinal:
        return _prefixes(np.arange(n_levels))
    if n_levels <= ALL_SUBSETS_UP_TO:
        numbers = np.arange(1, 1 << (n_levels - 1))
        subsets: Mask = (numbers[:, None] >> np.arange(n_levels)) & 1 == 1
        return subsets
    orders = np.argsort(test.rates(stats), axis=0, kind="stable")
    return np.concatenate([_prefixes(np.argsort(order)) for order in orders.T])


def _prefixes(rank: NDArray[np.int64]) -> Mask:
    """Return the levels of rank below 1, 2, …, (m − 1, m)."""
    below: Mask = rank[None, :] < np.arange(1, rank.size)[:, None]
    return below
