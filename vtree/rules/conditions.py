"""Conditions and rules as arrays, and the rules that stand at the leaves of a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.tree import THRESHOLD, Tree, parents

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

UP_TO, ABOVE, EQUALS = 0, 1, 2


class Conditions(NamedTuple):
    """C conditions on a row's values; a missing value meets none."""

    feature: Integers  # (C,)
    kind: Integers  # (C,) UP_TO: x <= value, ABOVE: x > value, EQUALS: x is level number `value`
    value: Floats  # (C,)


class Rules(NamedTuple):
    """R rules: all conditions of a rule together tell its class."""

    conditions: Conditions  # rule after rule
    start: Integers  # (R + 1,) rule r has the conditions start[r] : start[r + 1]
    label: Integers  # (R,) class number
    error: Floats  # (R,) the share of wrong answers to expect

    def of(self, rule: int) -> Conditions:
        """Return the conditions of one rule."""
        own = slice(int(self.start[rule]), int(self.start[rule + 1]))
        whole = self.conditions
        return Conditions(whole.feature[own], whole.kind[own], whole.value[own])

    def taken(self, rules: Integers) -> Rules:
        """Return some rules, in the order asked for."""
        return joined([self.of(r) for r in rules.tolist()], self.label[rules], self.error[rules])


def joined(conditions: list[Conditions], label: Integers, error: Floats) -> Rules:
    """Return rules from their conditions, rule by rule."""
    sizes = [own.feature.size for own in conditions]
    whole = np.empty(0, dtype=np.int64)
    return Rules(
        Conditions(
            np.concatenate([whole, *(own.feature for own in conditions)]),
            np.concatenate([whole, *(own.kind for own in conditions)]),
            np.concatenate([np.empty(0), *(own.value for own in conditions)]),
        ),
        np.cumsum([0, *sizes]),
        label,
        error,
    )


def holds(conditions: Conditions, values: Floats) -> Booleans:
    """Return which rows of values (N, F) meet each condition, (N, C)."""
    met = np.empty((values.shape[0], conditions.feature.size), dtype=np.bool_)
    for c in range(conditions.feature.size):
        x, value = values[:, conditions.feature[c]], conditions.value[c]
        kind = conditions.kind[c]
        met[:, c] = x <= value if kind == UP_TO else x > value if kind == ABOVE else x == value
    return met


def fires(rules: Rules, values: Floats) -> Booleans:
    """Return which rows of values (N, F) meet all conditions of each rule, (N, R)."""
    met = holds(rules.conditions, values)
    found = np.ones((values.shape[0], rules.label.size), dtype=np.bool_)
    for rule in range(rules.label.size):
        found[:, rule] = met[:, rules.start[rule] : rules.start[rule + 1]].all(axis=1)
    return found


def path_rules(tree: Tree, least_weight: float = 1.0) -> Rules:
    """Return a rule for each leaf of some weight: the conditions on the way to it, its class.

    Leaves come in the order of a walk that takes the branches of each node from first to last.
    """
    parent = parents(tree)
    found, labels = [], []
    for leaf in _walk(tree):
        if tree.weight[leaf] < least_weight:
            continue
        path, node = [], leaf
        while parent[node] >= 0:
            path.append(_condition(tree, int(parent[node]), node))
            node = int(parent[node])
        feature, kind, value = zip(*reversed(path), strict=True) if path else ((), (), ())
        found.append(Conditions(np.array(feature, dtype=np.int64), np.array(kind, dtype=np.int64),
                                np.array(value, dtype=np.float64)))  # fmt: skip
        labels.append(int(tree.value[leaf].argmax()))
    return joined(found, np.array(labels, dtype=np.int64), np.zeros(len(labels)))


def _walk(tree: Tree) -> list[int]:
    """Return the leaves from the first branch to the last."""
    leaves, waiting = [], [int(tree.root[0])]
    while waiting:
        node = waiting.pop()
        first = int(tree.first_child[node])
        if first < 0:
            leaves.append(node)
        else:
            waiting.extend(range(first + int(tree.n_children[node]) - 1, first - 1, -1))
    return leaves


def _condition(tree: Tree, node: int, child: int) -> tuple[int, int, float]:
    """Return (feature, kind, value) of the branch from `node` to `child`."""
    place = child - int(tree.first_child[node])
    feature = int(tree.feature[node])
    if tree.kind[node] == THRESHOLD:
        return feature, (UP_TO, ABOVE)[place], float(tree.threshold[node])
    levels = tree.branch_map[int(tree.map_offset[node]) + 1 :]
    return feature, EQUALS, float(np.flatnonzero(levels == place)[0])
