"""Simplification: conditions that a rule does better without (Quinlan 1993, §5.1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vtree.rules.conditions import Conditions, Rules, holds, joined

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

AddedErrors = Callable[[Floats, Floats], Floats]


def simplified(
    rules: Rules, values: Floats, label: Integers, weight: Floats, added: AddedErrors
) -> Rules:
    """Return the rules that are left, without needless conditions, each once.

    A condition goes while some rule without one of them is expected, or was seen, to err no more
    often: then the one without which the least errors are expected, the last on ties. A rule goes
    that has no condition or no row left, or errs as often as a guess at its class.

    Parameters
    ----------
    rules : of one tree
    values : (N, F) training rows, levels by number, NaN for missing
    label : (N,) class numbers
    weight : (N,)
    added : the errors to add to those seen, see `added_errors`
    """
    total = float(weight.sum())
    kept: dict[tuple[int, bytes], int] = {}
    conditions: list[Conditions] = []
    labels: list[int] = []
    errors: list[float] = []
    for rule in range(rules.label.size):
        own = int(rules.label[rule])
        guess = 1.0 - (float(weight[label == own].sum()) + 1.0) / (total + 2.0)
        chosen, error = _simplify(rules.of(rule), values, label != own, weight, guess, added)
        if chosen.feature.size == 0 or error >= guess:
            continue
        key = (own, _sorted_bytes(chosen))
        if key in kept:
            errors[kept[key]] = max(errors[kept[key]], error)
            continue
        kept[key] = len(labels)
        conditions.append(chosen)
        labels.append(own)
        errors.append(error)
    return joined(conditions, np.array(labels, dtype=np.int64), np.array(errors))


def _simplify(
    conditions: Conditions,
    values: Floats,
    wrong: NDArray[np.bool_],
    weight: Floats,
    guess: float,
    added: AddedErrors,
) -> tuple[Conditions, float]:
    """Return (what is left of a rule's conditions, the share of errors to expect)."""
    misses = ~holds(conditions, values)
    # Rows that miss several conditions tell nothing until the others are gone.
    n_misses = misses.sum(axis=1)
    left = np.arange(conditions.feature.size)
    while True:
        single = n_misses <= 1
        missed = misses[single][:, left]
        # the one condition that a row misses, or the place behind the last for none
        place = np.concatenate([missed, np.ones((missed.shape[0], 1), dtype=np.bool_)], axis=1)
        tally = _Tally(place.argmax(axis=1), weight[single], wrong[single], left.size)
        expected, seen = tally.shares(guess, added)
        goes = (expected[:-1] <= expected[-1]) | (seen[:-1] <= seen[-1])
        if not goes.any():
            error = float(expected[-1]) if tally.covered[-1] > 0.0 else np.inf
            whole = conditions
            return Conditions(whole.feature[left], whole.kind[left], whole.value[left]), error
        least = int(np.flatnonzero(expected[:-1] == expected[:-1].min())[-1])
        n_misses = n_misses - misses[:, left[least]]
        left = np.delete(left, least)


class _Tally:
    """Rows that a rule covers, without each of its conditions and, last, with all of them."""

    def __init__(
        self, place: Integers, weight: Floats, wrong: NDArray[np.bool_], n_conditions: int
    ) -> None:
        size = n_conditions + 1
        self.covered: Floats = np.bincount(place, weight, size).astype(np.float64)
        self.failed: Floats = np.bincount(place, weight * wrong, size).astype(np.float64)
        self.covered[:-1] += self.covered[-1]
        self.failed[:-1] += self.failed[-1]

    def shares(self, guess: float, added: AddedErrors) -> tuple[Floats, Floats]:
        """Return (expected, seen) shares of errors, each (conditions + 1,)."""
        some = self.covered > 0.0
        whole = np.where(some, self.covered, 1.0)
        expected = (self.failed + added(self.covered, self.failed)) / whole
        return np.where(some, expected, guess), np.where(some, self.failed / whole, 0.0)


def _sorted_bytes(conditions: Conditions) -> bytes:
    """Return the conditions as bytes, in an order of their own."""
    order = np.lexsort((conditions.value, conditions.kind, conditions.feature))
    return b"".join(field[order].tobytes() for field in conditions)
