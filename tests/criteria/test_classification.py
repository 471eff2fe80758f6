import math
from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.criteria.contract import compiled_gains, gain_of, layout_of, of_nodes, sides
from vtree.criteria import CLASSIFICATION, classification

SHAPES = [(2, 1), (3, 1), (100, 1), (4, 2)]
every_criterion = pytest.mark.parametrize("name", CLASSIFICATION)
every_shape = pytest.mark.parametrize(("classes", "outputs"), SHAPES)


def _gain(name: str, left: Any, right: Any, layout: Any) -> Any:
    return gain_of(name)(left, right, layout)


@every_criterion
@every_shape
def test_arrays_and_numbers_give_the_same_bits(name: str, classes: int, outputs: int) -> None:
    left, right = sides(name, 200, classes, outputs)
    layout = layout_of(name, classes, outputs)
    assert_same_bits(_gain(name, left, right, layout), compiled_gains(name, left, right, layout))


@every_criterion
@every_shape
def test_never_negative_and_zero_for_equal_shares(name: str, classes: int, outputs: int) -> None:
    left, right = sides(name, 500, classes, outputs)
    layout = layout_of(name, classes, outputs)
    assert (_gain(name, left, right, layout) >= 0.0).all()
    for factor in (1.0, 3.0, 7.0):
        assert (_gain(name, left, factor * left, layout) == 0.0).all()


@every_criterion
def test_the_names_of_classes_and_sides_do_not_matter(name: str) -> None:
    left, right = sides(name, 200, 5)
    layout = layout_of(name, 5)
    expected = _gain(name, left, right, layout)
    order = [0, 1, 5, 2, 6, 4, 3]
    permuted = _gain(name, left[order], right[order], layout)
    np.testing.assert_allclose(permuted, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(_gain(name, right, left, layout), expected, rtol=1e-12)


@every_criterion
def test_outputs_count_as_their_mean(name: str) -> None:
    left, right = sides(name, 50, 3, outputs=2)
    one = layout_of(name, 3)
    other = one._replace(first=5)
    mean = (_gain(name, left, right, one) + _gain(name, left, right, other)) / 2.0
    both = _gain(name, left, right, layout_of(name, 3, outputs=2))
    np.testing.assert_allclose(both, mean, rtol=1e-12)


@every_criterion
@every_shape
def test_classes_that_a_node_lacks_are_passed_over(
    name: str, classes: int, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = sides(name, 200, classes, outputs)[0].T.copy()
    layout, impurity = layout_of(name, classes, outputs), CLASSIFICATION[name].impurity
    assert impurity is not None
    absent = np.random.default_rng(0).random(stats.shape) < 0.7
    absent[:, : layout.first + 1] = False
    stats[absent] = 0
    found = []
    for few in (0, classes * outputs):
        monkeypatch.setattr(classification, "_FEW", few)
        found.append(impurity(stats, layout))
    assert_same_bits(*found)


@pytest.mark.parametrize("name", ["gini", "entropy"])
def test_a_gain_is_what_impurity_falls_by(name: str) -> None:
    left, right = sides(name, 100, 4, outputs=2)
    layout = layout_of(name, 4, outputs=2)
    impurity = CLASSIFICATION[name].impurity
    assert impurity is not None
    node, first, second = (s[1] * impurity(s.T, layout) for s in (left + right, left, right))
    gains = _gain(name, left, right, layout)
    np.testing.assert_allclose(gains, node - first - second, rtol=1e-9, atol=1e-9)


# Play tennis (Quinlan 1986): 9 yes and 5 no; outlook = overcast holds 4 yes and nothing else.
OVERCAST, REST = of_nodes([0, 4]), of_nodes([5, 5])
# Kyphosis: 64 absent and 17 present; Start < 8.5 holds 8 and 11 (rpart prints 6.762329958708).
LOW, HIGH = of_nodes([8, 11]), of_nodes([56, 6])


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("gini", OVERCAST, REST, 1.428571428571),
        ("gini", LOW, HIGH, 6.762329958708),
        ("entropy", OVERCAST, REST, 14 * 0.940285958671 - 10.0),
        ("log_loss", OVERCAST, REST, 14 * 0.940285958671 - 10.0),
        ("twoing", OVERCAST, REST, 14 * (4 / 14) * (10 / 14) / 4),
    ],
)
def test_worked_numbers(name: str, left: Any, right: Any, expected: float) -> None:
    assert _gain(name, left, right, layout_of(name, 2))[0] == pytest.approx(expected, abs=1e-11)


def test_impurities_of_well_known_nodes() -> None:
    nodes = of_nodes([5, 5], [0, 7], [9, 5]).T
    layout = layout_of("gini", 2)
    gini, entropy = CLASSIFICATION["gini"].impurity, CLASSIFICATION["entropy"].impurity
    assert gini is not None
    assert entropy is not None
    np.testing.assert_allclose(gini(nodes, layout), [0.5, 0.0, 0.459183673469], rtol=1e-11)
    bits = -(9 * math.log2(9 / 14) + 5 * math.log2(5 / 14)) / 14
    np.testing.assert_allclose(entropy(nodes, layout), [1.0, 0.0, bits], rtol=1e-14)
