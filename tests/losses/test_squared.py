import numpy as np
from sklearn.metrics import mean_squared_error

from tests.losses.derivatives import check
from vtree.losses import REGRESSION

LOSS = REGRESSION["squared_error"]


def test_derivatives_and_start() -> None:
    y, raw = np.random.default_rng(0).normal(size=(2, 40))
    check(LOSS, raw, y)
    np.testing.assert_allclose(LOSS.start(y, None, ()), y.mean(), rtol=1e-12)
    np.testing.assert_allclose(
        2 * LOSS.of(raw[:, None], y).loss.mean(), mean_squared_error(y, raw), rtol=1e-12
    )
