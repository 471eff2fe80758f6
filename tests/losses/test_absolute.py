import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

from tests.losses.derivatives import check
from vtree.losses import REGRESSION, quantiles

Y, RAW = np.random.default_rng(1).normal(size=(2, 40))


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_pinball(alpha: float) -> None:
    loss = REGRESSION["quantile"]._replace(numbers=(alpha, 1.0))
    check(loss, RAW, Y, hessian=False)
    found = loss.of(RAW[:, None], Y).loss.mean()
    np.testing.assert_allclose(found, mean_pinball_loss(Y, RAW, alpha=alpha), rtol=1e-12)
    start = loss.start(Y, None, loss.numbers)
    best = loss.of(np.full((40, 1), start), Y).loss.mean()
    for other in (start - 0.1, start + 0.1):
        assert loss.of(np.full((40, 1), other), Y).loss.mean() > best


def test_huber_is_squared_near_and_straight_far() -> None:
    loss = REGRESSION["huber"]._replace(numbers=(0.7,))
    check(loss, RAW, Y, hessian=False)
    assert loss.start(Y, None, loss.numbers) == np.median(Y)
    found = loss.of(np.array([[0.5], [3.0]]), np.zeros(2))
    np.testing.assert_allclose(found.loss, [0.125, 0.7 * (3.0 - 0.35)])
    np.testing.assert_allclose(found.gradient[:, 0], [0.5, 0.7])


@pytest.mark.parametrize("below_at_zero", [0.0, 0.3, 1.0])
def test_the_slope_at_the_target_is_what_is_asked_for(below_at_zero: float) -> None:
    loss = REGRESSION["quantile"]._replace(numbers=(0.3, below_at_zero))
    slope = loss.of(np.ones((1, 1)), np.ones(1)).gradient[0, 0]
    assert slope == pytest.approx(below_at_zero - 0.3, abs=1e-15)
    assert REGRESSION["absolute_error"].of(np.ones((1, 1)), np.ones(1)).gradient[0, 0] == 0.0


def test_several_levels_have_their_own_slopes_and_one_mean_loss() -> None:
    loss = quantiles((0.2, 0.9))
    raw = np.stack([RAW, RAW + 0.5], axis=1)
    found, y = loss.of(raw, Y), Y[:, None]
    np.testing.assert_allclose(found.gradient, (raw > y) - np.array([0.2, 0.9]), rtol=1e-12)
    expected = [mean_pinball_loss(Y, raw[:, k], alpha=level) for k, level in enumerate((0.2, 0.9))]
    assert found.loss.mean() == pytest.approx(np.mean(expected), rel=1e-12)
    assert loss.levels(2) == (0.2, 0.9)
    assert loss.link(raw[:, ::-1]).tolist() == np.sort(raw, axis=1).tolist()
