import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.golden_tables import GOLDEN
from tests.peer_tables import table
from vtree import LeafwiseBoostingRegressor, NewtonBoostingRegressor, digest, kernels
from vtree.constraints import Together, children_bounds

ORACLE = json.loads((GOLDEN / "boosting_options.json").read_text())
SYSTEMS: dict[str, Any] = {
    "lightgbm interactions": LeafwiseBoostingRegressor,
    "xgboost interactions": NewtonBoostingRegressor,
    "xgboost pairs": NewtonBoostingRegressor,
}


def test_features_stay_within_a_set_that_holds_the_path() -> None:
    sets = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=bool)
    used = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]], dtype=bool)
    allowed = Together(sets)(SimpleNamespace(used=used), 4)
    assert allowed.astype(int).tolist() == [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("name", SYSTEMS)
def test_interactions_as_other_programs_have_them(name: str) -> None:
    X, y = table()
    oracle = ORACLE[name]
    model = SYSTEMS[name](n_estimators=5, **oracle["params"]).fit(X, y)
    # A value equal to a threshold goes right in XGBoost.
    found = model.predict(X[:60] + (0.0 if "lightgbm" in name else 1e-6))
    np.testing.assert_allclose(found, oracle["prediction"], rtol=1e-6)
    allowed = [set(own) for own in oracle["params"]["interaction_constraints"]]
    for path in _paths(model.grown_):
        assert len(path) == 1 or any(path <= own for own in allowed)
    with kernels("reference"):
        other = SYSTEMS[name](n_estimators=5, device="cpu", **oracle["params"]).fit(X, y)
    assert digest(other) == digest(model)


def _paths(tree: Any) -> list[set[int]]:
    """Return the features above each leaf."""
    above: list[set[int]] = [set()] * tree.feature.size
    for node in np.flatnonzero(tree.first_child >= 0).tolist():  # parents come first
        for child in range(tree.first_child[node], tree.first_child[node] + 2):
            above[child] = above[node] | {int(tree.feature[node])}
    return [above[leaf] for leaf in np.flatnonzero(tree.first_child < 0) if above[leaf]]


def test_the_middle_parts_the_children_on_a_constrained_feature() -> None:
    lower, upper = np.full(3, -np.inf), np.full(3, 10.0)
    left, right = np.array([1.0, 3.0, 1.0]), np.array([3.0, 1.0, 3.0])
    direction = np.array([1, -1, 0], dtype=np.int8)
    low, high = children_bounds(lower, upper, left, right, direction)
    np.testing.assert_array_equal(low, [[-np.inf, 2.0], [2.0, -np.inf], [-np.inf, -np.inf]])
    np.testing.assert_array_equal(high, [[2.0, 10.0], [10.0, 2.0], [10.0, 10.0]])


def test_bounds_only_narrow() -> None:
    random = np.random.default_rng(0)
    lower, upper = np.zeros(50), np.ones(50)
    left, right = np.sort(random.random((2, 50)), axis=0)
    direction = np.ones(50, dtype=np.int8)
    low, high = children_bounds(lower, upper, left, right, direction)
    assert (low >= lower[:, None]).all()
    assert (high <= upper[:, None]).all()
    assert (high[:, 0] == low[:, 1]).all()


def test_the_nodes_own_bounds_are_left_alone() -> None:
    lower, upper = np.zeros(1), np.ones(1)
    means = np.array([0.25]), np.array([0.75])
    children_bounds(lower, upper, *means, np.ones(1, dtype=np.int8))
    assert (lower[0], upper[0]) == (0.0, 1.0)
