from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import vtree
from tests.samples import columns
from vtree.errors import InputError


@pytest.mark.parametrize(
    "estimator",
    [
        vtree.DecisionTreeClassifier(),
        vtree.DecisionTreeRegressor(surrogates=1),
        vtree.C45Classifier(),
        vtree.CHAIDClassifier(),
        vtree.CHAIDRegressor(),
        vtree.ExtraTreesClassifier(n_estimators=2, random_state=0),
        vtree.RandomForestClassifier(n_estimators=2, random_state=0),
        vtree.IsolationForest(n_estimators=2, random_state=0),
        vtree.AdaBoostClassifier(vtree.DecisionTreeClassifier(max_depth=1), n_estimators=2),
        vtree.GradientBoostingClassifier(n_estimators=2),
        vtree.NewtonBoostingClassifier(n_estimators=2),
        vtree.LeafwiseBoostingRegressor(n_estimators=2),
        vtree.OrderedBoostingClassifier(n_estimators=2, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_levels_of_rows_without_weight_are_unknown(estimator: Any) -> None:
    table, y = columns()
    weight = np.ones(y.size)
    table["colour"][:2], weight[:2] = ["beige", "violet"], 0.0  # first and last of all levels
    model = clone(estimator).fit(table, y, sample_weight=weight)
    known = model.schema_.levels[1]
    assert known is not None
    assert known.tolist() == ["blue", "green", "grey", "red"]
    asked = {name: own[:1] for name, own in table.items()}
    missing = {**asked, "colour": [None]}
    np.testing.assert_array_equal(model.predict(asked), model.predict(missing))
    if "unknown_categories" in model.get_params(deep=False):
        strict = clone(estimator).set_params(unknown_categories="error")
        with pytest.raises(InputError, match="beige"):
            strict.fit(table, y, sample_weight=weight).predict(asked)
    if isinstance(estimator, vtree.RandomForestClassifier | vtree.IsolationForest):
        return  # they draw rows
    rest = {name: own[2:] for name, own in table.items()}
    whole = clone(estimator).fit(rest, y[2:], sample_weight=weight[2:])
    assert vtree.digest(whole) == vtree.digest(model)
