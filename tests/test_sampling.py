from types import SimpleNamespace

import numpy as np
import pytest

from vtree import draws
from vtree.binning import Bins, bin_table
from vtree.sampling import Columns, Draw, drawn_places, feature_places, random_thresholds

KEYS = draws.mix(np.arange(400))


def _bins(column: list[float], max_bins: int | None = None) -> Bins:
    return bin_table(np.array(column)[:, None], np.array([-1]), max_bins=max_bins)


def test_all_features_in_the_order_of_the_table_without_a_limit() -> None:
    varies = np.zeros((400, 3), dtype=np.bool_)
    for most in (None, 3, 10):
        assert (drawn_places(Draw(0, most), KEYS, varies) == np.arange(3)).all()


def test_draws_have_their_size_and_take_every_feature_as_often_at_every_place() -> None:
    place = drawn_places(Draw(5, 2), KEYS, np.ones((400, 5), dtype=np.bool_))
    assert set(place.ravel().tolist()) == {0, 1, 5}
    for turn in range(2):
        assert ((place == turn).sum(axis=1) == 1).all()
        assert abs((place == turn).sum(axis=0) - 80).max() < 30
    assert abs((place < 5).sum(axis=0) - 160).max() < 50


def test_a_whole_order_begins_with_the_short_one() -> None:
    whole = feature_places(Draw(5, 2), KEYS, 7)
    np.testing.assert_array_equal(np.sort(whole, axis=1), np.tile(np.arange(7), (400, 1)))
    short = feature_places(Draw(5, 2), KEYS, 7, 3)
    np.testing.assert_array_equal(short, np.where(whole < 3, whole, 7))


def test_a_constant_draw_goes_on_to_the_first_feature_that_varies() -> None:
    varies = np.zeros((400, 5), dtype=np.bool_)
    varies[:, 3] = True
    place = drawn_places(Draw(5, 1), KEYS, varies)
    assert (place[:, 3] < 5).all()
    assert set((place < 5).sum(axis=1).tolist()) == {1, 2, 3, 4, 5}
    nothing = drawn_places(Draw(5, 1), KEYS, np.zeros((400, 5), dtype=np.bool_))
    assert ((nothing < 5).sum(axis=1) == 1).all()


def test_draws_depend_on_seed_and_node_alone() -> None:
    varies = np.ones((400, 5), dtype=np.bool_)
    table = drawn_places(Draw(5, 2), KEYS, varies)
    np.testing.assert_array_equal(drawn_places(Draw(5, 2), KEYS[7:9], varies[7:9]), table[7:9])
    assert (drawn_places(Draw(6, 2), KEYS, varies) != table).any()


def test_thresholds_are_uniform_between_the_nodes_values() -> None:
    bins = _bins([0.0, 1.0, 2.0, 4.0])
    lowest, highest = np.full(400, 2), np.full(400, 4)  # the values 1 … 4
    code, threshold = random_thresholds(Draw(1), KEYS, bins, 0, lowest, highest)
    assert (threshold >= 1.0).all()
    assert (threshold < 4.0).all()
    assert abs(threshold.mean() - 2.5) < 0.15
    np.testing.assert_array_equal(code, np.where(threshold < 2.0, 2, 3))


@pytest.mark.parametrize(
    "values", [[1.0, np.nextafter(1.0, 2)], [-1.7e308, 1.7e308], [0.0, 5e-324]]
)
def test_both_sides_get_a_value_however_near_or_far(values: list[float]) -> None:
    bins = _bins(values)
    one = np.ones(400, dtype=np.int64)
    code, threshold = random_thresholds(Draw(1), KEYS, bins, 0, one, one + 1)
    assert (code == 1).all()
    assert ((values[0] <= threshold) & (threshold < values[1])).all()


def test_of_quantile_bins_the_threshold_is_an_edge() -> None:
    bins = _bins(np.random.default_rng(0).normal(size=500).tolist(), max_bins=10)
    lowest, highest = np.full(400, 3), np.full(400, 8)
    code, threshold = random_thresholds(Draw(1), KEYS, bins, 0, lowest, highest)
    np.testing.assert_array_equal(threshold, bins.edges[0][code - 1])
    assert set(code.tolist()) <= set(range(3, 8))


def test_constant_and_empty_features() -> None:
    bins = _bins([0.0, 1.0])
    lowest, highest = np.array([2, 3]), np.array([2, 0])  # one value; none
    code, threshold = random_thresholds(Draw(1), KEYS[:2], bins, 0, lowest, highest)
    assert code.tolist() == [2, -1]
    assert threshold.tolist() == [np.inf, np.inf]


def test_columns_of_a_tree_a_level_and_a_node() -> None:
    keys = np.arange(6).astype(np.uint64)
    nodes = SimpleNamespace(key=keys, depth=np.array([0, 1, 1, 2, 2, 2]))
    whole = Columns(0.5, seed=3)(nodes, 10)
    assert (whole.sum(axis=1) == 5).all()
    assert (whole == whole[0]).all()
    by_level = Columns(0.5, 0.4, seed=3)(nodes, 10)
    assert (by_level.sum(axis=1) == 2).all()
    assert (by_level <= whole).all()
    assert (by_level[1] == by_level[2]).all() and (by_level[3] == by_level[5]).all()
    by_node = Columns(0.8, 1.0, 0.5, seed=3)(nodes, 10)
    assert (by_node.sum(axis=1) == 4).all()
    assert len({row.tobytes() for row in by_node}) > 3
    assert (Columns(0.01)(nodes, 10).sum(axis=1) == 1).all()
    assert Columns()(nodes, 10).all()
