"""Merging: levels that answer alike become groups, for many predictors in many nodes at once.

One problem is one predictor in one node: its levels that have rows there, in order, the missing
category last. What a round does is said in `vtree_kernels.merging`; here stands what comes before
and after: late missing categories, groups that are cut in two again, and groups too small.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.chaid.association import AssociationTest
from vtree.chaid.resplitting import best_halves
from vtree_kernels.merging import (
    Groups,
    Rule,
    State,
    best_partners,
    join,
    merging,
    new_state,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# More groups than children that a node can have are merged on, whatever their p-value.
MOST_GROUPS = 256


class Problems(NamedTuple):
    """P problems, padded to G levels."""

    stats: Floats  # (P, G, T) of each level, see `vtree.chaid.association`
    n_levels: Integers  # (P,) levels with rows, the missing category included
    ordinal: Mask  # (P,) only neighbours merge
    floating: Mask  # (P,) ordinal with a missing category, which may merge with any group
    least: Floats  # (P,) the weight that a group must have


class Rules(NamedTuple):
    """When pairs merge and groups split again."""

    log_alpha_merge: float
    log_alpha_resplit: float | None = None  # None: groups stay together
    exhaustive: bool = False  # merge down to two groups and keep the best stage
    small_first: bool = False  # merge on while a group is small; otherwise small ones come after
    late: bool = False  # floating categories find their group after all others


def part_of(problems: Problems, groups: Groups, own: Integers) -> tuple[Problems, Groups]:
    """Return copies of some of the problems and their groups."""
    parts: Any = ([field[own] for field in each] for each in (problems, groups))
    some, theirs = parts
    return Problems(*some), Groups(*theirs)


def merge_levels(problems: Problems, test: AssociationTest, rules: Rules) -> Groups:
    """Merge the levels of all problems while their closest groups are alike.

    Groups that end too small are left to `absorb_small`, late floating categories out. Of equally
    similar pairs the first in the order (i, j) merges.
    """
    groups = _apart(problems, rules.late)
    resplit = None
    if rules.log_alpha_resplit is not None:
        resplit = partial(_resplit, problems, test, rules.log_alpha_resplit)
    return merging(
        problems.stats,
        groups.alive,
        _floating(problems, groups),
        problems.ordinal,
        problems.least,
        Rule(rules.log_alpha_merge, MOST_GROUPS, rules.exhaustive, rules.small_first),
        test,
        resplit,
    )


def absorb_small(problems: Problems, groups: Groups, test: AssociationTest) -> Groups:
    """Merge each group that is too small with its most similar one, the smallest first."""
    state = _state(problems, groups, test)
    every = np.arange(problems.n_levels.size)
    while True:
        size = np.where(state.alive, test.size(state.stats), np.inf)
        smallest = np.argmin(size, axis=1)
        small = size[every, smallest] < problems.least
        active = np.flatnonzero(small & (state.alive.sum(axis=1) > 1))
        if not active.size:
            return Groups(state.label, state.alive)
        own = smallest[active]
        _, other = best_partners(state, active, own, test, later=False)
        join(state, active, np.minimum(own, other), np.maximum(own, other), test)


def place_missing(
    problems: Problems, groups: Groups, test: AssociationTest
) -> tuple[Groups, Groups]:
    """Return (groups with late missing categories on their own, with each in its closest group).

    All problems must be floating, their missing category in no group yet.
    """
    every = np.arange(problems.n_levels.size)
    place = problems.n_levels - 1
    alone = Groups(groups.label.copy(), groups.alive.copy())
    alone.alive[every, place] = True
    state = _state(problems, alone, test)
    _, other = best_partners(state, every, place, test, later=False)
    join(state, every, other, place, test)
    return alone, Groups(state.label, state.alive)


def pooled(problems: Problems, groups: Groups, test: AssociationTest) -> Floats:
    """Return the statistics (P, G, T) of the groups, zero where a level names none."""
    stats = np.zeros_like(problems.stats)
    if test.adds:
        every = np.arange(len(stats))[:, None]
        taken = groups.alive[every, groups.label][..., None]
        np.add.at(stats, (every, groups.label), np.where(taken, problems.stats, 0.0))
        return stats
    for group in range(stats.shape[1]):
        own = np.flatnonzero(groups.alive[:, group])
        stats[own, group] = test.pool(problems.stats[own], groups.label[own] == group)
    return stats


def _apart(problems: Problems, late: bool) -> Groups:
    """Return each level as a group of its own, late missing categories as none."""
    n_problems, n_levels = problems.stats.shape[:2]
    place = np.arange(n_levels)
    last = problems.n_levels - (problems.floating & late)
    return Groups(np.tile(place, (n_problems, 1)), place < last[:, None])


def _floating(problems: Problems, groups: Groups) -> Integers:
    """Return the place of each floating category while it is on its own, or −1."""
    every, last = np.arange(problems.n_levels.size), np.maximum(problems.n_levels - 1, 0)
    # A group is known by its smallest level, so the last one names a group only on its own.
    alone = problems.floating & groups.alive[every, last]
    return np.where(alone, last, -1)


def _state(problems: Problems, groups: Groups, test: AssociationTest) -> State:
    stats = pooled(problems, groups, test)
    return new_state(stats, groups, _floating(problems, groups), problems.ordinal)


def _resplit(
    problems: Problems,
    test: AssociationTest,
    log_alpha: float,
    state: State,
    active: Integers,
    group: Integers,
) -> Integers:
    """Cut the new groups that are two at alpha_resplit; return which of `active` were cut."""
    cut = []
    for index, (problem, own) in enumerate(zip(active.tolist(), group.tolist(), strict=True)):
        members = np.flatnonzero(state.label[problem] == own)
        if members.size < 3:
            continue
        last = int(problems.n_levels[problem]) - 1
        floating = bool(problems.floating[problem]) and members[-1] == last
        stats = problems.stats[problem, members]
        log_p, mask = best_halves(stats, bool(problems.ordinal[problem]), floating, test)
        if log_p > log_alpha:
            continue
        cut.append(index)
        for half in (mask, ~mask):
            name = members[half][0]
            state.label[problem, members[half]] = name
            state.alive[problem, name] = True
            state.stats[problem, name] = test.pool(stats[None], half[None])[0]
            if floating and name == last:
                state.floating[problem] = last
    return np.asarray(cut, dtype=np.int64)
