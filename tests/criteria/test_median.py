from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.utils.stats import _weighted_percentile

from tests.conftest import NAMESPACES
from vtree.criteria import RANKED, median
from vtree.targets import Targets, real_targets


def _of_nodes(targets: Targets, order: Any, start: list[int], stop: list[int]) -> NDArray[Any]:
    rows = np.asarray(order)
    weight = np.ones(rows.size, dtype=np.int64)
    if targets.weight is not None:
        weight = targets.weight[rows]
    total = np.zeros((len(start), targets.layout.n_statistics), dtype=np.int64)
    total[:, 0] = np.subtract(stop, start)
    for node, (first, last) in enumerate(zip(start, stop, strict=True)):
        total[node, targets.layout.weight] = weight[first:last].sum()
    return median.medians(total, np.array(start), np.array(stop), order, targets)


def _medians(y: list[float], weight: list[float] | None = None) -> float:
    own = None if weight is None else np.array(weight)
    targets = real_targets(np.array(y)[:, None], own, ranked=True)
    return float(_of_nodes(targets, np.arange(len(y)), [0], [len(y)])[0, 0])


def test_worked_numbers() -> None:
    assert _medians([5.0, 1.0, 3.0]) == 3.0
    assert _medians([4.0, 1.0, 3.0, 9.0]) == 3.5
    assert _medians([3.0, 6.0, 8.0], [1.0, 1.0, 2.0]) == 7.0  # half the weight lies below 8
    assert _medians([3.0, 6.0, 8.0], [1.0, 1.0, 2.5]) == 8.0
    assert _medians([0.1, 0.2], [3.0, 1.0]) == 0.1
    assert _medians([1.7e308, 1.5e308]) == 1.6e308  # their sum is no float64


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=1, max_size=30),
    st.booleans(),
)
def test_scikit_learns_weighted_percentile(rows: list[tuple[int, int]], weighted: bool) -> None:
    y, weight = np.array(rows, dtype=np.float64).T / 7.0 * [[1.0], [7.0]]
    weight = weight if weighted else np.ones(y.size)
    expected = _weighted_percentile(y, weight, 50, average=True)
    assert _medians(y.tolist(), weight.tolist() if weighted else None) == expected
    assert expected == np.median(np.repeat(y, weight.astype(np.int64)))


@pytest.mark.parametrize("batch", [1, 10, 1 << 21])
def test_nodes_may_overlap_and_come_in_batches(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(median, "_BATCH", batch)
    draw = np.random.default_rng(0)
    y, weight = draw.normal(size=(50, 2)), draw.integers(1, 4, 50)
    targets = real_targets(y, weight.astype(np.float64), ranked=True)
    order = draw.permutation(50)
    start, stop = [0, 0, 20, 49], [50, 20, 50, 50]
    found = _of_nodes(targets, order, start, stop)
    for node, (first, last) in enumerate(zip(start, stop, strict=True)):
        rows = order[first:last]
        repeated = np.repeat(y[rows], weight[rows], axis=0)
        np.testing.assert_array_equal(found[node], np.median(repeated, axis=0))


def test_order_and_array_library_do_not_matter() -> None:
    y = np.random.default_rng(1).normal(size=(30, 1))
    targets = real_targets(y, None, ranked=True)
    expected = _of_nodes(targets, np.arange(30), [0], [30])
    for make in NAMESPACES.values():
        order = make().asarray(np.arange(30)[::-1])
        np.testing.assert_array_equal(_of_nodes(targets, order, [0], [30]), expected)


def test_ranks_order_targets_and_place_them() -> None:
    y = np.array([[3.0, 1.0], [-0.0, 1.0], [0.0, 2.0], [3.0, -5.0]])
    ranks = real_targets(y, None, ranked=True).ranks
    assert ranks is not None
    assert ranks.value.tolist() == [0.0, 3.0, -5.0, 1.0, 2.0]
    assert ranks.rank.tolist() == [[1, 3], [0, 3], [0, 4], [1, 2]]
    assert ranks.rank.dtype == np.int32
    assert real_targets(y, None).ranks is None


@pytest.mark.parametrize("weight", [None, [1.0, 3.0, 2.0, 1.0]])
def test_positions_times_weights_are_the_sums(weight: list[float] | None) -> None:
    y = np.array([[1e9 + 0.1], [1e9 - 7.0], [1e9 + 0.1], [1e9 + 3.3]])
    own = None if weight is None else np.array(weight)
    targets = real_targets(y, own, ranked=True)
    assert targets.ranks is not None
    position = targets.ranks.position[targets.ranks.rank]
    whole = 1 if targets.weight is None else targets.weight[:, None]
    np.testing.assert_array_equal(position * whole, targets.sums)


def test_sums_are_refused_as_judges() -> None:
    criterion = RANKED["absolute_error"]
    with pytest.raises(TypeError, match="by its rows"):
        criterion.gain(None, None, None)
    assert criterion.deviance is not None
    np.testing.assert_array_equal(criterion.deviance(np.array([1.0, 4.0]), 3.0), [2.0, 1.0])
