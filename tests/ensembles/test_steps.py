import numpy as np

from vtree.ensembles.derivatives import Weights
from vtree.ensembles.steps import Leaves, Rows, leaf_steps, smoothed
from vtree.grown import blank

DRAW = np.random.default_rng(1)
Y, RAW = DRAW.normal(size=30), DRAW.normal(size=(30, 1))
G, H = DRAW.normal(size=30), DRAW.random(30)
ORDER, LENGTHS = DRAW.permutation(30), np.array([4, 11, 15])
PARTS = np.split(ORDER, [4, 15])
TABLE = Rows(Y, RAW[:, 0], G, H, Weights.of(None, 1.0, 30))


def test_quantiles_of_residuals() -> None:
    found = leaf_steps(Leaves(levels=(0.5,)), TABLE, ORDER, LENGTHS)
    expected = [np.median(Y[own] - RAW[own, 0]) for own in PARTS]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_sums_over_curvatures() -> None:
    found = leaf_steps(Leaves(by_curvature=True), TABLE, ORDER, LENGTHS)
    np.testing.assert_allclose(found, [-G[own].sum() / H[own].sum() for own in PARTS], rtol=1e-9)
    assert not Leaves().searched
    assert Leaves(by_curvature=True).searched and Leaves(levels=(0.5,)).searched


def test_huber_clips_distances_to_the_median() -> None:
    found = leaf_steps(Leaves(huber=0.8), TABLE, ORDER, LENGTHS)
    residual = Y - RAW[:, 0]
    ordered = np.sort(np.abs(residual))
    delta = (ordered[23] + ordered[24]) / 2.0
    for number, own in enumerate(PARTS):
        middle = np.median(residual[own])
        expected = middle + np.clip(residual[own] - middle, -delta, delta).mean()
        np.testing.assert_allclose(found[number], expected, rtol=1e-9)


def test_answers_lean_on_those_above_by_their_rows() -> None:
    grown = blank(3, 2)._replace(
        parent=np.array([-1, 0, 0]),
        depth=np.array([0, 1, 1]),
        total=np.array([[30, 0], [10, 0], [20, 0]]),
    )
    step = np.array([[4.0], [6.0], [3.0]])
    root = 4.0
    expected = [root, 6.0 / 2 + root / 2, 3.0 * 2 / 3 + root / 3]
    np.testing.assert_allclose(smoothed(step, grown, 10.0)[:, 0], expected, rtol=1e-15)
