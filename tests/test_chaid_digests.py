"""One CHAID model: the same tree and p-values on every backend, at any number of threads."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import NAMESPACES
from vtree import CHAIDClassifier, CHAIDRegressor, digest, kernels
from vtree_kernels import _threads
from vtree_kernels.bincode import cpu as bincode_cpu
from vtree_kernels.histogram import cpu as histogram_cpu
from vtree_kernels.route import cpu as route_cpu


@pytest.fixture(autouse=True, scope="module")
def many_small_tasks() -> Iterator[None]:
    """Cut work so finely that tables of a hundred rows go through every thread and chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_threads, "UPDATES_PER_THREAD", 1)
        patch.setattr(_threads, "available", lambda: 4)
        patch.setattr(bincode_cpu, "BLOCK", 7)
        patch.setattr(histogram_cpu, "CHUNK", 16)
        patch.setattr(histogram_cpu, "LEAST_CHUNK", 16)
        patch.setattr(route_cpu, "CHUNK", 8)
        yield


@st.composite
def problems(draw: Any) -> tuple[Any, Any, Any, dict[str, Any], type[Any]]:
    """Return (X, y, weight, parameters, estimator)."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    n_rows, n_features = draw(st.sampled_from([2, 40, 120, 400])), draw(st.integers(1, 5))
    X = np.round(random.normal(size=(n_rows, n_features)), draw(st.sampled_from([0, 1, 8])))
    roles = random.choice(["number", "nominal", "ordinal"], n_features)
    for feature in np.flatnonzero(roles != "number").tolist():
        X[:, feature] = random.integers(0, random.choice([2, 4, 9]), n_rows)
    X[random.random(X.shape) < draw(st.sampled_from([0.0, 0.15]))] = np.nan
    noise = random.normal(size=n_rows)
    y = np.nan_to_num(X).sum(axis=1) + noise
    if classifies := draw(st.booleans()):
        y = np.clip(np.rint(y), 0, 2)
    weight = draw(st.sampled_from([None, "whole", "real"]))
    weights = {"whole": random.integers(1, 5, n_rows).astype(float), "real": random.random(n_rows)}
    parameters: dict[str, Any] = {
        "categorical_features": (roles == "nominal").tolist(),
        "ordinal_features": (roles == "ordinal").tolist(),
        "alpha_split": 0.3,
        "alpha_resplit": draw(st.sampled_from([None, 0.049])),
        "min_samples_split": 6,
        "min_samples_leaf": draw(st.sampled_from([1, 5])),
        "min_leaf_share": draw(st.sampled_from([1.0, 0.01])),
        "small_groups": draw(st.sampled_from(["after", "first"])),
        "missing": draw(st.sampled_from(["late", "floating"])),
        "max_bins": draw(st.sampled_from([3, 10])),
        "max_depth": draw(st.sampled_from([2, None])),
    }
    kind = CHAIDClassifier if classifies else CHAIDRegressor
    return X, y, None if weight is None else weights[weight] + 1e-3, parameters, kind


def _told(model: Any) -> tuple[str, bytes]:
    return digest(model), model.log_p_values_.tobytes()


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(problems())
def test_every_way_to_fit_gives_the_same_model(
    problem: tuple[Any, Any, Any, dict[str, Any], type[Any]],
) -> None:
    X, y, weight, parameters, kind = problem
    model = kind(**parameters, n_jobs=1).fit(X, y, sample_weight=weight)
    expected = _told(model)
    for threads in (2, 4):
        again = kind(**parameters, n_jobs=threads).fit(X, y, sample_weight=weight)
        assert _told(again) == expected, f"{threads} threads"
    cells = X.shape[1] * 12 * 8 * 6
    small = kind(**parameters, histogram_budget=cells).fit(X, y, sample_weight=weight)
    assert _told(small) == expected, "least memory"
    order = np.random.default_rng(3).permutation(len(X))
    own = None if weight is None else weight[order]
    assert _told(kind(**parameters).fit(X[order], y[order], own)) == expected, "another order"
    leaf = model.apply(X)
    with kernels("reference"):
        for name, make in NAMESPACES.items():
            table = make().asarray(X)
            other = kind(**parameters).fit(table, y, sample_weight=weight)
            assert _told(other) == expected, f"reference on {name}"
            np.testing.assert_array_equal(make().to_numpy(other.apply(table)), leaf)


@pytest.mark.parametrize("kind", [CHAIDClassifier, CHAIDRegressor])
def test_whole_weights_are_copies_of_rows(kind: type[Any]) -> None:
    random = np.random.default_rng(4)
    X = random.integers(0, 4, (150, 3)).astype(float)
    y = (X[:, 0] + random.normal(size=150) > 1.5).astype(float)
    weight = random.integers(1, 4, 150)
    weighted = kind(min_samples_split=10, min_samples_leaf=5).fit(X, y, sample_weight=weight)
    copied = kind(min_samples_split=10, min_samples_leaf=5)
    copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.log_p_values_, copied.log_p_values_)
    np.testing.assert_array_equal(weighted.grown_.value, copied.grown_.value)
    np.testing.assert_array_equal(weighted.grown_.branch_map, copied.grown_.branch_map)


def test_missing_values_follow_weight_as_they_follow_copies() -> None:
    X = np.array([["a"]] * 2 + [["b"]] * 5)
    y, weight = np.array([0] * 2 + [1] * 5), np.array([9] * 2 + [1] * 5)
    for kind in (CHAIDClassifier, CHAIDRegressor):
        model = kind(min_samples_split=2, min_samples_leaf=1).fit({"x": X[:, 0]}, y, weight)
        assert model.grown_.n_rows.tolist() == [7, 2, 5]
        assert model.predict({"x": [None]}).tolist() == [0]
