"""Embeddings by random trees: columns, names, weights, and one model everywhere."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import sklearn.ensemble

import vtree
from tests.conftest import NAMESPACES
from tests.estimator_checks import failed_checks
from vtree import RandomTreesEmbedding
from vtree.ensembles import forest as forests

X = np.random.default_rng(0).normal(size=(150, 3))


def test_parameters_and_defaults_are_those_of_scikit_learn() -> None:
    theirs = inspect.signature(sklearn.ensemble.RandomTreesEmbedding).parameters
    ours = inspect.signature(RandomTreesEmbedding).parameters
    assert {name: each.default for name, each in theirs.items()}.items() <= {
        name: each.default for name, each in ours.items()
    }.items()


def test_a_row_has_a_one_in_the_column_of_its_leaf_in_each_tree() -> None:
    model = RandomTreesEmbedding(7, max_depth=3, random_state=0)
    embedded = model.fit_transform(X)
    assert embedded.format == "csr"
    names = model.get_feature_names_out()
    assert embedded.shape == (150, names.size)
    for row, own in zip(model.apply(X), embedded.toarray(), strict=True):
        expected = {f"randomtreesembedding_{tree}_{leaf}" for tree, leaf in enumerate(row)}
        assert set(names[own == 1.0]) == expected
    dense = RandomTreesEmbedding(7, max_depth=3, random_state=0, sparse_output=False)
    np.testing.assert_array_equal(dense.fit_transform(X), embedded.toarray())


def test_leaves_are_as_many_as_scikit_learns() -> None:
    leaves = [
        [
            home.RandomTreesEmbedding(20, max_depth=4, random_state=seed).fit_transform(X).shape[1]
            for seed in range(6)
        ]
        for home in (vtree, sklearn.ensemble)
    ]
    spread = np.std(leaves, axis=1).mean()
    assert abs(np.mean(leaves[0]) - np.mean(leaves[1])) < 3.0 * spread * np.sqrt(2 / 6)


@pytest.mark.parametrize("most", [None, 9])
def test_one_model_on_every_backend_and_in_any_batches(
    most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = np.round(X, 1)
    table[::9, 2] = np.nan
    weight = np.arange(1.0, 151.0) % 4

    def digest(values: object, n_jobs: int = 1) -> str:
        model = RandomTreesEmbedding(
            5, max_depth=4, max_leaf_nodes=most, random_state=1, n_jobs=n_jobs
        )
        found: str = vtree.digest(model.fit(values, sample_weight=weight))
        return found

    expected = digest(table)
    assert digest(table, 4) == expected
    for make in NAMESPACES.values():
        with vtree.kernels("reference"):
            assert digest(make().asarray(table)) == expected
    monkeypatch.setattr(forests, "_MOST_ROWS", 200)
    assert digest(table) == expected


def test_rows_without_weight_are_absent() -> None:
    weight = np.ones(150)
    weight[100:] = 0.0
    model = RandomTreesEmbedding(4, random_state=0).fit(X, sample_weight=weight)
    assert all(tree.grown_.n_rows[0] == 100 for tree in model)


def test_steps_of_warm_start_are_one_fit() -> None:
    once = RandomTreesEmbedding(6, random_state=5).fit(X)
    steps = RandomTreesEmbedding(1, random_state=5, warm_start=True).fit(X)
    for count in (3, 6):
        steps.set_params(n_estimators=count).fit(X)
    assert vtree.digest(steps) == vtree.digest(once)
    np.testing.assert_array_equal(steps.transform(X).toarray(), once.transform(X).toarray())


def test_saved_and_pickled_models_answer_alike(tmp_path: Path) -> None:
    model = RandomTreesEmbedding(4, random_state=0).fit(X)
    vtree.save(model, tmp_path / "model.vtree")
    for twin in (vtree.load(tmp_path / "model.vtree"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.transform(X).toarray(), model.transform(X).toarray())
        assert list(twin.get_feature_names_out()) == list(model.get_feature_names_out())


def test_there_is_no_out_of_bag_answer() -> None:
    with pytest.raises(NotImplementedError, match="OOB score not supported"):
        RandomTreesEmbedding()._set_oob_score_and_attributes(X, X)


def test_scikit_learns_checks() -> None:
    assert not failed_checks(RandomTreesEmbedding(3))
