"""The router: rows by children, statistics of what was sent, many trees at once."""

from typing import Any

import numpy as np
import pytest

import vtree
from tests.surrogates.tables import gappy
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.finish import finish
from vtree.growth import grow
from vtree.plan import Plan, Stops
from vtree.sampling import Draw
from vtree.splits import Search
from vtree.surrogates import KnownRows, Rules, SurrogateRouter, come_to_rest
from vtree.surrogates.router import side_totals
from vtree.surrogates.rules import fingerprint as rules_fingerprint
from vtree.surrogates.rules import follow, without_marks
from vtree.targets import class_targets, real_targets
from vtree.tree import Tree, collapse, fingerprint
from vtree_kernels.scan import Limits


def test_statistics_of_both_sides() -> None:
    draw = np.random.default_rng(0)
    y = draw.normal(size=(30, 2))
    weight = draw.integers(1, 5, 30).astype(np.float64)
    rows, node = draw.permutation(30)[:20], draw.integers(0, 3, 20)
    way = draw.integers(-1, 2, 20).astype(np.int8)
    for targets in (
        real_targets(y, weight),
        real_targets(y, None),
        class_targets((y > 0).astype(np.int64), [2, 2], weight),
        class_targets((y > 0).astype(np.int64), [2, 2], None),
    ):
        totals = side_totals(rows, node, way, 3, targets)
        layout = targets.layout
        for m in range(3):
            for side in (0, 1):
                own = rows[(node == m) & (way == side)]
                assert totals[m, side, 0] == own.size
                each = np.ones(30) if targets.weight is None else targets.weight
                assert totals[m, side, layout.weight] == each[own].sum()
                for plane in range(layout.first, layout.n_statistics):
                    if targets.sums.shape[1]:
                        expected = targets.sums[own, plane - layout.first].sum()
                    else:
                        expected = (each[own, None] * (targets.label[own] == plane)).sum()
                    assert totals[m, side, plane] == expected


def grown_by_surrogates(
    count: int, *, to_larger: bool, roots: list[np.ndarray] | None = None, real: bool = False
) -> tuple[Tree, Rules]:
    table = gappy(120, 1)
    y = table.y[:, None]
    targets = real_targets(y.astype(np.float64), None) if real else class_targets(y, [2], None)
    criterion = REGRESSION["squared_error"] if real else CLASSIFICATION["gini"]
    search = Search(criterion, targets.layout, Limits(4), Draw(), None)
    router = SurrogateRouter(count, to_larger=to_larger)
    plan = Plan(KnownRows(search), Stops(), router=router)
    grown, order, branch_map = grow(table.bins, targets, plan, roots=roots)
    tree = finish(grown, order, branch_map, targets, criterion, gains_add_up=False)
    return without_marks(tree), router.rules(grown, tree)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("to_larger", [False, True])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_rows_are_where_prediction_finds_them(count: int, to_larger: bool, real: bool) -> None:
    tree, rules = grown_by_surrogates(count, to_larger=to_larger, real=real)
    table = gappy(120, 1)
    rest = come_to_rest(tree, rules, table.X)[:, 0]
    resting = np.bincount(rest, minlength=tree.feature.size)
    below = np.zeros(tree.feature.size, dtype=np.int64)
    for m in np.flatnonzero(tree.first_child >= 0).tolist():
        first = int(tree.first_child[m])
        below[m] = tree.n_rows[first] + tree.n_rows[first + 1]
    assert (tree.n_rows - below).tolist() == resting.tolist()
    assert np.bincount(rules.node).max() <= count + 1
    if not to_larger:
        assert (tree.missing_child == -1).all()
        assert count == 9 or below[0] < tree.n_rows[0]


def test_trees_that_share_rows_grow_as_if_alone() -> None:
    roots = [np.arange(120), np.arange(0, 120, 2), np.arange(100)]
    forest, rules = grown_by_surrogates(3, to_larger=True, roots=roots)
    for number, root in enumerate(roots):
        one = forest._replace(root=forest.root[[number]])
        tree = collapse(one, one.first_child >= 0)
        alone, its_rules = grown_by_surrogates(3, to_larger=True, roots=[root])
        assert fingerprint(tree._replace(gain=alone.gain)) == fingerprint(alone)
        assert rules_fingerprint(follow(rules, one, tree)) == rules_fingerprint(its_rules)


@pytest.mark.parametrize("seed", range(6))
def test_whole_weights_are_copies(seed: int) -> None:
    """A row of weight three may be all that a surrogate sends one way, as three rows may."""
    table = gappy(60, seed)
    draw = np.random.default_rng(seed)
    weight = draw.integers(1, 4, 60)
    kind = [vtree.DecisionTreeClassifier, vtree.DecisionTreeRegressor][seed % 2]
    settings: dict[str, Any] = {"surrogates": 4, "use_surrogates": seed % 3}
    mask = table.bins.is_categorical
    model = kind(categorical_features=mask, **settings).fit(table.X, table.y, weight)
    rows = np.repeat(np.arange(60), weight)
    copies = kind(categorical_features=mask, **settings).fit(table.X[rows], table.y[rows])
    for own, theirs in zip(model.surrogates_, copies.surrogates_, strict=True):
        np.testing.assert_array_equal(own, theirs)
    np.testing.assert_array_equal(model.grown_.value, copies.grown_.value)


def test_two_light_rows_are_two() -> None:
    """Weights that add up to one do not make surrogates harder to find."""
    table = gappy(60, 3)
    plain = vtree.DecisionTreeClassifier(surrogates=4).fit(table.X, table.y)
    light = vtree.DecisionTreeClassifier(surrogates=4).fit(table.X, table.y, np.full(60, 1 / 64))
    assert rules_fingerprint(plain.surrogates_) == rules_fingerprint(light.surrogates_)
