import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier as OfScikitLearn

from tests.samples import classes
from vtree import BaggingClassifier, C45Classifier, DecisionTreeClassifier
from vtree.ensembles.adaboost import Weights
from vtree.estimators.progress import Report
from vtree.estimators.weak_learners import OneTable, WholeFits, learner_of, tree_of


def test_trees_of_ours_are_told_from_others() -> None:
    for own in (C45Classifier(), DecisionTreeClassifier(class_weight="balanced")):
        assert tree_of(own) is own
    for other in (OfScikitLearn(), BaggingClassifier(), None):
        assert tree_of(other) is None


def test_both_learners_grow_the_same_tree() -> None:
    X, y = classes()
    weight: NDArray[np.float64] = np.tile(
        [0.25, 0.75, 1.25, 1.75], len(y) // 4
    )  # in quarters, and 1 in the mean
    template = DecisionTreeClassifier(max_depth=3)
    data = template._prepare(X, y, None)
    template._remember(X, data.schema)
    report = Report(None, "round", {}, None)
    found = []
    for learner in (
        learner_of(template, data, np.random.RandomState(0), report, (X, y), len(y)),
        WholeFits(template, data, np.random.RandomState(0), report, (X, y), len(y)),
    ):
        tree, answers = learner(Weights(weight))
        found.append((tree, answers, learner.members[0].random_state))
    assert isinstance(learner_of(template, data, None, report, (X, y), len(y)), OneTable)
    for one, other in zip(*(each[0] for each in found), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert found[0][2] == found[1][2]


def test_rows_without_weight_are_asked_nothing() -> None:
    X, y = classes(40)
    weight = np.ones(40)
    weight[:5] = 0.0
    template = C45Classifier()
    data = template._prepare(X, y, weight)
    template._remember(X, data.schema)
    learner = learner_of(
        template, data, np.random.RandomState(0), Report(None, "", {}, None), (X, y), 35.0
    )
    _, answers = learner(Weights(np.ones(35)))
    assert answers.shape == (35,)
    alone = C45Classifier().fit(X[5:], y[5:])
    np.testing.assert_array_equal(alone.classes_[answers], alone.predict(X[5:]))
    with pytest.raises(ValueError, match="shape|broadcast"):
        learner(Weights(np.ones(40)))
