"""Arithmetic of counter-based draws: of arrays, of numbers, and compiled.

The mixing is splitmix64's finaliser (Steele, Lea & Flood, OOPSLA 2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_WHOLE = (1 << 64) - 1
_EVEN_BYTES, _EACH_PAIR = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)
_DEVIATION = math.sqrt(8 * (256.0**2 - 1.0) / 12.0)  # of eight uniform bytes


def next_state(state: Any, word: Any) -> Any:
    """Return the state of a hash after one more word, uint64; arrays broadcast together."""
    z = state * np.uint64(3) + word + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def mixed(state: Any, word: Any) -> np.uint64:
    """Return the same of two numbers, without a warning that they wrap around."""
    return np.uint64(mixed_words((word,), int(state)))


def mixed_words(words: Iterable[Any], state: int = 0) -> int:
    """Return the same of numbers one after another; Python's own integers take a tenth."""
    for word in words:
        z = (state * 3 + int(word) + int(_GOLDEN)) & _WHOLE
        z = ((z ^ (z >> 30)) * int(_FIRST)) & _WHOLE
        z = ((z ^ (z >> 27)) * int(_SECOND)) & _WHOLE
        state = z ^ (z >> 31)
    return state


def share(word: Any) -> Any:
    """Return a number in [0, 1) with the 53 upper bits of a word."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53


def below(word: Any, count: Any) -> Any:
    """Return a number in 0 … count − 1 from a word's upper half, uint64; count < 2^32."""
    return ((word >> np.uint64(32)) * count) >> np.uint64(32)


def between(low: float, high: float, u: float) -> float:
    """Return the point at a share u of the way from `low` to `high`, below `high`."""
    # Two products instead of low + u (high − low), whose difference may overflow.
    point = low * (1.0 - u) + high * u
    if math.isnan(point) or point < low or point >= high:
        return low
    return point


def bell(word: Any) -> Any:
    """Return a number with mean 0 and variance 1, nearly normal, of a word.

    Eight uniform bytes add up to a bell within 4.9 standard deviations: exact on every machine,
    which logarithms and cosines are not, and no tail that an infinity could come from.
    """
    pairs = (word & _EVEN_BYTES) + ((word >> np.uint64(8)) & _EVEN_BYTES)
    total = (pairs * _EACH_PAIR) >> np.uint64(48)  # the uppermost holds the sum of all four
    return (np.float64(total) - 8 * 127.5) / _DEVIATION
