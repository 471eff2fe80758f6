"""`prune`: the one door to all ways of making a fitted tree smaller."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vtree.costs import prior_weight
from vtree.errors import InputError, InputTypeError
from vtree.estimators.base import TreeEstimator
from vtree.estimators.unseen import (
    Unseen,
    costs_of,
    own_losses,
    parts_of,
    read_unseen,
    row_losses,
    unseen_losses,
)
from vtree.pruning import (
    Part,
    class_weights,
    judge,
    prune_before_growth,
    prune_cost_complexity,
    prune_minimum_error,
    prune_pessimistic,
    prune_reduced_error,
)
from vtree.surrogates import follow
from vtree.tree import Tree


def prune(
    model: Any,
    *,
    method: str,
    X_val: Any = None,
    y_val: Any = None,
    sample_weight_val: Any = None,
    ties: str | None = None,
    m: float | None = None,
    alpha: float | None = None,
    cv: Any = None,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    rule: str | None = None,
) -> Any:
    """Return a smaller copy of a fitted tree; `model` stays as it is.

    ==================  ===============  =======================================================
    method              validation rows  a node becomes a leaf where
    ==================  ===============  =======================================================
    "reduced_error"     needed           its pruned subtree loses as much on the validation rows
    "pre_pruning"       needed           one split does not lower the loss on the validation rows
    "cost_complexity"   may be given     its subtree is not worth `alpha` a leaf
    "pessimistic"       none             its subtree is better by less than a standard error
    "minimum_error"     none             its expected error is no more than that of its subtree
    ==================  ===============  =======================================================

    The loss of a row is one for a wrong class, `costs` if the model has them, and for numbers what
    the criterion takes (the squared error, the absolute one, the Poisson deviance).

    Parameters
    ----------
    model : a fitted tree estimator
    method : str
    X_val, y_val : (N, F) table and (N,) or (N, outputs) targets that training has not seen
    sample_weight_val : (N,), optional
        Priors and class weights of the model are applied to these rows, too.
    ties : "prune" or "keep"
        For "reduced_error": a subtree that loses as much as a leaf goes, or stays. "prune" gives
        the smallest of the best prunings and is the default.
    m : float, optional
        For "minimum_error": as how many rows the classes' shares at the root count in each leaf;
        without it, Laplace's rule.
    alpha : float, optional
        For "cost_complexity": the loss, per row of training, that a leaf has to save (`ccp_alpha`
        is the same for impurities). With `cv` or validation rows, the least alpha considered.
    cv : int, splitter, splits, or (N,) numbers of parts
        For "cost_complexity": choose alpha by cross-validation. An int is the number of parts, as
        in scikit-learn (stratified for classes, not shuffled).
    X, y, sample_weight : what the model was fitted on, for `cv`
        Rows keep their weight in all parts; but priors that the model was given hold in each part,
        whose rows are weighed anew.
    rule : "minimum" or "one_standard_error"
        For "cost_complexity" with `cv` or validation rows: take the subtree of the least loss
        (default), or the smallest within one standard error of it.

    Returns
    -------
    An estimator of the same class with the pruned tree, fitted. Where alpha was chosen, its
    `subtrees_` tells of all subtrees: `alphas`, `n_leaves`, `risks` on the training rows,
    `unseen_risks` and their `standard_errors`, largest tree first, per row.

    Raises
    ------
    InputError, InputTypeError
        An unknown method, an option of another method, missing validation rows, or such with
        classes or columns that training has not seen; a regressor where classes are needed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import vtree
    >>> X, y = load_iris(return_X_y=True)
    >>> model = vtree.DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> smaller = vtree.prune(model, method="reduced_error", X_val=X[1::2], y_val=y[1::2])
    >>> model.get_n_leaves(), smaller.get_n_leaves()
    (6, 4)
    """
    if not isinstance(model, TreeEstimator):
        raise InputTypeError(
            f"model is a {type(model).__name__}; prune takes a fitted tree of vtree, such as a "
            "DecisionTreeClassifier"
        )
    check_is_fitted(model)
    options = {"ties": ties, "m": m, "alpha": alpha, "cv": cv, "rule": rule}
    table = {"X": X, "y": y, "sample_weight": sample_weight}
    given = {name: value for name, value in {**options, **table}.items() if value is not None}
    _check_request(model, method, given)
    if method == "cost_complexity":
        _check_judges(given, X_val)
    unseen = _unseen(model, method, X_val, y_val, sample_weight_val)
    pruned = copy.copy(model)
    if hasattr(pruned, "subtrees_"):  # of an earlier pruning
        del pruned.subtrees_
    pruned.grown_ = _METHODS[method].prune(pruned, unseen, **given)
    if model.surrogates_ is not None:
        pruned.surrogates_ = follow(model.surrogates_, model.grown_, pruned.grown_)
    pruned._follow_pruning()
    return pruned


def _reduced_error(model: Any, unseen: Unseen, ties: str = "prune") -> Tree:
    return prune_reduced_error(model.grown_, unseen_losses(model, unseen), ties=ties)


def _pre_pruning(model: Any, unseen: Unseen) -> Tree:
    return prune_before_growth(model.grown_, unseen_losses(model, unseen))


def _pessimistic(model: Any, unseen: None) -> Tree:
    return prune_pessimistic(model.grown_, own_losses(model, model.grown_))


def _minimum_error(model: Any, unseen: None, m: float | None = None) -> Tree:
    tree: Tree = model.grown_
    weights = class_weights(tree, prior_weight(tree, costs_of(model)))
    return prune_minimum_error(tree, weights, m=m)


def _cost_complexity(
    model: Any,
    unseen: Unseen | None,
    alpha: float | None = None,
    rule: str = "minimum",
    cv: Any = None,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
) -> Tree:
    tree: Tree = model.grown_
    losses, total = own_losses(model, tree), float(tree.weight[0])
    if cv is None and unseen is None:
        assert alpha is not None
        return prune_cost_complexity(tree, alpha * total, losses)
    if unseen is not None:
        true, weight = unseen.y, unseen.weight
        parts = [Part(tree, losses, unseen.leaf, np.arange(unseen.leaf.size))]
    else:
        parts, true, weight = parts_of(model, X, y, sample_weight, cv)
    model.subtrees_ = judge(
        tree,
        losses,
        parts,
        lambda rows, value: row_losses(model, true[rows], value),
        weight,
        alpha or 0.0,
    )
    best = float(model.subtrees_.alphas[model.subtrees_.choose(rule)])
    return prune_cost_complexity(tree, best * total, losses)


class _Method(NamedTuple):
    """One way to prune, and what it asks for."""

    prune: Callable[..., Tree]
    options: frozenset[str] = frozenset()
    needs_rows: bool = False
    takes_rows: bool = False
    only_classes: bool = False


_OF_COST_COMPLEXITY = frozenset({"alpha", "cv", "rule", "X", "y", "sample_weight"})
_METHODS = {
    "reduced_error": _Method(_reduced_error, frozenset({"ties"}), needs_rows=True),
    "pre_pruning": _Method(_pre_pruning, needs_rows=True),
    "cost_complexity": _Method(_cost_complexity, _OF_COST_COMPLEXITY, takes_rows=True),
    "pessimistic": _Method(_pessimistic, only_classes=True),
    "minimum_error": _Method(_minimum_error, frozenset({"m"}), only_classes=True),
}
_CHOICES = {"ties": ("prune", "keep"), "rule": ("minimum", "one_standard_error")}


def _check_request(model: Any, method: str, given: dict[str, Any]) -> None:
    """Raise InputError for methods and options that do not go together."""
    if method not in _METHODS:
        raise InputError(f"method={method!r} is not one of {', '.join(map(repr, _METHODS))}")
    way = _METHODS[method]
    strangers = sorted(given.keys() - way.options)
    if strangers:
        allowed = ", ".join(sorted(way.options)) or "no options"
        raise InputError(f"method={method!r} takes {allowed}, not {', '.join(strangers)}")
    if way.only_classes and not hasattr(model, "classes_"):
        raise InputError(
            f"method={method!r} counts wrong classes, and a {type(model).__name__} predicts "
            "numbers; use 'cost_complexity', 'reduced_error' or 'pre_pruning'"
        )
    if method == "minimum_error" and model.n_outputs_ > 1:
        raise InputError("method='minimum_error' is for one output; use another one")
    _check_values(given)


def _check_values(given: dict[str, Any]) -> None:
    for name, choices in _CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            raise InputError(
                f"{name}={given[name]!r} is not one of {', '.join(map(repr, choices))}"
            )
    for name in ("m", "alpha"):
        value = given.get(name, 0.0)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0.0 <= float(value) < np.inf:
            raise InputError(f"{name}={value!r} is not a number from 0 up")


def _check_judges(given: dict[str, Any], X_val: Any) -> None:
    """Raise InputError unless cost-complexity pruning knows how to come by its alpha."""
    if "cv" in given:
        if X_val is not None:
            raise InputError("cv and X_val both choose alpha; pass one of them")
        for name in ("X", "y"):
            if name not in given:
                raise InputError(
                    f"{name} is None, and cv grows trees on parts of the training rows: pass the "
                    "X, y and sample_weight that the model was fitted on"
                )
        return
    unused = sorted(given.keys() & {"X", "y", "sample_weight"})
    if unused:
        raise InputError(f"{', '.join(unused)} without cv: pass cv, or X_val and y_val")
    if X_val is None and "rule" in given:
        raise InputError("rule chooses among subtrees by cv or by X_val and y_val: pass them")
    if X_val is None and "alpha" not in given:
        raise InputError(
            "method='cost_complexity' needs alpha, or cv with X and y, or X_val and y_val"
        )


def _unseen(model: Any, method: str, X_val: Any, y_val: Any, sample_weight: Any) -> Unseen | None:
    """Read the validation rows, if the method wants them."""
    way = _METHODS[method]
    if X_val is None and y_val is None and not way.needs_rows:
        return None
    if not (way.needs_rows or way.takes_rows):
        raise InputError(f"method={method!r} uses the training rows alone; leave out X_val, y_val")
    for name, value in (("X_val", X_val), ("y_val", y_val)):
        if value is None:
            raise InputError(
                f"{name} is None, and method={method!r} judges by rows that training has not "
                "seen: pass X_val and y_val"
            )
    return read_unseen(model, X_val, y_val, sample_weight)
