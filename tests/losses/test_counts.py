import numpy as np
import pytest
from sklearn.metrics import mean_tweedie_deviance

from tests.losses.derivatives import check
from vtree.losses import REGRESSION

DRAW = np.random.default_rng(2)
RAW = DRAW.normal(size=60)
Y = DRAW.gamma(2.0, size=60)


@pytest.mark.parametrize(("name", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.5)])
def test_half_the_deviance_but_for_terms_of_y(name: str, power: float) -> None:
    loss = REGRESSION[name]
    check(loss, RAW, Y)
    mean = loss.link(RAW[:, None])[:, 0]
    np.testing.assert_allclose(mean, np.exp(RAW), rtol=1e-14)
    np.testing.assert_allclose(loss.inverse(mean), RAW, rtol=1e-12, atol=1e-14)
    start = np.full((60, 1), loss.start(Y, None, loss.numbers))
    np.testing.assert_allclose(loss.link(start), Y.mean(), rtol=1e-12)
    own = loss.of(RAW[:, None], Y).loss.mean() - loss.of(start, Y).loss.mean()
    deviance = mean_tweedie_deviance(Y, mean, power=power)
    deviance -= mean_tweedie_deviance(Y, np.full(60, Y.mean()), power=power)
    np.testing.assert_allclose(2 * own, deviance, rtol=1e-9)
