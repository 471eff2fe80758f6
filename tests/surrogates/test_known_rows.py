"""Known rows: each feature's best split is that of the rows which know it."""

import numpy as np
import pytest

from tests.surrogates.tables import gappy
from vtree.binning import bin_table
from vtree.criteria import CLASSIFICATION
from vtree.finish import finish
from vtree.growth import grow
from vtree.plan import Plan, Stops
from vtree.sampling import Draw
from vtree.splits import Search
from vtree.surrogates import KnownRows, SurrogateRouter
from vtree.surrogates.rules import NO_WAY
from vtree.targets import class_targets
from vtree_kernels.scan import Limits


@pytest.mark.parametrize("feature", range(5))
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("min_rows", [1, 8])
def test_one_feature_by_itself(feature: int, criterion: str, min_rows: int) -> None:
    table = gappy(80, feature)
    known = ~np.isnan(table.X[:, feature])
    gains = []
    for rows in (np.arange(80), np.flatnonzero(known)):
        column = table.X[rows][:, [feature]]
        levels = table.levels[[feature]]
        bins = bin_table(column, levels, max_bins=None)
        targets = class_targets(table.y[rows, None], [2], None)
        limits = Limits(min_rows)
        search = Search(CLASSIFICATION[criterion], targets.layout, limits, Draw(), None)
        plan = Plan(KnownRows(search), Stops(1), router=SurrogateRouter(0, to_larger=False))
        grown, order, branch_map = grow(bins, targets, plan)
        tree = finish(grown, order, branch_map, targets, search.criterion)
        gains.append((tree.gain[0] * rows.size, tree.threshold[0], tree.bin[0]))
        below = tree.n_rows[1:].sum()
        assert below == known.sum() and tree.n_rows[1:].min() >= min_rows
    assert gains[0][0] == pytest.approx(gains[1][0], rel=1e-12)
    assert gains[0][1] == gains[1][1]


def test_levels_without_rows_have_no_way() -> None:
    x = np.array([0.0, 0.0, 2.0, 2.0, np.nan])[:, None]
    bins = bin_table(x, np.array([4]), max_bins=None)
    targets = class_targets(np.array([0, 0, 1, 1, 1])[:, None], [2], None)
    search = Search(CLASSIFICATION["gini"], targets.layout, Limits(), Draw(), None)
    plan = Plan(KnownRows(search), router=SurrogateRouter(0, to_larger=True))
    grown, _, branch_map = grow(bins, targets, plan)
    assert branch_map.tolist() == [NO_WAY, 0, NO_WAY, 1, NO_WAY]
    assert grown.missing_child[0] == -1  # as many rows left as right
    assert grown.gain[0] == pytest.approx(2.0)  # of the four known rows
    assert grown.total[1:, 0].tolist() == [2, 2]
