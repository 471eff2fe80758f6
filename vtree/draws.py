"""Counter-based random numbers: a draw is a hash of what it is for.

A number depends on (seed, purpose, tree, node, feature …) alone, never on what was drawn before,
so it is the same on every backend, in every order of growth and for every partition of the work.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.mixing import bell, mixed_words, next_state, share

Words = NDArray[np.uint64]

# What a draw is for; a new purpose takes a new number.
FEATURE_ORDER, THRESHOLD, ROW_SAMPLE, TREE, SUBSAMPLE, COLUMNS = 1, 2, 3, 4, 5, 6
PERMUTATION, BOOTSTRAP, SHUFFLE, ROUNDING, SCORE = 7, 8, 10, 11, 12


def mix(*words: Any) -> Words:
    """Hash words (integers or uint64 arrays that broadcast together) into uint64.

    >>> int(mix(7, 1, 2)) == int(mix(7, 1, 2)), int(mix(7, 1, 2)) == int(mix(7, 2, 1))
    (True, False)
    """
    if not any(isinstance(word, np.ndarray) for word in words):
        return cast(Words, np.uint64(mixed_words(words)))
    state: Words = np.zeros(1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for word in words:
            state = next_state(state, np.asarray(word).astype(np.uint64))
    return state if any(np.ndim(word) for word in words) else state[0]


def tree_keys(seeds: NDArray[np.int64]) -> Words:
    """Return the keys of roots whose trees have these seeds, (T,)."""
    return mix(TREE, seeds)


def child_key(parent: Words, child: NDArray[np.int64]) -> Words:
    """Return the keys of children from their parents' keys: a node's key is its path."""
    return mix(parent, child)


def uniform(*words: Any) -> NDArray[np.float64]:
    """Return numbers in [0, 1) with 53 random bits, from the same words as `mix`."""
    numbers: NDArray[np.float64] = share(mix(*words))
    return numbers


def nearly_normal(*words: Any) -> NDArray[np.float64]:
    """Return numbers with mean 0 and variance 1, from the same words as `mix`; see `bell`."""
    with np.errstate(over="ignore"):
        numbers: NDArray[np.float64] = bell(np.atleast_1d(mix(*words)))
    return numbers


def sample_rows(n_rows: int, size: int) -> NDArray[np.int64]:
    """Return about `size` of the row numbers 0 … n_rows − 1, ascending, chosen by their hash.

    Whether a row is chosen depends on its number and `n_rows` alone, so that parts of a table
    choose the same rows as the whole.
    """
    if n_rows <= size:
        return np.arange(n_rows)
    limit = np.uint64(int(size / n_rows * 2.0**64))
    chosen: NDArray[np.int64] = np.flatnonzero(mix(ROW_SAMPLE, np.arange(n_rows)) < limit)
    return chosen
