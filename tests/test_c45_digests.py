"""C4.5 and ID3 on every backend: one fingerprint, fractions of rows included."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vtree
from tests.conftest import NAMESPACES
from vtree_kernels import _threads
from vtree_kernels.histogram import cpu as histogram_cpu


@pytest.fixture(autouse=True, scope="module")
def many_small_tasks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_threads, "UPDATES_PER_THREAD", 1)
        patch.setattr(_threads, "available", lambda: 4)
        patch.setattr(histogram_cpu, "CHUNK", 16)
        patch.setattr(histogram_cpu, "LEAST_CHUNK", 16)
        yield


def _table(seed: int, n_rows: int, missing: float) -> tuple[Any, Any, list[bool]]:
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n_rows, 4)), int(random.integers(1, 4)))
    nominal = [False, True, False, True]
    X[:, 1], X[:, 3] = random.integers(0, 3, n_rows), random.integers(0, 5, n_rows)
    signal = X[:, 0] + (X[:, 1] == 1) - 0.3 * X[:, 3] + random.normal(scale=0.5, size=n_rows)
    X[random.random(X.shape) < missing] = np.nan
    return X, np.digitize(signal, [-0.5, 0.5]), nominal


def _digest(estimator: Any, X: Any, y: Any, weight: Any = None, mode: str = "native") -> str:
    with vtree.kernels(mode):
        return str(vtree.digest(estimator.fit(X, y, weight)))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 1 << 20),
    n_rows=st.sampled_from([2, 15, 60, 120]),
    missing=st.sampled_from([0.0, 0.15, 0.5]),
    weights=st.sampled_from(["none", "whole", "real"]),
    criterion=st.sampled_from(["gain_ratio", "gain", "eg2"]),
    subset=st.booleans(),
)
def test_c45_is_one_model(
    seed: int, n_rows: int, missing: float, weights: str, criterion: str, subset: bool
) -> None:
    X, y, nominal = _table(seed, n_rows, missing)
    random = np.random.default_rng(seed)
    weight = {
        "none": None,
        "whole": random.integers(1, 4, n_rows).astype(np.float64),
        "real": random.random(n_rows) + 0.01,
    }[weights]
    shared: dict[str, Any] = {"categorical_features": nominal, "criterion": criterion}
    shared["subset"] = subset and criterion != "eg2"
    expected = _digest(vtree.C45Classifier(**shared, n_jobs=1), X, y, weight)
    assert _digest(vtree.C45Classifier(**shared, n_jobs=4), X, y, weight) == expected
    least = vtree.C45Classifier(**shared, histogram_budget=4000)
    assert _digest(least, X, y, weight) == expected
    order = random.permutation(n_rows)
    moved = None if weight is None else weight[order]
    assert _digest(vtree.C45Classifier(**shared), X[order], y[order], moved) == expected
    for name, make in NAMESPACES.items():
        own = _digest(vtree.C45Classifier(**shared), make().asarray(X), y, weight, "reference")
        assert own == expected, name


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kind", [vtree.C45Classifier, vtree.ID3Classifier])
def test_a_whole_weight_is_that_many_rows(kind: Any, missing: float) -> None:
    X, y, nominal = _table(5, 90, missing)
    if kind is vtree.ID3Classifier:
        X, nominal = X[:, [1, 3]], [True, True]
    weight = np.random.default_rng(1).integers(1, 4, 90)
    repeated = np.repeat(np.arange(90), weight)
    heavy = kind(categorical_features=nominal).fit(X, y, weight.astype(float))
    many = kind(categorical_features=nominal).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(heavy.grown_.value, many.grown_.value)
    np.testing.assert_array_equal(heavy.grown_.threshold, many.grown_.threshold)
    np.testing.assert_array_equal(heavy.grown_.weight, many.grown_.weight)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_id3_is_one_model(missing: float) -> None:
    X, y, _ = _table(3, 200, missing)
    X = X[:, [1, 3]]
    expected = _digest(vtree.ID3Classifier(categorical_features=[True, True]), X, y)
    reference = vtree.ID3Classifier(categorical_features=[True, True])
    assert _digest(reference, X, y, mode="reference") == expected
