"""Boosting: trees one after another, each a step down a loss (Friedman 2001; Chen & Guestrin 2016).

    derivatives of the loss at the raw predictions  →  integer statistics
    grow the K trees of a round in one frontier     →  prune by gamma  →  leaf values
    add each leaf's value to the raw predictions of its rows, which growth has sorted by leaf

The table is binned once. Several trees of a round grow in one frontier while they have few rows:
each has a copy of the codes then, so that (tree, row) has statistics of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.best_first import BestFirst
from vtree.binning import Bins, with_columns
from vtree.choice import Legal
from vtree.criteria import BOUNDED_NEWTON, NEWTON, SMOOTHED_NEWTON, Criterion, newton
from vtree.ensembles.derivatives import Derivatives, Weights, derivative_targets
from vtree.ensembles.grown_leaves import (
    leaves_by_rows,
    pruned,
    with_all_digits,
    without_weak_links,
)
from vtree.ensembles.row_draws import drawn
from vtree.ensembles.steps import (
    Rows,
    below_sorted_levels,
    leaf_steps,
    leaning,
    smoothed,
)
from vtree.ensembles.system import System
from vtree.ensembles.training import Training
from vtree.finish import assembled, bounded
from vtree.grown import Grown
from vtree.growth import grow
from vtree.losses import (
    Slopes,
    check_finite,
    end_to_end,
    first_order,
    reach_of_slopes,
    weighed,
    whole_numbers,
)
from vtree.plan import Plan, Stops, level_order
from vtree.predict import totals
from vtree.sampling import Draw
from vtree.splits import Search
from vtree.subsets import OneRule, WeightyLevels
from vtree.thresholds import with_lines
from vtree.tree import Tree, canonical, is_in_order, joined, narrow
from vtree_kernels.level_subsets import Sorted
from vtree_kernels.numbered import row_segments
from vtree_kernels.scan import Limits
from vtree_kernels.spread import spread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


_LEAST_GAIN = float(np.finfo(np.float64).tiny)

# In one frontier. More gain nothing from sharing calls, and would have copies of large tables.
FRONTIER_ROWS = 1 << 18


def boost(
    training: Training, system: System, start: Floats, sums: Array, first: int = 0
) -> Iterator[Tree]:
    """Grow trees round after round without end.

    start (K,) or (N, K): the raw predictions before all trees; sums (N, K), each column in one
    piece (order="F"): what the trees so far add to them, kept up to date in place, so that it has
    the bits of a prediction. They may lie where the codes are, see `beside_codes`. Yields the K
    trees of each round. first: how many rounds there were before.
    """
    assert not arrays.is_numpy(sums) or sums.flags.f_contiguous
    together = _together(*sums.shape)
    tiled = training._replace(
        bins=_tiled(training.bins, together), weights=training.weights.tiled(together)
    )
    for number in itertools.count(first):
        yield _round(tiled, system, start, sums, number)


def _together(n_rows: int, n_raw: int) -> int:
    """Return how many of a round's trees grow in one frontier, each with a copy of the codes."""
    return min(n_raw, max(1, FRONTIER_ROWS // n_rows))


def curvatures(slopes: Sequence[Slopes], weights: Weights) -> Integers:
    """Return the rows' second derivatives times their weights as whole numbers from 1 up, (N,)."""
    total = np.zeros(slopes[0].n_rows)
    for each in slopes:
        hessian = each.whole()[1]
        total += 1.0 if hessian is None else hessian
    whole, _ = whole_numbers(total, weights.whole, weights.n_rows, weights.total)
    least: Integers = np.maximum(whole, 1)
    return least


def _round(training: Training, system: System, start: Floats, sums: Array, number: int) -> Tree:
    """Grow the trees of one round, add them to `sums`, and return them.

    training: its rows once for each tree of a frontier.
    """
    n_rows, n_raw = sums.shape
    together = training.bins.n_rows // n_rows
    slopes = training.slopes(start, sums)
    if training.rebin is not None:
        weight = curvatures(slopes, training.weights.parted(n_rows))
        training = training._replace(bins=_tiled(training.rebin(weight), together))
    sample = drawn(system, slopes, number, sums)
    slopes = [weighed(each, system.curvature, sample.factor) for each in slopes]
    reach = reach_of_slopes(slopes)
    trees = []
    for first in range(0, n_raw, together):
        numbers = np.arange(n_raw)[first : first + together]
        own = end_to_end(slopes[:together])
        del slopes[:together]  # what they hold is free as soon as it is not needed
        table = _part(training, start, sums, own, numbers)
        derived = _derived(training, system, own, reach, number)
        del own
        which = sample.rows, number, numbers
        trees.append(_frontier(training, system, derived, table, *which, sums))
        del derived, table
    tree = trees[0] if len(trees) == 1 else joined(trees)
    if sample.inside is not None:
        _add_to_others(training, tree, sums, sample.inside)
    return tree


def _part(
    training: Training, start: Floats, sums: Array, slopes: Slopes, numbers: Integers
) -> Rows | None:
    """Return what leaves of the trees `numbers` (C,) are searched by, None where none are."""
    if not training.leaves.searched:
        return None
    gradient, hessian = slopes.whole()
    y = training.y
    return Rows(
        y if y.ndim == 1 else _end_to_end([y[:, k] for k in numbers.tolist()]),
        _raw(start, sums, numbers) if training.leaves.by_residuals else None,
        gradient,
        hessian,
        training.weights.parted(slopes.n_rows),
    )


def _raw(start: Floats, sums: Array, numbers: Integers) -> Array:
    """Return some raw predictions (C,) of all rows, one after another, (C·N,)."""
    before = start.tolist() if start.ndim == 1 else start.T
    return _end_to_end([before[k] + sums[:, k] for k in numbers.tolist()])


def _end_to_end(columns: list[Array]) -> Array:
    return columns[0] if len(columns) == 1 else arrays.namespace(columns[0]).concat(columns)


def _derived(
    training: Training, system: System, slopes: Slopes, reach: tuple[float, float], number: int
) -> Derivatives:
    """Return the statistics of some trees of a round; reach: of all derivatives of the round."""
    return derivative_targets(
        first_order(slopes) if system.first_order else slopes,
        training.weights.parted(slopes.n_rows),
        system.reg_lambda,
        system.reg_alpha,
        (system.max_step or np.inf) if system.bounded else None,
        smooth=system.leaning,
        reach=reach,
        turn=float(draws.uniform(draws.ROUNDING, number)),
    )


def _frontier(
    training: Training,
    system: System,
    derived: Derivatives,
    table: Rows | None,
    sample: Array,
    number: int,
    numbers: Integers,
    sums: Array,
) -> Tree:
    """Grow some trees of a round together, add them to `sums` for the sampled rows, return them.

    table: what leaves are searched by, None where sums tell; numbers (C,): of the trees,
    consecutive ones.
    """
    n_rows = sums.shape[0]
    roots = [sample + k * n_rows if k else sample for k in range(numbers.size)]
    keys = np.asarray([draws.mix(draws.TREE, system.seed, number, k) for k in numbers.tolist()])
    order = level_order if system.max_leaves is None else BestFirst(system.max_leaves)
    plan = _plan(training.bins, system, derived, number)
    grown, rows, branch_map = grow(training.bins, derived.targets, plan, order, roots, keys)
    if arrays.is_numpy(sums):
        rows = arrays.to_numpy(rows)
    if isinstance(order, BestFirst):
        grown = order.trim(grown)
    grown = pruned(grown, _in_units(system.gamma, derived.gain_unit))
    if system.ccp_alpha > 0.0:
        least = _in_units(system.ccp_alpha, derived.gain_unit) * derived.hessian_unit
        whole = grown.total[: numbers.size, derived.targets.layout.weight].astype(np.float64)
        grown = without_weak_links(grown, whole * least)
    leaf = leaves_by_rows(grown)
    begin, end = (ends[leaf].astype(np.int64) for ends in (grown.start, grown.stop))
    place = row_segments(rows, begin, end, n_rows * numbers.size)
    if derived.whole is not None:
        grown = with_all_digits(grown, leaf, rows, derived, place)
    step = _steps(grown, np.arange(grown.tree.size), training.bins, system, derived)
    if system.bounded and system.path_smooth > 0.0:
        step = smoothed(step, grown, system.path_smooth)
    step = bounded(step, grown, derived.targets)
    if table is not None:
        leaves = training.leaves.of(numbers)
        found = leaf_steps(leaves, table, rows[begin[0] : end[-1]], end - begin)
        within = np.clip(found, grown.lower[leaf], grown.upper[leaf])
        step[leaf, 0] = found if system.leaning else within
    if system.least_alone > 0.0:
        step[_idle_roots(grown, system, derived)] = 0.0
    value = step * system.learning_rate
    check_finite(value)
    columns = sums.T[numbers[0] : numbers[-1] + 1, ...]
    own = arrays.namespace(sums).reshape(columns, (-1,))  # of memory in one piece: a view
    spread(own, rows, begin, end, value[leaf, 0], place)
    return _tree(grown, branch_map, value, derived)


def _steps(
    grown: Grown, nodes: Integers, bins: Bins, system: System, derived: Derivatives
) -> Floats:
    """Return what nodes (L,) answer by themselves, (L, 1)."""
    total, targets = grown.total[nodes], derived.targets
    step: Floats = newton.steps(total, None, None, None, targets)
    if system.categories is not None and bins.is_categorical.any():
        own = derived.shrunk(system.categories.shrink)
        careful = below_sorted_levels(grown, nodes, bins, system.categories.one_against_rest)
        if careful.any():
            step = np.where(careful, newton.steps(total, None, None, None, own), step)
    return step


def _idle_roots(grown: Grown, system: System, derived: Derivatives) -> Integers:
    """Return the roots without a split that are too light to answer anything."""
    alone = np.flatnonzero((grown.parent < 0) & (grown.first_child < 0))
    weight = grown.total[alone, derived.targets.layout.weight]
    idle: Integers = alone[weight < _in_units(system.least_alone, derived.hessian_unit)]
    return idle


def _answers(
    bins: Bins, system: System, derived: Derivatives
) -> Callable[[Grown, Integers], Floats] | None:
    """Return what says what new nodes answer that lean on their parents, None where none do."""
    if not system.leaning:
        return None

    def answers(grown: Grown, nodes: Integers) -> Floats:
        step = _steps(grown, nodes, bins, system, derived)[:, 0]
        parent = grown.parent[nodes]
        leant = leaning(step, grown.total[nodes, 0], grown.lower[parent], system.leaning)
        return np.where(parent < 0, step, leant)

    return answers


def _tree(grown: Grown, branch_map: NDArray[np.uint8], value: Floats, derived: Derivatives) -> Tree:
    cover = grown.total[:, derived.targets.layout.weight].astype(np.float64)
    tree = assembled(
        grown,
        branch_map,
        value=value,
        weight=cover * derived.hessian_unit,
        gain_unit=derived.gain_unit,
    )
    return narrow(tree) if is_in_order(tree) else canonical(tree)


def _add_to_others(training: Training, tree: Tree, sums: Array, inside: Array) -> None:
    """Add what a round's trees say of the rows that were not drawn; inside (N,): those that were.

    Where places of rows are not written to one by one, all rows ask.
    """
    n_raw = sums.shape[1]
    if arrays.is_numpy(sums):
        others = np.flatnonzero(~inside)
        xp = arrays.namespace(training.values)
        values = xp.take(training.values, arrays.like(others, training.values), axis=0)
        sums[others] += round_totals(tree, values, n_raw)
        return
    xp, found = arrays.namespace(sums), _totals(tree, training.values, n_raw)
    sums += xp.where(inside[:, None], -0.0, found)  # which changes no number


def round_totals(tree: Tree, values: Array, n_raw: int) -> Floats:
    """Return what trees, one round after another, add to raw predictions, (N, K).

    A round has a tree a raw prediction, or one tree whose leaves hold all K values.
    """
    found: Floats = arrays.to_numpy(_totals(tree, values, n_raw))
    return found


def _totals(tree: Tree, values: Array, n_raw: int) -> Array:
    """Return the same where the values are."""
    width = tree.value.shape[1]
    column = np.arange(tree.root.size, dtype=np.int64) * width % n_raw
    return totals(tree, values, tree.value, column, n_raw)


def _plan(bins: Bins, system: System, derived: Derivatives, number: int) -> Plan:
    targets = derived.targets
    least = _in_units(system.min_weight, derived.hessian_unit)
    if derived.whole is not None:  # the second derivatives of some rows may all be zero
        least = max(least, 1.0)
    columns = system.columns._replace(seed=int(draws.mix(system.seed, number) >> np.uint64(2)))
    legal: list[Legal] = [] if columns.all_of_them else [columns]
    if system.together is not None:
        legal.append(system.together)
    search = Search(
        _criterion(system),
        targets.layout,
        Limits(system.min_rows, least),
        Draw(0, system.max_features, system.random_threshold),
        system.monotone,
        system.min_level_rows,
        uses_once=system.together is not None,
        legal=tuple(legal),
        leaning=system.leaning > 0.0,
        curved=derived.curved,
    )
    if system.categories is not None:
        search = search._replace(subsets=OneRule(_careful(system, derived.hessian_unit)))
    elif not system.first_order:
        search = search._replace(subsets=WeightyLevels(system.most_levels))
    # A split has to gain something.
    least_gain = _in_units(system.min_gain, derived.gain_unit)
    least_gain = max(least_gain, _LEAST_GAIN)
    stops = Stops(system.max_depth, system.min_rows_split, least_gain)
    answers = _answers(bins, system, derived)
    return Plan(search, stops, system.budget, many=True, answers=answers)


def _criterion(system: System) -> Criterion:
    if system.leaning:
        return SMOOTHED_NEWTON
    return BOUNDED_NEWTON if system.bounded else NEWTON


def _in_units(least: float, unit: float) -> float:
    """Return least / unit; the unit of the squares of tiny weights may be zero."""
    if least == 0.0:
        return 0.0
    return least / unit if unit > 0.0 else np.inf


def _careful(system: System, hessian_unit: float) -> Sorted:
    """Return LightGBM's regularisation of subsets (Ke et al. 2017, its manual's `cat_…`)."""
    categories = system.categories
    assert categories is not None
    return Sorted(
        smooth=categories.smooth / hessian_unit,
        least_rows=categories.smooth,
        shrink=categories.shrink / hessian_unit,
        most_levels=categories.most_levels,
        group_rows=categories.group_rows,
        one_against_rest=categories.one_against_rest,
        lost=newton.lost_leaning if system.leaning else newton.lost,
    )


def _tiled(bins: Bins, times: int) -> Bins:
    """Return the table with its rows repeated for each tree of a round."""
    bins = with_lines(bins)
    if times == 1:
        return with_columns(bins)
    groups: list[Any] = []
    for group in bins.groups:
        xp = arrays.namespace(group.codes)
        own = group.bundles
        if own is not None:
            own = own._replace(codes=xp.concat([own.codes] * times, axis=0))
        codes = xp.concat([group.codes] * times, axis=0)
        groups.append(group.of(codes)._replace(bundles=own))
    return with_columns(bins._replace(groups=tuple(groups)))
