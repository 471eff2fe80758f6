import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree.losses import CLASSIFICATION, Slopes, end_to_end, first_order, held, weighed
from vtree.losses.slopes import reach_of_slopes

DRAW = np.random.default_rng(0)
G, H, FACTOR = DRAW.normal(size=50), DRAW.random(50), DRAW.random(50)
SOME = slice(10, 20)


def test_weighed() -> None:
    plain = held(G, H)
    assert weighed(plain, 1.0, None) is plain
    gradient, hessian = weighed(held(G, H), 2.0, FACTOR).of(SOME)
    assert_same_bits(gradient, G[SOME] * FACTOR[SOME])
    assert hessian is not None
    assert_same_bits(hessian, 2.0 * H[SOME] * FACTOR[SOME])
    of_ones = weighed(held(G, None), 2.0, FACTOR).of(SOME)[1]
    assert of_ones is not None
    assert_same_bits(of_ones, FACTOR[SOME])


def test_reaches_are_known_or_looked_for() -> None:
    known = held(G, H)._replace(reach=(5.0, 0.25))
    assert weighed(known, 2.0, None).reach == (5.0, 0.5)
    assert weighed(known, 2.0, FACTOR).reach is None
    assert first_order(known).reach == (5.0, 1.0)
    assert reach_of_slopes([known, held(G, H)]) == (5.0, max(0.25, float(H.max())))
    assert reach_of_slopes([held(G, None)]) == (float(np.abs(G).max()), 1.0)
    assert np.isnan(reach_of_slopes([known, held(np.array([np.nan]), None)])[0])


def test_first_order_and_end_to_end() -> None:
    assert first_order(held(G, H)).of(SOME)[1] is None
    both = end_to_end([held(G, H), held(-G, 2.0 * H)])
    assert both.n_rows == 100
    gradient, hessian = both.of(slice(45, 55))
    assert_same_bits(gradient, np.r_[G[45:], -G[:5]])
    assert hessian is not None
    assert_same_bits(hessian, np.r_[H[45:], 2.0 * H[:5]])
    one = held(G, None)
    assert end_to_end([one]) is one
    assert end_to_end([one, one]).whole()[1] is None


@pytest.mark.parametrize("n_classes", [3, 5])
def test_classes_in_turn(n_classes: int) -> None:
    loss = CLASSIFICATION["multinomial"]
    assert loss.in_turn is not None
    start = DRAW.normal(size=n_classes)
    sums = np.asfortranarray(DRAW.normal(size=(200, n_classes)))
    y = DRAW.integers(0, n_classes, 200).astype(np.float64)
    terms = loss.derivatives(start + sums, y)
    columns: list[Slopes] = loss.in_turn(start, sums, y)
    reach = reach_of_slopes(
        [held(g, h) for g, h in zip(*map(np.transpose, terms[:2]), strict=True)]
    )
    for k, column in enumerate(columns):
        gradient, hessian = column.whole()
        assert_same_bits(gradient, terms.gradient[:, k])
        assert_same_bits(hessian, terms.hessian[:, k])
        assert column.reach == reach
        sums[:, k] += 1.0  # as its tree does; the others ask for it no more
