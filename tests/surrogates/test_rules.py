"""Rules: reading them, joining them, and following a tree that is pruned."""

import numpy as np
import pytest

from tests.fitting import Setting, fit
from tests.samples import classes
from vtree.surrogates.rules import (
    DTYPES,
    NO_WAY,
    Rules,
    child_of,
    counterpart,
    fault_of_rules,
    fingerprint,
    follow,
    joined,
    places,
    without_marks,
)
from vtree.tree import SUBSET, THRESHOLD, collapse


def _rules(**fields: object) -> Rules:
    size = len(fields["node"])  # type: ignore[arg-type]
    plain = {name: np.zeros(size, dtype=dtype) for name, dtype in DTYPES.items()}
    plain["map_offset"] = np.full(size, -1)
    plain["branch_map"] = np.zeros(0, dtype=np.uint8)
    given = {name: np.asarray(array, dtype=DTYPES[name]) for name, array in fields.items()}
    return Rules(**{**plain, **given})


RULES = _rules(
    node=[0, 0, 2],
    feature=[0, 1, 1],
    kind=[THRESHOLD, SUBSET, SUBSET],
    low_child=[1, 0, 0],
    map_offset=[-1, 0, 3],
    branch_map=[NO_WAY, 0, 1, NO_WAY, 1, NO_WAY],
    agreement=[1.0, 0.75, 1.0],
)


def test_children() -> None:
    first, count = places(RULES, 4)
    assert (first.tolist(), count.tolist()) == ([0, 2, 2, 3], [2, 0, 1, 0])
    which = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    above = np.array([False, True, True, False, False, False, False, False])
    code = np.array([1, 1, 0, 1, 2, 0, 1, 2])
    assert child_of(RULES, which, above, code).tolist() == [1, 0, -1, 0, 1, -1, 1, -1]


def test_joined() -> None:
    both = joined([RULES, RULES])
    assert both.node.tolist() == [0, 0, 2] * 2
    assert both.map_offset.tolist() == [-1, 0, 3, -1, 6, 9]
    assert both.branch_map.tolist() == RULES.branch_map.tolist() * 2
    assert joined([]).node.size == 0
    assert fingerprint(both) != fingerprint(RULES) == fingerprint(joined([RULES]))


def test_following_a_pruned_tree() -> None:
    X, y = classes(60)
    tree = fit(X, y, Setting(max_depth=3))
    internal = np.flatnonzero(tree.first_child >= 0)
    rules = _rules(
        node=internal, feature=tree.feature[internal], threshold=tree.threshold[internal]
    )
    keeps = (tree.first_child >= 0) & (np.arange(tree.feature.size) != internal[1])
    smaller = collapse(tree, keeps)
    was = counterpart(tree, smaller)
    assert tree.n_rows[was].tolist() == smaller.n_rows.tolist()
    assert tree.value[was].tolist() == smaller.value.tolist()
    kept = follow(rules, tree, smaller)
    split = np.flatnonzero(smaller.first_child >= 0)
    assert kept.node.tolist() == split.tolist()
    assert kept.threshold.tolist() == smaller.threshold[split].tolist()
    forest = fit(X, y, Setting(max_depth=2), roots=[np.arange(60), np.arange(30)])
    second = collapse(forest._replace(root=forest.root[[1]]), forest.first_child >= 0)
    alone = counterpart(forest._replace(root=forest.root[[1]]), second)
    assert forest.n_rows[alone].tolist() == second.n_rows.tolist()


def test_maps_follow() -> None:
    X = np.array([0.0, 1.0, 2.0, 3.0])[:, None]
    tree = fit(X, np.array([0, 1, 2, 3]), Setting("entropy"))
    assert tree.first_child[:3].tolist() == [1, 3, 5]
    smaller = collapse(tree, np.array([True, False, True] + [False] * 4))
    assert smaller.first_child.tolist() == [1, -1, 3, -1, -1]
    kept = follow(RULES, tree, smaller)
    assert kept.node.tolist() == [0, 0, 2]
    top = collapse(tree, np.array([True] + [False] * 6))
    assert follow(RULES, tree, top).branch_map.tolist() == [NO_WAY, 0, 1]
    bottom = RULES._replace(node=np.array([1, 1, 2], dtype=np.int32))
    kept = follow(bottom, tree, smaller)
    assert (kept.node.tolist(), kept.map_offset.tolist()) == ([2], [0])
    assert kept.branch_map.tolist() == [NO_WAY, 1, NO_WAY]


def test_marks_give_way_to_the_branch_of_missing_values() -> None:
    X = np.array([0.0, 0.0, 1.0, 2.0])[:, None]
    tree = fit(X, np.array([0, 0, 1, 1]), Setting(levels=(3,)))
    marked = tree._replace(branch_map=np.array([NO_WAY, 0, 1, NO_WAY], dtype=np.uint8))
    for missing, expected in ((1, [1, 0, 1, 1]), (0, [0, 0, 1, 0]), (-1, [0, 0, 1, 0])):
        own = marked._replace(missing_child=np.array([missing, -1, -1], dtype=np.int32))
        assert without_marks(own).branch_map.tolist() == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node": np.zeros(3)}, "node is an array of int32"),
        ({"feature": np.zeros(2, dtype=np.int32)}, "feature has 2 rules"),
        ({"node": np.array([0, 2, 0], dtype=np.int32)}, "node numbers the splits"),
        ({"node": np.array([0, 0, 1], dtype=np.int32)}, "node numbers the splits"),
        ({"feature": np.array([1, 1, 1], dtype=np.int32)}, "asks for its own feature"),
        ({"feature": np.array([0, 9, 1], dtype=np.int32)}, "feature is below 2"),
        ({"kind": np.zeros(3, dtype=np.int8)}, "kind is 1 for categories"),
        ({"threshold": np.full(3, np.nan)}, "threshold is a number"),
        ({"low_child": np.full(3, 7, dtype=np.int8)}, "low_child is 0 or 1"),
        ({"map_offset": np.array([-1, 0, 2])}, "branch maps lie back to back"),
        ({"branch_map": np.full(6, 3, dtype=np.uint8)}, "branch_map is 0, 1 or 255"),
        ({"agreement": np.full(3, 1.5)}, "agreement and adjusted are shares"),
    ],
)
def test_faults(change: dict[str, np.ndarray], message: str) -> None:
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 1]], dtype=float)
    tree = fit(X, np.array([0, 0, 1, 0]), Setting(levels=(-1, 2)))
    assert tree.feature.tolist() == [0, -1, 1, -1, -1]
    levels = np.array([-1, 2])
    assert fault_of_rules(RULES, tree, levels) is None
    fault = fault_of_rules(RULES._replace(**change), tree, levels)
    assert fault is not None and message in fault
