"""From problems to groups with adjusted p-values, which are what predictors compete by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.chaid.association import AssociationTest
from vtree.chaid.merging import (
    Problems,
    Rules,
    absorb_small,
    merge_levels,
    part_of,
    place_missing,
    pooled,
)
from vtree.chaid.multipliers import FLOATING, NOMINAL, ORDINAL, log_multiplier
from vtree_kernels.merging import Groups

Floats = NDArray[np.float64]


class Verdict(NamedTuple):
    """What P problems come to."""

    groups: Groups
    log_p: Floats  # (P,) log of the adjusted p-value, above 0 where the adjustment passes 1


def judge(problems: Problems, test: AssociationTest, rules: Rules, *, bonferroni: bool) -> Verdict:
    """Merge the levels of each problem and adjust the p-value of its table for the search.

    A predictor that comes down to one group, or keeps a group that is too small, has p = 1.
    """
    groups = merge_levels(problems, test, rules)
    if not rules.small_first or rules.exhaustive:
        groups = absorb_small(problems, groups, test)
    log_p = _adjusted(problems, groups, test, rules, bonferroni)
    own = np.flatnonzero(problems.floating) if rules.late else np.empty(0, dtype=np.int64)
    if own.size:
        _settle_missing(problems, groups, log_p, own, test, rules, bonferroni)
    return Verdict(groups, log_p)


def _settle_missing(
    problems: Problems,
    groups: Groups,
    log_p: Floats,
    own: NDArray[np.int64],
    test: AssociationTest,
    rules: Rules,
    bonferroni: bool,
) -> None:
    """Give the missing category its closest group or one of its own, whichever has smaller p."""
    part, groups_of_part = part_of(problems, groups, own)
    alone, within = place_missing(part, groups_of_part, test)
    apart, joined = (_adjusted(part, each, test, rules, bonferroni) for each in (alone, within))
    better = apart < joined
    log_p[own] = np.where(better, apart, joined)
    groups.label[own] = np.where(better[:, None], alone.label, within.label)
    groups.alive[own] = np.where(better[:, None], alone.alive, within.alive)


def _adjusted(
    problems: Problems, groups: Groups, test: AssociationTest, rules: Rules, bonferroni: bool
) -> Floats:
    stats = pooled(problems, groups, test)
    log_p = test.log_p(stats, groups.alive)
    n_groups = groups.alive.sum(axis=1)
    small = ((test.size(stats) < problems.least[:, None]) & groups.alive).any(axis=1)
    void = (n_groups < 2) | small
    if bonferroni:
        kind = np.where(problems.floating, FLOATING, np.where(problems.ordinal, ORDINAL, NOMINAL))
        counted = np.stack([problems.n_levels, np.maximum(n_groups, 2), kind], axis=1)[~void]
        log_p[~void] += [log_multiplier(*row, rules.exhaustive) for row in counted.tolist()]
    log_p[void] = 0.0
    return log_p
