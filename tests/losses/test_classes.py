import numpy as np
import pytest
from sklearn.metrics import log_loss

from tests.bits import assert_same_bits
from tests.losses.derivatives import check
from vtree.losses import CLASSIFICATION
from vtree.losses.classes import logit
from vtree_kernels import kernels

DRAW = np.random.default_rng(3)
LOGISTIC, MULTINOMIAL = CLASSIFICATION["logistic"], CLASSIFICATION["multinomial"]


def test_logistic() -> None:
    raw = np.concatenate([DRAW.normal(size=40), [-700.0, 700.0, -30.0, 30.0]])
    y = DRAW.integers(0, 2, 44).astype(np.float64)
    check(LOGISTIC, raw, y)
    shares = LOGISTIC.link(raw[:, None])
    assert (shares >= 0.0).all()
    np.testing.assert_allclose(shares[:, 1], 1.0 / (1.0 + np.exp(-raw)), rtol=1e-13)
    inner = slice(0, 40)
    found = LOGISTIC.of(raw[inner, None], y[inner]).loss.mean()
    np.testing.assert_allclose(found, log_loss(y[inner], shares[inner]), rtol=1e-12)
    np.testing.assert_allclose(LOGISTIC.start(y, None, ()), logit(float(y.mean())), rtol=1e-12)


def test_multinomial() -> None:
    raw, y = DRAW.normal(size=(50, 4)), DRAW.integers(0, 4, 50).astype(np.float64)
    terms = MULTINOMIAL.of(raw, y)
    shares = MULTINOMIAL.link(raw)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(terms.loss.mean(), log_loss(y, shares), rtol=1e-12)
    step = 1e-6
    for k in range(4):
        moved = raw.copy()
        moved[:, k] += step
        above = MULTINOMIAL.of(moved, y)
        moved[:, k] -= 2 * step
        below = MULTINOMIAL.of(moved, y)
        slope = (above.loss - below.loss) / (2 * step)
        np.testing.assert_allclose(terms.gradient[:, k], slope, atol=1e-8)
        bend = (above.gradient - below.gradient)[:, k] / (2 * step)
        np.testing.assert_allclose(terms.hessian[:, k], bend, atol=1e-8)
    start = np.array([MULTINOMIAL.start(y, None, (float(k),)) for k in range(4)])
    np.testing.assert_allclose(np.exp(start), np.bincount(y.astype(int)) / 50, rtol=1e-12)


def test_of_two_classes_both_say_the_same() -> None:
    raw, y = DRAW.normal(size=30), DRAW.integers(0, 2, 30).astype(np.float64)
    both = np.stack([np.zeros(30), raw], axis=1)
    one, two = LOGISTIC.of(raw[:, None], y), MULTINOMIAL.of(both, y)
    np.testing.assert_allclose(one.gradient[:, 0], two.gradient[:, 1], rtol=1e-12)
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-12)


def test_derivatives_alone_are_the_same() -> None:
    raw, y = DRAW.normal(size=(30, 3)), DRAW.integers(0, 2, 30).astype(np.float64)
    for loss, own in ((MULTINOMIAL, raw), (LOGISTIC, raw[:, :1])):
        alone, whole = loss.derivatives(own, y), loss.of(own, y)
        assert_same_bits(alone.gradient, whole.gradient)
        assert_same_bits(alone.hessian, whole.hessian)
        assert alone.loss.size == 0


def test_reference_has_the_same_bits() -> None:
    raw, y = DRAW.normal(size=(70, 3)) * 20.0, DRAW.integers(0, 3, 70).astype(np.float64)
    binary = (y > 0).astype(np.float64)
    native = (*MULTINOMIAL.of(raw, y), *LOGISTIC.of(raw[:, :1], binary), LOGISTIC.link(raw[:, :1]))
    with kernels("reference"):
        plain = (
            *MULTINOMIAL.of(raw, y),
            *LOGISTIC.of(raw[:, :1], binary),
            LOGISTIC.link(raw[:, :1]),
        )
    for one, other in zip(native, plain, strict=True):
        assert_same_bits(one, other)


def test_exponential() -> None:
    raw, y = np.array([-2.0, 0.0, 0.5, 3.0])[:, None], np.array([0.0, 1.0, 1.0, 0.0])
    loss = CLASSIFICATION["exponential"]
    side = 2.0 * y - 1.0
    expected = np.exp(-side * raw[:, 0])
    terms = loss.of(raw, y)
    np.testing.assert_allclose(terms.loss, expected, rtol=1e-14)
    np.testing.assert_allclose(terms.gradient[:, 0], -side * expected, rtol=1e-14)
    np.testing.assert_allclose(terms.hessian[:, 0], expected, rtol=1e-14)
    np.testing.assert_allclose(loss.link(raw)[:, 1], 1.0 / (1.0 + np.exp(-2.0 * raw[:, 0])))
    assert loss.starts(np.array([1.0, 1.0, 1.0, 0.0]), None, 1)[0] == pytest.approx(np.log(3) / 2)


def test_shares_say_their_raw_predictions() -> None:
    raw = DRAW.normal(size=(30, 3))
    middle = raw - raw.mean(axis=1, keepdims=True)
    found = MULTINOMIAL.inverse(MULTINOMIAL.link(raw))
    np.testing.assert_allclose(found, middle, rtol=1e-12, atol=1e-12)
    for name in ("logistic", "exponential"):
        loss = CLASSIFICATION[name]
        np.testing.assert_allclose(loss.inverse(loss.link(raw[:, :1])), raw[:, :1], rtol=1e-12)
    sure = np.asarray([[1.0, 0.0], [0.0, 1.0]])
    assert np.isfinite(LOGISTIC.inverse(sure)).all()
    assert np.isfinite(MULTINOMIAL.inverse(np.eye(3))).all()
