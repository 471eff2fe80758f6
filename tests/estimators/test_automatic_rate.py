from typing import Any

import numpy as np
import pytest

from tests.samples import classes, reals
from vtree import OrderedBoostingClassifier, OrderedBoostingRegressor, digest, load, save
from vtree.estimators.automatic_rate import automatic_rate


@pytest.mark.parametrize(
    ("loss", "n_rows", "rounds", "rates"),
    [
        ("logistic", 200, 100, (0.042803, 0.057978)),
        ("logistic", 3000, 30, (0.410341, 0.191078)),
        ("logistic", 1000, 3, (0.5, 0.396608)),
        ("multinomial", 200, 100, (0.5, 0.251970)),
        ("squared_error", 200, 100, (0.206415, 0.161123)),
    ],
)
def test_rates_of_catboost(loss: str, n_rows: int, rounds: int, rates: tuple[float, float]) -> None:
    found = [automatic_rate(loss, n_rows, rounds, keeps_best=best) for best in (False, True)]
    assert found == pytest.approx(rates, rel=1e-3)
    assert automatic_rate("poisson", n_rows, rounds, keeps_best=True) == 0.03


def test_the_rate_is_taken_where_none_is_given(tmp_path: Any) -> None:
    X, y = reals()
    model = OrderedBoostingRegressor(n_estimators=3, depth=2, random_state=1).fit(X, y)
    assert model.learning_rate_ == automatic_rate("squared_error", 200, 3, keeps_best=False)
    given = OrderedBoostingRegressor(
        n_estimators=3, depth=2, random_state=1, learning_rate=model.learning_rate_
    )
    assert digest(given.fit(X, y)) == digest(model)
    changed = OrderedBoostingRegressor(n_estimators=2, l2_leaf_reg=1.0).fit(X, y)
    assert changed.learning_rate_ == 0.03
    # Rounds that follow go on at the rate of those before.
    save(model, tmp_path / "model.vtree")
    loaded = load(tmp_path / "model.vtree").set_params(warm_start=True, n_estimators=5).fit(X, y)
    longer = given.set_params(n_estimators=5).fit(X, y)
    assert loaded.learning_rate_ == model.learning_rate_ and digest(loaded) == digest(longer)


def test_classes_have_rates_of_their_own() -> None:
    X, labels = classes()
    for y, loss in ((labels > 0, "logistic"), (labels, "multinomial")):
        model = OrderedBoostingClassifier(n_estimators=2, depth=2).fit(X, y)
        assert model.learning_rate_ == automatic_rate(loss, len(y), 2, keeps_best=False)
        stops = OrderedBoostingClassifier(n_estimators=2, depth=2, early_stopping_rounds=1)
        stops.fit(X, y, eval_set=(X, np.asarray(y)))
        assert stops.learning_rate_ == automatic_rate(loss, len(y), 2, keeps_best=True)
