"""Merging: levels that answer alike become groups, for many predictors in many nodes at once.

One problem is one predictor in one node: its levels that have rows there, in order, the missing
category last. A round joins the most similar pair of groups in every problem that goes on:

    levels 0 1 2 3 4   closest pair 1-2   →   0 1 1 3 4   closest pair 3-4   →   0 1 1 3 3

A group is known by its smallest level. Each group remembers its best partner among the groups
behind it, so that a round looks anew only at pairs with what has changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.chaid.association import AssociationTest
from vtree.chaid.resplitting import best_halves

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# More groups than children that a node can have are merged on, whatever their p-value.
MOST_GROUPS = 256
_CELLS = 1 << 20  # pairs of groups looked at together
_LEAST = -np.finfo(np.float64).max  # log p of a pair with p = 0; −∞ stands for "no pair"


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


class Groups(NamedTuple):
    """The groups of P problems."""

    label: Integers  # (P, G) smallest level of each level's group
    alive: Mask  # (P, G) which levels name a group


def part_of(problems: Problems, groups: Groups, own: Integers) -> tuple[Problems, Groups]:
    """Return copies of some of the problems and their groups."""
    parts: Any = ([field[own] for field in each] for each in (problems, groups))
    some, theirs = parts
    return Problems(*some), Groups(*theirs)


class _State(NamedTuple):
    """What a round reads and changes."""

    stats: Floats  # (P, G, T) of the groups
    label: Integers
    alive: Mask
    floating: Integers  # (P,) place of the floating category while it is on its own, or −1
    closest: Floats  # (P, G) log p of the best pair with a later group, −∞: none
    partner: Integers  # (P, G) that group


class _Stages(NamedTuple):
    """The best grouping so far, by the p-value of the whole table."""

    log_p: Floats  # (P,)
    label: Integers
    alive: Mask


def merge_levels(problems: Problems, test: AssociationTest, rules: Rules) -> Groups:
    """Merge the levels of all problems while their closest groups are alike.

    Groups that end too small are left to `absorb_small`, late floating categories out. Of equally
    similar pairs the first in the order (i, j) merges.
    """
    groups = _apart(problems, rules.late)
    state = _state(problems, groups, test)
    every = np.arange(problems.n_levels.size)
    _look(problems, state, state.alive, every, test)
    stages = _Stages(np.full(every.size, np.inf), state.label.copy(), state.alive.copy())
    _keep_best(state, stages, every, test, rules)
    splits_left = problems.n_levels.copy()  # a bound, should merging and splitting take turns
    active = every
    while (active := active[state.alive[active].sum(axis=1) > 2]).size:
        first = np.argmax(state.closest[active], axis=1)
        alike = state.closest[active, first] > rules.log_alpha_merge
        go = alike | _must_merge(problems, state, active, test, rules)
        active, first, alike = active[go], first[go], alike[go]
        stale = _join(state, active, first, state.partner[active, first], test)
        if rules.log_alpha_resplit is not None:
            own = np.flatnonzero(alike & (splits_left[active] > 0))
            again = own[_resplit(problems, state, active[own], first[own], test, rules)]
            splits_left[active[again]] -= 1
            stale[again] = True
        _refresh(problems, state, active, first, stale, test)
        _keep_best(state, stages, active, test, rules)
    return Groups(stages.label, stages.alive) if rules.exhaustive else Groups(*state[1:3])


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
        _, other = _best_partners(problems, state, active, own, test, later=False)
        _join(state, active, np.minimum(own, other), np.maximum(own, other), test)


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
    _, other = _best_partners(problems, state, every, place, test, later=False)
    _join(state, every, other, place, test)
    return alone, Groups(state.label, state.alive)


def pooled(problems: Problems, groups: Groups, test: AssociationTest) -> Floats:
    """Return the statistics (P, G, T) of the groups, zero where a level names none."""
    stats = np.zeros_like(problems.stats)
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


def _state(problems: Problems, groups: Groups, test: AssociationTest) -> _State:
    every, last = np.arange(problems.n_levels.size), np.maximum(problems.n_levels - 1, 0)
    shape = groups.label.shape
    # A group is known by its smallest level, so the last one names a group only on its own.
    alone = problems.floating & groups.alive[every, last]
    return _State(
        stats=pooled(problems, groups, test),
        label=groups.label.copy(),
        alive=groups.alive.copy(),
        floating=np.where(alone, last, -1),
        closest=np.full(shape, -np.inf),
        partner=np.full(shape, -1),
    )


def _must_merge(
    problems: Problems, state: _State, active: Integers, test: AssociationTest, rules: Rules
) -> Mask:
    """Return which of the `active` problems merge their closest pair whatever its p-value."""
    alive = state.alive[active]
    must = alive.sum(axis=1) > MOST_GROUPS
    if rules.exhaustive:
        must[:] = True
    if rules.small_first:
        small = test.size(state.stats[active]) < problems.least[active, None]
        must |= (small & alive).any(axis=1)
    return np.asarray(must)


def _join(
    state: _State, active: Integers, low: Integers, high: Integers, test: AssociationTest
) -> Mask:
    """Join group `high` to group `low` in each of the `active` problems.

    Returns which groups must look for partners again, (A, G).
    """
    pairs = np.stack([state.stats[active, low], state.stats[active, high]], axis=1)
    state.stats[active, low] = test.pool(pairs, np.ones(pairs.shape[:2], dtype=np.bool_))
    label = state.label[active]
    state.label[active] = np.where(label == high[:, None], low[:, None], label)
    state.alive[active, high] = False
    state.closest[active, high], state.partner[active, high] = -np.inf, -1
    state.floating[active] = np.where(high == state.floating[active], -1, state.floating[active])
    partner = state.partner[active]
    stale: Mask = (partner == low[:, None]) | (partner == high[:, None])
    stale[np.arange(active.size), low] = True
    return stale


def _resplit(
    problems: Problems,
    state: _State,
    active: Integers,
    group: Integers,
    test: AssociationTest,
    rules: Rules,
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
        if log_p > float(rules.log_alpha_resplit or 0.0):
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


def _refresh(
    problems: Problems,
    state: _State,
    active: Integers,
    changed: Integers,
    stale: Mask,
    test: AssociationTest,
) -> None:
    """Find partners anew for `stale` groups, and try the `changed` group on those before it."""
    stale &= state.alive[active]
    _look(problems, state, stale, active, test)
    near = _may_pair(problems, state, active, changed) & ~stale
    near &= np.arange(near.shape[1]) < changed[:, None]
    index, group = np.nonzero(near)
    problem, partner = active[index], changed[index]
    log_p = _log_p(state, problem, group, partner, test)
    old = state.closest[problem, group]
    better = (log_p > old) | ((log_p == old) & (partner < state.partner[problem, group]))
    problem, group = problem[better], group[better]
    state.closest[problem, group], state.partner[problem, group] = log_p[better], partner[better]


def _look(
    problems: Problems, state: _State, which: Mask, active: Integers, test: AssociationTest
) -> None:
    """Find the best partners of the groups marked in `which` (A, G) among those behind them."""
    index, group = np.nonzero(which)
    problem = active[index]
    found = _best_partners(problems, state, problem, group, test, later=True)
    state.closest[problem, group], state.partner[problem, group] = found


def _best_partners(
    problems: Problems,
    state: _State,
    problem: Integers,
    group: Integers,
    test: AssociationTest,
    *,
    later: bool,
) -> tuple[Floats, Integers]:
    """Return (log p, partner) of the best pair of each group, the first one of equals."""
    width = state.label.shape[1]
    closest, partner = np.full(group.size, -np.inf), np.full(group.size, -1)
    step = max(1, _CELLS // width)
    for first in range(0, group.size, step):
        own = slice(first, first + step)
        mask = _may_pair(problems, state, problem[own], group[own])
        if later:
            mask &= np.arange(width) > group[own][:, None]
        index, other = np.nonzero(mask)
        log_p = np.full(mask.shape, -np.inf)
        pairs = problem[own][index], group[own][index], other
        log_p[index, other] = _log_p(state, *pairs, test)
        closest[own], best = log_p.max(axis=1), np.argmax(log_p, axis=1)
        partner[own] = np.where(closest[own] > -np.inf, best, -1)
    return closest, partner


def _may_pair(problems: Problems, state: _State, problem: Integers, group: Integers) -> Mask:
    """Return which groups each of K groups may merge with, (K, G)."""
    alive = state.alive[problem]
    place = np.arange(alive.shape[1])
    own, floating = group[:, None], state.floating[problem][:, None]
    line = alive & (place != floating)
    rank = np.cumsum(line, axis=1)
    distance = np.abs(rank - np.take_along_axis(rank, own, axis=1))
    near = (line & (distance == 1)) | (place == floating) | (own == floating)
    allowed: Mask = alive & (place != own) & (near | ~problems.ordinal[problem][:, None])
    return allowed


def _log_p(
    state: _State, problem: Integers, first: Integers, second: Integers, test: AssociationTest
) -> Floats:
    """Return log p of pairs of groups, (E,)."""
    stats = state.stats
    result = np.empty(problem.size)
    step = max(1, 4 * _CELLS // stats.shape[2])
    for begin in range(0, problem.size, step):
        own = slice(begin, begin + step)
        low, high = np.minimum(first[own], second[own]), np.maximum(first[own], second[own])
        pairs = np.stack([stats[problem[own], low], stats[problem[own], high]], axis=1)
        result[own] = test.log_p(pairs, np.ones(pairs.shape[:2], dtype=np.bool_))
    return np.maximum(result, _LEAST)


def _keep_best(
    state: _State, stages: _Stages, active: Integers, test: AssociationTest, rules: Rules
) -> None:
    """Keep the stages with a smaller p-value than any before."""
    if not rules.exhaustive:
        return
    alive = state.alive[active]
    log_p = test.log_p(state.stats[active], alive)
    better = (log_p < stages.log_p[active]) & (alive.sum(axis=1) <= MOST_GROUPS)
    own = active[better]
    stages.log_p[own], stages.label[own], stages.alive[own] = (
        log_p[better],
        state.label[own],
        state.alive[own],
    )
