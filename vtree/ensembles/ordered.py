"""Rounds of ordered boosting (Prokhorenkova et al., CatBoost, NeurIPS 2018, Algorithm 2).

    a fold's derivatives        →  one symmetric tree, divided alike for all of its models
    the leaves of all folds     →  each model's own steps, from the rows that it learns from
    the last fold, a whole one  →  the steps that the tree keeps

Raw predictions, derivatives and steps have K columns; a tree answers K values, so that all classes
share its splits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.chains import places_of_leaves, places_of_new
from vtree.criteria import NEWTON
from vtree.elementary import exp
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.folds import Fold, Folds
from vtree.ensembles.row_draws import Chance, least_variance, row_chances, row_factors
from vtree.ensembles.structure import structure_targets
from vtree.ensembles.symmetric_leaves import (
    LeafRule,
    answers,
    leaf_by_codes,
    leaf_of_rows,
    leaf_steps,
)
from vtree.ensembles.symmetric_trees import grown_at_once, grows_at_once
from vtree.ensembles.training import Training, added
from vtree.finish import assembled
from vtree.grown import Grown
from vtree.growth import grow
from vtree.losses import Terms, check_finite, exact_mean
from vtree.plan import Plan, Stops
from vtree.sampling import Columns
from vtree.symmetric import NO_FEW_ROWS, WHOLE_LEVELS, Noise, SymmetricSearch
from vtree.targets import Targets
from vtree.tree import Tree, canonical
from vtree_kernels import run_blocks
from vtree_kernels.numbered import numbered_add, segment_numbers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Ordered(NamedTuple):
    """Parameters of the mechanism."""

    learning_rate: float = 0.03
    depth: int = 6
    leaves: LeafRule = LeafRule()
    cosine: bool = True
    random_strength: float = 0.0
    temperature: float = 0.0  # of the Bayesian bootstrap, 0 for none
    subsample: float = 1.0
    by_variance: bool = False  # draw rows with large derivatives rather than others
    reg_variance: float | None = None  # added to their squares, None: from the last tree
    columns: Columns = Columns()
    directions: NDArray[np.int8] | None = (
        None  # (F,) −1, 0, 1: how answers may change with features
    )
    seed: int = 0


def boost_ordered(
    training: Training, ordered: Ordered, start: Floats, folds: Folds, before: list[Tree]
) -> Iterator[Tree]:
    """Grow trees round after round without end.

    start (K,): the raw predictions before all trees. before: those of earlier rounds, whose steps
    the folds' models take first, so that what follows is what would have followed then.
    """
    for tree in before:  # of another table maybe, whose bins are others
        asked = [leaf_of_rows(tree, training.values, fold.statistics) for fold in folds.every]
        terms = _derived(training, start, folds)
        _take_steps(training, ordered, start, folds, tree, terms, dict(enumerate(asked)))
    number, last = len(before), before[-1] if before else None
    while True:
        terms = _derived(training, start, folds)
        turn = number % len(folds.shaping)
        fold = folds.shaping[turn]
        chance = _chance(training, ordered, fold, terms[turn], number, last)
        tree, leaf = _shaped(training, ordered, fold, terms[turn], number, chance)
        known = {} if leaf is None else {turn: leaf}
        last = _take_steps(training, ordered, start, folds, tree, terms, known)
        yield last
        number += 1


def _derived(training: Training, start: Floats, folds: Folds) -> list[Terms]:
    """Return the derivatives of each fold's entries."""
    return [
        training.terms(added(start, fold.sums), training.y if fold.whole else training.y[fold.rows])
        for fold in folds.every
    ]


def _chance(
    training: Training,
    ordered: Ordered,
    fold: Fold,
    terms: Terms,
    number: int,
    last: Tree | None,
) -> Chance | None:
    """Return what a round draws for each entry of a fold; last: the tree of the round before."""
    n_rows = training.y.shape[0]
    if not ordered.by_variance:
        usual = (ordered.temperature, ordered.subsample, ordered.seed, number)
        drawn = row_factors(*usual, n_rows)
        return drawn if drawn is None or fold.whole else drawn.of(fold.rows)
    uniform = Chance(*row_chances(ordered.seed, number, n_rows))
    uniform = uniform if fold.whole else uniform.of(fold.rows)
    weights = _own_weights(training, fold)
    steep = _lengths(terms.gradient)
    if weights.whole is not None:
        steep *= weights.whole * weights.unit
    reg = ordered.reg_variance
    if reg is None:
        reg = exact_mean(
            steep if last is None else _lengths(last.value[last.first_child < 0]), None
        )
        reg *= reg
    size = np.sqrt(steep * steep + reg)
    check_finite(size)
    return uniform._replace(factor=least_variance(size, ordered.subsample, uniform.factor))


def _lengths(columns: Floats) -> Floats:
    """Return the Euclidean length of each row of columns (N, K), added in their order."""
    square = np.zeros(columns.shape[0])
    for k in range(columns.shape[1]):
        square += columns[:, k] * columns[:, k]
    length: Floats = np.sqrt(square)
    return length


