"""`RuleListClassifier`: C4.5rules, an ordered list of rules taken from a tree."""

from __future__ import annotations

from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from vtree import arrays
from vtree.errors import InputError
from vtree.estimators.base import TreeEstimator, thread_count
from vtree.estimators.c45 import C45Classifier
from vtree.estimators.devices import answer, working
from vtree.estimators.prepared import Prepared
from vtree.explain.words import number_text
from vtree.histogram import DEFAULT_BUDGET
from vtree.pruning.error_based import added_errors
from vtree.rules import (
    EQUALS,
    UP_TO,
    Conditions,
    Rules,
    condition_bits,
    decide,
    default_class,
    dropped,
    fires,
    in_class_order,
    path_rules,
    select_rules,
    simplified,
)
from vtree.rules.description import rule_bits
from vtree.targets import Targets
from vtree.tree import Tree
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NEVER_FIRES = 0.7  # a rule that is expected to err more often than this

_TREE_PARAMETERS = (
    "criterion",
    "min_objects",
    "confidence",
    "collapse",
    "mdl_correction",
    "reference",
    "attribute_costs",
    "cost_exponent",
    "class_weight",
    "max_bins",
    "categorical_features",
    "unknown_categories",
    "device",
    "n_jobs",
    "histogram_budget",
)


