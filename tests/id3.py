"""Multiway trees over category codes, grown by ID3 in plain NumPy, node after node."""

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.tree import MULTIWAY, Tree, canonical


def entropy(codes: NDArray[np.int64]) -> float:
    shares = np.bincount(codes) / max(1, codes.size)
    shares = shares[shares > 0.0]
    return float(-(shares * np.log2(shares)).sum())


def gain(column: NDArray[np.int64], y: NDArray[np.int64]) -> float:
    parts = [y[column == level] for level in np.unique(column)]
    left_over = sum(part.size * entropy(part) for part in parts)
    return entropy(y) - float(left_over) / max(1, y.size)


def id3(X: NDArray[np.int64], n_levels: list[int], y: NDArray[np.int64], n_classes: int) -> Tree:
    """Grow one branch a level; an empty branch answers as its parent, used features are spent."""
    waiting = [(np.arange(len(y)), frozenset(range(len(n_levels))))]
    nodes: list[dict[str, Any]] = [{"value": np.bincount(y, minlength=n_classes) / len(y)}]
    for m in count():
        if m == len(nodes):
            break
        rows, free = waiting[m]
        nodes[m]["n"] = rows.size
        gains = [
            gain(X[rows, f], y[rows]) if f in free and rows.size else 0.0
            for f in range(len(n_levels))
        ]
        best = int(np.argmax(gains)) if gains else 0
        if rows.size == 0 or not gains or gains[best] <= 1e-12:
            continue
        nodes[m] |= {"feature": best, "first": len(nodes)}
        for level in range(n_levels[best]):
            own = rows[X[rows, best] == level]
            share = np.bincount(y[own], minlength=n_classes) / max(1, own.size)
            nodes.append({"value": share if own.size else nodes[m]["value"]})
            waiting.append((own, free - {best}))
    return _as_tree(nodes, n_levels)


def _as_tree(nodes: list[dict[str, Any]], n_levels: list[int]) -> Tree:
    feature = np.array([node.get("feature", -1) for node in nodes], dtype=np.int32)
    split = feature >= 0
    branches = np.where(split, np.array(n_levels)[feature], 0)
    maps = [np.append(0, np.arange(n_levels[f])) for f in feature[split]]
    length = np.where(split, branches + 1, 0)
    zeros = np.zeros(len(nodes))
    return canonical(
        Tree(
            feature=feature,
            kind=np.where(split, MULTIWAY, 0).astype(np.int8),
            bin=zeros.astype(np.int32),
            threshold=zeros,
            first_child=np.array([node.get("first", -1) for node in nodes], dtype=np.int32),
            n_children=branches.astype(np.int32),
            missing_child=np.full(len(nodes), -1, dtype=np.int32),
            map_offset=np.where(split, np.cumsum(length) - length, -1),
            branch_map=np.concatenate([*maps, np.empty(0)]).astype(np.uint8),
            value=np.stack([node["value"] for node in nodes]),
            weight=np.array([node["n"] for node in nodes], dtype=np.float64),
            n_rows=np.array([node["n"] for node in nodes], dtype=np.int64),
            impurity=zeros,
            gain=zeros,
            root=np.zeros(1, dtype=np.int32),
        )
    )
