"""Rows that a tree was not grown on: validation rows, and the parts of a cross-validation."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils import check_consistent_length

from vtree import arrays
from vtree.costs import cheapest_class, prior_weight
from vtree.errors import InputError, own_errors, renamed
from vtree.estimators.base import TreeEstimator, thread_count
from vtree.estimators.class_costs import weight_like_training
from vtree.estimators.devices import working
from vtree.estimators.prepared import Prepared, of_known_levels
from vtree.estimators.targets import as_columns, codes_of, host, plain_weights, row_weights
from vtree.pruning import (
    Losses,
    Part,
    class_losses,
    class_weights,
    impurities,
    real_losses,
    training_losses,
)
from vtree.surrogates import Rules, follow
from vtree.targets import Targets, class_targets
from vtree.tree import Tree, collapse
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Unseen(NamedTuple):
    """N rows, or parts of them, and where they come to rest in a tree."""

    leaf: Integers  # (N,)
    y: NDArray[Any]  # (N, outputs) class numbers, or real targets
    weight: Floats  # (N,) as rows of training weigh


def read_unseen(model: TreeEstimator, X: Any, y: Any, sample_weight: Any) -> Unseen:
    """Read validation rows; see `vtree.prune` for what may be wrong with them."""
    is_classifier = hasattr(model, "classes_")
    with renamed("y", "y_val"):
        columns = as_columns(y, numeric=not is_classifier)
    with renamed("X", "X_val"), threads(thread_count(model.n_jobs)), working(model.device, X):
        values = model._encode(X)
        row, leaf, share = model._parts(model.grown_, model.surrogates_, values)
    n_rows = int(values.shape[0])
    with own_errors("X_val and y_val"):
        check_consistent_length(np.empty(n_rows), columns)
    with renamed("sample_weight", "sample_weight_val"):
        weight = row_weights(sample_weight, None, columns, n_rows)
    if is_classifier:
        codes = codes_of(columns, _classes(model), "y_val")
        weight = weight_like_training(model, columns, weight)
        columns = codes
    elif columns.shape[1] != model.n_outputs_:
        raise InputError(
            f"y_val has {columns.shape[1]} columns, but the model was fitted to {model.n_outputs_}"
        )
    own = share if weight is None else share * weight[row]
    some = np.flatnonzero(own > 0.0)
    return Unseen(leaf[some], columns[row[some]], own[some])


def unseen_losses(model: TreeEstimator, unseen: Unseen) -> Losses:
    """Return the losses of unseen rows at the nodes of a model's tree."""
    tree: Tree = model.grown_
    if not hasattr(model, "classes_"):
        deviance = model._criteria[model.criterion].deviance
        return real_losses(tree, unseen.leaf, unseen.y, deviance, unseen.weight)
    costs = costs_of(model)
    labels = np.stack([cheapest_class(own, costs) for own in _blocks(model, tree)], axis=1)
    return class_losses(tree, unseen.leaf, unseen.y, labels, unseen.weight, costs)


def row_losses(model: TreeEstimator, y: NDArray[Any], value: Floats) -> Floats:
    """Return what predicting from `value` (N, K) loses where y (N, outputs) is true, (N,)."""
    if not hasattr(model, "classes_"):
        loss: Floats = model._criteria[model.criterion].deviance(y, value).mean(axis=1)
        return loss
    costs = costs_of(model)
    found = []
    whole = np.reshape(value, (len(y), model.n_outputs_, -1))
    for output, own in enumerate(np.moveaxis(whole, 1, 0)):
        label = cheapest_class(own, costs)
        wrong = y[:, output] != label
        found.append(wrong.astype(np.float64) if costs is None else costs[y[:, output], label])
    mean: Floats = np.mean(found, axis=0)
    return mean


def own_losses(model: TreeEstimator, tree: Tree) -> Losses:
    """Return the losses of the training rows at the nodes of a tree of this model."""
    if not hasattr(model, "classes_"):
        return Losses(*(each * tree.weight[0] for each in impurities(tree)))
    costs = costs_of(model)
    weight = prior_weight(tree, costs)
    parts = []
    for own in _blocks(model, tree):
        price = 1.0 - np.eye(own.shape[1]) if costs is None else costs
        weights = class_weights(tree._replace(value=own), weight)
        parts.append(training_losses(tree, weights, price))
    return Losses(*(np.mean(each, axis=0) for each in zip(*parts, strict=True)))


def parts_of(
    model: TreeEstimator, X: Any, y: Any, sample_weight: Any, cv: Any
) -> tuple[list[Part], NDArray[Any], Floats]:
    """Grow a tree without each part of a table's rows, all of them in one frontier.

    Returns (parts, y (N, outputs) as class numbers or reals, weight (N,)), N rows with a weight.
    """
    twin = copy.copy(model)
    with threads(thread_count(model.n_jobs)), working(model.device, X, release=True):
        data = of_known_levels(X, twin._prepare(X, y, sample_weight))
        _check_same_table(model, twin, data)
        tests = _test_rows(cv, data, y, hasattr(model, "classes_"))
        everything = np.arange(data.values.shape[0])
        roots = [np.setdiff1d(everything, test) for test in tests]
        if not all(root.size and test.size for root, test in zip(roots, tests, strict=True)):
            raise InputError(f"cv={cv!r} leaves no rows to grow a tree on, or none to judge it by")
        parts, weight = [], _weight(twin, data)
        own = plain_weights(sample_weight, data.n_rows)[data.kept]
        trees = _trees(twin, data, roots, own)
        for (tree, rules, factor), test in zip(trees, tests, strict=True):
            xp = arrays.namespace(data.values)
            values = xp.take(data.values, arrays.like(test, data.values), axis=0)
            rest = twin._parts(tree, rules, values)
            parts.append(Part(tree, own_losses(twin, tree), rest.node, test[rest.row], rest.share))
            if factor is not None:
                weight[test] *= factor[test]
    true = data.targets.classes if hasattr(model, "classes_") else data.targets.identity
    return parts, true, weight


