from typing import Any

import numpy as np
import pytest

from tests.samples import reals
from vtree import NewtonBoostingRegressor
from vtree.errors import InputError, InputTypeError
from vtree.losses.own import own_terms

X, Y = reals()


def test_columns_and_unknown_losses() -> None:
    terms = own_terms(lambda y, raw: (raw - y, raw * 0 + 2), np.ones((3, 1)), np.arange(3.0))
    np.testing.assert_array_equal(terms.gradient, [[1.0], [0.0], [-1.0]])
    np.testing.assert_array_equal(terms.hessian, np.full((3, 1), 2.0))
    assert np.isnan(terms.loss).all()
    several = own_terms(lambda y, raw: [raw, raw + 1], np.ones((3, 2)), np.arange(3.0))
    assert several.gradient.shape == several.hessian.shape == (3, 2)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda y, raw: raw, "pair"),
        (lambda y, raw: (raw, raw[:3]), "hessian of shape"),
        (lambda y, raw: (raw * np.nan, raw), "gradient that is not finite"),
        (lambda y, raw: (raw, raw - 1.0), "below zero"),
        (lambda y, raw: ("steep", raw), "objective: could not convert"),
    ],
)
def test_objectives_that_cannot_be_used(objective: Any, message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message):
        NewtonBoostingRegressor(n_estimators=2, objective=objective).fit(X, Y)
