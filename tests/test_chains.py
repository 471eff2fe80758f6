"""Places in chains, and isotonic regression along them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from vtree.chains import child_places, not_falling, places_of_leaves

UNIT = 1 / 2**16


def test_places_of_two_levels() -> None:
    assert places_of_leaves(np.array([0, 0])).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert (places_of_leaves(np.array([1, 1])) / UNIT).tolist() == [0, 1, 2, 3]
    assert (places_of_leaves(np.array([-1, 1])) / UNIT).tolist() == [2, 3, 0, 1]
    assert places_of_leaves(np.array([0, -1])).tolist() == [UNIT, 0.0, 1.0 + UNIT, 1.0]
    assert places_of_leaves(np.array([-1, 0])).tolist() == [UNIT, 1.0 + UNIT, 0.0, 1.0]


@pytest.mark.parametrize("directions", [[1] * 16, [-1] * 16, [0] * 16, [0, 1, -1, 0] * 4])
def test_no_two_leaves_of_the_deepest_trees_share_a_place(directions: list[int]) -> None:
    assert np.unique(places_of_leaves(np.array(directions))).size == 2**16


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=6), st.data())
def test_larger_in_a_monotone_split_is_later(directions: list[int], data: st.DataObject) -> None:
    place = places_of_leaves(np.array(directions))
    depth = len(directions)
    leaf = data.draw(st.integers(0, 2**depth - 1))
    for level, direction in enumerate(directions):
        bit = 1 << (depth - 1 - level)
        if direction and not leaf & bit:
            steps = place[leaf | bit] - place[leaf]
            assert steps * direction > 0
            assert np.floor(place[leaf | bit]) == np.floor(place[leaf])


def test_children_of_nodes_with_different_parents() -> None:
    found = child_places(np.array([0.0, 3.0 + UNIT]), np.array([0, -1]), np.array([1, 0]))
    assert found.tolist() == [1.0, 3.0 + 3 * UNIT]


def test_regression_along_chains_is_scikit_learns() -> None:
    draw = np.random.default_rng(0)
    place = places_of_leaves(np.array([1, 0, -1, 1]))
    value, weight = draw.normal(size=(3, 16)), draw.integers(1, 5, (3, 16)).astype(float)
    found = not_falling(value, weight, place)
    for j in range(3):
        for chain in (0, 1):
            own = np.flatnonzero(np.floor(place) == chain)
            own = own[np.argsort(place[own])]
            known = isotonic_regression(value[j, own], sample_weight=weight[j, own])
            np.testing.assert_allclose(found[j, own], known, rtol=1e-12)


def test_leaves_without_weight_change_no_other() -> None:
    place = places_of_leaves(np.array([1, 1]))
    value, weight = np.array([[2.0, 0.0, 1.0, 5.0]]), np.array([[1.0, 0.0, 1.0, 1.0]])
    assert not_falling(value, weight, place).tolist() == [[1.5, 1.5, 1.5, 5.0]]
