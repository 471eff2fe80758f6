"""Rows kept in order while a tree grows: the same tree as without them."""

from typing import Any

import numpy as np
import pytest

import vtree
from vtree import sorted_rows
from vtree.estimators import information_tree
from vtree.sorted_rows import SortedRows


def _table(classes: int) -> tuple[Any, Any]:
    random = np.random.default_rng(classes)
    X = random.normal(size=(900, 5)).round(2)
    X[:, 3] = random.integers(0, 4, 900)  # nominal
    noisy = X[:, 0] + (X[:, 3] == 2) - X[:, 1] * X[:, 2] + random.normal(scale=0.4, size=900)
    return X, np.digitize(noisy, np.linspace(-1.0, 1.0, classes - 1))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_same_tree(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _table(classes)
    model = vtree.C45Classifier(categorical_features=[3], mdl_correction=False, n_jobs=2)
    expected = vtree.digest(model.fit(X, y))
    assert model.get_n_leaves() > 20
    monkeypatch.setattr(information_tree, "suits", lambda bins, targets: False)
    assert vtree.digest(model.fit(X, y)) == expected
    with vtree.kernels("reference"):
        assert vtree.digest(model.fit(X, y)) == expected


def test_what_asks_for_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _table(2)
    used = []

    class Noted(SortedRows):
        def __init__(self, *args: Any) -> None:
            used.append(args)
            super().__init__(*args)

    monkeypatch.setattr(information_tree, "SortedRows", Noted)
    vtree.C45Classifier().fit(X, y)
    assert len(used) == 1
    missing = X.copy()
    missing[0, 0] = np.nan
    vtree.C45Classifier().fit(missing, y)
    vtree.C45Classifier().fit(X, y, np.linspace(1.0, 2.0, y.size))
    vtree.C45Classifier(categorical_features=[True] * 5).fit(np.abs(X).round(), y)
    with vtree.kernels("reference"):
        vtree.C45Classifier().fit(X, y)
    monkeypatch.setattr(sorted_rows, "_MOST_BYTES", 8 * X.size - 1)
    vtree.C45Classifier().fit(X, y)
    assert len(used) == 1
