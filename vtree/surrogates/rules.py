"""`Rules`: for each split node its own test, and the surrogates that stand in for it, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.tree import SUBSET, THRESHOLD, Tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_IN_FILES = "surrogates."
NO_WAY = 255  # in a branch map: a level that the node cannot tell the way of


class Rules(NamedTuple):
    """Q tests of binary splits, sorted by node; a node's first one is its own."""

    node: NDArray[np.int32]  # (Q,)
    feature: NDArray[np.int32]  # (Q,)
    kind: NDArray[np.int8]  # (Q,) THRESHOLD, SUBSET
    bin: NDArray[np.int32]  # (Q,) codes up to this one are low
    threshold: Floats  # (Q,) values up to this one are low
    low_child: NDArray[np.int8]  # (Q,) the child of low values: 0, or 1 for a reversed surrogate
    map_offset: NDArray[np.int64]  # (Q,) start in branch_map, −1: none
    branch_map: NDArray[np.uint8]  # (P,) child of each code, or NO_WAY
    agreement: Floats  # (Q,) share of the rows that it sends where the split does; 1 for its own
    adjusted: Floats  # (Q,) of the rows that the larger side would send wrong, the share put right


def places(rules: Rules, n_nodes: int) -> tuple[Integers, Integers]:
    """Return (first, count) of each node's rules, (M,) each."""
    count = np.bincount(rules.node, minlength=n_nodes).astype(np.int64)
    return np.cumsum(count) - count, count


def child_of(
    rules: Rules, which: Integers, above: NDArray[np.bool_], code: Integers
) -> NDArray[np.int8]:
    """Return the child that rule `which` (R,) sends each row to, or −1 where it cannot tell.

    above (R,): whether the row's value is beyond the rule's threshold; code (R,): 0 where it is
    missing, for categories their code.
    """
    by_map = rules.kind[which] != THRESHOLD
    threshold_child = rules.low_child[which] ^ above
    if not by_map.any():
        return np.where(code == 0, np.int8(-1), threshold_child)
    table = np.append(rules.branch_map, NO_WAY)
    mapped = table[np.where(by_map, rules.map_offset[which] + code, -1)].astype(np.int16)
    child = np.where(by_map, np.where(mapped == NO_WAY, -1, mapped), threshold_child)
    return np.where(code == 0, -1, child).astype(np.int8)


def without_marks(tree: Tree) -> Tree:
    """Return the tree with the branch of missing values for levels marked `NO_WAY`.

    So it stands by itself, for those who know nothing of rules; where missing values stay at the
    node, such levels go to child 0 there.
    """
    mapped = np.flatnonzero(tree.map_offset >= 0)
    length = np.diff(tree.map_offset[mapped], append=tree.branch_map.size)
    instead = np.repeat(np.maximum(tree.missing_child[mapped], 0), length)
    branch_map = np.where(tree.branch_map == NO_WAY, instead, tree.branch_map)
    return tree._replace(branch_map=branch_map.astype(np.uint8))


def joined(parts: list[Rules]) -> Rules:
    """Return the rules of several lists of nodes as those of one."""
    sizes = np.cumsum([0] + [part.branch_map.size for part in parts])
    shifted = [
        part._replace(map_offset=np.where(part.map_offset < 0, -1, part.map_offset + size))
        for part, size in zip(parts, sizes, strict=False)
    ]
    nothing = Rules(*(np.zeros(0, dtype=DTYPES[name]) for name in Rules._fields))
    fields: Any = zip(nothing, *shifted, strict=True)
    return Rules(*map(np.concatenate, fields))


