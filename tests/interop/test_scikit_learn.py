"""`to_sklearn`: scikit-learn's own estimators, so that its plots and exports work."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.samples import classes, columns, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.errors import InputError

X, Y = classes()
X = X.astype(np.float32)
WITH_GAPS = X.copy()
WITH_GAPS[::6, 1] = np.nan

MODELS: dict[str, Any] = {
    "classes": lambda: DecisionTreeClassifier().fit(WITH_GAPS, Y),
    "strings": lambda: DecisionTreeClassifier().fit(X, np.array(["a", "b", "c"])[Y]),
    "twoing": lambda: DecisionTreeClassifier(criterion="twoing", max_depth=4).fit(X, Y),
    "several": lambda: DecisionTreeClassifier().fit(X, np.stack([Y, Y > 0, Y % 2], axis=1)),
    "reals": lambda: DecisionTreeRegressor(max_leaf_nodes=20).fit(WITH_GAPS, reals()[1]),
    "several reals": lambda: DecisionTreeRegressor(max_depth=3).fit(X, X[:, :2]),
    "a leaf": lambda: DecisionTreeRegressor().fit(X, np.ones(200)),
}


@pytest.mark.parametrize("name", MODELS)
def test_twins_answer_alike(name: str) -> None:
    model = MODELS[name]()
    twin = model.to_sklearn()
    assert type(twin) is getattr(sklearn.tree, type(model).__name__)
    table = WITH_GAPS if "classes" in name or name == "reals" else X
    # Their thresholds are compared with float32, so midpoints of neighbours may round.
    apart = (np.abs(table[:, model.tree_.feature] - model.tree_.threshold) > 1e-6) | (
        model.tree_.feature < 0
    )
    rows = (apart | np.isnan(table[:, model.tree_.feature])).all(axis=1)
    assert rows.sum() > 150
    table = table[rows]
    assert_array_equal(twin.predict(table), model.predict(table))
    assert_array_equal(twin.apply(table), model.apply(table))
    assert_array_equal(twin.decision_path(table).toarray(), model.decision_path(table).toarray())
    if name != "twoing":  # whose gains are not decreases of the Gini that it reports
        np.testing.assert_allclose(twin.feature_importances_, model.feature_importances_)
    assert (twin.get_depth(), twin.get_n_leaves()) == (model.get_depth(), model.get_n_leaves())
    if hasattr(model, "predict_proba"):
        theirs, ours = twin.predict_proba(table), model.predict_proba(table)
        several = isinstance(ours, list)
        for output in range(len(ours) if several else 1):
            assert_array_equal(*(each[output] if several else each for each in (theirs, ours)))


@pytest.mark.parametrize("name", MODELS)
def test_twins_can_be_drawn_written_and_copied(name: str) -> None:
    model = MODELS[name]()
    twin = model.to_sklearn()
    figure = Figure()
    FigureCanvasAgg(figure)  # what measures the boxes
    axes = figure.add_subplot()
    assert len(sklearn.tree.plot_tree(twin, ax=axes)) >= model.tree_.node_count
    text = sklearn.tree.export_text(twin, max_depth=model.get_depth())
    assert text.count("|--- class") + text.count("|--- value") == model.get_n_leaves()
    dot = sklearn.tree.export_graphviz(twin, out_file=None)
    assert dot.count("label=") >= model.tree_.node_count
    clone(twin).fit(X, Y)


def test_names_and_parameters_come_along() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DecisionTreeClassifier(max_depth=2, min_samples_leaf=3, max_bins=100).fit(frame, Y)
    twin = model.to_sklearn()
    assert twin.feature_names_in_.tolist() == list("abcd")
    assert (twin.max_depth, twin.min_samples_leaf) == (2, 3)
    assert sklearn.tree.export_text(twin, feature_names=list("abcd")).startswith("|--- ")
    assert twin.predict(frame).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        twin.predict(frame.rename(columns={"a": "z"}))


def test_category_splits_are_refused() -> None:
    table, y = columns()
    model = DecisionTreeClassifier().fit(pd.DataFrame(table), y)
    with pytest.raises(InputError, match=r"splits on categories \(colour.*encode these columns"):
        model.to_sklearn()
    unused = DecisionTreeClassifier().fit(pd.DataFrame({"x": X[:, 0], "c": ["a"] * 200}), Y)
    assert unused.to_sklearn().get_n_leaves() == unused.get_n_leaves()
    unnamed = DecisionTreeClassifier(categorical_features=[1]).fit([[0, 0], [0, 1]], [0, 1])
    with pytest.raises(InputError, match=r"categories \(column 1\)"):
        unnamed.to_sklearn()
