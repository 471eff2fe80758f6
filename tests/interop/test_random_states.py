"""Generators as numbers: what was drawn comes again, and what nobody wrote is refused."""

from typing import Any

import numpy as np
import pytest

from vtree.errors import InputError
from vtree.interop.json_values import decode, encode, from_text, to_text
from vtree.interop.random_states import from_numbers, to_numbers


@pytest.mark.parametrize("draws", [0, 1, 624, 1000])
def test_a_generator_goes_on_where_it_stood(draws: int) -> None:
    random = np.random.RandomState(3)
    random.randint(1 << 30, size=draws)
    random.normal()  # one of a pair, whose other one is kept
    again = decode(from_text(to_text(encode({"state": [random]}))))["state"][0]
    assert again is not random
    np.testing.assert_array_equal(again.normal(size=5), random.normal(size=5))
    np.testing.assert_array_equal(again.randint(1 << 30, size=9), random.randint(1 << 30, size=9))


def test_generators_of_other_kinds_have_no_numbers() -> None:
    assert to_numbers(np.random.RandomState(np.random.PCG64(0))) is None


@pytest.mark.parametrize(
    "change",
    [
        {"key": [1, 2]},
        {"key": [1 << 32] * 624},
        {"key": [-1] * 624},
        {"key": [True] * 624},
        {"key": None},
        {"pos": 625},
        {"pos": -1},
        {"pos": 1.0},
        {"has_gauss": 2},
        {"has_gauss": True},
        {"key": [0] * 624},
        {"gauss": float("nan")},
        {"gauss": "1"},
        {"more": 1},
    ],
)
def test_what_is_no_state_is_refused(change: dict[str, Any]) -> None:
    numbers = to_numbers(np.random.RandomState(0))
    assert numbers is not None
    with pytest.raises(InputError):
        from_numbers({**numbers, **change})
    with pytest.raises(InputError):
        from_numbers([numbers])
