"""`medians` in Numba: each side grows row by row in a tree of sums over the ranks of targets.

For each (node, feature) the rows are sorted by code into runs. A sweep over the runs, upwards for
left sides and downwards for right ones, adds their rows to a tree whose nodes sum 32 below them:

    ranks   ....|....|....|....     adding a row touches one place a level,
    level 1   .    .    .    .      finding the median walks at most 32 places a level,
    level 2             .           so no order of rows or weights makes either slow.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.medians.reference import Ranks
from vtree_kernels.scan.reference import Best, Limits

CHUNK = 8_192  # rows times features per task
SHIFT = 5
FAN = 1 << SHIFT
LEVELS = 8  # 32^8 ranks are more than int32 rows can have
SORT_BELOW = 8  # so many codes a row, and sorting the rows is quicker than counting codes


@numba.njit(cache=True, nogil=True)
def _rank_within(rows, start, stop, first, last, rank, local, distinct, n_distinct):  # type: ignore[no-untyped-def]
    """Rank the distinct targets of each node from 0; `distinct` keeps their global ranks."""
    for node in range(first, last):
        begin = start[node]
        own = np.empty(stop[node] - begin, np.int32)
        for o in range(rank.shape[1]):
            for i in range(own.size):
                own[i] = rank[rows[begin + i], o]
            count = 0
            for i in np.argsort(own):
                if count == 0 or own[i] != distinct[o, begin + count - 1]:
                    distinct[o, begin + count] = own[i]
                    count += 1
                local[o, begin + i] = count - 1
            n_distinct[o, node] = count


@numba.njit(cache=True, nogil=True)
def _sort_by_code(own, n_codes, order, counts):  # type: ignore[no-untyped-def]
    """Fill `order` with the indices of `own` (n,), sorted."""
    if own.size * SORT_BELOW < n_codes:
        ascending = np.argsort(own)
        for i in range(own.size):
            order[i] = ascending[i]
        return
    counts[: n_codes + 1] = 0
    for code in own:
        counts[code + 1] += 1
    for code in range(n_codes):
        counts[code + 1] += counts[code]
    for i in range(own.size):
        order[counts[own[i]]] = i
        counts[own[i]] += 1


@numba.njit(cache=True, nogil=True)
def _cut_runs(own, order, only, run_code, run_begin):  # type: ignore[no-untyped-def]
    """Return the number of runs of equal codes; a drawn code without rows is an empty run."""
    n_runs = 0
    for i in range(own.size):
        code = own[order[i]]
        if n_runs > 0 and run_code[n_runs - 1] == code:
            continue
        if 0 < only < code and (n_runs == 0 or run_code[n_runs - 1] < only):
            run_code[n_runs], run_begin[n_runs] = only, i
            n_runs += 1
        run_code[n_runs], run_begin[n_runs] = code, i
        n_runs += 1
    if only > 0 and (n_runs == 0 or run_code[n_runs - 1] < only):
        run_code[n_runs], run_begin[n_runs] = only, own.size
        n_runs += 1
    run_begin[n_runs] = own.size
    return n_runs


@numba.njit(cache=True, nogil=True)
def _plant(n_ranks, tree):  # type: ignore[no-untyped-def]
    """Empty the tree (weights, sums, start of each level) and return its number of levels."""
    weights, sums, first = tree
    size, n_levels = n_ranks, 1
    first[0], first[1] = 0, size
    while size > FAN:
        size = (size + FAN - 1) >> SHIFT
        n_levels += 1
        first[n_levels] = first[n_levels - 1] + size
    weights[: first[n_levels]] = 0
    sums[: first[n_levels]] = 0
    return n_levels


@numba.njit(cache=True, nogil=True)
def _add(tree, n_levels, begin, end, column):  # type: ignore[no-untyped-def]
    """Add rows begin … end of `column` (ranks, weights, sums); return their weight and sum."""
    weights, sums, first = tree
    rank, weight, total = column
    all_weight, all_sum = 0, 0
    for i in range(begin, end):
        r, w, s = np.int64(rank[i]), weight[i], total[i]
        all_weight += w
        all_sum += s
        for level in range(n_levels):
            weights[first[level] + r] += w
            sums[first[level] + r] += s
            r >>= SHIFT
    return all_weight, all_sum


@numba.njit(cache=True, nogil=True)
def _reach(tree, n_levels, target):  # type: ignore[no-untyped-def]
    """Return (the first rank up to which the weight is `target`, weight and sum before it)."""
    weights, sums, first = tree
    k, weight_before, sum_before = 0, 0, 0
    for level in range(n_levels - 1, -1, -1):
        k <<= SHIFT
        while weight_before + weights[first[level] + k] < target:
            weight_before += weights[first[level] + k]
            sum_before += sums[first[level] + k]
            k += 1
    return k, weight_before, sum_before


@numba.njit(cache=True, nogil=True)
def _around_median(tree, n_levels, weight, total, distinct, position, value):  # type: ignore[no-untyped-def]
    """Return (error around the lower median, median) of what the tree holds."""
    if weight == 0:
        return 0.0, 0.0
    r, below, sum_below = _reach(tree, n_levels, (weight + 1) // 2)
    own, own_sum = tree[0][r], tree[1][r]
    above, sum_above = weight - below - own, total - sum_below - own_sum
    low = distinct[r]
    error = np.float64(sum_above - sum_below) + position[low] * np.float64(below - above)
    median = value[low]
    if 2 * (below + own) == weight:
        high, _, _ = _reach(tree, n_levels, weight // 2 + 1)
        median = median / 2.0 + value[distinct[high]] / 2.0
    return error, median


@numba.njit(cache=True, nogil=True)
def _sweep(tree, column, runs, upwards, with_missing, own_ranks, position, value, sides):  # type: ignore[no-untyped-def]
    """Fill the errors and medians of the left sides (upwards) or the right ones, run by run.

    Upwards a run's side holds it and those below; downwards those above. Missing values, if they
    are with this side, are there from the beginning.
    """
    run_begin, lowest, n_runs = runs
    error, median = sides
    n_levels = _plant(own_ranks.size, tree)
    weight, total = 0, 0
    if with_missing:
        weight, total = _add(tree, n_levels, 0, run_begin[lowest], column)
    for step in range(n_runs - lowest):
        k = lowest + step if upwards else n_runs - step  # downwards: one run behind
        if k < n_runs:
            more_weight, more = _add(tree, n_levels, run_begin[k], run_begin[k + 1], column)
            weight += more_weight
            total += more
        found = _around_median(tree, n_levels, weight, total, own_ranks, position, value)
        seen = k if upwards else k - 1
        error[seen], median[seen] = found


@numba.njit(cache=True, nogil=True)
def _gather(data, begin, o, order, runs, column, cells):  # type: ignore[no-untyped-def]
    """Bring a node's rows of one output into the order of the runs, and sum each run up."""
    rows, weight, sums, local = data
    run_begin, _, n_runs = runs
    ranks, weights, totals = column
    for k in range(n_runs):
        for i in range(run_begin[k], run_begin[k + 1]):
            place = begin + order[i]
            row = rows[place]
            ranks[i], totals[i] = local[o, place], sums[row, o]
            weights[i] = weight[row] if weight.size else 1
            cells[k, cells.shape[1] - sums.shape[1] + o] += totals[i]
            if o == 0:
                cells[k, 0] += 1
                if weight.size:
                    cells[k, 1] += weights[i]


