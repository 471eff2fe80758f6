"""Credit of features: the sums that rpart makes of its own improvements and agreements."""

from typing import Any

import numpy as np
import pytest

from tests.estimators.test_absent import RPART
from tests.golden_tables import estimator, rpart_limits, rpart_table
from vtree.surrogates import credit


@pytest.mark.parametrize("name", ["breast_cancer.gini.full", "mtcars.anova.cp0", "iris.gini.full"])
def test_improvements_and_agreements_of_rpart_add_up(name: str) -> None:
    data, criterion, _ = name.split(".")
    X, y = rpart_table(data)
    model: Any = estimator(criterion, surrogates=5, **rpart_limits(name)).fit(X, y)
    expected = dict.fromkeys(X.columns, 0.0)
    for node in RPART[name]:
        if "variable" in node:
            # Of numbers, rpart tells the share of the node's own deviance.
            own = node["improvement"] * (node["dev"] if criterion == "anova" else 1.0)
            expected[node["variable"]] += own
            for surrogate in node["surrogates"]:
                expected[surrogate["variable"]] += own * surrogate["adjusted"]
    found = credit(model.grown_, model.surrogates_, X.shape[1]) * len(y)
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.surrogate_importances_, found / found.sum(), rtol=1e-12)


def test_without_surrogates_these_are_the_importances() -> None:
    X, y = rpart_table("iris")
    model: Any = estimator("gini").fit(X, y)
    assert (credit(model.grown_, None, X.shape[1]) > 0.0).any()
    np.testing.assert_allclose(model.surrogate_importances_, model.feature_importances_)
