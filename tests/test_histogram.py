from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import vtree
from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.fitting import Setting
from vtree.errors import MemoryBudgetError
from vtree.growth import grow
from vtree.histogram import build, build_level, check_budget, node_bytes, rows_of
from vtree_kernels.derive import derive
from vtree_kernels.scan import with_counts
from vtree_kernels.siblings import Siblings

SETTING = Setting("gini", levels=(-1, 5))


def _data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = np.stack([np.round(random.normal(size=90), 1), random.integers(0, 5, 90)], axis=1)
    return X, random.integers(0, 3, 90)


def test_a_larger_sibling_is_its_parent_less_the_smaller(xp: Namespace) -> None:
    X, y = _data()
    bins, targets = SETTING.bins(xp.asarray(X)), SETTING.targets(y, np.arange(1.0, 91.0))
    order = xp.asarray(np.random.default_rng(1).permutation(90).astype(np.int32))
    start, stop = np.array([0, 60]), np.array([60, 90])
    children_start, children_stop = np.array([0, 20, 60, 88]), np.array([20, 60, 88, 90])
    for group in bins.groups:
        rows = rows_of(targets, group.codes)
        parents = build(group, rows, order, start, stop)
        segments = Siblings(
            start=children_start[[0, 3]],
            stop=children_stop[[0, 3]],
            sibling=np.array([1, 0]),
            parent_slot=np.array([1, 0]),
            unwanted=1,
            nodes=np.arange(3),
        )
        found, derived = build_level(group, rows, order, segments, parents)
        assert derived is not None
        derive(found, derived)
        direct = build(
            group, rows, order, children_start[[0, 3, 2, 1]], children_stop[[0, 3, 2, 1]]
        )
        assert_same_bits(xp.to_numpy(found), xp.to_numpy(direct)[1:])


def test_bytes_are_counted_and_a_node_that_does_not_fit_is_refused() -> None:
    X, y = _data()
    bins, targets = SETTING.bins(X), SETTING.targets(y)
    layout = targets.layout
    assert layout.cell_bytes == 3 * 4  # three classes as int32, their sum left out
    sizes = [layout.cell_bytes * group.n_codes for group in bins.groups]  # one feature a group
    assert node_bytes(bins.groups, layout) == sum(sizes)
    check_budget(bins.groups, layout, max(sizes))
    with pytest.raises(MemoryBudgetError, match=rf"needs {max(sizes):,} bytes .* Lower max_bins"):
        check_budget(bins.groups, layout, max(sizes) - 1)
    with pytest.raises(MemoryBudgetError):
        grow(bins, targets, SETTING.plan(bins, targets)._replace(budget=max(sizes) - 1))


@pytest.mark.parametrize(
    "kind",
    [
        vtree.DecisionTreeClassifier(surrogates=2),
        vtree.DecisionTreeClassifier(max_leaf_nodes=9),
        vtree.DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
        vtree.ExtraTreesClassifier(n_estimators=3, random_state=0),
        vtree.RandomForestClassifier(n_estimators=3, random_state=0),
        vtree.C45Classifier(),
        vtree.CHAIDClassifier(),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_wide_tables_with_many_classes_are_searched_in_parts(kind: Any) -> None:
    # 4,096 pixels of 40 faces need 340 MB a node.
    random = np.random.default_rng(0)
    y = random.integers(0, 20, 400)
    X = np.round(random.normal(size=(400, 30)), 1) + y[:, None] / 8
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, ::3] = random.integers(0, 9, (400, 10))
    model = clone(kind).set_params(categorical_features=list(range(0, 30, 3)))
    whole = vtree.digest(model.fit(X, y))
    for budget in (40_000, 90_000):
        assert vtree.digest(model.set_params(histogram_budget=budget).fit(X, y)) == whole


def test_class_counts_leave_out_their_sum(xp: Namespace) -> None:
    X, y = _data()
    bins, targets = SETTING.bins(xp.asarray(X)), SETTING.targets(y)
    order = xp.asarray(np.arange(90, dtype=np.int32))
    for group in bins.groups:
        start, stop = np.array([0, 30]), np.array([30, 90])
        hist = build(group, rows_of(targets, group.codes), order, start, stop)
        assert hist.dtype == xp.xp.int32
        assert hist.shape[3] == 3
        whole = xp.to_numpy(with_counts(hist, 4, targets.layout))
        assert (whole[..., 0].sum(axis=2) == np.array([[30], [60]])).all()