class RuleListClassifier(C45Classifier):
    """An ordered list of rules, made from the paths of an unpruned C4.5 tree.

    Each path loses the conditions that it does better without; of each class the rules are kept
    that describe its rows in the fewest bits; the class whose rules raise the fewest false alarms
    comes first. The first rule that fires decides, a default class where none does.

    Parameters
    ----------
    redundancy : float
        How much features repeat each other; larger values allow more rules.
    criterion, min_objects, confidence, collapse, mdl_correction, reference, attribute_costs,
    cost_exponent, class_weight, max_bins, categorical_features, unknown_categories, device,
    n_jobs, histogram_budget
        Of the tree, see `C45Classifier`.

    Attributes
    ----------
    rule_list_ : `vtree.rules.Rules`, in the order in which they are asked
    default_ : number of the default class in `classes_`
    classes_ : (K,) labels, sorted
    grown_ : the tree that the rules were taken from

    Notes
    -----
    A missing value meets no condition. Where C4.5 draws random starts for classes of more than ten
    rules, rules are added and removed one at a time here, from none and from all of them.

    References
    ----------
    Quinlan, C4.5: Programs for Machine Learning, 1993, chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import RuleListClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(RuleListClassifier().fit(X[["petal width (cm)"]], y).to_text())
    if petal width (cm) <= 0.60 then 0 [97.3%]
    if petal width (cm) > 1.70 then 2 [94.4%]
    if petal width (cm) > 0.60 and petal width (cm) <= 1.70 then 1 [86.6%]
    otherwise 0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: C45Classifier._parameter_constraints[name] for name in _TREE_PARAMETERS},
        "redundancy": [Interval(Real, 0.0, None, closed="neither")],
    }

    prune = False
    subtree_raising = False
    subset = False

    def __init__(
        self,
        *,
        redundancy: float = 1.0,
        criterion: str = "gain_ratio",
        min_objects: float = 2.0,
        confidence: float = 0.25,
        collapse: bool = True,
        mdl_correction: bool = True,
        reference: str = "r8",
        attribute_costs: Any = None,
        cost_exponent: float = 1.0,
        class_weight: Any = None,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.redundancy = redundancy
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.collapse = collapse
        self.mdl_correction = mdl_correction
        self.reference = reference
        self.attribute_costs = attribute_costs
        self.cost_exponent = cost_exponent
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unknown_categories = unknown_categories
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    def _pruned(self, tree: Tree, data: Prepared, targets: Targets, whole: Integers | None) -> Tree:
        tree = super()._pruned(tree, data, targets, whole)
        del self.predicted_errors_
        own = data.targets
        values = arrays.to_numpy(data.values).astype(np.float64, copy=False)
        label = own.label[:, 0].astype(np.int64) - own.layout.first
        ones = np.ones(label.size) if own.weight is None else own.weight.astype(np.float64)
        self.rule_list_, self.default_ = self._rules(
            tree, data, values, label, ones * own.weight_unit
        )
        return tree

    def _rules(
        self, tree: Tree, data: Prepared, values: Floats, label: Integers, weight: Floats
    ) -> tuple[Rules, int]:
        """Return (rules in order, default class) of an unpruned tree."""
        added = added_errors(float(self.confidence), self.reference)
        rules = simplified(path_rules(tree), values, label, weight, added)
        fired = fires(rules, values) & (rules.error <= _NEVER_FIRES)
        n_levels = [-1 if own is None else own.size for own in data.schema.levels]
        bits = condition_bits(values, np.asarray(n_levels), float(self.redundancy))
        costs = rule_bits(rules, bits)
        kept: list[Integers] = []
        for c in range(int(self.n_classes_)):
            own = np.flatnonzero(rules.label == c)
            kept.append(own[select_rules(fired[:, own], label == c, weight, costs[own])])
        some = np.concatenate(kept)
        order = some[
            in_class_order(fired[:, some], rules.label[some], rules.error[some], label, weight)
        ]
        covered: NDArray[np.bool_] = np.asarray(fired[:, order].any(axis=1))
        default = default_class(covered, label, weight, int(self.n_classes_))
        order = order[dropped(fired[:, order], rules.label[order], default, label, weight)]
        return rules.taken(order), default

    def predict(self, X: Any, check_input: bool = True) -> Any:
        """Return the class that the first rule to fire names, or the default, (N,)."""
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = arrays.to_numpy(self._encode(X))
        chosen = decide(fires(self.rule_list_, values), self.rule_list_.label, self.default_)
        return answer(self.classes_[chosen], X)

    @property
    def predict_proba(self) -> NoReturn:
        """Not there: a rule names a class and nothing else."""
        raise AttributeError("a list of rules has no probabilities; C45Classifier has")

    @property
    def predict_log_proba(self) -> NoReturn:
        """Not there: a rule names a class and nothing else."""
        raise AttributeError("a list of rules has no probabilities; C45Classifier has")

    def to_text(self, *, decimals: int = 2) -> str:
        """Return one line a rule, with how often it is expected to be right, and the default."""
        check_is_fitted(self)
        lines = []
        for rule in range(self.rule_list_.label.size):
            own = self.rule_list_.of(rule)
            parts = [self._condition(own, c, decimals) for c in range(own.feature.size)]
            label = self.classes_[self.rule_list_.label[rule]]
            right = 1.0 - self.rule_list_.error[rule]
            lines.append(f"if {' and '.join(parts)} then {label} [{right:.1%}]")
        return "\n".join([*lines, f"otherwise {self.classes_[self.default_]}"])

    def _follow_pruning(self) -> NoReturn:
        raise InputError(
            "model is a RuleListClassifier, whose rules come from the unpruned tree and are not "
            "pruned with it; prune a C45Classifier"
        )

    def _condition(self, conditions: Conditions, c: int, decimals: int) -> str:
        feature, value = int(conditions.feature[c]), float(conditions.value[c])
        names = getattr(self, "feature_names_in_", None)
        name = f"feature {feature}" if names is None else str(names[feature])
        if conditions.kind[c] == EQUALS:
            levels = self.schema_.levels[feature]
            assert levels is not None
            return f"{name} = {levels[int(value)]}"
        sign = "<=" if conditions.kind[c] == UP_TO else ">"
        return f"{name} {sign} {number_text(value, decimals)}"

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        conditions, start, label, error = self.rule_list_
        fields = zip(Conditions._fields, conditions, strict=True)
        arrays_of = {f"list.{name}": field for name, field in fields}
        return {"default": self.default_}, {
            **arrays_of,
            "list.start": start,
            "list.label": label,
            "list.error": error,
        }

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        TreeEstimator._take_saved(self, header, {})
        fields = [
            extra[f"list.{name}"] for name in (*Conditions._fields, "start", "label", "error")
        ]
        rules = Rules(Conditions(*fields[:3]), *fields[3:])
        _check_rules(rules, self.schema_.levels, int(self.n_classes_))
        if not (isinstance(header["default"], int) and 0 <= header["default"] < self.n_classes_):
            raise ValueError("its default is no class")
        self.rule_list_, self.default_ = rules, header["default"]


def _check_rules(rules: Rules, levels: tuple[Any, ...], n_classes: int) -> None:
    """Raise ValueError or TypeError unless arrays from a file are rules."""
    conditions, start, label, error = rules
    kinds = [field.dtype.str[1:] for field in (*conditions, start, label, error)]
    if kinds != ["i8", "i8", "f8", "i8", "i8", "f8"]:
        raise TypeError("its rules are of other types")
    n_rules, n_conditions = label.size, conditions.feature.size
    shapes = [field.shape for field in (*conditions, start, label, error)]
    if shapes != [(n_conditions,)] * 3 + [(n_rules + 1,), (n_rules,), (n_rules,)]:
        raise ValueError(f"its rules have the shapes {shapes}")
    if start[0] != 0 or start[-1] != n_conditions or (np.diff(start) < 0).any():
        raise ValueError("the conditions of its rules do not lie back to back")
    if n_rules and not (label.min() >= 0 and label.max() < n_classes):
        raise ValueError("a rule names no class")
    if n_conditions:
        _check_conditions(conditions, levels)


def _check_conditions(conditions: Conditions, levels: tuple[Any, ...]) -> None:
    """Raise ValueError unless each condition fits its feature."""
    if not (conditions.feature.min() >= 0 and conditions.feature.max() < len(levels)):
        raise ValueError("a condition asks for no feature")
    sizes = np.asarray([-1 if own is None else own.size for own in levels])[conditions.feature]
    nominal = conditions.kind == EQUALS
    strange = (conditions.kind < UP_TO) | (conditions.kind > EQUALS)
    if (strange | (nominal != (sizes >= 0))).any():
        raise ValueError("a condition does not fit its feature")
    value = conditions.value[nominal]
    if ((value < 0) | (value >= sizes[nominal]) | (value != np.floor(value))).any():
        raise ValueError("a condition asks for no level")
