from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.exceptions import NotFittedError

from tests.samples import classes
from vtree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    NewtonBoostingClassifier,
    RandomForestClassifier,
    digest,
    draw_tree,
    export_graphviz,
    export_text,
)
from vtree.errors import InputError, InputTypeError


def test_thresholds_and_classes() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "age": [1.0, 1.0, 5.0, 9.0]})
    model = DecisionTreeClassifier().fit(frame, ["no", "no", "no", "yes"])
    assert export_text(model) == (
        "size <= 3.50 or missing: class no (3 of 3 rows)\nsize >  3.50: class yes (1 of 1 row)"
    )
    unnamed = DecisionTreeClassifier().fit(frame.to_numpy(), [0, 1, 0, 0])
    assert export_text(unnamed, decimals=0).splitlines() == [
        "feature 0 <= 2:",
        "|   feature 0 <= 2: class 0 (1 of 1 row)",
        "|   feature 0 >  2 or missing: class 1 (1 of 1 row)",
        "feature 0 >  2 or missing: class 0 (2 of 2 rows)",
    ]


def test_depth() -> None:
    X, y = classes()
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    whole = export_text(model).splitlines()
    assert len([line for line in whole if "class" in line]) == model.get_n_leaves()
    assert max(line.count("|   ") for line in whole) == 3
    short = export_text(model, max_depth=1).splitlines()
    assert len(short) == 2 and all(line.endswith(", further splits not shown") for line in short)
    assert "further splits not shown" in export_text(model, max_depth=0)


def test_categories_and_missing_values() -> None:
    colour = ["red", "green", "blue", None] * 3
    model = DecisionTreeClassifier().fit(pd.DataFrame({"colour": colour}), [1, 0, 0, 1] * 3)
    assert sorted(export_text(model).splitlines()) == [
        "colour in {blue, green}: class 0 (6 of 6 rows)",
        "colour in {red} or missing: class 1 (6 of 6 rows)",
    ]
    many = pd.DataFrame({"name": [f"{letter}" for letter in "abcdefghijkl"]})
    text = export_text(DecisionTreeClassifier().fit(many, [0] * 10 + [1] * 2))
    assert "{a, b, c, d, e, f, g, h, … 2 more}" in text and "{k, l}" in text


def test_present_or_missing() -> None:
    model = DecisionTreeClassifier().fit([[1.0], [2.0], [np.nan]], [0, 0, 1])
    assert export_text(model).splitlines() == [
        "feature 0 is present: class 0 (2 of 2 rows)",
        "feature 0 is missing: class 1 (1 of 1 row)",
    ]
    model.fit([[1.0], [2.0], [np.nan]], [0, 1, 1])
    assert "feature 0 >  1.50 or missing: class 1 (2 of 2 rows)" in export_text(model)


def test_numbers() -> None:
    X = [[0.0], [2e-7], [1e20]]
    text = export_text(DecisionTreeRegressor().fit(X, [1.0, 2.5, 3.0]), decimals=3)
    assert "feature 0 <= 5e+19" in text
    assert "feature 0 <= 1e-07: 1.000 (1 row)" in text
    both = DecisionTreeRegressor(max_depth=1).fit(X, [[1.0, 2.0], [1.0, 2.0], [0.0, 3.0]])
    assert ": 1.00, 2.00 (2 rows)" in export_text(both)


def test_weights_and_several_outputs() -> None:
    model = DecisionTreeClassifier(max_depth=1)
    model.fit([[0], [0], [1]], [0, 1, 1], sample_weight=[3.0, 1.0, 1.0])
    assert "class 0 (75% of 2 rows)" in export_text(model)
    both = np.array([["a", "x"], ["a", "x"], ["b", "y"]])
    assert "classes b, y (1 row)" in export_text(
        DecisionTreeClassifier().fit([[0], [1], [2]], both)
    )


def test_a_single_leaf() -> None:
    assert export_text(DecisionTreeClassifier().fit([[0.0]], [7])) == "class 7 (1 of 1 row)"


def test_before_fit() -> None:
    with pytest.raises(NotFittedError):
        export_text(DecisionTreeClassifier())


def test_names_of_several_lines_stay_on_one() -> None:
    frame = pd.DataFrame({"size\n(cm)": [1.0, 2.0, 3.0]})
    model = DecisionTreeClassifier().fit(frame, ["a\tb", "c", "c"])
    assert export_text(model) == (
        "size\\n(cm) <= 1.50: class a\\tb (1 of 1 row)\n"
        "size\\n(cm) >  1.50 or missing: class c (2 of 2 rows)"
    )


def test_levels_that_read_as_several_stand_in_quotes() -> None:
    table = {"who": ["Doe, Jane", "", "Roe", "x}"]}
    text = export_text(DecisionTreeClassifier().fit(table, [0, 0, 0, 1]))
    assert text.startswith('who in {"", "Doe, Jane", Roe} or missing: class 0')
    assert 'who in {"x}"}: class 1' in text


@pytest.mark.parametrize("show", [export_text, export_graphviz, draw_tree, digest])
def test_trees_of_others_are_refused(show: Callable[..., Any]) -> None:
    other = sklearn.tree.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    arguments = ("tree.png",) if show is draw_tree else ()
    with pytest.raises(InputTypeError, match="DecisionTreeClassifier without trees of vtree"):
        show(other, *arguments)


@pytest.mark.parametrize("name", ["max_depth", "decimals"])
def test_depth_and_decimals_are_whole_numbers(name: str) -> None:
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    for value in (1.5, "a", True):
        with pytest.raises(InputTypeError, match=f"{name}={value!r} must be a whole number"):
            export_text(model, **{name: value})
    with pytest.raises(InputError, match=f"{name}=-1 must be a whole number from 0 up"):
        export_text(model, **{name: -1})


def test_a_tree_of_many() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), np.array([0, 0, 1, 1] * 10)
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    for number in range(3):
        lines = export_text(forest, number=number).splitlines()
        assert lines[0] == f"tree {number} of 3:"
        assert lines[1].startswith("feature 0 <= 1.50")
        assert ": class 0 (" in lines[1]
    with pytest.raises(InputError, match="number=3: the model's 3 trees are 0 … 2"):
        export_text(forest, number=3)


def test_boosting_adds_up_scores() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), np.array([0, 0, 1, 1] * 10)
    model = NewtonBoostingClassifier(n_estimators=2, max_depth=1).fit(X, y)
    first, left, right = export_text(model, number=1).splitlines()
    assert first == "tree 1 of 2:"
    assert left.startswith("feature 0 <= 1.50")
    assert ": -0." in left
    assert ": 0." in right
