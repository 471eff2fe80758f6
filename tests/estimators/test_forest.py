"""What all forests share: their trees, their samples, going on, and what they refuse."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble

import vtree
from tests.estimator_checks import failed_checks
from tests.samples import classes, columns, reals
from vtree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from vtree.errors import InputError

FORESTS = [
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
]
X, Y = classes()


@pytest.mark.parametrize("forest", FORESTS)
def test_a_tree_of_a_forest_is_the_tree_of_its_seed(forest: Any) -> None:
    model = forest(4, bootstrap=False, max_features=2, random_state=3).fit(X, Y)
    splitter = "random" if "Extra" in forest.__name__ else "best"
    kind = DecisionTreeClassifier if "Classifier" in forest.__name__ else DecisionTreeRegressor
    for tree in model:
        alone = kind(max_features=2, splitter=splitter, random_state=tree.random_state).fit(X, Y)
        assert vtree.digest(alone) == vtree.digest(tree)


@pytest.mark.parametrize("forest", FORESTS)
@pytest.mark.parametrize("bootstrap", [True, False])
def test_three_steps_of_warm_start_are_one_fit(forest: Any, bootstrap: bool) -> None:
    once = forest(25, random_state=5, bootstrap=bootstrap, oob_score=bootstrap).fit(X, Y)
    steps = forest(2, random_state=5, bootstrap=bootstrap, warm_start=True)
    for count in (2, 3, 25):
        steps.set_params(n_estimators=count, oob_score=bootstrap and count == 25).fit(X, Y)
        assert len(steps) == count
    assert vtree.digest(steps) == vtree.digest(once)
    assert getattr(steps, "oob_score_", None) == getattr(once, "oob_score_", None)
    np.testing.assert_array_equal(steps.estimators_samples_, once.estimators_samples_)


def test_samples_are_those_of_scikit_learn() -> None:
    ours = RandomForestClassifier(6, random_state=11, max_samples=0.5).fit(X, Y)
    theirs = sklearn.ensemble.RandomForestClassifier(6, random_state=11, max_samples=0.5)
    np.testing.assert_array_equal(ours.estimators_samples_, theirs.fit(X, Y).estimators_samples_)


@pytest.mark.parametrize("forest", FORESTS)
def test_columns_of_a_frame_with_gaps_and_categories(forest: Any) -> None:
    table, two = columns()
    frame = pd.DataFrame(table)
    model = forest(20, random_state=0, bootstrap=True, oob_score=True).fit(frame, two)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.score(frame, two) > 0.6
    assert any((tree.grown_.kind == 1).any() for tree in model), "no split by category"
    with pytest.raises(InputError, match="feature names"):
        model.predict(frame.rename(columns={"size": "length"}))


@pytest.mark.parametrize(("scheme", "outputs"), [("labels", 2), ("reals", 3)])
def test_several_outputs(scheme: str, outputs: int) -> None:
    if scheme == "labels":
        y = np.stack([Y, (Y > 0).astype(int)], axis=1)
        model = RandomForestClassifier(9, random_state=0).fit(X, y)
        shares = model.predict_proba(X)
        assert [share.shape for share in shares] == [(200, 3), (200, 2)]
        np.testing.assert_allclose(shares[1].sum(axis=1), 1.0)
    else:
        y = X[:, :3]
        model = RandomForestRegressor(9, random_state=0).fit(X, y)
    assert model.predict(X).shape == (200, outputs)
    if scheme == "labels":
        assert (model.predict(X) == y).mean() > 0.9
    else:
        assert model.score(X, y) > 0.7


def test_pruning_cuts_every_tree_as_it_would_alone() -> None:
    whole = RandomForestRegressor(4, random_state=0).fit(*reals())
    cut = RandomForestRegressor(4, random_state=0, ccp_alpha=0.01).fit(*reals())
    sizes = [tree.tree_.node_count for tree in cut]
    assert all(a < tree.tree_.node_count for a, tree in zip(sizes, whole, strict=True))
    alone = DecisionTreeRegressor(
        max_features=1.0, random_state=cut[1].random_state, ccp_alpha=0.01
    )
    rows, times = np.unique(cut.estimators_samples_[1], return_counts=True)
    alone.fit(reals()[0][rows], reals()[1][rows], times)
    assert alone.tree_.node_count == sizes[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_samples": 0}, "max_samples"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": 99}, r"max_features=99, but X has \d features"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"bootstrap": False, "oob_score": True}, "Out of bag estimation only available"),
        ({"bootstrap": False, "max_samples": 0.5}, "max_samples=0.5 is for bootstrap samples"),
        ({"max_samples": True}, "'max_samples' .* Got True"),
        ({"max_features": True}, "'max_features' .* Got True"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
@pytest.mark.parametrize("forest", FORESTS)
def test_contradictions_are_named(forest: Any, parameters: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        forest(**{"bootstrap": True, **parameters}).fit(X, Y)


def test_a_low_number_of_draws_is_told_in_rows_or_in_weights() -> None:
    model = RandomForestClassifier(2, max_samples=0.01, random_state=0)
    n_rows = len(X)
    with pytest.warns(UserWarning, match=f"when there are {n_rows} rows results in a low number"):
        model.fit(X, Y)
    total = f"the total sum of sample weights is {n_rows / 2}"
    with pytest.warns(UserWarning, match=total):
        model.fit(X, Y, np.full(n_rows, 0.5))


def test_warm_start_with_fewer_trees_is_refused_and_changes_nothing() -> None:
    model = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, Y)
    before = vtree.digest(model)
    with pytest.raises(InputError, match=r"n_estimators=4 must be larger or equal to .*=5"):
        model.set_params(n_estimators=4).fit(X, Y)
    assert vtree.digest(model) == before


def test_an_interrupted_fit_leaves_the_forest_unfitted(monkeypatch: Any) -> None:
    from vtree.ensembles import forest as forests

    def interrupt(*arguments: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(forests, "finish", interrupt)
    model = RandomForestClassifier(3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_")]


ROW_DRAWS = "a bootstrap draw by row is no draw of repeated rows"


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("forest", FORESTS)
def test_scikit_learns_checks(forest: Any, bootstrap: bool) -> None:
    excused = {
        f"check_sample_weight_equivalence_on_{kind}_data": ROW_DRAWS for kind in ("dense", "sparse")
    }
    assert not failed_checks(forest(3, bootstrap=bootstrap), excused if bootstrap else ())


@pytest.mark.parametrize("most", [10**20, 1e300])
def test_samples_beyond_reason_are_refused(most: float) -> None:
    for kind in (RandomForestRegressor, vtree.BaggingRegressor):
        with pytest.raises(InputError, match="max_samples"):
            kind(max_samples=most).fit(X, Y)
