"""vtree: one tree builder, written once over the array API, for every classic tree system.

The letters of all shapes: N rows, F features, B bins, S statistics, K classes or outputs, L live
nodes of the frontier, M nodes, T trees.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "AdaBoostClassifier": "vtree.estimators.adaboost",
    "AdaBoostRegressor": "vtree.estimators.adaboost",
    "BaggingClassifier": "vtree.estimators.bagging",
    "BaggingRegressor": "vtree.estimators.bagging",
    "Bins": "vtree.estimators.bins",
    "CHAIDClassifier": "vtree.estimators.chaid",
    "CHAIDRegressor": "vtree.estimators.chaid",
    "C45Classifier": "vtree.estimators.c45",
    "DecisionTreeClassifier": "vtree.estimators.decision_tree",
    "DecisionTreeRegressor": "vtree.estimators.decision_tree",
    "ExtraTreesClassifier": "vtree.estimators.extra_trees",
    "ExtraTreesRegressor": "vtree.estimators.extra_trees",
    "GradientBoostingClassifier": "vtree.estimators.gradient_boosting",
    "GradientBoostingRegressor": "vtree.estimators.gradient_boosting",
    "IsolationForest": "vtree.estimators.isolation_forest",
    "LeafwiseBoostingClassifier": "vtree.estimators.leafwise_boosting",
    "LeafwiseBoostingRegressor": "vtree.estimators.leafwise_boosting",
    "NewtonBoostingClassifier": "vtree.estimators.newton_boosting",
    "NewtonBoostingRegressor": "vtree.estimators.newton_boosting",
    "OrderedBoostingClassifier": "vtree.estimators.ordered_boosting",
    "OrderedBoostingRegressor": "vtree.estimators.ordered_boosting",
    "QuantileForestRegressor": "vtree.estimators.quantile_forest",
    "RandomTreesEmbedding": "vtree.estimators.random_trees_embedding",
    "RandomForestClassifier": "vtree.estimators.random_forest",
    "RandomForestRegressor": "vtree.estimators.random_forest",
    "ID3Classifier": "vtree.estimators.id3",
    "RuleListClassifier": "vtree.estimators.rule_list",
    "backends": "vtree.machine",
    "digest": "vtree.estimators.persistence",
    "draw_tree": "vtree.explain.picture",
    "export_graphviz": "vtree.explain.graphviz",
    "export_text": "vtree.explain.text",
    "kernels": "vtree_kernels",
    "load": "vtree.estimators.persistence",
    "prune": "vtree.estimators.pruning",
    "save": "vtree.estimators.persistence",
    "warmup": "vtree.machine",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vtree' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