def with_surrogates(
    own: Rules, fields: list[NDArray[Any]], ways: dict[int, NDArray[np.uint8]], n_levels: Integers
) -> Rules:
    """Return the rules of nodes 0, 1, 2, … with their surrogates behind them.

    fields: node, feature, kind, bin, threshold, low_child, agreement, adjusted of the surrogates,
    each (Q,); ways: categorical feature → child of each code in each node, (L, codes);
    n_levels (F,).
    """
    node, feature = fields[0], fields[1]
    maps = [
        ways[f][m, : n_levels[f] + 1] if f in ways else own.branch_map[:0]
        for m, f in zip(node.tolist(), feature.tolist(), strict=True)
    ]
    length = np.array([each.size for each in maps], dtype=np.int64)
    offset = np.where(length > 0, np.cumsum(length) - length, -1)
    parts = dict(zip(_OF_SURROGATES, fields, strict=True))
    parts |= {"map_offset": offset, "branch_map": np.concatenate([own.branch_map[:0], *maps])}
    typed = {name: np.asarray(parts[name], dtype=DTYPES[name]) for name in Rules._fields}
    both = joined([own, Rules(**typed)])
    return renumbered(both, np.argsort(both.node, kind="stable"), np.sort(both.node))


def follow(rules: Rules, tree: Tree, smaller: Tree) -> Rules:
    """Return the rules of the nodes that are still split in a pruned tree, by its numbers.

    tree: whose rules they are; smaller: the top of each of its trees, in their order.
    """
    was = counterpart(tree, smaller)
    number = np.full(tree.first_child.size, -1, dtype=np.int64)
    number[was] = np.where(smaller.first_child >= 0, np.arange(was.size), -1)
    kept = np.flatnonzero(number[rules.node] >= 0)
    kept = kept[np.argsort(number[rules.node[kept]], kind="stable")]
    return renumbered(rules, kept, number[rules.node[kept]])


def counterpart(tree: Tree, smaller: Tree) -> Integers:
    """Return the node of `tree` that each node of its top is, (M,)."""
    was = np.zeros(smaller.feature.size, dtype=np.int64)
    was[smaller.root] = tree.root
    nodes = smaller.root.astype(np.int64)
    while nodes.size:
        inner = nodes[smaller.first_child[nodes] >= 0]
        count = smaller.n_children[inner].astype(np.int64)
        offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        nodes = np.repeat(smaller.first_child[inner].astype(np.int64), count) + offset
        was[nodes] = np.repeat(tree.first_child[was[inner]].astype(np.int64), count) + offset
    return was


def renumbered(rules: Rules, kept: Integers, node: Integers) -> Rules:
    """Return the rules `kept` in this order, as those of other nodes; their maps back to back."""
    mapped = rules.map_offset >= 0  # maps lie back to back, in the order of the rules
    length = np.zeros(rules.node.size, dtype=np.int64)
    length[mapped] = np.diff(rules.map_offset[mapped], append=rules.branch_map.size)
    own = length[kept]
    before = np.cumsum(own) - own
    within = np.arange(own.sum()) - np.repeat(before, own)
    branch_map = rules.branch_map[np.repeat(rules.map_offset[kept], own) + within]
    taken: Any = {name: array[kept] for name, array in rules._asdict().items() if name not in _MAPS}
    taken["node"] = node.astype(np.int32)
    offset = np.where(mapped[kept], before, -1)
    return Rules(**taken, map_offset=offset, branch_map=branch_map)


_MAPS = ("map_offset", "branch_map")
_OF_SURROGATES = (
    "node",
    "feature",
    "kind",
    "bin",
    "threshold",
    "low_child",
    "agreement",
    "adjusted",
)


def fingerprint(rules: Rules) -> str:
    """Return the SHA-256 of the arrays, in hex."""
    sha = hashlib.sha256()
    for name, array in rules._asdict().items():
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        sha.update(f"{name} {little.dtype.str} {little.shape};".encode())
        sha.update(little.tobytes())
    return sha.hexdigest()


DTYPES: dict[str, type[np.generic]] = {
    "node": np.int32,
    "feature": np.int32,
    "kind": np.int8,
    "bin": np.int32,
    "threshold": np.float64,
    "low_child": np.int8,
    "map_offset": np.int64,
    "branch_map": np.uint8,
    "agreement": np.float64,
    "adjusted": np.float64,
}