def _shaped(
    training: Training,
    ordered: Ordered,
    fold: Fold,
    terms: Terms,
    number: int,
    chance: Chance | None,
) -> tuple[Tree, NDArray[Any] | None]:
    """Return (a tree that answers nothing yet, the leaf of each row where growth has told)."""
    targets = structure_targets(terms.gradient, chance, _own_weights(training, fold))
    search, roots = _search(ordered, targets, training, fold, terms, number), fold.roots()
    key = np.uint64(draws.mix(draws.TREE, ordered.seed, number))
    given = fold.bins, targets
    table = fold.together
    if table is not None and grows_at_once(table, search, ordered.depth):
        tree, leaf = grown_at_once(table, *given, search, ordered.depth, roots, key)
        return tree, leaf if fold.whole else None
    plan = Plan(search, Stops(ordered.depth, 0), WHOLE_LEVELS, few_rows=NO_FEW_ROWS)
    if search.directions is not None:
        plan = plan._replace(answers=places_of_new(search.directions))
    grown, order, branch_map = grow(*given, plan, roots=roots, keys=np.full(len(roots), key))
    zeros = np.zeros(grown.feature.size)
    nothing = np.zeros((zeros.size, terms.gradient.shape[1]))
    tree = assembled(grown, branch_map, value=nothing, weight=zeros, gain_unit=0.0)
    tree = canonical(tree._replace(root=tree.root[:1]))
    return tree, _leaf_by_segment(grown, arrays.to_numpy(order)) if fold.whole else None


def _leaf_by_segment(grown: Grown, rows: NDArray[np.int32]) -> NDArray[Any]:
    """Return the leaf of each row, counted from the left, (N,)."""
    leaf = np.flatnonzero(grown.first_child < 0)
    leaf = leaf[np.lexsort((grown.stop[leaf], grown.start[leaf]))]  # of one start, empty ones first
    start, stop = (ends[leaf].astype(np.int64) for ends in (grown.start, grown.stop))
    return segment_numbers(rows, start, stop, rows.size)


def _take_steps(
    training: Training,
    ordered: Ordered,
    start: Floats,
    folds: Folds,
    tree: Tree,
    terms: list[Terms],
    known: dict[int, NDArray[Any]],
) -> Tree:
    """Add the new tree to all models; return it with the last fold's answers.

    known: the leaf of each row in some folds.
    """
    n_leaves = int((tree.first_child < 0).sum())
    rule = ordered.leaves._replace(place=_places(ordered, tree, n_leaves))
    for turn, (fold, derived) in enumerate(zip(folds.every, terms, strict=True)):
        if turn not in known:
            alike = (each for each in known if folds.every[each].table is fold.table)
            same = next(alike, None)
            known[turn] = leaf_by_codes(tree, fold.table) if same is None else known[same]
        leaf = known[turn]
        segment = leaf if fold.whole else fold.model * n_leaves + leaf[fold.rows]
        own = training._replace(weights=_own_weights(training, fold))
        steps = leaf_steps(rule, fold, segment, n_leaves, derived, own, start)
        value = steps.value * ordered.learning_rate
        check_finite(value)
        numbered_add(fold.sums, segment, value)
    return answers(tree, steps._replace(value=value))


def _places(ordered: Ordered, tree: Tree, n_leaves: int) -> Floats | None:
    """Return the places of a tree's leaves in chains, None where no feature is monotone."""
    if ordered.directions is None:
        return None
    first_of_level = (1 << np.arange(n_leaves.bit_length() - 1)) - 1
    feature = tree.feature[first_of_level]
    return places_of_leaves(
        _directions(ordered.directions, int(feature.max(initial=0)) + 1)[feature]
    )


def _directions(directions: NDArray[np.int8], n_features: int) -> NDArray[np.int8]:
    """Return the directions of columns, and of target statistics beside them, which have none."""
    return np.concatenate([directions, np.zeros(max(0, n_features - directions.size), np.int8)])


def _own_weights(training: Training, fold: Fold) -> Weights:
    """Return the weights of a fold's entries; no model has more than the table."""
    whole = training.weights.whole
    if fold.whole or whole is None:
        return training.weights
    return training.weights._replace(whole=whole[fold.rows])


def _search(
    ordered: Ordered, targets: Targets, training: Training, fold: Fold, terms: Terms, number: int
) -> SymmetricSearch:
    weight_unit, scale = targets.weight_unit, float(targets.scale[0])
    # What one unit of a score stands for, see `SymmetricSearch`.
    unit = scale * np.sqrt(weight_unit) if ordered.cosine else scale * scale * weight_unit
    spread = _spread(ordered, training, fold, terms, number)
    words = ordered.seed, number
    directions = ordered.directions
    if directions is not None:
        directions = _directions(directions, fold.bins.n_bins.size)
    return SymmetricSearch(
        NEWTON,
        targets.layout,
        ordered.leaves.reg_lambda / weight_unit,
        ordered.cosine,
        not fold.whole,
        Noise(int(draws.mix(draws.SCORE, *words) >> np.uint64(2)), spread / unit),
        ordered.columns._replace(seed=int(draws.mix(draws.COLUMNS, *words) >> np.uint64(2))),
        directions=directions,
    )


def _spread(ordered: Ordered, training: Training, fold: Fold, terms: Terms, number: int) -> float:
    """Return the standard deviation of what chance adds to scores, less as the model grows.

    The root of the mean squared derivative, times W / (W + exp(rounds so far · rate)) of rows that
    weigh W.
    """
    if ordered.random_strength == 0.0:
        return 0.0
    square = np.zeros(terms.gradient.shape[0])

    def block(rows: slice) -> None:
        for column in terms.gradient.T:
            square[rows] += column[rows] * column[rows]

    run_blocks(block, square.size, each=4)
    mean = exact_mean(square, _own_weights(training, fold).whole)
    weight = training.weights.total * training.weights.unit
    grown = float(exp(np.asarray([min(number * ordered.learning_rate, 700.0)]))[0])
    share = weight / (weight + grown)
    return ordered.random_strength * float(np.sqrt(mean)) * share
