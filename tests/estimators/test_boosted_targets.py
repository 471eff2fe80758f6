import numpy as np
import pytest

import vtree
from tests.samples import classes, reals
from vtree import LeafwiseBoostingRegressor, NewtonBoostingClassifier, NewtonBoostingRegressor
from vtree.errors import InputError

X, Y = reals()
LABELS = classes()[1]


def test_two_classes_have_one_raw_prediction_and_several_have_one_each() -> None:
    two = NewtonBoostingClassifier(n_estimators=2).fit(X, LABELS > 0)
    three = NewtonBoostingClassifier(n_estimators=2).fit(X, LABELS)
    assert two.decision_function(X).shape == (200,)
    assert three.decision_function(X).shape == (200, 3)
    np.testing.assert_array_equal(two.predict(X), two.decision_function(X) > 0)
    np.testing.assert_array_equal(three.predict(X), three.predict_proba(X).argmax(axis=1))
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1.0)


def test_scale_pos_weight_is_a_weight_of_the_second_class() -> None:
    y = (LABELS > 1).astype(int)
    # From one start: XGBoost estimates it from the classes without their weight.
    scaled = NewtonBoostingClassifier(n_estimators=3, scale_pos_weight=3.0, base_score=0.5)
    scaled.fit(X, y)
    weighted = NewtonBoostingClassifier(n_estimators=3, base_score=0.5)
    weighted.fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(scaled.predict_proba(X), weighted.predict_proba(X))


def test_one_output_is_asked_for() -> None:
    for model in (LeafwiseBoostingRegressor(), NewtonBoostingClassifier()):
        with pytest.raises(InputError, match="2 columns"):
            model.fit(X, np.stack([LABELS, LABELS], axis=1))
    with pytest.raises(InputError, match="zero in every row"):
        NewtonBoostingRegressor(objective="poisson").fit(X, Y * 0)


@pytest.mark.parametrize("name", ["Newton", "Ordered", "Leafwise"])
def test_numbers_of_losses_are_the_parameters(name: str) -> None:
    kind = getattr(vtree, f"{name}BoostingRegressor")
    slope, level = ("alpha", "alpha") if name == "Leafwise" else ("huber_slope", "quantile_alpha")
    for objective, own, number in (
        ("huber", slope, 0.3),
        ("quantile", level, 0.7),
        ("tweedie", "tweedie_variance_power", 1.2),
    ):
        assert kind(objective=objective, **{own: number})._loss().numbers[0] == number
    X, y = reals()
    found = [
        kind(n_estimators=3, objective="huber", **{slope: number}).fit(X, y).predict(X)
        for number in (0.1, 1.0)
    ]
    assert not np.array_equal(*found)


@pytest.mark.parametrize("name", ["Gradient", "Newton", "Leafwise"])
def test_weights_of_classes_are_weights_of_their_rows(name: str) -> None:
    kind = getattr(vtree, f"{name}BoostingClassifier")
    weights = {0: 2.0, 1: 0.5, 2: 1.0}
    model = kind(n_estimators=3, class_weight=weights).fit(X, LABELS)
    rows = np.asarray([weights[label] for label in LABELS.tolist()])
    plain = kind(n_estimators=3).fit(X, LABELS, sample_weight=rows)
    assert vtree.digest(model) == vtree.digest(plain)


@pytest.mark.parametrize("name", ["Gradient", "Newton", "Leafwise", "Ordered"])
def test_a_class_without_weight_is_none(name: str) -> None:
    model = getattr(vtree, f"{name}BoostingClassifier")(n_estimators=1)
    with pytest.raises(InputError, match="one class among the rows that weigh more than zero"):
        model.fit(X, LABELS > 0, sample_weight=(LABELS > 0) * 1.0)
