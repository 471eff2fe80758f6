"""The search of a frontier: the same splits from histograms built, kept or derived, or none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fitting import Setting, fit
from vtree import frontier
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.tree import Tree, depth, fingerprint


def _data(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(n_rows, 4)), 1)
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.rint(np.nan_to_num(X).sum(axis=1) + random.normal(size=n_rows))
    return X, np.clip(y + 2, 0, 4).astype(np.int64)


@pytest.mark.parametrize("criterion", [*CLASSIFICATION, *REGRESSION])
@pytest.mark.parametrize("few_rows", [30, 256, 10**9])
@pytest.mark.parametrize("how", ["plain", "weights, categories", "constraints, subsets"])
def test_nodes_with_few_rows_are_searched_alike_without_histograms(
    criterion: str, few_rows: int, how: str
) -> None:
    X, y = _data(400)
    weight = None
    setting = Setting(criterion, few_rows=0)
    if how == "weights, categories":
        X[:, 3] = np.abs(np.rint(X[:, 3]))
        setting = replace(setting, levels=(-1, -1, -1, 5), min_rows=3)
        weight = np.random.default_rng(1).integers(1, 4, 400) / 2.0
    elif how == "constraints, subsets":
        y = (y > 1).astype(np.int64)
        setting = replace(setting, monotone=(1, 0, -1, 0), max_features=2)
    whole = fit(X, y + 1, setting, weight)
    few = fit(X, y + 1, replace(setting, few_rows=few_rows), weight)
    assert fingerprint(few) == fingerprint(whole)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many rows are added to histograms, one entry a call."""
    rows: list[int] = []
    for name in ("build", "build_level"):
        own = getattr(frontier, name)

        def noted(*given: Any, _own: Any = own, _name: str = name) -> Any:
            start, stop = given[3:5] if _name == "build" else (given[3].start, given[3].stop)
            rows.append(int((stop - start).sum()))
            return _own(*given)

        monkeypatch.setattr(frontier, name, noted)
    return rows


def _smaller_siblings(tree: Tree) -> dict[int, int]:
    """Return the rows of the smaller child of all splits, by their depth."""
    split = np.flatnonzero(tree.first_child >= 0)
    first = tree.first_child[split]
    rows = np.minimum(tree.n_rows[first], tree.n_rows[first + 1])
    level = depth(tree)[split]
    return {int(own): int(rows[level == own].sum()) for own in np.unique(level)}


def test_of_two_siblings_the_smaller_one_is_built(built: list[int]) -> None:
    X, y = _data(4000)
    tree = fit(X, y, Setting(few_rows=0, max_depth=5, min_rows_split=1, min_rows=40))
    smaller = _smaller_siblings(tree)
    assert built[0] == 4000
    # Those of the last level stay leaves and are not searched.
    searched = [smaller[d] for d in range(len(built) - 1)]
    assert len(searched) == 4
    assert all(own <= most for own, most in zip(built[1:], searched, strict=True))
    assert built[1] == searched[0]


def test_what_does_not_fit_is_built_in_slices(built: list[int]) -> None:
    X, y = _data(4000)
    setting = Setting(few_rows=0, max_depth=5)
    whole = fit(X, y, setting)
    calls = len(built)
    assert fingerprint(fit(X, y, replace(setting, budget=None))) == fingerprint(whole)
    assert len(built) - calls > calls
