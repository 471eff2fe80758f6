from typing import Any

import numpy as np
import pytest

import vtree
from tests.samples import classes, reals
from vtree import NewtonBoostingClassifier, NewtonBoostingRegressor
from vtree.errors import InputError

X, Y = reals()
LABELS = classes()[1]
# Of each system: what names the loss, and its levels.
SYSTEMS = {
    "Newton": ("objective", "quantile_alpha"),
    "Leafwise": ("objective", "alpha"),
    "Gradient": ("loss", "alpha"),
    "Ordered": ("objective", "quantile_alpha"),
}


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
@pytest.mark.parametrize("name", ["Newton", "Leafwise", "Gradient"])
def test_several_outputs_are_models_of_their_own(name: str, loss: str) -> None:
    both = np.stack([Y, 9.0 * np.sin(X[:, 1]), -Y], axis=1)
    kind = getattr(vtree, f"{name}BoostingRegressor")
    how = {SYSTEMS[name][0]: loss, "n_estimators": 6, "max_depth": 3}
    model = kind(**how).fit(X, both, sample_weight=LABELS + 1.0)
    assert model.n_outputs_ == 3 and model.n_estimators_ == 6
    alone = [kind(**how).fit(X, y, sample_weight=LABELS + 1.0) for y in both.T]
    found = np.stack([own.predict(X) for own in alone], axis=1)
    np.testing.assert_allclose(model.predict(X), found, rtol=1e-10)
    if name == "Gradient":
        scores = np.mean([own.train_score_ for own in alone], axis=0)
        np.testing.assert_allclose(model.train_score_, scores, rtol=1e-10)


@pytest.mark.parametrize("name", SYSTEMS)
def test_quantiles_together_do_not_cross_and_cover_their_shares(name: str) -> None:
    draw = np.random.default_rng(0)
    table = draw.random((600, 1))
    y = table[:, 0] + draw.normal(scale=0.1 + table[:, 0], size=600)
    levels = [0.1, 0.2, 0.8]
    kind, (loss, level_name) = getattr(vtree, f"{name}BoostingRegressor"), SYSTEMS[name]
    how = {loss: "quantile", "n_estimators": 40, "learning_rate": 0.2, "random_state": 0}
    how["depth" if name == "Ordered" else "max_depth"] = 2
    model = kind(**how, **{level_name: levels}).fit(table, y, eval_set=[(table, y)])
    found = model.predict(table)
    assert found.shape == (600, 3) and (np.diff(found, axis=1) >= 0.0).all()
    np.testing.assert_allclose((y[:, None] <= found).mean(axis=0), levels, atol=0.04)
    if name != "Ordered":  # whose trees are shared
        alone = [kind(**how, **{level_name: own}).fit(table, y).predict(table) for own in levels]
        np.testing.assert_allclose(found, np.sort(np.stack(alone, axis=1), axis=1), rtol=1e-12)
    # The mean pinball loss is what is watched; sorted predictions lose less.
    watched = model.evals_result_["validation_0"]["loss"][-1]
    distance = y[:, None] - found
    pinball = np.maximum(np.multiply(levels, distance), np.subtract(levels, 1.0) * distance)
    assert 0.9 * watched < pinball.mean() <= watched


@pytest.mark.parametrize("levels", [[0.9, 0.1], [0.5, 0.5], [0.0, 0.5], [], ["a"], [[0.1]]])
@pytest.mark.parametrize("name", SYSTEMS)
def test_levels_of_quantiles_ascend(name: str, levels: list[Any]) -> None:
    loss, level_name = SYSTEMS[name]
    model = getattr(vtree, f"{name}BoostingRegressor")(**{loss: "quantile", level_name: levels})
    with pytest.raises(InputError, match=f"^{level_name}"):
        model.fit(X, Y)


@pytest.mark.parametrize("name", SYSTEMS)
def test_quantiles_of_several_outputs_are_several_models(name: str) -> None:
    loss, level_name = SYSTEMS[name]
    kind = getattr(vtree, f"{name}BoostingRegressor")
    model = kind(**{loss: "quantile", level_name: [0.1, 0.9]})
    with pytest.raises(InputError, match="asks for 2 quantiles, and y has 2 columns"):
        model.fit(X, np.stack([Y, Y], axis=1))


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_model_does_not_go_on_with_another_number_of_outputs(name: str) -> None:
    loss, level_name = SYSTEMS[name]
    kind = getattr(vtree, f"{name}BoostingRegressor")
    both = np.stack([Y, -Y], axis=1)
    for first, second in ((Y, both), (both, Y)):
        model = kind(n_estimators=2, warm_start=True).fit(X, first)
        known = vtree.digest(model)
        with pytest.raises(InputError, match="^warm_start goes on with a model of "):
            model.set_params(n_estimators=9).fit(X, second)
        assert vtree.digest(model) == known
    levels = {loss: "quantile", level_name: [0.1, 0.5]}
    model = kind(n_estimators=2, warm_start=True, **levels).fit(X, Y)
    with pytest.raises(InputError, match=r"of 2 outputs or quantiles, .* are of 3 now"):
        model.set_params(n_estimators=4, **{level_name: [0.1, 0.5, 0.9]}).fit(X, Y)


@pytest.mark.parametrize("name", ["Leafwise", "Gradient"])
def test_one_number_says_where_hubers_loss_goes_straight(name: str) -> None:
    loss, level_name = SYSTEMS[name]
    kind = getattr(vtree, f"{name}BoostingRegressor")
    with pytest.raises(InputError, match=r"^alpha=\[0.1, 0.9\] must be one number"):
        kind(**{loss: "huber", level_name: [0.1, 0.9]}).fit(X, Y)


def test_an_objective_of_ones_own_has_its_own_hessians() -> None:
    """Of several classes, too: no system multiplies them."""

    def objective(y: Any, raw: Any) -> Any:
        share = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        hessian = np.maximum(share * (1.0 - share), 1e-16)
        return share - (y[:, None] == np.arange(3)), hessian * 1.5

    setting: dict[str, Any] = {"n_estimators": 2, "min_child_samples": 5}
    own = vtree.LeafwiseBoostingClassifier(objective=objective, **setting).fit(X, LABELS)
    covers = own.grown_.weight[own.grown_.root[:3]]  # at equal shares, where it starts
    np.testing.assert_allclose(covers, 1.5 * 200 * 2 / 9, rtol=1e-9)


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
    for name in SYSTEMS:
        model = getattr(vtree, f"{name}BoostingClassifier")()
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


@pytest.mark.parametrize("name", SYSTEMS)
def test_logarithms_of_shares(name: str) -> None:
    model = getattr(vtree, f"{name}BoostingClassifier")(n_estimators=3).fit(X, LABELS)
    expected = np.log(model.predict_proba(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), expected)