@numba.njit(cache=True, nogil=True)
def _legal(node, g, left, low, high, rule):  # type: ignore[no-untyped-def]
    """Tell whether a candidate with statistics `left` and medians low, high is legal."""
    total, _, monotone, lower, upper, min_rows, min_weight, plane = rule
    if left[0] < min_rows or total[node, 0] - left[0] < min_rows:
        return False
    if np.float64(left[plane]) < min_weight:
        return False
    if np.float64(total[node, plane] - left[plane]) < min_weight:
        return False
    if monotone.size == 0 or monotone[g] == 0:
        return True
    in_order = (high - low) * monotone[g] >= 0.0
    return in_order and min(low, high) >= lower[node] and max(low, high) <= upper[node]


@numba.njit(cache=True, nogil=True)
def _decrease(error, way, k, unit):  # type: ignore[no-untyped-def]
    """Return how much less the errors of run k's sides are than the node's, over outputs."""
    total = 0.0
    for o in range(unit.size):
        whole = error[o, -1, 0, -1]  # missing values and all others on the left
        total += (whole - error[o, way, 0, k] - error[o, way, 1, k]) * unit[o]
    return (total if total > 0.0 else 0.0) / unit.size


@numba.njit(cache=True, nogil=True)
def _choose(node, g, run_code, runs, cells, error, median, rule, unit):  # type: ignore[no-untyped-def]
    """Return (gain, run, way, statistics of the left side) of the best candidate."""
    _, lowest, n_runs = runs
    only = rule[1][node, g]
    missing = cells[0] * lowest
    left = np.zeros_like(missing)
    best, best_run, best_way = -np.inf, lowest - 1, 0
    for way in range(1 + lowest):  # ties go to the first way, and there to the lowest run
        running = way * missing
        for k in range(lowest, n_runs):
            running += cells[k]
            if (only != 0 and only != run_code[k]) or running[0] == way * missing[0]:
                continue
            if not _legal(node, g, running, median[way, 0, k], median[way, 1, k], rule):
                continue
            gain = _decrease(error, way, k, unit)
            if gain > best:
                best, best_run, best_way = gain, k, way
                left = running.copy()
    return best, best_run, best_way, left


