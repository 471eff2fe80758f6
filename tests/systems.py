"""A fit of each system, and what a process compiles for them: `python -m tests.systems`."""

import json
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from numba.core import event

import vtree
from tests import samples
from vtree import subtrees


def fit_all() -> None:
    """Fit every system to a small table, nodes with few rows alone and level by level."""
    X, label = samples.classes()
    y, two = samples.reals()[1], (label > 1).astype(np.int64)
    mixed, own = samples.columns()
    vtree.DecisionTreeClassifier(criterion="entropy").fit(X, label)
    vtree.DecisionTreeClassifier(max_leaf_nodes=8).fit(mixed, own)
    vtree.DecisionTreeRegressor(max_bins=600).fit(X, y)
    vtree.DecisionTreeRegressor(criterion="absolute_error", max_depth=3).fit(X, y)
    vtree.RandomForestClassifier(n_estimators=3, n_jobs=2).fit(X, label).predict(X)
    vtree.ExtraTreesRegressor(n_estimators=3).fit(X, y).predict(X)
    vtree.IsolationForest(n_estimators=3).fit(X).predict(X)
    vtree.GradientBoostingRegressor(n_estimators=2).fit(X, y)
    vtree.NewtonBoostingClassifier(n_estimators=2).fit(X, label).predict(X)
    vtree.LeafwiseBoostingClassifier(n_estimators=2).fit(X, two).predict(X)
    vtree.OrderedBoostingClassifier(n_estimators=2).fit(mixed, own).predict(mixed)
    vtree.C45Classifier().fit(mixed, own).predict(mixed)
    vtree.CHAIDClassifier().fit(mixed, own).predict(mixed)
    with patch.multiple(subtrees, FEW=0, FEW_DRAWN=0, FEW_IN_ALL=0):
        vtree.DecisionTreeClassifier().fit(X, label)
        vtree.DecisionTreeRegressor().fit(X.astype(np.float32), y)
        vtree.RandomForestClassifier(n_estimators=2).fit(X, two)


def _compiled(events: list[tuple[float, event.Event]]) -> Iterator[str]:
    for _, each in events:
        if each.is_start:
            yield f"{each.data['dispatcher'].py_func.__qualname__}{each.data['args']}"


if __name__ == "__main__":
    with event.install_recorder("numba:compile") as recorder:
        fit_all()
    print(json.dumps(list(_compiled(recorder.buffer))))
