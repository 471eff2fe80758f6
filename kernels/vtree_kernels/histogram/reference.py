"""The definition of `histogram` over the array API."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

_WORD = 64  # bits
_LEAST_ROOM = 14  # of fields that share a word: more flushes cost more than another word


class Compact(NamedTuple):
    """The weight, if any, and the sums of N rows in as few bytes as hold them."""

    fields: Any  # (N, P) int32 or int64
    bits: Any  # (P,) int64 NumPy, of each field, with its sign
    words: Any  # (N,) int64 with all fields, and a count if there is one, instead; or (0,)
    lowest: Any  # (P,) int64 NumPy, the bit of a value that its field in `words` begins with
    weighted: int  # 1 if the first field is the weight, 0 if there is none

    @property
    def packed(self) -> bool:
        """Whether it has words."""
        return bool(self.words.size)


def compacted(sums: Any, weight: Any | None, counted: bool = True) -> Compact | None:
    """Return None: only a twin that reads rows one by one gains from it."""
    return None


def packing(bits: Any) -> tuple[Any, int, int]:
    """Return (word and width of each field (fields, 2), words, rows until a field may overflow).

    bits (fields,): of a row's value; none for a count, which is one for every row. Fields of a word
    lie one above another, the first one lowest.
    """
    fields = np.empty((bits.size, 2), np.int64)
    words, used, inside, room = 0, 0, 0, 31
    for f in range(bits.size):
        if inside == 0 or (_WORD - used - bits[f]) // (inside + 1) < _LEAST_ROOM:
            words, used, inside = words + 1, 0, 0
        used, inside = used + bits[f], inside + 1
        room = min(room, (_WORD - used) // inside, _WORD - 1 - bits[f])
        fields[f, 0] = words - 1
    for f in range(bits.size):
        fields[f, 1] = bits[f] + room
    return fields, words, (1 << room) - 1


def unpacked(compact: Compact, rows: Any, counted: bool = True) -> Any:
    """Return the fields (P, n) int64 of some rows' words, the weight if any first.

    rows (n,): row numbers, or a slice. The inverse of what made the words.
    """
    xp = array_namespace(compact.words)
    word, found = compact.words[rows], []
    widths = packing(np.concatenate([np.zeros(int(counted), np.int64), compact.bits]))[0][:, 1]
    for width in widths.tolist():
        sign = 1 << (width - 1)  # a row's weight does not reach it
        found.append(((word & (2 * sign - 1)) ^ sign) - sign)
        word = (word - found[-1]) >> width
    fields = zip(found[int(counted) :], compact.lowest.tolist(), strict=True)
    return xp.stack([own << lowest for own, lowest in fields])


def numbers_of(compact: Compact, rows: Any) -> tuple[Any | None, Any]:
    """Return weight (n,), None if there is none, and sums (n, J) from some rows' counted words."""
    fields = unpacked(compact, rows)
    return fields[0] if compact.weighted else None, np.ascontiguousarray(
        fields[compact.weighted :].T
    )


def packed_sums(rows: Any, start: Any, stop: Any, compact: Compact, counted: bool = True) -> Any:
    """Return the sums (L, P) int64 of the fields of rows[start[l] : stop[l]]."""
    found = unpacked(compact, rows, counted)
    before = np.concatenate([np.zeros((compact.bits.size, 1), np.int64), found.cumsum(1)], 1)
    return (before[:, stop] - before[:, start]).T


def statistics(
    rows: Any, label: Any, weight: Any | None, sums: Any, n_statistics: int, counted: bool
) -> list[Any]:
    """Return the S planes of values that `rows` (R,) add, each (R,) int64."""
    xp = array_namespace(rows)
    one = xp.ones(rows.shape, dtype=xp.int64, device=device(rows))
    w = one if weight is None else xp.take(weight, rows)
    planes = ([one] if counted else []) + ([] if weight is None else [w])
    n_sums = sums.shape[1]
    own = [xp.take(label[:, o], rows) for o in range(label.shape[1])]
    for plane in range(len(planes), n_statistics - n_sums):
        value = xp.zeros_like(one)
        for o in own:
            value = xp.where(o == plane, w, value)
        planes.append(value)
    planes.extend(xp.take(sums[:, j], rows) for j in range(n_sums))
    return planes


def node_of_position(rows: Any, start: Any, stop: Any) -> tuple[Any, Any]:
    """Return (positions, node): where in `rows` the nodes' rows stand, and whose they are."""
    xp = array_namespace(rows)
    lengths = stop - start
    node = np.repeat(np.arange(start.size), lengths)
    positions = (
        np.arange(node.size) - np.repeat(np.cumsum(lengths) - lengths, lengths) + start[node]
    )
    place = device(rows)
    return xp.asarray(positions, device=place), xp.asarray(node, device=place)


def sums_by_key(key: Any, planes: list[Any], n_keys: int) -> Any:
    """Return (n_keys, S): each plane summed over the entries of each key.

    The standard has no scatter-add: sort by key, cumulate, and subtract at the keys' borders.
    """
    xp = array_namespace(key)
    order = xp.argsort(key, stable=True)
    place = device(key)
    ends = xp.searchsorted(
        xp.take(key, order), xp.arange(n_keys, dtype=key.dtype, device=place), side="right"
    )
    zero = xp.zeros((1,), dtype=xp.int64, device=place)
    out = []
    for plane in planes:
        running = xp.concat([zero, xp.cumulative_sum(xp.take(plane, order), dtype=xp.int64)])
        borders = xp.concat([zero, xp.take(running, ends)])
        out.append(borders[1:] - borders[:-1])
    return xp.stack(out, axis=1)


def histogram(
    codes: Any,
    rows: Any,
    start: Any,
    stop: Any,
    label: Any,
    weight: Any | None,
    sums: Any,
    n_codes: int,
    n_statistics: int,
    counted: bool = True,
    compact: Compact | None = None,
    room: int = 0,
) -> Any:
    """Return hist (L + room, G, B, S); see the package for the contract."""
    xp = array_namespace(codes)
    positions, node = node_of_position(rows, start, stop)
    chosen = xp.take(rows, positions)
    planes = statistics(chosen, label, weight, sums, n_statistics, counted)
    n_nodes, n_features = start.size, codes.shape[1]
    features = []
    for g in range(n_features):
        code = xp.astype(xp.take(codes[:, g], chosen), xp.int64)
        features.append(sums_by_key(node * n_codes + code, planes, n_nodes * n_codes))
    shape = (n_nodes, n_codes, n_statistics)
    hist = xp.stack([xp.reshape(feature, shape) for feature in features], axis=1)
    hist = xp.astype(hist, xp.int64 if counted else xp.int32)
    if not room:
        return hist
    free = xp.empty((room, *hist.shape[1:]), dtype=hist.dtype, device=device(hist))
    return xp.concat([hist, free], axis=0)