@numba.njit(cache=True, nogil=True)
def _write(node, g, found, run_code, runs, cells, out):  # type: ignore[no-untyped-def]
    """Store the best candidate of a node and feature."""
    best, best_run, best_way, left = found
    _, lowest, n_runs = runs
    out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
    following, filled = 0, 0
    for k in range(n_runs - 1, -1, -1):
        if cells[k, 0] > 0:
            filled += 1
            following = run_code[k] if k > best_run else following
    out_gain[node, g] = best
    out_bin[node, g] = run_code[best_run] if best_run >= lowest else 0
    out_next[node, g] = following
    out_missing_left[node, g] = best_way == 1
    out_missing[node, g] = cells[0, 0] * lowest
    out_varies[node, g] = filled >= 2
    for s in range(left.size):  # a line at once compiles a message for lines of other lengths
        out_left[node, g, s] = left[s]


@numba.njit(cache=True, nogil=True)
def _search_pair(node, g, codes, places, data, nodes, tables, rule, shelf, out):  # type: ignore[no-untyped-def]
    """Search one feature of one node, in the memory of `shelf`."""
    start, stop, distinct, n_distinct = nodes
    position, value, ordered, unit = tables
    codes_of_rows, order, counts, run_code, run_begin, column, tree = shelf
    begin = start[node]
    own = codes_of_rows[: stop[node] - begin]
    for i in range(own.size):
        code = np.int64(codes[data[0][begin + i], g])
        own[i] = places[node, g, code] if places.size else code
    _sort_by_code(own, counts.size - 1, order, counts)
    n_runs = _cut_runs(own, order, np.int64(rule[1][node, g]), run_code, run_begin)
    lowest = 1 if n_runs > 0 and run_code[0] == 0 else 0
    runs = (run_begin, lowest, n_runs)
    cells = np.zeros((max(1, n_runs), rule[0].shape[1]), np.int64)
    error = np.zeros((unit.size, 1 + lowest, 2, n_runs))
    median = np.zeros((unit.size, 1 + lowest, 2, n_runs))
    for o in range(unit.size):
        _gather(data, begin, o, order, runs, column, cells)
        own_ranks = distinct[o, begin : begin + n_distinct[o, node]]
        for way in range(1 + lowest):
            for side in range(2):  # missing values are left in the second way only
                sides = (error[o, way, side], median[o, way, side])
                missing = lowest == 1 and way != side
                _sweep(tree, column, runs, side == 0, missing, own_ranks, position, value, sides)
    found = _choose(node, g, run_code, runs, cells, error, median[ordered], rule, unit)
    _write(node, g, found, run_code, runs, cells, out)


