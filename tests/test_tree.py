from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.fitting import Setting, fit
from vtree import tree as trees
from vtree.tree import (
    WIDE,
    Gathering,
    Tree,
    canonical,
    collapse,
    depth,
    fingerprint,
    is_in_order,
    joined,
    levels,
    narrow,
    one_tree,
    parents,
    sum_upward,
)
from vtree_kernels import _pages


def _forest(n_trees: int = 3) -> Tree:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(150, 3)), 1)
    X[:, 2] = random.integers(0, 6, 150)
    y = (np.rint(X.sum(axis=1)) % 3).astype(np.int64)
    roots = [np.arange(t, 150, 2) for t in range(n_trees)]
    return fit(X, y, Setting("gini", levels=(-1, -1, 6)), roots=roots)


def _assert_same(one: Tree, other: Tree) -> None:
    for name in Tree._fields:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype, name
        assert_same_bits(left, right, name)


def _shuffled(tree: Tree, seed: int) -> Tree:
    """Return the same trees with nodes in another order, siblings still next to each other."""
    random = np.random.default_rng(seed)
    units = [[root] for root in tree.root.tolist()]
    units += [[first, first + 1] for first in tree.first_child[tree.first_child >= 0].tolist()]
    old = np.array([node for unit in random.permutation(len(units)) for node in units[unit]])
    new = np.empty(old.size, dtype=np.int64)
    new[old] = np.arange(old.size)
    own: dict[str, NDArray[Any]] = {
        name: array[old]
        for name, array in tree._asdict().items()
        if name not in ("branch_map", "root")
    }
    first = own["first_child"]
    own["first_child"] = np.where(first >= 0, new[first], -1).astype(np.int32)
    return Tree(**own, branch_map=tree.branch_map, root=new[tree.root].astype(np.int32))


def test_depth_parents_and_levels_belong_together() -> None:
    tree = _forest()
    parent, depths = parents(tree), depth(tree)
    assert (parent[tree.root] == -1).all()
    inner = parent >= 0
    assert inner.sum() == tree.feature.size - tree.root.size
    np.testing.assert_array_equal(depths[inner], depths[parent[inner]] + 1)
    by_level = levels(tree.first_child, tree.n_children, tree.root)
    for level, nodes in enumerate(by_level):
        assert (depths[nodes] == level).all()
    assert sum(map(len, by_level)) == tree.feature.size


def test_parents_come_first_and_children_are_neighbours() -> None:
    tree = _forest()
    internal = np.flatnonzero(tree.first_child >= 0)
    assert (tree.first_child[internal] > internal).all()
    children = trees.children(tree.first_child, tree.n_children, internal)
    np.testing.assert_array_equal(children[1::2], children[::2] + 1)
    np.testing.assert_array_equal(np.sort(np.append(children, tree.root)), np.arange(len(tree[0])))


@pytest.mark.parametrize("seed", range(5))
def test_canonical_numbers_do_not_remember_the_old_ones(seed: int) -> None:
    tree = _forest()
    shuffled = _shuffled(tree, seed)
    assert (shuffled.feature != tree.feature).any()
    _assert_same(canonical(shuffled), tree)
    _assert_same(canonical(tree), tree)


def test_collapse_drops_what_is_below_and_packs_the_maps() -> None:
    tree = _forest()
    keep = (tree.first_child >= 0) & (depth(tree) < 2)
    small = collapse(tree, keep)
    assert depth(small).max() == 2
    assert small.first_child[small.first_child >= 0].size == keep.sum()
    leaf = small.first_child < 0
    assert (small.feature[leaf] == -1).all()
    assert (small.gain[leaf] == 0.0).all()
    assert (small.map_offset[leaf] == -1).all()
    starts = small.map_offset[small.map_offset >= 0]
    np.testing.assert_array_equal(starts, 7 * np.arange(starts.size))
    assert small.branch_map.size == 7 * starts.size
    _assert_same(collapse(tree, np.ones(keep.size, dtype=np.bool_) & (tree.first_child >= 0)), tree)


def test_sums_go_up_to_the_root() -> None:
    tree = _forest()
    leaf = tree.first_child < 0
    rows = sum_upward(tree, np.where(leaf, tree.n_rows, 0).astype(np.float64))
    np.testing.assert_array_equal(rows, tree.n_rows)