def as_arrays(rules: Rules) -> dict[str, NDArray[Any]]:
    """Return the arrays by the names that they have in a file."""
    return {f"{_IN_FILES}{name}": array for name, array in rules._asdict().items()}


def from_arrays(arrays: dict[str, NDArray[Any]], tree: Tree, n_levels: Integers) -> Rules | None:
    """Return the rules that a file holds, None where it holds none.

    Raises
    ------
    ValueError
        Other arrays than `as_arrays` returns, or such as do not fit the tree.
    """
    held = {name.removeprefix(_IN_FILES): array for name, array in arrays.items()}
    if not held:
        return None
    if held.keys() != set(Rules._fields):
        raise ValueError(f"it holds {sorted(held)[:20]} beside its tree")
    rules = Rules(**held)
    fault = fault_of_rules(rules, tree, n_levels)
    if fault is not None:
        raise ValueError(f"of its surrogates, {fault}")
    return rules


def fault_of_rules(rules: Rules, tree: Tree, n_levels: Integers) -> str | None:
    """Say what is wrong with rules that a file holds, or None; the tree has been checked.

    n_levels (F,): of each categorical feature, −1 for numeric ones.
    """
    for name, array in rules._asdict().items():
        if array.dtype != np.dtype(DTYPES[name]) or array.ndim != 1:
            return f"{name} is an array of {np.dtype(DTYPES[name])} with one axis"
        if name != "branch_map" and array.size != rules.node.size:
            return f"{name} has {array.size:,} rules and node has {rules.node.size:,}"
    # In this order: each relies on what those before it have found to hold.
    for check in (_of_nodes, _of_tests):
        fault = next((rule for holds, rule in check(rules, tree, n_levels) if not holds), None)
        if fault is not None:
            return fault
    return None


def _of_nodes(rules: Rules, tree: Tree, n_levels: Integers) -> Iterator[tuple[bool, str]]:
    split = np.flatnonzero(tree.first_child >= 0)
    first = np.flatnonzero(np.diff(rules.node, prepend=-1) != 0)
    yield bool((tree.n_children[split] == 2).all()), "splits with surrogates have two children"
    ascending = bool((rules.node[1:] >= rules.node[:-1]).all())
    numbered = ascending and np.array_equal(rules.node[first], split)
    yield numbered, "node numbers the splits of the tree, ascending"
    own = np.array_equal(rules.feature[first], tree.feature[split])
    yield own, "the first rule of a node asks for its own feature"
    inside = (rules.feature >= 0) & (rules.feature < n_levels.size)
    yield bool(inside.all()), f"feature is below {n_levels.size:,}"


def _of_tests(rules: Rules, tree: Tree, n_levels: Integers) -> Iterator[tuple[bool, str]]:
    levels = n_levels[rules.feature]
    kinds = np.array_equal(rules.kind, np.where(levels < 0, THRESHOLD, SUBSET))
    yield kinds, "kind is 1 for categories and 0 for numbers"
    yield not np.isnan(rules.threshold).any(), "threshold is a number"
    yield bool(np.isin(rules.low_child, [0, 1]).all()), "low_child is 0 or 1"
    length = np.where(levels < 0, 0, levels + 1)
    offset = np.where(levels < 0, -1, np.cumsum(length) - length)
    packed = np.array_equal(rules.map_offset, offset) and rules.branch_map.size == length.sum()
    yield packed, "branch maps lie back to back"
    yield bool(np.isin(rules.branch_map, [0, 1, NO_WAY]).all()), f"branch_map is 0, 1 or {NO_WAY}"
    shares = np.concatenate([rules.agreement, rules.adjusted])
    yield bool(((shares >= 0.0) & (shares <= 1.0)).all()), "agreement and adjusted are shares"
