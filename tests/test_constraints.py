import numpy as np

from vtree.constraints import children_bounds


def test_the_middle_parts_the_children_on_a_constrained_feature() -> None:
    lower, upper = np.full(3, -np.inf), np.full(3, 10.0)
    left, right = np.array([1.0, 3.0, 1.0]), np.array([3.0, 1.0, 3.0])
    direction = np.array([1, -1, 0], dtype=np.int8)
    low, high = children_bounds(lower, upper, left, right, direction)
    np.testing.assert_array_equal(low, [[-np.inf, 2.0], [2.0, -np.inf], [-np.inf, -np.inf]])
    np.testing.assert_array_equal(high, [[2.0, 10.0], [10.0, 2.0], [10.0, 10.0]])


def test_bounds_only_narrow() -> None:
    random = np.random.default_rng(0)
    lower, upper = np.zeros(50), np.ones(50)
    left, right = np.sort(random.random((2, 50)), axis=0)
    direction = np.ones(50, dtype=np.int8)
    low, high = children_bounds(lower, upper, left, right, direction)
    assert (low >= lower[:, None]).all()
    assert (high <= upper[:, None]).all()
    assert (high[:, 0] == low[:, 1]).all()


def test_the_nodes_own_bounds_are_left_alone() -> None:
    lower, upper = np.zeros(1), np.ones(1)
    means = np.array([0.25]), np.array([0.75])
    children_bounds(lower, upper, *means, np.ones(1, dtype=np.int8))
    assert (lower[0], upper[0]) == (0.0, 1.0)
