"""Levels that no row of weight has: they are unknown, for such rows are as if they were absent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array, like, namespace, to_numpy
from vtree.tables.door import Schema


def with_seen_levels(
    values: Array, schema: Schema, rows: NDArray[np.int64]
) -> tuple[Array, Schema]:
    """Return a table without the levels that none of some rows has.

    values (N, F): level numbers in categorical columns, which are missing values where a level
    goes; the others are numbered anew. rows (R,): numbers of rows.

    >>> schema = Schema(("size",), (np.array(["L", "M", "S"], dtype=object),))
    >>> values, schema = with_seen_levels(np.array([[2.0], [0.0], [1.0]]), schema, np.array([0, 1]))
    >>> values[:, 0], schema.levels[0]
    (array([ 1.,  0., nan]), array(['L', 'S'], dtype=object))
    """
    xp, all_levels, changed = namespace(values), list(schema.levels), {}
    for place, levels in enumerate(schema.levels):
        if levels is None:
            continue
        column = to_numpy(values[:, place])
        known = ~np.isnan(column)
        seen = np.zeros(levels.size, dtype=np.bool_)
        seen[column[rows][known[rows]].astype(np.int64)] = True
        if seen.all():
            continue
        all_levels[place] = levels[seen]
        number = np.where(seen, np.cumsum(seen) - 1.0, np.nan)
        own = np.full(column.shape, np.nan, dtype=column.dtype)
        own[known] = number[column[known].astype(np.int64)]
        changed[place] = own
    if not changed:
        return values, schema
    values = xp.asarray(values, copy=True)
    for place, own in changed.items():
        values[:, place] = like(own, values)
    return values, schema._replace(levels=tuple(all_levels))