def test_a_fingerprint_tells_every_field_and_dtype() -> None:
    tree = _forest()
    seen = {fingerprint(tree)}
    for name, array in tree._asdict().items():
        changed = array.copy()
        changed.reshape(-1)[0] += 1
        seen.add(fingerprint(tree._replace(**{name: changed})))
        seen.add(fingerprint(tree._replace(**{name: array.astype(np.float32)})))
    assert len(seen) == 1 + 2 * len(Tree._fields)
    wide = {name: getattr(tree, name).astype(dtype) for name, dtype in WIDE.items()}
    assert {name: own.dtype for name, own in wide.items()} != {
        name: getattr(tree, name).dtype for name in WIDE
    }
    assert fingerprint(tree._replace(**wide)) == fingerprint(tree)
    other_order = tree._replace(threshold=tree.threshold.astype(">f8"))
    assert fingerprint(other_order) == fingerprint(tree)


def test_a_chain_of_thousands_of_nodes() -> None:
    size = 20_001
    inner = (np.arange(size) % 2 == 0) & (np.arange(size) < size - 1)
    base = _forest(1)
    own = {
        name: np.resize(array, (size, *array.shape[1:])) for name, array in base._asdict().items()
    }
    tree = Tree(**own)._replace(
        root=np.zeros(1, dtype=np.int32),
        first_child=np.where(inner, np.arange(size) + 1, -1).astype(np.int32),
        n_children=np.where(inner, 2, 0).astype(np.int32),
        map_offset=np.full(size, -1),
        branch_map=np.empty(0, dtype=np.uint8),
    )
    # The right child of each inner node is the next one: node 2k has depth k.
    assert depth(tree)[-1] == size // 2
    assert sum_upward(tree, np.ones(size))[0] == size
    assert canonical(tree).feature.size == size


@pytest.mark.parametrize("pages", [_pages.LEAST, 0], ids=["small", "own pages"])
def test_trees_come_apart_and_together_again(pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pages, "LEAST", pages)
    forest = _forest(4)
    apart = [one_tree(forest, number) for number in range(4)]
    for tree in apart:
        assert tree.root.tolist() == [0]
        _assert_same(canonical(tree), tree)
    _assert_same(joined(apart), forest)
    for expected in (1, 4, 40):
        gathering = Gathering(expected)
        for tree in apart[:3]:
            gathering.add(tree)
        three = gathering.so_far()
        gathering.add(apart[3])
        _assert_same(gathering.whole(), forest)
        _assert_same(three, joined(apart[:3]))
    _assert_same(joined([joined(apart[:3]), apart[3]]), forest)


def test_counts_are_as_narrow_as_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = _forest(1)
    assert {name: getattr(tree, name).dtype for name in WIDE} == {
        "bin": np.uint8,
        "n_children": np.int8,
        "missing_child": np.int8,
        "map_offset": np.int32,
        "n_rows": np.int32,
    }
    many = tree._replace(
        bin=tree.bin + np.int32(256),
        n_children=tree.n_children.astype(np.int32),
        n_rows=tree.n_rows + np.int64(2**31),
    )
    many.n_children[0] = 128
    for name, dtype in (
        ("n_children", np.int32),
        ("missing_child", np.int32),
        ("n_rows", np.int64),
    ):
        assert getattr(narrow(many), name).dtype == dtype
    # As if 32 bits ended behind the maps of one tree.
    monkeypatch.setattr(trees, "_MOST", tree.branch_map.size)
    gathering = Gathering(2)
    assert [gathering.add(tree), gathering.add(tree)] == [1, 1]
    for two in (gathering.whole(), joined([tree, tree])):
        assert two.map_offset.dtype == np.int64
        assert two.map_offset.max() == tree.map_offset.max() + tree.branch_map.size


def test_a_tree_without_branch_maps_takes_none_along() -> None:
    forest = _forest(2)
    plain = collapse(forest, (forest.first_child >= 0) & (np.arange(forest.feature.size) >= 3))
    assert one_tree(plain, 0).feature.size == 1
    assert one_tree(plain, 0).branch_map.size == 0
    _assert_same(joined([one_tree(plain, 0), one_tree(plain, 1)]), plain)


def test_what_is_in_order_need_not_be_made_canonical() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(90, 3)), random.integers(0, 2, 90)
    tree = fit(X, y, Setting("gini"), roots=[np.arange(90), np.arange(40)])
    assert is_in_order(tree)
    _assert_same(canonical(tree), narrow(tree))
    assert not is_in_order(_shuffled(tree, 1))
    cut = tree.first_child.copy()
    cut[tree.root[0]] = -1
    assert not is_in_order(tree._replace(first_child=cut))  # nodes below it are left over
    assert not is_in_order(_forest())  # maps have an order, too
