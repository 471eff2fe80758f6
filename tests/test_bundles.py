"""Bundles of features: fewer columns, the same histograms, the same models."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree import LeafwiseBoostingClassifier, LeafwiseBoostingRegressor, arrays, digest, kernels
from vtree.binning import bin_table
from vtree.bundles import bundled
from vtree.histogram import build, per_feature, rows_of
from vtree.targets import class_targets, real_targets


def _sparse(n_rows: int = 600, seed: int = 0) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return (one-hot columns of two factors, a counter, a dense column, some gaps; classes)."""
    draw = np.random.default_rng(seed)
    one, other = draw.integers(0, 12, n_rows), draw.integers(0, 5, n_rows)
    dense = draw.normal(size=n_rows).round(1)
    rare = np.where(one == 3, draw.integers(0, 40, n_rows), 0)
    X = np.column_stack([np.eye(12)[one], dense, np.eye(5)[other], rare])
    X[(one == 5) & (dense > 0.5), 5] = np.nan
    y = (one % 3 + (other == 2) + dense + 0.1 * rare > 1.5).astype(np.int64) + (other == 4)
    return X, y


def test_what_shares_a_column_is_never_met_in_one_row() -> None:
    X, _ = _sparse()
    bins = bundled(bin_table(X, np.full(X.shape[1], -1)))
    narrow = next(group for group in bins.groups if 0 in group.features)
    bundles = narrow.bundles
    assert bundles is not None and bundles.codes.shape[1] < narrow.features.size / 2
    column = bundles.cell.max(axis=1) // bundles.n_codes
    codes = np.asarray(narrow.codes)
    for shared in np.unique(column):
        away = codes[:, column == shared] != bundles.default[column == shared]
        assert away.sum(axis=1).max() <= 1


@pytest.mark.parametrize("kind", ["classes", "weighted", "reals"])
def test_histograms_are_those_of_the_features(kind: str) -> None:
    X, y = _sparse()
    whole = bin_table(X, np.full(X.shape[1], -1))
    weight = None if kind == "classes" else np.asarray(np.arange(600) % 4 + 1, dtype=np.float64)
    targets = (
        real_targets(y[:, None].astype(float), weight)
        if kind == "reals"
        else class_targets(y[:, None], [3], weight)
    )
    order = np.random.default_rng(1).permutation(600).astype(np.int32)
    start, stop = np.array([0, 100, 350]), np.array([100, 350, 350])  # the last without rows
    for plain, group in zip(whole.groups, bundled(whole).groups, strict=True):
        rows = rows_of(targets, group.codes)
        expected = build(plain, rows, order, start, stop)
        found = per_feature(group, build(group, rows, order, start, stop))
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_dense_tables_and_categories_are_left_alone() -> None:
    draw = np.random.default_rng(0)
    dense = bin_table(draw.normal(size=(100, 5)), np.full(5, -1))
    assert all(group.bundles is None for group in bundled(dense).groups)
    one_hot = np.eye(10)[draw.integers(0, 10, 100)]
    assert bundled(bin_table(one_hot, np.full(10, 2))).groups[0].bundles is None
    both = np.tile(one_hot[:, :1], 6)  # always away together
    assert bundled(bin_table(both, np.full(6, -1))).groups[0].bundles is None


@pytest.mark.parametrize("namespace", ["numpy", "array_api_strict", "torch"])
@pytest.mark.parametrize("kind", ["reals", "classes"])
def test_models_are_the_same_with_and_without(kind: str, namespace: str) -> None:
    X, y = _sparse()
    estimator: Any = LeafwiseBoostingRegressor if kind == "reals" else LeafwiseBoostingClassifier
    how = {"n_estimators": 3, "num_leaves": 6, "subsample": 0.8, "subsample_freq": 1}
    off = digest(estimator(enable_bundle=False, random_state=0, **how).fit(X, y))
    on = estimator(random_state=0, **how)
    assert digest(on.fit(X, y)) == off
    assert digest(on.set_params(n_jobs=2).fit(X, y)) == off
    with kernels("reference"):
        xp = pytest.importorskip(namespace)
        assert arrays.is_array(xp.asarray(X.copy()))
        assert digest(on.fit(xp.asarray(X.copy()), y)) == off
