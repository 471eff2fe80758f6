"""What both estimators share: fits that fail, copies, machines of the other byte order."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import vtree
from tests.samples import classes, columns, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.errors import InputError, MemoryBudgetError
from vtree.estimators import base

X, Y = classes()


def _attributes(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


MISTAKES: dict[str, Callable[[Any], Any]] = {
    "table": lambda model: model.fit([["a"]], [1]),
    "target": lambda model: model.fit(X[:, :2], None),
    "another width": lambda model: model.fit(pd.DataFrame(X[:, :2], columns=["a", "b"]), Y[:5]),
    "budget": lambda model: model.set_params(histogram_budget=1).fit(X[:, :3], Y),
    "pruning": lambda model: model.cost_complexity_pruning_path(X, Y[:3]),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_fit_that_fails_leaves_the_model_as_it_was(estimator: Any, name: str) -> None:
    model = estimator().fit(X, Y)
    before, expected = _attributes(model), model.predict(X)
    with pytest.raises((InputError, MemoryBudgetError)):
        MISTAKES[name](model)
    after = _attributes(model)
    assert after.keys() == before.keys()
    assert all(after[each] is value for each, value in before.items())
    np.testing.assert_array_equal(model.predict(X), expected)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_fit_too(stop: type[BaseException], monkeypatch: Any) -> None:
    model = DecisionTreeClassifier().fit(X, Y)
    before = _attributes(model)

    def interrupt(*arguments: Any, **named: Any) -> None:
        raise stop

    monkeypatch.setattr(base, "finish", interrupt)
    with pytest.raises(stop):
        model.fit(X[:, :2], Y > 0)
    assert _attributes(model) == before


def test_the_first_fit_that_fails_leaves_nothing() -> None:
    model = DecisionTreeRegressor()
    with pytest.raises(InputError):
        model.fit(X, np.full(len(X), np.nan))
    assert not _attributes(model)


def test_fitting_again_forgets() -> None:
    table, y = columns()
    model = DecisionTreeClassifier().fit(pd.DataFrame(table), y)
    model.fit(X, Y)
    assert vtree.digest(model) == vtree.digest(DecisionTreeClassifier().fit(X, Y))
    assert (model.n_features_in_, model.schema_.names) == (4, None)


def test_pickles_and_the_other_byte_order() -> None:
    table, y = columns()
    model = DecisionTreeClassifier(max_depth=3).fit(pd.DataFrame(table), y)
    copy = pickle.loads(pickle.dumps(model))
    assert vtree.digest(copy) == vtree.digest(model)
    state = dict(model.__getstate__())
    swapped = [field.astype(field.dtype.newbyteorder(">")) for field in model.grown_]
    copy.__setstate__({**state, "grown_": model.grown_._make(swapped)})
    assert all(field.dtype.isnative for field in copy.grown_)
    np.testing.assert_array_equal(copy.predict(pd.DataFrame(table)), model.predict(table))


def test_sparse_tables_are_dense_ones_with_zeros() -> None:
    from scipy import sparse

    table = np.where(np.abs(X) < 0.5, 0.0, X)
    plain = DecisionTreeClassifier().fit(table, Y)
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        model = DecisionTreeClassifier().fit(form(table), Y)
        assert vtree.digest(model) == vtree.digest(plain)
        np.testing.assert_array_equal(model.predict(form(table)), plain.predict(table))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9])
def test_the_least_decrease_has_the_units_of_the_target(scale: float) -> None:
    X, y = reals()
    limit = 0.02 * scale**2
    model = DecisionTreeRegressor(min_impurity_decrease=limit).fit(X, y * scale)
    plain = DecisionTreeRegressor(min_impurity_decrease=0.02).fit(X, y)
    gain = model.grown_.gain[model.grown_.first_child >= 0]
    assert gain.min() >= limit * (1 - 1e-9)
    assert model.get_n_leaves() == plain.get_n_leaves() > 2


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e140])
def test_min_impurity_decrease_of_targets_of_any_size(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = X[:, 0] * scale
    assert DecisionTreeRegressor(min_impurity_decrease=0.0).fit(X, y).get_n_leaves() > 1
    # A decrease of squares that is below the smallest number reaches no minimum.
    leaves = DecisionTreeRegressor(max_depth=1, min_impurity_decrease=0.01).fit(X, y).get_n_leaves()
    assert leaves == (1 if scale < 1e-100 else 2)
