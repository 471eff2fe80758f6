"""What is built of a level: the twin is the definition, with gaps, lost rows and many children."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels.siblings import siblings


def _tree(draw: np.random.Generator, n_parents: int) -> dict[str, Any]:
    """Return parents 0, …, each with two or three children behind, some of which lost rows."""
    n_children = np.where(draw.random(n_parents) < 0.8, 2, 3)
    first = n_parents + np.cumsum(n_children) - n_children
    size = n_parents + int(n_children.sum())
    parent = np.append(np.full(n_parents, -1), np.repeat(np.arange(n_parents), n_children))
    total = draw.integers(1, 6, (size, 2))
    for node in range(n_parents):
        children = slice(first[node], first[node] + n_children[node])
        total[node, 0] = total[children, 0].sum() + (draw.random() < 0.2)
    no_child = np.full(size - n_parents, -1)
    start = draw.integers(0, 99, size)
    return {
        "parent": parent,
        "first_child": np.append(first, no_child),
        "n_children": np.append(n_children, 0 * no_child).astype(np.int32),
        "total": total,
        "start": start,
        "stop": start + total[:, 0],
    }


@pytest.mark.parametrize("n_parents", [1, 3, 300])
@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_twin_and_definition_agree(n_parents: int, share: float) -> None:
    draw = np.random.default_rng(n_parents)
    tree = _tree(draw, n_parents)
    wanted = n_parents + np.flatnonzero(draw.random(tree["parent"].size - n_parents) < 0.8)
    kept = draw.permutation(np.flatnonzero(draw.random(n_parents) < share))
    expected = siblings.reference(wanted, kept, **tree)
    found = siblings.twin("cpu")(wanted, kept, **tree)
    for own, theirs in zip(found, expected, strict=True):
        assert_same_bits(np.asarray(own), np.asarray(theirs))
    assert sorted(found.nodes.tolist()) == wanted.tolist()
    assert found.start.size + found.sibling.size == wanted.size + found.unwanted
    derived = found.nodes[wanted.size - found.sibling.size :]
    np.testing.assert_array_equal(kept[found.parent_slot], tree["parent"][derived])
    if share == 1.0 and n_parents == 300:
        assert derived.size > 50 and found.unwanted > 10


def test_roots_are_built() -> None:
    tree = {"parent": np.array([-1, -1]), "first_child": np.array([-1, -1])}
    rows = {"total": np.array([[3], [3]]), "start": np.array([0, 3]), "stop": np.array([3, 6])}
    none = np.zeros(2, dtype=np.int32)
    for twin in (siblings.reference, siblings.twin("cpu")):
        found = twin(np.arange(2), np.arange(0), **tree, n_children=none, **rows)
        assert found.unwanted == 0 and found.sibling.size == 0
        assert found.nodes.tolist() == [0, 1] and found.start.tolist() == [0, 3]
