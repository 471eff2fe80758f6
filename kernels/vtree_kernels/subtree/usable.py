"""Which features may split a node: those it draws, and those that may stand on its path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.mixing import mixed, next_state

Words = NDArray[np.uint64]


def packed_bits(rows: NDArray[np.bool_]) -> Words:
    """Return rows of booleans (L, C) as words of 64 of them."""
    bits = np.zeros((rows.shape[0], -(-rows.shape[1] // 64) * 64), dtype=np.bool_)
    bits[:, : rows.shape[1]] = rows
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


class Usable(NamedTuple):
    """What the features of nodes follow from.

    From all features a level draws counts[0] by its depth, and from these a node counts[1] by its
    key; 0: all of them. A feature is drawn if the word next_state(next_state(state, depth or key),
    number), less its last bit, is among the least; of equal ones that of the lower number.
    It may stand on a path if it is in one of the sets that hold all features above.
    """

    number: Words  # (F,) by which features are drawn, ascending
    counts: tuple[int, int]
    states: tuple[np.uint64, np.uint64]
    sets: Words  # (F, W) bits, 64 a word: the sets that each feature is in; W = 0: no such sets

    def of_node(self, depth: int, key: np.uint64, sets: Words) -> NDArray[np.bool_]:
        """Return the features that may split a node, (F,); sets (W,): those that hold its path."""
        drawn = np.ones(self.number.size, dtype=np.bool_)
        stages = zip(self.counts, self.states, (depth, key), strict=True)
        for count, state, own in stages:
            if count:
                after = np.array([mixed(state, own)])
                word = next_state(after, self.number) >> np.uint64(1)
                order = np.lexsort((word, ~drawn))
                drawn = np.zeros_like(drawn)
                drawn[order[:count]] = True
        if self.sets.shape[1] == 0:
            return drawn
        together: NDArray[np.bool_] = np.any(self.sets & sets, axis=1)
        return drawn & together
