"""Subsets of sorted levels: LightGBM's own models, and by hand."""

import json
from typing import Any

import numpy as np
import pytest

from tests.golden_tables import GOLDEN
from tests.peer_tables import table
from vtree import LeafwiseBoostingRegressor, digest, kernels
from vtree.criteria import NEWTON
from vtree.criteria.newton import lost
from vtree.subsets import OneRule, subset_splits
from vtree_kernels.level_subsets import Sorted
from vtree_kernels.scan import Layout, Limits

ORACLE = json.loads((GOLDEN / "boosting_options.json").read_text())
NAMES = [name for name, own in ORACLE.items() if own.get("categories")]
LAYOUT = Layout(0, 1, 1, 1, 1, 0.0, 1.0, (0.0, 0.0))


def _model(name: str, **more: Any) -> Any:
    return LeafwiseBoostingRegressor(
        n_estimators=5, categorical_features=[0, 1, 2], **ORACLE[name]["params"], **more
    )


@pytest.mark.parametrize("name", NAMES)
def test_models_of_lightgbm(name: str) -> None:
    oracle = ORACLE[name]
    X, y = table()
    model = _model(name).fit(X, y)
    tree = model.grown_
    ends = np.append(tree.root, tree.feature.size)
    np.testing.assert_allclose(model.predict(X[:60]), oracle["prediction"], rtol=1e-7)
    for number, gains in enumerate(oracle["gains"]):
        own = slice(ends[number], ends[number + 1])
        split = tree.first_child[own] >= 0
        np.testing.assert_allclose(np.sort(tree.gain[own][split]), gains, rtol=1e-5)


@pytest.mark.parametrize("name", ["lightgbm loose categories"])
def test_one_model_on_every_backend(name: str) -> None:
    X, y = table(300)
    X[::13, 0] = np.nan
    expected = digest(_model(name).fit(X, y))
    assert digest(_model(name, n_jobs=2).fit(X, y)) == expected
    with kernels("reference"):
        for module in ("numpy", "array_api_strict", "torch"):
            xp = pytest.importorskip(module)
            assert digest(_model(name).fit(xp.asarray(X.copy()), y)) == expected


def _hist(rows: list[int], sums: list[int]) -> tuple[Any, Any]:
    """Return (hist (1, 1, B, 2), total (1, 2)) of levels with these rows and sums; none missing."""
    hist = np.array([[0, 0], *zip(rows, sums, strict=True)], dtype=np.int64)
    return hist[None, None], hist.sum(axis=0)[None]


def _found(rule: Sorted, rows: list[int], sums: list[int], limits: Limits) -> Any:
    hist, total = _hist(rows, sums)
    n_levels = np.array([len(rows)])
    return subset_splits(hist, total, limits, NEWTON.gain, LAYOUT, 1, n_levels, OneRule(rule))


LOOSE = Sorted(0.0, 0.0, 0.0, 32, 1, 0, lost)


def test_the_best_prefix_from_either_end() -> None:
    best, left = _found(LOOSE, [10, 10, 10, 10], [0, 90, 10, 95], Limits())
    assert left.tolist() == [[[-1, 0, 1, 0, 1]]]  # at most half of the levels, the larger sums
    assert best.left.tolist() == [[[20, 185]]]
    assert best.gain[0, 0] == pytest.approx(185**2 / 20 + 10**2 / 20 - 195**2 / 40)


def test_levels_with_few_rows_are_not_sorted_and_go_right() -> None:
    rule = LOOSE._replace(least_rows=5.0)
    best, left = _found(rule, [10, 4, 10, 0], [0, 80, 90, 0], Limits())
    assert left.tolist() == [[[-1, 1, 0, 0, 0]]]
    assert best.left.tolist() == [[[10, 0]]]


def test_candidates_need_rows_since_the_last_and_beyond() -> None:
    rows, sums = [10, 10, 10, 10], [0, 10, 20, 30]
    best, left = _found(LOOSE._replace(group_rows=20), rows, sums, Limits())
    assert left.tolist() == [[[-1, 0, 0, 1, 1]]]
    best, _ = _found(LOOSE._replace(group_rows=31), rows, sums, Limits())
    assert best.gain[0, 0] == -np.inf
    best, _ = _found(LOOSE, rows, sums, Limits(min_rows=21))
    assert best.gain[0, 0] == -np.inf
    best, left = _found(LOOSE._replace(most_levels=1), rows, sums, Limits())
    assert left.sum() == 0  # one level left, −1 for missing


def test_few_levels_are_split_one_from_the_rest_without_more_shrinking() -> None:
    rule = LOOSE._replace(one_against_rest=3, shrink=50.0)
    best, left = _found(rule, [10, 10, 10], [0, 90, 5], Limits())
    assert left.tolist() == [[[-1, 0, 1, 0]]]
    assert best.gain[0, 0] == pytest.approx(90**2 / 10 + 5**2 / 20 - 95**2 / 30)
    best, _ = _found(rule, [10, 10, 10, 10], [0, 90, 5, 2], Limits())
    expected = 90**2 / 60 + 7**2 / 80 - 97**2 / 40
    assert best.gain[0, 0] == pytest.approx(expected)
