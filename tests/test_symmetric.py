"""One split a level: against all candidates tried by hand, and on every backend."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import Namespace
from vtree.binning import bin_table
from vtree.criteria import NEWTON
from vtree.grown import Grown
from vtree.growth import grow
from vtree.plan import Plan, Stops
from vtree.symmetric import NO_FEW_ROWS, WHOLE_LEVELS, Noise, SymmetricSearch
from vtree.targets import Targets
from vtree_kernels import kernels
from vtree_kernels.scan import Layout

NUMBERS = np.full(3, -1)


def _targets(sums: NDArray[np.int64]) -> Targets:
    """Return the statistics of rows (N, K) that all weigh one."""
    n_rows, outputs = sums.shape
    return Targets(
        label=np.zeros((n_rows, 0), dtype=np.int32),
        weight=None,
        sums=sums,
        identity=np.zeros((n_rows, 0)),
        layout=Layout(0, 1, outputs, 1, 1, 0.0, 1.0, (1.0,) * outputs),
        center=np.zeros(outputs),
        scale=np.ones(outputs),
        weight_unit=1.0,
    )


def _grow(
    X: Any,
    sums: NDArray[np.int64],
    *,
    levels: NDArray[np.int64] = NUMBERS,
    depth: int = 3,
    **own: Any,
) -> Grown:
    targets = _targets(sums)
    search = SymmetricSearch(NEWTON, targets.layout, **own)
    plan = Plan(search, Stops(depth, 0), WHOLE_LEVELS, few_rows=NO_FEW_ROWS)
    return grow(bin_table(X, levels), targets, plan)[0]


def _data(n_rows: int = 90) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    X = random.integers(0, 6, (n_rows, 3)).astype(np.float64)
    sums = np.stack([X @ [10.0, -20.0, 5.0], X @ [1.0, 9.0, 30.0]], axis=1)
    sums += random.normal(scale=20.0, size=sums.shape)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, np.rint(sums - sums.mean()).astype(np.int64)


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("levels", [(-1, -1, -1), (-1, 6, -1)])
def test_a_level_has_one_split_on_every_backend(
    cosine: bool, levels: tuple[int, ...], xp: Namespace
) -> None:
    X, sums = _data()
    own: dict[str, Any] = {"levels": np.array(levels), "cosine": cosine, "shrink": 3.0}
    own["noise"] = Noise(7, 2.0)
    grown = _grow(X, sums, **own)
    for level in range(3):
        here = grown.depth == level
        assert here.sum() == 2**level
        assert len(set(zip(grown.feature[here], grown.bin[here], strict=True))) == 1
        assert grown.total[here, 0].sum() == 90
    with kernels("reference"):
        other = _grow(xp.asarray(X), sums, **own)
    for field in ("feature", "kind", "bin", "missing_child", "total", "threshold", "gain"):
        np.testing.assert_array_equal(getattr(other, field), getattr(grown, field))


def _score(sides: list[NDArray[np.bool_]], sums: NDArray[np.int64], shrink: float) -> float:
    return float(sum((sums[s].sum(axis=0) ** 2).sum() / (s.sum() + shrink) for s in sides))


def test_each_split_is_the_best_of_all() -> None:
    X, sums = _data()
    X = np.nan_to_num(X, nan=2.0)
    grown = _grow(X, sums, cosine=False, shrink=2.0, depth=2)
    nodes = [np.ones(90, dtype=np.bool_)]
    for level in range(2):
        worth = {
            (f, cut + 0.5): _score(
                [side & node for node in nodes for side in (X[:, f] <= cut, X[:, f] > cut)],
                sums,
                2.0,
            )
            for f in range(3)
            for cut in range(5)
        }
        best = max(worth, key=lambda candidate: worth[candidate])
        first = int(np.flatnonzero(grown.depth == level)[0])
        assert (grown.feature[first], grown.threshold[first]) == best
        assert grown.gain[first] == pytest.approx(worth[best])
        cut = X[:, best[0]] <= best[1]
        nodes = [side & node for node in nodes for side in (cut, ~cut)]


def test_categories_split_one_from_all_others() -> None:
    X, sums = _data()
    X = X[:, 1:2]
    grown = _grow(X, sums[:, :1], levels=np.array([6]), cosine=False, depth=1)
    tried = [np.isnan(X[:, 0]), *(X[:, 0] == level for level in range(6))]
    worth = [_score([own, ~own], sums[:, :1], 0.0) for own in tried]
    assert grown.kind[0] == 1
    assert grown.bin[0] == int(np.argmax(worth))
    assert grown.total[1, 0] == tried[int(np.argmax(worth))].sum()


def test_trees_that_learn_and_trees_that_judge() -> None:
    """The steps come from 40 rows, the score from 50 others."""
    X, sums = _data()
    X, sums = np.nan_to_num(X, nan=2.0), sums[:, :1]
    targets = _targets(sums)
    search = SymmetricSearch(NEWTON, targets.layout, shrink=1.0, cosine=False, judges=True)
    plan = Plan(search, Stops(2, 0), WHOLE_LEVELS, few_rows=NO_FEW_ROWS)
    roots = [np.arange(40), np.arange(40, 90)]
    keys = np.zeros(2, dtype=np.uint64)
    grown, _, _ = grow(bin_table(X, NUMBERS), targets, plan, roots=roots, keys=keys)
    own, judged = np.arange(90) < 40, np.arange(90) >= 40
    worth = {}
    for f, cut in ((f, cut) for f in range(3) for cut in range(5)):
        sides = (X[:, f] <= cut, X[:, f] > cut)
        steps = [sums[side & own].sum() / ((side & own).sum() + 1.0) for side in sides]
        found = [sums[side & judged].sum() for side in sides]
        worth[f, cut + 0.5] = float(np.dot(steps, found))
    best = max(worth, key=lambda candidate: worth[candidate])
    assert (grown.feature[0], grown.threshold[0]) == best
    assert grown.gain[0] == pytest.approx(worth[best])
    for level in range(2):  # both trees are divided alike
        here = grown.depth == level
        assert here.sum() == 2 * 2**level
        assert np.unique(grown.threshold[here]).size == 1


def test_nothing_to_split_leaves_a_leaf() -> None:
    grown = _grow(np.ones((4, 3)), np.arange(4)[:, None])
    assert grown.first_child.tolist() == [-1]


def test_chance_changes_splits_by_its_seed() -> None:
    X, sums = _data()
    thresholds = {
        tuple(_grow(X, sums, noise=Noise(seed, 1e3)).threshold.tolist()) for seed in range(5)
    }
    assert len(thresholds) > 1


def test_chance_favours_no_code_without_a_bin() -> None:
    """A lone value and missing ones, in a group padded to the codes of a wider neighbour."""
    X, sums = np.full((40, 2), np.nan), np.arange(40)[:, None] - 20
    X[:20, 0], X[:, 1] = 1.0, 0.0
    X[0, 1] = np.nan
    for seed in range(8):
        grown = _grow(X, sums, levels=NUMBERS[:2], depth=1, noise=Noise(seed, 1e3))
        assert np.isinf(grown.threshold[0])
        assert grown.bin[0] == 1
