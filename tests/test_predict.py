import numpy as np

import vtree
from tests.bits import assert_same_bits
from tests.c45_golden import split_table
from tests.conftest import Namespace
from tests.fitting import Setting, fit
from vtree.predict import leaves, parts_in_leaves, totals


def test_leaves_come_to_the_host_from_any_namespace(xp: Namespace) -> None:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(80, 3)), 1)
    X[random.random(X.shape) < 0.2] = np.nan
    y = random.integers(0, 3, 80)
    forest = fit(X, y, Setting(), roots=[np.arange(80), np.arange(40)])
    found = leaves(forest, xp.asarray(X))
    assert isinstance(found, np.ndarray)
    assert found.shape == (80, 2)
    assert_same_bits(found, leaves(forest, X))
    assert (forest.first_child[found] == -1).all()


def test_training_rows_arrive_where_they_were_counted() -> None:
    random = np.random.default_rng(1)
    X = np.round(random.normal(size=(80, 3)), 1)
    tree = fit(X, random.integers(0, 3, 80), Setting())
    counts = np.bincount(leaves(tree, X)[:, 0], minlength=tree.feature.size)
    np.testing.assert_array_equal(counts, np.where(tree.first_child < 0, tree.n_rows, 0))


def test_totals_add_the_values_of_the_leaves(xp: Namespace) -> None:
    random = np.random.default_rng(2)
    X = np.round(random.normal(size=(90, 3)), 1)
    y = random.integers(0, 3, 90)
    forest = fit(X, y, Setting(max_depth=3), roots=[np.arange(90), np.arange(50), np.arange(20)])
    found = totals(forest, xp.asarray(X), forest.value, np.zeros(3, dtype=np.int64), 3)
    expected = np.zeros((90, 3))
    for leaf in leaves(forest, X).T:
        expected += forest.value[leaf]
    assert_same_bits(xp.to_numpy(found), expected)


def test_rows_without_a_value_rest_in_parts() -> None:
    X, y, _, _ = split_table("penguins.third")
    model = vtree.C45Classifier().fit(X, y)
    values = model._encode(X)
    row, node, share = parts_in_leaves(model.grown_, values)
    np.testing.assert_allclose(np.bincount(row, share), np.ones(len(y)), rtol=1e-12)
    assert (share > 0.0).all() and len(row) > len(y)
    answer = np.zeros((len(y), 3))
    np.add.at(answer, row, share[:, None] * model.grown_.value[node])
    np.testing.assert_allclose(answer, model.predict_proba(X), atol=1e-11)
    known = ~np.isnan(values).any(axis=1)
    assert (np.bincount(row)[known] == 1).all()
