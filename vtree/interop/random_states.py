"""Generators of the kind that scikit-learn takes for `random_state`, as numbers and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vtree.errors import InputError

_WORDS = 624  # of the state of a Mersenne twister (Matsumoto & Nishimura 1998)
_FIELDS = ("key", "pos", "has_gauss", "gauss")


def to_numbers(random: np.random.RandomState) -> dict[str, Any] | None:
    """Return the state of a generator, None if it is of a kind that a file does not hold."""
    state: Any = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        return None
    words = state["state"]["key"].tolist()
    numbers = words, int(state["state"]["pos"]), int(state["has_gauss"]), float(state["gauss"])
    return dict(zip(_FIELDS, numbers, strict=True))


def from_numbers(found: Any) -> np.random.RandomState:
    """Return a generator as `to_numbers` found it; raise InputError for anything else."""
    if not isinstance(found, dict) or found.keys() != set(_FIELDS):
        raise InputError("the state of a generator is not key, pos, has_gauss and gauss")
    key, pos, has_gauss, gauss = (found[name] for name in _FIELDS)
    words = isinstance(key, list) and len(key) == _WORDS
    if not words or not all(type(word) is int and 0 <= word < 1 << 32 for word in key):
        raise InputError(f"the state of a generator is not {_WORDS} words of 32 bits")
    if not any(key):
        raise InputError("the state of a generator is nothing, from which it would never move")
    if type(pos) is not int or not 0 <= pos <= _WORDS:
        raise InputError("a generator stands beyond its state")
    if type(has_gauss) is not int or has_gauss not in (0, 1):
        raise InputError("whether a generator keeps a number is neither 0 nor 1")
    if type(gauss) is not float or not math.isfinite(gauss):
        raise InputError("a number that a generator has drawn is not finite")
    random = np.random.RandomState()  # noqa: NPY002  (scikit-learn's generator)
    random.set_state(("MT19937", np.asarray(key, dtype=np.uint32), pos, has_gauss, gauss))
    return random
