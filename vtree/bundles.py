"""Exclusive feature bundling (Ke et al. 2017, algorithms 3 and 4), exact.

Features that are away from their most frequent code in different rows share a column of codes:

    feature 0   1 1 2 1 3 1           bundle   0 0 1 3 2 0    default · 0 is 2 · 0 is 3 · 1 is 2
    feature 1   1 1 1 2 1 1

A histogram of the bundle holds those of its features; only the defaults are what is left of the
node. No row may be away from the defaults of two features, so a tree grown from bundles is the same
to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.binning import Bins, Bundles, Group

Integers = NDArray[np.int64]

MOST_CODES = 4_096  # of a bundle
# Denser features find few partners, and none that would save a third of the columns.
_LEAST_DEFAULT = 0.5

# Rows that tell that most features are denser, and what share of them has a default then.
_SAMPLE, _SURE = 4_096, 0.4

_FIRST = 512  # bytes of eight rows that show most conflicts at once


def bundled(bins: Bins) -> Bins:
    """Return a table whose numeric groups have bundles, where these save a third of the columns."""
    return bins._replace(groups=tuple(map(_with_bundles, bins.groups)))


def _with_bundles(group: Group) -> Group:
    if group.categorical or group.features.size < 3:
        return group
    every = max(1, group.codes.shape[0] // _SAMPLE)
    some = _counts(arrays.to_numpy(group.codes[::every, ...]), group.n_codes)
    if 3 * (some.max(axis=1) >= _SURE * some[0].sum()).sum() <= group.features.size:
        return group
    codes = arrays.to_numpy(group.codes)
    counts = _counts(codes, group.n_codes)
    default = np.argmax(counts, axis=1)
    away = codes.shape[0] - counts.max(axis=1)
    if 3 * (away <= (1.0 - _LEAST_DEFAULT) * codes.shape[0]).sum() <= group.features.size:
        return group
    members = _members(codes, default, away, (counts > 0).sum(axis=1) - 1)
    if 3 * len(members) > 2 * group.features.size:
        return group
    widest = 1 + max(int((counts[own] > 0).sum()) - len(own) for own in members)
    shared = np.zeros((codes.shape[0], len(members)), dtype=np.int32)
    cell = np.full((group.features.size, group.n_codes), -1, dtype=np.int64)
    n_codes = widest | 1
    for column, own in enumerate(members):
        used = 1
        for feature in own:
            met = np.flatnonzero(counts[feature] > 0)
            met = met[met != default[feature]]
            number = np.zeros(group.n_codes, dtype=np.int32)
            number[met] = used + np.arange(met.size)
            shared[:, column] += number[codes[:, feature]]
            cell[feature, met] = column * n_codes + number[met]
            used += met.size
    xp = arrays.namespace(group.codes)
    own_codes = xp.astype(arrays.like(shared, group.codes), arrays.code_dtype(n_codes, group.codes))
    return group._replace(bundles=Bundles(own_codes, n_codes, cell, default))


def _counts(codes: NDArray[np.integer], n_codes: int) -> Integers:
    """Return how many rows each code of each feature has, (F, B)."""
    return np.stack([np.bincount(own, minlength=n_codes) for own in codes.T])


def _members(
    codes: NDArray[np.integer], default: Integers, away: Integers, n_others: Integers
) -> list[list[int]]:
    """Return the features of each bundle: the densest first, each into the first with room.

    away (F,): rows that are not at the default; n_others (F,): codes besides it.
    """
    n_rows, n_features = codes.shape
    members: list[list[int]] = []
    taken: list[NDArray[np.uint8]] = []  # rows where a member is away, a bit each
    first = np.zeros((n_features, min(_FIRST, -(-n_rows // 8))), dtype=np.uint8)  # their start
    room = np.zeros(n_features, dtype=np.int64)  # rows that no member is away in
    n_codes = np.zeros(n_features, dtype=np.int64)
    for feature in np.argsort(-away, kind="stable").tolist():
        own = np.packbits(codes[:, feature] != default[feature])
        so_far = slice(0, len(members))
        free = (room[so_far] >= away[feature]) & (n_codes[so_far] + n_others[feature] <= MOST_CODES)
        columns = np.flatnonzero(free)
        columns = columns[~(first[columns] & own[: first.shape[1]]).any(axis=1)]
        place = next((c for c in columns.tolist() if not (taken[c] & own).any()), len(members))
        if place == len(members):
            members.append([])
            taken.append(np.zeros_like(own))
            room[place], n_codes[place] = n_rows, 1
        members[place].append(feature)
        taken[place] |= own
        first[place] = taken[place][: first.shape[1]]
        room[place] -= int(away[feature])
        n_codes[place] += int(n_others[feature])
    return members
