"""The definition of `merging`: a round joins one pair in every problem that goes on.

    levels 0 1 2 3 4   closest pair 1-2   →   0 1 1 3 4   closest pair 3-4   →   0 1 1 3 3

Each group remembers its best partner among the groups behind it, so that a round looks anew only
at pairs with what has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

CELLS = 1 << 20  # pairs of groups looked at together
# Of tails of distributions, see `vtree.chaid.tails`:
TINY = 1e-290  # below, tails lose digits and then vanish
STEPS = 400  # far more than any fraction took: at most 60 over df up to 1e5 and F up to 1e6
ENOUGH = 1e-15
SMALL = 1e-300  # stands for a zero that Lentz's method would divide by

LEAST = -float(np.finfo(np.float64).max)  # log p of a pair with p = 0; −∞ stands for "no pair"


class Rule(NamedTuple):
    """When pairs merge."""

    log_alpha: float
    most_groups: int  # more than these merge on, whatever their p-value
    exhaustive: bool = False  # merge down to two groups and keep the best stage
    small_first: bool = False  # merge on while a group is small


class Groups(NamedTuple):
    """The groups of P problems."""

    label: Integers  # (P, G) smallest level of each level's group
    alive: Mask  # (P, G) which levels name a group


class State(NamedTuple):
    """What a round reads and changes."""

    stats: Floats  # (P, G, T) of the groups
    label: Integers
    alive: Mask
    floating: Integers  # (P,) place of the floating category while it is on its own, or −1
    ordinal: Mask  # (P,)
    closest: Floats  # (P, G) log p of the best pair with a later group, −∞: none
    partner: Integers  # (P, G) that group


class _Stages(NamedTuple):
    """The best grouping so far, by the p-value of the whole table."""

    log_p: Floats  # (P,)
    label: Integers
    alive: Mask


# resplit(state, active (A,), group (A,)) → which of `active` had their new group cut in two
Resplit = Callable[[State, Integers, Integers], Integers]


def merging(
    stats: Floats,
    alive: Mask,
    floating: Integers,
    ordinal: Mask,
    least: Floats,
    rule: Rule,
    test: Any,
    resplit: Resplit | None = None,
) -> Groups:
    """Return the groups of all problems; see the package for the contract."""
    apart = np.tile(np.arange(stats.shape[1]), (stats.shape[0], 1))
    state = new_state(
        np.where(alive[..., None], stats, 0.0), Groups(apart, alive), floating, ordinal
    )
    every = np.arange(stats.shape[0])
    _look(state, state.alive, every, test)
    stages = _Stages(np.full(every.size, np.inf), state.label.copy(), state.alive.copy())
    _keep_best(state, stages, every, test, rule)
    splits_left = state.alive.sum(axis=1)  # a bound, should merging and splitting take turns
    active = every
    while (active := active[state.alive[active].sum(axis=1) > 2]).size:
        first = np.argmax(state.closest[active], axis=1)
        alike = state.closest[active, first] > rule.log_alpha
        go = alike | _must_merge(state, active, least, test, rule)
        active, first, alike = active[go], first[go], alike[go]
        stale = join(state, active, first, state.partner[active, first], test)
        if resplit is not None:
            own = np.flatnonzero(alike & (splits_left[active] > 0))
            again = own[resplit(state, active[own], first[own])]
            splits_left[active[again]] -= 1
            stale[again] = True
        _refresh(state, active, first, stale, test)
        _keep_best(state, stages, active, test, rule)
    return Groups(*stages[1:]) if rule.exhaustive else Groups(state.label, state.alive)


def new_state(stats: Floats, groups: Groups, floating: Integers, ordinal: Mask) -> State:
    """Return the state of `groups` with statistics (P, G, T), no partners known yet."""
    shape = groups.label.shape
    return State(
        stats=stats,
        label=groups.label.copy(),
        alive=groups.alive.copy(),
        floating=floating.copy(),
        ordinal=ordinal,
        closest=np.full(shape, -np.inf),
        partner=np.full(shape, -1),
    )


def _must_merge(state: State, active: Integers, least: Floats, test: Any, rule: Rule) -> Mask:
    """Return which of the `active` problems merge their closest pair whatever its p-value."""
    alive = state.alive[active]
    must = alive.sum(axis=1) > rule.most_groups
    if rule.exhaustive:
        must[:] = True
    if rule.small_first:
        small = test.size(state.stats[active]) < least[active, None]
        must |= (small & alive).any(axis=1)
    return np.asarray(must)


def join(state: State, active: Integers, low: Integers, high: Integers, test: Any) -> Mask:
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


def _refresh(state: State, active: Integers, changed: Integers, stale: Mask, test: Any) -> None:
    """Find partners anew for `stale` groups, and try the `changed` group on those before it."""
    stale &= state.alive[active]
    _look(state, stale, active, test)
    near = _may_pair(state, active, changed) & ~stale
    near &= np.arange(near.shape[1]) < changed[:, None]
    index, group = np.nonzero(near)
    problem, partner = active[index], changed[index]
    log_p = _log_p(state, problem, group, partner, test)
    old = state.closest[problem, group]
    better = (log_p > old) | ((log_p == old) & (partner < state.partner[problem, group]))
    problem, group = problem[better], group[better]
    state.closest[problem, group], state.partner[problem, group] = log_p[better], partner[better]


def _look(state: State, which: Mask, active: Integers, test: Any) -> None:
    """Find the best partners of the groups marked in `which` (A, G) among those behind them."""
    index, group = np.nonzero(which)
    problem = active[index]
    found = best_partners(state, problem, group, test, later=True)
    state.closest[problem, group], state.partner[problem, group] = found


def best_partners(
    state: State, problem: Integers, group: Integers, test: Any, *, later: bool
) -> tuple[Floats, Integers]:
    """Return (log p, partner) of the best pair of each group, the first one of equals.

    later: look among the groups behind each group only.
    """
    width = state.label.shape[1]
    closest, partner = np.full(group.size, -np.inf), np.full(group.size, -1)
    step = max(1, CELLS // width)
    for first in range(0, group.size, step):
        own = slice(first, first + step)
        mask = _may_pair(state, problem[own], group[own])
        if later:
            mask &= np.arange(width) > group[own][:, None]
        index, other = np.nonzero(mask)
        log_p = np.full(mask.shape, -np.inf)
        pairs = problem[own][index], group[own][index], other
        log_p[index, other] = _log_p(state, *pairs, test)
        closest[own], best = log_p.max(axis=1), np.argmax(log_p, axis=1)
        partner[own] = np.where(closest[own] > -np.inf, best, -1)
    return closest, partner


def _may_pair(state: State, problem: Integers, group: Integers) -> Mask:
    """Return which groups each of K groups may merge with, (K, G)."""
    alive = state.alive[problem]
    place = np.arange(alive.shape[1])
    own, floating = group[:, None], state.floating[problem][:, None]
    line = alive & (place != floating)
    rank = np.cumsum(line, axis=1)
    distance = np.abs(rank - np.take_along_axis(rank, own, axis=1))
    near = (line & (distance == 1)) | (place == floating) | (own == floating)
    allowed: Mask = alive & (place != own) & (near | ~state.ordinal[problem][:, None])
    return allowed


def _log_p(state: State, problem: Integers, first: Integers, second: Integers, test: Any) -> Floats:
    """Return log p of pairs of groups, (E,)."""
    stats = state.stats
    result = np.empty(problem.size)
    step = max(1, 4 * CELLS // stats.shape[2])
    for begin in range(0, problem.size, step):
        own = slice(begin, begin + step)
        low, high = np.minimum(first[own], second[own]), np.maximum(first[own], second[own])
        pairs = np.stack([stats[problem[own], low], stats[problem[own], high]], axis=1)
        result[own] = test.log_p(pairs, np.ones(pairs.shape[:2], dtype=np.bool_))
    return np.maximum(result, LEAST)


def _keep_best(state: State, stages: _Stages, active: Integers, test: Any, rule: Rule) -> None:
    """Keep the stages with a smaller p-value than any before."""
    if not rule.exhaustive:
        return
    alive = state.alive[active]
    log_p = test.log_p(state.stats[active], alive)
    better = (log_p < stages.log_p[active]) & (alive.sum(axis=1) <= rule.most_groups)
    own = active[better]
    stages.log_p[own], stages.label[own], stages.alive[own] = (
        log_p[better],
        state.label[own],
        state.alive[own],
    )
