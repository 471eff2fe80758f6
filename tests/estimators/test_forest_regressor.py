"""Means and out-of-bag predictions of forests of regression trees."""

import pytest
from sklearn.metrics import r2_score

from tests.samples import reals
from vtree import RandomForestRegressor
from vtree.errors import InputError

X, Y = reals()


def test_out_of_bag_predictions_and_their_score() -> None:
    model = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, Y)
    assert model.oob_prediction_.shape == (200,)
    assert model.oob_score_ == r2_score(Y, model.oob_prediction_)
    assert 0.5 < model.oob_score_ < model.score(X, Y)


def test_samples_larger_than_the_table_keep_sums_exact() -> None:
    far = Y + 2.0**40
    model = RandomForestRegressor(3, max_samples=20.0, random_state=0).fit(X, far)
    assert [rows.size for rows in model.estimators_samples_] == [4000] * 3
    for tree, rows in zip(model, model.estimators_samples_, strict=True):
        assert tree.tree_.value[0, 0, 0] == pytest.approx(far[rows].mean(), rel=1e-15)


def test_counts_are_checked() -> None:
    with pytest.raises(InputError, match="are negative"):
        RandomForestRegressor(criterion="poisson").fit(X, -Y)
    with pytest.raises(InputError, match="Sum of y is not strictly positive"):
        RandomForestRegressor(criterion="poisson").fit(X, Y * 0)


def test_the_old_name_of_a_criterion_warns_once() -> None:
    with pytest.warns(FutureWarning, match="friedman_mse") as warned:
        RandomForestRegressor(3, criterion="friedman_mse").fit(X, Y)
    assert len(warned) == 1


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_every_criterion_learns(criterion: str) -> None:
    model = RandomForestRegressor(20, criterion=criterion, random_state=0).fit(X[::2], Y[::2])
    assert model.score(X[1::2], Y[1::2]) > 0.5
