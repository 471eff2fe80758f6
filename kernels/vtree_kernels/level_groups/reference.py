"""The definition of `level_groups`: one problem after another, all pairs of a round at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.entropy_cuts.reference import SLACK, x_log_x
from vtree_kernels.entropy_cuts.reference import information as planes_information

Floats = NDArray[np.float64]

EPSILON = 1e-3  # C4.5's for gains
RISE = 1e-5  # of the worth that a merger must bring
TIE = 1e-9  # worths that differ by rounding
RARE = 0.5  # levels of no more weight stay out


class LevelGroups(NamedTuple):
    """The groups of each problem, and what a split into them gains."""

    group: Any  # (P, V)
    count: Any  # (P,)
    gain: Any
    info: Any


class _Sums(NamedTuple):
    """What all groupings of a problem share."""

    base: Any  # T of the known classes
    known: Any
    missing: Any
    whole: Any


def information(classes: Any) -> Any:
    """Return T of class weights (..., K)."""
    return planes_information([classes[..., k] for k in range(classes.shape[-1])])


def level_groups(
    classes: Floats, missing: Floats, min_weight: float, by_ratio: bool
) -> LevelGroups:
    """Return what `LevelGroups` holds; see the package for the contract."""
    n, n_levels = classes.shape[:2]
    found = LevelGroups(
        np.zeros((n, n_levels), dtype=np.int32), np.zeros(n, dtype=np.int64), np.full(n, -np.inf),
        np.zeros(n),
    )  # fmt: skip
    for p in range(n):
        known = classes[p].sum()
        if known > 0.0:
            _Grouping(classes[p], missing[p], min_weight * SLACK, by_ratio).write(found, p)
    return found


class _Grouping:
    """One problem while its levels merge."""

    def __init__(self, classes: Floats, missing: Any, least: float, by_ratio: bool) -> None:
        self.least, self.by_ratio = least, by_ratio
        known = classes.sum()
        self.sums = _Sums(information(classes.sum(axis=0)), known, missing, missing + known)
        self.rare = classes.sum(axis=1) <= RARE
        self.group = np.where(self.rare, -1, np.cumsum(~self.rare) - 1)
        self.classes = classes  # of the groups
        self.gain, self.info = self._judge(classes, SLACK)
        self.classes = classes[~self.rare]

    def write(self, found: LevelGroups, p: int) -> None:
        """Merge, and note the outcome of problem p."""
        if self._join_pure():
            self.gain, self.info = self._judge(self.classes, SLACK)
        self.value = float(self._worth(np.asarray([self.gain]), np.asarray([self.info]))[0])
        half = self.gain / 2.0
        while len(self.classes) > 2 and self._join_best(half):
            pass
        count = len(self.classes)
        found.group[p] = np.where(self.rare, count, self.group)
        found.count[p] = count + self.rare.any()
        found.info[p] = self.info
        gain, _ = self._judge(self.classes, self.least)
        if self.value > 0.0 and gain > -EPSILON:
            found.gain[p] = gain

    def _judge(self, classes: Floats, least: float) -> tuple[float, float]:
        sizes = classes.sum(axis=1)
        below, logs = 0.0, x_log_x(np.asarray([self.sums.missing]))[0]
        for own, size in zip(information(classes), x_log_x(sizes), strict=True):
            below, logs = below + own, logs + size
        total = np.asarray([self.sums.missing + sizes.sum()])
        info = (x_log_x(total)[0] - logs) / self.sums.whole
        return float(self._gain(below, (sizes >= least).sum())), float(info)

    def _gain(self, below: Any, filled: Any) -> Any:
        base, known, _, whole = self.sums
        return np.where(filled >= 2, known / whole * ((base - below) / known), -EPSILON)

    def _worth(self, gain: Floats, info: Floats) -> Floats:
        if not self.by_ratio:
            return np.where((info > 0.0) & (gain > -EPSILON), gain, -EPSILON)
        passes = (gain >= EPSILON) & (info > EPSILON)
        return np.where(passes, gain / np.where(passes, info, 1.0), -EPSILON)

    def _join(self, first: int, second: int) -> None:
        last = len(self.classes) - 1
        classes = self.classes.copy()
        classes[first] += classes[second]
        classes[second] = classes[last]
        self.classes = classes[:last]
        self.group[self.group == second] = first
        self.group[self.group == last] = second if second != last else first

    def _join_pure(self) -> bool:
        before, first = len(self.classes), 0
        while first < len(self.classes) - 1:
            own = np.flatnonzero(self.classes[first])
            second = first + 1
            while own.size == 1 and second < len(self.classes):
                theirs = np.flatnonzero(self.classes[second])
                if theirs.size == 1 and theirs[0] == own[0]:
                    self._join(first, second)
                else:
                    second += 1
            first += 1
        return len(self.classes) < before

    def _join_best(self, half: float) -> bool:
        """Join the best pair; return whether there is one."""
        sizes = self.classes.sum(axis=1)
        filled = int((sizes >= self.least).sum())
        barred = int(np.argmax(sizes)) if filled < 3 else -1
        first, second = np.triu_indices(sizes.size, 1)
        open_pairs = (first != barred) & (second != barred)
        first, second = first[open_pairs], second[open_pairs]
        gain, info = self._judge_pairs(sizes, first, second)
        value = self._worth(gain, info)
        best, best_value, best_gain = -1, 0.0, -EPSILON
        forced = not self.by_ratio or filled < 2
        for pair in range(first.size):
            keeps_half = gain[pair] >= half > best_gain
            if keeps_half or value[pair] >= best_value - TIE or (best < 0 and forced):
                best, best_value, best_gain = pair, value[pair], gain[pair]
        if not forced and (best < 0 or best_value < self.value + RISE):
            return False
        self.gain, self.info, self.value = best_gain, float(info[best]), float(best_value)
        self._join(int(first[best]), int(second[best]))
        return True

    def _judge_pairs(self, sizes: Floats, first: Any, second: Any) -> tuple[Floats, Floats]:
        each, logs = information(self.classes), x_log_x(sizes)
        below, all_logs = 0.0, x_log_x(np.asarray([self.sums.missing]))[0]
        for own, log in zip(each, logs, strict=True):
            below, all_logs = below + own, all_logs + log
        joined = information(self.classes[first] + self.classes[second])
        both = sizes[first] + sizes[second]
        large = (sizes >= SLACK).astype(np.int64)
        filled = large.sum() - large[first] - large[second] + (both >= SLACK)
        gain = self._gain(((below - each[first]) - each[second]) + joined, filled)
        total = x_log_x(np.asarray([self.sums.missing + sizes.sum()]))[0]
        own_logs = ((all_logs - logs[first]) - logs[second]) + x_log_x(both)
        return gain, (total - own_logs) / self.sums.whole
