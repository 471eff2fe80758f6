"""Children of nodes that split: the twin is the definition, for two of them and for many."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree import draws
from vtree_kernels.offspring import Family, offspring


def _family(n_nodes: int, n_new: int, n_children: int) -> tuple[Any, Any, Family]:
    draw = np.random.default_rng(n_nodes)
    chosen = np.sort(draw.choice(n_nodes, n_new, replace=False))
    own = draw.integers(2, n_children + 1, n_nodes).astype(np.int32)
    given = draw.integers(0, 30, (int(own[chosen].sum()), 3))
    size = n_nodes + len(given)
    start = draw.integers(0, 1000, size)
    fields: dict[str, Any] = dict(
        n_children=np.append(own, np.zeros(len(given), np.int32)),
        first_child=np.full(size, -1),
        parent=np.full(size, -1),
        tree=draw.integers(0, 3, size),
        depth=draw.integers(0, 5, size),
        key=draw.integers(0, 2**63, size).astype(np.uint64) * np.uint64(3),
        start=start,
        stop=start + 500,
        total=draw.integers(0, 9, (size, 3)),
    )
    return chosen, given, Family(**fields)


@pytest.mark.parametrize(("n_nodes", "n_new"), [(1, 1), (20, 0), (200, 70)])
@pytest.mark.parametrize("n_children", [2, 5])
def test_twin_and_definition_agree(n_nodes: int, n_new: int, n_children: int) -> None:
    chosen, given, tree = _family(n_nodes, n_new, n_children)
    expected = Family._make(field.copy() for field in tree)
    offspring.reference(chosen, n_nodes, given, expected)
    offspring.twin("cpu")(chosen, n_nodes, given, tree)
    for own, theirs in zip(tree, expected, strict=True):
        assert_same_bits(own, theirs)
    for node in chosen.tolist():
        first, count = tree.first_child[node], tree.n_children[node]
        children = np.arange(first, first + count)
        assert (tree.parent[children] == node).all()
        assert (tree.depth[children] == tree.depth[node] + 1).all()
        assert tree.start[first] == tree.start[node]
        assert (tree.stop[children] - tree.start[children] == tree.total[children, 0]).all()
        assert (tree.start[children[1:]] == tree.stop[children[:-1]]).all()
        keys = draws.child_key(tree.key[node : node + 1], np.arange(count))
        np.testing.assert_array_equal(tree.key[children], keys)