def _trees(
    twin: Any, data: Prepared, roots: list[Integers], own: Floats
) -> Iterator[tuple[Tree, Rules | None, Floats | None]]:
    """Yield the tree of each root's rows with its surrogates, and by what rows (N,) weigh more.

    All grow in one frontier, unless priors are given: these hold in each part, whose rows then
    weigh otherwise than those of the others, as in rpart. own (N,): weights without priors.
    """
    if getattr(twin, "priors_", None) is not None:
        for root in roots:
            targets, factor = _with_priors_among(data.targets, root, own, int(twin.n_classes_))
            yield (*twin._planted(data._replace(targets=targets), [root]), factor)
        return
    forest, rules = twin._planted(data, roots)
    for number in range(len(roots)):
        one = forest._replace(root=forest.root[[number]])
        tree = collapse(one, one.first_child >= 0)
        yield tree, None if rules is None else follow(rules, one, tree), None


def _with_priors_among(
    targets: Targets, rows: Integers, own: Floats, n_classes: int
) -> tuple[Targets, Floats]:
    """Return (targets that give classes their priors among some rows, factor).

    own (N,): weights without priors; factor (N,): of the weight of each row under priors among all
    rows; 1 for those of classes without any weight among `rows`.
    """
    code = targets.classes[:, 0]
    share, found = (
        np.bincount(code[some], own[some], n_classes) / own[some].sum()
        for some in (slice(None), rows)
    )
    factor = np.where(found > 0.0, share / np.where(found > 0.0, found, 1.0), 1.0)[code]
    weight = factor * targets.weight_unit
    if targets.weight is not None:
        weight = weight * targets.weight
    return class_targets(targets.classes, [n_classes], weight), factor


def _weight(model: TreeEstimator, data: Prepared) -> Floats:
    """Return what the rows of training weigh where losses are counted, (N,)."""
    targets = data.targets
    weight = np.full(len(targets.identity), targets.weight_unit)
    if targets.weight is not None:
        weight *= targets.weight
    costs = costs_of(model)
    if costs is None:
        return weight
    plain: Floats = weight / costs.sum(axis=1)[targets.classes[:, 0]]
    plain *= weight.sum() / plain.sum()
    return plain


def _check_same_table(model: TreeEstimator, twin: TreeEstimator, data: Prepared) -> None:
    """Raise InputError unless `twin` read the columns, rows and classes that `model` grew on."""
    known, given = model.schema_.levels, data.schema.levels
    n_rows, n_given = int(model.grown_.n_rows[0]), data.values.shape[0]
    pairs = [*zip(known, given, strict=False), *zip(_classes(model), _classes(twin), strict=False)]
    same = len(known) == len(given) and all(
        a is b if a is None or b is None else np.array_equal(a, b) for a, b in pairs
    )
    if not same or n_rows != n_given:
        differs = (
            f"have {n_given:,} rows, but the table that model was fitted on had {n_rows:,}"
            if same
            else "have other columns, levels or classes than the table that model was fitted on"
        )
        raise InputError(
            f"X and y {differs}; cross-validation grows trees on that table again, so pass the "
            "same X, y and sample_weight"
        )


def _test_rows(cv: Any, data: Prepared, y: Any, is_classifier: bool) -> list[Integers]:
    """Return the rows of `data` that each part leaves out, ascending."""
    labels = np.asarray(host(y))
    with own_errors("cv"):
        if isinstance(cv, np.ndarray) or (
            isinstance(cv, list | tuple) and all(isinstance(each, Integral) for each in cv)
        ):
            check_consistent_length(cv, labels)
            cv = PredefinedSplit(cv)
        splitter = check_cv(cv, labels, classifier=is_classifier)
        tests = [test for _, test in splitter.split(np.zeros((data.n_rows, 1)), labels)]
    place = np.full(data.n_rows, -1)
    place[data.kept] = np.arange(data.values.shape[0])
    return [np.sort(place[test][place[test] >= 0]) for test in tests]


def _blocks(model: TreeEstimator, tree: Tree) -> list[Floats]:
    """Return the class shares of nodes, one array (M, K) an output."""
    counts = model._class_counts()
    whole = tree.value.reshape(-1, counts.size, int(counts.max()))
    return [whole[:, output, :count] for output, count in enumerate(counts.tolist())]


def _classes(model: Any) -> list[NDArray[Any]]:
    """Return the classes of each output, none for real targets."""
    classes = getattr(model, "classes_", [])
    return classes if isinstance(classes, list) else [classes]


def costs_of(model: TreeEstimator) -> Floats | None:
    """Return the costs of misclassification (K, K) that a model was fitted with."""
    costs: Floats | None = getattr(model, "costs_", None)
    return costs
