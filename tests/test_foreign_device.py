"""The whole path on a device whose memory the host cannot read, as a GPU's.

array-api-strict's devices refuse every operation across them, so what runs here moves data only
through `vtree.arrays`: the nearest to CuPy without a GPU.
"""

from typing import Any

import array_api_strict
import numpy as np
import pytest

from vtree import DecisionTreeClassifier, DecisionTreeRegressor, digest

DEVICE = array_api_strict.Device("device1")

SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "categories": (DecisionTreeClassifier, {"categorical_features": [3]}),
    "random": (DecisionTreeClassifier, {"splitter": "random", "random_state": 0}),
    "quantiles and best-first": (DecisionTreeClassifier, {"max_leaf_nodes": 5, "max_bins": 7}),
    "poisson": (DecisionTreeRegressor, {"criterion": "poisson"}),
    "absolute error": (
        DecisionTreeRegressor,
        {"criterion": "absolute_error", "categorical_features": [3]},
    ),
    "surrogates": (DecisionTreeClassifier, {"surrogates": 3, "categorical_features": [3]}),
    "monotone": (DecisionTreeRegressor, {"monotonic_cst": [1, 0, -1, 0]}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_same_model_and_answers_that_stay_on_the_device(name: str) -> None:
    random = np.random.default_rng(0)
    table = np.round(random.normal(size=(200, 4)), 1)
    table[random.random(table.shape) < 0.1] = np.nan
    table[:, 3] = random.integers(0, 5, 200)
    estimator, parameters = SETTINGS[name]
    y = random.integers(0, 3, 200) + (0.5 if estimator is DecisionTreeRegressor else 0)
    weight = random.random(200)
    there = array_api_strict.asarray(table, device=DEVICE)
    model = estimator(**parameters).fit(there, y, weight)
    plain = estimator(**parameters).fit(table, y, weight)
    assert digest(model) == digest(plain)
    answer = model.predict(there)
    assert answer.device == DEVICE
    at_home = array_api_strict.asarray(answer, device=array_api_strict.Device("CPU_DEVICE"))
    np.testing.assert_array_equal(np.asarray(at_home), plain.predict(table))
