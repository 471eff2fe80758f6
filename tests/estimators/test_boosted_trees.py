"""The way of any table to boosted trees."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import vtree
from tests.samples import classes, reals
from vtree import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    C45Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from vtree.errors import InputError


@pytest.mark.parametrize("learner", [C45Classifier(), CHAIDClassifier(), CHAIDRegressor()])
@pytest.mark.parametrize("times", [2, 3])
def test_a_whole_weight_is_that_many_rows_in_every_round(learner: Any, times: int) -> None:
    # Limits in rows, tests of significance and pessimistic pruning all see the sum of weights.
    if isinstance(learner, CHAIDRegressor):
        X, y = reals(150)
        estimator: Any = AdaBoostRegressor
    else:
        X, y = classes(150)
        estimator = AdaBoostClassifier
    weighed = estimator(learner, n_estimators=4, random_state=0)
    weighed.fit(X, y, np.full(150, float(times)))
    repeated = estimator(learner, n_estimators=4, random_state=0)
    repeated.fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighed.estimator_errors_, repeated.estimator_errors_, rtol=1e-12)
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "learner", "other"),
    [
        (AdaBoostClassifier, DecisionTreeRegressor(), "AdaBoostRegressor"),
        (AdaBoostClassifier, LinearRegression(), "AdaBoostRegressor"),
        (AdaBoostRegressor, DecisionTreeClassifier(), "AdaBoostClassifier"),
        (AdaBoostRegressor, LogisticRegression(), "AdaBoostClassifier"),
    ],
)
def test_learners_of_the_other_kind_are_refused(estimator: Any, learner: Any, other: str) -> None:
    kind = "classifier" if estimator is AdaBoostClassifier else "regressor"
    with pytest.raises(InputError, match=f"'estimator' parameter .* must be a {kind}.*{other}"):
        estimator(learner).fit(*classes(40))


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "AdaBoostRegressor"])
def test_verbose_tells_of_rounds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = classes(60)
    quiet = getattr(vtree, name)(n_estimators=3).fit(X, y)
    assert not capsys.readouterr().out
    told = getattr(vtree, name)(n_estimators=3, verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[-1].startswith(f"{name} round 3/3")
    assert vtree.digest(told) == vtree.digest(quiet)


@pytest.mark.parametrize("learner", [None, C45Classifier()])
def test_too_few_columns_are_told_of_the_estimator_that_was_called(learner: Any) -> None:
    X, y = classes(60)
    model = AdaBoostClassifier(learner, n_estimators=3).fit(X, y)
    for method in (model.predict, model.predict_proba, lambda X: next(model.staged_predict(X))):
        with pytest.raises(InputError, match="X has 2 features, but AdaBoostClassifier"):
            method(X[:, :2])


@pytest.mark.parametrize("learner", [None, CHAIDRegressor()])
def test_regressors_too(learner: Any) -> None:
    X, y = reals(60)
    model = AdaBoostRegressor(learner, n_estimators=3).fit(X, y)
    for method in (model.predict, lambda X: next(model.staged_predict(X))):
        with pytest.raises(InputError, match="X has 2 features, but AdaBoostRegressor"):
            method(X[:, :2])
