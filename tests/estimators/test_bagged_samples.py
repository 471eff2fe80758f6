"""The samples of bags that went on with other rows, weights or sizes than before."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import vtree
from tests.samples import classes
from vtree import BaggingClassifier, C45Classifier


@pytest.mark.parametrize("learner", [None, C45Classifier(), KNeighborsClassifier()])
def test_each_tree_keeps_what_it_was_drawn_from(learner: Any, tmp_path: Path) -> None:
    X, y = classes()
    bag = BaggingClassifier(learner, n_estimators=3, random_state=5, warm_start=True).fit(X, y)
    before = bag.estimators_samples_
    weight = np.arange(y.size) % 3 == 0
    bag.set_params(n_estimators=5, max_samples=0.5).fit(X, y, weight.astype(float))
    weighed = bag.estimators_samples_
    bag.set_params(n_estimators=7, bootstrap=False, max_features=2).fit(X[:90], y[:90])
    after = bag.estimators_samples_
    assert [rows.size for rows in after[:3]] == [y.size] * 3
    for number in range(3):
        np.testing.assert_array_equal(after[number], before[number])
    for number in (3, 4):
        np.testing.assert_array_equal(after[number], weighed[number])
        assert weight[after[number]].all()
    for number in (5, 6):
        np.testing.assert_array_equal(np.unique(after[number]).size, 45)
        assert after[number].max() < 90 and bag.estimators_features_[number].size == 2
    if isinstance(learner, KNeighborsClassifier):
        return
    for tree, rows in zip(bag.estimators_, after, strict=True):
        assert tree.grown_.n_rows[0] == np.unique(rows).size
    vtree.save(bag, tmp_path / "bag.vtree")
    again = vtree.load(tmp_path / "bag.vtree")
    for ours, theirs in zip(again.estimators_samples_, after, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_out_of_bag_answers_are_by_the_samples_of_the_latest_fit() -> None:
    X, y = classes()
    learner = KNeighborsClassifier()
    bag = BaggingClassifier(learner, n_estimators=30, random_state=5).fit(X[:50], y[:50])
    bag.set_params(oob_score=True).fit(X, y)
    once = BaggingClassifier(learner, n_estimators=30, random_state=5, oob_score=True).fit(X, y)
    np.testing.assert_array_equal(bag.oob_decision_function_, once.oob_decision_function_)


def test_threads_of_a_fitted_bag_are_those_of_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes()
    bag = BaggingClassifier(C45Classifier(), n_estimators=2, random_state=5).fit(X, y)
    seen = []
    asked = C45Classifier.predict_proba

    def predict_proba(tree: Any, table: Any) -> Any:
        seen.append(tree.n_jobs)
        return asked(tree, table)

    monkeypatch.setattr(C45Classifier, "predict_proba", predict_proba)
    bag.set_params(n_jobs=2).predict(X)
    assert seen == [2, 2]
    assert [tree.n_jobs for tree in bag.estimators_] == [None, None]
