"""Rows sent down a tree again: known ones by value, others in fractions."""

import numpy as np
import pytest

from tests.c45_golden import split_table
from vtree import C45Classifier
from vtree.pruning.rerouting import Entries, Rows, Shape, distributions, step


def _start(name: str) -> tuple[Shape, Rows, Entries, C45Classifier]:
    X, y, _, _ = split_table(name)
    model = C45Classifier(prune=False, collapse=False).fit(X, y)
    values = np.asarray(model._encode(X), dtype=np.float64)
    label = np.searchsorted(model.classes_, y)
    unit = 1 << 30
    weight = np.full(len(y), unit, dtype=np.int64)
    rows = Rows(values, label, weight, np.ones(len(y), np.int64), 1.0 / unit, model.n_classes_)
    shape = Shape._make(getattr(model.grown_, field) for field in Shape._fields)
    zero = np.zeros(1, dtype=np.int64)
    return shape, rows, Entries(np.arange(len(y)), weight, np.zeros(len(y), int), zero, zero), model


@pytest.mark.parametrize("name", ["golf_missing.all", "penguins.third", "titanic.third"])
def test_every_node_gets_the_weights_it_had_in_growth(name: str) -> None:
    shape, rows, entries, model = _start(name)
    seen = 0
    while entries.node.size:
        found = distributions(entries, rows) * rows.unit
        tree = model.grown_
        expected = tree.value[entries.node] * tree.weight[entries.node][:, None]
        filled = tree.weight[entries.node] > 0
        np.testing.assert_allclose(found[filled], expected[filled], atol=1e-6)
        assert (found[~filled] == 0).all()
        seen += entries.node.size
        entries = step(entries, shape, rows)
    assert seen == model.grown_.feature.size


def test_the_case_without_an_outlook() -> None:
    shape, rows, entries, _ = _start("golf_missing.all")
    below = distributions(step(entries, shape, rows), rows).sum(axis=1) * rows.unit
    # overcast, rainy, sunny: 3 + 3/13, 5 + 5/13, 5 + 5/13
    np.testing.assert_allclose(below, [3.230769, 5.384615, 5.384615], atol=1e-6)
