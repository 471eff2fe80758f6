from typing import Any

import array_api_strict
import numpy as np
import pytest

from tests.samples import reals
from vtree import (
    LeafwiseBoostingClassifier,
    LeafwiseBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    OrderedBoostingClassifier,
    OrderedBoostingRegressor,
    arrays,
    digest,
    kernels,
)
from vtree.errors import InputError, InputTypeError
from vtree.losses.own import own_terms

X, Y = reals()
SYSTEMS = [
    (NewtonBoostingClassifier, NewtonBoostingRegressor),
    (LeafwiseBoostingClassifier, LeafwiseBoostingRegressor),
    (OrderedBoostingClassifier, OrderedBoostingRegressor),
]


def test_columns_and_unknown_losses() -> None:
    terms = own_terms(lambda y, raw: (raw - y, raw * 0 + 2), None, np.ones((3, 1)), np.arange(3.0))
    np.testing.assert_array_equal(terms.gradient, [[1.0], [0.0], [-1.0]])
    np.testing.assert_array_equal(terms.hessian, np.full((3, 1), 2.0))
    assert np.isnan(terms.loss).all()
    several = own_terms(lambda y, raw: [raw, raw + 1], None, np.ones((3, 2)), np.arange(3.0))
    assert several.gradient.shape == several.hessian.shape == (3, 2)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda y, raw: raw, "pair"),
        (lambda y, raw: (raw, raw[:3]), "hessian of shape"),
        (lambda y, raw: (raw * np.nan, raw), "gradient that is not finite"),
        (lambda y, raw: (raw, raw - 1.0), "below zero"),
        (lambda y, raw: ("steep", raw), "objective: could not convert"),
        (lambda y, raw: (raw * 1j, raw), "objective: complex numbers"),
    ],
)
def test_objectives_that_cannot_be_used(objective: Any, message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message):
        NewtonBoostingRegressor(n_estimators=2, objective=objective).fit(X, Y)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_functions_get_arrays_of_the_library_that_the_table_is_of(
    library: str, system: tuple[Any, Any]
) -> None:
    if library == "torch":
        xp = pytest.importorskip("torch", reason="torch is not installed")
    else:
        xp = array_api_strict
    classifier, regressor = system
    kind = type(xp.asarray(X))
    seen: list[Any] = []

    def squares(y: Any, raw: Any) -> Any:
        seen.append((type(y), type(raw), y.shape, raw.shape, raw.dtype))
        return raw - y, raw * 0.0 + 1.0

    def slopes(y: Any, raw: Any) -> Any:
        seen.append((type(y), type(raw)))
        hot = arrays.like(arrays.to_numpy(y)[:, None] == np.arange(3), y, dtype=np.float64)
        return raw - hot, raw * 0.0 + 1.0

    model = regressor(n_estimators=3, objective=squares, random_state=0)
    known = digest(model.fit(X, Y))
    assert seen[0][:2] == (np.ndarray, np.ndarray)
    seen.clear()
    assert digest(model.fit(xp.asarray(X), xp.asarray(Y))) == known
    assert seen[0] == (kind, kind, Y.shape, Y.shape, xp.float64)
    with kernels("reference"):
        assert digest(model.fit(xp.asarray(X), Y)) == known
    labels = np.arange(Y.size) % 3
    several = classifier(n_estimators=2, objective=slopes, random_state=0)
    known = digest(several.fit(X, labels))
    seen.clear()
    assert digest(several.fit(xp.asarray(X), labels)) == known
    assert set(seen) == {(kind, kind)}


def test_answers_may_be_numpys_and_tensors_may_record() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    known = digest(NewtonBoostingRegressor(n_estimators=3, objective=_squares).fit(X, Y))

    def by_record(y: Any, raw: Any) -> Any:
        raw = raw.clone().requires_grad_()
        (0.5 * (raw - y) ** 2).sum().backward()
        return raw.grad, np.ones(len(raw))

    model = NewtonBoostingRegressor(n_estimators=3, objective=by_record)
    assert digest(model.fit(torch.asarray(X), Y)) == known


def _squares(y: Any, raw: Any) -> Any:
    return raw - y, np.ones_like(raw)
