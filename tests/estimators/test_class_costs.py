"""What `priors` and `costs` may be."""

from typing import Any

import numpy as np
import pytest

import vtree
from tests.golden_tables import kyphosis
from tests.samples import classes
from vtree import DecisionTreeClassifier
from vtree.errors import InputError, VTreeError
from vtree.estimators.class_costs import (
    altered_weights,
    cost_matrix,
    prior_vector,
    weight_like_training,
)

NAMES = np.array(["a", "b", "c"], dtype=object)
X, Y = classes(90)


def test_forms_of_priors() -> None:
    expected = [0.5, 0.3, 0.2]
    for priors in (expected, np.array(expected), {"c": 0.2, "a": 0.5, "b": 0.3}):
        vector = prior_vector(priors, NAMES)
        assert vector is not None and vector.tolist() == expected
    equal = prior_vector("equal", NAMES)
    assert equal is not None and equal.tolist() == [1 / 3] * 3
    assert prior_vector(None, NAMES) is None and cost_matrix(None, NAMES) is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"priors": [0.5, 0.3, 0.1]}, "priors must sum to 1, but .* sum to 0.9; divide"),
        ({"priors": [0.5, 0.5]}, "priors has the shape \\(2,\\), but y has 3 classes"),
        ({"priors": [1.5, -1.0, 0.5]}, "priors must be positive"),
        ({"priors": [0.5, 0.5, 0.0]}, "priors must be positive"),
        ({"priors": [np.nan, 0.5, 0.5]}, "priors must be positive"),
        ({"priors": {0: 0.5, 1: 0.5}}, "names the classes \\[0, 1\\], but those of y"),
        ({"priors": {0: 0.5, 1: 0.2, 2: 0.2, 7: 0.1}}, "names the classes"),
        ({"priors": "same"}, "priors.*'equal'"),
        ({"priors": ["a", "b", "c"]}, "priors"),
        ({"costs": np.ones((2, 2))}, "costs has the shape \\(2, 2\\), but y has 3 classes"),
        ({"costs": [1, 2, 3]}, "costs has the shape \\(3,\\)"),
        ({"costs": np.ones((3, 3))}, "costs must have zeros on the diagonal"),
        ({"costs": np.eye(3) - 1}, "costs must be finite and not negative"),
        ({"costs": [[0, 1, np.inf], [1, 0, 1], [1, 1, 0]]}, "costs must be finite"),
        ({"costs": [[0, 0, 0], [1, 0, 1], [1, 1, 0]]}, "row of zeros for the class 0"),
        ({"priors": "equal", "class_weight": "balanced"}, "both say what classes weigh"),
        ({"feature_costs": [1, 2]}, "feature_costs has the shape \\(2,\\), but X has 4"),
        ({"feature_costs": [1, 2, 0, 1]}, "feature_costs must be positive"),
        ({"feature_costs": "cheap"}, "feature_costs"),
    ],
)
def test_refused(parameters: dict[str, Any], message: str) -> None:
    model = DecisionTreeClassifier().fit(X, Y)
    before = vtree.digest(model)
    model.set_params(**parameters)
    with pytest.raises(VTreeError, match=message):
        model.fit(X, Y)
    assert vtree.digest(model) == before


def test_several_outputs_are_refused() -> None:
    both = np.stack([Y, Y], axis=1)
    for parameters in ({"priors": "equal"}, {"costs": 1 - np.eye(3)}):
        with pytest.raises(InputError, match="is for one output, and y has 2 columns"):
            DecisionTreeClassifier(**parameters).fit(X, both)


def test_a_class_without_weight() -> None:
    weight = (Y != 1).astype(float)
    with pytest.raises(InputError, match="sample_weight is zero for all rows of a class"):
        DecisionTreeClassifier(priors="equal").fit(X, Y, weight)


def test_weights() -> None:
    codes = np.array([0, 0, 0, 1])
    equal = np.array([0.5, 0.5])
    altered = altered_weights(None, codes, equal, None)
    assert altered is not None and altered.tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2.0])
    assert altered_weights(None, codes, None, None) is None
    model = DecisionTreeClassifier(priors="equal").fit(X, Y)
    unseen = weight_like_training(model, np.array([[0], [0], [2]]), None)
    assert unseen is not None and unseen.tolist() == pytest.approx([0.5, 0.5, 1.0])


def test_one_model_with_costs_on_every_backend_and_in_files(tmp_path: Any) -> None:
    table, y = kyphosis()
    parameters = {"costs": [[0, 1], [6, 0]], "priors": {"absent": 0.6, "present": 0.4}}
    model = DecisionTreeClassifier(**parameters, feature_costs=[1.0, 2.0, 1.5], min_samples_leaf=15)
    model.fit(table, y)
    again = DecisionTreeClassifier(**model.get_params())
    with vtree.kernels("reference"):
        assert vtree.digest(again.fit(table, y)) == vtree.digest(model)
    order = np.random.default_rng(0).permutation(len(y))
    assert vtree.digest(again.fit(table.iloc[order], y[order])) == vtree.digest(model)
    vtree.save(model, tmp_path / "model.vtree")
    loaded = vtree.load(tmp_path / "model.vtree")
    assert loaded.predict(table).tolist() == model.predict(table).tolist()
    assert (
        loaded.predict(table).tolist()
        != DecisionTreeClassifier.predict(_without_costs(model), table).tolist()
    )
    assert (loaded.costs_ == model.costs_).all() and (loaded.priors_ == model.priors_).all()
    pruned = vtree.prune(loaded, method="pessimistic")
    assert vtree.digest(pruned) == vtree.digest(vtree.prune(model, method="pessimistic"))
    with pytest.raises(InputError, match="least expected cost"):
        model.to_sklearn()


def _without_costs(model: Any) -> Any:
    plain = DecisionTreeClassifier()
    vars(plain).update(vars(model) | {"costs_": None})
    return plain


def test_shown_as_answered() -> None:
    table, y = kyphosis()
    model = DecisionTreeClassifier(costs=[[0, 1], [4, 0]], min_samples_leaf=41).fit(table, y)
    assert vtree.export_text(model) == "class present (21% of 81 rows)"