@numba.njit(cache=True, nogil=True)
def _search(first, last, most, n_codes, codes, places, data, nodes, tables, rule, out):  # type: ignore[no-untyped-def]
    """Search the pairs first … last of (node, feature); no node has more than `most` rows."""
    most_runs = min(most, n_codes) + 2
    size = most + most // (FAN - 1) + LEVELS
    shelf = (
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(n_codes + 1, np.int64),
        np.empty(most_runs, np.int64),
        np.empty(most_runs, np.int64),
        (np.empty(most, np.int32), np.empty(most, np.int64), np.empty(most, np.int64)),
        (np.empty(size, np.int64), np.empty(size, np.int64), np.empty(LEVELS + 1, np.int64)),
    )
    n_features = codes.shape[1]
    for pair in range(first, last):
        node, g = pair // n_features, pair % n_features
        _search_pair(node, g, codes, places, data, nodes, tables, rule, shelf, out)


def medians(
    codes: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    weight: NDArray[np.int64] | None,
    sums: NDArray[np.int64],
    ranks: Ranks,
    places: NDArray[np.int32] | None,
    total: NDArray[np.int64],
    allowed: NDArray[np.int32],
    monotone: NDArray[np.int8] | None,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    limits: Limits,
    layout: Any,
    n_codes: int,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    n_features = codes.shape[1]
    local, *distinct = _local_ranks(rows, start, stop, ranks.rank)
    own_weight = np.empty(0, dtype=np.int64) if weight is None else weight
    directions = np.empty(0, dtype=np.int8) if monotone is None else monotone
    least = (max(1, limits.min_rows), float(limits.min_weight))
    best = _blank((start.size, n_features), total.shape[1])
    arguments = (
        codes,
        np.empty((0, 0, 0), dtype=np.int32) if places is None else places,
        (rows, own_weight, sums, local),
        (start, stop, *distinct),
        (ranks.position, ranks.value, layout.ordered - layout.first, np.asarray(layout.unit)),
        (total, allowed, directions, lower, upper, *least, layout.weight),
        tuple(best),
    )
    borders = _borders(start, stop, n_features)

    def search(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        nodes = slice(first // n_features, -(-last // n_features))
        _search(first, last, (stop - start)[nodes].max(), n_codes, *arguments)

    _threads.run(search, len(borders) - 1, work=int((stop - start).sum()) * n_features * 16)
    return best


def _local_ranks(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    rank: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return (local, distinct, n_distinct) of each output, see `_rank_within`."""
    local = np.empty((rank.shape[1], rows.size), dtype=np.int32)
    distinct = np.empty((rank.shape[1], rows.size), dtype=np.int32)
    n_distinct = np.empty((rank.shape[1], start.size), dtype=np.int64)
    borders = _borders(start, stop, 1)

    def number(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        _rank_within(rows, start, stop, first, last, rank, local, distinct, n_distinct)

    _threads.run(number, len(borders) - 1, work=int((stop - start).sum()) * 16)
    return local, distinct, n_distinct


def _borders(start: NDArray[np.int64], stop: NDArray[np.int64], copies: int) -> NDArray[np.int64]:
    """Group `copies` neighbours of each node to about CHUNK rows a batch; returns (n + 1,)."""
    before = np.concatenate([[0], np.cumsum(np.repeat(stop - start + 1, copies))])
    wanted = np.arange(0, before[-1], CHUNK)
    return np.unique(np.append(np.searchsorted(before, wanted), [0, before.size - 1]))


def _blank(shape: tuple[int, int], n_statistics: int) -> Best:
    return Best(
        np.empty(shape),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.bool_),
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.bool_),
        np.empty((*shape, n_statistics), dtype=np.int64),
    )
