import math

import numpy as np
import pytest
from scipy import stats

from tests.bits import assert_same_bits
from vtree import elementary
from vtree.chaid.tails import log, log_chi_square_tail, log_f_tail

# log P(X >= x), by 60 digits of arbitrary precision (Γ(df/2, x/2) / Γ(df/2))
CHI_SQUARE = [
    (3.841458820694124, 1.0, -2.99573227355399),
    (0.5, 7.0, -0.000553671857553622),
    (50.0, 10.0, -15.136360524035101),
    (1300.0, 3.0, -646.6399632357592),
    (1400.0, 1.0, -703.8486181251224),
    (1500.0, 254.0, -402.39643657993184),
    (4000.0, 2.0, -2000.0),
    (100000.0, 50.0, -49795.10957046664),
    (1000000.0, 3000.0, -489796.6672593046),
]
# the same of F, by the regularised incomplete beta function
F = [
    (4.0, 1.0, 60.0, -2.995071618805257),
    (0.5, 3.0, 5.0, -0.35888790887623406),
    (30.0, 2.0, 500.0, -28.332171326750792),
    (1000.0, 9.0, 5000.0, -2550.6606072012864),
    (1000000.0, 3.0, 200.0, -959.16014257773),
    (1000000000000.0, 100.0, 60.0, -794.1882848350378),
    (30.0, 100.0, 100000.0, -1265.5487582495548),
    (1000.0, 1.0, 1000000.0, -503.43033354399756),
]


@pytest.mark.parametrize(("x", "df", "expected"), CHI_SQUARE)
def test_chi_square(x: float, df: float, expected: float) -> None:
    found = log_chi_square_tail(np.array([x]), np.array([df]))[0]
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(("x", "between", "within", "expected"), F)
def test_f(x: float, between: float, within: float, expected: float) -> None:
    found = log_f_tail(np.array([x]), np.array([between]), np.array([within]))[0]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_both_ways_agree_where_they_meet() -> None:
    x = np.linspace(1290.0, 1360.0, 200)  # log p from −647 to −682, the change at −667.7
    found = log_chi_square_tail(x, np.full(200, 3.0))
    np.testing.assert_allclose(found, stats.chi2.logsf(x, 3.0), rtol=1e-12)
    assert (np.diff(found) < 0.0).all()


def test_ends() -> None:
    one = np.ones(1)
    assert log_chi_square_tail(0.0 * one, one)[0] == 0.0
    assert log_chi_square_tail(math.inf * one, one)[0] == -math.inf
    assert log_f_tail(0.0 * one, one, one)[0] == 0.0
    assert log_f_tail(math.inf * one, one, one)[0] == -math.inf


def test_logarithms_have_the_bits_of_all_others() -> None:
    random = np.random.default_rng(0)
    x = np.ldexp(random.uniform(0.5, 1.0, 5_000), random.integers(-1073, 1024, 5_000))
    x = np.concatenate([x, np.ldexp(1.0, np.arange(-1074, 1024)), np.sqrt([0.5, 2.0])])
    assert_same_bits(log(x), elementary.log(x))
