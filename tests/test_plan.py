"""What a plan decides by itself: the order of levels, and which nodes may split."""

import numpy as np
import pytest

from tests.fitting import Setting
from vtree.grown import blank
from vtree.histogram import rows_of
from vtree.plan import Plan, Stops, level_order, may_split
from vtree.routing import Data
from vtree_kernels.scan import Limits


def test_levels_split_every_node_that_has_a_split_and_no_children() -> None:
    grown = blank(4, 2)._replace(
        feature=np.array([0, 1, -1, 2], np.int32), first_child=np.array([1, -1, -1, -1])
    )
    assert level_order(grown).tolist() == [1, 3]
    assert level_order.max_leaves is None


@pytest.mark.parametrize(
    ("stops", "limits", "expected"),
    [
        (Stops(), Limits(), [0, 1, 3]),  # one row has no two sides
        (Stops(max_depth=1), Limits(), [0]),
        (Stops(min_rows_split=4), Limits(), [0, 1]),
        (Stops(), Limits(min_rows=3), [0]),
        (Stops(), Limits(min_weight=2.5), [0, 1]),
    ],
)
def test_nodes_that_are_small_or_deep_stay_leaves(
    stops: Stops, limits: Limits, expected: list[int]
) -> None:
    setting = Setting()
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    bins, targets = setting.bins(X), setting.targets(y)
    codes = bins.groups[0].codes
    data = Data(bins, targets, rows_of(targets, codes), np.arange(10, dtype=np.int32))
    grown = blank(4, targets.layout.n_statistics)
    grown.total[:, 0] = [10, 5, 1, 3]
    grown.total[:, targets.layout.weight] = grown.total[:, 0]
    grown.depth[:] = [0, 1, 1, 2]
    plan: Plan = setting.plan(bins, targets)._replace(stops=stops)
    plan = plan._replace(search=plan.search._replace(limits=limits))  # type: ignore[attr-defined]
    assert may_split(grown, np.arange(4), data, plan).tolist() == expected
